//! Models judged by rows that were held out (cross-validation).

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::residual::Target;
use crate::settings::{ModelSettings, Settings};
use crate::tomography::{gravity, least_change};

use super::case::Case;
use super::{Model, Start, Tried, models};

/// Rows to fit, and rows to judge by.
pub(crate) struct HeldOut {
    pub training: Target,
    pub test: Target,
}

impl HeldOut {
    /// One row of so many is held out, by random numbers of its own.
    pub fn of(target: &Target, settings: &Settings) -> Self {
        let (mut training, mut test) = (target.clone(), target.clone());
        for r in 0..target.weight.len() {
            let out = below(&mut stream(settings.seed, r as u64), settings.models.hold_out.max(2)) == 0;
            let other = if out { &mut training } else { &mut test };
            other.weight[r] = 0.0;
            test.weight[r] = f64::from(u8::from(test.weight[r] > 0.0));
        }
        Self { training, test }
    }
}

/// All models, of each start the best; the one to be believed comes first. `earlier` is what jobs sent before, `[pair]`.
pub(crate) fn tried_out(
    case: &Case,
    rows: &HeldOut,
    earlier: Option<&[f64]>,
    control: &Control,
) -> Vec<Tried> {
    let (settings, effort) = (&case.settings.models, &case.settings.of_trials());
    let targets = case.targets(&rows.training);
    let mut all: Vec<Tried> = Vec::new();
    let mut guess = case.guess(&targets);
    let mut before = 0;
    let first = earlier.map(|_| ModelSettings::SHARES.map(|shares| Model { start: Start::Earlier, shares }));
    let first = first.into_iter().flatten();
    let all_models = first.chain(models(rows.training.rows(), guess.columns(), settings));
    for model in all_models.take_while(|_| control.stopped().is_none()) {
        let mut x = match model.start {
            Start::Atoms(atoms) => {
                guess.advance(atoms - before, control);
                before = atoms;
                guess.bytes(case)
            }
            Start::Earlier => earlier.map(<[f64]>::to_vec).unwrap_or_default(),
            _ => gravity(case.operator, &rows.training, effort.gravity_rounds, control),
        };
        let families = &case.families;
        least_change(case.operator, families, &model.shares, &rows.training, &mut x, effort, control);
        let error = rows.test.left(case.operator, &x);
        match all.iter_mut().find(|tried| tried.model.start == model.start) {
            Some(tried) if tried.error <= error => {}
            old => {
                let judged = match model.start {
                    Start::Gravity => {
                        error / settings.gain_over_gravity * (error / settings.dense_residual).min(1.0)
                    }
                    Start::Earlier => error / settings.loss_of_earlier,
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
