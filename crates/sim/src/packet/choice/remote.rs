//! Adaptive with remote information: a candidate's load is its own plus what its far end has queued towards the destination.
//!
//! The far end's queue is that of the least loaded of its minimal outputs to the destination, as it was a credit's time ago (switches
//! tell their neighbours along with credits). So a switch sees one hop further than [`super::Adaptive`], as in progressive schemes
//! with remote congestion (N. Jiang, J. Kim, W. Dally, *Indirect adaptive routing*, ISCA 2009).

use netloom_model::{Fabric, LinkId};
use netloom_routing::PathSet;

use super::minimal::{Minimal, Ways};
use super::{Choice, Here, Outputs};

/// Minimal adaptive routing with information of the neighbours.
#[derive(Clone, Debug)]
pub struct AdaptiveRemote<'a>(Minimal<'a>);

impl<'a> AdaptiveRemote<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, seed: u64) -> Self {
        Self(Minimal::new(fabric, paths, seed))
    }
}

impl Choice for AdaptiveRemote<'_> {
    const LOOKS: bool = true;
    const LOCAL: bool = false;
    const DRAWS: bool = true;

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        let links = match self.0.ways(here) {
            Ways::Only(link) => return link,
            Ways::Any(links) => links,
        };
        let map = self.0.map;
        let drawn = self.0.draw(here, outputs, links);
        let load = |link: LinkId| {
            let near = outputs.load(link);
            let Some(switch) = outputs.far_end(link) else { return near };
            let far = match map.ways(Here { switch, via: link, ..here }) {
                Ways::Only(next) => next.map_or(0, |next| outputs.remote_load(next)),
                Ways::Any(next) => next.iter().map(|&next| outputs.remote_load(next)).min().unwrap_or(0),
            };
            near.saturating_add(far)
        };
        Some(Minimal::least(drawn, links, load))
    }

    #[inline]
    fn set_of(&self, here: Here) -> u32 {
        self.0.set_of(here)
    }

    #[inline]
    fn is_in(&self, link: LinkId, set: u32) -> bool {
        self.0.is_in(link, set)
    }
}
