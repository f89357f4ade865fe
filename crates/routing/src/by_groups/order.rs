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
//!
//! Groups that are grids ([`Grid`](netloom_topology::Grid)) have two kinds of local cables, those of rows and those of columns. Each row and each
//! column has an order of its own, and a way takes all of its cables of one kind before those of the other:
//!
//! * where packets know how far they are, by the row and then by the column, as on a Cray XC;
//! * in tables out to another group by the row and then by the column, home by the column and then by the row. So the kinds of a
//!   turn's two cables say what it is for; of two cables of one line the first says it, as above.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::Groups;

/// Local cables: those of rows, and all of groups that are no grids; those of columns.
const ROW: usize = 0;
const COLUMN: usize = 1;

/// Who tells a switch how far a packet is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Told {
    /// The packet itself.
    ByPacket,
    /// Tables, which know its ports.
    ByPorts,
}

/// Who is above whom, and what each local cable is for.
#[derive(Clone, Debug)]
pub(crate) struct Order<'a> {
    pub groups: &'a Groups,
    told: Told,
    /// By kind of cable: position of every switch, the lowest first. Those of one line compare; without a grid, those of one group.
    place: [Vec<u32>; 2],
    /// Position of every group.
    group_place: Vec<u32>,
    /// Whether a group has a working cable to every other.
    whole: Vec<bool>,
    /// By link: whether a way home of two local cables begins with it; else one out does.
    home: Vec<bool>,
}

impl<'a> Order<'a> {
    pub fn new(fabric: &Fabric, groups: &'a Groups, told: Told) -> Self {
        let near = |s: SwitchId| {
            let links = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            links.filter_map(|l| fabric.link_to_switch(l))
        };
        let mut joined = vec![BTreeSet::new(); groups.count as usize];
        for s in fabric.switches() {
            let outside = near(s).map(|t| groups.group(t)).filter(|&g| g != groups.group(s));
            joined[groups.group(s) as usize].extend(outside);
        }
        let place = [ROW, COLUMN].map(|kind| {
            let in_line = |s: SwitchId, t: SwitchId| {
                groups.group(s) == groups.group(t) && kind_of(groups, s, t) == kind
            };
            let local = |s| near(s).filter(|&t| in_line(s, t)).collect::<BTreeSet<_>>().len();
            let local: Vec<usize> = fabric.switches().map(local).collect();
            let depth = depths(fabric, &in_line, &local);
            places(&depth.into_iter().map(Reverse).zip(local).collect::<Vec<_>>())
        });
        let group_place = places(&joined.iter().map(BTreeSet::len).collect::<Vec<_>>());
        let whole = joined.iter().map(|joined| joined.len() + 1 == groups.count as usize).collect();
        let mut home = vec![false; fabric.link_count()];
        for s in fabric.switches() {
            let alive = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            let inside = alive.filter_map(|l| Some((fabric.link_to_switch(l)?, l)));
            let mut inside: Vec<(SwitchId, LinkId)> =
                inside.filter(|&(t, _)| groups.group(t) == groups.group(s)).collect();
            let kind = |t| kind_of(groups, s, t);
            inside.sort_by_key(|&(t, link)| (kind(t), Reverse(place[kind(t)][t.index()]), link));
            for line in inside.chunk_by(|a, b| kind(a.0) == kind(b.0)) {
                for (i, &(_, link)) in line.iter().enumerate() {
                    home[link.index()] = i % 2 == 1;
                }
            }
        }
        Self { groups, told, place, group_place, whole, home }
    }

    /// The kind of a cable between two switches of one group.
    #[inline]
    pub fn kind(&self, a: SwitchId, b: SwitchId) -> usize {
        kind_of(self.groups, a, b)
    }

    /// Whether `a` is below `b`, both of one line of this kind.
    #[inline]
    pub fn below(&self, kind: usize, a: SwitchId, b: SwitchId) -> bool {
        self.place[kind][a.index()] < self.place[kind][b.index()]
    }

    /// Whether a way, home or out, may begin with a cable of this kind and go on by the other.
    #[inline]
    pub fn begins(&self, kind: usize, home: bool) -> bool {
        (kind == COLUMN) == (home && self.told == Told::ByPorts)
    }

    /// Whether two cables of one line may be on a way, home or out, that begins with this one.
    #[inline]
    pub fn fits(&self, first: LinkId, home: bool) -> bool {
        self.home[first.index()] == home
    }

    /// Whether ways that do not fit say nothing wrong: packets know what they are for.
    #[inline]
    pub fn is_told_by_packet(&self) -> bool {
        self.told == Told::ByPacket
    }

    /// Whether a turn between two local cables of a grid is one of a way home.
    pub fn turns_home(&self, first: LinkId, ends: [SwitchId; 3]) -> bool {
        match [self.kind(ends[0], ends[1]), self.kind(ends[1], ends[2])] {
            [ROW, COLUMN] => false,
            [COLUMN, ROW] => true,
            _ => self.fits(first, true),
        }
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

fn kind_of(groups: &Groups, a: SwitchId, b: SwitchId) -> usize {
    match &groups.grid {
        Some(grid) if grid.row[a.index()] != grid.row[b.index()] => COLUMN,
        _ => ROW,
    }
}

/// Cables within the line, which is the group without a grid, from every switch to the one with the most of them, or of what is cut off from that, its own. So
/// whoever is not on top has a switch above it.
fn depths(fabric: &Fabric, in_line: &impl Fn(SwitchId, SwitchId) -> bool, local: &[usize]) -> Vec<u32> {
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
                let Some(t) = fabric.link_to_switch(l).filter(|&t| in_line(s, t)) else { continue };
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
