//! TOML tables whose keys are all known, and errors that name their line.

use std::ops::Range;

use netloom_model::names::nearest;
use toml_edit::{Item, Table};

use crate::FormatError;
use crate::error::excerpt;

/// Turns spans into lines.
pub(crate) struct Place<'a> {
    pub text: &'a str,
    pub label: &'a str,
}

impl Place<'_> {
    pub(crate) fn error(&self, span: Option<Range<usize>>, message: String) -> FormatError {
        let before = |span: Range<usize>| &self.text.as_bytes()[..span.start.min(self.text.len())];
        let line = span.map(|span| 1 + before(span).iter().filter(|&&b| b == b'\n').count());
        FormatError { label: self.label.into(), line, message }
    }
}

/// A table whose keys are all known.
pub(crate) struct Keys<'a> {
    at: &'a Place<'a>,
    table: &'a Table,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(
        at: &'a Place,
        table: &'a Table,
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
        Ok(Self { at, table })
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
        self.at.error(self.table.span(), message)
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
            Some(n) => Err(self.error(key, format!("expected {expected}, found {n}"))),
            None => Err(self.error(key, format!("expected {expected}, found {}", item.type_name()))),
        }
    }

    pub(crate) fn whole(
        &self,
        key: &str,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<Option<i64>, FormatError> {
        let Some(item) = self.item(key) else { return Ok(None) };
        let expected = if *range.end() == i64::MAX {
            format!("expected a whole number, at least {}", range.start())
        } else {
            format!("expected a whole number of {}..={}", range.start(), range.end())
        };
        match item.as_integer() {
            Some(n) if range.contains(&n) => Ok(Some(n)),
            Some(n) => Err(self.error(key, format!("{expected}, found {n}"))),
            None => Err(self.error(key, format!("{expected}, found {}", item.type_name()))),
        }
    }
}
