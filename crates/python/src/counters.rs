//! `netloom.Counters`: what ports counted, by interval; and the counters that traffic would leave.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use netloom_counters::{self as counters, Amounts, SynthOptions, Unit};
use netloom_formats::{self as formats, CountersContent, CountersFile, FormatError};
use netloom_model::{Counters, Finding, Interval, LinkId, PortError, Quality, Reading};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};

use crate::fabric::{PyFabric, Shared, link_dict};
use crate::findings::findings;
use crate::routes::RoutesOrEngine;
use crate::run::{Options, run};
use crate::traffic::PyTraffic;
use crate::{arguments, errors, io};

/// What the ports of a fabric counted, by interval. Immutable.
#[pyclass(frozen, weakref, name = "Counters", module = "netloom._core")]
pub struct PyCounters {
    /// The fabric that they belong to.
    pub shared: Arc<Shared>,
    pub(crate) kind: String,
    /// The counters themselves.
    pub counters: Counters,
    /// What the intervals were made of, if they were read as absolute values.
    pub readings: Vec<Reading>,
    /// Whether the intervals were told, not made of the readings.
    pub(crate) told: bool,
    pub(crate) notes: Vec<String>,
    pub(crate) foreign: Option<String>,
    /// What was counted in the last interval, errors too, where a file tells that.
    pub(crate) counted: Option<Reading>,
    /// What ports say went wrong: between the readings, or since they were set back.
    pub(crate) errors: Vec<Finding>,
}

