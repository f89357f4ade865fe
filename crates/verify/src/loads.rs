//! The largest link load, by walking the tables.
//!
//! What a leaf's hosts send to one address is walked once; with routes that choose by the source, every pair is.

use netloom_model::{Csr, Fabric, HostId, LinkId, Routes, Table};
use rayon::prelude::*;

/// More links than any sensible path.
const MOST_HOPS: usize = 256;

/// The largest load of any working link (bytes at the reference bandwidth), host links included.
///
/// # Errors
/// One line naming a pair with traffic that does not arrive.
pub(crate) fn max_load(fabric: &Fabric, routes: &Routes, traffic: &Csr) -> Result<f64, String> {
    let total = bytes_on(fabric, routes, traffic, |_| true)?;
    Ok(fabric.links().map(|l| total[l.index()] / fabric.relative_capacity(l)).fold(0.0, f64::max))
}

/// Bytes on every link of what is sent to the destinations `wanted`, links of hosts included.
///
/// # Errors
/// As [`max_load`].
pub(crate) fn bytes_on(
    fabric: &Fabric,
    routes: &Routes,
    traffic: &Csr,
    wanted: impl Fn(HostId) -> bool + Sync,
) -> Result<Vec<f64>, String> {
    let space = routes.dests(fabric);
    let fits = match &routes.table {
        Table::ByDest(lft) => lft.switches() == fabric.switch_count() && lft.dests() == space.count(),
        Table::UpBySource { up, down } => {
            up.switches() == fabric.switch_count()
                && down.switches() == fabric.switch_count()
                && up.dests() >= fabric.host_count()
                && down.dests() >= fabric.host_count() << routes.lmc
        }
    };
    if !routes.paths_fit(fabric) {
        return Err("the path of every pair is for other hosts or another LMC than the tables".into());
    }
    if !fits {
        return Err("the tables have another number of switches or addresses than the fabric".into());
    }
    let leaves: Vec<_> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    let shared = matches!(routes.table, Table::ByDest(_));
    let parts: Vec<Result<Vec<f64>, String>> = leaves
        .par_chunks(16)
        .map(|leaves| {
            let mut bytes_on = vec![0.0; fabric.link_count()];
            let mut to = vec![0.0; space.hosts << routes.lmc];
            for &leaf in leaves {
                for &from in fabric.hosts_on(leaf) {
                    let (columns, bytes) = traffic.row(from.index());
                    for (&j, &b) in
                        columns.iter().zip(bytes).filter(|(j, _)| **j != from.0 && wanted(HostId(**j)))
                    {
                        bytes_on[fabric.host_link(from).index()] += b;
                        to[routes.address(space, from, HostId(j)).index()] += b;
                    }
                    if !shared {
                        walk_all(fabric, routes, from, &mut to, &mut bytes_on)?;
                    }
                }
                walk_all(fabric, routes, fabric.hosts_on(leaf)[0], &mut to, &mut bytes_on)?;
            }
            Ok(bytes_on)
        })
        .collect();
    let mut total = vec![0.0; fabric.link_count()];
    for part in parts {
        total.iter_mut().zip(part?).for_each(|(sum, b)| *sum += b);
    }
    let dead = |l: &LinkId| total[l.index()] > 0.0 && !fabric.alive(*l);
    if let Some(l) = fabric.links().find(dead) {
        return Err(format!("there is traffic over {}, whose cable is dead", fabric.describe_link(l)));
    }
    Ok(total)
}

/// Sends `to[address]` bytes from `from`'s leaf along the tables, and clears `to`.
fn walk_all(
    fabric: &Fabric,
    routes: &Routes,
    from: HostId,
    to: &mut [f64],
    bytes_on: &mut [f64],
) -> Result<(), String> {
    let space = routes.dests(fabric);
    for (address, bytes) in to.iter_mut().enumerate().filter(|(_, b)| **b > 0.0) {
        let destination = HostId((address >> routes.lmc) as u32);
        let dest = space.host(destination, address as u32 & ((1 << routes.lmc) - 1));
        let mut at = fabric.leaf(from);
        let mut hops = 0;
        loop {
            let port = routes.port(at, from, dest);
            let link = if port == 0 { None } else { fabric.link_at(at, port) };
            let Some(link) = link.filter(|&l| fabric.alive(l) && hops < MOST_HOPS) else {
                let (a, b) = (fabric.host_name(from), fabric.host_name(destination));
                return Err(format!(
                    "what {a} sends to {b} does not arrive: it ends at {}",
                    fabric.switch_name(at)
                ));
            };
            bytes_on[link.index()] += *bytes;
            hops += 1;
            match fabric.link_to_switch(link) {
                Some(next) => at = next,
                None if fabric.link_to(link).0 == destination.0 => break,
                None => {
                    let (a, b) = (fabric.host_name(from), fabric.host_name(destination));
                    let end = fabric.node_name(fabric.link_to(link));
                    return Err(format!("what {a} sends to {b} ends at {end}"));
                }
            }
        }
        *bytes = 0.0;
    }
    Ok(())
}
