//! Random streams.
//!
//! Every unit of parallel work draws from its own stream `(seed, stream id)`, so results do not depend
//! on the number of threads. There is no global generator.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::{SplitMix64, Xoshiro256PlusPlus};

/// The generator used everywhere.
pub type Stream = Xoshiro256PlusPlus;

/// Stream `id` of `seed`.
pub fn stream(seed: u64, id: u64) -> Stream {
    let mut mix = SplitMix64::seed_from_u64(seed);
    let a = mix.next_u64();
    let mut mix = SplitMix64::seed_from_u64(a ^ id.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    Xoshiro256PlusPlus::seed_from_u64(mix.next_u64())
}

/// A number all of whose bits depend on all bits of `x`, another for every other `x` (the finalizer of SplitMix64; G. L. Steele, D. Lea,
/// C. H. Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014, fig. 15, Stafford's variant 13).
#[inline]
pub fn mixed(x: u64) -> u64 {
    let x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ x >> 31
}

/// A uniform integer in `0..n` (Lemire's method with rejection, so exactly uniform).
///
/// # Panics
/// If `n` is 0.
pub fn below(stream: &mut Stream, n: u64) -> u64 {
    assert!(n > 0, "an empty range has no random element");
    loop {
        let product = u128::from(stream.next_u64()) * u128::from(n);
        let low = product as u64;
        // The remainder is below `n`: most draws do without the division.
        if low >= n || low >= n.wrapping_neg() % n {
            return (product >> 64) as u64;
        }
    }
}

/// A uniform real in `[0, 1)` with 53 random bits.
pub fn unit(stream: &mut Stream) -> f64 {
    (stream.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

/// An exponential number of mean 1; at most 37.
pub fn exponential(stream: &mut Stream) -> f64 {
    -(1.0 - unit(stream)).ln()
}

/// A standard normal number; at most 8.6 in size (Box and Muller).
pub fn normal(stream: &mut Stream) -> f64 {
    let (a, b) = (unit(stream), unit(stream));
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

/// Fisher-Yates shuffle.
pub fn shuffle<T>(stream: &mut Stream, items: &mut [T]) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(stream, i as u64 + 1) as usize);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_reproducible_and_distinct() {
        let draw = |seed, id| stream(seed, id).next_u64();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(1, 3));
        assert_ne!(draw(1, 2), draw(2, 2));
    }

    #[test]
    fn shuffle_keeps_every_element() {
        let mut items: Vec<u32> = (0..100).collect();
        shuffle(&mut stream(7, 0), &mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}
