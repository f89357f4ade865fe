//! What observers are told; see `observe`.

use netloom_model::LinkId;

use super::choice::Choice;
use super::hardware::Any;
use super::network::Network;
use super::observe::{Departure, Flying, Hop, Observer};
use super::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// What there is to know of a packet.
    fn flying(&self, index: u32) -> Flying {
        let packet = self.packets.get(index);
        let message = self.origins[index as usize].message;
        let record = &self.incoming[message as usize];
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
    pub(super) fn tell_hop(&mut self, link: u32, to_lane: u8, index: u32) {
        let packet = self.flying(index);
        let queued_bytes = self.ports.queued(link, &self.packets);
        let out = self.ports.features::<Any>().credits_out;
        let lane = self.ports.at::<Any>(link, to_lane);
        let room = if out { lane.out_room } else { lane.in_room };
        let congested = i64::from(queued_bytes) > i64::from(room);
        self.observer.hop(Hop { now_ps: self.now, link: LinkId(link), queued_bytes, congested, packet });
    }

    /// Tells of a packet that leaves now.
    pub(super) fn tell_departure(&mut self, link: u32, index: u32) {
        let (packet, end_ps) = (self.flying(index), self.ports.free_at::<Any>(link));
        self.observer.departs(Departure { start_ps: self.now, end_ps, link: LinkId(link), packet });
    }
}
