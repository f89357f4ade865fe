//! `netloom._core.sample`: one routing of a scenario, run with paths sampled inside its packets; and what receivers know of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_compose::sampled::{Kept, Sampled, Sampling, decode};
use netloom_compose::{Marking, Method, Sampler};
use netloom_model::StopReason;
use netloom_sampling::field::FEWER_RUNS;
use netloom_sampling::{Candidates, Hash, HashFunction, HopBits, Modulus, SamplingError, UnknownHash};
use netloom_sim::{Model, Setup, simulate_observed};
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arguments;
use crate::arrays::array;
use crate::errors;
use crate::fabric::{PyFabric, Shared};
use crate::routes::PyRoutes;
use crate::run::{Interrupt, Options, run, run_until};
use crate::simulating::scenario::PyScenario;
use crate::simulating::simulate::{Prepared, PySimulation, cpu_ns};

/// What a run has shown, and what was sampled in its packets. Immutable.
#[pyclass(frozen, weakref, name = "Sampled", module = "netloom._core")]
pub struct PySampled {
    simulation: Py<PySimulation>,
    sampled: Sampled,
    asked: Sampling,
    interrupted: bool,
}

/// Runs a scenario with one of its routings (the first if `None`), every packet, and samples paths inside packets as adapters
/// and switches would. `method`: whole, one-bit; `contexts`: job, tag; `marking`: queue, probabilistic, ecn (a queue above `ecn_bytes`;
/// `None`: above what an output buffer holds). `seed`: `None`: the scenario's. `hash`: as [`sampling_hash`] reads it; `None`: gf. With `packets`
/// received ones are kept, with `truth` what links really carried is counted. The rest as in `simulate`; no state is kept, no trace recorded.
#[pyfunction]
#[pyo3(signature = (scenario, routing = None, *, method = "whole", rate = 1.0, every_us = None, contexts = "job",
                    marking = "queue", ecn_bytes = None, hop_bits = 3, hash = None, seed = None, packets = false,
                    truth = false, routes = None, threads = 1, time_limit = None, progress = None, on_interrupt = "raise"))]
#[allow(clippy::too_many_arguments)] // keyword arguments of one Python call
pub fn sample(
    py: Python<'_>,
    scenario: &PyScenario,
    routing: Option<&str>,
    method: &str,
    #[pyo3(from_py_with = arguments::rate)] rate: f64,
    #[pyo3(from_py_with = arguments::every_us)] every_us: Option<f64>,
    contexts: &str,
    marking: &str,
    #[pyo3(from_py_with = arguments::ecn_bytes)] ecn_bytes: Option<u32>,
    #[pyo3(from_py_with = arguments::hop_bits)] hop_bits: u8,
    hash: Option<&str>,
    #[pyo3(from_py_with = arguments::seed)] seed: Option<u64>,
    packets: bool,
    truth: bool,
    routes: Option<Py<PyRoutes>>,
    #[pyo3(from_py_with = arguments::threads)] threads: usize,
    #[pyo3(from_py_with = arguments::time_limit)] time_limit: Option<f64>,
    progress: Option<Py<PyAny>>,
    on_interrupt: &str,
) -> PyResult<PySampled> {
    let refuse = |message: String| errors::argument(py, message);
    let (stage, config) = (&scenario.stage, &scenario.stage.scene.profile.config);
    if stage.scene.scenario.model != Model::Packet.name() {
        let model = &stage.scene.scenario.model;
        let message =
            format!("{}: model = \"{model}\": expected packet, as packets are sampled", stage.label);
        return Err(errors::simulation(py, message));
    }
    let asked = Sampling {
        method: self::method(py, &stage.shared, method, hash)?,
        rate,
        every_ps: every_us.map(|us| (us * 1e6).round() as u64),
        by_tag: match contexts {
            "job" => false,
            "tag" => true,
            other => return Err(refuse(format!("contexts: expected job or tag, found \"{other}\""))),
        },
        marking: match marking {
            "queue" => Marking::Queue,
            "probabilistic" => Marking::Probabilistic,
            "ecn" => Marking::Ecn { bytes: ecn_bytes.unwrap_or(config.output_buffer_bytes) },
            other => {
                return Err(refuse(format!(
                    "marking: expected queue, probabilistic or ecn, found \"{other}\""
                )));
            }
        },
        hop_bits: hop_bits_of(py, hop_bits)?,
        seed: seed.unwrap_or(stage.scene.scenario.seed),
        packets,
        truth,
    };
    let prepared = Prepared::new(py, scenario, routing, routes, Model::Packet, threads)?;
    let tables = prepared.tables(py);
    let options = Options {
        threads: threads.max(1),
        time_limit,
        progress,
        interrupt: Interrupt::parse(py, on_interrupt)?,
    };
    let ended = run_until(py, options, |control| {
        let before = cpu_ns();
        let fabric = &stage.shared.fabric;
        let scheme = prepared.scheme(tables.as_deref());
        let setup: Setup = stage.scene.setup(fabric, scheme, Model::Packet, 1);
        let found = simulate_observed(setup, Sampler::new(fabric, asked.clone()), control);
        let found = found.map(|(outcome, sampler)| {
            let sampled = sampler.finish(outcome.end_ps);
            (outcome, sampled)
        });
        (found, (cpu_ns() - before) as f64 * 1e-9)
    })?;
    let interrupted = ended.stopped == Some(StopReason::Interrupted);
    let (found, cpu_seconds) = ended.result;
    let (outcome, sampled) = match found {
        Ok((outcome, sampled)) => (Ok(outcome), sampled),
        Err(error) => (Err(error), Sampled::default()),
    };
    let simulation = prepared.simulation(py, Model::Packet, outcome, cpu_seconds, None)?;
    Ok(PySampled { simulation: Py::new(py, simulation)?, sampled, asked, interrupted })
}

