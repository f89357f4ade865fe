//! From raw records to a fabric: roles, names, LIDs, speeds, and what is left out.
//!
//! Order of the checks: ids and cables ([`pairs`](super::pairs)), then hosts, then that all hosts can reach
//! each other, or which [plane](planes) is taken. The builder of the model checks once more.

use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

use crate::error::FormatError;

use super::names::{NameMap, machine_of};
use super::pairs::{Pair, pair_up};
use super::planes;
use super::rate::{Rate, SPEEDS, Speed};
use super::raw::{MAX_NAME, Notes, Raw, RawNode, Role, too_long};
use super::{FabricFile, FabricKind};

/// The highest unicast LID.
const MAX_LID: u32 = 0xbfff;

/// Nobody: a node that is not (yet) a host or switch of the builder.
const NONE: u32 = u32::MAX;

pub(super) fn assemble(
    mut raw: Raw<'_>,
    label: &str,
    map: &NameMap,
    plane: Option<&str>,
) -> Result<FabricFile, FormatError> {
    check_names(&raw, label)?;
    let (index, pairs) = pair_up(&mut raw, label)?;
    let names = node_names(&mut raw, &pairs, map);
    let mut kept = keep(&mut raw, &pairs);
    report_unused(&mut raw, &index, &kept);
    planes::take(&mut raw, &mut kept, &names, plane, pairs.len(), label)?;
    let rates = rates(&mut raw, &kept);
    let (lids, lmc) = lids(&mut raw, &kept);

    let mut builder = FabricBuilder::new();
    builder.lmc(lmc);
    let mut switch_of = vec![NONE; raw.nodes.len()];
    for (n, node) in raw.nodes.iter().enumerate().filter(|(_, n)| n.role == Role::Switch) {
        let (name, guid) = (names[n].clone(), node.guid);
        let lid = lids.switches[n];
        switch_of[n] = builder.switch(SwitchSpec { name, guid, radix: node.ports, lid }) as u32;
    }
    for ((pair, &rate), &lid) in kept.iter().zip(&rates).zip(&lids.hosts) {
        let a = if is_host(&raw, pair) {
            let (node, end) = (&raw.nodes[pair.a as usize], host_end(&raw, pair));
            let name = names[pair.a as usize].clone();
            End::Host(builder.host(HostSpec {
                machine: machine_of(&name, node.guid),
                name,
                guid: node.guid,
                port_guid: end.guid.unwrap_or_else(|| {
                    // The -p form knows adapters by their port's GUID.
                    let ports =
                        if raw.kind == FabricKind::IbnetdiscoverPorts { 0 } else { u64::from(pair.a_port) };
                    node.guid.wrapping_add(ports)
                }),
                port: pair.a_port,
                lid,
            }))
        } else {
            End::Switch(switch_of[pair.a as usize] as usize, pair.a_port)
        };
        builder.cable(a, End::Switch(switch_of[pair.b as usize] as usize, pair.b_port), rate);
    }
    let fabric = builder.build().map_err(|e| FormatError::whole(label, e.to_string()))?;
    Ok(FabricFile { fabric, findings: raw.notes.finish(), kind: raw.kind })
}

/// Refuses names that no node has: they are compared and printed again and again.
fn check_names(raw: &Raw<'_>, label: &str) -> Result<(), FormatError> {
    let nodes = raw.nodes.iter().flat_map(|node| [(node.line, node.id), (node.line, node.name)]);
    let ports = raw.ports.iter().flat_map(|port| [(port.line, port.peer), (port.line, port.peer_name)]);
    match nodes.chain(ports).find(|(_, name)| name.len() > MAX_NAME) {
        Some((line, name)) => Err(too_long(label, line, name)),
        None => Ok(()),
    }
}

/// A node's name: the map's; else what its peers print (a node-name-map renames peers but not the header of
/// an adapter); else its description; else its GUID.
fn node_names(raw: &mut Raw<'_>, pairs: &[Pair], map: &NameMap) -> Vec<String> {
    let mut names: Vec<&str> = raw.nodes.iter().map(|n| n.name.trim_ascii()).collect();
    for pair in pairs {
        for (line, node) in [(Some(pair.told_by), pair.b), (pair.confirmed_by, pair.a)] {
            let seen = line.map_or("", |l| raw.ports[l as usize].peer_name.trim_ascii());
            if !seen.is_empty() {
                names[node as usize] = seen;
            }
        }
    }
    let mut result = Vec::with_capacity(names.len());
    for (node, name) in raw.nodes.iter().zip(names) {
        let name = printable(map.get(node.guid).unwrap_or(name));
        if name.is_empty() {
            let made = format!("0x{:016x}", node.guid);
            raw.notes.add(
                "no-description",
                "nodes without a description, named by their GUID",
                node.line,
                || format!("a {} without a description: named {made}", node.role.word()),
            );
            result.push(made);
        } else {
            result.push(name);
        }
    }
    report_shared_names(&raw.nodes, &result, &mut raw.notes);
    result
}

/// Control characters as spaces, as the tools print them: a name survives being written.
fn printable(name: &str) -> String {
    let spaced: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.trim_ascii().to_owned()
}

