//! The search for ways of a dragonfly towards one switch: as few cables between groups as can be, then as few cables.
//!
//! A whole one has ways of one cable between groups: local, global, local. Where the local cable is missing two others
//! take its place; where no cable joins two groups, a third group is between. Rounds go by cables between groups: in
//! round 0 the destination's group is settled, in round 1 what has a working cable into it, and so on. Within a round
//! switches are settled hop by hop. A switch goes
//!
//! * straight to another group, if its own cable is as near as any;
//! * else to neighbours of its group that are one hop nearer, not down to one that climbs ([`Order`]).
//!
//! In a group where this leaves some without a way, first whoever has a way down takes that, however long it is, then the others climb. In a grid
//! some may be left even so; these take any way.
//!
//! Invariant: every next link leads to fewer cables between groups, or to as many and one hop fewer. So no choice among
//! them makes a loop. Every switch that working cables join to the target has a way.

use netloom_model::{LinkId, SwitchId};

use super::order::Order;
use crate::updown::{Hop, HopLists};

/// Hops, and cables between groups, of a switch that has no way yet.
const FAR: u8 = u8::MAX;

/// The search, with its scratch space.
pub(crate) struct Search<'a> {
    hops: &'a HopLists,
    order: &'a Order<'a>,
    /// By switch: cables between groups on its way.
    crossed: Vec<u8>,
    /// Of its next links within the group, kinds and directions ([`turn`]); 0: none, or it is the target.
    turns: Vec<u8>,
    /// By hops: who may be so far from the target.
    buckets: Vec<Vec<SwitchId>>,
    /// Who was settled in this round and the one before.
    settled: Vec<SwitchId>,
    before: Vec<SwitchId>,
    chosen: Vec<LinkId>,
}

/// What may be settled in a part of a round.
#[derive(Clone, Copy)]
struct Part {
    /// Cables between groups.
    crossed: u8,
    /// The target's group.
    to: u32,
    /// How good a third group must be, at most ([`Order::third`]).
    third: u32,
    /// Which local cables are taken.
    pass: Pass,
}

#[derive(Clone, Copy, PartialEq)]
enum Pass {
    /// What is as short as can be in this order.
    Short,
    /// In a grid: the same, whatever the first of two cables of one line says.
    Loose,
    /// Only ways down.
    Down,
    /// Those that go up, too.
    Climb,
    /// Any.
    Any,
}

/// The bit of a cable of a kind that goes down; that of one that goes up is the next.
fn turn(kind: usize, down: bool) -> u8 {
    1 << (2 * kind + usize::from(!down))
}

impl<'a> Search<'a> {
    pub fn new(hops: &'a HopLists, order: &'a Order<'a>, switches: usize) -> Self {
        Self {
            hops,
            order,
            crossed: vec![FAR; switches],
            turns: vec![0; switches],
            buckets: Vec::new(),
            settled: Vec::new(),
            before: Vec::new(),
            chosen: Vec::new(),
        }
    }

    /// Fills `hops` (given full of 255) and calls `found` once for every switch with a way to `target`, other than
    /// itself, with its next links by port.
    pub fn run(&mut self, target: SwitchId, hops: &mut [u8], mut found: impl FnMut(SwitchId, &[LinkId])) {
        let to = self.order.groups.group(target);
        self.crossed.fill(FAR);
        self.before.clear();
        self.settled.clear();
        (hops[target.index()], self.crossed[target.index()]) = (0, 0);
        self.turns[target.index()] = 0;
        self.settled.push(target);
        let mut part = Part { crossed: 0, to, third: 0, pass: Pass::Short };
        self.settle_part(part, 0, hops, &mut found);
        while !self.settled.is_empty() && part.crossed < FAR - 1 {
            std::mem::swap(&mut self.settled, &mut self.before);
            self.settled.clear();
            part.crossed += 1;
            // A way of one cable between groups has no third one.
            for third in if part.crossed == 1 { 2..=2 } else { 0..=2 } {
                part.third = third;
                self.settle_part(part, self.settled.len(), hops, &mut found);
            }
        }
    }

    /// Settles whoever has a way of this part, in all groups; `from`: what of `settled` belongs to it.
    fn settle_part(
        &mut self,
        part: Part,
        from: usize,
        hops: &mut [u8],
        found: &mut impl FnMut(SwitchId, &[LinkId]),
    ) {
        self.settle(part, from, hops, found);
        let grids = self.order.groups.grid.is_some();
        if grids && !self.order.is_told_by_packet() {
            self.settle(Part { pass: Pass::Loose, ..part }, from, hops, found);
        }
        // Groups of which some are left out begin again.
        let (groups, lists) = (self.order.groups, self.hops);
        let open = |s: SwitchId, crossed: &[u8]| {
            let mut near = lists.of(s).iter().map(|hop| hop.to);
            near.any(|t| crossed[t.index()] == FAR && groups.group(t) == groups.group(s))
        };
        let mut left: Vec<u32> = Vec::new();
        for &s in &self.settled[from..] {
            if open(s, &self.crossed) && !left.contains(&groups.group(s)) {
                left.push(groups.group(s));
            }
        }
        if left.is_empty() {
            return;
        }
        let crossed = &mut self.crossed;
        let mut kept = self.settled.split_off(from);
        kept.retain(|&s| {
            let keeps = hops[s.index()] == 0 || !left.contains(&groups.group(s));
            if !keeps {
                (hops[s.index()], crossed[s.index()]) = (FAR, FAR);
            }
            keeps
        });
        self.settled.append(&mut kept);
        for pass in [Pass::Down, Pass::Climb] {
            self.settle(Part { pass, ..part }, from, hops, found);
        }
        if grids && self.settled[from..].iter().any(|&s| open(s, &self.crossed)) {
            self.settle(Part { pass: Pass::Any, ..part }, from, hops, found);
        }
    }

