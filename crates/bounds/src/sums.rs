//! What whole items can add up to: lower bounds on the fullest link by subset sums.
//!
//! If every size is a multiple of a grid, a link carries one of the items' subset sums. Below a load `z` a link
//! of room `r` carries at most the largest subset sum up to `r`; what it falls short of that, its *deficit*, is
//! the difference of two subset sums. The deficits of all links add up to exactly what their largest sums exceed
//! the items by: where no choice of one deficit a link does, `z` is refused. (That each item is on one link only is
//! not seen.)

use crate::bins::Bins;

/// Words of bit set that one table may touch, all items (or all deficits) together.
const MOST_WORK: u64 = 30_000_000;

/// Largest number of grid steps that a link's load may span.
const MOST_STEPS: f64 = 2e6;

/// Largest number of grid steps that all deficits together may span.
const MOST_DEFICIT: u64 = 400_000;

/// The least load above `floor` that subset sums do not refuse, and the grid; `None` if that is not above `floor`, or
/// the sizes are on no useful grid. `packed`: a load that some packing reaches.
pub(crate) fn bound(sizes: &[f64], bins: &Bins, floor: f64, packed: f64) -> Option<(f64, f64)> {
    let grid = common_grid(sizes)?;
    let span = bins.rooms(packed).fold(0.0, f64::max) / grid;
    if span > MOST_STEPS {
        return None;
    }
    let steps: Vec<u64> = sizes.iter().map(|s| (s / grid) as u64).collect();
    let total: u64 = steps.iter().sum();
    let tops = || bins.rooms(floor).map(|room| (room / grid) as u64);
    let reach = Reach::new(&steps, span as u64 + 1, |reach| {
        // Deficits of up to 63 steps each make any total up to 63 a link.
        let spare = tops().map(|top| reach.below(top)).sum::<u64>();
        tops().all(|top| reach.dense_below(top))
            && (total..=total + 63 * tops().count() as u64).contains(&spare)
    })?;
    // What takes too much work to refuse is not refused.
    let refused = |z: f64| {
        let tops = bins.rooms(z).map(|room| reach.below((room / grid * (1.0 + 1e-12)) as u64));
        reach.refuses(&tops.collect::<Vec<u64>>(), total) == Some(true)
    };
    if !refused(floor) {
        return None;
    }
    // Strides from below, since work grows with the load; then bisection.
    if bins.alike() {
        // Loads are whole steps.
        let step = grid / bins.capacity[0];
        let mut last = (floor / step) as u64;
        let end = (packed / step).ceil() as u64;
        let (mut first, mut stride) = (end, 1);
        while last + stride < end {
            if !refused((last + stride) as f64 * step) {
                first = last + stride;
                break;
            }
            (last, stride) = (last + stride, 2 * stride);
        }
        while first - last > 1 {
            let middle = last + (first - last) / 2;
            if refused(middle as f64 * step) { last = middle } else { first = middle }
        }
        return Some((first as f64 * step, grid));
    }
    let (mut low, mut high, mut stride) = (floor, packed, floor * 1e-6);
    while low + stride < packed {
        if !refused(low + stride) {
            high = low + stride;
            break;
        }
        (low, stride) = (low + stride, 2.0 * stride);
    }
    while high - low > low * 1e-13 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if refused(middle) { low = middle } else { high = middle }
    }
    Some((low, grid))
}

/// The subset sums of some items, in steps of the grid.
struct Reach {
    bits: Vec<u64>,
}

