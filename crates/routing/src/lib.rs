//! Routes of a fabric, and the loads that traffic puts on its links.
//!
//! | module | idea |
//! |---|---|
//! | [`paths`] | admissible routes: minimal up*/down* links per (switch, destination leaf) |
//! | [`items`](mod@items) | traffic added up per (source leaf, destination) |
//! | [`loads`](mod@loads) | load per directed link; walks of packets |
//! | [`lane_loads`](mod@lane_loads) | the largest load on every lane |
//! | [`users`] | the pairs that cross a link |
//! | [`hashing`](mod@hashing) | loads where flows choose by a hash (ECMP) |
//! | [`hops`] | how far traffic travels |
//! | [`within`] | whether routes keep to admissible ways |
//! | [`engine`] | the engines by name |
//! | [`context`] | what engines are told and share |
//! | `greedy` | minhop and updn |
//! | `ftree` | OpenSM's fat-tree engine |
//! | [`dor`](mod@dor) | dimension order on a HyperX, a mesh or a torus |
//! | [`dragonfly`] | minimal routes of a dragonfly with their lanes; what its switches know for detours |
//! | [`layers`](mod@layers) | shortest ways of any graph, on as few lanes as it can |
//! | [`by_way`] | an address a way up: routes that look at the source, or are coloured pair by pair |
//! | `circles`, `waits` | what waits for itself in the end; a graph of waits that stays free of circles |
//! | `by_groups` | the search for ways of a dragonfly |
//! | `modk`, `random` | engines that choose among admissible links |
//! | [`error`] | what can go wrong |

pub mod by_way;
pub mod context;
pub mod dor;
pub mod dragonfly;
pub mod engine;
pub mod error;
pub mod hashing;
pub mod hops;
pub mod items;
pub mod lane_loads;
pub mod layers;
pub mod loads;
pub mod paths;
pub mod users;
pub mod within;

mod by_groups;
mod circles;
mod ftree;
mod greedy;
mod modk;
mod random;
mod tables;
mod updown;
mod waits;

pub use by_way::{Ways, colour, coloured};
pub use context::EngineOptions;
pub use dor::dor;
pub use dragonfly::{Steering, dla};
pub use engine::{Engine, UnknownEngine, route};
pub use error::RoutingError;
pub use hashing::hashed_loads;
pub use hops::mean_hops;
pub use items::{Accumulator, Items, items};
pub use lane_loads::lane_loads;
pub use layers::{layers, on_lanes};
pub use loads::{LinkLoads, Walker, loads, walk};
pub use paths::PathSet;
pub use users::{LinkUser, link_users};
pub use within::first_outside;
