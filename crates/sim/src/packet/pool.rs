//! Packets (and messages that hosts send) as indices: nothing is allocated for one once the pool has grown.
//!
//! Invariant: an index is in at most one list; a freed one is in none.

use netloom_model::DestId;
use serde::{Deserialize, Serialize};

/// No packet, no message, end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// The bit of [`Packet::way`] that responses have.
pub(crate) const RESPONSE: u8 = 0b1000_0000;

/// A packet in the network: what every hop looks at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Packet {
    /// The next in its list.
    pub next: u32,
    /// Address of the destination.
    pub address: DestId,
    /// The link it came in on; once it is sent, ps from its head's leaving until its tail has left.
    pub via: u32,
    /// Bytes on the wire.
    pub wire: u16,
    /// Service level, and its lane: four bits each.
    levels: u8,
    /// How far it is on its way, for schemes that steer; see `choice::way`.
    pub way: u8,
}

/// What only a packet's hosts look at.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Origin {
    /// The receiver's record of its message.
    pub message: u32,
    /// When it was created, in units of `births`' own; the rest in `born_high`.
    born_low: u32,
    /// The high 8 bits of that, and 24 bits for the switch that a detour leads to.
    high: u32,
    /// What schemes draw by: it follows from the message and the packet's place in it; 0 for schemes that draw nothing.
    pub mark: u32,
}

/// Bits of a switch's number beside the time of creation.
const THROUGH_BITS: u32 = 24;

impl Origin {
    /// For schemes that ask for none.
    pub const NOBODYS: Self = Self { message: NONE, born_low: 0, high: 0, mark: 0 };

    pub fn new(message: u32, born: u64, mark: u32) -> Self {
        debug_assert!(born < 1 << 40);
        Self { message, born_low: born as u32, high: ((born >> 32) as u32) << THROUGH_BITS, mark }
    }

    /// The switch that the packet's detour leads to, if it makes one.
    #[inline]
    pub fn through(&self) -> u32 {
        self.high & ((1 << THROUGH_BITS) - 1)
    }

    /// The packet makes a detour to a switch.
    #[inline]
    pub fn set_through(&mut self, switch: u32) {
        debug_assert!(switch < 1 << THROUGH_BITS);
        self.high = self.high >> THROUGH_BITS << THROUGH_BITS | switch;
    }

    /// The packet was created at another time, in units of `births`' own.
    pub fn set_born(&mut self, born: u64) {
        let through = self.through();
        *self = Self::new(self.message, born, self.mark);
        self.set_through(through);
    }

    /// When the packet was created, in units of `births`' own.
    #[inline(always)]
    pub fn born(&self) -> u64 {
        u64::from(self.high >> THROUGH_BITS) << 32 | u64::from(self.born_low)
    }
}

impl Packet {
    /// A host's packet, on a lane.
    pub fn new(address: DestId, wire: u16, level: u8, lane: u8) -> Self {
        debug_assert!(level < 16 && lane < 16);
        Self { next: NONE, address, via: NONE, wire, levels: level << 4 | lane, way: 0 }
    }

    /// The same, so far on its way.
    #[inline(always)]
    pub fn on_way(self, way: u8) -> Self {
        Self { way, ..self }
    }

    /// Whether it is a response.
    #[inline(always)]
    pub fn is_response(&self) -> bool {
        self.way & RESPONSE != 0
    }

    #[inline(always)]
    pub fn level(&self) -> u8 {
        self.levels >> 4
    }

    /// Its lane on `via`, or on the link that it was sent over.
    #[inline(always)]
    pub fn lane(&self) -> u8 {
        self.levels & 15
    }

    #[inline(always)]
    pub fn set_lane(&mut self, lane: u8) {
        self.levels = self.levels & 0xf0 | lane;
    }
}

const _: () = assert!(size_of::<Packet>() == 16 && size_of::<Origin>() == 16);

