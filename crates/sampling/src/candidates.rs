//! Which links a packet can have crossed, in groups, with numbers to match.
//!
//! Links between switches that lie on ways of the same (source leaf, destination leaf) pairs are a *group*: a packet might have crossed all
//! of them or none. On a regular three-level tree these are a leaf's links up, a pod's links up to the cores, and the same going
//! down, so a packet has six groups, its hosts' two links included. A group's links have numbers that differ in their last bits only,
//! which makes it one small transform ([`crate::decoder`]).
//!
//! Which groups a pair of leaves has is kept by *class* (same leaf, same pod, ...): the groups going up follow from the source's leaf and
//! the class, those going down from the destination's. Classes are found, not assumed: damage makes more of them.
//!
//! Invariants: every link of an admissible way of two hosts is in their groups, whatever switches choose; numbers are distinct, and have a
//! leading one, so that none is zero.
//!
//! Source: Taffet, dissertation, sec. 2.5.1 (links that a packet might have crossed).

use std::collections::BTreeMap;

use netloom_model::{Fabric, HostId, LinkId, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::{Direction, Structure};
use thiserror::Error;

use crate::kinds::{CUT_OFF, kinds};

/// Why paths cannot be sampled.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SamplingError {
    /// Products would make no field.
    #[error(
        "hash: modulus {modulus:#x}: x^32 + {modulus:#x} can be divided, so that its products make no field: expected another, as in \
         0x8d or 0xc5"
    )]
    NoField {
        /// Without x^32.
        modulus: u32,
    },
    /// Some links would look alike.
    #[error(
        "the hash tells only {rank} of {bits} bits of link numbers apart (modulus {modulus:#x}, g {g:#x}, ids of {id_bits} bits): \
         expected another modulus or g"
    )]
    Dependent {
        /// Of the field, without x^32.
        modulus: u32,
        /// The factor.
        g: u32,
        /// Of link numbers.
        bits: u32,
        /// Of packets' ids.
        id_bits: u32,
        /// How many are independent.
        rank: u32,
    },
    /// More kinds of pairs than are kept.
    #[error(
        "pairs of leaves are of more than {most} kinds on this fabric: too irregular to be decoded by groups"
    )]
    Irregular {
        /// Kinds that can be kept.
        most: usize,
    },
    /// More leaves than ranks of leaves can tell.
    #[error("expected at most {most} switches with hosts, found {found}")]
    Leaves {
        /// Leaves that can be kept.
        most: usize,
        /// Those of the fabric.
        found: usize,
    },
}

/// Not on any way.
const NONE: u32 = u32::MAX;

/// Of hosts without a leaf: beyond all of them.
const NO_LEAF: u16 = u16::MAX;
/// Of leaves that no way joins: beyond all lists, even after a rank of a leaf is added.
pub(crate) const NO_LIST: u32 = 1 << 31;

/// Links that are candidates together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    /// By number.
    pub links: Vec<LinkId>,
    /// The first one's number.
    pub base: u32,
}

impl Group {
    /// Numbers that are set aside: a power of two.
    pub fn room(&self) -> usize {
        self.links.len().next_power_of_two()
    }
}

/// The candidates of all pairs of hosts.
#[derive(Clone, Debug)]
pub struct Candidates {
    /// `[link]`: its number, or [`NONE`].
    number: Vec<u32>,
    /// `[link]`: its group, or [`NONE`].
    group: Vec<u32>,
    bits: u32,
    /// `[host]`: rank of its leaf, or [`NO_LEAF`].
    leaf: Vec<u16>,
    /// `[rank of leaf]`: of its kind the row and the column in `first_list`.
    of_leaf: Vec<[u32; 2]>,
    /// `[kind of source leaf][kind of destination leaf]`: where lists of their class begin, or [`NO_LIST`]; of two leaves.
    first_list: Vec<u32>,
    /// `[class x leaves + leaf]`: groups going up from it, and down to it; the last one is of hosts on one leaf.
    pub(crate) up: Vec<Vec<u32>>,
    pub(crate) down: Vec<Vec<u32>>,
    /// `[up, down][class x leaves + leaf]`: the first two of these, mostly all of them; and whether some leaf has more.
    first: [Vec<[u32; 2]>; 2],
    has_more: bool,
    pub(crate) groups: Vec<Group>,
    /// `[host]`: its link up and its link down.
    pub(crate) of_host: Vec<[LinkId; 2]>,
    /// Links without a number.
    pub(crate) unused: Vec<LinkId>,
    most_hops: u8,
}

