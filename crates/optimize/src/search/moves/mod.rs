//! What the search does to paths.
//!
//! | module | idea |
//! |---|---|
//! | `sweep` | soft-max sweeps |
//! | `ejection` | ejection chains |
//! | `exchange` | few items of a link against few of another |
//! | `repack` | all items of one side of a switch anew into its links |
//! | `siblings` | links side by side |

pub(crate) mod ejection;
mod exchange;
mod repack;
pub(crate) mod siblings;
pub(crate) mod sweep;
