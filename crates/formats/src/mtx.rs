//! Matrix Market files (`.mtx`, also gzipped): traffic matrices, row = sender, column = receiver.
//!
//! Read: `matrix coordinate`, fields `integer`, `unsigned-integer`, `real`, `double` and `pattern` (each
//! entry one byte), symmetries `general`, `symmetric` and (without non-zeros only: bytes are never
//! negative) `skew-symmetric`; `matrix array` is in [`dense`](mod@crate::dense). Indices count from 1. Entries of equal place add up. The comment
//! `% netloom hosts <16 hex digits>` carries the hash of the host names that the rows belong to.
//!
//! Written: integers as integers, other numbers as the shortest text that reads back the same.
//!
//! Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats" (NISTIR 5935).

use netloom_model::traffic::{AMOUNT, is_amount};
use netloom_model::{Csr, MAX_ENDPOINTS, Traffic};

use crate::amount_text::{is_integer, push_integer, push_value};
use crate::dense::read_array;
use crate::error::excerpt;
use crate::{FormatError, decompress};

/// The comment that names the hosts a matrix belongs to.
const HOSTS_COMMENT: &str = "netloom hosts ";
/// What a dense matrix begins with.
const ARRAY: [&str; 3] = ["%%matrixmarket", "matrix", "array"];

#[derive(Clone, Copy, PartialEq)]
enum Symmetry {
    General,
    Symmetric,
    Skew,
}

/// Reads a traffic matrix.
///
/// # Errors
/// [`FormatError`] names the line: a header of another kind, a matrix that is not square, an index out of
/// range (0 included), a negative value or one that is not a number, more or fewer entries than announced.
pub fn read_mtx(bytes: &[u8], label: &str) -> Result<Traffic, FormatError> {
    let bytes = decompress(bytes, label)?;
    let start: Vec<u8> = bytes.iter().take(64).map(u8::to_ascii_lowercase).collect();
    if String::from_utf8_lossy(&start).split_ascii_whitespace().take(3).eq(ARRAY) {
        return read_array(&String::from_utf8_lossy(&bytes), label);
    }
    let mut lines = Lines { rest: &bytes, number: 0 };
    let (pattern, symmetry) = header(lines.next(), label)?;
    let mut hosts_hash = None;
    let (size_line, size) = loop {
        let Some(line) = lines.next() else {
            return Err(FormatError::whole(label, "expected a line \"rows columns entries\", found the end"));
        };
        match line {
            [] => {}
            [b'%', comment @ ..] => hosts_hash = hosts_hash.or(hash_comment(comment)),
            _ => break (lines.number, line),
        }
    };
    let [n, columns, entries] = size_numbers(size)
        .ok_or_else(|| bad(label, size_line, "\"rows columns entries\"", &String::from_utf8_lossy(size)))?;
    if n != columns {
        let found = format!("{n} rows and {columns} columns");
        return Err(bad(label, size_line, "a square matrix (row = sender, column = receiver)", &found));
    }
    if n > u64::from(MAX_ENDPOINTS) {
        return Err(bad(label, size_line, &format!("at most {MAX_ENDPOINTS} rows"), &n.to_string()));
    }

    // Nothing is reserved on the word of the header: an entry takes at least four bytes of text.
    let room = (entries as usize).min(lines.rest.len() / 4 + 1);
    let room = if symmetry == Symmetry::General { room } else { 2 * room };
    let (mut from, mut to, mut values) =
        (Vec::with_capacity(room), Vec::with_capacity(room), Vec::with_capacity(room));
    let mut seen = 0u64;
    while let Some(line) = lines.next() {
        if line.is_empty() || line[0] == b'%' {
            continue;
        }
        seen += 1;
        if seen > entries {
            let expected = format!("{entries} entries, as line {size_line} says");
            return Err(bad(label, lines.number, &expected, "one more"));
        }
        let Entry { i, j, value } =
            entry(line, pattern, n).map_err(|fault| fault.at(label, &lines, line, n))?;
        if value == 0.0 {
            continue;
        }
        from.push(i);
        to.push(j);
        values.push(value);
        match symmetry {
            Symmetry::General => {}
            Symmetry::Skew => {
                let message = format!(
                    "expected bytes, which are not negative: the matrix is skew-symmetric, so entry ({}, {}) is -{value}",
                    j + 1,
                    i + 1
                );
                return Err(FormatError::at(label, lines.number, message));
            }
            Symmetry::Symmetric if i == j => {}
            Symmetry::Symmetric => {
                from.push(j);
                to.push(i);
                values.push(value);
            }
        }
    }
    if seen < entries {
        let expected = format!("{entries} entries, as line {size_line} says");
        return Err(bad(label, lines.number, &expected, &format!("the end after {seen}")));
    }
    let traffic = Traffic::from_triples(n as u32, &from, &to, &values, None)
        .map_err(|e| FormatError::whole(label, e.to_string()))?;
    Ok(traffic.with_hosts_hash(hosts_hash))
}

