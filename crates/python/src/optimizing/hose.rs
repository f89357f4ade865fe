//! `netloom.optimize_hose` and `netloom.hose_loads`: traffic of which only the sums by host are known.
//!
//! What is reported of routes is the exact worst load of every link over all matrices within the sums; no single
//! matrix need reach all of them.

use netloom_bounds::Outside;
use netloom_compose::{ComposeError, Measure, on_lanes::LANES, portfolio};
use netloom_model::{BoundClass, Fabric, Hose, Routes, StopReason, Traffic};
use netloom_optimize::{self as optimizer, OptimizeError, OptimizeOptions, OptimizedHose};
use netloom_routing::LinkLoads;
use numpy::PyArray1;
use pyo3::exceptions::{PyKeyboardInterrupt, PyTimeoutError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fabric::{PyFabric, Shared, link_dict};
use crate::loads::{levels, mixed_speeds, outside_dict};
use crate::optimizing::optimize::{Asked, begin, passed};
use crate::results::{PyOutcome, Search};
use crate::routes::{PyRoutes, RoutesOrEngine};
use crate::run::{Interrupt, Options, left, run_until};
use crate::sums::PyHose;
use crate::traffic::PyTraffic;
use crate::{arguments, arrays, errors};
use std::sync::Arc;
use std::time::Instant;

/// The exact worst load of every link over all matrices within a hose.
#[pyclass(frozen, weakref, name = "HoseLoads", module = "netloom._core")]
pub struct PyHoseLoads {
    pub(crate) worst: LinkLoads,
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl PyHoseLoads {
    /// The worst load of every directed link, by its number in `Fabric.link_table`; bytes over relative capacity.
    #[getter]
    fn per_link<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |w| &w.worst.load)
    }

    /// The largest worst load, host links included.
    #[getter]
    fn max(&self) -> f64 {
        self.worst.max()
    }

    /// Seconds that the fullest link needs for its bytes.
    #[getter]
    fn max_seconds(&self) -> f64 {
        self.worst.max() / self.fabric().reference_bandwidth_bytes_per_s()
    }

    /// Whether links have several speeds.
    #[getter]
    fn mixed_speeds(&self) -> bool {
        mixed_speeds(self.fabric())
    }

    /// The mean worst load of all links, bytes over relative capacity.
    #[getter]
    fn mean(&self) -> f64 {
        self.worst.mean(self.fabric())
    }

    /// The largest worst load of a link between switches, bytes over relative capacity.
    #[getter]
    fn max_between_switches(&self) -> f64 {
        self.worst.max_between_switches(self.fabric())
    }

    /// How many links carry the largest worst load.
    #[getter]
    fn links_at_max(&self) -> usize {
        self.worst.links_at_max()
    }

    /// The highest loads of links between switches, each with how many links carry it (within 1e-9).
    ///
    /// Parameters
    /// ----------
    /// count : int, default 4
    ///     How many loads.
    ///
    /// Returns
    /// -------
    /// list of (float, int)
    ///     Load and links, the highest first.
    #[pyo3(signature = (count = 4))]
    fn levels(&self, #[pyo3(from_py_with = arguments::count)] count: usize) -> Vec<(f64, usize)> {
        levels(self.fabric(), &self.worst, count)
    }

    /// The hottest links.
    ///
    /// Parameters
    /// ----------
    /// count : int, default 10
    ///     How many.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     from, from_port, to, to_port, load.
    #[pyo3(signature = (count = 10))]
    fn hottest<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::count)] count: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let links = self.worst.hottest(count).into_iter();
        links.map(|l| link_dict(py, self.fabric(), l, self.worst.load[l.index()])).collect()
    }

    fn __repr__(&self) -> String {
        format!("<netloom.HoseLoads: worst {}>", self.worst.max())
    }
}

impl PyHoseLoads {
    fn fabric(&self) -> &Fabric {
        &self.shared.fabric
    }
}

/// Routes for a hose, and how good they are in the worst case.
#[pyclass(frozen, extends = PyOutcome, name = "OptimizedHose", module = "netloom._core")]
pub struct PyOptimizedHose {
    pub(crate) worst: Py<PyHoseLoads>,
    pub(crate) worst_matrix: Py<PyTraffic>,
    /// The worst load between switches of the routes it began with.
    #[pyo3(get)]
    pub(crate) background_worst: f64,
    /// No routes in `bound_class` have a smaller worst load.
    #[pyo3(get)]
    pub(crate) lower_bound: f64,
    pub(crate) class: BoundClass,
    pub(crate) outside: Option<Outside>,
    /// Where `lower_bound` comes from, in words.
    #[pyo3(get)]
    pub(crate) bound_at: String,
    /// How often a worst traffic was added and the search went on.
    #[pyo3(get)]
    pub(crate) rounds: usize,
}

