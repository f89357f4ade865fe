//! What the ways of an order can carry: an all-to-all of the hosts, split evenly over all minimal up*/down* ways.
//!
//! Even splits are one way to route, so their largest load is an upper bound on the adaptive-routing bound of these
//! ways, and on a whole tree it is equal to it. It takes one pass over the links a destination. Large fabrics are judged
//! by traffic to some of their switches only: the same ones for every order, so that loads compare.

use crate::graph::{FAR, SwitchGraph};

/// What an order's ways carry.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    /// Largest load of a link between switches, in hosts times hosts over relative capacity.
    pub load: f64,
    /// Pairs of switches with hosts whose shortest way is not up*/down*.
    pub detours: u64,
}

/// Destinations that orders of one part are judged by.
pub(crate) struct Judge<'a> {
    graph: &'a SwitchGraph,
    part: &'a [usize],
    /// Switches with hosts, and the plain distances from them.
    towards: Vec<(usize, Vec<u32>)>,
}

impl<'a> Judge<'a> {
    /// Judges by at most `most` destinations: evenly spaced ones of the switches with hosts.
    pub fn new(graph: &'a SwitchGraph, part: &'a [usize], most: usize) -> Self {
        let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
        let towards = spaced(&hosted, most).map(|s| (s, graph.distances([s]))).collect();
        Self { graph, part, towards }
    }

    /// What the ways by `rank` carry; the two ends of a cable have different ranks.
    pub fn spread(&self, rank: &[u32]) -> Spread {
        let graph = self.graph;
        let mut from_bottom = self.part.to_vec();
        from_bottom.sort_by_key(|&s| rank[s]);
        let mut load = vec![0f64; graph.link_count()];
        let mut detours = 0;
        let (mut hops, mut flow) = (vec![FAR; graph.len()], vec![0f64; graph.len()]);
        let mut below = vec![false; graph.len()];
        let mut queue = Vec::new();
        for (to, shortest) in &self.towards {
            for &s in self.part {
                (hops[s], below[s], flow[s]) = (FAR, false, f64::from(graph.hosts[s]));
            }
            (hops[*to], below[*to]) = (0, true);
            queue.clear();
            queue.push(*to);
            let mut next = 0;
            while let Some(&s) = queue.get(next) {
                next += 1;
                for &t in graph.neighbours(s) {
                    let t = t as usize;
                    if rank[t] > rank[s] && !below[t] {
                        (hops[t], below[t]) = (hops[s] + 1, true);
                        queue.push(t);
                    }
                }
            }
            for &s in from_bottom.iter().rev().filter(|&&s| !below[s]) {
                let above = graph.neighbours(s).iter().map(|&t| t as usize).filter(|&t| rank[t] > rank[s]);
                hops[s] = above.map(|t| hops[t].saturating_add(1)).min().unwrap_or(FAR);
            }
            // What climbs goes to higher ranks, what goes down to lower ones: each switch has all its flow when it sends.
            let climbing = from_bottom.iter().filter(|&&s| !below[s]);
            for &s in climbing.chain(from_bottom.iter().rev().filter(|&&s| below[s])) {
                if s == *to || hops[s] == FAR || flow[s] == 0.0 {
                    continue;
                }
                let down = below[s];
                let nearer = |t: usize| {
                    (rank[t] < rank[s]) == down && (below[t] || !down) && hops[t].saturating_add(1) == hops[s]
                };
                let ways = || graph.places(s).filter(|&(_, t, _)| nearer(t));
                let capacity: f64 = ways().map(|(_, _, c)| f64::from(c)).sum();
                for (at, t, c) in ways() {
                    let share = flow[s] * f64::from(c) / capacity;
                    load[at] += share * f64::from(graph.hosts[*to]) / f64::from(c);
                    flow[t] += share;
                }
            }
            let hosted = self.part.iter().filter(|&&s| graph.hosts[s] > 0 && hops[s] != FAR);
            detours += hosted.filter(|&&s| hops[s] > shortest[s]).count() as u64;
        }
        Spread { load: load.into_iter().fold(0.0, f64::max), detours }
    }
}

/// At most `most` of `all`, evenly spaced.
pub(crate) fn spaced(all: &[usize], most: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
    let count = all.len().min(most);
    (0..count).map(move |i| all[i * all.len() / count])
}
