//! Which switches with hosts have an up*/down* route to one another.
//!
//! Bit sets of destinations, 512 a pass: what lies below a switch is the union over its links down (from
//! the leaves upwards); what it can reach is that and the union over its links up (from the top downwards).

use crate::graph::{FAR, SwitchGraph};

/// Words a pass; bounds the memory to 64 bytes a switch.
const WORDS: usize = 8;

/// Unordered pairs of the part's switches with hosts that no up*/down* route joins.
pub(crate) fn pairs_without_route(graph: &SwitchGraph, part: &[usize], level: &[u32]) -> u64 {
    let mut order: Vec<usize> = part.iter().copied().filter(|&s| level[s] != FAR).collect();
    order.sort_by_key(|&s| level[s]);
    let hosted: Vec<usize> = part.iter().copied().filter(|&s| graph.hosts[s] > 0).collect();
    let mut found = 0u64;
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
        found += hosted
            .iter()
            .map(|&s| bits[s].iter().map(|w| u64::from(w.count_ones())).sum::<u64>())
            .sum::<u64>();
    }
    // Routes are as good backwards, so ordered pairs come in twos; every switch reaches itself.
    let count = hosted.len() as u64;
    (count * count - found) / 2
}
