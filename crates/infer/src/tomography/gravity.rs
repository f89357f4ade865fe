//! The gravity model: what hosts send, divided among all others in proportion to what these receive.

use netloom_model::Control;

use crate::operator::Operator;
use crate::residual::Target;

use super::em_scaling::em_scaling;

/// Every host's bytes spread over all others by what these receive, as far as hosts' own links tell (gravity).
///
/// Source: Zhang et al., *Fast accurate computation of large-scale IP traffic matrices from link loads*, SIGMETRICS 2003, sec. 3.
pub fn gravity(operator: &Operator, target: &Target, rounds: usize, control: &Control) -> Vec<f64> {
    let mut ends = target.clone();
    for (weight, end) in ends.weight.iter_mut().zip(operator.ends()) {
        *weight *= f64::from(u8::from(end));
    }
    let bytes: f64 = ends.bytes.iter().zip(&ends.weight).map(|(b, w)| if *w > 0.0 { *b } else { 0.0 }).sum();
    let mut x = vec![bytes / 2.0 / operator.pairs().max(1) as f64; operator.pairs()];
    em_scaling(operator, &ends, &mut x, rounds, control);
    x
}
