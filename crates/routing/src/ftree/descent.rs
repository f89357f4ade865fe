//! The two recursions of ftree: climb to switches above, spread from there to everything below.
//!
//! Invariant: `hops[s]` is the length of the way that `column[s]` starts, [`FAR`] if there is none; a way
//! is only ever replaced by a shorter one.

use netloom_model::{HostId, NO_PORT, SwitchId};

use super::index::{Cable, Group, Groups, Tree};

const FAR: u8 = u8::MAX;
const NOBODY: u32 = u32::MAX;

/// The state: counters that last, and scratch for one destination.
pub(super) struct Descent {
    tree: Tree,
    /// Whether the counters of a switch's groups changed since they were last sorted.
    up_changed: Vec<bool>,
    down_changed: Vec<bool>,
    /// Whether the order in which a switch's down groups are tried matters (those of switches just above
    /// leaves lead to different ends).
    order_matters: Vec<bool>,
    /// Of switches whose neighbours below are ends with one cable each, numbered one after the other.
    ends: Vec<Option<Ends>>,
    /// The ports of their entries.
    end_ports: Vec<u16>,
    hops: Vec<u8>,
    /// Per class of switches with equal down neighbours: hops of the nearest one that spread down.
    class_hops: Vec<u8>,
    has_hosts: Vec<bool>,
    /// `[host][path]`: the neighbour of the leaf that is the main choice; only for LMC > 0.
    chosen: Vec<u32>,
    lmc: u8,
}

impl Descent {
    pub fn new(tree: Tree, has_hosts: Vec<bool>, hosts: usize, lmc: u8) -> Self {
        let switches = tree.rank.len();
        let has_below = |s: u32| !tree.down.range(s).is_empty();
        let order_matters = (0..switches as u32)
            .map(|s| tree.down.list[tree.down.range(s)].iter().any(|g| has_below(g.remote)))
            .collect();
        let mut end_ports = Vec::new();
        let ends = (0..switches as u32).map(|s| Ends::of(&tree, s, &has_hosts, &mut end_ports)).collect();
        Self {
            up_changed: vec![false; switches],
            down_changed: vec![false; switches],
            order_matters,
            ends,
            end_ports,
            hops: vec![FAR; switches],
            class_hops: vec![FAR; tree.classes],
            has_hosts,
            chosen: vec![NOBODY; if lmc == 0 { 0 } else { hosts << lmc }],
            lmc,
            tree,
        }
    }

    pub fn route_host(&mut self, leaf: SwitchId, host: HostId, path: u32, column: &mut [u16]) {
        self.start(leaf, 1);
        let mut avoid = Vec::new();
        let slot = host.index() << self.lmc;
        if self.lmc > 0 {
            avoid.extend_from_slice(&self.chosen[slot..slot + path as usize]);
        }
        let main = self.climb(leaf.0, NOBODY, Some(&avoid), 1, column);
        if self.lmc > 0 {
            self.chosen[slot + path as usize] = main;
        }
    }

    pub fn route_dummy(&mut self, leaf: SwitchId, column: &mut [u16]) {
        self.start(leaf, 1);
        self.climb(leaf.0, NOBODY, Some(&[]), 1, column);
    }

    pub fn route_switch(&mut self, s: SwitchId, column: &mut [u16]) {
        self.start(s, 0);
        self.climb(s.0, NOBODY, None, 0, column);
    }

    fn start(&mut self, s: SwitchId, hops: u8) {
        self.hops.fill(FAR);
        self.class_hops.fill(FAR);
        self.hops[s.index()] = hops;
    }

    /// Routes everything that reaches the destination by way of `s`, which is `hops` away from it.
    /// `main`: this is the way that counts, and its first step avoids these neighbours if it can.
    /// Returns the neighbour that the main way took.
    fn climb(&mut self, s: u32, from: u32, main: Option<&[u32]>, hops: u8, column: &mut [u16]) -> u32 {
        self.spread(s, from, hops, column);
        let range = self.tree.up.range(s);
        if range.is_empty() {
            return NOBODY;
        }
        sort(&mut self.tree.up, s, &mut self.up_changed);
        let groups = &self.tree.up.list[range.clone()];
        let at = main
            .map(|avoid| range.start + groups.iter().position(|g| !avoid.contains(&g.remote)).unwrap_or(0));
        let mut taken = NOBODY;
        if let Some(at) = at {
            let group = self.tree.up.list[at];
            let port = least_port(&self.tree.cables, &group);
            count(&mut self.tree.up, &mut self.tree.cables, at, port);
            self.up_changed[s as usize] = true;
            self.offer(group.remote, hops + 1, port, column);
            taken = group.remote;
            self.climb(group.remote, s, Some(&[]), hops + 1, column);
        }
        for i in range.filter(|&i| Some(i) != at) {
            let group = self.tree.up.list[i];
            let port = least_port(&self.tree.cables, &group);
            if self.offer(group.remote, hops + 1, port, column) {
                self.climb(group.remote, s, None, hops + 1, column);
            }
        }
        taken
    }

    /// Routes everything that reaches the destination by stepping up to `s`. Returns whether any leaf
    /// with hosts now does.
    #[inline]
    fn spread(&mut self, s: u32, from: u32, hops: u8, column: &mut [u16]) -> bool {
        // Most switches have nothing to add: a sibling was there before.
        let class = self.tree.class[s as usize] as usize;
        if self.class_hops[class] <= hops || self.tree.down.range(s).is_empty() {
            return self.has_hosts[s as usize];
        }
        self.spread_below(s, from, hops, column)
    }

