//! Who may open files for writing, rename and remove in the core: two files, each with its reason.
//!
//! Folders may be shared with hostile users (SECURITY.md), so what writes goes through `crates/python/src/io.rs`, which
//! follows no links. Nothing else names a function of the file system but those that look. Python's part is
//! `tests/writers.py`, which reads the syntax tree. Tests are not looked at.

use crate::tree::Tree;

/// Files that may, in `crates/`.
const RUST: [(&str, &str); 2] =
    [("python/src/io.rs", "the one module for it"), ("python/src/io/place.rs", "opens what is written to")];
/// What names a way to the file system: a module as a whole, whatever is imported of it under whatever name.
const WAYS: [&str; 10] = [
    "rustix::fs",
    "libc::",
    "nix::",
    "tempfile",
    "OpenOptions",
    "std::os::unix::fs",
    "std::process::Command",
    "memmap",
    "std::fs as ",
    "std::fs::*",
];
/// Functions of `std::fs` that change something; as words, so that an import of one is found too.
const CHANGES: [&str; 15] = [
    "write",
    "rename",
    "copy",
    "hard_link",
    "soft_link",
    "set_permissions",
    "remove_file",
    "remove_dir",
    "remove_dir_all",
    "create_dir",
    "create_dir_all",
    "DirBuilder",
    "create",
    "create_new",
    "options",
];

/// Files that write and are not on the list, and exceptions that nobody needs any more.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").filter(|file| file.path.starts_with("crates/")) {
        let name = file.path.trim_start_matches("crates/");
        if !name.contains("/src/") {
            continue;
        }
        let found = found(&file.text);
        let excepted = RUST.iter().any(|(path, _)| *path == name);
        if excepted && found.is_empty() {
            findings
                .push(format!("{}: writes nothing: drop its exception in xtask/src/writers.rs", file.path));
        }
        if !excepted {
            findings.extend(found.iter().map(|(line, what)| {
                format!("{}:{line}: {what}: what writes or removes files goes through io.rs", file.path)
            }));
        }
    }
    findings
}

/// `(line, what)` of what is no test.
fn found(text: &str) -> Vec<(usize, &'static str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let mut found = Vec::new();
    // The names that an import in braces brings, over its lines.
    let mut in_import = false;
    for (number, line) in code.lines().enumerate() {
        let line = line.trim_start();
        if line.starts_with("//") {
            continue;
        }
        let words: Vec<&str> = line.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let names_fs = line.contains("fs::") || line.contains("File::");
        in_import |= line.contains("fs::{") || (line.starts_with("use ") && line.contains("std::{"));
        if let Some(way) = WAYS.iter().find(|way| line.contains(**way)) {
            found.push((number + 1, *way));
        } else if names_fs || in_import {
            // `fs::write(`, `File::create(`, `use std::fs::{read, write as put};`.
            let named = |word: &&&str| words.contains(*word);
            found.extend(CHANGES.iter().find(named).map(|word| (number + 1, *word)));
        }
        in_import &= !line.contains("};");
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
    }

    #[test]
    fn a_file_that_writes_by_itself_is_named_with_its_line() {
        for text in [
            "fn f() { fs::write(p, d) }\n",
            "fn f() { std::fs::remove_dir_all(p) }\n",
            "use std::fs::{read, write as put};\n",
            "use std::{fs::{rename}, io};\n",
            "use std::fs as disk;\n",
            "use rustix::fs;\n",
            "let file = File::create(path)?;\n",
            "let file = std::fs::OpenOptions::new();\n",
        ] {
            let found = findings("crates/sim/src/lib.rs", text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].starts_with("crates/sim/src/lib.rs:1: "), "{}", found[0]);
        }
    }

    #[test]
    fn reading_is_free_and_so_are_tests() {
        for text in ["fs::metadata(path)?;\n", "File::open(path)?;\n", "out.write(data)?;\n"] {
            assert!(findings("crates/sim/src/x.rs", text).is_empty(), "{text}");
        }
        assert!(findings("crates/sim/tests/x.rs", "fs::write(p, d)\n").is_empty());
        assert!(findings("crates/sim/src/x.rs", "#[cfg(test)]\nmod tests { fs::write(p, d) }\n").is_empty());
    }

    #[test]
    fn exceptions_are_needed() {
        assert_eq!(findings("crates/python/src/io.rs", "//! Nothing.\n").len(), 1);
        assert!(findings("crates/python/src/io.rs", "fs::rename(a, b)\n").is_empty());
    }
}
