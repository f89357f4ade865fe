//! Lanes from elements of a Galois field: no two pairs share more than two thirds of their (link, lane) rows.
//!
//! Hosts of a leaf take the same ways to a destination `d`, but for their own links. If the lanes of the other `n - 1` links are the digits
//! of `a_d * alpha^s + b_d` in GF(5^(n-1)), with `a_d` not 0 and `alpha` primitive, no two senders `s` have the same ones as long as their
//! numbers differ by less than 5^(n-1) - 1: 3124 for ways of six links, 124 for four. Going up, two destinations on one leaf may share the
//! first three of four links; there the first lane is the k-th of a random permutation for the k-th destination that shares them. What else
//! there is, is random.
//!
//! `a_d` is a power of `alpha` itself, so that the product is a sum of exponents and a table of powers is all that is needed.
//!
//! Where it differs from the source: destinations that share three links are counted in order of hosts, all of the leaf's, not in the order
//! in which lanes happen to be drawn. Ways of other lengths than 2, 4 and 6 have random lanes. What the source shows for quartz1 with `ftree`
//! (that six-hop pairs with one sender share at most four rows) depends on the routes.
//!
//! Source: Taffet, dissertation, sec. 4.4.3; primitive polynomials: Conway's, x^3 + 3x + 3 and x^5 + 4x + 3 over GF(5).

use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{HostId, LinkId};
use netloom_routing::{RoutingError, Walker};

/// Lanes of a link.
pub const LANES: u8 = 5;

/// Powers of x modulo x^3 + 3x + 3, lowest digit first.
static POWERS_3: [[u8; 3]; 124] = powers([3, 3, 0]);
/// Powers of x modulo x^5 + 4x + 3.
static POWERS_5: [[u8; 5]; 3124] = powers([3, 4, 0, 0, 0]);

/// Appends the lanes of a pair's way.
///
/// # Errors
/// [`RoutingError`] if packets from the source to another host of the destination's leaf don't arrive.
pub(crate) fn lanes(
    seed: u64,
    walker: &Walker,
    pair: (HostId, HostId),
    way: &[LinkId],
    lanes: &mut Vec<u8>,
) -> Result<(), RoutingError> {
    let random = |link: LinkId| at_random(seed, LANES, pair, link);
    match *way {
        [first, second, third, _] => {
            let mut order = [0, 1, 2, 3, 4];
            let links = [first, second, third].map(|link| u64::from(link.0));
            let id = links.iter().fold(0, |id: u64, link| id.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ link);
            shuffle(&mut stream(seed.wrapping_add(1), id), &mut order);
            lanes.push(order[earlier(walker, pair, &way[..3])? % order.len()]);
            lanes.extend(digits(&POWERS_3, seed, pair));
        }
        [first, _, _, _, _, _] => {
            lanes.push(random(first));
            lanes.extend(digits(&POWERS_5, seed, pair));
        }
        _ => lanes.extend(way.iter().map(|&link| random(link))),
    }
    Ok(())
}

/// The digits of `a_d * alpha^s + b_d`.
fn digits<const N: usize>(powers: &[[u8; N]], seed: u64, (from, to): (HostId, HostId)) -> [u8; N] {
    let mut random = stream(seed.wrapping_add(2), u64::from(to.0) << 8 | N as u64);
    let order = powers.len() as u64;
    let factor = below(&mut random, order);
    let product = &powers[((u64::from(from.0) + factor) % order) as usize];
    product.map(|digit| (digit + below(&mut random, LANES.into()) as u8) % LANES)
}

/// How many destinations before this one, on its leaf, the source reaches over the same three links.
fn earlier(walker: &Walker, (from, to): (HostId, HostId), three: &[LinkId]) -> Result<usize, RoutingError> {
    let mut count = 0;
    for &other in walker.fabric().hosts_on(walker.fabric().leaf(to)).iter().filter(|&&other| other < to) {
        let (mut at, mut same) = (0, true);
        walker.visit(from, other, |link| {
            same &= three.get(at).is_none_or(|&expected| expected == link);
            at += 1;
        })?;
        count += usize::from(same && at > three.len());
    }
    Ok(count)
}

/// All powers of x, from 1, modulo the monic polynomial of degree `K` with these coefficients below the highest, lowest first.
const fn powers<const K: usize, const N: usize>(polynomial: [u8; K]) -> [[u8; K]; N] {
    let mut all = [[0; K]; N];
    all[0][0] = 1;
    let mut n = 1;
    while n < N {
        let before = all[n - 1];
        let top = before[K - 1];
        let mut digit = 0;
        while digit < K {
            let carried = if digit == 0 { 0 } else { before[digit - 1] };
            all[n][digit] = (carried + top * (LANES - polynomial[digit])) % LANES;
            digit += 1;
        }
        n += 1;
    }
    all
}

/// A lane below `lanes` for a pair and link.
pub(crate) fn at_random(seed: u64, lanes: u8, (from, to): (HostId, HostId), link: LinkId) -> u8 {
    let pair = u64::from(from.0) << 32 | u64::from(to.0);
    let id = pair.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ u64::from(link.0);
    below(&mut stream(seed, id), u64::from(lanes.max(1))) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All elements but 0, each once, and then from the start: x is primitive.
    fn is_primitive<const K: usize>(powers: &[[u8; K]]) {
        let mut elements: Vec<[u8; K]> = powers.to_vec();
        elements.sort_unstable();
        elements.dedup();
        assert_eq!(elements.len(), 5usize.pow(K as u32) - 1);
        assert!(!elements.contains(&[0; K]));
    }

    #[test]
    fn x_generates_both_fields() {
        is_primitive(&POWERS_3);
        is_primitive(&POWERS_5);
        // x^3 = -3x - 3 = 2 + 2x.
        assert_eq!(POWERS_3[3], [2, 2, 0]);
    }

    #[test]
    fn senders_have_different_lanes_to_one_destination() {
        for to in [7, 3000] {
            let of = |from: u32| digits(&POWERS_5, 9, (HostId(from), HostId(to)));
            let mut all: Vec<[u8; 5]> = (0..3072).map(of).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 3072);
        }
    }
}
