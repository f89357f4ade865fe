//! Planes: parts of a file that no cable joins.
//!
//! Machines with two adapters are often on two networks that never meet, and `ibnetdiscover`'s outputs of both in one file are two planes. A
//! fabric is connected, so one plane is taken: the one that is asked for, else the largest, and a finding says which.
//!
//! Cables of switches join; adapters don't, as no packet passes one: of an adapter with a port on each of two planes each port is a host of one.
//!
//! Parts that do not share their machines are no planes but a fabric that broke apart, or a file that lost lines: these are
//! refused, unless one is asked for.

use std::cmp::Reverse;
use std::collections::HashSet;

use netloom_model::names::{natural_cmp, nearest};

use crate::error::{FormatError, excerpt};

use super::names::machine_of;
use super::pairs::Pair;
use super::raw::{Raw, Role};

/// A part with hosts.
pub(super) struct Plane {
    /// Its node that stands for it while parts are looked for.
    root: u32,
    /// Nodes of its hosts, in natural order of names; one that has two cables here twice.
    hosts: Vec<u32>,
}

/// The parts with hosts, the largest first.
fn parts(raw: &Raw<'_>, roots: &[u32], kept: &[Pair], names: &[String]) -> Vec<Plane> {
    let mut parts: Vec<Plane> = Vec::new();
    for pair in kept.iter().filter(|pair| raw.nodes[pair.a as usize].role == Role::Adapter) {
        let root = roots[pair.b as usize];
        match parts.iter_mut().find(|part| part.root == root) {
            Some(part) => part.hosts.push(pair.a),
            None => parts.push(Plane { root, hosts: vec![pair.a] }),
        }
    }
    let name = |node: u32| names[node as usize].as_str();
    for part in &mut parts {
        part.hosts.sort_by(|&a, &b| natural_cmp(name(a), name(b)).then(a.cmp(&b)));
    }
    parts.sort_by(|a, b| {
        let size = Reverse(a.hosts.len()).cmp(&Reverse(b.hosts.len()));
        size.then_with(|| natural_cmp(name(a.hosts[0]), name(b.hosts[0])))
    });
    parts
}

/// Of every switch the smallest that cables join it to; adapters are their own.
fn roots(raw: &Raw<'_>, kept: &[Pair]) -> Vec<u32> {
    let nodes = raw.nodes.len();
    let mut parent: Vec<u32> = (0..nodes as u32).collect();
    for pair in kept.iter().filter(|pair| raw.nodes[pair.a as usize].role == Role::Switch) {
        let (a, b) = (root(&mut parent, pair.a), root(&mut parent, pair.b));
        parent[a.max(b) as usize] = a.min(b);
    }
    (0..nodes as u32).map(|node| root(&mut parent, node)).collect()
}

fn root(parent: &mut [u32], mut node: u32) -> u32 {
    while parent[node as usize] != node {
        parent[node as usize] = parent[parent[node as usize] as usize];
        node = parent[node as usize];
    }
    node
}

/// Takes one plane: what others have is no longer kept, nor a node of any role.
///
/// `plane`: its number from 1, the largest first, or the name of one of its nodes. `cables`: of all nodes, those that don't count too.
pub(super) fn take(
    raw: &mut Raw<'_>,
    kept: &mut Vec<Pair>,
    names: &[String],
    plane: Option<&str>,
    cables: usize,
    label: &str,
) -> Result<(), FormatError> {
    let roots = roots(raw, kept);
    let parts = parts(raw, &roots, kept, names);
    if parts.is_empty() {
        return Err(nothing(raw, kept.len(), cables, label));
    }
    let taken = match plane {
        Some(plane) => asked(raw, &parts, &roots, names, plane, label)?,
        None if parts.len() == 1 => return Ok(()),
        None if are_planes(raw, &parts, names) => {
            raw.notes.add("planes", "", None, || told(&parts, names));
            0
        }
        None => return Err(apart(raw, &parts, names, label)),
    };
    let own = parts[taken].root;
    if parts.len() > 1 {
        kept.retain(|pair| roots[pair.b as usize] == own);
        let others = raw.nodes.iter_mut().zip(&roots).filter(|(_, root)| **root != own);
        others
            .filter(|(node, _)| node.role == Role::Switch)
            .for_each(|(node, _)| node.role = Role::Elsewhere);
    }
    Ok(())
}

