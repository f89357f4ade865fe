//! State of every directed link: what waits for it, what room is left at both ends, when it is free.
//!
//! A packet on its way over link `l`: it *waits* for room in the output buffer of `l`, is *queued* there, is sent, takes room of
//! the input buffer at the far end until the next output buffer admits it. Room is counted in bytes on the
//! wire, by lane. What the far end gives back travels: a [`Credit`] counts from its time on.
//!
//! Invariants: no room is negative; the times of a lane's credits don't fall; at most one try of a link is valid, at `try_at`.
//! Only the sending end's partition touches a link's [`Port`] and [`Lane`]s, and only the receiving end's its [`End`]s.
//!
//! Speed: a hop touches the port, the lane and the end of two links, so each of them is one line of the cache.

use std::collections::VecDeque;

use netloom_model::{Fabric, LinkId, SwitchId};

use super::calendar::{END_PS, NEVER};
use super::loads::{Loads, Rumour};
use super::partition::Partition;
use super::pool::{List, Packet};
use super::waits::Waits;
use crate::config::{Config, Forwarding, Release};

/// Room that comes back: when it counts (48 bits of picoseconds, up to [`END_PS`]) and bytes (16 bits).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Credit(u64);

impl Credit {
    #[inline]
    pub fn new(time_ps: u64, bytes: u16) -> Self {
        Self(time_ps.min(END_PS - 1) << 16 | u64::from(bytes))
    }

    #[inline]
    pub fn time_ps(self) -> u64 {
        self.0 >> 16
    }

    #[inline]
    pub fn bytes(self) -> u16 {
        self.0 as u16
    }
}

/// What many links have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Kind {
    /// Picoseconds a byte, times 2^20.
    ps_per_byte_q20: u64,
    /// From the sending of a packet's head until it can go on at the far end.
    pub delay_ps: u64,
    /// From the far end's giving room back until it counts.
    pub credit_ps: u64,
}

impl Kind {
    /// Time of `bytes` on the wire, at least 1 ps.
    #[inline]
    pub fn time_ps(self, bytes: u16) -> u64 {
        ((u64::from(bytes) * self.ps_per_byte_q20) >> 20).max(1)
    }

    fn of(fabric: &Fabric, config: &Config, link: LinkId) -> Self {
        let ps_per_byte = 1e12 / fabric.bandwidth_bytes_per_s(link);
        let credit_ps = config.cable_ps(link) + (f64::from(config.credit_bytes) * ps_per_byte).round() as u64;
        Self {
            ps_per_byte_q20: (ps_per_byte * f64::from(1 << 20)).round() as u64,
            delay_ps: config.delay_ps(fabric, link),
            credit_ps: credit_ps.max(1),
        }
    }
}

/// A directed link.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Port {
    /// When the link will have sent what it sends.
    pub free_at: u64,
    /// When the link tries next; [`NEVER`] if nothing is planned.
    pub try_at: u64,
    /// Packets being sent, or sent ahead of time: their room in the output buffer, and when their tails have left.
    leaving: [Credit; 2],
    /// Bytes that wait or are queued (and, where room is kept until admission, that still hold it).
    pub queued: u32,
    /// The switch at the far end; [`Port::HOST`] for a host.
    pub to: u32,
    /// Which of the kinds it is.
    kind: u32,
    /// The input port at the far end.
    pub to_port: u16,
    /// So many are `leaving`, from this lane.
    leavings: u8,
    leaving_lane: u8,
    /// Lane that was served last.
    pub arbiter: u8,
    /// What it may still send in its turn, in units of 64 bytes (with weights).
    left: i16,
    /// It lacks room that will come back.
    pub thirsty: bool,
    /// The partitions of its sending and its receiving end.
    pub from_part: u8,
    pub to_part: u8,
}

impl Port {
    pub const HOST: u32 = u32::MAX;

    /// A packet's tail will have left a lane.
    #[inline]
    pub fn leaves(&mut self, end_ps: u64, bytes: u16, lane: u8) {
        self.leaving[usize::from(self.leavings)] = Credit::new(end_ps, bytes);
        self.leavings += 1;
        self.leaving_lane = lane;
    }
}

/// One lane of one link, at the sending end.
#[derive(Clone, Debug)]
#[repr(align(64))]
pub(crate) struct Lane {
    /// Packets that wait for room in the output buffer.
    pub waiting: List,
    /// Packets in the output buffer; of a host's link, messages.
    pub queue: List,
    /// Room in the output buffer.
    pub out_room: i32,
    /// Room in the far end's input buffer.
    pub in_room: i32,
    /// The credits that come first; more of them are in `more`.
    first: [Credit; 2],
    firsts: u8,
    /// There are more of them.
    more: bool,
    /// The input port that was admitted last.
    pub turn: u16,
    /// Bytes on the wire and packets that were sent.
    pub bytes: u64,
    pub packets: u64,
}

