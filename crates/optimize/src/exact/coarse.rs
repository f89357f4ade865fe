//! Coarse pictures of a fabric: which switches are merged into one.
//!
//! Only switches of one level, one pod and one core group are merged, and none with hosts; `class[s]` is the lowest
//! switch merged with `s`.
//! Sources: dissertation, sec. 3.3.3 ("Interpod Route", everything at once) and 3.3.4 ("Multi-level", pair by pair).

use netloom_model::{Fabric, SwitchId};
use netloom_topology::Structure;

/// Every switch alone.
pub(crate) fn alone(fabric: &Fabric) -> Vec<u32> {
    (0..fabric.switch_count() as u32).collect()
}

/// The classes of `class` merged in pairs; equal to `class` if nothing is left to merge.
pub(crate) fn pairs(fabric: &Fabric, structure: &Structure, class: &[u32]) -> Vec<u32> {
    merge(fabric, structure, class, 2)
}

/// All that may be merged, merged.
pub(crate) fn whole(fabric: &Fabric, structure: &Structure) -> Vec<u32> {
    merge(fabric, structure, &alone(fabric), usize::MAX)
}

fn merge(fabric: &Fabric, structure: &Structure, class: &[u32], most: usize) -> Vec<u32> {
    let place = |s: u32| {
        let s = s as usize;
        (structure.rank[s], structure.pod[s], structure.core_group[s])
    };
    let hostless = |s: u32| structure.rank[s as usize] > 0 && fabric.hosts_on(SwitchId(s)).is_empty();
    let mut heads: Vec<u32> =
        (0..class.len() as u32).filter(|&s| class[s as usize] == s && hostless(s)).collect();
    heads.sort_by_key(|&s| (place(s), s));
    let mut into: Vec<u32> = (0..class.len() as u32).collect();
    for bucket in heads.chunk_by(|&a, &b| place(a) == place(b)) {
        for group in bucket.chunks(most) {
            group.iter().for_each(|&s| into[s as usize] = group[0]);
        }
    }
    class.iter().map(|&c| into[c as usize]).collect()
}
