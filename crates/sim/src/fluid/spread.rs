//! Which links carry the same part of everything, where traffic spreads evenly over all minimal paths.
//!
//! A flow between two pods of a large fabric spreads over hundreds of links, far too many to work with one by one. But most of them are
//! alike: all links from a leaf upwards carry the same part of any flow, and so do all links out of a pod. Links that are alike in
//! every flow are one constraint, and one of them stands for all.
//!
//! Alike links are found with a random linear probe: a random number enters at every source leaf, is split as the traffic is, on its
//! way to every destination leaf, and is multiplied by that leaf's random number where it is added to a link. Two links whose shares
//! differ for some pair get equal sums with a chance of about `2^-60`. Arithmetic is modulo the prime `2^61 - 1`, so that equal means equal.
//! Source of the idea: J. T. Schwartz, *Fast probabilistic algorithms for verification of polynomial identities*, JACM 27(4), 1980.

use std::collections::HashMap;

use netloom_model::rng::{below, stream};
use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_routing::PathSet;

/// A Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

fn times(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    let folded = (product as u64 & PRIME) + (product >> 61) as u64;
    if folded >= PRIME { folded - PRIME } else { folded }
}

fn plus(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

/// `1 / n`: `n^(p - 2)`.
fn inverse(n: u64) -> u64 {
    let (mut result, mut base, mut exponent) = (1, n % PRIME, PRIME - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    result
}

/// The link that stands for each link: the first of those that carry the same part of every flow between leaves and are as fast.
pub(crate) fn alike(fabric: &Fabric, paths: &PathSet) -> Vec<u32> {
    let mut random = stream(0, 0);
    let most = usize::from(fabric.max_radix());
    let part: Vec<u64> = (0..=most as u64).map(|n| if n == 0 { 0 } else { inverse(n) }).collect();
    let mut source = vec![0; fabric.switch_count()];
    for leaf in paths.leaves() {
        source[leaf.index()] = 1 + below(&mut random, PRIME - 1);
    }
    let mut sum = vec![0u64; fabric.link_count()];
    let mut layers: Vec<Vec<SwitchId>> = Vec::new();
    for &target in paths.leaves() {
        let at_target = 1 + below(&mut random, PRIME - 1);
        layers.iter_mut().for_each(Vec::clear);
        for switch in fabric.switches() {
            if let Some(hops) = paths.hops(switch, target) {
                let hops = usize::from(hops);
                if layers.len() <= hops {
                    layers.resize_with(hops + 1, Vec::new);
                }
                layers[hops].push(switch);
            }
        }
        let mut here = source.clone();
        for &switch in layers.iter().skip(1).rev().flatten() {
            let links = paths.links(switch, target);
            if here[switch.index()] == 0 || links.is_empty() {
                continue;
            }
            let each = times(here[switch.index()], part[links.len()]);
            for &link in links {
                sum[link.index()] = plus(sum[link.index()], times(each, at_target));
                let to = fabric.link_to_switch(link).expect("a path leads over switches").index();
                here[to] = plus(here[to], each);
            }
        }
    }
    let mut first: HashMap<(u64, u64), u32> = HashMap::new();
    let stands_for = |link: LinkId| {
        let sum = sum[link.index()];
        if sum == 0 {
            return link.0;
        }
        *first.entry((sum, fabric.bandwidth_bytes_per_s(link).to_bits())).or_insert(link.0)
    };
    fabric.links().map(stands_for).collect()
}

#[cfg(test)]
mod tests {
    use netloom_testkit::cases::{ft3_32, ft3_32_broken};
    use netloom_topology::detect;

    use super::*;

    #[test]
    fn arithmetic_is_that_of_a_field() {
        for n in [1, 2, 3, 24, 1 << 40] {
            assert_eq!(times(n, inverse(n)), 1);
        }
        assert_eq!(plus(PRIME - 1, 3), 2);
    }

    fn classes(fabric: &Fabric) -> (usize, Vec<u32>) {
        let all = alike(fabric, &PathSet::admissible(fabric, &detect(fabric)));
        let between = fabric.links().filter(|&l| fabric.between_switches(l) && fabric.alive(l));
        let mut of: Vec<u32> = between.map(|l| all[l.index()]).collect();
        of.sort_unstable();
        of.dedup();
        (of.len(), all)
    }

    /// In a whole tree a leaf's links upwards are alike, and the fabric's symmetry leaves a class a leaf or pod and direction.
    #[test]
    fn a_leafs_uplinks_are_alike_until_a_cable_breaks() {
        let whole = ft3_32();
        let (count, all) = classes(&whole);
        for &leaf in PathSet::admissible(&whole, &detect(&whole)).leaves() {
            let up: Vec<u32> = whole
                .switch_links(leaf)
                .filter(|&l| whole.between_switches(l))
                .map(|l| all[l.index()])
                .collect();
            assert!(up.windows(2).all(|pair| pair[0] == pair[1]), "{up:?}");
        }
        assert!(classes(&ft3_32_broken()).0 > count);
    }
}
