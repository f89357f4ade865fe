//! Which sets of links no admissible path from one leaf to another avoids.
//!
//! The sets are disjoint. What every way from a switch crosses is what all its shortest ways' first links, each with what
//! lies beyond it, have in common; so one walk per receiving leaf serves all sets, and it visits only what lies above
//! the leaf and above those that send to it. A way of `h` links crosses at most `h` sets: the lists stay short.

use netloom_model::{Fabric, SwitchId};

use crate::distance::{Graph, Turns};

/// A link in none of the sets.
pub(crate) const NONE: u32 = u32::MAX;

/// Working memory of walks over one fabric.
pub(crate) struct Walk<'a> {
    graph: &'a Graph,
    fabric: &'a Fabric,
    /// Per link the set that it is in, or [`NONE`].
    set_of: &'a [u32],
    /// Per switch, links to the leaf; `u32::MAX` if there is no way or none was asked for.
    hops: Vec<u32>,
    below: Vec<bool>,
    known: Vec<bool>,
    /// Per switch the sets that every way crosses.
    sets: Vec<Vec<u32>>,
    touched: Vec<SwitchId>,
}

impl<'a> Walk<'a> {
    pub fn new(graph: &'a Graph, fabric: &'a Fabric, set_of: &'a [u32]) -> Self {
        let n = fabric.switch_count();
        Self {
            graph,
            fabric,
            set_of,
            hops: vec![u32::MAX; n],
            below: vec![false; n],
            known: vec![false; n],
            sets: vec![Vec::new(); n],
            touched: Vec::new(),
        }
    }

    /// `(leaf of a sender, set)` for every set that no way from it to `to` avoids, in order.
    pub fn towards(&mut self, to: SwitchId, senders: &[SwitchId]) -> Vec<(SwitchId, u32)> {
        for s in self.touched.drain(..) {
            self.hops[s.index()] = u32::MAX;
            self.below[s.index()] = false;
            self.known[s.index()] = false;
        }
        match self.graph.turns(to) {
            Some(turns) => self.by_turns(to, turns),
            None => self.above(to),
        }
        let mut found = Vec::new();
        for &s in senders.iter().filter(|&&s| s != to) {
            self.resolve(s);
            if self.hops[s.index()] != u32::MAX {
                found.extend(self.sets[s.index()].iter().map(|&set| (s, set)));
            }
        }
        found.sort_unstable();
        found
    }

    fn begin(&mut self, s: SwitchId) {
        self.known[s.index()] = true;
        self.touched.push(s);
    }

    /// Everything that has a way, where links skip ranks.
    fn by_turns(&mut self, to: SwitchId, turns: Turns) {
        for &s in &turns.settled {
            self.begin(s);
            (self.hops[s.index()], self.below[s.index()]) = (turns.hops[s.index()], turns.below[s.index()]);
            let mut common = std::mem::take(&mut self.sets[s.index()]);
            common.clear();
            let mut first = true;
            for l in self.fabric.switch_links(s).filter(|&l| s != to && self.fabric.alive(l)) {
                let Some(t) = self.fabric.link_to_switch(l) else { continue };
                if self.graph.leads(self.fabric, l, (s, t), &turns.hops, &turns.below) {
                    narrow(&mut common, first, self.set_of[l.index()], &self.sets[t.index()]);
                    first = false;
                }
            }
            self.sets[s.index()] = common;
        }
    }

    /// Everything that `to` is below, breadth first; a switch is final when its turn has come.
    fn above(&mut self, to: SwitchId) {
        self.begin(to);
        (self.hops[to.index()], self.below[to.index()]) = (0, true);
        self.sets[to.index()].clear();
        let mut next = self.touched.len() - 1;
        while let Some(&t) = self.touched.get(next) {
            next += 1;
            for &(up, s) in &self.graph.up[t.index()] {
                let set = self.set_of[self.fabric.reverse(up).index()];
                let first = !self.below[s.index()];
                if first {
                    self.begin(s);
                    self.below[s.index()] = true;
                    self.hops[s.index()] = self.hops[t.index()] + 1;
                }
                if self.hops[s.index()] == self.hops[t.index()] + 1 {
                    let mut common = std::mem::take(&mut self.sets[s.index()]);
                    narrow(&mut common, first, set, &self.sets[t.index()]);
                    self.sets[s.index()] = common;
                }
            }
        }
    }

