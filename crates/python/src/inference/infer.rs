//! `netloom.infer`: who talks to whom, from what ports counted.

use netloom_counters::{self as counters, Unit};
use netloom_infer::{
    self as inference, Earlier, Errors, Estimate, InferError, Inferred, Joined, LaneScheme, Participants,
    Routing, Settings, Told, Verdict, Window, measure, residual,
};
use netloom_model::{Csr, Hose, StopReason, Traffic};
use netloom_sim::PerPacket;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

use crate::arguments;
use crate::counters::PyCounters;
use crate::errors;
use crate::fabric::{PyFabric, Shared, link_dict};
use crate::inference::earlier;
use crate::jobs::{PyJob, participants};
use crate::routes::RoutesOrEngine;
use crate::run::{Interrupt, Options, run_until, stop_text, stop_words};
use crate::sums::PyHose;
use crate::traffic::PyTraffic;
use std::sync::Arc;

/// How many atoms of a job, and sums over leaves, a result lists.
const LISTED: usize = 10;

/// What was found.
struct Found {
    inferred: Inferred,
    /// Whether no other routes are possible.
    forced: bool,
    errors: Option<Errors>,
    matrix: Csr,
    /// What the largest sums and pairs carry in all traffic that explains the counters.
    told: Vec<Told>,
}

/// Routes, counters under them, and which of their intervals.
#[derive(FromPyObject)]
pub enum Also<'py> {
    /// One interval.
    One(RoutesOrEngine<'py>, PyRef<'py, PyCounters>, Option<usize>),
    /// All of them, added up.
    All(RoutesOrEngine<'py>, PyRef<'py, PyCounters>),
}

/// Traffic that explains counters, and how far to trust it.
#[pyclass(frozen, weakref, name = "Inferred", module = "netloom._core")]
pub struct PyInferred {
    found: Found,
    traffic: Py<PyTraffic>,
    hose: Hose,
    jobs: Vec<Participants>,
    findings: Vec<(&'static str, String)>,
    notes: Vec<String>,
    names: Vec<String>,
    stopped: Option<StopReason>,
    settings: Settings,
    shared: Arc<Shared>,
}

#[pymethods]
impl PyInferred {
    /// The answer, over hosts.
    #[getter]
    fn traffic(&self, py: Python<'_>) -> Py<PyTraffic> {
        self.traffic.clone_ref(py)
    }

    /// What every host sends and receives, by its own counters, certain whatever the verdict; where these are unknown, by the answer.
    #[getter]
    fn hose(&self) -> PyHose {
        PyHose { hose: self.hose.clone() }
    }

    /// How far the answer can be trusted: `identified`, `partly` or `not identifiable`.
    #[getter]
    fn verdict(&self) -> &'static str {
        self.found.inferred.estimate.trust.verdict.name()
    }

