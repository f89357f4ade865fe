//! An order of the switches of every group and of the groups of a dragonfly: what has lost cables is low, so that ways
//! round what is missing go by what is whole.
//!
//! A way of two local cables from `s` by `m` to `t` makes the first cable wait for the second. No circle of such waits is
//! left within a group where no way comes down to a switch and climbs again: ways go up, then down, in an order of the
//! group's switches, in which all but one have a neighbour above them. Only who lacks a cable needs such ways, and only what is whole is between, where there is something
//! whole. The same holds of groups and of ways through a third one.
//!
//! Tables know a packet's ports, not how far it is. So ways of two local cables at their end (*home*, to hosts of the
//! last switch) and those to a cable between groups (*out*) begin with different cables, where there are two to choose
//! from: each local cable of a switch is one for the former or one for the latter, in turn.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::Groups;

/// Who is above whom, and what each local cable is for.
#[derive(Clone, Debug)]
pub(crate) struct Order<'a> {
    pub groups: &'a Groups,
    /// Position of every switch, the lowest first. Those of one group compare.
    place: Vec<u32>,
    /// Position of every group.
    group_place: Vec<u32>,
    /// Whether a group has a working cable to every other.
    whole: Vec<bool>,
    /// By link: whether a way home of two local cables begins with it; else one out does.
    home: Vec<bool>,
}

impl<'a> Order<'a> {
    pub fn new(fabric: &Fabric, groups: &'a Groups) -> Self {
        let near = |s: SwitchId| {
            let links = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            links.filter_map(|l| fabric.link_to_switch(l))
        };
        let mut local = vec![0; fabric.switch_count()];
        let mut joined = vec![BTreeSet::new(); groups.count as usize];
        for s in fabric.switches() {
            let (inside, outside): (Vec<_>, Vec<_>) =
                near(s).partition(|&t| groups.group(t) == groups.group(s));
            local[s.index()] = inside.into_iter().collect::<BTreeSet<_>>().len();
            joined[groups.group(s) as usize].extend(outside.into_iter().map(|t| groups.group(t)));
        }
        let depth = depths(fabric, groups, &local);
        let heights: Vec<(Reverse<u32>, usize)> = depth.into_iter().map(Reverse).zip(local).collect();
        let place = places(&heights);
        let group_place = places(&joined.iter().map(BTreeSet::len).collect::<Vec<_>>());
        let whole = joined.iter().map(|joined| joined.len() + 1 == groups.count as usize).collect();
        let mut home = vec![false; fabric.link_count()];
        for s in fabric.switches() {
            let alive = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            let inside = alive.filter_map(|l| Some((fabric.link_to_switch(l)?, l)));
            let mut inside: Vec<(SwitchId, LinkId)> =
                inside.filter(|&(t, _)| groups.group(t) == groups.group(s)).collect();
            inside.sort_by_key(|&(t, link)| (Reverse(place[t.index()]), link));
            for (i, &(_, link)) in inside.iter().enumerate() {
                home[link.index()] = i % 2 == 1;
            }
        }
        Self { groups, place, group_place, whole, home }
    }

    /// Whether `a` is below `b`, both of one group.
    #[inline]
    pub fn below(&self, a: SwitchId, b: SwitchId) -> bool {
        self.place[a.index()] < self.place[b.index()]
    }

    /// Whether a way home of two local cables may begin with this one; else one out may.
    #[inline]
    pub fn home(&self, link: LinkId) -> bool {
        self.home[link.index()]
    }

    /// How well a group is between another and group `to`: 0, best, if it lacks no cable; 1 if it is above `to`.
    #[inline]
    pub fn third(&self, group: u32, to: u32) -> u32 {
        if self.whole[group as usize] {
            0
        } else if self.group_place[group as usize] > self.group_place[to as usize] {
            1
        } else {
            2
        }
    }
}

/// Cables within the group from every switch to the one with the most of them, or of what is cut off from that, its own. So
/// whoever is not on top has a switch above it.
fn depths(fabric: &Fabric, groups: &Groups, local: &[usize]) -> Vec<u32> {
    let mut from_top: Vec<SwitchId> = fabric.switches().collect();
    from_top.sort_by_key(|s| (Reverse(local[s.index()]), *s));
    let mut depth = vec![u32::MAX; local.len()];
    for top in from_top {
        if depth[top.index()] != u32::MAX {
            continue;
        }
        depth[top.index()] = 0;
        let mut queue = std::collections::VecDeque::from([top]);
        while let Some(s) = queue.pop_front() {
            for l in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
                let Some(t) = fabric.link_to_switch(l).filter(|&t| groups.group(t) == groups.group(s)) else {
                    continue;
                };
                if depth[t.index()] == u32::MAX {
                    depth[t.index()] = depth[s.index()] + 1;
                    queue.push_back(t);
                }
            }
        }
    }
    depth
}

/// The position of everything by rising weight, of equals the first on top.
fn places<W: Ord>(weight: &[W]) -> Vec<u32> {
    let mut order: Vec<usize> = (0..weight.len()).collect();
    order.sort_by_key(|&i| (&weight[i], Reverse(i)));
    let mut place = vec![0; weight.len()];
    order.iter().zip(0..).for_each(|(&i, at)| place[i] = at);
    place
}
