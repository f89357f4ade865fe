//! Capacity planning: which fat tree for how many hosts, at what price, and how much the site's applications lose on it.
//!
//! Nothing is simulated here. Switches and cables are counted, prices come from a catalogue, and a slowdown is what the
//! busiest switch of every level must carry over what its cables carry, at best (no routing does better).
//! Source: Chen, Denzel, Luijten, "Optimization of Link Bandwidth for Parallel Communication Performance", sums over levels;
//! the busiest switch beside them is ours. See docs/methods/planning.md.
//!
//! | module | idea |
//! |---|---|
//! | [`design`] | one tree of two or three levels, its spec and its counts |
//! | [`bundles`] | how many spines and cores: equal bundles of cables |
//! | [`search`] | all designs for so many hosts and such switches |
//! | [`catalogue`] | prices and power of switches and cables |
//! | [`order`] | hosts in block, fragmented and random order |
//! | [`crossing`] | what leaves groups of hosts: the busiest group and the mean |
//! | [`application`] | an application's demand on every design, and its slowdown |
//! | [`continuous`] | the best division of a price among the levels, in fractions of cables |
//! | [`bound`] | the least slowdown for a price, over all sizes of leaf and pod |
//! | [`front`] | price against slowdown |
//! | [`plan`](mod@plan) | the whole question, and its answer |
//! | [`transmission`] | how long an adapter with a window takes for a message |
//! | [`error`] | what cannot be planned |

pub mod application;
pub mod bound;
pub mod bundles;
pub mod catalogue;
pub mod continuous;
pub mod crossing;
pub mod design;
pub mod error;
pub mod front;
pub mod order;
pub mod plan;
pub mod search;
pub mod transmission;

pub use application::{Application, Demand, Slowdown};
pub use bound::{Bound, Bounds};
pub use catalogue::{Cable, Catalogue, Prices, Rate, Run, Switch};
pub use continuous::{Mix, Optimum, UnitPrices};
pub use crossing::{Crossing, Sizes};
pub use design::{Counts, Design, DesignError};
pub use error::PlanError;
pub use order::Order;
pub use plan::{Answer, Goal, Planned, Request, plan};
pub use transmission::Sent;
