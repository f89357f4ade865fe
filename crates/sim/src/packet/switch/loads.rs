//! What waits at every output, laid out for schemes that compare many of them; and what switches hear of each other.
//!
//! A choice among 16 outputs looks at a few lines of the cache. A load rises when a packet comes to wait for the output, and falls when the
//! room that it held at the far end counts as free again. The link knows when that is, by its credits: whoever looks at a load
//! settles the link first if a credit has come, see [`Ports::load`](super::Ports::load).
//!
//! Invariant: what falls has risen before.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::calendar::NEVER;

/// The load of an output.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Load {
    /// When the link's next credit counts.
    next_ps: u64,
    /// Bytes that wait, are queued, or were sent and whose room at the far end has not been settled.
    bytes: u32,
}

/// Loads of all outputs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Loads {
    /// By link; empty if nobody looks.
    of: Vec<Load>,
}

impl Loads {
    /// For so many links.
    pub fn new(links: usize) -> Self {
        Self { of: vec![Load { next_ps: NEVER, bytes: 0 }; links] }
    }

    /// Whether somebody looks.
    #[inline(always)]
    pub fn are_kept(&self) -> bool {
        !self.of.is_empty()
    }

    /// Bytes come to an output, or leave it for another.
    #[inline(always)]
    pub fn add(&mut self, link: u32, bytes: i32) {
        if let Some(load) = self.of.get_mut(link as usize) {
            load.bytes = load.bytes.wrapping_add_signed(bytes);
        }
    }

    /// A credit is on its way to a link, and counts from `time_ps` on.
    #[inline(always)]
    pub fn falls(&mut self, link: u32, time_ps: u64) {
        if let Some(load) = self.of.get_mut(link as usize) {
            load.next_ps = load.next_ps.min(time_ps);
        }
    }

    /// Room for so many bytes has come back to a link, whose next credit counts at `next_ps`.
    #[inline(always)]
    pub fn settle(&mut self, link: u32, bytes: u32, next_ps: u64) {
        if let Some(load) = self.of.get_mut(link as usize) {
            *load = Load { next_ps, bytes: load.bytes - bytes };
        }
    }

    /// Whether credits of a link count that it has not settled.
    #[inline(always)]
    pub fn are_due(&self, link: u32, now: u64) -> bool {
        self.of[link as usize].next_ps <= now
    }

    /// The load of a link that is settled.
    #[inline(always)]
    pub fn bytes(&self, link: u32) -> u32 {
        self.of[link as usize].bytes
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
