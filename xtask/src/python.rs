//! Imports inside the Python package run one way, and no two modules import each other: a module or package of `netloom` imports lower floors only. The command
//! line is the roof, nothing imports it.

use std::collections::{BTreeMap, BTreeSet};

use crate::circles::{Edges, circles};
use crate::tree::Tree;

/// Where the package lies.
const PACKAGE: &str = "python/netloom/";

/// Modules and packages right below `netloom`, from the ground up. Neighbours on a floor never import each other.
const FLOORS: [&[&str]; 15] = [
    &["errors"],
    &["extras", "namesake"],
    &["reading"],
    &["critical", "files", "findings", "foreign_entries", "intervals", "levels", "nodes", "shown", "sysfs"],
    &[
        "cabling",
        "examples",
        "exact",
        "exports",
        "graphs",
        "hashes",
        "health",
        "hierarchy",
        "manifest",
        "paths",
        "rankfile",
        "recording",
        "slurm",
        "sparse",
        "training",
    ],
    &["session"],
    &["frames", "gpu", "interop"],
    &["live", "tables"],
    &["counting", "runs"],
    &["apply", "dataplane", "lanes", "plot", "simulating"],
    &["sampling"],
    &["diagnose", "interference", "loop", "noise", "optimizing", "pairs", "planning", "studies", "sweeps"],
    &["pages", "watch"],
    &["drawing"],
    &["cli"],
];
/// The extension is below the ground, what starts the command above the roof.
const OUTSIDE: [&str; 2] = ["_core", "__main__"];

/// Imports that do not run downwards, modules without a floor, and circles.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = turning(tree);
    let mut homeless = BTreeSet::new();
    for file in tree.ending(".py").filter(|f| f.path.starts_with(PACKAGE)) {
        let (module, is_package) = module_of(&file.path);
        let Some(here) = room(&module) else {
            // The package itself hands out what is below; it is not the command line.
            for (line, imported) in imports(&file.text, &module, is_package) {
                if room(&imported) == Some("cli") {
                    findings.push(format!("{}:{line}: nothing imports netloom.cli but itself", file.path));
                }
            }
            continue;
        };
        if OUTSIDE.contains(&here) {
            continue;
        }
        if floor(here).is_none() && homeless.insert(here.to_owned()) {
            let text = format!("netloom.{here} has no floor: give it one in xtask/src/python.rs");
            findings.push(format!("{}: {text}", file.path));
        }
        for (line, imported) in imports(&file.text, &module, is_package) {
            let Some(there) = room(&imported).filter(|there| *there != here && floor(there).is_some()) else {
                continue;
            };
            if floor(there) >= floor(here) {
                let text = format!("netloom.{here} may not import netloom.{there}: imports run downwards");
                findings.push(format!("{}:{line}: {text}", file.path));
            }
        }
    }
    findings
}

/// Modules that import each other, through others, under `TYPE_CHECKING` or inside of functions too.
///
/// A package may import what is inside it; `netloom` itself imports what is asked of it.
fn turning(tree: &Tree) -> Vec<String> {
    let files: Vec<_> = tree.ending(".py").filter(|f| f.path.starts_with(PACKAGE)).collect();
    let known: BTreeMap<String, bool> = files.iter().map(|file| module_of(&file.path)).collect();
    let mut edges = Edges::new();
    for file in files {
        let (module, is_package) = module_of(&file.path);
        let to = edges.entry(module.clone()).or_default();
        for (_, imported) in imports(&file.text, &module, is_package) {
            let parent = imported.rsplit_once('.').map_or("", |(parent, _)| parent);
            let other = if known.contains_key(&imported) { &imported } else { parent };
            let inside = other.starts_with(&format!("{module}."));
            if other != module && other != "netloom" && !inside && known.contains_key(other) {
                to.insert(other.to_owned());
            }
        }
    }
    let told = |circle: Vec<String>| format!("python: modules import each other: {}", circle.join(", "));
    circles(&edges).into_iter().map(told).collect()
}

/// The module or package right below `netloom` that a module is in.
fn room(module: &str) -> Option<&str> {
    module.strip_prefix("netloom.").map(|rest| rest.split('.').next().unwrap_or(rest))
}

fn floor(room: &str) -> Option<usize> {
    FLOORS.iter().position(|floor| floor.contains(&room))
}

/// `python/netloom/plot/loads.py` is `netloom.plot.loads`; whether it is a package's `__init__`.
fn module_of(path: &str) -> (String, bool) {
    let stem = path.trim_start_matches("python/").trim_end_matches(".py").replace('/', ".");
    match stem.strip_suffix(".__init__") {
        Some(package) => (package.to_owned(), true),
        None => (stem, false),
    }
}

