//! Ranks: the order of up and down that loses no pair of hosts.
//!
//! Levels say where a switch stands, but by them damage can leave two leaves without a way though cables join
//! them: one hangs on spine *x* alone, the other on *y* alone, and a third leaf on both, where no route turns up
//! again. Ranks start as the levels and are mended where these lose pairs; everywhere else both are the same.
//!
//! 1. A cable is *turned*: one from a switch that the losing leaf climbs to down to a switch which reaches more
//!    becomes a cable up. Of a few such cables the one that loses fewest pairs is taken, as long as some are won.
//!    What lies above the turned cable moves up, so that every other cable keeps its direction.
//! 2. Where no single cable helps any more, ranks count the cables that have to be turned on the way to the switch
//!    which most others climb to: `(-turned, rank)` in lexicographic order. Everybody then climbs to that switch, so
//!    no pair of a connected part is ever lost.
//!
//! Both bring cables into one total order of the ranks, so routes up and then down never wait in a circle (Autonet's
//! argument: Schroeder et al., 1991). A pass over the links costs `hosted switches / 512`; the number of passes is
//! bounded by [`MOST_RANKINGS`].

use std::collections::VecDeque;

use crate::graph::{FAR, SwitchGraph};
use crate::reach::{Reach, reach};

/// Rankings that are tried for a part, at most.
const MOST_RANKINGS: usize = 400;
/// Cables of one losing leaf that are tried before the next leaf is.
const CABLES_PER_LEAF: usize = 8;
/// Losing leaves that are tried before no single cable helps.
const MOST_LEAVES: usize = 6;

/// Changes the ranks of `part` until no pair of its switches with hosts is lost; the ranks are those of `rank` with
/// which `lost` pairs are.
pub(crate) fn mend(graph: &SwitchGraph, part: &[usize], rank: &mut Vec<u32>) {
    let mut found = reach(graph, part, rank);
    let mut passes = 0;
    while found.lost_pairs > 0 && passes < MOST_RANKINGS {
        match best_turn(graph, part, rank, &found, &mut passes) {
            Some((better, reach)) => (*rank, found) = (better, reach),
            None => break,
        }
    }
    if found.lost_pairs > 0 {
        *rank = towards_one(graph, part, rank, &found);
    }
}

/// The ranks after turning the cable that wins most, of those that are tried.
fn best_turn(
    graph: &SwitchGraph,
    part: &[usize],
    rank: &[u32],
    found: &Reach,
    passes: &mut usize,
) -> Option<(Vec<u32>, Reach)> {
    let mut losing: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
    losing.retain(|&s| u64::from(found.reached[s]) < found.hosted);
    losing.sort_by_key(|&s| (found.reached[s], s));
    for leaf in losing.into_iter().take(MOST_LEAVES) {
        let mut best: Option<(Vec<u32>, Reach)> = None;
        for (low, high) in cables_to_turn(graph, rank, found, leaf) {
            let Some(turned) = turned(graph, part, rank, low, high) else { continue };
            let reach = reach(graph, part, &turned);
            *passes += 1;
            let least = best.as_ref().map_or(found.lost_pairs, |(_, reach)| reach.lost_pairs);
            if reach.lost_pairs < least {
                best = Some((turned, reach));
            }
        }
        if best.is_some() {
            return best;
        }
    }
    None
}

/// Cables `(from, to)` that do not lead up, from what `leaf` climbs to, to switches that reach more than it: the
/// farthest reaching first.
fn cables_to_turn(graph: &SwitchGraph, rank: &[u32], found: &Reach, leaf: usize) -> Vec<(usize, usize)> {
    let mut climbed = vec![leaf];
    let mut seen = vec![false; graph.len()];
    seen[leaf] = true;
    let mut at = 0;
    let mut cables = Vec::new();
    while let Some(&s) = climbed.get(at) {
        at += 1;
        for &t in graph.neighbours(s) {
            let t = t as usize;
            if rank[t] > rank[s] {
                if !std::mem::replace(&mut seen[t], true) {
                    climbed.push(t);
                }
            } else if found.reached[t] > found.reached[leaf] {
                cables.push((s, t));
            }
        }
    }
    // A switch with many cables loses least when it becomes the higher one of another.
    cables.sort_by_key(|&(s, t)| {
        (u32::MAX - found.reached[t], usize::MAX - graph.neighbours(t).len(), rank[s], t, s)
    });
    cables.dedup();
    cables.truncate(CABLES_PER_LEAF);
    cables
}

/// The ranks when `low` is below `high` (its neighbour) and every other cable keeps its direction; nothing moves
/// down. `None` if that closes a circle.
fn turned(graph: &SwitchGraph, part: &[usize], rank: &[u32], low: usize, high: usize) -> Option<Vec<u32>> {
    let mut out = rank.to_vec();
    let mut moved = VecDeque::from([high]);
    out[high] = rank[low] + 1;
    let top = part.len() as u32 + part.iter().map(|&s| rank[s]).max().unwrap_or(0);
    while let Some(s) = moved.pop_front() {
        for &t in graph.neighbours(s) {
            let t = t as usize;
            let above = rank[t] > rank[s] && (t, s) != (low, high);
            if above && out[t] <= out[s] {
                out[t] = out[s] + 1;
                // Only in a circle does anything rise without end.
                if t == low || out[t] > top {
                    return None;
                }
                moved.push_back(t);
            }
        }
    }
    Some(out)
}

/// Ranks with which every switch climbs to one: see the head.
fn towards_one(graph: &SwitchGraph, part: &[usize], rank: &[u32], found: &Reach) -> Vec<u32> {
    let reaching = |&&s: &&usize| (found.reached[s], rank[s], graph.neighbours(s).len(), usize::MAX - s);
    let root = *part.iter().max_by_key(reaching).expect("a part is not empty");
    // Cables to turn on the way to the root: 0 along a cable up, 1 along any other.
    let mut turns = vec![FAR; graph.len()];
    turns[root] = 0;
    let mut queue = VecDeque::from([root]);
    while let Some(s) = queue.pop_front() {
        for &t in graph.neighbours(s) {
            let t = t as usize;
            let cost = turns[s] + u32::from(rank[t] >= rank[s]);
            if cost < turns[t] {
                turns[t] = cost;
                if cost == turns[s] {
                    queue.push_front(t);
                } else {
                    queue.push_back(t);
                }
            }
        }
    }
    let mut order: Vec<(u32, u32)> = part.iter().map(|&s| (u32::MAX - turns[s], rank[s])).collect();
    order.sort_unstable();
    order.dedup();
    let mut out = rank.to_vec();
    for &s in part {
        let place = order.binary_search(&(u32::MAX - turns[s], rank[s]));
        out[s] = place.expect("every switch has its place") as u32;
    }
    out
}
