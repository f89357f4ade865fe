//! What detection walks on: the alive cables between switches, and disjoint sets.

use std::collections::VecDeque;

use netloom_model::{Fabric, LinkId, SwitchId};

/// Distance of what cannot be reached.
pub(crate) const FAR: u32 = u32::MAX;

/// Alive links between switches in compressed rows (one entry a link, so parallel cables repeat), the number of
/// alive hosts of every switch, and its GUID.
pub(crate) struct SwitchGraph {
    first: Vec<u32>,
    to: Vec<u32>,
    link: Vec<LinkId>,
    capacity: Vec<f32>,
    /// Hosts with an alive cable, by switch.
    pub hosts: Vec<u32>,
    /// GUIDs, by switch.
    pub guids: Vec<u64>,
}

impl SwitchGraph {
    pub fn new(fabric: &Fabric) -> Self {
        let count = fabric.switch_count();
        let (mut first, mut to, mut link) = (Vec::with_capacity(count + 1), Vec::new(), Vec::new());
        let mut capacity = Vec::new();
        let mut hosts = vec![0; count];
        first.push(0);
        for s in fabric.switches() {
            for l in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
                match fabric.link_to_switch(l) {
                    Some(t) => {
                        to.push(t.0);
                        link.push(l);
                        capacity.push(fabric.relative_capacity(l) as f32);
                    }
                    None => hosts[s.index()] += 1,
                }
            }
            first.push(to.len() as u32);
        }
        let guids = fabric.switches().map(|s| fabric.switch_guid(s)).collect();
        Self { first, to, link, capacity, hosts, guids }
    }

    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Neighbours of a switch, one entry a link.
    #[inline]
    pub fn neighbours(&self, s: usize) -> &[u32] {
        &self.to[self.first[s] as usize..self.first[s + 1] as usize]
    }

    /// How many links there are.
    pub fn link_count(&self) -> usize {
        self.to.len()
    }

    /// The links of a switch: `(place among all links, neighbour, relative capacity)`.
    #[inline]
    pub fn places(&self, s: usize) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
        let range = self.first[s] as usize..self.first[s + 1] as usize;
        range.map(|at| (at, self.to[at] as usize, self.capacity[at]))
    }

    /// Neighbours with the links that lead to them.
    pub fn links(&self, s: usize) -> impl Iterator<Item = (usize, LinkId)> + '_ {
        let range = self.first[s] as usize..self.first[s + 1] as usize;
        self.to[range.clone()].iter().zip(&self.link[range]).map(|(&t, &l)| (t as usize, l))
    }

    /// Distances in links from the nearest of `sources`; [`FAR`] where there is no way.
    pub fn distances(&self, sources: impl IntoIterator<Item = usize>) -> Vec<u32> {
        let mut distance = vec![FAR; self.len()];
        let mut queue: VecDeque<usize> = sources.into_iter().collect();
        for &s in &queue {
            distance[s] = 0;
        }
        while let Some(s) = queue.pop_front() {
            for &t in self.neighbours(s) {
                if distance[t as usize] == FAR {
                    distance[t as usize] = distance[s] + 1;
                    queue.push_back(t as usize);
                }
            }
        }
        distance
    }

    /// The connected parts, each sorted, in the order of their first switches.
    pub fn parts(&self) -> Vec<Vec<usize>> {
        let mut sets = Sets::new(self.len());
        for s in 0..self.len() {
            for &t in self.neighbours(s) {
                sets.join(s, t as usize);
            }
        }
        let mut part_of = vec![usize::MAX; self.len()];
        let mut parts: Vec<Vec<usize>> = Vec::new();
        for s in 0..self.len() {
            let root = sets.find(s);
            if part_of[root] == usize::MAX {
                part_of[root] = parts.len();
                parts.push(Vec::new());
            }
            parts[part_of[root]].push(s);
        }
        parts
    }
}

/// Disjoint sets of `0..n`; the smallest member stands for its set.
pub(crate) struct Sets(Vec<u32>);

impl Sets {
    pub fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    pub fn find(&mut self, mut i: usize) -> usize {
        while self.0[i] as usize != i {
            self.0[i] = self.0[self.0[i] as usize];
            i = self.0[i] as usize;
        }
        i
    }

    /// Unites two sets; whether they were apart.
    pub fn join(&mut self, i: usize, j: usize) -> bool {
        let (i, j) = (self.find(i), self.find(j));
        self.0[i.max(j)] = i.min(j) as u32;
        i != j
    }
}

/// `a, b, c and 4 more`: the first names of a list, for findings.
pub(crate) fn some_names<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    const SHOWN: usize = 4;
    let count = names.len();
    let mut text = names.take(SHOWN).collect::<Vec<_>>().join(", ");
    if count > SHOWN {
        text += &format!(" and {} more", count - SHOWN);
    }
    text
}

/// [`some_names`] of switches.
pub(crate) fn some_switches(fabric: &Fabric, switches: &[usize]) -> String {
    some_names(switches.iter().map(|&s| fabric.switch_name(SwitchId::from_index(s))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_named_by_their_smallest_member() {
        let mut sets = Sets::new(5);
        assert!(sets.join(4, 2));
        assert!(sets.join(3, 4));
        assert!(!sets.join(2, 3));
        assert_eq!((0..5).map(|i| sets.find(i)).collect::<Vec<_>>(), [0, 1, 2, 2, 2]);
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(some_names(["a", "b"].into_iter()), "a, b");
        assert_eq!(some_names(["a", "b", "c", "d", "e", "f"].into_iter()), "a, b, c, d and 2 more");
    }
}
