//! What findings call nodes and ports: by name, and where other nodes have the name too, with the GUID.

use std::collections::HashMap;
use std::ops::Deref;

use netloom_model::{Fabric, LinkId, Node, NodeId};

/// A fabric whose nodes can be told apart.
pub struct Labels<'a> {
    fabric: &'a Fabric,
    /// How many nodes have a name.
    times: HashMap<&'a str, u32>,
}

impl<'a> Labels<'a> {
    /// Those of a fabric.
    pub fn of(fabric: &'a Fabric) -> Self {
        let mut times = HashMap::new();
        let hosts = fabric.hosts().map(|host| fabric.host_name(host));
        for name in hosts.chain(fabric.switches().map(|switch| fabric.switch_name(switch))) {
            *times.entry(name).or_default() += 1;
        }
        Self { fabric, times }
    }

    /// The GUID of a node whose name others have too; `None` where the name will do.
    pub fn guid(&self, node: NodeId) -> Option<String> {
        let times = self.times.get(self.fabric.node_name(node)).copied().unwrap_or_default();
        let guid = match self.fabric.node(node) {
            Node::Host(host) => self.fabric.host_guid(host),
            Node::Switch(switch) => self.fabric.switch_guid(switch),
        };
        (times > 1).then(|| format!("0x{guid:016x}"))
    }

    /// `leaf00`, or `SwitchIB (0xec0d9a0300a00100)`.
    pub fn label(&self, node: NodeId) -> String {
        let name = self.fabric.node_name(node);
        self.guid(node).map_or_else(|| name.to_owned(), |guid| format!("{name} ({guid})"))
    }

    /// The port that a link leaves: `leaf00[5]`.
    pub fn port(&self, link: LinkId) -> String {
        format!("{}[{}]", self.label(self.fabric.link_from(link)), self.fabric.link_port(link))
    }

    /// A link by its ends, `leaf00[5] -> spine00[1]`.
    pub fn both_ends(&self, link: LinkId) -> String {
        format!("{} -> {}", self.port(link), self.port(self.fabric.reverse(link)))
    }
}

impl Deref for Labels<'_> {
    type Target = Fabric;

    fn deref(&self) -> &Fabric {
        self.fabric
    }
}
