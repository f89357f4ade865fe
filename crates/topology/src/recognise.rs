//! Whether a fabric is a perfect tree, and its tables if so; see `regular.rs` for what perfect means.

use netloom_model::{Fabric, LinkId, SwitchId};

use crate::regular::RegularTree;
use crate::structure::{NO_GROUP, NO_LEVEL, Structure};

/// Builds the tables, or says why the fabric is no perfect tree.
pub(crate) fn regular_tree(fabric: &Fabric, structure: &Structure) -> Result<RegularTree, String> {
    let name = |s: SwitchId| fabric.switch_name(s);
    if !(2..=3).contains(&structure.levels) {
        return Err(format!("levels: expected 2 or 3, found {}", structure.levels));
    }
    if let Some(s) = structure.switches_at(NO_LEVEL).next() {
        return Err(format!("\"{}\" is cut off", name(s)));
    }
    if let Some(&link) = structure.peer_links.first() {
        return Err(format!("{} joins switches of equal level", fabric.describe_link(link)));
    }
    let three = structure.levels == 3;
    let sorted = |level: u8, key: &dyn Fn(SwitchId) -> (u32, u32)| {
        let mut list: Vec<SwitchId> = structure.switches_at(level).collect();
        list.sort_by_key(|&s| (key(s), s));
        list
    };
    let pod = |s: SwitchId| structure.pod[s.index()];
    let group = |s: SwitchId| if three { structure.core_group[s.index()] } else { 0 };
    let leaves = sorted(0, &|s| (pod(s), 0));
    let spines = sorted(1, &|s| (pod(s), group(s)));
    let cores = sorted(2, &|s| (group(s), 0));

    let pods = structure.pods as usize;
    let groups = structure.core_groups as usize;
    if let Some(&s) = spines.iter().find(|&&s| group(s) == NO_GROUP) {
        return Err(format!("\"{}\" has no cores", name(s)));
    }
    let leaves_per_pod = even(&leaves, pods, &|s| pod(s) as usize, "leaves", "pod")?;
    let spines_per_pod = even(&spines, pods, &|s| pod(s) as usize, "spines", "pod")?;
    let blocks = groups.max(1);
    let cell = |s: SwitchId| pod(s) as usize * blocks + group(s) as usize;
    let spines_per_group = even(&spines, pods * blocks, &cell, "spines", "pod and core group")?;
    let cores_per_group =
        if three { even(&cores, groups, &|s| group(s) as usize, "cores", "group")? } else { 0 };

    let hosts_per_leaf = fabric.hosts_on(leaves[0]).len();
    let mut host_speed = None;
    for &s in leaves.iter().chain(&spines).chain(&cores) {
        let want = if structure.level[s.index()] == 0 { hosts_per_leaf } else { 0 };
        let hosts = fabric.hosts_on(s);
        if hosts.len() != want {
            return Err(format!("hosts of \"{}\": expected {want}, found {}", name(s), hosts.len()));
        }
        for &h in hosts {
            same_speed(fabric, fabric.host_link(h), &mut host_speed)?;
        }
    }
    if hosts_per_leaf == 0 {
        return Err(format!("\"{}\" has no hosts", name(leaves[0])));
    }

    let mut index = vec![0; fabric.switch_count()];
    for list in [&leaves, &spines, &cores] {
        list.iter().enumerate().for_each(|(i, s)| index[s.index()] = i as u32);
    }
    // Position among the upper ends that a lower switch must have, or None for a stranger.
    let place_spine = |lower: SwitchId, s: SwitchId| {
        (pod(lower) == pod(s)).then(|| index[s.index()] as usize % spines_per_pod)
    };
    let place_core = |lower: SwitchId, s: SwitchId| {
        (group(lower) == group(s)).then(|| index[s.index()] as usize % cores_per_group.max(1))
    };
    let leaf_stage = stage(fabric, structure, &leaves, spines_per_pod, &place_spine)?;
    let core_stage = if three {
        stage(fabric, structure, &spines, cores_per_group, &place_core)?
    } else {
        Stage { cables: 0, speed: fabric.reference_bandwidth_bytes_per_s(), up: Vec::new() }
    };
    let reference = fabric.reference_bandwidth_bytes_per_s();
    Ok(RegularTree {
        pods,
        leaves_per_pod,
        hosts_per_leaf,
        spines_per_pod,
        leaf_cables: leaf_stage.cables,
        groups,
        spines_per_group,
        cores_per_group,
        core_cables: core_stage.cables,
        host_capacity: host_speed.unwrap_or(reference) / reference,
        leaf_capacity: leaf_stage.speed / reference,
        core_capacity: core_stage.speed / reference,
        leaves,
        spines,
        cores,
        index,
        leaf_up: leaf_stage.up,
        spine_up: core_stage.up,
    })
}

