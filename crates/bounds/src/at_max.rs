//! How many links must carry the maximum.
//!
//! Routes with no load above a maximum may have to have it on many links. At every leaf and pod, up and down, the
//! items that cannot avoid its links weigh so much in all; below the level a link holds at most so much of that, at the
//! maximum a little more. As many links as it takes until all weight may be held carry the level. Links of different
//! sides are different links, so the numbers add up. With 17 equal flows on 16 links, each flow weighing 1,
//! a link below twice a flow's bytes holds 1: one link must hold 2.
//!
//! Weights tried: 1 for everything of at least some size (what pigeons count); the size itself (where the mean is the
//! maximum, all links carry it); the weights of `patterns`.
//! Source: Taffet, dissertation, sec. 5.4.1 (fewest links above a threshold).

use netloom_model::{Control, Csr, Fabric, LinksAtMax, Routes, Side};
use netloom_routing::PathSet;
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::bins::Bins;
use crate::demand::Demand;
use crate::interval::BoundError;
use crate::knapsack::{Allowance, worthiest};
use crate::packing::longest_processing_time;
use crate::patterns::{Kinds, Weights, by_size, refusing, steps};
use crate::places::{Place, Places};

/// Relative tolerance around the maximum.
const TOLERANCE: f64 = 1e-9;
/// Work of one side's weights.
const ONE_SIDE: u64 = 500_000;
/// Links of a side for which patterns are tried.
const FEW_LINKS: usize = 64;
/// Largest weight of an item that a judge accepts.
const MOST_WEIGHT: u64 = 1 << 32;

/// How many links between switches must carry `maximum` if no link carries more, with what shows it.
///
/// `frozen`: routes and the destinations (one flag a host) that keep their entries; none: all routes. A `count` of 0 shows
/// nothing. Deterministic; where `control` asks to stop, the sides found by then.
///
/// # Errors
/// [`BoundError::Frozen`] if the routes do not deliver what is sent to frozen destinations.
pub fn links_at_max(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    frozen: Option<(&Routes, &[bool])>,
    maximum: f64,
    control: &Control,
) -> Result<LinksAtMax, BoundError> {
    let demand = match frozen {
        Some((routes, flags)) => Demand::with_frozen(fabric, traffic, routes, flags)?,
        None => Demand::new(fabric, traffic),
    };
    let places = Places::new(fabric, structure, paths, &demand);
    let mut all = places.leaves();
    let leaves = all.len();
    places.pieces(&mut all);
    let side = |(i, place): (usize, &Place)| -> Option<(u64, usize, Side)> {
        if control.stopped().is_some() {
            return None;
        }
        let bins = places.bins(place);
        if bins.at_most(place.total, place.largest) < maximum * (1.0 - TOLERANCE) {
            return None;
        }
        let sizes: Vec<f64> = places.items(place).into_iter().map(|(bytes, _)| bytes).collect();
        if longest_processing_time(&sizes, &bins) < maximum * (1.0 - TOLERANCE) {
            return None;
        }
        let (count, Weights { grid, by_size }) =
            needed(&sizes, &bins, maximum, place.links.len() <= FEW_LINKS)?;
        Some((count, i, Side { place: place.name.clone(), links: place.links.clone(), grid, by_size }))
    };
    let mut found: Vec<(u64, usize, Side)> = all.par_iter().enumerate().filter_map(side).collect();
    // Leaves first: some sides of pods share links with them, or with each other.
    found.sort_by_key(|&(count, i, _)| (i >= leaves, std::cmp::Reverse(count), i));
    let mut taken = vec![false; fabric.link_count()];
    let mut result =
        LinksAtMax { maximum, level: maximum, count: 0, sides: Vec::new(), frozen: demand.frozen };
    for (count, _, side) in found {
        if side.links.iter().all(|l| !taken[l.index()]) {
            side.links.iter().for_each(|l| taken[l.index()] = true);
            result.count += count;
            result.sides.push(side);
        }
    }
    Ok(result)
}

