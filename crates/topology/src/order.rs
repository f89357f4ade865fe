//! The order of up and down: which of several is taken, and ties.
//!
//! An order is a rank a switch; equal ranks that a cable joins are told apart by GUID, the lower one above, as OpenSM's
//! updn does. So every cable has an upper end, and routes that go up and then down never wait in a circle (Autonet's
//! argument: Schroeder et al., 1991). OpenSM takes a cable between two *roots* for one that leads up in both
//! directions; here it is as any other.
//!
//! Any order is sound; they differ in what their ways can carry. Where levels lose pairs of hosts or carry less than all
//! shortest ways do, and where levels are a guess, several orders are made. Of those that lose fewest pairs of hosts, then
//! fewest ways between hosts and switches without, the one is taken whose ways carry an all-to-all with the least load
//! (`spread.rs`; in parts of few switches as well split as can be), then the one with fewest pairs without a shortest way:
//!
//! - the levels, mended (`ranks.rs`);
//! - the levels with all that one switch climbs to turned upside down, so that this switch is on top. Hosts on two
//!   spines meet there, and every cable that it does not climb over keeps its direction;
//! - the distance from one switch, the only kind where levels are a guess.
//!
//! Work is bounded by [`STEPS`], whatever the fabric: in large ones fewer orders are tried, and judged by fewer
//! destinations.

use std::cmp::Ordering;

use crate::graph::SwitchGraph;
use crate::ranks;
use crate::reach::reach;
use crate::spread::{Judge, Spread, spaced};

/// Links that the judging of all orders of a part looks at, about.
const STEPS: usize = 100_000_000;
/// Destinations that an order should be judged by, and orders that should be tried, before one is given up for the other.
const DESTINATIONS: usize = 64;
const ORDERS: usize = 8;
/// Switches that are tried as the top of an order, at most.
const MOST_TOPS: usize = 24;
/// How much less load another order must promise, relatively, to replace the first.
const LEAST_GAIN: f64 = 0.01;

/// An order of a part's switches.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// Rank by switch, ties open.
    pub base: Vec<u32>,
    /// The same with ties broken: the two ends of a cable differ.
    pub rank: Vec<u32>,
    /// Pairs of switches with hosts that no way by it joins.
    pub lost_pairs: u64,
    /// Pairs of a switch with hosts and one without that no way joins: management of the other is lost.
    lost_bare: u64,
}

/// How another order than the first is made.
#[derive(Clone, Copy, Debug)]
enum Other {
    /// By levels, with what this switch climbs to turned upside down.
    UpsideDown(usize),
    /// By distance from this switch.
    From(usize),
}

impl Order {
    fn new(graph: &SwitchGraph, part: &[usize], base: Vec<u32>) -> Self {
        let rank = by_guid(graph, part, &base);
        let found = reach(graph, part, &rank);
        let bare = part.iter().filter(|&&s| graph.hosts[s] == 0);
        let lost_bare = bare.map(|&s| found.hosted - u64::from(found.reached[s])).sum();
        Self { base, rank, lost_pairs: found.lost_pairs, lost_bare }
    }

    /// What it loses: hosts first.
    fn lost(&self) -> (u64, u64) {
        (self.lost_pairs, self.lost_bare)
    }
}

/// Ranks by `base` in `part`: equal ones that a cable joins are moved apart, the lower GUID up. In a part without such
/// cables nothing moves.
fn by_guid(graph: &SwitchGraph, part: &[usize], base: &[u32]) -> Vec<u32> {
    let mut rank = base.to_vec();
    let peers = |s: usize| graph.neighbours(s).iter().map(|&t| t as usize).filter(move |&t| t != s);
    if !part.iter().any(|&s| peers(s).any(|t| base[t] == base[s])) {
        return rank;
    }
    let key = |s: usize| (base[s], std::cmp::Reverse(graph.guids[s]), std::cmp::Reverse(s));
    let mut from_bottom = part.to_vec();
    from_bottom.sort_by_key(|&s| key(s));
    // By how much all that follow have moved up, and by how much those of the present rank have beyond that.
    let (mut moved, mut beyond) = (0, 0);
    let mut present = None;
    for s in from_bottom {
        if present != Some(base[s]) {
            moved += std::mem::take(&mut beyond);
            present = Some(base[s]);
        }
        let below = peers(s).filter(|&t| base[t] == base[s] && key(t) < key(s));
        rank[s] = below.map(|t| rank[t] + 1).max().unwrap_or(base[s] + moved);
        beyond = beyond.max(rank[s] - base[s] - moved);
    }
    rank
}

