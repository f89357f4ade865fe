//! Pairs to counters and back, without a matrix.
//!
//! The forward operator `R` adds every pair's bytes to the (link, lane) rows on its way; its adjoint adds up the rows of every pair's
//! way. Tables look at the destination, so ways grow together: what is left of a way after a link depends on the link, the
//! destination (its address) and the service level only. Ways to a destination are therefore kept as a tree whose nodes are
//! (row, rest of the way); a pair is its host link's row and a node. Both operators pass once over pairs and once over nodes: two
//! additions a pair where the way has six hops. Schemes in which every pair has lanes of its own have a branch each.
//!
//! Invariants: pairs are in order of job, destination, source; a node's parent comes before it; sums are taken in fixed pieces, added
//! up in order: the bits do not depend on the number of threads. `adjoint` is the transpose of `forward`.
//!
//! Source: Taffet, dissertation, sec. 4.2 and 4.4 (R), 4.5 (several jobs).

use std::ops::Range;

use netloom_model::{DestId, Fabric, HostId, LinkId, NO_PORT, Routes};
use netloom_routing::walk;
use rayon::prelude::*;

use crate::error::InferError;
use crate::jobs::Participants;
use crate::lanes::LaneScheme;

/// Pieces of work that have sums of their own.
const PIECES: usize = 16;

/// All pairs with one destination.
#[derive(Clone, Debug, PartialEq)]
struct Group {
    /// Which job.
    job: u32,
    /// Position of the destination in the job's hosts.
    destination: u32,
    /// Its pairs.
    pairs: Range<usize>,
    /// Its nodes; a node's number counts from here, and 0 is the end of the way.
    nodes: Range<usize>,
}

/// What pairs leave in the counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    lanes: u8,
    rows: usize,
    groups: Vec<Group>,
    /// `[pair]`: position of the source in the job's hosts.
    source: Vec<u32>,
    /// `[pair]`: row of the source's link.
    first: Vec<u32>,
    /// `[pair]`: the rest of its way.
    node: Vec<u32>,
    /// `[node]`: row and parent.
    step: Vec<(u32, u32)>,
    /// `[job][host of the job]`: the number of its leaf.
    leaves: Vec<Vec<u32>>,
}

/// A pair of hosts of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// Which job.
    pub job: u32,
    /// Position of the source in the job's hosts.
    pub source: u32,
    /// Position of the destination.
    pub destination: u32,
}

impl Operator {
    /// The operator of all pairs inside the jobs.
    ///
    /// # Errors
    /// [`InferError::Mismatch`] if routes or lanes are of another fabric; [`InferError::Routing`] names a pair whose packets don't arrive.
    pub fn new(
        fabric: &Fabric,
        routes: &Routes,
        scheme: &LaneScheme,
        jobs: &[Participants],
    ) -> Result<Self, InferError> {
        if routes.cabling_hash.is_some_and(|hash| hash != fabric.cabling_hash()) {
            return Err(InferError::Mismatch("the routes are of another fabric".into()));
        }
        let lanes = scheme.lanes().max(1);
        let work: Vec<(u32, u32)> = (jobs.iter().enumerate())
            .flat_map(|(j, job)| (0..job.hosts.len() as u32).map(move |d| (j as u32, d)))
            .collect();
        let piece = work.len().div_ceil(4 * PIECES).max(1);
        let parts: Vec<Result<Self, InferError>> = work
            .par_chunks(piece)
            .map(|work| {
                let mut builder = Builder::new(fabric, routes, scheme, lanes);
                for &(job, destination) in work {
                    builder.group(&jobs[job as usize].hosts, job, destination)?;
                }
                Ok(builder.operator)
            })
            .collect();
        let mut whole = Self::empty(lanes, fabric.link_count() * usize::from(lanes));
        for part in parts {
            whole.append(part?);
        }
        let leaves = |job: &Participants| job.hosts.iter().map(|&h| fabric.leaf(h).0).collect();
        whole.leaves = jobs.iter().map(leaves).collect();
        Ok(whole)
    }