    /// Settles switches hop by hop, from cables into what was settled in the round before and from what is settled.
    fn settle(
        &mut self,
        part: Part,
        from: usize,
        hops: &mut [u8],
        found: &mut impl FnMut(SwitchId, &[LinkId]),
    ) {
        let groups = self.order.groups;
        for &s in if part.crossed == 0 { &[] } else { &self.before[..] } {
            for hop in self.hops.of(s) {
                if self.crossed[hop.to.index()] == FAR && groups.group(hop.to) != groups.group(s) {
                    put(&mut self.buckets, hops[s.index()], hop.to);
                }
            }
        }
        for i in from..self.settled.len() {
            self.put_neighbours(self.settled[i], hops);
        }
        let mut at = 0;
        while at < self.buckets.len() {
            while let Some(s) = self.buckets[at].pop() {
                if self.crossed[s.index()] == FAR && self.choose(s, at as u8, part, hops) {
                    (hops[s.index()], self.crossed[s.index()]) = (at as u8, part.crossed);
                    self.settled.push(s);
                    found(s, &self.chosen);
                    self.put_neighbours(s, hops);
                }
            }
            at += 1;
        }
    }

    /// Whoever is one cable of the group away may be one hop farther.
    fn put_neighbours(&mut self, s: SwitchId, hops: &[u8]) {
        for hop in self.hops.of(s) {
            if self.crossed[hop.to.index()] == FAR
                && self.order.groups.group(hop.to) == self.order.groups.group(s)
            {
                put(&mut self.buckets, hops[s.index()], hop.to);
            }
        }
    }

    /// The next links of a switch that is `hops_of` away from the target, into `chosen`; `false` if there are none.
    fn choose(&mut self, s: SwitchId, hops_of: u8, part: Part, hops: &[u8]) -> bool {
        let order = self.order;
        let group = order.groups.group(s);
        let nearer = |hop: &&Hop| hops[hop.to.index()] == hops_of - 1;
        let leads_out = |hop: &Hop| {
            let there = order.groups.group(hop.to);
            there != group
                && self.crossed[hop.to.index()].wrapping_add(1) == part.crossed
                && (there == part.to || order.third(there, part.to) <= part.third)
        };
        let stays =
            |hop: &Hop| order.groups.group(hop.to) == group && self.crossed[hop.to.index()] == part.crossed;
        let home = part.crossed == 0;
        let grid = order.groups.grid.is_some() && !order.is_told_by_packet();
        let turns_well = |hop: &Hop| {
            let kind = order.kind(s, hop.to);
            let down = order.below(kind, hop.to, s);
            let after = self.turns[hop.to.index()];
            let (same, climbs) = (turn(kind, true) | turn(kind, false), after & turn(kind, false) != 0);
            if part.pass == Pass::Any {
                return true;
            }
            if after & !same != 0 && !order.begins(kind, home) {
                return false;
            }
            match part.pass {
                Pass::Short if grid && after & same != 0 && !order.fits(hop.link, home) => false,
                Pass::Down => down && !climbs,
                _ => !down || !climbs,
            }
        };
        let near = self.hops.of(s).iter().filter(nearer);
        let mut inside: Vec<Hop> =
            near.clone().filter(|hop| stays(hop) && turns_well(hop)).copied().collect();
        // Of two local cables, the first says by its link what they are for.
        let second = |hop: &Hop| self.turns[hop.to.index()] != 0;
        let fits = |hop: &Hop| !second(hop) || order.fits(hop.link, home);
        if order.groups.grid.is_none() && inside.iter().any(fits) {
            inside.retain(fits);
        }
        self.chosen.clear();
        let taken = near.filter(|hop| leads_out(hop) || inside.contains(hop));
        self.chosen.extend(taken.map(|hop| hop.link));
        let turns = inside.iter().map(|hop| {
            let kind = order.kind(s, hop.to);
            turn(kind, order.below(kind, hop.to, s))
        });
        self.turns[s.index()] = turns.fold(0, |all, one| all | one);
        !self.chosen.is_empty()
    }
}

/// Notes that `s` may be one hop farther than what is `hops` away.
fn put(buckets: &mut Vec<Vec<SwitchId>>, hops: u8, s: SwitchId) {
    // Fabrics of 255 and more hops across do not exist; what is farther counts as unreachable.
    let at = usize::from(hops) + 1;
    if at >= usize::from(FAR) {
        return;
    }
    if buckets.len() <= at {
        buckets.resize_with(at + 1, Vec::new);
    }
    buckets[at].push(s);
}
