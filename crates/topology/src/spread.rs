//! What the ways of an order can carry: an all-to-all of the hosts, split evenly over all minimal up*/down* ways.
//!
//! Even splits are one way to route, so their largest load is an upper bound on the adaptive-routing bound of these
//! ways, and on a whole tree it is equal to it. It takes one pass over the links a destination. Large fabrics are judged
//! by traffic to some of their switches only: the same ones for every order, so that loads compare. In small parts the
//! splits are then moved towards links with less ([`Judge::balanced`]): the bound itself, to a few percent.
//!
//! The ways are those of `netloom_routing`'s `paths.rs`: found hop by hop from the destination, one direction a switch.

use crate::graph::{FAR, SwitchGraph};

/// How often splits are moved, and how near to the largest load a link counts.
const ROUNDS: u32 = 60;
const SMOOTHING: f64 = 0.05;

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

/// Ways towards one switch.
struct Ways {
    hops: Vec<u32>,
    below: Vec<bool>,
    /// Switches with a way, the destination first, each after all that its ways lead through.
    settled: Vec<usize>,
}

impl<'a> Judge<'a> {
    /// Judges by at most `most` destinations: evenly spaced ones of the switches with hosts.
    pub fn new(graph: &'a SwitchGraph, part: &'a [usize], most: usize) -> Self {
        let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
        let towards = spaced(&hosted, most).map(|s| (s, graph.distances([s]))).collect();
        Self { graph, part, towards }
    }

    /// What a host's own cable carries, if it is as fast as any: no order makes that less.
    pub fn own_cable(&self) -> f64 {
        self.towards.iter().map(|&(to, _)| f64::from(self.graph.hosts[to])).sum()
    }

    /// Largest load with all shortest ways, whatever their direction.
    pub fn shortest(&self) -> f64 {
        let mut load = vec![0f64; self.graph.link_count()];
        let mut flow = vec![0f64; self.graph.len()];
        let mut from_near = self.part.to_vec();
        for (to, hops) in &self.towards {
            from_near.sort_unstable_by_key(|&s| hops[s]);
            self.pour(*to, &from_near, &mut flow, &mut load, |s, t| hops[t].saturating_add(1) == hops[s]);
        }
        load.into_iter().fold(0.0, f64::max)
    }

    /// What the ways by `rank` carry; the two ends of a cable have different ranks.
    pub fn spread(&self, rank: &[u32]) -> Spread {
        let graph = self.graph;
        let mut from_top = self.part.to_vec();
        from_top.sort_by_key(|&s| std::cmp::Reverse(rank[s]));
        let (mut load, mut flow) = (vec![0f64; graph.link_count()], vec![0f64; graph.len()]);
        let mut detours = 0;
        let mut ways = Ways::new(graph);
        for (to, shortest) in &self.towards {
            ways.find(graph, self.part, *to, rank, &from_top);
            self.pour(*to, &ways.settled, &mut flow, &mut load, |s, t| ways.nearer(rank, s, t));
            let hosted = ways.settled.iter().filter(|&&s| graph.hosts[s] > 0);
            detours += hosted.filter(|&&s| ways.hops[s] > shortest[s]).count() as u64;
        }
        Spread { load: load.into_iter().fold(0.0, f64::max), detours }
    }

    /// The same with splits that even the links out: an upper bound on the adaptive-routing bound that comes near it
    /// (Frank and Wolfe, 1956, on a smooth maximum), or what a host's own cable carries if that is more. All ways are
    /// kept, so it is for small parts.
    pub fn balanced(&self, rank: &[u32]) -> Spread {
        let graph = self.graph;
        let mut from_top = self.part.to_vec();
        from_top.sort_by_key(|&s| std::cmp::Reverse(rank[s]));
        let each: Vec<Ways> = self
            .towards
            .iter()
            .map(|&(to, _)| {
                let mut ways = Ways::new(graph);
                ways.find(graph, self.part, to, rank, &from_top);
                ways
            })
            .collect();
        let (mut load, mut flow) = (vec![0f64; graph.link_count()], vec![0f64; graph.len()]);
        for (ways, &(to, _)) in each.iter().zip(&self.towards) {
            self.pour(to, &ways.settled, &mut flow, &mut load, |s, t| ways.nearer(rank, s, t));
        }
        let most = |load: &[f64]| load.iter().copied().fold(0.0, f64::max);
        let mut least = most(&load);
        let mut cost = vec![0f64; graph.len()];
        for round in 1..=ROUNDS {
            let highest = most(&load);
            if highest <= self.own_cable() {
                break;
            }
            let price = |at: usize, c: f32| ((load[at] / highest - 1.0) / SMOOTHING).exp() / f64::from(c);
            let mut cheapest = vec![0f64; graph.link_count()];
            for (ways, &(to, _)) in each.iter().zip(&self.towards) {
                let mut next = vec![None; graph.len()];
                cost[to] = 0.0;
                for &s in ways.settled.iter().filter(|&&s| s != to) {
                    let priced = graph.places(s).filter(|&(_, t, _)| ways.nearer(rank, s, t));
                    let priced = priced.map(|(at, t, c)| (price(at, c) + cost[t], at, t, c));
                    let best = priced.min_by(|a, b| a.0.total_cmp(&b.0)).expect("it has a way");
                    (cost[s], next[s]) = (best.0, Some((best.1, best.2, best.3)));
                }
                self.part.iter().for_each(|&s| flow[s] = f64::from(graph.hosts[s]));
                for &s in ways.settled.iter().rev() {
                    if let Some((at, t, c)) = next[s] {
                        cheapest[at] += flow[s] * f64::from(graph.hosts[to]) / f64::from(c);
                        flow[t] += flow[s];
                    }
                }
            }
            let step = 2.0 / (f64::from(round) + 2.0);
            load.iter_mut().zip(&cheapest).for_each(|(load, &new)| *load += step * (new - *load));
            least = least.min(most(&load));
        }
        Spread { load: least.max(self.own_cable()), ..self.spread(rank) }
    }

