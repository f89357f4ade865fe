//! What whole applications do on a grid: the atoms that are tried together, before any others.
//!
//! Counters of one lane are often explained by several of these. Each that explains them is a hypothesis: the simplest is believed, the
//! others are doubts ([`crate::confidence`]).

use std::ops::RangeInclusive;

use super::collective::{Collective, Lines};
use super::grid::{Grid, Order};
use super::{Atom, Dictionary};

/// Atoms that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Neighbours on the grid (stencils without wrap), or all pairs.
    Neighbours,
    /// Everybody and everybody else in rows, columns and planes of the grid (Fourier transforms in slabs and pencils).
    Groups,
    /// Neighbours on a grid whose ends meet.
    Periodic,
    /// Every rank and the one that is so many further, round the end.
    Shifts,
    /// Rank (x, y) and the rank that (y, x) has where y runs fastest.
    Transposed,
    /// Ranks that differ in one bit (hypercubes, butterflies), and mirrored ranks.
    Bits,
    /// Neighbours and groups.
    Mixed,
}

impl Pattern {
    /// What is tried beside neighbours; what is mixed only where these explain nothing.
    pub const OTHERS: [Self; 5] = [Self::Groups, Self::Periodic, Self::Shifts, Self::Transposed, Self::Bits];

    /// Whether every rank sends as much as every other.
    pub fn is_even(self) -> bool {
        matches!(self, Self::Groups | Self::Periodic | Self::Shifts)
    }

    /// Whether it says anything on this grid that it doesn't on another.
    pub fn is_of(self, grid: Grid) -> bool {
        let sides = grid.sides.iter().filter(|&&side| side > 1).count();
        match self {
            Self::Neighbours | Self::Periodic => true,
            Self::Groups | Self::Mixed => grid.order == Order::Rows && sides > 1,
            Self::Transposed => grid.order == Order::Rows && sides == 2,
            Self::Bits | Self::Shifts => grid.order == Order::Rows && sides < 2,
        }
    }
}

/// Rows, columns and planes of a grid, of at least two ranks and less than all, that are not too large.
fn groups(grid: Grid, most_pairs: u64) -> impl Iterator<Item = Lines> {
    let [x, y, z] = grid.sides;
    let ranks = x * y * z;
    let all = [(1, x), (x, y), (x * y, z), (1, x * y), (x, y * z)];
    let mut seen = Vec::new();
    let lines = all.into_iter().map(|(stride, count)| Lines { stride, count });
    lines.filter(move |lines| {
        let pairs = u64::from(ranks) * u64::from(lines.count);
        let new = lines.count > 1 && lines.count < ranks && pairs <= most_pairs && !seen.contains(lines);
        seen.push(*lines);
        new
    })
}

impl Dictionary<'_> {
    /// Adds the atoms of a pattern, and tells which they are. What an atom's pairs carry, all of them carry: one with a pair that can
    /// carry nothing is left out, but for neighbours, whose classes may be used in part.
    pub fn add_pattern(&mut self, pattern: Pattern) -> Vec<usize> {
        let before = self.len();
        match pattern {
            Pattern::Neighbours => {}
            Pattern::Groups | Pattern::Mixed => self.add_groups(),
            Pattern::Periodic => {
                // Where a side is two, there and back are the same.
                let steps = |side: u32| if side > 2 { -1..=1 } else { 0..=i64::from(side) - 1 };
                self.add_wrapped(self.grid().sides.map(steps));
            }
            Pattern::Shifts => {
                let ranks = self.grid().ranks();
                if u64::from(ranks).pow(2) <= self.settings.pattern_pairs {
                    self.add_wrapped(self.grid().sides.map(|side| 0..=i64::from(side) - 1));
                }
            }
            Pattern::Transposed => {
                let [x, y, _] = self.grid().sides;
                self.add_whole(Atom::Transposed, |add| (0..x * y).all(|r| add(r, r / x + y * (r % x))));
            }
            Pattern::Bits => self.add_bits(false),
        }
        let near = matches!(pattern, Pattern::Neighbours | Pattern::Mixed).then(|| self.neighbours());
        near.into_iter().flatten().chain(before..self.len()).collect()
    }

    /// Adds everybody and everybody else in rows, columns and planes.
    fn add_groups(&mut self) {
        let ranks = self.grid().ranks();
        for lines in groups(self.grid(), self.settings.pattern_pairs) {
            let Lines { stride, count } = lines;
            let first = |rank: u32| rank - rank / stride % count * stride;
            self.add_whole(Atom::Collective { what: Collective::Everybody, lines }, |add| {
                (0..ranks).all(|from| {
                    let mut others = (0..count).map(|k| first(from) + k * stride).filter(|&to| to != from);
                    others.all(|to| add(from, to))
                })
            });
        }
    }

    /// Adds what is so many steps away on a grid whose ends meet.
    fn add_wrapped(&mut self, steps: [RangeInclusive<i64>; 3]) {
        let ranks = self.grid().ranks();
        let sides = self.grid().sides.map(i64::from);
        for (c, b, a) in triples(steps).filter(|&step| step != (0, 0, 0)) {
            let offset = [a, b, c];
            let to = |from: u32| {
                let place = self.place_of(from);
                self.rank_at([0, 1, 2].map(|i| (place[i] + offset[i]).rem_euclid(sides[i])))
            };
            let all: Vec<u32> = (0..ranks).map(to).collect();
            self.add_whole(Atom::Wrapped(offset), |add| (0..).zip(&all).all(|(from, &to)| add(from, to)));
        }
    }
}

/// All combinations, the first of the ranges fastest: (third, second, first).
fn triples([x, y, z]: [RangeInclusive<i64>; 3]) -> impl Iterator<Item = (i64, i64, i64)> {
    z.flat_map(move |c| {
        let x = x.clone();
        y.clone().flat_map(move |b| x.clone().map(move |a| (c, b, a)))
    })
}

/// A grid and what is done on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hypothesis {
    /// The grid.
    pub grid: Grid,
    /// The atoms that come first.
    pub pattern: Pattern,
}