fn report_shared_names(nodes: &[RawNode<'_>], names: &[String], notes: &mut Notes) {
    let mut order: Vec<usize> =
        (0..names.len()).filter(|&n| matches!(nodes[n].role, Role::Switch | Role::Adapter)).collect();
    order.sort_by(|&i, &j| names[i].cmp(&names[j]).then(nodes[i].line.cmp(&nodes[j].line)));
    for same in order.chunk_by(|&i, &j| names[i] == names[j]).filter(|same| same.len() > 1) {
        let (first, count) = (same[0], same.len());
        notes.add("shared-name", "names that several nodes share", nodes[first].line, || {
            format!(
                "{count} nodes share the name \"{}\": a node-name-map would tell them apart",
                names[first]
            )
        });
    }
}

/// The cables that count, hosts as end `a`; findings for the others.
fn keep(raw: &mut Raw<'_>, pairs: &[Pair]) -> Vec<Pair> {
    let mut kept = Vec::with_capacity(pairs.len());
    for &pair in pairs {
        let (a, b) = (&raw.nodes[pair.a as usize], &raw.nodes[pair.b as usize]);
        let line = raw.ports[pair.told_by as usize].line;
        match (a.role, b.role) {
            (Role::Switch, Role::Switch) if pair.a == pair.b => {
                let text = format!(
                    "a cable from \"{}\"[{}] to itself[{}]: left out",
                    a.name, pair.a_port, pair.b_port
                );
                raw.notes.add("self-cable", "cables from a switch to itself, left out", line, || text);
            }
            (Role::Switch, Role::Switch) | (Role::Adapter, Role::Switch) => kept.push(pair),
            (Role::Switch, Role::Adapter) => kept.push(turned(pair)),
            (Role::Adapter, Role::Adapter) => {
                let text = format!("a cable between the hosts \"{}\" and \"{}\": left out", a.name, b.name);
                raw.notes.add("host-to-host", "cables between hosts, left out", line, || text);
            }
            // Routers and aggregation nodes are reported as nodes.
            _ => {}
        }
    }
    kept
}

fn turned(pair: Pair) -> Pair {
    // `told_by` stays a line that exists; `host_end` looks at whose it is.
    Pair { a: pair.b, a_port: pair.b_port, b: pair.a, b_port: pair.a_port, ..pair }
}

fn is_host(raw: &Raw<'_>, pair: &Pair) -> bool {
    raw.nodes[pair.a as usize].role == Role::Adapter
}

/// What is known of a host's port, from its own line or its switch's.
struct HostEnd {
    guid: Option<u64>,
    lid: Option<u32>,
    lmc: Option<u32>,
    line: usize,
}

fn host_end(raw: &Raw<'_>, pair: &Pair) -> HostEnd {
    let lines = [Some(pair.told_by), pair.confirmed_by].map(|l| l.map(|l| &raw.ports[l as usize]));
    let own = lines.iter().flatten().find(|p| p.node == pair.a);
    let far = lines.iter().flatten().find(|p| p.node == pair.b);
    HostEnd {
        guid: own.and_then(|p| p.port_guid).or(far.and_then(|p| p.peer_port_guid)),
        lid: own.and_then(|p| p.lid).or(far.and_then(|p| p.peer_lid)),
        lmc: own.and_then(|p| p.lmc),
        line: own.or(far).map_or(0, |p| p.line),
    }
}

/// Findings for nodes that are left out, and for hosts and switches without a cable.
fn report_unused(raw: &mut Raw<'_>, index: &super::pairs::Index, kept: &[Pair]) {
    let mut used = vec![false; raw.nodes.len()];
    for pair in kept {
        used[pair.a as usize] = true;
        used[pair.b as usize] = true;
    }
    for (role, kind) in [(Role::Aggregation, "aggregation-node"), (Role::Router, "router")] {
        let mut of_role = raw.nodes.iter().filter(|node| node.role == role);
        let Some(first) = of_role.next() else { continue };
        let (word, name, more) = (role.word(), first.name, of_role.count());
        // One line for all: a fabric of Quantum switches has one in each.
        raw.notes.add(kind, "", first.line, || match more {
            0 => format!(
                "{word} \"{name}\": left out (neither a host nor a switch; routes written from here have no entry for its LID)"
            ),
            _ => format!(
                "{} {word}s, such as \"{name}\": left out (neither hosts nor switches; routes written from here have no entries for their LIDs)",
                more + 1
            ),
        });
    }
    for (n, node) in raw.nodes.iter().enumerate() {
        match node.role {
            Role::Adapter if !used[n] => {
                let why = if index.has_ports(n) { "no cable to a switch" } else { "no link" };
                raw.notes.add("unlinked-host", "hosts without a link, left out", node.line, || {
                    format!("host \"{}\" has {why}: left out", node.name)
                });
            }
            Role::Switch if !used[n] => {
                raw.notes.add("unlinked-switch", "switches without a cable", node.line, || {
                    format!("switch \"{}\" has no cable", node.name)
                });
            }
            _ => {}
        }
    }
}

/// Bytes per second of every kept cable: the slower of what its ends say; question marks become the most
/// common speed (width) of the fabric.
fn rates(raw: &mut Raw<'_>, kept: &[Pair]) -> Vec<f64> {
    let merged: Vec<Rate> = kept.iter().map(|pair| merge(raw, pair)).collect();
    let speed = most_common(merged.iter().filter_map(|r| r.speed)).unwrap_or(Speed::Edr);
    let width = most_common(merged.iter().filter_map(|r| r.width)).unwrap_or(4);
    let mut result = Vec::with_capacity(kept.len());
    for (pair, rate) in kept.iter().zip(merged) {
        let known =
            Rate { width: rate.width.or(Some(width)), speed: rate.speed.or(Some(speed)), exact: rate.exact };
        if rate.bytes_per_s().is_none() {
            let name = SPEEDS[known.speed.unwrap_or(speed) as usize].1;
            let text = format!("unknown speed of a cable: taken as {}x{name}", known.width.unwrap_or(width));
            let line = raw.ports[pair.told_by as usize].line;
            raw.notes
                .add("unknown-speed", "cables of unknown speed, taken as the most common", line, || text);
        }
        // Both parts are known now.
        result.push(known.bytes_per_s().unwrap_or(12.5e9));
    }
    result
}

fn merge(raw: &mut Raw<'_>, pair: &Pair) -> Rate {
    let one = raw.ports[pair.told_by as usize].rate;
    let Some(two) = pair.confirmed_by.map(|l| raw.ports[l as usize].rate) else { return one };
    match (one.bytes_per_s(), two.bytes_per_s()) {
        (Some(x), Some(y)) if x != y => {
            let line = raw.ports[pair.told_by as usize].line;
            if raw.kind != FabricKind::IbsimNet {
                raw.notes.add("speeds-differ", "cables whose ends tell different speeds", line, || {
                    format!(
                        "the ends of a cable tell different speeds ({x} and {y} bytes/s): the slower is taken"
                    )
                });
            }
            if x < y { one } else { two }
        }
        _ => Rate {
            width: one.width.or(two.width),
            speed: one.speed.or(two.speed),
            exact: one.exact.or(two.exact),
        },
    }
}

/// The most frequent value; of equals the one seen first.
fn most_common<T: PartialEq>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut counts: Vec<(T, usize)> = Vec::new();
    for value in values {
        match counts.iter_mut().find(|c| c.0 == value) {
            Some(count) => count.1 += 1,
            None => counts.push((value, 1)),
        }
    }
    counts.into_iter().rev().max_by_key(|c| c.1).map(|c| c.0)
}

