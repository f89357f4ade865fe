//! What stays the same while models are tried: the pairs, the jobs and their grids.

use netloom_model::Control;
use netloom_model::rng::Stream;

use crate::dictionary::{Atom, Dictionary, Hypothesis};
use crate::operator::{Operator, Participants};
use crate::pursuit::Pursuit;
use crate::residual::Target;
use crate::settings::Settings;
use crate::tomography::Families;

/// Pairs, jobs, grids.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Pairs that may carry something.
    pub operator: &'a Operator,
    /// The jobs.
    pub jobs: &'a [Participants],
    /// `[job]`: its grid, and the atoms that come first.
    pub hypotheses: Vec<Option<Hypothesis>>,
    /// Which pairs differ together.
    pub families: Families,
    /// What all steps are given.
    pub settings: &'a Settings,
    own: &'a [u32],
}

impl<'a> Case<'a> {
    /// Jobs on these grids; `own` says whose rows are whose ([`own_rows`]).
    pub fn new(
        operator: &'a Operator,
        jobs: &'a [Participants],
        own: &'a [u32],
        hypotheses: Vec<Option<Hypothesis>>,
        settings: &'a Settings,
    ) -> Self {
        let grids: Vec<_> = hypotheses.iter().map(|of| of.map(|of| of.grid)).collect();
        let families = Families::new(operator, jobs, &grids);
        Self { operator, jobs, hypotheses, families, settings, own }
    }

    /// The same on other grids.
    pub fn on(&self, hypotheses: Vec<Option<Hypothesis>>) -> Self {
        Self::new(self.operator, self.jobs, self.own, hypotheses, self.settings)
    }

    /// `[job]`: the target on its own rows.
    pub fn targets(&self, target: &Target) -> Vec<Target> {
        (0..self.jobs.len()).map(|j| target.only(self.own, j)).collect()
    }

    /// The first atoms of every job.
    pub fn guess<'b>(&'b self, targets: &'b [Target]) -> Guess<'b> {
        let of = |(j, target): (usize, &'b Target)| {
            let Hypothesis { grid, pattern } = self.hypotheses[j]?;
            let (job, settings) = (&self.jobs[j], self.settings);
            let dictionary = Dictionary::new(self.operator, j as u32, job, grid, &settings.dictionary);
            let mut pursuit = Pursuit::new(self.operator, dictionary, target, &settings.pursuit);
            // An answer without them is none; they are soon there.
            pursuit.begin(pattern, &Control::new());
            Some(pursuit)
        };
        Guess { jobs: targets.iter().enumerate().map(of).collect() }
    }
}

/// All jobs' atoms.
#[derive(Clone, Debug)]
pub struct Guess<'a> {
    /// `[job]`
    jobs: Vec<Option<Pursuit<'a>>>,
}

impl Guess<'_> {
    /// What explains the counters as well without one of the atoms: how many more it takes, and what changes, `[pair]`.
    pub fn leave_one_out(&self) -> impl Iterator<Item = (usize, Vec<f64>)> + '_ {
        self.jobs.iter().flatten().flat_map(|job| {
            let others = job.leave_one_out().into_iter();
            others.map(|other| {
                let change = job.bytes().into_iter().zip(other.bytes()).map(|(x, other)| x - other);
                (other.simple().saturating_sub(job.simple()), change.collect())
            })
        })
    }

    /// What explains the counters as well by the same atoms otherwise, as far as it differs: what changes, `[pair]`.
    pub fn perturbed(&self, draw: &mut Stream) -> Vec<f64> {
        let mut change: Vec<f64> = Vec::new();
        for job in self.jobs.iter().flatten() {
            let bytes = job.bytes();
            change.resize(bytes.len(), 0.0);
            if let Some(other) = job.perturbed(draw) {
                let both = bytes.into_iter().zip(other.bytes());
                change.iter_mut().zip(both).for_each(|(change, (x, other))| *change += x - other);
            }
        }
        change
    }

    /// Takes in so many more atoms of every job; fewer where they explain all, or when stopped.
    pub fn advance(&mut self, steps: usize, control: &Control) {
        // Among many hosts the atoms to choose from take long to lay out.
        let goes_on = |_: &&mut Pursuit| steps > 0 && control.stopped().is_none();
        for pursuit in self.jobs.iter_mut().flatten().filter(goes_on) {
            pursuit.dictionary.add_mechanisms();
            pursuit.advance(steps, control);
        }
    }

    /// The same without the atoms of jobs that they don't explain.
    pub fn explaining(mut self) -> Self {
        for job in &mut self.jobs {
            *job = job.take().filter(Pursuit::is_done);
        }
        self
    }

    /// Whether atoms explain the rows of all jobs.
    pub fn is_done(&self) -> bool {
        self.jobs.iter().all(|job| job.as_ref().is_some_and(Pursuit::is_done))
    }

    /// `[pair]`: bytes.
    pub fn bytes(&self, case: &Case) -> Vec<f64> {
        self.added_up(case, |pursuit| pursuit.bytes())
    }

    /// `[pair]`: bytes if the same atoms had left these counters.
    pub fn refitted(&self, case: &Case, counters: &[f64]) -> Vec<f64> {
        self.added_up(case, |pursuit| pursuit.refitted(counters))
    }

    fn added_up(&self, case: &Case, bytes: impl Fn(&Pursuit) -> Vec<f64>) -> Vec<f64> {
        let mut x = vec![0.0; case.operator.pairs()];
        for pursuit in self.jobs.iter().flatten() {
            x.iter_mut().zip(bytes(pursuit)).for_each(|(x, more)| *x += more);
        }
        x
    }

    /// How many atoms came in, in use or not.
    pub fn columns(&self) -> usize {
        self.jobs.iter().flatten().map(Pursuit::tried).sum()
    }

    /// `[job]`: whether its atoms may explain its rows by chance.
    pub fn by_chance(&self) -> Vec<bool> {
        self.jobs.iter().map(|job| job.as_ref().is_some_and(Pursuit::by_chance)).collect()
    }

    /// How many atoms are in use.
    pub fn atoms(&self) -> usize {
        self.list().map(|atoms| atoms.len()).sum()
    }

    /// Every job's atoms, and what each of their pairs carries.
    pub fn list(&self) -> impl Iterator<Item = Vec<(Atom, f64)>> + '_ {
        self.jobs.iter().map(|job| job.as_ref().map_or_else(Vec::new, Pursuit::atoms))
    }
}
