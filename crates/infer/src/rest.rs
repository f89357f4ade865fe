//! What atoms leave to be explained, by the fewest flows ([`crate::sparse`]): jobs whose grids don't explain their own rows.

use netloom_model::Control;
use netloom_numeric::LpEffort;

use crate::case::{Case, Guess};
use crate::change::Effort;
use crate::operator::{Operator, Pair};
use crate::sparse::Flows;
use crate::target::Target;
use crate::turns::{groups, possible, sparsest_in_turn};

/// How long one answer may take: rounds, and steps where there are few pairs; times pairs.
const EFFORT: Effort = Effort { rounds: 3, steps: 1_000, tolerance: 1e-6 };
const WORK: usize = 100_000_000;
/// Flows are few where hosts use less than this part of their links' lanes.
const FEW: f64 = 0.7;
/// Flows are not in use, and alike, up to this part.
const UNUSED: f64 = 1e-6;
/// Other traffic may cost so many times as much.
const DEARER: f64 = 1.05;
/// More possible pairs a row than this are too many to choose from.
const MANY: usize = 50;

/// What atoms leave to be explained: the pairs of the jobs whose grids don't explain their own rows.
#[derive(Debug)]
pub(crate) struct Rest {
    operator: Operator,
    /// `[pair of the case]`: whether it is one of them.
    open: Vec<bool>,
    /// `[pair of the case]`: bytes of the others.
    known: Vec<f64>,
    /// `[row]`: what these leave in the counters.
    explained: Vec<f64>,
}

impl Rest {
    /// `guess` has the atoms of the jobs that it explains, and none of others. Rows of which these leave nothing rule out pairs of the
    /// other jobs.
    pub fn new(case: &Case, guess: &Guess, target: &Target) -> Self {
        let closed: Vec<bool> = guess.list().map(|atoms| !atoms.is_empty()).collect();
        let known = guess.bytes(case);
        let explained = case.operator.forward(&known);
        let mut open: Vec<bool> = case.operator.iter().map(|pair| !closed[pair.job as usize]).collect();
        if closed.contains(&true) {
            let left = possible(case.operator, &target.less(&explained));
            open.iter_mut().zip(left).for_each(|(open, left)| *open &= left);
        }
        Self { operator: case.operator.restrict(&open), open, known, explained }
    }

    /// Whether it may be made of few flows, at a glance: many flows would use all lanes of the links of the hosts that send them.
    /// Routings that differ tell flows apart as lanes do; there is no such glance at them.
    pub fn may_be_few(&self, target: &Target) -> bool {
        let operator = &self.operator;
        let (mut rows, mut senders) = (vec![false; operator.rows()], vec![]);
        for (p, pair) in operator.iter().enumerate() {
            let mut first = None;
            operator.way(p, |row| _ = first.get_or_insert(row));
            rows[first.unwrap_or_default()] = true;
            senders.push((pair.job, pair.source));
        }
        senders.sort_unstable();
        senders.dedup();
        let used = rows.iter().filter(|used| **used).count();
        let lanes = senders.len() * usize::from(operator.lanes());
        let idle = (used as f64) < FEW * lanes as f64;
        let differ = target.rows() > operator.rows() / operator.routings().max(1);
        // Once the loudest jobs are known, most pairs of the others are ruled out.
        let first = &groups(operator, target)[0];
        let pairs = operator.iter().filter(|pair| first.contains(&pair.job)).count();
        (idle || operator.routings() > 1 && differ) && pairs <= MANY * operator.rows()
    }

    /// How many rows there are of these flows for each of them; a pair and its opposite with the same bytes are one flow.
    pub fn rows_each(&self, target: &Target, x: &[f64]) -> f64 {
        let of_open = x.iter().zip(&self.open).filter(|(_, open)| **open);
        let x: Vec<f64> = of_open.map(|(x, _)| *x).collect();
        let least = UNUSED * x.iter().copied().fold(0.0, f64::max);
        let used = |p: usize| x[p] > least;
        let alike = |(p, pair): (usize, Pair)| {
            let back = Pair { source: pair.destination, destination: pair.source, ..pair };
            self.operator.find(back).is_some_and(|back| back < p && (x[back] - x[p]).abs() <= UNUSED * x[p])
        };
        let flows =
            self.operator.iter().enumerate().filter(|&(p, pair)| used(p) && !alike((p, pair))).count();
        let crossed = self.operator.forward(&x).into_iter().zip(&target.weight);
        let rows = crossed.filter(|(bytes, weight)| *bytes > least && **weight > 0.0).count();
        rows as f64 / flows.max(1) as f64
    }

    /// `[pair of the case]`: bytes that explain the counters, cost hardly more than `x`, and carry most where `liked`, `[pair of the case]`.
    pub fn furthest(&self, target: &Target, x: &[f64], liked: &[f64], control: &Control) -> Vec<f64> {
        let of_open = |of: &[f64]| -> Vec<f64> {
            of.iter().zip(&self.open).filter(|(_, open)| **open).map(|(v, _)| *v).collect()
        };
        let bytes = target.bytes.iter().zip(&self.explained).map(|(all, known)| (all - known).max(0.0));
        let target = Target { bytes: bytes.collect(), ..target.clone() };
        let effort =
            LpEffort { steps: (WORK / self.operator.pairs().max(1)).clamp(200, 2_000), tolerance: 1e-6 };
        let flows = Flows::new(&self.operator, &target, None);
        let found = flows.furthest(&target.bytes, (&of_open(x), DEARER), &of_open(liked), &effort, control);
        self.with_open(found)
    }

    /// Bytes of all pairs, given those of the ones that atoms leave open.
    fn with_open(&self, found: Vec<f64>) -> Vec<f64> {
        let mut x = self.known.clone();
        let open = x.iter_mut().zip(&self.open).filter(|(_, open)| **open);
        open.zip(found).for_each(|((x, _), found)| *x = found);
        x
    }

    /// `[pair of the case]`: bytes. With a seed, costs differ: where the counters leave a choice, so does the answer.
    pub fn fewest(&self, target: &Target, seed: Option<u64>, control: &Control) -> Vec<f64> {
        let bytes = target.bytes.iter().zip(&self.explained).map(|(all, known)| (all - known).max(0.0));
        let target = Target { bytes: bytes.collect(), ..target.clone() };
        let effort = Effort { steps: (WORK / self.operator.pairs().max(1)).clamp(200, 1_000), ..EFFORT };
        self.with_open(sparsest_in_turn(&self.operator, &target, &effort, seed, control))
    }
}
