//! The whole question: which designs for these hosts, what they cost, and how much they slow the applications.
//!
//! Every design of [`search`] is priced and its slowdown computed; those that nothing beats are kept. The designs are
//! searched shape by shape in parallel, and the shapes' fronts joined in order, so the answer does not depend on the
//! number of threads. A design is dropped early if one that is no dearer is no slower than its slowest level alone.

use std::ops::ControlFlow;

use netloom_model::Control;
use rayon::prelude::*;

use crate::application::{Demand, Stretch, demands};
use crate::bundles::Divisors;
use crate::front::{Front, Merit};
use crate::limit::{Limit, Limits};
use crate::search;
use crate::share::Slowdown;
use crate::{Application, Counts, Design, Mix, Order, PlanError, Prices, Sizes};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Hosts of the machine.
    pub hosts: u32,
    /// Ports of a switch.
    pub radix: u32,
    /// Levels of switches to look at: 2, 3 or both.
    pub levels: Vec<u32>,
    /// What things cost.
    pub prices: Prices,
    /// The mix; the weights' sum is positive.
    pub applications: Vec<Application>,
    /// How jobs lie; each counts the same.
    pub orders: Vec<Order>,
    /// Draws of every order that is drawn.
    pub draws: u32,
    /// Seed of the orders.
    pub seed: u64,
    /// Price of a host, if known.
    pub node_price: Option<f64>,
    /// What decides.
    pub goal: Goal,
    /// Designs to count beside, on the front or not.
    pub compare: Vec<Design>,
}

/// What decides among the designs of the front. If neither is given, the node's price decides, if there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goal {
    /// The most that the network may cost: the quickest is chosen.
    pub budget: Option<f64>,
    /// The largest estimate of the slowdown: the cheapest is chosen.
    pub slowdown: Option<f64>,
}

/// A design with all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Planned {
    /// The design.
    pub design: Design,
    /// What it is made of.
    pub counts: Counts,
    /// Ports without a cable, by level.
    pub spare_ports: Vec<u64>,
    /// Price of switches and cables.
    pub price: f64,
    /// Its power, W.
    pub power_w: f64,
    /// Slowdown of the mix.
    pub slowdown: Slowdown,
    /// Of every application in every order.
    pub applications: Vec<OnDesign>,
    /// The slowdown below which it pays more than the cheapest full tree, at the node's price.
    pub pays_below: Option<f64>,
    /// The least estimate for its price, in fractions of cables and switches.
    pub limit: Limit,
}

impl Planned {
    /// How much its estimate is above the limit at its price, %.
    pub fn gap_percent(&self) -> f64 {
        100.0 * (self.slowdown.estimate / self.limit.optimum.slowdown - 1.0)
    }
}

/// An application on a design.
#[derive(Clone, Debug, PartialEq)]
pub struct OnDesign {
    /// Its number.
    pub application: usize,
    /// Its order.
    pub order: Order,
    /// Slowdown of its run: the mean over the draws.
    pub slowdown: Slowdown,
    /// The estimate: least and most over the draws.
    pub range: (f64, f64),
    /// Share of its bytes that leaves a leaf, then a pod: the mean over the draws.
    pub share: Vec<f64>,
    /// Bytes of the busiest group over those of the busiest host: of leaves, then of pods; the mean over the draws.
    pub busiest: Vec<f64>,
}

/// What comes out.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The front, cheapest first.
    pub front: Vec<Planned>,
    /// The cheapest design without taper.
    pub full: Option<Planned>,
    /// The designs to compare with, in their order.
    pub compared: Vec<Planned>,
    /// The front's design that the goal chooses; `None` without a goal, or if none fulfils it.
    pub chosen: Option<usize>,
    /// Designs looked at.
    pub designs: u64,
    /// The limit at prices from the cheapest of the front to the dearest, evenly by their logarithms.
    pub limits: Vec<Limit>,
    /// Share of wire time of every application.
    pub shares: Vec<f64>,
}

/// Prices at which the limit is told.
const TOLD: u32 = 25;

/// Designs between two looks at the control.
const A_LOOK: u64 = 1 << 14;

