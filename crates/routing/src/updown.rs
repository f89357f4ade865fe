//! The alive links between switches, told apart by direction.
//!
//! Invariants: only alive links whose two ends have a level and different levels; per switch in order of
//! ports. Links between equal levels ("peer") and to cut-off switches are in neither list.

use netloom_model::{Fabric, LinkId, SwitchId};

/// The level of a switch that no host can reach.
pub(crate) const NO_LEVEL: u8 = u8::MAX;

/// One link between two switches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hop {
    pub link: LinkId,
    pub to: SwitchId,
}

/// Lists of links, one a switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct HopLists {
    first: Vec<u32>,
    hops: Vec<Hop>,
}

impl HopLists {
    /// The links of one switch that `keep` accepts, for all switches.
    fn collect(fabric: &Fabric, keep: impl Fn(SwitchId, SwitchId) -> bool) -> Self {
        let mut lists = Self { first: vec![0], hops: Vec::new() };
        for s in fabric.switches() {
            for link in fabric.switch_links(s) {
                if let Some(to) = fabric.link_to_switch(link)
                    && fabric.alive(link)
                    && keep(s, to)
                {
                    lists.hops.push(Hop { link, to });
                }
            }
            lists.first.push(lists.hops.len() as u32);
        }
        lists
    }

    #[inline]
    pub fn of(&self, s: SwitchId) -> &[Hop] {
        &self.hops[self.first[s.index()] as usize..self.first[s.index() + 1] as usize]
    }
}

/// Up and down links of every switch, and an order that climbs down.
#[derive(Clone, Debug)]
pub(crate) struct UpDown {
    pub up: HopLists,
    pub down: HopLists,
    /// Switches with a level, highest first.
    pub from_top: Vec<SwitchId>,
}

impl UpDown {
    /// Sorts the alive links of `fabric` by direction; `level` is one entry a switch.
    pub fn new(fabric: &Fabric, level: &[u8]) -> Self {
        let of = |s: SwitchId| level[s.index()];
        let both = |a, b| of(a) != NO_LEVEL && of(b) != NO_LEVEL;
        let mut from_top: Vec<SwitchId> = fabric.switches().filter(|&s| of(s) != NO_LEVEL).collect();
        from_top.sort_by_key(|&s| (std::cmp::Reverse(of(s)), s));
        Self {
            up: HopLists::collect(fabric, |s, t| both(s, t) && of(t) > of(s)),
            down: HopLists::collect(fabric, |s, t| both(s, t) && of(t) < of(s)),
            from_top,
        }
    }

    /// Whether two switches have nothing below them and the same switches above them, in the same order.
    pub fn twins(&self, a: SwitchId, b: SwitchId) -> bool {
        let ends = |s: SwitchId| self.up.of(s).iter().map(|hop| hop.to);
        self.down.of(a).is_empty() && self.down.of(b).is_empty() && ends(a).eq(ends(b))
    }
}

/// Every alive link between switches, whatever its direction.
pub(crate) fn all_hops(fabric: &Fabric) -> HopLists {
    HopLists::collect(fabric, |_, _| true)
}
