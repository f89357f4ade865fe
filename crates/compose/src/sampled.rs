//! Paths sampled inside the packets of a simulated run (crate `sampling`), as adapters and switches would do it.
//!
//! A packet in flight carries the link that its reservoir holds; of the method of one bit the hash is taken when it arrives, which is the same
//! and costs less. Receivers keep sums by *context*: a job, or a job's messages of one tag, those of collectives together. Every window of
//! time they are read and begin anew; what was under way belongs to the window in which it arrives.
//!
//! Cost: an untouched packet costs a draw a hop; the queue is looked at only where the reservoir is replaced.
//!
//! Source: Taffet, dissertation, sec. 2.3.1 (Algorithms 1 to 3, the footnote on congestion) and 2.5.1 (Algorithms 4 to 6).

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_model::rng::{Stream, stream};
use netloom_model::{Fabric, HostId, LinkId};
use netloom_sampling::{Candidates, Hash, HashFunction, HopBits, Modulus, SamplingError, WholeTag};
use netloom_sim::{Arrival, Context, Observer, Queue};
use rand_core::Rng;

mod decode;
mod sums;

pub use decode::{Decoded, Kept, Odd, Ways, decode};
use sums::{Arrived, Sums};
pub use sums::{Pair, Sample, TrueLink};

/// Tags from here on are those of collectives.
const COLLECTIVE: u32 = 1 << 31;
/// Contexts that are told apart; later tags of a job are one more.
pub const MOST_CONTEXTS: usize = 512;
/// The link of a packet that is not sampled.
const BARE: u32 = u32::MAX;
/// Packets that are looked at together: what they touch stays in the cache meanwhile.
const TOGETHER: usize = 4096;

/// What packets carry.
#[derive(Clone, Debug)]
pub enum Method {
    /// A whole link.
    Whole,
    /// One bit of the hash that is linear.
    OneBit {
        /// What might have been crossed, with numbers.
        candidates: Arc<Candidates>,
        /// The hash.
        hash: Arc<Hash>,
        /// `[link]`: of the hash; what switches keep for their ports.
        masks: Arc<Vec<u32>>,
    },
    /// One bit of another hash: decoded link by link.
    Hashed {
        /// What might have been crossed, with numbers.
        candidates: Arc<Candidates>,
        /// The hash.
        function: HashFunction,
    },
}

impl Method {
    /// One bit of a hash, with what suits it best.
    ///
    /// # Errors
    /// [`SamplingError`] for constants that make no field, or under which links look alike.
    pub fn hashed(candidates: Arc<Candidates>, function: HashFunction) -> Result<Self, SamplingError> {
        match function {
            HashFunction::Field { modulus, g } => Self::one_bit(candidates, modulus, g),
            HashFunction::Md5 | HashFunction::SipHash { .. } => Ok(Self::Hashed { candidates, function }),
        }
    }

    /// One bit of the hash that is linear, with masks for a fabric's links.
    ///
    /// # Errors
    /// [`SamplingError`] for a hash under which links look alike.
    pub fn one_bit(candidates: Arc<Candidates>, modulus: Modulus, g: u32) -> Result<Self, SamplingError> {
        let hash = Hash::new(modulus, g, candidates.bits(), 32)?;
        let number = |link| candidates.number(LinkId::from_index(link)).unwrap_or(0);
        let masks = (0..candidates.links()).map(|link| hash.mask(number(link))).collect();
        Ok(Self::OneBit { candidates, hash: Arc::new(hash), masks: Arc::new(masks) })
    }

    /// Links that look like another one, or whose bit never changes, where ids have the bits of `ids` alone; and all links that have a number.
    /// Only a hash that is linear can take links for others.
    pub fn alike(&self, ids: u32) -> (usize, usize) {
        let Self::OneBit { candidates, masks, .. } = self else { return (0, 0) };
        let numbered = |link: &usize| candidates.number(LinkId::from_index(*link)).is_some();
        let mut seen: Vec<u32> = (0..masks.len()).filter(numbered).map(|link| masks[link] & ids).collect();
        seen.sort_unstable();
        let same = |group: &[u32]| if group.len() > 1 || group[0] == 0 { group.len() } else { 0 };
        (seen.chunk_by(|a, b| a == b).map(same).sum(), seen.len())
    }
}

