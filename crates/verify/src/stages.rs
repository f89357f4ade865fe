//! A change of tables in stages, each of which is safe however its entries mix.
//!
//! In a stage some entries change; those of earlier stages are new, those of later ones old. A stage is safe if the graph of
//! both entries of what changes in it, and the one entry of everything else, has neither a cycle nor a way to a hole
//! ([`mix`](crate::mix())). Destinations do not mix with each other, so each is planned by itself and the slowest decides.
//!
//! - One stage does where the union of both tables is safe: always between two sets of up*/down* routes of one tree.
//! - Else entries are taken greedily, those nearest to the destination by the new tables first. The nearest one left leads
//!   into what is new already and never leads back, so each stage takes one at least: stages always exist, no more than the
//!   new tables' longest way has switches. (Mahajan and Wattenhofer 2013; the fewest are hard to find, Ludwig, Marcinkowski
//!   and Schmid 2015.)
//! - Where greed needs three or more, a bounded search tries fewer; [`Stages::fewest`] says whether it got to its end.
//! - A stage that can deadlock though neither table can is cut in parts by destinations.

use netloom_model::{Fabric, Lft, SwitchId};
use netloom_topology::Structure;

use crate::mix::{Change, Column, Fault, Scratch, When};

/// Graphs that the search for fewer stages may look at, by destination.
const TRIES: u32 = 4_000;

/// Destinations that may be put off one after the other where links could wait in circles.
const REFUSALS: usize = 64;

/// Tables from the old ones to the new.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stages {
    /// The tables after every stage; the last are the new ones. Empty if nothing changes.
    pub tables: Vec<Lft>,
    /// Whether fewer stages are proven to be unsafe.
    pub fewest: bool,
}

/// Why there are no such stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoStages {
    /// In words, with the destination and what goes wrong with fewer.
    pub text: String,
    /// How many stages would do; `None` if no number does.
    pub needed: Option<usize>,
}

/// Plans at most `most` stages from `old` to `new`: tables by destination of one fabric, `2^lmc` addresses a host.
///
/// # Errors
/// If so many do not suffice, or no number does.
///
/// # Panics
/// If the tables are of another size than the fabric.
pub fn stages(
    fabric: &Fabric,
    structure: &Structure,
    lmc: u8,
    old: &Lft,
    new: &Lft,
    most: usize,
) -> Result<Stages, NoStages> {
    let change = Change::new(fabric, structure, lmc, old, new);
    let plans: Vec<Plan> = change.map(plan);
    let rounds = plans.iter().map(|p| p.rounds).max().unwrap_or(0);
    let fewest = plans.iter().all(|p| p.rounds < rounds || p.fewest);
    if rounds == 0 {
        return Ok(Stages { tables: Vec::new(), fewest });
    }
    let slow = || {
        let worst = plans.iter().position(|p| p.rounds == rounds).expect("one is the slowest");
        (worst, plans[worst].fault.as_ref().expect("more than one round has a reason"))
    };
    if rounds > most {
        let (worst, fault) = slow();
        let column =
            change.map(|column, _| (column.dest.index() == worst).then(|| change.finding(column, fault)));
        let text = column.into_iter().flatten().map(|f| f.text).next().unwrap_or_default();
        let text = format!("{rounds} stages are needed, at most {most} were asked for: {text}");
        return Err(NoStages { text, needed: Some(rounds) });
    }
    // Each stage is one round of every destination, or a part of the destinations where links could wait in circles.
    let mut parts: Vec<Part> = Vec::new();
    let whole = |round: usize| {
        change.credit_loops_of_all(|column, s| {
            plans[column.dest.index()].when(column, s, round, std::cmp::Ordering::Equal)
        })
    };
    for round in 1..=rounds {
        if whole(round).is_none() {
            parts.push(Part { round, dests: (0..plans.len() as u32).collect() });
            continue;
        }
        parts.extend(cut(&change, &plans, round)?);
    }
    if parts.len() > most {
        let text = format!(
            "{} stages are needed, at most {most} were asked for: {}",
            parts.len(),
            whole(1).map_or_else(String::new, |(_, text)| text)
        );
        return Err(NoStages { text, needed: Some(parts.len()) });
    }
    let split = parts.len() > rounds;
    Ok(Stages { tables: tables(&change, &plans, &parts), fewest: fewest && !split })
}