impl Lane {
    /// How many input ports have their turn before `port`.
    #[inline]
    pub fn ports_before(&self, port: u16) -> u32 {
        u32::from(port.wrapping_sub(self.turn.wrapping_add(1)))
    }

    /// Takes the next of the credits that did not fit here, as there is place for it.
    #[cold]
    fn refill(&mut self, more: &mut VecDeque<Credit>) {
        if let Some(next) = more.pop_front() {
            self.first[usize::from(self.firsts)] = next;
            self.firsts += 1;
        }
        self.more = !more.is_empty();
    }
}

/// One lane of one link, at the receiving end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// Packets that have arrived behind the one that is held.
    pub inbox: List,
    /// The first packet waits for its output.
    pub held: bool,
}

/// All links.
#[derive(Debug)]
pub(crate) struct Ports {
    pub lanes: usize,
    kinds: Vec<Kind>,
    pub port: Vec<Port>,
    pub lane: Vec<Lane>,
    pub end: Vec<End>,
    /// Credits that don't fit a lane's line.
    more: Vec<VecDeque<Credit>>,
    /// Loads of outputs, if a scheme looks at them.
    pub loads: Loads,
    /// Loads as they are known elsewhere.
    pub rumour: Rumour,
    /// How long lanes lacked room.
    pub waits: Waits,
    /// Credits are for output room (else for input room).
    pub credits_out: bool,
    /// The first so many links are the hosts'.
    pub hosts: usize,
    /// What a lane may send in its turn, in units of 64 bytes; empty: a packet.
    weights: Vec<u8>,
}

impl Ports {
    pub fn new(fabric: &Fabric, config: &Config, partition: &Partition) -> Self {
        let lanes = usize::from(config.lanes);
        let lane = |link: LinkId| {
            let out = if fabric.between_switches(link) {
                config.output_buffer_bytes
            } else {
                config.host_output_buffer_bytes
            };
            Lane {
                waiting: List::EMPTY,
                queue: List::EMPTY,
                out_room: out as i32,
                in_room: config.input_buffer_bytes.map_or(i32::MAX, |bytes| bytes as i32),
                first: [Credit::default(); 2],
                firsts: 0,
                more: false,
                turn: 0,
                bytes: 0,
                packets: 0,
            }
        };
        let lane: Vec<Lane> = fabric.links().flat_map(|l| std::iter::repeat_n(lane(l), lanes)).collect();
        let kind_of: Vec<Kind> = fabric.links().map(|link| Kind::of(fabric, config, link)).collect();
        let mut kinds = kind_of.clone();
        kinds.sort_unstable();
        kinds.dedup();
        let port =
            |(link, kind)| port(fabric, partition, link, kinds.partition_point(|other| *other < kind) as u32);
        Self {
            lanes,
            port: fabric.links().zip(kind_of).map(port).collect(),
            kinds,
            end: vec![End { inbox: List::EMPTY, held: false }; lane.len()],
            more: vec![VecDeque::new(); lane.len()],
            loads: Loads::default(),
            rumour: Rumour::default(),
            waits: Waits::new(fabric.link_count(), lanes),
            lane,
            credits_out: config.release == Release::Admitted,
            hosts: fabric.host_count(),
            weights: config.lane_weights.clone(),
        }
    }

    /// Keeps loads for a scheme that looks at them, and news of them if it asks for those of other switches.
    pub fn watch(&mut self, elsewhere: bool) {
        self.loads = Loads::new(self.port.len());
        if elsewhere {
            let between = self.port[self.hosts..].iter().filter(|port| port.to != Port::HOST);
            let delay_ps = between.map(|port| self.kinds[port.kind as usize].credit_ps).max().unwrap_or(1);
            self.rumour = Rumour::new(self.port.len(), delay_ps);
        }
    }

    /// Bytes come to a link's queue or go from it.
    #[inline]
    pub fn queue(&mut self, link: u32, bytes: i32, now: u64) {
        let port = self.port(link);
        port.queued = port.queued.wrapping_add_signed(bytes);
        self.loads.add(link, bytes);
        self.rumour.tell(link, bytes, now);
    }

    /// The switch at a link's far end.
    #[inline]
    pub fn far_end(&self, link: u32) -> Option<SwitchId> {
        let to = self.port[link as usize].to;
        (to != Port::HOST).then_some(SwitchId(to))
    }

