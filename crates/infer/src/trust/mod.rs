//! How far an answer can be trusted, and in what.
//!
//! With one lane and tables by destination, hosts of the same leaf are interchangeable as senders: pairs are known only *given* a
//! hypothesis. What routes need is less: the sums over (source leaf, destination). Both errors are estimated, and the verdict is about
//! the sums.
//!
//! Both are told by doing the same again with traffic that is known: the guess changed at random, by as much as the counters say and
//! along the families that were believed; its counters, with their noise; its least change. How far that misses what is known is how far
//! the answer is believed to miss the truth. Where few atoms explain everything, only noise and other grids that explain it as well are
//! left to doubt.
//!
//! Source: Taffet, dissertation, fig. 4.9 (what counters cannot tell apart); Efron and Tibshirani, *An Introduction to the Bootstrap*,
//! 1993, ch. 6 (the parametric bootstrap).

mod exchange;
mod told;

use netloom_model::Control;
use netloom_model::rng::{normal, stream};

use crate::case::{Case, Guess};
use crate::change::{Effort, SETTLED, evenly, least_change, settle};
use crate::model::{DENSE, Options, Start, Tried};
use crate::operator::Operator;
use crate::prior::Shares;
use crate::range::furthest;
use crate::ranking::Ranked;
use crate::rest::Rest;
use crate::sums::{Doubt, Sums};
use crate::target::Target;
use crate::verdict::Trust;

use self::exchange::exchanged;
use self::told::told_between;

/// How often the same is done with known traffic.
const DRAWS: u64 = 3;
/// A grid that takes an atom more to explain as much is believed so much less.
const SIMPLE: f64 = 0.8;
/// So many atoms that are not needed are doubts.
const OTHERS: usize = 8;
/// So often the same atoms are tried otherwise.
const OTHERWISE: u64 = 8;
/// So often other flows are looked for that explain the counters and cost hardly more.
const FURTHEST: u64 = 4;
/// Of more pairs than this they are not: that would take longer than all else.
const MANY: usize = 20_000;
/// Nor where there are so many rows for each flow: there and back over a spine are eight.
const PLENTY: f64 = 6.0;
/// The same with known traffic is Gaussian, which real traffic is not. On one lane an error `e` of leaf sums is told as `c e^p h^q`, `h` that
/// of rows which were held out, of bytes spread evenly and of patterns (docs/methods/inference.md, "How errors are told").
const CALIBRATED: [[f64; 3]; 2] = [[1.3, 0.85, 0.08], [1.15, 0.9, 0.0]];
/// Up to so many pairs errors are told from how far explanations are apart.
const FEW: usize = 400;
/// An error is `c e^p d^q` there, `e` what the trial says and `d` how far explanations of the counters are apart (docs/methods/inference.md,
/// "How errors are told").
const BETWEEN: [f64; 3] = [0.52, 0.25, 0.55];
/// Where switches choose the trial says nothing: an error is `c d^q`, `d` up to 1.
const BETWEEN_SPLIT: [f64; 2] = [0.6, 0.8];
/// Up to so many pairs explanations are looked for twice.
const SMALL: usize = 5_000;
/// An answer without a structure is so much of the way to what is furthest from the truth, and no less believed to be: 0.16 to 0.94 of it in
/// 9 of 10 cases (docs/methods/inference.md, "How errors are told").
const EVENLY: f64 = 0.5;
/// The same of atoms that explain a job's counters by chance: they are as far out as what is furthest.
const BY_CHANCE: f64 = 0.7;
/// Hosts' links that carry less than this part of the mean say nothing of a pattern.
const SOMETHING: f64 = 0.01;
/// Counters with less noise than this part are as good as exact.
const NEARLY_EXACT: f64 = 1e-3;
/// Of patterns on one lane known traffic says so much of what it says of others.
const OF_PATTERNS: f64 = 0.5;
/// Rows have more noise than their counters show where so many times of it is left.
const UNEXPLAINED: f64 = 2.0;
/// Then known traffic says so much.
const OF_ROWS: f64 = 0.33;
/// Bytes spread evenly that predict rows which were held out worse than this are not identified, however alike the rows are.
const FORETOLD: f64 = 0.05;
/// Fewer rows between switches than this, with no more different bytes than the other, are explained by many patterns alike.
const ALIKE: [usize; 2] = [64, 3];
/// Where fewer rows between switches than this say what hosts' links do not, whatever explains them is one of many.
const TOLD_LITTLE: usize = 3;
/// So few bits between switches, too: there are thousands of patterns. Where switches choose, an atom has to have as many.
const BITS: f64 = 21.0;

