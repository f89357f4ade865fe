//! Rows: what, measured, what was aimed at, and the same work done more simply. Times are of one machine at one hour:
//! history beside a goal, and no limit (`xtask bench` is the gate for speed).

use std::fmt;
use std::time::Instant;

use crate::report::grid;

/// One line of the table.
pub struct Row {
    /// What was measured.
    pub what: String,
    /// The figure, for people.
    pub measured: String,
    /// What was aimed at, for people; empty if there is nothing.
    pub goal: String,
    /// Whether the answer is right, whatever time it took.
    pub right: bool,
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
    pub fn seconds(&mut self, what: impl Into<String>, seconds: f64, goal: f64, beside: Option<(&str, f64)>) {
        self.add(Row {
            what: what.into(),
            measured: spell(seconds),
            goal: spell(goal),
            right: true,
            beside: beside.map_or(String::new(), |(name, other)| {
                format!("{}: {name} {}", ratio(seconds, other), spell(other))
            }),
        });
    }

    /// Whether every answer is right.
    pub fn all_right(&self) -> bool {
        self.rows.iter().all(|row| row.right)
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heads = ["what", "measured", "goal", "beside a simpler method"].map(String::from);
        let cell = |row: &Row| {
            let mark = if row.right { "" } else { " (wrong)" };
            [row.what.clone(), format!("{}{mark}", row.measured), row.goal.clone(), row.beside.clone()]
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
