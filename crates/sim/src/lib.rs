//! Packets through a fabric: what routes and traffic do in time.
//!
//! | module | what |
//! |---|---|
//! | `config` | the hardware: buffers, delays, arbitration; two frozen profiles |
//! | `packet` | the engine: events, links, switches, adapters; routing schemes; counters |
//! | `replay` | programs of ranks: messages, collectives, jobs side by side |
//! | `motif` | communication patterns of applications |

mod config;
mod error;
mod motif;
mod packet;
mod replay;

pub use config::{Admission, Config, Forwarding, Injection, Release};
pub use error::SimError;
pub use motif::{Pairs, Repeat, RowsAndColumns, Stencil, Stream, Uniform};
pub use packet::{
    Adaptive, ByTable, Choice, Desk, Here, Hop, LinkCounters, Network, Nobody, Observer, Outputs, Post,
    Program, Sent,
};
pub use replay::{
    Algorithm, Collective, Envelope, Job, JobTimes, Kind, Latency, Op, Player, Script, Software,
};
