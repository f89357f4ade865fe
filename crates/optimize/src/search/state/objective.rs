//! What the search minimises first: the maxima of one or several load *layers*, combined.
//!
//! A layer is one matrix over the same tables: a phase of a run, or one of the matrices that traffic may
//! turn out to be. Tables are one for all layers, loads are each layer's own. With one layer the value is
//! its largest load between switches, or what its hosts' links carry, if that is more than its goal.

use serde::{Deserialize, Serialize};

use crate::search::budget::TOLERANCE;

/// How layers count together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Rule {
    /// The sum over layers of coefficient times maximum.
    Sum,
    /// The largest coefficient times maximum.
    Max,
}

/// The first component of the lexicographic objective.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Objective {
    /// How layers count together.
    pub rule: Rule,
    /// What a byte of a layer's maximum counts.
    pub coefficient: Vec<f64>,
    /// A layer's maximum never counts less than this: what its hosts' links carry in any case.
    pub floor: Vec<f64>,
    /// What every layer aims at between switches; positive.
    pub goal: Vec<f64>,
    /// A value that is as good as any for what the traffic's hosts can do: only a courtesy to go below.
    pub enough: f64,
    /// Routes to begin with whose value is no higher stay as they are.
    pub met: f64,
}

impl Objective {
    /// The maximum of one layer, aiming at `goal`.
    pub fn single(goal: f64) -> Self {
        Self {
            rule: Rule::Sum,
            coefficient: vec![1.0],
            floor: vec![0.0],
            goal: vec![positive(goal)],
            enough: 0.0,
            met: f64::NEG_INFINITY,
        }
    }

    /// The same, but below `enough` nothing is worth much work.
    pub fn courtesy_below(self, enough: f64) -> Self {
        Self { enough, ..self }
    }

    /// The same, but routes that begin at `bound` or below it stay as they are.
    pub fn met_at(self, bound: f64) -> Self {
        Self { met: bound * (1.0 + TOLERANCE), ..self }
    }

    /// Several layers; `floor` and `goal` in bytes at the reference bandwidth.
    pub fn layers(rule: Rule, coefficient: Vec<f64>, floor: Vec<f64>, goal: &[f64]) -> Self {
        let goal = goal.iter().map(|&g| positive(g)).collect();
        Self { rule, coefficient, floor, goal, enough: 0.0, met: f64::NEG_INFINITY }
    }

    /// Number of layers.
    pub fn len(&self) -> usize {
        self.coefficient.len()
    }

    /// The value of these maxima.
    pub fn value(&self, maxima: impl Iterator<Item = f64>) -> f64 {
        let each = maxima.zip(&self.floor).zip(&self.coefficient).map(|((m, &f), &c)| c * m.max(f));
        match self.rule {
            Rule::Sum => each.sum(),
            Rule::Max => each.fold(0.0, f64::max),
        }
    }

    /// The value when every layer is at its goal: there is nothing to gain below.
    pub fn least(&self) -> f64 {
        self.value(self.goal.iter().copied())
    }
}

fn positive(goal: f64) -> f64 {
    if goal > 0.0 { goal } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_layer_counts_at_least_what_its_hosts_carry() {
        let rule = |rule| Objective::layers(rule, vec![2.0, 1.0], vec![0.0, 7.0], &[3.0, 4.0]);
        let maxima = || [5.0, 6.0].into_iter();
        assert_eq!(rule(Rule::Sum).value(maxima()), 17.0);
        assert_eq!(rule(Rule::Max).value(maxima()), 10.0);
        assert_eq!(rule(Rule::Sum).least(), 13.0);
    }
}
