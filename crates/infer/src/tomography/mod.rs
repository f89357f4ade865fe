//! Network tomography: a prior guess, and the least change of it that explains the counters.
//!
//! Knows the gravity model, how pairs may differ from a guess and together with whom ([`Families`]), and three ways to what is left of
//! the counters: the most likely change, scaling by expectation maximisation, and the nearest traffic, exactly. It does not know how a
//! guess was made.

mod covariance;
mod em_scaling;
mod gravity;
mod least_change;
mod nearest;

pub use self::covariance::Families;
pub use self::em_scaling::em_scaling;
pub use self::gravity::gravity;
pub use self::least_change::{Changed, least_change};
pub use self::nearest::nearest;
