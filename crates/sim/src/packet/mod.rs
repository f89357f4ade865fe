//! Packets through the network.

mod adapter;
mod attract;
mod birth;
pub(crate) mod calendar;
pub mod choice;
mod codec;
mod counters;
mod deadlock;
mod engine;
mod exchange;
mod foresight;
mod hardware;
mod heads;
mod loads;
mod mail;
mod meeting;
mod messages;
mod network;
mod observe;
mod partition;
mod pool;
mod ports;
mod program;
mod recorder;
mod state;
mod tell;
mod threads;
mod waits;

pub use codec::{StateReader, StateWriter};
pub use counters::{LinkCounters, Sent};
pub use network::Network;
pub use observe::{Arrival, Context, Departure, Flying, Hop, Nobody, Observer, Queue};
pub use program::{Desk, Post, Program, Series, Split};
pub(crate) use program::{Due, Posted};
pub use state::Keeping;
pub use threads::{End, Finished, Terms, run_network};
