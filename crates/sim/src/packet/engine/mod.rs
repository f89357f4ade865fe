//! What happens in a network: the event loop, and a file for every kind of step. All of it is [`Network`](crate::packet::network::Network)'s.
//!
//! `switches`: packets arrive at switches, outputs try to send. `adapters`: messages become packets and back. `attract`: packets that
//! may yet take another output. `limits`: congestion control. `respond`: packets are answered. `exchange`: other partitions. `notify`: observers. `foresight`: reads ahead. `deadlock`: who waits for whom. `speeds`: from slow links into fast ones. `stalled`: who waits for ever while others go on.
//! `state`: what is kept of a run. `visits`: what of it changes, to find where it repeats.

mod adapters;
mod attract;
mod deadlock;
mod exchange;
mod foresight;
mod limits;
mod notify;
mod respond;
mod snoop;
mod speeds;
mod stalled;
mod state;
mod switches;
mod visits;

pub(super) use deadlock::deadlock;
pub(super) use stalled::stalled;
pub use state::Keeping;
