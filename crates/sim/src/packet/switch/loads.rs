//! What waits at every output, laid out for schemes that compare many of them; and what switches hear of each other.
//!
//! A choice among 16 outputs looks at one or two lines of the cache. A load rises when a packet comes to wait for the output, and falls when the
//! room that it held at the far end counts as free again, which is known some time before: what is to fall lies in queues, in order of
//! time, until somebody looks.
//!
//! Invariant: what is to fall has risen before.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::calendar::NEVER;

/// Queues of what is to fall.
const QUEUES: usize = 6;

/// When which load falls, and by how many bytes.
type Fall = (u64, u32, u32);

/// Loads of all outputs: bytes that wait, are queued, or were sent and whose room at the far end has not come back.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Loads {
    /// By link; empty if nobody looks.
    bytes: Vec<u32>,
    /// Falls to come, each queue in order of time: most come some constant time after the present, one of a few.
    falls: [VecDeque<Fall>; QUEUES],
    /// Those that fit no queue.
    others: BinaryHeap<Reverse<Fall>>,
    /// When the first falls.
    next_ps: u64,
}

impl Loads {
    /// For so many links.
    pub fn new(links: usize) -> Self {
        Self { bytes: vec![0; links], next_ps: NEVER, ..Self::default() }
    }

    /// Bytes come to an output, or leave it for another.
    #[inline(always)]
    pub fn add(&mut self, link: u32, bytes: i32) {
        if let Some(load) = self.bytes.get_mut(link as usize) {
            *load = load.wrapping_add_signed(bytes);
        }
    }

    /// Room for so many bytes counts as free from `time_ps` on.
    #[inline(always)]
    pub fn falls(&mut self, link: u32, time_ps: u64, bytes: u16) {
        if self.bytes.is_empty() {
            return;
        }
        self.next_ps = self.next_ps.min(time_ps);
        let fall = (time_ps, link, u32::from(bytes));
        let fits = |queue: &&mut VecDeque<Fall>| queue.back().is_none_or(|last| last.0 <= time_ps);
        match self.falls.iter_mut().find(fits) {
            Some(queue) => queue.push_back(fall),
            None => self.others.push(Reverse(fall)),
        }
    }

    /// The loads at `now`, by link.
    #[inline(always)]
    pub fn at(&mut self, now: u64) -> &[u32] {
        if self.next_ps <= now {
            self.settle(now);
        }
        &self.bytes
    }

    fn settle(&mut self, now: u64) {
        self.next_ps = NEVER;
        for queue in &mut self.falls {
            while let Some(&(time_ps, link, bytes)) = queue.front() {
                if time_ps > now {
                    self.next_ps = self.next_ps.min(time_ps);
                    break;
                }
                self.bytes[link as usize] -= bytes;
                queue.pop_front();
            }
        }
        while let Some(&Reverse((time_ps, link, bytes))) = self.others.peek() {
            if time_ps > now {
                self.next_ps = self.next_ps.min(time_ps);
                break;
            }
            self.bytes[link as usize] -= bytes;
            self.others.pop();
        }
    }
}

/// Loads as other switches know them: as they were a while ago.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct RemoteLoads {
    /// News are heard so long after they happened.
    delay_ps: u64,
    /// By link; empty if nobody listens.
    load: Vec<u32>,
    /// What is not heard yet, by time: when it will be, the link and its change.
    news: VecDeque<(u64, u32, i32)>,
}

impl RemoteLoads {
    /// For so many links.
    pub fn new(links: usize, delay_ps: u64) -> Self {
        Self { delay_ps, load: vec![0; links], news: VecDeque::new() }
    }

    /// The load of a link has changed by `bytes`.
    #[inline(always)]
    pub fn change(&mut self, link: u32, bytes: i32, now: u64) {
        if !self.load.is_empty() {
            self.news.push_back((now + self.delay_ps, link, bytes));
        }
    }

    /// What is known of a link.
    #[inline(always)]
    pub fn load(&mut self, link: u32, now: u64) -> u32 {
        if self.load.is_empty() {
            return 0;
        }
        while let Some(&(time_ps, link, bytes)) = self.news.front()
            && time_ps <= now
        {
            let load = &mut self.load[link as usize];
            *load = load.wrapping_add_signed(bytes);
            self.news.pop_front();
        }
        self.load[link as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More kinds of delay than there are queues, mixed.
    #[test]
    fn loads_fall_when_room_counts_as_free() {
        let mut loads = Loads::new(2);
        let times: Vec<u64> = (0..40).map(|k| 1_100 - 2 * k + 17 * (k % 3)).collect();
        for (k, &time_ps) in times.iter().enumerate() {
            loads.add(k as u32 % 2, 10);
            loads.falls(k as u32 % 2, time_ps, 10);
        }
        assert!(!loads.others.is_empty());
        for now in 990..1_110 {
            let left = |odd: usize| times.iter().skip(odd).step_by(2).filter(|&&t| t > now).count() as u32;
            assert_eq!(loads.at(now), [10 * left(0), 10 * left(1)], "at {now}");
        }
    }

    #[test]
    fn news_are_heard_when_they_are_as_old_as_the_delay() {
        let mut remote = RemoteLoads::new(2, 100);
        remote.change(1, 4096, 50);
        remote.change(1, -96, 120);
        let heard: Vec<u32> = [149, 150, 219, 220].map(|now| remote.load(1, now)).to_vec();
        assert_eq!(heard, [0, 4096, 4096, 4000]);
        assert_eq!(remote.load(0, 1_000), 0);
    }

    #[test]
    fn nobody_hears_where_nobody_listens() {
        let mut remote = RemoteLoads::default();
        remote.change(0, 10, 0);
        assert_eq!(remote.load(0, u64::MAX), 0);
        assert!(remote.news.is_empty());
    }
}
