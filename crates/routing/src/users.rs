//! Who uses a link: the pairs with bytes whose packets cross it.

use netloom_model::{Control, Csr, Fabric, HostId, LinkId, Routes};
use rayon::prelude::*;

use crate::error::RoutingError;
use crate::loads::Walker;

/// The place of a link that nobody asked about.
const NONE: u32 = u32::MAX;

/// A pair that crosses one of some links.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkUser {
    /// Which of the links, by its place in the list that was given.
    pub place: u32,
    /// The sending host.
    pub source: HostId,
    /// The receiving host.
    pub destination: HostId,
    /// What it sends.
    pub bytes: f64,
}

/// The pairs with bytes that cross `links`, in the order of their hosts; what a host sends to itself crosses none. The
/// control can end it early, with what was found.
///
/// # Errors
/// [`RoutingError::Mismatch`] if routes or traffic are not of this fabric's size; [`RoutingError::NoRoute`] for a pair
/// with bytes that the tables do not join.
pub fn link_users(
    fabric: &Fabric,
    routes: &Routes,
    traffic: &Csr,
    links: &[LinkId],
    control: &Control,
) -> Result<Vec<LinkUser>, RoutingError> {
    let walker = Walker::new(fabric, routes)?;
    if traffic.size() != fabric.host_count() {
        return Err(RoutingError::Mismatch(format!(
            "the traffic has {} endpoints, the fabric {} hosts",
            traffic.size(),
            fabric.host_count()
        )));
    }
    let mut place_of = vec![NONE; fabric.link_count()];
    links.iter().zip(0..).for_each(|(link, place)| place_of[link.index()] = place);
    let of_host = |source: usize| -> Result<Vec<LinkUser>, RoutingError> {
        let source = HostId::from_index(source);
        let mut found = Vec::new();
        if control.stopped().is_some() {
            return Ok(found);
        }
        let (destinations, amounts) = traffic.row(source.index());
        for (&destination, &bytes) in destinations.iter().zip(amounts) {
            let destination = HostId(destination);
            if bytes > 0.0 {
                walker.visit(source, destination, |link| {
                    let place = place_of[link.index()];
                    if place != NONE {
                        found.push(LinkUser { place, source, destination, bytes });
                    }
                })?;
            }
        }
        Ok(found)
    };
    let found: Vec<Result<Vec<LinkUser>, RoutingError>> =
        (0..fabric.host_count()).into_par_iter().map(of_host).collect();
    let found: Vec<Vec<LinkUser>> = found.into_iter().collect::<Result<_, _>>()?;
    Ok(found.into_iter().flatten().collect())
}
