//! Minimal routes of a dragonfly with their lanes, one service level.
//!
//! Ways have at most one global cable where one is left: a local one to a switch that has a cable to the destination's
//! group, that cable, a local one to the destination's switch. On one lane local cables of two groups wait for each other.
//! So what came in over a global cable and leaves by a local one changes to lane 1; everything else stays on lane 0. A switch
//! tells the two by its ports, which is all that an SL-to-VL table knows.
//!
//! In groups that are grids ways out of a group go by the row, then by the column, and ways home by the column, then by the row ([`PathSet::by_groups_for_tables`]).
//! So a turn from a row into a column is on lane 0, all other turns between local cables on lane 1, and two lanes are enough there too.
//!
//! Where there are several ways, as where several cables join two groups, destinations are spread over them (`spread.rs`).
//! Where cables are missing ways are longer ([`PathSet::by_groups`]), and `lanes.rs` looks for lanes by turns. Where it finds none some destinations
//! take other ways (`reroute.rs`).
//! Source: the lanes of minimal routes of J. Kim et al., ISCA 2008 (one change of lane, after the global cable), put
//! into tables by ports.

use netloom_model::{Fabric, Routes, SwitchId};
use netloom_topology::{Groups, Shape, Structure};

use super::{lanes, reroute, spread};
use crate::by_groups::{Order, Told};
use crate::context::EngineOptions;
use crate::error::RoutingError;
use crate::paths::PathSet;
use crate::{greedy, tables};

/// Routes of a dragonfly, with the lanes that they need: two, or up to four where many cables are missing.
///
/// # Errors
/// [`RoutingError::NotDragonfly`] and [`RoutingError::NoGroups`] for other fabrics; [`RoutingError::Lmc`] for an LMC above 7.
pub fn dla(fabric: &Fabric, structure: &Structure, options: &EngineOptions) -> Result<Routes, RoutingError> {
    tables::check_lmc(options.lmc)?;
    let Some(groups) = structure.shape.groups() else {
        return Err(match structure.shape {
            Shape::Graph => RoutingError::NoGroups,
            _ => RoutingError::NotDragonfly(format!("its shape is {}", structure.shape)),
        });
    };
    let paths = PathSet::by_groups_for_tables(fabric, groups);
    // Where there is nothing to choose the quick way gives the same tables.
    let one_way = (0..paths.group_count()).all(|group| paths.group_links(group as u32).len() < 2);
    let routes = match one_way {
        true => greedy::route(fabric, &paths, options),
        false => spread::route(fabric, groups, &paths, options),
    };
    let order = Order::new(fabric, groups, Told::ByPorts);
    let plain = match groups.grid {
        Some(_) => !lanes::wait_in_circles(fabric, &order, &routes),
        None => whole(fabric, groups, &paths),
    };
    if plain {
        return Ok(routes.with_lanes(lanes::plain(fabric, &order)));
    }
    let (turns, free) = lanes::assign(fabric, &order, &routes);
    let routes = match free {
        true => routes.with_lanes(turns.lanes(fabric)),
        false => reroute::route(fabric, &order, routes, &turns),
    };
    Ok(reroute::relieve(fabric, &order, &routes).unwrap_or(routes))
}

/// Whether every two switches of a group are joined, and every two groups.
fn whole(fabric: &Fabric, groups: &Groups, paths: &PathSet) -> bool {
    first_apart(fabric, groups, paths).is_none() && groups.global_cables.0 > 0
}

/// Two switches of a group, or of a line of one that is a grid, that no working cable joins.
fn first_apart(fabric: &Fabric, groups: &Groups, paths: &PathSet) -> Option<(SwitchId, SwitchId)> {
    let pairs = fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t)));
    let in_line = |s: SwitchId, t: SwitchId| match &groups.grid {
        Some(grid) => {
            grid.row[s.index()] == grid.row[t.index()] || grid.column[s.index()] == grid.column[t.index()]
        }
        None => true,
    };
    let mut inside = pairs.filter(|&(s, t)| s < t && groups.group(s) == groups.group(t) && in_line(s, t));
    inside.find(|&(s, t)| paths.hops(s, t) != Some(1))
}
