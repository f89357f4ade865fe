//! Tables of shortest ways, balanced by use.
//!
//! Destination by destination, in rounds of one a switch: of the shortest ways from every switch the one whose links have been
//! used least so far, added up. What a link is used by is counted in senders, relative to its speed, so slow cables are used less.
//!
//! Ways that are chosen so turn in many different ways, and need lanes for it. Two other choices need fewer: of the shortest ways
//! that with the fewest turns outside a set that closes no circle ([`FreeTurns`]), the least used among these; or simply by
//! the lowest port, which on grids is the order of dimensions.
//!
//! Invariant: one after the other, in a fixed order, so the same for any number of threads.
//!
//! Source: Domke, Hoefler, Nagel, IPDPS 2011, algorithm 1, whose weights are so large at the start that ways stay
//! shortest: here hops are compared first.

use std::collections::HashSet;

use netloom_model::{DestId, Fabric, HostId, Lft, LinkId, Routes, SwitchId};

use crate::context::EngineOptions;
use crate::greedy::hosts_by_port;
use crate::updown::{HopLists, all_hops};
use crate::waits::Waits;

/// Hops of a switch that no way leads to.
const FAR: u32 = u32::MAX;

/// Which of the shortest ways is taken.
#[derive(Clone, Copy)]
pub(super) enum Prefer<'a> {
    /// The least used.
    Unused,
    /// That with the fewest turns outside a set, the least used among these.
    Turns(&'a FreeTurns),
    /// By the lowest port.
    First,
}

/// Turns (link in, link out) that together close no circle: as many as are found one by one, those of up*/down* ways first.
pub(super) struct FreeTurns(HashSet<(LinkId, LinkId)>);

impl FreeTurns {
    /// Of a fabric whose switches have ranks.
    pub fn new(fabric: &Fabric, rank: &[u16]) -> Self {
        let (mut waits, mut found) = (Waits::new(fabric.link_count()), HashSet::new());
        let hops = all_hops(fabric);
        for dips in [false, true] {
            for a in fabric.switches() {
                for first in hops.of(a) {
                    let b = first.to;
                    for second in hops.of(b).iter().filter(|second| second.link != fabric.reverse(first.link))
                    {
                        let dip =
                            rank[a.index()] > rank[b.index()] && rank[second.to.index()] > rank[b.index()];
                        if dip == dips && waits.add(first.link.0, second.link.0) {
                            found.insert((first.link, second.link));
                        }
                    }
                }
            }
        }
        Self(found)
    }
}

/// Tables for every address of hosts and switches.
pub(super) fn route(fabric: &Fabric, options: &EngineOptions, prefer: Prefer) -> Routes {
    let space = fabric.dests(options.lmc);
    let mut lft = Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    let mut search = Search::new(fabric, prefer);
    let hosts: Vec<Vec<HostId>> = fabric.switches().map(|s| hosts_by_port(fabric, s)).collect();
    let rounds = hosts.iter().map(Vec::len).max().unwrap_or(0);
    for path in 0..1 << options.lmc {
        for round in 0..rounds {
            for leaf in fabric.switches() {
                let Some(&host) = hosts[leaf.index()].get(round) else { continue };
                let dest = space.host(host, path);
                search.towards(leaf, |s, link| lft.set(s, dest, Some(fabric.link_port(link))));
                lft.set(leaf, dest, Some(fabric.link_port(fabric.reverse(fabric.host_link(host)))));
                search.count();
            }
        }
    }
    // Nobody's bytes: what is left of the balance is not used up by them. Where a switch has hosts the ways to it are those to the
    // first of these, so that packets of the subnet manager make no turns of their own.
    for target in fabric.switches() {
        let dest: DestId = space.switch(target);
        if let Some(&host) = hosts[target.index()].first() {
            let first = space.host(host, 0);
            for s in fabric.switches().filter(|&s| s != target) {
                lft.set(s, dest, lft.get(s, first));
            }
            lft.set(target, dest, Some(0));
            continue;
        }
        search.towards(target, |s, link| lft.set(s, dest, Some(fabric.link_port(link))));
        lft.set(target, dest, Some(0));
    }
    Routes::by_dest(fabric, options.lmc, lft)
}

/// The search for the least used shortest ways to one switch.
struct Search<'a> {
    fabric: &'a Fabric,
    hops: HopLists,
    /// By link: use, over relative capacity.
    used: Vec<f64>,
    /// By switch: hosts that send.
    senders: Vec<f64>,
    away: Vec<u32>,
    /// By switch: turns that are not free, use.
    cost: Vec<(u32, f64)>,
    next: Vec<Option<LinkId>>,
    /// Switches, nearest first.
    order: Vec<SwitchId>,
    prefer: Prefer<'a>,
}

impl<'a> Search<'a> {
    fn new(fabric: &'a Fabric, prefer: Prefer<'a>) -> Self {
        let n = fabric.switch_count();
        Self {
            fabric,
            hops: all_hops(fabric),
            used: vec![0.0; fabric.link_count()],
            senders: fabric.switches().map(|s| hosts_by_port(fabric, s).len() as f64).collect(),
            away: vec![FAR; n],
            cost: vec![(0, 0.0); n],
            next: vec![None; n],
            order: Vec::with_capacity(n),
            prefer,
        }
    }

    /// Finds the ways and tells every switch's link.
    fn towards(&mut self, target: SwitchId, mut found: impl FnMut(SwitchId, LinkId)) {
        self.away.fill(FAR);
        self.next.fill(None);
        self.order.clear();
        self.order.push(target);
        (self.away[target.index()], self.cost[target.index()]) = (0, (0, 0.0));
        let mut at = 0;
        while let Some(&s) = self.order.get(at) {
            at += 1;
            for hop in self.hops.of(s) {
                if self.away[hop.to.index()] == FAR {
                    self.away[hop.to.index()] = self.away[s.index()] + 1;
                    self.order.push(hop.to);
                }
            }
        }
        for &s in &self.order[1..] {
            let mut best = ((u32::MAX, f64::INFINITY), None);
            for hop in self.hops.of(s) {
                let there = hop.to.index();
                if self.away[there] != FAR && self.away[there] + 1 == self.away[s.index()] {
                    let cost = self.cost_by(hop.link, there);
                    if cost < best.0 {
                        best = (cost, Some(hop.link));
                    }
                }
            }
            self.cost[s.index()] = best.0;
            self.next[s.index()] = best.1;
            if let Some(link) = best.1 {
                found(s, link);
            }
        }
    }

    /// What the way over a link to a switch whose own way is known costs.
    fn cost_by(&self, link: LinkId, there: usize) -> (u32, f64) {
        let (turns, used) = self.cost[there];
        match self.prefer {
            Prefer::Unused => (0, used + self.used[link.index()]),
            Prefer::Turns(free) => {
                let costly = self.next[there].is_some_and(|next| !free.0.contains(&(link, next)));
                (turns + u32::from(costly), used + self.used[link.index()])
            }
            Prefer::First => (0, 0.0),
        }
    }

    /// Counts the senders along the ways found last.
    fn count(&mut self) {
        let mut passing: Vec<f64> = self.senders.clone();
        for &s in self.order[1..].iter().rev() {
            if let Some(link) = self.next[s.index()] {
                self.used[link.index()] += passing[s.index()] / self.fabric.relative_capacity(link);
                let to = self.fabric.link_to_switch(link).expect("ways lead from switch to switch");
                passing[to.index()] += passing[s.index()];
            }
        }
    }
}
