//! How low the links between switches could go, at best: what the search aims at.
//!
//! Everything that leaves a leaf, or a pod, leaves by its links to other switches, so no routing has all
//! of them below bytes / capacity; likewise for what arrives. Certified bounds are the business of crate
//! `bounds`; these cuts serve where host links are the fabric's bottleneck and hide the switches' bound.

use std::collections::BTreeMap;

use netloom_model::Fabric;
use netloom_topology::Structure;

use crate::search::state::items::Items;

/// A lower bound on the largest load between switches.
pub(crate) fn switch_target(fabric: &Fabric, structure: &Structure, items: &Items) -> f64 {
    let own = |s: usize| Some(s as u32);
    let pod = |s: usize| (structure.pod[s] != u32::MAX).then_some(structure.pod[s]);
    cut(fabric, items, own).max(cut(fabric, items, pod))
}

/// The largest bytes / capacity over the sets of switches that `set` names, outwards and inwards.
fn cut(fabric: &Fabric, items: &Items, set: impl Fn(usize) -> Option<u32>) -> f64 {
    // (bytes out, bytes in, capacity out); cables are equally fast both ways.
    let mut sums: BTreeMap<u32, (f64, f64, f64)> = BTreeMap::new();
    for item in 0..items.len() {
        let (a, b) = (set(items.leaf[item] as usize), set(items.target_of(item) as usize));
        if a != b {
            if let Some(a) = a {
                sums.entry(a).or_default().0 += items.bytes[item];
            }
            if let Some(b) = b {
                sums.entry(b).or_default().1 += items.bytes[item];
            }
        }
    }
    for link in fabric.links().filter(|&l| fabric.alive(l)) {
        if let (Some(a), Some(b)) = (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
            let (a, b) = (set(a.index()), set(b.index()));
            if let Some(sum) = a.filter(|_| a != b).and_then(|a| sums.get_mut(&a)) {
                sum.2 += fabric.relative_capacity(link);
            }
        }
    }
    let loads = sums.values().filter(|s| s.2 > 0.0).map(|&(out, into, capacity)| out.max(into) / capacity);
    loads.fold(0.0, f64::max)
}
