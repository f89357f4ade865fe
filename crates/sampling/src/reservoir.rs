//! Estimates where packets carry a whole link: its packets, each charged with its whole way.
//!
//! A link's last packets are added up in two words, so that what packets touch is small; what is in them is put away before it is full.
//!
//! Source: Taffet, dissertation, Algorithm 3 and sec. 2.3.2.

use crate::estimate::Estimate;
use crate::tag::{MOST_HOPS, WholeTag};

/// Sums a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Sums {
    packets: u64,
    traffic: u64,
    congested: u64,
    /// Of `l (l - 1)`, over the packets that have this link, and over those that met congestion there.
    squares: [u64; 2],
}

impl Sums {
    fn add(&mut self, more: &Self) {
        self.packets += more.packets;
        self.traffic += more.traffic;
        self.congested += more.congested;
        (0..2).for_each(|k| self.squares[k] += more.squares[k]);
    }
}

/// The same of at most [`FULL`] packets: over all of them and over those that met congestion, packets (of all) in the lowest bits, above
/// them traffic, then squares.
#[derive(Clone, Copy, Debug, Default)]
struct Recent([u64; 2]);

const TRAFFIC: u32 = 16;
const SQUARES: u32 = 37;
const FULL: u64 = (1 << TRAFFIC) - 1;
const MOST: u64 = MOST_HOPS as u64;
const _: () =
    assert!(FULL * MOST < 1 << (SQUARES - TRAFFIC) && FULL * MOST * (MOST - 1) < 1 << (64 - SQUARES));

impl Recent {
    fn sums(self) -> Sums {
        let traffic = |word: u64| word >> TRAFFIC & ((1 << (SQUARES - TRAFFIC)) - 1);
        Sums {
            packets: self.0[0] & FULL,
            traffic: traffic(self.0[0]),
            congested: traffic(self.0[1]),
            squares: self.0.map(|word| word >> SQUARES),
        }
    }
}

/// The sums of all links.
#[derive(Clone, Debug)]
pub struct Reservoirs {
    recent: Vec<Recent>,
    /// But for the recent ones.
    of: Vec<Sums>,
}

impl Reservoirs {
    /// For link numbers below `links`.
    pub fn new(links: usize) -> Self {
        Self { recent: vec![Recent::default(); links], of: vec![Sums::default(); links] }
    }

    /// Adds a packet, of more hops than a hop count holds as of the most; one with a link that there is not is left out, and the answer
    /// is `false`.
    #[inline]
    pub fn add(&mut self, tag: WholeTag) -> bool {
        let Some(Recent([all, congested])) = self.recent.get_mut(tag.link as usize) else { return false };
        let hops = u64::from(tag.hops.min(MOST_HOPS));
        let word = hops << TRAFFIC | (hops * hops.saturating_sub(1)) << SQUARES;
        *all += word | 1;
        *congested += word & u64::from(tag.congested).wrapping_neg();
        if *all & FULL == FULL {
            self.put_away(tag.link as usize);
        }
        true
    }

    /// Reads what [`Reservoirs::add`] will read, so that it is in the cache by then. What it returns means nothing.
    #[inline]
    pub fn foresee(&self, link: u32) -> u64 {
        self.recent.get(link as usize).map_or(0, |recent| recent.0[0])
    }

    #[cold]
    fn put_away(&mut self, link: usize) {
        self.of[link].add(&std::mem::take(&mut self.recent[link]).sums());
    }

    /// `[link]`
    fn sums(&self) -> impl Iterator<Item = Sums> {
        self.of.iter().zip(&self.recent).map(|(&(mut sums), recent)| {
            sums.add(&recent.sums());
            sums
        })
    }

    /// Adds what others have received.
    ///
    /// # Panics
    /// If they have other links.
    pub fn merge(&mut self, other: &Self) {
        assert_eq!(self.of.len(), other.of.len(), "of the same links");
        self.of.iter_mut().zip(other.sums()).for_each(|(sums, more)| sums.add(&more));
    }

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        self.recent.fill(Recent::default());
        self.of.fill(Sums::default());
    }

    /// `[link]`: what is known.
    pub fn estimates(&self) -> Vec<Estimate> {
        let known = |sums: Sums| Estimate {
            traffic: sums.traffic as f64,
            congested: sums.congested as f64,
            // Each sampled packet stands for l of them, each with a variance of l - 1.
            traffic_error: (sums.squares[0] as f64).sqrt(),
            congested_error: (sums.squares[1] as f64).sqrt(),
            tested: sums.packets,
        };
        self.sums().map(known).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// More packets than the words of a link hold, of the longest ways.
    #[test]
    fn sums_of_many_packets_are_exact() {
        let mut reservoirs = Reservoirs::new(2);
        let packets = 200_000u64;
        for k in 0..packets {
            let tag = WholeTag { link: 1, congested: k % 4 == 0, hops: MOST_HOPS };
            assert!(reservoirs.add(tag));
        }
        assert!(!reservoirs.add(WholeTag { link: 2, congested: false, hops: 2 }));
        let mut twice = reservoirs.clone();
        twice.merge(&reservoirs);
        for (times, reservoirs) in [(1, &reservoirs), (2, &twice)] {
            let found = reservoirs.estimates()[1];
            let (packets, hops) = (times * packets, 32);
            assert_eq!((found.tested, found.traffic), (packets, (packets * hops) as f64));
            assert_eq!(found.congested, (packets / 4 * hops) as f64);
            assert_eq!(found.traffic_error, ((packets * hops * (hops - 1)) as f64).sqrt());
            assert_eq!(found.congested_error, ((packets / 4 * hops * (hops - 1)) as f64).sqrt());
        }
        assert_eq!(reservoirs.estimates()[0], Estimate::default());
        twice.reset();
        assert_eq!(twice.estimates(), vec![Estimate::default(); 2]);
    }
}
