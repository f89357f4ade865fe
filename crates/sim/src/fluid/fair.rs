//! Max-min fair rates, mended where flows come and go.
//!
//! A flow uses a share of each of its resources: it takes `share x rate` of the capacity. Rates are max-min fair if every flow has a
//! *bottleneck*: a full resource on which no flow has a greater rate. There is one such assignment (Bertsekas and Gallager, *Data
//! Networks*, sec. 6.5.2), and progressive filling finds it: all rates rise together, and a flow stops where a resource is full.
//!
//! When flows start or end, only those that they touch are filled anew, over what the others leave; then the others' bottlenecks are
//! looked at, and whoever has lost its own joins, until nobody has. All flows have a bottleneck then, so the rates are those of filling
//! everything anew. Most changes stay small.
//!
//! Invariant: between two calls of [`Fair::settle`] without a change, every flow has a bottleneck, up to rounding.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Relative difference below which two rates are the same.
const SAME: f64 = 1e-9;
const NONE: u32 = u32::MAX;

/// A flow's use of a resource.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Use {
    pub resource: u32,
    /// Part of the flow that goes through it, above 0.
    pub share: f64,
}

#[derive(Debug, Default)]
struct Flow {
    route: Vec<Use>,
    /// Where it stands in the lists of its resources' flows.
    place: Vec<u32>,
    rate: f64,
    bottleneck: u32,
    /// The rate being worked out; negative: not known yet.
    next: f64,
    /// It takes part in the filling.
    inside: bool,
}

/// A resource during a filling.
#[derive(Clone, Copy, Debug, Default)]
struct Fill {
    /// The filling that this is of.
    round: u32,
    /// Flows that still rise, their shares, the capacity left for them.
    open: u32,
    shares: f64,
    left: f64,
    /// The rate at which it became full; infinite: it did not.
    level: f64,
}

/// Flows and their rates.
#[derive(Debug)]
pub(crate) struct Fair {
    capacity: Vec<f64>,
    /// The flows of each resource, with the use's position in their routes.
    flows_on: Vec<Vec<(u32, u32)>>,
    flows: Vec<Flow>,
    free: Vec<u32>,
    started: Vec<u32>,
    /// Resources that a flow has left.
    left: Vec<u32>,
    fill: Vec<Fill>,
    round: u32,
    touched: Vec<u32>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    set: Vec<u32>,
}

impl Fair {
    /// No flows over resources of these capacities, all above 0.
    pub fn new(capacity: Vec<f64>) -> Self {
        let n = capacity.len();
        Self {
            capacity,
            flows_on: vec![Vec::new(); n],
            flows: Vec::new(),
            free: Vec::new(),
            started: Vec::new(),
            left: Vec::new(),
            fill: vec![Fill::default(); n],
            round: 0,
            touched: Vec::new(),
            heap: BinaryHeap::new(),
            set: Vec::new(),
        }
    }

    /// Adds a flow over each of these resources once; its rate is 0 until rates are settled.
    pub fn add(&mut self, route: &[Use]) -> u32 {
        let id = self.free.pop().unwrap_or(self.flows.len() as u32);
        if id as usize == self.flows.len() {
            self.flows.push(Flow::default());
        }
        let flow = &mut self.flows[id as usize];
        (flow.rate, flow.bottleneck, flow.inside) = (0.0, NONE, true);
        flow.route.extend_from_slice(route);
        for (at, used) in route.iter().enumerate() {
            let on = &mut self.flows_on[used.resource as usize];
            flow.place.push(on.len() as u32);
            on.push((id, at as u32));
        }
        self.started.push(id);
        id
    }