/// What makes a link congested for a packet that is queued there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marking {
    /// The queue is longer than the credits for it: the source's.
    Queue,
    /// With a probability of queue / (queue + credits).
    Probabilistic,
    /// The queue is longer than so many bytes, as switches mark for congestion control.
    Ecn {
        /// The threshold.
        bytes: u32,
    },
}

/// How a run is sampled.
#[derive(Clone, Debug)]
pub struct Sampling {
    /// What packets carry.
    pub method: Method,
    /// The share of packets that carry it.
    pub rate: f64,
    /// When sums are read and begin anew, ps; `None`: at the end.
    pub every_ps: Option<u64>,
    /// Whether tags are contexts of their own.
    pub by_tag: bool,
    /// What congested means.
    pub marking: Marking,
    /// Of the hop count.
    pub hop_bits: HopBits,
    /// Of draws and packets' ids.
    pub seed: u64,
    /// Whether received packets are kept one by one.
    pub packets: bool,
    /// Whether what links really carried is counted besides.
    pub truth: bool,
}

/// What a context is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Phase {
    /// All of a job.
    All,
    /// Messages of a tag.
    Tag(u32),
    /// Messages of collectives.
    Collective,
    /// Messages of tags beyond [`MOST_CONTEXTS`].
    Others,
}

impl Phase {
    /// As tables spell it.
    pub fn name(&self) -> String {
        match self {
            Self::All => "all".into(),
            Self::Tag(tag) => tag.to_string(),
            Self::Collective => "collective".into(),
            Self::Others => "others".into(),
        }
    }
}

/// Whose messages, and how much of them was received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextRow {
    /// The job's number.
    pub job: u32,
    /// Which of its messages.
    pub phase: Phase,
    /// Packets received.
    pub packets: u64,
    /// Those of them that were sampled.
    pub sampled: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// A sampled packet as it was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketRow {
    /// When, ps.
    pub time_ps: u64,
    /// Its context.
    pub context: u32,
    /// Its id.
    pub id: u32,
    /// Who sent it.
    pub source: HostId,
    /// Who received it.
    pub destination: HostId,
    /// Its hops, at most what the hop count holds.
    pub hops: u8,
    /// The bit, or the link.
    pub carries: u32,
    /// Whether that link was congested.
    pub congested: bool,
}

/// What was sampled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sampled {
    /// By number: jobs in order, in each its phases.
    pub contexts: Vec<ContextRow>,
    /// By window, context and link: links that sampled packets may have crossed.
    pub samples: Vec<Sample>,
    /// By window, context, source and destination: exact.
    pub received: Vec<Pair>,
    /// In order of arrival, if asked for.
    pub packets: Vec<PacketRow>,
    /// By window, context and link, if asked for: exact.
    pub truth: Vec<TrueLink>,
    /// Windows in which something was received: number, from when to when they went, ps.
    pub windows: Vec<(u32, u64, u64)>,
    /// Packets of one bit whose link is on no admissible way of their hosts: they are decoded wrongly, and only a simulator knows.
    pub astray: u64,
}

