//! `netloom.LinkLoads`: loads with the bounds that judge them; `netloom.Certificate`.

use std::path::PathBuf;
use std::sync::Arc;

use netloom_bounds::{self as bounds, BoundError, Bounds, Outside, Standing};
use netloom_formats as formats;
use netloom_model::{BoundClass, Certificate, Control, Csr, Fabric, LinkId, Routes, StopReason, Ways};
use netloom_routing::{self as routing, LinkLoads};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments::{FabricOrSpec, TrafficOrSpec};
use crate::fabric::{PyFabric, Shared, link_dict};
use crate::routes::{PyRoutes, RoutesOrEngine};
use crate::run::{Options, run, run_until, stop_text, stop_words};
use crate::traffic::PyTraffic;
use crate::{arguments, arrays, errors, io};

/// Most queue pairs of two hosts, and most draws, that are looked at.
const MOST_PAIRS: usize = 1 << 16;
const MOST_DRAWS: usize = 10_000;

/// A lower bound on the maximum link load, with the argument it rests on.
#[pyclass(frozen, weakref, name = "Certificate", module = "netloom._core")]
pub struct PyCertificate {
    /// The certificate itself.
    pub certificate: Certificate,
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl PyCertificate {
    fn __repr__(&self) -> String {
        let Certificate { claim, place, .. } = &self.certificate;
        format!("<netloom.Certificate: at least {claim}, {}, {place}>", self.certificate.reason.kind())
    }

    /// Reads a certificate file.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     JSON, as `write` writes it.
    /// fabric : Fabric
    ///     The fabric that it belongs to.
    ///
    /// Returns
    /// -------
    /// Certificate
    ///
    /// Raises
    /// ------
    /// FormatError, OSError
    ///     If it is no certificate, of another fabric, or cannot be read.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, fabric: &PyFabric) -> PyResult<Self> {
        let data = io::read(py, &path)?;
        Self::parse(py, &data, fabric, &path.display().to_string())
    }

    /// Parses a certificate.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     JSON, as `to_json` gives it.
    /// fabric : Fabric
    ///     The fabric that it belongs to.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    ///
    /// Returns
    /// -------
    /// Certificate
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     If it is no certificate, or of another fabric or another order of its switches.
    #[staticmethod]
    #[pyo3(signature = (data, fabric, *, label = "<bytes>"))]
    fn parse(py: Python<'_>, data: &[u8], fabric: &PyFabric, label: &str) -> PyResult<Self> {
        let order = fabric.shared.structure().own_order();
        let certificate = formats::read_certificate(data, label, fabric.fabric(), order.as_deref())
            .map_err(|e| errors::format(py, &e))?;
        Ok(Self { certificate, shared: Arc::clone(&fabric.shared) })
    }

    /// The bound that it claims, bytes over relative capacity.
    #[getter]
    fn claim(&self) -> f64 {
        self.certificate.claim
    }

    /// Where the bound comes from, in words: `host0000 up`.
    #[getter]
    fn place(&self) -> &str {
        &self.certificate.place
    }

    /// The kind of argument: `dual`, `cut`, `host`, …; `docs/methods/bounds.md` lists them.
    #[getter]
    fn kind(&self) -> &'static str {
        self.certificate.reason.kind()
    }

    /// What the argument is a bound of: a key of `bound_classes`.
    #[getter]
    fn bound_class(&self) -> &'static str {
        self.certificate.class().name()
    }

    /// The certificate as its file holds it.
    ///
    /// Returns
    /// -------
    /// str
    fn to_json(&self) -> String {
        let order = self.shared.structure().own_order();
        formats::write_certificate(&self.shared.fabric, &self.certificate, order.as_deref())
    }

    /// Writes the certificate as JSON.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; it is replaced whole or not at all.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If it cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        io::write(py, &path, self.to_json().as_bytes())
    }
}

/// Load of every directed link, in bytes at the speed of the fastest link, with bounds.
#[pyclass(frozen, weakref, name = "LinkLoads", module = "netloom._core")]
pub struct PyLinkLoads {
    pub(crate) loads: LinkLoads,
    pub(crate) bounds: Bounds,
    pub(crate) standing: Standing,
    pub(crate) stopped: Option<StopReason>,
    pub(crate) shared: Arc<Shared>,
}

