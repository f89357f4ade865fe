//! Members of communicators, from the calls that made them: the k-th call on a communicator is one call of all of
//! its members.
//!
//! A Cartesian grid keeps the order of ranks, as MPICH and Open MPI do. Communicators between two groups, of a
//! graph, and of groups that were united or intersected are not known; who uses them is told so.
//!
//! Invariant: the members of all communicators together are no more than the ranks and the calls.

use std::collections::BTreeMap;

/// The world as a rank numbers its communicators; 2 and on are those that it made, in order.
pub(super) const WORLD: u32 = 0;
/// The rank alone.
pub(super) const ALONE: u32 = 1;

/// What a rank asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Made {
    /// The same members.
    Copy,
    /// Those of its color, by key.
    Split { color: i64, key: i64 },
    /// Some members of a communicator of this rank, by their places in it.
    Group { of: u32, places: Vec<u32> },
    /// A grid of the first members.
    Grid { dims: Vec<u32> },
    /// Rows of a grid: the dimensions that are kept.
    Rows { kept: Vec<bool> },
    /// Something whose members are not told.
    Untold,
}

/// A call that made a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Making {
    /// On which of the rank's communicators.
    pub parent: u32,
    /// What.
    pub made: Made,
}

/// Communicators of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Known {
    /// World ranks of the members, in their order; the world is the first.
    pub members: Vec<Vec<u32>>,
    /// By rank: which of these each of its own communicators is, if that is known.
    pub of_rank: Vec<Vec<Option<u32>>>,
}

struct Grid {
    dims: Vec<u32>,
}

/// Finds out who the members of all communicators are.
pub(super) fn known(ranks: u32, makings: &[Vec<Making>], alone: &[bool]) -> Known {
    let mut found = Known {
        members: vec![(0..ranks).collect()],
        of_rank: makings.iter().map(|own| vec![None; own.len() + 2]).collect(),
    };
    let mut grids: Vec<Option<Grid>> = vec![None];
    for own in &mut found.of_rank {
        own[WORLD as usize] = Some(0);
    }
    // Which number a member has for each communicator, in the order of members.
    let mut numbers: Vec<Vec<u32>> = vec![vec![WORLD; ranks as usize]];
    // The calls of each rank by the communicator that they were on.
    let on: Vec<BTreeMap<u32, Vec<u32>>> = makings
        .iter()
        .map(|own| {
            let mut on: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for (number, making) in (2..).zip(own) {
                on.entry(making.parent).or_default().push(number);
            }
            on
        })
        .collect();
    let mut next = 0;
    while next < found.members.len() {
        let members = found.members[next].clone();
        let calls: Vec<&[u32]> = members
            .iter()
            .zip(&numbers[next])
            .map(|(&rank, own)| on[rank as usize].get(own).map_or(&[][..], Vec::as_slice))
            .collect();
        for k in 0..calls.iter().map(|own| own.len()).min().unwrap_or(0) {
            let own: Vec<u32> = calls.iter().map(|own| own[k]).collect();
            let made: Vec<&Made> = members
                .iter()
                .zip(&own)
                .map(|(&rank, &number)| &makings[rank as usize][number as usize - 2].made)
                .collect();
            for (places, grid) in parts(&made, &members, grids[next].as_ref(), &found) {
                let number = found.members.len() as u32;
                for &place in &places {
                    let rank = members[place as usize] as usize;
                    found.of_rank[rank][own[place as usize] as usize] = Some(number);
                }
                numbers.push(places.iter().map(|&place| own[place as usize]).collect());
                found.members.push(places.iter().map(|&place| members[place as usize]).collect());
                grids.push(grid);
            }
        }
        next += 1;
    }
    for (rank, _) in (0..ranks).zip(alone).filter(|(_, alone)| **alone) {
        found.of_rank[rank as usize][ALONE as usize] = Some(found.members.len() as u32);
        found.members.push(vec![rank]);
    }
    found
}

