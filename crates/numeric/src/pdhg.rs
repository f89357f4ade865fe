//! Linear programs by first-order steps: primal-dual hybrid gradient with Halpern's anchor, reflection and restarts.
//!
//! Minimises `c'z` over `z >= 0` with `|A z - b| <= d` row by row; a row with `d = 0` is an equation, one with infinite `d` is free. A row
//! with a price may be broken, at so much a unit: with `b = d = 0` it adds `price |A z|` to the cost, and its dual stays within the price.
//! `A` is seen through `A z` and `A'y` only. A step goes down in `z`, then up in `y`; the next point is the step's reflection, drawn towards
//! the point of the last restart a little less each time. Once the step has become a fifth of what it was after the last restart, the
//! anchor moves here: convergence is linear then.
//!
//! Unknowns are measured in their typical sizes and rows in what unknowns of those sizes add up to, so that bytes which differ by many
//! orders of magnitude count alike; steps are those of a diagonal preconditioner, so that no norm of `A` is needed. How long primal
//! steps are beside dual ones follows from how far either went between restarts.
//!
//! Invariants: the answer is non-negative; the same program gives the same bits.
//!
//! Sources: Lu and Yang, *Restarted Halpern PDHG for linear programming*, arXiv 2407.16144, 2024; Applegate et al., *Practical large-scale linear
//! programming using primal-dual hybrid gradient* (PDLP), NeurIPS 2021 (primal weight, restarts); Pock and Chambolle, *Diagonal
//! preconditioning for first order primal-dual algorithms in convex optimization*, ICCV 2011.

/// A matrix, seen through its products.
pub trait LinearMap {
    /// Rows.
    fn rows(&self) -> usize;
    /// Columns.
    fn columns(&self) -> usize;
    /// `A z`.
    fn forward(&self, z: &[f64]) -> Vec<f64>;
    /// `A'y`.
    fn adjoint(&self, y: &[f64]) -> Vec<f64>;
    /// `|A| z`, of the entries' sizes; to be given where entries are negative.
    fn forward_sizes(&self, z: &[f64]) -> Vec<f64> {
        self.forward(z)
    }
    /// `|A|'y`.
    fn adjoint_sizes(&self, y: &[f64]) -> Vec<f64> {
        self.adjoint(y)
    }
}

/// Minimise `cost z` over `z >= 0` with `|A z - target| <= slack`, where rows can't be broken.
#[derive(Debug)]
pub struct LinearProgram<'a, A> {
    /// `A`.
    pub map: &'a A,
    /// `[column]`: `c`.
    pub cost: &'a [f64],
    /// `[row]`: `b`.
    pub target: &'a [f64],
    /// `[row]`: `d`; infinite: the row is free.
    pub slack: &'a [f64],
    /// `[row]`: what breaking it costs a unit; infinite, as all rows are without it: it can't be broken.
    pub price: Option<&'a [f64]>,
    /// `[column]`: the unknown's typical size, positive.
    pub size: &'a [f64],
}

/// When to stop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LpEffort {
    /// Steps.
    pub steps: usize,
    /// Enough: the relative error of rows, of reduced costs and of the two objectives.
    pub tolerance: f64,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LpEnd {
    /// The tolerance is kept.
    Optimal,
    /// So many steps were not enough (or there is no solution).
    Steps,
    /// The caller said stop.
    Stopped,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct LpAnswer {
    /// `[column]`: `z`.
    pub values: Vec<f64>,
    /// `[row]`: the dual `y`: what the minimum grows by as the target does.
    pub prices: Vec<f64>,
    /// Steps taken.
    pub steps: usize,
    /// The largest of the relative errors that the tolerance is about.
    pub error: f64,
    /// How it ended.
    pub end: LpEnd,
}

/// Steps between two looks at the errors.
const CHECK_INTERVAL: usize = 40;
/// Restart where the step shrank to this share of the first since the last restart.
const SUFFICIENT_DECREASE: f64 = 0.2;
/// Or to this, and it grows again.
const NECESSARY_DECREASE: f64 = 0.8;
/// Or where this share of all steps was taken since.
const ARTIFICIAL_RESTART: f64 = 0.36;
/// Beside rows with a price, the others add up to so much: they are few and long, and what they ask comes first.
const UNPRICED_ROW_SCALE: f64 = 20.0;
/// How far the primal weight follows what was seen, in logarithms.
const WEIGHT_SMOOTHING: f64 = 0.5;

/// Solves `program` from zero.
pub fn solve_lp<A: LinearMap>(
    program: &LinearProgram<A>,
    effort: &LpEffort,
    mut stop: impl FnMut() -> bool,
) -> LpAnswer {
    let scaled = Scaled::new(program);
    let mut run = Run::new(&scaled);
    let (mut steps, mut end) = (0, LpEnd::Steps);
    let mut error = f64::INFINITY;
    while steps < effort.steps {
        run.step(steps);
        steps += 1;
        let stopped = stop();
        if steps % CHECK_INTERVAL == 0 || steps == effort.steps || stopped {
            error = scaled.error(&run.next);
            if error <= effort.tolerance {
                end = LpEnd::Optimal;
                break;
            }
            if stopped {
                end = LpEnd::Stopped;
                break;
            }
        }
    }
    let (values, prices) = scaled.unscaled(&run.next);
    LpAnswer { values, prices, steps, error, end }
}

/// The program in units in which its numbers are about one.
struct Scaled<'a, A> {
    map: &'a A,
    /// `[column]`, `[row]`: factors of the matrix.
    column: &'a [f64],
    row: Vec<f64>,
    /// Units of the target and of the cost.
    target_unit: f64,
    cost_unit: f64,
    cost: Vec<f64>,
    target: Vec<f64>,
    slack: Vec<f64>,
    /// `[row]`: the most that its dual may be.
    price: Vec<f64>,
    /// `[column]`: one over the column's sum.
    down: Vec<f64>,
    /// `[row]`: one over the row's.
    up: Vec<f64>,
}

