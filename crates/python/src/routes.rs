//! `netloom.Routes`: forwarding tables and the engines that make them.

use std::path::PathBuf;
use std::sync::Arc;

use netloom_compose::{self as compose, Passed, Wanted};
use netloom_formats as formats;
use netloom_model::{Control, DestId, HostId, Lft, MAX_LMC, Routes, SwitchId, Table};
use netloom_routing::{self as routing, Engine, EngineOptions, RoutingError};
use netloom_sim::PerPacket;
use netloom_verify::CheckReport;
use numpy::{PyArray2, PyArrayMethods, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::fabric::{PyFabric, Shared};
use crate::lanes::PyLaneTables;
use crate::run::{Options, run};
use crate::{arguments, errors, io};

/// Routes of a fabric. Immutable.
#[pyclass(frozen, weakref, name = "Routes", module = "netloom._core")]
pub struct PyRoutes {
    /// The routes themselves.
    pub routes: Arc<Routes>,
    /// The fabric they were made for.
    pub shared: Arc<Shared>,
    pub(crate) faults: Vec<(usize, String, String)>,
    pub(crate) report: Option<Arc<CheckReport>>,
}

#[pymethods]
impl PyRoutes {
    /// Reads an LFT dump (OpenSM's `file` engine, dump_lfts).
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// fabric : Fabric
    ///     The fabric.
    /// strict : bool, default True
    ///     Whether entries that the fabric cannot have are an error; otherwise they are left out and listed in `faults`.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// FormatError, RoutingError, OSError
    ///     If it is no such file, of another fabric, or cannot be read.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    /// >>> netloom.route("ftree", fabric).write("routes.lfts")
    /// >>> netloom.Routes.read("routes.lfts", fabric).changed_entries(netloom.route("ftree", fabric))
    /// 0
    #[staticmethod]
    #[pyo3(signature = (path, fabric, *, strict = true))]
    fn read(py: Python<'_>, path: PathBuf, fabric: &PyFabric, strict: bool) -> PyResult<Self> {
        let data = io::read(py, &path)?;
        Self::parse(py, &data, fabric, &path.display().to_string(), strict)
    }

    /// Parses an LFT dump.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     What the file holds.
    /// fabric : Fabric
    ///     The fabric.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    /// strict : bool, default True
    ///     Whether entries that the fabric cannot have are an error; otherwise they are left out and listed in `faults`.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// FormatError, RoutingError
    ///     If it is no such file, or of another fabric.
    #[staticmethod]
    #[pyo3(signature = (data, fabric, *, label = "<bytes>", strict = true))]
    fn parse(py: Python<'_>, data: &[u8], fabric: &PyFabric, label: &str, strict: bool) -> PyResult<Self> {
        let file = run(py, Options::default(), |_| formats::read_lfts(data, label, fabric.fabric()))?
            .map_err(|e| errors::format(py, &e))?;
        if let Some(fault) = file.faults.iter().find(|f| f.kind.breaks_routes()).filter(|_| strict) {
            let message = format!("{label}:{}: {}", fault.line, fault.text);
            return Err(errors::format_parts(py, &message, Some(label), Some(fault.line)));
        }
        let faults = file.faults.into_iter().map(|f| (f.line, f.kind.name().to_owned(), f.text)).collect();
        Ok(Self { routes: Arc::new(file.routes), shared: Arc::clone(&fabric.shared), faults, report: None })
    }

    /// Routes from a table of ports, as `table` gives it.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     The fabric.
    /// table : array of uint16
    ///     `[switch][destination]`, 65535 = no entry; destinations are hosts, or these and the switches.
    /// lmc : int, default 0
    ///     2^lmc addresses a host.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     For another shape, or a port without a cable, with its place.
    #[staticmethod]
    #[pyo3(signature = (fabric, table, *, lmc = 0))]
    fn from_table(
        py: Python<'_>,
        fabric: &PyFabric,
        table: PyReadonlyArray2<'_, u16>,
        #[pyo3(from_py_with = arguments::lmc)] lmc: u8,
    ) -> PyResult<Self> {
        if lmc > MAX_LMC {
            return Err(errors::routing(py, format!("lmc {lmc}: expected 0 to {MAX_LMC}")));
        }
        let table = table.as_array();
        let ports: Vec<u16> = table.iter().copied().collect();
        let routes = Routes::from_ports(fabric.fabric(), lmc, table.ncols(), &ports)
            .map_err(|e| errors::routing(py, e))?;
        Ok(Self {
            routes: Arc::new(routes),
            shared: Arc::clone(&fabric.shared),
            faults: Vec::new(),
            report: None,
        })
    }

    /// LID mask control: 2^lmc addresses a host.
    #[getter]
    fn lmc(&self) -> u8 {
        self.routes.lmc
    }

    /// What a lenient read left out: (line, kind, text).
    #[getter]
    fn faults(&self) -> Vec<(usize, String, String)> {
        self.faults.clone()
    }

    /// Ports as an array. For routes by source, the way down.
    ///
    /// Returns
    /// -------
    /// array of uint16
    ///     `[switch][destination]`; 65535 = no entry.
    fn table<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u16>>> {
        let lft = match &self.routes.table {
            Table::ByDest(lft) => lft,
            Table::UpBySource { down, .. } => down,
        };
        let (switches, dests) = (lft.switches(), lft.dests());
        let mut ports = Vec::with_capacity(switches * dests);
        for s in 0..switches {
            let row = lft.row(SwitchId::from_index(s));
            ports.extend((0..dests).map(|d| row.port(DestId::from_index(d))));
        }
        numpy::PyArray1::from_vec(py, ports).reshape([switches, dests])
    }

    /// The links from one host to another.
    ///
    /// Parameters
    /// ----------
    /// source, destination : int
    ///     Hosts by number.
    ///
    /// Returns
    /// -------
    /// list of int
    ///     Links by their number in `Fabric.link_table`.
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If there is no such host, or the tables do not join them.
    fn path(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::source)] source: u32,
        #[pyo3(from_py_with = arguments::destination)] destination: u32,
    ) -> PyResult<Vec<u32>> {
        let hosts = self.shared.fabric.host_count();
        if source as usize >= hosts || destination as usize >= hosts {
            return Err(errors::routing(
                py,
                format!("from {source} to {destination}: expected hosts below {hosts}"),
            ));
        }
        let links = routing::walk(&self.shared.fabric, &self.routes, HostId(source), HostId(destination))
            .map_err(|e| errors::routing(py, e))?;
        Ok(links.into_iter().map(|l| l.0).collect())
    }

    /// How many entries differ.
    ///
    /// Parameters
    /// ----------
    /// other : Routes
    ///     Routes of the same fabric.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If they are of another fabric.
    fn changed_entries(&self, py: Python<'_>, other: &PyRoutes) -> PyResult<u64> {
        match (self.routes.lft(), other.routes.lft()) {
            (Some(a), Some(b)) if a.dests() == b.dests() && a.switches() == b.switches() => {
                Ok(a.changed_entries(b))
            }
            _ => Err(errors::routing(
                py,
                "the routes differ in kind or size: expected two tables of one fabric",
            )),
        }
    }

    /// The same tables, with the entries of others for the switches' own addresses where these have none.
    ///
    /// Parameters
    /// ----------
    /// present : Routes
    ///     Routes of the same fabric.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If they are of another fabric.
    fn with_switches_of(&self, py: Python<'_>, present: &PyRoutes) -> PyResult<Self> {
        match (self.routes.lft(), present.routes.lft()) {
            (Some(a), Some(b)) if a.dests() == b.dests() && a.switches() == b.switches() => {
                Ok(with_switches_of(self, b))
            }
            _ => Err(errors::routing(
                py,
                "the routes differ in kind or size: expected two tables of one fabric",
            )),
        }
    }

    /// These tables with those of another for some destinations: what is in force when part of a change is made.
    ///
    /// Parameters
    /// ----------
    /// other : Routes
    ///     Routes of the same fabric.
    /// destinations : sequence of int
    ///     Hosts.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If they are of another fabric, or there is no such host.
    fn mixed(
        &self,
        py: Python<'_>,
        other: &PyRoutes,
        #[pyo3(from_py_with = arguments::destinations)] destinations: Vec<u32>,
    ) -> PyResult<Self> {
        let fabric = &self.shared.fabric;
        let (Some(old), Some(new)) = (self.routes.lft(), other.routes.lft()) else {
            return Err(errors::routing(py, "expected tables by destination"));
        };
        if (old.dests(), old.switches()) != (new.dests(), new.switches())
            || self.routes.lmc != other.routes.lmc
        {
            return Err(errors::routing(py, "expected two tables of one fabric"));
        }
        if let Some(host) = destinations.iter().find(|&&host| host as usize >= fabric.host_count()) {
            let hosts = fabric.host_count();
            return Err(errors::routing(py, format!("destination {host}: expected hosts below {hosts}")));
        }
        let mut mixed = old.clone();
        let space = self.routes.dests(fabric);
        for host in destinations {
            for path in 0..1 << self.routes.lmc {
                let dest = space.host(HostId(host), path);
                fabric.switches().for_each(|s| mixed.set(s, dest, new.get(s, dest)));
            }
        }
        let routes = Routes { table: Table::ByDest(mixed), ..Routes::clone(&self.routes) };
        Ok(Self {
            routes: Arc::new(routes),
            shared: Arc::clone(&self.shared),
            faults: Vec::new(),
            report: None,
        })
    }

    /// The share of a traffic's bytes that takes another way by other routes.
    ///
    /// Parameters
    /// ----------
    /// other : Routes
    ///     Routes of the same fabric.
    /// traffic : Traffic
    ///     The traffic.
    ///
    /// Returns
    /// -------
    /// float
    ///     0 to 1.
    ///
    /// Raises
    /// ------
    /// RoutingError, TrafficError
    ///     If they do not belong together.
    fn moved(&self, py: Python<'_>, other: &PyRoutes, traffic: &crate::traffic::PyTraffic) -> PyResult<f64> {
        traffic.check_fits(py, &PyFabric { shared: Arc::clone(&self.shared) })?;
        let (fabric, matrix) = (&self.shared.fabric, traffic.shared.total());
        let shares = run(py, Options::default(), |_| {
            let (mut moved, mut all) = (0.0, 0.0);
            for (from, to, bytes) in matrix.iter().filter(|(from, to, _)| from != to) {
                let way = |routes| routing::walk(fabric, routes, HostId(from), HostId(to));
                let (one, two) = (way(&self.routes)?, way(&other.routes)?);
                all += bytes;
                moved += if one == two { 0.0 } else { bytes };
            }
            Ok::<_, RoutingError>(if all > 0.0 { moved / all } else { 0.0 })
        })?;
        shares.map_err(|e| errors::routing(py, e))
    }

    /// The same tables with the path of every pair: which of a destination's addresses each sender uses.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     CSV `source,destination,path`, as `write_paths` writes it.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// FormatError
    ///     If it is no such file.
    #[pyo3(signature = (data, *, label = "<bytes>"))]
    fn with_paths(&self, py: Python<'_>, data: &[u8], label: &str) -> PyResult<Self> {
        let (fabric, lmc) = (&self.shared.fabric, self.routes.lmc);
        let paths = run(py, Options::default(), |_| formats::read_pair_paths(data, label, fabric, lmc))?
            .map_err(|e| errors::format(py, &e))?;
        let routes = Routes::clone(&self.routes).with_paths(fabric, paths);
        let routes = routes.map_err(|e| errors::routing(py, e))?;
        Ok(Self {
            routes: Arc::new(routes),
            shared: Arc::clone(&self.shared),
            faults: self.faults.clone(),
            report: None,
        })
    }

    /// The lanes of their packets; `None`: all are on one.
    #[getter]
    fn lanes(&self) -> Option<PyLaneTables> {
        let map = self.routes.lanes.as_ref().map(Arc::clone)?;
        Some(PyLaneTables { map, shared: Arc::clone(&self.shared) })
    }

    /// The same tables with other lanes, or none.
    ///
    /// Parameters
    /// ----------
    /// lanes : LaneTables or None
    ///     SL-to-VL tables and service levels.
    ///
    /// Returns
    /// -------
    /// Routes
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If the lanes are of a fabric with other cables.
    fn with_lanes(&self, py: Python<'_>, lanes: Option<&PyLaneTables>) -> PyResult<Self> {
        if let Some(lanes) = lanes {
            self.check_fits(py, &PyFabric { shared: Arc::clone(&lanes.shared) })?;
        }
        let map = lanes.map(|lanes| Arc::clone(&lanes.map));
        let routes = Routes { lanes: map, ..Routes::clone(&self.routes) };
        Ok(Self {
            routes: Arc::new(routes),
            shared: Arc::clone(&self.shared),
            faults: self.faults.clone(),
            report: None,
        })
    }

    /// How many pairs do not use the base address of their destination.
    #[getter]
    fn pairs_off_base(&self) -> usize {
        self.routes.pair_paths(&self.shared.fabric).len()
    }

    /// How many pairs use another of their destination's addresses.
    ///
    /// Parameters
    /// ----------
    /// other : Routes
    ///     Routes of the same fabric.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If they are of another fabric.
    fn changed_paths(&self, py: Python<'_>, other: &PyRoutes) -> PyResult<usize> {
        let (a, b) = (&self.shared.fabric, &other.shared.fabric);
        if a.host_count() != b.host_count() {
            return Err(errors::routing(
                py,
                "the routes are for different numbers of hosts: expected one fabric's",
            ));
        }
        Ok(self.routes.pair_paths(a).changed_pairs(&other.routes.pair_paths(b)))
    }

    /// The path of every pair that does not use the base address, as CSV `source,destination,path`.
    fn paths_to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.serialise_paths(py)?))
    }

    /// Writes the path of every pair that does not use the base address.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     CSV `source,destination,path`; the file is replaced whole or not at all.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If it cannot be written.
    fn write_paths(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        io::write(py, &path, &self.serialise_paths(py)?)
    }

    /// The routes as OpenSM's `file` engine reads them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, self.serialise(py)?.as_bytes()))
    }

    /// Writes the routes as OpenSM's `file` engine reads them, switch by switch.
    ///
    /// They are checked first, by link and lane, as `netloom.check` does. The file has no lanes: routes that can deadlock without
    /// theirs (`lanes`) are written only with `sl2vl`.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; it is replaced whole or not at all.
    /// allow_unreachable : bool, default False
    ///     Write routes that lose pairs of hosts which working cables join.
    /// sl2vl : path, optional
    ///     Where their SL-to-VL tables are written, in the form of `opensm-sl2vl.dump`, before the routes are. Of routes without
    ///     lanes nothing is.
    /// sl : path, optional
    ///     Where the service level of every pair of hosts is written (CSV `source_lid,destination_lid,sl`), if they have levels.
    /// lanes : bool, default False
    ///     Write routes that need lanes without `sl2vl` too: somebody else writes these tables (`lanes.sl2vl`).
    /// levels : bool, default False
    ///     Write routes whose pairs need levels without `sl` too: somebody else writes these (`lanes.service_levels`).
    ///
    /// Raises
    /// ------
    /// RoutingError, OSError
    ///     If they can deadlock, so without lanes that nobody writes, lose pairs of hosts that cables join, no such file can hold
    ///     them, or it cannot be written.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("dragonfly:p=2,a=4,h=2")
    /// >>> netloom.route("dla", fabric).write("routes.lfts", sl2vl="routes.sl2vl")
    #[pyo3(signature = (path, *, allow_unreachable = false, sl2vl = None, sl = None, lanes = false, levels = false))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
    pub fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        allow_unreachable: bool,
        sl2vl: Option<PathBuf>,
        sl: Option<PathBuf>,
        lanes: bool,
        levels: bool,
    ) -> PyResult<()> {
        self.check_file(py, allow_unreachable, lanes || sl2vl.is_some(), levels || sl.is_some())?;
        let texts = self.texts(py)?;
        if let (Some(map), Some(rows)) = (&self.routes.lanes, sl2vl) {
            let fabric = &self.shared.fabric;
            let data = run(py, Options::default(), |_| formats::write_sl2vl(fabric, map, "netloom"))?;
            io::write(py, &rows, data.map_err(|e| errors::write(py, &e))?.as_bytes())?;
        }
        if let (Some(found), Some(rows)) = (self.routes.lanes.as_ref().and_then(|map| map.levels()), sl) {
            let fabric = &self.shared.fabric;
            let data =
                run(py, Options::default(), |_| formats::write_service_levels(fabric, found, "netloom"))?;
            io::write(py, &rows, data.map_err(|e| errors::write(py, &e))?.as_bytes())?;
        }
        let write = |control: &Control| {
            io::write_parts(&path, |file| {
                for text in texts {
                    if control.stopped().is_some() {
                        return Err(std::io::ErrorKind::Interrupted.into());
                    }
                    file.write_all(text.as_bytes())?;
                }
                Ok(())
            })
        };
        run(py, Options::default(), write)?.map_err(|e| errors::os(&e, &path))
    }

    /// Raises what `write` would where these routes must not be written, or no file can hold them.
    ///
    /// Parameters
    /// ----------
    /// allow_unreachable : bool, default False
    ///     Pass routes that lose pairs of hosts which working cables join.
    /// lanes : bool, default False
    ///     Pass routes that need lanes: their SL-to-VL tables are written too.
    /// levels : bool, default False
    ///     Pass routes whose lanes need a service level for every pair: these are written too.
    ///
    /// Raises
    /// ------
    /// RoutingError
    ///     If they can deadlock, so without lanes that nobody writes, lose pairs of hosts that cables join, or no such file can
    ///     hold them.
    #[pyo3(signature = (*, allow_unreachable = false, lanes = false, levels = false))]
    fn check_file(&self, py: Python<'_>, allow_unreachable: bool, lanes: bool, levels: bool) -> PyResult<()> {
        self.texts(py).map(drop)?;
        let (shared, report) = (&self.shared, self.report.as_deref());
        let wanted = Wanted { holes: allow_unreachable, lanes, levels };
        run(py, Options::default(), |_| {
            compose::fit(&shared.fabric, shared.structure(), &self.routes, report, wanted)
        })?
        .map_err(|e| errors::routing(py, e))
    }

    fn __repr__(&self) -> String {
        match &self.routes.table {
            Table::ByDest(lft) => {
                format!("<netloom.Routes: {} switches, {} destinations>", lft.switches(), lft.dests())
            }
            Table::UpBySource { up, .. } => {
                format!("<netloom.Routes: {} switches, up by source>", up.switches())
            }
        }
    }
}

