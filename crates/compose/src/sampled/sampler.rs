//! What adapters, switches and receivers do with the packets of a simulated run.
//!
//! A packet in flight carries the link that its reservoir holds; of the method of one bit the hash is taken when it has arrived, which is the
//! same and costs less.
//!
//! Cost: a hop is a draw and a word of the packet, which is read ahead with the packet itself; the queue is looked at only where the
//! reservoir is replaced. What arrives is put by and added up some thousand packets at a time, so that the sums stay in the cache
//! meanwhile, and the simulation's own memory in between.

use std::collections::BTreeMap;

use netloom_model::rng::{Stream, stream};
use netloom_model::{Fabric, LinkId};
use netloom_sampling::{PackedTag, Steps, WholeTag};
use netloom_sim::{Arrival, Context, Observer, Queue};
use rand_core::Rng;

use super::sums::{Arrived, Keep, Sums};
use super::{ContextRow, MOST_CONTEXTS, Marking, PacketRow, Phase, Sampled, Sampling};

/// Tags from here on are those of collectives.
const COLLECTIVE: u32 = 1 << 31;
/// Packets that are looked at together.
const TOGETHER: usize = 4096;
/// Contexts that are found at once.
const AT_HAND: usize = 64;

/// Draws of 16 bits, made many at a time.
struct Draws {
    random: Stream,
    made: [u16; 256],
    next: u8,
}

impl Draws {
    fn new(random: Stream) -> Self {
        let mut draws = Self { random, made: [0; 256], next: 0 };
        draws.make();
        draws
    }

    #[inline(always)]
    fn next(&mut self) -> u16 {
        let draw = self.made[usize::from(self.next)];
        self.next = self.next.wrapping_add(1);
        if self.next == 0 {
            self.make();
        }
        draw
    }

    #[cold]
    fn make(&mut self) {
        for four in self.made.chunks_exact_mut(4) {
            let word = self.random.next_u64();
            (0..4).for_each(|k| four[k] = (word >> (16 * k)) as u16);
        }
    }
}

/// Samples a run.
pub struct Sampler {
    asked: Sampling,
    hosts: u32,
    /// Links below are the hosts', or everybody's if the truth is asked for: not just a switch's step.
    special: u32,
    steps: Steps,
    /// `[link]`: the node that sends.
    from: Vec<u32>,
    /// `[packet]`: what it carries.
    flights: Vec<PackedTag>,
    /// `[packet]`: links, and whether they were congested, if the truth is asked for.
    ways: Vec<Vec<(LinkId, bool)>>,
    draws: Draws,
    /// Of packets' ids.
    ids: Stream,
    /// Below this a draw of 32 bits samples a packet.
    threshold: u64,
    /// By job and phase, in order of appearance.
    numbers: BTreeMap<(u32, u64), u32>,
    /// The last context, and others that were looked up: job, tag, number.
    last: (u32, u32, u32),
    at_hand: [(u32, u32, u32); AT_HAND],
    contexts: Vec<ContextRow>,
    /// `[context]`: of the present window.
    sums: Vec<Sums>,
    /// Packets that are not in the sums yet.
    arrived: Vec<Arrived>,
    /// When they arrived, ps, if they are kept.
    times_ps: Vec<u64>,
    /// From when to when the present window goes.
    span_ps: (u64, u64),
    found: Sampled,
}

impl Sampler {
    /// Before anything was sent.
    ///
    /// # Panics
    /// If the rate is not above 0 and at most 1, windows have no length, or the fabric has [`PackedTag::MOST_LINKS`] links.
    pub fn new(fabric: &Fabric, asked: Sampling) -> Self {
        assert!(asked.rate > 0.0 && asked.rate <= 1.0, "a share");
        assert!(asked.every_ps != Some(0), "windows of time");
        assert!(fabric.link_count() < PackedTag::MOST_LINKS, "links that fit a packet's word");
        Self {
            hosts: fabric.host_count() as u32,
            special: if asked.truth { u32::MAX } else { fabric.host_count() as u32 },
            steps: Steps::new(asked.hop_bits),
            from: fabric.links().map(|link| fabric.link(link).from.0).collect(),
            flights: Vec::new(),
            ways: Vec::new(),
            draws: Draws::new(stream(asked.seed, 0)),
            ids: stream(asked.seed, 1),
            threshold: (asked.rate * 4_294_967_296.0).round() as u64,
            numbers: BTreeMap::new(),
            last: (u32::MAX, 0, 0),
            at_hand: [(u32::MAX, 0, 0); AT_HAND],
            contexts: Vec::new(),
            sums: Vec::new(),
            arrived: Vec::with_capacity(TOGETHER),
            times_ps: Vec::new(),
            span_ps: (0, asked.every_ps.unwrap_or(u64::MAX)),
            found: Sampled::default(),
            asked,
        }
    }

