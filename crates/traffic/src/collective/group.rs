//! A collective of a group of ranks: what, over whom, and how. Unless told, the algorithm goes by size, as in MPI libraries.
//!
//! Source: R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective communication operations in MPICH*,
//! IJHPCA 19(1), 2005: what to use for short and for long messages, and where the limits lie.

use netloom_model::CollectiveKind as Kind;
use serde::{Deserialize, Serialize};

use super::choice::Algorithm;

/// Largest message for which latency counts rather than bandwidth, bytes (MPICH's limits for reductions and
/// broadcasts, and for gathering).
const SHORT: u64 = 2048;
const SHORT_BROADCAST: u64 = 12_288;
const SHORT_GATHER: u64 = 81_920;
const SHORT_ALLTOALL: u64 = 256;
const SHORT_REDUCE_SCATTER: u64 = 524_288;

/// A collective operation over the ranks `first, first + stride, …` (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Collective {
    /// What.
    pub kind: Kind,
    /// How; `None`: by size, as MPI libraries do.
    pub algorithm: Option<Algorithm>,
    /// Bytes a rank contributes; of a pair of ranks for all-to-all, of a rank's share for scatter and reduce-scatter.
    pub bytes: u64,
    /// Where it starts or ends, counted within the group.
    pub root: u32,
    /// First rank of the group.
    pub first: u32,
    /// From one rank of the group to the next.
    pub stride: u32,
    /// Ranks of the group.
    pub count: u32,
}

impl Collective {
    /// Over all of `count` ranks, algorithm by size, root 0.
    pub fn all(kind: Kind, bytes: u64, count: u32) -> Self {
        Self { kind, algorithm: None, bytes, root: 0, first: 0, stride: 1, count }
    }

    /// Whether a rank of the job takes part.
    pub fn has(&self, rank: u32) -> bool {
        rank >= self.first
            && (rank - self.first).is_multiple_of(self.stride)
            && (rank - self.first) / self.stride < self.count
    }

    /// The algorithm used where shares are equal.
    pub fn chosen(&self) -> Algorithm {
        let power_of_two = self.count.is_power_of_two();
        let all = self.bytes.saturating_mul(u64::from(self.count));
        self.algorithm.unwrap_or(match self.kind {
            Kind::Barrier => Algorithm::Dissemination,
            Kind::Broadcast if self.bytes <= SHORT_BROADCAST || self.count < 8 => Algorithm::Binomial,
            Kind::Broadcast => Algorithm::Ring,
            Kind::Reduce | Kind::Gather | Kind::Scatter => Algorithm::Binomial,
            Kind::Allreduce if self.bytes <= SHORT || self.bytes < u64::from(self.count) => {
                Algorithm::RecursiveDoubling
            }
            Kind::Allreduce => Algorithm::Ring,
            Kind::Allgather if all <= SHORT_GATHER => {
                if power_of_two {
                    Algorithm::RecursiveDoubling
                } else {
                    Algorithm::Bruck
                }
            }
            Kind::Allgather => Algorithm::Ring,
            Kind::Alltoall if self.bytes <= SHORT_ALLTOALL => Algorithm::Bruck,
            Kind::Alltoall => Algorithm::Pairwise,
            Kind::ReduceScatter if all < SHORT_REDUCE_SCATTER => Algorithm::RecursiveHalving,
            Kind::ReduceScatter => Algorithm::Pairwise,
            Kind::Scan | Kind::Exscan => Algorithm::RecursiveDoubling,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::algorithms_of;
    use super::*;

    #[test]
    fn long_messages_use_algorithms_for_bandwidth() {
        let chosen = |kind, bytes, count| Collective::all(kind, bytes, count).chosen();
        assert_eq!(chosen(Kind::Allreduce, 8, 64), Algorithm::RecursiveDoubling);
        assert_eq!(chosen(Kind::Allreduce, 1 << 20, 64), Algorithm::Ring);
        assert_eq!(chosen(Kind::Allgather, 8, 64), Algorithm::RecursiveDoubling);
        assert_eq!(chosen(Kind::Allgather, 8, 65), Algorithm::Bruck);
        assert_eq!(chosen(Kind::ReduceScatter, 8191, 64), Algorithm::RecursiveHalving);
        assert_eq!(chosen(Kind::ReduceScatter, 8192, 64), Algorithm::Pairwise);
    }

    #[test]
    fn what_is_chosen_by_size_is_among_the_known() {
        for kind in Kind::ALL {
            for bytes in [0, 100, 1 << 30] {
                assert!(algorithms_of(kind).contains(&Collective::all(kind, bytes, 12).chosen()));
            }
        }
    }
}
