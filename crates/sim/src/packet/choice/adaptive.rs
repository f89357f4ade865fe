//! Adaptive: the least loaded of the minimal outputs, by what the switch itself knows.
//!
//! A random output is kept if it is idle; else the outputs are looked at in order of their ports, and the first with the
//! least load is taken if it is less than the random one's. This is what the papers' adaptive switches do.

use netloom_model::{Fabric, LinkId};
use netloom_routing::PathSet;

use super::minimal::Minimal;
use super::{Choice, Here, Outputs};

/// Minimal adaptive routing with local information.
#[derive(Clone, Debug)]
pub struct Adaptive<'a>(Minimal<'a>);

impl<'a> Adaptive<'a> {
    /// For hosts with one address.
    pub fn new(fabric: &'a Fabric, paths: &'a PathSet, seed: u64) -> Self {
        Self(Minimal::new(fabric, paths, seed))
    }
}

impl Choice for Adaptive<'_> {
    const LOOKS: bool = true;
    const DRAWS: bool = true;

    #[inline]
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        self.0.least_loaded(here, outputs)
    }

    /// Known where there is one way only: down.
    #[inline]
    fn foresee(&self, here: Here) -> Option<LinkId> {
        self.0.only(here)
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
