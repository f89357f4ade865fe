//! Places where whole items must squeeze through few links: a set of links, and the items that cannot avoid it.
//!
//! - A leaf's links up (down): everything that its hosts send (receive) crosses one of them.
//! - A pod's links up (down): likewise, at every level; and, where cables are missing, for every top switch of the pod
//!   the fewer of its links up and its links down inside the pod, since all that leaves by it crosses both.
//! - Some of a leaf's links, where a damaged fabric leaves some items no others: a spine that lost its way to a
//!   destination serves it no more (Hall's condition).
//!
//! An item may cross such a set more than once; it is packed where it crosses first. Flows to one destination that meet
//! stay together, which only narrows the choice: packing them apart keeps every bound valid.
//! Source: Taffet, dissertation, sec. 6.1.1 (cutting planes at leaves and spines).

use std::collections::BTreeMap;

use netloom_model::{Fabric, Item, LinkId, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::bins::Bins;
use crate::cuts;
use crate::demand::Demand;

/// Different sets of links at one leaf that are looked at.
const MOST_SETS: usize = 64;

/// A set of links.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// For people: `leaf12 up`.
    pub name: String,
    pub links: Vec<LinkId>,
    /// Bytes of its items, and the largest of them (or more).
    pub total: f64,
    pub largest: f64,
    pub items: Crossing,
}

/// Which items cannot avoid a place's links.
#[derive(Clone, Debug)]
pub(crate) enum Crossing {
    /// All of a leaf (by position in [`Demand::leaves`]), sent or received.
    Leaf { leaf: usize, up: bool },
    /// Those of a leaf that are as good as at home with the leaves flagged here: these are their other ends.
    Some { leaf: usize, up: bool, others: Vec<bool> },
    /// All that leave (enter) a piece: one flag a leaf.
    Piece { inside: Vec<bool>, up: bool },
}

/// Traffic, by sender and by receiver.
pub(crate) struct Places<'a> {
    fabric: &'a Fabric,
    structure: &'a Structure,
    paths: &'a PathSet,
    demand: &'a Demand,
    /// Position of every switch in [`Demand::leaves`].
    position: Vec<usize>,
    /// Per leaf, what comes for its hosts from other leaves.
    arriving: Vec<Vec<(f64, Item)>>,
}

impl<'a> Places<'a> {
    pub fn new(fabric: &'a Fabric, structure: &'a Structure, paths: &'a PathSet, demand: &'a Demand) -> Self {
        let mut position = vec![0; fabric.switch_count()];
        for (i, leaf) in demand.leaves.iter().enumerate() {
            position[leaf.index()] = i;
        }
        let mut arriving = vec![Vec::new(); demand.leaves.len()];
        for (&leaf, parcels) in demand.leaves.iter().zip(&demand.items) {
            for p in parcels.iter().filter(|p| paths.hops(leaf, fabric.leaf(p.destination)).is_some()) {
                let item = Item { leaf, destination: p.destination };
                arriving[position[fabric.leaf(p.destination).index()]].push((p.bytes, item));
            }
        }
        Self { fabric, structure, paths, demand, position, arriving }
    }

    /// All places, in a fixed order.
    pub fn all(&self) -> Vec<Place> {
        let mut places = self.leaves();
        if !self.structure.regular {
            for leaf in 0..self.demand.leaves.len() {
                self.parts_of_leaf(leaf, &mut places);
            }
        }
        self.pieces(&mut places);
        places
    }

    /// Every leaf's links, up and down.
    pub fn leaves(&self) -> Vec<Place> {
        let mut places = Vec::new();
        for leaf in 0..self.demand.leaves.len() {
            for up in [true, false] {
                let links = self.links_of(self.demand.leaves[leaf], up);
                let (mut total, mut largest) = (0.0, 0.0f64);
                self.each_of_leaf(leaf, up, |bytes, _| {
                    total += bytes;
                    largest = largest.max(bytes);
                });
                if total > 0.0 && !links.is_empty() {
                    let name = self.name(self.demand.leaves[leaf], up);
                    let items = Crossing::Leaf { leaf, up };
                    places.push(Place { name, links, total, largest, items });
                }
            }
        }
        places
    }

    /// Pods' links, level by level, up and down.
    pub fn pieces(&self, places: &mut Vec<Place>) {
        let top = self.structure.ranks().saturating_sub(1);
        for level in 1..top {
            self.pieces_at(level, places);
        }
    }

