//! The method, top down: counters in, traffic out, with how far it can be trusted.
//!
//! Let `x` be the bytes of every pair of hosts and `R` the rows, a link's lane each, that every pair crosses: counters are `t = R x`
//! (Taffet, dissertation, sec. 4.2). There are far more pairs than rows, so `x` is told by what is known of applications. In order:
//!
//! 1. *measure*: counters become the rows `t`, and routes the operator `R` ([`joined`]);
//! 2. *possible pairs*: a pair that crosses a row without bytes carries none and is left out;
//! 3. *dictionary and pursuit*: every job's process grid is the one on which neighbours and a few more atoms explain its own rows best
//!    ([`ranked_grids`]); few atoms that explain everything are the answer;
//! 4. *model selection*: otherwise a part of the rows is held out, and the gravity model, patterns with more atoms, what jobs sent before,
//!    and the fewest flows ([`crate::basis_pursuit`]) are judged by how well they predict it ([`crate::model`]);
//! 5. *tomography*: the best is changed as little as explains the counters ([`crate::tomography`]);
//! 6. *residual*: what is left beyond noise says whether counters and routes belong together ([`fit`]);
//! 7. *confidence*: the same done with known traffic says how far the answer may be off; what no answer speaks of limits the verdict
//!    ([`scope`]).
//!
//! What is no more than the counters' noise is not explained. A job's own rows are those that no other job's pairs cross; the rest of the
//! rows counts in step 5.

mod answer;
mod earlier;

pub use self::answer::{Errors, Estimate, JobFound, errors, traffic};
pub use self::earlier::Earlier;

use netloom_counters::{Unit, may_have_wrapped};
use netloom_model::{Control, Fabric, Finding};

use crate::basis_pursuit::UnexplainedJobs;
use crate::confidence::{self, Change, Scope, Trust, Verdict, scope};
use crate::dictionary::Grid;
use crate::error::InferError;
use crate::measure::{Joined, Window, joined, merge_repeated_rows};
use crate::model::{Case, Guess, HeldOut, Model, Start, Tried, tried_out};
use crate::operator::{Operator, Participants};
use crate::pursuit::{Ranked, ranked_grids};
use crate::residual::{Counted, Coverage, Fit, Misfit, NOBODY, Target, fit, own_rows};
use crate::settings::{ModelSettings, RetrySettings, Settings, Shares};
use crate::tomography::{em_scaling, gravity, least_change, nearest};

use self::earlier::earlier_bytes;

/// A residual of this part of the target's norm is rounding.
const ROUNDING: f64 = 1e-9;

/// An answer, and what it was made of.
#[derive(Clone, Debug)]
pub struct Inferred {
    /// The rows and the operator.
    pub joined: Joined,
    /// The answer; its trust is in all that was counted.
    pub estimate: Estimate,
    /// How it fits the counters.
    pub fit: Fit,
    /// What its verdict speaks of.
    pub scope: Scope,
    /// That counters may have wrapped, all alike.
    pub wrapped: Option<Finding>,
}

/// Who sent how much to whom, by the counters of windows; `earlier` answers one a job, or none at all.
///
/// # Errors
/// As [`joined`].
pub fn infer(
    fabric: &Fabric,
    windows: &[Window],
    jobs: &[Participants],
    earlier: &[Option<Earlier>],
    unit: Unit,
    settings: &Settings,
    control: &Control,
) -> Result<Inferred, InferError> {
    let joined = joined(fabric, windows, jobs, unit, &settings.counters)?;
    let mut earlier = earlier.to_vec();
    if !earlier.is_empty() {
        earlier.resize(joined.jobs.len(), None);
    }
    let mut estimate = estimate(&joined.operator, &joined.jobs, &joined.counted, &earlier, settings, control);
    let fit = fit(&joined.operator, &joined.counted, &estimate.unexplained, &settings.fit);
    let mut intervals = windows.iter().flat_map(|window| window.counters.intervals());
    let wrapped = intervals.find_map(|interval| may_have_wrapped(fabric, interval));
    let scope = scope(&joined, &fit);
    estimate.trust = scope.limit(estimate.trust, &joined, wrapped.is_some());
    Ok(Inferred { joined, estimate, fit, scope, wrapped })
}

