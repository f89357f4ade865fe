//! Programs of collectives alone.

use crate::replay::{Algorithm, Collective, Cycle, Kind, Op, Script};

/// Barriers over the columns, the rows and the whole of a grid of ranks, in the tree that TraceR uses.
///
/// Source: Taffet, dissertation, Algorithm 8. Its first communicator is of the ranks that have `rank mod 32` in common (its name is
/// "row", with the index x), its second of those that have `rank / 32` in common.
#[derive(Clone, Debug)]
pub struct RowsAndColumns {
    /// Ranks a row.
    pub columns: u32,
    /// Rows.
    pub rows: u32,
    /// Times.
    pub iterations: u64,
    /// Bytes of a message.
    pub bytes: u64,
}

impl Script for RowsAndColumns {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        if step / 3 >= self.iterations {
            return None;
        }
        let (first, stride, count) = match step % 3 {
            0 => (rank % self.columns, self.columns, self.rows),
            1 => (rank / self.columns * self.columns, 1, self.columns),
            _ => (0, 1, self.columns * self.rows),
        };
        let kind = Kind::Barrier;
        let algorithm = Some(Algorithm::BinaryTree);
        Some(Op::Together(Collective { kind, algorithm, bytes: self.bytes, root: 0, first, stride, count }))
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(3, self.iterations))
    }
}

/// One collective again and again.
#[derive(Clone, Debug)]
pub struct Repeat {
    /// What.
    pub collective: Collective,
    /// Times.
    pub iterations: u64,
}

impl Script for Repeat {
    fn op(&self, _: u32, step: u64) -> Option<Op> {
        (step < self.iterations).then_some(Op::Together(self.collective))
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(1, self.iterations))
    }
}
