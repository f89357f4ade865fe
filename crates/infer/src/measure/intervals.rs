//! Several intervals, each under routes of its own, as one span.
//!
//! The traffic of all intervals is taken to be the same up to a factor: intervals are not equally long, nor always equally busy. What
//! hosts send and receive does not depend on routes, so hosts' own links tell the factor: with `T_k` the bytes that interval `k`
//! counted on them, its counters times `T_0 / T_k` are what the first interval's traffic would have left under its routes. The answer is
//! then the traffic of the first interval. How far hosts' links differ after that tells whether it was the same; a little more than noise
//! makes is taken as more noise ([`Span::counted`]).
//!
//! What a host sends is counted in every interval, and nothing is learnt by counting it twice: rows of one link that the same pairs
//! cross under several routes are taken as one ([`merge_repeated_rows`]). Else such rows would be predicted by themselves where some are held
//! out, and a stack of the same routes would seem to know more than one of them.

use netloom_model::rng::{below, stream};
use netloom_model::{Fabric, HostId};

use crate::error::InferError;
use crate::operator::Operator;
use crate::residual::Counted;
use crate::settings::CounterSettings;

/// Signatures of rows are sums of whole numbers below this: exact, in any order, for up to 2^24 pairs.
const SIGNS: u64 = 1 << 29;

/// Counters of intervals, as if each had been the first.
#[derive(Clone, Debug, PartialEq)]
pub struct Span {
    /// `[row of the stacked operator]`; deviations include how far the interval's hosts are apart beyond noise.
    pub counted: Counted,
    /// `[interval]`: what its counters were multiplied by.
    pub factors: Vec<f64>,
    /// `[interval]`: how far hosts' links are then from those of all intervals, over their norm. Much more than noise: other traffic.
    pub apart: Vec<f64>,
    /// `[interval]`: how far noise alone would bring them apart.
    pub noise: Vec<f64>,
    /// The host that is furthest off in the interval that is most apart.
    pub worst: Option<Outlier>,
}

/// A host that did not do in one interval what it did in the others; bytes are as if in the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    /// Which.
    pub host: HostId,
    /// Whether it is about what it sent, not what it received.
    pub sent: bool,
    /// What was counted in that interval.
    pub here: f64,
    /// What the mean of all intervals is.
    pub mean: f64,
}

impl Span {
    /// The interval of other traffic than the rest, if there is one.
    pub fn other(&self, settings: &CounterSettings) -> Option<usize> {
        let noise = settings.other_traffic_deviations;
        let beyond = |&k: &usize| self.apart[k] > settings.other_traffic.max(noise * self.noise[k]);
        (0..self.apart.len()).filter(beyond).max_by(|&a, &b| self.apart[a].total_cmp(&self.apart[b]))
    }
}

/// How much more than noise, and than the last digits, makes.
fn excess(apart: f64, noise: f64, settings: &CounterSettings) -> f64 {
    if apart <= settings.same_traffic { 0.0 } else { (apart * apart - noise * noise).max(0.0).sqrt() }
}

/// Joins the counters of intervals; interval `k` was under the operator's routing `k`.
///
/// # Errors
/// [`InferError::Mismatch`] where numbers of intervals or rows don't fit, and where an interval and the others have counted no bytes on
/// the same hosts' links.
pub fn span(
    fabric: &Fabric,
    operator: &Operator,
    intervals: &[Counted],
    settings: &CounterSettings,
) -> Result<Span, InferError> {
    let mismatch = |text: String| Err(InferError::Mismatch(text));
    if intervals.len() != operator.routings() {
        let (found, expected) = (intervals.len(), operator.routings());
        return mismatch(format!("expected {expected} intervals, one a routing, found {found}"));
    }
    let mut hosts = Vec::with_capacity(intervals.len());
    let mut variance = Vec::with_capacity(intervals.len());
    for (k, interval) in intervals.iter().enumerate() {
        let (found, expected) = (interval.bytes.len(), operator.rows_of(k).len());
        if found != expected {
            return mismatch(format!("interval {k}: expected {expected} rows, found {found}"));
        }
        hosts.push(on_hosts(fabric, &interval.bytes));
        variance.push(on_hosts(fabric, &interval.deviation.iter().map(|d| d * d).collect::<Vec<f64>>()));
    }
    // Links that all intervals have counted, and all of their bytes.
    let links = 0..2 * fabric.host_count();
    let known: Vec<usize> = links.filter(|&l| hosts.iter().all(|h| h[l].is_finite())).collect();
    let of_link = |l: usize| hosts.iter().map(|h| h[l]).sum::<f64>();
    let whole: f64 = known.iter().map(|&l| of_link(l)).sum();
    let norm = known.iter().map(|&l| of_link(l).powi(2)).sum::<f64>().sqrt();
    let total = |k: usize| known.iter().map(|&l| hosts[k][l]).sum::<f64>();
    let mut span = Span {
        counted: Counted::default(),
        factors: Vec::new(),
        apart: Vec::new(),
        noise: Vec::new(),
        worst: None,
    };
    let mut most = 0.0;
    for (k, interval) in intervals.iter().enumerate() {
        let here = total(k);
        if here <= 0.0 && whole > 0.0 || known.is_empty() {
            return mismatch(format!(
                "interval {k}: no bytes on those hosts' links that all intervals have counted"
            ));
        }
        // As if it had been all intervals, and the first.
        let (of_all, of_first) = if whole > 0.0 { (whole / here, total(0) / here) } else { (1.0, 1.0) };
        let off = |l: usize| of_all * hosts[k][l] - of_link(l);
        let part = |square: f64| if norm > 0.0 { square.sqrt() / norm } else { 0.0 };
        let apart = part(known.iter().map(|&l| off(l).powi(2)).sum());
        let others = |l: usize| (0..intervals.len()).filter(|&j| j != k).map(|j| variance[j][l]).sum::<f64>();
        let expected = |l: usize| (of_all - 1.0).powi(2) * variance[k][l] + others(l);
        let noise = part(known.iter().map(|&l| expected(l)).sum());
        if apart > most {
            most = apart;
            let worst = known.iter().copied().max_by(|&a, &b| off(a).abs().total_cmp(&off(b).abs()));
            let count = fabric.host_count();
            span.worst = worst.map(|l| Outlier {
                host: HostId((l % count) as u32),
                sent: l < count,
                here: of_first * hosts[k][l],
                mean: of_first / of_all * of_link(l),
            });
        }
        let more = excess(apart, noise, settings);
        let deviation = interval.bytes.iter().zip(&interval.deviation);
        let deviation = deviation.map(|(b, d)| of_first * if b.is_finite() { d.hypot(more * b) } else { *d });
        span.counted.bytes.extend(interval.bytes.iter().map(|b| of_first * b));
        span.counted.deviation.extend(deviation);
        span.factors.push(of_first);
        span.apart.push(apart);
        span.noise.push(noise);
    }
    Ok(span)
}

