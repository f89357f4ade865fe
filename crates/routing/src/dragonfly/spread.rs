//! Tables that share the load among several cables of two groups: greedy over all destinations.
//!
//! First, destination by destination, every switch, the nearest first, sends what its hosts send there: by the link from which the
//! way on, which is settled, has the least load, all its links added up. Then rounds in which every entry is looked at again,
//! what comes by other switches too, the farthest first: it moves where that makes the sum of squares of the loads least, until a
//! round moves none. A load is hosts that send over a link's relative capacity, destinations added up.
//!
//! Every switch for itself (`greedy.rs`) does not know what others send over a cable: several may all choose the same.
//!
//! Invariant: the destinations' order is the same for all, so equal fabrics have equal tables. Time: rounds x destinations x switches x
//! links of a way; one thread.

use netloom_model::{DestId, Fabric, HostId, Lft, LinkId, Routes, SwitchId};
use netloom_topology::Groups;

use crate::context::EngineOptions;
use crate::greedy::hosts_by_port;
use crate::paths::PathSet;

/// Rounds after the first choice.
const ROUNDS: usize = 4;

/// Routes along `paths`, which lead to every switch.
pub(super) fn route(fabric: &Fabric, groups: &Groups, paths: &PathSet, options: &EngineOptions) -> Routes {
    let space = fabric.dests(options.lmc);
    let mut lft = Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    let mut spread = Spread::new(fabric, paths);
    let mut dests: Vec<(SwitchId, DestId)> = Vec::new();
    for (leaf, host, place) in in_turn(fabric, groups, options.lmc) {
        let dest = space.host(host, place);
        lft.set(leaf, dest, Some(fabric.link_port(fabric.reverse(fabric.host_link(host)))));
        dests.push((leaf, dest));
    }
    for &(leaf, dest) in &dests {
        spread.approach(leaf);
        spread.choose(leaf, true);
        spread.write(dest, &mut lft);
    }
    for _ in 0..ROUNDS {
        let mut moved = false;
        for &(leaf, dest) in &dests {
            spread.approach(leaf);
            spread.read(dest, &lft);
            if spread.look_again(leaf) {
                moved = true;
                spread.write(dest, &mut lft);
            }
        }
        if !moved {
            break;
        }
    }
    // Switches' own addresses count for nothing.
    for s in fabric.switches() {
        spread.approach(s);
        spread.choose(s, false);
        spread.write(space.switch(s), &mut lft);
        lft.set(s, space.switch(s), Some(0));
    }
    Routes::by_dest(fabric, options.lmc, lft)
}

/// Addresses of hosts with a working cable: one of each switch in turn, group by group, so that none is late for all of its own.
fn in_turn(fabric: &Fabric, groups: &Groups, lmc: u8) -> Vec<(SwitchId, HostId, u32)> {
    let mut number = vec![0; groups.count as usize];
    let mut all = Vec::new();
    for s in fabric.switches() {
        let group = groups.group(s);
        let own = number[group as usize];
        number[group as usize] += 1;
        for (i, host) in hosts_by_port(fabric, s).into_iter().enumerate() {
            all.extend((0..1 << lmc).map(|path| ((path, i, own, group), (s, host, path))));
        }
    }
    all.sort_unstable_by_key(|&(turn, _)| turn);
    all.into_iter().map(|(_, address)| address).collect()
}

/// The loads so far, and the ways to one destination.
struct Spread<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    /// By link: one over its relative capacity; its load.
    weight: Vec<f64>,
    load: Vec<f64>,
    /// By switch: hosts that send.
    senders: Vec<f64>,
    /// Switches with a way to `leaf`, the nearest first.
    leaf: Option<SwitchId>,
    nearest: Vec<SwitchId>,
    /// By switch: its next link, and what its hosts and others send by it.
    next: Vec<Option<LinkId>>,
    flow: Vec<f64>,
}

impl<'a> Spread<'a> {
    fn new(fabric: &'a Fabric, paths: &'a PathSet) -> Self {
        let sending = |s| hosts_by_port(fabric, s).len() as f64;
        Self {
            fabric,
            paths,
            weight: fabric.links().map(|link| 1.0 / fabric.relative_capacity(link)).collect(),
            load: vec![0.0; fabric.link_count()],
            senders: fabric.switches().map(sending).collect(),
            leaf: None,
            nearest: Vec::new(),
            next: vec![None; fabric.switch_count()],
            flow: vec![0.0; fabric.switch_count()],
        }
    }