/// Valid LIDs, by raw node for switches and by kept cable for hosts.
struct Lids {
    switches: Vec<Option<u16>>,
    hosts: Vec<Option<u16>>,
}

fn lids(raw: &mut Raw<'_>, kept: &[Pair]) -> (Lids, u8) {
    let ends: Vec<Option<HostEnd>> =
        kept.iter().map(|pair| is_host(raw, pair).then(|| host_end(raw, pair))).collect();
    let lmc = most_common(ends.iter().flatten().filter_map(|e| e.lmc)).unwrap_or(0).min(7) as u8;
    let mut owned = vec![false; MAX_LID as usize + 1];
    let mut lids = Lids { switches: vec![None; raw.nodes.len()], hosts: vec![None; kept.len()] };
    // Switches first: their own header tells.
    let mut take = |notes: &mut Notes, line: usize, lid: Option<u32>, lmc: u8, name: &str| -> Option<u16> {
        let lid = lid.filter(|&l| l != 0)?;
        let last = lid.checked_add((1 << lmc) - 1)?;
        let problem = if last > MAX_LID {
            Some(format!("expected a LID 1 to {MAX_LID}"))
        } else if lid & ((1 << lmc) - 1) != 0 {
            Some(format!("expected a multiple of {} (LMC {lmc})", 1 << lmc))
        } else if owned[lid as usize..=last as usize].contains(&true) {
            Some("expected every LID once".to_owned())
        } else {
            owned[lid as usize..=last as usize].fill(true);
            None
        };
        match problem {
            Some(expected) => {
                notes.add("impossible-lid", "LIDs that cannot be, ignored", line, || {
                    format!("{expected}, found {lid} of \"{name}\": ignored")
                });
                None
            }
            None => Some(lid as u16),
        }
    };
    for n in 0..raw.nodes.len() {
        let node = &raw.nodes[n];
        if node.role == Role::Switch {
            lids.switches[n] = take(&mut raw.notes, node.line, node.lid, 0, node.name);
        }
    }
    for (i, (pair, end)) in kept.iter().zip(&ends).enumerate() {
        let Some(end) = end else { continue };
        let name = raw.nodes[pair.a as usize].name;
        if end.lmc.is_some_and(|own| own != u32::from(lmc)) {
            raw.notes.add("lmc-differs", "hosts with another LMC", end.line, || {
                format!("expected LMC {lmc} as of most hosts, found another at \"{name}\": taken as {lmc}")
            });
        }
        lids.hosts[i] = take(&mut raw.notes, end.line, end.lid, lmc, name);
    }
    (lids, lmc)
}
