//! The only door into a [`Fabric`]: nodes and cables in any order in, a checked fabric out.
//!
//! The builder orders hosts and switches naturally by name (ties by GUID, then port), lays links out by
//! node and port, and refuses what cannot be a fabric. Parsers check the same things earlier, where they
//! can name a line; this is the net beneath them.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use crate::fabric::{Body, Fabric, Hosts, Links, Switches};
use crate::ids::{HostId, LinkId, NodeId, SwitchId};
use crate::names::natural_cmp;

/// A host port to be: one cabled port of a channel adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostSpec {
    /// Node description.
    pub name: String,
    /// What rails of one machine share (often the name itself).
    pub machine: String,
    /// Node GUID of the channel adapter.
    pub guid: u64,
    /// GUID of the port.
    pub port_guid: u64,
    /// Port number on the adapter, from 1.
    pub port: u16,
    /// Base LID, if known.
    pub lid: Option<u16>,
}

impl HostSpec {
    /// A host with one port, whose machine is its name.
    pub fn new(name: impl Into<String>, guid: u64) -> Self {
        let name = name.into();
        Self { machine: name.clone(), name, guid, port_guid: guid.wrapping_add(1), port: 1, lid: None }
    }
}

/// A switch to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchSpec {
    /// Node description.
    pub name: String,
    /// Node GUID.
    pub guid: u64,
    /// Number of external ports.
    pub radix: u16,
    /// LID, if known.
    pub lid: Option<u16>,
}

impl SwitchSpec {
    /// A switch without a LID.
    pub fn new(name: impl Into<String>, guid: u64, radix: u16) -> Self {
        Self { name: name.into(), guid, radix, lid: None }
    }
}

/// One end of a cable: what [`FabricBuilder::host`] or [`FabricBuilder::switch`] returned, and a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A host (its port is in its spec).
    Host(usize),
    /// A switch and one of its ports, `1..=radix`.
    Switch(usize, u16),
}

/// A cable to be: both directions, of equal speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CableSpec {
    /// One end.
    pub a: End,
    /// The other end.
    pub b: End,
    /// Data rate in bytes per second, each direction.
    pub bandwidth_bytes_per_s: f64,
}

/// Why nodes and cables do not make a fabric.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FabricError {
    /// No host or no switch.
    #[error("a fabric needs at least one host and one switch, found {hosts} hosts and {switches} switches")]
    Empty {
        /// Hosts given.
        hosts: usize,
        /// Switches given.
        switches: usize,
    },
    /// The same GUID on two nodes (or the same port of one adapter twice).
    #[error("GUID 0x{guid:016x} belongs to both \"{first}\" and \"{second}\"")]
    DuplicateGuid {
        /// The GUID.
        guid: u64,
        /// One owner.
        first: String,
        /// The other owner.
        second: String,
    },
    /// A port outside `1..=radix`.
    #[error("\"{switch}\" has ports 1 to {radix}, found {port}")]
    PortAboveRadix {
        /// The switch.
        switch: String,
        /// The port given.
        port: u16,
        /// The switch's number of ports.
        radix: u16,
    },
    /// Two cables in one port.
    #[error("port {port} of \"{node}\" has two cables")]
    PortTaken {
        /// The node.
        node: String,
        /// The port.
        port: u16,
    },
    /// A cable from a switch to itself, or between two hosts.
    #[error("a cable joins \"{a}\" and \"{b}\": expected two different nodes, at least one of them a switch")]
    BadCable {
        /// One end.
        a: String,
        /// The other end.
        b: String,
    },
    /// A host without a cable.
    #[error("host \"{host}\" has no cable")]
    HostWithoutCable {
        /// The host.
        host: String,
    },
    /// A speed that is not a positive number.
    #[error(
        "the cable between \"{a}\" and \"{b}\" has a bandwidth of {value} bytes/s: expected a positive number"
    )]
    BadBandwidth {
        /// One end.
        a: String,
        /// The other end.
        b: String,
        /// What was given.
        value: f64,
    },
}

/// Collects nodes and cables; [`build`](FabricBuilder::build) checks and orders them.
#[derive(Clone, Debug, Default)]
pub struct FabricBuilder {
    hosts: Vec<HostSpec>,
    switches: Vec<SwitchSpec>,
    cables: Vec<CableSpec>,
    lmc: u8,
}

impl FabricBuilder {
    /// An empty builder.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a host; the result names it in [`End::Host`].
    pub fn host(&mut self, spec: HostSpec) -> usize {
        self.hosts.push(spec);
        self.hosts.len() - 1
    }

    /// Adds a switch; the result names it in [`End::Switch`].
    pub fn switch(&mut self, spec: SwitchSpec) -> usize {
        self.switches.push(spec);
        self.switches.len() - 1
    }

