//! What some pairs carry at least and at most, whoever talks to whom: over all traffic that explains the counters.
//!
//! No hypothesis is asked. The least that a set of pairs can carry is a linear program: minimise `c'x` over `x >= 0` with `|R x - t| <= d`,
//! `c` one for pairs of the set. Any prices `y` with `R'y <= c` prove `c'x >= t'y - d'|y|` for all such `x`, so that a search that is
//! broken off gives a range too, if a wider one. First-order steps give prices that are nearly so; what is too much at a pair is taken off
//! the first row on its way. The most is the least of the negative.
//!
//! An answer without a structure is sure of a sum only where the counters leave no other ([`furthest`]). Of all traffic that explains them one is
//! looked for that is furthest in a random direction of the sums over (source leaf, destination): where counters say what the sums are, it has the
//! same; where they don't, it is far away with probability one.
//!
//! Source: Boyd and Vandenberghe, *Convex Optimization*, 2004, sec. 5.2 (weak duality).

use netloom_model::{Control, HostId};
use netloom_numeric::{LinearMap, LinearProgram, LpEffort, solve_lp};

use crate::operator::{Operator, Pair, Participants};
use crate::residual::{Counted, Target};
use crate::settings::{CounterSettings, Settings};

use super::verdict::LeafSum;

/// What pairs carry at least and at most, bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// Not less.
    pub least: f64,
    /// Not more; infinite where no counter that is known says anything.
    pub most: f64,
}

/// What the largest sums over (source leaf, destination) carry, or the largest pairs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Told {
    /// The sender, or any host of the leaf.
    pub source: HostId,
    /// Who receives.
    pub destination: HostId,
    /// Of all that hosts of the source's leaf send to the destination.
    pub is_sum: bool,
    /// The answer.
    pub bytes: f64,
    /// All answers.
    pub range: Range,
}

/// The ranges of so many of the largest sums (those that a [`Trust`](super::Trust) tells), then of as many of the largest pairs; of an answer of these `bytes`, `[pair]`.
pub fn largest(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    (bytes, sums): (&[f64], &[LeafSum]),
    most: usize,
    settings: &Settings,
    control: &Control,
) -> Vec<Told> {
    if most == 0 {
        return Vec::new();
    }
    let keep = counted.possible(operator, &settings.counters);
    let (small, rows) = operator.restrict(&keep).compact();
    let kept = |(&bytes, &keep): (&f64, &bool)| keep.then_some(bytes);
    let answer: Vec<f64> = bytes.iter().zip(&keep).filter_map(kept).collect();
    let counted = counted.of(&rows);
    let pairs: Vec<Pair> = small.iter().collect();
    let ends = |pair: &Pair| {
        let hosts = &jobs[pair.job as usize].hosts;
        (hosts[pair.source as usize], hosts[pair.destination as usize])
    };
    let mut told = Vec::new();
    for sum in sums.iter().take(most) {
        let one = pairs.iter().find(|pair| ends(pair) == (sum.leaf_of, sum.destination));
        let leaf = one.map(|&pair| (pair.job, small.leaf(pair)));
        let of = |pair: &Pair| leaf == Some((pair.job, small.leaf(*pair))) && ends(pair).1 == sum.destination;
        let set: Vec<usize> = (0..pairs.len()).filter(|&p| of(&pairs[p])).collect();
        told.push(((sum.leaf_of, sum.destination), true, set));
    }
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    order.sort_by(|&a, &b| answer[b].total_cmp(&answer[a]).then(a.cmp(&b)));
    told.extend(order.into_iter().take(most).map(|p| (ends(&pairs[p]), false, vec![p])));
    let sets: Vec<Vec<usize>> = told.iter().map(|(_, _, set)| set.clone()).collect();
    let effort = LpEffort { steps: settings.extremes.steps, tolerance: 1e-6 };
    let ranges = ranges(&small, &counted, &answer, &sets, &effort, &settings.counters, control);
    let told = told.into_iter().zip(ranges);
    told.map(|(((source, destination), is_sum, set), range)| {
        let bytes = set.iter().map(|&p| answer[p]).sum();
        Told { source, destination, is_sum, bytes, range }
    })
    .collect()
}

