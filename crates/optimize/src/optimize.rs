//! The door: traffic in, complete and better tables out, with the bound that they are measured against.
//!
//! Anytime: the first routing is the background's own (made admissible), and only better ones replace it.
//! Reproducible: equal inputs, seed and work budget give equal routes, whatever the number of threads;
//! only a stop from outside (Ctrl-C, a time limit) makes a result depend on the machine, and the result
//! says so. *Better* is lexicographic: a lower maximum over the links between switches, then fewer of them.
//!
//! The search aims at a proven lower bound (crate `bounds`) and ends there: more is impossible.
//! Sources: Taffet, dissertation, sec. 3.3–3.5, for the problem and the adaptive-routing bound.

use netloom_bounds::{ArBound, ar_bound, lower_bound_with_frozen, tighten};
use netloom_model::{Certificate, Control, Csr, Fabric, PathChoice, Routes};
use netloom_routing::{LinkLoads, PathSet, loads};
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::options::{Change, OptimizeOptions};
use crate::search::budget::TOLERANCE;
use crate::search::outcome::{Because, Outcome, has_outcome};
use crate::search::state::items::{Items, items};
use crate::search::state::objective::{Objective, Rule};
use crate::search::target::switch_target;
use crate::solve::{Setting, agrees, check_reachable, host_loads, solve_patiently};

/// Optimised routes.
#[derive(Clone, Debug)]
pub struct Optimized {
    /// The tables, and how the search went; history is of links between switches.
    pub outcome: Outcome,
    /// Their loads, host links included.
    pub loads: LinkLoads,
    /// The lower bound, with its certificate.
    pub bound: Certificate,
    /// The adaptive-routing bound, if it was computed here (none if [`OptimizeOptions::bound`] was given).
    pub ar: Option<ArBound>,
    /// Largest load of a link between switches.
    pub switch_max_load: f64,
    /// What the search aimed at: no routing has a lower largest load between switches.
    pub switch_bound: f64,
}

has_outcome!(Optimized);

