//! One bit a packet to estimates of all links at once: a Walsh-Hadamard transform a group.
//!
//! A packet's *vector* says for every link number whether its hash is one: it is the parity of the number under the vector. What the packet
//! adds to a link of a group is therefore plus or minus its hops, by the parity of (vector, number): a sign for what the group's
//! numbers share, and a Walsh function of their last bits. So the hops go, with that sign, to the cell of the group that the
//! vector's last bits say, and at the end one transform makes the sums of all its links ([`crate::direct`] has the same sums).
//! Traffic and congestion share a word.
//!
//! A host's own two links need no test: a packet that it sent or received has crossed them. Their traffic is counted, only their
//! congestion is estimated.
//!
//! A packet costs six additions, whatever its hosts: two groups going up and two going down (those that it lacks go to a cell that nobody
//! reads, for a branch would be predicted wrongly) and its hosts' links. Further groups, which only damage makes, have a loop. Memory does not
//! grow with packets: what they touch fits the second level of a cache, and sums that outgrow their words are added up elsewhere. Sums of
//! several receivers can be added up before they are read.

use std::ops::Range;
use std::sync::Arc;

use netloom_model::HostId;

use crate::candidates::Candidates;
use crate::estimate::Estimate;
use crate::field::Hash;
use crate::lists::{BLOCK, Lists};
use crate::tag::Received;
use crate::transform::transform;
use crate::words::{FULL, HOST_FULL, OwnLink, Tested, apart};

/// What was received so far.
#[derive(Clone, Debug)]
pub struct Decoder {
    candidates: Arc<Candidates>,
    hash: Arc<Hash>,
    lists: AnyLists,
    /// `[number without its leading bit]`: both sums in a word, the congested one above; from the first host on its links' words.
    /// The last is not read.
    cells: Vec<i64>,
    /// Packets that are not in sums yet: fewer than a block.
    waiting: Vec<Received>,
    /// Packets since sums were put away.
    fresh: u32,
    impossible: u64,
    /// What was put away.
    away: Option<Box<Away>>,
}

#[derive(Clone, Debug)]
enum AnyLists {
    Narrow(Lists<u16>),
    Wide(Lists<u32>),
}

/// Sums that no longer share a word.
#[derive(Clone, Debug)]
struct Away {
    packets: u64,
    cells: Vec<[i64; 2]>,
    /// `[side][list]`
    tested: [Vec<Tested>; 2],
    /// `[host x 2 + side]`
    hosts: Vec<OwnLink>,
}

impl Decoder {
    /// With nothing received yet.
    ///
    /// # Panics
    /// If the hash is for fewer bits than link numbers have.
    pub fn new(candidates: Arc<Candidates>, hash: Arc<Hash>) -> Self {
        assert!(hash.bits() >= candidates.bits(), "a hash for these link numbers");
        let lists = match candidates.bits() <= u16::BITS {
            true => AnyLists::Narrow(Lists::new(&candidates, &hash)),
            false => AnyLists::Wide(Lists::new(&candidates, &hash)),
        };
        Self {
            hash,
            lists,
            cells: vec![0; candidates.cells() + 1],
            waiting: Vec::with_capacity(BLOCK),
            fresh: 0,
            impossible: 0,
            away: None,
            candidates,
        }
    }

    /// Adds a packet; of more hops than a hop count holds as of the most.
    #[inline]
    pub fn add(&mut self, packet: &Received) {
        self.waiting.push(*packet);
        if self.waiting.len() == BLOCK {
            self.add_waiting();
        }
    }

    #[inline(never)]
    fn add_waiting(&mut self) {
        let mut waiting = std::mem::take(&mut self.waiting);
        self.add_all(&waiting);
        waiting.clear();
        self.waiting = waiting;
    }

    /// Adds packets that are at hand.
    pub fn add_all(&mut self, packets: &[Received]) {
        let mut rest = packets;
        while !rest.is_empty() {
            if self.fresh == FULL {
                self.put_away();
            }
            let room = (HOST_FULL - self.fresh % HOST_FULL) as usize;
            let now;
            (now, rest) = rest.split_at(room.min(rest.len()));
            self.impossible += match &mut self.lists {
                AnyLists::Narrow(lists) => lists.add(now, &self.candidates, &mut self.cells),
                AnyLists::Wide(lists) => lists.add(now, &self.candidates, &mut self.cells),
            };
            self.fresh += now.len() as u32;
            if self.fresh.is_multiple_of(HOST_FULL) {
                self.put_away_hosts();
            }
        }
    }

    /// Packets received.
    pub fn received(&self) -> u64 {
        let away = self.away.as_ref().map_or(0, |away| away.packets);
        away + u64::from(self.fresh) + self.waiting.len() as u64
    }

