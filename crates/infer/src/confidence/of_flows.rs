//! Trust in the fewest flows.

use netloom_model::Control;
use netloom_model::rng::{normal, stream};

use crate::basis_pursuit::UnexplainedJobs;
use crate::model::Case;
use crate::residual::Target;

use super::leaf_sums::{Alternative, Sums};
use super::verdict::Trust;

/// Trust in the fewest flows: other costs find the same where counters leave no choice.
pub(crate) fn of_flows(
    case: &Case,
    rest: &UnexplainedJobs,
    x: &[f64],
    target: &Target,
    control: &Control,
) -> Trust {
    let settings = &case.settings.confidence;
    let rows = case.operator.forward(x);
    let mut alternatives = Vec::new();
    for d in 0..settings.draws {
        if control.stopped().is_some() {
            break;
        }
        let mut draw = stream(case.settings.seed, 1_000 + d);
        let noisy = rows.iter().zip(&target.deviation).map(|(b, d)| (b + d * normal(&mut draw)).max(0.0));
        let target = Target { bytes: noisy.collect(), ..target.clone() };
        let other = rest.fewest(&target, Some(case.settings.seed + d), control);
        alternatives.push(Alternative {
            weight: 1.0,
            difference: x.iter().zip(other).map(|(x, other)| x - other).collect(),
        });
    }
    let sums = Sums::new(case.operator, case.jobs.len());
    let mut apart = vec![Alternative { weight: 1.0, difference: vec![0.0; x.len()] }];
    let open = case.operator.pairs() <= settings.rival_flow_pairs
        && rest.rows_each(target, x) < settings.rival_flow_rows;
    let looks = if open { settings.rival_flows } else { 0 };
    for d in (0..looks).take_while(|_| control.stopped().is_none()) {
        let direction = sums.direction(&mut stream(case.settings.seed, 3_000 + d));
        let other = rest.furthest(target, x, &direction, control);
        let difference: Vec<f64> = x.iter().zip(other).map(|(x, other)| x - other).collect();
        apart.push(Alternative { weight: 1.0, difference });
    }
    sums.trust_in(case, x, [&alternatives, &apart], 0)
}
