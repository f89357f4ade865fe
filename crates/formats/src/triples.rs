//! Traffic as CSV: `source,destination,bytes[,packets]`, one pair a line, after a header line (`src,dst,…` and `from,to,…` too) or
//! without. A table of numbers alone that has neither three columns nor four is a dense matrix ([`dense`](mod@crate::dense)).
//!
//! Endpoints are host names, or numbers from 0. Lines that begin with `#` are comments; the writer's
//! `# netloom endpoints=3072 hosts=<16 hex digits>` says how many endpoints there are and to which hosts
//! they belong. Without a fabric and without this comment there are as many as the largest number says.

use netloom_model::{Csr, Fabric, MAX_ENDPOINTS, Traffic};

use crate::amount_text::{push_value, value};
use crate::csv::{Names, index, push_end, split, utf8, written_names};
use crate::dense::read_dense;
use crate::error::excerpt;
use crate::{FormatError, decompress};

/// What the comment of the writer begins with.
const COMMENT: &str = "# netloom ";

/// Reads triples; `fabric` resolves host names and gives the number of endpoints.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, an unknown host (with the nearest), a
/// value that is negative or no number.
pub fn read_csv_triples(bytes: &[u8], label: &str, fabric: Option<&Fabric>) -> Result<Traffic, FormatError> {
    let bytes = decompress(bytes, label)?;
    read_text(utf8(&bytes, label)?, label, fabric)
}

fn read_text(text: &str, label: &str, fabric: Option<&Fabric>) -> Result<Traffic, FormatError> {
    let names = fabric.map(Names::of);
    let mut columns: Option<Columns> = None;
    let (mut endpoints, mut hosts_hash) = (fabric.map(|f| f.host_count() as u64), None);
    let (mut from, mut to, mut values, mut packets) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut lines_of = Vec::new();
    let mut by_name = fabric.is_some();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if let Some(comment) = line.strip_prefix(COMMENT) {
            let (n, hash) = read_comment(comment);
            endpoints = endpoints.or(n);
            hosts_hash = hosts_hash.or(hash);
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = split(line).ok_or_else(|| FormatError::at(label, number, "expected a closing quote"))?;
        let columns = match &columns {
            Some(columns) => columns,
            None if Columns::unnamed(&fields) => columns.insert(Columns::first(fields.len())),
            None if fields.iter().all(|field| field.trim().parse::<f64>().is_ok()) => {
                return read_dense(text, label);
            }
            None => {
                columns = Some(Columns::find(&fields).map_err(|m| FormatError::at(label, number, m))?);
                continue;
            }
        };
        if fields.len() != columns.count {
            let message = format!("expected {} fields, found {}", columns.count, fields.len());
            return Err(FormatError::at(label, number, message));
        }
        for (at, ends) in [(columns.source, &mut from), (columns.destination, &mut to)] {
            let field = fields[at].as_str();
            let named = names.as_ref().map(|names| names.find(field)).transpose();
            let named = named.map_err(|m| FormatError::at(label, number, m))?.flatten();
            by_name &= named.is_some();
            ends.push(match named {
                Some(host) => u64::from(host.0),
                None => {
                    index(field, endpoints, names.as_ref()).map_err(|m| FormatError::at(label, number, m))?
                }
            });
        }
        values.push(value(&fields[columns.bytes], "bytes").map_err(|m| FormatError::at(label, number, m))?);
        if let Some(at) = columns.packets {
            packets.push(value(&fields[at], "packets").map_err(|m| FormatError::at(label, number, m))?);
        }
        lines_of.push(number);
    }
    let Some(columns) = columns else {
        let message = "expected a header \"source,destination,bytes\", found the end";
        return Err(FormatError::whole(label, message));
    };
    let largest = from.iter().chain(&to).max().map_or(0, |&n: &u64| n + 1);
    let endpoints = endpoints.unwrap_or(largest);
    // A comment may come after the lines that it bounds.
    if let Some(entry) = (0..from.len()).find(|&e| from[e] >= endpoints || to[e] >= endpoints) {
        let message = format!("expected endpoints below {endpoints}, found {}", from[entry].max(to[entry]));
        return Err(FormatError::at(label, lines_of[entry], message));
    }
    let packets = columns.packets.map(|_| packets);
    let traffic = Traffic::from_triples(endpoints as u32, &from, &to, &values, packets.as_deref())
        .map_err(|e| FormatError::whole(label, e.to_string()))?;
    let of_fabric = fabric.filter(|_| by_name && !from.is_empty()).map(Fabric::hosts_hash);
    Ok(traffic.with_hosts_hash(of_fabric.or(hosts_hash)))
}

