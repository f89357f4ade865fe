//! The state of a running simulation on disk, where the run goes on from another time.
//!
//! A file is a line that says whose state it is, then the state as gzip, whose sum tells damage. The line is the caller's, who alone knows
//! all that the run was given; whether a file is of this run is his to see.
//!
//! Invariants: a file holds a whole state, the last one that could be written; the checkpoint's folder is opened
//! once, and no link in it is followed. See [`io`](crate::io).

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flate2::{Compression, GzBuilder};

use crate::io::Folder;

/// Where a run's state is written, and when.
pub struct StateFile {
    /// `CHECKPOINT/ROUTING/FILE`.
    path: PathBuf,
    /// The checkpoint's folder, open from the start; what opening it said is told by each writing.
    checkpoint: Result<Folder, String>,
    head: Vec<u8>,
    /// From the end of one writing to the next.
    every: Option<Duration>,
    written: Mutex<Written>,
}

/// What has been written.
struct Written {
    /// When the last writing ended.
    at: Instant,
    /// Whether it went well; `None`: nothing was written.
    result: Option<io::Result<()>>,
}

impl StateFile {
    /// Written each so many seconds, unless that is 0.
    pub fn new(path: PathBuf, head: Vec<u8>, seconds: f64) -> Self {
        let every = (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(1e9)));
        let written = Written { at: Instant::now(), result: None };
        let root = path.parent().and_then(Path::parent).unwrap_or(Path::new("."));
        let checkpoint = Folder::open(root).map_err(|error| error.to_string());
        Self { path, checkpoint, head, every, written: Mutex::new(written) }
    }

    /// Whether it is time to write it again.
    pub fn due(&self) -> bool {
        let written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        self.every.is_some_and(|every| written.at.elapsed() >= every)
    }

    /// Writes it.
    pub fn write(&self, state: &[u8]) {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        let result = self.try_write(state);
        *written = Written { at: Instant::now(), result: Some(result) };
    }

    fn try_write(&self, state: &[u8]) -> io::Result<()> {
        let mut encoder = GzBuilder::new().mtime(0).write(self.head.clone(), Compression::fast());
        io::Write::write_all(&mut encoder, state)?;
        let state = encoder.finish()?;
        let checkpoint = self.checkpoint.as_ref().map_err(|error| io::Error::other(error.clone()))?;
        let routing = self.path.parent().and_then(Path::file_name).ok_or(io::ErrorKind::InvalidInput)?;
        let name = self.path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        checkpoint.folder(routing)?.replace(name, &state)
    }

    /// How the last writing went; `None`: there was none.
    pub fn into_result(self) -> Option<io::Result<()>> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner).result
    }
}
