//! The ranks of all jobs on their hosts.
//!
//! A rank runs its script until a step has to wait. A message up to the eager limit leaves at once; a longer one first asks, and
//! leaves when the receiver has a place for it. Messages of one sender and tag are taken in order of arrival.
//!
//! Invariants: `open` counts what a rank started and what is not complete; a rank that waits is woken by what it waits for and
//! nothing else. A rank's steps depend on its own messages only, so the order of ranks at one time doesn't matter.

mod envelope;
mod graph;
mod modes;
mod results;
mod rounds;
mod sending;
mod split;
mod stuck;
mod visits;

use std::sync::Arc;

use netloom_model::{HostId, PathChoice};
use netloom_traffic::collective::Collective;
use serde::{Deserialize, Serialize};

use super::job::Job;
use super::log::Log;
use super::matching::{Matching, Table};
use super::offered::{OpenLoop, Window};
use super::op::Op;
use super::spent::Tally as TimeTally;
use super::tasks::Progress;
use crate::mode::{Choosing, Mode};
use crate::observe::Context;
use crate::program::{Desk, Post, Program, Series};
use crate::record::{Latencies, Messages, Transmission};
use crate::stalled::Awaited;
use netloom_model::LaneMap;

pub use envelope::Envelope;
use envelope::{COLLECTIVE_TAG, Part, tag_of};
pub use modes::Sight;
pub use results::SentBy;
use visits::Cycles;

/// What software costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Software {
    /// Of the host's processor, for each send or receive, ps.
    pub call_ps: u64,
    /// From a send until its message is with the adapter, ps.
    pub post_ps: u64,
    /// From the receiver's answer until a long message is with the adapter, ps.
    pub rendezvous_ps: u64,
    /// Longest message that leaves without asking, bytes.
    pub eager_bytes: u64,
    /// A question or an answer, bytes.
    pub control_bytes: u64,
    /// Picoseconds a byte between ranks of one host.
    pub copy_ps_per_byte: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Waits {
    /// It runs.
    Not,
    /// For its processor; then the step that it paid for.
    Processor,
    /// For everything started by the program, or by its collective.
    All {
        collective: bool,
    },
    Any,
    One {
        peer: u32,
        tag: u32,
        sends: bool,
    },
    /// For messages or processors of a graph of tasks.
    Tasks,
    /// To start over: for the adapter to have sent what it was given.
    Adapter,
    /// It has ended.
    Ended,
}

/// Operations of one kind with one peer and tag.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Tally {
    complete: u32,
    waited: u32,
}

/// A rank. What a message looks at comes first, in two lines of the cache or three.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(C, align(64))]
struct Rank {
    job: u32,
    /// Number within its job.
    number: u32,
    host: HostId,
    /// Started and not complete: by the program, by collectives.
    open: [u32; 2],
    waits: Waits,
    /// The processor was paid for the next step.
    paid: bool,
    /// It sends or receives in this round.
    talks: bool,
    /// Messages with its host's adapter, questions among them; counted where jobs repeat.
    leaving: u32,
    /// Complete and not waited for.
    unclaimed: u32,
    /// Where its program is a graph of tasks.
    progress: Option<Box<Progress>>,
    step: u64,
    matching: Matching<Envelope>,
    tallies: Table<(u32, u32, bool), Tally>,
    /// The collective that it is in, the step there.
    inner: Option<(Collective, u32)>,
    /// What has come for its tasks.
    news: Vec<(u32, u32, bool)>,
    rounds: u32,
    /// When this round began.
    round_ps: u64,
    end_ps: Option<u64>,
    /// Since when it waits for messages; [`NOT_WAITING`].
    waits_since_ps: u64,
    /// Messages that it has sent: by its script, and by collectives.
    sends: [u32; 2],
    /// Who chooses their modes, if somebody does message by message.
    choosing: Option<Box<Choosing>>,
}

/// No time at which a rank began to wait.
const NOT_WAITING: u64 = u64::MAX;

const _: () = assert!(std::mem::offset_of!(Rank, matching) == 64);