#[pymethods]
impl PyLinkLoads {
    /// The load of every directed link, by its number in `Fabric.link_table`; bytes over relative capacity.
    #[getter]
    fn per_link<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |l| &l.loads.load)
    }

    /// Largest load, host links included.
    #[getter]
    pub fn max(&self) -> f64 {
        self.loads.max()
    }

    /// The mean load of all links, bytes over relative capacity.
    #[getter]
    fn mean(&self) -> f64 {
        self.loads.mean(&self.shared.fabric)
    }

    /// The largest load of a link between switches, bytes over relative capacity.
    #[getter]
    fn max_between_switches(&self) -> f64 {
        self.loads.max_between_switches(&self.shared.fabric)
    }

    /// How many links carry the largest load.
    #[getter]
    fn links_at_max(&self) -> usize {
        self.loads.links_at_max()
    }

    /// The least largest load of any adaptive routing over admissible paths; a lower bound of it where not exact.
    #[getter]
    fn ar_bound(&self) -> f64 {
        self.bounds.ar.lower
    }

    /// What the AR bound is a bound of, at its widest.
    #[getter]
    fn ar_bound_class(&self) -> &'static str {
        self.bounds.ar_class().name()
    }

    /// What an adaptive routing over admissible paths certainly reaches.
    #[getter]
    fn ar_bound_upper(&self) -> f64 {
        self.bounds.ar.upper
    }

    /// Whether `ar_bound` and `ar_bound_upper` meet (within 1e-6).
    #[getter]
    fn ar_bound_exact(&self) -> bool {
        self.bounds.ar.exact
    }

    /// How far the largest load is above `ar_bound`, %; None where `outside_because` says why.
    #[getter]
    fn ar_gap_percent(&self) -> Option<f64> {
        self.standing.gap_percent(self.loads.max(), self.bounds.ar.lower, self.bounds.ar_class())
    }

    /// No routes in `bound_class` have a smaller largest load.
    #[getter]
    fn lower_bound(&self) -> f64 {
        self.bounds.lower.claim
    }

    /// What the lower bound is a bound of, at its widest: a key of `bound_classes`.
    #[getter]
    fn bound_class(&self) -> &'static str {
        self.bounds.class().name()
    }

    /// How far the largest load is above `lower_bound`, %; None where `outside_because` says why.
    #[getter]
    fn lower_bound_gap_percent(&self) -> Option<f64> {
        self.standing.gap_percent(self.loads.max(), self.bounds.lower.claim, self.bounds.class())
    }

    /// The best bound of any routes whatsoever, with detours and split at will.
    #[getter]
    fn any_bound(&self) -> f64 {
        self.bounds.any.claim
    }

    /// Where `any_bound` comes from, in words.
    #[getter]
    fn any_bound_at(&self) -> &str {
        &self.bounds.any.place
    }

    /// How far the largest load is above `any_bound`, %.
    #[getter]
    fn any_bound_gap_percent(&self) -> f64 {
        bounds::gap_percent(self.loads.max(), self.bounds.any.claim)
    }

    /// Why a gap is `None`: kind and text; `None` if there is no such reason.
    #[getter]
    fn outside_because<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let applies = |class| self.standing.applies(class);
        let all = applies(self.bounds.ar_class()) && applies(self.bounds.class());
        outside_dict(py, self.standing.outside.as_ref().filter(|_| !all))
    }

    /// Seconds that the fullest link needs for its bytes.
    #[getter]
    fn max_seconds(&self) -> f64 {
        self.loads.max() / self.shared.fabric.reference_bandwidth_bytes_per_s()
    }

    /// Bytes on the fullest link of a host: what the busiest host sends or receives.
    #[getter]
    fn host_bytes_max(&self) -> f64 {
        let (fabric, load) = (&self.shared.fabric, |l: &LinkId| self.loads.load[l.index()]);
        let links = fabric.links().filter(|&l| !fabric.between_switches(l));
        let fullest = links.max_by(|a, b| load(a).total_cmp(&load(b)).then(b.cmp(a)));
        fullest.map_or(0.0, |l| load(&l) * fabric.relative_capacity(l))
    }

    /// The largest share of its link's rate at which the busiest host can send or receive, if all hosts slow down alike: its
    /// link's load over the largest load.
    #[getter]
    fn throughput(&self) -> f64 {
        let max = self.loads.max();
        if max > 0.0 { self.host_links_max() / max } else { 1.0 }
    }

    /// Whether links have several speeds, so that a load is no number of bytes on its own link.
    #[getter]
    fn mixed_speeds(&self) -> bool {
        mixed_speeds(&self.shared.fabric)
    }

    /// Where `lower_bound` comes from, in words.
    #[getter]
    fn bound_at(&self) -> &str {
        &self.bounds.lower.place
    }

    /// Whether no routes in `bound_class` have a smaller maximum: these are among them, and meet the lower bound.
    #[getter]
    pub fn proven_optimal(&self) -> bool {
        self.standing.optimal(self.loads.max(), &self.bounds)
    }

    /// The highest loads of links between switches, each with how many links carry it (within 1e-9).
    ///
    /// Parameters
    /// ----------
    /// count : int, default 4
    ///     How many loads.
    ///
    /// Returns
    /// -------
    /// list of (float, int)
    ///     Load and links, the highest first.
    #[pyo3(signature = (count = 4))]
    fn levels(&self, #[pyo3(from_py_with = arguments::count)] count: usize) -> Vec<(f64, usize)> {
        levels(&self.shared.fabric, &self.loads, count)
    }

    /// The argument for `lower_bound`.
    #[getter]
    fn certificate(&self) -> PyCertificate {
        PyCertificate { certificate: self.bounds.lower.clone(), shared: Arc::clone(&self.shared) }
    }

    /// Why bounds are not as sharp as they could be: `interrupted` or `time-limit`; None if they are.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        stop_text(self.stopped)
    }

    /// The hottest links.
    ///
    /// Parameters
    /// ----------
    /// count : int, default 10
    ///     How many.
    ///
    /// Returns
    /// -------
    /// list of dict
    ///     from, from_port, to, to_port, load.
    #[pyo3(signature = (count = 10))]
    fn hottest<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::count)] count: usize,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let links = self.loads.hottest(count).into_iter();
        links.map(|l| link_dict(py, &self.shared.fabric, l, self.loads.load[l.index()])).collect()
    }

    /// Links with their loads as an Arrow table.
    ///
    /// Returns
    /// -------
    /// pyarrow.Table
    ///     The columns of `Fabric.to_arrow`, and `load`.
    fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        let fabric = PyFabric { shared: Arc::clone(&slf.get().shared) };
        slf.py().import("netloom.interop")?.call_method1("loads_to_arrow", (slf.clone(), fabric))
    }

    /// Links with their loads as a pandas DataFrame: the columns of `to_arrow`.
    fn to_pandas(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.frames")?.call_method1("to_pandas", (slf,))
    }

    fn __repr__(&self) -> String {
        let (max, bound, stopped) = (self.loads.max(), self.bounds.lower.claim, stop_words(self.stopped));
        format!("<netloom.LinkLoads: max {max}, lower bound {bound}{stopped}>")
    }
}

