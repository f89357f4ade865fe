//! Shortest ways on lanes, searched before up*/down* ways are, where a fabric is no tree.

use netloom_bounds::Bounds;
use netloom_compose::{self as compose, Measure, OnLanes, on_lanes};
use netloom_model::{Csr, Routes, StopReason};
use netloom_optimize::{Because, OptimizeOptions, Stop};
use netloom_routing::Engine;
use pyo3::prelude::*;

use crate::fabric::Shared;
use crate::loads::Judged;
use crate::optimizing::optimize::passed;
use crate::optimizing::optimized::Found;
use crate::results::Search;
use crate::run::{Ended, Options, run_until};

/// Loads that differ by less than this part are the same.
const TOLERANCE: f64 = 1e-9;
/// Part of the time that the search has; the rest is for up*/down* ways, and for what the result is held against.
const SHARE: f64 = 0.7;

/// What that search found, and how it ended.
pub struct Searched(Ended<Option<OnLanes>>);

/// Searches, if the fabric is for it.
///
/// # Errors
/// As [`run_until`].
pub fn search(
    py: Python<'_>,
    shared: &Shared,
    total: &Csr,
    settings: &OptimizeOptions,
    options: Options,
) -> PyResult<Option<Searched>> {
    if !on_lanes::suits(shared.structure()) {
        return Ok(None);
    }
    let options = Options { time_limit: options.time_limit.map(|limit| limit * SHARE), ..options };
    let ended = run_until(py, options, |control| {
        let (fabric, structure, paths) = (&shared.fabric, shared.structure(), shared.shortest());
        compose::search_on_lanes(fabric, structure, paths, total, settings, on_lanes::LANES, control)
    })?;
    Ok(Some(Searched(ended)))
}

impl Searched {
    /// Whether it was ended from outside, by whoever waits.
    pub fn interrupted(&self) -> bool {
        self.0.stopped == Some(StopReason::Interrupted)
    }

    /// Whether no routes with these bounds can be better than what was found.
    pub fn meets(&self, bounds: &Bounds) -> bool {
        let max = self.0.result.as_ref().map(|one| one.found.loads.max());
        max.is_some_and(|max| max <= bounds.lower.claim * (1.0 + TOLERANCE))
    }

    /// The better of what was found here and there, and whether it is what was found here: less on the fullest link, or the
    /// same, where that there needs lanes too. `began` is what the search there began with.
    ///
    /// # Errors
    /// If routes can deadlock: a fault.
    pub fn or(
        &self,
        shared: &Shared,
        total: &Csr,
        there: Found,
        began: &Routes,
    ) -> Result<(Found, bool), String> {
        let Some(here) = &self.0.result else { return Ok((self.not_taken(there), false)) };
        let (fabric, structure) = (&shared.fabric, shared.structure());
        let mine = Measure::of(fabric, &here.found.loads);
        let theirs = there.loads.max();
        let on_lanes = there.passed.routes.lanes.is_some();
        if !(mine.less_than(theirs) || on_lanes && mine.value() <= theirs * (1.0 + TOLERANCE)) {
            return Ok((self.not_taken(there), false));
        }
        let ar = here.found.ar.clone().expect("bounds are computed there");
        let bounds = Bounds::with(fabric, structure, total, ar, here.found.bound.clone());
        let passed = passed(shared, here.found.outcome.routes.clone())?;
        let loads = Judged::new(shared, &passed.routes, total, here.found.loads.clone(), bounds.ways());
        let engine = there.search.engine;
        let search = Search::of(&here.found.outcome, began);
        // It began with tables of `layers`, not with those that were named.
        let own = here.found.outcome.changed_because != Because::Nothing;
        let (taken, because) =
            if own { (None, search.because) } else { (Some(Engine::Layers.name()), Some("engine")) };
        let search = Search { engine, searched: Some(mine.value()), taken, because, ..search };
        Ok((Found { passed, loads, bounds, search }, true))
    }

    /// What was found elsewhere: it would not be what it is if this search had had more time.
    fn not_taken(&self, there: Found) -> Found {
        let stop = there.search.stop.or(self.0.stopped.map(Stop::from));
        Found { search: Search { stop, ..there.search }, ..there }
    }

    /// How a run ended whose result this search's is.
    pub fn ended(self, there: Ended<Found>) -> Ended<Found> {
        let stopped = self.0.stopped.or(there.stopped.filter(|&why| why == StopReason::Interrupted));
        Ended { result: there.result, stopped, improvements: self.0.improvements }
    }
}
