//! Messages that wait in the network for ever, while others go on.
//!
//! A lane of a link is *blocked* if nothing can leave it any more: it has no room and none is on its way back, because what it has brought to
//! its far end waits there for blocked lanes. What is left is the largest such set: every lane that can go on is taken out of it, and then every one
//! that brings something to such a lane.
//!
//! Of the packets that wait for a lane only the one whose turn it is counts: a shorter one behind it that would fit waits too. So it is looked
//! for once every packet of the jobs that are waited for stands still; what still moves could change whose turn it is. (A job that starts over
//! could too, if it sends by a lane that is blocked.)
//!
//! Looked for where a packet keeps to the output that it waits for. Adaptive packets, which may yet take another, have up*/down* ways, and never
//! wait for each other; adapters that wait for responses are never found blocked.

use std::collections::{HashMap, HashSet};

use netloom_model::{HostId, LinkId};

use super::deadlock::cycle;
use crate::SimError;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::hardware::Any;
use crate::packet::network::Network;
use crate::packet::pool::NONE;
use crate::packet::switch::Port;
use crate::program::Program;
use crate::stalled::{Awaited, idle};

/// Whether the run ends at `time_ps` because nothing that it waits for can come any more: with the packets that wait for each other, if they do.
pub(in crate::packet) fn stalled<C: Choice, P: Program, O: Observer>(
    parts: &[&Network<'_, C, P, O>],
    time_ps: u64,
) -> Option<Option<SimError>> {
    let idle = idle(parts.iter().map(|part| part.awaited()))?;
    if idle.iter().all(|&(_, under_way)| under_way == 0) {
        return Some(None);
    }
    let first = parts[0];
    if first.moves || first.responses.is_some() {
        return None;
    }
    let blocked = Blocked::of(parts, time_ps);
    let (packets, by_job) = blocked.held();
    let live = live_packets(parts);
    let stands = |&(job, under_way): &(usize, i64)| {
        let held = by_job.get(&job).copied().unwrap_or_default();
        held.messages >= under_way && held.packets == live.get(&job).copied().unwrap_or(0)
    };
    idle.iter().all(stands).then(|| {
        let lanes = first.ports.lanes;
        let cycle = cycle(&blocked.waits_for()).into_iter();
        let cycle = cycle.map(|at| (LinkId::from_index(at / lanes), (at % lanes) as u8)).collect();
        let time_ps = parts.iter().map(|part| part.last).max().unwrap_or(0);
        Some(SimError::Deadlock { time_ps, packets, cycle })
    })
}

/// What of a job blocked lanes hold.
#[derive(Clone, Copy, Default)]
struct Held {
    messages: i64,
    packets: usize,
}

/// Packets in the network, by job.
fn live_packets<C: Choice, P: Program, O: Observer>(
    parts: &[&Network<'_, C, P, O>],
) -> HashMap<usize, usize> {
    let mut live = HashMap::new();
    for part in parts {
        for index in part.packets.live_indices() {
            *live.entry(job_of(parts, part, index)).or_default() += 1;
        }
    }
    live
}

/// The job of a packet.
fn job_of<C: Choice, P: Program, O: Observer>(
    parts: &[&Network<'_, C, P, O>],
    part: &Network<'_, C, P, O>,
    index: u32,
) -> usize {
    let record = part.origins[index as usize].message;
    let to = part.partition.of_address(part.fabric, part.space, part.packets.get(index).address).unwrap_or(0);
    part.program.job(parts[usize::from(to)].hosts.incoming(record).token)
}

impl<C: Choice, P: Program, O: Observer> Network<'_, C, P, O> {
    /// The jobs that the run's end waits for, as far as they are here.
    pub(in crate::packet) fn awaited(&self) -> Vec<Awaited> {
        self.program.awaited(&|host| self.desk.is_here(host))
    }

    /// The wire bytes of the packet that a lane sends next; 0 if it has none.
    fn wire_of_next(&self, link: u32, lane: u8) -> u32 {
        let head = self.ports.lane[link as usize * self.ports.lanes + usize::from(lane)].queue.head;
        match head {
            NONE => 0,
            message if (link as usize) < self.ports.hosts => {
                let left = self.hosts.outgoing(message).left.min(u64::from(self.config.packet_bytes));
                left as u32 + self.config.header_bytes
            }
            packet => u32::from(self.packets.get(packet).wire),
        }
    }
}

/// Lanes, as `link * lanes + lane`, that never go on.
struct Blocked<'p, 'f, C, P: Program, O> {
    parts: &'p [&'p Network<'f, C, P, O>],
    is_blocked: Vec<bool>,
}

impl<'p, 'f, C: Choice, P: Program, O: Observer> Blocked<'p, 'f, C, P, O> {
    fn of(parts: &'p [&'p Network<'f, C, P, O>], time_ps: u64) -> Self {
        let count = parts[0].ports.lane.len();
        let mut found = Self { parts, is_blocked: vec![false; count] };
        let mut held_bytes = vec![0; count];
        let mut goes_on = Vec::new();
        for at in 0..count {
            let part = found.sender(at);
            let state = &part.ports.lane[at];
            if state.queue.is_empty() && state.waiting.is_empty() {
                continue;
            }
            for index in found.waiting(at) {
                held_bytes[found.comes_from(at, index)] += i64::from(part.packets.get(index).wire);
            }
            found.is_blocked[at] = !found.can_go(at, time_ps);
            if !found.is_blocked[at] {
                goes_on.push(at);
            }
        }
        for at in (0..count).filter(|&at| found.is_blocked[at]).collect::<Vec<_>>() {
            if !found.fills(at, time_ps, held_bytes[at]) {
                found.is_blocked[at] = false;
                goes_on.push(at);
            }
        }
        while let Some(at) = goes_on.pop() {
            for from in found.waiting(at).map(|index| found.comes_from(at, index)).collect::<Vec<_>>() {
                if std::mem::take(&mut found.is_blocked[from]) {
                    goes_on.push(from);
                }
            }
        }
        found
    }

    /// The part that a lane sends from.
    fn sender(&self, at: usize) -> &'p Network<'f, C, P, O> {
        let lanes = self.parts[0].ports.lanes;
        let part = self.parts[0].ports.port((at / lanes) as u32).from_part;
        self.parts[usize::from(part)]
    }

    /// The packets that wait for room in a lane's output buffer.
    fn waiting(&self, at: usize) -> impl Iterator<Item = u32> {
        let (part, lanes) = (self.sender(at), self.parts[0].ports.lanes);
        part.ports.waiting((at / lanes) as u32, (at % lanes) as u8, &part.packets)
    }

    /// The lane that brought a packet which waits for lane `at`.
    fn comes_from(&self, at: usize, index: u32) -> usize {
        let packet = self.sender(at).packets.get(index);
        packet.via as usize * self.parts[0].ports.lanes + usize::from(packet.lane())
    }

    /// Whether a lane has room for what it sends, or for the next that waits for it, or room is on its way.
    fn can_go(&self, at: usize, time_ps: u64) -> bool {
        let (part, lanes) = (self.sender(at), self.parts[0].ports.lanes);
        let (link, lane) = ((at / lanes) as u32, (at % lanes) as u8);
        let Some(room) = part.ports.room(link, lane, time_ps) else { return true };
        let wire = part.wire_of_next(link, lane);
        let sends = wire > 0 && i64::from(wire) <= room.to_send;
        let fits = |index: u32| i64::from(part.packets.get(index).wire) <= room.to_queue;
        let next = || part.ports.whose_turn::<Any>(link, lane, &part.packets).packet;
        let somebody = !part.ports.lane[at].waiting.is_empty();
        part.ports.port(link).to == Port::HOST || sends || (somebody && fits(next()))
    }

    /// Whether all that a blocked lane lacks is held by packets that wait at its far end: the first of them holds up the others, or no other is on its way.
    fn fills(&self, at: usize, time_ps: u64, held_bytes: i64) -> bool {
        let (part, lanes) = (self.sender(at), self.parts[0].ports.lanes);
        let (link, lane) = ((at / lanes) as u32, (at % lanes) as u8);
        let held = part.ports.held(link, lane, time_ps, part.config.input_buffer_bytes);
        held_bytes > 0 && (part.ports.features.head_of_line || held == Some(held_bytes))
    }

    /// Packets in blocked lanes; and of every job, these and the messages that have one there.
    fn held(&self) -> (usize, HashMap<usize, Held>) {
        let mut seen = HashSet::new();
        let mut by_job: HashMap<usize, Held> = HashMap::new();
        let mut packets = 0;
        let mut count = |part: &Network<'f, C, P, O>, address, record: u32| {
            let to = part.partition.of_address(part.fabric, part.space, address).unwrap_or(0);
            if seen.insert((to, record)) {
                let token = self.parts[usize::from(to)].hosts.incoming(record).token;
                by_job.entry(part.program.job(token)).or_default().messages += 1;
            }
        };
        let lanes = self.parts[0].ports.lanes;
        let (mut rests, mut here) = (Vec::new(), Vec::new());
        for at in (0..self.is_blocked.len()).filter(|&at| self.is_blocked[at]) {
            let part = self.sender(at);
            let queue = part.ports.lane[at].queue;
            if at / lanes < part.ports.hosts {
                let lists = part.hosts.behind(HostId((at / lanes) as u32), (at % lanes) as u8);
                for message in std::iter::once(queue).chain(lists).flat_map(|list| part.hosts.messages(list))
                {
                    count(part, message.address, message.record);
                    rests
                        .extend(part.hosts.rest(message).map(|left| (part.program.job(message.token), left)));
                }
                continue;
            }
            let waiting: Vec<u32> = self.waiting(at).collect();
            let behind = waiting
                .iter()
                .filter(|_| part.ports.features.head_of_line)
                .flat_map(|&index| part.ports.end[self.comes_from(at, index)].inbox.iter(&part.packets));
            for index in queue.iter(&part.packets).chain(waiting.iter().copied()).chain(behind) {
                packets += 1;
                here.push((part, index));
                count(part, part.packets.get(index).address, part.origins[index as usize].message);
            }
        }
        for (part, index) in here {
            by_job.entry(job_of(self.parts, part, index)).or_default().packets += 1;
        }
        for (job, left) in rests {
            by_job.entry(job).or_default().messages += left as i64;
        }
        (packets, by_job)
    }

    /// Of every lane, a blocked one that packets which it has brought wait for.
    fn waits_for(&self) -> Vec<Option<usize>> {
        let mut waits_for = vec![None; self.is_blocked.len()];
        for at in (0..self.is_blocked.len()).filter(|&at| self.is_blocked[at]) {
            for index in self.waiting(at) {
                waits_for[self.comes_from(at, index)].get_or_insert(at);
            }
        }
        waits_for
    }
}
