//! What a user of the engine would notice: formulas, conservation, order, deadlock.

mod addresses;
mod common;
mod congestion;
mod conservation;
mod detours;
mod failures;
mod fluid;
mod lanes;
mod matrices;
mod measure;
mod modes;
mod motifs;
mod noise;
mod observers;
mod offered;
mod partitions;
mod programs;
mod queueing;
mod recorded;
mod responses;
mod schemes;
mod snooping;
mod stalled;
mod states;
mod theory;
mod walk;