impl Shared {
    /// The bounds of a traffic; stops early when asked.
    ///
    /// # Errors
    /// If the traffic cannot be routed at all.
    pub fn bounds(
        &self,
        routes: &Routes,
        traffic: &Csr,
        control: &Control,
        work: Option<u64>,
    ) -> Result<Bounds, BoundError> {
        Bounds::new(&self.fabric, self.structure(), self.paths(), routes, traffic, control, work)
    }
}

/// Loads, and where the routes that made them stand.
pub struct Judged {
    loads: LinkLoads,
    standing: Standing,
}

impl Judged {
    /// `loads` are those of `routes` and `traffic`; the bounds that they will be held against are of `ways`.
    pub fn new(shared: &Shared, routes: &Routes, traffic: &Csr, loads: LinkLoads, ways: Ways) -> Self {
        let (paths, shape) = match ways {
            Ways::UpDown => (shared.paths(), shared.outside()),
            // Where these are not the ways of up*/down*, that is what is meant.
            Ways::Shortest => (shared.shortest(), None),
            Ways::Any => return Self::of_any(loads),
        };
        Self { standing: Standing::new(&shared.fabric, paths, shape, routes, traffic), loads }
    }

    /// Loads of whatever ways, beside bounds of any.
    pub fn of_any(loads: LinkLoads) -> Self {
        Self { standing: Standing { outside: None, within: true }, loads }
    }
}

