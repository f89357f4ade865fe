//! Bases of traffic: coefficients of a matrix, how few there are, and what the least sum of them recovers from counters.

use netloom_counters as counters;
use netloom_infer::compressed_sensing::cells;
use netloom_infer::settings::CounterSettings;
use netloom_infer::{
    self as inference, Frame, InferError, LaneScheme, LpEffort, LpEnd, Participants, Routing, Window,
};
use netloom_model::{StopReason, Traffic};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::counters::PyCounters;
use crate::errors;
use crate::fabric::PyFabric;
use crate::jobs::{PyJob, participants};
use crate::routes::RoutesOrEngine;
use crate::run::{Interrupt, Options, run, run_until, stop_text, stop_words};
use crate::traffic::PyTraffic;

/// A matrix of more endpoints than this is not written out whole.
const MOST: usize = 4096;

/// Traffic whose coefficients in a basis add up to least.
#[pyclass(frozen, weakref, name = "Recovered", module = "netloom._core")]
pub struct PyRecovered {
    pub(crate) traffic: Py<PyTraffic>,
    pub(crate) found: inference::Recovery,
    pub(crate) errors: Option<inference::Errors>,
    pub(crate) pairs: usize,
    pub(crate) stopped: Option<StopReason>,
}

#[pymethods]
impl PyRecovered {
    /// The answer, over hosts.
    #[getter]
    fn traffic(&self, py: Python<'_>) -> Py<PyTraffic> {
        self.traffic.clone_ref(py)
    }

    /// Why this is only what was reached; `None` if the search ended by itself.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        stop_text(self.stopped)
    }

    /// The figures.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let percent = |part: f64| 100.0 * part;
        let dict = PyDict::new(py);
        dict.set_item("relative_error_percent", self.errors.map(|e| percent(e.pairs)))?;
        dict.set_item("leaf_error_percent", self.errors.map(|e| percent(e.leaf_sums)))?;
        dict.set_item("pairs", self.pairs)?;
        dict.set_item("possible_pairs", self.found.possible)?;
        dict.set_item("iterations", self.found.steps)?;
        dict.set_item("solver_error", self.found.error)?;
        dict.set_item("converged", self.found.end == LpEnd::Optimal)?;
        dict.set_item("stopped", stop_text(self.stopped))?;
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        format!("<netloom.Recovered: {} pairs{}>", self.pairs, stop_words(self.stopped))
    }
}

/// The names of the bases in which traffic is sparse, and of the dictionary of two of them.
///
/// Returns
/// -------
/// list of str
///
/// References
/// ----------
/// Paper 000 (Taffet, dissertation), chapter 4.
///
/// Examples
/// --------
/// >>> "differences" in netloom.bases()
/// True
#[pyfunction]
pub fn bases() -> Vec<&'static str> {
    Frame::ALL.map(Frame::name).to_vec()
}

/// The coefficients of a traffic matrix in a basis.
///
/// Parameters
/// ----------
/// traffic : Traffic
///     The matrix.
/// basis : str
///     A name of `netloom.bases`.
/// first : int, default 0
///     The first endpoint.
/// count : int, optional
///     How many endpoints from there; None: all.
///
/// Returns
/// -------
/// array of float
///     `[destination * count + source]`, in bytes.
///
/// Raises
/// ------
/// SpecError
///     If there is no such basis, or it is not defined for so many endpoints.
///
/// References
/// ----------
/// Paper 000 (Taffet, dissertation), section 4.4.
///
/// Examples
/// --------
/// >>> int((netloom.coefficients(netloom.Traffic.pattern("shift:4", 16), "differences") != 0).sum()) > 0
/// True
#[pyfunction]
#[pyo3(signature = (traffic, basis, *, first = 0, count = None))]
pub fn coefficients<'py>(
    py: Python<'py>,
    traffic: &PyTraffic,
    basis: &str,
    #[pyo3(from_py_with = arguments::first)] first: usize,
    #[pyo3(from_py_with = arguments::count)] count: Option<usize>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (frame, n) = checked(py, traffic, basis, first, count)?;
    let Frame::Basis(basis) = frame else {
        let text = format!("{frame}: a matrix has no one set of coefficients in it; expected a basis");
        return Err(errors::spec(py, text));
    };
    let matrix = traffic.shared.total();
    let found = run(py, Options::default(), |_| {
        let mut cells = cells(matrix, first, n);
        basis.analyse(n, &mut cells);
        cells
    })?;
    Ok(PyArray1::from_vec(py, found))
}

