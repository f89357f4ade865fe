//! Which links packets of two hosts can have crossed in so many hops, whatever routes they had.
//!
//! Distances are those over working cables, which have two directions, and looked up once.

use std::collections::VecDeque;

use netloom_model::{Fabric, HostId, LinkId, SwitchId};
use netloom_routing::PathSet;

/// No way leads there, or none that a hop count could hold.
const FAR: u8 = u8::MAX;

/// Distances as they are asked for.
pub(super) struct Ways<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    /// `[leaf][switch]`: links between them.
    between: Vec<Option<Vec<u8>>>,
}

impl<'a> Ways<'a> {
    /// Nothing asked for yet.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet) -> Self {
        Self { fabric, paths, between: vec![None; fabric.switch_count()] }
    }

    /// Links of the fabric.
    pub fn links(&self) -> usize {
        self.fabric.link_count()
    }

    /// Links of the shortest up*/down* ways of two hosts, their own included; `None` if there is none.
    pub fn admissible(&self, source: HostId, destination: HostId) -> Option<u8> {
        let (from, to) = self.leaves(source, destination)?;
        if from == to { Some(2) } else { self.paths.hops(from, to).map(|hops| hops.saturating_add(2)) }
    }

    /// Links of the shortest ways of any kind.
    pub fn any(&mut self, source: HostId, destination: HostId) -> Option<u8> {
        let (from, to) = self.leaves(source, destination)?;
        let between = self.between(from)[to.index()];
        (between != FAR).then(|| between.saturating_add(2))
    }

    /// Whether a packet of these hosts can cross a link and have so many hops; `None`: any number of them.
    pub fn can_cross(&mut self, source: HostId, destination: HostId, link: u32, hops: Option<u8>) -> bool {
        let (fabric, link) = (self.fabric, LinkId(link));
        let Some((leaf, last)) = self.leaves(source, destination) else { return false };
        match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
            (None, _) => link == fabric.host_link(source),
            (_, None) => link == fabric.reverse(fabric.host_link(destination)),
            (Some(tail), Some(head)) => {
                let (before, after) = (self.between(leaf)[tail.index()], self.between(last)[head.index()]);
                let least = u16::from(before) + u16::from(after) + 3;
                fabric.alive(link)
                    && before != FAR
                    && after != FAR
                    && hops.is_none_or(|hops| least <= hops.into())
            }
        }
    }

    /// The switches of two different hosts that there are.
    fn leaves(&self, source: HostId, destination: HostId) -> Option<(SwitchId, SwitchId)> {
        let leaf = |host: HostId| {
            let known = host.index() < self.fabric.host_count();
            let link = known.then(|| self.fabric.host_link(host)).filter(|&link| self.fabric.alive(link))?;
            self.fabric.link_to_switch(link)
        };
        (source != destination).then_some(())?;
        Some((leaf(source)?, leaf(destination)?))
    }

    fn between(&mut self, leaf: SwitchId) -> &[u8] {
        let fabric = self.fabric;
        self.between[leaf.index()].get_or_insert_with(|| distances(fabric, leaf))
    }
}

/// `[switch]`: links from the leaf.
fn distances(fabric: &Fabric, leaf: SwitchId) -> Vec<u8> {
    let mut found = vec![FAR; fabric.switch_count()];
    found[leaf.index()] = 0;
    let mut open = VecDeque::from([leaf]);
    while let Some(at) = open.pop_front() {
        let next = found[at.index()].saturating_add(1).min(FAR - 1);
        for link in fabric.switch_links(at).filter(|&link| fabric.alive(link)) {
            if let Some(switch) = fabric.link_to_switch(link)
                && found[switch.index()] == FAR
            {
                found[switch.index()] = next;
                open.push_back(switch);
            }
        }
    }
    found
}