/// Writes triples: host names where `fabric` is given and its names are unique, numbers otherwise.
pub fn write_csv_triples(matrix: &Csr, fabric: Option<&Fabric>, hosts_hash: Option<u64>) -> Vec<u8> {
    let mut out = format!("{COMMENT}endpoints={}", matrix.size()).into_bytes();
    if let Some(hash) = hosts_hash.or(fabric.map(Fabric::hosts_hash)) {
        out.extend_from_slice(format!(" hosts={hash:016x}").as_bytes());
    }
    let packets = matrix.packets();
    out.extend_from_slice(b"\nsource,destination,bytes");
    out.extend_from_slice(if packets.is_some() { b",packets\n" } else { b"\n" });
    let names = fabric.filter(|f| f.host_count() == matrix.size()).and_then(written_names);
    for (entry, (i, j, bytes)) in matrix.iter().enumerate() {
        push_end(&mut out, names.as_deref(), i);
        out.push(b',');
        push_end(&mut out, names.as_deref(), j);
        out.push(b',');
        push_value(&mut out, bytes);
        if let Some(packets) = packets {
            out.push(b',');
            push_value(&mut out, packets[entry]);
        }
        out.push(b'\n');
    }
    out
}

/// Where which column is.
struct Columns {
    source: usize,
    destination: usize,
    bytes: usize,
    packets: Option<usize>,
    count: usize,
}

impl Columns {
    /// Whether this is no header but a pair: three columns or four, numbers from the third on.
    fn unnamed(fields: &[String]) -> bool {
        (3..=4).contains(&fields.len()) && fields[2..].iter().all(|field| field.trim().parse::<f64>().is_ok())
    }

    /// Those of a list without a header.
    fn first(count: usize) -> Self {
        Self { source: 0, destination: 1, bytes: 2, packets: (count > 3).then_some(3), count }
    }

    fn find(fields: &[String]) -> Result<Self, String> {
        let at = |name: &str| fields.iter().position(|f| f.trim().eq_ignore_ascii_case(name));
        let source = at("source").or_else(|| at("src")).or_else(|| at("from"));
        let destination = at("destination").or_else(|| at("dst")).or_else(|| at("to"));
        match (source, destination, at("bytes")) {
            (Some(source), Some(destination), Some(bytes)) => {
                Ok(Self { source, destination, bytes, packets: at("packets"), count: fields.len() })
            }
            _ => Err(format!(
                "expected a header \"source,destination,bytes[,packets]\", found \"{}\"",
                excerpt(&fields.join(","))
            )),
        }
    }
}

/// `endpoints=3072 hosts=…`
fn read_comment(comment: &str) -> (Option<u64>, Option<u64>) {
    let field =
        |key: &str| comment.split_ascii_whitespace().find_map(|w| w.strip_prefix(key)?.strip_prefix('='));
    let endpoints =
        field("endpoints").and_then(|n| n.parse().ok()).filter(|&n| n <= u64::from(MAX_ENDPOINTS));
    (endpoints, field("hosts").and_then(|hash| u64::from_str_radix(hash, 16).ok()))
}

#[cfg(test)]
mod tests {
    use netloom_model::traffic::AMOUNT;
    use netloom_model::{End, FabricBuilder, HostId, HostSpec, SwitchSpec};

    use super::*;

