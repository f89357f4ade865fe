//! Ejection chains: push an item off a hot link, then one off the link that this made hot, and so on.
//!
//! A chain starts at an item on a link loaded above the target. The item goes where it costs least
//! without that link; if that overloads another link, an item of that one is pushed off in turn, up to
//! [`DEPTH`] times. The chain stays if the total penalty did not rise, else it is taken back whole.
//!
//! With exchanges (see `exchange`) most steps settle two sibling links at once, and the chain also stays if what the
//! links carry above the target fell in all. Leaves without slack need them; where
//! links carry only two or three items, pushes alone do better. So phases take turns.

use netloom_model::rng::{Stream, below};

use crate::search::budget::Budget;
use crate::search::moves::exchange::Exchange;
use crate::search::moves::repack::{price, repack};
use crate::search::moves::siblings::Siblings;
use crate::search::state::State;
use rand_core::Rng;

/// The longest chain.
const DEPTH: usize = 24;
/// One part in so many of the work goes into chains that start by repacking.
const PACKING: u64 = 3;
/// Chains between two searches for hot slots.
const ROUND: usize = 64;

/// Runs chains until no slot is hotter than `target` (relative to the goal; see [`State::heat`]), `work` units were spent,
/// or the budget ends.
pub(crate) fn chains(
    state: &mut State,
    siblings: &Siblings,
    target: f64,
    work: u64,
    exchanges: bool,
    random: &mut Stream,
    budget: &Budget,
) -> bool {
    let end = state.work + work;
    state.track(true);
    let mut hot: Vec<u32> = Vec::new();
    let mut exchange = exchanges.then(Exchange::default);
    let (first, mut packing) = (state.work, 0);
    let mut there = false;
    'all: loop {
        hot.clear();
        // Frozen items cannot be pushed off.
        let movable = |s: u32| state.heat(s as usize) > target && !state.items_on(s).is_empty();
        hot.extend((0..state.view.slots() as u32).filter(|&s| movable(s)));
        if hot.is_empty() {
            there = true;
            break;
        }
        for _ in 0..ROUND {
            // Every chain costs something, even one that finds nothing to push.
            state.work += 1;
            if state.work >= end || budget.over(state.work) {
                break 'all;
            }
            // The hotter of two at random: mostly the top, but never stuck on one.
            let pick = |random: &mut Stream| hot[below(random, hot.len() as u64) as usize];
            let (a, b) = (pick(random), pick(random));
            let slot = if state.heat(a as usize) >= state.heat(b as usize) { a } else { b };
            if state.heat(slot as usize) <= target {
                continue;
            }
            // Repacking is dear: a part of the work at most.
            let before = state.work;
            // It is not begun if it cannot end in time: the budget is kept.
            let pack = exchanges
                && PACKING * packing <= before - first
                && before + price(state, siblings, slot) <= end.min(budget.limit);
            chain(state, siblings, slot, target, &mut exchange, pack, random);
            if pack {
                packing += state.work - before;
            }
        }
    }
    state.track(false);
    there
}

/// Forbids the slot, and every other time also a random half of its siblings, so that a chain does not
/// always go the same way.
fn forbid(state: &mut State, slot: u32, siblings: &Siblings, random: &mut Stream) {
    state.scratch.forbidden.clear();
    state.scratch.forbidden.push(slot);
    let mut bits = random.next_u64();
    if bits & 1 == 0 {
        return;
    }
    for &s in siblings.of(slot) {
        bits = bits.rotate_right(1);
        if bits & 1 == 0 && s != slot {
            state.scratch.forbidden.push(s);
        }
    }
}

fn chain(
    state: &mut State,
    siblings: &Siblings,
    start: u32,
    target: f64,
    exchange: &mut Option<Exchange>,
    pack: bool,
    random: &mut Stream,
) {
    let mut slot = start;
    state.open();
    state.scratch.forbidden.clear();
    let mut last = usize::MAX;
    for depth in 0..DEPTH {
        // Mostly exchanges; a push now and then gets where they can't.
        let found = match exchange {
            Some(exchange) if !(pack && depth == 0) && random.next_u32() & 7 != 0 => {
                exchange.find(state, siblings, slot, target, random).map(|other| (&*exchange, other))
            }
            _ => None,
        };
        let done = match found {
            _ if pack && depth == 0 => repack(state, siblings, slot, target, random),
            Some((exchange, other)) => exchange.apply(state, siblings, slot, other),
            None => match push(state, siblings, slot, last, random) {
                Some(item) => {
                    last = item;
                    true
                }
                None => false,
            },
        };
        if !done {
            state.undo();
            return;
        }
        let success = if exchange.is_some() { state.excess_rise(target) } else { state.rise() };
        if success < 0.0 {
            break;
        }
        // The hottest of all slots that the chain has touched.
        let worst =
            state.touched_slots().max_by(|&a, &b| state.heat(a as usize).total_cmp(&state.heat(b as usize)));
        slot = worst.expect("a path has a link");
        if state.heat(slot as usize) <= target {
            break;
        }
    }
    let excess = if exchange.is_some() { state.excess_rise(target) } else { 0.0 };
    if (excess < 0.0 && !state.changes_too_many()) || (excess == 0.0 && state.rise() <= 0.0) {
        state.keep();
    } else {
        state.undo();
    }
}

/// Pushes a random item off a slot, to where it costs least. None if it has no other way.
fn push(
    state: &mut State,
    siblings: &Siblings,
    slot: u32,
    last: usize,
    random: &mut Stream,
) -> Option<usize> {
    let items_on = state.items_on(slot);
    if items_on.is_empty() {
        return None;
    }
    let mut item = items_on[below(random, items_on.len() as u64) as usize] as usize;
    if item == last {
        item = items_on[below(random, items_on.len() as u64) as usize] as usize;
    }
    let group = state.items.group[item] as usize;
    state.remove(item);
    state.fix(group);
    forbid(state, slot, siblings, random);
    let placed = state.insert(item);
    state.scratch.forbidden.clear();
    placed.then_some(item)
}
