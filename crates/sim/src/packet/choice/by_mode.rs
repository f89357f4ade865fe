//! By mode: packets of messages that ask for static ways follow tables, all others take the least loaded minimal output.
//!
//! So adaptive routing of InfiniBand can be on for some service levels only. Here a message's mode says it: `IN_ORDER` is static; all others
//! choose as `adaptive` does.
//!
//! Invariant: tables and choices are of minimal up*/down* ways, so neither waits for the other in a circle.

use netloom_model::{Fabric, Lft, LinkId};
use netloom_routing::PathSet;

use super::minimal::Minimal;
use super::{ByTable, Choice, Here, Outputs};

/// Tables, and a choice among minimal outputs.
#[derive(Clone, Debug)]
pub struct ByMode<'a> {
    table: ByTable,
    minimal: Minimal<'a>,
}

impl<'a> ByMode<'a> {
    /// For hosts with one address. `lft` are the static ways.
    pub fn new(fabric: &'a Fabric, lft: &Lft, paths: &'a PathSet, seed: u64) -> Self {
        Self { table: ByTable::new(fabric, lft), minimal: Minimal::new(fabric, paths, seed) }
    }
}

impl Choice for ByMode<'_> {
    const LOOKS: bool = true;
    const DRAWS: bool = true;

    #[inline]
    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        match here.way.is_in_order() {
            true => self.table.foresee(here),
            false => self.minimal.least_loaded(here, outputs),
        }
    }

    #[inline]
    fn foresee(&self, here: Here) -> Option<LinkId> {
        match here.way.is_in_order() {
            true => self.table.foresee(here),
            false => self.minimal.only(here),
        }
    }

    #[inline]
    fn set_of(&self, here: Here) -> u32 {
        if here.way.is_in_order() { 0 } else { self.minimal.set_of(here) }
    }

    #[inline]
    fn is_in(&self, link: LinkId, set: u32) -> bool {
        self.minimal.is_in(link, set)
    }
}
