//! TOML tables whose keys are all known, and errors that name their line.

use std::ops::Range;

use netloom_model::names::nearest;
use toml_edit::{Document, Item, Table, TableLike, Value};

use crate::FormatError;
use crate::error::excerpt;

/// Turns spans into lines.
pub(crate) struct Place<'a> {
    pub text: &'a str,
    pub label: &'a str,
}

impl<'a> Place<'a> {
    /// A file's text.
    pub(crate) fn of(bytes: &'a [u8], label: &'a str) -> Result<Self, FormatError> {
        let text = std::str::from_utf8(bytes).map_err(|e| {
            let line = 1 + bytes[..e.valid_up_to()].iter().filter(|&&b| b == b'\n').count();
            FormatError::at(label, line, "expected UTF-8 text, found other bytes")
        })?;
        Ok(Self { text, label })
    }

    /// The text as TOML.
    pub(crate) fn document(&self) -> Result<Document<&'a str>, FormatError> {
        Document::parse(self.text).map_err(|e| {
            let message = e.message().lines().collect::<Vec<_>>().join(": ");
            self.error(e.span(), format!("expected TOML: {message}"))
        })
    }

    pub(crate) fn error(&self, span: Option<Range<usize>>, message: String) -> FormatError {
        FormatError { label: self.label.into(), line: span.map(|span| self.line(&span)), message }
    }

    /// The line on which a span begins, from 1.
    pub(crate) fn line(&self, span: &Range<usize>) -> usize {
        let before = &self.text.as_bytes()[..span.start.min(self.text.len())];
        1 + before.iter().filter(|&&b| b == b'\n').count()
    }
}

/// A table whose keys are all known.
pub(crate) struct Keys<'a> {
    at: &'a Place<'a>,
    table: &'a dyn TableLike,
    span: Option<Range<usize>>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(
        at: &'a Place,
        table: &'a Table,
        known: &[&str],
        what: &str,
    ) -> Result<Self, FormatError> {
        Self::of(at, table, table.span(), known, what)
    }

    /// The table that `key` of another holds, `[key]` or `key = { … }`; `None` if it has none.
    pub(crate) fn table(
        &self,
        key: &str,
        known: &[&str],
        what: &str,
    ) -> Result<Option<Keys<'a>>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let table = item.as_table_like().ok_or_else(|| {
            self.error(key, format!("expected a table such as {{ … }}, found {}", item.type_name()))
        })?;
        let span = self.table.key(key).and_then(|k| k.span()).or(item.span());
        Self::of(self.at, table, span, known, what).map(Some)
    }

    fn of(
        at: &'a Place,
        table: &'a dyn TableLike,
        span: Option<Range<usize>>,
        known: &[&str],
        what: &str,
    ) -> Result<Self, FormatError> {
        for (key, item) in table.iter() {
            if !known.contains(&key) {
                let help = match nearest(key, known.iter().copied()) {
                    Some(hint) => format!(", did you mean \"{hint}\"?"),
                    None => format!(": expected one of {}", known.join(", ")),
                };
                let span = table.key(key).and_then(|k| k.span()).or(item.span());
                return Err(at.error(span, format!("{what} has no key \"{}\"{help}", excerpt(key))));
            }
        }
        Ok(Self { at, table, span })
    }

    pub(crate) fn item(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key)
    }

    /// An error at the line of a key.
    pub(crate) fn error(&self, key: &str, message: String) -> FormatError {
        let span = self.table.key(key).and_then(|k| k.span()).or_else(|| self.item(key).and_then(Item::span));
        self.at.error(span, format!("{key}: {message}"))
    }

    /// An error at the line of the table.
    pub(crate) fn whole_error(&self, message: String) -> FormatError {
        self.at.error(self.span.clone(), message)
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, FormatError> {
        let wrong =
            |item: &Item| self.error(key, format!("expected a text in quotes, found {}", item.type_name()));
        self.item(key).map(|item| item.as_str().ok_or_else(|| wrong(item))).transpose()
    }

    pub(crate) fn flag(&self, key: &str) -> Result<Option<bool>, FormatError> {
        let wrong =
            |item: &Item| self.error(key, format!("expected true or false, found {}", item.type_name()));
        self.item(key).map(|item| item.as_bool().ok_or_else(|| wrong(item))).transpose()
    }

    /// One of these words.
    pub(crate) fn word<'w>(&self, key: &str, words: &[&'w str]) -> Result<Option<&'w str>, FormatError> {
        let Some(text) = self.text(key)? else { return Ok(None) };
        if let Some(&word) = words.iter().find(|&&word| word == text) {
            return Ok(Some(word));
        }
        let hint = nearest(text, words.iter().copied());
        let hint = hint.map(|word| format!(", did you mean \"{word}\"?")).unwrap_or_default();
        let message = format!("expected {}, found \"{}\"{hint}", list(words), excerpt(text));
        Err(self.error(key, message))
    }

    /// Bytes: a whole number, or a text such as "2MiB".
    pub(crate) fn size(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let expected =
            format!("expected bytes ({} to {}) such as 4096 or \"2MiB\"", range.start(), range.end());
        let bytes = match (item.as_integer(), item.as_str()) {
            (Some(n), _) => u64::try_from(n).ok(),
            (None, Some(text)) => parse_size(text),
            (None, None) => return Err(self.error(key, format!("{expected}, found {}", found(item)))),
        };
        match bytes {
            Some(bytes) if range.contains(&bytes) => Ok(Some(bytes)),
            _ => {
                let found = item.to_string();
                Err(self.error(key, format!("{expected}, found {}", excerpt(&found))))
            }
        }
    }

    /// A number, with or without a point.
    pub(crate) fn number(
        &self,
        key: &str,
        expected: &str,
        valid: impl Fn(f64) -> bool,
    ) -> Result<Option<f64>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        match item.as_float().or(item.as_integer().map(|n| n as f64)) {
            Some(n) if valid(n) => Ok(Some(n)),
            Some(n) => Err(self.error(key, format!("expected {expected}, found {}", written(n)))),
            None => Err(self.error(key, format!("expected {expected}, found {}", found(item)))),
        }
    }

    /// Numbers by name, `{ "a name" = 1, … }`, in order.
    pub(crate) fn numbers(
        &self,
        key: &str,
        expected: &str,
        valid: impl Fn(f64) -> bool,
    ) -> Result<Option<Vec<(String, f64)>>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let table = item.as_table_like().ok_or_else(|| {
            let example = "a table such as { \"a name\" = 1 }";
            self.error(key, format!("expected {example}, found {}", item.type_name()))
        })?;
        let inner = Keys { at: self.at, table, span: item.span() };
        let one = |(name, _): (&str, &Item)| {
            let number = inner.number(name, expected, &valid)?;
            Ok((name.to_owned(), number.expect("it is there")))
        };
        table.iter().map(one).collect::<Result<_, _>>().map(Some)
    }

    pub(crate) fn whole(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let expected = if *range.end() == i64::MAX {
            format!("expected a whole number, {} to 2^63 - 1", range.start())
        } else {
            format!("expected a whole number of {} to {}", range.start(), range.end())
        };
        match item.as_integer() {
            Some(n) if range.contains(&n) => Ok(Some(n)),
            Some(n) => Err(self.error(key, format!("{expected}, found {n}"))),
            None => Err(self.error(key, format!("{expected}, found {}", found(item)))),
        }
    }
}

