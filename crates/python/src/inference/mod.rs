//! Traffic from counters, and the bases and equations beside it.

pub mod bases;
pub mod earlier;
pub mod equations;
pub mod infer;
