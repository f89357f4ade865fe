//! When the search ends.

use netloom_model::Control;

/// Two loads closer than this, relatively, are equal.
pub(crate) const TOLERANCE: f64 = 1e-9;

/// When to end the search.
#[derive(Clone, Copy)]
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