impl PyRoutes {
    /// Routes just made for `fabric`.
    pub fn new(routes: Routes, shared: &Arc<Shared>) -> Self {
        Self { routes: Arc::new(routes), shared: Arc::clone(shared), faults: Vec::new(), report: None }
    }

    /// Routes that have passed the gate, with what the judge said of them.
    pub fn passed(passed: Passed, shared: &Arc<Shared>) -> Self {
        Self { report: Some(Arc::new(passed.report)), ..Self::new(passed.routes, shared) }
    }

    /// What the judge said of them on this very fabric, if it has been asked.
    pub fn report_on(&self, fabric: &PyFabric) -> Option<&Arc<CheckReport>> {
        self.report.as_ref().filter(|_| Arc::ptr_eq(&self.shared, &fabric.shared))
    }

    /// That these routes belong to `fabric`.
    pub fn check_fits(&self, py: Python<'_>, fabric: &PyFabric) -> PyResult<()> {
        let (mine, theirs) = (self.shared.fabric.cabling_hash(), fabric.fabric().cabling_hash());
        if mine == theirs {
            return Ok(());
        }
        Err(errors::routing(
            py,
            format!(
                "the routes belong to a fabric with other names or cables (hash {mine:016x}, this fabric {theirs:016x})"
            ),
        ))
    }

