//! What receivers know of a context in a window: estimates of links, pairs of hosts, and the truth if it is asked for.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use netloom_model::{HostId, LinkId};
use netloom_sampling::field::parity;
use netloom_sampling::{Candidates, Decoder, Direct, PackedTag, Received, Reservoirs, Tag, WholeTag};

use super::{Method, Sampled};

/// A link as samples show it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The window.
    pub window: u32,
    /// The context.
    pub context: u32,
    /// The link.
    pub link: LinkId,
    /// Packets that crossed it, and how sure that is.
    pub traffic: f64,
    /// Its standard error.
    pub traffic_error: f64,
    /// Those that it was congested for.
    pub congested: f64,
    /// Its standard error.
    pub congested_error: f64,
    /// Sampled packets that say something of it.
    pub tested: u64,
}

/// What a host has received of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The window.
    pub window: u32,
    /// The context.
    pub context: u32,
    /// Who sent.
    pub source: HostId,
    /// Who received.
    pub destination: HostId,
    /// Packets.
    pub packets: u64,
    /// Bytes on the wire.
    pub bytes: u64,
}

/// What packets that were received really did at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TrueLink {
    /// The window.
    pub window: u32,
    /// The context.
    pub context: u32,
    /// The link.
    pub link: LinkId,
    /// Packets that crossed it.
    pub traffic: u64,
    /// Those that it was congested for.
    pub congested: u64,
}

/// A packet as it comes to its host.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    pub tag: PackedTag,
    pub source: HostId,
    pub destination: HostId,
    pub context: u32,
    pub bytes: u16,
}

/// Sums of links.
enum Estimator {
    Whole(Reservoirs),
    OneBit {
        decoder: Box<Decoder>,
        candidates: Arc<Candidates>,
        /// `[link]`: of the hash.
        masks: Arc<Vec<u32>>,
    },
    Hashed(Box<Direct>),
}

/// A context's.
pub(super) struct Sums {
    estimator: Estimator,
    pub pairs: Pairs,
    /// `[link]`: packets, and those that it was congested for; empty unless asked for.
    truth: Vec<[u64; 2]>,
}

impl Sums {
    pub fn new(method: &Method, links: usize, hosts: u32, truth: bool) -> Self {
        let estimator = match method {
            Method::Whole => Estimator::Whole(Reservoirs::new(links)),
            Method::OneBit { candidates, hash, masks } => Estimator::OneBit {
                decoder: Box::new(Decoder::new(Arc::clone(candidates), Arc::clone(hash))),
                candidates: Arc::clone(candidates),
                masks: Arc::clone(masks),
            },
            Method::Hashed { candidates, function } => {
                Estimator::Hashed(Box::new(Direct::new(Arc::clone(candidates), *function)))
            }
        };
        Self { estimator, pairs: Pairs::new(hosts), truth: vec![[0; 2]; if truth { links } else { 0 }] }
    }

    pub fn is_empty(&self) -> bool {
        self.pairs.rows.is_empty()
    }

    /// Adds a sampled packet: what it carries, and whether its link is on a way of its hosts.
    #[inline]
    pub fn add(&mut self, packet: &Arrived, id: u32, tag: WholeTag) -> (u32, bool) {
        let &Arrived { source, destination, .. } = packet;
        match &mut self.estimator {
            Estimator::Whole(reservoirs) => (tag.link, reservoirs.add(tag)),
            Estimator::OneBit { decoder, candidates, masks } => {
                let on_way = candidates.might(source, destination, LinkId(tag.link));
                let tag = Tag::of(tag, id, masks[tag.link as usize]);
                decoder.add(&Received { id, source, destination, tag });
                (tag.bit.into(), on_way)
            }
            Estimator::Hashed(direct) => {
                let link = LinkId(tag.link);
                let tag = Tag { bit: direct.bit(id, link), congested: tag.congested, hops: tag.hops };
                direct.add(&Received { id, source, destination, tag });
                (tag.bit.into(), direct.candidates().might(source, destination, link))
            }
        }
    }

    /// Of one bit: what might have been crossed.
    pub fn candidates(&self) -> Option<&Candidates> {
        match &self.estimator {
            Estimator::Whole(_) => None,
            Estimator::OneBit { candidates, .. } => Some(candidates),
            Estimator::Hashed(direct) => Some(direct.candidates()),
        }
    }

