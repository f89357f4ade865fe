//! What is read off a network between events: totals of its links, and samples. Nothing here changes what happens.

mod recorder;
mod totals;

pub(crate) use recorder::Recorder;
pub(crate) use totals::link_counters;
