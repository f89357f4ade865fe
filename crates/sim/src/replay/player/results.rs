//! What a [`Player`] knows of its jobs: when ranks ended, what arrived and how late, and what was written down.

use super::super::job::JobTimes;
use super::super::log::{Log, RankSpan};
use super::super::offered::{Offered, OpenLoop};
use super::super::spent::{Spent, WaitsIn};
use super::{Envelope, NOT_WAITING, Part, Player, Rank, Waits};
use crate::mode::Mode;
use crate::record::{Arrival, Latencies, MessageRows, Messages, Stage, Transmission};

/// What of a job's messages had a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SentBy {
    /// Which.
    pub mode: Mode,
    /// Messages to other hosts.
    pub messages: u64,
    /// Their payload.
    pub bytes: u64,
}

impl Player {
    /// Writes down what ranks do in a window of time, at most so many spans of it.
    pub fn log(&mut self, from_ps: u64, to_ps: u64, most: usize) {
        let ranks = self.ranks.iter().map(|rank| (rank.job, rank.number)).collect();
        self.log = Some(Log::new(ranks, from_ps, to_ps, most));
    }

    /// What was written down by `now_ps`, and from when on nothing was because there was too much.
    pub fn take_log(&mut self, now_ps: u64) -> (Vec<RankSpan>, Option<u64>) {
        self.log.take().map_or_else(Default::default, |log| log.finish(now_ps))
    }

    /// Writes down every message of some jobs, by number of the job.
    pub fn record_messages(&mut self, of: &[usize]) {
        self.messages = (!of.is_empty()).then(|| Messages::new(self.jobs.len(), of));
    }

    /// The messages that were written down, with the job and ranks of each, and how many were not because there were too many.
    pub fn take_messages(&mut self) -> Option<MessageRows> {
        let messages = self.messages.take()?;
        Some(messages.finish(|rank| self.ranks[rank as usize].number))
    }

    /// Writes down what has just come, `latency_ps` after it was posted.
    pub(super) fn write_down(&mut self, envelope: Envelope, now_ps: u64, latency_ps: u64) {
        let row = self.arrival(envelope, now_ps, latency_ps);
        if let Some(messages) = &mut self.messages {
            messages.arrived(row);
        }
    }

    /// Writes down what an adapter has counted of a message.
    pub(super) fn write_sent(&mut self, envelope: Envelope, transmission: Transmission) {
        if envelope.part() == Part::Whole {
            let of = self.arrival(envelope, 0, 0);
            if let Some(messages) = &mut self.messages {
                messages.transmitted(of, transmission);
            }
        }
    }

    fn arrival(&self, envelope: Envelope, now_ps: u64, latency_ps: u64) -> Arrival {
        let Envelope { from, to, bytes, .. } = envelope;
        let stage = match envelope.part() {
            Part::Whole => Stage::Payload,
            Part::Ask | Part::Answer => Stage::Asking,
        };
        let job = self.ranks[from as usize].job;
        let collective = envelope.is_collective();
        Arrival { job, from, to, collective, number: envelope.number(), stage, bytes, now_ps, latency_ps }
    }

    /// When the ranks of a job ended.
    pub fn times(&self, job: usize) -> JobTimes {
        let first = self.first[job] as usize;
        let ranks = &self.ranks[first..first + self.jobs[job].hosts.len()];
        JobTimes {
            start_ps: self.jobs[job].start_ps,
            ranks_ps: ranks.iter().map(|r| r.end_ps).collect(),
            rounds: ranks.iter().map(|r| r.rounds).min().unwrap_or(0),
            starts_over: self.jobs[job].until.is_some(),
        }
    }

    /// Bytes of a job's messages that have arrived.
    pub fn bytes(&self, job: usize) -> u64 {
        self.bytes[job]
    }

    /// Messages of a job and their bytes, by the modes that they had.
    pub fn by_mode(&self, job: usize) -> Vec<SentBy> {
        let counted = Mode::ALL.into_iter().zip(self.by_mode[job]);
        let some = counted.filter(|(_, (messages, _))| *messages > 0);
        some.map(|(mode, (messages, bytes))| SentBy { mode, messages, bytes }).collect()
    }

