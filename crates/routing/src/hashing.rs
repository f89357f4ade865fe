//! Loads where switches choose among equal ways by a hash of the flow, as equal-cost multi-path routing (ECMP) does.
//!
//! A flow is a pair of hosts and one of `pairs` queue pairs between them, each with an equal part of the bytes. At every switch it
//! takes one of the admissible links (`paths.rs`) by a hash of source, destination, queue pair and switch; a draw is a seed of that
//! hash. Switches hash independently of each other: where they all use one function and one seed, ways are used less evenly.
//!
//! Invariants: bytes are conserved; the sums are taken by draw, source by source, so the bits do not depend on the
//! number of threads.
//! Source: C. Hopps, *Analysis of an Equal-Cost Multi-Path Algorithm*, RFC 2992, 2000 (choice by a hash of the flow).

use netloom_model::rng::mixed;
use netloom_model::{Control, Csr, Fabric, HostId, LinkId};
use rayon::prelude::*;

use crate::error::RoutingError;
use crate::loads::LinkLoads;
use crate::paths::PathSet;

/// An odd number by which parts of a flow's key are kept apart (2^64 over the golden ratio).
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// The loads of each draw, under the seeds `seed`, `seed + 1`, …, `draws` of them; fewer if the control ends it.
///
/// # Errors
/// [`RoutingError::Mismatch`] if the traffic is not of this fabric's size; [`RoutingError::NoRoute`] for a pair with bytes
/// that no admissible way joins.
pub fn hashed_loads(
    fabric: &Fabric,
    paths: &PathSet,
    traffic: &Csr,
    pairs: u32,
    seeds: std::ops::Range<u64>,
    control: &Control,
) -> Result<Vec<LinkLoads>, RoutingError> {
    if traffic.size() != fabric.host_count() {
        return Err(RoutingError::Mismatch(format!(
            "the traffic has {} endpoints, the fabric {} hosts",
            traffic.size(),
            fabric.host_count()
        )));
    }
    let draw = |seed: u64| match control.stopped() {
        Some(_) => Ok(None),
        None => loads_of(fabric, paths, traffic, pairs, mixed(seed.wrapping_add(APART))).map(Some),
    };
    let found: Vec<Result<Option<LinkLoads>, RoutingError>> = seeds.into_par_iter().map(draw).collect();
    Ok(found.into_iter().collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
}

fn loads_of(
    fabric: &Fabric,
    paths: &PathSet,
    traffic: &Csr,
    pairs: u32,
    key: u64,
) -> Result<LinkLoads, RoutingError> {
    let mut load = vec![0.0; fabric.link_count()];
    for source in fabric.hosts() {
        let (destinations, amounts) = traffic.row(source.index());
        for (&destination, &bytes) in destinations.iter().zip(amounts) {
            let destination = HostId(destination);
            if destination == source || bytes <= 0.0 {
                continue;
            }
            let first = fabric.host_link(source);
            let last = fabric.reverse(fabric.host_link(destination));
            if !(fabric.alive(first) && fabric.alive(last)) {
                let reason = "the cable of one of them is dead".to_owned();
                return Err(RoutingError::no_route(fabric, source, destination, reason));
            }
            load[first.index()] += bytes;
            load[last.index()] += bytes;
            let of_pair = mixed(key ^ u64::from(source.0) << 32 ^ u64::from(destination.0));
            for pair in 0..u64::from(pairs) {
                let flow = mixed(of_pair.wrapping_add(pair.wrapping_mul(APART)));
                let mut switch = fabric.leaf(source);
                let target = fabric.leaf(destination);
                while switch != target {
                    let link = match paths.links(switch, target) {
                        [] => {
                            let at = fabric.switch_name(switch);
                            let reason = format!("no admissible way leads on from \"{at}\"");
                            return Err(RoutingError::no_route(fabric, source, destination, reason));
                        }
                        [one] => *one,
                        many => chosen(many, mixed(flow ^ u64::from(switch.0).wrapping_mul(APART))),
                    };
                    load[link.index()] += bytes / f64::from(pairs);
                    switch = fabric.link_to_switch(link).expect("admissible links lead to switches");
                }
            }
        }
    }
    for (l, sum) in load.iter_mut().enumerate() {
        *sum /= fabric.relative_capacity(LinkId::from_index(l));
    }
    Ok(LinkLoads { load })
}

/// One of several links, by a hash.
fn chosen(links: &[LinkId], hash: u64) -> LinkId {
    links[((u128::from(hash) * links.len() as u128) >> 64) as usize]
}

#[cfg(test)]
mod tests {
    use netloom_topology::{detect, generate};

    use super::*;

    /// The largest load of each draw, where each host of the first leaf sends a byte to one of the second.
    fn drawn(spec: &str, pairs: u32, draws: u64) -> Vec<f64> {
        let fabric = generate(spec).unwrap();
        let paths = PathSet::minimal(&fabric, &detect(&fabric));
        let (n, half) = (fabric.host_count(), fabric.host_count() / 2);
        let offsets = (0..=n).map(|i| i.min(half) as u64).collect();
        let columns = (half as u32..n as u32).collect();
        let traffic = Csr::from_parts(offsets, columns, vec![1.0; half], None);
        let found = hashed_loads(&fabric, &paths, &traffic, pairs, 0..draws, &Control::default()).unwrap();
        found.iter().map(|loads| loads.max_between_switches(&fabric)).collect()
    }

    /// With one way there is nothing to choose; with many queue pairs every way gets its share.
    #[test]
    fn one_way_and_very_many_pairs_are_exact() {
        assert_eq!(drawn("two-level:leaves=2,hosts=4,spines=1", 1, 3), [4.0; 3]);
        for most in drawn("two-level:leaves=2,hosts=4,spines=4", 4096, 3) {
            assert!((most - 1.0).abs() < 0.1, "{most}");
        }
    }

    /// Two flows over two links meet with a chance of one half: 4,096 draws of a fair coin stay within 4 standard deviations.
    #[test]
    fn choices_are_fair_coins() {
        let found = drawn("two-level:leaves=2,hosts=2,spines=2", 1, 4096);
        let met = found.iter().filter(|&&load| load == 2.0).count();
        assert!(met.abs_diff(2048) < 128, "{met}");
        assert!(found.iter().all(|&load| load == 1.0 || load == 2.0));
    }

    /// Balls into bins: the mean of the largest load of a leaf's 8 flows over 8 links, by all ways to throw them.
    #[test]
    fn a_switch_throws_balls_into_bins() {
        let found = drawn("two-level:leaves=2,hosts=8,spines=8", 1, 20_000);
        let mean = found.iter().sum::<f64>() / found.len() as f64;
        let exact = most_of_bins(8, 8);
        assert!((mean - exact).abs() < 0.03, "{mean}, not {exact}");
    }

    /// The mean largest count of `balls` in `bins`, by all partitions.
    fn most_of_bins(balls: usize, bins: usize) -> f64 {
        // ways[b] of b balls in the bins so far with none above `most`, over the factorials.
        let factorial = |n: usize| (1..=n).map(|i| i as f64).product::<f64>();
        let at_most = |most: usize| {
            let mut ways = vec![0.0; balls + 1];
            ways[0] = 1.0;
            for _ in 0..bins {
                let mut next = vec![0.0; balls + 1];
                for (b, &way) in ways.iter().enumerate() {
                    (0..=most.min(balls - b)).for_each(|k| next[b + k] += way / factorial(k));
                }
                ways = next;
            }
            ways[balls] * factorial(balls) / (bins as f64).powi(balls as i32)
        };
        (1..=balls).map(|m| m as f64 * (at_most(m) - at_most(m - 1))).sum()
    }
}
