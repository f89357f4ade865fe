//! The search from end to end: starts, rounds and new starts in turn until the goal is met or the work is spent,
//! then the same maximum on fewer links, then the levels below it.
//!
//! | module | idea |
//! |---|---|
//! | `rounds` | its steps: starts, rounds of sweeps and chains, new starts |
//! | `start` | first routings: today's tables, coloured, greedy |
//! | `colour` | bipartite edge colouring |
//! | `target` | how low the links between switches could go, at best |
//! | `state` | link loads, their soft-max weights, one path an item |
//! | `moves` | sweeps and ejection chains |
//! | `few_changes` | the best few changes of today's tables |
//! | `restore` | needless changes given back |
//! | `islands` | several searches side by side, for several cores |
//! | `levels` | below the maximum: few links on each level of load |
//! | `best` | the best paths so far |
//! | `budget` | when the search ends |
//! | `outcome` | what every search tells of itself: tables, status, work |

mod best;
pub(crate) mod budget;
mod colour;
mod few_changes;
mod islands;
mod levels;
pub(crate) mod moves;
pub(crate) mod outcome;
mod restore;
mod rounds;
pub(crate) mod start;
pub(crate) mod state;
pub(crate) mod target;

use crate::search::best::Best;
use crate::search::budget::Budget;
use crate::search::moves::siblings::Siblings;
use crate::search::outcome::Stop;
use crate::search::rounds::Search;
use crate::search::state::State;

/// How to search.
#[derive(Clone, Copy)]
pub(crate) struct How {
    /// Seed of all random choices.
    pub seed: u64,
    /// Load levels below the maximum whose number of links is minimised too.
    pub depth: usize,
    /// Searches side by side (see `islands`).
    pub islands: usize,
    /// The first coloured start is worth its time even if that has run out.
    pub patient: bool,
    /// The first routing is as good as it need be, and stays.
    pub stay: bool,
}

/// Improves on the paths that `state` holds (all items placed) until every layer meets its goal, or the
/// budget ends; then on `depth` levels below the maximum.
pub(crate) fn search(state: &mut State, siblings: &Siblings, how: How, budget: &Budget) -> Best {
    // Cooler links are not worth a changed entry.
    let depth = if state.is_bound() { 0 } else { how.depth };
    // Changes are counted one after another.
    let islands = if state.is_bound() { 1 } else { how.islands };
    let seed = how.seed;
    let share = levels::share(state.items.len(), depth).min(budget.limit / 8);
    let main = Budget { control: budget.control, limit: budget.limit - share };
    let mut search = Search {
        state,
        siblings,
        best: Best::default(),
        seed,
        budget: main,
        starts_end: u64::MAX,
        patient: how.patient,
        quiet: false,
        today: None,
    };
    search.offer();
    search.best.stop = how.stay.then_some(Stop::Target);
    if search.state.items.len() > 0 && !how.stay {
        let mut round = 0;
        if islands > 1 {
            islands::together(&mut search, islands);
        } else {
            search.starts(0, 1);
        }
        if search.goes_on() && !search.state.is_bound() {
            search.intensify(0);
        }
        let (mut restart, mut others) = (0, 0);
        while search.goes_on() {
            let before = search.state.work;
            if others <= restart || !search.restart_pays() {
                search.round(round);
                others += search.state.work - before;
            } else {
                search.restart(round);
                restart += search.state.work - before;
            }
            round += 1;
            if search.state.work == before {
                // Nothing that may move is hot.
                break;
            }
        }
        let spent = search.budget.over(search.state.work).then_some(Stop::Work);
        search.best.stop = if search.is_above_goal() { spent } else { Some(Stop::Target) };
        search.polish();
        search.restore();
        let Search { state, ref mut best, .. } = search;
        let limit = state.work + share;
        levels::cool(state, siblings, best, depth, seed, &Budget { control: budget.control, limit });
    }
    search.best
}
