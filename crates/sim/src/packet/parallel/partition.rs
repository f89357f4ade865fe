//! Which part of a fabric each thread simulates, and how far one may run ahead of the others.
//!
//! Whole groups of a dragonfly and whole pods stay together (whole leaves where there are fewer pods than partitions), hosts are with their leaf, and switches above are dealt out
//! evenly. Any division gives the same results; this one cuts few links and shares the work evenly.
//!
//! What one switch does to another takes at least the *lookahead*: the shorter of a packet's way and a credit's. Within a window of that length
//! the partitions need not know of each other (K. M. Chandy, J. Misra, *Distributed simulation*, IEEE TSE 5(5), 1979, with a
//! window for all instead of messages without content).

use std::collections::BTreeMap;

use netloom_model::{Dest, DestId, DestSpace, Fabric, HostId, LinkId, SwitchId};
use netloom_topology::{NO_POD, detect};

use crate::config::Config;

/// Partitions, at most.
const MOST: usize = 64;
/// Packet-hops a partition must have in a window on a busy network, so that threads pay for their meetings.
const WORTHWHILE: f64 = 100.0;

/// Who owns which switch.
#[derive(Clone, Debug)]
pub(crate) struct Partition {
    /// Partitions.
    pub count: usize,
    of_switch: Vec<u8>,
}

impl Partition {
    /// `count` partitions, fewer if there are fewer leaves (at least one).
    pub fn new(fabric: &Fabric, count: usize) -> Self {
        let mut of_switch = vec![0; fabric.switch_count()];
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        let count = count.clamp(1, MOST).min(leaves.len().max(1));
        if count == 1 {
            return Self { count, of_switch };
        }
        let structure = detect(fabric);
        let by_pod = structure.pods as usize >= count;
        let groups = structure.shape.groups().filter(|groups| groups.count as usize >= count);
        let unit = |s: SwitchId| match structure.pod[s.index()] {
            _ if groups.is_some() => groups.map_or(0, |groups| groups.group(s)),
            pod if by_pod && pod != NO_POD => pod,
            _ => structure.pods + s.0,
        };
        let mut weight = BTreeMap::new();
        for &leaf in &leaves {
            *weight.entry(unit(leaf)).or_insert(0) += fabric.hosts_on(leaf).len();
        }
        // Units in order, each to the partition in which its middle lies.
        let total = 2 * fabric.host_count();
        let mut before = 0;
        let units: BTreeMap<u32, u8> = weight
            .iter()
            .map(|(&unit, &hosts)| {
                let middle = 2 * before + hosts;
                before += hosts;
                (unit, (middle * count / total) as u8)
            })
            .collect();
        let mut above = 0;
        for switch in fabric.switches() {
            of_switch[switch.index()] = match units.get(&unit(switch)) {
                Some(&part) => part,
                None => {
                    above += 1;
                    ((above - 1) % count) as u8
                }
            };
        }
        Self { count, of_switch }
    }

    /// How many of `threads` can be put to use.
    ///
    /// On a busy network a host sends a packet in a packet's time on the wire, which is about five hops of work.
    pub fn worthwhile(fabric: &Fabric, config: &Config, lookahead_ps: u64, threads: usize) -> usize {
        let bandwidth = fabric.reference_bandwidth_bytes_per_s();
        let packet_ps = f64::from(config.wire_bytes()) * 1e12 / bandwidth;
        let hops = 5.0 * fabric.host_count() as f64 * lookahead_ps as f64 / packet_ps;
        threads.min((hops / WORTHWHILE) as usize).clamp(1, MOST)
    }

    #[inline]
    pub fn of_switch(&self, switch: SwitchId) -> u8 {
        self.of_switch[switch.index()]
    }

    pub fn of_host(&self, fabric: &Fabric, host: HostId) -> u8 {
        self.of_switch(fabric.leaf(host))
    }

    /// Of the host with an address.
    pub fn of_address(&self, fabric: &Fabric, space: DestSpace, address: DestId) -> Option<u8> {
        match space.resolve(address) {
            _ if self.count == 1 => Some(0),
            Dest::Host(host, _) => Some(self.of_host(fabric, host)),
            Dest::Switch(_) => None,
        }
    }

    /// The partitions of a link's sending and receiving end.
    pub fn of_ends(&self, fabric: &Fabric, link: LinkId) -> (u8, u8) {
        match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
            (Some(from), Some(to)) => (self.of_switch(from), self.of_switch(to)),
            (Some(s), None) | (None, Some(s)) => (self.of_switch(s), self.of_switch(s)),
            (None, None) => (0, 0),
        }
    }
}
