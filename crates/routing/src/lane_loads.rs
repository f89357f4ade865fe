//! What every lane carries: traffic followed pair by pair through tables of ports and of lanes.
//!
//! Bytes over relative capacity, as link loads are. Messages whose pair has no service level of its own have level 0.

use netloom_model::{Csr, Fabric, HostId, Routes};

use crate::error::RoutingError;
use crate::loads::walk;

/// The largest load of a link on every lane, from lane 0 on; one entry for routes without lanes.
///
/// # Errors
/// [`RoutingError::NoRoute`] for a pair with bytes that the tables don't join.
pub fn lane_loads(fabric: &Fabric, routes: &Routes, traffic: &Csr) -> Result<Vec<f64>, RoutingError> {
    let lanes = routes.lanes.as_deref();
    let count = lanes.map_or(1, |map| usize::from(map.lanes().max(1)));
    let mut load = vec![0.0; fabric.link_count() * count];
    for (from, to, bytes) in traffic.iter().filter(|&(from, to, bytes)| from != to && bytes > 0.0) {
        let (from, to) = (HostId(from), HostId(to));
        let level = lanes.and_then(|map| map.level(from, to)).unwrap_or(0);
        let mut before = None;
        for link in walk(fabric, routes, from, to)? {
            let lane = lanes.map_or(0, |map| match before {
                Some(via) => map.lane(via, link.0, level),
                None => map.first_lane(from.0, level),
            });
            load[link.index() * count + usize::from(lane)] += bytes / fabric.relative_capacity(link);
            before = Some(link.0);
        }
    }
    let mut most = vec![0.0f64; count];
    for link in load.chunks(count) {
        most.iter_mut().zip(link).for_each(|(most, &load)| *most = most.max(load));
    }
    Ok(most)
}