/// Why a bound is not held against routes, as Python has it.
pub fn outside_dict<'py>(py: Python<'py>, outside: Option<&Outside>) -> PyResult<Option<Bound<'py, PyDict>>> {
    let Some(outside) = outside else { return Ok(None) };
    let dict = PyDict::new(py);
    dict.set_item("kind", outside.kind())?;
    dict.set_item("text", outside.text())?;
    Ok(Some(dict))
}

/// The classes of bounds by name, the widest first.
///
/// Returns
/// -------
/// list of (str, str)
///     Name, and words that follow "of" or "among".
#[pyfunction]
pub fn bound_classes() -> Vec<(&'static str, &'static str)> {
    BoundClass::ALL.map(|class| (class.name(), class.words())).to_vec()
}

impl Judged {
    /// The largest load.
    pub fn max(&self) -> f64 {
        self.loads.max()
    }

    /// Whether all ways are of those whose bounds the loads are held against.
    pub fn within(&self) -> bool {
        self.standing.within
    }

    /// The same loads, to be held against bounds of other `ways`.
    pub fn beside(&self, shared: &Shared, routes: &Routes, traffic: &Csr, ways: Ways) -> Self {
        Self::new(shared, routes, traffic, self.loads.clone(), ways)
    }
}

impl PyLinkLoads {
    /// Loads with their bounds.
    pub fn new(judged: Judged, bounds: Bounds, stopped: Option<StopReason>, shared: &Arc<Shared>) -> Self {
        let Judged { loads, standing } = judged;
        Self { loads, bounds, standing, stopped, shared: Arc::clone(shared) }
    }

    /// What they are judged by.
    pub fn bounds(&self) -> &Bounds {
        &self.bounds
    }

    /// The largest load of a link to or from a host, which no routes change.
    pub fn host_links_max(&self) -> f64 {
        let fabric = &self.shared.fabric;
        let links = fabric.links().filter(|&l| !fabric.between_switches(l));
        links.map(|l| self.loads.load[l.index()]).fold(0.0, f64::max)
    }
}

/// Whether working links have several speeds, so that a load is no number of bytes on its own link.
pub fn mixed_speeds(fabric: &Fabric) -> bool {
    fabric.links().any(|l| fabric.alive(l) && fabric.relative_capacity(l) < 1.0)
}

/// The highest loads of links between switches, each with how many links carry it (within 1e-9).
pub fn levels(fabric: &Fabric, loads: &LinkLoads, count: usize) -> Vec<(f64, usize)> {
    let between = fabric.links().filter(|&l| fabric.between_switches(l)).map(|l| loads.load[l.index()]);
    let mut falling: Vec<f64> = between.filter(|&load| load > 0.0).collect();
    falling.sort_unstable_by(|a, b| b.total_cmp(a));
    let same = |a: &f64, b: &f64| *b >= *a * (1.0 - 1e-9);
    falling.chunk_by(same).take(count).map(|level| (level[0], level.len())).collect()
}

