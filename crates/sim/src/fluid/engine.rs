//! Hosts, their messages, and what happens when.
//!
//! A message is sent when its last byte has left at its stream's rate, and received when its last packet has followed: delays of
//! switches and cables, and the packet's time on every further wire where packets are stored and forwarded. Virtual lanes make
//! no difference. Simultaneous events come by host and kind, so a run depends on nothing but its input.

use std::cmp::Reverse;

use netloom_model::{HostId, LinkId};

use super::network::{DUE, Fluid, Message, NEWS, NONE, OF_STREAM, RECEIVED, SENT, SETTLE, TIMER};
use crate::SimError;
use crate::calendar::{END_PS, Event, NEVER};
use crate::config::Injection;
use crate::program::{Due, Halt, Post, Posted, Program};
use crate::record::{LinkCounters, Sent};

/// What of a host's software may be due later without that its room is given back.
const MANY_DUE: usize = 256;

impl<'f, P: Program> Fluid<'f, P> {
    /// Runs until nothing happens any more.
    ///
    /// # Errors
    /// [`SimError`] if a message has no way.
    pub fn run(&mut self) -> Result<(), SimError> {
        self.start();
        self.run_events(NEVER, NEVER)?;
        Ok(())
    }

    /// Lets the program begin, at time 0.
    pub fn start(&mut self) {
        self.program.start(&mut self.desk);
        self.clear_desk();
    }

    /// Deals with at most `most` events before `end_ps`; whether there are more of them.
    ///
    /// # Errors
    /// As [`Fluid::run`].
    pub fn run_events(&mut self, end_ps: u64, most: u64) -> Result<bool, SimError> {
        let last = self.events.saturating_add(most);
        while self.events < last {
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.desk.halt == Halt::Stop {
                return Ok(false);
            }
            let Some(Event { time_ps, key, data }) = self.calendar.pop_before(end_ps) else {
                return Ok(false);
            };
            debug_assert!(time_ps >= self.now);
            if time_ps >= END_PS {
                if self.is_overtaken(time_ps, key, data) {
                    continue;
                }
                return Err(SimError::TimeOverflow { who: self.owner(key, data) });
            }
            (self.now, self.desk.now_ps) = (time_ps, time_ps);
            self.events += 1;
            let host = HostId(key >> 2);
            match key & 3 {
                _ if key == SETTLE => self.settle(),
                _ if key == NEWS => {
                    self.program.heard(data, &mut self.desk);
                    self.clear_desk();
                }
                RECEIVED => self.received(host, data),
                SENT if data & OF_STREAM != 0 => self.stream_ends(data & !OF_STREAM),
                SENT => {
                    self.hosts[host.index()].walking = false;
                    self.next_turn(host, NONE);
                    self.sent(data);
                }
                TIMER => {
                    self.program.timer(host, data, &mut self.desk);
                    self.clear_desk();
                }
                _ => self.due(host),
            }
        }
        match self.failed.take() {
            Some(error) => Err(error),
            None => Ok(self.desk.halt != Halt::Stop),
        }
    }

    /// Whether an event is the end of a stream's message as it was planned before its rate changed.
    fn is_overtaken(&self, time_ps: u64, key: u32, data: u32) -> bool {
        let of_stream = key < NEWS && key & 3 == SENT && data & OF_STREAM != 0;
        of_stream && self.streams[(data & !OF_STREAM) as usize].end_ps != time_ps
    }

    /// Whose an event is, as the program says.
    fn owner(&self, key: u32, data: u32) -> Option<String> {
        let of_message = |message: u32| self.messages[message as usize].post.token;
        let token = match key & 3 {
            _ if key >= NEWS => return None,
            TIMER => return self.program.timer_owner(data),
            SENT if data & OF_STREAM != 0 => {
                let stream = &self.streams[(data & !OF_STREAM) as usize];
                stream.messages.peek().map(|&Reverse((.., message))| of_message(message))
            }
            SENT | RECEIVED => Some(of_message(data)),
            _ => self.hosts[(key >> 2) as usize].due.front().and_then(|(.., what)| what.token(&self.program)),
        };
        token.and_then(|token| self.program.message_owner(token))
    }

    /// Whether something is still to come.
    pub fn has_more(&self) -> bool {
        self.desk.halt != Halt::Stop && !self.calendar.is_empty()
    }

    /// Whether nothing can happen any more.
    pub fn is_silent(&self) -> bool {
        self.desk.halt != Halt::Stop && self.calendar.is_empty()
    }

    /// Simulated time, ps.
    pub fn now_ps(&self) -> u64 {
        self.now
    }

