//! State of every directed link: what waits for it, what room is left at both ends, when it is free.
//!
//! A packet on its way over link `l`: it *waits* for room in the output buffer of `l`, is *queued* there, is sent, takes room of
//! the input buffer at the far end until the next output buffer admits it. Room is counted in bytes on the
//! wire, by lane. What the far end gives back travels: a [`Credit`] counts from its time on.
//!
//! Invariants: no room is negative; the times of a lane's credits don't fall; at most one try of a link is valid, at its `try_at`.
//! Only the sending end's partition touches a link's [`Lane`]s, and only the receiving end's its [`End`]s.
//!
//! Speed: what a hop changes of a link is one line of the cache, and what never changes ([`Port`]) is small enough to stay in it.

use std::collections::VecDeque;

use netloom_model::{Fabric, LinkId, SwitchId};
use serde::{Deserialize, Serialize};

use super::inputs::Inputs;
use super::lane::{Carried, Credit, Lane, SENT_BYTES, SENT_PACKETS, Waiting};
use super::loads::{Loads, RemoteLoads};
use super::queues::Queues;
use super::waits::Waits;
use crate::calendar::NEVER;
use crate::config::{Config, Forwarding};
use crate::observe::Queue;
use crate::packet::hardware::{Any, Features, Hardware};
use crate::packet::parallel::Partition;
use crate::packet::pool::{List, NONE, Packet, Pool};

/// What many links have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
    #[inline(always)]
    pub fn time_ps(self, bytes: u16) -> u64 {
        ((u64::from(bytes) * self.ps_per_byte_q20) >> 20).max(1)
    }

    /// Whether bytes take less time on the wire.
    #[inline]
    pub fn is_faster_than(&self, other: &Self) -> bool {
        self.ps_per_byte_q20 < other.ps_per_byte_q20
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

/// A directed link, as it is wired.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Port {
    /// The switch at the far end; [`Port::HOST`] for a host.
    pub to: u32,
    /// Which of the kinds it is, and in the lower 8 bits its place in its switch.
    kind_and_place: u32,
    /// The number of its cable in the far end's switch, in order of ports, counted from 1: its place there, plus 1.
    pub to_number: u16,
    /// The partitions of its sending and its receiving end.
    pub from_part: u8,
    pub to_part: u8,
}

impl Port {
    pub const HOST: u32 = u32::MAX;

    #[inline(always)]
    fn kind(self) -> usize {
        (self.kind_and_place >> 8) as usize
    }

    /// The place of an output in its switch, in order of ports; where places are used, see [`Inputs::fit`].
    #[inline(always)]
    pub fn place(self) -> u32 {
        self.kind_and_place & 0xff
    }

    /// The place of its input in the far end's switch.
    #[inline(always)]
    pub fn to_place(self) -> u32 {
        u32::from(self.to_number) - 1
    }
}

/// Whose turn it is on a link of several lanes.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Arbiter {
    /// The lane that was served last.
    last: u8,
    /// What it may still send in its turn, in units of 64 bytes (with weights).
    left: i16,
}

/// One lane of one link, at the receiving end.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct End {
    /// Packets that have arrived behind the one that is held.
    pub inbox: List,
    /// The first packet waits for its output.
    pub held: bool,
    /// Of the link's first lane: the last packet that the link has brought, and, where heads go on before their tails, when its tail has come.
    pub last: (u32, u64),
}

/// All links.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Ports {
    pub lanes: usize,
    pub features: Features,
    kinds: Vec<Kind>,
    pub port: Vec<Port>,
    pub lane: Vec<Lane>,
    pub end: Vec<End>,
    /// What lanes have sent but for the last few packets, which are counted in their lines.
    pub(super) carried: Vec<Carried>,
    /// Room of output buffers: towards switches, and of and towards hosts.
    pub(super) room: [u32; 2],
    /// Of every link, packets being sent, or sent ahead of time: their room in the output buffer, and when their tails have left. Empty
    /// if that changes nothing.
    pub(super) leaving: Vec<[Credit; 2]>,
    /// Credits that don't fit a lane's line.
    pub(super) more: Vec<VecDeque<Credit>>,
    /// By link; empty if there is one lane.
    pub(super) arbiter: Vec<Arbiter>,
    /// Loads of outputs, if a scheme looks at them.
    pub loads: Loads,
    /// Loads as they are known elsewhere.
    pub remote: RemoteLoads,
    /// How long lanes lacked room.
    pub waits: Waits,
    /// What waits at inputs, where these are known by their places.
    pub inputs: Inputs,
    /// What waits behind others of its input, where inputs hold many and have turns.
    pub queues: Queues,
    /// Bytes that wait, `[link * lanes + lane]`, where they are counted; see `turn`.
    pub waiting_bytes: Vec<u32>,
    /// The first so many links are the hosts'.
    pub hosts: usize,
    /// Links have several speeds.
    pub mixed_speeds: bool,
    /// What a lane may send in its turn, in units of 64 bytes; empty: a packet.
    weights: Vec<u8>,
}

