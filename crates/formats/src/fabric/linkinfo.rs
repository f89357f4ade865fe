//! `iblinkinfo`, also with `-l`: a row a port.
//!
//! ```text
//! CA: n03 mlx5_0:
//!       0xb8599f0300300030      8    1[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       4    2[  ] "leaf1" ( )
//! Switch: 0xb8599f0300100100 leaf1:
//!            4    2[  ] ==( 4X        53.125 Gbps Active/  LinkUp)==>       8    1[  ] "n03 mlx5_0" ( )
//!            4    3[  ] ==(                Down/ Polling)==>             [  ] "" ( )
//! ```
//!
//! With `-l` every row begins with GUID and name, and tells the peer's GUID; otherwise peers are known by their LIDs. An adapter is known
//! by its port's GUID only, so every port is an adapter of its own here; with `-l`, what has one row is an adapter.

use std::collections::HashMap;

use crate::error::{FormatError, excerpt};
use crate::text::{Cursor, last_line, parse_hex};

use super::FabricKind;
use super::block::is_aggregation;
use super::rate::{Rate, Speed};
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role};

/// Signalling rates of a lane as `iblinkinfo` writes them, in Gb/s.
const LANES: [(&str, Speed); 9] = [
    ("2.5", Speed::Sdr),
    ("5.0", Speed::Ddr),
    ("10.0", Speed::Qdr),
    ("10.3125", Speed::Fdr10),
    ("14.0625", Speed::Fdr),
    ("25.78125", Speed::Edr),
    ("53.125", Speed::Hdr),
    ("106.25", Speed::Ndr),
    ("212.5", Speed::Xdr),
];

/// A row.
struct Row<'a> {
    line: usize,
    node: u32,
    port: u16,
    lid: u32,
    peer: Option<Peer<'a>>,
    rate: Rate,
}

/// The far end of a row.
struct Peer<'a> {
    id: Option<&'a str>,
    lid: u32,
    port: u16,
    name: &'a str,
}

/// Whether a line is a row.
pub(super) fn looks_like(line: &str) -> bool {
    line.contains("] ==(") && line.contains(")==> ")
}

/// Parses all rows; unresolved.
pub(super) fn parse<'a>(text: &'a str, label: &str) -> Result<Raw<'a>, FormatError> {
    let mut nodes: Vec<RawNode<'a>> = Vec::new();
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut of_guid: HashMap<u64, u32> = HashMap::new();
    let mut notes = Notes::default();
    // The name of the adapter whose rows come, or the switch.
    let mut adapter: Option<(Role, &'a str)> = None;
    let mut switch: Option<u32> = None;
    let mut heads = false;
    let last = last_line(text);
    for (number, line) in (1..).zip(text.lines()) {
        let at_line = |message: String| {
            let truncated = if number == last { "truncated dump: " } else { "" };
            FormatError::at(label, number, format!("{truncated}{message}"))
        };
        if line.trim_ascii().is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some((role, guid, name)) = head(line.trim_ascii()) {
            heads = true;
            (adapter, switch) = (Some((role, name)), None);
            if let Some(id) = guid {
                let guid = guid_of(id).map_err(at_line)?;
                switch = Some(add(&mut nodes, &mut of_guid, (number, role, id, guid, name)));
            }
            continue;
        }
        if !looks_like(line) {
            if number == last {
                return Err(at_line(format!("expected a row of a port, found \"{}\"", excerpt(line))));
            }
            notes.add("stray-text", "lines that are not iblinkinfo's output, ignored", number, || {
                format!("not a line of iblinkinfo, ignored: \"{}\"", excerpt(line))
            });
            continue;
        }
        let mut cursor = Cursor::new(line.trim_ascii_start());
        let own = own(&mut cursor).map_err(at_line)?;
        let node = match (own, switch, adapter) {
            (Some((id, Some(name))), _, _) => {
                let role = if is_aggregation(name) { Role::Aggregation } else { Role::Switch };
                add(&mut nodes, &mut of_guid, (number, role, id, guid_of(id).map_err(at_line)?, name))
            }
            (Some((id, None)), None, Some((role, name))) => {
                add(&mut nodes, &mut of_guid, (number, role, id, guid_of(id).map_err(at_line)?, name))
            }
            (_, Some(switch), _) => switch,
            _ => {
                return Err(at_line(
                    "expected a GUID, or a head (\"Switch: 0xGUID NAME:\") before it".to_owned(),
                ));
            }
        };
        let row = row(&mut cursor, number, node).map_err(at_line)?;
        let known = &mut nodes[node as usize];
        known.ports = known.ports.max(row.port);
        known.lid = known.lid.or(Some(row.lid));
        rows.push(row);
    }
    if !heads {
        alone_are_adapters(&mut nodes, &rows);
    }
    let ports = ends(&nodes, &rows, label)?;
    Ok(Raw { kind: FabricKind::Iblinkinfo, nodes, ports, notes })
}

