//! The state of links and of the switches at their ends: queues, room, loads, heads of inputs.

mod heads;
mod loads;
mod ports;
mod waits;

pub(crate) use heads::{Head, Heads};
pub(crate) use ports::{Lane, Port, Ports};
