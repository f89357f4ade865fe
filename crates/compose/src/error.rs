//! What does not fit together.

use netloom_formats::FormatError;
use netloom_optimize::OptimizeError;
use netloom_routing::RoutingError;

/// Why a scenario makes no run.
#[derive(Debug, thiserror::Error)]
pub enum ComposeError {
    /// A file that can't be read.
    #[error("{}{path}: {error}", place.as_ref().map_or_else(String::new, |place| format!("{place}: ")))]
    File {
        /// The key that names it, where its reader knows.
        place: Option<FormatError>,
        /// The path as the scenario writes it.
        path: String,
        /// Why.
        error: std::io::Error,
    },
    /// A file that is not what it should be.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Jobs that find no place, or want the same hosts.
    #[error("{0}")]
    Place(FormatError),
    /// A pattern that is none; at its place in the scenario.
    #[error("{0}")]
    Pattern(FormatError),
    /// A key of the scenario that does not fit the fabric, a file or another key; at its place.
    #[error("{0}")]
    Misfit(FormatError),
    /// A word that names no routing.
    #[error("routes: {0}")]
    UnknownRouting(String),
    /// Routes that can't be made.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Traffic that can't be optimised for.
    #[error(transparent)]
    Optimize(#[from] OptimizeError),
    /// Routes that must not be run.
    #[error("{0}")]
    Unsound(String),
    /// More phases than can be optimised for.
    #[error("optimized:phases: expected at most {most} phases that differ, found more: try optimized")]
    TooManyPhases {
        /// So many.
        most: usize,
    },
    /// It was stopped before there was anything to show.
    #[error("stopped before the routes were ready")]
    Stopped,
}

impl ComposeError {
    /// The same, of a file that the key at `place` names.
    #[must_use]
    pub fn at(self, place: FormatError) -> Self {
        match self {
            Self::File { path, error, .. } => Self::File { place: Some(place), path, error },
            other => other,
        }
    }
}
