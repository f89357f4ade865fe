//! Capacity planning: which switches and cables for how many hosts, at what price, and how much the site's applications lose on it.
//!
//! Nothing is simulated here. Switches and cables are counted, prices come from a catalogue, and a slowdown follows from
//! what the busiest switch of every level must carry over what its cables carry: a bound, which no routing beats, and an
//! estimate.
//! Source: Chen, Denzel, Luijten, "Optimization of Link Bandwidth for Parallel Communication Performance", sums over levels;
//! the busiest switch beside them is ours. See docs/methods/planning.md.
//!
//! | module | idea |
//! |---|---|
//! | [`design`] | one tree of two or three levels, its spec and its counts |
//! | [`bundles`] | how many spines and cores, by bundles of cables |
//! | [`search`] | all designs for so many hosts and such switches |
//! | [`catalogue`] | prices and power of switches and cables |
//! | [`order`] | hosts in block, fragmented and random order |
//! | [`crossing`] | what leaves groups of hosts: the busiest group and the mean |
//! | [`share`] | for how much of its run time an application's busiest host sends |
//! | [`application`] | an application's demand on every design, and how much longer its bytes take |
//! | [`continuous`] | the best division of a price among the levels, in fractions of cables |
//! | [`limit`] | the least estimate for a price, over all sizes of leaf and pod |
//! | [`front`] | price against slowdown |
//! | [`plan`](mod@plan) | the whole question, and its answer |
//! | [`transmission`] | how long an adapter with a window takes for a message |
//! | [`error`] | what cannot be planned |

pub mod application;
pub mod bundles;
pub mod catalogue;
pub mod continuous;
pub mod crossing;
pub mod design;
pub mod error;
pub mod front;
pub mod limit;
pub mod order;
pub mod plan;
pub mod search;
pub mod share;
pub mod transmission;

pub use application::{Application, Demand, Stretch};
pub use bundles::Bundles;
pub use catalogue::{Cable, Catalogue, Offer, Prices, Rate, Run, Switch};
pub use continuous::{Mix, Optimum, UnitPrices};
pub use crossing::{Crossing, Sizes};
pub use design::{Counts, Design, DesignError};
pub use error::PlanError;
pub use limit::{Limit, Limits};
pub use order::Order;
pub use plan::{Answer, Goal, Planned, Request, plan};
pub use share::{Share, Slowdown};
pub use transmission::Sent;
