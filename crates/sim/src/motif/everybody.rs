//! Everybody at once: all-to-all, incast, one permutation after another.

use netloom_model::rng::{below, stream};

use crate::replay::{Cycle, Op, Script};

/// Every rank sends to every other, all at once, the next one first.
#[derive(Clone, Debug)]
pub struct AllToAll {
    /// Ranks.
    pub ranks: u32,
    /// Bytes of a message.
    pub bytes: u64,
    /// Times.
    pub iterations: u64,
    /// Between exchanges, ps.
    pub compute_ps: u64,
}

impl AllToAll {
    fn others(&self) -> u64 {
        u64::from(self.ranks.saturating_sub(1))
    }

    /// Steps of an exchange.
    fn period(&self) -> u64 {
        2 * self.others() + 1 + u64::from(self.compute_ps > 0)
    }
}

impl Script for AllToAll {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let (others, period) = (self.others(), self.period());
        if step / period >= self.iterations {
            return None;
        }
        let far = |k: u64| (k % others) as u32 + 1;
        Some(match step % period {
            k if k < others => Op::Irecv { from: (rank + self.ranks - far(k)) % self.ranks, tag: 0 },
            k if k < 2 * others => Op::Isend { to: (rank + far(k)) % self.ranks, bytes: self.bytes, tag: 0 },
            k if k == 2 * others => Op::WaitAll,
            _ => Op::Compute { ps: self.compute_ps },
        })
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(self.period(), self.iterations))
    }
}

/// All other ranks send to one.
#[derive(Clone, Debug)]
pub struct Incast {
    /// Ranks, the receiver among them.
    pub ranks: u32,
    /// The receiver.
    pub root: u32,
    /// Messages of a sender at once.
    pub messages: u64,
    /// Bytes of each.
    pub bytes: u64,
    /// Times, each awaited.
    pub iterations: u64,
}

impl Incast {
    fn senders(&self) -> u64 {
        u64::from(self.ranks.saturating_sub(1))
    }

    /// Messages that a rank sends or receives at once.
    fn each(&self, rank: u32) -> u64 {
        if rank == self.root { self.senders() * self.messages } else { self.messages }
    }
}

impl Script for Incast {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let (senders, each) = (self.senders(), self.each(rank));
        if step / (each + 1) >= self.iterations {
            return None;
        }
        Some(match step % (each + 1) {
            k if k == each => Op::WaitAll,
            k if rank == self.root => {
                let from = (k % senders) as u32;
                Op::Irecv { from: from + u32::from(from >= self.root), tag: 0 }
            }
            _ => Op::Isend { to: self.root, bytes: self.bytes, tag: 0 },
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        Some(Cycle::every(self.each(rank) + 1, self.iterations))
    }
}

/// Rounds of streams: the ranks stand in a circle in random order, and in each round everybody sends its messages, each awaited
/// before the next, to the rank so many places on; how many is drawn for the round.
#[derive(Clone, Debug)]
pub struct PermutationStream {
    order: Vec<u32>,
    place: Vec<u32>,
    rounds: u64,
    messages: u64,
    bytes: u64,
    seed: u64,
}

impl PermutationStream {
    /// `messages` of `bytes` in each of `rounds`.
    pub fn new(ranks: u32, rounds: u64, messages: u64, bytes: u64, seed: u64) -> Self {
        let mut order: Vec<u32> = (0..ranks).collect();
        let mut random = stream(seed, u64::MAX);
        for last in (1..order.len()).rev() {
            order.swap(last, below(&mut random, last as u64 + 1) as usize);
        }
        let mut place = vec![0; order.len()];
        for (at, &rank) in order.iter().enumerate() {
            place[rank as usize] = at as u32;
        }
        Self { order, place, rounds, messages, bytes, seed }
    }
}

impl Script for PermutationStream {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let n = self.order.len() as u64;
        let round = step / (3 * self.messages.max(1));
        if round >= self.rounds || self.messages == 0 || n < 2 {
            return None;
        }
        let far = 1 + below(&mut stream(self.seed, round), n - 1);
        let other = |far: u64| self.order[((u64::from(self.place[rank as usize]) + far) % n) as usize];
        Some(match step % 3 {
            0 => Op::Irecv { from: other(n - far), tag: 0 },
            1 => Op::Isend { to: other(far), bytes: self.bytes, tag: 0 },
            _ => Op::WaitAll,
        })
    }

    /// The messages of the first round; two ranks have no other partner in the next.
    fn cycle(&self, _: u32) -> Option<Cycle> {
        let rounds = match self.order.len() {
            0 | 1 => 0,
            2 => self.rounds,
            _ => self.rounds.min(1),
        };
        Some(Cycle::every(3, rounds * self.messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each round is a permutation without fixed points; the rounds differ.
    #[test]
    fn everybody_gets_a_partner_in_every_round() {
        let script = PermutationStream::new(10, 20, 1, 100, 7);
        let round = |k: u64| {
            (0..10)
                .map(|rank| match script.op(rank, 3 * k + 1) {
                    Some(Op::Isend { to, .. }) => to,
                    other => panic!("{other:?}"),
                })
                .collect::<Vec<u32>>()
        };
        for k in 0..20 {
            let to = round(k);
            assert!((0..10u32).all(|rank| to[rank as usize] != rank));
            let mut sorted = to.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..10).collect::<Vec<_>>());
        }
        assert!((1..20).any(|k| round(k) != round(0)));
        assert_eq!(script.op(0, 60), None);
    }
}
