//! Where threads wait for each other, many times a millisecond.
//!
//! A thread that is early spins for a moment, as the others come soon if each has a core. Then it sleeps until the last one wakes it, so that
//! a thread that has no core may have this one's. (To yield instead gives a whole slice of time to anybody else on the machine, at every
//! meeting.) A thread that panics releases the others, who then leave.

use std::sync::atomic::Ordering::{AcqRel, SeqCst};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Looks before a thread sleeps.
const SPINS: u32 = 1000;

/// A barrier for a fixed number of threads.
#[derive(Debug)]
pub(crate) struct Barrier {
    threads: usize,
    here: AtomicUsize,
    round: AtomicUsize,
    broken: AtomicBool,
    /// How many sleep, or are about to.
    asleep: AtomicUsize,
    bed: Mutex<()>,
    bell: Condvar,
}

impl Barrier {
    pub fn new(threads: usize) -> Self {
        Self {
            threads,
            here: AtomicUsize::new(0),
            round: AtomicUsize::new(0),
            broken: AtomicBool::new(false),
            asleep: AtomicUsize::new(0),
            bed: Mutex::new(()),
            bell: Condvar::new(),
        }
    }

    /// Waits until all are here; `false` if one will never come.
    pub fn wait(&self) -> bool {
        let round = self.round.load(SeqCst);
        if self.here.fetch_add(1, AcqRel) + 1 == self.threads {
            self.here.store(0, SeqCst);
            self.round.store(round.wrapping_add(1), SeqCst);
            // Who is not counted yet has not looked for the last time, and will see the new round.
            if self.asleep.load(SeqCst) > 0 {
                self.wake();
            }
        } else {
            let waits = || self.round.load(SeqCst) == round && !self.broken.load(SeqCst);
            let mut looks = 0;
            while looks < SPINS && waits() {
                looks += 1;
                std::hint::spin_loop();
            }
            if waits() {
                self.asleep.fetch_add(1, SeqCst);
                let mut guard = self.lock();
                while waits() {
                    guard = self.bell.wait(guard).unwrap_or_else(PoisonError::into_inner);
                }
                self.asleep.fetch_sub(1, SeqCst);
            }
        }
        !self.broken.load(SeqCst)
    }

    fn lock(&self) -> MutexGuard<'_, ()> {
        self.bed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cold]
    fn wake(&self) {
        drop(self.lock());
        self.bell.notify_all();
    }
}

/// Held by each thread: releases the others if it panics.
pub(crate) struct Guard<'a>(pub &'a Barrier);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.broken.store(true, SeqCst);
            self.0.wake();
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
