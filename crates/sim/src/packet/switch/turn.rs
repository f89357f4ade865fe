//! Packets that wait for room in an output's buffer: in which of three forms they are kept, and whose turn it is.
//!
//! Where an input holds one packet a lane that waits, and inputs have turns, bits of inputs (`inputs`); where an input may hold many, a queue for
//! each (`queues`); else a list, in order of coming, from which inputs may be admitted in turn. Nobody else asks which form it is.

use super::inputs::next_in_turn;
use super::lane::Waiting;
use super::ports::Ports;
use crate::packet::hardware::Hardware;
use crate::packet::pool::{NONE, Packet, Pool};

/// Whose turn it is.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    /// The packet.
    pub packet: u32,
    /// The place of its input; in a list, the packet before it, [`NONE`] for the first.
    at: u32,
}

impl Ports {
    /// A packet from the input at a place of a switch, which has so many `cables`, comes to wait for an output and a lane.
    #[inline(always)]
    pub fn wait<H: Hardware>(
        &mut self,
        (out, lane): (u32, u8),
        (place, cables): (u32, impl FnOnce() -> usize),
        packets: &mut Pool<Packet>,
        index: u32,
    ) {
        let (at, features) = (self.index::<H>(out, lane), self.features::<H>());
        let waiting = &mut self.lane[at].waiting;
        if features.by_place {
            waiting.add_place(place);
            let back = self.back(out, place);
            return self.inputs.wait(back, lane, index);
        }
        if features.by_input() {
            self.queues.push((at, waiting), (place, cables), packets, index);
        } else {
            waiting.push(packets, index);
        }
        if let Some(bytes) = self.waiting_bytes.get_mut(at) {
            *bytes += u32::from(packets.get(index).wire);
        }
    }

    /// Whose turn it is among those that wait for an output and a lane; somebody does.
    #[inline(always)]
    pub fn whose_turn<H: Hardware>(&self, link: u32, lane: u8, packets: &Pool<Packet>) -> Turn {
        let (at, features) = (self.index::<H>(link, lane), self.features::<H>());
        let state = &self.lane[at];
        if features.by_place {
            let place = next_in_turn(state.waiting.places(), state.turn);
            return Turn { packet: self.inputs.packet(self.back(link, place), lane), at: place };
        }
        if features.by_input() {
            let (place, packet) = self.queues.next(at, state.waiting, state.turn);
            return Turn { packet, at: place };
        }
        let mut turn = Turn { packet: state.waiting.first(), at: NONE };
        if features.in_turn {
            // The first input after the last one; of each input there is one at most.
            let (mut nearest, mut before) = (u32::MAX, NONE);
            for packet in state.waiting.iter(packets) {
                let number = self.port[packets.get(packet).via as usize].to_number;
                let distance = state.inputs_before(number);
                if distance < nearest {
                    (nearest, turn) = (distance, Turn { packet, at: before });
                }
                before = packet;
            }
        }
        turn
    }

    /// Admits the packet whose turn it is: it waits no longer.
    #[inline(always)]
    pub fn end_wait<H: Hardware>(&mut self, (link, lane): (u32, u8), turn: Turn, packets: &mut Pool<Packet>) {
        let (at, features) = (self.index::<H>(link, lane), self.features::<H>());
        let waiting = &mut self.lane[at].waiting;
        if features.by_place {
            return waiting.remove_place(turn.at);
        }
        if let Some(bytes) = self.waiting_bytes.get_mut(at) {
            *bytes -= u32::from(packets.get(turn.packet).wire);
        }
        if features.by_input() {
            self.queues.pop((at, waiting), turn.at, packets);
        } else {
            waiting.remove_after(packets, (turn.at != NONE).then_some(turn.at));
        }
    }

    /// The turn of a packet that waits, from the input at a place, as if it were its turn; inputs hold one at most.
    pub fn turn_of<H: Hardware>(
        &self,
        (link, lane): (u32, u8),
        (place, packet): (u32, u32),
        packets: &Pool<Packet>,
    ) -> Turn {
        let features = self.features::<H>();
        debug_assert!(!features.by_input(), "packets that may move are the only ones of their inputs");
        let waiting = self.lane[self.index::<H>(link, lane)].waiting;
        let before = || waiting.iter(packets).take_while(|&other| other != packet).last();
        Turn { packet, at: if features.by_place { place } else { before().unwrap_or(NONE) } }
    }

    /// One of those that wait for a link's first lane, to be read ahead of its turn: nearly always the one whose turn it is. [`NONE`] if nobody waits.
    #[inline(always)]
    pub fn near_turn<H: Hardware>(&self, link: u32, packets: &Pool<Packet>) -> u32 {
        let (waiting, features) = (self.lane_of::<H>(link).waiting, self.features::<H>());
        if waiting.is_empty() || !(features.by_place || features.by_input()) {
            // A list is not walked for it.
            return waiting.first();
        }
        self.whose_turn::<H>(link, 0, packets).packet
    }

    /// The packets that wait for an output and a lane.
    pub fn waiting(&self, link: u32, lane: u8, packets: &Pool<Packet>) -> impl Iterator<Item = u32> {
        let at = link as usize * self.lanes + usize::from(lane);
        let (waiting, features) = (self.lane[at].waiting, self.features);
        let mut places = if features.by_place { waiting.places() } else { 0 };
        let first = link - if features.by_place { self.port(link).place() } else { 0 };
        let by_place = std::iter::from_fn(move || {
            let place = (places != 0).then(|| places.trailing_zeros())?;
            places &= places - 1;
            Some(self.inputs.packet(first + place, lane))
        });
        let list = if features.by_place || features.by_input() { Waiting::NOBODY } else { waiting };
        by_place.chain(self.queues.iter(at, packets)).chain(list.iter(packets))
    }

    /// Their bytes.
    pub(super) fn bytes_waiting(&self, link: u32, lane: u8, packets: &Pool<Packet>) -> u32 {
        let at = link as usize * self.lanes + usize::from(lane);
        let walked =
            || self.waiting(link, lane, packets).map(|index| u32::from(packets.get(index).wire)).sum();
        self.waiting_bytes.get(at).copied().unwrap_or_else(walked)
    }

    /// Counts the bytes that wait, for somebody who asks at every packet: many may wait.
    pub fn count_waiting(&mut self) {
        if !self.features.by_place {
            self.waiting_bytes = vec![0; self.lane.len()];
        }
    }
}
