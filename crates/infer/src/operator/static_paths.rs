//! The ways of all pairs under one routing, grown together.
//!
//! What is left of a way after a link depends on the link, the destination (its address) and the service level only. So the ways to a
//! destination are a tree whose nodes are (row, rest of the way), and a pair is its host link's row and a node. Schemes in which every pair
//! has lanes of its own have a branch each.
//!
//! Invariants: trees and pairs are in the order of the operator's; a node's parent comes before it.

use std::ops::Range;

use netloom_counters::LaneScheme;
use netloom_model::{DestId, Fabric, HostId, LinkId, NO_PORT, Routes};
use netloom_routing::{Walker, walk};
use rayon::prelude::*;

use crate::error::InferError;

use super::participants::Participants;

/// Pieces of work that are done side by side.
const PIECES: usize = 64;

/// A tree a destination.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Ways {
    /// `[pair]`: row of the source's link.
    first: Vec<u32>,
    /// `[pair]`: the rest of its way, a node of its destination's tree.
    node: Vec<u32>,
    /// `[node]`: row and parent.
    step: Vec<(u32, u32)>,
    /// `[destination]`: its nodes; a node's number counts from here, and 0 is the end of the way.
    trees: Vec<Range<usize>>,
}

impl Ways {
    /// All pairs inside the jobs; `start` is the number of the first row.
    pub fn new(
        fabric: &Fabric,
        (routes, scheme): (&Routes, &LaneScheme),
        start: usize,
        jobs: &[Participants],
    ) -> Result<Self, InferError> {
        if routes.cabling_hash.is_some_and(|hash| hash != fabric.cabling_hash()) {
            return Err(InferError::Mismatch("the routes are of another fabric".into()));
        }
        let walker = Walker::new(fabric, routes)?;
        let work: Vec<(usize, u32)> = (jobs.iter().enumerate())
            .flat_map(|(j, job)| (0..job.hosts.len() as u32).map(move |d| (j, d)))
            .collect();
        let piece = work.len().div_ceil(PIECES).max(1);
        let parts: Vec<Result<Self, InferError>> = work
            .par_chunks(piece)
            .map(|work| {
                let mut builder = Builder::new(&walker, (fabric, routes), scheme, start);
                for &(job, destination) in work {
                    builder.tree(&jobs[job].hosts, destination)?;
                }
                Ok(builder.ways)
            })
            .collect();
        let mut whole = Self::default();
        for part in parts {
            whole.append(part?);
        }
        Ok(whole)
    }

    fn append(&mut self, other: Self) {
        let nodes = self.step.len();
        self.first.extend(other.first);
        self.node.extend(other.node);
        self.step.extend(other.step);
        self.trees.extend(other.trees.into_iter().map(|tree| tree.start + nodes..tree.end + nodes));
    }

    /// Calls `visit` with the rows on the way of a pair to this destination.
    pub fn way(&self, destination: usize, pair: usize, mut visit: impl FnMut(usize)) {
        visit(self.first[pair] as usize);
        let steps = &self.step[self.trees[destination].clone()];
        let mut node = self.node[pair];
        while node != 0 {
            let (row, parent) = steps[node as usize - 1];
            visit(row as usize);
            node = parent;
        }
    }

    /// Adds to `rows` what the pairs of a destination leave in them; `sum` is room to work in.
    pub fn add(
        &self,
        destination: usize,
        pairs: Range<usize>,
        x: &[f64],
        rows: &mut [f64],
        sum: &mut Vec<f64>,
    ) {
        let steps = &self.step[self.trees[destination].clone()];
        sum.clear();
        sum.resize(steps.len() + 1, 0.0);
        for p in pairs {
            rows[self.first[p] as usize] += x[p];
            sum[self.node[p] as usize] += x[p];
        }
        for (n, &(row, parent)) in steps.iter().enumerate().rev() {
            let bytes = sum[n + 1];
            rows[row as usize] += bytes;
            sum[parent as usize] += bytes;
        }
    }

    /// Calls `visit(at, sum)` with the sum of every pair's rows; `at` counts the pairs of a destination, `value` is room to work in.
    pub fn sums(
        &self,
        destination: usize,
        pairs: Range<usize>,
        u: &[f64],
        value: &mut Vec<f64>,
        mut visit: impl FnMut(usize, f64),
    ) {
        // `[node]`: the sum of the rows from there on.
        value.clear();
        value.push(0.0);
        for &(row, parent) in &self.step[self.trees[destination].clone()] {
            let sum = u[row as usize] + value[parent as usize];
            value.push(sum);
        }
        let ends = self.first[pairs.clone()].iter().zip(&self.node[pairs]);
        for (at, (&first, &node)) in ends.enumerate() {
            visit(at, u[first as usize] + value[node as usize]);
        }
    }

    /// All rows that are named, each as often as it is.
    pub fn rows(&mut self) -> impl Iterator<Item = &mut u32> {
        self.first.iter_mut().chain(self.step.iter_mut().map(|(row, _)| row))
    }

