//! Pairs dealt to the addresses of their destinations.
//!
//! What a leaf's hosts send to one host is a *bundle* of pairs. With one address it moves whole; with `2^lmc`
//! it may part into as many pieces, each pair whole in one. Two ways to part: evenly by bytes, whatever the
//! tables ([`Pairs::deal`]); and with the tables given, every pair to the address whose way costs least by the
//! soft-max penalty of the search ([`Pairs::reassign`]).

use netloom_model::rng::{Stream, below, shuffle};
use netloom_model::{Csr, Fabric, HostId, LinkId, PairPaths, Routes};

use crate::OptimizeError;
use crate::search::state::penalty::penalty;

/// Sharpness of the penalty in the passes of [`Pairs::reassign`].
const SHARPNESS: [f64; 8] = [30.0, 60.0, 120.0, 250.0, 500.0, 1000.0, 2000.0, 4000.0];

/// One pair between different leaves.
#[derive(Clone, Copy, Debug)]
struct Pair {
    source: HostId,
    destination: HostId,
    bytes: f64,
    path: u32,
}

/// All pairs that leave their leaf, by bundle.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    lmc: u8,
    hosts: usize,
    pairs: Vec<Pair>,
    /// First pair of every bundle, and the number of pairs.
    first: Vec<usize>,
}