/// A primal and a dual point, and `A z`.
#[derive(Clone, Default)]
struct Point {
    z: Vec<f64>,
    y: Vec<f64>,
    image: Vec<f64>,
}

/// Its norm, or 1 for a vector of zeros.
fn unit<'a>(v: impl IntoIterator<Item = &'a f64>) -> f64 {
    let norm = v.into_iter().map(|v| v * v).sum::<f64>().sqrt();
    if norm > 0.0 { norm } else { 1.0 }
}

impl<'a, A: LinearMap> Scaled<'a, A> {
    fn new(program: &LinearProgram<'a, A>) -> Self {
        let map = program.map;
        let (rows, columns) = (map.rows(), map.columns());
        assert!(program.cost.len() == columns && program.size.len() == columns);
        assert!(program.target.len() == rows && program.slack.len() == rows);
        let sums = map.forward_sizes(program.size);
        let price = |r: usize| program.price.map_or(f64::INFINITY, |price| price[r]);
        let adds_up_to = |r: usize| {
            if program.price.is_some() && price(r) == f64::INFINITY { UNPRICED_ROW_SCALE } else { 1.0 }
        };
        let up: Vec<f64> = (0..rows).map(|r| 1.0 / adds_up_to(r)).collect();
        // Free and empty rows are left out.
        let used = |r: usize| sums[r] > 0.0 && program.slack[r].is_finite();
        let row: Vec<f64> = (0..rows).map(|r| if used(r) { adds_up_to(r) / sums[r] } else { 0.0 }).collect();
        let down = map.adjoint_sizes(&row);
        let down = down.iter().zip(program.size).map(|(sum, size)| {
            let sum = sum * size;
            // A column of free rows only is at zero, or without bound.
            if sum > 0.0 { 1.0 / sum } else { 0.0 }
        });
        let down = down.collect();
        let mut cost: Vec<f64> = program.cost.iter().zip(program.size).map(|(c, s)| c * s).collect();
        let mut target: Vec<f64> = program.target.iter().zip(&row).map(|(b, r)| b * r).collect();
        let mut price: Vec<f64> =
            (0..rows).map(|r| if row[r] > 0.0 { price(r) / row[r] } else { f64::INFINITY }).collect();
        let priced = price.iter().filter(|p| p.is_finite());
        let (cost_unit, target_unit) = (unit(cost.iter().chain(priced)), unit(&target));
        cost.iter_mut().chain(&mut price).for_each(|c| *c /= cost_unit);
        target.iter_mut().for_each(|b| *b /= target_unit);
        let slack = (program.slack.iter().zip(&row))
            .map(|(&slack, &row)| if row > 0.0 { slack * row / target_unit } else { 0.0 })
            .collect();
        let column = program.size;
        Self { map, column, row, target_unit, cost_unit, cost, target, slack, price, down, up }
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        let z: Vec<f64> = z.iter().zip(self.column).map(|(z, size)| z * size).collect();
        let mut rows = self.map.forward(&z);
        rows.iter_mut().zip(&self.row).for_each(|(row, scale)| *row *= scale);
        rows
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        let y: Vec<f64> = y.iter().zip(&self.row).map(|(y, scale)| y * scale).collect();
        let mut columns = self.map.adjoint(&y);
        columns.iter_mut().zip(self.column).for_each(|(column, size)| *column *= size);
        columns
    }

    /// The largest of the relative errors: rows, reduced costs, objectives.
    fn error(&self, at: &Point) -> f64 {
        let (mut rows, mut cost, mut gain) = (0.0, 0.0, 0.0);
        for r in 0..at.y.len() {
            let off = at.image[r] - self.target[r];
            if self.row[r] > 0.0 {
                let broken = (off.abs() - self.slack[r]).max(0.0);
                if self.price[r] < f64::INFINITY {
                    cost += self.price[r] * broken;
                } else {
                    rows += broken.powi(2);
                }
                gain += self.target[r] * at.y[r] - self.slack[r] * at.y[r].abs();
            }
        }
        let mut reduced = 0.0;
        for ((sum, c), z) in self.adjoint(&at.y).iter().zip(&self.cost).zip(&at.z) {
            reduced += (sum - c).max(0.0).powi(2);
            cost += c * z;
        }
        let gap = (cost - gain).abs() / (cost.abs() + gain.abs()).max(1e-3);
        rows.sqrt().max(reduced.sqrt()).max(gap)
    }

