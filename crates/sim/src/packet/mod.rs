//! Packets through the network.
//!
//! | room | what it is | who may touch it |
//! |---|---|---|
//! | `pool` | packets and messages by number, and lists of them | all |
//! | `hardware` | what the hardware does, as constants where it is a profile | all |
//! | `host` | what hosts keep, with private fields | `engine`, by its methods |
//! | `parallel` | the division into partitions, mail, the barrier of threads | `engine` writes mail, `threads` waits |
//! | `switch` | queues, room and loads of links and switches | `engine`; `choice` and `watch` look |
//! | `choice` | routing schemes, a file each | `engine` asks; nobody changes it |
//! | `control` | congestion control of end points: what outputs notice, what hosts limit | `engine`, by its methods |
//! | `watch` | totals and samples | `network` and `threads` ask; it changes nothing |
//! | `network` | one network (or partition of it): all of the above together | `engine` changes it, `threads` owns it |
//! | `engine` | what happens: events, steps, news, state | `threads` calls it |
//! | `trend`, `near`, `repeating` | what repeats in a run, and moving it on | `threads`, by `repeating` |
//! | `threads` | a run, on one thread or several | the rest of the crate calls it |
//!
//! Rooms import only those above them in this table (docs/decisions/0026). The program of the hosts, the calendar of events, observers
//! and the form of states are the crate's common ground, used by the fluid model too.

pub mod choice;
mod control;
mod engine;
mod hardware;
mod host;
mod near;
mod network;
mod parallel;
mod pool;
mod repeating;
mod switch;
mod threads;
mod trend;
mod watch;

pub use engine::Keeping;
pub use network::Network;
pub use threads::{End, Finished, Terms, run_network};