/// Plays the programs of jobs.
#[derive(Clone, Debug)]
pub struct Player {
    jobs: Arc<[Job]>,
    software: Software,
    /// LID mask control, and how a sender picks among a host's addresses.
    lmc: u8,
    path: PathChoice,
    /// Service levels of pairs of hosts, where they have their own.
    levels: Option<Arc<LaneMap>>,
    /// Some job starts over.
    repeats: bool,
    /// Rank 0 of each job among all ranks.
    first: Vec<u32>,
    ranks: Vec<Rank>,
    /// Ranks of each job of which it is not known that they have ended; kept where jobs repeat.
    running: Vec<u32>,
    /// Messages of each job that were posted here less those that were received here; kept where jobs repeat.
    under_way: Vec<i64>,
    latencies: Vec<Latencies>,
    /// Bytes received by each job.
    bytes: Vec<u64>,
    /// The jobs whose messages are offered at their own times, and what is counted of those.
    open: Arc<[Option<OpenLoop>]>,
    windows: Vec<Window>,
    /// What the ranks of each job spent their time on.
    times: Vec<TimeTally>,
    /// Messages that were sent to other hosts and their bytes, by job and mode; those of the scheme's own are not counted.
    by_mode: Vec<[(u64, u64); Mode::ALL.len()]>,
    /// What choices of modes see of the hardware.
    sight: Arc<Sight>,
    /// What ranks do, if asked for.
    log: Option<Log>,
    /// Every message, if asked for.
    messages: Option<Messages>,
    /// Where jobs iterate, if asked for.
    cycles: Cycles,
}

impl Player {
    /// Jobs side by side.
    pub fn new(jobs: Vec<Job>, software: Software) -> Self {
        let mut first = Vec::new();
        let mut ranks = Vec::new();
        for (j, job) in jobs.iter().enumerate() {
            first.push(ranks.len() as u32);
            ranks.extend(job.hosts.iter().enumerate().map(|(r, &host)| Rank {
                job: j as u32,
                number: r as u32,
                host,
                step: 0,
                inner: None,
                paid: false,
                waits: Waits::Not,
                open: [0; 2],
                unclaimed: 0,
                tallies: Table::default(),
                matching: Matching::new(),
                progress: None,
                news: Vec::new(),
                rounds: 0,
                round_ps: job.start_ps,
                talks: false,
                leaving: 0,
                end_ps: None,
                waits_since_ps: NOT_WAITING,
                sends: [0; 2],
                choosing: job.modes.chooses().map(Choosing::of).map(Box::new),
            }));
        }
        let repeats = jobs.iter().any(|job| job.until.is_some());
        let running = jobs.iter().map(|job| job.hosts.len() as u32).collect();
        let latencies = vec![Latencies::default(); jobs.len()];
        let (bytes, under_way) = (vec![0; jobs.len()], vec![0; jobs.len()]);
        let open = jobs.iter().map(|job| job.script.open_loop()).collect();
        let windows = vec![Window::default(); jobs.len()];
        let times = vec![TimeTally::default(); jobs.len()];
        let (lmc, path) = (0, PathChoice::Base);
        let by_mode = vec![[(0, 0); Mode::ALL.len()]; jobs.len()];
        Self {
            jobs: jobs.into(),
            software,
            lmc,
            path,
            levels: None,
            repeats,
            first,
            ranks,
            running,
            under_way,
            latencies,
            bytes,
            open,
            windows,
            times,
            by_mode,
            sight: Arc::default(),
            log: None,
            messages: None,
            cycles: Cycles::default(),
        }
    }

    /// Messages have the service levels that `map` gives to pairs of hosts, if it does.
    #[must_use]
    pub fn with_levels(self, map: Option<Arc<LaneMap>>) -> Self {
        Self { levels: map, ..self }
    }

    /// Hosts have `2^lmc` addresses, and messages go to those that `path` chooses.
    #[must_use]
    pub fn with_addresses(self, lmc: u8, path: PathChoice) -> Self {
        Self { lmc, path, ..self }
    }

