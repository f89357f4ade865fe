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
    /// An adapter that the fabric does not have, in a machine that it has: of another fabric, or without a cable.
    Beside,
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

    /// Whether a machine of the fabric is called so, by its full name or with a TCP port too.
    pub fn has_machine(&self, machine: &str) -> bool {
        self.machine(machine).is_some()
    }

    /// Whether a host is a port of the machine called so.
    pub fn is_of(&self, link: LinkId, machine: &str) -> bool {
        self.machine(machine).is_some_and(|rails| rails.iter().any(|&h| self.fabric.host_link(h) == link))
    }

    /// A port of the adapter called `device` of a machine, which may be called by its full name and with a TCP port
    /// (`node7.example.org:9100`).
    pub fn by_machine(&self, machine: &str, device: &str, port: u32) -> Place {
        let Some(rails) = self.machine(machine) else { return Place::Unknown };
        let adapter = |h: HostId| adapter(self.fabric.host_name(h), self.fabric.machine(h));
        let named = |h: HostId| adapter(h).is_some_and(|adapter| adapter.is(device));
        // Where no description names a device, a machine's hosts are the ports of its only one here.
        let first = rails.first().map_or("", |&h| self.fabric.host_name(h));
        let anonymous = rails.iter().all(|&h| adapter(h).is_none() && self.fabric.host_name(h) == first);
        if !anonymous && !rails.iter().any(|&h| named(h)) {
            return Place::Beside;
        }
        let here = |h: &&HostId| (anonymous || named(**h)) && u32::from(self.fabric.host_port(**h)) == port;
        rails.iter().find(here).map_or(Place::Idle, |&h| Place::Port(self.fabric.host_link(h)))
    }

    fn machine(&self, machine: &str) -> Option<&Vec<HostId>> {
        let machine = machine.split(':').next().unwrap_or_default();
        let short = machine.split('.').next().unwrap_or_default();
        self.by_machine.get(machine).or_else(|| self.by_machine.get(short))
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

/// Which adapter of its machine a description names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Adapter<'a> {
    /// `node7 mlx5_0`, as `rdma-ndd` writes it.
    Device(&'a str),
    /// `node7 HCA-1`, as older scripts write it: counted from 1.
    Number(u32),
}

impl Adapter<'_> {
    fn is(self, device: &str) -> bool {
        match self {
            Self::Device(name) => name == device,
            Self::Number(number) => {
                let digits = device.rsplit(|c: char| !c.is_ascii_digit()).next().unwrap_or_default();
                digits.parse().ok().and_then(|n: u32| n.checked_add(1)) == Some(number)
            }
        }
    }
}

/// The adapter that a host's description names behind its machine, if it names one.
fn adapter<'a>(name: &'a str, machine: &str) -> Option<Adapter<'a>> {
    let of_device = |word: &str| {
        word.starts_with(|c: char| c.is_ascii_lowercase())
            && word.ends_with(|c: char| c.is_ascii_digit())
            && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
    };
    name.split_ascii_whitespace().filter(|word| *word != machine).find_map(|word| {
        let number = word.strip_prefix("HCA-").and_then(|number| number.parse().ok());
        number.map(Adapter::Number).or_else(|| of_device(word).then_some(Adapter::Device(word)))
    })
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
        // The device's name counts where the machine has one adapter here too.
        assert_eq!(ports.by_machine("n1", "mlx5_7", 1), Place::Beside);
        assert_eq!(ports.by_machine("n1", "mlx5_0", 2), Place::Idle);
        assert_eq!(ports.by_machine("n3", "mlx5_0", 1), Place::Unknown);
    }
    #[test]
    fn descriptions_name_devices_in_two_ways() {
        let of = |name: &'static str| adapter(name, "n1");
        assert_eq!(of("n1 mlx5_0"), Some(Adapter::Device("mlx5_0")));
        assert_eq!(of("n1 ibp65s0"), Some(Adapter::Device("ibp65s0")));
        assert_eq!(of("n1 HCA-2"), Some(Adapter::Number(2)));
        for nameless in ["n1", "n1 ConnectX-5", "MT4115 Mellanox Technologies", "n1 HCA-x"] {
            assert_eq!(of(nameless), None, "{nameless}");
        }
        assert!(Adapter::Number(2).is("mlx5_1") && !Adapter::Number(2).is("mlx5_2"));
        assert!(!Adapter::Number(1).is("mlx5") && !Adapter::Device("mlx5_0").is("mlx5_1"));
    }
}
