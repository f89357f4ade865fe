//! Responses: a host answers every packet that it receives, and hears of those that it has sent; see `host::responses`.
//!
//! A response is a message without payload: a header on the wire. It goes before the data of its lane. Programs and observers see none of it.

use netloom_model::{HostId, LinkId};

use crate::observe::Observer;
use crate::packet::choice::{Choice, Way};
use crate::packet::hardware::Hardware;
use crate::packet::host::{Outgoing, Responses, Ticket};
use crate::packet::network::Network;
use crate::packet::pool::{NONE, Origin, Packet};
use crate::program::Program;

/// More than any room: who needs so much may not send.
const NO_ROOM: u32 = i32::MAX as u32;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    pub(super) fn responses(&mut self) -> &mut Responses<P::Token> {
        self.responses.as_mut().expect("the hardware's features say that packets are answered")
    }

    /// Whether a host's window is full.
    #[inline(always)]
    pub(super) fn is_full<H: Hardware>(&self, host: u32) -> bool {
        self.ports.features::<H>().responds && self.responses.as_ref().is_some_and(|all| all.is_full(host))
    }

    /// Room that a message with so much payload left needs for its next packet.
    #[inline(always)]
    pub(super) fn needs(packet_bytes: u32, header: u32, full: bool, left: u64) -> u32 {
        if full && left > 0 { NO_ROOM } else { left.min(u64::from(packet_bytes)) as u32 + header }
    }

    /// Notes whether a host's data wait for room in the network, once it has sent what it could.
    pub(super) fn note_stall<H: Hardware>(&mut self, host: u32, full: bool) {
        let (packet_bytes, header) = (self.config.packet_bytes, self.config.header_bytes);
        let left = |head: u32| self.hosts.outgoing(head).left;
        let lanes = self.ports.lanes_of::<H>(host);
        let mut data = lanes.iter().filter(|lane| !lane.queue.is_empty() && left(lane.queue.head) > 0);
        let can = |list: crate::packet::pool::List| Self::needs(packet_bytes, header, full, left(list.head));
        if !full && data.clone().count() > 0 && !data.any(|lane| self.ports.is_ready::<H>(host, lane, can)) {
            let since_ps = self.ports.free_at::<H>(host).max(self.now);
            self.responses().stalls(host, since_ps);
        }
    }

    /// The host at the end of `link` answers a packet.
    pub(super) fn respond<H: Hardware>(
        &mut self,
        link: u32,
        to: HostId,
        (packet, origin, ticket): (Packet, Origin, Ticket),
        token: P::Token,
    ) {
        let host = self.fabric.reverse(LinkId(link)).0;
        let level = packet.level();
        let outgoing = Outgoing {
            next: NONE,
            record: origin.message,
            rest: NONE,
            address: self.space.host(to, 0),
            level,
            way: Way::response().bits(),
            has_turn: false,
            mark: !origin.mark,
            left: 0,
            posted_ps: self.now,
            token,
        };
        let slot = self.hosts.take(outgoing);
        self.limit("messages", slot);
        self.responses().answers(slot, ticket);
        match self.choice.response_lane() {
            Some(lane) => self.hosts.enqueue(&mut self.ports.at::<H>(host, lane).queue, slot),
            None => {
                let lane = self.first_lane(HostId(host), level);
                self.hosts.enqueue_first(&mut self.ports.at::<H>(host, lane).queue, slot);
            }
        }
        self.ports.settle::<H>(host, self.now);
        self.inject::<H>(host);
    }

    /// A response has come over `link`.
    pub(super) fn is_answered<H: Hardware>(&mut self, link: u32, index: u32) {
        let packet = *self.packets.get(index);
        let host = HostId(self.fabric.reverse(LinkId(link)).0);
        self.packets.free(index);
        self.give_back::<H>(link, packet.wire, packet.lane(), self.now);
        self.received += 1;
        let (now, was_full) = (self.now, self.is_full::<H>(host.0));
        if let Some((token, transmission)) = self.responses().is_answered(host, index, now) {
            self.program.transmitted(host, token, transmission);
        }
        if was_full {
            self.ports.settle::<H>(host.0, self.now);
            self.inject::<H>(host.0);
        }
    }
}
