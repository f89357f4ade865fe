//! Real arguments: numbers of a range, never a truth value, a text or NaN.

use std::ops::RangeInclusive;

use pyo3::prelude::*;

use crate::errors;

/// What a number may become.
pub trait Real: Sized {
    /// `value`, within `range`; `expected` says it in words.
    ///
    /// # Errors
    /// `ArgumentError` for what is no number, or out of range.
    fn of(
        name: &str,
        value: &Bound<'_, PyAny>,
        range: &RangeInclusive<f64>,
        expected: &str,
    ) -> PyResult<Self>;
}

impl Real for f64 {
    fn of(
        name: &str,
        value: &Bound<'_, PyAny>,
        range: &RangeInclusive<f64>,
        expected: &str,
    ) -> PyResult<Self> {
        // Python's own, and NumPy's `bool` or `bool_`: all of them are numbers to `float`.
        let truth = value.get_type().name()?.to_string_lossy().starts_with("bool");
        let number = if truth { None } else { value.extract::<f64>().ok() };
        match number.filter(|found| range.contains(found)) {
            Some(found) => Ok(found),
            None => {
                let found = super::shown(value)?;
                Err(errors::argument(value.py(), format!("{name}: expected {expected}, found {found}")))
            }
        }
    }
}

impl Real for Option<f64> {
    fn of(
        name: &str,
        value: &Bound<'_, PyAny>,
        range: &RangeInclusive<f64>,
        expected: &str,
    ) -> PyResult<Self> {
        if value.is_none() { Ok(None) } else { f64::of(name, value, range, expected).map(Some) }
    }
}

macro_rules! reals {
    ($($name:ident $range:expr, $expected:literal;)*) => {
        $(
            #[doc = concat!("The argument `", stringify!($name), "`: ", $expected, ".")]
            pub fn $name<T: Real>(value: &Bound<'_, PyAny>) -> PyResult<T> {
                T::of(stringify!($name), value, &$range, $expected)
            }
        )*
    };
}

reals! {
    counted_every_us 0.1..=1e8, "microseconds, 0.1 to 1e8";
    error f64::NEG_INFINITY..=f64::INFINITY, "a number";
    every_us 0.1..=1e8, "microseconds, 0.1 to 1e8";
    limit 0.0..=f64::MAX, "bytes, not negative";
    max_load 0.0..=f64::MAX, "bytes, not negative";
    maximum 0.0..=f64::MAX, "bytes, not negative";
    missing 0.0..=1.0, "a share, 0 to 1";
    mtu_bytes 1.0..=1e9, "bytes, 1 to 1e9";
    noise 0.0..=1.0, "a share, 0 to 1";
    opposite -1.0..=1.0, "a correlation, -1 to 1";
    penalty_per_change 0.0..=f64::MAX, "bytes, not negative";
    rate f64::MIN_POSITIVE..=1.0, "a share of packets, above 0 and at most 1";
    scale 0.0..=1e15, "a factor, 0 to 1e15";
    seconds 0.0..=1e9, "seconds, 0 to 1e9";
    skew 0.0..=1.0, "a share, 0 to 1";
    skip_repeats 0.0..=1.0 - f64::EPSILON, "a share, 0 to below 1";
    threshold 0.0..=f64::MAX, "bytes, not negative";
    time_limit 0.0..=f64::INFINITY, "a number of seconds, not negative";
    tolerance 0.0..=1.0, "a number, 0 to 1";
}
