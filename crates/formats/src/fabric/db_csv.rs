//! `ibdiagnet2.db_csv`: nodes, ports and cables of its sections `NODES`, `PORTS` and `LINKS`.
//!
//! A cable stands there once, so nothing is told by one end only. `PORTS` has LIDs, widths and speeds: without it the cables are there and
//! what they carry is not known (a finding). `LinkSpeedActv` is packed, as a comment in the file says: its lowest byte has
//! InfiniBand's first speeds, the next the extended ones, then those of the vendor; the highest has XDR.

use std::collections::{HashMap, HashSet};

use crate::db_csv::{Row, Section, needed, section};
use crate::error::FormatError;

use super::FabricKind;
use super::block::{AGGREGATION_DEVICE, is_aggregation};
use super::rate::{Rate, Speed};
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role};

/// Widths by the bits of `LinkWidthActv`.
const WIDTHS: [(u64, u8); 5] = [(1, 1), (2, 4), (4, 8), (8, 12), (16, 2)];
/// Speeds by the bits of `LinkSpeedActv`, the fastest first.
const SPEED_BITS: [(u32, Speed); 9] = [
    (24, Speed::Xdr),
    (11, Speed::Ndr),
    (10, Speed::Hdr),
    (9, Speed::Edr),
    (8, Speed::Fdr),
    (16, Speed::Fdr10),
    (2, Speed::Qdr),
    (1, Speed::Ddr),
    (0, Speed::Sdr),
];
/// `LinkSpeedActv` of 20 Gb/s a lane, which no InfiniBand speed is.
const EDR20: u64 = 2 << 16;

/// What `PORTS` says of a port.
#[derive(Clone, Copy, Default)]
struct PortInfo {
    line: usize,
    guid: Option<u64>,
    lid: Option<u32>,
    lmc: Option<u32>,
    rate: Rate,
}

/// Parses the sections; unpaired.
pub(super) fn parse<'a>(text: &'a str, label: &'a str) -> Result<Raw<'a>, FormatError> {
    let mut notes = Notes::default();
    let mut nodes = nodes(&needed(text, label, "NODES", "the fabric's nodes")?, label)?;
    let by_guid: HashMap<u64, u32> = (0..).zip(&nodes).map(|(n, node)| (node.guid, n)).collect();
    let links = needed(text, label, "LINKS", "its cables")?;
    let infos = match section(text, label, "PORTS")? {
        Some(ports) => infos(&ports, &nodes, &by_guid, label)?,
        None => {
            notes.add("missing-section", "", links.line, || {
                "no section START_PORTS: LIDs and speeds are not known".to_owned()
            });
            HashMap::new()
        }
    };
    for (n, node) in (0u32..).zip(&mut nodes) {
        if node.role == Role::Switch {
            node.lid = infos.get(&(n, 0)).and_then(|info| info.lid);
        }
    }
    let ports = cables(&links, &nodes, &by_guid, &infos, label)?;
    Ok(Raw { kind: FabricKind::IbdiagnetDbCsv, nodes, ports, notes })
}

fn nodes<'a>(section: &Section<'a>, label: &str) -> Result<Vec<RawNode<'a>>, FormatError> {
    let name = section.column(&["NodeDesc"])?;
    let (count, kind) = (section.column(&["NumPorts"])?, section.column(&["NodeType"])?);
    let guid = section.column(&["NodeGUID"])?;
    let device = section.find("DeviceID");
    let mut nodes: Vec<RawNode<'a>> = Vec::new();
    let mut lines: HashMap<u64, usize> = HashMap::new();
    for row in section.rows() {
        let row = row?;
        let ports = row.number(count, "NumPorts")?;
        if ports == 0 || ports > u64::from(MAX_PORTS) {
            let message = format!("expected NumPorts 1 to {MAX_PORTS}, found {ports}");
            return Err(FormatError::at(label, row.line, message));
        }
        let device = device.map_or(Ok(None), |column| row.optional(column, "DeviceID"))?;
        let description = row.text(name);
        let role = match row.number(kind, "NodeType")? {
            1 if device.map_or_else(|| is_aggregation(description), |id| id == AGGREGATION_DEVICE) => {
                Role::Aggregation
            }
            1 => Role::Adapter,
            2 => Role::Switch,
            3 => Role::Router,
            other => {
                let message =
                    format!("expected NodeType 1 (adapter), 2 (switch) or 3 (router), found {other}");
                return Err(FormatError::at(label, row.line, message));
            }
        };
        let (id, number) = (row.text(guid), row.number(guid, "NodeGUID")?);
        if let Some(earlier) = lines.insert(number, row.line) {
            let message = format!(
                "expected every GUID once, found 0x{number:016x} of \"{description}\" again: line {earlier} has it"
            );
            return Err(FormatError::at(label, row.line, message));
        }
        let ports = ports as u16;
        nodes.push(RawNode { line: row.line, role, id, guid: number, name: description, ports, lid: None });
    }
    Ok(nodes)
}

