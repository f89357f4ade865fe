//! Traffic of recorded runs.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use netloom_formats::{self as formats, Recording, RecordingError, TrafficKind};
use netloom_model::{Control, Event, RankEvents};
use netloom_traffic::{Recorded, RecordedOptions, events, recorded, scheduled, with_collective_tags};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arrays::array;
use crate::run::{Options, run};
use crate::{errors, io};

/// Whether collectives of traces count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Collectives {
    /// They do.
    All,
    /// They are left out.
    Without,
}

impl Collectives {
    /// `all` (also if nothing is said) or `none`.
    pub fn parse(py: Python<'_>, word: Option<&str>) -> PyResult<Self> {
        match word {
            None | Some("all") => Ok(Self::All),
            Some("none") => Ok(Self::Without),
            Some(word) => {
                Err(errors::traffic(py, format!("collectives: expected all or none, found \"{word}\"")))
            }
        }
    }

    /// Whether they count.
    pub fn count(self) -> bool {
        self == Self::All
    }

    /// How a run becomes traffic if nothing else is said.
    pub fn options(self) -> RecordedOptions {
        let options = RecordedOptions::default();
        RecordedOptions { collectives: options.collectives.filter(|_| self.count()), ..options }
    }
}

/// The recorded run under a path, cut into phases: a trace of one file or many, or a GOAL schedule.
pub fn read_trace(py: Python<'_>, path: &Path, options: &RecordedOptions) -> PyResult<Recorded> {
    traffic(py, &open(py, path)?, &path.display().to_string(), options)
}

/// The same of one text.
pub fn parse_trace(
    py: Python<'_>,
    data: &[u8],
    label: &str,
    options: &RecordedOptions,
) -> PyResult<Recorded> {
    let recording = run(py, Options::default(), |_| Recording::of(data, label))?;
    traffic(py, &recording.map_err(|e| errors::format(py, &e))?, label, options)
}

fn open(py: Python<'_>, path: &Path) -> PyResult<Recording> {
    let name = path.display().to_string();
    let read = |_: &Control| Recording::read(&name, &mut |name| io::find(Path::new(name)));
    run(py, Options::default(), read)?.map_err(|error| match error {
        RecordingError::File { path, error } => errors::os(&error, Path::new(&path)),
        RecordingError::Format(error) => errors::format(py, &error),
    })
}

fn traffic(
    py: Python<'_>,
    recording: &Recording,
    label: &str,
    options: &RecordedOptions,
) -> PyResult<Recorded> {
    if let Some(found) = recording.events() {
        let trace = run(py, Options::default(), |_| events::program(found, options.collectives.as_ref()))?
            .map_err(|e| errors::traffic(py, format!("{label}: {e}")))?;
        return run(py, Options::default(), |_| recorded(&trace, options))?
            .map_err(|e| errors::traffic(py, format!("{label}: {e}")));
    }
    let read = |_: &Control| match recording.is_goal() {
        true => recording.schedule().map(|schedule| scheduled(&schedule)),
        false => recording.trace(options.collectives.is_some()),
    };
    let mut trace = run(py, Options::default(), read)?.map_err(|e| errors::format(py, &e))?;
    if let Some(from) = recording.collective_tags() {
        trace = with_collective_tags(trace, from, options.collectives.is_some());
    }
    run(py, Options::default(), |_| recorded(&trace, options))?
        .map_err(|e| errors::traffic(py, format!("{label}: {e}")))
}

/// What a file with traffic is, by how it begins (gzip or not): `mtx`, `csv`, `dense`, `ti`, `goal` or a binary trace's.
#[pyfunction]
pub fn traffic_format(py: Python<'_>, data: &[u8]) -> PyResult<&'static str> {
    // Its beginning is enough; what is wrong with the rest is for its reader.
    let mut head = Vec::new();
    let head = match data.starts_with(&[0x1f, 0x8b]) {
        true => {
            let _ = MultiGzDecoder::new(data).take(1 << 16).read_to_end(&mut head);
            &head
        }
        false => data,
    };
    py.detach(|| Ok(name_of(TrafficKind::of(head))))
}

/// A kind as formats are named here.
pub fn name_of(kind: TrafficKind) -> &'static str {
    match kind {
        TrafficKind::MatrixMarket => "mtx",
        TrafficKind::Dense => "dense",
        TrafficKind::Trace => "ti",
        TrafficKind::Goal => "goal",
        TrafficKind::Binary(kind) => kind.name(),
        TrafficKind::Csv => "csv",
    }
}

