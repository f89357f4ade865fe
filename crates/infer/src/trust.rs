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

use netloom_model::Control;
use netloom_model::rng::{Stream, normal, stream};

use crate::case::{Case, Guess};
use crate::change::{Effort, SETTLED, evenly, least_change, settle};
use crate::model::{DENSE, Options, Start, Tried};
use crate::operator::Operator;
use crate::prior::Shares;
use crate::range::furthest;
use crate::ranking::Ranked;
use crate::rest::Rest;
use crate::target::Target;
use crate::verdict::{LIKELY, LeafSum, Trust, Verdict, bounded};

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
/// A sum is known if it is wrong by no more than this part.
const KNOWN: f64 = 0.1;
/// The same with known traffic is Gaussian, which real traffic is not. On one lane an error `e` of leaf sums is told as `c e^p h^q`, `h` that
/// of rows which were held out, of bytes spread evenly and of patterns (docs/methods/inference.md, "How errors are told").
const CALIBRATED: [[f64; 3]; 2] = [[1.3, 0.85, 0.08], [1.15, 0.9, 0.0]];
/// Up to so many pairs errors are told from how far explanations are apart.
const FEW: usize = 400;
/// Up to so many pairs explanations are looked for twice.
const SMALL: usize = 5_000;
/// Of patterns on one lane known traffic says so much of what it says of others.
const OF_PATTERNS: f64 = 0.5;
/// Bytes spread evenly that predict rows which were held out worse than this are not identified, however alike the rows are.
const FORETOLD: f64 = 0.05;
/// Fewer rows between switches than this, with no more different bytes than the other, are explained by many patterns alike.
const ALIKE: [usize; 2] = [64, 3];
/// So few bits between switches, too: there are thousands of patterns.
const BITS: f64 = 21.0;
/// How many of the largest sums are told.
const TOLD: usize = 10;

/// A guess and what became of it.
pub(crate) struct Changed<'a> {
    pub before: &'a [f64],
    pub after: &'a [f64],
    /// `[pair]`: how far the truth is believed to be from the guess.
    pub deviation: &'a [f64],
    pub shares: &'a Shares,
    /// What the guess began with.
    pub start: Start,
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
    let sums = Sums::new(operator);
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
    if known.start == Start::Even && one_lane {
        let trust = sums.judged(case, known.after, [&doubts, &others], rivals);
        let looks = if operator.pairs() <= SMALL { 2 } else { 1 };
        let looks = (0..looks).take_while(|_| control.stopped().is_none()).map(|d| {
            let liked = sums.liked(&mut stream(options.seed, 2_000 + d));
            sums.apart(known.after, &furthest(operator, target, &liked, control))
        });
        let apart = looks.collect::<Vec<f64>>();
        let Some(most) = apart.iter().copied().reduce(f64::max) else { return trust.partly_at_best() };
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        // Of few pairs they say how far the answer is off; of many the truth is seldom as odd as what is furthest.
        let trust = if operator.pairs() <= FEW {
            trust.between(mean)
        } else {
            trust.calibrated(CALIBRATED[0], held_out)
        };
        let trust = trust.no_surer_than(most);
        return if held_out > FORETOLD { trust.partly_at_best() } else { trust };
    }
    if known.start == Start::Even || !one_lane || operator.routings() > 1 {
        return sums.judged(case, known.after, [&doubts, &others], rivals);
    }
    for doubt in &mut doubts {
        doubt.miss.iter_mut().for_each(|miss| *miss *= OF_PATTERNS);
    }
    sums.judged(case, known.after, [&doubts, &others], rivals).calibrated(CALIBRATED[1], held_out)
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

/// What the truth may be away from the answer.
struct Doubt {
    weight: f64,
    /// `[pair]`: bytes.
    miss: Vec<f64>,
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
    let sums = Sums::new(case.operator);
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
    let chance = guess.by_chance();
    if one_lane && chance.contains(&true) {
        let mut even = evenly(case.operator, target, control);
        settle(case.operator, target, &mut even, SETTLED, control);
        let mut miss = difference(even);
        let known = case.operator.iter().map(|pair| !chance[pair.job as usize]);
        miss.iter_mut().zip(known).filter(|(_, known)| *known).for_each(|(miss, _)| *miss = 0.0);
        grids.push(Doubt { weight: 1.0, miss });
    }
    let trust = sums.judged(case, x, [&noise, &grids], rivals);
    if one_lane && case.targets(target).iter().any(|own| any_pattern_fits(case.operator, own)) {
        return trust.partly_at_best();
    }
    trust
}

