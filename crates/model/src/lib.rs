//! The nouns of netloom: what every other crate speaks about and nothing else.
//!
//! The model knows nobody: no file format, no algorithm, no clock, no I/O.
//!
//! | module | idea |
//! |---|---|
//! | [`ids`] | dense `u32` identifiers; the destination space of forwarding tables |
//! | [`finding`] | something odd: a kind and a sentence |
//! | [`fabric`] | hosts, switches and directed links, in struct-of-arrays form |
//! | [`fabric::build`] | the only door into a [`Fabric`]: specs in, checked fabric out |
//! | [`lines`] | where lines of a text are, of one file or several |
//! | [`fabric::machines`] | machines, their adapters, the ports of these |
//! | [`names`] | natural name order, nearest known word |
//! | [`fabric::guids`] | hosts by GUID |
//! | [`routes::lft`] | forwarding tables, one byte a port where the radix allows |
//! | [`routes::pair_paths`] | which of a destination's addresses each sender uses |
//! | [`routes::lanes`] | on which virtual lane a packet travels, hop by hop |
//! | [`routes::levels`] | which service level a pair of hosts uses |
//! | [`routes`] | a routing of the fabric: tables and the choice of path |
//! | [`matrix`] | sparse matrices of bytes (CSR) |
//! | [`traffic`] | who sends how much to whom, in phases |
//! | [`hose`] | how much every host sends and receives in all |
//! | [`programs::events`] | what every rank of a recorded run called, with the members of communicators |
//! | [`programs::timeline`] | what happened when, on tracks |
//! | [`programs::trace`] | what every rank of a run sent, and who took part in its collectives |
//! | [`programs::workload`] | a recorded run as a program: what every rank does, in order |
//! | [`counters`] | what ports counted, by interval, at one moment, and what went wrong |
//! | [`programs::schedule`] | what every rank does as tasks that depend on each other |
//! | [`job`] | jobs, allocations, mappings, placements |
//! | [`bound_class`] | what a bound is a bound of |
//! | [`certificate`] | why a lower bound holds, for somebody else to check |
//! | [`control`] | cancellation and progress of long computations |
//! | [`rng`] | one random stream per `(seed, stream id)` |

pub mod bound_class;
pub mod certificate;
pub mod control;
pub mod counters;
pub mod fabric;
pub mod finding;
pub mod hose;
pub mod ids;
pub mod job;
pub mod lines;
pub mod matrix;
pub mod names;
pub mod programs;
pub mod rng;
pub mod routes;
pub mod traffic;

pub use bound_class::{BoundClass, Ways};
pub use certificate::{Certificate, Item, LinksAtMax, Reason, Side};
pub use control::{Control, Improvement, StopReason};
pub use counters::{Column, Counters, CountersError, Interval, PortError, Quality, Quantity, Reading};
pub use fabric::build::{CableSpec, End, FabricBuilder, FabricError, HostSpec, SwitchSpec};
pub use fabric::guids::HostGuids;
pub use fabric::machines::{Adapter, AdapterChoice, Machine, Machines, Selector};
pub use fabric::{Fabric, Link, Node};
pub use finding::Finding;
pub use hose::Hose;
pub use ids::{Dest, DestId, DestSpace, HostId, LinkId, NodeId, SwitchId};
pub use job::{Allocation, Cut, Job, JobSpec, Mapping, PhaseSpec, Placement, Source};
pub use lines::Lines;
pub use matrix::Csr;
pub use programs::events;
pub use programs::events::{Event, Events, RankEvents};
pub use programs::schedule::{Requirement, Schedule, Task};
pub use programs::timeline::{Span, Timeline, TrackGroup};
pub use programs::trace::{Named, Trace, Untold};
pub use programs::workload::{Action, CollectiveKind, Together, Workload};
pub use routes::lanes::LaneMap;
pub use routes::levels::{LevelGroups, Levels, SERVICE_LEVELS};
pub use routes::lft::{Lft, LftRow, NO_PORT};
pub use routes::pair_paths::{MAX_LMC, PairPaths, PairPathsError};
pub use routes::{PathChoice, PortsError, Routes, Table};
pub use traffic::{MAX_ENDPOINTS, Phase, Traffic, TrafficError};