/// The order of a tree: by `levels` if their ways join all pairs of the part and carry as much as any shortest ways, else
/// the best that is found. `lost_pairs` are those that levels lose where cables between equal ones are not used.
pub(crate) fn of_tree(graph: &SwitchGraph, part: &[usize], levels: &[u32], lost_pairs: u64) -> Order {
    let mut first =
        Order { base: levels.to_vec(), rank: by_guid(graph, part, levels), lost_pairs, lost_bare: 0 };
    let mut lost = vec![false; graph.len()];
    // Cables between equal levels take no way away.
    if lost_pairs > 0 {
        let found = reach(graph, part, &first.rank);
        first.lost_pairs = found.lost_pairs;
        if found.lost_pairs > 0 {
            part.iter()
                .for_each(|&s| lost[s] = graph.hosts[s] > 0 && u64::from(found.reached[s]) < found.hosted);
            ranks::mend(graph, part, &mut first.rank);
            first = Order::new(graph, part, first.rank);
        }
    }
    if !lost.contains(&true) {
        let whole = alike(graph, part, levels);
        let enough = whole || carries_enough(graph, part, &first.rank);
        if whole || (enough && part.len() > MOST_TOPS) {
            return first;
        }
        // Levels that carry enough give way to more, not for management alone.
        if !enough {
            first = Order::new(graph, part, first.base);
        }
    }
    let tops = tops(graph, part, levels, |s| lost[s]);
    let turned = tops.iter().map(|&top| Other::UpsideDown(top));
    let others: Vec<Other> = turned.chain(tops.iter().map(|&top| Other::From(top))).collect();
    best(graph, part, levels, first, &others).0
}

/// Whether the part is whole, as far as numbers of cables tell: hosts on leaves alone, no cable between equal levels, and
/// as many cables up and down at every switch of a level.
fn alike(graph: &SwitchGraph, part: &[usize], levels: &[u32]) -> bool {
    let mut of_level: Vec<Option<[usize; 2]>> = Vec::new();
    part.iter().all(|&s| {
        let count = |wanted| {
            graph.neighbours(s).iter().filter(|&&t| levels[t as usize].cmp(&levels[s]) == wanted).count()
        };
        let here = [count(Ordering::Less), count(Ordering::Greater)];
        let level = levels[s] as usize;
        of_level.resize(of_level.len().max(level + 1), None);
        let as_others = *of_level[level].get_or_insert(here) == here;
        as_others && here[0] + here[1] == graph.neighbours(s).len() && (level == 0 || graph.hosts[s] == 0)
    })
}

/// Whether the ways by `rank` carry about as much as all shortest ways do, evenly split, or as the hosts' own cables.
fn carries_enough(graph: &SwitchGraph, part: &[usize], rank: &[u32]) -> bool {
    let links = part.iter().map(|&s| graph.neighbours(s).len()).sum::<usize>().max(1);
    let judge = Judge::new(graph, part, (STEPS / (8 * links)).max(ORDERS));
    judge.spread(rank).load <= judge.shortest().max(judge.own_cable()) * (1.0 + LEAST_GAIN)
}

/// The order of what is no tree, by distance from one switch, and that switch; `first` is tried first.
pub(crate) fn of_graph(graph: &SwitchGraph, part: &[usize], first: usize) -> (Order, usize) {
    let others: Vec<usize> = spaced(part, MOST_TOPS).filter(|&s| s != first).collect();
    let start = of_roots(graph, part, &[first]);
    let kinds: Vec<Other> = others.iter().map(|&s| Other::From(s)).collect();
    let (order, which) = best(graph, part, &[], start, &kinds);
    (order, which.map_or(first, |which| others[which]))
}

/// The order by distance from the nearest of `roots`, the roots on top.
pub(crate) fn of_roots(graph: &SwitchGraph, part: &[usize], roots: &[usize]) -> Order {
    Order::new(graph, part, from_roots(graph, part, roots))
}

/// Of the first order and the others, the best, and which of the others it is.
fn best(
    graph: &SwitchGraph,
    part: &[usize],
    levels: &[u32],
    first: Order,
    others: &[Other],
) -> (Order, Option<usize>) {
    let links = part.iter().map(|&s| graph.neighbours(s).len()).sum::<usize>().max(1);
    let others = &others[..others.len().min((STEPS / (2 * DESTINATIONS * links)).max(ORDERS))];
    let judge = Judge::new(graph, part, (STEPS / (2 * links * (others.len() + 1))).max(ORDERS));
    let carries =
        |rank: &[u32]| if part.len() <= MOST_TOPS { judge.balanced(rank) } else { judge.spread(rank) };
    let mut spread = carries(&first.rank);
    let (mut found, mut which) = (first, None);
    for (i, &other) in others.iter().enumerate() {
        let base = match other {
            Other::UpsideDown(top) => upside_down(graph, part, levels, top),
            Other::From(top) => from_roots(graph, part, &[top]),
        };
        let order = Order::new(graph, part, base);
        if order.lost() > found.lost() {
            continue;
        }
        let now = carries(&order.rank);
        if order.lost() < found.lost() || better(now, spread) {
            (spread, found, which) = (now, order, Some(i));
        }
    }
    (found, which)
}

