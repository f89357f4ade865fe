//! The event loop: packets arrive at switches, outputs try to send.
//!
//! Events of the network are two: "a packet is here" (one a hop) and "this output may try again" (only where something
//! waits). Room that comes back is no event: it lies in a ring at the sender, which is woken only if it lacks room.
//!
//! A packet whose time of leaving is known, because nothing but those before it on its link can hold it up, is sent at once, for that time
//! (*ahead of time*): the output need not try again. What leaves when is the same; samples, observers and news of other switches see
//! packets leave, so they do without.
//!
//! Invariants: whenever an event has been dealt with, everything that can move at its time has moved; so a try more or less changes
//! nothing, and results depend on the events' order `(time, link or host, …)` alone.
//!
//! What comes at one time to one place: packets by link (a link brings one at a time); hosts are in `adapter`.

use netloom_model::{HostId, LinkId, SwitchId};

use super::calendar::{END_PS, Event, MOST_DATA, NEVER};
use super::choice::{Choice, Here, Outputs};
use super::deadlock::deadlock;
use super::network::Network;
use super::observe::Observer;
use super::pool::Packet;
use super::ports::Port;
use super::program::Program;
use crate::SimError;
use crate::config::{Admission, Forwarding};

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
        self.clear_desk();
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
                recorder.sample(&self.ports, self.now);
            }
        }
    }

    /// Deals with what happens before `end_ps`, and counts down `left`; whether that stopped it.
    fn run_slice(&mut self, end_ps: u64, left: &mut u64) -> Result<bool, SimError> {
        let links = self.fabric.link_count() as u32;
        let hosts_end = links + self.fabric.host_count() as u32;
        if let Some(error) = self.failed.take() {
            self.failed_at = (self.now, 0);
            return Err(error);
        }
        while *left > 0 {
            *left -= 1;
            let Some(Event { time_ps, key, data }) = self.calendar.pop_before(end_ps) else {
                return Ok(false);
            };
            debug_assert!(time_ps >= self.now);
            if time_ps >= END_PS {
                self.failed_at = (time_ps, key);
                return Err(SimError::TimeOverflow);
            }
            self.now = time_ps;
            let link = key >> 1;
            if link < links && key & 1 == 0 {
                self.attempt(link);
            } else {
                self.last = time_ps;
                self.events += u64::from(link < hosts_end);
                if link < links {
                    self.arrive(link, data);
                } else if link < hosts_end {
                    self.host_event(HostId(link - links), key & 1 == 1, data);
                } else {
                    self.hear(data);
                }
            }
            while let Some((out, lane)) = self.behind.pop() {
                self.catch_up(out, lane);
            }
            if let Some(error) = self.failed.take() {
                self.failed_at = (time_ps, key);
                return Err(error);
            }
            if self.stopped {
                return Ok(false);
            }
        }
        Ok(true)
    }

    // ---- a packet at the far end of a link

    fn arrive(&mut self, link: u32, index: u32) {
        if let Some(recorder) = &mut self.recorder {
            let packet = self.packets.get(index);
            recorder.received(link, packet.lane(), self.ports.lanes, packet.wire);
        }
        if self.ports.port(link).to == Port::HOST {
            return self.eject(link, index);
        }
        let packet = self.packets.at(index);
        packet.via = link;
        let lane = packet.lane();
        if self.config.head_of_line {
            let end = self.ports.end(link, lane);
            if end.held {
                end.inbox.push(&mut self.packets, index);
                return;
            }
        }
        self.place(link, index);
    }

    /// Finds outputs for a packet and for those that it held up.
    pub(super) fn place(&mut self, link: u32, mut index: u32) {
        let switch = SwitchId(self.ports.port(link).to);
        loop {
            let packet = *self.packets.get(index);
            let Some(LinkId(out)) = self.choose(switch, index) else { return self.stuck(switch, packet) };
            let wire = u32::from(packet.wire);
            let lane = self.lane_out(out, &packet);
            self.ports.settle(out, self.now);
            if O::LISTENS {
                self.tell_hop(out, lane, index);
            }
            self.ports.queue(out, wire as i32, self.now);
            let state = self.ports.at(out, lane);
            let fits = wire as i32 <= state.out_room;
            if !state.waiting.is_empty() || !fits {
                state.waiting.push(&mut self.packets, index);
                if fits && self.config.admission == Admission::RoundRobin {
                    self.behind.push((out, lane));
                }
                if C::LOOKS {
                    self.heads.stay(switch.0, index, out);
                }
                self.arm(out);
                if self.config.head_of_line {
                    self.ports.end(link, packet.lane()).held = true;
                }
                return;
            }
            self.admit(out, lane, index);
            self.pump(out);
            if !self.config.head_of_line {
                return;
            }
            let end = self.ports.end(link, packet.lane());
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
    #[inline]
    pub(super) fn lane_out(&self, out: u32, packet: &Packet) -> u8 {
        match &self.config.lane_map {
            None => packet.lane(),
            Some(map) => map.lane(packet.via, out, packet.level()),
        }
    }

    #[inline]
    fn choose(&mut self, switch: SwitchId, index: u32) -> Option<LinkId> {
        let here = Here::of(self.packets.get(index), switch);
        let mut outputs = Outputs { now: self.now, ports: &mut self.ports };
        self.choice.output(here, &mut outputs)
    }

    /// Takes a packet into the output buffer of `out` and a lane, and tells where it came from.
    pub(super) fn admit(&mut self, out: u32, to_lane: u8, index: u32) {
        let packet = self.packets.get(index);
        let (&Packet { via, wire, tail_ps, .. }, lane) = (packet, packet.lane());
        let port = self.ports.port(via).to_port;
        let buffer = self.ports.at(out, to_lane);
        buffer.turn = port;
        buffer.out_room -= i32::from(wire);
        debug_assert!(buffer.out_room >= 0);
        buffer.queue.push(&mut self.packets, index);
        self.give_back(via, wire, lane, tail_ps);
    }

    /// Room at the far end of `link` is free once the packet's tail has come.
    pub(super) fn give_back(&mut self, link: u32, bytes: u16, lane: u8, tail_ps: u64) {
        let from_part = self.ports.port(link).from_part;
        let time_ps = self.now.max(tail_ps) + self.ports.kind(link).credit_ps;
        if self.ports.credits_out {
            self.ports.rumour.tell(link, -i32::from(bytes), self.now);
        }
        if from_part == self.here {
            self.credit(link, lane, time_ps, bytes);
        } else {
            self.give_away(from_part, time_ps, link, bytes, lane);
        }
    }

    /// Room is on its way back to `link`.
    #[inline]
    pub(super) fn credit(&mut self, link: u32, lane: u8, time_ps: u64, bytes: u16) {
        let thirsty = self.ports.port(link).thirsty;
        let time_ps = self.ports.give_back(link, lane, time_ps, bytes);
        if thirsty {
            self.schedule(link, time_ps);
        }
    }

    // ---- an output of a switch, or a host's adapter

    /// The planned try of an output.
    fn attempt(&mut self, link: u32) {
        let port = self.ports.port(link);
        if port.try_at != self.now {
            return; // an earlier one took its place
        }
        port.try_at = NEVER;
        self.ports.settle(link, self.now);
        if link < self.fabric.host_count() as u32 {
            return self.inject(link);
        }
        for lane in 0..self.ports.lanes as u8 {
            while let Some(index) = self.next_admitted(link, lane) {
                self.go_on(link, lane, index);
            }
            if C::LOOKS {
                self.attract(link, lane);
            }
        }
        self.pump(link);
    }

    /// Admits those that fit now that others wait than at the output's last try: one whose turn it is may be shorter than
    /// the one that did not fit.
    fn catch_up(&mut self, out: u32, lane: u8) {
        let mut some = false;
        while let Some(index) = self.next_admitted(out, lane) {
            self.go_on(out, lane, index);
            some = true;
        }
        if some {
            self.pump(out);
        }
    }

    /// Sends what it can, and plans the next try.
    #[inline]
    fn pump(&mut self, link: u32) {
        if let Some(ahead_ps) = self.ahead_ps {
            while let Some(head) = self.ports.head_ahead(link, self.now + ahead_ps)
                && self.ports.has_room(link, self.packets.get(head).wire)
            {
                self.ports.at(link, 0).queue.pop(&self.packets);
                self.launch(link, 0, head);
            }
        } else if self.ports.port(link).free_at <= self.now
            && let Some(lane) = self.ports.next_lane(link, |list| u32::from(self.packets.get(list.head).wire))
        {
            let index = self.ports.at(link, lane).queue.pop(&self.packets).expect("the lane has a packet");
            self.launch(link, lane, index);
        }
        self.arm(link);
    }

    /// Sends a packet, as soon as the link is free.
    pub(super) fn launch(&mut self, link: u32, lane: u8, index: u32) {
        let packet = self.packets.at(index);
        let bytes = packet.wire;
        let kind = self.ports.kind(link);
        let out = !self.ports.credits_out;
        let port = &mut self.ports.port[link as usize];
        if port.thirsty {
            self.ports.waits.sends(link, port.free_at, self.now);
        }
        let start = port.free_at.max(self.now);
        // A packet that is still coming in holds the link until its tail has gone on.
        let end = (start + kind.time_ps(bytes)).max(packet.tail_ps);
        let through = self.config.forwarding == Forwarding::CutThrough && port.to != Port::HOST;
        let time_ps = if through { start } else { end } + kind.delay_ps;
        port.free_at = end;
        let to_part = port.to_part;
        packet.tail_ps = end + kind.delay_ps;
        packet.via = (end - start) as u32;
        packet.set_lane(lane);
        if out {
            port.leaves(end, bytes, lane);
            port.queued -= u32::from(bytes);
            self.ports.rumour.tell(link, -i32::from(bytes), self.now);
        }
        let state = self.ports.at(link, lane);
        if out {
            state.in_room -= i32::from(bytes);
            debug_assert!(state.in_room >= 0);
        }
        state.bytes += u64::from(bytes);
        state.packets += 1;
        if O::LISTENS {
            self.tell_departure(link, index);
        }
        if to_part == self.here {
            self.calendar.push(Event { time_ps, key: link << 1 | 1, data: index });
        } else {
            self.send_away(to_part, time_ps, link, index);
        }
    }

    /// Plans the next try of a link, if something waits there.
    #[inline]
    pub(super) fn arm(&mut self, link: u32) {
        if let Some(ahead_ps) = self.ahead_ps {
            return self.arm_ahead(link, ahead_ps);
        }
        let free_at = self.ports.port(link).free_at;
        let busy = free_at > self.now;
        let (mut waits, mut queued) = (false, false);
        for lane in self.ports.lanes_of(link) {
            waits |= !lane.waiting.is_empty();
            queued |= !lane.queue.is_empty();
        }
        if busy && (queued || (waits && !self.ports.credits_out) || self.restless) {
            self.schedule(link, free_at);
        }
        let thirsty = if self.ports.credits_out { waits } else { queued && !busy };
        self.drink(link, thirsty);
    }

    /// The same where packets are sent ahead of time.
    #[inline]
    fn arm_ahead(&mut self, link: u32, ahead_ps: u64) {
        let state = &self.ports.lane[link as usize];
        let (waits, queued, head) = (!state.waiting.is_empty(), !state.queue.is_empty(), state.queue.head);
        let mut thirsty = self.ports.credits_out && waits;
        if queued {
            let free_at = self.ports.port(link).free_at;
            if free_at > self.now + ahead_ps {
                // Half of the time, so that several are sent then.
                self.schedule(link, free_at - ahead_ps / 2);
            }
            // One that lacked room lacks it until it is sent, at the try for which the room has come.
            thirsty |=
                self.ports.port(link).thirsty || !self.ports.has_credit(link, self.packets.get(head).wire);
        }
        if waits || queued {
            let time_ps = self.ports.leaves_ps(link);
            if time_ps != NEVER {
                self.schedule(link, time_ps);
            }
        }
        self.drink(link, thirsty);
    }

    /// Notes whether a link lacks room, and plans a try for when some comes back.
    #[inline]
    pub(super) fn drink(&mut self, link: u32, thirsty: bool) {
        let was = std::mem::replace(&mut self.ports.port(link).thirsty, thirsty);
        if was != thirsty || (thirsty && self.ports.lanes > 1) {
            self.ports.note_wait(link, thirsty, self.now);
        }
        if thirsty {
            let time_ps = self.ports.next_credit_ps(link);
            if time_ps != NEVER {
                self.schedule(link, time_ps);
            }
        }
    }

    /// Plans a try; a host's not before its link is free, as it can't do anything else then.
    #[inline]
    pub(super) fn schedule(&mut self, link: u32, time_ps: u64) {
        let is_host = (link as usize) < self.ports.hosts;
        let port = self.ports.port(link);
        let time_ps = if is_host { time_ps.max(port.free_at) } else { time_ps };
        if time_ps < port.try_at {
            port.try_at = time_ps;
            self.calendar.push(Event { time_ps, key: link << 1, data: 0 });
        }
    }

    // ---- failures

    /// Ends the run if a packet or message can't be numbered: what a slot of a pool is called must fit an event's data.
    #[inline]
    pub(super) fn limit(&mut self, what: &'static str, index: u32) {
        if index > MOST_DATA {
            self.failed = Some(SimError::TooMany { what, most: MOST_DATA + 1 });
        }
    }

    fn stuck(&mut self, switch: SwitchId, packet: Packet) {
        let host = match self.space.resolve(packet.address) {
            netloom_model::Dest::Host(host, _) => self.fabric.host_name(host).to_string(),
            netloom_model::Dest::Switch(s) => self.fabric.switch_name(s).to_string(),
        };
        let switch = self.fabric.switch_name(switch).to_string();
        self.failed = Some(SimError::NoRoute { switch, host });
    }
}
