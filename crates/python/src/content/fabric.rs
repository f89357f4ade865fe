//! Fabrics: hosts, switches and cables as they are, in the order of their numbers, through [`FabricBuilder`] again.

use std::sync::Arc;

use netloom_model::{End, Fabric, FabricBuilder, Finding, HostSpec, LinkId, MAX_LMC, SwitchId, SwitchSpec};
use pyo3::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Content, Loaded, Saved, Word};
use crate::fabric::{PyFabric, Shared};
use crate::run::{Options, run};

#[derive(Serialize, Deserialize)]
struct State {
    kind: String,
    findings: Vec<(Word, String)>,
    /// Name, machine, GUIDs of adapter and port, port, LID.
    hosts: Vec<(String, String, u64, u64, u16, Option<u16>)>,
    /// Name, GUID, radix, LID.
    switches: Vec<(String, u64, u16, Option<u16>)>,
    /// Node, port, node, port, bytes per second.
    cables: Vec<(u32, u16, u32, u16, f64)>,
    lmc: u8,
    dead: Vec<LinkId>,
    roots: Vec<SwitchId>,
}

impl State {
    fn of(shared: &Shared) -> Self {
        let f = &shared.fabric;
        let host = |h| {
            let (name, machine) = (f.host_name(h).to_owned(), f.machine(h).to_owned());
            (name, machine, f.host_guid(h), f.host_port_guid(h), f.host_port(h), f.host_lid(h))
        };
        let one_way = f.links().filter(|&link| link < f.reverse(link));
        let cables = one_way.map(|link| {
            let l = f.link(link);
            (l.from.0, l.from_port, l.to.0, l.to_port, l.bandwidth_bytes_per_s)
        });
        Self {
            kind: shared.kind.clone(),
            findings: super::words::kept(shared.read_findings.iter().map(|f| (f.kind, f.text.as_str()))),
            hosts: f.hosts().map(host).collect(),
            switches: f
                .switches()
                .map(|s| (f.switch_name(s).to_owned(), f.switch_guid(s), f.radix(s), f.switch_lid(s)))
                .collect(),
            cables: cables.collect(),
            lmc: f.lmc(),
            dead: f.links().filter(|&link| !f.alive(link)).collect(),
            roots: f.roots().to_vec(),
        }
    }

    /// # Errors
    /// What contradicts what.
    fn build(self, bytes: usize) -> Result<Fabric, String> {
        let hosts = self.hosts.len();
        let nodes = hosts + self.switches.len();
        let ports: usize = self.switches.iter().map(|switch| usize::from(switch.2)).sum();
        // A switch takes memory for all its ports, cabled or not.
        if ports > (1 << 20) + 64 * bytes {
            return Err(format!("{ports} ports in {bytes} bytes"));
        }
        if self.cables.iter().any(|cable| cable.0.max(cable.2) as usize >= nodes) || self.lmc > MAX_LMC {
            return Err(format!("a cable to none of its {nodes} nodes, or LMC {}", self.lmc));
        }
        let mut builder = FabricBuilder::new();
        builder.lmc(self.lmc);
        for (name, machine, guid, port_guid, port, lid) in self.hosts {
            builder.host(HostSpec { name, machine, guid, port_guid, port, lid });
        }
        for (name, guid, radix, lid) in self.switches {
            builder.switch(SwitchSpec { name, guid, radix, lid });
        }
        let end = |node: u32, port| match (node as usize).checked_sub(hosts) {
            None => End::Host(node as usize),
            Some(switch) => End::Switch(switch, port),
        };
        for (a, p, b, q, bandwidth) in self.cables {
            builder.cable(end(a, p), end(b, q), bandwidth);
        }
        let fabric = builder.build().map_err(|e| e.to_string())?;
        let links = fabric.link_count();
        if self.dead.iter().any(|link| link.index() >= links)
            || self.roots.iter().any(|root| root.index() >= fabric.switch_count())
        {
            return Err("a dead link or a root that it has not".to_owned());
        }
        Ok(fabric.with_dead(self.dead).with_roots(self.roots))
    }
}

impl Content for PyFabric {
    fn save(slf: &Bound<'_, Self>) -> PyResult<Saved> {
        slf.get().shared.known_as(slf)?;
        let shared = &slf.get().shared;
        let state = run(slf.py(), Options::default(), |_| State::of(shared))?;
        Saved::new(&state, Vec::new())
    }

    fn load(py: Python<'_>, loaded: &Loaded) -> PyResult<Py<Self>> {
        let state: State = loaded.state()?;
        let (kind, bytes) = (state.kind.clone(), loaded.data.len());
        let findings = state.findings.iter().map(|(kind, text)| Finding { kind: kind.0, text: text.clone() });
        let findings = findings.collect();
        let fabric =
            run(py, Options::default(), |_| state.build(bytes))?.map_err(|why| loaded.damaged(why))?;
        let shared = Shared::new(fabric, kind, findings);
        let made = Bound::new(py, Self { shared })?;
        made.get().shared.known_as(&made)?;
        Ok(made.unbind())
    }
}

impl Shared {
    /// One object in Python for a fabric, while it lives: so that a pickle of several results has it once.
    pub fn object(self: &Arc<Self>, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if let Some(known) = self.known(py) {
            return Ok(known);
        }
        let made = Bound::new(py, PyFabric { shared: Arc::clone(self) })?;
        self.known_as(&made)?;
        Ok(made.into_any().unbind())
    }
}
