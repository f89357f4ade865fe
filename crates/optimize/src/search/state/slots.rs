//! The links between switches as dense *slots*.
//!
//! Loads, weights and paths of the search are indexed by slot. Where the fabric is laid out as a
//! three-level tree ([`Layout`]) slots follow that layout, which has *holes* where cables are missing;
//! elsewhere they follow link numbers. Host links have no slot: no routing changes their load.

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::search::state::layout::Layout;
pub(crate) use crate::search::state::layout::NONE;

/// One fabric as the search sees it.
pub(crate) struct Slots<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Its admissible links.
    pub paths: &'a PathSet,
    /// The three-level layout, where there is one.
    pub layout: Option<Layout>,
    /// Slot of every link, or [`NONE`].
    pub slot_of: Vec<u32>,
    /// Link of every slot, or [`NONE`] for a hole.
    pub link_of: Vec<u32>,
    /// Sending switch of every slot.
    pub from: Vec<u32>,
    /// Receiving switch of every slot.
    pub to: Vec<u32>,
    /// 1 / relative capacity of every slot.
    pub inv_cap: Vec<f64>,
    /// The one value of `inv_cap`, if there is only one.
    pub uniform: Option<f64>,
    /// No admissible path has more links between switches than this.
    pub stride: usize,
}

impl<'a> Slots<'a> {
    /// Numbers the slots.
    pub fn new(fabric: &'a Fabric, structure: &Structure, paths: &'a PathSet, use_layout: bool) -> Self {
        let layout = if use_layout { Layout::detect(fabric, structure) } else { None };
        let mut slot_of = vec![NONE; fabric.link_count()];
        let link_of = match &layout {
            Some(layout) => {
                let link_of = layout.link_of(fabric);
                for (slot, &link) in link_of.iter().enumerate() {
                    if link != NONE {
                        slot_of[link as usize] = slot as u32;
                    }
                }
                link_of
            }
            None => {
                let mut link_of = Vec::new();
                for link in fabric.links().filter(|&l| fabric.alive(l) && fabric.between_switches(l)) {
                    slot_of[link.index()] = link_of.len() as u32;
                    link_of.push(link.0);
                }
                link_of
            }
        };
        let end = |link: u32, switch: Option<SwitchId>| {
            if link == NONE { NONE } else { switch.map_or(NONE, |s| s.0) }
        };
        let from = link_of
            .iter()
            .map(|&l| if l == NONE { NONE } else { end(l, fabric.link_from_switch(LinkId(l))) })
            .collect();
        let to = link_of
            .iter()
            .map(|&l| if l == NONE { NONE } else { end(l, fabric.link_to_switch(LinkId(l))) })
            .collect();
        let inv_cap: Vec<f64> = link_of
            .iter()
            .map(|&l| if l == NONE { f64::NAN } else { 1.0 / fabric.relative_capacity(LinkId(l)) })
            .collect();
        let mut real = inv_cap.iter().copied().filter(|c| !c.is_nan());
        let first = real.next();
        let uniform = first.filter(|&c| real.all(|x| x == c));
        let inv_cap = inv_cap.into_iter().map(|c| if c.is_nan() { 1.0 } else { c }).collect();
        let stride = usize::from(paths.longest());
        Self { fabric, paths, layout, slot_of, link_of, from, to, inv_cap, uniform, stride }
    }

    /// Number of slots, holes included.
    pub fn slots(&self) -> usize {
        self.link_of.len()
    }

    /// Whether a slot has no cable.
    pub fn is_hole(&self, slot: usize) -> bool {
        self.link_of[slot] == NONE
    }

    /// The admissible links of `switch` towards the leaf `target`.
    #[inline]
    pub fn links(&self, switch: u32, target: u32) -> &'a [LinkId] {
        self.paths.links(SwitchId(switch), SwitchId(target))
    }

    /// The slot behind an output port of a switch, or [`NONE`].
    pub fn slot_at(&self, switch: u32, port: u16) -> u32 {
        self.fabric.link_at(SwitchId(switch), port).map_or(NONE, |l| self.slot_of[l.index()])
    }
}