/// Answers a request.
///
/// # Errors
/// [`PlanError`]: more hosts than fit, ranks that do not fit, too little money, a design to compare with that does not
/// hold the hosts, stopped.
pub fn plan(request: &Request, control: &Control) -> Result<Answer, PlanError> {
    let shapes = search::shapes(request.hosts, request.radix, &request.levels)?;
    for (number, design) in request.compare.iter().enumerate() {
        check(request, number, design)?;
    }
    let compared = request.compare.iter().map(|d| (d.hosts, if d.cores.is_some() { d.leaves } else { 0 }));
    let sizes = Sizes::of(shapes.iter().copied().chain(compared));
    let Request { applications, orders, draws, hosts, seed, .. } = request;
    let demands = demands(applications, orders, *draws, *hosts, *seed, &sizes, control)?;
    let shares = shares(request, &demands)?;
    let weights = weights(request, &demands);
    let judge = Judge { request, sizes: &sizes, demands: &demands, weights, shares: &shares };

    let divisors = Divisors::up_to(request.radix);
    let found = shapes.par_iter().map(|&shape| judge.best_of(shape, &divisors, control));
    let found = found.collect::<Option<Vec<_>>>().ok_or(PlanError::Stopped)?;
    let (mut front, mut full, mut designs) = (Front::default(), None::<(f64, Design)>, 0);
    for of_shape in found {
        of_shape.front.into_members().into_iter().for_each(|(merit, design)| front.offer(merit, design));
        designs += of_shape.designs;
        if let Some((price, design)) = of_shape.full
            && full.is_none_or(|(best, _)| price < best)
        {
            full = Some((price, design));
        }
    }
    if designs == 0 {
        return Err(PlanError::NoDesign { hosts: request.hosts, radix: request.radix });
    }
    let reference = full.map(|(price, _)| price);
    let limits = judge.limits(&shapes);
    let planned = |design: &Design| {
        if control.stopped().is_some() {
            return None;
        }
        Some(judge.planned(*design, reference, &limits))
    };
    let all = |designs: &[Design]| {
        designs.par_iter().map(planned).collect::<Option<Vec<_>>>().ok_or(PlanError::Stopped)
    };
    let front: Vec<Design> = front.into_members().into_iter().map(|(_, design)| design).collect();
    let front = all(&front)?;
    let full: Vec<Design> = full.into_iter().map(|(_, design)| design).collect();
    Ok(Answer {
        chosen: choose(request, &front)?,
        full: all(&full)?.pop(),
        compared: all(&request.compare)?,
        limits: told(&limits, &front),
        front,
        designs,
        shares,
    })
}

/// The limit over the prices of a front, cheapest first.
fn told(limits: &Limits, front: &[Planned]) -> Vec<Limit> {
    let (Some(first), Some(last)) = (front.first(), front.last()) else { return Vec::new() };
    if first.price <= 0.0 || first.price >= last.price {
        return vec![last.limit];
    }
    let ratio = last.price / first.price;
    let price = |step: u32| first.price * ratio.powf(f64::from(step) / f64::from(TOLD - 1));
    let inner = (1..TOLD - 1).into_par_iter().filter_map(|step| limits.at(price(step)));
    let mut told: Vec<Limit> = inner.collect();
    told.insert(0, first.limit);
    told.push(last.limit);
    told
}

fn check(request: &Request, number: usize, design: &Design) -> Result<(), PlanError> {
    let counts = design.counts();
    let (hosts, radix) = (request.hosts, request.radix);
    let ports = counts.ports.iter().copied().max().unwrap_or(0);
    let spec = design.spec();
    let what = if counts.host_ports < u64::from(hosts) {
        format!("{spec} has ports for {} hosts: expected at least {hosts}", counts.host_ports)
    } else if ports > u64::from(radix) {
        format!("{spec} has switches with {ports} cables: expected at most {radix}")
    } else {
        return Ok(());
    };
    Err(PlanError::Compared { number, what })
}

/// The share of wire time of every application.
fn shares(request: &Request, demands: &[Demand]) -> Result<Vec<f64>, PlanError> {
    let one = |(number, application): (usize, &Application)| {
        let demand = demands.iter().find(|demand| demand.application == number);
        let wire_s = demand.map_or(0.0, |demand| demand.wire_s(request.prices.speed_gbps));
        let short = |wire_s| PlanError::ShortRun {
            application: number,
            wire_s,
            speed_gbps: request.prices.speed_gbps,
        };
        application.share.of(wire_s).map_err(short)
    };
    request.applications.iter().enumerate().map(one).collect()
}

