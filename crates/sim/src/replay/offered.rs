//! Offered load, and what the network accepts of it, in a window of time.
//!
//! Sources offer messages at their own times, whatever becomes of those before ([`OpenLoop`]). *Offered* is what they made in the
//! window, *accepted* what was received in it; both are shares of what the sources' host links carry. Latency is that of the messages
//! made in the window, from there to the arrival of their last byte, waiting at the source included.
//!
//! Below saturation both are alike but for chance; beyond it the backlog grows for as long as the window lasts, which is how it is
//! noticed (W. J. Dally, B. Towles, *Principles and Practices of Interconnection Networks*, 2004, sec. 23.1).
//!
//! Invariant: every message counts once as made, where its sender is, and once as received, where its receiver is; so parts of a
//! network add up.

use serde::{Deserialize, Serialize};

use crate::record::{Latencies, Summary};

/// What more of the offered load than this is not accepted in the window, if it is no chance either, is saturation.
const SATURATED: f64 = 0.02;

/// Messages are offered at their own times: they leave without asking, cost no processor, and nobody receives them on purpose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenLoop {
    /// The window that is measured begins so long after the job, ps.
    pub from_ps: u64,
    /// And ends so long after it, ps.
    pub to_ps: u64,
    /// A message on the wire, headers of its packets included.
    pub wire_bytes: u64,
    /// What the host links of all ranks carry together, bytes a second.
    pub capacity_bytes_per_s: f64,
}

/// What was offered and accepted in the window.
#[derive(Clone, Debug, PartialEq)]
pub struct Offered {
    /// The window, ps of simulated time.
    pub window_ps: (u64, u64),
    /// Share of the host links that was offered, headers included.
    pub offered: f64,
    /// Share of the host links that was received.
    pub accepted: f64,
    /// Messages that were made in the window.
    pub messages: u64,
    /// Those of them that had not arrived when the run ended.
    pub under_way: u64,
    /// Of those that had.
    pub latency: Summary,
    /// The network does not accept what is offered.
    pub saturated: bool,
    /// What the host links of all ranks carry together, bytes a second.
    pub capacity_bytes_per_s: f64,
}

/// Counts it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Window {
    made: u64,
    received: u64,
    latencies: Latencies,
}

impl Window {
    /// A message is made.
    pub fn made(&mut self, (from_ps, to_ps): (u64, u64), now_ps: u64) {
        self.made += u64::from((from_ps..to_ps).contains(&now_ps));
    }

    /// A message is there.
    pub fn received(&mut self, (from_ps, to_ps): (u64, u64), now_ps: u64, latency_ps: u64) {
        self.received += u64::from((from_ps..to_ps).contains(&now_ps));
        if (from_ps..to_ps).contains(&(now_ps - latency_ps)) {
            self.latencies.record(latency_ps);
        }
    }

    /// Adds another part's.
    pub fn merge(&mut self, other: &Self) {
        self.made += other.made;
        self.received += other.received;
        self.latencies.merge(&other.latencies);
    }

    /// What it comes to, with the bytes received in the window where packets are counted; `None` if the run ended before the window did.
    pub fn outcome(
        &self,
        job: &OpenLoop,
        window_ps: (u64, u64),
        end_ps: u64,
        bytes: Option<u64>,
    ) -> Option<Offered> {
        let (from_ps, to_ps) = window_ps;
        if end_ps < to_ps {
            return None;
        }
        let carried = job.capacity_bytes_per_s * (to_ps - from_ps) as f64 * 1e-12;
        let share = |messages: f64| messages * job.wire_bytes as f64 / carried;
        let (made, latency) = (self.made as f64, self.latencies.summary());
        // A host sends its messages in turns, packet by packet, so of many that wait few are complete, and much of the others is there.
        let received = bytes.map_or(self.received as f64, |bytes| bytes as f64 / job.wire_bytes as f64);
        let backlog = made - received;
        Some(Offered {
            window_ps,
            offered: share(made),
            accepted: share(received),
            messages: self.made,
            under_way: self.made - latency.count,
            latency,
            // (The numbers that are made and received in a window differ by chance, too: three deviations of two counts.)
            capacity_bytes_per_s: job.capacity_bytes_per_s,
            saturated: backlog > (SATURATED * made).max(3.0 * (2.0 * made).sqrt()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JOB: OpenLoop =
        OpenLoop { from_ps: 10, to_ps: 1_000_010, wire_bytes: 100, capacity_bytes_per_s: 2e12 };

    fn counted(made: u64, received: u64) -> Window {
        Window { made, received, latencies: Latencies::default() }
    }

    #[test]
    fn shares_are_of_what_the_host_links_carry() {
        // 2e12 B/s carry 2,000,000 B in a microsecond: 10,000 messages are half of that.
        let found = counted(10_000, 9_900).outcome(&JOB, (10, 1_000_010), 2_000_000, None).unwrap();
        assert_eq!((found.offered, found.accepted, found.under_way), (0.5, 0.495, 10_000));
        assert!(!found.saturated, "1 % of 10,000 is chance");
        // A packet a message, and half of the last hundred messages: what is not whole counts as well.
        let found = counted(10_000, 9_900).outcome(&JOB, (10, 1_000_010), 2_000_000, Some(995_000)).unwrap();
        assert_eq!((found.offered, found.accepted), (0.5, 0.4975));
        assert!(counted(10_000, 9_500).outcome(&JOB, (10, 1_000_010), 2_000_000, None).unwrap().saturated);
        assert_eq!(counted(1, 1).outcome(&JOB, (10, 1_000_010), 1_000_009, None), None);
    }

    #[test]
    fn a_message_is_measured_by_when_it_was_made() {
        let mut window = Window::default();
        for (made_ps, latency_ps) in [(5, 10), (95, 10), (100, 10)] {
            window.made((10, 100), made_ps);
            window.received((10, 100), made_ps + latency_ps, latency_ps);
        }
        assert_eq!((window.made, window.received, window.latencies.summary().count), (1, 1, 1));
    }
}
