//! How long lanes wait for room at the far end of their link.
//!
//! A lane waits while it has something to send, its link sends nothing, and what it lacks is room: InfiniBand's PortXmitWait, without
//! the ticks that go to other lanes' packets. A link waits while any of its lanes does. Packets that never lacked room cost nothing
//! here.
//!
//! Invariant: `since` is [`NEVER`] unless the lane (the link) lacks room; time before it is in `total_ps`.

use serde::{Deserialize, Serialize};

use crate::calendar::NEVER;
use crate::repeats::Visit;

/// The clock of one lane, or of a whole link.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Clock {
    since: u64,
    total_ps: u64,
}

impl Clock {
    /// Waited by `now`, on a link that was free from `free_at` on.
    #[inline]
    fn by(self, free_at: u64, now: u64) -> u64 {
        self.total_ps + if self.since == NEVER { 0 } else { now.saturating_sub(free_at.max(self.since)) }
    }
}

/// The clocks of all links.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Waits {
    lanes: usize,
    /// `[link * stride + lane]`; with several lanes, the whole link's is the last.
    clocks: Vec<Clock>,
}

impl Waits {
    pub fn new(links: usize, lanes: usize) -> Self {
        let stride = if lanes == 1 { 1 } else { lanes + 1 };
        Self { lanes, clocks: vec![Clock { since: NEVER, total_ps: 0 }; links * stride] }
    }

    #[inline]
    fn of(&self, link: usize) -> std::ops::Range<usize> {
        let stride = if self.lanes == 1 { 1 } else { self.lanes + 1 };
        link * stride..(link + 1) * stride
    }

    /// A link that lacks room, or did until now, and was or will be free from `free_at` on, has `pending` lanes with something to send. What waited
    /// and does not any more need not have been sent: a congestion control holds messages back.
    #[inline(never)]
    pub fn note(&mut self, link: u32, lacks: bool, free_at: u64, now: u64, pending: impl Fn(usize) -> bool) {
        let (of, lanes) = (self.of(link as usize), self.lanes);
        for (lane, clock) in self.clocks[of].iter_mut().enumerate() {
            if !lacks || (lane < lanes && !pending(lane)) {
                *clock = Clock { since: NEVER, total_ps: clock.by(free_at, now) };
            } else if clock.since == NEVER {
                clock.since = now;
            }
        }
    }

    /// A link that lacked room, and was free from `free_at` on, sends.
    #[inline(never)]
    pub fn sends(&mut self, link: u32, free_at: u64, now: u64) {
        let of = self.of(link as usize);
        for clock in self.clocks[of].iter_mut().filter(|clock| clock.since != NEVER) {
            *clock = Clock { since: now, total_ps: clock.by(free_at, now) };
        }
    }

    /// The clocks of a link that was or will be free at `free_at`: a wait counts from then on.
    pub fn visit(&mut self, visit: &mut Visit, link: usize, free_at: u64) {
        let of = self.of(link);
        for clock in &mut self.clocks[of] {
            visit.after(&mut clock.since, free_at);
            visit.total(&mut clock.total_ps);
        }
    }

    /// Whether a lane of a link lacks room.
    pub fn is_on(&self, link: usize) -> bool {
        self.clocks[self.of(link)].iter().any(|clock| clock.since != NEVER)
    }

    /// What a lane has waited by `now`, ps.
    pub fn lane_ps(&self, link: usize, lane: usize, free_at: u64, now: u64) -> u64 {
        self.clocks[self.of(link).start + lane].by(free_at, now)
    }

    /// What a link has waited by `now`, ps.
    pub fn link_ps(&self, link: usize, free_at: u64, now: u64) -> u64 {
        self.clocks[self.of(link).end - 1].by(free_at, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_counts_only_while_the_link_is_free() {
        let mut waits = Waits::new(2, 1);
        // It lacks room from 100 on, and its link is busy until 150; at 180 it can send, for 20, and still lacks room for more.
        waits.note(1, true, 150, 100, |_| true);
        assert_eq!(waits.lane_ps(1, 0, 150, 170), 20);
        waits.sends(1, 150, 180);
        assert_eq!(waits.lane_ps(1, 0, 200, 190), 30);
        assert_eq!(waits.lane_ps(1, 0, 200, 210), 40);
        waits.note(1, false, 200, 205, |_| true);
        assert_eq!(waits.lane_ps(1, 0, 200, 999), 35, "what it waited for is withdrawn, and was waited for");
        assert_eq!(waits.lane_ps(0, 0, 200, 999), 0);
    }

    #[test]
    fn a_link_waits_while_any_of_its_lanes_does() {
        let mut waits = Waits::new(1, 2);
        waits.note(0, true, 0, 100, |lane| lane == 0);
        waits.note(0, true, 0, 120, |_| true);
        waits.sends(0, 0, 150);
        waits.note(0, false, 150, 150, |_| true);
        let ps = [waits.lane_ps(0, 0, 150, 160), waits.lane_ps(0, 1, 150, 160), waits.link_ps(0, 150, 160)];
        assert_eq!(ps, [50, 30, 50]);
    }
}