impl Candidates {
    /// Of the admissible ways of a fabric.
    ///
    /// # Errors
    /// [`SamplingError::Irregular`] if pairs of leaves are of too many kinds, [`SamplingError::Leaves`] if there are too many leaves.
    pub fn new(fabric: &Fabric, structure: &Structure, paths: &PathSet) -> Result<Self, SamplingError> {
        let leaves = paths.leaves();
        let (most, found) = (usize::from(NO_LEAF), leaves.len());
        if found > most {
            return Err(SamplingError::Leaves { most, found });
        }
        let mut walk = Walk::new(fabric, paths);
        let mut signature = vec![0u128; fabric.link_count()];
        let mut most_hops = 2;
        for (s, e) in pairs(leaves.len()) {
            let key = key(s, e);
            most_hops = most_hops.max(2 + paths.hops(leaves[s], leaves[e]).unwrap_or(0));
            walk.links(leaves[s], leaves[e], |link| signature[link.index()] ^= key);
        }
        let mut together: BTreeMap<(bool, u128), Vec<LinkId>> = BTreeMap::new();
        for link in fabric.links().filter(|link| signature[link.index()] != 0) {
            let up = structure.direction(fabric, link) == Direction::Up;
            together.entry((up, signature[link.index()])).or_default().push(link);
        }
        let mut groups: Vec<Group> = together.into_values().map(|links| Group { links, base: 0 }).collect();
        // The largest first: every base is then a multiple of its group's room.
        groups.sort_by_key(|group| (usize::MAX - group.room(), group.links[0]));
        let mut next = 0;
        for group in &mut groups {
            group.base = next;
            next += group.room() as u32;
        }
        let of_host: Vec<[LinkId; 2]> = fabric
            .hosts()
            .map(|host| [fabric.host_link(host), fabric.reverse(fabric.host_link(host))])
            .collect();
        let total = next + 2 * of_host.len() as u32;
        let bits = total.next_power_of_two().trailing_zeros();
        let mut number = vec![NONE; fabric.link_count()];
        for group in &mut groups {
            group.base |= 1 << bits;
            (group.base..).zip(&group.links).for_each(|(n, link)| number[link.index()] = n);
        }
        ((next | 1 << bits)..).zip(of_host.iter().flatten()).for_each(|(n, link)| number[link.index()] = n);
        let leaf = |host: HostId| {
            let link = fabric.host_link(host);
            let leaf = fabric.alive(link).then(|| fabric.link_to_switch(link)).flatten();
            leaf.and_then(|leaf| paths.leaf_rank(leaf)).map_or(NO_LEAF, |rank| rank as u16)
        };
        let unused = fabric.links().filter(|link| number[link.index()] == NONE).collect();
        let mut found = Self {
            number,
            group: Vec::new(),
            bits: bits + 1,
            leaf: fabric.hosts().map(leaf).collect(),
            of_leaf: Vec::new(),
            first_list: Vec::new(),
            up: Vec::new(),
            down: Vec::new(),
            first: [Vec::new(), Vec::new()],
            has_more: false,
            groups,
            of_host,
            unused,
            most_hops,
        };
        found.classify(fabric, structure, paths, &mut walk)?;
        Ok(found)
    }

