//! `netloom.Optimized`: routes made for a traffic, and how they were found.

use netloom_bounds::Bounds;
use netloom_compose::Passed;
use netloom_model::Improvement;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fabric::PyFabric;
use crate::loads::{Judged, PyLinkLoads};
use crate::results::{PyOutcome, Search};
use crate::run::Ended;

/// Routes made for a traffic, and how good they are.
#[pyclass(frozen, extends = PyOutcome, name = "Optimized", module = "netloom._core")]
pub struct PyOptimized {
    pub(crate) loads: Py<PyLinkLoads>,
    pub(crate) history: Vec<(f64, Improvement)>,
}

#[pymethods]
impl PyOptimized {
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

    /// Every improvement: seconds since the call, work, `max_load` with host links,
    /// `max_load_between_switches` and how many links carry that.
    #[getter]
    fn history<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        history_dicts(py, &self.history, self.loads.get().host_links_max())
    }

    fn __repr__(slf: &Bound<'_, Self>) -> String {
        format!("<netloom.Optimized: max {}, {}>", slf.get().loads.get().max(), slf.as_super().get().words())
    }
}

/// What a search returned, before Python sees it.
pub struct Found {
    /// The routes, through the gate.
    pub passed: Passed,
    /// Their loads.
    pub loads: Judged,
    /// What the loads are judged by.
    pub bounds: Bounds,
    /// How it went; whether they are proven optimal is of the loads and bounds.
    pub search: Search,
}

impl Found {
    /// As Python sees it, with the end of the run it came from.
    ///
    /// # Errors
    /// If Python is out of memory.
    pub fn into_python(ended: Ended<Found>, py: Python<'_>, fabric: &PyFabric) -> PyResult<Py<PyOptimized>> {
        let Ended { result: found, stopped, improvements } = ended;
        let loads = PyLinkLoads::new(found.loads, found.bounds, stopped, &fabric.shared);
        let search = Search { proven_optimal: loads.proven_optimal(), ..found.search };
        let outcome = PyOutcome::new(py, found.passed, fabric, stopped, search)?;
        let loads = Py::new(py, loads)?;
        Py::new(py, (PyOptimized { loads, history: falling(improvements) }, outcome))
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