/// Estimates of packets that were sampled elsewhere, of which a share `rate` was sampled: columns of equal length as in `Sampled.packets`,
/// `carries` the bit or the link. Returns the columns of samples and of received packets, and by name how many packets can't be with the
/// first one's row: `no_way`, `impossible`, `off_way`, `hops`, `short`, `long`, `full` (those are counted all the same, and of a whole link the
/// long ones).
#[pyfunction]
#[pyo3(signature = (fabric, time_ps, context, id, source, destination, hops, carries, congested, *, method, rate = 1.0,
                    every_us = None, hop_bits = 3, hash = None))]
#[allow(clippy::too_many_arguments, clippy::type_complexity)] // columns of a table
pub fn decode_packets<'py>(
    py: Python<'py>,
    fabric: &PyFabric,
    time_ps: PyReadonlyArray1<'py, u64>,
    context: PyReadonlyArray1<'py, u32>,
    id: PyReadonlyArray1<'py, u32>,
    source: PyReadonlyArray1<'py, u32>,
    destination: PyReadonlyArray1<'py, u32>,
    hops: PyReadonlyArray1<'py, u8>,
    carries: PyReadonlyArray1<'py, u32>,
    congested: PyReadonlyArray1<'py, u8>,
    method: &str,
    #[pyo3(from_py_with = arguments::rate)] rate: f64,
    #[pyo3(from_py_with = arguments::every_us)] every_us: Option<f64>,
    #[pyo3(from_py_with = arguments::hop_bits)] hop_bits: u8,
    hash: Option<&str>,
) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>, BTreeMap<&'static str, (u64, usize)>)> {
    let shared = Arc::clone(&fabric.shared);
    let method = self::method(py, &shared, method, hash)?;
    let hop_bits = hop_bits_of(py, hop_bits)?;
    let (time_ps, context, id) = (time_ps.as_slice()?, context.as_slice()?, id.as_slice()?);
    let (source, destination) = (source.as_slice()?, destination.as_slice()?);
    let (hops, carries, congested) = (hops.as_slice()?, carries.as_slice()?, congested.as_slice()?);
    let lengths = [context.len(), id.len(), source.len(), destination.len(), hops.len(), carries.len()];
    if lengths.iter().any(|&length| length != time_ps.len()) || congested.len() != time_ps.len() {
        return Err(errors::argument(py, "columns: expected equal lengths"));
    }
    let kept: Vec<Kept> = (0..id.len())
        .map(|at| Kept {
            time_ps: time_ps[at],
            context: context[at],
            id: id[at],
            source: source[at],
            destination: destination[at],
            hops: hops[at],
            carries: carries[at],
            congested: congested[at] != 0,
        })
        .collect();
    distinct(py, &method, id)?;
    let every_ps = every_us.map(|us| (us * 1e6).round() as u64);
    let found = run(py, Options::default(), |_| {
        decode(&shared.fabric, shared.paths(), &method, hop_bits, (rate, every_ps), &kept)
    })?;
    let odd = [
        ("no_way", found.no_way),
        ("impossible", found.impossible),
        ("off_way", found.off_way),
        ("hops", found.hops),
        ("short", found.short),
        ("long", found.long),
        ("full", found.full),
    ];
    let odd = odd.into_iter().map(|(name, odd)| (name, (odd.packets, odd.first))).collect();
    Ok((samples(py, &found.sampled)?, received(py, &found.sampled)?, odd))
}

