//! What packets are looked up in, and how their words get to the cells.
//!
//! Several packets' lists are found before any cell is changed, so that the processor waits for many of them at once. Numbers
//! of links have 16 bits on most fabrics; that makes tables half as large and parities half the work.

use crate::candidates::{Candidates, Group, NO_LIST};
use crate::field::{Hash, Vectors};
use crate::tag::{MOST_HOPS, Received};
use crate::words::WORDS;

/// Packets that are looked up at once.
pub const BLOCK: usize = 32;
/// Groups a list that cost no branch.
const PLAIN: usize = 2;

/// Bits that numbers of links have.
pub trait Number: Copy {
    /// The bit that all numbers have, moved to the highest.
    const LEADING: u32;

    fn of(number: u32) -> Self;
    fn get(self) -> u32;
    /// Whether so many bits have an odd count of ones.
    fn odd(bits: u32) -> bool;
}

macro_rules! numbers {
    ($($kind:ty),*) => {$(
        impl Number for $kind {
            const LEADING: u32 = 1 << (Self::BITS - 1);

            #[inline(always)]
            fn of(number: u32) -> Self {
                number as Self
            }

            #[inline(always)]
            fn get(self) -> u32 {
                self.into()
            }

            #[inline(always)]
            fn odd(bits: u32) -> bool {
                (bits as Self).count_ones() & 1 != 0
            }
        }
    )*};
}

numbers!(u16, u32);

/// A group as packets meet it.
#[derive(Clone, Copy, Debug)]
struct Place<N> {
    /// The bits that its numbers share.
    number: u32,
    /// The same without the leading one: where its cells begin.
    start: N,
    /// The bits that differ.
    last: N,
}

/// The groups of a leaf and class on one side, and what was tested of them.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct List<N> {
    plain: [Place<N>; PLAIN],
    /// Of packets that met no congestion, and of those that did.
    tested: [u64; 2],
}

/// All lists.
#[derive(Clone, Debug)]
pub struct Lists<N> {
    vectors: Box<Vectors<N>>,
    first_host: u32,
    /// Going up and going down, as candidates have them.
    of: [Vec<List<N>>; 2],
    /// Places beyond the plain ones; empty where no damage has made any.
    further: Vec<Place<N>>,
    /// The same order as `of`: parts of `further`.
    more: [Vec<[u32; 2]>; 2],
}

/// A packet's lists, the first beyond all if it is impossible, and its vector.
#[derive(Clone, Copy, Default)]
struct Found {
    up: u32,
    down: u32,
    vector: u32,
}

impl<N: Number> Lists<N> {
    pub fn new(candidates: &Candidates, hash: &Hash) -> Self {
        let leading = candidates.leading();
        let place = |start: u32, last: u32| Place {
            number: start | N::LEADING,
            start: N::of(start),
            last: N::of(last),
        };
        let of_group = |group: &Group| place(group.base ^ leading, group.room() as u32 - 1);
        let groups: Vec<Place<N>> = candidates.groups.iter().map(of_group).collect();
        let nowhere = place(candidates.cells() as u32, 0);
        let (mut further, mut more) = (Vec::new(), [Vec::new(), Vec::new()]);
        let of = [(0, &candidates.up), (1, &candidates.down)].map(|(side, lists)| {
            let list = |groups_of: &Vec<u32>| {
                let place = |k: usize| groups_of.get(k).map_or(nowhere, |&g| groups[g as usize]);
                let first = further.len() as u32;
                further.extend(groups_of.iter().skip(PLAIN).map(|&g| groups[g as usize]));
                more[side].push([first, further.len() as u32]);
                List { plain: std::array::from_fn(place), tested: [0; 2] }
            };
            lists.iter().map(list).collect()
        });
        let moved = |vector: u32| {
            let first = if vector & leading != 0 { N::LEADING } else { 0 };
            N::of(vector & (leading - 1) | first)
        };
        let vectors = Box::new(hash.vectors().map(|of_byte| of_byte.map(moved)));
        Self { vectors, first_host: candidates.first_host() as u32, of, further, more }
    }

