//! What atoms leave to be explained, by the fewest flows ([`Flows`]): jobs whose grids don't explain their own rows.

use netloom_model::Control;
use netloom_numeric::LpEffort;

use crate::operator::{Operator, Pair};
use crate::residual::Target;
use crate::settings::{FlowSettings, Settings};

use super::Flows;
use super::by_magnitude::{groups, possible, sparsest_in_turn};

/// Flows are not in use, and alike, up to this part.
const UNUSED: f64 = 1e-6;

/// What atoms leave to be explained: the pairs of the jobs whose grids don't explain their own rows.
#[derive(Debug)]
pub(crate) struct UnexplainedJobs<'a> {
    operator: Operator,
    settings: &'a Settings,
    /// `[pair of the case]`: whether it is one of them.
    open: Vec<bool>,
    /// `[pair of the case]`: bytes of the others.
    known: Vec<f64>,
    /// `[row]`: what these leave in the counters.
    explained: Vec<f64>,
}

impl<'a> UnexplainedJobs<'a> {
    /// Atoms explain the jobs that are `closed`, `[job]`, by bytes that are `known`, `[pair]`. Rows of which these leave nothing rule out
    /// pairs of the other jobs.
    pub fn new(
        whole: &Operator,
        closed: &[bool],
        known: Vec<f64>,
        target: &Target,
        settings: &'a Settings,
    ) -> Self {
        let explained = whole.forward(&known);
        let mut open: Vec<bool> = whole.iter().map(|pair| !closed[pair.job as usize]).collect();
        if closed.contains(&true) {
            let left = possible(whole, &target.less(&explained), &settings.counters);
            open.iter_mut().zip(left).for_each(|(open, left)| *open &= left);
        }
        Self { operator: whole.restrict(&open), settings, open, known, explained }
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
        let settings = &self.settings.flows;
        let idle = (used as f64) < settings.used_lanes * lanes as f64;
        let differ = target.rows() > operator.rows() / operator.routings().max(1);
        // Once the loudest jobs are known, most pairs of the others are ruled out.
        let first = &groups(operator, target, settings.magnitude_ratio)[0];
        let pairs = operator.iter().filter(|pair| first.contains(&pair.job)).count();
        (idle || operator.routings() > 1 && differ) && pairs <= settings.pairs_per_row * operator.rows()
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

    /// `[pair of the case]`: bytes that explain the counters, cost hardly more than `x`, and go furthest in this direction, `[pair of the case]`.
    pub fn furthest(&self, target: &Target, x: &[f64], direction: &[f64], control: &Control) -> Vec<f64> {
        let of_open = |of: &[f64]| -> Vec<f64> {
            of.iter().zip(&self.open).filter(|(_, open)| **open).map(|(v, _)| *v).collect()
        };
        let bytes = target.bytes.iter().zip(&self.explained).map(|(all, known)| (all - known).max(0.0));
        let target = Target { bytes: bytes.collect(), ..target.clone() };
        let settings = &self.settings.flows;
        let steps = settings.work / self.operator.pairs().max(1);
        let steps = steps.min(settings.rival_steps).max(settings.least_steps);
        let effort = LpEffort { steps, tolerance: settings.tolerance };
        let flows = Flows::new(&self.operator, &target, self.settings, None);
        let found = flows.furthest(
            &target.bytes,
            (&of_open(x), settings.rival_cost),
            &of_open(direction),
            &effort,
            control,
        );
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
        let flows = &self.settings.flows;
        let steps = (flows.work / self.operator.pairs().max(1)).min(flows.steps).max(flows.least_steps);
        let settings = Settings { flows: FlowSettings { steps, ..*flows }, ..*self.settings };
        self.with_open(sparsest_in_turn(&self.operator, &target, &settings, seed, control))
    }
}
