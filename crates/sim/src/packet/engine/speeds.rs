//! From a slow link into a fast one: switches that cut through store and forward there.
//!
//! A packet that goes on before its tail is there holds its output until the tail has gone on. Over a faster output than its input that would be at the
//! input's pace, and whoever shares the output would lose the rest of it. So it is passed on when all of it has come.

use netloom_model::{LinkId, SwitchId};

use crate::calendar::Event;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::hardware::Hardware;
use crate::packet::network::Network;
use crate::packet::switch::Ports;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// A packet whose head has come over a slower link than it goes on over is passed on when all of it is there, or the fast link would be held at
    /// the slow one's pace: whether that is later. It then comes again just before its tail, before the head of the next one.
    #[cold]
    pub(super) fn comes_whole<H: Hardware>(&mut self, link: u32, index: u32) -> bool {
        let held_ps = self.packets.get(index).via;
        if !self.ports.goes_through::<H>(link) || held_ps <= 1 {
            return false;
        }
        let switch = SwitchId(self.ports.port(link).to);
        let is_faster = |ports: &Ports, out: LinkId| ports.kind(out.0).is_faster_than(ports.kind(link));
        let waits = if C::STEERS || C::SNOOPS {
            // These are asked once.
            self.fabric.switch_links(switch).any(|out| is_faster(&self.ports, out))
        } else {
            self.packets.at(index).via = link;
            let packet = *self.packets.get(index);
            self.choose(switch, &packet, index).is_some_and(|out| is_faster(&self.ports, out))
        };
        self.packets.at(index).via = if waits { 1 } else { held_ps };
        if waits {
            let time_ps = self.now + u64::from(held_ps) - 1;
            self.calendar.push(Event { time_ps, key: link << 1 | 1, data: index });
            self.events -= 1; // it counts when it comes
        }
        waits
    }
}