    /// Takes a flow out.
    pub fn remove(&mut self, id: u32) {
        let mut route = std::mem::take(&mut self.flows[id as usize].route);
        let mut place = std::mem::take(&mut self.flows[id as usize].place);
        for (used, &at) in route.iter().zip(&place) {
            let on = &mut self.flows_on[used.resource as usize];
            on.swap_remove(at as usize);
            if let Some(&(moved, k)) = on.get(at as usize) {
                self.flows[moved as usize].place[k as usize] = at;
            }
            self.left.push(used.resource);
        }
        route.clear();
        place.clear();
        let flow = &mut self.flows[id as usize];
        if flow.inside {
            self.started.retain(|&f| f != id);
        }
        (flow.route, flow.place, flow.inside) = (route, place, false);
        self.free.push(id);
    }

    /// A flow's rate, in units of capacity, as of the last settling.
    pub fn rate(&self, id: u32) -> f64 {
        self.flows[id as usize].rate
    }

    /// What a flow uses.
    pub fn route(&self, id: u32) -> &[Use] {
        &self.flows[id as usize].route
    }

    /// The flows on a resource, each with this use's position in its route.
    pub fn on(&self, resource: u32) -> &[(u32, u32)] {
        &self.flows_on[resource as usize]
    }

    /// The resource that keeps a flow from going faster.
    pub fn bottleneck(&self, id: u32) -> u32 {
        self.flows[id as usize].bottleneck
    }

    /// Makes the rates fair again; `changed` gets the flows whose rates are others than before.
    pub fn settle(&mut self, changed: &mut Vec<u32>) {
        let mut set = std::mem::take(&mut self.set);
        std::mem::swap(&mut set, &mut self.started);
        for &id in &set {
            self.left.extend(self.flows[id as usize].route.iter().map(|used| used.resource));
        }
        let mut left = std::mem::take(&mut self.left);
        left.sort_unstable();
        left.dedup();
        for &resource in &left {
            for &(f, _) in &self.flows_on[resource as usize] {
                let flow = &mut self.flows[f as usize];
                if flow.bottleneck == resource && !flow.inside {
                    flow.inside = true;
                    set.push(f);
                }
            }
        }
        left.clear();
        self.left = left;
        loop {
            self.fill(&set);
            let before = set.len();
            self.widen(&mut set);
            if set.len() == before {
                break;
            }
        }
        for &id in &set {
            let flow = &mut self.flows[id as usize];
            flow.inside = false;
            if (flow.next - flow.rate).abs() > SAME * flow.next.max(flow.rate) {
                flow.rate = flow.next;
                changed.push(id);
            }
        }
        set.clear();
        self.set = set;
    }

    /// Progressive filling of the flows in `set` over what the others leave.
    fn fill(&mut self, set: &[u32]) {
        self.round += 1;
        self.touched.clear();
        for &id in set {
            self.flows[id as usize].next = -1.0;
            for used in &self.flows[id as usize].route {
                let fill = &mut self.fill[used.resource as usize];
                if fill.round != self.round {
                    let left = self.capacity[used.resource as usize];
                    *fill = Fill { round: self.round, open: 0, shares: 0.0, left, level: f64::INFINITY };
                    self.touched.push(used.resource);
                }
                fill.open += 1;
                fill.shares += used.share;
            }
        }
        self.heap.clear();
        for &resource in &self.touched {
            let fill = &mut self.fill[resource as usize];
            let on = &self.flows_on[resource as usize];
            if on.len() > fill.open as usize {
                for &(f, at) in on {
                    let flow = &self.flows[f as usize];
                    if !flow.inside {
                        fill.left -= flow.route[at as usize].share * flow.rate;
                    }
                }
            }
            self.heap.push(Reverse((key(fill.left, fill.shares), resource)));
        }
        while let Some(Reverse((level, resource))) = self.heap.pop() {
            let fill = &mut self.fill[resource as usize];
            if fill.open == 0 {
                continue;
            }
            // Levels only rise while others stop.
            let now = key(fill.left, fill.shares);
            if now > level {
                self.heap.push(Reverse((now, resource)));
                continue;
            }
            let level = f64::from_bits(level);
            fill.level = level;
            for &(f, _) in &self.flows_on[resource as usize] {
                let flow = &mut self.flows[f as usize];
                if flow.inside && flow.next < 0.0 {
                    (flow.next, flow.bottleneck) = (level, resource);
                    for used in &flow.route {
                        let fill = &mut self.fill[used.resource as usize];
                        fill.open -= 1;
                        fill.left -= used.share * level;
                        fill.shares -= used.share;
                    }
                }
            }
        }
    }

