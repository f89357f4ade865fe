//! `netloom.optimize`, how today's routes may change, several addresses a host (`netloom.optimize_lmc`), and what
//! is compared with it: `netloom.afar`, `netloom.coloured`.

use std::sync::Arc;
use std::time::Instant;

use netloom_bounds::Bounds;
use netloom_compose::{self as compose, Measure, Passed, Portfolio, on_lanes::LANES, portfolio};
use netloom_model::{Control, Csr, Routes, StopReason};
use netloom_optimize::{self as optimizer, AfarOptions, Change, OptimizeOptions, Stop};
use netloom_routing::{self as routing, Engine, LinkLoads};
use pyo3::prelude::*;

use crate::arguments;
use crate::arguments::{FabricOrSpec, TrafficOrSpec};
use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::loads::{Judged, PyLinkLoads};
use crate::optimizing::on_lanes::{self, Searched};
use crate::optimizing::optimized::{Found, PyOptimized};
use crate::results::{Search, changed};
use crate::routes::{PyRoutes, RoutesOrEngine};
use crate::run::{Ended, Interrupt, Options, left, run, run_until};
use crate::traffic::PyTraffic;

/// Routes for a traffic, with a lower bound that proves how good they are.
///
/// A local search over destination-based tables on shortest up*/down* ways; where the fabric is no tree, and lanes and `levels` may be
/// taken, first on shortest ways of any direction, with the lanes that these need. It ends at a
/// proven bound, at the work budget, at the time limit or by Ctrl-C. Routes that meet the bound already are returned as they are.
/// What it finds is held against every engine that is sound on the fabric, and against `today`: where one of these carries less,
/// its routes are returned (`taken_from`), with the lanes that they need (`routes.lanes`).
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     The fabric, or what `Fabric.read` takes.
/// traffic : Traffic or str
///     Bytes from host to host, placed on this fabric, or what `Traffic.read` takes.
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
/// stays : Routes, optional
///     Routes that stay as they are if nothing better is found: `today` before it was mended. Default: `today`.
/// max_lanes : int, default 8
///     Lanes that routes may need at most, 1 to 15. With 1, `with_lanes` tells of an engine's that are better and need some, at most 8.
/// levels : bool, default True
///     Take also those whose lanes need a service level for every pair of hosts (engine `layers`, the search on shortest ways).
/// depth : int, optional
///     Load levels below the largest whose number of links is minimised too; default 3, or 0 if the routes meet the bound already.
/// islands : int, default 1
///     Searches side by side with different seeds; the best is returned. `work` is that of all.
/// bounds : LinkLoads, optional
///     Loads of the same traffic under any routes, whose bounds are taken instead of computed again.
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
/// Optimized
///     `.routes`, `.loads`, `.certificate`, `.proven_optimal`.
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or traffic do not fit the fabric, or an engine cannot route it.
/// ArgumentError
///     If a limit of changes is given without `today`, or names a host that is not there.
///
/// References
/// ----------
/// `docs/methods/optimizer.md`; paper 001 for the AR bound.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
/// >>> best = netloom.optimize(fabric, netloom.Traffic.read("bisection", fabric))
/// >>> best.loads.max, best.proven_optimal
/// (1.0, True)
/// >>> netloom.optimize("two-level:leaves=8,hosts=4,spines=4", "shift:4").loads.max
/// 1.0
#[pyfunction]
#[pyo3(signature = (fabric, traffic, *, background = RoutesOrEngine::Engine("auto".into()), today = None,
                    penalty_per_change = 0.0, max_changes = None, frozen = Vec::new(), stays = None, max_lanes = LANES, levels = true, depth = None, islands = 1, bounds = None,
                    seed = 0, threads = 0, work = None, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(fabric, traffic, *, background='auto', today=None, penalty_per_change=0.0, max_changes=None, frozen=(), stays=None, max_lanes=8, levels=True, depth=None, islands=1, bounds=None, seed=0, threads=0, work=None, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::fabric)] fabric: FabricOrSpec<'_>,
    #[pyo3(from_py_with = arguments::traffic)] traffic: TrafficOrSpec<'_>,
    background: RoutesOrEngine<'_>,
    today: Option<RoutesOrEngine<'_>>,
    #[pyo3(from_py_with = arguments::penalty_per_change)] penalty_per_change: f64,
    #[pyo3(from_py_with = arguments::max_changes)] max_changes: Option<u64>,
    #[pyo3(from_py_with = arguments::frozen)] frozen: Vec<u32>,
    stays: Option<&PyRoutes>,
    #[pyo3(from_py_with = arguments::max_lanes)] max_lanes: usize,
    levels: bool,
    #[pyo3(from_py_with = arguments::depth)] depth: Option<usize>,
    #[pyo3(from_py_with = arguments::islands)] islands: usize,
    bounds: Option<&PyLinkLoads>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<Py<PyOptimized>> {
    let fabric = &fabric.resolve(py)?;
    let traffic = &traffic.resolve(py, fabric)?;
    let began = Instant::now();
    let (begin, engine) = begin(py, fabric, &background, today.as_ref(), seed, threads)?;
    let time_limit = left(time_limit, began);
    let asked = Asked::new(py, fabric, today.is_some(), stays, (penalty_per_change, max_changes), &frozen)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let interrupt = Interrupt::parse(py, on_interrupt)?;
    let settings = OptimizeOptions {
        seed,
        threads: 0, // the door has made the pool already
        work,
        depth: depth.unwrap_or(3),
        tail: depth.is_some(),
        islands: islands.max(1),
        ..OptimizeOptions::default()
    };
    let first = if max_lanes > 1 && levels && !asked.today && bounds.is_none() && begin.lmc == 0 {
        let progress = progress.as_ref().map(|progress| progress.clone_ref(py));
        let options = Options { threads, time_limit, progress, interrupt };
        on_lanes::search(py, shared, matrix.total(), &settings, max_lanes, options)?
    } else {
        None
    };
    let interrupted = first.as_ref().is_some_and(Searched::interrupted);
    let time_limit = if interrupted { Some(0.0) } else { left(time_limit, began) };
    let options = Options { threads, time_limit, progress, interrupt };
    let ended = run_until(py, options, |control| {
        let (structure, paths, total) = (shared.structure(), shared.paths(), matrix.total());
        let known = match &first {
            Some(_) => Some(shared.bounds(&begin, total, control, None).map_err(|e| e.to_string())?),
            None => bounds.map(|known| known.bounds().for_routes(&begin, &asked.frozen)),
        };
        let enough = first.as_ref().zip(known.as_ref()).is_some_and(|(first, known)| first.meets(known));
        let settings = OptimizeOptions {
            work: if enough { Some(0) } else { work },
            bound: known.as_ref().map(|known| known.lower.clone()),
            change: asked.change(&begin),
            ..settings.clone()
        };
        let best = optimizer::optimize(&shared.fabric, structure, paths, total, &begin, &settings, control)
            .map_err(|e| e.to_string())?;
        let bounds = match (best.ar, known) {
            (Some(ar), _) => Bounds::with(&shared.fabric, structure, total, ar, best.bound),
            (None, Some(known)) => Bounds { lower: best.bound, ..known },
            (None, None) => unreachable!("bounds are computed here or there"),
        };
        let search = Search::of(&best.outcome, &begin);
        // AFAR and one colouring are searches: none where there is no work.
        let searched = (work != Some(0)).then_some(total);
        let held = asked.portfolio(shared, (&begin, engine), (seed, max_lanes, levels), searched);
        let there =
            held_against(shared, total, (best.outcome.routes, best.loads), bounds, search, &held, control)?;
        match &first {
            Some(first) => Ok(first.or(shared, total, there, &begin)),
            None => Ok((there, false)),
        }
    })?;
    let Ended { result: (mut found, here), mut stopped, improvements } =
        ended.transpose().map_err(|e: String| errors::optimize(py, e))?;
    if interrupted {
        // What came after it had no time for that reason.
        stopped = Some(StopReason::Interrupted);
        found.search.stop = found.search.stop.and(stopped).map(Stop::from);
    }
    let ended = Ended { result: found, stopped, improvements };
    let ended = match first {
        Some(first) if here => first.ended(ended),
        _ => ended,
    };
    Found::into_python(ended, py, fabric)
}

