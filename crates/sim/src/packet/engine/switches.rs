//! The event loop: packets arrive at switches, outputs try to send.
//!
//! Events of the network are two: "a packet is here" (one a hop) and "this output may try again" (only where something
//! waits). Room that comes back is no event: it lies in a ring at the sender, which is woken only if it lacks room.
//!
//! The departure of a packet is scheduled on its arrival if only earlier packets on its link can delay it
//! (*ahead of time*): the output need not try again. What leaves when is the same; samples, observers and news of other switches see
//! packets leave, so they do without.
//!
//! Invariants: whenever an event has been dealt with, everything that can move at its time has moved; so a try more or less changes
//! nothing, and results depend on the events' order `(time, link or host, …)` alone.
//!
//! What comes at one time to one place: packets by link (a link brings one at a time); hosts are in `adapters`.

use netloom_model::{HostId, LinkId, SwitchId};

use super::deadlock::deadlock;
use crate::SimError;
use crate::calendar::{END_PS, Event, MOST_DATA, NEVER};
use crate::observe::Observer;
use crate::packet::choice::{Choice, Here, Outputs};
use crate::packet::hardware::{Any, ChosenLanes, Codes, Deep, Hardware, InfiniBand, Lanes, Managed, Moving};
use crate::packet::network::Network;
use crate::packet::pool::{List, NONE, Origin, Packet};
use crate::packet::switch::{Lane, Port};
use crate::program::Program;
use crate::record::check_rows;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// Runs until nothing happens any more.
    ///
    /// # Errors
    /// [`SimError`] if packets wait for each other for ever, or have no way on.
    pub fn run(&mut self) -> Result<(), SimError> {
        self.start();
        self.run_before(NEVER)?;
        self.check_deadlock()
    }

    /// Lets the program begin; once, before anything else.
    pub fn start(&mut self) {
        self.program.start(&mut self.desk);
        self.desk.keep_here();
        self.clear_desk::<Any>();
    }

    /// Whether nothing happens any more by itself: the program has not stopped, and no event is left.
    pub fn is_silent(&self) -> bool {
        !self.stopped && self.calendar.is_empty()
    }

    /// Refuses packets that are left when nothing happens any more.
    ///
    /// # Errors
    /// [`SimError::Deadlock`] with the cycle of links that wait for each other.
    pub fn check_deadlock(&self) -> Result<(), SimError> {
        let error = if self.stopped { None } else { deadlock(std::slice::from_ref(self)) };
        error.map_or(Ok(()), Err)
    }

    /// Deals with everything that happens before `end_ps`.
    ///
    /// # Errors
    /// As [`Network::run`].
    pub fn run_before(&mut self, end_ps: u64) -> Result<(), SimError> {
        self.run_events(end_ps, u64::MAX).map(drop)
    }

    /// Deals with what happens before `end_ps`, but with at most so many events; whether that stopped it.
    ///
    /// # Errors
    /// As [`Network::run`].
    pub fn run_events(&mut self, end_ps: u64, most: u64) -> Result<bool, SimError> {
        let mut left = most;
        loop {
            let sample_ps = self.recorder.as_ref().map_or(NEVER, |recorder| recorder.next_ps());
            let more = self.run_slice(end_ps.min(sample_ps), &mut left)?;
            if more || self.stopped || sample_ps >= end_ps || self.calendar.is_empty() {
                return Ok(more);
            }
            if let Some(recorder) = &mut self.recorder {
                recorder.sample(&self.ports, &self.packets, self.now);
                recorder.skip(self.calendar.next_ps().min(end_ps - 1), self.now);
                let rows = recorder.rows();
                self.failed_at = (self.now, 0);
                check_rows(rows)?;
            }
        }
    }

    /// Deals with what happens before `end_ps`, and counts down `left`; whether that stopped it.
    fn run_slice(&mut self, end_ps: u64, left: &mut u64) -> Result<bool, SimError> {
        let features = Some(self.ports.features);
        if (O::LISTENS && O::TRACES) || !C::LOCAL {
            self.run_slice_of::<Any>(end_ps, left)
        } else if features == Codes::KNOWN {
            self.run_slice_of::<Codes>(end_ps, left)
        } else if features == Deep::KNOWN {
            self.run_slice_of::<Deep>(end_ps, left)
        } else if features == Managed::KNOWN {
            self.run_slice_of::<Managed>(end_ps, left)
        } else if !C::LOOKS && !C::LANES && features == InfiniBand::KNOWN {
            self.run_slice_of::<InfiniBand>(end_ps, left)
        } else if !C::LANES && features == Moving::KNOWN {
            self.run_slice_of::<Moving>(end_ps, left)
        } else if !C::LANES && features == Lanes::KNOWN {
            self.run_slice_of::<Lanes>(end_ps, left)
        } else if features == ChosenLanes::KNOWN {
            self.run_slice_of::<ChosenLanes>(end_ps, left)
        } else {
            self.run_slice_of::<Any>(end_ps, left)
        }
    }

    /// The same, for a hardware.
    fn run_slice_of<H: Hardware>(&mut self, end_ps: u64, left: &mut u64) -> Result<bool, SimError> {
        let links = self.fabric.link_count() as u32;
        let hosts_end = links + self.fabric.host_count() as u32;
        if self.alert {
            self.failed_at = (self.now, 0);
            if self.attend::<H>()? {
                return Ok(false);
            }
        }
        while *left > 0 {
            *left -= 1;
            let Some(Event { time_ps, key, data }) = self.calendar.pop_before(end_ps.min(END_PS)) else {
                if end_ps > END_PS && !self.calendar.is_empty() {
                    return Err(self.overflow());
                }
                return Ok(false);
            };
            debug_assert!(time_ps >= self.now);
            if self.calendar.is_time_to_look() {
                self.foresee::<H>();
            }
            self.now = time_ps;
            let link = key >> 1;
            if link < links && key & 1 == 0 {
                self.attempt::<H>(link);
            } else {
                if !(self.ports.features::<H>().control && Self::is_managed(key, links, data)) {
                    self.last = time_ps;
                }
                self.events += u64::from(link < hosts_end);
                if link < links {
                    self.arrive::<H>(link, data);
                } else if link < hosts_end {
                    self.host_event::<H>(HostId(link - links), key & 1 == 1, data);
                } else {
                    self.hear(data);
                }
            }
            if self.alert {
                self.failed_at = (time_ps, key);
                if self.attend::<H>()? {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Deals with what an event has left to do besides: outputs that others must catch up at, a failure, the end; whether that has come.
    #[cold]
    fn attend<H: Hardware>(&mut self) -> Result<bool, SimError> {
        self.alert = false;
        while let Some((out, lane)) = self.behind.pop() {
            self.catch_up::<H>(out, lane);
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.stopped || self.paused),
        }
    }

    /// Ends the run with an error.
    #[cold]
    pub(in crate::packet) fn fail(&mut self, error: SimError) {
        self.failed = Some(error);
        self.alert = true;
    }

    /// A packet waits at an output that may fit, though others before it did not.
    #[cold]
    pub(in crate::packet) fn lag(&mut self, out: u32, lane: u8) {
        self.behind.push((out, lane));
        self.alert = true;
    }

    // ---- a packet at the far end of a link

    fn arrive<H: Hardware>(&mut self, link: u32, index: u32) {
        if self.ports.mixed_speeds && self.comes_whole::<H>(link, index) {
            return;
        }
        if let Some(recorder) = &mut self.recorder {
            let packet = self.packets.get(index);
            recorder.received(link, packet.lane(), self.ports.lanes, packet.wire);
        }
        if self.ports.port(link).to == Port::HOST {
            return self.eject::<H>(link, index);
        }
        let packet = self.packets.at(index);
        let held_ps = std::mem::replace(&mut packet.via, link);
        let lane = packet.lane();
        if self.ports.features::<H>().cut_through {
            self.ports.end::<H>(link, 0).last = (index, self.now + u64::from(held_ps));
        }
        if self.ports.features::<H>().head_of_line {
            let end = self.ports.end::<H>(link, lane);
            if end.held {
                end.inbox.push(&mut self.packets, index);
                return;
            }
        }
        self.place::<H>(link, index);
    }

    /// Finds outputs for a packet and for those that it held up.
    pub(in crate::packet) fn place<H: Hardware>(&mut self, link: u32, mut index: u32) {
        let switch = SwitchId(self.ports.port(link).to);
        loop {
            let chosen = if C::STEERS { self.steer(switch, index) } else { None };
            let packet = *self.packets.get(index);
            let chosen = if C::STEERS { chosen } else { self.choose(switch, &packet, index) };
            let Some(LinkId(out)) = chosen else { return self.stuck(switch, packet) };
            let wire = i32::from(packet.wire);
            let lane = self.lane_out::<H>(out, &packet);
            self.ports.settle::<H>(out, self.now);
            self.notify_hop::<H>(out, lane, index);
            if self.ports.features::<H>().control {
                self.joins(switch, out, index);
            }
            self.ports.queue(out, wire, self.now);
            let state = self.ports.at::<H>(out, lane);
            let fits = wire <= state.out_room;
            if !state.waiting.is_empty() || !fits {
                self.wait::<H>((switch, link), (out, lane), &packet, index);
                if fits && self.ports.features::<H>().in_turn {
                    self.lag(out, lane);
                }
                self.arm::<H>(out);
                if self.ports.features::<H>().head_of_line {
                    self.ports.end::<H>(link, packet.lane()).held = true;
                }
                return;
            }
            self.admit::<H>(out, lane, index);
            self.pump::<H>(out);
            if !self.ports.features::<H>().head_of_line {
                return;
            }
            let end = self.ports.end::<H>(link, packet.lane());
            match end.inbox.pop(&self.packets) {
                Some(next) => index = next,
                None => {
                    end.held = false;
                    return;
                }
            }
        }
    }

    /// The lane of a packet's next link.
    #[inline(always)]
    pub(in crate::packet) fn lane_out<H: Hardware>(&self, out: u32, packet: &Packet) -> u8 {
        if self.ports.features::<H>().one_lane {
            return 0;
        }
        if C::LANES {
            let switch = SwitchId(self.ports.port(packet.via).to);
            if let Some(lane) = self.choice.lane(Here::of(packet, switch), LinkId(out)) {
                return lane;
            }
        }
        match &self.config.lane_map {
            None => packet.lane(),
            Some(map) => map.lane(packet.via, out, packet.level()),
        }
    }

    #[inline(always)]
    pub(super) fn choose(&mut self, switch: SwitchId, packet: &Packet, index: u32) -> Option<LinkId> {
        let origin = if C::DRAWS { &self.origins[index as usize] } else { &Origin::NOBODYS };
        let mut outputs = Outputs { now: self.now, ports: &mut self.ports, origin };
        self.choice.output(Here::of(packet, switch), &mut outputs)
    }

    /// The output of a packet that carries its way, which goes on.
    fn steer(&mut self, switch: SwitchId, index: u32) -> Option<LinkId> {
        let here = Here::of(self.packets.get(index), switch);
        let mut way = here.way;
        if way.seeks() {
            way.set_through(SwitchId(self.origins[index as usize].through()));
        }
        let origin = &self.origins[index as usize];
        let mut outputs = Outputs { now: self.now, ports: &mut self.ports, origin };
        let chosen = self.choice.steer(Here { way, ..here }, &mut way, &mut outputs);
        self.packets.at(index).way = way.bits();
        if let Some(through) = way.begins(here.way) {
            self.origins[index as usize].set_through(through.0);
        }
        chosen
    }

    /// Takes a packet into the output buffer of `out` and a lane, and tells where it came from.
    #[inline(always)]
    pub(in crate::packet) fn admit<H: Hardware>(&mut self, out: u32, to_lane: u8, index: u32) {
        let &Packet { via, wire, .. } = self.packets.get(index);
        let tail_ps = self.tail_ps::<H>(index);
        let turn = self.ports.port(via).to_number;
        let buffer = self.ports.at::<H>(out, to_lane);
        buffer.turn = turn;
        buffer.out_room -= i32::from(wire);
        debug_assert!(buffer.out_room >= 0);
        buffer.queue.push(&mut self.packets, index);
        let lane = self.packets.get(index).lane();
        self.give_back::<H>(via, wire, lane, tail_ps);
    }

    /// Room at the far end of `link` is free once the packet's tail has come.
    #[inline(always)]
    pub(in crate::packet) fn give_back<H: Hardware>(
        &mut self,
        link: u32,
        bytes: u16,
        lane: u8,
        tail_ps: u64,
    ) {
        let from_part = self.ports.port(link).from_part;
        let time_ps = self.now.max(tail_ps) + self.ports.kind(link).credit_ps;
        if self.ports.features::<H>().credits_out {
            self.ports.remote.change(link, -i32::from(bytes), self.now);
        }
        if from_part == self.here {
            self.credit::<H>(link, lane, time_ps, bytes);
        } else {
            self.give_away(from_part, time_ps, link, bytes, lane);
        }
    }

    /// Room is on its way back to `link`.
    #[inline(always)]
    pub(in crate::packet) fn credit<H: Hardware>(&mut self, link: u32, lane: u8, time_ps: u64, bytes: u16) {
        let time_ps = self.ports.give_back::<H>(link, lane, time_ps, bytes);
        if self.ports.link::<H>(link).starved {
            self.schedule::<H>(link, time_ps);
            std::hint::black_box(self.read_waiting::<H>(link)); // as in `foresight`: its turn comes soon
        }
    }

    // ---- an output of a switch, or a host's adapter

    /// The planned try of an output.
    fn attempt<H: Hardware>(&mut self, link: u32) {
        let state = self.ports.link::<H>(link);
        if state.try_at != self.now {
            return; // an earlier one took its place
        }
        state.try_at = NEVER;
        self.ports.settle::<H>(link, self.now);
        if (link as usize) < self.ports.hosts {
            return self.inject::<H>(link);
        }
        for lane in 0..self.ports.lanes::<H>() as u8 {
            while let Some(index) = self.next_admitted::<H>(link, lane) {
                self.go_on::<H>(link, lane, index);
            }
            if C::LOOKS {
                self.attract::<H>(link, lane);
            }
        }
        self.pump::<H>(link);
    }

    /// Admits those that fit now that others wait than at the output's last try: one whose turn it is may be shorter than
    /// the one that did not fit.
    fn catch_up<H: Hardware>(&mut self, out: u32, lane: u8) {
        let mut some = false;
        while let Some(index) = self.next_admitted::<H>(out, lane) {
            self.go_on::<H>(out, lane, index);
            some = true;
        }
        if some {
            self.pump::<H>(out);
        }
    }

    /// Sends what it can, and plans the next try.
    #[inline(always)]
    fn pump<H: Hardware>(&mut self, link: u32) {
        if !self.ports.features::<H>().ahead {
            return self.pump_now::<H>(link);
        }
        loop {
            let &mut Lane { free_at, in_room, queue: List { head, .. }, .. } = self.ports.link::<H>(link);
            if head == NONE || free_at > self.now + self.ahead_ps {
                break;
            }
            let packet = self.packets.get(head);
            if !self.ports.features::<H>().credits_out
                && (i32::from(packet.wire) > in_room || !self.ports.can_note::<H>(link))
            {
                break;
            }
            self.ports.link::<H>(link).queue.head = packet.next;
            let tail_ps = self.tail_ps::<H>(head);
            self.launch::<H>(link, 0, head, tail_ps);
        }
        self.arm_ahead::<H>(link);
    }

    /// The same where packets are sent when their link is free.
    fn pump_now<H: Hardware>(&mut self, link: u32) {
        if self.ports.free_at::<H>(link) <= self.now
            && let Some(lane) =
                self.ports.next_lane::<H>(link, |list| u32::from(self.packets.get(list.head).wire))
        {
            let index =
                self.ports.at::<H>(link, lane).queue.pop(&self.packets).expect("the lane has a packet");
            let tail_ps = self.tail_ps::<H>(index);
            self.launch::<H>(link, lane, index, tail_ps);
        }
        self.arm_now::<H>(link);
    }

    /// When the tail of a packet at a switch will have come; 0 if it is there. That of a packet which is not its link's last is.
    #[inline(always)]
    fn tail_ps<H: Hardware>(&mut self, index: u32) -> u64 {
        if !self.ports.features::<H>().cut_through {
            return 0;
        }
        let via = self.packets.get(index).via;
        let (last, tail_ps) = self.ports.end::<H>(via, 0).last;
        if last == index { tail_ps } else { 0 }
    }

    /// Sends a packet whose tail is here at `tail_ps`, as soon as the link is free.
    #[inline(always)]
    pub(in crate::packet) fn launch<H: Hardware>(&mut self, link: u32, lane: u8, index: u32, tail_ps: u64) {
        let port = self.ports.port(link);
        let out = !self.ports.features::<H>().credits_out;
        if self.ports.link::<H>(link).starved {
            let free_at = self.ports.free_at::<H>(link);
            self.ports.waits.sends(link, free_at, self.now);
        }
        let kind = *self.ports.kind(link);
        let packet = self.packets.at(index);
        let bytes = packet.wire;
        let state = self.ports.link::<H>(link);
        let start = state.free_at.max(self.now);
        // A packet that is still coming in holds the link until its tail has gone on.
        let end = (start + kind.time_ps(bytes)).max(tail_ps);
        state.free_at = end;
        packet.via = (end - start) as u32;
        packet.set_lane(lane);
        if out {
            let state = self.ports.at::<H>(link, lane);
            state.in_room -= i32::from(bytes);
            debug_assert!(state.in_room >= 0);
            self.ports.leaves(link, end, bytes);
            self.ports.remote.change(link, -i32::from(bytes), self.now);
        }
        self.ports.carry::<H>(link, lane, bytes);
        if self.ports.features::<H>().control {
            self.leaves_queue::<H>(link, index, bytes);
        }
        self.notify_departure(link, index);
        let through = self.ports.goes_through::<H>(link);
        let time_ps = if through { start } else { end } + kind.delay_ps;
        if port.to_part == self.here {
            self.calendar.push(Event { time_ps, key: link << 1 | 1, data: index });
        } else {
            self.send_away(port.to_part, time_ps, link, index);
        }
    }

    /// Plans the next try of a link, if something waits there.
    #[inline(always)]
    pub(in crate::packet) fn arm<H: Hardware>(&mut self, link: u32) {
        if self.ports.features::<H>().ahead {
            self.arm_ahead::<H>(link);
        } else {
            self.arm_now::<H>(link);
        }
    }

    fn arm_now<H: Hardware>(&mut self, link: u32) {
        let free_at = self.ports.free_at::<H>(link);
        let busy = free_at > self.now;
        let (mut waits, mut queued) = (false, false);
        for lane in self.ports.lanes_of::<H>(link) {
            waits |= !lane.waiting.is_empty();
            queued |= !lane.queue.is_empty();
        }
        if busy && (queued || (waits && !self.ports.features::<H>().credits_out) || self.restless) {
            self.schedule::<H>(link, free_at);
        }
        let starved = if self.ports.features::<H>().credits_out { waits } else { queued && !busy };
        self.await_credit::<H>(link, starved);
    }

    /// The same where packets are sent ahead of time.
    #[inline(always)]
    fn arm_ahead<H: Hardware>(&mut self, link: u32) {
        let credits_out = self.ports.features::<H>().credits_out;
        let state = self.ports.link::<H>(link);
        let (waits, queued) = (!state.waiting.is_empty(), !state.queue.is_empty());
        let was = state.starved;
        if !(waits || queued || was) {
            return;
        }
        let mut starved = credits_out && waits;
        if queued {
            let (free_at, head, room) = (state.free_at, state.queue.head, state.in_room);
            if free_at > self.now + self.ahead_ps {
                // Half of the time, so that several are sent then.
                self.schedule::<H>(link, free_at - self.ahead_ps / 2);
            }
            // One that lacked room lacks it until it is sent, at the try for which the room has come.
            starved |= was || i32::from(self.packets.get(head).wire) > room;
        }
        if !credits_out && (waits || queued) {
            let time_ps = self.ports.leaves_ps::<H>(link);
            if time_ps != NEVER {
                self.schedule::<H>(link, time_ps);
            }
        }
        self.await_credit::<H>(link, starved);
    }

    /// Notes whether a link lacks room, and plans a try for when some comes back.
    #[inline(always)]
    pub(in crate::packet) fn await_credit<H: Hardware>(&mut self, link: u32, starved: bool) {
        let was = std::mem::replace(&mut self.ports.link::<H>(link).starved, starved);
        if was != starved || (starved && !self.ports.features::<H>().one_lane) {
            self.ports.note_wait::<H>(link, starved, self.now);
        }
        if starved {
            let time_ps = self.ports.next_credit_ps::<H>(link);
            if time_ps != NEVER {
                self.schedule::<H>(link, time_ps);
            }
        }
    }

    /// Plans a try; a host's not before its link is free, as it can't do anything else then.
    #[inline(always)]
    pub(in crate::packet) fn schedule<H: Hardware>(&mut self, link: u32, time_ps: u64) {
        let is_host = (link as usize) < self.ports.hosts;
        let state = self.ports.link::<H>(link);
        let time_ps = if is_host { time_ps.max(state.free_at) } else { time_ps };
        if time_ps < state.try_at {
            state.try_at = time_ps;
            self.calendar.push(Event { time_ps, key: link << 1, data: 0 });
        }
    }

    /// Numbers a packet.
    #[inline(always)]
    pub(in crate::packet) fn take_packet(&mut self, packet: Packet, origin: Origin) -> u32 {
        let index = self.packets.take(packet);
        match self.origins.get_mut(index as usize) {
            Some(old) => *old = origin,
            None => {
                self.origins.push(origin);
                self.limit("packets", index);
            }
        }
        index
    }

    // ---- failures

    /// Ends the run if a packet or message can't be numbered: what a slot of a pool is called must fit an event's data.
    #[inline(always)]
    pub(in crate::packet) fn limit(&mut self, what: &'static str, index: u32) {
        if index > MOST_DATA {
            self.fail(SimError::TooMany { what, most: MOST_DATA + 1 });
        }
    }

    fn stuck(&mut self, switch: SwitchId, packet: Packet) {
        let host = match self.space.resolve(packet.address) {
            netloom_model::Dest::Host(host, _) => self.fabric.host_name(host).to_string(),
            netloom_model::Dest::Switch(s) => self.fabric.switch_name(s).to_string(),
        };
        let switch = self.fabric.switch_name(switch).to_string();
        self.fail(SimError::NoRoute { switch, host });
    }
}
