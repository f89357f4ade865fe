//! The nouns of netloom: what every other crate speaks about and nothing else.
//!
//! The model knows nobody: no file format, no algorithm, no clock, no I/O.
//!
//! | module | idea |
//! |---|---|
//! | [`ids`] | dense `u32` identifiers; the destination space of forwarding tables |
//! | [`finding`] | something odd: a kind and a sentence |
//! | [`fabric`] | hosts, switches and directed links, in struct-of-arrays form |
//! | [`build`] | the only door into a [`Fabric`]: specs in, checked fabric out |
//! | [`lines`] | where lines of a text are, of one file or several |
//! | [`machines`] | machines, their adapters, the ports of these |
//! | [`names`] | natural name order, nearest known word |
//! | [`guids`] | hosts by GUID |
//! | [`lft`] | forwarding tables, one byte a port where the radix allows |
//! | [`pair_paths`] | which of a destination's addresses each sender uses |
//! | [`lanes`] | on which virtual lane a packet travels, hop by hop |
//! | [`levels`] | which service level a pair of hosts uses |
//! | [`routes`] | a routing of the fabric: tables and the choice of path |
//! | [`matrix`] | sparse matrices of bytes (CSR) |
//! | [`traffic`] | who sends how much to whom, in phases |
//! | [`hose`] | how much every host sends and receives in all |
//! | [`timeline`] | what happened when, on tracks |
//! | [`trace`] | what every rank of a run sent, and who took part in its collectives |
//! | [`workload`] | a recorded run as a program: what every rank does, in order |
//! | [`counters`] | what ports counted, by interval, at one moment, and what went wrong |
//! | [`schedule`] | what every rank does as tasks that depend on each other |
//! | [`job`] | jobs, allocations, mappings, placements |
//! | [`bound_class`] | what a bound is a bound of |
//! | [`certificate`] | why a lower bound holds, for somebody else to check |
//! | [`control`] | cancellation and progress of long computations |
//! | [`rng`] | one random stream per `(seed, stream id)` |

pub mod bound_class;
pub mod build;
pub mod certificate;
pub mod control;
pub mod counters;
pub mod fabric;
pub mod finding;
pub mod guids;
pub mod hose;
pub mod ids;
pub mod job;
pub mod lanes;
pub mod levels;
pub mod lft;
pub mod lines;
pub mod machines;
pub mod matrix;
pub mod names;
pub mod pair_paths;
pub mod rng;
pub mod routes;
pub mod schedule;
pub mod timeline;
pub mod trace;
pub mod traffic;
pub mod workload;

pub use bound_class::BoundClass;
pub use build::{CableSpec, End, FabricBuilder, FabricError, HostSpec, SwitchSpec};
pub use certificate::{Certificate, Item, LinksAtMax, Reason, Side};
pub use control::{Control, Improvement, StopReason};
pub use counters::{Column, Counters, CountersError, Interval, PortError, Quality, Quantity, Reading};
pub use fabric::{Fabric, Link, Node};
pub use finding::Finding;
pub use guids::HostGuids;
pub use hose::Hose;
pub use ids::{Dest, DestId, DestSpace, HostId, LinkId, NodeId, SwitchId};
pub use job::{Allocation, Cut, Job, JobSpec, Mapping, PhaseSpec, Placement, Source};
pub use lanes::LaneMap;
pub use levels::{LevelGroups, Levels, SERVICE_LEVELS};
pub use lft::{Lft, LftRow, NO_PORT};
pub use lines::Lines;
pub use machines::{Adapter, AdapterChoice, Machine, Machines, Selector};
pub use matrix::Csr;
pub use pair_paths::{MAX_LMC, PairPaths, PairPathsError};
pub use routes::{PathChoice, PortsError, Routes, Table};
pub use schedule::{Requirement, Schedule, Task};
pub use timeline::{Span, Timeline, TrackGroup};
pub use trace::{Trace, Untold};
pub use traffic::{MAX_ENDPOINTS, Phase, Traffic, TrafficError};
pub use workload::{Action, CollectiveKind, Together, Workload};
