//! `netloom.optimize` and `netloom.afar`.

use std::path::PathBuf;

use netloom_model::{Routes, StopReason};
use netloom_optimize::{self as optimizer, AfarOptions, OptimizeOptions};
use netloom_routing as routing;
use pyo3::prelude::*;

use crate::errors;
use crate::fabric::PyFabric;
use crate::loads::{Bounds, PyLinkLoads, both_bounds};
use crate::routes::{PyRoutes, RoutesOrEngine};
use crate::run::{Options, run_until, stop_text};
use crate::traffic::PyTraffic;

/// Routes made for a traffic, and how good they are.
#[pyclass(frozen, name = "Optimized", module = "netloom._core")]
pub struct PyOptimized {
    routes: Py<PyRoutes>,
    loads: Py<PyLinkLoads>,
    stopped: Option<StopReason>,
    exhausted: bool,
    work: u64,
}

#[pymethods]
impl PyOptimized {
    #[getter]
    fn routes(&self, py: Python<'_>) -> Py<PyRoutes> {
        self.routes.clone_ref(py)
    }

    #[getter]
    fn loads(&self, py: Python<'_>) -> Py<PyLinkLoads> {
        self.loads.clone_ref(py)
    }

    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.loads.bind(py).getattr("certificate")
    }

    #[getter]
    fn proven_optimal(&self) -> bool {
        self.loads.get().proven_optimal()
    }

    /// Why this is only the best so far; `None` if the search ended by itself.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        stop_text(self.stopped).or(self.exhausted.then_some("work"))
    }

    /// Whether the same call gives the same routes again: nothing but the work budget ended the search.
    #[getter]
    fn reproducible(&self) -> bool {
        self.stopped.is_none()
    }

    /// Units of work done: the reproducible budget.
    #[getter]
    fn work(&self) -> u64 {
        self.work
    }

    fn __repr__(&self) -> String {
        let proven = if self.loads.get().proven_optimal() { ", proven optimal" } else { "" };
        format!("<netloom.Optimized: max {}{proven}>", self.loads.get().max())
    }

    /// Writes the routes as OpenSM's `file` engine reads them.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.routes.get().write(py, path)
    }
}

/// What a search returned, before Python sees it.
struct Found {
    routes: Routes,
    work: u64,
    exhausted: bool,
    loads: routing::LinkLoads,
    bounds: Bounds,
}

impl Found {
    fn into_python(
        self,
        py: Python<'_>,
        fabric: &PyFabric,
        stopped: Option<StopReason>,
    ) -> PyResult<PyOptimized> {
        let loads = PyLinkLoads::new(self.loads, self.bounds, stopped, &fabric.shared);
        Ok(PyOptimized {
            routes: Py::new(py, PyRoutes::new(self.routes, &fabric.shared))?,
            loads: Py::new(py, loads)?,
            stopped,
            exhausted: self.exhausted,
            work: self.work,
        })
    }
}

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
    let (found, stopped) = run_until(py, options, |control| {
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
            loads: best.loads,
            routes: best.routes,
            work: best.work,
            exhausted: best.exhausted && !best.proven_optimal,
            bounds,
        })
    })?;
    found.map_err(|e| errors::optimize(py, e))?.into_python(py, fabric, stopped)
}

/// AFAR (Smith et al., SC18, Algorithm 1): move destinations off the hottest link.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, start = RoutesOrEngine::Engine("ftree".into()), *, max_load = None,
                    max_iterations = None, threads = 0, time_limit = None, progress = None),
       text_signature = "(fabric, traffic, start='ftree', *, max_load=None, max_iterations=None, threads=0, time_limit=None, progress=None)")]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn afar(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    start: RoutesOrEngine<'_>,
    max_load: Option<f64>,
    max_iterations: Option<u64>,
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
    let (found, stopped) = run_until(py, options, |control| {
        let (paths, total) = (shared.paths(), matrix.total());
        let best = optimizer::afar(&shared.fabric, paths, &start, total, &settings, control)
            .map_err(|e| e.to_string())?;
        let bounds = both_bounds(shared, &best.routes, total, control, None).map_err(|e| e.to_string())?;
        let loads = routing::loads(&shared.fabric, &best.routes, total).map_err(|e| e.to_string())?;
        Ok::<_, String>(Found {
            loads,
            routes: best.routes,
            work: best.iterations,
            exhausted: !best.stuck && best.iterations >= settings.max_iters,
            bounds,
        })
    })?;
    found.map_err(|e| errors::optimize(py, e))?.into_python(py, fabric, stopped)
}
