//! Whether a claimed lower bound holds, and whether routes reach it.
//!
//! Trusts nothing but fabric, structure, traffic and tables: every kind of argument is recomputed. A claim is
//! accepted up to a relative error of 1e-9. Here duals; whole items in `whole`.

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::{Certificate, Csr, Fabric, HostId, LinkId, Reason, Routes, SwitchId, Table, Ways};
use netloom_topology::Structure;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::distance::Graph;
use crate::loads::{bytes_on, max_load};
use crate::ways::other_way;

/// Relative tolerance of all comparisons.
pub(crate) const TOLERANCE: f64 = 1e-9;
/// Least weight, relative to the largest, that arithmetic carries: less is refused.
const LEAST_WEIGHT: f64 = 1e-100;

/// What became of a certificate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Whether the claim is proved, and no routes that it is of contradict it.
    pub ok: bool,
    /// The largest link load of the routes, recomputed (bytes at the reference bandwidth), if routes were given and work.
    pub max_load: Option<f64>,
    /// The bound that the argument gives, recomputed: at least the claim (but for rounding) if it holds.
    pub recomputed_bound: f64,
    /// Whether the routes are of what the claim is a bound of, and reach it: none of these are better.
    pub optimal: bool,
    /// Why not ok, or not optimal where that needs a word; one line each.
    pub reasons: Vec<String>,
}

/// Recomputes the bound from `traffic` and the loads from `routes`.
///
/// A certificate with frozen destinations takes their ways from `routes`, and speaks of routes that agree with these there.
///
/// Pairs without an up*/down* path count for nothing in the bound. Whole-item arguments hold for routes by
/// destination with one address a host, unless they are on pairs; for others they say nothing, and `optimal` is false. So
/// it is for routes that take other ways than the certificate's, minimal up*/down* or shortest ones: no bound is of these.
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
    if certificate.ways == Ways::Any && !matches!(certificate.reason, Reason::Dual { .. }) {
        return verdict.reject("of any ways only a dual is an argument".into());
    }
    let graph = Graph::of(fabric, structure, certificate.ways);
    let case = Case { fabric, traffic, graph, claim, frozen, base, pairs: certificate.pairs };
    let bound = match &certificate.reason {
        Reason::Dual { weights } => case.dual(weights).map(|dual| dual.paid / dual.mass),
        Reason::WholeDual { weights, grid } => case.whole_dual(weights, *grid),
        Reason::Pigeonhole { links, items } => case.pigeonhole(links, items),
        Reason::DualFeasible { links, threshold } => case.dual_feasible(links, *threshold),
        Reason::SubsetSum { links, grid } => case.subset_sum(links, *grid),
        Reason::Patterns { links, grid, by_size } => case.patterns(links, *grid, by_size),
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
    let by_item = !certificate.pairs && !matches!(certificate.reason, Reason::Dual { .. });
    let whole = matches!(routes.table, Table::ByDest(_)) && routes.one_address();
    match max_load(fabric, routes, traffic) {
        Err(why) => verdict = verdict.reject(why),
        Ok(load) => {
            verdict.max_load = Some(load);
            let within = certificate.ways == Ways::Any;
            let elsewhere = if within { None } else { other_way(fabric, &case.graph, routes, traffic) };
            if let Some((from, to)) = elsewhere {
                let (from, to) = (fabric.host_name(from), fabric.host_name(to));
                verdict.reasons.push(format!(
                    "the bound is of {}: these routes take others, such as from {from} to {to}",
                    case.graph.ways().words()
                ));
            } else if by_item && !whole {
                let why = "the bound is for routes by destination with one address a host: these are others";
                verdict.reasons.push(why.into());
            } else if load < claim * (1.0 - TOLERANCE) {
                verdict = verdict.reject(format!(
                    "the routes' largest load {load} is below the claim {claim}: one of them is wrong"
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

/// What weights of links prove, relative to the largest.
struct Dual {
    /// Bytes times the lengths of shortest paths.
    paid: f64,
    /// Weights times capacities.
    mass: f64,
    largest: f64,
}

/// What an argument is judged by.
pub(crate) struct Case<'a> {
    pub fabric: &'a Fabric,
    pub traffic: &'a Csr,
    pub graph: Graph,
    pub claim: f64,
    /// Per host.
    pub frozen: Vec<bool>,
    /// Bytes per link of what is sent to frozen destinations.
    pub base: Vec<f64>,
    /// Every pair of hosts is an item of its own.
    pub pairs: bool,
}

/// The frozen hosts, one flag a host, and the bytes that are sent to them on every link.
pub(crate) fn frozen(
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
    /// Whether links that carry whole items alone cannot carry what the weights ask for, just below the claim.
    fn whole_dual(&self, weights: &[(LinkId, f64)], grid: f64) -> Result<f64, String> {
        let fabric = self.fabric;
        if !(grid.is_normal() && grid > 0.0) {
            return Err(format!("the grid {grid:?} is not a number of bytes"));
        }
        if self.pairs || self.frozen.contains(&true) {
            return Err("a dual of whole items is of all items, with one address a host".into());
        }
        if let Some(&(l, _)) =
            weights.iter().find(|(l, _)| l.index() < fabric.link_count() && !fabric.between_switches(*l))
        {
            return Err(format!("{} is not between switches", fabric.describe_link(l)));
        }
        let dual = self.dual(weights)?;
        let mut items: BTreeMap<(SwitchId, HostId), f64> = BTreeMap::new();
        for (from, to, bytes) in self.traffic.iter().map(|(i, j, b)| (HostId(i), HostId(j), b)) {
            if fabric.leaf(from) != fabric.leaf(to) {
                *items.entry((fabric.leaf(from), to)).or_default() += bytes;
            }
        }
        for (&(_, to), size) in &items {
            let multiple = size / grid;
            if (multiple - multiple.round()).abs() > 1e-12 * multiple || multiple.round() < 1.0 {
                let host = fabric.host_name(to);
                return Err(format!("an item to {host} of {size} bytes is no multiple of {grid}"));
            }
        }
        let below = self.claim * (1.0 - TOLERANCE);
        let held = |&(l, w): &(LinkId, f64)| {
            w / dual.largest * grid * (below * fabric.relative_capacity(l) / grid).floor()
        };
        let held: f64 = weights.iter().map(held).sum();
        // Where nothing is sent over them, nothing is proved.
        if dual.paid > held * (1.0 + TOLERANCE) {
            return Ok(self.claim);
        }
        Err(format!("below the claim links hold {held}, no less than what is asked of them, {}", dual.paid))
    }

    fn dual(&self, weights: &[(LinkId, f64)]) -> Result<Dual, String> {
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
            return Ok(Dual { paid: 0.0, mass: 1.0, largest: 1.0 });
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
        Ok(Dual { paid: sum + parts.iter().sum::<f64>(), mass, largest })
    }

    pub(crate) fn known(&self, l: LinkId) -> Result<(), String> {
        if l.index() >= self.fabric.link_count() {
            return Err(format!("link {} is not there", l.0));
        }
        if !self.fabric.alive(l) {
            return Err(format!("the cable of {} is dead", self.fabric.describe_link(l)));
        }
        Ok(())
    }
}
