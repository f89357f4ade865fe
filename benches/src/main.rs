//! What must be fast and good, measured on this machine.
//!
//! `make bench`: one table of what must be fast. Figures are medians of several runs, each beside a goal and,
//! where there is one, beside a simpler method that does the same work in the same run. Goals are those of
//! a 2-core machine, and alarm nobody on another one: `xtask bench OLD NEW` says whether a change made commands slower.
//! `make validate`: the simulator beside the dissertation's chapter 5.
//! `make inferred`: traffic from counters, exact and noisy, how well its trust is calibrated, and routes made of it.
//! `make study`: how good the optimiser is and how soon, beside the papers' methods and figures.
//!
//! | module | idea |
//! |---|---|
//! | [`parse`] | dumps to fabrics, against undoing gzip alone |
//! | [`route`] | engines on 3072 and 65,536 hosts |
//! | [`check`] | all pairs and credit loops, against walking every pair |
//! | [`loads`] | all-to-all, against walking every pair |
//! | [`optimise`] | patterns and applications, against AFAR |
//! | [`infer`] | traffic from counters, beside the dissertation |
//! | [`simulate`] | packets: hardware, patterns, sizes |
//! | [`start`] | the command's start-up |
//! | [`study`] | what the optimiser must show |
//! | [`inferred`] | what inference must show |
//! | [`validate`] | what the simulator must show |
//! | [`table`] | rows of the first table |
//! | [`report`] | Markdown, machine and date, and the page that keeps them |
//! | [`race`] | work against the clock |
//! | [`rates`] | packet-hops a CPU second of named runs, to compare two builds |

mod check;
mod infer;
mod inferred;
mod inputs;
mod loads;
mod optimise;
mod parse;
mod race;
mod rates;
mod report;
mod route;
mod sampling;
mod simulate;
mod start;
mod study;
mod table;
mod validate;

use std::process::ExitCode;

use study::Stretch;
use table::Table;

/// A family of benchmarks: adds its rows.
type Family = fn(&mut Table, &Options);

/// What the command line said.
#[derive(Default)]
pub struct Options {
    /// The `netloom` command, if it was built.
    pub netloom: Option<String>,
    /// The page that keeps the figures.
    pub write: Option<String>,
    /// Families named.
    pub wanted: Vec<String>,
}

const FAMILIES: [(&str, Family); 9] = [
    // First: it tells the process's peak memory.
    ("simulate", simulate::run),
    ("parse", parse::run),
    ("route", route::run),
    ("check", check::run),
    ("loads", loads::run),
    ("optimise", optimise::run),
    ("infer", infer::run),
    ("sampling", sampling::run),
    ("start", start::run),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [child, case] = &arguments[..]
        && child == study::scale::CHILD
    {
        study::scale::child(case.parse().expect("a number"));
        return ExitCode::SUCCESS;
    }
    if let [word, names @ ..] = &arguments[..]
        && word == rates::WORD
    {
        return if rates::print(names) { ExitCode::SUCCESS } else { ExitCode::from(2) };
    }
    let page =
        arguments.first().map(String::as_str).filter(|a| ["study", "validate", "inferred"].contains(a));
    let names: Vec<&str> = match page {
        Some("study") => study::FAMILIES.iter().map(|(name, _)| *name).collect(),
        Some("inferred") => inferred::FAMILIES.iter().map(|(name, _)| *name).collect(),
        Some(_) => validate::FAMILIES.iter().map(|(name, _)| *name).collect(),
        None => FAMILIES.iter().map(|(name, _)| *name).collect(),
    };
    let Some(options) = parsed(&arguments[usize::from(page.is_some())..], &names) else {
        eprintln!(
            "usage: netloom-benches [study | validate | inferred] [--netloom COMMAND] [--write PAGE] [FAMILY …], with families {}",
            names.join(", ")
        );
        return ExitCode::from(2);
    };
    let target = page.unwrap_or("bench");
    let stretches = match page {
        Some("study") => study::run(&options.wanted),
        Some("inferred") => study::run_all("inferred", &inferred::FAMILIES, &options.wanted),
        Some(_) => study::run_all("validate", &validate::FAMILIES, &options.wanted),
        None => bench(&options),
    };
    for Stretch { family, text, .. } in &stretches {
        println!("{text}");
        if let Some(page) = &options.write
            && let Err(error) = report::write(page, &format!("{target} {family}"), text)
        {
            eprintln!("netloom-benches: {error}");
            return ExitCode::FAILURE;
        }
    }
    if stretches.iter().all(|s| s.good) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parsed(arguments: &[String], names: &[&str]) -> Option<Options> {
    let mut options = Options::default();
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--netloom" => options.netloom = Some(arguments.next()?.clone()),
            "--write" => options.write = Some(arguments.next()?.clone()),
            family if names.contains(&family) => options.wanted.push(argument.clone()),
            _ => return None,
        }
    }
    Some(options)
}

/// The table of what must be fast, a family a stretch, and whether it is.
fn bench(options: &Options) -> Vec<Stretch> {
    let mut stretches = Vec::new();
    for (family, run) in FAMILIES {
        if options.wanted.is_empty() || options.wanted.iter().any(|w| w == family) {
            let mut table = Table::default();
            run(&mut table, options);
            let text = format!(
                "Printed by `make bench FAMILIES={family}` on {}, on {}; medians of several runs (the optimiser: one run, one thread).\n\n{table}",
                report::today(),
                report::machine()
            );
            stretches.push(Stretch { family, text, good: table.all_right() });
        }
    }
    stretches
}

/// Which page keeps the families of which target.
#[cfg(test)]
fn pages() -> [(&'static str, &'static str, Vec<&'static str>); 4] {
    let names = |families: &[(&'static str, study::Family)]| families.iter().map(|(name, _)| *name).collect();
    [
        ("benchmarks.md", "bench", FAMILIES.iter().map(|(name, _)| *name).collect()),
        ("methods/optimizer.md", "study", names(&study::FAMILIES)),
        ("methods/simulator.md", "validate", names(&validate::FAMILIES)),
        ("methods/inference.md", "inferred", names(&inferred::FAMILIES)),
    ]
}
