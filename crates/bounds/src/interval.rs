//! What a bound's computation returns: an interval with its proof, or why there is none.

use netloom_model::Certificate;

/// Why a bound cannot be computed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BoundError {
    /// Traffic between hosts that no admissible route joins.
    #[error("there is traffic from \"{from}\" to \"{to}\", but no up*/down* path joins them")]
    Unreachable {
        /// The sender's name.
        from: String,
        /// The receiver's name.
        to: String,
    },
    /// Routes that say nothing sensible of the frozen destinations.
    #[error("the routes do not fix the frozen destinations: {0}")]
    Frozen(String),
    /// Traffic of another size than the fabric.
    #[error("the traffic has {endpoints} endpoints, the fabric {hosts} hosts")]
    Size {
        /// Rows of the traffic.
        endpoints: usize,
        /// Hosts of the fabric.
        hosts: usize,
    },
}

/// The adaptive-routing bound as an interval, with the proof of its lower end.
#[derive(Clone, Debug, PartialEq)]
pub struct ArBound {
    /// No admissible routing, fractional or not, has a smaller maximum load (bytes at the reference bandwidth).
    pub lower: f64,
    /// Some fractional admissible routing reaches this maximum load.
    pub upper: f64,
    /// Whether both are equal but for rounding.
    pub exact: bool,
    /// The proof of `lower`, by duality.
    pub certificate: Certificate,
    /// Iterations of the interval's solver; 0 for a closed form.
    pub work: u64,
}