/// Loads of every directed link, with bounds of what any routes could reach.
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     The fabric, or what `Fabric.read` takes.
/// routes : Routes or str
///     The routes, or an engine's name (`netloom.engines`).
/// traffic : Traffic or str
///     Bytes from host to host, placed on this fabric, or what `Traffic.read` takes.
/// bounds : LinkLoads, optional
///     Loads of the same traffic under any routes, whose bounds are taken instead of computed again.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// work : int, optional
///     Steps of the AR bound's game at most.
/// time_limit : float, optional
///     Seconds of wall time; what is known by then is returned, and `stopped` says so.
///
/// Returns
/// -------
/// LinkLoads
///
/// Raises
/// ------
/// RoutingError
///     If the routes do not join a pair with bytes, or are of another fabric.
/// TrafficError
///     If the traffic is of other hosts.
///
/// References
/// ----------
/// Paper 001 (AFAR), section 3: load and AR bound. `docs/methods/bounds.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> loads = netloom.loads(fabric, "ftree", netloom.Traffic.read("shift:4", fabric))
/// >>> loads.max >= loads.ar_bound
/// True
#[pyfunction]
#[pyo3(signature = (fabric, routes, traffic, *, bounds = None, threads = 0, work = None, time_limit = None))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn loads(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::fabric)] fabric: FabricOrSpec<'_>,
    routes: RoutesOrEngine<'_>,
    #[pyo3(from_py_with = arguments::traffic)] traffic: TrafficOrSpec<'_>,
    bounds: Option<&PyLinkLoads>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
) -> PyResult<PyLinkLoads> {
    let fabric = &fabric.resolve(py)?;
    let traffic = &traffic.resolve(py, fabric)?;
    let routes = routes.resolve(py, fabric, 0, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let options = Options { threads, time_limit, ..Options::default() };
    let ended = run_until(py, options, |control| {
        let loads = routing::loads(&shared.fabric, &routes, matrix.total());
        let bounds = match bounds {
            Some(known) => Ok(known.bounds.for_routes(&routes, &[])),
            None => shared.bounds(&routes, matrix.total(), control, work),
        };
        let ways = bounds.as_ref().map_or(Ways::UpDown, Bounds::ways);
        (loads.map(|loads| Judged::new(shared, &routes, matrix.total(), loads, ways)), bounds)
    })?;
    let loads = ended.result.0.map_err(|e| errors::routing(py, e))?;
    let bounds = ended.result.1.map_err(|e| errors::routing(py, e))?;
    Ok(PyLinkLoads::new(loads, bounds, ended.stopped, shared))
}

/// Loads where every switch chooses among the shortest up*/down* ways by a hash of the flow, as ECMP does.
///
/// A flow is a pair of hosts and one of `pairs` queue pairs between them, each with an equal part of the bytes; it draws its way
/// at every switch. The loads are those of the draw whose largest is the median (the lower one of two).
///
/// Parameters
/// ----------
/// fabric : Fabric or str
///     The fabric, or a generator spec.
/// traffic : Traffic or str
///     Bytes from host to host, placed on this fabric, or what `Traffic.read` takes.
/// pairs : int, default 1
///     Queue pairs of two hosts, 1 to 65,536.
/// draws : int, default 20
///     How many seeds of the hash are tried, 1 to 10,000: `seed`, `seed + 1`, and so on.
/// seed : int, default 0
///     The first seed.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// work : int, optional
///     Steps of the AR bound's game at most.
/// time_limit : float, optional
///     Seconds of wall time; fewer draws by then are fewer draws, and `stopped` says so.
///
/// Returns
/// -------
/// tuple of LinkLoads and list of float
///     The loads of the median draw, and the largest load of every draw, in order of the seeds.
///
/// Raises
/// ------
/// RoutingError
///     If no shortest up*/down* way joins a pair with bytes.
/// TrafficError
///     If the traffic is of other hosts.
///
/// References
/// ----------
/// RFC 2992 (hash-threshold ECMP). `docs/methods/training.md`.
///
/// Examples
/// --------
/// >>> loads, most = netloom.ecmp_loads("two-level:leaves=2,hosts=4,spines=1", "shift:4", pairs=4, draws=3)
/// >>> loads.max, most
/// (4.0, [4.0, 4.0, 4.0])
#[pyfunction]
#[pyo3(signature = (fabric, traffic, *, pairs = 1, draws = 20, seed = 0, threads = 0, work = None, time_limit = None))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn ecmp_loads(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::fabric)] fabric: FabricOrSpec<'_>,
    #[pyo3(from_py_with = arguments::traffic)] traffic: TrafficOrSpec<'_>,
    #[pyo3(from_py_with = arguments::pairs)] pairs: usize,
    #[pyo3(from_py_with = arguments::draws)] draws: usize,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::work)] work: Option<u64>,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
) -> PyResult<(PyLinkLoads, Vec<f64>)> {
    for (name, value, most) in [("pairs", pairs, MOST_PAIRS), ("draws", draws, MOST_DRAWS)] {
        if value > most {
            return Err(errors::argument(py, format!("{name}: expected 1 to {most}, found {value}")));
        }
    }
    let fabric = &fabric.resolve(py)?;
    let traffic = &traffic.resolve(py, fabric)?;
    let (shared, matrix) = (&fabric.shared, traffic.shared.total());
    let options = Options { threads, time_limit, ..Options::default() };
    let ended = run_until(py, options, |control| {
        let (net, structure, paths) = (&shared.fabric, shared.structure(), shared.paths());
        let seeds = seed..seed.saturating_add(draws as u64);
        let drawn = routing::hashed_loads(net, paths, matrix, pairs as u32, seeds, control);
        let ar = bounds::ar_bound(net, structure, paths, matrix, control, work);
        (drawn, ar.map(|ar| Bounds::with(net, structure, matrix, ar.clone(), ar.certificate)))
    })?;
    let mut drawn = ended.result.0.map_err(|e| errors::routing(py, e))?;
    let bounds = ended.result.1.map_err(|e| errors::routing(py, e))?;
    let most: Vec<f64> = drawn.iter().map(LinkLoads::max).collect();
    let mut order: Vec<usize> = (0..most.len()).collect();
    order.sort_by(|&a, &b| most[a].total_cmp(&most[b]));
    let Some(&median) = order.get(order.len().saturating_sub(1) / 2) else {
        return Err(errors::routing(py, "no draw ended within the time limit"));
    };
    let standing = Standing { outside: shared.outside().cloned(), within: true };
    let judged = Judged { loads: drawn.swap_remove(median), standing };
    Ok((PyLinkLoads::new(judged, bounds, ended.stopped, shared), most))
}

