//! What hosts keep, behind [`Hosts`]: its fields are private, so that nobody but this folder changes a host's state.

mod births;
mod hosts;
mod messages;
mod numbers;
mod responses;
mod turns;
mod visits;

pub(crate) use births::Births;
pub(crate) use hosts::{Hosts, Next};
pub(crate) use messages::{Delayed, Incoming, Outgoing};
pub(crate) use responses::{Responses, Ticket};
