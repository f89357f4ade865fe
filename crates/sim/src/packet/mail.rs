//! What partitions tell each other between windows.
//!
//! A packet moves from one pool to the other, room that comes back to the sender of a link, and the record of a message to its receiver before
//! the first of its packets can be there. Whoever receives owns the record; the sender only numbers it, and gets the number back.
//!
//! Invariants: nothing in the mail counts before the window's end; the mail of one link is in the order in which it happened.

use serde::{Deserialize, Serialize};

use super::calendar::{MOST_DATA, NEVER};
use super::messages::Incoming;
use super::pool::{Origin, Packet};

/// The news that ends the simulation.
pub(super) const STOP: u32 = MOST_DATA;

/// From one partition to another, in one window.
#[derive(Debug)]
pub(super) struct Mail<T> {
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

/// Numbers for the messages to one partition: every partition counts in steps of their count from its own on, so that no two give one number.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Numbers {
    free: Vec<u32>,
    next: u32,
    step: u32,
}

impl Numbers {
    pub fn new(here: u8, count: usize) -> Self {
        Self { free: Vec::new(), next: u32::from(here), step: count as u32 }
    }

    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.next += self.step;
            self.next - self.step
        })
    }

    pub fn give(&mut self, number: u32) {
        self.free.push(number);
    }
}