/// Writes a matrix; `hosts_hash` goes into a comment.
pub fn write_mtx(matrix: &Csr, hosts_hash: Option<u64>) -> Vec<u8> {
    let integers = matrix.bytes().iter().all(|&v| is_integer(v));
    let field = if integers { "integer" } else { "real" };
    let mut out = Vec::with_capacity(matrix.entry_count() * 20 + 128);
    let mut head = format!("%%MatrixMarket matrix coordinate {field} general\n");
    head += "% bytes from host or rank (row) to host or rank (column), counted from 1\n";
    if let Some(hash) = hosts_hash {
        head += &format!("% {HOSTS_COMMENT}{hash:016x}\n");
    }
    head += &format!("{0} {0} {1}\n", matrix.size(), matrix.entry_count());
    out.extend_from_slice(head.as_bytes());
    for (i, j, value) in matrix.iter() {
        push_integer(&mut out, u64::from(i) + 1);
        out.push(b' ');
        push_integer(&mut out, u64::from(j) + 1);
        out.push(b' ');
        push_value(&mut out, value);
        out.push(b'\n');
    }
    out
}

/// Lines without their ends and outer blanks; `number` is that of the last one given.
struct Lines<'a> {
    rest: &'a [u8],
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.number += 1;
        let end = self.rest.iter().position(|&b| b == b'\n');
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = &self.rest[end.map_or(self.rest.len(), |end| end + 1)..];
        Some(line.trim_ascii())
    }
}

fn bad(label: &str, line: usize, expected: &str, found: &str) -> FormatError {
    FormatError::at(label, line, format!("expected {expected}, found {}", excerpt(found)))
}

/// Whether entries have no value, and the symmetry.
fn header(line: Option<&[u8]>, label: &str) -> Result<(bool, Symmetry), FormatError> {
    let text = String::from_utf8_lossy(line.unwrap_or_default()).to_ascii_lowercase();
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let ["%%matrixmarket", object, format, field, symmetry] = words[..] else {
        let expected = "\"%%MatrixMarket matrix coordinate FIELD SYMMETRY\"";
        return Err(bad(label, 1, expected, if text.is_empty() { "an empty line" } else { &text }));
    };
    let refuse = |expected: &str, found: &str| Err(bad(label, 1, expected, &format!("\"{found}\"")));
    match (object, format) {
        ("matrix", "coordinate") => {}
        ("matrix", _) => return refuse("\"coordinate\" or \"array\"", format),
        _ => return refuse("\"matrix\"", object),
    }
    let pattern = match field {
        "integer" | "unsigned-integer" | "real" | "double" => false,
        "pattern" => true,
        _ => return refuse("\"integer\", \"real\" or \"pattern\" (bytes)", field),
    };
    match symmetry {
        "general" => Ok((pattern, Symmetry::General)),
        "symmetric" => Ok((pattern, Symmetry::Symmetric)),
        "skew-symmetric" => Ok((pattern, Symmetry::Skew)),
        _ => refuse("\"general\", \"symmetric\" or \"skew-symmetric\"", symmetry),
    }
}

/// The hash in `% netloom hosts …`.
fn hash_comment(comment: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(comment).ok()?.trim().strip_prefix(HOSTS_COMMENT)?;
    (text.len() == 16).then(|| u64::from_str_radix(text, 16).ok())?
}

