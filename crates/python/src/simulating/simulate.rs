//! `netloom.simulate`: one routing of a scenario, run; and `netloom.Simulation`: what it has shown.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use netloom_compose::{self as compose, Routing};
use netloom_counters::{SynthOptions, lane_scheme, synth};
use netloom_model::{Counters, Fabric, HostId, Interval, LinkId, Routes, Traffic};
use netloom_sim::{
    Keeping, Measure, Model, Modes, Outcome, PairRow, Scheme, Setup, SimError, simulate as run_simulation,
};
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyBytes, PyDict, PyList};

use crate::arguments;
use crate::arrays::array;
use crate::counters::PyCounters;
use crate::errors;
use crate::results::{
    accepted, adapter, adapter_columns, by_mode, congestion, deadlock, latency, load, ms, skipped, spent,
    transmissions,
};
use crate::routes::PyRoutes;
use crate::run::{Interrupt, Options, run, run_until, stop_text};
use crate::simulating::scenario::{PyScenario, Stage};
use crate::simulating::states::StateFile;
use crate::traffic::PyTraffic;

/// Most intervals x links of counters by interval: 3 GB.
const MOST_VALUES: u64 = 1 << 26;

/// What a run of a scenario with one routing has shown. Immutable.
#[pyclass(frozen, weakref, name = "Simulation", module = "netloom._core")]
pub struct PySimulation {
    stage: Arc<Stage>,
    routing: String,
    model: Model,
    routes: Option<Py<PyRoutes>>,
    outcome: Outcome,
    cpu_seconds: f64,
    /// Whether the state was written, and why the last time not.
    kept: Option<Result<(), String>>,
}