    /// Adds to `set` whoever has no bottleneck any more, or takes one from a flow in it.
    fn widen(&mut self, set: &mut Vec<u32>) {
        for &resource in &self.touched {
            let on = &self.flows_on[resource as usize];
            let (mut used, mut top, mut others) = (0.0, 0.0f64, false);
            for &(f, at) in on {
                let flow = &self.flows[f as usize];
                // Those that have only just joined have no rate of this filling.
                let filled = flow.inside && flow.next >= 0.0;
                let rate = if filled { flow.next } else { flow.rate };
                used += flow.route[at as usize].share * rate;
                if filled {
                    top = top.max(rate);
                }
                others |= !flow.inside;
            }
            if !others {
                continue;
            }
            let full = used >= self.capacity[resource as usize] * (1.0 - SAME);
            let level = self.fill[resource as usize].level;
            for &(f, _) in on {
                let flow = &mut self.flows[f as usize];
                if flow.inside {
                    continue;
                }
                let takes = flow.rate > level * (1.0 + SAME);
                let lost = flow.bottleneck == resource && (!full || top > flow.rate * (1.0 + SAME));
                if takes || lost {
                    (flow.inside, flow.next) = (true, -1.0);
                    set.push(f);
                }
            }
        }
    }
}

/// The level at which a resource is full, as a number whose order is the level's.
fn key(left: f64, shares: f64) -> u64 {
    (left.max(0.0) / shares).to_bits()
}

#[cfg(test)]
mod tests {
    use netloom_model::rng::{Stream, below, stream};

    use super::*;

    fn over(resources: &[u32]) -> Vec<Use> {
        resources.iter().map(|&resource| Use { resource, share: 1.0 }).collect()
    }

    fn rates(fair: &mut Fair, flows: &[u32]) -> Vec<f64> {
        fair.settle(&mut Vec::new());
        flows.iter().map(|&f| (fair.rate(f) * 1e6).round() / 1e6).collect()
    }

    #[test]
    fn two_flows_share_a_link_and_the_one_left_gets_it_all() {
        let mut fair = Fair::new(vec![10.0]);
        let flows = [0, 0].map(|l| fair.add(&over(&[l])));
        assert_eq!(rates(&mut fair, &flows), [5.0, 5.0]);
        fair.remove(flows[0]);
        assert_eq!(rates(&mut fair, &flows[1..]), [10.0]);
    }

    /// Bertsekas and Gallager, fig. 6.13 with capacities of 1: what the tight link leaves goes to who can use it.
    #[test]
    fn three_links() {
        let mut fair = Fair::new(vec![1.0, 1.0, 2.0]);
        // A over links 0 and 1, B and C over 1, D over 0 and 2.
        let flows = [vec![0, 1], vec![1], vec![1], vec![0, 2]].map(|r| fair.add(&over(&r)));
        assert_eq!(rates(&mut fair, &flows), [0.333_333, 0.333_333, 0.333_333, 0.666_667]);
    }

    /// A long flow over `n` links in a row, each with a flow of its own: all get half.
    #[test]
    fn parking_lot() {
        let mut fair = Fair::new(vec![1.0; 5]);
        let mut flows = vec![fair.add(&over(&[0, 1, 2, 3, 4]))];
        flows.extend((0..5).map(|l| fair.add(&over(&[l]))));
        assert_eq!(rates(&mut fair, &flows), [0.5; 6]);
        // A second flow on the last link: the long flow is slowed there, the others gain.
        flows.push(fair.add(&over(&[4])));
        let third = 0.333_333;
        assert_eq!(
            rates(&mut fair, &flows),
            [third, 0.666_667, 0.666_667, 0.666_667, 0.666_667, third, third]
        );
    }

