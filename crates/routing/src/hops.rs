//! How far traffic travels: links from host to host on admissible paths, which are shortest up*/down* ways.
//!
//! Source: Taffet, dissertation, table 3.1 ("average hops"): over pairs, whatever their bytes.

use netloom_model::{Csr, Fabric, HostId};

use crate::PathSet;

/// Mean links from host to host over the pairs of different hosts that an admissible path joins; `None` if there is no
/// such pair. Traffic is over the fabric's hosts.
pub fn mean_hops(fabric: &Fabric, paths: &PathSet, traffic: &Csr) -> Option<f64> {
    let (mut pairs, mut links) = (0u64, 0u64);
    for (from, to, _) in traffic.iter().filter(|(from, to, _)| from != to) {
        let (here, there) = (fabric.leaf(HostId(from)), fabric.leaf(HostId(to)));
        if let Some(between) = paths.hops(here, there) {
            pairs += 1;
            links += u64::from(between) + 2;
        }
    }
    (pairs > 0).then(|| links as f64 / pairs as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::Traffic;

    #[test]
    fn two_links_within_a_leaf_and_four_beyond() {
        let fabric = netloom_topology::generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
        let structure = netloom_topology::detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        // 0 and 1 share a leaf; what 2 sends to itself does not count.
        let traffic = Traffic::from_triples(4, &[0, 0, 2], &[1, 3, 2], &[1.0, 9.0, 5.0], None).unwrap();
        assert_eq!(mean_hops(&fabric, &paths, &traffic.total()), Some(3.0));
        assert_eq!(mean_hops(&fabric, &paths, &Csr::empty(4)), None);
    }
}
