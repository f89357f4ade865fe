//! `make check`: formats, lints, and the tests of what changed since the last commit that passed `make test`, or
//! since the branch left `main`, whichever changed less.
//!
//! `make test` leaves that commit's name in git's own folder. Where there is neither, or no git, everything runs.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::changed::{Plan, plan};

const STAMP: &str = "netloom-tested";

/// Writes the commit that has just passed all tests, unless files differ from it.
pub fn stamp(root: &Path) -> Result<(), String> {
    let Some(file) = stamp_file(root) else { return Ok(()) };
    if git(root, &["status", "--porcelain"]).is_none_or(|dirty| !dirty.is_empty()) {
        return Ok(());
    }
    let Some(commit) = git(root, &["rev-parse", "HEAD"]) else { return Ok(()) };
    fs::write(&file, commit).map_err(|error| format!("{}: {error}", file.display()))
}

/// Runs the checks; the first that fails ends it.
pub fn run(root: &Path, bin: &Path) -> Result<(), String> {
    let Some((base, changed)) = changed(root) else {
        println!("check: no commit is known to have passed `make test` here: everything is tested");
        return step(root, "make", &["test"]);
    };
    let plan = plan(&changed, &texts(root).map_err(|error| error.to_string())?);
    println!("check: {} files changed since {base}: {}", changed.len(), told(&plan));
    step(root, "cargo", &["fmt", "--all", "--check"])?;
    step(root, "cargo", &["run", "--locked", "--quiet", "-p", "xtask", "--", "tidy"])?;
    let tool = |name: &str| bin.join(name).display().to_string();
    step(root, &tool("ruff"), &["check", "--quiet", "python", "tests"])?;
    step(root, &tool("ruff"), &["format", "--check", "--quiet", "python", "tests"])?;
    if plan.python {
        step(root, &tool("mypy"), &[])?;
    }
    rust(root, &plan)?;
    if plan.stubs || !plan.tests.is_empty() {
        step(root, "make", &["build"])?;
    }
    let python = tool("python");
    if plan.stubs {
        step(
            root,
            &python,
            &["-m", "mypy.stubtest", "--mypy-config-file", "pyproject.toml", "--concise", "netloom._core"],
        )?;
    }
    if !plan.tests.is_empty() {
        let mut arguments = vec!["-m", "pytest", "-q", "-n", "2", "--dist", "worksteal"];
        arguments.extend(plan.tests.iter().map(String::as_str));
        step(root, &python, &arguments)?;
    }
    println!("check: passed");
    Ok(())
}

fn rust(root: &Path, plan: &Plan) -> Result<(), String> {
    let mut packages: Vec<&str> = plan.crates.iter().flat_map(|name| ["-p", name]).collect();
    if plan.all_crates {
        packages = vec!["--workspace"];
    }
    if packages.is_empty() {
        return Ok(());
    }
    let with = |before: &[&'static str], after: &[&'static str]| [before, &packages, after].concat();
    step(root, "cargo", &with(&["clippy", "--locked", "--quiet", "--tests"], &["--", "-D", "warnings"]))?;
    if plan.all_crates || packages != ["-p", "netloom-python"] {
        step(root, "cargo", &with(&["test", "--locked", "--quiet", "--tests"], &[]))?;
    }
    Ok(())
}

fn told(plan: &Plan) -> String {
    let crates = if plan.all_crates { "all crates".into() } else { format!("{} crates", plan.crates.len()) };
    format!("{crates}, {} files of Python tests", plan.tests.len())
}

/// What the working tree is compared with, in words, and the paths that differ from it; `None`: nothing is known
/// to have passed.
///
/// What is on `main` passed before it landed, so the commit where a branch left it counts as well; on `main` itself
/// the one where it left `origin/main`.
fn changed(root: &Path) -> Option<(String, Vec<String>)> {
    let passed = stamp_file(root).and_then(|file| fs::read_to_string(file).ok());
    let passed =
        passed.map(|commit| (format!("{:.8}, which passed", commit.trim()), commit.trim().to_string()));
    let branch = git(root, &["branch", "--show-current"]).unwrap_or_default();
    let left = ["main", "origin/main"].iter().filter(|main| **main != branch).filter_map(|main| {
        let commit = git(root, &["merge-base", "HEAD", main])?;
        Some((format!("{commit:.8}, where this left {main}"), commit))
    });
    let new = git(root, &["ls-files", "--others", "--exclude-standard"])?;
    passed
        .into_iter()
        .chain(left)
        .filter_map(|(base, commit)| {
            let differing = git(root, &["diff", "--name-only", "--no-renames", &commit, "--"])?;
            Some((base, differing.lines().chain(new.lines()).map(String::from).collect::<Vec<_>>()))
        })
        .min_by_key(|(_, paths)| paths.len())
}

fn stamp_file(root: &Path) -> Option<PathBuf> {
    Some(root.join(git(root, &["rev-parse", "--git-path", STAMP])?))
}

fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
}

/// The Python test files and their texts.
fn texts(root: &Path) -> std::io::Result<Vec<(String, String)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(root.join("tests"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_string();
        if name.starts_with("test_") && name.ends_with(".py") {
            found.push((format!("tests/{name}"), fs::read_to_string(&path)?));
        }
    }
    found.sort();
    Ok(found)
}

fn step(root: &Path, command: &str, arguments: &[&str]) -> Result<(), String> {
    println!("check: {command} {}", arguments.join(" "));
    match Command::new(command).args(arguments).current_dir(root).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command} {}: {status}", arguments.join(" "))),
        Err(error) => Err(format!("{command}: {error}")),
    }
}