    /// Why this is only the best so far; `None` if the search ended by itself.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        stop_text(self.stopped)
    }

    /// Whether the same call gives the same answer again: no time limit or Ctrl-C cut it short.
    #[getter]
    fn reproducible(&self) -> bool {
        self.stopped.is_none()
    }

    /// What is wrong: (kind, text).
    #[getter]
    fn findings<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        crate::findings::findings(py, self.findings.iter().map(|(kind, text)| (*kind, text.into())))
    }

    /// What is worth knowing.
    #[getter]
    fn notes(&self) -> Vec<&str> {
        self.notes.iter().map(String::as_str).collect()
    }

    /// The figures, in the keys of a result.
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (found, estimate) = (&self.found, &self.found.inferred.estimate);
        let trust = &estimate.trust;
        let percent = |part: f64| 100.0 * part;
        let dict = PyDict::new(py);
        dict.set_item("verdict", trust.verdict.name())?;
        dict.set_item("scope", self.scope(py)?)?;
        dict.set_item("identified_fraction", trust.identified_fraction)?;
        dict.set_item("estimated_leaf_error_percent", percent(trust.leaf_error))?;
        dict.set_item("estimated_error_percent", percent(trust.pair_error))?;
        dict.set_item("leaf_error_percent", found.errors.map(|e| percent(e.leaf_sums)))?;
        dict.set_item("relative_error_percent", found.errors.map(|e| percent(e.pairs)))?;
        dict.set_item("residual_percent", percent(estimate.residual))?;
        dict.set_item("held_out_percent", estimate.held_out.map(percent))?;
        dict.set_item("unexplained_percent", percent(found.inferred.fit.share))?;
        dict.set_item("unexplained_deviations", found.inferred.fit.deviations)?;
        dict.set_item("rivals", trust.rivals)?;
        dict.set_item("hypothesis", self.hypotheses(py)?)?;
        dict.set_item("total_bytes", found.matrix.total_bytes())?;
        dict.set_item("pairs_with_traffic", found.matrix.entry_count())?;
        dict.set_item("pairs", found.inferred.joined.operator.pairs())?;
        dict.set_item("possible_pairs", estimate.possible)?;
        let (used, left_out) = found.inferred.joined.links();
        dict.set_item("links_used", used)?;
        dict.set_item("links_left_out", left_out)?;
        dict.set_item("noise_percent", found.inferred.joined.noise().map(percent))?;
        dict.set_item("windows", self.windows(py)?)?;
        let alike = found.inferred.joined.alike;
        dict.set_item("split_percent", (alike.groups > 0).then(|| percent(alike.apart)))?;
        dict.set_item("leaf_sums", self.leaf_sums(py)?)?;
        dict.set_item("ranges", self.ranges(py)?)?;
        dict.set_item("unexplained", self.unexplained(py)?)?;
        dict.set_item("stopped", self.stopped())?;
        dict.set_item("reproducible", self.reproducible())?;
        Ok(dict)
    }

    /// What there is to remember of every job, by name: for `remembered` when it runs again.
    fn memories<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        let listed = self.jobs.iter().enumerate().filter(|(_, job)| job.name != inference::OUTSIDE);
        for (j, job) in listed {
            let Inferred { joined, estimate, .. } = &self.found.inferred;
            let (operator, settings) = (&joined.operator, &self.settings.earlier);
            if let Some(answer) = &Earlier::of(j as u32, &self.jobs, operator, estimate, settings) {
                dict.set_item(&job.name, earlier::to_dict(py, answer, job)?)?;
            }
        }
        Ok(dict)
    }

    fn __repr__(&self) -> String {
        let (pairs, stopped) = (self.found.matrix.entry_count(), stop_words(self.stopped));
        format!("<netloom.Inferred: {}, {pairs} pairs{stopped}>", self.verdict())
    }
}

