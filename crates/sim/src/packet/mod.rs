//! Packets through the network.

mod adapter;
mod birth;
pub(crate) mod calendar;
mod choice;
mod counters;
mod deadlock;
mod engine;
mod heads;
mod loads;
mod mail;
mod meeting;
mod observe;
mod partition;
mod pool;
mod ports;
mod program;
mod recorder;
mod threads;
mod waits;

pub(crate) use choice::AnyChoice;
pub use choice::{Adaptive, AdaptiveRemote, ByTable, Choice, Here, Outputs, RandomPerPacket};
pub use counters::{LinkCounters, Sent};
pub use engine::Network;
pub use observe::{Context, Departure, Flying, Hop, Nobody, Observer};
pub use program::{Desk, Post, Program, Split};
pub use threads::{End, Finished, Terms, run_network};
