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
use crate::record::{Latencies, Snapshot};

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
    /// What is known of iterations that were taken from others that are nearly alike; `None`: all repeat exactly.
    pub near: Option<Near>,
    /// Why nothing was skipped; `None` if something was.
    pub reason: Option<&'static str>,
}

/// How wrong a result may be from which iterations were left out, and how wrong those were that were simulated to see; shares.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Near {
    /// What was foreseen, with 95 %, of the figure that is foreseen worst.
    pub error: f64,
    /// The largest difference of an iteration that was simulated behind others that were not, in parts of the run.
    pub seen: f64,
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
            near: None,
            reason: Some(reason),
        }
    }
}

/// How ranks wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coupled {
    /// Iterations after which a slow rank may have held back all, about: the waits from one rank to the one that is farthest, or from that to this.
    pub felt: usize,
    /// Whether in each iteration nobody goes on before all have come, so that none can gain on another from one to the next.
    pub together: bool,
}

/// Where the first rank of a job that iterates is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Iteration {
    /// The job.
    pub job: usize,
    /// Which of its iterations has begun, counted from 0.
    pub number: u64,
    /// Whether it is the first job that still iterates.
    pub leads: bool,
}

/// What a job has come to.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SoFar {
    /// Ranks that have not ended.
    pub running: u32,
    /// Messages received, and their latencies, ps.
    pub messages: u64,
    /// See `messages`.
    pub latency_ps: u128,
    /// What its ranks waited, ps.
    pub waits_ps: u128,
}

/// How a rank takes part in what its job repeats, in a run of one job.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Part {
    /// It iterates: how often in all, whether its program is nothing else, and in which iteration it is where, up to one step.
    Iterates { times: u64, whole: bool, at: f64, step: f64 },
    /// It does something else.
    Else,
}

/// A moment of a run, to compare with others.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moment {
    pub now_ps: u64,
    bytes: Vec<u8>,
    counts: Vec<u128>,
    pub latencies: Vec<Snapshot>,
    /// By job: the iteration of its first rank.
    pub bases: Vec<u64>,
    /// Of all ranks.
    parts: Vec<Part>,
    /// By job: how many more iterations all its ranks can do as they do, while their programs repeat.
    pub room: Vec<u64>,
}

impl Moment {
    /// How often the job iterates, and whether its program is nothing else; `None`: not all its ranks do now.
    pub fn iterating(&self) -> Option<(u64, bool)> {
        let mut all: Option<(u64, bool)> = None;
        for &part in &self.parts {
            match (part, &mut all) {
                (Part::Iterates { times, whole, .. }, None) => all = Some((times, whole)),
                (Part::Iterates { times, whole, .. }, Some(found)) if found.0 == times => found.1 &= whole,
                _ => return None,
            }
        }
        all
    }

    /// By how many iterations a rank may have gained on another since an earlier moment, at most: both are seen to a step at both moments.
    pub fn apart(&self, since: &Self) -> f64 {
        let (mut least, mut most, mut coarsest) = (f64::INFINITY, f64::NEG_INFINITY, 0.0f64);
        for (now, then) in self.parts.iter().zip(&since.parts) {
            if let (&Part::Iterates { at, step, .. }, &Part::Iterates { at: before, .. }) = (now, then) {
                (least, most) = (least.min(at - before), most.max(at - before));
                coarsest = coarsest.max(step);
            }
        }
        if most < least { 0.0 } else { most - least + 2.0 * coarsest }
    }

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
    /// Notes what adds up, and where ranks are.
    Note,
    /// Moves times and steps on, and leaves what adds up as it is.
    Leap { by_ps: u64 },
    /// Adds what was left out.
    Settle(Box<Settle>),
    /// Adds what comes of so many times more, by what was noted before.
    Advance {
        times: u64,
        by_ps: u64,
        counts: std::vec::IntoIter<u128>,
        latencies: std::vec::IntoIter<Snapshot>,
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
    /// Whether what is visited is a job's that is alone, by ways that are fixed.
    fixed: bool,
}

/// What leaps left out of what adds up: as much an iteration as those brought that were simulated between two moments.
#[derive(Debug)]
pub(crate) struct Settle {
    pub counts: (std::vec::IntoIter<u128>, std::vec::IntoIter<u128>),
    pub latencies: (std::vec::IntoIter<Snapshot>, std::vec::IntoIter<Snapshot>),
    /// Iterations left out, and those between the moments.
    left_out: u64,
    between: u64,
    /// If the job did nothing else than to iterate, and ended: the iterations that its sums are of so far. What each brings is then known.
    whole: Option<u64>,
}

impl Settle {
    pub fn new(moments: (Moment, Moment), (left_out, between): (u64, u64), whole: Option<u64>) -> Self {
        let (then, now) = moments;
        let counts = (then.counts.into_iter(), now.counts.into_iter());
        let latencies = (then.latencies.into_iter(), now.latencies.into_iter());
        Self { counts, latencies, left_out, between, whole }
    }

    /// Of a sum in the whole run, of which every iteration may bring as much.
    fn left_out(&mut self, sum: u128, fixed: bool) -> u128 {
        let noted = "as many as were noted";
        let grown = self.counts.1.next().expect(noted) - self.counts.0.next().expect(noted);
        self.exactly(sum, fixed).unwrap_or_else(|| self.about(grown))
    }

