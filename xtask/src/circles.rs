//! No circles among the modules of a crate: a module never uses, through others, one that uses it.
//!
//! An edge is a path that begins with `crate`, `self`, `super` or a child's name, in a `use` or in the code; a name that
//! a module re-exports counts as the module that defines it. A module may use what is inside it and what it is inside of
//! is an edge as any other. Tests inside a file don't count.
//!
//! Paths are found by a reader of `use` trees, not by a compiler: macros and globs are taken at their word.

use std::collections::{BTreeMap, BTreeSet};

use crate::tree::Tree;

/// Circles that stand: crate, and modules in rising order. The list can only shrink.
const STANDING: [(&str, &[&str]); 1] = [("sim", &["fluid::run", "run"])];

/// Circles in every crate, and standing ones that are gone.
pub fn check(tree: &Tree) -> Vec<String> {
    found(tree, &STANDING)
}

fn found(tree: &Tree, standing: &[(&str, &[&str])]) -> Vec<String> {
    let mut crates: BTreeMap<&str, BTreeMap<String, String>> = BTreeMap::new();
    for file in tree.ending(".rs") {
        let inside = file.path.strip_prefix("crates/").and_then(|p| p.split_once("/src/"));
        if let Some((name, path)) = inside {
            crates.entry(name).or_default().insert(module(path), code(&file.text));
        }
    }
    let mut findings = Vec::new();
    let mut met = BTreeSet::new();
    for (name, modules) in &crates {
        for circle in circles(&edges(modules)) {
            let stands = standing.iter().position(|(of, among)| of == name && *among == circle);
            match stands {
                Some(number) => {
                    met.insert(number);
                }
                None => findings.push(format!(
                    "crates/{name}/src: modules use each other in a circle: {}",
                    circle.join(", ")
                )),
            }
        }
    }
    for (_, (name, circle)) in standing.iter().enumerate().filter(|(n, _)| !met.contains(n)) {
        findings.push(format!(
            "crates/{name}/src: {} are no circle: drop it in xtask/src/circles.rs",
            circle.join(", ")
        ));
    }
    findings
}

/// `a/b/mod.rs` and `a/b.rs` are `a::b`; `lib.rs` is the empty name.
fn module(path: &str) -> String {
    let stem = path.trim_end_matches(".rs");
    let stem = stem.strip_suffix("/mod").unwrap_or(stem);
    if stem == "lib" { String::new() } else { stem.replace('/', "::") }
}

/// The text without comments, and without what is only compiled for tests at its end.
fn code(text: &str) -> String {
    let end = text.match_indices("#[cfg(test)]").map(|(at, _)| at);
    let end = end.filter(|&at| {
        let rest = text[at..].trim_start_matches("#[cfg(test)]").trim_start();
        rest.strip_prefix("mod ").is_some_and(|rest| rest.find('{') < rest.find(';').or(Some(usize::MAX)))
    });
    let text = &text[..end.min().unwrap_or(text.len())];
    let line = |line: &str| line.split("//").next().unwrap_or("").to_owned();
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}

/// Who uses whom.
pub type Edges = BTreeMap<String, BTreeSet<String>>;

/// Who uses whom, by module.
fn edges(modules: &BTreeMap<String, String>) -> Edges {
    let known = |name: &str| modules.contains_key(name);
    let mut exports: BTreeMap<&str, BTreeMap<String, Vec<String>>> = BTreeMap::new();
    let mut used: BTreeMap<&str, Vec<Vec<String>>> = BTreeMap::new();
    for (name, text) in modules {
        let (mut of, mut again) = (Vec::new(), BTreeMap::new());
        for (public, path) in paths(text) {
            let Some(absolute) = absolute(name, &path, &known) else { continue };
            if public && let Some(last) = absolute.last() {
                again.insert(last.clone(), absolute.clone());
            }
            of.push(absolute);
        }
        exports.insert(name, again);
        used.insert(name, of);
    }
    let mut edges = Edges::new();
    for (name, paths) in used {
        let to = edges.entry(name.to_owned()).or_default();
        for path in paths {
            let other = defined(path, modules, &exports);
            let inside = name.is_empty() || other.starts_with(&format!("{name}::"));
            if other != name && !inside {
                to.insert(other);
            }
        }
    }
    edges
}

