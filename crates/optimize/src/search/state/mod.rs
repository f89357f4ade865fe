//! The routing under search: one path an item, the loads that follow, and their soft-max weights.
//!
//! Invariants: `load[layer][slot]` is the sum of `bytes * inv_cap` over the placed items whose path holds
//! the slot; `weight` is the penalty of `load`; the paths of a group form an in-tree (at every switch all
//! of the group's paths leave by one slot), which is what a forwarding table can say.
//! While a log is open, every change can be taken back exactly.
//!
//! The penalty of a link is `exp(alpha (load / goal - centre))`, where the centre is mostly 1. Adding `b` bytes raises it by the same factor
//! on every link of one speed, so the path that raises the total least is the lightest by present weights.
//! With several layers (see `objective`) every slot has a load and a penalty in each. Where maxima are
//! summed, a layer's penalties are divided by their sum, which makes them the gradient of its soft maximum.
//!
//! | module | idea |
//! |---|---|
//! | `items` | what one leaf sends to one destination moves as a whole |
//! | `slots` | the links between switches as dense *slots* |
//! | `layout` | slots of a three-level tree in an order that scans fast; holes where it is damaged |
//! | `objective` | what is minimised first: the maxima of the layers, combined |
//! | `penalty` | of a link's load: steep, smooth, never flat |
//! | `path` | the cheapest admissible path that agrees with the entries in force |
//! | `scratch` | memory of the path search |
//! | `today` | today's tables: changed entries cost, frozen destinations stay |

pub(crate) mod items;
mod layout;
pub(crate) mod objective;
mod path;
pub(crate) mod penalty;
mod scratch;
pub(crate) mod slots;
pub(crate) mod today;

use crate::search::state::items::Items;
use crate::search::state::objective::{Objective, Rule};
use crate::search::state::penalty::penalty;
use crate::search::state::scratch::Scratch;
use crate::search::state::slots::{NONE, Slots};
use crate::search::state::today::TodaysEntries;

/// Penalty of a changed entry where only so many may change; that of a slot at its goal is 1.
const SCARCE: f64 = 0.1;

/// Loads, weights and paths.
#[derive(Clone)]
pub(crate) struct State<'v> {
    /// The fabric.
    pub view: &'v Slots<'v>,
    /// What is to be carried.
    pub items: &'v Items,
    /// What counts: the layers and their goals.
    pub objective: Objective,
    /// Load by layer and slot, `[layer * slots + slot]`.
    pub load: Vec<f64>,
    /// Penalty by layer and slot (infinite for holes).
    pub weight: Vec<f64>,
    /// What a layer's penalties are multiplied by; 1 for a single layer.
    factor: Vec<f64>,
    /// `stride` slots an item, padded with [`NONE`]; an item whose first is [`NONE`] is not placed.
    pub path: Vec<u32>,
    /// Sharpness of the penalty.
    pub alpha: f64,
    /// Heat at which the penalty is 1: the goal's, but when levels below the maximum are at work.
    pub centre: f64,
    /// Path searches so far: the unit of work.
    pub work: u64,
    /// Entries in force for the group last given to [`fix`](Self::fix).
    pub fixed: Fixed,
    /// Today's entries, where changing them counts.
    pub today: Option<TodaysEntries<'v>>,
    /// Groups whose entries stay as they are; empty for none.
    pub frozen: Vec<bool>,
    /// Scratch of the path search.
    pub(crate) scratch: Scratch,
    /// Placed items of every slot, while [`track`](Self::track) is on; else empty.
    items_on: Vec<Vec<u32>>,
    log: Log,
}

/// At which slot a group's traffic leaves each switch.
#[derive(Clone)]
pub(crate) struct Fixed {
    epoch: u32,
    stamp: Vec<u32>,
    slot: Vec<u32>,
}

impl Fixed {
    fn new(switches: usize) -> Self {
        Self { epoch: 0, stamp: vec![0; switches], slot: vec![NONE; switches] }
    }

    /// The slot by which `switch` must be left, or [`NONE`] if it is free.
    #[inline]
    pub fn at(&self, switch: u32) -> u32 {
        let s = switch as usize;
        if self.stamp[s] == self.epoch { self.slot[s] } else { NONE }
    }

    /// Whether `switch` has an entry, which it then no longer has.
    fn take(&mut self, switch: u32) -> bool {
        let stamp = &mut self.stamp[switch as usize];
        *stamp == self.epoch && {
            *stamp = 0;
            true
        }
    }
}

