//! Congestion notifications that switches listen to: back by the way that the sampled packet came, from switch to switch, until one of them can
//! send packets another way, else to the source.
//!
//! A step takes a cable, a switch and the time of 64 bytes on the link, and is planned at the source's host, as what it ends in is.

use netloom_model::{HostId, LinkId, SwitchId};

use super::limits::NOTICE_BYTES;
use crate::observe::Observer;
use crate::packet::choice::{Choice, Notified};
use crate::packet::control::{Due, Notice};
use crate::packet::network::Network;
use crate::program::Program;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// A switch tells itself and those before it that one of its outputs to a switch is congested.
    pub(super) fn snoop(&mut self, switch: SwitchId, out: u32, host: HostId, notice: Notice) {
        if !self.ends_at(switch, out, &notice) {
            self.go_back(host, notice);
        }
    }

    /// A notification comes to the far end of the last link of its trail.
    pub(super) fn comes_back(&mut self, host: HostId, number: u32) {
        let mut notice = self.control().trails.take(number);
        let link = notice.trail.pop().expect("a notification has a way back");
        match self.fabric.link_from_switch(LinkId(link)) {
            Some(switch) if self.ends_at(switch, link, &notice) => {}
            Some(_) => self.go_back(host, notice),
            None => self.slow_down(host, notice.flow, notice.feedback),
        }
    }

    fn ends_at(&mut self, switch: SwitchId, out: u32, notice: &Notice) -> bool {
        let until_ps = self.now.saturating_add(self.control().memory_ps());
        let notified = Notified { link: LinkId(out), feedback: notice.feedback, now_ps: self.now, until_ps };
        self.choice.is_notified(switch, notice.address, notified)
    }

    fn go_back(&mut self, host: HostId, notice: Notice) {
        let link = *notice.trail.last().expect("a notification has a way back");
        let back = self.fabric.reverse(LinkId(link));
        let takes_ps =
            self.config.delay_ps(self.fabric, back) + self.ports.kind(back.0).time_ps(NOTICE_BYTES);
        let time_ps = self.now.saturating_add(takes_ps);
        let number = self.control().trails.keep(notice);
        self.plan(host, time_ps, Due::Step(number));
    }
}
