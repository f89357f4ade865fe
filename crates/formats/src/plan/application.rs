//! The applications of a plan: what they send, and what is known of their runs.

use toml_edit::Item;

use crate::FormatError;
use crate::catalogue::text;
use crate::error::excerpt;
use crate::jobs::MAX_RANKS;
use crate::keys::{Keys, Place, list};

/// An application.
#[derive(Clone, Debug, PartialEq)]
pub struct PlanApplication {
    /// Its name.
    pub name: String,
    /// What it sends.
    pub source: PlanSource,
    /// Share of node hours, not negative.
    pub weight: f64,
    /// What is known of its run time.
    pub run: PlanRun,
    /// Ranks on each host, at least 1.
    pub ranks_per_host: u32,
    /// Copies side by side; `None` for as many as fit.
    pub copies: Option<u32>,
}

/// What is known of an application's run on a network without taper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PlanRun {
    /// The share of it that the busiest host's bytes take, 0 to 1.
    Share(f64),
    /// How long it takes, seconds.
    Seconds(f64),
    /// Nothing. A trace computes so many operations a second, or in no time.
    Unknown {
        /// Operations a second.
        flops_per_s: Option<f64>,
    },
}

/// Where an application's traffic is from.
#[derive(Clone, Debug, PartialEq)]
pub enum PlanSource {
    /// A file of ranks, as written.
    Matrix(String),
    /// A pattern's spec.
    Pattern(String),
    /// A recorded run, as written.
    Trace(String),
}

const APPLICATION_KEYS: [&str; 10] = [
    "name",
    "matrix",
    "pattern",
    "trace",
    "weight",
    "wire_share",
    "run_s",
    "flops_per_s",
    "ranks_per_host",
    "copies",
];
const RUN_KEYS: [&str; 3] = ["wire_share", "run_s", "flops_per_s"];
const SOURCES: [&str; 3] = ["matrix", "pattern", "trace"];
/// More applications than this are refused.
const MOST_APPLICATIONS: usize = 256;
/// All of them; at least one, with a positive sum of weights.
pub(super) fn read_applications(
    at: &Place,
    file: &Keys,
    label: &str,
) -> Result<Vec<PlanApplication>, FormatError> {
    let tables = match file.item("application") {
        Some(Item::ArrayOfTables(tables)) if tables.len() <= MOST_APPLICATIONS => tables,
        Some(Item::ArrayOfTables(_)) => {
            return Err(file.error("application", format!("expected at most {MOST_APPLICATIONS}")));
        }
        Some(_) => {
            return Err(file.error("application", "expected [[application]], with two brackets".into()));
        }
        None => return Err(FormatError::whole(label, "expected at least one [[application]], found none")),
    };
    let mut applications: Vec<PlanApplication> = Vec::with_capacity(tables.len());
    for (number, table) in tables.iter().enumerate() {
        let keys = Keys::new(at, table, &APPLICATION_KEYS, "an application")?;
        let read = read_application(&keys, number)?;
        if applications.iter().any(|other| other.name == read.name) {
            let message = format!(
                "two applications are called \"{}\": expected names that differ",
                excerpt(&read.name)
            );
            return Err(keys.whole_error(message));
        }
        applications.push(read);
    }
    if applications.iter().all(|application| application.weight == 0.0) {
        return Err(file.error("application", "expected a weight above 0, found that all are 0".into()));
    }
    Ok(applications)
}

fn read_application(keys: &Keys, number: usize) -> Result<PlanApplication, FormatError> {
    let given: Vec<&str> = SOURCES.into_iter().filter(|key| keys.item(key).is_some()).collect();
    let expected = format!("expected one of {}", list(&SOURCES));
    let source = match given[..] {
        [only] => {
            let value = text(keys, only)?.expect("it is there");
            match only {
                "matrix" => PlanSource::Matrix(value),
                "pattern" => PlanSource::Pattern(value),
                _ => PlanSource::Trace(value),
            }
        }
        [] => return Err(keys.whole_error(format!("{expected}, found none"))),
        [_, second, ..] => {
            return Err(keys.error(second, format!("{expected}, found {}", given.join(" and "))));
        }
    };
    let run = read_run(keys, &source)?;
    let weight = keys.number("weight", "a weight of 0 to 1e9", |x| (0.0..=1e9).contains(&x))?;
    let most = i64::from(MAX_RANKS);
    Ok(PlanApplication {
        name: text(keys, "name")?.unwrap_or_else(|| format!("application{}", number + 1)),
        source,
        weight: weight.unwrap_or(1.0),
        run,
        ranks_per_host: keys.whole("ranks_per_host", 1..=most)?.unwrap_or(1) as u32,
        copies: match keys.item("copies").and_then(|item| item.as_str()) {
            Some("fill") => None,
            Some(word) => {
                let message = format!("expected a whole number or \"fill\", found \"{}\"", excerpt(word));
                return Err(keys.error("copies", message));
            }
            None => keys.whole("copies", 1..=most)?.map(|n| n as u32),
        },
    })
}

fn read_run(keys: &Keys, source: &PlanSource) -> Result<PlanRun, FormatError> {
    let share = keys.number("wire_share", "a share of 0 to 1", |x| (0.0..=1.0).contains(&x))?;
    let seconds = keys.number("run_s", "seconds, above 0 and at most 1e9", |x| x > 0.0 && x <= 1e9)?;
    let speed = "operations a second, 1 to 1e18";
    let flops_per_s = keys.number("flops_per_s", speed, |x| (1.0..=1e18).contains(&x))?;
    let given: Vec<&str> = RUN_KEYS.into_iter().filter(|key| keys.item(key).is_some()).collect();
    if let [_, second, ..] = given[..] {
        let expected = format!("expected one of {}, found {}", list(&RUN_KEYS), given.join(" and "));
        return Err(keys.error(second, expected));
    }
    if flops_per_s.is_some() && !matches!(source, PlanSource::Trace(_)) {
        return Err(keys.error("flops_per_s", "expected it with a trace only: nothing else is run".into()));
    }
    Ok(match (share, seconds) {
        (Some(share), _) => PlanRun::Share(share),
        (None, Some(seconds)) => PlanRun::Seconds(seconds),
        (None, None) => PlanRun::Unknown { flops_per_s },
    })
}
