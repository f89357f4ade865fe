//! Today's tables as what a search would rather keep: changed entries cost, frozen destinations stay.
//!
//! An entry counts as changed if traffic uses it and it differs from today's; entries that no traffic uses
//! keep today's port anyway. Costs are in bytes of the maximum; the search converts them to penalties.

use netloom_model::{Lft, SwitchId};

use crate::search::state::items::Items;
use crate::search::state::slots::{NONE, Slots};

/// What to keep, and how much of it has been given up.
#[derive(Clone)]
pub(crate) struct TodaysEntries<'v> {
    /// Today's tables, every entry towards hosts admissible.
    pub today: &'v Lft,
    /// Bytes of the maximum that one changed entry must be worth.
    pub price: f64,
    /// At most so many changed entries.
    pub most: u64,
    /// Penalty of one changed entry at the present sharpness.
    pub cost: f64,
    /// Changed entries of every group, as of the last count.
    changed: Vec<u32>,
    /// Their sum.
    total: u64,
}

impl<'v> TodaysEntries<'v> {
    /// Nothing changed yet.
    pub fn new(today: &'v Lft, price: f64, most: u64, groups: usize) -> Self {
        Self { today, price, most, cost: 0.0, changed: vec![0; groups], total: 0 }
    }

    /// Today's slot of a switch towards the address of a group.
    #[inline]
    pub fn slot(&self, view: &Slots, items: &Items, switch: u32, group: usize) -> u32 {
        let port = self.today.get(SwitchId(switch), items.address[group]);
        port.map_or(NONE, |port| view.slot_at(switch, port))
    }

    /// Changed entries in all, as of the last count.
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Changed entries of a group as of the last count.
    pub fn of(&self, group: usize) -> u32 {
        self.changed[group]
    }

    /// Books a new count of a group.
    pub fn book(&mut self, group: usize, count: u32) {
        let old = std::mem::replace(&mut self.changed[group], count);
        debug_assert!(self.total >= u64::from(old), "the total is the sum of the groups' counts");
        self.total = self.total + u64::from(count) - u64::from(old);
    }
}