impl Pairs {
    /// The pairs of `traffic`, all on the base address.
    pub fn of(fabric: &Fabric, traffic: &Csr, lmc: u8) -> Self {
        let mut all = Self { lmc, hosts: fabric.host_count(), pairs: Vec::new(), first: vec![0] };
        for leaf in fabric.switches() {
            let from = all.pairs.len();
            for &source in fabric.hosts_on(leaf) {
                let (columns, bytes) = traffic.row(source.index());
                let away = columns.iter().zip(bytes).map(|(&j, &b)| (HostId(j), b));
                for (destination, bytes) in away.filter(|&(d, _)| fabric.leaf(d) != leaf) {
                    all.pairs.push(Pair { source, destination, bytes, path: 0 });
                }
            }
            all.pairs[from..].sort_by_key(|p| p.destination);
            for bundle in all.pairs[from..].chunk_by(|a, b| a.destination == b.destination) {
                all.first.push(all.first[all.first.len() - 1] + bundle.len());
            }
        }
        all
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Deals every bundle evenly to the addresses, largest pair first. What could go to several goes to each in
    /// turn from bundle to bundle, or at random if `random` is given.
    pub fn deal(&mut self, mut random: Option<&mut Stream>) {
        let ways = 1usize << self.lmc;
        let mut order: Vec<usize> = Vec::new();
        let mut sum = vec![0.0f64; ways];
        for bundle in 0..self.first.len() - 1 {
            order.clear();
            order.extend(self.first[bundle]..self.first[bundle + 1]);
            if let Some(random) = random.as_deref_mut() {
                shuffle(random, &mut order);
            }
            order.sort_by(|&a, &b| self.pairs[b].bytes.total_cmp(&self.pairs[a].bytes));
            sum.fill(0.0);
            let turn = match random.as_deref_mut() {
                Some(random) => below(random, ways as u64) as usize,
                None => bundle,
            };
            for &pair in &order {
                let least = (0..ways).map(|k| (turn + k) % ways).min_by(|&a, &b| sum[a].total_cmp(&sum[b]));
                let way = least.expect("a host has an address");
                sum[way] += self.pairs[pair].bytes;
                self.pairs[pair].path = way as u32;
            }
        }
    }

    /// Takes the addresses that `routes` choose.
    pub fn choose(&mut self, fabric: &Fabric, routes: &Routes) {
        let space = routes.dests(fabric);
        for pair in &mut self.pairs {
            let base = space.host(pair.destination, 0);
            pair.path = routes.address(space, pair.source, pair.destination).0 - base.0;
        }
    }

    /// Deals what uses one of the lower half of a host's addresses to it and to its copy in the upper half, evenly;
    /// what uses the upper half already stays.
    pub fn halve(&mut self) {
        let half = 1u32 << (self.lmc - 1);
        let mut order: Vec<usize> = Vec::new();
        for bundle in 0..self.first.len() - 1 {
            for path in 0..half {
                order.clear();
                order.extend(
                    (self.first[bundle]..self.first[bundle + 1]).filter(|&p| self.pairs[p].path == path),
                );
                order.sort_by(|&a, &b| self.pairs[b].bytes.total_cmp(&self.pairs[a].bytes));
                // What could go to either goes to each in turn from bundle to bundle.
                let mut sum = [0.0f64; 2];
                for &pair in &order {
                    let (first, second) = (bundle % 2, (bundle + 1) % 2);
                    let way = if sum[second] < sum[first] { second } else { first };
                    sum[way] += self.pairs[pair].bytes;
                    self.pairs[pair].path = path + half * way as u32;
                }
            }
        }
    }

    /// Gives every pair an address at random.
    pub fn scatter(&mut self, random: &mut Stream) {
        for pair in &mut self.pairs {
            pair.path = below(random, 1 << self.lmc) as u32;
        }
    }

    /// With the tables of `routes` given, moves pairs one by one to the address whose way costs least.
    /// Starts from the choice of `routes`, whose loads are `load`; `goal` is the load that penalties refer to.
    ///
    /// # Errors
    /// [`OptimizeError::Routing`] if an address is not reached.
    pub fn reassign(
        &mut self,
        fabric: &Fabric,
        routes: &Routes,
        load: &[f64],
        goal: f64,
        random: &mut Stream,
    ) -> Result<u64, OptimizeError> {
        let ways = 1u32 << self.lmc;
        let mut load = load.to_vec();
        let mut order: Vec<usize> = (0..self.first.len() - 1).collect();
        let mut tried = 0;
        self.choose(fabric, routes);
        for alpha in SHARPNESS {
            shuffle(random, &mut order);
            let hot = load.iter().enumerate().filter(|(l, _)| fabric.between_switches(LinkId(*l as u32)));
            let floor = hot.map(|(_, &l)| l).fold(0.0, f64::max) * (1.0 - 12.0 / alpha);
            for &bundle in &order {
                let range = self.first[bundle]..self.first[bundle + 1];
                let one = self.pairs[range.start];
                let path = |p: u32| way(fabric, routes, one.source, one.destination, p);
                let paths: Vec<Vec<LinkId>> = (0..ways).map(path).collect::<Result<_, _>>()?;
                if paths.iter().flatten().all(|l| load[l.index()] <= floor) {
                    continue;
                }
                for pair in &mut self.pairs[range] {
                    tried += 1;
                    for &link in &paths[pair.path as usize] {
                        load[link.index()] -= pair.bytes / fabric.relative_capacity(link);
                    }
                    let cost = |p: u32| -> f64 {
                        let links = paths[p as usize].iter();
                        links
                            .map(|&link| {
                                let (l, b) =
                                    (load[link.index()], pair.bytes / fabric.relative_capacity(link));
                                let at = |l: f64| penalty(alpha * (l / goal - 1.0));
                                at(l + b) - at(l)
                            })
                            .sum()
                    };
                    // Its own address first: only a cheaper way is worth a change.
                    let mut best = (cost(pair.path), pair.path);
                    for p in (0..ways).filter(|&p| p != pair.path) {
                        let c = cost(p);
                        if c < best.0 {
                            best = (c, p);
                        }
                    }
                    pair.path = best.1;
                    for &link in &paths[pair.path as usize] {
                        load[link.index()] += pair.bytes / fabric.relative_capacity(link);
                    }
                }
            }
        }
        Ok(tried)
    }

    /// The choice as a table.
    pub fn table(&self) -> PairPaths {
        let entries: Vec<_> = self.pairs.iter().map(|p| (p.source, p.destination, p.path)).collect();
        PairPaths::new(self.hosts, self.lmc, &entries).expect("pairs of the fabric, each once")
    }
}

/// The links between switches from a host to an address of another.
fn way(
    fabric: &Fabric,
    routes: &Routes,
    source: HostId,
    destination: HostId,
    path: u32,
) -> Result<Vec<LinkId>, OptimizeError> {
    let address = routes.dests(fabric).host(destination, path);
    let (mut at, target) = (fabric.leaf(source), fabric.leaf(destination));
    let mut links = Vec::new();
    while at != target {
        let port = routes.port(at, source, address);
        let link = fabric.link_at(at, port).filter(|_| links.len() <= fabric.switch_count());
        let Some((link, next)) = link.and_then(|l| Some((l, fabric.link_to_switch(l)?))) else {
            return Err(OptimizeError::BadStart {
                from: fabric.switch_name(fabric.leaf(source)).into(),
                to: fabric.host_name(destination).into(),
            });
        };
        links.push(link);
        at = next;
    }
    Ok(links)
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::Traffic;
    use netloom_topology::generate;

    #[test]
    fn bundles_are_dealt_evenly() {
        let fabric = generate("two-level:leaves=2,hosts=4,spines=2").unwrap();
        // 5, 3, 2 and 2 from one leaf to one host: 5 + 2 against 3 + 2 by largest first.
        let (from, to) = ([0, 1, 2, 3], [4; 4]);
        let t = Traffic::from_triples(8, &from, &to, &[5.0, 3.0, 2.0, 2.0], None).unwrap();
        let mut pairs = Pairs::of(&fabric, &t.total(), 1);
        pairs.deal(None);
        let table = pairs.table();
        let sum = |path| {
            let on = t.total().into_owned();
            let all: f64 =
                on.iter().filter(|&(i, j, _)| table.get(HostId(i), HostId(j)) == path).map(|e| e.2).sum();
            all
        };
        let (a, b): (f64, f64) = (sum(0), sum(1));
        assert_eq!((a.min(b), a.max(b)), (5.0, 7.0));
    }
}
