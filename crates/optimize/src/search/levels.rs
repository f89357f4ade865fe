//! Below the maximum: the number of links on each load level is minimised, from the hottest level down.
//!
//! A *level* is a load that some links between switches carry, with their number: the links within
//! [`TOLERANCE`] of the hottest that no higher level holds. Links without load make no level. Two routings
//! compare lexicographically: value of the objective, load of the first level, its links, load of the second,
//! and so on to a stated depth below the first; a level that a routing does not have is the least of all.
//! (Taffet, dissertation, sec. 5.4.1: equal maxima on 4 or on 114 links, 6.3 ms or 21.1 ms of run time.)
//!
//! The search is by chains as in `moves::ejection`, held to that order exactly: a chain stays only if the loads at or
//! above the level at work, sorted, did not rise lexicographically. Whatever is cooler may change freely, so
//! equal chains wander over a large plateau. A level ends when chains in a row brought nothing; when all did,
//! a few destinations of the hottest links are routed anew, and all levels follow again.
//!
//! With several layers (see `objective`) each link counts once in every layer, with its load relative to the
//! layer's goal, and no layer's own maximum rises.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use netloom_model::Improvement;
use netloom_model::rng::{Stream, below, shuffle, stream};

use crate::search::best::Best;
use crate::search::budget::{Budget, TOLERANCE};
use crate::search::moves::siblings::Siblings;
use crate::search::state::State;
use crate::search::state::slots::NONE;

/// The longest chain.
const LONGEST_CHAIN: usize = 12;
/// Sharpness of the penalty around the level at work, in turn.
const SHARPNESS: [f64; 3] = [300.0, 30.0, 3000.0];
/// Chains in a row that may bring nothing to a level: so many, and some for every link of it.
const CHAINS_WITHOUT_GAIN: (usize, usize, usize) = (60, 4, 400);
/// Destinations routed anew in a row that may bring nothing.
const PERTURBATIONS_WITHOUT_GAIN: usize = 100;
/// Sharpness at which destinations are routed anew, in turn.
const PERTURBATION_SHARPNESS: [f64; 4] = [30.0, 3.0, 100.0, 10.0];
/// Loads that differ less, relatively, than rounding can explain.
const ROUNDING: f64 = 1e-12;

/// Path searches for the levels below the maximum.
pub(crate) fn share(items: usize, depth: usize) -> u64 {
    if depth == 0 { 0 } else { (20_000 + items as u64 / 8).min(100_000) }
}

/// The highest `count` levels of heat.
pub(crate) fn levels(state: &State, count: usize) -> Vec<(f64, usize)> {
    let slots = state.view.slots().max(1);
    let layers = state.load.chunks(slots).zip(&state.objective.goal);
    let heats = || layers.clone().flat_map(|(loads, &goal)| loads.iter().map(move |&load| load / goal));
    if count > 16 {
        let mut sorted: Vec<f64> = heats().filter(|&h| h > 0.0).collect();
        sorted.sort_unstable_by(|a, b| b.total_cmp(a));
        let mut levels: Vec<(f64, usize)> = Vec::new();
        for heat in sorted {
            let full = levels.len() == count;
            match levels.last_mut() {
                Some((top, links)) if heat >= *top * (1.0 - TOLERANCE) => *links += 1,
                _ if full => break,
                _ => levels.push((heat, 1)),
            }
        }
        return levels;
    }
    let (mut levels, mut below) = (Vec::new(), f64::INFINITY);
    while levels.len() < count {
        let top = heats().filter(|&h| h < below).fold(0.0, f64::max);
        if top <= 0.0 {
            break;
        }
        let end = top * (1.0 - TOLERANCE);
        levels.push((top, heats().filter(|&h| h >= end && h < below).count()));
        below = end;
    }
    levels
}

/// Which levels are better, that is less.
pub(crate) fn compare(a: &[(f64, usize)], b: &[(f64, usize)]) -> Ordering {
    for k in 0..a.len().max(b.len()) {
        let at = |levels: &[(f64, usize)]| levels.get(k).copied().unwrap_or((0.0, 0));
        let ((load, links), (other, others)) = (at(a), at(b));
        let order = within(load, other, TOLERANCE).then(links.cmp(&others));
        if order != Ordering::Equal {
            return order;
        }
    }
    Ordering::Equal
}

/// Compares, equal if the two are relatively as close as that.
fn within(a: f64, b: f64, tolerance: f64) -> Ordering {
    if (a - b).abs() <= tolerance * a.max(b) { Ordering::Equal } else { a.total_cmp(&b) }
}