    fn unscaled(&self, at: &Point) -> (Vec<f64>, Vec<f64>) {
        let values = at.z.iter().zip(self.column).map(|(z, size)| z * size * self.target_unit).collect();
        let prices = at.y.iter().zip(&self.row).map(|(y, scale)| y * scale * self.cost_unit).collect();
        (values, prices)
    }
}

/// What changes from step to step.
struct Run<'a, A> {
    program: &'a Scaled<'a, A>,
    now: Point,
    anchor: Point,
    /// The last step's end: non-negative.
    next: Point,
    /// Dual over primal steps.
    weight: f64,
    /// Since the last restart: steps, length of the first and of the last.
    since: usize,
    first: f64,
    last: f64,
}

impl<'a, A: LinearMap> Run<'a, A> {
    fn new(program: &'a Scaled<'a, A>) -> Self {
        let (z, y) = (vec![0.0; program.cost.len()], vec![0.0; program.target.len()]);
        let zero = Point { z, image: y.clone(), y };
        let (now, anchor, next) = (zero.clone(), zero.clone(), zero);
        Self { program, now, anchor, next, weight: 1.0, since: 0, first: 0.0, last: 0.0 }
    }

    fn step(&mut self, total: usize) {
        let moved = self.descend();
        let turned = moved > self.last;
        if self.since == 0 {
            self.first = moved;
        }
        self.last = moved;
        let restart = self.since > 0
            && (moved <= SUFFICIENT_DECREASE * self.first
                || (moved <= NECESSARY_DECREASE * self.first && turned)
                || self.since as f64 >= (ARTIFICIAL_RESTART * total as f64).max(CHECK_INTERVAL as f64));
        if restart {
            self.restart();
            return;
        }
        let share = 1.0 / (self.since + 2) as f64;
        let blend = |now: &mut [f64], next: &[f64], anchor: &[f64]| {
            for ((now, next), anchor) in now.iter_mut().zip(next).zip(anchor) {
                *now = (1.0 - share) * (2.0 * next - *now) + share * anchor;
            }
        };
        blend(&mut self.now.z, &self.next.z, &self.anchor.z);
        blend(&mut self.now.y, &self.next.y, &self.anchor.y);
        blend(&mut self.now.image, &self.next.image, &self.anchor.image);
        self.since += 1;
    }

    /// `next` is where one step leads from `now`; how far that is, in the norm in which steps never grow.
    fn descend(&mut self) -> f64 {
        let p = self.program;
        let (short, long) = (0.998 / self.weight, 0.998 * self.weight);
        let sums = p.adjoint(&self.now.y);
        let mut far = 0.0;
        let mut ahead = vec![0.0; sums.len()];
        for j in 0..sums.len() {
            let (z, length) = (self.now.z[j], short * p.down[j]);
            let next = (z - length * (p.cost[j] - sums[j])).max(0.0);
            if p.down[j] > 0.0 {
                far += (next - z) * (next - z) / (short * p.down[j]);
            }
            (self.next.z[j], ahead[j]) = (next, 2.0 * next - z);
        }
        let ahead = p.forward(&ahead);
        for (r, ahead) in ahead.into_iter().enumerate() {
            let y = self.now.y[r];
            let long = long * p.up[r];
            let raised = y + long * (p.target[r] - ahead);
            let next = if p.row[r] > 0.0 {
                (raised.abs() - long * p.slack[r]).clamp(0.0, p.price[r]).copysign(raised)
            } else {
                0.0
            };
            let change = (ahead - self.now.image[r]) / 2.0;
            far += (next - y) * (next - y) / long - 2.0 * (next - y) * change;
            (self.next.y[r], self.next.image[r]) = (next, self.now.image[r] + change);
        }
        far.max(0.0).sqrt()
    }

    /// Goes on from `next`, with it as the anchor.
    fn restart(&mut self) {
        let p = self.program;
        let (mut primal, mut dual) = (0.0, 0.0);
        for ((a, b), down) in self.next.z.iter().zip(&self.anchor.z).zip(&p.down) {
            if *down > 0.0 {
                primal += (a - b) * (a - b) / down;
            }
        }
        for ((a, b), up) in self.next.y.iter().zip(&self.anchor.y).zip(&p.up) {
            dual += (a - b) * (a - b) / up;
        }
        if primal > 0.0 && dual > 0.0 {
            let seen = (dual / primal).sqrt().clamp(self.weight / 30.0, self.weight * 30.0);
            self.weight = (WEIGHT_SMOOTHING * seen.ln() + (1.0 - WEIGHT_SMOOTHING) * self.weight.ln()).exp();
        }
        // Rounding would add up in what is carried along.
        self.next.image = p.forward(&self.next.z);
        self.now = self.next.clone();
        self.anchor = self.next.clone();
        self.since = 0;
    }
}
