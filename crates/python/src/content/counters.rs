//! Counters: intervals, and the readings behind them.

use std::sync::Arc;

use netloom_model::{Counters, Finding, Interval, Reading};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::words::kept;
use super::{Content, Loaded, Saved, Word};
use crate::counters::PyCounters;
use crate::fabric::PyFabric;

#[derive(Serialize, Deserialize)]
struct State {
    kind: String,
    tick_ps: Option<u64>,
    intervals: Vec<Interval>,
    readings: Vec<Reading>,
    told: bool,
    notes: Vec<String>,
    foreign: Option<String>,
    counted: Option<Reading>,
    errors: Vec<(Word, String)>,
}

impl Content for PyCounters {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let own = slf.get();
        let state = State {
            kind: own.kind.clone(),
            tick_ps: own.counters.tick_ps(),
            intervals: own.counters.intervals().to_vec(),
            readings: own.readings.clone(),
            told: own.told,
            notes: own.notes.clone(),
            foreign: own.foreign.clone(),
            counted: own.counted.clone(),
            errors: kept(own.errors.iter().map(|finding| (finding.kind, finding.text.as_str()))),
        };
        Saved::new(&state, vec![own.shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = Arc::clone(&loaded.part::<PyFabric>(0)?.get().shared);
        let State { kind, tick_ps, intervals, readings, told, notes, foreign, counted, errors } =
            loaded.state()?;
        let fabric = &shared.fabric;
        let mut counters = Counters::new(fabric, tick_ps);
        for interval in intervals {
            counters.push(interval).map_err(|why| loaded.damaged(why))?;
        }
        let sound = readings.iter().chain(&counted).all(|reading| reading.is_sound(fabric));
        let readings = loaded.sound(readings, sound)?;
        let errors = errors.into_iter().map(|(kind, text)| Finding { kind: kind.0, text }).collect();
        Py::new(py, Self { shared, kind, counters, readings, told, notes, foreign, counted, errors })
    }
}
