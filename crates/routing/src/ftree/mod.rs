//! ftree: OpenSM's fat-tree engine, entry for entry.
//!
//! Destinations are routed one after the other, leaf by leaf, and every link counts what it carries.
//! From the destination's leaf the route climbs: at each switch the up group (the cables to one neighbour)
//! with the fewest descending destinations is the *main* one and counts; the neighbour gets its entry,
//! which points down. From every switch climbed to, the route spreads back down to all switches that have
//! no shorter way yet; they get entries that point up, and the groups used count ascending destinations.
//! Then the other up groups are climbed too, without counting: only switches send that way. Leaves with
//! fewer hosts than the fullest are filled up with dummies, which count but get no entry. Switches are
//! routed last, without counting. Ties go to the neighbour with the lower index (see `index.rs`).
//!
//! Differences from OpenSM 3.3.23: we do not insist that all switches of a level have equally many groups
//! (OpenSM does, unless it is given the roots: it gives up and loads minhop), so damaged trees are routed, but for
//! those on which levels lose pairs (`Engine::loaded`: minhop); cables between switches of one
//! level are refused; and LMC > 0 is allowed (OpenSM falls back to minhop): each further address of a host
//! leaves its leaf's main choice to the least loaded neighbour that serves none of its other addresses.
//!
//! Speed: a switch whose down neighbours have all been offered a way as short (all at once, by a switch
//! with the same down neighbours) is passed over; columns of entries are made in blocks and turned into
//! rows in parallel.
//!
//! Source: OpenSM's osm_ucast_ftree.c, read; checked against real tables in `tests/data/opensm`.

mod descent;
mod index;

use std::ops::Range;

use netloom_model::{Fabric, HostId, Lft, NO_PORT, Routes, SwitchId};
use rayon::prelude::*;

use crate::context::EngineOptions;
use crate::error::RoutingError;
use crate::greedy::{guid_key, hosts_by_port};
use descent::Descent;
use index::Tree;
use netloom_topology::NO_LEVEL;

/// Destinations per block of columns: as many entries of a row lie side by side, and fewer pages are open at once.
const BLOCK: usize = 1024;

/// Rows that are filled together.
const TILE: usize = 16;

/// What is routed in one step.
#[derive(Clone, Copy)]
enum Task {
    Host { leaf: SwitchId, port: u16, host: HostId, path: u32 },
    Dummy { leaf: SwitchId },
    Switch(SwitchId),
}

pub(crate) fn route(fabric: &Fabric, level: &[u8], options: &EngineOptions) -> Result<Routes, RoutingError> {
    refuse_other_shapes(fabric, level)?;
    let tree = Tree::new(fabric, level);
    let tasks = tasks(fabric, level, &tree, options.lmc);
    let dests = fabric.dests(options.lmc).count();
    let lft = if Lft::is_narrow(fabric.max_radix()) {
        // NO_PORT becomes 255, which is "no entry" in a narrow row.
        Lft::from_narrow_rows(rows(fabric, tree, &tasks, options.lmc, |port| port as u8), dests)
    } else {
        Lft::from_rows(rows(fabric, tree, &tasks, options.lmc, |port| port), dests, fabric.max_radix())
    };
    Ok(Routes::by_dest(fabric, options.lmc, lft))
}

/// Hosts hang on the lowest level only, and every cable joins two levels.
fn refuse_other_shapes(fabric: &Fabric, level: &[u8]) -> Result<(), RoutingError> {
    let refuse = |why: String| Err(RoutingError::NotFatTree(why));
    for host in fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))) {
        let leaf = fabric.leaf(host);
        if level[leaf.index()] != 0 {
            let (host, leaf) = (fabric.host_name(host), fabric.switch_name(leaf));
            return refuse(format!("host \"{host}\" hangs on \"{leaf}\", which is not on the leaf level"));
        }
    }
    for link in fabric.links().filter(|&l| fabric.alive(l)) {
        if let (Some(a), Some(b)) = (fabric.link_from_switch(link), fabric.link_to_switch(link))
            && level[a.index()] == level[b.index()]
            && level[a.index()] != NO_LEVEL
        {
            let (a, b) = (fabric.switch_name(a), fabric.switch_name(b));
            return refuse(format!("a cable joins \"{a}\" and \"{b}\", which are on one level"));
        }
    }
    Ok(())
}

