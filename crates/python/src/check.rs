//! `netloom.check` and the independent judge of certificates.

use std::sync::Arc;

use netloom_bounds as bounds;
use netloom_model::LinkId;
use netloom_verify::{self as verify, CheckReport, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::findings::checked;
use crate::loads::PyCertificate;
use crate::routes::PyRoutes;
use crate::run::{Options, run};
use crate::traffic::PyTraffic;

/// What `check` found.
#[pyclass(frozen, name = "CheckReport", module = "netloom._core")]
pub struct PyCheckReport {
    report: CheckReport,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyCheckReport {
    #[getter]
    fn ok(&self) -> bool {
        self.report.ok()
    }

    #[getter]
    fn pairs(&self) -> u64 {
        self.report.pairs
    }

    #[getter]
    fn unreachable_pairs(&self) -> u64 {
        self.report.unreachable_pairs
    }

    #[getter]
    fn unreachable_hosts(&self) -> u64 {
        self.report.unreachable_pairs - self.report.unreachable_management
    }

    #[getter]
    fn unreachable_management(&self) -> u64 {
        self.report.unreachable_management
    }

    #[getter]
    fn no_way_to_switch(&self) -> u64 {
        self.report.no_way_to_switch
    }

    #[getter]
    fn detours(&self) -> u64 {
        self.report.detours
    }

    #[getter]
    fn non_minimal_pairs(&self) -> u64 {
        self.report.non_minimal_pairs
    }

    #[getter]
    fn credit_loops(&self) -> u64 {
        self.report.credit_loops
    }

    #[getter]
    fn lanes(&self) -> u8 {
        self.report.lanes
    }

    /// Each with link (in words) and lane: a whole cycle of waits.
    #[getter]
    fn cycle<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let one = |&(link, lane): &(LinkId, u8)| {
            let dict = PyDict::new(py);
            dict.set_item("link", self.shared.fabric.describe_link(link))?;
            dict.set_item("lane", lane)?;
            Ok(dict)
        };
        self.report.cycle.iter().map(one).collect()
    }

    #[getter]
    fn missing_entries(&self) -> u64 {
        self.report.missing_entries
    }

    #[getter]
    fn invalid_entries(&self) -> u64 {
        self.report.invalid_entries
    }

    #[getter]
    fn up_down_violations(&self) -> u64 {
        self.report.up_down_violations
    }

    #[getter]
    fn shortest_turns(&self) -> u64 {
        self.report.shortest_turns
    }

    fn __repr__(&self) -> String {
        let word = if self.report.ok() { "ok" } else { "not ok" };
        format!("<netloom.CheckReport: {word}, {} pairs>", self.report.pairs)
    }

    /// Each with kind, text and class (`hosts`, `management`), the first few of every kind and class.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        checked(py, &self.report.findings)
    }
}

/// What the independent checker says of a certificate.
#[pyclass(frozen, name = "Verdict", module = "netloom._core")]
pub struct PyVerdict(Verdict);

#[pymethods]
impl PyVerdict {
    #[getter]
    fn ok(&self) -> bool {
        self.0.ok
    }

    #[getter]
    fn optimal(&self) -> bool {
        self.0.optimal
    }

    #[getter]
    fn max_load(&self) -> Option<f64> {
        self.0.max_load
    }

    #[getter]
    fn recomputed_bound(&self) -> f64 {
        self.0.recomputed_bound
    }

    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.reasons.clone()
    }
}

/// Reachability, loops, minimality, credit loops, missing and invalid entries.
#[pyfunction]
#[pyo3(signature = (fabric, routes, *, threads = 0))]
pub fn check(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: &PyRoutes,
    threads: usize,
) -> PyResult<PyCheckReport> {
    routes.check_fits(py, fabric)?;
    let shared = &fabric.shared;
    run(py, Options::threads(threads), |_| verify::check(&shared.fabric, shared.structure(), &routes.routes))
        .map(|report| PyCheckReport { report, shared: Arc::clone(shared) })
}

/// How many links between switches must carry `maximum` in any routes by destination that load none of them more;
/// the judge has checked why. 0 if nothing is shown, `None` if the time limit came before.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, maximum, *, threads = 0, time_limit = None))]
pub fn links_at_max_bound(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    maximum: f64,
    threads: usize,
    time_limit: Option<f64>,
) -> PyResult<Option<u64>> {
    traffic.check_fits(py, fabric)?;
    let shared = &fabric.shared;
    run(py, Options { threads, time_limit, ..Options::default() }, |control| {
        let (structure, total) = (shared.structure(), traffic.shared.total());
        let found =
            bounds::links_at_max(&shared.fabric, structure, shared.paths(), total, None, maximum, control)
                .map_err(|e| e.to_string())?;
        let judged = verify::verify_links_at_max(&shared.fabric, structure, None, total, &found, control);
        if control.stopped().is_some() { Ok(None) } else { judged.map(Some) }
    })?
    .map_err(|e| errors::optimize(py, e))
}

/// Recomputes a certificate's bound (and the loads of `routes`) from the traffic alone.
#[pyfunction]
#[pyo3(signature = (fabric, traffic, certificate, routes = None))]
pub fn verify_certificate(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    certificate: &PyCertificate,
    routes: Option<&PyRoutes>,
) -> PyResult<PyVerdict> {
    traffic.check_fits(py, fabric)?;
    if let Some(routes) = routes {
        routes.check_fits(py, fabric)?;
    }
    let shared = &fabric.shared;
    run(py, Options::default(), |_| {
        verify::verify_certificate(
            &shared.fabric,
            shared.structure(),
            routes.map(|r| r.routes.as_ref()),
            traffic.shared.total(),
            &certificate.certificate,
        )
    })
    .map(PyVerdict)
}
