//! Distributions of latencies, small and mergeable.
//!
//! Buckets of relative width 0.1 % (HdrHistogram: G. Tene, <https://hdrhistogram.org>), never finer than 256 ps; count, mean and
//! maximum are exact. Merging is exact too, and in any order the same: partitions of a network record apart.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Significant decimal digits of a bucket's bounds.
const DIGITS: u8 = 3;
/// Width of the finest buckets, ps.
const FINEST_PS: u64 = 256;
/// Longer ones count as this: beyond simulated time.
const LONGEST_PS: u64 = 1 << 49;

/// What a distribution of latencies comes to, ps. All 0 if there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Latencies.
    pub count: u64,
    /// Their mean, exact.
    pub mean_ps: f64,
    /// Half of them are at most this; upper end of a bucket of 0.1 %.
    pub p50_ps: u64,
    /// 99 of 100 are at most this.
    pub p99_ps: u64,
    /// The longest, exact.
    pub max_ps: u64,
}

/// Latencies of messages or packets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Kept", into = "Kept")]
pub struct Latencies {
    histogram: Histogram<u64>,
    sum_ps: u128,
    max_ps: u64,
}

/// Latencies as they are kept: what the buckets that hold something hold, by the first latency of each.
#[derive(Serialize, Deserialize)]
struct Kept {
    buckets: Vec<(u64, u64)>,
    sum_ps: u128,
    max_ps: u64,
}

impl From<Latencies> for Kept {
    fn from(latencies: Latencies) -> Self {
        let buckets = latencies.buckets().map(|(first_ps, _, count)| (first_ps, count)).collect();
        Self { buckets, sum_ps: latencies.sum_ps, max_ps: latencies.max_ps }
    }
}

impl From<Kept> for Latencies {
    fn from(Kept { buckets, sum_ps, max_ps }: Kept) -> Self {
        let mut latencies = Self { sum_ps, max_ps, ..Self::default() };
        for (first_ps, count) in buckets {
            latencies.histogram.record_n(first_ps.min(LONGEST_PS), count).expect("the range grows as needed");
        }
        latencies
    }
}

impl Default for Latencies {
    fn default() -> Self {
        let mut histogram = Histogram::new_with_bounds(FINEST_PS, 2 * FINEST_PS, DIGITS)
            .expect("three digits and a range above 1 are allowed");
        histogram.auto(true);
        Self { histogram, sum_ps: 0, max_ps: 0 }
    }
}

impl Latencies {
    /// Adds one.
    #[inline]
    pub fn record(&mut self, latency_ps: u64) {
        self.histogram.record(latency_ps.min(LONGEST_PS)).expect("the range grows as needed");
        self.sum_ps += u128::from(latency_ps);
        self.max_ps = self.max_ps.max(latency_ps);
    }

    /// Adds another's.
    pub fn merge(&mut self, other: &Latencies) {
        self.histogram.add(&other.histogram).expect("the range grows as needed");
        self.sum_ps += other.sum_ps;
        self.max_ps = self.max_ps.max(other.max_ps);
    }

    /// Adds one value many times.
    pub fn record_many(&mut self, latency_ps: u64, times: u64) {
        self.histogram.record_n(latency_ps.min(LONGEST_PS), times).expect("the range grows as needed");
        self.sum_ps += u128::from(latency_ps) * u128::from(times);
        self.max_ps = self.max_ps.max(latency_ps);
    }

    /// What has been added by now.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot { buckets: self.buckets().collect(), count: self.count(), sum_ps: self.sum_ps }
    }

    /// Adds what was added since `before` so many times again.
    pub fn repeat_since(&mut self, before: &Snapshot, times: u64) {
        let now = self.snapshot();
        for (first_ps, _, more) in now.since(before) {
            self.histogram.record_n(first_ps, more * times).expect("it is a bucket that there is");
        }
        self.sum_ps += (self.sum_ps - before.sum_ps) * u128::from(times);
    }

    /// Adds so many latencies that are distributed as those that were added between `then` and `now`.
    pub fn grow_as(&mut self, then: &Snapshot, now: &Snapshot, count: u64) {
        let grown = u128::from(now.count - then.count);
        if grown == 0 {
            return;
        }
        // Each bucket gets its part of all up to there, less what those before it got: nothing is lost by rounding.
        let (mut so_far, mut given) = (0u128, 0u64);
        for (first_ps, _, more) in now.since(then) {
            so_far += u128::from(more);
            let due = ((so_far * u128::from(count) + grown / 2) / grown) as u64;
            self.histogram.record_n(first_ps, due - given).expect("it is a bucket that there is");
            given = due;
        }
        self.sum_ps += ((now.sum_ps - then.sum_ps) * u128::from(count) + grown / 2) / grown;
    }

    /// Latencies.
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// All of them together, ps.
    pub fn sum_ps(&self) -> u128 {
        self.sum_ps
    }

    /// Count, mean, median, 99th percentile and maximum.
    pub fn summary(&self) -> Summary {
        let count = self.histogram.len();
        if count == 0 {
            return Summary::default();
        }
        let quantile = |q| self.histogram.value_at_quantile(q).min(self.max_ps);
        Summary {
            count,
            mean_ps: self.sum_ps as f64 / count as f64,
            p50_ps: quantile(0.5),
            p99_ps: quantile(0.99),
            max_ps: self.max_ps,
        }
    }

    /// The buckets that hold something: `(first ps, last ps, count)`, in order.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.histogram.iter_recorded().map(|at| {
            let last = at.value_iterated_to();
            (self.histogram.lowest_equivalent(last), last, at.count_since_last_iteration())
        })
    }
}

