//! Counters in, traffic out: the whole way.
//!
//! 1. A pair that crosses a row without bytes carries none and is left out.
//! 2. Every job's grid is the one on which neighbours and a few more atoms explain its own rows best ([`crate::pursuit`]).
//! 3. How many atoms to take and how what is left may be spread is tried out: a part of the rows is held out, and what predicts them best
//!    is used with all rows ([`Model`]).
//!    Where hosts leave lanes idle, so are the fewest flows that explain the counters ([`crate::sparse`]); where jobs were seen before, so is
//!    what they sent then ([`crate::memory`]).
//! 4. The atoms are the guess, its least change that explains the counters the answer ([`crate::change`]).
//!    What is still left is explained by scaling pairs; what would be refused then is solved exactly ([`crate::change::exact`]).
//! 5. How far it can be trusted is told by doing the same with traffic that is known ([`crate::trust`]).
//!
//! What is no more than the counters' noise is not explained.
//!
//! A job's own rows are those that no other job's pairs cross; the rest of the rows counts in the last step.

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::answer::{Estimate, JobFound};
use crate::case::{Case, NOBODY, own_rows};
use crate::change::{Effort, SETTLED, evenly, exact, least_change, settle};
use crate::fit::Misfit;
use crate::jobs::Participants;
use crate::memory::{Memory, remembered};
use crate::model::{ATOMS, BROAD, DENSE, DULL, MIDDLE, Model, NARROW, Options, Start, Tried, models};
use crate::operator::Operator;
use crate::ranking::ranked_grids;
use crate::rest::Rest;
use crate::span::repeats_as_one;
use crate::target::{Counted, Target};
use crate::trust;
use crate::verdict::Verdict;

/// Flows are right if they are this close on rows that were held out.
const SURE: f64 = 0.01;
/// A residual of this part is nothing.
const NOTHING: f64 = 1e-9;
/// Atoms are few if there are as many rows for each, of exact counters and of noisy ones: else they explain anything.
const FEW: [usize; 2] = [4, 20];
/// Counters with less noise than this part are as good as exact where atoms are counted.
const NEARLY_EXACT: f64 = 1e-3;
/// What was seen before needs to predict only so many times as badly.
const FAMILIAR: f64 = 1.2;
/// What is left beyond noise is little up to this part of what was counted.
const LITTLE: f64 = 1e-4;
/// An answer that leaves more than this part of the counters is none.
const UNEXPLAINED: f64 = 0.3;
/// Counters have more noise than they show where an answer leaves so many times of it, and no more than this part.
const MORE_NOISE: f64 = 2.0;
const ODD: f64 = 0.02;
/// Of a row it is so many times what was left, as what is made up for it explains most.
const OF_ROW: f64 = 3.0;
/// More unknown rows than this part may hide what a pattern does not have.
const UNREAD: f64 = 0.03;

/// Who sent how much to whom.
pub fn estimate(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    options: &Options,
    control: &Control,
) -> Estimate {
    estimate_again(operator, jobs, counted, &[], options, control)
}

