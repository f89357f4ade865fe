//! Credit loops by (link, lane): what can wait for what where packets change lanes.
//!
//! A vertex is a lane of a link. A packet that holds a buffer of one and wants a buffer of another makes the first
//! wait for the second; lanes come from the tables of the switches on its way, by the port it came in, the port it
//! leaves by and its service level. Tables are free of deadlocks if no cycle of waits is left (Dally and Seitz 1987).
//!
//! Packets are followed from the hosts, once an address and service level. Where pairs have no level of their own a
//! message may have any, so all are followed that differ in some table.
//!
//! Switches' own LIDs are addresses too: subnet management by directed route needs no tables, but what reads counters
//! goes by LID, on data lanes. Where pairs have no levels every level is followed there. Where they have, such packets are on level 0, as
//! unless somebody says otherwise, and circles that only they close are counted apart: OpenSM's dfsssp keeps pairs of hosts apart, and leaves out what goes to
//! switches whose port 0 has no SL-to-VL table (`osm_ucast_dfsssp.c`).
//!
//! While switches change from one set of tables to another a packet may meet entries of both: it is followed by both at every switch.

use netloom_model::{DestId, Fabric, HostId, LaneMap, LinkId, NO_PORT, Routes, SERVICE_LEVELS, Table};

use crate::channels;

/// What was found about lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneReport {
    /// Lanes that a packet can be on: one more than the highest.
    pub lanes: u8,
    /// Groups of (link, lane) that wait for each other in cycles.
    pub credit_loops: u64,
    /// A shortest cycle of the first, or nothing.
    pub cycle: Vec<(LinkId, u8)>,
    /// Where pairs have levels of their own, and the groups above are none: such groups where packets to switches' own LIDs are
    /// counted too, on level 0.
    pub switch_credit_loops: u64,
    /// A shortest cycle of the first of these, or nothing.
    pub switch_cycle: Vec<(LinkId, u8)>,
}

/// Looks for credit loops among lanes.
///
/// Routes and lanes are of `fabric`. Entries that lead nowhere end a packet's way; other checks tell them. Time grows
/// with links times addresses times levels, with the square of the hosts where pairs have levels or tables go by source.
pub fn lane_loops(fabric: &Fabric, routes: &Routes, lanes: &LaneMap) -> LaneReport {
    loops(fabric, &[routes], lanes)
}

/// The same of all mixes of two sets of tables with as many addresses a host, these themselves among them.
pub fn mixed_lane_loops(fabric: &Fabric, old: &Routes, new: &Routes, lanes: &LaneMap) -> LaneReport {
    loops(fabric, &[old, new], lanes)
}

fn loops(fabric: &Fabric, tables: &[&Routes], lanes: &LaneMap) -> LaneReport {
    let routes = tables[0];
    let width = u32::from(lanes.lanes().max(1));
    let by_source = tables.iter().any(|one| matches!(one.table, Table::UpBySource { .. }));
    let space = routes.dests(fabric);
    let alive = |h: &HostId| fabric.alive(fabric.host_link(*h));
    let hosts: Vec<HostId> = fabric.hosts().filter(alive).collect();
    let mut follower = Follower {
        fabric,
        tables,
        lanes,
        waits: Waits::new(fabric, width),
        seen: vec![0; fabric.link_count() * width as usize],
        stamp: 0,
        highest: 0,
    };
    let any = any_levels(fabric, lanes);
    let levels = lanes.levels().map_or_else(|| any.clone(), |own| (0..own.count()).collect());
    for &to in &hosts {
        for (path, &level) in
            (0..1 << routes.lmc).flat_map(|path| levels.iter().map(move |level| (path, level)))
        {
            let sends = |from: &HostId| *from != to && lanes.level(*from, to).is_none_or(|own| own == level);
            let from = hosts.iter().copied().filter(sends);
            follower.follow_all(from, space.host(to, path), level, by_source);
        }
    }
    let to_switches = |follower: &mut Follower, levels: &[u8]| {
        for (switch, &level) in fabric.switches().flat_map(|s| levels.iter().map(move |level| (s, level))) {
            follower.follow_all(hosts.iter().copied(), space.switch(switch), level, false);
        }
    };
    // Tables by source say nothing of switches' own LIDs.
    let apart = lanes.levels().is_some();
    if !apart && !by_source {
        to_switches(&mut follower, &any);
    }
    let (credit_loops, cycle) = follower.waits.cycles(fabric);
    let mut report = LaneReport { lanes: follower.highest + 1, credit_loops, cycle, ..LaneReport::default() };
    if apart && !by_source && credit_loops == 0 {
        to_switches(&mut follower, &[0]);
        (report.switch_credit_loops, report.switch_cycle) = follower.waits.cycles(fabric);
    }
    report
}

