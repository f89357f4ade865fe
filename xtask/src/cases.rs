//! `xtask cases OLD NEW [DOCUMENT…]`: two builds on all cases and examples; every changed figure and message, in one
//! Markdown page on standard output.
//!
//! `tests/old_new.py` does it, by the grammar of documents that the tests have (`tests/console.py`).

use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs it; its exit code: 0 if nothing differs, 1 if something does.
pub fn run(root: &Path, words: &[&str]) -> ExitCode {
    let status = Command::new("python3").arg(root.join("tests/old_new.py")).args(words).status();
    match status {
        Ok(status) => ExitCode::from(u8::try_from(status.code().unwrap_or(1)).unwrap_or(1)),
        Err(error) => {
            eprintln!("cases: python3: {error}");
            ExitCode::from(3)
        }
    }
}
