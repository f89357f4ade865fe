//! The door for several addresses a host (LMC): tables for all of them, and which one every pair uses.
//!
//! With `2^lmc` addresses a host what a leaf sends to it need not move whole: every pair (source host,
//! destination host) chooses an address, and every address has an in-tree of its own. Searched in stages, each with an
//! equal share of the work: stage 0 is tables for one address, stage *k* begins with the result of stage *k* - 1, every
//! address led twice. So LMC *m* with *m* + 1 shares is never worse than LMC *m* - 1 with *m*. A stage takes turns:
//!
//! 1. deal what uses an address to it and its copy evenly, and search tables for the pieces;
//! 2. with these tables, move pairs to cheaper addresses; with that choice, search tables again; and so on.
//!
//! The best routing so far is kept throughout. A pair stays whole: where a host has one partner, LMC buys nothing.
//! Bounds on whole items hold for stage 0 only; the adaptive-routing bound and bounds on whole pairs hold for all.

mod split;

use netloom_bounds::{ar_bound, tighten, tighten_pairs};
use netloom_model::rng::stream;
use netloom_model::{
    Control, Csr, Dest, Fabric, Improvement, Lft, MAX_LMC, PairPaths, PathChoice, Routes, SwitchId, Table,
};
use netloom_routing::{LinkLoads, PathSet, loads};
use netloom_topology::Structure;

use crate::OptimizeError;
use crate::lmc::split::Pairs;
use crate::optimize::{Optimized, in_pool};
use crate::options::OptimizeOptions;
use crate::search::budget::TOLERANCE;
use crate::search::outcome::{Because, Outcome, Stop};
use crate::search::state::items::items;
use crate::search::state::objective::Objective;
use crate::search::target::switch_target;
use crate::solve::{Setting, check_reachable, host_loads, solve};

/// Pairs up to which bounds on whole pairs are looked for.
const MOST_PAIRS: usize = 2_000_000;
/// Turns of a stage at most.
const TURNS: u64 = 64;