    /// When the next thing happens, ps.
    pub(crate) fn next_ps(&self) -> u64 {
        self.calendar.next_ps()
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// How often rates were settled.
    pub fn settlements(&self) -> u64 {
        self.settlements
    }

    /// What the hosts run.
    pub fn program(&self) -> &P {
        &self.program
    }

    /// The same, to take from.
    pub(crate) fn program_mut(&mut self) -> &mut P {
        &mut self.program
    }

    /// What every link has carried by now.
    pub fn counters(&self) -> LinkCounters {
        self.counters_at(self.now)
    }

    /// What every link has carried by `time_ps`, of messages that have not left what has: whole numbers where traffic takes one path and all has
    /// left, else rounded.
    pub(crate) fn counters_at(&self, time_ps: u64) -> LinkCounters {
        let mut carried = self.carried.clone();
        let packet = f64::from(self.config.wire_bytes());
        for stream in self.streams.iter().filter(|stream| !stream.messages.is_empty()) {
            let bytes = stream.under_way(time_ps);
            for used in self.fair.route(stream.flow) {
                let Some(carried) = carried.get_mut(used.resource as usize) else { continue };
                carried.0 += bytes * used.share;
                carried.1 += bytes / packet * used.share;
            }
        }
        let of = |link: LinkId| {
            let (bytes, packets) = carried[self.ways.resource[link.index()] as usize];
            Sent { bytes: bytes.round() as u64, packets: packets.round() as u64, wait_ps: 0 }
        };
        let wait_ps = vec![0; self.fabric.link_count()];
        LinkCounters { lanes: 1, sent: self.fabric.links().map(of).collect(), wait_ps }
    }

    // ---- messages

    pub(super) fn wire_bytes(&self, bytes: u64) -> u64 {
        bytes + self.packets(bytes) * u64::from(self.config.header_bytes)
    }

    pub(super) fn packets(&self, bytes: u64) -> u64 {
        bytes.div_ceil(u64::from(self.config.packet_bytes))
    }

    /// Whether a message goes without a rate.
    pub(super) fn is_short(&self, message: u32) -> bool {
        self.messages[message as usize].post.bytes <= u64::from(self.config.packet_bytes)
    }

    /// A host's adapter gets a message.
    fn enter_all(&mut self, posted: Posted<P::Token>, posted_ps: u64) {
        match posted {
            Posted::One(post) => self.enter(post, posted_ps),
            Posted::Several(mut series) => {
                while let Some(post) = self.program.next_post(&mut series) {
                    self.enter(post, posted_ps);
                }
            }
        }
    }

    fn enter(&mut self, post: Post<P::Token>, posted_ps: u64) {
        let value = Message { post, posted_ps, received: false, sent: false };
        let message = match self.free_messages.pop() {
            Some(free) => {
                self.messages[free as usize] = value;
                free
            }
            None => {
                self.messages.push(value);
                self.messages.len() as u32 - 1
            }
        };
        let short = self.is_short(message);
        if self.config.injection == Injection::RoundRobin
            && self.program.keeps_order(post.token)
            && let Some(&stream) = self.open.get(&(post.from, post.address))
        {
            return self.fall_in(stream, message);
        }
        let host = &mut self.hosts[post.from.index()];
        let waits = match self.config.injection {
            Injection::InOrder => host.stream != NONE || host.walking,
            Injection::RoundRobin | Injection::RoundRobinMessages => short && host.walking,
        };
        if waits {
            host.queue.push_back(message);
        } else {
            self.turn(message);
        }
    }

    /// A message begins to leave.
    pub(super) fn turn(&mut self, message: u32) {
        if self.is_short(message) {
            return self.walk(message);
        }
        let Post { from, address, .. } = self.messages[message as usize].post;
        let stream = match self.config.injection {
            Injection::InOrder => self.hosts[from.index()].stream,
            _ => self.open.get(&(from, address)).copied().unwrap_or(NONE),
        };
        if stream != NONE && self.streams[stream as usize].address == address {
            return self.join(stream, message);
        }
        if let Some(stream) = self.open_stream(from, address) {
            match self.config.injection {
                Injection::InOrder => self.hosts[from.index()].stream = stream,
                _ => drop(self.open.insert((from, address), stream)),
            }
            self.join(stream, message);
        }
    }

    /// A message of one packet goes all its way.
    fn walk(&mut self, message: u32) {
        let Post { from, address, bytes, .. } = self.messages[message as usize].post;
        let wire = self.wire_bytes(bytes);
        self.hosts[from.index()].walking = true;
        let mut link = self.fabric.host_link(from);
        let mut at_ps = self.now;
        let mut one = [LinkId(0)];
        let mut hops = 0;
        let to = loop {
            let time_ps = self.ways.time_ps(link, wire);
            let resource = self.ways.resource[link.index()];
            let backlog = |flow: u32| {
                let stream = &self.streams[self.stream_of[flow as usize] as usize];
                let own = self.fabric.host_link(stream.from);
                let streams = self.fair.on(self.ways.resource[own.index()]).len().max(1);
                let speed = self.fabric.bandwidth_bytes_per_s(own) / 1e12 / streams as f64;
                stream.backlog(self.now, speed)
            };
            let wait_ps = self.queues.wait_ps(&self.fair, resource, self.settlements, backlog);
            let start_ps = self.short.take(link, at_ps + wait_ps, time_ps);
            if hops == 0 {
                let key = from.0 << 2 | SENT;
                self.calendar.push(Event { time_ps: start_ps + time_ps, key, data: message });
            }
            let carried = &mut self.carried[resource as usize];
            let alike = self.ways.alike(link);
            carried.0 += wire as f64 / alike;
            carried.1 += 1.0 / alike;
            at_ps = start_ps + self.ways.delay_ps(link);
            hops += 1;
            let Some(switch) = self.fabric.link_to_switch(link) else {
                at_ps += time_ps;
                break self.fabric.reverse(link).0;
            };
            // The one that is free first, beginning anywhere.
            let links = self.ways.next(switch, address, &mut one);
            if links.is_empty() || hops > self.fabric.switch_count() + 1 {
                return self.failed = Some(self.ways.no_way(switch, address));
            }
            let offset = self.order as usize;
            let candidates = (0..links.len()).map(|k| links[(offset + k) % links.len()]);
            let before = link;
            link = candidates.min_by_key(|&l| self.short.free(l).max(at_ps)).expect("there is a link");
            if self.ways.waits_for_tail(before, link) {
                at_ps += time_ps;
            }
        };
        self.order += 1;
        self.calendar.push(Event { time_ps: at_ps, key: to << 2 | RECEIVED, data: message });
    }

    /// A message has come, or a short one has left; once both have happened its place is free.
    fn received(&mut self, host: HostId, message: u32) {
        let Message { post, posted_ps, sent, .. } = self.messages[message as usize];
        self.messages[message as usize].received = true;
        if sent {
            self.free_messages.push(message);
        }
        self.program.received(host, post.token, self.now - posted_ps, &mut self.desk);
        self.clear_desk();
    }

    pub(super) fn sent(&mut self, message: u32) {
        let Message { post, received, .. } = self.messages[message as usize];
        self.messages[message as usize].sent = true;
        if received {
            self.free_messages.push(message);
        }
        self.program.sent(post.from, post.token, &mut self.desk);
        self.clear_desk();
    }

    // ---- the program's wishes

    /// What of a host's software is done now.
    fn due(&mut self, host: HostId) {
        while let Some(&(time_ps, posted_ps, what)) = self.hosts[host.index()].due.front()
            && time_ps <= self.now
        {
            self.hosts[host.index()].due.pop_front();
            match what {
                Due::Post(posted) => self.enter_all(posted, posted_ps),
                Due::Copy(token) => {
                    self.program.sent(host, token, &mut self.desk);
                    self.program.received(host, token, self.now - posted_ps, &mut self.desk);
                    self.clear_desk();
                }
            }
        }
        // What was posted at once is much; the next time it is little.
        let due = &mut self.hosts[host.index()].due;
        if due.capacity() > MANY_DUE && due.len() < MANY_DUE / 2 {
            due.shrink_to(MANY_DUE);
        }
    }

    fn clear_desk(&mut self) {
        for news in self.desk.news.drain(..) {
            let credit_ps =
                f64::from(self.config.credit_bytes) * 1e12 / self.fabric.reference_bandwidth_bytes_per_s();
            let time_ps = self.now + (self.config.cable_delay_ps + credit_ps as u64).max(1);
            self.calendar.push(Event { time_ps, key: NEWS, data: news });
        }
        let mut timers = std::mem::take(&mut self.desk.timers);
        for (time_ps, host, token) in timers.drain(..) {
            self.calendar.push(Event { time_ps, key: host.0 << 2 | TIMER, data: token });
        }
        self.desk.timers = timers;
        let mut posts = std::mem::take(&mut self.desk.posts);
        for (delay_ps, posted) in posts.drain(..) {
            if delay_ps == 0 {
                self.enter_all(posted, self.now);
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
    }

    fn delay(&mut self, delay_ps: u64, host: HostId, what: Due<P::Token>) {
        let time_ps = self.now + delay_ps;
        let due = &mut self.hosts[host.index()].due;
        let at = due.partition_point(|&(t, ..)| t <= time_ps);
        if at == 0 || due[at - 1].0 != time_ps {
            self.calendar.push(Event { time_ps, key: host.0 << 2 | DUE, data: 0 });
        }
        due.insert(at, (time_ps, self.now, what));
    }
}