    /// Rows in which ways begin or end.
    pub fn ends(&self) -> impl Iterator<Item = u32> + '_ {
        let last = self.step.iter().filter(|(_, parent)| *parent == 0).map(|(row, _)| row);
        self.first.iter().chain(last).copied()
    }

    /// The same without the pairs for which `keep` is false and the nodes that only they need; `pairs` of every destination.
    pub fn restrict(&self, pairs: impl Iterator<Item = Range<usize>>, keep: &[bool]) -> Self {
        let mut small = Self::default();
        let mut new = Vec::new();
        for (pairs, tree) in pairs.zip(&self.trees) {
            let steps = &self.step[tree.clone()];
            // Which nodes are still on a way, then their new numbers.
            new.clear();
            new.resize(steps.len() + 1, 0u32);
            for p in pairs.clone().filter(|&p| keep[p]) {
                new[self.node[p] as usize] = 1;
            }
            for n in (1..=steps.len()).rev() {
                if new[n] != 0 {
                    new[steps[n - 1].1 as usize] = 1;
                }
            }
            new[0] = 0;
            let base = small.step.len();
            for n in 1..=steps.len() {
                if new[n] != 0 {
                    let (row, parent) = steps[n - 1];
                    small.step.push((row, new[parent as usize]));
                    new[n] = (small.step.len() - base) as u32;
                }
            }
            small.trees.push(base..small.step.len());
            for p in pairs.filter(|&p| keep[p]) {
                small.first.push(self.first[p]);
                small.node.push(new[self.node[p] as usize]);
            }
        }
        small
    }
}

/// Grows the trees of some destinations.
struct Builder<'a> {
    walker: &'a Walker<'a>,
    fabric: &'a Fabric,
    routes: &'a Routes,
    scheme: &'a LaneScheme,
    /// Lanes of a link; a scheme counts them anew when it is asked.
    lanes: u32,
    /// The first row's number.
    start: u32,
    ways: Ways,
    /// `[row]`: when its node was made, and which.
    seen: Vec<(u32, u32)>,
    now: u32,
    /// Sources in order of (address, key), and their nodes in order of sources.
    order: Vec<(DestId, Option<u8>, u32)>,
    nodes: Vec<(u32, u32)>,
    way: Vec<u32>,
    /// A pair's links and lanes, where every pair has its own.
    alone: (Vec<LinkId>, Vec<u8>),
}

impl<'a> Builder<'a> {
    fn new(
        walker: &'a Walker<'a>,
        (fabric, routes): (&'a Fabric, &'a Routes),
        scheme: &'a LaneScheme,
        start: usize,
    ) -> Self {
        let lanes = u32::from(scheme.lanes().max(1));
        let (ways, order, nodes, way, alone) = Default::default();
        let (start, seen) = (start as u32, vec![(0, 0); fabric.link_count() * lanes as usize]);
        Self { walker, fabric, routes, scheme, lanes, start, ways, seen, now: 0, order, nodes, way, alone }
    }

    /// Adds all pairs of `hosts` with one destination.
    fn tree(&mut self, hosts: &[HostId], destination: u32) -> Result<(), InferError> {
        let to = hosts[destination as usize];
        let space = self.routes.dests(self.fabric);
        self.order.clear();
        for (s, &from) in hosts.iter().enumerate().filter(|&(s, _)| s != destination as usize) {
            let address = self.routes.address(space, from, to);
            self.order.push((address, self.scheme.level(from, to), s as u32));
        }
        self.order.sort_unstable();
        let base = self.ways.step.len();
        self.nodes.clear();
        self.nodes.resize(hosts.len(), (0, 0));
        let mut last = None;
        for at in 0..self.order.len() {
            let (address, key, s) = self.order[at];
            // Ways grow together only where tables don't look at the source.
            if last != Some((address, key)) || self.routes.lft().is_none() {
                self.now += 1;
                last = Some((address, key));
            }
            self.nodes[s as usize] = match key {
                Some(level) => self.walk(hosts[s as usize], to, address, level, base)?,
                None => self.branch(hosts[s as usize], to, base)?,
            };
        }
        for s in (0..hosts.len()).filter(|&s| s != destination as usize) {
            let (first, node) = self.nodes[s];
            self.ways.first.push(first);
            self.ways.node.push(node);
        }
        self.ways.trees.push(base..self.ways.step.len());
        Ok(())
    }

    /// The row of the source's link and the node of the rest, where no other pair has these lanes.
    fn branch(&mut self, from: HostId, to: HostId, base: usize) -> Result<(u32, u32), InferError> {
        let (way, lanes) = &mut self.alone;
        way.clear();
        self.walker.visit(from, to, |link| way.push(link))?;
        self.scheme.on_way(self.walker, (from, to), way, lanes)?;
        let mut rows = (way.iter().zip(lanes)).map(|(link, lane)| link.0 * self.lanes + u32::from(*lane));
        let first = rows.next().unwrap_or(0);
        let mut parent = 0;
        for row in rows.rev() {
            self.ways.step.push((self.start + row, parent));
            parent = (self.ways.step.len() - base) as u32;
        }
        Ok((self.start + first, parent))
    }

    /// The row of the source's link and the node of the rest.
    fn walk(
        &mut self,
        from: HostId,
        to: HostId,
        address: DestId,
        level: u8,
        base: usize,
    ) -> Result<(u32, u32), InferError> {
        let (fabric, goal) = (self.fabric, self.fabric.host_node(to));
        let lanes = self.lanes;
        let mut via = fabric.host_link(from);
        let first = via.0 * lanes + u32::from(self.scheme.first(from, level));
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
            let row = out.0 * lanes + u32::from(self.scheme.next(level, via, out));
            let (when, node) = self.seen[row as usize];
            if when == self.now {
                parent = node;
                break;
            }
            self.way.push(row);
            via = out;
        }
        for &row in self.way.iter().rev() {
            self.ways.step.push((self.start + row, parent));
            parent = (self.ways.step.len() - base) as u32;
            self.seen[row as usize] = (self.now, parent);
        }
        Ok((self.start + first, parent))
    }

    /// Why a pair's packets don't arrive, in the words of `routing`.
    fn lost(&self, from: HostId, to: HostId) -> InferError {
        match walk(self.fabric, self.routes, from, to) {
            Err(error) => error.into(),
            Ok(_) => InferError::Mismatch("the routes lead in a circle".into()),
        }
    }
}
