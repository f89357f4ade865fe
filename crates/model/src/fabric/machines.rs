//! Machines, their adapters, and the ports of these in a fabric, which are its hosts.
//!
//! A job, a hostlist and Slurm name machines; a fabric has hosts. Where a machine has one adapter with one port,
//! the two are the same.
//!
//! Invariants: every host is a port of exactly one adapter of one machine. Machines are in the order of their first hosts, adapters
//! and ports in the order of hosts, which is the natural order of names (`mlx5_2` before `mlx5_10`). Adapter *r* is the machine's **rail** *r*.
//!
//! Hosts of one machine name are one machine ([`Fabric::machine`]), unless the same adapter is told twice with different GUIDs
//! (`localhost HCA-1` all over a fabric that nobody named): no machine has an adapter twice, so each GUID is a machine then.

use std::collections::{HashMap, HashSet};

use crate::fabric::Fabric;
use crate::fabric::guids::guid;
use crate::ids::HostId;
use crate::names::nearest;

/// An adapter of a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adapter {
    /// Its name as the description has it behind the machine's (`mlx5_2`); its GUID where that says none.
    pub name: String,
    /// Whether the description names it.
    pub named: bool,
    /// Its place among the adapters of the machine, from 0.
    pub rail: usize,
    /// Its ports in this fabric, at least one.
    pub hosts: Vec<HostId>,
}

/// A machine, or those of its adapters that somebody may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its adapters, at least one.
    pub adapters: Vec<Adapter>,
}

impl Machine {
    /// Its ports, adapter by adapter.
    pub fn hosts(&self) -> impl Iterator<Item = HostId> + '_ {
        self.adapters.iter().flat_map(|adapter| adapter.hosts.iter().copied())
    }

    /// Its first port.
    pub fn first(&self) -> HostId {
        self.adapters[0].hosts[0]
    }

    /// The port that its rank `local` (counted on the machine, from 0) uses: adapter `local` mod adapters; those that come round
    /// again use the adapter's next port.
    pub fn host_of(&self, local: usize) -> HostId {
        let ports = &self.adapters[local % self.adapters.len()].hosts;
        ports[local / self.adapters.len() % ports.len()]
    }

    /// Its ports in the order in which ranks come to them.
    pub fn slots(&self) -> Vec<HostId> {
        let mut slots = Vec::new();
        let most = self.adapters.iter().map(|adapter| adapter.hosts.len()).max().unwrap_or(0);
        for turn in 0..most {
            let next = self.adapters.iter().filter_map(|adapter| adapter.hosts.get(turn));
            slots.extend(next);
        }
        slots
    }

    /// The same with these ports alone; `None` if it has none of them.
    pub fn only(&self, keep: impl Fn(HostId) -> bool) -> Option<Self> {
        let adapters = self.adapters.iter().filter_map(|adapter| {
            let hosts: Vec<HostId> = adapter.hosts.iter().copied().filter(|&host| keep(host)).collect();
            (!hosts.is_empty()).then(|| Adapter { hosts, ..adapter.clone() })
        });
        let adapters: Vec<Adapter> = adapters.collect();
        (!adapters.is_empty()).then(|| Self { name: self.name.clone(), adapters })
    }
}

/// All machines of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Machines {
    machines: Vec<Machine>,
    of_host: Vec<u32>,
}

impl Machines {
    /// Those of a fabric.
    pub fn of(fabric: &Fabric) -> Self {
        let repeated = repeated(fabric);
        let mut known: HashMap<(&str, u64), usize> = HashMap::new();
        let mut machines: Vec<Machine> = Vec::new();
        let mut of_host = Vec::with_capacity(fabric.host_count());
        for host in fabric.hosts() {
            let (name, guid) = (fabric.machine(host), fabric.host_guid(host));
            let apart = if repeated.contains(name) { guid } else { 0 };
            let at = *known.entry((name, apart)).or_insert(machines.len());
            if at == machines.len() {
                machines.push(Machine { name: name.to_owned(), adapters: Vec::new() });
            }
            of_host.push(at as u32);
            let adapters = &mut machines[at].adapters;
            let told = label(fabric, host);
            let same = |adapter: &Adapter| match told {
                Some(told) => adapter.named && adapter.name == told,
                None => !adapter.named && fabric.host_guid(adapter.hosts[0]) == guid,
            };
            match adapters.iter_mut().find(|adapter| same(adapter)) {
                Some(adapter) => adapter.hosts.push(host),
                None => adapters.push(Adapter {
                    name: told.map_or_else(|| format!("0x{guid:016x}"), str::to_owned),
                    named: told.is_some(),
                    rail: adapters.len(),
                    hosts: vec![host],
                }),
            }
        }
        Self { machines, of_host }
    }

    /// All of them, in order.
    pub fn all(&self) -> &[Machine] {
        &self.machines
    }

