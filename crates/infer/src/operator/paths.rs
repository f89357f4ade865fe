//! How pairs reach their destinations under one routing: along one way each, or split over many.

use std::ops::Range;

use super::adaptive_paths::{Room, Split};
use super::static_paths::Ways;

/// Ways of all pairs.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Reach {
    /// One way a pair, by tables.
    Tables(Ways),
    /// Split over all shortest ways.
    Split(Split),
}

impl Reach {
    /// Calls `visit` with the rows on the way of a pair to this destination, and with what part of its bytes comes there.
    pub fn way(&self, destination: usize, pair: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Tables(ways) => ways.way(destination, pair, |row| visit(row, 1.0)),
            Self::Split(split) => split.way(destination, pair, visit),
        }
    }

    /// Adds to `rows` what the pairs of a destination leave in them; [`Reach::finish`] adds what still waits in `room`.
    pub fn add(&self, destination: usize, pairs: Range<usize>, x: &[f64], rows: &mut [f64], room: &mut Room) {
        match self {
            Self::Tables(ways) => ways.add(destination, pairs, x, rows, &mut room.values),
            Self::Split(split) => split.add(destination, pairs, x, rows, room),
        }
    }

    /// Adds to `rows` what waits.
    pub fn finish(&self, rows: &mut [f64], room: &mut Room) {
        if let Self::Split(split) = self {
            split.finish(rows, room);
        }
    }

    /// Calls `visit(at, sum)` with the sum of every pair's rows; `at` counts the pairs of a destination. `room` is of one `u`.
    pub fn sums(
        &self,
        destination: usize,
        pairs: Range<usize>,
        u: &[f64],
        room: &mut Room,
        visit: impl FnMut(usize, f64),
    ) {
        match self {
            Self::Tables(ways) => ways.sums(destination, pairs, u, &mut room.values, visit),
            Self::Split(split) => split.sums(destination, pairs, u, room, visit),
        }
    }

    /// Calls `visit` with all rows that are named, each as often as it is.
    pub fn each_row(&mut self, visit: impl FnMut(&mut u32)) {
        match self {
            Self::Tables(ways) => ways.rows().for_each(visit),
            Self::Split(split) => split.rows().for_each(visit),
        }
    }

    /// Calls `visit` with rows in which ways begin or end.
    pub fn each_end(&self, visit: impl FnMut(u32)) {
        match self {
            Self::Tables(ways) => ways.ends().for_each(visit),
            Self::Split(split) => split.ends().for_each(visit),
        }
    }

    /// The same without the pairs for which `keep` is false; `pairs` of every destination.
    pub fn restrict(&self, pairs: impl Iterator<Item = Range<usize>> + Clone, keep: &[bool]) -> Self {
        match self {
            Self::Tables(ways) => Self::Tables(ways.restrict(pairs, keep)),
            Self::Split(split) => Self::Split(split.restrict(pairs, keep)),
        }
    }
}
