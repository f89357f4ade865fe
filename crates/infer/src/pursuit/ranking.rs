//! Which process grid explains a job's counters.
//!
//! All grids are fitted with their neighbours; the better ones with more and more atoms. The least residual wins, equally good ones in
//! order of their atoms: few are simple. Curves through sides that are no powers of two come where none of the usual grids
//! ([`Grid::is_usual`]) explains everything. A grid that the job was seen on before wins if it explains the counters as well.

use std::collections::BTreeMap;

use netloom_model::Control;
use netloom_model::rng::{stream, unit};

use crate::dictionary::{Dictionary, Grid, Hypothesis, Pattern};
use crate::operator::{Operator, Participants};
use crate::residual::Target;
use crate::settings::{GridSettings, Settings};

use super::Pursuit;
use super::collective_grid::grid_of_collectives;

/// The grids of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranked {
    /// The best; `None` without rows of its own or with fewer than two hosts.
    pub best: Option<Hypothesis>,
    /// The next, and its residual over the best's.
    pub rival: Option<(Grid, f64)>,
    /// Others that explain the counters as well.
    pub equals: Vec<Hypothesis>,
    /// Whether the best is the one that was remembered.
    pub remembered: bool,
}

/// The grids of every job, on its own rows.
pub fn ranked_grids(
    operator: &Operator,
    jobs: &[Participants],
    target: &Target,
    own: &[u32],
    known: &[Option<Grid>],
    settings: &Settings,
    control: &Control,
) -> Vec<Ranked> {
    let of = |(j, job): (usize, &Participants)| {
        let known = known.get(j).copied().flatten();
        best_grid(operator, j, job, &target.only(own, j), known, settings, control)
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
    settings: &Settings,
    control: &Control,
) -> Ranked {
    if participants.hosts.len() < 2 || target.norm() == 0.0 {
        return Ranked::default();
    }
    let nothing = target.noise().max(1e-9);
    let (grids, curves): (Vec<Grid>, Vec<Grid>) =
        Grid::all(participants.ranks() as u32).into_iter().partition(Grid::is_usual);
    let one = Dictionary::new(operator, job as u32, participants, grids[0], &settings.dictionary);
    let pursuit = |grid| Pursuit::new(operator, one.on(grid), target, &settings.pursuit);
    let begun = |grid, pattern| {
        let mut one = pursuit(grid);
        one.begin(pattern, control);
        one
    };
    let goes_on = || control.stopped().is_none();
    let first = std::iter::once(begun(grids[0], Pattern::Neighbours));
    let next = grids[1..].iter().take_while(|_| goes_on()).map(|&grid| begun(grid, Pattern::Neighbours));
    let mut all: Vec<Pursuit> = first.chain(next).collect();
    let one_a_host = participants.ranks() == participants.hosts.len();
    let even = !one_a_host || goes_on() && send_alike(operator, job, target, settings.grids.alike_deviations);
    // Equally simple ones: grids with like sides first, as MPI_Dims_create makes them.
    let simplest_first = |mut grids: Vec<Grid>| {
        grids.sort_by_key(|grid| {
            (grid.sides.iter().filter(|&&side| side > 1).count(), grid.order, grid.sides.iter().sum::<u32>())
        });
        grids
    };
    let (grids, curves) = (simplest_first(grids), simplest_first(curves));
    let patterns: Vec<Pattern> =
        Pattern::OTHERS.into_iter().filter(|pattern| even || !pattern.is_even()).collect();
    let others = |patterns: &[Pattern], grids: &[Grid]| {
        let all = patterns.iter().flat_map(|&pattern| grids.iter().map(move |&grid| (pattern, grid)));
        let of = all.filter(|(pattern, grid)| pattern.is_of(*grid)).take_while(|_| goes_on());
        // What does not explain everything is no hypothesis: pursuits go on from neighbours.
        let of = of.map(|(pattern, grid)| begun(grid, pattern)).filter(|one| one.left() <= nothing);
        of.collect::<Vec<Pursuit>>()
    };
    all.extend(others(&patterns, &grids));
    let usual = all.len();
    if all.iter().all(|one| one.left() > nothing) {
        let next = curves.iter().take_while(|_| goes_on()).map(|&grid| begun(grid, Pattern::Neighbours));
        all.extend(next);
        all.extend(others(&patterns, &curves));
    }
    let sort = |all: &mut Vec<Pursuit>| {
        all.sort_by(|a, b| {
            let (x, y) = (a.left().max(nothing), b.left().max(nothing));
            let simple = |one: &Pursuit| (!one.is_whole(), one.simple());
            x.total_cmp(&y).then_with(|| simple(a).cmp(&simple(b)))
        });
    };
    sort(&mut all);
    // Where a pattern explains everything, no grid that needs more is simpler.
    if all[0].left() > nothing || !all[0].is_whole() {
        let ranks = participants.ranks() as u32;
        let found = grid_of_collectives(operator, &one, target, ranks, settings, control);
        let found = found.map(|grid| explained(pursuit(grid), &settings.grids, control));
        all.extend(found.filter(Pursuit::is_done));
        if all.iter().all(|one| one.left() > nothing) {
            all.extend(others(&[Pattern::Mixed], &grids));
        }
        sort(&mut all);
        if all[0].left() > nothing {
            more_atoms(&mut all, usual, sort, &settings.grids, control);
        }
    }
    if all[0].left() <= nothing {
        all = distinct(operator, all, nothing, settings.grids.rivals, control);
    }
    if let Some(known) = known {
        prefer(&mut all, pursuit(known), nothing, &settings.grids, control);
    }
    let best = &all[0];
    let over = |one: &Pursuit| one.left().max(nothing) / best.left().max(nothing);
    let rival = all.get(1).map(|next| (next.dictionary.grid(), over(next)));
    let (many, few) = (settings.grids.rivals, settings.grids.rivals_unexplained);
    let most = if best.left() <= nothing { many } else { few };
    let equals = all[1..].iter().filter(|one| over(one) <= settings.grids.equal_residual).take(most);
    let equals = equals.map(Pursuit::hypothesis).collect();
    let best = best.hypothesis();
    Ranked { best: Some(best), rival, equals, remembered: known == Some(best.grid) }
}

/// Whether all of a job's hosts that send anything send the same, but for noise.
fn send_alike(operator: &Operator, job: usize, target: &Target, deviations: f64) -> bool {
    let mut sender = vec![u32::MAX; operator.rows()];
    for (p, pair) in operator.iter().enumerate().filter(|(_, pair)| pair.job as usize == job) {
        let mut first = None;
        operator.way(p, |row| _ = first.get_or_insert(row));
        sender[first.unwrap_or_default()] = pair.source;
    }
    let mut sent = BTreeMap::<u32, (f64, f64, bool)>::new();
    for (row, &host) in sender.iter().enumerate().filter(|(_, host)| **host != u32::MAX) {
        let (bytes, variance, known) = sent.entry(host).or_insert((0.0, 0.0, true));
        *bytes += target.bytes[row];
        *variance += target.deviation[row].powi(2);
        *known &= target.weight[row] > 0.0;
    }
    let known: Vec<_> = sent.into_values().filter(|(_, _, known)| *known).collect();
    let mean = known.iter().map(|(bytes, ..)| bytes).sum::<f64>() / known.len().max(1) as f64;
    known
        .iter()
        .all(|(bytes, variance, _)| (bytes - mean).abs() <= deviations * variance.sqrt() + 1e-6 * mean)
}

/// Of those that explain everything the first of each answer, as far as it shows in leaf sums, and the next that does not; when stopped,
/// those looked at so far.
fn distinct<'a>(
    operator: &Operator,
    all: Vec<Pursuit<'a>>,
    nothing: f64,
    rivals: usize,
    control: &Control,
) -> Vec<Pursuit<'a>> {
    let (mut kept, mut seen): (Vec<Pursuit>, Vec<Fingerprint>) = (Vec::new(), Vec::new());
    for one in all {
        if control.stopped().is_some() {
            if kept.is_empty() {
                kept.push(one);
            }
            break;
        }
        if one.left() > nothing {
            kept.push(one);
            break;
        }
        // All pairs alike are the same on every grid.
        if one.is_all_pairs() && kept.iter().any(Pursuit::is_all_pairs) {
            continue;
        }
        if seen.len() > rivals {
            continue;
        }
        let fingerprint = Fingerprint::of(operator, &one.bytes());
        let (sums, pairs) = seen.iter().fold((0, 0), |(sums, pairs), other| {
            let [sum, pair] = fingerprint.same(other);
            (sums + usize::from(sum), pairs + usize::from(pair))
        });
        // Another that differs in pairs only says how well these are known.
        if pairs == 0 && sums < 2 {
            seen.push(fingerprint);
            kept.push(one);
        }
    }
    kept
}

