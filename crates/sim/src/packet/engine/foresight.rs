//! Reads what the next events will read, so that it is in the cache when their turn comes.
//!
//! Where queues are long and hosts out of step, a hop is mostly waiting for memory, one line after another. What the next events begin with
//! is known: links and packets, what hosts send next, what receivers know of messages. Reading it for some tens of events at once makes the
//! processor wait for many lines at a time. Nothing is changed by it.
//!
//! Hosts in step fill a bucket with thousands of events. The next few of such a bucket are read if what links keep is larger than a cache
//! near the processor, or if many short messages are under way, so that what hosts know of them is all over the memory. Otherwise these
//! events come in an order in which memory is read ahead without help.

use std::hint::black_box;

use netloom_model::{LinkId, SwitchId};

use crate::observe::Observer;
use crate::packet::choice::{Choice, Here};
use crate::packet::hardware::Hardware;
use crate::packet::host::Outgoing;
use crate::packet::network::Network;
use crate::packet::pool::NONE;
use crate::packet::switch::Port;
use crate::program::Program;

/// So many events are read at a time: what they begin with fits the nearest cache.
const STEP: usize = 32;
/// Messages are many if so many a host have been under way at one time.
const MANY: usize = 4;
/// What links keep is much if it is more than this, bytes.
const NEAR: usize = 1 << 20;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Reads what the next events will read.
    pub(in crate::packet) fn foresee<H: Hardware>(&mut self) {
        let links = self.fabric.link_count() as u32;
        let hosts_end = links + self.fabric.host_count() as u32;
        let large = size_of_val(&self.ports.lane[..]) > NEAR;
        let crowded = large || self.hosts.most_incoming() > MANY * self.ports.hosts;
        let soon = self.calendar.look_ahead(STEP, crowded);
        let mut seen = 0;
        for (key, data) in self.calendar.soon(soon) {
            let (place, second) = (key >> 1, key & 1 == 1);
            seen ^= match (place < links, second) {
                (true, true) => self.read_arrival::<H>(place, data),
                (true, false) if (place as usize) < self.ports.hosts => self.read_sending::<H>(place),
                (true, false) => self.read_waiting::<H>(place),
                (false, false) if place < hosts_end => {
                    self.program.foresee(self.hosts.outgoing(data).token, true)
                }
                (false, _) => 0, // timers and news
            };
        }
        black_box(seen);
    }

    /// Reads a packet and what it comes to: an output, or a receiver.
    #[inline(always)]
    fn read_arrival<H: Hardware>(&self, link: u32, index: u32) -> u64 {
        let packet = self.packets.get(index);
        let seen = self.ports.lane_of::<H>(link).free_at ^ u64::from(packet.wire);
        let seen = seen ^ self.observer.foresee(index);
        let to = self.ports.port(link).to;
        if to == Port::HOST {
            let message = self.origins[index as usize].message;
            return seen ^ self.program.foresee(self.hosts.incoming(message).token, false);
        }
        match self.choice.foresee(Here::of(packet, SwitchId(to))) {
            Some(LinkId(out)) => seen ^ self.ports.lane_of::<H>(out).free_at,
            // It has a choice, and may draw by its mark.
            None if C::DRAWS => seen ^ u64::from(self.origins[index as usize].mark),
            None => seen,
        }
    }

    /// Reads what a host sends next, and what it asks for behind that.
    #[inline(always)]
    fn read_sending<H: Hardware>(&self, host: u32) -> u64 {
        match self.ports.lane_of::<H>(host).queue.head {
            NONE => 0,
            head => {
                let &Outgoing { rest, token, .. } = self.hosts.outgoing(head);
                let rest = if rest == NONE { 0 } else { self.hosts.rest_posted_ps(rest) };
                rest ^ self.program.foresee(token, true)
            }
        }
    }

    /// Reads the packet that waits first for a link of a switch, and the link that it came by.
    #[inline(always)]
    pub(in crate::packet) fn read_waiting<H: Hardware>(&self, link: u32) -> u64 {
        match self.ports.near_turn::<H>(link, &self.packets) {
            NONE => 0,
            index => self.ports.lane_of::<H>(self.packets.get(index).via).free_at,
        }
    }
}