#[pymethods]
impl PyCounters {
    /// Reads counters in any of the formats.
    ///
    /// One reading becomes an interval since the counters were last set back; several become intervals from each to the next.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file.
    /// fabric : Fabric
    ///     The fabric that it belongs to.
    ///
    /// Returns
    /// -------
    /// Counters
    ///
    /// Raises
    /// ------
    /// FormatError, CountersError, OSError
    ///     If it is none of the formats, of another fabric, or cannot be read.
    ///
    /// Examples
    /// --------
    /// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
    /// >>> netloom.synth_counters(fabric, "ftree", netloom.Traffic.read("shift:4", fabric)).write("c.csv")
    /// >>> netloom.Counters.read("c.csv", fabric).intervals
    /// 1
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf, fabric: &PyFabric) -> PyResult<Self> {
        let data = io::read(py, &path)?;
        Self::parse(py, &data, fabric, &path.display().to_string())
    }

    /// Parses counters in any of the formats.
    ///
    /// Parameters
    /// ----------
    /// data : bytes
    ///     What a file of counters holds.
    /// fabric : Fabric
    ///     The fabric that it belongs to.
    /// label : str, default "<bytes>"
    ///     What messages call the data.
    ///
    /// Returns
    /// -------
    /// Counters
    ///
    /// Raises
    /// ------
    /// FormatError, CountersError
    ///     If it is none of the formats, or of another fabric.
    #[staticmethod]
    #[pyo3(signature = (data, fabric, *, label = "<bytes>"))]
    fn parse(py: Python<'_>, data: &[u8], fabric: &PyFabric, label: &str) -> PyResult<Self> {
        if data.starts_with(b"PAR1") {
            let interop = py.import("netloom.interop")?;
            let text: Vec<u8> =
                interop.call_method1("counters_csv", (PyBytes::new(py, data), label))?.extract()?;
            return Self::from_file(py, fabric, label, || {
                formats::read_counters(&text, label, fabric.fabric())
            });
        }
        Self::from_file(py, fabric, label, || formats::read_counters(data, label, fabric.fabric()))
    }

    /// Counters in the files of a sysfs tree.
    ///
    /// Parameters
    /// ----------
    /// files : sequence of (str, bytes)
    ///     Their paths, and what they hold.
    /// fabric : Fabric
    ///     The fabric that it belongs to.
    /// label : str, default "<files>"
    ///     What messages call them.
    ///
    /// Returns
    /// -------
    /// Counters
    ///
    /// Raises
    /// ------
    /// FormatError, CountersError
    ///     If a file holds no number, or nothing belongs to the fabric.
    #[staticmethod]
    #[pyo3(signature = (files, fabric, *, label = "<files>"))]
    fn from_sysfs(
        py: Python<'_>,
        files: Vec<(String, Vec<u8>)>,
        fabric: &PyFabric,
        label: &str,
    ) -> PyResult<Self> {
        Self::from_file(py, fabric, label, || formats::read_sysfs(&files, label, fabric.fabric()))
    }

    /// The fabric whose ports counted.
    #[getter]
    fn fabric(&self) -> PyFabric {
        PyFabric { shared: Arc::clone(&self.shared) }
    }

    /// What showed them.
    #[getter]
    fn kind(&self) -> &str {
        &self.kind
    }

    /// How many intervals there are.
    #[getter]
    fn intervals(&self) -> usize {
        self.counters.intervals().len()
    }

    /// How many absolute readings they were made of.
    #[getter]
    fn readings(&self) -> usize {
        self.readings.len()
    }

    /// What was odd about the file.
    #[getter]
    pub fn notes(&self) -> Vec<&str> {
        self.notes.iter().map(String::as_str).collect()
    }

    /// Why a file is hardly this fabric's, if so.
    #[getter]
    pub fn foreign(&self) -> Option<&str> {
        self.foreign.as_deref()
    }

    /// What was counted since an earlier reading of the same ports.
    ///
    /// Parameters
    /// ----------
    /// before : Counters
    ///     The earlier reading.
    /// seconds : float, optional
    ///     How long that is, where the files do not tell.
    /// start_s : float, optional
    ///     When the earlier reading was made, in seconds of any clock, where the files do not tell. [default: 0]
    ///
    /// Returns
    /// -------
    /// Counters
    ///     One interval.
    ///
    /// Raises
    /// ------
    /// CountersError
    ///     If one of them is not a reading, or of another fabric.
    #[pyo3(signature = (before, *, seconds = None, start_s = None))]
    fn since(
        &self,
        py: Python<'_>,
        before: &PyCounters,
        seconds: Option<f64>,
        start_s: Option<f64>,
    ) -> PyResult<Self> {
        let (Some(first), Some(second)) = (before.readings.last(), self.readings.last()) else {
            let message =
                "these are intervals already: expected two readings (absolute values of the same counters)";
            return Err(errors::counters(py, message));
        };
        let fabric = &self.shared.fabric;
        let mut span = counters::span(fabric, first, second).map_err(|e| errors::counters(py, e))?;
        if let Some(seconds) = seconds.filter(|s| s.is_finite() && *s >= 0.0)
            && span.end_ns == span.start_ns
        {
            if let Some(start_s) = start_s.filter(|s| s.is_finite() && *s >= 0.0) {
                span.start_ns = (start_s * 1e9) as u64;
            }
            span.end_ns = span.start_ns.saturating_add((seconds * 1e9) as u64);
        }
        let counters = only(py, &self.shared, span)?;
        let notes = before.notes.iter().chain(&self.notes).cloned().collect();
        let errors = counters::port_errors(fabric, Some(first), second);
        Ok(Self {
            errors,
            shared: Arc::clone(&self.shared),
            kind: self.kind.clone(),
            counters,
            readings: Vec::new(),
            told: true,
            notes,
            foreign: before.foreign.clone().or_else(|| self.foreign.clone()),
            counted: None,
        })
    }

    /// What ports say went wrong by their error counters, as findings: between the readings, or, of one, since they were set back.
    #[getter]
    fn port_errors<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        findings(py, self.errors.iter().map(|f| (f.kind, f.text.as_str().into())))
    }

    /// Counters of errors, port by port.
    ///
    /// Parameters
    /// ----------
    /// which : {"last", "first", "counted"}
    ///     Of several readings the latest value that each port told, the earliest of those that told several, or what a file tells
    ///     of its interval.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Columns `link` (that leaves the port), `counter` (the place in `error_counters()`), `value`, `full` (it stands at its
    ///     largest value) and `impossible` (no count).
    ///
    /// Raises
    /// ------
    /// ArgumentError
    ///     If `which` is none of these.
    fn error_counts<'py>(&self, py: Python<'py>, which: &str) -> PyResult<Bound<'py, PyDict>> {
        let rows: BTreeMap<Port, Shown> = match which {
            "last" => shown(&self.readings).into_iter().map(|(port, [_, last])| (port, last)).collect(),
            "first" => {
                let several =
                    shown(&self.readings).into_iter().filter(|(_, [first, last])| first.at < last.at);
                several.map(|(port, [first, _])| (port, first)).collect()
            }
            "counted" => {
                shown(self.counted.as_slice()).into_iter().map(|(port, [_, last])| (port, last)).collect()
            }
            other => {
                let message = format!("which: expected last, first or counted, found \"{other}\"");
                return Err(errors::argument(py, message));
            }
        };
        let dict = PyDict::new(py);
        dict.set_item("link", PyArray1::from_iter(py, rows.keys().map(|port| port.0.0)))?;
        dict.set_item("counter", PyArray1::from_iter(py, rows.keys().map(|port| port.1 as u8)))?;
        dict.set_item("value", PyArray1::from_iter(py, rows.values().map(|row| row.value)))?;
        dict.set_item("full", PyArray1::from_iter(py, rows.values().map(|row| row.full)))?;
        dict.set_item("impossible", PyArray1::from_iter(py, rows.values().map(|row| row.impossible)))?;
        Ok(dict)
    }

    /// How many counters fell since an earlier reading: more than a few mean that they were set back or wrapped.
    ///
    /// Parameters
    /// ----------
    /// before : Counters
    ///     The earlier reading.
    ///
    /// Returns
    /// -------
    /// (int, int)
    ///     Counters of data and packets that fell, and that changed.
    fn fallen_since(&self, before: &PyCounters) -> (usize, usize) {
        match (before.readings.last(), self.readings.last()) {
            (Some(first), Some(second)) => counters::fallen(&self.shared.fabric, first, second),
            _ => (0, 0),
        }
    }

    /// What hosts sent, bytes, if that is no more than management sends in small packets: nobody else was there; else `None`.
    #[getter]
    fn idle_bytes(&self) -> Option<f64> {
        counters::idle(&self.shared.fabric, &counters::added_up(&self.counters)?)
    }

    /// What is wrong with the counters.
    fn check<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let (fabric, intervals) = (&self.shared.fabric, self.counters.intervals());
        let found: Vec<_> = run(py, Options::default(), |_| {
            let of = |(number, interval): (usize, &Interval)| {
                let prefix = if intervals.len() > 1 { format!("interval {number}: ") } else { String::new() };
                let found = counters::check(fabric, interval).into_iter();
                found.map(move |f| (f.kind, format!("{prefix}{}", f.text))).collect::<Vec<_>>()
            };
            intervals.iter().enumerate().flat_map(of).collect()
        })?;
        findings(py, found.into_iter().map(|(kind, text)| (kind, text.into())))
    }

    /// All intervals added up, in the keys of a result.
    ///
    /// Parameters
    /// ----------
    /// busiest : int, default 10
    ///     How many links that carried most are listed.
    ///
    /// Returns
    /// -------
    /// dict
    #[pyo3(signature = (*, busiest = 10))]
    fn summary<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::busiest)] busiest: usize,
    ) -> PyResult<Bound<'py, PyDict>> {
        let fabric = &self.shared.fabric;
        let found = run(py, Options::default(), |_| {
            let sum = counters::added_up(&self.counters)?;
            let figures = counters::summary(fabric, &sum);
            let links = counters::busiest(&figures.measured, busiest);
            Some((sum, figures, links))
        })?;
        let Some((sum, figures, links)) = found else {
            return Err(errors::counters(py, "there are no intervals"));
        };
        let dict = PyDict::new(py);
        let timed = sum.end_ns > sum.start_ns;
        dict.set_item("kind", &self.kind)?;
        dict.set_item("readings", if self.told { 0 } else { self.readings.len() })?;
        dict.set_item("intervals", self.counters.intervals().len())?;
        dict.set_item("seconds", timed.then(|| (sum.end_ns - sum.start_ns) as f64 / 1e9))?;
        dict.set_item("lanes", figures.measured.lanes)?;
        dict.set_item("links", fabric.alive_count())?;
        let [both, one, none] = figures.links_by_ends;
        dict.set_item("links_by_both_ends", both)?;
        dict.set_item("links_by_one_end", one)?;
        dict.set_item("links_unknown", none)?;
        dict.set_item("host_bytes", figures.host_bytes)?;
        dict.set_item("link_bytes", figures.link_bytes)?;
        dict.set_item("host_packets", figures.host_packets)?;
        let noise = figures.measured.noise;
        let known = noise.comparisons > 0;
        dict.set_item("noise_percent", known.then_some(100.0 * noise.relative))?;
        dict.set_item("noise_floor_bytes", known.then_some(noise.floor))?;
        dict.set_item("noise_comparisons", noise.comparisons)?;
        let flagged = PyDict::new(py);
        for ((_, name), count) in Quality::FLAGS.iter().zip(figures.flagged) {
            flagged.set_item(name, count)?;
        }
        let conflicts = figures.measured.whole.quality.iter().filter(|q| q.has(Quality::CONFLICT)).count();
        flagged.set_item("conflict", conflicts)?;
        dict.set_item("flagged", flagged)?;
        let list = PyList::empty(py);
        let labels = counters::Labels::of(fabric);
        for (link, bytes) in links {
            let row = link_dict(py, fabric, link, 0.0)?;
            row.del_item("load")?;
            row.set_item("from_guid", labels.guid(fabric.link_from(link)))?;
            row.set_item("to_guid", labels.guid(fabric.link_to(link)))?;
            row.set_item("bytes", bytes)?;
            let could = fabric.bandwidth_bytes_per_s(link) * (sum.end_ns - sum.start_ns) as f64 * 1e-9;
            row.set_item("utilisation", timed.then(|| bytes / could))?;
            list.append(row)?;
        }
        dict.set_item("busiest", list)?;
        Ok(dict)
    }

    /// What every link and lane carried in an interval, from both ends.
    ///
    /// Parameters
    /// ----------
    /// interval : int, default 0
    ///     Which.
    /// unit : {"bytes", "packets", "mixed"}, default "bytes"
    ///     What is measured.
    /// mtu_bytes : float, default 4096.0
    ///     Bytes of a full packet.
    ///
    /// Returns
    /// -------
    /// dict
    ///     Arrays `value`, `quality` (bits) and `ends` by link, the same by lane (`lane_…`, link x lanes), and `lanes`,
    ///     `noise` (relative standard deviation of a counter), `noise_floor`.
    ///
    /// Raises
    /// ------
    /// ArgumentError
    ///     If there is no such interval or unit.
    #[pyo3(signature = (interval = 0, *, unit = "bytes", mtu_bytes = 4096.0))]
    fn measure<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = arguments::interval)] interval: usize,
        unit: &str,
        #[pyo3(from_py_with = arguments::mtu_bytes)] mtu_bytes: f64,
    ) -> PyResult<Bound<'py, PyDict>> {
        let unit = self::unit(py, unit, mtu_bytes)?;
        let Some(interval) = self.counters.intervals().get(interval) else {
            return Err(errors::argument(
                py,
                format!("expected intervals below {}, found {interval}", self.counters.intervals().len()),
            ));
        };
        let fabric = &self.shared.fabric;
        let found = run(py, Options::default(), |_| counters::measure(fabric, interval, unit))?;
        let dict = PyDict::new(py);
        for (prefix, amounts) in [("", &found.whole), ("lane_", &found.by_lane)] {
            let Amounts { value, quality, ends } = amounts;
            dict.set_item(format!("{prefix}value"), PyArray1::from_slice(py, value))?;
            dict.set_item(
                format!("{prefix}quality"),
                PyArray1::from_iter(py, quality.iter().map(|q| q.bits())),
            )?;
            dict.set_item(format!("{prefix}ends"), PyArray1::from_slice(py, ends))?;
        }
        dict.set_item("lanes", found.lanes)?;
        dict.set_item("noise", found.noise.relative)?;
        dict.set_item("noise_floor", found.noise.floor)?;
        Ok(dict)
    }

    /// A row an interval, link and lane, as CSV.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.serialise(py)?))
    }

    /// Writes a row an interval, link and lane.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     Ends in .csv, .csv.gz or .parquet; the file is replaced whole or not at all.
    ///
    /// Raises
    /// ------
    /// OSError
    ///     If it cannot be written.
    fn write(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let name = path.to_string_lossy().into_owned();
        match name.strip_suffix(".gz").unwrap_or(&name) {
            stem if stem.ends_with(".csv") => io::write(py, &path, &self.serialise(py)?),
            _ if name.ends_with(".parquet") => {
                let interop = py.import("netloom.interop")?;
                let text = PyBytes::new(py, &self.serialise(py)?);
                let data: Vec<u8> = interop.call_method1("counters_parquet", (text,))?.extract()?;
                io::write(py, &path, &data)
            }
            _ => {
                let message = format!("{name}: expected an ending of .csv, .csv.gz or .parquet");
                Err(errors::format_parts(py, &message, Some(&name), None))
            }
        }
    }

    fn __repr__(&self) -> String {
        format!("<netloom.Counters: {}, {} intervals>", self.kind, self.counters.intervals().len())
    }
}

