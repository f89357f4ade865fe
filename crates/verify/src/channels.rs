//! The channel dependency graph: which link can wait for which.
//!
//! A packet that holds the buffer behind link l and wants link m makes l wait for m. Cycles of waits are credit loops
//! (Dally and Seitz 1987). Links to and from hosts cannot lie on a cycle and are left out. Dependencies are bits, one row a
//! link, one bit an output port of the switch that the link enters; threads only ever set bits, so their order does not
//! matter.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use netloom_model::{Fabric, LinkId};

/// Dependencies between links.
pub(crate) struct Channels {
    words: usize,
    bits: Vec<AtomicU64>,
}

impl Channels {
    pub fn new(fabric: &Fabric) -> Self {
        let words = usize::from(fabric.max_radix()) / 64 + 1;
        let bits = (0..fabric.link_count() * words).map(|_| AtomicU64::new(0)).collect();
        Self { words, bits }
    }

    /// A packet may come over `link` and leave by `port` of the switch that it enters.
    #[inline]
    pub fn add(&self, link: LinkId, port: u16) {
        if usize::from(port / 64) >= self.words {
            return; // No entry, or a port that does not exist: the packet waits for nothing.
        }
        let word = &self.bits[link.index() * self.words + usize::from(port / 64)];
        let bit = 1 << (port % 64);
        if word.load(Relaxed) & bit == 0 {
            word.fetch_or(bit, Relaxed);
        }
    }

    /// Adds the links that `link` waits for.
    fn waits_for(&self, fabric: &Fabric, link: LinkId, out: &mut Vec<u32>) {
        let Some(s) = fabric.link_to_switch(link) else { return };
        for w in 0..self.words {
            let mut word = self.bits[link.index() * self.words + w].load(Relaxed);
            while word != 0 {
                let port = w as u16 * 64 + word.trailing_zeros() as u16;
                out.extend(fabric.link_at(s, port).map(|l| l.0));
                word &= word - 1;
            }
        }
    }

    /// The number of groups of links that wait for each other in cycles, and one shortest cycle of the first.
    pub fn cycles(&self, fabric: &Fabric) -> (u64, Vec<LinkId>) {
        let (groups, cycle) =
            cycles(fabric.link_count(), |link, out| self.waits_for(fabric, LinkId(link), out));
        (groups, cycle.into_iter().map(LinkId).collect())
    }
}

/// The number of groups of vertices that wait for each other in cycles, and one shortest cycle of the first. `waits`
/// adds those that a vertex waits for.
pub(crate) fn cycles(n: usize, waits: impl Fn(u32, &mut Vec<u32>)) -> (u64, Vec<u32>) {
    let mut first = vec![0u32; n + 1];
    let mut edges = Vec::new();
    for v in 0..n as u32 {
        waits(v, &mut edges);
        first[v as usize + 1] = edges.len() as u32;
    }
    let next = |v: u32| &edges[first[v as usize] as usize..first[v as usize + 1] as usize];
    let component = components(n, next);
    let mut size = vec![0u32; n];
    component.iter().for_each(|&c| size[c as usize] += 1);
    let cyclic = |v: u32| size[component[v as usize] as usize] > 1 || next(v).contains(&v);
    let mut groups: Vec<u32> = (0..n as u32).filter(|&v| cyclic(v)).map(|v| component[v as usize]).collect();
    groups.sort_unstable();
    groups.dedup();
    let Some(start) = (0..n as u32).find(|&v| cyclic(v)) else { return (0, Vec::new()) };
    (groups.len() as u64, shortest_cycle(n, next, start))
}

/// Strongly connected components (Tarjan's algorithm, without recursion): a number per node.
fn components<'a>(n: usize, next: impl Fn(u32) -> &'a [u32]) -> Vec<u32> {
    const NEW: u32 = u32::MAX;
    let (mut index, mut low, mut component) = (vec![NEW; n], vec![0u32; n], vec![NEW; n]);
    let (mut stack, mut calls): (Vec<u32>, Vec<(u32, usize)>) = (Vec::new(), Vec::new());
    let (mut count, mut found) = (0, 0);
    for root in 0..n as u32 {
        if index[root as usize] != NEW {
            continue;
        }
        calls.push((root, 0));
        while let Some((v, edge)) = calls.pop() {
            let i = v as usize;
            if edge == 0 {
                (index[i], low[i]) = (count, count);
                count += 1;
                stack.push(v);
            }
            if let Some(&w) = next(v).get(edge) {
                calls.push((v, edge + 1));
                if index[w as usize] == NEW {
                    calls.push((w, 0));
                } else if component[w as usize] == NEW {
                    low[i] = low[i].min(index[w as usize]);
                }
                continue;
            }
            if low[i] == index[i] {
                while let Some(w) = stack.pop() {
                    component[w as usize] = found;
                    if w == v {
                        break;
                    }
                }
                found += 1;
            }
            if let Some(&(parent, _)) = calls.last() {
                low[parent as usize] = low[parent as usize].min(low[i]);
            }
        }
    }
    component
}

/// A shortest cycle through `start`, which lies on one.
fn shortest_cycle<'a>(n: usize, next: impl Fn(u32) -> &'a [u32], start: u32) -> Vec<u32> {
    let mut from = vec![u32::MAX; n];
    let mut queue = vec![start];
    let mut at = 0;
    while at < queue.len() {
        let v = queue[at];
        at += 1;
        for &w in next(v) {
            if w == start {
                let mut cycle = vec![v];
                while cycle.last() != Some(&start) {
                    cycle.push(from[cycle[cycle.len() - 1] as usize]);
                }
                cycle.reverse();
                return cycle;
            }
            if from[w as usize] == u32::MAX {
                from[w as usize] = v;
                queue.push(w);
            }
        }
    }
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_cycles_are_two_components() {
        // 0 -> 1 -> 2 -> 0, 2 -> 3 -> 4 -> 3, 5 alone.
        let edges: [&[u32]; 6] = [&[1], &[2], &[0, 3], &[4], &[3], &[]];
        let c = components(6, |v| edges[v as usize]);
        assert!(c[0] == c[1] && c[1] == c[2] && c[3] == c[4]);
        assert!(c[0] != c[3] && c[5] != c[0] && c[5] != c[3]);
        assert_eq!(shortest_cycle(6, |v| edges[v as usize], 0), [0, 1, 2]);
    }
}
