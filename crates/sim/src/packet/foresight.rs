//! Reads what the next events will read, so that it is in the cache when their turn comes.
//!
//! Where queues are long and hosts out of step, a hop is mostly waiting for memory, one line after another. What the events of the
//! next bucket begin with is known; reading it for all of them at once makes the processor wait for many lines at a time. Nothing
//! is changed by it. A bucket of hosts in step holds more events than the nearest cache has lines, and in an order that needs no help.

use std::hint::black_box;

use netloom_model::{LinkId, SwitchId};

use super::choice::{Choice, Here};
use super::hardware::Hardware;
use super::network::Network;
use super::observe::Observer;
use super::pool::NONE;
use super::ports::Port;
use super::program::Program;

/// Buckets with more events are left alone.
const MOST: usize = 64;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Reads what the events of the next bucket will read.
    pub(super) fn foresee<H: Hardware>(&self) {
        let links = self.fabric.link_count() as u32;
        let events = self.calendar.next_bucket();
        if events.len() > MOST {
            return;
        }
        let mut seen = 0;
        for (key, index) in events {
            let link = key >> 1;
            if link >= links {
                continue;
            }
            let lane = self.ports.lane_of::<H>(link);
            seen ^= lane.free_at;
            if key & 1 == 0 {
                seen ^= self.read_waiting::<H>(link);
            } else {
                let packet = self.packets.get(index);
                seen ^= u64::from(packet.wire);
                let to = self.ports.port(link).to;
                if to != Port::HOST
                    && let Some(LinkId(out)) = self.choice.foresee(Here::of(packet, SwitchId(to)))
                {
                    seen ^= self.ports.lane_of::<H>(out).free_at;
                }
            }
        }
        black_box(seen);
    }

    /// Reads the packet that waits first for a link of a switch, and the link that it came by.
    #[inline(always)]
    pub(super) fn read_waiting<H: Hardware>(&self, link: u32) -> u64 {
        match self.ports.lane_of::<H>(link).waiting.head {
            NONE => 0,
            head => self.ports.lane_of::<H>(self.packets.get(head).via).free_at,
        }
    }
}
