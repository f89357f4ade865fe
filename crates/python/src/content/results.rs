//! What searches found. Seconds of their histories are kept, but equal results may have taken different times.

use netloom_infer::{Errors, Recovery};
use netloom_model::{BoundClass, Improvement, StopReason};
use netloom_numeric::LpEnd;
use netloom_optimize::{Combined, Stop};
use pyo3::PyClass;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Content, Loaded, Saved, Word};
use crate::inference::bases::PyRecovered;
use crate::loads::PyLinkLoads;
use crate::optimizing::hose::{PyHoseLoads, PyOptimizedHose};
use crate::optimizing::layers::PyOptimizedLayers;
use crate::optimizing::optimized::PyOptimized;
use crate::results::{PyOutcome, Search};
use crate::traffic::PyTraffic;

/// As [`Search`].
#[derive(Serialize, Deserialize)]
struct Told {
    proven_optimal: bool,
    stop: Option<Stop>,
    work: u64,
    changed: Option<u64>,
    because: Option<Word>,
    engine: Option<(Word, f64)>,
    with_lanes: Option<(Word, f64)>,
    taken: Option<Word>,
    searched: Option<f64>,
}

type History = Vec<(f64, Improvement)>;

/// The same without the seconds.
fn timeless(history: &History) -> History {
    history.iter().map(|&(_, step)| (0.0, step)).collect()
}

impl PyOutcome {
    /// What every search tells, and its routes.
    fn saved(&self, py: Python<'_>) -> (Told, Py<PyAny>) {
        let Search { proven_optimal, stop, work, changed, because, engine, with_lanes, taken, searched } =
            self.search;
        let named = |(name, value)| (Word(name), value);
        let told = Told {
            proven_optimal,
            stop,
            work,
            changed,
            because: because.map(Word),
            engine: engine.map(named),
            with_lanes: with_lanes.map(named),
            taken: taken.map(Word),
            searched,
        };
        (told, self.routes.clone_ref(py).into_any())
    }

    fn loaded(told: Told, loaded: &Loaded) -> PyResult<Self> {
        let named = |(name, value): (Word, f64)| (name.0, value);
        let search = Search {
            proven_optimal: told.proven_optimal,
            stop: told.stop,
            work: told.work,
            changed: told.changed,
            because: told.because.map(|word| word.0),
            engine: told.engine.map(named),
            with_lanes: told.with_lanes.map(named),
            taken: told.taken.map(|word| word.0),
            searched: told.searched,
        };
        Ok(Self { routes: loaded.part(0)?, search })
    }
}

/// The outcome beneath a result.
fn outcome<T>(slf: &Bound<'_, T>) -> PyResult<(Told, Py<PyAny>)>
where
    T: PyClass<BaseType = PyOutcome>,
{
    Ok(slf.as_any().cast::<PyOutcome>()?.get().saved(slf.py()))
}

impl Content for PyOutcome {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let (told, routes) = slf.get().saved(slf.py());
        Saved::new(&told, vec![routes])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        Py::new(py, Self::loaded(loaded.state()?, loaded)?)
    }
}

impl PyOptimized {
    fn saved(slf: &Bound<'_, Self>, history: &History) -> PyResult<Saved> {
        let (told, routes) = outcome(slf)?;
        Saved::new(&(told, history), vec![routes, slf.get().loads.clone_ref(slf.py()).into_any()])
    }
}

impl Content for PyOptimized {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Self::saved(slf, &slf.get().history)
    }

    fn told(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Self::saved(slf, &timeless(&slf.get().history))
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let (told, history): (Told, History) = loaded.state()?;
        Py::new(py, (Self { loads: loaded.part(1)?, history }, PyOutcome::loaded(told, loaded)?))
    }
}

#[derive(Serialize, Deserialize)]
struct Layers {
    told: Told,
    /// Names and weights.
    layers: Vec<(String, f64)>,
    objective: f64,
    objective_bound: f64,
    class: BoundClass,
    history: History,
    combined: Combined,
}