impl PyCounters {
    /// What a simulation counted.
    pub fn simulated(shared: &Arc<Shared>, counters: Counters) -> Self {
        let (kind, readings, notes) = ("simulated".to_owned(), Vec::new(), Vec::new());
        Self {
            shared: Arc::clone(shared),
            kind,
            counters,
            readings,
            told: true,
            notes,
            foreign: None,
            counted: None,
            errors: Vec::new(),
        }
    }

    fn from_file(
        py: Python<'_>,
        fabric: &PyFabric,
        label: &str,
        read: impl FnOnce() -> Result<CountersFile, FormatError> + Send,
    ) -> PyResult<Self> {
        let file = run(py, Options::default(), |_| read())?.map_err(|e| errors::format(py, &e))?;
        let notes = file.notes.iter().map(|f| match f.line {
            Some(line) => format!("{label}:{line}: {}", f.text),
            None => format!("{label}: {}", f.text),
        });
        let (shared, notes) = (&fabric.shared, notes.collect());
        let foreign = file.foreign().map(|why| format!("{label}: {why}"));
        let told = matches!(file.content, CountersContent::Intervals(_));
        let (counters, readings) = match file.content {
            CountersContent::Intervals(counters) => (counters, file.reading.into_iter().collect()),
            CountersContent::Readings(readings) => (spans(py, shared, &readings)?, readings),
        };
        let errors = match readings.as_slice() {
            [] => Vec::new(),
            [only] => counters::port_errors(&shared.fabric, None, only),
            [first, .., last] => counters::port_errors(&shared.fabric, Some(first), last),
        };
        Ok(Self {
            errors,
            shared: Arc::clone(shared),
            kind: file.kind.to_owned(),
            counters,
            readings,
            told,
            notes,
            foreign,
            counted: file.counted,
        })
    }

