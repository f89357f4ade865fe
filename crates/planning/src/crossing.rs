//! What leaves groups of hosts: for leaves and pods of every size, the busiest group and the mean.
//!
//! Hosts are numbered leaf by leaf, so a leaf is a run of `down` hosts, a pod a run of leaves. A job's matrix is added up
//! to one of leaves, once a size of leaf, and pods are counted on that. The busiest group is the one with the most bytes
//! out or in, whichever is more. On a tree whose levels are regular, its bytes over its cables up are the bound of
//! adaptive routing (`netloom_bounds`; a test compares).

use netloom_model::Csr;

/// The sizes that are counted, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sizes {
    /// Hosts a leaf, each with the numbers of leaves a pod; rising.
    of_leaf: Vec<(u32, Vec<u32>)>,
}

impl Sizes {
    /// Those of shapes `(hosts a leaf, leaves a pod)`, 0 leaves standing for no pods.
    pub fn of(shapes: impl IntoIterator<Item = (u32, u32)>) -> Self {
        let mut shapes: Vec<(u32, u32)> = shapes.into_iter().collect();
        shapes.sort_unstable();
        shapes.dedup();
        let mut of_leaf: Vec<(u32, Vec<u32>)> = Vec::new();
        for (down, leaves) in shapes {
            if of_leaf.last().is_none_or(|(last, _)| *last != down) {
                of_leaf.push((down, Vec::new()));
            }
            if leaves > 0 {
                of_leaf.last_mut().expect("just made").1.push(leaves);
            }
        }
        Self { of_leaf }
    }

    /// Hosts a leaf, each with the numbers of leaves a pod.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (u32, &[u32])> {
        self.of_leaf.iter().map(|(down, pods)| (*down, &pods[..]))
    }

    /// Where a shape is: number of the leaf's size and, of the pod's among those of that leaf.
    pub fn find(&self, down: u32, leaves: u32) -> Option<(usize, Option<usize>)> {
        let leaf = self.of_leaf.binary_search_by_key(&down, |(down, _)| *down).ok()?;
        match leaves {
            0 => Some((leaf, None)),
            _ => self.of_leaf[leaf].1.binary_search(&leaves).ok().map(|pod| (leaf, Some(pod))),
        }
    }
}

/// What leaves groups of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Crossing {
    /// Bytes out of, or into, the busiest group.
    pub busiest: f64,
    /// Bytes out of all groups.
    pub total: f64,
    /// Groups with a host that takes part.
    pub used: u64,
}

/// A job's copies on the hosts of a machine.
pub struct Placed<'a> {
    /// Bytes between the hosts of a copy.
    matrix: &'a Csr,
    /// `[copy][host of the job]`.
    copies: &'a [Vec<u32>],
    /// Of every host the copy and the host of the job, if it has one.
    tenants: &'a [Option<(u32, u32)>],
}

impl<'a> Placed<'a> {
    /// A job whose copies are on these hosts; `tenants` says the same by host.
    pub fn new(matrix: &'a Csr, copies: &'a [Vec<u32>], tenants: &'a [Option<(u32, u32)>]) -> Self {
        Self { matrix, copies, tenants }
    }

    /// Of leaves of `down` hosts, then of pods of so many such leaves each; `go_on` is asked between leaves. `None` if it
    /// says no.
    pub fn crossing(&self, down: u32, pods: &[u32], go_on: &dyn Fn() -> bool) -> Option<Vec<Crossing>> {
        let of_leaves = self.by_leaf(down, go_on)?;
        let mut found = Vec::with_capacity(pods.len() + 1);
        for leaves in std::iter::once(1).chain(pods.iter().copied()) {
            if !go_on() {
                return None;
            }
            found.push(of_leaves.crossing(leaves, down, self.tenants));
        }
        Some(found)
    }

