//! Counters in, traffic out: the whole way.
//!
//! 1. A pair that crosses a row without bytes carries none and is left out.
//! 2. Every job's grid is the one on which neighbours and a few more atoms explain its own rows best ([`crate::pursuit`]).
//! 3. How many atoms to take and how what is left may be spread is tried out: a part of the rows is held out, and what predicts them best
//!    is used with all rows ([`Model`]).
//! 4. The atoms are the guess, its least change that explains the counters the answer ([`crate::change`]).
//!
//! A job's own rows are those that no other job's pairs cross; the rest of the rows counts in the last step.

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::change::{Effort, least_change, residual_of};
use crate::dictionary::{Atom, Dictionary};
use crate::grid::Grid;
use crate::jobs::Participants;
use crate::operator::Operator;
use crate::prior::{Families, Shares};
use crate::pursuit::{Pursuit, Target};
use crate::trust::Trust;

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

/// How the guess is made and what may change of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// Atoms beside neighbours.
    pub atoms: usize,
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

/// What is tried.
pub fn models() -> impl Iterator<Item = Model> {
    ATOMS.into_iter().flat_map(|atoms| [BROAD, MIDDLE, NARROW].map(|shares| Model { atoms, shares }))
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
}

/// What was counted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counted {
    /// `[row]`: bytes; `NaN`: unknown.
    pub bytes: Vec<f64>,
    /// `[row]`: standard deviation of the counters' noise, bytes; 0: exact.
    pub deviation: Vec<f64>,
}

impl Counted {
    /// Counters without noise.
    pub fn exactly(bytes: Vec<f64>) -> Self {
        let deviation = vec![0.0; bytes.len()];
        Self { bytes, deviation }
    }
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
    let bytes = &counted.bytes;
    assert_eq!(bytes.len(), operator.rows());
    let empty: Vec<f64> = bytes.iter().map(|&b| if b == 0.0 { 1.0 } else { 0.0 }).collect();
    let keep: Vec<bool> = operator.adjoint(&empty).iter().map(|&crossed| crossed == 0.0).collect();
    let (small, rows) = operator.restrict(&keep).compact();
    let bytes: Vec<f64> = rows.iter().map(|&row| bytes[row as usize]).collect();
    let own = own_rows(&small, jobs.len());
    let used = |r: usize| own[r] != NOBODY && bytes[r] > 0.0;
    let target = Target::relative(bytes.clone(), used);

    let found: Vec<Ranked> =
        (0..jobs.len()).map(|j| best_grid(&small, j, &jobs[j], &only(&target, &own, j), options)).collect();
    let grids: Vec<Option<Grid>> = found.iter().map(|f| f.0).collect();
    let case = Case {
        operator: &small,
        jobs,
        grids: &grids,
        own: &own,
        families: Families::new(&small, jobs, &grids),
    };

    // Where few atoms explain everything, there is nothing to try out.
    let enough = 1e-9;
    let all = Model { atoms: ATOMS[ATOMS.len() - 1], shares: MIDDLE };
    let (mut x, mut atoms) = case.guess(&target, all.atoms, enough);
    let (mut model, mut held_out) = (all, None);
    if left(&small, &target, &x) > enough {
        let (training, test) = split(&target, options);
        let effort = Effort { rounds: 6, steps: 40, ..options.effort };
        for tried in models().take_while(|_| control.stopped().is_none()) {
            let (mut x, _) = case.guess(&training, tried.atoms, enough);
            least_change(&small, &case.families, &tried.shares, &training, &mut x, &effort, control);
            let error = left(&small, &test, &x);
            if held_out.is_none_or(|best| error < best) {
                (model, held_out) = (tried, Some(error));
            }
        }
        (x, atoms) = case.guess(&target, model.atoms, enough);
        least_change(&small, &case.families, &model.shares, &target, &mut x, &options.effort, control);
    }
    let residual = left(&small, &target, &x);
    let mut whole = vec![0.0; operator.pairs()];
    let kept = whole.iter_mut().zip(&keep).filter(|(_, keep)| **keep);
    kept.zip(x).for_each(|((whole, _), x)| *whole = x);
    let jobs = (found.into_iter().zip(atoms))
        .map(|((grid, rival), atoms)| JobFound { grid, rival, atoms })
        .collect();
    let explained = operator.forward(&whole);
    let unexplained = counted.bytes.iter().zip(explained);
    let unexplained = unexplained.map(|(b, e)| if b.is_finite() { b - e } else { 0.0 }).collect();
    let (possible, trust) = (small.pairs(), Trust::default());
    Estimate { bytes: whole, possible, jobs, model, residual, held_out, unexplained, trust }
}

/// No pair crosses the row.
const NOBODY: u32 = u32::MAX;
/// Pairs of several jobs do.
const SHARED: u32 = u32::MAX - 1;

