//! Pairs of leaves on lanes: the first lane that takes a pair, in one order after the other.
//!
//! A lane takes a pair if its turns close no circle with those of the pairs that are on it. What comes first decides, so it is
//! done again and again, lane by lane in another order: what was together on a lane finds room together again, so no more
//! lanes are needed than before, and now and then fewer.
//!
//! Invariant: no lane's turns have a circle; the same result for the same pairs.
//!
//! Source: Culberson and Luo, DIMACS 1996 (iterated greedy colouring), with "no circle" in the place of "no edge".

use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Control, StopReason};

use super::turns::Pairs;
use crate::waits::Waits;

/// Turns and links looked at in all passes: a second or two.
const STEPS: u64 = 12_000_000;
/// Passes in a row that may bring nothing.
const STALE: usize = 24;
/// Passes at most from one order to start with.
const PASSES: usize = 200;
/// Lanes above those allowed with which passes may begin, as later ones often need fewer.
const SPARE: usize = 2;

/// What else is on level 0 besides pairs of leaves.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Level0 {
    /// What leaves send to switches' own addresses.
    Requests,
    /// That, and what switches answer.
    WithAnswers,
}

/// The lane of every set of turns, from 0 on without gaps; `None` if they take more than `most` lanes. For who interrupted a search there is
/// one pass from each order, until one fits.
pub(super) fn assign(
    links: usize,
    pairs: &Pairs,
    most: usize,
    level0: Level0,
    control: &Control,
) -> Option<Vec<u8>> {
    let first = first_lane(links, pairs, level0)?;
    if pairs.sets().is_empty() {
        return Some(Vec::new());
    }
    let mut best: Option<(usize, Vec<u8>)> = None;
    // What does not fit on one lane in one order does in none.
    let hurries = || control.stopped() == Some(StopReason::Interrupted);
    let begin = if most == 1 || hurries() { most } else { most + SPARE };
    let starts = starts(pairs);
    let share = STEPS / starts.len() as u64;
    let mut random = stream(0x6c61_7965_7273, 0);
    for mut order in starts {
        if best.is_some() && hurries() {
            break;
        }
        let (mut steps, mut stale, mut fewest) = (0, 0, usize::MAX);
        for pass in 0..PASSES {
            let most = best.as_ref().map_or(begin, |best| best.0);
            let Some((used, lanes)) = first_fit(links, pairs, &order, most, (&first, &mut steps)) else {
                break;
            };
            stale = if used < fewest { 0 } else { stale + 1 };
            fewest = fewest.min(used);
            // Pairs of a lane stay together; the lanes change places.
            let mut by_lane: Vec<Vec<usize>> = vec![Vec::new(); used];
            order.iter().for_each(|&set| by_lane[usize::from(lanes[set])].push(set));
            best = Some((used, lanes));
            // On one lane there is a circle, but for answers that do not count.
            if used <= 2 {
                return best.map(|best| best.1);
            }
            if steps > share || stale > STALE || hurries() {
                break;
            }
            match pass % 4 {
                0 | 2 => by_lane.reverse(),
                1 => shuffle(&mut random, &mut by_lane),
                _ => by_lane.sort_by_key(Vec::len),
            }
            if below(&mut random, 2) == 0 {
                by_lane.iter_mut().for_each(|lane| shuffle(&mut random, lane));
            }
            order = by_lane.concat();
        }
    }
    best.filter(|best| best.0 <= most).map(|best| best.1)
}

/// Lane 0 with what is on level 0 whatever pairs are; `None` if that alone closes a circle.
fn first_lane(links: usize, pairs: &Pairs, level0: Level0) -> Option<Lane> {
    let mut lane = Lane::new(links, pairs.turns().len());
    let fits = lane.take(pairs.turns(), pairs.to_switches())
        && (level0 == Level0::Requests || lane.take(pairs.turns(), pairs.answers()));
    fits.then_some(lane)
}

/// Orders to begin with: as they come; what turns most first; what turns often first.
fn starts(pairs: &Pairs) -> Vec<Vec<usize>> {
    let natural: Vec<usize> = (0..pairs.sets().len()).collect();
    let mut long = natural.clone();
    long.sort_by_key(|&set| std::cmp::Reverse(pairs.sets()[set].len()));
    let mut users = vec![0usize; pairs.turns().len()];
    for (set, turns) in pairs.sets().iter().enumerate() {
        turns.iter().for_each(|&turn| users[turn as usize] += pairs.leaves_of(set).len());
    }
    let mut frequent = natural.clone();
    let rare = |set: usize| pairs.sets()[set].iter().map(|&turn| users[turn as usize]).min();
    frequent.sort_by_key(|&set| std::cmp::Reverse(rare(set)));
    vec![frequent, long, natural]
}

/// Puts every set on the first lane that takes it: how many lanes that are, and which; `None` if more than `most`.
fn first_fit(
    links: usize,
    pairs: &Pairs,
    order: &[usize],
    most: usize,
    (first, steps): (&Lane, &mut u64),
) -> Option<(usize, Vec<u8>)> {
    let mut lanes: Vec<Lane> = vec![first.clone()];
    let mut of = vec![0; pairs.sets().len()];
    for &set in order {
        let turns = &pairs.sets()[set];
        let at = match lanes.iter_mut().position(|lane| lane.take(pairs.turns(), turns)) {
            Some(at) => at,
            None if lanes.len() == most => return None,
            None => {
                let mut lane = Lane::new(links, pairs.turns().len());
                if !lane.take(pairs.turns(), turns) {
                    return None; // A circle of a pair's own.
                }
                lanes.push(lane);
                lanes.len() - 1
            }
        };
        of[set] = at as u8;
        *steps += (turns.len() * (at + 1)) as u64;
    }
    *steps += lanes.iter().map(|lane| lane.waits.steps()).sum::<u64>();
    Some((lanes.len(), of))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Known {
    Nothing,
    There,
    Never,
}

/// What is on a lane.
#[derive(Clone)]
struct Lane {
    waits: Waits,
    known: Vec<Known>,
    /// Turns that are being added.
    fresh: Vec<u32>,
}

impl Lane {
    fn new(links: usize, turns: usize) -> Self {
        Self { waits: Waits::new(links), known: vec![Known::Nothing; turns], fresh: Vec::new() }
    }

    /// Adds a set of turns, all or none.
    fn take(&mut self, links: &[(u32, u32)], turns: &[u32]) -> bool {
        if turns.iter().any(|&turn| self.known[turn as usize] == Known::Never) {
            return false;
        }
        let mark = self.waits.mark();
        for &turn in turns.iter().filter(|&&turn| self.known[turn as usize] == Known::Nothing) {
            let (a, b) = links[turn as usize];
            if self.waits.add(a, b) {
                self.fresh.push(turn);
                continue;
            }
            if self.fresh.is_empty() {
                // Alone it closes a circle with what is here, and what is here stays.
                self.known[turn as usize] = Known::Never;
            }
            self.waits.back_to(mark);
            self.fresh.clear();
            return false;
        }
        self.fresh.drain(..).for_each(|turn| self.known[turn as usize] = Known::There);
        true
    }
}
