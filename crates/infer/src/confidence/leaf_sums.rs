//! Sums over (source leaf, destination), by job: what routes by destination need, and what an answer is judged by.
//!
//! Each job is judged by itself: what is known of a large job says nothing of a small one beside it, and hides it in the sum. The whole is as good
//! as the worst job of weight, one that makes a difference to the whole if nothing is known of it.

use netloom_model::rng::{Stream, normal};

use crate::model::Case;
use crate::operator::Operator;

use super::verdict::{JobTrust, LeafSum, Trust, Verdict};

/// How many of the largest sums are told.
const TOLD: usize = 10;

/// What the truth may be away from the answer.
pub(crate) struct Alternative {
    pub weight: f64,
    /// `[pair]`: bytes.
    pub difference: Vec<f64>,
}

/// Sums over (source leaf, destination).
pub(crate) struct Sums {
    /// `[pair]`: which sum.
    of: Vec<u32>,
    /// `[sum]`: a pair of it.
    one: Vec<u32>,
    /// `[sum]`: whose it is.
    job: Vec<u32>,
    jobs: usize,
}

impl Sums {
    pub fn new(operator: &Operator, jobs: usize) -> Self {
        let (mut of, mut one) = (Vec::with_capacity(operator.pairs()), Vec::new());
        let mut job = Vec::new();
        // `[leaf]`: destination for which it was seen last, and its sum.
        let mut seen: Vec<((u32, u32), u32)> = Vec::new();
        for (p, pair) in operator.iter().enumerate() {
            let (leaf, now) = (operator.leaf(pair) as usize, (pair.job, pair.destination));
            if leaf >= seen.len() {
                seen.resize(leaf + 1, ((u32::MAX, u32::MAX), 0));
            }
            if seen[leaf].0 != now {
                seen[leaf] = (now, one.len() as u32);
                one.push(p as u32);
                job.push(pair.job);
            }
            of.push(seen[leaf].1);
        }
        Self { of, one, job, jobs }
    }

    /// How far traffic is from `x` in its sums, over theirs.
    pub fn distance(&self, x: &[f64], other: &[f64]) -> f64 {
        let (sums, others) = (self.add_up(x), self.add_up(other));
        let apart: f64 = sums.iter().zip(&others).map(|(a, b)| (a - b).powi(2)).sum();
        (apart / sums.iter().map(|v| v * v).sum::<f64>().max(f64::MIN_POSITIVE)).sqrt()
    }

    /// `[job]`: how far others are from `x` in the mean, in the job's own sums and over theirs.
    pub fn distances(&self, x: &[f64], others: &[Vec<f64>]) -> Vec<f64> {
        let sums = self.add_up(x);
        let own = self.by_job(sums.iter().map(|v| v * v));
        let mut mean = vec![0.0; self.jobs];
        for other in others {
            let apart = self.add_up(other);
            let apart = self.by_job(sums.iter().zip(apart).map(|(a, b)| (a - b).powi(2)));
            for ((mean, apart), own) in mean.iter_mut().zip(apart).zip(&own) {
                *mean += (apart / own.max(f64::MIN_POSITIVE)).sqrt() / others.len() as f64;
            }
        }
        mean
    }

    /// `[job]`: what its sums' values add up to.
    fn by_job(&self, of_sums: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut of_jobs = vec![0.0; self.jobs];
        self.job.iter().zip(of_sums).for_each(|(&job, of)| of_jobs[job as usize] += of);
        of_jobs
    }

    /// A direction for the sums, at random; `[pair]`.
    pub fn direction(&self, draw: &mut Stream) -> Vec<f64> {
        let of_sum: Vec<f64> = self.one.iter().map(|_| normal(draw)).collect();
        self.of.iter().map(|&sum| of_sum[sum as usize]).collect()
    }

    pub fn add_up(&self, x: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.one.len()];
        for (&of, x) in self.of.iter().zip(x) {
            sums[of as usize] += x;
        }
        sums
    }

    /// What independent doubts say of `x`: of each kind the weighted mean square counts.
    pub fn trust_in(&self, case: &Case, x: &[f64], kinds: [&[Alternative]; 2], rivals: usize) -> Trust {
        let settings = case.settings.verdict;
        let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
        let part = |of: f64, whole: f64| if whole > 0.0 { of / whole } else { 0.0 };
        let sums = self.add_up(x);
        // `[sum]`: variance; and of all pairs.
        let (mut of_sums, mut of_pairs) = (vec![0.0; sums.len()], 0.0);
        for alternatives in kinds {
            let weights: f64 = alternatives.iter().map(|alternative| alternative.weight).sum();
            for alternative in alternatives {
                let weight = alternative.weight / weights;
                of_pairs += weight * square(&alternative.difference);
                let differences = self.add_up(&alternative.difference);
                of_sums
                    .iter_mut()
                    .zip(differences)
                    .for_each(|(sum, difference)| *sum += weight * difference * difference);
            }
        }
        // Nobody doubted it, or there is nothing to doubt.
        let unknown = kinds.iter().all(|alternatives| alternatives.is_empty()) || square(x) == 0.0;
        let error = |square: f64, of: f64| part(square, of).sqrt();
        let pair_error = if unknown { 1.0 } else { error(of_pairs, square(x)) };
        let leaf_error =
            if unknown { 1.0 } else { settings.told(error(of_sums.iter().sum(), square(&sums))) };
        let known = sums.iter().zip(&of_sums).filter(|(sum, v)| v.sqrt() <= settings.known_sum * **sum);
        let identified_fraction =
            if unknown { 0.0 } else { part(known.fold(0.0, |all, (sum, _)| all + sum), sums.iter().sum()) };
        let whole = square(&sums);
        let of_jobs = self.by_job(of_sums.iter().copied()).into_iter();
        let jobs = of_jobs.zip(self.by_job(sums.iter().map(|v| v * v))).map(|(difference, own)| {
            let leaf_error = if unknown { 1.0 } else { settings.told(error(difference, own)) };
            JobTrust { verdict: Verdict::of(leaf_error, &settings), leaf_error, share: error(own, whole) }
        });
        let jobs: Vec<JobTrust> = jobs.collect();
        let verdict = Verdict::of(leaf_error, &settings);
        let mut largest: Vec<usize> = (0..sums.len()).collect();
        largest.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]).then(a.cmp(&b)));
        largest.truncate(TOLD);
        let pairs: Vec<_> = if largest.is_empty() { Vec::new() } else { case.operator.iter().collect() };
        let told = |&s: &usize| {
            let pair = pairs[self.one[s] as usize];
            let hosts = &case.jobs[pair.job as usize].hosts;
            let (leaf_of, destination) = (hosts[pair.source as usize], hosts[pair.destination as usize]);
            let deviation = of_sums[s].sqrt();
            let (low, high) =
                ((sums[s] - settings.likely * deviation).max(0.0), sums[s] + settings.likely * deviation);
            LeafSum { leaf_of, destination, bytes: sums[s], low, high }
        };
        let leaf_sums = largest.iter().map(told).collect();
        Trust { verdict, leaf_error, pair_error, identified_fraction, rivals, leaf_sums, jobs, settings }
    }
}
