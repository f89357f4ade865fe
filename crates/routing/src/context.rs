//! What engines are told, and what those that choose freely among admissible links share.

use std::ops::Range;

use netloom_model::{Fabric, HostId, LinkId, NO_PORT, SwitchId};

use crate::paths::{BySwitch, PathSet};

/// What engines may be told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EngineOptions {
    /// Seed of the random engine; the others do not draw.
    pub seed: u64,
    /// LID mask control: `2^lmc` addresses a host (0..=7), spread over different paths.
    pub lmc: u8,
}

/// What the engines that choose freely among admissible links share.
pub(crate) struct Context<'a> {
    pub fabric: &'a Fabric,
    pub rank: &'a [u16],
    /// Towards every switch.
    pub paths: BySwitch,
    /// Hosts that are numbered one after the other on one leaf, and that leaf.
    runs: Vec<(SwitchId, Range<u32>)>,
    /// Hosts with dead cables.
    dead: Vec<HostId>,
}

impl<'a> Context<'a> {
    /// With paths towards every switch.
    pub fn new(fabric: &'a Fabric, rank: &'a [u16], paths: PathSet) -> Self {
        let mut runs: Vec<(SwitchId, Range<u32>)> = Vec::new();
        for host in fabric.hosts() {
            let leaf = fabric.leaf(host);
            match runs.last_mut() {
                Some((last, hosts)) if *last == leaf => hosts.end += 1,
                _ => runs.push((leaf, host.0..host.0 + 1)),
            }
        }
        let dead = fabric.hosts().filter(|&host| !fabric.alive(fabric.host_link(host))).collect();
        Self { fabric, rank, paths: paths.by_switch(), runs, dead }
    }

    /// Fills the row of one switch: hosts below by their own port, other hosts by `choose` among the
    /// admissible links (at least one) per (host, path), switches spread by their number.
    pub fn fill(
        &self,
        s: SwitchId,
        lmc: u8,
        row: &mut [u16],
        mut choose: impl FnMut(HostId, u32, &[LinkId]) -> LinkId,
    ) {
        let fabric = self.fabric;
        let space = fabric.dests(lmc);
        self.fill_by_leaf(s, lmc, row, |hosts, links, row| {
            for host in hosts.map(HostId).filter(|&host| fabric.alive(fabric.host_link(host))) {
                for path in 0..1 << lmc {
                    row[space.host(host, path).index()] = fabric.link_port(choose(host, path, links));
                }
            }
        });
    }

    /// The same where `put` writes the entries of several hosts of one leaf, numbered one after the other. What it writes for those of dead
    /// cables is taken out again.
    pub fn fill_by_leaf(
        &self,
        s: SwitchId,
        lmc: u8,
        row: &mut [u16],
        mut put: impl FnMut(Range<u32>, &[LinkId], &mut [u16]),
    ) {
        let fabric = self.fabric;
        let space = fabric.dests(lmc);
        for (leaf, hosts) in &self.runs {
            if *leaf == s {
                for host in hosts.clone().map(HostId) {
                    let own = fabric.host_link(host);
                    if fabric.alive(own) {
                        let first = space.host(host, 0).index();
                        row[first..first + (1 << lmc)].fill(fabric.link_port(fabric.reverse(own)));
                    }
                }
                continue;
            }
            let links = self.paths.links(s, *leaf);
            if !links.is_empty() {
                put(hosts.clone(), links, row);
            }
        }
        for &host in &self.dead {
            let first = space.host(host, 0).index();
            row[first..first + (1 << lmc)].fill(NO_PORT);
        }
        for target in fabric.switches() {
            let links = self.paths.links(s, target);
            if target == s {
                row[space.switch(target).index()] = 0;
            } else if !links.is_empty() {
                row[space.switch(target).index()] = fabric.link_port(links[target.index() % links.len()]);
            }
        }
    }
}
