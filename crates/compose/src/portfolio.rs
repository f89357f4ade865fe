//! The portfolio: tables that anybody can have, against which what a search found is held.
//!
//! A search ranges over one class of ways. Another class may carry the same traffic with less: minimal ways of a
//! dragonfly, on two lanes, beside up*/down* ones; tables that are in force. Whoever asks for the best tables wants
//! none that are worse than these. So every engine that is sound on the fabric is asked, and today's tables if there
//! are any, and the least load is taken.
//!
//! Invariant: what leaves is at most every entrant that was looked at. Where the search has proven that nothing in its
//! class is better, and every engine's ways are of that class (a tree whose levels lose nothing), few are asked: they
//! only tell by how much the result is better.

use netloom_model::{Control, Csr, Fabric, Routes, Table};
use netloom_optimize::{AfarOptions, Change, afar, coloured, repaired};
use netloom_routing::{Engine, EngineOptions, LinkLoads, PathSet, route};
use netloom_topology::Structure;
use netloom_verify::{CheckReport, check};

use crate::ComposeError;
use crate::gate::{Passed, deadly, pass, pass_mended};
use crate::on_lanes::LANES;

/// Loads that differ by less than this part are the same.
const TOLERANCE: f64 = 1e-9;
/// Entries of tables that are looked at within a few hundredths of a second: also when the time is up.
const AT_ONCE: usize = 2_000_000;

/// How good routes are: what is minimised, the largest load between switches, links that carry the largest load.
/// What has only one number leaves the others 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure(pub [f64; 3]);

impl Measure {
    /// Of loads.
    pub fn of(fabric: &Fabric, loads: &LinkLoads) -> Self {
        Self([loads.max(), loads.max_between_switches(fabric), loads.links_at_max() as f64])
    }

    /// What is minimised.
    pub fn value(self) -> f64 {
        self.0[0]
    }

    /// Whether these are better than others by the first number that differs.
    fn better_than(self, other: Self) -> bool {
        let pairs = self.0.into_iter().zip(other.0);
        let mut differ = pairs.filter(|(mine, theirs)| (mine - theirs).abs() > TOLERANCE * mine.max(*theirs));
        differ.next().is_some_and(|(mine, theirs)| mine < theirs)
    }

    /// Whether what is minimised is less.
    pub fn less_than(self, other: f64) -> bool {
        self.value() < other - TOLERANCE * other.abs()
    }
}

/// What a search came to.
pub struct Found<'a> {
    /// Its routes.
    pub routes: &'a Routes,
    /// How good they are.
    pub measure: Measure,
    /// Nothing in the search's class is better.
    pub proven: bool,
}

/// What it is held against.
pub struct Portfolio<'a> {
    /// The fabric.
    pub fabric: &'a Fabric,
    /// Its structure.
    pub structure: &'a Structure,
    /// The search's ways.
    pub paths: &'a PathSet,
    /// What the search began with.
    pub began: &'a Routes,
    /// The engine that made them.
    pub engine: Option<Engine>,
    /// Routes that may stay as they are.
    pub today: Option<&'a Routes>,
    /// How far from these the result may be.
    pub change: Option<Change<'a>>,
    /// The traffic, where methods that need it are asked too.
    pub matrix: Option<&'a Csr>,
    /// Whether some shortest ways are not among the search's.
    pub others: bool,
    /// Lanes that routes may need at most. With 1, routes on [`LANES`] are told of.
    pub max_lanes: usize,
    /// Whether those whose lanes need service levels of pairs may.
    pub levels: bool,
    /// Seed of random choices.
    pub seed: u64,
}