/// Runs a scenario with one of its routings.
///
/// Ctrl-C and the time limit end it with what is known so far.
///
/// Parameters
/// ----------
/// scenario : Scenario
///     Fabric, jobs and hardware.
/// routing : str, optional
///     One of `scenario.routings`; None: the first.
/// model : {"packet", "fluid"}, optional
///     None: the scenario's.
/// routes : Routes, optional
///     The routing's tables, if the caller has them already.
/// threads : int, default 1
///     Threads; 0 is one a core. The result is the same for any number.
/// time_limit : float, optional
///     Seconds of wall time; what is known by then is returned, and `stopped` says so.
/// progress : callable, optional
///     Called as `progress(picoseconds, end)`; `end` is 0 if the scenario has none.
/// on_interrupt : {"raise", "return"}, default "raise"
///     What Ctrl-C does: it raises `KeyboardInterrupt`, or what was found by then is returned and says so.
/// state : bytes, optional
///     What an earlier call with the same arguments has kept: the run goes on from there.
/// keep : (path, bytes, float), optional
///     A file, its first line and seconds: the state is written there, behind that line, as gzip, each so many
///     seconds (0: never) and when the run is ended early. The fluid model keeps nothing, nor does a run with a trace.
/// counted : bool, default False
///     Whether what hosts send each other is counted (`Simulation.sent`, `.counted`); nothing else is then recorded
///     over time, and no state kept.
/// counted_every_us : float, optional
///     Length of the intervals in which links are counted then, microseconds.
/// messages : sequence of str, default ()
///     Jobs of which every message is written down (`Simulation.messages`); no state is kept then, and only exact repeats
///     are left out.
/// skip_repeats : float, optional
///     Iterations that repeat are not simulated again; the error allowed, a share below 1, or 0 for exact repeats alone;
///     `skipped` says what was not.
///
/// Returns
/// -------
/// Simulation
///
/// Raises
/// ------
/// SpecError, ArgumentError
///     If the scenario has no such routing, or no such job.
/// SimulationError, RoutingError
///     If the routing cannot route it, or the run cannot go on.
///
/// References
/// ----------
/// `docs/methods/simulator.md`, `docs/methods/fluid.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> scenario = netloom.Scenario.of_traffic(fabric, netloom.Traffic.read("shift:4", fabric))
/// >>> netloom.simulate(scenario).stopped is None
/// True
#[pyfunction]
#[pyo3(signature = (scenario, routing = None, *, model = None, routes = None, threads = 1, time_limit = None,
                    progress = None, on_interrupt = "raise", state = None, keep = None, counted = false, counted_every_us = None,
                    messages = Vec::new(), skip_repeats = None))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn simulate(
    py: Python<'_>,
    scenario: &PyScenario,
    routing: Option<&str>,
    model: Option<&str>,
    routes: Option<Py<PyRoutes>>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
    state: Option<&[u8]>,
    keep: Option<(PathBuf, Vec<u8>, f64)>,
    counted: bool,
    #[pyo3(from_py_with = arguments::counted_every_us)] counted_every_us: Option<f64>,
    messages: Vec<String>,
    #[pyo3(from_py_with = arguments::skip_repeats)] skip_repeats: Option<f64>,
) -> PyResult<PySimulation> {
    let stage = &scenario.stage;
    let messages: Vec<usize> = messages.iter().map(|job| stage.job(py, job)).collect::<PyResult<_>>()?;
    let model = match model.unwrap_or(&stage.scene.scenario.model) {
        "packet" => Model::Packet,
        "fluid" => Model::Fluid,
        other => {
            return Err(errors::argument(py, format!("model: expected packet or fluid, found \"{other}\"")));
        }
    };
    let prepared = Prepared::new(py, scenario, routing, routes, model, threads)?;
    let tables = prepared.tables(py);
    let measure = counted.then(|| counting(counted_every_us));
    // A pool of its own, so that its threads' clocks are this run's alone.
    let threads = threads.max(1);
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let file = keep.map(|(path, head, seconds)| StateFile::new(path, head, seconds));
    let due = || file.as_ref().is_some_and(StateFile::due);
    let write = |state: &[u8]| file.as_ref().into_iter().for_each(|file| file.write(state));
    let keeping = Keeping { from: state, due: &due, keep: &write };
    let ended = run_until(py, options, |control| {
        let before = cpu_ns();
        let scheme = prepared.scheme(tables.as_deref());
        let setup = stage.scene.setup(&stage.shared.fabric, scheme, model, threads);
        let keep = (file.is_some() || state.is_some()).then_some(&keeping);
        let measure = Measure { messages, ..measure.unwrap_or_else(|| setup.measure.clone()) };
        let outcome = run_simulation(Setup { keep, measure, skip_repeats, ..setup }, control);
        (outcome, (cpu_ns() - before) as f64 * 1e-9)
    })?;
    let (outcome, cpu_seconds) = ended.result;
    let kept = file.and_then(StateFile::into_result).map(|written| written.map_err(|e| errors::os_text(&e)));
    prepared.simulation(py, model, outcome, cpu_seconds, kept)
}

/// A routing of a scenario, ready to run.
pub(crate) struct Prepared {
    stage: Arc<Stage>,
    word: String,
    /// What the word names.
    pub routing: Routing,
    routes: Option<Py<PyRoutes>>,
}

impl Prepared {
    /// With the routing's tables, if it has some and the caller has not.
    pub fn new(
        py: Python<'_>,
        scenario: &PyScenario,
        word: Option<&str>,
        routes: Option<Py<PyRoutes>>,
        model: Model,
        threads: usize,
    ) -> PyResult<Self> {
        let stage = &scenario.stage;
        let word = word.unwrap_or(&stage.scene.scenario.routes[0]);
        let routing = Routing::parse(word).map_err(|e| stage.raise(py, e))?;
        if let Routing::Steered(options) = routing {
            let modes: Vec<&Modes> = stage.scene.jobs.iter().map(|job| &job.modes).collect();
            let hardware = (&stage.scene.scenario, &stage.scene.profile, modes.as_slice());
            let checked = run(py, Options::default(), |_| {
                compose::steering(
                    &stage.shared.fabric,
                    hardware,
                    word,
                    options,
                    model,
                    stage.shared.steering(),
                )
            })?;
            checked.map_err(|e| stage.raise(py, e))?;
        }
        if let Routing::PerPacket(_) | Routing::Hashed(_) | Routing::ByMode(_) = routing {
            let shape = &stage.shared.structure().shape;
            compose::upward(&stage.scene.scenario, word, shape).map_err(|e| stage.raise(py, e))?;
        }
        if let Routing::Snooping(_) = routing {
            compose::snooping(&stage.scene.scenario, word).map_err(|e| stage.raise(py, e))?;
        }
        let routes = match routes {
            Some(routes) if routing.has_tables() => {
                routes.get().check_fits(py, &scenario.fabric())?;
                stage.check_once(word, &routes.get().routes).map_err(|e| stage.raise(py, e))?;
                Some(routes)
            }
            Some(_) => return Err(errors::argument(py, format!("routes: {word} chooses packet by packet"))),
            None => scenario
                .routes(py, word, threads, None, None)?
                .map(|routes| Py::new(py, routes))
                .transpose()?,
        };
        Ok(Self { stage: Arc::clone(stage), word: word.to_owned(), routing, routes })
    }