/// The files that a recorded run is made of beside the one under the path: those of an index, or of a folder.
#[pyfunction]
pub fn trace_files(py: Python<'_>, path: PathBuf) -> PyResult<Vec<String>> {
    let recording = open(py, &path)?;
    let own = path.display().to_string();
    Ok(recording.lines.files().filter(|&name| name != own).map(Into::into).collect())
}

/// The calls of a trace, as columns; what `netloom trace` shows and converts.
#[pyfunction]
pub fn trace_events(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyDict>> {
    let recording = open(py, &path)?;
    let made = |_: &Control| match recording.is_goal() {
        true => recording.schedule().map(|schedule| events::of_schedule(&schedule, "GOAL")),
        false => recording.calls().map(|trace| events::of_workload(&trace.workload, "SimGrid TI")),
    };
    let own;
    let events = match recording.events() {
        Some(events) => events,
        None => {
            own = run(py, Options::default(), made)?.map_err(|e| errors::format(py, &e))?;
            &own
        }
    };
    let out = PyDict::new(py);
    out.set_item("tool", &events.tool)?;
    out.set_item("program", events.program.as_deref())?;
    out.set_item("hosts", &events.hosts)?;
    out.set_item("functions", &events.functions)?;
    out.set_item("lacks", &events.lacks)?;
    out.set_item("files", recording.lines.files().collect::<Vec<_>>())?;
    let members =
        events.communicators.iter().map(|members| array(py, members.iter().map(|&rank| i64::from(rank))));
    out.set_item("communicators", members.collect::<Vec<_>>())?;
    let ranks = events.ranks.iter().map(|own| columns(py, own)).collect::<PyResult<Vec<_>>>()?;
    out.set_item("ranks", ranks)?;
    out.set_item("collective_tags", recording.collective_tags())?;
    // Where calls take no time, whatever stands between them is computation.
    out.set_item("timed", recording.events().is_some())?;
    Ok(out)
}

/// A GOAL schedule, text or binary, in either form: tasks, processors, adapters and requirements stay as they are.
#[pyfunction]
pub fn goal_form<'py>(
    py: Python<'py>,
    data: &[u8],
    label: &str,
    as_binary: bool,
) -> PyResult<Bound<'py, PyBytes>> {
    let made = run(py, Options::default(), |_| {
        let data = formats::decompress(data, label)?;
        formats::rewrite_goal(&data, label, as_binary)
    })?;
    Ok(PyBytes::new(py, &made.map_err(|e| errors::format(py, &e))?))
}

/// What a rank called: a column a name.
fn columns<'py>(py: Python<'py>, own: &RankEvents) -> PyResult<Bound<'py, PyDict>> {
    let out = PyDict::new(py);
    let column = |of: fn(&Event) -> i64| array(py, own.events.iter().map(of));
    out.set_item("function", column(|event| i64::from(event.function)))?;
    out.set_item("thread", column(|event| i64::from(event.thread)))?;
    out.set_item("start_ns", column(|event| event.start_ns))?;
    out.set_item("end_ns", column(|event| event.end_ns))?;
    out.set_item("peer", column(|event| i64::from(event.peer)))?;
    out.set_item("tag", column(|event| i64::from(event.tag)))?;
    out.set_item("communicator", column(|event| i64::from(event.communicator)))?;
    out.set_item("bytes", column(|event| event.bytes as i64))?;
    out.set_item("request", array(py, own.events.iter().map(|event| event.request)))?;
    out.set_item("cancelled", array(py, own.events.iter().map(|event| event.cancelled)))?;
    let completes =
        |of: fn(&(u32, u32)) -> u32| array(py, own.completes.iter().map(|one| i64::from(of(one))));
    out.set_item("completes", (completes(|one| one.0), completes(|one| one.1)))?;
    let counts = |of: fn(&(u32, u32, u64)) -> i64| array(py, own.counts.iter().map(of));
    let members = counts(|one| i64::from(one.1));
    out.set_item("counts", (counts(|one| i64::from(one.0)), members, counts(|one| one.2 as i64)))?;
    Ok(out)
}