    /// Bytes between leaves.
    fn by_leaf(&self, down: u32, go_on: &dyn Fn() -> bool) -> Option<Leaves> {
        let down = down as usize;
        let leaves = self.tenants.len().div_ceil(down);
        let leaf_of: Vec<Vec<u32>> = self
            .copies
            .iter()
            .map(|copy| copy.iter().map(|&host| (host as usize / down) as u32).collect())
            .collect();
        let mut sum = vec![0.0f64; leaves];
        let mut touched: Vec<u32> = Vec::new();
        let mut out = Leaves { count: leaves, entries: Vec::new() };
        for (leaf, tenants) in self.tenants.chunks(down).enumerate() {
            if !go_on() {
                return None;
            }
            let leaf = leaf as u32;
            for &(copy, at) in tenants.iter().flatten() {
                let (columns, bytes) = self.matrix.row(at as usize);
                let leaf_of = &leaf_of[copy as usize];
                for (&to, &bytes) in columns.iter().zip(bytes) {
                    let to = leaf_of[to as usize];
                    if to != leaf {
                        if sum[to as usize] == 0.0 {
                            touched.push(to);
                        }
                        sum[to as usize] += bytes;
                    }
                }
            }
            touched.sort_unstable();
            for to in touched.drain(..) {
                out.entries.push((leaf, to, std::mem::take(&mut sum[to as usize])));
            }
        }
        Some(out)
    }
}

/// Bytes between leaves, no leaf to itself.
struct Leaves {
    count: usize,
    entries: Vec<(u32, u32, f64)>,
}

impl Leaves {
    fn crossing(&self, leaves: u32, down: u32, tenants: &[Option<(u32, u32)>]) -> Crossing {
        let groups = self.count.div_ceil(leaves as usize);
        let group_of: Vec<u32> = (0..self.count as u32).map(|leaf| leaf / leaves).collect();
        let (mut out, mut into) = (vec![0.0f64; groups], vec![0.0f64; groups]);
        for &(from, to, bytes) in &self.entries {
            let (from, to) = (group_of[from as usize], group_of[to as usize]);
            if from != to {
                out[from as usize] += bytes;
                into[to as usize] += bytes;
            }
        }
        let hosts = leaves as usize * down as usize;
        Crossing {
            busiest: out.iter().chain(&into).copied().fold(0.0, f64::max),
            total: out.iter().fold(0.0, |sum, bytes| sum + bytes),
            used: tenants.chunks(hosts).filter(|group| group.iter().any(Option::is_some)).count() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_found_again() {
        let sizes = Sizes::of([(4, 0), (2, 3), (4, 2), (2, 3)]);
        assert_eq!(sizes.find(2, 3), Some((0, Some(0))));
        assert_eq!(sizes.find(4, 0), Some((1, None)));
        assert_eq!(sizes.find(4, 2), Some((1, Some(0))));
        assert_eq!((sizes.find(4, 3), sizes.find(3, 0)), (None, None));
    }

    #[test]
    fn the_busiest_leaf_is_not_the_mean_one() {
        // Hosts 0 to 5 on leaves of 2: 0 sends 3 bytes to 2 and 5 to 1; 4 sends 1 to 2. Pods of 2 leaves.
        let matrix = Csr::from_parts(vec![0, 2, 2, 2, 2, 3, 3], vec![1, 2, 2], vec![5.0, 3.0, 1.0], None);
        let copies = [vec![0, 1, 2, 3, 4, 5]];
        let tenants: Vec<_> = (0..6).map(|host| Some((0, host))).collect();
        let placed = Placed::new(&matrix, &copies, &tenants);
        let found = placed.crossing(2, &[2], &|| true).unwrap();
        // Leaf 1 receives 3 + 1; only 4's byte goes between pods.
        assert_eq!(found[0], Crossing { busiest: 4.0, total: 4.0, used: 3 });
        assert_eq!(found[1], Crossing { busiest: 1.0, total: 1.0, used: 2 });
        assert_eq!(placed.crossing(2, &[2], &|| false), None);
    }
}