    /// The number of a host's machine.
    pub fn index(&self, host: HostId) -> usize {
        self.of_host[host.index()] as usize
    }

    /// A host's machine.
    pub fn machine(&self, host: HostId) -> &Machine {
        &self.machines[self.index(host)]
    }

    /// A host's adapter.
    pub fn adapter(&self, host: HostId) -> &Adapter {
        let has = |adapter: &&Adapter| adapter.hosts.contains(&host);
        self.machine(host).adapters.iter().find(has).expect("every host is a port of an adapter")
    }

    /// The machines of these hosts with these of their ports, in the order of their first ones.
    pub fn grouped(&self, hosts: &[HostId]) -> Vec<Machine> {
        let named: HashSet<HostId> = hosts.iter().copied().collect();
        let mut seen = HashSet::new();
        let new = hosts.iter().map(|&host| self.index(host)).filter(|&at| seen.insert(at));
        new.filter_map(|at| self.machines[at].only(|host| named.contains(&host))).collect()
    }
}

/// Names of machines that have the same port of the same adapter twice.
fn repeated(fabric: &Fabric) -> HashSet<&str> {
    let mut seen = HashSet::with_capacity(fabric.host_count());
    let twice = |&host: &HostId| {
        label(fabric, host).is_some() && !seen.insert((fabric.host_name(host), fabric.host_port(host)))
    };
    fabric.hosts().filter(twice).map(|host| fabric.machine(host)).collect()
}

/// What a host's description says behind the name of its machine.
fn label(fabric: &Fabric, host: HostId) -> Option<&str> {
    let rest = fabric.host_name(host).trim().strip_prefix(fabric.machine(host))?;
    let rest = rest.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '.');
    (!rest.is_empty()).then_some(rest)
}

/// Adapters by what people call them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// By name: `mlx5_0`.
    Name(String),
    /// The machine's *n*-th, from 0: `rail:0`.
    Rail(usize),
    /// Those with a cable to this switch, by name or GUID: `switch:leaf09`.
    Switch(String),
}

impl std::fmt::Display for Selector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Rail(rail) => write!(f, "rail:{rail}"),
            Self::Switch(switch) => write!(f, "switch:{switch}"),
        }
    }
}

impl std::str::FromStr for Selector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.trim();
        match text.split_once(':') {
            Some(("rail", number)) => number.trim().parse().map(Self::Rail).map_err(|_| {
                format!("expected a rail's number as in rail:0, found \"{}\"", number.escape_debug())
            }),
            Some(("switch", name)) if !name.trim().is_empty() => Ok(Self::Switch(name.trim().to_owned())),
            _ if text.is_empty() || text.starts_with("switch:") => {
                Err("expected an adapter such as mlx5_0, rail:0 or switch:NAME, found none".to_owned())
            }
            _ => Ok(Self::Name(text.to_owned())),
        }
    }
}

impl Selector {
    /// Whether this names an adapter of some machine.
    pub fn takes(&self, fabric: &Fabric, adapter: &Adapter) -> bool {
        match self {
            Self::Name(name) => {
                adapter.named && adapter.name == *name
                    || !adapter.named && {
                        let told = guid(name);
                        told.is_some() && told == guid(&adapter.name)
                    }
            }
            Self::Rail(rail) => adapter.rail == *rail,
            Self::Switch(name) => adapter.hosts.iter().any(|&host| {
                let leaf = fabric.leaf(host);
                fabric.switch_name(leaf) == name || guid(name) == Some(fabric.switch_guid(leaf))
            }),
        }
    }

    /// `, did you mean "mlx5_0"?`, where that can be told of an adapter's or switch's name.
    pub fn hint(&self, fabric: &Fabric, machines: &Machines) -> String {
        let found = match self {
            Self::Name(name) => {
                let adapters = machines.all().iter().flat_map(|machine| &machine.adapters);
                nearest(name, adapters.filter(|adapter| adapter.named).map(|adapter| adapter.name.as_str()))
            }
            Self::Switch(name) => nearest(name, fabric.switches().map(|switch| fabric.switch_name(switch))),
            Self::Rail(_) => None,
        };
        found.map(|name| format!(", did you mean \"{name}\"?")).unwrap_or_default()
    }
}

/// Which adapters of its machines a job uses; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AdapterChoice {
    /// These alone; empty: all.
    pub only: Vec<Selector>,
    /// But not these, which are for storage.
    pub storage: Vec<Selector>,
}

impl AdapterChoice {
    /// Whether all adapters are meant.
    pub fn is_all(&self) -> bool {
        self.only.is_empty() && self.storage.is_empty()
    }

