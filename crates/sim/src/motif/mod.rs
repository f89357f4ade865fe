//! Communication patterns of applications as scripts; a file a family.

mod everybody;
mod exchange;
mod ghost;
mod halo;
mod nas;
mod slabs;
mod stencil;
mod streams;
mod sweep;
mod synchronise;
mod uniform;

pub use everybody::{AllToAll, Incast, PermutationStream};
pub use exchange::{Exchange, Exchanges};
pub use ghost::{Ghost, GhostOrder};
pub use halo::Halo;
pub use nas::{NasCg, NasClass, NasFt, Wrf};
pub use slabs::Slabs;
pub use stencil::Stencil;
pub use streams::{Pairs, PingPong, Stream};
pub use sweep::Sweep;
pub use synchronise::{Repeat, RowsAndColumns};
pub use uniform::Uniform;