/// Routes for a traffic with 2^lmc addresses a host, and which address every pair uses.
///
/// No bound of one entry a destination holds here: the certificate is of the wider class.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// lmc : int
///     0 to 7.
/// background : Routes or str, default "auto"
///     Routes whose ports stay where no traffic decides; `auto` is ftree on trees, else the engine that suits the fabric.
/// max_lanes : int, default 8
///     Lanes that routes may need at most, 1 to 15. With 1, `with_lanes` tells of an engine's that are better and need some, at most 8.
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
/// Optimized
///     Its routes hold the path of every pair (`Routes.write_paths`).
///
/// Raises
/// ------
/// OptimizeError
///     If there is no such LMC, or there are too few LIDs.
/// RoutingError, TrafficError
///     If routes or traffic do not fit the fabric.
///
/// References
/// ----------
/// `docs/methods/lmc.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> netloom.optimize_lmc(fabric, netloom.Traffic.read("shift:4", fabric), 1).routes.lmc
/// 1
#[pyfunction]
#[pyo3(signature = (fabric, traffic, lmc, *, background = RoutesOrEngine::Engine("auto".into()), max_lanes = LANES, seed = 0,
                    threads = 0, work = None, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(fabric, traffic, lmc, *, background='auto', max_lanes=8, seed=0, threads=0, work=None, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize_lmc(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    #[pyo3(from_py_with = arguments::lmc)] lmc: u8,
    background: RoutesOrEngine<'_>,
    #[pyo3(from_py_with = arguments::max_lanes)] max_lanes: usize,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<Py<PyOptimized>> {
    traffic.check_fits(py, fabric)?;
    let began = Instant::now();
    let (begin, engine) = begin(py, fabric, &background, None, seed, threads)?;
    let time_limit = left(time_limit, began);
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let ended = run_until(py, options, |control| {
        let (structure, paths, total) = (shared.structure(), shared.paths(), matrix.total());
        let settings = OptimizeOptions { seed, threads: 0, work, ..OptimizeOptions::default() };
        let best =
            optimizer::optimize_lmc(&shared.fabric, structure, paths, total, lmc, &begin, &settings, control)
                .map_err(|e| e.to_string())?;
        let ar = best.ar.expect("bounds are computed there");
        let bounds = Bounds::with(&shared.fabric, structure, total, ar, best.bound);
        let search = Search::of(&best.outcome, &begin);
        let asked = Asked::default();
        let held = asked.portfolio(shared, (&begin, engine), (seed, max_lanes, false), None);
        held_against(shared, total, (best.outcome.routes, best.loads), bounds, search, &held, control)
    })?;
    Found::into_python(ended.transpose().map_err(|e| errors::optimize(py, e))?, py, fabric)
}

/// Routes with every entry replaced that is missing or on no shortest up*/down* way: what a search begins with.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes
///     The routes.
/// dead : bool, default False
///     Towards hosts replace only entries from which packets do not arrive. What works stays, whatever its way; if that can deadlock
///     together with what is new, all other ways are replaced too.
///
/// Returns
/// -------
/// Routes
///
/// Raises
/// ------
/// RoutingError
///     If the routes are of another fabric.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> left, removed = fabric.damage(random_links=1, seed=1)
/// >>> netloom.check(left, netloom.repaired(left, netloom.route("minhop", left))).missing_entries
/// 0
#[pyfunction]
#[pyo3(signature = (fabric, routes, *, dead = false))]
pub fn repaired(py: Python<'_>, fabric: &PyFabric, routes: &PyRoutes, dead: bool) -> PyResult<PyRoutes> {
    routes.check_fits(py, fabric)?;
    let shared = &fabric.shared;
    let mended = run(py, Options::default(), |_| {
        let (structure, paths) = (shared.structure(), shared.paths());
        if dead {
            let revived = optimizer::revived(&shared.fabric, structure, paths, &routes.routes)
                .map_err(|e| e.to_string())?;
            if let Ok(passed) = passed(shared, revived) {
                return Ok(passed);
            }
        }
        let mended = optimizer::repaired(&shared.fabric, structure, paths, &routes.routes)
            .map_err(|e| e.to_string())?;
        passed(shared, mended)
    })?;
    Ok(PyRoutes::passed(mended.map_err(|e| errors::optimize(py, e))?, shared))
}

/// How many entries `repaired(dead=True)` replaces because packets do not arrive, before it looks whether the rest can deadlock.
#[pyfunction]
pub fn dead_entries(py: Python<'_>, fabric: &PyFabric, routes: &PyRoutes) -> PyResult<u64> {
    routes.check_fits(py, fabric)?;
    let shared = &fabric.shared;
    let revived = run(py, Options::default(), |_| {
        optimizer::revived(&shared.fabric, shared.structure(), shared.paths(), &routes.routes)
    })?
    .map_err(|e| errors::optimize(py, e.to_string()))?;
    Ok(crate::results::changed(&revived, &routes.routes).unwrap_or(0))
}

/// The routes that a search begins with, and the engine that made them.
///
/// # Errors
/// If an engine cannot make them, or they belong to another fabric.
pub fn begin(
    py: Python<'_>,
    fabric: &PyFabric,
    background: &RoutesOrEngine<'_>,
    today: Option<&RoutesOrEngine<'_>>,
    seed: u64,
    threads: usize,
) -> PyResult<(Arc<Routes>, Option<Engine>)> {
    today.unwrap_or(background).named(py, fabric, seed, threads)
}

/// What a search found, or what the portfolio has that is better.
fn held_against(
    shared: &Arc<Shared>,
    total: &Csr,
    (routes, loads): (Routes, LinkLoads),
    bounds: Bounds,
    search: Search,
    portfolio: &Portfolio,
    control: &Control,
) -> Result<Found, String> {
    let fabric = &shared.fabric;
    let measure = |routes: &Routes| Some(Measure::of(fabric, &routing::loads(fabric, routes, total).ok()?));
    let found = portfolio::Found {
        routes: &routes,
        measure: Measure::of(fabric, &loads),
        proven: loads.max() <= bounds.lower.claim * (1.0 + TOLERANCE),
    };
    let best = portfolio.best(&found, &measure, control).map_err(|e| e.to_string())?;
    let search = search.held(&best, found.measure.value(), portfolio.began);
    let (passed, loads, bounds) = match best.taken {
        None => (passed(shared, routes)?, loads, bounds),
        Some((_, passed)) => {
            let loads = routing::loads(fabric, &passed.routes, total).map_err(|e| e.to_string())?;
            let bounds = bounds.for_routes(&passed.routes, &[]);
            (passed, loads, bounds)
        }
    };
    let loads = Judged::new(shared, &passed.routes, total, loads, bounds.ways());
    Ok(Found { loads, passed, bounds, search })
}

/// Part by which a load may be above a bound that it meets, for rounding.
const TOLERANCE: f64 = 1e-9;

/// How today's routes may change.
#[derive(Default)]
pub struct Asked {
    today: bool,
    /// Routes that may stay as they are; none where that are those to begin with.
    stays: Option<Arc<Routes>>,
    penalty: f64,
    most: Option<u64>,
    frozen: Vec<bool>,
}

impl Asked {
    /// What may change: a penalty in bytes of the maximum load an entry, so many entries at most, none towards
    /// the hosts in `frozen`.
    ///
    /// # Errors
    /// `ArgumentError` for a host that is not there, or limits without today's routes.
    pub fn new(
        py: Python<'_>,
        fabric: &PyFabric,
        today: bool,
        stays: Option<&PyRoutes>,
        (penalty, most): (f64, Option<u64>),
        frozen: &[u32],
    ) -> PyResult<Self> {
        if let Some(stays) = stays {
            stays.check_fits(py, fabric)?;
        }
        let hosts = fabric.fabric().host_count();
        if !today && (penalty > 0.0 || most.is_some() || !frozen.is_empty() || stays.is_some()) {
            return Err(errors::argument(
                py,
                "penalty_per_change, max_changes, frozen and stays need today's routes",
            ));
        }
        let mut flags = vec![false; if frozen.is_empty() { 0 } else { hosts }];
        for &host in frozen {
            *flags.get_mut(host as usize).ok_or_else(|| {
                errors::argument(py, format!("frozen: {host}: expected hosts below {hosts}"))
            })? = true;
        }
        let stays = stays.map(|routes| Arc::clone(&routes.routes));
        Ok(Self { today, stays, penalty, most, frozen: flags })
    }

    /// What a search that began with some routes is held against.
    pub fn portfolio<'a>(
        &'a self,
        shared: &'a Shared,
        (began, engine): (&'a Routes, Option<Engine>),
        (seed, max_lanes, levels): (u64, usize, bool),
        matrix: Option<&'a Csr>,
    ) -> Portfolio<'a> {
        Portfolio {
            fabric: &shared.fabric,
            structure: shared.structure(),
            paths: shared.paths(),
            began,
            engine,
            today: self.today.then(|| self.stays.as_deref().unwrap_or(began)),
            change: self.change(began),
            matrix,
            others: shared.other_shortest(),
            max_lanes,
            levels,
            seed,
        }
    }

    /// As the optimiser takes it.
    pub fn change<'a>(&'a self, from: &'a Routes) -> Option<Change<'a>> {
        self.today.then_some(Change { from, penalty: self.penalty, most: self.most, frozen: &self.frozen })
    }
}