/// A node's port in a row, known to the fabric and within its radix.
fn port_of(
    row: &Row<'_>,
    guid: usize,
    port: usize,
    nodes: &[RawNode<'_>],
    by_guid: &HashMap<u64, u32>,
    lowest: u64,
    label: &str,
) -> Result<Option<(u32, u16)>, FormatError> {
    let Some(&node) = by_guid.get(&row.number(guid, "a node's GUID")?) else { return Ok(None) };
    let number = row.number(port, "a port's number")?;
    let RawNode { name, ports, .. } = &nodes[node as usize];
    if number < lowest || number > u64::from(*ports) {
        let message = format!("expected port {lowest} to {ports} of \"{name}\", found {number}");
        return Err(FormatError::at(label, row.line, message));
    }
    Ok(Some((node, number as u16)))
}

fn infos(
    section: &Section<'_>,
    nodes: &[RawNode<'_>],
    by_guid: &HashMap<u64, u32>,
    label: &str,
) -> Result<HashMap<(u32, u16), PortInfo>, FormatError> {
    let (guid, port) = (section.column(&["NodeGuid"])?, section.column(&["PortNum"])?);
    let [port_guid, lid, lmc, width, speed] =
        ["PortGuid", "LID", "LMC", "LinkWidthActv", "LinkSpeedActv"].map(|name| (name, section.find(name)));
    let mut infos: HashMap<(u32, u16), PortInfo> = HashMap::new();
    for row in section.rows() {
        let row = row?;
        let Some(at) = port_of(&row, guid, port, nodes, by_guid, 0, label)? else { continue };
        let value = |(name, column): (&str, Option<usize>)| {
            column.map_or(Ok(None), |column| row.optional(column, name))
        };
        let small = |number: Option<u64>| number.map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        let width = value(width)?.and_then(|bits| WIDTHS.iter().find(|w| w.0 == bits)).map(|w| w.1);
        let speed = value(speed)?.filter(|&bits| bits != EDR20);
        let speed = speed.and_then(|bits| SPEED_BITS.iter().find(|s| bits >> s.0 & 1 == 1)).map(|s| s.1);
        let info = PortInfo {
            line: row.line,
            guid: value(port_guid)?.filter(|&guid| guid != 0),
            lid: small(value(lid)?),
            lmc: small(value(lmc)?),
            rate: Rate::of(width, speed),
        };
        if let Some(earlier) = infos.insert(at, info) {
            let name = nodes[at.0 as usize].name;
            let message = format!(
                "expected port {} of \"{name}\" once, found it again: line {} has it",
                at.1, earlier.line
            );
            return Err(FormatError::at(label, row.line, message));
        }
    }
    Ok(infos)
}

fn cables<'a>(
    section: &Section<'a>,
    nodes: &[RawNode<'a>],
    by_guid: &HashMap<u64, u32>,
    infos: &HashMap<(u32, u16), PortInfo>,
    label: &str,
) -> Result<Vec<RawPort<'a>>, FormatError> {
    let ends = [("NodeGuid1", "PortNum1"), ("NodeGuid2", "PortNum2")];
    let mut columns = [(0, 0); 2];
    for (at, (guid, port)) in columns.iter_mut().zip(ends) {
        *at = (section.column(&[guid])?, section.column(&[port])?);
    }
    let mut ports = Vec::new();
    let mut seen = HashSet::new();
    for row in section.rows() {
        let row = row?;
        let mut found = [(0u32, 0u16); 2];
        for (end, (guid, port)) in found.iter_mut().zip(columns) {
            *end = port_of(&row, guid, port, nodes, by_guid, 1, label)?.ok_or_else(|| {
                let message = format!("expected a node of START_NODES, found {}", row.text(guid));
                FormatError::at(label, row.line, message)
            })?;
        }
        let [a, b] = found;
        // Some releases may tell a cable from both of its ends.
        if !seen.insert((a.min(b), a.max(b))) {
            continue;
        }
        for ((node, port), (peer, peer_port)) in [(a, b), (b, a)] {
            let info = infos.get(&(node, port)).copied().unwrap_or_default();
            let far = infos.get(&(peer, peer_port)).copied().unwrap_or_default();
            let adapter = nodes[node as usize].role != Role::Switch;
            ports.push(RawPort {
                line: row.line,
                node,
                port,
                port_guid: info.guid.filter(|_| adapter),
                lid: info.lid.filter(|_| adapter),
                lmc: info.lmc.filter(|_| adapter),
                peer: nodes[peer as usize].id,
                peer_port,
                peer_port_guid: far.guid,
                peer_name: "",
                peer_lid: far.lid,
                rate: info.rate,
            });
        }
    }
    Ok(ports)
}