/// The largest load of a link on every lane.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes
///     The routes.
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
///
/// Returns
/// -------
/// list of float
///     From lane 0 on, bytes over relative capacity; one entry for routes without lanes.
///
/// Raises
/// ------
/// RoutingError
///     For a pair with bytes that the tables do not join.
#[pyfunction]
pub fn lane_loads(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: &PyRoutes,
    traffic: &PyTraffic,
) -> PyResult<Vec<f64>> {
    routes.check_fits(py, fabric)?;
    traffic.check_fits(py, fabric)?;
    run(py, Options::default(), |_| {
        routing::lane_loads(fabric.fabric(), &routes.routes, traffic.shared.total())
    })?
    .map_err(|e| errors::routing(py, e))
}

/// The pairs with bytes that cross some links: by pair the place of the link in the list, the hosts and the bytes.
#[pyfunction]
#[pyo3(signature = (fabric, routes, traffic, links, *, threads = 0))]
#[allow(clippy::type_complexity)] // four columns
pub fn link_users<'py>(
    py: Python<'py>,
    fabric: &PyFabric,
    routes: &PyRoutes,
    traffic: &PyTraffic,
    #[pyo3(from_py_with = arguments::links)] links: Vec<u32>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<(
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<u32>>,
    Bound<'py, PyArray1<f64>>,
)> {
    routes.check_fits(py, fabric)?;
    traffic.check_fits(py, fabric)?;
    let (net, count) = (fabric.fabric(), fabric.fabric().link_count());
    if let Some(&link) = links.iter().find(|&&link| link as usize >= count) {
        return Err(errors::routing(py, format!("link {link}: expected a number below {count}")));
    }
    let links: Vec<LinkId> = links.into_iter().map(LinkId).collect();
    let found = run(py, Options::threads(threads), |control| {
        routing::link_users(net, &routes.routes, traffic.shared.total(), &links, control)
    })?
    .map_err(|e| errors::routing(py, e))?;
    Ok((
        arrays::array(py, found.iter().map(|user| user.place)),
        arrays::array(py, found.iter().map(|user| user.source.0)),
        arrays::array(py, found.iter().map(|user| user.destination.0)),
        arrays::array(py, found.iter().map(|user| user.bytes)),
    ))
}