    /// Adds a cable.
    pub fn cable(&mut self, a: End, b: End, bandwidth_bytes_per_s: f64) {
        self.cables.push(CableSpec { a, b, bandwidth_bytes_per_s });
    }

    /// Sets the LID mask control that the input showed.
    pub fn lmc(&mut self, lmc: u8) {
        self.lmc = lmc;
    }

    /// Checks everything and lays the fabric out. Control characters in names become blanks, and outer blanks go: every format has names within a line.
    ///
    /// # Errors
    /// [`FabricError`] names the first thing that cannot be a fabric. Disconnected parts are not an
    /// error here: damage makes them.
    ///
    /// # Panics
    /// If an [`End`] names a node that was never added.
    pub fn build(self) -> Result<Fabric, FabricError> {
        let Self { mut hosts, mut switches, cables, lmc } = self;
        let own = hosts.iter_mut().flat_map(|h| [&mut h.name, &mut h.machine]);
        own.chain(switches.iter_mut().map(|s| &mut s.name)).for_each(one_line);
        if hosts.is_empty() || switches.is_empty() {
            return Err(FabricError::Empty { hosts: hosts.len(), switches: switches.len() });
        }
        check_guids(&hosts, &switches)?;

        let host_order = sorted(&hosts, |a, b| {
            natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid)).then(a.port.cmp(&b.port))
        });
        let switch_order = sorted(&switches, |a, b| natural_cmp(&a.name, &b.name).then(a.guid.cmp(&b.guid)));
        let host_rank = inverse(&host_order);
        let switch_rank = inverse(&switch_order);
        let (h, s) = (hosts.len(), switches.len());

        let place = |end: End| -> Result<(NodeId, u16), FabricError> {
            match end {
                End::Host(i) => Ok((NodeId(host_rank[i]), hosts[i].port)),
                End::Switch(i, port) => {
                    let spec = &switches[i];
                    if port == 0 || port > spec.radix {
                        return Err(FabricError::PortAboveRadix {
                            switch: spec.name.clone(),
                            port,
                            radix: spec.radix,
                        });
                    }
                    Ok((NodeId(h as u32 + switch_rank[i]), port))
                }
            }
        };
        let name = |node: NodeId| -> String {
            if node.index() < h {
                hosts[host_order[node.index()]].name.clone()
            } else {
                switches[switch_order[node.index() - h]].name.clone()
            }
        };

        // One row a direction, then ordered by (node, port).
        let mut rows: Vec<(NodeId, u16, NodeId, u16, f64)> = Vec::with_capacity(cables.len() * 2);
        for cable in &cables {
            let (a, a_port) = place(cable.a)?;
            let (b, b_port) = place(cable.b)?;
            if a == b || (a.index() < h && b.index() < h) {
                return Err(FabricError::BadCable { a: name(a), b: name(b) });
            }
            let speed = cable.bandwidth_bytes_per_s;
            if !(speed.is_finite() && speed > 0.0) {
                return Err(FabricError::BadBandwidth { a: name(a), b: name(b), value: speed });
            }
            rows.push((a, a_port, b, b_port, speed));
            rows.push((b, b_port, a, a_port, speed));
        }
        rows.sort_unstable_by_key(|r| (r.0, r.1));
        for pair in rows.windows(2) {
            let same_port = pair[0].1 == pair[1].1 || pair[0].0.index() < h;
            if pair[0].0 == pair[1].0 && same_port {
                return Err(FabricError::PortTaken { node: name(pair[0].0), port: pair[1].1 });
            }
        }

        let links = lay_out(&rows, h, s, |i| switches[switch_order[i]].radix);
        for i in 0..h {
            if links.first[i + 1] == links.first[i] {
                return Err(FabricError::HostWithoutCable { host: name(NodeId::from_index(i)) });
            }
        }

        let leaf: Vec<SwitchId> = (0..h).map(|i| SwitchId(links.to[i].0 - h as u32)).collect();
        let (hosts_first, hosts_by_switch) = group_hosts(&leaf, s);
        let host_table = host_table(&hosts, &host_order);
        let switch_table = switch_table(&switches, &switch_order);
        let hosts_hash = hash_names(FNV_START, &host_table.names);
        let cabling_hash = hash_cabling(hash_names(hosts_hash, &switch_table.names), &links);
        let alive = vec![true; links.from.len()].into();
        let body = Body {
            max_radix: switch_table.radixes.iter().copied().max().unwrap_or(0),
            reference_bandwidth_bytes_per_s: links.bandwidth_bytes_per_s.iter().copied().fold(0.0, f64::max),
            hosts: host_table,
            switches: switch_table,
            links,
            leaf,
            hosts_first,
            hosts_by_switch,
            lmc,
            hosts_hash,
            cabling_hash,
        };
        Ok(Fabric { body: Arc::new(body), alive, roots: Arc::new([]), groups: None })
    }
}

