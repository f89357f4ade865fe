//! The least change of a guess that explains the counters.
//!
//! Solves `R C R' u = t - R x` for `u` by conjugate gradients and changes `x` by `C R' u`, where `C` is the covariance of [`crate::tomography`]:
//! of all changes that explain the counters this one is the most likely. What becomes negative is set to zero and the rest explained
//! again, a few rounds. Counters' noise adds its variance to the rows' (`R C R' + N`), and nothing is explained that is not more than noise.
//!
//! `C` says who differs with whom, not by how much: its scale is told from what there is to explain (maximum likelihood).
//!
//! Source: Hestenes and Stiefel, 1952 (conjugate gradients); Tarantola, *Inverse Problem Theory*, 2005, sec. 3.2.

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::{LeastChangeSettings, Shares};

use super::covariance::Families;

/// What a change was like.
#[derive(Clone, Debug, PartialEq)]
pub struct Changed {
    /// Left unexplained: weighted residual over the target's norm.
    pub left: f64,
    /// How pairs differ from the guess: standard deviation of every pair, as families and shares spread it. Bytes.
    pub deviation: Vec<f64>,
}

/// Changes `x`.
pub fn least_change(
    operator: &Operator,
    families: &Families,
    shares: &Shares,
    target: &Target,
    x: &mut [f64],
    settings: &LeastChangeSettings,
    control: &Control,
) -> Changed {
    let norm = target.norm().max(f64::MIN_POSITIVE);
    let mean = x.iter().sum::<f64>() / x.len().max(1) as f64;
    let deviation = |x: f64| {
        if mean > 0.0 { (x.max(0.0) / mean + shares.floor).powf(shares.growth / 2.0) } else { 1.0 }
    };
    let mut first = None;
    let tolerance = settings.tolerance.max(target.noise());
    let mut left = f64::INFINITY;
    for _ in 0..settings.rounds.max(1) {
        let residual = target.residual(operator, x);
        left = square(&residual).sqrt() / norm;
        if left <= tolerance || control.stopped().is_some() {
            break;
        }
        let deviation: Vec<f64> = x.iter().map(|&x| deviation(x)).collect();
        let step =
            Step::new(operator, (families, shares), target, &deviation, &residual, settings.least_deviation);
        let (change, scale) = step.change(&residual, settings, control);
        for (x, change) in x.iter_mut().zip(change) {
            *x = (*x + change).max(0.0);
        }
        first.get_or_insert_with(|| deviation.iter().map(|d| d * scale).collect());
        left = f64::INFINITY;
    }
    if left.is_infinite() {
        left = target.left(operator, x);
    }
    Changed { left, deviation: first.unwrap_or_else(|| vec![0.0; x.len()]) }
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
    /// `[row]`: variance of the noise, in scaled rows and in units of the covariance's scale.
    noise: Vec<f64>,
}

impl<'a> Step<'a> {
    fn new(
        operator: &'a Operator,
        (families, shares): (&'a Families, &'a Shares),
        target: &Target,
        deviation: &'a [f64],
        residual: &[f64],
        least_deviation: f64,
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
        let mut step = Self { operator, families, shares, deviation, scale, rescale, noise: Vec::new() };
        let counted = target.deviation.iter().zip(&target.bytes);
        let noise = counted.zip(&step.scale).map(|((&d, b), s)| (d.max(least_deviation * b) * s).powi(2));
        step.noise = noise.collect();
        let of_noise: f64 = step.noise.iter().sum();
        if of_noise > 0.0 {
            let found: f64 = residual.iter().zip(&step.rescale).map(|(r, s)| (r * s).powi(2)).sum();
            // Of what is left that much is not noise; the trace says how much of it a covariance of scale one makes.
            let more = (found - of_noise).max(1e-3 * found) / step.trace();
            step.noise.iter_mut().for_each(|n| *n /= more.max(f64::MIN_POSITIVE));
        }
        step
    }

    /// The trace of `S R C R' S`, by one random vector of signs.
    fn trace(&self) -> f64 {
        let mut draw = stream(0, 0);
        let sign = |&s: &f64| if s > 0.0 { 1.0 - 2.0 * below(&mut draw, 2) as f64 } else { 0.0 };
        let signs: Vec<f64> = self.scale.iter().map(sign).collect();
        let image = self.covered(&signs);
        signs.iter().zip(&image).map(|(s, i)| s * i).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// The change that explains this residual, and the scale of the covariance that makes it most likely.
    fn change(&self, residual: &[f64], settings: &LeastChangeSettings, control: &Control) -> (Vec<f64>, f64) {
        let mut residual: Vec<f64> = residual.iter().zip(&self.rescale).map(|(r, s)| r * s).collect();
        let whole = residual.clone();
        let mut u = vec![0.0; residual.len()];
        let mut direction = residual.clone();
        let before = square(&residual);
        let mut now = before;
        for _ in 0..settings.steps {
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
        let rows = self.scale.iter().filter(|s| **s > 0.0).count().max(1);
        let likely = whole.iter().zip(&u).map(|(r, u)| r * u).sum::<f64>() / rows as f64;
        (self.spread(&u), likely.max(0.0).sqrt())
    }

    /// `C R' S u`.
    fn spread(&self, u: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = u.iter().zip(&self.scale).map(|(u, s)| u * s).collect();
        let mut change = self.operator.adjoint(&scaled);
        self.families.spread(&mut change, self.deviation, self.shares);
        change
    }

    /// `(S R C R' S + N) u`.
    fn image(&self, u: &[f64]) -> Vec<f64> {
        let mut rows = self.covered(u);
        rows.iter_mut().zip(u).zip(&self.noise).for_each(|((row, u), n)| *row += n * u);
        rows
    }

    /// `S R C R' S u`.
    fn covered(&self, u: &[f64]) -> Vec<f64> {
        let mut rows = self.operator.forward(&self.spread(u));
        rows.iter_mut().zip(&self.scale).for_each(|(row, s)| *row *= s);
        rows
    }
}
