//! Which rank goes where within an allocation.
//!
//! An allocation is a list of machines with `ranks_per_host` slots each. Block, tiled and fill-leaves order
//! the ranks and hand the slots out machine after machine; cyclic mappings deal ranks out round robin. Every
//! machine gets at most `ranks_per_host` ranks. What a rank is on its machine, by rank order, says which adapter it uses
//! ([`Machine::host_of`]). A machine is on the leaf of its first adapter.
//!
//! Source: Taffet, dissertation, sec. 2.5 (two-level tiling: 3x3x4 ranks a host, 4x4x2 hosts a leaf) and
//! 3.5.1 (block).

use std::collections::HashMap;

use netloom_model::rng::{Stream, shuffle};
use netloom_model::{Fabric, HostId, Machine, Mapping};

use crate::PlaceError;
use crate::grid::Grid;

/// What a mapping needs to know.
pub(crate) struct Request<'a> {
    pub job: &'a str,
    pub ranks: usize,
    pub ranks_per_host: usize,
    /// Whether machines get as many ranks as each other, give or take one; else as many as they take, one after another.
    pub even: bool,
    /// Process grid, x fastest; empty if there is none.
    pub grid: &'a [u32],
    /// The name of a machine, adapter or host for every rank, for [`Mapping::File`].
    pub rank_hosts: Option<&'a [String]>,
}

/// The host of every rank. `machines` are in allocation order and offer enough slots.
pub(crate) fn map(
    fabric: &Fabric,
    machines: &[Machine],
    mapping: &Mapping,
    request: &Request,
    random: &mut Stream,
) -> Result<Vec<HostId>, PlaceError> {
    let (ranks, per_host) = (request.ranks, request.ranks_per_host);
    let count = machines.len();
    debug_assert!(count * per_host >= ranks);
    let in_order: Vec<usize> = (0..count).collect();
    // Of an even share, what is left over goes to the first machines, as Slurm does it.
    let places = |machine: usize| match request.even {
        true => ranks / count + usize::from(machine < ranks % count),
        false => per_host,
    };
    let block = |order: &[usize]| {
        let slots = order.iter().flat_map(|&machine| std::iter::repeat_n(machine, places(machine)));
        slots.take(ranks).collect::<Vec<_>>()
    };
    let machine_of_rank = match mapping {
        Mapping::Block => block(&in_order),
        Mapping::Cyclic => (0..ranks).map(|rank| rank % count).collect(),
        Mapping::CyclicInLeaf => cyclic_in_leaf(fabric, machines, ranks, &places),
        Mapping::Random => {
            let mut slots = block(&in_order);
            shuffle(random, &mut slots);
            slots
        }
        Mapping::Tiled(levels) => {
            let order = tile_order(levels, request)?;
            let mut machine_of_rank = vec![0; ranks];
            for (machine, rank) in block(&in_order).into_iter().zip(order) {
                machine_of_rank[rank as usize] = machine;
            }
            machine_of_rank
        }
        Mapping::FillLeaves(first) => block(&fill_leaves(fabric, machines, first, request.job)?),
        Mapping::File(_) => return from_file(fabric, machines, request),
    };
    let mut local = vec![0; count];
    let host = |machine: usize| {
        local[machine] += 1;
        machines[machine].host_of(local[machine] - 1)
    };
    Ok(machine_of_rank.into_iter().map(host).collect())
}

/// The allocation's machines (by number) leaf by leaf, leaves in the order of their first machine.
fn by_leaf(fabric: &Fabric, machines: &[Machine]) -> Vec<Vec<usize>> {
    let mut position = HashMap::new();
    let mut leaves: Vec<Vec<usize>> = Vec::new();
    for (number, machine) in machines.iter().enumerate() {
        let at = *position.entry(fabric.leaf(machine.first())).or_insert(leaves.len());
        if at == leaves.len() {
            leaves.push(Vec::new());
        }
        leaves[at].push(number);
    }
    leaves
}