impl PyInferred {
    /// A row a job: its grid, the rival, its atoms.
    fn hypotheses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        let Estimate { jobs: found, trust, .. } = &self.found.inferred.estimate;
        for ((job, found), trust) in self.jobs.iter().zip(found).zip(&trust.jobs) {
            let row = PyDict::new(py);
            row.set_item("job", &job.name)?;
            row.set_item("ranks", job.ranks())?;
            row.set_item("hosts", job.hosts.len())?;
            row.set_item("verdict", trust.verdict.name())?;
            row.set_item("estimated_leaf_error_percent", 100.0 * trust.leaf_error)?;
            row.set_item("grid", found.grid.map(|g| g.to_string()))?;
            row.set_item("sides", found.grid.map(|g| sides(&g)))?;
            row.set_item("order", found.grid.map(|g| earlier::order_name(g.order)))?;
            row.set_item("rival", found.rival.map(|(g, _)| g.to_string()))?;
            row.set_item("rival_worse", found.rival.map(|(_, worse)| worse))?;
            let mut atoms: Vec<_> = found.atoms.iter().filter(|a| a.1 > 0.0).collect();
            atoms.sort_by(|a, b| b.1.total_cmp(&a.1));
            row.set_item("remembered", found.remembered)?;
            row.set_item("atom_count", atoms.len())?;
            let named = PyList::empty(py);
            for ((atom, bytes), grid) in atoms.iter().take(LISTED).filter_map(|a| Some((a, found.grid?))) {
                let item = PyDict::new(py);
                item.set_item("what", inference::in_words(atom, &grid))?;
                item.set_item("bytes_each", bytes)?;
                named.append(item)?;
            }
            row.set_item("atoms", named)?;
            list.append(row)?;
        }
        Ok(list)
    }

    /// What share of the counted traffic the verdict speaks of, and where the rest is.
    fn scope<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (scope, dict) = (self.found.inferred.scope, PyDict::new(py));
        dict.set_item("share", scope.share)?;
        dict.set_item("outside_jobs", scope.outside)?;
        dict.set_item("unexplained", scope.unexplained)?;
        Ok(dict)
    }

    fn leaf_sums<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (fabric, list) = (&self.shared.fabric, PyList::empty(py));
        for sum in self.found.inferred.estimate.trust.leaf_sums.iter().take(LISTED) {
            let row = PyDict::new(py);
            row.set_item("leaf", fabric.switch_name(fabric.leaf(sum.leaf_of)))?;
            row.set_item("destination", fabric.host_name(sum.destination))?;
            row.set_item("bytes", sum.bytes)?;
            row.set_item("low", sum.low)?;
            row.set_item("high", sum.high)?;
            list.append(row)?;
        }
        Ok(list)
    }

    /// A row a sum or pair: what it carries at least and at most.
    fn ranges<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (fabric, list) = (&self.shared.fabric, PyList::empty(py));
        for told in &self.found.told {
            let row = PyDict::new(py);
            let from = if told.is_sum {
                fabric.switch_name(fabric.leaf(told.source))
            } else {
                fabric.host_name(told.source)
            };
            row.set_item("kind", if told.is_sum { "leaf sum" } else { "pair" })?;
            row.set_item("source", from)?;
            row.set_item("destination", fabric.host_name(told.destination))?;
            row.set_item("bytes", told.bytes)?;
            row.set_item("least", told.range.least)?;
            row.set_item("most", Some(told.range.most).filter(|most| most.is_finite()))?;
            list.append(row)?;
        }
        Ok(list)
    }

    /// A row a stretch of time with routes of its own.
    fn windows<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let list = PyList::empty(py);
        for (name, seen) in self.names.iter().zip(&self.found.inferred.joined.seen) {
            let (row, noise) = (PyDict::new(py), seen.measured.noise);
            row.set_item("name", name)?;
            row.set_item("intervals", seen.intervals)?;
            row.set_item("factor", seen.factor)?;
            row.set_item("apart_percent", 100.0 * seen.apart)?;
            row.set_item("apart_by_noise_percent", 100.0 * seen.apart_by_noise)?;
            row.set_item("noise_percent", (noise.comparisons > 0).then_some(100.0 * noise.relative))?;
            row.set_item("links_used", seen.links_used)?;
            row.set_item("links_left_out", seen.links_left_out)?;
            list.append(row)?;
        }
        Ok(list)
    }

    fn unexplained<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let (fabric, list) = (&self.shared.fabric, PyList::empty(py));
        for row in self.found.inferred.fit.rows.iter().take(LISTED) {
            let item = link_dict(py, fabric, row.link, 0.0)?;
            item.del_item("load")?;
            item.set_item("lane", row.lane)?;
            item.set_item("window", row.routing)?;
            item.set_item("counted", row.counted)?;
            item.set_item("explained", row.explained)?;
            list.append(item)?;
        }
        Ok(list)
    }
}

