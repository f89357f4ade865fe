//! Packets that waited are admitted: those whose turn it is at an output, and those that an idle output takes from others; see `heads`.

use netloom_model::LinkId;

use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::hardware::Hardware;
use crate::packet::network::Network;
use crate::packet::switch::Head;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Admits a packet that waited, and finds outputs for those that it held up.
    pub(in crate::packet) fn go_on<H: Hardware>(&mut self, link: u32, to_lane: u8, index: u32) {
        if C::LOOKS {
            self.go(index);
        }
        let packet = self.packets.get(index);
        let (via, lane) = (packet.via, packet.lane());
        self.admit::<H>(link, to_lane, index);
        if self.ports.features::<H>().head_of_line {
            let end = self.ports.end::<H>(via, lane);
            match end.inbox.pop(&self.packets) {
                Some(next) => self.place::<H>(via, next),
                None => end.held = false,
            }
        }
    }

    /// Takes the packet whose turn it is from those that wait for room, if there is room for it.
    pub(in crate::packet) fn next_admitted<H: Hardware>(&mut self, link: u32, lane: u8) -> Option<u32> {
        let at = self.ports.index::<H>(link, lane);
        let state = &self.ports.lane[at];
        if state.waiting.is_empty() {
            return None;
        }
        let mut before = None;
        if self.ports.features::<H>().in_turn {
            // The first input port after the last one's.
            let (mut nearest, mut last) = (u32::MAX, None);
            for index in state.waiting.iter(&self.packets) {
                let port = self.ports.port[self.packets.get(index).via as usize].to_port;
                let distance = state.ports_before(port);
                if distance < nearest {
                    (nearest, before) = (distance, last);
                }
                last = Some(index);
            }
        }
        let index = before.map_or(state.waiting.head, |b| self.packets.get(b).next);
        if i32::from(self.packets.get(index).wire) > state.out_room {
            return None;
        }
        self.ports.lane[at].waiting.remove_after(&mut self.packets, before);
        Some(index)
    }

    /// A packet has got the room it waited for.
    #[inline(always)]
    pub(in crate::packet) fn go(&mut self, index: u32) {
        let switch = self.ports.port[self.packets.get(index).via as usize].to;
        if !self.heads.are_fixed() {
            self.heads.leave(switch, index);
        }
    }

    /// An output with nobody waiting takes packets that wait elsewhere in its switch, as long as there is room.
    pub(in crate::packet) fn attract<H: Hardware>(&mut self, link: u32, lane: u8) {
        // Only where room comes back just now: a try at another time must change nothing.
        if self.heads.are_fixed() || self.ports.free_at::<H>(link) != self.now {
            return;
        }
        let switch = self.fabric.link_from_switch(LinkId(link)).expect("hosts don't attract");
        let in_turn = self.ports.features::<H>().in_turn;
        loop {
            let state = &self.ports.lane[self.ports.index::<H>(link, lane)];
            let room = state.out_room;
            let waiting = self.heads.of(switch.index());
            if !state.waiting.is_empty() || room <= 0 || waiting.is_empty() {
                return;
            }
            let mut best = (u32::MAX, None);
            // Most of them have the same set.
            let mut known = (0, false);
            for &Head { index, home, set, wire, port } in waiting {
                let distance = if in_turn { state.ports_before(port) } else { 0 };
                if distance >= best.0 || i32::from(wire) > room || home == link {
                    continue;
                }
                if set != known.0 {
                    known = (set, self.choice.is_in(LinkId(link), set));
                }
                if known.1 && self.lane_out::<H>(link, self.packets.get(index)) == lane {
                    best = (distance, Some((index, home)));
                }
            }
            let Some((index, home)) = best.1 else { return };
            let packet = *self.packets.get(index);
            let wire = i32::from(packet.wire);
            let home_lane = self.lane_out::<H>(home, &packet);
            let list = &mut self.ports.at::<H>(home, home_lane).waiting;
            let before = list.iter(&self.packets).take_while(|&i| i != index).last();
            list.remove_after(&mut self.packets, before);
            self.notify_move::<H>(link, lane, index);
            self.ports.queue(home, -wire, self.now);
            self.ports.queue(link, wire, self.now);
            if self.ports.features::<H>().control {
                self.changes_queue(home, link, packet.wire);
            }
            self.ports.settle::<H>(home, self.now);
            self.arm::<H>(home);
            self.lag(home, home_lane);
            self.go_on::<H>(link, lane, index);
        }
    }
}