    /// Gives every pair of leaves the first class under which both leaves' groups agree with what was seen of others.
    fn classify(
        &mut self,
        fabric: &Fabric,
        structure: &Structure,
        paths: &PathSet,
        walk: &mut Walk,
    ) -> Result<(), SamplingError> {
        let mut group_of = vec![NONE; fabric.link_count()];
        for (g, group) in self.groups.iter().enumerate() {
            group.links.iter().for_each(|link| group_of[link.index()] = g as u32);
        }
        let leaves = paths.leaves();
        // `[leaf][class]`: going up and going down.
        let mut lists = vec![Vec::<[Option<Vec<u32>>; 2]>::new(); leaves.len()];
        let ranks = leaves.len();
        let mut class_of = vec![CUT_OFF; ranks * ranks];
        for (s, e) in pairs(leaves.len()) {
            let (mut up, mut down) = (Vec::new(), Vec::new());
            if paths.hops(leaves[s], leaves[e]).is_none() {
                continue;
            }
            walk.links(leaves[s], leaves[e], |link| {
                let side =
                    if structure.direction(fabric, link) == Direction::Up { &mut up } else { &mut down };
                side.push(group_of[link.index()]);
            });
            for side in [&mut up, &mut down] {
                side.sort_unstable();
                side.dedup();
            }
            let fits = |of: usize, class: usize, side: usize, list: &Vec<u32>| {
                lists[of].get(class).and_then(|sides| sides[side].as_ref()).is_none_or(|known| known == list)
            };
            let class = (0..).find(|&class| fits(s, class, 0, &up) && fits(e, class, 1, &down));
            let class = class.unwrap_or(usize::MAX);
            if class >= usize::from(CUT_OFF) {
                return Err(SamplingError::Irregular { most: CUT_OFF.into() });
            }
            for (of, side, list) in [(s, 0, up), (e, 1, down)] {
                let known = &mut lists[of];
                known.resize(known.len().max(class + 1), [None, None]);
                known[class][side] = Some(list);
            }
            class_of[s * ranks + e] = class as u8;
        }
        for class in 0..lists.iter().map(Vec::len).max().unwrap_or(0) {
            for of in &mut lists {
                let [up, down] = of.get_mut(class).map(std::mem::take).unwrap_or_default();
                self.up.push(up.unwrap_or_default());
                self.down.push(down.unwrap_or_default());
            }
        }
        self.up.push(Vec::new());
        self.down.push(Vec::new());
        self.group = group_of;
        let two = |of: &Vec<u32>| [0, 1].map(|k| of.get(k).copied().unwrap_or(NONE));
        self.first = [&self.up, &self.down].map(|lists| lists.iter().map(two).collect());
        self.has_more = self.up.iter().chain(&self.down).any(|of| of.len() > 2);
        let (kind, classes) = kinds(&class_of, ranks);
        let first =
            |&class: &u8| if class == CUT_OFF { NO_LIST } else { u32::from(class) * leaves.len() as u32 };
        self.first_list = classes.iter().map(first).collect();
        let kinds = classes.len().isqrt() as u32;
        self.of_leaf = kind.into_iter().map(|kind| [kind * kinds, kind]).collect();
        Ok(())
    }

    /// Bits of link numbers.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The bit that all numbers have.
    #[inline]
    pub(crate) fn leading(&self) -> u32 {
        1 << (self.bits - 1)
    }

    /// The first host's number without its leading bit; both links of all hosts have the next ones.
    pub(crate) fn first_host(&self) -> usize {
        self.groups.last().map_or(0, |group| (group.base ^ self.leading()) as usize + group.room())
    }

    /// Numbers that are set aside, without their leading bit.
    pub(crate) fn cells(&self) -> usize {
        self.first_host() + 2 * self.of_host.len()
    }

    /// The number of a link that is on some way, for the hash.
    pub fn number(&self, link: LinkId) -> Option<u32> {
        self.number.get(link.index()).copied().filter(|&number| number != NONE)
    }

    /// Directed links of the fabric.
    pub fn links(&self) -> usize {
        self.number.len()
    }

    /// Links of the longest way.
    pub fn most_hops(&self) -> u8 {
        self.most_hops
    }

    /// Which lists of groups a packet of two hosts has, going up and going down; `None` or beyond all if no way joins them.
    #[inline]
    pub(crate) fn lists(&self, source: HostId, destination: HostId) -> Option<(u32, u32)> {
        let (&from, &to) = (self.leaf.get(source.index())?, self.leaf.get(destination.index())?);
        let [row, _] = self.of_leaf.get(usize::from(from))?;
        let [_, column] = self.of_leaf.get(usize::from(to))?;
        if source == destination {
            return None;
        }
        let first = self.first_list[(row + column) as usize];
        let own = self.up.len() as u32 - 1;
        let list = |leaf: u16| if from == to { own } else { first + u32::from(leaf) };
        Some((list(from), list(to)))
    }

