//! Messages: what hosts have to send, and what receivers know of what is on its way.

use netloom_model::rng::mixed;
use netloom_model::{DestId, HostId};
use serde::{Deserialize, Serialize};

use crate::packet::choice::Way;
use crate::packet::pool::Linked;
use crate::program::{Due, Series};

/// A message that a host sends.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Outgoing<T> {
    /// The next message of the host's list.
    pub next: u32,
    /// The receiver's record.
    pub record: u32,
    /// The rest of its series, which comes right behind it; [`NONE`](crate::packet::pool::NONE) if nothing does.
    pub rest: u32,
    pub address: DestId,
    /// Service level.
    pub level: u8,
    /// What its packets carry of their way as they leave; see `choice::way`.
    pub way: u8,
    /// It has the turn of its receiver: others to it wait behind; see `turns`.
    pub has_turn: bool,
    /// What its packets draw by; 0 for schemes that draw nothing.
    pub mark: u32,
    /// Payload that has not left yet.
    pub left: u64,
    /// When its host's adapter had it.
    pub posted_ps: u64,
    pub token: T,
}

impl<T> Outgoing<T> {
    /// What its next packet draws by.
    #[inline(always)]
    pub fn packet_mark(&self) -> u32 {
        // `left` differs from packet to packet, by a packet's payload. Those of one mode go one way.
        let left = if Way::of(self.way).is_in_order() { 0 } else { self.left };
        (mixed(u64::from(self.mark) << 32 ^ left) >> 32) as u32
    }
}

/// What an adapter has of a series behind the last message of it that was asked for.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Rest {
    /// The next free slot.
    pub next: u32,
    pub series: Series,
    /// When the program posted it.
    pub posted_ps: u64,
}

/// What a receiver knows of a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[repr(align(32))]
pub(crate) struct Incoming<T> {
    /// Payload that has not arrived yet.
    pub left: u64,
    /// When it was posted.
    pub posted_ps: u64,
    /// The host that sends it.
    pub from: HostId,
    pub token: T,
}

impl<T> Linked for Outgoing<T> {
    fn next(&self) -> u32 {
        self.next
    }
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

impl Linked for Rest {
    fn next(&self) -> u32 {
        self.next
    }
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// A message, or a series, on its way to its host's adapter; hosts keep theirs by time, then by order of posting.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Delayed<T> {
    pub time_ps: u64,
    pub posted_ps: u64,
    pub what: Due<T>,
}
