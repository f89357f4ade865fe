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
//! A packet costs as many additions as it has groups; what is touched for every packet fits the first two levels of a cache.
//! Memory does not grow with packets. Sums of several receivers can be added up before they are read.

use std::sync::Arc;

use netloom_model::HostId;

use crate::candidates::Candidates;
use crate::estimate::Estimate;
use crate::field::{Hash, parity};
use crate::tag::Received;

/// Packets after which sums of 32 bits are put away: squares of hops are at most 2^10.
const FULL: u32 = 1 << 21;

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

/// The same of a short time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Recent {
    packets: [u32; 2],
    squares: [u32; 2],
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

/// What was received so far.
#[derive(Clone, Debug)]
pub struct Decoder {
    candidates: Arc<Candidates>,
    hash: Arc<Hash>,
    /// `[side][leaf x classes + class]`: its part of `places`.
    lists: [Vec<[u32; 2]>; 2],
    places: Vec<Place>,
    /// The first host's number; both links of all hosts have the next ones.
    first_host: u32,
    /// Both sums in a word, the congested one above.
    recent: Vec<i64>,
    /// `[host][side]`: packets below, congested ones' signed hops above.
    recent_hosts: Vec<[i64; 2]>,
    /// `[side][leaf x classes + class]`
    recent_tested: [Vec<Recent>; 2],
    tested: [Vec<Tested>; 2],
    /// Since sums were put away.
    fresh: u32,
    /// `[place of the tables]`, `[host][side]`: what was put away.
    sums: Vec<[i64; 2]>,
    sums_hosts: Vec<[[i64; 2]; 2]>,
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
        let mut places = Vec::new();
        let mut list = |groups_of: &Vec<u32>| {
            let first = places.len() as u32;
            places.extend(groups_of.iter().map(|&g| groups[g as usize]));
            [first, places.len() as u32]
        };
        let lists = [&candidates.up, &candidates.down].map(|side| side.iter().map(&mut list).collect());
        let first = candidates.of_host.first().and_then(|[up, _]| candidates.number(*up));
        let (table, hosts) = (start as usize, candidates.of_host.len());
        let kinds = candidates.leaves * candidates.classes;
        Self {
            hash,
            lists,
            places,
            first_host: first.unwrap_or_default(),
            recent: vec![0; table],
            recent_hosts: vec![[0; 2]; hosts],
            recent_tested: [vec![Recent::default(); kinds], vec![Recent::default(); kinds]],
            tested: [vec![Tested::default(); kinds], vec![Tested::default(); kinds]],
            fresh: 0,
            sums: vec![[0; 2]; table],
            sums_hosts: vec![[[0; 2]; 2]; hosts],
            received: 0,
            impossible: 0,
            candidates,
        }
    }

    /// Adds a packet.
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
        let (tag, hops) = (packet.tag, i64::from(packet.tag.hops));
        let word = hops + if tag.congested { hops << 32 } else { 0 };
        let classes = self.candidates.classes;
        let kinds = [from * classes + class, to * classes + class];
        for (side, kind) in kinds.into_iter().enumerate() {
            let [first, last] = self.lists[side][kind];
            for place in &self.places[first as usize..last as usize] {
                // Minus where the hashes differ: as a mask, for no processor foretells this branch.
                let minus = -i64::from(parity(vector & place.base) != tag.bit);
                let at = &mut self.recent[(place.start + (vector & place.last)) as usize];
                *at += (word ^ minus) - minus;
            }
        }
        let congested = usize::from(tag.congested);
        for (side, kind) in kinds.into_iter().enumerate() {
            let tested = &mut self.recent_tested[side][kind];
            tested.packets[congested] += 1;
            tested.squares[congested] += (hops * hops) as u32;
        }
        for (side, host) in [packet.source, packet.destination].into_iter().enumerate() {
            let number = self.first_host + 2 * host.0 + side as u32;
            let minus = -i64::from(parity(vector & number) != tag.bit);
            let met = if tag.congested { hops } else { 0 };
            self.recent_hosts[host.index()][side] += 1 + (((met ^ minus) - minus) << 32);
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
        let lists: usize = self.lists.iter().map(|side| size_of_val(&side[..])).sum();
        let tables = size_of_val(&self.recent[..]) + size_of_val(&self.recent_hosts[..]);
        let numbers = size_of_val(&self.candidates.leaf[..]);
        tables
            + Hash::VECTORS
            + numbers
            + tested
            + lists
            + size_of_val(&self.places[..])
            + self.candidates.class.len()
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
            (0..2).for_each(|k| sums[k] += more[k]);
        }
        for (tested, more) in self.tested.iter_mut().flatten().zip(other.tested.iter().flatten()) {
            tested.add(more);
        }
        self.received += other.received;
        self.impossible += other.impossible;
    }

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        *self = Self::new(Arc::clone(&self.candidates), Arc::clone(&self.hash));
    }

    /// `[link]`: what is known now; packets can be added afterwards.
    pub fn estimates(&mut self) -> Vec<Estimate> {
        self.put_away();
        let candidates = Arc::clone(&self.candidates);
        let mut found = vec![Estimate::default(); candidates.links()];
        let mut tested = vec![Tested::default(); candidates.groups.len()];
        for (side, groups) in [&candidates.up, &candidates.down].into_iter().enumerate() {
            for (of, groups) in self.tested[side].iter().zip(groups) {
                groups.iter().for_each(|&group| tested[group as usize].add(of));
            }
        }
        let (mut table, mut start) = (Vec::new(), 0);
        for (group, tested) in candidates.groups.iter().zip(&tested) {
            table.clear();
            table.extend_from_slice(&self.sums[start..start + group.room()]);
            start += group.room();
            transform(&mut table);
            for (link, sums) in group.links.iter().zip(&table) {
                found[link.index()] = estimate(*sums, tested);
            }
        }
        let classes = candidates.classes;
        for (h, sums) in self.sums_hosts.iter().enumerate() {
            let leaf = candidates.leaf[h] as usize;
            for side in 0..2 {
                let [packets, congested] = sums[side];
                // Squares of the leaf's packets, in proportion.
                let mut of_leaf = Tested::default();
                if leaf < candidates.leaves {
                    let kinds = &self.tested[side][leaf * classes..(leaf + 1) * classes];
                    kinds.iter().for_each(|kind| of_leaf.add(kind));
                }
                let all = of_leaf.packets[0] + of_leaf.packets[1];
                let share = if all == 0 { 0.0 } else { packets as f64 / all as f64 };
                let variance = share * of_leaf.squares[1] as f64 - (congested as f64).max(0.0);
                found[candidates.of_host[h][side].index()] = Estimate {
                    traffic: packets as f64,
                    congested: congested as f64,
                    traffic_error: 0.0,
                    congested_error: variance.max(0.0).sqrt(),
                    tested: packets as u64,
                };
            }
        }
        found
    }

    /// What hosts sent and received, exactly.
    pub fn of_host(&mut self, host: HostId) -> [u64; 2] {
        self.put_away();
        self.sums_hosts[host.index()].map(|[packets, _]| packets as u64)
    }

    fn put_away(&mut self) {
        let apart = |word: i64| {
            let below = i64::from(word as i32);
            [below, (word - below) >> 32]
        };
        for (sum, word) in self.sums.iter_mut().zip(&mut self.recent) {
            let more = apart(std::mem::take(word));
            (0..2).for_each(|k| sum[k] += more[k]);
        }
        for (sums, words) in self.sums_hosts.iter_mut().zip(&mut self.recent_hosts) {
            for (sum, word) in sums.iter_mut().zip(words) {
                let more = apart(std::mem::take(word));
                (0..2).for_each(|k| sum[k] += more[k]);
            }
        }
        for (tested, recent) in self.tested.iter_mut().flatten().zip(self.recent_tested.iter_mut().flatten())
        {
            let Recent { packets, squares } = std::mem::take(recent);
            tested.add(&Tested { packets: packets.map(u64::from), squares: squares.map(u64::from) });
        }
        self.fresh = 0;
    }
}

fn estimate([traffic, congested]: [i64; 2], tested: &Tested) -> Estimate {
    let error = |squares: u64, sum: i64| (squares as f64 - (sum as f64).max(0.0)).max(0.0).sqrt();
    Estimate {
        traffic: traffic as f64,
        congested: congested as f64,
        traffic_error: error(tested.squares[0] + tested.squares[1], traffic),
        congested_error: error(tested.squares[1], congested),
        tested: tested.packets[0] + tested.packets[1],
    }
}

/// The Walsh-Hadamard transform of both sums; as many as a power of two.
fn transform(table: &mut [[i64; 2]]) {
    let mut half = 1;
    while half < table.len() {
        for block in table.chunks_exact_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for (a, b) in low.iter_mut().zip(high) {
                let (x, y) = (*a, *b);
                *a = [x[0] + y[0], x[1] + y[1]];
                *b = [x[0] - y[0], x[1] - y[1]];
            }
        }
        half *= 2;
    }
}
