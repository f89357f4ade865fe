//! Scenarios, what their runs show, runs that go on, and paths sampled in packets.

pub mod opensm;
pub mod sampled;
pub mod scenario;
pub mod simulate;
pub mod states;
