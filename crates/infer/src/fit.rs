//! Whether an answer fits the counters.
//!
//! Traffic can be found for almost any counters of hosts. That it also explains what links between switches carried, through routes that
//! nobody chose for that, is what says that counters and routes belong together.

use netloom_model::LinkId;

use crate::found::Estimate;
use crate::operator::Operator;
use crate::target::Counted;

/// So many standard deviations of a counter are noise.
const DEVIATIONS: f64 = 6.0;
/// And so much of what a row carried: counters are read at different moments, and the answer is not iterated to the last digit.
const SLACK: f64 = 1e-3;
/// More than this part of what was counted unexplained: these counters are not of these routes (docs/methods/inference.md).
pub(crate) const FOREIGN: f64 = 0.01;
/// The same where noise hides it: so many standard deviations, root mean square over all bytes.
const FOREIGN_DEVIATIONS: f64 = 2.0;

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
    /// What is unexplained in standard deviations of the counters, root mean square over the bytes of rows
    /// with noise: of next to nothing counted, deviations say little. `None`: counters are exact.
    pub deviations: Option<f64>,
    /// Rows that are off beyond noise, the worst first.
    pub rows: Vec<Unexplained>,
}

impl Fit {
    /// Whether counters and routes can't belong together.
    pub fn is_foreign(&self) -> bool {
        self.share > FOREIGN || self.deviations.is_some_and(|d| d > FOREIGN_DEVIATIONS)
    }
}

/// How an answer fits what was counted.
pub fn fit(operator: &Operator, counted: &Counted, estimate: &Estimate) -> Fit {
    let (mut beyond, mut all) = (0.0, 0.0);
    let (mut squares, mut noisy) = (0.0, 0.0);
    let mut rows = Vec::new();
    for (at, (&bytes, &left)) in counted.bytes.iter().zip(&estimate.unexplained).enumerate() {
        if !bytes.is_finite() {
            continue;
        }
        all += bytes;
        let deviation = counted.deviation[at];
        if deviation > 0.0 {
            squares += bytes * (left / deviation).powi(2);
            noisy += bytes;
        }
        let excess = left.abs() - DEVIATIONS * deviation - SLACK * bytes;
        // Counters are whole numbers.
        if excess > 1.0 {
            beyond += excess;
            let (routing, link, lane) = operator.place(at);
            rows.push((excess, Unexplained { routing, link, lane, counted: bytes, explained: bytes - left }));
        }
    }
    rows.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.link.cmp(&b.1.link)).then(a.1.lane.cmp(&b.1.lane)));
    let share = if all > 0.0 { beyond / all } else { 0.0 };
    let deviations = (noisy > 0.0).then(|| f64::sqrt(squares / noisy));
    Fit { share, deviations, rows: rows.into_iter().map(|r| r.1).collect() }
}
