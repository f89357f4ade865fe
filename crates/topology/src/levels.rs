//! Levels of one connected part: which switches are leaves, and how far above them the others are.
//!
//! Names and port numbers say nothing here, only alive cables do.
//!
//! 1. In a tree of `n` levels a leaf sees the farthest leaf at `2(n-1)` links, a switch of level `k` at
//!    `2(n-1) - k`. A few *landmarks* far from one another stand for "the farthest leaf", so this costs a
//!    few searches, not one a switch. Leaves are the switches with hosts whose distance is at least that of
//!    most hosts' switches. So an I/O or management node on a spine or core does not make it a leaf.
//! 2. A switch's level is its distance from the nearest leaf.
//! 3. A leaf without hosts, or a spine whose cables down are all dead, now looks like one level too many.
//!    It joins nothing that is not joined below it, so it is put two levels down, unless that would cut
//!    hosts off.
//!    (So cores above a single pod count as leaves without hosts: nothing tells the two apart.)
//! 4. What leaves most pairs of host switches without an up*/down* route (a ring, two bare switches side by
//!    side) is no tree: levels then count down from one switch, which joins everything: the most central one, or one
//!    from which ways carry more (`order.rs`).

use crate::graph::{FAR, Sets, SwitchGraph};
use crate::reach::pairs_without_route;

/// Landmarks a part: two pods would do; more cost little and survive damage.
const LANDMARKS: usize = 6;
/// Rounds of step 3: one or two on real fabrics; bounded for the sake of strange ones.
const ROUNDS: usize = 32;

/// How the levels of a part came about.
pub(crate) struct PartLevels {
    /// Pairs of switches with hosts that no up*/down* route joins.
    pub lost_pairs: u64,
    /// The switch from which levels were counted, where the part is no tree.
    pub root: Option<usize>,
}

/// Writes the levels of `part` (connected, with at least one host) into `level`.
pub(crate) fn assign(graph: &SwitchGraph, part: &[usize], level: &mut [u32]) -> PartLevels {
    let eccentricity = eccentricities(graph, part);
    let leaves = leaf_set(graph, part, &eccentricity);
    let distance = graph.distances(leaves);
    for &s in part {
        level[s] = distance[s];
    }
    let mut lost_pairs = pairs_without_route(graph, part, level);
    for _ in 0..ROUNDS {
        let Some(moved) = pseudo_tops(graph, part, level) else { break };
        let before: Vec<u32> = moved.iter().map(|&s| level[s]).collect();
        for &s in &moved {
            level[s] -= 2;
        }
        let lost = pairs_without_route(graph, part, level);
        if lost > lost_pairs {
            moved.iter().zip(before).for_each(|(&s, l)| level[s] = l);
            break;
        }
        lost_pairs = lost;
    }

    let hosted = part.iter().filter(|&&s| graph.hosts[s] > 0).count() as u64;
    if lost_pairs * 2 <= hosted * (hosted - 1) / 2 {
        return PartLevels { lost_pairs, root: None };
    }
    // No tree. The most central switch: smallest eccentricity, then most links, then first.
    let root = *part
        .iter()
        .min_by_key(|&&s| (eccentricity[s], usize::MAX - graph.neighbours(s).len()))
        .expect("a part is not empty");
    let distance = graph.distances([root]);
    let deepest = part.iter().map(|&s| distance[s]).max().unwrap_or(0);
    for &s in part {
        level[s] = deepest - distance[s];
    }
    PartLevels { lost_pairs: 0, root: Some(root) }
}

/// Largest distance of every switch of the part to any landmark. Landmarks are switches with hosts that see the others as
/// far as most hosts do: what hangs on a spine or core is no landmark, or two spines with hosts would look like leaves.
fn eccentricities(graph: &SwitchGraph, part: &[usize]) -> Vec<u32> {
    let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
    let mut eccentricity = vec![0; graph.len()];
    let mut sum = vec![0u64; graph.len()];
    // The first landmark has most hosts, the next ones lie farthest from those before.
    let mut next = *hosted.iter().rev().max_by_key(|&&s| graph.hosts[s]).expect("a part has a host");
    for _ in 0..LANDMARKS.min(hosted.len()) {
        let distance = graph.distances([next]);
        for &s in part {
            eccentricity[s] = eccentricity[s].max(distance[s]);
            sum[s] += u64::from(distance[s]);
        }
        sum[next] = 0;
        let limit = usual_distance(graph, &hosted, &eccentricity);
        let far = hosted.iter().rev().filter(|&&s| eccentricity[s] >= limit);
        next = *far.max_by_key(|&&s| sum[s]).expect("somebody is as far as most");
    }
    eccentricity
}

