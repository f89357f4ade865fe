//! A recorded run as a program: what every rank does, in order, without times.
//!
//! The actions of all ranks lie in one flat array. Collectives are shared: the n-th one of every rank is the same, and what
//! they agree on is kept once.
//!
//! Invariants (whoever builds one checks them): partners and roots are ranks; every rank meets the collectives `0, 1, 2, …`
//! in this order; an [`Action::Wait`] names a request that was started before and that nobody has waited for. Tags are below
//! 2^31.

use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::names::nearest;

/// What ranks do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CollectiveKind {
    /// Nobody leaves before all have come.
    Barrier,
    /// The root's bytes to all.
    Broadcast,
    /// All ranks' bytes combined at the root.
    Reduce,
    /// All ranks' bytes combined everywhere.
    Allreduce,
    /// Each rank's bytes to all.
    Allgather,
    /// Other bytes from each rank to each.
    Alltoall,
    /// Each rank's bytes to the root.
    Gather,
    /// Other bytes from the root to each rank.
    Scatter,
    /// All ranks' bytes combined, a share for each.
    ReduceScatter,
    /// Combined with those of all ranks before.
    Scan,
    /// As a scan, without one's own.
    Exscan,
}

impl CollectiveKind {
    /// All kinds.
    pub const ALL: [Self; 11] = [
        Self::Barrier,
        Self::Broadcast,
        Self::Reduce,
        Self::Allreduce,
        Self::Allgather,
        Self::Alltoall,
        Self::Gather,
        Self::Scatter,
        Self::ReduceScatter,
        Self::Scan,
        Self::Exscan,
    ];

    /// Whether nobody leaves before all have come.
    pub fn synchronises(self) -> bool {
        match self {
            Self::Barrier | Self::Allreduce | Self::Allgather | Self::Alltoall | Self::ReduceScatter => true,
            Self::Broadcast | Self::Reduce | Self::Gather | Self::Scatter | Self::Scan | Self::Exscan => {
                false
            }
        }
    }

    /// The name that people write.
    pub fn name(self) -> &'static str {
        match self {
            Self::Barrier => "barrier",
            Self::Broadcast => "broadcast",
            Self::Reduce => "reduce",
            Self::Allreduce => "allreduce",
            Self::Allgather => "allgather",
            Self::Alltoall => "alltoall",
            Self::Gather => "gather",
            Self::Scatter => "scatter",
            Self::ReduceScatter => "reduce-scatter",
            Self::Scan => "scan",
            Self::Exscan => "exscan",
        }
    }
}

impl FromStr for CollectiveKind {
    type Err = String;

    /// By [`CollectiveKind::name`]; `bcast` and `all-to-all` are understood too.
    fn from_str(word: &str) -> Result<Self, String> {
        let known = match word {
            "bcast" => "broadcast",
            "all-to-all" => "alltoall",
            "reducescatter" => "reduce-scatter",
            other => other,
        };
        Self::ALL.into_iter().find(|kind| kind.name() == known).ok_or_else(|| {
            let names = Self::ALL.map(Self::name);
            let hint = nearest(word, names).map(|name| format!(", did you mean \"{name}\"?"));
            let all = || format!(": expected one of {}", names.join(", "));
            format!("there is no collective \"{word}\"{}", hint.unwrap_or_else(all))
        })
    }
}

/// A collective operation of all ranks, as far as they agree about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Together {
    /// What.
    pub kind: CollectiveKind,
    /// Where it starts or ends; 0 where there is no root.
    pub root: u32,
    /// Bytes a rank contributes; of a pair of ranks for all-to-all, of a rank's share for scatter and reduce-scatter.
    pub bytes: u64,
    /// Shares differ from rank to rank: see [`Workload::shares`].
    pub uneven: bool,
}

/// What a rank does next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Computes.
    Compute {
        /// Floating-point operations, finite and not negative.
        flops: f64,
    },
    /// Does nothing.
    Sleep {
        /// For so long, ps.
        ps: u64,
    },
    /// Starts to send.
    Isend {
        /// The receiver.
        to: u32,
        /// Payload.
        bytes: u64,
        /// What a receive must ask for.
        tag: u32,
    },
    /// Starts to receive.
    Irecv {
        /// The sender.
        from: u32,
        /// As sent.
        tag: u32,
    },
    /// Sends.
    Send {
        /// The receiver.
        to: u32,
        /// Payload.
        bytes: u64,
        /// What a receive must ask for.
        tag: u32,
    },
    /// Receives.
    Recv {
        /// The sender.
        from: u32,
        /// As sent.
        tag: u32,
    },
    /// Waits for the oldest send to (receive from) `peer` with this tag that was not waited for.
    Wait {
        /// The other rank.
        peer: u32,
        /// The tag.
        tag: u32,
        /// It is a send.
        sends: bool,
    },
    /// Waits for one more request.
    WaitAny,
    /// Waits for all requests.
    WaitAll,
    /// A collective of all ranks.
    Together {
        /// Its number: [`Workload::together`].
        number: u32,
        /// This rank's row of shares: [`Workload::shares`].
        shares: Option<u32>,
    },
}

