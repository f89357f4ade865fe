//! Whole files in, whole files out.
//!
//! The core does no I/O; this is the one place that reads and writes for it. Invariants: a path holds
//! either what it held before or the complete new content. Output goes to a new temporary file in the
//! target's folder, is flushed to disk, then renamed; on any error the temporary file is removed.
//! Folders may be shared with hostile users: names are taken relative to a folder's descriptor, temporary
//! names are random and never opened if they exist, and no link of another user is followed ([`place`]).
//! Its twin for what Python writes is `python/netloom/files`.
//!
//! What is read is a regular file of a bounded size ([`netloom_formats::most_bytes`]); what a user names may
//! be a pipe too, as `<(…)` of a shell is. Its twin for what Python reads is `python/netloom/reading`.

mod place;

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use flate2::{Compression, GzBuilder};
use netloom_formats::Found;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RawMode, SeekFrom};
use rustix::io::Errno;

use self::place::{Kind, Place, trusted};
use crate::arguments;
use crate::errors;

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

/// Puts what `fill` writes under a path. Pipes and devices (/dev/stdout, /dev/full) are written in place: there is
/// nothing to rename.
fn put(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let place = Place::find(path)?;
    match place.kind()? {
        Kind::Folder => Err(Errno::ISDIR.into()),
        Kind::Other => fill(&mut place.open_other()?),
        Kind::Nothing | Kind::File => Folder(place.folder).put(&place.name, fill),
    }
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
        Ok(Self(Place::find(path)?.into_folder()?))
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
        let (temporary, file) = Temporary::create(&self.0)?;
        self.fill(&file, fill, name)?;
        temporary.becomes(name)
    }

    /// A file of ours keeps its mode as far as the umask lets it; another user's does not say who may read or write
    /// what we put there.
    fn fill(
        &self,
        file: &File,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
        name: &OsStr,
    ) -> io::Result<()> {
        if let Ok(before) = rustix::fs::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            let mode: RawMode = before.st_mode;
            if FileType::from_raw_mode(mode) == FileType::RegularFile && trusted(before.st_uid) {
                let new = rustix::fs::fstat(file)?.st_mode & 0o666;
                let umask_lets = new | (new & 0o444) >> 2;
                rustix::fs::fchmod(file, Mode::from_raw_mode(mode & umask_lets))?;
            }
        }
        let mut steady = Steady { file, unsynced: 0 };
        fill(&mut steady)?;
        file.sync_all()
    }
}

/// A file under a name of its own; it goes with this value, by its folder's descriptor and its inode.
struct Temporary(Arc<Written>);

/// Where it is, and which file.
struct Written {
    folder: OwnedFd,
    name: String,
    device: u64,
    inode: u64,
}

/// Those that are being written.
static TEMPORARIES: Mutex<Vec<Arc<Written>>> = Mutex::new(Vec::new());

impl Temporary {
    /// A new file that no other thread or process uses; its name is short whatever the target is called.
    fn create(folder: &OwnedFd) -> io::Result<(Self, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        loop {
            let mut random = [0_u8; 8];
            rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
            let name = format!(".netloom-{}-{:016x}.tmp", std::process::id(), u64::from_ne_bytes(random));
            match rustix::fs::openat(folder, &name, flags, Mode::from_raw_mode(0o666)) {
                Err(Errno::EXIST) => {}
                opened => {
                    let file = File::from(opened?);
                    let about = rustix::fs::fstat(&file)?;
                    let (device, inode) = (about.st_dev, about.st_ino);
                    let written = Arc::new(Written { folder: folder.try_clone()?, name, device, inode });
                    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::clone(&written));
                    return Ok((Self(written), file));
                }
            }
        }
    }

    /// Gives it its name. Somebody else's file that has taken its place meanwhile is no product of ours.
    fn becomes(self, name: &OsStr) -> io::Result<()> {
        let Written { folder, name: temporary, .. } = &*self.0;
        if !self.0.is_at(temporary.as_ref()) {
            let text = "another user moved it away while it was written: expected a folder of yours";
            return Err(io::Error::other(text));
        }
        Ok(rustix::fs::renameat(folder, temporary, folder, name)?)
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        self.0.remove();
        let mut all = TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|other| !Arc::ptr_eq(other, &self.0));
    }
}

impl Written {
    fn is_at(&self, name: &OsStr) -> bool {
        rustix::fs::statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|about| (about.st_dev, about.st_ino) == (self.device, self.inode))
    }

    fn remove(&self) {
        if self.is_at(self.name.as_ref()) {
            let _ = rustix::fs::unlinkat(&self.folder, &self.name, AtFlags::empty());
        }
    }
}

/// Removes what is half written: the process is ended by force.
#[pyfunction]
pub fn remove_temporaries() {
    for written in TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        written.remove();
    }
}

/// Allows every input to hold so many bytes, unpacked too; 0: as usual.
#[pyfunction]
pub fn allow_input(#[pyo3(from_py_with = arguments::bytes)] bytes: u64) {
    netloom_formats::allow(bytes);
}

/// The most that an input may hold, or that one of `size` bytes may expand to.
#[pyfunction]
#[pyo3(signature = (size = None))]
pub fn most_input(#[pyo3(from_py_with = arguments::size)] size: Option<u64>) -> u64 {
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
