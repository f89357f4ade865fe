//! Collectives as messages.
//!
//! Each algorithm is a function from (rank, step) to what that rank does, so that nothing is unrolled. The steps of a rank are
//! sends, receives and "wait for all of this collective". Messages of a rank pair within a collective arrive in the order of
//! sending, so one tag a collective suffices.
//!
//! Sources: R. Thakur, R. Rabenseifner, W. Gropp, *Optimization of collective communication operations in MPICH*,
//! IJHPCA 19(1), 2005 (binomial trees, recursive doubling, ring, Bruck, pairwise, and their choice by size); D. Hensgen, R. Finkel,
//! U. Manber, *Two algorithms for barrier synchronization*, IJPP 17(1), 1988 (dissemination). The binary tree is TraceR's
//! (Taffet, dissertation, sec. 5.4).

use super::op::Op;

/// What is done together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
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
}

/// How it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// A tree in which rank `r` has the children `2r + 1` and `2r + 2`: up, then down (TraceR's barrier).
    BinaryTree,
    /// A binomial tree.
    Binomial,
    /// Partners at distances 1, 2, 4, …; other numbers of ranks fold into a power of two first.
    RecursiveDoubling,
    /// In round `k` a message to the rank `2^k` further on.
    Dissemination,
    /// Round the ring, a share at a time.
    Ring,
    /// In round `k` what is `2^k` further on.
    Bruck,
    /// In round `k` with the rank `k` further on and the one `k` before.
    Pairwise,
}

/// A collective operation over the ranks `first, first + stride, …` (`count` of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Collective {
    /// What.
    pub kind: Kind,
    /// How; `None`: by size, as MPI libraries do.
    pub algorithm: Option<Algorithm>,
    /// Bytes a rank contributes (a pair of ranks, for all-to-all).
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

/// Largest message for which latency counts rather than bandwidth, bytes (MPICH's limits for reductions and
/// broadcasts, and for gathering).
const SHORT: u64 = 2048;
const SHORT_BROADCAST: u64 = 12_288;
const SHORT_GATHER: u64 = 81_920;
const SHORT_ALLTOALL: u64 = 256;

impl Collective {
    /// Over all of `count` ranks, algorithm by size, root 0.
    pub fn all(kind: Kind, bytes: u64, count: u32) -> Self {
        Self { kind, algorithm: None, bytes, root: 0, first: 0, stride: 1, count }
    }

    /// The algorithm used.
    pub fn chosen(&self) -> Algorithm {
        let power_of_two = self.count.is_power_of_two();
        self.algorithm.unwrap_or(match self.kind {
            Kind::Barrier => Algorithm::Dissemination,
            Kind::Broadcast if self.bytes <= SHORT_BROADCAST || self.count < 8 => Algorithm::Binomial,
            Kind::Broadcast => Algorithm::Ring,
            Kind::Reduce => Algorithm::Binomial,
            Kind::Allreduce if self.bytes <= SHORT || self.bytes < u64::from(self.count) => {
                Algorithm::RecursiveDoubling
            }
            Kind::Allreduce => Algorithm::Ring,
            Kind::Allgather if self.bytes * u64::from(self.count) <= SHORT_GATHER => {
                if power_of_two {
                    Algorithm::RecursiveDoubling
                } else {
                    Algorithm::Bruck
                }
            }
            Kind::Allgather => Algorithm::Ring,
            Kind::Alltoall if self.bytes <= SHORT_ALLTOALL => Algorithm::Bruck,
            Kind::Alltoall => Algorithm::Pairwise,
        })
    }

    /// Whether a rank of the job takes part.
    pub fn has(&self, rank: u32) -> bool {
        rank >= self.first
            && (rank - self.first).is_multiple_of(self.stride)
            && (rank - self.first) / self.stride < self.count
    }

    /// What `rank` (of the job) does in step `step`, with `tag` for its messages; `None` at the end.
    pub fn op(&self, rank: u32, step: u32, tag: u32) -> Option<Op> {
        if self.count < 2 || !self.has(rank) {
            return None;
        }
        let me = (rank - self.first) / self.stride;
        let step = self.step(me, step)?;
        let of = |member: u32| self.first + member * self.stride;
        Some(match step {
            Step::To(to, bytes) => Op::Isend { to: of(to), bytes: bytes.max(1), tag },
            Step::From(from) => Op::Irecv { from: of(from), tag },
            Step::Wait => Op::WaitAll,
        })
    }

