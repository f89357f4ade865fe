//! The product-less binary model: one unit of flow an item, which only chosen entries let through.
//!
//! y(L, s, p, d) says that what leaf L sends to d crosses the link behind port p of s. The y of one item are a flow of
//! one from L to d's leaf, and y <= x(s, p, d) makes all items of one destination agree. Nothing is multiplied, and
//! y comes out 0 or 1 by itself once x does, so it need not be declared binary. The relaxation is much tighter than
//! that of the basic model (no big constants), and the model larger by the number of source leaves a destination.
//! Source: dissertation, sec. 3.3.4 ("Product-less Global Binary").

use std::sync::Arc;

use crate::OptimizeError;
use crate::exact::instance::{Instance, NONE};
use crate::exact::model::{Model, Name, Var};
use crate::exact::objective::{Flow, Goal, minimise};
use crate::exact::{MOST_COLUMNS, check_size};

/// Number of y: for every item the hops that it may take after its first.
pub fn tracks(instance: &Instance) -> u64 {
    let mut seen = vec![NONE; instance.nodes.len()];
    let count = |item| {
        let reached = reached(instance, item, &mut seen);
        reached[1..].iter().map(|&n| instance.of(n as usize).len() as u64).sum::<u64>()
    };
    instance.items().map(count).sum()
}

/// The nodes that an item may reach, itself first.
fn reached(instance: &Instance, item: usize, seen: &mut [u32]) -> Vec<u32> {
    let mut nodes = vec![item as u32];
    seen[item] = item as u32;
    let mut done = 0;
    while let Some(&node) = nodes.get(done) {
        done += 1;
        for head in instance.of(node as usize).map(|k| instance.hops[k].head).filter(|&h| h != NONE) {
            if seen[head as usize] != item as u32 {
                seen[head as usize] = item as u32;
                nodes.push(head);
            }
        }
    }
    nodes
}

/// The model.
///
/// # Errors
/// `TooLarge` if it had more than [`MOST_COLUMNS`] columns.
pub fn productless(instance: &Arc<Instance>, goal: Goal) -> Result<Model, OptimizeError> {
    check_size(tracks(instance).saturating_add(instance.hops.len() as u64), MOST_COLUMNS)?;
    let inst = instance;
    let mut model = Model::new(inst, "productless");
    let choice = model.choices();
    let mut flows = vec![Flow::default(); inst.links.len()];
    let mut seen = vec![NONE; inst.nodes.len()];
    // Column of a hop and rank of a node for the item in hand.
    let (mut column, mut rank) = (vec![NONE; inst.hops.len()], vec![0; inst.nodes.len()]);
    for item in inst.items() {
        let units = inst.nodes[item].inject;
        let nodes = reached(inst, item, &mut seen);
        let host = inst.targets[inst.nodes[item].dest as usize].host.0;
        let from = inst.nodes[item].switch;
        for &n in &nodes {
            for k in inst.of(n as usize) {
                // The item's own switch: its x says it all.
                let own = n as usize == item && choice[k] != NONE;
                column[k] = if own {
                    choice[k]
                } else {
                    model.column(Var::Item(item as u32, k as u32), 0.0, 1.0, false)
                };
                flows[inst.hops[k].link as usize].terms.push((column[k], units));
                if !own && choice[k] != NONE {
                    let link = &inst.links[inst.hops[k].link as usize];
                    // Ports are unique at a switch, and so is the link number.
                    let name = Name("y_from#_h#_by#", [from, host, inst.hops[k].link]);
                    debug_assert_eq!(link.from, inst.nodes[n as usize].switch);
                    model.at_most(name, 0.0, [(column[k], 1.0), (choice[k], -1.0)]);
                }
            }
        }
        let mut net: Vec<Vec<(u32, f64)>> = vec![Vec::new(); nodes.len()];
        (0..).zip(&nodes).for_each(|(at, &n)| rank[n as usize] = at);
        for (at, &n) in nodes.iter().enumerate() {
            for k in inst.of(n as usize) {
                net[at].push((column[k], 1.0));
                let head = inst.hops[k].head;
                if head != NONE {
                    net[rank[head as usize]].push((column[k], -1.0));
                }
            }
        }
        for (&n, terms) in nodes.iter().zip(net) {
            // Where the item enters by choice, "one" has been said.
            if n as usize == item && inst.of(item).len() > 1 {
                continue;
            }
            let name = Name("y_from#_h#_at#", [from, host, inst.nodes[n as usize].switch]);
            model.equal(name, if n as usize == item { 1.0 } else { 0.0 }, terms);
        }
    }
    minimise(&mut model, flows, goal);
    Ok(model)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::cases::{instance, two_pods};
    use crate::exact::model::tests::obeys;

    #[test]
    fn every_item_is_tracked_and_agrees_with_the_tables() {
        // Two leaves of one pod send to one host of the other pod: after the first hop 2 x 2 up, 2 x 2 down and 2
        // last hops, for each.
        let (_, inst) = instance(&two_pods(), &[(0, 4, 3.0), (2, 4, 1.0)]);
        assert_eq!(tracks(&inst), 2 * (4 + 4 + 2));
        let inst = Arc::new(inst);
        let model = productless(&inst, Goal::MaxLoad { least: 0.0 }).unwrap();
        let choice: Vec<u32> = inst.nodes.iter().map(|n| n.first).collect();
        let value = model.start(&choice, 0.0).unwrap();
        assert!(obeys(&model, &value));
        // Both meet at the first spine at the latest: 4 bytes in units of 2.
        assert_eq!(value.last(), Some(&2.0));
        assert_eq!(model.read(&value), choice);
        // A y that no x lets through breaks a row.
        let mut wrong = value.clone();
        let at = model.columns.iter().position(|c| matches!(c.what, Var::Item(..))).unwrap();
        wrong[at] = 1.0 - wrong[at];
        assert!(!obeys(&model, &wrong));
    }
}
