//! Hardware and software together: the parameters of a run.

use crate::config::Config;
use crate::replay::Software;

/// All parameters of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Switches, cables and adapters.
    pub config: Config,
    /// What hosts pay for messages.
    pub software: Software,
}

impl Profile {
    /// Real hardware: the default.
    pub fn infiniband() -> Self {
        let software = Software {
            call_ps: 100_000,
            post_ps: 400_000,
            rendezvous_ps: 500_000,
            eager_bytes: 8192,
            control_bytes: 64,
            copy_ps_per_byte: 100.0,
        };
        Self { config: Config::infiniband(), software }
    }

    /// The papers' simulator.
    pub fn codes() -> Self {
        let software = Software {
            call_ps: 0,
            post_ps: 400_000,
            rendezvous_ps: 1_000_000,
            eager_bytes: u64::MAX,
            control_bytes: 16,
            copy_ps_per_byte: 0.0,
        };
        Self { config: Config::codes(), software }
    }
}