    fn empty(lanes: u8, rows: usize) -> Self {
        let (groups, source, first, node, step, leaves) = Default::default();
        Self { lanes, rows, groups, source, first, node, step, leaves }
    }

    fn append(&mut self, other: Self) {
        let (pairs, nodes) = (self.source.len(), self.step.len());
        self.groups.extend(other.groups.into_iter().map(|group| Group {
            pairs: group.pairs.start + pairs..group.pairs.end + pairs,
            nodes: group.nodes.start + nodes..group.nodes.end + nodes,
            ..group
        }));
        self.source.extend(other.source);
        self.first.extend(other.first);
        self.node.extend(other.node);
        self.step.extend(other.step);
    }

    /// Rows: links times lanes.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Lanes of a link.
    pub fn lanes(&self) -> u8 {
        self.lanes
    }

    /// The row of a link's lane.
    pub fn row(&self, link: LinkId, lane: u8) -> usize {
        link.index() * usize::from(self.lanes) + usize::from(lane)
    }

    /// Pairs: the unknowns.
    pub fn pairs(&self) -> usize {
        self.source.len()
    }

    /// The pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = Pair> + '_ {
        self.groups.iter().flat_map(|group| {
            let (job, destination) = (group.job, group.destination);
            self.source[group.pairs.clone()].iter().map(move |&source| Pair { job, source, destination })
        })
    }

    /// The number of a pair; `None` if it isn't an unknown.
    pub fn find(&self, pair: Pair) -> Option<usize> {
        let key = (pair.job, pair.destination);
        let at = self.groups.binary_search_by_key(&key, |g| (g.job, g.destination)).ok()?;
        let range = self.groups[at].pairs.clone();
        let sources = &self.source[range.clone()];
        // Where nothing was left out, the source's number is its place, but for the destination itself.
        let guess = (pair.source - u32::from(pair.source > pair.destination)) as usize;
        if sources.get(guess) == Some(&pair.source) {
            return Some(range.start + guess);
        }
        sources.binary_search(&pair.source).ok().map(|at| range.start + at)
    }

    /// The number of the leaf of a pair's source.
    pub fn leaf(&self, pair: Pair) -> u32 {
        self.leaves[pair.job as usize][pair.source as usize]
    }

    /// `[row]`: whether a pair's way begins or ends there.
    pub fn ends(&self) -> Vec<bool> {
        let mut ends = vec![false; self.rows];
        let last = self.step.iter().filter(|(_, parent)| *parent == 0).map(|(row, _)| row);
        self.first.iter().chain(last).for_each(|&row| ends[row as usize] = true);
        ends
    }

    /// Calls `visit` with the rows on a pair's way.
    pub fn way(&self, pair: usize, mut visit: impl FnMut(usize)) {
        visit(self.first[pair] as usize);
        let at = self.groups.partition_point(|g| g.pairs.end <= pair);
        let steps = &self.step[self.groups[at].nodes.clone()];
        let mut node = self.node[pair];
        while node != 0 {
            let (row, parent) = steps[node as usize - 1];
            visit(row as usize);
            node = parent;
        }
    }

    /// `R x`: what pairs with these bytes leave in every row.
    pub fn forward(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.pairs());
        let piece = self.groups.len().div_ceil(PIECES).max(1);
        let parts: Vec<Vec<f64>> = self
            .groups
            .par_chunks(piece)
            .map(|groups| {
                let mut rows = vec![0.0; self.rows];
                let mut sum = Vec::new();
                for group in groups {
                    let steps = &self.step[group.nodes.clone()];
                    sum.clear();
                    sum.resize(steps.len() + 1, 0.0);
                    for p in group.pairs.clone() {
                        rows[self.first[p] as usize] += x[p];
                        sum[self.node[p] as usize] += x[p];
                    }
                    for (n, &(row, parent)) in steps.iter().enumerate().rev() {
                        let bytes = sum[n + 1];
                        rows[row as usize] += bytes;
                        sum[parent as usize] += bytes;
                    }
                }
                rows
            })
            .collect();
        let mut rows = vec![0.0; self.rows];
        for part in parts {
            rows.iter_mut().zip(part).for_each(|(sum, bytes)| *sum += bytes);
        }
        rows
    }

    /// `R' u`: the sum of every pair's rows.
    pub fn adjoint(&self, u: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.pairs()];
        let mut rest = sums.as_mut_slice();
        let mut work = Vec::with_capacity(self.groups.len());
        for group in &self.groups {
            let (mine, others) = rest.split_at_mut(group.pairs.len());
            work.push((group, mine));
            rest = others;
        }
        let piece = work.len().div_ceil(PIECES).max(1);
        work.par_chunks_mut(piece).for_each(|work| {
            let mut value = Vec::new();
            for (group, sums) in work {
                self.values(group, u, &mut value);
                for (sum, p) in sums.iter_mut().zip(group.pairs.clone()) {
                    *sum = u[self.first[p] as usize] + value[self.node[p] as usize];
                }
            }
        });
        sums
    }

    /// Calls `visit(pair, sum of its rows)` for all pairs of a job, in order.
    pub fn each(&self, job: u32, u: &[f64], mut visit: impl FnMut(Pair, f64)) {
        assert_eq!(u.len(), self.rows);
        let mut value = Vec::new();
        for group in self.groups.iter().filter(|g| g.job == job) {
            self.values(group, u, &mut value);
            let destination = group.destination;
            for p in group.pairs.clone() {
                let sum = u[self.first[p] as usize] + value[self.node[p] as usize];
                visit(Pair { job, source: self.source[p], destination }, sum);
            }
        }
    }

    /// `[node]`: the sum of the rows from there on.
    fn values(&self, group: &Group, u: &[f64], value: &mut Vec<f64>) {
        value.clear();
        value.push(0.0);
        for &(row, parent) in &self.step[group.nodes.clone()] {
            let sum = u[row as usize] + value[parent as usize];
            value.push(sum);
        }
    }

    /// The same with rows that some pair crosses only, and what each of them was.
    pub fn compact(mut self) -> (Self, Vec<u32>) {
        let mut new = vec![u32::MAX; self.rows];
        for &row in self.first.iter().chain(self.step.iter().map(|(row, _)| row)) {
            new[row as usize] = 0;
        }
        let old: Vec<u32> = (0..self.rows as u32).filter(|&row| new[row as usize] == 0).collect();
        for (at, &row) in old.iter().enumerate() {
            new[row as usize] = at as u32;
        }
        self.first.iter_mut().for_each(|row| *row = new[*row as usize]);
        self.step.iter_mut().for_each(|(row, _)| *row = new[*row as usize]);
        self.rows = old.len();
        (self, old)
    }

    /// The same without the pairs for which `keep` is false; what is left keeps its order.
    pub fn restrict(&self, keep: &[bool]) -> Self {
        assert_eq!(keep.len(), self.pairs());
        let mut small = Self::empty(self.lanes, self.rows);
        small.leaves.clone_from(&self.leaves);
        let mut new = Vec::new();
        for group in &self.groups {
            let steps = &self.step[group.nodes.clone()];
            // Which nodes are still on a way, then their new numbers.
            new.clear();
            new.resize(steps.len() + 1, 0u32);
            for p in group.pairs.clone().filter(|&p| keep[p]) {
                new[self.node[p] as usize] = 1;
            }
            for n in (1..=steps.len()).rev() {
                if new[n] != 0 {
                    new[steps[n - 1].1 as usize] = 1;
                }
            }
            new[0] = 0;
            let (pairs, nodes) = (small.source.len(), small.step.len());
            for n in 1..=steps.len() {
                if new[n] != 0 {
                    let (row, parent) = steps[n - 1];
                    small.step.push((row, new[parent as usize]));
                    new[n] = (small.step.len() - nodes) as u32;
                }
            }
            for p in group.pairs.clone().filter(|&p| keep[p]) {
                small.source.push(self.source[p]);
                small.first.push(self.first[p]);
                small.node.push(new[self.node[p] as usize]);
            }
            let (pairs, nodes) = (pairs..small.source.len(), nodes..small.step.len());
            small.groups.push(Group { pairs, nodes, ..group.clone() });
        }
        small
    }
}

