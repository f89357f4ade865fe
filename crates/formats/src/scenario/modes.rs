//! `mode = 3`, `mode = ["3 below 4KiB", "1 in all-to-all", 0]`, `mode = "aware"`: modes of a job's messages.

use toml_edit::Value;

use crate::FormatError;
use crate::error::excerpt;
use crate::keys::{Keys, parse_size};

/// A mode, and of which messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModeSetting {
    /// Its word: `0` to `3`, `min-hash`, `aware` and the like.
    pub word: &'static str,
    /// Of which messages.
    pub of: Of,
}

/// Messages of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Below so many bytes.
    Below(u64),
    /// Of all-to-all collectives.
    AllToAll,
    /// All others.
    Others,
}

const EXPECTED: &str = "expected a mode, 0 (no bias), 1, 2, 3 (high bias), min-hash, nmin-hash, in-order, default, aware or \
    aware:steady, or a list such as [\"3 below 4KiB\", \"1 in all-to-all\", 0]";
/// Words of modes, those that say more than one mode last. `netloom_sim::Modes::parse` reads them all, as a test of the crate `compose` says.
pub const MODE_WORDS: [&str; 10] =
    ["0", "1", "2", "3", "min-hash", "nmin-hash", "in-order", "default", "aware", "aware:steady"];
const CHOSEN: [&str; 3] = ["default", "aware", "aware:steady"];
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
        if found.iter().any(|other| other.of == setting.of) {
            let of = match setting.of {
                Of::Below(bytes) => format!("messages below {bytes} bytes"),
                Of::AllToAll => "messages in all-to-all".into(),
                Of::Others => "all other messages".into(),
            };
            return Err(wrong(format!("two settings for {of}: expected one")));
        }
        found.push(setting);
    }
    Ok(found)
}

fn setting(text: &str) -> Result<ModeSetting, String> {
    let (word, of) = match (text.split_once(" below "), text.split_once(" in ")) {
        (Some((word, size)), _) => (word.trim(), Of::Below(below(size.trim())?)),
        (None, Some((word, what))) if what.trim() == "all-to-all" => (word.trim(), Of::AllToAll),
        (None, Some((_, what))) => {
            return Err(format!("expected messages in all-to-all, found \"{}\"", excerpt(what)));
        }
        (None, None) => (text.trim(), Of::Others),
    };
    let Some(&word) = MODE_WORDS.iter().find(|&&known| known == word) else {
        return Err(format!("{EXPECTED}, found \"{}\"", excerpt(text)));
    };
    if of != Of::Others && CHOSEN.contains(&word) {
        return Err(format!("expected one mode for some messages, found \"{}\"", excerpt(text)));
    }
    Ok(ModeSetting { word, of })
}

/// So many bytes.
fn below(size: &str) -> Result<u64, String> {
    let found = || {
        let size = excerpt(size);
        format!("expected messages below some bytes, at least 1, such as 4KiB, found \"{size}\"")
    };
    parse_size(size).filter(|&bytes| bytes > 0).ok_or_else(found)
}
