//! What keys of programs hold: counts, sizes, times, shapes.

use std::ops::RangeInclusive;

use crate::FormatError;
use crate::error::excerpt;
use crate::jobs::MAX_RANKS;
use crate::keys::Keys;

/// Largest message: a tebibyte.
pub(super) const MOST_BYTES: u64 = 1 << 40;
/// Most repetitions of anything.
pub(super) const MOST_TIMES: i64 = 1_000_000_000;

/// How often; once unless given.
pub(super) fn times(keys: &Keys, key: &str) -> Result<u64, FormatError> {
    Ok(keys.whole(key, 1..=MOST_TIMES)?.unwrap_or(1) as u64)
}

/// `bytes`, which must be there.
pub(super) fn size(keys: &Keys) -> Result<u64, FormatError> {
    let range: RangeInclusive<u64> = 1..=MOST_BYTES;
    keys.size("bytes", range)?.ok_or_else(|| keys.whole_error("expected bytes, such as \"2MiB\"".into()))
}

pub(super) fn microseconds(keys: &Keys, key: &str) -> Result<u64, FormatError> {
    let us = keys.number(key, "microseconds, 0 to 1e8", |t| (0.0..=1e8).contains(&t))?;
    Ok((us.unwrap_or(0.0) * 1e6).round() as u64)
}

pub(super) fn root(keys: &Keys) -> Result<u32, FormatError> {
    Ok(keys.whole("root", 0..=i64::from(MAX_RANKS) - 1)?.unwrap_or(0) as u32)
}

pub(super) fn side(keys: &Keys, key: &str) -> Result<u32, FormatError> {
    let n = keys.whole(key, 1..=i64::from(MAX_RANKS))?;
    n.map(|n| n as u32).ok_or_else(|| keys.whole_error(format!("expected {key}, a number of ranks")))
}

pub(super) fn spec(keys: &Keys) -> Result<String, FormatError> {
    match keys.text("pattern")? {
        Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
        _ => Err(keys.whole_error("expected pattern = \"bisection-shuffle\" or another".into())),
    }
}

/// `[x]`, `[x, y]` or `[x, y, z]`.
pub(super) fn shape(keys: &Keys) -> Result<[u32; 3], FormatError> {
    let wrong = || {
        let message = format!("expected 1 to 3 sizes such as [16, 16, 12], at most {MAX_RANKS} ranks");
        match keys.item("shape") {
            Some(_) => keys.error("shape", message),
            None => keys.whole_error(format!("shape: {message}")),
        }
    };
    let list = keys.item("shape").and_then(|item| item.as_array()).ok_or_else(wrong)?;
    if !(1..=3).contains(&list.len()) {
        return Err(wrong());
    }
    let mut shape = [1u32; 3];
    for (size, item) in shape.iter_mut().zip(list) {
        let n = item.as_integer().and_then(|n| u32::try_from(n).ok());
        *size = n.filter(|&n| n > 0).ok_or_else(wrong)?;
    }
    let ranks = shape.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
    if ranks <= u64::from(MAX_RANKS) { Ok(shape) } else { Err(wrong()) }
}

/// One flag for all directions, or one each; periodic unless given.
pub(super) fn periodic(keys: &Keys) -> Result<[bool; 3], FormatError> {
    let Some(item) = keys.item("periodic") else { return Ok([true; 3]) };
    if let Some(all) = item.as_bool() {
        return Ok([all; 3]);
    }
    let flags: Option<Vec<bool>> =
        item.as_array().and_then(|list| list.iter().map(|item| item.as_bool()).collect());
    match flags.as_deref() {
        Some(&[x, y]) => Ok([x, y, false]),
        Some(&[x, y, z]) => Ok([x, y, z]),
        _ => {
            let found = excerpt(&item.to_string());
            Err(keys.error("periodic", format!("expected true, false or one of them each, found {found}")))
        }
    }
}
