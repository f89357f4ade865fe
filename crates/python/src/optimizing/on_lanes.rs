//! Shortest ways on lanes, searched before up*/down* ways are, where a fabric has more of them than up*/down* ones.

use netloom_bounds::{Bounds, ar_bound, tighten};
use netloom_compose::{self as compose, Kept, Measure};
use netloom_model::{Csr, Routes, StopReason};
use netloom_optimize::{Because, OptimizeOptions, Stop};
use pyo3::prelude::*;

use crate::fabric::Shared;
use crate::loads::Judged;
use crate::optimizing::optimized::Found;
use crate::results::Search;
use crate::run::{Ended, Options, run_until};

/// Loads that differ by less than this part are the same.
const TOLERANCE: f64 = 1e-9;
/// Parts of the time that the bound and the search have; the rest is for up*/down* ways, and for what the result is held against.
const SHARES: (f64, f64) = (0.25, 0.5);

/// What that search found, and how it ended; and the bounds of shortest ways.
pub struct Searched(Ended<Kept>, Bounds);

/// Searches, on at most so many lanes, if the fabric is for it.
///
/// # Errors
/// As [`run_until`].
pub fn search(
    py: Python<'_>,
    shared: &Shared,
    total: &Csr,
    settings: &OptimizeOptions,
    max_lanes: usize,
    options: Options,
) -> PyResult<Option<Searched>> {
    if !shared.other_shortest() {
        return Ok(None);
    }
    let (fabric, structure) = (&shared.fabric, shared.structure());
    let limit = |share: f64| options.time_limit.map(|limit| limit * share);
    let first = Options { time_limit: limit(SHARES.0), threads: options.threads, ..Options::default() };
    let first = Options { interrupt: options.interrupt, ..first };
    let bounds = run_until(py, first, |control| {
        let ar = ar_bound(fabric, structure, shared.shortest(), total, control, None).ok()?;
        let lower = tighten(fabric, structure, shared.shortest(), total, ar.certificate.clone());
        Some(Bounds::with(fabric, structure, total, ar, lower))
    })?;
    // Traffic that no way carries is refused elsewhere.
    let Some(known) = bounds.result else { return Ok(None) };
    let settings = &OptimizeOptions { bound: Some(known.lower.clone()), ..settings.clone() };
    let time_limit = match bounds.stopped {
        Some(StopReason::Interrupted) => Some(0.0),
        _ => limit(SHARES.1),
    };
    let mut ended = run_until(py, Options { time_limit, ..options }, |control| {
        compose::search_on_lanes(fabric, structure, shared.shortest(), total, settings, max_lanes, control)
    })?;
    // How sharp the bound is may be a matter of time, too.
    ended.stopped = bounds.stopped.or(ended.stopped);
    Ok(Some(Searched(ended, known)))
}

impl Searched {
    /// Whether it was ended from outside, by whoever waits.
    pub fn interrupted(&self) -> bool {
        self.0.stopped == Some(StopReason::Interrupted)
    }

    /// Whether no routes with these bounds can be better than what was found.
    pub fn meets(&self, bounds: &Bounds) -> bool {
        let max = self.0.result.best.as_ref().map(|one| one.found.loads.max());
        max.is_some_and(|max| max <= bounds.lower.claim * (1.0 + TOLERANCE))
    }

    /// The better of what was found here and there, and whether it is what was found here: less on the fullest link, or the
    /// same, where that there needs lanes too or this needs none. `began` is what the search there began with.
    pub fn or(&self, shared: &Shared, total: &Csr, there: Found, began: &Routes) -> (Found, bool) {
        let Some(here) = &self.0.result.best else { return (self.not_taken(shared, total, there), false) };
        let mine = Measure::of(&shared.fabric, &here.found.loads);
        let theirs = there.loads.max();
        let as_easy = there.passed.routes.lanes.is_some() || here.found.outcome.routes.lanes.is_none();
        if !(mine.less_than(theirs) || as_easy && mine.value() <= theirs * (1.0 + TOLERANCE)) {
            return (self.not_taken(shared, total, there), false);
        }
        // What the judge does not let pass is nothing that was found.
        let routes = here.found.outcome.routes.clone();
        let Ok(passed) = compose::pass(&shared.fabric, shared.structure(), routes) else {
            return (self.not_taken(shared, total, there), false);
        };
        let bounds = self.1.clone();
        let loads = Judged::new(shared, &passed.routes, total, here.found.loads.clone(), bounds.ways());
        let engine = there.search.engine;
        let search = Search::of(&here.found.outcome, began);
        // It began with an engine's tables, not with those that were named.
        let own = here.found.outcome.changed_because != Because::Nothing;
        let (taken, because) =
            if own { (None, search.because) } else { (Some(here.begun.name()), Some("engine")) };
        let stop = self.or_lanes(mine.value(), search.stop);
        let search = Search { engine, searched: Some(mine.value()), taken, because, stop, ..search };
        (Found { passed, loads, bounds, search }, true)
    }

    /// What was found elsewhere: it would not be what it is if this search had had more time. Where its ways are no up*/down*
    /// ones, as those of an engine, and all are shortest, they stand beside the bounds of these.
    fn not_taken(&self, shared: &Shared, total: &Csr, there: Found) -> Found {
        let stop = self.or_lanes(there.loads.max(), there.search.stop.or(self.0.stopped.map(Stop::from)));
        let there = Found { search: Search { stop, ..there.search }, ..there };
        let shortest = || there.loads.beside(shared, &there.passed.routes, total, self.1.ways());
        match there.loads.within() {
            true => there,
            false => match shortest() {
                loads if loads.within() => Found { loads, bounds: self.1.clone(), ..there },
                _ => there,
            },
        }
    }

    /// What ended the search whose result has this largest load: lanes, if less was found here that needs more of them.
    fn or_lanes(&self, max: f64, stop: Option<Stop>) -> Option<Stop> {
        let less = self.0.result.least < max * (1.0 - TOLERANCE);
        if less && !stop.is_some_and(Stop::is_from_outside) { Some(Stop::Lanes) } else { stop }
    }

    /// How a run ended whose result this search's is.
    pub fn ended(self, there: Ended<Found>) -> Ended<Found> {
        let stopped = self.0.stopped.or(there.stopped.filter(|&why| why == StopReason::Interrupted));
        Ended { result: there.result, stopped, improvements: self.0.improvements }
    }
}
