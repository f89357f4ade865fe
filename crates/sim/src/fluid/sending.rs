//! Streams open and end, and get their rates.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use netloom_model::{DestId, HostId};

use super::fair::Use;
use super::network::{Fluid, NONE, OF_STREAM, RECEIVED, SENT, SETTLE};
use super::stream::Stream;
use crate::calendar::{Event, NEVER};
use crate::config::Injection;
use crate::program::{Post, Program};

impl<P: Program> Fluid<'_, P> {
    /// Opens a stream without messages; `None`: there is no way, and the run fails.
    pub(super) fn open_stream(&mut self, from: HostId, address: DestId) -> Option<u32> {
        let mut uses = std::mem::take(&mut self.uses);
        let way = self.ways.route(from, address, u64::from(self.config.wire_bytes()), &mut uses);
        if let (Ok((.., tail_ps)), Some(_)) = (&way, self.config.window_packets) {
            uses.push(self.window(from, *tail_ps));
        }
        let flow = way.as_ref().map_or(NONE, |_| self.fair.add(&uses));
        self.uses = uses;
        let (to, tail_ps) = match way {
            Ok(way) => way,
            Err(error) => {
                self.failed = Some(error);
                return None;
            }
        };
        let opened = Stream {
            from,
            address,
            to,
            tail_ps,
            flow,
            rate: 0.0,
            done: 0.0,
            moved: 0.0,
            departed: 0.0,
            since_ps: self.now,
            opened_ps: self.now,
            messages: BinaryHeap::new(),
            behind: VecDeque::new(),
            behind_bytes: 0.0,
            end_ps: NEVER,
        };
        let stream = self.free_streams.pop().unwrap_or(self.streams.len() as u32);
        assert!(stream < OF_STREAM, "fewer than 2^25 streams at a time");
        if stream as usize == self.streams.len() {
            self.streams.push(opened);
        } else {
            self.streams[stream as usize] = opened;
        }
        if self.stream_of.len() <= flow as usize {
            self.stream_of.resize(flow as usize + 1, NONE);
        }
        self.stream_of[flow as usize] = stream;
        self.unsettle();
        Some(stream)
    }

    /// What a flow takes of its adapter's window: bytes without a response are its rate times the way there and back.
    fn window(&self, from: HostId, tail_ps: u64) -> Use {
        let packet_ps = self.ways.time_ps(self.fabric.host_link(from), u64::from(self.config.wire_bytes()));
        let resource = self.fabric.link_count() as u32 + from.0;
        Use { resource, share: (2 * tail_ps + packet_ps) as f64 }
    }

    pub(super) fn join(&mut self, stream: u32, message: u32) {
        let wire = self.wire_bytes(self.messages[message as usize].post.bytes);
        let it = &mut self.streams[stream as usize];
        it.advance(self.now);
        self.order += 1;
        it.messages.push(Reverse(((it.done + wire as f64).to_bits(), self.order, message)));
        self.plan(stream);
    }

    /// Plans the end of a stream's next message.
    fn plan(&mut self, stream: u32) {
        let it = &mut self.streams[stream as usize];
        let Some(&Reverse((end, ..))) = it.messages.peek() else { return };
        if it.rate <= 0.0 {
            it.end_ps = NEVER;
            return;
        }
        let left = (f64::from_bits(end) - it.done).max(0.0) * it.messages.len() as f64;
        let end_ps = self.now.saturating_add((left / it.rate).ceil() as u64).min(NEVER - 1);
        if end_ps != it.end_ps {
            it.end_ps = end_ps;
            let key = it.from.0 << 2 | SENT;
            self.calendar.push(Event { time_ps: end_ps, key, data: stream | OF_STREAM });
        }
    }

    /// The planned end of a stream's next message, and of those that end with it.
    pub(super) fn stream_ends(&mut self, stream: u32) {
        if self.streams[stream as usize].end_ps != self.now {
            return; // another time took its place
        }
        let it = &mut self.streams[stream as usize];
        it.end_ps = NEVER;
        it.advance(self.now);
        let Reverse((end, ..)) = *it.messages.peek().expect("an open stream has a message");
        it.done = it.done.max(f64::from_bits(end));
        // Half a byte is nothing.
        let until = it.done + 0.5;
        let (from, address, flow) = (it.from, it.address, it.flow);
        let mut ended = Vec::new();
        while let Some(&Reverse((end, _, message))) = it.messages.peek()
            && f64::from_bits(end) <= until
        {
            it.messages.pop();
            ended.push(message);
        }
        for &message in &ended {
            self.depart(message, stream);
        }
        match self.config.injection {
            Injection::InOrder => self.next_turn(from, stream),
            _ => self.next_behind(stream),
        }
        if self.streams[stream as usize].messages.is_empty() {
            self.fair.remove(flow);
            self.free_streams.push(stream);
            if self.config.injection.rotates() {
                self.open.remove(&(from, address));
            }
            self.unsettle();
        } else {
            self.plan(stream);
        }
        for message in ended {
            self.sent(message);
        }
    }

    /// A message waits for those before it to the same receiver.
    pub(super) fn fall_in(&mut self, stream: u32, message: u32) {
        let wire = self.wire_bytes(self.messages[message as usize].post.bytes);
        let it = &mut self.streams[stream as usize];
        it.behind.push_back(message);
        it.behind_bytes += wire as f64;
    }

    /// The turn of the next long message of a stream, and of all short ones before it, which leave beside it.
    fn next_behind(&mut self, stream: u32) {
        while self.streams[stream as usize].messages.is_empty()
            && let Some(message) = self.streams[stream as usize].behind.pop_front()
        {
            let Post { from, bytes, .. } = self.messages[message as usize].post;
            self.streams[stream as usize].behind_bytes -= self.wire_bytes(bytes) as f64;
            match (self.is_short(message), self.hosts[from.index()].walking) {
                (false, _) => self.join(stream, message),
                (true, false) => self.turn(message),
                (true, true) => self.hosts[from.index()].queue.push_back(message),
            }
        }
    }

    /// The turn of a host's next message, which may go on in `stream`.
    pub(super) fn next_turn(&mut self, host: HostId, stream: u32) {
        let it = &mut self.hosts[host.index()];
        it.stream = NONE;
        let Some(message) = it.queue.pop_front() else { return };
        let address = self.messages[message as usize].post.address;
        if stream != NONE && address == self.streams[stream as usize].address && !self.is_short(message) {
            self.hosts[host.index()].stream = stream;
        }
        self.turn(message);
    }

    /// The last byte of a message has left: counters, and its arrival.
    fn depart(&mut self, message: u32, stream: u32) {
        let bytes = self.messages[message as usize].post.bytes;
        let flow = self.streams[stream as usize].flow;
        let (wire, packets) = (self.wire_bytes(bytes) as f64, self.packets(bytes) as f64);
        self.streams[stream as usize].departed += wire;
        for used in self.fair.route(flow) {
            let Some(carried) = self.carried.get_mut(used.resource as usize) else { continue };
            carried.0 += wire * used.share;
            carried.1 += packets * used.share;
        }
        let Stream { to, tail_ps, .. } = self.streams[stream as usize];
        self.calendar.push(Event { time_ps: self.now + tail_ps, key: to.0 << 2 | RECEIVED, data: message });
    }

    // ---- rates

    fn unsettle(&mut self) {
        if self.unsettled_ps == NEVER {
            self.unsettled_ps = self.now;
            self.calendar.push(Event { time_ps: self.now + self.resolution_ps, key: SETTLE, data: 0 });
        }
    }

    /// New rates, from the time of the first change on.
    pub(super) fn settle(&mut self) {
        let mut changed = std::mem::take(&mut self.changed);
        self.fair.settle(&mut changed);
        self.settlements += 1;
        for flow in changed.drain(..) {
            let rate = self.fair.rate(flow);
            let stream = self.stream_of[flow as usize];
            let it = &mut self.streams[stream as usize];
            it.advance(self.now);
            let since = self.now - self.unsettled_ps.max(it.opened_ps);
            let more = (rate - it.rate) * since as f64;
            it.moved += more;
            it.done += more / it.messages.len() as f64;
            it.rate = rate;
            self.plan(stream);
        }
        self.changed = changed;
        self.unsettled_ps = NEVER;
    }
}
