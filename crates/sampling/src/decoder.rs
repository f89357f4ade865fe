//! One bit a packet to estimates of all links at once: a Walsh-Hadamard transform a group.
//!
//! A packet's *vector* says for every link number whether its hash is one: it is the parity of the number under the vector. What the packet
//! adds to a link of a group is therefore plus or minus its hops, by the parity of (vector, number): a sign for what the group's
//! numbers share, and a Walsh function of their last bits. So the hops go, with that sign, to the place in the group's table that the
//! vector's last bits say, and at the end one transform makes the sums of all its links ([`crate::direct`] has the same sums).
//! Traffic and congestion share a word.
//!
//! A host's own two links need no test: a packet that it sent or received has crossed them. Their traffic is counted, only their
//! congestion is estimated.
//!
//! A packet costs six additions, whatever its hosts: two groups going up and two going down (those that it lacks go to a cell that nobody
//! reads, for a branch would be foretold wrongly) and its hosts' links. Further groups, which only damage makes, have a loop. What is
//! touched for every packet fits the second level of a cache. Memory does not grow with packets. Sums of several receivers can
//! be added up before they are read.

use std::ops::{Add, Sub};
use std::sync::Arc;

use netloom_model::HostId;

use crate::candidates::Candidates;
use crate::estimate::Estimate;
use crate::field::Hash;
use crate::tag::{MOST_HOPS, Received};

/// Packets after which sums of few bits are put away.
const FULL: u32 = 1 << 15;
/// Of a host's word: packets below, then squares of hops of those that met congestion, and their signed hops above.
const SQUARES: u32 = 16;
const HOPS: u32 = 42;
const _: () = assert!(FULL < 1 << SQUARES && (FULL as u64) << (SQUARES + 10) < 1 << HOPS);
/// Groups a side that cost no branch.
const PLAIN: usize = 2;

/// A group as packets meet it.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The numbers' shared bits.
    base: u32,
    /// The bits that differ.
    last: u32,
    /// Where its table begins.
    start: u32,
}

/// The groups of a leaf and class on one side.
#[derive(Clone, Copy, Debug)]
struct Side {
    plain: [Place; PLAIN],
    /// Its part of `more`.
    more: [u32; 2],
}

/// Packets tested and their squares of hops: of those that met no congestion, and of those that did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Tested {
    packets: [u64; 2],
    squares: [u64; 2],
}

impl Tested {
    fn add(&mut self, other: &Self) {
        for k in 0..2 {
            self.packets[k] += other.packets[k];
            self.squares[k] += other.squares[k];
        }
    }
}

/// What is known of a host's own link: packets, and of those that met congestion signed hops and their squares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct OwnLink {
    packets: u64,
    congested: i64,
    squares: u64,
}

/// What was received so far.
#[derive(Clone, Debug)]
pub struct Decoder {
    candidates: Arc<Candidates>,
    hash: Arc<Hash>,
    /// `[side][leaf x classes + class]`
    sides: [Vec<Side>; 2],
    more: Vec<Place>,
    /// The first host's number; both links of all hosts have the next ones.
    first_host: u32,
    /// Both sums in a word, the congested one above; the last is not read.
    recent: Vec<i64>,
    /// `[host][side]`
    recent_hosts: Vec<[i64; 2]>,
    /// `[side][leaf x classes + class][congested]`: packets below, squares of hops above.
    recent_tested: [Vec<[u64; 2]>; 2],
    tested: [Vec<Tested>; 2],
    /// Since sums were put away.
    fresh: u32,
    /// `[place of the tables]`, `[host][side]`: what was put away.
    sums: Vec<[i64; 2]>,
    sums_hosts: Vec<[OwnLink; 2]>,
    received: u64,
    impossible: u64,
}

impl Decoder {
    /// With nothing received yet.
    ///
    /// # Panics
    /// If the hash is for fewer bits than link numbers have.
    pub fn new(candidates: Arc<Candidates>, hash: Arc<Hash>) -> Self {
        assert!(hash.bits() >= candidates.bits(), "a hash for these link numbers");
        let mut start = 0;
        let of_group = |group: &crate::candidates::Group| {
            let place = Place { base: group.base, last: group.room() as u32 - 1, start };
            start += group.room() as u32;
            place
        };
        let groups: Vec<Place> = candidates.groups.iter().map(of_group).collect();
        let nowhere = Place { base: 0, last: 0, start };
        let mut more = Vec::new();
        let mut side = |groups_of: &Vec<u32>| {
            let place = |k: usize| groups_of.get(k).map_or(nowhere, |&g| groups[g as usize]);
            let first = more.len() as u32;
            more.extend(groups_of.iter().skip(PLAIN).map(|&g| groups[g as usize]));
            Side { plain: std::array::from_fn(place), more: [first, more.len() as u32] }
        };
        let sides = [&candidates.up, &candidates.down].map(|lists| lists.iter().map(&mut side).collect());
        let first = candidates.of_host.first().and_then(|[up, _]| candidates.number(*up));
        let (table, hosts) = (start as usize, candidates.of_host.len());
        let kinds = candidates.leaves * candidates.classes;
        Self {
            hash,
            sides,
            more,
            first_host: first.unwrap_or_default(),
            recent: vec![0; table + 1],
            recent_hosts: vec![[0; 2]; hosts],
            recent_tested: [vec![[0; 2]; kinds], vec![[0; 2]; kinds]],
            tested: [vec![Tested::default(); kinds], vec![Tested::default(); kinds]],
            fresh: 0,
            sums: vec![[0; 2]; table],
            sums_hosts: vec![[OwnLink::default(); 2]; hosts],
            received: 0,
            impossible: 0,
            candidates,
        }
    }

