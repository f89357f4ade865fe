//! A line a port: `ibnetdiscover -p`.
//!
//! ```text
//! CA    44  1 0x0002c903000007c1 4x EDR - SW    35  4 0x0002c902000001c0 ( 'host0031' - 'leaf07' )
//! SW    35  5 0x0002c902000001c0 4x SDR                                    'leaf07'
//! ```
//!
//! Ports without a cable are printed too, in any speed; a switch has as many ports as its highest. An adapter
//! is known by its port's GUID only, so every port is an adapter of its own here. All ports of a switch are printed, the highest
//! first: a dump that ends before port 1 is truncated.

use std::collections::HashMap;

use crate::error::{FormatError, excerpt};
use crate::text::{Cursor, last_line, parse_hex};

use super::FabricKind;
use super::block::is_aggregation;
use super::rate::Rate;
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role};

/// Whether a line is one of a port.
pub(super) fn looks_like(line: &str) -> bool {
    let mut cursor = Cursor::new(line);
    role(cursor.word()).is_some()
        && cursor.blanks().number().is_some()
        && cursor.blanks().number().is_some()
        && cursor.blanks().rest.starts_with("0x")
}

/// One end: `SW 35 4 0x0002c902000001c0`.
struct Side<'a> {
    role: Role,
    lid: u32,
    port: u32,
    id: &'a str,
    guid: u64,
}

/// Parses all lines; unresolved.
pub(super) fn parse<'a>(text: &'a str, label: &str) -> Result<Raw<'a>, FormatError> {
    let mut nodes: Vec<RawNode<'a>> = Vec::new();
    let mut ports: Vec<RawPort<'a>> = Vec::new();
    let mut by_guid: HashMap<u64, u32> = HashMap::new();
    let mut notes = Notes::default();
    // The lowest port of every node, and the node of the last line.
    let (mut lowest, mut latest) = (Vec::new(), 0);
    let last = last_line(text);
    for (i, line) in text.lines().enumerate() {
        let (number, line) = (i + 1, line.trim_ascii());
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if !looks_like(line) {
            let begun = role(Cursor::new(line).word()).is_some()
                || ["SW", "CA", "RT"].iter().any(|w| w.starts_with(line));
            if number == last && begun {
                return Err(malformed(label, number, line, true));
            }
            notes.add("stray-text", "lines that are not ibnetdiscover's output, ignored", number, || {
                format!("not a line of ibnetdiscover -p, ignored: \"{}\"", excerpt(line))
            });
            continue;
        }
        let bad = || malformed(label, number, line, number == last);
        let mut cursor = Cursor::new(line);
        let near = side(&mut cursor).ok_or_else(bad)?;
        let rate = Rate::parse_words(cursor.word(), cursor.word()).ok_or_else(bad)?;
        if near.port > MAX_PORTS || (near.port == 0 && near.role != Role::Switch) {
            let message = format!("expected port 1 to {MAX_PORTS}, found {}", near.port);
            return Err(FormatError::at(label, number, message));
        }
        let cabled = cursor.blanks().eat("-");
        let far = if cabled { Some(side(&mut cursor).ok_or_else(bad)?) } else { None };
        let (name, peer_name) = names(cursor.rest.trim_ascii(), cabled).ok_or_else(bad)?;

        let node = *by_guid.entry(near.guid).or_insert_with(|| {
            nodes.push(RawNode {
                line: number,
                role: if near.role == Role::Adapter && is_aggregation(name) {
                    Role::Aggregation
                } else {
                    near.role
                },
                id: near.id,
                guid: near.guid,
                name,
                ports: 1,
                lid: Some(near.lid),
            });
            lowest.push(near.port);
            (nodes.len() - 1) as u32
        });
        latest = node as usize;
        let known = &mut nodes[latest];
        known.ports = known.ports.max(near.port as u16);
        lowest[latest] = near.port.min(lowest[latest]);
        let Some(far) = far.filter(|_| near.port > 0) else { continue };
        if far.port == 0 || far.port > MAX_PORTS {
            let message = format!("expected the peer's port 1 to {MAX_PORTS}, found {}", far.port);
            return Err(FormatError::at(label, number, message));
        }
        let adapter = near.role != Role::Switch;
        ports.push(RawPort {
            line: number,
            node,
            port: near.port as u16,
            port_guid: adapter.then_some(near.guid),
            lid: adapter.then_some(near.lid),
            lmc: None,
            peer: far.id,
            peer_port: far.port as u16,
            peer_port_guid: (far.role != Role::Switch).then_some(far.guid),
            peer_name,
            peer_lid: Some(far.lid),
            rate,
        });
    }
    if nodes.get(latest).is_some_and(|n| n.role == Role::Switch && lowest[latest] > 1) {
        let message = format!(
            "truncated dump: expected all ports of \"{}\", the last one down to 1",
            nodes[latest].name
        );
        return Err(FormatError::at(label, last, message));
    }
    Ok(Raw { kind: FabricKind::IbnetdiscoverPorts, nodes, ports, notes })
}

fn malformed(label: &str, number: usize, line: &str, last: bool) -> FormatError {
    let truncated = if last { "truncated dump: " } else { "" };
    let expected = "expected TYPE LID PORT 0xGUID WIDTH SPEED [- TYPE LID PORT 0xGUID] ( 'NAME' ... )";
    FormatError::at(label, number, format!("{truncated}{expected}, found \"{}\"", excerpt(line)))
}

fn role(word: &str) -> Option<Role> {
    match word {
        "SW" => Some(Role::Switch),
        "CA" => Some(Role::Adapter),
        "RT" => Some(Role::Router),
        _ => None,
    }
}

fn side<'a>(cursor: &mut Cursor<'a>) -> Option<Side<'a>> {
    let role = role(cursor.word())?;
    let lid = cursor.blanks().number()?;
    let port = cursor.blanks().number()?;
    let id = cursor.word();
    let guid = id.strip_prefix("0x").filter(|digits| digits.len() == 16)?;
    Some(Side { role, lid, port, id, guid: parse_hex(guid)? })
}

/// `( 'D' - 'D' )` or `'D'`. A description may hold `' - '` itself: then the middle of several is taken.
fn names(rest: &str, cabled: bool) -> Option<(&str, &str)> {
    if !cabled {
        return Some((rest.strip_prefix('\'')?.strip_suffix('\'')?, ""));
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?.trim_ascii();
    let inside = inside.strip_prefix('\'')?.strip_suffix('\'')?;
    let separators: Vec<usize> = inside.match_indices("' - '").map(|m| m.0).collect();
    let at = *separators.get(separators.len() / 2)?;
    Some((&inside[..at], &inside[at + 5..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cabled_and_empty_ports_are_told_apart() {
        assert!(looks_like("CA    44  1 0x0002c903000007c1 4x EDR - SW"));
        assert!(!looks_like("CA: host0031"));
        assert_eq!(names("( 'a b' - 'c's' )", true), Some(("a b", "c's")));
        assert_eq!(names("'MF0;director:L1/U1'", false), Some(("MF0;director:L1/U1", "")));
        assert_eq!(names("( 'a", true), None);
    }
}
