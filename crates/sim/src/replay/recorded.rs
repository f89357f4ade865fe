//! A recorded run as a script.

use std::sync::Arc;

use netloom_model::{Action, Lines, Workload};
use netloom_traffic::collective::{Algorithms, Collective};

use super::op::Op;
use super::script::Script;
use crate::calendar::END_PS;

/// Replays a [`Workload`] on processors of a given speed.
#[derive(Clone, Debug)]
pub struct Replay {
    workload: Arc<Workload>,
    ps_per_flop: f64,
    /// The name of its file, for messages.
    pub file: Lines,
    /// How collectives are done; by size unless set.
    pub algorithms: Algorithms,
}

impl Replay {
    /// Ranks compute `flops_per_s` floating-point operations a second; infinitely many: no time at all.
    ///
    /// # Panics
    /// If the speed is not positive.
    pub fn new(workload: Arc<Workload>, flops_per_s: f64) -> Self {
        assert!(flops_per_s > 0.0, "a processor computes");
        let (file, algorithms) = (Lines::of("trace"), Algorithms::default());
        Self { workload, ps_per_flop: 1e12 / flops_per_s, file, algorithms }
    }

    /// Ranks that the program has.
    pub fn ranks(&self) -> u32 {
        self.workload.ranks()
    }
}

impl Script for Replay {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let action = self.workload.actions(rank).get(usize::try_from(step).ok()?)?;
        Some(match *action {
            Action::Compute { flops } => Op::Compute { ps: ((flops * self.ps_per_flop) as u64).min(END_PS) },
            Action::Sleep { ps } => Op::Compute { ps: ps.min(END_PS) },
            Action::Isend { to, bytes, tag } => Op::Isend { to, bytes, tag },
            Action::Irecv { from, tag } => Op::Irecv { from, tag },
            Action::Send { to, bytes, tag } => Op::Send { to, bytes, tag },
            Action::Recv { from, tag } => Op::Recv { from, tag },
            Action::Wait { peer, tag, sends } => Op::Wait { peer, tag, sends },
            Action::WaitAny => Op::WaitAny,
            Action::WaitAll => Op::WaitAll,
            Action::Together { number, .. } => {
                Op::Together(Collective::recorded(&self.workload, number, &self.algorithms))
            }
        })
    }

    fn place(&self, rank: u32, step: u64) -> Option<String> {
        let line = self.workload.lines(rank).get(usize::try_from(step).ok()?)?;
        // Of a binary trace there are no lines.
        (*line > 0).then(|| self.file.told(*line as usize))
    }

    fn shares(&self, rank: u32, step: u64) -> &[u64] {
        match self.workload.actions(rank).get(step as usize) {
            Some(Action::Together { shares: Some(row), .. }) => self.workload.shares(*row),
            _ => &[],
        }
    }
}
