//! Graphviz: switches by level, hosts under their leaves.
//!
//! Parallel cables are one edge with a count. More than [`MAX_HOSTS`] hosts are drawn as one node a leaf.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use netloom_model::{Fabric, Node, NodeId};

/// The most hosts that are drawn one by one.
pub const MAX_HOSTS: usize = 256;

/// A DOT graph of the working cables. `level`: of every switch, 0 at the leaves, 255 if it has none; switches of
/// a level stand in a row, the highest on top.
///
/// # Panics
/// If `level` has not one entry a switch.
pub fn write_dot(fabric: &Fabric, level: &[u8]) -> String {
    assert_eq!(level.len(), fabric.switch_count(), "one level a switch");
    let single = fabric.host_count() <= MAX_HOSTS;
    let mut out =
        String::from("graph fabric {\n  rankdir=TB;\n  node [fontname=\"Helvetica\", fontsize=10];\n");
    let mut rows: BTreeMap<u8, Vec<NodeId>> = BTreeMap::new();
    for s in fabric.switches() {
        rows.entry(level[s.index()]).or_default().push(fabric.switch_node(s));
    }
    for (level, nodes) in rows.iter().rev() {
        let rank = if *level == u8::MAX { "  {\n" } else { "  {\n    rank=same;\n" };
        out.push_str(rank);
        for &n in nodes {
            let _ = writeln!(out, "    n{} [shape=box, label=\"{}\"];", n.0, escape(fabric.node_name(n)));
        }
        out.push_str("  }\n");
    }
    if single {
        out.push_str("  {\n    rank=same;\n");
        for h in fabric.hosts() {
            let _ = writeln!(out, "    n{} [shape=ellipse, label=\"{}\"];", h.0, escape(fabric.host_name(h)));
        }
        out.push_str("  }\n");
    }
    let mut cables: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    let mut hosts: BTreeMap<NodeId, usize> = BTreeMap::new();
    for l in fabric.links().filter(|&l| fabric.alive(l)) {
        let (from, to) = (fabric.link_from(l), fabric.link_to(l));
        match (fabric.node(from), fabric.node(to)) {
            (Node::Switch(_), Node::Host(_)) if !single => *hosts.entry(from).or_default() += 1,
            (Node::Switch(a), Node::Switch(b)) => {
                // Each cable once, from the upper switch.
                let upper = |s: netloom_model::SwitchId| (level[s.index()], std::cmp::Reverse(s));
                if upper(a) > upper(b) {
                    *cables.entry((from, to)).or_default() += 1;
                }
            }
            (Node::Switch(_), Node::Host(_)) => *cables.entry((from, to)).or_default() += 1,
            (Node::Host(_), _) => {}
        }
    }
    for (leaf, count) in hosts {
        let _ = writeln!(out, "  h{} [shape=ellipse, label=\"{count} hosts\"];", leaf.0);
        let _ = writeln!(out, "  n{} -- h{};", leaf.0, leaf.0);
    }
    for ((a, b), count) in cables {
        let label = if count > 1 { format!(" [label=\"{count}x\"]") } else { String::new() };
        let _ = writeln!(out, "  n{} -- n{}{label};", a.0, b.0);
    }
    out.push_str("}\n");
    out
}

fn escape(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};

    use super::*;

    #[test]
    fn levels_are_rows_and_parallel_cables_one_edge() {
        let mut b = FabricBuilder::new();
        let leaf = b.switch(SwitchSpec::new("leaf", 1, 4));
        let spine = b.switch(SwitchSpec::new("spine \"1\"", 2, 4));
        let host = b.host(HostSpec::new("h", 9));
        b.cable(End::Switch(leaf, 1), End::Host(host), 1e9);
        b.cable(End::Switch(leaf, 2), End::Switch(spine, 1), 1e9);
        b.cable(End::Switch(leaf, 3), End::Switch(spine, 2), 1e9);
        // Nodes: host 0, leaf 1, spine 2.
        let dot = write_dot(&b.build().unwrap(), &[0, 1]);
        let top = dot.find("spine \\\"1\\\"").unwrap();
        assert!(top < dot.find("label=\"leaf\"").unwrap());
        assert!(dot.ends_with("  n1 -- n0;\n  n2 -- n1 [label=\"2x\"];\n}\n"), "{dot}");
    }
}
