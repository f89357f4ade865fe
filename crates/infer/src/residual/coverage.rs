//! What part of the rows that pairs cross is known.

use crate::operator::Operator;

use super::target::Counted;

/// Of the rows that pairs cross the part that is unknown, and what is known of who sends to whom.
pub(crate) struct Coverage {
    /// The part of all rows that is unknown.
    pub unknown: f64,
    /// The same of hosts' links.
    pub unknown_of_hosts: f64,
    /// Of pairs whose ways cross rows between switches the part that crosses one whose bytes are known; 1 if there are no such pairs.
    pub pairs_between: f64,
}

impl Coverage {
    /// Links that are alike under routings that split traffic stand for each other: there none counts as unknown.
    pub fn of(operator: &Operator, counted: &Counted) -> Self {
        let ends = operator.ends();
        let crossed = operator.forward(&vec![1.0; operator.pairs()]);
        let unknown = |of: &dyn Fn(usize) -> bool| {
            let rows = || (0..operator.rows()).filter(|&row| crossed[row] > 0.0 && of(row));
            let unknown = rows().filter(|&row| !counted.bytes[row].is_finite()).count();
            if operator.splits() { 0.0 } else { unknown as f64 / rows().count().max(1) as f64 }
        };
        let crossing = |is: &dyn Fn(usize) -> bool| {
            let rows: Vec<f64> =
                (0..operator.rows()).map(|row| f64::from(u8::from(!ends[row] && is(row)))).collect();
            operator.adjoint(&rows).into_iter().filter(|crossed| *crossed > 0.0).count()
        };
        let (all, known) = (crossing(&|_| true), crossing(&|row| counted.bytes[row].is_finite()));
        Self {
            unknown: unknown(&|_| true),
            unknown_of_hosts: unknown(&|row| ends[row]),
            pairs_between: if all == 0 { 1.0 } else { known as f64 / all as f64 },
        }
    }
}
