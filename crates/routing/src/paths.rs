//! Admissible routes: minimal up*/down*, as links per (switch, destination leaf).
//!
//! Up is towards the higher rank, and every cable has an upper end: ranks are a total order wherever a cable joins two
//! switches (levels, then GUIDs; see `netloom_topology`'s `order.rs`). Tables go by destination, so a switch either goes
//! down towards a leaf or up, for all that pass it. Which of them is found hop by hop from the leaf, much as
//! OpenSM's `updn` does:
//!
//! - A switch one hop farther than what is settled goes *down* if a switch below it is settled and goes down (or is the
//!   leaf). Else it goes *up* if any switch above it is settled. Down is preferred where both take as many hops.
//! - A switch that goes up closes the way down through it. Where this leaves a switch without a way, every switch of this
//!   leaf that has a way down goes down instead, however long it is, and the others go up to the nearest.
//!
//! The admissible next links are all those of the direction that lead to a settled switch one hop nearer. Where every
//! link joins ranks next to each other, as in a whole tree, both rules are one. Parallel cables are separate links; only
//! alive links count.
//!
//! Invariants: a group holds links of one switch, by port; equal groups are stored once; the numbering
//! does not depend on the number of threads. Following any of them never loops, and never turns up after
//! it went down: destination-based tables made of admissible links are free of deadlocks.
//!
//! Speed: switches with equal neighbours are twins. The links towards one are those towards the other, but at these
//! neighbours and at the two themselves: one search serves the leaves of a pod, and the cores of a group.
//!
//! Source: the path model of Taffet, dissertation, sec. 3.3 (minimal routes in a fat tree), stated for
//! any fabric with levels.

use std::collections::HashMap;

use netloom_model::{Fabric, LinkId, SwitchId, Ways};
use netloom_topology::{Groups, Shape, Structure};
use rayon::prelude::*;

use crate::by_groups::{self, Order, Told};
use crate::updown::{Hop, HopLists, UpDown, all_hops};

/// Hops of an unreachable leaf.
const FAR: u8 = u8::MAX;

/// Leaves per unit of parallel work; fixed, so that groups are numbered alike by any number of threads.
const LEAVES_PER_CHUNK: usize = 32;

/// The admissible next links of every switch towards every leaf (a switch with hosts).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathSet {
    switches: usize,
    leaves: Vec<SwitchId>,
    /// Position in `leaves` per switch, `u32::MAX` if it has no hosts.
    rank: Vec<u32>,
    /// `[leaf rank][switch]` -> group.
    group: Vec<u32>,
    /// `[leaf rank][switch]` -> hops, [`FAR`] if there is no path.
    hops: Vec<u8>,
    /// `links[first[g]..first[g + 1]]` is group `g`; group 0 is empty.
    first: Vec<u32>,
    links: Vec<LinkId>,
    longest: u8,
    ways: Ways,
}

impl PathSet {
    /// The minimal routes that suit the shape of `fabric`: up*/down* on trees, and by guessed levels on anything else.
    /// Time and memory grow with switches x leaves: 5 bytes a pair.
    pub fn minimal(fabric: &Fabric, structure: &Structure) -> PathSet {
        match structure.shape {
            Shape::Tree | Shape::Dragonfly(_) | Shape::Megafly(_) | Shape::Lattice(_) | Shape::Graph => {
                Self::admissible(fabric, structure)
            }
        }
    }

    /// All minimal up*/down* routes of `fabric`. Time and memory grow with switches x leaves: 5 bytes a
    /// pair.
    pub fn admissible(fabric: &Fabric, structure: &Structure) -> PathSet {
        Self::from_ranks(fabric, &structure.rank)
    }

    /// The same from the ranks alone (one a switch, 65,535 = cut off).
    pub(crate) fn from_ranks(fabric: &Fabric, rank: &[u16]) -> PathSet {
        let updown = UpDown::new(fabric, rank);
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        Self::towards(fabric, Rule::UpDown(&updown), leaves)
    }

    /// All routes with the fewest links between switches, whatever their direction, towards every switch with hosts. Tables
    /// made of them can need lanes.
    pub fn shortest(fabric: &Fabric) -> PathSet {
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        Self::towards(fabric, Rule::Shortest(&all_hops(fabric)), leaves)
    }

    /// Minimal routes of a dragonfly towards every switch: of the ways with the fewest cables between groups, one where
    /// a cable joins the two, the shortest that go round missing cables in an order. They are longer where no such way is left.
    pub fn by_groups(fabric: &Fabric, groups: &Groups) -> PathSet {
        let order = Order::new(fabric, groups, Told::ByPacket);
        Self::to_switches(fabric, Rule::Groups(&all_hops(fabric), &order))
    }

