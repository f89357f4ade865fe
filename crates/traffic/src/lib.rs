//! Traffic: synthetic patterns, and jobs placed on the hosts of a fabric.
//!
//! | module | idea |
//! |---|---|
//! | [`pattern`](mod@pattern) | a spec such as `stencil:16x16x12,periodic` in, traffic out |
//! | `spec` | the grammar of specs |
//! | `grid` | process grids; stencils and all-to-all along an axis |
//! | `rows` | sparse matrices row by row |
//! | [`error`] | what can be wrong with a spec |

pub mod error;
mod grid;
pub mod pattern;
mod rows;
mod spec;

pub use error::PatternError;
pub use pattern::{PATTERNS, is_pattern, pattern, pattern_grid};