/// The weight of every demand; their sum is 1.
fn weights(request: &Request, demands: &[Demand]) -> Vec<f64> {
    let all: f64 = request.applications.iter().map(|a| a.weight).sum();
    let one = |demand: &Demand| {
        let of_order = f64::from(demand.order.draws(request.draws)) * request.orders.len() as f64;
        request.applications[demand.application].weight / all / of_order
    };
    demands.iter().map(one).collect()
}

/// The front's design that the goal chooses.
fn choose(request: &Request, front: &[Planned]) -> Result<Option<usize>, PlanError> {
    let slowdown = |p: &Planned| p.slowdown.estimate;
    if let Some(budget) = request.goal.budget {
        let cheapest = front.first().map_or(0.0, |p| p.price);
        if budget < cheapest {
            return Err(PlanError::Budget { budget, cheapest });
        }
        return Ok(front.iter().rposition(|p| p.price <= budget));
    }
    if let Some(most) = request.goal.slowdown {
        return Ok(front.iter().position(|p| slowdown(p) <= most));
    }
    // Work a unit of money: hosts / (slowdown * (nodes + network)).
    let cost = |node: f64, p: &Planned| slowdown(p) * (node * f64::from(request.hosts) + p.price);
    let best =
        |node: f64| (0..front.len()).min_by(|&a, &b| cost(node, &front[a]).total_cmp(&cost(node, &front[b])));
    Ok(request.node_price.and_then(best))
}

/// What the designs of one shape come to.
struct OfShape {
    front: Front<Design>,
    full: Option<(f64, Design)>,
    designs: u64,
}

/// Prices and slows down designs.
struct Judge<'a> {
    request: &'a Request,
    sizes: &'a Sizes,
    demands: &'a [Demand],
    /// Of every demand.
    weights: Vec<f64>,
    /// Of wire time, of every application.
    shares: &'a [f64],
}

