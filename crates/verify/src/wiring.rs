//! What is behind every port, and who can reach whom, for a batch of destination switches at once.
//!
//! Reachability runs on bit sets: bit j of a word stands for destination switch j of the batch, so one pass over
//! the links serves up to 64 destinations.
//!
//! In a dragonfly the ways that count have as few global cables as can be: one between groups that a working cable joins.

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::{Shape, Structure};

/// What an output port leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Behind {
    /// No such port, nothing cabled, or a dead cable.
    Nothing,
    /// A host.
    Host(u32),
    /// A switch, and how the link runs.
    Switch(u32, Way),
}

/// How a link between switches runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    Up,
    Down,
    Peer,
}

/// Ports and adjacency in flat tables; only working links.
pub(crate) struct Wiring {
    /// `ports[first[switch] + port]`.
    first: Vec<u32>,
    ports: Vec<(Behind, u32)>,
    /// Working links between switches: `near[near_first[s]..near_first[s + 1]]` = (neighbour, way).
    near_first: Vec<u32>,
    near: Vec<(u32, Way)>,
    /// Switches with levels, from the leaves up.
    from_bottom: Vec<u32>,
    /// Whether a switch has a working link at all.
    pub on: Vec<bool>,
    /// Whether levels are the fabric's own: up and down mean something.
    pub tree: bool,
    /// `[switch]`: the group, of a dragonfly.
    group: Option<Vec<u32>>,
}

/// Reachability from every switch to a batch of switches.
pub(crate) struct Batch {
    /// Per switch: destinations that an up*/down* path leads to; in a dragonfly any way.
    pub up_down: Vec<u64>,
    /// `[switch * size + j]`: hops over working links, 255 if there is no way.
    pub hops: Vec<u8>,
    /// By destination: hops of the shortest up*/down* ways, once they were asked for.
    up_down_hops: Vec<Option<Vec<u16>>>,
    /// In a dragonfly, as `hops`: those of the shortest ways with the fewest global cables.
    fewest_global: Option<Vec<u8>>,
    /// In a tree, by place of a port in [`Wiring`]: the destinations to which it leads as it should, see `plain`.
    right: Vec<u64>,
}

impl Batch {
    /// Hops that the shortest way from `switch` to destination `j` takes; in a dragonfly, of those with the fewest global
    /// cables.
    pub fn least(&self, switch: u32, j: usize) -> u8 {
        let at = switch as usize * self.up_down_hops.len() + j;
        let hops = self.fewest_global.as_ref().map_or(u8::MAX, |ways| ways[at]);
        if hops == u8::MAX { self.hops[at] } else { hops }
    }

    /// By port of a switch, the destinations to which it leads as it should; see `plain`.
    pub fn right(&self, wiring: &Wiring, switch: u32) -> &[u64] {
        &self.right[wiring.slots(switch)]
    }

    /// Hops of the way from `switch` to destination `j` of `dests` by up*/down*, one direction a switch: what tables
    /// without turns can do. `u16::MAX` if there is none.
    pub fn up_down_hops(&mut self, wiring: &Wiring, dests: &[u32], j: usize, switch: u32) -> u16 {
        self.up_down_hops[j].get_or_insert_with(|| wiring.up_down_hops(dests[j]))[switch as usize]
    }
}

