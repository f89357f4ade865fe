//! The routing under search: one path an item, the loads that follow, and their soft-max weights.
//!
//! Invariants: `load[slot]` is the sum of `bytes * inv_cap` over the placed items whose path holds the
//! slot; `weight[slot] == penalty(load[slot])`; the paths of a group form an in-tree (at every switch all
//! of the group's paths leave by one slot), which is what a forwarding table can say.
//! While a log is open, every change can be taken back exactly.
//!
//! The penalty of a link is `exp(alpha (load / scale - 1))`. Adding `b` bytes raises it by the same factor
//! on every link of one speed, so the path that raises the total least is the lightest by present weights.

use crate::items::Items;
use crate::penalty::penalty;
use crate::scratch::Scratch;
use crate::view::{NONE, View};

/// Loads, weights and paths.
#[derive(Clone)]
pub(crate) struct State<'v> {
    /// The fabric.
    pub view: &'v View<'v>,
    /// What is to be carried.
    pub items: &'v Items,
    /// Load of every slot.
    pub load: Vec<f64>,
    /// Penalty of every slot (infinite for holes).
    pub weight: Vec<f64>,
    /// `stride` slots an item, padded with [`NONE`]; an item whose first is [`NONE`] is not placed.
    pub path: Vec<u32>,
    /// Sharpness of the penalty.
    pub alpha: f64,
    /// The load that counts as 1.
    pub scale: f64,
    /// Path searches so far: the unit of work.
    pub work: u64,
    /// Entries in force for the group last given to [`fix`](Self::fix).
    pub fixed: Fixed,
    /// Scratch of the path search.
    pub(crate) scratch: Scratch,
    /// Placed items of every slot, while [`track`](Self::track) is on; else empty.
    riders: Vec<Vec<u32>>,
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
    pub fn empty(view: &'v View<'v>, items: &'v Items, scale: f64) -> Self {
        let slots = view.slots();
        let switches = view.fabric.switch_count();
        let mut state = Self {
            view,
            items,
            load: vec![0.0; slots],
            weight: vec![0.0; slots],
            path: vec![NONE; items.len() * view.stride],
            alpha: 10.0,
            scale: if scale > 0.0 { scale } else { 1.0 },
            work: 0,
            fixed: Fixed::new(switches),
            scratch: Scratch::new(view),
            riders: Vec::new(),
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

    #[inline]
    fn penalty(&self, load: f64) -> f64 {
        penalty(self.alpha * (load / self.scale - 1.0))
    }

    /// Changes the sharpness and computes every weight afresh.
    pub fn set_alpha(&mut self, alpha: f64) {
        assert!(!self.log.open, "weights change only between logged moves");
        self.alpha = alpha;
        for slot in 0..self.load.len() {
            self.weight[slot] =
                if self.view.is_hole(slot) { f64::INFINITY } else { self.penalty(self.load[slot]) };
        }
    }

    /// Replaces all paths at once and computes loads and weights afresh.
    pub fn set_paths(&mut self, path: Vec<u32>) {
        assert_eq!(path.len(), self.path.len());
        self.path = path;
        self.refresh();
    }

    /// Computes loads from paths afresh, so that rounding does not build up, and then weights.
    pub fn refresh(&mut self) {
        self.load.fill(0.0);
        let stride = self.view.stride;
        for item in 0..self.items.len() {
            let bytes = self.items.bytes[item];
            for &slot in self.path[item * stride..(item + 1) * stride].iter().take_while(|&&s| s != NONE) {
                self.load[slot as usize] += bytes * self.view.inv_cap[slot as usize];
            }
        }
        self.set_alpha(self.alpha);
    }

    /// The largest load.
    pub fn max(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// How many slots carry at least `floor`.
    pub fn count_above(&self, floor: f64) -> usize {
        self.load.iter().filter(|&&l| l >= floor).count()
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
        let bytes = self.items.bytes[item];
        if self.log.open {
            self.log.items.push(item as u32);
            self.log.paths.extend_from_slice(&self.path[item * stride..(item + 1) * stride]);
        }
        for k in item * stride..(item + 1) * stride {
            let slot = std::mem::replace(&mut self.path[k], NONE);
            if slot == NONE {
                break;
            }
            self.shift(slot as usize, -bytes);
            self.alight(item, slot);
        }
    }

    /// Puts an unplaced item on `path`.
    pub fn add(&mut self, item: usize, path: &[u32]) {
        let stride = self.view.stride;
        debug_assert!(!self.placed(item) && path.len() <= stride);
        let bytes = self.items.bytes[item];
        if self.log.open {
            self.log.items.push(item as u32);
            self.log.paths.extend(std::iter::repeat_n(NONE, stride));
        }
        for (k, &slot) in path.iter().enumerate() {
            self.path[item * stride + k] = slot;
            self.shift(slot as usize, bytes);
            self.board(item, slot);
        }
    }

    /// Starts or stops keeping a list of items per slot.
    pub fn track(&mut self, on: bool) {
        self.riders = if on { vec![Vec::new(); self.load.len()] } else { Vec::new() };
        if on {
            let stride = self.view.stride;
            for (k, &slot) in self.path.iter().enumerate() {
                if slot != NONE {
                    self.riders[slot as usize].push((k / stride) as u32);
                }
            }
        }
    }

    /// The items on a slot, in no meaningful but a reproducible order. Only while tracking.
    pub fn riders(&self, slot: u32) -> &[u32] {
        &self.riders[slot as usize]
    }

    fn board(&mut self, item: usize, slot: u32) {
        if let Some(list) = self.riders.get_mut(slot as usize) {
            list.push(item as u32);
        }
    }

    fn alight(&mut self, item: usize, slot: u32) {
        if let Some(list) = self.riders.get_mut(slot as usize) {
            let at =
                list.iter().position(|&i| i as usize == item).expect("a placed item is on its slots' lists");
            list.swap_remove(at);
        }
    }

    #[inline]
    fn shift(&mut self, slot: usize, bytes: f64) {
        let (load, weight) = (self.load[slot], self.weight[slot]);
        let new_load = load + bytes * self.view.inv_cap[slot];
        let new_weight = self.penalty(new_load);
        if self.log.open {
            // Only the first change of a slot tells what to go back to.
            if self.log.stamp[slot] != self.log.epoch {
                self.log.stamp[slot] = self.log.epoch;
                self.log.slots.push((slot as u32, load, weight));
            }
        }
        self.load[slot] = new_load;
        self.weight[slot] = new_weight;
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

    /// By how much the total penalty rose since the log was opened. Summed over the slots that changed,
    /// not over the changes: on the way penalties may be so large that differences would drown.
    pub fn rise(&self) -> f64 {
        let (mut before, mut after) = (0.0, 0.0);
        for &(slot, _, weight) in &self.log.slots {
            before += weight;
            after += self.weight[slot as usize];
        }
        after - before
    }

    /// Slots that changed since the log was opened.
    pub fn touched_slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.log.slots.iter().map(|&(slot, ..)| slot)
    }

    /// Keeps what was done since the log was opened.
    pub fn keep(&mut self) {
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