/// One destination's rounds.
struct Plan {
    rounds: usize,
    /// The round of every changed entry, in the order of the column; empty if all change in the first.
    round_of: Vec<u8>,
    fewest: bool,
    /// What goes wrong in one round.
    fault: Option<Fault>,
}

impl Plan {
    fn round(&self, index: usize) -> usize {
        self.round_of.get(index).map_or(1, |&r| usize::from(r))
    }

    /// What entry a switch can have in a round, where this destination's part of it is before (`Less`), at or after
    /// the one at hand.
    fn when(&self, column: &Column, switch: u32, round: usize, part: std::cmp::Ordering) -> When {
        let Ok(index) = column.changed.binary_search(&switch) else { return When::Old };
        match self.round(index).cmp(&round).then(part) {
            std::cmp::Ordering::Less => When::New,
            std::cmp::Ordering::Equal => When::Both,
            std::cmp::Ordering::Greater => When::Old,
        }
    }
}

/// A stage: a round of some destinations.
struct Part {
    round: usize,
    dests: Vec<u32>,
}

/// Plans one destination.
fn plan(column: &Column, scratch: &mut Scratch) -> Plan {
    if column.changed.is_empty() {
        return Plan { rounds: 0, round_of: Vec::new(), fewest: true, fault: None };
    }
    scratch.judge_old(column);
    let n = column.old.len();
    let fault = scratch.judge(n, |s| [column.old[s as usize], column.new[s as usize]]);
    if fault.is_none() {
        return Plan { rounds: 1, round_of: Vec::new(), fewest: true, fault };
    }
    let (greedy_rounds, greedy_of) = greedy(column, scratch);
    let mut fewest = true;
    for rounds in 2..greedy_rounds {
        let mut search = Search { column, scratch: &mut *scratch, rounds: rounds as u8, tries: TRIES };
        let mut round_of = vec![0; column.changed.len()];
        match search.go(&mut round_of, &by_depth(column), 0) {
            Some(true) => return Plan { rounds, round_of, fewest, fault },
            Some(false) => {}
            None => fewest = false,
        }
    }
    Plan { rounds: greedy_rounds, round_of: greedy_of, fewest, fault }
}

/// The changed entries (by their place in the column), nearest to the destination by the new tables first.
fn by_depth(column: &Column) -> Vec<usize> {
    let depth = |mut s: u32| {
        let mut hops = 0;
        while let Some(&next) = column.new.get(s as usize)
            && hops <= column.new.len()
        {
            (s, hops) = (next, hops + 1);
        }
        hops
    };
    let mut order: Vec<usize> = (0..column.changed.len()).collect();
    order.sort_by_cached_key(|&i| (depth(column.changed[i]), i));
    order
}

/// The edges of a switch in a round, where entries have rounds (0: not known, no edge).
fn edges(column: &Column, place: &[u32], round_of: &[u8], round: u8, s: u32) -> [u32; 2] {
    let i = s as usize;
    let (old, new) = (column.old[i], column.new[i]);
    if place[i] == u32::MAX {
        return [old, old];
    }
    match round_of[place[i] as usize] {
        0 => [u32::MAX, u32::MAX],
        r if r < round => [new, new],
        r if r == round => [old, new],
        _ => [old, old],
    }
}

/// Where a switch's changed entry is in the column; `u32::MAX` if it has none.
fn places(column: &Column) -> Vec<u32> {
    let mut place = vec![u32::MAX; column.old.len()];
    column.changed.iter().enumerate().for_each(|(i, &s)| place[s as usize] = i as u32);
    place
}

/// In every round as many entries as can be, nearest first.
fn greedy(column: &Column, scratch: &mut Scratch) -> (usize, Vec<u8>) {
    const LATER: u8 = u8::MAX;
    let (n, place) = (column.old.len(), places(column));
    let mut round_of = vec![LATER; column.changed.len()];
    let mut left = by_depth(column);
    let mut round = 0u8;
    while !left.is_empty() && round < LATER - 1 {
        round += 1;
        let before = left.len();
        left.retain(|&i| {
            round_of[i] = round;
            let bad = scratch.judge(n, |s| edges(column, &place, &round_of, round, s)).is_some();
            if bad {
                round_of[i] = LATER;
            }
            bad
        });
        if left.len() == before {
            // Only where the new tables lose packets themselves: nothing is gained by waiting.
            left.drain(..).for_each(|i| round_of[i] = round);
        }
    }
    left.into_iter().for_each(|i| round_of[i] = round);
    (usize::from(round), round_of)
}