impl Wiring {
    pub fn new(fabric: &Fabric, structure: &Structure) -> Self {
        let level = |s: SwitchId| structure.rank[s.index()];
        let (mut first, mut ports) = (vec![0], Vec::new());
        let (mut near_first, mut near, mut on) = (vec![0], Vec::new(), Vec::new());
        for s in fabric.switches() {
            let base = ports.len();
            ports.resize(base + usize::from(fabric.radix(s)) + 1, (Behind::Nothing, u32::MAX));
            let mut works = false;
            for l in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
                works = true;
                let behind = match fabric.link_to_switch(l) {
                    None => Behind::Host(fabric.link_to(l).0),
                    Some(t) => {
                        let way = match level(s).cmp(&level(t)) {
                            std::cmp::Ordering::Less => Way::Up,
                            std::cmp::Ordering::Greater => Way::Down,
                            std::cmp::Ordering::Equal => Way::Peer,
                        };
                        near.push((t.0, way));
                        Behind::Switch(t.0, way)
                    }
                };
                ports[base + usize::from(fabric.link_port(l))] = (behind, l.0);
            }
            first.push(ports.len() as u32);
            near_first.push(near.len() as u32);
            on.push(works);
        }
        let mut from_bottom: Vec<u32> =
            (0..on.len() as u32).filter(|&s| structure.rank[s as usize] != u16::MAX).collect();
        from_bottom.sort_by_key(|&s| structure.rank[s as usize]);
        let tree = matches!(structure.shape, Shape::Tree);
        let group = structure.shape.groups().map(|g| fabric.switches().map(|s| g.group(s)).collect());
        Self { first, ports, near_first, near, from_bottom, on, tree, group }
    }

    /// Places of a switch's ports, port 0 included.
    fn slots(&self, switch: u32) -> std::ops::Range<usize> {
        self.first[switch as usize] as usize..self.first[switch as usize + 1] as usize
    }

    /// What is behind a port, whatever number a table holds.
    #[inline]
    pub fn behind(&self, switch: u32, port: u16) -> Behind {
        let slot = self.first[switch as usize] + u32::from(port);
        if slot < self.first[switch as usize + 1] { self.ports[slot as usize].0 } else { Behind::Nothing }
    }

    /// The working link at a port that [`behind`](Self::behind) found something at.
    #[inline]
    pub fn link(&self, switch: u32, port: u16) -> LinkId {
        LinkId(self.ports[(self.first[switch as usize] + u32::from(port)) as usize].1)
    }

    fn near(&self, s: u32) -> &[(u32, Way)] {
        &self.near[self.near_first[s as usize] as usize..self.near_first[s as usize + 1] as usize]
    }

    fn up_down_hops(&self, dest: u32) -> Vec<u16> {
        // Hop by hop: down before up, as long as it leaves nobody out.
        let mut hops = vec![u16::MAX; self.on.len()];
        hops[dest as usize] = 0;
        let mut below = vec![false; self.on.len()];
        below[dest as usize] = true;
        let mut last = vec![dest];
        for hop in 1.. {
            let mut next = Vec::new();
            for wanted in [Way::Up, Way::Down] {
                for &t in &last {
                    if wanted == Way::Up && !below[t as usize] {
                        continue;
                    }
                    for &(s, _) in self.near(t).iter().filter(|&&(_, way)| way == wanted) {
                        if hops[s as usize] == u16::MAX {
                            (hops[s as usize], below[s as usize]) = (hop, wanted == Way::Up);
                            next.push(s);
                        }
                    }
                }
            }
            if next.is_empty() {
                break;
            }
            last = next;
        }
        let plain = self.down_first_hops(dest);
        let left_out = |s: usize| plain[s] != u16::MAX && hops[s] == u16::MAX;
        if (0..hops.len()).any(left_out) { plain } else { hops }
    }

    /// Hops where whoever has a way down goes down.
    fn down_first_hops(&self, dest: u32) -> Vec<u16> {
        let mut hops = vec![u16::MAX; self.on.len()];
        hops[dest as usize] = 0;
        let mut below = std::collections::VecDeque::from([dest]);
        while let Some(t) = below.pop_front() {
            for &(s, way) in self.near(t) {
                if way == Way::Up && hops[s as usize] == u16::MAX {
                    hops[s as usize] = hops[t as usize] + 1;
                    below.push_back(s);
                }
            }
        }
        for &s in self.from_bottom.iter().rev().filter(|&&s| s != dest) {
            if hops[s as usize] == u16::MAX {
                let above = self.near(s).iter().filter(|&&(_, way)| way == Way::Up);
                let least = above.map(|&(t, _)| hops[t as usize]).min().unwrap_or(u16::MAX);
                hops[s as usize] = least.saturating_add(1);
            }
        }
        hops
    }

    /// Searches backwards from up to 64 destination switches.
    pub fn batch(&self, dests: &[u32]) -> Batch {
        let (switches, size) = (self.on.len(), dests.len());
        assert!(size <= 64, "a batch fits a word");
        let mut start = vec![0u64; switches];
        for (j, &d) in dests.iter().enumerate() {
            start[d as usize] |= 1 << j;
        }
        // Down only, from the bottom up: what is above a switch reaches what it reaches.
        let mut up_down = start.clone();
        for &s in &self.from_bottom {
            for &(t, way) in self.near(s) {
                if way == Way::Down {
                    up_down[s as usize] |= up_down[t as usize];
                }
            }
        }
        let below = if self.tree { up_down.clone() } else { Vec::new() };
        // Then up first, from the top down.
        for &s in self.from_bottom.iter().rev() {
            for &(t, way) in self.near(s) {
                if way == Way::Up {
                    up_down[s as usize] |= up_down[t as usize];
                }
            }
        }
        // Plain hops, breadth first.
        let mut hops = vec![u8::MAX; switches * size];
        for (j, &d) in dests.iter().enumerate() {
            hops[d as usize * size + j] = 0;
        }
        let mut right = vec![0u64; if self.tree { self.ports.len() } else { 0 }];
        let mut seen = start.clone();
        let mut front = start;
        for hop in 1..u8::MAX {
            let mut next = vec![0u64; switches];
            let mut any = false;
            for s in 0..switches as u32 {
                let reached = self.near(s).iter().fold(0, |bits, &(t, _)| bits | front[t as usize]);
                let mut new = reached & !seen[s as usize];
                next[s as usize] = new;
                any |= new != 0;
                if self.tree && new != 0 {
                    for slot in self.slots(s) {
                        let Behind::Switch(t, way) = self.ports[slot].0 else { continue };
                        right[slot] |= new
                            & front[t as usize]
                            & match way {
                                Way::Down => below[t as usize],
                                Way::Up => !below[s as usize],
                                Way::Peer => 0,
                            };
                    }
                }
                while new != 0 {
                    hops[s as usize * size + new.trailing_zeros() as usize] = hop;
                    new &= new - 1;
                }
            }
            if !any {
                break;
            }
            seen.iter_mut().zip(&next).for_each(|(s, n)| *s |= n);
            front = next;
        }
        let fewest_global = self.group.as_ref().map(|group| {
            up_down.fill(0);
            let mut ways = vec![u8::MAX; switches * size];
            for (j, &dest) in dests.iter().enumerate() {
                for (s, hops) in self.fewest_global(group, dest).into_iter().enumerate() {
                    ways[s * size + j] = hops;
                    up_down[s] |= u64::from(hops < u8::MAX) << j;
                }
            }
            ways
        });
        Batch { up_down, hops, up_down_hops: vec![None; size], fewest_global, right }
    }

    /// Hops to `dest` from every switch, of the ways with the fewest global cables; 255 where working cables lead nowhere.
    fn fewest_global(&self, group: &[u32], dest: u32) -> Vec<u8> {
        // Global cables count more than all hops.
        const GLOBAL: u32 = 1 << 8;
        let mut cost = vec![u32::MAX; self.on.len()];
        cost[dest as usize] = 0;
        let mut changed = std::collections::VecDeque::from([dest]);
        while let Some(s) = changed.pop_front() {
            for &(t, _) in self.near(s) {
                let global = if group[s as usize] == group[t as usize] { 0 } else { GLOBAL };
                let by_here = cost[s as usize] + 1 + global;
                if by_here < cost[t as usize] && by_here % GLOBAL < u32::from(u8::MAX) {
                    cost[t as usize] = by_here;
                    changed.push_back(t);
                }
            }
        }
        cost.into_iter().map(|cost| if cost == u32::MAX { u8::MAX } else { (cost % GLOBAL) as u8 }).collect()
    }
}
