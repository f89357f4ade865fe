//! `ibdiagnet2.net_dump`: a table a switch, a row a port.
//!
//! ```text
//! "leaf00", Mellanox, 0x0002c90200000000, LID 24
//!   #     : IB# : Sta  : PhysSta : MTU : LWA : LSA : FEC mode : Retran : Neighbor Guid      : N#    : NLID : Neighbor Description
//!   1/1/1 : 1   : ACT  : LINK UP : 5   : 4x  : 100 : NO-FEC   : NO-RTR : 0x5c25730300c06f60 : 1/2/1 : 156  : "host0001"
//!   1/1/2 : 2   : DOWN : POLL    : N/A : N/A : N/A : N/A      : N/A    :                    :       :      :
//! ```
//!
//! `N#` is what is printed on the neighbour's port: of a switch, the first column of its own table says which port that is; of an adapter the
//! last number is its port. An adapter is only seen from its switch and known by one GUID, so each port of it is an adapter
//! of its own here, and LMC is not known. Columns go by the title row. `File closed at` ends the dump: where `File
//! created at` begins it and it does not end, it was cut.

use std::collections::HashMap;

use crate::error::{FormatError, excerpt};
use crate::text::{last_line, parse_hex};

use super::FabricKind;
use super::block::is_aggregation;
use super::rate::{Rate, Speed};
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role};

/// Speeds of a lane as `LSA` writes them.
const LSA: [(&str, Speed); 10] = [
    ("2.5", Speed::Sdr),
    ("5", Speed::Ddr),
    ("10", Speed::Qdr),
    ("FDR10", Speed::Fdr10),
    ("FDR_10", Speed::Fdr10),
    ("14", Speed::Fdr),
    ("25", Speed::Edr),
    ("50", Speed::Hdr),
    ("100", Speed::Ndr),
    ("200", Speed::Xdr),
];

/// The head of a switch's table.
struct Head<'a> {
    name: &'a str,
    id: &'a str,
    guid: u64,
    lid: Option<u32>,
}

/// Where the columns are.
struct Columns {
    count: usize,
    label: usize,
    port: usize,
    width: usize,
    speed: usize,
    peer: usize,
    peer_label: usize,
    peer_lid: Option<usize>,
    peer_name: usize,
}

/// A row with a neighbour.
struct Cable<'a> {
    line: usize,
    switch: u32,
    port: u16,
    rate: Rate,
    peer: &'a str,
    guid: u64,
    label: &'a str,
    lid: Option<u32>,
    name: &'a str,
}

/// Whether a line is the head of a switch's table.
pub(super) fn looks_like(line: &str) -> bool {
    head(line).is_some()
}

/// `"leaf00", Mellanox, 0x0002c90200000000, LID 24`
fn head(line: &str) -> Option<Head<'_>> {
    let close = line.rfind('"').filter(|_| line.starts_with('"'))?;
    let name = line.get(1..close)?;
    let mut words = line[close + 1..].split(',').map(str::trim).skip(1);
    let (_vendor, id) = (words.next()?, words.next()?);
    let guid = id.strip_prefix("0x").and_then(parse_hex)?;
    let lid = words.next()?.strip_prefix("LID")?.trim().parse().ok();
    Some(Head { name, id, guid, lid })
}

impl Columns {
    /// From a title row; none if this is not one.
    fn of(line: &str) -> Option<Result<Self, String>> {
        let fields: Vec<String> = line.split(':').map(|f| f.trim().to_ascii_lowercase()).collect();
        if !fields.first()?.starts_with('#') || !fields.iter().any(|f| f == "ib#") {
            return None;
        }
        let find = |name: &str| fields.iter().position(|f| f.eq_ignore_ascii_case(name));
        let need = |name: &str| find(name).ok_or_else(|| format!("expected a column \"{name}\", found none"));
        let columns = || {
            Ok(Self {
                count: fields.len(),
                label: 0,
                port: need("IB#")?,
                width: need("LWA")?,
                speed: need("LSA")?,
                peer: need("Neighbor Guid")?,
                peer_label: need("N#")?,
                peer_lid: find("NLID"),
                peer_name: need("Neighbor Description")?,
            })
        };
        Some(columns())
    }
}

