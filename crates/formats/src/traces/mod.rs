//! Binary traces of MPI programs, as [`Events`]: every call with its communicator.
//!
//! | module | format |
//! |---|---|
//! | [`dumpi`] | SST's DUMPI: a file a rank and a metafile |
//! | [`otf2`] | OTF2, of Score-P: an anchor, definitions, a file a location |
//! | [`chakra`] | MLCommons' Chakra: tasks that depend on each other, a file a rank |
//! | `foreign` | files of other kinds, told by name |
//! | `bytes` | a cursor over a file's bytes, whose errors name the byte |
//! | `communicators` | members of communicators, from the calls that made them |
//!
//! Readers get a function that opens files by name, one rank at a time, and believe nothing: every length is
//! checked against what is there before anything is reserved.
//!
//! [`Events`]: netloom_model::Events

pub(crate) mod bytes;
pub mod chakra;
mod communicators;
pub mod dumpi;
mod foreign;
pub mod otf2;

#[cfg(test)]
pub(crate) use foreign::FOREIGN;
pub(crate) use foreign::foreign;

use std::{fmt, io};

use netloom_model::Events;

use crate::FormatError;

/// What is under a name.
#[derive(Clone, Debug)]
pub enum Found {
    /// A file's content.
    File(Vec<u8>),
    /// The names of a folder's files, in any order.
    Folder(Vec<String>),
}

/// Why a run cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// A file that cannot be opened.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: String,
        /// Why.
        error: io::Error,
    },
    /// A file that is not what it should be.
    #[error(transparent)]
    Format(#[from] FormatError),
}

/// What a binary trace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// DUMPI: a metafile, or a file of one rank.
    Dumpi,
    /// OTF2: an anchor, or another file of an archive.
    Otf2,
    /// Chakra: a file of one rank.
    Chakra,
}

impl Binary {
    /// Looks at the beginning of a file, unpacked.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        if dumpi::is_rank(bytes) || dumpi::is_meta(bytes) {
            Some(Self::Dumpi)
        } else if otf2::is_anchor(bytes) || otf2::is_part(bytes) {
            Some(Self::Otf2)
        } else if chakra::is_trace(bytes) {
            Some(Self::Chakra)
        } else {
            None
        }
    }

    /// Its short name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dumpi => "dumpi",
            Self::Otf2 => "otf2",
            Self::Chakra => "chakra",
        }
    }
}

impl fmt::Display for Binary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Dumpi => "one of DUMPI",
            Self::Otf2 => "one of OTF2",
            Self::Chakra => "one of Chakra",
        })
    }
}

/// What a folder with these files is, and the file to begin with.
///
/// # Errors
/// Several traces in one folder.
pub fn of_folder(path: &str, names: &[String]) -> Result<Option<(Binary, String)>, FormatError> {
    let with = |ending: &str| names.iter().filter(|name| name.ends_with(ending)).collect::<Vec<_>>();
    for (kind, ending, what) in
        [(Binary::Otf2, ".otf2", "an OTF2 anchor"), (Binary::Dumpi, ".meta", "a DUMPI metafile")]
    {
        match with(ending)[..] {
            [] => {}
            [only] => return Ok(Some((kind, only.clone()))),
            [first, second, ..] => {
                let message =
                    format!("expected {what} in this folder, found {first} and {second}: name one of them");
                return Err(FormatError::whole(path, message));
            }
        }
    }
    let of_ranks = with(".et");
    let stem = |name: &str| {
        name.strip_suffix(".et").and_then(|stem| stem.rsplit_once('.')).map(|(stem, _)| stem.to_owned())
    };
    match of_ranks.first() {
        Some(first) if of_ranks.iter().all(|name| stem(name) == stem(first)) => {
            let has = |rank: usize| {
                let own = stem(first).map(|stem| format!("{stem}.{rank}.et"));
                own.is_none_or(|own| of_ranks.iter().any(|&name| *name == own))
            };
            match (0..of_ranks.len()).find(|&rank| !has(rank)) {
                None => Ok(Some((Binary::Chakra, (*first).clone()))),
                Some(rank) => {
                    let count = of_ranks.len();
                    let message = format!(
                        "expected ranks 0 to {} of {count} files .et, found none of rank {rank}",
                        count - 1
                    );
                    Err(FormatError::whole(path, message))
                }
            }
        }
        Some(first) => {
            let other = of_ranks.iter().find(|name| stem(name) != stem(first));
            let message = format!(
                "expected the files of one Chakra trace in this folder, found {first} and {}: name one of them",
                other.map_or("", |name| name.as_str())
            );
            Err(FormatError::whole(path, message))
        }
        None => Ok(None),
    }
}

/// Reads a trace from the file that it begins with; with the names of its files.
///
/// # Errors
/// [`RecordingError`] names the file, and the byte.
pub fn read(kind: Binary, path: &str, open: &mut Open) -> Result<(Events, Vec<String>), RecordingError> {
    let bytes = file(path, open)?;
    match kind {
        Binary::Dumpi if dumpi::is_rank(&bytes) => {
            let message =
                "expected the metafile of a DUMPI trace (.meta), or its folder, found the file of one rank";
            Err(FormatError::whole(path, message).into())
        }
        Binary::Dumpi => dumpi::read(path, &bytes, open),
        Binary::Otf2 if otf2::is_anchor(&bytes) => otf2::read(path, &bytes, open),
        Binary::Otf2 => {
            let message =
                "expected the anchor of an OTF2 archive (.otf2), or its folder, found another file of one";
            Err(FormatError::whole(path, message).into())
        }
        Binary::Chakra => chakra::read(path, open),
    }
}

/// Opens files by name.
pub type Open<'a> = dyn FnMut(&str) -> io::Result<Found> + 'a;

/// A file's bytes, unpacked.
fn file(name: &str, open: &mut Open) -> Result<Vec<u8>, RecordingError> {
    match open(name) {
        Ok(Found::File(bytes)) => Ok(crate::decompress(&bytes, name)?.into_owned()),
        Ok(Found::Folder(_)) => Err(FormatError::whole(name, "expected a file, found a folder").into()),
        Err(error) => Err(RecordingError::File { path: name.into(), error }),
    }
}