    fn serialise_paths(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        let fabric = &self.shared.fabric;
        run(py, Options::default(), |_| formats::write_pair_paths(fabric, &self.routes.pair_paths(fabric)))
    }

    fn texts(&self, py: Python<'_>) -> PyResult<formats::LftTexts<'_>> {
        formats::lft_texts(&self.shared.fabric, &self.routes).map_err(|e| errors::write(py, &e))
    }

    fn serialise(&self, py: Python<'_>) -> PyResult<String> {
        run(py, Options::default(), |_| formats::write_lfts(&self.shared.fabric, &self.routes))?
            .map_err(|e| errors::write(py, &e))
    }
}

/// Routes as a caller names them: made already, or an engine's name.
#[derive(FromPyObject)]
pub enum RoutesOrEngine<'py> {
    /// Routes.
    Routes(Bound<'py, PyRoutes>),
    /// An engine's name.
    Engine(String),
}

impl RoutesOrEngine<'_> {
    /// The routes, made if need be.
    pub fn resolve(
        &self,
        py: Python<'_>,
        fabric: &PyFabric,
        seed: u64,
        threads: usize,
    ) -> PyResult<Arc<Routes>> {
        match self {
            RoutesOrEngine::Routes(routes) => {
                routes.get().check_fits(py, fabric)?;
                Ok(Arc::clone(&routes.get().routes))
            }
            RoutesOrEngine::Engine(_) => Ok(self.named(py, fabric, seed, threads)?.0),
        }
    }