/// A guess and what became of it.
pub(crate) struct Changed<'a> {
    pub before: &'a [f64],
    pub after: &'a [f64],
    /// `[pair]`: how far the truth is believed to be from the guess.
    pub deviation: &'a [f64],
    pub shares: &'a Shares,
    /// What the guess began with.
    pub start: Start,
    /// `[job]`: whether its atoms may be right by chance.
    pub chance: &'a [bool],
    /// Whether atoms explain the rows of all jobs, and hosts' own links tell them: too many to be believed, but nothing odd was sent.
    pub explained: bool,
}

/// Trust in a guess that was changed to explain the counters.
///
/// How far models are apart that predict rows that were held out nearly as well comes on top.
pub(crate) fn of_change(
    case: &Case,
    known: &Changed,
    target: &Target,
    (tried, ranked): (&[Tried], &[Ranked]),
    effort: &Effort,
    options: &Options,
    control: &Control,
) -> Trust {
    let operator = case.operator;
    let sums = Sums::new(operator, case.jobs.len());
    let deviation = if known.start == Start::Even {
        unlike(operator, known, target, tried.first().map_or(0.0, |best| best.error))
    } else {
        known.deviation.to_vec()
    };
    let mut doubts = Vec::new();
    for d in 0..DRAWS {
        if control.stopped().is_some() {
            break;
        }
        let mut draw = stream(options.seed, 1_000 + d);
        let change = case.families.draw(&deviation, known.shares, &mut draw);
        let truth: Vec<f64> = known.before.iter().zip(change).map(|(x, c)| (x + c).max(0.0)).collect();
        let mut bytes = operator.forward(&truth);
        for (bytes, deviation) in bytes.iter_mut().zip(&target.deviation) {
            *bytes = (*bytes + deviation * normal(&mut draw)).max(0.0);
        }
        let target = Target { bytes, ..target.clone() };
        let mut x = known.before.to_vec();
        least_change(operator, &case.families, known.shares, &target, &mut x, effort, control);
        doubts.push(Doubt { weight: 1.0, miss: truth.iter().zip(x).map(|(t, x)| t - x).collect() });
    }
    let mut others = models_apart(tried);
    let mut rivals = 0;
    if let Start::Atoms(atoms) = known.start {
        // Another grid that explains the counters as well may be the right one.
        for other in rival_cases(case, ranked, control) {
            rivals += 1;
            let targets = other.targets(target);
            let mut guess = other.guess(&targets);
            guess.advance(atoms, control);
            let mut x = guess.bytes(&other);
            least_change(operator, &other.families, known.shares, target, &mut x, effort, control);
            let miss = known.after.iter().zip(x).map(|(after, x)| after - x).collect();
            others.push(Doubt { weight: 1.0, miss });
        }
    }
    let held_out = tried.first().map_or(0.0, |best| best.error);
    let one_lane = operator.lanes() == 1;
    // Where switches choose, few rows say who sends to whom, whatever was believed to begin with.
    let splits = operator.splits() && operator.routings() == 1;
    if (known.start == Start::Even || splits) && one_lane {
        let trust = sums.judged(case, known.after, [&doubts, &others], rivals);
        let others = explanations(operator, target, &sums, options, control);
        let apart: Vec<f64> = others.iter().map(|other| sums.apart(known.after, other)).collect();
        let Some(most) = apart.iter().copied().reduce(f64::max) else { return trust.partly_at_best() };
        if splits && known.explained {
            return trust.calibrated(CALIBRATED[0], held_out).no_surer_than(most);
        }
        if splits {
            let trust = trust.apart(BETWEEN_SPLIT, &sums.away(known.after, &others)).no_surer_than(most);
            return if held_out > FORETOLD { trust.partly_at_best() } else { trust };
        }
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        // Of few pairs they say how far the answer is off; of many the truth is seldom as odd as what is furthest.
        let trust = if operator.pairs() <= FEW {
            trust.between(BETWEEN, mean)
        } else {
            trust.calibrated(CALIBRATED[0], held_out)
        };
        // Where they are further away than everything that was sent, the truth lies in the middle of all that counters allow.
        let floor = |away: f64| EVENLY * away.min(1.0 / (away * away));
        let floor: Vec<f64> = sums.away(known.after, &others).into_iter().map(floor).collect();
        let trust = trust.at_least(&floor).no_surer_than(most);
        return if held_out > FORETOLD { trust.partly_at_best() } else { trust };
    }
    if known.start == Start::Even || !one_lane || operator.routings() > 1 {
        return sums.judged(case, known.after, [&doubts, &others], rivals);
    }
    // What no traffic explains is noise of rows; so is most of what traffic was changed for.
    let of_rows = target.noise() > 0.0 && target.left(operator, known.after) > UNEXPLAINED * target.noise();
    let part = if of_rows { OF_ROWS } else { OF_PATTERNS };
    for doubt in &mut doubts {
        doubt.miss.iter_mut().for_each(|miss| *miss *= part);
    }
    let trust =
        sums.judged(case, known.after, [&doubts, &others], rivals).calibrated(CALIBRATED[1], held_out);
    if !matches!(known.start, Start::Atoms(_)) {
        return trust;
    }
    // Of many rows the trial has said how far they are off; of few nothing is known of the pattern that it began with.
    let own = case.targets(target);
    let fits = own.iter().map(|own| any_pattern_fits(operator, own)).zip(known.chance);
    let open: Vec<bool> = fits.map(|(fits, chance)| fits && *chance).collect();
    where_by_chance(trust, case, &open, (target, known.after), &sums, options, control)
}

