//! The least estimate that a price allows: the continuous optimum over all sizes of leaf and pod that were counted.
//!
//! It is a lower limit of the estimates of all designs with leaves and pods of these sizes, with any number of spines, cores and cables
//! ([`continuous`](crate::continuous)).

use crate::{Mix, Optimum, UnitPrices};

/// The limit at one price.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Hosts a leaf of the quickest sizes.
    pub hosts_per_leaf: u32,
    /// Leaves a pod; 0 without pods.
    pub leaves_per_pod: u32,
    /// Bandwidth, slowdown, and the price of the whole network.
    pub optimum: Optimum,
}

/// Mixes by shape, each with what units of bandwidth cost.
#[derive(Clone, Debug)]
pub struct Limits {
    shapes: Vec<((u32, u32), Mix, UnitPrices)>,
    hosts: f64,
}

impl Limits {
    /// Of shapes `(hosts a leaf, leaves a pod)`, 0 leaves standing for no pods.
    pub fn new(shapes: Vec<((u32, u32), Mix, UnitPrices)>, hosts: u32) -> Self {
        Self { shapes, hosts: f64::from(hosts.max(1)) }
    }

    /// The limit at the price of a network; `None` if the price is below that of the hosts' cables.
    pub fn at(&self, price: f64) -> Option<Limit> {
        let budget = price / self.hosts;
        // Shapes that could be the quickest first, so that most are not looked at.
        let at_least = |i: usize| (self.shapes[i].1.at_least(&self.shapes[i].2, budget), i);
        let mut order: Vec<(f64, usize)> = (0..self.shapes.len()).map(at_least).collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut best: Option<Limit> = None;
        for (at_least, i) in order {
            if best.is_some_and(|best| best.optimum.slowdown <= at_least) {
                break;
            }
            let ((hosts_per_leaf, leaves_per_pod), mix, unit) = &self.shapes[i];
            let Some(found) = mix.fastest(unit, budget) else { continue };
            if best.is_none_or(|best| found.slowdown < best.optimum.slowdown) {
                let optimum = Optimum { price: found.price * self.hosts, ..found };
                let (hosts_per_leaf, leaves_per_pod) = (*hosts_per_leaf, *leaves_per_pod);
                best = Some(Limit { hosts_per_leaf, leaves_per_pod, optimum });
            }
        }
        best
    }

    /// The limit for a design of this price and slowdown; not above it by rounding.
    pub(crate) fn of(&self, price: f64, slowdown: f64) -> Limit {
        let none = Optimum { bandwidth: [0.0; 2], slowdown, price };
        let mut limit =
            self.at(price).unwrap_or(Limit { hosts_per_leaf: 0, leaves_per_pod: 0, optimum: none });
        // Both are sums of the same terms in another order; the search ends 1e-12 beside the optimum.
        if limit.optimum.slowdown > slowdown && limit.optimum.slowdown <= slowdown * (1.0 + 1e-9) {
            limit.optimum.slowdown = slowdown;
        }
        limit
    }
}
