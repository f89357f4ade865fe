//! Cancellation and progress of long computations.
//!
//! The core has no clock and no signal handler: whoever calls it sets the stop flag, the computation
//! looks at it between units of work and returns the best result so far.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// Why a computation was asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The user pressed Ctrl-C (or a caller cancelled).
    Interrupted,
    /// The time limit passed.
    TimeLimit,
}

/// Shared between the caller, who asks for a stop, and the computation, which reports progress.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
}

impl Control {
    /// A control that never stops anything until it is told to.
    pub fn new() -> Self {
        Self::default()
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
    use super::*;

    #[test]
    fn the_first_reason_stands() {
        let control = Control::new();
        assert_eq!(control.stopped(), None);
        control.stop(StopReason::TimeLimit);
        control.stop(StopReason::Interrupted);
        assert_eq!(control.stopped(), Some(StopReason::TimeLimit));
    }
}