/// The module that defines what a path names, through re-exports.
fn defined(
    mut path: Vec<String>,
    modules: &BTreeMap<String, String>,
    exports: &BTreeMap<&str, BTreeMap<String, Vec<String>>>,
) -> String {
    // Re-exports of re-exports; a circle of them would not compile.
    for _ in 0..8 {
        let length = (0..=path.len()).rev().find(|&k| modules.contains_key(&path[..k].join("::")));
        let length = length.unwrap_or(0);
        let module = path[..length].join("::");
        let again = path.get(length).and_then(|item| exports.get(module.as_str())?.get(item));
        match again {
            Some(to) if to[..] != path[..=length] => {
                path = to.iter().chain(&path[length + 1..]).cloned().collect();
            }
            _ => return module,
        }
    }
    String::new()
}

/// All paths of a text, and whether each is re-exported.
fn paths(text: &str) -> Vec<(bool, String)> {
    let mut found = Vec::new();
    let mut rest = text;
    let mut other = String::new();
    while let Some(at) = word(rest, "use") {
        let before = &rest[..at];
        other.push_str(before);
        let Some(end) = rest[at..].find(';') else { break };
        let line = before.rsplit('\n').next().unwrap_or("").trim();
        let public = line.starts_with("pub");
        expand(&rest[at + 3..at + end], "", &mut |path| found.push((public, path)));
        rest = &rest[at + end + 1..];
    }
    other.push_str(rest);
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in other.match_indices(start) {
            if other[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':' || c == '$') {
                continue;
            }
            let inside = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
            let end = other[at..].find(|c: char| !inside(c)).unwrap_or(other.len() - at);
            found.push((false, other[at..at + end].trim_end_matches(':').to_owned()));
        }
    }
    found
}

/// Where a word stands by itself at the beginning of a statement.
fn word(text: &str, word: &str) -> Option<usize> {
    text.match_indices(word).map(|(at, _)| at).find(|&at| {
        let line = text[..at].rsplit('\n').next().unwrap_or("").trim();
        let begins = line.is_empty() || (line.starts_with("pub") && !line.contains(char::is_whitespace));
        begins && text[at + word.len()..].starts_with(char::is_whitespace)
    })
}

/// The paths of a `use` tree.
fn expand(tree: &str, prefix: &str, visit: &mut impl FnMut(String)) {
    let tree = tree.trim();
    let Some(open) = tree.find('{') else {
        let name = tree.split(" as ").next().unwrap_or(tree);
        let path: String = format!("{prefix}{name}").split_whitespace().collect();
        if !path.is_empty() {
            visit(path);
        }
        return;
    };
    let prefix = format!("{prefix}{}", &tree[..open]);
    let body = &tree[open + 1..tree.rfind('}').unwrap_or(tree.len())];
    let (mut depth, mut start) = (0, 0);
    for (at, c) in body.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                part(&body[start..at], &prefix, visit);
                start = at + 1;
            }
            _ => {}
        }
    }
    part(&body[start..], &prefix, visit);
}

fn part(tree: &str, prefix: &str, visit: &mut impl FnMut(String)) {
    if !tree.trim().is_empty() {
        expand(tree, prefix, visit);
    }
}

