//! Pairs scaled until the counters are explained.

use netloom_model::Control;

use crate::operator::Operator;
use crate::residual::Target;

/// Scales pairs until the counters are explained, noise excepted: each by how much more its rows carried than is explained. What is zero
/// stays zero, nothing becomes negative, and what was right on the whole is hardly changed. After the least change, which leaves a
/// hundredth here and there where it was cut off at zero, some fifty rounds leave next to nothing.
///
/// Source: Vardi, *Network tomography*, J. Am. Stat. Assoc. 91, 1996 (expectation and maximisation).
pub fn em_scaling(operator: &Operator, target: &Target, x: &mut [f64], rounds: usize, control: &Control) {
    if control.stopped().is_some() {
        return;
    }
    let used: Vec<f64> = target.weight.iter().map(|&w| f64::from(u8::from(w > 0.0))).collect();
    let crossed = operator.adjoint(&used);
    let noise = target.noise();
    for _ in 0..rounds {
        if control.stopped().is_some() {
            break;
        }
        let rows = operator.forward(x);
        if noise > 0.0 && target.left_by(&rows) <= noise {
            break;
        }
        let ratio = |((&row, &bytes), &used): ((&f64, &f64), &f64)| {
            if row > 0.0 { used * bytes / row } else { used }
        };
        let ratios: Vec<f64> = rows.iter().zip(&target.bytes).zip(&used).map(ratio).collect();
        let sums = operator.adjoint(&ratios);
        for ((x, sum), &rows) in x.iter_mut().zip(sums).zip(&crossed) {
            if rows > 0.0 {
                *x *= sum / rows;
            }
        }
    }
}