/// Sums over all pairs, with weights drawn at random: answers that differ hardly ever have the same.
struct Fingerprint {
    /// A weight for every (source leaf, destination).
    of_sums: f64,
    /// And for every pair.
    of_pairs: f64,
    norm: f64,
}

impl Fingerprint {
    fn of(operator: &Operator, bytes: &[f64]) -> Self {
        let (mut of_sums, mut of_pairs, mut square) = (0.0, 0.0, 0.0);
        for (p, (pair, &bytes)) in operator.iter().zip(bytes).enumerate().filter(|(_, (_, b))| **b > 0.0) {
            let sum = u64::from(operator.leaf(pair)) << 32 | u64::from(pair.destination);
            of_sums += bytes * unit(&mut stream(0, sum));
            of_pairs += bytes * unit(&mut stream(1, p as u64));
            square += bytes * bytes;
        }
        Self { of_sums, of_pairs, norm: square.sqrt() }
    }

    /// Whether sums are the same, and pairs.
    fn same(&self, other: &Self) -> [bool; 2] {
        let close = |a: f64, b: f64| (a - b).abs() <= 1e-6 * self.norm.max(other.norm);
        [close(self.of_sums, other.of_sums), close(self.of_pairs, other.of_pairs)]
    }
}

/// All steps on one grid.
fn explained<'a>(mut one: Pursuit<'a>, settings: &GridSettings, control: &Control) -> Pursuit<'a> {
    one.neighbours(control);
    one.dictionary.add_mechanisms();
    one.advance(settings.first_atoms + settings.more_atoms, control);
    one
}

