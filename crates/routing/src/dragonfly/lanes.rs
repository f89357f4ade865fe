//! A lane for every turn of tables, so that nothing waits in a circle.
//!
//! A switch gives a packet its next lane by the port that it came in and the port that it leaves by: a *turn*. A lane of a
//! link waits for a lane of the next one if some packet goes from one to the other. Where no cables are missing one rule is
//! enough: lane 1 for what came in over a cable between groups and leaves by a local one, lane 0 for all others.
//!
//! In groups that are grids, turns between local cables that say they are of a way home are on lane 1 ([`Order`]).
//!
//! Where cables are missing the rule is where the search begins. A second local cable is on lane 1 if it ends at the
//! destination's switch, for its first one may have been on lane 1 too. As long as lanes wait in a circle, of the turns
//! on one circle that is given another lane which leaves the fewest lanes of links on circles. With 2 lanes, then 3, then 4. If a circle is
//! left, destinations take other ways (`reroute.rs`).
//!
//! Source: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE Trans.
//! Comput. C-36 (1987), for circles of waits; the search is ours.

use std::collections::HashSet;

use netloom_model::{Fabric, LaneMap, LinkId, NO_PORT, Routes, SwitchId};
use netloom_topology::Groups;

use crate::by_groups::Order;
use crate::circles;

/// Most lanes that are tried: InfiniBand's data lanes that all but small switches have.
pub(super) const MOST_LANES: u8 = 4;

/// Changes of one turn that are tried with so many lanes.
const CHANGES: usize = 300;

/// For so many changes a turn keeps the lane that it was given.
const KEEPS: usize = 8;

/// The turns of tables by destination with their lanes, and whether nothing waits in a circle; if something does, lanes leave little on circles.
pub(super) fn assign(fabric: &Fabric, order: &Order, routes: &Routes) -> (Turns, bool) {
    let mut turns = Turns::new(fabric, order, routes);
    let free = (2..=MOST_LANES).any(|lanes| turns.break_circles(lanes));
    (turns, free)
}

/// The lanes where no cable is missing.
pub(super) fn plain(fabric: &Fabric, order: &Order) -> LaneMap {
    LaneMap::new(fabric, |via, out, _| via.map_or(0, |via| by_rule(fabric, order, via, out)))
}

/// The lane of a turn where no cable is missing.
pub(super) fn by_rule(fabric: &Fabric, order: &Order, via: LinkId, out: LinkId) -> u8 {
    let groups = order.groups;
    let home =
        || match (fabric.link_from_switch(via), fabric.link_from_switch(out), fabric.link_to_switch(out)) {
            (Some(a), Some(b), Some(c)) if groups.grid.is_some() => order.turns_home(via, [a, b, c]),
            _ => false,
        };
    u8::from(is_local(fabric, groups, out) && (is_global(fabric, groups, via) || home()))
}

/// Whether with these lanes packets of tables by destination wait for each other in a circle.
pub(super) fn wait_in_circles(fabric: &Fabric, order: &Order, routes: &Routes) -> bool {
    let words = (usize::from(fabric.max_radix()) + 1).div_ceil(64);
    // By lane of a link: ports of the next switch that packets on it leave by.
    let mut leave = vec![0u64; 2 * fabric.link_count() * words];
    let mut seen = vec![0u32; 2 * fabric.link_count()];
    let mut dest_number = 0;
    let space = routes.dests(fabric);
    let first = |s| fabric.hosts_on(s).iter().map(|&h| fabric.host_link(h)).find(|&l| fabric.alive(l));
    let first: Vec<LinkId> = fabric.switches().filter_map(first).collect();
    for host in fabric.hosts() {
        for path in 0..1 << routes.lmc {
            let dest = space.host(host, path);
            dest_number += 1;
            for &start in &first {
                let (mut via, mut lane) = (start, 0);
                while let Some(at) = fabric.link_to_switch(via) {
                    let here = 2 * via.index() + usize::from(lane);
                    if std::mem::replace(&mut seen[here], dest_number) == dest_number {
                        break;
                    }
                    let port = routes.port(at, host, dest);
                    let Some(out) = (port != NO_PORT).then(|| fabric.link_at(at, port)).flatten() else {
                        break;
                    };
                    leave[here * words + usize::from(port) / 64] |= 1 << (port % 64);
                    lane = by_rule(fabric, order, via, out);
                    via = out;
                }
            }
        }
    }
    let mut waits = Vec::new();
    for here in 0..2 * fabric.link_count() {
        let via = LinkId(here as u32 / 2);
        let Some(at) = fabric.link_to_switch(via) else { continue };
        for port in 0..=fabric.max_radix() {
            if leave[here * words + usize::from(port) / 64] >> (port % 64) & 1 == 1 {
                let out = fabric.link_at(at, port).expect("packets leave by it");
                waits.push((here as u32, 2 * out.0 + u32::from(by_rule(fabric, order, via, out))));
            }
        }
    }
    circles::on_circles(2 * fabric.link_count(), &waits).contains(&true)
}

