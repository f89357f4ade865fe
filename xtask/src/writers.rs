//! Who may open files for writing, rename and remove: few modules, each with its reason.
//!
//! Folders may be shared with hostile users (SECURITY.md), so what writes goes through `python/netloom/files.py` or
//! `crates/python/src/io.rs`, which follow no links. Tests are not looked at.

use crate::tree::Tree;

/// Python modules that may, in `python/netloom/`.
const PYTHON: [(&str, &str); 17] = [
    ("files.py", "the one module for it"),
    ("dataplane/bed.py", "settings of network namespaces of its own (/proc/sys/net)"),
    ("cli/shared/guard.py", "removes our temporary files where a process is ended by force; imports nothing"),
    ("cli/shared/streams.py", "/dev/null in the place of closed streams"),
    ("cli/shared/jobs.py", "a temporary folder of its own"),
    ("cli/diagnose/command.py", "a temporary folder of its own"),
    ("cli/record/command.py", "a temporary folder of its own, which becomes the run's"),
    ("cli/record/recover.py", "gives that folder the run's name, or the next free one"),
    ("cli/study/chapter4.py", "a temporary folder of its own"),
    ("cli/study/sampling.py", "a temporary folder of its own"),
    ("diagnose/selftest.py", "a temporary folder of its own"),
    ("diagnose/tries.py", "a temporary folder of its own"),
    ("live/bed.py", "a temporary folder of its own"),
    ("live/ibsim.py", "a temporary folder of its own, and the console of ibsim"),
    ("live/manager.py", "the console of OpenSM"),
    ("live/opensm.py", "a temporary folder of its own"),
    ("live/process.py", "a temporary folder of its own, and what ibsim's clients leave"),
];
/// Rust files that may, in `crates/`.
const RUST: [(&str, &str); 1] = [("python/src/io.rs", "the one module for it")];

/// Calls that change a file system, in Python.
const PYTHON_CALLS: [&str; 26] = [
    "os.open(",
    "os.rename(",
    "os.renames(",
    "os.replace(",
    "os.unlink(",
    "os.remove(",
    "os.rmdir(",
    "os.removedirs(",
    "os.truncate(",
    "os.chmod(",
    "os.chown(",
    "os.link(",
    "os.symlink(",
    "os.mkdir(",
    "os.makedirs(",
    "os.mkfifo(",
    "shutil.",
    ".write_text(",
    ".write_bytes(",
    ".unlink(",
    ".rmdir(",
    ".rename(",
    ".touch(",
    ".mkdir(",
    ".symlink_to(",
    ".hardlink_to(",
];
/// Of `shutil`, what changes nothing.
const HARMLESS: [&str; 3] = ["shutil.which(", "shutil.get_terminal_size(", "shutil.disk_usage("];
/// Modes of `open` that write.
const MODES: [&str; 12] = [
    "\"w\"", "\"wb\"", "\"a\"", "\"ab\"", "\"x\"", "\"xb\"", "\"r+\"", "\"r+b\"", "\"w+\"", "\"w+b\"",
    "\"a+b\"", "\"wt\"",
];
/// Calls that change a file system, in Rust.
const RUST_CALLS: [&str; 14] = [
    "fs::write(",
    "fs::rename(",
    "fs::copy(",
    "fs::hard_link(",
    "fs::set_permissions(",
    "remove_file(",
    "remove_dir(",
    "remove_dir_all(",
    "create_dir(",
    "create_dir_all(",
    "File::create",
    "OpenOptions::",
    "renameat(",
    "unlinkat(",
];

/// Modules that write and are not on the list, and exceptions that nobody needs any more.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".py").filter(|file| file.path.starts_with("python/netloom/")) {
        let name = file.path.trim_start_matches("python/netloom/");
        one(&mut findings, &file.path, PYTHON.iter().any(|(path, _)| *path == name), python(&file.text));
    }
    for file in tree.ending(".rs").filter(|file| file.path.starts_with("crates/")) {
        let name = file.path.trim_start_matches("crates/");
        if name.contains("/src/") {
            one(&mut findings, &file.path, RUST.iter().any(|(path, _)| *path == name), rust(&file.text));
        }
    }
    findings
}

fn one(findings: &mut Vec<String>, path: &str, excepted: bool, found: Vec<(usize, &str)>) {
    if excepted && found.is_empty() {
        findings.push(format!("{path}: writes nothing: drop its exception in xtask/src/writers.rs"));
    }
    if !excepted {
        findings.extend(found.iter().map(|(line, call)| {
            format!("{path}:{line}: {call}: what writes or removes files goes through netloom.files or io.rs")
        }));
    }
}

/// `(line, call)`.
fn python(text: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let code = line.split(" # ").next().unwrap_or(line);
        let call = PYTHON_CALLS.iter().find(|call| code.contains(**call));
        let harmless = HARMLESS.iter().any(|call| code.contains(call));
        if let Some(call) = call.filter(|_| !harmless) {
            found.push((number + 1, *call));
        } else if code.contains("open(") && MODES.iter().any(|mode| code.contains(mode)) {
            found.push((number + 1, "open("));
        }
    }
    found
}

/// `(line, call)` of what is no test.
fn rust(text: &str) -> Vec<(usize, &str)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let lines = code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"));
    lines
        .filter_map(|(number, line)| {
            RUST_CALLS.iter().find(|call| line.contains(**call)).map(|call| (number + 1, *call))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
    }

    #[test]
    fn a_module_that_writes_by_itself_is_named_with_its_line() {
        for text in [
            "import os\nos.replace(a, b)\n",
            "\nopen(path, \"wb\")\n",
            "\npath.unlink()\n",
            "\nshutil.rmtree(a)\n",
        ] {
            let found = findings("python/netloom/loop/journal.py", text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].starts_with("python/netloom/loop/journal.py:2: "), "{}", found[0]);
        }
        assert_eq!(findings("crates/sim/src/lib.rs", "fn f() { fs::write(p, d) }\n").len(), 1);
    }

    #[test]
    fn reading_is_free_and_so_are_tests() {
        for text in
            ["open(path, \"rb\")\n", "shutil.which(name)\n", "text.replace(a, b)\n", "path.read_bytes()\n"]
        {
            assert!(findings("python/netloom/x.py", text).is_empty(), "{text}");
        }
        assert!(findings("tests/test_x.py", "path.unlink()\n").is_empty());
        assert!(findings("crates/sim/tests/x.rs", "fs::write(p, d)\n").is_empty());
        assert!(findings("crates/sim/src/x.rs", "#[cfg(test)]\nmod tests { fs::write(p, d) }\n").is_empty());
    }

    #[test]
    fn exceptions_are_needed() {
        assert_eq!(findings("python/netloom/files.py", "\"\"\"Nothing.\"\"\"\n").len(), 1);
        assert!(findings("python/netloom/files.py", "os.rename(a, b)\n").is_empty());
    }
}