    /// What one switch does to another takes at least so long, ps; 0 if it can be at once.
    pub fn lookahead_ps(&self, fabric: &Fabric, config: &Config) -> u64 {
        let stored = u64::from(config.forwarding == Forwarding::StoreAndForward);
        let between = fabric.links().filter(|&link| fabric.between_switches(link));
        let shortest = between
            .map(|link| {
                let kind = self.kind(link.0);
                kind.credit_ps.min(kind.delay_ps + stored)
            })
            .min();
        // A fabric of one switch is one partition.
        shortest.unwrap_or(config.cable_delay_ps.max(1))
    }

    #[inline]
    pub fn index(&self, link: u32, lane: u8) -> usize {
        if self.lanes == 1 { link as usize } else { link as usize * self.lanes + usize::from(lane) }
    }

    #[inline]
    pub fn kind(&self, link: u32) -> Kind {
        self.kinds[self.port[link as usize].kind as usize]
    }

    #[inline]
    pub fn port(&mut self, link: u32) -> &mut Port {
        &mut self.port[link as usize]
    }

    #[inline]
    pub fn at(&mut self, link: u32, lane: u8) -> &mut Lane {
        let at = self.index(link, lane);
        &mut self.lane[at]
    }

    #[inline]
    pub fn end(&mut self, link: u32, lane: u8) -> &mut End {
        let at = self.index(link, lane);
        &mut self.end[at]
    }

    /// The lanes of a link.
    #[inline]
    pub fn lanes_of(&self, link: u32) -> &[Lane] {
        let first = link as usize * self.lanes;
        &self.lane[first..first + self.lanes]
    }

    /// Bytes queued at an output, by what has come back by `now`.
    pub fn backlog(&self, link: u32, now: u64) -> u32 {
        let queued = self.port[link as usize].queued;
        if !self.credits_out || queued == 0 {
            return queued;
        }
        let first = link as usize * self.lanes;
        let back = |at: usize| {
            let lane = &self.lane[at];
            let credits = lane.first[..usize::from(lane.firsts)].iter().chain(&self.more[at]);
            credits.take_while(|credit| credit.time_ps() <= now).map(|c| u32::from(c.bytes())).sum::<u32>()
        };
        queued - (first..first + self.lanes).map(back).sum::<u32>()
    }

    /// A link lacks room, or has stopped to.
    pub fn note_wait(&mut self, link: u32, lacks: bool, now: u64) {
        let first = link as usize * self.lanes;
        let lanes = &self.lane[first..first + self.lanes];
        let pending = |lane: usize| !lanes[lane].queue.is_empty() || !lanes[lane].waiting.is_empty();
        self.waits.note(link, lacks, now, pending);
    }

    /// The packet that is queued first on a link of one lane, if it leaves by `by_ps`.
    #[inline]
    pub fn head_ahead(&self, link: u32, by_ps: u64) -> Option<u32> {
        let queue = self.lane[link as usize].queue;
        (!queue.is_empty() && self.port[link as usize].free_at <= by_ps).then_some(queue.head)
    }

    /// Whether a packet can be sent on a link of one lane: there is room for it, and for the note of its leaving.
    #[inline]
    pub fn has_room(&self, link: u32, wire: u16) -> bool {
        self.credits_out || (self.port[link as usize].leavings < 2 && self.has_credit(link, wire))
    }

    /// Whether the far end of a link of one lane has room for a packet.
    #[inline]
    pub fn has_credit(&self, link: u32, wire: u16) -> bool {
        i32::from(wire) <= self.lane[link as usize].in_room
    }

    /// When a packet that was sent over a link left, or will leave.
    pub fn left_ps(&self, link: u32, packet: &Packet) -> u64 {
        packet.tail_ps - self.kind(link).delay_ps - u64::from(packet.via)
    }

    /// When the first packet being sent has left; [`NEVER`] if that changes nothing.
    #[inline]
    pub fn leaves_ps(&self, link: u32) -> u64 {
        let port = &self.port[link as usize];
        if port.leavings > 0 { port.leaving[0].time_ps() } else { NEVER }
    }

