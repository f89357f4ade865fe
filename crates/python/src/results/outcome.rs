//! `netloom.Outcome`: what every search tells of itself; what it was for is in the classes that extend it.

use std::path::PathBuf;

use netloom_compose::{Best, Passed};
use netloom_model::{Routes, StopReason};
use netloom_optimize::{Because, Outcome, Status, Stop};
use pyo3::prelude::*;

use crate::fabric::PyFabric;
use crate::routes::PyRoutes;

/// What routes in force are called.
const TODAY: &str = "today";

/// How a search went.
#[derive(Default)]
pub struct Search {
    /// What was minimised meets its lower bound.
    pub proven_optimal: bool,
    /// What ended it.
    pub stop: Option<Stop>,
    /// Units of work done.
    pub work: u64,
    /// Entries that differ from the routes it began with; none where the two have no such number.
    pub changed: Option<u64>,
    /// What was gained on those, where the method says so.
    pub because: Option<&'static str>,
    /// The best sound engine and what is minimised with it, where engines were asked.
    pub engine: Option<(&'static str, f64)>,
    /// The best engine whose routes need lanes and were not taken for that, and what is minimised with it.
    pub with_lanes: Option<(&'static str, f64)>,
    /// Whose routes these are, if not the search's: `today`, or an engine.
    pub taken: Option<&'static str>,
    /// What was minimised with the search's own routes, where they were held against others.
    pub searched: Option<f64>,
}

impl Search {
    /// Of the optimiser's outcome, and the routes it began with.
    pub fn of(outcome: &Outcome, began: &Routes) -> Self {
        Self {
            proven_optimal: outcome.proven_optimal,
            stop: outcome.stop,
            work: outcome.work,
            changed: changed(&outcome.routes, began),
            because: Some(outcome.changed_because.name()),
            ..Self::default()
        }
    }

    /// The same with what the portfolio says; `began` is what the search began with.
    pub fn held(self, best: &Best, searched: f64, began: &Routes) -> Self {
        let searched = Some(searched);
        let Some((name, passed)) = &best.taken else {
            return Self { engine: best.engine, with_lanes: best.with_lanes, searched, ..self };
        };
        let stays = *name == TODAY;
        Self {
            proven_optimal: false,
            changed: if stays { Some(0) } else { changed(&passed.routes, began) },
            because: Some(if stays { Because::Nothing.name() } else { "engine" }),
            engine: best.engine,
            with_lanes: best.with_lanes,
            searched,
            taken: Some(name),
            ..self
        }
    }
}

/// Routes that a search found, and how it went.
#[pyclass(frozen, weakref, subclass, name = "Outcome", module = "netloom._core")]
pub struct PyOutcome {
    pub(crate) routes: Py<PyRoutes>,
    pub(crate) search: Search,
}

impl PyOutcome {
    /// Of routes on a fabric, which have passed the gate; a stop from outside is the run's own.
    ///
    /// # Errors
    /// If Python is out of memory.
    pub fn new(
        py: Python<'_>,
        passed: Passed,
        fabric: &PyFabric,
        stopped: Option<StopReason>,
        search: Search,
    ) -> PyResult<Self> {
        let stop = stopped.map(Stop::from).or(search.stop);
        // What was cut short claims no more than it was asked to find.
        let proven_optimal = search.proven_optimal && stop != Some(Stop::Interrupted);
        let routes = Py::new(py, PyRoutes::passed(passed, &fabric.shared))?;
        Ok(Self { routes, search: Search { stop, proven_optimal, ..search } })
    }
}

impl PyOutcome {
    /// How it ended, for representations.
    pub fn words(&self) -> &'static str {
        if self.search.stop == Some(Stop::Interrupted) { "interrupted" } else { self.status() }
    }
}

#[pymethods]
impl PyOutcome {
    /// The routes.
    #[getter]
    fn routes(&self, py: Python<'_>) -> Py<PyRoutes> {
        self.routes.clone_ref(py)
    }

    /// Whether what was minimised meets its lower bound.
    #[getter]
    fn proven_optimal(&self) -> bool {
        self.search.proven_optimal
    }

