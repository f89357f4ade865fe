//! `netloom.optimize`, and what it is compared with: `netloom.afar`, `netloom.coloured`.

use netloom_model::{Control, Csr, Routes};
use netloom_optimize::{self as optimizer, AfarOptions, OptimizeOptions};
use netloom_routing as routing;
use pyo3::prelude::*;

use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::loads::{Bounds, PyLinkLoads, both_bounds};
use crate::optimized::{Found, PyOptimized, changed};
use crate::routes::RoutesOrEngine;
use crate::run::{Options, run_until};
use crate::traffic::PyTraffic;

/// Routes for a traffic: the search, stopped at a proven bound, a work budget, a time limit or Ctrl-C.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, *, background = RoutesOrEngine::Engine("auto".into()), seed = 0, threads = 0,
                    work = None, time_limit = None, progress = None),
       text_signature = "(fabric, traffic, *, background='auto', seed=0, threads=0, work=None, time_limit=None, progress=None)")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn optimize(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    background: RoutesOrEngine<'_>,
    seed: u64,
    threads: usize,
    work: Option<u64>,
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyOptimized> {
    traffic.check_fits(py, fabric)?;
    let background = background.resolve(py, fabric, seed, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, progress, anytime: true };
    // The door has made the pool already.
    let settings = OptimizeOptions { seed, threads: 0, work, ..OptimizeOptions::default() };
    let ended = run_until(py, options, |control| {
        let (structure, paths, total) = (shared.structure(), shared.paths(), matrix.total());
        let best =
            optimizer::optimize(&shared.fabric, structure, paths, total, &background, &settings, control)
                .map_err(|e| e.to_string())?;
        let ar = match best.ar {
            Some(ar) => ar,
            None => both_bounds(shared, &best.routes, total, control, None).map_err(|e| e.to_string())?.ar,
        };
        let bounds = Bounds { ar, lower: best.bound };
        Ok::<_, String>(Found {
            changed: changed(&best.routes, &background),
            loads: best.loads,
            routes: best.routes,
            work: best.work,
            exhausted: best.exhausted && !best.proven_optimal,
            bounds,
        })
    })?;
    Found::into_python(ended.transpose().map_err(|e| errors::optimize(py, e))?, py, fabric)
}

/// AFAR (Smith et al., SC18, Algorithm 1): move destinations off the hottest link. `bounds` has the bounds
/// already, of the same traffic.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, start = RoutesOrEngine::Engine("ftree".into()), *, max_load = None,
                    max_iterations = None, bounds = None, threads = 0, time_limit = None, progress = None),
       text_signature = "(fabric, traffic, start='ftree', *, max_load=None, max_iterations=None, bounds=None, threads=0, time_limit=None, progress=None)")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn afar(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    start: RoutesOrEngine<'_>,
    max_load: Option<f64>,
    max_iterations: Option<u64>,
    bounds: Option<&PyLinkLoads>,
    threads: usize,
    time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<PyOptimized> {
    traffic.check_fits(py, fabric)?;
    let start = start.resolve(py, fabric, 0, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, progress, anytime: true };
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
        let exhausted = !best.stuck && best.iterations >= settings.max_iters;
        Ok::<_, String>(Found { work: best.iterations, exhausted, ..found })
    })?;
    Found::into_python(ended.transpose().map_err(|e| errors::optimize(py, e))?, py, fabric)
}

/// Offline coloured routing (IBM Research Zurich): the traffic is coloured once, without search.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, *, background = RoutesOrEngine::Engine("auto".into()), seed = 0,
                    bounds = None, threads = 0),
       text_signature = "(fabric, traffic, *, background='auto', seed=0, bounds=None, threads=0)")]
pub fn coloured(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    background: RoutesOrEngine<'_>,
    seed: u64,
    bounds: Option<&PyLinkLoads>,
    threads: usize,
) -> PyResult<PyOptimized> {
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

/// Routes that a method without bounds of its own made from `before`.
fn made(
    shared: &Shared,
    routes: Routes,
    before: &Routes,
    traffic: &Csr,
    control: &Control,
    bounds: Option<&PyLinkLoads>,
) -> Result<Found, String> {
    let bounds = match bounds {
        Some(known) => known.bounds_for(&routes),
        None => both_bounds(shared, &routes, traffic, control, None).map_err(|e| e.to_string())?,
    };
    let loads = routing::loads(&shared.fabric, &routes, traffic).map_err(|e| e.to_string())?;
    let changed = changed(&routes, before);
    Ok(Found { routes, loads, bounds, work: 0, exhausted: false, changed })
}