/// Parses all tables; unpaired.
pub(super) fn parse<'a>(text: &'a str, label: &str) -> Result<Raw<'a>, FormatError> {
    let mut nodes: Vec<RawNode<'a>> = Vec::new();
    let mut cables: Vec<Cable<'a>> = Vec::new();
    let mut labels: HashMap<(u32, &'a str), u16> = HashMap::new();
    let mut columns: Option<Columns> = None;
    let mut notes = Notes::default();
    let (mut created, mut closed) = (false, false);
    let last = last_line(text);
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_ascii();
        let at_line = |message: String| {
            let truncated = if number == last { "truncated dump: " } else { "" };
            FormatError::at(label, number, format!("{truncated}{message}"))
        };
        if let Some(found) = Columns::of(line) {
            columns = Some(found.map_err(at_line)?);
        } else if line.starts_with('#') || line.is_empty() {
            created |= line.contains("File created at");
            closed |= line.contains("File closed at");
        } else if let Some(Head { name, id, guid, lid }) = head(line) {
            nodes.push(RawNode { line: number, role: Role::Switch, id, guid, name, ports: 1, lid });
            columns = None;
        } else if let (Some(columns), Some(node)) = (&columns, nodes.last_mut()) {
            let (own_label, port) = port(line, columns).map_err(at_line)?;
            node.ports = node.ports.max(port);
            let switch = nodes.len() as u32 - 1;
            labels.insert((switch, own_label), port);
            cables.extend(cable(line, columns, number, (switch, port)).map_err(at_line)?);
        } else if nodes.is_empty() {
            notes.add("stray-text", "lines that are not ibdiagnet's output, ignored", number, || {
                format!("not a line of a net_dump, ignored: \"{}\"", excerpt(line))
            });
        } else {
            let message = "expected the title row of a table (# : IB# : Sta : …)";
            return Err(at_line(format!("{message}, found \"{}\"", excerpt(line))));
        }
    }
    if created && !closed {
        let message = "truncated dump: expected \"# File closed at\" at the end, found none";
        return Err(FormatError::at(label, last, message));
    }
    let ports = ends(&mut nodes, &cables, &labels, label)?;
    Ok(Raw { kind: FabricKind::IbdiagnetNetDump, nodes, ports, notes })
}

/// A row's fields; the last one holds what is left of the line.
fn fields<'a>(line: &'a str, columns: &Columns) -> Result<Vec<&'a str>, String> {
    let fields: Vec<&str> = line.splitn(columns.count, ':').map(str::trim).collect();
    if fields.len() == columns.count {
        return Ok(fields);
    }
    Err(format!("expected {} columns, found {}: \"{}\"", columns.count, fields.len(), excerpt(line)))
}

/// What is printed on a row's port, and its number.
fn port<'a>(line: &'a str, columns: &Columns) -> Result<(&'a str, u16), String> {
    let fields = fields(line, columns)?;
    let word = fields[columns.port];
    let number = word.parse().ok().filter(|&port: &u16| port > 0 && u32::from(port) <= MAX_PORTS);
    let number =
        number.ok_or_else(|| format!("expected IB# 1 to {MAX_PORTS}, found \"{}\"", excerpt(word)))?;
    Ok((fields[columns.label], number))
}

