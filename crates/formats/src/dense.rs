//! Dense matrices as text: a row a line, or Matrix Market's arrays.
//!
//! A row is what a sender sends to each; numbers are separated by commas, semicolons or blanks, and there are as many rows as columns.
//! `%%MatrixMarket matrix array FIELD general|symmetric` has a number a line, column after column; of a symmetric one the lower
//! triangle.
//!
//! Invariant: memory is bounded by the file: zeros are not kept, and nothing is reserved on the word of a header.
//!
//! Source: Boisvert, Pozo, Remington, "The Matrix Market exchange formats" (NISTIR 5935).

use netloom_model::{MAX_ENDPOINTS, Traffic};

use crate::FormatError;
use crate::amount_text::value;
use crate::error::excerpt;

/// Entries that are not 0.
#[derive(Default)]
struct Entries {
    from: Vec<u64>,
    to: Vec<u64>,
    bytes: Vec<f64>,
}

impl Entries {
    fn push(&mut self, from: u64, to: u64, bytes: f64) {
        if bytes > 0.0 {
            self.from.push(from);
            self.to.push(to);
            self.bytes.push(bytes);
        }
    }

    fn traffic(self, n: u64, label: &str) -> Result<Traffic, FormatError> {
        if n > u64::from(MAX_ENDPOINTS) {
            return Err(FormatError::whole(
                label,
                format!("expected at most {MAX_ENDPOINTS} rows, found {n}"),
            ));
        }
        Traffic::from_triples(n as u32, &self.from, &self.to, &self.bytes, None)
            .map_err(|e| FormatError::whole(label, e.to_string()))
    }
}

/// Words of a line of a table: between commas, semicolons and blanks.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| c == ',' || c == ';' || c.is_ascii_whitespace()).filter(|word| !word.is_empty())
}

/// Reads a square table of numbers. Lines that begin with `#` or `%` are comments.
///
/// # Errors
/// [`FormatError`] names the line: a row of another length, a value that is negative or no number, more or fewer rows than columns.
pub fn read_dense(text: &str, label: &str) -> Result<Traffic, FormatError> {
    let (mut entries, mut rows, mut columns) = (Entries::default(), 0u64, 0u64);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '%']) {
            continue;
        }
        let mut found = 0;
        for word in words(line) {
            let bytes = value(word, "bytes").map_err(|m| FormatError::at(label, number, m))?;
            entries.push(rows, found, bytes);
            found += 1;
        }
        if rows == 0 {
            columns = found;
        }
        rows += 1;
        if found != columns || rows > columns {
            let message = if found == columns {
                format!("expected {columns} rows, as many as columns, found one more")
            } else {
                format!("expected {columns} numbers, as in the first row, found {found}")
            };
            return Err(FormatError::at(label, number, message));
        }
    }
    if rows != columns || rows == 0 {
        let message = format!("expected as many rows as columns, found {rows} rows and {columns} columns");
        return Err(FormatError::whole(label, message));
    }
    entries.traffic(rows, label)
}