/// The same where jobs were seen before; `memories` one a job, or none at all.
pub fn estimate_again(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    memories: &[Option<Memory>],
    options: &Options,
    control: &Control,
) -> Estimate {
    let first = attempt(operator, jobs, counted, memories, options, control);
    let Some(noisier) = noisier(counted, &first).filter(|_| control.stopped().is_none()) else {
        return first.estimate;
    };
    let second = attempt(operator, jobs, &noisier, memories, options, control);
    let fits = !Misfit::of(counted, &second.estimate.unexplained).is_foreign();
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

/// The counters with the noise that an answer shows they have; `None` where they have none, or no more than they show themselves. Looking after a
/// fabric leaves a little on every link, which no traffic explains: few atoms that explain the rest are believed, not what is made up for it.
fn noisier(counted: &Counted, first: &Attempt) -> Option<Counted> {
    let Attempt { estimate, noise, is_sure } = first;
    if *is_sure || *noise <= 0.0 || estimate.residual <= MORE_NOISE * noise || estimate.residual > ODD {
        return None;
    }
    let left = estimate
        .unexplained
        .iter()
        .zip(&counted.bytes)
        .filter(|(_, bytes)| bytes.is_finite() && **bytes > 0.0);
    let (square, rows) = left.fold((0.0, 0usize), |(sum, rows), (left, _)| (sum + left * left, rows + 1));
    let of_row = OF_ROW * (square / rows.max(1) as f64).sqrt();
    let deviation = counted.deviation.iter().map(|deviation| deviation.hypot(of_row)).collect();
    Some(Counted { bytes: counted.bytes.clone(), deviation })
}

/// The whole way once.
fn attempt(
    operator: &Operator,
    jobs: &[Participants],
    counted: &Counted,
    memories: &[Option<Memory>],
    options: &Options,
    control: &Control,
) -> Attempt {
    assert_eq!(counted.bytes.len(), operator.rows());
    let keep = counted.possible(operator);
    let (small, rows) = operator.restrict(&keep).compact();
    let own = own_rows(&small, jobs.len());
    let here = repeats_as_one(&small, operator, &rows, counted.of(&rows));
    let target = Target::relative(&here, |r| own[r] != NOBODY && here.bytes[r] > 0.0);
    let ranked = ranked_grids(&small, jobs, &target, &own, memories, options, control);
    let case = Case::new(&small, jobs, &own, ranked.iter().map(|found| found.best).collect());

    // Where few atoms explain everything but noise, there is nothing to try out.
    let enough = NOTHING.max(1.01 * target.noise());
    let most = ATOMS[ATOMS.len() - 1];
    let all = Model { start: Start::Atoms(most), shares: MIDDLE };
    let targets = case.targets(&target);
    let mut guess = case.guess(&targets);
    guess.advance(most, control);
    let noisy = target.noise() > 0.0;
    let rows_each = FEW[usize::from(target.noise() > NEARLY_EXACT)];
    let few = guess.atoms() * rows_each <= target.rows();
    // Noise of some rows hides what is wrong with others only from their sum.
    let is_enough = |x: &[f64]| target.left(&small, x) <= enough && !misfit(&small, &here, x).is_foreign();
    let mut x = guess.bytes(&case);
    let (mut model, mut held_out, mut forced) = (all, None, false);
    let mut whose = vec![false; jobs.len()];
    let again = remembered(&small, jobs, memories, &targets, x.clone());
    // Noise hides what atoms may have wrong: then what was seen before has its say.
    let open = again.is_some() && noisy;
    let mut is_sure = few && !open && is_enough(&x);
    let mut trust = if is_sure {
        trust::of_atoms(&case, &guess, &target, &ranked, &x, options, control)
    } else {
        let halves = split(&target, options);
        let effort = Effort { rounds: 6, steps: 40, ..options.effort };
        let rest = Rest::new(&case, &guess.clone().explaining(), &target);
        let may_be_few = control.stopped().is_none() && rest.may_be_few(&target);
        // Flows as few as atoms would have to be are the answer like these. With several routings they hardly ever are.
        let flows = (may_be_few && small.routings() == 1).then(|| rest.fewest(&target, None, control));
        let flows = flows.filter(|x| is_enough(x) && rest.rows_each(&target, x) >= rows_each as f64);
        let fewest = (may_be_few && flows.is_none()).then(|| {
            let x = rest.fewest(&halves.training, None, control);
            halves.test.left(&small, &x)
        });
        // Flows that predict what they were not made from need no rival.
        let sure =
            flows.is_some() || fewest.is_some_and(|error| error <= SURE.max(1.5 * halves.test.noise()));
        let tried = if sure {
            Vec::new()
        } else {
            tried_out(&case, &halves, again.as_ref().map(|again| &again.0[..]), &effort, control)
        };
        if let Some(best) = tried.first() {
            (model, held_out) = (best.model, Some(best.error));
        }
        let better = fewest.is_some_and(|error| held_out.is_none_or(|best| error < best));
        is_sure = flows.is_some();
        if flows.is_some() || better {
            guess = guess.explaining();
            (model, held_out) = (Model { start: Start::Fewest, ..all }, fewest);
            x = flows.unwrap_or_else(|| rest.fewest(&target, None, control));
            forced = explained(&small, &here, &target, &mut x, control);
            trust::of_fewest(&case, &rest, &x, &target, options, control)
        } else {
            let before = match model.start {
                // There is no time to begin anew, and no other number of atoms was tried.
                Start::Atoms(_) if model == all && control.stopped().is_some() => x.clone(),
                Start::Atoms(atoms) => {
                    guess = case.guess(&targets);
                    guess.advance(atoms, control);
                    guess.bytes(&case)
                }
                Start::Remembered => again.as_ref().expect("it was tried").0.clone(),
                _ => {
                    guess = guess.explaining();
                    evenly(&small, &target, control)
                }
            };
            x.clone_from(&before);
            let shares = &model.shares;
            let changed =
                least_change(&small, &case.families, shares, &target, &mut x, &options.effort, control);
            settle(&small, &target, &mut x, SETTLED, control);
            forced = explained(&small, &here, &target, &mut x, control);
            let (deviation, start) = (&changed.deviation, model.start);
            let chance = &guess.by_chance();
            let explained = guess.is_done() && trust::all_are_told_by_hosts(&case, &guess, &target);
            let changed = |after| trust::Changed {
                before: &before,
                after,
                deviation,
                shares,
                start,
                chance,
                explained,
            };
            if model.start == Start::Remembered {
                whose = again.map_or(whose, |again| again.1);
                let known = changed(&x);
                let trust =
                    trust::of_change(&case, &known, &target, (&tried, &ranked), &effort, options, control);
                let own = memories.iter().zip(&whose).filter(|(_, whose)| **whose);
                let errors = own.filter_map(|(memory, _)| Some(memory.as_ref()?.errors()));
                trust.with_memory(errors.fold([0.0; 2], |most, of| [most[0].max(of[0]), most[1].max(of[1])]))
            } else if model.start != Start::Even && deviation.iter().all(|d| *d == 0.0) {
                trust::of_atoms(&case, &guess, &target, &ranked, &x, options, control)
            } else {
                let known = changed(&x);
                trust::of_change(&case, &known, &target, (&tried, &ranked), &effort, options, control)
            }
        }
    };
    let residual = target.left(&small, &x);
    if residual > UNEXPLAINED {
        trust = trust.at_least_in_all(residual.min(1.0));
        trust.verdict = Verdict::NotIdentifiable;
    }
    let unknown = unknown_rows(operator, counted);
    if unknown.all > UNREAD {
        // What is not seen of hosts is in no sum, and counts by its root as bytes do.
        trust = trust.at_least_in_all(unknown.all.max(unknown.of_hosts.sqrt()).min(1.0)).partly_at_best();
    }
    // If stopped, not all that may be right was tried.
    if forced || control.stopped().is_some() {
        trust = trust.partly_at_best();
    }
    trust = trust.where_known(known_between(operator, counted)).no_better_than_its_worst();
    let mut whole = vec![0.0; operator.pairs()];
    let kept = whole.iter_mut().zip(&keep).filter(|(_, keep)| **keep);
    kept.zip(x).for_each(|((whole, _), x)| *whole = x);
    let jobs = ranked.into_iter().zip(guess.list()).zip(whose);
    let jobs = jobs
        .map(|((of, atoms), whose)| JobFound {
            grid: of.best.map(|best| best.grid),
            rival: of.rival,
            atoms,
            remembered: of.remembered || whose,
        })
        .collect();
    let explained = operator.forward(&whole);
    let unexplained = counted.bytes.iter().zip(explained);
    let unexplained = unexplained.map(|(b, e)| if b.is_finite() { b - e } else { 0.0 }).collect();
    let possible = small.pairs();
    let noise = target.noise();
    let estimate = Estimate { bytes: whole, possible, jobs, model, residual, held_out, unexplained, trust };
    Attempt { estimate, noise, is_sure }
}

/// What would be refused is explained exactly, if it can be, and so is what little is left where that is soon done and not chance, as an even
/// split is; whether it would have been refused.
fn explained(
    operator: &Operator,
    counted: &Counted,
    target: &Target,
    x: &mut Vec<f64>,
    control: &Control,
) -> bool {
    let misfit = misfit(operator, counted, x);
    let soon = operator.rows() <= exact::AT_ONCE && !operator.splits() && misfit.share > LITTLE;
    if (misfit.is_foreign() || soon) && control.stopped().is_none() {
        exact::explain(operator, target, x, control);
    }
    misfit.is_foreign()
}

/// What `x` leaves of the counters.
fn misfit(operator: &Operator, counted: &Counted, x: &[f64]) -> Misfit {
    let rows = operator.forward(x);
    let left: Vec<f64> = counted.bytes.iter().zip(rows).map(|(bytes, row)| bytes - row).collect();
    Misfit::of(counted, &left)
}

/// Of the rows that pairs cross the part that is unknown, and of those of hosts' links.
struct Unknown {
    all: f64,
    of_hosts: f64,
}

/// Links that are alike under routings that split traffic stand for each other: there none counts as unknown.
fn unknown_rows(operator: &Operator, counted: &Counted) -> Unknown {
    let crossed = operator.forward(&vec![1.0; operator.pairs()]);
    let ends = operator.ends();
    let part = |of: &dyn Fn(usize) -> bool| {
        let rows = || (0..operator.rows()).filter(|&row| crossed[row] > 0.0 && of(row));
        let unknown = rows().filter(|&row| !counted.bytes[row].is_finite()).count();
        unknown as f64 / rows().count().max(1) as f64
    };
    if operator.splits() {
        return Unknown { all: 0.0, of_hosts: 0.0 };
    }
    Unknown { all: part(&|_| true), of_hosts: part(&|row| ends[row]) }
}

/// Of pairs whose ways cross rows between switches the part that crosses one whose bytes are known; 1 if there are no such pairs.
fn known_between(operator: &Operator, counted: &Counted) -> f64 {
    let ends = operator.ends();
    let crossing = |is: &dyn Fn(usize) -> bool| {
        let rows: Vec<f64> =
            (0..operator.rows()).map(|row| f64::from(u8::from(!ends[row] && is(row)))).collect();
        operator.adjoint(&rows).into_iter().filter(|crossed| *crossed > 0.0).count()
    };
    let (all, known) = (crossing(&|_| true), crossing(&|row| counted.bytes[row].is_finite()));
    if all == 0 { 1.0 } else { known as f64 / all as f64 }
}

/// All models, of each start the best; the one to be believed comes first. `again` is what was remembered.
fn tried_out(
    case: &Case,
    halves: &Halves,
    again: Option<&[f64]>,
    effort: &Effort,
    control: &Control,
) -> Vec<Tried> {
    let targets = case.targets(&halves.training);
    let mut all: Vec<Tried> = Vec::new();
    let mut guess = case.guess(&targets);
    let mut before = 0;
    let first = again.map(|_| [BROAD, MIDDLE, NARROW].map(|shares| (Start::Remembered, shares)));
    let first = first.into_iter().flatten().map(|(start, shares)| Model { start, shares });
    let all_models = first.chain(models(halves.training.rows(), guess.columns()));
    for model in all_models.take_while(|_| control.stopped().is_none()) {
        let mut x = match model.start {
            Start::Atoms(atoms) => {
                guess.advance(atoms - before, control);
                before = atoms;
                guess.bytes(case)
            }
            Start::Remembered => again.map(<[f64]>::to_vec).unwrap_or_default(),
            _ => evenly(case.operator, &halves.training, control),
        };
        let families = &case.families;
        least_change(case.operator, families, &model.shares, &halves.training, &mut x, effort, control);
        let error = halves.test.left(case.operator, &x);
        match all.iter_mut().find(|tried| tried.model.start == model.start) {
            Some(tried) if tried.error <= error => {}
            old => {
                let judged = match model.start {
                    Start::Even => error / DULL * (error / DENSE).min(1.0),
                    Start::Remembered => error / FAMILIAR,
                    _ => error,
                };
                let new = Tried { model, error, judged, bytes: x.iter().map(|&x| x as f32).collect() };
                match old {
                    Some(old) => *old = new,
                    None => all.push(new),
                }
            }
        }
    }
    all.sort_by(|a, b| a.judged.total_cmp(&b.judged));
    all
}

/// Rows to fit, and rows to judge by.
struct Halves {
    training: Target,
    test: Target,
}

fn split(target: &Target, options: &Options) -> Halves {
    let (mut training, mut test) = (target.clone(), target.clone());
    for r in 0..target.weight.len() {
        let out = below(&mut stream(options.seed, r as u64), options.hold_out.max(2)) == 0;
        let other = if out { &mut training } else { &mut test };
        other.weight[r] = 0.0;
        test.weight[r] = f64::from(u8::from(test.weight[r] > 0.0));
    }
    Halves { training, test }
}
