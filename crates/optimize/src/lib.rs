//! Better routes for known traffic: AFAR, and the optimiser proper.
//!
//! The variables are forwarding-table entries. Only *admissible* entries (minimal up*/down*, crate
//! `routing`) are ever chosen, so every table that leaves this crate is loop-free and deadlock-free;
//! entries towards switches are mended where they are not (`tables::management`). The
//! objective is lexicographic: the largest load of a link between switches, then how many links carry it, then the same of
//! the next lower load, and so on to a stated depth.
//!
//! | module | idea |
//! |---|---|
//! | [`mod@afar`] | greedy repair of the hottest link (Smith et al., SC18, Algorithm 1) |
//! | [`mod@coloured`] | the traffic coloured once, without search (IBM Research Zurich's offline routing) |
//! | [`mod@optimize`] | the door: traffic in, complete tables out, with the bound they are measured against |
//! | [`mod@layers`] | the door for several matrices at once: phases, scenarios |
//! | [`mod@hose`] | the door for traffic of which only the sums by host are known |
//! | [`mod@worst`] | the worst that such traffic can do to given routes |
//! | [`mod@lmc`] | the door for several addresses a host, with a path by pair |
//! | `solve` | what the doors share: from items to tables |
//! | [`options`] | how to search, and how far from today's tables |
//! | `search` | the search: first routings, rounds, levels, new starts; its outcome |
//! | `search::state` | items, one path each, on links as dense slots; loads, weights, the objective, today's tables |
//! | `search::moves` | soft-max sweeps and ejection chains |
//! | `tables` | complete forwarding tables from paths; today's made fit to start from |
//! | [`exact`] | the problem as mixed-integer programs, for solvers to judge the search by |

pub mod afar;
pub mod coloured;
pub mod exact;
pub mod hose;
pub mod layers;
pub mod lmc;
pub mod optimize;
pub mod options;
mod search;
mod solve;
mod tables;
pub mod worst;

pub use afar::{AfarOptions, AfarResult, afar};
pub use coloured::coloured;
pub use hose::{HoseProof, OptimizedHose, optimize_hose};
pub use layers::{Combine, Combined, Layer, LayerResult, OptimizedLayers, optimize_layers};
pub use lmc::optimize_lmc;
pub use optimize::{Optimized, optimize};
pub use options::{Change, OptimizeOptions};
pub use search::outcome::{Because, Outcome, Status, Stop};
pub use tables::repair::{repaired, revived};
pub use worst::hose_loads;

/// Why routes could not be optimised.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OptimizeError {
    /// The traffic's size is not the fabric's.
    #[error("the traffic has {endpoints} endpoints, the fabric {hosts} hosts")]
    Size {
        /// Endpoints of the traffic.
        endpoints: usize,
        /// Hosts of the fabric.
        hosts: usize,
    },
    /// The tables belong to another fabric, by their shape.
    #[error(
        "the routes have {found} rows or destinations where the fabric has {expected}: they belong to another fabric"
    )]
    Shape {
        /// What the fabric needs.
        expected: usize,
        /// What the tables have.
        found: usize,
    },
    /// Tables that choose the way up by the source cannot be changed by destination.
    #[error("these routes choose the way up by the source; only destination-based tables can be optimised")]
    NotByDestination,
    /// Traffic between hosts that no admissible path joins.
    #[error("no up/down path leads from \"{from}\" to \"{to}\", which exchange traffic")]
    Unreachable {
        /// The sending host.
        from: String,
        /// The receiving host.
        to: String,
    },
    /// The tables to start from lose traffic or loop.
    #[error("the routes to start from do not deliver the traffic from switch \"{from}\" to \"{to}\"")]
    BadStart {
        /// Where the walk began.
        from: String,
        /// The receiving host.
        to: String,
    },
    /// Nothing to optimise for.
    #[error("expected at least one matrix, found none")]
    NoLayers,
    /// Routes that lose traffic.
    #[error(transparent)]
    Routing(#[from] netloom_routing::RoutingError),
    /// An exact model that is too large to build.
    #[error("this model would have {columns} columns, more than {most}: it is for small fabrics")]
    TooLarge {
        /// Columns that it needs, at least.
        columns: u64,
        /// Most that are built.
        most: u64,
    },
    /// The lower bound could not be computed.
    #[error("{0}")]
    Bound(String),
    /// The control stopped it.
    #[error("stopped before there were any routes")]
    Stopped,
}
