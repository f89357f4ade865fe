//! Results as dictionaries: what a simulated run says of itself, as the schemas of results have it.

mod adapters;
mod outcome;
mod run;

pub(crate) use adapters::{adapter_columns, transmissions};
pub(crate) use outcome::{PyOutcome, Search, changed};
pub(crate) use run::{accepted, adapter, by_mode, congestion, deadlock, latency, load, ms, skipped, spent};
