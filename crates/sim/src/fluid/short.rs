//! Messages of one packet: no flow, a walk.
//!
//! Such a message is below what rates can say anything about. It walks its way at once, when its host sends it: at every link it takes
//! the next free time. Of the time before what is already booked, a link remembers one gap, so that a packet that is held up elsewhere does
//! not hold up others here. Where flows fill a link, its queue is full: a packet waits for what its output buffer holds, and for what
//! waits in front of it at the far ends of the links that bring those flows.
//!
//! Left out: buffers are endless (a host never has to wait for a switch), packets are served in order of posting where they
//! compete beyond the gap, and flows don't see short messages.

use netloom_model::LinkId;

/// A link's time.
#[derive(Clone, Copy, Debug, Default)]
struct Booked {
    /// Free from here on, ps.
    free: u64,
    /// Free as well.
    gap: (u64, u64),
}

/// The times at which links carry short messages.
#[derive(Debug)]
pub(crate) struct Bookings {
    of: Vec<Booked>,
}

impl Bookings {
    /// For so many links.
    pub fn new(links: usize) -> Self {
        Self { of: vec![Booked::default(); links] }
    }

    /// From when a link is free for good.
    #[inline]
    pub fn free(&self, link: LinkId) -> u64 {
        self.of[link.index()].free
    }

    /// Takes `time_ps` of a link, not before `arrival_ps`; returns the start.
    #[inline]
    pub fn take(&mut self, link: LinkId, arrival_ps: u64, time_ps: u64) -> u64 {
        let Booked { free, gap } = &mut self.of[link.index()];
        let start = arrival_ps.max(gap.0);
        if start + time_ps <= gap.1 {
            gap.0 = start + time_ps;
            return start;
        }
        let start = arrival_ps.max(*free);
        if start - *free > gap.1.saturating_sub(gap.0.max(arrival_ps)) {
            *gap = (*free, start);
        }
        *free = start + time_ps;
        start
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: LinkId = LinkId(0);

    #[test]
    fn packets_follow_each_other() {
        let mut bookings = Bookings::new(1);
        let starts = [5, 6, 100, 101].map(|arrival| bookings.take(LINK, arrival, 10));
        assert_eq!(starts, [5, 15, 100, 110]);
    }

    #[test]
    fn a_late_packet_leaves_the_time_before_it_to_others() {
        let mut bookings = Bookings::new(1);
        assert_eq!(bookings.take(LINK, 1000, 10), 1000);
        assert_eq!(bookings.take(LINK, 20, 10), 20);
        assert_eq!(bookings.take(LINK, 25, 10), 30);
        assert_eq!(bookings.take(LINK, 995, 10), 1010);
    }
}
