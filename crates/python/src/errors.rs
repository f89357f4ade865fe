//! Core errors as typed Python exceptions.
//!
//! The exception classes are Python's own (`netloom/errors.py`): `extends=PyException` does not compile
//! with the stable ABI. Each class is looked up once and cached.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};

use netloom_formats::{FormatError, WriteError};
use netloom_infer::InferError;

macro_rules! classes {
    ($($function:ident => $class:literal),* $(,)?) => {
        $(
            #[doc = concat!("`netloom.", $class, "` with this message.")]
            pub fn $function(py: Python<'_>, error: impl std::fmt::Display) -> PyErr {
                static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
                match class(py, &CLASS, $class) {
                    Ok(class) => PyErr::from_type(class.clone(), error.to_string()),
                    Err(missing) => missing,
                }
            }
        )*
    };
}

classes! {
    argument => "ArgumentError",
    counters => "CountersError",
    fabric => "FabricError",
    internal => "InternalError",
    optimize => "OptimizeError",
    place => "PlaceError",
    routing => "RoutingError",
    simulation => "SimulationError",
    spec => "SpecError",
    traffic => "TrafficError",
}

fn class<'py>(
    py: Python<'py>,
    cell: &'static PyOnceLock<Py<PyType>>,
    name: &str,
) -> PyResult<Bound<'py, PyType>> {
    let class = cell.get_or_try_init(py, || -> PyResult<Py<PyType>> {
        Ok(py.import("netloom.errors")?.getattr(name)?.cast_into::<PyType>()?.unbind())
    })?;
    Ok(class.bind(py).clone())
}

/// Why nothing was inferred.
pub fn infer(py: Python<'_>, error: &InferError) -> PyErr {
    match error {
        InferError::Routing(error) => routing(py, error),
        InferError::Mismatch(_) | InferError::TooManyPairs { .. } => counters(py, error),
    }
}

/// `netloom.FormatError` with its `path` and `line`.
pub fn format(py: Python<'_>, error: &FormatError) -> PyErr {
    format_parts(py, &error.to_string(), Some(&error.label), error.line)
}

/// `netloom.FormatError` for something that cannot be written in a format.
pub fn write(py: Python<'_>, error: &WriteError) -> PyErr {
    format_parts(py, &error.to_string(), None, None)
}

/// `netloom.FormatError` from a message, a path and a line.
pub fn format_parts(py: Python<'_>, message: &str, path: Option<&str>, line: Option<usize>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let make = || -> PyResult<PyErr> {
        let kwargs = PyDict::new(py);
        kwargs.set_item("path", path)?;
        kwargs.set_item("line", line)?;
        let value = class(py, &CLASS, "FormatError")?.call((message,), Some(&kwargs))?;
        Ok(PyErr::from_value(value))
    };
    make().unwrap_or_else(|missing| missing)
}

/// The `OSError` subclass that Python itself would raise, with the file's name.
pub fn os(error: &std::io::Error, path: &std::path::Path) -> PyErr {
    let message = os_text(error);
    // What is our own word has no number: the exception needs one to name its file.
    let refused = error.kind() == std::io::ErrorKind::PermissionDenied;
    let ours = if refused { rustix::io::Errno::ACCESS } else { rustix::io::Errno::IO };
    let code = error.raw_os_error().unwrap_or(ours.raw_os_error());
    PyOSError::new_err((code, message, path.to_path_buf()))
}

/// The same of a file that another one names: the exception's `place` says where.
pub fn os_at(py: Python<'_>, error: &std::io::Error, path: &std::path::Path, place: &FormatError) -> PyErr {
    let raised = os(error, path);
    match raised.value(py).setattr("place", place.to_string()) {
        Ok(()) => raised,
        Err(other) => other,
    }
}

/// What went wrong, without Rust's " (os error 2)", which says nothing to a user.
pub fn os_text(error: &std::io::Error) -> String {
    let message = error.to_string();
    message.split(" (os error").next().unwrap_or(&message).to_owned()
}
