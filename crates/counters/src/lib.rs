//! Port counters: from readings to what every link carried, how far that can be trusted, and the counters that traffic leaves.
//!
//! Readers are in crate `formats`, the nouns in `model`. Everything here is a function of one interval.
//!
//! | module | idea |
//! |---|---|
//! | [`diff`] | two readings make an interval |
//! | [`measured`] | what every link and lane carried, from both ends, with its deviation |
//! | [`noise`] | how far counters of the same bytes differ |
//! | [`balance`] | what enters a switch leaves it |
//! | [`check`](mod@check) | which counters are bad, by name |
//! | [`doubts`] | what no single counter shows: wraps of all alike, a fabric where nobody is |
//! | [`errors`] | what went wrong at ports |
//! | [`labels`] | what findings call nodes that share a name |
//! | [`summary`](mod@summary) | an interval in a few figures; several as one |
//! | [`synth`](mod@synth) | the counters that traffic would leave |
//! | [`lanes`] | on which virtual lane a pair's packets travel |
//! | `galois` | lanes from elements of a Galois field |
//! | [`scheme`] | how pairs are spread over lanes, in words |

pub mod amounts;
pub mod balance;
pub mod check;
pub mod diff;
pub mod doubts;
pub mod errors;
mod galois;
pub mod labels;
pub mod lanes;
pub mod measured;
pub mod noise;
pub mod scheme;
pub mod summary;
pub mod synth;

pub use amounts::{Amounts, Noise, Unit, is_usable};
pub use check::check;
pub use diff::{ReadingError, fallen, since_reset, span};
pub use doubts::{idle, may_have_wrapped};
pub use errors::{port_errors, told_from};
pub use labels::Labels;
pub use lanes::LaneScheme;
pub use measured::{Measured, Row, measure};
pub use scheme::{SchemeError, lane_scheme, lane_tables};
pub use summary::{Summary, added_up, busiest, summary};
pub use synth::{SynthOptions, synth};
