//! How the files that a scenario names are read: by whoever calls, since no file is opened here.

use std::io;

use crate::ComposeError;

/// Reads a file of a role (`trace`, `mapping`, `routes`), by its path as the scenario writes it.
pub type Reader<'r> = dyn FnMut(&'static str, &str) -> io::Result<Vec<u8>> + 'r;

/// Reads a file through a [`Reader`].
///
/// # Errors
/// [`ComposeError::File`].
pub fn file(read: &mut Reader, role: &'static str, path: &str) -> Result<Vec<u8>, ComposeError> {
    read(role, path).map_err(|error| ComposeError::File { place: None, path: path.to_owned(), error })
}
