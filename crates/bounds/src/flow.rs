//! The min-max flow problem on admissible links, as a game between splits and link weights.
//!
//! `min over splits max over links load / c` equals `max over weights w >= 0 of sum over pairs bytes * dist_w / sum w c`.
//! The splits player holds, per destination leaf and switch, fractions over the admissible links (a directed acyclic
//! graph, so all sources share them); the weights player one weight a link. Both play optimistic multiplicative
//! weights (Rakhlin and Sridharan 2013; Syrgkanis et al. 2015); the splits' step is the soft-min Bellman recursion, the
//! exact proximal step of the dilated entropy on the graph. Any weights give a lower bound and any average of splits
//! an upper one, so the interval is certified whatever the steps were.
//!
//! Invariants: no result depends on the number of threads (fixed groups of destinations, summed in order); `lower` and
//! `upper` only improve.

use netloom_model::{Certificate, Control, Fabric, LinkId, Reason, SwitchId};
use netloom_routing::PathSet;
use rayon::prelude::*;

use crate::demand::Demand;
use crate::interval::ArBound;

/// Relative width at which the interval is narrow enough.
const CONVERGED_WIDTH: f64 = 1e-4;
/// Relative width at which its ends are equal but for rounding.
const EQUAL_WIDTH: f64 = 1e-12;
/// Iterations without a caller's limit: seconds on the largest fabrics, not minutes.
pub const DEFAULT_WORK: u64 = 400;
/// Iterations between two looks at the averages.
const AVERAGING_PERIOD: u64 = 16;
/// Units of parallel work: fixed, so that sums are taken in one order.
const GROUPS: usize = 16;
/// Length of the splits' steps at first, and its limits; measured on damaged quartz1.
const FIRST_STEP: f64 = 0.1;
const LEAST_STEP: f64 = 0.005;
const MOST_STEP: f64 = 0.5;
/// The weights' steps are longer by this factor: weights must follow before splits overshoot.
const WEIGHT_STEPS: f64 = 10.0;
/// Smallest fraction of a split, so that a link can come back.
const LEAST_FRACTION: f64 = 1e-14;
/// Smallest weight of a certificate relative to the largest: less adds nothing to a bound.
const LEAST_PRICE: f64 = 1e-12;
/// Smallest logarithm of a weight relative to the largest.
const LEAST_LOG_WEIGHT: f64 = -20.0;

/// The links that ways towards one leaf may take, and the splits on them.
pub(crate) struct Dag {
    /// Bytes that start at each node; nodes in an order in which arcs lead on, the leaf last.
    pub supply: Vec<f64>,
    /// Arcs of node `i`: `first[i]..first[i + 1]`.
    pub first: Vec<u32>,
    pub link: Vec<u32>,
    /// Position of the node that an arc enters.
    pub target: Vec<u32>,
    /// Fraction of a node's flow on each arc.
    pub split: Vec<f64>,
}

/// Bytes times the lengths of shortest ways under prices of links.
pub(crate) type Paid<'a> = &'a (dyn Fn(&[f64]) -> f64 + Sync);

/// The graph of a leaf, from the bytes that begin at each switch.
pub(crate) type GraphOf<'a> = &'a (dyn Fn(SwitchId, &[(SwitchId, f64)]) -> Dag + Sync);

/// What is known of a game before it is played.
pub(crate) struct Known<'a> {
    /// A lower bound.
    pub lower: Certificate,
    /// Loads of some splits, over relative capacity.
    pub load: Option<Vec<f64>>,
    /// What prices prove, where the bound is of more ways than the graphs hold.
    pub paid: Option<Paid<'a>>,
}

/// How a game ended.
pub(crate) struct Played {
    pub bound: ArBound,
    /// The best loads, over relative capacity, if some were asked for.
    pub load: Option<Vec<f64>>,
}

