//! Lower bounds on the maximum link load, each with a certificate that others can check.
//!
//! | module | idea |
//! |---|---|
//! | [`ar`] | the adaptive-routing bound: best fractional splits, exact on regular trees, else an interval |
//! | [`interval`] | what is returned: an interval with its proof |
//! | [`lower`] | the best bound for destination-based routes |
//! | [`at_max`] | how many links must carry the maximum |
//! | [`schemes`] | what random minimal ways, random detours and the best split of any ways carry |
//! | [`scope`] | whether routes and fabric are within a bound's class; a bound of any routes |
//! | [`standing`] | all bounds of a traffic, and what they say of given routes |
//! | `cuts` | what must leave a leaf, a pod, over its links |
//! | `flow` | the min-max linear program by optimistic multiplicative weights |
//! | `places` | where whole items squeeze through few links: leaves, pods, parts of damaged leaves |
//! | `bins` | links to be filled |
//! | `packing` | whole items into few links: pigeonhole, dual-feasible functions |
//! | `sums` | what whole items can add up to: subset sums |
//! | `patterns` | what sets of items one link can hold: weights made to measure, by linear programming |
//! | `knapsack` | the worthiest set of items that fits |
//! | `demand` | traffic summed over hosts: items and pairs of leaves |

pub mod ar;
pub mod at_max;
mod bins;
mod cuts;
mod demand;
mod flow;
pub mod interval;
mod knapsack;
pub mod lower;
mod packing;
mod patterns;
mod places;
pub mod schemes;
pub mod scope;
pub mod standing;
mod sums;

#[cfg(test)]
mod cases;

pub use ar::{ar_bound, ar_interval};
pub use at_max::links_at_max;
pub use flow::DEFAULT_WORK;
pub use interval::{ArBound, BoundError};
pub use lower::{lower_bound, lower_bound_with_frozen, tighten, tighten_pairs};
pub use schemes::{Minimal, Scheme, scheme_loads};
pub use scope::{AnyBound, Outside, any_bound, fabric_outside, has_other_shortest, ways_outside};
pub use standing::{Bounds, Standing, gap_percent};