    /// One interval, or all, if the same routes were in force throughout.
    pub fn chosen(&self, py: Python<'_>, interval: Option<usize>) -> PyResult<Counters> {
        let all = self.counters.intervals();
        let Some(number) = interval else {
            let Some(other) = all.iter().position(|i| i.routes != all[0].routes) else {
                return Ok(self.counters.clone());
            };
            let message = format!(
                "the routes changed between interval {} and {other} of {}: expected one interval, or several under the same routes \
                 (interval=N picks one)",
                other - 1,
                all.len()
            );
            return Err(errors::counters(py, message));
        };
        let Some(one) = all.get(number) else {
            let message = format!("there is no interval {number}: there are {}, counted from 0", all.len());
            return Err(errors::counters(py, message));
        };
        only(py, &self.shared, one.clone())
    }

    fn serialise(&self, py: Python<'_>) -> PyResult<Vec<u8>> {
        run(py, Options::default(), |_| formats::write_counter_table(&self.shared.fabric, &self.counters))
    }
}

/// A port, by the link that leaves it, and one of its counters of errors, by its place in [`PortError::ALL`].
type Port = (LinkId, usize);

/// What a counter of errors shows.
#[derive(Clone, Copy)]
struct Shown {
    /// The number of the reading.
    at: usize,
    value: u64,
    full: bool,
    impossible: bool,
}

