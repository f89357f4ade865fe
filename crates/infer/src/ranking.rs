//! Which process grid explains a job's counters.
//!
//! All grids are fitted with their neighbours; the better ones with more and more atoms. The least residual wins, equally good ones in
//! order of their atoms: few are simple. A grid that the job was seen on before wins if it explains the counters as well.

use netloom_model::Control;

use crate::case::only;
use crate::communicators::grid_of_collectives;
use crate::dictionary::Dictionary;
use crate::grid::Grid;
use crate::jobs::Participants;
use crate::memory::Memory;
use crate::model::Options;
use crate::operator::Operator;
use crate::pursuit::Pursuit;
use crate::target::Target;

/// Grids that leave at most so many times what the best leaves explain the counters as well.
const AS_WELL: f64 = 1.2;
/// Most of them that are kept.
const MOST: usize = 3;

/// The grids of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The best; `None` without rows of its own or with fewer than two hosts.
    pub grid: Option<Grid>,
    /// The next, and its residual over the best's.
    pub rival: Option<(Grid, f64)>,
    /// Others that explain the counters as well.
    pub equals: Vec<Grid>,
    /// Whether the best is the one that was remembered.
    pub remembered: bool,
}

/// The grids of every job, on its own rows.
pub fn ranked_grids(
    operator: &Operator,
    jobs: &[Participants],
    target: &Target,
    own: &[u32],
    known: &[Option<Memory>],
    options: &Options,
    control: &Control,
) -> Vec<Ranked> {
    let of = |(j, job): (usize, &Participants)| {
        let known = known.get(j).and_then(Option::as_ref).map(|known| known.grid);
        best_grid(operator, j, job, &only(target, own, j), known, options, control)
    };
    jobs.iter().enumerate().map(of).collect()
}

/// The grid that explains a job's own rows best, and the next.
fn best_grid(
    operator: &Operator,
    job: usize,
    participants: &Participants,
    target: &Target,
    known: Option<Grid>,
    options: &Options,
    control: &Control,
) -> Ranked {
    if participants.hosts.len() < 2 || target.norm() == 0.0 {
        return Ranked::default();
    }
    let nothing = target.noise().max(1e-9);
    let grids = Grid::all(participants.ranks() as u32);
    let one = Dictionary::new(operator, job as u32, participants, grids[0]);
    let pursuit = |grid| Pursuit::new(operator, one.on(grid), target);
    let mut all: Vec<Pursuit> = grids.into_iter().map(pursuit).collect();
    let stopped = || control.stopped().is_some();
    for one in &mut all {
        if !stopped() {
            one.neighbours();
        }
    }
    let sort = |all: &mut Vec<Pursuit>| {
        all.sort_by(|a, b| {
            let (x, y) = (a.left().max(nothing), b.left().max(nothing));
            x.total_cmp(&y).then(a.atoms().len().cmp(&b.atoms().len()))
        });
    };
    sort(&mut all);
    // Where neighbours explain everything, no grid that needs more is simpler.
    if all[0].left() <= nothing {
        let as_good = all.iter().take_while(|one| one.left() <= nothing).count();
        all.truncate((as_good + 1).min(MOST + 2));
    } else {
        let ranks = participants.ranks() as u32;
        let found = grid_of_collectives(operator, &one, target, ranks, control);
        let found = found.map(|grid| explained(pursuit(grid), options));
        if let Some(found) = found.filter(Pursuit::is_done) {
            all.truncate(1);
            all.insert(0, found);
        } else {
            more_atoms(&mut all, sort, options, control);
        }
    }
    if let Some(known) = known {
        prefer(&mut all, pursuit(known), nothing, options, control);
    }
    let best = &all[0];
    let over = |one: &Pursuit| one.left().max(nothing) / best.left().max(nothing);
    let rival = all.get(1).map(|next| (next.dictionary.grid(), over(next)));
    let equals = all[1..].iter().filter(|one| over(one) <= AS_WELL).take(MOST);
    let equals = equals.map(|one| one.dictionary.grid()).collect();
    let grid = best.dictionary.grid();
    Ranked { grid: Some(grid), rival, equals, remembered: known == Some(grid) }
}

/// All steps on one grid.
fn explained<'a>(mut one: Pursuit<'a>, options: &Options) -> Pursuit<'a> {
    one.neighbours();
    one.dictionary.add_mechanisms();
    one.advance(options.first_steps.iter().sum());
    one
}

/// Puts a grid that is known from before first, if it explains as much as the best, with as many atoms to choose from.
fn prefer<'a>(
    all: &mut Vec<Pursuit<'a>>,
    known: Pursuit<'a>,
    nothing: f64,
    options: &Options,
    control: &Control,
) {
    let grid = known.dictionary.grid();
    let known = match all.iter().position(|one| one.dictionary.grid() == grid) {
        Some(at) => all.remove(at),
        None => {
            let mut known = known;
            known.neighbours();
            if known.left() > nothing && control.stopped().is_none() {
                known.advance(options.first_steps[0]);
                known.dictionary.add_mechanisms();
                known.advance(options.first_steps[1]);
            }
            known
        }
    };
    let best = all.first().map_or(f64::INFINITY, |best| best.left().max(nothing));
    if known.left().max(nothing) <= AS_WELL * best {
        all.insert(0, known);
    } else {
        let at = all.partition_point(|one| one.left() <= known.left());
        all.insert(at, known);
    }
}

/// The better grids with more atoms, the best with more still; the rest is dropped.
fn more_atoms(
    all: &mut Vec<Pursuit>,
    sort: impl Fn(&mut Vec<Pursuit>),
    options: &Options,
    control: &Control,
) {
    let stopped = || control.stopped().is_some();
    all.truncate((all.len() / 3).max(8));
    for one in &mut *all {
        if !stopped() {
            one.advance(options.first_steps[0]);
        }
    }
    sort(all);
    all.truncate((all.len() / 3).max(3));
    for one in &mut *all {
        if !stopped() {
            one.dictionary.add_mechanisms();
            one.advance(options.first_steps[1]);
        }
    }
    sort(all);
}
