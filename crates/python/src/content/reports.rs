//! What judges said: reports of tables, of changes, and of proofs.

use std::sync::Arc;

use netloom_verify::CheckReport;
use pyo3::prelude::*;

use super::{Content, Loaded, Saved};
use crate::check::{PyCheckReport, PyVerdict};
use crate::fabric::PyFabric;
use crate::optimizing::mix::PyMixReport;

impl Content for PyCheckReport {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Self { report, shared } = slf.get();
        Saved::new(&**report, vec![shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = Arc::clone(&loaded.part::<PyFabric>(0)?.get().shared);
        let report: CheckReport = loaded.state()?;
        let lost = report.unreachable_management.checked_add(report.severed_pairs);
        let sound = report.cycle.iter().all(|(link, _)| link.index() < shared.fabric.link_count())
            && lost.is_some_and(|lost| lost <= report.unreachable_pairs);
        Py::new(py, Self { report: Arc::new(loaded.sound(report, sound)?), shared })
    }
}

impl Content for PyVerdict {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Saved::new(&slf.get().0, Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        Py::new(py, Self(loaded.state()?))
    }
}

impl Content for PyMixReport {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Saved::new(&slf.get().0, Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        Py::new(py, Self(loaded.state()?))
    }
}