    /// The routes, and the engine that made them.
    pub fn named(
        &self,
        py: Python<'_>,
        fabric: &PyFabric,
        seed: u64,
        threads: usize,
    ) -> PyResult<(Arc<Routes>, Option<Engine>)> {
        match self {
            RoutesOrEngine::Routes(_) => Ok((self.resolve(py, fabric, seed, threads)?, None)),
            RoutesOrEngine::Engine(name) if name == "auto" => {
                let (shared, options) = (&fabric.shared, EngineOptions { seed, lmc: fabric.fabric().lmc() });
                let made = run(py, Options::threads(threads), |_| {
                    compose::suited(&shared.fabric, shared.structure(), &options)
                })?;
                made.map(|(engine, routes)| (Arc::new(routes), Some(engine)))
                    .map_err(|e| errors::routing(py, e))
            }
            RoutesOrEngine::Engine(name) => {
                let engine = engine(py, name)?;
                let made = make(py, engine, fabric, seed, fabric.fabric().lmc(), threads)?;
                Ok((Arc::new(made), Some(engine)))
            }
        }
    }
}

fn engine(py: Python<'_>, name: &str) -> PyResult<Engine> {
    if name == "afar" || name == "optimize" {
        return Err(errors::spec(
            py,
            format!("\"{name}\" needs traffic, an engine does not: see netloom.{name}"),
        ));
    }
    name.parse().map_err(|e| errors::spec(py, e))
}

