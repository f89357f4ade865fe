//! Minimal routes of a dragonfly on two lanes, one service level.
//!
//! Ways have at most one global cable: a local one to a switch that has a cable to the destination's group, that
//! cable, a local one to the destination's switch. On one lane local cables of two groups wait for each other. So what
//! came in over a global cable and leaves by a local one changes to lane 1; everything else stays on lane 0. A switch
//! tells the two by its ports, which is all that an SL-to-VL table knows.
//!
//! Groups must be cliques: where two local cables follow one another, ports cannot tell the first from the second.
//! Source: the lanes of minimal routes of J. Kim et al., ISCA 2008 (one change of lane, after the global cable), put
//! into tables by ports.

use netloom_model::{Fabric, LaneMap, LinkId, Routes};
use netloom_topology::{Groups, Structure};

use crate::context::EngineOptions;
use crate::error::RoutingError;
use crate::paths::PathSet;
use crate::{greedy, tables};

/// Routes of a dragonfly, with the lanes that they need.
///
/// # Errors
/// [`RoutingError::NotDragonfly`] for other fabrics and where two switches of one group have no working cable between
/// them; [`RoutingError::Lmc`] for an LMC above 7.
pub fn dla(fabric: &Fabric, structure: &Structure, options: &EngineOptions) -> Result<Routes, RoutingError> {
    tables::check_lmc(options.lmc)?;
    let Some(groups) = structure.shape.groups() else {
        return Err(RoutingError::NotDragonfly(format!("its shape is {}", structure.shape)));
    };
    let paths = PathSet::by_groups(fabric, groups);
    let pairs = fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t)));
    let mut inside = pairs.filter(|&(s, t)| s < t && groups.group(s) == groups.group(t));
    if let Some((s, t)) = inside.find(|&(s, t)| paths.hops(s, t) != Some(1)) {
        let (a, b) = (fabric.switch_name(s), fabric.switch_name(t));
        return Err(RoutingError::NotDragonfly(format!(
            "no working cable joins \"{a}\" and \"{b}\" of one group, and lanes by ports allow one hop inside"
        )));
    }
    Ok(greedy::route(fabric, &paths, options).with_lanes(lanes(fabric, groups)))
}

/// Lane 1 for what came in over a global cable and leaves by a local one, lane 0 for everything else.
fn lanes(fabric: &Fabric, groups: &Groups) -> LaneMap {
    let ends = |link: LinkId| fabric.link_from_switch(link).zip(fabric.link_to_switch(link));
    let local = |link| ends(link).is_some_and(|(a, b)| groups.group(a) == groups.group(b));
    let global = |link| ends(link).is_some_and(|(a, b)| groups.group(a) != groups.group(b));
    LaneMap::new(fabric, |via, out, _| u8::from(via.is_some_and(global) && local(out)))
}
