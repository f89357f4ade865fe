//! A plain table of cables, read and written, and UFM's cabling plan (NDT), which is one too.
//!
//! ```text
//! from,port,to,port,speed
//! leaf0,1,n00,1,4xHDR
//! leaf0,20,spine0,1,4xHDR
//! ```
//!
//! ```text
//! #Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,EndDeviceLocation,LinkType,Speed,State,Domain
//! leaf0,Port 1,,n00 mlx5_0,Port 1,,Data,NDR,Active,In-Scope
//! ```
//!
//! Nodes are told by name; GUIDs are made up, in the order in which names come. A node is a host if it is named like a machine's adapter
//! (`n00 mlx5_0`) or has one cable, to a node with more; any other is a switch. A cable may be told from both of its
//! ends. A last row without an end may have lost digits: it is refused. NDT files have columns before `#Fields:` in some versions.

use std::collections::HashMap;
use std::fmt::Write as _;

use netloom_model::{Fabric, Node};

use crate::csv;
use crate::error::{FormatError, WriteError, excerpt};
use crate::text::last_line;

use super::names::is_adapter;
use super::rate::{Rate, SPEEDS, name_of};
use super::raw::{MAX_PORTS, Notes, Raw, RawNode, RawPort, Role, made_guid};
use super::{FabricKind, foreign};

/// A node's number and a port.
type End = (u32, u16);

/// A table of cables, its nodes numbered as they come.
pub(super) struct Table {
    kind: FabricKind,
    names: Vec<String>,
    /// Of every node, the line that has it first.
    lines: Vec<usize>,
    /// Of every cable, its line, its ends, its speed.
    cables: Vec<(usize, [End; 2], Rate)>,
}

/// Where the columns are.
struct Columns {
    kind: FabricKind,
    ends: [(usize, usize); 2],
    speed: Option<usize>,
    state: Option<usize>,
    count: usize,
}

impl Columns {
    /// From a header; `None` if this is not one.
    fn of(line: &str) -> Option<Self> {
        let fields = csv::split(line)?.into_iter();
        let fields: Vec<String> = fields
            .map(|field| field.trim_start_matches("#Fields:").to_ascii_lowercase().replace(' ', ""))
            .collect();
        let find = |name: &str| fields.iter().position(|field| field == name);
        let count = fields.len();
        if foreign::is_ndt(line) {
            let end = |device: &str, port: &str| Some((find(device)?, find(port)?));
            let ends = [end("startdevice", "startport")?, end("enddevice", "endport")?];
            let (speed, state) = (find("speed"), find("state"));
            return Some(Self { kind: FabricKind::UfmPlan, ends, speed, state, count });
        }
        let words: Vec<&str> = fields.iter().map(String::as_str).collect();
        let speed = match words[..] {
            ["from", "port" | "from_port", "to", "port" | "to_port"] => None,
            ["from", "port" | "from_port", "to", "port" | "to_port", "speed"] => Some(4),
            _ => return None,
        };
        Some(Self { kind: FabricKind::Cables, ends: [(0, 1), (2, 3)], speed, state: None, count })
    }
}

/// Whether a line is a header of such a table.
pub(super) fn looks_like(line: &str) -> bool {
    Columns::of(line).is_some()
}

