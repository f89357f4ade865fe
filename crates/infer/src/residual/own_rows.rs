//! Whose rows are whose: a job's own rows are those that no other job's pairs cross.

use crate::operator::Operator;

/// No pair crosses the row.
pub const NOBODY: u32 = u32::MAX;
/// Pairs of several jobs do.
pub const SHARED: u32 = u32::MAX - 1;

/// `[row]`: the only job whose pairs cross it.
pub fn own_rows(operator: &Operator, jobs: usize) -> Vec<u32> {
    let mut own = vec![NOBODY; operator.rows()];
    let of_job =
        |j: u32| operator.iter().map(|pair| f64::from(u8::from(pair.job == j))).collect::<Vec<f64>>();
    for j in 0..jobs as u32 {
        for (own, count) in own.iter_mut().zip(operator.forward(&of_job(j))) {
            if count > 0.0 {
                *own = if *own == NOBODY { j } else { SHARED };
            }
        }
    }
    own
}
