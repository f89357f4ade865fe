//! Trust in a guess that was changed to explain the counters.

use netloom_model::Control;
use netloom_model::rng::{normal, stream};

use crate::model::{Case, Start, Tried};
use crate::pursuit::Ranked;
use crate::residual::Target;
use crate::settings::Shares;
use crate::tomography::least_change;

use super::chance::{is_underdetermined, limited_by_chance};
use super::leaf_sums::{Alternative, Sums};
use super::rivals::{explanations, rival_cases};
use super::verdict::Trust;

/// A guess and what became of it.
pub(crate) struct Change<'a> {
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
    known: &Change,
    target: &Target,
    (tried, ranked): (&[Tried], &[Ranked]),
    control: &Control,
) -> Trust {
    let (operator, settings) = (case.operator, &case.settings.confidence);
    let effort = &case.settings.of_trials();
    let sums = Sums::new(operator, case.jobs.len());
    let deviation = if known.start == Start::Gravity {
        gravity_deviation(case, known, target, tried.first().map_or(0.0, |best| best.error))
    } else {
        known.deviation.to_vec()
    };
    let mut alternatives = Vec::new();
    for d in 0..settings.draws {
        if control.stopped().is_some() {
            break;
        }
        let mut draw = stream(case.settings.seed, 1_000 + d);
        let change = case.families.draw(&deviation, known.shares, &mut draw);
        let truth: Vec<f64> = known.before.iter().zip(change).map(|(x, c)| (x + c).max(0.0)).collect();
        let mut bytes = operator.forward(&truth);
        for (bytes, deviation) in bytes.iter_mut().zip(&target.deviation) {
            *bytes = (*bytes + deviation * normal(&mut draw)).max(0.0);
        }
        let target = Target { bytes, ..target.clone() };
        let mut x = known.before.to_vec();
        least_change(operator, &case.families, known.shares, &target, &mut x, effort, control);
        alternatives
            .push(Alternative { weight: 1.0, difference: truth.iter().zip(x).map(|(t, x)| t - x).collect() });
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
            let difference = known.after.iter().zip(x).map(|(after, x)| after - x).collect();
            others.push(Alternative { weight: 1.0, difference });
        }
    }
    let held_out = tried.first().map_or(0.0, |best| best.error);
    let one_lane = operator.lanes() == 1;
    // Where switches choose, few rows say who sends to whom, whatever was believed to begin with.
    let splits = operator.splits() && operator.routings() == 1;
    if (known.start == Start::Gravity || splits) && one_lane {
        let trust = sums.trust_in(case, known.after, [&alternatives, &others], rivals);
        let others = explanations(case, target, &sums, control);
        let apart: Vec<f64> = others.iter().map(|other| sums.distance(known.after, other)).collect();
        let Some(most) = apart.iter().copied().reduce(f64::max) else { return trust.at_most_partly() };
        let gravity = [settings.gravity_factor, settings.gravity_power, settings.gravity_held_out];
        if splits && known.explained {
            return trust.calibrated(gravity, held_out).limited_by_distance(most);
        }
        if splits {
            let trust = trust
                .by_distance(
                    [settings.adaptive_factor, settings.adaptive_power],
                    &sums.distances(known.after, &others),
                )
                .limited_by_distance(most);
            return if held_out > settings.held_out_limit { trust.at_most_partly() } else { trust };
        }
        let mean = apart.iter().sum::<f64>() / apart.len() as f64;
        // Of few pairs they say how far the answer is off; of many the truth is seldom as odd as what is furthest.
        let trust = if operator.pairs() <= settings.small_pairs {
            trust.calibrated_by_distance(
                [settings.small_factor, settings.small_power, settings.small_distance],
                mean,
            )
        } else {
            trust.calibrated(gravity, held_out)
        };
        // Where they are further away than everything that was sent, the truth lies in the middle of all that counters allow.
        let floor = |away: f64| settings.gravity_floor * away.min(1.0 / (away * away));
        let floor: Vec<f64> = sums.distances(known.after, &others).into_iter().map(floor).collect();
        let trust = trust.at_least(&floor).limited_by_distance(most);
        return if held_out > settings.held_out_limit { trust.at_most_partly() } else { trust };
    }
    if known.start == Start::Gravity || !one_lane || operator.routings() > 1 {
        return sums.trust_in(case, known.after, [&alternatives, &others], rivals);
    }
    // What no traffic explains is noise of rows; so is most of what traffic was changed for.
    let of_rows =
        target.noise() > 0.0 && target.left(operator, known.after) > settings.excess_noise * target.noise();
    let part = if of_rows { settings.noise_part } else { settings.pattern_part };
    for alternative in &mut alternatives {
        alternative.difference.iter_mut().for_each(|difference| *difference *= part);
    }
    let trust = sums
        .trust_in(case, known.after, [&alternatives, &others], rivals)
        .calibrated([settings.pattern_factor, settings.pattern_power, 0.0], held_out);
    if !matches!(known.start, Start::Atoms(_)) {
        return trust;
    }
    // Of many rows the trial has said how far they are off; of few nothing is known of the pattern that it began with.
    let own = case.targets(target);
    let fits = own.iter().map(|own| is_underdetermined(operator, own, settings)).zip(known.chance);
    let open: Vec<bool> = fits.map(|(fits, chance)| fits && *chance).collect();
    limited_by_chance(trust, case, &open, (target, known.after), &sums, control)
}

/// `[pair]`: how far the truth is believed to be from bytes spread evenly, which leave `error` of the rows that were held out.
fn gravity_deviation(case: &Case, known: &Change, target: &Target, error: f64) -> Vec<f64> {
    let operator = case.operator;
    let used = |r: usize| target.weight[r] > 0.0;
    let rows = (0..operator.rows()).filter(|&r| used(r)).count();
    // Hosts' own links were fitted and say nothing of it any more.
    let ends = operator.ends().iter().enumerate().filter(|&(r, end)| *end && used(r)).count();
    let mut more = (rows as f64 / rows.saturating_sub(ends).max(1) as f64).sqrt();
    // On one lane rows are sums over whole leaves, and may be alike however unlike their pairs are: the more alike rows are, the more is
    // pairs' difference taken for what lies between what rows say and knowing nothing (their own bytes). Where rows are not alike, traffic
    // is sparse, and they say enough.
    let one_lane = operator.lanes() == 1 && operator.routings() == 1;
    let alike = if one_lane { (1.0 - error / case.settings.models.dense_residual).max(0.0) } else { 0.0 };
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
fn models_apart(tried: &[Tried]) -> Vec<Alternative> {
    let Some((best, others)) = tried.split_first() else { return Vec::new() };
    let alternative = |other: &Tried| {
        let difference = best.bytes.iter().zip(&other.bytes).map(|(a, b)| f64::from(a - b)).collect();
        Alternative { weight: (best.judged / other.error).min(1.0).powi(4), difference }
    };
    let nothing = Alternative { weight: 1.0, difference: vec![0.0; best.bytes.len()] };
    std::iter::once(nothing).chain(others.iter().map(alternative)).collect()
}