    /// Counts what has come back by now.
    #[inline]
    pub fn settle(&mut self, link: u32, now: u64) {
        if !self.credits_out {
            while self.leaves_ps(link) <= now {
                let port = self.port(link);
                let (bytes, lane) = (port.leaving[0].bytes(), port.leaving_lane);
                port.leaving[0] = port.leaving[1];
                port.leavings -= 1;
                self.at(link, lane).out_room += i32::from(bytes);
            }
        }
        for lane in 0..self.lanes as u8 {
            let at = self.index(link, lane);
            let state = &mut self.lane[at];
            let mut bytes = 0;
            while state.firsts > 0 && state.first[0].time_ps() <= now {
                bytes += u32::from(state.first[0].bytes());
                state.first[0] = state.first[1];
                state.firsts -= 1;
                if state.more {
                    state.refill(&mut self.more[at]);
                }
            }
            if self.credits_out {
                state.out_room += bytes as i32;
                self.port[link as usize].queued -= bytes;
            } else {
                state.in_room += bytes as i32;
            }
        }
    }

    /// When a link's next credit counts; [`NEVER`] if none is on its way.
    #[inline]
    pub fn next_credit_ps(&self, link: u32) -> u64 {
        let next = |lane: &Lane| if lane.firsts > 0 { lane.first[0].time_ps() } else { NEVER };
        match self.lanes {
            1 => next(&self.lane[link as usize]),
            _ => self.lanes_of(link).iter().map(next).min().unwrap_or(NEVER),
        }
    }

    /// Gives room back to the sender of `link`; returns when it counts.
    #[inline]
    pub fn give_back(&mut self, link: u32, lane: u8, time_ps: u64, bytes: u16) -> u64 {
        let at = self.index(link, lane);
        let state = &mut self.lane[at];
        let last = match state.firsts {
            0 => 0,
            1 => state.first[0].time_ps(),
            _ => self.more[at].back().unwrap_or(&state.first[1]).time_ps(),
        };
        let time_ps = time_ps.max(last);
        let credit = Credit::new(time_ps, bytes);
        if state.firsts < 2 {
            state.first[usize::from(state.firsts)] = credit;
            state.firsts += 1;
        } else {
            state.more = true;
            self.more[at].push_back(credit);
        }
        self.loads.falls(link, time_ps, bytes);
        time_ps
    }

    /// Whether a lane of a link has something to send and room for it.
    #[inline]
    pub fn is_ready(&self, link: u32, lane: &Lane, wire_of_head: impl Fn(List) -> u32) -> bool {
        let is_host = self.credits_out && (link as usize) < self.hosts;
        let room = if is_host { lane.out_room } else { lane.in_room };
        !lane.queue.is_empty() && wire_of_head(lane.queue) as i32 <= room
    }

    /// The lane that sends next: lanes in turn, a packet or their weight each, that have something and room for it at the far end.
    #[inline]
    pub fn next_lane(&mut self, link: u32, wire_of_head: impl Fn(List) -> u32) -> Option<u8> {
        let ready = |lane: &Lane| self.is_ready(link, lane, &wire_of_head);
        if self.lanes == 1 {
            return ready(&self.lane[link as usize]).then_some(0);
        }
        let last = usize::from(self.port[link as usize].arbiter);
        let of = self.lanes_of(link);
        if !self.weights.is_empty() {
            // It goes on while it has weight left and can; a turn ends with the packet that uses the weight up.
            let goes_on = self.port[link as usize].left > 0 && ready(&of[last]);
            let next = || (1..=self.lanes).map(|k| (last + k) % self.lanes).find(|&k| ready(&of[k]));
            let lane = if goes_on { last } else { next()? };
            let units = wire_of_head(of[lane].queue).div_ceil(64) as i16;
            let port = self.port(link);
            (port.arbiter, port.left) = (lane as u8, if goes_on { port.left } else { 0 });
            let weight = if goes_on { 0 } else { i16::from(self.weights[lane]) };
            self.port(link).left += weight - units;
            return Some(lane as u8);
        }
        let lane = (1..=self.lanes).map(|k| (last + k) % self.lanes).find(|&k| ready(&of[k]))? as u8;
        self.port(link).arbiter = lane;
        Some(lane)
    }
}

fn port(fabric: &Fabric, partition: &Partition, link: LinkId, kind: u32) -> Port {
    let (from_part, to_part) = partition.of_ends(fabric, link);
    Port {
        free_at: 0,
        try_at: NEVER,
        leaving: [Credit::default(); 2],
        queued: 0,
        to: fabric.link_to_switch(link).map_or(Port::HOST, |s| s.0),
        kind,
        to_port: fabric.link(link).to_port,
        leavings: 0,
        leaving_lane: 0,
        arbiter: 0,
        left: 0,
        thirsty: false,
        from_part,
        to_part,
    }
}

const _: () = assert!(size_of::<Port>() == 64 && size_of::<Lane>() == 64);
