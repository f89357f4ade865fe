//! Halo exchange with the six neighbours of a periodic grid (Taffet, dissertation, sec. 5.3).

use crate::replay::{Cycle, Op, Script};

/// All receives, then all sends (a message to each neighbour in turn), then a wait for everything.
#[derive(Clone, Debug)]
pub struct Stencil {
    /// Ranks along x, y, z; x runs fastest.
    pub shape: [u32; 3],
    /// Bytes of a message.
    pub bytes: u64,
    /// Messages to each neighbour.
    pub messages: u64,
    /// Times the exchange is done.
    pub iterations: u64,
}

impl Stencil {
    /// Neighbours in the order +x, -x, +y, -y, +z, -z.
    fn neighbour(&self, rank: u32, direction: u64) -> u32 {
        let axis = (direction / 2) as usize;
        let (n, stride) = (self.shape[axis], self.shape[..axis].iter().product::<u32>());
        let at = rank / stride % n;
        match direction % 2 {
            0 if at + 1 == n => rank - at * stride,
            0 => rank + stride,
            _ if at == 0 => rank + (n - 1) * stride,
            _ => rank - stride,
        }
    }
}

impl Script for Stencil {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let each = 6 * self.messages;
        if step / (2 * each + 1) >= self.iterations {
            return None;
        }
        // The tag is the direction of travel, so that both neighbours of a ring of two are told apart.
        Some(match step % (2 * each + 1) {
            k if k < each => Op::Irecv { from: self.neighbour(rank, (k % 6) ^ 1), tag: (k % 6) as u32 },
            k if k < 2 * each => {
                let direction = (k - each) % 6;
                Op::Isend { to: self.neighbour(rank, direction), bytes: self.bytes, tag: direction as u32 }
            }
            _ => Op::WaitAll,
        })
    }

    fn cycle(&self, _: u32) -> Option<Cycle> {
        Some(Cycle::every(12 * self.messages + 1, self.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_wrap_round_in_every_direction() {
        let stencil = Stencil { shape: [4, 3, 2], bytes: 1, messages: 1, iterations: 1 };
        let around = |rank| (0..6).map(|d| stencil.neighbour(rank, d)).collect::<Vec<_>>();
        assert_eq!(around(0), [1, 3, 4, 8, 12, 12]);
        assert_eq!(around(23), [20, 22, 15, 19, 11, 11]);
    }

    #[test]
    fn every_send_meets_a_receive() {
        let stencil = Stencil { shape: [4, 3, 2], bytes: 1, messages: 2, iterations: 1 };
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for rank in 0..24 {
            for op in (0..).map_while(|step| stencil.op(rank, step)) {
                match op {
                    Op::Isend { to, tag, .. } => sends.push((rank, to, tag)),
                    Op::Irecv { from, tag } => receives.push((from, rank, tag)),
                    other => assert_eq!(other, Op::WaitAll),
                }
            }
        }
        sends.sort_unstable();
        receives.sort_unstable();
        assert_eq!(sends, receives);
    }
}
