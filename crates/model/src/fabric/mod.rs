//! A fabric: hosts, switches and directed links.
//!
//! Invariants, established by [`FabricBuilder`](crate::FabricBuilder) and never broken afterwards:
//! - every host has exactly one cable, to a switch (its *leaf*), so host `h`'s outgoing link is `LinkId(h)`;
//! - links are numbered by sending node, then by port; `reverse(reverse(l)) == l`;
//! - both directions of a cable are alive or dead together; damage renumbers nothing.
//!
//! What is *not* here: levels, pods and core groups are detected (crate `topology`), never stored.

pub mod build;
pub mod guids;
pub mod machines;

use std::sync::Arc;

use crate::ids::{DestSpace, HostId, LinkId, NodeId, SwitchId};

/// Columns of the host table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hosts {
    pub names: Vec<String>,
    pub machines: Vec<String>,
    pub guids: Vec<u64>,
    pub port_guids: Vec<u64>,
    pub ports: Vec<u16>,
    pub lids: Vec<Option<u16>>,
}

/// Columns of the switch table.
#[derive(Clone, Debug, Default)]
pub(crate) struct Switches {
    pub names: Vec<String>,
    pub guids: Vec<u64>,
    pub radixes: Vec<u16>,
    pub lids: Vec<Option<u16>>,
}

/// Columns of the link table, indexed by `LinkId`, and the adjacency.
#[derive(Clone, Debug, Default)]
pub(crate) struct Links {
    /// `first[node]..first[node + 1]` are the node's outgoing links, by port.
    pub first: Vec<u32>,
    pub from: Vec<NodeId>,
    pub from_port: Vec<u16>,
    pub to: Vec<NodeId>,
    pub to_port: Vec<u16>,
    pub reverse: Vec<LinkId>,
    pub bandwidth_bytes_per_s: Vec<f64>,
    /// `port_first[switch] + port` indexes `at_port`; ports count from 0.
    pub port_first: Vec<u32>,
    pub at_port: Vec<u32>,
}

/// The immutable part, shared by a fabric and its damaged versions.
#[derive(Debug)]
pub(crate) struct Body {
    pub hosts: Hosts,
    pub switches: Switches,
    pub links: Links,
    pub leaf: Vec<SwitchId>,
    pub hosts_first: Vec<u32>,
    pub hosts_by_switch: Vec<HostId>,
    pub lmc: u8,
    pub max_radix: u16,
    pub reference_bandwidth_bytes_per_s: f64,
    pub hosts_hash: u64,
    pub cabling_hash: u64,
}

/// Hosts, switches, ports and directed links of one network.
///
/// Cloning is cheap (the tables are shared). Sizes: 3072 hosts take about 1 MB, 65,536 hosts 40 MB.
#[derive(Clone, Debug)]
pub struct Fabric {
    pub(crate) body: Arc<Body>,
    pub(crate) alive: Arc<[bool]>,
    pub(crate) roots: Arc<[SwitchId]>,
    /// Group of every switch, where somebody stated it.
    pub(crate) groups: Option<Arc<[u32]>>,
}

/// A node, told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A host.
    Host(HostId),
    /// A switch.
    Switch(SwitchId),
}

/// One directed link with everything that is known of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Sending node.
    pub from: NodeId,
    /// Output port of the sending node.
    pub from_port: u16,
    /// Receiving node.
    pub to: NodeId,
    /// Input port of the receiving node.
    pub to_port: u16,
    /// Data rate in bytes per second, one direction.
    pub bandwidth_bytes_per_s: f64,
    /// Whether the cable works.
    pub alive: bool,
}

impl Fabric {
    /// Number of hosts.
    pub fn host_count(&self) -> usize {
        self.body.hosts.names.len()
    }

    /// Number of switches.
    pub fn switch_count(&self) -> usize {
        self.body.switches.names.len()
    }

    /// Number of nodes: hosts plus switches.
    pub fn node_count(&self) -> usize {
        self.host_count() + self.switch_count()
    }

    /// Number of directed links, dead ones included (two a cable).
    pub fn link_count(&self) -> usize {
        self.body.links.from.len()
    }

    /// All hosts in order.
    pub fn hosts(&self) -> impl ExactSizeIterator<Item = HostId> + use<> {
        (0..self.host_count() as u32).map(HostId)
    }

    /// All switches in order.
    pub fn switches(&self) -> impl ExactSizeIterator<Item = SwitchId> + use<> {
        (0..self.switch_count() as u32).map(SwitchId)
    }

    /// All directed links in order, dead ones included.
    pub fn links(&self) -> impl ExactSizeIterator<Item = LinkId> + use<> {
        (0..self.link_count() as u32).map(LinkId)
    }

    /// The node of a host.
    #[inline]
    pub fn host_node(&self, host: HostId) -> NodeId {
        NodeId(host.0)
    }

    /// The node of a switch.
    #[inline]
    pub fn switch_node(&self, switch: SwitchId) -> NodeId {
        NodeId(self.host_count() as u32 + switch.0)
    }