fn one_line(name: &mut String) {
    if name.contains(char::is_control) {
        *name = name.replace(char::is_control, " ");
    }
    if name.trim_ascii().len() < name.len() {
        *name = name.trim_ascii().to_owned();
    }
}

fn check_guids(hosts: &[HostSpec], switches: &[SwitchSpec]) -> Result<(), FabricError> {
    let mut owners: HashMap<(u64, u16), &str> = HashMap::with_capacity(hosts.len() + switches.len());
    let switch_keys = switches.iter().map(|s| ((s.guid, 0), s.name.as_str()));
    let host_keys = hosts.iter().map(|h| ((h.guid, h.port), h.name.as_str()));
    for ((guid, port), name) in switch_keys.chain(host_keys) {
        // A host may not have a switch's GUID either.
        let clash = owners
            .insert((guid, port), name)
            .or_else(|| (port > 0).then(|| owners.get(&(guid, 0)).copied())?);
        if let Some(first) = clash {
            return Err(FabricError::DuplicateGuid { guid, first: first.into(), second: name.into() });
        }
    }
    Ok(())
}

fn sorted<T>(items: &[T], mut cmp: impl FnMut(&T, &T) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&i, &j| cmp(&items[i], &items[j]));
    order
}

fn inverse(order: &[usize]) -> Vec<u32> {
    let mut rank = vec![0; order.len()];
    for (r, &i) in order.iter().enumerate() {
        rank[i] = r as u32;
    }
    rank
}

fn lay_out(
    rows: &[(NodeId, u16, NodeId, u16, f64)],
    hosts: usize,
    switches: usize,
    radix: impl Fn(usize) -> u16,
) -> Links {
    let mut links = Links { first: vec![0; hosts + switches + 1], ..Links::default() };
    for &(from, from_port, to, to_port, speed) in rows {
        links.first[from.index() + 1] += 1;
        links.from.push(from);
        links.from_port.push(from_port);
        links.to.push(to);
        links.to_port.push(to_port);
        links.bandwidth_bytes_per_s.push(speed);
    }
    for i in 0..hosts + switches {
        links.first[i + 1] += links.first[i];
    }
    links.port_first.push(0);
    for i in 0..switches {
        let end = links.port_first[i] + u32::from(radix(i)) + 1;
        links.port_first.push(end);
    }
    links.at_port = vec![u32::MAX; links.port_first[switches] as usize];
    for (l, row) in rows.iter().enumerate() {
        if row.0.index() >= hosts {
            let slot = links.port_first[row.0.index() - hosts] as usize + usize::from(row.1);
            links.at_port[slot] = l as u32;
        }
    }
    links.reverse = rows
        .iter()
        .map(|row| {
            if row.2.index() < hosts {
                LinkId(links.first[row.2.index()])
            } else {
                let slot = links.port_first[row.2.index() - hosts] as usize + usize::from(row.3);
                LinkId(links.at_port[slot])
            }
        })
        .collect();
    links
}

fn group_hosts(leaf: &[SwitchId], switches: usize) -> (Vec<u32>, Vec<HostId>) {
    let mut first = vec![0u32; switches + 1];
    for s in leaf {
        first[s.index() + 1] += 1;
    }
    for i in 0..switches {
        first[i + 1] += first[i];
    }
    let mut by_switch: Vec<HostId> = (0..leaf.len() as u32).map(HostId).collect();
    by_switch.sort_by_key(|h| leaf[h.index()]);
    (first, by_switch)
}

fn host_table(specs: &[HostSpec], order: &[usize]) -> Hosts {
    let mut table = Hosts::default();
    for &i in order {
        let spec = &specs[i];
        table.names.push(spec.name.clone());
        table.machines.push(spec.machine.clone());
        table.guids.push(spec.guid);
        table.port_guids.push(spec.port_guid);
        table.ports.push(spec.port);
        table.lids.push(spec.lid);
    }
    table
}

