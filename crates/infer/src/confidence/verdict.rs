//! How far an answer can be trusted, in figures and in a word.

use netloom_model::HostId;

use crate::settings::VerdictSettings;

impl VerdictSettings {
    /// An error as it is told: answers are hardly ever worse than nothing.
    pub(crate) fn told(&self, error: f64) -> f64 {
        let whole = self.told_whole;
        if error <= whole { error } else { whole + 0.5 * (error - whole).min(2.0 - whole) }
    }
}

/// What is known of the sums over (source leaf, destination).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Most of them, well enough to choose routes by.
    Identified,
    /// Some of them.
    Partly,
    /// What every host sends and receives, and little more.
    #[default]
    NotIdentifiable,
}

impl Verdict {
    /// Of an estimated error of the sums.
    pub(crate) fn of(leaf_error: f64, settings: &VerdictSettings) -> Self {
        match leaf_error {
            error if error <= settings.identified => Self::Identified,
            error if error <= settings.partly => Self::Partly,
            _ => Self::NotIdentifiable,
        }
    }

    /// As results spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identified => "identified",
            Self::Partly => "partly",
            Self::NotIdentifiable => "not identifiable",
        }
    }
}

/// What hosts of a leaf send to a host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeafSum {
    /// Any host of the leaf.
    pub leaf_of: HostId,
    /// Who receives.
    pub destination: HostId,
    /// The answer's bytes.
    pub bytes: f64,
    /// The truth is likely not less.
    pub low: f64,
    /// Nor more.
    pub high: f64,
}

/// The same sums, their ranges so many times as wide.
fn wider(sums: Vec<LeafSum>, times: f64) -> Vec<LeafSum> {
    let wider = |sum: LeafSum| LeafSum {
        low: (sum.bytes - times * (sum.bytes - sum.low)).max(0.0),
        high: sum.bytes + times * (sum.high - sum.bytes),
        ..sum
    };
    sums.into_iter().map(wider).collect()
}

/// How far what was found of a job can be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct JobTrust {
    /// In a word.
    pub verdict: Verdict,
    /// As in [`Trust`], of the job's own sums.
    pub leaf_error: f64,
    /// The root of the sum of their squares, over that of all sums: what the job's error counts in the whole.
    pub share: f64,
}

impl JobTrust {
    /// The best that the whole can be: as good as the job where the job is so much of it that the whole would be beyond the verdict's limit if
    /// nothing were known of the job.
    fn best_of_whole(&self, settings: &VerdictSettings) -> Verdict {
        self.verdict.min(Verdict::of(self.share, settings))
    }

    /// The same where the error is another.
    fn with(self, leaf_error: f64, settings: &VerdictSettings) -> Self {
        Self { verdict: Verdict::of(leaf_error, settings), leaf_error, ..self }
    }
}

/// How far the answer can be trusted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trust {
    /// In a word.
    pub verdict: Verdict,
    /// Estimated `|y - y*| / |y*|` of the sums over (source leaf, destination), 0 to 1.
    pub leaf_error: f64,
    /// The same of pairs, given the hypotheses.
    pub pair_error: f64,
    /// This part of the bytes is in sums that are known to a tenth.
    pub identified_fraction: f64,
    /// Grids that explain the counters about as well as the ones chosen.
    pub rivals: usize,
    /// The largest sums.
    pub leaf_sums: Vec<LeafSum>,
    /// Every job's own.
    pub jobs: Vec<JobTrust>,
    /// By what it was judged.
    pub settings: VerdictSettings,
}

impl Trust {
    /// The jobs where errors are others, by `of`.
    fn each(&self, of: impl Fn(f64) -> f64) -> Vec<JobTrust> {
        self.jobs.iter().map(|job| job.with(of(job.leaf_error), &self.settings)).collect()
    }

