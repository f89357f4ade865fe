//! Packets through a fabric: what routes and traffic do in time.
//!
//! | module | what |
//! |---|---|
//! | `config` | the hardware: buffers, delays, arbitration; two frozen profiles |
//! | `packet` | the engine: events, links, switches, adapters; routing schemes; counters |

mod config;
mod error;
mod packet;

pub use config::{Admission, Config, Forwarding, Injection, Release};
pub use error::SimError;
pub use packet::{
    Adaptive, ByTable, Choice, Desk, Here, Hop, LinkCounters, Network, Nobody, Observer, Outputs, Post,
    Program, Sent,
};
