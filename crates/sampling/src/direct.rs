//! One bit a packet to estimates, link by link: the hash of every link that the packet might have crossed is compared with what it carries.
//!
//! It needs nothing of the hash, so it decodes all of them ([`crate::hash`]), and judges the transform of the one that is linear.
//!
//! Source: Taffet, dissertation, Algorithm 6.

use std::sync::Arc;

use netloom_model::LinkId;

use crate::candidates::Candidates;
use crate::estimate::Estimate;
use crate::field::parity;
use crate::hash::HashFunction;
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
pub struct Direct {
    candidates: Arc<Candidates>,
    function: HashFunction,
    /// `[link]`: what its switch keeps for the hash.
    ports: Vec<u32>,
    of: Vec<Sums>,
}

impl Direct {
    /// With nothing received yet.
    pub fn new(candidates: Arc<Candidates>, function: HashFunction) -> Self {
        let number = |link| candidates.number(LinkId::from_index(link)).unwrap_or(0);
        let ports = (0..candidates.links()).map(|link| function.port(number(link))).collect();
        let of = vec![Sums::default(); candidates.links()];
        Self { candidates, function, ports, of }
    }

    /// What might have been crossed.
    pub fn candidates(&self) -> &Candidates {
        &self.candidates
    }

    /// The hash of a packet and a link.
    pub fn bit(&self, id: u32, link: LinkId) -> bool {
        self.function.bit(id, self.ports[link.index()])
    }

    /// Adds a packet; `false` if no way joins its hosts.
    pub fn add(&mut self, packet: &Received) -> bool {
        let id = packet.id;
        match self.function {
            HashFunction::Field { .. } => self.add_by(packet, |mask| parity(id & mask)),
            other => self.add_by(packet, |number| other.bit(id, number)),
        }
    }

    #[inline]
    fn add_by(&mut self, packet: &Received, hash: impl Fn(u32) -> bool) -> bool {
        let (tag, hops) = (packet.tag, i64::from(packet.tag.hops));
        let (of, ports) = (&mut self.of, &self.ports);
        self.candidates.visit(packet.source, packet.destination, |link| {
            let sums = &mut of[link.index()];
            let alike = hash(ports[link.index()]) == tag.bit;
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

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        self.of.fill(Sums::default());
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

    /// The same where the traffic of a host's own links is counted, as [`crate::Decoder`] does: a receiver knows both hosts of a packet.
    pub fn estimates_and_counts(&self) -> Vec<Estimate> {
        let mut found = self.estimates();
        for link in self.candidates.of_host.iter().flatten() {
            let own = &mut found[link.index()];
            (own.traffic, own.traffic_error) = (own.tested as f64, 0.0);
        }
        found
    }
}
