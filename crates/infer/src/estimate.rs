//! Counters in, traffic out: the whole way.
//!
//! 1. A pair that crosses a row without bytes carries none and is left out.
//! 2. Every job's grid is the one on which neighbours and a few more atoms explain its own rows best ([`crate::pursuit`]).
//! 3. How many atoms to take and how what is left may be spread is tried out: a part of the rows is held out, and what predicts them best
//!    is used with all rows ([`Model`]).
//!    Where hosts leave lanes idle, so are the fewest flows that explain the counters ([`crate::sparse`]); where jobs were seen before, so is
//!    what they sent then ([`crate::memory`]).
//! 4. The atoms are the guess, its least change that explains the counters the answer ([`crate::change`]).
//!    What is still left is explained by scaling pairs.
//! 5. How far it can be trusted is told by doing the same with traffic that is known ([`crate::trust`]).
//!
//! What is no more than the counters' noise is not explained.
//!
//! A job's own rows are those that no other job's pairs cross; the rest of the rows counts in the last step.

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::case::{Case, NOBODY, own_rows};
use crate::change::{Effort, evenly, least_change, settle};
use crate::dictionary::Atom;
use crate::grid::Grid;
use crate::jobs::Participants;
use crate::memory::{Memory, remembered};
use crate::operator::Operator;
use crate::prior::Shares;
use crate::ranking::ranked_grids;
use crate::span::repeats_as_one;
use crate::sparse::Rest;
use crate::target::{Counted, Target};
use crate::trust::{self, Trust};

/// Flows are right if they are this close on rows that were held out.
const SURE: f64 = 0.01;
/// A residual of this part is nothing.
const NOTHING: f64 = 1e-9;
/// Atoms are few if there are as many rows for each, of exact counters and of noisy ones: else they explain anything.
const FEW: [usize; 2] = [4, 20];
/// Models have no more atoms than one for so many rows.
const MANY: usize = 5;
/// Bytes spread evenly are wrong in no surprising way: patterns must foretell so many times better.
const DULL: f64 = 1.5;
/// The more so where they leave less than this, as dense traffic of any amounts does: patterns that leave half as much are then chance.
pub(crate) const DENSE: f64 = 0.08;
/// What was seen before needs to foretell only so many times as badly.
const FAMILIAR: f64 = 1.2;
/// An answer that leaves more than this part of the counters is none.
const UNEXPLAINED: f64 = 0.3;
/// Rounds in which the last hundredth is explained.
const SETTLED: usize = 60;

/// What is tried and how hard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// Atoms beside neighbours while grids are compared: first of the better third of all grids, then of the best.
    pub first_steps: [usize; 2],
    /// Conjugate gradients of the answer.
    pub effort: Effort,
    /// One row of so many is held out.
    pub hold_out: u64,
    /// Of what is held out.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        let effort = Effort { rounds: 30, steps: 50, tolerance: 1e-9 };
        Self { first_steps: [8, 22], effort, hold_out: 8, seed: 1 }
    }
}

/// What a guess begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// Every host's bytes go to all others, by what these receive ([`crate::change::evenly`]).
    Even,
    /// Neighbours on the grid and so many more atoms.
    Atoms(usize),
    /// Jobs that atoms don't explain have the fewest flows ([`crate::sparse`]).
    Fewest,
    /// What jobs sent before ([`crate::memory`]).
    Remembered,
}

/// How the guess is made and what may change of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// What it begins with.
    pub start: Start,
    /// How changes spread.
    pub shares: Shares,
}

/// Changes go to whole families as well as to single pairs, to those that carry much a little more.
const BROAD: Shares = Shares { opposite: 0.9, offset: 0.5, alike: 0.5, growth: 0.5, floor: 0.3 };
/// Changes go to pairs that carry much.
const MIDDLE: Shares = Shares { opposite: 0.9, offset: 0.2, alike: 0.2, growth: 1.0, floor: 0.3 };
/// Hardly any go to pairs that carry little.
const NARROW: Shares = Shares { opposite: 0.9, offset: 0.1, alike: 0.1, growth: 1.5, floor: 0.1 };

/// How many atoms beside neighbours are tried.
const ATOMS: [usize; 5] = [0, 12, 24, 48, 96];

/// What is tried with so many rows and neighbours, in order of atoms.
pub fn models(rows: usize, neighbours: usize) -> impl Iterator<Item = Model> {
    let few = move |atoms: &usize| (neighbours + atoms) * MANY <= rows;
    let atoms = ATOMS.into_iter().filter(few).map(Start::Atoms);
    let starts = std::iter::once(Start::Even).chain(atoms);
    starts.flat_map(|start| [BROAD, MIDDLE, NARROW].map(|shares| Model { start, shares }))
}

