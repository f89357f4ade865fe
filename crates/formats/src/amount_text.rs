//! Amounts as text: read as non-negative numbers, written as the shortest text that reads back the same.

use std::io::Write;

use netloom_model::traffic::{AMOUNT, is_amount};

use crate::error::excerpt;

/// An amount of a field.
pub(crate) fn value(field: &str, unit: &str) -> Result<f64, String> {
    match field.parse::<f64>() {
        Ok(value) if is_amount(value) => Ok(value.abs()),
        _ => Err(format!("expected {unit} as {AMOUNT}, found \"{}\"", excerpt(field))),
    }
}

/// Whether a value is written as an integer.
pub(crate) fn is_integer(value: f64) -> bool {
    value.fract() == 0.0 && value.abs() < 9e15
}

/// A number as the shortest text that reads back the same.
pub(crate) fn push_value(out: &mut Vec<u8>, value: f64) {
    if is_integer(value) {
        push_integer(out, value as u64);
    } else if (1e-5..1e16).contains(&value) {
        write!(out, "{value}").expect("writing to memory");
    } else {
        write!(out, "{value:e}").expect("writing to memory");
    }
}

pub(crate) fn push_integer(out: &mut Vec<u8>, mut n: u64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (n % 10) as u8;
        n /= 10;
        if n == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}
