//! Whether what explains a job's counters does so by chance.

use netloom_model::Control;

use crate::model::{Case, Guess};
use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::ConfidenceSettings;

use super::leaf_sums::Sums;
use super::rivals::explanations;
use super::verdict::Trust;

/// The same trust where atoms explain some jobs by chance: then these are as far off as other explanations are away, and *partly* known at best.
pub(crate) fn limited_by_chance(
    trust: Trust,
    case: &Case,
    chance: &[bool],
    (target, x): (&Target, &[f64]),
    sums: &Sums,
    control: &Control,
) -> Trust {
    if !chance.contains(&true) {
        return trust;
    }
    let others = explanations(case, target, sums, control);
    let away = sums.distances(x, &others).into_iter().zip(chance);
    let part = case.settings.confidence.chance_floor;
    let floor: Vec<f64> =
        away.map(|(away, chance)| if *chance { part * away.min(1.0) } else { 0.0 }).collect();
    trust.at_least(&floor)
}

/// Whether a job's own rows say so little that which pattern explains them is chance: few between switches, with few different bytes.
pub(crate) fn is_underdetermined(operator: &Operator, own: &Target, settings: &ConfidenceSettings) -> bool {
    let used = own.weight.iter().zip(operator.ends());
    let between = used.filter(|(weight, end)| **weight > 0.0 && !end).count();
    let values = own.values();
    let alike = between < settings.alike_rows && values <= settings.alike_values;
    between > 0 && (alike || bits(between, values) < settings.pattern_bits)
}

/// Whether hosts' own links hold so many bits that so many atoms do not explain them by chance. Where switches choose, links between switches say
/// little else: they are sums over all ways of a leaf or a pod.
pub(crate) fn hosts_identify(
    operator: &Operator,
    own: &Target,
    atoms: usize,
    settings: &ConfidenceSettings,
) -> bool {
    let mut of_hosts = own.clone();
    let between = of_hosts.weight.iter_mut().zip(operator.ends()).filter(|(_, end)| !end);
    between.for_each(|(weight, _)| *weight = 0.0);
    // Those of next to nothing, acknowledgements, say nothing.
    bits(of_hosts.rows(), of_hosts.values_above(settings.idle_host)) >= settings.pattern_bits * atoms as f64
}

/// Whether that is so of all jobs' atoms.
pub(crate) fn hosts_identify_all(case: &Case, guess: &Guess, target: &Target) -> bool {
    let targets = case.targets(target);
    let settings = &case.settings.confidence;
    let told = |(own, atoms): (&Target, Vec<_>)| hosts_identify(case.operator, own, atoms.len(), settings);
    targets.iter().zip(guess.list()).all(told)
}

/// How much rows of so many different bytes hold.
fn bits(rows: usize, values: usize) -> f64 {
    rows as f64 * (values.max(1) as f64).log2()
}