/// The best routes with `2^lmc` addresses a host and a path by pair that the work budget finds.
///
/// `background` gives the first routing and the entries that carry no traffic, repeated over the addresses if
/// it has fewer. [`OptimizeOptions::change`] is not looked at; a given bound must hold for paths by pair.
///
/// # Errors
/// [`OptimizeError`] if `lmc` is above 7, shapes disagree, `background` is not destination-based, or traffic has no path.
#[expect(clippy::too_many_arguments, reason = "the door's arguments, and the LMC")]
pub fn optimize_lmc(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    lmc: u8,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<Optimized, OptimizeError> {
    if lmc > MAX_LMC {
        return Err(OptimizeError::Routing(netloom_routing::RoutingError::Lmc(lmc)));
    }
    let options = &OptimizeOptions { change: None, ..options.clone() };
    in_pool(options.threads, || run(fabric, structure, paths, traffic, lmc, background, options, control))
}

#[expect(clippy::too_many_arguments, reason = "as the door")]
fn run(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    lmc: u8,
    background: &Routes,
    options: &OptimizeOptions,
    control: &Control,
) -> Result<Optimized, OptimizeError> {
    let lft = crate::afar::check_shapes(fabric, traffic, background)?;
    let first = on_base(fabric, readdressed(fabric, lft, background.lmc, 0), 0);
    let whole = items(fabric, traffic, &first);
    check_reachable(fabric, paths, traffic, &whole)?;
    let (bound, ar) = match &options.bound {
        Some(bound) => (bound.clone(), None),
        None => {
            let ar = ar_bound(fabric, structure, paths, traffic, control, None)
                .map_err(|e| OptimizeError::Bound(e.to_string()))?;
            (ar.certificate.clone(), Some(ar))
        }
    };
    let small = traffic.entry_count() <= MOST_PAIRS;
    let bound = if small { tighten_pairs(fabric, structure, paths, traffic, bound) } else { bound };
    let host_max = host_loads(fabric, traffic).into_iter().fold(0.0, f64::max);
    let by_hosts = bound.claim <= host_max * (1.0 + TOLERANCE);
    let goal = if by_hosts { switch_target(fabric, structure, &whole) } else { bound.claim };
    let most: u64 = if by_hosts { 1_000_000 } else { 8_000_000 };
    let limit = options.work.unwrap_or(most + 20 * whole.len() as u64);

    // One address has a bound of its own: at it, nothing is left to do but to part.
    let alone = tighten(fabric, structure, paths, traffic, bound.clone());
    let first_goal = if alone.claim > host_max * (1.0 + TOLERANCE) { alone.claim } else { goal };
    let mut turns =
        Turns { fabric, structure, paths, traffic, options, control, goal: first_goal, work: 0, best: None };
    // Whole pairs that are bound to as much as whole items leave nothing for more addresses to do.
    let idle = bound.claim >= alone.claim * (1.0 - TOLERANCE) && !by_hosts;
    let share = if idle { limit } else { limit / (u64::from(lmc) + 1) };
    turns.search(&first, share)?;
    turns.goal = goal;
    let given =
        (lmc > 0 && !background.one_address()).then(|| admissible(fabric, structure, paths, background, lft));
    for stage in 1..=lmc {
        if let Some(given) = given.as_ref().filter(|g| g.lmc == stage) {
            turns.offer_delivering(given)?;
        }
        if turns.best().routes.lmc < stage {
            turns.restart(copied(fabric, &turns.best().routes, stage))?;
        }
        let end = limit / (u64::from(lmc) + 1) * (u64::from(stage) + 1);
        if turns.goes_on(end) {
            turns.part(stage, end)?;
        }
    }
    let bound = if lmc == 0 { alone } else { bound };
    let goal = if lmc == 0 { first_goal } else { goal };
    let (work, history, best) = (turns.work, turns.best().history.clone(), turns.best.take());
    let Best { mut routes, .. } = best.expect("there is a routing");
    let unused = readdressed(fabric, lft, background.lmc, lmc);
    give_back(fabric, structure, paths, traffic, &mut routes, &unused);
    let loads = loads(fabric, &routes, traffic)?;
    let switch_max_load = loads.max_between_switches(fabric);
    // Where today's tables do not deliver, anything is better.
    let before = netloom_routing::loads(fabric, background, traffic).map_or(f64::INFINITY, |l| l.max());
    let reached = switch_max_load <= goal * (1.0 + TOLERANCE);
    let outcome = Outcome {
        proven_optimal: loads.max() <= bound.claim * (1.0 + TOLERANCE),
        stop: control.stopped().map(Stop::from).or(Some(if reached { Stop::Target } else { Stop::Work })),
        work,
        history,
        changed_entries: None,
        changed_because: Because::of(routes != *background, before, loads.max()),
        routes,
    };
    Ok(Optimized { outcome, bound, ar, switch_max_load, loads, switch_bound: goal })
}

/// The best routing so far.
struct Best {
    routes: Routes,
    loads: LinkLoads,
    /// Largest load between switches, and the links that carry it.
    value: (f64, usize),
    history: Vec<Improvement>,
}

/// The search in turns.
struct Turns<'a> {
    fabric: &'a Fabric,
    structure: &'a Structure,
    paths: &'a PathSet,
    traffic: &'a Csr,
    options: &'a OptimizeOptions<'a>,
    control: &'a Control,
    goal: f64,
    work: u64,
    best: Option<Best>,
}