/// The traffic that explains counters best, and how far it can be trusted.
///
/// Parameters
/// ----------
/// fabric : Fabric
///     The fabric.
/// routes : Routes or str
///     The routes, or an engine's name (`netloom.engines`).
/// counters : Counters
///     What ports counted under these routes.
/// jobs : sequence of Job, optional
///     Who may have talked to whom (`place_jobs`); without them all hosts are one job, a rank each.
/// vl_scheme : str, optional
///     How pairs are spread over virtual lanes, e.g. `"5sl5vl:seed=1"`; None: whole links are used.
/// unit : {"bytes", "packets", "mixed"}, default "bytes"
///     What counters are taken as.
/// mtu_bytes : float, default 4096.0
///     Bytes of a full packet.
/// interval : int, optional
///     Which interval of the counters, from 0; None: all of them added up.
/// also : sequence of (Routes or str, Counters[, int or None]), optional
///     What was counted of the same traffic under other routes, and which interval of it. The answer is the traffic
///     of the first interval.
/// names : sequence of str, optional
///     What the first counters and those of `also` are called in messages.
/// remembered : mapping, optional
///     What jobs showed before (`Inferred.memories`), by name.
/// truth : Traffic, optional
///     What the answer is compared with.
/// ranges : int, default 0
///     How many of the largest sums, and pairs, are told with what they carry at least and at most over all
///     traffic that explains the counters.
/// seed : int, optional
///     Seed of what random choices there are.
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
/// Inferred
///
/// Raises
/// ------
/// CountersError
///     If counters and routes cannot belong together, counters say nothing, or intervals differ in traffic.
/// SpecError
///     If there is no such VL scheme.
///
/// References
/// ----------
/// Paper 000 (Taffet, dissertation), chapter 4; `docs/methods/inference.md`.
///
/// Examples
/// --------
/// >>> fabric = netloom.Fabric.generate("two-level:leaves=4,hosts=4,spines=2")
/// >>> counters = netloom.synth_counters(fabric, "ftree", netloom.Traffic.read("stencil:4x4", fabric), scale=1e6)
/// >>> netloom.infer(fabric, "ftree", counters).verdict
/// 'partly'
#[pyfunction]
#[pyo3(signature = (fabric, routes, counters, jobs = None, *, vl_scheme = None, unit = "bytes", mtu_bytes = 4096.0, interval = None,
                    also = None, names = None, remembered = None, truth = None, ranges = 0, seed = None, threads = 0, time_limit = None,
                    progress = None, on_interrupt = "raise"))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn infer(
    py: Python<'_>,
    fabric: &PyFabric,
    routes: RoutesOrEngine<'_>,
    counters: &PyCounters,
    jobs: Option<Vec<PyRef<'_, PyJob>>>,
    vl_scheme: Option<&str>,
    unit: &str,
    #[pyo3(from_py_with = arguments::mtu_bytes)] mtu_bytes: f64,
    #[pyo3(from_py_with = arguments::interval)] interval: Option<usize>,
    also: Option<Vec<Also<'_>>>,
    names: Option<Vec<String>>,
    remembered: Option<&Bound<'_, PyDict>>,
    truth: Option<&PyTraffic>,
    #[pyo3(from_py_with = arguments::ranges)] ranges: usize,
    #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<PyInferred> {
    let unit = crate::counters::unit(py, unit, mtu_bytes)?;
    if let Some(truth) = truth {
        truth.check_fits(py, fabric)?;
    }
    let shared = &fabric.shared;
    let net = &shared.fabric;
    let resolve = |routes: RoutesOrEngine<'_>| match &routes {
        // Switches that choose packet by packet split traffic evenly on average, whatever the scheme.
        RoutesOrEngine::Engine(name) if PerPacket::parse(name).is_some() => match vl_scheme {
            None if shared.structure().shape.groups().is_some() => {
                let text = format!(
                    "\"{name}\" chooses among up*/down* ways, and this is a dragonfly: expected tables"
                );
                Err(errors::spec(py, text))
            }
            None => Ok(None),
            Some(_) => {
                let text = format!(
                    "\"{name}\" with a VL scheme: which lanes are used where switches choose ways is not modelled"
                );
                Err(errors::spec(py, text))
            }
        },
        _ => routes.resolve(py, fabric, 0, threads).map(Some),
    };
    let mut windows = vec![(resolve(routes)?, counters.chosen(py, interval)?)];
    let mut notes: Vec<String> = counters.notes().into_iter().map(Into::into).collect();
    for one in also.into_iter().flatten() {
        let (routes, counters, interval) = match one {
            Also::One(routes, counters, interval) => (routes, counters, interval),
            Also::All(routes, counters) => (routes, counters, None),
        };
        windows.push((resolve(routes)?, counters.chosen(py, interval)?));
        notes.extend(counters.notes().into_iter().map(Into::into));
    }
    let names = names.unwrap_or_default().into_iter().map(Some).chain(std::iter::repeat(None));
    let names: Vec<String> = (names.zip(0..windows.len()))
        .map(|(name, k)| name.unwrap_or_else(|| format!("interval {k}")))
        .collect();
    let scheme = match vl_scheme.map(|spec| counters::lane_scheme(net, spec)).transpose() {
        Ok(scheme) => scheme.unwrap_or(LaneScheme::One),
        Err(error) => return Err(errors::spec(py, error)),
    };
    let jobs: Vec<Participants> = match jobs {
        Some(jobs) => participants(net, &jobs),
        None => {
            notes.push("no jobs are given: all hosts are taken as one job, a rank each in host order".into());
            vec![Participants::one_a_host("all hosts", net.hosts().collect())]
        }
    };
    let known = match remembered {
        Some(all) => recalled(all, &jobs, &mut notes)?,
        None => Vec::new(),
    };
    let options = Options { threads, time_limit, progress, interrupt: Interrupt::parse(py, on_interrupt)? };
    let settings = seed.map_or_else(Settings::default, |seed| Settings { seed, ..Default::default() });
    let mut idle: Vec<Option<f64>> = windows.iter().map(|(_, counters)| idle(net, counters)).collect();
    if let Some(octets) = idle.swap_remove(0).filter(|octets| *octets > 0.0) {
        let text = format!(
            "the fabric is idle: hosts sent {octets:.0} bytes in small packets, no more than looking after it and reading its counters \
             takes. Expected counters of an interval in which jobs ran"
        );
        return Err(errors::counters(py, text));
    }
    let ended = run_until(py, options, |control| {
        let windows: Vec<Window> = (names.iter().zip(&windows))
            .map(|(name, (routes, counters))| {
                let routing = match routes {
                    Some(routes) => Routing::Tables(routes, &scheme),
                    None => Routing::Adaptive(shared.paths(), None),
                };
                Window { name, routing, counters }
            })
            .collect();
        let inferred = inference::infer(net, &windows, &jobs, &known, unit, &settings, control)?;
        let (joined, estimate) = (&inferred.joined, &inferred.estimate);
        let adaptive = windows.iter().any(|window| matches!(window.routing, Routing::Adaptive(..)));
        let forced = !adaptive && inferred.fit.is_foreign && residual::only_way(shared.paths());
        let matrix = inference::traffic(net, &joined.operator, &joined.jobs, &estimate.bytes);
        let errors = truth.and_then(|t| inference::errors(net, &matrix, &in_unit(t.shared.total(), unit)));
        let answer = (&estimate.bytes[..], &estimate.trust.leaf_sums[..]);
        let (operator, counted) = (&joined.operator, &joined.counted);
        let told = inference::largest(operator, &joined.jobs, counted, answer, ranges, &settings, control);
        Ok::<_, InferError>(Found { inferred, forced, errors, matrix, told })
    })?;
    let stopped = ended.stopped;
    let found = ended.result.map_err(|e| errors::infer(py, &e))?;
    notes.extend_from_slice(&found.inferred.joined.notes);
    let mut findings: Vec<_> =
        found.inferred.joined.impossible.iter().map(|f| (f.kind, f.text.clone())).collect();
    findings
        .extend(measure::outside(net, &found.inferred.joined.outsiders).map(|text| ("outside-jobs", text)));
    if found.inferred.fit.is_foreign && stopped.is_none() {
        let text = {
            let (fit, lanes) = (&found.inferred.fit, found.inferred.joined.operator.lanes());
            residual::foreign(net, fit, lanes, &names, found.forced, &settings.fit)
        };
        if found.inferred.joined.outsiders.is_empty() && !found.forced {
            return Err(errors::counters(py, text));
        }
        findings.push(("unexplained", text));
    }
    findings.extend(found.inferred.wrapped.iter().map(|f| (f.kind, f.text.clone())));
    findings.extend(
        {
            let Joined { operator, counted, .. } = &found.inferred.joined;
            residual::few_counters(operator, counted, &settings.counters)
        }
        .map(|text| ("few-counters", text)),
    );
    if found.inferred.estimate.trust.verdict == Verdict::NotIdentifiable {
        let text = "these counters do not tell who talks to whom: only what every host sends and receives is certain \
                    (routes made for this traffic may be worse than those in force: make them for these sums, infer --write-hose, optimize --hose)";
        findings.push(("not-identifiable", text.into()));
    }
    let jobs = found.inferred.joined.jobs.clone();
    let hose = found.inferred.joined.sums(net, &found.matrix);
    let traffic = Traffic::from_matrix(found.matrix.clone()).with_hosts_hash(Some(net.hosts_hash()));
    let (traffic, shared) = (Py::new(py, PyTraffic::from(traffic))?, Arc::clone(shared));
    Ok(PyInferred { found, traffic, hose, jobs, findings, notes, names, stopped, settings, shared })
}