    /// Of one bit: the hash of a packet and a link.
    pub fn bit(&self, id: u32, link: LinkId) -> bool {
        match &self.estimator {
            Estimator::Whole(_) => false,
            Estimator::OneBit { masks, .. } => parity(id & masks[link.index()]),
            Estimator::Hashed(direct) => direct.bit(id, link),
        }
    }

    /// Adds a packet that carries a bit.
    pub fn add_bit(&mut self, received: Received) {
        match &mut self.estimator {
            Estimator::Whole(_) => {}
            Estimator::OneBit { decoder, .. } => decoder.add(&received),
            Estimator::Hashed(direct) => _ = direct.add(&received),
        }
    }

    /// A packet was received that went this way.
    pub fn know(&mut self, way: &[(LinkId, bool)]) {
        for &(link, congested) in way {
            let [all, marked] = &mut self.truth[link.index()];
            *all += 1;
            *marked += u64::from(congested);
        }
    }

    /// Tells what is known, and forgets it.
    pub fn read(&mut self, (window, context): (u32, u32), rate: f64, found: &mut Sampled) {
        if self.is_empty() {
            return;
        }
        let estimates = match &mut self.estimator {
            Estimator::Whole(reservoirs) => reservoirs.estimates(),
            Estimator::OneBit { decoder, .. } => decoder.estimates(),
            Estimator::Hashed(direct) => direct.estimates_and_counts(),
        };
        let told = estimates.iter().enumerate().filter(|(_, estimate)| estimate.tested > 0);
        found.samples.extend(told.map(|(link, estimate)| {
            let scaled = estimate.of_all(rate);
            Sample {
                window,
                context,
                link: LinkId::from_index(link),
                traffic: scaled.traffic,
                traffic_error: scaled.traffic_error,
                congested: scaled.congested,
                congested_error: scaled.congested_error,
                tested: scaled.tested,
            }
        }));
        let known = self.truth.iter_mut().enumerate().filter(|(_, [all, _])| *all > 0);
        found.truth.extend(known.map(|(link, sums)| {
            let [traffic, congested] = std::mem::take(sums);
            TrueLink { window, context, link: LinkId::from_index(link), traffic, congested }
        }));
        found.received.extend(self.pairs.take(window, context));
        match &mut self.estimator {
            Estimator::Whole(reservoirs) => reservoirs.reset(),
            Estimator::OneBit { decoder, .. } => decoder.reset(),
            Estimator::Hashed(direct) => direct.reset(),
        }
    }
}

/// Packets and bytes by pair of hosts.
pub(super) struct Pairs {
    rows: Vec<(u32, u32, u64, u64)>,
    of_pair: HashMap<u64, u32, BuildHasherDefault<Mixed>>,
    /// `[source]`: the row of its last packet.
    last: Vec<u32>,
}

impl Pairs {
    fn new(hosts: u32) -> Self {
        Self { rows: Vec::new(), of_pair: HashMap::default(), last: vec![u32::MAX; hosts as usize] }
    }

    #[inline]
    pub fn add(&mut self, packet: &Arrived) {
        let (from, to) = (packet.source, packet.destination);
        let known = self.rows.get_mut(self.last[from.index()] as usize).filter(|row| row.1 == to.0);
        let row = match known {
            Some(row) => row,
            None => {
                let next = self.rows.len() as u32;
                let pair = u64::from(from.0) << 32 | u64::from(to.0);
                let at = *self.of_pair.entry(pair).or_insert(next);
                if at == next {
                    self.rows.push((from.0, to.0, 0, 0));
                }
                self.last[from.index()] = at;
                &mut self.rows[at as usize]
            }
        };
        row.2 += 1;
        row.3 += u64::from(packet.bytes);
    }

    fn take(&mut self, window: u32, context: u32) -> impl Iterator<Item = Pair> {
        self.of_pair.clear();
        self.last.fill(u32::MAX);
        std::mem::take(&mut self.rows).into_iter().map(move |(source, destination, packets, bytes)| Pair {
            window,
            context,
            source: HostId(source),
            destination: HostId(destination),
            packets,
            bytes,
        })
    }
}

/// Mixes a word; nobody chooses pairs of hosts to be slow, and maps are never read in their order.
#[derive(Default)]
pub(super) struct Mixed(u64);

impl Hasher for Mixed {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u64(&mut self, word: u64) {
        let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ mixed >> 32;
    }
}
