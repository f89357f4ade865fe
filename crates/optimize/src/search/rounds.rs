//! The steps of a search: starts, rounds of sweeps and chains, new starts; the best paths are kept throughout.
//!
//! Works on a [`State`] alone; knows nothing of tables, host links or certificates. *Better* is
//! lexicographic: a lower value (the largest load, see `objective`), then fewer of the hottest slots.
//! Slots are compared by heat: load relative to what their layer aims at, so that 1 is the goal.
//! Starts: by destination (best where everybody talks to everybody); several coloured ones, or a greedy one where the
//! fabric has no full layout. A round anneals the best routing by sweeps of rising sharpness and repairs it by chains.

use netloom_model::rng::{Stream, stream};
use netloom_model::{Control, Improvement, StopReason};

use crate::search::best::Best;
use crate::search::budget::{Budget, TOLERANCE};
use crate::search::few_changes::FewChanges;
use crate::search::moves::ejection::chains;
use crate::search::moves::siblings::Siblings;
use crate::search::moves::sweep::sweep;
use crate::search::restore::restore;
use crate::search::start::{by_destination, coloured, insert_rest};
use crate::search::state::State;
use crate::search::state::today::TodaysEntries;

/// Coloured starts at most; fewer if there are very many items.
const RESTARTS: u64 = 10;
/// Items that all coloured starts together may colour.
const RESTART_ITEMS: u64 = 3_000_000;
/// Sharpness of the greedy start, island by island.
const GREEDY_SHARPNESS: [f64; 4] = [30.0, 100.0, 10.0, 300.0];
/// Work once the value is good enough for the traffic's hosts, and work for every item.
const WORK_ONCE_GOOD_ENOUGH: (u64, u64) = (500_000, 2);
/// Sharpness of the last sweep of a round.
const LAST_SHARPNESS: f64 = 2000.0;
/// Sharpness of the first sweep of a round, in turn.
const FIRST_SHARPNESS: [f64; 4] = [10.0, 100.0, 30.0, 300.0];
/// Work for fewer links at the maximum, once it is not lowered any more.
const POLISH_WORK: u64 = 30_000;
/// Work of a chain phase where changed entries count: few of its chains are worth keeping, but each is worth an offer.
const COUNTED_WORK: u64 = 2000;
/// Work of a chain phase, with some an item: gains come soon or not at all.
const PHASE_WORK: u64 = 20_000;
/// What part of the gap a phase before the first round may leave for another one to follow.
const GAP_LEFT_TO_REPEAT: f64 = 0.8;
/// Chain phases of a round: sharpness, whether items are exchanged, and the part of the gap to the goal that is
/// not aimed at yet.
const CHAIN_PHASES: [(f64, bool, f64); 6] = [
    (30000.0, true, 0.8),
    (30000.0, false, 0.8),
    (2000.0, false, 0.5),
    (8000.0, true, 0.5),
    (500.0, false, 0.0),
    (30000.0, true, 0.0),
];

/// A search under way.
pub(crate) struct Search<'s, 'v> {
    pub state: &'s mut State<'v>,
    pub siblings: &'s Siblings,
    pub best: Best,
    pub seed: u64,
    /// Gets smaller once only courtesies are left.
    pub budget: Budget<'s>,
    /// No new coloured start after so much work.
    pub starts_end: u64,
    pub patient: bool,
    /// Nobody is told of progress and improvements.
    pub quiet: bool,
    /// Today's tables, while the search may forget about them.
    pub today: Option<TodaysEntries<'v>>,
}

impl Search<'_, '_> {
    /// Whether there is something left to find, and work to find it with.
    pub fn goes_on(&self) -> bool {
        self.is_above_goal() && !self.budget.over(self.state.work)
    }

    /// Whether some layer has not met its goal.
    pub fn is_above_goal(&self) -> bool {
        self.best.value > self.state.objective.least() * (1.0 + TOLERANCE)
    }

    /// Keeps the state's paths if they are the best so far; says whether they are.
    pub fn offer(&mut self) -> bool {
        let (state, best) = (&*self.state, &mut self.best);
        let value = state.value();
        let heats = || (0..state.view.slots()).map(|s| state.heat(s));
        let heat = heats().fold(0.0, f64::max);
        let count = heats().filter(|&h| h >= heat * (1.0 - TOLERANCE)).count();
        if !self.quiet {
            self.budget.control.report(state.work.min(self.budget.limit), self.budget.limit);
        }
        let better = best.history.is_empty() || best.beaten_by(value, count);
        if better {
            (best.value, best.heat, best.count) = (value, heat, count);
            self.take();
            self.limit_budget();
        }
        better
    }

