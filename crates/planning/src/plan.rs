//! The whole question: which designs for these hosts, what they cost, and how much they slow the applications.
//!
//! Every design of [`search`] is priced and its slowdown computed; those that nothing beats are kept. The designs are
//! searched shape by shape in parallel, and the shapes' fronts joined in order, so the answer does not depend on the
//! number of threads. A design is dropped early if one that is no dearer is no slower than its slowest level alone.

use std::ops::ControlFlow;

use netloom_model::Control;
use rayon::prelude::*;

use crate::application::{Demand, Stretch, demands};
use crate::bundles::{Bundles, Divisors};
use crate::front::{Front, Merit};
use crate::limit::{Limit, Limits};
use crate::search;
use crate::share::Slowdown;
use crate::{Application, Counts, Design, Mix, Offer, Order, PlanError, Sizes};

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// Hosts of the machine.
    pub hosts: u32,
    /// Switches with their prices; all of a design's are alike. At least one, all with cables of one speed.
    pub offers: Vec<Offer>,
    /// Levels of switches to look at: 2, 3 or both. One switch is looked at wherever it does.
    pub levels: Vec<u32>,
    /// How cables are spread over the spines of two levels.
    pub bundles: Bundles,
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
    /// Ports of its switches.
    pub radix: u32,
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
    /// T by the busiest switch, of every draw.
    pub stretches: Vec<f64>,
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
    /// The designs to compare with that the goal prefers to that one: outside what is looked at.
    pub better: Vec<usize>,
    /// Designs looked at.
    pub designs: u64,
    /// The limit at prices from the cheapest of the front to the dearest, evenly by their logarithms.
    pub limits: Vec<Limit>,
    /// Share of wire time of every application.
    pub shares: Vec<f64>,
}

/// Prices at which the limit is told.
const LIMIT_PRICES: u32 = 25;

/// Designs between two looks at the control.
const DESIGNS_PER_CHECK: u64 = 1 << 14;

/// Answers a request.
///
/// # Errors
/// [`PlanError`]: more hosts than fit, ranks that do not fit, too little money, a design to compare with that does not
/// hold the hosts, stopped.
pub fn plan(request: &Request, control: &Control) -> Result<Answer, PlanError> {
    let Request { applications, orders, draws, hosts, seed, .. } = request;
    let shapes = shapes(request)?;
    let compared = compared(request)?;
    let all = shapes.iter().copied().chain(compared.iter().map(|&(design, offer)| (offer, shape(&design))));
    let all: Vec<(usize, Shape)> = all.collect();
    let sizes = Sizes::of(all.iter().map(|&(_, shape)| shape));
    let demands = demands(applications, orders, *draws, *hosts, *seed, &sizes, control)?;
    let shares = shares(request, &demands)?;
    let weights = weights(request, &demands);
    let judge = Judge { request, sizes: &sizes, demands: &demands, weights, shares: &shares };

    let largest = request.offers.iter().map(|offer| offer.radix).max().unwrap_or(0);
    let divisors = Divisors::up_to(largest);
    let found = shapes.par_iter().map(|&(offer, shape)| judge.best_of(offer, shape, &divisors, control));
    let found = found.collect::<Option<Vec<_>>>().ok_or(PlanError::Stopped)?;
    let (mut front, mut full, mut designs) = (Front::default(), None::<(f64, Offered)>, 0);
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
        return Err(PlanError::NoDesign { hosts: request.hosts, radix: largest });
    }
    let reference = full.map(|(price, _)| price);
    let limits = judge.limits(&all);
    let planned = |&(design, offer): &Offered| {
        if control.stopped().is_some() {
            return None;
        }
        Some(judge.planned(design, offer, reference, &limits))
    };
    let all = |designs: &[Offered]| {
        designs.par_iter().map(planned).collect::<Option<Vec<_>>>().ok_or(PlanError::Stopped)
    };
    let front: Vec<Offered> = front.into_members().into_iter().map(|(_, design)| design).collect();
    let front = all(&front)?;
    let full: Vec<Offered> = full.into_iter().map(|(_, design)| design).collect();
    let compared = all(&compared)?;
    let chosen = choose(request, &front)?;
    let is_better = |&number: &usize| prefers(request, &compared[number], chosen.map(|i| &front[i]));
    Ok(Answer {
        chosen,
        better: (0..compared.len()).filter(is_better).collect(),
        full: all(&full)?.pop(),
        compared,
        limits: told(&limits, &front),
        front,
        designs,
        shares,
    })
}

/// A design, and the number of the offer that its switches are of.
type Offered = (Design, usize);

