//! The minimal outputs of a packet: what adaptive and random schemes choose from.

use netloom_model::{Dest, DestSpace, Fabric, LinkId};
use netloom_routing::PathSet;

use super::draw::Draws;
use super::{Here, Outputs};

/// Which outputs are minimal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Map<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    space: DestSpace,
}

/// Minimal outputs, and random numbers to choose by.
#[derive(Clone, Debug)]
pub(super) struct Minimal<'a> {
    pub map: Map<'a>,
    random: Draws,
}

/// Where a packet can go on.
pub(super) enum Ways<'a> {
    /// One way or none.
    Only(Option<LinkId>),
    /// Several, by port.
    Any(&'a [LinkId]),
}

impl<'a> Map<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet) -> Self {
        Self { fabric, paths, space: fabric.dests(0) }
    }

    #[inline]
    pub fn ways(&self, here: Here) -> Ways<'a> {
        let Dest::Host(host, _) = self.space.resolve(here.address) else { return Ways::Only(None) };
        let leaf = self.fabric.leaf(host);
        if leaf == here.switch {
            let link = self.fabric.reverse(self.fabric.host_link(host));
            return Ways::Only(self.fabric.alive(link).then_some(link));
        }
        let links = self.paths.links(here.switch, leaf);
        if links.len() < 2 { Ways::Only(links.first().copied()) } else { Ways::Any(links) }
    }
}

impl<'a> Minimal<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, seed: u64) -> Self {
        Self { map: Map::new(fabric, paths), random: Draws::new(seed) }
    }

    #[inline]
    pub fn ways(&self, here: Here) -> Ways<'a> {
        self.map.ways(here)
    }

    /// One of `links`, each as likely.
    #[inline]
    pub fn draw(&self, here: Here, outputs: &Outputs, links: &[LinkId]) -> LinkId {
        self.random.of(outputs.mark(), here.switch).one_of(links)
    }

    /// The least loaded output, or the only one.
    #[inline]
    pub fn least_loaded(&self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        match self.ways(here) {
            Ways::Only(link) => link,
            Ways::Any(links) => {
                let drawn = self.draw(here, outputs, links);
                Some(Self::least(drawn, links, |link| outputs.load(link)))
            }
        }
    }

    /// The output where there is one way only: down.
    #[inline]
    pub fn only(&self, here: Here) -> Option<LinkId> {
        match self.ways(here) {
            Ways::Only(link) => link,
            Ways::Any(_) => None,
        }
    }

    /// `drawn` if its load is 0, else the first of `links` with the least load unless `drawn` has no more.
    #[inline]
    pub fn least(drawn: LinkId, links: &[LinkId], mut load: impl FnMut(LinkId) -> u32) -> LinkId {
        let mut best = drawn;
        let mut least = load(best);
        if least > 0 {
            for &link in links {
                let load = load(link);
                if load < least {
                    (best, least) = (link, load);
                    if load == 0 {
                        break; // nothing is less
                    }
                }
            }
        }
        best
    }

    /// Number of the packet's set of outputs if it has a choice; 0 if not.
    #[inline]
    pub fn set_of(&self, here: Here) -> u32 {
        let Dest::Host(host, _) = self.map.space.resolve(here.address) else { return 0 };
        // At the host's own leaf the group is the empty one.
        let group = self.map.paths.group(here.switch, self.map.fabric.leaf(host));
        if self.map.paths.group_links(group).len() < 2 { 0 } else { group }
    }

    #[inline]
    pub fn is_in(&self, link: LinkId, set: u32) -> bool {
        let links = self.map.paths.group_links(set);
        let (Some(first), Some(last)) = (links.first(), links.last()) else { return false };
        // By port; mostly all from the first to the last.
        let is_between = (first.0..=last.0).contains(&link.0);
        is_between && ((last.0 - first.0) as usize + 1 == links.len() || links.contains(&link))
    }
}