fn switch_table(specs: &[SwitchSpec], order: &[usize]) -> Switches {
    let mut table = Switches::default();
    for &i in order {
        let spec = &specs[i];
        table.names.push(spec.name.clone());
        table.guids.push(spec.guid);
        table.radixes.push(spec.radix);
        table.lids.push(spec.lid);
    }
    table
}

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a, 64 bits: an identity check between files, not a defence against forgery.
fn fnv(mut hash: u64, bytes: &[u8]) -> u64 {
    for &b in bytes {
        hash = (hash ^ u64::from(b)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash
}

fn hash_names(start: u64, names: &[String]) -> u64 {
    names.iter().fold(start, |hash, name| fnv(fnv(hash, name.as_bytes()), b"\n"))
}

fn hash_cabling(start: u64, links: &Links) -> u64 {
    let mut hash = start;
    for i in 0..links.from.len() {
        hash = fnv(hash, &links.from[i].0.to_le_bytes());
        hash = fnv(hash, &links.from_port[i].to_le_bytes());
        hash = fnv(hash, &links.to[i].0.to_le_bytes());
        hash = fnv(hash, &links.to_port[i].to_le_bytes());
    }
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two leaves of two hosts and one spine; names and cables given out of order.
    fn small() -> FabricBuilder {
        let mut b = FabricBuilder::new();
        let spine = b.switch(SwitchSpec::new("spine", 0x30, 4));
        let leaf2 = b.switch(SwitchSpec::new("leaf2", 0x20, 4));
        let leaf1 = b.switch(SwitchSpec::new("leaf1", 0x10, 4));
        let hosts: Vec<usize> =
            (0..4).map(|i| b.host(HostSpec::new(format!("node{}", 10 - i), 0x100 + 16 * i))).collect();
        for (i, &h) in hosts.iter().enumerate() {
            let leaf = if i < 2 { leaf2 } else { leaf1 };
            b.cable(End::Switch(leaf, 1 + i as u16 % 2), End::Host(h), 1e9);
        }
        b.cable(End::Switch(leaf1, 4), End::Switch(spine, 1), 2e9);
        b.cable(End::Switch(spine, 2), End::Switch(leaf2, 3), 2e9);
        b
    }

    #[test]
    fn hosts_and_switches_come_out_in_natural_order() {
        let f = small().build().unwrap();
        let names: Vec<_> = f.hosts().map(|h| f.host_name(h).to_owned()).collect();
        assert_eq!(names, ["node7", "node8", "node9", "node10"]);
        assert_eq!(f.switch_name(SwitchId(0)), "leaf1");
        assert_eq!(f.leaf(HostId(0)), SwitchId(0));
        assert_eq!(f.hosts_on(SwitchId(1)), [HostId(2), HostId(3)]);
    }

    #[test]
    fn links_are_laid_out_by_node_and_port() {
        let f = small().build().unwrap();
        assert_eq!(f.link_count(), 12);
        for l in f.links() {
            assert_eq!(f.reverse(f.reverse(l)), l);
            assert_eq!(f.link_from(l), f.link_to(f.reverse(l)));
            if let Some(s) = f.link_from_switch(l) {
                assert_eq!(f.link_at(s, f.link_port(l)), Some(l));
            }
        }
        for h in f.hosts() {
            assert_eq!(f.link_from(f.host_link(h)), f.host_node(h));
        }
        assert_eq!(f.relative_capacity(f.host_link(HostId(0))), 0.5);
        assert_eq!(f.link_at(SwitchId(0), 3), None);
        assert_eq!(f.link_at(SwitchId(0), 99), None);
    }

    #[test]
    fn damage_kills_both_directions_and_renumbers_nothing() {
        let f = small().build().unwrap();
        let up = f.link_at(SwitchId(0), 4).unwrap();
        let g = f.with_dead([up]);
        assert!(!g.alive(up) && !g.alive(f.reverse(up)));
        assert!(f.alive(up));
        assert_eq!(g.alive_count(), f.link_count() - 2);
        assert_eq!(g.cabling_hash(), f.cabling_hash());
    }

    #[test]
    fn what_cannot_be_a_fabric_is_refused() {
        let mut b = small();
        b.cable(End::Switch(0, 5), End::Switch(1, 4), 1e9);
        assert!(matches!(b.build(), Err(FabricError::PortAboveRadix { port: 5, radix: 4, .. })));
        let mut b = small();
        b.cable(End::Switch(0, 1), End::Switch(1, 4), 1e9);
        assert!(matches!(b.build(), Err(FabricError::PortTaken { port: 1, .. })));
        let mut b = small();
        b.cable(End::Switch(0, 3), End::Switch(0, 4), 1e9);
        assert!(matches!(b.build(), Err(FabricError::BadCable { .. })));
        let mut b = small();
        b.host(HostSpec::new("lonely", 0x999));
        assert!(matches!(b.build(), Err(FabricError::HostWithoutCable { .. })));
        let mut b = small();
        b.switch(SwitchSpec::new("twin", 0x10, 4));
        assert!(matches!(b.build(), Err(FabricError::DuplicateGuid { guid: 0x10, .. })));
        assert!(matches!(FabricBuilder::new().build(), Err(FabricError::Empty { .. })));
    }
}