/// What had been added to latencies at a moment, in little room.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// As [`Latencies::buckets`].
    buckets: Vec<(u64, u64, u64)>,
    /// Of all.
    pub count: u64,
    sum_ps: u128,
}

impl Snapshot {
    /// By bucket, in order: first and last ps, and how many more there are than then.
    fn since<'a>(&'a self, then: &'a Snapshot) -> impl Iterator<Item = (u64, u64, u64)> + 'a {
        let mut had = then.buckets.iter().peekable();
        self.buckets.iter().map(move |&(first_ps, last_ps, count)| {
            let before = had.next_if(|&&(other_ps, ..)| other_ps == first_ps);
            (first_ps, last_ps, count - before.map_or(0, |&(.., before)| before))
        })
    }

    /// This share of those that were added since then are at most that, ps; `None` if there were none.
    pub fn quantile_since(&self, then: &Snapshot, share: f64) -> Option<u64> {
        let (count, mut so_far) = (self.count - then.count, 0);
        self.since(then).find_map(|(_, last_ps, more)| {
            so_far += more;
            (count > 0 && so_far as f64 >= share * count as f64).then_some(last_ps)
        })
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{below, stream};

    use super::*;

    fn of(values: &[u64]) -> Latencies {
        let mut latencies = Latencies::default();
        values.iter().for_each(|&v| latencies.record(v));
        latencies
    }

    /// From nanoseconds to seconds, evenly in magnitude.
    fn draw(seed: u64, count: usize) -> Vec<u64> {
        let mut random = stream(seed, 0);
        let mut draw = |n| below(&mut random, n);
        (0..count)
            .map(|_| {
                let magnitude = 10 + draw(30);
                draw(1 << magnitude)
            })
            .collect()
    }

    #[test]
    fn what_grew_grows_on_in_the_same_way() {
        let mut now = of(&[1 << 20, 1 << 30]);
        let then = now.snapshot();
        (0..3).for_each(|_| now.record(1 << 20));
        now.record(1 << 25);
        let before = now.snapshot();
        assert_eq!(
            before.quantile_since(&then, 0.75),
            of(&[1 << 20]).buckets().map(|(_, last, _)| last).next()
        );
        assert!(before.quantile_since(&then, 0.76) > Some(1 << 24));
        assert_eq!(then.quantile_since(&then, 0.5), None);
        // Three of four, of ten: 7.5 and all that is left.
        now.grow_as(&then, &before, 10);
        let counts: Vec<u64> = now.buckets().map(|(.., count)| count).collect();
        assert_eq!(counts, [4 + 8, 1 + 2, 1]);
        assert_eq!(now.sum_ps() - before.sum_ps, ((3 << 20) + (1 << 25)) * 10 / 4);
    }

    #[test]
    fn quantiles_agree_with_sorting_to_a_thousandth() {
        for seed in 0..5 {
            let mut values = draw(seed, 20_001);
            let summary = of(&values).summary();
            values.sort_unstable();
            // The smallest value that at least the share q of all is not above.
            let exact = |q: f64| values[(q * values.len() as f64).ceil() as usize - 1];
            for (found, exact) in [(summary.p50_ps, exact(0.5)), (summary.p99_ps, exact(0.99))] {
                let bucket = FINEST_PS.max(exact / 1000);
                assert!(found >= exact && found - exact <= bucket, "{found} {exact}");
            }
            assert_eq!((summary.count, summary.max_ps), (20_001, values[20_000]));
            let mean = values.iter().sum::<u64>() as f64 / 20_001.0;
            assert!((summary.mean_ps - mean).abs() < 1e-9 * mean);
        }
    }

    #[test]
    fn merged_parts_equal_the_whole_in_any_order() {
        let values = draw(7, 3_000);
        let whole = of(&values);
        let parts: Vec<_> = values.chunks(1_000).map(of).collect();
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let mut merged = Latencies::default();
            order.iter().for_each(|&part| merged.merge(&parts[part]));
            assert_eq!(merged.summary(), whole.summary());
            assert!(merged.buckets().eq(whole.buckets()));
        }
    }

    #[test]
    fn buckets_hold_every_latency_once() {
        let latencies = of(&[1_000, 1_000, 5_000_000]);
        let buckets: Vec<_> = latencies.buckets().collect();
        assert_eq!(buckets.iter().map(|b| b.2).collect::<Vec<_>>(), [2, 1]);
        for ((first, last, _), value) in buckets.into_iter().zip([1_000, 5_000_000]) {
            assert!(first <= value && value <= last);
        }
    }

    #[test]
    fn nothing_recorded_is_all_zero() {
        assert_eq!(Latencies::default().summary(), Summary::default());
    }
}
