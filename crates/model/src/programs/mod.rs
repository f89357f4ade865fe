//! What ranks do: what was recorded of them, as programs and as tasks, and when what happened.

pub mod events;
pub mod schedule;
pub mod timeline;
pub mod trace;
pub mod workload;
