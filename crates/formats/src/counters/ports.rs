//! Which port of the fabric a tool means: by LID, by GUID, or by names.
//!
//! A port is named by its outgoing link. Tools also show what the fabric does not have: the management port 0 of a switch, ports
//! without a cable, aggregation nodes. [`Place`] tells these apart from ports of links, and from ports that cannot be.

use std::collections::HashMap;

use netloom_model::{Fabric, HostId, LinkId, NodeId, SwitchId};

/// Adapters may have a second port, which the fabric does not know if nothing is cabled there.
const PORTS_OF_ADAPTER: u32 = 2;

/// What a tool's words lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The port that a link leaves.
    Port(LinkId),
    /// A port of the fabric's nodes, without a cable or for management.
    Idle,
    /// A port that this node of the fabric does not have.
    Absent(NodeId),
    /// No node of this fabric.
    Unknown,
}

#[derive(Clone, Debug)]
enum Owner {
    Switch(SwitchId),
    /// Ports of one adapter.
    Hosts(Vec<HostId>),
}

/// All ports by what tools call them.
pub(crate) struct Ports<'a> {
    fabric: &'a Fabric,
    by_lid: HashMap<u32, Owner>,
    by_guid: HashMap<u64, Owner>,
    by_machine: HashMap<&'a str, Vec<HostId>>,
}

impl<'a> Ports<'a> {
    pub fn of(fabric: &'a Fabric) -> Self {
        let mut ports =
            Self { fabric, by_lid: HashMap::new(), by_guid: HashMap::new(), by_machine: HashMap::new() };
        for host in fabric.hosts() {
            if let Some(lid) = fabric.host_lid(host) {
                for path in 0..1u32 << fabric.lmc() {
                    ports.by_lid.insert(u32::from(lid) + path, Owner::Hosts(vec![host]));
                }
            }
            let (node, port) = (fabric.host_guid(host), fabric.host_port_guid(host));
            for guid in [Some(node), Some(port).filter(|&p| p != node)].into_iter().flatten() {
                match ports.by_guid.entry(guid).or_insert_with(|| Owner::Hosts(Vec::new())) {
                    Owner::Hosts(hosts) => hosts.push(host),
                    Owner::Switch(_) => {}
                }
            }
            ports.by_machine.entry(fabric.machine(host)).or_default().push(host);
        }
        for switch in fabric.switches() {
            if let Some(lid) = fabric.switch_lid(switch) {
                ports.by_lid.insert(lid.into(), Owner::Switch(switch));
            }
            ports.by_guid.insert(fabric.switch_guid(switch), Owner::Switch(switch));
        }
        ports
    }

    /// Whether the fabric has LIDs at all.
    pub fn have_lids(&self) -> bool {
        !self.by_lid.is_empty()
    }

    pub fn by_lid(&self, lid: u32, port: u32) -> Place {
        self.place(self.by_lid.get(&lid), port)
    }

    pub fn by_guid(&self, guid: u64, port: u32) -> Place {
        self.place(self.by_guid.get(&guid), port)
    }

    /// A port of the adapter called `device` of a machine, which may be called by its full name and with a TCP port
    /// (`node7.example.org:9100`).
    pub fn by_machine(&self, machine: &str, device: &str, port: u32) -> Place {
        let machine = machine.split(':').next().unwrap_or_default();
        let short = machine.split('.').next().unwrap_or_default();
        let Some(rails) = self.by_machine.get(machine).or_else(|| self.by_machine.get(short)) else {
            return Place::Unknown;
        };
        let named =
            |h: &HostId| self.fabric.host_name(*h).split_ascii_whitespace().any(|word| word == device);
        // Where no description names a device, a machine's hosts are the ports of its only one.
        let anonymous = !rails.iter().any(named)
            && rails.iter().all(|&h| self.fabric.host_name(h) == rails_name(self.fabric, rails));
        let here = |h: &&HostId| (anonymous || named(h)) && u32::from(self.fabric.host_port(**h)) == port;
        rails.iter().find(here).map_or(Place::Idle, |&h| Place::Port(self.fabric.host_link(h)))
    }

    fn place(&self, owner: Option<&Owner>, port: u32) -> Place {
        match owner {
            None => Place::Unknown,
            Some(Owner::Switch(switch)) => {
                let link = u16::try_from(port).ok().and_then(|p| self.fabric.link_at(*switch, p));
                match link {
                    Some(link) => Place::Port(link),
                    None if port <= self.fabric.radix(*switch).into() => Place::Idle,
                    None => Place::Absent(self.fabric.switch_node(*switch)),
                }
            }
            Some(Owner::Hosts(hosts)) => {
                let here = hosts.iter().find(|&&h| u32::from(self.fabric.host_port(h)) == port);
                match (here, hosts.first()) {
                    (Some(&host), _) => Place::Port(self.fabric.host_link(host)),
                    (None, Some(&host)) if port > PORTS_OF_ADAPTER => {
                        Place::Absent(self.fabric.host_node(host))
                    }
                    (None, _) => Place::Idle,
                }
            }
        }
    }
}

/// The description that a machine's hosts share if they are ports of one adapter.
fn rails_name<'a>(fabric: &'a Fabric, rails: &[HostId]) -> &'a str {
    rails.first().map_or("", |&h| fabric.host_name(h))
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    #[test]
    fn ports_are_found_by_lid_guid_and_machine() {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec { lid: Some(9), ..SwitchSpec::new("s", 0xa, 4) });
        for (i, name) in ["n1 mlx5_0", "n1 mlx5_1", "n2"].into_iter().enumerate() {
            let guid = 16 * (i as u64 + 1);
            let spec = HostSpec { lid: Some(2 * i as u16 + 2), ..HostSpec::new(name, guid) };
            let h = b.host(HostSpec { machine: name.split(' ').next().unwrap().into(), ..spec });
            b.cable(End::Switch(s, 1 + i as u16), End::Host(h), 1e9);
        }
        b.lmc(1);
        let fabric = b.build().unwrap();
        let ports = Ports::of(&fabric);
        let link = |l| Place::Port(LinkId(l));
        // LMC 1: host 0 has LIDs 2 and 3. Links of the switch come after those of the three hosts.
        assert_eq!([ports.by_lid(3, 1), ports.by_lid(9, 2)], [link(0), link(4)]);
        assert_eq!([ports.by_lid(9, 0), ports.by_lid(9, 4), ports.by_lid(3, 2)], [Place::Idle; 3]);
        // The switch has four ports; an adapter with five is of another fabric.
        let absent = |node| Place::Absent(NodeId(node));
        assert_eq!([ports.by_lid(9, 5), ports.by_lid(9, 99999)], [absent(3); 2]);
        assert_eq!([ports.by_lid(3, 5), ports.by_guid(32, 3)], [absent(0), absent(1)]);
        assert_eq!([ports.by_lid(8, 1), ports.by_guid(0xb, 1)], [Place::Unknown; 2]);
        assert_eq!([ports.by_guid(0xa, 3), ports.by_guid(32, 1)], [link(5), link(1)]);
        assert_eq!(ports.by_machine("n1", "mlx5_1", 1), link(1));
        assert_eq!(ports.by_machine("n2.example.org:9100", "mlx5_0", 1), link(2));
        assert_eq!(ports.by_machine("n1", "mlx5_7", 1), Place::Idle);
        assert_eq!(ports.by_machine("n3", "mlx5_0", 1), Place::Unknown);
    }
}