    /// Turns to the destinations on a switch, with no way to them yet.
    fn approach(&mut self, leaf: SwitchId) {
        self.next.fill(None);
        if self.leaf == Some(leaf) {
            return;
        }
        self.leaf = Some(leaf);
        let hops = |s: &SwitchId| self.paths.hops(*s, leaf);
        self.nearest = self.fabric.switches().filter(|s| *s != leaf && hops(s).is_some()).collect();
        self.nearest.sort_by_key(hops);
    }

    /// Chooses the ways to an address on `leaf`; `counts`: hosts send there.
    fn choose(&mut self, leaf: SwitchId, counts: bool) {
        for i in 0..self.nearest.len() {
            let s = self.nearest[i];
            let on_the_way = |link| self.way(link).map(|link| self.load[link.index()]).sum::<f64>();
            self.next[s.index()] = least(self.paths.links(s, leaf), on_the_way);
            if counts {
                self.add(s, self.senders[s.index()]);
            }
        }
    }

    /// Moves entries of an address on `leaf`, the farthest switch first, where that makes loads more even; whether it moved any.
    fn look_again(&mut self, leaf: SwitchId) -> bool {
        self.flow.copy_from_slice(&self.senders);
        for i in (0..self.nearest.len()).rev() {
            let s = self.nearest[i];
            if let Some(to) = self.next[s.index()].and_then(|link| self.fabric.link_to_switch(link)) {
                self.flow[to.index()] += self.flow[s.index()];
            }
        }
        let mut moved = false;
        for i in (0..self.nearest.len()).rev() {
            let s = self.nearest[i];
            let links = self.paths.links(s, leaf);
            let flow = self.flow[s.index()];
            if links.len() < 2 || flow == 0.0 {
                continue;
            }
            let before = self.next[s.index()];
            self.shift(s, -flow);
            // (load + more)^2 - load^2, added up.
            let squares = |link| {
                let more = |link: LinkId| flow * self.weight[link.index()];
                self.way(link)
                    .map(|link| more(link) * (2.0 * self.load[link.index()] + more(link)))
                    .sum::<f64>()
            };
            let best = least(links, squares);
            if let (Some(old), Some(new)) = (before, best)
                && squares(new) < squares(old)
            {
                (self.next[s.index()], moved) = (best, true);
            }
            self.shift(s, flow);
        }
        moved
    }

    /// The links of the way that begins with one.
    fn way(&self, first: LinkId) -> impl Iterator<Item = LinkId> {
        std::iter::successors(Some(first), |&link| {
            self.next[self.fabric.link_to_switch(link).expect("ways join switches").index()]
        })
    }

    /// So many hosts more on the way from a switch.
    fn add(&mut self, s: SwitchId, hosts: f64) {
        let mut at = s;
        while let Some(link) = self.next[at.index()] {
            self.load[link.index()] += hosts * self.weight[link.index()];
            at = self.fabric.link_to_switch(link).expect("ways join switches");
        }
    }

    /// The same, and what the switches behind it send on.
    fn shift(&mut self, s: SwitchId, hosts: f64) {
        self.add(s, hosts);
        let mut at = s;
        while let Some(link) = self.next[at.index()] {
            at = self.fabric.link_to_switch(link).expect("ways join switches");
            self.flow[at.index()] += hosts;
        }
    }

    fn write(&self, dest: DestId, lft: &mut Lft) {
        for &s in &self.nearest {
            lft.set(s, dest, self.next[s.index()].map(|link| self.fabric.link_port(link)));
        }
    }

    fn read(&mut self, dest: DestId, lft: &Lft) {
        for &s in &self.nearest {
            self.next[s.index()] = self.fabric.link_at(s, lft.port(s, dest));
        }
    }
}

/// The link of the least cost, the first among equals.
fn least(links: &[LinkId], cost: impl Fn(LinkId) -> f64) -> Option<LinkId> {
    links
        .iter()
        .copied()
        .map(|link| (cost(link), link))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, link)| link)
}
