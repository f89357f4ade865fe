//! Pairs to counters and back, without a matrix.
//!
//! The forward operator `R` adds every pair's bytes to the (link, lane) rows on its way; its adjoint adds up the rows of every pair's
//! way. Tables look at the destination, so ways grow together (`static_paths`): both operators pass once over pairs and once over
//! nodes, two additions a pair where the way has six hops.
//!
//! Where switches choose packet by packet, bytes are split over many ways, by fixed parts (`adaptive_paths`).
//!
//! Where routes changed from one interval to the next and the traffic did not, every interval says something else about the same pairs.
//! An operator of several routings has the rows of all of them one below the other, and a way a pair for each
//! ([`Operator::stacked`]).
//!
//! Knows fabric, routes, lanes and jobs ([`Participants`]); it has seen no counter.
//!
//! Invariants: pairs are in order of job, destination, source; rows in order of routing, link, lane; sums are taken in fixed pieces, added
//! up in order: the bits do not depend on the number of threads. `adjoint` is the transpose of `forward`.
//!
//! Source: Taffet, dissertation, sec. 4.2 and 4.4 (R), 4.5 (several jobs), 6.1.2 (adaptive routing).

mod adaptive_paths;
mod participants;
mod paths;
mod static_paths;

pub use self::participants::Participants;

use std::ops::Range;

use netloom_counters::LaneScheme;
use netloom_model::{Fabric, LinkId, Routes};
use netloom_numeric::LinearMap;
use netloom_routing::PathSet;
use rayon::prelude::*;

use crate::error::{InferError, few_enough};

use self::adaptive_paths::{Room, Split};
use self::paths::Reach;
use self::static_paths::Ways;

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
}

/// The rows of a routing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Block {
    start: usize,
    lanes: u8,
}

/// What pairs leave in the counters.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    rows: usize,
    groups: Vec<Group>,
    /// `[pair]`: position of the source in the job's hosts.
    source: Vec<u32>,
    /// `[routing]`: the pairs' ways.
    ways: Vec<Reach>,
    /// `[routing]`: where its rows are.
    blocks: Vec<Block>,
    /// `[job][host of the job]`: the number of its leaf.
    leaves: Vec<Vec<u32>>,
}

