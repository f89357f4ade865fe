//! `[congestion]`: the congestion control of hosts, and what differs from its numbers.

use super::parameters::{Knob, all};
use crate::FormatError;
use crate::error::excerpt;
use crate::keys::Keys;

/// The controls that `control` may name.
const CONTROLS: [&str; 4] = ["none", "qcn", "ib-cc", "dcqcn"];
const QCN: &[&str] = &["qcn"];
const IB_CC: &[&str] = &["ib-cc"];
const DCQCN: &[&str] = &["dcqcn"];
const BOTH_RATES: &[&str] = &["qcn", "dcqcn"];
const ALL: &[&str] = &["qcn", "ib-cc", "dcqcn"];

/// Keys of `[congestion]` in the order in which they count, each with the controls that have it; units are in their
/// names.
const KEYS: [(&str, &[&str]); 34] = [
    ("control", ALL),
    ("settings", IB_CC),
    ("limiters", ALL),
    ("limit", ALL),
    ("memory_ms", QCN),
    ("setpoint_bytes", QCN),
    ("host_setpoint_bytes", QCN),
    ("weight", QCN),
    ("gain", QCN),
    ("min_decrease", QCN),
    ("sample_bytes", QCN),
    ("byte_reset_bytes", BOTH_RATES),
    ("time_reset_ms", BOTH_RATES),
    ("stages", BOTH_RATES),
    ("active_increase_mbps", BOTH_RATES),
    ("hyper_increase_mbps", BOTH_RATES),
    ("min_rate_mbps", BOTH_RATES),
    ("jitter", QCN),
    ("threshold", IB_CC),
    ("packet_size", IB_CC),
    ("marking_rate", IB_CC),
    ("victim_mask", IB_CC),
    ("ccti_increase", IB_CC),
    ("ccti_timer", IB_CC),
    ("cct", IB_CC),
    ("ccti_limit", IB_CC),
    ("ccti_min", IB_CC),
    ("kmin_bytes", DCQCN),
    ("kmax_bytes", DCQCN),
    ("pmax", DCQCN),
    ("cnp_interval_us", DCQCN),
    ("g", DCQCN),
    ("alpha_timer_us", DCQCN),
    ("measure_from_ms", ALL),
];

/// The keys' names.
pub const CONGESTION: [&str; KEYS.len()] = {
    let mut names = [""; KEYS.len()];
    let mut at = 0;
    while at < KEYS.len() {
        names[at] = KEYS[at].0;
        at += 1;
    }
    names
};

/// Most entries of InfiniBand's table, and its largest multiplier; those of the simulator.
const MOST_ENTRIES: usize = 128;
const MOST_MULTIPLIER: u16 = (1 << 14) - 1;
/// Most megabits a second: beyond any link.
const MOST_MBPS: f64 = 1e9;
/// Longest time, ms, as of a run.
const MOST_MS: f64 = 281e3;

/// What a `[congestion]` table sets; empty for `control = "none"`, which switches off whatever else is there.
pub(super) fn congestion(keys: &Keys) -> Result<Vec<(&'static str, Knob)>, FormatError> {
    let part = |name| number(keys, name, "a number of 0 to 1", |x| (0.0..=1.0).contains(&x));
    let mbps = |name| number(keys, name, "megabits a second, 0 to 1e9", |x| (0.0..=MOST_MBPS).contains(&x));
    let time = |name, zero: bool| {
        let least = if zero { 0.0 } else { 1e-6 };
        let expected = format!("milliseconds, {least:?} to {MOST_MS}");
        let ms = keys.number(name, &expected, |t| (least..=MOST_MS).contains(&t))?;
        Ok(ms.map(|t| Knob::Time(t * 1e9)))
    };
    let microseconds = |name, zero: bool| {
        let least = if zero { 0.0 } else { 1e-3 };
        let expected = format!("microseconds, {least:?} to 1e8");
        let us = keys.number(name, &expected, |t| (least..=1e8).contains(&t))?;
        Ok(us.map(|t| Knob::Time(t * 1e6)))
    };
    let whole = |name, most: i64| Ok(keys.whole(name, 0..=most)?.map(|n| Knob::Count(n as u64)));
    let read = |name: &'static str| match name {
        "control" => Ok(keys.word(name, &CONTROLS)?.map(Knob::Word)),
        "settings" => Ok(keys.word(name, &["gran", "opa-fm", "tuned"])?.map(Knob::Word)),
        "limiters" => Ok(keys.word(name, &["destination", "host"])?.map(Knob::Word)),
        "weight" => number(keys, name, "a number of 0 to 1000", |x| (0.0..=1000.0).contains(&x)),
        "gain" | "min_decrease" | "pmax" | "g" => part(name),
        "jitter" => number(keys, name, "a number of 0 to below 1", |x| (0.0..1.0).contains(&x)),
        "stages" => Ok(keys.whole(name, 1..=1_000_000)?.map(|n| Knob::Count(n as u64))),
        "limit" => Ok(keys.flag(name)?.map(|on| Knob::Word(if on { "true" } else { "false" }))),
        "time_reset_ms" | "memory_ms" => time(name, false),
        "measure_from_ms" => time(name, true),
        "cnp_interval_us" => microseconds(name, true),
        "alpha_timer_us" => microseconds(name, false),
        "min_rate_mbps" => {
            number(keys, name, "megabits a second, 0.001 to 1e9", |x| (0.001..=MOST_MBPS).contains(&x))
        }
        "threshold" => whole(name, 15),
        "packet_size" | "ccti_increase" => whole(name, 255),
        "marking_rate" => whole(name, 65_535),
        "ccti_timer" => Ok(keys.whole(name, 1..=65_535)?.map(|n| Knob::Count(n as u64))),
        "ccti_limit" | "ccti_min" => whole(name, MOST_ENTRIES as i64 - 1),
        "victim_mask" => mask(keys, name),
        "cct" => table(keys, name),
        _ if name.ends_with("_mbps") => mbps(name),
        _ => Ok(keys.size(name, 1..=i32::MAX as u64)?.map(Knob::Count)),
    };
    let found = all(&CONGESTION, read)?;
    let control = match found.first() {
        Some(&("control", Knob::Word("none"))) => return Ok(Vec::new()),
        Some(&("control", Knob::Word(control))) => control,
        _ => {
            return Err(keys.whole_error(format!(
                "expected control = \"{}\" or another of {}",
                CONTROLS[1],
                CONTROLS.join(", ")
            )));
        }
    };
    let of = |name: &str| KEYS.iter().find(|(key, _)| *key == name).map_or(ALL, |(_, controls)| *controls);
    if let Some((name, _)) = found.iter().find(|(name, _)| !of(name).contains(&control)) {
        let message = format!(
            "expected this with control = \"{}\"; found control = \"{control}\"",
            of(name).join("\" or \"")
        );
        return Err(keys.error(name, message));
    }
    Ok(found)
}

