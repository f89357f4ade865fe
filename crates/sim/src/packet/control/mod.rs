//! Congestion control of end points: outputs notice congestion, hosts hear of it and limit their flows.
//!
//! `policy`: what a control decides, a trait; `qcn`: its arithmetic. `backlog`: what waits at outputs. `end_points`: flows, what they hold
//! back, what is due. `jitter`: draws. Nothing here knows the network; the engine's `limits` does.

mod backlog;
mod end_points;
mod jitter;
mod policy;
mod qcn;

pub(crate) use end_points::{Due, EndPoints, Flow, Verdict};
