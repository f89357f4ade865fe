//! What waits at every output, laid out for schemes that compare many of them; and what switches hear of each other.
//!
//! A choice among 16 outputs would touch a port and a lane of each: 32 lines of the cache. Here they are six, one after another.
//! Room that comes back lies at the port until somebody looks; `due` says from when on that would change the load.
//!
//! Invariant: a [`Load`] repeats its port. It is kept only for schemes that look.

use std::collections::VecDeque;

use super::calendar::NEVER;

/// The load of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load {
    /// When the link will have sent what it sends.
    pub free_at: u64,
    /// When the next room comes back.
    pub due: u64,
    /// Bytes that wait or are queued.
    pub queued: u32,
    /// Bytes that were sent and whose room at the far end has not come back.
    pub flight: u32,
}

impl Load {
    pub const NONE: Load = Load { free_at: 0, due: NEVER, queued: 0, flight: 0 };
}

/// Loads as other switches know them: as they were a while ago.
#[derive(Debug, Default)]
pub(crate) struct Rumour {
    /// News are heard so long after they happened.
    delay_ps: u64,
    /// By link; empty if nobody listens.
    load: Vec<u32>,
    /// What is not heard yet, by time: when it will be, the link and its change.
    news: VecDeque<(u64, u32, i32)>,
}

impl Rumour {
    /// For so many links.
    pub fn new(links: usize, delay_ps: u64) -> Self {
        Self { delay_ps, load: vec![0; links], news: VecDeque::new() }
    }

    /// The load of a link has changed by `bytes`.
    #[inline]
    pub fn tell(&mut self, link: u32, bytes: i32, now: u64) {
        if !self.load.is_empty() {
            self.news.push_back((now + self.delay_ps, link, bytes));
        }
    }

    /// What is known of a link.
    #[inline]
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
        let mut rumour = Rumour::new(2, 100);
        rumour.tell(1, 4096, 50);
        rumour.tell(1, -96, 120);
        let heard: Vec<u32> = [149, 150, 219, 220].map(|now| rumour.load(1, now)).to_vec();
        assert_eq!(heard, [0, 4096, 4096, 4000]);
        assert_eq!(rumour.load(0, 1_000), 0);
    }

    #[test]
    fn nobody_hears_where_nobody_listens() {
        let mut rumour = Rumour::default();
        rumour.tell(0, 10, 0);
        assert_eq!(rumour.load(0, u64::MAX), 0);
        assert!(rumour.news.is_empty());
    }
}
