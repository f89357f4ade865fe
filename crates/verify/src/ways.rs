//! Whether routes take the ways that a bound is of, wherever there is traffic.

use netloom_model::{Csr, Fabric, HostId, Routes, SwitchId, Table};
use rayon::prelude::*;

use crate::distance::{Graph, Towards};

/// The first pair of hosts with traffic, by receiving leaf, whose packets take another way or do not arrive.
///
/// Shapes have been compared before.
pub(crate) fn other_way(
    fabric: &Fabric,
    graph: &Graph,
    routes: &Routes,
    traffic: &Csr,
) -> Option<(HostId, HostId)> {
    let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    // Who sends to whom, by receiver.
    let mut senders: Vec<Vec<HostId>> = vec![Vec::new(); fabric.host_count()];
    for (from, to, _) in traffic.iter().filter(|&(i, j, bytes)| i != j && bytes > 0.0) {
        senders[to as usize].push(HostId(from));
    }
    let shared = matches!(routes.table, Table::ByDest(_)) && routes.one_address();
    let no_weight = vec![0.0; fabric.link_count()];
    leaves.par_iter().find_map_first(|&leaf| {
        let receivers = fabric.hosts_on(leaf).iter().filter(|h| !senders[h.index()].is_empty());
        let mut towards = None;
        for &to in receivers {
            let towards = towards.get_or_insert_with(|| graph.towards(fabric, leaf, &no_weight));
            let mut last = None;
            for &from in &senders[to.index()] {
                // Hosts of one leaf mostly follow each other.
                if shared && last == Some(fabric.leaf(from)) {
                    continue;
                }
                last = Some(fabric.leaf(from));
                if !minimal(fabric, graph, towards, routes, from, to) {
                    return Some((from, to));
                }
            }
        }
        None
    })
}

fn minimal(
    fabric: &Fabric,
    graph: &Graph,
    towards: &Towards,
    routes: &Routes,
    from: HostId,
    to: HostId,
) -> bool {
    let dest = routes.address(routes.dests(fabric), from, to);
    let mut at = fabric.leaf(from);
    loop {
        let port = routes.port(at, from, dest);
        let link = if port == 0 { None } else { fabric.link_at(at, port) };
        let Some(link) = link.filter(|&l| fabric.alive(l)) else { return false };
        let Some(next) = fabric.link_to_switch(link) else {
            return fabric.link_to(link).0 == to.0;
        };
        // Every step is nearer, so this ends.
        if !graph.leads(fabric, link, (at, next), &towards.hops, &towards.below) {
            return false;
        }
        at = next;
    }
}
