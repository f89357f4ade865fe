//! Any scheme, for runs that are watched: one machine code for all of them, slower than their own.

use std::num::NonZeroU32;

use netloom_model::{DestId, HostId, LinkId, SwitchId};

use super::{Choice, Here, Notified, Outputs, Way};
use crate::record::Snooped;

/// A scheme whose type is known only when it runs.
pub(crate) struct AnyChoice<'a>(Box<dyn AnyType<'a> + 'a>);

impl<'a> AnyChoice<'a> {
    /// The scheme, behind a pointer.
    pub fn new(choice: impl Choice + Clone + 'a) -> Self {
        Self(Box::new(choice))
    }
}

impl Clone for AnyChoice<'_> {
    fn clone(&self) -> Self {
        Self(self.0.boxed())
    }
}

/// [`Choice`] and [`Clone`], as far as they can be called behind a pointer.
trait AnyType<'a>: Send {
    fn boxed(&self) -> Box<dyn AnyType<'a> + 'a>;
    fn lanes(&self) -> u8;
    fn lane(&self, here: Here, out: LinkId) -> Option<u8>;
    fn first_lane(&self, from: HostId, level: u8) -> Option<u8>;
    fn response_lane(&self) -> Option<u8>;
    fn lmc(&self) -> u8;
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId>;
    fn steer(&mut self, here: Here, way: &mut Way, outputs: &mut Outputs) -> Option<LinkId>;
    fn set_of(&self, here: Here) -> u32;
    fn is_in(&self, link: LinkId, set: u32) -> bool;
    fn snoops(&self) -> bool;
    fn is_notified(&mut self, switch: SwitchId, address: DestId, notified: Notified) -> bool;
    fn snooped(&self) -> Option<Snooped>;
    fn keeps_order(&self) -> bool;
    fn queue_pairs(&self) -> Option<NonZeroU32>;
}

impl<'a, C: Choice + Clone + 'a> AnyType<'a> for C {
    fn boxed(&self) -> Box<dyn AnyType<'a> + 'a> {
        Box::new(self.clone())
    }

    fn lanes(&self) -> u8 {
        Choice::lanes(self)
    }

    fn lane(&self, here: Here, out: LinkId) -> Option<u8> {
        Choice::lane(self, here, out).filter(|_| C::LANES)
    }

    fn first_lane(&self, from: HostId, level: u8) -> Option<u8> {
        Choice::first_lane(self, from, level).filter(|_| C::LANES)
    }

    fn response_lane(&self) -> Option<u8> {
        Choice::response_lane(self)
    }

    fn lmc(&self) -> u8 {
        Choice::lmc(self)
    }

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        Choice::output(self, here, outputs)
    }

    fn steer(&mut self, here: Here, way: &mut Way, outputs: &mut Outputs) -> Option<LinkId> {
        Choice::steer(self, here, way, outputs)
    }

    fn set_of(&self, here: Here) -> u32 {
        Choice::set_of(self, here)
    }

    fn is_in(&self, link: LinkId, set: u32) -> bool {
        Choice::is_in(self, link, set)
    }

    fn snoops(&self) -> bool {
        Choice::snoops(self)
    }

    fn is_notified(&mut self, switch: SwitchId, address: DestId, notified: Notified) -> bool {
        Choice::is_notified(self, switch, address, notified)
    }

    fn snooped(&self) -> Option<Snooped> {
        Choice::snooped(self)
    }

    fn keeps_order(&self) -> bool {
        Choice::keeps_order(self)
    }

    fn queue_pairs(&self) -> Option<NonZeroU32> {
        Choice::queue_pairs(self)
    }
}

impl Choice for AnyChoice<'_> {
    const LOOKS: bool = true;
    const DRAWS: bool = true;
    const LOCAL: bool = false;
    const LANES: bool = true;
    const STEERS: bool = true;
    const SNOOPS: bool = true;

    fn lanes(&self) -> u8 {
        self.0.lanes()
    }

    fn lane(&self, here: Here, out: LinkId) -> Option<u8> {
        self.0.lane(here, out)
    }

    fn first_lane(&self, from: HostId, level: u8) -> Option<u8> {
        self.0.first_lane(from, level)
    }

    fn response_lane(&self) -> Option<u8> {
        self.0.response_lane()
    }

    fn lmc(&self) -> u8 {
        self.0.lmc()
    }

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        self.0.output(here, outputs)
    }

    fn steer(&mut self, here: Here, way: &mut Way, outputs: &mut Outputs) -> Option<LinkId> {
        self.0.steer(here, way, outputs)
    }

    fn set_of(&self, here: Here) -> u32 {
        self.0.set_of(here)
    }

    fn is_in(&self, link: LinkId, set: u32) -> bool {
        self.0.is_in(link, set)
    }

    fn snoops(&self) -> bool {
        self.0.snoops()
    }

    fn is_notified(&mut self, switch: SwitchId, address: DestId, notified: Notified) -> bool {
        self.0.is_notified(switch, address, notified)
    }

    fn snooped(&self) -> Option<Snooped> {
        self.0.snooped()
    }

    fn keeps_order(&self) -> bool {
        self.0.keeps_order()
    }

    fn queue_pairs(&self) -> Option<NonZeroU32> {
        self.0.queue_pairs()
    }
}
