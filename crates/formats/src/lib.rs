//! Every parser and writer of netloom: text in, a valid noun or an error with its line out.
//!
//! Readers take bytes (plain or gzip) and a label for messages; nothing here opens a path. What comes
//! out is checked, so algorithms never re-check.
//!
//! | module | idea |
//! |---|---|
//! | [`error`] | [`FormatError`] `file:line: expected ..., found ...`; [`WriteError`] |
//! | [`gzip`] | plain or gzip, bounded |

pub mod error;
pub mod gzip;

pub use error::{FormatError, WriteError};
pub use gzip::decompress;
