//! How far a packet is on its way through a dragonfly: a byte that it carries.
//!
//! Bits 0 and 1: cables between groups that it has crossed; bit 2: it makes a detour; bit 3: that is decided; bits 4 to 6: its mode and
//! one more, 0 for none of its own; bit 7: it is a response. A detour that is not decided was begun on the way, within a group, and is
//! decided where it ends. Where a detour leads is a switch of its third group, or of the group. It lies by packet beside, and is read
//! only until the packet is there.

use netloom_model::SwitchId;

use crate::mode::Mode;
use crate::packet::pool::RESPONSE;

const CROSSED: u8 = 0b11;
const DETOUR: u8 = 0b100;
const DECIDED: u8 = 0b1000;
const MODE_FROM: u32 = 4;
const MODE: u8 = 0b111;

/// How far a packet is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Way {
    bits: u8,
    through: SwitchId,
}

impl Default for Way {
    fn default() -> Self {
        Self::of(0)
    }
}

impl Way {
    /// As a packet carries it.
    #[inline(always)]
    pub(crate) fn of(bits: u8) -> Self {
        Self { bits, through: SwitchId(u32::MAX) }
    }

    #[inline(always)]
    pub(crate) fn bits(self) -> u8 {
        self.bits
    }

    /// That of a packet that leaves its host.
    #[inline]
    pub(crate) fn of_mode(mode: Option<Mode>) -> Self {
        Self::of(mode.map_or(0, |mode| (mode.number() + 1) << MODE_FROM))
    }

    /// That of a response that leaves its host.
    pub(crate) fn response() -> Self {
        Self::of(RESPONSE)
    }

    /// The packet's mode; `None`: it has the scheme's.
    #[inline]
    pub fn mode(self) -> Option<Mode> {
        Some(Mode::ALL[usize::from((self.bits >> MODE_FROM & MODE).checked_sub(1)?)])
    }

    /// Whether its mode has all packets of a pair of hosts draw the same.
    #[inline(always)]
    pub(crate) fn is_in_order(self) -> bool {
        self.bits >> MODE_FROM & MODE == Mode::InOrder as u8 + 1
    }

    /// Whether it is a response.
    #[inline(always)]
    pub fn is_response(self) -> bool {
        self.bits & RESPONSE != 0
    }

    /// Cables between groups behind it.
    #[inline(always)]
    pub fn crossed(self) -> u8 {
        self.bits & CROSSED
    }

    /// Another cable between groups is behind it.
    #[inline(always)]
    pub(super) fn cross(&mut self) {
        debug_assert!(self.crossed() < CROSSED);
        self.bits += 1;
    }

    /// Whether it makes a detour, or has made one.
    #[inline(always)]
    pub fn is_detour(self) -> bool {
        self.bits & DETOUR != 0
    }

    /// Whether it is on its way to a third group, or a third switch of a group, and not there yet.
    #[inline(always)]
    pub fn seeks(self) -> bool {
        let turns = self.bits & (DETOUR | CROSSED);
        turns == DETOUR || self.is_late()
    }

    /// Whether it is on its way to a third switch of a group where it chose again.
    #[inline(always)]
    pub(super) fn is_late(self) -> bool {
        self.bits & (DETOUR | DECIDED) == DETOUR
    }

    /// It goes by a third switch of a group where it chose again.
    #[inline(always)]
    pub(super) fn go_late(&mut self, switch: SwitchId) {
        self.bits = self.bits & !DECIDED | DETOUR;
        self.through = switch;
    }

    /// It has come to the third switch.
    #[inline(always)]
    pub(super) fn arrive(&mut self) {
        self.bits |= DECIDED;
    }

    /// Whether it is known if it makes a detour.
    #[inline(always)]
    pub(super) fn is_decided(self) -> bool {
        self.bits & DECIDED != 0
    }

    /// It goes the minimal way.
    #[inline(always)]
    pub(super) fn go_minimal(&mut self) {
        self.bits |= DECIDED;
    }

    /// It goes by a switch of a third group.
    #[inline(always)]
    pub(super) fn go_through(&mut self, switch: SwitchId) {
        self.bits |= DECIDED | DETOUR;
        self.through = switch;
    }

    /// The switch of the third group, while it [seeks](Self::seeks) that.
    #[inline(always)]
    pub(super) fn through(self) -> SwitchId {
        self.through
    }

    #[inline(always)]
    pub(crate) fn set_through(&mut self, switch: SwitchId) {
        self.through = switch;
    }

    /// The switch that its detour leads to, if it has begun one since `before`.
    #[inline(always)]
    pub(crate) fn begins(self, before: Self) -> Option<SwitchId> {
        (self.is_detour() && !before.is_detour()).then_some(self.through)
    }
}
