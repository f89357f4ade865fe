//! Every message of some jobs: who to whom, which of its sender's, how long it took.
//!
//! A message's number is that of its sender's program, so two runs of a job have rows in common even if its messages come in another order. What
//! is longer than the eager limit asks first: the row has the time of question and answer by itself.
//!
//! Where packets are answered, rows have what the sender's adapter has counted of the message.
//!
//! Invariant: rows do not depend on how a run is cut into partitions, those that the limit leaves either: the first that came are kept.

use super::Transmission;

/// Arrivals that are written down of a run, at most: one a message, three of a message that asks first.
pub const MOST_ARRIVALS: usize = 4_000_000;

/// A message that has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MessageRow {
    /// The job, counted from 0.
    pub job: u32,
    /// Sender, a rank of the job.
    pub from: u32,
    /// Receiver, a rank of the job.
    pub to: u32,
    /// Whether a collective sent it.
    pub collective: bool,
    /// Which of its sender's messages it is, counted from 0, those of collectives by themselves; of a graph of tasks the number of the task.
    pub number: u32,
    /// Payload.
    pub bytes: u64,
    /// When the payload was posted, ps.
    pub posted_ps: u64,
    /// From then until its last byte came, ps.
    pub latency_ps: u64,
    /// The same of question and answer, if it asked, ps.
    pub asking_ps: u64,
    /// What its sender's adapter has counted; `None` where nothing is answered, and where the run ended before its last response.
    pub sent: Option<Transmission>,
}

/// What was written down.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MessageRows {
    /// By job, sender, receiver, kind and number.
    pub rows: Vec<MessageRow>,
    /// There were more than [`MOST_ARRIVALS`]: messages that came later are missing.
    pub cut: bool,
}

/// What of a message has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// Question or answer.
    Asking,
    /// All of it.
    Payload,
}

/// Something has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub job: u32,
    /// Sender and receiver of the payload, ranks of all jobs.
    pub from: u32,
    pub to: u32,
    pub collective: bool,
    pub number: u32,
    pub stage: Stage,
    pub bytes: u64,
    pub now_ps: u64,
    pub latency_ps: u64,
}

/// What tells a message: job, sender, receiver, kind and number.
type Key = (u32, u32, u32, bool, u32);

impl Arrival {
    fn key(&self) -> Key {
        (self.job, self.from, self.to, self.collective, self.number)
    }
}

/// Writes down what comes.
#[derive(Clone, Debug)]
pub(crate) struct Messages {
    /// By job.
    wanted: Vec<bool>,
    arrivals: Vec<Arrival>,
    /// What adapters have counted of messages.
    sent: Vec<(Key, Transmission)>,
    /// What came later was left out.
    cut: bool,
}

impl Messages {
    /// Of some of so many jobs.
    pub fn new(jobs: usize, of: &[usize]) -> Self {
        let wanted = (0..jobs).map(|job| of.contains(&job)).collect();
        Self { wanted, arrivals: Vec::new(), sent: Vec::new(), cut: false }
    }

    /// Something has come, of any job; not before what came last.
    pub fn arrived(&mut self, arrival: Arrival) {
        if !self.wanted[arrival.job as usize] {
            return;
        }
        // What comes at one time is kept or cut as a whole, here: who is first among these depends on the partition.
        let is_full = self.arrivals.len() >= MOST_ARRIVALS;
        if is_full && self.arrivals.last().is_some_and(|last| last.now_ps < arrival.now_ps) {
            self.cut = true;
        } else {
            self.arrivals.push(arrival);
        }
    }

    /// Arrivals so far.
    pub fn arrivals(&self) -> usize {
        self.arrivals.len()
    }

    /// What has come from arrival `since` on comes so many times more, each time so much later, ps, with the numbers that are `told` of an arrival
    /// and a time, counted from 1.
    pub fn repeat(
        &mut self,
        since: usize,
        (times, every_ps): (u64, u64),
        told: impl Fn(&Arrival, u64) -> u32,
    ) {
        let once = self.arrivals[since..].to_vec();
        for time in (1..=times).take_while(|_| !once.is_empty()) {
            for arrival in &once {
                let number = told(arrival, time);
                self.arrived(Arrival { number, now_ps: arrival.now_ps + time * every_ps, ..*arrival });
            }
            if self.cut {
                return;
            }
        }
    }

