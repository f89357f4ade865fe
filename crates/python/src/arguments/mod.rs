//! Arguments: numbers within their range and nouns by their specs, or an error that says which argument, what was expected and what was given.

mod real;
mod specs;

pub use real::*;
pub use specs::{FabricOrSpec, TrafficOrSpec, fabric, traffic};

use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::errors;

/// What a whole number may become.
pub trait Whole: Sized {
    /// `value`, from `least` on.
    ///
    /// # Errors
    /// `ArgumentError` for what is no whole number, or out of range.
    fn of(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<Self>;
}

macro_rules! whole {
    ($($type:ty),*) => {
        $(
            impl Whole for $type {
                fn of(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<Self> {
                    let whole = (!value.is_instance_of::<PyBool>()).then(|| value.extract::<Self>().ok());
                    match whole.flatten().filter(|&found| found as u64 >= least) {
                        Some(found) => Ok(found),
                        None => Err(refused(name, value, least, <$type>::MAX as u64)),
                    }
                }
            }
        )*
    };
}

whole!(u8, u32, u64, usize);

impl<T: Whole> Whole for Option<T> {
    fn of(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<Self> {
        if value.is_none() { Ok(None) } else { T::of(name, value, least).map(Some) }
    }
}

impl<T: Whole> Whole for Vec<T> {
    fn of(name: &str, value: &Bound<'_, PyAny>, least: u64) -> PyResult<Self> {
        let each = |(at, value): (usize, PyResult<Bound<'_, PyAny>>)| {
            T::of(&format!("{name}[{at}]"), &value?, least)
        };
        value.try_iter()?.enumerate().map(each).collect()
    }
}

fn refused(name: &str, value: &Bound<'_, PyAny>, least: u64, most: u64) -> PyErr {
    let found = match shown(value) {
        Ok(found) => found,
        Err(error) => return error,
    };
    let range =
        if most > u64::from(u32::MAX) { format!("{least} or more") } else { format!("{least} to {most}") };
    errors::argument(value.py(), format!("{name}: expected a whole number, {range}, found {found}"))
}

/// A value as Python shows it, cut where it is long.
fn shown(value: &Bound<'_, PyAny>) -> PyResult<String> {
    // Python does not show whole numbers of more than 4,300 digits.
    let Ok(text) = value.repr() else { return Ok(format!("some {}", value.get_type().name()?)) };
    let text = text.to_string_lossy();
    match text.char_indices().nth(60) {
        Some((at, _)) => Ok(format!("{}...", &text[..at])),
        None => Ok(text.into_owned()),
    }
}

macro_rules! numbers {
    ($($name:ident $least:literal),* $(,)?) => {
        $(
            #[doc = concat!("The argument `", stringify!($name), "`.")]
            pub fn $name<T: Whole>(value: &Bound<'_, PyAny>) -> PyResult<T> {
                T::of(stringify!($name), value, $least)
            }
        )*
    };
}

/// The argument `max_lanes`: data lanes of a port, whose lane 15 is for management.
///
/// # Errors
/// `ArgumentError` for what is no whole number from 1 to 15.
pub fn max_lanes(value: &Bound<'_, PyAny>) -> PyResult<usize> {
    let found: Option<u8> = (!value.is_instance_of::<PyBool>()).then(|| value.extract().ok()).flatten();
    match found.filter(|lanes| (1..=15).contains(lanes)) {
        Some(lanes) => Ok(lanes.into()),
        None => Err(refused("max_lanes", value, 1, 15)),
    }
}

numbers! {
    bytes 0, busiest 0, copies 0, count 0, depth 0, destination 0, destinations 0, draw 0, draws 1, each 0, ecn_bytes 0, endpoints 0, first 0,
    frozen 0, grid 0, hop_bits 0, hosts 0, index 0, interval 0, islands 1, links 0, lmc 0, max_changes 0, max_iterations 0, more 0,
    most 0, pairs 1, random_links 0, random_switches 0, ranges 0, ranks_per_host 0, rounds 0, seed 0, size 0, source 0, steps 0, threads 0, work 0,
}
