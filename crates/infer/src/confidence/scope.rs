//! What share of the counted traffic a verdict speaks of.
//!
//! An answer may be sure of what it explains and silent of the rest: hosts of no job, bytes that no traffic of the jobs leaves. Routes carry all of it, so
//! a verdict is about all of it: what is outside counts as error, and nothing is *identified* of which more than [`VerdictSettings::outside`](crate::settings::VerdictSettings::outside) is a guess.
//!
//! Invariant: `share` is 1 where every byte counted is explained by jobs that were given, and a verdict is never better within a scope than
//! it was without.

use crate::measure::Joined;
use crate::residual::Fit;

use super::verdict::{Trust, Verdict};

/// What a verdict speaks of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scope {
    /// The part of what was counted that traffic of the jobs given explains, 0 to 1.
    pub share: f64,
    /// The part of what hosts sent and received that is of hosts of no job.
    pub outside: f64,
    /// The same of the root of the sum of squares by host.
    pub outside_norm: f64,
    /// The part of all that was counted, on all links, that nothing explains, noise excepted.
    pub unexplained: f64,
}

/// Of an answer and how it fits.
pub fn scope(joined: &Joined, fit: &Fit) -> Scope {
    let [outside, outside_norm] = joined.outside.map(|part| part.clamp(0.0, 1.0));
    let unexplained = fit.share.clamp(0.0, 1.0);
    Scope { share: (1.0 - outside) * (1.0 - unexplained), outside, outside_norm, unexplained }
}

impl Scope {
    /// The same trust, in all that was counted. `doubtful`: counters that may be wrong together (wraps) leave no answer identified.
    #[must_use]
    pub fn limit(&self, trust: Trust, joined: &Joined, doubtful: bool) -> Trust {
        // A single host outside has nobody to talk to: its bytes are in no pair of the answer.
        let absent = if joined.outsiders.len() == 1 { self.outside_norm } else { 0.0 };
        let settings = trust.settings;
        let missing = absent.max(self.unexplained);
        let trust = if doubtful { trust.with_least_error(settings.wrapped).at_most_partly() } else { trust };
        let off = |error: f64| error.hypot(missing);
        let leaf_error = off(trust.leaf_error);
        let mut verdict = trust.verdict.max(Verdict::of(leaf_error, &settings));
        if self.outside.max(self.outside_norm).max(self.unexplained) > settings.outside {
            verdict = verdict.max(Verdict::Partly);
        }
        Trust { verdict, leaf_error, pair_error: off(trust.pair_error), ..trust }
    }
}
