//! The answer: what was found, the same as traffic over hosts, and how far that is from the truth.

use netloom_model::{Csr, Fabric};

use crate::confidence::Trust;
use crate::dictionary::{Atom, Grid};
use crate::model::Model;
use crate::operator::{Operator, Participants};

/// A pair below this part of the largest is none.
const NOTHING: f64 = 1e-9;

/// What was found of a job.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFound {
    /// Its grid; `None` where it has no rows of its own or fewer than two hosts.
    pub grid: Option<Grid>,
    /// The next best grid that does not explain it as well, and how much worse: its residual over the best's.
    pub rival: Option<(Grid, f64)>,
    /// The atoms of the guess, and what each of their pairs carries.
    pub atoms: Vec<(Atom, f64)>,
    /// Whether what was remembered of it has a part in the answer: its grid, or its bytes.
    pub remembered: bool,
}

/// The answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Estimate {
    /// `[pair of the operator given]`: bytes.
    pub bytes: Vec<f64>,
    /// Pairs that may carry something.
    pub possible: usize,
    /// What was found of every job.
    pub jobs: Vec<JobFound>,
    /// How the guess was made.
    pub model: Model,
    /// What the answer leaves unexplained: weighted residual over the counters' norm.
    pub residual: f64,
    /// The same on rows that were held out, of an answer without them; `None` where few atoms or flows explain all.
    pub held_out: Option<f64>,
    /// `[row of the operator given]`: counted minus explained, bytes; 0 where nothing is known.
    pub unexplained: Vec<f64>,
    /// How far it can be trusted.
    pub trust: Trust,
}

/// The bytes of an operator's pairs as a matrix over all hosts.
pub fn traffic(fabric: &Fabric, operator: &Operator, jobs: &[Participants], bytes: &[f64]) -> Csr {
    let least = NOTHING * bytes.iter().copied().fold(0.0, f64::max);
    let mut entries: Vec<(u32, u32, f64)> = (operator.iter().zip(bytes))
        .filter(|&(_, &bytes)| bytes > least)
        .map(|(pair, &bytes)| {
            let hosts = &jobs[pair.job as usize].hosts;
            (hosts[pair.source as usize].0, hosts[pair.destination as usize].0, bytes)
        })
        .collect();
    entries.sort_unstable_by_key(|&(from, to, _)| (from, to));
    let mut offsets = vec![0u64; fabric.host_count() + 1];
    let (mut columns, mut values) = (Vec::with_capacity(entries.len()), Vec::<f64>::new());
    let mut last = None;
    for (from, to, bytes) in entries {
        if last == Some((from, to)) {
            // Two jobs on the same hosts.
            values.last_mut().into_iter().for_each(|sum| *sum += bytes);
            continue;
        }
        last = Some((from, to));
        offsets[from as usize + 1] += 1;
        columns.push(to);
        values.push(bytes);
    }
    for host in 0..fabric.host_count() {
        offsets[host + 1] += offsets[host];
    }
    Csr::from_parts(offsets, columns, values, None)
}

/// Relative errors, `|x - x*| / |x*|`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Errors {
    /// Of all pairs.
    pub pairs: f64,
    /// Of the sums over (source leaf, destination): what routes by destination need.
    pub leaf_sums: f64,
}

/// How far `found` is from `truth`; what a host sends to itself crosses nothing and does not count. `None` if the truth is nothing.
pub fn errors(fabric: &Fabric, found: &Csr, truth: &Csr) -> Option<Errors> {
    let hosts = fabric.host_count();
    assert_eq!((found.size(), truth.size()), (hosts, hosts));
    let (mut pairs, mut sums) = ([0.0; 2], [0.0; 2]);
    let mut row = vec![[0.0; 2]; hosts];
    let mut sum = vec![[0.0; 2]; hosts];
    for leaf in fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()) {
        for host in fabric.hosts_on(leaf) {
            for (which, matrix) in [found, truth].into_iter().enumerate() {
                let (columns, bytes) = matrix.row(host.index());
                let others = columns.iter().zip(bytes).filter(|&(&to, _)| to != host.0);
                others.for_each(|(&to, &bytes)| row[to as usize][which] += bytes);
            }
            take(&mut row, &mut pairs, |to, both| {
                sum[to][0] += both[0];
                sum[to][1] += both[1];
            });
        }
        take(&mut sum, &mut sums, |_, _| {});
    }
    let part = |[wrong, all]: [f64; 2]| (wrong / all).sqrt();
    (pairs[1] > 0.0).then(|| Errors { pairs: part(pairs), leaf_sums: part(sums) })
}

/// Adds up squares of differences and of the truth, hands on what is not zero, and sets it to zero.
fn take(row: &mut [[f64; 2]], squares: &mut [f64; 2], mut hand_on: impl FnMut(usize, [f64; 2])) {
    for (at, both) in row.iter_mut().enumerate().filter(|(_, both)| **both != [0.0; 2]) {
        squares[0] += (both[0] - both[1]).powi(2);
        squares[1] += both[1].powi(2);
        hand_on(at, *both);
        *both = [0.0; 2];
    }
}
