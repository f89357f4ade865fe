//! Port counters: what tools, kernels and exporters show, and tables of our own.
//!
//! | module | idea |
//! |---|---|
//! | `ports` | which port of the fabric a tool means |
//! | `fit` | whether a file is of this fabric |
//! | `sheet` | values of ports, put together as readings |
//! | [`perfquery`] | `perfquery`, `-x`, and its counters by lane |
//! | [`ibqueryerrors`] | `ibqueryerrors --data`, `--counters` |
//! | [`db_csv`] | `PM_INFO` and `PM_DELTA` of ibdiagnet's database |
//! | [`sysfs`] | Linux' `/sys/class/infiniband`, of many machines |
//! | `exporter` | three Prometheus exporters: names, units, ports |
//! | [`exposition`] | their samples in Prometheus' text format |
//! | [`samples`] | their samples as CSV |
//! | `columns` | which columns those have |
//! | [`table`](mod@table) | intervals as CSV: ours, and the simulator's tables |
//!
//! Invariants: data is in octets when it leaves here (InfiniBand counts units of four: each reader knows what its source shows, none
//! guesses); ports that the fabric does not have are told in notes, and a file of which no port fits is an error.

pub mod db_csv;
pub mod exposition;
pub mod ibqueryerrors;
pub mod perfquery;
pub mod samples;
pub mod sysfs;
pub mod table;

mod columns;
mod exporter;
mod fit;
mod ports;
mod sheet;

use netloom_model::{Counters, Fabric, Reading};

pub use db_csv::read_db_csv;
pub use exposition::read_exposition;
pub use ibqueryerrors::read_ibqueryerrors;
pub use perfquery::read_perfquery;
pub use samples::read_samples;
pub use sysfs::read_sysfs;
pub use table::{read_counter_table, write_counter_table};

use crate::error::excerpt;
use crate::text::text;
use crate::{Finding, FormatError};

/// What a file of counters holds.
#[derive(Clone, Debug)]
pub enum CountersContent {
    /// Absolute values, by rising time where the source tells times.
    Readings(Vec<Reading>),
    /// What was counted in intervals.
    Intervals(Counters),
}

/// Counters as they were read.
#[derive(Clone, Debug)]
pub struct CountersFile {
    /// What showed them, in words.
    pub kind: &'static str,
    /// The counters.
    pub content: CountersContent,
    /// The absolute values at the end of the last interval, where a file of intervals tells them too.
    pub reading: Option<Reading>,
    /// What was counted in the last interval, errors too, where a file of intervals tells these.
    pub counted: Option<Reading>,
    /// What is odd.
    pub notes: Vec<Finding>,
}

impl CountersFile {
    pub(crate) fn reading(kind: &'static str, reading: Reading, notes: Vec<Finding>) -> Self {
        Self { kind, content: CountersContent::Readings(vec![reading]), reading: None, counted: None, notes }
    }

    /// Why it is hardly this fabric's, if it is not.
    pub fn foreign(&self) -> Option<&str> {
        self.notes.iter().map(|note| note.text.as_str()).find(|text| text.starts_with(fit::FOREIGN))
    }
}

/// Reads counters of any of the formats, plain or gzip; which one, its first lines say.
///
/// # Errors
/// [`FormatError`] names the line and what was expected there.
pub fn read_counters(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<CountersFile, FormatError> {
    let text = text(bytes, label)?;
    for (number, line) in (1..).zip(text.lines()) {
        if perfquery::begins(line) {
            return perfquery::read(&text, label, fabric);
        }
        if ibqueryerrors::begins(line) {
            return ibqueryerrors::read(&text, label, fabric);
        }
        if crate::db_csv::begins(line) {
            return db_csv::read(&text, label, fabric);
        }
        if exposition::begins(line) {
            return exposition::read(&text, label, fabric);
        }
        if table::begins(line) {
            return table::read(&text, label, fabric);
        }
        if samples::begins(line) {
            return samples::read(&text, label, fabric);
        }
        let noise = line.trim().is_empty() || line.starts_with('#') || is_complaint(line);
        if !noise {
            let found = foreign(line).map_or_else(|| format!("\"{}\"", excerpt(line)), str::to_owned);
            return Err(FormatError::at(label, number, format!("expected {EXPECTED}, found {found}")));
        }
    }
    Err(FormatError::whole(label, format!("expected {EXPECTED}, found nothing")))
}

const EXPECTED: &str = "counters (perfquery, ibqueryerrors, ibdiagnet's db_csv, an exporter's samples, or a table with columns such as link and xmit_bytes)";

/// What a line of another tool's file is, with what to do instead.
fn foreign(line: &str) -> Option<&'static str> {
    if line.starts_with("{\"status\":") {
        Some("a reply of Prometheus' HTTP API: ask the exporter itself (its /metrics)")
    } else if line.starts_with("infiniband,") && line.contains(" port_xmit_data=") {
        Some("telegraf's line protocol: run perfquery, or an exporter")
    } else {
        None
    }
}

/// What InfiniBand's tools and shells say between their output when something fails.
pub(crate) fn is_complaint(line: &str) -> bool {
    const HEADS: [&str; 6] = ["ibwarn:", "ibpanic:", "iberror:", "perfquery:", "ibqueryerrors:", "src/"];
    let line = line.trim_start();
    HEADS.iter().any(|head| line.starts_with(head))
}
