//! What every link carried, by lane.

use super::ports::Ports;

/// Counters of all directed links, `[link * lanes + lane]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkCounters {
    /// Lanes a link.
    pub lanes: usize,
    /// Bytes on the wire and packets that were sent.
    pub sent: Vec<Sent>,
}

/// What a lane of a link has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes, headers included.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl LinkCounters {
    pub(crate) fn of(ports: &Ports) -> Self {
        let sent = ports.lane.iter().map(|lane| Sent { bytes: lane.bytes, packets: lane.packets }).collect();
        Self { lanes: ports.lanes, sent }
    }
}
