//! `netloom.LinkLoads`: loads with the bounds that judge them; `netloom.Certificate`.

use std::path::PathBuf;
use std::sync::Arc;

use netloom_bounds::{self as bounds, ArBound};
use netloom_formats as formats;
use netloom_model::{Certificate, Control, Csr, Fabric, Routes, StopReason};
use netloom_routing::{self as routing, LinkLoads};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::fabric::{PyFabric, Shared, link_dict};
use crate::routes::RoutesOrEngine;
use crate::run::{Options, run_until, stop_text};
use crate::traffic::PyTraffic;
use crate::{arrays, errors, io};

/// A lower bound on the maximum link load, with the argument it rests on.
#[pyclass(frozen, name = "Certificate", module = "netloom._core")]
pub struct PyCertificate {
    /// The certificate itself.
    pub certificate: Certificate,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyCertificate {
    /// Reads a certificate file.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, fabric: &PyFabric) -> PyResult<Self> {
        let data = io::read(py, &path)?;
        Self::parse(py, &data, fabric, &path.display().to_string())
    }

    /// Parses a certificate.
    #[staticmethod]
    #[pyo3(signature = (data, fabric, *, label = "<bytes>"))]
    fn parse(py: Python<'_>, data: &[u8], fabric: &PyFabric, label: &str) -> PyResult<Self> {
        let certificate =
            formats::read_certificate(data, label, fabric.fabric()).map_err(|e| errors::format(py, &e))?;
        Ok(Self { certificate, shared: Arc::clone(&fabric.shared) })
    }

    #[getter]
    fn claim(&self) -> f64 {
        self.certificate.claim
    }

    #[getter]
    fn place(&self) -> &str {
        &self.certificate.place
    }

    #[getter]
    fn kind(&self) -> &'static str {
        self.certificate.reason.kind()
    }

    /// The certificate as its file holds it.
    fn to_json(&self) -> String {
        formats::write_certificate(&self.shared.fabric, &self.certificate)
    }

    /// Writes the certificate.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        io::write(py, &path, self.to_json().as_bytes())
    }
}

/// Load of every directed link, in bytes at the speed of the fastest link, with bounds.
#[pyclass(frozen, name = "LinkLoads", module = "netloom._core")]
pub struct PyLinkLoads {
    loads: LinkLoads,
    ar: ArBound,
    lower: Certificate,
    stopped: Option<StopReason>,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyLinkLoads {
    #[getter]
    fn per_link<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |l| &l.loads.load)
    }

    /// Largest load, host links included.
    #[getter]
    pub fn max(&self) -> f64 {
        self.loads.max()
    }

    #[getter]
    fn mean(&self) -> f64 {
        self.loads.mean(&self.shared.fabric)
    }

    #[getter]
    fn max_between_switches(&self) -> f64 {
        self.loads.max_between_switches(&self.shared.fabric)
    }

    #[getter]
    fn links_at_max(&self) -> usize {
        self.loads.links_at_max()
    }

    #[getter]
    fn ar_bound(&self) -> f64 {
        self.ar.lower
    }

    #[getter]
    fn ar_bound_upper(&self) -> f64 {
        self.ar.upper
    }

    #[getter]
    fn ar_bound_exact(&self) -> bool {
        self.ar.exact
    }

    #[getter]
    fn ar_gap_percent(&self) -> f64 {
        gap_percent(self.loads.max(), self.ar.lower)
    }

    #[getter]
    fn lower_bound(&self) -> f64 {
        self.lower.claim
    }

    #[getter]
    fn lower_bound_gap_percent(&self) -> f64 {
        gap_percent(self.loads.max(), self.lower.claim)
    }

    #[getter]
    fn bound_at(&self) -> &str {
        &self.lower.place
    }

    /// Whether no admissible routing has a smaller maximum: the maximum meets the lower bound. Routes that
    /// are not minimal up*/down* may fall below it; that proves nothing.
    #[getter]
    pub fn proven_optimal(&self) -> bool {
        (self.loads.max() - self.lower.claim).abs() <= self.lower.claim * 1e-9
    }

    /// The highest loads of links between switches, each with how many links carry it (within 1e-9).
    #[pyo3(signature = (count = 4))]
    fn levels(&self, count: usize) -> Vec<(f64, usize)> {
        levels(&self.shared.fabric, &self.loads, count)
    }

    #[getter]
    fn certificate(&self) -> PyCertificate {
        PyCertificate { certificate: self.lower.clone(), shared: Arc::clone(&self.shared) }
    }

    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        stop_text(self.stopped)
    }

    /// The hottest links: from, from_port, to, to_port, load.
    #[pyo3(signature = (count = 10))]
    fn hottest<'py>(&self, py: Python<'py>, count: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let links = self.loads.hottest(count).into_iter();
        links.map(|l| link_dict(py, &self.shared.fabric, l, self.loads.load[l.index()])).collect()
    }

    fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        let fabric = PyFabric { shared: Arc::clone(&slf.get().shared) };
        slf.py().import("netloom.interop")?.call_method1("loads_to_arrow", (slf.clone(), fabric))
    }

    fn __repr__(&self) -> String {
        format!("<netloom.LinkLoads: max {}, lower bound {}>", self.loads.max(), self.lower.claim)
    }
}

