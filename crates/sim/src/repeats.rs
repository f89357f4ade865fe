//! The state of a run beside an earlier one: whether the run from here repeats what it did from there, and what it comes to after many times more.
//!
//! Everything that changes in a run is visited, always in the same order. Times are written as they are from now, steps of programs as they are
//! from the iteration, packets and messages by the order in which they are met: two moments that write the same bytes go on alike. What
//! only adds up is not written but noted beside; after `times` more such stretches it has grown by so many times what it grew in one.
//!
//! Invariants: what is written decides all that comes; what is noted decides nothing. Bytes are compared whole, no digests of them.

use std::collections::HashMap;

use serde::Serialize;

use crate::calendar::NEVER;
use crate::record::Latencies;

/// What of a run was taken from an earlier iteration, or why nothing could be.
#[derive(Clone, Debug, PartialEq)]
pub struct Skipped {
    /// The job whose iterations were looked at, counted from 0; `None`: none was.
    pub job: Option<usize>,
    /// Its iteration from which on the run repeats, counted from 0.
    pub from_iteration: u64,
    /// Iterations after which it repeats, and the time that they take, ps; 0 if it did not.
    pub period_iterations: u64,
    /// See `period_iterations`.
    pub period_ps: u64,
    /// Iterations of that job that were not simulated.
    pub iterations: u64,
    /// The time that was not, those of other jobs included, ps.
    pub time_ps: u64,
    /// Why nothing was skipped; `None` if something was.
    pub reason: Option<&'static str>,
}

impl Skipped {
    /// Nothing, and why.
    pub(crate) fn nothing(reason: &'static str) -> Self {
        Self {
            job: None,
            from_iteration: 0,
            period_iterations: 0,
            period_ps: 0,
            iterations: 0,
            time_ps: 0,
            reason: Some(reason),
        }
    }
}

/// Where the first rank of a job that iterates is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The job.
    pub job: usize,
    /// Which of its iterations has begun, counted from 0.
    pub number: u64,
}

/// A moment of a run, to compare with others.
#[derive(Debug, Default)]
pub(crate) struct Moment {
    pub now_ps: u64,
    bytes: Vec<u8>,
    counts: Vec<u128>,
    latencies: Vec<Latencies>,
    /// By job: the iteration of its first rank.
    pub bases: Vec<u64>,
    /// By job: how many more iterations all its ranks can do as they do, while their programs repeat.
    room: Vec<u64>,
}

impl Moment {
    /// Whether a run goes on from both in the same way.
    pub fn equals(&self, other: &Self) -> bool {
        self.bytes == other.bytes && self.counts.len() == other.counts.len()
    }

    /// How often what happened since `before` can happen again, as far as programs go.
    pub fn most_times(&self, before: &Self) -> u64 {
        let since = self.bases.iter().zip(&before.bases).map(|(now, then)| now - then);
        let times = |(done, &room): (u64, &u64)| room.checked_div(done).unwrap_or(u64::MAX);
        since.zip(&self.room).map(times).min().unwrap_or(0)
    }
}

/// What is done with what is visited.
#[derive(Debug)]
enum Doing {
    /// Writes.
    Look,
    /// Adds what comes of so many times more, by what was noted before.
    Advance {
        times: u64,
        by_ps: u64,
        counts: std::vec::IntoIter<u128>,
        latencies: std::vec::IntoIter<Latencies>,
    },
}

/// Numbers by the order in which things are met.
#[derive(Debug, Default)]
pub(crate) struct Names {
    of: HashMap<u32, u32>,
    /// In order.
    pub met: Vec<u32>,
}

impl Names {
    fn of(&mut self, index: u32) -> u32 {
        let next = self.met.len() as u32;
        let name = *self.of.entry(index).or_insert(next);
        if name == next {
            self.met.push(index);
        }
        name
    }
}

/// A way through all that changes.
#[derive(Debug)]
pub struct Visit {
    doing: Doing,
    moment: Moment,
    pub(crate) packets: Names,
    pub(crate) messages: Names,
    pub(crate) rests: Names,
    pub(crate) records: Names,
    /// By job: how many iterations it is moved on.
    moved: Vec<u64>,
}

impl Visit {
    fn new(doing: Doing, moment: Moment, moved: Vec<u64>) -> Self {
        let [packets, messages, rests, records] = std::array::from_fn(|_| Names::default());
        Self { doing, moment, packets, messages, rests, records, moved }
    }

    /// Looks at a run that is at `now_ps`.
    pub(crate) fn look(now_ps: u64) -> Self {
        Self::new(Doing::Look, Moment { now_ps, ..Moment::default() }, Vec::new())
    }

    /// Moves a run on from `now`, which equals `before`, by so many times what happened between them.
    pub(crate) fn advance(before: Moment, now: &Moment, times: u64) -> Self {
        let by_ps = (now.now_ps - before.now_ps) * times;
        let moved = now.bases.iter().zip(&before.bases).map(|(now, then)| (now - then) * times).collect();
        let (counts, latencies) = (before.counts.into_iter(), before.latencies.into_iter());
        let doing = Doing::Advance { times, by_ps, counts, latencies };
        Self::new(doing, Moment { now_ps: now.now_ps, bases: now.bases.clone(), ..Moment::default() }, moved)
    }

