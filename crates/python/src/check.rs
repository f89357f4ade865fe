//! `netloom.check` and the independent judge of certificates.

use std::sync::Arc;

use netloom_bounds as bounds;
use netloom_model::{Fabric, LinkId};
use netloom_verify::{self as verify, CheckReport, Verdict};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::findings::checked;
use crate::loads::PyCertificate;
use crate::routes::PyRoutes;
use crate::run::{Options, run};
use crate::traffic::PyTraffic;

/// What `check` found.
#[pyclass(frozen, weakref, name = "CheckReport", module = "netloom._core")]
pub struct PyCheckReport {
    pub(crate) report: Arc<CheckReport>,
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl PyCheckReport {
    /// Whether nothing was found that other tables would do better: no unreachable pair, credit loop, missing or invalid entry and,
    /// except on a dragonfly, no way that is longer than the shortest.
    #[getter]
    fn ok(&self) -> bool {
        let by_groups = self.shared.structure().shape.groups().is_some();
        let non_minimal_pairs = if by_groups { self.report.detours } else { self.report.non_minimal_pairs };
        CheckReport { non_minimal_pairs, ..(*self.report).clone() }.ok()
    }

    /// Ordered pairs of hosts and addresses that were followed.
    #[getter]
    fn pairs(&self) -> u64 {
        self.report.pairs
    }

    /// Pairs of a host and an address that it does not reach: hosts' and management's.
    #[getter]
    fn unreachable_pairs(&self) -> u64 {
        self.report.unreachable_pairs
    }

    /// Unreachable pairs of two hosts.
    #[getter]
    fn unreachable_hosts(&self) -> u64 {
        self.report.unreachable_pairs - self.report.unreachable_management
    }

    /// Unreachable pairs of two hosts that working cables join: other routes reach them.
    #[getter]
    fn holes(&self) -> u64 {
        self.report.holes()
    }

    /// Unreachable pairs of a host and a switch's own LID.
    #[getter]
    fn unreachable_management(&self) -> u64 {
        self.report.unreachable_management
    }

    /// Unreachable pairs of a host and a switch to which no up*/down* way leads: ordinary engines leave them out.
    #[getter]
    fn no_way_to_switch(&self) -> u64 {
        self.report.no_way_to_switch
    }

    /// Pairs among `non_minimal_pairs` for which no up*/down* way is shorter.
    #[getter]
    fn detours(&self) -> u64 {
        self.report.detours
    }

    /// Pairs whose way is longer than the shortest in the fabric.
    #[getter]
    fn non_minimal_pairs(&self) -> u64 {
        self.report.non_minimal_pairs
    }

    /// Groups of (link, lane) that wait for each other's credits in circles; 0 means no deadlock.
    #[getter]
    fn credit_loops(&self) -> u64 {
        self.report.credit_loops
    }

    /// Such groups with packets to switches' own LIDs, where pairs have levels that keep hosts' apart.
    #[getter]
    fn switch_credit_loops(&self) -> u64 {
        self.report.switch_credit_loops
    }

    /// Lanes that were told apart: 1 where links alone have no cycle, or there are no lanes.
    #[getter]
    fn lanes(&self) -> u8 {
        self.report.lanes
    }

    /// Each with link (in words) and lane: a whole cycle of waits.
    #[getter]
    fn cycle<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        cycle_of(py, &self.shared.fabric, &self.report.cycle)
    }

    /// Entries that no table has, of switches and addresses that need one.
    #[getter]
    fn missing_entries(&self) -> u64 {
        self.report.missing_entries
    }

    /// Entries that name a port without a working cable.
    #[getter]
    fn invalid_entries(&self) -> u64 {
        self.report.invalid_entries
    }

    /// Pairs whose way is longer than the shortest, and goes up, or sideways, after it went down.
    #[getter]
    fn up_down_violations(&self) -> u64 {
        self.report.up_down_violations
    }

    /// Pairs whose way is shortest but not up*/down*: no fault.
    #[getter]
    fn shortest_turns(&self) -> u64 {
        self.report.shortest_turns
    }

    fn __repr__(&self) -> String {
        let word = if self.ok() { "ok" } else { "not ok" };
        format!("<netloom.CheckReport: {word}, {} pairs>", self.report.pairs)
    }

    /// Each with kind, text and class (`hosts`, `management`), the first few of every kind and class.
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        checked(py, &self.report.findings)
    }
}

