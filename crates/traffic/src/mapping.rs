//! Which rank goes where within an allocation.
//!
//! An allocation is a list of hosts with `ranks_per_host` slots each. Block, tiled and fill-leaves order
//! the ranks and hand the slots out host after host; cyclic mappings deal ranks out round robin. Every
//! host gets at most `ranks_per_host` ranks.
//!
//! Source: Taffet, dissertation, sec. 2.5 (two-level tiling: 3x3x4 ranks a host, 4x4x2 hosts a leaf) and
//! 3.5.1 (block).

use std::collections::HashMap;

use netloom_model::rng::{Stream, shuffle};
use netloom_model::{Fabric, HostId, Mapping};

use crate::PlaceError;
use crate::grid::Grid;

/// What a mapping needs to know.
pub(crate) struct Request<'a> {
    pub job: &'a str,
    pub ranks: usize,
    pub ranks_per_host: usize,
    /// Process grid, x fastest; empty if there is none.
    pub grid: &'a [u32],
    /// One host name a rank, for [`Mapping::File`].
    pub rank_hosts: Option<&'a [String]>,
}

/// The host of every rank. `hosts` are in allocation order and offer enough slots.
pub(crate) fn map(
    fabric: &Fabric,
    hosts: &[HostId],
    mapping: &Mapping,
    request: &Request,
    random: &mut Stream,
) -> Result<Vec<HostId>, PlaceError> {
    let (ranks, per_host) = (request.ranks, request.ranks_per_host);
    debug_assert!(hosts.len() * per_host >= ranks);
    let block = |hosts: &[HostId]| (0..ranks).map(|rank| hosts[rank / per_host]).collect::<Vec<_>>();
    Ok(match mapping {
        Mapping::Block => block(hosts),
        Mapping::Cyclic => (0..ranks).map(|rank| hosts[rank % hosts.len()]).collect(),
        Mapping::CyclicInLeaf => cyclic_in_leaf(fabric, hosts, ranks, per_host),
        Mapping::Random => {
            let mut slots = block(hosts);
            shuffle(random, &mut slots);
            slots
        }
        Mapping::Tiled(levels) => {
            let order = tile_order(levels, request)?;
            let mut host_of_rank = vec![HostId(0); ranks];
            for (slot, rank) in order.into_iter().enumerate() {
                host_of_rank[rank as usize] = hosts[slot / per_host];
            }
            host_of_rank
        }
        Mapping::FillLeaves(first) => block(&fill_leaves(fabric, hosts, first, request.job)?),
        Mapping::File(_) => from_file(fabric, hosts, request)?,
    })
}

/// The allocation's hosts leaf by leaf, leaves in the order of their first host.
fn by_leaf(fabric: &Fabric, hosts: &[HostId]) -> Vec<Vec<HostId>> {
    let mut position = HashMap::new();
    let mut leaves: Vec<Vec<HostId>> = Vec::new();
    for &host in hosts {
        let at = *position.entry(fabric.leaf(host)).or_insert(leaves.len());
        if at == leaves.len() {
            leaves.push(Vec::new());
        }
        leaves[at].push(host);
    }
    leaves
}

/// Each leaf gets the next block of ranks, dealt out round robin over its hosts.
fn cyclic_in_leaf(fabric: &Fabric, hosts: &[HostId], ranks: usize, per_host: usize) -> Vec<HostId> {
    let mut host_of_rank = Vec::with_capacity(ranks);
    for leaf in by_leaf(fabric, hosts) {
        let share = (leaf.len() * per_host).min(ranks - host_of_rank.len());
        host_of_rank.extend((0..share).map(|rank| leaf[rank % leaf.len()]));
    }
    host_of_rank
}

/// The hosts with those of the leaves `first` (counted within the allocation, from 0) in front.
fn fill_leaves(
    fabric: &Fabric,
    hosts: &[HostId],
    first: &[u32],
    job: &str,
) -> Result<Vec<HostId>, PlaceError> {
    let mut leaves: Vec<Option<Vec<HostId>>> = by_leaf(fabric, hosts).into_iter().map(Some).collect();
    let count = leaves.len();
    let mut order = Vec::with_capacity(hosts.len());
    for &leaf in first {
        match leaves.get_mut(leaf as usize).and_then(Option::take) {
            Some(hosts) => order.extend(hosts),
            None => return Err(PlaceError::Leaf { job: job.into(), leaf, count }),
        }
    }
    order.extend(leaves.into_iter().flatten().flatten());
    Ok(order)
}