impl Judge<'_> {
    fn best_of(&self, shape: (u32, u32), divisors: &Divisors, control: &Control) -> Option<OfShape> {
        let mut best = OfShape { front: Front::default(), full: None, designs: 0 };
        // Slowdown of one level alone, by its cables up: no design with that level is quicker.
        let mut alone: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let mut stopped = false;
        let _ = search::designs(shape, self.request.hosts, self.request.radix, divisors, &mut |design| {
            best.designs += 1;
            if best.designs.is_multiple_of(A_LOOK) && control.stopped().is_some() {
                stopped = true;
                return ControlFlow::Break(());
            }
            let (price, _) = self.request.prices.of(&design, self.request.hosts);
            if design.is_full() && best.full.is_none_or(|(least, _)| price < least) {
                best.full = Some((price, design));
            }
            let mut at_least = 0.0f64;
            for (level, up) in design.ups().into_iter().flatten().enumerate() {
                let known = &mut alone[level];
                if known.len() <= up as usize {
                    known.resize(up as usize + 1, f64::NAN);
                }
                if known[up as usize].is_nan() {
                    known[up as usize] = self.slowdown_of(&design, Some(level));
                }
                at_least = at_least.max(known[up as usize]);
            }
            if !best.front.beats(Merit { price, slowdown: at_least }) {
                let slowdown = self.slowdown_of(&design, None);
                best.front.offer(Merit { price, slowdown }, design);
            }
            ControlFlow::Continue(())
        });
        (!stopped).then_some(best)
    }

    /// Where the shape of a design is among the sizes.
    fn place(&self, design: &Design) -> (usize, Option<usize>) {
        let leaves = if design.cores.is_some() { design.leaves } else { 0 };
        self.sizes.find(design.hosts, leaves).expect("all shapes were counted")
    }

    /// The estimate of the mix, by one level only or by all.
    fn slowdown_of(&self, design: &Design, only: Option<usize>) -> f64 {
        let at = self.place(design);
        let [leaf_up, pod_up] = design.ups().map(|up| up.unwrap_or(0) as f64);
        let shown = |level: usize| only.is_none_or(|only| only == level);
        let mut more = 0.0;
        for (demand, weight) in self.demands.iter().zip(&self.weights) {
            let (leaf, pod) = demand.of(at);
            let leaf = shown(0).then_some((leaf, leaf_up));
            let pod = pod.filter(|_| shown(1)).map(|pod| (pod, pod_up));
            more += weight * self.shares[demand.application] * (demand.busiest(leaf, pod) - 1.0);
        }
        1.0 + more
    }

    /// Slowdown of a run whose bytes take so many times as long.
    fn of_run(&self, demand: &Demand, stretch: Stretch) -> Slowdown {
        let share = self.shares[demand.application];
        let estimate = |times: f64| 1.0 + share * (times - 1.0);
        Slowdown {
            bound: (share * stretch.busiest).max(1.0),
            estimate: estimate(stretch.busiest),
            mean: estimate(stretch.mean),
        }
    }

    /// The continuous optimum over all shapes that were counted, those of designs to compare with too.
    fn limits(&self, shapes: &[(u32, u32)]) -> Limits {
        let request = self.request;
        let compared =
            request.compare.iter().map(|d| (d.hosts, if d.cores.is_some() { d.leaves } else { 0 }));
        let mut all: Vec<(u32, u32)> = shapes.iter().copied().chain(compared).collect();
        all.sort_unstable();
        all.dedup();
        let mix = |&shape: &(u32, u32)| (shape, self.mix(shape));
        let mixes = all.par_iter().map(mix).collect();
        Limits::new(mixes, request.prices.units(request.radix), request.hosts)
    }

    /// The mix on leaves and pods of one size.
    fn mix(&self, (hosts, leaves): (u32, u32)) -> Mix {
        let at = self.sizes.find(hosts, leaves).expect("all shapes were counted");
        let (of_leaf, of_pod) = (f64::from(hosts), f64::from(hosts) * f64::from(leaves));
        let mut mix = Mix::new();
        for (demand, weight) in self.demands.iter().zip(&self.weights) {
            let (leaf, pod) = demand.of(at);
            let share = weight * self.shares[demand.application];
            let phase = |(number, &busiest): (usize, &f64)| {
                [busiest, leaf.busiest[number] / of_leaf, pod.map_or(0.0, |pod| pod.busiest[number] / of_pod)]
            };
            mix.add(share, demand.hosts.iter().enumerate().map(phase));
        }
        mix
    }

    fn planned(&self, design: Design, full: Option<f64>, limits: &Limits) -> Planned {
        let request = self.request;
        let counts = design.counts();
        let (price, power_w) = request.prices.of(&design, request.hosts);
        let at = self.place(&design);
        let [leaf_up, pod_up] = design.ups().map(|up| up.unwrap_or(0) as f64);
        let mut slowdown = Slowdown::NONE;
        let mut applications: Vec<OnDesign> = Vec::new();
        for (demand, weight) in self.demands.iter().zip(&self.weights) {
            let (leaf, pod) = demand.of(at);
            let levels: Vec<_> = std::iter::once(leaf).chain(pod).collect();
            let stretch = demand.stretch((leaf, leaf_up), pod.map(|pod| (pod, pod_up)));
            let of_run = self.of_run(demand, stretch);
            slowdown.add(*weight, &of_run);
            let same = |o: &&mut OnDesign| o.application == demand.application && o.order == demand.order;
            let on = match applications.last_mut().filter(same) {
                Some(on) => on,
                None => {
                    applications.push(OnDesign {
                        application: demand.application,
                        order: demand.order,
                        slowdown: Slowdown::NONE,
                        range: (f64::INFINITY, 0.0),
                        share: vec![0.0; levels.len()],
                        busiest: vec![0.0; levels.len()],
                    });
                    applications.last_mut().expect("just pushed")
                }
            };
            let draws = f64::from(demand.order.draws(request.draws));
            on.slowdown.add(1.0 / draws, &of_run);
            on.range = (on.range.0.min(of_run.estimate), on.range.1.max(of_run.estimate));
            let hosts: f64 = demand.hosts.iter().sum();
            for (level, group) in levels.iter().enumerate() {
                on.share[level] += group.share / draws;
                if hosts > 0.0 {
                    on.busiest[level] += group.busiest.iter().sum::<f64>() / hosts / draws;
                }
            }
        }
        let hosts = f64::from(request.hosts);
        let pays_below =
            request.node_price.zip(full).map(|(node, full)| (node + full / hosts) / (node + price / hosts));
        let spare_ports = counts.spare_ports(request.radix);
        let limit = limits.of(price, slowdown.estimate);
        Planned { design, spare_ports, counts, price, power_w, slowdown, applications, pays_below, limit }
    }
}