impl Reach {
    /// All sums up to `span`; `None` if that takes too much work, or `enough` says of some of them that they will do.
    fn new(steps: &[u64], span: u64, enough: impl Fn(&Self) -> bool) -> Option<Self> {
        let words = (span / 64 + 1) as usize;
        let mut reach = Self { bits: vec![0; words] };
        reach.bits[0] = 1;
        let mut work = 0;
        let mut i = 0;
        while i < steps.len() {
            // Equal sizes in powers of two: 1, 2, 4, ..., rest.
            let same = steps[i..].partition_point(|&s| s == steps[i]);
            let mut left = same as u64;
            let mut pack = 1;
            while left > 0 {
                let take = pack.min(left);
                work += words as u64;
                if work > MOST_WORK {
                    return None;
                }
                if let Some(shift) = steps[i].checked_mul(take).filter(|&s| s <= span) {
                    or_shifted(&mut reach.bits, shift);
                }
                left -= take;
                pack *= 2;
            }
            if enough(&reach) {
                return None;
            }
            i += same;
        }
        Some(reach)
    }

    fn has(&self, sum: u64) -> bool {
        self.bits.get((sum / 64) as usize).is_some_and(|w| w >> (sum % 64) & 1 == 1)
    }

    /// The largest sum up to `top`.
    fn below(&self, top: u64) -> u64 {
        let top = top.min(64 * self.bits.len() as u64 - 1);
        let mut at = (top / 64) as usize;
        let mut word = self.bits[at] & (u64::MAX >> (63 - top % 64));
        while word == 0 {
            // 0 is the sum of nothing.
            at -= 1;
            word = self.bits[at];
        }
        64 * at as u64 + 63 - u64::from(word.leading_zeros())
    }

    /// Whether all of the 64 sums up to `top` are there.
    fn dense_below(&self, top: u64) -> bool {
        top >= 63 && self.has(top) && (top - 63..top).all(|s| self.has(s))
    }

    /// Whether links with these largest sums cannot carry `total` together; `None` if that takes too much work.
    fn refuses(&self, tops: &[u64], total: u64) -> Option<bool> {
        let most: u64 = tops.iter().sum();
        if most < total {
            return Some(true);
        }
        let deficit = most - total;
        if deficit > MOST_DEFICIT {
            return None;
        }
        let mut tops = tops.to_vec();
        tops.sort_unstable();
        let mut work = 0;
        let mut sums = vec![0u64; (deficit / 64 + 1) as usize];
        sums[0] = 1;
        for same in tops.chunk_by(|a, b| a == b) {
            let mut one = vec![0u64; sums.len()];
            for d in 0..=deficit.min(same[0]) {
                one[(d / 64) as usize] |= u64::from(self.has(same[0] - d)) << (d % 64);
            }
            // Deficits of `same.len()` links of one kind, by doubling.
            let mut left = same.len();
            loop {
                if left & 1 == 1 {
                    sums = sum_set(&sums, &one, &mut work)?;
                }
                left >>= 1;
                if left == 0 || sums[(deficit / 64) as usize] >> (deficit % 64) & 1 == 1 {
                    break;
                }
                one = sum_set(&one, &one, &mut work)?;
            }
        }
        Some(sums[(deficit / 64) as usize] >> (deficit % 64) & 1 == 0)
    }
}

/// All `a + b`, as far as the sets reach; `None` if that takes too much work.
fn sum_set(a: &[u64], b: &[u64], work: &mut u64) -> Option<Vec<u64>> {
    let ones = |set: &[u64]| set.iter().map(|w| u64::from(w.count_ones())).sum::<u64>();
    let (few, many) = if ones(a) < ones(b) { (a, b) } else { (b, a) };
    *work += ones(few) * many.len() as u64;
    if *work > MOST_WORK {
        return None;
    }
    let mut all = vec![0u64; many.len()];
    for (at, &word) in few.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            let rest = word.trailing_zeros();
            word &= word - 1;
            for i in at..all.len() {
                all[i] |= many[i - at] << rest;
                if rest > 0 && i > at {
                    all[i] |= many[i - at - 1] >> (64 - rest);
                }
            }
        }
    }
    Some(all)
}

/// `bits |= bits << shift`, in place (from the top, so that every word is read before it is written).
fn or_shifted(bits: &mut [u64], shift: u64) {
    let (words, rest) = ((shift / 64) as usize, shift % 64);
    for i in (words..bits.len()).rev() {
        let mut moved = bits[i - words] << rest;
        if rest > 0 && i > words {
            moved |= bits[i - words - 1] >> (64 - rest);
        }
        bits[i] |= moved;
    }
}

