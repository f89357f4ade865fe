//! Process grids: pairs of ranks by their offset.
//!
//! Most applications are a function of the offset between ranks on some process grid. The grid is not known, but there are few: every
//! ordered factorisation of the number of ranks into up to three factors, with x fastest (as MPI_Cart_create and most codes number
//! ranks, up to the order of axes) or along a Morton or Hilbert curve (block-structured codes). BoxLib's knapsack deals boxes of equal work out
//! in their own order, which is that of rows. All pairs with one offset are a *class*.
//!
//! Invariant: ranks have codes such that a class is the difference of two codes, so that no table of pairs is needed; offsets with
//! different components have different classes.
//!
//! Source: measured on recorded applications (docs/methods/inference.md); shift patterns as in Taffet, dissertation, sec. 4.3.3; Hilbert's curve as in
//! Skilling, *Programming the Hilbert curve*, AIP Conf. Proc. 707, 2004.

/// How ranks run through a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// x fastest, then y, then z.
    Rows,
    /// Along a Morton (Z) curve; sides are powers of two.
    Morton,
    /// Along a Hilbert curve; sides are one power of two.
    Hilbert,
}

/// A process grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Grid {
    /// Sides; 1 where there are fewer dimensions.
    pub sides: [u32; 3],
    /// How ranks run through it.
    pub order: Order,
}

impl Grid {
    /// All grids of so many ranks, fewer dimensions first.
    pub fn all(ranks: u32) -> Vec<Self> {
        let mut grids = Vec::new();
        let divisors: Vec<u32> = (2..=ranks).filter(|d| ranks.is_multiple_of(*d)).collect();
        let mut add = |sides: [u32; 3]| {
            grids.push(Self { sides, order: Order::Rows });
            if sides[1] > 1 && sides.iter().all(|s| s.is_power_of_two()) {
                grids.push(Self { sides, order: Order::Morton });
                if sides[0] == sides[1] && [1, sides[0]].contains(&sides[2]) {
                    grids.push(Self { sides, order: Order::Hilbert });
                }
            }
        };
        add([ranks, 1, 1]);
        for &x in divisors.iter().filter(|&&x| x < ranks) {
            add([x, ranks / x, 1]);
        }
        for &x in &divisors {
            for &y in divisors.iter().filter(|&&y| (ranks / x).is_multiple_of(y) && x * y < ranks) {
                add([x, y, ranks / x / y]);
            }
        }
        grids.sort_by_key(|g| (g.sides.iter().filter(|&&s| s > 1).count(), g.order));
        grids
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.sides.iter().product()
    }

    /// Where a rank is.
    pub fn place(&self, rank: u32) -> [u32; 3] {
        let [x, y, _] = self.sides;
        match self.order {
            Order::Rows => [rank % x, rank / x % y, rank / (x * y)],
            Order::Morton => {
                // The lowest bit of each side that is long enough, then the next.
                let (mut at, mut rest) = ([0; 3], rank);
                for bit in 0..u32::BITS {
                    for (at, _) in
                        at.iter_mut().zip(self.sides).filter(|&(_, side)| 1u64 << bit < u64::from(side))
                    {
                        *at |= (rest & 1) << bit;
                        rest >>= 1;
                    }
                }
                at
            }
            Order::Hilbert => {
                let dimensions = self.sides.iter().filter(|&&side| side > 1).count();
                hilbert(rank, dimensions, x.ilog2())
            }
        }
    }

    /// The codes of ranks `0..ranks`: the class of a pair is its destination's code less its source's.
    pub fn codes(&self, ranks: u32) -> Vec<i64> {
        (0..ranks).map(|rank| self.code(self.place(rank).map(i64::from))).collect()
    }

    /// The code of a place.
    pub(crate) fn code(&self, [a, b, c]: [i64; 3]) -> i64 {
        let [x, y, _] = self.sides.map(i64::from);
        a + (2 * x - 1) * (b + (2 * y - 1) * c)
    }

    /// The largest class; the smallest is its negative.
    pub fn most(&self) -> i64 {
        let [x, y, z] = self.sides.map(i64::from);
        (x - 1) + (2 * x - 1) * ((y - 1) + (2 * y - 1) * (z - 1))
    }

