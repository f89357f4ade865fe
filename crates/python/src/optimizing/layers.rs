//! `netloom.optimize_layers`: several matrices over one routing, phases of a run or scenarios of what may come.

use std::time::Instant;

use netloom_bounds::Bounds;
use netloom_compose::{Measure, on_lanes::LANES, portfolio};
use netloom_model::{BoundClass, Routes, Ways};
use netloom_optimize::{self as optimizer, Combine, Combined, Layer, OptimizeOptions, OptimizedLayers};
use netloom_routing::{self as routing, LinkLoads};
use pyo3::prelude::*;

use crate::arguments;
use crate::errors;
use crate::fabric::PyFabric;
use crate::loads::{Judged, PyLinkLoads};
use crate::optimizing::optimize::{Asked, begin, passed};
use crate::optimizing::optimized::{falling, history_dicts};
use crate::results::{PyOutcome, Search};
use crate::routes::{PyRoutes, RoutesOrEngine};
use crate::run::{Ended, Interrupt, Options, left, run_until};
use crate::traffic::PyTraffic;

/// Routes made for several matrices, and how good they are for each.
#[pyclass(frozen, extends = PyOutcome, name = "OptimizedLayers", module = "netloom._core")]
pub struct PyOptimizedLayers {
    pub(crate) layers: Vec<(String, f64, Py<PyLinkLoads>)>,
    pub(crate) objective: f64,
    pub(crate) objective_bound: f64,
    pub(crate) class: BoundClass,
    pub(crate) history: Vec<(f64, netloom_model::Improvement)>,
    pub(crate) combined: Combined,
}

#[pymethods]
impl PyOptimizedLayers {
    /// Name, weight and loads of every matrix, in the order given.
    #[getter]
    fn layers(&self, py: Python<'_>) -> Vec<(String, f64, Py<PyLinkLoads>)> {
        self.layers.iter().map(|(name, weight, loads)| (name.clone(), *weight, loads.clone_ref(py))).collect()
    }

    /// What was minimised: bytes, or for gaps a ratio of at least 1.
    #[getter]
    fn objective(&self) -> f64 {
        self.objective
    }

    /// No tables have a smaller objective.
    #[getter]
    fn objective_bound(&self) -> f64 {
        self.objective_bound
    }

    /// What that is a bound of: the narrowest class of the matrices' bounds.
    #[getter]
    fn bound_class(&self) -> &'static str {
        self.class.name()
    }

    /// Every improvement; `max_load` is the objective.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, pyo3::types::PyDict>>> {
        history_dicts(py, &self.history, 0.0)
    }

    /// What other routes' largest loads come to by the same objective.
    ///
    /// Parameters
    /// ----------
    /// max_loads : sequence of float
    ///     One a layer, in the order of `layers`.
    ///
    /// Returns
    /// -------
    /// float
    ///
    /// Raises
    /// ------
    /// ArgumentError
    ///     If there are more or fewer than layers.
    fn value_of(&self, py: Python<'_>, max_loads: Vec<f64>) -> PyResult<f64> {
        if let Some(at) = max_loads.iter().position(|load| !(load.is_finite() && *load >= 0.0)) {
            let found = max_loads[at];
            let message = format!("max_loads[{at}]: expected bytes, not negative, found {found:?}");
            return Err(errors::argument(py, message));
        }
        self.combined.value(&max_loads).ok_or_else(|| {
            let (expected, found) = (self.layers.len(), max_loads.len());
            errors::argument(py, format!("max_loads: expected {expected}, one a layer, found {found}"))
        })
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        let (own, words) = (slf.get(), slf.as_super().get().words());
        format!(
            "<netloom.OptimizedLayers: {} layers, objective {}, {words}>",
            own.layers.len(),
            own.objective
        )
    }
}

