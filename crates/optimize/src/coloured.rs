//! Offline coloured routing: known traffic is coloured once, without bound or search.
//!
//! A baseline beside AFAR: what a pattern-aware routing gives that never asks how good it is. On a three-level
//! tree without holes an edge colouring spreads what every leaf sends and what it receives over all spines
//! at once ([`start`](crate::search::start)); on any other fabric traffic is inserted greedily, largest first.
//! Where the talk routes every pair by itself, tables by destination make all traffic of a leaf to one destination
//! share one way, and flows to one destination that meet stay together; what the colours then forbid takes the
//! least loaded way left.
//! Source: IBM Research Zurich, talk on routing and congestion management for HPC interconnects ("colored").

use netloom_model::rng::stream;
use netloom_model::{Control, Csr, Fabric, Routes};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::afar::check_shapes;
use crate::search::budget::Budget;
use crate::search::start;
use crate::search::state::State;
use crate::search::state::items::items;
use crate::search::state::objective::Objective;
use crate::search::state::slots::Slots;
use crate::search::target::switch_target;
use crate::solve::check_reachable;
use crate::tables::{admissible_lft, routes_with_paths};

/// Sharpness of the penalty by which greedy insertion chooses.
const GREEDY_ALPHA: f64 = 30.0;

/// Complete tables by one colouring of `traffic`, `seed` settling ties; entries without traffic come from
/// `background` where they are admissible.
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, `background` is not destination-based, or traffic has no path.
pub fn coloured(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    background: &Routes,
    seed: u64,
) -> Result<Routes, OptimizeError> {
    let lft = check_shapes(fabric, traffic, background)?;
    let items = items(fabric, traffic, background);
    check_reachable(fabric, paths, traffic, &items)?;
    let base = admissible_lft(fabric, structure, paths, lft, background.lmc);
    let view = Slots::new(fabric, structure, paths, true);
    let mut state = State::empty(&view, &items, Objective::single(switch_target(fabric, structure, &items)));
    let control = Control::new();
    let budget = Budget { control: &control, limit: u64::MAX };
    let placed = if view.layout.as_ref().is_some_and(|layout| layout.full) {
        start::coloured(&mut state, &mut stream(seed, 0), &budget)
    } else {
        start::insert_rest(&mut state, GREEDY_ALPHA, &budget)
    };
    assert!(placed, "every item has a way, and nothing ends the insertion early");
    Ok(routes_with_paths(&view, structure, base, background, &items, &state.path))
}
