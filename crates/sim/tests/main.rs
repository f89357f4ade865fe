//! What a user of the engine would notice: formulas, conservation, order, deadlock.

mod common;
mod conservation;
mod failures;
mod measure;
mod partitions;
mod programs;
mod theory;
