//! Finds where a run repeats, and moves it on.
//!
//! At the beginning of each iteration it is noted how long the last one took and what happened in it: that costs nothing. Once
//! these have repeated, the state is looked at as a whole, and again a period later. If both are equal, what lies between them
//! happens again and again while programs do the same, and the run is moved on by as many whole periods as fit. If they are
//! not, the next look comes after twice as many iterations, so that looks stay rare where a run only seems to repeat.

use crate::calendar::END_PS;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::near::Nearly;
use crate::packet::network::Network;
use crate::program::Split;
use crate::repeats::{Iteration, Moment, Skipped, Visit};

/// Iterations of the longest period.
const LONGEST: usize = 32;

/// An iteration: how long it took, what happened in it.
type Sign = (u64, u64, u64);

/// What is known of a run's iterations.
#[derive(Debug)]
pub(super) struct Repeating {
    /// The job, where its last iteration began, and what had happened by then.
    job: usize,
    last: Option<Sign>,
    signs: Vec<Sign>,
    /// A moment to come back to: the iteration, and after how many to compare.
    earlier: Option<(Moment, u64, usize)>,
    /// Iterations to let go by, and how many the next time.
    wait: u64,
    next_wait: u64,
    /// What came of it.
    skipped: Skipped,
    /// Whether a state may come back at all.
    may_equal: bool,
    /// Where an error is allowed.
    nearly: Option<Nearly>,
}

impl Repeating {
    /// Of a run that has not begun, with this error allowed; `Err`: nothing can be skipped in it.
    pub fn new<C: Choice, P: Split, O: Observer>(
        network: &mut Network<C, P, O>,
        error: f64,
    ) -> Result<Self, Skipped> {
        match network.unfit(error > 0.0) {
            Some(reason) => return Err(Skipped::nothing(reason)),
            None => network.program.iterates().map_err(Skipped::nothing)?,
        }
        if let Some(births) = network.hosts.births_mut() {
            births.keep_rests();
        }
        Ok(Self {
            job: 0,
            last: None,
            signs: Vec::new(),
            earlier: None,
            wait: 0,
            next_wait: 1,
            skipped: Skipped::nothing("no repeat was found"),
            may_equal: network.unfit(false).is_none(),
            nearly: (error > 0.0)
                .then(|| network.program.coupled())
                .flatten()
                .map(|coupled| Nearly::new(error, coupled)),
        })
    }

    /// What was skipped.
    pub fn skipped(self) -> Skipped {
        self.skipped
    }

    /// Nothing comes any more, or somebody has ended the run.
    pub fn is_over(&mut self, told: bool) {
        self.nearly.iter_mut().for_each(|nearly| nearly.ends(told));
    }

    /// The result would be more wrong than is allowed: the run is in vain.
    pub fn has_failed(&self) -> bool {
        self.nearly.as_ref().is_some_and(Nearly::has_failed)
    }

    /// Nothing, as leaps go wrong.
    pub fn without_leaps(self) -> Skipped {
        let near = self.nearly.as_ref().and_then(Nearly::known);
        Skipped {
            near,
            ..Skipped::nothing("iterations that were simulated to see were others than foreseen")
        }
    }

    /// The run has ended: adds what was left out and is only near.
    pub fn ends<C: Choice, P: Split, O: Observer>(&mut self, network: &mut Network<C, P, O>) {
        let Some(nearly) = &mut self.nearly else { return };
        self.skipped.near = nearly.known();
        for settle in nearly.settles(&network.program.so_far()) {
            network.visit(&mut Visit::settle(settle));
        }
    }

    /// An iteration has begun; the run does not go on to `until_ps`.
    pub fn begins<C: Choice, P: Split, O: Observer>(
        &mut self,
        network: &mut Network<C, P, O>,
        until_ps: u64,
    ) {
        while let Some(begun) = network.program.begun() {
            let noted = self.nearly.as_mut().is_some_and(|nearly| {
                nearly.begins(begun.number, network.now, network.program.so_far(), network.packet_latencies())
            });
            if self.may_equal && begun.leads && !self.nearly.as_ref().is_some_and(Nearly::checks) {
                self.seeks(network, begun, until_ps);
            }
            // What may repeat exactly has the first go.
            let first = self.may_equal && self.next_wait == 1 && self.period().is_some();
            if noted && self.earlier.is_none() && !first {
                self.leaps(network, until_ps);
            }
        }
    }