    /// What was seen.
    pub(crate) fn seen(self) -> Moment {
        self.moment
    }

    /// The simulated time of the visit, before it moves on, ps.
    pub(crate) fn now_ps(&self) -> u64 {
        self.moment.now_ps
    }

    /// Whether it looks, and does not change anything.
    pub(crate) fn looks(&self) -> bool {
        matches!(self.doing, Doing::Look)
    }

    /// How far times move on, ps.
    pub(crate) fn by_ps(&self) -> u64 {
        match self.doing {
            Doing::Look => 0,
            Doing::Advance { by_ps, .. } => by_ps,
        }
    }

    /// How many times more what happened is to happen; 0 where it looks.
    pub(crate) fn times(&self) -> u64 {
        match self.doing {
            Doing::Advance { times, .. } => times,
            _ => 0,
        }
    }

    /// Something that must be the same.
    pub(crate) fn same<T: Serialize + ?Sized>(&mut self, value: &T) {
        if self.looks() {
            let before = std::mem::take(&mut self.moment.bytes);
            self.moment.bytes = postcard::to_extend(value, before).expect("memory takes any value");
        }
    }

    /// A time, [`NEVER`] included.
    pub(crate) fn time(&mut self, time_ps: &mut u64) {
        let never = *time_ps == NEVER;
        let from_now = (*time_ps).wrapping_sub(self.moment.now_ps) as i64;
        self.same(&(never, if never { 0 } else { from_now }));
        if !never {
            *time_ps += self.by_ps();
        }
    }

    /// A time, [`NEVER`] included, of which nothing counts but that it is over, if it is.
    pub(crate) fn past(&mut self, time_ps: &mut u64) {
        self.after(time_ps, self.moment.now_ps);
    }

    /// A time, [`NEVER`] included, that counts only if it is later than another, which has been and is told elsewhere.
    pub(crate) fn after(&mut self, time_ps: &mut u64, other_ps: u64) {
        let mut told_ps = (*time_ps).max(other_ps);
        self.time(&mut told_ps);
        if *time_ps != NEVER {
            *time_ps += self.by_ps();
        }
    }

    /// Something that only adds up.
    pub(crate) fn sum(&mut self, sum: &mut u128) {
        match &mut self.doing {
            Doing::Look => self.moment.counts.push(*sum),
            Doing::Advance { times, counts, .. } => {
                let before = counts.next().expect("as many as were noted");
                *sum += (*sum - before) * u128::from(*times);
            }
        }
    }

    /// The same, of a smaller kind.
    pub(crate) fn count(&mut self, count: &mut u64) {
        let mut sum = u128::from(*count);
        self.sum(&mut sum);
        *count = u64::try_from(sum).expect("a count of a run, which has an end");
    }

    /// A distribution.
    pub(crate) fn latencies(&mut self, latencies: &mut Latencies) {
        match &mut self.doing {
            Doing::Look => self.moment.latencies.push(latencies.clone()),
            Doing::Advance { times, latencies: before, .. } => {
                latencies.repeat_since(&before.next().expect("as many as were noted"), *times);
            }
        }
    }

    /// A packet.
    pub(crate) fn packet(&mut self, index: u32) {
        let name = self.packets.of(index);
        self.same(&name);
    }

    /// Packets in a row.
    pub(crate) fn packets_of(&mut self, indices: impl Iterator<Item = u32>) {
        let indices: Vec<u32> = indices.collect();
        self.same(&indices.len());
        indices.into_iter().for_each(|index| self.packet(index));
    }

    /// A message at its sender.
    pub(crate) fn message(&mut self, index: u32) {
        let name = self.messages.of(index);
        self.same(&name);
    }

    /// What is left of a series.
    pub(crate) fn rest(&mut self, index: u32) {
        let name = self.rests.of(index);
        self.same(&name);
    }

    /// What a receiver knows of a message.
    pub(crate) fn record(&mut self, index: u32) {
        let name = self.records.of(index);
        self.same(&name);
    }

    /// The first rank of the next job is in this iteration.
    pub(crate) fn base(&mut self, iteration: u64) {
        if self.looks() {
            self.moment.bases.push(iteration);
            self.moment.room.push(u64::MAX);
        }
    }

    /// The step of a rank whose job is given, in a program that does the same every `steps` steps from `from` to `to`; else `None`.
    pub(crate) fn step(&mut self, step: &mut u64, job: usize, cycle: Option<(u64, u64, u64)>) {
        let Some((from, steps, to)) = cycle.filter(|&(from, _, to)| (from..to).contains(step)) else {
            return self.same(&(false, *step));
        };
        let (iteration, at) = ((*step - from) / steps, (*step - from) % steps);
        let base = self.moment.bases[job];
        self.same(&(true, iteration.wrapping_sub(base) as i64, at));
        if let Some(room) = self.moment.room.get_mut(job) {
            *room = (*room).min((to - 1 - *step) / steps);
        }
        if let Some(moved) = self.moved.get(job) {
            *step += moved * steps;
        }
    }
}
