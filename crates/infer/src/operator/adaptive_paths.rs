//! The ways of all pairs where switches choose packet by packet: every pair's bytes are split over all shortest ways.
//!
//! Hardware that routes adaptively sends each packet over the least loaded of the ports that lead on. On average that is an even split,
//! and then what a pair leaves in a link's counter is a fixed part of its bytes: the operator is linear still. Ways depend on the
//! destination through its leaf only, so there is a graph a leaf: its nodes are switches, its arcs links with the part that each takes of
//! what its switch hands on. A pair is its host's link, the node of its leaf, and the destination's link.
//!
//! Other parts than even ones are weights of links: a switch splits what it hands on in proportion to the weights of the links that lead
//! on.
//!
//! Invariants: arcs lead to lower nodes, and to node 0, the destination's leaf, in the end; the parts of a node's arcs add up to 1.
//!
//! Source: Taffet, dissertation, sec. 6.1.2 (adaptively routed networks).

use std::collections::BTreeMap;
use std::ops::Range;

use netloom_model::{Fabric, HostId, SwitchId};
use netloom_routing::{PathSet, RoutingError};

use crate::error::InferError;

use super::participants::Participants;

/// A part of what a switch hands on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Arc {
    row: u32,
    to: u32,
    part: f64,
}

/// The shortest ways from a job's leaves to one of them.
#[derive(Clone, Debug, Default, PartialEq)]
struct Graph {
    /// `[node]`: its arcs.
    of: Vec<Range<u32>>,
    arcs: Vec<Arc>,
}

/// Room to work in, by routing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Room {
    /// Sums at nodes.
    pub values: Vec<f64>,
    /// Whose they are, where destinations share them.
    pub of: Option<u32>,
}

/// A graph a leaf.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Split {
    /// `[pair]`: row of the source's link.
    first: Vec<u32>,
    /// `[pair]`: the node of its leaf.
    node: Vec<u32>,
    /// `[destination]`: row of its link; [`NONE`] where no pair is left.
    last: Vec<u32>,
    /// `[destination]`: the graph of its leaf.
    graph: Vec<u32>,
    graphs: Vec<Graph>,
}

/// No row.
const NONE: u32 = u32::MAX;

impl Split {
    /// All pairs inside the jobs; `start` is the number of the first row, `weight` one a link.
    pub fn new(
        fabric: &Fabric,
        (paths, weight): (&PathSet, Option<&[f64]>),
        start: usize,
        jobs: &[Participants],
    ) -> Result<Self, InferError> {
        let (mut whole, start) = (Self::default(), start as u32);
        for job in jobs {
            let mut leaves: Vec<SwitchId> = job.hosts.iter().map(|&host| fabric.leaf(host)).collect();
            leaves.sort_unstable();
            leaves.dedup();
            // Every leaf's graph, and its nodes by switch.
            let mut known = BTreeMap::<SwitchId, (u32, BTreeMap<SwitchId, u32>)>::new();
            for (d, &to) in job.hosts.iter().enumerate() {
                let leaf = fabric.leaf(to);
                if let std::collections::btree_map::Entry::Vacant(new) = known.entry(leaf) {
                    let (graph, nodes) = Graph::new(fabric, paths, weight, start, leaf, &leaves);
                    new.insert((whole.graphs.len() as u32, nodes));
                    whole.graphs.push(graph);
                }
                let (graph, nodes) = &known[&leaf];
                for (_, &from) in job.hosts.iter().enumerate().filter(|&(s, _)| s != d) {
                    let out = fabric.host_link(from);
                    let node = nodes.get(&fabric.leaf(from)).filter(|_| fabric.alive(out));
                    let Some(&node) = node.filter(|_| fabric.alive(fabric.host_link(to))) else {
                        return Err(no_way(fabric, from, to));
                    };
                    whole.first.push(start + out.0);
                    whole.node.push(node);
                }
                whole.last.push(start + fabric.reverse(fabric.host_link(to)).0);
                whole.graph.push(*graph);
            }
        }
        Ok(whole)
    }