/// Who sent how much to whom, by counters as rows of an operator; `earlier` answers one a job, or none at all.
pub fn estimate(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    earlier: &[Option<Earlier>],
    settings: &Settings,
    control: &Control,
) -> Estimate {
    let first = attempt(operator, jobs, counted, earlier, settings, control);
    let noisier = noisier(counted, &first, &settings.retry).filter(|_| control.stopped().is_none());
    let Some(noisier) = noisier else { return first.estimate };
    let second = attempt(operator, jobs, &noisier, earlier, settings, control);
    let fits = !Misfit::of(counted, &second.estimate.unexplained, &settings.fit).is_foreign;
    if second.is_sure && fits { second.estimate } else { first.estimate }
}

/// An answer.
struct Attempt {
    estimate: Estimate,
    /// What the counters' noise hardly exceeds, as a residual.
    noise: f64,
    /// Whether few atoms or flows explain everything but noise.
    is_sure: bool,
}

/// The counters with the noise that an answer shows they have; `None` where they have none, or no more than they show themselves. Few atoms
/// that explain the rest are believed, not what is made up for it.
fn noisier(counted: &Counted, first: &Attempt, settings: &RetrySettings) -> Option<Counted> {
    let Attempt { estimate, noise, is_sure } = first;
    let residual = estimate.residual;
    if *is_sure || *noise <= 0.0 || residual <= settings.noise * noise || residual > settings.residual {
        return None;
    }
    let left = estimate.unexplained.iter().zip(&counted.bytes);
    let left = left.filter(|(_, bytes)| bytes.is_finite() && **bytes > 0.0);
    let (square, rows) = left.fold((0.0, 0usize), |(sum, rows), (left, _)| (sum + left * left, rows + 1));
    let of_row = settings.deviations * (square / rows.max(1) as f64).sqrt();
    let deviation = counted.deviation.iter().map(|deviation| deviation.hypot(of_row)).collect();
    Some(Counted { bytes: counted.bytes.clone(), deviation })
}

/// Steps 2 to 5, and how far the answer may be off.
fn attempt(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    earlier: &[Option<Earlier>],
    settings: &Settings,
    control: &Control,
) -> Attempt {
    assert_eq!(counted.bytes.len(), operator.rows());
    let keep = counted.possible(operator, &settings.counters);
    let (possible, rows) = operator.restrict(&keep).compact();
    let own = own_rows(&possible, jobs.len());
    let here = merge_repeated_rows(&possible, operator, &rows, counted.of(&rows));
    let used = |row: usize| own[row] != NOBODY && here.bytes[row] > 0.0;
    let target = Target::relative(&here, &settings.counters, used);

    let grids: Vec<Option<Grid>> = earlier.iter().map(|of| of.as_ref().map(|of| of.grid)).collect();
    let ranked = ranked_grids(&possible, jobs, &target, &own, &grids, settings, control);
    let hypotheses = ranked.iter().map(|found| found.best).collect();
    let case = Case::new(&possible, jobs, &own, hypotheses, settings);

    let targets = case.targets(&target);
    let problem = Problem {
        case: &case,
        counted: &here,
        target: &target,
        targets: &targets,
        ranked: &ranked,
        earlier,
        control,
    };
    let solution = problem.solve();

    let residual = target.left(&possible, &solution.bytes);
    let coverage = Coverage::of(operator, counted);
    let trust = limited(solution.trust, residual, &coverage);
    // If stopped, not all that may be right was tried.
    let cut_short = solution.was_refused || control.stopped().is_some();
    let trust = if cut_short { trust.at_most_partly() } else { trust };
    let trust = trust.limited_by_coverage(coverage.pairs_between).limited_by_jobs();

    let mut bytes = vec![0.0; operator.pairs()];
    let kept = bytes.iter_mut().zip(&keep).filter(|(_, keep)| **keep);
    kept.zip(solution.bytes).for_each(|((bytes, _), x)| *bytes = x);
    let explained = operator.forward(&bytes);
    let unexplained = counted.bytes.iter().zip(explained);
    let unexplained = unexplained.map(|(b, e)| if b.is_finite() { b - e } else { 0.0 }).collect();
    let found = ranked.iter().zip(solution.guess.list()).zip(&solution.remembered);
    let found = found.map(|((of, atoms), remembered)| JobFound {
        grid: of.best.map(|best| best.grid),
        rival: of.rival,
        atoms,
        remembered: of.remembered || *remembered,
    });
    let estimate = Estimate {
        bytes,
        possible: possible.pairs(),
        jobs: found.collect(),
        model: solution.model,
        residual,
        held_out: solution.held_out,
        unexplained,
        trust,
    };
    Attempt { estimate, noise: target.noise(), is_sure: solution.is_sure }
}

