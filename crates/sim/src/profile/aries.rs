//! `aries`: adapters and routers of a Cray XC.
//!
//! What adapters do is from De Sensi et al., SC 2019, sec. 2: packets of 64 bytes, a header flit and four flits of payload of 16 bytes each; a
//! response of one flit for every packet; at most 1,024 packets without one. A flit takes an adapter 1.25 ns, which is a host's link of
//! 12.8 GB/s: speeds are the fabric's, so the spec says it (`speed=102.4G`). Sizes of buffers and delays are not public; ours are round.

use super::Profile;
use crate::config::{Admission, Config, Forwarding, Injection, Release};
use crate::replay::Software;

/// One way through a cable between groups of a dragonfly: 20 m.
pub const ARIES_GLOBAL_CABLE_PS: u64 = 100_000;

impl Profile {
    /// A Cray XC.
    pub fn aries() -> Self {
        Self { config: Config::aries(), software: Software::aries() }
    }
}

impl Config {
    /// Aries adapters and routers.
    pub fn aries() -> Self {
        Self {
            packet_bytes: 64,
            // A flit.
            header_bytes: 16,
            forwarding: Forwarding::CutThrough,
            // Schemes that steer take one a slot of the way, and three more for responses.
            lanes: 1,
            // Round: what a cable between groups holds there and back, nearly three times.
            input_buffer_bytes: Some(8_192),
            // Round: half of it.
            output_buffer_bytes: 4_096,
            host_output_buffer_bytes: 4_096,
            release: Release::Sent,
            head_of_line: true,
            admission: Admission::RoundRobin,
            injection: Injection::RoundRobin,
            // Round: as other routers of its time.
            switch_delay_ps: 100_000,
            // 2 m, within a group; those between groups are `ARIES_GLOBAL_CABLE_PS`.
            cable_delay_ps: 10_000,
            credit_bytes: 8,
            lane_weights: Vec::new(),
            lane_map: None,
            cable_delays_ps: None,
            switch_delays_ps: None,
            congestion: None,
            window_packets: Some(1024),
        }
    }
}

impl Software {
    /// As over InfiniBand, with the eager limit of Cray's MPI.
    pub fn aries() -> Self {
        Self {
            call_ps: 150_000,
            post_ps: 550_000,
            rendezvous_ps: 550_000,
            eager_bytes: 8_192,
            control_bytes: 64,
            copy_ps_per_byte: 100.0,
        }
    }
}