/// What was found of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFound {
    /// Its grid; `None` where it has no rows of its own or fewer than two hosts.
    pub grid: Option<Grid>,
    /// The next best grid that does not explain it as well, and how much worse: its residual over the best's.
    pub rival: Option<(Grid, f64)>,
    /// The atoms of the guess, and what each of their pairs carries.
    pub atoms: Vec<(Atom, f64)>,
    /// Whether what was remembered of it has a part in the answer: its grid, or its bytes.
    pub remembered: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// `[pair of the operator given]`: bytes.
    pub bytes: Vec<f64>,
    /// Pairs that may carry something.
    pub possible: usize,
    /// What was found of every job.
    pub jobs: Vec<JobFound>,
    /// How the guess was made.
    pub model: Model,
    /// What the answer leaves unexplained: weighted residual over the counters' norm.
    pub residual: f64,
    /// The same on rows that were held out, of an answer without them; `None` where atoms explain all.
    pub held_out: Option<f64>,
    /// `[row of the operator given]`: counted minus explained, bytes; 0 where nothing is known.
    pub unexplained: Vec<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
}

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
    assert_eq!(counted.bytes.len(), operator.rows());
    let keep = counted.possible(operator);
    let (small, rows) = operator.restrict(&keep).compact();
    let own = own_rows(&small, jobs.len());
    let here = repeats_as_one(&small, operator, &rows, counted.of(&rows));
    let target = Target::relative(&here, |r| own[r] != NOBODY && here.bytes[r] > 0.0);
    let ranked = ranked_grids(&small, jobs, &target, &own, memories, options, control);
    let case = Case::new(&small, jobs, &own, ranked.iter().map(|found| found.grid).collect());

    // Where few atoms explain everything but noise, there is nothing to try out.
    let enough = NOTHING.max(1.01 * target.noise());
    let most = ATOMS[ATOMS.len() - 1];
    let all = Model { start: Start::Atoms(most), shares: MIDDLE };
    let targets = case.targets(&target);
    let mut guess = case.guess(&targets);
    guess.advance(most, control);
    let few = guess.atoms() * FEW[usize::from(target.noise() > 0.0)] <= target.rows();
    let mut x = guess.bytes(&case);
    let (mut model, mut held_out) = (all, None);
    let mut whose = vec![false; jobs.len()];
    let again = remembered(&small, jobs, memories, &targets, x.clone());
    // Noise hides what atoms may have wrong: then what was seen before has its say.
    let open = again.is_some() && target.noise() > 0.0;
    let mut trust = if few && !open && target.left(&small, &x) <= enough {
        trust::of_atoms(&case, &guess, &target, &ranked, &x, options, control)
    } else {
        let halves = split(&target, options);
        let effort = Effort { rounds: 6, steps: 40, ..options.effort };
        let rest = Rest::new(&case, &guess.clone().explaining());
        let fewest = rest.may_be_few(&target).then(|| {
            let x = rest.fewest(&halves.training, None, control);
            halves.test.left(&small, &x)
        });
        // Flows that foretell what they were not made from need no rival.
        let sure = fewest.is_some_and(|error| error <= SURE.max(1.5 * halves.test.noise()));
        let tried = if sure {
            Vec::new()
        } else {
            tried_out(&case, &halves, again.as_ref().map(|again| &again.0[..]), &effort, control)
        };
        if let Some(best) = tried.first() {
            (model, held_out) = (best.model, Some(best.error));
        }
        if let Some(error) = fewest.filter(|&error| held_out.is_none_or(|best| error < best)) {
            guess = guess.explaining();
            (model, held_out) = (Model { start: Start::Fewest, ..all }, Some(error));
            x = rest.fewest(&target, None, control);
            trust::of_fewest(&case, &rest, &x, &target, options, control)
        } else {
            let before = match model.start {
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
            let deviation = &changed.deviation;
            if model.start == Start::Remembered {
                whose = again.map_or(whose, |again| again.1);
                let known =
                    trust::Changed { before: &before, after: &x, deviation, shares, start: model.start };
                let trust =
                    trust::of_change(&case, &known, &target, (&tried, &ranked), &effort, options, control);
                let own = memories.iter().zip(&whose).filter(|(_, whose)| **whose);
                let errors = own.filter_map(|(memory, _)| Some(memory.as_ref()?.errors()));
                trust.with_memory(errors.fold([0.0; 2], |most, of| [most[0].max(of[0]), most[1].max(of[1])]))
            } else if model.start != Start::Even && deviation.iter().all(|d| *d == 0.0) {
                trust::of_atoms(&case, &guess, &target, &ranked, &x, options, control)
            } else {
                let known =
                    trust::Changed { before: &before, after: &x, deviation, shares, start: model.start };
                trust::of_change(&case, &known, &target, (&tried, &ranked), &effort, options, control)
            }
        }
    };
    let residual = target.left(&small, &x);
    if residual > UNEXPLAINED {
        trust.verdict = trust::Verdict::NotIdentifiable;
    }
    let mut whole = vec![0.0; operator.pairs()];
    let kept = whole.iter_mut().zip(&keep).filter(|(_, keep)| **keep);
    kept.zip(x).for_each(|((whole, _), x)| *whole = x);
    let jobs = ranked.into_iter().zip(guess.list()).zip(whose);
    let jobs = jobs
        .map(|((of, atoms), whose)| JobFound {
            grid: of.grid,
            rival: of.rival,
            atoms,
            remembered: of.remembered || whose,
        })
        .collect();
    let explained = operator.forward(&whole);
    let unexplained = counted.bytes.iter().zip(explained);
    let unexplained = unexplained.map(|(b, e)| if b.is_finite() { b - e } else { 0.0 }).collect();
    let possible = small.pairs();
    Estimate { bytes: whole, possible, jobs, model, residual, held_out, unexplained, trust }
}

/// What a model made of the rows that were not held out.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    pub model: Model,
    /// What it leaves of those that were.
    pub error: f64,
    /// The same, less what is allowed to it for being dull or known from before: models are compared by this.
    pub judged: f64,
    /// `[pair]`: bytes.
    pub bytes: Vec<f32>,
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
