//! The continuous optimum: how a price is best divided among the levels, if cables and switches came in fractions.
//!
//! Hosts have bandwidth 1. A unit of bandwidth up a leaf costs a cable and its two ports, one up a pod the same. For a
//! mix of applications the slowdown is a sum of terms max(hosts, leaves / mu_2, pods / mu_3), convex in mu, so the best
//! division of a budget is found by golden section. No design whose leaves and pods have these sizes is quicker at the
//! price: each pays at least a unit's price for all that its busiest leaf and pod have. For one application without
//! phases this is theorem 3.3 of Chen, Denzel, Luijten with prices: mu_i = v_i B / sum c v.

use crate::{Offer, Prices};

/// What a unit of bandwidth costs, a host: at the hosts, up the leaves, up the pods.
pub type UnitPrices = [f64; 3];

/// A mix of applications on leaves and pods of one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mix {
    /// Slowdown by what does not depend on bandwidth.
    constant: f64,
    /// Time at bandwidth 1 of the hosts, the leaves and the pods, for every phase that leaves a leaf; in units of the
    /// mix's time without taper.
    phases: Vec<[f64; 3]>,
    /// The bandwidth above which a level slows nothing.
    enough: [f64; 2],
}

/// A division of a budget.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// Bandwidth up the leaves and up the pods, that of the hosts being 1.
    pub bandwidth: [f64; 2],
    /// Slowdown of the mix.
    pub slowdown: f64,
    /// Price a host.
    pub price: f64,
}

/// Steps of a golden section: the last interval is 1e-12 of the first.
const STEPS: u32 = 58;

impl Mix {
    /// No application yet: slowdown 1.
    pub fn new() -> Self {
        Self { constant: 1.0, ..Self::default() }
    }

    /// Adds an application that communicates for the share `share` of the mix's time (its weight times its
    /// communication). `phases` is the time at bandwidth 1 of its hosts, leaves and pods, in any unit.
    pub fn add(&mut self, share: f64, phases: impl Iterator<Item = [f64; 3]> + Clone) {
        let all: f64 = phases.clone().map(|[hosts, ..]| hosts).sum();
        if all <= 0.0 || share <= 0.0 {
            return;
        }
        for levels in phases {
            let [hosts, leaves, pods] = levels.map(|time| share * time / all);
            if hosts > 0.0 && (leaves > 0.0 || pods > 0.0) {
                self.constant -= hosts;
                self.phases.push([hosts, leaves, pods]);
                self.enough = [self.enough[0].max(leaves / hosts), self.enough[1].max(pods / hosts)];
            }
        }
    }

    /// Slowdown with so much bandwidth up the leaves and the pods.
    pub fn slowdown(&self, bandwidth: [f64; 2]) -> f64 {
        if bandwidth[0] >= self.enough[0] && bandwidth[1] >= self.enough[1] {
            return 1.0;
        }
        let [leaf, pod] = bandwidth.map(|mu| if mu > 0.0 { 1.0 / mu } else { f64::INFINITY });
        // Without demand a level without bandwidth slows nothing: 0 times infinity would.
        let time = |demand: f64, a_byte: f64| if demand > 0.0 { demand * a_byte } else { 0.0 };
        let phase = |&[hosts, leaves, pods]: &[f64; 3]| hosts.max(time(leaves, leaf)).max(time(pods, pod));
        (self.constant + self.phases.iter().map(phase).sum::<f64>()).max(1.0)
    }

    /// The least slowdown for a budget a host; `None` if it does not pay for the hosts' own level, or for nothing of a
    /// level that is needed.
    pub fn fastest(&self, unit: &UnitPrices, budget: f64) -> Option<Optimum> {
        let [hosts, leaf, pod] = *unit;
        let rest = budget - hosts;
        let needed = leaf * self.enough[0] + pod * self.enough[1];
        if rest >= needed {
            return Some(Optimum { bandwidth: self.enough, slowdown: 1.0, price: hosts + needed });
        }
        if rest <= 0.0 {
            return None;
        }
        let at = |leaves: f64| [leaves / leaf, (rest - leaves) / pod];
        let spent = match (self.enough[0] > 0.0 && leaf > 0.0, self.enough[1] > 0.0 && pod > 0.0) {
            (true, true) => golden(0.0, rest, |leaves| self.slowdown(at(leaves))),
            (true, false) => rest,
            (false, _) => 0.0,
        };
        let bandwidth = std::array::from_fn(|level| match self.enough[level] {
            0.0 => 0.0,
            // What is free is not what is short.
            enough if [leaf, pod][level] <= 0.0 => enough,
            _ => at(spent)[level],
        });
        let slowdown = self.slowdown(bandwidth);
        slowdown.is_finite().then_some(Optimum { bandwidth, slowdown, price: budget })
    }

    /// The least price a host for a slowdown of at most `slowdown`; `None` below 1.
    pub fn cheapest(&self, unit: &UnitPrices, slowdown: f64) -> Option<Optimum> {
        let (mut low, mut high) = (unit[0], unit[0] + unit[1] * self.enough[0] + unit[2] * self.enough[1]);
        let mut best = self.fastest(unit, high).filter(|found| found.slowdown <= slowdown)?;
        for _ in 0..64 {
            let middle = low + (high - low) / 2.0;
            match self.fastest(unit, middle).filter(|found| found.slowdown <= slowdown) {
                Some(found) => (best, high) = (found, middle),
                None => low = middle,
            }
        }
        Some(best)
    }

    /// A slowdown below which none is possible for a budget a host: that of each upper level if it had all of the money.
    pub fn at_least(&self, unit: &UnitPrices, budget: f64) -> f64 {
        let rest = (budget - unit[0]).max(0.0);
        let alone = |level: usize| {
            let mut bandwidth = self.enough;
            bandwidth[level] = if unit[level + 1] > 0.0 { rest / unit[level + 1] } else { f64::INFINITY };
            self.slowdown(bandwidth)
        };
        alone(0).max(alone(1))
    }
}

/// Where a convex function is least between `low` and `high`.
fn golden(mut low: f64, mut high: f64, value: impl Fn(f64) -> f64) -> f64 {
    let part = (5f64.sqrt() - 1.0) / 2.0;
    let inside = |low: f64, high: f64| (high - part * (high - low), low + part * (high - low));
    let (mut left, mut right) = inside(low, high);
    let (mut at_left, mut at_right) = (value(left), value(right));
    for _ in 0..STEPS {
        if at_left <= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = inside(low, high).0;
            at_left = value(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = inside(low, high).1;
            at_right = value(right);
        }
    }
    if at_left <= at_right { left } else { right }
}

impl Offer {
    /// The least that a unit of bandwidth costs: all ports in use, no port to spare.
    pub fn units(&self) -> UnitPrices {
        self.prices.units(self.radix)
    }
}

impl Prices {
    /// The least that a unit of bandwidth costs in switches with `radix` ports: all ports in use, no port to spare.
    pub fn units(&self, radix: u32) -> UnitPrices {
        let port = self.switch / f64::from(radix);
        let cable = |level: usize| self.cables.get(level).map_or(0.0, |cable| cable.price);
        [port + cable(0), 2.0 * port + cable(1), 2.0 * port + cable(2)]
    }
}