    /// Leaves iterations out that are nearly like those before, if there are.
    fn leaps<C: Choice, P: Split, O: Observer>(&mut self, network: &mut Network<C, P, O>, until_ps: u64) {
        let mut visit = Visit::note(network.now);
        network.visit(&mut visit);
        let (now, Some(nearly)) = (visit.seen(), &mut self.nearly) else { return };
        let Some((leap, now)) = nearly.noted(now, until_ps.min(END_PS / 2)) else { return };
        let skipped = &mut self.skipped;
        if skipped.reason.take().is_some() {
            (skipped.job, skipped.from_iteration) = (Some(0), leap.since);
            (skipped.period_iterations, skipped.period_ps) = (leap.taken_from, leap.taken_ps);
        }
        skipped.iterations += leap.iterations;
        skipped.time_ps += leap.by_ps;
        network.visit(&mut Visit::leap(&now, leap.by_ps, vec![leap.iterations]));
        nearly.leapt(leap, now);
        self.last = None;
        self.signs.clear();
    }

    /// Looks for a state that comes back.
    fn seeks<C: Choice, P: Split, O: Observer>(
        &mut self,
        network: &mut Network<C, P, O>,
        Iteration { job, number, .. }: Iteration,
        until_ps: u64,
    ) {
        if self.job != job {
            self.forget(network);
            self.job = job;
        }
        let so_far = (network.now, network.events, network.received);
        if let Some(last) = self.last.replace(so_far) {
            self.signs.push((so_far.0 - last.0, so_far.1 - last.1, so_far.2 - last.2));
        }
        if let Some((before, from, period)) = self.earlier.take() {
            if (number - from) < period as u64 {
                self.earlier = Some((before, from, period));
                return;
            }
            let now = look(network);
            let whole = network.hosts.births().is_none_or(|births| births.is_written_down());
            if whole && number - from == period as u64 && now.equals(&before) {
                self.skip(network, (before, now), from, until_ps);
            } else {
                (self.wait, self.next_wait) = (self.next_wait, 2 * self.next_wait);
            }
            write_down(network, false);
            return;
        }
        if self.wait > 0 {
            self.wait -= 1;
            return;
        }
        if let Some(period) = self.period() {
            self.earlier = Some((look(network), number, period));
            write_down(network, true);
        }
    }

    /// How many iterations are repeated by as many before, to all appearance: the longer it lasts, the more often it was wrong.
    fn period(&self) -> Option<usize> {
        let (signs, count) = (&self.signs, self.signs.len());
        let lasts = self.next_wait.min(2 * LONGEST as u64) as usize;
        (1..=LONGEST.min(count / 2)).find(|&period| {
            let last = lasts.clamp(period, count - period);
            signs[count - last..] == signs[count - last - period..count - period]
        })
    }

    fn skip<C: Choice, P: Split, O: Observer>(
        &mut self,
        network: &mut Network<C, P, O>,
        (before, now): (Moment, Moment),
        from: u64,
        until_ps: u64,
    ) {
        let period_ps = now.now_ps - before.now_ps;
        let iterations = |job: usize| now.bases[job] - before.bases[job];
        // Before a job begins, nothing of it is looked at.
        let until_ps =
            network.program.begins_ps(now.now_ps).map_or(until_ps, |begins_ps| until_ps.min(begins_ps));
        // Time must pass, and what is beyond the end of time fails where it does.
        let fit = (until_ps.min(END_PS / 2) - 1).saturating_sub(now.now_ps).checked_div(period_ps);
        let times = now.most_times(&before).min(fit.unwrap_or(0));
        if times == 0 {
            return;
        }
        let skipped = &mut self.skipped;
        if skipped.reason.take().is_some() {
            (skipped.job, skipped.from_iteration) = (Some(self.job), from);
            (skipped.period_iterations, skipped.period_ps) = (iterations(self.job), period_ps);
        }
        // Another job may go on alone.
        skipped.iterations += times * skipped.job.map_or(0, iterations);
        skipped.time_ps += times * period_ps;
        let mut visit = Visit::advance(before, &now, times);
        network.visit(&mut visit);
        if let Some(births) = network.hosts.births_mut() {
            births.repeat(times, period_ps);
        }
        if let Some(nearly) = &mut self.nearly {
            nearly.skipped();
        }
        self.last = None;
        self.signs.clear();
    }

    fn forget<C: Choice, P: Split, O: Observer>(&mut self, network: &mut Network<C, P, O>) {
        (self.last, self.earlier, self.wait, self.next_wait) = (None, None, 0, 1);
        self.signs.clear();
        write_down(network, false);
    }
}

fn look<C: Choice, P: Split, O: Observer>(network: &mut Network<C, P, O>) -> Moment {
    let mut visit = Visit::look(network.now);
    network.visit(&mut visit);
    visit.seen()
}

fn write_down<C: Choice, P: Split, O: Observer>(network: &mut Network<C, P, O>, wanted: bool) {
    if let Some(births) = network.hosts.births_mut() {
        births.write_down(wanted);
    }
}