    /// The same for tables, which know a packet's ports and not how far it is. They differ where groups are grids.
    pub fn by_groups_for_tables(fabric: &Fabric, groups: &Groups) -> PathSet {
        let order = Order::new(fabric, groups, Told::ByPorts);
        Self::to_switches(fabric, Rule::Groups(&all_hops(fabric), &order))
    }

    /// Admissible routes towards every switch, with hosts or without.
    pub(crate) fn to_switches(fabric: &Fabric, rule: Rule) -> PathSet {
        Self::towards(fabric, rule, fabric.switches().collect())
    }

    /// Minimal up*/down* routes towards the given switches, with hosts or without, in rising order.
    pub fn towards_switches(fabric: &Fabric, structure: &Structure, targets: Vec<SwitchId>) -> PathSet {
        Self::towards(fabric, Rule::UpDown(&UpDown::new(fabric, &structure.rank)), targets)
    }

    /// Routes towards the given switches, in rising order.
    fn towards(fabric: &Fabric, rule: Rule, leaves: Vec<SwitchId>) -> PathSet {
        let switches = fabric.switch_count();
        let mut rank = vec![u32::MAX; switches];
        for (i, leaf) in leaves.iter().enumerate() {
            rank[leaf.index()] = i as u32;
        }
        let mut group = vec![0u32; leaves.len() * switches];
        let mut hops = vec![FAR; leaves.len() * switches];
        let chunk = LEAVES_PER_CHUNK * switches;
        let locals: Vec<Interner> = (leaves.par_chunks(LEAVES_PER_CHUNK))
            .zip(group.par_chunks_mut(chunk))
            .zip(hops.par_chunks_mut(chunk))
            .map(|((leaves, group), hops)| {
                let mut interner = Interner::new(switches);
                let mut search = Search::new(rule, switches);
                // The last leaf that was searched for, and where its rows are.
                let mut searched: Option<(SwitchId, usize)> = None;
                for (i, &leaf) in leaves.iter().enumerate() {
                    let (group_before, group) = group[..(i + 1) * switches].split_at_mut(i * switches);
                    let (hops_before, hops) = hops[..(i + 1) * switches].split_at_mut(i * switches);
                    match (rule, searched) {
                        (Rule::UpDown(updown), Some((twin, at))) if updown.twins(twin, leaf) => {
                            group.copy_from_slice(&group_before[at * switches..(at + 1) * switches]);
                            hops.copy_from_slice(&hops_before[at * switches..(at + 1) * switches]);
                            hops.swap(twin.index(), leaf.index());
                            let found = |s: SwitchId, links: &[LinkId]| {
                                group[s.index()] = interner.intern(s, links);
                            };
                            search.turn_to_twin(updown, twin, leaf, found);
                            group[leaf.index()] = 0;
                        }
                        _ => {
                            search.run(leaf, hops, |s, links| group[s.index()] = interner.intern(s, links));
                            searched = Some((leaf, i));
                        }
                    }
                }
                interner
            })
            .collect();
        // Number the chunks' groups once, in order of the chunks.
        let mut all = Interner::new(switches);
        let renumber: Vec<Vec<u32>> = locals
            .iter()
            .map(|local| {
                let mut map = vec![0];
                for g in 1..local.first.len() - 1 {
                    let links = local.get(g as u32);
                    let owner = fabric.link_from_switch(links[0]).expect("a group belongs to a switch");
                    map.push(all.intern(owner, links));
                }
                map
            })
            .collect();
        group.par_chunks_mut(chunk).zip(renumber.par_iter()).for_each(|(group, map)| {
            for g in group {
                *g = map[*g as usize];
            }
        });
        let longest = hops.par_iter().copied().filter(|&h| h != FAR).max().unwrap_or(0);
        let ways = if matches!(rule, Rule::UpDown(_)) { Ways::UpDown } else { Ways::Shortest };
        Self { switches, leaves, rank, group, hops, first: all.first, links: all.links, longest, ways }
    }

    /// The admissible next links of `s` towards the hosts of `leaf`, by port; empty if there is no path,
    /// if `s` is the leaf itself, or if `leaf` has no hosts.
    #[inline]
    pub fn links(&self, s: SwitchId, leaf: SwitchId) -> &[LinkId] {
        match self.slot(s, leaf) {
            Some(slot) => self.group_links(self.group[slot]),
            None => &[],
        }
    }