/// The best routes for `traffic` that the work budget finds, in complete tables.
///
/// `background` gives the first routing and the entries that carry no traffic (where they are admissible);
/// with [`OptimizeOptions::change`] today's routes take its place.
///
/// # Errors
/// [`OptimizeError`] if shapes disagree, tables to start from are not destination-based, or traffic has no path.
pub fn optimize(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<Optimized, OptimizeError> {
    let background = options.change.map_or(background, |change| change.from);
    let setting = Setting { fabric, structure, paths, background, options, control };
    in_pool(options.threads, || {
        let found = run(setting, traffic)?;
        with_more_changes(setting, traffic, found)
    })
}

/// Searches that may change a few entries more, as these end elsewhere: the best that stays within the limit.
fn with_more_changes(
    setting: Setting,
    traffic: &Csr,
    mut best: Optimized,
) -> Result<Optimized, OptimizeError> {
    let options = setting.options;
    let Some(Change { from, most: Some(most @ 1..), penalty, .. }) = options.change else {
        return Ok(best);
    };
    let changed = |found: &Optimized| {
        let tables = from.lft().zip(found.outcome.routes.lft());
        tables.map_or(u64::MAX, |(was, is)| was.changed_entries(is))
    };
    for more in MORE_CHANGES {
        if best.outcome.proven_optimal || setting.control.stopped().is_some() {
            break;
        }
        let change = options.change.map(|change| Change { most: Some(most + more), ..change });
        let options = OptimizeOptions { change, bound: Some(best.bound.clone()), ..options.clone() };
        let found = run(Setting { options: &options, ..setting }, traffic)?;
        let price = penalty * (changed(&found) as f64 - changed(&best) as f64);
        if changed(&found) <= most && is_better(&found, &best, price) {
            best = Optimized { ar: best.ar, ..found };
        }
    }
    Ok(best)
}

/// By how many changes more than are allowed is searched besides.
const MORE_CHANGES: [u64; 3] = [1, 2, 4];

/// Whether a result has less on its fullest link, at its price, or on the fullest between switches if the former is the same.
fn is_better(found: &Optimized, than: &Optimized, price: f64) -> bool {
    let less = |a: f64, b: f64| a < b - TOLERANCE * b.abs();
    let (mine, theirs) = (found.loads.max() + price, than.loads.max());
    less(mine, theirs) || (!less(theirs, mine) && less(found.switch_max_load + price, than.switch_max_load))
}

/// Runs on so many threads of its own; 0 takes the caller's.
pub(crate) fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    if threads == 0 {
        return run();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(threads).build() {
        Ok(pool) => pool.install(run),
        // The system gives no more threads; the caller's will do.
        Err(_) => run(),
    }
}

fn run(setting: Setting, traffic: &Csr) -> Result<Optimized, OptimizeError> {
    let Setting { fabric, paths, background, options, .. } = setting;
    let in_time = setting.control.stopped().is_none();
    let lft = crate::afar::check_shapes(fabric, traffic, background)?;
    let items = items(fabric, traffic, background);
    check_reachable(fabric, paths, traffic, &items)?;
    let (bound, ar) = match &options.bound {
        Some(bound) => (bound.clone(), None),
        None => bounds(setting, traffic).map(|(bound, ar)| (bound, Some(ar)))?,
    };
    let host_loads = host_loads(fabric, traffic);
    let host_max = host_loads.iter().copied().fold(0.0, f64::max);
    let switch_bound = switch_bound(setting, traffic, &items, &bound, host_max);
    let work = default_work(options, items.len() as u64);
    // Where host links are the bottleneck, cooler switches are a courtesy: worth all the work that is asked for,
    // but not much by default,
    let enough = if options.work.is_none() { host_max } else { 0.0 };
    // and no changed entry.
    let objective = match options.change {
        Some(_) => Objective::layers(Rule::Sum, vec![1.0], vec![host_max], &[switch_bound.max(host_max)]),
        None => Objective::single(switch_bound).courtesy_below(enough),
    };
    // Links of hosts are as hot as they are: where they are above the bound, it is not met.
    let meets = !options.tail && host_max <= bound.claim * (1.0 + TOLERANCE);
    let objective = if meets { objective.met_at(bound.claim) } else { objective };
    let solved = solve_patiently(setting, lft, &items, objective, work, in_time)?;

    // What is reported is what the tables do, not what the search believes.
    let loads = loads(fabric, &solved.outcome.routes, traffic)?;
    debug_assert!(
        agrees(&loads.load, &host_loads, &solved.believed[0]),
        "the search and its tables disagree"
    );
    let switch_max = loads.max_between_switches(fabric);
    let (before, after) = (solved.start_value.max(host_max), switch_max.max(host_max));
    let outcome = Outcome {
        proven_optimal: loads.max() <= bound.claim * (1.0 + TOLERANCE),
        changed_because: Because::of(solved.moved, before, after),
        ..solved.outcome
    };
    Ok(Optimized { outcome, bound, ar, switch_max_load: switch_max, loads, switch_bound })
}

/// Path searches where nobody says how many. Where changes are counted, the best few are found first and soon; what
/// follows prefers today's entries and rarely gains anything.
pub(crate) fn default_work(options: &OptimizeOptions, items: u64) -> u64 {
    let counted = options.change.is_some_and(|change| change.penalty > 0.0 || change.most.is_some());
    if counted { 500_000 + 2 * items } else { 8_000_000 + 20 * items }
}

/// Whether everything that a leaf's hosts send to one host takes one way: not with several addresses a
/// host and senders that choose among them.
fn whole(background: &Routes) -> bool {
    background.lmc == 0 || background.path == PathChoice::Base
}

/// The bounds of one matrix.
pub(crate) fn bounds(setting: Setting, traffic: &Csr) -> Result<(Certificate, ArBound), OptimizeError> {
    let Setting { fabric, structure, paths, background, options, control } = setting;
    let ar = ar_bound(fabric, structure, paths, traffic, control, None)
        .map_err(|e| OptimizeError::Bound(e.to_string()))?;
    if !whole(background) {
        // The bound with frozen destinations is on whole items too.
        return Ok((ar.certificate.clone(), ar));
    }
    if let Some(change) = options.change.filter(|change| change.frozen.contains(&true)) {
        let (from, frozen) = (change.from, change.frozen);
        let bound = lower_bound_with_frozen(fabric, structure, paths, traffic, from, frozen, control, None)
            .map_err(|e| OptimizeError::Bound(e.to_string()))?;
        return Ok((bound, ar));
    }
    let bound = tighten(fabric, structure, paths, traffic, ar.certificate.clone());
    Ok((bound, ar))
}

/// What the links between switches can aim at: the overall bound, unless the links of hosts explain it.
pub(crate) fn switch_bound(
    setting: Setting,
    traffic: &Csr,
    items: &Items,
    bound: &Certificate,
    host_max: f64,
) -> f64 {
    if bound.claim > host_max * (1.0 + TOLERANCE) {
        return bound.claim;
    }
    let Setting { fabric, structure, paths, background, .. } = setting;
    let mut cut = bound.clone();
    cut.claim = switch_target(fabric, structure, items);
    if whole(background) { tighten(fabric, structure, paths, traffic, cut).claim } else { cut.claim }
}