    /// Whether some way joins two hosts.
    pub(crate) fn joined(&self, source: HostId, destination: HostId) -> bool {
        self.groups(source, destination).is_some()
    }

    /// The groups of both lists; `None` if no way joins the hosts.
    fn groups(&self, source: HostId, destination: HostId) -> Option<impl Iterator<Item = u32>> {
        let (up, down) = self.lists(source, destination)?;
        Some(self.up.get(up as usize)?.iter().chain(self.down.get(down as usize)?).copied())
    }

    /// Sides and their lists.
    pub(crate) fn all_lists(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let lists = self.up.len();
        (0..2).flat_map(move |side| (0..lists).map(move |list| (side, list)))
    }

    /// Bytes that this looks at.
    pub(crate) fn lists_size(&self) -> usize {
        size_of_val(&self.leaf[..]) + size_of_val(&self.of_leaf[..]) + size_of_val(&self.first_list[..])
    }

    /// Whether a packet of these hosts might have crossed a link.
    #[inline]
    pub fn might(&self, source: HostId, destination: HostId, link: LinkId) -> bool {
        let Some((up, down)) = self.lists(source, destination) else { return false };
        let (up, down) = (up as usize, down as usize);
        let (Some(of_up), Some(of_down)) = (self.first[0].get(up), self.first[1].get(down)) else {
            return false;
        };
        let group = self.group[link.index()];
        // No branch but the last: nobody predicts which link it is.
        let is = |of: &[u32; 2]| (group == of[0]) | (group == of[1]);
        let own = (link == self.of_host[source.index()][0]) | (link == self.of_host[destination.index()][1]);
        own | ((group != NONE) & (is(of_up) | is(of_down)))
            || (self.has_more
                && group != NONE
                && self.up[up].iter().chain(&self.down[down]).any(|&of| of == group))
    }

    /// Reads what [`Candidates::might`] will read of a link, so that it is in the cache by then. What it returns means nothing.
    #[inline]
    pub fn foresee(&self, link: LinkId) -> u64 {
        self.group[link.index()].into()
    }

    /// Calls `visit` with every link that a packet of these hosts might have crossed; `false` if no way joins them.
    pub fn visit(&self, source: HostId, destination: HostId, mut visit: impl FnMut(LinkId)) -> bool {
        let Some(groups) = self.groups(source, destination) else { return false };
        visit(self.of_host[source.index()][0]);
        for group in groups {
            self.groups[group as usize].links.iter().for_each(|&link| visit(link));
        }
        visit(self.of_host[destination.index()][1]);
        true
    }
}

/// Pairs of different leaves.
fn pairs(leaves: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..leaves).flat_map(move |s| (0..leaves).filter(move |&e| e != s).map(move |e| (s, e)))
}

/// A random number of a pair: sets of pairs are equal if their sums are.
fn key(s: usize, e: usize) -> u128 {
    let mix = |seed: u64| {
        let mut x = (s as u64) << 32 | e as u64;
        x = (x ^ seed).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    };
    u128::from(mix(0x9e37_79b9_7f4a_7c15)) << 64 | u128::from(mix(0xd1b5_4a32_d192_ed03))
}

/// Following all admissible ways of a pair.
struct Walk<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    /// `[switch]`: the last walk that came here.
    seen: Vec<u32>,
    walks: u32,
    open: Vec<SwitchId>,
}

impl<'a> Walk<'a> {
    fn new(fabric: &'a Fabric, paths: &'a PathSet) -> Self {
        Self { fabric, paths, seen: vec![0; fabric.switch_count()], walks: 0, open: Vec::new() }
    }

    /// Calls `visit` once for every link.
    fn links(&mut self, from: SwitchId, to: SwitchId, mut visit: impl FnMut(LinkId)) {
        self.walks += 1;
        self.open.push(from);
        while let Some(at) = self.open.pop() {
            for &link in self.paths.links(at, to) {
                visit(link);
                let next = self.fabric.link_to_switch(link).expect("admissible links join switches");
                if std::mem::replace(&mut self.seen[next.index()], self.walks) != self.walks {
                    self.open.push(next);
                }
            }
        }
    }
}