    /// Hops between switches from `s` to `leaf` (0 at the leaf itself), or `None` if there is no path.
    #[inline]
    pub fn hops(&self, s: SwitchId, leaf: SwitchId) -> Option<u8> {
        self.slot(s, leaf).map(|slot| self.hops[slot]).filter(|&h| h != FAR)
    }

    /// What bounds of these routes are bounds of. Those by groups, of which there are none, count as shortest.
    pub fn ways(&self) -> Ways {
        self.ways
    }

    /// Most hops between switches of any route: no route is longer.
    pub fn longest(&self) -> u8 {
        self.longest
    }

    /// Number of the group of `s` towards `leaf`; equal numbers mean equal links, 0 means none.
    #[inline]
    pub fn group(&self, s: SwitchId, leaf: SwitchId) -> u32 {
        self.slot(s, leaf).map_or(0, |slot| self.group[slot])
    }

    /// The links of a group.
    #[inline]
    pub fn group_links(&self, group: u32) -> &[LinkId] {
        &self.links[self.first[group as usize] as usize..self.first[group as usize + 1] as usize]
    }

    /// Number of different groups, the empty one included.
    pub fn group_count(&self) -> usize {
        self.first.len() - 1
    }

    /// The switches with hosts, in order.
    pub fn leaves(&self) -> &[SwitchId] {
        &self.leaves
    }

    /// Position of a leaf in [`leaves`](Self::leaves), or `None` for a switch without hosts.
    #[inline]
    pub fn leaf_rank(&self, leaf: SwitchId) -> Option<usize> {
        match self.rank[leaf.index()] {
            u32::MAX => None,
            rank => Some(rank as usize),
        }
    }

    #[inline]
    fn slot(&self, s: SwitchId, leaf: SwitchId) -> Option<usize> {
        self.leaf_rank(leaf).map(|rank| rank * self.switches + s.index())
    }

    /// The same routes for tables, of which a row is written at a time.
    ///
    /// # Panics
    /// If they do not lead to every switch.
    pub(crate) fn by_switch(self) -> BySwitch {
        let Self { switches, leaves, mut group, first, links, .. } = self;
        assert_eq!(leaves.len(), switches, "paths to every switch");
        transpose(&mut group, switches);
        BySwitch { switches, group, first, links }
    }
}

/// The admissible next links towards every switch, laid out so that those of one switch stand together.
pub(crate) struct BySwitch {
    switches: usize,
    /// `[switch][target]` -> group.
    group: Vec<u32>,
    first: Vec<u32>,
    links: Vec<LinkId>,
}

impl BySwitch {
    /// As [`PathSet::links`].
    #[inline]
    pub fn links(&self, s: SwitchId, target: SwitchId) -> &[LinkId] {
        self.group_links(self.group(s, target))
    }

    /// As [`PathSet::group`].
    #[inline]
    pub fn group(&self, s: SwitchId, target: SwitchId) -> u32 {
        self.group[s.index() * self.switches + target.index()]
    }

    /// As [`PathSet::group_links`].
    #[inline]
    pub fn group_links(&self, group: u32) -> &[LinkId] {
        &self.links[self.first[group as usize] as usize..self.first[group as usize + 1] as usize]
    }
}

/// Swaps rows and columns of a square of side `n`, a tile at a time.
fn transpose(square: &mut [u32], n: usize) {
    const TILE: usize = 16;
    for top in (0..n).step_by(TILE) {
        for left in (top..n).step_by(TILE) {
            for i in top..(top + TILE).min(n) {
                for j in left.max(i + 1)..(left + TILE).min(n) {
                    square.swap(i * n + j, j * n + i);
                }
            }
        }
    }
}

/// Stores each group of links once.
struct Interner {
    first: Vec<u32>,
    links: Vec<LinkId>,
    /// The group that each switch used last: nearly always the one it uses next.
    last: Vec<u32>,
    known: HashMap<Vec<LinkId>, u32>,
}

impl Interner {
    fn new(switches: usize) -> Self {
        Self { first: vec![0, 0], links: Vec::new(), last: vec![0; switches], known: HashMap::new() }
    }

    fn get(&self, group: u32) -> &[LinkId] {
        &self.links[self.first[group as usize] as usize..self.first[group as usize + 1] as usize]
    }

    fn intern(&mut self, owner: SwitchId, links: &[LinkId]) -> u32 {
        let last = self.last[owner.index()];
        if self.get(last) == links {
            return last;
        }
        let group = match self.known.get(links) {
            Some(&group) => group,
            None => {
                let group = self.first.len() as u32 - 1;
                self.links.extend_from_slice(links);
                self.first.push(self.links.len() as u32);
                self.known.insert(links.to_vec(), group);
                group
            }
        };
        self.last[owner.index()] = group;
        group
    }
}

