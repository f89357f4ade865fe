//! What rows between switches tell that hosts' own links do not.
//!
//! What hosts send and receive is certain; who sends to whom is told by rows between switches, as far as these are no sums of hosts' links
//! again: a link up from a leaf with one host, or one that everything for a host crosses, tells nothing new. Where rows tell next to nothing new, a
//! pattern that explains them is one of many, however few its atoms.
//!
//! Rows are counted that are independent of hosts' links and of each other: pivots of `R R'`, hosts' rows first.

use crate::operator::Operator;
use crate::residual::Target;
use crate::settings::ConfidenceSettings;

/// A pivot of this part of its row is none.
const NOTHING: f64 = 1e-9;

/// How many of a job's rows between switches, `own`, tell something new; no more than [`ConfidenceSettings::new_rows`] are counted.
pub(crate) fn independent_rows(
    operator: &Operator,
    job: u32,
    own: &Target,
    settings: &ConfidenceSettings,
) -> usize {
    let most = settings.new_rows;
    let ends = operator.ends();
    let used = || (0..operator.rows()).filter(|&row| own.weight[row] > 0.0);
    let of_hosts: Vec<usize> = used().filter(|&row| ends[row]).collect();
    let between: Vec<usize> = used().filter(|&row| !ends[row]).collect();
    let rows = of_hosts.len() + between.len();
    if rows > settings.ranked_rows {
        return most;
    }
    let mut place = vec![usize::MAX; operator.rows()];
    of_hosts.iter().chain(&between).enumerate().for_each(|(at, &row)| place[row] = at);
    let mut products = products(operator, job, &place, rows);
    let mut told = 0;
    for at in 0..rows {
        let whole = products[at * rows + at];
        for to in 0..=at {
            let (of_at, of_to) = (&products[at * rows..at * rows + to], &products[to * rows..to * rows + to]);
            let rest = products[at * rows + to] - of_at.iter().zip(of_to).map(|(a, b)| a * b).sum::<f64>();
            let pivot = products[to * rows + to];
            products[at * rows + to] = match to == at {
                true if rest > NOTHING * whole => rest.sqrt(),
                false if pivot > 0.0 => rest / pivot,
                _ => 0.0,
            };
        }
        told += usize::from(at >= of_hosts.len() && products[at * rows + at] > 0.0);
        if told >= most {
            break;
        }
    }
    told
}

/// `R R'` of a job's pairs, by rows in their `place`; its lower triangle.
fn products(operator: &Operator, job: u32, place: &[usize], rows: usize) -> Vec<f64> {
    let mut products = vec![0.0; rows * rows];
    let mut way = Vec::new();
    for (pair, _) in operator.iter().enumerate().filter(|(_, pair)| pair.job == job) {
        way.clear();
        operator.parts(pair, |row, part| {
            if place[row] != usize::MAX {
                way.push((place[row], part));
            }
        });
        for &(at, part) in &way {
            for &(to, other) in way.iter().filter(|&&(to, _)| to <= at) {
                products[at * rows + to] += part * other;
            }
        }
    }
    products
}
