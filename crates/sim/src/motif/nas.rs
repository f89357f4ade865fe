//! Two of the NAS parallel benchmarks and a weather code, as paper 002 has them: rounds in which every rank exchanges a message with one partner.
//!
//! | program | a round's partners | source |
//! |---|---|---|
//! | CG | in the row of a process grid: column XOR 1, 2, 4, …; then the transposed place; then two sums of 8 bytes, XOR …, 4, 2, 1 | NPB 3, `cg.f`, `conj_grad` |
//! | FT | rank XOR 1, 2, 3, …: an all-to-all of symmetric pairs | paper 002; MPICH's pairwise exchange for powers of two |
//! | WRF | rank + columns and rank - columns at once | paper 002 |
//!
//! The recorded runs of CG and FT are beside them in the tests.

use crate::replay::{Cycle, Op, Script};

/// A problem size of the NAS parallel benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NasClass {
    /// Tiny.
    S,
    /// For a workstation of 1991.
    W,
    /// The three of the original benchmarks: each about four times the one before.
    A,
    /// See [`NasClass::A`].
    B,
    /// See [`NasClass::A`].
    C,
    /// About sixteen times C.
    D,
}

impl NasClass {
    /// Rows of CG's matrix.
    pub fn cg_rows(self) -> u64 {
        match self {
            Self::S => 1_400,
            Self::W => 7_000,
            Self::A => 14_000,
            Self::B => 75_000,
            Self::C => 150_000,
            Self::D => 1_500_000,
        }
    }

    /// Points of FT's grid.
    pub fn ft_points(self) -> u64 {
        match self {
            Self::S => 64 * 64 * 64,
            Self::W => 128 * 128 * 32,
            Self::A => 256 * 256 * 128,
            Self::B => 512 * 256 * 256,
            Self::C => 512 * 512 * 512,
            Self::D => 2048 * 1024 * 1024,
        }
    }
}

/// Rounds of exchanges with one partner each; the next begins when a rank's own exchange is over.
trait Rounds: Send + Sync {
    /// Rounds of an iteration.
    fn rounds(&self) -> u64;
    /// Iterations.
    fn iterations(&self) -> u64;
    /// A rank's partner in a round, and the bytes of a message either way; itself: it has none.
    fn exchange(&self, rank: u32, round: u64) -> (u32, u64);

    fn step(&self, rank: u32, step: u64) -> Option<Op> {
        let round = step / 3;
        if self.rounds() == 0 || round / self.rounds() >= self.iterations() {
            return None;
        }
        let (partner, bytes) = self.exchange(rank, round % self.rounds());
        Some(match step % 3 {
            0 if partner != rank => Op::Irecv { from: partner, tag: 0 },
            1 if partner != rank => Op::Isend { to: partner, bytes, tag: 0 },
            _ => Op::WaitAll,
        })
    }

    fn repeats(&self) -> Cycle {
        Cycle::every(3 * self.rounds(), self.iterations())
    }
}

/// NAS CG's conjugate gradients. Ranks are a power of two, row by row on a grid of as many columns as rows, or twice as many.
#[derive(Clone, Debug)]
pub struct NasCg {
    /// Ranks, a power of two.
    pub ranks: u32,
    /// Bytes of a segment of a vector ([`NasCg::segment_bytes`]).
    pub bytes: u64,
    /// Whether the sums of 8 bytes are there.
    pub sums: bool,
    /// Times.
    pub iterations: u64,
}

impl NasCg {
    /// Columns of the process grid of so many ranks (a power of two).
    pub fn columns(ranks: u32) -> u32 {
        1 << ranks.trailing_zeros().div_ceil(2)
    }

    /// Bytes that a rank sends in a round: its column's part of a vector.
    pub fn segment_bytes(class: NasClass, ranks: u32) -> u64 {
        8 * class.cg_rows().div_ceil(u64::from(Self::columns(ranks)))
    }

    fn transposed(&self, rank: u32) -> u32 {
        let columns = Self::columns(self.ranks);
        let rows = self.ranks / columns;
        if rows == columns {
            return rank % rows * rows + rank / rows;
        }
        let pair = rank / 2;
        2 * (pair % rows * rows + pair / rows) + rank % 2
    }
}

