//! Imports between crates run one way: a crate depends on lower floors only, never on a sibling.
//!
//! model < {topology, traffic, formats, numeric} < routing < {bounds, verify, counters} < {optimize, infer, sim, sampling, planning} < compose < python, and
//! - only `python` knows PyO3;
//! - no algorithm crate knows a file format: only `compose` and `python` do;
//! - what judges (`verify`) shares no code with what it judges;
//! - `testkit` serves tests only.
//!
//! `benches`, `fuzz` and `xtask` are outside the house. Dev-dependencies are free: tests may compare anything.

use crate::tree::Tree;

/// Floors from the ground up.
const FLOORS: [&[&str]; 7] = [
    &["model"],
    &["topology", "traffic", "formats", "numeric"],
    &["routing"],
    &["bounds", "verify", "counters"],
    &["optimize", "infer", "sim", "sampling", "planning"],
    &["compose"],
    &["python"],
];
/// Crates that may depend on these only.
const ONLY: [(&str, &[&str]); 2] = [("verify", &["model", "topology"]), ("testkit", &["model", "topology"])];
/// Who may know file formats.
const READERS: [&str; 2] = ["compose", "python"];
/// The binding, and what nobody else may depend on.
const BINDING: &str = "python";
const BINDING_ONLY: [&str; 2] = ["pyo3", "numpy"];

/// Every edge that the order forbids, and every crate without a floor.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending("/Cargo.toml") {
        let Some(name) = file.path.strip_prefix("crates/").and_then(|p| p.strip_suffix("/Cargo.toml")) else {
            continue;
        };
        if floor(name).is_none() && name != "testkit" {
            findings.push(format!(
                "{}: crate {name} has no floor: give it one in xtask/src/layers.rs",
                file.path
            ));
            continue;
        }
        for (line, dependency) in dependencies(&file.text) {
            if let Some(why) = forbidden(name, &dependency) {
                findings.push(format!("{}:{line}: {name} may not depend on {dependency}: {why}", file.path));
            }
        }
    }
    findings
}

fn floor(name: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&name))
}

fn forbidden(name: &str, dependency: &str) -> Option<&'static str> {
    if BINDING_ONLY.contains(&dependency) {
        return (name != BINDING).then_some("only crates/python knows Python");
    }
    let other = dependency.strip_prefix("netloom-")?;
    if other == "testkit" {
        return Some("it serves tests only ([dev-dependencies])");
    }
    if let Some((_, allowed)) = ONLY.iter().find(|(crate_name, _)| *crate_name == name) {
        return (!allowed.contains(&other)).then_some("what judges shares no code with what it judges");
    }
    if other == "formats" && !READERS.contains(&name) {
        return Some("no algorithm knows a file format");
    }
    if (name, other) == ("optimize", "verify") {
        return Some("it does not grade itself");
    }
    match (floor(name), floor(other)) {
        (Some(here), Some(there)) if there < here => None,
        (Some(here), Some(there)) if there == here => Some("siblings never import each other"),
        (_, None) => Some("that crate has no floor in xtask/src/layers.rs"),
        _ => Some("imports run downwards"),
    }
}

/// `(line, name)` of everything under `[dependencies]`, `[build-dependencies]` and their target forms.
fn dependencies(manifest: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut inside = false;
    for (number, line) in manifest.lines().enumerate() {
        let line = line.trim();
        if let Some(header) = line.strip_prefix('[').and_then(|l| l.split(']').next()) {
            let dev = header.contains("dev-dependencies");
            inside = !dev && header.ends_with("dependencies");
            if let Some((_, name)) = header.rsplit_once("dependencies.").filter(|_| !dev) {
                found.push((number + 1, name.to_owned()));
            }
        } else if inside && !line.starts_with('#') {
            let end = line.find(['.', '=', ' ']).unwrap_or(line.len());
            if end > 0 {
                found.push((number + 1, line[..end].trim_matches('"').to_owned()));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(name: &str, manifest: &str) -> Vec<String> {
        check(&Tree::of(&[(&format!("crates/{name}/Cargo.toml"), manifest)]))
    }

    #[test]
    fn downward_edges_pass() {
        let manifest =
            "[package]\nname = \"x\"\n[dependencies]\nnetloom-model.workspace = true\nrayon = \"1\"\n";
        assert!(findings("routing", manifest).is_empty());
        assert!(findings("optimize", "[dependencies]\nnetloom-bounds = { path = \"..\" }\n").is_empty());
    }

    #[test]
    fn an_upward_edge_is_named_with_its_line() {
        let found = findings("model", "[dependencies]\n\nnetloom-routing.workspace = true\n");
        assert_eq!(
            found,
            ["crates/model/Cargo.toml:3: model may not depend on netloom-routing: imports run downwards"]
        );
    }

    #[test]
    fn siblings_never_import_each_other() {
        assert!(
            findings("traffic", "[dependencies]\nnetloom-topology.workspace = true\n")[0]
                .contains("siblings")
        );
        assert_eq!(findings("bounds", "[dependencies.netloom-verify]\nworkspace = true\n").len(), 1);
    }

    #[test]
    fn the_judge_shares_nothing() {
        assert_eq!(findings("verify", "[dependencies]\nnetloom-routing.workspace = true\n").len(), 1);
        assert_eq!(findings("optimize", "[dependencies]\nnetloom-verify.workspace = true\n").len(), 1);
    }

    #[test]
    fn formats_and_python_stay_at_the_edge() {
        assert_eq!(findings("routing", "[dependencies]\nnetloom-formats.workspace = true\n").len(), 1);
        assert_eq!(
            findings("routing", "[target.'cfg(unix)'.dependencies]\npyo3.workspace = true\n").len(),
            1
        );
        let all = "[dependencies]\npyo3.workspace = true\nnetloom-formats.workspace = true\n";
        assert!(findings("python", all).is_empty());
        assert_eq!(findings("sim", "[dependencies]\nnetloom-formats.workspace = true\n").len(), 1);
        assert!(findings("compose", "[dependencies]\nnetloom-formats.workspace = true\n").is_empty());
        assert_eq!(findings("compose", all).len(), 1);
    }

    #[test]
    fn testkit_is_for_tests() {
        assert_eq!(findings("routing", "[dependencies]\nnetloom-testkit.workspace = true\n").len(), 1);
        assert!(findings("routing", "[dev-dependencies]\nnetloom-testkit.workspace = true\n").is_empty());
    }

    #[test]
    fn a_new_crate_needs_a_floor() {
        assert!(findings("weather", "")[0].contains("has no floor"));
        assert_eq!(findings("routing", "[dependencies]\nnetloom-weather.workspace = true\n").len(), 1);
    }
}