fn make(
    py: Python<'_>,
    engine: Engine,
    fabric: &PyFabric,
    seed: u64,
    lmc: u8,
    threads: usize,
) -> PyResult<Routes> {
    let shared = &fabric.shared;
    run(py, Options::threads(threads), |_| {
        routing::route(engine, &shared.fabric, shared.structure(), &EngineOptions { seed, lmc })
    })?
    .map_err(|e| errors::routing(py, e))
}

/// Routes by an oblivious engine, which knows no traffic.
///
/// Parameters
/// ----------
/// engine : str
///     A name of `netloom.engines`, with the engine's options, or `auto`.
/// fabric : Fabric
///     The fabric.
/// seed : int, default 0
///     Seed of random choices.
/// lmc : int, optional
///     2^lmc addresses a host, 0 to 7; None: the fabric's own.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// Routes
///
/// Raises
/// ------
/// SpecError
///     If there is no such engine.
/// RoutingError
///     If it cannot route this fabric: the text says why.
///
/// References
/// ----------
/// `docs/methods/routing-engines.md`; ftree, minhop and updn choose as OpenSM does.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> len(netloom.route("ftree", fabric).path(0, 15))
/// 4
#[pyfunction]
#[pyo3(name = "route", signature = (engine, fabric, *, seed = 0, lmc = None, threads = 0))]
pub fn route_by_name(
    py: Python<'_>,
    engine: &str,
    fabric: &PyFabric,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::lmc)] lmc: Option<u8>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<PyRoutes> {
    let lmc = lmc.unwrap_or(fabric.fabric().lmc());
    let routes = make(py, self::engine(py, engine)?, fabric, seed, lmc, threads)?;
    Ok(PyRoutes::new(routes, &fabric.shared))
}

/// The oblivious routing engines.
///
/// Returns
/// -------
/// list of (str, str)
///     Name, and a line on what it does.
///
/// References
/// ----------
/// `docs/methods/routing-engines.md` has each engine's source.
///
/// Examples
/// --------
/// >>> "ftree" in dict(netloom.engines())
/// True
#[pyfunction]
pub fn engines() -> Vec<(String, String)> {
    Engine::ALL.iter().map(|e| (e.to_string(), e.describe().to_string())).collect()
}

/// Names and one-line descriptions of the routing schemes without tables.
#[pyfunction]
pub fn schemes() -> Vec<(String, String)> {
    PerPacket::ALL.iter().map(|s| (s.name().to_string(), s.describe().to_string())).collect()
}

/// Whether `name` is an engine.
#[pyfunction]
pub fn is_engine(name: &str) -> bool {
    name.parse::<Engine>().is_ok()
}

/// `new` with the entries of `old` for the switches' own addresses where it has none and these lead over a working
/// cable.
fn with_switches_of(new: &PyRoutes, old: &Lft) -> PyRoutes {
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
    PyRoutes::new(Routes { table: Table::ByDest(filled), ..Routes::clone(routes) }, &Arc::clone(&new.shared))
}