    /// The last response to a message has come; of the arrival nothing counts but whose it is.
    pub fn transmitted(&mut self, of: Arrival, transmission: Transmission) {
        if self.wanted[of.job as usize] && self.sent.len() < MOST_ARRIVALS {
            self.sent.push((of.key(), transmission));
        }
    }

    /// Takes what another partition's copy has written down.
    pub fn merge(&mut self, other: Self) {
        self.arrivals.extend(other.arrivals);
        self.sent.extend(other.sent);
        self.cut |= other.cut;
    }

    /// Rows, with `number` of a rank within its job.
    pub fn finish(self, number: impl Fn(u32) -> u32) -> MessageRows {
        let Self { mut arrivals, mut sent, mut cut, .. } = self;
        sent.sort_unstable_by_key(|&(key, _)| key);
        if arrivals.len() > MOST_ARRIVALS {
            arrivals.sort_unstable_by_key(|arrival| (arrival.now_ps, *arrival));
            arrivals.truncate(MOST_ARRIVALS);
            cut = true;
        }
        arrivals.sort_unstable();
        let mut rows = Vec::new();
        for of_message in arrivals.chunk_by(|a, b| a.key() == b.key()) {
            // Payload is last; what only asked, by the run's end or the limit, is no message.
            let Some((&whole, asking)) =
                of_message.split_last().filter(|(last, _)| last.stage == Stage::Payload)
            else {
                continue;
            };
            let Arrival { job, from, to, collective, number: which, bytes, now_ps, latency_ps, .. } = whole;
            let found = sent.binary_search_by_key(&whole.key(), |&(key, _)| key);
            rows.push(MessageRow {
                job,
                from: number(from),
                to: number(to),
                collective,
                number: which,
                bytes,
                posted_ps: now_ps - latency_ps,
                latency_ps,
                asking_ps: asking.iter().map(|it| it.latency_ps).sum(),
                sent: found.ok().map(|at| sent[at].1),
            });
        }
        MessageRows { rows, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrival(from: u32, number: u32, stage: Stage, now_ps: u64, latency_ps: u64) -> Arrival {
        Arrival { job: 0, from, to: 9, collective: false, number, stage, bytes: 5, now_ps, latency_ps }
    }

    #[test]
    fn what_repeats_comes_later_with_the_next_numbers() {
        let mut messages = Messages::new(1, &[0]);
        let numbers = |until_ps: u64| {
            (0..).map(move |k| (k, 10 * u64::from(k) + 5)).take_while(move |it| it.1 < until_ps)
        };
        numbers(40).for_each(|(k, now_ps)| messages.arrived(arrival(1, k, Stage::Payload, now_ps, 2)));
        messages.repeat(2, (3, 20), |arrival, time| arrival.number + 2 * time as u32);
        let mut whole = Messages::new(1, &[0]);
        numbers(100).for_each(|(k, now_ps)| whole.arrived(arrival(1, k, Stage::Payload, now_ps, 2)));
        assert_eq!(messages.finish(|rank| rank), whole.finish(|rank| rank));
    }

    #[test]
    fn question_answer_and_payload_are_one_row_whoever_wrote_them_down() {
        let mut here = Messages::new(2, &[0]);
        let mut there = here.clone();
        here.arrived(arrival(1, 0, Stage::Asking, 10, 10));
        there.arrived(arrival(1, 0, Stage::Asking, 30, 7));
        here.arrived(arrival(1, 0, Stage::Payload, 50, 15));
        here.arrived(arrival(2, 0, Stage::Asking, 60, 1)); // never answered
        here.arrived(Arrival { job: 1, ..arrival(1, 1, Stage::Payload, 70, 1) }); // not asked for
        there.merge(here);
        let MessageRows { rows, cut } = there.finish(|rank| rank + 100);
        assert!(!cut);
        let [row] = rows[..] else { panic!("{rows:?}") };
        assert_eq!((row.from, row.to, row.number, row.bytes), (101, 109, 0, 5));
        assert_eq!((row.posted_ps, row.latency_ps, row.asking_ps), (35, 15, 17));
    }
}
