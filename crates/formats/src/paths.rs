//! The path of every pair as CSV: `source,destination,path`, one pair a line, after a header line.
//!
//! ```text
//! # netloom lmc=1 hosts=5c30f2be61b08e34
//! source,destination,path
//! node1,node9,1
//! ```
//!
//! It goes with forwarding tables whose hosts have `2^lmc` addresses: `node1` sends to the base LID of `node9`
//! plus 1. Pairs that are not listed use the base LID. Hosts are named, or numbered from 0. Lines that begin
//! with `#` are comments; one like the above says for which LMC and which host names the file was written, and a
//! contradiction is an error. It does not say for which cables, as tables in OpenSM's form do not either: both may
//! be judged on the same hosts with a cable less.

use std::collections::HashMap;

use netloom_model::{Fabric, HostId, PairPaths};

use crate::amount_text::push_integer;
use crate::csv::{Names, index, push_end, split, utf8, written_names};
use crate::error::excerpt;
use crate::{FormatError, decompress};

/// What the comment of the writer begins with.
const COMMENT: &str = "# netloom ";
/// The columns, which may come in any order.
const COLUMNS: [&str; 3] = ["source", "destination", "path"];

/// Reads paths, plain or gzip, for tables of `fabric` with `lmc`.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, an unknown host (with the nearest), a path that
/// hosts with this LMC do not have, a pair that comes twice, a file for another LMC or other hosts.
pub fn read_pair_paths(
    bytes: &[u8],
    label: &str,
    fabric: &Fabric,
    lmc: u8,
) -> Result<PairPaths, FormatError> {
    let bytes = decompress(bytes, label)?;
    let text = utf8(&bytes, label)?;
    let names = Names::of(fabric);
    let mut columns: Option<[usize; 3]> = None;
    let mut entries = Vec::new();
    let mut seen: HashMap<(HostId, HostId), usize> = HashMap::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let error = |message: String| FormatError::at(label, number, message);
        if let Some(comment) = line.strip_prefix(COMMENT) {
            check_comment(comment, fabric, lmc).map_err(error)?;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = split(line).ok_or_else(|| error("expected a closing quote".into()))?;
        let Some(columns) = &columns else {
            columns = Some(find_columns(&fields).map_err(error)?);
            continue;
        };
        if fields.len() != columns.len() {
            return Err(error(format!("expected {} fields, found {}", columns.len(), fields.len())));
        }
        let host = |field: &str| -> Result<HostId, String> {
            match names.find(field)? {
                Some(host) => Ok(host),
                None => {
                    let number = index(field, Some(fabric.host_count() as u64), Some(&names))?;
                    Ok(HostId(number as u32))
                }
            }
        };
        let source = host(&fields[columns[0]]).map_err(error)?;
        let destination = host(&fields[columns[1]]).map_err(error)?;
        let path = path_number(&fields[columns[2]], lmc).map_err(error)?;
        let pair = || format!("\"{}\" to \"{}\"", fabric.host_name(source), fabric.host_name(destination));
        if source == destination {
            return Err(error(format!("expected two hosts, found {}", pair())));
        }
        if let Some(earlier) = seen.insert((source, destination), number) {
            return Err(error(format!("expected each pair once, found {} as on line {earlier}", pair())));
        }
        entries.push((source, destination, path));
    }
    if columns.is_none() {
        let message = "expected a header \"source,destination,path\", found the end";
        return Err(FormatError::whole(label, message));
    }
    PairPaths::new(fabric.host_count(), lmc, &entries).map_err(|e| FormatError::whole(label, e.to_string()))
}

/// Writes paths: host names where they are unique, numbers otherwise. Pairs on the base address are left out.
///
/// # Panics
/// If `paths` is for another number of hosts.
pub fn write_pair_paths(fabric: &Fabric, paths: &PairPaths) -> Vec<u8> {
    assert_eq!(paths.hosts(), fabric.host_count(), "paths of this fabric");
    let mut out =
        format!("{COMMENT}lmc={} hosts={:016x}\n{}\n", paths.lmc(), fabric.hosts_hash(), COLUMNS.join(","))
            .into_bytes();
    let names = written_names(fabric);
    for (source, destination, path) in paths.iter() {
        push_end(&mut out, names.as_deref(), source.0);
        out.push(b',');
        push_end(&mut out, names.as_deref(), destination.0);
        out.push(b',');
        push_integer(&mut out, path.into());
        out.push(b'\n');
    }
    out
}

