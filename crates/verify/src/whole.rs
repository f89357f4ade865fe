//! Whole items through few links, recomputed.
//!
//! The links may be any set. The items that count are those whose every admissible path crosses one of them (`forced`).
//! Each is taken to lie on the first that it crosses.
//! Arguments that fit items into the room below a load are tried a hair below the claim, hence for everything smaller.

use std::collections::BTreeMap;

use netloom_model::{Control, HostId, Item, LinkId, SwitchId};
use rayon::prelude::*;

use crate::certificate::{Case, TOLERANCE};
use crate::forced::{NONE, Walk};

/// Rounding that no comparison may hang on.
pub(crate) const ROUNDING: f64 = 1e-12;
/// Largest table of subset sums, in grid steps.
pub(crate) const MOST_STEPS: f64 = 8e6;
/// Words of bit sets that one proof by subset sums may touch.
const MOST_WORK: u64 = 2_000_000_000;

/// Links, and the items that cannot avoid them.
pub(crate) struct Place {
    /// Relative capacities.
    pub capacity: Vec<f64>,
    /// Bytes that frozen destinations put on each.
    pub base: Vec<f64>,
    /// Bytes, by item and, where pairs are items of their own, sender (else [`ALL`]).
    pub items: BTreeMap<(Item, HostId), f64>,
}

/// Stands for all senders of a leaf.
const ALL: HostId = HostId(0);