    #[test]
    fn a_share_of_a_flow_takes_a_share_of_the_link() {
        let mut fair = Fair::new(vec![1.0, 10.0]);
        // Both flows end at link 1; the first goes over link 0 with a quarter of its bytes.
        let spread = fair.add(&[Use { resource: 0, share: 0.25 }, Use { resource: 1, share: 1.0 }]);
        let straight = fair.add(&over(&[1]));
        assert_eq!(rates(&mut fair, &[spread, straight]), [4.0, 6.0]);
    }

    /// By definition: raise the rates of all that can still rise by the least room that any link gives them.
    fn brute_force(capacity: &[f64], routes: &[Vec<Use>]) -> Vec<f64> {
        let mut rate = vec![0.0; routes.len()];
        let mut rises = vec![true; routes.len()];
        while rises.contains(&true) {
            let used = |link: u32, of: &dyn Fn(usize) -> f64| -> f64 {
                let on = |f: usize| routes[f].iter().filter(move |u| u.resource == link);
                (0..routes.len()).flat_map(|f| on(f).map(move |u| (f, u.share))).map(|(f, s)| s * of(f)).sum()
            };
            let room = |link: usize| {
                let shares = used(link as u32, &|f| f64::from(u8::from(rises[f])));
                let left = capacity[link] - used(link as u32, &|f| rate[f]);
                if shares > 1e-12 { left / shares } else { f64::INFINITY }
            };
            let rooms: Vec<f64> = (0..capacity.len()).map(room).collect();
            let step = rooms.iter().copied().fold(f64::INFINITY, f64::min).max(0.0);
            for f in 0..routes.len() {
                if rises[f] {
                    rate[f] += step;
                    rises[f] =
                        routes[f].iter().all(|u| rooms[u.resource as usize] > step * (1.0 + 1e-9) + 1e-9);
                }
            }
        }
        rate
    }

    fn random_route(random: &mut Stream, links: u64) -> Vec<Use> {
        let mut route: Vec<Use> = Vec::new();
        for _ in 0..1 + below(random, 5) {
            let resource = below(random, links) as u32;
            if route.iter().all(|u| u.resource != resource) {
                route.push(Use { resource, share: [1.0, 1.0, 0.5, 0.25][below(random, 4) as usize] });
            }
        }
        route
    }

    /// Flows come and go a few at a time; after each change the mended rates are those of filling everything from nothing.
    #[test]
    fn mended_rates_are_those_of_brute_force() {
        for seed in 0..40 {
            let mut random = stream(seed, 0);
            let links = 3 + below(&mut random, 30);
            let capacity: Vec<f64> = (0..links).map(|_| 1.0 + below(&mut random, 4) as f64).collect();
            let mut fair = Fair::new(capacity.clone());
            let mut flows: Vec<(u32, Vec<Use>)> = Vec::new();
            for _ in 0..30 {
                for _ in 0..1 + below(&mut random, 3) {
                    if flows.len() > 3 && below(&mut random, 2) == 0 {
                        let at = below(&mut random, flows.len() as u64) as usize;
                        fair.remove(flows.swap_remove(at).0);
                    } else {
                        let route = random_route(&mut random, links);
                        flows.push((fair.add(&route), route));
                    }
                }
                fair.settle(&mut Vec::new());
                let routes: Vec<Vec<Use>> = flows.iter().map(|(_, route)| route.clone()).collect();
                for ((id, _), expected) in flows.iter().zip(brute_force(&capacity, &routes)) {
                    let rate = fair.rate(*id);
                    assert!((rate - expected).abs() < 1e-6, "seed {seed}: {rate} for {expected}");
                }
            }
        }
    }
}