/// What each counter of errors shows in the first and in the last of the readings that have it.
fn shown(readings: &[Reading]) -> BTreeMap<Port, [Shown; 2]> {
    let mut found: BTreeMap<Port, [Shown; 2]> = BTreeMap::new();
    for (at, reading) in readings.iter().enumerate() {
        for (number, error) in PortError::ALL.into_iter().enumerate() {
            let full = reading.full_errors(error);
            let mut see = |link, shown| {
                found.entry((link, number)).and_modify(|ends| ends[1] = shown).or_insert([shown; 2]);
            };
            for (link, value) in reading.errors(error) {
                see(link, Shown { at, value, full: full.binary_search(&link).is_ok(), impossible: false });
            }
            for (link, value) in reading.impossible_errors(error) {
                see(link, Shown { at, value, full: false, impossible: true });
            }
        }
    }
    found
}

/// Counters of errors as the core has them: name, kind of finding, bits of the narrow counter, from how many on it is told between two
/// readings and of one.
#[pyfunction]
pub fn error_counters() -> Vec<(&'static str, &'static str, u32, u64, u64)> {
    let row = |error: PortError| {
        let (kind, [between, since_reset]) = counters::told_from(error);
        (error.name(), kind, error.bits(), between, since_reset)
    };
    PortError::ALL.into_iter().map(row).collect()
}

