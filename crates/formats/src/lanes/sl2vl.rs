//! SL-to-VL tables in the form of OpenSM's own dump, `opensm-sl2vl.dump`.
//!
//! ```text
//! # netloom 0.1.0 scheme=5sl5vl:seed=1 cabling=5c30f2be61b08e34
//! Switch 0x0002c90200000000, base LID 2, "leaf00"
//! #in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15
//! #--------------------------------------------------------
//! 2   1   : 4  0  3  1  1  2  4  0  3  2  0  1  1  4  2  0
//! ```
//!
//! A row says on which lane a switch sends on what came in by port `in`, goes out by port `out` and has service level 0, 1, … 15. A channel
//! adapter's port has one row, `0 0`: for what it sends itself. Nodes are told apart by GUID (a host's by its port's), never by LID.
//!
//! Rows of a switch's own port 0 and of ports without a cable are skipped, and none are written: no traffic of hosts meets them. Other
//! lines that begin with `#` are comments; one like the first says for which cables the file was written, and a contradiction is an error.

use std::collections::HashMap;
use std::fmt::Write as _;

use netloom_model::{Fabric, HostId, LaneMap, LinkId, SERVICE_LEVELS, SwitchId};

use crate::error::{FormatError, WriteError, excerpt};
use crate::lft::Lids;
use crate::lft::write::check_radix;
use crate::text::{Cursor, text};

/// What the comment of the writer begins with.
const COMMENT: &str = "# netloom ";
const TITLE: &str = "#in out : 0  1  2  3  4  5  6  7  8  9  10 11 12 13 14 15";
const RULE: &str = "#--------------------------------------------------------";
/// Data lanes; packets for lane 15 are dropped.
const DATA_LANES: u32 = 15;

type Row = [u8; SERVICE_LEVELS as usize];

/// Tables of all switches and hosts; `origin` says what made them, in one line.
///
/// # Errors
/// More than 49,151 LIDs, a radix above 254.
pub fn write_sl2vl(fabric: &Fabric, map: &LaneMap, origin: &str) -> Result<String, WriteError> {
    check_radix(fabric)?;
    let lids = Lids::of(fabric, 0)?;
    let mut out = format!("{COMMENT}{origin} cabling={:016x}\n", fabric.cabling_hash());
    let head = |out: &mut String, what: &str, guid: u64, lid: u16, name: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(out, "{what} 0x{guid:016x}, base LID {lid}, \"{name}\"\n{TITLE}\n{RULE}");
    };
    let row = |out: &mut String, (in_port, out_port): (u16, u16), lane: &dyn Fn(u8) -> u8| {
        let _ = write!(out, "{in_port:<3} {out_port:<3} :");
        for level in 0..SERVICE_LEVELS {
            let _ = write!(out, " {:<2}", lane(level));
        }
        out.push('\n');
    };
    for s in fabric.switches() {
        head(&mut out, "Switch", fabric.switch_guid(s), lids.switches[s.index()], fabric.switch_name(s));
        for to in fabric.switch_links(s) {
            for from in fabric.switch_links(s) {
                let (via, ports) = (fabric.reverse(from), (fabric.link_port(from), fabric.link_port(to)));
                row(&mut out, ports, &|level| map.lane(via.0, to.0, level));
            }
        }
        let _ = writeln!(out, "{RULE}\n");
    }
    for h in fabric.hosts() {
        let (guid, lid) = (fabric.host_port_guid(h), lids.hosts[h.index()]);
        head(&mut out, "Channel Adapter", guid, lid, fabric.host_name(h));
        row(&mut out, (0, 0), &|level| map.first_lane(h.0, level));
        let _ = writeln!(out, "{RULE}\n");
    }
    Ok(out)
}

