//! Which output a packet takes: a trait, and a file a scheme.

mod adaptive;
mod any;
mod by_mode;
mod draw;
mod hashed;
mod minimal;
mod random;
mod remote;
mod snooping;
mod steer;
mod table;
mod way;

use std::num::NonZeroU32;

use netloom_model::{DestId, HostId, LinkId, SwitchId};

use super::pool::{Origin, Packet};
use super::switch::Ports;
use crate::SimError;
use crate::record::Snooped;
use crate::state_codec::{StateReader, StateWriter};

pub use adaptive::Adaptive;
pub(crate) use any::AnyChoice;
pub use by_mode::ByMode;
pub use hashed::Hashed;
pub use random::RandomPerPacket;
pub use remote::AdaptiveRemote;
pub use snooping::Snooping;
pub use steer::{Steer, sees};
pub use table::ByTable;
pub use way::Way;

/// A packet at a switch, as a scheme sees it.
#[derive(Clone, Copy, Debug)]
pub struct Here {
    /// The switch.
    pub switch: SwitchId,
    /// The link it came in on.
    pub via: LinkId,
    /// Address of its destination.
    pub address: DestId,
    /// Its virtual lane.
    pub lane: u8,
    /// How far it is on its way; see [`Choice::STEERS`].
    pub way: Way,
}

impl Here {
    /// A packet at a switch.
    #[inline]
    pub(crate) fn of(packet: &Packet, switch: SwitchId) -> Self {
        Self {
            switch,
            via: LinkId(packet.via),
            address: packet.address,
            lane: packet.lane(),
            way: Way::of(packet.way),
        }
    }
}

/// What a scheme may look at: the outputs of the switch where the packet is, and what it heard of other switches.
pub struct Outputs<'a> {
    pub(crate) now: u64,
    pub(crate) ports: &'a mut Ports,
    pub(crate) origin: &'a Origin,
}

impl Outputs<'_> {
    /// What the packet draws by, if its scheme [draws](Choice::DRAWS): the same whatever others do.
    #[inline]
    pub fn mark(&self) -> u32 {
        self.origin.mark
    }

    /// Bytes that wait for an output link of this switch or have left by it and still hold room downstream (its
    /// outstanding credits), all lanes together; 0 for an idle one.
    #[inline(always)]
    pub fn load(&mut self, link: LinkId) -> u32 {
        self.ports.load(link.0, self.now)
    }

    /// Bytes that waited for a link of any switch when the news of it left, a credit's time ago. Known to schemes
    /// that are not [`Choice::LOCAL`]; 0 for others.
    #[inline]
    pub fn remote_load(&mut self, link: LinkId) -> u32 {
        self.ports.remote.load(link.0, self.now)
    }

    /// The switch at the far end of a link, if it is one.
    #[inline]
    pub fn far_end(&self, link: LinkId) -> Option<SwitchId> {
        self.ports.far_end(link.0)
    }
}

/// What a congestion notification tells a switch that it comes by.
#[derive(Clone, Copy, Debug)]
pub struct Notified {
    /// The switch's output by which the sampled packet left.
    pub link: LinkId,
    /// 1 to 63.
    pub feedback: u8,
    /// The time, ps.
    pub now_ps: u64,
    /// Until when the switch remembers it, ps.
    pub until_ps: u64,
}

/// A routing scheme of the switches. It remembers nothing from packet to packet but what [`Choice::save`] writes.
pub trait Choice: Send {
    /// Whether it looks at [`Outputs`]; they are kept exact only for those that do.
    const LOOKS: bool;

    /// Whether it draws at random, by [`Outputs::mark`]; packets have marks only for those that do.
    const DRAWS: bool = false;

    /// Whether it knows its own switch only. A scheme that knows others runs in one partition.
    const LOCAL: bool = true;

    /// Whether it chooses lanes too, with [`Choice::lane`]; else they follow from service levels and SL-to-VL tables.
    const LANES: bool = false;

    /// Whether packets carry how far they are on their way: it is asked with [`Choice::steer`], once a hop, in place of [`Choice::output`].
    const STEERS: bool = false;

    /// Whether it may listen to congestion notifications, see [`Choice::snoops`].
    const SNOOPS: bool = false;

    /// Where all packets of a flow go one way: how many queue pairs two hosts have, each a flow.
    fn queue_pairs(&self) -> Option<NonZeroU32> {
        None
    }

    /// How many lanes it needs.
    fn lanes(&self) -> u8 {
        1
    }

    /// The LID mask control of the addresses that it knows.
    fn lmc(&self) -> u8 {
        0
    }

    /// The output of a packet. `None`: it can't go on.
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId>;

    /// The output of a packet whose way so far is in `here`, and is brought up to date in `way`. `None`: it can't go on.
    #[inline]
    fn steer(&mut self, here: Here, _way: &mut Way, outputs: &mut Outputs) -> Option<LinkId> {
        self.output(here, outputs)
    }

    /// The lane of a packet's next link, from 0 to [`Choice::lanes`] - 1. `None`: as service levels say. Asked only if [`Choice::LANES`], and
    /// again for another output that the packet may take.
    #[inline]
    fn lane(&self, _here: Here, _out: LinkId) -> Option<u8> {
        None
    }

    /// The lane on which a host sends what has a service level, in the same way.
    #[inline]
    fn first_lane(&self, _from: HostId, _level: u8) -> Option<u8> {
        None
    }

    /// The lane on which a host sends responses, if these have lanes of their own; else they share those of what they answer.
    #[inline]
    fn response_lane(&self) -> Option<u8> {
        None
    }

    /// The output that a packet will take, if that is known before it is there.
    #[inline(always)]
    fn foresee(&self, _here: Here) -> Option<LinkId> {
        None
    }

    /// Whether it listens to congestion notifications: then it is told of each with [`Choice::is_notified`], at every switch on its way back.
    fn snoops(&self) -> bool {
        false
    }

    /// A notification about packets to an address comes by a switch; whether it ends there.
    fn is_notified(&mut self, _switch: SwitchId, _address: DestId, _notified: Notified) -> bool {
        false
    }

    /// What came of listening.
    fn snooped(&self) -> Option<Snooped> {
        None
    }

    /// Whether packets of a pair of addresses always go the same way.
    fn keeps_order(&self) -> bool {
        false
    }

    /// Writes what it remembers.
    fn save(&self, _to: &mut StateWriter) {}

    /// Reads it back.
    ///
    /// # Errors
    /// [`SimError::State`] if that can't be.
    fn load(&mut self, _from: &mut StateReader) -> Result<(), SimError> {
        Ok(())
    }

    /// Number of the set of outputs that a packet may yet choose from while it waits at the head of its input; equal numbers mean equal
    /// sets. 0: it keeps the output that was chosen.
    #[inline]
    fn set_of(&self, _here: Here) -> u32 {
        0
    }

    /// Whether an output is in a set.
    #[inline]
    fn is_in(&self, _link: LinkId, _set: u32) -> bool {
        false
    }
}
