//! The alive links between switches, told apart by direction.
//!
//! Invariants: only alive links whose two ends have a rank; per switch in order of ports. Ranks differ at the two ends of
//! a cable ([`netloom_topology::Structure::rank`]). Links to cut-off switches are in neither list.

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::{NO_LEVEL, NO_RANK};

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
    /// Switches with a rank, highest first.
    pub from_top: Vec<SwitchId>,
    /// Whether every link joins ranks next to each other. Then no way is shorter than one that only goes down.
    pub layered: bool,
}

impl UpDown {
    /// Sorts the alive links of `fabric` by direction; `rank` is one entry a switch.
    pub fn new(fabric: &Fabric, rank: &[u16]) -> Self {
        let of = |s: SwitchId| rank[s.index()];
        let both = |a, b| of(a) != NO_RANK && of(b) != NO_RANK;
        let mut from_top: Vec<SwitchId> = fabric.switches().filter(|&s| of(s) != NO_RANK).collect();
        from_top.sort_by_key(|&s| (std::cmp::Reverse(of(s)), s));
        let up = HopLists::collect(fabric, |s, t| both(s, t) && of(t) > of(s));
        let layered = fabric.switches().all(|s| up.of(s).iter().all(|hop| of(hop.to) == of(s) + 1));
        Self { up, down: HopLists::collect(fabric, |s, t| both(s, t) && of(t) < of(s)), from_top, layered }
    }

    /// The same by levels, 255 for none; links between equal levels are in neither list.
    pub fn by_levels(fabric: &Fabric, level: &[u8]) -> Self {
        let rank = |&l: &u8| if l == NO_LEVEL { NO_RANK } else { l.into() };
        Self::new(fabric, &level.iter().map(rank).collect::<Vec<u16>>())
    }

    /// Whether two switches have the same switches above them and the same below them, in the same order.
    pub fn twins(&self, a: SwitchId, b: SwitchId) -> bool {
        let alike = |hops: &HopLists| {
            let ends = |s: SwitchId| hops.of(s).iter().map(|hop| hop.to);
            ends(a).eq(ends(b))
        };
        alike(&self.up) && alike(&self.down)
    }
}

/// Every alive link between switches, whatever its direction.
pub(crate) fn all_hops(fabric: &Fabric) -> HopLists {
    HopLists::collect(fabric, |_, _| true)
}
