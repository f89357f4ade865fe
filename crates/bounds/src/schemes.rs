//! What routing schemes carry on any fabric: loads that are expected of random ways, and the least that any split has.
//!
//! * *Minimal*: at every switch one of the outputs of minimal ways, each as likely (a dragonfly: J. Kim, W. J. Dally, S. Scott,
//!   D. Abts, ISCA 2008, sec. 4.1, MIN).
//! * *Valiant*: minimal ways to a random place and from there on (L. G. Valiant, SIAM J. Comput. 11(2), 1982). On a dragonfly the
//!   place is where a random cable between groups leads to, and packets go on from wherever they come into its group, as those of
//!   the simulator's `valiant` (`routing::Steering`); or with `valiant:router` a random switch of that group; traffic within a group goes there minimally. Elsewhere
//!   it is a random switch with hosts.
//! * *Best*: ways of any length and direction, split at will. The interval is that of `flow`: splits over ways of at most
//!   [`SPARE_HOPS`] links more than the longest minimal way give its upper end. Its lower end holds for any ways whatsoever:
//!   prices of links, and Dijkstra's distances under them.
//!
//! Invariants: bytes are conserved; the first two are exact but for rounding; no result depends on the number of threads.

use netloom_model::{Control, Csr, Fabric, LinkId, SwitchId, Ways};
use netloom_routing::{LinkLoads, PathSet, Steering};
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::ar;
use crate::cuts;
use crate::demand::Demand;
use crate::flow::{self, Dag, Known, Played};
use crate::interval::{ArBound, BoundError};

/// Links between switches by which a way of the best split may be longer than the longest minimal way: a detour through a
/// third group has two more.
const SPARE_HOPS: u32 = 2;
/// Arcs of the best split's graphs at most, 1.5 GB; else only minimal and Valiant ways are split.
const MOST_ARCS: usize = 60_000_000;
/// Units of parallel work: fixed, so that sums are taken in one order.
const GROUPS: usize = 16;
const UNREACHABLE: u32 = u32::MAX;

/// How packets find their ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Random minimal ways.
    Minimal,
    /// Random detours.
    Valiant,
    /// The same on a dragonfly, by a random switch of the third group.
    ValiantRouter,
    /// The best split of any ways.
    Best,
}

