//! Iterations that are nearly alike: how many can be left out, and whether those behind them are as was foreseen.
//!
//! At the beginning of each iteration it is noted what the last one took and brought: its time, latencies, waits. Where a [`Trend`] through
//! each of these says that the mean of the iterations to come is within the error allowed, at most half of them are left out: times and steps
//! move on, queues and packets stay as they are. Then some are simulated and compared. What adds up gets what was left out at the end, when
//! the programs have said what they bring.

use crate::packet::trend::Trend;
use crate::record::Latencies;
use crate::repeats::{Coupled, Moment, Near, Settle, SoFar};

/// Iterations before the first leap, behind each, and behind each at most until it is judged.
const FEWEST: usize = 4;
const CHECKED: usize = 2;
const MOST_CHECKED: usize = 8;
/// A leap over fewer is not worth it; and one is at most so many times what it is taken from.
const LEAST: u64 = 4;
const MOST_TIMES: u64 = 16;
/// Notes that are kept to go back to.
const MOST_NOTES: usize = 8;
/// What is foreseen must be within this part of the error allowed, as it is judged by more later, and a run in vain costs time.
const CAUTION: f64 = 0.6;
/// An iteration.
#[derive(Debug)]
struct Sample {
    number: u64,
    figures: Vec<f64>,
}

/// What has been left out, and what it is taken from.
#[derive(Debug)]
struct Stretch {
    from: Moment,
    to: Moment,
    /// Iterations that were left out, and those between the moments that were not.
    left_out: u64,
    between: u64,
    /// How often the job iterates, and whether its program is nothing else.
    iterating: (u64, bool),
}

/// What a leap leaves out, and what is foreseen of it.
#[derive(Debug)]
pub(super) struct Leap {
    /// What it is taken from: by number of the notes, and the iteration there.
    note: usize,
    pub since: u64,
    /// Iterations that it is taken from, and their time.
    pub taken_from: u64,
    pub taken_ps: u64,
    /// How often the job iterates, and what is left out of it, with the middle of that.
    times: f64,
    pub iterations: u64,
    middle: f64,
    pub by_ps: u64,
    /// The means of figures.
    foreseen: Vec<f64>,
    /// What of the error comes from ranks that gain on others, which a leap leaves as far apart as they were.
    apart: f64,
    budget: f64,
}

/// Lines through what has been seen of iterations.
#[derive(Debug)]
struct Basis {
    trends: Vec<Trend>,
    /// What errors of figures are parts of; 0: of nothing.
    scales: Vec<f64>,
}

impl Basis {
    /// How wrong the worst figure of the whole run may be by a leap, where that says how wrong a mean of what is left out may be: of a line, the
    /// middle and number of the iterations, and what is foreseen. The longer a leap, the more.
    fn error(&self, leap: &Leap, of: impl Fn(&Trend, f64, f64, f64) -> f64) -> f64 {
        let count = leap.iterations as f64;
        let figures = self.trends.iter().zip(&self.scales).zip(&leap.foreseen);
        let figures = figures.filter(|((_, scale), _)| **scale > 0.0).map(|((trend, scale), &foreseen)| {
            of(trend, leap.middle, count, foreseen) / scale * count / leap.times
        });
        figures.fold(0.0, f64::max) + leap.apart
    }
}

/// What is known of a run's iterations.
#[derive(Debug)]
pub(super) struct Nearly {
    allowed: f64,
    coupled: Coupled,
    samples: Vec<Sample>,
    /// The iteration that began last, and when.
    last: Option<(u64, u64)>,
    so_far: Vec<SoFar>,
    notes: Vec<Moment>,
    /// Samples at which the next note is due, and at which it is asked next whether one promises something.
    due: usize,
    asks: usize,
    /// A leap whose iterations behind it are to be seen, and the samples before it.
    check: Option<(Leap, usize)>,
    stretches: Vec<Stretch>,
    /// Whether the last of them goes on.
    goes_on: bool,
    /// How often the job iterates, and whether its program is nothing else, if it does now.
    iterating: Option<(u64, bool)>,
    known: Near,
    failed: bool,
}

impl Nearly {
    /// With this error allowed, a share, of ranks that wait for each other like that.
    pub fn new(allowed: f64, coupled: Coupled) -> Self {
        Self {
            allowed,
            coupled,
            samples: Vec::new(),
            last: None,
            so_far: Vec::new(),
            notes: Vec::new(),
            due: 0,
            asks: 0,
            check: None,
            stretches: Vec::new(),
            goes_on: false,
            iterating: None,
            known: Near::default(),
            failed: false,
        }
    }