impl Table {
    /// Parses all rows.
    pub fn parse(text: &str, label: &str) -> Result<Self, FormatError> {
        let mut columns: Option<Columns> = None;
        let mut table =
            Self { kind: FabricKind::Cables, names: Vec::new(), lines: Vec::new(), cables: Vec::new() };
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut told: HashMap<End, End> = HashMap::new();
        for (number, line) in (1..).zip(text.lines()) {
            let at_line = |message: String| FormatError::at(label, number, message);
            let Some(columns) = &columns else {
                columns = Columns::of(line.trim_ascii());
                continue;
            };
            if line.trim_ascii().is_empty() || line.starts_with('#') {
                continue;
            }
            table.kind = columns.kind;
            let fields = csv::split(line)
                .ok_or_else(|| at_line("expected a closing quote, found the end of the line".to_owned()))?;
            if fields.len() != columns.count {
                let message = format!("expected {} fields, found {}", columns.count, fields.len());
                return Err(at_line(message));
            }
            // What UFM's plan has switched off is no cable.
            if columns.state.is_some_and(|at| fields[at].eq_ignore_ascii_case("disabled")) {
                continue;
            }
            let mut ends = [(0, 0); 2];
            for (end, (name, port)) in ends.iter_mut().zip(columns.ends) {
                let (name, port) = (&fields[name], &fields[port]);
                if name.is_empty() {
                    return Err(at_line("expected the name of a node, found nothing".to_owned()));
                }
                let node = *numbers.entry(name.clone()).or_insert_with(|| {
                    table.names.push(name.clone());
                    table.lines.push(number);
                    table.names.len() as u32 - 1
                });
                *end = (node, port_of(port).map_err(at_line)?);
            }
            let rate = columns.speed.map_or(Ok(Rate::default()), |at| rate_of(&fields[at]));
            // From both of its ends: once is enough.
            if told.get(&ends[1]) == Some(&ends[0]) && told.get(&ends[0]) != Some(&ends[1]) {
                continue;
            }
            told.insert(ends[0], ends[1]);
            table.cables.push((number, ends, rate.map_err(at_line)?));
        }
        if !text.ends_with(['\n', '\r']) {
            let message =
                "truncated table: expected the last row to end with its line, found the end of the file";
            return Err(FormatError::at(label, last_line(text), message));
        }
        Ok(table)
    }

    /// As raw records.
    pub fn raw(&self, label: &str) -> Result<Raw<'_>, FormatError> {
        let roles = roles(&self.names, &self.cables);
        let mut ports = vec![1; self.names.len()];
        for &(line, [a, b], _) in &self.cables {
            if roles[a.0 as usize] == Role::Adapter && roles[b.0 as usize] == Role::Adapter {
                let (a, b) = (excerpt(&self.names[a.0 as usize]), excerpt(&self.names[b.0 as usize]));
                let message = format!(
                    "expected a host and a switch, or two switches, found a cable between \"{a}\" and \"{b}\", \
                     which both have no other or are adapters"
                );
                return Err(FormatError::at(label, line, message));
            }
            for (node, port) in [a, b] {
                ports[node as usize] = port.max(ports[node as usize]);
            }
        }
        let nodes = (0..self.names.len()).map(|node| RawNode {
            line: self.lines[node],
            role: roles[node],
            id: &self.names[node],
            guid: made_guid(node),
            name: &self.names[node],
            ports: ports[node],
            lid: None,
        });
        let directed =
            self.cables.iter().flat_map(|&(line, [a, b], rate)| [(line, a, b, rate), (line, b, a, rate)]);
        let ports = directed.map(|(line, (node, port), (peer, peer_port), rate)| RawPort {
            line,
            node,
            port,
            port_guid: None,
            lid: None,
            lmc: None,
            peer: &self.names[peer as usize],
            peer_port,
            peer_port_guid: None,
            peer_name: "",
            peer_lid: None,
            rate,
        });
        Ok(Raw { kind: self.kind, nodes: nodes.collect(), ports: ports.collect(), notes: Notes::default() })
    }
}

/// `7`, or UFM's `Port 7`.
fn port_of(field: &str) -> Result<u16, String> {
    let digits = field.strip_prefix("Port ").unwrap_or(field).trim();
    let port = digits.parse().ok().filter(|&port: &u16| port > 0 && u32::from(port) <= MAX_PORTS);
    port.ok_or_else(|| format!("expected a port 1 to {MAX_PORTS}, found \"{}\"", excerpt(field)))
}

/// Slowest and fastest data rate, Gb/s.
const GIGABITS: std::ops::RangeInclusive<f64> = 0.001..=100_000.0;

