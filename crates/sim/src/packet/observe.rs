//! Watching packets: path sampling and traces hook in here, at no cost where nobody listens.
//!
//! Who listens sees the whole network in one partition, in order of time.

use netloom_model::{DestId, HostId, LinkId};

use super::choice::Choice;
use super::engine::Network;
use super::program::Program;

/// Whose message a packet belongs to; ranks are those of the job.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Context {
    /// The job, counted from 0.
    pub job: u32,
    /// The rank that sends.
    pub from: u32,
    /// The rank that receives.
    pub to: u32,
    /// The message's tag; from 2^31 on those of collectives.
    pub tag: u32,
}

/// A packet on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flying {
    /// Its number while it is in the network; used again later.
    pub packet: u32,
    /// Its message's number; used again later.
    pub message: u32,
    /// The host that sends.
    pub from: HostId,
    /// The address that it goes to.
    pub address: DestId,
    /// Bytes on the wire.
    pub bytes: u16,
    /// Its lane.
    pub lane: u8,
    /// Whose it is.
    pub context: Context,
}

/// A packet is about to be queued at an output of a switch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hop {
    /// When, ps.
    pub now_ps: u64,
    /// The output.
    pub link: LinkId,
    /// What is queued there already, bytes of all lanes.
    pub queued_bytes: u32,
    /// The queue is longer than the credits for it (Taffet, dissertation, sec. 2.3.1): than the room at the far end that the sender
    /// knows of; where senders don't look downstream, than the room left in the output buffer.
    pub congested: bool,
    /// The packet.
    pub packet: Flying,
}

/// A packet leaves for the wire, from a switch or from its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// When its head leaves, ps.
    pub start_ps: u64,
    /// When its tail has left, ps.
    pub end_ps: u64,
    /// The link.
    pub link: LinkId,
    /// The packet.
    pub packet: Flying,
}

/// Sees every packet at every hop.
pub trait Observer: Send {
    /// False: nothing is called, and nothing is computed for it.
    const LISTENS: bool = true;

    /// A packet was queued at an output of a switch.
    fn hop(&mut self, _hop: Hop) {}

    /// A packet left for a link.
    fn departs(&mut self, _departure: Departure) {}
}

/// Nobody.
#[derive(Clone, Copy, Debug, Default)]
pub struct Nobody;

impl Observer for Nobody {
    const LISTENS: bool = false;
}

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// What there is to know of a packet.
    fn flying(&self, index: u32) -> Flying {
        let packet = self.packets.get(index);
        let record = &self.incoming[packet.message as usize];
        Flying {
            packet: index,
            message: packet.message,
            from: record.from,
            address: packet.address,
            bytes: packet.wire,
            lane: packet.lane,
            context: self.program.context(record.token),
        }
    }

    /// Tells of a packet that is about to be queued; its output is settled.
    pub(super) fn tell_hop(&mut self, link: u32, to_lane: u8, index: u32) {
        let packet = self.flying(index);
        let queued_bytes = self.ports.port(link).queued;
        let out = self.ports.credits_out;
        let lane = self.ports.at(link, to_lane);
        let room = if out { lane.out_room } else { lane.in_room };
        let congested = i64::from(queued_bytes) > i64::from(room);
        self.observer.hop(Hop { now_ps: self.now, link: LinkId(link), queued_bytes, congested, packet });
    }

    /// Tells of a packet that leaves now.
    pub(super) fn tell_departure(&mut self, link: u32, index: u32) {
        let (packet, end_ps) = (self.flying(index), self.ports.port(link).free_at);
        self.observer.departs(Departure { start_ps: self.now, end_ps, link: LinkId(link), packet });
    }
}
