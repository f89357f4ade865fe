//! What observers are told; see `observe`.

use netloom_model::{HostId, LinkId};

use crate::observe::{Arrival, Departure, Flying, Hop, Observer, Queue};
use crate::packet::choice::Choice;
use crate::packet::hardware::{Any, Hardware};
use crate::packet::host::Incoming;
use crate::packet::network::Network;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Whether observers do not see a packet: it is a response.
    fn is_unseen(&self, index: u32) -> bool {
        self.packets.get(index).is_response()
    }

    /// What there is to know of a packet.
    fn flying(&self, index: u32) -> Flying {
        let packet = self.packets.get(index);
        let message = self.origins[index as usize].message;
        let record = self.hosts.incoming(message);
        Flying {
            packet: index,
            message,
            from: record.from,
            address: packet.address,
            bytes: packet.wire,
            lane: packet.lane(),
            context: self.program.context(record.token),
        }
    }

    /// Tells of a packet that is about to be queued; its output is settled.
    #[inline(always)]
    pub(in crate::packet) fn notify_hop<H: Hardware>(&mut self, link: u32, to_lane: u8, index: u32) {
        if !O::LISTENS || self.is_unseen(index) {
            return;
        }
        let (ports, packets) = (&self.ports, &self.packets);
        self.observer.joins(index, LinkId(link), move || ports.queue_before::<H>(link, to_lane, packets));
        if O::TRACES {
            let packet = self.flying(index);
            let queue = self.ports.queue_before::<H>(link, to_lane, &self.packets);
            let congested = queue.is_congested();
            let link = LinkId(link);
            self.observer.hop(Hop { now_ps: self.now, link, queued_bytes: queue.bytes, congested, packet });
        }
    }

    /// Tells of a packet that moves to another output, whose queue it has not joined yet.
    #[inline(always)]
    pub(in crate::packet) fn notify_move<H: Hardware>(&mut self, link: u32, to_lane: u8, index: u32) {
        if O::LISTENS && !self.is_unseen(index) {
            let (ports, packets) = (&self.ports, &self.packets);
            self.observer.moves(index, LinkId(link), move || ports.queue_before::<H>(link, to_lane, packets));
        }
    }

    /// Tells of a packet of `wire` bytes that is about to leave its host, and of what it has found in the adapter's queue.
    #[inline(always)]
    pub(in crate::packet) fn notify_birth<H: Hardware>(
        &mut self,
        host: u32,
        lane: u8,
        index: u32,
        wire: u32,
        born: u64,
    ) {
        if !O::LISTENS || self.is_unseen(index) {
            return;
        }
        let (ports, births, wire_bytes) = (&self.ports, self.hosts.births(), self.config.wire_bytes());
        self.observer.joins(index, LinkId(host), move || {
            let at = host as usize * ports.lanes + usize::from(lane);
            let found = births.map_or(0, |births| births.found(at, born));
            let credits_bytes = ports.credits_bytes::<H>(host, lane).saturating_sub(wire);
            Queue { bytes: found * wire_bytes, credits_bytes }
        });
    }

    /// Tells of a packet that its host receives.
    #[inline(always)]
    pub(in crate::packet) fn notify_arrival(&mut self, link: u32, index: u32, bytes: u16, record: u32) {
        if O::LISTENS {
            let Incoming { from, token, .. } = *self.hosts.incoming(record);
            let to = HostId(self.fabric.reverse(LinkId(link)).0);
            let context = self.program.context(token);
            self.observer.arrives(Arrival { now_ps: self.now, packet: index, from, to, bytes, context });
        }
    }

    /// Tells of a packet that leaves now.
    #[inline(always)]
    pub(in crate::packet) fn notify_departure(&mut self, link: u32, index: u32) {
        if O::LISTENS && O::TRACES && !self.is_unseen(index) {
            let (packet, end_ps) = (self.flying(index), self.ports.free_at::<Any>(link));
            self.observer.departs(Departure { start_ps: self.now, end_ps, link: LinkId(link), packet });
        }
    }
}