/// Hosts a leaf and leaves a pod, 0 without pods.
type Shape = (u32, u32);

/// Those of a design.
fn shape(design: &Design) -> Shape {
    (design.hosts, if design.cores.is_some() { design.leaves } else { 0 })
}

/// The shapes of all offers that hold the hosts, each with the number of its offer.
fn shapes(request: &Request) -> Result<Vec<(usize, Shape)>, PlanError> {
    let mut found = Vec::new();
    let mut refused = None;
    for (number, offer) in request.offers.iter().enumerate() {
        match search::shapes(request.hosts, offer.radix, &request.levels) {
            Ok(shapes) => found.extend(shapes.into_iter().map(|shape| (number, shape))),
            Err(error) if refused.as_ref().is_none_or(|&(radix, _)| radix < offer.radix) => {
                refused = Some((offer.radix, error));
            }
            Err(_) => {}
        }
    }
    match refused {
        Some((_, error)) if found.is_empty() => Err(error),
        _ => Ok(found),
    }
}

/// The designs to compare with, of the cheapest switches that have the ports.
fn compared(request: &Request) -> Result<Vec<Offered>, PlanError> {
    let one = |(number, design): (usize, &Design)| {
        let counts = design.counts();
        let ports = counts.ports.iter().copied().max().unwrap_or(0);
        let fits = |offer: &Offer| ports <= u64::from(offer.radix);
        let price = |at: &usize| request.offers[*at].prices.of(design, request.hosts).0;
        let offers = (0..request.offers.len()).filter(|&at| fits(&request.offers[at]));
        let cheapest = offers.min_by(|a, b| price(a).total_cmp(&price(b)));
        let (hosts, spec) = (request.hosts, design.spec());
        let what = if counts.host_ports < u64::from(hosts) {
            format!("{spec} has ports for {} hosts: expected at least {hosts}", counts.host_ports)
        } else if let Some(offer) = cheapest {
            return Ok((*design, offer));
        } else {
            let radix = request.offers.iter().map(|offer| offer.radix).max().unwrap_or(0);
            format!("{spec} has switches with {ports} cables: expected at most {radix}")
        };
        Err(PlanError::Compared { number, what })
    };
    request.compare.iter().enumerate().map(one).collect()
}

/// The limit over the prices of a front, cheapest first.
fn told(limits: &Limits, front: &[Planned]) -> Vec<Limit> {
    let (Some(first), Some(last)) = (front.first(), front.last()) else { return Vec::new() };
    if first.price <= 0.0 || first.price >= last.price {
        return vec![last.limit];
    }
    let ratio = last.price / first.price;
    let price = |step: u32| first.price * ratio.powf(f64::from(step) / f64::from(LIMIT_PRICES - 1));
    let inner = (1..LIMIT_PRICES - 1).into_par_iter().filter_map(|step| limits.at(price(step)));
    let mut told: Vec<Limit> = inner.collect();
    told.insert(0, first.limit);
    told.push(last.limit);
    told
}