impl Turns<'_> {
    fn best(&self) -> &Best {
        self.best.as_ref().expect("the first search leaves a routing")
    }

    fn goes_on(&self, limit: u64) -> bool {
        let enough = self.best().value.0 <= self.goal * (1.0 + TOLERANCE);
        !enough && self.work < limit && self.control.stopped().is_none()
    }

    /// Searches tables for the addresses that `from` chooses, starting from its tables.
    fn search(&mut self, from: &Routes, work: u64) -> Result<Routes, OptimizeError> {
        let Self { fabric, structure, paths, traffic, control, .. } = *self;
        // Turns are short; what counts is the maximum and the links at it.
        let options = &OptimizeOptions { work: Some(work), depth: 0, ..self.options.clone() };
        let setting = Setting { fabric, structure, paths, background: from, options, control };
        let items = items(fabric, traffic, from);
        let lft = from.lft().expect("destination-based");
        let found = solve(setting, lft, &items, Objective::single(self.goal), work)?.outcome;
        let Outcome { routes, work, .. } = found;
        self.work += work;
        self.offer(routes.clone())?;
        Ok(routes)
    }

    /// Keeps `routes` if they are the best so far; returns their loads.
    fn offer(&mut self, routes: Routes) -> Result<(), OptimizeError> {
        let loads = loads(self.fabric, &routes, self.traffic)?;
        let max = loads.max_between_switches(self.fabric);
        let at_max = |l: &netloom_model::LinkId| loads.load[l.index()] >= max * (1.0 - TOLERANCE);
        let between = self.fabric.links().filter(|&l| self.fabric.between_switches(l));
        let value = (max, if max > 0.0 { between.filter(at_max).count() } else { 0 });
        let better = self.best.as_ref().is_none_or(|b| {
            max < b.value.0 * (1.0 - TOLERANCE)
                || (max <= b.value.0 * (1.0 + TOLERANCE) && value.1 < b.value.1)
        });
        if better {
            let mut history = self.best.take().map_or_else(Vec::new, |b| b.history);
            history.push(Improvement {
                work: self.work,
                max_load: max,
                links_at_max: value.1,
                changed_entries: 0,
            });
            self.best = Some(Best { routes, loads, value, history });
        }
        Ok(())
    }

    /// Offers routes from elsewhere, if they deliver.
    fn offer_delivering(&mut self, routes: &Routes) -> Result<(), OptimizeError> {
        match loads(self.fabric, routes, self.traffic) {
            Ok(_) => self.offer(routes.clone()),
            Err(_) => Ok(()),
        }
    }

    /// The same routing, with more addresses.
    fn restart(&mut self, routes: Routes) -> Result<(), OptimizeError> {
        let best = self.best.as_mut().expect("the first search leaves a routing");
        best.loads = loads(self.fabric, &routes, self.traffic)?;
        best.routes = routes;
        Ok(())
    }

    /// A stage, from the best routing: what uses an address in parts, until so much work is spent in all.
    fn part(&mut self, lmc: u8, limit: u64) -> Result<(), OptimizeError> {
        let fabric = self.fabric;
        let copies = self.best().routes.clone();
        let mut pairs = Pairs::of(fabric, self.traffic, lmc);
        pairs.choose(fabric, &copies);
        pairs.halve();
        let mut from = chosen(&copies, pairs.table());
        let own = limit.saturating_sub(self.work);
        for turn in 0..TURNS {
            // Later turns are many and short, but long enough to move every pair a few times.
            let later = (own / 48).max(4 * pairs.len() as u64).min(own / 4);
            let share = if turn == 0 { own / 3 } else { later };
            let share = share.min(limit.saturating_sub(self.work)).max(1);
            self.search(&from, share)?;
            if !self.goes_on(limit) {
                return Ok(());
            }
            let random = &mut stream(self.options.seed, 5000 + 1000 * u64::from(lmc) + turn);
            let (best, goal) = (self.best(), self.goal);
            let before = best.value;
            let routes = best.routes.clone();
            self.work += pairs.reassign(fabric, &routes, &best.loads.load, goal, random)?;
            from = chosen(&routes, pairs.table());
            self.offer(from.clone())?;
            if self.best().value == before {
                // Stuck: deal anew.
                if turn % 2 == 0 {
                    pairs.scatter(random)
                } else {
                    pairs.deal(Some(random))
                }
                from = chosen(&copies, pairs.table());
            }
        }
        Ok(())
    }
}

