//! What must be fast, measured on this machine: one table, printed by `make bench`.
//!
//! Figures are medians of several runs, each beside its limit and, where there is one, beside a simpler method that
//! does the same work in the same run. The limits are those of a 2-core machine; on another one the ratios say more.
//!
//! | module | idea |
//! |---|---|
//! | [`parse`] | dumps to fabrics, against undoing gzip alone |
//! | [`route`] | engines on 3072 and 65,536 hosts |
//! | [`check`] | all pairs and credit loops, against walking every pair |
//! | [`loads`] | all-to-all, against walking every pair |
//! | [`optimise`] | patterns and applications, against AFAR |
//! | [`start`] | the command's start-up |
//! | [`table`] | rows and how they are printed |

mod check;
mod inputs;
mod loads;
mod optimise;
mod parse;
mod route;
mod start;
mod table;

use std::process::ExitCode;

use table::Table;

/// A family of benchmarks: adds its rows.
type Family = fn(&mut Table, &Options);

/// What the command line said.
pub struct Options {
    /// The `netloom` command, if it was built.
    pub netloom: Option<String>,
}

const FAMILIES: [(&str, Family); 6] = [
    ("parse", parse::run),
    ("route", route::run),
    ("check", check::run),
    ("loads", loads::run),
    ("optimise", optimise::run),
    ("start", start::run),
];

fn main() -> ExitCode {
    let mut options = Options { netloom: None };
    let mut wanted: Vec<String> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        if argument == "--netloom" {
            options.netloom = arguments.next();
        } else if FAMILIES.iter().any(|(name, _)| *name == argument) {
            wanted.push(argument);
        } else {
            let names = FAMILIES.map(|(name, _)| name).join(", ");
            eprintln!("usage: netloom-benches [--netloom COMMAND] [FAMILY …], with families {names}");
            return ExitCode::from(2);
        }
    }
    let mut table = Table::default();
    for (name, run) in FAMILIES {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            run(&mut table, &options);
        }
    }
    print!("{table}");
    if table.all_within() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
