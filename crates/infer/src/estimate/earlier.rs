//! Earlier answers: what a job showed before, and what that says of what is counted now.
//!
//! A job that runs again sends much the same, wherever it is placed: what is remembered is in ranks, not hosts. It is the grid, what pairs
//! of every offset carry in the mean, and the pairs that differ most from that. Better counters (several lanes, several routings) can so
//! help to read worse ones later.
//!
//! An earlier answer is a hypothesis like others. Its grid is taken if it explains the counters as well as the best; its bytes, scaled by one
//! factor, are one more guess among those that are judged by rows that were held out ([`crate::estimate`]). What counters cannot tell apart
//! stays as it was remembered, so the answer is believed no more than the earlier one.
//!
//! Jobs with several ranks a host remember their grid only: which ranks share a host may be different next time.

use std::collections::BTreeMap;

use crate::dictionary::Grid;
use crate::operator::{Operator, Pair, Participants};
use crate::residual::Target;
use crate::settings::EarlierSettings;

use super::answer::Estimate;

/// A job, as it was seen before.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// Its grid.
    pub grid: Grid,
    /// Offsets on it, rising, and what their pairs of ranks carried in the mean.
    pub offsets: Vec<([i64; 3], f64)>,
    /// Pairs of ranks that carried something else, rising.
    pub pairs: Vec<(u32, u32, f64)>,
    /// How far off the pairs are believed to be, `|x - x*| / |x*|`.
    pub pair_error: f64,
    /// The same of sums over (source leaf, destination), where it was then.
    pub leaf_error: f64,
}

impl Earlier {
    /// What there is to remember of a job; `None` without a grid.
    pub fn of(
        job: u32,
        jobs: &[Participants],
        operator: &Operator,
        found: &Estimate,
        settings: &EarlierSettings,
    ) -> Option<Self> {
        let (of, grid) = (&jobs[job as usize], found.jobs[job as usize].grid?);
        let (mut offsets, mut pairs) = (Vec::new(), Vec::new());
        if of.ranks() == of.hosts.len() {
            let codes = grid.codes();
            let class = |pair: &Pair| {
                codes[rank(of, pair.destination) as usize] - codes[rank(of, pair.source) as usize]
            };
            let own = || operator.iter().zip(&found.bytes).filter(|(pair, _)| pair.job == job);
            let mut sums = BTreeMap::<i64, (f64, f64)>::new();
            for (pair, bytes) in own() {
                let sum = sums.entry(class(&pair)).or_default();
                *sum = (sum.0 + bytes, sum.1 + 1.0);
            }
            let least = settings.difference * own().map(|(_, bytes)| *bytes).fold(0.0, f64::max);
            let mean = |class: i64| sums.get(&class).map_or(0.0, |(sum, count)| sum / count);
            let mut odd: Vec<(f64, (u32, u32, f64))> = own()
                .map(|(pair, &bytes)| {
                    let off = (bytes - mean(class(&pair))).abs();
                    (off, (rank(of, pair.source), rank(of, pair.destination), bytes))
                })
                .filter(|(off, _)| *off > least)
                .collect();
            odd.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1.0, a.1.1).cmp(&(b.1.0, b.1.1))));
            odd.truncate(settings.pairs);
            pairs = odd.into_iter().map(|(_, pair)| pair).collect();
            pairs.sort_by_key(|&(from, to, _)| (from, to));
            let carries = |(class, (sum, count)): (&i64, &(f64, f64))| {
                (*sum > 0.0).then(|| (grid.offset(*class), sum / count))
            };
            offsets = sums.iter().filter_map(carries).collect();
            offsets.sort_by_key(|(offset, _)| *offset);
        }
        let (pair_error, leaf_error) = (found.trust.pair_error, found.trust.leaf_error);
        Some(Self { grid, offsets, pairs, pair_error, leaf_error })
    }

    /// How far off pairs and sums are believed to be.
    pub(crate) fn errors(&self) -> [f64; 2] {
        [self.pair_error, self.leaf_error]
    }

    /// Whether a job of so many ranks can have been it.
    ///
    /// # Errors
    /// What can't be.
    pub fn check(&self, ranks: u32) -> Result<(), String> {
        let good = |bytes: f64| bytes.is_finite() && bytes >= 0.0;
        if !Grid::all(ranks).contains(&self.grid) {
            return Err(format!("{} is no grid of {ranks} ranks", self.grid));
        }
        let inside =
            |offset: &[i64; 3]| (0..3).all(|i| offset[i].unsigned_abs() < u64::from(self.grid.sides[i]));
        if let Some((offset, bytes)) = self.offsets.iter().find(|(o, bytes)| !inside(o) || !good(*bytes)) {
            return Err(format!("offset {offset:?} with {bytes} bytes is not of {}", self.grid));
        }
        let wrong = |&&(from, to, bytes): &&(u32, u32, f64)| from >= ranks || to >= ranks || !good(bytes);
        match self.pairs.iter().find(wrong) {
            Some((from, to, bytes)) => {
                Err(format!("{bytes} bytes from rank {from} to rank {to} are not of {ranks} ranks"))
            }
            None if !self.errors().into_iter().all(good) => Err("expected errors of 0 % and more".into()),
            None => Ok(()),
        }
    }

    /// Adds a job's bytes to those of all pairs, as they were remembered; whether there are any.
    fn add(&self, job: u32, of: &Participants, operator: &Operator, x: &mut [f64]) -> bool {
        if of.ranks() != of.hosts.len() || self.offsets.is_empty() {
            return false;
        }
        let codes = self.grid.codes();
        let means: BTreeMap<[i64; 3], f64> = self.offsets.iter().copied().collect();
        for (p, pair) in operator.iter().enumerate().filter(|(_, pair)| pair.job == job) {
            let class = codes[rank(of, pair.destination) as usize] - codes[rank(of, pair.source) as usize];
            x[p] = means.get(&self.grid.offset(class)).copied().unwrap_or(0.0);
        }
        for &(from, to, bytes) in &self.pairs {
            let (source, destination) = (of.host_of_rank[from as usize], of.host_of_rank[to as usize]);
            if let Some(p) = operator.find(Pair { job, source, destination }).filter(|_| from != to) {
                x[p] = bytes;
            }
        }
        true
    }
}