/// Which routes are searched for.
#[derive(Clone, Copy)]
pub(crate) enum Rule<'a> {
    /// Minimal up*/down*, as the module defines it.
    UpDown(&'a UpDown),
    /// Shortest, whatever the direction.
    Shortest(&'a HopLists),
    /// By groups of a dragonfly.
    Groups(&'a HopLists, &'a Order<'a>),
}

/// The search for admissible links towards one switch; holds its scratch space.
struct Search<'a> {
    rule: Rule<'a>,
    queue: Vec<SwitchId>,
    /// Which switches go down, or, of other rules, are known.
    below: Vec<bool>,
    chosen: Vec<LinkId>,
    by_groups: Option<by_groups::Search<'a>>,
}

impl<'a> Search<'a> {
    fn new(rule: Rule<'a>, switches: usize) -> Self {
        let by_groups = match rule {
            Rule::Groups(hops, order) => Some(by_groups::Search::new(hops, order, switches)),
            Rule::UpDown(_) | Rule::Shortest(_) => None,
        };
        Self { rule, queue: Vec::new(), below: vec![false; switches], chosen: Vec::new(), by_groups }
    }

    /// Fills `hops` (given full of [`FAR`]) and calls `found` once for every switch with a path to
    /// `target`, other than itself, with its admissible links by port.
    fn run(&mut self, target: SwitchId, hops: &mut [u8], mut found: impl FnMut(SwitchId, &[LinkId])) {
        match self.rule {
            Rule::UpDown(updown) => {
                if !updown.layered && self.hop_by_hop(updown, target, hops, &mut found) {
                    return;
                }
                self.breadth_first(target, (&updown.up, &updown.down), hops, &mut found);
                self.climb(updown, hops, &mut found);
            }
            Rule::Shortest(all) => self.breadth_first(target, (all, all), hops, &mut found),
            Rule::Groups(..) => {
                let search = self.by_groups.as_mut().expect("made for this rule");
                search.run(target, hops, found);
            }
        }
    }

    /// Calls `found` for the switches whose links towards `leaf` differ from those towards its twin
    /// (other than `leaf` itself, which has none): their common neighbours, and the twin.
    fn turn_to_twin(
        &mut self,
        updown: &UpDown,
        twin: SwitchId,
        leaf: SwitchId,
        mut found: impl FnMut(SwitchId, &[LinkId]),
    ) {
        for (there, back) in [(&updown.up, &updown.down), (&updown.down, &updown.up)] {
            for hop in there.of(leaf) {
                self.chosen.clear();
                self.chosen.extend(back.of(hop.to).iter().filter(|h| h.to == leaf).map(|h| h.link));
                found(hop.to, &self.chosen);
            }
        }
        self.chosen.clear();
        self.chosen.extend(updown.up.of(twin).iter().map(|hop| hop.link));
        if !self.chosen.is_empty() {
            found(twin, &self.chosen);
        }
    }

    /// Settles switches hop by hop. `false`, with `hops` as it was, if a switch with a way is left without one.
    fn hop_by_hop(
        &mut self,
        updown: &UpDown,
        target: SwitchId,
        hops: &mut [u8],
        found: &mut impl FnMut(SwitchId, &[LinkId]),
    ) -> bool {
        self.queue.clear();
        self.queue.push(target);
        self.below.fill(false);
        self.below[target.index()] = true;
        hops[target.index()] = 0;
        let (mut from, mut farther) = (0, 1);
        while from < self.queue.len() && farther < FAR {
            let layer = from..self.queue.len();
            from = layer.end;
            for down in [true, false] {
                for i in layer.clone() {
                    let s = self.queue[i];
                    let backward = match down {
                        true if !self.below[s.index()] => continue,
                        true => updown.up.of(s),
                        false => updown.down.of(s),
                    };
                    for hop in backward {
                        if hops[hop.to.index()] == FAR {
                            (hops[hop.to.index()], self.below[hop.to.index()]) = (farther, down);
                            self.queue.push(hop.to);
                        }
                    }
                }
            }
            farther += 1;
        }
        if self.leaves_some_out(updown, target, hops) {
            self.queue.iter().for_each(|s| hops[s.index()] = FAR);
            return false;
        }
        for &s in &self.queue[1..] {
            let (wanted, down) = (hops[s.index()] - 1, self.below[s.index()]);
            let forward = if down { updown.down.of(s) } else { updown.up.of(s) };
            let nearer = |hop: &&Hop| hops[hop.to.index()] == wanted && (!down || self.below[hop.to.index()]);
            self.chosen.clear();
            self.chosen.extend(forward.iter().filter(nearer).map(|hop| hop.link));
            found(s, &self.chosen);
        }
        true
    }

    /// Whether a switch is not settled that has a way: what is settled and all that climbs to it has one, so only a
    /// switch with a way down can be left out, or one below it.
    fn leaves_some_out(&self, updown: &UpDown, target: SwitchId, hops: &[u8]) -> bool {
        let mut seen = vec![false; self.below.len()];
        seen[target.index()] = true;
        let mut above = vec![target];
        while let Some(s) = above.pop() {
            for hop in
                updown.up.of(s).iter().filter(|hop| !std::mem::replace(&mut seen[hop.to.index()], true))
            {
                if hops[hop.to.index()] == FAR {
                    return true;
                }
                above.push(hop.to);
            }
        }
        false
    }

    /// Marks what can reach `target` over `forward` links, found against them over `backward` links.
    fn breadth_first(
        &mut self,
        target: SwitchId,
        (backward, forward): (&HopLists, &HopLists),
        hops: &mut [u8],
        found: &mut impl FnMut(SwitchId, &[LinkId]),
    ) {
        self.queue.clear();
        self.queue.push(target);
        self.below.fill(false);
        self.below[target.index()] = true;
        hops[target.index()] = 0;
        let mut next = 0;
        while let Some(&s) = self.queue.get(next) {
            next += 1;
            // Fabrics of 255 and more hops across do not exist; what is farther counts as unreachable.
            let above = hops[s.index()].saturating_add(1);
            for hop in backward.of(s) {
                if !self.below[hop.to.index()] && above < FAR {
                    self.below[hop.to.index()] = true;
                    hops[hop.to.index()] = above;
                    self.queue.push(hop.to);
                }
            }
        }
        for &s in &self.queue[1..] {
            let wanted = hops[s.index()] - 1;
            let nearer = |hop: &&Hop| hops[hop.to.index()] == wanted && self.below[hop.to.index()];
            self.chosen.clear();
            self.chosen.extend(forward.of(s).iter().filter(nearer).map(|hop| hop.link));
            found(s, &self.chosen);
        }
    }

    /// `U` of what cannot reach the target going down, from the top, so that what lies above is known.
    fn climb(&mut self, updown: &UpDown, hops: &mut [u8], found: &mut impl FnMut(SwitchId, &[LinkId])) {
        for &s in &updown.from_top {
            if self.below[s.index()] {
                continue;
            }
            let mut best = FAR - 1;
            self.chosen.clear();
            for hop in updown.up.of(s) {
                let there = hops[hop.to.index()];
                if there < best {
                    best = there;
                    self.chosen.clear();
                }
                if there == best && best < FAR - 1 {
                    self.chosen.push(hop.link);
                }
            }
            if best < FAR - 1 {
                hops[s.index()] = best + 1;
                found(s, &self.chosen);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::SwitchId;
    use netloom_testkit::cases::wired;

    use super::{PathSet, transpose};

    #[test]
    fn rows_become_columns() {
        for n in [1, 15, 16, 35] {
            let mut square: Vec<u32> = (0..n * n).collect();
            transpose(&mut square, n as usize);
            assert!((0..n * n).all(|at| square[at as usize] == at % n * n + at / n), "side {n}");
        }
    }

    /// `s` has three hops down to `d`, and two by way of `x` above it.
    #[test]
    fn a_shorter_way_up_is_taken_unless_it_cuts_a_switch_off() {
        let [d, b, a, s, t, x] = [0, 1, 2, 3, 4, 5];
        let rank = [0, 1, 2, 3, 5, 4];
        let cables = [(b, d, 1), (a, b, 1), (s, a, 1), (x, d, 1), (s, x, 1)];
        let switches = [("0d", 1), ("1b", 1), ("2a", 1), ("3s", 1), ("4t", 1), ("5x", 1)];
        let paths = |more: &[(usize, usize, usize)]| {
            let fabric = wired(&switches, &[&cables, more].concat());
            let paths = PathSet::from_ranks(&fabric, &rank);
            let id = SwitchId::from_index;
            let next = |from| fabric.link_to_switch(paths.links(id(from), id(d))[0]).unwrap().index();
            (next(s), paths.hops(id(s), id(d)), paths.hops(id(t), id(d)))
        };
        // `t` also reaches `d` by `x`.
        assert_eq!(paths(&[(s, t, 1), (t, x, 1)]), (x, Some(2), Some(2)));
        // It does not: all go down where they can, and `t` over four cables.
        assert_eq!(paths(&[(s, t, 1)]), (a, Some(3), Some(4)));
    }
}