/// A load that changed, before and after, relative to its layer's goal.
pub(crate) struct Touched {
    pub layer: usize,
    pub slot: u32,
    pub before: f64,
    pub after: f64,
}

#[derive(Clone, Default)]
struct Log {
    open: bool,
    slots: Vec<(u32, f64, f64)>,
    items: Vec<u32>,
    paths: Vec<u32>,
    /// `stamp[slot] == epoch`: the slot is on the log, so its old values are known.
    stamp: Vec<u32>,
    epoch: u32,
}

impl<'v> State<'v> {
    /// Nothing placed.
    pub fn empty(view: &'v Slots<'v>, items: &'v Items, objective: Objective) -> Self {
        let slots = view.slots() * objective.len();
        let switches = view.fabric.switch_count();
        let mut state = Self {
            view,
            items,
            load: vec![0.0; slots],
            weight: vec![0.0; slots],
            factor: vec![1.0; objective.len()],
            objective,
            path: vec![NONE; items.len() * view.stride],
            alpha: 10.0,
            centre: 1.0,
            work: 0,
            fixed: Fixed::new(switches),
            today: None,
            frozen: Vec::new(),
            scratch: Scratch::new(view),
            items_on: Vec::new(),
            log: Log::default(),
        };
        state.set_alpha(10.0);
        state
    }

    /// Whether an item has a path.
    #[inline]
    pub fn placed(&self, item: usize) -> bool {
        self.path[item * self.view.stride] != NONE
    }

    /// Penalty of a load in a layer.
    #[inline]
    pub(crate) fn penalty(&self, layer: usize, load: f64) -> f64 {
        self.factor[layer] * penalty(self.alpha * (load / self.objective.goal[layer] - self.centre))
    }

    /// The largest load of a slot relative to its layer's goal: above 1, the slot is hot.
    #[inline]
    pub fn heat(&self, slot: usize) -> f64 {
        let goal = &self.objective.goal;
        if let [goal] = goal[..] {
            return self.load[slot] / goal;
        }
        let slots = self.view.slots();
        goal.iter().enumerate().fold(0.0, |heat, (k, &g)| f64::max(heat, self.load[k * slots + slot] / g))
    }

    /// Changes the sharpness and computes every weight afresh.
    pub fn set_alpha(&mut self, alpha: f64) {
        assert!(!self.log.open, "weights change only between logged moves");
        self.alpha = alpha;
        self.set_factors();
        let slots = self.view.slots();
        let mut total = 0.0;
        for layer in 0..self.objective.len() {
            for slot in 0..slots {
                let at = layer * slots + slot;
                self.weight[at] = if self.view.is_hole(slot) {
                    f64::INFINITY
                } else {
                    let weight = self.penalty(layer, self.load[at]);
                    total += weight;
                    weight
                };
            }
        }
        // The soft maximum rises by `goal / alpha` a relative rise of the total penalty.
        let unit = self.objective.coefficient[0] * self.objective.goal[0];
        if let Some(keep) = &mut self.today {
            keep.cost = keep.price * alpha / unit * total;
            if keep.most < u64::MAX {
                keep.cost = keep.cost.max(SCARCE);
            }
        }
    }

    /// Makes penalties of summed layers the gradients of their soft maxima.
    fn set_factors(&mut self) {
        let layers = self.objective.len();
        if layers == 1 || self.objective.rule == Rule::Max {
            return;
        }
        let slots = self.view.slots();
        for k in 0..layers {
            let (goal, alpha, centre) = (self.objective.goal[k], self.alpha, self.centre);
            let loads = self.load[k * slots..(k + 1) * slots].iter();
            let sum: f64 = loads.map(|&l| penalty(alpha * (l / goal - centre))).sum();
            self.factor[k] = self.objective.coefficient[k] * goal / sum.max(f64::MIN_POSITIVE);
        }
        let most = self.factor.iter().copied().fold(0.0, f64::max);
        if most > 0.0 {
            self.factor.iter_mut().for_each(|f| *f = (*f / most).max(1e-60));
        }
    }

    /// Takes every item off its path but those whose entries must stay.
    pub fn clear(&mut self) {
        let stride = self.view.stride;
        for item in 0..self.items.len() {
            if !self.is_frozen(self.items.group[item] as usize) {
                self.path[item * stride..(item + 1) * stride].fill(NONE);
            }
        }
        self.refresh();
    }

