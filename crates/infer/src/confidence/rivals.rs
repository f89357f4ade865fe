//! What else explains the counters: traffic in random directions, and other grids.

use netloom_model::Control;
use netloom_model::rng::stream;

use crate::model::Case;
use crate::pursuit::Ranked;
use crate::residual::Target;

use super::extremes::furthest;
use super::leaf_sums::Sums;

/// Traffic that explains the counters and is far from other such traffic: in random directions of the sums.
pub(crate) fn explanations(case: &Case, target: &Target, sums: &Sums, control: &Control) -> Vec<Vec<f64>> {
    let (operator, settings) = (case.operator, case.settings);
    let looks = if operator.pairs() <= settings.confidence.twice_pairs { 2 } else { 1 };
    let looks = (0..looks).take_while(|_| control.stopped().is_none());
    let one = |d: u64| {
        let direction = sums.direction(&mut stream(settings.seed, 2_000 + d));
        furthest(operator, target, &direction, settings, control)
    };
    looks.map(one).collect()
}

/// The same with another grid of a job that explains its counters as well, for each of them.
pub(crate) fn rival_cases<'a>(
    case: &Case<'a>,
    ranked: &[Ranked],
    control: &Control,
) -> impl Iterator<Item = Case<'a>> {
    let others = ranked.iter().enumerate().flat_map(|(j, of)| of.equals.iter().map(move |&other| (j, other)));
    let others = others.take_while(|_| control.stopped().is_none());
    let on = |(j, other): (usize, _)| {
        let mut hypotheses = case.hypotheses.clone();
        hypotheses[j] = Some(other);
        case.on(hypotheses)
    };
    others.map(on)
}