    /// Messages of a job that came and that none of its ranks received. (Of offered load nobody receives any on purpose.)
    pub fn unreceived(&self, job: usize) -> u64 {
        let first = self.first[job] as usize;
        let ranks = &self.ranks[first..first + self.jobs[job].hosts.len()];
        let early = ranks.iter().flat_map(|rank| rank.matching.messages());
        early.filter(|envelope| envelope.part() == Part::Whole).count() as u64
    }

    /// Latencies of a job's messages.
    pub fn latency(&self, job: usize) -> &Latencies {
        &self.latencies[job]
    }

    /// A rank goes on: what it waited for has come, if it waited.
    pub(super) fn waited(&mut self, r: u32, now_ps: u64) {
        let rank = &mut self.ranks[r as usize];
        if rank.waits_since_ps != NOT_WAITING {
            let since_ps = std::mem::replace(&mut rank.waits_since_ps, NOT_WAITING);
            let what = rank.waits_in();
            self.times[rank.job as usize].waited(what, now_ps - since_ps);
        }
    }

    /// What a job's ranks spent their time on by the run's end at `end_ps`; `None` for offered load, which nobody waits for.
    pub fn spent(&self, job: usize, end_ps: u64) -> Option<Spent> {
        if self.open[job].is_some() {
            return None;
        }
        let first = self.first[job] as usize;
        let (mut tally, start_ps) = (self.times[job].clone(), self.jobs[job].start_ps);
        let mut elapsed_ps = 0;
        for rank in &self.ranks[first..first + self.jobs[job].hosts.len()] {
            elapsed_ps += u128::from(rank.end_ps.unwrap_or(end_ps).saturating_sub(start_ps));
            if rank.waits_since_ps < end_ps {
                tally.waited(rank.waits_in(), end_ps - rank.waits_since_ps);
            }
        }
        Some(tally.spent(elapsed_ps))
    }

    /// What a job offered and what of it was accepted, if it is such a job and the run, which ended at `end_ps`, saw its window.
    /// Accepted are the bytes that packets brought in it, headers included; of runs without packets those of whole messages.
    pub fn offered(&self, job: usize, end_ps: u64, bytes: Option<u64>) -> Option<Offered> {
        let open = self.open[job].as_ref()?;
        self.windows[job].outcome(open, self.window_ps(job)?, end_ps, bytes)
    }

    /// The window in which a job is measured, ps of simulated time, if its messages are offered at their own times.
    pub(super) fn window_ps(&self, job: usize) -> Option<(u64, u64)> {
        let OpenLoop { from_ps, to_ps, .. } = (*self.open.get(job)?)?;
        let start_ps = self.jobs[job].start_ps;
        Some((start_ps.saturating_add(from_ps), start_ps.saturating_add(to_ps)))
    }

    /// A rank of all jobs, for errors: with the line of its file that it is at, if it was read from one.
    pub(super) fn name(&self, r: u32) -> String {
        let rank = &self.ranks[r as usize];
        let job = &self.jobs[rank.job as usize];
        let place = job.script.place(rank.number, rank.last_step());
        let place = place.map_or_else(String::new, |place| format!(" ({place})"));
        format!("job \"{}\" rank {}{place}", job.name, rank.number)
    }
}

impl Rank {
    /// What it waits in, while it waits for messages.
    fn waits_in(&self) -> WaitsIn {
        match (self.inner, self.waits) {
            (Some((collective, _)), _) => WaitsIn::Collective(collective.kind),
            (None, Waits::One { sends: true, .. }) => WaitsIn::Send,
            (None, Waits::One { sends: false, .. }) => WaitsIn::Receive,
            _ => WaitsIn::Wait,
        }
    }

    /// The step that it is at: `step` is the next one already, but within a collective.
    pub(super) fn last_step(&self) -> u64 {
        self.step - u64::from(self.inner.is_none() && self.step > 0)
    }
}