fn size_numbers(line: &[u8]) -> Option<[u64; 3]> {
    let (a, rest) = integer(line)?;
    let (b, rest) = integer(rest.trim_ascii_start())?;
    let (c, rest) = integer(rest.trim_ascii_start())?;
    rest.is_empty().then_some([a, b, c])
}

/// A run of digits that ends at a blank or the end.
fn integer(text: &[u8]) -> Option<(u64, &[u8])> {
    let mut n = 0u64;
    let mut at = 0;
    while let Some(digit) = text.get(at).map(|b| b.wrapping_sub(b'0')).filter(|&d| d < 10) {
        n = n.checked_mul(10)?.checked_add(u64::from(digit))?;
        at += 1;
    }
    let ends = text.get(at).is_none_or(u8::is_ascii_whitespace);
    (at > 0 && ends).then(|| (n, &text[at..]))
}

struct Entry {
    i: u64,
    j: u64,
    value: f64,
}

enum Fault {
    Shape,
    Index(u64),
    Value,
}

impl Fault {
    fn at(self, label: &str, lines: &Lines, line: &[u8], n: u64) -> FormatError {
        let text = String::from_utf8_lossy(line);
        let (expected, found) = match self {
            Fault::Shape => ("\"row column value\"".to_owned(), format!("\"{}\"", excerpt(&text))),
            Fault::Index(0) => (
                format!("an index of 1 to {n} (Matrix Market counts from 1)"),
                "0: is it counted from 0?".to_owned(),
            ),
            Fault::Index(i) => (format!("an index of 1 to {n}"), i.to_string()),
            Fault::Value => {
                let word = text.split_ascii_whitespace().nth(2).unwrap_or_default();
                (format!("bytes as {AMOUNT}"), format!("\"{}\"", excerpt(word)))
            }
        };
        bad(label, lines.number, &expected, &found)
    }
}

#[inline]
fn entry(line: &[u8], pattern: bool, n: u64) -> Result<Entry, Fault> {
    let (i, rest) = integer(line).ok_or(Fault::Shape)?;
    let (j, rest) = integer(rest.trim_ascii_start()).ok_or(Fault::Shape)?;
    for index in [i, j] {
        if index == 0 || index > n {
            return Err(Fault::Index(index));
        }
    }
    let text = rest.trim_ascii_start();
    if text.is_empty() != pattern {
        return Err(Fault::Shape);
    }
    let value = if pattern { 1.0 } else { number(text)? };
    Ok(Entry { i: i - 1, j: j - 1, value })
}