/// Everything to be routed, in OpenSM's order.
fn tasks(fabric: &Fabric, level: &[u8], tree: &Tree, lmc: u8) -> Vec<Task> {
    let mut leaves: Vec<SwitchId> = fabric.switches().filter(|s| level[s.index()] == 0).collect();
    leaves.sort_by_key(|s| (tree.rank[s.index()], guid_key(fabric.switch_guid(*s))));
    let hosts: Vec<Vec<HostId>> = leaves.iter().map(|&s| hosts_by_port(fabric, s)).collect();
    let most = hosts.iter().map(Vec::len).max().unwrap_or(0);
    // Switches without hosts count as leaves only between leaves with some.
    let first = hosts.iter().position(|h| !h.is_empty()).unwrap_or(0);
    let last = hosts.iter().rposition(|h| !h.is_empty()).map_or(0, |i| i + 1);
    let mut tasks = Vec::new();
    for path in 0..1 << lmc {
        for (&leaf, hosts) in leaves[first..last].iter().zip(&hosts[first..last]) {
            tasks.extend(hosts.iter().map(|&host| {
                let port = fabric.link_port(fabric.reverse(fabric.host_link(host)));
                Task::Host { leaf, port, host, path }
            }));
            tasks.extend((hosts.len()..most).map(|_| Task::Dummy { leaf }));
        }
    }
    let mut switches: Vec<SwitchId> = fabric.switches().collect();
    switches.sort_by_key(|&s| guid_key(fabric.switch_guid(s)));
    tasks.extend(switches.into_iter().map(Task::Switch));
    tasks
}

/// Routes all tasks in order; one row a switch.
fn rows<C: Copy + Send + Sync>(
    fabric: &Fabric,
    tree: Tree,
    tasks: &[Task],
    lmc: u8,
    cell: impl Fn(u16) -> C + Sync,
) -> Vec<Vec<C>> {
    let (space, switches) = (fabric.dests(lmc), fabric.switch_count());
    let mut rows = vec![vec![cell(NO_PORT); space.count()]; switches];
    let has_hosts = fabric.switches().map(|s| !hosts_by_port(fabric, s).is_empty()).collect();
    let mut descent = Descent::new(tree, has_hosts, fabric.host_count(), lmc);
    let mut make = |tasks: &[Task]| {
        let mut block = Block::default();
        for &task in tasks {
            block.columns.resize((block.dests.len() + 1) * switches, NO_PORT);
            let column = &mut block.columns[block.dests.len() * switches..];
            match task {
                Task::Host { leaf, port, host, path } => {
                    column[leaf.index()] = port;
                    descent.route_host(leaf, host, path, column);
                    block.dests.push(space.host(host, path).index());
                }
                Task::Dummy { leaf } => {
                    descent.route_dummy(leaf, column);
                    column.fill(NO_PORT);
                }
                Task::Switch(s) => {
                    column[s.index()] = 0;
                    descent.route_switch(s, column);
                    block.dests.push(space.switch(s).index());
                }
            }
        }
        block
    };
    let mut done = Block::default();
    for tasks in tasks.chunks(BLOCK) {
        let (next, ()) = rayon::join(|| make(tasks), || done.scatter(&mut rows, &cell));
        done = next;
    }
    done.scatter(&mut rows, &cell);
    rows
}

/// Some destinations' entries, a column each.
#[derive(Default)]
struct Block {
    dests: Vec<usize>,
    /// `[destination][switch]`.
    columns: Vec<u16>,
}

impl Block {
    fn scatter<C: Copy + Send + Sync>(&self, rows: &mut [Vec<C>], cell: &(impl Fn(u16) -> C + Sync)) {
        // A tile of the table is turned in a buffer that stays in the cache; its rows are copied, a run of destinations at once.
        let (switches, runs) = (rows.len(), self.runs());
        rows.par_chunks_mut(TILE).enumerate().with_min_len(4).for_each(|(tile, rows)| {
            let mut turned = [[cell(NO_PORT); BLOCK]; TILE];
            for k in 0..self.dests.len() {
                let column = &self.columns[k * switches + tile * TILE..][..rows.len()];
                for (row, &port) in turned.iter_mut().zip(column) {
                    row[k] = cell(port);
                }
            }
            for (row, turned) in rows.iter_mut().zip(&turned) {
                for (k, dests) in &runs {
                    row[dests.clone()].copy_from_slice(&turned[*k..][..dests.len()]);
                }
            }
        });
    }

    /// Columns of destinations that are numbered one after the other: the first column, and the destinations.
    fn runs(&self) -> Vec<(usize, Range<usize>)> {
        let mut runs: Vec<(usize, Range<usize>)> = Vec::new();
        for (k, &dest) in self.dests.iter().enumerate() {
            match runs.last_mut() {
                Some((_, dests)) if dests.end == dest => dests.end += 1,
                _ => runs.push((k, dest..dest + 1)),
            }
        }
        runs
    }
}
