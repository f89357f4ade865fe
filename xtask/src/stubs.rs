//! Everything that crates/python gives to Python stands in the hand-written stubs.
//!
//! A quick look at the text, which needs no build; `mypy.stubtest` compares the built extension in full.

use crate::tree::Tree;

const BINDING: &str = "crates/python/src/";
const STUB: &str = "python/netloom/_core.pyi";

/// Exported classes and functions that the stub lacks.
pub fn check(tree: &Tree) -> Vec<String> {
    let exported: Vec<(String, usize, Export)> = tree
        .ending(".rs")
        .filter(|f| f.path.starts_with(BINDING))
        .flat_map(|f| exports(&f.text).into_iter().map(|(line, e)| (f.path.clone(), line, e)))
        .collect();
    if exported.is_empty() {
        return Vec::new();
    }
    let Some(stub) = tree.get(STUB) else {
        return vec![format!("{STUB}: missing, and crates/python exports {} names", exported.len())];
    };
    let mut findings = Vec::new();
    for (path, line, export) in exported {
        let (keyword, name) = match &export {
            Export::Class(name) => ("class", name),
            Export::Function(name) => ("def", name),
        };
        if !declares(&stub.text, keyword, name) {
            findings.push(format!("{path}:{line}: {STUB} has no `{keyword} {name}`"));
        }
    }
    findings
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Export {
    Class(String),
    Function(String),
}

/// `#[pyclass]` and `#[pyfunction]` items with their lines; `name = "…"` in an attribute wins.
fn exports(text: &str) -> Vec<(usize, Export)> {
    let mut found = Vec::new();
    let (mut class, mut function, mut name) = (false, false, None);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("#[") {
            class |= line.starts_with("#[pyclass");
            function |= line.starts_with("#[pyfunction");
            if let Some((_, rest)) = line.split_once("name = \"").filter(|_| line.starts_with("#[py")) {
                name = rest.split('"').next().map(str::to_owned);
            }
            continue;
        }
        if (class || function) && !line.starts_with("//") {
            if let Some(item) = item_name(line) {
                let name = name.take().unwrap_or(item);
                found.push((number + 1, if class { Export::Class(name) } else { Export::Function(name) }));
            } else if !line.ends_with(")]") {
                // Still inside an attribute that spans lines.
                if let Some((_, rest)) = line.split_once("name = \"") {
                    name = rest.split('"').next().map(str::to_owned);
                }
                continue;
            } else {
                continue;
            }
        } else if line.starts_with("//") {
            continue;
        }
        (class, function, name) = (false, false, None);
    }
    found
}

/// The name that a `struct`, `enum` or `fn` line declares.
fn item_name(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    words.find(|w| matches!(*w, "struct" | "enum" | "fn"))?;
    let name: String = words.next()?.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    (!name.is_empty()).then_some(name)
}

fn declares(stub: &str, keyword: &str, name: &str) -> bool {
    stub.lines().any(|line| {
        line.strip_prefix(keyword)
            .and_then(|rest| rest.strip_prefix(' '))
            .and_then(|rest| rest.strip_prefix(name))
            .is_some_and(|rest| rest.starts_with(['(', ':', '[']))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUST: &str = "//! Head.\n\
        /// A noun.\n#[pyclass(frozen, name = \"Fabric\")]\npub struct PyFabric {\n    name: u8,\n}\n\
        /// A verb.\n#[pyfunction]\n#[pyo3(signature = (fabric, *, threads = 0))]\nfn route(fabric: u8) {}\n\
        fn helper() {}\n\
        /// Long.\n#[pyfunction]\n#[pyo3(signature = (\n    a,\n    b = \"x\",\n))]\npub fn long(a: u8) {}\n";

    #[test]
    fn exported_names_are_found() {
        let names: Vec<Export> = exports(RUST).into_iter().map(|(_, e)| e).collect();
        let function = |n: &str| Export::Function(n.into());
        assert_eq!(names, [Export::Class("Fabric".into()), function("route"), function("long")]);
    }

    #[test]
    fn a_stale_stub_is_named() {
        let stub = "class Fabric:\n    def route(self) -> int: ...\ndef long(a: int) -> None: ...\n";
        let tree = Tree::of(&[("crates/python/src/lib.rs", RUST), (STUB, stub)]);
        // `route` is declared only as a method, which is not the function.
        assert_eq!(
            check(&tree),
            ["crates/python/src/lib.rs:10: python/netloom/_core.pyi has no `def route`"]
        );
    }

    #[test]
    fn a_missing_stub_is_named() {
        assert_eq!(check(&Tree::of(&[("crates/python/src/lib.rs", RUST)])).len(), 1);
        assert!(check(&Tree::of(&[("crates/python/src/lib.rs", "//! Nothing.\n")])).is_empty());
    }
}
