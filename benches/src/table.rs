//! Rows: what, measured, at most, and the same work done more simply.

use std::fmt;
use std::time::Instant;

use crate::report::grid;

/// One line of the table.
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The figure, for people.
    pub measured: String,
    /// The limit, for people; empty if there is none.
    pub at_most: String,
    /// Whether the figure keeps the limit.
    pub within: bool,
    /// A simpler method's figure and the ratio; empty if there is none.
    pub beside: String,
}

/// All rows so far.
#[derive(Default)]
pub struct Table {
    rows: Vec<Row>,
}

impl Table {
    /// Adds a row.
    pub fn add(&mut self, row: Row) {
        eprintln!("  {}: {}", row.what, row.measured);
        self.rows.push(row);
    }

    /// Adds a row whose figure is seconds. `beside`: what the simpler method is, and its seconds.
    pub fn seconds(
        &mut self,
        what: impl Into<String>,
        seconds: f64,
        at_most: f64,
        beside: Option<(&str, f64)>,
    ) {
        self.add(Row {
            what: what.into(),
            measured: spell(seconds),
            at_most: spell(at_most),
            within: seconds <= at_most,
            beside: beside.map_or(String::new(), |(name, other)| {
                format!("{}: {name} {}", ratio(seconds, other), spell(other))
            }),
        });
    }

    /// Whether every figure kept its limit.
    pub fn all_within(&self) -> bool {
        self.rows.iter().all(|row| row.within)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["what", "measured", "at most", "beside a simpler method"].map(String::from);
        let cell = |row: &Row| {
            let mark = if row.within { "" } else { " (!)" };
            [row.what.clone(), format!("{}{mark}", row.measured), row.at_most.clone(), row.beside.clone()]
        };
        let lines: Vec<Vec<String>> =
            std::iter::once(heads.to_vec()).chain(self.rows.iter().map(|row| cell(row).to_vec())).collect();
        f.write_str(&grid(&lines))
    }
}

/// Median seconds of `runs` runs; what `work` returns is dropped outside the measured time.
pub fn median_seconds<T>(runs: usize, mut work: impl FnMut() -> T) -> f64 {
    let mut seconds: Vec<f64> = (0..runs.max(1))
        .map(|_| {
            let start = Instant::now();
            let kept = std::hint::black_box(work());
            let spent = start.elapsed().as_secs_f64();
            drop(kept);
            spent
        })
        .collect();
    seconds.sort_by(f64::total_cmp);
    seconds[seconds.len() / 2]
}

/// `1.2 ms`, `0.12 s`.
pub fn spell(seconds: f64) -> String {
    match seconds {
        s if s < 1e-6 => format!("{:.1} ns", s * 1e9),
        s if s < 1e-3 => format!("{:.0} µs", s * 1e6),
        s if s < 0.1 => format!("{:.1} ms", s * 1e3),
        s if s < 10.0 => format!("{s:.2} s"),
        s => format!("{s:.0} s"),
    }
}

/// `12x faster` or `2.1x slower` than the other.
fn ratio(ours: f64, other: f64) -> String {
    let times = other / ours;
    if times >= 1.0 { format!("{times:.1}x faster") } else { format!("{:.1}x slower", 1.0 / times) }
}
