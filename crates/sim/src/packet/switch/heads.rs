//! Packets at the head of an input that wait for an output, and may yet take another; see `attract`.
//!
//! A scheme chooses the output when a packet comes to the head of its input. Where that output has no room the packet
//! waits and holds up those behind it; until it is admitted it is free to go: an output that gets room and has nobody
//! waiting for it takes a packet that waits elsewhere in the switch and may go its way too, input ports in turn.
//! Only schemes that look at loads let packets move, and only switches with head-of-line blocking hold them. Where every input has its
//! turn and holds one packet a lane, `inputs` has them instead.
//!
//! Invariant: the list of a switch has its waiting packets that have a choice, each once, in order of coming, with the output it waits for.

use serde::{Deserialize, Serialize};

/// A packet that waits at the head of an input.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Head {
    /// The packet.
    pub index: u32,
    /// The output that it waits for.
    pub home: u32,
    /// The outputs that it may take; see [`Choice::set_of`](crate::packet::choice::Choice::set_of).
    pub set: u32,
    /// Its bytes on the wire.
    pub wire: u16,
    /// The number of its input.
    pub number: u16,
}

/// Packets that wait at heads of inputs, by switch.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Heads {
    waiting: Vec<Vec<Head>>,
}

impl Heads {
    /// For so many switches; 0 if packets don't move.
    pub fn new(switches: usize) -> Self {
        Self { waiting: vec![Vec::new(); switches] }
    }

    pub fn leave(&mut self, switch: u32, index: u32) {
        let waiting = &mut self.waiting[switch as usize];
        if let Some(at) = waiting.iter().position(|head| head.index == index) {
            waiting.remove(at);
        }
    }

    /// Those of a switch.
    #[inline]
    pub fn of(&self, switch: usize) -> &[Head] {
        &self.waiting[switch]
    }

    /// A packet that has a choice waits.
    #[inline]
    pub fn stay(&mut self, switch: u32, head: Head) {
        self.waiting[switch as usize].push(head);
    }
}
