//! Routing by way: a tree's ways up are numbered, a host has an address for each, and senders pick.
//!
//! A forwarding table looks at the destination. With an address a way (LID mask control) it can say all that looks at the source too: s-mod-k and
//! routes coloured pair by pair. `ways` numbers them, `colouring` chooses for a known traffic.

mod colouring;
mod ways;

pub use colouring::{colour, coloured};
pub use ways::Ways;