/// AFAR: moves destinations off the hottest link, again and again.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// start : Routes or str, default "ftree"
///     Routes to begin with.
/// max_load : float, optional
///     Enough: ends where no link between switches carries more, bytes.
/// max_iterations : int, optional
///     Moves at most.
/// bounds : LinkLoads, optional
///     Loads of the same traffic under any routes, whose bounds are taken instead of computed again.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds of wall time; what is known by then is returned, and `stopped` says so.
/// progress : callable, optional
///     Called as `progress(done, all)` now and then; an exception that it raises ends the call.
/// on_interrupt : {"raise", "return"}, default "raise"
///     What Ctrl-C does: it raises `KeyboardInterrupt`, or what was found by then is returned and says so.
///
/// Returns
/// -------
/// Optimized
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If the routes or the traffic do not fit the fabric.
///
/// References
/// ----------
/// Smith, Cromey, Lowenthal, Domke, Jain, Thiagarajan, Bhatele, SC 2018, Algorithm 1.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> traffic = netloom.Traffic.read("shift:4", fabric)
/// >>> netloom.afar(fabric, traffic).loads.max <= netloom.loads(fabric, "ftree", traffic).max
/// True
#[pyfunction]
#[pyo3(signature = (fabric, traffic, start = RoutesOrEngine::Engine("ftree".into()), *, max_load = None,
                    max_iterations = None, bounds = None, threads = 0, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(fabric, traffic, start='ftree', *, max_load=None, max_iterations=None, bounds=None, threads=0, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn afar(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    start: RoutesOrEngine<'_>,
    #[pyo3(from_py_with = arguments::max_load)] max_load: Option<f64>,
    #[pyo3(from_py_with = arguments::max_iterations)] max_iterations: Option<u64>,
    bounds: Option<&PyLinkLoads>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<Py<PyOptimized>> {
    traffic.check_fits(py, fabric)?;
    let start = start.resolve(py, fabric, 0, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let default = AfarOptions::default();
    let settings = AfarOptions {
        max_load: max_load.unwrap_or(default.max_load),
        max_iters: max_iterations.unwrap_or(default.max_iters),
    };
    let ended = run_until(py, options, |control| {
        let best =
            optimizer::afar(&shared.fabric, shared.paths(), &start, matrix.total(), &settings, control)
                .map_err(|e| e.to_string())?;
        let found = made(shared, best.routes, &start, matrix.total(), control, bounds)?;
        let spent = !best.stuck && best.iterations >= settings.max_iters;
        let search = Search { work: best.iterations, stop: spent.then_some(Stop::Work), ..found.search };
        Ok::<_, String>(Found { search, ..found })
    })?;
    Found::into_python(ended.transpose().map_err(|e| errors::optimize(py, e))?, py, fabric)
}

/// Coloured routes: each phase's pairs are coloured once, a way a colour, without search.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// background : Routes or str, default "auto"
///     Routes whose ports stay where no traffic decides; `auto` is ftree on trees, else the engine that suits the fabric.
/// seed : int, default 0
///     Seed of random choices.
/// bounds : LinkLoads, optional
///     Loads of the same traffic under any routes, whose bounds are taken instead of computed again.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// Optimized
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or traffic do not fit the fabric.
///
/// References
/// ----------
/// Paper 002; König, 1916.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=4")
/// >>> netloom.coloured(fabric, netloom.Traffic.read("shift:4", fabric)).loads.max
/// 1.0
#[pyfunction]
#[pyo3(signature = (fabric, traffic, *, background = RoutesOrEngine::Engine("auto".into()), seed = 0,
                    bounds = None, threads = 0),
       text_signature = "(fabric, traffic, *, background='auto', seed=0, bounds=None, threads=0)")]