    /// Those of hosts that no way joins: they are left out.
    pub fn impossible(&self) -> u64 {
        let impossible = |packet: &&Received| !self.candidates.joined(packet.source, packet.destination);
        self.impossible + self.waiting.iter().filter(impossible).count() as u64
    }

    /// Bytes that packets touch.
    pub fn working_set(&self) -> usize {
        let lists = match &self.lists {
            AnyLists::Narrow(lists) => lists.size(),
            AnyLists::Wide(lists) => lists.size(),
        };
        let waiting = size_of::<Received>() * BLOCK;
        size_of_val(&self.cells[..]) + waiting + lists + self.candidates.lists_size()
    }

    /// Adds what another one received.
    ///
    /// # Panics
    /// If it is for other links or has another hash.
    pub fn merge(&mut self, other: &Self) {
        let same = Arc::ptr_eq(&self.candidates, &other.candidates) && self.hash == other.hash;
        assert!(same, "decoders of the same links and hash");
        self.add_all(&other.waiting);
        if self.fresh + other.fresh > FULL {
            self.put_away();
        }
        self.fresh += other.fresh;
        self.impossible += other.impossible;
        let mut other = other.clone();
        // Half full at most, so that there is room until they are looked through.
        self.put_away_hosts();
        other.put_away_hosts();
        self.cells.iter_mut().zip(&other.cells).for_each(|(cell, more)| *cell += more);
        self.put_away_hosts();
        for (side, list) in self.candidates.all_lists() {
            let (tested, more) = (self.tested(side, list), other.tested(side, list));
            *self.tested_mut(side, list) = [tested[0] + more[0], tested[1] + more[1]];
        }
        let Some(theirs) = &other.away else { return };
        let away = self.away();
        away.packets += theirs.packets;
        for (sums, more) in away.cells.iter_mut().zip(&theirs.cells) {
            (0..2).for_each(|k| sums[k] += more[k]);
        }
        for (tested, more) in away.tested.iter_mut().flatten().zip(theirs.tested.iter().flatten()) {
            tested.add(more);
        }
        for (own, more) in away.hosts.iter_mut().zip(&theirs.hosts) {
            own.add(more);
        }
    }

    /// Forgets everything: the next period begins.
    pub fn reset(&mut self) {
        self.cells.fill(0);
        self.waiting.clear();
        for (side, list) in self.candidates.all_lists() {
            *self.tested_mut(side, list) = [0; 2];
        }
        (self.fresh, self.impossible, self.away) = (0, 0, None);
    }

    /// `[link]`: what is known now; packets can be added afterwards.
    pub fn estimates(&mut self) -> Vec<Estimate> {
        let mut found = Vec::new();
        self.estimates_into(&mut found);
        found
    }

    /// The same into memory that is there.
    pub fn estimates_into(&mut self, found: &mut Vec<Estimate>) {
        self.add_waiting();
        let candidates = &*self.candidates;
        found.resize(candidates.links(), Estimate::default());
        candidates.unused.iter().for_each(|link| found[link.index()] = Estimate::default());
        let tested = self.tested_of_groups();
        let (mut traffic, mut congested) = (Vec::new(), Vec::new());
        let mut start = 0;
        for (group, tested) in candidates.groups.iter().zip(&tested) {
            let of_group = start..start + group.room();
            start = of_group.end;
            let cells = &self.cells[of_group.clone()];
            traffic.clear();
            if let Some(away) = &self.away {
                congested.clear();
                for (&cell, away) in cells.iter().zip(&away.cells[of_group]) {
                    let cell = apart(cell);
                    traffic.push(cell[0] + away[0]);
                    congested.push(cell[1] + away[1]);
                }
                transform(&mut traffic);
                transform(&mut congested);
                for (link, (&traffic, &congested)) in group.links.iter().zip(traffic.iter().zip(&congested)) {
                    found[link.index()] = tested.estimate([traffic, congested]);
                }
            } else {
                traffic.extend_from_slice(cells);
                transform(&mut traffic);
                for (link, &both) in group.links.iter().zip(&traffic) {
                    found[link.index()] = tested.estimate(apart(both));
                }
            }
        }
        let words = self.cells[self.hosts()].as_chunks::<2>().0;
        for (host, (links, words)) in candidates.of_host.iter().zip(words).enumerate() {
            let mut own = [OwnLink::of(words[0]), OwnLink::of(words[1])];
            if let Some(away) = &self.away {
                own[0].add(&away.hosts[2 * host]);
                own[1].add(&away.hosts[2 * host + 1]);
            }
            found[links[0].index()] = own[0].estimate();
            found[links[1].index()] = own[1].estimate();
        }
    }

    /// What hosts sent and received, exactly.
    pub fn of_host(&mut self, host: HostId) -> [u64; 2] {
        self.add_waiting();
        let (first, at) = (self.hosts().start, 2 * host.index());
        let away = |at: usize| self.away.as_ref().map_or(0, |away| away.hosts[at].packets);
        [at, at + 1].map(|at| OwnLink::of(self.cells[first + at]).packets + away(at))
    }