/// Solves from the lower bound `cut` on; stops at a narrow interval, after `work` iterations, or when told.
pub(crate) fn solve(
    fabric: &Fabric,
    paths: &PathSet,
    demand: &Demand,
    cut: Certificate,
    control: &Control,
    work: Option<u64>,
) -> ArBound {
    let dag = |leaf, supply: &[(SwitchId, f64)]| dag(fabric, paths, leaf, supply);
    let groups = build(demand, &dag);
    play(fabric, demand, groups, Known { lower: cut, load: None, paid: None }, control, work).bound
}

/// The game on graphs that are given.
pub(crate) fn play(
    fabric: &Fabric,
    demand: &Demand,
    mut groups: Vec<Vec<Dag>>,
    known: Known,
    control: &Control,
    work: Option<u64>,
) -> Played {
    let links = fabric.link_count();
    let capacity: Vec<f64> = fabric.links().map(|l| fabric.relative_capacity(l)).collect();
    // Host links carry the same in every routing.
    let fixed = fabric.hosts().map(|h| {
        let c = fabric.relative_capacity(fabric.host_link(h));
        let base = |l: LinkId| demand.base[l.index()];
        let (up, down) = (fabric.host_link(h), fabric.reverse(fabric.host_link(h)));
        (demand.sent[h.index()] + base(up)).max(demand.received[h.index()] + base(down)) / c
    });
    let fixed = fixed.fold(0.0, f64::max);

    let upper = known.load.as_ref().map_or(f64::INFINITY, |load| load.iter().copied().fold(fixed, f64::max));
    let Known { lower, load: best, paid } = known;
    let given = best.is_some();
    let mut game = Game { upper, lower, best, paid, work: 0, base: &demand.base };
    if paid.is_some() && !game.closed(EQUAL_WIDTH) {
        let between = |l: LinkId| fabric.alive(l) && fabric.between_switches(l);
        let hops: Vec<f64> = fabric.links().map(|l| f64::from(u8::from(between(l)))).collect();
        game.offer_price(&groups, &hops, &capacity);
    }
    if given && groups.iter().all(Vec::is_empty) {
        return game.finish();
    }
    let mut load = forward(&mut groups, &demand.base);
    game.offer_load(&load, &capacity, fixed, 1.0);
    let limit = work.unwrap_or(DEFAULT_WORK);
    let active: Vec<usize> = {
        let mut used = vec![false; links];
        let arcs = groups.iter().flatten().flat_map(|dag| &dag.link);
        arcs.for_each(|&l| used[l as usize] = true);
        (0..links).filter(|&l| used[l]).collect()
    };
    if active.is_empty() || game.closed(CONVERGED_WIDTH) {
        return game.finish();
    }

    // Weights of the game: u sums to 1, a link's price is u / c.
    let (mut log_u, mut last_ratio) = opening(&active, &load, &capacity);
    let mut u = softmax(&log_u);
    let mut price = prices(&active, &u, &capacity, links);
    let mut last_price = price.clone();
    let (mut sum_load, mut sum_price, mut sum_count) = (vec![0.0; links], vec![0.0; links], 0.0);
    let mut step = FIRST_STEP;
    let mut width = game.width();
    let mut epoch_end = 4 * AVERAGING_PERIOD;

    while game.work < limit && !game.closed(CONVERGED_WIDTH) && control.stopped().is_none() {
        game.work += 1;
        control.report(game.work, limit);
        // Splits answer the extrapolated prices.
        let guess: Vec<f64> = price.iter().zip(&last_price).map(|(now, last)| 2.0 * now - last).collect();
        let spread: f64 = active.iter().zip(&u).map(|(&l, u)| u * u / capacity[l]).sum();
        let rate = step / spread;
        groups.par_iter_mut().flatten().for_each(|dag| dag.respond(&guess, rate));
        load = forward(&mut groups, &demand.base);
        let ratio: Vec<f64> = active.iter().map(|&l| load[l] / capacity[l] / game.upper).collect();
        // Weights answer the extrapolated loads.
        for (i, log) in log_u.iter_mut().enumerate() {
            *log += WEIGHT_STEPS * step * (2.0 * ratio[i] - last_ratio[i]);
        }
        let top = log_u.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        log_u.iter_mut().for_each(|log| *log = (*log - top).max(LEAST_LOG_WEIGHT));
        u = softmax(&log_u);
        last_price = std::mem::replace(&mut price, prices(&active, &u, &capacity, links));
        last_ratio = ratio;
        for &l in &active {
            sum_load[l] += load[l];
            sum_price[l] += price[l];
        }
        sum_count += 1.0;
        game.offer_load(&load, &capacity, fixed, 1.0);
        if game.work.is_multiple_of(AVERAGING_PERIOD) {
            game.offer_load(&sum_load, &capacity, fixed, 1.0 / sum_count);
            game.offer_price(&groups, &sum_price, &capacity);
            game.offer_price(&groups, &price, &capacity);
            for keep in [0.3, 0.03] {
                game.offer_price(&groups, &flat(&sum_price, &capacity, keep), &capacity);
            }
        }
        if game.work >= epoch_end {
            // Averages start anew from better play; steps grow while they help.
            let now = game.width();
            step = (step * if now < 0.7 * width { 1.2 } else { 0.8 }).clamp(LEAST_STEP, MOST_STEP);
            width = now;
            epoch_end = game.work + (sum_count as u64 * 5 / 4).max(4 * AVERAGING_PERIOD);
            sum_load.fill(0.0);
            sum_price.fill(0.0);
            sum_count = 0.0;
        }
    }
    game.finish()
}