    /// Adds a packet; of more hops than a hop count holds as of the most.
    #[inline]
    pub fn add(&mut self, packet: &Received) {
        self.received += 1;
        let Some((from, to, class)) = self.candidates.class(packet.source, packet.destination) else {
            self.impossible += 1;
            return;
        };
        if self.fresh == FULL {
            self.put_away();
        }
        self.fresh += 1;
        let vector = self.hash.vector(packet.id);
        let (tag, hops) = (packet.tag, i64::from(packet.tag.hops.min(MOST_HOPS)));
        let congested = usize::from(tag.congested);
        let met = hops & -(congested as i64);
        let (word, bit) = (hops + (met << 32), u32::from(tag.bit));
        let classes = self.candidates.classes;
        let kinds = [from * classes + class, to * classes + class];
        // Minus where the hashes differ: as a mask, for no processor foretells this branch.
        let minus = |number: u32| -i64::from((vector & number).count_ones() & 1 ^ bit);
        for (side, kind) in kinds.into_iter().enumerate() {
            let of = &self.sides[side][kind];
            let more = &self.more[of.more[0] as usize..of.more[1] as usize];
            for place in of.plain.iter().chain(more) {
                let minus = minus(place.base);
                self.recent[(place.start + (vector & place.last)) as usize] += (word ^ minus) - minus;
            }
            self.recent_tested[side][kind][congested] += ((hops * hops) as u64) << 32 | 1;
        }
        let squares = (met * met) << SQUARES | 1;
        for (side, host) in [packet.source, packet.destination].into_iter().enumerate() {
            let minus = minus(self.first_host + 2 * host.0 + side as u32);
            self.recent_hosts[host.index()][side] += squares + (((met ^ minus) - minus) << HOPS);
        }
    }

    /// Packets received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Those of hosts that no way joins: they are left out.
    pub fn impossible(&self) -> u64 {
        self.impossible
    }

    /// Bytes that packets touch.
    pub fn working_set(&self) -> usize {
        let tested: usize = self.recent_tested.iter().map(|side| size_of_val(&side[..])).sum();
        let sides: usize = self.sides.iter().map(|side| size_of_val(&side[..])).sum();
        let tables = size_of_val(&self.recent[..]) + size_of_val(&self.recent_hosts[..]);
        let numbers = size_of_val(&self.candidates.leaf[..]);
        let more = size_of_val(&self.more[..]);
        tables + Hash::VECTORS + numbers + tested + sides + more + self.candidates.class.len()
    }