impl Case<'_> {
    pub(crate) fn pigeonhole(&self, links: &[LinkId], items: &[Item]) -> Result<f64, String> {
        let place = self.place(links)?;
        let mut sizes = Vec::with_capacity(items.len());
        let mut times: BTreeMap<Item, usize> = BTreeMap::new();
        for item in items {
            if item.leaf.index() >= self.fabric.switch_count()
                || item.destination.index() >= self.fabric.host_count()
            {
                return Err("an item names a node that is not there".into());
            }
            *times.entry(*item).or_default() += 1;
        }
        for (item, times) in times {
            let (leaf, host) = (self.fabric.switch_name(item.leaf), self.fabric.host_name(item.destination));
            let all = place.items.range((item, ALL)..=(item, HostId(u32::MAX)));
            let mut all: Vec<f64> = all.map(|(_, size)| *size).collect();
            all.sort_by(|a, b| b.total_cmp(a));
            match all.len() {
                0 => return Err(format!("nothing that must cross these links goes from {leaf} to {host}")),
                1 if times > 1 => return Err(format!("the item from {leaf} to {host} is there twice")),
                n if times > n => {
                    return Err(format!("of the {n} pairs from {leaf} to {host} there are {times}"));
                }
                _ => sizes.extend(&all[..times]),
            }
        }
        sizes.sort_by(f64::total_cmp);
        // All places' costs on every link rise; the last of the `n` cheapest is found by merging them.
        let mut next: BTreeMap<(u64, usize), (usize, f64)> = BTreeMap::new();
        let offer = |l: usize, held: usize, bytes: f64, next: &mut BTreeMap<_, _>| {
            if let Some(size) = sizes.get(held) {
                // Positive doubles are in the order of their bits.
                let cost = (bytes + size) / place.capacity[l];
                next.insert((cost.to_bits(), l), (held + 1, bytes + size));
            }
        };
        for (l, &bytes) in place.base.iter().enumerate() {
            offer(l, 0, bytes, &mut next);
        }
        let mut last = 0.0;
        for _ in 0..sizes.len() {
            let ((cost, l), (held, bytes)) = next.pop_first().expect("a link holds all items if need be");
            last = f64::from_bits(cost);
            offer(l, held, bytes, &mut next);
        }
        Ok(last)
    }

    pub(crate) fn dual_feasible(&self, links: &[LinkId], threshold: f64) -> Result<f64, String> {
        let place = self.place(links)?;
        let Some(rooms) = place.rooms(self.claim) else { return Ok(self.claim) };
        let largest = rooms.iter().copied().fold(0.0, f64::max);
        let bytes = threshold * place.capacity.iter().copied().fold(0.0, f64::max);
        if !(bytes.is_normal() && bytes > 0.0 && bytes <= 0.5 * largest * (1.0 + TOLERANCE)) {
            return Err(format!(
                "the threshold {threshold:?} is not between 0 and half the largest room, {largest}"
            ));
        }
        let threshold = bytes.min(0.5 * largest) * (1.0 - 1e-11);
        let mut count = 0.0;
        for &size in place.items.values() {
            if size > largest - threshold {
                count += largest;
            } else if size >= threshold {
                count += size;
            }
        }
        // In doubt, a room counts as much as it might.
        let value = |room: f64| {
            if room >= (largest - threshold) * (1.0 - ROUNDING) {
                largest
            } else if room >= threshold * (1.0 - ROUNDING) {
                room
            } else {
                0.0
            }
        };
        let held: f64 = rooms.into_iter().map(value).sum();
        if count > held * (1.0 + ROUNDING) {
            return Ok(self.claim);
        }
        Err(format!("below the claim the items count to {count}, no more than the rooms' {held}"))
    }

    pub(crate) fn subset_sum(&self, links: &[LinkId], grid: f64) -> Result<f64, String> {
        let place = self.place(links)?;
        if !(grid.is_normal() && grid > 0.0) {
            return Err(format!("the grid {grid:?} is not a number of bytes"));
        }
        let Some(rooms) = place.rooms(self.claim) else { return Ok(self.claim) };
        let largest = rooms.iter().copied().fold(0.0, f64::max) / grid;
        if largest > MOST_STEPS {
            return Err(format!("a link has room for {largest:.0} steps of the grid: too many to check"));
        }
        let most = largest as usize;
        let mut sums = Bits::new(most + 1);
        sums.set(0);
        let mut total = 0.0;
        let mut work = 0;
        for ((item, _), size) in &place.items {
            let multiple = size / grid;
            let whole = multiple.round();
            if whole < 1.0 || (multiple - whole).abs() > 1e-9 * whole.max(1.0) || whole > 9e15 {
                let host = self.fabric.host_name(item.destination);
                return Err(format!("an item to {host} of {size} bytes is no multiple of {grid}"));
            }
            total += whole;
            let step = whole as usize;
            if whole <= most as f64 {
                let before = sums.clone();
                work += sums.add_shifted(&before, step);
            }
            if work > MOST_WORK {
                return Err("too many sums to check".into());
            }
        }
        // The largest sum of every link, and what they exceed the items by.
        let tops: Vec<usize> = rooms.into_iter().map(|room| sums.below((room / grid) as usize)).collect();
        let excess = tops.iter().map(|&t| t as f64).sum::<f64>() - total;
        if excess < 0.0 {
            return Ok(self.claim);
        }
        if excess > MOST_STEPS {
            return Err("the items fit well below the claim".into());
        }
        let excess = excess as usize;
        let mut short = Bits::new(excess + 1);
        short.set(0);
        for top in tops {
            // The largest first: they touch the fewest words, and reach the excess soonest.
            let deficits = (1..=excess.min(top)).rev().filter(|d| sums.has(top - d));
            let before = short.clone();
            work += 1 + excess as u64 / 8;
            for d in deficits {
                work += short.add_shifted(&before, d);
                if work > MOST_WORK || short.has(excess) {
                    break;
                }
            }
            if short.has(excess) {
                return Err("the items may fit below the claim".into());
            }
            if work > MOST_WORK {
                return Err("too many sums to check".into());
            }
        }
        Ok(self.claim)
    }

    /// The links, and all items that cannot avoid them.
    pub(crate) fn place(&self, links: &[LinkId]) -> Result<Place, String> {
        Ok(self.places(&[links], &Control::new())?.remove(0))
    }

    /// The same of several sets that share no link, or an error where asked to stop.
    pub(crate) fn places(&self, sets: &[&[LinkId]], control: &Control) -> Result<Vec<Place>, String> {
        let fabric = self.fabric;
        let mut set_of = vec![NONE; fabric.link_count()];
        let mut places = Vec::with_capacity(sets.len());
        for (set, &links) in (0..).zip(sets) {
            for &l in links {
                self.known(l)?;
                if !fabric.between_switches(l) {
                    return Err(format!("{} is not between switches", fabric.describe_link(l)));
                }
                match std::mem::replace(&mut set_of[l.index()], set) {
                    NONE => {}
                    before if before == set => return Err("a link is there twice".into()),
                    _ => return Err("a link counts for two sides".into()),
                }
            }
            if links.is_empty() {
                return Err("the argument names no links".into());
            }
            let base: Vec<f64> = links.iter().map(|l| self.base[l.index()]).collect();
            if base.iter().any(|b| !b.is_finite()) {
                return Err("what is sent to frozen destinations is too much to add up".into());
            }
            let capacity = links.iter().map(|&l| fabric.relative_capacity(l)).collect();
            places.push(Place { capacity, base, items: BTreeMap::new() });
        }
        let forced = self.forced(&set_of, control).ok_or("stopped before the judge was done")?;
        for from in fabric.hosts() {
            let leaf = fabric.leaf(from);
            let (columns, bytes) = self.traffic.row(from.index());
            for (&j, &b) in columns.iter().zip(bytes).filter(|(j, _)| !self.frozen[**j as usize]) {
                let destination = HostId(j);
                let forced = &forced[fabric.leaf(destination).index()];
                let sender = if self.pairs { from } else { ALL };
                let first = forced.partition_point(|&(s, _)| s < leaf);
                for &(_, set) in forced[first..].iter().take_while(|(s, _)| *s == leaf) {
                    *places[set as usize].items.entry((Item { leaf, destination }, sender)).or_default() += b;
                }
            }
        }
        Ok(places)
    }

    /// Per switch that receives, which sets none that sends to it can avoid, by sender; `None` where asked to stop.
    fn forced(&self, set_of: &[u32], control: &Control) -> Option<Vec<Vec<(SwitchId, u32)>>> {
        let fabric = self.fabric;
        let mut senders: Vec<Vec<SwitchId>> = vec![Vec::new(); fabric.switch_count()];
        // By sending leaf, so that one leaf's entries in a list are neighbours.
        for leaf in fabric.switches() {
            for &host in fabric.hosts_on(leaf) {
                for &j in self.traffic.row(host.index()).0.iter().filter(|j| !self.frozen[**j as usize]) {
                    let list = &mut senders[fabric.leaf(HostId(j)).index()];
                    if list.last() != Some(&leaf) {
                        list.push(leaf);
                    }
                }
            }
        }
        let walk = || Walk::new(&self.graph, fabric, set_of);
        let towards = |walk: &mut Walk, (to, senders): (usize, &Vec<SwitchId>)| {
            control.stopped().is_none().then(|| walk.towards(SwitchId(to as u32), senders))
        };
        senders.par_iter().enumerate().map_init(walk, towards).collect()
    }
}