/// Packets from which on ids that are all small are taken for ids of few bits.
const MANY: usize = 64;

/// Refuses a hash under which links look alike for ids of so few bits.
fn distinct(py: Python<'_>, method: &Method, ids: &[u32]) -> PyResult<()> {
    let bits = 32 - ids.iter().fold(0, |all, id| all | id).leading_zeros();
    let (alike, links) = method.alike(u32::MAX.checked_shr(32 - bits).unwrap_or(0));
    if ids.len() < MANY || alike == 0 {
        return Ok(());
    }
    let message = format!(
        "one-bit: packets' ids have {bits} bits, under which {alike} of {links} links look like others with this hash: expected \
         another (--hash 0x8d,0x127be738 suits ids of 16 bits, md5 and siphash any), or ids of more bits"
    );
    Err(errors::simulation(py, message))
}

fn hop_bits_of(py: Python<'_>, bits: u8) -> PyResult<HopBits> {
    HopBits::new(bits).ok_or_else(|| errors::argument(py, format!("hop_bits: expected 1 to 5, found {bits}")))
}

/// A hash of packet id and link number as it is written in full: `MODULUS,G`, `md5` or `siphash:KEY`; `gf` and `siphash` have constants of
/// their own.
#[pyfunction]
pub fn sampling_hash(py: Python<'_>, text: &str) -> PyResult<String> {
    Ok(hash_of(py, text)?.to_string())
}

/// Links as a data plane of real packets needs them, whose ids have 16 bits: by link its number (`u32::MAX`: on no way) and the mask of its
/// port; bits of numbers; links of the longest way.
#[pyfunction]
#[allow(clippy::type_complexity)] // two columns and two numbers
pub fn sampling_ports<'py>(
    py: Python<'py>,
    fabric: &PyFabric,
) -> PyResult<(Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, u32, u8)> {
    let shared = Arc::clone(&fabric.shared);
    let made = run(py, Options::default(), |_| {
        let candidates = Candidates::new(&shared.fabric, shared.structure(), shared.paths())?;
        let hash = Hash::new(Modulus::SMALLEST, FEWER_RUNS, candidates.bits(), u16::BITS)?;
        Ok((candidates, hash))
    })?;
    let (candidates, hash) =
        made.map_err(|e: SamplingError| errors::simulation(py, format!("ids of 16 bits: {e}")))?;
    let links = || shared.fabric.links().map(|link| candidates.number(link));
    let numbers = array(py, links().map(|number| number.unwrap_or(u32::MAX)));
    let masks = array(py, links().map(|number| number.map_or(0, |number| hash.mask(number))));
    Ok((numbers, masks, candidates.bits(), candidates.most_hops()))
}

fn hash_of(py: Python<'_>, text: &str) -> PyResult<HashFunction> {
    text.parse().map_err(|error: UnknownHash| errors::argument(py, error))
}

fn method(py: Python<'_>, shared: &Arc<Shared>, word: &str, hash: Option<&str>) -> PyResult<Method> {
    match word {
        "whole" => Ok(Method::Whole),
        "one-bit" => {
            let function = hash_of(py, hash.unwrap_or("gf"))?;
            let made = run(py, Options::default(), |_| {
                let candidates = Candidates::new(&shared.fabric, shared.structure(), shared.paths())?;
                Method::hashed(Arc::new(candidates), function)
            })?;
            made.map_err(|e| errors::simulation(py, format!("one-bit: {e} (method whole needs no hash)")))
        }
        other => Err(errors::argument(py, format!("method: expected whole or one-bit, found \"{other}\""))),
    }
}

