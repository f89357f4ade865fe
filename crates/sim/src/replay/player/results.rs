//! What a [`Player`] knows of its jobs: when ranks ended, what arrived and how late, what was written down, and who waits
//! for ever.

use super::super::job::JobTimes;
use super::super::log::{Log, RankSpan};
use super::super::op::Op;
use super::super::script::Script;
use super::{COLLECTIVE_TAG, Player, Rank, Waits};
use crate::record::Latencies;

/// Messages that a rank waits for: at most so many are named.
const MOST_NAMED: usize = 4;

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
        let job = &self.jobs[rank.job as usize];
        let place = |step: u64| job.script.place(rank.number, step);
        let (mut receives, mut sends) = (Vec::new(), Vec::new());
        let mut waits_at = None;
        if let Some(progress) = &rank.progress {
            for ((peer, tag, is_send), task) in progress.open() {
                let open = if is_send { &mut sends } else { &mut receives };
                open.push(message(peer, tag, place(task.into())));
            }
        } else {
            // A rank's step is the next one already, but within a collective.
            waits_at = place(rank.step - u64::from(rank.inner.is_none() && rank.step > 0));
            for ((from, tag), count) in rank.matching.open_receives().into_iter().take(MOST_NAMED) {
                let posted = waits_at.as_ref().and_then(|_| posted(&*job.script, rank, (from, tag), count));
                receives.push(message(from, tag, posted.and_then(place)));
            }
        }
        let what = match (rank.waits, rank.inner) {
            (_, Some((collective, _))) => format!("in {}", collective.kind.name()),
            (Waits::All { .. }, _) => "in waitall".into(),
            (Waits::Any, _) => "in waitany".into(),
            (Waits::Tasks, _) => match rank.progress.as_ref().map_or(0, |progress| progress.left()) {
                1 => "with 1 task to do".into(),
                left => format!("with {left} tasks to do"),
            },
            (Waits::One { peer, tag, sends: true }, _) => format!("in send to rank {peer} tag {tag}"),
            (Waits::One { peer, tag, sends: false }, _) => format!("in receive from rank {peer} tag {tag}"),
            (Waits::Not | Waits::Processor | Waits::Adapter | Waits::Ended, _) => "nowhere".into(),
        };
        let at = waits_at.map_or_else(String::new, |at| format!(", {at}"));
        let mut text = format!("{} rank {} (step {}{at}) {what}", job.name, rank.number, rank.step);
        for (kind, mut open) in [("receives", receives), ("sends", sends)] {
            open.truncate(MOST_NAMED);
            if !open.is_empty() {
                text += &format!("; open {kind}: {}", open.join(", "));
            }
        }
        text
    }
}

/// A message that a rank waits for, by its other rank, and where it was asked for.
fn message(peer: u32, tag: u32, place: Option<String>) -> String {
    let tag = if tag >= COLLECTIVE_TAG { String::new() } else { format!(" tag {tag}") };
    let place = place.map_or_else(String::new, |place| format!(" ({place})"));
    format!("rank {peer}{tag}{place}")
}

/// The step that posted the oldest of the last `count` receives of a sender and tag.
fn posted(script: &dyn Script, rank: &Rank, key: (u32, u32), count: u32) -> Option<u64> {
    let posts = |&step: &u64| match script.op(rank.number, step) {
        Some(Op::Irecv { from, tag } | Op::Recv { from, tag }) => (from, tag) == key,
        _ => false,
    };
    (0..rank.step).rev().filter(posts).nth(count as usize - 1)
}
