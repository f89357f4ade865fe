//! What whole applications do on a grid: the atoms that are tried together, before any others.
//!
//! Counters of one lane are often explained by several of these. Each that explains them is a hypothesis: the simplest is believed, the
//! others are doubts ([`crate::trust`]).

use crate::collective::Lines;
use crate::grid::{Grid, Order};

/// Atoms that go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Pattern {
    /// Neighbours on the grid (stencils without wrap), or all pairs.
    Neighbours,
    /// Everybody and everybody else in rows, columns and planes of the grid (Fourier transforms in slabs and pencils).
    Groups,
    /// Neighbours on a grid whose ends meet.
    Periodic,
    /// Rank (x, y) and the rank that (y, x) has where y runs fastest.
    Transposed,
    /// Ranks that differ in one bit (hypercubes, butterflies), and mirrored ranks.
    Bits,
    /// Neighbours and groups.
    Mixed,
}

/// Everybody is one group of no more pairs than this; larger ones are too long to write down.
const PAIRS: u64 = 1 << 19;

impl Pattern {
    /// What is tried beside neighbours; what is mixed only where these explain nothing.
    pub const OTHERS: [Self; 4] = [Self::Groups, Self::Periodic, Self::Transposed, Self::Bits];

    /// Whether every rank sends as much as every other.
    pub fn is_even(self) -> bool {
        matches!(self, Self::Groups | Self::Periodic)
    }

    /// Whether it says anything on this grid that it doesn't on another.
    pub fn is_of(self, grid: Grid) -> bool {
        let sides = grid.sides.iter().filter(|&&side| side > 1).count();
        match self {
            Self::Neighbours | Self::Periodic => true,
            Self::Groups | Self::Mixed => grid.order == Order::Rows && sides > 1,
            Self::Transposed => grid.order == Order::Rows && sides == 2,
            Self::Bits => grid.order == Order::Rows && sides < 2,
        }
    }
}

/// Rows, columns and planes of a grid, of at least two ranks and less than all, that are not too large.
pub(crate) fn groups(grid: Grid) -> impl Iterator<Item = Lines> {
    let [x, y, z] = grid.sides;
    let ranks = x * y * z;
    let all = [(1, x), (x, y), (x * y, z), (1, x * y), (x, y * z)];
    let mut seen = Vec::new();
    let lines = all.into_iter().map(|(stride, count)| Lines { stride, count });
    lines.filter(move |lines| {
        let pairs = u64::from(ranks) * u64::from(lines.count);
        let new = lines.count > 1 && lines.count < ranks && pairs <= PAIRS && !seen.contains(lines);
        seen.push(*lines);
        new
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