/// `lmc=1 hosts=…`
fn check_comment(comment: &str, fabric: &Fabric, lmc: u8) -> Result<(), String> {
    for word in comment.split_ascii_whitespace() {
        match word.split_once('=') {
            Some(("lmc", written)) if written != lmc.to_string() => {
                return Err(format!(
                    "the paths are for LMC {}, the tables have LMC {lmc}: expected the file that belongs to them",
                    excerpt(written)
                ));
            }
            Some(("hosts", written))
                if u64::from_str_radix(written, 16).is_ok_and(|hash| hash != fabric.hosts_hash()) =>
            {
                return Err(format!(
                    "the paths belong to a fabric with other host names (hash {}, this fabric {:016x})",
                    excerpt(written),
                    fabric.hosts_hash()
                ));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Where source, destination and path are.
fn find_columns(fields: &[String]) -> Result<[usize; 3], String> {
    let at = |name: &str| fields.iter().position(|f| f.trim().eq_ignore_ascii_case(name));
    match COLUMNS.map(at) {
        [Some(source), Some(destination), Some(path)] if fields.len() == COLUMNS.len() => {
            Ok([source, destination, path])
        }
        _ => Err(format!(
            "expected a header \"source,destination,path\", found \"{}\"",
            excerpt(&fields.join(","))
        )),
    }
}

fn path_number(field: &str, lmc: u8) -> Result<u32, String> {
    match field.parse::<u32>() {
        Ok(path) if path < 1 << lmc => Ok(path),
        _ => Err(format!(
            "expected a path below {} (the LMC is {lmc}), found \"{}\"",
            1u32 << lmc,
            excerpt(field)
        )),
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

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

    fn read(text: &str, f: &Fabric, lmc: u8) -> Result<PairPaths, String> {
        read_pair_paths(text.as_bytes(), "p.csv", f, lmc).map_err(|e| e.to_string())
    }

    fn paths(lmc: u8, list: &[(u32, u32, u32)]) -> PairPaths {
        let entries: Vec<_> = list.iter().map(|&(s, d, p)| (HostId(s), HostId(d), p)).collect();
        PairPaths::new(3, lmc, &entries).unwrap()
    }

    #[test]
    fn what_is_written_reads_back() {
        // Names with commas and quotes, and names that repeat and so are written as numbers.
        for names in [["a", "b", "c, \"d\""], ["HCA-1", "HCA-1", "HCA-2"]] {
            let f = fabric(&names);
            for wanted in [paths(2, &[(0, 1, 3), (2, 0, 1)]), paths(0, &[])] {
                let text = write_pair_paths(&f, &wanted);
                assert_eq!(read_pair_paths(&text, "p", &f, wanted.lmc()).unwrap(), wanted);
            }
        }
        let text = String::from_utf8(write_pair_paths(&fabric(&["a", "b", "c"]), &paths(1, &[(0, 2, 1)])));
        assert!(text.unwrap().ends_with("\nsource,destination,path\na,c,1\n"));
    }

    #[test]
    fn hand_written_files_may_be_plain() {
        let f = fabric(&["a", "b", "c"]);
        let text = "\u{feff}Path,source,destination\n\n# mine\n 1 , a , 2\r\n0,b,a\n";
        assert_eq!(read(text, &f, 1).unwrap(), paths(1, &[(0, 2, 1)]));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let f = fabric(&["node1", "node2", "node3"]);
        let row =
            |row: &str| read(&format!("source,destination,path\nnode1,node2,1\n{row}\n"), &f, 1).unwrap_err();
        assert_eq!(
            row("node1,nodf2,1"),
            "p.csv:3: the fabric has no host \"nodf2\", did you mean \"node2\"?"
        );
        assert_eq!(row("0,3,1"), "p.csv:3: expected endpoints below 3, found 3");
        assert_eq!(row("0,1"), "p.csv:3: expected 3 fields, found 2");
        assert_eq!(row("\"0,1,1"), "p.csv:3: expected a closing quote");
        assert_eq!(row("node2,1,0"), "p.csv:3: expected two hosts, found \"node2\" to \"node2\"");
        assert_eq!(
            row("0,1,0"),
            "p.csv:3: expected each pair once, found \"node1\" to \"node2\" as on line 2"
        );
        for path in ["2", "-1", "x", "", "1.0", "99999999999"] {
            let wanted = format!("p.csv:3: expected a path below 2 (the LMC is 1), found \"{path}\"");
            assert_eq!(row(&format!("0,2,{path}")), wanted);
        }
        let whole = |text: &str| read(text, &f, 1).unwrap_err();
        assert_eq!(whole(""), "p.csv: expected a header \"source,destination,path\", found the end");
        assert!(whole("source,destination,bytes\n").starts_with("p.csv:1: expected a header"));
        assert!(
            whole("# netloom lmc=2\n").starts_with("p.csv:1: the paths are for LMC 2, the tables have LMC 1")
        );
        assert!(
            whole("# netloom hosts=1\n")
                .contains("p.csv:1: the paths belong to a fabric with other host names")
        );
        let error = read_pair_paths(b"source\n\xff", "p", &f, 1).unwrap_err();
        assert_eq!(error.to_string(), "p:2: expected UTF-8 text, found other bytes");
    }

    #[test]
    fn names_shared_by_hosts_are_refused() {
        let f = fabric(&["HCA-1", "HCA-1", "HCA-2"]);
        let error = read("source,destination,path\nHCA-1,2,1\n", &f, 1).unwrap_err();
        assert_eq!(error, "p.csv:2: several hosts are called \"HCA-1\": give numbers");
    }
}