impl Scheme {
    /// All, by name.
    pub const ALL: [(&'static str, Self); 4] = [
        ("minimal", Self::Minimal),
        ("valiant", Self::Valiant),
        ("valiant:router", Self::ValiantRouter),
        ("best", Self::Best),
    ];
}

/// The minimal ways of a fabric; on a dragonfly with what its detours need.
pub enum Minimal<'a> {
    /// Towards every switch with hosts.
    Paths(&'a PathSet),
    /// Of a dragonfly.
    Groups(&'a Steering),
}

impl Minimal<'_> {
    fn paths(&self) -> &PathSet {
        match self {
            Self::Paths(paths) => paths,
            Self::Groups(steering) => &steering.paths,
        }
    }
}

/// The loads of a scheme, and between what any ways whatsoever have at least and a scheme that reaches so little.
///
/// `work` is of the best split: iterations at most.
///
/// # Errors
/// [`BoundError`] names a pair with traffic and without a path.
pub fn scheme_loads(
    fabric: &Fabric,
    structure: &Structure,
    minimal: &Minimal,
    traffic: &Csr,
    scheme: Scheme,
    control: &Control,
    work: Option<u64>,
) -> Result<(LinkLoads, ArBound), BoundError> {
    ar::check(fabric, traffic)?;
    let demand = Demand::new(fabric, traffic);
    ar::reachable(fabric, minimal.paths(), &demand)?;
    let wanted = if scheme == Scheme::Best { Scheme::Minimal } else { scheme };
    let load = expected(fabric, minimal, &demand, wanted);
    let around = Around::new(fabric);
    let paid = |price: &[f64]| around.paid(&demand, price);
    let cut = cuts::best(fabric, structure, &demand).of(Ways::Any);
    let mut known = Known { lower: cut, load: Some(load), paid: Some(&paid) };
    let groups = match scheme {
        Scheme::Best => {
            let other = expected(fabric, minimal, &demand, Scheme::Valiant);
            let max = |load: &[f64]| load.iter().copied().fold(0.0, f64::max);
            known.load = known.load.map(|load| if max(&other) < max(&load) { other } else { load });
            graphs(fabric, &around, &demand)
        }
        Scheme::Minimal | Scheme::Valiant | Scheme::ValiantRouter => Vec::new(),
    };
    let Played { mut bound, load } = flow::play(fabric, &demand, groups, known, control, work);
    ar::name(fabric, &mut bound.certificate);
    let mut load = load.expect("loads were given");
    // The game leaves these out: no split moves them.
    let host_links = of_hosts(fabric, &demand);
    host_links.for_each(|(link, bytes)| load[link.index()] = bytes / fabric.relative_capacity(link));
    Ok((LinkLoads { load }, bound))
}

/// Links of hosts, and the bytes on them.
fn of_hosts<'a>(fabric: &'a Fabric, demand: &'a Demand) -> impl Iterator<Item = (LinkId, f64)> + 'a {
    fabric.hosts().flat_map(|host| {
        let up = fabric.host_link(host);
        [(up, demand.sent[host.index()]), (fabric.reverse(up), demand.received[host.index()])]
    })
}

/// Loads over relative capacity that are expected, links of hosts included.
fn expected(fabric: &Fabric, minimal: &Minimal, demand: &Demand, scheme: Scheme) -> Vec<f64> {
    let mut load = vec![0.0; fabric.link_count()];
    let supplies = match (scheme, minimal) {
        (Scheme::Valiant, Minimal::Groups(steering)) => {
            through_groups(fabric, steering, demand, Some(&mut load))
        }
        (Scheme::ValiantRouter, Minimal::Groups(steering)) => through_groups(fabric, steering, demand, None),
        (Scheme::Valiant | Scheme::ValiantRouter, Minimal::Paths(paths)) => {
            through_leaves(fabric, paths, demand)
        }
        _ => direct(fabric, demand),
    };
    let paths = minimal.paths();
    let mut targets: Vec<Vec<(SwitchId, Supply)>> = (0..GROUPS).map(|_| Vec::new()).collect();
    let sent = supplies.into_iter().enumerate().filter(|(_, supply)| !supply.is_empty());
    for (i, (target, supply)) in sent.enumerate() {
        targets[i % GROUPS].push((SwitchId::from_index(target), supply));
    }
    let parts: Vec<Vec<f64>> = targets
        .into_par_iter()
        .map(|group| {
            let mut load = vec![0.0; fabric.link_count()];
            let mut flow = vec![0.0; fabric.switch_count()];
            for (target, supply) in group {
                send(fabric, paths, target, supply, &mut flow, &mut load);
            }
            load
        })
        .collect();
    for part in parts {
        load.iter_mut().zip(part).for_each(|(sum, bytes)| *sum += bytes);
    }
    of_hosts(fabric, demand).for_each(|(link, bytes)| load[link.index()] += bytes);
    for link in fabric.links().filter(|&l| fabric.alive(l)) {
        load[link.index()] /= fabric.relative_capacity(link);
    }
    load
}

/// Bytes by the switch where they begin.
type Supply = Vec<(SwitchId, f64)>;

/// Bytes for every switch.
fn direct(fabric: &Fabric, demand: &Demand) -> Vec<Supply> {
    let mut supplies = vec![Supply::new(); fabric.switch_count()];
    for (&from, row) in demand.leaves.iter().zip(&demand.pairs) {
        row.iter().for_each(|&(to, bytes)| supplies[demand.leaves[to as usize].index()].push((from, bytes)));
    }
    supplies
}

/// The same with two legs for every pair of groups, on the way to the switch of a third where a cable leads to. The second begins
/// wherever the first comes into that group, and what the first carries is added to `first`. Without `first` the place is any switch
/// of that group, and both legs are supplies.
fn through_groups(
    fabric: &Fabric,
    steering: &Steering,
    demand: &Demand,
    mut first: Option<&mut Vec<f64>>,
) -> Vec<Supply> {
    let mut supplies = vec![Supply::new(); fabric.switch_count()];
    let mut thirds: Vec<SwitchId> = Vec::new();
    for (&from, row) in demand.leaves.iter().zip(&demand.pairs) {
        let (mut leg, mut minimal) = (vec![0.0; fabric.switch_count()], Supply::new());
        let mut begins: Vec<Option<Supply>> = vec![None; fabric.switch_count()];
        for &(to, bytes) in row {
            let to = demand.leaves[to as usize];
            let cables = steering.cables_of(steering.group(from)).iter();
            thirds.clear();
            if steering.group(from) != steering.group(to) {
                thirds.extend(cables.filter_map(|&cable| steering.third(from, cable, to)));
            }
            if thirds.is_empty() {
                minimal.push((to, bytes));
            }
            for &there in &thirds {
                let part = bytes / thirds.len() as f64;
                if first.is_some() {
                    leg[there.index()] += part;
                    let begins = begins[there.index()]
                        .get_or_insert_with(|| into_group(fabric, steering, (from, there), 1.0, None));
                    supplies[to.index()].extend(begins.iter().map(|&(third, share)| (third, part * share)));
                    continue;
                }
                let part = part / steering.of_third(from, there, to).count() as f64;
                for third in steering.of_third(from, there, to) {
                    leg[third.index()] += part;
                    supplies[to.index()].push((third, part));
                }
            }
        }
        for target in fabric.switches().filter(|t| leg[t.index()] > 0.0) {
            let bytes = leg[target.index()];
            match &mut first {
                Some(load) => drop(into_group(fabric, steering, (from, target), bytes, Some(load))),
                None => supplies[target.index()].push((from, bytes)),
            }
        }
        minimal.into_iter().for_each(|(to, bytes)| supplies[to.index()].push((from, bytes)));
    }
    supplies
}

/// Where bytes on minimal ways to a switch of another group come into that group; what links carry of them until then is added to `load`.
fn into_group(
    fabric: &Fabric,
    steering: &Steering,
    (from, to): (SwitchId, SwitchId),
    bytes: f64,
    mut load: Option<&mut Vec<f64>>,
) -> Supply {
    let (mut here, mut come) = (vec![(from, bytes)], Supply::new());
    while !here.is_empty() {
        let mut next = Supply::new();
        for (s, bytes) in here {
            let links = steering.paths.links(s, to);
            let part = bytes / links.len() as f64;
            for &link in links {
                if let Some(load) = &mut load {
                    load[link.index()] += part;
                }
                let there = fabric.link_to_switch(link).expect("ways join switches");
                let within = steering.group(there) == steering.group(to);
                let met = if within { &mut come } else { &mut next };
                match met.iter_mut().find(|(switch, _)| *switch == there) {
                    Some((_, sum)) => *sum += part,
                    None => met.push((there, part)),
                }
            }
        }
        here = next;
    }
    come
}

/// The same with two legs for every pair of leaves, by any leaf that ways join with them.
fn through_leaves(fabric: &Fabric, paths: &PathSet, demand: &Demand) -> Vec<Supply> {
    let mut supplies = vec![Supply::new(); fabric.switch_count()];
    // Cables work in both directions, so leaves that one reaches reach each other.
    let joined =
        |leaf: SwitchId| demand.leaves.iter().filter(move |&&third| paths.hops(third, leaf).is_some());
    let mut received = vec![0.0; demand.leaves.len()];
    for (&from, row) in demand.leaves.iter().zip(&demand.pairs) {
        let sent: f64 = row.iter().map(|(_, bytes)| bytes).sum();
        row.iter().for_each(|&(to, bytes)| received[to as usize] += bytes);
        if sent > 0.0 {
            let part = sent / joined(from).count() as f64;
            joined(from).filter(|&&t| t != from).for_each(|third| supplies[third.index()].push((from, part)));
        }
    }
    for (&to, bytes) in demand.leaves.iter().zip(received) {
        if bytes > 0.0 {
            let part = bytes / joined(to).count() as f64;
            supplies[to.index()].extend(joined(to).filter(|&&t| t != to).map(|&third| (third, part)));
        }
    }
    supplies
}

/// Adds what goes to one switch, with equal parts on all outputs of minimal ways. `flow` is left zero.
fn send(
    fabric: &Fabric,
    paths: &PathSet,
    target: SwitchId,
    supply: Supply,
    flow: &mut [f64],
    load: &mut [f64],
) {
    let mut by_hops: Vec<Vec<SwitchId>> = Vec::new();
    let add = |s: SwitchId, bytes: f64, flow: &mut [f64], by_hops: &mut Vec<Vec<SwitchId>>| {
        if bytes > 0.0 && s != target {
            let hops = usize::from(paths.hops(s, target).expect("pairs with bytes are joined"));
            if flow[s.index()] == 0.0 {
                by_hops.resize_with(by_hops.len().max(hops + 1), Vec::new);
                by_hops[hops].push(s);
            }
            flow[s.index()] += bytes;
        }
    };
    supply.into_iter().for_each(|(s, bytes)| add(s, bytes, flow, &mut by_hops));
    for hops in (1..by_hops.len()).rev() {
        let mut here = std::mem::take(&mut by_hops[hops]);
        here.sort_unstable();
        for s in here {
            let links = paths.links(s, target);
            let bytes = std::mem::take(&mut flow[s.index()]) / links.len() as f64;
            for &link in links {
                load[link.index()] += bytes;
                add(fabric.link_to_switch(link).expect("ways join switches"), bytes, flow, &mut by_hops);
            }
        }
    }
}

/// Working links between switches.
struct Around {
    /// By switch: links from it, and where they lead.
    out: Vec<Vec<(LinkId, SwitchId)>>,
}

impl Around {
    fn new(fabric: &Fabric) -> Self {
        let out = |s: SwitchId| {
            let working = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            working.filter_map(|l| Some((l, fabric.link_to_switch(l)?))).collect()
        };
        Self { out: fabric.switches().map(out).collect() }
    }