    /// Adds the load of what all hosts send to those of `to`; every switch splits evenly over the links that `nearer`
    /// takes. Switches come after all that they send to.
    fn pour(
        &self,
        to: usize,
        settled: &[usize],
        flow: &mut [f64],
        load: &mut [f64],
        nearer: impl Fn(usize, usize) -> bool,
    ) {
        let graph = self.graph;
        self.part.iter().for_each(|&s| flow[s] = f64::from(graph.hosts[s]));
        for &s in settled.iter().rev().filter(|&&s| s != to) {
            if flow[s] == 0.0 {
                continue;
            }
            let ways = || graph.places(s).filter(|&(_, t, _)| nearer(s, t));
            let capacity: f64 = ways().map(|(_, _, c)| f64::from(c)).sum();
            for (at, t, c) in ways() {
                let share = flow[s] * f64::from(c) / capacity;
                load[at] += share * f64::from(graph.hosts[to]) / f64::from(c);
                flow[t] += share;
            }
        }
    }
}

impl Ways {
    fn new(graph: &SwitchGraph) -> Self {
        Self { hops: vec![FAR; graph.len()], below: vec![false; graph.len()], settled: Vec::new() }
    }

    fn find(&mut self, graph: &SwitchGraph, part: &[usize], to: usize, rank: &[u32], from_top: &[usize]) {
        self.start(part, to);
        if !self.hop_by_hop(graph, rank) {
            self.start(part, to);
            self.down_first(graph, rank, from_top);
        }
    }

    /// Whether a way leads from one switch over a cable to another.
    fn nearer(&self, rank: &[u32], s: usize, t: usize) -> bool {
        (rank[t] < rank[s]) == self.below[s]
            && (self.below[t] || !self.below[s])
            && self.hops[t].saturating_add(1) == self.hops[s]
    }

    fn start(&mut self, part: &[usize], to: usize) {
        part.iter().for_each(|&s| (self.hops[s], self.below[s]) = (FAR, false));
        (self.hops[to], self.below[to]) = (0, true);
        self.settled.clear();
        self.settled.push(to);
    }

    /// `false` if a switch with a way down is left without a way.
    fn hop_by_hop(&mut self, graph: &SwitchGraph, rank: &[u32]) -> bool {
        let mut from = 0;
        while from < self.settled.len() {
            let layer = from..self.settled.len();
            from = layer.end;
            for down in [true, false] {
                for i in layer.clone() {
                    let s = self.settled[i];
                    if down && !self.below[s] {
                        continue;
                    }
                    for &t in graph.neighbours(s) {
                        let t = t as usize;
                        if (rank[t] > rank[s]) == down && self.hops[t] == FAR {
                            (self.hops[t], self.below[t]) = (self.hops[s] + 1, down);
                            self.settled.push(t);
                        }
                    }
                }
            }
        }
        // What hangs on the settled ones goes up to them, so only a way down through one that goes up can be missing.
        let above =
            |s: usize| graph.neighbours(s).iter().map(|&t| t as usize).filter(move |&t| rank[t] > rank[s]);
        let mut has_way_down = vec![false; graph.len()];
        let mut open = vec![self.settled[0]];
        while let Some(s) = open.pop() {
            for t in above(s) {
                if self.hops[t] == FAR {
                    return false;
                }
                if !std::mem::replace(&mut has_way_down[t], true) {
                    open.push(t);
                }
            }
        }
        true
    }

    /// Whoever has a way down goes down.
    fn down_first(&mut self, graph: &SwitchGraph, rank: &[u32], from_top: &[usize]) {
        let mut next = 0;
        while let Some(&s) = self.settled.get(next) {
            next += 1;
            for &t in graph.neighbours(s) {
                let t = t as usize;
                if rank[t] > rank[s] && !self.below[t] {
                    (self.hops[t], self.below[t]) = (self.hops[s] + 1, true);
                    self.settled.push(t);
                }
            }
        }
        for &s in from_top.iter().filter(|&&s| !self.below[s]) {
            let above = graph.neighbours(s).iter().map(|&t| t as usize).filter(|&t| rank[t] > rank[s]);
            self.hops[s] = above.map(|t| self.hops[t].saturating_add(1)).min().unwrap_or(FAR);
            if self.hops[s] != FAR {
                self.settled.push(s);
            }
        }
    }
}

/// At most `most` of `all`, evenly spaced.
pub(crate) fn spaced(all: &[usize], most: usize) -> impl ExactSizeIterator<Item = usize> + '_ {
    let count = all.len().min(most);
    (0..count).map(move |i| all[i * all.len() / count])
}