/// A path from the crate's root; `None` if it leads out of the crate.
fn absolute(module: &str, path: &str, known: &impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let mut at: Vec<String> = module.split("::").filter(|p| !p.is_empty()).map(String::from).collect();
    let mut parts = path.split("::").filter(|p| !p.is_empty()).peekable();
    match parts.peek().copied()? {
        "crate" => {
            at.clear();
            parts.next();
        }
        "self" => {
            parts.next();
        }
        "super" => {
            while parts.next_if_eq(&"super").is_some() {
                at.pop();
            }
        }
        child => {
            let child = if module.is_empty() { child.to_owned() } else { format!("{module}::{child}") };
            if !known(&child) {
                return None;
            }
        }
    }
    at.extend(parts.filter(|&p| p != "self" && p != "*").map(String::from));
    Some(at)
}

/// Groups of modules that reach each other, each in rising order, the groups too.
pub fn circles(edges: &Edges) -> Vec<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (from.as_str(), reached(from, edges))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (from, to) in &reach {
        if !to.contains(from) || found.iter().any(|circle| circle.iter().any(|m| m == from)) {
            continue;
        }
        let mutual = to.iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(from)));
        found.push(mutual.map(|m| (*m).to_owned()).collect());
    }
    found
}

fn reached<'a>(from: &str, edges: &'a Edges) -> BTreeSet<&'a str> {
    let mut found = BTreeSet::new();
    let mut open: Vec<&str> = edges[from].iter().map(String::as_str).collect();
    while let Some(next) = open.pop() {
        if found.insert(next)
            && let Some(more) = edges.get(next)
        {
            open.extend(more.iter().map(String::as_str));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(String, &str)> =
            files.iter().map(|(path, text)| (format!("crates/x/src/{path}"), *text)).collect();
        let files: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        found(&Tree::of(&files), &[])
    }

    #[test]
    fn two_modules_that_use_each_other_are_named() {
        let circle = ["crates/x/src: modules use each other in a circle: a, b"];
        for back in [
            "use crate::a::A;",
            "use super::a::{self, A};",
            "fn f() -> crate::a::A { todo() }",
            "use crate::{\n    a::A,\n    c::C,\n};",
            "pub(crate) use crate::a::A;",
            "use crate::A;",
        ] {
            let lib = "mod a;\nmod b;\nmod c;\npub use a::A;\n";
            let files = [("lib.rs", lib), ("a.rs", "use crate::b::B;"), ("b.rs", back), ("c.rs", "")];
            assert_eq!(findings(&files), circle, "{back}");
        }
    }

    #[test]
    fn what_is_no_circle_passes() {
        let lib = "mod a;\nmod b;\npub use a::A;\n";
        for back in [
            "",
            "// use crate::a::A;",
            "#[cfg(test)]\nmod tests {\n    use crate::a::A;\n}\n",
            "use std::a::A;",
            "use other::a;",
        ] {
            assert!(
                findings(&[("lib.rs", lib), ("a.rs", "use crate::b::B;"), ("b.rs", back)]).is_empty(),
                "{back}"
            );
        }
        // A folder's `mod.rs` re-exports what is inside, which may use it.
        let inside = [("a/mod.rs", "mod b;\npub use b::B;\npub struct A;"), ("a/b.rs", "use super::A;")];
        assert!(findings(&inside).is_empty());
    }

    #[test]
    fn longer_circles_are_named_whole() {
        let files =
            [("a.rs", "use crate::b::B;"), ("b.rs", "use crate::c::C;"), ("c.rs", "use crate::a::A;")];
        assert_eq!(findings(&files), ["crates/x/src: modules use each other in a circle: a, b, c"]);
    }

    #[test]
    fn a_standing_circle_that_is_gone_is_dropped() {
        let files = [("crates/x/src/a.rs", "use crate::b::B;"), ("crates/x/src/b.rs", "")];
        let standing: [(&str, &[&str]); 1] = [("x", &["a", "b"])];
        assert_eq!(
            found(&Tree::of(&files), &standing),
            ["crates/x/src: a, b are no circle: drop it in xtask/src/circles.rs"]
        );
    }
}
