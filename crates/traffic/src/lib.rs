//! Traffic: synthetic patterns, and jobs placed on the hosts of a fabric.
//!
//! | module | idea |
//! |---|---|
//! | [`pattern`](mod@pattern) | a spec such as `stencil:16x16x12,periodic` in, traffic out |
//! | `spec` | the grammar of specs |
//! | `grid` | process grids; stencils and all-to-all along an axis |
//! | `rows` | sparse matrices row by row |
//! | [`mod@phases`] | a recorded run cut into phases |
//! | [`mod@recorded`] | the traffic of a recorded run, and what is not known of it |
//! | [`mod@events`] | a record of calls as a program |
//! | [`mod@perturb`] | what uncertain traffic may turn out to be |
//! | [`mod@place`] | jobs on the hosts of a fabric |
//! | [`mod@collective`] | collectives as messages, by published algorithms |
//! | `adapters` | which adapters of its machines a job may use |
//! | `allocate` | which machines a job gets |
//! | [`mod@room`] | how many ranks a job has room for |
//! | `background` | a production machine in the middle of a working day |
//! | `mapping` | which rank goes where within an allocation |
//! | [`error`] | what can be wrong with a spec |
//! | [`resolved`] | a job with the traffic of its files |
//! | [`place_error`] | why jobs cannot be placed |

mod adapters;
mod allocate;
mod background;
pub mod collective;
pub mod error;
pub mod events;
mod grid;
mod mapping;
pub mod pattern;
pub mod perturb;
pub mod phases;
pub mod place;
pub mod place_error;
pub mod recorded;
pub mod resolved;
pub mod room;
mod rows;
mod spec;

pub use background::freed_in_order;
pub use error::PatternError;
pub use pattern::{PATTERNS, is_pattern, pattern, pattern_grid, pattern_in_groups, wants_group};
pub use perturb::{Estimate, PerturbError, perturb};
pub use phases::{TraceError, phases};
pub use place::{Placed, place};
pub use place_error::PlaceError;
pub use recorded::{MadeOf, Recorded, RecordedOptions, recorded, scheduled, with_collective_tags};
pub use resolved::ResolvedJob;
pub use room::room;
