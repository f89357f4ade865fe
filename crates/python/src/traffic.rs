//! `netloom.Traffic`.

mod arithmetic;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use netloom_formats as formats;
use netloom_model::{AdapterChoice, Allocation, Csr, Fabric, JobSpec, Phase, Source, Traffic};
use netloom_routing as routing;
use netloom_traffic::{self as patterns, MadeOf, Recorded, ResolvedJob};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::fabric::PyFabric;
use crate::jobs::{PyJob, placed, rank_hosts};
use crate::recorded::{Collectives, parse_trace, read_trace, traffic_format};
use crate::run::{Options, run};
use crate::{arguments, arrays, errors, io};

/// Traffic and the sum of its phases, made once.
pub struct Shared {
    /// The traffic itself.
    pub traffic: Traffic,
    pub(crate) total: OnceLock<Csr>,
    /// What it is made of, if it was not read as a matrix.
    pub(crate) made_of: Option<MadeOf>,
    /// What its reader should know: kind and text.
    pub(crate) notes: Vec<(&'static str, String)>,
}

impl Shared {
    /// What its bytes are made of.
    fn bytes(&self) -> MadeOf {
        self.made_of.unwrap_or_else(|| MadeOf::messages(self.total().total_bytes()))
    }

    /// All phases added up.
    pub fn total(&self) -> &Csr {
        match self.traffic.phases() {
            [only] if only.repeats == 1.0 => &only.matrix,
            _ => self.total.get_or_init(|| self.traffic.total().into_owned()),
        }
    }
}

/// Sparse bytes from endpoint to endpoint: hosts once placed on a fabric, ranks before. Immutable.
#[pyclass(frozen, weakref, name = "Traffic", module = "netloom._core")]
pub struct PyTraffic {
    /// Shared with results made from it.
    pub shared: Arc<Shared>,
}

impl From<Traffic> for PyTraffic {
    fn from(traffic: Traffic) -> Self {
        Self::made(traffic, None, Vec::new())
    }
}

impl From<Recorded> for PyTraffic {
    fn from(run: Recorded) -> Self {
        Self::made(run.traffic, Some(run.bytes), run.notes)
    }
}

#[pymethods]
impl PyTraffic {
    /// Reads a file by its ending, or makes the pattern that a spec names.
    ///
    /// Parameters
    /// ----------
    /// source : path
    ///     A file (.mtx, .csv, .ti, .goal, .txt, .npz, .npy, .parquet, a jobs file .toml; .gz too), or a spec.
    /// fabric : Fabric, optional
    ///     On whose hosts a pattern or jobs are placed.
    /// seed : int, optional
    ///     Seed of random choices; None: the file's own.
    /// collectives : {"all", "none"}, optional
    ///     Whether those of traces count; None: `all`.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// FormatError, TrafficError, SpecError, PlaceError, OSError
    ///     If it is no such file or spec, a value is impossible, or it does not fit the fabric.
    ///
    /// Examples
    /// --------
    /// >>> from netloom import examples
    /// >>> netloom.Traffic.read(examples.path("data/hpcg-216.mtx.gz")).endpoints
    /// 216
    #[staticmethod]
    #[pyo3(signature = (source, fabric = None, *, seed = None, collectives = None))]
    pub fn read(
        py: Python<'_>,
        source: PathBuf,
        fabric: Option<&Bound<'_, PyFabric>>,
        #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
        collectives: Option<&str>,
    ) -> PyResult<Py<Self>> {
        let collectives = Collectives::parse(py, collectives)?;
        if let Some(spec) = source.to_str().filter(|s| patterns::is_pattern(s)) {
            let endpoints = fabric.map(|f| f.get().fabric().host_count() as u32);
            let groups = fabric.map_or(Ok(None), |f| groups_for(py, spec, f.get()))?;
            let traffic = make_pattern(py, spec, endpoints, groups.as_deref())?;
            let hash = fabric.map(|f| f.get().fabric().hosts_hash());
            let fits = endpoints == Some(traffic.endpoints());
            return Py::new(py, Self::from(if fits { traffic.with_hosts_hash(hash) } else { traffic }));
        }
        let name = source.to_string_lossy().into_owned();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        let traffic = match ending(stem) {
            "npz" | "npy" | "parquet" => {
                let function = format!("read_traffic_{}", ending(stem));
                let object = py.import("netloom.interop")?.call_method1(function, (source,))?;
                return Ok(object.cast_into::<Self>()?.unbind());
            }
            "toml" => match fabric {
                Some(fabric) => {
                    let all = AdapterChoice::default();
                    Self::of_jobs(py, fabric.get(), &source, seed, collectives, &all)?.0
                }
                None => {
                    let message =
                        format!("{name}: a jobs file is placed on a fabric: expected one beside it");
                    return Err(errors::traffic(py, message));
                }
            },
            "ti" | "goal" | "et" | "otf2" | "meta" | "prof" => {
                read_trace(py, &source, &collectives.options())?.into()
            }
            _ if source.is_dir() => read_trace(py, &source, &collectives.options())?.into(),
            format @ ("mtx" | "csv") => {
                let names = fabric.map(|f| f.get().fabric());
                parse(py, &io::read(py, &source)?, format, &name, names, collectives)?
            }
            // An index of traces has any name, so what begins as no traffic does is called by its ending.
            _ if source.is_file() => {
                let data = io::read(py, &source)?;
                match traffic_format(py, &data)? {
                    "csv" if ending(stem) != "txt" => return Err(no_traffic(py, &name)),
                    "ti" | "goal" | "dumpi" | "otf2" | "chakra" => {
                        read_trace(py, &source, &collectives.options())?.into()
                    }
                    format => {
                        let names = fabric.map(|f| f.get().fabric());
                        parse(py, &data, format, &name, names, collectives)?
                    }
                }
            }
            _ => return Err(no_traffic(py, &name)),
        };
        Py::new(py, traffic)
    }

