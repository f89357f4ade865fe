//! The Basic multi-commodity flow model, eqs 3.3.1–3.3.4: a flow a destination, conserved at every switch, that leaves
//! every switch by one port.
//!
//! "By one port" is either the SOS1 set of eq. 3.3.3 (for solvers that have them: Gurobi, CPLEX), or its
//! reformulation with binaries that sec. 3.3.3 describes: `T <= M x`, `sum x = 1`. M is tight: the traffic of those
//! sources that have a legal way to the destination through this switch. A switch with one admissible port needs
//! neither.

use std::sync::Arc;

use crate::exact::instance::{Instance, NONE};
use crate::exact::model::{Model, Name, Var};
use crate::exact::objective::{Flow, Goal, minimise};

/// The model.
pub fn basic(instance: &Arc<Instance>, goal: Goal, sos1: bool) -> Model {
    let mut model = Model::new(instance, "basic");
    let flows = flows(&mut model, sos1);
    minimise(&mut model, flows, goal);
    model
}

/// Eqs 3.3.1, 3.3.3 and 3.3.4; the flow over every link.
pub(crate) fn flows(model: &mut Model, sos1: bool) -> Vec<Flow> {
    let inst = Arc::clone(&model.instance);
    let mut flows = vec![Flow::default(); inst.links.len()];
    let first = model.columns.len() as u32;
    for (k, hop) in inst.hops.iter().enumerate() {
        let column = model.amount(Var::Flow(k as u32));
        flows[hop.link as usize].terms.push((column, 1.0));
    }
    let mut into: Vec<Vec<u32>> = vec![Vec::new(); inst.nodes.len()];
    for (k, hop) in inst.hops.iter().enumerate().filter(|(_, hop)| hop.head != NONE) {
        into[hop.head as usize].push(k as u32);
    }
    for (n, node) in inst.nodes.iter().enumerate() {
        let host = inst.targets[node.dest as usize].host.0;
        let out = inst.of(n).map(|k| (first + k as u32, 1.0));
        let terms = out.chain(into[n].iter().map(|k| (first + k, -1.0)));
        model.equal(Name("flow_s#_h#", [node.switch, host, 0]), node.inject, terms);
    }
    if sos1 {
        let sets = (0..inst.nodes.len()).map(|n| inst.of(n)).filter(|hops| hops.len() > 1);
        model.sos1 = sets.map(|hops| hops.map(|k| first + k as u32).collect()).collect();
        return flows;
    }
    let choice = model.choices();
    for (k, hop) in inst.hops.iter().enumerate().filter(|(k, _)| choice[*k] != NONE) {
        let (node, link) = (&inst.nodes[hop.tail as usize], &inst.links[hop.link as usize]);
        let host = inst.targets[node.dest as usize].host.0;
        let name = Name("by_s#_p#_h#", [link.from, u32::from(link.port), host]);
        model.at_most(name, 0.0, [(first + k as u32, 1.0), (choice[k], -node.reach)]);
    }
    flows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::cases::{instance, one_pod};
    use crate::exact::model::tests::obeys;

    #[test]
    fn the_columns_and_rows_of_two_leaves_and_two_spines() {
        // Host 0 sends to hosts 2 and 3 on the other leaf: per destination 2 links up, 2 down, one choice.
        let (_, inst) = instance(&one_pod(), &[(0, 2, 1.0), (0, 3, 1.0)]);
        let inst = Arc::new(inst);
        let model = basic(&inst, Goal::MaxLoad { least: 0.0 }, false);
        // 2 x (4 T + 2 x) + maxval.
        assert_eq!(model.columns.len(), 13);
        // 2 x (3 conservation + 1 choice + 2 T <= M x) + 4 links.
        assert_eq!(model.rows.name.len(), 16);
        // One destination a spine gives 1; both over one give 2, and a start says so.
        let apart = vec![inst.nodes[0].first, inst.nodes[1].first, inst.nodes[2].first];
        let mut choice: Vec<u32> = inst.nodes.iter().map(|n| n.first).collect();
        let together = model.start(&choice, 0.0).unwrap();
        assert!(obeys(&model, &together));
        assert_eq!(together.last(), Some(&2.0));
        assert_eq!(choice[..3], apart);
        let item = inst.items().nth(1).unwrap();
        choice[item] += 1;
        let value = model.start(&choice, 0.0).unwrap();
        assert!(obeys(&model, &value));
        assert_eq!(value.last(), Some(&1.0));
        assert_eq!(model.read(&value), choice);
    }

    #[test]
    fn sos1_sets_replace_the_binaries() {
        let (_, inst) = instance(&one_pod(), &[(0, 2, 1.0), (0, 3, 1.0)]);
        let model = basic(&Arc::new(inst), Goal::MaxLoad { least: 0.0 }, true);
        assert!(model.columns.iter().all(|c| !c.integer));
        assert_eq!((model.columns.len(), model.sos1.len()), (9, 2));
        assert!(model.sos1.iter().all(|set| set.len() == 2));
    }

    #[test]
    fn fewest_links_above_a_threshold_counts_them() {
        let (_, inst) = instance(&one_pod(), &[(0, 2, 1.0), (0, 3, 1.0)]);
        let inst = Arc::new(inst);
        let model = basic(&inst, Goal::FewHot { threshold: 1.5, limit: f64::INFINITY }, false);
        // Each of the four links could carry both destinations.
        assert_eq!(model.objectives[0].terms.len(), 4);
        let choice: Vec<u32> = inst.nodes.iter().map(|n| n.first).collect();
        let value = model.start(&choice, 1.5).unwrap();
        assert!(obeys(&model, &value));
        let hot: f64 = model.objectives[0].terms.iter().map(|t| t.1 * value[t.0 as usize]).sum();
        assert_eq!(hot, 2.0, "both destinations over one spine heat one link up and one down");
        // Below the threshold there is nothing to count.
        let model = basic(&inst, Goal::FewHot { threshold: 2.0, limit: f64::INFINITY }, false);
        assert!(model.objectives[0].terms.is_empty());
    }
}
