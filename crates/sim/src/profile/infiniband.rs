//! `infiniband`, the default: what the hardware of today's fabrics does.
//!
//! Cut-through, credits for input buffers with head-of-line blocking, small output buffers served round robin, headers, cables.
//! Numbers without a source are round ones of the usual size, and say so.

use super::Profile;
use crate::config::{Admission, Config, Forwarding, Injection, Release};
use crate::replay::Software;

impl Profile {
    /// Today's InfiniBand.
    pub fn infiniband() -> Self {
        Self { config: Config::infiniband(), software: Software::infiniband() }
    }
}

impl Config {
    /// Hardware as in today's InfiniBand fabrics.
    pub fn infiniband() -> Self {
        Self {
            // The largest MTU, which large messages use.
            packet_bytes: 4096,
            // InfiniBand Architecture 1.x: local route header 8, base transport header 12, invariant checksum 4, variant
            // checksum 2. (The first packet of an RDMA write has 16 more, which are left out.)
            header_bytes: 26,
            forwarding: Forwarding::CutThrough,
            // Fabrics use more only where routes or services need them.
            lanes: 1,
            // Round: 16 packets; 100 Gb/s over 250 ns there and back needs one.
            input_buffer_bytes: Some(65_536),
            // Round: two packets, so that the link never waits for the crossbar.
            output_buffer_bytes: 8_448,
            host_output_buffer_bytes: 8_448,
            release: Release::Sent,
            head_of_line: true,
            admission: Admission::RoundRobin,
            injection: Injection::RoundRobin,
            // Vendors' data sheets: 90 ns (EDR) to 130 ns (HDR) from port to port.
            switch_delay_ps: 100_000,
            // 5 m at 5 ns a metre.
            cable_delay_ps: 25_000,
            // A flow control packet: 8 bytes.
            credit_bytes: 8,
            lane_weights: Vec::new(),
            lane_map: None,
            cable_delays_ps: None,
            switch_delays_ps: None,
            congestion: None,
            window_packets: None,
        }
    }
}

impl Software {
    /// An MPI library over verbs: a microsecond from end to end through one switch, as ping-pong benchmarks show it.
    pub fn infiniband() -> Self {
        Self {
            // Round: of the order of what LogP measurements of this hardware give for a call.
            call_ps: 150_000,
            // What is left of a microsecond: a call on either side, one switch, two cables, both adapters.
            post_ps: 550_000,
            // As a send.
            rendezvous_ps: 550_000,
            // Usual limit of MPI libraries over verbs (12 to 17 KiB).
            eager_bytes: 16_384,
            // A header of a library's protocol.
            control_bytes: 64,
            // Shared memory at 10 GB/s.
            copy_ps_per_byte: 100.0,
        }
    }
}
