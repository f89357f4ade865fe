//! Dimension order on a HyperX, a mesh or a torus: packets correct one coordinate after the other.
//!
//! Ways are minimal: in a dimension that is a clique one cable, in a path the steps between two places, in a ring the
//! shorter way round. Of places half a ring apart, those whose lower place is even go over the way that does not cross
//! the *dateline*, the cable from a ring's last place to its first; the others cross it. So both directions of a pair
//! take the same cables. Several cables side by side get destinations in turn.
//!
//! Cliques and paths need one lane: coordinates are corrected in one order, and in one dimension packets of one direction
//! never come back. In a ring packets that cross the dateline are on lane 1 from its beginning to its end, all others on
//! lane 0. None of lane 0 crosses, so no circle closes there; and of those of lane 1 none goes more than half round, so
//! that its waits end before they meet themselves. A switch can't know from its ports who will cross. So the service level
//! of a pair has a bit for each ring that tells, and the lane of a link is the bit of its dimension: two lanes, and 2^r
//! levels with r rings. The same for both directions, as a connection has one level. What hosts send to switches' own LIDs has
//! level 0 unless somebody says otherwise, so these are reached without crossing a dateline.
//!
//! Sources: W. J. Dally, C. L. Seitz, "Deadlock-free message routing in multiprocessor interconnection networks", IEEE
//! Trans. Comput. C-36 (1987), for dimension order and datelines; OpenSM's torus-2QoS (`torus-2QoS(8)`) for bits of the
//! level that name the dateline. Where it differs: any number of dimensions, rings up to four; no way round a failed switch.

use netloom_model::{
    Fabric, HostId, LaneMap, LevelGroups, Levels, LinkId, NO_PORT, Routes, SERVICE_LEVELS, SwitchId,
};
use netloom_topology::{Coordinates, Line, Structure, coordinates};

use crate::context::EngineOptions;
use crate::error::RoutingError;
use crate::tables;

/// Routes in dimension order, with datelines where dimensions are rings.
///
/// # Errors
/// [`RoutingError::NotLattice`] where switches have no coordinates, two neighbours are joined by no working cable, or there
/// are more rings than service levels can tell; [`RoutingError::Lmc`] for an LMC above 7.
pub fn dor(fabric: &Fabric, structure: &Structure, options: &EngineOptions) -> Result<Routes, RoutingError> {
    tables::check_lmc(options.lmc)?;
    let found;
    let places = match structure.shape.coordinates() {
        Some(places) => places,
        None => {
            found = coordinates(fabric);
            let none = || RoutingError::NotLattice(format!("its shape is {}", structure.shape));
            found.as_ref().ok_or_else(none)?
        }
    };
    if let Some((s, t)) = places.first_apart(fabric) {
        let (s, t) = (fabric.switch_name(s), fabric.switch_name(t));
        return Err(RoutingError::NotLattice(format!("no working cable joins \"{s}\" and \"{t}\"")));
    }
    let rings: Vec<usize> =
        (0..places.dimensions.len()).filter(|&d| places.dimensions[d].line == Line::Ring).collect();
    if 1 << rings.len() > u32::from(SERVICE_LEVELS) {
        let count = rings.len();
        return Err(RoutingError::NotLattice(format!(
            "{count} rings need 2^{count} service levels, and there are {SERVICE_LEVELS}"
        )));
    }
    let routes = Routes::by_dest(fabric, options.lmc, table(fabric, places, options.lmc));
    if rings.is_empty() { Ok(routes) } else { Ok(routes.with_lanes(lanes(fabric, places, &rings)?)) }
}

/// The next switch from one to another; `open`: never over a dateline.
fn next(places: &Coordinates, from: SwitchId, to: SwitchId, open: bool) -> Option<SwitchId> {
    let (here, there) = (places.of(from), places.of(to));
    let d = (0..here.len()).find(|&d| here[d] != there[d])?;
    let (at, goal, size) = (here[d], there[d], places.dimensions[d].size);
    let place = match places.dimensions[d].line {
        Line::Clique => goal,
        Line::Ring if open && goal > at => at + 1,
        Line::Ring if open => at - 1,
        Line::Path if goal > at => at + 1,
        Line::Path => at - 1,
        Line::Ring if goes_up(at, goal, size) => (at + 1) % size,
        Line::Ring => (at + size - 1) % size,
    };
    Some(places.moved(from, d, place))
}

/// Whether the way round a ring goes to higher places.
fn goes_up(at: u32, to: u32, size: u32) -> bool {
    let up = (to + size - at) % size;
    match (2 * up).cmp(&size) {
        std::cmp::Ordering::Less => true,
        std::cmp::Ordering::Greater => false,
        // Not over the dateline if the lower place is even.
        std::cmp::Ordering::Equal => (at < to) == at.min(to).is_multiple_of(2),
    }
}

