//! Collectives as messages: one decomposition for whoever replays a run and for whoever adds its bytes up.
//!
//! Each algorithm is a function from (rank, step) to what that rank does, so that nothing is unrolled. The steps of a rank are
//! sends, receives and "wait for all of this collective". Messages of a rank pair within a collective arrive in the order of
//! sending, so one tag a collective suffices. Shares are equal, or given rank by rank (the `v` collectives of MPI).
//!
//! | module | what |
//! |---|---|
//! | `choice` | algorithms, their names, those that are asked for |
//! | `group` | what is done by whom, and by which algorithm |
//! | `exchange` | rounds in which everybody sends and receives |
//! | `tree` | up and down trees, chains, everything at the root |

mod choice;
mod exchange;
mod group;
mod tree;

pub use choice::{Algorithm, Algorithms, algorithms_of};
pub use group::Collective;
pub use netloom_model::CollectiveKind as Kind;

use exchange::{
    bruck, dissemination, pairwise, recursive_doubling, recursive_gathering, recursive_halving, ring,
    scan_doubling,
};
use tree::{
    binary_up_and_down, binomial_down, binomial_up, chain, gather_linear, gather_step, scatter_linear,
    scatter_step, scatter_steps,
};

use netloom_model::Workload;

/// A step of a rank in a collective.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It starts to send so many bytes to a rank.
    To(u32, u64),
    /// It starts to receive from a rank.
    From(u32),
    /// It waits for all that it started in this collective.
    Wait,
}

impl Collective {
    /// The collective of this number of a recorded run: of all ranks, done as `algorithms` say.
    pub fn recorded(workload: &Workload, number: u32, algorithms: &Algorithms) -> Self {
        let together = workload.together(number);
        let all = Self::all(together.kind, together.bytes, workload.ranks());
        Self { algorithm: algorithms.get(together.kind), root: together.root, ..all }
    }

    /// What `rank` (of the job) does in step `step`; `None` at the end. Messages may be empty.
    ///
    /// `shares` are bytes by member of the group where they differ, as this rank knows them: what it sends to each (all-to-all;
    /// the root of a scatter), what each contributes (allgather; its own for a gather), what each gets (reduce-scatter); empty if
    /// all are equal. Where they differ the algorithm is the one that MPI libraries use for any sizes: a ring, pairwise exchange,
    /// or all with the root.
    pub fn step(&self, rank: u32, step: u32, shares: &[u64]) -> Option<Step> {
        if self.count < 2 || !self.has(rank) {
            return None;
        }
        let me = (rank - self.first) / self.stride;
        let step = if shares.is_empty() { self.even(me, step) } else { self.uneven(me, step, shares) }?;
        let of = |member: u32| self.first + member * self.stride;
        Some(match step {
            Step::To(to, bytes) => Step::To(of(to), bytes),
            Step::From(from) => Step::From(of(from)),
            Step::Wait => Step::Wait,
        })
    }