    /// Replaces all paths at once and computes loads and weights afresh.
    pub fn set_paths(&mut self, path: Vec<u32>) {
        assert_eq!(path.len(), self.path.len());
        self.path = path;
        if !self.items_on.is_empty() {
            // The lists are of the paths before.
            self.track(true);
        }
        self.refresh();
    }

    /// Computes loads from paths afresh, so that rounding does not build up, and then weights.
    pub fn refresh(&mut self) {
        self.load.fill(0.0);
        let stride = self.view.stride;
        let slots = self.view.slots();
        for item in 0..self.items.len() {
            for &slot in self.path[item * stride..(item + 1) * stride].iter().take_while(|&&s| s != NONE) {
                let slot = slot as usize;
                match &self.items.amounts {
                    None => self.load[slot] += self.items.bytes[item] * self.view.inv_cap[slot],
                    Some(amounts) => {
                        for &(layer, bytes) in amounts.of(item) {
                            self.load[layer as usize * slots + slot] += bytes * self.view.inv_cap[slot];
                        }
                    }
                }
            }
        }
        self.recount();
        self.set_alpha(self.alpha);
    }

    /// Largest load of every layer.
    pub fn maxima(&self) -> impl Iterator<Item = f64> + '_ {
        let slots = self.view.slots().max(1);
        self.load.chunks(slots).map(|loads| loads.iter().copied().fold(0.0, f64::max))
    }

    /// What the search minimises first: the combined maxima, and what changed entries cost. Infinite if
    /// more entries are changed than may be.
    pub fn value(&self) -> f64 {
        let changes = match &self.today {
            Some(keep) if keep.total() > keep.most => f64::INFINITY,
            Some(keep) => keep.price * keep.total() as f64,
            None => 0.0,
        };
        self.objective.value(self.maxima()) + changes
    }

    /// Whether the entries of a group must stay.
    #[inline]
    pub fn is_frozen(&self, group: usize) -> bool {
        self.frozen.get(group).is_some_and(|&f| f)
    }

    /// Whether today's tables hold the search back, so that starting elsewhere makes no sense.
    pub fn is_bound(&self) -> bool {
        self.today.is_some() || !self.frozen.is_empty()
    }

    /// Whether changed entries cost anything, or only so many may change.
    pub fn is_counted(&self) -> bool {
        self.today.as_ref().is_some_and(|today| today.price > 0.0 || today.most < u64::MAX)
    }

    /// Counts the changed entries of all groups afresh.
    fn recount(&mut self) {
        if let Some(mut today) = self.today.take() {
            for group in 0..self.items.groups() {
                today.book(group, self.changes(&today, group));
            }
            self.today = Some(today);
        }
    }

    /// Entries in force that differ from those of `keep`. `O(items)`.
    pub fn changed_from(&mut self, keep: &TodaysEntries) -> u64 {
        (0..self.items.groups()).map(|group| u64::from(self.changes(keep, group))).sum()
    }

    /// Entries of a group in force that differ from those of `keep`.
    fn changes(&mut self, keep: &TodaysEntries, group: usize) -> u32 {
        self.fix(group);
        let stride = self.view.stride;
        let mut changes = 0;
        let range = self.items.of(group);
        for &slot in self.path[range.start * stride..range.end * stride].iter().filter(|&&s| s != NONE) {
            let switch = self.view.from[slot as usize];
            // Every switch once: the stamp is taken off when it has been counted.
            if self.fixed.take(switch) && keep.slot(self.view, self.items, switch, group) != slot {
                changes += 1;
            }
        }
        changes
    }

    /// Gathers the entries in force for `group`: those of its placed items. `O(items of the group)`.
    pub fn fix(&mut self, group: usize) {
        let fixed = &mut self.fixed;
        if fixed.epoch == u32::MAX {
            fixed.stamp.fill(0);
            fixed.epoch = 0;
        }
        fixed.epoch += 1;
        let stride = self.view.stride;
        let range = self.items.of(group);
        for &slot in self.path[range.start * stride..range.end * stride].iter() {
            if slot != NONE {
                let switch = self.view.from[slot as usize] as usize;
                fixed.stamp[switch] = fixed.epoch;
                fixed.slot[switch] = slot;
            }
        }
    }

    /// Takes an item off its path.
    pub fn remove(&mut self, item: usize) {
        let stride = self.view.stride;
        if self.log.open {
            self.log.items.push(item as u32);
            self.log.paths.extend_from_slice(&self.path[item * stride..(item + 1) * stride]);
        }
        for k in item * stride..(item + 1) * stride {
            let slot = std::mem::replace(&mut self.path[k], NONE);
            if slot == NONE {
                break;
            }
            self.shift(item, slot as usize, -1.0);
            self.alight(item, slot);
        }
    }

    /// Puts an unplaced item on `path`.
    pub fn add(&mut self, item: usize, path: &[u32]) {
        let stride = self.view.stride;
        debug_assert!(!self.placed(item) && path.len() <= stride);
        debug_assert!(path.iter().all(|&slot| !self.view.is_hole(slot as usize)), "a path is of links");
        if self.log.open {
            self.log.items.push(item as u32);
            self.log.paths.extend(std::iter::repeat_n(NONE, stride));
        }
        for (k, &slot) in path.iter().enumerate() {
            self.path[item * stride + k] = slot;
            self.shift(item, slot as usize, 1.0);
            self.board(item, slot);
        }
    }

    /// Starts or stops keeping a list of items per slot.
    pub fn track(&mut self, on: bool) {
        self.items_on = if on { vec![Vec::new(); self.load.len()] } else { Vec::new() };
        if on {
            let stride = self.view.stride;
            for k in 0..self.path.len() {
                let slot = self.path[k];
                if slot != NONE {
                    self.board(k / stride, slot);
                }
            }
        }
    }

    /// The items on a slot that may move, in no meaningful but a reproducible order. Only while tracking.
    pub fn items_on(&self, slot: u32) -> &[u32] {
        &self.items_on[slot as usize]
    }

    fn board(&mut self, item: usize, slot: u32) {
        if self.is_frozen(self.items.group[item] as usize) {
            return;
        }
        if let Some(list) = self.items_on.get_mut(slot as usize) {
            list.push(item as u32);
        }
    }

    fn alight(&mut self, item: usize, slot: u32) {
        if let Some(list) = self.items_on.get_mut(slot as usize) {
            let at =
                list.iter().position(|&i| i as usize == item).expect("a placed item is on its slots' lists");
            list.swap_remove(at);
        }
    }

    #[inline]
    fn shift(&mut self, item: usize, slot: usize, sign: f64) {
        let items = self.items;
        match &items.amounts {
            None => self.shift_layer(0, slot, sign * items.bytes[item]),
            Some(amounts) => {
                for &(layer, bytes) in amounts.of(item) {
                    self.shift_layer(layer as usize, slot, sign * bytes);
                }
            }
        }
    }

    #[inline]
    fn shift_layer(&mut self, layer: usize, slot: usize, bytes: f64) {
        let at = layer * self.view.slots() + slot;
        let (load, weight) = (self.load[at], self.weight[at]);
        let new_load = load + bytes * self.view.inv_cap[slot];
        debug_assert!(
            new_load >= -1e-6 * (load + self.objective.goal[layer]),
            "no more leaves a link than was on it"
        );
        let new_weight = self.penalty(layer, new_load);
        if self.log.open {
            // Only the first change of a slot tells what to go back to.
            if self.log.stamp[at] != self.log.epoch {
                self.log.stamp[at] = self.log.epoch;
                self.log.slots.push((at as u32, load, weight));
            }
        }
        self.load[at] = new_load;
        self.weight[at] = new_weight;
    }

    /// Starts to log changes.
    pub fn open(&mut self) {
        debug_assert!(!self.log.open);
        self.log.open = true;
        self.log.slots.clear();
        self.log.items.clear();
        self.log.paths.clear();
        if self.log.stamp.is_empty() || self.log.epoch == u32::MAX {
            self.log.stamp = vec![0; self.load.len()];
            self.log.epoch = 0;
        }
        self.log.epoch += 1;
    }

    /// By how much the total penalty, changed entries included, rose since the log was opened; infinite
    /// if too many entries changed. Summed over the slots that changed, not over the changes: on the way
    /// penalties may be so large that differences would drown.
    pub fn rise(&mut self) -> f64 {
        let (mut before, mut after) = (0.0, 0.0);
        for &(slot, _, weight) in &self.log.slots {
            before += weight;
            after += self.weight[slot as usize];
        }
        after - before + self.rise_of_changes()
    }

    /// By how much the heats above `aim` rose in all since the log was opened; exactly 0 for changes
    /// within rounding.
    pub fn excess_rise(&self, aim: f64) -> f64 {
        let slots = self.view.slots();
        let (mut before, mut after) = (0.0, 0.0);
        for &(at, load, _) in &self.log.slots {
            let goal = self.objective.goal[at as usize / slots];
            before += (load / goal - aim).max(0.0);
            after += (self.load[at as usize] / goal - aim).max(0.0);
        }
        let rise: f64 = after - before;
        if rise.abs() <= 1e-12 { 0.0 } else { rise }
    }

    /// Whether the heats above 1 rose since the log was opened, compared from the hottest down.
    pub fn hotter_above_goal(&self) -> bool {
        let slots = self.view.slots();
        let sorted = |load: &dyn Fn(usize, f64) -> f64| {
            let heat = |&(at, before, _): &(u32, f64, f64)| {
                load(at as usize, before) / self.objective.goal[at as usize / slots]
            };
            let mut heats: Vec<f64> = self.log.slots.iter().map(heat).filter(|&h| h > 1.0).collect();
            heats.sort_unstable_by(|a, b| b.total_cmp(a));
            heats
        };
        let (before, after) = (sorted(&|_, before| before), sorted(&|at, _| self.load[at]));
        let differs = after.iter().zip(&before).find(|(a, b)| (*a - *b).abs() > 1e-12 * *b);
        differs.map_or(after.len() > before.len(), |(a, b)| a > b)
    }

    fn rise_of_changes(&mut self) -> f64 {
        if self.today.is_none() {
            return 0.0;
        }
        let rise = self.changes_rise();
        let keep = self.today.as_ref().expect("just seen");
        if rise > 0 && keep.total().saturating_add_signed(rise) > keep.most {
            return f64::INFINITY;
        }
        rise as f64 * keep.cost
    }

    /// By how many entries the changed ones rose since the log was opened.
    pub fn changes_rise(&mut self) -> i64 {
        let counts = self.logged_changes();
        let Some(keep) = &self.today else { return 0 };
        counts.iter().map(|&(group, count)| i64::from(count) - i64::from(keep.of(group as usize))).sum()
    }

    /// Whether the changes on the log leave more entries changed than may be, and more than before.
    pub fn changes_too_many(&mut self) -> bool {
        self.today.as_ref().is_some_and(|today| today.most < u64::MAX) && self.rise_of_changes().is_infinite()
    }

    /// Changed entries of the groups on the log, each once.
    fn logged_changes(&mut self) -> Vec<(u32, u32)> {
        let mut groups: Vec<u32> = self.log.items.iter().map(|&i| self.items.group[i as usize]).collect();
        groups.sort_unstable();
        groups.dedup();
        let Some(today) = self.today.take() else { return Vec::new() };
        let counts = groups.into_iter().map(|g| (g, self.changes(&today, g as usize))).collect();
        self.today = Some(today);
        counts
    }

    /// Slots that changed since the log was opened (with several layers some of them several times).
    pub fn touched_slots(&self) -> impl Iterator<Item = u32> + '_ {
        let slots = self.view.slots() as u32;
        self.log.slots.iter().map(move |&(at, ..)| at % slots)
    }

    /// What changed since the log was opened, each load once.
    pub fn touched(&self) -> impl Iterator<Item = Touched> + '_ {
        let slots = self.view.slots();
        self.log.slots.iter().map(move |&(at, before, _)| {
            let (layer, slot) = (at as usize / slots, at % slots as u32);
            let goal = self.objective.goal[layer];
            Touched { layer, slot, before: before / goal, after: self.load[at as usize] / goal }
        })
    }

    /// Keeps what was done since the log was opened.
    pub fn keep(&mut self) {
        if self.today.is_some() {
            for (group, count) in self.logged_changes() {
                self.today.as_mut().expect("just seen").book(group as usize, count);
            }
        }
        self.log.open = false;
    }

    /// Takes back everything since the log was opened.
    pub fn undo(&mut self) {
        self.log.open = false;
        for &(slot, load, weight) in self.log.slots.iter().rev() {
            self.load[slot as usize] = load;
            self.weight[slot as usize] = weight;
        }
        let stride = self.view.stride;
        let log = std::mem::take(&mut self.log);
        for (k, &item) in log.items.iter().enumerate().rev() {
            let item = item as usize;
            for h in 0..stride {
                let old = log.paths[k * stride + h];
                let slot = std::mem::replace(&mut self.path[item * stride + h], old);
                if slot != old {
                    if slot != NONE {
                        self.alight(item, slot);
                    }
                    if old != NONE {
                        self.board(item, old);
                    }
                }
            }
        }
        self.log = log;
    }
}
