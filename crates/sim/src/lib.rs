//! Packets through a fabric: what routes and traffic do in time.
//!
//! | module | what |
//! |---|---|
//! | `config` | the hardware: buffers, delays, arbitration |
//! | `profile` | the frozen sets of parameters |
//! | `fluid` | messages as flows with fair rates: quick prediction |
//! | `packet` | the engine: events, links, switches, adapters; routing schemes |
//! | `program` | what hosts do: told what happened, they ask for messages and timers |
//! | `calendar` | events in order of time |
//! | `observe` | what those who watch packets are told |
//! | `state_codec` | how the state of a run is written and read back |
//! | `replay` | programs of ranks: messages, collectives, jobs side by side |
//! | `mode` | modes of Aries, by job and size of message |
//! | `motif` | communication patterns of applications |
//! | `record` | what a run is asked to record, and what was recorded |
//! | `scheme` | the routing schemes of the switches: names, and the way to machine code |
//! | `stalled` | whether what a run waits for can still come |
//! | `repeats` | where a run repeats itself, and what it comes to after many times more |
//! | `run` | the one door to a run, of either model |

mod calendar;
mod config;
mod congestion;
mod error;
mod fluid;
mod mode;
mod motif;
mod observe;
mod packet;
mod profile;
mod program;
mod record;
mod repeats;
mod replay;
mod run;
mod scheme;
mod stalled;
mod state_codec;
mod steered;

pub use config::{Admission, Config, FLIT_BYTES, Forwarding, Injection, Release};
pub use congestion::{
    Congestion, ControlKind, Dcqcn, IbCc, Limiters, MOST_ENTRIES, MOST_MULTIPLIER, Qcn, TableEntry,
};
pub use error::SimError;
pub use fluid::Fluid;
pub use mode::{
    Aware, ByMessage, FRESH_SAMPLES, HIGH_BIAS_BYTES, LATENCY_RATIO, Mode, Modes, STALL_RATIO, Sample, Size,
    Steady, THRESHOLD_BYTES,
};
pub use motif::{
    AllToAll, Exchange, Exchanges, Ghost, GhostOrder, Halo, Incast, NasCg, NasClass, NasFt, Pairs,
    PermutationStream, PingPong, Repeat, RowsAndColumns, Slabs, Stencil, Stream, Sweep, Uniform, Wrf,
};
pub use observe::{Arrival, Context, Departure, Flying, Hop, Nobody, Observer, Queue};
pub use packet::choice;
pub use packet::choice::{Choice, Here, Outputs};
pub use packet::{End, Finished, Keeping, Network, Terms, run_network};
pub use profile::{ARIES_GLOBAL_CABLE_PS, Profile};
pub use program::{Desk, Post, Program, Series, Split};
pub use record::{
    AdapterCounters, Distribution, FlowRow, IntervalRow, Intervals, Latencies, LevelRow, LinkCounters,
    MOST_ARRIVALS, Managed, ManagedOutput, ManagedQueue, Measure, MessageRow, MessageRows, PairRow,
    QueueLevel, QueueRow, Queues, Recorded, Reordering, Sent, Snooped, Summary, Transmission,
};
pub use repeats::{Coupled, Iteration, Skipped, Visit};
pub use replay::{
    Algorithm, Algorithms, Collective, Cycle, Envelope, Job, JobTimes, Kind, Offered, Op, OpenLoop, Player,
    Replay, Script, SentBy, Sight, Software, Spent, Tasks, algorithms_of, sends,
};
pub use run::{Deadlock, JobOutcome, Model, Outcome, Setup, simulate, simulate_observed};
pub use scheme::{PerPacket, Scheme};
pub use stalled::Awaited;
pub use state_codec::{StateReader, StateWriter};
pub use steered::{SteerOptions, Steered};
