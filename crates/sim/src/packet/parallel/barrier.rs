//! Where threads wait for each other, many times a millisecond.
//!
//! A thread that is early spins for a moment and then lets others have its core: cores may be shared. A thread that panics releases
//! the others, who then leave.

use std::sync::atomic::Ordering::{AcqRel, Acquire, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};

/// Looks before a thread yields.
const SPINS: u32 = 200;

/// A barrier for a fixed number of threads.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    here: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        let (here, round) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { threads, here, round, broken: AtomicBool::new(false) }
    }

    /// Waits until all are here; `false` if one will never come.
    pub fn wait(&self) -> bool {
        let round = self.round.load(Acquire);
        if self.here.fetch_add(1, AcqRel) + 1 == self.threads {
            self.here.store(0, Release);
            self.round.store(round.wrapping_add(1), Release);
        } else {
            let mut looks = 0;
            while self.round.load(Acquire) == round && !self.broken.load(Acquire) {
                looks += 1;
                if looks < SPINS {
                    std::hint::spin_loop();
                } else {
                    std::thread::yield_now();
                }
            }
        }
        !self.broken.load(Acquire)
    }
}

/// Held by each thread: releases the others if it panics.
pub(crate) struct Guard<'a>(pub &'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, Release);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use super::*;

    #[test]
    fn nobody_is_a_round_ahead() {
        let barrier = Barrier::new(3);
        let rounds: [AtomicUsize; 3] = Default::default();
        std::thread::scope(|scope| {
            for me in 0..3 {
                let (barrier, rounds) = (&barrier, &rounds);
                scope.spawn(move || {
                    for round in 1..=500 {
                        rounds[me].store(round, Relaxed);
                        assert!(barrier.wait());
                        assert!(rounds.iter().all(|r| (round..=round + 1).contains(&r.load(Relaxed))));
                    }
                });
            }
        });
    }

    #[test]
    fn a_panic_releases_the_others() {
        let barrier = Barrier::new(2);
        std::thread::scope(|scope| {
            let lost = scope.spawn(|| {
                let _guard = Guard(&barrier);
                panic!("on purpose");
            });
            assert!(!barrier.wait());
            assert!(lost.join().is_err());
        });
    }
}