    fn spread_below(&mut self, s: u32, from: u32, hops: u8, column: &mut [u16]) -> bool {
        let mut reached = self.has_hosts[s as usize];
        if self.order_matters[s as usize] {
            sort(&mut self.tree.down, s, &mut self.down_changed);
            reached |= self.spread_on(s, from, hops, column);
        } else {
            reached |= self.spread_to_ends(s, from, hops, column);
        }
        self.class_hops[self.tree.class[s as usize] as usize] = hops;
        reached
    }

    /// Below `s` are switches that lead further down.
    fn spread_on(&mut self, s: u32, from: u32, hops: u8, column: &mut [u16]) -> bool {
        let mut reached = false;
        for i in self.tree.down.range(s) {
            let group = self.tree.down.list[i];
            if group.remote == from || self.hops[group.remote as usize] <= hops + 1 {
                continue;
            }
            let port = least_port(&self.tree.cables, &group);
            self.offer(group.remote, hops + 1, port, column);
            if self.spread(group.remote, NOBODY, hops + 1, column) {
                reached = true;
                count(&mut self.tree.down, &mut self.tree.cables, i, port);
                self.down_changed[s as usize] = true;
            }
        }
        reached
    }

    /// Below `s` are only switches with nothing below: the bulk of all entries. Groups of one cable need no
    /// count, as their order does not matter.
    fn spread_to_ends(&mut self, s: u32, from: u32, hops: u8, column: &mut [u16]) -> bool {
        if let Some(ends) = &self.ends[s as usize] {
            // All at once, if none has a way as short.
            let all = ends.first as usize..(ends.first + ends.count) as usize;
            let hops_of = &mut self.hops[all.clone()];
            if !all.contains(&(from as usize)) && hops_of.iter().all(|&known| known > hops + 1) {
                hops_of.fill(hops + 1);
                column[all].copy_from_slice(&self.end_ports[ends.ports as usize..][..ends.count as usize]);
                return ends.has_hosts;
            }
        }
        let mut reached = false;
        for group in &self.tree.down.list[self.tree.down.range(s)] {
            let to = group.remote as usize;
            if group.remote == from || self.hops[to] <= hops + 1 {
                continue;
            }
            let choice = least_port(&self.tree.cables, group);
            self.hops[to] = hops + 1;
            column[to] = choice.port;
            if self.has_hosts[to] {
                reached = true;
                if group.cables > 1 {
                    self.tree.cables[choice.cable].count += 1;
                }
            }
        }
        reached
    }

    /// Gives `s` a way if it has none as short.
    #[inline]
    fn offer(&mut self, s: u32, hops: u8, port: Choice, column: &mut [u16]) -> bool {
        let better = hops < self.hops[s as usize];
        if better {
            self.hops[s as usize] = hops;
            column[s as usize] = port.port;
        }
        debug_assert_ne!(column[s as usize], NO_PORT);
        better
    }
}

/// Ends below a switch whose entries are always the same: one cable each, numbers one after the other.
struct Ends {
    first: u32,
    count: u32,
    /// Where their ports begin in [`Descent::end_ports`].
    ports: u32,
    /// Whether any has hosts.
    has_hosts: bool,
}

impl Ends {
    fn of(tree: &Tree, s: u32, has_hosts: &[bool], ports: &mut Vec<u16>) -> Option<Self> {
        let mut groups: Vec<&Group> = tree.down.list[tree.down.range(s)].iter().collect();
        groups.sort_by_key(|g| g.remote);
        let first = groups.first()?.remote;
        let is_end =
            |(g, at): (&&Group, u32)| g.remote == at && g.cables == 1 && tree.down.range(g.remote).is_empty();
        if !groups.iter().zip(first..).all(is_end) {
            return None;
        }
        let begin = ports.len() as u32;
        ports.extend(groups.iter().map(|g| g.remote_port));
        let has_hosts = groups.iter().any(|g| has_hosts[g.remote as usize]);
        Some(Self { first, count: groups.len() as u32, ports: begin, has_hosts })
    }
}

/// A cable of a group.
#[derive(Clone, Copy)]
struct Choice {
    /// The neighbour's port.
    port: u16,
    /// Which of the cables.
    cable: usize,
}

/// The least used cable of a group, the first among equals.
#[inline]
fn least_port(cables: &[Cable], group: &Group) -> Choice {
    if group.cables == 1 {
        return Choice { port: group.remote_port, cable: 0 };
    }
    let first = group.first_cable as usize;
    let several = first..first + usize::from(group.cables);
    let cable = several.min_by_key(|&c| cables[c].count).expect("a group has a cable");
    Choice { port: cables[cable].remote_port, cable }
}

#[inline]
fn count(groups: &mut Groups, cables: &mut [Cable], at: usize, choice: Choice) {
    groups.list[at].count += 1;
    if groups.list[at].cables > 1 {
        cables[choice.cable].count += 1;
    }
}

/// Orders the groups of a switch by count, then rank; they nearly are.
fn sort(groups: &mut Groups, s: u32, changed: &mut [bool]) {
    if !std::mem::take(&mut changed[s as usize]) {
        return;
    }
    let range = groups.range(s);
    let list = &mut groups.list[range];
    for i in 1..list.len() {
        let moving = list[i];
        let mut j = i;
        while j > 0 && (list[j - 1].count, list[j - 1].rank) > (moving.count, moving.rank) {
            list[j] = list[j - 1];
            j -= 1;
        }
        list[j] = moving;
    }
}