/// The communicators that one call of all members makes, as places among these.
fn parts(
    made: &[&Made],
    members: &[u32],
    grid: Option<&Grid>,
    found: &Known,
) -> Vec<(Vec<u32>, Option<Grid>)> {
    let all = || (0..members.len() as u32).collect::<Vec<_>>();
    match made[0] {
        Made::Copy if made.iter().all(|one| **one == Made::Copy) => {
            vec![(all(), grid.map(|grid| Grid { dims: grid.dims.clone() }))]
        }
        Made::Split { .. } => {
            let mut by_color: BTreeMap<i64, Vec<(i64, u32)>> = BTreeMap::new();
            for (place, one) in (0..).zip(made) {
                match **one {
                    Made::Split { color, key } if color >= 0 => {
                        by_color.entry(color).or_default().push((key, place));
                    }
                    Made::Split { .. } => {}
                    _ => return Vec::new(),
                }
            }
            let sorted = |mut own: Vec<(i64, u32)>| {
                own.sort_unstable();
                (own.into_iter().map(|(_, place)| place).collect(), None)
            };
            by_color.into_values().map(sorted).collect()
        }
        Made::Group { .. } => {
            // Each group is told by its own members: several may be made by one call.
            let place_of: BTreeMap<u32, u32> = members.iter().copied().zip(0..).collect();
            let mut groups: Vec<Vec<u32>> = Vec::new();
            for (rank, one) in members.iter().zip(made) {
                let Made::Group { of, places } = *one else { return Vec::new() };
                let base = found.of_rank[*rank as usize].get(*of as usize).copied().flatten();
                let Some(base) = base else { return Vec::new() };
                let base = &found.members[base as usize];
                let ranks = places.iter().map(|&place| base.get(place as usize));
                let group = ranks.map(|rank| place_of.get(rank?).copied()).collect::<Option<Vec<_>>>();
                let Some(group) = group else { return Vec::new() };
                let own = place_of[rank];
                // Only the first member brings it, so that it is made once.
                if group.iter().min() == Some(&own) && groups.iter().all(|other| !other.contains(&own)) {
                    groups.push(group);
                }
            }
            groups.into_iter().filter(|group| differ(group)).map(|group| (group, None)).collect()
        }
        Made::Grid { dims } => {
            let cells = dims.iter().try_fold(1u32, |cells, &dim| cells.checked_mul(dim));
            let cells = cells.filter(|&cells| cells > 0 && cells as usize <= members.len());
            let of_all = made.iter().all(|one| matches!(one, Made::Grid { dims: own } if own == dims));
            match cells {
                Some(cells) if of_all => vec![((0..cells).collect(), Some(Grid { dims: dims.clone() }))],
                _ => Vec::new(),
            }
        }
        Made::Rows { kept } => {
            let of_all = made.iter().all(|one| matches!(one, Made::Rows { kept: own } if own == kept));
            let Some(grid) = grid.filter(|grid| of_all && grid.dims.len() == kept.len()) else {
                return Vec::new();
            };
            let mut rows: BTreeMap<Vec<u32>, Vec<u32>> = BTreeMap::new();
            for place in all() {
                let (mut rest, mut dropped) = (place, Vec::new());
                for (&dim, &kept) in grid.dims.iter().zip(kept).rev() {
                    if !kept {
                        dropped.push(rest % dim);
                    }
                    rest /= dim;
                }
                rows.entry(dropped).or_default().push(place);
            }
            let dims = || grid.dims.iter().zip(kept).filter(|(_, kept)| **kept).map(|(&dim, _)| dim);
            rows.into_values().map(|row| (row, Some(Grid { dims: dims().collect() }))).collect()
        }
        Made::Copy | Made::Untold => Vec::new(),
    }
}

fn differ(group: &[u32]) -> bool {
    let mut sorted = group.to_vec();
    sorted.sort_unstable();
    sorted.windows(2).all(|pair| pair[0] != pair[1])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(parent: u32, made: Made) -> Making {
        Making { parent, made }
    }

    #[test]
    fn a_split_sorts_by_key_and_its_parts_are_split_again() {
        // Odd ranks in reverse; then the even ones apart, which are 0 and 2.
        let split = |rank: i64| Made::Split { color: rank % 2, key: if rank % 2 == 1 { -rank } else { 0 } };
        let makings: Vec<Vec<Making>> = (0..4)
            .map(|rank| {
                let mut own = vec![on(WORLD, split(rank))];
                if rank % 2 == 0 {
                    own.push(on(2, Made::Split { color: rank, key: 0 }));
                }
                own
            })
            .collect();
        let found = known(4, &makings, &[false, true, false, false]);
        assert_eq!(
            found.members,
            [vec![0, 1, 2, 3], vec![0, 2], vec![3, 1], vec![0], vec![2], vec![1]],
            "the last is rank 1 alone"
        );
        assert_eq!(found.of_rank[2], [Some(0), None, Some(1), Some(4)]);
        assert_eq!(found.of_rank[1], [Some(0), Some(5), Some(2)]);
    }

    #[test]
    fn rows_and_columns_of_a_grid() {
        let makings = vec![
            vec![
                on(WORLD, Made::Grid { dims: vec![2, 3] }),
                on(2, Made::Rows { kept: vec![false, true] }),
                on(2, Made::Rows { kept: vec![true, false] }),
                on(4, Made::Copy),
            ];
            6
        ];
        let found = known(6, &makings, &[]);
        let expected: Vec<Vec<u32>> = vec![
            (0..6).collect(),
            (0..6).collect(),
            vec![0, 1, 2],
            vec![3, 4, 5],
            vec![0, 3],
            vec![1, 4],
            vec![2, 5],
            vec![0, 3],
            vec![1, 4],
            vec![2, 5],
        ];
        assert_eq!(found.members, expected);
    }

    #[test]
    fn a_group_is_of_places_and_what_is_not_told_stays_unknown() {
        let group = |places: &[u32]| Made::Group { of: WORLD, places: places.to_vec() };
        let makings = vec![vec![on(WORLD, group(&[2, 0])), on(WORLD, Made::Untold)]; 3];
        let found = known(3, &makings, &[]);
        assert_eq!(found.members, [vec![0, 1, 2], vec![2, 0]]);
        assert_eq!(found.of_rank[0], [Some(0), None, Some(1), None]);
        assert_eq!(found.of_rank[1], [Some(0), None, None, None]);
    }
}
