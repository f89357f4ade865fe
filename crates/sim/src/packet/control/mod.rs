//! Congestion control of end points: outputs notice congestion, hosts hear of it and limit their flows.
//!
//! `policy`: what a control decides, a trait; `policies`: which one a run has; `qcn`, `ib_cc`, `dcqcn`: their arithmetic. `backlog`: what waits at outputs. `end_points`: flows, what they hold
//! back, what is due. `trails`: the way back of notifications. `order`: packets that overtake each other. `jitter`: draws. Nothing here knows the network; the engine's `limits` does.

mod backlog;
mod dcqcn;
mod end_points;
mod flow;
mod ib_cc;
mod jitter;
mod order;
mod policies;
mod policy;
mod qcn;
mod trails;

pub(crate) use end_points::{Due, EndPoints, Verdict};
pub(crate) use flow::Flow;
pub(crate) use order::Order;
pub(crate) use policy::Wires;
pub(crate) use trails::Notice;
