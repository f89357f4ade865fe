//! Packets at the heads of inputs that wait for an output, where every input of a switch holds one at most on a lane, and input ports
//! are admitted in turn: whose turn it is and who may move are questions to the bits of one word.
//!
//! An input is numbered by the *place* of its cable in its switch, in order of ports. The lanes of outputs know by bits which inputs wait for
//! them ([`Lane::waiting`](super::Lane)); what waits there is kept here. A packet with a choice may move: an output that gets room and
//! has nobody waiting takes it, see `attract`.
//!
//! Invariants: a bit of an output's lane is set while the packet of that input waits for it; a bit of `moving` while it may move besides, in the word of its set; no such word is 0.

use netloom_model::Fabric;
use serde::{Deserialize, Serialize};

use crate::packet::pool::NONE;

/// So many cables a switch may have: one bit each.
pub(super) const MOST_PLACES: usize = 64;

/// What a packet that may move is asked for.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Mover {
    /// The output that it waits for.
    pub home: u32,
    /// The outputs that it may take; see [`Choice::set_of`](crate::packet::choice::Choice::set_of).
    pub set: u32,
    /// Its bytes on the wire.
    pub wire: u16,
}

/// The heads of all inputs that wait.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Inputs {
    lanes: usize,
    /// By the link that leads back along the input's cable, and lane: the packet that waits.
    packets: Vec<u32>,
    /// In the same way, what those that may move are asked for; empty if packets don't move.
    movers: Vec<Mover>,
    /// By switch and lane, which inputs' heads may move: a set of outputs, and the bits of those that may take any of it. Where nothing is
    /// broken, switches have one set or two.
    moving: Vec<Vec<(u32, u64)>>,
}

impl Inputs {
    /// Whether the switches of a fabric have few enough cables.
    pub fn fit(fabric: &Fabric) -> bool {
        fabric.switches().all(|switch| fabric.switch_links(switch).len() <= MOST_PLACES)
    }

    /// Nobody waits at inputs of so many lanes.
    pub fn new(fabric: &Fabric, lanes: usize) -> Self {
        Self {
            lanes,
            packets: vec![NONE; fabric.link_count() * lanes],
            movers: Vec::new(),
            moving: Vec::new(),
        }
    }

    /// Lets packets move.
    pub fn let_move(&mut self, fabric: &Fabric) {
        self.movers = vec![Mover::default(); self.packets.len()];
        self.moving = vec![Vec::new(); fabric.switch_count() * self.lanes];
    }

    /// How much is kept: what a state must agree with.
    pub fn shape(&self) -> [usize; 4] {
        [self.lanes, self.packets.len(), self.movers.len(), self.moving.len()]
    }

    #[inline(always)]
    fn slot(&self, back: u32, lane: u8) -> usize {
        back as usize * self.lanes + usize::from(lane)
    }

    /// The packet that waits at an input, by the link that leads back.
    #[inline(always)]
    pub fn packet(&self, back: u32, lane: u8) -> u32 {
        self.packets[self.slot(back, lane)]
    }

    /// A packet waits at an input.
    #[inline(always)]
    pub fn wait(&mut self, back: u32, lane: u8, index: u32) {
        let slot = self.slot(back, lane);
        self.packets[slot] = index;
    }

    #[inline(always)]
    fn room(&self, switch: u32, lane: u8) -> usize {
        switch as usize * self.lanes + usize::from(lane)
    }

    /// The packet that waits at an input may move.
    #[inline]
    pub fn stay(&mut self, (switch, place): (u32, u32), back: u32, lane: u8, mover: Mover) {
        let (slot, room) = (self.slot(back, lane), self.room(switch, lane));
        self.movers[slot] = mover;
        let moving = &mut self.moving[room];
        match moving.iter_mut().find(|(set, _)| *set == mover.set) {
            Some((_, places)) => *places |= 1 << place,
            None => moving.push((mover.set, 1 << place)),
        }
    }

    /// The packet that waited at an input is admitted.
    #[inline(always)]
    pub fn leave(&mut self, (switch, place): (u32, u32), lane: u8) {
        let room = self.room(switch, lane);
        let moving = &mut self.moving[room];
        if let Some(at) = moving.iter().position(|(_, places)| places >> place & 1 == 1) {
            moving[at].1 &= !(1 << place);
            if moving[at].1 == 0 {
                moving.swap_remove(at);
            }
        }
    }

    /// The inputs of a switch whose heads may move, by the outputs that these may take.
    #[inline(always)]
    pub fn moving(&self, switch: u32, lane: u8) -> &[(u32, u64)] {
        &self.moving[self.room(switch, lane)]
    }

    /// What is asked of the packet that may move at an input.
    #[inline(always)]
    pub fn mover(&self, back: u32, lane: u8) -> Mover {
        self.movers[self.slot(back, lane)]
    }
}

/// The first of some places behind `turn`, the number of places up to the one that was served last.
#[inline(always)]
pub(crate) fn next_in_turn(places: u64, turn: u16) -> u32 {
    debug_assert!(places != 0);
    let turn = u32::from(turn) % 64;
    (places.rotate_right(turn).trailing_zeros() + turn) % 64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_place_is_behind_the_one_served_last() {
        let places = 1 << 0 | 1 << 5 | 1 << 63;
        let next: Vec<u32> = [0, 1, 5, 6, 63, 64].map(|turn| next_in_turn(places, turn)).to_vec();
        assert_eq!(next, [0, 5, 5, 63, 63, 0]);
        assert_eq!(next_in_turn(1 << 5, 6), 5, "once around");
    }
}