/// How sparse a traffic matrix is in a basis.
///
/// Parameters
/// ----------
/// traffic : Traffic
///     The matrix.
/// basis : str
///     A name of `netloom.bases`.
/// first : int, default 0
///     The first endpoint.
/// count : int, optional
///     How many endpoints from there; None: all.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds.
/// progress : callable, optional
///     Called as `progress(done, all)` now and then; an exception that it raises ends the call.
///
/// Returns
/// -------
/// (int, int, int) or None
///     How many coefficients are not zero, suffice for an error of 10 %, keep 90 % of the norm. None where the basis
///     is not defined for so many endpoints, or the time was not enough.
///
/// Raises
/// ------
/// SpecError
///     If there is no such basis.
///
/// References
/// ----------
/// Paper 000 (Taffet, dissertation), section 4.4.
///
/// Examples
/// --------
/// >>> netloom.sparsity(netloom.Traffic.pattern("shift:4", 16), "identity")[0]
/// 16
#[pyfunction]
#[pyo3(signature = (traffic, basis, *, first = 0, count = None, threads = 0, time_limit = None, progress = None))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn sparsity(
    py: Python<'_>,
    traffic: &PyTraffic,
    basis: &str,
    #[pyo3(from_py_with = arguments::first)] first: usize,
    #[pyo3(from_py_with = arguments::count)] count: Option<usize>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<Option<(usize, usize, usize)>> {
    let frame: Frame = basis.parse().map_err(|e: String| errors::spec(py, e))?;
    let endpoints = traffic.shared.total().size();
    let n = count.unwrap_or(endpoints.saturating_sub(first));
    if !frame.is_defined(n) {
        return Ok(None);
    }
    let (frame, n) = checked(py, traffic, basis, first, Some(n))?;
    let matrix = traffic.shared.total();
    let options = Options { threads, time_limit, progress, ..Options::default() };
    let ended =
        run_until(py, options, |control| inference::sparsity(frame, n, &cells(matrix, first, n), control))?;
    let found = ended.result.filter(|_| ended.stopped.is_none());
    Ok(found.map(|found| (found.all, found.of_error, found.of_power)))
}

fn checked(
    py: Python<'_>,
    traffic: &PyTraffic,
    basis: &str,
    first: usize,
    count: Option<usize>,
) -> PyResult<(Frame, usize)> {
    let frame: Frame = basis.parse().map_err(|e: String| errors::spec(py, e))?;
    let endpoints = traffic.shared.total().size();
    let n = count.unwrap_or(endpoints.saturating_sub(first));
    if first + n > endpoints {
        let text = format!("endpoints {first} to {}: there are {endpoints}", first + n);
        return Err(errors::argument(py, text));
    }
    if n > MOST {
        let text = format!("{n} endpoints: a basis is of {MOST} at most; pick a part of them");
        return Err(errors::spec(py, text));
    }
    if !frame.is_defined(n) {
        let text = format!("{frame}: needs a power of two of ranks, found {n}");
        return Err(errors::spec(py, text));
    }
    Ok((frame, n))
}

