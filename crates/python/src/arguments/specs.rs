//! Fabrics and traffic as a caller has them: made already, or by a spec or a file's name.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors;
use crate::fabric::PyFabric;
use crate::traffic::PyTraffic;

/// A fabric, or what [`PyFabric::read`] takes.
#[derive(FromPyObject)]
pub enum FabricOrSpec<'py> {
    /// A fabric.
    #[pyo3(annotation = "Fabric")]
    Fabric(Bound<'py, PyFabric>),
    /// A spec, or a file.
    #[pyo3(annotation = "str")]
    Spec(PathBuf),
}

/// The argument `fabric`.
///
/// # Errors
/// `ArgumentError` for what is neither.
pub fn fabric<'py>(value: &Bound<'py, PyAny>) -> PyResult<FabricOrSpec<'py>> {
    of("fabric", "a Fabric, or a spec or file that Fabric.read takes", value)
}

/// The argument `traffic`.
///
/// # Errors
/// `ArgumentError` for what is neither.
pub fn traffic<'py>(value: &Bound<'py, PyAny>) -> PyResult<TrafficOrSpec<'py>> {
    of("traffic", "a Traffic, or a spec or file that Traffic.read takes", value)
}

fn of<'py, T>(name: &str, expected: &str, value: &Bound<'py, PyAny>) -> PyResult<T>
where
    T: for<'a> FromPyObject<'a, 'py>,
{
    value.extract::<T>().map_err(|_| match super::shown(value) {
        Ok(found) => errors::argument(value.py(), format!("{name}: expected {expected}, found {found}")),
        Err(error) => error,
    })
}

impl FabricOrSpec<'_> {
    /// The fabric.
    ///
    /// # Errors
    /// As [`PyFabric::read`].
    pub fn resolve(self, py: Python<'_>) -> PyResult<PyFabric> {
        match self {
            Self::Fabric(fabric) => Ok(PyFabric { shared: Arc::clone(&fabric.get().shared) }),
            Self::Spec(source) => PyFabric::read(py, source, None),
        }
    }
}

/// A traffic, or what [`PyTraffic::read`] takes.
#[derive(FromPyObject)]
pub enum TrafficOrSpec<'py> {
    /// A traffic.
    #[pyo3(annotation = "Traffic")]
    Traffic(Bound<'py, PyTraffic>),
    /// A spec, or a file.
    #[pyo3(annotation = "str")]
    Spec(PathBuf),
}

impl TrafficOrSpec<'_> {
    /// The traffic on a fabric.
    ///
    /// # Errors
    /// As [`PyTraffic::read`], or if it does not fit.
    pub fn resolve(self, py: Python<'_>, fabric: &PyFabric) -> PyResult<PyTraffic> {
        let traffic = match self {
            Self::Traffic(traffic) => PyTraffic { shared: Arc::clone(&traffic.get().shared) },
            Self::Spec(source) => {
                let on = Bound::new(py, PyFabric { shared: Arc::clone(&fabric.shared) })?;
                let read = PyTraffic::read(py, source, Some(&on), None, None)?;
                PyTraffic { shared: Arc::clone(&read.get().shared) }
            }
        };
        traffic.check_fits(py, fabric)?;
        Ok(traffic)
    }
}