/// The interval so far.
struct Game<'a> {
    /// Bytes per link that no split moves.
    base: &'a [f64],
    upper: f64,
    /// Loads that reach it, over relative capacity, where they are kept.
    best: Option<Vec<f64>>,
    paid: Option<Paid<'a>>,
    lower: Certificate,
    work: u64,
}

impl Game<'_> {
    fn width(&self) -> f64 {
        if self.upper == 0.0 { 0.0 } else { self.upper / self.lower.claim - 1.0 }
    }

    fn closed(&self, width: f64) -> bool {
        self.upper <= self.lower.claim * (1.0 + width)
    }

    fn offer_load(&mut self, load: &[f64], capacity: &[f64], fixed: f64, scale: f64) {
        let most = load.iter().zip(capacity).map(|(b, c)| b * scale / c).fold(fixed, f64::max);
        if most < self.upper {
            self.upper = most;
            if let Some(best) = &mut self.best {
                *best = load.iter().zip(capacity).map(|(b, c)| b * scale / c).collect();
            }
        }
    }

    fn offer_price(&mut self, groups: &[Vec<Dag>], price: &[f64], capacity: &[f64]) {
        let price = &relative(price);
        let between = match self.paid {
            Some(paid) => paid(price),
            None => {
                let of = |group: &Vec<Dag>| group.iter().map(|dag| dag.distance(price)).sum();
                groups.par_iter().map(of).collect::<Vec<f64>>().iter().sum()
            }
        };
        let mass: f64 = price.iter().zip(capacity).map(|(w, c)| w * c).sum();
        let fixed: f64 = price.iter().zip(self.base).map(|(w, b)| w * b).sum();
        let value = (between + fixed) / mass;
        // A little less than computed, so that rounding cannot make the claim false.
        let value = value * (1.0 - 1e-13);
        if value.is_finite() && value > self.lower.claim {
            debug_assert!(
                value <= self.upper * (1.0 + 1e-9),
                "weak duality: no bound above a load that is reached"
            );
            let weights = price.iter().enumerate().filter(|(_, w)| **w > 0.0);
            let weights = weights.map(|(l, &w)| (LinkId::from_index(l), w)).collect();
            // The caller finds a name.
            self.lower = Certificate::new(value, String::new(), Reason::Dual { weights }).of(self.lower.ways);
        }
    }

    fn finish(mut self) -> Played {
        self.upper = self.upper.max(self.lower.claim);
        let exact = self.closed(EQUAL_WIDTH);
        let bound = ArBound {
            lower: self.lower.claim,
            upper: self.upper,
            exact,
            certificate: self.lower,
            work: self.work,
        };
        Played { bound, load: self.best }
    }
}