impl Rounds for NasCg {
    fn rounds(&self) -> u64 {
        let reduce = u64::from(Self::columns(self.ranks).trailing_zeros());
        reduce + 1 + if self.sums { 2 * reduce } else { 0 }
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn exchange(&self, rank: u32, round: u64) -> (u32, u64) {
        let reduce = u64::from(Self::columns(self.ranks).trailing_zeros());
        match round {
            _ if round < reduce => (rank ^ 1 << round, self.bytes),
            _ if round == reduce => (self.transposed(rank), self.bytes),
            // A sum goes over the row from the farthest to the nearest.
            _ => (rank ^ 1 << (reduce - 1 - (round - reduce - 1) % reduce), 8),
        }
    }
}

impl Script for NasCg {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        self.step(rank, step)
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(self.repeats())
    }
}

/// NAS FT's transposition: in round *k* with rank XOR *k*.
#[derive(Clone, Debug)]
pub struct NasFt {
    /// Ranks, a power of two.
    pub ranks: u32,
    /// Bytes from every rank to every other ([`NasFt::pair_bytes`]).
    pub bytes: u64,
    /// Times.
    pub iterations: u64,
}

impl NasFt {
    /// Bytes from a rank to another: 16 for each point of the grid that moves.
    pub fn pair_bytes(class: NasClass, ranks: u32) -> u64 {
        (16 * class.ft_points()).div_ceil(u64::from(ranks) * u64::from(ranks))
    }
}

impl Rounds for NasFt {
    fn rounds(&self) -> u64 {
        u64::from(self.ranks) - 1
    }

    fn iterations(&self) -> u64 {
        self.iterations
    }

    fn exchange(&self, rank: u32, round: u64) -> (u32, u64) {
        (rank ^ (round as u32 + 1), self.bytes)
    }
}

impl Script for NasFt {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        self.step(rank, step)
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(self.repeats())
    }
}

/// WRF's exchange between rows of its grid: everybody with the ranks so many columns before and behind, where they are.
#[derive(Clone, Debug)]
pub struct Wrf {
    /// Ranks.
    pub ranks: u32,
    /// Ranks a row.
    pub columns: u32,
    /// Bytes of a message.
    pub bytes: u64,
    /// Times.
    pub iterations: u64,
}

impl Wrf {
    /// The ranks that a rank exchanges with.
    fn partners(&self, rank: u32) -> impl Iterator<Item = u32> {
        let before = rank.checked_sub(self.columns);
        let behind = rank.checked_add(self.columns).filter(|&rank| rank < self.ranks);
        before.into_iter().chain(behind)
    }
}

impl Script for Wrf {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let partners = || self.partners(rank);
        let count = partners().count() as u64;
        let period = 2 * count + 1;
        if step / period >= self.iterations {
            return None;
        }
        Some(match step % period {
            k if k < count => Op::Irecv { from: partners().nth(k as usize)?, tag: 0 },
            k if k < 2 * count => {
                Op::Isend { to: partners().nth((k - count) as usize)?, bytes: self.bytes, tag: 0 }
            }
            _ => Op::WaitAll,
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        Some(Cycle::every(2 * self.partners(rank).count() as u64 + 1, self.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_and_bytes_are_those_of_the_paper() {
        assert_eq!([1, 2, 4, 8, 64, 128].map(NasCg::columns), [1, 2, 2, 4, 8, 16]);
        assert_eq!(NasCg::segment_bytes(NasClass::D, 128), 750_000);
        assert_eq!(NasFt::pair_bytes(NasClass::C, 128), 131_072);
    }

    #[test]
    fn a_transposition_is_its_own_inverse() {
        for ranks in [1, 2, 4, 8, 16, 32, 64, 128, 256] {
            let cg = NasCg { ranks, bytes: 1, sums: true, iterations: 1 };
            assert!((0..ranks).all(|rank| cg.transposed(cg.transposed(rank)) == rank), "{ranks}");
        }
    }
}
