//! Where a path leads, part by part: what is looked at is what is used.
//!
//! Output goes into folders that others may write to, so no path is handed to the system as a whole. Every part is
//! opened relative to the one before, and no link is followed by the system. A link is read and gone on with only
//! if nobody else could have put it there: it belongs to this process's user or to root, and lies where only they
//! can exchange it. A pipe or a device is written to by the same rule. Its twin for what Python opens is
//! `python/netloom/files/ways.py`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

/// How many links may lead from one to the next.
const LINKS: usize = 40;
const FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const ANYTHING: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// What a path names: a name in an open folder, and what is there.
pub struct Place {
    pub folder: OwnedFd,
    pub name: OsString,
    there: Option<OwnedFd>,
    /// Whether it is one of this process's own descriptors (`/dev/stdout`), whose it may be.
    given: bool,
}

/// What is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Nothing,
    File,
    Folder,
    /// A pipe, a device, a socket.
    Other,
}

impl Place {
    /// Goes along a path; its last part need not be there.
    ///
    /// # Errors
    /// If a part is missing, or is a link that others made or can exchange.
    pub fn find(path: &Path) -> io::Result<Self> {
        let mut folder = start(path)?;
        let mut parts = parts_of(path);
        let mut links = 0;
        while let Some(name) = parts.pop() {
            let there = match rustix::fs::openat(&folder, &name, FOLDER, Mode::empty()) {
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    rustix::fs::openat(&folder, &name, ANYTHING, Mode::empty())?
                }
                Err(Errno::NOENT) if parts.is_empty() => {
                    return Ok(Self { folder, name, there: None, given: false });
                }
                opened => opened?,
            };
            let about = rustix::fs::fstat(&there)?;
            match FileType::from_raw_mode(about.st_mode) {
                FileType::Symlink => {
                    ours("a link", "not followed", &about, &folder)?;
                    links += 1;
                    if links > LINKS {
                        return Err(Errno::LOOP.into());
                    }
                    let text = PathBuf::from(OsString::from_vec(
                        rustix::fs::readlinkat(&there, "", Vec::new())?.into_bytes(),
                    ));
                    if let Some(there) = descriptor(&folder, &name)? {
                        if is_folder(&there)? && !parts.is_empty() {
                            folder = there;
                            continue;
                        }
                        if parts.is_empty() && !is_file(&there)? {
                            return Ok(Self { folder, name, there: Some(there), given: true });
                        }
                    }
                    if text.is_absolute() {
                        folder = start(&text)?;
                    }
                    parts.extend(parts_of(&text));
                }
                FileType::Directory if !parts.is_empty() => folder = there,
                _ if parts.is_empty() => return Ok(Self { folder, name, there: Some(there), given: false }),
                _ => return Err(Errno::NOTDIR.into()),
            }
        }
        // The path has no last part: it is `/`.
        let there = Some(rustix::fs::openat(&folder, ".", FOLDER, Mode::empty())?);
        Ok(Self { folder, name: ".".into(), there, given: false })
    }

    /// What is there.
    ///
    /// # Errors
    /// Those of looking.
    pub fn kind(&self) -> io::Result<Kind> {
        let Some(there) = &self.there else { return Ok(Kind::Nothing) };
        Ok(match FileType::from_raw_mode(rustix::fs::fstat(there)?.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            _ => Kind::Other,
        })
    }

    /// Opens a pipe or a device that was found, and nothing else that may have its name by now.
    ///
    /// # Errors
    /// If others made it or can exchange it, or it cannot be opened.
    pub fn open_other(&self) -> io::Result<File> {
        let there = self.there.as_ref().ok_or(Errno::NOENT)?;
        if !self.given {
            ours("a pipe or a device", "not written to", &rustix::fs::fstat(there)?, &self.folder)?;
        }
        let flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        let by_number = format!("/proc/self/fd/{}", there.as_raw_fd());
        Ok(File::from(rustix::fs::openat(CWD, by_number, flags, Mode::empty())?))
    }

    /// The folder that was found.
    ///
    /// # Errors
    /// If there is none.
    pub fn into_folder(self) -> io::Result<OwnedFd> {
        match (self.kind()?, self.there) {
            (Kind::Folder, Some(there)) => Ok(there),
            (Kind::Nothing, _) => Err(Errno::NOENT.into()),
            _ => Err(Errno::NOTDIR.into()),
        }
    }
}

/// Whether a user is this process's, or root.
pub fn trusted(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

fn start(path: &Path) -> io::Result<OwnedFd> {
    let from = if path.is_absolute() { "/" } else { "." };
    Ok(rustix::fs::openat(CWD, from, FOLDER, Mode::empty())?)
}

/// The last part first.
fn parts_of(path: &Path) -> Vec<OsString> {
    let parts = path.components().rev().filter(|part| !matches!(part, Component::RootDir));
    parts.map(|part| part.as_os_str().to_owned()).collect()
}

/// Refuses what another user made or could have put where it is.
fn ours(what: &str, so: &str, about: &Stat, folder: &OwnedFd) -> io::Result<()> {
    let refused = |text: String| Err(io::Error::new(io::ErrorKind::PermissionDenied, text));
    if !trusted(about.st_uid) {
        return refused(format!("is {what} that another user made (user id {}): {so}", about.st_uid));
    }
    let around = rustix::fs::fstat(folder)?;
    if others_exchange(&around) && !out_of_reach(folder)? {
        let mode = around.st_mode & 0o7777;
        return refused(format!("is {what} in a folder that others can write to (mode {mode:04o}): {so}"));
    }
    Ok(())
}

/// Whether others can put something else under a name in a folder, as far as its mode says.
fn others_exchange(folder: &Stat) -> bool {
    let mode = Mode::from_raw_mode(folder.st_mode);
    let group = mode.contains(Mode::WGRP) && folder.st_gid != 0;
    let written = (group || mode.contains(Mode::WOTH)) && !mode.contains(Mode::SVTX);
    !trusted(folder.st_uid) || written
}

/// Whether a folder, or one above it, is ours and lets nobody else in.
fn out_of_reach(folder: &OwnedFd) -> io::Result<bool> {
    let mut here = rustix::fs::openat(folder, ".", FOLDER, Mode::empty())?;
    loop {
        let about = rustix::fs::fstat(&here)?;
        if trusted(about.st_uid) && about.st_mode & 0o011 == 0 {
            return Ok(true);
        }
        let Ok(above) = rustix::fs::openat(&here, "..", FOLDER, Mode::empty()) else { return Ok(false) };
        let next = rustix::fs::fstat(&above)?;
        if (next.st_dev, next.st_ino) == (about.st_dev, about.st_ino) {
            return Ok(false);
        }
        here = above;
    }
}

/// What a link of `/proc` stands for: its text is no path where it is a descriptor (`pipe:[1]`).
fn descriptor(folder: &OwnedFd, name: &OsStr) -> io::Result<Option<OwnedFd>> {
    if rustix::fs::fstatfs(folder)?.f_type != rustix::fs::PROC_SUPER_MAGIC {
        return Ok(None);
    }
    Ok(Some(rustix::fs::openat(folder, name, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?))
}

fn is_folder(there: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(there)?.st_mode) == FileType::Directory)
}

fn is_file(there: &OwnedFd) -> io::Result<bool> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(there)?.st_mode) == FileType::RegularFile)
}
