//! Scenarios: a fabric, what runs on it, and the routings to compare. TOML.
//!
//! ```toml
//! name = "bisection-shuffle"           # the file's name unless given
//! fabric = "quartz1"                   # a generator's spec, or a path relative to the scenario
//! groups = "g([0-9]+)r"                # of a dragonfly, if its cables do not tell them: a rule by names, or a file of switches and groups
//! profile = "codes"                    # infiniband (the default) | codes | aries: hardware and software
//! routes = ["ftree", "adaptive"]       # or one text; each is run. An engine of `netloom route` (static tables), a scheme
//!                                      # without tables such as adaptive, a file of tables (with paths by pair: mine.lfts+pairs.csv),
//!                                      # optimized, optimized:phases
//! model = "packet"                     # packet (the default) | fluid
//! seed = 1                             # of every random choice; 0 unless given
//! optimize_work = 8000000              # path searches for optimized routes, about a microsecond each; their traffic's
//!                                      # size says unless given
//! allow_credit_loops = false
//! max_time_ms = 100                    # of simulated time; ends there
//! [hardware]                           # what differs from the profile: packet_bytes = 2048, lanes = 2, …
//! [software]                           # call_ns, post_ns, rendezvous_ns, eager_bytes, control_bytes, copy_ns_per_byte
//! [congestion]                         # control = "qcn" and what differs from its numbers: setpoint_bytes = 33000, …
//! [measure]
//! counters_every_us = 100              # counters of all links by interval
//! queues_every_us = 10                 # depths of all queues, by level
//! longest_queues = 16                  # and of the longest ones each; or "all"
//! trace = { from_us = 0, to_us = 20 }  # every packet at every hop
//! [[job]]
//! name = "shuffle"                     # unique; job1, job2, ... unless given
//! allocation = "contiguous:0"          # allocation or hosts, adapters, storage, mapping, ranks_per_host, grid: as in jobs files
//! ranks = 3072                         # unless the program says how many; else one for each place on the listed hosts,
//!                                      # or on all of the fabric's
//! program = { kind = "stream", pattern = "bisection-shuffle", messages = 5, bytes = "2MiB" }
//! # trace = "lulesh-64.ti.gz"          # or a recorded run (SimGrid's time-independent traces, GOAL)
//! # compute_scale = 1.0                # times of its computation by this
//! # flops_per_s = 1e9                  # how fast it computes; in no time unless given
//! # algorithms = "allreduce=ring"       # of its collectives; by size unless given
//! until = "barrier"                    # starts over until that job ends, and is not waited for
//! start_us = 0
//! weight = 1.0                         # of its bytes, for optimized routes
//! mode = 3                             # of its messages under adaptive:0 and adaptive:3; ["3 below 4KiB", 0]: by size
//! service_level = 0                    # of its messages: their virtual lane, unless hardware.sl2vl says which
//! ```
//! Sizes are whole bytes or text such as `"2MiB"`. Every key is known or refused, with the nearest known one; every error names
//! its line, or the override that brought it.

mod congestion;
mod modes;
mod opensm;
mod origins;
mod overrides;
mod parameters;
mod program;
mod values;

use netloom_model::{AdapterChoice, Allocation, Mapping};
use toml_edit::{Item, Table};

use crate::error::excerpt;
use crate::jobs::placing::{read_adapters, read_allocation, read_grid, read_mapping};
use crate::jobs::{self, JobsFile, MAX_RANKS, is_of_jobs_file};
use crate::keys::{Keys, Place};
use crate::{FormatError, decompress};

pub use congestion::CONGESTION;
pub use modes::{MODE_WORDS, ModeSetting, Of};
pub use opensm::{OpensmCc, read_opensm_cc};
pub use origins::Origins;
pub use parameters::{HARDWARE, Knob, SOFTWARE};
pub use program::{Measured, Pairing, Program, Strategy};

