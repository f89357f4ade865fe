//! What a [`Player`] knows of its jobs: when ranks ended, what arrived and how late, and what was written down.

use super::super::job::JobTimes;
use super::super::log::{Log, RankSpan};
use super::{Player, Rank};
use crate::record::Latencies;

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

    /// When the ranks of a job ended.
    pub fn times(&self, job: usize) -> JobTimes {
        let first = self.first[job] as usize;
        let ranks = &self.ranks[first..first + self.jobs[job].hosts.len()];
        JobTimes {
            ranks_ps: ranks.iter().map(|r| r.end_ps).collect(),
            rounds: ranks.iter().map(|r| r.rounds).min().unwrap_or(0),
        }
    }

    /// Bytes of a job's messages that have arrived.
    pub fn bytes(&self, job: usize) -> u64 {
        self.bytes[job]
    }

    /// Latencies of a job's messages.
    pub fn latency(&self, job: usize) -> &Latencies {
        &self.latencies[job]
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
    /// The step that it is at: `step` is the next one already, but within a collective.
    pub(super) fn last_step(&self) -> u64 {
        self.step - u64::from(self.inner.is_none() && self.step > 0)
    }
}
