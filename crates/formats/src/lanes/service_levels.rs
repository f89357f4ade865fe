//! The service level of every pair of hosts as CSV: `source_lid,destination_lid,sl`, as path records have them.
//!
//! ```text
//! source_lid,destination_lid,sl
//! 1,5,4
//! 1,6,0
//! ```
//!
//! It goes with SL-to-VL tables ([`sl2vl`](super::sl2vl)): these say on which lane a level travels, this says which level a
//! pair has. LIDs are decimal, or hexadecimal with `0x`. Pairs of a host and a switch's own LID, and of a host and itself,
//! are passed over; every pair of hosts with working cables must be there. Lines that begin with `#` are comments.

use std::collections::HashMap;
use std::fmt::Write as _;

use netloom_model::{Fabric, HostId, LevelGroups, Levels, SERVICE_LEVELS};

use crate::csv::{split, utf8};
use crate::error::{WriteError, excerpt};
use crate::lft::Lids;
use crate::{FormatError, decompress};

/// The columns, which may come in any order.
const COLUMNS: [&str; 3] = ["source_lid", "destination_lid", "sl"];
/// The largest LID of one node.
const MAX_LID: u64 = 0xbfff;

/// A line: hosts, their LIDs, the level, the number of the line.
type Entry = ((HostId, HostId), (u16, u16), u8, usize);

/// The level of every pair of hosts with working cables, by the LIDs that the fabric has, or is given where it has none;
/// `origin` says what made it, in one line.
///
/// # Errors
/// [`WriteError::TooManyLids`].
pub fn write_service_levels(fabric: &Fabric, levels: &Levels, origin: &str) -> Result<String, WriteError> {
    let lids = Lids::of(fabric, 0)?.hosts;
    let mut out = format!("# netloom {origin}\n{}\n", COLUMNS.join(","));
    let live: Vec<HostId> = fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))).collect();
    for &from in &live {
        for &to in live.iter().filter(|&&to| to != from) {
            let (source, destination) = (lids[from.index()], lids[to.index()]);
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{source},{destination},{}", levels.level(from, to));
        }
    }
    Ok(out)
}

/// Reads levels, plain or gzip, for the hosts of `fabric` by their LIDs.
///
/// # Errors
/// [`FormatError`] names the line: a header without the columns, a LID that the fabric does not have, a level above 15, a pair
/// that comes twice, addresses of one host with different levels, and a pair of hosts that is not there.
pub fn read_service_levels(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<Levels, FormatError> {
    let bytes = decompress(bytes, label)?;
    let text = utf8(&bytes, label)?;
    let owners = owners(fabric).map_err(|message| FormatError::whole(label, message))?;
    let mut columns: Option<[usize; 3]> = None;
    let mut entries: Vec<Entry> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        let error = |message: String| FormatError::at(label, number, message);
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields = split(line).ok_or_else(|| error("expected a closing quote".into()))?;
        let Some(at) = columns else {
            columns = Some(find_columns(&fields).map_err(error)?);
            continue;
        };
        if fields.len() != at.len() {
            return Err(error(format!("expected {} fields, found {}", at.len(), fields.len())));
        }
        let end = |at: usize| -> Result<(u16, Option<HostId>), String> {
            let lid = lid(&fields[at])?;
            match owners.get(&lid) {
                Some(owner) => Ok((lid, *owner)),
                None => Err(format!("expected a LID of the fabric, found {lid}")),
            }
        };
        let (source, from) = end(at[0]).map_err(error)?;
        let (destination, to) = end(at[1]).map_err(error)?;
        let level = level(&fields[at[2]]).map_err(error)?;
        let (Some(from), Some(to)) = (from, to) else { continue };
        if from != to {
            entries.push(((from, to), (source, destination), level, number));
        }
    }
    if columns.is_none() {
        let message = format!("expected a header \"{}\", found the end", COLUMNS.join(","));
        return Err(FormatError::whole(label, message));
    }
    entries.sort_unstable();
    let pair = |(from, to): (HostId, HostId)| {
        format!("\"{}\" to \"{}\"", fabric.host_name(from), fabric.host_name(to))
    };
    for two in entries.windows(2).filter(|two| two[0].0 == two[1].0) {
        // Two lines that differ in nothing but their number are sorted by it.
        let (earlier, later) = (&two[0], &two[1]);
        if earlier.1 == later.1 {
            let (line, before) = (earlier.3.max(later.3), earlier.3.min(later.3));
            let message = format!("expected each pair once, found {} as on line {before}", pair(later.0));
            return Err(FormatError::at(label, line, message));
        }
        if earlier.2 != later.2 {
            let message = format!(
                "expected one level for all addresses of a pair, found {} with levels {} and {}",
                pair(later.0),
                earlier.2,
                later.2
            );
            return Err(FormatError::at(label, later.3, message));
        }
    }
    entries.dedup_by_key(|entry| entry.0);
    // That all pairs are there bounds the table by the file.
    let mut told = entries.iter().map(|entry| entry.0).peekable();
    let live: Vec<HostId> = fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))).collect();
    for &from in &live {
        for &to in live.iter().filter(|&&to| to != from) {
            while told.next_if(|&other| other < (from, to)).is_some() {}
            if told.next_if_eq(&(from, to)).is_none() {
                let message =
                    format!("expected the level of every pair of hosts, found none of {}", pair((from, to)));
                return Err(FormatError::whole(label, message));
            }
        }
    }
    let hosts = fabric.host_count();
    let mut table = vec![0; hosts * hosts];
    for ((from, to), _, level, _) in entries {
        table[from.index() * hosts + to.index()] = level;
    }
    Ok(Levels::Groups(LevelGroups::by_pair(hosts, table)))
}

