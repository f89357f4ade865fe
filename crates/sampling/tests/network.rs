//! Packets on random admissible ways, and what really happened to them.

use std::sync::Arc;

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Fabric, HostId, LinkId};
use netloom_routing::PathSet;
use netloom_sampling::{Candidates, Hash, HopBits, Received, SamplingError, Tag, WholeTag};
use netloom_topology::detect;

/// A fabric with everything that sampling needs.
pub struct Network {
    pub fabric: Fabric,
    pub paths: PathSet,
    pub candidates: Arc<Candidates>,
    pub hash: Arc<Hash>,
    masks: Vec<u32>,
}

/// A packet that arrived: with one bit, with a whole link, and its true way.
pub struct Trip {
    pub one_bit: Received,
    pub whole: WholeTag,
    pub way: Vec<LinkId>,
}

impl Network {
    pub fn new(fabric: Fabric) -> Result<Self, SamplingError> {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths)?);
        let hash = Arc::new(Hash::standard(candidates.bits())?);
        let mask = |link| candidates.number(link).map_or(0, |number| hash.mask(number));
        let masks = fabric.links().map(mask).collect();
        Ok(Self { fabric, paths, candidates, hash, masks })
    }

    /// Two hosts that some way joins.
    pub fn hosts(&self, random: &mut Stream) -> Option<(HostId, HostId)> {
        let count = self.fabric.host_count() as u64;
        (0..50).find_map(|_| {
            let [s, d] = [(); 2].map(|()| HostId(below(random, count) as u32));
            let alive = |h| self.fabric.alive(self.fabric.host_link(h));
            let leaf = |h| self.fabric.link_to_switch(self.fabric.host_link(h));
            let joined = leaf(s).zip(leaf(d)).is_some_and(|(a, b)| self.paths.hops(a, b).is_some() || a == b);
            (s != d && alive(s) && alive(d) && joined).then_some((s, d))
        })
    }

    /// Sends a packet; switches choose at random. `congested` says which links are, for this packet.
    pub fn send(
        &self,
        (source, destination): (HostId, HostId),
        congested: impl Fn(LinkId) -> bool,
        random: &mut Stream,
    ) -> Trip {
        let id = below(random, 1 << 32) as u32;
        let first = self.fabric.host_link(source);
        let mut tag = Tag::sent(id, self.masks[first.index()], congested(first));
        let mut whole = WholeTag::sent(first.0, congested(first));
        let mut way = vec![first];
        let target = self.fabric.link_to_switch(self.fabric.host_link(destination)).expect("a leaf");
        loop {
            let at = self.fabric.link_to_switch(way[way.len() - 1]).expect("a switch");
            let next = if at == target {
                self.fabric.reverse(self.fabric.host_link(destination))
            } else {
                let links = self.paths.links(at, target);
                links[below(random, links.len() as u64) as usize]
            };
            let draw = below(random, 1 << 16) as u16;
            tag.forward(id, self.masks[next.index()], congested(next), draw, HopBits::default());
            whole.forward(next.0, congested(next), draw, HopBits::default());
            way.push(next);
            if at == target {
                return Trip { one_bit: Received { id, source, destination, tag }, whole, way };
            }
        }
    }
}

#[test]
fn all_that_a_packet_crosses_is_among_its_candidates() {
    for seed in 0..40 {
        let Ok(network) = Network::new(netloom_testkit::any_fabric(seed)) else { panic!("seed {seed}") };
        let mut random = stream(seed, 1);
        for _ in 0..100 {
            let Some(hosts) = network.hosts(&mut random) else { break };
            let trip = network.send(hosts, |_| false, &mut random);
            let mut candidates = Vec::new();
            assert!(network.candidates.visit(hosts.0, hosts.1, |link| candidates.push(link)));
            assert!(trip.way.iter().all(|link| candidates.contains(link)), "seed {seed}");
            assert!(trip.way.len() <= usize::from(network.candidates.most_hops()), "seed {seed}");
            let numbers: Vec<u32> = candidates.iter().filter_map(|&l| network.candidates.number(l)).collect();
            let mut distinct = numbers.clone();
            distinct.sort_unstable();
            distinct.dedup();
            assert_eq!(distinct.len(), candidates.len(), "seed {seed}");
        }
    }
}
