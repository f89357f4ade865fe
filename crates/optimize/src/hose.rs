//! The door for the hose model: only what every host sends and receives in all is known.
//!
//! Minimised is the worst load of a link over *all* matrices within these sums, which are infinitely many. By cutting
//! planes: routes for the matrices at hand (`layers`, the worst of them), then the matrices that are worst for these
//! routes (`worst`, exact), which join the ones at hand; and so on. The routes with the least worst load are kept, the
//! background's (made admissible) among them.
//!
//! What is reported of routes is exact. Lower bounds on *any* routes:
//! - the bound of a single matrix, proven as ever (crate `bounds`);
//! - a leaf: every destination elsewhere leaves it by one of its `k` links, so on one of them lie at least the
//!   `m + 1` smallest of the `m k + 1` largest received sums, and the leaf's hosts can send them all, or all they have;
//! - a host's own link.
//!
//! Sources: Duffield et al., SIGCOMM 1999, for the model; cutting planes for it as in Ben-Ameur and Kerivin, "Routing
//! of uncertain traffic demands", Optimization and Engineering 6, 2005.

use std::sync::Arc;

use netloom_bounds::ArBound;
use netloom_model::{
    BoundClass, Certificate, Control, Csr, Fabric, Hose, HostId, Improvement, LinkId, Routes, SwitchId, Table,
};
use netloom_routing::{LinkLoads, PathSet};
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::layers::{self, Combine, Layer};
use crate::optimize::in_pool;
use crate::options::{Change, OptimizeOptions};
use crate::search::budget::TOLERANCE;
use crate::search::outcome::{Because, Outcome, Stop, has_outcome};
use crate::solve::Setting;
use crate::tables::admissible_lft;
use crate::worst::{Crossing, Crossings, check_hose, entries, of_others};

/// Matrices at hand at most: every one has loads of its own in the search.
const MOST_MATRICES: usize = 32;
/// Path searches in all, unless told.
const WORK: u64 = 4_000_000;
/// Pairs of leaf and destination up to which the even matrix is looked at.
const EVEN_PAIRS: usize = 2_000_000;

/// Why no routes have a smaller worst load.
#[derive(Clone, Debug, PartialEq)]
pub enum HoseProof {
    /// One of [`OptimizedHose::scenarios`], and why no routes carry it better.
    Scenario(usize, Certificate),
    /// The links up of a leaf: too many destinations for them.
    Leaf(SwitchId),
    /// A host's own link.
    Host(LinkId),
}

impl HoseProof {
    /// The routes that the bound holds for.
    pub fn class(&self) -> BoundClass {
        match self {
            Self::Scenario(_, certificate) => certificate.class(),
            Self::Leaf(_) => BoundClass::UpDownTables,
            Self::Host(_) => BoundClass::AnyRoutes,
        }
    }
}

/// Routes for a hose.
#[derive(Clone, Debug)]
pub struct OptimizedHose {
    /// The tables, and how the search went; history is of the worst load between switches.
    pub outcome: Outcome,
    /// The exact worst load of every link, each over all matrices within the sums.
    pub worst: LinkLoads,
    /// A matrix within the sums that loads the hottest link between switches to its worst.
    pub worst_matrix: Csr,
    /// The largest worst load of a link between switches.
    pub switch_max_load: f64,
    /// The same of the background's routes.
    pub background_worst: f64,
    /// No destination-based admissible routes have a smaller largest worst load.
    pub lower_bound: f64,
    /// Where it binds, for people.
    pub bound_at: String,
    /// Why it holds.
    pub proof: HoseProof,
    /// The matrices that the search ended with.
    pub scenarios: Vec<Csr>,
    /// Rounds of search and worst matrix.
    pub rounds: usize,
}

has_outcome!(OptimizedHose);

