//! Estimates where packets carry a whole link: its packets, each charged with its whole way.
//!
//! Source: Taffet, dissertation, Algorithm 3 and sec. 2.3.2.

use crate::estimate::Estimate;
use crate::tag::WholeTag;

/// Sums a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    packets: u64,
    traffic: u64,
    congested: u64,
    /// Of `l (l - 1)`, over the packets that have this link, and over those that met congestion there.
    squares: [u64; 2],
}

/// The sums of all links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reservoirs {
    of: Vec<Sums>,
}

impl Reservoirs {
    /// For link numbers below `links`.
    pub fn new(links: usize) -> Self {
        Self { of: vec![Sums::default(); links] }
    }

    /// Adds a packet; one with a link that there is not is left out, and the answer is `false`.
    pub fn add(&mut self, tag: WholeTag) -> bool {
        let Some(sums) = self.of.get_mut(tag.link as usize) else { return false };
        let hops = u64::from(tag.hops);
        sums.packets += 1;
        sums.traffic += hops;
        sums.squares[0] += hops * hops.saturating_sub(1);
        if tag.congested {
            sums.congested += hops;
            sums.squares[1] += hops * hops.saturating_sub(1);
        }
        true
    }

    /// Adds what others have received.
    ///
    /// # Panics
    /// If they have other links.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.of.len(), other.of.len(), "of the same links");
        for (sums, more) in self.of.iter_mut().zip(&other.of) {
            sums.packets += more.packets;
            sums.traffic += more.traffic;
            sums.congested += more.congested;
            (0..2).for_each(|k| sums.squares[k] += more.squares[k]);
        }
    }

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        self.of.fill(Sums::default());
    }

    /// `[link]`: what is known.
    pub fn estimates(&self) -> Vec<Estimate> {
        let known = |sums: &Sums| Estimate {
            traffic: sums.traffic as f64,
            congested: sums.congested as f64,
            // Each sampled packet stands for l of them, each with a variance of l - 1.
            traffic_error: (sums.squares[0] as f64).sqrt(),
            congested_error: (sums.squares[1] as f64).sqrt(),
            tested: sums.packets,
        };
        self.of.iter().map(known).collect()
    }
}