/// What was in force.
#[derive(Clone, Copy, Debug)]
pub enum Routing<'a> {
    /// Tables, and how lanes are used.
    Tables(&'a Routes, &'a LaneScheme),
    /// Switches that choose packet by packet among the shortest ways: an even split, or one by the links' weights. Whole links.
    Adaptive(&'a PathSet, Option<&'a [f64]>),
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
        Self::stacked(fabric, &[(routes, scheme)], jobs)
    }

    /// The same under several routings, one below the other: rows of the first come first.
    ///
    /// # Errors
    /// As [`Operator::new`], for any of the routings.
    pub fn stacked(
        fabric: &Fabric,
        routings: &[(&Routes, &LaneScheme)],
        jobs: &[Participants],
    ) -> Result<Self, InferError> {
        let routings: Vec<Routing> =
            routings.iter().map(|&(routes, scheme)| Routing::Tables(routes, scheme)).collect();
        Self::under(fabric, &routings, jobs)
    }

    /// The same under routings of any kind.
    ///
    /// # Errors
    /// As [`Operator::new`], for any of the routings.
    pub fn under(fabric: &Fabric, routings: &[Routing], jobs: &[Participants]) -> Result<Self, InferError> {
        few_enough(jobs.iter().map(|job| job.hosts.len()))?;
        let (mut blocks, mut ways, mut rows) = (Vec::new(), Vec::new(), 0);
        for &routing in routings {
            let lanes = match routing {
                Routing::Tables(_, scheme) => scheme.lanes().max(1),
                Routing::Adaptive(..) => 1,
            };
            ways.push(match routing {
                Routing::Tables(routes, scheme) => {
                    Reach::Tables(Ways::new(fabric, (routes, scheme), rows, jobs)?)
                }
                Routing::Adaptive(paths, weight) => {
                    Reach::Split(Split::new(fabric, (paths, weight), rows, jobs)?)
                }
            });
            blocks.push(Block { start: rows, lanes });
            rows += fabric.link_count() * usize::from(lanes);
        }
        let (mut groups, mut source) = (Vec::new(), Vec::new());
        for (j, job) in jobs.iter().enumerate() {
            let hosts = job.hosts.len() as u32;
            for destination in 0..hosts {
                let start = source.len();
                source.extend((0..hosts).filter(|&s| s != destination));
                groups.push(Group { job: j as u32, destination, pairs: start..source.len() });
            }
        }
        let leaves = |job: &Participants| job.hosts.iter().map(|&h| fabric.leaf(h).0).collect();
        let leaves = jobs.iter().map(leaves).collect();
        Ok(Self { rows, groups, source, ways, blocks, leaves })
    }

    /// Rows: links times lanes, of every routing.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Routings.
    pub fn routings(&self) -> usize {
        self.blocks.len()
    }

    /// The rows of a routing; of no use after [`Operator::compact`].
    pub fn rows_of(&self, routing: usize) -> Range<usize> {
        let start = |routing: usize| self.blocks.get(routing).map_or(self.rows, |block| block.start);
        start(routing)..start(routing + 1)
    }

    /// Whether bytes are split over many ways, under some routing.
    pub fn splits(&self) -> bool {
        (0..self.routings()).any(|routing| self.is_split(routing))
    }

    /// Whether they are under this one.
    pub fn is_split(&self, routing: usize) -> bool {
        matches!(self.ways[routing], Reach::Split(_))
    }

    /// Lanes of a link, under the first routing.
    pub fn lanes(&self) -> u8 {
        self.blocks.first().map_or(1, |block| block.lanes)
    }

    /// The row of a link's lane, under the first routing.
    pub fn row(&self, link: LinkId, lane: u8) -> usize {
        link.index() * usize::from(self.lanes()) + usize::from(lane)
    }

    /// Which routing, link and lane a row is of; of no use after [`Operator::compact`].
    pub fn place(&self, row: usize) -> (usize, LinkId, u8) {
        let routing = self.blocks.partition_point(|block| block.start <= row).saturating_sub(1);
        let Block { start, lanes } = self.blocks[routing];
        let (at, lanes) = (row - start, usize::from(lanes));
        (routing, LinkId((at / lanes) as u32), (at % lanes) as u8)
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

    /// `[pair]`: the pair that goes back; `u32::MAX` if it isn't an unknown.
    pub fn opposites(&self) -> Vec<u32> {
        let mut opposite = vec![u32::MAX; self.pairs()];
        // `[job][destination]`: its pairs that are yet to be met. Destinations rise, and so do sources: each is passed once.
        let mut left: Vec<Vec<Range<usize>>> = self.leaves.iter().map(|of| vec![0..0; of.len()]).collect();
        for group in &self.groups {
            left[group.job as usize][group.destination as usize] = group.pairs.clone();
        }
        for group in &self.groups {
            for pair in group.pairs.clone() {
                let back = &mut left[group.job as usize][self.source[pair] as usize];
                while back.start < back.end && self.source[back.start] < group.destination {
                    back.start += 1;
                }
                if back.start < back.end && self.source[back.start] == group.destination {
                    opposite[pair] = back.start as u32;
                }
            }
        }
        opposite
    }

    /// The number of the leaf of a pair's source.
    pub fn leaf(&self, pair: Pair) -> u32 {
        self.leaves[pair.job as usize][pair.source as usize]
    }

    /// `[row]`: whether a pair's way begins or ends there.
    pub fn ends(&self) -> Vec<bool> {
        let mut ends = vec![false; self.rows];
        for ways in &self.ways {
            ways.each_end(|row| ends[row as usize] = true);
        }
        ends
    }

    /// Calls `visit` with the rows on a pair's way, under one routing after the other.
    pub fn way(&self, pair: usize, mut visit: impl FnMut(usize)) {
        self.parts(pair, |row, _| visit(row));
    }

    /// The same with the part of the pair's bytes that comes to each row.
    pub fn parts(&self, pair: usize, mut visit: impl FnMut(usize, f64)) {
        let at = self.groups.partition_point(|g| g.pairs.end <= pair);
        for ways in &self.ways {
            ways.way(at, pair, &mut visit);
        }
    }

    /// `R x`: what pairs with these bytes leave in every row.
    pub fn forward(&self, x: &[f64]) -> Vec<f64> {
        assert_eq!(x.len(), self.pairs());
        let piece = self.groups.len().div_ceil(PIECES).max(1);
        let parts: Vec<Vec<f64>> = self
            .groups
            .par_chunks(piece)
            .enumerate()
            .map(|(part, groups)| {
                let mut rows = vec![0.0; self.rows];
                let mut rooms = self.rooms();
                for (at, group) in (part * piece..).zip(groups) {
                    for (ways, room) in self.ways.iter().zip(&mut rooms) {
                        ways.add(at, group.pairs.clone(), x, &mut rows, room);
                    }
                }
                self.ways.iter().zip(&mut rooms).for_each(|(ways, room)| ways.finish(&mut rows, room));
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
        for (at, group) in self.groups.iter().enumerate() {
            let (mine, others) = rest.split_at_mut(group.pairs.len());
            work.push((at, mine));
            rest = others;
        }
        let piece = work.len().div_ceil(PIECES).max(1);
        work.par_chunks_mut(piece).for_each(|work| {
            let mut rooms = self.rooms();
            for (at, sums) in work {
                self.sums(*at, u, &mut rooms, sums);
            }
        });
        sums
    }

    /// Calls `visit(pair, sum of its rows)` for all pairs of a job, in order.
    pub fn each(&self, job: u32, u: &[f64], mut visit: impl FnMut(Pair, f64)) {
        assert_eq!(u.len(), self.rows);
        let (mut rooms, mut sums) = (self.rooms(), Vec::new());
        for (at, group) in self.groups.iter().enumerate().filter(|(_, g)| g.job == job) {
            sums.clear();
            sums.resize(group.pairs.len(), 0.0);
            self.sums(at, u, &mut rooms, &mut sums);
            let destination = group.destination;
            for (&source, &sum) in self.source[group.pairs.clone()].iter().zip(&sums) {
                visit(Pair { job, source, destination }, sum);
            }
        }
    }

    /// Room to work in, one a routing.
    fn rooms(&self) -> Vec<Room> {
        vec![Room::default(); self.ways.len()]
    }

    /// `[pair of a group]`: the sum of its rows.
    fn sums(&self, at: usize, u: &[f64], rooms: &mut [Room], sums: &mut [f64]) {
        let pairs = &self.groups[at].pairs;
        for (routing, (ways, room)) in self.ways.iter().zip(rooms).enumerate() {
            if routing == 0 {
                ways.sums(at, pairs.clone(), u, room, |p, sum| sums[p] = sum);
            } else {
                ways.sums(at, pairs.clone(), u, room, |p, sum| sums[p] += sum);
            }
        }
    }

    /// The same with rows that some pair crosses only, and what each of them was.
    pub fn compact(mut self) -> (Self, Vec<u32>) {
        let mut new = vec![u32::MAX; self.rows];
        for ways in &mut self.ways {
            ways.each_row(|row| new[*row as usize] = 0);
        }
        let old: Vec<u32> = (0..self.rows as u32).filter(|&row| new[row as usize] == 0).collect();
        for (at, &row) in old.iter().enumerate() {
            new[row as usize] = at as u32;
        }
        for ways in &mut self.ways {
            ways.each_row(|row| *row = new[*row as usize]);
        }
        self.rows = old.len();
        (self, old)
    }

    /// The same without the pairs for which `keep` is false; what is left keeps its order.
    pub fn restrict(&self, keep: &[bool]) -> Self {
        assert_eq!(keep.len(), self.pairs());
        let (mut groups, mut source) = (Vec::with_capacity(self.groups.len()), Vec::new());
        for group in &self.groups {
            let start = source.len();
            source.extend(group.pairs.clone().filter(|&p| keep[p]).map(|p| self.source[p]));
            groups.push(Group { pairs: start..source.len(), ..group.clone() });
        }
        let pairs = || self.groups.iter().map(|group| group.pairs.clone());
        let ways = self.ways.iter().map(|ways| ways.restrict(pairs(), keep)).collect();
        Self {
            rows: self.rows,
            groups,
            source,
            ways,
            blocks: self.blocks.clone(),
            leaves: self.leaves.clone(),
        }
    }
}

impl LinearMap for Operator {
    fn rows(&self) -> usize {
        self.rows
    }

    fn columns(&self) -> usize {
        self.pairs()
    }

    fn forward(&self, z: &[f64]) -> Vec<f64> {
        Self::forward(self, z)
    }

    fn adjoint(&self, y: &[f64]) -> Vec<f64> {
        Self::adjoint(self, y)
    }
}