#[pymethods]
impl PySampled {
    /// What the run has shown besides.
    #[getter]
    fn simulation(&self, py: Python<'_>) -> Py<PySimulation> {
        self.simulation.clone_ref(py)
    }

    /// Whether Ctrl-C came, be it when nothing was left to cut short.
    #[getter]
    fn interrupted(&self) -> bool {
        self.interrupted
    }

    /// What a result says of the sampling.
    fn settings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Sampling { method, rate, every_ps, by_tag, marking, hop_bits, seed, .. } = &self.asked;
        let dict = PyDict::new(py);
        let function = match method {
            Method::Whole => None,
            Method::OneBit { hash, .. } => {
                let (modulus, g) = hash.constants();
                Some((HashFunction::Field { modulus, g }, hash.bits()))
            }
            Method::Hashed { candidates, function } => Some((*function, candidates.bits())),
        };
        let hash = function.map(|(function, bits)| {
            let of = PyDict::new(py);
            let constants = match function {
                HashFunction::Field { modulus: Modulus(modulus), g } => {
                    [Some(format!("{modulus:#x}")), Some(format!("{g:#x}")), None]
                }
                HashFunction::Md5 => [None, None, None],
                HashFunction::SipHash { key } => {
                    [None, None, Some(format!("{:032x}", u128::from_be_bytes(key)))]
                }
            };
            of.set_item("function", function.name())?;
            for (name, constant) in ["modulus", "g", "key"].into_iter().zip(constants) {
                of.set_item(name, constant)?;
            }
            of.set_item("bits", bits)?;
            PyResult::Ok(of)
        });
        let hash = hash.transpose()?;
        let (word, ecn_bytes) = match *marking {
            Marking::Queue => ("queue", None),
            Marking::Probabilistic => ("probabilistic", None),
            Marking::Ecn { bytes } => ("ecn", Some(bytes)),
        };
        dict.set_item("method", if hash.is_some() { "one-bit" } else { "whole" })?;
        dict.set_item("rate", rate)?;
        dict.set_item("seed", seed)?;
        dict.set_item("hash", hash)?;
        dict.set_item("hop_bits", hop_bits.most().trailing_zeros())?;
        dict.set_item("marking", word)?;
        dict.set_item("ecn_bytes", ecn_bytes)?;
        dict.set_item("every_us", every_ps.map(|ps| ps as f64 * 1e-6))?;
        dict.set_item("contexts", if *by_tag { "tag" } else { "job" })?;
        dict.set_item("astray", self.sampled.astray)?;
        Ok(dict)
    }

    /// By context: columns context, job (its number), phase, packets, sampled, bytes.
    fn contexts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let rows = || self.sampled.contexts.iter();
        let columns = PyDict::new(py);
        columns.set_item("context", array(py, rows().zip(0u32..).map(|(_, number)| number)))?;
        columns.set_item("job", array(py, rows().map(|row| row.job)))?;
        columns.set_item("phase", rows().map(|row| row.phase.name()).collect::<Vec<_>>())?;
        columns.set_item("packets", array(py, rows().map(|row| row.packets)))?;
        columns.set_item("sampled", array(py, rows().map(|row| row.sampled)))?;
        columns.set_item("bytes", array(py, rows().map(|row| row.bytes)))?;
        Ok(columns)
    }

    /// By window, context and link that sampled packets may have crossed: columns window, start_ps, end_ps, context, link, traffic,
    /// traffic_error, congested, congested_error (packets, all of them and not the sampled ones alone), tested (sampled packets).
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        samples(py, &self.sampled)
    }

    /// What hosts have received, exactly: columns window, context, source, destination, packets, bytes.
    fn received<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        received(py, &self.sampled)
    }

    /// Sampled packets as they were received: columns time_ps, context, id, source, destination, hops, bit or link, congested. `None` unless
    /// they were kept.
    fn packets<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.asked.packets {
            return Ok(None);
        }
        let rows = || self.sampled.packets.iter();
        let columns = PyDict::new(py);
        columns.set_item("time_ps", array(py, rows().map(|row| row.time_ps)))?;
        columns.set_item("context", array(py, rows().map(|row| row.context)))?;
        columns.set_item("id", array(py, rows().map(|row| row.id)))?;
        columns.set_item("source", array(py, rows().map(|row| row.source.0)))?;
        columns.set_item("destination", array(py, rows().map(|row| row.destination.0)))?;
        columns.set_item("hops", array(py, rows().map(|row| row.hops)))?;
        match self.asked.method {
            Method::Whole => columns.set_item("link", array(py, rows().map(|row| row.carries)))?,
            Method::OneBit { .. } | Method::Hashed { .. } => {
                columns.set_item("bit", array(py, rows().map(|row| row.carries as u8)))?;
            }
        }
        columns.set_item("congested", array(py, rows().map(|row| u8::from(row.congested))))?;
        Ok(Some(columns))
    }

    /// What links really carried of packets that were received: columns window, start_ps, end_ps, context, link, traffic, congested. `None`
    /// unless it was counted.
    fn truth<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        if !self.asked.truth {
            return Ok(None);
        }
        let rows = || self.sampled.truth.iter();
        let columns = PyDict::new(py);
        windows(&columns, &self.sampled, rows().map(|row| row.window))?;
        columns.set_item("context", array(py, rows().map(|row| row.context)))?;
        columns.set_item("link", array(py, rows().map(|row| row.link.0)))?;
        columns.set_item("traffic", array(py, rows().map(|row| row.traffic)))?;
        columns.set_item("congested", array(py, rows().map(|row| row.congested)))?;
        Ok(Some(columns))
    }

    fn __repr__(&self) -> String {
        let packets: u64 = self.sampled.contexts.iter().map(|context| context.sampled).sum();
        format!("<netloom.Sampled: {packets} packets in {} contexts>", self.sampled.contexts.len())
    }
}

