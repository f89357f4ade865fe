//! Groups of a dragonfly, found from its cables alone.
//!
//! The ends of a cable within a group share neighbours: all of the group. The ends of a cable between groups share
//! some too, up to one less than a switch has global cables, where these are arranged in the same order everywhere.
//! So a fixed limit will not do. The rule: the lowest number *t* at which the pieces, two at least, that cables with more than *t*
//! shared neighbours join have a diameter of at most 2 inside. Where this finds none, the same by how alike two ends are: the share of
//! neighbours that both have of all that either has. (Where all global cables of a group are on one switch, these switches are a clique
//! themselves, and may share more neighbours than a group does; but most of their neighbours differ.) Where this finds none either, as
//! where groups of two hops lack cables, the first rule again, with pieces in which every switch is near most others. Switches that lost their group (pieces of less than
//! half the usual size) go where most of their neighbours are.
//!
//! Dead cables count here: what is damaged keeps the groups that it was built with. What is found is a dragonfly if
//! groups are of one size, but for a few, are cliques or nearly so, and if nearly every two of them are joined.
//!
//! Where all this finds none, whole groups that are cliques of one size are searched for (`cliques.rs`). Where groups and what cables between them join
//! could change places, groups are what has fewer cables side by side; where both have as many, a deviation says so.
//!
//! Limits: in groups of 4 switches a missing cable leaves too little to tell; groups that are joined by so many cables
//! that two of them have diameter 2 are one piece; grids of two rows have no triangles in their columns.

use netloom_model::{Fabric, SwitchId};

use crate::cliques;
use crate::generate::Arrangement;
use crate::graph::Sets;
use crate::grid::{self, Grid};

/// Shares, in hundredths, above which pieces are a dragonfly: groups of the usual size; neighbours among the pairs of
/// a group; groups that are joined among pairs of groups; switches that needed no help to find their group.
const USUAL_SIZE_PERCENT: usize = 50;
const ADJACENT_PERCENT: usize = 15;
const JOINED_PERCENT: usize = 80;
const UNAIDED_PERCENT: usize = 75;

/// Share of pairs of stated groups, in hundredths, that cables must join at least.
const STATED_JOINED_PERCENT: usize = 50;

/// Of a group of two hops that lacks cables, switches in hundredths that are at most 2 cables from each.
const NEAR_PERCENT: usize = 80;

/// The groups of a dragonfly, numbered by their first switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Groups {
    /// Group of every switch.
    pub of: Vec<u32>,
    /// How many there are, at least 2.
    pub count: u32,
    /// Switches of most groups.
    pub switches_a_group: u32,
    /// Fewest and most working cables between two groups.
    pub global_cables: (u32, u32),
    /// The order of the global cables, if it is one that we know.
    pub arrangement: Option<Arrangement>,
    /// Rows and columns, of groups of two hops that are grids.
    pub grid: Option<Grid>,
    /// What is not as in the other groups, in sentences.
    pub deviations: Vec<String>,
}

impl Groups {
    /// The group of a switch.
    #[inline]
    pub fn group(&self, s: SwitchId) -> u32 {
        self.of[s.index()]
    }

    /// Group of every host, among those that have hosts: numbered from 0 in their order.
    pub fn of_hosts(&self, fabric: &Fabric) -> Vec<u32> {
        let mut number = vec![None; self.count as usize];
        let group = |h| self.group(fabric.leaf(h)) as usize;
        fabric.hosts().for_each(|h| number[group(h)] = Some(0));
        for (next, number) in (0..).zip(number.iter_mut().flatten()) {
            *number = next;
        }
        fabric.hosts().map(|h| number[group(h)].expect("it has this host")).collect()
    }
}

/// The groups of a fabric: those that were stated, else what its cables tell; `None` if it is no dragonfly.
pub(crate) fn find(fabric: &Fabric) -> Option<Groups> {
    let cables = Cables::new(fabric);
    if let Some(stated) = fabric.groups() {
        return describe(fabric, &cables, numbered(stated), true);
    }
    let found = |measure: &Vec<Vec<u32>>, near: usize| {
        let mut limits: Vec<u32> = measure.iter().flatten().copied().chain([0]).collect();
        limits.sort_unstable();
        limits.dedup();
        let pieces = limits.into_iter().map(|t| cables.pieces(measure, t));
        let pieces = pieces.into_iter().find(|pieces| pieces.len() > 1 && cables.narrow(pieces, near))?;
        describe(fabric, &cables, cables.assign_rest(pieces)?, false)
    };
    // A chain of four switches has two pairs that are alike, too.
    let enough = |groups: &Groups| groups.count > 2 && groups.switches_a_group > 2;
    let exact = found(&cables.shared, 100).or_else(|| found(&cables.likeness, 100).filter(enough));
    match exact.or_else(|| found(&cables.shared, NEAR_PERCENT).filter(enough)) {
        Some(groups) => Some(the_right_way_round(fabric, &cables, groups)),
        None => {
            let of = cliques::find(&with_counts(fabric, &cables.near))?;
            describe(fabric, &cables, of, false)
        }
    }
}

