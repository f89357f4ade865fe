//! Messages one after another: streams to partners, bursts between pairs.

use crate::replay::{Cycle, Op, Script};

/// Every rank sends messages to one partner and receives from one, each awaited before the next
/// (Taffet, dissertation, sec. 5.2).
#[derive(Clone, Debug)]
pub struct Stream {
    /// Whom each rank sends to.
    pub to: Vec<u32>,
    /// Whom each rank receives from.
    pub from: Vec<u32>,
    /// Messages.
    pub messages: u64,
    /// Bytes of each.
    pub bytes: u64,
}

impl Stream {
    /// The streams of a permutation.
    pub fn of(to: &[u32], messages: u64, bytes: u64) -> Self {
        let mut from = vec![0; to.len()];
        for (rank, &partner) in to.iter().enumerate() {
            from[partner as usize] = rank as u32;
        }
        Self { to: to.to_vec(), from, messages, bytes }
    }
}

impl Script for Stream {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let (to, from) = (self.to[rank as usize], self.from[rank as usize]);
        if step / 3 >= self.messages || to == rank {
            return None;
        }
        Some(match step % 3 {
            0 => Op::Irecv { from, tag: 0 },
            1 => Op::Isend { to, bytes: self.bytes, tag: 0 },
            _ => Op::WaitAll,
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        let messages = if self.to[rank as usize] == rank { 0 } else { self.messages };
        Some(Cycle::every(3, messages))
    }
}

/// Pairs of ranks send each other a message in turn, the lower rank first.
#[derive(Clone, Debug)]
pub struct PingPong {
    /// Each rank's partner.
    pub partner: Vec<u32>,
    /// Bytes of a message.
    pub bytes: u64,
    /// Messages there and back.
    pub iterations: u64,
}

impl Script for PingPong {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let partner = self.partner[rank as usize];
        if step / 2 >= self.iterations {
            return None;
        }
        let sends = step.is_multiple_of(2) == (rank < partner);
        Some(if sends {
            Op::Send { to: partner, bytes: self.bytes, tag: 0 }
        } else {
            Op::Recv { from: partner, tag: 0 }
        })
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(2, self.iterations))
    }
}

/// Pairs of ranks exchange rounds of many messages at once: the bully of sec. 5.4.
#[derive(Clone, Debug)]
pub struct Pairs {
    /// Each rank's partner.
    pub partner: Vec<u32>,
    /// Rounds, each awaited.
    pub rounds: u64,
    /// Messages a round.
    pub messages: u64,
    /// Bytes of each.
    pub bytes: u64,
}

impl Script for Pairs {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let partner = self.partner[rank as usize];
        let round = 2 * self.messages + 1;
        if step / round >= self.rounds {
            return None;
        }
        Some(match step % round {
            k if k < self.messages => Op::Irecv { from: partner, tag: 0 },
            k if k < 2 * self.messages => Op::Isend { to: partner, bytes: self.bytes, tag: 0 },
            _ => Op::WaitAll,
        })
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(2 * self.messages + 1, self.rounds))
    }
}
