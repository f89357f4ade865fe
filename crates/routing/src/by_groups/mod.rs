//! Ways of a dragonfly by its groups.
//!
//! | module | idea |
//! |---|---|
//! | [`order`] | what is above what, so that ways round missing cables cannot wait for each other |
//! | [`search`] | the ways towards one switch |

mod order;
mod search;

pub(crate) use order::{Order, Told};
pub(crate) use search::Search;