impl Ports {
    pub fn new(fabric: &Fabric, config: &Config, features: Features, partition: &Partition) -> Self {
        let lanes = usize::from(config.lanes);
        let links = fabric.link_count();
        let lane = |link: LinkId| {
            let out = if fabric.between_switches(link) {
                config.output_buffer_bytes
            } else {
                config.host_output_buffer_bytes
            };
            Lane {
                free_at: 0,
                try_at: NEVER,
                first: [Credit::NONE; 2],
                waiting: Waiting::NOBODY,
                queue: List::EMPTY,
                out_room: out as i32,
                in_room: config.input_buffer_bytes.map_or(i32::MAX, |bytes| bytes as i32),
                sent: 0,
                turn: 0,
                more: false,
                starved: false,
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
            features,
            port: fabric.links().zip(kind_of).map(port).collect(),
            kinds: kinds.clone(),
            end: vec![End { inbox: List::EMPTY, held: false, last: (NONE, 0) }; lane.len()],
            carried: vec![Carried::default(); lane.len()],
            room: [config.output_buffer_bytes, config.host_output_buffer_bytes],
            leaving: vec![[Credit::NONE; 2]; if features.credits_out { 0 } else { links }],
            more: vec![VecDeque::new(); lane.len()],
            arbiter: vec![Arbiter::default(); if features.one_lane { 0 } else { links }],
            loads: Loads::default(),
            remote: RemoteLoads::default(),
            waits: Waits::new(links, lanes),
            inputs: if features.by_place { Inputs::new(fabric, lanes) } else { Inputs::default() },
            waiting_bytes: Vec::new(),
            queues: Queues::new(if features.by_input() { lane.len() } else { 0 }),
            lane,
            hosts: fabric.host_count(),
            mixed_speeds: kinds
                .iter()
                .any(|kind| kind.is_faster_than(&kinds[0]) || kinds[0].is_faster_than(kind)),
            weights: config.lane_weights.clone(),
        }
    }

    /// Keeps loads for a scheme that looks at them, and news of them if it asks for those of other switches.
    pub fn watch(&mut self, elsewhere: bool) {
        self.loads = Loads::new(self.port.len());
        if elsewhere {
            let between = self.port[self.hosts..].iter().filter(|port| port.to != Port::HOST);
            let delay_ps = between.map(|port| self.kinds[port.kind()].credit_ps).max().unwrap_or(1);
            self.remote = RemoteLoads::new(self.port.len(), delay_ps);
        }
    }

    /// What the hardware does.
    #[inline(always)]
    pub fn features<H: Hardware>(&self) -> Features {
        H::KNOWN.unwrap_or(self.features)
    }

    /// Lanes of a link.
    #[inline(always)]
    pub fn lanes<H: Hardware>(&self) -> usize {
        if self.features::<H>().one_lane { 1 } else { self.lanes }
    }

    /// Bytes come to a link's queue or go from it.
    #[inline(always)]
    pub fn queue(&mut self, link: u32, bytes: i32, now: u64) {
        self.loads.add(link, bytes);
        self.remote.change(link, bytes, now);
    }

    /// The switch at a link's far end.
    #[inline(always)]
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

    #[inline(always)]
    pub fn index<H: Hardware>(&self, link: u32, lane: u8) -> usize {
        link as usize * self.lanes::<H>() + if self.features::<H>().one_lane { 0 } else { usize::from(lane) }
    }

    #[inline(always)]
    pub fn kind(&self, link: u32) -> &Kind {
        &self.kinds[self.port[link as usize].kind()]
    }

    /// How a link is wired.
    #[inline(always)]
    pub fn port(&self, link: u32) -> Port {
        self.port[link as usize]
    }

    /// The lane that has what belongs to the whole link.
    #[inline(always)]
    pub fn link<H: Hardware>(&mut self, link: u32) -> &mut Lane {
        self.at::<H>(link, 0)
    }

    #[inline(always)]
    pub fn at<H: Hardware>(&mut self, link: u32, lane: u8) -> &mut Lane {
        let at = self.index::<H>(link, lane);
        &mut self.lane[at]
    }

    #[inline(always)]
    pub fn end<H: Hardware>(&mut self, link: u32, lane: u8) -> &mut End {
        let at = self.index::<H>(link, lane);
        &mut self.end[at]
    }

    /// The lanes of a link.
    #[inline(always)]
    pub fn lanes_of<H: Hardware>(&self, link: u32) -> &[Lane] {
        let first = self.index::<H>(link, 0);
        &self.lane[first..first + self.lanes::<H>()]
    }

    /// The same, to look at.
    #[inline(always)]
    pub fn lane_of<H: Hardware>(&self, link: u32) -> &Lane {
        &self.lane[self.index::<H>(link, 0)]
    }

    /// Counts a packet that a lane sends.
    #[inline(always)]
    pub fn carry<H: Hardware>(&mut self, link: u32, lane: u8, bytes: u16) {
        let at = self.index::<H>(link, lane);
        let sent = &mut self.lane[at].sent;
        *sent += 1 << SENT_BYTES | u32::from(bytes);
        if *sent >> SENT_BYTES == SENT_PACKETS {
            self.carried[at] = self.carried[at].with(std::mem::take(sent));
        }
    }

    /// What every lane has sent, `[link * lanes + lane]`.
    pub fn carried(&self) -> impl Iterator<Item = Carried> {
        self.lane.iter().zip(&self.carried).map(|(lane, carried)| carried.with(lane.sent))
    }

    /// When a link will have sent what it sends.
    #[inline(always)]
    pub fn free_at<H: Hardware>(&self, link: u32) -> u64 {
        self.lane_of::<H>(link).free_at
    }

    /// Bytes that wait for an output of a switch or are queued there (and, where room is kept until admission, that still hold it).
    #[inline(always)]
    pub fn queued<H: Hardware>(&self, link: u32, packets: &Pool<Packet>) -> u32 {
        let wire = |index: u32| u32::from(packets.get(index).wire);
        let room = self.room[usize::from(self.port[link as usize].to == Port::HOST)];
        let out = self.features::<H>().credits_out;
        let held = |lane: &Lane| {
            if out { room - lane.out_room as u32 } else { lane.queue.iter(packets).map(wire).sum() }
        };
        let waits = |lane: usize| self.bytes_waiting(link, lane as u8, packets);
        self.lanes_of::<H>(link).iter().enumerate().map(|(k, lane)| waits(k) + held(lane)).sum()
    }

    /// The link that leads back along the cable of an input, as counted from an output of the same switch.
    #[inline(always)]
    pub fn back(&self, out: u32, place: u32) -> u32 {
        out - self.port(out).place() + place
    }

    /// What a packet finds at an output of a switch, settled. (One that has been sent ahead of time, behind another that is being sent, has
    /// not left yet, and its credits are still there.)
    #[inline(always)]
    pub fn queue_before<H: Hardware>(&self, link: u32, lane: u8, packets: &Pool<Packet>) -> Queue {
        let ahead = match self.leaving.get(link as usize) {
            Some([_, second]) if self.features::<H>().ahead && !second.is_none() => u32::from(second.bytes()),
            _ => 0,
        };
        let credits_bytes = self.credits_bytes::<H>(link, lane).saturating_add(ahead);
        Queue { bytes: self.queued::<H>(link, packets) + ahead, credits_bytes }
    }

    /// The room that a sender knows of.
    #[inline(always)]
    pub fn credits_bytes<H: Hardware>(&self, link: u32, lane: u8) -> u32 {
        let lane = &self.lane[self.index::<H>(link, lane)];
        if self.features::<H>().credits_out { lane.out_room as u32 } else { lane.in_room as u32 }
    }

    /// Bytes queued at an output of a switch, by what has come back by `now`.
    pub fn backlog(&self, link: u32, now: u64, packets: &Pool<Packet>) -> u32 {
        let queued = self.queued::<Any>(link, packets);
        if !self.features.credits_out || queued == 0 {
            return queued;
        }
        let first = link as usize * self.lanes;
        let back = |at: usize| {
            let credits = self.lane[at].first.iter().chain(&self.more[at]);
            credits.take_while(|credit| credit.time_ps() <= now).map(|c| u32::from(c.bytes())).sum::<u32>()
        };
        queued - (first..first + self.lanes).map(back).sum::<u32>()
    }

    /// A link lacks room, or has stopped to.
    pub fn note_wait<H: Hardware>(&mut self, link: u32, lacks: bool, now: u64) {
        let (first, free_at) = (self.index::<H>(link, 0), self.free_at::<H>(link));
        let lanes = &self.lane[first..first + self.lanes::<H>()];
        let pending = |lane: usize| !lanes[lane].queue.is_empty() || !lanes[lane].waiting.is_empty();
        self.waits.note(link, lacks, free_at, now, pending);
    }

    /// Whether there is a place for the note of another packet's leaving.
    #[inline(always)]
    pub fn can_note<H: Hardware>(&self, link: u32) -> bool {
        self.features::<H>().credits_out || self.leaving[link as usize][1].is_none()
    }

    /// The lane that was served last, where there are several.
    pub(super) fn served_last(&self, link: u32) -> Option<u8> {
        self.arbiter.get(link as usize).map(|arbiter| arbiter.last)
    }

    /// A packet's tail will have left a link.
    #[inline(always)]
    pub fn leaves(&mut self, link: u32, end_ps: u64, bytes: u16) {
        let leaving = &mut self.leaving[link as usize];
        let place = if leaving[0].is_none() { 0 } else { 1 };
        debug_assert!(leaving[place].is_none());
        leaving[place] = Credit::new(end_ps, bytes);
    }

    /// Whether packets go on at a link's far end before their tails are there.
    #[inline(always)]
    pub fn goes_through<H: Hardware>(&self, link: u32) -> bool {
        self.features::<H>().cut_through && self.port[link as usize].to != Port::HOST
    }

    /// When a packet that was sent over a link, to count at its far end at `time_ps`, left, or will leave.
    pub fn left_ps(&self, link: u32, packet: &Packet, time_ps: u64) -> u64 {
        // (Over a slower link than the next it counts once more, a ps before its tail: its head has been there.)
        if self.mixed_speeds && self.goes_through::<Any>(link) && packet.via == 1 {
            return 0;
        }
        let held_ps = if self.goes_through::<Any>(link) { 0 } else { u64::from(packet.via) };
        time_ps - self.kind(link).delay_ps - held_ps
    }

    /// When the first packet being sent has left; [`NEVER`] if that changes nothing.
    #[inline(always)]
    pub fn leaves_ps<H: Hardware>(&self, link: u32) -> u64 {
        if self.features::<H>().credits_out { NEVER } else { self.leaving[link as usize][0].next_ps() }
    }

    /// Counts what has come back by now.
    #[inline(always)]
    pub fn settle<H: Hardware>(&mut self, link: u32, now: u64) {
        if !self.features::<H>().credits_out && self.leaving[link as usize][0].time_ps() <= now {
            self.settle_leaving(link, now);
        }
        let first = self.index::<H>(link, 0);
        for at in first..first + self.lanes::<H>() {
            if self.lane[at].first[0].time_ps() <= now {
                self.settle_lane::<H>(link, at, now);
            }
        }
    }

    /// Bytes that wait for an output, are queued there, or have left by it and still hold room at its far end; only where loads are kept.
    #[inline(always)]
    pub fn load(&mut self, link: u32, now: u64) -> u32 {
        if self.loads.are_due(link, now) {
            self.settle_credits(link, now);
        }
        self.loads.bytes(link)
    }

    #[inline(never)]
    fn settle_credits(&mut self, link: u32, now: u64) {
        let first = link as usize * self.lanes;
        for at in first..first + self.lanes {
            if self.lane[at].first[0].time_ps() <= now {
                self.settle_lane::<Any>(link, at, now);
            }
        }
    }

    #[inline]
    fn settle_leaving(&mut self, link: u32, now: u64) {
        // With several lanes at most one packet is leaving, from the lane that was served last.
        let lane = self.arbiter.get(link as usize).map_or(0, |arbiter| arbiter.last);
        let leaving = &mut self.leaving[link as usize];
        let mut bytes = 0;
        while leaving[0].time_ps() <= now {
            bytes += i32::from(leaving[0].bytes());
            *leaving = [leaving[1], Credit::NONE];
        }
        self.at::<Any>(link, lane).out_room += bytes;
    }

    fn settle_lane<H: Hardware>(&mut self, link: u32, at: usize, now: u64) {
        let bytes = self.lane[at].take(&mut self.more[at], now);
        if self.loads.are_kept() {
            self.loads.settle(link, bytes, self.next_credit_ps::<H>(link));
        }
        if self.features::<H>().credits_out {
            self.lane[at].out_room += bytes as i32;
        } else {
            self.lane[at].in_room += bytes as i32;
        }
    }

    /// When a link's next credit counts; [`NEVER`] if none is on its way.
    #[inline(always)]
    pub fn next_credit_ps<H: Hardware>(&self, link: u32) -> u64 {
        self.lanes_of::<H>(link).iter().map(|lane| lane.first[0].next_ps()).min().unwrap_or(NEVER)
    }

    /// Gives room back to the sender of `link`; returns when it counts.
    #[inline(always)]
    pub fn give_back<H: Hardware>(&mut self, link: u32, lane: u8, time_ps: u64, bytes: u16) -> u64 {
        let at = self.index::<H>(link, lane);
        let state = &mut self.lane[at];
        let [first, second] = &mut state.first;
        let time_ps = if first.is_none() {
            *first = Credit::new(time_ps, bytes);
            time_ps
        } else if second.is_none() {
            let time_ps = time_ps.max(first.time_ps());
            *second = Credit::new(time_ps, bytes);
            time_ps
        } else {
            state.more = true;
            let more = &mut self.more[at];
            let time_ps = time_ps.max(more.back().unwrap_or(second).time_ps());
            more.push_back(Credit::new(time_ps, bytes));
            time_ps
        };
        self.loads.falls(link, time_ps);
        time_ps
    }

    /// Whether a lane of a link has something to send and room for it.
    #[inline(always)]
    pub fn is_ready<H: Hardware>(&self, link: u32, lane: &Lane, wire_of_head: impl Fn(List) -> u32) -> bool {
        let is_host = self.features::<H>().credits_out && (link as usize) < self.hosts;
        let room = if is_host { lane.out_room } else { lane.in_room };
        !lane.queue.is_empty() && wire_of_head(lane.queue) as i32 <= room
    }

    /// The lane that sends next: lanes in turn, a packet or their weight each, that have something and room for it at the far end.
    #[inline(always)]
    pub fn next_lane<H: Hardware>(&mut self, link: u32, wire_of_head: impl Fn(List) -> u32) -> Option<u8> {
        let ready = |lane: &Lane| self.is_ready::<H>(link, lane, &wire_of_head);
        if self.features::<H>().one_lane {
            return ready(&self.lane[link as usize]).then_some(0);
        }
        let of = self.lanes_of::<H>(link);
        let Arbiter { last, left } = self.arbiter[link as usize];
        let next = || (1..=self.lanes).map(|k| (usize::from(last) + k) % self.lanes).find(|&k| ready(&of[k]));
        let arbiter = if self.weights.is_empty() {
            Arbiter { last: next()? as u8, left: 0 }
        } else {
            // It goes on while it has weight left and can; a turn ends with the packet that uses the weight up.
            let goes_on = left > 0 && ready(&of[usize::from(last)]);
            let lane = if goes_on { usize::from(last) } else { next()? };
            let units = wire_of_head(of[lane].queue).div_ceil(64) as i16;
            let weight = if goes_on { left } else { i16::from(self.weights[lane]) };
            Arbiter { last: lane as u8, left: weight - units }
        };
        self.arbiter[link as usize] = arbiter;
        Some(arbiter.last)
    }
}

fn port(fabric: &Fabric, partition: &Partition, link: LinkId, kind: u32) -> Port {
    let (from_part, to_part) = partition.of_ends(fabric, link);
    let place = |link: LinkId| {
        let switch = fabric.link_from_switch(link)?;
        fabric.switch_links(switch).next().map(|first| link.0 - first.0)
    };
    let to = fabric.link_to_switch(link).map_or(Port::HOST, |s| s.0);
    let to_number = place(fabric.reverse(link)).map_or(0, |place| place as u16 + 1);
    Port { to, kind_and_place: kind << 8 | place(link).unwrap_or(0) & 0xff, to_number, from_part, to_part }
}

const _: () = assert!(size_of::<Port>() == 12);