/// `4xEDR`, `EDR` (four lanes) or `100Gb/s`; nothing where it is not known.
fn rate_of(field: &str) -> Result<Rate, String> {
    let bad = || format!("expected a speed as 4xEDR or 100Gb/s, found \"{}\"", excerpt(field));
    let gbits = ["Gb/s", "Gbps", "Gbit/s", "G"].iter().find_map(|unit| field.strip_suffix(unit));
    if let Some(gbits) = gbits {
        let gbits: f64 = gbits.trim().parse().map_err(|_| bad())?;
        let bytes_per_s = gbits * 1e9 / 8.0;
        let named = name_of(bytes_per_s).map(|(width, speed)| Rate::of(Some(width), Some(speed)));
        let known = GIGABITS.contains(&gbits);
        return named.or(known.then(|| Rate::exact(bytes_per_s.round() as u64))).ok_or_else(bad);
    }
    if field.is_empty() || field == "N/A" {
        return Ok(Rate::default());
    }
    let lanes =
        if field.starts_with(|c: char| c.is_ascii_digit()) { field.to_owned() } else { format!("4x{field}") };
    Rate::parse(&lanes).ok_or_else(bad)
}

/// What every node is.
fn roles(names: &[String], cables: &[(usize, [End; 2], Rate)]) -> Vec<Role> {
    let mut count = vec![0; names.len()];
    for (node, _) in cables.iter().flat_map(|cable| cable.1) {
        count[node as usize] += 1;
    }
    let adapter =
        |name: &str| name.rsplit_once(' ').is_some_and(|(host, word)| !host.is_empty() && is_adapter(word));
    let mut roles: Vec<Role> = (names.iter().zip(&count))
        .map(|(name, &count)| if adapter(name) || count == 1 { Role::Adapter } else { Role::Switch })
        .collect();
    // Of a lone cable to an adapter the other end is a switch.
    for &(_, [a, b], _) in cables {
        for (near, far) in [(a, b), (b, a)] {
            if adapter(&names[near.0 as usize]) && !adapter(&names[far.0 as usize]) {
                roles[far.0 as usize] = Role::Switch;
            }
        }
    }
    roles
}

/// The cables of a fabric as a plain table, each once: of hosts first, from the switch.
///
/// # Errors
/// Names that several nodes share, a node that would be read as another kind.
pub fn write_cables(fabric: &Fabric) -> Result<String, WriteError> {
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let (mut names, mut nodes) = (Vec::new(), Vec::new());
    let (mut cables, mut out) = (Vec::new(), String::from("from,port,to,port,speed\n"));
    let shared = |name: &str, why: &'static str| WriteError::Cables { node: name.to_owned(), why };
    let hosts = fabric.hosts().map(|h| fabric.reverse(fabric.host_link(h)));
    let between = fabric.switches().flat_map(|s| fabric.switch_links(s)).filter(|&l| {
        let link = fabric.link(l);
        matches!(fabric.node(link.to), Node::Switch(_))
            && (link.from, link.from_port) < (link.to, link.to_port)
    });
    for l in hosts.chain(between).filter(|&l| fabric.alive(l)) {
        let link = fabric.link(l);
        let mut ends = [(0, link.from_port), (0, link.to_port)];
        for (end, node) in ends.iter_mut().zip([link.from, link.to]) {
            let (name, own) = (fabric.node_name(node), guid_of(fabric, fabric.node(node)));
            let number = *numbers.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                nodes.push(own);
                names.len() - 1
            });
            if nodes[number] != own {
                return Err(shared(
                    name,
                    "several nodes have this name: a table of cables tells nodes by name",
                ));
            }
            end.0 = number as u32;
            let _ = write!(out, "{},{},", csv::quoted(name), end.1);
        }
        let bytes_per_s = fabric.bandwidth_bytes_per_s(l);
        let _ = match name_of(bytes_per_s) {
            Some((width, speed)) => writeln!(out, "{width}x{}", SPEEDS[speed as usize].1),
            None => writeln!(out, "{}Gb/s", bytes_per_s * 8.0 / 1e9),
        };
        cables.push((0, ends, Rate::default()));
    }
    for ((name, role), (_, is_switch)) in names.iter().zip(roles(&names, &cables)).zip(nodes) {
        if is_switch != (role == Role::Switch) {
            let why = if is_switch {
                "a switch with one cable would be read as a host"
            } else {
                "a host with several cables would be read as a switch"
            };
            return Err(shared(name, why));
        }
    }
    Ok(out)
}

/// A node's GUID, and whether it is a switch.
fn guid_of(fabric: &Fabric, node: Node) -> (u64, bool) {
    match node {
        Node::Host(h) => (fabric.host_guid(h), false),
        Node::Switch(s) => (fabric.switch_guid(s), true),
    }
}
