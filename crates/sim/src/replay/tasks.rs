//! Ranks whose program is a graph of tasks: several are open at once.
//!
//! A task that may start queues for its processor; processors serve in order of arrival, at one time in order of number. There it
//! computes, or pays for its call of a send or receive; messages travel while the processor goes on. What a task requires is in
//! [`Schedule`]. A send that need not ask is complete at once, as in LogGOPSim.
//!
//! Invariants: a processor has one task; `open` holds the tasks whose messages are under way, oldest first by partner and tag;
//! a task finishes once.
//!
//! Source: T. Hoefler, T. Schneider, A. Lumsdaine, *LogGOPSim: simulating large-scale applications in the LogGOPS model*,
//! HPDC 2010.

use std::collections::VecDeque;
use std::sync::Arc;

use netloom_model::{Lines, Schedule, Task};
use serde::{Deserialize, Serialize};

use super::matching::Table;
use crate::calendar::END_PS;

/// Runs a [`Schedule`]. To whoever only adds up messages it looks like a script of one task after another.
#[derive(Clone, Debug)]
pub struct Tasks {
    schedule: Arc<Schedule>,
    ps_per_unit: f64,
    /// The name of its file, for messages.
    pub file: Lines,
}

impl Tasks {
    /// A unit of computing takes `compute_scale` nanoseconds.
    ///
    /// # Panics
    /// If the scale is negative.
    pub fn new(schedule: Arc<Schedule>, compute_scale: f64) -> Self {
        assert!(compute_scale >= 0.0, "time goes forward");
        Self { schedule, ps_per_unit: 1e3 * compute_scale, file: Lines::of("schedule") }
    }

    /// Ranks that the schedule has.
    pub fn ranks(&self) -> u32 {
        self.schedule.ranks()
    }

    /// What is to be done.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// How long a task occupies its processor, if a call takes `call_ps`.
    pub(super) fn occupies_ps(&self, task: Task, call_ps: u64) -> u64 {
        match task {
            Task::Calc { units } => ((units as f64 * self.ps_per_unit) as u64).min(END_PS),
            Task::Send { .. } | Task::Recv { .. } => call_ps,
        }
    }
}

/// One processor of a rank.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Processor {
    number: u8,
    queue: VecDeque<u32>,
    /// Its task and until when, ps.
    busy: Option<(u32, u64)>,
}

/// How far a rank is.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Progress {
    needs: Vec<u32>,
    processors: Vec<Processor>,
    open: Table<(u32, u32, bool), VecDeque<u32>>,
    left: usize,
}

/// What a rank does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// It occupies the processor of this index for so long, ps.
    Occupies { processor: u32, task: u32, ps: u64 },
    /// A task has had its processor: a message is sent or received, or the task is complete.
    Acts(u32),
}

impl Progress {
    pub fn new(schedule: &Schedule, rank: u32) -> Self {
        let mut numbers = schedule.processors(rank).to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        let processors = numbers
            .into_iter()
            .map(|number| Processor { number, queue: VecDeque::new(), busy: None })
            .collect();
        let needs = schedule.needs(rank).to_vec();
        let left = needs.len();
        let mut progress = Self { needs, processors, open: Table::default(), left };
        for task in 0..left as u32 {
            if progress.needs[task as usize] == 0 {
                progress.enqueue(schedule, rank, task);
            }
        }
        progress
    }

    /// Tasks that are not complete.
    pub fn left(&self) -> usize {
        self.left
    }

    /// What happens next at `now_ps`, if anything does before somebody else acts.
    pub fn next(&mut self, tasks: &Tasks, rank: u32, now_ps: u64, call_ps: u64) -> Option<Next> {
        let schedule = tasks.schedule();
        for p in 0..self.processors.len() {
            let processor = &mut self.processors[p];
            if let Some((task, until_ps)) = processor.busy {
                if until_ps > now_ps {
                    continue;
                }
                processor.busy = None;
                return Some(Next::Acts(task));
            }
            let Some(task) = processor.queue.pop_front() else { continue };
            let ps = tasks.occupies_ps(schedule.tasks(rank)[task as usize], call_ps);
            if ps > 0 {
                processor.busy = Some((task, now_ps + ps));
            }
            self.release(schedule, rank, task, true);
            let processor = p as u32;
            return Some(if ps > 0 { Next::Occupies { processor, task, ps } } else { Next::Acts(task) });
        }
        None
    }

