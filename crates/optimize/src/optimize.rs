//! The door: traffic in, complete and better tables out, with the bound that they are measured against.
//!
//! Anytime: the first routing is the background's own (made admissible), and only better ones replace it.
//! Reproducible: equal inputs, seed and work budget give equal routes, whatever the number of threads;
//! only a stop from outside (Ctrl-C, a time limit) makes a result depend on the machine, and the result
//! says so. *Better* is lexicographic: a lower maximum over the links between switches, then fewer of them.
//!
//! The search aims at a proven lower bound (crate `bounds`) and ends there: more is impossible.
//! Sources: Taffet, dissertation, sec. 3.3–3.5, for the problem and the adaptive-routing bound.

use netloom_bounds::{ArBound, ar_bound, tighten};
use netloom_model::{Certificate, Control, Csr, Fabric, HostId, LinkId, PathChoice, Routes, StopReason};
use netloom_routing::{LinkLoads, PathSet, loads};
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::budget::{Budget, Step, TOLERANCE};
use crate::chain::Siblings;
use crate::items::{Items, items};
use crate::search::search;
use crate::start::from_tables;
use crate::state::State;
use crate::tables::{admissible_lft, routes_with_paths};
use crate::target::switch_target;
use crate::view::View;

/// How to search.
#[derive(Clone, Debug, Default)]
pub struct OptimizeOptions {
    /// Seed of all random choices.
    pub seed: u64,
    /// Threads for what runs in parallel (bounds, tables; the search itself is one thread); 0 takes the
    /// caller's pool. Never changes the result.
    pub threads: usize,
    /// Path searches to spend at most, about a microsecond each; `None` lets the traffic's size decide.
    /// The result depends on it reproducibly.
    pub work: Option<u64>,
    /// A lower bound that is already known, with its certificate; `None` has it computed.
    pub bound: Option<Certificate>,
}

/// Optimised routes.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// Complete tables: every entry towards a host admissible.
    pub routes: Routes,
    /// Their loads, host links included.
    pub loads: LinkLoads,
    /// The lower bound, with its certificate.
    pub bound: Certificate,
    /// The adaptive-routing bound, if it was computed here (none if [`OptimizeOptions::bound`] was given).
    pub ar: Option<ArBound>,
    /// The maximum load (host links included) meets the bound.
    pub proven_optimal: bool,
    /// Largest load of a link between switches.
    pub switch_max_load: f64,
    /// What the search aimed at: no routing has a lower largest load between switches.
    pub switch_bound: f64,
    /// Why the search was cut short from outside, if it was.
    pub stopped: Option<StopReason>,
    /// Path searches spent.
    pub work: u64,
    /// The work budget ended the search before it reached what it aimed at.
    pub exhausted: bool,
    /// Equal inputs, seed and work give this result again.
    pub reproducible: bool,
    /// How the best routing improved.
    pub history: Vec<Step>,
}

