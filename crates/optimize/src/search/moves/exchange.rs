//! Exchanges: few items of a hot link against few items of a cooler one beside it.
//!
//! Where a leaf has hardly any slack, no single item can leave a hot link: every other link of the leaf would
//! become hot in turn. But one or two items against one or two others of nearly the same size
//! move just the few bytes that are too many. With `n` items a link there are about `n^4 / 4` such exchanges, so
//! windows as narrow as a millionth of a load are met. An exchange settles two links of one
//! switch; what the items' new paths overload elsewhere is the next link of the chain.

use netloom_model::rng::{Stream, below, unit};

use crate::search::moves::siblings::Siblings;
use crate::search::state::State;
use crate::search::state::slots::NONE;

/// Pairs that are exchanged beforehand, at random, so that one more exchange fits the window.
const FIRST_PAIRS: usize = 6;

/// An exchange: items to move from a slot to its sibling, and items to move back.
#[derive(Clone, Debug, Default)]
pub(crate) struct Exchange {
    /// Leave the hot slot.
    pub out: Vec<u32>,
    /// Come in their place.
    pub back: Vec<u32>,
    sorted: Vec<(f64, u32)>,
    here: Vec<u32>,
}

impl Exchange {
    /// Looks for an exchange between `hot` and a sibling that leaves neither above `aim`, or at least moves
    /// some bytes while the sibling stays below; returns the sibling.
    pub fn find(
        &mut self,
        state: &State,
        siblings: &Siblings,
        hot: u32,
        aim: f64,
        random: &mut Stream,
    ) -> Option<u32> {
        let list = siblings.of(hot);
        // An item's bytes in several layers fit no one window.
        if list.len() < 2 || state.items.amounts.is_some() {
            return None;
        }
        let aim = aim * state.objective.goal[0];
        let load = |s: u32| state.load[s as usize];
        let coolest =
            list.iter().copied().filter(|&s| s != hot).min_by(|&a, &b| load(a).total_cmp(&load(b)))?;
        let from = below(random, list.len() as u64) as usize;
        for turn in 0..3 {
            let other = if turn == 2 { coolest } else { list[(from + turn * (list.len() / 2)) % list.len()] };
            if other != hot && self.between(state, hot, other, aim, random) {
                return Some(other);
            }
        }
        None
    }

    fn between(&mut self, state: &State, hot: u32, other: u32, aim: f64, random: &mut Stream) -> bool {
        let most = (aim - state.load[other as usize]) / state.view.inv_cap[other as usize];
        let wanted = (state.load[hot as usize] - aim) / state.view.inv_cap[hot as usize];
        if most <= 1e-12 * aim {
            return false;
        }
        let least = if wanted <= most { wanted } else { most * unit(random) };
        let bytes = |item: u32| state.items.bytes[item as usize];
        let there = state.items_on(other);
        self.here.clear();
        self.here.extend_from_slice(state.items_on(hot));
        if self.here.is_empty() {
            return false;
        }
        self.here.sort_unstable_by(|&a, &b| bytes(a).total_cmp(&bytes(b)).then(a.cmp(&b)));
        let here = &self.here;
        self.sorted.clear();
        self.sorted.push((0.0, NONE));
        self.sorted.extend(there.iter().map(|&i| (bytes(i), i)));
        self.sorted.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for turn in 0..=FIRST_PAIRS {
            let (first, second) = if turn == 0 {
                (NONE, NONE)
            } else {
                let pick = |n: usize, random: &mut Stream| below(random, n as u64) as usize;
                (here[pick(here.len(), random)], self.sorted[pick(self.sorted.len(), random)].1)
            };
            let size = |item: u32| if item == NONE { 0.0 } else { bytes(item) };
            let moved = size(first) - size(second);
            // Mostly small items: they overload less elsewhere.
            let start = (here.len() as f64 * unit(random).powi(3)) as usize;
            let candidates = here[start..].iter().chain(&here[..start]).copied().filter(|&x| x != first);
            for x in candidates {
                // moved + x - y within least..=most
                let lowest = moved + bytes(x) - most;
                let highest = moved + bytes(x) - least;
                let at = self.sorted.partition_point(|p| p.0 < lowest);
                let fits = |p: &&(f64, u32)| p.1 == NONE || p.1 != second;
                let run = self.sorted[at..].iter().take_while(|p| p.0 <= highest);
                let Some(&(_, y)) = run.take(2).find(fits) else { continue };
                self.out.clear();
                self.out.extend([x, first].iter().filter(|&&i| i != NONE));
                self.back.clear();
                self.back.extend([y, second].iter().filter(|&&i| i != NONE));
                return true;
            }
        }
        false
    }

    /// Moves the items, each by the lightest path that holds its new slot; false if one has none (then the
    /// state must be taken back).
    pub fn apply(&self, state: &mut State, siblings: &Siblings, hot: u32, other: u32) -> bool {
        for &item in self.out.iter().chain(&self.back) {
            state.remove(item as usize);
        }
        let moves = self.out.iter().map(|&i| (i, other)).chain(self.back.iter().map(|&i| (i, hot)));
        for (item, slot) in moves {
            state.fix(state.items.group[item as usize] as usize);
            state.scratch.forbidden.clear();
            state.scratch.forbidden.extend(siblings.of(slot).iter().filter(|&&s| s != slot));
            let placed = state.insert(item as usize);
            state.scratch.forbidden.clear();
            if !placed {
                return false;
            }
        }
        true
    }
}
