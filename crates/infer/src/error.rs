//! Why there is no answer.

use netloom_routing::RoutingError;

/// What stops an inference.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum InferError {
    /// The tables lead a pair nowhere.
    #[error(transparent)]
    Routing(#[from] RoutingError),
    /// Two nouns don't belong together.
    #[error("{0}")]
    Mismatch(String),
}
