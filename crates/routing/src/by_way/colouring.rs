//! Ways by colouring: in each phase of a known traffic no link of a two-level tree carries more pairs than it must.
//!
//! The pairs of a phase that leave their leaf are edges of a bipartite graph, from source leaf to destination leaf. A way is a colour: on a two-level tree
//! it stands for one link out of each leaf and one into each. A graph in which no node has more than `K` edges can be coloured with `K` colours so
//! that no two edges of a node are alike (Koenig, 1916); a node with more is cut into nodes of `K` edges first, so each colour comes at most
//! `ceil(edges / K)` times at it, which is the least that there can be.
//!
//! A pair keeps the way of the first phase it is in. Pairs of a phase count alike, whatever they send.

use std::collections::HashMap;

use netloom_model::{Fabric, HostId, Routes, Traffic};
use netloom_topology::Structure;

use super::ways::Ways;
use crate::error::RoutingError;

/// No edge.
const NONE: u32 = u32::MAX;

/// A colour below `colours` for each edge (left node, right node), such that a node with `d` edges has at most `ceil(d / colours)` of each.
///
/// # Panics
/// If `colours` is 0.
pub fn colour(edges: &[(u32, u32)], colours: u32) -> Vec<u32> {
    let k = colours as usize;
    let (mut nodes, mut ends) = ([0usize; 2], Vec::with_capacity(edges.len()));
    let mut pieces = [Vec::new(), Vec::new()];
    for &(left, right) in edges {
        let mut end = [0; 2];
        for (side, node) in [left, right].into_iter().enumerate() {
            let of: &mut Vec<(usize, usize)> = &mut pieces[side];
            if of.len() <= node as usize {
                of.resize(node as usize + 1, (usize::MAX, k));
            }
            let (piece, degree) = &mut of[node as usize];
            if *degree == k {
                (*piece, *degree) = (nodes[side], 0);
                nodes[side] += 1;
            }
            *degree += 1;
            end[side] = *piece;
        }
        ends.push(end);
    }
    // By side: the edge of each colour at each node.
    let mut at = nodes.map(|count| vec![NONE; count * k]);
    let mut colour_of = vec![0u32; edges.len()];
    for (edge, &[left, right]) in ends.iter().enumerate() {
        let free = |at: &[Vec<u32>; 2], side: usize, node: usize| {
            (0..k).find(|&c| at[side][node * k + c] == NONE).expect("a node has at most k edges")
        };
        let (a, b) = (free(&at, 0, left), free(&at, 1, right));
        if a != b {
            // From the right node edges of colours a, b, a, … in turn: exchange the two. The path does not come to the left node, which lacks a.
            let (mut side, mut node, mut next) = (1, right, a);
            let mut path = Vec::new();
            while at[side][node * k + next] != NONE {
                let along = at[side][node * k + next];
                path.push(along);
                side = 1 - side;
                node = ends[along as usize][side];
                next = if next == a { b } else { a };
            }
            for &along in &path {
                let old = colour_of[along as usize] as usize;
                for side in 0..2 {
                    at[side][ends[along as usize][side] * k + old] = NONE;
                }
            }
            for &along in &path {
                let new = if colour_of[along as usize] as usize == a { b } else { a };
                colour_of[along as usize] = new as u32;
                for side in 0..2 {
                    at[side][ends[along as usize][side] * k + new] = along;
                }
            }
        }
        colour_of[edge] = a as u32;
        at[0][left * k + a] = edge as u32;
        at[1][right * k + a] = edge as u32;
    }
    colour_of
}

/// Routes of a two-level tree, pair by pair, for a traffic by phases.
///
/// # Errors
/// [`RoutingError::NoWays`] for other fabrics, and more than 4,096 hosts.
pub fn coloured(fabric: &Fabric, structure: &Structure, traffic: &Traffic) -> Result<Routes, RoutingError> {
    let ways = Ways::new(fabric, structure)?;
    if ways.levels() != 1 {
        let why = format!("coloured routes are for trees of two levels, this one has {}", ways.levels() + 1);
        return Err(RoutingError::NoWays(why));
    }
    let mut way: HashMap<(u32, u32), u32> = HashMap::new();
    for phase in traffic.phases() {
        let leaf = |host: u32| fabric.leaf(HostId(host)).0;
        let crosses = |&(from, to): &(u32, u32)| leaf(from) != leaf(to) && !way.contains_key(&(from, to));
        let pairs: Vec<(u32, u32)> =
            phase.matrix.iter().map(|(from, to, _)| (from, to)).filter(crosses).collect();
        let edges: Vec<(u32, u32)> = pairs.iter().map(|&(from, to)| (leaf(from), leaf(to))).collect();
        way.extend(pairs.into_iter().zip(colour(&edges, ways.count())));
    }
    debug_assert_eq!(traffic.endpoints() as usize, fabric.host_count());
    ways.by_pair(fabric, structure, |from, to| {
        way.get(&(from.0, to.0)).copied().unwrap_or_else(|| ways.by_number(to))
    })
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{below, stream};

    use super::*;

    /// On random graphs no node has more edges of a colour than it must.
    #[test]
    fn every_colour_comes_as_seldom_as_it_can() {
        for seed in 0..200 {
            let mut random = stream(seed, 0);
            let (left, right) = (1 + below(&mut random, 9) as u32, 1 + below(&mut random, 9) as u32);
            let colours = 1 + below(&mut random, 7) as u32;
            let count = below(&mut random, 80);
            let edges: Vec<(u32, u32)> = (0..count)
                .map(|_| (below(&mut random, left.into()) as u32, below(&mut random, right.into()) as u32))
                .collect();
            let found = colour(&edges, colours);
            assert!(found.iter().all(|&c| c < colours));
            for node in 0..left.max(right) {
                for side in [|edge: &(u32, u32)| edge.0, |edge: &(u32, u32)| edge.1] {
                    let of: Vec<u32> =
                        (0..edges.len()).filter(|&e| side(&edges[e]) == node).map(|e| found[e]).collect();
                    let most = (0..colours).map(|c| of.iter().filter(|&&x| x == c).count()).max().unwrap();
                    assert_eq!(most, of.len().div_ceil(colours as usize).max(usize::from(!of.is_empty())));
                }
            }
        }
    }
}