/// The node of a GUID, which is new or was there.
fn add<'a>(
    nodes: &mut Vec<RawNode<'a>>,
    of_guid: &mut HashMap<u64, u32>,
    (line, role, id, guid, name): (usize, Role, &'a str, u64, &'a str),
) -> u32 {
    *of_guid.entry(guid).or_insert_with(|| {
        nodes.push(RawNode { line, role, id, guid, name, ports: 1, lid: None });
        nodes.len() as u32 - 1
    })
}

/// `Switch: 0xb8599f0300100100 leaf1:`, `CA: n03 mlx5_0:`
fn head(line: &str) -> Option<(Role, Option<&str>, &str)> {
    let (word, rest) = line.split_once(": ")?;
    let rest = rest.trim_ascii().strip_suffix(':')?;
    let role = match word {
        "Switch" => Role::Switch,
        "CA" if is_aggregation(rest) => Role::Aggregation,
        "CA" => Role::Adapter,
        "RT" | "Router" => Role::Router,
        _ => return None,
    };
    match rest.split_once(' ') {
        Some((guid, name)) if role == Role::Switch && guid.starts_with("0x") => {
            Some((role, Some(guid), name))
        }
        _ if role == Role::Switch && rest.starts_with("0x") => Some((role, Some(rest), "")),
        _ => Some((role, None, rest)),
    }
}

fn guid_of(id: &str) -> Result<u64, String> {
    let digits = id.strip_prefix("0x").filter(|digits| digits.len() <= 16);
    digits.and_then(parse_hex).ok_or_else(|| format!("expected a GUID, found \"{}\"", excerpt(id)))
}

/// `0xGUID`, `0xGUID "NAME"`, or nothing, before a row's LID.
fn own<'a>(cursor: &mut Cursor<'a>) -> Result<Option<(&'a str, Option<&'a str>)>, String> {
    if !cursor.rest.starts_with("0x") {
        return Ok(None);
    }
    let id = cursor.word();
    let rest = cursor.rest.trim_ascii_start();
    let Some(quoted) = rest.strip_prefix('"') else { return Ok(Some((id, None))) };
    // Names may hold quotes: the last one before the arrow closes.
    let arrow = quoted.find(" ==(").unwrap_or(quoted.len());
    let close = quoted[..arrow].rfind('"').ok_or("expected a name in quotes")?;
    cursor.rest = &quoted[close + 1..];
    Ok(Some((id, Some(quoted[..close].trim_ascii()))))
}