fn is_local(fabric: &Fabric, groups: &Groups, link: LinkId) -> bool {
    let ends = fabric.link_from_switch(link).zip(fabric.link_to_switch(link));
    ends.is_some_and(|(a, b)| groups.group(a) == groups.group(b))
}

fn is_global(fabric: &Fabric, groups: &Groups, link: LinkId) -> bool {
    fabric.between_switches(link) && !is_local(fabric, groups, link)
}

/// A packet's turn at a switch.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub at: SwitchId,
    pub via: LinkId,
    pub out: LinkId,
    pub number: u32,
}

/// Turns between links, and which follows which.
pub(super) struct Turns {
    /// Ports of a switch and one more: turn = link in * width + port out.
    width: usize,
    links: usize,
    /// By turn: its lane.
    pub lane: Vec<u8>,
    /// By turn: its link out.
    out: Vec<u32>,
    /// Turns that packets take one after another. The second ones are all turns between links of switches.
    pairs: Vec<(u32, u32)>,
    /// By switch: the link of a host that sends.
    own: Vec<Option<LinkId>>,
}

impl Turns {
    fn new(fabric: &Fabric, order: &Order, routes: &Routes) -> Self {
        let groups = order.groups;
        let width = usize::from(fabric.max_radix()) + 1;
        let links = fabric.link_count();
        let turns = links * width;
        let alive = |l: &LinkId| fabric.alive(*l);
        let own = fabric
            .switches()
            .map(|s| fabric.hosts_on(s).iter().map(|&h| fabric.host_link(h)).find(alive))
            .collect();
        let (lane, out) = (vec![0; turns], vec![u32::MAX; turns]);
        let mut it = Self { width, links, lane, out, pairs: Vec::new(), own };
        let space = routes.dests(fabric);
        let mut pairs = HashSet::new();
        let mut next = vec![None; fabric.switch_count()];
        for host in fabric.hosts() {
            let leaf = fabric.leaf(host);
            for path in 0..1 << routes.lmc {
                let dest = space.host(host, path);
                for s in fabric.switches() {
                    let port = routes.port(s, host, dest);
                    next[s.index()] =
                        (s != leaf && port != NO_PORT).then(|| fabric.link_at(s, port)).flatten();
                }
                let mut found = Vec::new();
                it.follow(fabric, leaf, &next, |a, b| found.push((a, b)));
                for (a, b) in found {
                    for Turn { at, via, out, number } in [a, b] {
                        it.out[number as usize] = out.0;
                        let before_home =
                            groups.group(at) == groups.group(leaf) && fabric.between_switches(via);
                        it.lane[number as usize] = match &groups.grid {
                            Some(_) => by_rule(fabric, order, via, out),
                            None => u8::from(
                                is_local(fabric, groups, out)
                                    && (before_home || is_global(fabric, groups, via)),
                            ),
                        };
                    }
                    pairs.insert((a.number, b.number));
                }
            }
        }
        it.pairs = pairs.into_iter().collect();
        it.pairs.sort_unstable();
        it
    }

    /// The same turns with lanes from their tables.
    pub fn of(fabric: &Fabric, order: &Order, routes: &Routes) -> Option<Self> {
        let map = routes.lanes.as_ref()?;
        let mut turns = Self::new(fabric, order, routes);
        for via in fabric.links() {
            let Some(at) = fabric.link_to_switch(via) else { continue };
            for out in fabric.switch_links(at) {
                let turn = turns.turn(fabric, via, out);
                turns.lane[turn] = map.lane(via.0, out.0, 0);
            }
        }
        Some(turns)
    }

    /// The tables of lanes.
    pub fn lanes(&self, fabric: &Fabric) -> LaneMap {
        LaneMap::new(fabric, |via, out, _| via.map_or(0, |via| self.lane[self.turn(fabric, via, out)]))
    }

