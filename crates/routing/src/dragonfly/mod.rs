//! Dragonflies: tables of minimal ways with their lanes, and what packets that take detours must know.
//!
//! | module | idea |
//! |---|---|
//! | [`dla`](mod@dla) | minimal routes, on two lanes where no cables are missing |
//! | `circles` | what waits for itself in the end |
//! | `lanes` | a lane for every turn, so that nothing waits in a circle |
//! | `spread` | which of several ways a destination takes |
//! | [`steering`] | what switches know for detours |

pub mod dla;
pub mod steering;

mod circles;
mod lanes;
mod spread;

pub use dla::dla;
pub use steering::Steering;
