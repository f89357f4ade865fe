//! A maximum flow between two sides that give and take limited amounts.
//!
//! Source: shortest augmenting paths (Edmonds and Karp, J. ACM 19, 1972).

/// What is left of a sum that counts as nothing, relative to the sum.
const ROUNDING: f64 = 1e-12;

/// A maximum flow from the left over `edges` (any amount each) to the right: the flow of every edge. Left and right
/// give and take at most so much.
pub(super) fn max_flow(edges: &[(u32, u32)], mut left: Vec<f64>, mut right: Vec<f64>) -> Vec<f64> {
    const NONE: u32 = u32::MAX;
    let mut flow = vec![0.0; edges.len()];
    // Relative to its own: sums differ by any factor.
    let rounding = |sums: &[f64]| -> Vec<f64> { sums.iter().map(|s| s * ROUNDING).collect() };
    let (rounding_left, rounding_right) = (rounding(&left), rounding(&right));
    // What fits at once is most of it.
    for (f, &(a, b)) in flow.iter_mut().zip(edges) {
        let (a, b) = (a as usize, b as usize);
        *f = left[a].min(right[b]);
        left[a] -= *f;
        right[b] -= *f;
    }
    let (out, into) =
        (by_end(edges.iter().map(|e| e.0), left.len()), by_end(edges.iter().map(|e| e.1), right.len()));
    // The edge by which the search came to a vertex.
    let (mut to_left, mut to_right) = (vec![NONE; left.len()], vec![NONE; right.len()]);
    let mut queue: Vec<u32> = Vec::new();
    loop {
        to_left.fill(NONE);
        to_right.fill(NONE);
        queue.clear();
        let start = |a: usize| left[a] > rounding_left[a];
        queue.extend((0..left.len()).filter(|&a| start(a)).map(|a| a as u32));
        let (mut next, mut end) = (0, None);
        'search: while let Some(&a) = queue.get(next) {
            next += 1;
            for &e in out.of(a) {
                let b = edges[e as usize].1 as usize;
                if to_right[b] != NONE {
                    continue;
                }
                to_right[b] = e;
                if right[b] > rounding_right[b] {
                    end = Some(b);
                    break 'search;
                }
                for &back in into.of(b as u32) {
                    let c = edges[back as usize].0 as usize;
                    if flow[back as usize] > 0.0 && to_left[c] == NONE && !start(c) {
                        to_left[c] = back;
                        queue.push(c as u32);
                    }
                }
            }
        }
        let Some(end) = end else { return flow };
        // How much fits along the way, then move it.
        let (mut amount, mut b) = (right[end], end);
        let first = loop {
            let a = edges[to_right[b] as usize].0 as usize;
            match to_left[a] {
                NONE => break a,
                back => {
                    amount = amount.min(flow[back as usize]);
                    b = edges[back as usize].1 as usize;
                }
            }
        };
        amount = amount.min(left[first]);
        left[first] -= amount;
        right[end] -= amount;
        b = end;
        loop {
            let e = to_right[b] as usize;
            flow[e] += amount;
            match to_left[edges[e].0 as usize] {
                NONE => break,
                back => {
                    flow[back as usize] -= amount;
                    b = edges[back as usize].1 as usize;
                }
            }
        }
    }
}

/// Edges by the vertex at one end.
struct ByEnd {
    first: Vec<u32>,
    edges: Vec<u32>,
}

impl ByEnd {
    fn of(&self, vertex: u32) -> &[u32] {
        &self.edges[self.first[vertex as usize] as usize..self.first[vertex as usize + 1] as usize]
    }
}

fn by_end(ends: impl Iterator<Item = u32> + Clone, vertices: usize) -> ByEnd {
    let mut first = vec![0u32; vertices + 1];
    for v in ends.clone() {
        first[v as usize + 1] += 1;
    }
    for v in 0..vertices {
        first[v + 1] += first[v];
    }
    let mut next = first.clone();
    let mut edges = vec![0u32; first[vertices] as usize];
    for (e, v) in ends.enumerate() {
        edges[next[v as usize] as usize] = e as u32;
        next[v as usize] += 1;
    }
    ByEnd { first, edges }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng::{below, stream};

    /// By the duality of flows and cuts: the cheapest set of vertices that touches every edge.
    fn least_cover(edges: &[(u32, u32)], left: &[f64], right: &[f64]) -> f64 {
        let cost = |set: u32| -> f64 {
            let inside = |a: usize| set >> a & 1 == 1;
            let lefts: f64 = left.iter().enumerate().filter(|(a, _)| inside(*a)).map(|(_, c)| c).sum();
            let touched = |b: usize| edges.iter().any(|e| e.1 as usize == b && !inside(e.0 as usize));
            lefts + right.iter().enumerate().filter(|(b, _)| touched(*b)).map(|(_, c)| c).sum::<f64>()
        };
        (0..1u32 << left.len()).map(cost).fold(f64::INFINITY, f64::min)
    }

    /// The second on the left reaches the right only if the first gives way; beside the third's sum it was rounding.
    #[test]
    fn a_small_sum_beside_a_huge_one_flows_too() {
        let flow = max_flow(&[(0, 0), (1, 0), (0, 1), (2, 2)], vec![1.0, 1.0, 1e15], vec![1.0, 1.0, 1e-3]);
        assert_eq!(flow.iter().sum::<f64>(), 2.001);
    }

    #[test]
    fn the_largest_flow_is_the_smallest_cut() {
        for seed in 0..300 {
            let random = &mut stream(seed, 0);
            let (l, r) = (1 + below(random, 6) as usize, 1 + below(random, 6) as usize);
            let mut sums = |n: usize| -> Vec<f64> { (0..n).map(|_| below(random, 9) as f64 / 3.0).collect() };
            let (left, right) = (sums(l), sums(r));
            let all = (0..l as u32).flat_map(|a| (0..r as u32).map(move |b| (a, b)));
            let edges: Vec<(u32, u32)> = all.filter(|_| below(random, 5) < 2).collect();
            let flow = max_flow(&edges, left.clone(), right.clone());
            let total: f64 = flow.iter().sum();
            assert!((total - least_cover(&edges, &left, &right)).abs() < 1e-9, "seed {seed}");
            for (ends, sums) in [(0, &left), (1, &right)] {
                for (v, &most) in sums.iter().enumerate() {
                    let at = |e: &(u32, u32)| [e.0, e.1][ends] as usize == v;
                    let through: f64 = edges.iter().zip(&flow).filter(|(e, _)| at(e)).map(|(_, f)| f).sum();
                    assert!(through <= most + 1e-9, "seed {seed}");
                }
            }
        }
    }
}
