//! How far counters of the same bytes differ.
//!
//! Both ends of a link count the same packets, and what enters a switch leaves it. How far they don't agree is the counters' noise: of
//! readings at different times, of management traffic, of whatever a counter does not count. The spread of most counters is wanted, not
//! of the broken ones, so it comes from medians: of `|a - b| / mean(a, b)` over links, half of the bytes on either side; where ends can't
//! be compared, of `|in - out| / sqrt(sum of squares)` over switches. A median of absolute deviations is 0.6745 standard deviations.
//!
//! Ports are read one after another. Where most of them happened to be quiet meanwhile, the median says that counters are exact, and the
//! others are off by what passed between their readings: time apart times rate. So the root mean square of all that *agree* ([`Noise::agree`]: not the
//! broken ones) counts too, of links' ends and of switches' sums, whichever is most. For normal noise it is what the median says.

use netloom_model::{Fabric, LinkId};

use crate::amounts::{Amounts, Noise, Unit};
use crate::balance::imbalances;

/// Median of the absolute value of a standard normal variate.
const MEDIAN_OF_NORMAL: f64 = 0.674_489_750_196_081_7;
/// Fewest links, or switches, that a spread can be told from.
const FEWEST_COMPARISONS: usize = 4;

impl Noise {
    pub(crate) fn of(fabric: &Fabric, whole: &[Amounts; 2], lanes: &[[Amounts; 2]], unit: Unit) -> Self {
        let packet = if matches!(unit, Unit::Packets { .. }) { 1.0 } else { 1024.0 };
        let mut pairs = differences(fabric, whole);
        if pairs.len() < FEWEST_COMPARISONS {
            pairs = lanes.iter().flat_map(|ends| differences(fabric, ends)).collect();
        }
        let noise = if pairs.len() >= FEWEST_COMPARISONS {
            Self::of_pairs(pairs, packet)
        } else {
            Self::of_switches(fabric, whole, packet)
        };
        noise.at_least(noise.between_readings(fabric, whole))
    }

    /// The same, or this if it is more; nothing is known where nothing could be compared.
    fn at_least(self, relative: f64) -> Self {
        let relative = if self.comparisons > 0 { self.relative.max(relative) } else { self.relative };
        Self { relative, ..self }
    }

    /// What switches' sums are off by that agree, root mean square over all bytes: relative deviation of one counter.
    fn between_readings(&self, fabric: &Fabric, whole: &[Amounts; 2]) -> f64 {
        let off = imbalances(fabric, whole).into_iter().flatten().filter(|i| i.squares > 0.0).map(|i| {
            let near = (i.came_in - i.went_out).abs() <= i.allowed(self);
            (i.squares, if near { (i.came_in - i.went_out).powi(2) } else { 0.0 })
        });
        let (squares, off) = off.fold((0.0, 0.0), |(all, sum), (squares, off)| (all + squares, sum + off));
        if squares > 0.0 { (off / squares).sqrt() } else { 0.0 }
    }

    /// From `(mean, difference)` of two counters each.
    pub(crate) fn of_pairs(mut pairs: Vec<(f64, f64)>, packet: f64) -> Self {
        let comparisons = pairs.len();
        if comparisons == 0 {
            return Self { relative: 0.0, floor: 0.0, packet, comparisons: 0 };
        }
        // A difference of two has twice the variance of one.
        let scale = MEDIAN_OF_NORMAL * std::f64::consts::SQRT_2;
        pairs.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
        let relative = weighted_median(&pairs) / scale;
        let all = pairs.clone();
        // Small values differ by more than that: by what is left in the lower half of them.
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs.truncate(pairs.len().div_ceil(2));
        let mut left: Vec<f64> = pairs.iter().map(|(mean, d)| d / scale - relative * mean).collect();
        left.sort_by(f64::total_cmp);
        let floor = left[left.len() / 2].max(0.0);
        let noise = Self { relative, floor, packet, comparisons };
        let near = pairs_near(&all, &noise);
        let (bytes, off) = near.fold((0.0, 0.0), |(all, sum), (mean, d)| (all + mean, sum + d * d / mean));
        noise.at_least(if bytes > 0.0 { (0.5 * off / bytes).sqrt() } else { 0.0 })
    }

    fn of_switches(fabric: &Fabric, whole: &[Amounts; 2], packet: f64) -> Self {
        let mut found: Vec<f64> = imbalances(fabric, whole)
            .into_iter()
            .flatten()
            .filter(|i| i.squares > 0.0)
            .map(|i| (i.came_in - i.went_out).abs() / i.squares.sqrt())
            .collect();
        if found.len() < FEWEST_COMPARISONS {
            return Self { relative: 0.0, floor: 0.0, packet, comparisons: 0 };
        }
        found.sort_by(f64::total_cmp);
        let relative = found[found.len() / 2] / MEDIAN_OF_NORMAL;
        Self { relative, floor: 0.0, packet, comparisons: found.len() }
    }
}

/// `(mean, |difference|)` of every link both ends of which counted something.
fn differences(fabric: &Fabric, [near, far]: &[Amounts; 2]) -> Vec<(f64, f64)> {
    let of = |link: LinkId| {
        let (a, b) = (near.get(link.index())?, far.get(link.index())?);
        (a + b > 0.0).then(|| (0.5 * (a + b), (a - b).abs()))
    };
    fabric.links().filter_map(of).collect()
}

/// Those whose ends agree.
fn pairs_near<'a>(all: &'a [(f64, f64)], noise: &'a Noise) -> impl Iterator<Item = (f64, f64)> + 'a {
    let ends = |&&(mean, d): &&(f64, f64)| noise.agree(mean + 0.5 * d, mean - 0.5 * d);
    all.iter().filter(ends).copied()
}

/// Of relative differences in order, the one with half of all bytes on either side.
fn weighted_median(rising: &[(f64, f64)]) -> f64 {
    let total: f64 = rising.iter().map(|(mean, _)| mean).sum();
    let mut before = 0.0;
    for &(mean, difference) in rising {
        before += mean;
        if before >= 0.5 * total {
            return difference / mean;
        }
    }
    0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Half of the links were quiet while they were read, the others are 2 millionths apart: a median of 0, and sqrt(0.5 * 0.5 * 4e-12) = 1e-6.
    #[test]
    fn links_that_were_busy_between_readings_are_no_proof_of_other_routes() {
        let mut pairs = vec![(1e9, 0.0); 10];
        pairs.extend([(1e9, 2e3); 10]);
        let noise = Noise::of_pairs(pairs, 1024.0);
        assert!((noise.relative - 1e-6).abs() < 1e-9, "{noise:?}");
    }

    /// What is broken is not noise.
    #[test]
    fn a_broken_counter_does_not_make_the_others_noisy() {
        let mut pairs = vec![(1e9, 0.0); 30];
        pairs.push((1e9, 5e8));
        assert_eq!(Noise::of_pairs(pairs, 1024.0).relative, 0.0);
    }
}