    fn step(&self, me: u32, step: u32) -> Option<Step> {
        let (n, bytes) = (self.count, self.bytes);
        let turned = (me + n - self.root % n) % n;
        let back = |member: u32| (member + self.root) % n;
        match (self.kind, self.chosen()) {
            (Kind::Barrier, Algorithm::BinaryTree) => binary_up_and_down(me, n, bytes, step),
            (Kind::Barrier, _) => dissemination(me, n, bytes, step),
            (Kind::Broadcast, Algorithm::Ring) => {
                // A binomial scatter followed by a ring, the shares rounded up.
                let share = bytes.div_ceil(u64::from(n));
                let scatter = scatter_steps(turned, n);
                if step < scatter {
                    scatter_step(turned, n, share, step).map(|s| s.renamed(back))
                } else {
                    ring(turned, n, share, step - scatter, n - 1).map(|s| s.renamed(back))
                }
            }
            (Kind::Broadcast, _) => binomial_down(turned, n, bytes, step).map(|s| s.renamed(back)),
            (Kind::Reduce, _) => binomial_up(turned, n, bytes, step).map(|s| s.renamed(back)),
            (Kind::Allreduce, Algorithm::Ring) => {
                ring(me, n, bytes.div_ceil(u64::from(n)), step, 2 * (n - 1))
            }
            (Kind::Allreduce, _) => recursive_doubling(me, n, step, |_| bytes),
            (Kind::Allgather, Algorithm::Ring) => ring(me, n, bytes, step, n - 1),
            (Kind::Allgather, Algorithm::RecursiveDoubling) => {
                recursive_doubling(me, n, step, |round| bytes << round)
            }
            (Kind::Allgather, _) => {
                bruck(me, n, step, |round| bytes * u64::from((1 << round).min(n - (1 << round))), false)
            }
            (Kind::Alltoall, Algorithm::Bruck) => {
                let blocks = |round: u32| (1..n).filter(|b| b >> round & 1 == 1).count() as u64;
                bruck(me, n, step, |round| bytes * blocks(round), true)
            }
            (Kind::Alltoall, _) => pairwise(me, n, bytes, step),
        }
    }
}

/// A step of a member of the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    To(u32, u64),
    From(u32),
    Wait,
}

impl Step {
    fn renamed(self, name: impl Fn(u32) -> u32) -> Step {
        match self {
            Step::To(to, bytes) => Step::To(name(to), bytes),
            Step::From(from) => Step::From(name(from)),
            Step::Wait => Step::Wait,
        }
    }
}

/// Rounds that double: `ceil(log2 n)`.
fn rounds(n: u32) -> u32 {
    u32::BITS - (n - 1).leading_zeros()
}

/// Of every three steps of an exchange: send, receive, wait.
fn exchange(step: u32, to: u32, bytes: u64, from: u32) -> Step {
    match step % 3 {
        0 => Step::To(to, bytes),
        1 => Step::From(from),
        _ => Step::Wait,
    }
}

fn dissemination(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let round = step / 3;
    let far = |round: u32| (1u64 << round) as u32 % n;
    (round < rounds(n)).then(|| exchange(step, (me + far(round)) % n, bytes, (me + n - far(round)) % n))
}

fn ring(me: u32, n: u32, share: u64, step: u32, turns: u32) -> Option<Step> {
    (step / 3 < turns).then(|| exchange(step, (me + 1) % n, share, (me + n - 1) % n))
}

fn pairwise(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let far = step / 3 + 1;
    (far < n).then(|| exchange(step, (me + far) % n, bytes, (me + n - far) % n))
}

fn bruck(me: u32, n: u32, step: u32, bytes: impl Fn(u32) -> u64, forward: bool) -> Option<Step> {
    let round = step / 3;
    if round >= rounds(n) {
        return None;
    }
    let (on, before) = ((me + (1 << round)) % n, (me + n - (1 << round)) % n);
    let (to, from) = if forward { (on, before) } else { (before, on) };
    Some(exchange(step, to, bytes(round), from))
}