/// The share of wire time of every application.
fn shares(request: &Request, demands: &[Demand]) -> Result<Vec<f64>, PlanError> {
    let speed_gbps = request.offers[0].prices.speed_gbps;
    let one = |(number, application): (usize, &Application)| {
        let demand = demands.iter().find(|demand| demand.application == number);
        let wire_s = demand.map_or(0.0, |demand| demand.wire_s(speed_gbps));
        let short = |wire_s| PlanError::ShortRun { application: number, wire_s, speed_gbps };
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
    let best = |node: f64| {
        let cost = |&at: &usize| cost(request, node, &front[at]);
        (0..front.len()).min_by(|a, b| cost(a).total_cmp(&cost(b)))
    };
    Ok(request.node_price.and_then(best))
}

/// What a unit of work costs: slowdown * (nodes + network).
fn cost(request: &Request, node: f64, planned: &Planned) -> f64 {
    planned.slowdown.estimate * (node * f64::from(request.hosts) + planned.price)
}

/// By how much a number must be less to be less.
const STRICTLY_LESS: f64 = 1.0 - 1e-9;

/// Whether the goal takes one design rather than the other, or rather than none.
fn prefers(request: &Request, one: &Planned, other: Option<&Planned>) -> bool {
    let (price, estimate) = (one.price, one.slowdown.estimate);
    let goal = &request.goal;
    if goal.budget.is_some_and(|budget| price > budget) || goal.slowdown.is_some_and(|most| estimate > most) {
        return false;
    }
    let Some(other) = other else { return goal.budget.is_some() || goal.slowdown.is_some() };
    let cheaper = price < other.price * STRICTLY_LESS;
    let quicker = estimate < other.slowdown.estimate * STRICTLY_LESS;
    if goal.budget.is_some() {
        quicker || cheaper && estimate <= other.slowdown.estimate
    } else if goal.slowdown.is_some() {
        cheaper
    } else {
        request
            .node_price
            .is_some_and(|node| cost(request, node, one) < cost(request, node, other) * STRICTLY_LESS)
    }
}

/// What the designs of one shape come to.
struct OfShape {
    front: Front<Offered>,
    full: Option<(f64, Offered)>,
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
    fn best_of(&self, offer: usize, shape: Shape, divisors: &Divisors, control: &Control) -> Option<OfShape> {
        let Offer { radix, prices } = &self.request.offers[offer];
        let mut best = OfShape { front: Front::default(), full: None, designs: 0 };
        // Slowdown of one level alone, by its cables up: no design with that level is quicker.
        let mut alone: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
        let mut stopped = false;
        let _ = search::designs(
            shape,
            self.request.hosts,
            *radix,
            self.request.bundles,
            divisors,
            &mut |design| {
                best.designs += 1;
                if best.designs.is_multiple_of(DESIGNS_PER_CHECK) && control.stopped().is_some() {
                    stopped = true;
                    return ControlFlow::Break(());
                }
                let (price, _) = prices.of(&design, self.request.hosts);
                if design.is_full() && best.full.is_none_or(|(least, _)| price < least) {
                    best.full = Some((price, (design, offer)));
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
                    best.front.offer(Merit { price, slowdown }, (design, offer));
                }
                ControlFlow::Continue(())
            },
        );
        (!stopped).then_some(best)
    }

    /// Where the shape of a design is among the sizes.
    fn place(&self, design: &Design) -> (usize, Option<usize>) {
        let (hosts, leaves) = shape(design);
        self.sizes.find(hosts, leaves).expect("all shapes were counted")
    }

    /// The estimate of the mix, by one level only or by all.
    fn slowdown_of(&self, design: &Design, only: Option<usize>) -> f64 {
        let at = self.place(design);
        let [leaf_up, pod_up] = design.ups().map(|up| up.map(|up| up as f64));
        let shown = |level: usize| only.is_none_or(|only| only == level);
        let mut more = 0.0;
        for (demand, weight) in self.demands.iter().zip(&self.weights) {
            let (leaf, pod) = demand.of(at);
            let leaf = leaf_up.filter(|_| shown(0)).map(|up| (leaf, up));
            let pod = pod.zip(pod_up).filter(|_| shown(1));
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

    /// The continuous optimum over all shapes that were counted, each with its offer.
    fn limits(&self, shapes: &[(usize, Shape)]) -> Limits {
        let mut all = shapes.to_vec();
        all.sort_unstable();
        all.dedup();
        let mix =
            |&(offer, shape): &(usize, Shape)| (shape, self.mix(shape), self.request.offers[offer].units());
        Limits::new(all.par_iter().map(mix).collect(), self.request.hosts)
    }

    /// The mix on leaves and pods of one size.
    fn mix(&self, (hosts, leaves): Shape) -> Mix {
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

    fn planned(&self, design: Design, offer: usize, full: Option<f64>, limits: &Limits) -> Planned {
        let request = self.request;
        let Offer { radix, prices } = &request.offers[offer];
        let counts = design.counts();
        let (price, power_w) = prices.of(&design, request.hosts);
        let at = self.place(&design);
        let [leaf_up, pod_up] = design.ups().map(|up| up.map(|up| up as f64));
        let mut slowdown = Slowdown::NONE;
        let mut applications: Vec<OnDesign> = Vec::new();
        for (demand, weight) in self.demands.iter().zip(&self.weights) {
            let (leaf, pod) = demand.of(at);
            let levels: Vec<_> = std::iter::once(leaf).chain(pod).collect();
            let stretch = demand.stretch(leaf_up.map(|up| (leaf, up)), pod.zip(pod_up));
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
                        stretches: Vec::new(),
                        share: vec![0.0; levels.len()],
                        busiest: vec![0.0; levels.len()],
                    });
                    applications.last_mut().expect("just pushed")
                }
            };
            let draws = f64::from(demand.order.draws(request.draws));
            on.slowdown.add(1.0 / draws, &of_run);
            on.stretches.push(stretch.busiest);
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
        let spare_ports = counts.spare_ports(*radix);
        let limit = limits.of(price, slowdown.estimate);
        Planned {
            design,
            radix: *radix,
            spare_ports,
            counts,
            price,
            power_w,
            slowdown,
            applications,
            pays_below,
            limit,
        }
    }
}
