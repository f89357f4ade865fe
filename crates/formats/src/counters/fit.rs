//! Whether a file is of this fabric: what it names that the fabric does not have, and what of the fabric it leaves out.
//!
//! LIDs are small numbers, which every fabric has: a file of another one is read without an error, and says something wrong of every
//! port. So all that does not fit is told, with its line, and where it is much, so is the suspicion.

use std::collections::BTreeMap;

use netloom_model::{Fabric, LinkId, Node, NodeId, SwitchId};

use super::ports::Place;
use crate::{Finding, FormatError};

/// So many are named, the others counted.
const SHOWN: usize = 3;
/// One port in so many that does not fit is too many: fabrics have aggregation nodes, routers, and cables that were just pulled.
const MANY: usize = 10;

/// How the note of a file begins that is hardly this fabric's.
pub(crate) const FOREIGN: &str = "this looks like another fabric's file: ";

/// Of devices whose names lead to one port, which only one of them can have.
pub(crate) const CLAIMED: &str = "that claim the port of another adapter here";

/// A port as the tool calls it: `Lid 35`, 7.
type Name = (String, u32);

/// What does not fit, each with its first line.
#[derive(Default)]
pub(crate) struct Fit {
    /// Ports of nodes that the fabric does not have.
    strangers: BTreeMap<Name, usize>,
    /// The same in machines of the fabric, which have adapters elsewhere too: no reason to suspect the file.
    beside: BTreeMap<Name, usize>,
    /// Ports that are none of InfiniBand, share another's address, or do not count: by what is wrong with them.
    unfit: BTreeMap<&'static str, BTreeMap<Name, usize>>,
    /// Ports that a node of the fabric does not have.
    absent: BTreeMap<Name, (usize, NodeId)>,
    /// Ports that counted data, where the fabric has no cable.
    uncabled: BTreeMap<Name, usize>,
}

impl Fit {
    /// Notes a port that is none of a link; `counted`: it has sent or received.
    pub fn see(&mut self, place: Place, name: impl FnOnce() -> Name, counted: bool, line: usize) {
        match place {
            Place::Unknown => {
                self.strangers.entry(name()).or_insert(line);
            }
            Place::Beside => {
                self.beside.entry(name()).or_insert(line);
            }
            Place::Absent(node) => {
                self.absent.entry(name()).or_insert((line, node));
            }
            Place::Idle if counted => {
                let name = name();
                // Port 0 of a switch manages it, and needs no cable.
                if name.1 > 0 {
                    self.uncabled.entry(name).or_insert(line);
                }
            }
            Place::Idle | Place::Port(_) => {}
        }
    }

    /// Notes a port that is left out whatever node it is of; `why` as in `2 WHY, left out: …`.
    pub fn leave_out(&mut self, why: &'static str, name: Name, line: usize) {
        self.unfit.entry(why).or_default().entry(name).or_insert(line);
    }

    /// Refuses a file of which nothing belongs to the fabric.
    ///
    /// # Errors
    /// The first port that the fabric does not have.
    pub fn refuse(&self, fabric: &Fabric, label: &str) -> Result<(), FormatError> {
        let strangers = self.strangers.iter().chain(&self.beside);
        let strangers = strangers.map(|((node, _), &line)| (line, format!("{node} is not of this fabric")));
        let absent = self.absent.iter().map(|((node, port), &(line, owner))| {
            (line, format!("{node} port {port} is not of this fabric ({})", ports_of(fabric, owner)))
        });
        let Some((line, first)) = strangers.chain(absent).min() else { return Ok(()) };
        let message = format!("{first}, nor is any other here: expected counters of its ports");
        Err(FormatError { label: label.into(), line: (line > 0).then_some(line), message })
    }

    /// What does not fit; `read` are the ports (by their links) that do.
    pub fn notes(&self, fabric: &Fabric, read: &[bool], scope: Scope) -> Vec<Finding> {
        let mut notes = Vec::new();
        let strangers = nodes(self.strangers.iter().chain(&self.beside));
        notes.extend(list(strangers, ["of other fabrics, left out"; 2]));
        notes.extend(self.unfit());
        let absent = self.absent.iter().map(|((node, port), &(line, owner))| {
            (line, format!("{node} port {port} ({}{})", in_line(line, "; "), ports_of(fabric, owner)))
        });
        let what = [
            "port that this fabric does not have, left out",
            "ports that this fabric does not have, left out",
        ];
        notes.extend(list(absent.collect(), what));
        let uncabled = self.uncabled.iter().map(|((node, port), &line)| match line {
            0 => (line, format!("{node} port {port}")),
            _ => (line, format!("{node} port {port} ({})", in_line(line, ""))),
        });
        let what = [
            "port that counted data, but has no cable in this fabric, left out",
            "ports that counted data, but have no cable in this fabric, left out",
        ];
        notes.extend(list(uncabled.collect(), what));
        notes.extend(self.suspicion(fabric, read, scope));
        notes
    }