/// Traffic that explains the counters and is far from other such traffic: in random directions of the sums.
fn explanations(
    operator: &Operator,
    target: &Target,
    sums: &Sums,
    options: &Options,
    control: &Control,
) -> Vec<Vec<f64>> {
    let looks = if operator.pairs() <= SMALL { 2 } else { 1 };
    let looks = (0..looks).take_while(|_| control.stopped().is_none());
    let one = |d: u64| furthest(operator, target, &sums.liked(&mut stream(options.seed, 2_000 + d)), control);
    looks.map(one).collect()
}

/// The same trust where atoms explain some jobs by chance: then these are as far off as other explanations are away, and *partly* known at best.
fn where_by_chance(
    trust: Trust,
    case: &Case,
    chance: &[bool],
    (target, x): (&Target, &[f64]),
    sums: &Sums,
    options: &Options,
    control: &Control,
) -> Trust {
    if !chance.contains(&true) {
        return trust;
    }
    let others = explanations(case.operator, target, sums, options, control);
    let away = sums.away(x, &others).into_iter().zip(chance);
    let floor: Vec<f64> =
        away.map(|(away, chance)| if *chance { BY_CHANCE * away.min(1.0) } else { 0.0 }).collect();
    trust.at_least(&floor)
}

/// Whether hosts' own links hold so many bits that so many atoms do not explain them by chance. Where switches choose, links between switches say
/// little else: they are sums over all ways of a leaf or a pod.
fn hosts_tell(operator: &Operator, own: &Target, atoms: usize) -> bool {
    let mut of_hosts = own.clone();
    let between = of_hosts.weight.iter_mut().zip(operator.ends()).filter(|(_, end)| !end);
    between.for_each(|(weight, _)| *weight = 0.0);
    // Those of next to nothing, acknowledgements, say nothing.
    bits(of_hosts.rows(), of_hosts.values_above(SOMETHING)) >= BITS * atoms as f64
}

/// Whether that is so of all jobs' atoms.
pub(crate) fn all_are_told_by_hosts(case: &Case, guess: &Guess, target: &Target) -> bool {
    let targets = case.targets(target);
    targets.iter().zip(guess.list()).all(|(own, atoms)| hosts_tell(case.operator, own, atoms.len()))
}

/// How much rows of so many different bytes hold.
fn bits(rows: usize, values: usize) -> f64 {
    rows as f64 * (values.max(1) as f64).log2()
}

