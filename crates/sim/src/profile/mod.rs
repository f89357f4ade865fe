//! The three frozen sets of parameters: hardware and software together.
//!
//! Nothing but these files decides them: no experiment has parameters of its own. A scenario may override a number by its name,
//! and then says so.

mod aries;
mod codes;
mod infiniband;

pub use aries::ARIES_GLOBAL_CABLE_PS;

use crate::config::Config;
use crate::replay::Software;

/// What hardware and software do.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Buffers, delays, arbitration.
    pub config: Config,
    /// What a call costs.
    pub software: Software,
}

impl Default for Profile {
    fn default() -> Self {
        Self::infiniband()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_profiles_can_work() {
        Profile::infiniband().config.check().unwrap();
        Profile::codes().config.check().unwrap();
        Profile::aries().config.check().unwrap();
    }
}
