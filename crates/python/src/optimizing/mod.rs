//! Routes for a traffic, for what hosts may send, for several matrices; exact models; a simulation as the judge.

pub mod exact;
pub mod hose;
pub mod judged;
pub mod layers;
pub mod mix;
pub mod on_lanes;
pub mod optimize;
pub mod optimized;