impl Place {
    /// Room in bytes of every link below a load of `z`; negative if one carries more already.
    pub fn room(&self, z: f64) -> impl Iterator<Item = f64> + '_ {
        self.capacity.iter().zip(&self.base).map(move |(c, f)| z * c - f)
    }

    /// Room in bytes of every link a hair below a load of `claim`; `None` if one carries that much already.
    pub fn rooms(&self, claim: f64) -> Option<Vec<f64>> {
        let rooms: Vec<f64> = self.room(claim * (1.0 - TOLERANCE)).collect();
        rooms.iter().all(|&r| r >= 0.0).then_some(rooms)
    }
}

/// A set of small numbers.
#[derive(Clone)]
struct Bits {
    words: Vec<u64>,
}

impl Bits {
    fn new(size: usize) -> Self {
        Self { words: vec![0; size.div_ceil(64)] }
    }

    fn set(&mut self, i: usize) {
        self.words[i / 64] |= 1 << (i % 64);
    }

    fn has(&self, i: usize) -> bool {
        self.words[i / 64] >> (i % 64) & 1 == 1
    }

    /// The largest up to `top`, or 0.
    fn below(&self, top: usize) -> usize {
        let mut word = self.words[top / 64] & (u64::MAX >> (63 - top % 64));
        for at in (0..=top / 64).rev() {
            if word != 0 {
                return 64 * at + 63 - word.leading_zeros() as usize;
            }
            word = if at > 0 { self.words[at - 1] } else { 0 };
        }
        0
    }

    /// Adds every number of `other` plus `shift`; returns the words that it touched.
    fn add_shifted(&mut self, other: &Bits, shift: usize) -> u64 {
        let (words, bits) = (shift / 64, shift % 64);
        for i in words..self.words.len() {
            let low = if bits > 0 && i > words { other.words[i - words - 1] >> (64 - bits) } else { 0 };
            self.words[i] |= other.words[i - words] << bits | low;
        }
        (self.words.len() - words) as u64
    }
}