/// Each link of a cycle, in words, and its lane.
pub(crate) fn cycle_of<'py>(
    py: Python<'py>,
    fabric: &Fabric,
    cycle: &[(LinkId, u8)],
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let one = |&(link, lane): &(LinkId, u8)| {
        let dict = PyDict::new(py);
        dict.set_item("link", fabric.describe_link(link))?;
        dict.set_item("lane", lane)?;
        Ok(dict)
    };
    cycle.iter().map(one).collect()
}

/// What the independent checker says of a certificate.
#[pyclass(frozen, weakref, name = "Verdict", module = "netloom._core")]
pub struct PyVerdict(pub(crate) Verdict);

#[pymethods]
impl PyVerdict {
    fn __repr__(&self) -> String {
        let Verdict { ok, optimal, recomputed_bound, .. } = &self.0;
        let word = if *ok { "holds" } else { "not proven" };
        let optimal = if *optimal { ", routes optimal" } else { "" };
        format!("<netloom.Verdict: bound {recomputed_bound} {word}{optimal}>")
    }

    /// Whether the certificate holds, and the routes are what it says of them.
    #[getter]
    fn ok(&self) -> bool {
        self.0.ok
    }

    /// Whether the routes meet the bound.
    #[getter]
    fn optimal(&self) -> bool {
        self.0.optimal
    }

    /// The largest load of the routes, recomputed; None without routes.
    #[getter]
    fn max_load(&self) -> Option<f64> {
        self.0.max_load
    }

    /// The bound that the argument gives.
    #[getter]
    fn recomputed_bound(&self) -> f64 {
        self.0.recomputed_bound
    }

    /// What does not hold, in words; nothing if all does.
    #[getter]
    fn reasons(&self) -> Vec<String> {
        self.0.reasons.clone()
    }
}

/// Checks routes: reachability, loops, minimality, credit loops, missing and invalid entries.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes
///     The routes.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// CheckReport
///
/// Raises
/// ------
/// RoutingError
///     If the routes are of another fabric.
///
/// References
/// ----------
/// Dally and Seitz, 1987: no cycle of (link, lane) means no deadlock.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> report = netloom.check(fabric, netloom.route("ftree", fabric))
/// >>> report.ok, report.credit_loops
/// (True, 0)
#[pyfunction]
#[pyo3(signature = (fabric, routes, *, threads = 0))]
pub fn check(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: &PyRoutes,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<PyCheckReport> {
    routes.check_fits(py, fabric)?;
    let shared = &fabric.shared;
    let report = match routes.report_on(fabric) {
        Some(report) => Arc::clone(report),
        None => Arc::new(run(py, Options::threads(threads), |_| {
            verify::check(&shared.fabric, shared.structure(), &routes.routes)
        })?),
    };
    Ok(PyCheckReport { report, shared: Arc::clone(shared) })
}

/// How many links between switches must carry `maximum` in any routes by destination that load none more.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// maximum : float
///     The largest load, bytes.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds.
///
/// Returns
/// -------
/// int or None
///     The number, which a separate check has confirmed; 0 if nothing is shown; None if the time limit came first.
///
/// Raises
/// ------
/// TrafficError
///     If the traffic is of other hosts.
///
/// References
/// ----------
/// `docs/methods/bounds.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> traffic = netloom.Traffic.read("shift:4", fabric)
/// >>> netloom.links_at_max_bound(fabric, traffic, netloom.loads(fabric, "ftree", traffic).max) >= 0
/// True
#[pyfunction]
#[pyo3(signature = (fabric, traffic, maximum, *, threads = 0, time_limit = None))]
pub fn links_at_max_bound(
    py: Python<'_>,
    fabric: &PyFabric,
    traffic: &PyTraffic,
    #[pyo3(from_py_with = arguments::maximum)] maximum: f64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
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

/// Recomputes a certificate's bound, and the loads of routes, from the traffic alone.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// certificate : Certificate
///     The argument.
/// routes : Routes, optional
///     Routes that are said to meet it.
///
/// Returns
/// -------
/// Verdict
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If the routes or the traffic are of another fabric.
///
/// References
/// ----------
/// `docs/methods/bounds.md`: the judge shares no code with what makes certificates.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> traffic = netloom.Traffic.read("shift:4", fabric)
/// >>> best = netloom.optimize(fabric, traffic)
/// >>> netloom.verify_certificate(fabric, traffic, best.certificate, best.routes).ok
/// True
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
