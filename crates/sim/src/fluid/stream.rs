//! Streams: what a host sends to one address.
//!
//! A stream is one flow, whatever the number of its messages. They follow each other (`Injection::InOrder`: then a host has one stream
//! at a time, of the message whose turn it is; `RoundRobin`: streams of a host to different addresses compete as any flows do), or share it
//! evenly (`RoundRobinMessages`). So rates change only when a host begins to send to an address, or has nothing more for it. What changes
//! within the time of a packet on the reference link is settled together, each change from its own time on: below
//! that, rates mean nothing.
//!
//! Invariants: a stream that is open has a message; `done` is what each message has got of a stream since it was opened, of those that were
//! there all the time (the virtual time of fair queueing, Parekh and Gallager 1993), so a message ends when `done` has risen by its bytes.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use netloom_model::{DestId, HostId};

/// Messages from a host to an address.
#[derive(Debug)]
pub(super) struct Stream {
    pub from: HostId,
    pub address: DestId,
    pub to: HostId,
    /// From a message's last byte's leaving until its last packet is there.
    pub tail_ps: u64,
    pub flow: u32,
    pub rate: f64,
    /// Bytes that each message has got since the stream was opened.
    pub done: f64,
    /// Bytes that have arrived since then, and those of messages that have left as a whole.
    pub moved: f64,
    pub departed: f64,
    pub since_ps: u64,
    pub opened_ps: u64,
    /// Messages by `done` at their end (its bits), order of coming.
    pub messages: BinaryHeap<Reverse<(u64, u64, u32)>>,
    /// Messages that begin when those before them have left, and their bytes.
    pub behind: VecDeque<u32>,
    pub behind_bytes: f64,
    /// When the next of them ends, as planned.
    pub end_ps: u64,
}

impl Stream {
    /// Brings `done` up to date.
    pub fn advance(&mut self, now: u64) {
        if !self.messages.is_empty() {
            let moved = self.rate * (now - self.since_ps) as f64;
            self.moved += moved;
            self.done += moved / self.messages.len() as f64;
        }
        self.since_ps = now;
    }

    /// Bytes that have left of messages that have not left as a whole.
    pub fn under_way(&self, now: u64) -> f64 {
        (self.moved + self.rate * now.saturating_sub(self.since_ps) as f64 - self.departed).max(0.0)
    }

    /// Bytes that are in the network at most: what a host of this speed (bytes a ps) can have sent, and what there is to send.
    pub fn backlog(&self, now: u64, speed: f64) -> f64 {
        let moved = self.moved + self.rate * (now - self.since_ps) as f64;
        let done = self.done + self.rate * (now - self.since_ps) as f64 / self.messages.len().max(1) as f64;
        let left: f64 =
            self.messages.iter().map(|&Reverse((end, ..))| (f64::from_bits(end) - done).max(0.0)).sum();
        (speed * (now - self.opened_ps) as f64 - moved).clamp(0.0, left + self.behind_bytes)
    }
}
