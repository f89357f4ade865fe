//! Repository chores: `cargo run -p xtask -- tidy` says what compilers and linters don't look at, `check BIN` is
//! `make check` with the tools in a folder BIN, `stamp` notes that all tests passed; `cases OLD NEW` and `bench OLD NEW`
//! compare two builds, `changelog` puts the fragments of the changelog together.
//!
//! Every check of `tidy` is a function from the files' text to findings, so that it can be tested without a tree.
//!
//! | module | idea |
//! |---|---|
//! | [`tree`] | the repository's text files |
//! | [`layers`] | which crate may depend on which |
//! | [`python`] | which Python module may import which |
//! | [`circles`] | no circles among the modules of a crate |
//! | [`folders`] | folders of at most 20 source files |
//! | [`files`] | sizes and heads of source files, widths of pages; nothing outside the repository |
//! | [`stubs`] | what Rust exports stands in the type stubs |
//! | [`json`] | schemas are JSON |
//! | [`links`] | relative links of Markdown files lead somewhere |
//! | [`changed`] | which tests look at a changed file |
//! | [`check`] | runs them |
//! | [`cases`] | what two builds print |
//! | [`bench`] | how long two builds take |
//! | [`changelog`] | fragments of the changelog |
//! | [`readers`] | which modules may open files for reading, and unpack |
//! | [`words`] | names that do not come back |
//! | [`writers`] | which modules may open files for writing, rename and remove |

mod bench;
mod cases;
mod changed;
mod changelog;
mod check;
mod circles;
mod files;
mod folders;
mod json;
mod layers;
mod links;
mod python;
mod readers;
mod stubs;
mod tree;
mod words;
mod writers;

use std::path::Path;
use std::process::ExitCode;

use tree::Tree;

fn main() -> ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the repository");
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let done = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["tidy"] => return tidy(root),
        ["cases", ref words @ ..] => return cases::run(root, words),
        ["bench", ref words @ ..] => return bench::run(root, words),
        ["changelog"] => changelog::run(root),
        ["check", bin] => check::run(root, Path::new(bin)),
        ["stamp"] => check::stamp(root),
        _ => {
            eprintln!(
                "usage: cargo run -p xtask -- tidy | check BIN | stamp | cases OLD NEW [DOCUMENT…] | bench OLD NEW [NAME…] | changelog"
            );
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(text) => {
            eprintln!("{}: {text}", arguments[0]);
            ExitCode::FAILURE
        }
    }
}

fn tidy(root: &Path) -> ExitCode {
    let tree = match Tree::read(root) {
        Ok(tree) => tree,
        Err(error) => {
            eprintln!("tidy: {}: {error}", root.display());
            return ExitCode::from(3);
        }
    };
    let checks: [fn(&Tree) -> Vec<String>; 15] = [
        layers::check,
        python::check,
        circles::check,
        folders::check,
        files::check_sizes,
        files::check_heads,
        files::check_widths,
        files::check_alone,
        stubs::check,
        json::check,
        links::check,
        readers::check,
        words::check,
        writers::check,
        changelog::check,
    ];
    let findings: Vec<String> = checks.iter().flat_map(|check| check(&tree)).collect();
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    if findings.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
