//! Work against the clock: a time limit, and when what was found was found.
//!
//! The optimiser has no clock; its history tells the work of every improvement. Whoever waits reads the progress
//! every millisecond, and so knows at what time which work was done.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use netloom_model::{Control, StopReason};

/// What came of it.
pub struct Race<T> {
    /// What the work returned.
    pub found: T,
    /// Seconds from start to return.
    pub seconds: f64,
    /// `(seconds, work done by then)`, both rising.
    reports: Vec<(f64, u64)>,
}

impl<T> Race<T> {
    /// When so much work was done, in seconds.
    pub fn seconds_at(&self, work: u64) -> f64 {
        let at = self.reports.partition_point(|r| r.1 < work);
        self.reports.get(at).map_or(self.seconds, |r| r.0)
    }
}

/// Runs `work`, which is told to stop after `limit` seconds.
pub fn race<T: Send>(limit: f64, work: impl FnOnce(&Control) -> T + Send) -> Race<T> {
    let control = Control::new();
    let clock = Instant::now();
    let mut reports: Vec<(f64, u64)> = Vec::new();
    let found = std::thread::scope(|scope| {
        let run = scope.spawn(|| work(&control));
        while !run.is_finished() {
            let (seconds, (done, _)) = (clock.elapsed().as_secs_f64(), control.progress());
            // Falling numbers are those of another stage: bounds count their own work.
            if reports.last().is_some_and(|r| r.1 > done) {
                reports.clear();
            }
            if reports.last().is_none_or(|r| r.1 < done) {
                reports.push((seconds, done));
            }
            if seconds >= limit {
                control.stop(StopReason::TimeLimit);
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        run.join().expect("the work does not panic")
    });
    Race { found, seconds: clock.elapsed().as_secs_f64(), reports }
}

/// Maps `items` on so many threads at once; results in the order of the items.
pub fn abreast<I: Sync, T: Send>(threads: usize, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(items.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(items.len()) {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some(item) = items.get(i) else { break };
                    let result = work(item);
                    results.lock().expect("no thread panicked").push((i, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no thread panicked");
    results.sort_by_key(|(i, _)| *i);
    results.into_iter().map(|(_, result)| result).collect()
}
