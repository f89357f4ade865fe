//! The tree as ftree sees it: cables grouped by neighbour, and an index that orders the switches.
//!
//! The index is a tuple of digits, the first the distance from the top level. Breadth first from the first
//! leaf (by GUID), the neighbours below in order of ports, then those above, each new switch copies the
//! tuple of the switch it is met from and takes the lowest free digit at the place that the step changes:
//! going down to rank r, place r; going up from rank r, place r. Only the order of the tuples matters.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet, VecDeque};

use netloom_model::Fabric;

use crate::greedy::guid_key;
use crate::updown::{Hop, HopLists, UpDown};
use netloom_topology::NO_LEVEL;

/// The cables from one switch to one neighbour in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group {
    pub remote: u32,
    /// Order among the groups of a switch.
    pub rank: u32,
    /// Destinations that chose this group.
    pub count: u32,
    /// The neighbour's port of the only cable, if it is the only one.
    pub remote_port: u16,
    /// Number of cables.
    pub cables: u16,
    /// Where they start in [`Tree::cables`], if there are several.
    pub first_cable: u32,
}

/// One of several cables to a neighbour.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cable {
    pub remote_port: u16,
    /// Destinations that chose this cable.
    pub count: u32,
}

/// Groups of every switch in one direction.
#[derive(Debug, Default)]
pub(super) struct Groups {
    pub first: Vec<u32>,
    pub list: Vec<Group>,
}

impl Groups {
    pub fn range(&self, s: u32) -> std::ops::Range<usize> {
        self.first[s as usize] as usize..self.first[s as usize + 1] as usize
    }
}

/// The whole tree.
pub(super) struct Tree {
    pub up: Groups,
    pub down: Groups,
    pub cables: Vec<Cable>,
    /// Position of every switch in the order of the index; equal for switches without one.
    pub rank: Vec<u32>,
    /// Equal for switches with equal down neighbours.
    pub class: Vec<u32>,
    pub classes: usize,
}

impl Tree {
    pub fn new(fabric: &Fabric, level: &[u8]) -> Self {
        let updown = UpDown::by_levels(fabric, level);
        let mut cables = Vec::new();
        let mut up = collect(fabric, &updown.up, &mut cables);
        let mut down = collect(fabric, &updown.down, &mut cables);
        let rank = ranks(fabric, level, &up, &down);
        for groups in [&mut up, &mut down] {
            groups.list.iter_mut().for_each(|g| g.rank = rank[g.remote as usize]);
            for s in 0..rank.len() as u32 {
                let range = groups.range(s);
                groups.list[range].sort_by_key(|g| g.rank);
            }
        }
        let (class, classes) = classes(&down, rank.len());
        Self { up, down, cables, rank, class, classes }
    }
}

/// Groups the links of every switch by neighbour, in order of their first port.
fn collect(fabric: &Fabric, hops: &HopLists, cables: &mut Vec<Cable>) -> Groups {
    let mut groups = Groups { first: vec![0], list: Vec::new() };
    for s in fabric.switches() {
        let hops = hops.of(s);
        for (i, hop) in hops.iter().enumerate() {
            if hops[..i].iter().any(|h| h.to == hop.to) {
                continue;
            }
            let same = || hops[i..].iter().filter(|h| h.to == hop.to);
            let port = |h: &Hop| fabric.link_port(fabric.reverse(h.link));
            let first_cable = cables.len() as u32;
            let count = same().count();
            if count > 1 {
                cables.extend(same().map(|h| Cable { remote_port: port(h), count: 0 }));
            }
            groups.list.push(Group {
                remote: hop.to.0,
                rank: 0,
                count: 0,
                remote_port: port(hop),
                cables: count as u16,
                first_cable,
            });
        }
        groups.first.push(groups.list.len() as u32);
    }
    groups
}

/// The order of the switches by their tuples.
fn ranks(fabric: &Fabric, level: &[u8], up: &Groups, down: &Groups) -> Vec<u32> {
    let top = level.iter().filter(|&&l| l != NO_LEVEL).max().copied().unwrap_or(0);
    let height = |s: u32| usize::from(top - level[s as usize]);
    let mut tuple: Vec<Option<Vec<u32>>> = vec![None; level.len()];
    let mut taken: HashSet<Vec<u32>> = HashSet::new();
    let leaves = fabric.switches().filter(|&s| level[s.index()] == 0 && !fabric.hosts_on(s).is_empty());
    let Some(start) = leaves.min_by_key(|&s| guid_key(fabric.switch_guid(s))) else {
        return vec![u32::MAX; level.len()];
    };
    let mut first = vec![0; usize::from(top) + 2];
    first[0] = height(start.0) as u32;
    taken.insert(first.clone());
    tuple[start.index()] = Some(first);
    let mut queue = VecDeque::from([start.0]);
    while let Some(s) = queue.pop_front() {
        let own = tuple[s as usize].clone().expect("queued switches have a tuple");
        let below = down.list[down.range(s)].iter().map(|g| (g.remote, height(s) + 1));
        let above = up.list[up.range(s)].iter().map(|g| (g.remote, height(s)));
        for (to, place) in below.chain(above) {
            if tuple[to as usize].is_some() {
                continue;
            }
            let mut new = own.clone();
            new[0] = height(to) as u32;
            new[place] = 0;
            while !taken.insert(new.clone()) {
                new[place] += 1;
            }
            tuple[to as usize] = Some(new);
            queue.push_back(to);
        }
    }
    let mut order: Vec<usize> = (0..level.len()).collect();
    // Switches without a tuple come last, all equal.
    let compare = |a: &usize, b: &usize| match (&tuple[*a], &tuple[*b]) {
        (Some(x), Some(y)) => x.cmp(y),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => a.cmp(b),
    };
    order.sort_by(compare);
    let mut rank = vec![u32::MAX; level.len()];
    for (r, &s) in order.iter().enumerate().filter(|(_, s)| tuple[**s].is_some()) {
        rank[s] = r as u32;
    }
    rank
}

/// Numbers the different sets of down neighbours.
fn classes(down: &Groups, switches: usize) -> (Vec<u32>, usize) {
    let mut known = HashMap::new();
    let class = (0..switches as u32)
        .map(|s| {
            let mut below: Vec<u32> = down.list[down.range(s)].iter().map(|g| g.remote).collect();
            below.sort_unstable();
            let next = known.len() as u32;
            *known.entry(below).or_insert(next)
        })
        .collect();
    (class, known.len())
}