#[pymethods]
impl PyOptimizedHose {
    /// What the bound is a bound of: a key of `bound_classes`.
    #[getter]
    fn bound_class(&self) -> &'static str {
        self.class.name()
    }

    /// Why the bound makes no gap on this fabric: kind and text; `None` if it does.
    #[getter]
    fn outside_because<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        outside_dict(py, self.outside.as_ref())
    }

    /// The exact worst load of every link.
    #[getter]
    fn worst(&self, py: Python<'_>) -> Py<PyHoseLoads> {
        self.worst.clone_ref(py)
    }

    /// A matrix within the sums that loads the hottest link between switches to its worst.
    #[getter]
    fn worst_matrix(&self, py: Python<'_>) -> Py<PyTraffic> {
        self.worst_matrix.clone_ref(py)
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let (own, words) = (slf.get(), slf.as_super().get().words());
        format!(
            "<netloom.OptimizedHose: worst {}, lower bound {}, {words}>",
            own.worst.get().worst.max(),
            own.lower_bound
        )
    }
}

/// Routes whose worst load over all traffics with given sums is least.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// hose : Hose
///     What every host sends and receives in all.
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
/// depth : int, optional
///     Load levels below the largest whose number of links is minimised too; default 3, or 0 if the routes meet the bound already.
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
/// OptimizedHose
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or sums do not fit the fabric.
/// ArgumentError
///     If changes are limited without `today`.
///
/// References
/// ----------
/// Duffield et al., SIGCOMM 1999 (the hose model); `docs/methods/uncertain.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> hose = netloom.Hose.of(netloom.Traffic.read("shift:4", fabric))
/// >>> best = netloom.optimize_hose(fabric, hose)
/// >>> best.worst.max_between_switches >= best.lower_bound
/// True
#[pyfunction]
#[pyo3(signature = (fabric, hose, *, background = RoutesOrEngine::Engine("auto".into()), today = None,
                    penalty_per_change = 0.0, max_changes = None, frozen = Vec::new(), stays = None, max_lanes = LANES, depth = None, seed = 0, threads = 0,
                    work = None, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(fabric, hose, *, background='auto', today=None, penalty_per_change=0.0, max_changes=None, frozen=(), stays=None, max_lanes=8, depth=None, seed=0, threads=0, work=None, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize_hose(
    py: Python<'_>,
    fabric: &PyFabric,
    hose: &PyHose,
    background: RoutesOrEngine<'_>,
    today: Option<RoutesOrEngine<'_>>,
    #[pyo3(from_py_with = arguments::penalty_per_change)] penalty_per_change: f64,
    #[pyo3(from_py_with = arguments::max_changes)] max_changes: Option<u64>,
    #[pyo3(from_py_with = arguments::frozen)] frozen: Vec<u32>,
    stays: Option<&PyRoutes>,
    #[pyo3(from_py_with = arguments::max_lanes)] max_lanes: usize,
    #[pyo3(from_py_with = arguments::depth)] depth: Option<usize>,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<Py<PyOptimizedHose>> {
    check_fits(py, fabric, &hose.hose)?;
    let began = Instant::now();
    let (begin, engine) = begin(py, fabric, &background, today.as_ref(), seed, threads)?;
    let time_limit = left(time_limit, began);
    let asked = Asked::new(py, fabric, today.is_some(), stays, (penalty_per_change, max_changes), &frozen)?;
    let shared = &fabric.shared;
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let ended = run_until(py, options, |control| {
        let change = asked.change(&begin);
        let settings = OptimizeOptions {
            seed,
            work,
            depth: depth.unwrap_or(3),
            tail: depth.is_some(),
            change,
            ..OptimizeOptions::default()
        };
        let (structure, paths) = (shared.structure(), shared.paths());
        let fabric = &shared.fabric;
        let best =
            optimizer::optimize_hose(fabric, structure, paths, &hose.hose, &begin, &settings, control)?;
        let search = Search::of(&best.outcome, &begin);
        let OptimizedHose { outcome, mut worst, worst_matrix, background_worst, lower_bound, .. } = best;
        let worst_of = |routes: &Routes| optimizer::hose_loads(fabric, routes, &hose.hose, control);
        let measure = |routes: &Routes| Some(Measure::of(fabric, &worst_of(routes).ok()?));
        let found = portfolio::Found {
            routes: &outcome.routes,
            measure: Measure::of(fabric, &worst),
            proven: outcome.proven_optimal,
        };
        let held = asked.portfolio(shared, (&begin, engine), (seed, max_lanes, false), None);
        let best_of_all = match held.best(&found, &measure, control) {
            Ok(best) => best,
            Err(ComposeError::Optimize(error)) => return Err(error),
            Err(_) => unreachable!("only today's routes can be refused"),
        };
        let search = search.held(&best_of_all, found.measure.value(), &begin);
        let passed = match best_of_all.taken {
            None => passed(shared, outcome.routes),
            Some((_, passed)) => {
                worst = worst_of(&passed.routes)?;
                Ok(passed)
            }
        };
        let told = (worst, worst_matrix, background_worst, lower_bound);
        Ok((search, passed, told, (best.proof, best.bound_at, best.rounds)))
    })?;
    let reason = ended.stopped;
    let ended = ended.transpose().map_err(|e| failed(py, &e, reason))?;
    let (search, passed, (worst, worst_matrix, background_worst, lower_bound), bound) = ended.result;
    let ((proof, bound_at, rounds), stopped) = (bound, ended.stopped);
    let passed = passed.map_err(|e| errors::optimize(py, e))?;
    let worst_matrix = Traffic::from_matrix(worst_matrix);
    let worst_matrix = worst_matrix.with_hosts_hash(Some(fabric.fabric().hosts_hash()));
    let class = proof.class();
    let outside = shared.outside().filter(|_| class != BoundClass::AnyRoutes).cloned();
    let outcome = PyOutcome::new(py, passed, fabric, stopped, search)?;
    let found = PyOptimizedHose {
        worst: Py::new(py, PyHoseLoads { worst, shared: Arc::clone(shared) })?,
        worst_matrix: Py::new(py, PyTraffic::from(worst_matrix))?,
        background_worst,
        lower_bound,
        class,
        outside,
        bound_at,
        rounds,
    };
    Py::new(py, (found, outcome))
}

/// The exact worst load of every link over all traffics with given sums.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes or str
///     The routes, or an engine's name (`netloom.engines`).
/// hose : Hose
///     What every host sends and receives in all.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// HoseLoads
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or sums do not fit the fabric.
///
/// References
/// ----------
/// Duffield et al., SIGCOMM 1999; a maximum flow a link, `docs/methods/uncertain.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> hose = netloom.Hose.of(netloom.Traffic.read("shift:4", fabric))
/// >>> netloom.hose_loads(fabric, "ftree", hose).max_between_switches
/// 4.0
#[pyfunction]
#[pyo3(signature = (fabric, routes, hose, *, threads = 0))]
pub fn hose_loads(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: RoutesOrEngine<'_>,
    hose: &PyHose,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<PyHoseLoads> {
    check_fits(py, fabric, &hose.hose)?;
    let routes = routes.resolve(py, fabric, 0, threads)?;
    let shared = &fabric.shared;
    let ended = run_until(py, Options::threads(threads), |control| {
        optimizer::hose_loads(&shared.fabric, &routes, &hose.hose, control)
    })?;
    let worst = ended.result.map_err(|e| failed(py, &e, ended.stopped))?;
    Ok(PyHoseLoads { worst, shared: Arc::clone(shared) })
}

/// Why there is nothing; a stop as Python names its reason.
fn failed(py: Python<'_>, error: &OptimizeError, reason: Option<StopReason>) -> PyErr {
    match (error, reason) {
        (OptimizeError::Stopped, Some(StopReason::Interrupted)) => PyKeyboardInterrupt::new_err(()),
        (OptimizeError::Stopped, _) => PyTimeoutError::new_err(error.to_string()),
        _ => errors::optimize(py, error),
    }
}

/// That the sums belong to these hosts.
fn check_fits(py: Python<'_>, fabric: &PyFabric, hose: &Hose) -> PyResult<()> {
    let (sums, hosts) = (hose.sent.len(), fabric.fabric().host_count());
    if sums != hosts {
        return Err(errors::traffic(py, format!("the sums are of {sums} hosts, the fabric has {hosts}")));
    }
    if hose.hosts_hash.is_some_and(|hash| hash != fabric.fabric().hosts_hash()) {
        return Err(errors::traffic(py, "the sums belong to a fabric with other host names"));
    }
    Ok(())
}
