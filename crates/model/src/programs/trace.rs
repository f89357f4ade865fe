//! A run of a parallel program as traffic needs it: what every rank sends, and the collectives that all take part in.
//!
//! Invariants: of its actions, only those that send and collectives are kept. A collective on which the ranks do not agree is of
//! communicators that the trace does not name; from the first of them on all collectives are in [`Trace::untold`] instead.

use crate::programs::workload::{CollectiveKind, Workload};

/// Collectives of one kind of which nobody can tell who took part in them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Untold {
    /// What.
    pub kind: CollectiveKind,
    /// Calls, of all ranks.
    pub calls: u64,
    /// Bytes that these calls hand over: a rank's contribution; of an all-to-all what it has for all.
    pub bytes: u64,
}

/// What every rank of a run sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// Sends, and collectives of all ranks.
    pub workload: Workload,
    /// Collectives that are not among them, by kind.
    pub untold: Vec<Untold>,
    /// What says that ranks have communicators which the trace does not name, with its line where it is of one.
    pub signs: Vec<String>,
    /// What became of collectives of communicators, of a source that names them.
    pub named: Option<Named>,
}

/// What became of a record that names communicators.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Named {
    /// Collectives of some ranks that became messages.
    pub collectives: u64,
    /// Bytes of these messages.
    pub bytes: u64,
    /// Bytes of those that were left out.
    pub left_out: u64,
    /// What the record has and the program has not: what, and how many calls.
    pub lacks: Vec<(String, u64)>,
}

impl Trace {
    /// A run in which all agree.
    pub fn of(workload: Workload) -> Self {
        Self { workload, untold: Vec::new(), signs: Vec::new(), named: None }
    }

    /// Number of ranks.
    pub fn ranks(&self) -> u32 {
        self.workload.ranks()
    }
}
