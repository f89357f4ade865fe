//! What objects are made of: their pickles, equality and hashes.
//!
//! An object is some bytes ([postcard](https://postcard.jamesmunns.com/wire-format.html) of its numbers and words) and some *parts*, other objects of
//! netloom that it holds. Equal bytes and equal parts are equal objects, hashes are of the bytes, and a pickle is a call of `unpickled` with both.
//! Parts are Python's own to pickle, so that a fabric that several results share is there once.
//!
//! Invariant: whoever loads an object checks what its code relies on (lengths, numbers of nodes and links), as a reader of a file does.
//! A sum tells damage by accident; Python's pickles themselves are for those whom one trusts.

mod counters;
mod fabric;
mod loads;
mod reports;
mod results;
mod routes;
mod scenario;
mod traffic;
mod words;

use std::hash::{DefaultHasher, Hash, Hasher};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::pyclass::boolean_struct::True;
use pyo3::types::{PyBytes, PyTuple};
use pyo3::{PyClass, PyTypeInfo};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::check::{PyCheckReport, PyVerdict};
use crate::counters::PyCounters;
use crate::errors;
use crate::fabric::PyFabric;
use crate::inference::bases::PyRecovered;
use crate::inference::infer::PyInferred;
use crate::jobs::PyJob;
use crate::lanes::PyLaneTables;
use crate::loads::{PyCertificate, PyLinkLoads};
use crate::optimizing::hose::{PyHoseLoads, PyOptimizedHose};
use crate::optimizing::layers::PyOptimizedLayers;
use crate::optimizing::mix::PyMixReport;
use crate::optimizing::optimized::PyOptimized;
use crate::results::PyOutcome;
use crate::routes::PyRoutes;
use crate::simulating::sampled::PySampled;
use crate::simulating::scenario::PyScenario;
use crate::simulating::simulate::PySimulation;
use crate::sums::PyHose;
use crate::traffic::PyTraffic;

pub use words::Word;

/// Bytes and parts of an object.
pub struct Saved {
    data: Vec<u8>,
    parts: Vec<Py<PyAny>>,
}

impl Saved {
    /// # Errors
    /// If a path in it is no Unicode.
    pub fn new(state: &impl Serialize, parts: Vec<Py<PyAny>>) -> PyResult<Self> {
        let data =
            postcard::to_extend(state, Vec::new()).map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Self { data, parts })
    }
}

/// Bytes and parts that an object is to be made of.
pub struct Loaded<'a, 'py> {
    name: &'static str,
    data: &'a [u8],
    parts: &'a Bound<'py, PyTuple>,
}

impl<'py> Loaded<'_, 'py> {
    /// The numbers and words.
    pub fn state<T: DeserializeOwned>(&self) -> PyResult<T> {
        match postcard::take_from_bytes(self.data) {
            Ok((state, [])) => Ok(state),
            _ => Err(self.damaged("its bytes are damaged")),
        }
    }

    /// A part.
    pub fn part<T: PyClass + PyTypeInfo>(&self, at: usize) -> PyResult<Py<T>> {
        let part = self.parts.get_item(at).map_err(|_| self.damaged("a part is missing"))?;
        let part = part.cast_into::<T>().map_err(|_| self.damaged("a part is of another class"))?;
        Ok(part.unbind())
    }

    /// How many parts there are.
    pub fn count(&self) -> usize {
        self.parts.len()
    }

    /// `value`, if `sound`.
    pub fn sound<T>(&self, value: T, sound: bool) -> PyResult<T> {
        if sound { Ok(value) } else { Err(self.damaged("what it holds contradicts itself")) }
    }

    /// That it is no such object.
    pub fn damaged(&self, why: impl std::fmt::Display) -> PyErr {
        let message = format!("no pickle of netloom.{}: {why}", self.name);
        errors::format_parts(self.parts.py(), &message, None, None)
    }
}

/// A class whose objects are what they hold.
pub trait Content: PyClass<Frozen = True> + Sync {
    /// What an object holds.
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved>;

    /// The same without what a clock measured: what equality is about.
    fn told(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        Self::save(slf)
    }

    /// An object that holds this.
    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>>;
}

/// A call, and what it is called with.
type Reduced<'py> = (Bound<'py, PyAny>, (&'static str, Bound<'py, PyBytes>, Bound<'py, PyTuple>));

fn reduce<'py, T: Content>(slf: &Bound<'py, T>) -> PyResult<Reduced<'py>> {
    let py = slf.py();
    let Saved { data, parts } = T::save(slf)?;
    let mut whole = Vec::with_capacity(data.len() + 16);
    whole.extend(crc(&data).to_le_bytes());
    whole.extend(env!("CARGO_PKG_VERSION").bytes());
    whole.push(b'\n');
    whole.extend(data);
    let call = py.import("netloom._core")?.getattr("unpickled")?;
    Ok((call, (T::NAME, PyBytes::new(py, &whole), PyTuple::new(py, parts)?)))
}