fn samples<'py>(py: Python<'py>, sampled: &Sampled) -> PyResult<Bound<'py, PyDict>> {
    let rows = || sampled.samples.iter();
    let columns = PyDict::new(py);
    windows(&columns, sampled, rows().map(|row| row.window))?;
    columns.set_item("context", array(py, rows().map(|row| row.context)))?;
    columns.set_item("link", array(py, rows().map(|row| row.link.0)))?;
    columns.set_item("traffic", array(py, rows().map(|row| row.traffic)))?;
    columns.set_item("traffic_error", array(py, rows().map(|row| row.traffic_error)))?;
    columns.set_item("congested", array(py, rows().map(|row| row.congested)))?;
    columns.set_item("congested_error", array(py, rows().map(|row| row.congested_error)))?;
    columns.set_item("tested", array(py, rows().map(|row| row.tested)))?;
    Ok(columns)
}

fn received<'py>(py: Python<'py>, sampled: &Sampled) -> PyResult<Bound<'py, PyDict>> {
    let rows = || sampled.received.iter();
    let columns = PyDict::new(py);
    columns.set_item("window", array(py, rows().map(|row| row.window)))?;
    columns.set_item("context", array(py, rows().map(|row| row.context)))?;
    columns.set_item("source", array(py, rows().map(|row| row.source.0)))?;
    columns.set_item("destination", array(py, rows().map(|row| row.destination.0)))?;
    columns.set_item("packets", array(py, rows().map(|row| row.packets)))?;
    columns.set_item("bytes", array(py, rows().map(|row| row.bytes)))?;
    Ok(columns)
}

/// Columns of rows' windows: number, from when and to when.
fn windows(
    columns: &Bound<'_, PyDict>,
    sampled: &Sampled,
    rows: impl Iterator<Item = u32> + Clone,
) -> PyResult<()> {
    let (py, known) = (columns.py(), &sampled.windows);
    let span = |window: u32| {
        let at = known.binary_search_by_key(&window, |known| known.0);
        at.map_or((0, 0), |at| (known[at].1, known[at].2))
    };
    columns.set_item("window", array(py, rows.clone()))?;
    columns.set_item("start_ps", array(py, rows.clone().map(|window| span(window).0)))?;
    columns.set_item("end_ps", array(py, rows.map(|window| span(window).1)))?;
    Ok(())
}
