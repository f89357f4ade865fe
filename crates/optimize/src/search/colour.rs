//! Bipartite edge colouring.
//!
//! A bipartite multigraph of largest degree `k` has a proper colouring with `k` colours (König). Edges
//! are coloured one by one; where the two ends have no free colour in common, the path that alternates
//! between a colour free at one end and a colour free at the other is flipped, which frees one.
//! Among common free colours a random one is taken, so that restarts differ.

use netloom_model::rng::{Stream, below};

const NO_EDGE: u32 = u32::MAX;

struct Colouring<'a> {
    ends: &'a [(u32, u32)],
    k: usize,
    words: usize,
    /// Edge of each colour at each vertex; right vertices after left ones.
    at: Vec<u32>,
    /// Bit set of free colours a vertex.
    free: Vec<u64>,
}

/// Colours `0..k` for the edges `(left, right)` of a bipartite multigraph.
///
/// # Panics
/// If a vertex has more than `k` edges.
pub(crate) fn edge_colours(
    edges: &[(u32, u32)],
    left: usize,
    right: usize,
    k: usize,
    random: &mut Stream,
) -> Vec<u16> {
    assert!(k > 0 || edges.is_empty(), "no colours");
    let words = k.div_ceil(64);
    let vertices = left + right;
    let mut free = vec![u64::MAX; vertices * words];
    if !k.is_multiple_of(64) {
        for v in 0..vertices {
            free[v * words + words - 1] = (1 << (k % 64)) - 1;
        }
    }
    let ends: Vec<(u32, u32)> = edges.iter().map(|&(u, v)| (u, v + left as u32)).collect();
    let mut c = Colouring { ends: &ends, k, words, at: vec![NO_EDGE; vertices * k], free };
    let mut colours = vec![0u16; edges.len()];
    for edge in 0..ends.len() {
        let (u, v) = (ends[edge].0 as usize, ends[edge].1 as usize);
        let turn = below(random, k as u64) as usize;
        let colour = c.common(u, v, turn).unwrap_or_else(|| {
            let a = c.any_free(u, turn).expect("a vertex has more edges than colours");
            let b = c.any_free(v, turn).expect("a vertex has more edges than colours");
            c.flip(v, a, b, &mut colours);
            a
        });
        c.set(u, colour, edge);
        c.set(v, colour, edge);
        colours[edge] = colour as u16;
    }
    colours
}

impl Colouring<'_> {
    /// A colour free at both, the first from `turn` on, cyclically.
    fn common(&self, u: usize, v: usize, turn: usize) -> Option<usize> {
        first_from(self.words, turn, |w| self.free[u * self.words + w] & self.free[v * self.words + w])
    }

    fn any_free(&self, u: usize, turn: usize) -> Option<usize> {
        first_from(self.words, turn, |w| self.free[u * self.words + w])
    }

    fn set(&mut self, vertex: usize, colour: usize, edge: usize) {
        self.at[vertex * self.k + colour] = edge as u32;
        self.free[vertex * self.words + colour / 64] &= !(1 << (colour % 64));
    }

    fn clear(&mut self, vertex: usize, colour: usize) {
        self.at[vertex * self.k + colour] = NO_EDGE;
        self.free[vertex * self.words + colour / 64] |= 1 << (colour % 64);
    }

    /// Swaps `a` and `b` along the path from `start`, where `b` is free and `a` is not.
    fn flip(&mut self, start: usize, a: usize, b: usize, colours: &mut [u16]) {
        let mut vertex = start;
        let (mut old, mut new) = (a, b);
        let mut edge = self.at[vertex * self.k + old];
        self.clear(vertex, old);
        while edge != NO_EDGE {
            let (x, y) = self.ends[edge as usize];
            let far = if x as usize == vertex { y } else { x } as usize;
            // `edge` goes from `old` to `new`; the edge that holds `new` at the far end goes the other way.
            let next = self.at[far * self.k + new];
            self.set(vertex, new, edge as usize);
            self.set(far, new, edge as usize);
            colours[edge as usize] = new as u16;
            if next == NO_EDGE {
                self.clear(far, old);
            }
            edge = next;
            vertex = far;
            std::mem::swap(&mut old, &mut new);
        }
    }
}

fn first_from(words: usize, turn: usize, word: impl Fn(usize) -> u64) -> Option<usize> {
    let (start, bit) = (turn / 64, turn % 64);
    let high = word(start) & (u64::MAX << bit);
    if high != 0 {
        return Some(start * 64 + high.trailing_zeros() as usize);
    }
    (1..=words).find_map(|step| {
        let w = (start + step) % words;
        let bits = word(w);
        (bits != 0).then(|| w * 64 + bits.trailing_zeros() as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng::{shuffle, stream};

    fn check(edges: &[(u32, u32)], left: usize, right: usize, k: usize, seed: u64) {
        let colours = edge_colours(edges, left, right, k, &mut stream(seed, 0));
        let mut seen = vec![false; (left + right) * k];
        for (&(u, v), &c) in edges.iter().zip(&colours) {
            for vertex in [u as usize, left + v as usize] {
                let cell = &mut seen[vertex * k + usize::from(c)];
                assert!(!*cell, "two edges of colour {c} meet");
                *cell = true;
            }
        }
    }

    #[test]
    fn complete_bipartite_graphs_need_no_spare_colour() {
        for n in [1u32, 2, 5, 16, 70] {
            let mut edges: Vec<_> = (0..n).flat_map(|u| (0..n).map(move |v| (u, v))).collect();
            shuffle(&mut stream(u64::from(n), 1), &mut edges);
            check(&edges, n as usize, n as usize, n as usize, 7);
        }
    }

    #[test]
    fn random_regular_multigraphs_are_coloured_with_their_degree() {
        for seed in 0..20 {
            // The union of k random permutations has degree k everywhere.
            let (n, k) = (30u32, 9);
            let mut random = stream(seed, 2);
            let mut edges = Vec::new();
            for _ in 0..k {
                let mut to: Vec<u32> = (0..n).collect();
                shuffle(&mut random, &mut to);
                edges.extend((0..n).zip(to));
            }
            shuffle(&mut random, &mut edges);
            check(&edges, n as usize, n as usize, k, seed);
        }
    }
}