    /// Goes on until a step has to wait.
    fn advance(&mut self, r: u32, desk: &mut Desk<Envelope>) {
        if self.ranks[r as usize].waits == Waits::Adapter && !self.begins(r, desk) {
            return;
        }
        self.waited(r, desk.now_ps());
        if self.cycles.pauses(r, self.ranks[r as usize].step) {
            self.cycles.begun.push(r);
            desk.pause();
        }
        if self.jobs[self.ranks[r as usize].job as usize].script.tasks().is_some() {
            return self.advance_tasks(r, desk);
        }
        if let Some(log) = &mut self.log {
            log.goes_on(r, desk.now_ps());
        }
        loop {
            let rank = &mut self.ranks[r as usize];
            rank.waits = Waits::Not;
            let (op, inner) = match rank.inner {
                Some((collective, step)) => {
                    let shares = self.jobs[rank.job as usize].script.shares(rank.number, rank.step);
                    match collective.step(rank.number, step, shares) {
                        Some(step) => (Op::of_step(step, tag_of(&collective)), true),
                        None => {
                            rank.inner = None;
                            rank.step += 1;
                            continue;
                        }
                    }
                }
                None => match self.jobs[rank.job as usize].script.op(rank.number, rank.step) {
                    Some(op) => (op, false),
                    None => {
                        if self.ended(r, desk) || !self.begins(r, desk) {
                            return;
                        }
                        continue;
                    }
                },
            };
            let calls = matches!(op, Op::Isend { .. } | Op::Irecv { .. } | Op::Send { .. } | Op::Recv { .. });
            let open = self.open[rank.job as usize].is_some();
            if calls && !open && self.software.call_ps > 0 && !rank.paid {
                (rank.paid, rank.waits) = (true, Waits::Processor);
                self.times[rank.job as usize].call_ps += u128::from(self.software.call_ps);
                desk.wake(rank.host, self.software.call_ps, r);
                if let Some(log) = &mut self.log {
                    log.calls(r, desk.now_ps());
                }
                return;
            }
            rank.paid = false;
            rank.talks |= calls;
            match &mut rank.inner {
                Some((_, step)) => *step += 1,
                None if matches!(op, Op::Together(_)) => {}
                None => rank.step += 1,
            }
            let waits = self.perform(r, op, inner, desk);
            if waits != Waits::Not && !self.satisfied(r, waits) {
                let rank = &mut self.ranks[r as usize];
                rank.waits = waits;
                if waits != Waits::Processor {
                    rank.waits_since_ps = desk.now_ps();
                }
                if let Some(log) = &mut self.log {
                    let collective = rank.inner.map(|(collective, _)| collective.kind.name());
                    log.waits(r, desk.now_ps(), &op, collective);
                }
                return;
            }
        }
    }

    /// Starts a step; returns what it waits for.
    fn perform(&mut self, r: u32, op: Op, inner: bool, desk: &mut Desk<Envelope>) -> Waits {
        match op {
            Op::Compute { ps } => {
                let rank = &self.ranks[r as usize];
                self.times[rank.job as usize].compute_ps += u128::from(ps);
                desk.wake(rank.host, ps, r);
                return Waits::Processor;
            }
            Op::Isend { .. } => {
                let number = self.numbered(r, inner);
                self.send(r, op, inner, number, desk);
            }
            Op::Irecv { from, tag } => self.receive(r, from, tag, desk),
            Op::Send { to, bytes, tag } => {
                let number = self.numbered(r, inner);
                self.send(r, op, inner, number, desk);
                if self.asks(r, bytes) {
                    return self.claim(r, to, tag, true);
                }
            }
            Op::Recv { from, tag } => {
                self.receive(r, from, tag, desk);
                return self.claim(r, from, tag, false);
            }
            Op::Wait { peer, tag, sends } => return self.claim(r, peer, tag, sends),
            Op::WaitAny => return Waits::Any,
            Op::WaitAll => return Waits::All { collective: inner },
            Op::Together(collective) => self.ranks[r as usize].inner = Some((collective, 0)),
        }
        Waits::Not
    }

    fn claim(&mut self, r: u32, peer: u32, tag: u32, sends: bool) -> Waits {
        self.ranks[r as usize].tallies.entry((peer, tag, sends)).or_default().waited += 1;
        Waits::One { peer, tag, sends }
    }

