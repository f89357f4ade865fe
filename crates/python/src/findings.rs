//! Findings as Python has them: `{"kind": ..., "text": ...}`. How bad a kind is and whom it concerns is added by
//! `netloom.findings`, the one place that knows.

use std::borrow::Cow;

use netloom_verify::Finding;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// One finding as a dict.
pub fn finding<'py>(py: Python<'py>, kind: &str, text: &str) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", kind)?;
    dict.set_item("text", text)?;
    Ok(dict)
}

/// Findings as a list of dicts.
pub fn findings<'py, 'a>(
    py: Python<'py>,
    found: impl IntoIterator<Item = (&'a str, Cow<'a, str>)>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    found.into_iter().map(|(kind, text)| finding(py, kind, &text)).collect()
}

/// What a check found, as Python has it.
pub fn checked<'py>(py: Python<'py>, found: &[Finding]) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |f: &Finding| {
        let dict = finding(py, f.kind.name(), &f.text)?;
        dict.set_item("class", if f.management { "management" } else { "hosts" })?;
        Ok(dict)
    };
    found.iter().map(one).collect()
}
