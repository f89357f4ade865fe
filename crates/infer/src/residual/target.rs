//! What was counted, and how much each row of it matters.
//!
//! Rows are weighted by one over their bytes, so that small flows on quiet links count as much as large ones on busy links. A row that
//! its counter's noise says little of counts less.

use crate::operator::Operator;
use crate::settings::CounterSettings;

/// What is left of a row is nothing if it is this part of what was counted.
const LEFT: f64 = 1e-9;

/// Bytes that differ by this part are the same.
const ALIKE: f64 = 1e-6;

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// `[row]`: bytes; `NaN`: unknown.
    pub bytes: Vec<f64>,
    /// `[row]`: standard deviation of the counters' noise, bytes; 0: exact.
    pub deviation: Vec<f64>,
}

impl Counted {
    /// Counters without noise.
    pub fn exactly(bytes: Vec<f64>) -> Self {
        let deviation = vec![0.0; bytes.len()];
        Self { bytes, deviation }
    }

    /// These rows of it.
    pub fn of(&self, rows: &[u32]) -> Self {
        let pick = |from: &[f64]| rows.iter().map(|&row| from[row as usize]).collect();
        Self { bytes: pick(&self.bytes), deviation: pick(&self.deviation) }
    }

    /// `[row]`: whether it carried nothing: no bytes, or hardly any and no more than noise makes.
    pub fn empty(&self, settings: &CounterSettings) -> Vec<bool> {
        let known = self.bytes.iter().filter(|b| b.is_finite() && **b > 0.0);
        let (count, sum) = known.fold((0usize, 0.0), |(n, sum), b| (n + 1, sum + b));
        let hardly = settings.empty_bytes * sum / count.max(1) as f64;
        let deviations = settings.empty_deviations;
        let nothing = |(&b, &d): (&f64, &f64)| b <= 0.0 || (b <= deviations * d && b <= hardly);
        self.bytes.iter().zip(&self.deviation).map(nothing).collect()
    }

    /// `[pair]`: whether it may carry something: none of the rows that it crosses is empty.
    pub fn possible(&self, operator: &Operator, settings: &CounterSettings) -> Vec<bool> {
        let empty: Vec<f64> =
            self.empty(settings).into_iter().map(|empty| f64::from(u8::from(empty))).collect();
        operator.adjoint(&empty).iter().map(|&crossed| crossed == 0.0).collect()
    }
}

/// Rows to explain.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// `[row]`: bytes.
    pub bytes: Vec<f64>,
    /// `[row]`: standard deviation of its noise, bytes.
    pub deviation: Vec<f64>,
    /// `[row]`: weight of the row's error; 0: not used.
    pub weight: Vec<f64>,
}

impl Target {
    /// Weights of a relative error: 1 over bytes plus a part of their mean, less where rows are noisy; 0 where
    /// nothing was counted well (`NaN`).
    pub fn relative(counted: &Counted, settings: &CounterSettings, used: impl Fn(usize) -> bool) -> Self {
        let Counted { bytes, deviation } = counted;
        let good = |r: usize| used(r) && bytes[r].is_finite();
        let rows = (0..bytes.len()).filter(|&r| good(r)).count().max(1);
        let mean = (0..bytes.len()).filter(|&r| good(r)).map(|r| bytes[r]).sum::<f64>() / rows as f64;
        let weight = |r: usize| {
            if good(r) && mean > 0.0 {
                1.0 / (bytes[r] + settings.weight_floor * mean).hypot(deviation[r] / settings.weight_noise)
            } else {
                0.0
            }
        };
        let weight = (0..bytes.len()).map(weight).collect();
        let bytes = bytes.iter().map(|b| if b.is_finite() { *b } else { 0.0 }).collect();
        Self { bytes, deviation: deviation.clone(), weight }
    }

    /// The target on a job's own rows ([`super::own_rows`]).
    pub fn only(&self, own: &[u32], job: usize) -> Self {
        let weight = self.weight.iter().zip(own);
        let weight = weight.map(|(&w, &own)| if own == job as u32 { w } else { 0.0 }).collect();
        Self { weight, ..self.clone() }
    }

    /// The same rows, weighted anew by their bytes.
    pub fn reweighted(&self, settings: &CounterSettings) -> Self {
        let counted = Counted { bytes: self.bytes.clone(), deviation: self.deviation.clone() };
        Self::relative(&counted, settings, |r| self.weight[r] > 0.0)
    }

    /// What is left of it beside what is `explained`, `[row]`, of the same rows; noise may hide something.
    pub fn less(&self, explained: &[f64]) -> Self {
        let left = |r: usize| {
            let left = self.bytes[r] - explained[r];
            if left > LEFT * self.bytes[r] { left } else { 0.0 }.max(self.deviation[r])
        };
        Self { bytes: (0..self.bytes.len()).map(left).collect(), ..self.clone() }
    }

    /// The weighted norm.
    pub fn norm(&self) -> f64 {
        self.bytes.iter().zip(&self.weight).map(|(b, w)| (b * w).powi(2)).sum::<f64>().sqrt()
    }

    /// What noise alone hardly exceeds (two standard deviations): weighted norm over the target's.
    pub fn noise(&self) -> f64 {
        let noise = || self.deviation.iter().zip(&self.weight).map(|(d, w)| (d * w).powi(2));
        let (square, fourth) = noise().fold((0.0, 0.0), |(square, fourth), n| (square + n, fourth + n * n));
        let most: f64 = square + 2.0 * (2.0f64 * fourth).sqrt();
        most.sqrt() / self.norm().max(f64::MIN_POSITIVE)
    }

    /// `W (t - R x)`.
    pub fn residual(&self, operator: &Operator, x: &[f64]) -> Vec<f64> {
        self.residual_by(&operator.forward(x))
    }

    fn residual_by(&self, rows: &[f64]) -> Vec<f64> {
        (rows.iter().zip(&self.bytes).zip(&self.weight)).map(|((row, t), w)| w * (t - row)).collect()
    }

    /// Weighted residual over the norm.
    pub fn left(&self, operator: &Operator, x: &[f64]) -> f64 {
        self.left_by(&operator.forward(x))
    }

    /// The same, if `rows` are explained.
    pub fn left_by(&self, rows: &[f64]) -> f64 {
        let residual = self.residual_by(rows);
        residual.iter().map(|r| r * r).sum::<f64>().sqrt() / self.norm().max(f64::MIN_POSITIVE)
    }

    /// How many different bytes rows have, noise excepted.
    pub fn values(&self) -> usize {
        self.values_above(0.0)
    }

    /// The same of rows with more than this part of the mean.
    pub fn values_above(&self, part: f64) -> usize {
        let used = self.bytes.iter().zip(&self.weight).filter(|(_, weight)| **weight > 0.0);
        let least = part * used.map(|(bytes, _)| bytes).sum::<f64>() / self.rows().max(1) as f64;
        let rows = self.bytes.iter().zip(&self.deviation).zip(&self.weight);
        let used = rows.filter(|((bytes, _), weight)| **bytes > least && **weight > 0.0);
        let mut values: Vec<(f64, f64)> = used.map(|((&bytes, &noise), _)| (bytes, noise)).collect();
        values.sort_by(|a, b| a.0.total_cmp(&b.0));
        values.dedup_by(|next, first| next.0 - first.0 <= ALIKE * first.0 + 4.0 * first.1);
        values.len()
    }

    /// Rows in use.
    pub fn rows(&self) -> usize {
        self.weight.iter().filter(|w| **w > 0.0).count()
    }
}