    /// What was left out whatever node it is of.
    pub fn unfit(&self) -> impl Iterator<Item = Finding> {
        self.unfit.iter().filter_map(|(why, ports)| {
            let ports = ports.iter().map(|((node, port), &line)| (line, format!("{node} port {port}")));
            let what = format!("{why}, left out");
            list(ports.collect(), [&what; 2])
        })
    }

    fn suspicion(&self, fabric: &Fabric, read: &[bool], scope: Scope) -> Option<Finding> {
        let odd = self.strangers.len() + self.absent.len() + self.uncabled.len();
        let fitting = read.iter().filter(|&&read| read).count();
        let unread = unread(fabric, read, scope);
        let text = match unread {
            Some(unread) if odd > 0 => format!("{FOREIGN}{unread}"),
            _ if odd * MANY > odd + fitting => {
                format!("{FOREIGN}{odd} of its {} ports do not fit", odd + fitting)
            }
            Some(unread) => {
                format!("this looks like another fabric's file, or only a part of this one's: {unread}")
            }
            None => return None,
        };
        Some(Finding { kind: "other-fabric", line: None, text })
    }
}

/// Which ports a source reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scope {
    /// All of the fabric; but hosts' are often left out.
    All,
    /// Those of hosts, from inside.
    Hosts,
}

/// That most of the fabric was not read, in words, if that is so.
pub(crate) fn unread(fabric: &Fabric, read: &[bool], scope: Scope) -> Option<String> {
    let most = |what: &str, (unread, all): (usize, usize)| {
        (2 * unread > all).then(|| format!("{unread} of the fabric's {all} {what} were not read"))
    };
    let ports = |links: &[LinkId]| (links.iter().filter(|l| !read[l.index()]).count(), links.len());
    let alive: Vec<LinkId> = fabric.links().filter(|&l| fabric.alive(l)).collect();
    if scope == Scope::Hosts {
        let of_hosts = alive.partition_point(|l| l.index() < fabric.host_count());
        return most("hosts", ports(&alive[..of_hosts]));
    }
    let dark = |s: &SwitchId| !fabric.switch_links(*s).any(|link| read[link.index()]);
    let switches = (fabric.switches().filter(dark).count(), fabric.switch_count());
    most("switches", switches).or_else(|| most("ports", ports(&alive)))
}

/// The nodes of ports, each with its first line.
fn nodes<'a>(ports: impl Iterator<Item = (&'a Name, &'a usize)>) -> Vec<(usize, String)> {
    let mut nodes: BTreeMap<&str, usize> = BTreeMap::new();
    for ((node, _), &line) in ports {
        let first = nodes.entry(node).or_insert(line);
        *first = line.min(*first);
    }
    nodes.into_iter().map(|(node, line)| (line, node.to_owned())).collect()
}

/// `line 7`, and what follows it; nothing where a source has no lines.
fn in_line(line: usize, then: &str) -> String {
    if line == 0 { String::new() } else { format!("line {line}{then}") }
}

/// `leaf00 has ports 1 to 8`
fn ports_of(fabric: &Fabric, node: NodeId) -> String {
    let name = fabric.node_name(node);
    match fabric.node(node) {
        Node::Switch(switch) => format!("{name} has ports 1 to {}", fabric.radix(switch)),
        Node::Host(_) => format!("{name} is a host"),
    }
}

/// `3 of other fabrics, left out: Lid 77, …`
/// Line 0 is none: of folders, whose names say where.
fn list(mut items: Vec<(usize, String)>, [one, many]: [&str; 2]) -> Option<Finding> {
    items.sort();
    let &(line, _) = items.first()?;
    let names: Vec<&str> = items.iter().take(SHOWN).map(|(_, name)| name.as_str()).collect();
    let more = if items.len() > SHOWN { ", …" } else { "" };
    let what = if items.len() == 1 { one } else { many };
    Some(Finding {
        kind: "left-out",
        line: (line > 0).then_some(line),
        text: format!("{} {what}: {}{more}", items.len(), names.join(", ")),
    })
}
