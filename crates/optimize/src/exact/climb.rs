//! One step up of Partitioned Binary: from the switches of one level to the next, everything below being decided.
//!
//! The traffic that arrives at each switch is known, so binaries x(s, p, d) alone say the loads: leaf to spine is
//! eqs 3.3.8–3.3.12, spine to core eqs 3.3.13–3.3.17. Objectives one after the other: the largest load; and against
//! painting the later steps into a corner, at any receiving switch the least traffic for any one destination
//! (`maxperdestlid`) and for any one leaf of the own pod (`maxperdestleaf`; above the leaves: for any one pod,
//! `maxperdestpod`).
//!
//! Sub-problems are found, not assumed: entries that can never load the same receiving switch are independent. On a
//! perfect tree, with core groups decided, these are Algorithm 7's "each pod, each core group".

use std::collections::BTreeMap;
use std::sync::Arc;

use netloom_topology::Structure;

use crate::exact::instance::Instance;
use crate::exact::model::{Model, Name, Objective, Var};
use crate::exact::objective::{Flow, max_load};

/// The independent parts of the climb from `level`: nodes whose every hop leads up.
pub(crate) fn parts(inst: &Instance, structure: &Structure, level: u16) -> Vec<Vec<u32>> {
    let at = |s: u32| structure.rank[s as usize];
    let climbs = |n: &usize| {
        let up = |k: usize| at(inst.links[inst.hops[k].link as usize].to) > level;
        at(inst.nodes[*n].switch) == level && inst.of(*n).all(up)
    };
    let nodes: Vec<usize> = (0..inst.nodes.len()).filter(climbs).collect();
    let mut sets = Sets::new(structure.rank.len());
    for &n in &nodes {
        let mut heads = inst.of(n).map(|k| inst.links[inst.hops[k].link as usize].to);
        let first = heads.next().expect("every node has a hop");
        heads.for_each(|to| sets.join(first, to));
    }
    let mut parts: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for n in nodes {
        let to = inst.links[inst.hops[inst.nodes[n].first as usize].link as usize].to;
        parts.entry(sets.root(to)).or_default().push(n as u32);
    }
    let several = |part: &Vec<u32>| part.iter().any(|&n| inst.of(n as usize).len() > 1);
    parts.into_values().filter(several).collect()
}

/// The model of one part.
pub(crate) fn climb(inst: &Arc<Instance>, structure: &Structure, level: u16, part: &[u32]) -> Model {
    let mut model = Model::new(inst, if level == 0 { "leaf-to-spine" } else { "spine-to-core" });
    // Units per link; per (receiving switch, destination); per (receiving switch, leaf or pod).
    let mut flows = vec![Flow::default(); inst.links.len()];
    let mut per_host: BTreeMap<(u32, u32), Flow> = BTreeMap::new();
    let mut per_area: BTreeMap<(u32, u32), Flow> = BTreeMap::new();
    for &n in part {
        let node = &inst.nodes[n as usize];
        let leaf = inst.leaf_of(n as usize);
        let pod = structure.pod[leaf as usize];
        let area = match level {
            0 => (structure.pod[node.switch as usize] == pod).then_some(leaf),
            _ => Some(pod),
        };
        let several = inst.of(n as usize).len() > 1;
        let mut one = Vec::new();
        for k in inst.of(n as usize) {
            let link = inst.hops[k].link as usize;
            let to = inst.links[link].to;
            let x = several.then(|| model.binary(Var::Choice(k as u32)));
            let add = |flow: &mut Flow| match x {
                Some(x) => flow.terms.push((x, node.reach)),
                None => flow.always += node.reach,
            };
            add(&mut flows[link]);
            add(per_host.entry((node.dest, to)).or_default());
            if let Some(area) = area {
                add(per_area.entry((area, to)).or_default());
            }
            one.extend(x.map(|x| (x, 1.0)));
        }
        if several {
            let host = inst.targets[node.dest as usize].host.0;
            model.equal(Name("one_s#_h#", [node.switch, host, 0]), 1.0, one);
        }
    }
    max_load(&mut model, flows, 0.0);
    let host = |dest: u32| inst.targets[dest as usize].host.0;
    let (area, rows): (fn(u32) -> Var, _) =
        if level == 0 { (Var::PerLeaf, "leaf#_at#") } else { (Var::PerPod, "pod#_at#") };
    let hosts = most(&mut model, per_host, Var::PerHost, "host#_at#", host, "per_host");
    let areas =
        most(&mut model, per_area, area, rows, |a| a, if level == 0 { "per_leaf" } else { "per_pod" });
    model.objectives.extend(if level == 0 { [areas, hosts] } else { [hosts, areas] });
    model
}

/// A column for the largest of the flows of each key's first part, and the objective that adds them up.
fn most(
    model: &mut Model,
    flows: BTreeMap<(u32, u32), Flow>,
    what: fn(u32) -> Var,
    row: &'static str,
    id: impl Fn(u32) -> u32,
    name: &'static str,
) -> Objective {
    let mut terms: Vec<(u32, f64)> = Vec::new();
    let mut last = None;
    for ((of, to), flow) in flows {
        if last != Some(of) {
            terms.push((model.amount(what(of)), 1.0));
            last = Some(of);
        }
        let column = terms.last().expect("a column was just made").0;
        model.at_most(
            Name(row, [id(of), to, 0]),
            -flow.always,
            flow.terms.into_iter().chain([(column, -1.0)]),
        );
    }
    Objective { name, terms }
}

/// Disjoint sets of switches.
struct Sets(Vec<u32>);

impl Sets {
    fn new(n: usize) -> Self {
        Self((0..n as u32).collect())
    }

    fn root(&mut self, mut a: u32) -> u32 {
        while self.0[a as usize] != a {
            self.0[a as usize] = self.0[self.0[a as usize] as usize];
            a = self.0[a as usize];
        }
        a
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root(a), self.root(b));
        self.0[a.max(b) as usize] = a.min(b);
    }
}
