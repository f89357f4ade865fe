//! `mode = 3`, `mode = ["3 below 4KiB", 0]`: modes of a job's messages, by size.

use toml_edit::Value;

use crate::FormatError;
use crate::error::excerpt;
use crate::keys::{Keys, parse_size};

/// A mode, and of which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSetting {
    /// ADAPTIVE_3, a high bias against detours; else ADAPTIVE_0, none.
    pub high_bias: bool,
    /// Of messages below so many bytes; `None`: of all others.
    pub below_bytes: Option<u64>,
}

const EXPECTED: &str =
    "expected a mode, 0 (no bias) or 3 (high bias), or a list such as [\"3 below 4KiB\", 0]";
/// Most settings of a job.
const MOST: usize = 64;

/// What `mode` of a job says; empty if there is none.
pub(super) fn modes(keys: &Keys) -> Result<Vec<ModeSetting>, FormatError> {
    let wrong = |message: String| keys.error("mode", message);
    let Some(item) = keys.item("mode") else { return Ok(Vec::new()) };
    let values: Vec<&Value> = match (item.as_array(), item.as_value()) {
        (Some(list), _) if (1..=MOST).contains(&list.len()) => list.iter().collect(),
        (None, Some(value)) => vec![value],
        _ => return Err(wrong(EXPECTED.into())),
    };
    let mut found: Vec<ModeSetting> = Vec::with_capacity(values.len());
    for value in values {
        let text = match (value.as_integer(), value.as_str()) {
            (Some(number), _) => number.to_string(),
            (None, Some(text)) => text.to_owned(),
            (None, None) => return Err(wrong(format!("{EXPECTED}, found {}", value.type_name()))),
        };
        let setting = setting(&text).map_err(wrong)?;
        if found.iter().any(|other| other.below_bytes == setting.below_bytes) {
            let of = setting
                .below_bytes
                .map_or("all other messages".into(), |b| format!("messages below {b} bytes"));
            return Err(wrong(format!("two settings for {of}: expected one")));
        }
        found.push(setting);
    }
    Ok(found)
}

fn setting(text: &str) -> Result<ModeSetting, String> {
    let (mode, size) = match text.split_once(" below ") {
        Some((mode, size)) => (mode.trim(), Some(size.trim())),
        None => (text.trim(), None),
    };
    let high_bias = match mode {
        "0" => false,
        "3" => true,
        "1" | "2" => return Err(format!("{EXPECTED}; mode {mode} is not in this version")),
        _ => return Err(format!("{EXPECTED}, found \"{}\"", excerpt(text))),
    };
    let below_bytes = match size {
        None => None,
        Some(size) => match parse_size(size) {
            Some(bytes) if bytes > 0 => Some(bytes),
            _ => {
                let found = excerpt(size);
                return Err(format!(
                    "expected messages below some bytes, at least 1, such as 4KiB, found \"{found}\""
                ));
            }
        },
    };
    Ok(ModeSetting { high_bias, below_bytes })
}
