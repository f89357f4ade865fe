//! The least change of a guess that explains the counters.
//!
//! Solves `R C R' u = t - R x` for `u` by conjugate gradients and changes `x` by `C R' u`, where `C` is the covariance of [`crate::prior`]:
//! of all changes that explain the counters this one is the most likely. What becomes negative is set to zero and the rest explained
//! again, a few rounds. Stopping early leaves unexplained what only an unlikely change could explain; that is wanted where counters
//! are noisy.
//!
//! Source: Hestenes and Stiefel, 1952; stopped early as a regulariser: Hansen, *Discrete Inverse Problems*, 2010, ch. 6.

use netloom_model::Control;

use crate::operator::Operator;
use crate::prior::{Families, Shares};
use crate::pursuit::Target;

/// How long to try.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Effort {
    /// Rounds of setting to zero what became negative.
    pub rounds: usize,
    /// Steps of conjugate gradients a round.
    pub steps: usize,
    /// Enough is explained where the weighted residual is this part of the target's norm.
    pub tolerance: f64,
}

/// Changes `x`; returns what is left unexplained (weighted residual over the target's norm).
pub fn least_change(
    operator: &Operator,
    families: &Families,
    shares: &Shares,
    target: &Target,
    x: &mut [f64],
    effort: &Effort,
    control: &Control,
) -> f64 {
    let norm = target.norm().max(f64::MIN_POSITIVE);
    let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
    let deviation = |x: f64| {
        if mean > 0.0 { (x.max(0.0) / mean + shares.floor).powf(shares.growth / 2.0) } else { 1.0 }
    };
    for _ in 0..effort.rounds.max(1) {
        let residual = residual_of(operator, target, x);
        let left = square(&residual).sqrt() / norm;
        if left <= effort.tolerance || control.stopped().is_some() {
            break;
        }
        let deviation: Vec<f64> = x.iter().map(|&x| deviation(x)).collect();
        let step = Step::new(operator, families, shares, target, &deviation);
        let change = step.change(&residual, effort, control);
        for (x, change) in x.iter_mut().zip(change) {
            *x = (*x + change).max(0.0);
        }
    }
    square(&residual_of(operator, target, x)).sqrt() / norm
}

/// `W (t - R x)`.
pub fn residual_of(operator: &Operator, target: &Target, x: &[f64]) -> Vec<f64> {
    let rows = operator.forward(x);
    (rows.iter().zip(&target.bytes).zip(&target.weight)).map(|((row, t), w)| w * (t - row)).collect()
}

fn square(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum()
}

/// One round.
struct Step<'a> {
    operator: &'a Operator,
    families: &'a Families,
    shares: &'a Shares,
    deviation: &'a [f64],
    /// `[row]`: one over the standard deviation that single pairs give it; 0: not used. So scaled, rows are alike, and few steps do.
    scale: Vec<f64>,
    /// `[row]`: scale over the target's weight.
    rescale: Vec<f64>,
}

impl<'a> Step<'a> {
    fn new(
        operator: &'a Operator,
        families: &'a Families,
        shares: &'a Shares,
        target: &Target,
        deviation: &'a [f64],
    ) -> Self {
        let variance: Vec<f64> = deviation.iter().map(|d| d * d).collect();
        let of_row = operator.forward(&variance);
        let used = of_row
            .iter()
            .zip(&target.weight)
            .map(|(&v, &w)| if w > 0.0 && v > 0.0 { 1.0 / v.sqrt() } else { 0.0 });
        let scale: Vec<f64> = used.collect();
        let rescale =
            scale.iter().zip(&target.weight).map(|(s, &w)| if w > 0.0 { s / w } else { 0.0 }).collect();
        Self { operator, families, shares, deviation, scale, rescale }
    }

    /// The change that explains this residual.
    fn change(&self, residual: &[f64], effort: &Effort, control: &Control) -> Vec<f64> {
        let mut residual: Vec<f64> = residual.iter().zip(&self.rescale).map(|(r, s)| r * s).collect();
        let mut u = vec![0.0; residual.len()];
        let mut direction = residual.clone();
        let before = square(&residual);
        let mut now = before;
        for _ in 0..effort.steps {
            if now <= before * 1e-10 || control.stopped().is_some() {
                break;
            }
            let image = self.image(&direction);
            let along: f64 = direction.iter().zip(&image).map(|(d, i)| d * i).sum();
            if along <= 0.0 {
                break;
            }
            let length = now / along;
            for r in 0..u.len() {
                u[r] += length * direction[r];
                residual[r] -= length * image[r];
            }
            let next = square(&residual);
            let turn = next / now;
            now = next;
            for (d, r) in direction.iter_mut().zip(&residual) {
                *d = r + turn * *d;
            }
        }
        self.spread(&u)
    }

    /// `C R' S u`.
    fn spread(&self, u: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = u.iter().zip(&self.scale).map(|(u, s)| u * s).collect();
        let mut change = self.operator.adjoint(&scaled);
        self.families.spread(&mut change, self.deviation, self.shares);
        change
    }

    /// `S R C R' S u`.
    fn image(&self, u: &[f64]) -> Vec<f64> {
        let mut rows = self.operator.forward(&self.spread(u));
        rows.iter_mut().zip(&self.scale).for_each(|(row, s)| *row *= s);
        rows
    }
}
