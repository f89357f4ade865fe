//! From bytes to lines: what every text format does first.
//!
//! Invariants: gzip is unpacked; binary data is refused where the first byte says so; what remains is
//! valid UTF-8 (tools print ASCII, but a terminal's log may not be). A [`Cursor`] walks one line and
//! never panics, whatever the line holds.

use std::borrow::Cow;

use crate::error::FormatError;
use crate::gzip::decompress;

/// The text of an input: unpacked, without a byte-order mark, known not to be binary.
///
/// # Errors
/// Damaged gzip data, NUL bytes, UTF-16.
pub fn text<'a>(bytes: &'a [u8], label: &str) -> Result<Cow<'a, str>, FormatError> {
    match decompress(bytes, label)? {
        Cow::Borrowed(plain) => {
            let plain = check(plain, label)?;
            Ok(String::from_utf8_lossy(plain))
        }
        Cow::Owned(plain) => {
            let checked = check(&plain, label)?;
            if checked.len() == plain.len() {
                return Ok(Cow::Owned(
                    String::from_utf8(plain)
                        .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned()),
                ));
            }
            Ok(Cow::Owned(String::from_utf8_lossy(checked).into_owned()))
        }
    }
}

fn check<'a>(plain: &'a [u8], label: &str) -> Result<&'a [u8], FormatError> {
    if plain.starts_with(&[0xff, 0xfe]) || plain.starts_with(&[0xfe, 0xff]) {
        return Err(FormatError::at(label, 1, "expected plain text (ASCII or UTF-8), found UTF-16"));
    }
    if let Some(at) = plain.iter().position(|&b| b == 0) {
        let line = 1 + plain[..at].iter().filter(|&&b| b == b'\n').count();
        return Err(FormatError::at(label, line, "expected text, found binary data (a NUL byte)"));
    }
    Ok(plain.strip_prefix(b"\xef\xbb\xbf").unwrap_or(plain))
}

/// The last line, from 1, that is not blank; 0 if there is none.
pub fn last_line(text: &str) -> usize {
    let end = text.trim_ascii_end();
    if end.is_empty() { 0 } else { 1 + end.bytes().filter(|&b| b == b'\n').count() }
}

/// A walk along one line. Every step takes what it wants or leaves the cursor where it was.
#[derive(Clone, Copy, Debug)]
pub struct Cursor<'a> {
    /// What is still ahead.
    pub rest: &'a str,
}

impl<'a> Cursor<'a> {
    /// At the start of a line.
    pub fn new(line: &'a str) -> Self {
        Self { rest: line }
    }

    /// Steps over blanks.
    #[inline]
    pub fn blanks(&mut self) -> &mut Self {
        self.rest = self.rest.trim_ascii_start();
        self
    }

    /// Takes exactly `literal`.
    #[inline]
    pub fn eat(&mut self, literal: &str) -> bool {
        match self.rest.strip_prefix(literal) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// Takes the bytes that satisfy `keep` (ASCII only).
    #[inline]
    pub fn run(&mut self, keep: impl Fn(u8) -> bool) -> &'a str {
        let end = self.rest.bytes().position(|b| !b.is_ascii() || !keep(b)).unwrap_or(self.rest.len());
        let (run, rest) = self.rest.split_at(end);
        self.rest = rest;
        run
    }

    /// Takes a decimal number.
    #[inline]
    pub fn number(&mut self) -> Option<u32> {
        let before = self.rest;
        let value = self.run(|b| b.is_ascii_digit()).parse().ok();
        if value.is_none() {
            self.rest = before;
        }
        value
    }

    /// Takes a hexadecimal number, with or without `0x`.
    #[inline]
    pub fn hex(&mut self) -> Option<u64> {
        let before = self.rest;
        let _ = self.eat("0x") || self.eat("0X");
        let value = parse_hex(self.run(|b| b.is_ascii_hexdigit()));
        if value.is_none() {
            self.rest = before;
        }
        value
    }

    /// Takes everything up to `end`, and `end` itself.
    #[inline]
    pub fn until(&mut self, end: char) -> Option<&'a str> {
        let (head, rest) = self.rest.split_once(end)?;
        self.rest = rest;
        Some(head)
    }

    /// Takes a word: what stands before the next blank.
    #[inline]
    pub fn word(&mut self) -> &'a str {
        self.blanks();
        self.run(|b| !b.is_ascii_whitespace())
    }
}

/// A hexadecimal number of 1 to 16 digits, nothing else.
#[inline]
pub fn parse_hex(digits: &str) -> Option<u64> {
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut value = 0u64;
    for b in digits.bytes() {
        value = (value << 4) | u64::from((b as char).to_digit(16)?);
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_data_is_named_as_such() {
        let e = text(b"Switch\n\0\0", "net.txt").unwrap_err();
        assert_eq!(e.to_string(), "net.txt:2: expected text, found binary data (a NUL byte)");
        assert!(text(b"\xff\xfeS\0", "x").unwrap_err().message.contains("UTF-16"));
    }

    #[test]
    fn marks_go_and_odd_bytes_stay_text() {
        assert_eq!(text(b"\xef\xbb\xbfabc", "x").unwrap(), "abc");
        assert_eq!(text(b"a\xffb", "x").unwrap(), "a\u{fffd}b");
    }

    #[test]
    fn cursor_leaves_what_it_cannot_take() {
        let mut c = Cursor::new("[12](2c90a) x");
        assert!(c.eat("["));
        assert_eq!(c.number(), Some(12));
        assert_eq!(c.number(), None);
        assert!(c.eat("]("));
        assert_eq!(c.hex(), Some(0x2c90a));
        assert_eq!(c.until('"'), None);
        assert_eq!(c.rest, ") x");
        assert_eq!(parse_hex("00000000000000000"), None);
        assert_eq!(Cursor::new("99999999999").number(), None);
    }
}