    /// What `rank` sends, in order: `(receiver, bytes)`. `shares` as for [`Collective::step`].
    pub fn sends(self, rank: u32, shares: &[u64]) -> impl Iterator<Item = (u32, u64)> + '_ {
        (0..).map_while(move |step| self.step(rank, step, shares)).filter_map(|step| match step {
            Step::To(to, bytes) => Some((to, bytes)),
            Step::From(_) | Step::Wait => None,
        })
    }

    fn even(&self, me: u32, step: u32) -> Option<Step> {
        let (n, bytes) = (self.count, self.bytes);
        let turned = (me + n - self.root % n) % n;
        let back = |member: u32| (member + self.root) % n;
        match (self.kind, self.chosen()) {
            (Kind::Barrier, Algorithm::BinaryTree) => binary_up_and_down(me, n, bytes, step),
            (Kind::Barrier, _) => dissemination(me, n, bytes, step),
            (Kind::Broadcast, Algorithm::Ring) => {
                // A binomial scatter followed by a ring.
                let scatter = scatter_steps(turned, n);
                if step < scatter {
                    let shares = |first, count| parts(bytes, n, first, count);
                    scatter_step(turned, n, shares, step).map(|s| s.renamed(back))
                } else {
                    ring(turned, n, |turn| parts(bytes, n, (turned + n - turn) % n, 1), step - scatter, n - 1)
                        .map(|s| s.renamed(back))
                }
            }
            (Kind::Broadcast, _) => binomial_down(turned, n, bytes, step).map(|s| s.renamed(back)),
            (Kind::Reduce, _) => binomial_up(turned, n, bytes, step).map(|s| s.renamed(back)),
            (Kind::Allreduce, Algorithm::Ring) => {
                ring(me, n, |turn| parts(bytes, n, (me + 2 * n - turn) % n, 1), step, 2 * (n - 1))
            }
            (Kind::Allreduce, _) => recursive_doubling(me, n, step, bytes),
            (Kind::Allgather, Algorithm::Ring) => ring(me, n, |_| bytes, step, n - 1),
            (Kind::Allgather, Algorithm::RecursiveDoubling) => recursive_gathering(me, n, step, bytes),
            (Kind::Allgather, _) => {
                bruck(me, n, step, |round| bytes * u64::from((1 << round).min(n - (1 << round))), false)
            }
            (Kind::Alltoall, Algorithm::Bruck) => {
                let blocks = |round: u32| (1..n).filter(|b| b >> round & 1 == 1).count() as u64;
                bruck(me, n, step, |round| bytes * blocks(round), true)
            }
            (Kind::Alltoall, _) => pairwise(me, n, |_| bytes, step),
            (Kind::Gather, Algorithm::Linear) => gather_linear(me, n, self.root % n, bytes, step),
            (Kind::Gather, _) => gather_step(turned, n, bytes, step).map(|s| s.renamed(back)),
            (Kind::Scatter, Algorithm::Linear) => scatter_linear(me, n, self.root % n, |_| bytes, step),
            (Kind::Scatter, _) => {
                scatter_step(turned, n, |_, count| bytes * u64::from(count), step).map(|s| s.renamed(back))
            }
            (Kind::ReduceScatter, Algorithm::Pairwise) => pairwise(me, n, |_| bytes, step),
            (Kind::ReduceScatter, _) => recursive_halving(me, n, step, bytes),
            (Kind::Scan | Kind::Exscan, Algorithm::Linear) => chain(me, n, bytes, step),
            (Kind::Scan | Kind::Exscan, _) => scan_doubling(me, n, bytes, step),
        }
    }

    fn uneven(&self, me: u32, step: u32, shares: &[u64]) -> Option<Step> {
        let n = self.count;
        let of = |member: u32| shares[member as usize];
        match self.kind {
            Kind::Gather => gather_linear(me, n, self.root % n, of(me), step),
            Kind::Scatter => scatter_linear(me, n, self.root % n, of, step),
            Kind::Allgather => ring(me, n, |turn| of((me + n - turn % n) % n), step, n - 1),
            Kind::Alltoall | Kind::ReduceScatter => pairwise(me, n, of, step),
            _ => self.even(me, step),
        }
    }
}