    fn about(&self, grown: u128) -> u128 {
        let between = u128::from(self.between);
        (grown * u128::from(self.left_out) + between / 2) / between
    }

    /// What was simulated of a job that did nothing else is so many times what an iteration brings.
    fn exactly(&self, sum: u128, fixed: bool) -> Option<u128> {
        let done = u128::from(self.whole.filter(|_| fixed)?);
        sum.is_multiple_of(done).then(|| sum / done * u128::from(self.left_out))
    }

    fn extend(&mut self, latencies: &mut Latencies, fixed: bool) {
        let noted = "as many as were noted";
        let (then, now) = (self.latencies.0.next().expect(noted), self.latencies.1.next().expect(noted));
        let grown = u128::from(now.count - then.count);
        let exactly = self.exactly(u128::from(latencies.count()), fixed);
        let left_out = exactly.unwrap_or_else(|| self.about(grown));
        latencies.grow_as(&then, &now, u64::try_from(left_out).expect("a count of a run, which has an end"));
    }
}

impl Visit {
    fn new(doing: Doing, moment: Moment, moved: Vec<u64>) -> Self {
        let [packets, messages, rests, records] = std::array::from_fn(|_| Names::default());
        Self { doing, moment, packets, messages, rests, records, moved, fixed: false }
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

    /// Notes what adds up in a run that is at `now_ps`.
    pub(crate) fn note(now_ps: u64) -> Self {
        Self::new(Doing::Note, Moment { now_ps, ..Moment::default() }, Vec::new())
    }

    /// Moves a run on, by so many iterations a job.
    pub(crate) fn leap(now: &Moment, by_ps: u64, moved: Vec<u64>) -> Self {
        let moment = Moment { now_ps: now.now_ps, bases: now.bases.clone(), ..Moment::default() };
        Self::new(Doing::Leap { by_ps }, moment, moved)
    }

    /// Adds what leaps left out.
    pub(crate) fn settle(settle: Settle) -> Self {
        Self::new(Doing::Settle(Box::new(settle)), Moment::default(), Vec::new())
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
        matches!(self.doing, Doing::Look | Doing::Note)
    }

    /// Whether nothing but what adds up is of interest.
    pub(crate) fn only_sums(&self) -> bool {
        matches!(self.doing, Doing::Note | Doing::Settle(_))
    }

    /// Whether sums that come next are a job's that is alone, by ways that are fixed.
    pub(crate) fn are_fixed(&mut self, fixed: bool) {
        self.fixed = fixed;
    }

    /// How far times move on, ps.
    pub(crate) fn by_ps(&self) -> u64 {
        match self.doing {
            Doing::Look | Doing::Note | Doing::Settle(_) => 0,
            Doing::Advance { by_ps, .. } | Doing::Leap { by_ps } => by_ps,
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
        if matches!(self.doing, Doing::Look) {
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
        self.adds_up(sum, false);
    }

    /// The same, of which every iteration brings as much.
    pub(crate) fn fixed(&mut self, sum: &mut u128) {
        self.adds_up(sum, true);
    }

    fn adds_up(&mut self, sum: &mut u128, fixed: bool) {
        match &mut self.doing {
            Doing::Look | Doing::Note => self.moment.counts.push(*sum),
            Doing::Leap { .. } => {}
            Doing::Settle(settle) => *sum += settle.left_out(*sum, fixed && self.fixed),
            Doing::Advance { times, counts, .. } => {
                let before = counts.next().expect("as many as were noted");
                *sum += (*sum - before) * u128::from(*times);
            }
        }
    }

    /// A count of which every iteration brings as much.
    pub(crate) fn count(&mut self, count: &mut u64) {
        self.small(count, true);
    }

    /// A time that only adds up, or a count of what iterations need more and less of.
    pub(crate) fn total(&mut self, count: &mut u64) {
        self.small(count, false);
    }

    fn small(&mut self, count: &mut u64, fixed: bool) {
        let mut sum = u128::from(*count);
        self.adds_up(&mut sum, fixed);
        *count = u64::try_from(sum).expect("a count of a run, which has an end");
    }

    /// A distribution.
    pub(crate) fn latencies(&mut self, latencies: &mut Latencies) {
        match &mut self.doing {
            Doing::Look | Doing::Note => self.moment.latencies.push(latencies.snapshot()),
            Doing::Leap { .. } => {}
            Doing::Settle(settle) => settle.extend(latencies, self.fixed),
            Doing::Advance { times, latencies: before, .. } => {
                latencies.repeat_since(&before.next().expect("as many as were noted"), *times);
            }
        }
    }

    /// A rank of a job, whose step comes next.
    pub(crate) fn part(&mut self, part: Part) {
        if matches!(self.doing, Doing::Note) {
            self.moment.parts.push(part);
        }
    }

    /// A packet.
    pub(crate) fn packet(&mut self, index: u32) {
        let name = self.packets.of(index);
        self.same(&name);
    }

    /// Packets in a row.
    pub(crate) fn packets_of(&mut self, indices: impl Iterator<Item = u32>) {
        if self.only_sums() {
            return;
        }
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
        if matches!(self.doing, Doing::Settle(_)) {
            return;
        }
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
