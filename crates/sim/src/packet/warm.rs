//! Looking ahead: what the next events will touch is read before they happen.
//!
//! An event touches five to ten lines of memory, each found through the one before it, and links take turns in no order that a
//! processor could foresee: out of the nearest cache a run spends four fifths of its time waiting, one line after another.
//! The calendar knows the events of the next nanoseconds. Here their lines are read for many events together, which depend on nothing
//! of each other, so that the processor waits for them side by side. Nothing is changed; results can't depend on it.

use std::hint::black_box;

use netloom_model::{LinkId, SwitchId};

use super::choice::{Choice, Here};
use super::engine::Network;
use super::observe::Observer;
use super::pool::NONE;
use super::ports::Port;
use super::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Reads what the events of the next nanoseconds will touch.
    pub(super) fn warm(&mut self) {
        let links = self.fabric.link_count() as u32;
        let hosts = self.fabric.host_count() as u32;
        let Self { ports, packets, choice, calendar, .. } = self;
        // Of a list's end only the number counts: it may be a slot in use no longer.
        let packet = |index: u32| if index == NONE { 0 } else { packets.get(index).next };
        let mut sum = 0u32;
        for (key, data) in calendar.ahead() {
            let link = key >> 1;
            if link >= links {
                continue;
            }
            let port = &ports.port[link as usize];
            if key & 1 == 0 {
                let lane = &ports.lane[ports.index(link, 0)];
                sum = sum.wrapping_add(port.queued);
                if link < hosts {
                    continue;
                }
                sum = sum.wrapping_add(packet(lane.queue.head));
                if lane.waiting.head != NONE {
                    let via = packets.get(lane.waiting.head).via;
                    let up = &ports.lane[ports.index(via, 0)];
                    sum = sum.wrapping_add(up.in_room as u32).wrapping_add(ports.port[via as usize].queued);
                }
                continue;
            }
            let coming = packets.get(data);
            let at = ports.index(link, coming.lane);
            sum = sum.wrapping_add(ports.lane[at].in_room as u32).wrapping_add(ports.end[at].inbox.head);
            if port.to == Port::HOST {
                continue;
            }
            let here = Here {
                switch: SwitchId(port.to),
                via: LinkId(link),
                address: coming.address,
                lane: coming.lane,
            };
            if let Some(LinkId(out)) = choice.likely(here) {
                let lane = &ports.lane[ports.index(out, coming.lane)];
                let tail = if lane.waiting.head == NONE { lane.queue.tail } else { lane.waiting.tail };
                sum = sum.wrapping_add(packet(tail)).wrapping_add(ports.port[out as usize].queued);
                sum = sum.wrapping_add(if C::LOOKS { ports.glance(out) } else { 0 });
            }
        }
        black_box(sum);
    }
}