    /// What a node is.
    #[inline]
    pub fn node(&self, node: NodeId) -> Node {
        let hosts = self.host_count() as u32;
        if node.0 < hosts { Node::Host(HostId(node.0)) } else { Node::Switch(SwitchId(node.0 - hosts)) }
    }

    /// The name of a host: its node description.
    pub fn host_name(&self, host: HostId) -> &str {
        &self.body.hosts.names[host.index()]
    }

    /// The machine a host port belongs to (rails of one machine share it).
    pub fn machine(&self, host: HostId) -> &str {
        &self.body.hosts.machines[host.index()]
    }

    /// The name of a switch.
    pub fn switch_name(&self, switch: SwitchId) -> &str {
        &self.body.switches.names[switch.index()]
    }

    /// The name of a node.
    pub fn node_name(&self, node: NodeId) -> &str {
        match self.node(node) {
            Node::Host(h) => self.host_name(h),
            Node::Switch(s) => self.switch_name(s),
        }
    }

    /// Node GUID of a host's channel adapter.
    pub fn host_guid(&self, host: HostId) -> u64 {
        self.body.hosts.guids[host.index()]
    }

    /// Port GUID of a host: what forwarding-table dumps call it.
    pub fn host_port_guid(&self, host: HostId) -> u64 {
        self.body.hosts.port_guids[host.index()]
    }

    /// The cabled port number of a host's channel adapter.
    pub fn host_port(&self, host: HostId) -> u16 {
        self.body.hosts.ports[host.index()]
    }

    /// Base LID of a host, where the input had one.
    pub fn host_lid(&self, host: HostId) -> Option<u16> {
        self.body.hosts.lids[host.index()]
    }

    /// Node GUID of a switch.
    pub fn switch_guid(&self, switch: SwitchId) -> u64 {
        self.body.switches.guids[switch.index()]
    }

    /// LID of a switch, where the input had one.
    pub fn switch_lid(&self, switch: SwitchId) -> Option<u16> {
        self.body.switches.lids[switch.index()]
    }

    /// Number of external ports of a switch: ports are `1..=radix`.
    #[inline]
    pub fn radix(&self, switch: SwitchId) -> u16 {
        self.body.switches.radixes[switch.index()]
    }

    /// The largest radix of any switch.
    pub fn max_radix(&self) -> u16 {
        self.body.max_radix
    }

    /// LID mask control that the input showed (0 unless hosts have several LIDs).
    pub fn lmc(&self) -> u8 {
        self.body.lmc
    }

    /// The destinations of tables with `2^lmc` addresses a host.
    pub fn dests(&self, lmc: u8) -> DestSpace {
        DestSpace { hosts: self.host_count(), switches: self.switch_count(), lmc }
    }

    /// The switch that a host hangs on.
    #[inline]
    pub fn leaf(&self, host: HostId) -> SwitchId {
        self.body.leaf[host.index()]
    }

    /// The hosts that hang on a switch, in order (dead cables included).
    pub fn hosts_on(&self, switch: SwitchId) -> &[HostId] {
        let first = &self.body.hosts_first;
        let range = first[switch.index()] as usize..first[switch.index() + 1] as usize;
        &self.body.hosts_by_switch[range]
    }

    /// The outgoing links of a node, by port; dead ones included.
    #[inline]
    pub fn out_links(
        &self,
        node: NodeId,
    ) -> impl ExactSizeIterator<Item = LinkId> + DoubleEndedIterator + use<> {
        let first = &self.body.links.first;
        (first[node.index()]..first[node.index() + 1]).map(LinkId)
    }

    /// The outgoing links of a switch, by port; dead ones included.
    #[inline]
    pub fn switch_links(
        &self,
        switch: SwitchId,
    ) -> impl ExactSizeIterator<Item = LinkId> + DoubleEndedIterator + use<> {
        self.out_links(self.switch_node(switch))
    }

    /// The link from a host to its leaf.
    #[inline]
    pub fn host_link(&self, host: HostId) -> LinkId {
        LinkId(host.0)
    }

    /// The link behind an output port of a switch, dead or alive; `None` if nothing is cabled there
    /// (port 0 and ports above the radix included).
    #[inline]
    pub fn link_at(&self, switch: SwitchId, port: u16) -> Option<LinkId> {
        let links = &self.body.links;
        if port > self.radix(switch) {
            return None;
        }
        match links.at_port[links.port_first[switch.index()] as usize + usize::from(port)] {
            u32::MAX => None,
            link => Some(LinkId(link)),
        }
    }

    /// Everything about one link.
    pub fn link(&self, link: LinkId) -> Link {
        let (links, i) = (&self.body.links, link.index());
        Link {
            from: links.from[i],
            from_port: links.from_port[i],
            to: links.to[i],
            to_port: links.to_port[i],
            bandwidth_bytes_per_s: links.bandwidth_bytes_per_s[i],
            alive: self.alive[i],
        }
    }