/// Routes for several traffics at once: phases, or what may come.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// layers : sequence of (str, Traffic, float)
///     Name, traffic and weight of each; weights are above 0.
/// objective : {"sum", "worst", "worst-gap", "mean-gap"}, default "sum"
///     What is minimised: the weighted sum of the largest loads, the largest of them, or the largest or mean ratio
///     of a load to its bound.
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
/// OptimizedLayers
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or traffics do not fit the fabric.
/// OptimizeError
///     If there is no layer.
/// ArgumentError
///     If there is no such objective, or changes are limited without `today`.
///
/// References
/// ----------
/// `docs/methods/uncertain.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> phases = [(f"shift:{k}", netloom.Traffic.read(f"shift:{k}", fabric), 1.0) for k in (4, 8)]
/// >>> netloom.optimize_layers(fabric, phases, "worst").objective
/// 2.0
#[pyfunction]
#[pyo3(signature = (fabric, layers, objective = "sum", *, background = RoutesOrEngine::Engine("auto".into()), today = None,
                    penalty_per_change = 0.0, max_changes = None, frozen = Vec::new(), stays = None, max_lanes = LANES, depth = None, seed = 0, threads = 0,
                    work = None, time_limit = None, progress = None, on_interrupt = "raise"),
       text_signature = "(fabric, layers, objective='sum', *, background='auto', today=None, penalty_per_change=0.0, max_changes=None, frozen=(), stays=None, max_lanes=8, depth=None, seed=0, threads=0, work=None, time_limit=None, progress=None, on_interrupt='raise')")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize_layers(
    py: Python<'_>,
    fabric: &PyFabric,
    layers: Vec<(String, Bound<'_, PyTraffic>, f64)>,
    objective: &str,
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
) -> PyResult<Py<PyOptimizedLayers>> {
    let combine = combine(py, objective)?;
    for (name, traffic, weight) in &layers {
        traffic.get().check_fits(py, fabric)?;
        // So far apart that sums and products of weights and bytes stay finite.
        if !(1e-100..=1e100).contains(weight) {
            return Err(errors::argument(
                py,
                format!("layer \"{name}\": expected a weight of 1e-100 to 1e100, found {weight}"),
            ));
        }
    }
    let began = Instant::now();
    let (begin, engine) = begin(py, fabric, &background, today.as_ref(), seed, threads)?;
    let time_limit = left(time_limit, began);
    let asked = Asked::new(py, fabric, today.is_some(), stays, (penalty_per_change, max_changes), &frozen)?;
    let shared = &fabric.shared;
    let matrices: Vec<_> =
        layers.iter().map(|(name, traffic, weight)| (name, traffic.get().shared.clone(), *weight)).collect();
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let ended = run_until(py, options, |control| {
        let layers: Vec<Layer> = matrices
            .iter()
            .map(|(name, traffic, weight)| Layer {
                name: (*name).clone(),
                matrix: traffic.total(),
                weight: *weight,
            })
            .collect();
        let change = asked.change(&begin);
        let settings = OptimizeOptions {
            seed,
            threads: 0,
            work,
            depth: depth.unwrap_or(3),
            tail: depth.is_some(),
            change,
            ..OptimizeOptions::default()
        };
        let (structure, paths) = (shared.structure(), shared.paths());
        let fabric = &shared.fabric;
        let best = optimizer::optimize_layers(
            fabric, structure, paths, &layers, combine, &begin, &settings, control,
        )
        .map_err(|e| e.to_string())?;
        let OptimizedLayers { outcome, layers: mut results, objective, objective_bound, combined } = best;
        let each = |routes: &Routes| -> Option<Vec<LinkLoads>> {
            layers.iter().map(|layer| routing::loads(fabric, routes, layer.matrix).ok()).collect()
        };
        let value =
            |loads: &[LinkLoads]| combined.value(&loads.iter().map(LinkLoads::max).collect::<Vec<_>>());
        let measure = |routes: &Routes| Some(Measure([value(&each(routes)?)?, 0.0, 0.0]));
        let found = portfolio::Found {
            routes: &outcome.routes,
            measure: Measure([objective, 0.0, 0.0]),
            proven: outcome.proven_optimal,
        };
        let held = asked.portfolio(shared, (&begin, engine), (seed, max_lanes, false), None);
        let best = held.best(&found, &measure, control).map_err(|e| e.to_string())?;
        let search = Search::of(&outcome, &begin).held(&best, found.measure.value(), &begin);
        let (passed, objective) = match best.taken {
            None => (passed(shared, outcome.routes)?, objective),
            Some((_, passed)) => {
                let loads = each(&passed.routes).expect("measured before");
                let objective = value(&loads).expect("one a layer");
                results.iter_mut().zip(loads).for_each(|(result, loads)| result.loads = loads);
                (passed, objective)
            }
        };
        Ok::<_, String>((search, passed, results, (objective, objective_bound, combined)))
    })?;
    let Ended { result: (search, passed, layers, minimised), stopped, improvements } =
        ended.transpose().map_err(|e| errors::optimize(py, e))?;
    let mut class = BoundClass::AnyRoutes;
    let layers = layers.into_iter().zip(&matrices).map(|(layer, (_, traffic, _))| {
        let (fabric, structure) = (&shared.fabric, shared.structure());
        let bounds = Bounds::with(fabric, structure, traffic.total(), layer.ar, layer.bound);
        let judged = Judged::new(shared, &passed.routes, traffic.total(), layer.loads, Ways::UpDown);
        let loads = PyLinkLoads::new(judged, bounds, stopped, shared);
        class = class.max(loads.bounds().class());
        Ok((layer.name, layer.weight, Py::new(py, loads)?))
    });
    let layers = layers.collect::<PyResult<_>>()?;
    let (objective, objective_bound, combined) = minimised;
    let outcome = PyOutcome::new(py, passed, fabric, stopped, search)?;
    let found = PyOptimizedLayers {
        layers,
        class,
        objective,
        objective_bound,
        history: falling(improvements),
        combined,
    };
    Py::new(py, (found, outcome))
}

fn combine(py: Python<'_>, objective: &str) -> PyResult<Combine> {
    Ok(match objective {
        "sum" => Combine::Sum,
        "worst" => Combine::Worst,
        "worst-gap" => Combine::WorstGap,
        "mean-gap" => Combine::MeanGap,
        other => {
            let text = format!("objective: expected sum, worst, worst-gap or mean-gap, found \"{other}\"");
            return Err(errors::argument(py, text));
        }
    })
}
