//! Whole files in, whole files out.
//!
//! The core does no I/O; this is the one place that reads and writes for it. Invariants: a path holds
//! either what it held before or the complete new content. Output goes to a new temporary file in the
//! target's folder, is flushed to disk, then renamed; on any error the temporary file is removed.
//! Folders may be shared with hostile users: names are taken relative to a folder's descriptor, temporary
//! names are random and never opened if they exist, and no link of another user is followed. Its twin for
//! what Python writes is `python/netloom/files.py`.
//!
//! What is read is a regular file of a bounded size ([`netloom_formats::most_bytes`]); what a user names may
//! be a pipe too, as `<(…)` of a shell is. Its twin for what Python reads is `python/netloom/reading`.

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use flate2::{Compression, GzBuilder};
use netloom_formats::Found;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, RawMode, SeekFrom};
use rustix::io::Errno;

use crate::errors;

/// How many links may lead from one to the next.
const LINKS: usize = 40;

/// Reads a whole file, or a pipe.
///
/// # Errors
/// `OSError` naming the file.
pub fn read(py: Python<'_>, path: &Path) -> PyResult<Vec<u8>> {
    py.detach(|| whole(path, true)).map_err(|e| errors::os(&e, path))
}

/// All that a regular file holds, or with `pipes` a pipe.
fn whole(path: &Path, pipes: bool) -> io::Result<Vec<u8>> {
    // Before it is opened: opening a device may do anything.
    let seen = fs::metadata(path)?;
    readable(&seen, pipes)?;
    // A pipe waits for who writes; what was a file when it was looked at must not.
    let mut file = if seen.is_file() { open(path)? } else { File::open(path)? };
    let about = file.metadata()?;
    readable(&about, pipes && !seen.is_file())?;
    let most = netloom_formats::most_bytes();
    let size = if about.is_file() { about.len() } else { 0 };
    if size > most {
        return Err(too_large(size, most));
    }
    let sparse = netloom_formats::most_expanded(0);
    if size > sparse {
        let held = held(&file, size);
        if size > netloom_formats::most_expanded(held) {
            return Err(io::Error::other(format!(
                "holds {held} bytes and claims {size} (a sparse file): expected less ({})",
                netloom_formats::RAISE
            )));
        }
        io::Seek::rewind(&mut file)?;
    }
    let mut data = Vec::new();
    data.try_reserve_exact(size as usize + 1).map_err(|_| io::ErrorKind::OutOfMemory)?;
    file.take(most + 1).read_to_end(&mut data)?;
    if data.len() as u64 > most { Err(too_large(data.len() as u64, most)) } else { Ok(data) }
}

/// Opens what should be a regular file; for another that is there by now it does not wait.
///
/// # Errors
/// If it cannot be opened.
pub fn open(path: &Path) -> io::Result<File> {
    Ok(File::from(rustix::fs::open(
        path,
        OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC,
        Mode::empty(),
    )?))
}

fn readable(about: &fs::Metadata, pipes: bool) -> io::Result<()> {
    if about.is_file() || (pipes && about.file_type().is_fifo()) {
        return Ok(());
    }
    if about.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    Err(io::Error::other("is no regular file: expected one"))
}

fn too_large(size: u64, most: u64) -> io::Error {
    let raise = netloom_formats::RAISE;
    io::Error::other(format!("has {size} bytes or more: expected at most {most} ({raise})"))
}

/// How many bytes of a file are there, not holes; counted until they are enough for its size.
fn held(file: &File, size: u64) -> u64 {
    let (mut at, mut held) = (0, 0);
    while let Ok(start) = rustix::fs::seek(file, SeekFrom::Data(at)) {
        let Ok(end) = rustix::fs::seek(file, SeekFrom::Hole(start)) else { break };
        held += end - start;
        at = end;
        if netloom_formats::most_expanded(held) >= size {
            break;
        }
    }
    held
}

/// What is under a path: a file's content, or the names of a folder's files.
pub fn find(path: &Path) -> io::Result<Found> {
    if !path.is_dir() {
        return whole(path, false).map(Found::File);
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

/// As [`write`], of what comes in parts: `parts` gives them to its argument.
///
/// # Errors
/// Those of the file, and of `parts`.
pub fn write_parts(path: &Path, parts: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let packed = path.extension().is_some_and(|e| e == "gz");
    put(path, |file| {
        if !packed {
            return parts(file);
        }
        let mut encoder = GzBuilder::new().mtime(0).write(file, Compression::default());
        parts(&mut encoder)?;
        encoder.finish().map(drop)
    })
}

/// Writes a whole file or nothing, as it is. Links of this user and of root are followed.
pub fn replace(path: &Path, data: &[u8]) -> io::Result<()> {
    put(path, |file| file.write_all(data))
}

/// Puts what `fill` writes under a path.
fn put(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let target = behind_links(path)?;
    // Devices and pipes (/dev/stdout, /dev/full) are written in place: there is nothing to rename.
    if let Ok(meta) = fs::metadata(path) {
        if meta.is_dir() {
            return Err(Errno::ISDIR.into());
        }
        if !meta.is_file() {
            let mut device = OpenOptions::new().write(true).open(path)?;
            if device.metadata()?.is_file() {
                return Err(io::Error::other("became another file while it was opened"));
            }
            return fill(&mut device);
        }
    }
    let name = target.file_name().ok_or(Errno::ISDIR)?;
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
    Folder::open(parent.unwrap_or(Path::new(".")))?.put(name, fill)
}

/// What a path names once its last part is no link; a link that another user made is refused.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..LINKS {
        let found = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let link = match rustix::fs::openat(CWD, &path, found, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(path),
            opened => opened?,
        };
        let about = rustix::fs::fstat(&link)?;
        if FileType::from_raw_mode(about.st_mode) != FileType::Symlink {
            return Ok(path);
        }
        if !trusted(about.st_uid) {
            return Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("is a link that another user made (user id {}): not followed", about.st_uid),
            ));
        }
        let text = rustix::fs::readlinkat(&link, "", Vec::new())?.into_bytes();
        path.pop();
        path.push(OsString::from_vec(text));
    }
    Err(Errno::LOOP.into())
}