/// The switches with hosts that are leaves (step 1).
fn leaf_set(graph: &SwitchGraph, part: &[usize], eccentricity: &[u32]) -> Vec<usize> {
    let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
    let limit = usual_distance(graph, &hosted, eccentricity);
    hosted.into_iter().filter(|&s| eccentricity[s] >= limit).collect()
}

/// The eccentricity of most hosts' switches, if most hosts are on switches of at least that, else 0.
fn usual_distance(graph: &SwitchGraph, hosted: &[usize], eccentricity: &[u32]) -> u32 {
    let mut hosts_at = vec![0u64; hosted.iter().map(|&s| eccentricity[s] as usize + 1).max().unwrap_or(1)];
    for &s in hosted {
        hosts_at[eccentricity[s] as usize] += u64::from(graph.hosts[s]);
    }
    let usual = (0..hosts_at.len()).max_by_key(|&e| hosts_at[e]).unwrap_or(0);
    // `usual` need not hold the majority; then "above the usual" would be guesswork.
    let at_least: u64 = hosts_at[usual..].iter().sum();
    let all: u64 = hosts_at.iter().sum();
    if 2 * at_least > all { usual as u32 } else { 0 }
}

/// Switches of the upper levels that join nothing (step 3), or `None`.
///
/// First choice: the whole top level, if none of its switches joins two parts of what lies below it. Else
/// single switches without hosts and without links up that lie in one part and either cut across the groups
/// which the joining switches of their level form (a core hangs on spines of one group, a leaf on all of its
/// pod) or hang on the very same switches as a leaf with hosts (a rack whose nodes are switched off).
fn pseudo_tops(graph: &SwitchGraph, part: &[usize], level: &[u32]) -> Option<Vec<usize>> {
    let top = part.iter().map(|&s| level[s]).filter(|&l| l != FAR).max().filter(|&l| l >= 2)?;
    for l in (2..=top).rev() {
        let mut below = Sets::new(graph.len());
        for &s in part.iter().filter(|&&s| level[s] < l) {
            for &t in graph.neighbours(s) {
                if level[t as usize] < l {
                    below.join(s, t as usize);
                }
            }
        }
        let lower = |s: usize| graph.neighbours(s).iter().map(|&t| t as usize).filter(move |&t| level[t] < l);
        let mut joins = |s: usize| {
            let first = lower(s).next().map(|t| below.find(t));
            lower(s).any(|t| Some(below.find(t)) != first)
        };
        let members: Vec<usize> = part.iter().copied().filter(|&s| level[s] == l).collect();
        let (joining, idle): (Vec<usize>, Vec<usize>) = members.into_iter().partition(|&s| joins(s));
        if joining.is_empty() && l == top {
            return Some(idle);
        }
        let mut groups = Sets::new(graph.len());
        for &s in &joining {
            lower(s).for_each(|t| {
                groups.join(s, t);
            });
        }
        let mut grouped = vec![false; graph.len()];
        joining.iter().for_each(|&s| lower(s).for_each(|t| grouped[t] = true));
        let mut cuts_across = |s: usize| {
            let mut met = lower(s).filter(|&t| grouped[t]).map(|t| groups.find(t));
            let first = met.next();
            met.any(|g| Some(g) != first)
        };
        let no_way_up = |s: usize| graph.neighbours(s).iter().all(|&t| level[t as usize] < l);
        let moved: Vec<usize> = idle
            .into_iter()
            .filter(|&s| graph.hosts[s] == 0 && no_way_up(s))
            .filter(|&s| cuts_across(s) || has_twin(graph, level, s))
            .collect();
        if !moved.is_empty() {
            return Some(moved);
        }
    }
    None
}

/// Whether a switch two levels down has hosts and just the neighbours of `s`.
fn has_twin(graph: &SwitchGraph, level: &[u32], s: usize) -> bool {
    let set = |s: usize| {
        let mut neighbours = graph.neighbours(s).to_vec();
        neighbours.sort_unstable();
        neighbours.dedup();
        neighbours
    };
    let mine = set(s);
    let near = mine.first().map_or(&[][..], |&t| graph.neighbours(t as usize));
    near.iter().map(|&t| t as usize).any(|t| level[t] + 2 == level[s] && graph.hosts[t] > 0 && set(t) == mine)
}