/// A scenario, read.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Its name; empty if it has none.
    pub name: String,
    /// A generator's spec, or a path as written.
    pub fabric: String,
    /// Groups of a dragonfly as they are stated: a rule by names, or a path as written.
    pub groups: Option<String>,
    /// `infiniband`, `codes` or `aries`.
    pub profile: String,
    /// The routings to compare, at least one, each once.
    pub routes: Vec<String>,
    /// `packet` or `fluid`.
    pub model: String,
    /// The seed of every random choice.
    pub seed: u64,
    /// Path searches for optimised routes, at most.
    pub optimize_work: Option<u64>,
    /// Run even if packets may wait for each other in a circle.
    pub allow_credit_loops: bool,
    /// End of the simulation, ps.
    pub max_time_ps: Option<u64>,
    /// What differs from the profile's hardware, by [`HARDWARE`] name.
    pub hardware: Vec<(&'static str, Knob)>,
    /// What differs from the profile's software, by [`SOFTWARE`] name.
    pub software: Vec<(&'static str, Knob)>,
    /// The congestion control and its numbers, by [`CONGESTION`] name; empty: none.
    pub congestion: Vec<(&'static str, Knob)>,
    /// What to record.
    pub measure: Measures,
    /// The jobs, in order; at least one.
    pub jobs: Vec<ScenarioJob>,
    /// Where its keys stand, for errors that only show with the fabric or other files.
    pub origins: Origins,
}

/// What to record beside totals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measures {
    /// Counters of all links each so many ps.
    pub counters_every_ps: Option<u64>,
    /// Depths of all queues each so many ps.
    pub queues_every_ps: Option<u64>,
    /// The longest so many are kept one by one; `None` leaves it to the simulator.
    pub longest_queues: Option<usize>,
    /// Every packet at every hop between these times, ps.
    pub trace_ps: Option<(u64, u64)>,
}

/// One `[[job]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioJob {
    /// Its name.
    pub name: String,
    /// Its hosts.
    pub allocation: Allocation,
    /// Which rank goes where.
    pub mapping: Mapping,
    /// Which adapters of its machines it uses.
    pub adapters: AdapterChoice,
    /// Ranks on each machine, at least 1, where given.
    pub ranks_per_host: Option<u32>,
    /// The process grid that tiles cut; empty for the program's own.
    pub grid: Vec<u32>,
    /// Ranks, where given.
    pub ranks: Option<u32>,
    /// What its ranks do.
    pub work: Work,
    /// The job (by number) until whose end it starts over.
    pub until: Option<usize>,
    /// When it starts, ps.
    pub start_ps: u64,
    /// What a byte of it counts in traffic for optimised routes.
    pub weight: f64,
    /// Service level of its messages, 0 to 15.
    pub service_level: u8,
    /// Modes of its messages, each size once.
    pub modes: Vec<ModeSetting>,
}

/// What a job's ranks do.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// A pattern of an application.
    Program(Program),
    /// A recorded run.
    Trace {
        /// The path as written.
        path: String,
        /// How its collectives are done, such as `allreduce=ring,bcast=binomial`; empty: by size.
        algorithms: String,
        /// Factor on the times of its computation.
        compute_scale: f64,
        /// How fast it computes, where the trace counts operations; `None`: in no time.
        flops_per_s: Option<f64>,
    },
}

const FILE_KEYS: [&str; 15] = [
    "name",
    "fabric",
    "groups",
    "profile",
    "routes",
    "model",
    "seed",
    "optimize_work",
    "allow_credit_loops",
    "max_time_ms",
    "hardware",
    "software",
    "congestion",
    "measure",
    "job",
];
const MEASURE_KEYS: [&str; 4] = ["counters_every_us", "queues_every_us", "longest_queues", "trace"];
const JOB_KEYS: [&str; 19] = [
    "name",
    "allocation",
    "hosts",
    "adapters",
    "storage",
    "mapping",
    "ranks_per_host",
    "grid",
    "ranks",
    "program",
    "trace",
    "compute_scale",
    "flops_per_s",
    "algorithms",
    "until",
    "start_us",
    "weight",
    "service_level",
    "mode",
];

/// Simulated time ends here, microseconds (48 bits of picoseconds).
const MOST_US: f64 = 281e6;
/// More jobs than this are refused.
const MOST_JOBS: usize = 4096;
/// More routings than this are refused.
const MOST_ROUTES: usize = 256;

/// Reads a scenario, with `overrides` such as `hardware.lanes=2` or `job.bully.program.rounds=4` put into it first.
///
/// # Errors
/// [`FormatError`] names the line, or the override: TOML that is none, an unknown key (with the nearest known one), a value of
/// the wrong type or out of range, a job without work.
pub fn read_scenario(bytes: &[u8], label: &str, overrides: &[String]) -> Result<Scenario, FormatError> {
    let (scenario, origins) = with_overrides(bytes, label, overrides, read_root)?;
    Ok(Scenario { origins, ..scenario })
}

