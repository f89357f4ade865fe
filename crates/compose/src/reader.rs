//! How the files that a scenario names are read: by whoever calls, since no file is opened here.

use std::io;

use netloom_formats::Found;

use crate::ComposeError;

/// Reads what is under a path of a role (`trace`, `mapping`, `routes`), as the scenario writes it.
pub type Reader<'r> = dyn FnMut(&'static str, &str) -> io::Result<Found> + 'r;

/// Reads a file through a [`Reader`].
///
/// # Errors
/// [`ComposeError::File`].
pub fn file(read: &mut Reader, role: &'static str, path: &str) -> Result<Vec<u8>, ComposeError> {
    let error = match read(role, path) {
        Ok(Found::File(bytes)) => return Ok(bytes),
        Ok(Found::Folder(_)) => io::ErrorKind::IsADirectory.into(),
        Err(error) => error,
    };
    Err(ComposeError::File { place: None, path: path.to_owned(), error })
}