/// The program of every rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Workload {
    offsets: Vec<usize>,
    actions: Vec<Action>,
    /// Line of each action, from 1.
    lines: Vec<u32>,
    together: Vec<Together>,
    shares: Vec<u64>,
}

impl Workload {
    /// Groups `(rank, action)` by rank; actions of equal rank keep their order, those of no rank (`u32::MAX`) are left out.
    /// `lines` are where the actions stand in their file, `shares` rows of a number a rank.
    ///
    /// # Panics
    /// If an action is of a rank, a partner or a collective that there is not, or has no line.
    pub fn from_actions(
        ranks: u32,
        list: &[(u32, Action)],
        lines: &[u32],
        together: Vec<Together>,
        shares: Vec<u64>,
    ) -> Self {
        assert_eq!(list.len(), lines.len(), "every action has a line");
        let kept = || list.iter().zip(lines).filter(|((rank, _), _)| *rank != u32::MAX);
        let mut offsets = vec![0usize; ranks as usize + 1];
        for (&(rank, action), _) in kept() {
            assert!(rank < ranks, "rank {rank} of {ranks}");
            let partner = match action {
                Action::Isend { to: peer, .. }
                | Action::Send { to: peer, .. }
                | Action::Irecv { from: peer, .. }
                | Action::Recv { from: peer, .. }
                | Action::Wait { peer, .. } => peer,
                Action::Together { number, shares: row } => {
                    assert!((number as usize) < together.len(), "{action:?}");
                    assert!(
                        row.is_none_or(|row| (row as usize + 1) * ranks as usize <= shares.len()),
                        "{action:?}"
                    );
                    0
                }
                _ => 0,
            };
            assert!(partner < ranks, "{action:?} of {ranks} ranks");
            offsets[rank as usize + 1] += 1;
        }
        for rank in 0..ranks as usize {
            offsets[rank + 1] += offsets[rank];
        }
        let mut next = offsets.clone();
        let mut actions = vec![Action::WaitAll; offsets[ranks as usize]];
        let mut lines = vec![0; actions.len()];
        for (&(rank, action), &line) in kept() {
            let at = next[rank as usize];
            (actions[at], lines[at]) = (action, line);
            next[rank as usize] += 1;
        }
        Self { offsets, actions, lines, together, shares }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        (self.offsets.len() - 1) as u32
    }

    /// What a rank does, in order.
    pub fn actions(&self, rank: u32) -> &[Action] {
        &self.actions[self.offsets[rank as usize]..self.offsets[rank as usize + 1]]
    }

    /// The line of each of its actions, in the same order.
    pub fn lines(&self, rank: u32) -> &[u32] {
        &self.lines[self.offsets[rank as usize]..self.offsets[rank as usize + 1]]
    }

    /// The collective of this number.
    pub fn together(&self, number: u32) -> Together {
        self.together[number as usize]
    }

    /// Collectives.
    pub fn collectives(&self) -> &[Together] {
        &self.together
    }

    /// How many rows of shares there are.
    pub fn rows(&self) -> u32 {
        (self.shares.len() / self.ranks().max(1) as usize) as u32
    }

    /// Bytes by rank of a collective whose shares differ, as one rank knows them: what it sends to each (all-to-all,
    /// scatter), what each contributes (gather, allgather; its own entry counts) or gets (reduce-scatter).
    pub fn shares(&self, row: u32) -> &[u64] {
        let ranks = self.ranks() as usize;
        &self.shares[row as usize * ranks..][..ranks]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_are_grouped_by_rank_in_order_and_those_of_no_rank_are_left_out() {
        let send = |to| Action::Isend { to, bytes: 8, tag: 1 };
        let list = [(1, send(0)), (u32::MAX, Action::WaitAny), (0, Action::WaitAll), (1, Action::WaitAll)];
        let workload = Workload::from_actions(3, &list, &[1, 2, 2, 5], Vec::new(), Vec::new());
        assert_eq!(workload.ranks(), 3);
        assert_eq!(workload.actions(0), [Action::WaitAll]);
        assert_eq!(workload.actions(1), [send(0), Action::WaitAll]);
        assert_eq!((workload.lines(0), workload.lines(1)), (&[2][..], &[1, 5][..]));
        assert_eq!(workload.actions(2), []);
    }

    #[test]
    fn kinds_have_names() {
        for kind in CollectiveKind::ALL {
            assert_eq!(kind.name().parse(), Ok(kind));
        }
        assert_eq!("bcast".parse(), Ok(CollectiveKind::Broadcast));
        let error = "alreduce".parse::<CollectiveKind>().unwrap_err();
        assert_eq!(error, "there is no collective \"alreduce\", did you mean \"allreduce\"?");
    }
}
