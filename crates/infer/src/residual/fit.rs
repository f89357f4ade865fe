//! Whether an answer fits the counters.
//!
//! Traffic can be found for almost any counters of hosts. That it also explains what links between switches carried, through routes that
//! nobody chose for that, is what says that counters and routes belong together.
//!
//! Ports are read one after another, and a link's counter is off by what passed meanwhile: time between the readings times rate. Where
//! times of reading are not known, how far ends of links and sums of switches are apart says how much that is ([`netloom_counters::Noise`]),
//! and no counter is held to more than a thousandth ([`FitSettings::slack`]), which is 10 ms of 10 s.

use netloom_model::LinkId;

use crate::operator::Operator;
use crate::settings::FitSettings;

use super::target::Counted;

/// So many rows are named where none is off beyond noise, but all together are.
const NAMED: usize = 10;

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
    /// Whether counters and routes can't belong together.
    pub is_foreign: bool,
}

/// How much is left of counters.
pub(crate) struct Misfit {
    /// As in [`Fit`].
    pub share: f64,
    left: f64,
    deviations: Option<f64>,
    /// Whether it is more than what belongs together leaves.
    pub is_foreign: bool,
}

impl Misfit {
    /// Of what is `left`, counted minus explained, `[row]`.
    pub fn of(counted: &Counted, left: &[f64], settings: &FitSettings) -> Self {
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
                squares += bytes * (left / deviation.hypot(settings.slack * bytes)).powi(2);
                noisy += bytes;
            }
            beyond += excess(bytes, deviation, left, settings);
        }
        let part = |of: f64| if all > 0.0 { of / all } else { 0.0 };
        let (share, left) = (part(beyond), part(off));
        let deviations = (noisy > 0.0).then(|| f64::sqrt(squares / noisy));
        // What is left must be that much all the same: managing a fabric leaves a little on every link, which is many deviations where
        // ends of links agree.
        let noisy = deviations.is_some_and(|d| d > settings.foreign_deviations);
        let is_foreign = share > settings.foreign || noisy && left > settings.foreign;
        Self { share, left, deviations, is_foreign }
    }
}

/// What is left of a row beyond noise; counters are whole numbers.
fn excess(bytes: f64, deviation: f64, left: f64, settings: &FitSettings) -> f64 {
    let excess = left.abs() - settings.deviations * deviation - settings.slack * bytes;
    if excess > 1.0 { excess } else { 0.0 }
}

/// How an answer fits what was counted; `unexplained` is counted minus explained, `[row]`.
pub fn fit(operator: &Operator, counted: &Counted, unexplained: &[f64], settings: &FitSettings) -> Fit {
    let Misfit { share, left: off, deviations, is_foreign } = Misfit::of(counted, unexplained, settings);
    let (mut rows, mut others) = (Vec::new(), Vec::new());
    for (at, (&bytes, &left)) in counted.bytes.iter().zip(unexplained).enumerate() {
        if !bytes.is_finite() {
            continue;
        }
        let excess = excess(bytes, counted.deviation[at], left, settings);
        let (routing, link, lane) = operator.place(at);
        let row = Unexplained { routing, link, lane, counted: bytes, explained: bytes - left };
        if excess > 0.0 {
            rows.push((excess, row));
        } else if left != 0.0 {
            others.push((left.abs(), row));
        }
    }
    if rows.is_empty() && deviations.is_some_and(|d| d > settings.foreign_deviations) {
        rows = others;
        rows.sort_by(worst_first);
        rows.truncate(NAMED);
    }
    rows.sort_by(worst_first);
    let rows = rows.into_iter().map(|r| r.1).collect();
    Fit { share, left: off, deviations, rows, is_foreign }
}

fn worst_first(a: &(f64, Unexplained), b: &(f64, Unexplained)) -> std::cmp::Ordering {
    b.0.total_cmp(&a.0).then(a.1.link.cmp(&b.1.link)).then(a.1.lane.cmp(&b.1.lane))
}