    /// How wrong the result may be, if anything was left out.
    pub fn known(&self) -> Option<Near> {
        (!self.stretches.is_empty()).then_some(self.known)
    }

    /// What was simulated behind a leap is too far from what was foreseen, or too little to tell.
    pub fn has_failed(&self) -> bool {
        self.failed
    }

    /// Whether a leap is still to be judged.
    pub fn checks(&self) -> bool {
        self.check.is_some()
    }

    /// Nothing comes any more, or somebody has ended the run.
    pub fn ends(&mut self, told: bool) {
        match &self.check {
            Some((leap, _)) if told => self.known.error += leap.budget,
            check => self.failed |= check.is_some(),
        }
    }

    /// An iteration has begun at `now_ps`, when jobs had come to that, and their packets too. Whether a moment is to be noted, for
    /// [`Nearly::noted`].
    pub fn begins(
        &mut self,
        number: u64,
        now_ps: u64,
        mut so_far: Vec<SoFar>,
        packets: &[Latencies],
    ) -> bool {
        let last = self.last;
        if last.is_some_and(|(before, _)| number <= before) {
            return false;
        }
        self.last = Some((number, now_ps));
        // Latencies of packets go with those of messages, as a second half.
        so_far.extend(packets.iter().map(|packets| SoFar {
            messages: packets.count(),
            latency_ps: packets.sum_ps(),
            ..SoFar::default()
        }));
        let before = std::mem::replace(&mut self.so_far, so_far);
        let alike = before.len() == self.so_far.len()
            && before.iter().zip(&self.so_far).all(|(then, now)| then.running == now.running);
        if !alike {
            self.start_again();
            return false;
        }
        let took_ps = last.filter(|(before, _)| number == before + 1).map(|(_, since_ps)| now_ps - since_ps);
        let Some(took_ps) = took_ps else { return false };
        let mut figures = vec![took_ps as f64];
        for (then, now) in before.iter().zip(&self.so_far) {
            let messages = (now.messages - then.messages).max(1) as f64;
            figures.push((now.latency_ps - then.latency_ps) as f64 / messages);
            figures.push((now.waits_ps - then.waits_ps) as f64);
        }
        self.samples.push(Sample { number: number - 1, figures });
        self.look_back();
        !self.failed && self.check.is_none() && (self.is_due() || self.promises())
    }

    /// Whether a note is due. Where the last half of the iterations differ too much, it is put off.
    fn is_due(&mut self) -> bool {
        let count = self.samples.len();
        if count < self.due {
            return false;
        }
        let half = self.samples[count - (count / 2).max(FEWEST).min(count)].number;
        let alike = count < FEWEST || self.basis(half).is_none_or(|basis| self.may_do(&basis));
        if !alike {
            self.due = count + (count / 2).max(1);
        }
        alike
    }

    /// What comes now is not like what was.
    fn start_again(&mut self) {
        self.failed |= self.checks();
        (self.due, self.asks, self.goes_on) = (1, FEWEST, false);
        self.samples.clear();
        self.notes.clear();
    }

    /// Iterations were skipped that repeat exactly: the one that follows begins elsewhere.
    pub fn skipped(&mut self) {
        self.last = None;
    }

    /// Judges a leap by what was simulated on both its sides.
    fn look_back(&mut self) {
        let Some((leap, before)) = self.check.take_if(|(_, before)| self.samples.len() >= *before + CHECKED)
        else {
            return;
        };
        let seen = &self.samples[before..];
        let Some(basis) = self.basis(leap.since) else {
            self.failed = true;
            return;
        };
        let mean = |k: usize| seen.iter().map(|sample| sample.figures[k]).sum::<f64>() / seen.len() as f64;
        let part = |(k, scale): (usize, &f64)| match *scale > 0.0 {
            true => (mean(k) - leap.foreseen[k]).abs() / scale * leap.iterations as f64 / leap.times,
            false => 0.0,
        };
        let differs = basis.scales.iter().enumerate().map(part).fold(0.0, f64::max);
        let error = basis.error(&leap, Trend::error);
        if error <= leap.budget {
            self.known.error += error;
            self.known.seen = self.known.seen.max(differs);
            self.due = self.samples.len();
        } else if seen.len() < MOST_CHECKED && differs <= self.allowed {
            self.check = Some((leap, before));
        } else {
            self.known.seen = self.known.seen.max(differs);
            self.failed = true;
        }
    }