/// Lowers the levels of the best paths to `depth` below the first, while the budget lasts. The best paths
/// only ever change for better ones.
pub(crate) fn cool(
    state: &mut State,
    siblings: &Siblings,
    best: &mut Best,
    depth: usize,
    seed: u64,
    budget: &Budget,
) {
    if depth == 0 || budget.over(state.work) {
        return;
    }
    state.set_paths(best.path.clone());
    let mut cooling = Cooling::new(state, siblings, depth, stream(seed, 998), budget);
    let mut least = levels(state, depth + 1);
    if !cooling.promising(state, &least) {
        return;
    }
    state.track(true);
    let (mut turn, mut idle) = (0, 0);
    loop {
        cooling.descend(state);
        // What is not a path search counts by what it takes.
        state.work += 1 + (state.items.len() + state.load.len()) as u64 / 64;
        state.refresh();
        let (value, now) = (state.value(), levels(state, depth + 1));
        match within(value, best.value, TOLERANCE).then(compare(&now, &least)) {
            Ordering::Less => {
                (least, idle) = (now, 0);
                take(state, best, value, budget);
            }
            Ordering::Equal => idle += 1,
            Ordering::Greater => {
                idle += 1;
                state.set_paths(best.path.clone());
                state.work += (state.items.len() + state.load.len()) as u64 / 64;
            }
        }
        if idle >= PERTURBATIONS_WITHOUT_GAIN
            || budget.over(state.work)
            || !cooling.perturb(state, &least, turn)
        {
            break;
        }
        turn += 1;
    }
    state.track(false);
    state.centre = 1.0;
}

/// Whether a slot has such a heat in some layer.
fn carries(state: &State, slot: usize, floor: f64, top: f64) -> bool {
    let slots = state.view.slots();
    let mut layers = state.objective.goal.iter().enumerate();
    layers.any(|(k, &goal)| (floor..=top).contains(&(state.load[k * slots + slot] / goal)))
}

/// Computes all weights afresh, which counts as work.
fn sharpen(state: &mut State, alpha: f64) {
    state.work += state.load.len() as u64 / 128;
    state.set_alpha(alpha);
}

/// Makes the present paths the best ones.
fn take(state: &State, best: &mut Best, value: f64, budget: &Budget) {
    let heats = || (0..state.view.slots()).map(|s| state.heat(s));
    let heat = heats().fold(0.0, f64::max);
    let count = heats().filter(|&h| h >= heat * (1.0 - TOLERANCE)).count();
    // The history tells of maximum and links; deeper levels are the result's.
    let told = best.beaten_by(value, count);
    (best.value, best.heat, best.count) = (value, heat, count);
    best.path.clone_from(&state.path);
    if told {
        let improvement =
            Improvement { work: state.work, max_load: value, links_at_max: count, changed_entries: 0 };
        best.history.push(improvement);
        budget.control.improved(improvement);
    }
}

/// See [`Cooling::bundle`].
fn bundles(state: &State) -> Vec<u32> {
    let view = state.view;
    let switches = view.fabric.switch_count();
    let mut is_leaf = vec![false; switches];
    for item in 0..state.items.len() {
        is_leaf[state.items.leaf[item] as usize] = true;
        is_leaf[state.items.target_of(item) as usize] = true;
    }
    let mut numbers = BTreeMap::new();
    let mut bundle = |slot: usize| {
        if view.is_hole(slot) {
            return 0;
        }
        let (from, to) = (view.from[slot], view.to[slot]);
        let pod = |switch: u32| view.layout.as_ref().map_or(u32::MAX, |l| l.pod[switch as usize]);
        let name = match (is_leaf[from as usize], is_leaf[to as usize]) {
            (true, _) => (0, from),
            (_, true) => (1, to),
            _ if pod(from) != u32::MAX => (2, pod(from)),
            _ => (3, pod(to)),
        };
        let next = numbers.len() as u32;
        *numbers.entry(name).or_insert(next)
    };
    (0..view.slots()).map(&mut bundle).collect()
}