/// A value that [`is_amount`].
fn number(text: &[u8]) -> Result<f64, Fault> {
    // Up to 15 digits are exact as a double.
    if text.len() <= 15
        && let Some((n, [])) = integer(text)
    {
        return Ok(n as f64);
    }
    if text.iter().any(u8::is_ascii_whitespace) {
        return Err(Fault::Shape);
    }
    let value = std::str::from_utf8(text).ok().and_then(|t| t.parse::<f64>().ok()).ok_or(Fault::Value)?;
    if is_amount(value) { Ok(value.abs()) } else { Err(Fault::Value) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<(u32, u32, f64)>, String> {
        let traffic = read_mtx(text.as_bytes(), "t.mtx").map_err(|e| e.to_string())?;
        Ok(traffic.total().iter().collect())
    }

    fn refusal(text: &str) -> String {
        read(text).unwrap_err()
    }

    const GENERAL: &str = "%%MatrixMarket matrix coordinate integer general\n";

    #[test]
    fn fields_and_symmetries_are_read() {
        let general =
            "%%MatrixMarket MATRIX Coordinate Real General\r\n%c\r\n\r\n 2 2 2 \r\n1 2 1.5e1\r\n2 1 3\r\n";
        assert_eq!(read(general).unwrap(), [(0, 1, 15.0), (1, 0, 3.0)]);
        let symmetric = "%%MatrixMarket matrix coordinate pattern symmetric\n3 3 2\n2 1\n3 3\n";
        assert_eq!(read(symmetric).unwrap(), [(0, 1, 1.0), (1, 0, 1.0), (2, 2, 1.0)]);
        let twice = format!("{GENERAL}2 2 3\n1 2 5\n% in between\n1 2 6\n2 1 0");
        assert_eq!(read(&twice).unwrap(), [(0, 1, 11.0)]);
    }

    #[test]
    fn skew_symmetric_bytes_would_be_negative() {
        let skew = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 1\n2 1 4\n";
        assert_eq!(
            refusal(skew),
            "t.mtx:3: expected bytes, which are not negative: the matrix is skew-symmetric, so entry (1, 2) is -4"
        );
        let empty = "%%MatrixMarket matrix coordinate real skew-symmetric\n2 2 0\n";
        assert_eq!(read(empty).unwrap(), []);
    }

    #[test]
    fn other_kinds_are_refused_with_a_word() {
        let head = |words: &str| refusal(&format!("%%MatrixMarket {words}\n1 1 0\n"));
        assert!(head("matrix list real general").contains("found \"list\""));
        assert!(head("matrix coordinate complex general").contains("found \"complex\""));
        assert!(head("matrix coordinate real hermitian").contains("found \"hermitian\""));
        assert!(head("vector coordinate real general").contains("expected \"matrix\""));
        assert!(refusal("").starts_with("t.mtx:1: expected \"%%MatrixMarket"));
        assert!(refusal("1 2 3\n").contains("found 1 2 3"));
    }

    #[test]
    fn a_header_that_lies_is_caught() {
        assert_eq!(
            refusal(&format!("{GENERAL}2 2 1\n1 2 5\n2 1 5\n")),
            "t.mtx:4: expected 1 entries, as line 2 says, found one more"
        );
        assert_eq!(
            refusal(&format!("{GENERAL}2 2 999999999999\n1 2 5\n")),
            "t.mtx:3: expected 999999999999 entries, as line 2 says, found the end after 1"
        );
        assert!(refusal(&format!("{GENERAL}3 4 0\n")).contains("found 3 rows and 4 columns"));
        assert!(refusal(&format!("{GENERAL}3 3\n")).contains("expected \"rows columns entries\", found 3 3"));
        assert!(refusal(&format!("{GENERAL}4294967296 4294967296 0\n")).contains("at most 10000000 rows"));
        assert!(refusal(GENERAL).contains("found the end"));
    }

    #[test]
    fn bad_entries_are_named() {
        let entry = |line: &str| refusal(&format!("{GENERAL}2 2 1\n{line}\n"));
        assert_eq!(
            entry("0 1 5"),
            "t.mtx:3: expected an index of 1 to 2 (Matrix Market counts from 1), found 0: is it counted from 0?"
        );
        assert_eq!(entry("1 3 5"), "t.mtx:3: expected an index of 1 to 2, found 3");
        for value in ["-5", "nan", "inf", "1e999", "x", "1e101"] {
            assert_eq!(
                entry(&format!("1 2 {value}")),
                format!("t.mtx:3: expected bytes as {AMOUNT}, found \"{value}\"")
            );
        }
        for line in ["1 2", "1 2 3 4", "1 -2 3", "1.0 2 3", "one two three"] {
            assert!(entry(line).contains("expected \"row column value\""), "{line}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        let traffic =
            Traffic::from_triples(3, &[0, 1, 2], &[1, 2, 2], &[454_328.0, 0.1, 1e-9], None).unwrap();
        let matrix = traffic.total();
        let text = write_mtx(&matrix, Some(0xab));
        let back = read_mtx(&text, "t").unwrap();
        assert_eq!(back.total(), matrix);
        assert_eq!(back.hosts_hash(), Some(0xab));
        assert_eq!(read_mtx(&crate::gzip::zipped(&text), "t").unwrap(), back);
        assert!(String::from_utf8(text).unwrap().contains("\n1 2 454328\n2 3 0.1\n3 3 1e-9\n"));
    }

    #[test]
    fn integers_stay_integers() {
        let traffic = Traffic::from_triples(2, &[0], &[1], &[7.0], None).unwrap();
        let text = String::from_utf8(write_mtx(&traffic.total(), None)).unwrap();
        assert!(text.starts_with("%%MatrixMarket matrix coordinate integer general\n"));
        assert!(text.ends_with("\n2 2 1\n1 2 7\n"));
    }
}