    /// Parses traffic.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     What the file holds, gzip or not.
    /// format : {"mtx", "csv", "dense", "ti", "goal"}
    ///     Matrix Market, CSV triples, a dense table, a time-independent trace, a GOAL schedule.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    /// collectives : {"all", "none"}, optional
    ///     Whether those of traces count; None: `all`.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// FormatError, TrafficError
    ///     If it is no such file, or a value is impossible.
    #[staticmethod]
    #[pyo3(signature = (data, format, *, label = "<bytes>", collectives = None))]
    fn parse(
        py: Python<'_>,
        data: &[u8],
        format: &str,
        label: &str,
        collectives: Option<&str>,
    ) -> PyResult<Self> {
        parse(py, data, format, label, None, Collectives::parse(py, collectives)?)
    }

    /// The pattern that a spec names.
    ///
    /// Parameters
    /// ----------
    /// spec : str
    ///     E.g. `"shift:4"`, `"permutation:seed=1"`; `docs/traffic.md` lists them.
    /// endpoints : int, optional
    ///     How many; None: as the spec says.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// SpecError
    ///     If there is no such pattern, or it does not fit so many endpoints.
    ///
    /// Examples
    /// --------
    /// >>> netloom.Traffic.pattern("shift:4", 32).pairs
    /// 32
    #[staticmethod]
    #[pyo3(signature = (spec, endpoints = None))]
    fn pattern(
        py: Python<'_>,
        spec: &str,
        #[pyo3(from_py_with = arguments::endpoints)] endpoints: Option<u32>,
    ) -> PyResult<Self> {
        Ok(make_pattern(py, spec, endpoints, None)?.into())
    }