/// Who has the least.
#[derive(Clone, Debug)]
pub struct Best {
    /// The best sound engine and its value.
    pub engine: Option<(&'static str, f64)>,
    /// The best engine whose routes need lanes and were not taken for that, and its value.
    pub with_lanes: Option<(&'static str, f64)>,
    /// Whose routes are taken instead of the search's: `today`, or an engine.
    pub taken: Option<(&'static str, Passed)>,
}

impl Portfolio<'_> {
    /// The best of all; `measure` says how good routes are, none for those that lose traffic.
    ///
    /// # Errors
    /// [`ComposeError`] if today's routes are of another shape.
    pub fn best(
        &self,
        found: &Found,
        measure: &dyn Fn(&Routes) -> Option<Measure>,
        control: &Control,
    ) -> Result<Best, ComposeError> {
        let mut best: Option<(&'static str, f64, Passed)> = None;
        let mut with_lanes: Option<(&'static str, f64)> = None;
        let mut look = |name: &'static str, made: Made| {
            let routes = match &made {
                Made::Routes(routes) => routes,
                Made::Passed(passed) => &passed.routes,
            };
            let Some(value) = measure(routes).map(Measure::value) else { return };
            if best.as_ref().is_some_and(|(_, least, _)| value >= least * (1.0 - TOLERANCE)) {
                return;
            }
            let passed = match made {
                Made::Passed(passed) => passed,
                Made::Routes(routes) => match pass(self.fabric, self.structure, routes) {
                    Ok(passed) if passed.report.holes() == 0 => passed,
                    _ => return,
                },
            };
            let lanes = passed.routes.lanes.as_deref();
            let by_pair = lanes.is_some_and(|lanes| lanes.levels().is_some());
            let needed = lanes.map_or(1, |lanes| usize::from(lanes.lanes()));
            let told = if self.max_lanes > 1 { self.max_lanes } else { LANES };
            if needed > told {
                return;
            }
            if needed > self.max_lanes || by_pair && !self.levels {
                if with_lanes.is_none_or(|(_, least)| value < least) {
                    with_lanes = Some((name, value));
                }
                return;
            }
            best = Some((name, value, passed));
        };
        // Today's routes are looked at below.
        if self.today.is_none() && self.has_time(found, control) {
            look(self.engine.map_or("background", Engine::name), Made::Routes(self.began.clone()));
        }
        for engine in self.asked(found, control) {
            // Those that the search began with are known.
            if Some(engine) == self.engine {
                continue;
            }
            let options = EngineOptions { seed: self.seed, lmc: found.routes.lmc };
            if let Ok(routes) = route(engine, self.fabric, self.structure, &options) {
                look(engine.name(), Made::Routes(routes));
            }
        }
        if let Some(matrix) = self.matrix.filter(|_| !found.proven && control.stopped().is_none()) {
            for (name, routes) in self.for_traffic(matrix, control) {
                let mended = pass_mended(self.fabric, self.structure, self.paths, routes);
                if let Some(passed) = mended.ok().filter(|passed| passed.report.holes() == 0) {
                    look(name, Made::Passed(passed));
                }
            }
        }
        let engine = best.as_ref().map(|(name, value, _)| (*name, *value));
        let mut taken = best.filter(|(_, value, passed)| self.is_worth(found, *value, &passed.routes));
        if let Some((today, passed)) = self.today(measure)? {
            // Where nothing may change, what is safe stays whatever else there is.
            let still = self.change.is_some_and(|change| change.most == Some(0));
            let least = taken.as_ref().map(|&(_, value, _)| Measure([value, 0.0, 0.0]));
            let beaten =
                found.measure.better_than(today) || least.is_some_and(|least| least.less_than(today.value()));
            if still || !beaten {
                taken = Some(("today", today.value(), passed));
            }
        }
        Ok(Best { engine, with_lanes, taken: taken.map(|(name, _, passed)| (name, passed)) })
    }

    /// Whether there is time to look at tables.
    fn has_time(&self, found: &Found, control: &Control) -> bool {
        let entries = (self.fabric.switch_count() * self.fabric.host_count()) << found.routes.lmc;
        control.stopped().is_none() || entries <= AT_ONCE
    }

    /// The engines that are asked, those of OpenSM for trees first.
    fn asked(&self, found: &Found, control: &Control) -> Vec<Engine> {
        if !self.has_time(found, control) {
            return Vec::new();
        }
        let stopped = control.stopped().is_some();
        if !self.others && !self.structure.levels_lose_pairs && found.proven {
            // Engines take the ways that were searched; what meets the bound from the start no engine betters.
            return if found.routes == self.began { Vec::new() } else { vec![Engine::Ftree, Engine::Dmodk] };
        }
        // Where all shortest ways are the search's, `layers` has no others, and takes long on large trees.
        let by_destination =
            |engine: &Engine| *engine != Engine::Smodk && (*engine != Engine::Layers || self.others);
        let first = [Engine::Ftree, Engine::Dla];
        let rest = Engine::ALL.into_iter().filter(|engine| !first.contains(engine));
        let all = first.into_iter().chain(rest).filter(by_destination);
        // Whoever waits after Ctrl-C waits for those of trees and of dragonflies alone.
        all.take(if stopped { first.len() } else { usize::MAX }).collect()
    }

    /// Routes that methods without bounds make for the traffic.
    fn for_traffic(&self, matrix: &Csr, control: &Control) -> Vec<(&'static str, Routes)> {
        if self.began.lmc != 0 {
            return Vec::new();
        }
        let (fabric, paths) = (self.fabric, self.paths);
        let repairs = afar(fabric, paths, self.began, matrix, &AfarOptions::default(), control);
        let colours = coloured(fabric, self.structure, paths, matrix, self.began, self.seed);
        let mut made = Vec::new();
        made.extend(repairs.ok().map(|result| ("afar", result.routes)));
        made.extend(colours.ok().map(|routes| ("coloured", routes)));
        made
    }

    /// Whether an engine's routes are better than what was found, and not too far from today's.
    fn is_worth(&self, found: &Found, value: f64, routes: &Routes) -> bool {
        let measure = Measure([value, 0.0, 0.0]);
        let Some(Change { from, penalty, most, frozen }) = self.change else {
            return measure.less_than(found.measure.value());
        };
        let changed = |routes: &Routes| Some(from.lft()?.changed_entries(routes.lft()?));
        let (Some(mine), Some(theirs)) = (changed(routes), changed(found.routes)) else { return false };
        let price = penalty * (theirs as f64 - mine as f64);
        !frozen.contains(&true)
            && most.is_none_or(|most| mine <= most)
            && measure.less_than(found.measure.value() + price)
    }

    /// Today's routes, if some of their ways are not the search's and they may stay.
    fn today(
        &self,
        measure: &dyn Fn(&Routes) -> Option<Measure>,
    ) -> Result<Option<(Measure, Passed)>, ComposeError> {
        let Some(today) = self.today else { return Ok(None) };
        let searched = repaired(self.fabric, self.structure, self.paths, today)?;
        if same_to_hosts(self.fabric, &searched, today) {
            return Ok(None);
        }
        let Some(value) = measure(today) else { return Ok(None) };
        let report = check(self.fabric, self.structure, today);
        let safe = deadly(&report).is_none() && is_whole(&report);
        Ok(safe.then(|| (value, Passed { routes: today.clone(), report })))
    }
}

/// Routes that were made, looked at or not yet.
enum Made {
    Routes(Routes),
    Passed(Passed),
}

/// Whether routes lose nothing that cables join, and no entry leads nowhere.
fn is_whole(report: &CheckReport) -> bool {
    report.holes() == 0 && report.invalid_entries == 0
}

/// Whether two tables have the same entries towards hosts.
fn same_to_hosts(fabric: &Fabric, a: &Routes, b: &Routes) -> bool {
    let (Table::ByDest(a), Table::ByDest(b), space) = (&a.table, &b.table, a.dests(fabric)) else {
        return false;
    };
    let hosts = space.count() - fabric.switch_count();
    let dests = || (0..hosts).map(netloom_model::DestId::from_index);
    fabric.switches().all(|s| dests().all(|dest| a.get(s, dest) == b.get(s, dest)))
}

#[cfg(test)]
mod tests {
    use netloom_model::Traffic;
    use netloom_optimize::{OptimizeOptions, optimize};
    use netloom_routing::loads;
    use netloom_topology::{Shape, detect, generate};
    use netloom_traffic::pattern;

    use super::*;

    /// What the portfolio says of a search of no work that began with `began`.
    fn best(spec: &str, traffic: &str, began: Engine, today: bool, lanes: bool) -> (f64, Best) {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let traffic: Traffic = pattern(traffic, Some(fabric.host_count() as u32)).unwrap();
        let total = traffic.total();
        let start = route(began, &fabric, &structure, &EngineOptions::default()).unwrap();
        let options = OptimizeOptions { work: Some(0), ..OptimizeOptions::default() };
        let control = Control::new();
        let found = optimize(&fabric, &structure, &paths, &total, &start, &options, &control).unwrap();
        let measure = |routes: &Routes| Some(Measure::of(&fabric, &loads(&fabric, routes, &total).ok()?));
        let held = Portfolio {
            fabric: &fabric,
            structure: &structure,
            paths: &paths,
            began: &start,
            engine: Some(began),
            today: today.then_some(&start),
            change: None,
            matrix: Some(&total),
            others: !matches!(structure.shape, Shape::Tree),
            max_lanes: if lanes { LANES } else { 1 },
            levels: lanes,
            seed: 0,
        };
        let measured = Measure::of(&fabric, &found.loads);
        let routes = &found.outcome.routes;
        let found = Found { routes, measure: measured, proven: found.outcome.proven_optimal };
        (measured.value(), held.best(&found, &measure, &control).unwrap())
    }

    #[test]
    fn a_class_of_ways_that_is_not_searched_wins_where_it_carries_less() {
        // All-to-all of 72 hosts: 71 B a host; up*/down* ways cannot do it with less than 119.
        let (searched, found) = best("dragonfly:p=2,a=4,h=2", "all-to-all", Engine::Updn, false, true);
        assert!(searched > 110.0, "{searched}");
        assert_eq!(found.engine, Some(("dla", 71.0)));
        let (name, passed) = found.taken.unwrap();
        assert_eq!((name, passed.report.credit_loops, passed.report.holes()), ("dla", 0, 0));
        assert!(passed.routes.lanes.is_some(), "with the lanes that they need");
    }

    #[test]
    fn routes_that_need_lanes_are_told_where_nobody_writes_lanes() {
        let (searched, found) = best("dragonfly:p=2,a=4,h=2", "all-to-all", Engine::Updn, false, false);
        assert_eq!(found.with_lanes, Some(("dla", 71.0)));
        assert!(found.engine.unwrap().1 <= searched);
        assert!(found.taken.is_none_or(|(_, passed)| passed.routes.lanes.is_none()));
    }

    #[test]
    fn tables_in_force_stay_where_nothing_is_better() {
        let (_, found) = best("dragonfly:p=2,a=4,h=2", "all-to-all", Engine::Dla, true, true);
        assert_eq!(found.taken.unwrap().0, "today");
        // On a tree the search ranges over them: what it found is theirs.
        let (_, found) = best("two-level:leaves=4,hosts=4,spines=4", "shift:4", Engine::Ftree, true, true);
        assert!(found.taken.is_none());
    }
}