/// What exceeds a power of two first hands its part to a neighbour, and gets the result at the end.
fn recursive_doubling(me: u32, n: u32, step: u32, bytes: impl Fn(u32) -> u64) -> Option<Step> {
    let power = if n.is_power_of_two() { n } else { n.next_power_of_two() / 2 };
    let extra = n - power;
    let doubled = rounds(power);
    if me >= power {
        let partner = me - power;
        return match step {
            0 => Some(Step::To(partner, bytes(0))),
            1 => Some(Step::From(partner)),
            2 => Some(Step::Wait),
            _ => None,
        };
    }
    let mut step = step;
    if me < extra {
        match step {
            0 => return Some(Step::From(me + power)),
            1 => return Some(Step::Wait),
            _ => step -= 2,
        }
    }
    let round = step / 3;
    if round < doubled {
        let partner = me ^ (1 << round);
        return Some(exchange(step, partner, bytes(round), partner));
    }
    let last = step - 3 * doubled;
    (me < extra && last == 0).then(|| Step::To(me + power, bytes(doubled)))
}

/// Up the binary tree, then down again.
fn binary_up_and_down(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let children =
        [2 * u64::from(me) + 1, 2 * u64::from(me) + 2].map(|c| (c < u64::from(n)).then_some(c as u32));
    let parent = (me > 0).then(|| (me - 1) / 2);
    let steps = [
        children[0].map(Step::From),
        children[1].map(Step::From),
        children[0].map(|_| Step::Wait),
        parent.map(|p| Step::To(p, bytes)),
        parent.map(Step::From),
        parent.map(|_| Step::Wait),
        children[0].map(|c| Step::To(c, bytes)),
        children[1].map(|c| Step::To(c, bytes)),
    ];
    steps.into_iter().flatten().nth(step as usize)
}

/// The root of a binomial tree is 0; the parent of a rank lacks its lowest bit.
fn binomial_down(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let low = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
    let children = (0..low.trailing_zeros()).rev().map(|b| me + (1 << b)).filter(|&c| c < n);
    let receive = (me > 0).then(|| [Step::From(me - low), Step::Wait]);
    receive.into_iter().flatten().chain(children.map(|c| Step::To(c, bytes))).nth(step as usize)
}

fn binomial_up(me: u32, n: u32, bytes: u64, step: u32) -> Option<Step> {
    let low = if me == 0 { n.next_power_of_two() } else { me & me.wrapping_neg() };
    let children = (0..low.trailing_zeros()).map(|b| me + (1 << b)).filter(|&c| c < n);
    let send = (me > 0).then(|| Step::To(me - low, bytes));
    children.flat_map(|c| [Step::From(c), Step::Wait]).chain(send).nth(step as usize)
}

fn scatter_steps(me: u32, n: u32) -> u32 {
    (0..).take_while(|&k| scatter_step(me, n, 1, k).is_some()).count() as u32
}

