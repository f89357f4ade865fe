//! `netloom.Hose`: what every host sends and receives in all.

use std::path::PathBuf;

use netloom_formats as formats;
use netloom_model::Hose;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fabric::PyFabric;
use crate::traffic::PyTraffic;
use crate::{arrays, errors, io};

/// What every host sends and receives in all, whoever talks to whom. Immutable.
#[pyclass(frozen, name = "Hose", module = "netloom._core")]
pub struct PyHose {
    /// The sums.
    pub hose: Hose,
}

#[pymethods]
impl PyHose {
    /// Reads `host,sent,received` (.csv, .csv.gz).
    #[staticmethod]
    #[pyo3(signature = (path, fabric = None))]
    fn read(py: Python<'_>, path: PathBuf, fabric: Option<&PyFabric>) -> PyResult<Self> {
        let label = path.display().to_string();
        let hose = formats::read_sums(&io::read(py, &path)?, &label, fabric.map(PyFabric::fabric));
        Ok(Self { hose: hose.map_err(|e| errors::format(py, &e))? })
    }

    /// The row and column sums of traffic.
    #[staticmethod]
    fn of(traffic: &PyTraffic) -> Self {
        Self { hose: Hose::of(traffic.shared.total(), traffic.shared.traffic.hosts_hash()) }
    }

    #[getter]
    fn sent<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |h| &h.hose.sent)
    }

    #[getter]
    fn received<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |h| &h.hose.received)
    }

    /// `host,sent,received`, as `read` reads it.
    fn to_bytes<'py>(&self, py: Python<'py>, fabric: &PyFabric) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &formats::write_sums(fabric.fabric(), &self.hose))
    }

    #[getter]
    fn hosts_hash(&self) -> Option<String> {
        self.hose.hosts_hash.map(|h| format!("{h:016x}"))
    }
}
