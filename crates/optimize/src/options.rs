//! How to search, and how far from today's tables.

use netloom_model::{Certificate, Routes};

/// How to search.
#[derive(Clone, Debug)]
pub struct OptimizeOptions<'a> {
    /// Seed of all random choices.
    pub seed: u64,
    /// Threads for what runs in parallel; 0 takes the caller's pool. Never changes the result.
    pub threads: usize,
    /// Path searches to spend at most, about a microsecond each; `None` lets the traffic's size decide, and
    /// whether changes are counted. The result depends on it reproducibly.
    pub work: Option<u64>,
    /// A lower bound that is already known, with its certificate; `None` has it computed.
    pub bound: Option<Certificate>,
    /// Load levels below the maximum whose number of links is minimised too; 0 stops at the maximum
    /// and the number of links that carry it.
    pub depth: usize,
    /// Improve that tail also where the routes to begin with meet the bound already. Else nothing changes there: fewer bytes
    /// on a link that is not the hottest may cost a run what the order of messages gained (see `docs/methods/optimizer.md`).
    pub tail: bool,
    /// Searches side by side, at least 1; `work` is that of all together. More use as many threads; the result
    /// depends on this number, not on the threads.
    pub islands: usize,
    /// Keep to today's tables; `None` takes the best tables wherever they are.
    pub change: Option<Change<'a>>,
}

impl Default for OptimizeOptions<'_> {
    fn default() -> Self {
        Self { seed: 0, threads: 0, work: None, bound: None, depth: 3, tail: false, islands: 1, change: None }
    }
}

/// Routes in force, and how they may change.
#[derive(Clone, Copy, Debug)]
pub struct Change<'a> {
    /// Today's routes: where the search starts, and what unused entries keep. Entries that are not
    /// admissible are replaced in any case (and count as changed).
    pub from: &'a Routes,
    /// Bytes of the maximum that one changed entry must be worth; 0 for free changes.
    pub penalty: f64,
    /// Entries in use that may change, at most.
    pub most: Option<u64>,
    /// By host: its entries stay as they are. Empty for none.
    pub frozen: &'a [bool],
}