/// Puts a grid that is known from before first, if it explains as much as the best, with as many atoms to choose from.
fn prefer<'a>(
    all: &mut Vec<Pursuit<'a>>,
    known: Pursuit<'a>,
    nothing: f64,
    settings: &GridSettings,
    control: &Control,
) {
    let grid = known.dictionary.grid();
    let known = match all.iter().position(|one| one.dictionary.grid() == grid) {
        Some(at) => all.remove(at),
        None => {
            let mut known = known;
            known.neighbours(control);
            if known.left() > nothing && control.stopped().is_none() {
                known.advance(settings.first_atoms, control);
                known.dictionary.add_mechanisms();
                known.advance(settings.more_atoms, control);
            }
            known
        }
    };
    let best = all.first().map_or(f64::INFINITY, |best| best.left().max(nothing));
    if known.left().max(nothing) <= settings.equal_residual * best {
        all.insert(0, known);
    } else {
        let at = all.partition_point(|one| one.left() <= known.left());
        all.insert(at, known);
    }
}

/// The better grids with more atoms, the best with more still; the rest is dropped. How many are better follows from how many are `usual`.
fn more_atoms(
    all: &mut Vec<Pursuit>,
    usual: usize,
    sort: impl Fn(&mut Vec<Pursuit>),
    settings: &GridSettings,
    control: &Control,
) {
    let stopped = || control.stopped().is_some();
    all.truncate((usual / settings.one_in).max(settings.better));
    for one in &mut *all {
        if !stopped() {
            one.advance(settings.first_atoms, control);
        }
    }
    sort(all);
    all.truncate((all.len() / settings.one_in).max(settings.best));
    for one in &mut *all {
        if !stopped() {
            one.dictionary.add_mechanisms();
            one.advance(settings.more_atoms, control);
        }
    }
    sort(all);
}