    /// Bytes that packets touch.
    pub fn size(&self) -> usize {
        let of: usize = self.of.iter().map(|of| size_of_val(&of[..])).sum();
        let more: usize = self.more.iter().map(|more| size_of_val(&more[..])).sum();
        let further = if self.further.is_empty() { 0 } else { more + size_of_val(&self.further[..]) };
        size_of_val(&*self.vectors) + of + further + size_of::<[Found; BLOCK]>() + size_of_val(&WORDS)
    }

    /// Words of packets tested: that met no congestion, and that did.
    pub fn tested(&self, side: usize, list: usize) -> [u64; 2] {
        self.of[side][list].tested
    }

    /// The same words.
    pub fn tested_mut(&mut self, side: usize, list: usize) -> &mut [u64; 2] {
        &mut self.of[side][list].tested
    }

    /// Adds packets to cells; tells how many of them are impossible.
    pub fn add(&mut self, packets: &[Received], candidates: &Candidates, cells: &mut [i64]) -> u64 {
        let mut found = [Found::default(); BLOCK];
        let mut impossible = 0;
        for packets in packets.chunks(BLOCK) {
            find(packets, candidates, &self.vectors, &mut found);
            impossible += match self.further.is_empty() {
                true => add_found::<N, false>(packets, &found, self, cells),
                false => add_found::<N, true>(packets, &found, self, cells),
            };
        }
        impossible
    }
}

// Two functions, for in one the compiler has too few registers.
#[inline(never)]
fn find<N: Number>(
    packets: &[Received],
    candidates: &Candidates,
    vectors: &Vectors<N>,
    found: &mut [Found; BLOCK],
) {
    for (packet, found) in packets.iter().zip(found) {
        let Some((up, down)) = candidates.lists(packet.source, packet.destination) else {
            found.up = NO_LIST;
            continue;
        };
        let [a, b, c, d] = packet.id.to_le_bytes().map(usize::from);
        let vector = vectors[0][a].get() ^ vectors[1][b].get() ^ vectors[2][c].get() ^ vectors[3][d].get();
        // All numbers have the leading bit: with the packet's bit in it, parities say whether hashes differ.
        *found = Found { up, down, vector: vector ^ (u32::from(packet.tag.bit) * N::LEADING) };
    }
}

#[inline(never)]
fn add_found<N: Number, const FURTHER: bool>(
    packets: &[Received],
    found: &[Found; BLOCK],
    lists: &mut Lists<N>,
    cells: &mut [i64],
) -> u64 {
    let Lists { first_host, of: [up, down], further, more, .. } = lists;
    let mut impossible = 0;
    for (packet, &Found { up: at_up, down: at_down, vector }) in packets.iter().zip(found) {
        let (Some(up), Some(down)) = (up.get_mut(at_up as usize), down.get_mut(at_down as usize)) else {
            impossible += 1;
            continue;
        };
        let congested = usize::from(packet.tag.congested);
        let words = &WORDS[usize::from(packet.tag.hops).min(MOST_HOPS.into())][congested];
        // Chosen without a branch, for no processor predicts it.
        let mut put = |place: &Place<N>| {
            let word = if N::odd(vector & place.number) { -words.cell } else { words.cell };
            cells[(place.start.get() | vector & place.last.get()) as usize] += word;
        };
        up.tested[congested] += words.tested;
        up.plain.iter().for_each(&mut put);
        down.tested[congested] += words.tested;
        down.plain.iter().for_each(&mut put);
        if FURTHER {
            for (more, at) in more.iter().zip([at_up, at_down]) {
                let [first, end] = more[at as usize];
                further[first as usize..end as usize].iter().for_each(&mut put);
            }
        }
        for (side, host) in [packet.source, packet.destination].into_iter().enumerate() {
            let own = *first_host + 2 * host.0 + side as u32;
            let differ = N::odd(vector & (own | N::LEADING));
            cells[own as usize] += words.own[usize::from(differ)];
        }
    }
    impossible
}