/// Reads Matrix Market's dense form.
///
/// # Errors
/// [`FormatError`] names the line: a header of another kind, a matrix that is not square, a value that is negative or no number, too
/// many values or too few.
pub(crate) fn read_array(text: &str, label: &str) -> Result<Traffic, FormatError> {
    let head = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let kind: Vec<&str> = head.split_ascii_whitespace().skip(3).collect();
    let symmetric = match kind[..] {
        ["integer" | "unsigned-integer" | "real" | "double", "general"] => false,
        ["integer" | "unsigned-integer" | "real" | "double", "symmetric"] => true,
        _ => {
            let message =
                "expected \"%%MatrixMarket matrix array\" with integer or real, and general or symmetric";
            return Err(FormatError::at(label, 1, message));
        }
    };
    let (mut entries, mut size) = (Entries::default(), None);
    let (mut row, mut column) = (0u64, 0u64);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('%') {
            continue;
        }
        let refuse = |message: String| Err(FormatError::at(label, number, message));
        let Some(n) = size else {
            let sizes: Vec<Option<u64>> = words(line).map(|word| word.parse().ok()).collect();
            match sizes[..] {
                [Some(rows), Some(columns)] if rows == columns && rows <= u64::from(MAX_ENDPOINTS) => {
                    size = Some(rows);
                }
                _ => return refuse(format!("expected \"rows columns\", equal, found \"{}\"", excerpt(line))),
            }
            continue;
        };
        if column == n {
            return refuse(format!("expected {n} columns of values, found one more"));
        }
        let bytes = value(line, "bytes").map_err(|m| FormatError::at(label, number, m))?;
        entries.push(row, column, bytes);
        if symmetric && row != column {
            entries.push(column, row, bytes);
        }
        row += 1;
        if row == n {
            column += 1;
            row = if symmetric { column } else { 0 };
        }
    }
    match size {
        Some(n) if column == n => entries.traffic(n, label),
        Some(n) => {
            let message = format!("expected {n} columns of values, found the end in column {}", column + 1);
            Err(FormatError::whole(label, message))
        }
        None => Err(FormatError::whole(label, "expected a line \"rows columns\", found the end")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read_mtx;

    fn entries(traffic: &Traffic) -> Vec<(u32, u32, f64)> {
        traffic.total().iter().collect()
    }

    #[test]
    fn rows_send_to_columns_whatever_separates_them() {
        for text in ["0,5,0\n0,0,2.5\n1,0,0\n", "# bytes\n0 5 0\n\n0\t0 2.5\n1;0;0"] {
            let traffic = read_dense(text, "x").unwrap();
            assert_eq!(
                (traffic.endpoints(), entries(&traffic)),
                (3, vec![(0, 1, 5.0), (1, 2, 2.5), (2, 0, 1.0)])
            );
        }
    }

    #[test]
    fn arrays_of_matrix_market_go_column_by_column() {
        let general = "%%MatrixMarket matrix array integer general\n% made by hand\n2 2\n0\n7\n3\n0\n";
        assert_eq!(entries(&read_mtx(general.as_bytes(), "x").unwrap()), [(0, 1, 3.0), (1, 0, 7.0)]);
        let symmetric = "%%MatrixMarket matrix array real symmetric\n3 3\n0\n1\n2\n0\n3\n0\n";
        let traffic = read_mtx(symmetric.as_bytes(), "x").unwrap();
        assert_eq!(entries(&traffic).len(), 6);
        assert!(entries(&traffic).contains(&(1, 2, 3.0)) && entries(&traffic).contains(&(2, 1, 3.0)));
    }

    #[test]
    fn what_is_not_square_or_no_number_is_named() {
        let refusal = |text: &str| read_dense(text, "x").unwrap_err().to_string();
        assert_eq!(refusal("0 1\n2\n"), "x:2: expected 2 numbers, as in the first row, found 1");
        assert_eq!(refusal("0 1\n"), "x: expected as many rows as columns, found 1 rows and 2 columns");
        assert_eq!(refusal("1\n2\n"), "x:2: expected 1 rows, as many as columns, found one more");
        assert!(refusal("0 -1\n1 0\n").starts_with("x:1: expected bytes as a finite number"));
        assert!(refusal("").contains("found 0 rows"));
        let array = |rest: &str| {
            let text = format!("%%MatrixMarket matrix array integer general\n{rest}");
            read_mtx(text.as_bytes(), "x").unwrap_err().to_string()
        };
        assert_eq!(array("2 2\n0\n1\n2\n"), "x: expected 2 columns of values, found the end in column 2");
        assert_eq!(array("1 1\n0\n1\n"), "x:4: expected 1 columns of values, found one more");
        assert!(array("2 3\n").contains("expected \"rows columns\", equal"));
        assert!(array("").contains("found the end"));
        assert!(array("9999999 9999999\n1\n").contains("found the end"));
    }
}