/// Why groups that are stated cannot be those of a dragonfly; `None`: they can.
pub fn unfit(fabric: &Fabric, stated: &[u32]) -> Option<String> {
    let cables = Cables::new(fabric);
    let of = numbered(stated);
    let count = of.iter().max().map_or(0, |&g| g as usize + 1);
    if count < 2 {
        return Some(format!("expected at least two groups, found {count}"));
    }
    let apart = apart(&cables, &of, count);
    if let Some(&(s, t)) = apart.first().filter(|_| 2 * apart.len() > count) {
        return Some(format!(
            "expected groups whose switches are joined by cables within the group, found {} of {count} that are not, such as that of \"{}\" and \"{}\"",
            apart.len(),
            fabric.switch_name(s),
            fabric.switch_name(t)
        ));
    }
    let mut joined = std::collections::BTreeSet::new();
    for (s, near) in cables.near.iter().enumerate() {
        let others = near.iter().map(|&t| (of[s], of[t as usize]));
        joined.extend(others.filter(|(a, b)| a < b));
    }
    let pairs = count * (count - 1) / 2;
    (100 * joined.len() < STATED_JOINED_PERCENT * pairs).then(|| {
        format!(
            "expected groups that are joined to each other, found {count} groups of which cables join {} of {pairs} pairs",
            joined.len()
        )
    })
}

/// Of groups whose own cables do not join all of their switches, dead ones included, two switches that are apart.
fn apart(cables: &Cables, of: &[u32], count: usize) -> Vec<(SwitchId, SwitchId)> {
    let mut sets = Sets::new(of.len());
    for (s, near) in cables.near.iter().enumerate() {
        near.iter().filter(|&&t| of[t as usize] == of[s]).for_each(|&t| {
            sets.join(s, t as usize);
        });
    }
    let mut first = vec![None; count];
    let mut other = vec![None; count];
    for (s, &g) in of.iter().enumerate() {
        let (first, other) = (&mut first[g as usize], &mut other[g as usize]);
        let head = *first.get_or_insert(s);
        if other.is_none() && sets.find(head) != sets.find(s) {
            *other = Some((SwitchId(head as u32), SwitchId(s as u32)));
        }
    }
    other.into_iter().flatten().collect()
}

/// Neighbours with the cables to each, dead ones included.
fn with_counts(fabric: &Fabric, near: &[Vec<u32>]) -> Vec<Vec<(u32, u32)>> {
    let count = |s: SwitchId, t: u32| {
        fabric.switch_links(s).filter(|&l| fabric.link_to_switch(l) == Some(SwitchId(t))).count() as u32
    };
    fabric.switches().map(|s| near[s.index()].iter().map(|&t| (t, count(s, t))).collect()).collect()
}

/// The groups, or what cables between them join, where one switch of each group hangs together with one of each other: both could be the groups then.
fn the_right_way_round(fabric: &Fabric, cables: &Cables, mut groups: Groups) -> Groups {
    let (mut lines, mut within) = (Sets::new(groups.of.len()), [(0u32, 0u32); 2]);
    for (s, near) in with_counts(fabric, &cables.near).iter().enumerate() {
        for &(t, count) in near {
            let local = groups.of[s] == groups.of[t as usize];
            let (pairs, all) = &mut within[usize::from(local)];
            (*pairs, *all) = (*pairs + 1, *all + count);
            if !local {
                lines.join(s, t as usize);
            }
        }
    }
    let of: Vec<u32> = (0..groups.of.len()).map(|s| lines.find(s) as u32).collect();
    let mut places: Vec<(u32, u32)> = of.iter().copied().zip(groups.of.iter().copied()).collect();
    places.sort_unstable();
    if places.windows(2).any(|two| two[0] == two[1]) {
        return groups;
    }
    // Lines whose switches are joined less than those of groups are none.
    let of = numbered(&of);
    let possible = |of: &[u32]| {
        let mut size = vec![0u64; of.len()];
        of.iter().for_each(|&g| size[g as usize] += 1);
        size.into_iter().map(|n| n * n.saturating_sub(1)).sum::<u64>()
    };
    let [joined, inside] = within.map(|(pairs, _)| u64::from(pairs));
    if joined * possible(&groups.of) < inside * possible(&of) {
        return groups;
    }
    let Some(others) = describe(fabric, cables, of, false) else { return groups };
    // Cables side by side, a pair of neighbours: between groups, and within.
    let [between, within] = within.map(|(pairs, all)| f64::from(all) / f64::from(pairs.max(1)));
    if within > between {
        return others;
    }
    // One switch of each group in every line.
    if within == between && (others.count * groups.count) as usize == groups.of.len() {
        groups.deviations.push(format!(
            "its cables tell {} groups of {} switches as well: state the groups if these are meant",
            others.count, others.switches_a_group
        ));
    }
    groups
}