    /// Whether all of its processors wait; then the one partner that it has messages with under way, if there is one only:
    /// `(partner, is it a send)`.
    pub fn idles(&self) -> Option<Option<(u32, bool)>> {
        let busy = self.processors.iter().any(|processor| processor.busy.is_some());
        let mut open = self.open.keys().map(|&(peer, _, sends)| (peer, sends));
        let first = open.next();
        (!busy).then(|| first.filter(|&first| open.all(|other| other == first)))
    }

    /// The oldest task whose message is under way, of every partner and tag `(partner, tag, is it a send)`, by task.
    pub fn open(&self) -> Vec<((u32, u32, bool), u32)> {
        let first = |(&key, tasks): (&_, &VecDeque<u32>)| Some((key, *tasks.front()?));
        let mut open: Vec<_> = self.open.iter().filter_map(first).collect();
        open.sort_unstable_by_key(|&(_, task)| task);
        open
    }

    /// Whether each task waits for others to begin.
    pub fn not_begun(&self) -> impl Iterator<Item = bool> {
        self.needs.iter().map(|&needs| needs > 0)
    }

    /// The message of a task is under way.
    pub fn opened(&mut self, key: (u32, u32, bool), task: u32) {
        self.open.entry(key).or_default().push_back(task);
    }

    /// A message has left or arrived; which task it belonged to.
    pub fn arrived(&mut self, key: (u32, u32, bool)) -> Option<u32> {
        let tasks = self.open.get_mut(&key)?;
        let task = tasks.pop_front();
        if tasks.is_empty() {
            self.open.remove(&key);
        }
        task
    }

    /// A task is complete.
    pub fn finish(&mut self, schedule: &Schedule, rank: u32, task: u32) {
        self.left -= 1;
        self.release(schedule, rank, task, false);
    }

    fn release(&mut self, schedule: &Schedule, rank: u32, task: u32, started: bool) {
        for &(follower, at_start) in schedule.followers(rank, task) {
            if at_start == started {
                let needs = &mut self.needs[follower as usize];
                *needs -= 1;
                if *needs == 0 {
                    self.enqueue(schedule, rank, follower);
                }
            }
        }
    }

    fn enqueue(&mut self, schedule: &Schedule, rank: u32, task: u32) {
        let number = schedule.processors(rank)[task as usize];
        let at = self.processors.binary_search_by_key(&number, |p| p.number);
        self.processors[at.expect("every task's processor is listed")].queue.push_back(task);
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::Requirement;

    use super::*;

    const fn calc(units: u64) -> Task {
        Task::Calc { units }
    }

    /// Plays one rank of computing tasks; returns when each is complete, ns.
    fn ends(tasks: &[(Task, u8)], requirements: &[(u32, u32, bool)]) -> Vec<u64> {
        let requirements: Vec<_> = requirements
            .iter()
            .map(|&(task, requires, started)| Requirement { rank: 0, task, requires, started })
            .collect();
        let schedule = Schedule::new(&[tasks.to_vec()], &requirements).unwrap();
        let script = Tasks::new(Arc::new(schedule), 1.0);
        let mut progress = Progress::new(script.schedule(), 0);
        let mut ends = vec![0; tasks.len()];
        let mut now_ps = 0;
        while progress.left() > 0 {
            let mut wake_ps = u64::MAX;
            while let Some(next) = progress.next(&script, 0, now_ps, 0) {
                if let Next::Acts(task) = next {
                    ends[task as usize] = now_ps / 1000;
                    progress.finish(script.schedule(), 0, task);
                }
            }
            for processor in &progress.processors {
                wake_ps = processor.busy.map_or(wake_ps, |(_, until_ps)| wake_ps.min(until_ps));
            }
            now_ps = wake_ps;
        }
        ends
    }

    #[test]
    fn a_processor_does_one_thing_at_a_time_and_two_do_two() {
        assert_eq!(ends(&[(calc(10), 0), (calc(20), 0), (calc(5), 7)], &[]), [10, 30, 5]);
    }

    #[test]
    fn what_requires_waits_for_the_end_or_for_the_start() {
        let tasks = [(calc(10), 0), (calc(20), 1), (calc(5), 2), (calc(0), 0)];
        assert_eq!(ends(&tasks, &[(1, 0, false), (2, 1, true), (3, 2, false)]), [10, 30, 15, 15]);
    }
}