/// A text as it stands there, of anything else what it is.
fn found(item: &Item) -> String {
    match item.as_value() {
        Some(Value::String(text)) => format!("\"{}\"", excerpt(text.value())),
        Some(Value::Integer(_) | Value::Float(_) | Value::Boolean(_)) => excerpt(item.to_string().trim()),
        _ => item.type_name().to_owned(),
    }
}

/// A number without a row of zeros.
fn written(n: f64) -> String {
    if n == 0.0 || (1e-4..1e9).contains(&n.abs()) { n.to_string() } else { format!("{n:e}") }
}

/// `a, b or c`.
pub(crate) fn list(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

/// `4096`, `200 KB`, `2MiB`, `1.5 GiB`: what comes out must be whole bytes.
pub(crate) fn parse_size(text: &str) -> Option<u64> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let scale: u64 = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" => 1_000,
        "MB" => 1_000_000,
        "GB" => 1_000_000_000,
        "TB" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    let number = number.replace('_', "");
    if let Ok(whole) = number.parse::<u64>() {
        return whole.checked_mul(scale);
    }
    let bytes = number.parse::<f64>().ok()? * scale as f64;
    (bytes.fract() == 0.0 && (0.0..9e15).contains(&bytes)).then_some(bytes as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_whole_bytes() {
        let sizes = ["4096", "2MiB", "200 KB", "1.5 KiB", "1_000 B", "3GB", "1TiB"].map(parse_size);
        assert_eq!(sizes, [4096, 2 << 20, 200_000, 1536, 1000, 3_000_000_000, 1 << 40].map(Some));
        for text in ["", "MiB", "1.5", "0.1KB x", "-3", "2 mib", "1e3", "99999999999GiB", "1.2.3KB"] {
            assert_eq!(parse_size(text), None, "{text}");
        }
    }
}