/// Who is cabled to whom, dead cables too, and how many neighbours the two have in common.
struct Cables {
    near: Vec<Vec<u32>>,
    shared: Vec<Vec<u32>>,
    /// Of a thousand that are one of the two or a neighbour of either, how many are that of both.
    likeness: Vec<Vec<u32>>,
}

impl Cables {
    fn new(fabric: &Fabric) -> Self {
        let neighbours = |s: SwitchId| {
            let links = fabric.switch_links(s).filter_map(|l| fabric.link_to_switch(l));
            let mut near: Vec<u32> = links.filter(|&t| t != s).map(|t| t.0).collect();
            near.sort_unstable();
            near.dedup();
            near
        };
        let near: Vec<Vec<u32>> = fabric.switches().map(neighbours).collect();
        let mut mark = vec![usize::MAX; near.len()];
        let mut shared = Vec::with_capacity(near.len());
        for (s, mine) in near.iter().enumerate() {
            mine.iter().for_each(|&t| mark[t as usize] = s);
            let common =
                |&t: &u32| near[t as usize].iter().filter(|&&u| mark[u as usize] == s).count() as u32;
            shared.push(mine.iter().map(common).collect());
        }
        // Each end is a neighbour of the other, and stands for itself.
        let like = |s: usize, (&t, &both): (&u32, &u32)| {
            let either = (near[s].len() + near[t as usize].len() + 2) as u32 - (both + 2);
            1000 * (both + 2) / either
        };
        let rows = near.iter().zip(&shared).enumerate();
        let likeness =
            rows.map(|(s, (near, shared))| near.iter().zip(shared).map(|ends| like(s, ends)).collect());
        let likeness = likeness.collect();
        Self { near, shared, likeness }
    }

    /// What hangs together by cables of which a measure is more than `t`.
    fn pieces(&self, measure: &[Vec<u32>], t: u32) -> Vec<Vec<u32>> {
        let mut sets = Sets::new(self.near.len());
        for (s, near) in self.near.iter().enumerate() {
            for (&other, &value) in near.iter().zip(&measure[s]) {
                if value > t {
                    sets.join(s, other as usize);
                }
            }
        }
        let mut members = vec![Vec::new(); self.near.len()];
        (0..self.near.len()).for_each(|s| members[sets.find(s)].push(s as u32));
        members.retain(|piece| !piece.is_empty());
        members
    }

    /// Whether in all pieces so many of a hundred switches, at least, are at most 2 cables from each.
    fn narrow(&self, pieces: &[Vec<u32>], near: usize) -> bool {
        let mut piece_of = vec![0; self.near.len()];
        for (i, piece) in pieces.iter().enumerate() {
            piece.iter().for_each(|&s| piece_of[s as usize] = i);
        }
        let mut seen = vec![u32::MAX; self.near.len()];
        pieces.iter().enumerate().all(|(i, piece)| {
            piece.iter().all(|&s| {
                let inside = |t: &&u32| piece_of[**t as usize] == i;
                let mut reached = 0;
                let mut see = |t: u32| {
                    if seen[t as usize] != s {
                        seen[t as usize] = s;
                        reached += 1;
                    }
                };
                see(s);
                for &t in self.near[s as usize].iter().filter(inside) {
                    see(t);
                    self.near[t as usize].iter().filter(inside).for_each(|&u| see(u));
                }
                100 * reached >= near * piece.len()
            })
        })
    }