/// The routes with the least worst load over all matrices within the sums of `hose` that the work budget finds.
///
/// `background` gives the first routes and the entries that no matrix at hand used. [`OptimizeOptions::bound`] is not
/// looked at.
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, `background` is not by destination, has several addresses a host, or does
/// not deliver, hosts that may talk have no admissible path, or `control` stopped it before the background's worst
/// loads were known. (Its ways are walked to the end once that has begun; loads of links that irregular routes cross are not.)
pub fn optimize_hose(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    hose: &Hose,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<OptimizedHose, OptimizeError> {
    let background = options.change.map_or(background, |change| change.from);
    check_hose(fabric, hose)?;
    check_joined(fabric, paths, hose)?;
    let setting = Setting { fabric, structure, paths, background, options, control };
    in_pool(options.threads, || run(setting, hose))
}

/// Routes, and the exact worst of their links.
struct Kept {
    routes: Routes,
    worst: LinkLoads,
    /// What crosses every link.
    crossed: Arc<[Crossing]>,
    /// Largest worst load between switches, and how many links have it.
    value: (f64, usize),
}

impl Kept {
    fn new(fabric: &Fabric, routes: Routes, hose: &Hose, control: &Control) -> Result<Self, OptimizeError> {
        Self::walked(fabric, routes, hose, control, control)
    }

    /// What there is to begin with. Without it there is no answer at all, so its walk, which takes time for every
    /// (switch, host) and no more, is not stopped once it has begun.
    fn first(fabric: &Fabric, routes: Routes, hose: &Hose, control: &Control) -> Result<Self, OptimizeError> {
        if control.stopped().is_some() {
            return Err(OptimizeError::Stopped);
        }
        Self::walked(fabric, routes, hose, &Control::new(), control)
    }

    fn walked(
        fabric: &Fabric,
        routes: Routes,
        hose: &Hose,
        walk: &Control,
        control: &Control,
    ) -> Result<Self, OptimizeError> {
        let crossings = Crossings::new(fabric, &routes, hose, walk)?;
        let (worst, crossed) = (crossings.worst(control)?, crossings.links());
        let max = worst.max_between_switches(fabric);
        let hot =
            |l: &LinkId| fabric.between_switches(*l) && worst.load[l.index()] >= max * (1.0 - TOLERANCE);
        let count = if max > 0.0 { fabric.links().filter(hot).count() } else { 0 };
        Ok(Self { routes, worst, crossed, value: (max, count) })
    }

    fn beats(&self, other: &Self) -> bool {
        let (max, least) = (self.value.0, other.value.0);
        max < least * (1.0 - TOLERANCE) || (max <= least * (1.0 + TOLERANCE) && self.value.1 < other.value.1)
    }
}

/// The same with every entry towards a host admissible: no credit loops, and a way for every pair that has one.
fn made_admissible(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    hose: &Hose,
    given: Kept,
    control: &Control,
) -> Result<Kept, OptimizeError> {
    let lft = given.routes.lft().expect("crossings are of routes by destination");
    let lft = admissible_lft(fabric, structure, paths, lft, given.routes.lmc);
    if given.routes.lft() == Some(&lft) {
        return Ok(given);
    }
    let routes = Routes { table: Table::ByDest(lft), ..given.routes };
    Kept::new(fabric, routes, hose, control)
}

fn run(setting: Setting, hose: &Hose) -> Result<OptimizedHose, OptimizeError> {
    let Setting { fabric, structure, paths, background, options, control } = setting;
    let given = Kept::first(fabric, background.clone(), hose, control)?;
    let background_worst = given.value.0;
    let mut best = made_admissible(fabric, structure, paths, hose, given, control)?;
    let (mut lower_bound, mut proof) = own_bound(setting, hose);
    let mut scenarios: Vec<Csr> = Vec::new();
    let mut known: Vec<(Certificate, ArBound)> = Vec::new();
    let first_max = best.worst.max();
    let mut history = vec![improvement(0, best.value)];
    let limit = options.work.unwrap_or(WORK);
    let (mut work, mut rounds) = (0, 0);
    let differ = |change: Change| Some(change.from.lft()?.changed_entries(best.routes.lft()?));
    let mut changed_entries = options.change.and_then(differ);
    scenarios.extend(first_matrices(fabric, hose));
    add_worst(fabric, hose, &best, lower_bound, &mut scenarios, control)?;
    while best.worst.max() > lower_bound * (1.0 + TOLERANCE) && work < limit && control.stopped().is_none() {
        rounds += 1;
        let layers: Vec<Layer> =
            scenarios.iter().map(|matrix| Layer { name: String::new(), matrix, weight: 1.0 }).collect();
        // A few rounds may use most of the work, if they find no end.
        let share = (limit / 8).max(1).min(limit - work);
        // Levels of a few of the matrices say little.
        let options =
            &OptimizeOptions { work: Some(share), bound: None, depth: 0, tail: true, ..options.clone() };
        let from = if options.change.is_some() { background } else { &best.routes };
        let found =
            layers::run(Setting { background: from, options, ..setting }, &layers, Combine::Worst, &known)?;
        work += found.work.max(1);
        for layer in &found.layers[known.len()..] {
            if layer.bound.claim > lower_bound {
                lower_bound = layer.bound.claim;
                proof = HoseProof::Scenario(known.len(), layer.bound.clone());
            }
            known.push((layer.bound.clone(), layer.ar.clone()));
        }
        let next = match Kept::new(fabric, found.outcome.routes, hose, control) {
            // What is known of the best so far is exact.
            Err(OptimizeError::Stopped) => break,
            next => next?,
        };
        let better = next.beats(&best);
        if better {
            history.push(improvement(work, next.value));
            changed_entries = found.outcome.changed_entries;
        }
        // What these routes suffer most joins; unless they are as good as the matrices at hand ask already.
        let open = next.value.0 > found.objective * (1.0 + TOLERANCE);
        if open && scenarios.len() < MOST_MATRICES {
            add_worst(fabric, hose, &next, lower_bound, &mut scenarios, control)?;
        }
        if better {
            best = next;
        }
        if scenarios.len() == known.len() {
            break;
        }
    }
    let stopped = control.stopped().map(Stop::from);
    let max = best.worst.max();
    let worst_matrix = worst_matrix(fabric, hose, &best, control)?;
    let outcome = Outcome {
        routes: best.routes,
        proven_optimal: max <= lower_bound * (1.0 + TOLERANCE),
        stop: stopped.or((work >= limit).then_some(Stop::Work)),
        work,
        changed_because: Because::of(history.len() > 1, first_max, max),
        history,
        changed_entries,
    };
    Ok(OptimizedHose {
        outcome,
        bound_at: place(fabric, &proof),
        switch_max_load: best.value.0,
        worst: best.worst,
        worst_matrix,
        background_worst,
        lower_bound,
        proof,
        scenarios,
        rounds,
    })
}

fn improvement(work: u64, (max_load, links_at_max): (f64, usize)) -> Improvement {
    Improvement { work, max_load, links_at_max, changed_entries: 0 }
}

/// Links between switches by their worst load, hottest first.
fn hottest(fabric: &Fabric, worst: &LinkLoads) -> Vec<LinkId> {
    let mut links: Vec<LinkId> =
        fabric.links().filter(|&l| fabric.between_switches(l) && worst.load[l.index()] > 0.0).collect();
    let key = |l: &LinkId| worst.load[l.index()];
    links.sort_by(|a, b| key(b).total_cmp(&key(a)).then(a.cmp(b)));
    links
}

/// Adds a matrix that is as bad as can be for these routes, on as many links as the sums allow.
fn add_worst(
    fabric: &Fabric,
    hose: &Hose,
    kept: &Kept,
    floor: f64,
    scenarios: &mut Vec<Csr>,
    control: &Control,
) -> Result<(), OptimizeError> {
    let links = hottest(fabric, &kept.worst);
    let above = links.iter().take_while(|l| kept.worst.load[l.index()] > floor).count().max(1);
    let crossings = Crossings::known(fabric, &kept.routes, hose, Arc::clone(&kept.crossed))?;
    if let Some(links) = links.get(..above) {
        scenarios.push(crossings.matrix(links, floor, control)?);
    }
    Ok(())
}

fn worst_matrix(fabric: &Fabric, hose: &Hose, kept: &Kept, control: &Control) -> Result<Csr, OptimizeError> {
    let links = hottest(fabric, &kept.worst);
    let crossings = Crossings::known(fabric, &kept.routes, hose, Arc::clone(&kept.crossed))?;
    crossings.matrix(&links[..links.len().min(1)], f64::INFINITY, control)
}

/// What to begin with: everybody's bytes to a few far away, in order; and spread over all, if that is not too much.
fn first_matrices(fabric: &Fabric, hose: &Hose) -> Vec<Csr> {
    let n = fabric.host_count();
    // The north-west corner rule, receivers shifted by half the fabric.
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let (mut i, mut k) = (0, 0);
    let (mut s, mut r) = (0.0, 0.0);
    while i < n && k < n {
        let j = (k + n / 2) % n;
        s = if s > 0.0 { s } else { hose.sent[i] };
        r = if r > 0.0 { r } else { hose.received[j] };
        let part = f64::min(s, r);
        if part > 0.0 && i != j {
            from.push(i as u64);
            to.push(j as u64);
            bytes.push(part);
        }
        (s, r) = (s - part, r - part);
        i += usize::from(s <= 0.0);
        k += usize::from(r <= 0.0);
    }
    let mut all = vec![entries(fabric, &from, &to, &bytes)];
    let leaves: Vec<SwitchId> = fabric
        .switches()
        .filter(|&s| fabric.hosts_on(s).iter().any(|h| hose.sent[h.index()] > 0.0))
        .collect();
    let receivers = hose.received.iter().filter(|r| **r > 0.0).count();
    if leaves.len() * receivers <= EVEN_PAIRS {
        all.push(even(fabric, hose, &leaves));
    }
    all
}

/// Every leaf sends to every host in proportion to both sums; of a leaf's hosts one after another.
fn even(fabric: &Fabric, hose: &Hose, leaves: &[SwitchId]) -> Csr {
    let (sent, received): (f64, f64) = (hose.sent.iter().sum(), hose.received.iter().sum());
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for &leaf in leaves {
        let hosts = fabric.hosts_on(leaf);
        let all: f64 = hosts.iter().map(|h| hose.sent[h.index()]).sum();
        let (mut at, mut left) = (0, hose.sent[hosts[0].index()]);
        for j in fabric.hosts().filter(|&j| hose.received[j.index()] > 0.0 && fabric.leaf(j) != leaf) {
            let mut amount = all * hose.received[j.index()] / sent.max(received);
            while amount > 0.0 && at < hosts.len() {
                let part = amount.min(left);
                if part > 0.0 {
                    from.push(u64::from(hosts[at].0));
                    to.push(u64::from(j.0));
                    bytes.push(part);
                }
                (amount, left) = (amount - part, left - part);
                if left <= 0.0 {
                    at += 1;
                    left = hosts.get(at).map_or(0.0, |h| hose.sent[h.index()]);
                }
            }
        }
    }
    entries(fabric, &from, &to, &bytes)
}

/// The best bound that looks at no matrix: hosts' links, and what leaves must send by few links.
fn own_bound(setting: Setting, hose: &Hose) -> (f64, HoseProof) {
    let Setting { fabric, paths, .. } = setting;
    let (sent, received) = (of_others(&hose.sent), of_others(&hose.received));
    let mut best = (0.0, HoseProof::Host(LinkId(0)));
    for h in fabric.hosts() {
        let (s, r) = (hose.sent[h.index()], hose.received[h.index()]);
        let up = fabric.host_link(h);
        for (link, bytes) in [(up, s.min(received[h.index()])), (fabric.reverse(up), r.min(sent[h.index()]))]
        {
            let load = bytes / fabric.relative_capacity(link);
            if load > best.0 {
                best = (load, HoseProof::Host(link));
            }
        }
    }
    let mut order: Vec<HostId> = fabric.hosts().filter(|h| hose.received[h.index()] > 0.0).collect();
    order.sort_by(|a, b| hose.received[b.index()].total_cmp(&hose.received[a.index()]).then(a.cmp(b)));
    for &leaf in paths.leaves() {
        let all: f64 = fabric.hosts_on(leaf).iter().map(|h| hose.sent[h.index()]).sum();
        if all <= best.0 {
            continue;
        }
        let elsewhere = order.iter().filter(|&&h| fabric.leaf(h) != leaf);
        let sizes: Vec<f64> = elsewhere.map(|h| hose.received[h.index()]).collect();
        let mut links: Vec<LinkId> =
            paths.leaves().iter().flat_map(|&other| paths.links(leaf, other)).copied().collect();
        links.sort_unstable();
        links.dedup();
        let capacity = links.iter().map(|&l| fabric.relative_capacity(l));
        let (fastest, total) = (capacity.clone().fold(0.0, f64::max), capacity.sum::<f64>());
        if links.is_empty() || sizes.is_empty() {
            continue;
        }
        let load = (sizes.iter().sum::<f64>() / total).max(crowd(&sizes, links.len()) / fastest);
        let load = load.min(all / fastest);
        if load > best.0 {
            best = (load, HoseProof::Leaf(leaf));
        }
    }
    best
}

/// Some link of `links` holds at least this much of `sizes` (falling) whole: among the `m links + 1` largest, `m + 1`.
fn crowd(sizes: &[f64], links: usize) -> f64 {
    let mut most = 0.0f64;
    let mut m = 0;
    while m * links < sizes.len() {
        let first = m * links + 1;
        most = most.max(sizes[first - (m + 1)..first].iter().sum());
        m += 1;
    }
    most
}

fn place(fabric: &Fabric, proof: &HoseProof) -> String {
    match proof {
        HoseProof::Scenario(_, certificate) => certificate.place.clone(),
        HoseProof::Leaf(leaf) => format!("{} up", fabric.switch_name(*leaf)),
        HoseProof::Host(link) => match fabric.link_from_switch(*link) {
            None => format!("{} up", fabric.node_name(fabric.link_from(*link))),
            Some(_) => format!("{} down", fabric.node_name(fabric.link_to(*link))),
        },
    }
}

/// Refuses sums of hosts that no path joins.
fn check_joined(fabric: &Fabric, paths: &PathSet, hose: &Hose) -> Result<(), OptimizeError> {
    let of = |sums: &[f64]| -> Vec<HostId> { fabric.hosts().filter(|h| sums[h.index()] > 0.0).collect() };
    let (senders, receivers) = (of(&hose.sent), of(&hose.received));
    let refuse = |from: HostId, to: HostId| {
        let name = |h| fabric.host_name(h).to_string();
        Err(OptimizeError::Unreachable { from: name(from), to: name(to) })
    };
    let dead = |h: &&HostId| !fabric.alive(fabric.host_link(**h));
    if let (Some(&from), Some(&to)) = (senders.iter().find(dead), receivers.first()) {
        return refuse(from, to);
    }
    if let (Some(&from), Some(&to)) = (senders.first(), receivers.iter().find(dead)) {
        return refuse(from, to);
    }
    let first_on = |hosts: &[HostId]| -> Vec<HostId> {
        let mut hosts = hosts.to_vec();
        hosts.sort_by_key(|&h| (fabric.leaf(h), h));
        hosts.dedup_by_key(|h| fabric.leaf(*h));
        hosts
    };
    let receivers = first_on(&receivers);
    for from in first_on(&senders) {
        let here = fabric.leaf(from);
        let cut = |to: &&HostId| paths.hops(here, fabric.leaf(**to)).is_none();
        if let Some(&to) = receivers.iter().find(cut) {
            return refuse(from, to);
        }
    }
    Ok(())
}
