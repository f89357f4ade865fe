//! A job as placing sees it: what was asked for, with the traffic that its files hold.

use netloom_model::{JobSpec, Source, Traffic};

use crate::pattern::pattern_grid;

/// A job whose files have been read.
#[derive(Clone, Debug, PartialEq)]
pub struct ResolvedJob {
    /// What was asked for.
    pub spec: JobSpec,
    /// Rank to rank, of one copy; its phases are kept. For [`Source::Ranks`] and [`Source::Adapters`], without entries.
    pub traffic: Traffic,
    /// One host name a rank, for [`Mapping::File`](netloom_model::Mapping::File).
    pub rank_hosts: Option<Vec<String>>,
}

impl ResolvedJob {
    /// Ranks of one copy.
    pub fn ranks(&self) -> usize {
        self.traffic.endpoints() as usize
    }

    /// The process grid: the job's own, else its pattern's (of the first phase that has one).
    pub(crate) fn grid(&self) -> Vec<u32> {
        let of_source = |source: &Source| match source {
            Source::Pattern(spec) => pattern_grid(spec),
            _ => None,
        };
        let of_pattern = match &self.spec.source {
            Source::Phases(phases) => phases.iter().find_map(|phase| of_source(&phase.source)),
            source => of_source(source),
        };
        if self.spec.grid.is_empty() { of_pattern.unwrap_or_default() } else { self.spec.grid.clone() }
    }
}
