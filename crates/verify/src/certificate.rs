//! Whether a claimed lower bound holds, and whether routes reach it.
//!
//! Trusts nothing but fabric, structure, traffic and tables: every kind of argument is recomputed. A claim is
//! accepted up to a relative error of 1e-9.

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::{Certificate, Csr, Fabric, HostId, Item, LinkId, Reason, Routes, SwitchId, Table};
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::distance::Graph;
use crate::loads::{bytes_on, max_load};

/// Relative tolerance of all comparisons.
const TOLERANCE: f64 = 1e-9;
/// Least weight, relative to the largest, that arithmetic carries: less is refused.
const LEAST_WEIGHT: f64 = 1e-100;
/// Largest table of subset sums, in grid steps.
const MOST_STEPS: f64 = 8e6;

/// What became of a certificate.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// Whether the claim is proved, and no routes contradict it.
    pub ok: bool,
    /// The largest link load of the routes, recomputed (bytes at the reference bandwidth), if routes were given and work.
    pub max_load: Option<f64>,
    /// The bound that the argument gives, recomputed: at least the claim (but for rounding) if it holds.
    pub recomputed_bound: f64,
    /// Whether the routes reach the claim, so that nothing admissible is better.
    pub optimal: bool,
    /// Why not ok, or not optimal where that needs a word; one line each.
    pub reasons: Vec<String>,
}

/// Recomputes the bound from `traffic` and the loads from `routes`.
///
/// A certificate with frozen destinations takes their ways from `routes`, and speaks of routes that agree with these there.
///
/// Pairs without an up*/down* path count for nothing in the bound. Whole-item arguments hold for routes by
/// destination with one address a host; for others they say nothing, and `optimal` is false.
pub fn verify_certificate(
    fabric: &Fabric,
    structure: &Structure,
    routes: Option<&Routes>,
    traffic: &Csr,
    certificate: &Certificate,
) -> Verdict {
    let mut verdict =
        Verdict { ok: true, max_load: None, recomputed_bound: 0.0, optimal: false, reasons: Vec::new() };
    if traffic.size() != fabric.host_count() {
        let (n, hosts) = (traffic.size(), fabric.host_count());
        return verdict.reject(format!("the traffic has {n} endpoints, the fabric {hosts} hosts"));
    }
    let claim = certificate.claim;
    if !(claim == 0.0 || (claim.is_normal() && claim > 0.0)) {
        return verdict.reject(format!("the claim {claim:?} is not a number of bytes"));
    }
    let (frozen, base) = match frozen(fabric, routes, traffic, &certificate.frozen) {
        Ok(found) => found,
        Err(why) => return verdict.reject(why),
    };
    let graph = Graph::new(fabric, structure);
    let case = Case { fabric, structure, traffic, graph, claim, frozen, base };
    let bound = match &certificate.reason {
        Reason::Dual { weights } => case.dual(weights),
        Reason::Pigeonhole { links, items, together } => case.pigeonhole(links, items, *together),
        Reason::DualFeasible { links, threshold } => case.dual_feasible(links, *threshold),
        Reason::SubsetSum { links, grid } => case.subset_sum(links, *grid),
    };
    match bound {
        Ok(bound) if !bound.is_finite() => {
            verdict = verdict.reject(format!("the argument gives {bound}, which is not a number of bytes"));
        }
        Ok(bound) if bound >= claim * (1.0 - TOLERANCE) => verdict.recomputed_bound = bound,
        Ok(bound) => {
            verdict.recomputed_bound = bound;
            verdict = verdict.reject(format!("the argument gives {bound}, less than the claim {claim}"));
        }
        Err(why) => verdict = verdict.reject(why),
    }
    let Some(routes) = routes else { return verdict };
    let by_item = !matches!(certificate.reason, Reason::Dual { .. });
    let whole = matches!(routes.table, Table::ByDest(_)) && routes.one_address();
    match max_load(fabric, routes, traffic) {
        Err(why) => verdict = verdict.reject(why),
        Ok(load) => {
            verdict.max_load = Some(load);
            if by_item && !whole {
                let why = "the bound is for routes by destination with one address a host: these are others";
                verdict.reasons.push(why.into());
            } else if load < claim * (1.0 - TOLERANCE) {
                verdict = verdict.reject(format!(
                    "the routes' largest load {load} is below the claim {claim}: one of them is wrong, or the routes \
                     are not minimal up*/down* routes"
                ));
            } else {
                verdict.optimal = verdict.ok && load <= claim * (1.0 + TOLERANCE);
            }
        }
    }
    verdict
}