/// The two bounds of a traffic on a fabric.
pub struct Bounds {
    /// Fractional splits.
    pub ar: ArBound,
    /// Destination-based tables.
    pub lower: Certificate,
}

/// Computes both bounds; stops early when asked. That everything from a leaf to a host takes one way, which
/// the second bound rests on, holds only for tables by destination with one address a sender can use.
///
/// # Errors
/// If the traffic cannot be routed at all.
pub fn both_bounds(
    shared: &Shared,
    routes: &Routes,
    traffic: &Csr,
    control: &Control,
    work: Option<u64>,
) -> Result<Bounds, bounds::BoundError> {
    let (fabric, structure, paths) = (&shared.fabric, shared.structure(), shared.paths());
    let ar = bounds::ar_bound(fabric, structure, paths, traffic, control, work)?;
    let lower = match one_way(routes) {
        true => bounds::tighten(fabric, structure, paths, traffic, ar.certificate.clone()),
        false => ar.certificate.clone(),
    };
    Ok(Bounds { ar, lower })
}

/// Whether everything from a leaf to a host takes one way.
fn one_way(routes: &Routes) -> bool {
    routes.lft().is_some() && routes.one_address()
}

impl PyLinkLoads {
    /// Loads with their bounds.
    pub fn new(loads: LinkLoads, bounds: Bounds, stopped: Option<StopReason>, shared: &Arc<Shared>) -> Self {
        Self { loads, ar: bounds.ar, lower: bounds.lower, stopped, shared: Arc::clone(shared) }
    }

    /// These bounds for other routes of the same traffic.
    pub fn bounds_for(&self, routes: &Routes) -> Bounds {
        let lower = if one_way(routes) { &self.lower } else { &self.ar.certificate };
        Bounds { ar: self.ar.clone(), lower: lower.clone() }
    }

    /// The largest load of a link to or from a host, which no routes change.
    pub fn host_links_max(&self) -> f64 {
        let fabric = &self.shared.fabric;
        let links = fabric.links().filter(|&l| !fabric.between_switches(l));
        links.map(|l| self.loads.load[l.index()]).fold(0.0, f64::max)
    }
}

/// The highest loads of links between switches, each with how many links carry it (within 1e-9).
pub fn levels(fabric: &Fabric, loads: &LinkLoads, count: usize) -> Vec<(f64, usize)> {
    let between = fabric.links().filter(|&l| fabric.between_switches(l)).map(|l| loads.load[l.index()]);
    let mut falling: Vec<f64> = between.filter(|&load| load > 0.0).collect();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let same = |a: &f64, b: &f64| *b >= *a * (1.0 - 1e-9);
    falling.chunk_by(same).take(count).map(|level| (level[0], level.len())).collect()
}

/// Loads of every link under `routes`, with the bounds, or with those that `bounds` has of the same traffic.
#[pyfunction]
#[pyo3(signature = (fabric, routes, traffic, *, bounds = None, threads = 0, work = None, time_limit = None))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn loads(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: RoutesOrEngine<'_>,
    traffic: &PyTraffic,
    bounds: Option<&PyLinkLoads>,
    threads: usize,
    work: Option<u64>,
    time_limit: Option<f64>,
) -> PyResult<PyLinkLoads> {
    traffic.check_fits(py, fabric)?;
    let routes = routes.resolve(py, fabric, 0, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, ..Options::default() };
    let ended = run_until(py, options, |control| {
        let loads = routing::loads(&shared.fabric, &routes, matrix.total());
        let bounds = match bounds {
            Some(known) => Ok(known.bounds_for(&routes)),
            None => both_bounds(shared, &routes, matrix.total(), control, work),
        };
        (loads, bounds)
    })?;
    let loads = ended.result.0.map_err(|e| errors::routing(py, e))?;
    let bounds = ended.result.1.map_err(|e| errors::routing(py, e))?;
    Ok(PyLinkLoads::new(loads, bounds, ended.stopped, shared))
}

/// How far `value` is above `bound`, in percent (0 if both are 0).
fn gap_percent(value: f64, bound: f64) -> f64 {
    if value == bound { 0.0 } else { (value - bound) / bound * 100.0 }
}