    /// Traffic from columns; duplicates add up, zeros drop out.
    ///
    /// Parameters
    /// ----------
    /// endpoints : int or Fabric
    ///     How many endpoints there are, or the fabric whose hosts they are.
    /// sources, destinations : array of int or str
    ///     0 to `endpoints` - 1; or names of the fabric's hosts.
    /// bytes : array of float
    ///     At least 0.
    /// packets : array of float, optional
    ///     Packets of each; None: unknown.
    /// hosts_hash : str, optional
    ///     `Fabric.hosts_hash`, if endpoints are the hosts of a fabric that is not given.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If columns differ in length, a number is no whole one, a name is no host's, or a value is impossible.
    ///
    /// Examples
    /// --------
    /// >>> netloom.Traffic.from_triples(4, [0, 1], [2, 3], [1e6, 2e6]).total_bytes
    /// 3000000.0
    /// >>> fabric = netloom.Fabric.generate("two-level:leaves=2,hosts=2,spines=1")
    /// >>> netloom.Traffic.from_triples(fabric, fabric.host_names[:1], fabric.host_names[3:], [7.0]).to_scipy()[0, 3].item()
    /// 7.0
    #[staticmethod]
    #[pyo3(signature = (endpoints, sources, destinations, bytes, packets = None, *, hosts_hash = None))]
    fn from_triples<'py>(
        endpoints: Bound<'py, PyAny>,
        sources: Bound<'py, PyAny>,
        destinations: Bound<'py, PyAny>,
        bytes: Bound<'py, PyAny>,
        packets: Option<Bound<'py, PyAny>>,
        hosts_hash: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let columns = (&endpoints, sources, destinations, bytes, packets, hosts_hash);
        endpoints.py().import("netloom.sparse")?.call_method1("of_triples", columns)
    }

