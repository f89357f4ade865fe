//! Forwarding tables: one output per destination.

use netloom_model::{Fabric, Lft, LinkId};

use super::{Choice, Here, Outputs};

/// Outputs by forwarding table.
#[derive(Clone, Debug)]
pub struct ByTable<'a> {
    fabric: &'a Fabric,
    lft: &'a Lft,
}

impl<'a> ByTable<'a> {
    /// The tables of `fabric`'s switches.
    pub fn new(fabric: &'a Fabric, lft: &'a Lft) -> Self {
        Self { fabric, lft }
    }
}

impl Choice for ByTable<'_> {
    const LOOKS: bool = false;

    #[inline]
    fn output(&mut self, here: Here, _: Outputs) -> Option<LinkId> {
        let port = self.lft.port(here.switch, here.address);
        self.fabric.link_at(here.switch, port).filter(|&link| self.fabric.alive(link))
    }
}
