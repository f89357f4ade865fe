//! From items to tables: what every door shares.
//!
//! Anytime: the first routing is the start's own (made admissible), and only better ones replace it.

use netloom_model::{Control, Csr, Fabric, HostId, Lft, LinkId, Routes};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::options::{Change, OptimizeOptions};
use crate::search::budget::Budget;
use crate::search::moves::siblings::Siblings;
use crate::search::outcome::{Because, Outcome, Stop};
use crate::search::start::from_tables;
use crate::search::state::State;
use crate::search::state::items::Items;
use crate::search::state::objective::Objective;
use crate::search::state::slots::Slots;
use crate::search::state::today::TodaysEntries;
use crate::search::{How, search};
use crate::tables::{admissible_lft, routes_with_paths};

/// A fabric with tables to start from.
#[derive(Clone, Copy)]
pub(crate) struct Setting<'a> {
    pub fabric: &'a Fabric,
    pub structure: &'a Structure,
    pub paths: &'a PathSet,
    /// First routing, and the entries that no traffic uses.
    pub background: &'a Routes,
    pub options: &'a OptimizeOptions<'a>,
    pub control: &'a Control,
}

/// Tables, and how the search for them went.
pub(crate) struct Solved {
    /// Who asked for them knows the bound, and so whether they are proven and what they gained.
    pub outcome: Outcome,
    /// Load by layer and link between switches, as the search sees it, for cross-checks.
    pub believed: Vec<Vec<f64>>,
    /// Value of the objective with the routes to begin with (made admissible).
    pub start_value: f64,
    /// Whether some path is another than with these.
    pub moved: bool,
}

/// Searches tables for `items`.
///
/// # Errors
/// [`OptimizeError`] if today's tables don't fit, or don't deliver.
pub(crate) fn solve(
    setting: Setting,
    lft: &Lft,
    items: &Items,
    objective: Objective,
    default_work: u64,
) -> Result<Solved, OptimizeError> {
    solve_patiently(setting, lft, items, objective, default_work, false)
}

/// The same; with `patient`, one coloured start is made even if the time has run out (bounds may have taken it).
///
/// # Errors
/// As [`solve`].
pub(crate) fn solve_patiently(
    setting: Setting,
    lft: &Lft,
    items: &Items,
    objective: Objective,
    default_work: u64,
    patient: bool,
) -> Result<Solved, OptimizeError> {
    let Setting { fabric, structure, paths, background, options, control } = setting;
    let base = admissible_lft(fabric, structure, paths, lft, background.lmc);
    let view = Slots::new(fabric, structure, paths, true);
    // Where nothing may change there is nothing to search for.
    let still = options.change.is_some_and(|change| change.most == Some(0));
    let limit = if still { 0 } else { options.work.unwrap_or(default_work) };
    let budget = Budget { control, limit };
    let mut state = State::empty(&view, items, objective);
    if let Some(change) = &options.change {
        hold(&mut state, &base, change);
    }
    let start = from_tables(&state, &base).map_err(|item| unreachable_item(fabric, items, item))?;
    state.set_paths(start.clone());
    let start_value = state.value();
    let stay = start_value <= state.objective.met;
    let siblings = Siblings::new(&view, &structure.rank);
    let how =
        How { seed: options.seed, depth: options.depth, islands: options.islands.max(1), patient, stay };
    let best = search(&mut state, &siblings, how, &budget);
    let (work, stopped) = (state.work, control.stopped());
    let moved = best.path != start;
    state.set_paths(best.path);
    let believed = believed(&state, &view);
    // Tables of large fabrics are large: nothing else stays while they are written.
    let path = std::mem::take(&mut state.path);
    drop(state);
    let routes = routes_with_paths(&view, structure, base, background, items, &path);
    let changed_entries =
        options.change.as_ref().and_then(|change| Some(change.from.lft()?.changed_entries(routes.lft()?)));
    let stop = best.stop.filter(|&stop| !(still && stop == Stop::Work));
    let outcome = Outcome {
        routes,
        proven_optimal: false,
        stop: stopped.map(Stop::from).or(stop),
        work,
        history: best.history,
        changed_entries,
        changed_because: Because::Nothing,
    };
    Ok(Solved { outcome, believed, start_value, moved })
}

/// Makes the state keep to today's tables as `change` asks.
fn hold<'v>(state: &mut State<'v>, base: &'v Lft, change: &Change) {
    let groups = state.items.groups();
    state.today = Some(TodaysEntries::new(base, change.penalty, change.most.unwrap_or(u64::MAX), groups));
    if change.frozen.iter().any(|&f| f) {
        state.frozen = state.items.host.iter().map(|h| change.frozen[h.index()]).collect();
    }
}

fn believed(state: &State, view: &Slots) -> Vec<Vec<f64>> {
    let slots = view.slots();
    let layer = |k: usize| {
        let mut load = vec![0.0; view.fabric.link_count()];
        for slot in (0..slots).filter(|&s| !view.is_hole(s)) {
            load[view.link_of[slot] as usize] = state.load[k * slots + slot];
        }
        load
    };
    (0..state.objective.len()).map(layer).collect()
}

fn unreachable_item(fabric: &Fabric, items: &Items, item: usize) -> OptimizeError {
    let from = fabric.switch_name(netloom_model::SwitchId(items.leaf[item])).into();
    OptimizeError::BadStart { from, to: fabric.host_name(items.host[items.group[item] as usize]).into() }
}

/// Refuses traffic that no admissible path can carry.
///
/// # Errors
/// [`OptimizeError::Unreachable`] names a pair.
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
pub(crate) fn host_loads(fabric: &Fabric, traffic: &Csr) -> Vec<f64> {
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

/// Whether the tables' loads are those of the search (`believed`) and of the hosts, but for rounding.
pub(crate) fn agrees(tables: &[f64], host_loads: &[f64], believed: &[f64]) -> bool {
    let rounding = 1e-9 * tables.iter().copied().fold(0.0, f64::max);
    let both = host_loads.iter().zip(believed).map(|(h, b)| h + b);
    both.zip(tables).all(|(a, &b)| (a - b).abs() <= rounding)
}