/// Whether these are jobs as a jobs file has them: some have keys that a scenario's have not, and none a program.
pub fn has_jobs_of_jobs_file(bytes: &[u8], label: &str) -> bool {
    let Ok(bytes) = decompress(bytes, label) else { return false };
    let Ok(at) = Place::of(&bytes, label) else { return false };
    let Ok(document) = at.document() else { return false };
    let Some(Item::ArrayOfTables(jobs)) = document.get("job") else { return false };
    jobs.iter().any(is_of_jobs_file) && !jobs.iter().any(|job| job.contains_key("program"))
}

/// Reads a scenario whose jobs are those of a jobs file, or a jobs file to which `overrides` bring the fabric. The scenario has no
/// jobs of its own.
///
/// # Errors
/// As [`read_scenario`], and as [`read_jobs`](crate::read_jobs).
pub fn read_jobs_scenario(
    bytes: &[u8],
    label: &str,
    overrides: &[String],
) -> Result<(Scenario, JobsFile), FormatError> {
    let ((scenario, jobs), origins) = with_overrides(bytes, label, overrides, |at, root| {
        let file = Keys::new(at, root, &FILE_KEYS, "a scenario")?;
        if file.item("fabric").is_none() {
            let message =
                "a jobs file names no fabric: expected --set fabric=quartz1, or another spec or file";
            return Err(FormatError::whole(at.label, message));
        }
        Ok((read_file(at, &file, Vec::new())?, jobs::of_table(at, root)?))
    })?;
    Ok((Scenario { origins, ..scenario }, jobs))
}

/// What `read` makes of a document with overrides in it, and where its keys stand.
fn with_overrides<T>(
    bytes: &[u8],
    label: &str,
    overrides: &[String],
    read: impl Fn(&Place, &Table) -> Result<T, FormatError>,
) -> Result<(T, Origins), FormatError> {
    let bytes = decompress(bytes, label)?;
    let at = Place::of(&bytes, label)?;
    let document = at.document()?;
    let mut table = document.as_table().clone();
    let mut brought = Vec::with_capacity(overrides.len());
    for text in overrides {
        brought.push((overrides::apply(&mut table, text)?, overrides::label(text)));
    }
    let error = match read(&at, &table) {
        Ok(found) => return Ok((found, Origins::of(&at, &table, &brought))),
        Err(error) => error,
    };
    // Which override is to blame: the first with which reading fails, or the one without which all is well.
    let mut table = document.as_table().clone();
    if read(&at, &table).is_ok() {
        for text in overrides {
            overrides::apply(&mut table, text)?;
            if let Err(FormatError { message, .. }) = read(&at, &table) {
                return Err(FormatError::whole(&overrides::label(text), message));
            }
        }
    }
    for (k, blamed) in overrides.iter().enumerate() {
        let mut table = document.as_table().clone();
        for (_, text) in overrides.iter().enumerate().filter(|&(other, _)| other != k) {
            overrides::apply(&mut table, text)?;
        }
        if read(&at, &table).is_ok() {
            return Err(FormatError::whole(&overrides::label(blamed), error.message));
        }
    }
    Err(error)
}

fn read_root(at: &Place, root: &Table) -> Result<Scenario, FormatError> {
    let file = Keys::new(at, root, &FILE_KEYS, "a scenario")?;
    let jobs = match root.get("job") {
        Some(Item::ArrayOfTables(tables)) if tables.len() <= MOST_JOBS => tables,
        Some(Item::ArrayOfTables(_)) => {
            return Err(file.error("job", format!("expected at most {MOST_JOBS} jobs")));
        }
        Some(_) => return Err(file.error("job", "expected [[job]], with two brackets".into())),
        None => return Err(FormatError::whole(at.label, "expected at least one [[job]], found none")),
    };
    let tables: Vec<&Table> = jobs.iter().collect();
    let mut names = Vec::with_capacity(tables.len());
    for (i, table) in tables.iter().enumerate() {
        let keys = Keys::new(at, table, &JOB_KEYS, "a job")?;
        let name = keys.text("name")?.map_or_else(|| format!("job{}", i + 1), str::to_owned);
        if name.is_empty() || name.contains(char::is_control) {
            return Err(keys.error("name", "expected a name of printable characters".into()));
        }
        if names.contains(&name) {
            return Err(
                keys.whole_error(format!("two jobs are called \"{name}\": expected names that differ"))
            );
        }
        names.push(name);
    }
    let jobs = tables.iter().enumerate().map(|(i, table)| read_job(at, table, i, &names));
    read_file(at, &file, jobs.collect::<Result<_, _>>()?)
}