    /// How switches choose.
    pub fn scheme<'a>(&'a self, tables: Option<&'a Routes>) -> Scheme<'a> {
        let shared = &self.stage.shared;
        match &self.routing {
            Routing::Steered(_) => {
                let steering = shared.steering().expect("it was checked");
                self.routing.scheme(None, || &steering.paths, Some(steering))
            }
            other => other.scheme(tables, || shared.paths(), None),
        }
    }

    /// The tables.
    pub fn tables(&self, _: Python<'_>) -> Option<Arc<Routes>> {
        self.routes.as_ref().map(|routes| Arc::clone(&routes.get().routes))
    }

    /// What the run has shown.
    pub fn simulation(
        self,
        py: Python<'_>,
        model: Model,
        outcome: Result<Outcome, SimError>,
        cpu_seconds: f64,
        kept: Option<Result<(), String>>,
    ) -> PyResult<PySimulation> {
        let Self { stage, word, routes, .. } = self;
        let outcome = outcome.map_err(|e| match e {
            SimError::State => errors::format_parts(py, &format!("{word}: state: {e}"), None, None),
            e => errors::simulation(py, format!("{}: {word}: {e}", stage.label)),
        })?;
        if outcome.deadlock.is_none() && !outcome.stuck.is_empty() {
            let ranks = outcome.stuck.join("; ");
            let eager = stage.scene.profile.software.eager_bytes;
            let advice = if outcome.asks_in_vain {
                format!(
                    "; messages above software.eager_bytes = {eager} leave only once their receiver is ready: let it receive them, or give a larger eager_bytes"
                )
            } else {
                String::new()
            };
            return Err(errors::simulation(
                py,
                format!(
                    "{}: {word}: ranks wait for ever for messages that nobody sends, or takes: {ranks}{advice}",
                    stage.label
                ),
            ));
        }
        Ok(PySimulation { stage, routing: word, model, routes, outcome, cpu_seconds, kept })
    }
}

/// What `counted` records.
fn counting(every_us: Option<f64>) -> Measure {
    let counters_every_ps = every_us.map(|us| (us * 1e6).round() as u64);
    Measure { pairs: true, counters_every_ps, ..Measure::default() }
}

/// CPU time of the present pool's threads, ns.
pub(crate) fn cpu_ns() -> i128 {
    let of_thread = |_: rayon::BroadcastContext<'_>| {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        i128::from(time.tv_sec) * 1_000_000_000 + i128::from(time.tv_nsec)
    };
    rayon::broadcast(of_thread).into_iter().sum()
}

#[pymethods]
impl PySimulation {
    /// The routing, in the scenario's own words.
    #[getter]
    fn routing(&self) -> &str {
        &self.routing
    }

