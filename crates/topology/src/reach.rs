//! Which switches with hosts have an up*/down* route to one another.
//!
//! Bit sets of destinations, 512 a pass: what lies below a switch is the union over its links down (from
//! the leaves upwards); what it can reach is that and the union over its links up (from the top downwards).

use crate::graph::{FAR, SwitchGraph};

/// Words a pass; bounds the memory to 64 bytes a switch.
const WORDS: usize = 8;

/// Who reaches how many.
pub(crate) struct Reach {
    /// Unordered pairs of the part's switches with hosts that no up*/down* route joins.
    pub lost_pairs: u64,
    /// Switches of the part with hosts.
    pub hosted: u64,
    /// By switch: how many of these it reaches, itself included.
    pub reached: Vec<u32>,
}

/// Unordered pairs of the part's switches with hosts that no up*/down* route joins.
pub(crate) fn pairs_without_route(graph: &SwitchGraph, part: &[usize], level: &[u32]) -> u64 {
    reach(graph, part, level).lost_pairs
}

/// What up*/down* routes join in `part`, where `level` says what is up.
pub(crate) fn reach(graph: &SwitchGraph, part: &[usize], level: &[u32]) -> Reach {
    let mut order: Vec<usize> = part.iter().copied().filter(|&s| level[s] != FAR).collect();
    order.sort_by_key(|&s| level[s]);
    let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
    let mut reached = vec![0; graph.len()];
    let mut bits = vec![[0u64; WORDS]; graph.len()];
    for block in hosted.chunks(64 * WORDS) {
        bits.iter_mut().for_each(|b| *b = [0; WORDS]);
        for (i, &s) in block.iter().enumerate() {
            bits[s][i / 64] |= 1 << (i % 64);
        }
        let mut spread = |s: usize, from: &dyn Fn(u32) -> bool| {
            let mut mine = bits[s];
            for &t in graph.neighbours(s) {
                if from(level[t as usize]) {
                    mine.iter_mut().zip(bits[t as usize]).for_each(|(a, b)| *a |= b);
                }
            }
            bits[s] = mine;
        };
        for &s in &order {
            spread(s, &|l| l < level[s]);
        }
        for &s in order.iter().rev() {
            spread(s, &|l| l > level[s] && l != FAR);
        }
        for &s in part {
            reached[s] += bits[s].iter().map(|w| w.count_ones()).sum::<u32>();
        }
    }
    // Routes are as good backwards, so ordered pairs come in twos; every switch reaches itself.
    let count = hosted.len() as u64;
    let found: u64 = hosted.iter().map(|&s| u64::from(reached[s])).sum();
    Reach { lost_pairs: (count * count - found) / 2, hosted: count, reached }
}
