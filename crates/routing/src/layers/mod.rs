//! Shortest ways of any graph, on as few lanes as a quick search finds.
//!
//! Three steps. [`balance`] makes tables: shortest ways, those with the least use among them, destination by destination.
//! [`turns`] looks which turns (link in, link out) the packets of every two leaves make. [`lanes`] puts these pairs of
//! leaves on lanes so that no lane's links wait for each other in a circle. A pair's service level is its lane, the same
//! everywhere on its way, and the same for both directions: a connection has one.
//!
//! What hosts send to switches' own LIDs, as what reads counters does, goes on data lanes too. It is counted on level 0, which such
//! packets have unless somebody says otherwise. Where the shortest ways to switches would make circles there, they go by up*/down* ways.
//!
//! | module | idea |
//! |---|---|
//! | `balance` | tables: the least used of the shortest ways |
//! | `turns` | what turns the packets of two leaves make |
//! | `lanes` | pairs of leaves on lanes without circles |
//!
//! Sources: J. Domke, T. Hoefler, W. E. Nagel, "Deadlock-Free Oblivious Routing for Arbitrary Topologies", IPDPS 2011
//! (dfsssp: weights that grow with use, ways put on lanes); T. Skeie, O. Lysne, I. Theiss, "Layered Shortest Path (LASH)
//! Routing in Irregular System Area Networks", CAC 2002 (both directions on one lane). Where it differs: pairs are put on the
//! first lane that takes them, again and again in other orders (J. C. Culberson, F. Luo, "Exploring the k-colorable
//! landscape with iterated greedy", DIMACS 1996), where dfsssp moves them off a cycle's weakest edge once.

mod balance;
mod lanes;
mod turns;

use balance::{FreeTurns, Prefer};
use lanes::Level0;
use netloom_model::{Control, Fabric, LaneMap, LevelGroups, Levels, Routes, Table};
use netloom_topology::Structure;

use crate::context::EngineOptions;
use crate::error::RoutingError;
use crate::paths::PathSet;
use crate::tables;
use turns::Pairs;

/// Lanes that ports can have at most: lane 15 is for management.
const MOST_LANES: usize = 15;
/// Lanes that ports commonly have: where the balanced ways need more, others are tried.
const COMMON_LANES: usize = 4;

/// Shortest ways of any fabric, with the lanes that they need; none where one is enough.
///
/// The balanced ones, unless they need more than four lanes and less balanced ones need fewer.
///
/// # Errors
/// [`RoutingError::Lmc`] for an LMC above 7; [`RoutingError::Lanes`] if the ways need more lanes than there can be.
pub fn layers(
    fabric: &Fabric,
    structure: &Structure,
    options: &EngineOptions,
) -> Result<Routes, RoutingError> {
    tables::check_lmc(options.lmc)?;
    let control = Control::new();
    let made =
        |prefer, most| on_lanes(fabric, structure, balance::route(fabric, options, prefer), most, &control);
    let mut best = made(Prefer::Unused, MOST_LANES);
    let used = |best: &Option<Routes>| best.as_ref().map_or(MOST_LANES + 1, lanes_of);
    if used(&best) > COMMON_LANES {
        let free = FreeTurns::new(fabric, &structure.rank);
        for prefer in [Prefer::Turns(&free), Prefer::First] {
            best = made(prefer, used(&best) - 1).or(best);
        }
    }
    best.ok_or(RoutingError::Lanes { most: MOST_LANES })
}

/// The same tables towards hosts with the lanes that they need, whatever ways they are: at most so many; none where one is enough.
/// Entries towards switches' own addresses stay if one lane is enough with them, or fewer lanes than with others; else they are of
/// up*/down* ways. `None` if more lanes are needed, or packets between two leaves alone can wait for each other in a circle.
/// What `control` interrupted is done in a hurry, and may need more.
pub fn on_lanes(
    fabric: &Fabric,
    structure: &Structure,
    routes: Routes,
    most: usize,
    control: &Control,
) -> Option<Routes> {
    let assigned =
        |routes: &Routes, pairs, most, level0| assigned(fabric, routes, pairs, (most, level0), control);
    let own = Routes { lanes: None, ..routes };
    let of_own = turns::of_pairs(fabric, &own);
    // Answers of switches go to hosts on level 0 too, as packets of these switches' own hosts do: both have room there or neither.
    if let Some(found) = assigned(&own, &of_own, 1, Level0::WithAnswers) {
        return Some(found);
    }
    let up_down = up_and_down_to_switches(fabric, structure, own.clone());
    let of_up_down = turns::of_pairs(fabric, &up_down);
    let answered = assigned(&up_down, &of_up_down, most, Level0::WithAnswers);
    let best = answered
        .or_else(|| assigned(&own, &of_own, 1, Level0::Requests))
        .or_else(|| assigned(&up_down, &of_up_down, most, Level0::Requests));
    match best.as_ref().map_or(most + 1, lanes_of) {
        0..=2 => best,
        used => assigned(&own, &of_own, used - 1, Level0::Requests).or(best),
    }
}

/// The same tables, but that switches' own addresses are reached by up*/down* ways.
fn up_and_down_to_switches(fabric: &Fabric, structure: &Structure, routes: Routes) -> Routes {
    let Table::ByDest(mut lft) = routes.table else { unreachable!("by destination") };
    let paths = PathSet::towards_switches(fabric, structure, fabric.switches().collect());
    let space = fabric.dests(routes.lmc);
    for (s, target) in fabric.switches().flat_map(|s| fabric.switches().map(move |target| (s, target))) {
        if let Some(&link) = paths.links(s, target).first() {
            lft.set(s, space.switch(target), Some(fabric.link_port(link)));
        }
    }
    Routes::by_dest(fabric, routes.lmc, lft)
}

/// The same tables with the lanes that they need, on level 0 with room for what has that.
fn assigned(
    fabric: &Fabric,
    routes: &Routes,
    pairs: &Pairs,
    (most, level0): (usize, Level0),
    control: &Control,
) -> Option<Routes> {
    let lanes = lanes::assign(fabric.link_count(), pairs, most, level0, control)?;
    let routes = routes.clone();
    let Some(&highest) = lanes.iter().max().filter(|&&highest| highest > 0) else { return Some(routes) };
    let leaves = pairs.leaves();
    let mut level = vec![0; leaves * leaves];
    for (set, lane) in lanes.iter().enumerate() {
        for &(a, b) in pairs.leaves_of(set) {
            level[usize::from(a) * leaves + usize::from(b)] = *lane;
            level[usize::from(b) * leaves + usize::from(a)] = *lane;
        }
    }
    let groups = LevelGroups::by_groups(pairs.leaf_of_hosts(fabric), leaves as u16, level);
    let lanes = LaneMap::uniform(fabric, highest + 1).with_levels(Levels::Groups(groups));
    Some(routes.with_lanes(lanes))
}

/// How many lanes routes have.
fn lanes_of(routes: &Routes) -> usize {
    routes.lanes.as_ref().map_or(1, |lanes| lanes.lanes().into())
}
