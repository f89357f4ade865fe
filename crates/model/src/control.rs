//! Cancellation and progress of long computations.
//!
//! The core has no clock and no signal handler: whoever calls it sets the stop flag, the computation
//! looks at it between units of work and returns the best result so far. Whoever wants to know *when* a
//! search got better gives an observer, and reads a clock of its own there.

use std::fmt;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};

/// Why a computation was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StopReason {
    /// The user pressed Ctrl-C (or a caller cancelled).
    Interrupted,
    /// The time limit passed.
    TimeLimit,
}

/// A better result than all before, just found by a search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Improvement {
    /// Units of work done.
    pub work: u64,
    /// What the search minimises: the largest load of a link between switches in bytes at the reference
    /// bandwidth, or what is made of several.
    pub max_load: f64,
    /// How many links between switches carry it.
    pub links_at_max: usize,
    /// Entries in use that differ from today's, where that counts; else 0.
    pub changed_entries: u64,
}

/// Called on the computation's thread.
type Observer = Box<dyn Fn(Improvement) + Send + Sync>;

/// Shared between the caller, who asks for a stop, and the computation, which reports progress.
#[derive(Default)]
pub struct Control {
    stop: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
    observer: Option<Observer>,
}

impl fmt::Debug for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Control")
            .field("stopped", &self.stopped())
            .field("progress", &self.progress())
            .finish_non_exhaustive()
    }
}

impl Control {
    /// A control that never stops anything until it is told to.
    pub fn new() -> Self {
        Self::default()
    }

    /// A control whose `observer` is told of every improvement, on the computation's own thread.
    pub fn observed(observer: impl Fn(Improvement) + Send + Sync + 'static) -> Self {
        Self { observer: Some(Box::new(observer)), ..Self::default() }
    }

    /// Tells the observer, if there is one, of a better result.
    pub fn improved(&self, improvement: Improvement) {
        if let Some(observer) = &self.observer {
            observer(improvement);
        }
    }

    /// Asks the computation to return what it has. The first reason given stands.
    pub fn stop(&self, reason: StopReason) {
        let code = match reason {
            StopReason::Interrupted => 1,
            StopReason::TimeLimit => 2,
        };
        let _ = self.stop.compare_exchange(0, code, Relaxed, Relaxed);
    }

    /// Whether, and why, the computation should return.
    pub fn stopped(&self) -> Option<StopReason> {
        match self.stop.load(Relaxed) {
            0 => None,
            1 => Some(StopReason::Interrupted),
            _ => Some(StopReason::TimeLimit),
        }
    }

    /// Reports `done` of `total` units of work (any unit; 0 of 0 is "unknown").
    pub fn report(&self, done: u64, total: u64) {
        self.done.store(done, Relaxed);
        self.total.store(total, Relaxed);
    }

    /// `(done, total)` as last reported.
    pub fn progress(&self) -> (u64, u64) {
        (self.done.load(Relaxed), self.total.load(Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[test]
    fn the_first_reason_stands() {
        let control = Control::new();
        assert_eq!(control.stopped(), None);
        control.stop(StopReason::TimeLimit);
        control.stop(StopReason::Interrupted);
        assert_eq!(control.stopped(), Some(StopReason::TimeLimit));
    }

    #[test]
    fn an_observer_hears_of_every_improvement_in_order() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let control = Control::observed({
            let heard = Arc::clone(&heard);
            move |improvement| heard.lock().unwrap().push(improvement)
        });
        let steps =
            [9.0, 7.5].map(|max_load| Improvement { work: 3, max_load, links_at_max: 2, changed_entries: 0 });
        for step in steps {
            control.improved(step);
            Control::new().improved(step); // nobody listens
        }
        assert_eq!(*heard.lock().unwrap(), steps);
    }
}
