//! A stencil code in three orders of communication: miniGhost's (Taffet, dissertation, sec. 2.4.2, fig. 2.8).
//!
//! A grid of ranks steps several variables. Before the stencil of a variable its values at the faces come from up to six neighbours,
//! and after it all ranks add up a number. The three orders differ in when: see [`GhostOrder`].
//!
//! Invariant: a message's tag is its direction of travel, from 1 on in the order +y, -y, +x, -x, -z, +z (north, south, east, west,
//! back, front), which is also the order in which a rank sends. The grid has edges: a rank there sends to whom it has.

use netloom_model::rng::{exponential, stream, unit};

use crate::replay::{Algorithm, Collective, Cycle, Kind, Op, Script};

/// When a step's variables are exchanged and summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GhostOrder {
    /// BSPMA: all variables in one message a neighbour; then stencil and sum, variable by variable.
    Together,
    /// SVAF: exchange, stencil and sum, variable by variable.
    ByVariable,
    /// SVAFP: exchange and stencil, variable by variable; all sums at the end of the step.
    SumsLast,
}

/// See the module.
#[derive(Clone, Debug)]
pub struct Ghost {
    /// Ranks along x, y, z; x runs fastest.
    pub shape: [u32; 3],
    /// When what is sent.
    pub order: GhostOrder,
    /// Variables.
    pub variables: u64,
    /// Bytes of one variable across a face.
    pub face_bytes: u64,
    /// Time steps.
    pub steps: u64,
    /// What packing one variable for one face takes, ps.
    pub pack_ps: u64,
    /// The stencil of one variable, ps.
    pub compute_ps: u64,
    /// Share of the stencils that something else interrupts, drawn at random.
    pub noise: f64,
    /// For how long on average, exponentially distributed, ps.
    pub noise_ps: u64,
    /// Seed of the noise.
    pub seed: u64,
}

/// Directions in the order of their tags: axis, and whether towards higher coordinates.
const DIRECTIONS: [(usize, bool); 6] = [(1, true), (1, false), (0, true), (0, false), (2, false), (2, true)];

impl Ghost {
    /// The neighbour in a direction, if there is one.
    fn neighbour(&self, rank: u32, direction: usize) -> Option<u32> {
        let (axis, higher) = DIRECTIONS[direction];
        let stride = self.shape[..axis].iter().product::<u32>();
        let at = rank / stride % self.shape[axis];
        match higher {
            true => (at + 1 < self.shape[axis]).then(|| rank + stride),
            false => (at > 0).then(|| rank - stride),
        }
    }

    /// Steps of an exchange: all receives; packing and sending, face by face; the wait for all.
    fn exchange_steps(&self, rank: u32) -> u64 {
        let partners = (0..6).filter(|&d| self.neighbour(rank, d).is_some()).count() as u64;
        partners * self.a_partner() + 1
    }

    fn a_partner(&self) -> u64 {
        if self.pack_ps > 0 { 3 } else { 2 }
    }

    /// Step `at` of an exchange of so many variables.
    fn exchange(&self, rank: u32, at: u64, variables: u64) -> Op {
        let mut there = (0..6).filter_map(|d| Some((d, self.neighbour(rank, d)?)));
        let partners = there.clone().count() as u64;
        let tag = |direction: usize| direction as u32 + 1;
        let Some(after) = at.checked_sub(partners) else {
            // What comes from the north travels south.
            return there
                .nth(at as usize)
                .map_or(Op::WaitAll, |(d, from)| Op::Irecv { from, tag: tag(d ^ 1) });
        };
        let sends = self.a_partner() - 1;
        match there.nth((after / sends) as usize) {
            None => Op::WaitAll,
            Some(_) if after % sends + 1 < sends => Op::Compute { ps: variables * self.pack_ps },
            Some((d, to)) => Op::Isend { to, bytes: variables * self.face_bytes, tag: tag(d) },
        }
    }

    /// The stencil of the `number`-th variable since the start.
    fn stencil(&self, rank: u32, number: u64) -> Op {
        let mut random = stream(self.seed, (u64::from(rank) << 32) ^ number);
        let interrupted = self.noise > 0.0 && unit(&mut random) < self.noise;
        let longer = if interrupted { (self.noise_ps as f64 * exponential(&mut random)) as u64 } else { 0 };
        Op::Compute { ps: self.compute_ps + longer }
    }

    /// A number of all ranks, added up along a binary tree and sent back down it.
    fn sum(&self) -> Op {
        let whole = Collective::all(Kind::Barrier, 8, self.shape.iter().product());
        Op::Together(Collective { algorithm: Some(Algorithm::BinaryTree), ..whole })
    }

    /// Of a rank with so long an exchange, the steps that come once a time step, and those that come with every variable.
    fn once_and_each(&self, exchange: u64) -> (u64, u64) {
        match self.order {
            GhostOrder::Together => (exchange, 2),
            GhostOrder::ByVariable => (0, exchange + 2),
            GhostOrder::SumsLast => (self.variables, exchange + 1),
        }
    }
}