    /// Calls `visit` with the rows that a pair's bytes come to, and with what part of them.
    pub fn way(&self, destination: usize, pair: usize, mut visit: impl FnMut(usize, f64)) {
        visit(self.first[pair] as usize, 1.0);
        let graph = &self.graphs[self.graph[destination] as usize];
        let node = self.node[pair] as usize;
        let mut amount = vec![0.0; node + 1];
        amount[node] = 1.0;
        graph.down(&mut amount, &mut visit);
        visit(self.last[destination] as usize, 1.0);
    }

    /// Adds to `rows` what the pairs of a destination leave in them; what passes between switches waits in `room` ([`Split::finish`]).
    pub fn add(&self, destination: usize, pairs: Range<usize>, x: &[f64], rows: &mut [f64], room: &mut Room) {
        if pairs.is_empty() {
            return;
        }
        let graph = self.graph[destination];
        if room.of != Some(graph) {
            self.finish(rows, room);
            room.of = Some(graph);
            room.values.resize(self.graphs[graph as usize].of.len(), 0.0);
        }
        let mut sum = 0.0;
        for p in pairs {
            rows[self.first[p] as usize] += x[p];
            room.values[self.node[p] as usize] += x[p];
            sum += x[p];
        }
        rows[self.last[destination] as usize] += sum;
    }

    /// Adds to `rows` what waits.
    pub fn finish(&self, rows: &mut [f64], room: &mut Room) {
        if let Some(graph) = room.of.take() {
            self.graphs[graph as usize].down(&mut room.values, |row, bytes| rows[row] += bytes);
        }
        room.values.clear();
    }

    /// Calls `visit(at, sum)` with the sum of every pair's rows, each by its part; `at` counts the pairs of a destination.
    pub fn sums(
        &self,
        destination: usize,
        pairs: Range<usize>,
        u: &[f64],
        room: &mut Room,
        mut visit: impl FnMut(usize, f64),
    ) {
        let graph = self.graph[destination];
        if room.of != Some(graph) {
            room.of = Some(graph);
            room.values.clear();
            let graph = &self.graphs[graph as usize];
            for arcs in &graph.of {
                let part = |arc: &Arc| arc.part * (u[arc.row as usize] + room.values[arc.to as usize]);
                let sum = graph.arcs_of(arcs).iter().map(part).sum();
                room.values.push(sum);
            }
        }
        for (at, p) in pairs.enumerate() {
            let last = u[self.last[destination] as usize];
            visit(at, u[self.first[p] as usize] + room.values[self.node[p] as usize] + last);
        }
    }

    /// All rows that are named, each as often as it is.
    pub fn rows(&mut self) -> impl Iterator<Item = &mut u32> {
        let arcs = self.graphs.iter_mut().flat_map(|graph| graph.arcs.iter_mut().map(|arc| &mut arc.row));
        let last = self.last.iter_mut().filter(|row| **row != NONE);
        self.first.iter_mut().chain(last).chain(arcs)
    }

    /// Rows in which ways begin or end.
    pub fn ends(&self) -> impl Iterator<Item = u32> + '_ {
        self.first.iter().chain(&self.last).copied().filter(|row| *row != NONE)
    }

    /// The same without the pairs for which `keep` is false and the nodes that only they need; `pairs` of every destination.
    pub fn restrict(&self, pairs: impl Iterator<Item = Range<usize>> + Clone, keep: &[bool]) -> Self {
        let mut needed: Vec<Vec<bool>> = self.graphs.iter().map(|g| vec![false; g.of.len()]).collect();
        for (pairs, &graph) in pairs.clone().zip(&self.graph) {
            for p in pairs.filter(|&p| keep[p]) {
                needed[graph as usize][self.node[p] as usize] = true;
            }
        }
        let both = self.graphs.iter().zip(needed).map(|(graph, needed)| graph.of_nodes(needed));
        let (graphs, new): (Vec<Graph>, Vec<Vec<u32>>) = both.unzip();
        let mut small = Self { graphs, graph: self.graph.clone(), ..Self::default() };
        for (destination, pairs) in pairs.enumerate() {
            let before = small.first.len();
            for p in pairs.filter(|&p| keep[p]) {
                small.first.push(self.first[p]);
                small.node.push(new[self.graph[destination] as usize][self.node[p] as usize]);
            }
            let some = small.first.len() > before;
            small.last.push(if some { self.last[destination] } else { NONE });
        }
        small
    }
}