/// The unit that a name stands for.
pub fn unit(py: Python<'_>, name: &str, mtu_bytes: f64) -> PyResult<Unit> {
    match name {
        "bytes" => Ok(Unit::Bytes),
        "packets" => Ok(Unit::Packets { mtu_bytes }),
        "mixed" => Ok(Unit::Mixed { mtu_bytes }),
        other => {
            Err(errors::argument(py, format!("unit: expected bytes, packets or mixed, found \"{other}\"")))
        }
    }
}

/// From each reading to the next; of one alone, since the counters were last set back.
fn spans(py: Python<'_>, shared: &Arc<Shared>, readings: &[Reading]) -> PyResult<Counters> {
    let fabric = &shared.fabric;
    if let [one] = readings {
        return only(py, shared, counters::since_reset(one));
    }
    let mut found = Counters::new(fabric, None);
    for pair in readings.windows(2) {
        let span = counters::span(fabric, &pair[0], &pair[1]).map_err(|e| errors::counters(py, e))?;
        found.push(span).map_err(|e| errors::counters(py, e))?;
    }
    Ok(found)
}

/// One interval.
fn only(py: Python<'_>, shared: &Arc<Shared>, interval: Interval) -> PyResult<Counters> {
    let mut counters = Counters::new(&shared.fabric, None);
    counters.push(interval).map_err(|e| errors::counters(py, e))?;
    Ok(counters)
}