    /// The node that a link leaves.
    #[inline]
    pub fn link_from(&self, link: LinkId) -> NodeId {
        self.body.links.from[link.index()]
    }

    /// The node that a link enters.
    #[inline]
    pub fn link_to(&self, link: LinkId) -> NodeId {
        self.body.links.to[link.index()]
    }

    /// The switch that a link enters, or `None` for a link to a host.
    #[inline]
    pub fn link_to_switch(&self, link: LinkId) -> Option<SwitchId> {
        let hosts = self.host_count() as u32;
        self.link_to(link).0.checked_sub(hosts).map(SwitchId)
    }

    /// The switch that a link leaves, or `None` for a link from a host.
    #[inline]
    pub fn link_from_switch(&self, link: LinkId) -> Option<SwitchId> {
        let hosts = self.host_count() as u32;
        self.link_from(link).0.checked_sub(hosts).map(SwitchId)
    }

    /// The output port of the node that a link leaves.
    #[inline]
    pub fn link_port(&self, link: LinkId) -> u16 {
        self.body.links.from_port[link.index()]
    }

    /// The other direction of the same cable.
    #[inline]
    pub fn reverse(&self, link: LinkId) -> LinkId {
        self.body.links.reverse[link.index()]
    }

    /// Whether a link's cable works.
    #[inline]
    pub fn alive(&self, link: LinkId) -> bool {
        self.alive[link.index()]
    }

    /// Number of directed links whose cable works.
    pub fn alive_count(&self) -> usize {
        self.alive.iter().filter(|&&a| a).count()
    }

    /// Whether a link joins two switches (neither end is a host).
    #[inline]
    pub fn between_switches(&self, link: LinkId) -> bool {
        let hosts = self.host_count() as u32;
        self.link_from(link).0 >= hosts && self.link_to(link).0 >= hosts
    }

    /// Data rate of a link in bytes per second, one direction.
    #[inline]
    pub fn bandwidth_bytes_per_s(&self, link: LinkId) -> f64 {
        self.body.links.bandwidth_bytes_per_s[link.index()]
    }

    /// The data rate of the fastest link: link loads are given in bytes at this rate.
    pub fn reference_bandwidth_bytes_per_s(&self) -> f64 {
        self.body.reference_bandwidth_bytes_per_s
    }

    /// Bandwidth of a link relative to the fastest (0 < c <= 1). A link's *load* is its bytes divided
    /// by this, so loads of links of unequal speed compare by the time that they take.
    #[inline]
    pub fn relative_capacity(&self, link: LinkId) -> f64 {
        self.bandwidth_bytes_per_s(link) / self.body.reference_bandwidth_bytes_per_s
    }

    /// Hash of the ordered host names: what saved traffic belongs to.
    pub fn hosts_hash(&self) -> u64 {
        self.body.hosts_hash
    }

    /// Hash of host names, switch names and cabling (dead cables included): what saved routes belong to.
    pub fn cabling_hash(&self) -> u64 {
        self.body.cabling_hash
    }

    /// The same fabric with the cables of `links` (either direction) dead as well.
    pub fn with_dead(&self, links: impl IntoIterator<Item = LinkId>) -> Fabric {
        let mut alive = self.alive.to_vec();
        for link in links {
            alive[link.index()] = false;
            alive[self.reverse(link).index()] = false;
        }
        Fabric { alive: alive.into(), ..self.clone() }
    }

    /// The same fabric as a dragonfly of these groups, one a switch, in place of what detection would find.
    ///
    /// # Panics
    /// If there is not one for every switch.
    pub fn with_groups(&self, groups: impl Into<Arc<[u32]>>) -> Fabric {
        let groups: Arc<[u32]> = groups.into();
        assert_eq!(groups.len(), self.switch_count(), "a group for every switch");
        Fabric { groups: Some(groups), ..self.clone() }
    }

    /// The same fabric, of which detection says what its cables tell.
    pub fn without_groups(&self) -> Fabric {
        Fabric { groups: None, ..self.clone() }
    }

    /// Stated groups of a dragonfly, one a switch.
    pub fn groups(&self) -> Option<&[u32]> {
        self.groups.as_deref()
    }

    /// The same fabric with these switches on top of up*/down* routes, in place of what detection would choose, as
    /// OpenSM's `root_guid_file` states them. None: detection chooses.
    pub fn with_roots(&self, roots: impl IntoIterator<Item = SwitchId>) -> Fabric {
        let mut roots: Vec<SwitchId> = roots.into_iter().collect();
        roots.sort_unstable();
        roots.dedup();
        Fabric { roots: roots.into(), ..self.clone() }
    }

    /// The switches that were stated to be on top ([`with_roots`](Self::with_roots)), in order.
    pub fn roots(&self) -> &[SwitchId] {
        &self.roots
    }

    /// `leaf12[37] -> spine3[4]`, for messages.
    pub fn describe_link(&self, link: LinkId) -> String {
        let l = self.link(link);
        format!("{}[{}] -> {}[{}]", self.node_name(l.from), l.from_port, self.node_name(l.to), l.to_port)
    }
}
