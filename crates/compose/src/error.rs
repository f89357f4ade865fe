//! What does not fit together.

use netloom_formats::FormatError;
use netloom_model::HostId;

/// Why a scenario makes no run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ComposeError {
    /// A file of the scenario is not what it should be.
    #[error("{0}")]
    Format(FormatError),
    /// A host holds ranks of two jobs.
    #[error("host {host:?}: expected jobs that do not overlap, found \"{first}\" and \"{second}\"")]
    Overlap {
        /// The host.
        host: HostId,
        /// One job.
        first: String,
        /// The other.
        second: String,
    },
}
