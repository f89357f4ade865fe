//! A flow: what shares a rate limiter.

use serde::{Deserialize, Serialize};

/// A flow of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Flow {
    /// Its destination; the same for all where a host has one limiter.
    to: u32,
    level: u8,
}

impl Flow {
    /// To a destination at a service level.
    pub fn of(to: u32, level: u8) -> Self {
        Self { to, level }
    }
}