/// Builds the groups of some destinations.
struct Builder<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    scheme: &'a LaneScheme,
    operator: Operator,
    /// `[row]`: when its node was made, and which.
    seen: Vec<(u32, u32)>,
    now: u32,
    /// Sources in order of (address, key), and their nodes in order of sources.
    order: Vec<(DestId, Option<u8>, u32)>,
    nodes: Vec<(u32, u32)>,
    way: Vec<u32>,
}

impl<'a> Builder<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes, scheme: &'a LaneScheme, lanes: u8) -> Self {
        let rows = fabric.link_count() * usize::from(lanes);
        let operator = Operator::empty(lanes, rows);
        let (order, nodes, way) = Default::default();
        Self { fabric, routes, scheme, operator, seen: vec![(0, 0); rows], now: 0, order, nodes, way }
    }

    /// Adds all pairs of `hosts` with one destination.
    fn group(&mut self, hosts: &[HostId], job: u32, destination: u32) -> Result<(), InferError> {
        let to = hosts[destination as usize];
        let space = self.routes.dests(self.fabric);
        self.order.clear();
        for (s, &from) in hosts.iter().enumerate().filter(|&(s, _)| s != destination as usize) {
            let address = self.routes.address(space, from, to);
            self.order.push((address, self.scheme.key(from, to), s as u32));
        }
        self.order.sort_unstable();
        let (pairs, base) = (self.operator.source.len(), self.operator.step.len());
        self.nodes.clear();
        self.nodes.resize(hosts.len(), (0, 0));
        let mut last = None;
        for at in 0..self.order.len() {
            let (address, key, s) = self.order[at];
            // Ways grow together only where tables don't look at the source.
            if last != Some((address, key)) || key.is_none() || self.routes.lft().is_none() {
                self.now += 1;
                last = Some((address, key));
            }
            self.nodes[s as usize] = self.walk(hosts[s as usize], to, address, key, base)?;
        }
        for s in (0..hosts.len() as u32).filter(|&s| s != destination) {
            let (first, node) = self.nodes[s as usize];
            self.operator.source.push(s);
            self.operator.first.push(first);
            self.operator.node.push(node);
        }
        let (pairs, nodes) = (pairs..self.operator.source.len(), base..self.operator.step.len());
        self.operator.groups.push(Group { job, destination, pairs, nodes });
        Ok(())
    }

    /// The row of the source's link and the node of the rest.
    fn walk(
        &mut self,
        from: HostId,
        to: HostId,
        address: DestId,
        key: Option<u8>,
        base: usize,
    ) -> Result<(u32, u32), InferError> {
        let (fabric, goal) = (self.fabric, self.fabric.host_node(to));
        let lanes = u32::from(self.operator.lanes);
        let mut via = fabric.host_link(from);
        let first = via.0 * lanes + u32::from(self.scheme.first(from, to, key, via));
        self.way.clear();
        let mut parent = 0;
        if !fabric.alive(via) {
            return Err(self.lost(from, to));
        }
        while fabric.link_to(via) != goal {
            let out = fabric.link_to_switch(via).and_then(|switch| {
                let port = self.routes.port(switch, from, address);
                (port != NO_PORT).then(|| fabric.link_at(switch, port)).flatten()
            });
            let out = out.filter(|&out| fabric.alive(out) && self.way.len() <= fabric.switch_count());
            let Some(out) = out else { return Err(self.lost(from, to)) };
            let row = out.0 * lanes + u32::from(self.scheme.next(from, to, key, via, out));
            let (when, node) = self.seen[row as usize];
            if when == self.now {
                parent = node;
                break;
            }
            self.way.push(row);
            via = out;
        }
        for &row in self.way.iter().rev() {
            self.operator.step.push((row, parent));
            parent = (self.operator.step.len() - base) as u32;
            self.seen[row as usize] = (self.now, parent);
        }
        Ok((first, parent))
    }

    /// Why a pair's packets don't arrive, in the words of `routing`.
    fn lost(&self, from: HostId, to: HostId) -> InferError {
        match walk(self.fabric, self.routes, from, to) {
            Err(error) => error.into(),
            Ok(_) => InferError::Mismatch("the routes lead in a circle".into()),
        }
    }
}
