//! Groups of a megafly, found from its cables alone.
//!
//! Leaves have hosts and are cabled to spines alone; spines have none. A group is what cables between leaves and spines
//! join. It is a megafly if there are two groups at least, all of one size, each spine of a group is cabled to nearly
//! each leaf of it, nearly every two groups are joined by cables between spines, and no spine is cabled to one of its
//! own group. Dead cables count, as they do for groups of dragonflies.

use std::collections::BTreeMap;

use netloom_model::{Fabric, SwitchId};

use crate::graph::Sets;
use crate::groups::{Groups, arrangement, usual_of};

/// Shares, in hundredths, that must be joined: leaves and spines of a group, pairs of groups.
const JOINED_PERCENT: usize = 80;

/// The groups of a megafly; `None` if the fabric is none.
pub(crate) fn find(fabric: &Fabric) -> Option<Groups> {
    let is_leaf: Vec<bool> = fabric.switches().map(|s| !fabric.hosts_on(s).is_empty()).collect();
    let leaf = |s: SwitchId| is_leaf[s.index()];
    let cables = || {
        let of = |l| fabric.link_from_switch(l).zip(fabric.link_to_switch(l)).map(|(s, t)| (s, t, l));
        fabric.links().filter_map(of).filter(|(s, t, _)| s < t)
    };
    let mut sets = Sets::new(is_leaf.len());
    for (s, t, _) in cables().filter(|&(s, t, _)| leaf(s) || leaf(t)) {
        if leaf(s) && leaf(t) {
            return None;
        }
        sets.join(s.index(), t.index());
    }
    let mut number = BTreeMap::new();
    let mut of = Vec::with_capacity(is_leaf.len());
    for s in 0..is_leaf.len() {
        let next = number.len() as u32;
        of.push(*number.entry(sets.find(s)).or_insert(next));
    }
    let count = number.len();
    let mut sizes = vec![(0usize, 0usize); count];
    for (&g, &leaf) in of.iter().zip(&is_leaf) {
        let (leaves, spines) = &mut sizes[g as usize];
        if leaf { *leaves += 1 } else { *spines += 1 }
    }
    let (leaves, spines) = sizes[0];
    if count < 2 || leaves == 0 || spines == 0 || sizes.iter().any(|&size| size != sizes[0]) {
        return None;
    }
    let mut local: BTreeMap<(SwitchId, SwitchId), u32> = BTreeMap::new();
    let mut global: BTreeMap<(u32, u32), (u32, u32)> = BTreeMap::new();
    for (s, t, link) in cables() {
        let (a, b, alive) = (of[s.index()], of[t.index()], u32::from(fabric.alive(link)));
        if leaf(s) || leaf(t) {
            *local.entry((s, t)).or_default() += alive;
        } else if a == b {
            return None;
        } else {
            let (all, working) = global.entry((a.min(b), a.max(b))).or_default();
            (*all, *working) = (*all + 1, *working + alive);
        }
    }
    let (within, between) = (count * leaves * spines, count * (count - 1) / 2);
    if 100 * local.len() < JOINED_PERCENT * within || 100 * global.len() < JOINED_PERCENT * between {
        return None;
    }
    let working: Vec<u32> = global.values().map(|&(_, working)| working).collect();
    let least = if global.len() < between { 0 } else { working.iter().copied().min().unwrap_or(0) };
    let most = working.iter().copied().max().unwrap_or(0);
    let mut deviations = Vec::new();
    let lacking = within - local.values().filter(|&&alive| alive > 0).count();
    if lacking > 0 {
        deviations.push(format!("leaves and spines of one group that no working cable joins: {lacking}"));
    }
    let common = usual_of(&working).unwrap_or(0);
    let number = |a, b| global.get(&(a, b)).map_or(0, |&(_, working)| working);
    let pairs = (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| (a, b)));
    let fewer: Vec<(u32, u32)> = pairs.filter(|&(a, b)| number(a, b) < common).collect();
    if let Some(&(a, b)) = fewer.first() {
        deviations.push(format!(
            "pairs of groups that fewer than {common} working cables join: {}, such as groups {a} and {b} by {}",
            fewer.len(),
            number(a, b)
        ));
    }
    let built: Vec<u32> = global.values().map(|&(all, _)| all).collect();
    let arrangement = arrangement(fabric, &of, count, usual_of(&built).unwrap_or(0), |s| !leaf(s));
    Some(Groups {
        of,
        count: count as u32,
        switches_a_group: (leaves + spines) as u32,
        global_cables: (least, most),
        arrangement,
        grid: None,
        deviations,
    })
}