impl PyOptimizedLayers {
    fn saved(slf: &Bound<'_, Self>, history: History) -> PyResult<Saved> {
        let (py, own, (told, routes)) = (slf.py(), slf.get(), outcome(slf)?);
        let state = Layers {
            told,
            layers: own.layers.iter().map(|(name, weight, _)| (name.clone(), *weight)).collect(),
            objective: own.objective,
            objective_bound: own.objective_bound,
            class: own.class,
            history,
            combined: own.combined.clone(),
        };
        let loads = own.layers.iter().map(|(_, _, loads)| loads.clone_ref(py).into_any());
        Saved::new(&state, std::iter::once(routes).chain(loads).collect())
    }
}

impl Content for PyOptimizedLayers {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Self::saved(slf, slf.get().history.clone())
    }

    fn told(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Self::saved(slf, timeless(&slf.get().history))
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let state: Layers = loaded.state()?;
        let sound = state.combined.is_of(state.layers.len()) && loaded.count() == state.layers.len() + 1;
        let named = loaded.sound(state.layers, sound)?.into_iter().enumerate();
        let layers =
            named.map(|(at, (name, weight))| Ok((name, weight, loaded.part::<PyLinkLoads>(at + 1)?)));
        let own = Self {
            layers: layers.collect::<PyResult<_>>()?,
            objective: state.objective,
            objective_bound: state.objective_bound,
            class: state.class,
            history: state.history,
            combined: state.combined,
        };
        Py::new(py, (own, PyOutcome::loaded(state.told, loaded)?))
    }
}

#[derive(Serialize, Deserialize)]
struct OfHose {
    told: Told,
    background_worst: f64,
    lower_bound: f64,
    class: BoundClass,
    outside: Option<netloom_bounds::Outside>,
    bound_at: String,
    rounds: usize,
}

impl Content for PyOptimizedHose {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let (py, own, (told, routes)) = (slf.py(), slf.get(), outcome(slf)?);
        let state = OfHose {
            told,
            background_worst: own.background_worst,
            lower_bound: own.lower_bound,
            class: own.class,
            outside: own.outside.clone(),
            bound_at: own.bound_at.clone(),
            rounds: own.rounds,
        };
        let (worst, matrix) = (own.worst.clone_ref(py).into_any(), own.worst_matrix.clone_ref(py).into_any());
        Saved::new(&state, vec![routes, worst, matrix])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let state: OfHose = loaded.state()?;
        let own = Self {
            worst: loaded.part::<PyHoseLoads>(1)?,
            worst_matrix: loaded.part::<PyTraffic>(2)?,
            background_worst: state.background_worst,
            lower_bound: state.lower_bound,
            class: state.class,
            outside: state.outside,
            bound_at: state.bound_at,
            rounds: state.rounds,
        };
        Py::new(py, (own, PyOutcome::loaded(state.told, loaded)?))
    }
}

#[derive(Serialize, Deserialize)]
struct Recovering {
    bytes: Vec<f64>,
    possible: usize,
    steps: usize,
    error: f64,
    /// Whether the tolerance is kept, or else whether the caller said stop.
    end: (bool, bool),
    /// Of pairs, of sums of leaves.
    errors: Option<(f64, f64)>,
    pairs: usize,
    stopped: Option<StopReason>,
}

impl Content for PyRecovered {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let own = slf.get();
        let Recovery { bytes, possible, steps, error, end } = &own.found;
        let state = Recovering {
            bytes: bytes.clone(),
            possible: *possible,
            steps: *steps,
            error: *error,
            end: (*end == LpEnd::Optimal, *end == LpEnd::Stopped),
            errors: own.errors.as_ref().map(|errors| (errors.pairs, errors.leaf_sums)),
            pairs: own.pairs,
            stopped: own.stopped,
        };
        Saved::new(&state, vec![own.traffic.clone_ref(slf.py()).into_any()])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let state: Recovering = loaded.state()?;
        let Recovering { bytes, possible, steps, error, errors, pairs, stopped, .. } = state;
        let end = match state.end {
            (true, _) => LpEnd::Optimal,
            (false, true) => LpEnd::Stopped,
            (false, false) => LpEnd::Steps,
        };
        let found = Recovery { bytes, possible, steps, error, end };
        let errors = errors.map(|(pairs, leaf_sums)| Errors { pairs, leaf_sums });
        Py::new(py, Self { traffic: loaded.part::<PyTraffic>(0)?, found, errors, pairs, stopped })
    }
}
