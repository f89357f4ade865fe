//! `netloom.Optimized`: routes made for a traffic, and how they were found.

use std::path::PathBuf;

use netloom_bounds::Bounds;
use netloom_model::{Improvement, Routes, StopReason};
use netloom_optimize::Because;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fabric::PyFabric;
use crate::loads::{Judged, PyLinkLoads};
use crate::routes::PyRoutes;
use crate::run::{Ended, stop_text};

/// Routes made for a traffic, and how good they are.
#[pyclass(frozen, name = "Optimized", module = "netloom._core")]
pub struct PyOptimized {
    routes: Py<PyRoutes>,
    loads: Py<PyLinkLoads>,
    stopped: Option<StopReason>,
    exhausted: bool,
    work: u64,
    changed: Option<u64>,
    because: Option<Because>,
    history: Vec<(f64, Improvement)>,
}

#[pymethods]
impl PyOptimized {
    /// The routes.
    #[getter]
    fn routes(&self, py: Python<'_>) -> Py<PyRoutes> {
        self.routes.clone_ref(py)
    }

    /// The loads of every link under `routes`, with bounds.
    #[getter]
    fn loads(&self, py: Python<'_>) -> Py<PyLinkLoads> {
        self.loads.clone_ref(py)
    }

    /// The argument for the lower bound of `loads`.
    #[getter]
    fn certificate<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.loads.bind(py).getattr("certificate")
    }

    /// Whether the largest load meets its lower bound.
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

    /// Entries that differ from the routes it began with.
    #[getter]
    fn changed_entries(&self) -> Option<u64> {
        self.changed
    }

    /// What was gained on the routes it began with: bound, tail, nothing; `None` where the method does not say (AFAR, one colouring).
    #[getter]
    fn changed_because(&self) -> Option<&'static str> {
        self.because.map(Because::name)
    }

    /// Every improvement: seconds since the call, work, `max_load` with host links,
    /// `max_load_between_switches` and how many links carry that.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        history_dicts(py, &self.history, self.loads.get().host_links_max())
    }

    fn __repr__(&self) -> String {
        let proven = if self.loads.get().proven_optimal() { ", proven optimal" } else { "" };
        format!("<netloom.Optimized: max {}{proven}>", self.loads.get().max())
    }

    /// Writes the routes as OpenSM's `file` engine reads them.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; it is replaced whole or not at all.
    ///
    /// Raises
    /// ------
    /// RoutingError, OSError
    ///     If no such file can hold them, or it cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        self.routes.get().write(py, path)
    }
}

/// What a search returned, before Python sees it.
pub struct Found {
    /// The routes.
    pub routes: Routes,
    /// Their loads.
    pub loads: Judged,
    /// What the loads are judged by.
    pub bounds: Bounds,
    /// Units of work done.
    pub work: u64,
    /// The work budget ended the search.
    pub exhausted: bool,
    /// Entries that differ from the routes it began with; none where the two have no such number.
    pub changed: Option<u64>,
    /// What was gained on those, where the method says so.
    pub because: Option<Because>,
}

impl Found {
    /// As Python sees it, with the end of the run it came from.
    ///
    /// # Errors
    /// If Python is out of memory.
    pub fn into_python(ended: Ended<Found>, py: Python<'_>, fabric: &PyFabric) -> PyResult<PyOptimized> {
        let Ended { result: found, stopped, improvements } = ended;
        let loads = PyLinkLoads::new(found.loads, found.bounds, stopped, &fabric.shared);
        Ok(PyOptimized {
            routes: Py::new(py, PyRoutes::new(found.routes, &fabric.shared))?,
            loads: Py::new(py, loads)?,
            stopped,
            exhausted: found.exhausted,
            work: found.work,
            changed: found.changed,
            because: found.because,
            history: falling(improvements),
        })
    }
}

/// A history as Python sees it; no load is below `floor`.
pub fn history_dicts<'py>(
    py: Python<'py>,
    history: &[(f64, Improvement)],
    floor: f64,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let dict = |(seconds, step): &(f64, Improvement)| {
        let dict = PyDict::new(py);
        dict.set_item("seconds", seconds)?;
        dict.set_item("work", step.work)?;
        dict.set_item("max_load", step.max_load.max(floor))?;
        dict.set_item("max_load_between_switches", step.max_load)?;
        dict.set_item("links_at_max", step.links_at_max)?;
        Ok(dict)
    };
    history.iter().map(dict).collect()
}

/// Only what was better than all before it: searches that ran side by side each report their own.
pub fn falling(improvements: Vec<(f64, Improvement)>) -> Vec<(f64, Improvement)> {
    let mut kept: Vec<(f64, Improvement)> = Vec::new();
    for (seconds, step) in improvements {
        let better = kept.last().is_none_or(|(_, last)| {
            let equal = step.max_load <= last.max_load * (1.0 + 1e-9);
            step.max_load < last.max_load * (1.0 - 1e-9) || (equal && step.links_at_max < last.links_at_max)
        });
        if better {
            kept.push((seconds, step));
        }
    }
    kept
}

/// Entries in which two tables of one fabric differ.
pub fn changed(routes: &Routes, before: &Routes) -> Option<u64> {
    let (new, old) = (routes.lft()?, before.lft()?);
    (new.dests() == old.dests() && new.switches() == old.switches()).then(|| new.changed_entries(old))
}
