//! What switches of a dragonfly must know so that packets can take detours: minimal ways to every switch, the cables between groups.
//!
//! A detour crosses two cables between groups, by way of a third group; minimal ways cross one, or more where no cable
//! joins two groups. Lanes go by how many a packet has crossed. Within a group it may take several cables on one lane, round
//! missing ones or in groups that are grids: these wait for each other in no circle, or there is no steering here.
//!
//! Source: J. Kim, W. J. Dally, S. Scott, D. Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA 2008.

use std::collections::HashMap;

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::{Shape, Structure};

use crate::circles;
use crate::error::RoutingError;
use crate::paths::PathSet;

/// Most cables between groups that a minimal way may cross: packets count no further.
const MOST_CROSSINGS: u8 = 3;

/// Minimal ways of a dragonfly and the cables between its groups. Only cables that work count.
#[derive(Clone, Debug)]
pub struct Steering {
    /// Minimal ways to every switch.
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
    /// Cables between groups that minimal ways cross, where these are more than where no cable is missing, by the two ends;
    /// 255: there is no way.
    extra: HashMap<(SwitchId, SwitchId), u8>,
}

impl Steering {
    /// Of a fabric.
    ///
    /// # Errors
    /// [`RoutingError::Steering`] for what is no dragonfly, and where so many cables are missing that ways wait for each other
    /// in a circle within a group, or cross more than three groups.
    pub fn new(fabric: &Fabric, structure: &Structure) -> Result<Self, RoutingError> {
        let Some(groups) = structure.shape.groups() else {
            let stated = if matches!(structure.shape, Shape::Graph) { " without stated groups" } else { "" };
            let message = format!("expected a dragonfly, found a {}{stated}", structure.shape);
            return Err(RoutingError::Steering(message));
        };
        let paths = PathSet::by_groups(fabric, groups);
        let group = groups.of.clone();
        let count = groups.count;
        let mut members = vec![Vec::new(); count as usize];
        fabric.switches().for_each(|s| members[group[s.index()] as usize].push(s));
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
        let far: Vec<Option<SwitchId>> = far.collect();
        let one_hop = |members: &Vec<SwitchId>| {
            let mut pairs = members.iter().flat_map(|&s| members.iter().map(move |&t| (s, t)));
            pairs.all(|(s, t)| s == t || paths.hops(s, t) == Some(1))
        };
        let cliques = members.iter().all(one_hop);
        let all_joined = (0..count * count).all(|i| i / count == i % count || joined[i as usize]);
        let mut extra = HashMap::new();
        if !(cliques && all_joined) {
            extra = extra_crossings(fabric, &paths, &group);
            check_circles(fabric, &paths, &group)?;
        }
        if let Some((&(s, t), _)) = extra.iter().filter(|&(_, &n)| n != u8::MAX && n > MOST_CROSSINGS).min() {
            return Err(RoutingError::Steering(format!(
                "the way from \"{}\" to \"{}\" crosses more than {MOST_CROSSINGS} cables between groups: too many \
                 are missing",
                fabric.switch_name(s),
                fabric.switch_name(t)
            )));
        }
        let mut first = vec![0];
        first.extend(by_group.iter().scan(0, |before, cables| {
            *before += cables.len() as u32;
            Some(*before)
        }));
        Ok(Self { paths, group, groups: count, members, far, first, cables: by_group.concat(), extra })
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

    /// The links of a switch to other groups.
    pub fn cables_at(&self, fabric: &Fabric, switch: SwitchId) -> &[LinkId] {
        // Links are numbered by sending node, so those of a switch are side by side.
        let cables = self.cables_of(self.group(switch));
        let from = cables.partition_point(|&link| fabric.link_from_switch(link) < Some(switch));
        let to = cables.partition_point(|&link| fabric.link_from_switch(link) <= Some(switch));
        &cables[from..to]
    }

    /// Cables between groups that the minimal way from one switch to another crosses; 255 if there is none.
    #[inline]
    pub fn crossings(&self, from: SwitchId, to: SwitchId) -> u8 {
        let usual = u8::from(self.group(from) != self.group(to));
        if self.extra.is_empty() { usual } else { *self.extra.get(&(from, to)).unwrap_or(&usual) }
    }

    /// The most that any minimal way crosses.
    pub fn most_crossings(&self) -> u8 {
        self.extra.values().copied().filter(|&n| n != u8::MAX).max().unwrap_or(1).max(1)
    }

    /// The switch that a link between groups leads to, if a detour from switch `from` to switch `to` can go by it: its group is another,
    /// and minimal ways to it and from it cross one cable between groups each.
    #[inline]
    pub fn third(&self, from: SwitchId, cable: LinkId, to: SwitchId) -> Option<SwitchId> {
        let there = self.far[cable.index()]?;
        let other = self.group(there) != self.group(to);
        (other && self.crossings(from, there) == 1 && self.crossings(there, to) == 1).then_some(there)
    }

    /// The switches of a third group, that of switch `there`, by which a detour can go: minimal ways to each and from it cross one cable
    /// between groups.
    pub fn of_third(&self, from: SwitchId, there: SwitchId, to: SwitchId) -> impl Iterator<Item = SwitchId> {
        let joins = move |&s: &SwitchId| self.crossings(from, s) == 1 && self.crossings(s, to) == 1;
        self.members(self.group(there)).iter().copied().filter(joins)
    }

    /// One of [these](Self::of_third), by its place among so many.
    pub fn any_of_third(
        &self,
        from: SwitchId,
        there: SwitchId,
        to: SwitchId,
        place: impl FnOnce(usize) -> usize,
    ) -> SwitchId {
        if self.extra.is_empty() {
            let members = self.members(self.group(there));
            return members[place(members.len())];
        }
        let count = self.of_third(from, there, to).count();
        self.of_third(from, there, to).nth(place(count)).unwrap_or(there)
    }

    /// Refuses fabrics that have no third group.
    ///
    /// # Errors
    /// [`RoutingError::Steering`].
    pub fn check_detours(&self) -> Result<(), RoutingError> {
        if self.groups < 3 {
            return Err(RoutingError::Steering(
                "expected at least three groups, found two: a detour goes by a third".into(),
            ));
        }
        Ok(())
    }
}

/// Pairs of switches whose minimal ways cross more cables between groups than where no cable is missing.
fn extra_crossings(fabric: &Fabric, paths: &PathSet, group: &[u32]) -> HashMap<(SwitchId, SwitchId), u8> {
    let mut extra = HashMap::new();
    for (from, to) in fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t))) {
        let (mut at, mut crossed) = (from, 0);
        while at != to {
            let Some(&link) = paths.links(at, to).first() else {
                crossed = u8::MAX;
                break;
            };
            let next = fabric.link_to_switch(link).expect("ways join switches");
            crossed += u8::from(group[at.index()] != group[next.index()]);
            at = next;
        }
        if crossed > u8::from(group[from.index()] != group[to.index()]) {
            extra.insert((from, to), crossed);
        }
    }
    extra
}

