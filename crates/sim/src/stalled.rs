//! Whether what a run waits for can still come, where other jobs start over until then and the network never falls silent by itself.
//!
//! A job cannot go on once none of its ranks has anything planned and all of its messages on their way stand still for ever: none is on its
//! way, or what is waits in the network for packets that wait for it. A run is looked at after so much of its time that what is found is
//! found within 1 % of it.
//!
//! Invariant: the moments of looking are the same for any division of the network, and where a run goes on from a state.

/// The first look, ps, and the least time from one to the next.
const FIRST_PS: u64 = 100_000;
/// The next look comes after this part of the time so far.
const PART: u64 = 128;

/// A job that the end of the run waits for, as far as it is known in one part of the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Awaited {
    /// Which job.
    pub job: usize,
    /// Some of its ranks here have not ended.
    pub is_open: bool,
    /// One of these has something planned by itself: it computes, or has yet to begin.
    pub is_busy: bool,
    /// Messages that were posted here less those that were received here.
    pub under_way: i64,
}

/// The jobs that are waited for, with their messages under way, if no rank of theirs has anything planned; `None`: one has, or all have ended.
pub(crate) fn idle(parts: impl IntoIterator<Item = Vec<Awaited>>) -> Option<Vec<(usize, i64)>> {
    let mut whole: Vec<Awaited> = Vec::new();
    for part in parts {
        for (at, of) in part.into_iter().enumerate() {
            match whole.get_mut(at) {
                None => whole.push(of),
                Some(job) => {
                    job.is_open |= of.is_open;
                    job.is_busy |= of.is_busy;
                    job.under_way += of.under_way;
                }
            }
        }
    }
    whole.retain(|job| job.is_open);
    let idle = !whole.is_empty() && whole.iter().all(|job| !job.is_busy);
    idle.then(|| whole.into_iter().map(|job| (job.job, job.under_way)).collect())
}

/// When a run is looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks {
    next_ps: u64,
}

impl Looks {
    /// Of a run in which jobs start over; of others never.
    pub fn new(some: bool) -> Self {
        Self { next_ps: if some { FIRST_PS } else { u64::MAX } }
    }

    /// When the next look is, ps.
    pub fn next_ps(self) -> u64 {
        self.next_ps
    }

    /// The next look after nothing happens before `event_ps`.
    pub fn skip(&mut self, event_ps: u64) {
        while self.next_ps <= event_ps && self.next_ps < u64::MAX {
            self.next_ps = self.next_ps.saturating_add((self.next_ps / PART).max(FIRST_PS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_idle_when_it_is_in_every_part() {
        let job = |is_open, is_busy, under_way| vec![Awaited { job: 3, is_open, is_busy, under_way }];
        assert_eq!(idle([job(true, false, 5), job(false, false, -4)]), Some(vec![(3, 1)]));
        assert_eq!(idle([job(true, false, 1), job(true, true, -1)]), None, "a rank computes");
        assert_eq!(idle([job(false, false, 0)]), None, "it has ended");
        assert_eq!(idle([Vec::new()]), None);
    }

    #[test]
    fn looks_are_within_a_percent() {
        let mut looks = Looks::new(true);
        for event_ps in [0, 700_000, 90_000_000, 1_630_000_000, 2_000_000_000_000] {
            looks.skip(event_ps);
            assert!(looks.next_ps() > event_ps && looks.next_ps() <= event_ps + event_ps / 100 + 100_000);
        }
        assert_eq!(Looks::new(false).next_ps(), u64::MAX);
    }
}
