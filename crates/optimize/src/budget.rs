//! When the search ends, and the record of how it went.

use netloom_model::Control;

/// Two loads closer than this, relatively, are equal.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// The best routing known after some work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// Path searches done.
    pub work: u64,
    /// Largest load of a link between switches, in bytes at the reference bandwidth.
    pub max_load: f64,
    /// How many links between switches carried it.
    pub links_at_max: usize,
}

/// When to end the search.
pub(crate) struct Budget<'a> {
    /// Stops from outside; takes progress reports.
    pub control: &'a Control,
    /// Path searches at most.
    pub limit: u64,
}

impl Budget<'_> {
    /// Whether to end after `work` path searches.
    #[inline]
    pub fn over(&self, work: u64) -> bool {
        work >= self.limit || self.control.stopped().is_some()
    }
}