    /// Adds what another one received.
    ///
    /// # Panics
    /// If it is for other links or has another hash.
    pub fn merge(&mut self, other: &Self) {
        let same = Arc::ptr_eq(&self.candidates, &other.candidates) && self.hash == other.hash;
        assert!(same, "decoders of the same links and hash");
        self.put_away();
        let mut other = other.clone();
        other.put_away();
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            (0..2).for_each(|k| sum[k] += more[k]);
        }
        for (sums, more) in self.sums_hosts.iter_mut().flatten().zip(other.sums_hosts.iter().flatten()) {
            sums.packets += more.packets;
            sums.congested += more.congested;
            sums.squares += more.squares;
        }
        for (tested, more) in self.tested.iter_mut().flatten().zip(other.tested.iter().flatten()) {
            tested.add(more);
        }
        self.received += other.received;
        self.impossible += other.impossible;
    }

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        self.recent.fill(0);
        self.recent_hosts.fill([0; 2]);
        self.recent_tested.iter_mut().for_each(|side| side.fill([0; 2]));
        self.tested.iter_mut().for_each(|side| side.fill(Tested::default()));
        self.sums.fill([0; 2]);
        self.sums_hosts.fill([OwnLink::default(); 2]);
        (self.fresh, self.received, self.impossible) = (0, 0, 0);
    }

    /// `[link]`: what is known now; packets can be added afterwards.
    pub fn estimates(&mut self) -> Vec<Estimate> {
        let mut found = Vec::new();
        self.estimates_into(&mut found);
        found
    }

    /// The same into memory that is there.
    pub fn estimates_into(&mut self, found: &mut Vec<Estimate>) {
        self.put_away();
        let candidates = &*self.candidates;
        found.clear();
        found.resize(candidates.links(), Estimate::default());
        let mut tested = vec![Tested::default(); candidates.groups.len()];
        for (side, groups) in [&candidates.up, &candidates.down].into_iter().enumerate() {
            for (of, groups) in self.tested[side].iter().zip(groups) {
                groups.iter().for_each(|&group| tested[group as usize].add(of));
            }
        }
        // Sums of all of a table fit 32 bits for long.
        let short = self.received < 1 << 26;
        let (mut words, mut wide, mut start) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()], 0);
        for (group, tested) in candidates.groups.iter().zip(&tested) {
            let table = &self.sums[start..start + group.room()];
            start += group.room();
            if short {
                let sums = transformed(table, &mut words, |sum| sum as i32);
                for (link, (&traffic, &congested)) in group.links.iter().zip(sums) {
                    found[link.index()] = estimate([traffic.into(), congested.into()], tested);
                }
            } else {
                let sums = transformed(table, &mut wide, |sum| sum);
                for (link, (&traffic, &congested)) in group.links.iter().zip(sums) {
                    found[link.index()] = estimate([traffic, congested], tested);
                }
            }
        }
        for (links, sums) in candidates.of_host.iter().zip(&self.sums_hosts) {
            for (link, own) in links.iter().zip(sums) {
                found[link.index()] = Estimate {
                    traffic: own.packets as f64,
                    congested: own.congested as f64,
                    traffic_error: 0.0,
                    congested_error: error(own.squares, own.congested),
                    tested: own.packets,
                };
            }
        }
    }

    /// What hosts sent and received, exactly.
    pub fn of_host(&mut self, host: HostId) -> [u64; 2] {
        self.put_away();
        self.sums_hosts[host.index()].map(|own| own.packets)
    }

    fn put_away(&mut self) {
        for (sum, word) in self.sums.iter_mut().zip(&mut self.recent) {
            let word = std::mem::take(word);
            let below = i64::from(word as i32);
            sum[0] += below;
            sum[1] += (word - below) >> 32;
        }
        for (sums, words) in self.sums_hosts.iter_mut().zip(&mut self.recent_hosts) {
            for (own, word) in sums.iter_mut().zip(words) {
                let word = std::mem::take(word);
                own.packets += (word & ((1 << SQUARES) - 1)) as u64;
                own.squares += (word >> SQUARES & ((1 << (HOPS - SQUARES)) - 1)) as u64;
                own.congested += word >> HOPS;
            }
        }
        for (tested, recent) in self.tested.iter_mut().flatten().zip(self.recent_tested.iter_mut().flatten())
        {
            let recent = std::mem::take(recent);
            tested.add(&Tested {
                packets: recent.map(|word| word & u64::from(u32::MAX)),
                squares: recent.map(|word| word >> 32),
            });
        }
        self.fresh = 0;
    }
}

/// The standard error of a sum.
fn error(squares: u64, sum: i64) -> f64 {
    ((squares as i64 - sum.max(0)).max(0) as f64).sqrt()
}

fn estimate([traffic, congested]: [i64; 2], tested: &Tested) -> Estimate {
    Estimate {
        traffic: traffic as f64,
        congested: congested as f64,
        traffic_error: error(tested.squares[0] + tested.squares[1], traffic),
        congested_error: error(tested.squares[1], congested),
        tested: tested.packets[0] + tested.packets[1],
    }
}

/// The Walsh-Hadamard transforms of both sums, in numbers of another kind; as many as a power of two.
fn transformed<'a, T: Copy + Add<Output = T> + Sub<Output = T>>(
    table: &[[i64; 2]],
    words: &'a mut [Vec<T>; 2],
    number: impl Fn(i64) -> T,
) -> impl Iterator<Item = (&'a T, &'a T)> {
    for (k, words) in words.iter_mut().enumerate() {
        words.clear();
        words.extend(table.iter().map(|sums| number(sums[k])));
        transform(words);
    }
    let [traffic, congested] = words;
    traffic.iter().zip(congested.iter())
}

fn transform<T: Copy + Add<Output = T> + Sub<Output = T>>(table: &mut [T]) {
    let mut half = 1;
    while half < table.len() {
        for block in table.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                (*a, *b) = (*a + *b, *a - *b);
            }
        }
        half *= 2;
    }
}