struct Cooling<'c> {
    siblings: &'c Siblings,
    depth: usize,
    random: Stream,
    budget: &'c Budget<'c>,
    /// No layer gets hotter than this.
    most: Vec<f64>,
    /// Links whose loads have the same sum in all routings, as far as is known: those of one leaf, and
    /// higher up those of one pod, of one direction. By slot.
    bundle: Vec<u32>,
    /// Least heat of a bundle.
    coolest: Vec<f64>,
    lifted: Vec<u32>,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl<'c> Cooling<'c> {
    fn new(
        state: &State,
        siblings: &'c Siblings,
        depth: usize,
        random: Stream,
        budget: &'c Budget<'c>,
    ) -> Self {
        let most = state.maxima().zip(&state.objective.goal).map(|(max, goal)| max / goal * (1.0 + ROUNDING));
        let bundle = bundles(state);
        let coolest = vec![0.0; bundle.iter().max().map_or(0, |&b| b as usize + 1)];
        let most = most.collect();
        let (lifted, before, after) = (Vec::new(), Vec::new(), Vec::new());
        Self { siblings, depth, random, budget, most, bundle, coolest, lifted, before, after }
    }

    /// Whether something on one of the levels could move at all; one pass over all paths.
    fn promising(&mut self, state: &State, levels: &[(f64, usize)]) -> bool {
        self.survey(state);
        let Some(&(coolest, _)) = levels.last() else { return false };
        let coolest = coolest * (1.0 - TOLERANCE);
        // On a link of its own an item is as cool as it gets; but for faster links.
        let cap = state.view.inv_cap.iter().copied().fold(f64::INFINITY, f64::min);
        let mut parts = vec![state.items.amounts.is_some(); state.view.slots()];
        let stride = state.view.stride.max(1);
        for (k, &slot) in state.path.iter().enumerate().filter(|(_, s)| **s != NONE) {
            let alone = state.items.bytes[k / stride] * cap / state.objective.goal[0];
            parts[slot as usize] |= alone < state.heat(slot as usize) * (1.0 - TOLERANCE);
        }
        (0..state.view.slots())
            .any(|s| parts[s] && state.heat(s) >= coolest && self.has_room(state, s as u32, state.heat(s)))
    }

    /// Looks at the coolest link of every bundle.
    fn survey(&mut self, state: &State) {
        self.coolest.fill(f64::INFINITY);
        for slot in (0..state.view.slots()).filter(|&s| !state.view.is_hole(s)) {
            let coolest = &mut self.coolest[self.bundle[slot] as usize];
            *coolest = coolest.min(state.heat(slot));
        }
    }

    /// Whether a link could get cooler than `heat` without making another hotter: not one of a bundle whose
    /// links all are that hot.
    fn has_room(&self, state: &State, slot: u32, heat: f64) -> bool {
        let coolest = self.coolest[self.bundle[slot as usize] as usize];
        state.objective.len() > 1 || coolest < heat * (1.0 - TOLERANCE)
    }

    /// Lowers level after level.
    fn descend(&mut self, state: &mut State) {
        let mut level = 0;
        while level <= self.depth && !self.budget.over(state.work) {
            let Some(&(heat, _)) = levels(state, level + 1).get(level) else { break };
            // The first levels count most, but not alone.
            let end = state.work + (self.budget.limit - state.work).div_ceil(2);
            if !self.lower(state, heat, end) {
                level += 1;
            }
        }
    }

    /// Takes links off the level of `heat`; whether none is left.
    fn lower(&mut self, state: &mut State, heat: f64, end: u64) -> bool {
        let (floor, top) = (heat * (1.0 - TOLERANCE), heat * (1.0 + TOLERANCE));
        let mut turn = 0;
        let mut idle = 0;
        let mut most_idle = 0;
        let mut hot: Vec<u32> = Vec::new();
        let mut stale = true;
        loop {
            if stale {
                hot.clear();
                self.survey(state);
                let at_level = |&s: &usize| carries(state, s, floor, top);
                let mut left = 0;
                for slot in (0..state.view.slots()).filter(at_level) {
                    left += 1;
                    if !state.items_on(slot as u32).is_empty() && self.has_room(state, slot as u32, heat) {
                        hot.push(slot as u32);
                    }
                }
                if hot.is_empty() {
                    return turn > 0 && left == 0;
                }
                most_idle =
                    (CHAINS_WITHOUT_GAIN.0 + CHAINS_WITHOUT_GAIN.1 * hot.len()).min(CHAINS_WITHOUT_GAIN.2);
                stale = false;
            }
            if turn % 40 == 0 {
                state.centre = heat;
                sharpen(state, SHARPNESS[turn / 40 % SHARPNESS.len()] / heat);
            }
            turn += 1;
            // Every chain costs something, even one that finds nothing to push.
            state.work += 1;
            if idle >= most_idle || state.work >= end || self.budget.over(state.work) {
                return false;
            }
            let slot = hot[below(&mut self.random, hot.len() as u64) as usize];
            if !carries(state, slot as usize, floor, top) {
                // Another came in its place.
                stale = true;
                continue;
            }
            match self.chain(state, slot, floor) {
                Ordering::Less => (stale, idle) = (true, 0),
                _ => idle += 1,
            }
        }
    }

    /// Pushes items from slot to slot; what came of the loads from `floor` up. Anything but a rise stays.
    fn chain(&mut self, state: &mut State, start: u32, floor: f64) -> Ordering {
        state.open();
        let mut slot = start;
        let mut order = Ordering::Greater;
        for _ in 0..LONGEST_CHAIN {
            if !self.push(state, slot) {
                order = Ordering::Greater;
                break;
            }
            order = self.judge(state, floor);
            let risen = state.touched().filter(|t| t.after >= floor && t.after > t.before * (1.0 + ROUNDING));
            let hottest = risen.max_by(|a, b| a.after.total_cmp(&b.after)).map(|t| t.slot);
            match hottest {
                Some(next) if order != Ordering::Less => slot = next,
                _ => break,
            }
        }
        match order {
            Ordering::Greater => state.undo(),
            _ => state.keep(),
        }
        order
    }

    /// Takes an item off a slot, every other time with all of its destination's, and puts them where they
    /// cost least beside it; false if one has no other way.
    fn push(&mut self, state: &mut State, slot: u32) -> bool {
        let items_on = state.items_on(slot);
        if items_on.is_empty() {
            return false;
        }
        let item = items_on[below(&mut self.random, items_on.len() as u64) as usize];
        let group = state.items.group[item as usize];
        let bits = below(&mut self.random, u64::MAX);
        self.lifted.clear();
        if bits & 1 == 0 {
            self.lifted.push(item);
        } else {
            self.lifted.extend(items_on.iter().filter(|&&i| state.items.group[i as usize] == group));
            self.lifted.sort_unstable();
            shuffle(&mut self.random, &mut self.lifted);
        }
        for &item in &self.lifted {
            state.remove(item as usize);
        }
        for &item in &self.lifted {
            state.fix(group as usize);
            let forbidden = &mut state.scratch.forbidden;
            forbidden.clear();
            forbidden.push(slot);
            if bits & 2 == 0 {
                // Not always the same way.
                let beside = self.siblings.of(slot).iter().enumerate();
                forbidden.extend(
                    beside.filter(|&(k, &s)| s != slot && bits >> (2 + k % 60) & 1 == 0).map(|(_, &s)| s),
                );
            }
            let placed = state.insert(item as usize);
            state.scratch.forbidden.clear();
            if !placed {
                return false;
            }
        }
        true
    }

    /// What the open log did to the loads from `floor` up, sorted.
    fn judge(&mut self, state: &State, floor: f64) -> Ordering {
        self.before.clear();
        self.after.clear();
        for touched in state.touched() {
            if touched.after > self.most[touched.layer] && touched.after > touched.before {
                return Ordering::Greater;
            }
            self.before.extend(Some(touched.before).filter(|&h| h >= floor));
            self.after.extend(Some(touched.after).filter(|&h| h >= floor));
        }
        self.before.sort_unstable_by(|a, b| b.total_cmp(a));
        self.after.sort_unstable_by(|a, b| b.total_cmp(a));
        for (&before, &after) in self.before.iter().zip(&self.after) {
            if after < before * (1.0 - TOLERANCE) {
                return Ordering::Less;
            }
            // Stricter upwards, lest many small steps make a large one.
            if after > before * (1.0 + ROUNDING) {
                return Ordering::Greater;
            }
        }
        self.after.len().cmp(&self.before.len())
    }

    /// Routes a few destinations of hot links anew; false if nothing can move.
    fn perturb(&mut self, state: &mut State, levels: &[(f64, usize)], turn: usize) -> bool {
        let Some(&(coolest, _)) = levels.last() else { return false };
        let hot: Vec<u32> = (0..state.view.slots() as u32)
            .filter(|&s| {
                state.heat(s as usize) >= coolest * (1.0 - TOLERANCE) && !state.items_on(s).is_empty()
            })
            .collect();
        if hot.is_empty() {
            return false;
        }
        state.centre = levels[0].0;
        sharpen(state, PERTURBATION_SHARPNESS[turn % PERTURBATION_SHARPNESS.len()] / levels[0].0);
        for _ in 0..=below(&mut self.random, 4) {
            let slot = hot[below(&mut self.random, hot.len() as u64) as usize];
            let items_on = state.items_on(slot);
            if items_on.is_empty() {
                continue;
            }
            let item = items_on[below(&mut self.random, items_on.len() as u64) as usize];
            let group = state.items.group[item as usize] as usize;
            self.lifted.clear();
            self.lifted.extend(state.items.of(group).map(|i| i as u32));
            shuffle(&mut self.random, &mut self.lifted);
            for &item in &self.lifted {
                state.remove(item as usize);
            }
            for &item in &self.lifted {
                state.fix(group);
                let placed = state.insert(item as usize);
                debug_assert!(placed, "a destination alone can always be routed");
            }
        }
        state.work += 1;
        true
    }
}
