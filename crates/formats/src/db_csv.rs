//! The sections of `ibdiagnet2.db_csv`: tables as CSV, one behind the other.
//!
//! ```text
//! START_LINKS
//! NodeGuid1,PortNum1,NodeGuid2,PortNum2
//! 0xb0cf0e0300e5b940,1,0x5c25730300c06f60,1
//! END_LINKS
//! ```
//!
//! Columns are found by their header, in any order and case, with blanks around them (releases differ in all three); the sections that
//! are not asked for are stepped over. Invariants: a section that is asked for has its end and is there once; each of its rows
//! has as many fields as its header. Descriptions hold quotes and commas, and neither is escaped: where a row has
//! another number of fields than its header, its outermost quotes count.

use crate::error::{FormatError, excerpt};
use crate::text::parse_hex;

/// What ibdiagnet writes for a value that it does not have, beside nothing at all.
const ABSENT: [&str; 4] = ["N/A", "NA", "-1", "0xfffffffffffffffe"];

/// Whether a line begins a section.
pub(crate) fn begins(line: &str) -> bool {
    start_of(line).is_some()
}

/// `NODES` of `START_NODES`.
fn start_of(line: &str) -> Option<&str> {
    let name = line.strip_prefix("START_")?.trim_ascii_end();
    let known = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    (!name.is_empty() && name.bytes().all(known)).then_some(name)
}

/// One table of the file.
pub(crate) struct Section<'a> {
    pub name: &'static str,
    label: &'a str,
    /// Line of its `START_`.
    pub line: usize,
    header_line: usize,
    header: Vec<String>,
    rows: Vec<(usize, &'a str)>,
}

/// The section of that name (`NODES`), if the file has it.
///
/// # Errors
/// It is there twice, has no header, or does not end.
pub(crate) fn section<'a>(
    text: &'a str,
    label: &'a str,
    name: &'static str,
) -> Result<Option<Section<'a>>, FormatError> {
    let mut found: Option<Section<'a>> = None;
    let mut inside = false;
    let mut last = 0;
    for (number, line) in (1..).zip(text.lines()) {
        let start = start_of(line);
        last = number;
        if inside {
            let section = found.as_mut().expect("we are inside it");
            let line = line.trim_ascii();
            if line.strip_prefix("END_") == Some(name) {
                inside = false;
            } else if start.is_some() {
                let message =
                    format!("truncated file: expected END_{name} first, found \"{}\"", excerpt(line));
                return Err(FormatError::at(label, number, message));
            } else if line.is_empty() || line.starts_with('#') {
            } else if section.header.is_empty() {
                section.header_line = number;
                section.header = line.split(',').map(|f| f.trim().to_ascii_lowercase()).collect();
            } else {
                section.rows.push((number, line));
            }
        } else if start == Some(name) {
            if let Some(first) = &found {
                let message =
                    format!("expected START_{name} once, found it again: line {} has it too", first.line);
                return Err(FormatError::at(label, number, message));
            }
            let (header, rows) = (Vec::new(), Vec::new());
            found = Some(Section { name, label, line: number, header_line: number, header, rows });
            inside = true;
        }
    }
    if inside {
        return Err(FormatError::at(
            label,
            last,
            format!("truncated file: expected END_{name}, found the end"),
        ));
    }
    match &found {
        Some(section) if section.header.is_empty() => Err(FormatError::at(
            label,
            section.line,
            format!("expected a header in START_{name}, found none"),
        )),
        _ => Ok(found),
    }
}

/// As [`section`]; a file without it is refused, with what it is needed for.
pub(crate) fn needed<'a>(
    text: &'a str,
    label: &'a str,
    name: &'static str,
    what_for: &str,
) -> Result<Section<'a>, FormatError> {
    section(text, label, name)?.ok_or_else(|| {
        let others: Vec<&str> = text.lines().filter_map(start_of).collect();
        let found = match others.len() {
            n if n > 6 => format!("{} and {} others", others[..6].join(", "), n - 6),
            _ => others.join(", "),
        };
        let message = format!("expected a section START_{name} ({what_for}), found none (but {found})");
        FormatError::whole(label, message)
    })
}

impl<'a> Section<'a> {
    /// Where the column of that name is, if there is one.
    pub fn find(&self, column: &str) -> Option<usize> {
        self.header.iter().position(|h| h.eq_ignore_ascii_case(column))
    }

    /// Where the column of one of these names is.
    pub fn column(&self, names: &[&str]) -> Result<usize, FormatError> {
        names.iter().find_map(|name| self.find(name)).ok_or_else(|| {
            let message = format!("expected a column {} in START_{}, found none", names[0], self.name);
            FormatError::at(self.label, self.header_line, message)
        })
    }

    /// All columns, in lower case.
    pub fn columns(&self) -> impl Iterator<Item = (usize, &str)> {
        self.header.iter().map(String::as_str).enumerate()
    }

