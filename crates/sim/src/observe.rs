//! Watching packets: path sampling and traces hook in here, at no cost where nobody listens.
//!
//! Who listens sees the whole network in one partition, in order of time.

use netloom_model::{DestId, HostId, LinkId};

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
    /// The queue is longer than the credits for it: [`Queue::is_congested`].
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

/// What a packet finds where it is added to a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Queue {
    /// What is queued there already, bytes of all lanes.
    pub bytes: u32,
    /// Credits for its lane: the room at the far end that the sender knows of; where senders don't look downstream, the room left in the
    /// output buffer.
    pub credits_bytes: u32,
}

impl Queue {
    /// The queue is longer than the credits for it (Taffet, dissertation, sec. 2.3.1).
    pub fn is_congested(self) -> bool {
        self.bytes > self.credits_bytes
    }
}

/// A packet was received by its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When its tail was there, ps.
    pub now_ps: u64,
    /// Its number, free for another packet now.
    pub packet: u32,
    /// The host that sent it.
    pub from: HostId,
    /// The host that received it.
    pub to: HostId,
    /// Bytes on the wire.
    pub bytes: u16,
    /// Whose it is.
    pub context: Context,
}

/// Sees every packet at every hop.
pub trait Observer: Send {
    /// False: nothing is called, and nothing is computed for it.
    const LISTENS: bool = true;

    /// False: [`Observer::hop`] and [`Observer::departs`] are not called, and the engine runs as fast as where nobody listens. What leaves a
    /// queue just when a packet is added has then left it.
    const TRACES: bool = true;

    /// A packet is added to the queue of a link: of its host's first, then of a switch's at every hop. What is queued is looked at if asked.
    ///
    /// Adapters make packets as they send them, so that their queue is what would have been made by then at the speed of the link, a
    /// buffer at most; the credits are those that it leaves behind.
    fn joins(&mut self, _packet: u32, _link: LinkId, _queue: impl FnOnce() -> Queue) {}

    /// Reads what will be read when a packet joins its next queue or arrives, so that it is in the cache by then. What it returns means
    /// nothing.
    fn foresee(&self, _packet: u32) -> u64 {
        0
    }

    /// A packet that waited for one output of a switch goes to another one, which has room.
    fn moves(&mut self, _packet: u32, _to: LinkId, _queue: impl FnOnce() -> Queue) {}

    /// A host has received a packet.
    fn arrives(&mut self, _arrival: Arrival) {}

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