/// Whether the way round a ring crosses the dateline.
fn crosses(at: u32, to: u32, size: u32) -> bool {
    at != to && goes_up(at, to, size) != (at < to)
}

fn table(fabric: &Fabric, places: &Coordinates, lmc: u8) -> netloom_model::Lft {
    let space = fabric.dests(lmc);
    tables::build(fabric, space.count(), |s, row| {
        // Working links to every neighbour, and how many destinations they have.
        let mut links: Vec<(SwitchId, Vec<LinkId>, usize)> = Vec::new();
        for link in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
            let Some(t) = fabric.link_to_switch(link) else { continue };
            match links.iter_mut().find(|(other, ..)| *other == t) {
                Some((_, own, _)) => own.push(link),
                None => links.push((t, vec![link], 0)),
            }
        }
        let place = |t: SwitchId, open: bool| {
            let via = next(places, s, t, open)?;
            links.iter().position(|&(other, ..)| other == via)
        };
        let [to, to_switch] =
            [false, true].map(|open| fabric.switches().map(|t| place(t, open)).collect::<Vec<_>>());
        let live = |&h: &HostId| fabric.alive(fabric.host_link(h));
        for host in fabric.hosts().filter(live) {
            let (own, leaf) = (fabric.host_link(host), fabric.leaf(host));
            let slot = |path| space.host(host, path).index();
            if leaf == s {
                let port = fabric.link_port(fabric.reverse(own));
                (0..1 << lmc).for_each(|path| row[slot(path)] = port);
            } else if let Some(at) = to[leaf.index()] {
                let (_, side, used) = &mut links[at];
                for path in 0..1 << lmc {
                    row[slot(path)] = fabric.link_port(side[(*used + path as usize) % side.len()]);
                }
                *used += 1;
            }
        }
        for t in fabric.switches() {
            let port = match to_switch[t.index()] {
                _ if t == s => 0,
                Some(at) => fabric.link_port(links[at].1[t.index() % links[at].1.len()]),
                None => NO_PORT,
            };
            row[space.switch(t).index()] = port;
        }
    })
}

/// Lane 1 for links of a ring, where the level says that the dateline is crossed; levels by pairs of switches.
fn lanes(fabric: &Fabric, places: &Coordinates, rings: &[usize]) -> Result<LaneMap, RoutingError> {
    let ring_of = |link: LinkId| {
        let (s, t) = fabric.link_from_switch(link).zip(fabric.link_to_switch(link))?;
        rings.iter().position(|&d| places.of(s)[d] != places.of(t)[d])
    };
    let ring: Vec<Option<usize>> = fabric.links().map(ring_of).collect();
    let map = LaneMap::new(fabric, |via, out, level| match (via, ring[out.index()]) {
        (Some(_), Some(ring)) => level >> ring & 1,
        _ => 0,
    });
    let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    let count = u16::try_from(leaves.len()).map_err(|_| {
        let text = format!(
            "service levels of pairs of {} switches with hosts: expected at most 65535",
            leaves.len()
        );
        RoutingError::NotLattice(text)
    })?;
    let mut number = vec![0u16; fabric.switch_count()];
    (0..count).for_each(|i| number[leaves[usize::from(i)].index()] = i);
    let level = |from: SwitchId, to: SwitchId| {
        let bit = |(i, &d): (usize, &usize)| {
            u8::from(crosses(places.of(from)[d], places.of(to)[d], places.dimensions[d].size)) << i
        };
        rings.iter().enumerate().map(bit).sum::<u8>()
    };
    let level = leaves.iter().flat_map(|&from| leaves.iter().map(move |&to| level(from, to))).collect();
    let group = fabric.hosts().map(|h| number[fabric.leaf(h).index()]).collect();
    Ok(map.with_levels(Levels::Groups(LevelGroups::by_groups(group, count, level))))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand, of six places: 0 to 3 and 2 to 5 are half a ring apart with an even lower place, 1 to 4 is not.
    #[test]
    fn both_directions_of_a_pair_go_the_same_way_round() {
        assert!(goes_up(0, 3, 6) && !crosses(0, 3, 6) && !crosses(3, 0, 6));
        assert!(!goes_up(1, 4, 6) && crosses(1, 4, 6) && crosses(4, 1, 6));
        assert!(goes_up(2, 5, 6) && !crosses(2, 5, 6));
        assert!(goes_up(5, 1, 6) && crosses(5, 1, 6) && crosses(1, 5, 6) && !crosses(4, 5, 6));
        for size in 5..10 {
            for (at, to) in (0..size).flat_map(|at| (0..size).map(move |to| (at, to))) {
                assert_eq!(crosses(at, to, size), crosses(to, at, size), "{at} {to} of {size}");
                if at != to {
                    assert_ne!(goes_up(at, to, size), goes_up(to, at, size), "{at} {to} of {size}");
                }
            }
        }
    }
}
