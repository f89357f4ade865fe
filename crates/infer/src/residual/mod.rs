//! The right side `t` of `R x = t`, and what an answer leaves of it.
//!
//! Knows what was counted by row, how far each counter can be believed, how much each row weighs in a fit, which job a row belongs to,
//! and when so much is left that counters and routes cannot belong together. It does not know where counters came from.

mod coverage;
mod findings;
mod fit;
mod own_rows;
mod target;

pub(crate) use self::coverage::Coverage;
pub use self::findings::{few_counters, foreign, only_way};
pub(crate) use self::fit::Misfit;
pub use self::fit::{Fit, Unexplained, fit};
pub use self::own_rows::{NOBODY, SHARED, own_rows};
pub use self::target::{Counted, Target};