/// `[pair]`: how far the truth is believed to be from bytes spread evenly, which leave `error` of the rows that were held out.
fn unlike(operator: &Operator, known: &Changed, target: &Target, error: f64) -> Vec<f64> {
    let used = |r: usize| target.weight[r] > 0.0;
    let rows = (0..operator.rows()).filter(|&r| used(r)).count();
    // Hosts' own links were fitted and say nothing of it any more.
    let ends = operator.ends().iter().enumerate().filter(|&(r, end)| *end && used(r)).count();
    let mut more = (rows as f64 / rows.saturating_sub(ends).max(1) as f64).sqrt();
    // On one lane rows are sums over whole leaves, and may be alike however unlike their pairs are: the more alike rows are, the more is
    // pairs' difference taken for what lies between what rows say and knowing nothing (their own bytes). Where rows are not alike, traffic
    // is sparse, and they say enough.
    let one_lane = operator.lanes() == 1 && operator.routings() == 1;
    let alike = if one_lane { (1.0 - error / DENSE).max(0.0) } else { 0.0 };
    if one_lane {
        more = more.powf(alike);
    }
    let mut deviation: Vec<f64> = known.deviation.iter().map(|said| more * said).collect();
    if deviation.iter().all(|said| *said == 0.0) {
        // Noise hides what pairs differ by, up to as much as makes rows differ by noise.
        let of_rows = operator.forward(&known.before.iter().map(|x| x * x).collect::<Vec<f64>>());
        let sum = |of: &[f64]| (0..operator.rows()).filter(|&r| used(r)).map(|r| of[r]).sum::<f64>();
        let noise: Vec<f64> = target.deviation.iter().map(|d| d * d).collect();
        let hidden = (sum(&noise) / sum(&of_rows).max(f64::MIN_POSITIVE)).sqrt();
        deviation = known.before.iter().map(|x| hidden * x).collect();
    }
    for (said, &x) in deviation.iter_mut().zip(known.before).filter(|(said, x)| **said < **x) {
        *said = said.powf(1.0 - alike / 2.0) * x.powf(alike / 2.0);
    }
    deviation
}

/// How models differ from the best, each weighted by how nearly as well it predicts.
fn models_apart(tried: &[Tried]) -> Vec<Doubt> {
    let Some((best, others)) = tried.split_first() else { return Vec::new() };
    let doubt = |other: &Tried| {
        let miss = best.bytes.iter().zip(&other.bytes).map(|(a, b)| f64::from(a - b)).collect();
        Doubt { weight: (best.judged / other.error).min(1.0).powi(4), miss }
    };
    let nothing = Doubt { weight: 1.0, miss: vec![0.0; best.bytes.len()] };
    std::iter::once(nothing).chain(others.iter().map(doubt)).collect()
}

/// The same with another grid of a job that explains its counters as well, for each of them.
fn rival_cases<'a>(case: &Case<'a>, ranked: &[Ranked], control: &Control) -> impl Iterator<Item = Case<'a>> {
    let others = ranked.iter().enumerate().flat_map(|(j, of)| of.equals.iter().map(move |&other| (j, other)));
    let others = others.take_while(|_| control.stopped().is_none());
    let on = |(j, other): (usize, _)| {
        let mut hypotheses = case.hypotheses.clone();
        hypotheses[j] = Some(other);
        case.on(hypotheses)
    };
    others.map(on)
}