/// `0x1e`, or a text of up to 64 such digits: a bit a port.
fn mask(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let Some(item) = keys.item(name) else { return Ok(None) };
    let words = match (item.as_integer(), item.as_str()) {
        (Some(n), _) => u64::try_from(n).ok().map(|n| [n, 0, 0, 0]),
        (None, Some(text)) => parse_mask(text),
        (None, None) => None,
    };
    let wrong = || keys.error(name, "expected a bit a port, such as 0x1e for ports 1 to 4, of 256".into());
    words.map(|words| Some(Knob::Mask(words))).ok_or_else(wrong)
}

/// A mask of 256 bits, the lowest 64 first, from hexadecimal digits behind `0x`.
pub(super) fn parse_mask(text: &str) -> Option<[u64; 4]> {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"))?;
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let digits = digits.trim_start_matches('0');
    if digits.len() > 64 {
        return None;
    }
    let mut words = [0u64; 4];
    for (at, digit) in digits.bytes().rev().enumerate() {
        words[at / 16] |= u64::from((digit as char).to_digit(16)?) << (4 * (at % 16));
    }
    Some(words)
}

/// `linear`, `fine`, or entries as OpenSM has them: `0:0,0:1,1:3`.
fn table(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let Some(text) = keys.text(name)? else { return Ok(None) };
    let word = ["linear", "fine"].into_iter().find(|&word| word == text);
    if let Some(word) = word {
        return Ok(Some(Knob::Word(word)));
    }
    match parse_table(text) {
        Ok(entries) => Ok(Some(Knob::Entries(entries))),
        Err(message) => Err(keys.error(name, format!("{message} (or \"linear\", \"fine\")"))),
    }
}

/// The entries of a table, shift and multiplier, or what was expected of them.
pub(super) fn parse_table(text: &str) -> Result<Vec<(u8, u16)>, String> {
    let expected = |found: &str| {
        format!(
            "expected entries shift:multiplier with commas between, 0 to 3 and 0 to {MOST_MULTIPLIER}, found \"{}\"",
            excerpt(found)
        )
    };
    let entries: Vec<(u8, u16)> = text
        .split(',')
        .map(|entry| {
            let parts = entry.trim().split_once(':').and_then(|(shift, multiplier)| {
                Some((number_of(shift).filter(|&n| n <= 3)? as u8, number_of(multiplier)?))
            });
            match parts {
                Some((shift, multiplier)) if multiplier <= u64::from(MOST_MULTIPLIER) => {
                    Ok((shift, multiplier as u16))
                }
                _ => Err(expected(entry.trim())),
            }
        })
        .collect::<Result<_, _>>()?;
    if entries.len() > MOST_ENTRIES {
        return Err(format!("expected at most {MOST_ENTRIES} entries, found {}", entries.len()));
    }
    Ok(entries)
}

/// A whole number as OpenSM (and C) reads it: decimal, hexadecimal behind `0x`, octal behind `0`.
pub(super) fn number_of(text: &str) -> Option<u64> {
    let text = text.trim();
    let (digits, radix) = match (text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")), text) {
        (Some(digits), _) => (digits, 16),
        (None, text) if text.len() > 1 && text.starts_with('0') => (&text[1..], 8),
        (None, text) => (text, 10),
    };
    let plain = digits.bytes().all(|b| (b as char).is_digit(radix));
    if plain { u64::from_str_radix(digits, radix).ok() } else { None }
}

fn number(
    keys: &Keys,
    name: &'static str,
    expected: &str,
    valid: impl Fn(f64) -> bool,
) -> Result<Option<Knob>, FormatError> {
    Ok(keys.number(name, expected, valid)?.map(Knob::Number))
}
