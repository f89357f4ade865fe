//! Whether an answer fits the counters.
//!
//! Traffic can be found for almost any counters of hosts. That it also explains what links between switches carried, through routes that
//! nobody chose for that, is what says that counters and routes belong together.
//!
//! Ports are read one after another, and a link's counter is off by what passed meanwhile: time between the readings times rate. Where
//! times of reading are not known, how far ends of links and sums of switches are apart says how much that is ([`netloom_counters::Noise`]),
//! and no counter is held to more than a thousandth ([`SLACK`]), which is 10 ms of 10 s.

use netloom_model::LinkId;

use crate::answer::Estimate;
use crate::operator::Operator;
use crate::target::Counted;

/// So many standard deviations of a counter are noise.
const DEVIATIONS: f64 = 6.0;
/// And so much of what a row carried: ports are read at different moments, and the answer is not iterated to the last digit.
const SLACK: f64 = 1e-3;
/// So many rows are named where none is off beyond noise, but all together are.
const NAMED: usize = 10;
/// More than this part of what was counted unexplained: these counters are not of these routes. Right routes leave 0.13 % at most
/// (docs/methods/inference.md).
pub(crate) const FOREIGN: f64 = 0.004;
/// The same where noise hides it: so many standard deviations, root mean square over all bytes. Ports read seconds apart in an interval of
/// ten leave 2.3 under right routes. What is left must be [`FOREIGN`] all the same: looking after a fabric leaves a little on every link, which
/// is many deviations where ends of links agree.
const FOREIGN_DEVIATIONS: f64 = 3.0;

/// A row that the answer does not explain.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unexplained {
    /// Under which routing it was counted.
    pub routing: usize,
    /// The link.
    pub link: LinkId,
    /// The lane.
    pub lane: u8,
    /// What it carried.
    pub counted: f64,
    /// What the answer says that it did.
    pub explained: f64,
}

/// How an answer fits.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// What is unexplained beyond noise, over all that was counted.
    pub share: f64,
    /// What is unexplained at all, over all that was counted.
    pub left: f64,
    /// What is unexplained in standard deviations of the counters, root mean square over the bytes of rows
    /// with noise: of next to nothing counted, deviations say little; none is less than a thousandth of its row. `None`: counters are exact.
    pub deviations: Option<f64>,
    /// Rows that are off beyond noise, the worst first; where there are none and all together are off, those that are off most.
    pub rows: Vec<Unexplained>,
}

impl Fit {
    /// Whether counters and routes can't belong together.
    pub fn is_foreign(&self) -> bool {
        Misfit { share: self.share, deviations: self.deviations, left: self.left }.is_foreign()
    }
}

/// How much is left of counters.
pub(crate) struct Misfit {
    /// As in [`Fit`].
    pub share: f64,
    left: f64,
    deviations: Option<f64>,
}

impl Misfit {
    /// Of what is `left`, counted minus explained, `[row]`.
    pub fn of(counted: &Counted, left: &[f64]) -> Self {
        let (mut beyond, mut all) = (0.0, 0.0);
        let (mut squares, mut noisy, mut off) = (0.0, 0.0, 0.0);
        for (at, (&bytes, &left)) in counted.bytes.iter().zip(left).enumerate() {
            if !bytes.is_finite() {
                continue;
            }
            all += bytes;
            off += left.abs();
            let deviation = counted.deviation[at];
            if deviation > 0.0 {
                squares += bytes * (left / deviation.hypot(SLACK * bytes)).powi(2);
                noisy += bytes;
            }
            beyond += excess(bytes, deviation, left);
        }
        let part = |of: f64| if all > 0.0 { of / all } else { 0.0 };
        Self {
            share: part(beyond),
            left: part(off),
            deviations: (noisy > 0.0).then(|| f64::sqrt(squares / noisy)),
        }
    }

    /// Whether it is more than what belongs together leaves.
    pub fn is_foreign(&self) -> bool {
        let noisy = self.deviations.is_some_and(|d| d > FOREIGN_DEVIATIONS);
        self.share > FOREIGN || noisy && self.left > FOREIGN
    }
}

/// What is left of a row beyond noise; counters are whole numbers.
fn excess(bytes: f64, deviation: f64, left: f64) -> f64 {
    let excess = left.abs() - DEVIATIONS * deviation - SLACK * bytes;
    if excess > 1.0 { excess } else { 0.0 }
}

/// How an answer fits what was counted.
pub fn fit(operator: &Operator, counted: &Counted, estimate: &Estimate) -> Fit {
    let Misfit { share, left: off, deviations } = Misfit::of(counted, &estimate.unexplained);
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    for (at, (&bytes, &left)) in counted.bytes.iter().zip(&estimate.unexplained).enumerate() {
        if !bytes.is_finite() {
            continue;
        }
        let excess = excess(bytes, counted.deviation[at], left);
        let (routing, link, lane) = operator.place(at);
        let row = Unexplained { routing, link, lane, counted: bytes, explained: bytes - left };
        if excess > 0.0 {
            rows.push((excess, row));
        } else if left != 0.0 {
            others.push((left.abs(), row));
        }
    }
    if rows.is_empty() && deviations.is_some_and(|d| d > FOREIGN_DEVIATIONS) {
        rows = others;
        rows.sort_by(worst_first);
        rows.truncate(NAMED);
    }
    rows.sort_by(worst_first);
    Fit { share, left: off, deviations, rows: rows.into_iter().map(|r| r.1).collect() }
}

fn worst_first(a: &(f64, Unexplained), b: &(f64, Unexplained)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.link.cmp(&b.1.link)).then(a.1.lane.cmp(&b.1.lane))
}
