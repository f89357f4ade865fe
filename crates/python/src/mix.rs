//! `netloom.mix` and `netloom.stages`: changing tables while packets run.

use std::sync::Arc;

use netloom_model::{Lft, Routes};
use netloom_verify::{self as verify, MixReport};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::fabric::PyFabric;
use crate::routes::PyRoutes;
use crate::run::{Options, run};

/// What mixes of two tables can do.
#[pyclass(frozen, name = "MixReport", module = "netloom._core")]
pub struct PyMixReport(MixReport);

#[pymethods]
impl PyMixReport {
    #[getter]
    fn ok(&self) -> bool {
        self.0.ok()
    }

    #[getter]
    fn changed_entries(&self) -> u64 {
        self.0.changed_entries
    }

    #[getter]
    fn changed_destinations(&self) -> u64 {
        self.0.changed_destinations
    }

    #[getter]
    fn loops(&self) -> u64 {
        self.0.loops
    }

    #[getter]
    fn holes(&self) -> u64 {
        self.0.holes
    }

    #[getter]
    fn lost_before(&self) -> u64 {
        self.0.lost_before
    }

    #[getter]
    fn credit_loops(&self) -> u64 {
        self.0.credit_loops
    }

    /// Each with kind and text, the first few of every kind.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        crate::check::findings(py, &self.0.findings)
    }

    fn __repr__(&self) -> String {
        let word = if self.0.ok() { "ok" } else { "not ok" };
        format!("<netloom.MixReport: {word}, {} entries differ>", self.0.changed_entries)
    }
}

/// What any mix of entries of two tables can do while switches change from one to the other.
#[pyfunction]
#[pyo3(signature = (fabric, old, new, *, threads = 0))]
pub fn mix(
    py: Python<'_>,
    fabric: &PyFabric,
    old: &PyRoutes,
    new: &PyRoutes,
    threads: usize,
) -> PyResult<PyMixReport> {
    let (lmc, from, to) = pair(py, fabric, old, new)?;
    let shared = &fabric.shared;
    run(py, Options::threads(threads), |_| verify::mix(&shared.fabric, shared.structure(), lmc, from, to))
        .map(PyMixReport)
}

/// The tables after every stage of a safe change, and whether fewer stages are proven unsafe.
#[pyfunction]
#[pyo3(signature = (fabric, old, new, *, most = 8, threads = 0))]
pub fn stages(
    py: Python<'_>,
    fabric: &PyFabric,
    old: &PyRoutes,
    new: &PyRoutes,
    most: usize,
    threads: usize,
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

/// `routes` with all entries for the destinations that they do not reach from everywhere taken from `spare`, and how
/// many destinations these are.
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

/// `new` with the entries of `old` for the switches' own addresses where it has none and these lead over a working
/// cable.
pub fn with_switches_of(new: &PyRoutes, old: &Lft) -> PyRoutes {
    let routes = &new.routes;
    let lft = routes.lft().expect("by destination, as the caller has checked");
    let (fabric, space) = (&new.shared.fabric, routes.dests(&new.shared.fabric));
    let mut filled = lft.clone();
    for s in fabric.switches() {
        for t in fabric.switches() {
            let dest = space.switch(t);
            let leads = |&port: &u16| match port {
                0 => s == t,
                port => fabric.link_at(s, port).is_some_and(|l| fabric.alive(l)),
            };
            if lft.get(s, dest).is_none() {
                filled.set(s, dest, old.get(s, dest).filter(leads));
            }
        }
    }
    PyRoutes::new(
        Routes { table: netloom_model::Table::ByDest(filled), ..Routes::clone(routes) },
        &Arc::clone(&new.shared),
    )
}
