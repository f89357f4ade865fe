//! `netloom.optimize_judged`: routes for a traffic, chosen among candidates by what a run takes with them.

use std::sync::Arc;
use std::time::Instant;

use netloom_compose::{Asked as AskedOf, ComposeError, choose, on_lanes::LANES, pass_mended};
use netloom_model::{Routes, Ways};
use netloom_optimize::{self as optimizer, OptimizeOptions};
use netloom_routing as routing;
use netloom_sim::Model;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::errors;
use crate::loads::Judged;
use crate::optimizing::optimize::{Asked, begin};
use crate::optimizing::optimized::{Found, PyOptimized};
use crate::results::{Search, changed};
use crate::routes::RoutesOrEngine;
use crate::run::{Interrupt, Options, left, run_until};
use crate::simulating::scenario::{PyScenario, choice_dict};
use crate::traffic::PyTraffic;

/// Routes for a traffic: the quickest of several in a simulation.
///
/// Parameters
/// ----------
/// scenario : Scenario
///     A program on the same fabric that sends the traffic; `Scenario.of_traffic` makes one.
/// traffic : Traffic
///     What candidates are optimised for.
/// model : {"packet", "fluid"}, default "packet"
///     The simulator that judges.
/// background : Routes or str, default "auto"
///     Routes whose ports stay where no traffic decides; `auto` is ftree on trees, else the engine that suits the fabric.
/// today : Routes or str, optional
///     Routes to begin with, so that little changes.
/// penalty_per_change : float, default 0.0
///     Bytes of the largest load that a changed entry must save, at least 0. Needs `today`.
/// max_changes : int, optional
///     Entries of `today` that may change, at most. Needs `today`.
/// frozen : sequence of int, default ()
///     Hosts towards which no entry changes. Needs `today`.
/// max_lanes : int, default 8
///     Lanes that routes may need at most, 1 to 15. Of routes to begin with that need more, ways that are not shortest up*/down* ones are
///     replaced, so that no lanes are needed.
/// depth : int, default 3
///     Load levels below the largest whose number of links is minimised too.
/// islands : int, default 1
///     Searches side by side with different seeds; the best is returned. `work` is that of all.
/// seed : int, default 0
///     Seed of random choices.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// work : int, optional
///     Path searches at most: the reproducible budget. Default: 8 million and 20 more for each pair of a leaf and a host it sends to.
/// time_limit : float, optional
///     Seconds of wall time; what is known by then is returned, and `stopped` says so.
/// progress : callable, optional
///     Called as `progress(done, all)` now and then; an exception that it raises ends the call.
/// on_interrupt : {"raise", "return"}, default "raise"
///     What Ctrl-C does: it raises `KeyboardInterrupt`, or what was found by then is returned and says so.
///
/// Returns
/// -------
/// (Optimized, dict)
///     The routes, and how they were chosen, as `Scenario.optimized` says it.
///
/// Raises
/// ------
/// RoutingError, TrafficError, SimulationError
///     If routes, traffic and scenario do not belong together.
/// ArgumentError
///     If there is no such model, or changes are limited without `today`.
///
/// References
/// ----------
/// `docs/methods/optimizer.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> traffic = netloom.Traffic.read("shift:4", fabric)
/// >>> best, how = netloom.optimize_judged(netloom.Scenario.of_traffic(fabric, traffic), traffic, "fluid")
/// >>> best.proven_optimal
/// True
#[pyfunction]
#[pyo3(signature = (scenario, traffic, model = "packet", *, background = RoutesOrEngine::Engine("auto".into()), today = None,
                    penalty_per_change = 0.0, max_changes = None, frozen = Vec::new(), max_lanes = LANES, depth = 3, islands = 1,
                    seed = 0, threads = 0, work = None, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(scenario, traffic, model='packet', *, background='auto', today=None, penalty_per_change=0.0, max_changes=None, frozen=(), max_lanes=8, depth=3, islands=1, seed=0, threads=0, work=None, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize_judged<'py>(
    py: Python<'py>,
    scenario: &PyScenario,
    traffic: &PyTraffic,
    model: &str,
    background: RoutesOrEngine<'_>,
    today: Option<RoutesOrEngine<'_>>,
    #[pyo3(from_py_with = arguments::penalty_per_change)] penalty_per_change: f64,
    #[pyo3(from_py_with = arguments::max_changes)] max_changes: Option<u64>,
    #[pyo3(from_py_with = arguments::frozen)] frozen: Vec<u32>,
    #[pyo3(from_py_with = arguments::max_lanes)] max_lanes: usize,
    #[pyo3(from_py_with = arguments::depth)] depth: usize,
    #[pyo3(from_py_with = arguments::islands)] islands: usize,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<(Py<PyOptimized>, Bound<'py, PyDict>)> {
    let fabric = &scenario.fabric();
    traffic.check_fits(py, fabric)?;
    let Some(model) = [Model::Packet, Model::Fluid].into_iter().find(|known| known.name() == model) else {
        return Err(errors::argument(py, format!("model: expected packet or fluid, found \"{model}\"")));
    };
    let began = Instant::now();
    let (mut start, _) = begin(py, fabric, &background, today.as_ref(), seed, threads)?;
    if start.lanes.as_ref().is_some_and(|lanes| usize::from(lanes.lanes()) > max_lanes) {
        let shared = &fabric.shared;
        let mended = optimizer::repaired(&shared.fabric, shared.structure(), shared.paths(), &start);
        let mended = mended.map_err(|e| errors::optimize(py, e.to_string()))?;
        start = Arc::new(Routes { lanes: None, ..mended });
    }
    let time_limit = left(time_limit, began);
    let asked = Asked::new(py, fabric, today.is_some(), None, (penalty_per_change, max_changes), &frozen)?;
    let (stage, shared) = (&scenario.stage, &fabric.shared);
    let goal = &traffic.shared.traffic;
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let ended = run_until(py, options, |control| {
        let work = Some(work.unwrap_or(4_000_000 + 20 * goal.total().entry_count() as u64));
        let change = asked.change(&start);
        let settings = &OptimizeOptions {
            seed,
            work,
            depth,
            islands: islands.max(1),
            change,
            ..OptimizeOptions::default()
        };
        let of = AskedOf {
            fabric: &shared.fabric,
            structure: shared.structure(),
            paths: shared.paths(),
            scene: &stage.scene,
            goal,
            start: &start,
            options: settings,
            model: Some(model),
            threads: threads.max(1),
        };
        let choice = choose(&of, control)?;
        let (structure, paths) = (shared.structure(), shared.paths());
        let passed = pass_mended(&shared.fabric, structure, paths, choice.routes().clone())?;
        let loads = routing::loads(&shared.fabric, &passed.routes, &goal.total())?;
        let bounds = shared.bounds(&passed.routes, &goal.total(), control, None);
        let loads = Judged::new(shared, &passed.routes, &goal.total(), loads, Ways::UpDown);
        Ok::<_, ComposeError>((choice, passed, loads, bounds))
    })?;
    let ended = ended.transpose().map_err(|e| stage.raise(py, e))?;
    let (choice, ..) = &ended.result;
    let told = choice_dict(py, choice)?;
    let (stopped, improvements) = (ended.stopped, ended.improvements);
    let (choice, passed, loads, bounds) = ended.result;
    let bounds = bounds.map_err(|e| errors::optimize(py, e))?;
    let search = Search { work: choice.work, changed: changed(&passed.routes, &start), ..Search::default() };
    let found = Found { passed, loads, bounds, search };
    let ended = crate::run::Ended { result: found, stopped, improvements };
    Ok((Found::into_python(ended, py, fabric)?, told))
}