    /// `[group]`
    fn tested_of_groups(&self) -> Vec<Tested> {
        let mut sums = vec![Tested::default(); self.candidates.groups.len()];
        for (side, groups_of) in [&self.candidates.up, &self.candidates.down].into_iter().enumerate() {
            for (list, groups) in groups_of.iter().enumerate() {
                let mut tested = Tested::of(self.tested(side, list));
                self.away.iter().for_each(|away| tested.add(&away.tested[side][list]));
                groups.iter().for_each(|&group| sums[group as usize].add(&tested));
            }
        }
        sums
    }

    /// Where in the cells hosts' words are.
    fn hosts(&self) -> Range<usize> {
        self.candidates.first_host()..self.candidates.cells()
    }

    fn tested(&self, side: usize, list: usize) -> [u64; 2] {
        match &self.lists {
            AnyLists::Narrow(lists) => lists.tested(side, list),
            AnyLists::Wide(lists) => lists.tested(side, list),
        }
    }

    fn tested_mut(&mut self, side: usize, list: usize) -> &mut [u64; 2] {
        match &mut self.lists {
            AnyLists::Narrow(lists) => lists.tested_mut(side, list),
            AnyLists::Wide(lists) => lists.tested_mut(side, list),
        }
    }

    fn away(&mut self) -> &mut Away {
        let (cells, lists, hosts) =
            (self.candidates.first_host(), self.candidates.up.len(), self.hosts().len());
        let empty = || Away {
            packets: 0,
            cells: vec![[0; 2]; cells],
            tested: std::array::from_fn(|_| vec![Tested::default(); lists]),
            hosts: vec![OwnLink::default(); hosts],
        };
        self.away.get_or_insert_with(|| Box::new(empty()))
    }

    /// Puts away hosts' words that are half full.
    fn put_away_hosts(&mut self) {
        let hosts = self.hosts();
        let full = self.cells[hosts.clone()].iter().enumerate().filter(|(_, word)| OwnLink::is_full(**word));
        let full: Vec<usize> = full.map(|(at, _)| at).collect();
        for at in full {
            let own = OwnLink::of(std::mem::take(&mut self.cells[hosts.start + at]));
            self.away().hosts[at].add(&own);
        }
    }

    /// Puts away all other sums.
    #[cold]
    fn put_away(&mut self) {
        let (hosts, fresh) = (self.hosts(), std::mem::take(&mut self.fresh));
        let cells: Vec<i64> = self.cells[..hosts.start].to_vec();
        self.cells[..hosts.start].fill(0);
        self.cells[hosts.end] = 0;
        let away = self.away();
        away.packets += u64::from(fresh);
        for (sums, cell) in away.cells.iter_mut().zip(cells) {
            let [traffic, congested] = apart(cell);
            *sums = [sums[0] + traffic, sums[1] + congested];
        }
        for (side, list) in self.candidates.all_lists() {
            let tested = Tested::of(std::mem::take(self.tested_mut(side, list)));
            self.away().tested[side][list].add(&tested);
        }
    }
}

#[cfg(test)]
mod tests {
    use netloom_routing::PathSet;
    use netloom_topology::detect;

    use super::*;
    use crate::tag::Tag;

    #[test]
    fn what_was_put_away_still_counts() {
        let fabric = netloom_testkit::cases::ft3_32();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let candidates = Arc::new(Candidates::new(&fabric, &structure, &paths).unwrap());
        let hash = Arc::new(Hash::standard(candidates.bits()).unwrap());
        let [mut whole, mut away] =
            [(); 2].map(|()| Decoder::new(Arc::clone(&candidates), Arc::clone(&hash)));
        for i in 0..3_000u32 {
            let id = i.wrapping_mul(0x9e37_79b9);
            let (source, destination) = (HostId(id >> 28), HostId(16 + (id >> 24 & 15)));
            let tag = Tag { bit: id & 1 != 0, congested: id & 2 != 0, hops: 6 };
            let packet = Received { id, source, destination, tag };
            whole.add(&packet);
            away.add(&packet);
            if i % 700 == 0 {
                away.put_away();
            }
        }
        let mut merged = away.clone();
        merged.merge(&away);
        assert_eq!((whole.received(), away.received(), merged.received()), (3_000, 3_000, 6_000));
        let (whole, away, merged) = (whole.estimates(), away.estimates(), merged.estimates());
        assert_eq!(whole, away);
        assert!(whole.iter().zip(&merged).all(|(one, two)| 2.0 * one.traffic == two.traffic));
        assert!(whole.iter().zip(&merged).all(|(one, two)| 2.0 * one.congested == two.congested));
    }
}