fn equal<T: Content>(a: &Bound<'_, T>, b: &Bound<'_, T>) -> PyResult<bool> {
    if a.as_any().is(b) {
        return Ok(true);
    }
    let (told, other) = (T::told(a)?, T::told(b)?);
    if told.data != other.data || told.parts.len() != other.parts.len() {
        return Ok(false);
    }
    for (part, other) in told.parts.iter().zip(&other.parts) {
        if !part.bind(a.py()).eq(other)? {
            return Ok(false);
        }
    }
    Ok(true)
}

fn hash<T: Content>(slf: &Bound<'_, T>) -> PyResult<u64> {
    let mut hasher = DefaultHasher::new();
    (T::NAME, T::told(slf)?.data).hash(&mut hasher);
    Ok(hasher.finish())
}

fn load<T: Content>(data: &[u8], parts: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
    let py = parts.py();
    let all = Loaded { name: T::NAME, data, parts };
    let Some((sum, rest)) = data.split_first_chunk::<4>() else {
        return Err(all.damaged("its bytes are cut short"));
    };
    let line = rest.iter().position(|&byte| byte == b'\n').filter(|&at| at < 64);
    let Some((version, body)) = line.map(|at| (&rest[..at], &rest[at + 1..])) else {
        return Err(all.damaged("its bytes are damaged"));
    };
    let own = env!("CARGO_PKG_VERSION");
    if version != own.as_bytes() {
        let theirs = String::from_utf8_lossy(version);
        return Err(all
            .damaged(format!("it is of version {theirs:?}, this is netloom {own}; files outlive versions")));
    }
    if crc(body).to_le_bytes() != *sum {
        return Err(all.damaged("its bytes are damaged"));
    }
    Ok(T::load(py, &Loaded { data: body, ..all })?.into_any())
}

fn crc(data: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(data);
    sum.sum()
}

macro_rules! by_content {
    ($($class:ident),* $(,)?) => {
        $(
            #[pymethods]
            impl $class {
                fn __reduce__<'py>(
                    slf: &Bound<'py, Self>,
                ) -> PyResult<Reduced<'py>> {
                    reduce(slf)
                }

                /// Itself: it never changes.
                fn __copy__(slf: Py<Self>) -> Py<Self> {
                    slf
                }

                /// Itself: it never changes.
                fn __deepcopy__(slf: Py<Self>, #[allow(unused)] memo: &Bound<'_, PyAny>) -> Py<Self> {
                    slf
                }

                fn __eq__(slf: &Bound<'_, Self>, other: &Bound<'_, Self>) -> PyResult<bool> {
                    equal(slf, other)
                }

                fn __hash__(slf: &Bound<'_, Self>) -> PyResult<u64> {
                    hash(slf)
                }
            }
        )*

        /// What a pickle calls: an object of a class from its bytes and its parts.
        ///
        /// Raises
        /// ------
        /// FormatError
        ///     If these are no such object's, or of another version of netloom.
        #[pyfunction]
        pub fn unpickled(py: Python<'_>, name: &str, data: &[u8], parts: &Bound<'_, PyTuple>) -> PyResult<Py<PyAny>> {
            match name {
                $(<$class as PyClass>::NAME => load::<$class>(data, parts),)*
                _ => {
                    let message = format!("no pickle of netloom: it has no class {name:?}");
                    Err(errors::format_parts(py, &message, None, None))
                }
            }
        }
    };
}

macro_rules! by_identity {
    ($($class:ident => $instead:literal),* $(,)?) => {
        $(
            #[pymethods]
            impl $class {
                fn __reduce__(&self) -> PyResult<()> {
                    Err(PyTypeError::new_err(concat!("no pickles of netloom.", $instead)))
                }

                /// Itself: it never changes.
                fn __copy__(slf: Py<Self>) -> Py<Self> {
                    slf
                }

                /// Itself: it never changes.
                fn __deepcopy__(slf: Py<Self>, #[allow(unused)] memo: &Bound<'_, PyAny>) -> Py<Self> {
                    slf
                }
            }
        )*
    };
}

by_content! {
    PyFabric, PyTraffic, PyHose, PyJob, PyRoutes, PyLaneTables, PyCertificate, PyLinkLoads, PyHoseLoads, PyOutcome, PyOptimized,
    PyOptimizedLayers, PyOptimizedHose, PyCheckReport, PyVerdict, PyMixReport, PyCounters, PyRecovered, PyScenario,
}

by_identity! {
    PySimulation => "Simulation: send `.result()`, `.counters()` and the other tables, or the scenario",
    PySampled => "Sampled: send `.samples()` and the other tables, or the scenario",
    PyInferred => "Inferred: send `.traffic` and `.summary()`, or the counters",
}

macro_rules! in_notebooks {
    ($($class:ident),* $(,)?) => {
        $(
            #[pymethods]
            impl $class {
                fn _repr_html_<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
                    slf.py().import("netloom.shown.notebook")?.call_method1("html", (slf,))
                }
            }
        )*
    };
}

in_notebooks! {
    PyFabric, PyTraffic, PyRoutes, PyLinkLoads, PyOptimized, PyOptimizedLayers, PyOptimizedHose, PyCheckReport, PyVerdict, PySimulation,
    PyInferred,
}
