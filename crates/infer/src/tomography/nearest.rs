//! The nearest traffic that explains the counters, found exactly.
//!
//! Conjugate gradients and scaling ([`super`]) leave a hundredth here and there on small fabrics, where pairs that were cut off at
//! zero would have to come back. Counters are refused only if *no* traffic explains them, so what is left is solved to the end:
//!
//! minimise `sum (x - x0)^2 / 2 v + sum (t - R x)^2 / 2 s` over `x >= 0`,
//!
//! where `x0` is the answer so far, `v` is about its bytes, and `s` a ten-millionth of a row's bytes (more where counters have noise). The dual
//! has an unknown a row and no constraints, `x = max(0, x0 + v R'u)`; it is solved by Newton steps with a line search. Where the counters
//! can be explained, what is left is next to nothing. Where they cannot, it is the least that any traffic leaves, in these squares, and
//! the prices `u` prove that: `R'u <= 0` where `x` is 0, and `t'u > 0`.
//!
//! Sources: Qi and Sun, *A nonsmooth version of Newton's method*, Math. Programming 58, 1993; Boyd and Vandenberghe, *Convex
//! Optimization*, 2004, sec. 5.8 (theorems of alternatives).

use netloom_model::Control;

use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::NearestSettings;

/// Changes `x` as little as can be so that it explains the counters; where nothing does, as well as can be.
pub fn nearest(
    operator: &Operator,
    target: &Target,
    x: &mut Vec<f64>,
    settings: &NearestSettings,
    control: &Control,
) {
    let Some(problem) = Problem::new(operator, target, x, settings) else { return };
    let mut point = problem.at(vec![0.0; operator.rows()]);
    for _ in 0..settings.newton_steps {
        if problem.off(&point) <= settings.tolerance || control.stopped().is_some() {
            break;
        }
        let step = problem.step(&point, control);
        let slope: f64 = step.iter().zip(&point.gradient).map(|(s, g)| s * g).sum();
        if slope <= 0.0 {
            break;
        }
        let mut length = 1.0;
        let better = (0..settings.halvings).find_map(|_| {
            let u = point.u.iter().zip(&step).map(|(u, s)| u + length * s).collect();
            let next = problem.at(u);
            let enough = next.value >= point.value + 1e-4 * length * slope;
            length *= 0.5;
            enough.then_some(next)
        });
        let Some(next) = better else { break };
        point = next;
    }
    *x = point.x;
}

/// What is minimised.
struct Problem<'a> {
    operator: &'a Operator,
    target: &'a Target,
    before: &'a [f64],
    settings: &'a NearestSettings,
    /// `[pair]`: `v`.
    freedom: Vec<f64>,
    /// `[row]`: `s`; 0: the row is not used.
    slack: Vec<f64>,
}

/// Prices and what follows from them.
struct Point {
    /// `[row]`
    u: Vec<f64>,
    /// `[pair]`
    x: Vec<f64>,
    /// The dual's value, and its slope by row.
    value: f64,
    gradient: Vec<f64>,
}

impl<'a> Problem<'a> {
    /// `None` where there is nothing to explain or to explain it by.
    fn new(
        operator: &'a Operator,
        target: &'a Target,
        before: &'a [f64],
        settings: &'a NearestSettings,
    ) -> Option<Self> {
        let used = |r: usize| target.weight[r] > 0.0 && target.bytes[r] > 0.0;
        let mean = before.iter().sum::<f64>() / before.len().max(1) as f64;
        if mean <= 0.0 || !(0..operator.rows()).any(used) {
            return None;
        }
        let freedom = |(pair, &bytes): (usize, &f64)| {
            let mut most = mean;
            operator.parts(pair, |row, part| {
                if used(row) && part > 0.0 {
                    most = most.min(target.bytes[row] / part);
                }
            });
            bytes + settings.freedom * most
        };
        let freedom = before.iter().enumerate().map(freedom).collect();
        let slack = |r: usize| {
            let (bytes, deviation) = (target.bytes[r], target.deviation[r]);
            if used(r) { settings.slack * bytes + deviation * deviation / bytes } else { 0.0 }
        };
        let slack = (0..operator.rows()).map(slack).collect();
        Some(Self { operator, target, before, settings, freedom, slack })
    }

    fn at(&self, u: Vec<f64>) -> Point {
        let prices = self.operator.adjoint(&u);
        let mut value: f64 =
            (0..u.len()).map(|r| u[r] * self.target.bytes[r] - 0.5 * self.slack[r] * u[r] * u[r]).sum();
        let mut x = Vec::with_capacity(prices.len());
        for ((&price, &before), &freedom) in prices.iter().zip(self.before).zip(&self.freedom) {
            let now = (before + freedom * price).max(0.0);
            value += (now - before).powi(2) / (2.0 * freedom) - price * now;
            x.push(now);
        }
        let rows = self.operator.forward(&x);
        let slope = |r: usize| {
            if self.slack[r] > 0.0 { self.target.bytes[r] - rows[r] - self.slack[r] * u[r] } else { 0.0 }
        };
        let gradient = (0..u.len()).map(slope).collect();
        Point { u, x, value, gradient }
    }

