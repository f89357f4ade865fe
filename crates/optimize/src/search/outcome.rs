//! What every search tells of itself, whatever it was for: its tables, how good they are known to be, why it ended.

use netloom_model::{Improvement, Routes, StopReason};
use serde::{Deserialize, Serialize};

use crate::search::budget::TOLERANCE;

/// Tables, and how the search for them went.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Complete tables: every entry towards a host admissible.
    pub routes: Routes,
    /// What was minimised, host links included, meets its lower bound.
    pub proven_optimal: bool,
    /// What ended the search; none where nothing was left to try.
    pub stop: Option<Stop>,
    /// Path searches spent.
    pub work: u64,
    /// How the best routing improved; `max_load` is what was minimised.
    pub history: Vec<Improvement>,
    /// Entries towards hosts that differ from those of [`Change::from`](crate::Change::from), if that was given.
    pub changed_entries: Option<u64>,
    /// What the routes gained on those that the search began with.
    pub changed_because: Because,
}

impl Outcome {
    /// How good the tables are known to be, or why that is not known.
    pub fn status(&self) -> Status {
        Status::of(self.proven_optimal, self.stop)
    }

    /// Equal inputs, seed and work give this result again: nothing from outside ended the search.
    pub fn reproducible(&self) -> bool {
        !self.stop.is_some_and(Stop::is_from_outside)
    }
}

/// What ended a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Stop {
    /// The time limit.
    Time,
    /// The work budget, before what the search aimed at was reached.
    Work,
    /// The user.
    Interrupted,
    /// It reached what it aimed at: by what it knows nothing better is possible between switches.
    Target,
    /// The best that it found needs more lanes than there may be.
    Lanes,
}

impl Stop {
    /// Whether it came from outside: another run may end elsewhere.
    pub fn is_from_outside(self) -> bool {
        matches!(self, Self::Time | Self::Interrupted)
    }
}

impl From<StopReason> for Stop {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::TimeLimit => Self::Time,
            StopReason::Interrupted => Self::Interrupted,
        }
    }
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// What it found meets its lower bound.
    Optimal,
    /// Nothing was left to try.
    Exhausted,
    /// Something ended it first.
    Stopped(Stop),
}

impl Status {
    /// Of tables that are proven optimal or not, and what ended the search for them.
    pub fn of(proven_optimal: bool, stop: Option<Stop>) -> Self {
        match stop {
            _ if proven_optimal => Self::Optimal,
            Some(stop) => Self::Stopped(stop),
            None => Self::Exhausted,
        }
    }

    /// Its name in results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Optimal => "optimal",
            Self::Exhausted => "exhausted",
            Self::Stopped(Stop::Time) => "stopped: time",
            Self::Stopped(Stop::Work) => "stopped: work",
            Self::Stopped(Stop::Interrupted) => "stopped: interrupted",
            Self::Stopped(Stop::Target) => "stopped: target",
            Self::Stopped(Stop::Lanes) => "stopped: lanes",
        }
    }
}

/// Why routes are others than those that a search began with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// What is minimised (the largest load, or what is made of several) is nearer to its bound.
    Bound,
    /// That is as it was; fewer links carry it, or less is on the links below it.
    Tail,
    /// They are not: no way that traffic takes is another.
    Nothing,
}

impl Because {
    /// From the value of the objective before and after, and whether anything moved.
    pub(crate) fn of(moved: bool, before: f64, after: f64) -> Self {
        match moved {
            false => Self::Nothing,
            true if after < before * (1.0 - TOLERANCE) => Self::Bound,
            true => Self::Tail,
        }
    }

    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bound => "bound",
            Self::Tail => "tail",
            Self::Nothing => "nothing",
        }
    }
}

/// Lets a result's outcome be read as its own.
macro_rules! has_outcome {
    ($($result:ty),+) => {$(
        impl std::ops::Deref for $result {
            type Target = $crate::Outcome;

            fn deref(&self) -> &$crate::Outcome {
                &self.outcome
            }
        }
    )+};
}
pub(crate) use has_outcome;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_proven_is_optimal_whatever_ended_the_search() {
        use Stop::{Interrupted, Lanes, Target, Time, Work};
        let stops = [None, Some(Time), Some(Work), Some(Interrupted), Some(Target), Some(Lanes)];
        assert!(stops.iter().all(|&stop| Status::of(true, stop).name() == "optimal"));
        let names = stops.map(|stop| Status::of(false, stop).name());
        let stopped = ["time", "work", "interrupted", "target", "lanes"].map(|why| format!("stopped: {why}"));
        assert_eq!(names[0], "exhausted");
        assert_eq!(names[1..], stopped);
    }
}
