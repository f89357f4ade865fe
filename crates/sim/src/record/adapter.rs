//! What adapters count of what they send, as those of Aries do: flits, time in which a flit that was ready was not forwarded, packets and
//! the time from each to its response.

use serde::{Deserialize, Serialize};

/// Counters of an adapter, or of one message in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdapterCounters {
    /// Flits of packets sent, those of headers included.
    pub flits: u64,
    /// Time in which a packet was ready to leave, the window was open and the link free, and the switch had no room for it, ps.
    pub stalled_ps: u64,
    /// Packets whose response has come.
    pub packets: u64,
    /// Time from each of these packets to its response, the wait in the adapter left out, ps.
    pub latency_ps: u64,
    /// Time of a flit on the adapter's link, ps: a cycle.
    pub cycle_ps: u64,
}

impl AdapterCounters {
    /// Stalled cycles.
    pub fn stalled_cycles(&self) -> f64 {
        self.stalled_ps as f64 / self.cycle_ps.max(1) as f64
    }

    /// Cycles from packets to their responses, all packets together.
    pub fn latency_cycles(&self) -> f64 {
        self.latency_ps as f64 / self.cycle_ps.max(1) as f64
    }
}

/// A message, from its first flit until its last response.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transmission {
    /// What its sender's adapter has counted of it.
    pub counters: AdapterCounters,
    /// From when its first packet was ready to leave until its last byte came, ps.
    pub network_ps: u64,
    /// From when its first packet was ready to leave until its last response came, ps.
    pub answered_ps: u64,
}