/// Trust in an answer that leaves so much of the counters, of which so much was seen.
fn limited(trust: Trust, residual: f64, coverage: &Coverage) -> Trust {
    let limits = trust.settings;
    let mut trust = trust;
    if residual > limits.unexplained {
        trust = trust.with_least_error(residual.min(1.0));
        trust.verdict = Verdict::NotIdentifiable;
    }
    if coverage.unknown > limits.unknown_rows {
        // What is not seen of hosts is in no sum, and counts by its root as bytes do.
        let unknown = coverage.unknown.max(coverage.unknown_of_hosts.sqrt()).min(1.0);
        trust = trust.with_least_error(unknown).at_most_partly();
    }
    trust
}

/// Rows to explain by the possible pairs, on the grids that were found.
struct Problem<'a> {
    case: &'a Case<'a>,
    counted: &'a Counted,
    target: &'a Target,
    /// `[job]`: the target on its own rows.
    targets: &'a [Target],
    /// `[job]`
    ranked: &'a [Ranked],
    earlier: &'a [Option<Earlier>],
    control: &'a Control,
}

/// Bytes of the possible pairs.
struct Solution<'a> {
    /// `[pair]`
    bytes: Vec<f64>,
    /// The atoms in it.
    guess: Guess<'a>,
    model: Model,
    /// What the model left of the rows held out.
    held_out: Option<f64>,
    /// Whether it would have been refused before it was solved exactly.
    was_refused: bool,
    /// `[job]`: whether its bytes are those of an earlier answer.
    remembered: Vec<bool>,
    /// Whether few atoms or flows explain everything but noise.
    is_sure: bool,
    trust: Trust,
}

/// What is known of an answer before the rows held out are asked.
struct Beginning<'a> {
    guess: Guess<'a>,
    /// `[pair]`: bytes by all atoms.
    by_atoms: Vec<f64>,
    /// `[pair]`: bytes by earlier answers, where there are any; and `[job]`: whose.
    by_earlier: Option<(Vec<f64>, Vec<bool>)>,
}

impl<'a> Problem<'a> {
    /// Most atoms, changes to pairs that carry much: what is used where nothing is tried.
    const MODEL: Model = Model {
        start: Start::Atoms(ModelSettings::ATOMS[ModelSettings::ATOMS.len() - 1]),
        shares: Shares::MIDDLE,
    };

