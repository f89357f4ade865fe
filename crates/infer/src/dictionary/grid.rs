//! Process grids: pairs of ranks by their offset.
//!
//! Most applications are a function of the offset between ranks on some process grid. The grid is not known, but there are few: every
//! ordered factorisation of the number of ranks into up to three factors, with x fastest (as MPI_Cart_create and most codes number
//! ranks, up to the order of axes) or along a Morton or Hilbert curve (block-structured codes). A curve goes through the smallest cube of a
//! power of two that holds the grid: places are sorted by their key on it, as codes do whose sides are any. BoxLib's knapsack deals boxes of equal
//! work out in their own order, which is that of rows. All pairs with one offset are a *class*.
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
    /// Along a Morton (Z) curve.
    Morton,
    /// Along a Hilbert curve.
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
    /// All grids of so many ranks, fewer dimensions first. Morton curves that run as rows do are left out.
    pub fn all(ranks: u32) -> Vec<Self> {
        let mut grids = Vec::new();
        let divisors: Vec<u32> = (2..=ranks).filter(|d| ranks.is_multiple_of(*d)).collect();
        let mut add = |sides: [u32; 3]| {
            grids.push(Self { sides, order: Order::Rows });
            let [x, y, z] = sides;
            let as_rows = x == 2 && (y == 2 || z == 1);
            if y > 1 && !as_rows {
                grids.push(Self { sides, order: Order::Morton });
            }
            if y > 1 {
                grids.push(Self { sides, order: Order::Hilbert });
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

    /// Whether it is tried at once: rows, and curves whose every part is whole, which sides of powers of two make.
    pub fn is_usual(&self) -> bool {
        let [x, y, z] = self.sides;
        match self.order {
            Order::Rows => true,
            Order::Morton => self.sides.iter().all(|side| side.is_power_of_two()),
            Order::Hilbert => x.is_power_of_two() && x == y && [1, x].contains(&z),
        }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> u32 {
        self.sides.iter().product()
    }

    /// `[rank]`: where it is.
    pub fn places(&self) -> Vec<[u32; 3]> {
        let [x, y, _] = self.sides;
        let mut places: Vec<[u32; 3]> =
            (0..self.ranks()).map(|rank| [rank % x, rank / x % y, rank / (x * y)]).collect();
        let dimensions = self.sides.iter().filter(|&&side| side > 1).count().max(1);
        let most = self.sides.iter().copied().max().unwrap_or(1);
        let bits = u32::BITS - (most - 1).leading_zeros();
        match self.order {
            Order::Rows => {}
            Order::Morton => places.sort_by_cached_key(|&[a, b, c]| interleaved([c, b, a], 3, bits)),
            Order::Hilbert => places.sort_by_cached_key(|&place| hilbert(place, dimensions, bits)),
        }
        places
    }

    /// `[rank]`: its code. The class of a pair is its destination's code less its source's.
    pub fn codes(&self) -> Vec<i64> {
        self.places().into_iter().map(|place| self.code(place.map(i64::from))).collect()
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

/// The bits of some numbers in turn, from the highest.
fn interleaved(at: [u32; 3], numbers: usize, bits: u32) -> u128 {
    let bit = |key: u128, (bit, axis): (u32, usize)| key << 1 | u128::from(at[axis] >> bit & 1);
    (0..bits).rev().flat_map(|bit| (0..numbers).map(move |axis| (bit, axis))).fold(0, bit)
}

/// After how many steps a Hilbert curve through a cube of `2^bits` a side comes to a place.
fn hilbert(mut at: [u32; 3], dimensions: usize, bits: u32) -> u128 {
    // Turns and mirrors of the smaller cubes, undone.
    for bit in (1..bits).rev() {
        let below = (1 << bit) - 1;
        for axis in 0..dimensions {
            if at[axis] >> bit & 1 == 1 {
                at[0] ^= below;
            } else {
                let swapped = (at[0] ^ at[axis]) & below;
                at[0] ^= swapped;
                at[axis] ^= swapped;
            }
        }
    }
    // Gray code.
    for axis in 1..dimensions {
        at[axis] ^= at[axis - 1];
    }
    let odd = (1..bits).filter(|bit| at[dimensions - 1] >> bit & 1 == 1);
    let turned = odd.fold(0, |turned, bit| turned ^ ((1 << bit) - 1));
    at.iter_mut().take(dimensions).for_each(|at| *at ^= turned);
    // Skilling's transposed form.
    interleaved(at, dimensions, bits)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// 12 = 12, 2x6 3x4 4x3 6x2, 2x2x3 2x3x2 3x2x2, most of them along both curves, too.
    #[test]
    fn every_factorisation_is_there_once() {
        let of = |ranks| Grid::all(ranks).iter().map(ToString::to_string).collect::<Vec<_>>();
        let rows = ["12", "2x6", "3x4", "4x3", "6x2", "2x2x3", "2x3x2", "3x2x2"];
        let mut found = of(12);
        assert_eq!(found.len(), 20);
        assert!(found.contains(&"3x4,morton".into()) && found.contains(&"2x3x2,hilbert".into()));
        found.retain(|grid| !grid.contains(','));
        assert_eq!(found, rows);
        assert_eq!(of(1), ["1"]);
        assert_eq!(of(13), ["13"]);
    }

    /// Of 8: rows (4), Morton's on 4 x 2, and Hilbert's through the cube. Of 12 rows alone.
    #[test]
    fn curves_through_other_sides_than_powers_of_two_are_not_usual() {
        let usual = |ranks| Grid::all(ranks).iter().filter(|grid| grid.is_usual()).count();
        assert_eq!((usual(8), usual(12)), (6, 8));
    }

    /// The keys of 0..3 x 0..3, x lowest: 0 1 4, 2 3 6, 8 9 12.
    #[test]
    fn a_morton_curve_leaves_out_what_is_not_there() {
        let grid = Grid { sides: [3, 3, 1], order: Order::Morton };
        let expected = [[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1], [0, 2], [1, 2], [2, 2]];
        assert_eq!(grid.places(), expected.map(|[x, y]| [x, y, 0]));
    }

    /// What is left of Hilbert's curve through 8 x 8 x 8 where 6 x 4 x 5 are there, in its order.
    #[test]
    fn a_hilbert_curve_leaves_out_what_is_not_there() {
        let whole = Grid { sides: [8, 8, 8], order: Order::Hilbert }.places();
        let inside = whole.into_iter().filter(|&[x, y, z]| x < 6 && y < 4 && z < 5).collect::<Vec<_>>();
        assert_eq!(Grid { sides: [6, 4, 5], order: Order::Hilbert }.places(), inside);
    }

    #[test]
    fn ranks_fill_the_grid_and_classes_are_offsets() {
        for grid in Grid::all(24).into_iter().chain(Grid::all(32)) {
            let places = grid.places();
            let ranks = grid.ranks() as usize;
            assert_eq!(places.iter().collect::<HashSet<_>>().len(), ranks, "{grid}");
            let codes = grid.codes();
            for a in 0..ranks {
                for b in 0..ranks {
                    let class = codes[b] - codes[a];
                    let (from, to) = (places[a], places[b]);
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
            let places = grid.places();
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
            [0, 1, 2, 3, 4, 8, 16].map(|r| grid.places()[r]),
            [[0, 0, 0], [1, 0, 0], [0, 1, 0], [1, 1, 0], [0, 0, 1], [2, 0, 0], [0, 2, 0]]
        );
    }
}
