//! The shape of a fabric as a dictionary: what kind it is, with its groups or its dimensions.

use netloom_topology::{Dimension, Groups, Shape};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// The groups of a dragonfly or a megafly.
pub fn groups(shape: &Shape) -> Option<&Groups> {
    match shape {
        Shape::Dragonfly(groups) | Shape::Megafly(groups) => Some(groups),
        _ => None,
    }
}

/// `{kind, …}`: see `shape` in `docs/schemas/common.json`.
pub fn dict<'py>(py: Python<'py>, shape: &Shape) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("kind", shape.name())?;
    if let Some(groups) = groups(shape) {
        dict.set_item("groups", groups.count)?;
        dict.set_item("switches_a_group", groups.switches_a_group)?;
        dict.set_item("global_cables", least_and_most(py, groups.global_cables)?)?;
        if let Some((rows, columns)) = groups.grid.as_ref().map(|grid| grid.size) {
            let grid = PyDict::new(py);
            grid.set_item("rows", rows)?;
            grid.set_item("columns", columns)?;
            dict.set_item("grid", grid)?;
        }
        dict.set_item("arrangement", groups.arrangement.map(|arrangement| arrangement.name()))?;
        dict.set_item("deviations", &groups.deviations)?;
    }
    if let Some(places) = shape.coordinates() {
        let dimension = |d: &Dimension| {
            let dict = PyDict::new(py);
            dict.set_item("switches", d.size)?;
            dict.set_item("line", d.line.name())?;
            dict.set_item("cables", least_and_most(py, d.cables)?)?;
            Ok(dict)
        };
        let dimensions = places.dimensions.iter().map(dimension).collect::<PyResult<Vec<_>>>()?;
        dict.set_item("dimensions", dimensions)?;
        dict.set_item("deviations", &places.deviations)?;
    }
    Ok(dict)
}

/// `{least, most}`.
fn least_and_most<'py>(py: Python<'py>, (least, most): (u32, u32)) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("least", least)?;
    dict.set_item("most", most)?;
    Ok(dict)
}
