//! Service levels and virtual lanes: on which lane a message's packets travel, hop by hop.
//!
//! A message has a service level, which its packets keep. Every switch maps (input port, output port, service level) to the lane of the
//! output, every host (its port, service level): InfiniBand's SL-to-VL tables. Without tables a packet stays on the lane that has its
//! service level's number.
//!
//! Tables can be random ([`LaneMap::random`], s SL v VL of Taffet's dissertation, sec. 4.4.1): then each pair of hosts has a random level too,
//! and its packets a random lane on every link of their way. Other rules give a pair its level as well ([`Levels`]).
//!
//! Source: InfiniBand Architecture Specification, volume 1, sec. 7.6.6 (SL-to-VL mapping) and 7.6.9 (arbitration). Left out: lane 15
//! (management), a level that is mapped to lane 15 to drop its packets, tables of more than one entry a lane.

use crate::fabric::Fabric;
use crate::ids::{HostId, LinkId};
use crate::rng::{below, stream};
use crate::routes::levels::{Levels, SERVICE_LEVELS};

/// SL-to-VL tables of all switches and hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaneMap {
    /// By link: where its table is, less what its far end's first link adds.
    base: Vec<u32>,
    /// `[link in][link out of the switch there][service level]`, then `[host][service level]`.
    lane: Vec<u8>,
    hosts: u32,
    /// The levels that pairs of hosts have of their own.
    levels: Option<Levels>,
}

impl LaneMap {
    /// `lane(link in, link out, service level)`: the lane on the link out; link in is `None` for a host's own packets.
    pub fn new(fabric: &Fabric, lane: impl Fn(Option<LinkId>, LinkId, u8) -> u8) -> Self {
        let mut map = Self { base: Vec::new(), lane: Vec::new(), hosts: 0, levels: None };
        for via in fabric.links() {
            let Some(switch) = fabric.link_to_switch(via) else {
                map.base.push(0);
                continue;
            };
            let first = fabric.switch_links(switch).next().map_or(0, |link| link.0);
            map.base.push((map.lane.len() as u32).wrapping_sub(first * u32::from(SERVICE_LEVELS)));
            for out in fabric.switch_links(switch) {
                map.lane.extend((0..SERVICE_LEVELS).map(|level| lane(Some(via), out, level)));
            }
        }
        map.hosts = map.lane.len() as u32;
        for host in fabric.hosts() {
            map.lane.extend((0..SERVICE_LEVELS).map(|level| lane(None, fabric.host_link(host), level)));
        }
        map
    }

    /// A random lane below `lanes` for every (port in, port out, level) of the switches and (host, level), and a random level below `levels` (at
    /// most 16) for every pair of hosts.
    pub fn random(fabric: &Fabric, levels: u8, lanes: u8, seed: u64) -> Self {
        let lane = |via: Option<LinkId>, out: LinkId, level: u8| {
            let via = via.map_or(0, |link| u64::from(link.0) + 1);
            let entry = (via << 32 | u64::from(out.0)) << 4 | u64::from(level);
            below(&mut stream(seed, entry), u64::from(lanes.max(1))) as u8
        };
        // Streams of pairs are of another seed than those of tables.
        let of_pairs = Levels::pairs(levels, seed.wrapping_add(0x5851_f42d_4c95_7f2d));
        Self::new(fabric, lane).with_levels(of_pairs)
    }

    /// The same table everywhere: a level travels on the lane of its number, modulo `lanes`.
    pub fn uniform(fabric: &Fabric, lanes: u8) -> Self {
        Self::new(fabric, |_, _, level| level % lanes.max(1))
    }

    /// The same tables with other levels for pairs of hosts.
    pub fn with_levels(self, levels: Levels) -> Self {
        Self { levels: Some(levels), ..self }
    }

    /// The same tables where pairs have no levels of their own: messages may have any.
    pub fn without_levels(self) -> Self {
        Self { levels: None, ..self }
    }

    /// The levels that pairs of hosts have; `None`: their messages have their own.
    pub fn levels(&self) -> Option<&Levels> {
        self.levels.as_ref()
    }

    /// The level of a pair of hosts; `None`: their messages have their own.
    #[inline]
    pub fn level(&self, from: HostId, to: HostId) -> Option<u8> {
        Some(self.levels.as_ref()?.level(from, to))
    }

    /// The lane on `out` of a packet that came in over `via`.
    #[inline]
    pub fn lane(&self, via: u32, out: u32, level: u8) -> u8 {
        let row = self.base[via as usize].wrapping_add(out * u32::from(SERVICE_LEVELS));
        self.lane[(row + u32::from(level)) as usize]
    }

    /// The lane on which a host sends; its link has its number.
    #[inline]
    pub fn first_lane(&self, host: u32, level: u8) -> u8 {
        self.lane[(self.hosts + host * u32::from(SERVICE_LEVELS) + u32::from(level)) as usize]
    }

    /// In how many tables' rows (port in, port out of a switch; host) `other`, of the same fabric, has another lane for one of the first
    /// `levels` levels, and one of these places: link in, link out, level. Ports without a working cable don't count, nor packets that turn
    /// back.
    pub fn differences(
        &self,
        other: &Self,
        fabric: &Fabric,
        levels: u8,
    ) -> (usize, Option<(Option<LinkId>, LinkId, u8)>) {
        let level =
            |a: &dyn Fn(u8) -> u8, b: &dyn Fn(u8) -> u8| (0..levels).find(|&level| a(level) != b(level));
        let (mut count, mut first) = (0, None);
        let mut note = |via, out, level: Option<u8>| {
            count += usize::from(level.is_some());
            first = first.or(level.map(|level| (via, out, level)));
        };
        for via in fabric.links().filter(|&via| fabric.alive(via)) {
            let outs = fabric.link_to_switch(via).into_iter().flat_map(|switch| fabric.switch_links(switch));
            for out in outs.filter(|&out| fabric.alive(out) && fabric.reverse(via) != out) {
                let of = |map: &Self, level| map.lane(via.0, out.0, level);
                note(Some(via), out, level(&|level| of(self, level), &|level| of(other, level)));
            }
        }
        for host in fabric.hosts() {
            let of = |map: &Self, level| map.first_lane(host.0, level);
            note(None, fabric.host_link(host), level(&|level| of(self, level), &|level| of(other, level)));
        }
        (count, first)
    }

    /// Lanes that are used: one more than the highest.
    pub fn lanes(&self) -> u8 {
        self.lane.iter().max().map_or(0, |&most| most.saturating_add(1))
    }
}