    fn fabric(names: &[&str]) -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("s", 1, 8));
        for (i, name) in names.iter().enumerate() {
            let h = b.host(HostSpec::new(*name, 16 * (i as u64 + 1)));
            b.cable(End::Switch(s, i as u16 + 1), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn read(text: &str, fabric: Option<&Fabric>) -> Result<Traffic, String> {
        read_csv_triples(text.as_bytes(), "t.csv", fabric).map_err(|e| e.to_string())
    }

    #[test]
    fn names_and_numbers_are_endpoints() {
        let f = fabric(&["n1", "n 2, \"b\"", "n3"]);
        let text = "source,destination,bytes\nn1,n3,5\n\"n 2, \"\"b\"\"\",n1,2.5\n";
        let t = read(text, Some(&f)).unwrap();
        // Natural order: "n 2…" comes before "n1".
        assert_eq!(t.total().iter().collect::<Vec<_>>(), [(0, 1, 2.5), (1, 2, 5.0)]);
        assert_eq!(t.hosts_hash(), Some(f.hosts_hash()));
        let t = read("# c\nbytes,source,destination,packets\n\n7,0,2,3\n", None).unwrap();
        assert_eq!((t.endpoints(), t.hosts_hash()), (3, None));
        assert_eq!(t.total().packets(), Some(&[3.0][..]));
    }

    #[test]
    fn what_is_written_reads_back() {
        let f = fabric(&["n1", "n 2, \"b\"", "n3"]);
        let t = Traffic::from_triples(3, &[0, 2], &[2, 1], &[0.1, 7.0], Some(&[1.0, 2.0])).unwrap();
        let named = write_csv_triples(&t.total(), Some(&f), None);
        let back = read_csv_triples(&named, "t", Some(&f)).unwrap();
        assert_eq!(back.total(), t.total());
        assert_eq!(back.hosts_hash(), Some(f.hosts_hash()));
        let plain = write_csv_triples(&t.total(), None, Some(9));
        let back = read_csv_triples(&plain, "t", None).unwrap();
        assert_eq!((back.total(), back.hosts_hash()), (t.total(), Some(9)));
    }

    #[test]
    fn mistakes_are_named() {
        let f = fabric(&["node1", "node2"]);
        let row = |row: &str| read(&format!("source,destination,bytes\n{row}\n"), Some(&f)).unwrap_err();
        assert_eq!(
            row("node1,nodf2,3"),
            "t.csv:2: the fabric has no host \"nodf2\", did you mean \"node2\"?"
        );
        assert_eq!(row("0,2,3"), "t.csv:2: expected endpoints below 2, found 2");
        assert_eq!(row("0,1"), "t.csv:2: expected 3 fields, found 2");
        assert_eq!(row("\"0,1,2"), "t.csv:2: expected a closing quote");
        for bytes in ["-1", "nan", "x", "", "1e-200"] {
            assert!(
                row(&format!("0,1,{bytes}"))
                    .contains(&format!("expected bytes as {AMOUNT}, found \"{bytes}\""))
            );
        }
        assert!(read("a,b,c\n", None).unwrap_err().contains("t.csv:1: expected a header"));
        assert!(read("", None).unwrap_err().contains("found the end"));
        assert!(read("source,destination,bytes\nn1,n2,1\n", None).unwrap_err().contains("need a fabric"));
        assert!(
            read_csv_triples(b"source\n\xff", "t", None)
                .unwrap_err()
                .to_string()
                .contains("t:2: expected UTF-8")
        );
        let late = read("source,destination,bytes\n0,9,1\n# netloom endpoints=2\n", None).unwrap_err();
        assert_eq!(late, "t.csv:2: expected endpoints below 2, found 9");
    }

    #[test]
    fn names_shared_by_hosts_are_refused() {
        let f = fabric(&["HCA-1", "HCA-1"]);
        let error = read("source,destination,bytes\nHCA-1,1,1\n", Some(&f)).unwrap_err();
        assert_eq!(error, "t.csv:2: several hosts are called \"HCA-1\": give numbers");
        let t = Traffic::from_triples(2, &[0], &[1], &[1.0], None).unwrap();
        let text = write_csv_triples(&t.total(), Some(&f), None);
        assert!(String::from_utf8(text).unwrap().ends_with("\n0,1,1\n"));
    }

    #[test]
    fn a_guid_is_a_name() {
        let f = fabric(&["n1", "n2"]);
        let line = |h: u32| format!("0x{:016x}", f.host_port_guid(HostId(h)));
        let text =
            format!("source,destination,bytes\nn2,0x{:x},2\n{},n2,1\n", f.host_guid(HostId(0)), line(0));
        let traffic = read(&text, Some(&f)).unwrap();
        assert_eq!(traffic.total().iter().collect::<Vec<_>>(), [(0, 1, 1.0), (1, 0, 2.0)]);
        assert!(read("0xdead,n2,1\n", Some(&f)).unwrap_err().contains("the fabric has no host \"0xdead\""));
    }

    /// With a header of other words or with none, and a table that is no list: a dense matrix.
    #[test]
    fn lists_need_no_header_and_square_tables_are_matrices() {
        let listed = |text: &str| {
            let traffic = read_csv_triples(text.as_bytes(), "t.csv", None).unwrap();
            (traffic.endpoints(), traffic.total().iter().collect::<Vec<_>>())
        };
        let expected = (3, vec![(0, 2, 5.0), (1, 0, 7.5)]);
        for head in ["", "source,destination,bytes\n", "src,dst,bytes\n", "from,to,bytes\n", "# a comment\n"]
        {
            assert_eq!(listed(&format!("{head}0,2,5\n1,0,7.5\n")), expected, "{head}");
        }
        assert_eq!(listed("0,9\n4,0\n"), (2, vec![(0, 1, 9.0), (1, 0, 4.0)]));
        assert_eq!(
            listed("0,1,0,0,0\n0,0,0,0,0\n0,0,0,0,0\n0,0,0,0,0\n2,0,0,0,0\n").1,
            [(0, 1, 1.0), (4, 0, 2.0)]
        );
        let fabric = fabric(&["a", "b"]);
        let named = read_csv_triples(b"a,b,3\n", "t.csv", Some(&fabric)).unwrap();
        assert_eq!(named.total().iter().collect::<Vec<_>>(), [(0, 1, 3.0)]);
        let error = read_csv_triples(b"0,1\n2\n", "t.csv", None).unwrap_err().to_string();
        assert_eq!(error, "t.csv:2: expected 2 numbers, as in the first row, found 1");
    }
}
