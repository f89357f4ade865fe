//! Oblivious, flow by flow: equal-cost multi-path routing (ECMP).
//!
//! A flow is a pair of hosts and one of the queue pairs between them. All its packets take the same minimal output of a switch, drawn by
//! a hash of the flow and the switch. A message takes one queue pair, drawn by its number.

use std::num::NonZeroU32;

use netloom_model::{Fabric, LinkId};
use netloom_routing::PathSet;

use super::minimal::{Minimal, Ways};
use super::{Choice, Here, Outputs};

/// Minimal routing by a hash of the flow.
#[derive(Clone, Debug)]
pub struct Hashed<'a> {
    minimal: Minimal<'a>,
    pairs: NonZeroU32,
}

impl<'a> Hashed<'a> {
    /// For hosts with one address, and so many queue pairs between two of them.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, pairs: NonZeroU32, seed: u64) -> Self {
        Self { minimal: Minimal::new(fabric, paths, seed), pairs }
    }
}

impl Choice for Hashed<'_> {
    const LOOKS: bool = false;
    const DRAWS: bool = true;

    #[inline]
    fn queue_pairs(&self) -> Option<NonZeroU32> {
        Some(self.pairs)
    }

    #[inline]
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        match self.minimal.ways(here) {
            Ways::Only(link) => link,
            Ways::Any(links) => Some(self.minimal.draw(here, outputs, links)),
        }
    }
}
