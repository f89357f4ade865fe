//! How figures go from iteration to iteration, and how wrong it may be to take their mean for what is to come.
//!
//! A line is fitted through a figure by iteration (least squares). The mean of iterations to come lies around the line where their middle is:
//! with 95 % within Student's t times a standard error that has three parts, of the line's height, of its slope as far away as
//! that middle is, and of the mean itself. Neighbours that are alike say less than others: the variance grows by (1 + r) / (1 - r),
//! r the correlation of neighbouring residuals if it is positive. If it is negative, what one has too much the next one lacks, as where
//! a message comes before or after the moment at which iterations are told apart: the variance is 1 + 2 r of that, for many iterations.

/// Few iterations do not tell by how much neighbours even each other out, and the variance is never less than this part.
const FEW: f64 = 6.0;
const LEAST_FACTOR: f64 = 0.1;
/// 97.5 % of Student's t by degrees of freedom, from 1; for more, a series behind the last.
const T_975: [f64; 30] = [
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145, 2.131,
    2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
];

/// A line through a figure by iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Trend {
    count: f64,
    middle: f64,
    /// The mean of the figure.
    pub mean: f64,
    slope: f64,
    /// Of the iterations from their middle, squared, together.
    spread: f64,
    /// Standard deviation of an iteration from the line, and Student's t.
    deviation: f64,
    t: f64,
}

impl Trend {
    /// Through `(iteration, figure)`; `None` for fewer than three, or all at one iteration.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let count = points.len() as f64;
        let free = points.len().checked_sub(2).filter(|&free| free > 0)?;
        let middle = points.iter().map(|(x, _)| x).sum::<f64>() / count;
        let mean = points.iter().map(|(_, y)| y).sum::<f64>() / count;
        let spread: f64 = points.iter().map(|(x, _)| (x - middle).powi(2)).sum();
        if spread <= 0.0 {
            return None;
        }
        let slope = points.iter().map(|(x, y)| (x - middle) * (y - mean)).sum::<f64>() / spread;
        let rests: Vec<f64> = points.iter().map(|(x, y)| y - mean - slope * (x - middle)).collect();
        let squares: f64 = rests.iter().map(|rest| rest * rest).sum();
        let products: f64 = rests.windows(2).map(|pair| pair[0] * pair[1]).sum();
        let alike = if squares > 0.0 { (products / squares).min(0.9) } else { 0.0 };
        let factor = match alike > 0.0 {
            true => (1.0 + alike) / (1.0 - alike),
            false => (1.0 + 2.0 * alike * (1.0 - FEW / count).max(0.0)).max(LEAST_FACTOR),
        };
        let deviation = (squares / free as f64 * factor).sqrt();
        let t = T_975.get(free - 1).copied().unwrap_or(1.96 + 2.46 / free as f64);
        Some(Self { count, middle, mean, slope, spread, deviation, t })
    }

    /// How far the mean of so many other iterations around a middle may be from what was foreseen of it.
    pub fn error(&self, middle: f64, iterations: f64, foreseen: f64) -> f64 {
        let away = middle - self.middle;
        let variance = 1.0 / self.count + away * away / self.spread + 1.0 / iterations;
        (self.mean + self.slope * away - foreseen).abs() + self.t * self.deviation * variance.sqrt()
    }

    /// Whether the figure has a slope, with 95 %.
    pub fn drifts(&self) -> bool {
        self.slope.abs() * self.spread.sqrt() > self.t * self.deviation
    }

    /// The same as the error, if the figure has no slope.
    pub fn noise(&self, iterations: f64) -> f64 {
        self.t * self.deviation * (1.0 / self.count + 1.0 / iterations).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1, 2, 2, 3 at 0 to 3: mean 2, slope 0.6, rests -0.1, 0.3, -0.3, 0.1, their squares 0.2 together, so a variance of 0.1.
    #[test]
    fn the_interval_is_as_by_hand() {
        let trend = Trend::through(&[(0.0, 1.0), (1.0, 2.0), (2.0, 2.0), (3.0, 3.0)]).unwrap();
        assert_eq!((trend.mean, trend.middle, trend.spread), (2.0, 1.5, 5.0));
        assert!((trend.slope - 0.6).abs() < 1e-12);
        // Products of neighbours are -0.03, -0.09, -0.03: they are not alike.
        assert!((trend.deviation - 0.1f64.sqrt()).abs() < 1e-12);
        // Iterations 4 to 8 have their middle at 6, 4.5 away, where the line is at 4.7.
        let by_hand = 4.7 - 2.5 + 4.303 * (0.1 * (0.25 + 4.5 * 4.5 / 5.0 + 0.2f64)).sqrt();
        assert!((trend.error(6.0, 5.0, 2.5) - by_hand).abs() < 1e-9);
        // Its slope is 4.24 standard errors from none, less than 4.303.
        assert!(!trend.drifts());
        assert!((trend.noise(5.0) - 4.303 * 0.045f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn what_does_not_change_has_no_error() {
        let trend = Trend::through(&[(0.0, 7.0), (1.0, 7.0), (5.0, 7.0)]).unwrap();
        assert!(!trend.drifts() && Trend::through(&[(0.0, 1.0), (1.0, 2.0), (2.0, 3.01)]).unwrap().drifts());
        assert_eq!((trend.error(5e5, 1e6, 7.0), trend.noise(1.0)), (0.0, 0.0));
        assert_eq!(Trend::through(&[(0.0, 7.0), (1.0, 7.0)]), None);
        assert_eq!(Trend::through(&[(1.0, 7.0); 4]), None);
    }

    #[test]
    fn neighbours_that_are_alike_say_less() {
        let of =
            |figures: [f64; 8]| Trend::through(&std::array::from_fn::<_, 8, _>(|k| (k as f64, figures[k])));
        let (turns, stays) = (
            of([1.0, 2.0, 1.0, 2.0, 2.0, 1.0, 2.0, 1.0]).unwrap(),
            of([1.0, 1.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0]).unwrap(),
        );
        // Both have no slope and the same variance of 2 / 6. Of 7 pairs of neighbours one agrees in the first, five in the second.
        let turn: f64 = 2.0 * -5.0 / 8.0 * (1.0 - 6.0 / 8.0);
        assert!((turns.deviation - (2.0 / 6.0 * (1.0 + turn)).sqrt()).abs() < 1e-12);
        let alike: f64 = 3.0 / 8.0;
        assert!((stays.deviation - (2.0 / 6.0 * (1.0 + alike) / (1.0 - alike)).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn students_t_goes_on_behind_its_table() {
        let of = |count: usize| {
            Trend::through(&(0..count).map(|k| (k as f64, (k % 2) as f64)).collect::<Vec<_>>()).unwrap().t
        };
        assert_eq!(of(32), 2.042);
        assert!((of(42) - 2.021).abs() < 1e-3, "40 degrees");
        assert!((of(122) - 1.980).abs() < 1e-3, "120 degrees");
    }
}