/// The ranks tile by tile: outermost tile first, x fastest at every level. Tiles at the edges may be cut.
fn tile_order(levels: &[Vec<u32>], request: &Request) -> Result<Vec<u32>, PlaceError> {
    let job = || request.job.to_owned();
    if request.grid.is_empty() {
        return Err(PlaceError::NoGrid { job: job() });
    }
    let grid = Grid { sizes: request.grid.to_vec() };
    if grid.points().map(|n| n as usize) != Some(request.ranks) {
        return Err(PlaceError::GridSize { job: job(), grid: times(&grid.sizes), ranks: request.ranks });
    }
    if let Some(tile) = levels.iter().find(|tile| tile.len() != grid.sizes.len()) {
        return Err(PlaceError::TileShape { job: job(), tile: times(tile), grid: times(&grid.sizes) });
    }
    let key = |rank: u32| -> Vec<u32> {
        let mut coordinates = grid.coordinates(rank);
        // Innermost place first; the sort looks at the outermost first.
        let mut key: Vec<u32> = Vec::with_capacity((levels.len() + 1) * coordinates.len());
        for tile in levels {
            key.extend(coordinates.iter().zip(tile).map(|(c, size)| c % size));
            coordinates.iter_mut().zip(tile).for_each(|(c, size)| *c /= size);
        }
        key.extend(coordinates);
        key.reverse();
        key
    };
    let mut order: Vec<u32> = (0..request.ranks as u32).collect();
    order.sort_by_cached_key(|&rank| key(rank));
    Ok(order)
}

/// A list of host names, one a rank, all within the allocation.
fn from_file(fabric: &Fabric, hosts: &[HostId], request: &Request) -> Result<Vec<HostId>, PlaceError> {
    let job = || request.job.to_owned();
    let names = request.rank_hosts.unwrap_or_default();
    if names.len() != request.ranks {
        return Err(PlaceError::MappingLength { job: job(), ranks: request.ranks, names: names.len() });
    }
    let mut slots: HashMap<&str, Vec<HostId>> = HashMap::new();
    for &host in hosts {
        slots.entry(fabric.host_name(host)).or_default().push(host);
        if fabric.machine(host) != fabric.host_name(host) {
            slots.entry(fabric.machine(host)).or_default().push(host);
        }
    }
    let mut used: HashMap<HostId, usize> = HashMap::new();
    let mut host_of_rank = Vec::with_capacity(request.ranks);
    for (rank, name) in names.iter().enumerate() {
        let Some(candidates) = slots.get(name.as_str()) else {
            return Err(PlaceError::MappingHost { job: job(), rank, host: name.clone() });
        };
        let free = candidates
            .iter()
            .copied()
            .find(|host| used.get(host).is_none_or(|&n| n < request.ranks_per_host));
        let Some(host) = free else {
            return Err(PlaceError::MappingFull {
                job: job(),
                rank,
                host: name.clone(),
                ranks_per_host: request.ranks_per_host,
            });
        };
        *used.entry(host).or_default() += 1;
        host_of_rank.push(host);
    }
    Ok(host_of_rank)
}

fn times(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(ranks: usize, grid: &'a [u32]) -> Request<'a> {
        Request { job: "j", ranks, ranks_per_host: 1, grid, rank_hosts: None }
    }

    #[test]
    fn tiles_come_x_fastest() {
        // A 4x2 grid in 2x2 tiles: 0 1 | 2 3
        //                          4 5 | 6 7
        let order = tile_order(&[vec![2, 2]], &request(8, &[4, 2])).unwrap();
        assert_eq!(order, [0, 1, 4, 5, 2, 3, 6, 7]);
    }

    #[test]
    fn tiles_of_tiles_are_counted_in_tiles() {
        // An 8x1 line, 2 ranks a host, 2 hosts a leaf: nothing moves. 4x2: hosts are columns of two.
        assert_eq!(tile_order(&[vec![2], vec![2]], &request(8, &[8])).unwrap(), (0..8).collect::<Vec<_>>());
        let order = tile_order(&[vec![1, 2], vec![2, 1]], &request(8, &[4, 2])).unwrap();
        assert_eq!(order, [0, 4, 1, 5, 2, 6, 3, 7]);
    }

    #[test]
    fn tiles_at_the_edges_are_cut() {
        // A 3x2 grid in 2x2 tiles: 0 1 | 2 / 3 4 | 5.
        let order = tile_order(&[vec![2, 2]], &request(6, &[3, 2])).unwrap();
        assert_eq!(order, [0, 1, 3, 4, 2, 5]);
    }

    #[test]
    fn tiles_need_a_grid_that_fits() {
        let refusal = |tile: &[u32], ranks, grid: &[u32]| {
            tile_order(&[tile.to_vec()], &request(ranks, grid)).unwrap_err().to_string()
        };
        assert!(refusal(&[2, 2], 8, &[]).contains("grid = "));
        assert!(refusal(&[2, 2], 9, &[4, 2]).contains("has 9 ranks, its grid 4x2"));
        assert!(refusal(&[2], 8, &[4, 2]).contains("tiles of 2"));
    }
}
