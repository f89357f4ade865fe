//! What engines are told, and what those that choose freely among admissible links share.

use netloom_model::{Fabric, HostId, LinkId, SwitchId};

use crate::paths::PathSet;

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
    pub paths: PathSet,
}

impl Context<'_> {
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
        for host in fabric.hosts() {
            let own = fabric.host_link(host);
            if !fabric.alive(own) {
                continue;
            }
            let leaf = fabric.leaf(host);
            if leaf == s {
                let first = space.host(host, 0).index();
                row[first..first + (1 << lmc)].fill(fabric.link_port(fabric.reverse(own)));
                continue;
            }
            let links = self.paths.links(s, leaf);
            if links.is_empty() {
                continue;
            }
            for path in 0..1 << lmc {
                row[space.host(host, path).index()] = fabric.link_port(choose(host, path, links));
            }
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
