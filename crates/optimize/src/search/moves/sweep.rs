//! Soft-max sweeps: lift items off and put them back by their lightest path.
//!
//! An item alone never makes things worse: its old path is among the choices. Several items of one
//! destination that share entries can only leave them together: they are lifted together and put back
//! one by one, and the change is kept if the total penalty did not rise.

use netloom_model::rng::{Stream, shuffle};

use crate::search::budget::Budget;
use crate::search::state::State;
use crate::search::state::slots::NONE;

/// One pass over all groups in random order, moving the items that use a slot hotter than `floor`
/// (relative to the goal; see [`State::heat`]). Stops early when the budget ends.
pub(crate) fn sweep(state: &mut State, floor: f64, random: &mut Stream, budget: &Budget) {
    let mut order: Vec<u32> = (0..state.items.groups() as u32).collect();
    shuffle(random, &mut order);
    let mut hot: Vec<u32> = Vec::new();
    for g in order {
        if budget.over(state.work) {
            return;
        }
        let g = g as usize;
        if state.is_frozen(g) {
            continue;
        }
        hot_items(state, g, floor, &mut hot);
        if hot.is_empty() {
            continue;
        }
        shuffle(random, &mut hot);
        for &item in &hot {
            state.remove(item as usize);
            state.fix(g);
            let placed = state.insert(item as usize);
            debug_assert!(placed, "the old path was admissible");
        }
        hot_items(state, g, floor, &mut hot);
        if hot.len() > 1 {
            together(state, g, &mut hot);
        }
    }
}

/// Lifts `items` of group `g` and puts them back, largest first; undone if the total penalty rose.
pub(crate) fn together(state: &mut State, g: usize, items: &mut [u32]) -> bool {
    let bytes = &state.items.bytes;
    items.sort_by(|&a, &b| bytes[b as usize].total_cmp(&bytes[a as usize]).then(a.cmp(&b)));
    state.open();
    for &item in items.iter() {
        state.remove(item as usize);
    }
    for &item in items.iter() {
        state.fix(g);
        if !state.insert(item as usize) {
            state.undo();
            return false;
        }
    }
    if state.rise() > 0.0 {
        state.undo();
        return false;
    }
    state.keep();
    true
}

fn hot_items(state: &State, g: usize, floor: f64, hot: &mut Vec<u32>) {
    hot.clear();
    let stride = state.view.stride;
    for item in state.items.of(g) {
        let path = &state.path[item * stride..(item + 1) * stride];
        if path.iter().any(|&s| s != NONE && state.heat(s as usize) > floor) {
            hot.push(item as u32);
        }
    }
}