/// `routes` with their choice of addresses, but admissible tables.
fn admissible(fabric: &Fabric, structure: &Structure, paths: &PathSet, routes: &Routes, lft: &Lft) -> Routes {
    let tables = crate::tables::admissible_lft(fabric, structure, paths, lft, routes.lmc);
    chosen(&Routes::by_dest(fabric, routes.lmc, tables), PairPaths::clone(&routes.pair_paths(fabric)))
}

/// The same routing with more addresses: every pair keeps its own, the new ones are led like those there were.
fn copied(fabric: &Fabric, routes: &Routes, lmc: u8) -> Routes {
    let lft = routes.lft().expect("destination-based");
    let tables = Routes::by_dest(fabric, lmc, readdressed(fabric, lft, routes.lmc, lmc));
    let old = routes.pair_paths(fabric);
    let kept: Vec<_> = old.iter().collect();
    chosen(&tables, PairPaths::new(fabric.host_count(), lmc, &kept).expect("paths of fewer addresses"))
}

fn chosen(tables: &Routes, paths: PairPaths) -> Routes {
    Routes { path: PathChoice::PerPair(paths.into()), ..tables.clone() }
}

/// Routes that use base addresses only.
fn on_base(fabric: &Fabric, lft: Lft, lmc: u8) -> Routes {
    chosen(&Routes::by_dest(fabric, lmc, lft), PairPaths::base(fabric.host_count(), lmc))
}

/// The tables for another LMC: address `p` of a host is led as its address `p mod 2^from` was.
fn readdressed(fabric: &Fabric, lft: &Lft, from: u8, to: u8) -> Lft {
    if from == to {
        return lft.clone();
    }
    let (old, new) = (fabric.dests(from), fabric.dests(to));
    let mut out = Lft::empty(fabric.switch_count(), new.count(), fabric.max_radix());
    for s in fabric.switches() {
        let row = lft.row(s);
        for dest in new.iter() {
            let like = match new.resolve(dest) {
                Dest::Host(h, path) => old.host(h, path & ((1 << from) - 1)),
                Dest::Switch(s) => old.switch(s),
            };
            let port = row.port(like);
            out.set(s, dest, (port != netloom_model::NO_PORT).then_some(port));
        }
    }
    out
}

/// Sets the entries that no traffic uses back to those of `unused`, where these are admissible.
fn give_back(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    routes: &mut Routes,
    unused: &Lft,
) {
    let items = items(fabric, traffic, routes);
    let mut out = crate::tables::admissible_lft(fabric, structure, paths, unused, routes.lmc);
    let found = routes.lft().expect("destination-based");
    for item in 0..items.len() {
        let group = items.group[item] as usize;
        let (address, target) = (items.address[group], items.target[group]);
        let mut at = SwitchId(items.leaf[item]);
        while at.0 != target {
            let port = found.port(at, address);
            out.set(at, address, Some(port));
            let link = fabric.link_at(at, port).expect("searched tables deliver");
            at = fabric.link_to_switch(link).expect("a way to another leaf");
        }
    }
    crate::tables::management::mend(fabric, structure, &mut out, routes.lmc);
    routes.table = Table::ByDest(out);
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::HostId;

    #[test]
    fn addresses_repeat_those_there_were() {
        let fabric = netloom_topology::generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
        let mut two = Lft::empty(4, fabric.dests(1).count(), fabric.max_radix());
        let (s, at) = (SwitchId(0), |lmc: u8, h, p| fabric.dests(lmc).host(HostId(h), p));
        two.set(s, at(1, 3, 0), Some(1));
        two.set(s, at(1, 3, 1), Some(2));
        let four = readdressed(&fabric, &two, 1, 2);
        let ports: Vec<_> = (0..4).map(|p| four.get(s, at(2, 3, p))).collect();
        assert_eq!(ports, [Some(1), Some(2), Some(1), Some(2)]);
        assert_eq!(readdressed(&fabric, &two, 1, 0).get(s, at(0, 3, 0)), Some(1));
    }
}
