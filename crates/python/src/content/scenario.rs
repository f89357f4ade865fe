//! Scenarios: the call that made one. The files that it names are read again, so they have to be where they were.

use pyo3::prelude::*;

use super::{Content, Loaded, Saved};
use crate::fabric::PyFabric;
use crate::simulating::scenario::{Made, PyScenario};
use crate::traffic::PyTraffic;

impl Content for PyScenario {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let (py, own) = (slf.py(), slf.get());
        let mut parts: Vec<Py<PyAny>> = own.of.iter().map(|part| part.clone_ref(py)).collect();
        if matches!(own.made, Made::On { .. } | Made::OfTraffic) {
            parts.push(own.stage.shared.object(py)?);
        }
        Saved::new(&own.made, parts)
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let made = match loaded.state()? {
            Made::Parsed { data, label, folder, overrides, name } => {
                Self::parse(py, &data, &label, folder, overrides, &name)?
            }
            Made::On { text, label, folder } => {
                Self::on(py, loaded.part::<PyFabric>(0)?.get(), &text, &label, folder)?
            }
            Made::OfTraffic => {
                let traffic = loaded.part::<PyTraffic>(0)?;
                Self::of_traffic(py, loaded.part::<PyFabric>(1)?.get(), traffic.bind(py))?
            }
            Made::Alone(job) => Self::alone(loaded.part::<Self>(0)?.bind(py), &job)?,
            Made::WithTraffic => {
                let traffic = loaded.part::<PyTraffic>(1)?;
                Self::with_traffic(loaded.part::<Self>(0)?.bind(py), traffic.bind(py))?
            }
        };
        Py::new(py, made)
    }
}
