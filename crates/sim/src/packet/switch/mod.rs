//! The state of links and of the switches at their ends: queues, room, loads, heads of inputs.

mod heads;
mod inputs;
mod lane;
mod loads;
mod ports;
mod queues;
mod room;
mod turn;
mod visits;
mod waits;

pub(crate) use heads::{Head, Heads};
pub(crate) use inputs::{Inputs, Mover, next_in_turn};
pub(crate) use lane::Lane;
pub(crate) use ports::{Port, Ports};