    /// Traffic from a matrix, rows send.
    ///
    /// Parameters
    /// ----------
    /// matrix : SciPy sparse matrix
    ///     Square; bytes, at least 0.
    /// hosts_hash : str, optional
    ///     `Fabric.hosts_hash`, if endpoints are the hosts of a fabric.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If it is not square, or a value is impossible.
    #[staticmethod]
    #[pyo3(signature = (matrix, *, hosts_hash = None))]
    fn from_scipy<'py>(
        py: Python<'py>,
        matrix: Bound<'py, PyAny>,
        hosts_hash: Option<&str>,
    ) -> PyResult<Bound<'py, PyAny>> {
        py.import("netloom.interop")?.call_method1("from_scipy", (matrix, hosts_hash))
    }

    /// How many endpoints there are: hosts once placed, ranks before.
    #[getter]
    fn endpoints(&self) -> u32 {
        self.shared.traffic.endpoints()
    }

    /// Pairs with traffic.
    #[getter]
    fn pairs(&self) -> usize {
        self.shared.total().entry_count()
    }

    /// Bytes of all pairs.
    #[getter]
    fn total_bytes(&self) -> f64 {
        self.shared.total().total_bytes()
    }

    /// What the bytes are: messages from one to one, collectives, what of these stays within an endpoint, what was left out.
    #[getter]
    fn made_of<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = self.shared.bytes();
        let bytes = PyDict::new(py);
        bytes.set_item("point_to_point", made.point_to_point)?;
        bytes.set_item("collective", made.collective)?;
        bytes.set_item("within_endpoints", made.within_endpoints)?;
        bytes.set_item("left_out", made.left_out)?;
        Ok(bytes)
    }

    /// What to know of what it was read from: kind and text of each.
    #[getter]
    fn notes(&self) -> Vec<(&'static str, String)> {
        let mut notes = self.shared.notes.clone();
        if self.shared.total().entry_count() == 0 {
            let within = self.shared.made_of.map_or(0.0, |made| made.within_endpoints);
            let why = if within > 0.0 { "all stays within hosts" } else { "nobody sends anything" };
            notes.push(("no-traffic", format!("{why}: whatever is said of loads and bounds is of nothing")));
        }
        notes
    }

    /// Hash of the hosts that it is placed on; None before.
    #[getter]
    fn hosts_hash(&self) -> Option<String> {
        self.shared.traffic.hosts_hash().map(|h| format!("{h:016x}"))
    }

    /// Names of its phases, in order.
    #[getter]
    fn phase_names(&self) -> Vec<&str> {
        self.shared.traffic.phases().iter().map(|p| p.name.as_str()).collect()
    }

    /// How often each phase happens.
    #[getter]
    fn phase_repeats(&self) -> Vec<f64> {
        self.shared.traffic.phases().iter().map(|p| p.repeats).collect()
    }

    /// Where each source's pairs begin in `indices` and `data`, one more than endpoints.
    #[getter]
    fn indptr<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<i64>> {
        arrays::view(slf, |t| arrays::as_i64(t.shared.total().offsets()))
    }

    /// Destination of every pair, by row.
    #[getter]
    fn indices<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<i32>> {
        arrays::view(slf, |t| arrays::as_i32(t.shared.total().columns()))
    }

    /// Bytes of every pair, by row: the values of a compressed sparse row matrix.
    #[getter]
    fn data<'py>(slf: &Bound<'py, Self>) -> Bound<'py, PyArray1<f64>> {
        arrays::view(slf, |t| t.shared.total().bytes())
    }

    /// One occurrence of a phase as traffic of its own.
    ///
    /// Parameters
    /// ----------
    /// index : int
    ///     Which, from 0.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If there is no such phase.
    fn phase(&self, py: Python<'_>, #[pyo3(from_py_with = arguments::index)] index: usize) -> PyResult<Self> {
        let traffic = &self.shared.traffic;
        let phase = traffic.phases().get(index).ok_or_else(|| {
            errors::traffic(py, format!("no phase {index}: expected one below {}", traffic.phases().len()))
        })?;
        let once = Phase::once(phase.name.clone(), phase.matrix.clone());
        Ok(Traffic::from_phases(vec![once]).with_hosts_hash(traffic.hosts_hash()).into())
    }

    /// Places a rank matrix on hosts.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     The fabric.
    /// allocation : str, default "fragmented"
    ///     Which hosts: `contiguous`, `random`, `fragmented`, …; `docs/verbs/traffic.md` lists them.
    /// mapping : str, default "block"
    ///     Which rank goes where: `block`, `cyclic`, `random`, `tiled:4x4x2`, …
    /// ranks_per_host : int, optional
    ///     At most so many ranks a machine; None: spread evenly.
    /// copies : int, default 1
    ///     Instances side by side, each on machines of its own.
    /// cross_copies : bool, default False
    ///     Whether rank *i* of each copy also sends to rank *j* of each other.
    /// grid : sequence of int, optional
    ///     The process grid that tiles cut, x fastest; None: the pattern's own.
    /// hosts : str, optional
    ///     These hosts in this order, in Slurm's notation, instead of `allocation`.
    /// seed : int, default 0
    ///     Seed of random choices.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///     Over the fabric's hosts.
    ///
    /// Raises
    /// ------
    /// PlaceError
    ///     If there is no such allocation or mapping, or there are too few hosts.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    /// >>> netloom.Traffic.pattern("shift:4", 32).place(fabric, ranks_per_host=2, seed=1).endpoints
    /// 16
    #[pyo3(signature = (fabric, *, allocation = "fragmented", mapping = "block", ranks_per_host = None, copies = 1,
                        cross_copies = false, grid = None, hosts = None, seed = 0))]
    #[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
    fn place(
        &self,
        py: Python<'_>,
        fabric: &PyFabric,
        allocation: &str,
        mapping: &str,
        #[pyo3(from_py_with = arguments::ranks_per_host)] ranks_per_host: Option<u32>,
        #[pyo3(from_py_with = arguments::copies)] copies: u32,
        cross_copies: bool,
        #[pyo3(from_py_with = arguments::grid)] grid: Option<Vec<u32>>,
        hosts: Option<&str>,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
    ) -> PyResult<Self> {
        let allocation = match hosts {
            Some(list) => {
                Allocation::Hosts(formats::expand_hostlist(list).map_err(|e| errors::place(py, e))?)
            }
            None => formats::parse_allocation(allocation).map_err(|e| errors::place(py, e))?,
        };
        let spec = JobSpec {
            name: "job".into(),
            source: Source::Ranks(self.endpoints()),
            allocation,
            mapping: formats::parse_mapping(mapping).map_err(|e| errors::place(py, e))?,
            adapters: AdapterChoice::default(),
            ranks_per_host,
            copies,
            cross_copies,
            grid: grid.unwrap_or_default(),
        };
        let rank_hosts = rank_hosts(py, &spec.mapping, Path::new(""))?;
        let job = ResolvedJob { spec, traffic: self.shared.traffic.clone(), rank_hosts };
        let placed = run(py, Options::default(), |_| patterns::place(fabric.fabric(), &[job], seed))?
            .map_err(|e| errors::place(py, e))?;
        Ok(placed.traffic.into())
    }

    /// A sample of what traffic estimated with an error may turn out to be.
    ///
    /// Parameters
    /// ----------
    /// error : float
    ///     Relative error of every entry, at least 0.
    /// seed : int, default 0
    ///     Seed of the draw.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If the error is negative or not finite.
    #[pyo3(signature = (error, *, seed = 0))]
    fn perturbed(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::error)] error: f64,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
    ) -> PyResult<Self> {
        self.sample(py, patterns::Estimate::Relative(error), seed)
    }

    /// A sample of what traffic may turn out to be, with the standard error of every entry.
    ///
    /// Parameters
    /// ----------
    /// errors : Traffic
    ///     Standard errors, bytes, of as many endpoints.
    /// seed : int, default 0
    ///     Seed of the draw.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If they have other endpoints.
    #[pyo3(signature = (errors, *, seed = 0))]
    fn perturbed_by(
        &self,
        py: Python<'_>,
        errors: &Self,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
    ) -> PyResult<Self> {
        self.sample(py, patterns::Estimate::Bytes(&errors.shared.traffic), seed)
    }

    /// Mean links from host to host over the pairs.
    ///
    /// Parameters
    /// ----------
    /// fabric : Fabric
    ///     On which it is placed.
    ///
    /// Returns
    /// -------
    /// float or None
    ///     None if no admissible way joins any.
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If it is of other hosts.
    fn mean_hops(&self, py: Python<'_>, fabric: &PyFabric) -> PyResult<Option<f64>> {
        self.check_fits(py, fabric)?;
        let (shared, total) = (&fabric.shared, self.shared.total());
        run(py, Options::default(), |_| routing::mean_hops(&shared.fabric, shared.paths(), total))
    }

    /// The matrix, rows send.
    ///
    /// Parameters
    /// ----------
    /// copy : bool, default True
    ///     Arrays of its own, which may be changed. Otherwise it shares the traffic's, which are read-only: SciPy sorts and sums only copies.
    ///
    /// Returns
    /// -------
    /// scipy.sparse.csr_array
    #[pyo3(signature = (*, copy = true))]
    fn to_scipy(slf: Bound<'_, Self>, copy: bool) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.interop")?.call_method1("to_scipy", (slf, copy))
    }

    /// Pairs as an Arrow table.
    ///
    /// Returns
    /// -------
    /// pyarrow.Table
    ///     source, destination, bytes.
    fn to_arrow(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.interop")?.call_method1("traffic_to_arrow", (slf,))
    }

    /// Pairs as a pandas DataFrame: source, destination, bytes.
    fn to_pandas(slf: Bound<'_, Self>) -> PyResult<Bound<'_, PyAny>> {
        slf.py().import("netloom.frames")?.call_method1("to_pandas", (slf,))
    }

    /// Traffic from a DataFrame.
    ///
    /// Parameters
    /// ----------
    /// frame : pandas.DataFrame
    ///     Columns source, destination and bytes: numbers, or names of the fabric's hosts.
    /// fabric : Fabric, optional
    ///     Whose hosts they are.
    /// endpoints : int, optional
    ///     How many endpoints there are, without a fabric.
    ///
    /// Returns
    /// -------
    /// Traffic
    ///
    /// Raises
    /// ------
    /// TrafficError
    ///     If a column is missing, or a value is impossible.
    #[staticmethod]
    #[pyo3(signature = (frame, fabric = None, *, endpoints = None))]
    fn from_pandas<'py>(
        frame: Bound<'py, PyAny>,
        fabric: Option<Bound<'py, PyAny>>,
        #[pyo3(from_py_with = arguments::endpoints)] endpoints: Option<u32>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let args = (&frame, fabric, endpoints);
        frame.py().import("netloom.frames")?.call_method1("traffic_from_pandas", args)
    }

    /// All phases added up, as a file holds them.
    ///
    /// Parameters
    /// ----------
    /// format : {"mtx", "csv"}
    ///     Matrix Market, or CSV triples.
    ///
    /// Returns
    /// -------
    /// bytes
    fn to_bytes<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.serialise(py, format)?))
    }

    /// Writes the traffic.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     Ends in .mtx, .csv, .npz or .parquet (.gz of the first two); the file is replaced whole or not at all.
    ///
    /// Raises
    /// ------
    /// FormatError, OSError
    ///     If there is no such ending, or it cannot be written.
    fn write(slf: Bound<'_, Self>, path: PathBuf) -> PyResult<()> {
        let py = slf.py();
        let name = path.to_string_lossy().into_owned();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        match ending(stem) {
            "npz" | "parquet" => {
                let function = format!("write_traffic_{}", ending(stem));
                py.import("netloom.interop")?.call_method1(function, (slf, path))?;
                Ok(())
            }
            format @ ("mtx" | "csv") => io::write(py, &path, &slf.get().serialise(py, format)?),
            _ => {
                let message = format!("{name}: expected an ending of .mtx[.gz], .csv[.gz], .npz or .parquet");
                Err(errors::format_parts(py, &message, Some(&name), None))
            }
        }
    }

    fn __add__(&self, py: Python<'_>, other: &Self) -> PyResult<Self> {
        self.sum(other).map_err(|e| errors::traffic(py, e))
    }

    /// 0 and traffic: what `sum` begins with.
    fn __radd__<'py>(slf: Bound<'py, Self>, other: &Bound<'py, PyAny>) -> Bound<'py, PyAny> {
        match other.extract::<u64>() {
            Ok(0) => slf.into_any(),
            _ => slf.py().NotImplemented().into_bound(slf.py()),
        }
    }

    fn __mul__(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        self.scaled(factor).map_err(|e| errors::traffic(py, e))
    }

    fn __rmul__(&self, py: Python<'_>, factor: f64) -> PyResult<Self> {
        self.__mul__(py, factor)
    }

    fn __repr__(&self) -> String {
        format!("<netloom.Traffic: {} endpoints, {} pairs>", self.endpoints(), self.pairs())
    }
}

