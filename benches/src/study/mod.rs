//! The study: what the optimiser must show, measured (`make study`).
//!
//! Every family gives a section with its table, and claims: what was asked beside what came out. Rows have a time
//! limit, and print the work done too, which another machine repeats. Two rows run side by side where there
//! are two cores, each on one thread; what must be measured alone runs alone.
//!
//! | module | idea |
//! |---|---|
//! | [`ground`] | a fabric with all that its rows share; one optimisation against the clock |
//! | [`table33`] | the shape of table 3.3: synthetic rows, traces and traces*, the baselines, the dissertation's columns |
//! | [`noise`] | the noisy shuffle, five seeds |
//! | [`damaged`] | cables and switches missing |
//! | [`scale`] | 65,536 hosts, each case in a process of its own |
//! | [`change`] | one job of five changes its traffic |
//! | [`phases`] | the cyclic stencil |
//! | [`recorded`] | recorded applications, packet by packet |
//! | [`bully`] | few hot links beside many |
//! | [`variants`] | stand-ins for the variants of sec. 3.3.4; their trees are in [`trees`] |
//! | [`plot`] | gap against time |

mod bully;
mod change;
mod damaged;
pub mod ground;
mod noise;
mod phases;
mod plot;
mod recorded;
pub mod scale;
mod table33;
mod trees;
mod variants;

use std::time::Instant;

use crate::report::{grid, machine, today};

/// What was asked, and what came out.
pub struct Claim {
    /// The case.
    pub what: String,
    /// What was asked.
    pub asked: String,
    /// What came out.
    pub measured: String,
    /// Whether that is enough.
    pub kept: bool,
}

/// A family's part of the page.
pub struct Section {
    /// Its heading.
    pub title: String,
    /// What the columns are.
    pub text: String,
    /// Tables: heads, then rows.
    pub tables: Vec<Vec<Vec<String>>>,
    /// What it shows.
    pub claims: Vec<Claim>,
}

/// What families share.
#[derive(Default)]
pub struct Study {
    /// Curves for the plot.
    curves: Vec<plot::Curve>,
}

/// A part of a page.
pub type Family = fn(&mut Study) -> Section;

/// All families, in the order of the page.
pub const FAMILIES: [(&str, Family); 9] = [
    ("table33", table33::run),
    ("noise", noise::run),
    ("scale", scale::run),
    ("damaged", damaged::run),
    ("change", change::run),
    ("phases", phases::run),
    ("recorded", recorded::run),
    ("bully", bully::run),
    ("variants", variants::run),
];

/// Rows at once: what the machine has cores for, two at most, so that figures of larger machines compare.
pub fn abreast() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).min(2)
}

/// One family's stretch of a page, and whether every claim of it is kept.
pub struct Stretch {
    /// The family.
    pub family: &'static str,
    /// Markdown.
    pub text: String,
    /// Whether what was asked is kept.
    pub good: bool,
}

/// Runs families of the optimiser's study; all of them also draw the plot.
pub fn run(wanted: &[String]) -> Vec<Stretch> {
    run_all("study", &FAMILIES, wanted)
}

/// Runs the families that are wanted, or all.
pub fn run_all(target: &str, families: &[(&'static str, Family)], wanted: &[String]) -> Vec<Stretch> {
    let mut study = Study::default();
    let mut stretches = Vec::new();
    for &(family, run) in families {
        if wanted.is_empty() || wanted.iter().any(|w| w == family) {
            eprintln!("{family} …");
            let clock = Instant::now();
            let section = run(&mut study);
            for claim in &section.claims {
                eprintln!("  {}: {}{}", claim.what, claim.measured, mark(claim));
            }
            let seconds = clock.elapsed().as_secs_f64();
            let good = section.claims.iter().all(|claim| claim.kept);
            stretches.push(Stretch { family, text: told(target, family, &section, seconds), good });
        }
    }
    if wanted.is_empty() && !study.curves.is_empty() {
        plot::draw(&study.curves);
    }
    stretches
}

/// A section as Markdown, with what measured it, and where.
fn told(target: &str, family: &str, section: &Section, seconds: f64) -> String {
    let mut text = format!(
        "### {}\n\n{}\n\nMeasured on {} by `make {target} FAMILIES={family}` in {seconds:.0} s, on {}; rows run {} at a time, one thread each.\n",
        section.title,
        section.text,
        today(),
        machine(),
        abreast(),
    );
    if !section.claims.is_empty() {
        let mut lines = vec![heads(&["what", "asked", "measured"])];
        lines.extend(
            section
                .claims
                .iter()
                .map(|c| vec![c.what.clone(), c.asked.clone(), format!("{}{}", c.measured, mark(c))]),
        );
        text += &format!("\n{}", grid(&lines));
    }
    section.tables.iter().for_each(|table| text += &format!("\n{}", grid(table)));
    text
}

fn mark(claim: &Claim) -> &'static str {
    if claim.kept { "" } else { " (!)" }
}

/// The first line of a table.
pub fn heads(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.into()).collect()
}

/// `0.0312 %`.
pub fn percent(share: f64) -> String {
    // Rounding of the last bits is not a gap, nor better than the bound.
    let share = if share.abs() < 5e-9 { 0.0 } else { share };
    format!("{:.4} %", share * 100.0)
}

/// `49.61 %`, for what need not be exact.
pub fn coarse(share: f64) -> String {
    let share = if share.abs() < 5e-5 { 0.0 } else { share };
    format!("{:.2} %", share * 100.0)
}

/// `123 k`, of path searches.
pub fn work(searches: u64) -> String {
    if searches < 10_000 { searches.to_string() } else { format!("{} k", searches / 1000) }
}
