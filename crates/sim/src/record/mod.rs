//! What a run is asked to record beside its totals, and what was recorded.

/// A distribution of times.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// How many.
    pub count: u64,
    /// Mean, ps.
    pub mean_ps: f64,
    /// Median, ps.
    pub p50_ps: u64,
    /// 99th percentile, ps.
    pub p99_ps: u64,
    /// Largest, ps.
    pub max_ps: u64,
}

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
pub struct Recorded {}
