//! A traffic matrix as messages.

use crate::replay::{Collective, Cycle, Kind, Op, Script};

/// Bytes of a barrier's messages.
const BARRIER_BYTES: u64 = 8;

/// Every rank sends all that a matrix says, at once and each partner's bytes as one message, and waits for all; the next ranks first, so that nobody
/// is everybody's first. Ranks that send can compute before they do, and all meet in a barrier after so many times.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// By sender: receivers and bytes.
    to: Vec<Vec<(u32, u64)>>,
    /// By receiver: senders.
    from: Vec<Vec<u32>>,
    iterations: u64,
    compute_ps: u64,
    barrier_every: u64,
}

impl Exchange {
    /// Messages of `entries` (from, to, bytes) among so many ranks, so many times. What a rank sends itself, or nothing, is left out.
    pub fn new(ranks: u32, entries: impl Iterator<Item = (u32, u32, u64)>, iterations: u64) -> Self {
        let (mut to, mut from) = (vec![Vec::new(); ranks as usize], vec![Vec::new(); ranks as usize]);
        for (sender, receiver, bytes) in entries.filter(|&(s, r, bytes)| s != r && bytes > 0) {
            to[sender as usize].push((receiver, bytes));
            from[receiver as usize].push(sender);
        }
        for (rank, list) in to.iter_mut().enumerate() {
            list.sort_unstable_by_key(|&(other, _)| (other + ranks - rank as u32) % ranks);
        }
        for (rank, list) in from.iter_mut().enumerate() {
            list.sort_unstable_by_key(|&other| (rank as u32 + ranks - other) % ranks);
        }
        Self { to, from, iterations, compute_ps: 0, barrier_every: 0 }
    }

    /// The same with so much computation (ps) before what a rank sends; those that send nothing compute nothing.
    #[must_use]
    pub fn computing(self, compute_ps: u64) -> Self {
        Self { compute_ps, ..self }
    }

    /// The same with a barrier of all ranks after every so many iterations; 0: none.
    #[must_use]
    pub fn with_barriers(self, barrier_every: u64) -> Self {
        Self { barrier_every, ..self }
    }

    /// Whether a rank computes.
    fn computes(&self, rank: u32) -> bool {
        self.compute_ps > 0 && !self.to[rank as usize].is_empty()
    }

    /// Steps of a rank in one iteration, barriers aside.
    fn period(&self, rank: u32) -> u64 {
        let messages = self.to[rank as usize].len() + self.from[rank as usize].len();
        messages as u64 + 1 + u64::from(self.computes(rank))
    }

    /// All its steps.
    fn steps(&self, rank: u32) -> u64 {
        let barriers = self.iterations.checked_div(self.barrier_every).unwrap_or(0);
        self.period(rank) * self.iterations + barriers
    }

    /// What it does again and again: what lies between two barriers, one of them included, or what comes before the first.
    fn repeats(&self, rank: u32) -> Cycle {
        let (period, every) = (self.period(rank), self.barrier_every);
        match Cycle::every(period * every + 1, self.iterations.checked_div(every).unwrap_or(0)) {
            cycle if cycle.is_enough() => Cycle { to: self.steps(rank), ..cycle },
            _ if every == 0 => Cycle::every(period, self.iterations),
            _ => Cycle::every(period, self.iterations.min(every)),
        }
    }
}

/// Matrices one after another: a rank goes on with the next when it has what the present one sends it, and has sent its own.
#[derive(Clone, Debug)]
pub struct Exchanges(pub Vec<Exchange>);

impl Script for Exchanges {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let mut step = step;
        for phase in &self.0 {
            let steps = phase.steps(rank);
            if step < steps {
                return phase.op(rank, step);
            }
            step -= steps;
        }
        None
    }

    /// The longest of its phases'.
    fn cycle(&self, rank: u32) -> Option<Cycle> {
        let (mut from, mut longest) = (0, Cycle::NONE);
        for phase in &self.0 {
            let cycle = phase.repeats(rank).after(from);
            longest = if cycle.times() > longest.times() { cycle } else { longest };
            from += phase.steps(rank);
        }
        Some(longest)
    }
}

impl Script for Exchange {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        if step >= self.steps(rank) {
            return None;
        }
        let (to, from) = (&self.to[rank as usize], &self.from[rank as usize]);
        let period = self.period(rank);
        let mut at = step % period;
        if self.barrier_every > 0 {
            let between = step % (self.barrier_every * period + 1);
            if between == self.barrier_every * period {
                let ranks = self.to.len() as u32;
                return Some(Op::Together(Collective::all(Kind::Barrier, BARRIER_BYTES, ranks)));
            }
            at = between % period;
        }
        if self.computes(rank) {
            match at.checked_sub(1) {
                None => return Some(Op::Compute { ps: self.compute_ps }),
                Some(rest) => at = rest,
            }
        }
        let at = at as usize;
        Some(match at.checked_sub(from.len()) {
            None => Op::Irecv { from: from[at], tag: 0 },
            Some(k) if k < to.len() => Op::Isend { to: to[k].0, bytes: to[k].1, tag: 0 },
            Some(_) => Op::WaitAll,
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        Some(self.repeats(rank))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received_and_the_next_rank_comes_first() {
        let entries = [(0, 2, 20), (0, 1, 10), (2, 0, 5), (1, 1, 7), (1, 0, 0)];
        let script = Exchange::new(3, entries.into_iter(), 2);
        let steps = |rank| (0..).map_while(move |step| script.op(rank, step));
        let all: Vec<Op> = steps(0).collect();
        let once = [
            Op::Irecv { from: 2, tag: 0 },
            Op::Isend { to: 1, bytes: 10, tag: 0 },
            Op::Isend { to: 2, bytes: 20, tag: 0 },
            Op::WaitAll,
        ];
        assert_eq!(all, [once, once].concat());
        let [first, other] = [(0, 1, 10), (1, 2, 20)].map(|entry| Exchange::new(3, [entry].into_iter(), 1));
        let both = Exchanges(vec![first, other]);
        let wait = Op::WaitAll;
        let of = |rank| (0..).map_while(|step| both.op(rank, step)).collect::<Vec<Op>>();
        assert_eq!(of(0), [Op::Isend { to: 1, bytes: 10, tag: 0 }, wait, wait]);
        assert_eq!(
            of(1),
            [Op::Irecv { from: 0, tag: 0 }, wait, Op::Isend { to: 2, bytes: 20, tag: 0 }, wait]
        );
    }

    /// Two ranks of three compute before they send; the third only receives. Four times, and all meet after every three.
    #[test]
    fn senders_compute_and_all_meet() {
        let entries = [(0, 2, 20), (1, 0, 10)];
        let script = Exchange::new(3, entries.into_iter(), 4).computing(7).with_barriers(3);
        let of = |rank| (0..).map_while(|step| script.op(rank, step)).collect::<Vec<Op>>();
        let once = [
            Op::Compute { ps: 7 },
            Op::Irecv { from: 1, tag: 0 },
            Op::Isend { to: 2, bytes: 20, tag: 0 },
            Op::WaitAll,
        ];
        let barrier = [Op::Together(Collective::all(Kind::Barrier, 8, 3))];
        assert_eq!(of(0), [&once[..], &once, &once, &barrier, &once].concat());
        let receives = [Op::Irecv { from: 0, tag: 0 }, Op::WaitAll];
        assert_eq!(of(2), [&receives[..], &receives, &receives, &barrier, &receives].concat());
    }
}
