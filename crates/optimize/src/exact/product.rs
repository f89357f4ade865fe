//! The product-based binary model: binaries x(s, p, d) only, and the way of an item as their product.
//!
//! The item from leaf L to d crosses the third link of a way iff x1 x2 x3 = 1. Products are built up one factor at a
//! time and shared by ways with a common beginning, and each is linearised in the usual manner: `z <= a`, `z <= b`,
//! `z >= a + b - 1`. One column a way and item: only for small fabrics (`TooLarge` otherwise).
//! Source: dissertation, sec. 3.3.3 and 3.3.4 ("Product-based Global Binary").

use std::sync::Arc;

use crate::OptimizeError;
use crate::exact::instance::{Instance, NONE};
use crate::exact::model::{Model, Name, Var};
use crate::exact::objective::{Flow, Goal, minimise};
use crate::exact::{MOST_COLUMNS, check_size};

/// Number of products: ways and beginnings of ways with two choices or more, over all items.
pub fn products(instance: &Instance) -> u64 {
    // By node: products below it, given that a choice was made above; and given none was.
    let mut memo = vec![None; instance.nodes.len()];
    let total = instance.items().map(|item| count(instance, item as u32, false, &mut memo).0);
    total.fold(0, u64::saturating_add)
}

/// Products (after a choice above, after none) of what leaves a node.
fn count(instance: &Instance, node: u32, chosen: bool, memo: &mut [Option<(u64, u64)>]) -> (u64, u64) {
    let pick = |both: (u64, u64)| if chosen { (both.1, both.1) } else { both };
    if let Some(known) = memo[node as usize] {
        return pick(known);
    }
    let hops = instance.of(node as usize);
    let several = hops.len() > 1;
    let (mut without, mut with) = (0u64, 0u64);
    for k in hops {
        with = with.saturating_add(u64::from(several));
        let head = instance.hops[k].head;
        if head != NONE {
            let below = count(instance, head, false, memo);
            with = with.saturating_add(below.1);
            without = without.saturating_add(if several { below.1 } else { below.0 });
        }
    }
    memo[node as usize] = Some((without, with));
    pick((without, with))
}

/// The model.
///
/// # Errors
/// `TooLarge` if it had more than [`MOST_COLUMNS`] columns.
pub fn product(instance: &Arc<Instance>, goal: Goal) -> Result<Model, OptimizeError> {
    check_size(products(instance).saturating_add(instance.hops.len() as u64), MOST_COLUMNS)?;
    let mut model = Model::new(instance, "product");
    let choice = model.choices();
    let mut build = Build {
        inst: Arc::clone(instance),
        choice,
        flows: vec![Flow::default(); instance.links.len()],
        model,
    };
    for item in instance.items() {
        build.extend(item as u32, item as u32, NONE);
    }
    let Build { mut model, flows, .. } = build;
    minimise(&mut model, flows, goal);
    Ok(model)
}

struct Build {
    inst: Arc<Instance>,
    choice: Vec<u32>,
    flows: Vec<Flow>,
    model: Model,
}

impl Build {
    /// All ways of `item` from `node` on; `way` is the column of the way so far ([`NONE`]: it is certain).
    fn extend(&mut self, item: u32, node: u32, way: u32) {
        let units = self.inst.nodes[item as usize].inject;
        for k in self.inst.of(node as usize) {
            let next = match (way, self.choice[k]) {
                (NONE, x) => x,
                (way, NONE) => way,
                (way, x) => self.product(item, way, x, k as u32),
            };
            let flow = &mut self.flows[self.inst.hops[k].link as usize];
            if next == NONE {
                flow.always += units;
            } else {
                // Ways of one item that meet at a link follow each other only on different columns.
                flow.terms.push((next, units));
            }
            let head = self.inst.hops[k].head;
            if head != NONE {
                self.extend(item, head, next);
            }
        }
    }

    fn product(&mut self, item: u32, parent: u32, x: u32, hop: u32) -> u32 {
        let z = self.model.column(Var::Prefix { item, parent, hop }, 0.0, 1.0, false);
        self.model.at_most(Name("zway_#", [z, 0, 0]), 0.0, [(z, 1.0), (parent, -1.0)]);
        self.model.at_most(Name("zx_#", [z, 0, 0]), 0.0, [(z, 1.0), (x, -1.0)]);
        self.model.at_most(Name("zboth_#", [z, 0, 0]), 1.0, [(parent, 1.0), (x, 1.0), (z, -1.0)]);
        z
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exact::cases::{instance, two_pods};
    use crate::exact::model::tests::obeys;

    #[test]
    fn products_are_shared_and_counted() {
        // From pod to pod: 2 spines up, x 2 cores, x 2 spines down; the last hop follows. Products of two: 4, of
        // three: 8.
        let (_, inst) = instance(&two_pods(), &[(0, 4, 3.0)]);
        assert_eq!(products(&inst), 12);
        let inst = Arc::new(inst);
        let model = product(&inst, Goal::MaxLoad { least: 0.0 }).unwrap();
        let z = model.columns.iter().filter(|c| matches!(c.what, Var::Prefix { .. })).count();
        assert_eq!(z, 12);
        let choice: Vec<u32> = inst.nodes.iter().map(|n| n.end - 1).collect();
        let value = model.start(&choice, 0.0).unwrap();
        assert!(obeys(&model, &value));
        assert_eq!(value.last(), Some(&1.5), "three bytes in units of two");
        assert_eq!(model.read(&value), choice);
        let last = model.columns.iter().rposition(|c| matches!(c.what, Var::Prefix { .. })).unwrap();
        assert_eq!(model.column_name(last).matches("_p").count(), 3);
    }

    #[test]
    fn within_a_pod_nothing_is_multiplied() {
        let (_, inst) = instance(&two_pods(), &[(0, 2, 1.0)]);
        assert_eq!(products(&inst), 0);
    }
}