/// Refuses ways whose cables within a group wait for each other in a circle.
fn check_circles(fabric: &Fabric, paths: &PathSet, group: &[u32]) -> Result<(), RoutingError> {
    // By link: ports of the next switch that ways go on by.
    let words = (usize::from(fabric.max_radix()) + 1).div_ceil(64);
    let mut leave = vec![0u64; fabric.link_count() * words];
    let inside = |link: LinkId| {
        let (from, to) = fabric.link_from_switch(link).zip(fabric.link_to_switch(link))?;
        (group[from.index()] == group[to.index()]).then_some(to)
    };
    for (s, t) in fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t))) {
        for &first in paths.links(s, t) {
            let Some(next) = inside(first) else { continue };
            for &second in paths.links(next, t).iter().filter(|&&link| inside(link).is_some()) {
                let port = fabric.link_port(second);
                leave[first.index() * words + usize::from(port) / 64] |= 1 << (port % 64);
            }
        }
    }
    let mut waits: Vec<(u32, u32)> = Vec::new();
    for first in fabric.links() {
        let Some(next) = inside(first) else { continue };
        let ports = 0..=fabric.max_radix();
        let goes_on =
            |&port: &u16| leave[first.index() * words + usize::from(port) / 64] >> (port % 64) & 1 == 1;
        let second = ports.filter(goes_on).filter_map(|port| fabric.link_at(next, port));
        waits.extend(second.map(|second| (first.0, second.0)));
    }
    let on = circles::on_circles(fabric.link_count(), &waits);
    match waits.iter().find(|&&(a, b)| on[a as usize] && on[b as usize]) {
        None => Ok(()),
        Some(&(a, b)) => Err(RoutingError::Steering(format!(
            "so many cables are missing that {} and {} wait for each other in a circle within their group",
            fabric.describe_link(LinkId(a)),
            fabric.describe_link(LinkId(b))
        ))),
    }
}
