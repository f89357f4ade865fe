//! From port lines to cables: each cable is told by both of its ends, and the two must agree.
//!
//! Invariant: a port is in at most one cable. A cable that one end only tells of is believed, with a
//! finding, unless it is the last record that is short of it: then the dump is truncated.

use std::collections::HashMap;

use crate::error::FormatError;

use super::FabricKind;
use super::raw::{Raw, RawPort};

/// A cable: two nodes and ports, and the lines that tell of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub a: u32,
    pub a_port: u16,
    pub b: u32,
    pub b_port: u16,
    /// Index of the line of end `a`.
    pub told_by: u32,
    /// Index of the line of end `b`, if it has one.
    pub confirmed_by: Option<u32>,
}

/// Nodes by id, port lines by node and port.
pub(super) struct Index {
    /// The port lines of node `n` are `first[n]..first[n + 1]`, by port.
    first: Vec<u32>,
}

impl Index {
    /// The port line of a node's port.
    fn find(&self, ports: &[RawPort<'_>], node: u32, port: u16) -> Option<u32> {
        let range = self.first[node as usize] as usize..self.first[node as usize + 1] as usize;
        let at = ports[range.clone()].binary_search_by_key(&port, |p| p.port).ok()?;
        Some((range.start + at) as u32)
    }

    /// Whether a node has port lines at all.
    pub fn has_ports(&self, node: usize) -> bool {
        self.first[node] < self.first[node + 1]
    }
}

/// Sorts the port lines and joins them into cables.
pub(super) fn pair_up(raw: &mut Raw<'_>, label: &str) -> Result<(Index, Vec<Pair>), FormatError> {
    let ids = check_ids(raw, label)?;
    raw.ports.sort_by_key(|p| (p.node, p.port));
    for two in raw.ports.windows(2) {
        if (two[0].node, two[0].port) == (two[1].node, two[1].port) {
            let node = &raw.nodes[two[0].node as usize];
            let message = format!(
                "expected one cable in port {} of \"{}\", found another on line {}",
                two[0].port, node.name, two[0].line
            );
            return Err(FormatError::at(label, two[1].line, message));
        }
    }
    let mut first = vec![0u32; raw.nodes.len() + 1];
    for port in &raw.ports {
        first[port.node as usize + 1] += 1;
    }
    for n in 0..raw.nodes.len() {
        first[n + 1] += first[n];
    }
    let index = Index { first };
    let pairs = join(raw, label, &ids, &index)?;
    Ok((index, pairs))
}

/// Ids and GUIDs are unique.
fn check_ids<'a>(raw: &Raw<'a>, label: &str) -> Result<HashMap<&'a str, u32>, FormatError> {
    let mut ids = HashMap::with_capacity(raw.nodes.len());
    let mut guids = HashMap::with_capacity(raw.nodes.len());
    for (n, node) in raw.nodes.iter().enumerate() {
        let earlier = ids.insert(node.id, n as u32).or(guids.insert(node.guid, n as u32));
        if let Some(earlier) = earlier {
            let earlier = &raw.nodes[earlier as usize];
            let message = format!(
                "expected every GUID once, found 0x{:016x} of \"{}\" again: line {} has it as \"{}\"",
                node.guid, node.name, earlier.line, earlier.name
            );
            return Err(FormatError::at(label, node.line, message));
        }
    }
    Ok(ids)
}

fn join(
    raw: &mut Raw<'_>,
    label: &str,
    ids: &HashMap<&str, u32>,
    index: &Index,
) -> Result<Vec<Pair>, FormatError> {
    let mut pairs = Vec::with_capacity(raw.ports.len() / 2);
    let mut claimed: HashMap<(u32, u16), u32> = HashMap::new();
    let last_record = raw.nodes.iter().enumerate().max_by_key(|(_, n)| n.line).map_or(0, |(n, _)| n as u32);
    for i in 0..raw.ports.len() {
        let end = &raw.ports[i];
        let Some(&peer) = ids.get(end.peer) else {
            let name =
                if end.peer_name.is_empty() { String::new() } else { format!(" (\"{}\")", end.peer_name) };
            let message = format!(
                "truncated dump: expected a record of \"{}\"{name}, to which this cable leads, found none",
                end.peer
            );
            return Err(FormatError::at(label, end.line, message));
        };
        let peer_node = &raw.nodes[peer as usize];
        if end.peer_port > peer_node.ports {
            let message = format!(
                "expected port 1 to {} of \"{}\", found {}",
                peer_node.ports, peer_node.name, end.peer_port
            );
            return Err(FormatError::at(label, end.line, message));
        }
        let pair = Pair {
            a: end.node,
            a_port: end.port,
            b: peer,
            b_port: end.peer_port,
            told_by: i as u32,
            confirmed_by: index.find(&raw.ports, peer, end.peer_port),
        };
        match pair.confirmed_by {
            Some(j) => {
                let other = &raw.ports[j as usize];
                if ids.get(other.peer) != Some(&end.node) || other.peer_port != end.port {
                    return Err(disagreement(raw, label, end, other));
                }
                // Both ends tell of it: the first counts.
                if i as u32 <= j {
                    pairs.push(pair);
                }
            }
            None => {
                if let Some(earlier) = claimed.insert((peer, end.peer_port), i as u32) {
                    return Err(disagreement(raw, label, &raw.ports[earlier as usize], end));
                }
                if raw.kind != FabricKind::IbsimNet && peer == last_record {
                    let message = format!(
                        "truncated dump: expected a line for port {} of \"{}\", the last record, to which line {} leads",
                        end.peer_port, peer_node.name, end.line
                    );
                    return Err(FormatError::at(label, peer_node.line, message));
                }
                if raw.kind != FabricKind::IbsimNet {
                    let text = format!(
                        "a cable that only one end tells of: \"{}\"[{}] to \"{}\"[{}]; taken as cabled",
                        raw.nodes[end.node as usize].name, end.port, peer_node.name, end.peer_port
                    );
                    raw.notes.add("one-ended-cable", "cables that only one end tells of", end.line, || text);
                }
                pairs.push(pair);
            }
        }
    }
    Ok(pairs)
}

fn disagreement(raw: &Raw<'_>, label: &str, one: &RawPort<'_>, two: &RawPort<'_>) -> FormatError {
    let (one, two) = if one.line < two.line { (one, two) } else { (two, one) };
    let tell = |p: &RawPort<'_>| {
        let name = raw.nodes[p.node as usize].name;
        let peer = raw.nodes.iter().find(|n| n.id == p.peer).map_or(p.peer, |n| n.name);
        format!("\"{name}\"[{}] leads to \"{peer}\"[{}]", p.port, p.peer_port)
    };
    let message = format!(
        "expected the two ends of a cable to agree: here {}, but on line {} {}",
        tell(two),
        one.line,
        tell(one)
    );
    FormatError::at(label, two.line, message)
}