    /// How far the dual's slope is from none: by row over its bytes, root mean square.
    fn off(&self, point: &Point) -> f64 {
        let used = (0..self.slack.len()).filter(|&r| self.slack[r] > 0.0);
        let (sum, rows) = used.fold((0.0, 0usize), |(sum, rows), r| {
            (sum + (point.gradient[r] / self.target.bytes[r]).powi(2), rows + 1)
        });
        (sum / rows.max(1) as f64).sqrt()
    }

    /// Newton's step: `(R D R' + S) step = gradient`, `D` the freedom of pairs that carry something.
    fn step(&self, point: &Point, control: &Control) -> Vec<f64> {
        let open: Vec<f64> =
            point.x.iter().zip(&self.freedom).map(|(x, v)| if *x > 0.0 { *v } else { 0.0 }).collect();
        let rows: Vec<usize> = (0..self.slack.len()).filter(|&r| self.slack[r] > 0.0).collect();
        if rows.len() <= self.settings.dense_rows {
            return self.step_at_once(&open, &rows, &point.gradient);
        }
        self.step_by_gradients(&open, &point.gradient, control)
    }

    fn step_at_once(&self, open: &[f64], rows: &[usize], gradient: &[f64]) -> Vec<f64> {
        let n = rows.len();
        let mut place = vec![usize::MAX; self.slack.len()];
        rows.iter().enumerate().for_each(|(at, &row)| place[row] = at);
        let mut matrix = vec![0.0; n * n];
        rows.iter().enumerate().for_each(|(at, &row)| matrix[at * n + at] = self.slack[row]);
        let mut way = Vec::new();
        for (pair, &open) in open.iter().enumerate().filter(|(_, open)| **open > 0.0) {
            way.clear();
            self.operator.parts(pair, |row, part| {
                if place[row] != usize::MAX {
                    way.push((place[row], part));
                }
            });
            for &(a, part) in &way {
                for &(b, other) in way.iter().filter(|&&(b, _)| b <= a) {
                    matrix[a * n + b] += open * part * other;
                }
            }
        }
        let mut step: Vec<f64> = rows.iter().map(|&row| gradient[row]).collect();
        solve(&mut matrix, &mut step);
        let mut whole = vec![0.0; self.slack.len()];
        rows.iter().zip(step).for_each(|(&row, step)| whole[row] = step);
        whole
    }

    fn step_by_gradients(&self, open: &[f64], gradient: &[f64], control: &Control) -> Vec<f64> {
        let used = |r: usize| self.slack[r] > 0.0;
        let mut diagonal = self.operator.forward(open);
        diagonal.iter_mut().zip(&self.slack).for_each(|(d, s)| *d = (*d + s).max(f64::MIN_POSITIVE));
        let image = |direction: &[f64]| {
            let mut pairs = self.operator.adjoint(direction);
            pairs.iter_mut().zip(open).for_each(|(pair, open)| *pair *= open);
            let mut rows = self.operator.forward(&pairs);
            for (r, row) in rows.iter_mut().enumerate() {
                *row = if used(r) { *row + self.slack[r] * direction[r] } else { 0.0 };
            }
            rows
        };
        let scaled = |residual: &[f64]| -> Vec<f64> {
            residual.iter().zip(&diagonal).map(|(residual, d)| residual / d).collect()
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let mut step = vec![0.0; gradient.len()];
        let mut residual = gradient.to_vec();
        let mut direction = scaled(&residual);
        let mut now = dot(&residual, &direction);
        let enough = 1e-16 * now;
        for _ in 0..self.settings.gradients {
            if now <= enough || control.stopped().is_some() {
                break;
            }
            let of = image(&direction);
            let length = now / dot(&direction, &of).max(f64::MIN_POSITIVE);
            for r in 0..step.len() {
                step[r] += length * direction[r];
                residual[r] -= length * of[r];
            }
            let next = scaled(&residual);
            let product = dot(&residual, &next);
            let turn = product / now;
            now = product;
            direction.iter_mut().zip(next).for_each(|(d, next)| *d = next + turn * *d);
        }
        step
    }
}

/// Solves a positive definite system in place (Cholesky); `matrix` is its lower triangle by rows.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for i in 0..n {
        for j in 0..=i {
            let (of_i, of_j) = (&matrix[i * n..i * n + j], &matrix[j * n..j * n + j]);
            let rest = matrix[i * n + j] - of_i.iter().zip(of_j).map(|(a, b)| a * b).sum::<f64>();
            matrix[i * n + j] = if i == j {
                // Rounding alone makes a pivot vanish.
                rest.max(1e-14 * matrix[i * n + i]).max(f64::MIN_POSITIVE).sqrt()
            } else {
                rest / matrix[j * n + j]
            };
        }
        let done: f64 = matrix[i * n..i * n + i].iter().zip(&*right).map(|(a, x)| a * x).sum();
        right[i] = (right[i] - done) / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        right[i] /= matrix[i * n + i];
        let (before, at) = right.split_at_mut(i);
        before.iter_mut().zip(&matrix[i * n..]).for_each(|(x, a)| *x -= a * at[0]);
    }
}
