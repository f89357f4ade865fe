//! Traffic of recorded runs.

use netloom_formats as formats;
use netloom_traffic::{Recorded, RecordedOptions, recorded};
use pyo3::prelude::*;

use crate::errors;
use crate::run::{Options, run};

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

/// A time-independent trace, cut into phases.
pub fn read_trace(py: Python<'_>, data: &[u8], label: &str, options: &RecordedOptions) -> PyResult<Recorded> {
    let trace = run(py, Options::default(), |_| formats::read_ti(data, label))?;
    let trace = trace.map_err(|e| errors::format(py, &e))?;
    run(py, Options::default(), |_| recorded(&trace, options))?
        .map_err(|e| errors::traffic(py, format!("{label}: {e}")))
}
