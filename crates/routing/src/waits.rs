//! A graph of waits that stays free of circles: an edge that would close one is refused.
//!
//! Vertices have places in an order in which every edge leads upwards. An edge that leads upwards is taken as it is. Else
//! what lies between its ends is looked at, forwards from its head and backwards from its tail: the first meets the tail, and the edge is refused,
//! or both parts share out their places anew. Edges can be taken back, the last ones first; the order stays right.
//!
//! Source: D. J. Pearce, P. H. J. Kelly, "A dynamic topological sort algorithm for directed acyclic graphs", ACM JEA 11 (2006).

/// The graph.
#[derive(Clone)]
pub(crate) struct Waits {
    place: Vec<u32>,
    after: Vec<Vec<u32>>,
    before: Vec<Vec<u32>>,
    /// Edges in the order in which they came.
    taken: Vec<(u32, u32)>,
    seen: Vec<bool>,
    /// Vertices looked at so far.
    steps: u64,
}

impl Waits {
    /// Without any edges.
    pub fn new(vertices: usize) -> Self {
        Self {
            place: (0..vertices as u32).collect(),
            after: vec![Vec::new(); vertices],
            before: vec![Vec::new(); vertices],
            taken: Vec::new(),
            seen: vec![false; vertices],
            steps: 0,
        }
    }

    /// How many edges there are: where [`Waits::back_to`] can go back to.
    pub fn mark(&self) -> usize {
        self.taken.len()
    }

    /// How much work has been done: vertices that were looked at.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Takes back all edges since a mark.
    pub fn back_to(&mut self, mark: usize) {
        for (a, b) in self.taken.drain(mark..).rev() {
            self.after[a as usize].pop();
            self.before[b as usize].pop();
        }
    }

    /// Adds an edge, unless it closes a circle; whether it is there now.
    pub fn add(&mut self, a: u32, b: u32) -> bool {
        if self.after[a as usize].contains(&b) {
            return true;
        }
        if a == b || (self.place[a as usize] > self.place[b as usize] && !self.make_room(a, b)) {
            return false;
        }
        self.after[a as usize].push(b);
        self.before[b as usize].push(a);
        self.taken.push((a, b));
        true
    }

    /// Moves `a` below `b`, with all that must be; `false`: `b` leads to `a`.
    fn make_room(&mut self, a: u32, b: u32) -> bool {
        let Some(mut above) = self.reach(b, a, true) else { return false };
        let mut below = self.reach(a, b, false).expect("the other way led nowhere");
        let place = |v: &u32| self.place[*v as usize];
        above.sort_unstable_by_key(place);
        below.sort_unstable_by_key(place);
        let mut places: Vec<u32> = below.iter().chain(&above).map(place).collect();
        places.sort_unstable();
        for (&v, place) in below.iter().chain(&above).zip(places) {
            self.place[v as usize] = place;
        }
        true
    }

    /// What can be reached from a vertex, forwards or backwards, without passing the place of `end`; `None`: it reaches that.
    fn reach(&mut self, start: u32, end: u32, forwards: bool) -> Option<Vec<u32>> {
        let edges = if forwards { &self.after } else { &self.before };
        let limit = self.place[end as usize];
        let mut found = vec![start];
        self.seen[start as usize] = true;
        let (mut at, mut meets) = (0, false);
        while let Some(&v) = found.get(at).filter(|_| !meets) {
            at += 1;
            for &next in &edges[v as usize] {
                meets |= next == end;
                let place = self.place[next as usize];
                let inside = if forwards { place < limit } else { place > limit };
                if inside && !std::mem::replace(&mut self.seen[next as usize], true) {
                    found.push(next);
                }
            }
        }
        found.iter().for_each(|&v| self.seen[v as usize] = false);
        self.steps += found.len() as u64;
        (!meets).then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng::{below, stream};

    /// Beside plain search: of random edges those are refused that would close a circle, also after some were taken back.
    #[test]
    fn edges_that_close_a_circle_are_refused() {
        for seed in 0..20 {
            let mut random = stream(seed, 0);
            let mut draw = |n: u64| below(&mut random, n) as u32;
            let (mut waits, mut edges, mut refused) = (Waits::new(12), Vec::new(), 0);
            for step in 0..200 {
                let (a, b) = (draw(12), draw(12));
                let mut reached = vec![b];
                let mut at = 0;
                while let Some(&v) = reached.get(at) {
                    at += 1;
                    let next = edges.iter().filter(|&&(from, _)| from == v).map(|&(_, to)| to);
                    let next: Vec<u32> = next.filter(|to| !reached.contains(to)).collect();
                    reached.extend(next);
                }
                let closes = reached.contains(&a);
                assert_eq!(waits.add(a, b), !closes, "{seed}, {step}: {a} to {b}");
                refused += u32::from(closes);
                if !closes && !edges.contains(&(a, b)) {
                    edges.push((a, b));
                }
                if step % 17 == 0 {
                    let keep = edges.len() / 2;
                    edges.truncate(keep);
                    waits.back_to(keep);
                }
            }
            assert!(refused > 20, "{refused}");
        }
    }
}
