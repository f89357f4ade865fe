//! Packets that were sampled elsewhere to estimates: what real receivers have kept.
//!
//! Nothing of them is trusted: a host that there is not, a bit that is the hash of no link that the packet might have crossed, a
//! link that there is not are counted and told, with the first packet that shows it.

use netloom_model::{Fabric, HostId};
use netloom_sampling::{HopBits, WholeTag};

use super::sums::{Arrived, Sums};
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
    /// Of fewer than two hops, or of more than the hop count holds: left out.
    pub hops: Odd,
}

/// Estimates of what packets carry, of which a share `rate` was sampled, by context and by window of `every_ps`.
///
/// # Panics
/// If the rate is not above 0 and at most 1, or windows have no length.
pub fn decode(
    fabric: &Fabric,
    method: &Method,
    hop_bits: HopBits,
    (rate, every_ps): (f64, Option<u64>),
    packets: &[Kept],
) -> Decoded {
    assert!(rate > 0.0 && rate <= 1.0, "a share");
    let every_ps = every_ps.unwrap_or(u64::MAX);
    let mut found = Decoded::default();
    let mut order: Vec<usize> = (0..packets.len()).collect();
    order.sort_by_key(|&at| (packets[at].time_ps / every_ps, packets[at].context, at));
    let hosts = fabric.host_count() as u32;
    for group in order.chunk_by(|&a, &b| {
        let key = |at: usize| (packets[at].time_ps / every_ps, packets[at].context);
        key(a) == key(b)
    }) {
        let mut sums = Sums::new(method, fabric.link_count(), hosts, false);
        for &at in group {
            let kept = packets[at];
            if kept.source >= hosts || kept.destination >= hosts || kept.source == kept.destination {
                found.no_way.note(at);
            } else if kept.hops < 2 || kept.hops > hop_bits.most() {
                found.hops.note(at);
            } else {
                add(fabric, &mut sums, &kept, at, &mut found);
            }
        }
        let (window, context) = (packets[group[0]].time_ps / every_ps, packets[group[0]].context);
        let window = window.min(u64::from(u32::MAX)) as u32;
        if !sums.is_empty() && found.sampled.windows.last().is_none_or(|last| last.0 != window) {
            let start_ps = u64::from(window).saturating_mul(every_ps);
            found.sampled.windows.push((window, start_ps, start_ps.saturating_add(every_ps)));
        }
        sums.read((window, context), rate, &mut found.sampled);
    }
    found.sampled.received.sort_by_key(|row| (row.window, row.context, row.source, row.destination));
    found
}

/// Adds a packet of two hosts, if what it carries can be.
fn add(fabric: &Fabric, sums: &mut Sums, kept: &Kept, at: usize, found: &mut Decoded) {
    let (source, destination) = (HostId(kept.source), HostId(kept.destination));
    let tag = WholeTag { link: kept.carries, congested: kept.congested, hops: kept.hops };
    let packet =
        Arrived { time_ps: kept.time_ps, id: kept.id, source, destination, context: 0, tag, bytes: 0 };
    match sums.candidates() {
        None if tag.link as usize >= fabric.link_count() => found.impossible.note(at),
        None => {
            sums.add(&packet);
            sums.pairs.add(&packet);
        }
        Some(candidates) => {
            let (mut any, mut alike) = (false, false);
            candidates.visit(source, destination, |link| {
                any = true;
                alike = alike || sums.bit(kept.id, link) == (kept.carries != 0);
            });
            match (any, alike && kept.carries < 2) {
                (false, _) => found.no_way.note(at),
                (true, false) => found.impossible.note(at),
                (true, true) => {
                    sums.add_bit(&packet, kept.carries != 0);
                    sums.pairs.add(&packet);
                }
            }
        }
    }
}
