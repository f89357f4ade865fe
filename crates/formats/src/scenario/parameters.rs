//! `[hardware]` and `[software]`: what differs from a profile, by the names of its parameters.
//!
//! The simulator says what makes sense together; here every value has the right type and a sane range.

use crate::FormatError;
use crate::error::excerpt;
use crate::keys::Keys;

/// A parameter's value.
#[derive(Clone, Debug, PartialEq)]
pub enum Knob {
    /// Bytes, lanes.
    Count(u64),
    /// A number for each lane.
    Weights(Vec<u8>),
    /// The lane of each service level, at least one.
    LaneOfLevel(Vec<u8>),
    /// Random lanes for so many service levels, and their seed where it is not the scenario's.
    RandomLanes {
        /// Service levels, 1 to 16.
        levels: u8,
        /// Seed.
        seed: Option<u64>,
    },
    /// A VL scheme in words, such as `5sl5vl:groups:seed=1`.
    Lanes(String),
    /// A time, ps (or ps a byte).
    Time(f64),
    /// Times by name, ps.
    Times(Vec<(String, f64)>),
    /// A bit a port, 256 of them, the lowest 64 first.
    Mask([u64; 4]),
    /// Entries of a congestion control table: shift and multiplier.
    Entries(Vec<(u8, u16)>),
    /// One of the parameter's words.
    Word(&'static str),
    /// Yes or no.
    Flag(bool),
    /// A number without a unit, or in the unit of its name.
    Number(f64),
}

/// Parameters of the hardware; units are in their names.
pub const HARDWARE: [&str; 20] = [
    "packet_bytes",
    "header_bytes",
    "forwarding",
    "lanes",
    "lane_weights",
    "sl2vl",
    "input_buffer_bytes",
    "output_buffer_bytes",
    "host_output_buffer_bytes",
    "release",
    "head_of_line",
    "admission",
    "injection",
    "switch_delay_ns",
    "cable_delay_ns",
    "host_cable_delay_ns",
    "switch_delays_ns",
    "cable_delays_ns",
    "credit_bytes",
    "window_packets",
];

/// Parameters of the software; units are in their names.
pub const SOFTWARE: [&str; 6] =
    ["call_ns", "post_ns", "rendezvous_ns", "eager_bytes", "control_bytes", "copy_ns_per_byte"];

/// Most packets without a response.
const MOST_WINDOW: i64 = 1 << 20;

/// Longest delay, ns: a second.
const MOST_NS: f64 = 1e9;

/// The parameters that a `[hardware]` table sets.
pub(super) fn hardware(keys: &Keys) -> Result<Vec<(&'static str, Knob)>, FormatError> {
    let read = |name: &'static str| match name {
        "forwarding" => word(keys, name, &["cut-through", "store-and-forward"]),
        "release" => word(keys, name, &["sent", "admitted"]),
        "admission" => word(keys, name, &["in-order", "round-robin"]),
        "injection" => word(keys, name, &["in-order", "round-robin", "round-robin-messages"]),
        "head_of_line" => Ok(keys.flag(name)?.map(Knob::Flag)),
        "lane_weights" => weights(keys, name),
        "sl2vl" => sl2vl(keys, name),
        "lanes" => Ok(keys.whole(name, 1..=15)?.map(|n| Knob::Count(n as u64))),
        "window_packets" => match keys.item(name).and_then(|item| item.as_str()) {
            Some("unlimited") => Ok(Some(Knob::Word("unlimited"))),
            _ => Ok(keys.whole(name, 1..=MOST_WINDOW)?.map(|n| Knob::Count(n as u64))),
        },
        "input_buffer_bytes" => size_or_unlimited(keys, name, 1, i32::MAX as u64),
        "header_bytes" | "credit_bytes" => Ok(keys.size(name, 0..=65_535)?.map(Knob::Count)),
        "packet_bytes" => Ok(keys.size(name, 1..=65_535)?.map(Knob::Count)),
        "switch_delays_ns" | "cable_delays_ns" => times(keys, name),
        _ if name.ends_with("_ns") => time(keys, name),
        _ => Ok(keys.size(name, 1..=i32::MAX as u64)?.map(Knob::Count)),
    };
    all(&HARDWARE, read)
}

