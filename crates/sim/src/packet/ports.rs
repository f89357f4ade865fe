//! State of every directed link: what waits for it, what room is left at both ends, when it is free.
//!
//! A packet on its way over link `l`: it *waits* for room in the output buffer of `l`, is *queued* there, is sent, takes room of
//! the input buffer at the far end until the next output buffer admits it. Room is counted in bytes on the
//! wire, by lane. What the far end gives back travels: a [`Credit`] counts from its time on.
//!
//! Invariants: no room is negative; the times of a link's credits don't fall; at most one try of a link is valid, at `try_at`.
//! Only the sending end's partition touches a link's state, but for `inbox` and `held`, which are the receiving end's.

use std::collections::VecDeque;

use netloom_model::{Fabric, LinkId};

use super::pool::List;
use crate::config::{Config, Release};

/// "Never".
pub(crate) const NEVER: u64 = u64::MAX;

/// Room that comes back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credit {
    pub time_ps: u64,
    pub bytes: u16,
    pub lane: u8,
}

/// What never changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wire {
    /// Picoseconds a byte, times 2^20.
    ps_per_byte_q20: u64,
    /// From the sending of a packet's head until it can go on at the far end.
    pub delay_ps: u64,
    /// From the far end's giving room back until it counts.
    pub credit_ps: u64,
    /// The switch at the far end; [`Wire::HOST`] for a host.
    pub to: u32,
    /// The input port at the far end.
    pub to_port: u16,
}

impl Wire {
    pub const HOST: u32 = u32::MAX;

    /// Time of `bytes` on the wire, at least 1 ps.
    #[inline]
    pub fn time_ps(&self, bytes: u32) -> u64 {
        ((u64::from(bytes) * self.ps_per_byte_q20) >> 20).max(1)
    }
}

/// One lane of one link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lane {
    /// Packets that wait for room in the output buffer.
    pub waiting: List,
    /// Packets in the output buffer; of a host's link, messages.
    pub queue: List,
    /// Room in the output buffer.
    pub out_room: i32,
    /// Room in the far end's input buffer.
    pub in_room: i32,
    /// At the far end: packets that have arrived behind the one that is held.
    pub inbox: List,
    /// At the far end: the first packet waits for its output.
    pub held: bool,
    /// The input port that was admitted last.
    pub turn: u16,
}

/// All links.
#[derive(Debug)]
pub(crate) struct Ports {
    pub lanes: usize,
    pub wire: Vec<Wire>,
    /// When the link will have sent what it sends.
    pub free_at: Vec<u64>,
    /// Bytes that wait or are queued (and, where room is kept until admission, that still hold it).
    pub queued: Vec<u32>,
    /// When the link tries next; [`NEVER`] if nothing is planned.
    pub try_at: Vec<u64>,
    /// Of the packet being sent: its room in the output buffer, given back at `free_at`.
    pub sending: Vec<(u16, u8)>,
    /// Lane that was served last.
    pub arbiter: Vec<u8>,
    pub lane: Vec<Lane>,
    pub credits: Vec<VecDeque<Credit>>,
    /// It lacks room that will come back.
    pub thirsty: Vec<bool>,
    /// Credits are for output room (else for input room).
    pub credits_out: bool,
    /// The first so many links are the hosts'.
    pub hosts: usize,
}

impl Ports {
    pub fn new(fabric: &Fabric, config: &Config) -> Self {
        let links = fabric.link_count();
        let lanes = usize::from(config.lanes);
        let wire = |link: LinkId| {
            let ps_per_byte = 1e12 / fabric.bandwidth_bytes_per_s(link);
            let switch = if fabric.link_from_switch(link).is_some() { config.switch_delay_ps } else { 0 };
            Wire {
                ps_per_byte_q20: (ps_per_byte * f64::from(1 << 20)).round() as u64,
                delay_ps: config.cable_delay_ps + switch,
                credit_ps: config.cable_delay_ps
                    + (f64::from(config.credit_bytes) * ps_per_byte).round() as u64,
                to: fabric.link_to_switch(link).map_or(Wire::HOST, |s| s.0),
                to_port: fabric.link(link).to_port,
            }
        };
        let lane = |link: LinkId| {
            let out = if fabric.link_to_switch(link).is_some() {
                config.output_buffer_bytes
            } else {
                config.host_output_buffer_bytes
            };
            Lane {
                waiting: List::EMPTY,
                queue: List::EMPTY,
                out_room: out as i32,
                in_room: config.input_buffer_bytes.map_or(i32::MAX, |bytes| bytes as i32),
                inbox: List::EMPTY,
                held: false,
                turn: 0,
            }
        };
        Self {
            lanes,
            wire: fabric.links().map(wire).collect(),
            free_at: vec![0; links],
            queued: vec![0; links],
            try_at: vec![NEVER; links],
            sending: vec![(0, 0); links],
            arbiter: vec![0; links],
            lane: fabric.links().flat_map(|l| std::iter::repeat_n(lane(l), lanes)).collect(),
            credits: vec![VecDeque::new(); links],
            thirsty: vec![false; links],
            credits_out: config.release == Release::Admitted,
            hosts: fabric.host_count(),
        }
    }

    #[inline]
    pub fn at(&mut self, link: u32, lane: u8) -> &mut Lane {
        &mut self.lane[link as usize * self.lanes + usize::from(lane)]
    }

    /// Counts what has come back by now.
    #[inline]
    pub fn settle(&mut self, link: u32, now: u64) {
        let l = link as usize;
        if !self.credits_out && self.free_at[l] <= now {
            let (bytes, lane) = std::mem::take(&mut self.sending[l]);
            self.at(link, lane).out_room += i32::from(bytes);
        }
        while let Some(&Credit { time_ps, bytes, lane }) = self.credits[l].front() {
            if time_ps > now {
                break;
            }
            self.credits[l].pop_front();
            if self.credits_out {
                self.at(link, lane).out_room += i32::from(bytes);
                self.queued[l] -= u32::from(bytes);
            } else {
                self.at(link, lane).in_room += i32::from(bytes);
            }
        }
    }

    /// Gives room back to the sender of `link`; returns when it counts.
    #[inline]
    pub fn give_back(&mut self, link: u32, mut credit: Credit) -> u64 {
        let ring = &mut self.credits[link as usize];
        if let Some(last) = ring.back() {
            credit.time_ps = credit.time_ps.max(last.time_ps);
        }
        ring.push_back(credit);
        credit.time_ps
    }
}