    /// The turns that packets to a switch take one after another, pair by pair; `next`: the next link of every switch.
    pub fn follow(
        &self,
        fabric: &Fabric,
        leaf: SwitchId,
        next: &[Option<LinkId>],
        mut found: impl FnMut(Turn, Turn),
    ) {
        let next = |s: SwitchId| {
            let link = next[s.index()].filter(|_| s != leaf)?;
            Some((link, fabric.link_to_switch(link)?))
        };
        let mut used = vec![false; fabric.switch_count()];
        for from in fabric.switches().filter(|s| self.own[s.index()].is_some()) {
            let mut at = from;
            while let Some((_, to)) = next(at)
                && !std::mem::replace(&mut used[at.index()], true)
            {
                at = to;
            }
        }
        let turn = |at, via, out| Turn { at, via, out, number: self.turn(fabric, via, out) as u32 };
        for s in fabric.switches().filter(|s| used[s.index()]) {
            let Some((link, to)) = next(s) else { continue };
            let Some((after, beyond)) = next(to) else { continue };
            let second = turn(to, link, after);
            if let Some(own) = self.own[s.index()] {
                found(turn(s, own, link), second);
            }
            if let Some((last, _)) = next(beyond) {
                found(second, turn(beyond, after, last));
            }
        }
    }

    /// Whether packets take a turn.
    pub fn is_known(&self, turn: usize) -> bool {
        self.out[turn] != u32::MAX
    }

    /// The number of a turn.
    #[inline]
    pub fn turn(&self, fabric: &Fabric, via: LinkId, out: LinkId) -> usize {
        via.index() * self.width + usize::from(fabric.link_port(out))
    }

    /// Gives turns other lanes until nothing waits in a circle; whether it came to that. If not, lanes are those as they were, or with the most
    /// lanes those that left the least on circles.
    fn break_circles(&mut self, lanes: u8) -> bool {
        let before = self.lane.clone();
        let mut kept = vec![0; self.lane.len()];
        let mut fewest = (usize::MAX, Vec::new());
        for change in 1..=CHANGES {
            let Some(circle) = self.circle(lanes) else { return true };
            let mut best: Option<(usize, u32, u8)> = None;
            for &turn in circle.iter().filter(|&&turn| kept[turn as usize] < change) {
                let own = self.lane[turn as usize];
                for lane in (0..lanes).filter(|&lane| lane != own) {
                    self.lane[turn as usize] = lane;
                    let left = self.on_circles(lanes).iter().filter(|&&on| on).count();
                    if best.is_none_or(|(least, ..)| left < least) {
                        best = Some((left, turn, lane));
                    }
                }
                self.lane[turn as usize] = own;
            }
            let Some((left, turn, lane)) = best else { break };
            self.lane[turn as usize] = lane;
            kept[turn as usize] = change + KEEPS;
            if left < fewest.0 {
                fewest = (left, self.lane.clone());
            }
        }
        if self.circle(lanes).is_none() {
            return true;
        }
        self.lane = if lanes == MOST_LANES && !fewest.1.is_empty() { fewest.1 } else { before };
        false
    }

    /// The lanes of links, as numbers, that wait for something that is left when those that wait for nothing are taken away.
    fn on_circles(&self, lanes: u8) -> Vec<bool> {
        let vertex = |turn: u32| self.vertex(turn, lanes);
        let waits: Vec<(u32, u32)> = self.pairs.iter().map(|&(a, b)| (vertex(a), vertex(b))).collect();
        circles::on_circles(self.links * usize::from(lanes), &waits)
    }

    /// The lane of the link that a turn leads into.
    #[inline]
    fn vertex(&self, turn: u32, lanes: u8) -> u32 {
        self.out[turn as usize] * u32::from(lanes) + u32::from(self.lane[turn as usize])
    }

    /// The turns of a circle of waits, each into the link that the one before waits for; `None`: there is none.
    fn circle(&self, lanes: u8) -> Option<Vec<u32>> {
        let on = self.on_circles(lanes);
        let vertex = |turn: u32| self.vertex(turn, lanes) as usize;
        // One step from every lane of a link that is left: to one that is left too.
        let mut step = vec![None; on.len()];
        for &(a, b) in self.pairs.iter().filter(|&&(a, b)| on[vertex(a)] && on[vertex(b)]) {
            step[vertex(a)].get_or_insert(b);
        }
        let mut seen = vec![false; on.len()];
        let mut at = on.iter().position(|&on| on)?;
        while !std::mem::replace(&mut seen[at], true) {
            at = vertex(step[at].expect("what is left waits for something that is left"));
        }
        let (start, mut turns) = (at, Vec::new());
        loop {
            let turn = step[at].expect("on a circle");
            turns.push(turn);
            at = vertex(turn);
            if at == start {
                return Some(turns);
            }
        }
    }
}