/// The search for a given number of rounds.
struct Search<'a> {
    column: &'a Column,
    scratch: &'a mut Scratch,
    rounds: u8,
    tries: u32,
}

impl Search<'_> {
    /// Gives the entries from `at` on in `order` a round; whether that was possible, `None` if the tries are spent.
    fn go(&mut self, round_of: &mut [u8], order: &[usize], at: usize) -> Option<bool> {
        let Some(&entry) = order.get(at) else { return Some(true) };
        let place = places(self.column);
        let n = self.column.old.len();
        for round in 1..=self.rounds {
            self.tries = self.tries.checked_sub(1)?;
            round_of[entry] = round;
            let column = self.column;
            let safe = (1..=self.rounds)
                .all(|r| self.scratch.judge(n, |s| edges(column, &place, round_of, r, s)).is_none());
            if safe && self.go(round_of, order, at + 1)? {
                return Some(true);
            }
        }
        round_of[entry] = 0;
        Some(false)
    }
}

/// Cuts a round in parts by destinations, each as large as can be.
///
/// Which destinations come first matters: one that cannot change yet goes to the end of the line, and it is tried from
/// either end of the tables.
fn cut(change: &Change, plans: &[Plan], round: usize) -> Result<Vec<Part>, NoStages> {
    let forth: Vec<u32> = (0..plans.len() as u32).filter(|&d| plans[d as usize].rounds >= round).collect();
    let back = forth.iter().rev().copied().collect();
    cut_in_order(change, plans, round, forth)
        .or_else(|no| cut_in_order(change, plans, round, back).map_err(|_| no))
}

fn cut_in_order(
    change: &Change,
    plans: &[Plan],
    round: usize,
    mut order: Vec<u32>,
) -> Result<Vec<Part>, NoStages> {
    let (count, mut start, mut refused) = (order.len(), 0, 0);
    let mut rank = vec![0; plans.len()];
    let mut parts = Vec::new();
    while start < count {
        order.iter().enumerate().for_each(|(i, &d)| rank[d as usize] = i);
        let fault = |end: usize| {
            change.credit_loops_of_all(|column, s| {
                let d = column.dest.index();
                let part = match rank[d] {
                    r if r < start => std::cmp::Ordering::Less,
                    r if r < end => std::cmp::Ordering::Equal,
                    _ => std::cmp::Ordering::Greater,
                };
                plans[d].when(column, s, round, part)
            })
        };
        // Dependencies only grow with the part: the longest safe one by bisection.
        let (mut safe, mut unsafe_) = (start, count + 1);
        while unsafe_ - safe > 1 && safe < count {
            let middle = safe.midpoint(unsafe_).clamp(safe + 1, count);
            if fault(middle).is_none() {
                safe = middle;
            } else {
                unsafe_ = middle;
            }
        }
        if safe == start {
            refused += 1;
            if refused >= REFUSALS.min(count - start) {
                let (_, text) = fault(start + 1).unwrap_or_default();
                let name = change.name(netloom_model::DestId(order[start]));
                let text =
                    format!("no stages free of deadlock were found: when entries for {name} change, {text}");
                return Err(NoStages { text, needed: None });
            }
            order[start..].rotate_left(1);
            continue;
        }
        refused = 0;
        parts.push(Part { round, dests: order[start..safe].to_vec() });
        start = safe;
    }
    Ok(parts)
}

/// The tables after every part.
fn tables(change: &Change, plans: &[Plan], parts: &[Part]) -> Vec<Lft> {
    let Some((_, before)) = parts.split_last() else { return Vec::new() };
    let changed: Vec<Vec<(u32, u16)>> =
        change.map(|column, _| column.changed.iter().map(|&s| (s, column.new_ports[s as usize])).collect());
    let mut now = change.old.clone();
    let mut all = Vec::with_capacity(parts.len());
    for part in before {
        for &d in &part.dests {
            for (i, &(s, port)) in changed[d as usize].iter().enumerate() {
                if plans[d as usize].round(i) == part.round {
                    let port = (port != netloom_model::NO_PORT).then_some(port);
                    now.set(SwitchId(s), netloom_model::DestId(d), port);
                }
            }
        }
        all.push(now.clone());
    }
    all.push(change.new.clone());
    all
}