    /// The same where sums are believed to be so many times as far off; pairs at least as far as sums.
    #[must_use]
    pub(crate) fn scaled(self, times: f64) -> Self {
        // What is told is bounded already: once more would make it less.
        let settings = self.settings;
        let more = |error: f64| settings.told(error * times).max(error);
        let leaf_error = more(self.leaf_error);
        Self {
            verdict: Verdict::of(leaf_error, &settings),
            leaf_error,
            pair_error: self.pair_error.max(leaf_error),
            jobs: self.each(more),
            leaf_sums: wider(self.leaf_sums, times),
            ..self
        }
    }

    /// The same where an error `e` of the sums is found to be `c e^p h^q`, `h` the error of rows that were held out; no less than it was.
    #[must_use]
    pub(crate) fn calibrated(self, [c, p, q]: [f64; 3], held_out: f64) -> Self {
        let held_out = held_out.max(self.settings.least_held_out);
        let error = self.leaf_error.max(f64::MIN_POSITIVE);
        self.scaled((c * error.powf(p - 1.0) * held_out.powf(q)).max(1.0))
    }

    /// The same of an answer without a structure, where explanations of the counters are so far apart in the mean. What the trial says and how
    /// far they are apart say more together than either.
    #[must_use]
    pub(crate) fn calibrated_by_distance(self, [c, p, q]: [f64; 3], apart: f64) -> Self {
        let settings = self.settings;
        let least = settings.least_of_distance * apart;
        let error = settings.told(c * self.leaf_error.max(least).powf(p) * apart.powf(q));
        let times = error / self.leaf_error.max(f64::MIN_POSITIVE);
        Self {
            verdict: Verdict::of(error, &settings),
            leaf_error: error,
            pair_error: self.pair_error.max(error),
            jobs: self.each(|of_job| settings.told(of_job * times)),
            leaf_sums: wider(self.leaf_sums, times),
            ..self
        }
    }

    /// The same where a job's error is at least this, `[job]`: of the whole as much as that is of it.
    #[must_use]
    pub(crate) fn at_least(mut self, errors: &[f64]) -> Self {
        let settings = self.settings;
        for (job, &error) in self.jobs.iter_mut().zip(errors) {
            job.leaf_error = job.leaf_error.max(settings.told(error));
            job.verdict = job.verdict.max(Verdict::of(job.leaf_error, &settings));
        }
        let whole = self.of_jobs();
        if whole <= self.leaf_error {
            return self;
        }
        let times = whole / self.leaf_error.max(f64::MIN_POSITIVE);
        Self {
            verdict: self.verdict.max(Verdict::of(whole, &settings)),
            leaf_error: whole,
            pair_error: self.pair_error.max(whole),
            identified_fraction: self.identified_fraction / times.max(1.0),
            leaf_sums: wider(self.leaf_sums, times),
            ..self
        }
    }

    /// What the jobs' errors come to in the whole. What an answer misses of a job is missing in its share, too.
    fn of_jobs(&self) -> f64 {
        let (mut missed, mut all) = (0.0, 0.0);
        for job in &self.jobs {
            let whole = job.share * job.share * (1.0 + job.leaf_error * job.leaf_error);
            missed += whole * job.leaf_error * job.leaf_error;
            all += whole;
        }
        if all > 0.0 { f64::sqrt(missed / all) } else { 0.0 }
    }

    /// The same where a job's error is `c d^q`, `d` up to 1 how far explanations of the counters are apart in its own sums, `[job]`: of the
    /// whole as much as that is of it.
    #[must_use]
    pub(crate) fn by_distance(self, [c, q]: [f64; 2], away: &[f64]) -> Self {
        let told: Vec<f64> = away.iter().map(|away| c * away.min(1.0).powf(q)).collect();
        let settings = self.settings;
        let jobs = self.jobs.iter().zip(told);
        let jobs = jobs.map(|(job, error)| job.with(settings.told(error), &settings)).collect();
        let told = Self { jobs, ..self };
        let whole = told.of_jobs();
        let times = whole / told.leaf_error.max(f64::MIN_POSITIVE);
        Self {
            verdict: Verdict::of(whole, &settings),
            leaf_error: whole,
            pair_error: told.pair_error.max(whole),
            leaf_sums: wider(told.leaf_sums, times),
            ..told
        }
    }

