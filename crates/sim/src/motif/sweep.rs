//! A wavefront over a grid of ranks, from every corner in turn.
//!
//! A rank waits for the block of the ranks before it along x and y, computes, and sends its own to those behind it. Blocks follow each
//! other like waves. Source: `sweep3d` of the Ember suite (ember: 8 sweeps, two from each corner), which De Sensi et al., SC 2019,
//! sec. 5.1 use.

use crate::replay::{Cycle, Op, Script};

/// Sweeps of an iteration.
const SWEEPS: u64 = 8;

/// See the module.
#[derive(Clone, Debug)]
pub struct Sweep {
    /// Ranks along x, which runs fastest.
    pub columns: u32,
    /// Ranks along y.
    pub rows: u32,
    /// Bytes of a message.
    pub bytes: u64,
    /// Blocks of a sweep.
    pub blocks: u64,
    /// Times.
    pub iterations: u64,
    /// Computation of a block, ps.
    pub compute_ps: u64,
}

impl Sweep {
    /// The ranks before and behind a rank in a sweep towards larger x; y.
    fn beside(&self, rank: u32) -> [[Option<u32>; 2]; 2] {
        let (x, y) = (rank % self.columns, rank / self.columns);
        let along = |at: u32, side: u32, stride: u32| {
            let before = (at > 0).then(|| rank - stride);
            let behind = (at + 1 < side).then(|| rank + stride);
            [before, behind]
        };
        [along(x, self.columns, 1), along(y, self.rows, self.columns)]
    }

    /// Steps of a block of a rank with such neighbours.
    fn period(&self, beside: [[Option<u32>; 2]; 2]) -> u64 {
        beside.iter().flatten().flatten().count() as u64 + u64::from(self.compute_ps > 0)
    }
}

impl Script for Sweep {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let beside = self.beside(rank);
        let (period, [on_x, on_y]) = (self.period(beside), beside);
        let block = step.checked_div(period)?;
        if block >= self.iterations * SWEEPS * self.blocks {
            return None;
        }
        let corner = block / self.blocks % SWEEPS / 2;
        let turned = |mut both: [Option<u32>; 2], back: bool| {
            if back {
                both.reverse();
            }
            both
        };
        let ([before_x, behind_x], [before_y, behind_y]) =
            (turned(on_x, corner % 2 == 1), turned(on_y, corner / 2 == 1));
        let receives = [before_x, before_y].into_iter().flatten().map(|from| Op::Recv { from, tag: 0 });
        let compute = (self.compute_ps > 0).then_some(Op::Compute { ps: self.compute_ps });
        let bytes = self.bytes;
        let sends = [behind_x, behind_y].into_iter().flatten().map(|to| Op::Send { to, bytes, tag: 0 });
        receives.chain(compute).chain(sends).nth((step % period) as usize)
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        let period = self.period(self.beside(rank));
        Some(Cycle::every(period * self.blocks * SWEEPS, self.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ops(sweep: &Sweep, rank: u32) -> Vec<Op> {
        (0..).map_while(|step| sweep.op(rank, step)).collect()
    }

    /// Ranks 0 1 over 2 3: rank 0 begins the sweeps from its corner and ends those from the opposite one.
    #[test]
    fn a_sweep_goes_from_corner_to_corner() {
        let sweep = Sweep { columns: 2, rows: 2, bytes: 9, blocks: 1, iterations: 1, compute_ps: 5 };
        let found = ops(&sweep, 0);
        let (send, recv) = (|to| Op::Send { to, bytes: 9, tag: 0 }, |from| Op::Recv { from, tag: 0 });
        assert_eq!(found.len(), 8 * 3);
        assert_eq!(found[..3], [Op::Compute { ps: 5 }, send(1), send(2)]);
        assert_eq!(found[2 * 3..3 * 3], [recv(1), Op::Compute { ps: 5 }, send(2)], "towards smaller x");
        assert_eq!(found[7 * 3..], [recv(1), recv(2), Op::Compute { ps: 5 }]);
    }

    /// What is sent is received, in a grid with inner ranks, and a lone rank has nothing to do.
    #[test]
    fn sends_and_receives_are_as_many() {
        let sweep = Sweep { columns: 4, rows: 3, bytes: 1, blocks: 3, iterations: 2, compute_ps: 0 };
        let (mut sent, mut received) = (Vec::new(), Vec::new());
        for rank in 0..12 {
            for op in ops(&sweep, rank) {
                match op {
                    Op::Send { to, .. } => sent.push((rank, to)),
                    Op::Recv { from, .. } => received.push((from, rank)),
                    other => panic!("{other:?}"),
                }
            }
        }
        sent.sort_unstable();
        received.sort_unstable();
        assert_eq!(sent, received);
        assert_eq!(sent.len(), (3 * 3 + 2 * 4) * 8 * 3 * 2, "a message a side and block");
        let lone = Sweep { columns: 1, rows: 1, ..sweep };
        assert_eq!(lone.op(0, 0), None);
    }
}