    /// The offset of a class.
    pub fn offset(&self, class: i64) -> [i64; 3] {
        let [x, y, _] = self.sides.map(|s| 2 * i64::from(s) - 1);
        let round = |value: i64, by: i64| (value + by / 2).div_euclid(by);
        let rest = round(class, x);
        let c = round(rest, y);
        [class - rest * x, rest - c * y, c]
    }
}

impl std::fmt::Display for Grid {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        let sides: Vec<String> = (self.sides.iter().enumerate())
            .filter(|&(i, &s)| i == 0 || s > 1)
            .map(|(_, s)| s.to_string())
            .collect();
        let order = match self.order {
            Order::Rows => "",
            Order::Morton => ",morton",
            Order::Hilbert => ",hilbert",
        };
        write!(f, "{}{order}", sides.join("x"))
    }
}

/// Where a Hilbert curve through a cube of `2^bits` a side is after so many steps.
fn hilbert(step: u32, dimensions: usize, bits: u32) -> [u32; 3] {
    // The step's bits in turn, from the highest: Skilling's transposed form.
    let mut at = [0; 3];
    let length = bits * dimensions as u32;
    for bit in 0..length {
        let axis = &mut at[bit as usize % dimensions];
        *axis = *axis << 1 | step >> (length - 1 - bit) & 1;
    }
    // Gray code, undone.
    let last = at[dimensions - 1] >> 1;
    for axis in (1..dimensions).rev() {
        at[axis] ^= at[axis - 1];
    }
    at[0] ^= last;
    // Turns and mirrors of the smaller cubes, undone.
    for bit in 1..bits {
        let below = (1 << bit) - 1;
        for axis in (0..dimensions).rev() {
            if at[axis] >> bit & 1 == 1 {
                at[0] ^= below;
            } else {
                let swapped = (at[0] ^ at[axis]) & below;
                at[0] ^= swapped;
                at[axis] ^= swapped;
            }
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// 12 = 12, 2x6 3x4 4x3 6x2, 2x2x3 2x3x2 3x2x2; of 8 = 8, 2x4 4x2, 2x2x2 the last three along a Morton curve, too, the last along Hilbert's.
    #[test]
    fn every_factorisation_is_there_once() {
        let of = |ranks| Grid::all(ranks).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(of(12), ["12", "2x6", "3x4", "4x3", "6x2", "2x2x3", "2x3x2", "3x2x2"]);
        assert_eq!(of(8).len(), 8);
        assert_eq!(of(1), ["1"]);
        assert_eq!(of(13), ["13"]);
    }

    #[test]
    fn ranks_fill_the_grid_and_classes_are_offsets() {
        for grid in Grid::all(24).into_iter().chain(Grid::all(32)) {
            let ranks = grid.sides.iter().product::<u32>();
            let places: HashSet<_> = (0..ranks).map(|r| grid.place(r)).collect();
            assert_eq!(places.len(), ranks as usize, "{grid}");
            let codes = grid.codes(ranks);
            for a in 0..ranks {
                for b in 0..ranks {
                    let class = codes[b as usize] - codes[a as usize];
                    let (from, to) = (grid.place(a), grid.place(b));
                    let offset = [0, 1, 2].map(|i| i64::from(to[i]) - i64::from(from[i]));
                    assert_eq!(grid.offset(class), offset, "{grid} {a} {b}");
                    assert!(class.abs() <= grid.most());
                }
            }
        }
    }

    /// What makes it Hilbert's: ranks in a row are neighbours.
    #[test]
    fn a_hilbert_curve_never_leaps() {
        for sides in [[2, 2, 1], [8, 8, 1], [2, 2, 2], [4, 4, 4], [8, 8, 8]] {
            let grid = Grid { sides, order: Order::Hilbert };
            let places: Vec<_> = (0..grid.ranks()).map(|rank| grid.place(rank)).collect();
            assert_eq!(places.iter().collect::<HashSet<_>>().len(), places.len(), "{grid}");
            for two in places.windows(2) {
                let apart: u32 = (0..3).map(|i| two[0][i].abs_diff(two[1][i])).sum();
                assert_eq!(apart, 1, "{grid} {two:?}");
            }
        }
    }

    #[test]
    fn a_morton_curve_goes_by_small_cubes() {
        let grid = Grid { sides: [4, 4, 2], order: Order::Morton };
        assert_eq!(
            [0, 1, 2, 3, 4, 8, 16].map(|r| grid.place(r)),
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0]]
        );
    }
}
