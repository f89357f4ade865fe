//! Packets that were sampled elsewhere to estimates: what real receivers have kept.
//!
//! Nothing of them is trusted: a host that there is not, a bit that is the hash of no link that the packet might have crossed, a link that
//! no packet of these hosts crosses, hops that no way of theirs has are counted and told, with the first packet that shows it.

use netloom_model::{Fabric, HostId};
use netloom_routing::PathSet;
use netloom_sampling::{HopBits, Received, Tag, WholeTag};

use super::sums::Sums;
use super::ways::Ways;
use super::{Method, Sampled};

/// A packet as a receiver has kept it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kept {
    /// When it came, ps.
    pub time_ps: u64,
    /// Its context.
    pub context: u32,
    /// Its id.
    pub id: u32,
    /// Who sent it.
    pub source: u32,
    /// Who received it.
    pub destination: u32,
    /// Its hops.
    pub hops: u8,
    /// The bit, or the link.
    pub carries: u32,
    /// Whether that link was congested.
    pub congested: bool,
}

/// Packets that can't be, and the first of them by its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Odd {
    /// How many.
    pub packets: u64,
    /// The first.
    pub first: usize,
}

impl Odd {
    fn note(&mut self, at: usize) {
        if self.packets == 0 {
            self.first = at;
        }
        self.packets += 1;
    }
}

/// What was made of packets from elsewhere.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Samples and received packets, by window and context; contexts are the packets' own numbers.
    pub sampled: Sampled,
    /// Of hosts that no way joins, or of one host, or of hosts that there are not: left out.
    pub no_way: Odd,
    /// With a bit that is the hash of none of their links, or a link that there is not: another hash or fabric. Left out.
    pub impossible: Odd,
    /// With a link that no packet of their hosts crosses in so many hops: left out.
    pub off_way: Odd,
    /// Of fewer than two hops, or of more than the hop count holds: left out.
    pub hops: Odd,
    /// Of fewer hops than any way of their hosts has: left out.
    pub short: Odd,
    /// Of more hops than a shortest way has: detours, or wrong counts. Of one bit left out, for it knows shortest up*/down* ways only.
    pub long: Odd,
    /// Of hosts that are further apart than the hop count tells: they count too little.
    pub full: Odd,
}

/// Estimates of what packets carry, of which a share `rate` was sampled, by context and by window of `every_ps`. A window ends with the last
/// packet of all, at the latest.
///
/// # Panics
/// If the rate is not above 0 and at most 1, or windows have no length.
pub fn decode(
    fabric: &Fabric,
    paths: &PathSet,
    method: &Method,
    hop_bits: HopBits,
    (rate, every_ps): (f64, Option<u64>),
    packets: &[Kept],
) -> Decoded {
    assert!(rate > 0.0 && rate <= 1.0, "a share");
    let every_ps = every_ps.unwrap_or(u64::MAX);
    let last_ps = packets.iter().map(|packet| packet.time_ps).max().unwrap_or(0);
    let mut found = Decoded::default();
    let mut ways = Ways::new(fabric, paths);
    let mut order: Vec<usize> = (0..packets.len()).collect();
    order.sort_by_key(|&at| (packets[at].time_ps / every_ps, packets[at].context, at));
    for group in order.chunk_by(|&a, &b| {
        let key = |at: usize| (packets[at].time_ps / every_ps, packets[at].context);
        key(a) == key(b)
    }) {
        let mut sums = Sums::new(method, fabric.link_count(), fabric.host_count() as u32, false);
        for &at in group {
            add(&mut ways, hop_bits, &mut sums, (&packets[at], at), &mut found);
        }
        let (window, context) = (packets[group[0]].time_ps / every_ps, packets[group[0]].context);
        let start_ps = window.saturating_mul(every_ps);
        let window = window.min(u64::from(u32::MAX)) as u32;
        if !sums.is_empty() && found.sampled.windows.last().is_none_or(|last| last.0 != window) {
            found.sampled.windows.push((window, start_ps, start_ps.saturating_add(every_ps).min(last_ps)));
        }
        sums.read((window, context), rate, &mut found.sampled);
    }
    found.sampled.received.sort_by_key(|row| (row.window, row.context, row.source, row.destination));
    found
}

/// Adds a packet, if it can be.
fn add(
    ways: &mut Ways<'_>,
    hop_bits: HopBits,
    sums: &mut Sums,
    (kept, at): (&Kept, usize),
    found: &mut Decoded,
) {
    let (source, destination) = (HostId(kept.source), HostId(kept.destination));
    let one_bit = sums.candidates().is_some();
    // One bit knows shortest up*/down* ways only, a whole link any.
    let shortest = if one_bit { ways.admissible(source, destination) } else { ways.any(source, destination) };
    let Some(shortest) = shortest else { return found.no_way.note(at) };
    let most = hop_bits.most();
    if kept.hops < 2 || kept.hops > most {
        return found.hops.note(at);
    }
    if kept.hops < shortest.min(most) {
        return found.short.note(at);
    }
    let (long, full) = (kept.hops > shortest, shortest > most);
    let &Kept { id, carries, congested, hops, .. } = kept;
    let tag = WholeTag { link: carries, congested, hops };
    match sums.candidates() {
        None if tag.link as usize >= ways.links() => return found.impossible.note(at),
        // A count that is full says nothing of how far it went.
        None if !ways.can_cross(source, destination, tag.link, (kept.hops < most).then_some(kept.hops)) => {
            return found.off_way.note(at);
        }
        None => _ = sums.add_whole(tag),
        Some(_) if long => return found.long.note(at),
        Some(candidates) => {
            let (mut any, mut alike) = (false, false);
            candidates.visit(source, destination, |link| {
                any = true;
                alike = alike || sums.bit(kept.id, link) == (kept.carries != 0);
            });
            match (any, alike && kept.carries < 2) {
                (false, _) => return found.no_way.note(at),
                (true, false) => return found.impossible.note(at),
                (true, true) => {
                    let tag = Tag { bit: carries != 0, congested, hops };
                    sums.add_bit(Received { id, source, destination, tag });
                }
            }
        }
    }
    sums.pairs.add(source, destination, 0);
    for (seen, odd) in [(long, &mut found.long), (full, &mut found.full)] {
        if seen {
            odd.note(at);
        }
    }
}
