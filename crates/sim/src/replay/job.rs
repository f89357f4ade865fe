//! Jobs: what is run where, and when its ranks ended.

use netloom_model::HostId;

use super::script::Script;
use crate::mode::Modes;

/// A job: ranks on hosts, and what they do.
pub struct Job {
    /// Name, for results.
    pub name: String,
    /// Host of every rank.
    pub hosts: Vec<HostId>,
    /// What the ranks do.
    pub script: Box<dyn Script>,
    /// It starts over until that job has ended, and is not waited for.
    pub until: Option<usize>,
    /// When it starts, ps.
    pub start_ps: u64,
    /// Service level of its messages, 0 to 15.
    pub service_level: u8,
    /// Modes of its messages, for schemes that have modes.
    pub modes: Modes,
}

impl Job {
    /// A job that starts at once and runs once.
    pub fn new(name: impl Into<String>, hosts: Vec<HostId>, script: impl Script + 'static) -> Self {
        Self {
            name: name.into(),
            hosts,
            script: Box::new(script),
            until: None,
            start_ps: 0,
            service_level: 0,
            modes: Modes::default(),
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Job")
            .field("name", &self.name)
            .field("ranks", &self.hosts.len())
            .finish_non_exhaustive()
    }
}

/// When a job's ranks ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobTimes {
    /// When the job began, ps of simulated time.
    pub start_ps: u64,
    /// Each rank's end, ps of simulated time; `None`: it did not end.
    pub ranks_ps: Vec<Option<u64>>,
    /// Times the job started over, least of all ranks.
    pub rounds: u32,
    /// It starts over until another job ends.
    pub starts_over: bool,
}

impl JobTimes {
    /// When the last rank ended, ps of simulated time. `None` too for a job that starts over: when it ends is another's time, and how many
    /// rounds that took is not the same in other runs.
    pub fn end_ps(&self) -> Option<u64> {
        if self.starts_over {
            return None;
        }
        self.ranks_ps.iter().copied().max_by_key(|t| t.unwrap_or(u64::MAX)).flatten()
    }

    /// How long the job took, ps: from its start until its last rank ended. What is compared between runs is this, as a job that starts late
    /// is not slow.
    pub fn took_ps(&self) -> Option<u64> {
        self.end_ps().map(|end_ps| end_ps.saturating_sub(self.start_ps))
    }
}