/// Down a binomial tree, to each child the shares of its subtree.
fn scatter_step(me: u32, n: u32, share: u64, step: u32) -> Option<Step> {
    let step = binomial_down(me, n, share, step)?;
    Some(match step {
        Step::To(child, share) => {
            let below = (child & child.wrapping_neg()).min(n - child);
            Step::To(child, share * u64::from(below))
        }
        other => other,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// Plays all ranks; returns bytes sent by (from, to). Fails if a receive has no send, or somebody waits for ever.
    fn play(collective: Collective) -> HashMap<(u32, u32), u64> {
        let n = collective.count;
        let mut at = vec![0; n as usize];
        let mut pending: Vec<Vec<u32>> = vec![Vec::new(); n as usize];
        let mut flying: HashMap<(u32, u32), u32> = HashMap::new();
        let mut sent = HashMap::new();
        loop {
            let mut moved = false;
            for me in 0..n {
                while let Some(op) = collective.op(me, at[me as usize], 0) {
                    match op {
                        Op::Isend { to, bytes, .. } => {
                            assert_ne!(to, me);
                            *flying.entry((me, to)).or_default() += 1;
                            *sent.entry((me, to)).or_default() += bytes;
                        }
                        Op::Irecv { from, .. } => pending[me as usize].push(from),
                        _ => {
                            pending[me as usize].retain(|&from| {
                                let count = flying.entry((from, me)).or_default();
                                let there = *count > 0;
                                *count -= u32::from(there);
                                !there
                            });
                            if !pending[me as usize].is_empty() {
                                break;
                            }
                        }
                    }
                    at[me as usize] += 1;
                    moved = true;
                }
            }
            if !moved {
                break;
            }
        }
        for me in 0..n {
            assert_eq!(
                collective.op(me, at[me as usize], 0),
                None,
                "rank {me} of {collective:?} waits for ever"
            );
        }
        assert!(flying.values().all(|&c| c == 0), "{collective:?}: a message nobody receives");
        sent
    }

    fn total(kind: Kind, algorithm: Algorithm, bytes: u64, count: u32, root: u32) -> u64 {
        let collective =
            Collective { algorithm: Some(algorithm), root, ..Collective::all(kind, bytes, count) };
        play(collective).values().sum()
    }

    /// Bytes that each algorithm must move, for many numbers of ranks and roots.
    #[test]
    fn every_algorithm_ends_and_moves_what_it_must() {
        for n in 2..=33u32 {
            let (n64, root) = (u64::from(n), n / 3);
            let log = u64::from(rounds(n));
            assert_eq!(total(Kind::Barrier, Algorithm::Dissemination, 8, n, 0), 8 * n64 * log);
            assert_eq!(total(Kind::Barrier, Algorithm::BinaryTree, 8, n, 0), 2 * 8 * (n64 - 1));
            assert_eq!(total(Kind::Broadcast, Algorithm::Binomial, 100, n, root), 100 * (n64 - 1));
            assert_eq!(total(Kind::Reduce, Algorithm::Binomial, 100, n, root), 100 * (n64 - 1));
            assert_eq!(total(Kind::Allreduce, Algorithm::Ring, n64 * 10, n, 0), 2 * (n64 - 1) * n64 * 10);
            assert_eq!(total(Kind::Allgather, Algorithm::Ring, 10, n, 0), (n64 - 1) * n64 * 10);
            assert_eq!(total(Kind::Allgather, Algorithm::Bruck, 10, n, 0), (n64 - 1) * n64 * 10);
            assert_eq!(total(Kind::Alltoall, Algorithm::Pairwise, 10, n, 0), (n64 - 1) * n64 * 10);
            assert!(total(Kind::Alltoall, Algorithm::Bruck, 10, n, 0) >= (n64 - 1) * n64 * 10);
            assert!(total(Kind::Allreduce, Algorithm::RecursiveDoubling, 10, n, 0) >= 2 * (n64 - 1) * 10);
            assert!(total(Kind::Broadcast, Algorithm::Ring, n64 * 10, n, root) >= (n64 - 1) * n64 * 10);
        }
        assert_eq!(total(Kind::Allgather, Algorithm::RecursiveDoubling, 10, 16, 0), 15 * 16 * 10);
    }

    /// Rank 0 of seven: children 1 and 2; the barrier of the dissertation's sec. 5.4.
    #[test]
    fn the_binary_tree_is_the_papers() {
        let sent = play(Collective {
            algorithm: Some(Algorithm::BinaryTree),
            ..Collective::all(Kind::Barrier, 8, 7)
        });
        let mut pairs: Vec<_> = sent.into_keys().filter(|(a, b)| a < b).collect();
        pairs.sort_unstable();
        assert_eq!(pairs, [(0, 1), (0, 2), (1, 3), (1, 4), (2, 5), (2, 6)]);
    }

    /// Columns of a 4 x 3 grid: ranks 1, 5, 9.
    #[test]
    fn a_group_with_a_stride_keeps_to_itself() {
        let column = Collective { first: 1, stride: 4, count: 3, ..Collective::all(Kind::Barrier, 8, 3) };
        for rank in 0..12 {
            let ops: Vec<_> = (0..).map_while(|step| column.op(rank, step, 0)).collect();
            assert_eq!(ops.is_empty(), ![1, 5, 9].contains(&rank));
            for op in ops {
                if let Op::Isend { to, .. } = op {
                    assert!([1, 5, 9].contains(&to));
                }
            }
        }
    }
}