/// `8    1[  ] ==( 4X 53.125 Gbps Active/  LinkUp)==>       4    2[  ] "leaf1" (Could be 12X )`
fn row<'a>(cursor: &mut Cursor<'a>, line: usize, node: u32) -> Result<Row<'a>, String> {
    let (lid, port) = end(cursor)?;
    let rest = cursor.rest.trim_ascii_start();
    let told = rest.strip_prefix("==(").and_then(|rest| rest.split_once(")==>"));
    let (state, far) = told.ok_or("expected ==( STATE )==>")?;
    let mut cursor = Cursor::new(far.trim_ascii());
    let id = cursor.rest.starts_with("0x").then(|| cursor.word());
    if id.is_none() && !cursor.rest.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok(Row { line, node, port, lid, peer: None, rate: Rate::default() });
    }
    let (peer_lid, peer_port) = end(&mut cursor)?;
    let rest = cursor.rest.trim_ascii();
    let open = rest.strip_prefix('"').ok_or("expected the peer's name in quotes")?;
    let (before, _) =
        open.rsplit_once("\" (").or_else(|| open.rsplit_once('"')).ok_or("expected a closing quote")?;
    let peer = Some(Peer { id, lid: peer_lid, port: peer_port, name: before });
    Ok(Row { line, node, port, lid, peer, rate: rate(state) })
}

/// `4    2[  ]`: LID and port.
fn end(cursor: &mut Cursor<'_>) -> Result<(u32, u16), String> {
    let bad = |rest: &str| format!("expected LID PORT[ ], found \"{}\"", excerpt(rest));
    let start = cursor.rest;
    let lid = cursor.blanks().number().ok_or_else(|| bad(start))?;
    let port = cursor.blanks().number().ok_or_else(|| bad(start))?;
    if port == 0 || port > MAX_PORTS {
        return Err(format!("expected port 1 to {MAX_PORTS}, found {port}"));
    }
    let close = cursor.rest.find(']').filter(|_| cursor.rest.starts_with('[')).ok_or_else(|| bad(start))?;
    cursor.rest = &cursor.rest[close + 1..];
    Ok((lid, port as u16))
}

/// `4X        53.125 Gbps Active/  LinkUp`
fn rate(state: &str) -> Rate {
    let mut words = state.split_ascii_whitespace();
    let width = words.next().and_then(|word| word.strip_suffix('X')).and_then(|word| word.parse().ok());
    let speed = words.next().and_then(|word| LANES.iter().find(|known| known.0 == word)).map(|known| known.1);
    Rate::of(width.filter(|width| [1, 2, 4, 8, 12].contains(width)), speed)
}

/// Without heads, what has one row is an adapter's port: a switch prints all of its ports.
fn alone_are_adapters(nodes: &mut [RawNode<'_>], rows: &[Row<'_>]) {
    let mut count = vec![0; nodes.len()];
    rows.iter().for_each(|row| count[row.node as usize] += 1);
    for (node, count) in nodes.iter_mut().zip(count) {
        if node.role == Role::Switch && count == 1 {
            node.role = Role::Adapter;
        }
    }
}

/// The rows that have a peer, by its GUID, or else by its LID.
fn ends<'a>(nodes: &[RawNode<'a>], rows: &[Row<'a>], label: &str) -> Result<Vec<RawPort<'a>>, FormatError> {
    let by_lid: HashMap<u32, u32> = rows.iter().map(|row| (row.lid, row.node)).collect();
    let mut ports = Vec::new();
    for row in rows {
        let Some(peer) = &row.peer else { continue };
        let id = match (peer.id, by_lid.get(&peer.lid)) {
            (Some(id), _) => id,
            (None, Some(&node)) => nodes[node as usize].id,
            (None, None) => {
                let message = format!(
                    "truncated dump: expected the ports of LID {} (\"{}\"), to which this cable leads, found none",
                    peer.lid,
                    excerpt(peer.name)
                );
                return Err(FormatError::at(label, row.line, message));
            }
        };
        let node = &nodes[row.node as usize];
        let adapter = node.role != Role::Switch;
        ports.push(RawPort {
            line: row.line,
            node: row.node,
            port: row.port,
            port_guid: adapter.then_some(node.guid),
            lid: adapter.then_some(row.lid),
            lmc: None,
            peer: id,
            peer_port: peer.port,
            peer_port_guid: None,
            peer_name: peer.name,
            peer_lid: Some(peer.lid),
            rate: row.rate,
        });
    }
    Ok(ports)
}
