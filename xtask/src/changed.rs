//! From changed files to the checks that look at them: which crates, which Python tests.
//!
//! Pure: a function of paths and of the tests' texts. A crate's change is tested by the crate's own tests; a Python
//! module's by the test files that carry its name, or that import it; a document's, an example's or a test's
//! data by the test files that name them.

use std::collections::BTreeSet;

/// What `make check` does.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// Packages whose Rust tests run.
    pub crates: BTreeSet<String>,
    /// Whether all packages' do: what all of them are built from has changed.
    pub all_crates: bool,
    /// Files of `tests/` that run.
    pub tests: BTreeSet<String>,
    /// Whether any Python source changed: types are checked.
    pub python: bool,
    /// Whether the extension's interface may have changed: stubs are compared with it.
    pub stubs: bool,
}

/// Words of module paths that say nothing about which tests look at it.
const COMMON: [&str; 9] =
    ["python", "netloom", "cli", "shared", "parser", "command", "report", "__init__", "files"];

/// Tests of what all commands share.
const OF_ALL_VERBS: [&str; 3] = ["tests/test_command.py", "tests/test_options.py", "tests/test_bad_input.py"];

/// Tests of the preloaded library.
const RECORDER: [&str; 4] = [
    "tests/test_record.py",
    "tests/test_record_events.py",
    "tests/test_record_merge.py",
    "tests/test_record_trace.py",
];

/// The plan for changed files, given the test files with their texts.
pub fn plan(changed: &[String], tests: &[(String, String)]) -> Plan {
    let mut plan = Plan::default();
    for path in changed {
        let parts: Vec<&str> = path.split('/').collect();
        match parts[..] {
            ["Cargo.toml" | "Cargo.lock"] => plan.all_crates = true,
            ["crates", name, ..] => {
                plan.crates.insert(format!("netloom-{name}"));
                plan.stubs |= name == "python";
            }
            ["benches", .., file] if file.ends_with(".rs") || file == "Cargo.toml" => {
                plan.crates.insert("netloom-benches".into());
            }
            ["xtask", ..] => {
                plan.crates.insert("xtask".into());
            }
            ["native", "recorder", ..] => {
                plan.tests.extend(RECORDER.map(String::from));
            }
            ["python", "netloom_start", ..] => {
                plan.python = true;
                plan.tests.extend(OF_ALL_VERBS.map(String::from));
                plan.tests.extend(named(tests, "signals"));
                plan.tests.extend(named(tests, "stumbles"));
            }
            ["python", ..] => {
                plan.python = true;
                plan.stubs |= path.ends_with("_core.pyi");
                plan.tests.extend(of_module(path, &parts, tests));
            }
            ["tests", "cases", ..] => {
                plan.tests.insert("tests/test_cases.py".into());
            }
            ["tests", file] if file.starts_with("test_") && file.ends_with(".py") => {
                plan.python = true;
                plan.tests.insert(path.clone());
            }
            ["tests", file] if file.ends_with(".py") => {
                plan.python = true;
                let module = file.trim_end_matches(".py");
                plan.tests.extend(naming(tests, &[format!("import {module}"), format!("from {module}")]));
            }
            ["tests", "data", folder, ..] => plan.tests.extend(naming(tests, &[folder.to_string()])),
            ["docs", "schemas", file] => {
                plan.tests.insert("tests/test_schemas.py".into());
                let verb = file.trim_end_matches(".json");
                plan.tests.extend(named(tests, verb));
            }
            ["docs", .., file] | [file @ "README.md"] if file.ends_with(".md") => {
                plan.tests.insert("tests/test_docs.py".into());
            }
            ["examples", .., file] => plan.tests.extend(naming(tests, &[file.to_string()])),
            _ => {}
        }
    }
    // Files that are gone cannot run.
    plan.tests.retain(|path| tests.iter().any(|(name, _)| name == path));
    plan
}