/// How many switches each of `bins` has, if all have equally many.
fn even(
    switches: &[SwitchId],
    bins: usize,
    bin: &dyn Fn(SwitchId) -> usize,
    what: &str,
    of: &str,
) -> Result<usize, String> {
    let mut counts = vec![0usize; bins];
    for &s in switches {
        // A switch below the top that is in no pod has the number u32::MAX.
        *counts.get_mut(bin(s)).ok_or_else(|| format!("some {what} are in no {of}"))? += 1;
    }
    let (least, most) = counts.iter().fold((usize::MAX, 0), |(a, b), &c| (a.min(c), b.max(c)));
    if least == most && least > 0 { Ok(least) } else { Err(format!("a {of} has {least} to {most} {what}")) }
}

fn same_speed(fabric: &Fabric, link: LinkId, speed: &mut Option<f64>) -> Result<(), String> {
    if !fabric.alive(link) {
        return Err(format!("{} is dead", fabric.describe_link(link)));
    }
    let this = fabric.bandwidth_bytes_per_s(link);
    if *speed.get_or_insert(this) == this {
        return Ok(());
    }
    Err(format!("{} has another speed than the first link of its stage", fabric.describe_link(link)))
}

/// All links from one level up to the next.
struct Stage {
    cables: usize,
    speed: f64,
    /// `[lower][upper within pod or group][cable]`.
    up: Vec<LinkId>,
}

/// Collects a stage: `lower` switches in order, each to be joined to `uppers` switches; `place` says which of
/// these a switch is for a lower one (`None`: a stranger).
fn stage(
    fabric: &Fabric,
    structure: &Structure,
    lower: &[SwitchId],
    uppers: usize,
    place: &dyn Fn(SwitchId, SwitchId) -> Option<usize>,
) -> Result<Stage, String> {
    let mut speed = None;
    // One entry a cable, by cell = lower * uppers + place.
    let mut up: Vec<(usize, LinkId)> = Vec::new();
    for (i, &s) in lower.iter().enumerate() {
        let mine = structure.level[s.index()];
        for link in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
            let Some(t) = fabric.link_to_switch(link) else { continue };
            let other = structure.level[t.index()];
            if other < mine {
                continue;
            }
            same_speed(fabric, link, &mut speed)?;
            match place(s, t).filter(|_| other == mine + 1) {
                Some(k) => up.push((i * uppers + k, link)),
                None => return Err(format!("{} leaves the tree's pattern", fabric.describe_link(link))),
            }
        }
    }
    up.sort_unstable();
    let runs: Vec<&[(usize, LinkId)]> = up.chunk_by(|a, b| a.0 == b.0).collect();
    // What most pairs have is what is meant: one missing or doubled cable is then named, not the others.
    let mut of_length = vec![0usize; runs.iter().map(|r| r.len() + 1).max().unwrap_or(1)];
    runs.iter().for_each(|r| of_length[r.len()] += 1);
    let cables = (0..of_length.len()).max_by_key(|&n| of_length[n]).unwrap_or(0);
    if let Some(run) = runs.iter().find(|r| r.len() != cables) {
        let (link, found) = (fabric.link(run[0].1), run.len());
        let (a, b) = (fabric.node_name(link.from), fabric.node_name(link.to));
        return Err(format!("between \"{a}\" and \"{b}\": expected {cables} cables, found {found}"));
    }
    if let Some(cell) = (0..lower.len() * uppers).find(|&cell| runs.get(cell).is_none_or(|r| r[0].0 != cell))
    {
        let s = lower[cell / uppers];
        let found = runs.iter().filter(|r| r[0].0 / uppers == cell / uppers).count();
        let name = fabric.switch_name(s);
        return Err(format!("\"{name}\" is joined to {found} switches above it, expected {uppers}"));
    }
    let speed = speed.unwrap_or(fabric.reference_bandwidth_bytes_per_s());
    Ok(Stage { cables, speed, up: up.into_iter().map(|(_, link)| link).collect() })
}