    /// Why it ended before all was done: interrupted, time-limit, max-time, deadlock.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        match &self.outcome {
            o if o.deadlock.is_some() => Some("deadlock"),
            o if o.stopped.is_some() => stop_text(o.stopped),
            o if o.at_max_time => Some("max-time"),
            _ => None,
        }
    }

    /// Simulated time at the end, ps.
    #[getter]
    fn end_ps(&self) -> u64 {
        self.outcome.end_ps
    }

    /// Virtual lanes.
    #[getter]
    fn lanes(&self) -> usize {
        self.outcome.counters.lanes
    }

    /// Whether the state was kept where it was asked for, the last time.
    #[getter]
    fn kept(&self) -> bool {
        matches!(self.kept, Some(Ok(())))
    }

    /// Why the state could not be kept, the last time.
    #[getter]
    fn not_kept(&self) -> Option<&str> {
        self.kept.as_ref()?.as_ref().err().map(String::as_str)
    }

    /// The tables; `None` for a routing that chooses packet by packet.
    #[getter]
    fn routes(&self, py: Python<'_>) -> Option<Py<PyRoutes>> {
        self.routes.as_ref().map(|routes| routes.clone_ref(py))
    }

    /// One entry of a result's `runs`.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let o = &self.outcome;
        let utilisation = o.counters.utilisation(&self.stage.shared.fabric, o.end_ps);
        let busiest =
            utilisation.iter().copied().fold(None, |max: Option<f64>, u| Some(max.map_or(u, |m| m.max(u))));
        let hops = o.packet_hops.saturating_sub(o.earlier_hops);
        // What was not simulated took no time.
        let all = o.skipped.as_ref().is_none_or(|skipped| skipped.iterations == 0);
        let rate = (all && hops > 0 && self.cpu_seconds > 0.0).then(|| hops as f64 / self.cpu_seconds);
        let stuck: Vec<String> = match &o.deadlock {
            Some(deadlock) => {
                let links = deadlock.describe(&self.stage.shared.fabric, o.counters.lanes);
                let cycle = format!("{} packets, links wait for each other: {links}", deadlock.packets);
                std::iter::once(cycle).chain(o.stuck.iter().cloned()).collect()
            }
            None => o.stuck.clone(),
        };
        let jobs = PyList::empty(py);
        for job in &o.jobs {
            let dict = PyDict::new(py);
            dict.set_item("name", &job.name)?;
            dict.set_item("ranks", job.ranks)?;
            dict.set_item("start_ms", ms(job.times.start_ps))?;
            dict.set_item("completion_ms", job.times.took_ps().map(ms))?;
            dict.set_item("messages", job.messages)?;
            dict.set_item("bytes", job.bytes)?;
            dict.set_item("unreceived", job.unreceived)?;
            dict.set_item("message_latency_us", latency(py, &job.message_latency)?)?;
            dict.set_item("load", job.offered.as_ref().map(|offered| load(py, offered)).transpose()?)?;
            dict.set_item("time", job.spent.as_ref().map(|it| spent(py, it, job.ranks)).transpose()?)?;
            if !job.modes.is_empty() {
                dict.set_item("modes", by_mode(py, &job.modes)?)?;
            }
            if let Some(adapters) = &o.adapters {
                let placed = &self.stage.scene.jobs[jobs.len()].hosts;
                dict.set_item("adapter", adapter(py, placed.iter().map(|host| &adapters[host.index()]))?)?;
            }
            if let Some(managed) = &o.managed {
                let placed = &self.stage.scene.jobs[jobs.len()].hosts;
                let of_job: HashSet<HostId> = placed.iter().copied().collect();
                dict.set_item("fairness", managed.fairness(|host| of_job.contains(&host)))?;
                let rates = managed.flow_bytes_per_s(|host| of_job.contains(&host));
                let rates =
                    rates.map(|rates| ["least", "mean", "most"].into_iter().zip(rates).into_py_dict(py));
                dict.set_item("flow_bytes_per_second", rates.transpose()?)?;
            }
            jobs.append(dict)?;
        }
        let dict = PyDict::new(py);
        dict.set_item("routing", &self.routing)?;
        dict.set_item("model", self.model.name())?;
        dict.set_item("seed", self.stage.scene.scenario.seed)?;
        dict.set_item("simulated_ms", ms(o.end_ps))?;
        dict.set_item("stopped", self.stopped())?;
        dict.set_item("stuck", stuck)?;
        if let Some(found) = &o.deadlock {
            dict.set_item("deadlock", deadlock(py, &self.stage.shared.fabric, found)?)?;
        }
        dict.set_item("jobs", jobs)?;
        let packets = match self.model {
            Model::Packet => Some(latency(py, &o.packet_latency)?),
            Model::Fluid => None,
        };
        dict.set_item("packet_latency_us", packets)?;
        dict.set_item("messages", o.jobs.iter().map(|job| job.messages).sum::<u64>())?;
        dict.set_item("bytes", o.jobs.iter().map(|job| job.bytes).sum::<u64>())?;
        dict.set_item("packets", o.packets)?;
        dict.set_item("packet_hops", o.packet_hops)?;
        let whole = o.deadlock.is_none() && o.stopped.is_none() && !o.at_max_time;
        let arrived = whole && o.packets > 0;
        dict.set_item("mean_hops", arrived.then(|| o.packet_hops as f64 / o.packets as f64))?;
        let data = o.packets - o.responses;
        let share = |detours: u64| (data > 0).then(|| detours as f64 / data as f64);
        dict.set_item("detours", o.detours.and_then(share))?;
        if let Some(adapters) = &o.adapters {
            dict.set_item("adapter", adapter(py, adapters.iter())?)?;
        }
        if let Some(found) = &o.skipped {
            dict.set_item("skipped", skipped(py, o, found)?)?;
        }
        dict.set_item("accepted", accepted(py, &o.jobs)?)?;
        dict.set_item("events", o.events)?;
        dict.set_item("cpu_seconds", self.cpu_seconds)?;
        dict.set_item("packet_hops_per_cpu_second", rate)?;
        dict.set_item("max_link_utilisation", busiest)?;
        if let Some(managed) = &o.managed {
            dict.set_item("congestion", congestion(py, &self.stage.shared.fabric, o.end_ps, managed)?)?;
        }
        Ok(dict)
    }

    /// When every rank ended: columns job (its number), rank, host, end_ps (-1: it did not).
    fn ranks<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let placed = &self.stage.scene.jobs;
        let rows = || {
            let jobs = self.outcome.jobs.iter().zip(placed).enumerate();
            jobs.flat_map(|(j, (job, placed))| {
                let ranks = job.times.ranks_ps.iter().zip(&placed.host_of_rank).enumerate();
                ranks.map(move |(rank, (end, &HostId(host)))| (j, rank, host, *end))
            })
        };
        let columns = PyDict::new(py);
        columns.set_item("job", array(py, rows().map(|(job, ..)| job as u32)))?;
        columns.set_item("rank", array(py, rows().map(|(_, rank, ..)| rank as u32)))?;
        columns.set_item("host", array(py, rows().map(|(_, _, host, _)| host)))?;
        columns.set_item("end_ps", array(py, rows().map(|(.., end)| end.map_or(-1, |ps| ps as i64))))?;
        Ok(columns)
    }

    /// What every lane of every link has carried: columns link, lane, xmit_bytes, xmit_packets, wait_ticks (of 1 ns).
    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counters = &self.outcome.counters;
        let (lanes, sent) = (counters.lanes.max(1), &counters.sent);
        let columns = PyDict::new(py);
        columns.set_item("link", array(py, (0..sent.len()).map(|i| LinkId::from_index(i / lanes).0)))?;
        columns.set_item("lane", array(py, (0..sent.len()).map(|i| (i % lanes) as u8)))?;
        columns.set_item("xmit_bytes", array(py, sent.iter().map(|s| s.bytes)))?;
        columns.set_item("xmit_packets", array(py, sent.iter().map(|s| s.packets)))?;
        columns.set_item("wait_ticks", array(py, sent.iter().map(|s| s.wait_ps / 1000)))?;
        Ok(columns)
    }

    /// Latencies of messages and packets: columns what, job, from_ps, to_ps, count; a row a bucket that holds something.
    fn histograms<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let all = &self.outcome.recorded.distributions;
        let rows = || all.iter().flat_map(|d| d.latencies.buckets().map(move |bucket| (d, bucket)));
        let columns = PyDict::new(py);
        columns.set_item("what", rows().map(|(d, _)| d.what).collect::<Vec<_>>())?;
        columns.set_item("job", rows().map(|(d, _)| d.job.as_str()).collect::<Vec<_>>())?;
        columns.set_item("from_ps", array(py, rows().map(|(_, (from, _, _))| from)))?;
        columns.set_item("to_ps", array(py, rows().map(|(_, (_, to, _))| to)))?;
        columns.set_item("count", array(py, rows().map(|(_, (_, _, count))| count)))?;
        Ok(columns)
    }

    /// Counters by interval, rows of zeros left out: columns start_ps, end_ps, link, lane (255: the whole link),
    /// xmit_bytes, xmit_packets, rcv_bytes, rcv_packets, wait_ticks (of 1 ns). `None` unless the scenario asks for them.
    fn intervals<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(intervals) = &self.outcome.recorded.intervals else { return Ok(None) };
        let rows = || intervals.rows.iter();
        let columns = PyDict::new(py);
        columns.set_item("start_ps", array(py, rows().map(|row| intervals.span_ps(row.interval).0)))?;
        columns.set_item("end_ps", array(py, rows().map(|row| intervals.span_ps(row.interval).1)))?;
        columns.set_item("link", array(py, rows().map(|row| row.link.0)))?;
        columns.set_item("lane", array(py, rows().map(|row| row.lane.unwrap_or(u8::MAX))))?;
        columns.set_item("xmit_bytes", array(py, rows().map(|row| row.xmit_bytes)))?;
        columns.set_item("xmit_packets", array(py, rows().map(|row| row.xmit_packets)))?;
        columns.set_item("rcv_bytes", array(py, rows().map(|row| row.rcv_bytes)))?;
        columns.set_item("rcv_packets", array(py, rows().map(|row| row.rcv_packets)))?;
        columns.set_item("wait_ticks", array(py, rows().map(|row| row.wait_ps / 1000)))?;
        Ok(Some(columns))
    }

    /// What links carried by interval, as the simulated ports counted it.
    ///
    /// Parameters
    /// ----------
    /// vl_scheme : str, optional
    ///     Counters by virtual lane, as of ports that queue on one lane and count on several.
    /// noise, skew, missing : float, default 0.0
    ///     As of `synth_counters`.
    /// seed : int, default 0
    ///     Seed of these.
    ///
    /// Returns
    /// -------
    /// Counters or None
    ///     None unless the run was `counted`.
    ///
    /// Raises
    /// ------
    /// SpecError, ArgumentError
    ///     If there is no such scheme, or a number is out of its range.
    #[pyo3(signature = (vl_scheme = None, *, noise = 0.0, skew = 0.0, missing = 0.0, seed = 0))]
    fn counted(
        &self,
        py: Python<'_>,
        vl_scheme: Option<&str>,
        #[pyo3(from_py_with = arguments::noise)] noise: f64,
        #[pyo3(from_py_with = arguments::skew)] skew: f64,
        #[pyo3(from_py_with = arguments::missing)] missing: f64,
        #[pyo3(from_py_with = arguments::seed)] seed: u64,
    ) -> PyResult<Option<PyCounters>> {
        let Some(pairs) = &self.outcome.recorded.pairs else { return Ok(None) };
        let (shared, recorded) = (&self.stage.shared, &self.outcome.recorded);
        let fabric = &shared.fabric;
        let intervals = recorded.intervals.as_ref().map_or(1, |intervals| intervals.count());
        if intervals.saturating_mul(fabric.link_count() as u64) > MOST_VALUES {
            let links = fabric.link_count();
            let message = format!(
                "expected at most {MOST_VALUES} intervals x links, found {intervals} x {links}: ask for longer ones"
            );
            return Err(errors::counters(py, message));
        }
        let exact = noise == 0.0 && skew == 0.0 && missing == 0.0;
        if let (None, true) = (vl_scheme, exact) {
            let counters = run(py, Options::default(), |_| match &recorded.intervals {
                Some(intervals) => intervals.counters(fabric),
                None => self.outcome.counters.counters(fabric, self.outcome.end_ps),
            })?;
            return Ok(Some(PyCounters::simulated(shared, counters)));
        }
        let Some(routes) = &self.routes else {
            return Err(errors::argument(py, "lanes and noise: expected a routing with tables"));
        };
        let lanes = vl_scheme.map(|spec| lane_scheme(fabric, spec)).transpose();
        let lanes = lanes.map_err(|e| errors::spec(py, e))?;
        let routes = Arc::clone(&routes.get().routes);
        let made = run(py, Options::default(), |_| {
            let whole = [(0, 0, self.outcome.end_ps)];
            let spans: Vec<(u32, u64, u64)> = match &recorded.intervals {
                None => whole.to_vec(),
                Some(intervals) => (0..intervals.count() as u32)
                    .map(|number| (number, intervals.span_ps(number).0, intervals.span_ps(number).1))
                    .collect(),
            };
            let mut counters = Counters::new(fabric, None);
            for (number, start_ps, end_ps) in spans {
                let sent = sent(fabric, pairs, Some(number), |bytes, _| bytes as f64)?;
                let (start_ns, end_ns) = (start_ps.div_ceil(1000), end_ps.div_ceil(1000));
                let options = SynthOptions {
                    span_ns: end_ns - start_ns,
                    noise,
                    skew,
                    missing,
                    seed: seed.wrapping_add(number.into()),
                    ..SynthOptions::default()
                };
                let interval = synth(fabric, &routes, &sent.total(), lanes.as_ref(), &options);
                let interval = interval.map_err(|e| e.to_string())?;
                counters.push(Interval { start_ns, end_ns, ..interval }).map_err(|e| e.to_string())?;
            }
            Ok::<_, String>(counters)
        })?;
        Ok(Some(PyCounters::simulated(shared, made.map_err(|e| errors::counters(py, e))?)))
    }

    /// What hosts sent each other, headers included.
    ///
    /// Parameters
    /// ----------
    /// interval : int, optional
    ///     Which interval; None: all.
    /// unit : {"bytes", "packets", "mixed"}, default "bytes"
    ///     What is counted.
    /// mtu_bytes : float, default 4096.0
    ///     Bytes of a full packet.
    ///
    /// Returns
    /// -------
    /// Traffic or None
    ///     None unless the run was `counted`.
    ///
    /// Raises
    /// ------
    /// ArgumentError
    ///     If there is no such unit.
    #[pyo3(signature = (interval = None, *, unit = "bytes", mtu_bytes = 4096.0))]
    fn sent(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = arguments::interval)] interval: Option<u32>,
        unit: &str,
        #[pyo3(from_py_with = arguments::mtu_bytes)] mtu_bytes: f64,
    ) -> PyResult<Option<PyTraffic>> {
        let Some(pairs) = &self.outcome.recorded.pairs else { return Ok(None) };
        let (of_bytes, of_packets) = match unit {
            "bytes" => (1.0, 0.0),
            "packets" => (0.0, 1.0),
            "mixed" => (0.5, 0.5 * mtu_bytes),
            other => {
                let message = format!("unit: expected bytes, packets or mixed, found \"{other}\"");
                return Err(errors::argument(py, message));
            }
        };
        let amount = |bytes: u64, packets: u64| of_bytes * bytes as f64 + of_packets * packets as f64;
        let fabric = &self.stage.shared.fabric;
        let made = run(py, Options::default(), |_| sent(fabric, pairs, interval, amount))?;
        made.map(|traffic| Some(traffic.into())).map_err(|e| errors::traffic(py, e))
    }

    /// Every message of the jobs asked for, by job, from, to, collective and number: columns job (its number), from, to (ranks), collective,
    /// number, bytes, posted_ps, latency_ps, asking_ps; and `cut`, whether there were too many, so that the last to come are missing. `None` unless
    /// they were asked for.
    fn messages<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(messages) = &self.outcome.recorded.messages else { return Ok(None) };
        let rows = || messages.rows.iter();
        let columns = PyDict::new(py);
        columns.set_item("job", array(py, rows().map(|row| row.job)))?;
        columns.set_item("from", array(py, rows().map(|row| row.from)))?;
        columns.set_item("to", array(py, rows().map(|row| row.to)))?;
        columns.set_item("collective", array(py, rows().map(|row| row.collective)))?;
        columns.set_item("number", array(py, rows().map(|row| row.number)))?;
        columns.set_item("bytes", array(py, rows().map(|row| row.bytes)))?;
        columns.set_item("posted_ps", array(py, rows().map(|row| row.posted_ps)))?;
        columns.set_item("latency_ps", array(py, rows().map(|row| row.latency_ps)))?;
        columns.set_item("asking_ps", array(py, rows().map(|row| row.asking_ps)))?;
        let window = self.stage.scene.profile.config.window_packets;
        if let Some(window) = self.outcome.adapters.as_ref().and(window) {
            transmissions(py, &columns, &messages.rows, window)?;
        }
        columns.set_item("cut", messages.cut)?;
        Ok(Some(columns))
    }

    /// What adapters have counted: columns host, flits, stalled_cycles, packets, latency_cycles. `None` where packets are not answered.
    fn adapters<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        self.outcome.adapters.as_ref().map(|adapters| adapter_columns(py, adapters)).transpose()
    }

    /// The longest queues of every sample: columns time_ps, link, bytes. `None` unless the scenario asks for them.
    fn queues<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(queues) = &self.outcome.recorded.queues else { return Ok(None) };
        let rows = || queues.queues.iter();
        let columns = PyDict::new(py);
        columns.set_item("time_ps", array(py, rows().map(|row| queues.time_ps(row.sample))))?;
        columns.set_item("link", array(py, rows().map(|row| row.link.0)))?;
        columns.set_item("bytes", array(py, rows().map(|row| row.bytes)))?;
        Ok(Some(columns))
    }

    /// All queues by level and sample: columns time_ps, level, links, mean_bytes, max_bytes. `None` unless the scenario
    /// asks for them.
    fn queue_levels<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(queues) = &self.outcome.recorded.queues else { return Ok(None) };
        let rows = || queues.by_level.iter().map(|row| (row, &queues.levels[usize::from(row.level)]));
        let columns = PyDict::new(py);
        columns.set_item("time_ps", array(py, rows().map(|(row, _)| queues.time_ps(row.sample))))?;
        columns.set_item("level", rows().map(|(_, level)| level.name.as_str()).collect::<Vec<_>>())?;
        columns.set_item("links", array(py, rows().map(|(_, level)| level.links as u32)))?;
        columns.set_item("mean_bytes", array(py, rows().map(|(row, _)| queues.mean_bytes(row))))?;
        columns.set_item("max_bytes", array(py, rows().map(|(row, _)| row.max_bytes)))?;
        Ok(Some(columns))
    }

    /// The chosen window as a trace for ui.perfetto.dev; `None` unless the scenario asks for it.
    fn trace<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let timeline = self.outcome.recorded.timeline.as_ref()?;
        Some(PyBytes::new(py, netloom_formats::write_perfetto(timeline).as_bytes()))
    }

    fn __repr__(&self) -> String {
        let (routing, ms) = (&self.routing, ms(self.outcome.end_ps));
        let stopped = self.stopped().map(|why| format!(", {why}")).unwrap_or_default();
        format!("<netloom.Simulation: {routing}, {} packets in {ms:.3} ms{stopped}>", self.outcome.packets)
    }
}

/// What hosts sent each other in an interval, or in all.
fn sent(
    fabric: &Fabric,
    pairs: &[PairRow],
    interval: Option<u32>,
    amount: impl Fn(u64, u64) -> f64,
) -> Result<Traffic, String> {
    let rows: Vec<&PairRow> =
        pairs.iter().filter(|row| interval.is_none_or(|one| row.interval == one)).collect();
    let of = |get: fn(&PairRow) -> u64| rows.iter().map(|row| get(row)).collect::<Vec<u64>>();
    let amounts: Vec<f64> = rows.iter().map(|row| amount(row.bytes, row.packets)).collect();
    let packets: Vec<f64> = rows.iter().map(|row| row.packets as f64).collect();
    let (from, to) = (of(|row| u64::from(row.from)), of(|row| u64::from(row.to)));
    let made = Traffic::from_triples(fabric.host_count() as u32, &from, &to, &amounts, Some(&packets));
    Ok(made.map_err(|e| e.to_string())?.with_hosts_hash(Some(fabric.hosts_hash())))
}