    /// Spends less from now on if the best routing is good enough for the traffic's hosts.
    pub fn limit_budget(&mut self) {
        if self.best.value <= self.state.objective.enough * (1.0 + TOLERANCE) {
            let rest = WORK_ONCE_GOOD_ENOUGH.0 + WORK_ONCE_GOOD_ENOUGH.1 * self.state.items.len() as u64;
            self.budget.limit = self.budget.limit.min(self.state.work + rest);
            self.starts_end = self.starts_end.min(self.state.work + rest / 4);
        }
    }

    /// Keeps the state's paths.
    fn take(&mut self) {
        let (state, best) = (&mut *self.state, &mut self.best);
        debug_assert!(
            (0..state.items.len()).all(|item| state.placed(item)),
            "a routing has a path for every item"
        );
        best.path.clone_from(&state.path);
        // Where the search has forgotten about today's tables, history has not.
        let changed_entries = match &self.today {
            Some(today) => state.changed_from(today),
            None => state.today.as_ref().map_or(0, |today| today.total()),
        };
        let improvement =
            Improvement { work: state.work, max_load: best.value, links_at_max: best.count, changed_entries };
        best.history.push(improvement);
        if !self.quiet {
            self.budget.control.improved(improvement);
        }
    }

    /// Greatest heat of the present paths.
    fn heat(&self) -> f64 {
        (0..self.state.view.slots()).map(|s| self.state.heat(s)).fold(0.0, f64::max)
    }

    /// The first routings: those of island `island` of so many.
    pub fn starts(&mut self, island: u64, islands: u64) {
        let items = self.state.items.len() as u64;
        let full = self.state.view.layout.as_ref().is_some_and(|l| l.full);
        if self.state.is_bound() {
            // The best few changes first. If changes are free after all, then anything, but near today's
            // tables before what is far from them.
            self.single_changes();
            if !self.state.is_counted() {
                self.today = self.state.today.take();
                if self.goes_on() {
                    self.round(1);
                }
                if self.goes_on() {
                    self.state.clear();
                    if insert_rest(self.state, 30.0, &self.budget) {
                        self.offer();
                    }
                }
            }
        } else if full {
            if island == 0 && self.goes_on() {
                by_destination(self.state);
                self.offer();
            }
            let calm = Control::new();
            let restarts = (RESTART_ITEMS / items).clamp(islands, RESTARTS.max(islands));
            for restart in (island..restarts).step_by(islands as usize) {
                // The time may be spent before anything was found: on bounds, on today's tables.
                let interrupted = self.budget.control.stopped() == Some(StopReason::Interrupted);
                let due = restart == 0 && self.patient && self.is_above_goal() && !interrupted;
                let enough = self.state.work >= self.starts_end;
                if !(due || self.goes_on() && !enough) {
                    break;
                }
                let control = if due { &calm } else { self.budget.control };
                let budget = Budget { control, limit: self.budget.limit };
                if coloured(self.state, &mut stream(self.seed, restart), &budget) {
                    self.offer();
                }
            }
        } else if self.goes_on() {
            self.state.clear();
            if insert_rest(
                self.state,
                GREEDY_SHARPNESS[(island % GREEDY_SHARPNESS.len() as u64) as usize],
                &self.budget,
            ) {
                self.offer();
            }
        }
    }

    /// Changes one way after another, and keeps the best routing on the way.
    fn single_changes(&mut self) {
        let mut near = FewChanges::new(self.state);
        while !self.budget.over(self.state.work) && near.step(self.state) {
            self.offer();
        }
        self.state.refresh();
        self.offer();
    }

    /// Whether another start may lead to a better routing in reasonable time.
    pub fn restart_pays(&self) -> bool {
        let full = self.state.view.layout.as_ref().is_some_and(|l| l.full);
        full && !self.state.is_bound() && (self.state.items.len() as u64) < RESTART_ITEMS / RESTARTS
    }