/// Whether an order carries enough more than another, or as much on shorter ways.
fn better(one: Spread, other: Spread) -> bool {
    let less = one.load < other.load * (1.0 - LEAST_GAIN);
    less || one.load <= other.load * (1.0 + 1e-9) && one.detours < other.detours
}

/// Switches to try on top: all of a small part, else half of them leaves with as many cables as any, spread over the
/// part, then neighbours of those that lose pairs.
fn tops(graph: &SwitchGraph, part: &[usize], levels: &[u32], lost: impl Fn(usize) -> bool) -> Vec<usize> {
    if part.len() <= MOST_TOPS {
        return part.to_vec();
    }
    let leaves = || part.iter().copied().filter(|&s| levels[s] == 0);
    let most = leaves().map(|s| graph.neighbours(s).len()).max().unwrap_or(0);
    let whole: Vec<usize> = leaves().filter(|&s| graph.neighbours(s).len() == most).collect();
    let mut near: Vec<usize> = part.iter().copied().filter(|&s| lost(s)).collect();
    near = near.iter().flat_map(|&s| graph.neighbours(s)).map(|&t| t as usize).collect();
    near.sort_unstable();
    near.dedup();
    // In turn, so that a few tries have some of both.
    let (mut whole, mut near) = (spaced(&whole, MOST_TOPS / 2), spaced(&near, MOST_TOPS / 2));
    let mut tops = Vec::new();
    for _ in 0..MOST_TOPS / 2 {
        for s in [whole.next(), near.next()].into_iter().flatten() {
            if !tops.contains(&s) {
                tops.push(s);
            }
        }
    }
    tops
}

/// Levels with all that `top` climbs to mirrored at the highest level of the part, so that it lies below `top`. A cable
/// keeps its direction unless `top` climbs over it: what lies above a mirrored switch is mirrored too.
fn upside_down(graph: &SwitchGraph, part: &[usize], levels: &[u32], top: usize) -> Vec<u32> {
    let highest = part.iter().map(|&s| levels[s]).max().unwrap_or(0);
    let mut rank = levels.to_vec();
    let mut climbed = vec![top];
    rank[top] = 2 * highest - levels[top];
    let mut next = 0;
    while let Some(&s) = climbed.get(next) {
        next += 1;
        for &t in graph.neighbours(s) {
            let t = t as usize;
            // Mirrored ranks are above the highest level, but for those of the highest level, which stay.
            if levels[t] > levels[s] && rank[t] == levels[t] && levels[t] < highest {
                rank[t] = 2 * highest - levels[t];
                climbed.push(t);
            }
        }
    }
    rank
}

/// The farthest have rank 0, the roots the highest.
fn from_roots(graph: &SwitchGraph, part: &[usize], roots: &[usize]) -> Vec<u32> {
    let mut rank = graph.distances(roots.iter().copied());
    let deepest = part.iter().map(|&s| rank[s]).max().unwrap_or(0);
    for &s in part {
        rank[s] = deepest - rank[s];
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::SwitchId;

    fn all(graph: &SwitchGraph) -> Vec<usize> {
        (0..graph.len()).collect()
    }

    #[test]
    fn equal_ranks_are_told_apart_by_guid_and_nothing_else_moves() {
        let fabric = crate::generate("two-level:leaves=3,hosts=1,spines=2").unwrap();
        let graph = SwitchGraph::new(&fabric);
        let part = all(&graph);
        let level: Vec<u32> = vec![0, 0, 0, 1, 1];
        assert_eq!(by_guid(&graph, &part, &level), level);
        // All of one rank: every cable leads up to the lower GUID, and the lowest one is on top of what it joins.
        let flat = by_guid(&graph, &part, &[0; 5]);
        for s in 0..5 {
            for &t in graph.neighbours(s) {
                let up = graph.guids[t as usize] < graph.guids[s];
                assert_eq!(flat[t as usize] > flat[s], up, "{flat:?}");
            }
        }
        assert_eq!(flat.iter().max(), Some(&1));
    }

    #[test]
    fn a_mirrored_pod_is_below_its_leaf_and_above_the_cores() {
        let fabric = crate::generate("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=2,cores=1").unwrap();
        let graph = SwitchGraph::new(&fabric);
        let structure = crate::detect(&fabric);
        let level: Vec<u32> = structure.level.iter().map(|&l| u32::from(l)).collect();
        let leaf = (0..graph.len()).find(|&s| level[s] == 0).unwrap();
        let rank = upside_down(&graph, &all(&graph), &level, leaf);
        assert_eq!(rank[leaf], 4);
        for s in 0..graph.len() {
            let mirrored = graph.neighbours(leaf).contains(&(s as u32));
            let wanted = if mirrored { 3 } else { level[s] };
            assert!(s == leaf || rank[s] == wanted, "{}", fabric.switch_name(SwitchId::from_index(s)));
        }
    }
}