/// Prices over the largest, those that are negligible dropped. Any prices give a valid bound.
fn relative(price: &[f64]) -> Vec<f64> {
    let top = price.iter().copied().fold(0.0, f64::max);
    price.iter().map(|&w| if w >= LEAST_PRICE * top { w / top } else { 0.0 }).collect()
}

/// One graph a destination leaf with traffic, dealt out to groups in turn; splits in proportion to capacity.
pub(crate) fn build(demand: &Demand, dag: GraphOf) -> Vec<Vec<Dag>> {
    let mut supplies: Vec<Vec<(SwitchId, f64)>> = vec![Vec::new(); demand.leaves.len()];
    for (&leaf, row) in demand.leaves.iter().zip(&demand.pairs) {
        for &(to, bytes) in row {
            supplies[to as usize].push((leaf, bytes));
        }
    }
    let dags: Vec<Option<Dag>> = supplies
        .par_iter()
        .zip(&demand.leaves)
        .map(|(supply, &leaf)| (!supply.is_empty()).then(|| dag(leaf, supply)))
        .collect();
    let mut groups: Vec<Vec<Dag>> = (0..GROUPS).map(|_| Vec::new()).collect();
    for (i, dag) in dags.into_iter().flatten().enumerate() {
        groups[i % GROUPS].push(dag);
    }
    groups
}

fn dag(fabric: &Fabric, paths: &PathSet, leaf: SwitchId, supply: &[(SwitchId, f64)]) -> Dag {
    const UNSEEN: u32 = u32::MAX;
    let mut position = vec![UNSEEN; fabric.switch_count()];
    let mut nodes: Vec<SwitchId> = Vec::new();
    let mut see = |s: SwitchId, nodes: &mut Vec<SwitchId>| {
        if position[s.index()] == UNSEEN {
            position[s.index()] = 0;
            nodes.push(s);
        }
    };
    supply.iter().for_each(|&(s, _)| see(s, &mut nodes));
    let mut next = 0;
    while next < nodes.len() {
        for &l in paths.links(nodes[next], leaf) {
            see(fabric.link_to_switch(l).expect("paths run between switches"), &mut nodes);
        }
        next += 1;
    }
    nodes.sort_by_key(|&s| (std::cmp::Reverse(paths.hops(s, leaf)), s));
    for (i, s) in nodes.iter().enumerate() {
        position[s.index()] = i as u32;
    }
    let mut dag = Dag {
        supply: vec![0.0; nodes.len()],
        first: vec![0],
        link: Vec::new(),
        target: Vec::new(),
        split: Vec::new(),
    };
    for &(s, bytes) in supply {
        dag.supply[position[s.index()] as usize] += bytes;
    }
    for &s in &nodes {
        let links = paths.links(s, leaf);
        let total: f64 = links.iter().map(|&l| fabric.relative_capacity(l)).sum();
        for &l in links {
            let to = fabric.link_to_switch(l).expect("paths run between switches");
            dag.link.push(l.0);
            dag.target.push(position[to.index()]);
            dag.split.push(fabric.relative_capacity(l) / total);
        }
        dag.first.push(dag.link.len() as u32);
    }
    dag
}

/// Bytes on every link, `base` included.
fn forward(groups: &mut [Vec<Dag>], base: &[f64]) -> Vec<f64> {
    let links = base.len();
    let parts: Vec<Vec<f64>> = groups
        .par_iter()
        .filter(|g| !g.is_empty())
        .map(|group| {
            let mut load = vec![0.0; links];
            group.iter().for_each(|dag| dag.add_loads(&mut load));
            load
        })
        .collect();
    let mut load = base.to_vec();
    for part in parts {
        load.iter_mut().zip(part).for_each(|(sum, b)| *sum += b);
    }
    load
}