/// The parameters that a `[software]` table sets.
pub(super) fn software(keys: &Keys) -> Result<Vec<(&'static str, Knob)>, FormatError> {
    let read = |name: &'static str| match name {
        "eager_bytes" => size_or_unlimited(keys, name, 0, i64::MAX as u64),
        "control_bytes" => Ok(keys.size(name, 1..=1 << 20)?.map(Knob::Count)),
        "copy_ns_per_byte" => {
            let ns = keys.number(name, "nanoseconds, 0 to 1000", |t| (0.0..=1000.0).contains(&t))?;
            Ok(ns.map(|t| Knob::Time(t * 1000.0)))
        }
        _ => time(keys, name),
    };
    all(&SOFTWARE, read)
}

pub(super) fn all(
    names: &[&'static str],
    read: impl Fn(&'static str) -> Result<Option<Knob>, FormatError>,
) -> Result<Vec<(&'static str, Knob)>, FormatError> {
    let mut found = Vec::new();
    for &name in names {
        if let Some(knob) = read(name)? {
            found.push((name, knob));
        }
    }
    Ok(found)
}

fn word(keys: &Keys, name: &'static str, words: &[&'static str]) -> Result<Option<Knob>, FormatError> {
    Ok(keys.word(name, words)?.map(Knob::Word))
}

/// Bytes, or the word `unlimited`.
fn size_or_unlimited(
    keys: &Keys,
    name: &'static str,
    least: u64,
    most: u64,
) -> Result<Option<Knob>, FormatError> {
    match keys.item(name).and_then(|item| item.as_str()) {
        Some("unlimited") => Ok(Some(Knob::Word("unlimited"))),
        Some(text) if !text.starts_with(|c: char| c.is_ascii_digit()) => {
            let found = excerpt(text);
            let message = format!("expected bytes, or \"unlimited\", found \"{found}\"");
            Err(keys.error(name, message))
        }
        _ => Ok(keys.size(name, least..=most)?.map(Knob::Count)),
    }
}

/// A list of numbers from 1 to 255.
fn weights(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let Some(item) = keys.item(name) else { return Ok(None) };
    let number =
        |item: &toml_edit::Value| item.as_integer().and_then(|n| u8::try_from(n).ok()).filter(|&n| n > 0);
    let list = item.as_array().and_then(|list| list.iter().map(number).collect::<Option<Vec<u8>>>());
    let wrong = || keys.error(name, "expected numbers from 1 to 255, one a lane, such as [1, 4]".into());
    list.map(|list| Some(Knob::Weights(list))).ok_or_else(wrong)
}

/// `[0, 1, 1]`, a lane for each service level; `{ levels = 8, seed = 1 }`, random ones; `"5sl5vl:groups"`, a scheme; or `"dla"`, by ports
/// as the engine's tables have it.
fn sl2vl(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let Some(item) = keys.item(name) else { return Ok(None) };
    if item.is_table_like() {
        let keys = keys.table(name, &["levels", "seed"], "a random sl2vl")?.expect("it is there");
        let Some(levels) = keys.whole("levels", 1..=16)? else {
            return Err(keys.whole_error("expected levels = 8 or another number of service levels".into()));
        };
        let seed = keys.whole("seed", 0..=i64::MAX)?.map(|n| n as u64);
        return Ok(Some(Knob::RandomLanes { levels: levels as u8, seed }));
    }
    if let Some(scheme) = item.as_str().filter(|text| text.contains("vl") || *text == "dla") {
        return Ok(Some(Knob::Lanes(scheme.to_owned())));
    }
    let lane = |item: &toml_edit::Value| item.as_integer().filter(|n| (0..15).contains(n)).map(|n| n as u8);
    let list = item.as_array().and_then(|list| list.iter().map(lane).collect::<Option<Vec<u8>>>());
    match list {
        Some(list) if (1..=16).contains(&list.len()) => Ok(Some(Knob::LaneOfLevel(list))),
        _ => {
            let expected = "expected the lane (0 to 14) of each service level, such as [0, 1, 1], { levels = 8 } for random ones, \
                 or a scheme such as \"5sl5vl:groups\"";
            Err(keys.error(name, expected.into()))
        }
    }
}

/// Nanoseconds, as ps.
fn time(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let ns = keys.number(name, "nanoseconds, 0 to 1e9", |t| (0.0..=MOST_NS).contains(&t))?;
    Ok(ns.map(|t| Knob::Time(t * 1000.0)))
}

/// Nanoseconds by name, as ps.
fn times(keys: &Keys, name: &'static str) -> Result<Option<Knob>, FormatError> {
    let ns = keys.numbers(name, "nanoseconds, 0 to 1e9", |t| (0.0..=MOST_NS).contains(&t))?;
    Ok(ns.map(|list| Knob::Times(list.into_iter().map(|(name, t)| (name, t * 1000.0)).collect())))
}