impl PyTraffic {
    pub fn made(traffic: Traffic, made_of: Option<MadeOf>, notes: Vec<(&'static str, String)>) -> Self {
        Self { shared: Arc::new(Shared { traffic, total: OnceLock::new(), made_of, notes }) }
    }

    fn sample(&self, py: Python<'_>, error: patterns::Estimate<'_>, seed: u64) -> PyResult<Self> {
        let sample = run(py, Options::default(), |_| patterns::perturb(&self.shared.traffic, error, seed))?;
        Ok(sample.map_err(|e| errors::traffic(py, e))?.into())
    }

    fn serialise(&self, py: Python<'_>, format: &str) -> PyResult<Vec<u8>> {
        let hash = self.shared.traffic.hosts_hash();
        match format {
            "mtx" => Ok(formats::write_mtx(self.shared.total(), hash)),
            "csv" => Ok(formats::write_csv_triples(self.shared.total(), None, hash)),
            other => Err(unknown_format(py, other)),
        }
    }

    /// That this traffic belongs on `fabric`.
    pub fn check_fits(&self, py: Python<'_>, fabric: &PyFabric) -> PyResult<()> {
        self.shared.traffic.check_fits(fabric.fabric()).map_err(|e| errors::traffic(py, e))
    }
}

/// Traffic from columns that are what they should be; `netloom.sparse.of_triples` is the door that sees to that.
///
/// Raises
/// ------
/// TrafficError
///     If columns differ in length, or a value is impossible.
#[pyfunction]
#[pyo3(signature = (endpoints, sources, destinations, bytes, packets = None, hosts_hash = None))]
pub fn traffic_of_columns(
    py: Python<'_>,
    #[pyo3(from_py_with = arguments::endpoints)] endpoints: u32,
    sources: PyReadonlyArray1<'_, u64>,
    destinations: PyReadonlyArray1<'_, u64>,
    bytes: PyReadonlyArray1<'_, f64>,
    packets: Option<PyReadonlyArray1<'_, f64>>,
    hosts_hash: Option<&str>,
) -> PyResult<PyTraffic> {
    let (sources, destinations) = (sources.as_array().to_vec(), destinations.as_array().to_vec());
    let (bytes, packets) = (bytes.as_array().to_vec(), packets.map(|p| p.as_array().to_vec()));
    let hash = hosts_hash.map(|h| parse_hash(py, h)).transpose()?;
    let traffic = Traffic::from_triples(endpoints, &sources, &destinations, &bytes, packets.as_deref())
        .map_err(|e| errors::traffic(py, e))?;
    Ok(traffic.with_hosts_hash(hash).into())
}

/// The group of every host, where a pattern asks for groups.
fn groups_for(py: Python<'_>, spec: &str, fabric: &PyFabric) -> PyResult<Option<Vec<u32>>> {
    if !patterns::wants_group(spec) {
        return Ok(None);
    }
    match fabric.shared.structure().shape.groups() {
        Some(groups) => Ok(Some(groups.of_hosts(fabric.fabric()))),
        None => {
            let message = format!(
                "{spec}: the fabric is no dragonfly: expected group=N, such as adversarial:1,group=32"
            );
            Err(errors::spec(py, message))
        }
    }
}

fn make_pattern(
    py: Python<'_>,
    spec: &str,
    endpoints: Option<u32>,
    group_of: Option<&[u32]>,
) -> PyResult<Traffic> {
    let made = |_: &_| match group_of {
        Some(group_of) => patterns::pattern_in_groups(spec, group_of),
        None => patterns::pattern(spec, endpoints),
    };
    run(py, Options::default(), made)?.map_err(|e| errors::spec(py, e))
}

fn parse(
    py: Python<'_>,
    data: &[u8],
    format: &str,
    label: &str,
    fabric: Option<&Fabric>,
    collectives: Collectives,
) -> PyResult<PyTraffic> {
    if matches!(format, "ti" | "goal" | "dumpi" | "otf2" | "chakra") {
        return Ok(parse_trace(py, data, label, &collectives.options())?.into());
    }
    let traffic = run(py, Options::default(), |_| match format {
        "mtx" => Some(formats::read_mtx(data, label)),
        "csv" => Some(formats::read_csv_triples(data, label, fabric)),
        "dense" => Some(dense(data, label)),
        _ => None,
    })?
    .ok_or_else(|| unknown_format(py, format))?
    .map_err(|e| errors::format(py, &e))?;
    Ok(traffic.into())
}

fn dense(data: &[u8], label: &str) -> Result<Traffic, formats::FormatError> {
    let data = formats::decompress(data, label)?;
    let text = str::from_utf8(&data);
    let text = text.map_err(|_| formats::FormatError::whole(label, "expected text in UTF-8"))?;
    formats::read_dense(text, label)
}

fn no_traffic(py: Python<'_>, name: &str) -> PyErr {
    let message = format!(
        "{name}: neither a pattern nor a file that ends in .mtx[.gz], .csv[.gz], .ti[.gz], .goal[.gz], .txt[.gz], .npz, .npy, .parquet or .toml"
    );
    errors::format_parts(py, &message, Some(name), None)
}

fn unknown_format(py: Python<'_>, format: &str) -> PyErr {
    errors::format_parts(
        py,
        &format!("unknown format \"{format}\": expected mtx, csv, dense, ti or goal"),
        None,
        None,
    )
}

fn parse_hash(py: Python<'_>, text: &str) -> PyResult<u64> {
    u64::from_str_radix(text, 16)
        .map_err(|_| errors::traffic(py, format!("hosts hash \"{text}\": expected 16 hexadecimal digits")))
}

fn ending(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, ending)| ending)
}

