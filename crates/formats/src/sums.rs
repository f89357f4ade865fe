//! What every host sends and receives in all, as CSV: `host,sent,received` under a header that must be there.
//!
//! Hosts are names (with a fabric) or numbers from 0; a host without a line sends and receives nothing, one with two
//! lines is an error. Lines that begin with `#` are comments.

use netloom_model::{Fabric, Hose};

use crate::FormatError;
use crate::amount_text::{push_value, value};
use crate::csv::{Names, index, push_end, split, written_names};
use crate::error::excerpt;
use crate::text::text;

/// Reads the sums of `fabric`'s hosts; without a fabric, of as many as the largest number says.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, an unknown host (with the nearest), a host twice, a
/// value that is negative or no number.
pub fn read_sums(bytes: &[u8], label: &str, fabric: Option<&Fabric>) -> Result<Hose, FormatError> {
    let text = text(bytes, label)?;
    let names = fabric.map(Names::of);
    let hosts = fabric.map(|f| f.host_count() as u64);
    let mut columns: Option<([usize; 3], usize)> = None;
    let mut lines: Vec<(u64, f64, f64, usize)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at_line = |message: String| FormatError::at(label, number, message);
        let fields = split(line).ok_or_else(|| at_line("expected a closing quote".into()))?;
        let Some((at, count)) = columns else {
            let place = |name: &str| fields.iter().position(|f| f.trim().eq_ignore_ascii_case(name));
            let (Some(host), Some(sent), Some(received)) = (place("host"), place("sent"), place("received"))
            else {
                let found = excerpt(&fields.join(","));
                return Err(at_line(format!("expected a header \"host,sent,received\", found \"{found}\"")));
            };
            columns = Some(([host, sent, received], fields.len()));
            continue;
        };
        if fields.len() != count {
            return Err(at_line(format!("expected {count} fields, found {}", fields.len())));
        }
        let field = fields[at[0]].as_str();
        let named = names.as_ref().map(|names| names.find(field)).transpose().map_err(at_line)?.flatten();
        let host = match named {
            Some(host) => u64::from(host.0),
            None => index(field, hosts, names.as_ref()).map_err(at_line)?,
        };
        let sent = value(&fields[at[1]], "bytes sent").map_err(at_line)?;
        let received = value(&fields[at[2]], "bytes received").map_err(at_line)?;
        lines.push((host, sent, received, number));
    }
    if columns.is_none() {
        return Err(FormatError::whole(label, "expected a header \"host,sent,received\", found the end"));
    }
    lines.sort_by_key(|&(host, .., number)| (host, number));
    if let Some(pair) = lines.windows(2).find(|pair| pair[0].0 == pair[1].0) {
        let message = format!("host {} is in line {} already", pair[0].0, pair[0].3);
        return Err(FormatError::at(label, pair[1].3, message));
    }
    let hosts = hosts.unwrap_or(lines.last().map_or(0, |&(host, ..)| host + 1)) as usize;
    let (mut sent, mut received) = (vec![0.0; hosts], vec![0.0; hosts]);
    for (host, out, into, _) in lines {
        (sent[host as usize], received[host as usize]) = (out, into);
    }
    Ok(Hose { sent, received, hosts_hash: fabric.map(Fabric::hosts_hash) })
}

/// Writes the sums: host names where they read back, numbers otherwise.
pub fn write_sums(fabric: &Fabric, hose: &Hose) -> Vec<u8> {
    let names = written_names(fabric);
    let mut out = b"host,sent,received\n".to_vec();
    for (host, (sent, received)) in hose.sent.iter().zip(&hose.received).enumerate() {
        push_end(&mut out, names.as_deref(), host as u32);
        for value in [sent, received] {
            out.push(b',');
            push_value(&mut out, *value);
        }
        out.push(b'\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> String {
        read_sums(text.as_bytes(), "s.csv", None).unwrap_err().to_string()
    }

    #[test]
    fn sums_are_read_in_any_order_of_lines_and_columns() {
        let hose = read_sums(b"# two\nreceived,host,sent\n3,2,0\n1.5,0,4\n", "s.csv", None).unwrap();
        assert_eq!(hose.sent, [4.0, 0.0, 0.0]);
        assert_eq!(hose.received, [1.5, 0.0, 3.0]);
    }

    #[test]
    fn bad_lines_are_named() {
        assert_eq!(
            refusal("host,sent\n"),
            "s.csv:1: expected a header \"host,sent,received\", found \"host,sent\""
        );
        assert_eq!(refusal("# nothing\n"), "s.csv: expected a header \"host,sent,received\", found the end");
        assert_eq!(refusal("host,sent,received\n0,1\n"), "s.csv:2: expected 3 fields, found 2");
        assert_eq!(
            refusal("host,sent,received\n1,2,3\n0,1,1\n1,4,4\n"),
            "s.csv:4: host 1 is in line 2 already"
        );
        assert!(refusal("host,sent,received\n0,-1,1\n").starts_with("s.csv:2: expected bytes sent as"));
        assert!(refusal("host,sent,received\nn1,1,1\n").contains("host names need a fabric"));
        assert!(refusal("host,sent,received\n99999999999,1,1\n").contains("expected endpoints"));
    }
}
