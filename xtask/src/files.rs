//! Source files are short, say at their head what they are about, and name nothing outside the repository; lines of
//! pages are short enough to be read and compared.

use crate::links::prose;
use crate::tree::Tree;

/// A file longer than this asks to be split by idea.
const MAX_LINES: usize = 600;
/// Here doc comments are what `help()` prints, as long as users need them: they are not counted.
const HELP: &str = "crates/python/src/";
/// Files that may be longer, each with the reason.
const LONG: [(&str, &str); 0] = [];

/// A line of a Markdown page is no longer, in characters, outside fenced code.
const MAX_WIDTH: usize = 200;

/// Source files above [`MAX_LINES`], and exceptions that nobody needs any more.
pub fn check_sizes(tree: &Tree) -> Vec<String> {
    sizes(tree, &LONG)
}

fn sizes(tree: &Tree, exceptions: &[(&str, &str)]) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs").chain(tree.ending(".py")) {
        let help = |line: &str| file.path.starts_with(HELP) && line.trim_start().starts_with("///");
        let lines = file.text.lines().filter(|line| !help(line)).count();
        let excepted = exceptions.iter().any(|(path, _)| *path == file.path);
        if lines > MAX_LINES && !excepted {
            findings.push(format!("{}: {lines} lines, more than {MAX_LINES}: split it by idea", file.path));
        }
        if lines <= MAX_LINES && excepted {
            findings.push(format!("{}: {lines} lines: drop its exception in xtask/src/files.rs", file.path));
        }
    }
    findings
}

/// Rust files that don't begin with `//!`, Python modules that don't begin with a docstring.
pub fn check_heads(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        if !file.text.starts_with("//!") {
            findings.push(format!("{}:1: expected a head, //! idea, invariants, source", file.path));
        }
    }
    for file in tree.ending(".py") {
        let head = file.text.trim_start();
        if !(head.is_empty() || head.starts_with("\"\"\"") || head.starts_with("#!")) {
            findings
                .push(format!("{}:1: expected a docstring that says what the module is about", file.path));
        }
    }
    findings
}

/// Lines of Markdown pages above [`MAX_WIDTH`] characters, but in fenced code: that is what commands print.
pub fn check_widths(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".md") {
        for (number, line) in prose(&file.text) {
            let width = line.chars().count();
            if width > MAX_WIDTH {
                let path = &file.path;
                findings.push(format!(
                    "{path}:{number}: {width} characters, more than {MAX_WIDTH}: break the line"
                ));
            }
        }
    }
    findings
}

/// A clone stands alone: no file names a path outside the repository.
pub fn check_alone(tree: &Tree) -> Vec<String> {
    // Written in pieces, so that this file passes its own check.
    let outside = [concat!("..", "/shared"), concat!("/wo", "rk/"), concat!("/tm", "p/nl")];
    let mut findings = Vec::new();
    for file in &tree.files {
        for (number, line) in file.text.lines().enumerate() {
            if let Some(path) = outside.iter().find(|path| line.contains(**path)) {
                findings.push(format!("{}:{}: names {path}, which no clone has", file.path, number + 1));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_hundred_lines_pass_and_one_more_does_not() {
        let (short, long) = ("x\n".repeat(600), "x\n".repeat(601));
        let tree = Tree::of(&[("a.rs", &short), ("b.py", &long)]);
        assert_eq!(check_sizes(&tree), ["b.py: 601 lines, more than 600: split it by idea"]);
    }

    #[test]
    fn two_hundred_characters_of_a_page_pass_and_one_more_only_in_fenced_code() {
        let (widest, wider) = ("ü".repeat(200), "ü".repeat(201));
        let text = format!("{widest}\n```\n{wider}\n```\n{wider}\n");
        let tree = Tree::of(&[("a.md", &text), ("a.py", &wider)]);
        assert_eq!(check_widths(&tree), ["a.md:5: 201 characters, more than 200: break the line"]);
    }

    #[test]
    fn what_help_prints_counts_only_outside_the_binding() {
        let text = format!("{}/// Help.\n", "x\n".repeat(600));
        let tree = Tree::of(&[("crates/python/src/a.rs", &text), ("crates/sim/src/a.rs", &text)]);
        assert_eq!(check_sizes(&tree), ["crates/sim/src/a.rs: 601 lines, more than 600: split it by idea"]);
    }

    #[test]
    fn an_exception_holds_only_while_it_is_needed() {
        let (short, long) = ("x\n", "x\n".repeat(601));
        let exceptions = [("a.rs", "why"), ("b.rs", "why")];
        let found = sizes(&Tree::of(&[("a.rs", short), ("b.rs", &long)]), &exceptions);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.rs: 1 lines"));
    }

    #[test]
    fn heads_are_asked_for() {
        let tree = Tree::of(&[
            ("a.rs", "//! Idea.\n"),
            ("b.rs", "use std;\n"),
            ("c.py", "\"\"\"Idea.\"\"\"\n"),
            ("d.py", "import os\n"),
            ("e/__init__.py", ""),
        ]);
        let found = check_heads(&tree);
        assert_eq!(found.len(), 2);
        assert!(found[0].starts_with("b.rs:1") && found[1].starts_with("d.py:1"));
    }

    #[test]
    fn paths_outside_the_repository_are_named() {
        let text = format!("# Data\nsee {}/data\n", concat!("..", "/shared"));
        let found = check_alone(&Tree::of(&[("a.md", &text), ("b.md", "shared/data\n")]));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("a.md:2:"));
    }
}
