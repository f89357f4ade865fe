//! What receivers know of a context in a window: estimates of links, pairs of hosts, and the truth if it is asked for.

use std::hint::black_box;
use std::sync::Arc;

use netloom_model::rng::Stream;
use netloom_model::{HostId, LinkId};
use netloom_sampling::field::parity;
use netloom_sampling::{Candidates, Decoder, Direct, PackedTag, Received, Reservoirs, Tag, WholeTag};
use rand_core::Rng;

use super::pairs::Pairs;
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

/// Packets whose memory is read ahead at a time.
const SOME: usize = 64;

/// Who is told of sampled packets: their place among those that were received together, id, and bit or link.
pub(super) type Keep<'k> = &'k mut dyn FnMut(usize, u32, u32);

/// Of packets that were received together.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub bytes: u64,
    pub sampled: u64,
    /// Sampled ones whose link is on no way of their hosts.
    pub astray: u64,
}

/// Counts packets; `add` says of a sampled one what it carries, and whether its link is on a way of its hosts. Before that `foresee` reads
/// what is kept of the links of some packets at a time, so that the processor waits for many lines of memory at once.
#[inline(always)]
fn each<E>(
    (packets, pairs, estimator): (&[Arrived], &mut Pairs, &mut E),
    mut id: impl FnMut() -> u32,
    mut keep: Option<Keep<'_>>,
    foresee: impl Fn(&E, u32) -> u64,
    add: impl Fn(&mut E, &Arrived, u32, WholeTag) -> (u32, bool),
) -> Counted {
    let mut counted = Counted::default();
    for (first, some) in (0..).step_by(SOME).zip(packets.chunks(SOME)) {
        let link = |packet: &Arrived| if packet.tag.is_bare() { 0 } else { packet.tag.tag().link };
        black_box(some.iter().fold(0, |seen, packet| seen ^ foresee(estimator, link(packet))));
        for (at, packet) in (first..).zip(some) {
            counted.bytes += u64::from(packet.bytes);
            pairs.add(packet.source, packet.destination, packet.bytes);
            if packet.tag.is_bare() {
                continue;
            }
            let id = id();
            let (carries, on_way) = add(estimator, packet, id, packet.tag.tag());
            counted.sampled += 1;
            counted.astray += u64::from(!on_way);
            if let Some(keep) = &mut keep {
                keep(at, id, carries);
            }
        }
    }
    counted
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
        self.pairs.is_empty()
    }

    /// Adds packets as they were received, with new ids for those that are sampled; calls `keep` with the place, id, and bit or link of
    /// each of these, if it is there.
    pub fn receive(&mut self, packets: &[Arrived], ids: &mut Stream, keep: Option<Keep<'_>>) -> Counted {
        let pairs = &mut self.pairs;
        match &mut self.estimator {
            Estimator::Whole(reservoirs) => {
                let foresee = |reservoirs: &Reservoirs, link| reservoirs.foresee(link);
                let add = |reservoirs: &mut Reservoirs, _: &Arrived, _, tag: WholeTag| {
                    (tag.link, reservoirs.add(tag))
                };
                if keep.is_some() {
                    each((packets, pairs, reservoirs), || ids.next_u32(), keep, foresee, add)
                } else {
                    each((packets, pairs, reservoirs), || 0, None, foresee, add) // nobody sees the ids
                }
            }
            Estimator::OneBit { decoder, candidates, masks } => each(
                (packets, pairs, &mut **decoder),
                || ids.next_u32(),
                keep,
                |_, link| u64::from(masks[link as usize]) ^ candidates.foresee(LinkId(link)),
                |decoder, &Arrived { source, destination, .. }, id, tag| {
                    let on_way = candidates.might(source, destination, LinkId(tag.link));
                    let tag = Tag::of(tag, id, masks[tag.link as usize]);
                    decoder.add(&Received { id, source, destination, tag });
                    (tag.bit.into(), on_way)
                },
            ),
            Estimator::Hashed(direct) => each(
                (packets, pairs, &mut **direct),
                || ids.next_u32(),
                keep,
                |_, _| 0,
                |direct, &Arrived { source, destination, .. }, id, tag| {
                    let link = LinkId(tag.link);
                    let tag = Tag { bit: direct.bit(id, link), congested: tag.congested, hops: tag.hops };
                    direct.add(&Received { id, source, destination, tag });
                    (tag.bit.into(), direct.candidates().might(source, destination, link))
                },
            ),
        }
    }

    /// Adds a packet that carries a link; `false` if there is none of its number.
    pub fn add_whole(&mut self, tag: WholeTag) -> bool {
        match &mut self.estimator {
            Estimator::Whole(reservoirs) => reservoirs.add(tag),
            Estimator::OneBit { .. } | Estimator::Hashed(_) => false,
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