    /// Chains from another coloured start, whatever was found so far: where nearly every link is nearly full, the
    /// way from one good routing to a better one can be longer than the way from a new start.
    pub fn restart(&mut self, round: u64) {
        let known = std::mem::take(&mut self.best);
        let quiet = std::mem::replace(&mut self.quiet, true);
        if coloured(self.state, &mut stream(self.seed, 2000 + round), &self.budget) {
            self.offer();
            self.intensify(round);
        }
        let found = std::mem::replace(&mut self.best, known);
        self.quiet = quiet;
        if !found.path.is_empty() && self.best.beaten_by(found.value, found.count) {
            self.state.set_paths(found.path);
            self.offer();
        }
    }

    /// Chains from the best routing as long as they pay.
    pub fn intensify(&mut self, round: u64) {
        let mut random = stream(self.seed, 998 + (round << 32));
        self.state.set_paths(self.best.path.clone());
        let work = PHASE_WORK + self.state.items.len() as u64 / 16;
        for (alpha, exchanges, share) in CHAIN_PHASES {
            loop {
                let gap = self.best.heat - 1.0;
                self.phase((alpha, exchanges, share), work, &mut random);
                if !self.goes_on() {
                    return;
                }
                if self.best.heat - 1.0 >= GAP_LEFT_TO_REPEAT * gap {
                    break;
                }
            }
        }
    }

    /// Chains until they have gained nothing for so much work, or nothing is above the goal.
    fn phase(&mut self, (alpha, exchanges, share): (f64, bool, f64), work: u64, random: &mut Stream) {
        while self.goes_on() {
            let before = self.state.work;
            // Part of the way first: fewer links are too hot then, and the others have some slack.
            let aim = 1.0 + TOLERANCE + share * (self.best.heat - 1.0).max(0.0);
            self.state.set_alpha(alpha);
            let there = chains(self.state, self.siblings, aim, work, exchanges, random, &self.budget);
            self.state.refresh();
            self.offer();
            if !there || self.state.work == before || self.best.heat > aim * (1.0 + TOLERANCE) {
                break;
            }
        }
    }

    pub fn round(&mut self, round: u64) {
        let mut random = stream(self.seed, 1000 + round);
        self.state.set_paths(self.best.path.clone());
        // Some rounds melt the routing and freeze it anew, some only shake it.
        // Sweeps would change more entries than may be; chains keep count.
        let mut alpha = if self.state.is_counted() {
            LAST_SHARPNESS
        } else {
            FIRST_SHARPNESS[(round % FIRST_SHARPNESS.len() as u64) as usize]
        };
        while alpha < LAST_SHARPNESS && self.goes_on() {
            self.state.set_alpha(alpha);
            // Cooler slots weigh next to nothing at this sharpness.
            let floor = self.heat() * (1.0 - 12.0 / alpha);
            sweep(self.state, floor, &mut random, &self.budget);
            self.state.refresh();
            self.offer();
            alpha *= 1.5;
        }
        let items = self.state.items.len() as u64;
        let work = if self.state.is_counted() { COUNTED_WORK + items / 32 } else { PHASE_WORK + items / 4 };
        for (alpha, exchanges, share) in CHAIN_PHASES {
            // Where changes cost, the way to the goal is short or there is none.
            let share = if self.state.is_counted() { 0.0 } else { share };
            self.phase((alpha, exchanges, share), work, &mut random);
        }
    }

    /// The same maximum on fewer links, with little work.
    pub fn polish(&mut self) {
        self.state.set_paths(self.best.path.clone());
        let mut random = stream(self.seed, 999);
        let (mut alpha, mut idle) = (50.0, 0);
        // Where the hosts' links are the bottleneck, it matters less.
        let most = if self.best.value > self.state.objective.enough { POLISH_WORK } else { POLISH_WORK / 6 };
        let limit = self.budget.limit.min(self.state.work + most + self.state.items.len() as u64 / 8);
        let budget = Budget { control: self.budget.control, limit };
        while alpha < LAST_SHARPNESS && idle < 2 && !budget.over(self.state.work) {
            self.state.set_alpha(alpha);
            sweep(self.state, self.best.heat * (1.0 - 1e-6), &mut random, &budget);
            self.state.refresh();
            idle = if self.offer() { 0 } else { idle + 1 };
            alpha *= 2.0;
        }
    }

    /// Equally good routes with fewer changed entries.
    pub fn restore(&mut self) {
        self.state.today = self.state.today.take().or(self.today.take());
        if self.state.today.is_none() {
            return;
        }
        self.state.set_paths(self.best.path.clone());
        let work = POLISH_WORK + self.state.items.len() as u64 / 8;
        if restore(self.state, work, self.budget.control) {
            self.take();
        }
    }
}