    /// Ways from a switch that the leaf is not below: up, to those above that are nearest. As deep as there are levels.
    fn resolve(&mut self, s: SwitchId) {
        if self.known[s.index()] {
            return;
        }
        self.begin(s);
        let graph = self.graph;
        let above = &graph.up[s.index()];
        above.iter().for_each(|&(_, t)| self.resolve(t));
        let near = above.iter().map(|(_, t)| self.hops[t.index()]).min().unwrap_or(u32::MAX);
        if near == u32::MAX {
            return;
        }
        let (mut common, mut first) = (std::mem::take(&mut self.sets[s.index()]), true);
        for (l, t) in above.iter().filter(|(_, t)| self.hops[t.index()] == near) {
            narrow(&mut common, first, self.set_of[l.index()], &self.sets[t.index()]);
            first = false;
        }
        (self.hops[s.index()], self.sets[s.index()]) = (near + 1, common);
    }
}

/// Keeps in `common` what a link of `set` and the ways beyond it, which all cross `beyond`, have too; the first link
/// starts the list.
fn narrow(common: &mut Vec<u32>, first: bool, set: u32, beyond: &[u32]) {
    if !first {
        return common.retain(|&held| held == set || beyond.contains(&held));
    }
    common.clear();
    common.extend_from_slice(beyond);
    if set != NONE && !beyond.contains(&set) {
        common.push(set);
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::Ways;
    use netloom_testkit::{any_fabric, broken_fabric};
    use netloom_topology::detect;

    use super::*;

    /// A set cannot be avoided if the least number of its links on a way is not 0: distances under weights of 0 and 1.
    #[test]
    fn one_walk_finds_what_a_distance_a_set_finds() {
        let mut some = 0;
        for seed in 0..24 {
            let f = if seed % 2 == 0 { any_fabric(seed) } else { broken_fabric(seed) };
            let ways = if seed % 4 < 2 { Ways::UpDown } else { Ways::Shortest };
            let graph = Graph::of(&f, &detect(&f), ways);
            // Every switch's links out and in, and every third set left away.
            let mut set_of = vec![NONE; f.link_count()];
            let sets = 2 * f.switch_count() as u32;
            for l in f.links().filter(|&l| f.between_switches(l) && f.alive(l)) {
                let set = if graph.is_up(l) {
                    2 * f.link_from_switch(l).unwrap().0
                } else {
                    2 * f.link_to_switch(l).unwrap().0 + 1
                };
                set_of[l.index()] = if set % 3 == seed as u32 % 3 { NONE } else { set };
            }
            let leaves: Vec<SwitchId> = f.switches().filter(|&s| !f.hosts_on(s).is_empty()).collect();
            let mut walk = Walk::new(&graph, &f, &set_of);
            for &to in &leaves {
                let found = walk.towards(to, &leaves);
                let mut expected = Vec::new();
                for set in 0..sets {
                    let weight: Vec<f64> = set_of.iter().map(|&s| f64::from(u8::from(s == set))).collect();
                    let towards = graph.towards(&f, to, &weight);
                    let cannot = |s: &&SwitchId| {
                        towards.hops[s.index()] != u32::MAX && towards.weight[s.index()] >= 1.0
                    };
                    expected.extend(leaves.iter().filter(cannot).map(|&s| (s, set)));
                }
                expected.sort_unstable();
                some += found.len();
                assert_eq!(found, expected, "seed {seed}");
            }
        }
        assert!(some > 1000, "{some}");
    }
}