/// Whether all parts have mostly machines of the first.
fn are_planes(raw: &Raw<'_>, parts: &[Plane], names: &[String]) -> bool {
    let machines = |part: &Plane| -> HashSet<String> {
        let of = |&node: &u32| machine_of(&names[node as usize], raw.nodes[node as usize].guid);
        part.hosts.iter().map(of).collect()
    };
    let first = machines(&parts[0]);
    parts[1..].iter().all(|part| {
        let own = machines(part);
        2 * own.intersection(&first).count() >= own.len()
    })
}

fn told(parts: &[Plane], names: &[String]) -> String {
    let one = |(number, part): (usize, &Plane)| {
        let (hosts, first) = (part.hosts.len(), &names[part.hosts[0] as usize]);
        format!("{} ({hosts} hosts, with \"{first}\")", number + 1)
    };
    let list: Vec<String> = parts.iter().enumerate().map(one).collect();
    format!(
        "{} planes that no cable joins: {}; plane 1 is taken, \"#2\" behind the file's name takes the second",
        parts.len(),
        list.join(", ")
    )
}

fn asked(
    raw: &Raw<'_>,
    parts: &[Plane],
    roots: &[u32],
    names: &[String],
    plane: &str,
    label: &str,
) -> Result<usize, FormatError> {
    if let Ok(number) = plane.parse::<usize>()
        && (1..=parts.len()).contains(&number)
    {
        return Ok(number - 1);
    }
    let has = |part: &Plane, node: usize| match raw.nodes[node].role {
        Role::Switch => part.root == roots[node],
        _ => part.hosts.contains(&(node as u32)),
    };
    let of =
        |node: usize| parts.iter().enumerate().filter(move |(_, part)| has(part, node)).map(|(at, _)| at);
    let mut found: Vec<usize> = (0..names.len()).filter(|&node| names[node] == plane).flat_map(of).collect();
    found.sort_unstable();
    found.dedup();
    match found[..] {
        [one] => Ok(one),
        [] => {
            let number = plane.bytes().all(|octet| octet.is_ascii_digit());
            let near = nearest(plane, names.iter().map(String::as_str)).filter(|_| !number);
            let help = near.map(|name| format!(", did you mean \"{name}\"?")).unwrap_or_default();
            let message = format!(
                "expected a plane's number, 1 to {}, or the name of a node in it, found \"{}\"{help}",
                parts.len(),
                excerpt(plane)
            );
            Err(FormatError::whole(label, message))
        }
        _ => {
            let message =
                format!("nodes of several planes are called \"{}\": expected a number", excerpt(plane));
            Err(FormatError::whole(label, message))
        }
    }
}

fn nothing(raw: &Raw<'_>, kept: usize, cables: usize, label: &str) -> FormatError {
    let adapters = raw.nodes.iter().filter(|n| n.role == Role::Adapter).count();
    let between = match cables - kept {
        0 => "none cabled".to_owned(),
        1 => "1 cable, to no switch: there is nothing to route".to_owned(),
        other => format!("{other} cables, none from a host to a switch: there is nothing to route"),
    };
    let message = format!(
        "expected at least one host with a cable to a switch, found {adapters} adapters and {between}"
    );
    FormatError::whole(label, message)
}

/// Parts in the order of their lines, as a reader of the file meets them.
fn apart(raw: &Raw<'_>, parts: &[Plane], names: &[String], label: &str) -> FormatError {
    let first = |part: &Plane| part.hosts.iter().copied().min().unwrap_or(0);
    let mut order: Vec<&Plane> = parts.iter().collect();
    order.sort_by_key(|part| first(part));
    let (one, two) = (order[0], order[1]);
    let message = format!(
        "expected one connected fabric, found {} parts: \"{}\" (with {} hosts) cannot reach \"{}\" (with {} hosts)",
        parts.len(),
        names[first(one) as usize],
        one.hosts.len(),
        names[first(two) as usize],
        two.hosts.len()
    );
    FormatError::at(label, raw.nodes[first(two) as usize].line, message)
}
