//! Traffic of recorded runs.

use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use netloom_formats::{Recording, RecordingError, TrafficKind};
use netloom_model::Control;
use netloom_traffic::{Recorded, RecordedOptions, recorded, scheduled};
use pyo3::prelude::*;

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

/// The recorded run under a path, cut into phases: a time-independent trace of one file or many, or a GOAL schedule.
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
    let read = |_: &Control| match recording.is_goal() {
        true => recording.schedule().map(|schedule| scheduled(&schedule)),
        false => recording.trace(),
    };
    let trace = run(py, Options::default(), read)?.map_err(|e| errors::format(py, &e))?;
    run(py, Options::default(), |_| recorded(&trace, options))?
        .map_err(|e| errors::traffic(py, format!("{label}: {e}")))
}

/// What a file with traffic is, by how it begins (gzip or not): `mtx`, `csv`, `dense`, `ti` or `goal`.
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