    /// The group of every switch: that of its piece, or where most of its neighbours are.
    fn assign_rest(&self, mut pieces: Vec<Vec<u32>>) -> Option<Vec<u32>> {
        // The usual size is that of the piece of the switch in the middle.
        pieces.sort_by_key(|piece| (std::cmp::Reverse(piece.len()), piece[0]));
        let (mut before, all) = (0, self.near.len());
        let usual = pieces.iter().find(|piece| {
            before += piece.len();
            2 * before >= all
        })?;
        let usual = usual.len();
        let groups: Vec<&Vec<u32>> = pieces.iter().filter(|p| p.len() > 1 && 2 * p.len() >= usual).collect();
        let mut of = vec![u32::MAX; all];
        for (i, piece) in groups.iter().enumerate() {
            piece.iter().for_each(|&s| of[s as usize] = i as u32);
        }
        if 100 * of.iter().filter(|&&g| g != u32::MAX).count() < UNAIDED_PERCENT * all {
            return None;
        }
        let settled = of.clone();
        for s in (0..all).filter(|&s| settled[s] == u32::MAX) {
            let mut votes = vec![0; groups.len()];
            let known = self.near[s].iter().map(|&t| settled[t as usize]).filter(|&g| g != u32::MAX);
            known.for_each(|g| votes[g as usize] += 1);
            let best = (0..votes.len()).max_by_key(|&g| (votes[g], std::cmp::Reverse(g)))?;
            of[s] = (votes[best] > 0).then_some(best as u32)?;
        }
        Some(numbered(&of))
    }
}

/// The same groups, numbered by their first switch.
fn numbered(of: &[u32]) -> Vec<u32> {
    let mut number = std::collections::HashMap::new();
    of.iter()
        .map(|&g| {
            let next = number.len() as u32;
            *number.entry(g).or_insert(next)
        })
        .collect()
}

/// What the groups are like, or `None` if they are no dragonfly's. Of stated ones nothing is asked but that there are two.
fn describe(fabric: &Fabric, cables: &Cables, of: Vec<u32>, stated: bool) -> Option<Groups> {
    let count = of.iter().max().map_or(0, |&g| g as usize + 1);
    let mut sizes = vec![0usize; count];
    of.iter().for_each(|&g| sizes[g as usize] += 1);
    let usual = usual(&sizes)?;
    let even = sizes.iter().filter(|&&size| size == usual).count();
    if count < 2 || (!stated && 100 * even < USUAL_SIZE_PERCENT * count) {
        return None;
    }
    // Pairs of switches of a group that are neighbours, and those whose cables all died; cables a pair of groups.
    let (mut adjacent, mut apart) = (0usize, 0usize);
    let mut built = std::collections::BTreeMap::new();
    for s in fabric.switches() {
        let mut inside: Vec<(SwitchId, bool)> = Vec::new();
        for l in fabric.switch_links(s) {
            let Some(t) = fabric.link_to_switch(l).filter(|&t| t.0 > s.0) else { continue };
            let (a, b) = (of[s.index()].min(of[t.index()]), of[s.index()].max(of[t.index()]));
            if a == b {
                inside.push((t, fabric.alive(l)));
            } else {
                let (all, alive) = built.entry((a, b)).or_insert((0u32, 0u32));
                (*all, *alive) = (*all + 1, *alive + u32::from(fabric.alive(l)));
            }
        }
        inside.sort_unstable_by_key(|&(t, alive)| (t, !alive));
        inside.dedup_by_key(|&mut (t, _)| t);
        adjacent += inside.len();
        apart += inside.iter().filter(|&&(_, alive)| !alive).count();
    }
    let within: usize = sizes.iter().map(|&n| n * (n - 1) / 2).sum();
    let between = count * (count - 1) / 2;
    let loose = 100 * adjacent < ADJACENT_PERCENT * within || 100 * built.len() < JOINED_PERCENT * between;
    if loose && !stated {
        return None;
    }
    let grid = grid::find(&cables.near, &of, count);
    let joining: Vec<u32> = built.values().map(|&(_, alive)| alive).collect();
    let absent = built.len() < between;
    let least = if absent { 0 } else { joining.iter().copied().min().unwrap_or(0) };
    let most = joining.iter().copied().max().unwrap_or(0);

    let mut deviations = Vec::new();
    if let Some(odd) = sizes.iter().position(|&size| size != usual) {
        let (others, size) = (sizes.iter().filter(|&&size| size != usual).count(), sizes[odd]);
        deviations
            .push(format!("groups without {usual} switches: {others}, such as group {odd} with {size}"));
    }
    let split = self::apart(cables, &of, count);
    if let Some(&(s, _)) = split.first() {
        let (number, group) = (split.len(), of[s.index()]);
        deviations.push(format!(
            "groups whose cables do not join all of their switches: {number}, such as group {group}"
        ));
    }
    // Groups of one hop lack what no cable joins, grids what none of a line joins, others only what died.
    let lacking = match &grid {
        Some(grid) => grid.pairs() - adjacent + apart,
        None if are_rings(cables, &of, &sizes) => sizes.len() * 4 - adjacent + apart,
        None if 2 * adjacent > within => within - adjacent + apart,
        None => apart,
    };
    if lacking > 0 {
        let place = if grid.is_some() { "row or column" } else { "group" };
        deviations.push(format!("pairs of switches of one {place} that no working cable joins: {lacking}"));
    }
    let common = usual_of(&joining).unwrap_or(0);
    let mut pairs = (0..count as u32).flat_map(|a| (a + 1..count as u32).map(move |b| (a, b)));
    let number = |pair: &(u32, u32)| built.get(pair).map_or(0, |&(_, alive)| alive);
    let fewer = pairs.clone().filter(|pair| number(pair) < common).count();
    if let Some((a, b)) = pairs.find(|pair| number(pair) < common) {
        let found = number(&(a, b));
        deviations.push(match common {
            1 => format!("pairs of groups that no working cable joins: {fewer}, such as groups {a} and {b}"),
            _ => format!(
                "pairs of groups that fewer than {common} working cables join: {fewer}, such as groups {a} and {b} by {found}"
            ),
        });
    }
    let arrangement = arrangement(
        fabric,
        &of,
        count,
        usual_of(&built.values().map(|b| b.0).collect::<Vec<_>>()).unwrap_or(0),
        |_| true,
    );
    let (count, switches_a_group) = (count as u32, usual as u32);
    let global_cables = (least, most);
    Some(Groups { of, count, switches_a_group, global_cables, arrangement, grid, deviations })
}

