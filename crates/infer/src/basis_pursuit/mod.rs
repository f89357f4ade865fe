//! The fewest flows that explain the counters, where no grid does.
//!
//! Traffic is made of *columns*: a pair and its opposite, both alike (the symmetric basis), or a pair for itself. A column costs what it
//! carries over the most that its quietest row lets it carry, which is the closest that a linear cost comes to a count. Equal bytes there
//! and back cost less than two of their own: hosts' links say how much is sent in all, and where bytes are alike everything would cost
//! the same otherwise. The cheapest traffic is a linear program ([`netloom_numeric::pdhg`]). In a few rounds more, columns that carry
//! much cost less and those that carry little more; at last the columns in use are fitted alone (least squares), which takes out what
//! the cost has biased.
//!
//! Knows the target and the pairs, and which jobs are still unexplained or much louder than others (`by_magnitude`); it knows no grid.
//!
//! Sources: Taffet, dissertation, sec. 4.3.2 (symmetric basis), 4.6; Candès, Wakin and Boyd, *Enhancing sparsity by reweighted l1
//! minimization*, J. Fourier Anal. Appl. 14, 2008.

mod by_magnitude;
mod unexplained;

pub use self::by_magnitude::sparsest_in_turn;
pub(crate) use self::unexplained::UnexplainedJobs;

use netloom_model::Control;
use netloom_model::rng::{below, stream};
use netloom_numeric::{LinearMap, LinearProgram, LpAnswer, LpEffort, solve_lp};

use crate::operator::{Operator, Pair};
use crate::residual::Target;
use crate::settings::{FlowSettings, Settings};

/// No opposite.
const ALONE: u32 = u32::MAX;

/// The fewest flows that explain `target`, but for its noise; rounds, steps and tolerance are those of the linear programs. After too
/// few steps they explain less. With a seed, costs differ.
pub fn sparsest(
    operator: &Operator,
    target: &Target,
    settings: &Settings,
    seed: Option<u64>,
    control: &Control,
) -> Vec<f64> {
    sparsest_within(operator, target, &vec![0.0; target.bytes.len()], settings, seed, control)
}

/// The same where rows may be off by `more` than their noise. Such rows are not fitted at last.
pub(crate) fn sparsest_within(
    operator: &Operator,
    target: &Target,
    more: &[f64],
    settings: &Settings,
    seed: Option<u64>,
    control: &Control,
) -> Vec<f64> {
    let Flows { columns, base, mut cost, slack, size } =
        Flows::within(operator, target, more, settings, seed);
    let settings = &settings.flows;
    // Nothing is gained by being more exact than the counters are.
    let noise = target.noise();
    let lp = LpEffort { steps: settings.steps, tolerance: settings.tolerance.max(0.3 * noise) };
    let mut z = vec![0.0; size.len()];
    for round in 0..settings.rounds.max(1) {
        let (map, target) = (&columns, &target.bytes);
        let program = LinearProgram { map, cost: &cost, target, slack: &slack, price: None, size: &size };
        let answer = solve_lp(&program, &lp, || control.stopped().is_some());
        let moved: f64 = z.iter().zip(&answer.values).map(|(a, b)| (a - b).abs()).sum();
        z = answer.values;
        if control.stopped().is_some()
            || (round > 0 && moved <= settings.least_moved.max(3.0 * noise) * z.iter().sum::<f64>())
        {
            break;
        }
        for (j, cost) in cost.iter_mut().enumerate() {
            *cost = base[j] / (z[j] + settings.reweighting_floor * size[j]);
        }
    }
    let mut fitted = target.clone();
    fitted.weight.iter_mut().zip(more).filter(|(_, more)| **more > 0.0).for_each(|(weight, _)| *weight = 0.0);
    columns.fit(&mut z, &size, &fitted, settings, control);
    columns.bytes(&z)
}

/// The linear program of the first round: minimise `cost z` over `z >= 0`, rows within `slack` of the target.
#[derive(Debug)]
pub struct Flows<'a> {
    columns: Columns<'a>,
    /// `[column]`: what it costs if it carries all that it could.
    base: Vec<f64>,
    /// `[column]`
    pub cost: Vec<f64>,
    /// `[row]`; infinite: the row is free.
    pub slack: Vec<f64>,
    /// `[column]`: the most that it could carry.
    pub size: Vec<f64>,
}

impl<'a> Flows<'a> {
    /// With a seed, costs differ.
    pub fn new(operator: &'a Operator, target: &Target, settings: &Settings, seed: Option<u64>) -> Self {
        Self::within(operator, target, &vec![0.0; target.bytes.len()], settings, seed)
    }