/// Whether a user is this process's, or root.
fn trusted(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

/// Bytes that are handed to the disk at a time.
const AT_A_TIME: usize = 64 << 20;

/// A file that goes to the disk while it is written. A process that waits for gigabytes at the end cannot be ended
/// until all are there.
struct Steady<'a> {
    file: &'a File,
    unsynced: usize,
}

impl Write for Steady<'_> {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        let written = self.file.write(&data[..data.len().min(AT_A_TIME)])?;
        self.unsynced += written;
        if self.unsynced >= AT_A_TIME {
            self.file.sync_data()?;
            self.unsynced = 0;
        }
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// An open folder: what is in it is named relative to it, and no link in it is followed.
pub struct Folder(OwnedFd);

impl Folder {
    /// Opens a folder that the user named.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::openat(CWD, path, flags, Mode::empty())?))
    }

    /// A folder in this one, made if need be; a link to one is refused.
    pub fn folder(&self, name: &OsStr) -> io::Result<Self> {
        match rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(0o777)) {
            Err(error) if error != Errno::EXIST => return Err(error.into()),
            _ => {}
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(Self(rustix::fs::openat(&self.0, name, flags, Mode::empty())?))
    }

    /// Puts a whole file under a name in this folder, in place of what is there (a link, not its target).
    pub fn replace(&self, name: &OsStr, data: &[u8]) -> io::Result<()> {
        self.put(name, |file| file.write_all(data))
    }

    /// The same of what `fill` writes.
    fn put(&self, name: &OsStr, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let (temporary, file) = self.create_temporary()?;
        let result = self
            .fill(file, fill, name)
            .and_then(|()| Ok(rustix::fs::renameat(&self.0, &temporary, &self.0, name)?));
        if result.is_err() {
            let _ = rustix::fs::unlinkat(&self.0, &temporary, AtFlags::empty());
        }
        result
    }

    /// A new file that no other thread or process uses; its name is short whatever the target is called,
    /// and the end of a process by force (`cli/shared/guard.py`) knows it by its start.
    fn create_temporary(&self) -> io::Result<(String, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut random = [0_u8; 8];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
            let name = format!(".netloom-{}-{:016x}.tmp", std::process::id(), u64::from_ne_bytes(random));
            match rustix::fs::openat(&self.0, &name, flags, Mode::from_raw_mode(0o666)) {
                Err(Errno::EXIST) => {}
                opened => return Ok((name, File::from(opened?))),
            }
        }
    }

    /// A file of ours keeps its mode; another user's does not say who may read or write what we put there.
    fn fill(
        &self,
        file: File,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        name: &OsStr,
    ) -> io::Result<()> {
        if let Ok(before) = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            let mode: RawMode = before.st_mode;
            if FileType::from_raw_mode(mode) == FileType::RegularFile && trusted(before.st_uid) {
                rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
            }
        }
        let mut steady = Steady { file: &file, unsynced: 0 };
        fill(&mut steady)?;
        file.sync_all()
    }
}

/// Allows every input to hold so many bytes, unpacked too; 0: as usual.
#[pyfunction]
pub fn allow_input(bytes: u64) {
    netloom_formats::allow(bytes);
}

/// The most that an input may hold, or that one of `size` bytes may expand to.
#[pyfunction]
#[pyo3(signature = (size = None))]
pub fn most_input(size: Option<u64>) -> u64 {
    size.map_or_else(netloom_formats::most_bytes, netloom_formats::most_expanded)
}

/// What gzip packed (all members), or the data itself if it is not gzip.
///
/// # Errors
/// `FormatError` if it is cut short or damaged, or expands beyond its bound.
#[pyfunction]
pub fn gunzip<'py>(py: Python<'py>, data: Bound<'py, PyBytes>, label: &str) -> PyResult<Bound<'py, PyBytes>> {
    let packed = data.as_bytes();
    match py.detach(|| netloom_formats::decompress(packed, label)) {
        Ok(Cow::Borrowed(_)) => Ok(data),
        Ok(Cow::Owned(plain)) => Ok(PyBytes::new(py, &plain)),
        Err(e) => Err(errors::format(py, &e)),
    }
}

/// Writes a whole file to a temporary name beside `path`, then renames it.
#[pyfunction]
#[pyo3(name = "write_atomic")]
pub fn write_atomic(py: Python<'_>, path: PathBuf, data: &[u8]) -> PyResult<()> {
    write(py, &path, data)
}