    /// How it ended: `optimal`, proven; `exhausted`, nothing was left to try; or what ended it, `stopped: time`, `work`, `interrupted`,
    /// `target` (by what the search knows, nothing better is possible between switches) or `lanes` (what carries less on the fullest link
    /// was found, and needs more lanes than there may be).
    #[getter]
    fn status(&self) -> &'static str {
        Status::of(self.search.proven_optimal, self.search.stop).name()
    }

    /// Why this is only the best so far; `None` if the search ended by itself.
    #[getter]
    fn stopped(&self) -> Option<&'static str> {
        match self.search.stop? {
            Stop::Time => Some("time-limit"),
            Stop::Interrupted => Some("interrupted"),
            Stop::Work => (!self.search.proven_optimal).then_some("work"),
            Stop::Target => None,
            Stop::Lanes => Some("lanes"),
        }
    }

    /// Whether the same call gives the same routes again: nothing but the work budget ended the search.
    #[getter]
    fn reproducible(&self) -> bool {
        !self.search.stop.is_some_and(Stop::is_from_outside)
    }

    /// Units of work done: the reproducible budget.
    #[getter]
    fn work(&self) -> u64 {
        self.search.work
    }

    /// Entries that differ from the routes it began with.
    #[getter]
    fn changed_entries(&self) -> Option<u64> {
        self.search.changed
    }

    /// What was gained on the routes it began with: bound, tail, nothing; engine, where an engine's routes were better than all that the
    /// search found; `None` where the method does not say (AFAR, one colouring).
    #[getter]
    fn changed_because(&self) -> Option<&'static str> {
        self.search.because
    }

    /// The best sound engine on this fabric, and what was minimised with its routes; `None` where no engine was asked.
    #[getter]
    fn best_engine(&self) -> Option<(&'static str, f64)> {
        self.search.engine
    }

    /// The best engine whose routes need lanes, and what was minimised with them, where `lanes` is false and they are not taken; else `None`.
    #[getter]
    fn with_lanes(&self) -> Option<(&'static str, f64)> {
        self.search.with_lanes
    }

    /// What was minimised with the search's own routes, before they were held against engines and `today`; `None` where they were not.
    #[getter]
    fn searched(&self) -> Option<f64> {
        self.search.searched
    }

    /// Whose routes these are, where the search found none as good: `today`, or an engine; else `None`.
    #[getter]
    fn taken_from(&self) -> Option<&'static str> {
        self.search.taken
    }

    fn __repr__(&self) -> String {
        format!("<netloom.Outcome: {}>", self.words())
    }

    /// Writes the routes as OpenSM's `file` engine reads them.
    ///
    /// Parameters
    /// ----------
    /// path : path
    ///     The file; it is replaced whole or not at all.
    /// allow_unreachable : bool, default False
    ///     Write routes that lose pairs of hosts which working cables join.
    /// sl2vl : path, optional
    ///     Where the SL-to-VL tables are written that the routes need, if they do; see `Routes.write`.
    /// sl : path, optional
    ///     Where the service levels of pairs are written, if they need them.
    ///
    /// Raises
    /// ------
    /// RoutingError, OSError
    ///     If they can deadlock without lanes that nobody writes, lose pairs of hosts that cables join, no such file can hold them, or
    ///     it cannot be written.
    #[pyo3(signature = (path, *, allow_unreachable = false, sl2vl = None, sl = None))]
    fn write(
        &self,
        py: Python<'_>,
        path: PathBuf,
        allow_unreachable: bool,
        sl2vl: Option<PathBuf>,
        sl: Option<PathBuf>,
    ) -> PyResult<()> {
        self.routes.get().write(py, path, allow_unreachable, sl2vl, sl, false, false)
    }
}

/// Entries in which two tables of one fabric differ.
pub fn changed(routes: &Routes, before: &Routes) -> Option<u64> {
    let (new, old) = (routes.lft()?, before.lft()?);
    (new.dests() == old.dests() && new.switches() == old.switches()).then(|| new.changed_entries(old))
}
