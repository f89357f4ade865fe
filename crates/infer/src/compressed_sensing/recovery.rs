//! The dissertation's own way: of all traffic that explains the counters, the one whose coefficients in a basis add up to least.
//!
//! With `W` the basis's `analyse`, the answer minimises `|W x|_1` over `x >= 0` with `R x = t` (the analysis form, eq. 4.3.3), within the
//! counters' noise. In a dictionary `x` is a sum of two, each non-negative, that cost what they do in their own basis. It is here to
//! compare with; [`crate::estimate()`] is what answers.
//!
//! Sources: Taffet, dissertation, sec. 4.2, 4.3, 4.5 (several jobs). There the program is solved by an interior-point method (table 4.2) or
//! smoothed and solved by first-order steps (sec. 4.6.2, table 4.3).

use netloom_model::Control;
use netloom_numeric::{LpEffort, LpEnd};

use crate::operator::{Operator, Participants};
use crate::residual::Counted;
use crate::settings::CounterSettings;

use super::bases::Frame;
use super::coefficients::Coefficients;

/// What was recovered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recovery {
    /// `[pair of the operator given]`: bytes.
    pub bytes: Vec<f64>,
    /// Pairs that may carry something.
    pub possible: usize,
    /// Steps taken.
    pub steps: usize,
    /// The linear program's relative error.
    pub error: f64,
    /// How it ended.
    pub end: LpEnd,
}

/// The traffic with the least sum of coefficients, as far as `effort` goes. Jobs must have hosts for which the frame is defined.
pub fn recover(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    frame: Frame,
    effort: &LpEffort,
    settings: &CounterSettings,
    control: &Control,
) -> Recovery {
    assert_eq!(counted.bytes.len(), operator.rows());
    let keep = counted.possible(operator, settings);
    let (small, rows) = operator.restrict(&keep).compact();
    let here = counted.of(&rows);
    let sizes = jobs.iter().map(|job| job.hosts.len());
    let map = Coefficients::new(&small, sizes, cells(&small, jobs), frame);
    let known = |r: usize| here.bytes[r].is_finite();
    let target: Vec<f64> =
        (0..small.rows()).map(|r| if known(r) { here.bytes[r].max(0.0) } else { 0.0 }).collect();
    let slack: Vec<f64> = (0..small.rows())
        .map(|r| if known(r) { settings.deviations * here.deviation[r] } else { f64::INFINITY })
        .collect();
    let answer = map.least(&target, &slack, effort, || control.stopped().is_some());

    let mut bytes = vec![0.0; operator.pairs()];
    let kept = bytes.iter_mut().zip(&keep).filter(|(_, keep)| **keep);
    kept.zip(map.sum(&answer.values)).for_each(|((bytes, _), x)| *bytes = x);
    Recovery { bytes, possible: small.pairs(), steps: answer.steps, error: answer.error, end: answer.end }
}

/// `[pair]`: its cell, jobs one after the other.
fn cells(operator: &Operator, jobs: &[Participants]) -> Vec<u32> {
    let mut first = Vec::with_capacity(jobs.len());
    let mut cells = 0;
    for job in jobs {
        first.push(cells);
        cells += job.hosts.len() * job.hosts.len();
    }
    let cell = operator.iter().map(|pair| {
        let (n, start) = (jobs[pair.job as usize].hosts.len(), first[pair.job as usize]);
        (start + pair.destination as usize * n + pair.source as usize) as u32
    });
    cell.collect()
}
