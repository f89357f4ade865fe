//! Congestion control: packets that join and leave queues, notifications on their way, messages that hosts hold back.
//!
//! A mark that a packet carries is kept by the packet's number. A notification, of an output or of a receiver, is an event at the source's host, after the time that 64 bytes take on a shortest way back: each switch and cable, and
//! their time on each link, without waiting anywhere (they have the highest priority, and are few). It takes no bandwidth.
//!
//! All of it is in one partition.

use std::collections::VecDeque;

use netloom_model::{Dest, DestId, HostId, LinkId, SwitchId};

use super::adapters::MANAGED;
use crate::calendar::{Event, NEVER};
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::control::{Due, EndPoints, Flow, Notice, Verdict};
use crate::packet::hardware::Hardware;
use crate::packet::network::Network;
use crate::packet::pool::NONE;
use crate::program::{LAST_PS, Program};

/// Bytes of a notification on the wire.
pub(super) const NOTICE_BYTES: u16 = 64;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Whether an event is what a control has planned: it is none of the network's.
    #[inline(always)]
    pub(in crate::packet) fn is_managed(key: u32, links: u32, data: u32) -> bool {
        data == MANAGED && key & 1 == 1 && key >> 1 >= links
    }

    pub(super) fn control(&mut self) -> &mut EndPoints {
        self.end_points.as_mut().expect("the hardware's features say that there is a control")
    }

    fn flow(&mut self, address: DestId, level: u8) -> Flow {
        let to = match self.space.resolve(address) {
            Dest::Host(host, _) => host,
            Dest::Switch(switch) => HostId(self.fabric.host_count() as u32 + switch.0),
        };
        self.control().flow(to, level)
    }

    pub(super) fn plan(&mut self, host: HostId, time_ps: u64, what: Due) {
        let time_ps = time_ps.min(LAST_PS);
        self.control().plan(host, time_ps, what);
        let key = (self.fabric.link_count() as u32 + host.0) << 1 | 1;
        self.calendar.push(Event { time_ps, key, data: MANAGED });
    }

    // ---- switches

    /// A packet is about to join an output's queue.
    pub(in crate::packet) fn joins(&mut self, switch: SwitchId, out: u32, index: u32) {
        let (now, packet) = (self.now, *self.packets.get(index));
        let snoops = C::SNOOPS && self.choice.snoops();
        if snoops {
            let is_first = (packet.via as usize) < self.ports.hosts;
            self.control().trails.pass(index, packet.via, is_first);
        }
        let Some(feedback) = self.control().joins(index, out, packet.wire, now) else { return };
        let source = self.hosts.incoming(self.origins[index as usize].message).from;
        let flow = self.flow(packet.address, packet.level());
        if snoops && self.ports.far_end(out).is_some() {
            let trail = self.control().trails.of(index).to_vec();
            let notice = Notice { flow, address: packet.address, feedback, trail };
            return self.snoop(switch, out, source, notice);
        }
        let time_ps = now.saturating_add(self.back_ps(switch, source));
        self.plan(source, time_ps, Due::Notice(flow, feedback));
    }

    /// A packet begins to leave.
    pub(in crate::packet) fn leaves_queue<H: Hardware>(&mut self, link: u32, index: u32, wire: u16) {
        if (link as usize) >= self.ports.hosts {
            let (now, lacked_credits) = (self.now, self.ports.link::<H>(link).starved);
            self.control().leaves(index, link, wire, lacked_credits, now);
        }
    }

    /// A packet that waited for an output waits for another.
    pub(in crate::packet) fn changes_queue(&mut self, from: u32, to: u32, wire: u16) {
        let now = self.now;
        self.control().backlog.change(from, -i32::from(wire), now);
        self.control().backlog.change(to, i32::from(wire), now);
    }

    /// Time that a notification takes from a switch to a host, ps.
    fn back_ps(&mut self, switch: SwitchId, host: HostId) -> u64 {
        let fabric = self.fabric;
        let one =
            |link: LinkId| self.config.delay_ps(fabric, link) + self.ports.kind(link.0).time_ps(NOTICE_BYTES);
        let at = fabric.leaf(host);
        let last_ps = one(fabric.reverse(fabric.host_link(host)));
        let known = self.end_points.as_ref().and_then(|points| points.back_ps.get(&switch.0));
        if let Some(times) = known {
            return times[at.index()].saturating_add(last_ps);
        }
        let mut times = vec![NEVER; fabric.switch_count()];
        times[switch.index()] = 0;
        let mut next = VecDeque::from([switch]);
        while let Some(from) = next.pop_front() {
            for link in fabric.switch_links(from).filter(|&link| fabric.alive(link)) {
                if let Some(to) = self.ports.far_end(link.0)
                    && times[to.index()] == NEVER
                {
                    times[to.index()] = times[from.index()] + one(link);
                    next.push_back(to);
                }
            }
        }
        let time_ps = times[at.index()].saturating_add(last_ps);
        self.control().back_ps.insert(switch.0, times);
        time_ps
    }

    // ---- hosts

    /// A packet is received; its payload counts if it is data.
    pub(in crate::packet) fn is_received(&mut self, link: u32, from: HostId, index: u32, is_data: bool) {
        let (now, to) = (self.now, HostId(self.fabric.reverse(LinkId(link)).0));
        let packet = *self.packets.get(index);
        let payload = u64::from(packet.wire) - u64::from(self.config.header_bytes);
        let control = self.control();
        if let Some(order) = &mut control.order {
            order.receives(index, from, to, packet.level(), packet.wire);
        }
        if is_data {
            control.receives(from, to, payload, now);
        }
        if control.tells(index, from, to, packet.level(), now) {
            let last = self.fabric.host_link(to);
            let first_ps =
                self.config.delay_ps(self.fabric, last) + self.ports.kind(last.0).time_ps(NOTICE_BYTES);
            let back_ps = self.back_ps(self.fabric.leaf(to), from);
            let flow = self.flow(packet.address, packet.level());
            let time_ps = now.saturating_add(first_ps).saturating_add(back_ps);
            self.plan(from, time_ps, Due::Notice(flow, 1));
        }
    }

    /// Takes messages that may not send yet from the heads of a host's queues.
    pub(in crate::packet) fn hold_back<H: Hardware>(&mut self, host: u32) {
        let rotates = self.config.injection.rotates();
        for lane in 0..self.ports.lanes::<H>() as u8 {
            loop {
                let message = self.ports.at::<H>(host, lane).queue.head;
                if message == NONE {
                    break;
                }
                let outgoing = self.hosts.outgoing(message);
                let (address, level) = (outgoing.address, outgoing.level);
                let (flow, now) = (self.flow(address, level), self.now);
                let of = HostId(host);
                let Verdict::Held { in_front, plan_ps } =
                    self.control().may_send(of, flow, message, rotates, now)
                else {
                    break;
                };
                self.hosts.dequeue(&mut self.ports.at::<H>(host, lane).queue);
                let end_points = self.end_points.as_mut().expect("there is a control");
                let held = end_points.hold(of, flow, lane, now);
                if in_front {
                    self.hosts.enqueue_first(held, message);
                } else {
                    self.hosts.enqueue(held, message);
                }
                if let Some(time_ps) = plan_ps {
                    self.plan(of, time_ps, Due::Release(flow));
                }
                // What was behind it may be out of turn.
                self.keep_turns::<H>(host);
            }
        }
    }

    /// A packet of a message has left its host; `is_last` if it was the message's last.
    pub(in crate::packet) fn is_sent(
        &mut self,
        host: u32,
        index: u32,
        (address, level, wire): (DestId, u8, u16),
        is_last: bool,
    ) {
        let (flow, now, of) = (self.flow(address, level), self.now, HostId(host));
        let speed = self.fabric.bandwidth_bytes_per_s(self.fabric.host_link(of));
        self.control().begins(index);
        self.control().begins_flow(of, flow, speed, now);
        if let Dest::Host(to, _) = self.space.resolve(address)
            && let Some(order) = &mut self.control().order
        {
            order.sends(index, of, to, level);
        }
        if let Some(time_ps) = self.control().sends(of, flow, wire, is_last, now) {
            self.plan(of, time_ps, Due::Release(flow));
        }
    }

    /// Does what a control has planned for a host by now.
    pub(in crate::packet) fn deal_with_due<H: Hardware>(&mut self, host: HostId) {
        let now = self.now;
        while let Some(due) = self.control().take_due(host, now) {
            match due {
                Due::Notice(flow, feedback) => self.slow_down(host, flow, feedback),
                Due::Step(number) => self.comes_back(host, number),
                Due::Release(flow) => self.let_go::<H>(host, flow),
            }
        }
    }

    /// A host hears of congestion.
    pub(super) fn slow_down(&mut self, host: HostId, flow: Flow, feedback: u8) {
        let (speed, now) = (self.fabric.bandwidth_bytes_per_s(self.fabric.host_link(host)), self.now);
        self.control().is_told(host, flow, feedback, speed, now);
    }

    /// A flow may send again: the first message that it holds back comes into its lane's queue.
    fn let_go<H: Hardware>(&mut self, host: HostId, flow: Flow) {
        let now = self.now;
        let (message, lane) = loop {
            let end_points = self.end_points.as_mut().expect("there is a control");
            let Some((held, lane)) = end_points.release(host, flow, now) else { return };
            let message = held.head;
            self.hosts.dequeue(held);
            if !(self.waits_its_turn(message) && self.hosts.is_out_of_turn(host, lane, message)) {
                break (message, lane);
            }
            // The one that has its receiver's turn may be held back behind it.
            self.control().release_next(host, flow, now);
            self.wait_for_turn::<H>(host.0, lane, message);
        };
        let queue = &mut self.ports.at::<H>(host.0, lane).queue;
        if self.config.injection.rotates() {
            self.hosts.enqueue(queue, message);
        } else {
            self.hosts.enqueue_first(queue, message);
        }
        self.ports.settle::<H>(host.0, now);
        self.inject::<H>(host.0);
    }
}