impl Script for Ghost {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let exchange = self.exchange_steps(rank);
        let (once, each) = self.once_and_each(exchange);
        let period = once + self.variables * each;
        let (round, at) = (step / period, step % period);
        if round >= self.steps {
            return None;
        }
        let number = |variable: u64| round * self.variables + variable;
        Some(match self.order {
            GhostOrder::Together => match at.checked_sub(exchange) {
                None => self.exchange(rank, at, self.variables),
                Some(at) if at.is_multiple_of(2) => self.stencil(rank, number(at / 2)),
                Some(_) => self.sum(),
            },
            GhostOrder::SumsLast if at >= self.variables * each => self.sum(),
            GhostOrder::ByVariable | GhostOrder::SumsLast => match at % each {
                k if k < exchange => self.exchange(rank, k, 1),
                k if k == exchange => self.stencil(rank, number(at / each)),
                _ => self.sum(),
            },
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        if self.noise > 0.0 {
            return Some(Cycle::NONE);
        }
        let (once, each) = self.once_and_each(self.exchange_steps(rank));
        Some(Cycle::every(once + self.variables * each, self.steps))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ghost(order: GhostOrder) -> Ghost {
        Ghost {
            shape: [3, 3, 2],
            order,
            variables: 4,
            face_bytes: 10,
            steps: 2,
            pack_ps: 3,
            compute_ps: 1000,
            noise: 0.5,
            noise_ps: 70,
            seed: 3,
        }
    }

    fn steps(ghost: &Ghost, rank: u32) -> Vec<Op> {
        (0..).map_while(|step| ghost.op(rank, step)).collect()
    }

    #[test]
    fn a_rank_sends_north_first_and_at_an_edge_to_whom_it_has() {
        let sends = |rank| -> Vec<(u32, u32)> {
            let first =
                steps(&ghost(GhostOrder::Together), rank).into_iter().take_while(|op| *op != Op::WaitAll);
            first
                .filter_map(|op| if let Op::Isend { to, tag, .. } = op { Some((to, tag)) } else { None })
                .collect()
        };
        // Rank 4 is the middle of the plane z = 0; rank 7 lies north of it, at the edge.
        assert_eq!(sends(4), [(7, 1), (1, 2), (5, 3), (3, 4), (13, 6)]);
        assert_eq!(sends(7), [(4, 2), (8, 3), (6, 4), (16, 6)]);
        assert_eq!(sends(13), [(16, 1), (10, 2), (14, 3), (12, 4), (4, 5)]);
    }

    #[test]
    fn every_send_meets_a_receive() {
        for order in [GhostOrder::Together, GhostOrder::ByVariable, GhostOrder::SumsLast] {
            let (mut sends, mut receives) = (Vec::new(), Vec::new());
            for rank in 0..18 {
                for op in steps(&ghost(order), rank) {
                    match op {
                        Op::Isend { to, tag, .. } => sends.push((rank, to, tag)),
                        Op::Irecv { from, tag } => receives.push((from, rank, tag)),
                        _ => {}
                    }
                }
            }
            sends.sort_unstable();
            receives.sort_unstable();
            assert_eq!(sends, receives);
        }
    }

    #[test]
    fn all_orders_send_compute_and_sum_the_same() {
        let told = |order| {
            let mut told = (0, Vec::new(), 0, 0);
            for op in steps(&ghost(order), 4) {
                match op {
                    Op::Isend { bytes, .. } => told.0 += bytes,
                    Op::Compute { ps } if ps >= 1000 => told.1.push(ps),
                    Op::Compute { ps } => told.3 += ps,
                    Op::Together(_) => told.2 += 1,
                    _ => {}
                }
            }
            told
        };
        let expected = told(GhostOrder::Together);
        assert_eq!((expected.0, expected.1.len(), expected.2, expected.3), (2 * 5 * 40, 8, 8, 2 * 5 * 12));
        assert!(expected.1.contains(&1000) && expected.1.iter().any(|&ps| ps > 1000));
        assert_eq!(told(GhostOrder::ByVariable), expected);
        assert_eq!(told(GhostOrder::SumsLast), expected);
        let last = steps(&ghost(GhostOrder::SumsLast), 4);
        assert!(last[last.len() - 4..].iter().all(|op| matches!(op, Op::Together(_))));
    }

    #[test]
    fn interruptions_are_as_frequent_and_as_long_as_said() {
        let ghost = Ghost { noise_ps: 1_000_000, ..ghost(GhostOrder::Together) };
        let longer: Vec<u64> = (0..20_000)
            .filter_map(|number| match ghost.stencil(5, number) {
                Op::Compute { ps: 1000 } => None,
                Op::Compute { ps } => Some(ps - 1000),
                _ => unreachable!(),
            })
            .collect();
        // Half of the 20,000, of mean 1e6 and the same standard deviation; an exponential number is above its mean with 1/e.
        assert!((longer.len() as f64 - 1e4).abs() < 300.0);
        let mean = longer.iter().sum::<u64>() as f64 / longer.len() as f64;
        assert!((mean / 1e6 - 1.0).abs() < 0.04);
        let above = longer.iter().filter(|&&ps| ps > 1_000_000).count() as f64 / longer.len() as f64;
        assert!((above - (-1f64).exp()).abs() < 0.02);
    }
}
