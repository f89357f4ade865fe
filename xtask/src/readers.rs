//! Who may open files for reading and unpack: few modules, each with its reason.
//!
//! Files may claim or unpack to any size (SECURITY.md), so what reads goes through `python/netloom/reading/`,
//! `python/netloom/files` or `crates/python/src/io.rs`, which look at sizes first. Tests are not looked at.

use crate::tree::Tree;

/// Python modules that may, in `python/netloom/`.
const PYTHON: [(&str, &str); 14] = [
    ("reading/plain.py", "the one package for it"),
    ("reading/arrays.py", "the one package for it"),
    ("reading/parquet.py", "the one package for it"),
    ("files/folder.py", "by a folder's descriptor; sizes as in the one package"),
    ("interop.py", "SciPy's reader, of bytes that were looked at; it writes zip archives"),
    ("dataplane/namespaces.py", "namespaces of /proc, which have no content"),
    ("dataplane/programs.py", "/proc/self"),
    ("dataplane/journal.py", "the boot's number, /proc/sys"),
    ("live/manager.py", "/proc of OpenSM, and the new end of its log"),
    ("live/processes.py", "/proc of processes that may be OpenSM"),
    ("live/process.py", "the end of a log of its own"),
    ("live/opensm.py", "the log of an OpenSM of its own"),
    ("recording/unreported.py", "headers of a program that was run, counted"),
    ("shown/html.py", "files of the package"),
];
/// Rust files that may, in `crates/`.
const RUST: [(&str, &str); 3] = [
    ("python/src/io.rs", "the one module for files"),
    ("formats/src/gzip.rs", "the one module for gzip"),
    ("python/src/recorded.rs", "the beginning of what gzip packed, 64 KiB"),
];

/// Calls that read a whole file or unpack, in Python.
const PYTHON_CALLS: [&str; 18] = [
    ".read_bytes(",
    ".read_text(",
    "\"rb\"",
    "gzip.open(",
    "gzip.decompress(",
    "zlib.decompress",
    "bz2.",
    "lzma.",
    "zipfile.ZipFile(",
    "tarfile.",
    "np.load(",
    "np.fromfile(",
    "np.memmap(",
    "load_npz(",
    "read_table(",
    "read_schema(",
    "ParquetFile(",
    "mmap.mmap(",
];
/// Calls that do, in Rust.
const RUST_CALLS: [&str; 6] = [
    "fs::read(",
    "fs::read_to_string(",
    "File::open(",
    "GzDecoder::new(",
    "ZlibDecoder::new(",
    "DeflateDecoder::new(",
];

/// Modules that read and are not on the list, and exceptions that nobody needs any more.
pub fn check(tree: &Tree) -> Vec<String> {
    let mut findings = Vec::new();
    for file in tree.ending(".py").filter(|file| file.path.starts_with("python/netloom/")) {
        let name = file.path.trim_start_matches("python/netloom/");
        let lines = file.text.lines().map(|line| line.split(" # ").next().unwrap_or(line));
        let found = calls(lines, &PYTHON_CALLS);
        one(&mut findings, &file.path, PYTHON.iter().any(|(path, _)| *path == name), found);
    }
    for file in tree.ending(".rs").filter(|file| file.path.starts_with("crates/")) {
        let name = file.path.trim_start_matches("crates/");
        if name.contains("/src/") && !name.starts_with("testkit/") {
            let code = file.text.split("#[cfg(test)]").next().unwrap_or(&file.text);
            let lines = code.lines().map(|line| line.split("//").next().unwrap_or(line));
            let found = calls(lines, &RUST_CALLS);
            one(&mut findings, &file.path, RUST.iter().any(|(path, _)| *path == name), found);
        }
    }
    findings
}

fn one(findings: &mut Vec<String>, path: &str, excepted: bool, found: Vec<(usize, &str)>) {
    if excepted && found.is_empty() {
        findings.push(format!("{path}: reads nothing: drop its exception in xtask/src/readers.rs"));
    }
    if !excepted {
        findings.extend(found.iter().map(|(line, call)| {
            format!("{path}:{line}: {call}: what reads or unpacks goes through netloom.reading or io.rs")
        }));
    }
}

/// `(line, call)`.
fn calls<'a>(lines: impl Iterator<Item = &'a str>, known: &[&'static str]) -> Vec<(usize, &'static str)> {
    let of = |line: &str| known.iter().find(|call| line.contains(**call)).copied();
    lines.enumerate().filter_map(|(number, line)| of(line).map(|call| (number + 1, call))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        check(&Tree::of(&[(path, text)]))
    }

    #[test]
    fn a_module_that_reads_by_itself_is_named_with_its_line() {
        for text in ["\nopen(path, \"rb\").read()\n", "\ngzip.decompress(data)\n", "\npath.read_bytes()\n"] {
            let found = findings("python/netloom/loop/journal.py", text);
            assert_eq!(found.len(), 1, "{text}");
            assert!(found[0].starts_with("python/netloom/loop/journal.py:2: "), "{}", found[0]);
        }
        assert_eq!(findings("crates/sim/src/lib.rs", "fn f() { fs::read(p) }\n").len(), 1);
    }

    #[test]
    fn what_goes_through_the_package_is_free_and_so_are_tests() {
        for text in ["reading.whole(path)\n", "folder.read(name)\n", "parquet.table(data, label)\n"] {
            assert!(findings("python/netloom/x.py", text).is_empty(), "{text}");
        }
        assert!(findings("tests/test_x.py", "path.read_bytes()\n").is_empty());
        assert!(findings("crates/sim/src/x.rs", "#[cfg(test)]\nmod tests { fs::read(p) }\n").is_empty());
    }

    #[test]
    fn exceptions_are_needed() {
        assert_eq!(findings("python/netloom/files/folder.py", "\"\"\"Nothing.\"\"\"\n").len(), 1);
        assert!(findings("python/netloom/files/folder.py", "os.fdopen(file, \"rb\")\n").is_empty());
    }
}
