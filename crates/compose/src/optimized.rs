//! Routes optimised for a scenario's own traffic.

use netloom_model::{Control, Fabric, Routes, Traffic};
use netloom_optimize::{Combine, Layer, OptimizeOptions, optimize, optimize_layers};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::routing::oblivious;
use crate::{ComposeError, Routing, Scene, traffic};

/// Path searches unless somebody says how many: a second or two, and more for much traffic. (The bound is often met long before.)
const LEAST_WORK: u64 = 1_000_000;

/// What [`Routing::Optimized`] and [`Routing::OptimizedPhases`] are optimised for.
///
/// # Errors
/// [`ComposeError::TooManyPhases`]; [`ComposeError::Stopped`].
pub fn goal(
    routing: &Routing,
    fabric: &Fabric,
    scene: &Scene,
    control: &Control,
) -> Result<Traffic, ComposeError> {
    match routing {
        Routing::OptimizedPhases => traffic::phases(fabric, &scene.jobs, control),
        _ => traffic::total(fabric, &scene.jobs, control),
    }
}

/// The optimiser's tables for a scene. They start from OpenSM's (ftree, or updn where the fabric is no tree). For phases the sum
/// over phases of each one's maximum counts, which is what a program pays that waits between them. Unless `work` or the scenario says how many path
/// searches to spend, the traffic's size decides; equal work gives equal tables.
///
/// # Errors
/// [`ComposeError`]: no way between two hosts that talk, too many phases, or stopped before there was anything.
#[allow(clippy::too_many_arguments)] // a fabric with what is derived from it, and how
pub fn optimized(
    routing: &Routing,
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    scene: &Scene,
    work: Option<u64>,
    control: &Control,
) -> Result<Routes, ComposeError> {
    let goal = goal(routing, fabric, scene, control)?;
    let seed = scene.scenario.seed;
    let background = oblivious(fabric, structure, seed)?;
    let phases = goal.phases();
    let entries: usize = phases.iter().map(|phase| phase.matrix.entry_count()).sum();
    let work = work.or(scene.scenario.optimize_work).unwrap_or(LEAST_WORK + 20 * entries as u64);
    let options = OptimizeOptions { seed, work: Some(work), ..OptimizeOptions::default() };
    if phases.len() < 2 {
        let best = optimize(fabric, structure, paths, &goal.total(), &background, &options, control)?;
        return Ok(best.routes);
    }
    let layers: Vec<Layer> = phases
        .iter()
        .map(|phase| Layer { name: phase.name.clone(), matrix: &phase.matrix, weight: phase.repeats })
        .collect();
    let best =
        optimize_layers(fabric, structure, paths, &layers, Combine::Sum, &background, &options, control)?;
    Ok(best.routes)
}
