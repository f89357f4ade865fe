//! The best paths so far, and what is better.

use netloom_model::Improvement;

use crate::search::budget::TOLERANCE;
use crate::search::outcome::Stop;

/// The best paths so far.
#[derive(Clone, Default)]
pub(crate) struct Best {
    /// Value of the objective: with one layer the largest load.
    pub value: f64,
    /// Greatest heat of a slot.
    pub heat: f64,
    /// Slots that have it.
    pub count: usize,
    /// What ended the search, but for what comes from outside.
    pub stop: Option<Stop>,
    /// `stride` slots an item.
    pub path: Vec<u32>,
    /// Every improvement.
    pub history: Vec<Improvement>,
}

impl Best {
    /// Whether such a value, with so many of the hottest slots, is better.
    pub fn beaten_by(&self, value: f64, count: usize) -> bool {
        let equal = value <= self.value * (1.0 + TOLERANCE);
        value < self.value * (1.0 - TOLERANCE) || (equal && count < self.count)
    }

    /// Becomes another, but for the history.
    pub fn take_over(&mut self, other: &Best) {
        (self.value, self.heat, self.count) = (other.value, other.heat, other.count);
        self.path.clone_from(&other.path);
    }
}
