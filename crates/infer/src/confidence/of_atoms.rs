//! Trust in atoms that explain everything but noise.

use netloom_model::Control;
use netloom_model::rng::{normal, stream};

use crate::model::{Case, Guess};
use crate::pursuit::Ranked;
use crate::residual::Target;
use crate::tomography::{em_scaling, gravity};

use super::chance::{hosts_identify, is_underdetermined, limited_by_chance};
use super::exchange::exchanged;
use super::independent_rows::independent_rows;
use super::leaf_sums::{Alternative, Sums};
use super::rivals::rival_cases;
use super::verdict::Trust;

/// Trust in atoms that explain everything but noise.
pub(crate) fn of_atoms(
    case: &Case,
    guess: &Guess,
    target: &Target,
    ranked: &[Ranked],
    x: &[f64],
    control: &Control,
) -> Trust {
    let settings = &case.settings.confidence;
    let sums = Sums::new(case.operator, case.jobs.len());
    let away_from = |other: Vec<f64>| x.iter().zip(other).map(|(x, other)| x - other).collect::<Vec<f64>>();
    let mut noise = Vec::new();
    if target.deviation.iter().any(|d| *d > 0.0) {
        let rows = case.operator.forward(x);
        for d in (0..settings.draws).take_while(|_| control.stopped().is_none()) {
            let mut draw = stream(case.settings.seed, 1_000 + d);
            let noisy = rows.iter().zip(&target.deviation);
            let noisy: Vec<f64> = noisy.map(|(b, d)| (b + d * normal(&mut draw)).max(0.0)).collect();
            // Other noise may have other atoms chosen.
            let targets = case.targets(&Target { bytes: noisy, ..target.clone() });
            let mut again = case.guess(&targets);
            again.advance(guess.columns().max(1), control);
            noise.push(Alternative { weight: 1.0, difference: away_from(again.bytes(case)) });
        }
    }
    // Any of the grids that explain the counters may be the right one; the more atoms it takes, the less it is believed.
    let atoms = guess.atoms();
    let mut grids = vec![Alternative { weight: 1.0, difference: vec![0.0; x.len()] }];
    for other in rival_cases(case, ranked, control) {
        let targets = other.targets(target);
        let mut guess = other.guess(&targets);
        guess.advance(case.settings.grids.first_atoms + case.settings.grids.more_atoms, control);
        let other = guess.bytes(&other);
        if target.left(case.operator, &other) <= 2.0 * target.left(case.operator, x).max(1e-9) {
            let more = guess.atoms().saturating_sub(atoms);
            grids.push(Alternative {
                weight: settings.weight_per_atom.powi(more as i32),
                difference: away_from(other),
            });
        }
    }
    let rivals = grids.len() - 1;
    // So may other atoms on the same grid.
    let others = guess.leave_one_out().take(settings.leave_one_out);
    grids.extend(others.map(|(more, difference)| Alternative {
        weight: settings.weight_per_atom.powi(more as i32),
        difference,
    }));
    for d in (0..settings.perturbed_fits).take_while(|_| control.stopped().is_none()) {
        let difference = guess.perturbed(&mut stream(case.settings.seed, 2_000 + d));
        if sums.add_up(&difference).iter().any(|difference| *difference != 0.0) {
            grids.push(Alternative { weight: 1.0, difference });
        }
    }
    // On one lane rows are often alike, and atoms that were chosen one by one explain any few different bytes. Patterns say beforehand
    // what they are, but not if rows without bytes cut them to size.
    let one_lane = case.operator.lanes() == 1 && case.operator.routings() == 1;
    let targets = case.targets(target);
    let fits: Vec<bool> =
        targets.iter().map(|own| is_underdetermined(case.operator, own, settings)).collect();
    let mut chance = guess.by_chance();
    let (mut open, mut partly) = (chance.clone(), fits.clone());
    if case.operator.splits() {
        for (j, (own, atoms)) in targets.iter().zip(guess.list()).enumerate() {
            open[j] = !hosts_identify(case.operator, own, atoms.len(), settings);
            partly[j] |= open[j];
            chance[j] |= open[j];
        }
    } else if target.noise() > case.settings.models.nearly_exact {
        // Noise alone makes rows alike: then that they are few says more.
        open.iter_mut().zip(&fits).for_each(|(open, fits)| *open &= fits);
    }
    for (j, own) in targets.iter().enumerate() {
        let few = fits[j] && independent_rows(case.operator, j as u32, own, settings) < settings.new_rows;
        open[j] |= few;
    }
    if one_lane && chance.contains(&true) {
        let rounds = &case.settings.least_change;
        let mut even = gravity(case.operator, target, rounds.gravity_rounds, control);
        em_scaling(case.operator, target, &mut even, rounds.em_rounds, control);
        let mut difference = away_from(even);
        let known = case.operator.iter().map(|pair| !chance[pair.job as usize]);
        difference
            .iter_mut()
            .zip(known)
            .filter(|(_, known)| *known)
            .for_each(|(difference, _)| *difference = 0.0);
        grids.push(Alternative { weight: 1.0, difference });
    }
    let trust = sums.trust_in(case, x, [&noise, &grids], rivals);
    if !one_lane {
        return trust;
    }
    let trust = limited_by_chance(trust, case, &open, (target, x), &sums, control);
    let others = exchanged(case, guess, target, x, &sums, control);
    trust.at_least(&others).at_most_partly_where(&partly)
}