    /// Whether what a rank waits for has come; then it is taken.
    fn satisfied(&mut self, r: u32, waits: Waits) -> bool {
        let rank = &mut self.ranks[r as usize];
        match waits {
            Waits::Not => true,
            Waits::Processor | Waits::Ended => false,
            Waits::Tasks => !rank.news.is_empty(),
            Waits::Adapter => rank.leaving == 0,
            Waits::All { collective: true } => rank.open[1] == 0,
            Waits::All { collective: false } => {
                let all = rank.open[0] == 0;
                if all {
                    rank.unclaimed = 0;
                    rank.tallies.clear();
                }
                all
            }
            Waits::Any => {
                let some = rank.unclaimed > 0 || rank.open[0] == 0;
                rank.unclaimed = rank.unclaimed.saturating_sub(1);
                some
            }
            Waits::One { peer, tag, sends } => {
                let tally = rank.tallies[&(peer, tag, sends)];
                let there = tally.complete >= tally.waited;
                if there {
                    rank.unclaimed = rank.unclaimed.saturating_sub(1);
                }
                there
            }
        }
    }

    fn receive(&mut self, r: u32, from: u32, tag: u32, desk: &mut Desk<Envelope>) {
        let rank = &mut self.ranks[r as usize];
        rank.open[usize::from(tag >= COLLECTIVE_TAG)] += 1;
        if let Some(early) = rank.matching.receive(from, tag) {
            self.matched(r, early, desk);
        }
    }

    /// A receive and what came for it have found each other.
    fn matched(&mut self, r: u32, envelope: Envelope, desk: &mut Desk<Envelope>) {
        if envelope.part() == Part::Ask {
            let answer = envelope.with_part(Part::Answer);
            self.post(r, self.software.post_ps, answer, desk);
        } else {
            self.complete(r, self.number_beside(r, envelope.from), envelope.tag, false);
        }
    }

    fn complete(&mut self, r: u32, peer: u32, tag: u32, sends: bool) {
        let rank = &mut self.ranks[r as usize];
        let collective = tag >= COLLECTIVE_TAG;
        rank.open[usize::from(collective)] -= 1;
        if rank.progress.is_some() || rank.waits == Waits::Tasks {
            rank.news.push((peer, tag, sends));
        } else if !collective && rank.waits != (Waits::All { collective: false }) {
            // (Who waits for all forgets what each was.)
            rank.unclaimed += 1;
            rank.tallies.entry((peer, tag, sends)).or_default().complete += 1;
        }
    }

    /// Lets a rank go on if what it waits for has come.
    fn look(&mut self, r: u32, desk: &mut Desk<Envelope>) {
        let waits = self.ranks[r as usize].waits;
        if waits != Waits::Not && self.satisfied(r, waits) {
            self.advance(r, desk);
        }
    }
}

impl Program for Player {
    type Token = Envelope;

    fn timer_owner(&self, token: u32) -> Option<String> {
        Some(self.name(token))
    }

    fn message_owner(&self, envelope: Envelope) -> Option<String> {
        Some(self.name(envelope.from))
    }

    #[inline]
    fn context(&self, envelope: Envelope) -> Context {
        let Envelope { from, to, tag, .. } = envelope;
        let number = |rank: u32| self.ranks[rank as usize].number;
        // Who asks for no ranks reads none.
        Context { job: self.job(envelope) as u32, from: number(from), to: number(to), tag }
    }

    #[inline]
    fn job(&self, envelope: Envelope) -> usize {
        if self.jobs.len() == 1 { 0 } else { self.ranks[envelope.to as usize].job as usize }
    }

    fn identity(&self, envelope: Envelope) -> u64 {
        envelope.identity(|rank| self.ranks[rank as usize].number)
    }

    fn is_data(&self, envelope: Envelope) -> bool {
        envelope.part() == Part::Whole
    }

    fn keeps_order(&self, envelope: Envelope) -> bool {
        envelope.part() != Part::Answer
    }

    fn measured_ps(&self, job: usize) -> Option<(u64, u64)> {
        self.window_ps(job)
    }