/// Whether groups have four switches, most of them in a ring: grids of two rows and two columns.
fn are_rings(cables: &Cables, of: &[u32], sizes: &[usize]) -> bool {
    let mut in_ring = vec![0; sizes.len()];
    for (s, near) in cables.near.iter().enumerate() {
        let inside = near.iter().filter(|&&t| of[t as usize] == of[s]).count();
        if inside > 2 {
            return false;
        }
        in_ring[of[s] as usize] += usize::from(inside == 2);
    }
    sizes.iter().all(|&size| size == 4) && 2 * in_ring.iter().filter(|&&n| n == 4).count() >= sizes.len()
}

/// The size that most groups have.
fn usual(sizes: &[usize]) -> Option<usize> {
    usual_of(&sizes.iter().map(|&n| n as u32).collect::<Vec<_>>()).map(|n| n as usize)
}

/// The number that comes most often; the largest of these.
pub(crate) fn usual_of(numbers: &[u32]) -> Option<u32> {
    let mut counts = std::collections::BTreeMap::new();
    numbers.iter().for_each(|&n| *counts.entry(n).or_insert(0) += 1);
    counts.into_iter().max_by_key(|&(n, times)| (times, n)).map(|(n, _)| n)
}

/// The arrangement by which nine of ten global cables leave the switch that they should, of those that have some.
pub(crate) fn arrangement(
    fabric: &Fabric,
    of: &[u32],
    groups: usize,
    links: u32,
    has_some: impl Fn(SwitchId) -> bool,
) -> Option<Arrangement> {
    // Global cables of every switch, as (number of the switch among those of its group, target group).
    let mut number = vec![0usize; of.len()];
    let mut next = vec![0usize; groups];
    for (s, &g) in of.iter().enumerate().filter(|&(s, _)| has_some(SwitchId::from_index(s))) {
        number[s] = next[g as usize];
        next[g as usize] += 1;
    }
    let mut ends: Vec<(usize, usize, usize)> = Vec::new();
    let mut ports = 0;
    for s in fabric.switches() {
        let group = of[s.index()];
        let leaves = fabric.switch_links(s).filter_map(|l| fabric.link_to_switch(l)).map(|t| of[t.index()]);
        let before = ends.len();
        ends.extend(leaves.filter(|&t| t != group).map(|t| (group as usize, number[s.index()], t as usize)));
        ports = ports.max(ends.len() - before);
    }
    let fits = |&arrangement: &Arrangement| {
        // Whether a global port of this switch leads to the target.
        let place = |group: usize, switch: usize, target: usize| {
            (0..links as usize * (groups - 1))
                .skip(switch * ports)
                .take(ports)
                .any(|port| arrangement.target(group, port % (groups - 1), groups) == target)
        };
        let right = ends.iter().filter(|&&(group, switch, target)| place(group, switch, target)).count();
        10 * right >= 9 * ends.len()
    };
    Arrangement::ALL.into_iter().find(|arrangement| fits(arrangement))
}
