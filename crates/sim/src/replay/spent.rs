//! What ranks spend their time on: computing, calls, and waiting, by the call that waits.
//!
//! A rank waits from the moment at which a step cannot go on until it can; waiting within a collective is the collective's. The rest
//! of its time, which is little, is software between a send and its message. Of a graph of tasks a rank waits while all its processors do.
//!
//! Invariant: counted where a rank's host is, so parts of a network add up.

use netloom_model::CollectiveKind as Kind;
use serde::{Deserialize, Serialize};

/// Waiting for one message to leave, for one to come, for any or all; collectives behind them.
const CALLS: [&str; 3] = ["send", "receive", "wait"];
/// Of them and all collectives.
const WAITS: usize = CALLS.len() + Kind::ALL.len();

/// What a rank waits in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitsIn {
    Send,
    Receive,
    Wait,
    Collective(Kind),
}

impl WaitsIn {
    fn index(self) -> usize {
        match self {
            Self::Send => 0,
            Self::Receive => 1,
            Self::Wait => 2,
            Self::Collective(kind) => {
                CALLS.len() + Kind::ALL.iter().position(|&it| it == kind).expect("all are listed")
            }
        }
    }
}

/// Time of all ranks of a job together, ps.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Tally {
    pub compute_ps: u128,
    pub call_ps: u128,
    waits_ps: [u128; WAITS],
}

impl Tally {
    pub fn waited(&mut self, what: WaitsIn, ps: u64) {
        self.waits_ps[what.index()] += u128::from(ps);
    }

    /// All sums: of what ranks did, and of what they waited.
    pub fn sums(&mut self) -> ([&mut u128; 2], &mut [u128]) {
        ([&mut self.compute_ps, &mut self.call_ps], &mut self.waits_ps)
    }

    /// Waiting of all kinds.
    pub fn waited_ps(&self) -> u128 {
        self.waits_ps.iter().sum()
    }

    pub fn merge(&mut self, other: &Self) {
        self.compute_ps += other.compute_ps;
        self.call_ps += other.call_ps;
        self.waits_ps.iter_mut().zip(other.waits_ps).for_each(|(to, from)| *to += from);
    }

    /// Of ranks that took so long together.
    pub fn spent(&self, elapsed_ps: u128) -> Spent {
        let name = |at: usize| CALLS.get(at).copied().unwrap_or_else(|| Kind::ALL[at - CALLS.len()].name());
        let waits = self.waits_ps.iter().enumerate().filter(|&(_, &ps)| ps > 0);
        Spent {
            elapsed_ps,
            compute_ps: self.compute_ps,
            call_ps: self.call_ps,
            waits_ps: waits.map(|(at, &ps)| (name(at), ps)).collect(),
        }
    }
}

/// What the ranks of a job spent their time on, ps, all ranks together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spent {
    /// From the job's beginning to each rank's end, or the run's where it did not end.
    pub elapsed_ps: u128,
    /// Computing.
    pub compute_ps: u128,
    /// The processor's part of sends and receives.
    pub call_ps: u128,
    /// Waiting, by what waits: `send`, `receive`, `wait` or a collective; those that took time.
    pub waits_ps: Vec<(&'static str, u128)>,
}

impl Spent {
    /// Waiting of all kinds.
    pub fn waited_ps(&self) -> u128 {
        self.waits_ps.iter().map(|&(_, ps)| ps).sum()
    }
}