/// `(line, absolute module)` of every import; `from a import b` counts as `a` and as `a.b`.
fn imports(text: &str, module: &str, is_package: bool) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        let line = line.trim_start();
        if let Some(names) = line.strip_prefix("import ") {
            found.extend(names.split(',').map(|name| (number + 1, first_word(name).to_owned())));
        }
        let Some((origin, names)) = line.strip_prefix("from ").and_then(|l| l.split_once(" import ")) else {
            continue;
        };
        let mut names = names.to_owned();
        while names.contains('(') && !names.contains(')') {
            let Some((_, more)) = lines.next() else { break };
            names.push_str(more.split('#').next().unwrap_or(""));
        }
        let origin = absolute(origin.trim(), module, is_package);
        for name in names.split(|c: char| ",()".contains(c)).map(first_word).filter(|n| !n.is_empty()) {
            found.push((number + 1, format!("{origin}.{name}")));
        }
    }
    found
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or("")
}

/// Resolves the leading dots of a relative import.
fn absolute(origin: &str, module: &str, is_package: bool) -> String {
    let dots = origin.len() - origin.trim_start_matches('.').len();
    if dots == 0 {
        return origin.to_owned();
    }
    let mut parts: Vec<&str> = module.split('.').collect();
    let up = dots - usize::from(is_package);
    parts.truncate(parts.len().saturating_sub(up));
    parts.extend(origin[dots..].split('.').filter(|p| !p.is_empty()));
    parts.join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn nothing_imports_the_command_line() {
        let plot = "python/netloom/plot/loads.py";
        for bad in [
            "import netloom.cli\n",
            "from netloom.cli.route import run\n",
            "from netloom import cli\n",
            "from .. import cli\n",
            "from ..cli import main\n",
            "def f():\n    from netloom import (\n        errors,\n        cli,\n    )\n",
        ] {
            assert_eq!(findings(plot, bad), 1, "{bad}");
        }
        assert_eq!(findings("python/netloom/__init__.py", "from .cli import main\n"), 1);
    }

    #[test]
    fn the_command_line_imports_what_it_likes() {
        assert_eq!(
            findings("python/netloom/cli/route.py", "from . import common\nfrom netloom import plot\n"),
            0
        );
        assert_eq!(findings("python/netloom/cli/__init__.py", "from . import route\n"), 0);
        assert_eq!(findings("python/netloom/__main__.py", "from netloom.cli import main\n"), 0);
        assert_eq!(findings("python/netloom/plot/__init__.py", "from . import climate\n"), 0);
    }

    #[test]
    fn imports_run_downwards() {
        let up = "python/netloom/interop.py";
        assert_eq!(findings(up, "from netloom.plot import style\n"), 1);
        assert_eq!(findings(up, "from netloom.errors import FormatError\nimport numpy\n"), 0);
        // Neighbours, and the same package.
        assert_eq!(findings("python/netloom/live/x.py", "from netloom import tables\n"), 1);
        assert_eq!(findings("python/netloom/live/x.py", "from netloom.live import y\nfrom . import z\n"), 0);
        assert_eq!(findings("python/netloom/weather/x.py", "import netloom\n"), 1);
        assert_eq!(findings("python/netloom/__init__.py", "from netloom._core import Fabric\n"), 0);
    }

    #[test]
    fn circles_are_told_through_type_checking_too() {
        let one = "from netloom.loop.b import B\n";
        for back in [
            "from netloom.loop.a import A\n",
            "if TYPE_CHECKING:\n    from netloom.loop.a import A\n",
            "from netloom.loop import (\n    a,\n)\n",
            "def f():\n    import netloom.loop.a\n",
        ] {
            let files = [("python/netloom/loop/a.py", one), ("python/netloom/loop/b.py", back)];
            let told = "python: modules import each other: netloom.loop.a, netloom.loop.b";
            assert_eq!(check(&Tree::of(&files)), [told], "{back}");
        }
        let package = [
            ("python/netloom/loop/__init__.py", "from netloom.loop.a import A\n"),
            ("python/netloom/loop/a.py", "from netloom.loop import B\n"),
        ];
        assert!(check(&Tree::of(&package)).is_empty());
    }

    #[test]
    fn relative_imports_resolve() {
        assert_eq!(absolute(".x", "netloom.plot.loads", false), "netloom.plot.x");
        assert_eq!(absolute(".x", "netloom.plot", true), "netloom.plot.x");
        assert_eq!(absolute("..", "netloom.plot.loads", false), "netloom");
    }
}
