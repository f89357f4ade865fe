//! Routes optimised for a scenario's own traffic.

use netloom_model::{Control, Fabric, Traffic};
use netloom_optimize::OptimizeOptions;
use netloom_routing::{EngineOptions, PathSet};
use netloom_sim::Model;
use netloom_topology::Structure;

use crate::judged::{Asked, Choice, choose};
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

/// The optimiser's tables for a scene, chosen by simulating it ([`judged`](crate::judged)): they are not slower than those that they start from, which
/// are OpenSM's (ftree, or updn where the fabric is no tree). For phases the sum over phases of each one's maximum counts, which is what a program
/// pays that waits between them. Unless `work` or the scenario says how many path
/// searches to spend, the traffic's size decides; equal work gives equal tables. What is simulated to choose is the scenario's own model, unless packets take long.
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
    threads: usize,
    control: &Control,
) -> Result<Choice, ComposeError> {
    let goal = goal(routing, fabric, scene, control)?;
    let seed = scene.scenario.seed;
    let start = &oblivious(fabric, structure, &EngineOptions { seed, lmc: 0 })?;
    let entries: usize = goal.phases().iter().map(|phase| phase.matrix.entry_count()).sum();
    let work = work.or(scene.scenario.optimize_work).unwrap_or(LEAST_WORK + 20 * entries as u64);
    let options = &OptimizeOptions { seed, work: Some(work), ..OptimizeOptions::default() };
    let model = (scene.scenario.model == "fluid").then_some(Model::Fluid);
    choose(&Asked { fabric, structure, paths, scene, goal: &goal, start, options, model, threads }, control)
}