/// Whose every LID is; `None`: a switch's.
fn owners(fabric: &Fabric) -> Result<HashMap<u16, Option<HostId>>, String> {
    let lids = Lids::of(fabric, 0).map_err(|e| e.to_string())?;
    let switches = lids.switches.iter().map(|&lid| (lid, None));
    let hosts = fabric.hosts().zip(&lids.hosts);
    let hosts = hosts
        .flat_map(|(h, &lid)| (0..1u16 << lids.lmc).map(move |path| (lid.saturating_add(path), Some(h))));
    Ok(switches.chain(hosts).collect())
}

fn find_columns(fields: &[String]) -> Result<[usize; 3], String> {
    let at = |name: &str| fields.iter().position(|f| f.trim().eq_ignore_ascii_case(name));
    match COLUMNS.map(at) {
        [Some(source), Some(destination), Some(level)] if fields.len() == COLUMNS.len() => {
            Ok([source, destination, level])
        }
        _ => Err(format!(
            "expected a header \"{}\", found \"{}\"",
            COLUMNS.join(","),
            excerpt(&fields.join(","))
        )),
    }
}

fn lid(field: &str) -> Result<u16, String> {
    let text = field.trim();
    let number = match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    };
    match number {
        Some(lid @ 1..=MAX_LID) => Ok(lid as u16),
        _ => Err(format!("expected a LID, 1 to {MAX_LID}, found \"{}\"", excerpt(field))),
    }
}

