//! `netloom.mix` and `netloom.stages`: changing tables while packets run.

use netloom_model::{Lft, Routes};
use netloom_verify::{self as verify, MixReport};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::errors;
use crate::fabric::PyFabric;
use crate::findings::checked;
use crate::routes::PyRoutes;
use crate::run::{Options, run};

/// What mixes of two tables can do.
#[pyclass(frozen, weakref, name = "MixReport", module = "netloom._core")]
pub struct PyMixReport(pub(crate) MixReport);

#[pymethods]
impl PyMixReport {
    /// Whether every mix is safe.
    #[getter]
    fn ok(&self) -> bool {
        self.0.ok()
    }

    /// Entries that differ between the two tables.
    #[getter]
    fn changed_entries(&self) -> u64 {
        self.0.changed_entries
    }

    /// Destinations with such entries.
    #[getter]
    fn changed_destinations(&self) -> u64 {
        self.0.changed_destinations
    }

    /// Destinations for which some mix has a loop.
    #[getter]
    fn loops(&self) -> u64 {
        self.0.loops
    }

    /// Destinations for which some mix loses packets that the old tables deliver.
    #[getter]
    fn holes(&self) -> u64 {
        self.0.holes
    }

    /// Changed destinations that the old tables do not reach from everywhere.
    #[getter]
    fn lost_before(&self) -> u64 {
        self.0.lost_before
    }

    /// Groups of links that can wait in circles on the way, where neither table has such; where the new ones have lanes, of lanes of
    /// links, whatever the old ones have.
    #[getter]
    fn credit_loops(&self) -> u64 {
        self.0.credit_loops
    }

    /// Each with kind and text, the first few of every kind.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        checked(py, &self.0.findings)
    }

    fn __repr__(&self) -> String {
        let word = if self.0.ok() { "ok" } else { "not ok" };
        format!("<netloom.MixReport: {word}, {} entries differ>", self.0.changed_entries)
    }
}

/// What any mix of entries of two tables can do while switches change from one to the other.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// old, new : Routes
///     Tables with as many addresses a host. Lanes are those of `new`, for entries of both.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// MixReport
///
/// Raises
/// ------
/// RoutingError
///     If they are of another fabric, by source, or of different LMC.
///
/// References
/// ----------
/// `docs/methods/safe-changes.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> old, new = netloom.route("ftree", fabric), netloom.route("minhop", fabric)
/// >>> netloom.mix(fabric, old, new).ok
/// True
#[pyfunction]
#[pyo3(signature = (fabric, old, new, *, threads = 0))]
pub fn mix(
    py: Python<'_>,
    fabric: &PyFabric,
    old: &PyRoutes,
    new: &PyRoutes,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<PyMixReport> {
    let (lmc, from, to) = pair(py, fabric, old, new)?;
    let shared = &fabric.shared;
    let found = run(py, Options::threads(threads), |_| {
        let mut found = verify::mix(&shared.fabric, shared.structure(), lmc, from, to);
        if let Some(lanes) = &new.routes.lanes {
            let loops = verify::mixed_lane_loops(&shared.fabric, &old.routes, &new.routes, lanes);
            found.on_lanes(&shared.fabric, &loops);
        }
        found
    })?;
    Ok(PyMixReport(found))
}

/// The tables after every stage of a safe change from one routing to another.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// old, new : Routes
///     Tables with as many addresses a host.
/// most : int, default 8
///     Stages at most.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// (list of Routes, bool)
///     The tables after every stage, `new` last; and whether fewer stages are proven unsafe.
///
/// Raises
/// ------
/// RoutingError
///     If more than `most` are needed, or none are safe: with the destination and the loop.
///
/// References
/// ----------
/// `docs/methods/safe-changes.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> old, new = netloom.route("ftree", fabric), netloom.route("minhop", fabric)
/// >>> len(netloom.stages(fabric, old, new)[0])
/// 1
#[pyfunction]
#[pyo3(signature = (fabric, old, new, *, most = 8, threads = 0))]
pub fn stages(
    py: Python<'_>,
    fabric: &PyFabric,
    old: &PyRoutes,
    new: &PyRoutes,
    #[pyo3(from_py_with = arguments::most)] most: usize,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<(Vec<PyRoutes>, bool)> {
    let (lmc, from, to) = pair(py, fabric, old, new)?;
    let shared = &fabric.shared;
    let found = run(py, Options::threads(threads), |_| {
        verify::stages(&shared.fabric, shared.structure(), lmc, from, to, most)
    })?
    .map_err(|e| errors::routing(py, e.text))?;
    let routes = |lft| PyRoutes::new(Routes::by_dest(&shared.fabric, lmc, lft), shared);
    Ok((found.tables.into_iter().map(routes).collect(), found.fewest))
}

/// Routes with the entries of others for destinations that they do not reach from everywhere.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes, spare : Routes
///     The tables, and where missing ways are taken from.
///
/// Returns
/// -------
/// (Routes, int)
///     The tables, and how many such destinations there are.
///
/// Raises
/// ------
/// RoutingError
///     If they are of another fabric or of different LMC.
#[pyfunction]
pub fn patched(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: &PyRoutes,
    spare: &PyRoutes,
) -> PyResult<(PyRoutes, u64)> {
    let (lmc, from, to) = pair(py, fabric, routes, spare)?;
    let shared = &fabric.shared;
    let (lft, count) =
        run(py, Options::default(), |_| verify::patched(&shared.fabric, shared.structure(), lmc, from, to))?;
    Ok((PyRoutes::new(Routes::by_dest(&shared.fabric, lmc, lft), shared), count))
}

/// The tables of two routings of one fabric with as many addresses a host.
fn pair<'a>(
    py: Python<'_>,
    fabric: &PyFabric,
    old: &'a PyRoutes,
    new: &'a PyRoutes,
) -> PyResult<(u8, &'a Lft, &'a Lft)> {
    old.check_fits(py, fabric)?;
    new.check_fits(py, fabric)?;
    match (old.routes.lft(), new.routes.lft()) {
        (Some(from), Some(to)) if old.routes.lmc == new.routes.lmc => Ok((old.routes.lmc, from, to)),
        _ => Err(errors::routing(
            py,
            "expected two tables by destination with as many addresses a host, found others",
        )),
    }
}
