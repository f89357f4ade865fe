//! The state of a running simulation on disk, where the run goes on from another time.
//!
//! A file is a line that says whose state it is, then the state as gzip, whose sum tells damage. The line is the caller's, who alone knows
//! all that the run was given; whether a file is of this run is his to see.
//!
//! Invariant: a file holds a whole state, the last one that could be written; see [`io`](crate::io).

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use flate2::{Compression, GzBuilder};

use crate::io::replace;

/// Where a run's state is written, and when.
pub struct StateFile {
    path: PathBuf,
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
        Self { path, head, every, written: Mutex::new(written) }
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
        if let Some(folder) = self.path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        replace(&self.path, &encoder.finish()?)
    }

    /// How the last writing went; `None`: there was none.
    pub fn into_result(self) -> Option<io::Result<()>> {
        self.written.into_inner().unwrap_or_else(PoisonError::into_inner).result
    }
}
