//! Dragonflies: tables of minimal ways with their lanes, and what packets that take detours must know.
//!
//! | module | idea |
//! |---|---|
//! | [`dla`](mod@dla) | minimal routes, on two lanes where no cables are missing |
//! | `lanes` | a lane for every turn, so that nothing waits in a circle |
//! | `reroute` | other ways for some destinations, where lanes run out |
//! | `spread` | which of several ways a destination takes |
//! | [`steering`] | what switches know for detours |

pub mod dla;
pub mod steering;

mod lanes;
mod reroute;
mod spread;

pub use dla::dla;
pub use steering::Steering;