impl Dag {
    fn arcs(&self, node: usize) -> std::ops::Range<usize> {
        self.first[node] as usize..self.first[node + 1] as usize
    }

    fn add_loads(&self, load: &mut [f64]) {
        let mut flow = self.supply.clone();
        for node in 0..flow.len() {
            for a in self.arcs(node) {
                let bytes = flow[node] * self.split[a];
                load[self.link[a] as usize] += bytes;
                flow[self.target[a] as usize] += bytes;
            }
        }
    }

    /// The proximal step: splits move towards cheap links, by soft-min distances to the leaf.
    fn respond(&mut self, price: &[f64], rate: f64) {
        let mut distance = vec![0.0; self.supply.len()];
        for node in (0..distance.len()).rev() {
            let arcs = self.arcs(node);
            if arcs.is_empty() {
                continue;
            }
            let cost = |a: usize, d: &[f64]| price[self.link[a] as usize] + d[self.target[a] as usize];
            let least = arcs.clone().map(|a| cost(a, &distance)).fold(f64::INFINITY, f64::min);
            let mut norm = 0.0;
            for a in arcs.clone() {
                let scaled = self.split[a] * (-rate * (cost(a, &distance) - least)).exp();
                self.split[a] = scaled;
                norm += scaled;
            }
            distance[node] = least - norm.ln() / rate;
            for a in arcs {
                self.split[a] = (self.split[a] / norm).max(LEAST_FRACTION);
            }
            debug_assert!(
                (self.arcs(node).map(|a| self.split[a]).sum::<f64>() - 1.0).abs() < 1e-9,
                "a node hands on all that it gets"
            );
        }
    }

    /// Bytes times the length of their shortest paths.
    fn distance(&self, price: &[f64]) -> f64 {
        let mut distance = vec![0.0; self.supply.len()];
        let mut sum = 0.0;
        for node in (0..distance.len()).rev() {
            let arcs = self.arcs(node);
            if !arcs.is_empty() {
                let through = arcs.map(|a| price[self.link[a] as usize] + distance[self.target[a] as usize]);
                distance[node] = through.fold(f64::INFINITY, f64::min);
            }
            sum += self.supply[node] * distance[node];
        }
        sum
    }
}

/// The first weights, as logarithms: heavier where even splits load more; and those loads over the largest.
fn opening(active: &[usize], load: &[f64], capacity: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let hottest = active.iter().map(|&l| load[l] / capacity[l]).fold(0.0, f64::max);
    let ratio: Vec<f64> = active.iter().map(|&l| load[l] / capacity[l] / hottest).collect();
    (ratio.iter().map(|r| 8.0 * (r - 1.0)).collect(), ratio)
}

fn softmax(log: &[f64]) -> Vec<f64> {
    let top = log.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut u: Vec<f64> = log.iter().map(|l| (l - top).exp()).collect();
    let sum: f64 = u.iter().sum();
    u.iter_mut().for_each(|u| *u /= sum);
    u
}

fn prices(active: &[usize], u: &[f64], capacity: &[f64], links: usize) -> Vec<f64> {
    let mut price = vec![0.0; links];
    for (&l, u) in active.iter().zip(u) {
        price[l] = u / capacity[l];
    }
    price
}

/// Weight 1 on links whose share of the weight is at least `keep` of the largest: the cut that the weights point at.
fn flat(price: &[f64], capacity: &[f64], keep: f64) -> Vec<f64> {
    let share = |(w, c): (&f64, &f64)| w * c;
    let top = price.iter().zip(capacity).map(share).fold(0.0, f64::max);
    price.iter().zip(capacity).map(|x| if share(x) >= keep * top { 1.0 } else { 0.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_relative_and_negligible_ones_are_dropped() {
        assert_eq!(relative(&[4e-200, 1e-200, 0.0, 1e-213]), [1.0, 0.25, 0.0, 0.0]);
        assert_eq!(relative(&[1e300, 1e250]), [1.0, 0.0]);
    }
}