    /// By few atoms if they explain everything but noise, else by what predicts the rows held out best.
    fn solve(&self) -> Solution<'a> {
        let mut guess = self.case.guess(self.targets);
        guess.advance(ModelSettings::ATOMS[ModelSettings::ATOMS.len() - 1], self.control);
        let by_atoms = guess.bytes(self.case);
        let Case { operator, jobs, .. } = *self.case;
        let by_earlier = earlier_bytes(operator, jobs, self.earlier, self.targets, by_atoms.clone());
        let few = guess.atoms() * self.rows_per_term() <= self.target.rows();
        // Noise hides what atoms may have wrong: then what was seen before has its say.
        let open = by_earlier.is_some() && self.target.noise() > 0.0;
        let is_sure = few && !open && self.is_explained(&by_atoms);
        let beginning = Beginning { guess, by_atoms, by_earlier };
        if is_sure { self.by_atoms(beginning) } else { self.by_prediction(beginning) }
    }

    /// Terms are few if there are as many rows for each of them: else they explain anything.
    fn rows_per_term(&self) -> usize {
        let settings = &self.case.settings.models;
        let noisy = self.target.noise() > settings.nearly_exact;
        if noisy { settings.rows_per_term_noisy } else { settings.rows_per_term }
    }

    /// Whether all but noise is explained. Noise of some rows hides what is wrong with others only from their sum.
    fn is_explained(&self, x: &[f64]) -> bool {
        let enough = ROUNDING.max(1.01 * self.target.noise());
        self.target.left(self.case.operator, x) <= enough && !self.misfit(x).is_foreign
    }

    /// What `x` leaves of the counters.
    fn misfit(&self, x: &[f64]) -> Misfit {
        let rows = self.case.operator.forward(x);
        let left: Vec<f64> = self.counted.bytes.iter().zip(rows).map(|(bytes, row)| bytes - row).collect();
        Misfit::of(self.counted, &left, &self.case.settings.fit)
    }

    /// Few atoms that explain everything but noise.
    fn by_atoms(&self, Beginning { guess, by_atoms: bytes, .. }: Beginning<'a>) -> Solution<'a> {
        let trust = confidence::of_atoms(self.case, &guess, self.target, self.ranked, &bytes, self.control);
        Solution {
            bytes,
            guess,
            model: Self::MODEL,
            held_out: None,
            was_refused: false,
            remembered: vec![false; self.targets.len()],
            is_sure: true,
            trust,
        }
    }

    /// The fewest flows if they are few, or predict the rows held out; else the model that predicts them best, changed.
    fn by_prediction(&self, beginning: Beginning<'a>) -> Solution<'a> {
        let Self { case, target, control, .. } = *self;
        let (operator, settings) = (case.operator, &case.settings.models);
        let rows = HeldOut::of(target, case.settings);
        let explaining = beginning.guess.clone().explaining();
        let closed: Vec<bool> = explaining.list().map(|atoms| !atoms.is_empty()).collect();
        let rest = UnexplainedJobs::new(operator, &closed, explaining.bytes(case), target, case.settings);
        let may_be_few = control.stopped().is_none() && rest.may_be_few(target);
        // Flows as few as atoms would have to be are the answer like these. With several routings they hardly ever are.
        let flows = (may_be_few && operator.routings() == 1).then(|| rest.fewest(target, None, control));
        let few = |x: &Vec<f64>| rest.rows_each(target, x) >= self.rows_per_term() as f64;
        let flows = flows.filter(|x| self.is_explained(x) && few(x));
        let flows_held_out = (may_be_few && flows.is_none()).then(|| {
            let x = rest.fewest(&rows.training, None, control);
            rows.test.left(operator, &x)
        });
        // Flows that predict what they were not made from need no rival.
        let right = settings.flows_held_out.max(settings.flows_noise * rows.test.noise());
        let sure = flows.is_some() || flows_held_out.is_some_and(|error| error <= right);
        let by_earlier = beginning.by_earlier.as_ref().map(|(bytes, _)| &bytes[..]);
        let tried = if sure { Vec::new() } else { tried_out(case, &rows, by_earlier, control) };
        let best = tried.first().map(|best| best.error);
        let better = flows_held_out.is_some_and(|error| best.is_none_or(|best| error < best));
        if flows.is_some() || better {
            return self.by_flows(explaining, &rest, flows, flows_held_out);
        }
        self.by_change(beginning, &tried)
    }

    /// The fewest flows; `few` are those that explain everything but noise.
    fn by_flows(
        &self,
        guess: Guess<'a>,
        rest: &UnexplainedJobs,
        few: Option<Vec<f64>>,
        held_out: Option<f64>,
    ) -> Solution<'a> {
        let is_sure = few.is_some();
        let mut bytes = few.unwrap_or_else(|| rest.fewest(self.target, None, self.control));
        let was_refused = self.nearest(&mut bytes);
        let trust = confidence::of_flows(self.case, rest, &bytes, self.target, self.control);
        let model = Model { start: Start::Fewest, ..Self::MODEL };
        let remembered = vec![false; self.targets.len()];
        Solution { bytes, guess, model, held_out, was_refused, remembered, is_sure, trust }
    }

    /// The least change of the best model that was tried.
    fn by_change(&self, beginning: Beginning<'a>, tried: &[Tried]) -> Solution<'a> {
        let Self { case, target, control, .. } = *self;
        let (operator, settings) = (case.operator, case.settings);
        let (model, held_out) =
            tried.first().map_or((Self::MODEL, None), |best| (best.model, Some(best.error)));
        let Beginning { mut guess, by_atoms, by_earlier } = beginning;
        let mut remembered = vec![false; self.targets.len()];
        let before = match model.start {
            // There is no time to begin anew, and no other number of atoms was tried.
            Start::Atoms(_) if model == Self::MODEL && control.stopped().is_some() => by_atoms,
            Start::Atoms(atoms) => {
                guess = case.guess(self.targets);
                guess.advance(atoms, control);
                guess.bytes(case)
            }
            Start::Earlier => {
                let (bytes, whose) = by_earlier.expect("it was tried");
                remembered = whose;
                bytes
            }
            _ => {
                guess = guess.explaining();
                gravity(operator, target, settings.least_change.gravity_rounds, control)
            }
        };
        let mut bytes = before.clone();
        let shares = &model.shares;
        let changed = least_change(
            operator,
            &case.families,
            shares,
            target,
            &mut bytes,
            &settings.least_change,
            control,
        );
        em_scaling(operator, target, &mut bytes, settings.least_change.em_rounds, control);
        let was_refused = self.nearest(&mut bytes);

        let unchanged = changed.deviation.iter().all(|deviation| *deviation == 0.0);
        let is_pattern = !matches!(model.start, Start::Gravity | Start::Earlier);
        let trust = if is_pattern && unchanged {
            confidence::of_atoms(case, &guess, target, self.ranked, &bytes, control)
        } else {
            let explained = guess.is_done() && confidence::hosts_identify_all(case, &guess, target);
            let change = Change {
                before: &before,
                after: &bytes,
                deviation: &changed.deviation,
                shares,
                start: model.start,
                chance: &guess.by_chance(),
                explained,
            };
            confidence::of_change(case, &change, target, (tried, self.ranked), control)
        };
        let trust = if model.start == Start::Earlier {
            let own = self.earlier.iter().zip(&remembered).filter(|(_, remembered)| **remembered);
            let errors = own.filter_map(|(earlier, _)| Some(earlier.as_ref()?.errors()));
            trust.with_earlier_errors(
                errors.fold([0.0; 2], |most, of| [most[0].max(of[0]), most[1].max(of[1])]),
            )
        } else {
            trust
        };
        Solution { bytes, guess, model, held_out, was_refused, remembered, is_sure: false, trust }
    }

    /// What would be refused is explained exactly, if it can be, and so is what little is left where that is soon done and not chance, as
    /// an even split is; whether it would have been refused.
    fn nearest(&self, x: &mut Vec<f64>) -> bool {
        let Self { case, target, control, .. } = *self;
        let (operator, settings) = (case.operator, &case.settings.nearest);
        let misfit = self.misfit(x);
        let soon = operator.rows() <= settings.dense_rows && !operator.splits();
        if (misfit.is_foreign || soon && misfit.share > settings.worth) && control.stopped().is_none() {
            nearest(operator, target, x, settings, control);
        }
        misfit.is_foreign
    }
}