impl Graph {
    /// The ways from `leaves` to `leaf`, and the nodes of switches; leaves that have no way are no nodes.
    fn new(
        fabric: &Fabric,
        paths: &PathSet,
        weight: Option<&[f64]>,
        start: u32,
        leaf: SwitchId,
        leaves: &[SwitchId],
    ) -> (Self, BTreeMap<SwitchId, u32>) {
        let mut reached: Vec<SwitchId> =
            leaves.iter().copied().filter(|&from| paths.hops(from, leaf).is_some()).collect();
        let mut seen: Vec<bool> = vec![false; fabric.switch_count()];
        reached.push(leaf);
        reached.sort_unstable();
        reached.dedup();
        reached.iter().for_each(|switch| seen[switch.index()] = true);
        let mut at = 0;
        while at < reached.len() {
            for next in paths.links(reached[at], leaf).iter().filter_map(|&l| fabric.link_to_switch(l)) {
                if !std::mem::replace(&mut seen[next.index()], true) {
                    reached.push(next);
                }
            }
            at += 1;
        }
        reached.sort_unstable_by_key(|&switch| (paths.hops(switch, leaf), switch));
        let nodes: BTreeMap<SwitchId, u32> = reached.iter().copied().zip(0..).collect();
        let mut graph = Self::default();
        for &switch in &reached {
            let links = paths.links(switch, leaf);
            let of = |link: netloom_model::LinkId| weight.map_or(1.0, |weight| weight[link.index()].max(0.0));
            let all: f64 = links.iter().map(|&link| of(link)).sum();
            let before = graph.arcs.len() as u32;
            for &link in links {
                let part = if all > 0.0 { of(link) / all } else { 1.0 / links.len() as f64 };
                let to = fabric.link_to_switch(link).expect("a shortest way leads over switches");
                graph.arcs.push(Arc { row: start + link.0, to: nodes[&to], part });
            }
            graph.of.push(before..graph.arcs.len() as u32);
        }
        (graph, nodes)
    }

    fn arcs_of(&self, arcs: &Range<u32>) -> &[Arc] {
        &self.arcs[arcs.start as usize..arcs.end as usize]
    }

    /// Hands down what is at nodes, and calls `visit` with what comes to a row.
    fn down(&self, amount: &mut [f64], mut visit: impl FnMut(usize, f64)) {
        for node in (1..amount.len()).rev().filter(|&node| node < self.of.len()) {
            let here = amount[node];
            if here == 0.0 {
                continue;
            }
            for arc in self.arcs_of(&self.of[node]) {
                let part = here * arc.part;
                visit(arc.row as usize, part);
                amount[arc.to as usize] += part;
            }
        }
    }

    /// What these nodes need, and the new numbers of nodes.
    fn of_nodes(&self, mut needed: Vec<bool>) -> (Self, Vec<u32>) {
        for node in (0..needed.len()).rev().filter(|&node| node < self.of.len()) {
            if needed[node] {
                self.arcs_of(&self.of[node]).iter().for_each(|arc| needed[arc.to as usize] = true);
            }
        }
        let (mut small, mut new) = (Self::default(), vec![0; needed.len()]);
        for node in (0..needed.len()).filter(|&node| needed[node]) {
            new[node] = small.of.len() as u32;
            let before = small.arcs.len() as u32;
            for arc in self.arcs_of(&self.of[node]) {
                small.arcs.push(Arc { to: new[arc.to as usize], ..*arc });
            }
            small.of.push(before..small.arcs.len() as u32);
        }
        (small, new)
    }
}

fn no_way(fabric: &Fabric, from: HostId, to: HostId) -> InferError {
    InferError::Routing(RoutingError::NoRoute {
        source_host: fabric.host_name(from).to_owned(),
        destination: fabric.host_name(to).to_owned(),
        reason: "no shortest way is whole".into(),
    })
}