/// Each leaf gets the next block of ranks, dealt out round robin over its machines.
fn cyclic_in_leaf(
    fabric: &Fabric,
    machines: &[Machine],
    ranks: usize,
    places: &dyn Fn(usize) -> usize,
) -> Vec<usize> {
    let mut machine_of_rank = Vec::with_capacity(ranks);
    for leaf in by_leaf(fabric, machines) {
        let share: usize = leaf.iter().map(|&machine| places(machine)).sum();
        let share = share.min(ranks - machine_of_rank.len());
        machine_of_rank.extend((0..share).map(|rank| leaf[rank % leaf.len()]));
    }
    machine_of_rank
}

/// The machines (by number) with those of the leaves `first` (counted within the allocation, from 0) in front.
fn fill_leaves(
    fabric: &Fabric,
    machines: &[Machine],
    first: &[u32],
    job: &str,
) -> Result<Vec<usize>, PlaceError> {
    let mut leaves: Vec<Option<Vec<usize>>> = by_leaf(fabric, machines).into_iter().map(Some).collect();
    let count = leaves.len();
    let mut order = Vec::with_capacity(machines.len());
    for &leaf in first {
        match leaves.get_mut(leaf as usize).and_then(Option::take) {
            Some(machines) => order.extend(machines),
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

/// A list of names, one a rank, all within the allocation: of machines, which deal ranks to their adapters, or of adapters and hosts.
fn from_file(fabric: &Fabric, machines: &[Machine], request: &Request) -> Result<Vec<HostId>, PlaceError> {
    let job = || request.job.to_owned();
    let names = request.rank_hosts.unwrap_or_default();
    if names.len() != request.ranks {
        return Err(PlaceError::MappingLength { job: job(), ranks: request.ranks, names: names.len() });
    }
    let mut places = Places::default();
    for (number, machine) in machines.iter().enumerate() {
        for host in machine.hosts() {
            places.add(fabric.host_name(host), number, host);
            if fabric.machine(host) != fabric.host_name(host) {
                places.add(fabric.machine(host), number, host);
            }
        }
    }
    let mut used = vec![0; machines.len()];
    let mut host_of_rank = Vec::with_capacity(request.ranks);
    for (rank, name) in names.iter().enumerate() {
        let Some(candidates) = places.0.get_mut(name.as_str()) else {
            return Err(PlaceError::MappingHost { job: job(), rank, host: name.clone() });
        };
        let Some(place) = candidates.iter_mut().find(|place| used[place.machine] < request.ranks_per_host)
        else {
            return Err(PlaceError::MappingFull {
                job: job(),
                rank,
                host: name.clone(),
                ranks_per_host: request.ranks_per_host,
            });
        };
        let machine = &machines[place.machine];
        host_of_rank.push(if place.hosts.len() == machine.hosts().count() {
            machine.host_of(used[place.machine])
        } else {
            place.hosts[place.turn % place.hosts.len()]
        });
        place.turn += 1;
        used[place.machine] += 1;
    }
    Ok(host_of_rank)
}

/// What names of a mapping file lead to.
#[derive(Default)]
struct Places<'a>(HashMap<&'a str, Vec<NamedPlace>>);

/// Ports of one machine that share a name.
struct NamedPlace {
    machine: usize,
    hosts: Vec<HostId>,
    /// Ranks that were put here by this name.
    turn: usize,
}

impl<'a> Places<'a> {
    fn add(&mut self, name: &'a str, machine: usize, host: HostId) {
        let places = self.0.entry(name).or_default();
        match places.last_mut().filter(|place| place.machine == machine) {
            Some(place) => place.hosts.push(host),
            None => places.push(NamedPlace { machine, hosts: vec![host], turn: 0 }),
        }
    }
}

fn times(sizes: &[u32]) -> String {
    sizes.iter().map(u32::to_string).collect::<Vec<_>>().join("x")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request<'a>(ranks: usize, grid: &'a [u32]) -> Request<'a> {
        Request { job: "j", ranks, ranks_per_host: 1, even: false, grid, rank_hosts: None }
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
