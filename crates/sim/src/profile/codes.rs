//! `codes`: behaves like the simulator of the papers, CODES with its fat-tree model and TraceR's programs.
//!
//! What the dissertation says (secs. 5.1-5.4): 12.5 GB/s links, no headers, messages of the stencil leave without asking. What it
//! leaves open is fitted on the ftree rows of tables 5.1 and 5.2 and on the barrier without a bully, and on nothing else;
//! `docs/methods/simulator.md` says which row pins which number. Every number is one of the simulator's own defaults or
//! of its example files.

use super::Profile;
use crate::config::{Admission, Config, Forwarding, Injection, Release};
use crate::replay::Software;

impl Profile {
    /// The papers' simulator.
    pub fn codes() -> Self {
        Self { config: Config::codes(), software: Software::codes() }
    }
}

impl Config {
    /// The papers' simulator: whole packets are stored and forwarded, a packet's place in an output queue is its own until
    /// the next queue admits it, senders never look downstream, service in order of arrival.
    pub fn codes() -> Self {
        Self {
            // The shift: 17.2 us of mean and 18.7 of largest packet latency (16.94 and 18.92); 2048 gives 16.3 and 17.4.
            packet_bytes: 4096,
            header_bytes: 0,
            forwarding: Forwarding::StoreAndForward,
            lanes: 1,
            input_buffer_bytes: None,
            // Example files; 64 KiB towards hosts too would give the shift 25 us.
            output_buffer_bytes: 65_536,
            host_output_buffer_bytes: 32_768,
            release: Release::Admitted,
            head_of_line: false,
            admission: Admission::InOrder,
            injection: Injection::InOrder,
            // Example files (60 and 90); the barrier leaves no more than 180.
            switch_delay_ps: 90_000,
            cable_delay_ps: 0,
            // "8 bytes" in its code.
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
    /// The papers' simulator.
    pub fn codes() -> Self {
        Self {
            // The stencil of small messages leaves 1.5 ns a call: calls cost the message's time, not the processor's.
            call_ps: 0,
            // Example files: 200 ns of software, 400 of the adapter, 100 between messages. Fitted on the barrier (4.19 ms):
            // 44 messages after each other an iteration.
            post_ps: 700_000,
            // Default.
            rendezvous_ps: 1_000_000,
            // "eager transmission" (sec. 5.3).
            eager_bytes: u64::MAX,
            control_bytes: 16,
            // The shift leaves none for copying.
            copy_ps_per_byte: 0.0,
        }
    }
}
