//! Dragonflies: tables of minimal ways with their lanes, and what packets that take detours must know.
//!
//! | module | idea |
//! |---|---|
//! | [`dla`](mod@dla) | minimal routes, on two lanes where no cables are missing |
//! | `circles` | what waits for itself in the end |
//! | `lanes` | a lane for every turn, so that nothing waits in a circle |
//! | `reroute` | other ways for some destinations, where lanes run out |
//! | `spread` | which of several ways a destination takes |
//! | `waits` | a graph of waits that stays free of circles |
//! | [`steering`] | what switches know for detours |

pub mod dla;
pub mod steering;

mod circles;
mod lanes;
mod reroute;
mod spread;
mod waits;

pub use dla::dla;
pub use steering::Steering;