/// Reads tables, plain or gzip. Nodes that the fabric does not have are passed over.
///
/// # Errors
/// [`FormatError`] names the line: no such file, a row that comes twice, a lane that carries no data, other cables than the fabric's, and a
/// live port of the fabric without a row.
pub fn read_sl2vl(bytes: &[u8], label: &str, fabric: &Fabric) -> Result<LaneMap, FormatError> {
    let content = text(bytes, label)?;
    let switches: HashMap<u64, SwitchId> = fabric.switches().map(|s| (fabric.switch_guid(s), s)).collect();
    let hosts: HashMap<u64, HostId> = fabric.hosts().map(|h| (fabric.host_port_guid(h), h)).collect();
    let mut rows: HashMap<(Option<LinkId>, LinkId), Row> = HashMap::new();
    let (mut node, mut nodes) = (Node::Other, 0);
    for (number, line) in (1..).zip(content.lines()) {
        let error = |message: String| FormatError::at(label, number, message);
        let line = line.trim();
        if let Some(comment) = line.strip_prefix(COMMENT) {
            check_comment(comment, fabric).map_err(error)?;
        }
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((kind, guid)) = heading(line) {
            nodes += 1;
            node = match kind {
                Kind::Switch => switches.get(&guid).map_or(Node::Other, |&s| Node::Switch(s)),
                Kind::Host => hosts.get(&guid).map_or(Node::Other, |&h| Node::Host(h)),
                Kind::Router => Node::Other,
            };
            continue;
        }
        if nodes == 0 {
            let wanted = "expected \"Switch 0x…, base LID …\", the head of a table of opensm-sl2vl.dump";
            return Err(error(format!("{wanted}, found \"{}\"", excerpt(line))));
        }
        let (ports, lanes) = row(line).map_err(error)?;
        if let Node::Switch(s) = node
            && ports.0.max(ports.1) > fabric.radix(s)
        {
            let (name, most) = (fabric.switch_name(s), fabric.radix(s));
            let message = format!("expected ports of {name}, 0 to {most}, found {} and {}", ports.0, ports.1);
            return Err(error(message));
        }
        let Some(place) = node.place(fabric, ports) else { continue };
        if rows.insert(place, lanes).is_some() {
            return Err(error(format!(
                "expected each row once, found ports {} and {} again",
                ports.0, ports.1
            )));
        }
    }
    if nodes == 0 {
        return Err(FormatError::whole(
            label,
            "expected SL-to-VL tables as in opensm-sl2vl.dump, found none",
        ));
    }
    let live = |&link: &LinkId| fabric.alive(link);
    let between = fabric.links().filter(live).filter_map(|via| Some((via, fabric.link_to_switch(via)?)));
    let pairs = between.flat_map(|(via, s)| fabric.switch_links(s).map(move |out| (Some(via), out)));
    let own = fabric.hosts().map(|h| (None, fabric.host_link(h)));
    let turns = |via: Option<LinkId>, out| via.is_some_and(|via| fabric.reverse(via) == out);
    let mut needed = pairs.chain(own).filter(|&(via, out)| live(&out) && !turns(via, out));
    if let Some((via, out)) = needed.find(|place| !rows.contains_key(place)) {
        let from = via.map_or_else(|| "itself".to_owned(), |via| fabric.describe_link(via));
        let message =
            format!("expected a row for what comes from {from} and leaves by {}", fabric.describe_link(out));
        return Err(FormatError::whole(label, message));
    }
    let lane = |via, out, level: u8| rows.get(&(via, out)).map_or(0, |row| row[usize::from(level)]);
    Ok(LaneMap::new(fabric, lane))
}

enum Kind {
    Switch,
    Host,
    Router,
}

#[derive(Clone, Copy)]
enum Node {
    Switch(SwitchId),
    Host(HostId),
    Other,
}

impl Node {
    /// Which table a row is, if it matters.
    fn place(self, fabric: &Fabric, (from, to): (u16, u16)) -> Option<(Option<LinkId>, LinkId)> {
        match self {
            Self::Switch(s) => {
                let link = |port| fabric.link_at(s, port);
                Some((Some(fabric.reverse(link(from)?)), link(to)?))
            }
            Self::Host(h) => Some((None, fabric.host_link(h))),
            Self::Other => None,
        }
    }
}

/// `Switch 0x0002c90200000000, base LID 2, "leaf00"`
fn heading(line: &str) -> Option<(Kind, u64)> {
    let mut cursor = Cursor::new(line);
    let kind = [("Switch ", Kind::Switch), ("Channel Adapter ", Kind::Host), ("Router ", Kind::Router)];
    let (_, kind) = kind.into_iter().find(|(word, _)| cursor.eat(word))?;
    Some((kind, cursor.hex()?))
}

