//! Hosts and their adapters: messages become packets, packets become messages, programs hear of it.
//!
//! Invariants: payload is conserved: what was posted is received, once. A host's timers at one time come by token; messages that
//! were handed over with a delay by the order of their posting, which is their host's own.

use netloom_model::rng::mixed;
use netloom_model::{DestId, HostId, LinkId};

use crate::SimError;
use crate::calendar::{Event, MOST_DATA, NEVER};
use crate::config::Injection;
use crate::mode::Mode;
use crate::observe::Observer;
use crate::packet::choice::{Choice, Way};
use crate::packet::hardware::Hardware;
use crate::packet::host::{Delayed, Incoming, Next, Outgoing};
use crate::packet::network::Network;
use crate::packet::parallel::STOP;
use crate::packet::pool::{List, NONE, Origin, Packet};
use crate::program::{Due, Halt, LAST_PS, Post, Posted, Program};

/// The token of the timer for a delayed message.
const DUE: u32 = MOST_DATA;
/// The token of the timer for what a congestion control has planned. Ranks, whose numbers are tokens too, are fewer.
pub(super) const MANAGED: u32 = MOST_DATA - 1;

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    pub(in crate::packet) fn eject<H: Hardware>(&mut self, link: u32, index: u32) {
        let packet = *self.packets.get(index);
        if self.ports.features::<H>().responds && packet.is_response() {
            return self.is_answered::<H>(link, index);
        }
        let Packet { wire, .. } = packet;
        let origin = self.origins[index as usize];
        let message = origin.message;
        self.packets.free(index);
        self.give_back::<H>(link, wire, packet.lane(), self.now);
        self.received += 1;
        if C::STEERS {
            self.detours += u64::from(Way::of(packet.way).is_detour());
        }
        self.notify_arrival(link, index, wire, message);
        let payload = u64::from(wire) - u64::from(self.config.header_bytes);
        let Incoming { left, posted_ps, token, from, .. } = self.hosts.receive(message, payload);
        if self.ports.features::<H>().control {
            self.is_received(link, from, index, self.program.is_data(token));
        }
        if let Some(births) = self.hosts.births_mut() {
            births.received(self.program.job(token), index, from, origin.born(), wire, self.now);
        }
        if let Some(pairs) = &mut self.pairs {
            pairs.received(from.0, self.fabric.reverse(LinkId(link)).0, wire, self.now);
        }
        if self.ports.features::<H>().responds {
            let now = self.now;
            let ticket = self.responses().comes(index, left == 0, now);
            self.respond::<H>(link, from, (packet, origin, ticket), token);
        }
        if left == 0 {
            self.retire(message);
            let host = HostId(self.fabric.reverse(LinkId(link)).0);
            self.desk.now_ps = self.now;
            self.program.received(host, token, self.now - posted_ps, &mut self.desk);
            self.clear_desk::<H>();
        }
    }

    /// Sends a host's next packet, if it can.
    pub(in crate::packet) fn inject<H: Hardware>(&mut self, host: u32) {
        let (packet_bytes, header) = (self.config.packet_bytes, self.config.header_bytes);
        let payload = |left: u64| left.min(u64::from(packet_bytes)) as u32;
        let full = self.is_full::<H>(host);
        let needs = |full: bool, left: u64| Self::needs(packet_bytes, header, full, left);
        self.keep_turns::<H>(host);
        if self.ports.features::<H>().control {
            self.hold_back::<H>(host);
        }
        if self.ports.free_at::<H>(host) <= self.now
            && let Some(lane) =
                self.ports.next_lane::<H>(host, |list| needs(full, self.hosts.outgoing(list.head).left))
        {
            let state = self.ports.at::<H>(host, lane);
            let message = state.queue.head;
            let outgoing = self.hosts.outgoing(message);
            let &Outgoing { record, rest, address, level, way, left, posted_ps, .. } = outgoing;
            let mark = if C::DRAWS { outgoing.packet_mark() } else { 0 };
            let payload = payload(left);
            let responds = self.ports.features::<H>().responds;
            let is_response = responds && left == 0;
            let wire = (payload + header) as u16;
            self.ports.queue(host, i32::from(wire), self.now);
            let born = match self.hosts.births_mut() {
                Some(births) if !is_response => {
                    let at = host as usize * self.ports.lanes + usize::from(lane);
                    let wire_ps = self.ports.kind(host).time_ps(wire);
                    births.leaves(at, posted_ps, wire_ps, self.now)
                }
                _ => 0,
            };
            let packet = Packet::new(address, wire, level, lane).on_way(way);
            let index = self.take_packet(packet, Origin::new(record, born, mark));
            if let Some(births) = self.hosts.births_mut() {
                births.is_numbered(index);
            }
            self.notify_birth::<H>(host, lane, index, wire.into(), born);
            self.ports.at::<H>(host, lane).out_room -= i32::from(wire);
            self.launch::<H>(host, lane, index, 0);
            self.hosts.has_sent(message, u64::from(payload));
            let has_left = left == u64::from(payload);
            if responds {
                let now = self.now;
                match is_response {
                    true => self.responses().sends_response(message, index),
                    false => self.responses().sends(host, message, index, wire, has_left, now),
                }
            }
            if self.ports.features::<H>().control {
                self.is_sent(host, index, (address, level, wire), has_left);
            }
            let rotates = !has_left && self.config.injection.rotates();
            if has_left || rotates {
                self.hosts.dequeue(&mut self.ports.at::<H>(host, lane).queue);
                if rest != NONE {
                    self.follow::<H>(host, lane, message);
                }
            }
            if is_response {
                self.hosts.release(message);
            } else if has_left {
                let key = (self.fabric.link_count() as u32 + host) << 1;
                let time_ps = self.ports.free_at::<H>(host);
                self.calendar.push(Event { time_ps, key, data: message });
                if let Some(next) = self.hosts.pass_turn(HostId(host), lane, message) {
                    self.hosts.enqueue(&mut self.ports.at::<H>(host, lane).queue, next);
                }
            } else if rotates {
                if self.config.injection == Injection::RoundRobin && self.waits_its_turn(message) {
                    self.hosts.take_turn(HostId(host), lane, message);
                }
                self.hosts.enqueue(&mut self.ports.at::<H>(host, lane).queue, message);
            }
        }
        self.keep_turns::<H>(host);
        let lanes = self.ports.lanes_of::<H>(host);
        let full = self.is_full::<H>(host);
        // What the window holds back lacks no room.
        let held_back = |list: &List| full && self.hosts.outgoing(list.head).left > 0;
        let queued = lanes.iter().any(|lane| !(lane.queue.is_empty() || held_back(&lane.queue)));
        let wire = |list: List| needs(full, self.hosts.outgoing(list.head).left);
        let ready = lanes.iter().any(|lane| self.ports.is_ready::<H>(host, lane, wire));
        if ready {
            self.schedule::<H>(host, self.ports.free_at::<H>(host));
        }
        self.await_credit::<H>(host, queued && !ready);
        if self.ports.features::<H>().responds {
            self.note_stall::<H>(host, full);
        }
    }

    /// Takes messages whose receivers' turns others have from the heads of a host's queues.
    #[inline(always)]
    pub(super) fn keep_turns<H: Hardware>(&mut self, host: u32) {
        if self.config.injection == Injection::RoundRobin && self.hosts.has_turns(HostId(host)) {
            for lane in 0..self.ports.lanes::<H>() as u8 {
                self.keep_turns_of::<H>(host, lane);
            }
        }
    }

    /// Whether a message waits for others to its receiver. A response has no payload, and does not.
    pub(super) fn waits_its_turn(&self, message: u32) -> bool {
        let outgoing = self.hosts.outgoing(message);
        outgoing.left > 0 && self.program.keeps_order(outgoing.token)
    }

    fn keep_turns_of<H: Hardware>(&mut self, host: u32, lane: u8) {
        loop {
            let message = self.ports.at::<H>(host, lane).queue.head;
            if message == NONE
                || !self.waits_its_turn(message)
                || !self.hosts.is_out_of_turn(HostId(host), lane, message)
            {
                return;
            }
            self.hosts.dequeue(&mut self.ports.at::<H>(host, lane).queue);
            self.wait_for_turn::<H>(host, lane, message);
        }
    }

    /// A message that is in no queue waits for the one that has its receiver's turn; what comes behind it in its series does not.
    pub(super) fn wait_for_turn<H: Hardware>(&mut self, host: u32, lane: u8, message: u32) {
        if self.hosts.outgoing(message).rest != NONE {
            self.follow::<H>(host, lane, message);
        }
        self.hosts.wait_for_turn(HostId(host), lane, message);
    }

    /// The last packet of a message has left, a timer has run out, or a delayed message is due.
    pub(in crate::packet) fn host_event<H: Hardware>(&mut self, host: HostId, timer: bool, data: u32) {
        self.desk.now_ps = self.now;
        if self.ports.features::<H>().control && timer && data == MANAGED {
            return self.deal_with_due::<H>(host);
        }
        if timer && data == DUE {
            let Some(due) = self.next_due(host) else { return };
            match due.what {
                Due::Post(posted) => {
                    if let Posted::Several(series) = posted {
                        self.events += series.left - 1; // as many as there are messages
                    }
                    return self.enter::<H>(posted, due.posted_ps);
                }
                Due::Copy(token) => {
                    self.program.sent(host, token, &mut self.desk);
                    self.program.received(host, token, self.now - due.posted_ps, &mut self.desk);
                }
            }
        } else if timer {
            self.program.timer(host, data, &mut self.desk);
        } else {
            let token = self.hosts.release(data);
            self.program.sent(host, token, &mut self.desk);
        }
        self.clear_desk::<H>();
    }

    /// What comes next comes after the end of time: whose it is.
    #[cold]
    pub(in crate::packet) fn overflow(&mut self) -> SimError {
        let Some(Event { time_ps, key, data }) = self.calendar.pop_before(NEVER) else {
            return SimError::TimeOverflow { who: None };
        };
        // Of several partitions the first in simulated time is told.
        self.failed_at = (time_ps, key);
        let (place, second) = (key >> 1, key & 1 == 1);
        let links = self.fabric.link_count() as u32;
        let host = place.checked_sub(links).filter(|&host| (host as usize) < self.fabric.host_count());
        let token = match host {
            None if place < links && second => {
                let message = self.origins[data as usize].message;
                self.hosts.maybe_incoming(message).map(|record| record.token)
            }
            None => None,
            Some(host) if second && data == DUE => {
                self.hosts.first_due(HostId(host)).and_then(|due| due.what.token(&self.program))
            }
            Some(_) if second && data == MANAGED => None,
            Some(_) if second => return SimError::TimeOverflow { who: self.program.timer_owner(data) },
            Some(_) => Some(self.hosts.outgoing(data).token),
        };
        SimError::TimeOverflow { who: token.and_then(|token| self.program.message_owner(token)) }
    }

    /// Does what the program asked for.
    pub(in crate::packet) fn clear_desk<H: Hardware>(&mut self) {
        if self.desk.is_clear() {
            return;
        }
        let links = self.fabric.link_count() as u32;
        let timer = |host: HostId| (links + host.0) << 1 | 1;
        let mut timers = std::mem::take(&mut self.desk.timers);
        for (time_ps, host, token) in timers.drain(..) {
            debug_assert!(token < MANAGED, "tokens of timers have 26 bits");
            self.calendar.push(Event { time_ps, key: timer(host), data: token });
        }
        self.desk.timers = timers;
        let mut posts = std::mem::take(&mut self.desk.posts);
        for (delay_ps, posted) in posts.drain(..) {
            if delay_ps == 0 {
                self.enter::<H>(posted, self.now);
            } else {
                self.delay(delay_ps, posted.from(), Due::Post(posted));
            }
        }
        self.desk.posts = posts;
        let mut copies = std::mem::take(&mut self.desk.copies);
        for (delay_ps, host, token) in copies.drain(..) {
            self.delay(delay_ps, host, Due::Copy(token));
        }
        self.desk.copies = copies;
        for news in std::mem::take(&mut self.desk.news) {
            self.announce(news);
        }
        match std::mem::take(&mut self.desk.halt) {
            Halt::No => {}
            Halt::Pause => (self.paused, self.alert) = (true, true),
            Halt::Stop => self.announce(STOP),
        }
    }

    fn delay(&mut self, delay_ps: u64, host: HostId, what: Due<P::Token>) {
        let time_ps = self.now.saturating_add(delay_ps).min(LAST_PS);
        if self.hosts.delay(host, Delayed { time_ps, posted_ps: self.now, what }) {
            self.due_at(host, time_ps);
        }
    }

    fn due_at(&mut self, host: HostId, time_ps: u64) {
        let key = (self.fabric.link_count() as u32 + host.0) << 1 | 1;
        self.calendar.push(Event { time_ps, key, data: DUE });
    }

    /// The first of a host's delayed messages, if its time has come; the next one gets the event. An event that finds none was
    /// overtaken by a message with less delay.
    fn next_due(&mut self, host: HostId) -> Option<Delayed<P::Token>> {
        let (due, next_ps) = self.hosts.take_due(host, self.now)?;
        if let Some(next_ps) = next_ps {
            self.due_at(host, next_ps);
        }
        Some(due)
    }

    /// A host's adapter takes a message or a series.
    fn enter<H: Hardware>(&mut self, posted: Posted<P::Token>, posted_ps: u64) {
        let mut series = match posted {
            Posted::One(post) => return self.take_in::<H>(post, posted_ps, NONE),
            Posted::Several(series) => series,
        };
        // The first may begin to leave at once, before the others are there; it comes before them with what is left of it.
        let mut is_first = true;
        while let Some(post) = self.program.next_post(&mut series) {
            // Who watches tells messages apart by number, so each has its own from the beginning.
            if (O::LISTENS && O::TRACES) || is_first || series.left == 0 {
                self.take_in::<H>(post, posted_ps, NONE);
            } else {
                let rest = self.hosts.keep_rest(series, posted_ps);
                return self.take_in::<H>(post, posted_ps, rest);
            }
            is_first = false;
        }
    }

    fn take_in<H: Hardware>(&mut self, post: Post<P::Token>, posted_ps: u64, rest: u32) {
        let from = post.from.0;
        let lane = self.first_lane(post.from, post.lane);
        let message = self.number(post, posted_ps, self.now, rest);
        self.hosts.enqueue(&mut self.ports.at::<H>(from, lane).queue, message);
        self.ports.settle::<H>(from, self.now);
        self.inject::<H>(from);
    }

    /// The lane on which a host sends what has a service level.
    #[inline]
    pub(super) fn first_lane(&self, from: HostId, level: u8) -> u8 {
        let chosen = if C::LANES { self.choice.first_lane(from, level) } else { None };
        let by_level = || self.config.lane_map.as_ref().map_or(level, |map| map.first_lane(from.0, level));
        chosen.unwrap_or_else(by_level)
    }

    /// Asks for the message behind one that has left its place at the head of its host's queue.
    fn follow<H: Hardware>(&mut self, host: u32, lane: u8, message: u32) {
        let next = self.hosts.follow(message, |series| self.program.next_post(series));
        let Some(Next { post, posted_ps, there_ps, rest }) = next else { return };
        let next = self.number(post, posted_ps, there_ps, rest);
        self.hosts.enqueue_first(&mut self.ports.at::<H>(host, lane).queue, next);
    }

    /// What tells a message from others, for draws: nothing of it depends on what other jobs do.
    fn mark(&self, from: HostId, address: DestId, mode: Option<Mode>, token: P::Token) -> u32 {
        let hosts = u64::from(from.0) << 32 | u64::from(address.0);
        let identity = match self.choice.queue_pairs() {
            Some(pairs) => self.program.identity(token) % u64::from(pairs.get()),
            None if mode == Some(Mode::InOrder) => 0,
            None => self.program.identity(token),
        };
        (mixed(mixed(hosts) ^ identity) >> 32) as u32
    }

    /// Numbers a message that the adapter has had since `there_ps`, and tells its receiver what will come.
    fn number(&mut self, post: Post<P::Token>, posted_ps: u64, there_ps: u64, rest: u32) -> u32 {
        let Post { from, address, bytes: left, lane: level, mode, token } = post;
        let to = self.partition.of_address(self.fabric, self.space, address).unwrap_or(self.here);
        let record = self.register(to, Incoming { left, posted_ps, from, token });
        let posted_ps = there_ps;
        let mark = if C::DRAWS { self.mark(from, address, mode, token) } else { 0 };
        let in_order = self.choice.queue_pairs().map(|_| Mode::InOrder);
        let way = Way::of_mode(in_order.or(mode)).bits();
        let outgoing = Outgoing {
            next: NONE,
            record,
            rest,
            address,
            level,
            way,
            has_turn: false,
            mark,
            left,
            posted_ps,
            token,
        };
        let message = self.hosts.take(outgoing);
        if let Some(responses) = &mut self.responses {
            responses.begins(from.0, message, token);
        }
        self.limit("messages", message);
        message
    }
}