    /// Whether a leap seems possible, as far as can be told without a note. That is asked seldom.
    fn promises(&mut self) -> bool {
        if self.samples.len() < self.asks {
            return false;
        }
        self.asks = self.samples.len() + (self.samples.len() / 8).max(1);
        self.notes.iter().any(|note| self.basis(note.bases[0]).is_some_and(|basis| self.may_do(&basis)))
    }

    /// Whether a leap over few iterations is within the error allowed, if nothing drifts.
    fn may_do(&self, basis: &Basis) -> bool {
        let Some((times, _)) = self.iterating else { return false };
        let left = times.saturating_sub(self.samples.last().map_or(0, |sample| sample.number));
        let few = (left / 8).max(LEAST) as f64;
        let figures = basis.trends.iter().zip(&basis.scales).filter(|(_, scale)| **scale > 0.0);
        let errors = figures.map(|(trend, scale)| trend.noise(few) / scale);
        errors.fold(0.0, f64::max) * few / times as f64 <= self.allowed - self.known.error
    }

    /// Lines through what has been seen since an iteration; `None` if that is too little.
    fn basis(&self, since: u64) -> Option<Basis> {
        let samples: Vec<&Sample> = self.samples.iter().filter(|it| it.number >= since).collect();
        if samples.len() < FEWEST {
            return None;
        }
        let trend = |k: usize| {
            let points: Vec<_> = samples.iter().map(|it| (it.number as f64, it.figures[k])).collect();
            Trend::through(&points)
        };
        let trends: Vec<Trend> = (0..samples[0].figures.len()).map(trend).collect::<Option<_>>()?;
        let scales = self.scales(&trends);
        Some(Basis { trends, scales })
    }

    /// A moment at the beginning of an iteration; what can be left out from there, if anything, before `until_ps`.
    pub fn noted(&mut self, now: Moment, until_ps: u64) -> Option<(Leap, Moment)> {
        let count = self.samples.len();
        self.due = count + (count / 2).max(1);
        if let Some(stretch) = self.stretches.last_mut().filter(|_| self.goes_on) {
            stretch.goes_on_to(now.clone());
        }
        self.iterating = now.iterating();
        let tried = (0..self.notes.len()).filter_map(|at| self.leap_since(at, &now, until_ps));
        let best = tried.filter(|_| count >= self.coupled.felt).max_by_key(|leap| leap.iterations);
        let Some(leap) = best else {
            if self.notes.len() == MOST_NOTES {
                let mut at = 0..;
                self.notes.retain(|_| at.next().is_some_and(|at| at % 2 == 0));
            }
            self.notes.push(now);
            return None;
        };
        Some((leap, now))
    }

    /// What can be left out, if it is taken from what has happened since a note.
    fn leap_since(&self, at: usize, now: &Moment, until_ps: u64) -> Option<Leap> {
        let note = &self.notes[at];
        let (since, next) = (note.bases[0], now.bases[0]);
        let (times, _) = self.iterating.filter(|_| note.iterating().is_some())?;
        let basis = self.basis(since)?;
        let each_ps = basis.trends[0].mean;
        let taken_from = self.samples.iter().filter(|it| it.number >= since).count() as u64;
        let left = self.allowed - self.known.error;
        let (budget, parts) = if self.goes_on { (left, 1) } else { (left / 2.0, 2) };
        let apart = if self.coupled.together { 0.0 } else { now.apart(note) };
        let leap = |iterations: u64| Leap {
            note: at,
            since,
            taken_from,
            taken_ps: (taken_from as f64 * each_ps).round() as u64,
            times: times as f64,
            iterations,
            middle: next as f64 + (iterations as f64 - 1.0) / 2.0,
            by_ps: (iterations as f64 * each_ps).round() as u64,
            apart: apart / taken_from as f64 * iterations as f64 / times as f64,
            foreseen: basis.trends.iter().map(|trend| trend.mean).collect(),
            budget,
        };
        // The first leap is a trial: whether anything drifts is seen behind it.
        let of = |trend: &Trend, middle, count, foreseen| match self.goes_on || trend.drifts() {
            true => trend.error(middle, count, foreseen),
            false => trend.noise(count),
        };
        let fit = ((until_ps - 1).saturating_sub(now.now_ps) as f64 / each_ps) as u64;
        let fit = fit.saturating_sub(CHECKED as u64 + 1);
        let most = (now.room[0].saturating_sub(CHECKED as u64) / parts).min(fit);
        let most = most.min(MOST_TIMES * taken_from);
        // A short leap would spend the error that a long one needs.
        let least = most.div_ceil(2).max(LEAST);
        let longest = |may: &dyn Fn(&Leap) -> bool| {
            if most < least || !may(&leap(least)) {
                return None;
            }
            let (mut longest, mut above) = (least, most + 1);
            while above - longest > 1 {
                let middle = longest.midpoint(above);
                *(if may(&leap(middle)) { &mut longest } else { &mut above }) = middle;
            }
            Some(leap(longest))
        };
        let fits = |leap: &Leap| basis.error(leap, of) <= CAUTION * budget;
        longest(&fits)?;
        // The 99th percentile is no sum: both halves must have about the same.
        let halves = self.halves(at, now)?;
        longest(&|leap| fits(leap) && halves * leap.iterations as f64 / leap.times <= budget)
    }