pub fn coloured(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    background: RoutesOrEngine<'_>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    bounds: Option<&PyLinkLoads>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<Py<PyOptimized>> {
    traffic.check_fits(py, fabric)?;
    let background = background.resolve(py, fabric, seed, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let ended = run_until(py, Options::threads(threads), |control| {
        let (structure, paths, total) = (shared.structure(), shared.paths(), matrix.total());
        let routes = optimizer::coloured(&shared.fabric, structure, paths, total, &background, seed)
            .map_err(|e| e.to_string())?;
        made(shared, routes, &background, total, control, bounds)
    })?;
    Found::into_python(ended.transpose().map_err(|e| errors::optimize(py, e))?, py, fabric)
}

/// Routes that may be handed out.
///
/// # Errors
/// If they can deadlock, in words.
pub fn passed(shared: &Shared, routes: Routes) -> Result<Passed, String> {
    compose::pass(&shared.fabric, shared.structure(), routes).map_err(|e| e.to_string())
}

/// Routes that a method without bounds of its own made from `before`; where that left what can deadlock, mended.
fn made(
    shared: &Shared,
    routes: Routes,
    before: &Routes,
    traffic: &Csr,
    control: &Control,
    bounds: Option<&PyLinkLoads>,
) -> Result<Found, String> {
    let passed = compose::pass_mended(&shared.fabric, shared.structure(), shared.paths(), routes)
        .map_err(|e| e.to_string())?;
    let routes = &passed.routes;
    let bounds = match bounds {
        Some(known) => known.bounds().for_routes(routes, &[]),
        None => shared.bounds(routes, traffic, control, None).map_err(|e| e.to_string())?,
    };
    let loads = routing::loads(&shared.fabric, routes, traffic).map_err(|e| e.to_string())?;
    let changed = changed(routes, before);
    let loads = Judged::new(shared, routes, traffic, loads, bounds.ways());
    let search = Search { changed, ..Search::default() };
    Ok(Found { passed, loads, bounds, search })
}
