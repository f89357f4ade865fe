//! Needless changes given back: equally good routes with fewer changed entries.
//!
//! A search that changes entries freely changes many that gain nothing. Destination by destination, what it moved
//! is lifted and put back by the way that changes the fewest entries, unless the hottest links' loads become worse,
//! compared from the hottest down.

use netloom_model::Control;

use crate::search::budget::TOLERANCE;
use crate::search::state::State;

/// Sharpness: a link just below the maximum is as good as an idle one.
const SHARPNESS: f64 = 20_000.0;
/// Penalty of a changed entry, where that of a link at the maximum is 1.
const CHANGED_ENTRY_PENALTY: f64 = 0.5;
/// Path searches that are still made after a stop from outside: a few hundredths of a second.
const SEARCHES_AFTER_STOP: u64 = 3000;

/// Gives back what it can with `work` path searches; says whether anything was given back. The state must know
/// today's tables and hold complete paths.
pub(crate) fn restore(state: &mut State, work: u64, control: &Control) -> bool {
    // What cooler links carry may rise to just less than the maximum.
    let below = |max: f64| if max > 0.0 { max * (1.0 - 3.0 * TOLERANCE) } else { 1.0 };
    let goals = state.maxima().map(below).collect();
    let goal = std::mem::replace(&mut state.objective.goal, goals);
    state.set_alpha(SHARPNESS);
    let before = give_back(state, work, control);
    state.objective.goal = goal;
    state.refresh();
    changes(state) < before
}

/// Goes over all groups; the changed entries of before.
fn give_back(state: &mut State, work: u64, control: &Control) -> u64 {
    if let Some(today) = &mut state.today {
        today.cost = CHANGED_ENTRY_PENALTY;
    }
    let before = changes(state);
    let start = state.work;
    let stopped = control.stopped().is_some();
    let mut items: Vec<u32> = Vec::new();
    for group in 0..state.items.groups() {
        let spent = state.work - start;
        if spent >= work || (control.stopped().is_some() && (!stopped || spent >= SEARCHES_AFTER_STOP)) {
            break;
        }
        let changed = state.today.as_ref().is_some_and(|today| today.of(group) > 0);
        if !changed || state.is_frozen(group) {
            continue;
        }
        items.clear();
        items.extend(state.items.of(group).map(|item| item as u32));
        let bytes = &state.items.bytes;
        items.sort_by(|&a, &b| bytes[b as usize].total_cmp(&bytes[a as usize]).then(a.cmp(&b)));
        state.open();
        items.iter().for_each(|&item| state.remove(item as usize));
        let placed = items.iter().all(|&item| {
            state.fix(group);
            state.insert(item as usize)
        });
        if placed && state.changes_rise() < 0 && !state.hotter_above_goal() {
            state.keep();
        } else {
            state.undo();
        }
    }
    before
}

fn changes(state: &State) -> u64 {
    state.today.as_ref().map_or(0, |today| today.total())
}

#[cfg(test)]
mod tests {
    use netloom_model::{DestId, HostId, SwitchId, Table};
    use netloom_routing::{Engine, EngineOptions, PathSet, route};
    use netloom_testkit::matrix;
    use netloom_topology::{detect, generate};

    use super::*;
    use crate::search::start::from_tables;
    use crate::search::state::items::items;
    use crate::search::state::objective::Objective;
    use crate::search::state::slots::Slots;
    use crate::search::state::today::TodaysEntries;

    /// Hosts 0 and 1 of one leaf send to hosts 2 and 3 of another, over two spines; today's tables take one spine
    /// for both, or one for each. The way to host 2 has moved to the other spine: is it given back?
    fn given_back(bytes: [f64; 2], shared: bool) -> bool {
        let fabric = generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let today = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
        let Table::ByDest(mut lft) = today.table.clone() else { panic!() };
        let (leaf, space) = (SwitchId(fabric.leaf(HostId(0)).0), fabric.dests(0));
        let [two, three]: [DestId; 2] = [2, 3].map(|h| space.host(HostId(h), 0));
        assert_ne!(lft.get(leaf, two), lft.get(leaf, three), "ftree spreads");
        if shared {
            let port = lft.get(leaf, three);
            lft.set(leaf, two, port);
        }
        let entries: Vec<(u64, u64, f64)> = vec![(0, 2, bytes[0]), (1, 3, bytes[1])];
        let items = items(&fabric, &matrix(4, &entries), &today);
        let view = Slots::new(&fabric, &structure, &paths, true);
        let mut state = State::empty(&view, &items, Objective::single(1.0));
        state.today = Some(TodaysEntries::new(&lft, 0.0, u64::MAX, items.groups()));
        let start = from_tables(&state, &lft).unwrap();
        state.set_paths(start);
        assert_eq!(changes(&state), 0);
        let old = state.path[0];
        state.remove(0);
        state.fix(0);
        state.scratch.forbidden.push(old);
        assert!(state.insert(0));
        state.scratch.forbidden.clear();
        state.refresh();
        assert_eq!(changes(&state), 1, "the leaf's entry; a spine has one way down");
        let better = restore(&mut state, 100, &Control::new());
        assert_eq!(better, state.path[0] == old);
        better
    }

    #[test]
    fn what_gains_nothing_is_given_back_and_what_gains_stays() {
        // Moved onto the other's spine: 8 where 4 would do.
        assert!(given_back([4.0, 4.0], false));
        // Moved off the other's spine: 4 instead of 8, worth an entry.
        assert!(!given_back([4.0, 4.0], true));
        // Moved off the other's spine, where 1 + 4 is more than 4.
        assert!(!given_back([1.0, 4.0], true));
    }

    #[test]
    fn the_hottest_way_itself_is_given_back_where_both_are_as_good() {
        // 9 on either spine; the other way carries next to nothing, but where they meet is more.
        assert!(given_back([9.0, 1.0], false));
    }
}