impl Verdict {
    fn reject(mut self, why: String) -> Self {
        self.ok = false;
        self.optimal = false;
        self.reasons.push(why);
        self
    }
}

/// Whole items at one leaf, over its links in one direction.
struct Side {
    /// Sizes as load: bytes over the largest relative capacity of the links.
    items: BTreeMap<Item, f64>,
    links: usize,
}

struct Case<'a> {
    fabric: &'a Fabric,
    structure: &'a Structure,
    traffic: &'a Csr,
    graph: Graph,
    claim: f64,
    /// Per host.
    frozen: Vec<bool>,
    /// Bytes per link of what is sent to frozen destinations.
    base: Vec<f64>,
}

/// The frozen hosts, one flag a host, and the bytes that are sent to them on every link.
fn frozen(
    fabric: &Fabric,
    routes: Option<&Routes>,
    traffic: &Csr,
    hosts: &[HostId],
) -> Result<(Vec<bool>, Vec<f64>), String> {
    let mut frozen = vec![false; fabric.host_count()];
    for h in hosts {
        let known = frozen.get_mut(h.index());
        *known.ok_or_else(|| format!("the frozen destination {} is not there", h.0))? = true;
    }
    if hosts.is_empty() {
        return Ok((frozen, vec![0.0; fabric.link_count()]));
    }
    let routes = routes
        .ok_or("the claim is on routes that agree with given ones on frozen destinations: expected routes")?;
    let base = bytes_on(fabric, routes, traffic, |h| frozen[h.index()])?;
    Ok((frozen, base))
}