    /// The same where rows may be off by `more` than their noise.
    fn within(
        operator: &'a Operator,
        target: &Target,
        more: &[f64],
        settings: &Settings,
        seed: Option<u64>,
    ) -> Self {
        let (deviations, settings) = (settings.counters.deviations, &settings.flows);
        let columns = Columns::new(operator);
        let known = |of: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let rows = 0..target.bytes.len();
            rows.map(|r| if target.weight[r] > 0.0 { of(r) } else { f64::INFINITY }).collect()
        };
        let slack = known(&|r| deviations * target.deviation[r] + more[r]);
        let size = columns.bounds(&known(&|r| target.bytes[r] + deviations * target.deviation[r] + more[r]));
        let dearer = |j: usize| {
            let draw = |seed| below(&mut stream(seed, j as u64), 1 << 20) as f64 / f64::from(1 << 20);
            1.0 + seed.map_or(0.0, |seed| settings.cost_spread * draw(seed))
        };
        let base = |j: usize| {
            dearer(j) * if columns.pairs[j].1 == ALONE { 1.0 } else { 2.0 * settings.both_ways_cost }
        };
        let base: Vec<f64> = (0..size.len()).map(base).collect();
        let cost = base.iter().zip(&size).map(|(base, size)| base / size).collect();
        Self { columns, base, cost, slack, size }
    }

    /// `[column]`: the pair, and the opposite that carries the same, if it does.
    pub fn pairs(&self) -> impl Iterator<Item = (u32, Option<u32>)> + '_ {
        self.columns.pairs.iter().map(|&(pair, back)| (pair, (back != ALONE).then_some(back)))
    }

    /// Its solution for these bytes of the rows.
    pub fn solve(&self, bytes: &[f64], effort: &LpEffort, control: &Control) -> LpAnswer {
        let Self { columns: map, cost, slack, size, .. } = self;
        let program = LinearProgram { map, cost, target: bytes, slack, price: None, size };
        solve_lp(&program, effort, || control.stopped().is_some())
    }
}

impl Flows<'_> {
    /// What traffic costs, `[pair]`.
    fn cost_of(&self, x: &[f64]) -> f64 {
        // What a pair and its opposite have in common is one column.
        let mut alone = x.to_vec();
        let columns = self.columns.pairs.iter().zip(&self.cost);
        columns.fold(0.0, |sum, (&(pair, back), cost)| {
            let (pair, back) = (pair as usize, back as usize);
            let carried = alone.get(back).map_or(alone[pair], |other| other.min(alone[pair]));
            alone[pair] -= carried;
            if let Some(other) = alone.get_mut(back) {
                *other -= carried;
            }
            sum + cost * carried
        })
    }

    /// Traffic that explains these bytes of the rows, costs at most `most_cost` times what `x` does, and goes furthest in this direction, `[pair]`.
    pub(crate) fn furthest(
        &self,
        bytes: &[f64],
        (x, most_cost): (&[f64], f64),
        direction: &[f64],
        effort: &LpEffort,
        control: &Control,
    ) -> Vec<f64> {
        let most = most_cost * self.cost_of(x);
        let map = Within { columns: &self.columns, cost: &self.cost };
        let of = |&(pair, back): &(u32, u32)| {
            -direction[pair as usize] - direction.get(back as usize).copied().unwrap_or(0.0)
        };
        let cost: Vec<f64> = self.columns.pairs.iter().map(of).collect();
        // A row more: the cost, within half its most.
        let with = |of: &[f64]| of.iter().copied().chain([0.5 * most]).collect::<Vec<f64>>();
        let (target, slack) = (with(bytes), with(&self.slack));
        let size = &self.size;
        let program =
            LinearProgram { map: &map, cost: &cost, target: &target, slack: &slack, price: None, size };
        self.columns.bytes(&solve_lp(&program, effort, || control.stopped().is_some()).values)
    }
}

/// Columns, and what they cost as a row more.
struct Within<'a> {
    columns: &'a Columns<'a>,
    cost: &'a [f64],
}

impl LinearMap for Within<'_> {
    fn rows(&self) -> usize {
        self.columns.rows() + 1
    }

    fn columns(&self) -> usize {
        self.columns.columns()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        let mut rows = self.columns.forward(z);
        rows.push(z.iter().zip(self.cost).map(|(z, cost)| z * cost).sum());
        rows
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        let (rows, price) = y.split_at(y.len() - 1);
        let mut sums = self.columns.adjoint(rows);
        sums.iter_mut().zip(self.cost).for_each(|(sum, cost)| *sum += price[0] * cost);
        sums
    }
}

/// Pairs with their opposites, and pairs alone.
#[derive(Debug)]
struct Columns<'a> {
    operator: &'a Operator,
    /// `[column]`: the pair, and its opposite or [`ALONE`].
    pairs: Vec<(u32, u32)>,
}