    /// The same, no better than the worst of the jobs that make a difference to the whole.
    #[must_use]
    pub(crate) fn limited_by_jobs(self) -> Self {
        let this = self.at_least(&[]);
        let best = this.jobs.iter().map(|job| job.best_of_whole(&this.settings));
        let verdict = best.fold(this.verdict, Verdict::max);
        Self { verdict, ..this }
    }

    /// The same where some explanation of the counters is so far away: nothing is identified where that is too far.
    #[must_use]
    pub(crate) fn limited_by_distance(self, furthest: f64) -> Self {
        let likely = Verdict::of(self.settings.truth_of_distance * furthest, &self.settings);
        if likely == Verdict::Identified { self } else { self.at_most_partly() }
    }

    /// The same where only this part of the pairs is seen between switches. Links of hosts say nothing of who sends to whom, and are
    /// explained by anybody: below half of the pairs, what is not seen counts as error.
    #[must_use]
    pub(crate) fn limited_by_coverage(self, part: f64) -> Self {
        let unknown = 1.0 - 2.0 * part;
        if unknown <= self.leaf_error {
            return self;
        }
        Self { identified_fraction: 0.0, ..self.with_least_error(unknown) }
    }

    /// The same where nothing is known better than this.
    #[must_use]
    pub(crate) fn with_least_error(self, error: f64) -> Self {
        let leaf_error = self.leaf_error.max(error);
        let settings = self.settings;
        let jobs = self.jobs.iter().map(|job| {
            let error = job.leaf_error.max(error);
            JobTrust { verdict: job.verdict.max(Verdict::of(error, &settings)), leaf_error: error, ..*job }
        });
        Self {
            verdict: self.verdict.max(Verdict::of(leaf_error, &settings)),
            leaf_error,
            pair_error: self.pair_error.max(leaf_error),
            jobs: jobs.collect(),
            ..self
        }
    }

    /// The same where the error may be right by chance.
    #[must_use]
    pub(crate) fn at_most_partly(mut self) -> Self {
        self.jobs.iter_mut().for_each(|job| job.verdict = job.verdict.max(Verdict::Partly));
        Self { verdict: self.verdict.max(Verdict::Partly), ..self }
    }

    /// The same where that of some jobs may be, `[job]`.
    #[must_use]
    pub(crate) fn at_most_partly_where(mut self, open: &[bool]) -> Self {
        let jobs = self.jobs.iter_mut().zip(open).filter(|(_, open)| **open);
        jobs.for_each(|(job, _)| job.verdict = job.verdict.max(Verdict::Partly));
        self
    }

    /// The same where the guess was remembered, with these errors of pairs and of sums: what counters cannot tell apart is still off by as
    /// much.
    pub(crate) fn with_earlier_errors(self, [pairs, sums]: [f64; 2]) -> Self {
        let leaf_error = self.leaf_error.hypot(sums);
        let likely = self.settings.likely;
        let wider = |sum: LeafSum| {
            let off = (sum.high - sum.bytes).hypot(likely * sums * sum.bytes);
            LeafSum { low: (sum.bytes - off).max(0.0), high: sum.bytes + off, ..sum }
        };
        Self {
            verdict: Verdict::of(leaf_error, &self.settings),
            leaf_error,
            pair_error: self.pair_error.hypot(pairs),
            jobs: self.each(|error| error.hypot(sums)),
            leaf_sums: self.leaf_sums.into_iter().map(wider).collect(),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A large job that is known beside a small one of which little is: the whole was told as 1 %.
    #[test]
    fn the_whole_is_told_no_less_than_its_jobs() {
        let job = |leaf_error, share| JobTrust {
            verdict: Verdict::of(leaf_error, &VerdictSettings::default()),
            leaf_error,
            share,
        };
        let jobs = vec![job(0.0, 0.998), job(0.6, 0.05)];
        let trust = Trust { verdict: Verdict::Identified, leaf_error: 0.01, jobs, ..Trust::default() };
        let told = trust.limited_by_jobs();
        assert!((0.030..0.036).contains(&told.leaf_error), "{}", told.leaf_error);
        assert_eq!(told.verdict, Verdict::Partly);
    }
}