/// Samples a run.
pub struct Sampler {
    asked: Sampling,
    hosts: u32,
    /// `[link]`: the node that sends.
    from: Vec<u32>,
    /// `[packet]`: what it carries.
    flights: Vec<WholeTag>,
    /// `[packet]`: links, and whether they were congested, if the truth is asked for.
    ways: Vec<Vec<(LinkId, bool)>>,
    random: Stream,
    /// Of packets' ids.
    ids: Stream,
    /// Draws of 16 bits that are left.
    draws: u64,
    left: u32,
    /// Below this a draw of 32 bits samples a packet.
    threshold: u64,
    /// By job and phase, in order of appearance.
    numbers: BTreeMap<(u32, u64), u32>,
    /// The last context that was looked up.
    last: Option<((u32, u64), u32)>,
    contexts: Vec<ContextRow>,
    /// `[context]`: of the present window.
    sums: Vec<Sums>,
    /// Packets that are not in the sums yet.
    arrived: Vec<Arrived>,
    /// From when to when the present window goes.
    span_ps: (u64, u64),
    found: Sampled,
}

impl Sampler {
    /// Before anything was sent.
    ///
    /// # Panics
    /// If the rate is not above 0 and at most 1, or windows have no length.
    pub fn new(fabric: &Fabric, asked: Sampling) -> Self {
        assert!(asked.rate > 0.0 && asked.rate <= 1.0, "a share");
        assert!(asked.every_ps != Some(0), "windows of time");
        Self {
            hosts: fabric.host_count() as u32,
            from: fabric.links().map(|link| fabric.link(link).from.0).collect(),
            flights: Vec::new(),
            ways: Vec::new(),
            random: stream(asked.seed, 0),
            ids: stream(asked.seed, 1),
            draws: 0,
            left: 0,
            threshold: (asked.rate * 4_294_967_296.0).round() as u64,
            numbers: BTreeMap::new(),
            last: None,
            contexts: Vec::new(),
            sums: Vec::new(),
            arrived: Vec::with_capacity(TOGETHER),
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

    #[inline]
    fn draw(&mut self) -> u16 {
        if self.left == 0 {
            (self.draws, self.left) = (self.random.next_u64(), 4);
        }
        self.left -= 1;
        let draw = self.draws as u16;
        self.draws >>= 16;
        draw
    }

    #[inline]
    fn is_marked(&mut self, queue: Queue) -> bool {
        match self.asked.marking {
            Marking::Queue => queue.is_congested(),
            Marking::Ecn { bytes } => queue.bytes > bytes,
            Marking::Probabilistic => {
                let whole = u64::from(queue.bytes) + u64::from(queue.credits_bytes);
                queue.bytes > 0 && u64::from(self.draw()) * whole < u64::from(queue.bytes) << 16
            }
        }
    }

    /// The number of a message's context.
    #[inline]
    fn context(&mut self, Context { job, tag, .. }: Context) -> u32 {
        let key = match self.asked.by_tag {
            false => (job, 0),
            true if tag >= COLLECTIVE => (job, u64::from(COLLECTIVE)),
            true => (job, u64::from(tag)),
        };
        match self.last {
            Some((known, number)) if known == key => number,
            _ => self.look_up(key),
        }
    }

    fn look_up(&mut self, key: (u32, u64)) -> u32 {
        let full = self.numbers.len() >= MOST_CONTEXTS && !self.numbers.contains_key(&key);
        let kept = if full { (key.0, u64::MAX) } else { key };
        let next = self.contexts.len() as u32;
        let number = *self.numbers.entry(kept).or_insert(next);
        if number == next {
            let phase = match kept.1 {
                _ if !self.asked.by_tag => Phase::All,
                u64::MAX => Phase::Others,
                tag if tag == u64::from(COLLECTIVE) => Phase::Collective,
                tag => Phase::Tag(tag as u32),
            };
            self.contexts.push(ContextRow { job: kept.0, phase, packets: 0, sampled: 0, bytes: 0 });
            self.sums.push(Sums::new(&self.asked.method, self.from.len(), self.hosts, self.asked.truth));
        }
        self.last = Some((key, number));
        number
    }

    /// Adds what has arrived to the sums of its contexts.
    fn look_at_arrived(&mut self) {
        for packet in &mut self.arrived {
            let context = &mut self.contexts[packet.context as usize];
            context.packets += 1;
            context.bytes += u64::from(packet.bytes);
            let sums = &mut self.sums[packet.context as usize];
            sums.pairs.add(packet);
            if packet.tag.link != BARE {
                context.sampled += 1;
                packet.id = self.ids.next_u32();
                let (carries, on_way) = sums.add(packet);
                self.found.astray += u64::from(!on_way);
                if self.asked.packets {
                    self.found.packets.push(PacketRow {
                        time_ps: packet.time_ps,
                        context: packet.context,
                        id: packet.id,
                        source: packet.source,
                        destination: packet.destination,
                        hops: packet.tag.hops,
                        carries,
                        congested: packet.tag.congested,
                    });
                }
            }
        }
        self.arrived.clear();
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

    #[inline]
    fn joins(&mut self, packet: u32, link: LinkId, queue: impl FnOnce() -> Queue) {
        let at = packet as usize;
        if self.asked.truth {
            return self.joins_in_truth(at, link, queue());
        }
        if link.0 >= self.hosts {
            let mut tag = self.flights[at];
            if tag.link != BARE {
                let draw = self.draw();
                let bits = self.asked.hop_bits;
                tag.forward_if(link.0, || self.is_marked(queue()), draw, bits);
                self.flights[at] = tag;
            }
            return;
        }
        let tag = if self.is_sampled() {
            WholeTag::sent(link.0, self.is_marked(queue()))
        } else {
            WholeTag { link: BARE, ..WholeTag::default() }
        };
        self.begin(at, tag);
    }

    fn moves(&mut self, packet: u32, to: LinkId, queue: impl FnOnce() -> Queue) {
        let at = packet as usize;
        let held = self.flights[at].link;
        // Minimal ways see a switch once: what is held was drawn here.
        let here = held != BARE && self.from[held as usize] == self.from[to.index()];
        if here || self.asked.truth {
            let marked = self.is_marked(queue());
            if here {
                (self.flights[at].link, self.flights[at].congested) = (to.0, marked);
            }
            if let Some(last) = self.ways.get_mut(at).and_then(|way| way.last_mut()) {
                *last = (to, marked);
            }
        }
    }

    #[inline]
    fn arrives(&mut self, arrival: Arrival) {
        let Arrival { now_ps, packet, from, to, bytes, context } = arrival;
        if now_ps >= self.span_ps.1 {
            self.turn(now_ps);
        }
        let context = self.context(context);
        let tag = self.flights[packet as usize];
        self.arrived.push(Arrived {
            time_ps: now_ps,
            id: 0,
            source: from,
            destination: to,
            context,
            tag,
            bytes,
        });
        if self.asked.truth {
            self.sums[context as usize].know(&self.ways[packet as usize]);
        }
        if self.arrived.len() == TOGETHER {
            self.look_at_arrived();
        }
    }
}

impl Sampler {
    #[inline]
    fn is_sampled(&mut self) -> bool {
        let draw = |sampler: &mut Self| u64::from(sampler.draw()) << 16 | u64::from(sampler.draw());
        self.threshold > u64::from(u32::MAX) || draw(self) < self.threshold
    }

    /// A packet has left its host.
    #[inline]
    fn begin(&mut self, at: usize, tag: WholeTag) {
        if at >= self.flights.len() {
            self.flights.resize(at + 1, tag);
        }
        self.flights[at] = tag;
    }

    /// The same where all of the way is kept.
    #[cold]
    fn joins_in_truth(&mut self, at: usize, link: LinkId, queue: Queue) {
        let marked = self.is_marked(queue);
        if link.0 < self.hosts {
            let bare = !self.is_sampled();
            let tag = WholeTag::sent(if bare { BARE } else { link.0 }, marked);
            self.begin(at, tag);
            self.ways.resize(self.flights.len(), Vec::new());
            self.ways[at].clear();
        } else if self.flights[at].link != BARE {
            let (draw, bits) = (self.draw(), self.asked.hop_bits);
            self.flights[at].forward(link.0, marked, draw, bits);
        }
        self.ways[at].push((link, marked));
    }
}