/// Whether a job's own rows say so little that which pattern explains them is chance: few between switches, with few different bytes.
fn any_pattern_fits(operator: &Operator, own: &Target) -> bool {
    let used = own.weight.iter().zip(operator.ends());
    let between = used.filter(|(weight, end)| **weight > 0.0 && !end).count();
    let values = own.values();
    let bits = between as f64 * (values.max(1) as f64).log2();
    between > 0 && (between < ALIKE[0] && values <= ALIKE[1] || bits < BITS)
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
    let sums = Sums::new(case.operator);
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

/// Sums over (source leaf, destination).
struct Sums {
    /// `[pair]`: which sum.
    of: Vec<u32>,
    /// `[sum]`: a pair of it.
    one: Vec<u32>,
}

impl Sums {
    fn new(operator: &Operator) -> Self {
        let (mut of, mut one) = (Vec::with_capacity(operator.pairs()), Vec::new());
        // `[leaf]`: destination for which it was seen last, and its sum.
        let mut seen: Vec<((u32, u32), u32)> = Vec::new();
        for (p, pair) in operator.iter().enumerate() {
            let (leaf, now) = (operator.leaf(pair) as usize, (pair.job, pair.destination));
            if leaf >= seen.len() {
                seen.resize(leaf + 1, ((u32::MAX, u32::MAX), 0));
            }
            if seen[leaf].0 != now {
                seen[leaf] = (now, one.len() as u32);
                one.push(p as u32);
            }
            of.push(seen[leaf].1);
        }
        Self { of, one }
    }

    /// How far traffic is from `x` in its sums, over theirs.
    fn apart(&self, x: &[f64], other: &[f64]) -> f64 {
        let (sums, others) = (self.add_up(x), self.add_up(other));
        let square = |of: &mut dyn Iterator<Item = f64>| of.map(|v| v * v).sum::<f64>();
        let apart = square(&mut sums.iter().zip(&others).map(|(a, b)| a - b));
        (apart / square(&mut sums.iter().copied()).max(f64::MIN_POSITIVE)).sqrt()
    }

    /// A direction for the sums, at random; `[pair]`.
    fn liked(&self, draw: &mut Stream) -> Vec<f64> {
        let of_sum: Vec<f64> = self.one.iter().map(|_| normal(draw)).collect();
        self.of.iter().map(|&sum| of_sum[sum as usize]).collect()
    }

    fn add_up(&self, x: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.one.len()];
        for (&of, x) in self.of.iter().zip(x) {
            sums[of as usize] += x;
        }
        sums
    }

    /// What independent doubts say of `x`: of each kind the weighted mean square counts.
    fn judged(&self, case: &Case, x: &[f64], kinds: [&[Doubt]; 2], rivals: usize) -> Trust {
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let part = |of: f64, whole: f64| if whole > 0.0 { of / whole } else { 0.0 };
        let sums = self.add_up(x);
        // `[sum]`: variance; and of all pairs.
        let (mut of_sums, mut of_pairs) = (vec![0.0; sums.len()], 0.0);
        for doubts in kinds {
            let weights: f64 = doubts.iter().map(|doubt| doubt.weight).sum();
            for doubt in doubts {
                let weight = doubt.weight / weights;
                of_pairs += weight * square(&doubt.miss);
                let missed = self.add_up(&doubt.miss);
                of_sums.iter_mut().zip(missed).for_each(|(sum, miss)| *sum += weight * miss * miss);
            }
        }
        // Nobody doubted it, or there is nothing to doubt.
        let unknown = kinds.iter().all(|doubts| doubts.is_empty()) || square(x) == 0.0;
        let error = |square: f64, of: f64| part(square, of).sqrt();
        let pair_error = if unknown { 1.0 } else { error(of_pairs, square(x)) };
        let leaf_error = if unknown { 1.0 } else { bounded(error(of_sums.iter().sum(), square(&sums))) };
        let known = sums.iter().zip(&of_sums).filter(|(sum, v)| v.sqrt() <= KNOWN * **sum);
        let identified_fraction =
            if unknown { 0.0 } else { part(known.fold(0.0, |all, (sum, _)| all + sum), sums.iter().sum()) };
        let verdict = Verdict::of(leaf_error);
        let mut largest: Vec<usize> = (0..sums.len()).collect();
        largest.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
        largest.truncate(TOLD);
        let pairs: Vec<_> = if largest.is_empty() { Vec::new() } else { case.operator.iter().collect() };
        let told = |&s: &usize| {
            let pair = pairs[self.one[s] as usize];
            let hosts = &case.jobs[pair.job as usize].hosts;
            let (leaf_of, destination) = (hosts[pair.source as usize], hosts[pair.destination as usize]);
            let deviation = of_sums[s].sqrt();
            let (low, high) = ((sums[s] - LIKELY * deviation).max(0.0), sums[s] + LIKELY * deviation);
            LeafSum { leaf_of, destination, bytes: sums[s], low, high }
        };
        let leaf_sums = largest.iter().map(told).collect();
        Trust { verdict, leaf_error, pair_error, identified_fraction, rivals, leaf_sums }
    }
}
