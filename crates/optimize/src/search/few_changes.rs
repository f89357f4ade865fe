//! The best few changes: when entries that change are counted, the hottest link first.
//!
//! Takes one item at a time off the hottest slot: of all its items the one whose best other way lowers the
//! total penalty most, changed entries included. AFAR's idea (Smith et al., SC18, Algorithm 1) with the whole
//! way of an item as the move, and every item of the link as a candidate.

use crate::search::budget::TOLERANCE;
use crate::search::state::State;

/// Sharpness: steep enough for the hottest slot to come first, smooth enough to see the next.
const SHARPNESS: f64 = 60.0;
/// Penalty of a changed entry, relative to that of the hottest slot.
const CHANGED_ENTRY_PENALTY: f64 = 0.02;
/// Items of a slot that are tried, at most.
const MOST_ITEMS_TRIED: usize = 200;

/// Work space of the steps.
pub(crate) struct FewChanges {
    items_on: Vec<u32>,
}

impl FewChanges {
    /// Makes the state ready for steps; a refresh ends them.
    pub fn new(state: &mut State) -> Self {
        state.set_alpha(SHARPNESS);
        state.track(true);
        Self { items_on: Vec::new() }
    }

    /// Moves the best item off the hottest slot; false if that is at its goal, or nothing helps.
    pub fn step(&mut self, state: &mut State) -> bool {
        let slots = state.view.slots();
        let heat = |&a: &usize, &b: &usize| state.heat(a).total_cmp(&state.heat(b));
        let hottest = (0..slots).max_by(heat).filter(|&s| state.heat(s) > 1.0 + TOLERANCE);
        let Some(slot) = hottest else { return false };
        let weights = (0..state.objective.len()).map(|k| state.weight[k * slots + slot]);
        let heaviest = weights.fold(0.0, f64::max);
        if let Some(today) = &mut state.today {
            today.cost = CHANGED_ENTRY_PENALTY * heaviest;
        }
        let items_on = &mut self.items_on;
        items_on.clear();
        items_on.extend_from_slice(state.items_on(slot as u32));
        items_on.sort_unstable();
        // Evenly over them, if there are too many.
        let stride = items_on.len().div_ceil(MOST_ITEMS_TRIED).max(1);
        let mut best: Option<(f64, u32)> = None;
        for &item in items_on.iter().step_by(stride) {
            if let Some(rise) = moved(state, item, slot as u32)
                && rise < best.map_or(0.0, |(least, _)| least)
            {
                best = Some((rise, item));
            }
            state.undo();
        }
        if let Some((_, item)) = best {
            moved(state, item, slot as u32).expect("it could move a moment ago");
            state.keep();
        }
        best.is_some()
    }
}

/// Opens the log and moves an item off a slot; by how much the penalty rose, if it can leave.
fn moved(state: &mut State, item: u32, slot: u32) -> Option<f64> {
    state.open();
    state.remove(item as usize);
    state.fix(state.items.group[item as usize] as usize);
    state.scratch.forbidden.clear();
    state.scratch.forbidden.push(slot);
    let placed = state.insert(item as usize);
    state.scratch.forbidden.clear();
    placed.then(|| state.rise())
}
