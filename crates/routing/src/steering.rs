//! What switches of a dragonfly must know so that packets can take detours: minimal ways to every switch, the cables between groups.
//!
//! A detour crosses two cables between groups, by way of a third group; within each group it takes one cable at most. That is why groups must
//! be cliques: lanes by slot of the way leave no second cable within a group a lane of its own.
//!
//! Source: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::Structure;

use crate::error::RoutingError;
use crate::paths::PathSet;

/// Minimal ways of a dragonfly and the cables between its groups. Only cables that work count.
#[derive(Clone, Debug)]
pub struct Steering {
    /// Minimal ways to every switch, with one cable between groups at most.
    pub paths: PathSet,
    /// Group of every switch.
    group: Vec<u32>,
    groups: u32,
    /// Switches of every group.
    members: Vec<Vec<SwitchId>>,
    /// By link: the switch of another group that it leads to.
    far: Vec<Option<SwitchId>>,
    /// Links to other groups, by group.
    first: Vec<u32>,
    cables: Vec<LinkId>,
    /// Whether a group has a cable to another: `[from * groups + to]`.
    joined: Vec<bool>,
}

impl Steering {
    /// Of a fabric.
    ///
    /// # Errors
    /// [`RoutingError::Steering`] for what is no dragonfly, and where two switches of a group have no working cable between them.
    pub fn new(fabric: &Fabric, structure: &Structure) -> Result<Self, RoutingError> {
        let Some(groups) = structure.shape.groups() else {
            return Err(RoutingError::Steering(format!("expected a dragonfly, found a {}", structure.shape)));
        };
        let paths = PathSet::by_groups(fabric, groups);
        let group = groups.of.clone();
        let count = groups.count;
        let mut members = vec![Vec::new(); count as usize];
        fabric.switches().for_each(|s| members[group[s.index()] as usize].push(s));
        for members in &members {
            let pairs = members.iter().flat_map(|&s| members.iter().map(move |&t| (s, t)));
            if let Some((s, t)) = pairs.into_iter().find(|&(s, t)| s != t && paths.hops(s, t) != Some(1)) {
                let (a, b) = (fabric.switch_name(s), fabric.switch_name(t));
                return Err(RoutingError::Steering(format!(
                    "no working cable joins \"{a}\" and \"{b}\" of one group: expected groups in which every two \
                     switches are joined, as lanes allow one hop inside"
                )));
            }
        }
        let far_end = |link: LinkId| {
            let (from, to) = fabric.link_from_switch(link).zip(fabric.link_to_switch(link))?;
            let other = group[from.index()] != group[to.index()];
            (other && fabric.alive(link)).then_some((group[from.index()], to))
        };
        let mut by_group = vec![Vec::new(); count as usize];
        let mut joined = vec![false; (count as usize).pow(2)];
        let far = fabric.links().map(|link| {
            let (from, to) = far_end(link)?;
            by_group[from as usize].push(link);
            joined[(from * count + group[to.index()]) as usize] = true;
            Some(to)
        });
        let far = far.collect();
        let mut first = vec![0];
        first.extend(by_group.iter().scan(0, |before, cables| {
            *before += cables.len() as u32;
            Some(*before)
        }));
        Ok(Self { paths, group, groups: count, members, far, first, cables: by_group.concat(), joined })
    }

    /// The group of a switch.
    #[inline]
    pub fn group(&self, s: SwitchId) -> u32 {
        self.group[s.index()]
    }

    /// The switches of a group.
    #[inline]
    pub fn members(&self, group: u32) -> &[SwitchId] {
        &self.members[group as usize]
    }

    /// Whether a link joins two groups.
    #[inline]
    pub fn is_global(&self, link: LinkId) -> bool {
        self.far[link.index()].is_some()
    }

    /// The links of a group to others.
    #[inline]
    pub fn cables_of(&self, group: u32) -> &[LinkId] {
        &self.cables[self.first[group as usize] as usize..self.first[group as usize + 1] as usize]
    }

    /// The switch that a link between groups leads to, if a detour to group `to` can go by it: its group is not `to`, and has a cable there.
    #[inline]
    pub fn third(&self, cable: LinkId, to: u32) -> Option<SwitchId> {
        let there = self.far[cable.index()]?;
        let third = self.group(there);
        (third != to && self.joined[(third * self.groups + to) as usize]).then_some(there)
    }

    /// Refuses fabrics where some group has no detour to another.
    ///
    /// # Errors
    /// [`RoutingError::Steering`], with the groups.
    pub fn check_detours(&self) -> Result<(), RoutingError> {
        if self.groups < 3 {
            return Err(RoutingError::Steering(
                "expected at least three groups, found two: a detour goes by a third".into(),
            ));
        }
        let pairs = (0..self.groups).flat_map(|from| (0..self.groups).map(move |to| (from, to)));
        for (from, to) in pairs.filter(|(from, to)| from != to) {
            if self.cables_of(from).iter().all(|&cable| self.third(cable, to).is_none()) {
                return Err(RoutingError::Steering(format!(
                    "expected a third group with working cables from group {from} and to group {to}, found none"
                )));
            }
        }
        Ok(())
    }
}