/// `2   1   : 4  0  3 …`
fn row(line: &str) -> Result<((u16, u16), Row), String> {
    let wrong = || format!("expected ports in and out, a colon and 16 lanes, found \"{}\"", excerpt(line));
    let mut cursor = Cursor::new(line);
    let mut port = || cursor.blanks().number().and_then(|port| u16::try_from(port).ok());
    let ports = port().zip(port()).ok_or_else(wrong)?;
    if !cursor.blanks().eat(":") {
        return Err(wrong());
    }
    let mut lanes = Row::default();
    for (level, lane) in lanes.iter_mut().enumerate() {
        let found = cursor.blanks().number().ok_or_else(wrong)?;
        if found >= DATA_LANES {
            return Err(format!(
                "service level {level} goes to lane {found}, on which no data travels: expected one below {DATA_LANES}"
            ));
        }
        *lane = found as u8;
    }
    if cursor.blanks().rest.is_empty() { Ok((ports, lanes)) } else { Err(wrong()) }
}

/// `0.1.0 scheme=… cabling=…`
fn check_comment(comment: &str, fabric: &Fabric) -> Result<(), String> {
    let written = comment.split_ascii_whitespace().find_map(|word| word.strip_prefix("cabling="));
    match written.and_then(|written| u64::from_str_radix(written, 16).ok()) {
        Some(hash) if hash != fabric.cabling_hash() => Err(format!(
            "the tables belong to a fabric with other cables (hash {hash:016x}, this fabric {:016x})",
            fabric.cabling_hash()
        )),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, Levels, SwitchSpec};

    use super::*;

    /// Two switches with two hosts each, two cables between them.
    fn fabric() -> Fabric {
        let mut b = FabricBuilder::new();
        let s: Vec<_> = (0..2).map(|i| b.switch(SwitchSpec::new(format!("s{i}"), 0x100 + i, 6))).collect();
        for i in 0..4u16 {
            let h = b.host(HostSpec::new(format!("node{i}"), 0x1000 + 16 * u64::from(i)));
            b.cable(End::Switch(s[usize::from(i / 2)], i % 2 + 1), End::Host(h), 1e9);
        }
        for port in [4, 5] {
            b.cable(End::Switch(s[0], port), End::Switch(s[1], port), 1e9);
        }
        b.build().unwrap()
    }

    #[test]
    fn what_is_written_reads_back() {
        let f = fabric();
        let map = LaneMap::random(&f, 5, 5, 1);
        let text = write_sl2vl(&f, &map, "0.1.0 scheme=5sl5vl:seed=1").unwrap();
        assert!(text.starts_with("# netloom 0.1.0 scheme=5sl5vl:seed=1 cabling="), "{text}");
        assert!(text.contains("Switch 0x0000000000000100, base LID "), "{text}");
        let back = read_sl2vl(text.as_bytes(), "t", &f).unwrap();
        assert_eq!(map.differences(&back, &f, SERVICE_LEVELS), (0, None));
        // Tables don't say which level a pair has.
        assert_eq!(back.with_levels(Levels::clone(map.levels().unwrap())), map);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let f = fabric();
        let good = write_sl2vl(&f, &LaneMap::uniform(&f, 4), "0").unwrap();
        let refused = |text: String| read_sl2vl(text.as_bytes(), "t", &f).unwrap_err().to_string();
        assert!(refused(String::new()).starts_with("t: expected SL-to-VL tables"));
        assert!(refused("hello\n".into()).starts_with("t:1: expected \"Switch 0x"));
        // Line 5 is the first row.
        let first = good.lines().nth(4).unwrap();
        let with = |row: &str| refused(good.replacen(first, row, 1));
        assert!(with("1   1   : 0  1").starts_with("t:5: expected ports in and out, a colon and 16 lanes"));
        assert!(
            with("1 1 : 0 1 2 15 0 1 2 3 0 1 2 3 0 1 2 3")
                .starts_with("t:5: service level 3 goes to lane 15")
        );
        assert!(
            with(&first.replacen('1', "2", 1)).contains("expected each row once, found ports 2 and 1 again")
        );
        // A switch of six ports.
        assert!(
            with(&first.replacen('1', "9", 1))
                .starts_with("t:5: expected ports of s0, 0 to 6, found 9 and 1")
        );
        let second = good.lines().nth(5).unwrap();
        let lacking = refused(good.replacen(&format!("{second}\n"), "", 1));
        assert!(lacking.contains("expected a row for what comes from node1[1]"), "{lacking}");
        let other = refused(good.replacen(&format!("{:016x}", f.cabling_hash()), "0f", 1));
        assert!(other.starts_with("t:1: the tables belong to a fabric with other cables"), "{other}");
    }
}