fn level(field: &str) -> Result<u8, String> {
    match field.trim().parse() {
        Ok(level) if level < SERVICE_LEVELS => Ok(level),
        _ => Err(format!(
            "expected a service level, 0 to {}, found \"{}\"",
            SERVICE_LEVELS - 1,
            excerpt(field)
        )),
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    #[test]
    fn levels_of_rules_are_written_by_pair() {
        let fabric = fabric();
        let levels = Levels::pairs(7, 3);
        let text = write_service_levels(&fabric, &levels, "route").unwrap();
        assert_eq!(text.lines().count(), 2 + 6);
        let read = read_service_levels(text.as_bytes(), "sl.csv", &fabric).unwrap();
        for (a, b) in fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))).filter(|(a, b)| a != b)
        {
            assert_eq!(read.level(a, b), levels.level(a, b));
        }
    }

    /// Three hosts on a switch, with LIDs 1 to 3; the switch has 4.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let mut s = SwitchSpec::new("s".to_owned(), 0x100, 4);
        s.lid = Some(4);
        let s = b.switch(s);
        for i in 0..3u16 {
            let mut host = HostSpec::new(format!("h{i}"), 0x1000 + 16 * u64::from(i));
            host.lid = Some(i + 1);
            let h = b.host(host);
            b.cable(End::Switch(s, i + 1), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    const ALL: &str = "source_lid,destination_lid,sl\n1,2,4\n1,3,5\n2,1,6\n2,3,7\n3,1,8\n0x3,0x2,15\n";

    #[test]
    fn levels_are_those_of_lids() {
        let f = fabric();
        // A switch's LID, a host and itself, comments and another order of columns do no harm.
        let text = format!("# of a test\n{ALL}1,4,9\n2,2,9\n");
        let levels = read_service_levels(text.as_bytes(), "t", &f).unwrap();
        let level = |a, b| levels.level(HostId(a), HostId(b));
        assert_eq!([level(0, 1), level(0, 2), level(1, 0), level(2, 1)], [4, 5, 6, 15]);
        assert_eq!(levels.count(), 16);
        let turned = "sl,destination_lid,source_lid\n1,2,1\n1,3,1\n1,1,2\n1,3,2\n1,1,3\n2,2,3\n";
        let levels = read_service_levels(turned.as_bytes(), "t", &f).unwrap();
        assert_eq!((levels.level(HostId(2), HostId(1)), levels.count()), (2, 3));
    }

    #[test]
    fn what_is_written_is_read_back() {
        let f = fabric();
        let levels = Levels::Groups(LevelGroups::by_pair(3, vec![0, 4, 5, 6, 0, 7, 8, 15, 0]));
        let text = write_service_levels(&f, &levels, "test").unwrap();
        assert_eq!(text, format!("# netloom test\n{}", ALL.replace("0x3,0x2", "3,2")));
        assert_eq!(read_service_levels(text.as_bytes(), "t", &f).unwrap(), levels);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let f = fabric();
        let refused = |text: &str| read_service_levels(text.as_bytes(), "t", &f).unwrap_err().to_string();
        assert_eq!(refused(""), "t: expected a header \"source_lid,destination_lid,sl\", found the end");
        assert!(refused("source,destination,path\n").starts_with("t:1: expected a header \"source_lid"));
        let with = |line: &str| refused(&format!("{ALL}{line}\n"));
        assert_eq!(with("1,2,4"), "t:8: expected each pair once, found \"h0\" to \"h1\" as on line 2");
        assert_eq!(with("1,9,4"), "t:8: expected a LID of the fabric, found 9");
        assert_eq!(with("1,0,4"), "t:8: expected a LID, 1 to 49151, found \"0\"");
        assert_eq!(
            with("1,99999999999999999999,4"),
            "t:8: expected a LID, 1 to 49151, found \"99999999999999999999\""
        );
        assert_eq!(with("1,2,16"), "t:8: expected a service level, 0 to 15, found \"16\"");
        assert_eq!(with("1,2,-1"), "t:8: expected a service level, 0 to 15, found \"-1\"");
        assert_eq!(with("1,2"), "t:8: expected 3 fields, found 2");
        assert_eq!(with("1,\"2,3"), "t:8: expected a closing quote");
        let lacking = refused(&ALL.replace("2,3,7\n", ""));
        assert_eq!(lacking, "t: expected the level of every pair of hosts, found none of \"h1\" to \"h2\"");
        let bytes = read_service_levels(b"source_lid\xff", "t", &f).unwrap_err().to_string();
        assert!(bytes.starts_with("t:1: expected UTF-8"), "{bytes}");
    }
}