/// The range of what each set of pairs carries, over all traffic that explains `counted` as well as `answer` does.
pub fn ranges(
    operator: &Operator,
    counted: &Counted,
    answer: &[f64],
    sets: &[Vec<usize>],
    effort: &LpEffort,
    settings: &CounterSettings,
    control: &Control,
) -> Vec<Range> {
    let explained = operator.forward(answer);
    let rows = counted.bytes.iter().zip(&counted.deviation).zip(&explained);
    let slack: Vec<f64> = rows
        .map(
            |((b, d), e)| {
                if b.is_finite() { (settings.deviations * d).max((b - e).abs()) } else { f64::INFINITY }
            },
        )
        .collect();
    let target: Vec<f64> = counted.bytes.iter().map(|b| if b.is_finite() { *b } else { 0.0 }).collect();
    let known = |row: usize| slack[row].is_finite();
    // `[pair]`: its first known row, and the most that its quietest one allows.
    let (mut first, mut size) = (vec![None; operator.pairs()], vec![f64::INFINITY; operator.pairs()]);
    for pair in 0..operator.pairs() {
        operator.parts(pair, |row, part| {
            if known(row) {
                first[pair].get_or_insert((row, part));
                size[pair] = size[pair].min((target[row] + slack[row]) / part);
            }
        });
    }
    let largest = size.iter().copied().filter(|s| s.is_finite()).fold(f64::MIN_POSITIVE, f64::max);
    let bound = Bound { operator, target: &target, slack: &slack, first: &first };
    let typical: Vec<f64> = size.iter().map(|s| s.clamp(1e-12 * largest, largest)).collect();
    let of = |set: &Vec<usize>| {
        let carried: f64 = set.iter().map(|&p| answer[p]).sum();
        let quietest: f64 = set.iter().map(|&p| size[p]).sum();
        let side = |sign: f64| {
            // No prices prove no more than the sizes of pairs do.
            if control.stopped().is_some() {
                return f64::NEG_INFINITY;
            }
            let mut cost = vec![0.0; operator.pairs()];
            set.iter().for_each(|&p| cost[p] = sign);
            let map = Pairs(operator);
            let (target, slack, size) = (&target, &slack, &typical);
            let program = LinearProgram { map: &map, cost: &cost, target, slack, price: None, size };
            let found = solve_lp(&program, effort, || control.stopped().is_some());
            bound.proved(&cost, found.prices)
        };
        // The answer itself is one of them, up to rounding.
        let least = side(1.0).max(0.0).min(carried);
        Range { least, most: (-side(-1.0)).min(quietest).max(carried) }
    };
    sets.iter().map(of).collect()
}

/// Traffic that explains the counters and goes furthest in this direction, `[pair]`.
pub(crate) fn furthest(
    operator: &Operator,
    target: &Target,
    direction: &[f64],
    settings: &Settings,
    control: &Control,
) -> Vec<f64> {
    let slack: Vec<f64> = (target.deviation.iter().zip(&target.weight))
        .map(
            |(deviation, weight)| {
                if *weight > 0.0 { settings.counters.deviations * deviation } else { f64::INFINITY }
            },
        )
        .collect();
    let size = |pair: usize| {
        let mut least = f64::INFINITY;
        operator.parts(pair, |row, part| {
            if slack[row].is_finite() && part > 0.0 {
                least = least.min((target.bytes[row] + slack[row]) / part);
            }
        });
        if least.is_finite() { least.max(1.0) } else { 1.0 }
    };
    let size: Vec<f64> = (0..operator.pairs()).map(size).collect();
    let cost: Vec<f64> = direction.iter().map(|towards| -towards).collect();
    let (map, target) = (operator, &target.bytes);
    let program = LinearProgram { map, cost: &cost, target, slack: &slack, price: None, size: &size };
    let settings = &settings.extremes;
    let steps = (settings.work / operator.pairs().max(1)).min(settings.most_steps).max(settings.least_steps);
    solve_lp(&program, &LpEffort { steps, tolerance: 1e-4 }, || control.stopped().is_some()).values
}

struct Bound<'a> {
    operator: &'a Operator,
    target: &'a [f64],
    slack: &'a [f64],
    /// `[pair]`: its first known row, and the part of its bytes that comes there.
    first: &'a [Option<(usize, f64)>],
}

impl Bound<'_> {
    /// What these prices prove: `c'x` is no less for any `x` that explains the counters.
    fn proved(&self, cost: &[f64], mut prices: Vec<f64>) -> f64 {
        let sums = self.operator.adjoint(&prices);
        let mut off = vec![0.0f64; prices.len()];
        for ((sum, cost), first) in sums.iter().zip(cost).zip(self.first) {
            let over = sum - cost;
            match first {
                Some((row, part)) => off[*row] = off[*row].max(over / part),
                None if over > 0.0 => return f64::NEG_INFINITY,
                None => {}
            }
        }
        prices.iter_mut().zip(off).for_each(|(price, off)| *price -= off);
        let rows = prices.iter().zip(self.target).zip(self.slack);
        rows.filter(|(_, slack)| slack.is_finite()).map(|((y, t), d)| y * t - d * y.abs()).sum()
    }
}

struct Pairs<'a>(&'a Operator);

impl LinearMap for Pairs<'_> {
    fn rows(&self) -> usize {
        self.0.rows()
    }

    fn columns(&self) -> usize {
        self.0.pairs()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        self.0.forward(z)
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        self.0.adjoint(y)
    }
}