/// The largest number of which every size is an exact multiple; `None` if sizes span too many bits.
pub(crate) fn common_grid(sizes: &[f64]) -> Option<f64> {
    // A finite double is an odd integer times a power of two.
    let split = |s: f64| {
        let bits = s.to_bits();
        let exponent = (bits >> 52 & 0x7ff) as i32;
        let mantissa = (bits & ((1 << 52) - 1)) | if exponent > 0 { 1 << 52 } else { 0 };
        let zeros = mantissa.trailing_zeros();
        (mantissa >> zeros, exponent.max(1) - 1075 + zeros as i32)
    };
    let low = sizes.iter().map(|&s| split(s).1).min()?;
    let mut gcd = 0u64;
    for &s in sizes {
        let (odd, exponent) = split(s);
        let shift = (exponent - low) as u32;
        if shift >= odd.leading_zeros() {
            return None;
        }
        let (mut a, mut b) = (gcd, odd << shift);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        gcd = a;
    }
    let grid = gcd as f64 * 2f64.powi(low);
    (grid.is_normal() && sizes[0] / grid < 1e15).then_some(grid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_are_sums_of_items() {
        // 5, 5, 5, 5, 4 on 2 links: mean 12; the smallest sum above it is 14 (10, 14).
        let even = Bins::even(2);
        assert_eq!(bound(&[5.0, 5.0, 5.0, 5.0, 4.0], &even, 12.0, 15.0), Some((14.0, 1.0)));
        // Ten items of 6 and one of 1 on 2 links: mean 30.5; sums are 6 i or 6 i + 1, so 31.
        let mut sizes = [6.0; 11];
        sizes[10] = 1.0;
        assert_eq!(bound(&sizes, &even, 30.5, 36.0), Some((31.0, 1.0)));
        assert_eq!(bound(&[0.75, 0.5], &Bins::even(1), 1.0, 1.25), Some((1.25, 0.25)));
    }

    #[test]
    fn what_links_fall_short_of_adds_up() {
        // 7, 7, 7, 7, 5, 5 = 38 on 3 links: mean 12.67, and 14 is a sum. But with every link at 14 or less they
        // carry 14, 12, 10, 7, 5 or nothing: short of 42 by 0, 2, 4, ... each, and 4 = 2 + 2 + 0: {14, 12, 12}.
        let sizes = [7.0, 7.0, 7.0, 7.0, 5.0, 5.0];
        assert_eq!(bound(&sizes, &Bins::even(3), 38.0 / 3.0, 19.0).unwrap().0, 14.0);
        // 10, 10, 10, 10, 3 = 43 on 2 links: mean 21.5, sums 20, 23: below 23 both carry 20 at most. At 23: 23 + 20.
        assert_eq!(bound(&[10.0, 10.0, 10.0, 10.0, 3.0], &Bins::even(2), 21.5, 30.0).unwrap().0, 23.0);
        // 9, 9, 9, 9, 4, 4 = 44 on 3 links: mean 14.67, sums 17, 18, ...: at 17 (9+4+4) they fall short of 51 by 7,
        // out of 0, 4, 8, 9, ...: no. At 18: 54 - 44 = 10 out of 0, 1, 5, 9, 10: {18, 18, 8}.
        assert_eq!(bound(&[9.0, 9.0, 9.0, 9.0, 4.0, 4.0], &Bins::even(3), 44.0 / 3.0, 22.0).unwrap().0, 18.0);
    }

    #[test]
    fn the_grid_is_the_greatest_common_divisor_even_of_fractions() {
        assert_eq!(common_grid(&[12.0, 18.0]), Some(6.0));
        assert_eq!(common_grid(&[0.75, 0.5]), Some(0.25));
        assert_eq!(common_grid(&[1e18, 3.0]), None);
    }
}