    fn start(&mut self, desk: &mut Desk<Envelope>) {
        for r in 0..self.ranks.len() as u32 {
            let rank = &mut self.ranks[r as usize];
            if !desk.is_here(rank.host) {
                continue;
            }
            // One after another, those of time 0 too: a rank may post thousands of messages at once.
            rank.waits = Waits::Processor;
            desk.wake(rank.host, self.jobs[rank.job as usize].start_ps, r);
        }
    }

    fn next_post(&self, series: &mut Series) -> Option<Post<Envelope>> {
        self.next_of(series)
    }

    #[inline]
    fn foresee(&self, Envelope { from, to, .. }: Envelope, sent: bool) -> u64 {
        if sent {
            u64::from(self.ranks[from as usize].job)
        } else {
            let rank = &self.ranks[to as usize];
            u64::from(rank.job) ^ rank.matching.foresee()
        }
    }

    fn sent(&mut self, _: HostId, envelope: Envelope, desk: &mut Desk<Envelope>) {
        let (Envelope { from, to, tag, bytes, .. }, part) = (envelope, envelope.part());
        let waited_for = part == Part::Whole && !envelope.is_forgotten();
        if waited_for {
            self.complete(from, self.number_beside(from, to), tag, true);
        }
        let asked = self.asks(from, bytes);
        let first = self.repeats && (part == Part::Ask || part == Part::Whole && !asked);
        if first {
            self.ranks[from as usize].leaving -= 1;
        }
        if waited_for || first {
            self.look(from, desk);
        }
    }

    fn transmitted(&mut self, _: HostId, envelope: Envelope, transmission: Transmission) {
        if let Some(choosing) = &mut self.ranks[envelope.from as usize].choosing
            && envelope.part() == Part::Whole
        {
            choosing.is_answered((envelope.is_collective(), envelope.number()), &transmission);
        }
        if self.messages.is_some() {
            self.write_sent(envelope, transmission);
        }
    }

    fn received(&mut self, _: HostId, envelope: Envelope, latency_ps: u64, desk: &mut Desk<Envelope>) {
        let (Envelope { from, to, tag, bytes, .. }, part) = (envelope, envelope.part());
        self.count_under_way(to, -1);
        if self.messages.is_some() {
            self.write_down(envelope, desk.now_ps(), latency_ps);
        }
        if part == Part::Answer {
            let whole = envelope.with_part(Part::Whole);
            return self.post(from, self.software.rendezvous_ps, whole, desk);
        }
        if part == Part::Whole {
            let job = self.ranks[to as usize].job as usize;
            self.latencies[job].record(latency_ps);
            self.bytes[job] += bytes;
            if let Some(window_ps) = self.window_ps(job) {
                // Nobody waits for it; its receiver is at its end when the last one is there.
                self.windows[job].received(window_ps, desk.now_ps(), latency_ps);
                let rank = &mut self.ranks[to as usize];
                rank.end_ps = rank.end_ps.map(|_| desk.now_ps());
                return;
            }
        }
        let peer = self.number_beside(to, from);
        if part == Part::Whole && self.asks(from, bytes) {
            // Its receive was matched when it asked.
            self.complete(to, peer, tag, false);
        } else if let Some(envelope) = self.ranks[to as usize].matching.message(peer, tag, envelope) {
            self.matched(to, envelope, desk);
        }
        self.look(to, desk);
    }

    fn timer(&mut self, _: HostId, token: u32, desk: &mut Desk<Envelope>) {
        self.advance(token, desk);
    }

    fn awaited(&self, here: &dyn Fn(HostId) -> bool) -> Vec<Awaited> {
        self.jobs_awaited(here)
    }

    /// A rank of job `news` has ended.
    fn heard(&mut self, news: u32, desk: &mut Desk<Envelope>) {
        let job = news as usize;
        self.running[job] -= 1;
        let waited_for = |(job, running): (&Job, &u32)| job.until.is_none() && *running > 0;
        if self.running[job] == 0 && !self.jobs.iter().zip(&self.running).any(waited_for) {
            desk.stop();
        }
    }
}
