//! Transforms in planes of a grid: pF3D's communication (Taffet, dissertation, sec. 2.4.1).

use crate::replay::{Collective, Cycle, Kind, Op, Script};

/// Every iteration computes, exchanges everything within every plane of equal z (a two-dimensional Fourier transform), and passes a
/// message on to the planes before and behind.
#[derive(Clone, Debug)]
pub struct Slabs {
    /// Ranks along x, y, z; x runs fastest.
    pub shape: [u32; 3],
    /// Bytes from each rank of a plane to each other.
    pub bytes: u64,
    /// Bytes to the same place in the planes beside; 0: no message.
    pub beside_bytes: u64,
    /// Times.
    pub iterations: u64,
    /// Before each, ps.
    pub compute_ps: u64,
}

impl Slabs {
    /// Ranks at the same place in the planes before and behind.
    fn beside(&self, rank: u32) -> [Option<u32>; 2] {
        let plane = self.shape[0] * self.shape[1];
        let above = (rank / plane + 1 < self.shape[2]).then(|| rank + plane);
        if self.beside_bytes == 0 { [None; 2] } else { [above, rank.checked_sub(plane)] }
    }

    /// Steps of an iteration of a rank with so many partners beside.
    fn period(&self, partners: u64) -> u64 {
        u64::from(self.compute_ps > 0) + 1 + 2 * partners + u64::from(partners > 0)
    }
}

impl Script for Slabs {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let beside = self.beside(rank);
        let partners = beside.iter().flatten().count() as u64;
        let computes = u64::from(self.compute_ps > 0);
        let period = self.period(partners);
        if step / period >= self.iterations {
            return None;
        }
        let Some(at) = (step % period).checked_sub(computes) else {
            return Some(Op::Compute { ps: self.compute_ps });
        };
        let Some(at) = at.checked_sub(1) else {
            let plane = self.shape[0] * self.shape[1];
            let first = rank / plane * plane;
            return Some(Op::Together(Collective {
                first,
                ..Collective::all(Kind::Alltoall, self.bytes, plane)
            }));
        };
        let mut there = beside.iter().enumerate().filter_map(|(d, other)| Some((d as u32, (*other)?)));
        // The tag is the direction of travel.
        Some(match there.nth((at % partners) as usize) {
            Some((d, from)) if at < partners => Op::Irecv { from, tag: d ^ 1 },
            Some((d, to)) if at < 2 * partners => Op::Isend { to, bytes: self.beside_bytes, tag: d },
            _ => Op::WaitAll,
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        let partners = self.beside(rank).iter().flatten().count() as u64;
        Some(Cycle::every(self.period(partners), self.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planes_talk_among_themselves_and_to_those_beside() {
        let slabs = Slabs { shape: [2, 2, 3], bytes: 8, beside_bytes: 5, iterations: 2, compute_ps: 7 };
        let steps = |rank| (0..).map_while(|step| slabs.op(rank, step)).collect::<Vec<_>>();
        let together = Op::Together(Collective { first: 4, ..Collective::all(Kind::Alltoall, 8, 4) });
        let once = [
            Op::Compute { ps: 7 },
            together,
            Op::Irecv { from: 9, tag: 1 },
            Op::Irecv { from: 1, tag: 0 },
            Op::Isend { to: 9, bytes: 5, tag: 0 },
            Op::Isend { to: 1, bytes: 5, tag: 1 },
            Op::WaitAll,
        ];
        assert_eq!(steps(5), [once, once].concat());
        assert_eq!(steps(0).len(), 2 * 5);
        let alone = Slabs { beside_bytes: 0, compute_ps: 0, ..slabs };
        assert_eq!(alone.op(5, 1), Some(together));
        assert_eq!(alone.op(5, 2), None);
    }
}