/// `[row]`: the only job whose pairs cross it.
fn own_rows(operator: &Operator, jobs: usize) -> Vec<u32> {
    let mut own = vec![NOBODY; operator.rows()];
    let of_job =
        |j: u32| operator.iter().map(|pair| f64::from(u8::from(pair.job == j))).collect::<Vec<f64>>();
    for j in 0..jobs as u32 {
        for (own, count) in own.iter_mut().zip(operator.forward(&of_job(j))) {
            if count > 0.0 {
                *own = if *own == NOBODY { j } else { SHARED };
            }
        }
    }
    own
}

/// The target on a job's own rows.
fn only(target: &Target, own: &[u32], job: usize) -> Target {
    let weight =
        target.weight.iter().zip(own).map(|(&w, &own)| if own == job as u32 { w } else { 0.0 }).collect();
    Target { bytes: target.bytes.clone(), weight }
}

/// Weighted residual over the norm.
fn left(operator: &Operator, target: &Target, x: &[f64]) -> f64 {
    let residual = residual_of(operator, target, x);
    residual.iter().map(|r| r * r).sum::<f64>().sqrt() / target.norm().max(f64::MIN_POSITIVE)
}

/// Rows to fit, and rows to judge by.
fn split(target: &Target, options: &Options) -> (Target, Target) {
    let (mut training, mut test) = (target.clone(), target.clone());
    for r in 0..target.weight.len() {
        let out = below(&mut stream(options.seed, r as u64), options.hold_out.max(2)) == 0;
        let other = if out { &mut training } else { &mut test };
        other.weight[r] = 0.0;
        test.weight[r] = f64::from(u8::from(test.weight[r] > 0.0));
    }
    (training, test)
}

/// The best grid, and the next with how much worse it is.
type Ranked = (Option<Grid>, Option<(Grid, f64)>);

/// The grid that explains a job's own rows best, and the next.
fn best_grid(
    operator: &Operator,
    job: usize,
    participants: &Participants,
    target: &Target,
    options: &Options,
) -> Ranked {
    if participants.hosts.len() < 2 || target.norm() == 0.0 {
        return (None, None);
    }
    let pursuit =
        |grid| Pursuit::new(operator, Dictionary::new(operator, job as u32, participants, grid), target);
    let mut all: Vec<Pursuit> = Grid::all(participants.ranks() as u32).into_iter().map(pursuit).collect();
    for one in &mut all {
        one.neighbours();
    }
    // Equally good ones in order of their atoms: few are simple.
    let sort = |all: &mut Vec<Pursuit>| {
        all.sort_by(|a, b| {
            let (x, y) = (a.left().max(1e-9), b.left().max(1e-9));
            x.total_cmp(&y).then(a.atoms().len().cmp(&b.atoms().len()))
        });
    };
    sort(&mut all);
    all.truncate((all.len() / 3).max(8));
    for one in &mut all {
        one.advance(options.first_steps[0]);
    }
    sort(&mut all);
    all.truncate((all.len() / 3).max(3));
    for one in &mut all {
        one.dictionary.add_mechanisms();
        one.advance(options.first_steps[1]);
    }
    sort(&mut all);
    let best = &all[0];
    let rival =
        all.get(1).map(|next| (next.dictionary.grid(), next.left().max(1e-9) / best.left().max(1e-9)));
    (Some(best.dictionary.grid()), rival)
}

/// What stays the same while models are tried.
struct Case<'a> {
    operator: &'a Operator,
    jobs: &'a [Participants],
    grids: &'a [Option<Grid>],
    own: &'a [u32],
    families: Families,
}

impl Case<'_> {
    /// The sum of all jobs' atoms: neighbours and so many more.
    fn guess(&self, target: &Target, steps: usize, enough: f64) -> (Vec<f64>, Vec<Vec<(Atom, f64)>>) {
        let mut x = vec![0.0; self.operator.pairs()];
        let mut atoms = Vec::with_capacity(self.jobs.len());
        for (j, (participants, grid)) in self.jobs.iter().zip(self.grids).enumerate() {
            let Some(grid) = *grid else {
                atoms.push(Vec::new());
                continue;
            };
            let target = only(target, self.own, j);
            let dictionary = Dictionary::new(self.operator, j as u32, participants, grid);
            let mut pursuit = Pursuit::new(self.operator, dictionary, &target);
            pursuit.neighbours();
            if steps > 0 && pursuit.left() > enough {
                pursuit.dictionary.add_mechanisms();
                pursuit.advance(steps);
            }
            x.iter_mut().zip(pursuit.bytes()).for_each(|(x, more)| *x += more);
            atoms.push(pursuit.atoms());
        }
        (x, atoms)
    }
}