/// All keys but the jobs.
fn read_file(at: &Place, file: &Keys, jobs: Vec<ScenarioJob>) -> Result<Scenario, FormatError> {
    Ok(Scenario {
        name: file.text("name")?.unwrap_or_default().to_owned(),
        fabric: match file.text("fabric")? {
            Some(text) if !text.trim().is_empty() => text.to_owned(),
            Some(_) => return Err(file.error("fabric", "expected a spec or a path, found nothing".into())),
            None => {
                return Err(FormatError::whole(at.label, "expected fabric = \"…\", a spec or a path"));
            }
        },
        groups: file.text("groups")?.map(str::to_owned),
        profile: file.word("profile", &["infiniband", "codes", "aries"])?.unwrap_or("infiniband").to_owned(),
        routes: read_routes(file)?,
        model: file.word("model", &["packet", "fluid"])?.unwrap_or("packet").to_owned(),
        seed: file.whole("seed", 0..=i64::MAX)?.unwrap_or(0) as u64,
        optimize_work: file.whole("optimize_work", 0..=1_000_000_000_000)?.map(|n| n as u64),
        allow_credit_loops: file.flag("allow_credit_loops")?.unwrap_or(false),
        max_time_ps: time_ps(file, "max_time_ms", 1e9, false)?,
        hardware: match file.table("hardware", &HARDWARE, "hardware")? {
            Some(keys) => parameters::hardware(&keys)?,
            None => Vec::new(),
        },
        software: match file.table("software", &SOFTWARE, "software")? {
            Some(keys) => parameters::software(&keys)?,
            None => Vec::new(),
        },
        congestion: match file.table("congestion", &CONGESTION, "congestion")? {
            Some(keys) => congestion::congestion(&keys)?,
            None => Vec::new(),
        },
        measure: read_measure(file)?,
        jobs,
        origins: Origins::default(),
    })
}

/// The text, or the texts of a list.
fn read_routes(file: &Keys) -> Result<Vec<String>, FormatError> {
    let expected = || file.error("routes", "expected a routing such as \"ftree\", or a list of them".into());
    let Some(item) = file.item("routes") else { return Ok(vec!["ftree".into()]) };
    let routes: Vec<String> = match (item.as_str(), item.as_array()) {
        (Some(one), _) => vec![one.to_owned()],
        (None, Some(list)) => list
            .iter()
            .map(|item| item.as_str().map(str::to_owned).ok_or_else(expected))
            .collect::<Result<_, _>>()?,
        _ => return Err(expected()),
    };
    if routes.is_empty() || routes.len() > MOST_ROUTES || routes.iter().any(|text| text.trim().is_empty()) {
        return Err(expected());
    }
    if let Some(i) = (1..routes.len()).find(|&i| routes[..i].contains(&routes[i])) {
        let message = format!("\"{}\" is given twice: expected each routing once", excerpt(&routes[i]));
        return Err(file.error("routes", message));
    }
    Ok(routes)
}

fn read_measure(file: &Keys) -> Result<Measures, FormatError> {
    let Some(keys) = file.table("measure", &MEASURE_KEYS, "measure")? else {
        return Ok(Measures::default());
    };
    let trace_ps = match keys.table("trace", &["from_us", "to_us"], "a trace's window")? {
        None => None,
        Some(window) => {
            let from = time_ps(&window, "from_us", 1e6, true)?.unwrap_or(0);
            let to = time_ps(&window, "to_us", 1e6, false)?
                .ok_or_else(|| window.whole_error("expected to_us, the end of the window".into()))?;
            if to <= from {
                return Err(window.error("to_us", "expected a time after from_us".into()));
            }
            Some((from, to))
        }
    };
    Ok(Measures {
        counters_every_ps: every_ps(&keys, "counters_every_us")?,
        queues_every_ps: every_ps(&keys, "queues_every_us")?,
        longest_queues: match keys.item("longest_queues").and_then(|item| item.as_str()) {
            Some("all") => Some(usize::MAX),
            Some(text) => {
                let found = excerpt(text);
                let message = format!("expected a whole number or \"all\", found \"{found}\"");
                return Err(keys.error("longest_queues", message));
            }
            None => keys.whole("longest_queues", 0..=i64::from(u32::MAX))?.map(|n| n as usize),
        },
        trace_ps,
    })
}

