//! Communication patterns of applications as scripts; a file a family.

mod stencil;
mod streams;
mod synchronise;

pub use stencil::Stencil;
pub use streams::{Pairs, Stream, Uniform};
pub use synchronise::{Repeat, RowsAndColumns};
