//! Records as the parsers find them: unresolved, unpaired, each with its line.

use super::rate::Rate;
use super::{FabricKind, Finding};
use crate::error::FormatError;

/// The most ports that a node can have: port numbers are one byte, 255 means "none".
pub(super) const MAX_PORTS: u32 = 254;

/// The first GUID that is made up: locally administered, as no device has.
const FIRST_GUID: u64 = 0x0200_0000_0000_0100;
/// From a node's GUID to the next one's: the GUIDs of a node's ports, its own plus their numbers, lie between.
const GUIDS_A_NODE: u64 = 0x100;
const _: () = assert!((MAX_PORTS as u64) < GUIDS_A_NODE);

/// The GUID of a node that is known by its name only.
pub(super) fn made_guid(node: usize) -> u64 {
    FIRST_GUID + node as u64 * GUIDS_A_NODE
}

/// The most bytes of a name: descriptions of nodes have 64 (InfiniBand Architecture 1.3, 14.2.5.2), names in maps may have more.
pub(super) const MAX_NAME: usize = 1024;

/// A name above [`MAX_NAME`].
pub(super) fn too_long(label: &str, line: usize, name: &str) -> FormatError {
    FormatError::at(label, line, format!("a name of {} bytes: expected at most {MAX_NAME}", name.len()))
}

/// How many findings of one kind are listed one by one.
const LISTED: usize = 20;

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Switch,
    Adapter,
    Router,
    Aggregation,
    /// A node of a plane that is not taken.
    Elsewhere,
}

impl Role {
    pub fn word(self) -> &'static str {
        match self {
            Role::Switch => "switch",
            Role::Adapter => "channel adapter",
            Role::Router => "router",
            Role::Aggregation => "aggregation node",
            Role::Elsewhere => "node of another plane",
        }
    }
}

/// A node: its header, not yet its ports.
#[derive(Clone, Debug)]
pub(super) struct RawNode<'a> {
    pub line: usize,
    pub role: Role,
    /// What peers call it: `S-0002c90200000000`, `leaf00`, `0x0002c90200000000`.
    pub id: &'a str,
    pub guid: u64,
    /// Node description, as printed.
    pub name: &'a str,
    pub ports: u16,
    /// A switch's own LID; adapters have theirs at the ports.
    pub lid: Option<u32>,
}

/// A port line: one end's view of a cable.
#[derive(Clone, Debug)]
pub(super) struct RawPort<'a> {
    pub line: usize,
    /// Index of the node.
    pub node: u32,
    pub port: u16,
    /// Port GUID of an adapter's port, where printed.
    pub port_guid: Option<u64>,
    pub lid: Option<u32>,
    pub lmc: Option<u32>,
    /// The peer, by its id.
    pub peer: &'a str,
    pub peer_port: u16,
    pub peer_port_guid: Option<u64>,
    pub peer_name: &'a str,
    pub peer_lid: Option<u32>,
    pub rate: Rate,
}

/// Everything a parser found.
#[derive(Debug)]
pub(super) struct Raw<'a> {
    pub kind: FabricKind,
    pub nodes: Vec<RawNode<'a>>,
    pub ports: Vec<RawPort<'a>>,
    pub notes: Notes,
}

/// Collects findings; of each kind only the first few are listed, the rest counted.
#[derive(Debug, Default)]
pub(super) struct Notes {
    findings: Vec<Finding>,
    /// Word, sentence, how many.
    kinds: Vec<(&'static str, &'static str, usize)>,
}

impl Notes {
    /// Adds a finding of a kind; `more` ends the sentence "17 more: ...".
    pub fn add(
        &mut self,
        kind: &'static str,
        more: &'static str,
        line: impl Into<Option<usize>>,
        text: impl FnOnce() -> String,
    ) {
        let at = match self.kinds.iter().position(|k| k.0 == kind) {
            Some(at) => at,
            None => {
                self.kinds.push((kind, more, 0));
                self.kinds.len() - 1
            }
        };
        self.kinds[at].2 += 1;
        if self.kinds[at].2 <= LISTED {
            self.findings.push(Finding { kind, line: line.into(), text: text() });
        }
    }

    /// The findings by line (those without one last).
    pub fn finish(mut self) -> Vec<Finding> {
        self.findings.sort_by_key(|f| f.line.unwrap_or(usize::MAX));
        for (kind, more, count) in self.kinds {
            if count > LISTED {
                self.findings.push(Finding {
                    kind,
                    line: None,
                    text: format!("{} more: {more}", count - LISTED),
                });
            }
        }
        self.findings
    }
}