/// Follows packets, and notes what waits for what.
struct Follower<'a> {
    fabric: &'a Fabric,
    tables: &'a [&'a Routes],
    lanes: &'a LaneMap,
    waits: Waits,
    /// By lane of a link: the last packets that came there.
    seen: Vec<u32>,
    stamp: u32,
    /// The highest lane of all.
    highest: u8,
}

impl Follower<'_> {
    /// Packets of several hosts to one address: one that comes to where another was is followed no further, unless tables go by source.
    fn follow_all(&mut self, from: impl Iterator<Item = HostId>, dest: DestId, level: u8, by_source: bool) {
        self.stamp += 1;
        for from in from {
            self.stamp += u32::from(by_source);
            self.follow(from, dest, level);
        }
    }

    /// Follows one packet by all tables until it arrives, is lost, or is where one before it was.
    fn follow(&mut self, from: HostId, dest: DestId, level: u8) {
        let (fabric, lanes) = (self.fabric, self.lanes);
        let first = lanes.first_lane(from.0, level);
        let mut open = vec![(fabric.host_link(from), first)];
        self.highest = self.highest.max(first);
        while let Some((link, lane)) = open.pop() {
            let Some(switch) = fabric.link_to_switch(link) else { continue };
            let here = self.waits.vertex(link, lane);
            if std::mem::replace(&mut self.seen[here as usize], self.stamp) == self.stamp {
                continue;
            }
            for routes in self.tables {
                let port = routes.port(switch, from, dest);
                let out = (port != NO_PORT).then(|| fabric.link_at(switch, port)).flatten();
                let Some(out) = out.filter(|&out| fabric.alive(out)) else { continue };
                let next = lanes.lane(link.0, out.0, level);
                self.waits.add(fabric, here, out, next);
                self.highest = self.highest.max(next);
                open.push((out, next));
            }
        }
    }
}

/// One service level of each set that all tables treat alike.
pub(crate) fn any_levels(fabric: &Fabric, lanes: &LaneMap) -> Vec<u8> {
    let mut found: Vec<u8> = Vec::new();
    for level in 0..SERVICE_LEVELS {
        let alike = |other: u8| {
            fabric.hosts().all(|h| lanes.first_lane(h.0, level) == lanes.first_lane(h.0, other))
                && fabric.links().filter_map(|via| Some((via, fabric.link_to_switch(via)?))).all(
                    |(via, s)| {
                        let same =
                            |out: LinkId| lanes.lane(via.0, out.0, level) == lanes.lane(via.0, out.0, other);
                        fabric.switch_links(s).all(same)
                    },
                )
        };
        if !found.iter().any(|&other| alike(other)) {
            found.push(level);
        }
    }
    found
}

/// Who waits for whom: a row of bits a vertex, a bit for every lane of every port of the switch that its link enters.
pub(crate) struct Waits {
    lanes: u32,
    words: usize,
    bits: Vec<u64>,
}

impl Waits {
    pub fn new(fabric: &Fabric, lanes: u32) -> Self {
        let words = ((usize::from(fabric.max_radix()) + 1) * lanes as usize).div_ceil(64);
        Self { lanes, words, bits: vec![0; fabric.link_count() * lanes as usize * words] }
    }

    pub fn vertex(&self, link: LinkId, lane: u8) -> u32 {
        link.0 * self.lanes + u32::from(lane)
    }

    pub fn add(&mut self, fabric: &Fabric, holder: u32, out: LinkId, lane: u8) {
        let bit = usize::from(fabric.link_port(out)) * self.lanes as usize + usize::from(lane);
        self.bits[holder as usize * self.words + bit / 64] |= 1 << (bit % 64);
    }

    /// How many pairs of (link, lane) wait for each other, in one direction.
    pub fn count(&self) -> u64 {
        self.bits.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Groups that wait for each other in cycles, and a shortest cycle of the first.
    pub fn cycles(&self, fabric: &Fabric) -> (u64, Vec<(LinkId, u8)>) {
        let vertices = fabric.link_count() * self.lanes as usize;
        let of = |vertex: u32| (LinkId(vertex / self.lanes), (vertex % self.lanes) as u8);
        let waits = |vertex: u32, out: &mut Vec<u32>| {
            let Some(switch) = fabric.link_to_switch(of(vertex).0) else { return };
            let row = &self.bits[vertex as usize * self.words..(vertex as usize + 1) * self.words];
            for (w, &word) in row.iter().enumerate() {
                let set = (0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| w as u32 * 64 + bit);
                out.extend(set.filter_map(|bit| {
                    let link = fabric.link_at(switch, (bit / self.lanes) as u16)?;
                    Some(link.0 * self.lanes + bit % self.lanes)
                }));
            }
        };
        let (groups, cycle) = channels::cycles(vertices, waits);
        (groups, cycle.into_iter().map(of).collect())
    }
}
