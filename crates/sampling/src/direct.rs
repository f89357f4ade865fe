//! One bit a packet to estimates, link by link: the hash of every link that the packet might have crossed is compared with what it carries.
//!
//! Source: Taffet, dissertation, Algorithm 6.

use crate::candidates::Candidates;
use crate::estimate::Estimate;
use crate::field::{Hash, parity};
use crate::tag::Received;

/// Sums a link.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    tested: u64,
    traffic: i64,
    congested: i64,
    /// Of `l^2`, over packets tested and over those of them that met congestion.
    squares: [u64; 2],
}

/// The sums of all links.
#[derive(Clone, Debug)]
pub struct Direct<'a> {
    candidates: &'a Candidates,
    /// `[link]`
    masks: Vec<u32>,
    of: Vec<Sums>,
}

impl<'a> Direct<'a> {
    /// With nothing received yet.
    pub fn new(candidates: &'a Candidates, hash: &Hash) -> Self {
        let number = |link| candidates.number(netloom_model::LinkId::from_index(link)).unwrap_or(0);
        let masks = (0..candidates.links()).map(|link| hash.mask(number(link))).collect();
        Self { candidates, masks, of: vec![Sums::default(); candidates.links()] }
    }

    /// Adds a packet; `false` if no way joins its hosts.
    pub fn add(&mut self, packet: &Received) -> bool {
        let (tag, hops) = (packet.tag, i64::from(packet.tag.hops));
        self.candidates.visit(packet.source, packet.destination, |link| {
            let sums = &mut self.of[link.index()];
            let alike = parity(packet.id & self.masks[link.index()]) == tag.bit;
            let change = if alike { hops } else { -hops };
            sums.tested += 1;
            sums.traffic += change;
            sums.squares[0] += (hops * hops) as u64;
            if tag.congested {
                sums.congested += change;
                sums.squares[1] += (hops * hops) as u64;
            }
        })
    }

    /// `[link]`: what is known.
    pub fn estimates(&self) -> Vec<Estimate> {
        let known = |sums: &Sums| {
            let error = |squares: u64, sum: i64| (squares as f64 - (sum as f64).max(0.0)).max(0.0).sqrt();
            Estimate {
                traffic: sums.traffic as f64,
                congested: sums.congested as f64,
                traffic_error: error(sums.squares[0], sums.traffic),
                congested_error: error(sums.squares[1], sums.congested),
                tested: sums.tested,
            }
        };
        self.of.iter().map(known).collect()
    }
}