/// The cable of a row, if it has one.
fn cable<'a>(
    line: &'a str,
    columns: &Columns,
    number: usize,
    (switch, port): (u32, u16),
) -> Result<Option<Cable<'a>>, String> {
    let fields = fields(line, columns)?;
    let peer = fields[columns.peer];
    if peer.is_empty() || peer == "N/A" {
        return Ok(None);
    }
    let guid = peer.strip_prefix("0x").and_then(parse_hex);
    let guid = guid.ok_or_else(|| format!("expected the neighbour's GUID, found \"{}\"", excerpt(peer)))?;
    let description = fields[columns.peer_name];
    let name = description.strip_prefix('"').and_then(|d| d.strip_suffix('"')).ok_or_else(|| {
        format!("expected the neighbour's description in quotes, found \"{}\"", excerpt(description))
    })?;
    let (width, speed) = (fields[columns.width], fields[columns.speed]);
    let width = width.strip_suffix('x').and_then(|w| w.parse().ok()).filter(|w| [1, 2, 4, 8, 12].contains(w));
    let speed = LSA.iter().find(|known| known.0 == speed).map(|known| known.1);
    Ok(Some(Cable {
        line: number,
        switch,
        port,
        rate: Rate::of(width, speed),
        peer,
        guid,
        label: fields[columns.peer_label],
        lid: columns.peer_lid.and_then(|at| fields[at].parse().ok()),
        name,
    }))
}

/// Both ends of all cables. Adapters are added to the nodes: their ends are made from their switches' rows.
fn ends<'a>(
    nodes: &mut Vec<RawNode<'a>>,
    cables: &[Cable<'a>],
    labels: &HashMap<(u32, &'a str), u16>,
    label: &str,
) -> Result<Vec<RawPort<'a>>, FormatError> {
    let switches = nodes.len();
    let mut by_guid: HashMap<u64, u32> = (0..).zip(nodes.iter()).map(|(n, node)| (node.guid, n)).collect();
    let mut ports = Vec::with_capacity(2 * cables.len());
    for cable in cables {
        let peer = *by_guid.entry(cable.guid).or_insert_with(|| {
            let role = if is_aggregation(cable.name) { Role::Aggregation } else { Role::Adapter };
            let (id, guid, name) = (cable.peer, cable.guid, cable.name);
            nodes.push(RawNode { line: cable.line, role, id, guid, name, ports: 1, lid: None });
            nodes.len() as u32 - 1
        });
        let is_switch = (peer as usize) < switches;
        let peer_port = if is_switch {
            *labels.get(&(peer, cable.label)).ok_or_else(|| {
                let name = nodes[peer as usize].name;
                let message = format!(
                    "expected a port of \"{name}\" (in the first column of its table), found \"{}\"",
                    excerpt(cable.label)
                );
                FormatError::at(label, cable.line, message)
            })?
        } else {
            adapter_port(cable.label)
        };
        let far = &mut nodes[peer as usize];
        if !is_switch {
            far.ports = far.ports.max(peer_port);
        }
        let (peer_id, switch) = (far.id, &nodes[cable.switch as usize]);
        ports.push(RawPort {
            line: cable.line,
            node: cable.switch,
            port: cable.port,
            port_guid: None,
            lid: None,
            lmc: None,
            peer: peer_id,
            peer_port,
            peer_port_guid: (!is_switch).then_some(cable.guid),
            peer_name: cable.name,
            peer_lid: cable.lid,
            rate: cable.rate,
        });
        if !is_switch {
            ports.push(RawPort {
                line: cable.line,
                node: peer,
                port: peer_port,
                port_guid: Some(cable.guid),
                lid: cable.lid,
                lmc: None,
                peer: switch.id,
                peer_port: cable.port,
                peer_port_guid: None,
                peer_name: switch.name,
                peer_lid: switch.lid,
                rate: cable.rate,
            });
        }
    }
    Ok(ports)
}

/// The port of an adapter: the last number of its label (`B184D0F0/0/0/1`, `1`); 1 where it has none.
fn adapter_port(label: &str) -> u16 {
    let digits = label.len() - label.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let number = label[label.len() - digits..].parse();
    number.ok().filter(|&port: &u16| port > 0 && u32::from(port) <= MAX_PORTS).unwrap_or(1)
}