    /// What was sampled by the end of the run; contexts get their numbers by job and phase.
    pub fn finish(mut self, end_ps: u64) -> Sampled {
        self.look_at_arrived();
        self.store(self.span_ps.1.min(end_ps));
        let order: Vec<u32> = self.numbers.values().copied().collect();
        let mut number = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, &old)| number[old as usize] = new as u32);
        let mut found = self.found;
        found.contexts = order.iter().map(|&old| self.contexts[old as usize].clone()).collect();
        found.samples.iter_mut().for_each(|row| row.context = number[row.context as usize]);
        found.received.iter_mut().for_each(|row| row.context = number[row.context as usize]);
        found.truth.iter_mut().for_each(|row| row.context = number[row.context as usize]);
        found.packets.iter_mut().for_each(|row| row.context = number[row.context as usize]);
        found.samples.sort_by_key(|row| (row.window, row.context, row.link));
        found.received.sort_by_key(|row| (row.window, row.context, row.source, row.destination));
        found.truth.sort_by_key(|row| (row.window, row.context, row.link));
        found
    }

    // ---- adapters and switches

    #[inline]
    fn is_sampled(&mut self) -> bool {
        let draw = |draws: &mut Draws| u64::from(draws.next()) << 16 | u64::from(draws.next());
        self.threshold > u64::from(u32::MAX) || draw(&mut self.draws) < self.threshold
    }

    #[inline]
    fn is_marked(&mut self, queue: Queue) -> bool {
        match self.asked.marking {
            Marking::Queue => queue.is_congested(),
            Marking::Ecn { bytes } => queue.bytes > bytes,
            Marking::Probabilistic => {
                let whole = u64::from(queue.bytes) + u64::from(queue.credits_bytes);
                queue.bytes > 0 && u64::from(self.draws.next()) * whole < u64::from(queue.bytes) << 16
            }
        }
    }

    /// A packet joins its host's queue, or any if the truth is asked for.
    #[inline(never)]
    fn joins_first(&mut self, at: usize, link: LinkId, queue: impl FnOnce() -> Queue) {
        if self.asked.truth {
            return self.joins_in_truth(at, link, queue());
        }
        let tag = match self.is_sampled() {
            true => PackedTag::sent(link.0, self.is_marked(queue())),
            false => PackedTag::BARE,
        };
        self.begin(at, tag);
    }

    /// A switch's link replaces what a packet has.
    #[inline(never)]
    fn replace(&mut self, at: usize, link: LinkId, queue: impl FnOnce() -> Queue) {
        let marked = self.is_marked(queue());
        self.flights[at] = self.flights[at].with(link.0, marked);
    }

    /// A packet has left its host.
    #[inline]
    fn begin(&mut self, at: usize, tag: PackedTag) {
        if at >= self.flights.len() {
            self.flights.resize(at + 1, tag);
        }
        self.flights[at] = tag;
    }

    /// A packet joins a queue where all of the way is kept.
    #[cold]
    fn joins_in_truth(&mut self, at: usize, link: LinkId, queue: Queue) {
        let marked = self.is_marked(queue);
        if link.0 < self.hosts {
            let is_sampled = self.is_sampled();
            self.begin(at, if is_sampled { PackedTag::sent(link.0, marked) } else { PackedTag::BARE });
            self.ways.resize(self.flights.len(), Vec::new());
            self.ways[at].clear();
        } else if !self.flights[at].is_bare() {
            let (kept, replaces) = self.steps.forward(self.flights[at], self.draws.next());
            self.flights[at] = if replaces { kept.with(link.0, marked) } else { kept };
        }
        self.ways[at].push((link, marked));
    }

    // ---- receivers

    /// The number of a message's context.
    #[inline]
    fn context(&mut self, Context { job, tag, .. }: Context) -> u32 {
        let tag = if self.asked.by_tag { tag.min(COLLECTIVE) } else { 0 };
        if (self.last.0, self.last.1) != (job, tag) {
            self.last = self.at_hand[Self::slot(job, tag)];
            if (self.last.0, self.last.1) != (job, tag) {
                self.look_up(job, tag);
            }
        }
        self.last.2
    }

    #[inline]
    fn slot(job: u32, tag: u32) -> usize {
        (tag ^ tag >> 25 ^ job.wrapping_mul(5)) as usize % AT_HAND
    }

    #[cold]
    fn look_up(&mut self, job: u32, tag: u32) {
        let key = (job, u64::from(tag));
        let full = self.numbers.len() >= MOST_CONTEXTS && !self.numbers.contains_key(&key);
        let kept = if full { (job, u64::MAX) } else { key };
        let next = self.contexts.len() as u32;
        let number = *self.numbers.entry(kept).or_insert(next);
        if number == next {
            let phase = match kept.1 {
                _ if !self.asked.by_tag => Phase::All,
                u64::MAX => Phase::Others,
                _ if tag == COLLECTIVE => Phase::Collective,
                _ => Phase::Tag(tag),
            };
            self.contexts.push(ContextRow { job, phase, packets: 0, sampled: 0, bytes: 0 });
            self.sums.push(Sums::new(&self.asked.method, self.from.len(), self.hosts, self.asked.truth));
        }
        self.last = (job, tag, number);
        self.at_hand[Self::slot(job, tag)] = self.last;
    }

    /// Adds what has arrived to the sums of its contexts.
    #[inline(never)]
    fn look_at_arrived(&mut self) {
        let mut first = 0;
        for packets in self.arrived.chunk_by(|a, b| a.context == b.context) {
            let context = packets[0].context;
            let (times_ps, rows) = (&self.times_ps, &mut self.found.packets);
            let mut keep = |at: usize, id: u32, carries: u32| {
                let Arrived { tag, source, destination, .. } = packets[at];
                let (time_ps, WholeTag { congested, hops, .. }) = (times_ps[first + at], tag.tag());
                rows.push(PacketRow { time_ps, context, id, source, destination, hops, carries, congested });
            };
            let keep: Option<Keep<'_>> = if self.asked.packets { Some(&mut keep) } else { None };
            let counted = self.sums[context as usize].receive(packets, &mut self.ids, keep);
            let row = &mut self.contexts[context as usize];
            row.packets += packets.len() as u64;
            row.bytes += counted.bytes;
            row.sampled += counted.sampled;
            self.found.astray += counted.astray;
            first += packets.len();
        }
        self.arrived.clear();
        self.times_ps.clear();
    }

    /// The window is over.
    #[cold]
    fn turn(&mut self, now_ps: u64) {
        self.look_at_arrived();
        self.store(self.span_ps.1);
        let every_ps = self.asked.every_ps.unwrap_or(u64::MAX);
        let start_ps = now_ps / every_ps * every_ps;
        self.span_ps = (start_ps, start_ps.saturating_add(every_ps));
    }

    /// Reads the sums of the window, if something was received in it, and begins anew.
    fn store(&mut self, end_ps: u64) {
        if self.sums.iter().all(Sums::is_empty) {
            return;
        }
        let start_ps = self.span_ps.0;
        let window = (start_ps / self.asked.every_ps.unwrap_or(u64::MAX)) as u32;
        for (context, sums) in (0..).zip(&mut self.sums) {
            sums.read((window, context), self.asked.rate, &mut self.found);
        }
        self.found.windows.push((window, start_ps, end_ps));
    }
}

