//! Whole files in, whole files out.
//!
//! The core does no I/O; this is the one place that reads and writes for it. Invariant: a path holds
//! either what it held before or the complete new content. Output goes to a temporary file in the same
//! folder, is flushed to disk, then renamed; on any error the temporary file is removed.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use flate2::{Compression, GzBuilder};
use netloom_formats::Found;
use pyo3::prelude::*;

use crate::errors;

/// Reads a whole file.
///
/// # Errors
/// `OSError` naming the file.
pub fn read(py: Python<'_>, path: &Path) -> PyResult<Vec<u8>> {
    py.detach(|| fs::read(path)).map_err(|e| errors::os(&e, path))
}

/// What is under a path: a file's content, or the names of a folder's files.
pub fn find(path: &Path) -> io::Result<Found> {
    if !path.is_dir() {
        return fs::read(path).map(Found::File);
    }
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(Found::Folder(names))
}

/// Writes a whole file or nothing. A path that ends in `.gz` is compressed (same bytes every time).
///
/// # Errors
/// `OSError` naming the file.
pub fn write(py: Python<'_>, path: &Path, data: &[u8]) -> PyResult<()> {
    py.detach(|| {
        if path.extension().is_some_and(|e| e == "gz") && !data.starts_with(&[0x1f, 0x8b]) {
            replace(path, &gzip(data)?)
        } else {
            replace(path, data)
        }
    })
    .map_err(|e| errors::os(&e, path))
}

fn gzip(data: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::default());
    encoder.write_all(data)?;
    encoder.finish()
}

/// Writes a whole file or nothing, as it is.
pub fn replace(path: &Path, data: &[u8]) -> io::Result<()> {
    // Devices and pipes (/dev/stdout, /dev/full) are written in place: there is nothing to rename.
    if let Ok(meta) = fs::metadata(path) {
        if meta.is_dir() {
            return Err(io::Error::from_raw_os_error(21)); // EISDIR
        }
        if !meta.is_file() {
            return OpenOptions::new().write(true).open(path)?.write_all(data);
        }
    }
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let (temporary, file) = create_temporary(&target)?;
    let result = fill(file, data, &target).and_then(|()| fs::rename(&temporary, &target));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

/// A new file beside the target that no other thread or process uses; its name is short whatever the
/// target is called.
fn create_temporary(target: &Path) -> io::Result<(PathBuf, File)> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    loop {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = target.with_file_name(format!(".netloom-{}-{number}.tmp", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // Left behind by a process that was killed and had our number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (path, file)),
        }
    }
}

fn fill(mut file: File, data: &[u8], target: &Path) -> io::Result<()> {
    if let Ok(meta) = fs::metadata(target) {
        file.set_permissions(meta.permissions())?;
    }
    file.write_all(data)?;
    file.sync_all()
}

/// Writes a whole file to a temporary name beside `path`, then renames it.
#[pyfunction]
#[pyo3(name = "write_atomic")]
pub fn write_atomic(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    write(py, &path, data)
}
