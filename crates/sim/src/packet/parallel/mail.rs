//! What partitions tell each other between windows.
//!
//! A packet moves from one pool to the other, room that comes back to the sender of a link, and the record of a message to its receiver before
//! the first of its packets can be there. Whoever receives owns the record; the sender only numbers it, and gets the number back.
//!
//! Invariants: nothing in the mail counts before the window's end; the mail of one link is in the order in which it happened.

use crate::calendar::{MOST_DATA, NEVER};
use crate::packet::host::Incoming;
use crate::packet::pool::{Origin, Packet};

/// The news that ends the simulation.
pub(crate) const STOP: u32 = MOST_DATA;

/// From one partition to another, in one window.
#[derive(Debug)]
pub(crate) struct Mail<T> {
    /// Packets with the link that brings them and their time there.
    pub packets: Vec<(u64, u32, Packet, Origin)>,
    /// Room that comes back: when it counts, link, bytes, lane.
    pub credits: Vec<(u64, u32, u16, u8)>,
    /// Messages to come, by number.
    pub records: Vec<(u32, Incoming<T>)>,
    /// Numbers of messages that have been received.
    pub done: Vec<u32>,
    /// What programs announced, and when it is heard.
    pub news: Vec<(u64, u32)>,
    /// When the first of it happens.
    pub first_ps: u64,
}

impl<T> Default for Mail<T> {
    fn default() -> Self {
        let (packets, credits) = (Vec::new(), Vec::new());
        Self { packets, credits, records: Vec::new(), done: Vec::new(), news: Vec::new(), first_ps: NEVER }
    }
}
