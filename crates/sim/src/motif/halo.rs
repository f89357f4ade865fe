//! Halo exchange of a grid of ranks, in two or three dimensions.
//!
//! A rank has up to 6 neighbours across faces, 12 across edges and 8 across corners (in two dimensions, `z = 1`: 4 and 4, the
//! diagonal ones counting as edges). Every iteration starts all receives, then all sends, waits for everything and computes.
//!
//! Invariant: the tag of a message is its direction of travel, so that both neighbours in a ring of two are told apart.

use crate::replay::{Cycle, Op, Script};

/// See the module.
#[derive(Clone, Debug)]
pub struct Halo {
    /// Ranks along x, y, z; x runs fastest.
    pub shape: [u32; 3],
    /// Axes that wrap round. An axis of one rank has no neighbours.
    pub periodic: [bool; 3],
    /// Bytes of a message across a face, an edge, a corner; 0: none is sent.
    pub bytes: [u64; 3],
    /// Times the exchange is done.
    pub iterations: u64,
    /// Between exchanges, ps.
    pub compute_ps: u64,
}

impl Halo {
    /// Ranks.
    pub fn ranks(&self) -> u32 {
        self.shape.iter().product()
    }

    /// Bytes and neighbour in direction `d` of 0..27 (digits base 3, less one, are the steps along x, y, z).
    fn neighbour(&self, rank: u32, d: u32) -> Option<(u32, u64)> {
        let steps = [d % 3, d / 3 % 3, d / 9];
        let crossed = steps.iter().filter(|&&step| step != 1).count();
        let bytes = *self.bytes.get(crossed.checked_sub(1)?)?;
        let [x, y, _] = self.shape;
        let mut at = [rank % x, rank / x % y, rank / (x * y)];
        for axis in 0..3 {
            let n = self.shape[axis];
            at[axis] = match steps[axis] {
                1 => at[axis],
                _ if n == 1 => return None,
                0 if at[axis] > 0 => at[axis] - 1,
                2 if at[axis] + 1 < n => at[axis] + 1,
                _ if !self.periodic[axis] => return None,
                0 => n - 1,
                _ => 0,
            };
        }
        (bytes > 0).then_some((at[0] + x * (at[1] + y * at[2]), bytes))
    }

    /// All neighbours, with their directions.
    fn neighbours(&self, rank: u32) -> impl Iterator<Item = (u32, (u32, u64))> + '_ {
        (0..27).filter_map(move |d| Some((d, self.neighbour(rank, d)?)))
    }

    /// Steps of an iteration of a rank with so many neighbours.
    fn period(&self, neighbours: u64) -> u64 {
        2 * neighbours + 1 + u64::from(self.compute_ps > 0)
    }
}

impl Script for Halo {
    fn op(&self, rank: u32, step: u64) -> Option<Op> {
        let each = self.neighbours(rank).count() as u64;
        let period = self.period(each);
        if step / period >= self.iterations {
            return None;
        }
        let step = step % period;
        Some(if step < 2 * each {
            let (d, (other, bytes)) = self.neighbours(rank).nth((step % each) as usize)?;
            if step < each {
                Op::Irecv { from: other, tag: 26 - d }
            } else {
                Op::Isend { to: other, bytes, tag: d }
            }
        } else if step == 2 * each {
            Op::WaitAll
        } else {
            Op::Compute { ps: self.compute_ps }
        })
    }

    fn cycle(&self, rank: u32) -> Option<Cycle> {
        Some(Cycle::every(self.period(self.neighbours(rank).count() as u64), self.iterations))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbours(halo: &Halo, rank: u32) -> Vec<u32> {
        (0..27).filter_map(|d| Some(halo.neighbour(rank, d)?.0)).collect()
    }

    /// Rank 13 is the middle of a 3 x 3 x 3 grid, rank 0 a corner, rank 4 the middle of a face.
    #[test]
    fn a_rank_has_neighbours_across_faces_edges_and_corners() {
        let halo = |bytes, periodic| Halo {
            shape: [3, 3, 3],
            periodic: [periodic; 3],
            bytes,
            iterations: 1,
            compute_ps: 0,
        };
        assert_eq!(neighbours(&halo([1, 0, 0], false), 13), [4, 10, 12, 14, 16, 22]);
        assert_eq!(neighbours(&halo([1, 1, 1], false), 13).len(), 26);
        assert_eq!(neighbours(&halo([1, 1, 1], false), 0).len(), 7);
        assert_eq!(neighbours(&halo([0, 1, 0], false), 4).len(), 4 + 4);
        assert_eq!(neighbours(&halo([1, 1, 1], true), 0).len(), 26);
        assert_eq!(neighbours(&halo([1, 0, 0], true), 0), [18, 6, 2, 1, 3, 9]);
    }

    #[test]
    fn two_dimensions_are_a_shape_with_one_layer() {
        let halo =
            Halo { shape: [4, 3, 1], periodic: [false; 3], bytes: [8, 1, 1], iterations: 1, compute_ps: 0 };
        assert_eq!(neighbours(&halo, 5), [0, 1, 2, 4, 6, 8, 9, 10]);
        let wrapped = Halo { periodic: [true, true, true], bytes: [8, 0, 0], ..halo };
        assert_eq!(neighbours(&wrapped, 0), [8, 3, 1, 4]);
    }
}
