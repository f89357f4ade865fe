//! What came of switches that listen to congestion notifications, and of packets that overtake each other.

use serde::{Deserialize, Serialize};

/// What switches that listen have done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Snooped {
    /// Notifications that ended at a switch, as packets can go round from there.
    pub consumed: u64,
    /// Packets that took another output than the tables say, each switch counted.
    pub rerouted: u64,
    /// Packets that found all of their outputs marked, each switch counted.
    pub all_marked: u64,
    /// Most outputs that a switch had marked for one destination.
    pub most_entries: usize,
}

/// Packets that were overtaken on their way, and what receivers must store to put them in order again.
///
/// In order is: as they left their host, by destination and service level.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reordering {
    /// Packets received.
    pub packets: u64,
    /// Of them, those that came after one that had left later (RFC 4737, type P reordered).
    pub out_of_order: u64,
    /// Most bytes that one host stored for want of earlier packets.
    pub most_bytes: u64,
}