    /// Links between switches from each to `leaf`.
    fn hops(&self, leaf: SwitchId) -> Vec<u32> {
        let mut hops = vec![UNREACHABLE; self.out.len()];
        hops[leaf.index()] = 0;
        let (mut queue, mut next) = (vec![leaf], 0);
        while let Some(&t) = queue.get(next) {
            next += 1;
            for &(_, s) in &self.out[t.index()] {
                if hops[s.index()] == UNREACHABLE {
                    hops[s.index()] = hops[t.index()] + 1;
                    queue.push(s);
                }
            }
        }
        hops
    }

    /// Bytes between leaves times the least prices of any ways, and what links of hosts are paid.
    fn paid(&self, demand: &Demand, price: &[f64]) -> f64 {
        let paid = |(&leaf, row): (&SwitchId, &Vec<(u32, f64)>)| {
            if row.is_empty() {
                return 0.0;
            }
            let far = self.from(leaf, price);
            row.iter().map(|&(to, bytes)| bytes * far[demand.leaves[to as usize].index()]).sum()
        };
        let between: Vec<f64> = demand.leaves.par_iter().zip(&demand.pairs).map(paid).collect();
        between.iter().sum()
    }

    /// The least prices from a leaf to every switch: rounds over what became cheaper, which are few where ways are short.
    fn from(&self, leaf: SwitchId, price: &[f64]) -> Vec<f64> {
        let mut far = vec![f64::INFINITY; self.out.len()];
        far[leaf.index()] = 0.0;
        let (mut round, mut waits) = (vec![leaf], vec![false; self.out.len()]);
        while !round.is_empty() {
            let mut next = Vec::new();
            for s in round {
                waits[s.index()] = false;
                for &(link, t) in &self.out[s.index()] {
                    let through = far[s.index()] + price[link.index()];
                    if through < far[t.index()] {
                        far[t.index()] = through;
                        if !std::mem::replace(&mut waits[t.index()], true) {
                            next.push(t);
                        }
                    }
                }
            }
            round = next;
        }
        far
    }
}

/// One graph a destination leaf: ways of so many links at most, by how many are left. None if they are too large.
fn graphs(fabric: &Fabric, around: &Around, demand: &Demand) -> Vec<Vec<Dag>> {
    let longest = |(&leaf, row): (&SwitchId, &Vec<(u32, f64)>)| {
        let hops = if row.is_empty() { Vec::new() } else { around.hops(leaf) };
        row.iter().map(|&(to, _)| hops[demand.leaves[to as usize].index()]).max().unwrap_or(0)
    };
    // Cables work in both directions: distances are the same there and back.
    let most = demand.leaves.par_iter().zip(&demand.pairs).map(longest).max().unwrap_or(0) + SPARE_HOPS;
    let links: usize = around.out.iter().map(Vec::len).sum();
    let leaves = demand.pairs.iter().flatten().map(|&(to, _)| to).collect::<std::collections::BTreeSet<_>>();
    if links * most as usize / 2 * leaves.len() > MOST_ARCS {
        return Vec::new();
    }
    flow::build(demand, &|leaf, supply| graph(fabric, around, most, leaf, supply))
}

fn graph(fabric: &Fabric, around: &Around, most: u32, leaf: SwitchId, supply: &[(SwitchId, f64)]) -> Dag {
    const UNSEEN: u32 = u32::MAX;
    let hops = around.hops(leaf);
    let mut dag =
        Dag { supply: Vec::new(), first: vec![0], link: Vec::new(), target: Vec::new(), split: Vec::new() };
    // Nodes of this layer and of the next are numbered one after the other; the leaf's number is known at the end.
    let mut layer: Vec<SwitchId> = supply.iter().map(|&(s, _)| s).collect();
    layer.sort_unstable();
    layer.dedup();
    dag.supply = vec![0.0; layer.len()];
    for &(s, bytes) in supply {
        dag.supply[layer.binary_search(&s).expect("it is there")] += bytes;
    }
    let mut place = vec![UNSEEN; fabric.switch_count()];
    let mut count = layer.len();
    for left in (0..most).rev() {
        let mut next: Vec<SwitchId> = Vec::new();
        for &s in &layer {
            let begin = dag.link.len();
            for &(link, t) in around.out[s.index()].iter().filter(|(_, t)| hops[t.index()] <= left) {
                let target = if t == leaf {
                    UNSEEN
                } else {
                    if place[t.index()] == UNSEEN {
                        place[t.index()] = count as u32;
                        count += 1;
                        next.push(t);
                    }
                    place[t.index()]
                };
                dag.link.push(link.0);
                dag.target.push(target);
                dag.split.push(fabric.relative_capacity(link));
            }
            let total: f64 = dag.split[begin..].iter().sum();
            dag.split[begin..].iter_mut().for_each(|split| *split /= total);
            dag.first.push(dag.link.len() as u32);
        }
        next.iter().for_each(|t| place[t.index()] = UNSEEN);
        layer = next;
    }
    dag.supply.resize(count + 1, 0.0);
    dag.first.resize(count + 2, dag.link.len() as u32);
    dag.target.iter_mut().filter(|target| **target == UNSEEN).for_each(|target| *target = count as u32);
    dag
}