/// The most links that some weights show to carry `maximum`; none if they show none.
fn needed(sizes: &[f64], bins: &Bins, maximum: f64, dear: bool) -> Option<(u64, Weights)> {
    let (at, below) = (maximum * (1.0 + TOLERANCE), maximum * (1.0 - TOLERANCE));
    let largest = bins.rooms(at).fold(0.0, f64::max);
    let kinds = Kinds::new(sizes, largest)?;
    let rooms = |z: f64| bins.rooms(z).map(|room| steps(room, kinds.grid));
    let mut pairs: Vec<(u64, u64)> = rooms(below).zip(rooms(at)).collect();
    pairs.sort_unstable();
    let rooms: Vec<((u64, u64), u64)> =
        pairs.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect();
    let mut best: Option<(u64, Vec<u64>)> = None;
    let mut offer = |count: u64, weights: &dyn Fn() -> Vec<u64>| {
        if count > best.as_ref().map_or(0, |b| b.0) {
            best = Some((count, weights()));
        }
    };
    // Everything of at least a kind's size weighs 1: a room holds as many as there are of the smallest.
    let count = kinds.kinds.len();
    for last in 0..count {
        let held = |room: u64| {
            let (mut room, mut held) = (room, 0);
            for kind in kinds.kinds[..=last].iter().rev() {
                let fit = (room / kind.size).min(kind.count);
                (room, held) = (room - fit * kind.size, held + fit);
                if fit < kind.count {
                    break;
                }
            }
            held
        };
        let all = kinds.kinds[..=last].iter().map(|k| k.count).sum();
        offer(hot(all, &rooms, held), &|| (0..count).map(|k| u64::from(k <= last)).collect());
    }
    // Everything weighs its size: a room holds no more than itself.
    let all = kinds.kinds.iter().map(|k| k.count * k.size).sum();
    if kinds.kinds[0].size <= MOST_WEIGHT {
        offer(hot(all, &rooms, |room| room), &|| kinds.kinds.iter().map(|k| k.size).collect());
    }
    let mut allowance = Allowance(ONE_SIDE);
    if dear && let Some(weights) = refusing(&kinds, bins, below, &mut allowance) {
        let all = kinds.kinds.iter().zip(&weights).map(|(k, w)| k.count * w).sum();
        let mut known: Vec<(u64, u64)> = Vec::new();
        let all_held = rooms.iter().flat_map(|r| [r.0.0, r.0.1]).try_for_each(|room| {
            if known.iter().all(|k| k.0 != room) {
                let worth = worthiest(&kinds.kinds, &weights, room, 0, &mut allowance)?;
                known.push((room, worth.map_or(0, |w| w.0)));
            }
            Ok::<(), crate::knapsack::Spent>(())
        });
        if all_held.is_ok() {
            let held = |room: u64| known.iter().find(|k| k.0 == room).map_or(0, |k| k.1);
            offer(hot(all, &rooms, held), &|| weights.clone());
        }
    }
    let (count, weights) = best?;
    Some((count, by_size(kinds.grid, &kinds.least, weights)))
}

/// How many links must have more room than below the level until they hold `all`; links with the same two rooms
/// together, as `((below, at), number)`.
fn hot(all: u64, rooms: &[((u64, u64), u64)], held: impl Fn(u64) -> u64) -> u64 {
    let mut missing = all;
    let mut gains: Vec<(u64, u64)> = Vec::with_capacity(rooms.len());
    for &((below, at), links) in rooms {
        let less = held(below);
        missing = missing.saturating_sub(links * less);
        gains.push((held(at).saturating_sub(less), links));
    }
    gains.sort_unstable_by(|a, b| b.cmp(a));
    let mut count = 0;
    for (gain, links) in gains {
        let wanted = if gain == 0 { links } else { missing.div_ceil(gain).min(links) };
        if missing > 0 {
            (missing, count) = (missing.saturating_sub(wanted * gain), count + wanted);
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(sizes: &[f64], bins: &Bins, maximum: f64) -> u64 {
        needed(sizes, bins, maximum, true).map_or(0, |n| n.0)
    }

    #[test]
    fn pigeons_sizes_and_patterns_count() {
        // 17 flows of 100 and some of 1 on 16 links: one link carries two.
        let mut sizes = vec![100.0; 17];
        sizes.extend([1.0; 40]);
        assert_eq!(count(&sizes, &Bins::even(16), 200.0), 1);
        // 19: three links. 33: with two everywhere one too many, so this maximum cannot be: all of them.
        assert_eq!(count(&[100.0; 19], &Bins::even(16), 200.0), 3);
        assert_eq!(count(&[100.0; 33], &Bins::even(16), 200.0), 16);
        // At 201 nothing need be that full.
        assert_eq!(count(&sizes, &Bins::even(16), 201.0), 0);
        // Where the mean is the maximum, every link carries it: 5 + 3 and 4 + 4.
        assert_eq!(count(&[5.0, 4.0, 4.0, 3.0], &Bins::even(2), 8.0), 2);
        // 10, 10, 10, 7, 7, 7, 6, 5, 3 on 3 links do not fit 22 (see `patterns`): one carries 23 at least.
        let sizes = [10.0, 10.0, 10.0, 7.0, 7.0, 7.0, 6.0, 5.0, 3.0];
        assert_eq!(count(&sizes, &Bins::even(3), 23.0), 1);
        // A link of half the speed has room for one 4 below 16, at 16 for two: 4 of them on it and a fast one (three): none hot.
        let slower = Bins { capacity: vec![1.0, 0.5], base: vec![0.0; 2] };
        assert_eq!(count(&[4.0; 4], &slower, 16.0), 0);
        assert_eq!(count(&[4.0; 5], &slower, 16.0), 1);
    }
}