impl Observer for Sampler {
    const TRACES: bool = false;

    #[inline(always)]
    fn joins(&mut self, packet: u32, link: LinkId, queue: impl FnOnce() -> Queue) {
        let at = packet as usize;
        if link.0 < self.special {
            return self.joins_first(at, link, queue);
        }
        let Some(tag) = self.flights.get_mut(at).filter(|tag| !tag.is_bare()) else { return };
        let (kept, replaces) = self.steps.forward(*tag, self.draws.next());
        *tag = kept;
        if replaces {
            self.replace(at, link, queue);
        }
    }

    #[inline]
    fn foresee(&self, packet: u32) -> u64 {
        self.flights.get(packet as usize).map_or(0, |tag| tag.hops().into())
    }

    fn moves(&mut self, packet: u32, to: LinkId, queue: impl FnOnce() -> Queue) {
        let at = packet as usize;
        let tag = self.flights[at];
        // Minimal ways see a switch once: what is held was drawn here.
        let here = !tag.is_bare() && self.from[tag.tag().link as usize] == self.from[to.index()];
        if here || self.asked.truth {
            let marked = self.is_marked(queue());
            if here {
                self.flights[at] = tag.with(to.0, marked);
            }
            if let Some(last) = self.ways.get_mut(at).and_then(|way| way.last_mut()) {
                *last = (to, marked);
            }
        }
    }

    #[inline(always)]
    fn arrives(&mut self, arrival: Arrival) {
        let Arrival { now_ps, packet, from, to, bytes, context } = arrival;
        if now_ps >= self.span_ps.1 {
            self.turn(now_ps);
        }
        let (context, tag) = (self.context(context), self.flights[packet as usize]);
        if self.asked.truth {
            self.sums[context as usize].know(&self.ways[packet as usize]);
        }
        if self.asked.packets {
            self.times_ps.push(now_ps);
        }
        self.arrived.push(Arrived { tag, source: from, destination: to, context, bytes });
        if self.arrived.len() == TOGETHER {
            self.look_at_arrived();
        }
    }
}
