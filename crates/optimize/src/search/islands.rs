//! Several searches side by side, each on a core of its own if there are so many.
//!
//! Every island has its own routing. First they share the starts; then every island does a round of its own from the
//! best routing of all (the rounds differ by their random numbers and by how hot they melt) or from a new start, and the best of
//! the results is where the next rounds begin. The work of all islands together counts, each may spend its share.
//!
//! Which rounds are done, and which result is taken (the best, of equals that of the first island), depends on the
//! number of islands, never on the number of threads: equal options give equal tables.

use netloom_model::Improvement;
use rayon::prelude::*;

use crate::search::best::Best;
use crate::search::budget::Budget;
use crate::search::rounds::Search;
use crate::search::state::State;

struct Island<'v> {
    state: State<'v>,
    best: Best,
}

/// Replaces `search`'s best by what `islands` searches find together until the goal is met or the budget ends; its
/// state then has the work of all.
pub(crate) fn together(search: &mut Search, islands: usize) {
    let begun = search.state.work;
    let share = Budget {
        control: search.budget.control,
        limit: search.budget.limit.saturating_sub(begun).div_ceil(islands as u64),
    };
    let (siblings, seed, patient) = (search.siblings, search.seed, search.patient);
    let mut all: Vec<Island> = (0..islands)
        .map(|_| {
            let mut state = search.state.clone();
            state.work = 0;
            Island { state, best: search.best.clone() }
        })
        .collect();
    let mut step = |search: &mut Search, what: &(dyn Fn(&mut Search, u64) + Sync)| -> bool {
        let before = search.state.work;
        all.par_iter_mut().enumerate().for_each(|(i, island)| {
            let Island { state, best } = island;
            let best = std::mem::take(best);
            let (budget, starts_end) = (share, u64::MAX);
            let mut own =
                Search { state, siblings, best, seed, budget, starts_end, patient, quiet: true, today: None };
            what(&mut own, i as u64);
            island.best = own.best;
        });
        search.state.work = begun + all.iter().map(|island| island.state.work).sum::<u64>();
        exchange(search, &mut all);
        search.limit_budget();
        search.state.work > before
    };
    step(search, &|own, i| own.starts(i, islands as u64));
    let mut round = 0;
    let mut restart = false;
    while search.goes_on()
        && step(search, &|own, i| if restart { own.restart(round + i) } else { own.round(round + i) })
    {
        round += islands as u64;
        restart = !restart && search.restart_pays();
    }
}

/// Takes the best of the islands' results, and gives it to all of them.
fn exchange(search: &mut Search, all: &mut [Island]) {
    let control = search.budget.control;
    control.report(search.state.work.min(search.budget.limit), search.budget.limit);
    let mut winner: Option<usize> = None;
    for (i, island) in all.iter().enumerate() {
        let best = winner.map_or(&search.best, |w| &all[w].best);
        if best.beaten_by(island.best.value, island.best.count) {
            winner = Some(i);
        }
    }
    if let Some(found) = winner.map(|w| &all[w].best) {
        let improvement = Improvement {
            work: search.state.work,
            max_load: found.value,
            links_at_max: found.count,
            changed_entries: 0,
        };
        let mut history = std::mem::take(&mut search.best.history);
        history.push(improvement);
        search.best = Best { history, ..found.clone() };
        control.improved(improvement);
    }
    for island in all {
        island.best.take_over(&search.best);
    }
}