#[cfg(test)]
std::thread_local! {
    /// How often this thread has looked at a slot of any pool.
    pub(crate) static LOOKS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Something that can be in a list.
pub(crate) trait Linked {
    fn next(&self) -> u32;
    fn set_next(&mut self, next: u32);
}

impl Linked for Packet {
    #[inline(always)]
    fn next(&self) -> u32 {
        self.next
    }
    #[inline(always)]
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// Reused slots.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Pool<T> {
    slots: Vec<T>,
    free: u32,
    live: usize,
}

impl<T: Linked> Pool<T> {
    pub fn new() -> Self {
        Self { slots: Vec::new(), free: NONE, live: 0 }
    }

    #[inline(always)]
    pub fn take(&mut self, value: T) -> u32 {
        self.live += 1;
        if self.free == NONE {
            self.slots.push(value);
            return (self.slots.len() - 1) as u32;
        }
        let taken = self.free;
        self.free = self.slots[taken as usize].next();
        self.slots[taken as usize] = value;
        taken
    }

    #[inline(always)]
    pub fn free(&mut self, index: u32) {
        self.live -= 1;
        self.slots[index as usize].set_next(self.free);
        self.free = index;
    }

    #[inline(always)]
    pub fn at(&mut self, index: u32) -> &mut T {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        &mut self.slots[index as usize]
    }

    #[inline(always)]
    pub fn get(&self, index: u32) -> &T {
        #[cfg(test)]
        LOOKS.set(LOOKS.get() + 1);
        &self.slots[index as usize]
    }

    /// Slots in use.
    pub fn live(&self) -> usize {
        self.live
    }

    /// The indices in use; takes time for all slots.
    pub fn live_indices(&self) -> impl Iterator<Item = u32> {
        let mut is_free = vec![false; self.slots.len()];
        let mut free = self.free;
        while free != NONE {
            is_free[free as usize] = true;
            free = self.slots[free as usize].next();
        }
        (0..self.slots.len() as u32).filter(move |&index| !is_free[index as usize])
    }
}

/// A first-in-first-out list through a pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct List {
    pub head: u32,
    pub tail: u32,
}

impl List {
    pub const EMPTY: List = List { head: NONE, tail: NONE };

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.head == NONE
    }

    #[inline(always)]
    pub fn push<T: Linked>(&mut self, pool: &mut Pool<T>, index: u32) {
        pool.at(index).set_next(NONE);
        if self.head == NONE {
            self.head = index;
        } else {
            pool.at(self.tail).set_next(index);
        }
        self.tail = index;
    }

    /// Puts an element before all others.
    #[inline(always)]
    pub fn push_front<T: Linked>(&mut self, pool: &mut Pool<T>, index: u32) {
        pool.at(index).set_next(self.head);
        if self.head == NONE {
            self.tail = index;
        }
        self.head = index;
    }

    #[inline(always)]
    pub fn pop<T: Linked>(&mut self, pool: &Pool<T>) -> Option<u32> {
        let first = self.head;
        if first == NONE {
            return None;
        }
        self.head = pool.get(first).next();
        Some(first)
    }

    /// Takes the element after `before` (the first if `None`) out.
    pub fn remove_after<T: Linked>(&mut self, pool: &mut Pool<T>, before: Option<u32>) -> u32 {
        let Some(before) = before else { return self.pop(pool).expect("the list is not empty") };
        let taken = pool.get(before).next();
        let next = pool.get(taken).next();
        pool.at(before).set_next(next);
        if self.tail == taken {
            self.tail = before;
        }
        taken
    }

    /// Its elements, first to last.
    pub fn iter<T: Linked>(self, pool: &Pool<T>) -> impl Iterator<Item = u32> {
        let mut at = self.head;
        std::iter::from_fn(move || {
            let here = at;
            (here != NONE).then(|| {
                at = pool.get(here).next();
                here
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out() {
        let mut packet = Packet::new(DestId(3), 4096, 15, 2);
        packet.set_lane(9);
        assert_eq!((packet.level(), packet.lane()), (15, 9));
        let mut origin = Origin::new(7, 0x12_3456_789a, 5);
        assert_eq!((origin.born(), origin.through()), (0x12_3456_789a, 0));
        origin.set_through(0xab_cdef);
        origin.set_through(0x12_3456);
        assert_eq!((origin.born(), origin.through(), origin.message), (0x12_3456_789a, 0x12_3456, 7));
        assert_eq!(origin.mark, 5);
    }
}