/// The counters that a traffic would leave under given routes, exact or as real readings show them.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes or str
///     The routes, or an engine's name (`netloom.engines`).
/// traffic : Traffic
///     Bytes from host to host, placed on this fabric.
/// vl_scheme : str, optional
///     How pairs are spread over virtual lanes, e.g. `"5sl5vl:seed=1"`; None: whole links are used.
/// scale : float, default 1.0
///     What bytes are multiplied by.
/// noise : float, default 0.0
///     Relative standard deviation of each counter, at least 0.
/// skew : float, default 0.0
///     Ports are read late by up to this part of the interval, 0 to 1.
/// missing : float, default 0.0
///     Part of the values that were not read, 0 to 1.
/// mtu_bytes : float, default 4096.0
///     Bytes of a full packet.
/// seconds : float, default 1.0
///     Length of the interval.
/// seed : int, default 0
///     Seed of random choices.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
///
/// Returns
/// -------
/// Counters
///
/// Raises
/// ------
/// RoutingError, TrafficError
///     If routes or traffic do not fit the fabric.
/// SpecError
///     If there is no such VL scheme.
/// ArgumentError
///     If a number is out of its range.
///
/// References
/// ----------
/// `docs/methods/counters.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> counters = netloom.synth_counters(fabric, "ftree", netloom.Traffic.read("shift:4", fabric), scale=1e6)
/// >>> counters.intervals
/// 1
#[pyfunction]
#[pyo3(signature = (fabric, routes, traffic, *, vl_scheme = None, scale = 1.0, noise = 0.0, skew = 0.0, missing = 0.0, mtu_bytes = 4096.0,
                    seconds = 1.0, seed = 0, threads = 0))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn synth_counters(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: RoutesOrEngine<'_>,
    traffic: &PyTraffic,
    vl_scheme: Option<&str>,
    #[pyo3(from_py_with = arguments::scale)] scale: f64,
    #[pyo3(from_py_with = arguments::noise)] noise: f64,
    #[pyo3(from_py_with = arguments::skew)] skew: f64,
    #[pyo3(from_py_with = arguments::missing)] missing: f64,
    #[pyo3(from_py_with = arguments::mtu_bytes)] mtu_bytes: f64,
    #[pyo3(from_py_with = arguments::seconds)] seconds: f64,
    #[pyo3(from_py_with = arguments::seed)] seed: u64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
) -> PyResult<PyCounters> {
    traffic.check_fits(py, fabric)?;
    let routes = routes.resolve(py, fabric, 0, threads)?;
    let (shared, matrix) = (&fabric.shared, &traffic.shared);
    let lanes = vl_scheme.map(|spec| counters::lane_scheme(&shared.fabric, spec)).transpose();
    let lanes = lanes.map_err(|e| errors::spec(py, e))?;
    let options =
        SynthOptions { scale, mtu_bytes, span_ns: (seconds * 1e9) as u64, noise, skew, missing, seed };
    let interval = run(py, Options::threads(threads), |_| {
        counters::synth(&shared.fabric, &routes, matrix.total(), lanes.as_ref(), &options)
    })?
    .map_err(|e| errors::routing(py, e))?;
    let counters = only(py, shared, interval)?;
    let (kind, readings, notes) = ("synthetic".to_owned(), Vec::new(), Vec::new());
    let (shared, errors) = (Arc::clone(shared), Vec::new());
    Ok(PyCounters {
        shared,
        kind,
        counters,
        readings,
        told: true,
        notes,
        foreign: None,
        counted: None,
        errors,
    })
}
