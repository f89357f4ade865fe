//! Whether routes keep to admissible ways wherever traffic goes.
//!
//! What bounds say of admissible routes (see [`paths`](crate::paths)) they say of these routes then, and only then.

use netloom_model::{Csr, Fabric, HostId, LinkId, Routes};
use rayon::prelude::*;

use crate::error::RoutingError;
use crate::loads::Walker;
use crate::paths::PathSet;

/// The first pair of hosts with traffic whose packets take a way that is not admissible; `None` if all keep to them.
///
/// Tables by destination with one address a host are walked once per (source leaf, destination), others pair by pair.
///
/// # Errors
/// [`RoutingError::Mismatch`] if the routes are not of this fabric's size. Packets that do not arrive are no error here:
/// their way is not admissible.
///
/// # Panics
/// If `traffic` has more rows than the fabric has hosts.
pub fn first_outside(
    fabric: &Fabric,
    paths: &PathSet,
    routes: &Routes,
    traffic: &Csr,
) -> Result<Option<(HostId, HostId)>, RoutingError> {
    let walker = Walker::new(fabric, routes)?;
    let one_way = routes.lft().is_some() && routes.one_address();
    let leaves = paths.leaves();
    let found = leaves.par_iter().find_map_first(|&leaf| {
        let mut seen = vec![false; if one_way { fabric.host_count() } else { 0 }];
        for &source in fabric.hosts_on(leaf) {
            let (columns, bytes) = traffic.row(source.index());
            for (&j, _) in columns.iter().zip(bytes).filter(|&(&j, &b)| j != source.0 && b > 0.0) {
                if one_way && std::mem::replace(&mut seen[j as usize], true) {
                    continue;
                }
                let destination = HostId(j);
                if !admissible(fabric, paths, &walker, source, destination) {
                    return Some((source, destination));
                }
            }
        }
        None
    });
    Ok(found)
}

fn admissible(fabric: &Fabric, paths: &PathSet, walker: &Walker, from: HostId, to: HostId) -> bool {
    let leaf = fabric.leaf(to);
    let mut within = true;
    let allowed = |link: LinkId| match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
        // Links of a group rise by port, and so by number.
        (Some(s), Some(_)) => paths.links(s, leaf).binary_search(&link).is_ok(),
        _ => true,
    };
    walker.visit(from, to, |link| within = within && allowed(link)).is_ok() && within
}