/// A time in units of so many ps, as ps.
fn time_ps(keys: &Keys, key: &str, unit_ps: f64, zero: bool) -> Result<Option<u64>, FormatError> {
    let most = MOST_US * 1e6 / unit_ps;
    let least = if zero { 0.0 } else { 1.0 / unit_ps };
    let unit = if key.ends_with("_ms") { "milliseconds" } else { "microseconds" };
    let valid = |t: f64| (least..=most).contains(&t);
    let time = keys.number(key, &format!("{unit}, {least:?} to {most}"), valid)?;
    Ok(time.map(|t| (t * unit_ps).round() as u64))
}

/// How often something is recorded, in microseconds, as ps.
fn every_ps(keys: &Keys, key: &str) -> Result<Option<u64>, FormatError> {
    let time = keys.number(key, "microseconds, 0.1 to 1e8", |t| (0.1..=1e8).contains(&t))?;
    Ok(time.map(|t| (t * 1e6).round() as u64))
}

fn read_job(at: &Place, table: &Table, index: usize, names: &[String]) -> Result<ScenarioJob, FormatError> {
    let keys = Keys::new(at, table, &JOB_KEYS, "a job")?;
    let until = match keys.text("until")? {
        None => None,
        Some(other) => match names.iter().position(|name| name == other) {
            Some(other) if other != index => Some(other),
            _ => {
                let message = format!("expected another job's name, found \"{}\"", excerpt(other));
                return Err(keys.error("until", message));
            }
        },
    };
    let factor = |x: f64| (1e-9..=1e9).contains(&x);
    let ranks = keys.whole("ranks", 1..=i64::from(MAX_RANKS))?.map(|n| n as u32);
    Ok(ScenarioJob {
        name: names[index].clone(),
        allocation: read_allocation(&keys)?,
        adapters: read_adapters(&keys)?,
        ranks_per_host: keys.whole("ranks_per_host", 1..=i64::from(MAX_RANKS))?.map(|n| n as u32),
        grid: read_grid(&keys)?,
        mapping: read_mapping(&keys)?,
        ranks,
        work: read_work(&keys)?,
        until,
        start_ps: time_ps(&keys, "start_us", 1e6, true)?.unwrap_or(0),
        weight: keys.number("weight", "a number of 1e-9 to 1e9", factor)?.unwrap_or(1.0),
        service_level: keys.whole("service_level", 0..=15)?.unwrap_or(0) as u8,
        modes: modes::modes(&keys)?,
    })
}

/// Exactly one of program and trace.
fn read_work(keys: &Keys) -> Result<Work, FormatError> {
    match (keys.item("program").is_some(), keys.text("trace")?) {
        (true, None) => {
            if let Some(key) =
                ["compute_scale", "flops_per_s", "algorithms"].into_iter().find(|k| keys.item(k).is_some())
            {
                return Err(keys.error(key, "expected this with a trace only".into()));
            }
            program::read(keys).map(Work::Program)
        }
        (false, Some(path)) if !path.trim().is_empty() => Ok(Work::Trace {
            path: path.to_owned(),
            algorithms: keys.text("algorithms")?.unwrap_or_default().to_owned(),
            compute_scale: keys
                .number("compute_scale", "a number of 0 to 1e9", |x| (0.0..=1e9).contains(&x))?
                .unwrap_or(1.0),
            flops_per_s: keys
                .number("flops_per_s", "operations a second, 1 to 1e18", |x| (1.0..=1e18).contains(&x))?,
        }),
        (false, Some(_)) => Err(keys.error("trace", "expected a path, found an empty text".into())),
        (true, Some(_)) => Err(keys.error("trace", "expected either program or trace, found both".into())),
        (false, None) => Err(keys.whole_error("expected a job with program or trace, found neither".into())),
    }
}

#[cfg(test)]
mod tests;
