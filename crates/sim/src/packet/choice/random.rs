//! Oblivious: a random one of the minimal outputs for every packet, whatever is queued there.

use netloom_model::{Fabric, LinkId};
use netloom_routing::PathSet;

use super::minimal::{Minimal, Ways};
use super::{Choice, Here, Outputs};

/// Random minimal routing, packet by packet.
#[derive(Clone, Debug)]
pub struct RandomPerPacket<'a>(Minimal<'a>);

impl<'a> RandomPerPacket<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, seed: u64) -> Self {
        Self(Minimal::new(fabric, paths, seed))
    }
}

impl Choice for RandomPerPacket<'_> {
    const LOOKS: bool = false;
    const DRAWS: bool = true;

    #[inline]
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        match self.0.ways(here) {
            Ways::Only(link) => link,
            Ways::Any(links) => Some(self.0.draw(here, outputs, links)),
        }
    }
}