impl<'a> Columns<'a> {
    fn new(operator: &'a Operator) -> Self {
        let both = operator.iter().enumerate().filter_map(|(p, pair)| {
            let back = Pair { source: pair.destination, destination: pair.source, ..pair };
            let back = operator.find(back).filter(|&back| back > p)?;
            Some((p as u32, back as u32))
        });
        let pairs = both.chain((0..operator.pairs() as u32).map(|p| (p, ALONE))).collect();
        Self { operator, pairs }
    }

    /// `[pair]`: bytes.
    fn bytes(&self, z: &[f64]) -> Vec<f64> {
        let mut x = vec![0.0; self.operator.pairs()];
        for (z, &(pair, back)) in z.iter().zip(&self.pairs) {
            x[pair as usize] += z;
            if back != ALONE {
                x[back as usize] += z;
            }
        }
        x
    }

    /// The most that every column could carry: its quietest row.
    fn bounds(&self, most: &[f64]) -> Vec<f64> {
        let quietest = |pair: u32| {
            let mut least = f64::INFINITY;
            self.operator.parts(pair as usize, |row, part| least = least.min(most[row] / part));
            least
        };
        let known = most.iter().filter(|m| m.is_finite());
        let largest = known.fold(f64::MIN_POSITIVE, |a, b| a.max(*b));
        let least = |&(pair, back): &(u32, u32)| {
            let one = quietest(pair);
            let both = if back == ALONE { one } else { one.min(quietest(back)) };
            both.clamp(1e-12 * largest, largest)
        };
        self.pairs.iter().map(least).collect()
    }

    /// Least squares over the columns in use, if that explains the target better: conjugate gradients, columns that become negative leave.
    fn fit(
        &self,
        z: &mut Vec<f64>,
        size: &[f64],
        target: &Target,
        settings: &FlowSettings,
        control: &Control,
    ) {
        let weighted = |z: &[f64]| {
            let mut rows = self.forward(z);
            rows.iter_mut().zip(&target.weight).for_each(|(row, w)| *row *= w);
            rows
        };
        let left = |z: &[f64]| -> Vec<f64> {
            let rows = weighted(z).into_iter().zip(&target.bytes).zip(&target.weight);
            rows.map(|((row, t), w)| w * t - row).collect()
        };
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let mut fitted: Vec<f64> = z
            .iter()
            .zip(size)
            .map(|(&z, &size)| if z > settings.least_used * size { z } else { 0.0 })
            .collect();
        for _ in 0..3 {
            // In units of what columns could carry; 0: not in use.
            let unit: Vec<f64> =
                fitted.iter().zip(size).map(|(&z, &size)| if z > 0.0 { size } else { 0.0 }).collect();
            let slope = |residual: &[f64]| -> Vec<f64> {
                let u: Vec<f64> = residual.iter().zip(&target.weight).map(|(r, w)| r * w).collect();
                self.adjoint(&u).iter().zip(&unit).map(|(g, unit)| g * unit).collect()
            };
            let mut residual = left(&fitted);
            let mut direction = slope(&residual);
            let mut now = square(&direction);
            let enough = 1e-26 * now.max(f64::MIN_POSITIVE);
            for _ in 0..settings.fit_steps {
                let step: Vec<f64> = direction.iter().zip(&unit).map(|(d, unit)| d * unit).collect();
                let image = weighted(&step);
                let along = square(&image);
                if now <= enough || along == 0.0 || control.stopped().is_some() {
                    break;
                }
                let length = now / along;
                fitted.iter_mut().zip(&step).for_each(|(z, step)| *z += length * step);
                residual.iter_mut().zip(&image).for_each(|(r, image)| *r -= length * image);
                let gradient = slope(&residual);
                let next = square(&gradient);
                let turn = next / now;
                now = next;
                direction.iter_mut().zip(&gradient).for_each(|(d, g)| *d = g + turn * *d);
            }
            let negative = fitted.iter().any(|z| *z < 0.0);
            fitted.iter_mut().for_each(|z| *z = z.max(0.0));
            if !negative || control.stopped().is_some() {
                break;
            }
        }
        if square(&left(&fitted)) <= square(&left(z)) {
            *z = fitted;
        }
    }
}

impl LinearMap for Columns<'_> {
    fn rows(&self) -> usize {
        self.operator.rows()
    }

    fn columns(&self) -> usize {
        self.pairs.len()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        self.operator.forward(&self.bytes(z))
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        let sums = self.operator.adjoint(y);
        let sum = |&(pair, back): &(u32, u32)| {
            sums[pair as usize] + if back == ALONE { 0.0 } else { sums[back as usize] }
        };
        self.pairs.iter().map(sum).collect()
    }
}
