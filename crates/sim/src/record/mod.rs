//! What a run is asked to record beside its totals, and what was recorded.

use netloom_model::Timeline;

use crate::SimError;

mod adapter;
mod intervals;
mod latency;
mod link_counters;
mod managed;
mod messages;
mod pairs;
mod queues;
mod snooped;
mod window;

pub use adapter::{AdapterCounters, Transmission};
pub(crate) use intervals::PS_PER_TICK;
pub use intervals::{IntervalRow, Intervals};
pub use latency::{Latencies, Snapshot, Summary};
pub use link_counters::{LinkCounters, Sent};
pub use managed::{FlowRow, Managed, ManagedOutput, ManagedQueue};
pub(crate) use messages::{Arrival, Messages, Stage};
pub use messages::{MOST_ARRIVALS, MessageRow, MessageRows};
pub(crate) use pairs::PairCounter;
pub use pairs::PairRow;
pub use queues::{LevelRow, QueueLevel, QueueRow, Queues};
pub(crate) use queues::{NONE as NO_QUEUE, levels as queue_levels};
pub use snooped::{Reordering, Snooped};
pub(crate) use window::{MOST_SPANS, RankWindow, Window};

/// What to record. Nothing is recorded, and nothing paid for it, unless asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Counters of all links, each so many ps.
    pub counters_every_ps: Option<u64>,
    /// Queues of switches, each so many ps.
    pub queues_every_ps: Option<u64>,
    /// Of every sample of queues, the longest so many are kept one by one (all are in the sums by level).
    pub longest_queues: usize,
    /// Every packet at every hop, from and to these times, ps.
    pub trace_ps: Option<(u64, u64)>,
    /// What hosts sent each other, in the intervals of the counters; where these have none, in all. Such a run keeps no state.
    pub pairs: bool,
    /// Jobs, by number, of which every message is written down, at most [`MOST_ARRIVALS`] in all. Such a run keeps no state.
    pub messages: Vec<usize>,
}

impl Default for Measure {
    /// Nothing.
    fn default() -> Self {
        Self {
            counters_every_ps: None,
            queues_every_ps: None,
            longest_queues: 16,
            trace_ps: None,
            pairs: false,
            messages: Vec::new(),
        }
    }
}

impl Measure {
    /// Refuses times that make no sense.
    ///
    /// # Errors
    /// [`SimError::Config`] names what is asked for, and what it must be.
    pub fn check(&self) -> Result<(), SimError> {
        for (what, every_ps) in
            [("counters_every", self.counters_every_ps), ("queues_every", self.queues_every_ps)]
        {
            // So that intervals can be counted in 32 bits.
            if every_ps.is_some_and(|ps| !(SHORTEST_PS..=LONGEST_PS).contains(&ps)) {
                return Err(SimError::Config { what, expected: "100 ns to 100 s".into() });
            }
        }
        if self.trace_ps.is_some_and(|(from_ps, to_ps)| from_ps >= to_ps) {
            return Err(SimError::Config { what: "trace", expected: "an end after its start".into() });
        }
        Ok(())
    }
}

/// Most rows of counters and queues that a run records: 1 GB.
pub(crate) const MOST_ROWS: usize = 1 << 24;

/// Refuses more rows than [`MOST_ROWS`]. A part of a network has no more than the whole, so it does not matter how many parts there are.
///
/// # Errors
/// [`SimError::Config`] says what would help.
pub(crate) fn check_rows(rows: usize) -> Result<(), SimError> {
    if rows <= MOST_ROWS {
        return Ok(());
    }
    let expected = format!("samples further apart: over {MOST_ROWS} rows of counters and queues");
    Err(SimError::Config { what: "counters_every, queues_every", expected })
}

/// Shortest and longest time between samples, ps.
const SHORTEST_PS: u64 = 100_000;
const LONGEST_PS: u64 = 100_000_000_000_000;

/// What was recorded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recorded {
    /// Latencies of every job's messages and packets.
    pub distributions: Vec<Distribution>,
    /// Counters of all links by interval.
    pub intervals: Option<Intervals>,
    /// Queues of switches over time.
    pub queues: Option<Queues>,
    /// What ranks did and the packets on links, in the window asked for.
    pub timeline: Option<Timeline>,
    /// What hosts sent each other.
    pub pairs: Option<Vec<PairRow>>,
    /// Every message of the jobs that were asked for.
    pub messages: Option<MessageRows>,
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