    /// What errors of figures are parts of: of waits all the ranks' time.
    fn scales(&self, trends: &[Trend]) -> Vec<f64> {
        let scale = |(k, trend): (usize, &Trend)| match k.checked_sub(1).filter(|k| k % 2 == 1) {
            Some(k) => trends[0].mean * f64::from(self.so_far[k / 2].running),
            None => trend.mean,
        };
        trends.iter().enumerate().map(scale).collect()
    }

    /// By how much the 99th percentiles of latencies differ between the halves of what has happened since a note, or would if a tenth of what lies
    /// above them came or went, a share; `None`: no note lies between.
    fn halves(&self, at: usize, now: &Moment) -> Option<f64> {
        let of = |moment: &Moment| moment.bases[0];
        let then = &self.notes[at];
        let inner = self.notes.iter().filter(|note| of(note) > of(then) && of(note) < of(now));
        let middle = inner.min_by_key(|note| (2 * of(note)).abs_diff(of(then) + of(now)))?;
        let all = then.latencies.iter().zip(&middle.latencies).zip(&now.latencies);
        let differ = all.filter_map(|((then, middle), now)| {
            let (one, other) = (middle.quantile_since(then, 0.99)?, now.quantile_since(middle, 0.99)?);
            let [below, above] = [now.quantile_since(then, 0.989)?, now.quantile_since(then, 0.991)?];
            Some(one.abs_diff(other).max(above - below) as f64 / one.max(other).max(1) as f64)
        });
        Some(differ.fold(0.0, f64::max))
    }

    /// A leap has been made from there.
    pub fn leapt(&mut self, leap: Leap, mut now: Moment) {
        if !self.goes_on {
            let from = self.notes[leap.note].clone();
            let iterating = self.iterating.expect("what leaps iterates");
            let stretch = Stretch { to: from.clone(), from, left_out: 0, between: 0, iterating };
            self.stretches.push(stretch);
        }
        let stretch = self.stretches.last_mut().expect("one that goes on, or the one just made");
        stretch.goes_on_to(now.clone());
        stretch.left_out += leap.iterations;
        now.bases[0] += leap.iterations;
        stretch.to = now;
        self.goes_on = true;
        self.last = self.last.map(|(number, since_ps)| (number + leap.iterations, since_ps + leap.by_ps));
        self.check = Some((leap, self.samples.len()));
    }

    /// What is to be added at the end of the run, when the job has come to that, in order.
    pub fn settles(&mut self, so_far: &[SoFar]) -> Vec<Settle> {
        // How often the job iterated that does nothing else, less what is yet to be added.
        let left_out: u64 = self.stretches.iter().map(|stretch| stretch.left_out).sum();
        let whole = self.stretches.first().map(|stretch| stretch.iterating);
        let whole = whole.filter(|&(_, whole)| whole && so_far.iter().all(|job| job.running == 0));
        let mut done = whole.map(|(times, _)| times - left_out);
        let mut settle = |Stretch { from, to, left_out, between, .. }: Stretch| {
            let settle = Settle::new((from, to), (left_out, between), done);
            done = done.map(|done| done + left_out);
            settle
        };
        self.stretches.drain(..).map(&mut settle).collect()
    }
}

impl Stretch {
    /// What has been simulated since is a part of it too.
    fn goes_on_to(&mut self, now: Moment) {
        self.between += now.bases[0] - self.to.bases[0];
        self.to = now;
    }
}