    /// The links as bins, each with what lies on it.
    pub fn bins(&self, place: &Place) -> Bins {
        Bins {
            capacity: place.links.iter().map(|&l| self.fabric.relative_capacity(l)).collect(),
            base: place.links.iter().map(|l| self.demand.base[l.index()]).collect(),
        }
    }

    /// The items of a place, largest first, ties by leaf and destination.
    pub fn items(&self, place: &Place) -> Vec<(f64, Item)> {
        let mut found = Vec::new();
        match &place.items {
            Crossing::Leaf { leaf, up } => self.each_of_leaf(*leaf, *up, |b, item| found.push((b, item))),
            Crossing::Some { leaf, up, others } => self.each_of_leaf(*leaf, *up, |b, item| {
                if others[self.other(item, *up)] {
                    found.push((b, item));
                }
            }),
            Crossing::Piece { inside, up } => {
                for leaf in (0..inside.len()).filter(|&i| inside[i]) {
                    self.each_of_leaf(leaf, *up, |b, item| {
                        if !inside[self.other(item, *up)] {
                            found.push((b, item));
                        }
                    });
                }
            }
        }
        found.sort_unstable_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found
    }

    fn name(&self, switch: SwitchId, up: bool) -> String {
        format!("{} {}", self.fabric.switch_name(switch), if up { "up" } else { "down" })
    }

    /// Position of the leaf at an item's other end.
    fn other(&self, item: Item, up: bool) -> usize {
        let there = if up { self.fabric.leaf(item.destination) } else { item.leaf };
        self.position[there.index()]
    }

    fn each_of_leaf(&self, leaf: usize, up: bool, mut visit: impl FnMut(f64, Item)) {
        if !up {
            return self.arriving[leaf].iter().for_each(|&(bytes, item)| visit(bytes, item));
        }
        let here = self.demand.leaves[leaf];
        for p in &self.demand.items[leaf] {
            if self.paths.hops(here, self.fabric.leaf(p.destination)).is_some() {
                visit(p.bytes, Item { leaf: here, destination: p.destination });
            }
        }
    }

    /// All working links between levels out of (or into) a switch.
    fn links_of(&self, switch: SwitchId, up: bool) -> Vec<LinkId> {
        let level = |s: SwitchId| self.structure.rank[s.index()];
        let other = |l: LinkId| self.fabric.link_to_switch(l).map(level);
        let here = level(switch);
        let links = self.fabric.switch_links(switch).filter(|&l| self.fabric.alive(l));
        let links = links.filter(|&l| other(l).is_some_and(|there| there != here && there != u16::MAX));
        links.map(|l| if up { l } else { self.fabric.reverse(l) }).collect()
    }

    /// The sets of links that only some items of a leaf may use.
    fn parts_of_leaf(&self, leaf: usize, places: &mut Vec<Place>) {
        let here = self.demand.leaves[leaf];
        for up in [true, false] {
            let links = self.links_of(here, up);
            if links.len() > 64 {
                continue;
            }
            let full = u64::MAX >> (64 - links.len().max(1));
            let allowed = if up { self.first_links(here, &links) } else { self.last_links(here, &links) };
            let mut sums: BTreeMap<u64, (f64, f64)> = BTreeMap::new();
            self.each_of_leaf(leaf, up, |bytes, item| {
                let sum = sums.entry(allowed[self.other(item, up)]).or_default();
                *sum = (sum.0 + bytes, sum.1.max(bytes));
            });
            let mut sets: Vec<(u64, f64)> = sums.iter().map(|(&set, &(bytes, _))| (set, bytes)).collect();
            sets.retain(|&(set, _)| set != full && set != 0);
            sets.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
            for &(set, _) in sets.iter().take(MOST_SETS) {
                let within = sums.iter().filter(|(other, _)| **other & !set == 0);
                let (total, largest) =
                    within.fold((0.0, 0.0f64), |sum, (_, s)| (sum.0 + s.0, sum.1.max(s.1)));
                let chosen = |i: &usize| set >> i & 1 == 1;
                let links = (0..links.len()).filter(chosen).map(|i| links[i]).collect();
                let others = allowed.iter().map(|other| other & !set == 0).collect();
                let name = format!("{}, some links", self.name(here, up));
                let items = Crossing::Some { leaf, up, others };
                places.push(Place { name, links, total, largest, items });
            }
        }
    }