/// Trust in atoms that explain everything but noise.
pub(crate) fn of_atoms(
    case: &Case,
    guess: &Guess,
    target: &Target,
    ranked: &[Ranked],
    x: &[f64],
    options: &Options,
    control: &Control,
) -> Trust {
    let sums = Sums::new(case.operator, case.jobs.len());
    let difference = |other: Vec<f64>| x.iter().zip(other).map(|(x, other)| x - other).collect::<Vec<f64>>();
    let mut noise = Vec::new();
    if target.deviation.iter().any(|d| *d > 0.0) {
        let rows = case.operator.forward(x);
        for d in (0..DRAWS).take_while(|_| control.stopped().is_none()) {
            let mut draw = stream(options.seed, 1_000 + d);
            let noisy = rows.iter().zip(&target.deviation);
            let noisy: Vec<f64> = noisy.map(|(b, d)| (b + d * normal(&mut draw)).max(0.0)).collect();
            // Other noise may have other atoms chosen.
            let targets = case.targets(&Target { bytes: noisy, ..target.clone() });
            let mut again = case.guess(&targets);
            again.advance(guess.columns().max(1), control);
            noise.push(Doubt { weight: 1.0, miss: difference(again.bytes(case)) });
        }
    }
    // Any of the grids that explain the counters may be the right one; the more atoms it takes, the less it is believed.
    let atoms = guess.atoms();
    let mut grids = vec![Doubt { weight: 1.0, miss: vec![0.0; x.len()] }];
    for other in rival_cases(case, ranked, control) {
        let targets = other.targets(target);
        let mut guess = other.guess(&targets);
        guess.advance(options.first_steps.iter().sum(), control);
        let other = guess.bytes(&other);
        if target.left(case.operator, &other) <= 2.0 * target.left(case.operator, x).max(1e-9) {
            let more = guess.atoms().saturating_sub(atoms);
            grids.push(Doubt { weight: SIMPLE.powi(more as i32), miss: difference(other) });
        }
    }
    let rivals = grids.len() - 1;
    // So may other atoms on the same grid.
    let others = guess.without_one().take(OTHERS);
    grids.extend(others.map(|(more, miss)| Doubt { weight: SIMPLE.powi(more as i32), miss }));
    for d in (0..OTHERWISE).take_while(|_| control.stopped().is_none()) {
        let miss = guess.otherwise(&mut stream(options.seed, 2_000 + d));
        if sums.add_up(&miss).iter().any(|miss| *miss != 0.0) {
            grids.push(Doubt { weight: 1.0, miss });
        }
    }
    // On one lane rows are often alike, and atoms that were chosen one by one explain any few different bytes. Patterns say beforehand
    // what they are, but not if rows without bytes cut them to size.
    let one_lane = case.operator.lanes() == 1 && case.operator.routings() == 1;
    let targets = case.targets(target);
    let fits: Vec<bool> = targets.iter().map(|own| any_pattern_fits(case.operator, own)).collect();
    let mut chance = guess.by_chance();
    let (mut open, mut partly) = (chance.clone(), fits.clone());
    if case.operator.splits() {
        for (j, (own, atoms)) in targets.iter().zip(guess.list()).enumerate() {
            open[j] = !hosts_tell(case.operator, own, atoms.len());
            partly[j] |= open[j];
            chance[j] |= open[j];
        }
    } else if target.noise() > NEARLY_EXACT {
        // Noise alone makes rows alike: then that they are few says more.
        open.iter_mut().zip(&fits).for_each(|(open, fits)| *open &= fits);
    }
    for (j, own) in targets.iter().enumerate() {
        let few = fits[j] && told_between(case.operator, j as u32, own, TOLD_LITTLE) < TOLD_LITTLE;
        open[j] |= few;
    }
    if one_lane && chance.contains(&true) {
        let mut even = evenly(case.operator, target, control);
        settle(case.operator, target, &mut even, SETTLED, control);
        let mut miss = difference(even);
        let known = case.operator.iter().map(|pair| !chance[pair.job as usize]);
        miss.iter_mut().zip(known).filter(|(_, known)| *known).for_each(|(miss, _)| *miss = 0.0);
        grids.push(Doubt { weight: 1.0, miss });
    }
    let trust = sums.judged(case, x, [&noise, &grids], rivals);
    if !one_lane {
        return trust;
    }
    let trust = where_by_chance(trust, case, &open, (target, x), &sums, options, control);
    let others = exchanged(case, guess, target, x, &sums, options, control);
    trust.at_least(&others).partly_at_best_where(&partly)
}

/// Whether a job's own rows say so little that which pattern explains them is chance: few between switches, with few different bytes.
fn any_pattern_fits(operator: &Operator, own: &Target) -> bool {
    let used = own.weight.iter().zip(operator.ends());
    let between = used.filter(|(weight, end)| **weight > 0.0 && !end).count();
    let values = own.values();
    between > 0 && (between < ALIKE[0] && values <= ALIKE[1] || bits(between, values) < BITS)
}

/// Trust in the fewest flows: other costs find the same where counters leave no choice.
pub(crate) fn of_fewest(
    case: &Case,
    rest: &Rest,
    x: &[f64],
    target: &Target,
    options: &Options,
    control: &Control,
) -> Trust {
    let rows = case.operator.forward(x);
    let mut doubts = Vec::new();
    for d in 0..DRAWS {
        if control.stopped().is_some() {
            break;
        }
        let mut draw = stream(options.seed, 1_000 + d);
        let noisy = rows.iter().zip(&target.deviation).map(|(b, d)| (b + d * normal(&mut draw)).max(0.0));
        let target = Target { bytes: noisy.collect(), ..target.clone() };
        let other = rest.fewest(&target, Some(options.seed + d), control);
        doubts.push(Doubt { weight: 1.0, miss: x.iter().zip(other).map(|(x, other)| x - other).collect() });
    }
    let sums = Sums::new(case.operator, case.jobs.len());
    let mut apart = vec![Doubt { weight: 1.0, miss: vec![0.0; x.len()] }];
    let open = case.operator.pairs() <= MANY && rest.rows_each(target, x) < PLENTY;
    let looks = if open { FURTHEST } else { 0 };
    for d in (0..looks).take_while(|_| control.stopped().is_none()) {
        let liked = sums.liked(&mut stream(options.seed, 3_000 + d));
        let other = rest.furthest(target, x, &liked, control);
        let miss: Vec<f64> = x.iter().zip(other).map(|(x, other)| x - other).collect();
        apart.push(Doubt { weight: 1.0, miss });
    }
    sums.judged(case, x, [&doubts, &apart], 0)
}
