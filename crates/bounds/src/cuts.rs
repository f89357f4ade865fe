//! Cut bounds: what must cross a set of links, over the capacity of the set.
//!
//! The cuts tried are the hosts (their own links) and, for every level, the connected pieces of the fabric
//! up to that level: leaves, pods, pods of pods. All that leaves a piece crosses one of the links out of it
//! at least once (and so do the frozen bytes that lie on these links), whatever the fabric looks like, so every value here is valid; on regular trees the best
//! cut is tight (see [`ar`](crate::ar)).

use netloom_model::{Certificate, Fabric, LinkId, Reason, SwitchId};
use netloom_topology::Structure;

use crate::demand::Demand;

/// The best cut.
pub(crate) fn best(fabric: &Fabric, structure: &Structure, demand: &Demand) -> Certificate {
    let mut best = nothing();
    for h in fabric.hosts() {
        let up = fabric.host_link(h);
        let capacity = fabric.relative_capacity(up);
        for (free, link, side) in
            [(demand.sent[h.index()], up, "up"), (demand.received[h.index()], fabric.reverse(up), "down")]
        {
            let bytes = free + demand.base[link.index()];
            if bytes / capacity > best.claim {
                best = certificate(fabric, bytes, vec![link], format!("{} {side}", fabric.host_name(h)));
            }
        }
    }
    // What a link carries already, whatever the rest does.
    for l in fabric.links().filter(|&l| fabric.between_switches(l)) {
        let bytes = demand.base[l.index()];
        if bytes / fabric.relative_capacity(l) > best.claim {
            best = certificate(fabric, bytes, vec![l], fabric.describe_link(l));
        }
    }
    let top = structure.rank.iter().copied().filter(|&l| l != u16::MAX).max().unwrap_or(0);
    for level in 0..=top {
        best = best_at(fabric, structure, demand, level, best);
    }
    best
}

/// The bound 0, which needs no argument.
pub(crate) fn nothing() -> Certificate {
    Certificate::new(0.0, "no traffic".into(), Reason::Dual { weights: Vec::new() })
}

fn certificate(fabric: &Fabric, bytes: f64, links: Vec<LinkId>, place: String) -> Certificate {
    let capacity: f64 = links.iter().map(|&l| fabric.relative_capacity(l)).sum();
    let weights = links.into_iter().map(|l| (l, 1.0)).collect();
    Certificate::new(bytes / capacity, place, Reason::Dual { weights })
}

/// The pieces that links between switches of levels up to `level` make.
fn best_at(
    fabric: &Fabric,
    structure: &Structure,
    demand: &Demand,
    level: u16,
    mut best: Certificate,
) -> Certificate {
    let piece = pieces(fabric, structure, level);
    let count = fabric.switch_count();
    let (mut out, mut into) = (vec![0.0; count], vec![0.0; count]);
    for (a, row) in demand.leaves.iter().zip(&demand.pairs) {
        for &(b, bytes) in row {
            let (from, to) = (piece[a.index()], piece[demand.leaves[b as usize].index()]);
            if from != to {
                out[from as usize] += bytes;
                into[to as usize] += bytes;
            }
        }
    }
    // Links out of a piece, by piece; the links in are their reverses.
    let mut links: Vec<Vec<LinkId>> = vec![Vec::new(); count];
    for l in fabric.links().filter(|&l| fabric.alive(l)) {
        if let (Some(s), Some(t)) = (fabric.link_from_switch(l), fabric.link_to_switch(l))
            && piece[s.index()] != piece[t.index()]
        {
            links[piece[s.index()] as usize].push(l);
        }
    }
    for (root, outward) in links.into_iter().enumerate().filter(|(_, l)| !l.is_empty()) {
        let capacity: f64 = outward.iter().map(|&l| fabric.relative_capacity(l)).sum();
        let first = SwitchId::from_index(root);
        let alone = piece.iter().filter(|&&p| p as usize == root).take(2).count() == 1;
        let name = fabric.switch_name(first);
        for (free, up) in [(out[root], true), (into[root], false)] {
            let over = |&l: &LinkId| if up { l } else { fabric.reverse(l) };
            let bytes = free + outward.iter().map(|l| demand.base[over(l).index()]).sum::<f64>();
            if bytes / capacity > best.claim {
                let side = if up { "up" } else { "down" };
                let place = if alone { format!("{name} {side}") } else { format!("pod of {name} {side}") };
                best = certificate(fabric, bytes, outward.iter().map(over).collect(), place);
            }
        }
    }
    best
}

/// Per switch the smallest switch of its piece (union-find).
pub(crate) fn pieces(fabric: &Fabric, structure: &Structure, level: u16) -> Vec<u32> {
    fn root(parent: &mut [u32], mut s: u32) -> u32 {
        while parent[s as usize] != s {
            parent[s as usize] = parent[parent[s as usize] as usize];
            s = parent[s as usize];
        }
        s
    }
    let mut parent: Vec<u32> = (0..fabric.switch_count() as u32).collect();
    if level > 0 {
        for l in fabric.links().filter(|&l| fabric.alive(l)) {
            let (Some(s), Some(t)) = (fabric.link_from_switch(l), fabric.link_to_switch(l)) else { continue };
            if s < t && structure.rank[s.index()] <= level && structure.rank[t.index()] <= level {
                let (a, b) = (root(&mut parent, s.0), root(&mut parent, t.0));
                parent[a.max(b) as usize] = a.min(b);
            }
        }
    }
    (0..parent.len() as u32).map(|s| root(&mut parent, s)).collect()
}
