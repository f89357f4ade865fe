//! Adaptive: the least loaded of the minimal outputs, by what the switch itself knows.
//!
//! A random output is kept if it is idle; else the outputs are looked at in order of their ports, and the first with the
//! least load is taken if it is less than the random one's. This is what the papers' adaptive switches do.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Dest, DestSpace, Fabric, LinkId};
use netloom_routing::PathSet;

use super::{Choice, Here, Outputs};

/// Minimal adaptive routing with local information.
#[derive(Clone, Debug)]
pub struct Adaptive<'a> {
    fabric: &'a Fabric,
    paths: &'a PathSet,
    space: DestSpace,
    /// A stream a switch, so that no interleaving of switches matters.
    random: Vec<Stream>,
}

impl<'a> Adaptive<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, seed: u64) -> Self {
        let random = fabric.switches().map(|s| stream(seed, u64::from(s.0))).collect();
        Self { fabric, paths, space: fabric.dests(0), random }
    }
}

impl Choice for Adaptive<'_> {
    const LOOKS: bool = true;

    #[inline]
    fn output(&mut self, here: Here, outputs: Outputs) -> Option<LinkId> {
        let Dest::Host(host, _) = self.space.resolve(here.address) else { return None };
        let leaf = self.fabric.leaf(host);
        if leaf == here.switch {
            let link = self.fabric.reverse(self.fabric.host_link(host));
            return self.fabric.alive(link).then_some(link);
        }
        let links = self.paths.links(here.switch, leaf);
        if links.len() < 2 {
            return links.first().copied();
        }
        let at = below(&mut self.random[here.switch.index()], links.len() as u64) as usize;
        let mut best = links[at];
        let mut least = outputs.load(best);
        if least > 0 {
            for &link in links {
                let load = outputs.load(link);
                if load < least {
                    (best, least) = (link, load);
                }
            }
        }
        Some(best)
    }
}
