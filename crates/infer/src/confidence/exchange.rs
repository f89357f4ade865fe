//! What explains the counters as well: hosts that exchange what they do.
//!
//! Where switches choose packet by packet, hosts' own links and sums of leaves are all that counters tell. A collective in lines whose ranks lie side
//! by side leaves the same there as one in which ranks of two lines are mixed: two servers that half of the hosts talk to each, or all hosts to
//! both.

use netloom_model::Control;
use netloom_model::rng::{below, stream};

use crate::dictionary::Atom;
use crate::model::{Case, Guess};
use crate::operator::{Operator, Pair};
use crate::residual::Target;

use super::leaf_sums::Sums;

/// `[job]`: how far sums are away where two hosts of a job exchange what they do, if that explains the counters as well; 0 of jobs that are not in
/// lines, and where switches do not choose.
pub(crate) fn exchanged(
    case: &Case,
    guess: &Guess,
    target: &Target,
    x: &[f64],
    sums: &Sums,
    control: &Control,
) -> Vec<f64> {
    let (operator, settings) = (case.operator, &case.settings.confidence);
    // Noise alone may make so much of a difference.
    let noise = case.settings.pursuit.equal_squares * target.noise().powi(2) / target.rows().max(1) as f64;
    let enough = (target.left(operator, x).powi(2) + noise).sqrt().max(1e-9);
    let mut most = vec![0.0_f64; case.jobs.len()];
    if operator.pairs() > settings.exchange_pairs || !operator.splits() || operator.routings() > 1 {
        return most;
    }
    let jobs = most.iter_mut().zip(guess.list()).enumerate();
    for (job, (most, _)) in jobs.filter(|(_, (_, atoms))| atoms.iter().any(|(atom, _)| in_lines(atom))) {
        let hosts = case.jobs[job].hosts.len();
        let mut draw = stream(case.settings.seed, 4_000 + job as u64);
        let (mut sent, mut received) = (vec![0.0; hosts], vec![0.0; hosts]);
        for (pair, &bytes) in operator.iter().zip(x).filter(|(pair, _)| pair.job as usize == job) {
            sent[pair.source as usize] += bytes;
            received[pair.destination as usize] += bytes;
        }
        for _ in (0..settings.exchanges).take_while(|_| hosts > 2 && control.stopped().is_none()) {
            let (a, b) = (below(&mut draw, hosts as u64) as u32, below(&mut draw, hosts as u64) as u32);
            let alike = |of: &[f64]| {
                let (a, b): (f64, f64) = (of[a as usize], of[b as usize]);
                a > 0.0 && (a - b).abs() <= settings.exchange_difference * a.max(b)
            };
            for of_sources in [false, true] {
                if a == b || !alike(if of_sources { &sent } else { &received }) {
                    continue;
                }
                let Some(other) = with_exchanged(operator, x, job as u32, [a, b], of_sources) else {
                    continue;
                };
                let away = sums.distances(x, std::slice::from_ref(&other))[job];
                if away > *most && target.left(operator, &other) <= enough {
                    *most = away;
                }
            }
        }
    }
    most
}

/// The same bytes where two of a job's destinations, or sources, are exchanged; `None` where a pair that would carry bytes cannot.
fn with_exchanged(
    operator: &Operator,
    x: &[f64],
    job: u32,
    [a, b]: [u32; 2],
    of_sources: bool,
) -> Option<Vec<f64>> {
    let mut other = x.to_vec();
    for (at, pair) in operator.iter().enumerate().filter(|(_, pair)| pair.job == job) {
        let (one, mate) =
            if of_sources { (pair.source, pair.destination) } else { (pair.destination, pair.source) };
        if one != a && one != b || mate == a || mate == b {
            continue;
        }
        let to = a + b - one;
        let to = if of_sources { Pair { source: to, ..pair } } else { Pair { destination: to, ..pair } };
        match operator.find(to) {
            Some(to) => other[to] = x[at],
            None if x[at] > 0.0 => return None,
            None => {}
        }
    }
    Some(other)
}

/// Whether it is the messages of a collective in several lines at once, neighbours of which lie side by side.
fn in_lines(atom: &Atom) -> bool {
    matches!(atom, Atom::Collective { lines, .. } if lines.stride > 1)
}
