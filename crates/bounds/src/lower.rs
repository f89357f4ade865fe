//! The best lower bound for destination-based routes.
//!
//! What every routing obeys ([`ar_bound`](crate::ar_bound)), and then what only whole items must obey: for every leaf and
//! direction, the leaf's items are packed whole into its links (`packing`). A link's load is
//! at least its bytes over the largest relative capacity of the set, so unequal speeds keep the bound valid.
//! Source: Taffet, dissertation, sec. 6.1.1 (cutting planes at the leaves).

use netloom_model::{Certificate, Control, Csr, Fabric, Item, LinkId, Reason, Routes, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::ar::ar_of;
use crate::cuts;
use crate::demand::Demand;
use crate::interval::BoundError;
use crate::packing::{self, Proof};

/// The best of all bounds on the maximum load of destination-based admissible routes.
///
/// Pairs without a path are left out (routing them is an error elsewhere). Deterministic.
pub fn lower_bound(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    control: &Control,
) -> Certificate {
    let demand = Demand::new(fabric, traffic);
    match ar_of(fabric, structure, paths, &demand, control, None) {
        Ok(ar) => pack(fabric, structure, paths, &demand, ar.certificate),
        Err(_) => pack(fabric, structure, paths, &demand, cuts::nothing()),
    }
}

/// The better of `start` (such as the certificate of [`ar_bound`](crate::ar_bound)) and the whole-item bounds at every leaf.
///
/// For callers that have the AR bound already; [`lower_bound`] computes it first.
pub fn tighten(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    start: Certificate,
) -> Certificate {
    pack(fabric, structure, paths, &Demand::new(fabric, traffic), start)
}

/// The best bound on routes that agree with `routes` on the destinations with a true in `frozen` (one a host; empty
/// or all false: as [`lower_bound`]).
///
/// What is sent to them lies on the links of its path, the rest chooses freely. `work`: the most iterations of the
/// linear program (`None`: [`DEFAULT_WORK`](crate::DEFAULT_WORK)). The certificate names the frozen destinations: it is
/// judged together with routes.
///
/// # Errors
/// [`BoundError`] if `routes` do not deliver what is sent to frozen destinations, or another pair has no path.
#[expect(clippy::too_many_arguments, reason = "fabric, traffic and routes are all it needs")]
pub fn lower_bound_with_frozen(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    routes: &Routes,
    frozen: &[bool],
    control: &Control,
    work: Option<u64>,
) -> Result<Certificate, BoundError> {
    let demand = Demand::with_frozen(fabric, traffic, routes, frozen)?;
    let ar = ar_of(fabric, structure, paths, &demand, control, work)?;
    let start = ar.certificate;
    let best = if demand.frozen.is_empty() { pack(fabric, structure, paths, &demand, start) } else { start };
    Ok(Certificate { frozen: demand.frozen, ..best })
}

/// One leaf in one direction.
#[derive(Clone, Copy)]
struct Side {
    leaf: usize,
    up: bool,
}

fn pack(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    demand: &Demand,
    start: Certificate,
) -> Certificate {
    let arriving = arriving(fabric, demand);
    let sides: Vec<Side> =
        (0..demand.leaves.len()).flat_map(|leaf| [true, false].map(|up| Side { leaf, up })).collect();
    let items = |side: Side| -> Vec<(f64, Item)> {
        let here = demand.leaves[side.leaf];
        if side.up {
            let row = demand.items[side.leaf].iter();
            let there = |d| paths.hops(here, fabric.leaf(d)).is_some();
            row.filter(|p| there(p.destination))
                .map(|p| (p.bytes, Item { leaf: here, destination: p.destination }))
                .collect()
        } else {
            let row = arriving[side.leaf].iter().copied();
            row.filter(|(_, item)| paths.hops(item.leaf, here).is_some()).collect()
        }
    };
    let bound = |&side: &Side| -> Option<(f64, Proof)> {
        let (links, capacity) = links_of(fabric, structure, demand.leaves[side.leaf], side.up);
        let m = links.len();
        let mut sizes: Vec<f64> = items(side).into_iter().map(|(bytes, _)| bytes).collect();
        let (total, largest) = (sizes.iter().sum::<f64>(), sizes.iter().copied().fold(0.0, f64::max));
        // Any list order packs this well, so no bound can say more.
        let at_most = (total + (m as f64 - 1.0) * largest) / m as f64;
        if m == 0 || at_most <= start.claim * capacity * (1.0 + 1e-12) {
            return None;
        }
        sizes.sort_unstable_by(|a, b| b.total_cmp(a));
        let (bound, proof) = packing::best(&sizes, m, start.claim * capacity)?;
        Some((bound / capacity, proof))
    };
    let bounds: Vec<Option<(f64, Proof)>> = sides.par_iter().map(bound).collect();
    let mut best: Option<(Side, f64, Proof)> = None;
    for (&side, found) in sides.iter().zip(&bounds) {
        if let Some((claim, proof)) = *found
            && claim > best.map_or(start.claim, |(_, c, _)| c)
        {
            best = Some((side, claim, proof));
        }
    }
    let Some((side, claim, proof)) = best else { return start };
    let (links, capacity) = links_of(fabric, structure, demand.leaves[side.leaf], side.up);
    let reason = match proof {
        Proof::Pigeonhole { together } => {
            let mut all = items(side);
            all.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            all.truncate(links.len() * together + 1);
            let items = all.into_iter().map(|(_, item)| item).collect();
            Reason::Pigeonhole { links, items, together: together as u32 }
        }
        Proof::DualFeasible { threshold } => Reason::DualFeasible { links, threshold: threshold / capacity },
        Proof::SubsetSum { grid } => Reason::SubsetSum { links, grid },
    };
    let name = fabric.switch_name(demand.leaves[side.leaf]);
    let place = format!("{name} {}", if side.up { "up" } else { "down" });
    Certificate::new(claim, place, reason)
}

/// The links that the leaf's items cross, each item exactly one: all working links between switches of
/// different levels out of (or into) the leaf; and their largest relative capacity.
fn links_of(fabric: &Fabric, structure: &Structure, leaf: SwitchId, up: bool) -> (Vec<LinkId>, f64) {
    let level = |s: SwitchId| structure.level[s.index()];
    let links: Vec<LinkId> = fabric
        .switch_links(leaf)
        .filter(|&l| {
            let to = fabric.link_to_switch(l);
            fabric.alive(l) && to.is_some_and(|t| level(t) != level(leaf) && level(t) != u8::MAX)
        })
        .map(|l| if up { l } else { fabric.reverse(l) })
        .collect();
    let capacity = links.iter().map(|&l| fabric.relative_capacity(l)).fold(0.0, f64::max);
    (links, capacity)
}

/// Per leaf, what comes for its hosts from other leaves.
fn arriving(fabric: &Fabric, demand: &Demand) -> Vec<Vec<(f64, Item)>> {
    let mut position = vec![0; fabric.switch_count()];
    for (i, leaf) in demand.leaves.iter().enumerate() {
        position[leaf.index()] = i;
    }
    let mut arriving = vec![Vec::new(); demand.leaves.len()];
    for (&leaf, parcels) in demand.leaves.iter().zip(&demand.items) {
        for p in parcels {
            let item = Item { leaf, destination: p.destination };
            arriving[position[fabric.leaf(p.destination).index()]].push((p.bytes, item));
        }
    }
    arriving
}