/// What hosts sent, if all that was counted is no more than management's.
fn idle(fabric: &netloom_model::Fabric, counted: &netloom_model::Counters) -> Option<f64> {
    counters::idle(fabric, &counters::added_up(counted)?)
}

/// What is remembered of every job; what can't be used is said in `notes`.
fn recalled(
    all: &Bound<'_, PyDict>,
    jobs: &[Participants],
    notes: &mut Vec<String>,
) -> PyResult<Vec<Option<Earlier>>> {
    let mut found = Vec::new();
    for job in jobs {
        let answer = match all.get_item(&job.name)? {
            Some(one) => match one.cast::<PyDict>() {
                Ok(dict) => earlier::from_dict(dict, job),
                Err(_) => Err("expected a dictionary".into()),
            },
            None => {
                found.push(None);
                continue;
            }
        };
        if let Err(why) = &answer {
            notes.push(format!("job \"{}\": what is remembered is not used: {why}", job.name));
        }
        found.push(answer.ok());
    }
    Ok(found)
}

/// Traffic in what counters are taken as.
fn in_unit(traffic: &Csr, unit: Unit) -> Csr {
    let convert = |at: usize, bytes: f64| {
        let packets = |mtu_bytes: f64| traffic.packets().map_or(bytes / mtu_bytes, |packets| packets[at]);
        match unit {
            Unit::Bytes => bytes,
            Unit::Packets { mtu_bytes } => packets(mtu_bytes),
            Unit::Mixed { mtu_bytes } => 0.5 * (mtu_bytes * packets(mtu_bytes) + bytes),
        }
    };
    let values = traffic.bytes().iter().enumerate().map(|(at, &bytes)| convert(at, bytes)).collect();
    Csr::from_parts(traffic.offsets().to_vec(), traffic.columns().to_vec(), values, None)
}

fn sides(grid: &inference::Grid) -> Vec<u32> {
    let last = grid.sides.iter().rposition(|&s| s > 1).unwrap_or(0);
    grid.sides[..=last].to_vec()
}
