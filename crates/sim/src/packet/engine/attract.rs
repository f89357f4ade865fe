//! Packets wait for room, and are admitted: those whose turn it is at an output, and those that an idle output takes from others; see `inputs` and `heads`.

use netloom_model::{LinkId, SwitchId};

use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::choice::Here;
use crate::packet::hardware::Hardware;
use crate::packet::network::Network;
use crate::packet::pool::Packet;
use crate::packet::switch::{Head, Mover, next_in_turn};
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// A packet waits at the end of a link for an output.
    #[inline(always)]
    pub(in crate::packet) fn wait<H: Hardware>(
        &mut self,
        (switch, link): (SwitchId, u32),
        (out, lane): (u32, u8),
        packet: &Packet,
        index: u32,
    ) {
        let &Packet { wire, .. } = packet;
        let port = self.ports.port(link);
        let place = port.to_place();
        let cables = || self.fabric.switch_links(switch).len();
        self.ports.wait::<H>((out, lane), (place, cables), &mut self.packets, index);
        if C::LOOKS && self.moves {
            let set = self.choice.set_of(Here::of(packet, switch));
            if set == 0 {
                return;
            }
            if self.ports.features::<H>().by_place {
                let back = self.ports.back(out, place);
                self.ports.inputs.stay((switch.0, place), back, lane, Mover { home: out, set, wire });
            } else {
                let number = port.to_number;
                self.heads.stay(switch.0, Head { index, home: out, set, wire, number });
            }
        }
    }

    /// Admits a packet that waited, and finds outputs for those that it held up.
    pub(in crate::packet) fn go_on<H: Hardware>(&mut self, link: u32, to_lane: u8, index: u32) {
        if C::LOOKS {
            self.go::<H>(index);
        }
        let packet = self.packets.get(index);
        let (via, lane) = (packet.via, packet.lane());
        self.admit::<H>(link, to_lane, index);
        if self.ports.features::<H>().head_of_line {
            let end = self.ports.end::<H>(via, lane);
            match end.inbox.pop(&self.packets) {
                Some(next) => self.place::<H>(via, next),
                None => end.held = false,
            }
        }
    }

    /// Takes the packet whose turn it is from those that wait for room, if there is room for it.
    #[inline(always)]
    pub(in crate::packet) fn next_admitted<H: Hardware>(&mut self, link: u32, lane: u8) -> Option<u32> {
        let state = &self.ports.lane[self.ports.index::<H>(link, lane)];
        if state.waiting.is_empty() {
            return None;
        }
        let room = state.out_room;
        let turn = self.ports.whose_turn::<H>(link, lane, &self.packets);
        if i32::from(self.packets.get(turn.packet).wire) > room {
            return None;
        }
        self.ports.end_wait::<H>((link, lane), turn, &mut self.packets);
        Some(turn.packet)
    }

    /// A packet has got the room it waited for.
    #[inline(always)]
    fn go<H: Hardware>(&mut self, index: u32) {
        if !self.moves {
            return;
        }
        let packet = self.packets.get(index);
        let (lane, port) = (packet.lane(), self.ports.port(packet.via));
        if self.ports.features::<H>().by_place {
            self.ports.inputs.leave((port.to, port.to_place()), lane);
        } else {
            self.heads.leave(port.to, index);
        }
    }

    /// An output with nobody waiting takes packets that wait elsewhere in its switch, as long as there is room.
    #[inline(always)]
    pub(in crate::packet) fn attract<H: Hardware>(&mut self, link: u32, lane: u8) {
        // Only where room comes back just now: a try at another time must change nothing.
        if !self.moves || self.ports.free_at::<H>(link) != self.now || self.ports.far_end(link).is_none() {
            return; // nobody has a choice besides a link to a host
        }
        let switch = self.fabric.link_from_switch(LinkId(link)).expect("hosts don't attract");
        loop {
            let state = &self.ports.lane[self.ports.index::<H>(link, lane)];
            if !state.waiting.is_empty() || state.out_room <= 0 {
                return;
            }
            let found = if self.ports.features::<H>().by_place {
                self.next_mover::<H>(switch, link, lane)
            } else {
                self.next_head::<H>(switch, link, lane)
            };
            let Some((index, home)) = found else { return };
            self.attract_from::<H>(link, lane, index, home);
        }
    }

    /// The packet of a switch that may take an output, whose turn it is, and the output that it waits for.
    #[inline(always)]
    fn next_mover<H: Hardware>(&self, switch: SwitchId, link: u32, lane: u8) -> Option<(u32, u32)> {
        let state = &self.ports.lane[self.ports.index::<H>(link, lane)];
        let (room, first) = (state.out_room, self.ports.back(link, 0));
        let moving = self.ports.inputs.moving(switch.0, lane).iter();
        let may = moving.filter(|&&(set, _)| self.choice.is_in(LinkId(link), set));
        let mut places = may.fold(0, |all, (_, places)| all | places);
        while places != 0 {
            let place = next_in_turn(places, state.turn);
            let mover = self.ports.inputs.mover(first + place, lane);
            if i32::from(mover.wire) <= room {
                return Some((self.ports.inputs.packet(first + place, lane), mover.home));
            }
            places &= !(1 << place);
        }
        None
    }

    /// The same where those that may move are a list.
    fn next_head<H: Hardware>(&self, switch: SwitchId, link: u32, lane: u8) -> Option<(u32, u32)> {
        let in_turn = self.ports.features::<H>().in_turn;
        let state = &self.ports.lane[self.ports.index::<H>(link, lane)];
        let room = state.out_room;
        let mut best = (u32::MAX, None);
        // Most of them have the same set.
        let mut known = (0, false);
        for &Head { index, home, set, wire, number } in self.heads.of(switch.index()) {
            let distance = if in_turn { state.inputs_before(number) } else { 0 };
            if distance >= best.0 || i32::from(wire) > room || home == link {
                continue;
            }
            if set != known.0 {
                known = (set, self.choice.is_in(LinkId(link), set));
            }
            if known.1 && self.lane_out::<H>(link, self.packets.get(index)) == lane {
                best = (distance, Some((index, home)));
            }
        }
        best.1
    }

    /// An output takes a packet that waits for another.
    fn attract_from<H: Hardware>(&mut self, link: u32, lane: u8, index: u32, home: u32) {
        let packet = *self.packets.get(index);
        let wire = i32::from(packet.wire);
        let home_lane = self.lane_out::<H>(home, &packet);
        let place = self.ports.port(packet.via).to_place();
        let turn = self.ports.turn_of::<H>((home, home_lane), (place, index), &self.packets);
        self.ports.end_wait::<H>((home, home_lane), turn, &mut self.packets);
        self.notify_move::<H>(link, lane, index);
        self.ports.queue(home, -wire, self.now);
        self.ports.queue(link, wire, self.now);
        if self.ports.features::<H>().control {
            self.changes_queue(home, link, packet.wire);
        }
        self.ports.settle::<H>(home, self.now);
        self.arm::<H>(home);
        self.lag(home, home_lane);
        self.go_on::<H>(link, lane, index);
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::Control;
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    use crate::config::{Admission, Config};
    use crate::packet::pool::LOOKS;
    use crate::profile::Profile;
    use crate::replay::Job;
    use crate::{Incast, Measure, Model, Scheme, Setup, simulate};

    /// How often a run of eight senders and one receiver, so many packets each, looks at packets and messages, a packet-hop. All
    /// senders but those on the receiver's leaf share one link, in front of which their packets wait.
    fn looks_a_hop(packets: u64, config: Config) -> f64 {
        let fabric = generate("two-level:leaves=3,hosts=4,spines=1").unwrap();
        let routes = route(Engine::Dmodk, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let bytes = packets * u64::from(config.packet_bytes);
        let incast = Incast { ranks: 9, root: 0, messages: 1, bytes, iterations: 1 };
        let setup = Setup {
            fabric: &fabric,
            scheme: Scheme::Tables(&routes),
            model: Model::Packet,
            profile: Profile { config, ..Profile::infiniband() },
            jobs: vec![Job::new("in", fabric.hosts().take(9).collect(), incast)],
            seed: 1,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            skip_repeats: None,
            until_ps: None,
        };
        let before = LOOKS.get();
        let outcome = simulate(setup, &Control::new()).unwrap();
        assert!(outcome.stuck.is_empty() && outcome.packets >= 8 * packets, "all arrive");
        (LOOKS.get() - before) as f64 / outcome.packet_hops as f64
    }

    /// Thousands of packets waited in one list, and whose turn it was was looked for in all of it: time went by the square of the bytes.
    #[test]
    fn a_hop_costs_the_same_however_many_packets_wait() {
        let deep = Config { head_of_line: false, input_buffer_bytes: Some(1 << 28), ..Config::infiniband() };
        for admission in [Admission::RoundRobin, Admission::InOrder] {
            let config = Config { admission, ..deep.clone() };
            let [few, many] = [200, 3200].map(|packets| looks_a_hop(packets, config.clone()));
            assert!(few > 1.0 && many < 1.1 * few, "{admission:?}: {few} looks a hop, then {many}");
        }
    }
}
