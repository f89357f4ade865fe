//! What the CSV formats share: fields with quotes, and hosts by name or number.
//!
//! Spreadsheets run fields that begin with `=`, `+`, `-` or `@`; [`quoted`] keeps them from it.
//!
//! Invariant: what [`written_names`] and [`push_end`] write, [`Names`] and [`index`] read back.

use std::cell::OnceCell;
use std::collections::HashMap;

use netloom_model::names::nearest;
use netloom_model::{Fabric, HostGuids, HostId, MAX_ENDPOINTS};

use crate::FormatError;
use crate::amount_text::push_integer;
use crate::error::excerpt;

/// The text of a file, without a byte-order mark.
pub(crate) fn utf8<'a>(bytes: &'a [u8], label: &str) -> Result<&'a str, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
        FormatError::at(label, line, "expected UTF-8 text, found other bytes")
    })?;
    Ok(text.trim_start_matches('\u{feff}'))
}

/// Host names to ids; `None` for a name of several hosts. Where there are such names a number is a host's number, even if another host is
/// called so. What is nobody's name may be somebody's GUID.
pub(crate) struct Names<'a> {
    by_name: HashMap<&'a str, Option<HostId>>,
    by_guid: OnceCell<HostGuids>,
    repeat: bool,
    fabric: &'a Fabric,
}

impl<'a> Names<'a> {
    pub fn of(fabric: &'a Fabric) -> Self {
        let mut by_name = HashMap::with_capacity(fabric.host_count());
        for host in fabric.hosts() {
            by_name.entry(fabric.host_name(host)).and_modify(|id| *id = None).or_insert(Some(host));
        }
        let repeat = by_name.len() < fabric.host_count();
        Self { by_name, by_guid: OnceCell::new(), repeat, fabric }
    }

    /// The host of that name; `None` if there is none.
    pub fn find(&self, name: &str) -> Result<Option<HostId>, String> {
        if self.repeat && name.parse::<u64>().is_ok() {
            return Ok(None);
        }
        match self.by_name.get(name) {
            Some(Some(host)) => Ok(Some(*host)),
            Some(None) => Err(format!("several hosts are called \"{}\": give numbers", excerpt(name))),
            None if name.trim_start().starts_with("0x") => {
                match self.by_guid.get_or_init(|| HostGuids::of(self.fabric)).find(name) {
                    [] => Ok(None),
                    [host] => Ok(Some(*host)),
                    _ => Err(format!("several ports have the GUID {}: give that of a port", name.trim())),
                }
            }
            None => Ok(None),
        }
    }
}

/// A field as a number from 0, below `endpoints` where that is known.
pub(crate) fn index(field: &str, endpoints: Option<u64>, names: Option<&Names>) -> Result<u64, String> {
    let number = field.parse::<u64>().ok();
    let bound = endpoints.unwrap_or(MAX_ENDPOINTS.into());
    match (number, names) {
        (Some(n), _) if n < bound => Ok(n),
        (Some(n), _) => Err(format!("expected endpoints below {bound}, found {n}")),
        (None, None) => {
            Err(format!("expected a number (host names need a fabric), found \"{}\"", excerpt(field)))
        }
        (None, Some(names)) => {
            let all = names.fabric.hosts().map(|h| names.fabric.host_name(h));
            let hint = nearest(field, all).map(|n| format!(", did you mean \"{n}\"?")).unwrap_or_default();
            Err(format!("the fabric has no host \"{}\"{hint}", excerpt(field)))
        }
    }
}

/// Every host's name as a field; `None` if names repeat, so that numbers must serve.
pub(crate) fn written_names(fabric: &Fabric) -> Option<Vec<String>> {
    let known = Names::of(fabric);
    (!known.repeat).then(|| fabric.hosts().map(|h| quoted(fabric.host_name(h))).collect())
}

/// A host as a field.
pub(crate) fn push_end(out: &mut Vec<u8>, names: Option<&[String]>, host: u32) {
    match names {
        Some(names) => out.extend_from_slice(names[host as usize].as_bytes()),
        None => push_integer(out, host.into()),
    }
}

/// The fields of a line; quoted ones may hold commas and doubled quotes. `None` if a quote stays open.
pub(crate) fn split(line: &str) -> Option<Vec<String>> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_start();
        if let Some(quoted) = rest.strip_prefix('"') {
            let mut field = String::new();
            let mut inside = quoted;
            loop {
                let (piece, after) = inside.split_once('"')?;
                field.push_str(piece);
                inside = after;
                match inside.strip_prefix('"') {
                    Some(after) => {
                        field.push('"');
                        inside = after;
                    }
                    None => break,
                }
            }
            fields.push(plain(field));
            rest = inside.find(',').map_or("", |comma| &inside[comma..]);
        } else {
            let end = rest.find(',').unwrap_or(rest.len());
            fields.push(rest[..end].trim_end().to_owned());
            rest = &rest[end..];
        }
        match rest.strip_prefix(',') {
            Some(next) => rest = next,
            None => return Some(fields),
        }
    }
}

/// Whether a spreadsheet would take a field for a formula: what a cable's end is called, anybody may have chosen.
fn is_formula(field: &str) -> bool {
    field.trim_start_matches('\'').starts_with(['=', '+', '-', '@'])
}

/// A quoted field without the apostrophe that keeps spreadsheets from running it.
fn plain(field: String) -> String {
    match field.strip_prefix('\'') {
        Some(name) if is_formula(name) => name.to_owned(),
        _ => field,
    }
}

/// A name as a field. One that a spreadsheet would run has an apostrophe before it, in quotes.
pub(crate) fn quoted(name: &str) -> String {
    if is_formula(name) {
        return format!("\"'{}\"", name.replace('"', "\"\""));
    }
    if name.contains([',', '"']) || name.starts_with('#') || name != name.trim() {
        return format!("\"{}\"", name.replace('"', "\"\""));
    }
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_a_spreadsheet_would_run_are_kept_from_it_and_read_back() {
        for name in ["=cmd|'/C calc'!A0", "+1", "-2", "@sum(a1)", "'=x", "=\"a\",b", "leaf01", "'tis", "a=b"]
        {
            let field = quoted(name);
            assert!(!field.trim_start_matches('"').starts_with(['=', '+', '-', '@']), "{field}");
            assert_eq!(split(&format!("{field},7")).unwrap(), [name, "7"], "{field}");
        }
        assert_eq!(quoted("=cmd|x"), "\"'=cmd|x\"");
    }
}