/// The tests of a Python module: those with one of its words in their names, or that import it.
fn of_module(path: &str, parts: &[&str], tests: &[(String, String)]) -> BTreeSet<String> {
    let module = path
        .trim_start_matches("python/")
        .trim_end_matches(".py")
        .trim_end_matches("/__init__")
        .replace('/', ".");
    let mut found = naming(tests, &[module]);
    if parts.contains(&"shared") || parts.contains(&"parser") || parts.last() == Some(&"errors.py") {
        found.extend(OF_ALL_VERBS.map(String::from));
    }
    let words = parts.iter().map(|part| part.trim_end_matches(".py")).filter(|word| !COMMON.contains(word));
    for word in words {
        found.extend(named(tests, word));
    }
    found
}

/// Test files with a word in their names.
fn named(tests: &[(String, String)], word: &str) -> BTreeSet<String> {
    let holds = |name: &str| name.trim_end_matches(".py").split(['_', '/']).any(|part| part == word);
    tests.iter().filter(|(name, _)| holds(name)).map(|(name, _)| name.clone()).collect()
}

/// Test files whose text holds one of the words.
fn naming(tests: &[(String, String)], words: &[String]) -> BTreeSet<String> {
    let holds = |text: &str| words.iter().any(|word| text.contains(word.as_str()));
    tests.iter().filter(|(_, text)| holds(text)).map(|(name, _)| name.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn planned(changed: &[&str]) -> Plan {
        let tests = [
            ("tests/test_command.py", ""),
            ("tests/test_optimize.py", "netloom.ok('optimize')"),
            ("tests/test_optimize_lmc.py", ""),
            ("tests/test_live.py", "from netloom.live.manager import Manager"),
            ("tests/test_apply.py", "import apply_bed"),
            ("tests/test_docs.py", ""),
            ("tests/test_cases.py", ""),
            ("tests/test_broken.py", "paths.root / 'tests/data/broken'"),
        ];
        let changed: Vec<String> = changed.iter().map(|path| path.to_string()).collect();
        plan(&changed, &tests.map(|(name, text)| (name.to_string(), text.to_string())))
    }

    fn tests(changed: &[&str]) -> Vec<String> {
        planned(changed).tests.into_iter().collect()
    }

    #[test]
    fn a_crate_is_tested_by_itself() {
        let plan = planned(&["crates/sim/src/run.rs"]);
        assert_eq!(plan.crates.iter().collect::<Vec<_>>(), ["netloom-sim"]);
        assert!(plan.tests.is_empty() && !plan.python && !plan.all_crates && !plan.stubs);
        assert!(planned(&["crates/python/src/lib.rs"]).stubs);
        assert!(planned(&["Cargo.lock"]).all_crates);
    }

    #[test]
    fn a_module_is_tested_by_what_has_its_name_or_imports_it() {
        let both = ["tests/test_optimize.py", "tests/test_optimize_lmc.py"];
        assert_eq!(tests(&["python/netloom/cli/optimize/report.py"]), both);
        assert_eq!(tests(&["python/netloom/live/manager.py"]), ["tests/test_live.py"]);
        assert_eq!(tests(&["python/netloom/cli/shared/run.py"]), ["tests/test_command.py"]);
        assert!(planned(&["python/netloom/_core.pyi"]).stubs);
    }

    #[test]
    fn tests_data_and_documents_run_what_reads_them() {
        assert_eq!(tests(&["tests/test_live.py", "tests/test_gone.py"]), ["tests/test_live.py"]);
        assert_eq!(tests(&["tests/apply_bed.py"]), ["tests/test_apply.py"]);
        assert_eq!(tests(&["tests/data/broken/a.txt"]), ["tests/test_broken.py"]);
        assert_eq!(tests(&["docs/verbs/check.md"]), ["tests/test_docs.py"]);
        assert_eq!(tests(&["README.md"]), ["tests/test_docs.py"]);
        assert_eq!(tests(&["tests/cases/check/ok.md"]), ["tests/test_cases.py"]);
        assert_eq!(tests(&["CHANGELOG.md"]), [""; 0]);
    }
}