/// Reads a jobs file and places its ranks on hosts.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// jobs : path
///     A jobs file (.toml); files that it names are relative to it.
/// seed : int, optional
///     Seed of fragmented and random placements; None: the file's own.
/// collectives : {"all", "none"}, optional
///     Whether collectives of traces count; None: `all`.
/// adapters : str, optional
///     Adapters of jobs that do not choose theirs, in the words of a jobs file; None: all.
/// storage : str, optional
///     Adapters that jobs do not use, likewise; None: none.
///
/// Returns
/// -------
/// (Traffic, list of Job)
///     The traffic of all jobs, and where every rank is.
///
/// Raises
/// ------
/// FormatError, SpecError, TrafficError, PlaceError, OSError
///     If the file is not what it should be, or there are too few hosts.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=8,hosts=4,spines=4")
/// >>> from netloom import examples
/// >>> traffic, jobs = netloom.place_jobs(fabric, examples.path("jobs/boxlib.toml"))
/// >>> [(job.name, len(job.hosts)) for job in jobs]
/// [('boxlibmg.0', 16), ('boxlibmg.1', 16)]
#[pyfunction]
#[pyo3(name = "place_jobs", signature = (fabric, jobs, *, seed = None, collectives = None, adapters = None, storage = None))]
pub fn place_jobs(
    py: Python<'_>,
    fabric: &PyFabric,
    jobs: PathBuf,
    #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
    collectives: Option<&str>,
    adapters: Option<&str>,
    storage: Option<&str>,
) -> PyResult<(PyTraffic, Vec<PyJob>)> {
    let parse = |what: &str, text: Option<&str>| match text.map(formats::parse_adapters) {
        None => Ok(Vec::new()),
        Some(parsed) => parsed.map_err(|message| errors::spec(py, format!("{what}: {message}"))),
    };
    let chosen = AdapterChoice { only: parse("adapters", adapters)?, storage: parse("storage", storage)? };
    PyTraffic::of_jobs(py, fabric, &jobs, seed, Collectives::parse(py, collectives)?, &chosen)
}

impl PyTraffic {
    /// The traffic of a jobs file, and its jobs.
    fn of_jobs(
        py: Python<'_>,
        fabric: &PyFabric,
        jobs: &Path,
        seed: Option<u64>,
        collectives: Collectives,
        adapters: &AdapterChoice,
    ) -> PyResult<(Self, Vec<PyJob>)> {
        let read = |path: PathBuf| {
            let object = Self::read(py, path, None, None, None)?;
            Ok(object.get().shared.traffic.clone())
        };
        let placed = placed(py, fabric, jobs, seed, collectives, adapters, &read)?;
        Ok((Self::made(placed.traffic, Some(placed.made_of), placed.notes), placed.jobs))
    }
}