    /// Whether an adapter is among them.
    pub fn takes(&self, fabric: &Fabric, adapter: &Adapter) -> bool {
        let among = |list: &[Selector]| list.iter().any(|selector| selector.takes(fabric, adapter));
        (self.only.is_empty() || among(&self.only)) && !among(&self.storage)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fabric::build::{End, FabricBuilder, HostSpec, SwitchSpec};

    /// Hosts of (name, machine, GUID, port) on one switch.
    fn fabric(hosts: &[(&str, &str, u64, u16)]) -> Fabric {
        let mut b = FabricBuilder::new();
        let s = b.switch(SwitchSpec::new("leaf", 0xabc, 40));
        for (at, &(name, machine, guid, port)) in hosts.iter().enumerate() {
            let port_guid = 0x1000 + at as u64;
            let spec = HostSpec { machine: machine.into(), port, port_guid, ..HostSpec::new(name, guid) };
            let h = b.host(spec);
            b.cable(End::Switch(s, at as u16 + 1), End::Host(h), 1e9);
        }
        b.build().unwrap()
    }

    fn shape(fabric: &Fabric) -> Vec<String> {
        let adapter = |a: &Adapter| {
            let hosts: Vec<String> = a.hosts.iter().map(|h| h.0.to_string()).collect();
            format!("{}[{}]", a.name, hosts.join(","))
        };
        let machine = |m: &Machine| {
            format!("{}: {}", m.name, m.adapters.iter().map(adapter).collect::<Vec<_>>().join(" "))
        };
        Machines::of(fabric).all().iter().map(machine).collect()
    }

    #[test]
    fn adapters_are_told_by_name_else_by_guid_and_keep_their_ports() {
        let f = fabric(&[
            ("a mlx5_10", "a", 1, 1),
            ("a mlx5_2", "a", 2, 1),
            ("b HCA-1", "b", 3, 1),
            ("b HCA-1", "b", 3, 2),
            ("c", "c", 5, 1),
            ("d.1", "d", 6, 1),
            ("d.2", "d", 7, 2),
        ]);
        assert_eq!(
            shape(&f),
            ["a: mlx5_2[0] mlx5_10[1]", "b: HCA-1[2,3]", "c: 0x0000000000000005[4]", "d: 1[5] 2[6]"]
        );
        let machines = Machines::of(&f);
        assert_eq!(machines.machine(HostId(3)).name, "b");
        assert_eq!(machines.adapter(HostId(1)).rail, 1);
    }

    #[test]
    fn a_name_that_all_share_is_no_machine() {
        let f = fabric(&[("localhost HCA-1", "localhost", 1, 1), ("localhost HCA-1", "localhost", 2, 1)]);
        assert_eq!(shape(&f), ["localhost: HCA-1[0]", "localhost: HCA-1[1]"]);
        // As ibnetdiscover -p tells ports: each with a GUID of its own.
        let ports = fabric(&[("n HCA-1", "n", 1, 1), ("n HCA-1", "n", 2, 2)]);
        assert_eq!(shape(&ports), ["n: HCA-1[0,1]"]);
    }

    #[test]
    fn ranks_go_round_the_adapters_and_then_to_the_next_ports() {
        let f = fabric(&[("a mlx4_0", "a", 1, 1), ("a mlx4_0", "a", 1, 2), ("a mlx4_1", "a", 2, 1)]);
        let machines = Machines::of(&f);
        let dealt: Vec<u32> = (0..5).map(|local| machines.all()[0].host_of(local).0).collect();
        // mlx4_0 port 1, mlx4_1, mlx4_0 port 2, mlx4_1 again, mlx4_0 port 1 again.
        assert_eq!(dealt, [0, 2, 1, 2, 0]);
    }

    #[test]
    fn adapters_are_chosen_by_name_rail_and_switch() {
        let f = fabric(&[("a mlx5_0", "a", 1, 1), ("a mlx5_1", "a", 2, 1), ("b mlx5_1", "b", 3, 1)]);
        let machines = Machines::of(&f);
        let taken = |only: &[&str], storage: &[&str]| -> Vec<u32> {
            let parse = |list: &[&str]| list.iter().map(|text| text.parse().unwrap()).collect();
            let choice = AdapterChoice { only: parse(only), storage: parse(storage) };
            let takes = |host: &HostId| choice.takes(&f, machines.adapter(*host));
            f.hosts().filter(takes).map(|host| host.0).collect()
        };
        assert_eq!(taken(&[], &[]), [0, 1, 2]);
        assert_eq!(taken(&["mlx5_1"], &[]), [1, 2]);
        assert_eq!(taken(&["rail:0"], &[]), [0, 2]);
        assert_eq!(taken(&["rail:0", "rail:1"], &["mlx5_0"]), [1, 2]);
        assert_eq!(taken(&["switch:leaf"], &["switch:0xabc"]), [0u32; 0]);
        assert_eq!("mlx5_3".parse::<Selector>().unwrap().hint(&f, &machines), ", did you mean \"mlx5_0\"?");
        for bad in ["", " ", "rail:", "rail:x", "rail:-1", "switch:", "switch: "] {
            assert!(bad.parse::<Selector>().is_err(), "{bad}");
        }
    }
}
