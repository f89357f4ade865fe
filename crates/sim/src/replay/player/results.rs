//! What a [`Player`] knows of its jobs: when ranks ended, what arrived and how late, what was written down, and who waits
//! for ever.

use super::super::job::JobTimes;
use super::super::log::{Log, RankSpan};
use super::{Player, Rank, Waits};
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

    /// Ranks that wait for ever, once nothing happens any more: what each waits for, at most `most` of them.
    pub fn stuck(&self, most: usize) -> Vec<String> {
        let waiting = self
            .ranks
            .iter()
            .filter(|r| r.waits != Waits::Ended && self.jobs[r.job as usize].until.is_none());
        waiting.take(most).map(|rank| self.describe(rank)).collect()
    }

    fn describe(&self, rank: &Rank) -> String {
        let open: Vec<String> = rank
            .matching
            .open_receives()
            .iter()
            .take(4)
            .map(|(from, tag)| format!("rank {from} tag {tag}"))
            .collect();
        let receives =
            if open.is_empty() { String::new() } else { format!("; open receives: {}", open.join(", ")) };
        let what = match rank.waits {
            Waits::All { collective: true } => "in a collective".to_string(),
            Waits::All { collective: false } => "in waitall".into(),
            Waits::Any => "in waitany".into(),
            Waits::Tasks => {
                format!("with {} tasks to do", rank.progress.as_ref().map_or(0, |progress| progress.left()))
            }
            Waits::One { peer, tag, sends: true } => format!("in send to rank {peer} tag {tag}"),
            Waits::One { peer, tag, sends: false } => format!("in receive from rank {peer} tag {tag}"),
            Waits::Not | Waits::Processor | Waits::Adapter | Waits::Ended => "nowhere".into(),
        };
        format!(
            "{} rank {} (step {}) {what}{receives}",
            self.jobs[rank.job as usize].name, rank.number, rank.step
        )
    }
}