impl Case<'_> {
    fn dual(&self, weights: &[(LinkId, f64)]) -> Result<f64, String> {
        let fabric = self.fabric;
        let mut weight = vec![0.0; fabric.link_count()];
        let mut seen = BTreeSet::new();
        let mut mass = 0.0;
        // Only ratios of weights count: relative to the largest, products neither overflow nor vanish.
        let largest = weights.iter().map(|&(_, w)| w).fold(0.0, f64::max);
        for &(l, w) in weights {
            self.known(l)?;
            if w != 0.0 && !(w.is_normal() && w > 0.0) {
                return Err(format!("the weight {w:?} of {} is not one", fabric.describe_link(l)));
            }
            if !seen.insert(l) {
                return Err(format!("{} has two weights", fabric.describe_link(l)));
            }
            if w == 0.0 {
                continue;
            }
            let w = w / largest;
            if w < LEAST_WEIGHT {
                let link = fabric.describe_link(l);
                return Err(format!("the weight of {link} is too small beside the largest, {largest:e}"));
            }
            weight[l.index()] = w;
            mass += w * fabric.relative_capacity(l);
        }
        if largest == 0.0 {
            return Ok(0.0);
        }
        if !mass.is_normal() {
            return Err(format!("the weights over all links add up to {mass:e}"));
        }
        // Bytes that lie on links, bytes between leaves, and over host links.
        let mut between: BTreeMap<SwitchId, BTreeMap<SwitchId, f64>> = BTreeMap::new();
        let mut sum: f64 = weight.iter().zip(&self.base).map(|(w, b)| w * b).sum();
        for from in fabric.hosts() {
            let (columns, bytes) = self.traffic.row(from.index());
            let free = |j: u32| j != from.0 && !self.frozen[j as usize];
            let mut row: BTreeMap<SwitchId, f64> = BTreeMap::new();
            let (mut last, mut run) = (None, 0.0);
            for (&j, &b) in columns.iter().zip(bytes).filter(|(j, _)| free(**j)) {
                let to = HostId(j);
                sum += b
                    * (weight[fabric.host_link(from).index()]
                        + weight[fabric.reverse(fabric.host_link(to)).index()]);
                let leaf = fabric.leaf(to);
                if last != Some(leaf) {
                    if let Some(before) = last {
                        *row.entry(before).or_default() += run;
                    }
                    (last, run) = (Some(leaf), 0.0);
                }
                run += b;
            }
            if let Some(before) = last {
                *row.entry(before).or_default() += run;
            }
            for (leaf, b) in row.into_iter().filter(|(leaf, _)| *leaf != fabric.leaf(from)) {
                *between.entry(leaf).or_default().entry(fabric.leaf(from)).or_default() += b;
            }
        }
        let parts: Vec<f64> = between
            .into_par_iter()
            .map(|(leaf, sources)| {
                let towards = self.graph.towards(fabric, leaf, &weight);
                let reached = sources.into_iter().filter(|(s, _)| towards.hops[s.index()] != u32::MAX);
                reached.map(|(s, bytes)| bytes * towards.weight[s.index()]).sum()
            })
            .collect();
        Ok((sum + parts.iter().sum::<f64>()) / mass)
    }

    fn pigeonhole(&self, links: &[LinkId], items: &[Item], together: u32) -> Result<f64, String> {
        let side = self.side(links)?;
        let needed = (side.links as u64) * u64::from(together) + 1;
        if items.len() as u64 != needed {
            let (n, m) = (items.len(), side.links);
            return Err(format!("{n} items on {m} links: expected {m} x {together} + 1"));
        }
        let mut sizes = Vec::with_capacity(items.len());
        let mut seen = BTreeSet::new();
        for item in items {
            if item.leaf.index() >= self.fabric.switch_count()
                || item.destination.index() >= self.fabric.host_count()
            {
                return Err("an item names a node that is not there".into());
            }
            let (leaf, host) = (self.fabric.switch_name(item.leaf), self.fabric.host_name(item.destination));
            if !seen.insert(*item) {
                return Err(format!("the item from {leaf} to {host} is there twice"));
            }
            match side.items.get(item) {
                Some(size) => sizes.push(*size),
                None => return Err(format!("nothing crosses these links from {leaf} to {host}")),
            }
        }
        sizes.sort_by(f64::total_cmp);
        Ok(sizes[..=together as usize].iter().sum())
    }

    fn dual_feasible(&self, links: &[LinkId], threshold: f64) -> Result<f64, String> {
        let side = self.side(links)?;
        // Shown for a capacity a hair below the claim, hence for everything smaller.
        let capacity = self.claim * (1.0 - TOLERANCE);
        if !(threshold.is_normal() && threshold > 0.0 && threshold <= 0.5 * capacity) {
            let half = 0.5 * self.claim;
            return Err(format!("the threshold {threshold:?} is not between 0 and half the claim, {half}"));
        }
        let threshold = threshold * (1.0 - 1e-11);
        let mut count = 0.0;
        for &size in side.items.values() {
            if size > capacity - threshold {
                count += 1.0;
            } else if size >= threshold {
                count += size / capacity;
            }
        }
        if count > side.links as f64 {
            return Ok(self.claim);
        }
        let m = side.links;
        Err(format!("the items count to {count} of {m} links: no more than there are"))
    }

    fn subset_sum(&self, links: &[LinkId], grid: f64) -> Result<f64, String> {
        let side = self.side(links)?;
        let scale = self.scale(links);
        if !(grid.is_normal() && grid > 0.0) {
            return Err(format!("the grid {grid:?} is not a number of bytes"));
        }
        let limit = self.claim * scale / grid;
        if limit > MOST_STEPS {
            return Err(format!("the claim is {limit:.0} steps of the grid: too many to check"));
        }
        // No subset sum may lie in mean..limit.
        let limit = (limit * (1.0 - TOLERANCE)).ceil() as usize;
        let (mut total, mut steps) = (0.0, Vec::new());
        for (item, size) in &side.items {
            let multiple = size * scale / grid;
            let whole = multiple.round();
            if whole < 1.0 || (multiple - whole).abs() > 1e-9 * whole.max(1.0) || whole > 9e15 {
                let host = self.fabric.host_name(item.destination);
                return Err(format!("an item to {host} of {} bytes is no multiple of {grid}", size * scale));
            }
            total += whole;
            if whole < limit as f64 {
                steps.push(whole as usize);
            }
        }
        let mean = (total / side.links as f64).ceil() as usize;
        if mean >= limit {
            return Ok(mean as f64 * grid / scale);
        }
        // Bits of reachable sums below the limit.
        let mut reach = vec![0u64; limit / 64 + 1];
        reach[0] = 1;
        for step in steps {
            let (words, bits) = (step / 64, step % 64);
            for i in (words..reach.len()).rev() {
                let low = if bits > 0 && i > words { reach[i - words - 1] >> (64 - bits) } else { 0 };
                reach[i] |= reach[i - words] << bits | low;
            }
        }
        let found = (mean..limit).find(|s| reach[s / 64] >> (s % 64) & 1 == 1);
        Ok(found.unwrap_or(limit) as f64 * grid / scale)
    }

    fn known(&self, l: LinkId) -> Result<(), String> {
        if l.index() >= self.fabric.link_count() {
            return Err(format!("link {} is not there", l.0));
        }
        if !self.fabric.alive(l) {
            return Err(format!("the cable of {} is dead", self.fabric.describe_link(l)));
        }
        Ok(())
    }

    fn scale(&self, links: &[LinkId]) -> f64 {
        links.iter().map(|&l| self.fabric.relative_capacity(l)).fold(0.0, f64::max)
    }

    /// The leaf and direction that `links` are all of, with the leaf's items.
    fn side(&self, links: &[LinkId]) -> Result<Side, String> {
        let fabric = self.fabric;
        for &l in links {
            self.known(l)?;
            if !fabric.between_switches(l) {
                return Err(format!("{} is not between switches", fabric.describe_link(l)));
            }
        }
        if self.frozen.contains(&true) {
            return Err("this argument does not know frozen destinations".into());
        }
        let given: BTreeSet<LinkId> = links.iter().copied().collect();
        let Some(&any) = links.first() else { return Err("the argument names no links".into()) };
        if given.len() != links.len() {
            return Err("a link is there twice".into());
        }
        let ends = [fabric.link_from_switch(any), fabric.link_to_switch(any)];
        for (leaf, up) in ends.into_iter().flatten().zip([true, false]) {
            if given == self.all_links(leaf, up) {
                let items = self.items(leaf, up, self.scale(links));
                return Ok(Side { items, links: links.len() });
            }
        }
        Err("the links are not all working links of one leaf in one direction".into())
    }

    /// All working links between levels out of (into) a switch.
    fn all_links(&self, leaf: SwitchId, up: bool) -> BTreeSet<LinkId> {
        let level = |s: SwitchId| self.structure.level[s.index()];
        let mut all = BTreeSet::new();
        for l in self.fabric.switch_links(leaf).filter(|&l| self.fabric.alive(l)) {
            if let Some(t) = self.fabric.link_to_switch(l)
                && level(t) != level(leaf)
                && level(t) != u8::MAX
            {
                all.insert(if up { l } else { self.fabric.reverse(l) });
            }
        }
        all
    }

    /// The leaf's items from (or to) other leaves that a path exists for.
    fn items(&self, leaf: SwitchId, up: bool, scale: f64) -> BTreeMap<Item, f64> {
        let fabric = self.fabric;
        let mut items: BTreeMap<Item, f64> = BTreeMap::new();
        let senders: Vec<HostId> = if up { fabric.hosts_on(leaf).to_vec() } else { fabric.hosts().collect() };
        for from in senders {
            let (columns, bytes) = self.traffic.row(from.index());
            let mut add = |to: HostId, b: f64| {
                let crosses = fabric.leaf(from) != fabric.leaf(to);
                if crosses && (fabric.leaf(from) == leaf) == up && (fabric.leaf(to) == leaf) != up {
                    *items.entry(Item { leaf: fabric.leaf(from), destination: to }).or_default() += b;
                }
            };
            if up {
                columns.iter().zip(bytes).for_each(|(&j, &b)| add(HostId(j), b));
            } else {
                for &to in fabric.hosts_on(leaf) {
                    if let Ok(at) = columns.binary_search(&to.0) {
                        add(to, bytes[at]);
                    }
                }
            }
        }
        let ends: BTreeSet<SwitchId> = items.keys().map(|i| fabric.leaf(i.destination)).collect();
        let zero = vec![0.0; fabric.link_count()];
        let ends: Vec<SwitchId> = ends.into_iter().collect();
        let reached: BTreeMap<SwitchId, Vec<u32>> =
            ends.into_par_iter().map(|to| (to, self.graph.towards(fabric, to, &zero).hops)).collect();
        items.retain(|item, _| reached[&fabric.leaf(item.destination)][item.leaf.index()] != u32::MAX);
        items.values_mut().for_each(|b| *b /= scale);
        items
    }
}
