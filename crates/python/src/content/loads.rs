//! Loads of links, and certificates: these as their files have them.

use std::sync::Arc;

use netloom_bounds::{AnyBound, ArBound, Bounds, Outside, Standing};
use netloom_formats as formats;
use netloom_model::{Certificate, StopReason};
use netloom_routing::LinkLoads;
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Content, Loaded, Saved};
use crate::fabric::{PyFabric, Shared};
use crate::loads::{PyCertificate, PyLinkLoads};
use crate::optimizing::hose::PyHoseLoads;

#[derive(Serialize, Deserialize)]
struct State {
    load: Vec<f64>,
    /// Lower, upper, whether they meet, and the work.
    ar: (f64, f64, bool, u64),
    ar_proof: String,
    lower_proof: String,
    any: (f64, String),
    outside: Option<Outside>,
    within: bool,
    stopped: Option<StopReason>,
}

fn text(shared: &Shared, certificate: &Certificate) -> String {
    let order = shared.structure().own_order();
    formats::write_certificate(&shared.fabric, certificate, order.as_deref())
}

fn proof(loaded: &Loaded, shared: &Shared, text: &str) -> PyResult<Certificate> {
    let order = shared.structure().own_order();
    let read = formats::read_certificate(text.as_bytes(), "the pickle", &shared.fabric, order.as_deref());
    read.map_err(|why| loaded.damaged(why))
}

fn fabric(loaded: &Loaded) -> PyResult<Arc<Shared>> {
    Ok(Arc::clone(&loaded.part::<PyFabric>(0)?.get().shared))
}

impl Content for PyCertificate {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let own = slf.get();
        Saved::new(&text(&own.shared, &own.certificate), vec![own.shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = fabric(loaded)?;
        let certificate = proof(loaded, &shared, &loaded.state::<String>()?)?;
        Py::new(py, Self { certificate, shared })
    }
}

impl Content for PyLinkLoads {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Self { loads, bounds, standing, stopped, shared } = slf.get();
        let state = State {
            load: loads.load.clone(),
            ar: (bounds.ar.lower, bounds.ar.upper, bounds.ar.exact, bounds.ar.work),
            ar_proof: text(shared, &bounds.ar.certificate),
            lower_proof: text(shared, &bounds.lower),
            any: (bounds.any.claim, bounds.any.place.clone()),
            outside: standing.outside.clone(),
            within: standing.within,
            stopped: *stopped,
        };
        Saved::new(&state, vec![shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = fabric(loaded)?;
        let state: State = loaded.state()?;
        let (lower, upper, exact, work) = state.ar;
        let certificate = proof(loaded, &shared, &state.ar_proof)?;
        let bounds = Bounds {
            ar: ArBound { lower, upper, exact, certificate, work },
            lower: proof(loaded, &shared, &state.lower_proof)?,
            any: AnyBound { claim: state.any.0, place: state.any.1 },
        };
        let standing = Standing { outside: state.outside, within: state.within };
        let sound = state.load.len() == shared.fabric.link_count();
        let loads = loaded.sound(LinkLoads { load: state.load }, sound)?;
        Py::new(py, Self { loads, bounds, standing, stopped: state.stopped, shared })
    }
}

impl Content for PyHoseLoads {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        let Self { worst, shared } = slf.get();
        Saved::new(&worst.load, vec![shared.object(slf.py())?])
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let shared = fabric(loaded)?;
        let load: Vec<f64> = loaded.state()?;
        let sound = load.len() == shared.fabric.link_count();
        Py::new(py, Self { worst: loaded.sound(LinkLoads { load }, sound)?, shared })
    }
}