/// `[host, there; host, back]`: bytes on hosts' own links, `NaN` where a lane is unknown.
fn on_hosts(fabric: &Fabric, rows: &[f64]) -> Vec<f64> {
    let lanes = rows.len() / fabric.link_count().max(1);
    let out = fabric.hosts().map(|host| fabric.host_link(host));
    let back = fabric.hosts().map(|host| fabric.reverse(fabric.host_link(host)));
    out.chain(back).map(|link| rows[link.index() * lanes..][..lanes].iter().sum()).collect()
}

/// The same with one row of each link's lane instead of several that the same pairs cross under different routings; the others are
/// unknown. `small` has rows that were `rows` of `whole`.
pub(crate) fn merge_repeated_rows(
    small: &Operator,
    whole: &Operator,
    rows: &[u32],
    here: Counted,
) -> Counted {
    if whole.routings() < 2 {
        return here;
    }
    let signature = |seed: u64| {
        let mut draw = stream(seed, 0);
        small.forward(&(0..small.pairs()).map(|_| below(&mut draw, SIGNS) as f64).collect::<Vec<f64>>())
    };
    let (one, other) = (signature(1), signature(2));
    let key = |row: u32| {
        let (_, link, lane) = whole.place(rows[row as usize] as usize);
        (link, lane, one[row as usize] as u64, other[row as usize] as u64)
    };
    let mut order: Vec<u32> = (0..rows.len() as u32).collect();
    order.sort_by_cached_key(|&row| (key(row), row));
    let mut merged = here.clone();
    for same in order.chunk_by(|&a, &b| key(a) == key(b)) {
        for &row in &same[1..] {
            merged.bytes[row as usize] = f64::NAN;
        }
        let first = same[0] as usize;
        (merged.bytes[first], merged.deviation[first]) = mean(same.iter().map(|&row| {
            let row = row as usize;
            (here.bytes[row], here.deviation[row])
        }));
    }
    merged
}

/// The mean of what is known, by how exact it is, and its deviation.
fn mean(all: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let known = all.filter(|(bytes, _)| bytes.is_finite());
    let exact = known.clone().any(|(_, deviation)| deviation == 0.0);
    let weight = |deviation: f64| match exact {
        true => f64::from(u8::from(deviation == 0.0)),
        false => deviation.powi(-2),
    };
    let (weights, sum) =
        known.fold((0.0, 0.0), |(weights, sum), (b, d)| (weights + weight(d), sum + weight(d) * b));
    match weights {
        0.0 => (f64::NAN, 0.0),
        _ if exact => (sum / weights, 0.0),
        _ => (sum / weights, weights.sqrt().recip()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two values with deviations 1 and 2: weights 4 to 1, variance 1 / (1 + 1/4).
    #[test]
    fn what_is_more_exact_counts_more() {
        let (bytes, deviation) = mean([(10.0, 1.0), (20.0, 2.0), (f64::NAN, 1.0)].into_iter());
        assert!((bytes - 12.0).abs() < 1e-12 && (deviation - 0.8f64.sqrt()).abs() < 1e-12);
        assert_eq!(mean([(7.0, 0.0), (9.0, 3.0)].into_iter()), (7.0, 0.0));
        assert!(mean([(f64::NAN, 1.0)].into_iter()).0.is_nan());
    }
}