    /// The rows, each split into its fields; an error for one that has more or fewer than the header.
    pub fn rows(&self) -> impl Iterator<Item = Result<Row<'a>, FormatError>> {
        self.rows.iter().map(|&(line, text)| {
            let plain = split(text, text.find("\","));
            let fields = if plain.len() == self.header.len() { plain } else { split(text, text.rfind('"')) };
            if fields.len() == self.header.len() {
                return Ok(Row { label: self.label, line, fields });
            }
            let message = format!(
                "expected {} fields as in the header of START_{}, found {}: \"{}\"",
                self.header.len(),
                self.name,
                fields.len(),
                excerpt(text)
            );
            Err(FormatError::at(self.label, line, message))
        })
    }
}

/// Fields at commas; from the first quote to the one at `close` is one field.
fn split(text: &str, close: Option<usize>) -> Vec<&str> {
    let open = text.find('"');
    let Some((open, close)) = open.zip(close).filter(|(open, close)| open < close) else {
        return text.split(',').map(|f| f.trim().trim_matches('"')).collect();
    };
    let (before, after) = (&text[..open], &text[close + 1..]);
    let mut fields: Vec<&str> = before.split(',').map(str::trim).collect();
    fields.pop();
    fields.push(&text[open + 1..close]);
    fields.extend(after.split(',').skip(1).map(|f| f.trim().trim_matches('"')));
    fields
}

/// One row of a section.
pub(crate) struct Row<'a> {
    label: &'a str,
    /// Its line.
    pub line: usize,
    fields: Vec<&'a str>,
}

impl<'a> Row<'a> {
    /// A field as it is written.
    pub fn text(&self, column: usize) -> &'a str {
        self.fields[column]
    }

    /// A number, decimal or hexadecimal with `0x`; none where ibdiagnet knows none.
    pub fn optional(&self, column: usize, what: &str) -> Result<Option<u64>, FormatError> {
        let field = self.fields[column].trim_ascii();
        if field.is_empty() || ABSENT.iter().any(|absent| field.eq_ignore_ascii_case(absent)) {
            return Ok(None);
        }
        number(field).map(Some).ok_or_else(|| {
            let message = format!("expected {what} as a number below 2^64, found \"{}\"", excerpt(field));
            FormatError::at(self.label, self.line, message)
        })
    }

    /// A number that has to be there.
    pub fn number(&self, column: usize, what: &str) -> Result<u64, FormatError> {
        self.optional(column, what)?.ok_or_else(|| {
            let message = format!("expected {what}, found \"{}\"", excerpt(self.fields[column]));
            FormatError::at(self.label, self.line, message)
        })
    }
}

fn number(field: &str) -> Option<u64> {
    match field.strip_prefix("0x").or_else(|| field.strip_prefix("0X")) {
        Some(digits) => parse_hex(digits),
        None if field.bytes().all(|b| b.is_ascii_digit()) => field.parse().ok(),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(text: &str) -> Result<Vec<Vec<String>>, String> {
        let section = section(text, "d", "LINKS").map_err(|e| e.to_string())?.ok_or("none")?;
        let rows: Result<Vec<Row<'_>>, FormatError> = section.rows().collect();
        let own = |r: Row<'_>| r.fields.iter().map(|f| (*f).to_owned()).collect();
        Ok(rows.map_err(|e| e.to_string())?.into_iter().map(own).collect())
    }

    #[test]
    fn descriptions_may_hold_quotes_and_commas() {
        let text = "START_LINKS\nA, b\n\"x \"y\", z\",2\n\"plain\",3\n\nEND_LINKS\n";
        assert_eq!(links(text).unwrap(), [["x \"y\", z", "2"], ["plain", "3"]]);
    }

    #[test]
    fn sections_end_once_and_have_headers() {
        let bad = |text: &str| links(text).unwrap_err();
        assert_eq!(bad("START_LINKS\nA\n1\n"), "d:3: truncated file: expected END_LINKS, found the end");
        assert_eq!(
            bad("START_LINKS\nA\nSTART_X\n"),
            "d:3: truncated file: expected END_LINKS first, found \"START_X\""
        );
        let twice = "START_LINKS\nA\nEND_LINKS\nSTART_LINKS\n";
        assert_eq!(bad(twice), "d:4: expected START_LINKS once, found it again: line 1 has it too");
        assert_eq!(bad("START_LINKS\nEND_LINKS\n"), "d:1: expected a header in START_LINKS, found none");
        let short = "START_LINKS\nA,B\n1\nEND_LINKS\n";
        assert_eq!(bad(short), "d:3: expected 2 fields as in the header of START_LINKS, found 1: \"1\"");
        assert_eq!(bad("START_NODES\nEND_NODES\n"), "none");
        assert!(!begins("START_nodes") && !begins("START_") && begins("START_RUN_INFO\r"));
    }

    #[test]
    fn what_is_not_known_is_no_number() {
        assert_eq!(
            [number("0x10"), number("10"), number("+1"), number("1.5")],
            [Some(16), Some(10), None, None]
        );
        let row = Row { label: "d", line: 1, fields: vec!["N/A", "0xfffffffffffffffe", "-1", "0xg"] };
        assert_eq!([0, 1, 2].map(|c| row.optional(c, "a")), [Ok(None), Ok(None), Ok(None)]);
        assert_eq!(
            row.number(3, "LID").unwrap_err().to_string(),
            "d:1: expected LID as a number below 2^64, found \"0xg\""
        );
        assert_eq!(row.number(0, "LID").unwrap_err().to_string(), "d:1: expected LID, found \"N/A\"");
    }
}