/// The traffic that explains counters and whose coefficients in a basis add up to least.
///
/// The dissertation's own way, to compare with: `infer` answers better.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes or str
///     The routes, or an engine's name (`netloom.engines`).
/// counters : Counters
///     What ports counted under these routes.
/// jobs : sequence of Job
///     Who may have talked to whom.
/// basis : str
///     A name of `netloom.bases`.
/// vl_scheme : str, optional
///     How pairs are spread over virtual lanes, e.g. `"5sl5vl:seed=1"`; None: whole links are used.
/// unit : {"bytes", "packets", "mixed"}, default "bytes"
///     What counters are taken as.
/// mtu_bytes : float, default 4096.0
///     Bytes of a full packet.
/// interval : int, optional
///     Which interval of the counters, from 0; None: all of them added up.
/// truth : Traffic, optional
///     What the answer is compared with.
/// steps : int, default 20000
///     Steps of the linear program's solver at most.
/// tolerance : float, default 1e-6
///     Enough, relative.
/// threads : int, default 0
///     Threads; 0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds of wall time; what is known by then is returned, and `stopped` says so.
/// progress : callable, optional
///     Called as `progress(done, all)` now and then; an exception that it raises ends the call.
/// on_interrupt : {"raise", "return"}, default "raise"
///     What Ctrl-C does: it raises `KeyboardInterrupt`, or what was found by then is returned and says so.
///
/// Returns
/// -------
/// Recovered
///
/// Raises
/// ------
/// SpecError
///     If there is no such basis, or it is not defined for the hosts of a job.
/// CountersError
///     If counters and routes cannot belong together, or counters say nothing.
///
/// References
/// ----------
/// Paper 000 (Taffet, dissertation), section 4.6.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> traffic = netloom.Traffic.read("shift:4", fabric)
/// >>> counters = netloom.synth_counters(fabric, "ftree", traffic)
/// >>> netloom.recover(fabric, "ftree", counters, [], "identity")
/// <netloom.Recovered: 240 pairs>
#[pyfunction]
#[pyo3(signature = (fabric, routes, counters, jobs, basis, *, vl_scheme = None, unit = "bytes", mtu_bytes = 4096.0,
                    interval = None, truth = None, steps = 20_000, tolerance = 1e-6, threads = 0, time_limit = None,
                    progress = None, on_interrupt = "raise"))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn recover(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: RoutesOrEngine<'_>,
    counters: &PyCounters,
    jobs: Vec<PyRef<'_, PyJob>>,
    basis: &str,
    vl_scheme: Option<&str>,
    unit: &str,
    #[pyo3(from_py_with = arguments::mtu_bytes)] mtu_bytes: f64,
    #[pyo3(from_py_with = arguments::interval)] interval: Option<usize>,
    truth: Option<&PyTraffic>,
    #[pyo3(from_py_with = arguments::steps)] steps: usize,
    #[pyo3(from_py_with = arguments::tolerance)] tolerance: f64,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<PyRecovered> {
    let unit = crate::counters::unit(py, unit, mtu_bytes)?;
    let frame: Frame = basis.parse().map_err(|e: String| errors::spec(py, e))?;
    let jobs: Vec<Participants> = participants(&fabric.shared.fabric, &jobs);
    if let Some(job) = jobs.iter().find(|job| !frame.is_defined(job.hosts.len())) {
        return Err(errors::spec(py, undefined(&frame, job)));
    }
    if let Some(truth) = truth {
        truth.check_fits(py, fabric)?;
    }
    let net = &fabric.shared.fabric;
    let routes = routes.resolve(py, fabric, 0, threads)?;
    let chosen = counters.chosen(py, interval)?;
    let scheme = vl_scheme.map(|spec| counters::lane_scheme(net, spec)).transpose();
    let scheme = scheme.map_err(|e| errors::spec(py, e))?.unwrap_or(LaneScheme::One);
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let effort = LpEffort { steps, tolerance };
    let ended = run_until(py, options, |control| {
        let routing = Routing::Tables(&routes, &scheme);
        let window = Window { name: "counters", routing, counters: &chosen };
        let settings = CounterSettings::default();
        let joined = inference::joined(net, &[window], &jobs, unit, &settings)?;
        // With the hosts of no job that sent, which are one of their own.
        let (operator, jobs) = (&joined.operator, &joined.jobs);
        if let Some(job) = jobs.iter().find(|job| !frame.is_defined(job.hosts.len())) {
            return Err(InferError::Mismatch(undefined(&frame, job)));
        }
        let found = inference::recover(operator, jobs, &joined.counted, frame, &effort, &settings, control);
        let matrix = inference::traffic(net, operator, jobs, &found.bytes);
        let errors = truth.and_then(|t| inference::errors(net, &matrix, t.shared.total()));
        Ok::<_, InferError>((found, matrix, errors, operator.pairs()))
    })?;
    let stopped = ended.stopped;
    let (found, matrix, errors, pairs) = ended.result.map_err(|e| errors::infer(py, &e))?;
    let traffic = Traffic::from_matrix(matrix).with_hosts_hash(Some(net.hosts_hash()));
    let traffic = Py::new(py, PyTraffic::from(traffic))?;
    Ok(PyRecovered { traffic, found, errors, pairs, stopped })
}

/// Why a basis has no coefficients of a job.
fn undefined(frame: &Frame, job: &Participants) -> String {
    format!("{frame}: needs a power of two of hosts, {} has {}", job.name, job.hosts.len())
}
