//! What a run is asked to record beside its totals, and what was recorded.

mod latency;

pub use latency::{Latencies, Summary};

/// What to record. Nothing is recorded, and nothing paid for it, unless asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Measure {
    /// Counters of all links, each so many ps.
    pub counters_every_ps: Option<u64>,
    /// Depths of all queues, each so many ps.
    pub queues_every_ps: Option<u64>,
    /// Every packet at every hop, from and to these times, ps.
    pub trace_ps: Option<(u64, u64)>,
}

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Latencies of every job's messages and packets.
    pub distributions: Vec<Distribution>,
}

/// Latencies of something.
#[derive(Clone, Debug, PartialEq)]
pub struct Distribution {
    /// `messages` or `packets`.
    pub what: &'static str,
    /// Whose.
    pub job: String,
    /// The latencies.
    pub latencies: Latencies,
}

impl Distribution {
    pub(crate) fn of(what: &'static str, job: &str, latencies: &Latencies) -> Self {
        Self { what, job: job.into(), latencies: latencies.clone() }
    }
}
