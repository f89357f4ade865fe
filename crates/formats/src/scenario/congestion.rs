//! `[congestion]`: the congestion control of hosts, and what differs from its standard's numbers.

use super::parameters::{Knob, all};
use crate::FormatError;
use crate::keys::Keys;

/// Keys of `[congestion]`; units are in their names.
pub const CONGESTION: [&str; 17] = [
    "control",
    "limiters",
    "limit",
    "memory_ms",
    "setpoint_bytes",
    "weight",
    "gain",
    "min_decrease",
    "sample_bytes",
    "byte_reset_bytes",
    "time_reset_ms",
    "stages",
    "active_increase_mbps",
    "hyper_increase_mbps",
    "min_rate_mbps",
    "jitter",
    "measure_from_ms",
];

/// The controls that `control` may name.
const CONTROLS: [&str; 2] = ["none", "qcn"];
/// Most megabits a second: beyond any link.
const MOST_MBPS: f64 = 1e9;
/// Longest time, ms, as of a run.
const MOST_MS: f64 = 281e3;

/// What a `[congestion]` table sets; empty for `control = "none"`, which must come alone.
pub(super) fn congestion(keys: &Keys) -> Result<Vec<(&'static str, Knob)>, FormatError> {
    let part = |name| number(keys, name, "a number of 0 to 1", |x| (0.0..=1.0).contains(&x));
    let mbps = |name| number(keys, name, "megabits a second, 0 to 1e9", |x| (0.0..=MOST_MBPS).contains(&x));
    let time = |name, zero: bool| {
        let least = if zero { 0.0 } else { 1e-6 };
        let expected = format!("milliseconds, {least:?} to {MOST_MS}");
        let ms = keys.number(name, &expected, |t| (least..=MOST_MS).contains(&t))?;
        Ok(ms.map(|t| Knob::Time(t * 1e9)))
    };
    let read = |name: &'static str| match name {
        "control" => Ok(keys.word(name, &CONTROLS)?.map(Knob::Word)),
        "limiters" => Ok(keys.word(name, &["destination", "host"])?.map(Knob::Word)),
        "weight" => number(keys, name, "a number of 0 to 1000", |x| (0.0..=1000.0).contains(&x)),
        "gain" | "min_decrease" => part(name),
        "jitter" => number(keys, name, "a number of 0 to below 1", |x| (0.0..1.0).contains(&x)),
        "stages" => Ok(keys.whole(name, 1..=1_000_000)?.map(|n| Knob::Count(n as u64))),
        "limit" => Ok(keys.flag(name)?.map(|on| Knob::Word(if on { "true" } else { "false" }))),
        "time_reset_ms" | "memory_ms" => time(name, false),
        "measure_from_ms" => time(name, true),
        "min_rate_mbps" => {
            number(keys, name, "megabits a second, 0.001 to 1e9", |x| (0.001..=MOST_MBPS).contains(&x))
        }
        _ if name.ends_with("_mbps") => mbps(name),
        _ => Ok(keys.size(name, 1..=i32::MAX as u64)?.map(Knob::Count)),
    };
    let found = all(&CONGESTION, read)?;
    match found.first() {
        Some(("control", Knob::Word("none"))) if found.len() == 1 => Ok(Vec::new()),
        Some(("control", Knob::Word("none"))) => {
            Err(keys.error(found[1].0, "expected this with a control; found control = \"none\"".into()))
        }
        Some(("control", _)) => Ok(found),
        _ => Err(keys.whole_error("expected control = \"qcn\" (or \"none\")".into())),
    }
}

fn number(
    keys: &Keys,
    name: &'static str,
    expected: &str,
    valid: impl Fn(f64) -> bool,
) -> Result<Option<Knob>, FormatError> {
    Ok(keys.number(name, expected, valid)?.map(Knob::Number))
}
