//! How far an answer can be trusted, and in what.
//!
//! With one lane and tables by destination, hosts of the same leaf are interchangeable as senders: pairs are known only *given* a
//! hypothesis. What routes need is less: the sums over (source leaf, destination). Both errors are estimated, and the verdict is about
//! the sums.
//!
//! Both are told by doing the same again with traffic that is known: the guess changed at random, by as much as the counters say and
//! along the families that were believed; its counters, with their noise; its least change. How far that misses what is known is how far
//! the answer is believed to miss the truth. Where few atoms explain everything, only noise and other grids that explain it as well are
//! left to doubt.
//!
//! Knows leaf sums, three kinds of answers (atoms, a changed guess, flows) and what puts each in doubt, what pairs carry at least and at
//! most, and the verdict. It does not change an answer.
//!
//! Source: Taffet, dissertation, fig. 4.9 (what counters cannot tell apart); Efron and Tibshirani, *An Introduction to the Bootstrap*,
//! 1993, ch. 6 (the parametric bootstrap).

mod chance;
mod exchange;
mod extremes;
mod independent_rows;
mod leaf_sums;
mod of_atoms;
mod of_change;
mod of_flows;
mod rivals;
mod scope;
mod verdict;

pub(crate) use self::chance::hosts_identify_all;
pub use self::extremes::{Range, Told, largest, ranges};
pub(crate) use self::of_atoms::of_atoms;
pub(crate) use self::of_change::{Change, of_change};
pub(crate) use self::of_flows::of_flows;
pub use self::scope::{Scope, scope};
pub use self::verdict::{JobTrust, LeafSum, Trust, Verdict};