/// The bytes that jobs are remembered to have sent, each job's scaled to its own rows, and which jobs; of others those of `guess`. `None` if no
/// job's are.
pub(crate) fn earlier_bytes(
    operator: &Operator,
    jobs: &[Participants],
    earlier: &[Option<Earlier>],
    targets: &[Target],
    guess: Vec<f64>,
) -> Option<(Vec<f64>, Vec<bool>)> {
    let (mut x, mut whose) = (guess, vec![false; jobs.len()]);
    for (j, (job, answer)) in jobs.iter().zip(earlier).enumerate() {
        let Some(answer) = answer else { continue };
        let mut own = vec![0.0; operator.pairs()];
        if !answer.add(j as u32, job, operator, &mut own) {
            continue;
        }
        let (target, rows) = (&targets[j], operator.forward(&own));
        let (mut with, mut square) = (0.0, 0.0);
        for ((row, bytes), weight) in rows.iter().zip(&target.bytes).zip(&target.weight) {
            with += weight * weight * row * bytes;
            square += (weight * row).powi(2);
        }
        let factor = if square > 0.0 { with / square } else { 0.0 };
        if factor <= 0.0 {
            continue;
        }
        whose[j] = true;
        for ((x, own), pair) in x.iter_mut().zip(&own).zip(operator.iter()) {
            if pair.job == j as u32 {
                *x = factor * own;
            }
        }
    }
    whose.contains(&true).then_some((x, whose))
}

/// The rank on a host of a job with one a host.
fn rank(job: &Participants, host: u32) -> u32 {
    job.ranks_of_host[host as usize][0]
}