/// The best routes for `traffic` that the work budget finds, in complete tables.
///
/// `background` gives the first routing and the entries that carry no traffic (where they are admissible).
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, `background` is not destination-based, or traffic has no path.
pub fn optimize(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<Optimized, OptimizeError> {
    let run = || run(fabric, structure, paths, traffic, background, options, control);
    if options.threads == 0 {
        return run();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(options.threads).build() {
        Ok(pool) => pool.install(run),
        // The system gives no more threads; the caller's will do.
        Err(_) => run(),
    }
}

fn run(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<Optimized, OptimizeError> {
    let lft = crate::afar::check_shapes(fabric, traffic, background)?;
    let items = items(fabric, traffic, background);
    check_reachable(fabric, paths, traffic, &items)?;
    // With several addresses a host, and senders that choose among them, items need not stay whole.
    let whole = background.lmc == 0 || background.path == PathChoice::Base;
    let (bound, ar) = bounds(fabric, structure, paths, traffic, whole, options, control)?;
    let host_loads = host_loads(fabric, traffic);
    let host_max = host_loads.iter().copied().fold(0.0, f64::max);
    // The overall bound binds the switches' part unless host links explain it.
    let switch_bound = if bound.claim > host_max * (1.0 + TOLERANCE) {
        bound.claim
    } else {
        let mut cut = bound.clone();
        cut.claim = switch_target(fabric, structure, &items);
        if whole { tighten(fabric, structure, paths, traffic, cut).claim } else { cut.claim }
    };

    let base = admissible_lft(fabric, paths, lft, background.lmc);
    let view = View::new(fabric, structure, paths, true);
    // Where host links are the bottleneck, cooler switches are a courtesy.
    let most = if bound.claim > host_max * (1.0 + TOLERANCE) { 8_000_000 } else { 1_000_000 };
    let limit = options.work.unwrap_or(most + 20 * items.len() as u64);
    let budget = Budget { control, limit };
    let mut state = State::empty(&view, &items, switch_bound);
    let start = from_tables(&state, &base).map_err(|item| OptimizeError::Unreachable {
        from: items
            .some_source(fabric, traffic, item)
            .map_or_else(String::new, |h| fabric.host_name(h).into()),
        to: fabric.host_name(items.host[items.group[item] as usize]).into(),
    })?;
    state.set_paths(start);
    let siblings = Siblings::new(&view, &structure.level);
    let best = search(&mut state, &siblings, switch_bound, options.seed, &budget);
    let (work, stopped) = (state.work, control.stopped());

    let routes = routes_with_paths(&view, &base, background, &items, &best.path);
    // What is reported is what the tables do, not what the search believes.
    let loads = loads(fabric, &routes, traffic)?;
    state.set_paths(best.path);
    debug_assert!(agrees(&loads, &host_loads, &state, &view), "the search and its tables disagree");
    let switch_max_load = loads.max_between_switches(fabric);
    Ok(Optimized {
        proven_optimal: loads.max() <= bound.claim * (1.0 + TOLERANCE),
        bound,
        ar,
        switch_max_load,
        routes,
        loads,
        switch_bound,
        stopped,
        work,
        exhausted: stopped.is_none() && work >= limit && switch_max_load > switch_bound * (1.0 + TOLERANCE),
        reproducible: stopped.is_none(),
        history: best.history,
    })
}

fn bounds(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    whole: bool,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<(Certificate, Option<ArBound>), OptimizeError> {
    if let Some(bound) = &options.bound {
        return Ok((bound.clone(), None));
    }
    let ar = ar_bound(fabric, structure, paths, traffic, control, None)
        .map_err(|e| OptimizeError::Bound(e.to_string()))?;
    let bound = ar.certificate.clone();
    let bound = if whole { tighten(fabric, structure, paths, traffic, bound) } else { bound };
    Ok((bound, Some(ar)))
}

/// Whether the tables' loads are those of the search, but for rounding.
fn agrees(tables: &LinkLoads, host_loads: &[f64], state: &State, view: &View) -> bool {
    let mut load = host_loads.to_vec();
    for (slot, &l) in state.load.iter().enumerate() {
        if !view.is_hole(slot) {
            load[view.link_of[slot] as usize] = l;
        }
    }
    let rounding = 1e-9 * tables.max();
    load.iter().zip(&tables.load).all(|(a, b)| (a - b).abs() <= rounding)
}

/// An error if traffic has no admissible path.
pub(crate) fn check_reachable(
    fabric: &Fabric,
    paths: &PathSet,
    traffic: &Csr,
    items: &Items,
) -> Result<(), OptimizeError> {
    use netloom_model::SwitchId;
    let missing = (0..items.len())
        .find(|&i| paths.hops(SwitchId(items.leaf[i]), SwitchId(items.target_of(i))).is_none());
    if let Some(item) = missing {
        let from =
            items.some_source(fabric, traffic, item).map_or_else(String::new, |h| fabric.host_name(h).into());
        let to = fabric.host_name(items.host[items.group[item] as usize]).into();
        return Err(OptimizeError::Unreachable { from, to });
    }
    for (i, j, _) in traffic.iter().filter(|&(i, j, _)| i != j) {
        for host in [HostId(i), HostId(j)] {
            if !fabric.alive(fabric.host_link(host)) {
                let name = |h: u32| fabric.host_name(HostId(h)).to_string();
                return Err(OptimizeError::Unreachable { from: name(i), to: name(j) });
            }
        }
    }
    Ok(())
}

/// Loads of the links to and from hosts, which no routing changes; zero elsewhere.
fn host_loads(fabric: &Fabric, traffic: &Csr) -> Vec<f64> {
    let mut load = vec![0.0; fabric.link_count()];
    for i in 0..traffic.size() {
        let (columns, bytes) = traffic.row(i);
        for (&j, &b) in columns.iter().zip(bytes) {
            if i as u32 != j {
                load[i] += b;
                load[fabric.reverse(fabric.host_link(HostId(j))).index()] += b;
            }
        }
    }
    for (link, l) in load.iter_mut().enumerate().filter(|(_, l)| **l > 0.0) {
        *l /= fabric.relative_capacity(LinkId(link as u32));
    }
    load
}
