//! A lane of a link at its sending end: one line of the cache.
//!
//! Room that the far end gives back travels: a [`Credit`] counts from its time on. Packets that wait for room in the output buffer are a list,
//! or bits of the inputs that hold them or have queues of them; see `turn`.
//!
//! Invariants: no room is negative; the times of a lane's credits don't fall.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::calendar::{END_PS, NEVER};
use crate::packet::pool::{List, NONE, Packet, Pool};
use crate::repeats::Visit;

/// Bits of [`Lane::sent`] that count bytes, and how many packets the others count.
pub(super) const SENT_BYTES: u32 = 24;
pub(super) const SENT_PACKETS: u32 = (1 << (32 - SENT_BYTES)) - 1;
const _: () = assert!((SENT_PACKETS as u64) * (u16::MAX as u64) < 1 << SENT_BYTES);

/// Room that comes back: when it counts (48 bits of picoseconds, up to [`END_PS`]) and bytes (16 bits).
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Credit(u64);

impl Credit {
    /// No credit: it never counts.
    pub const NONE: Self = Self(u64::MAX);

    #[inline(always)]
    pub fn new(time_ps: u64, bytes: u16) -> Self {
        Self(time_ps.min(END_PS - 1) << 16 | u64::from(bytes))
    }

    #[inline(always)]
    pub(super) fn is_none(self) -> bool {
        self.0 == u64::MAX
    }

    /// When it counts; [`NEVER`] for none.
    #[inline(always)]
    pub(super) fn next_ps(self) -> u64 {
        if self.is_none() { NEVER } else { self.time_ps() }
    }

    #[inline(always)]
    pub fn time_ps(self) -> u64 {
        self.0 >> 16
    }

    #[inline(always)]
    pub fn bytes(self) -> u16 {
        self.0 as u16
    }

    /// What it is worth to whoever counts it from now on.
    pub(super) fn visit(&mut self, visit: &mut Visit) {
        let (mut time_ps, bytes) = (self.next_ps(), self.bytes());
        visit.same(&bytes);
        visit.past(&mut time_ps);
        if !self.is_none() {
            *self = Self::new(time_ps, bytes);
        }
    }
}

/// Packets that wait for room in an output buffer: a list; or bits, by place, of the inputs that hold one, or of those (in groups, if there are
/// many) that have a queue.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Waiting {
    /// By place: the other bits than those that are set.
    list: List,
}

impl Waiting {
    /// Nobody.
    pub const NOBODY: Self = Self { list: List::EMPTY };

    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.list.head & self.list.tail == NONE
    }

    // ---- a list

    #[inline(always)]
    pub fn push(&mut self, packets: &mut Pool<Packet>, index: u32) {
        self.list.push(packets, index);
    }

    /// The first; [`NONE`] if nobody waits.
    #[inline(always)]
    pub fn first(self) -> u32 {
        self.list.head
    }

    /// Takes the packet after `before` (the first if `None`) out.
    #[inline(always)]
    pub fn remove_after(&mut self, packets: &mut Pool<Packet>, before: Option<u32>) {
        self.list.remove_after(packets, before);
        if self.list.is_empty() {
            self.list = List::EMPTY;
        }
    }

    #[inline(always)]
    pub fn iter(self, packets: &Pool<Packet>) -> impl Iterator<Item = u32> {
        self.list.iter(packets)
    }

    // ---- bits

    /// The places of inputs (of `queues`, groups of inputs) where somebody waits.
    #[inline(always)]
    pub fn places(self) -> u64 {
        !(u64::from(self.list.tail) << 32 | u64::from(self.list.head))
    }

    #[inline(always)]
    fn set_places(&mut self, places: u64) {
        self.list = List { head: !places as u32, tail: (!places >> 32) as u32 };
    }

    #[inline(always)]
    pub fn add_place(&mut self, place: u32) {
        self.set_places(self.places() | 1 << place);
    }

    #[inline(always)]
    pub fn remove_place(&mut self, place: u32) {
        self.set_places(self.places() & !(1 << place));
    }
}

/// One lane of one link, at the sending end; what belongs to the whole link is in its first lane's.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[repr(align(64))]
pub(crate) struct Lane {
    /// When the link will have sent what it sends.
    pub free_at: u64,
    /// When the link tries next; [`NEVER`] if nothing is planned.
    pub try_at: u64,
    /// The credits that come first; more of them are in `more`.
    pub(super) first: [Credit; 2],
    /// Packets that wait for room in the output buffer.
    pub waiting: Waiting,
    /// Packets in the output buffer; of a host's link, messages.
    pub queue: List,
    /// Room in the output buffer.
    pub out_room: i32,
    /// Room in the far end's input buffer.
    pub in_room: i32,
    /// What it has sent that is not in `carried` yet: packets, and in the lower [`SENT_BYTES`] bits their bytes.
    pub(super) sent: u32,
    /// The number of the input that was admitted last.
    pub turn: u16,
    /// There are more credits.
    pub(super) more: bool,
    /// The link lacks room that will come back.
    pub starved: bool,
}

impl Lane {
    /// How many inputs have their turn before the one of a number.
    #[inline(always)]
    pub fn inputs_before(&self, number: u16) -> u32 {
        u32::from(number.wrapping_sub(self.turn.wrapping_add(1)))
    }

    /// Counts the credits that have come by `now`; their bytes.
    #[inline]
    pub(super) fn take(&mut self, more: &mut VecDeque<Credit>, now: u64) -> u32 {
        let mut bytes = 0;
        while self.first[0].time_ps() <= now {
            bytes += u32::from(self.first[0].bytes());
            self.first[0] = self.first[1];
            self.first[1] = Credit::NONE;
            if self.more {
                self.first[1] = more.pop_front().unwrap_or(Credit::NONE);
                self.more = !more.is_empty();
            }
        }
        bytes
    }
}

/// What a lane of a link has sent: bytes on the wire, and packets.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Carried {
    pub bytes: u64,
    pub packets: u64,
}

impl Carried {
    /// With what a lane has sent besides, [`Lane::sent`].
    #[inline]
    pub(super) fn with(self, sent: u32) -> Self {
        let (packets, bytes) = (sent >> SENT_BYTES, sent & ((1 << SENT_BYTES) - 1));
        Self { bytes: self.bytes + u64::from(bytes), packets: self.packets + u64::from(packets) }
    }
}

const _: () = assert!(size_of::<Lane>() == 64);
