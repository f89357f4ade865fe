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
#[pyclass(frozen, weakref, name = "Hose", module = "netloom._core")]
pub struct PyHose {
    /// The sums.
    pub hose: Hose,
}

#[pymethods]
impl PyHose {
    /// Reads `host,sent,received` (.csv, .csv.gz).
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// fabric : Fabric, optional
    ///     Whose hosts are named; without it hosts are numbers.
    ///
    /// Returns
    /// -------
    /// Hose
    ///
    /// Raises
    /// ------
    /// FormatError, OSError
    ///     If it is no such file, or names other hosts.
    #[staticmethod]
    #[pyo3(signature = (path, fabric = None))]
    fn read(py: Python<'_>, path: PathBuf, fabric: Option<&PyFabric>) -> PyResult<Self> {
        let label = path.display().to_string();
        let hose = formats::read_sums(&io::read(py, &path)?, &label, fabric.map(PyFabric::fabric));
        Ok(Self { hose: hose.map_err(|e| errors::format(py, &e))? })
    }

    /// The row and column sums of a traffic.
    ///
    /// Parameters
    /// ----------
    /// traffic : Traffic
    ///     The traffic.
    ///
    /// Returns
    /// -------
    /// Hose
    #[staticmethod]
    fn of(traffic: &PyTraffic) -> Self {
        Self { hose: Hose::of(traffic.shared.total(), traffic.shared.traffic.hosts_hash()) }
    }

    /// What every host sends in all, bytes.
    #[getter]
    fn sent<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |h| &h.hose.sent)
    }

    /// What every host receives in all, bytes.
    #[getter]
    fn received<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |h| &h.hose.received)
    }

    /// `host,sent,received`, as `read` reads it.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     Whose names are written.
    ///
    /// Returns
    /// -------
    /// bytes
    fn to_bytes<'py>(&self, py: Python<'py>, fabric: &PyFabric) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &formats::write_sums(fabric.fabric(), &self.hose))
    }

    /// Hash of the hosts that it is of; None if it is of no fabric.
    #[getter]
    fn hosts_hash(&self) -> Option<String> {
        self.hose.hosts_hash.map(|h| format!("{h:016x}"))
    }

    fn __repr__(&self) -> String {
        let sent: f64 = self.hose.sent.iter().sum();
        format!("<netloom.Hose: {} hosts, {sent} bytes>", self.hose.sent.len())
    }
}