/// Bytes of `count` shares from `first` on, where `bytes` are cut into `n` as even as they can be: the first have one more.
fn parts(bytes: u64, n: u32, first: u32, count: u32) -> u64 {
    let (share, more) = (bytes / u64::from(n), bytes % u64::from(n));
    let before = |k: u32| share * u64::from(k) + u64::from(k).min(more);
    before(first + count) - before(first)
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::exchange::rounds;
    use super::*;

    /// Plays all ranks; returns bytes sent by (from, to). Fails if a receive has no send, or somebody waits for ever.
    fn play(collective: Collective) -> HashMap<(u32, u32), u64> {
        play_uneven(collective, |_| Vec::new())
    }

    fn play_uneven(collective: Collective, shares: impl Fn(u32) -> Vec<u64>) -> HashMap<(u32, u32), u64> {
        let shares: Vec<Vec<u64>> = (0..collective.count).map(shares).collect();
        let n = collective.count;
        let mut at = vec![0; n as usize];
        let mut pending: Vec<Vec<u32>> = vec![Vec::new(); n as usize];
        let mut flying: HashMap<(u32, u32), u32> = HashMap::new();
        let mut sent = HashMap::new();
        loop {
            let mut moved = false;
            for me in 0..n {
                while let Some(op) = collective.step(me, at[me as usize], &shares[me as usize]) {
                    match op {
                        Step::To(to, bytes) => {
                            assert_ne!(to, me);
                            *flying.entry((me, to)).or_default() += 1;
                            *sent.entry((me, to)).or_default() += bytes;
                        }
                        Step::From(from) => pending[me as usize].push(from),
                        Step::Wait => {
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
                collective.step(me, at[me as usize], &shares[me as usize]),
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
            // Everybody gets all others' shares, each once.
            assert_eq!(total(Kind::Allgather, Algorithm::RecursiveDoubling, 10, n, 0), (n64 - 1) * n64 * 10);
            // A block that is `k` ranks on goes as many times as `k` has bits set.
            let bits: u64 = (1..n).map(|k| u64::from(k.count_ones())).sum();
            assert_eq!(total(Kind::Alltoall, Algorithm::Bruck, 10, n, 0), n64 * bits * 10);
            // All of it in every round of a power of two, and in and out for the others.
            let power = 1u64 << n.ilog2();
            let doubled = power * u64::from(n.ilog2()) + 2 * (n64 - power);
            assert_eq!(total(Kind::Allreduce, Algorithm::RecursiveDoubling, 10, n, 0), doubled * 10);
            // A share goes down a binomial tree to its rank, and then round to all others.
            let down: u64 = (1..n).map(|k| u64::from(k.count_ones())).sum();
            let ring = (n64 - 1) * n64 + down;
            assert_eq!(total(Kind::Broadcast, Algorithm::Ring, n64 * 10, n, root), ring * 10);
            // Shares that are not equal sum up to all bytes, and each goes its way as a whole.
            assert_eq!(total(Kind::Allreduce, Algorithm::Ring, 1000, n, 0), 2 * (n64 - 1) * 1000);
            let broadcast = Collective {
                algorithm: Some(Algorithm::Ring),
                root,
                ..Collective::all(Kind::Broadcast, 1000, n)
            };
            let sent = play(broadcast);
            for me in (0..n).filter(|&me| me != root) {
                let come: u64 = sent.iter().filter(|((_, to), _)| *to == me).map(|(_, bytes)| bytes).sum();
                let leaf = (me + n - root) % n;
                let below = (leaf & leaf.wrapping_neg()).min(n - leaf);
                // Its subtree's shares come by the tree; all but its own by the ring.
                let own = parts(1000, n, leaf, 1);
                assert_eq!(come, 1000 - own + parts(1000, n, leaf, below), "{me} of {n}");
            }
        }
    }

    /// By receiver: what an allgather and a reduce-scatter bring to every rank, and in how many messages.
    #[test]
    fn recursive_algorithms_bring_every_rank_what_it_needs() {
        for n in 2..=33u32 {
            let (power, log) = (1u32 << n.ilog2(), n.ilog2());
            for (kind, algorithm) in [
                (Kind::Allgather, Algorithm::RecursiveDoubling),
                (Kind::ReduceScatter, Algorithm::RecursiveHalving),
            ] {
                let collective = Collective { algorithm: Some(algorithm), ..Collective::all(kind, 1000, n) };
                let sent = play(collective);
                for me in 0..n {
                    let bytes: u64 =
                        sent.iter().filter(|((_, to), _)| *to == me).map(|(_, bytes)| bytes).sum();
                    let steps = (0..).map_while(|step| collective.step(me, step, &[]));
                    let receives = steps.filter(|step| matches!(step, Step::From(_))).count() as u32;
                    let has_neighbour = u32::from(me < n - power);
                    let (expected, messages) = match (kind, me >= power) {
                        (Kind::Allgather, true) => (n - 1, 1),
                        (Kind::Allgather, false) => (n - 1, log + has_neighbour),
                        (_, true) => (1, 1),
                        // In every round its own half's shares; besides, once, all of its neighbour's.
                        (_, false) => {
                            let own = |far: u32| {
                                let first = me / far * far;
                                far + (n - power).saturating_sub(first).min(far)
                            };
                            let halves: u32 = (0..log).map(|round| own(power >> (round + 1))).sum();
                            (halves + has_neighbour * n, log + has_neighbour)
                        }
                    };
                    assert_eq!(
                        (bytes, receives),
                        (1000 * u64::from(expected), messages),
                        "{kind:?} {me} of {n}"
                    );
                }
            }
        }
    }

    /// A binomial tree of `n` ranks carries the share of rank `r` over as many edges as `r` has bits set.
    #[test]
    fn gather_and_scatter_move_each_share_up_or_down_its_tree() {
        for n in 2..=33u32 {
            let (n64, root) = (u64::from(n), n / 2);
            let edges: u64 = (0..n).map(|r| u64::from(r.count_ones())).sum();
            for kind in [Kind::Gather, Kind::Scatter] {
                assert_eq!(total(kind, Algorithm::Binomial, 10, n, root), 10 * edges, "{n}");
                assert_eq!(total(kind, Algorithm::Linear, 10, n, root), 10 * (n64 - 1));
            }
        }
        // The root's only other child gets its subtree's four shares: ranks 4 to 7 of eight.
        let scatter = play(Collective::all(Kind::Scatter, 10, 8));
        assert_eq!(scatter[&(0, 4)], 40);
    }

    /// Halving: of `n` shares every rank sends n/2, n/4, … 1; pairwise: one to each.
    #[test]
    fn reduce_scatter_sends_all_but_ones_own_share() {
        for n in [2u32, 4, 8, 16, 32] {
            let all = 10 * u64::from(n * (n - 1));
            assert_eq!(total(Kind::ReduceScatter, Algorithm::RecursiveHalving, 10, n, 0), all);
            assert_eq!(total(Kind::ReduceScatter, Algorithm::Pairwise, 10, n, 0), all);
        }
        for n in 3..=33u32 {
            // The ranks beyond a power of two hand in everything and get their share.
            let power = if n.is_power_of_two() { n } else { n.next_power_of_two() / 2 };
            let extra = u64::from(n - power);
            // Every share comes together in one place out of all ranks that are left.
            let halved = u64::from(n * (power - 1)) * 10;
            let folded = extra * (10 * u64::from(n) + 10);
            assert_eq!(total(Kind::ReduceScatter, Algorithm::RecursiveHalving, 10, n, 0), halved + folded);
        }
    }

    /// Doubling: in round `k` all ranks that have a partner at distance 2^k send; a chain sends once a rank.
    #[test]
    fn a_scan_sends_to_those_behind() {
        for n in 2..=33u32 {
            let pairs = |k: u32| (0..n).filter(|r| (r ^ (1 << k)) < n).count() as u64;
            let doubled: u64 = (0..rounds(n)).map(pairs).sum();
            for kind in [Kind::Scan, Kind::Exscan] {
                assert_eq!(total(kind, Algorithm::RecursiveDoubling, 10, n, 0), 10 * doubled);
                assert_eq!(total(kind, Algorithm::Linear, 10, n, 0), 10 * u64::from(n - 1));
            }
        }
    }

    /// Rank `r` contributes `r + 1` bytes (all-to-all: `10 from + to`).
    #[test]
    fn uneven_shares_go_where_they_belong() {
        let n = 5;
        let same = |_: u32| (1..=u64::from(n)).collect::<Vec<_>>();
        let of = |kind| Collective { root: 2, ..Collective::all(kind, 0, n) };
        let gather = play_uneven(of(Kind::Gather), same);
        let scatter = play_uneven(of(Kind::Scatter), same);
        for other in [0, 1, 3, 4] {
            assert_eq!(gather[&(other, 2)], u64::from(other) + 1);
            assert_eq!(scatter[&(2, other)], u64::from(other) + 1);
        }
        // Everything goes round, less what the next one has contributed itself: 15 - (next + 1).
        let allgather = play_uneven(of(Kind::Allgather), same);
        for r in 0..n {
            assert_eq!(allgather[&(r, (r + 1) % n)], 15 - u64::from((r + 1) % n + 1));
        }
        let matrix = |from: u32| (0..n).map(|to| u64::from(10 * from + to)).collect::<Vec<_>>();
        let alltoall = play_uneven(of(Kind::Alltoall), matrix);
        assert!(alltoall.iter().all(|(&(from, to), &bytes)| bytes == u64::from(10 * from + to)));
        assert_eq!(alltoall.len(), 20);
    }

    #[test]
    fn every_algorithm_of_every_kind_ends() {
        for kind in Kind::ALL {
            for &algorithm in algorithms_of(kind) {
                for n in [2, 3, 7, 8, 12] {
                    total(kind, algorithm, 1000, n, n / 2);
                }
            }
        }
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
            let ops: Vec<_> = (0..).map_while(|step| column.step(rank, step, &[])).collect();
            assert_eq!(ops.is_empty(), ![1, 5, 9].contains(&rank));
            for op in ops {
                if let Step::To(to, _) = op {
                    assert!([1, 5, 9].contains(&to));
                }
            }
        }
    }
}