    /// Per other leaf, which of `links` start an admissible path there.
    fn first_links(&self, leaf: SwitchId, links: &[LinkId]) -> Vec<u64> {
        let set = |to: &SwitchId| -> u64 {
            let allowed = self.paths.links(leaf, *to);
            allowed.iter().filter_map(|l| links.iter().position(|m| m == l)).map(|i| 1 << i).sum()
        };
        self.demand.leaves.iter().map(set).collect()
    }

    /// Per other leaf, which of `links` end an admissible path from there.
    fn last_links(&self, leaf: SwitchId, links: &[LinkId]) -> Vec<u64> {
        const UNKNOWN: u64 = 0;
        let mut set = vec![UNKNOWN; self.fabric.switch_count()];
        for start in self.demand.leaves.iter().filter(|&&s| s != leaf) {
            let mut open = vec![*start];
            while let Some(&s) = open.last() {
                let next = self.paths.links(s, leaf);
                let end = |l: &LinkId| self.fabric.link_to_switch(*l).expect("paths run between switches");
                let before = open.len();
                if set[s.index()] == UNKNOWN {
                    open.extend(next.iter().map(end).filter(|&t| t != leaf && set[t.index()] == UNKNOWN));
                }
                if open.len() > before {
                    continue;
                }
                open.pop();
                let through = next.iter().map(|l| match end(l) {
                    t if t == leaf => links.iter().position(|m| m == l).map_or(0, |i| 1 << i),
                    t => set[t.index()],
                });
                set[s.index()] = through.fold(0, |all, one| all | one);
            }
        }
        self.demand.leaves.iter().map(|s| set[s.index()]).collect()
    }

    fn pieces_at(&self, level: u16, places: &mut Vec<Place>) {
        let (fabric, structure) = (self.fabric, self.structure);
        let piece = cuts::pieces(fabric, structure, level);
        let of_leaf: Vec<u32> = self.demand.leaves.iter().map(|s| piece[s.index()]).collect();
        let level_of = |s: SwitchId| structure.rank[s.index()];
        // Links up out of every switch at the top of a piece, and links up to it from inside.
        let mut out: BTreeMap<u32, BTreeMap<SwitchId, [Vec<LinkId>; 2]>> = BTreeMap::new();
        let mut skips = vec![false; fabric.switch_count()];
        for l in fabric.links().filter(|&l| fabric.alive(l)) {
            let (Some(s), Some(t)) = (fabric.link_from_switch(l), fabric.link_to_switch(l)) else { continue };
            if level_of(s) >= level_of(t) || level_of(t) == u16::MAX || level_of(s) > level {
                continue;
            }
            let root = piece[s.index()];
            if level_of(t) > level {
                out.entry(root).or_default().entry(s).or_default()[0].push(l);
                // Only below the top of the piece does everything that climbs pass a link inside.
                skips[root as usize] |= level_of(s) < level;
            } else if level_of(t) == level {
                out.entry(root).or_default().entry(t).or_default()[1].push(l);
            }
        }
        for (root, tops) in out {
            let inside: Vec<bool> = of_leaf.iter().map(|&p| p == root).collect();
            let name = |up: bool| format!("pod of {}", self.name(SwitchId(root), up));
            let all: Vec<LinkId> = tops.values().flat_map(|t| t[0].iter().copied()).collect();
            // Hosts on a top switch start above its links inside.
            let inner =
                |s: SwitchId, t: &[Vec<LinkId>; 2]| t[1].len() < t[0].len() && fabric.hosts_on(s).is_empty();
            let fewer: Vec<LinkId> =
                tops.iter().flat_map(|(&s, t)| t[usize::from(inner(s, t))].iter().copied()).collect();
            for up in [true, false] {
                let (mut total, mut largest) = (0.0, 0.0f64);
                for leaf in (0..inside.len()).filter(|&i| inside[i]) {
                    self.each_of_leaf(leaf, up, |bytes, item| {
                        if !inside[self.other(item, up)] {
                            total += bytes;
                            largest = largest.max(bytes);
                        }
                    });
                }
                if total == 0.0 {
                    continue;
                }
                let turn = |links: &[LinkId]| -> Vec<LinkId> {
                    links.iter().map(|&l| if up { l } else { fabric.reverse(l) }).collect()
                };
                let mut add = |name: String, links: &[LinkId]| {
                    let items = Crossing::Piece { inside: inside.clone(), up };
                    places.push(Place { name, links: turn(links), total, largest, items });
                };
                add(name(up), &all);
                if fewer != all && !skips[root as usize] {
                    add(format!("{} and inside", name(up)), &fewer);
                }
            }
        }
    }
}
