//! Jobs that are much louder than others come first.
//!
//! One program for messages of 8 bytes and of 200 KiB is not exact enough for the small ones: the error of a large flow is as large as
//! they are. So jobs are put in groups by what their hosts' own links carry, loudest first. A group's flows are looked for alone; what
//! quieter jobs can add to a row, at most, is slack there. They are then fitted on the rows that no quieter job crosses, which makes
//! them exact, and taken out of the counters. Rows that had nothing else are empty then and rule pairs of quieter jobs out, as
//! others' bytes never could.
//!
//! Where a group's flows don't explain its own rows, its bytes are not known well enough to be taken out, and all jobs are solved at once.
//!
//! Source: Taffet, dissertation, sec. 5.4.2 (a barrier beside a bully needs scaling, there by hand).

use netloom_model::Control;

use crate::operator::Operator;
use crate::residual::{Counted, Target};
use crate::settings::{CounterSettings, Settings};

use super::{sparsest, sparsest_within};

/// A group is known if it leaves no more than this of its own rows, beside noise.
const KNOWN: f64 = 1e-6;
/// What is left of a row is nothing if it is this part of what was counted.
const NOTHING: f64 = 1e-9;

/// The fewest flows, `[pair]`; see [`sparsest`].
pub fn sparsest_in_turn(
    operator: &Operator,
    target: &Target,
    settings: &Settings,
    seed: Option<u64>,
    control: &Control,
) -> Vec<f64> {
    let groups = groups(operator, target, settings.flows.magnitude_ratio);
    let at_once = || sparsest(operator, target, settings, seed, control);
    if groups.len() < 2 || operator.routings() > 1 || operator.splits() {
        return at_once();
    }
    let mut x = vec![0.0; operator.pairs()];
    let mut target = target.clone();
    let counted = target.bytes.clone();
    // Pairs that may carry something, as far as is known.
    let mut open = vec![true; operator.pairs()];
    for (turn, jobs) in groups.iter().enumerate().take_while(|_| control.stopped().is_none()) {
        let later = |job: u32| groups[turn + 1..].iter().flatten().any(|&other| other == job);
        let mine: Vec<bool> =
            operator.iter().zip(&open).map(|(pair, open)| *open && jobs.contains(&pair.job)).collect();
        let others: Vec<bool> =
            operator.iter().zip(&open).map(|(pair, open)| *open && later(pair.job)).collect();
        let quiet = at_most(operator, &target, &others);
        let small = operator.restrict(&mine);
        // Half of what others may add is the middle, and half the slack.
        let middle = target.bytes.iter().zip(&quiet).map(|(all, quiet)| (all - 0.5 * quiet).max(0.0));
        let within = Target { bytes: middle.collect(), ..target.clone() };
        let slack: Vec<f64> = quiet.iter().map(|quiet| 0.5 * quiet).collect();
        let found = sparsest_within(&small, &within, &slack, settings, seed, control);
        if turn + 1 < groups.len() {
            let mut own = target.clone();
            own.weight.iter_mut().zip(&quiet).filter(|(_, quiet)| **quiet > 0.0).for_each(|(w, _)| *w = 0.0);
            let explains = own.norm() > 0.0 && own.left(&small, &found) <= KNOWN + own.noise();
            if !explains {
                return at_once();
            }
            let rows = small.forward(&found);
            for (r, row) in rows.into_iter().enumerate() {
                let (left, noise) = (target.bytes[r] - row, target.deviation[r]);
                // What noise may hide is not nothing.
                target.bytes[r] = if left > NOTHING * counted[r] { left } else { 0.0 }.max(noise);
            }
            target = target.reweighted(&settings.counters);
            open = possible(operator, &target, &settings.counters);
        }
        let places = x.iter_mut().zip(&mine).filter(|(_, mine)| **mine);
        places.zip(found).for_each(|((x, _), found)| *x = found);
    }
    x
}

/// Jobs by what a host's link of theirs carries, on the mean of those that carry something; the loudest group first, of at least one.
pub(crate) fn groups(operator: &Operator, target: &Target, ratio: f64) -> Vec<Vec<u32>> {
    let ends = operator.ends();
    // `[job]`: rows of hosts' links that carry something, and their bytes. Where jobs share hosts, both have them.
    let mut sums: Vec<(f64, f64)> = Vec::new();
    let mut last: Option<(u32, usize)> = None;
    for (p, pair) in operator.iter().enumerate() {
        let job = pair.job as usize;
        sums.resize(sums.len().max(job + 1), (0.0, 0.0));
        operator.way(p, |row| {
            if ends[row] && target.weight[row] > 0.0 && last != Some((pair.job, row)) {
                last = Some((pair.job, row));
                sums[job].0 += 1.0;
                sums[job].1 += target.bytes[row];
            }
        });
    }
    let mut jobs: Vec<(f64, u32)> = (0..)
        .zip(&sums)
        .filter(|(_, (rows, bytes))| *rows > 0.0 && *bytes > 0.0)
        .map(|(job, (rows, bytes))| (bytes / rows, job))
        .collect();
    jobs.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let together = jobs.chunk_by(|a, b| a.0 < ratio * b.0);
    let mut groups: Vec<Vec<u32>> =
        together.map(|group| group.iter().map(|&(_, job)| job).collect()).collect();
    // Of whose links nothing is known goes with the quietest.
    let known = |job: u32| jobs.iter().any(|&(_, other)| other == job);
    let unknown: Vec<u32> = (0..sums.len() as u32).filter(|&job| !known(job)).collect();
    match groups.last_mut() {
        Some(last) => last.extend(unknown),
        None => groups.push(unknown),
    }
    groups
}

/// `[row]`: the most that these pairs can carry there: no more than their senders' links do, nor their receivers'.
fn at_most(operator: &Operator, target: &Target, these: &[bool]) -> Vec<f64> {
    let mut most = [vec![0.0; operator.rows()], vec![0.0; operator.rows()]];
    // Pairs by sender, then by receiver: every link counts once in a row.
    let pairs: Vec<_> = operator.iter().collect();
    let mut order: Vec<usize> = (0..pairs.len()).filter(|&p| these[p]).collect();
    for (end, most) in most.iter_mut().enumerate() {
        let host = |p: usize| if end == 0 { pairs[p].source } else { pairs[p].destination };
        order.sort_by_key(|&p| (pairs[p].job, host(p)));
        for of_host in order.chunk_by(|&a, &b| pairs[a].job == pairs[b].job && host(a) == host(b)) {
            let mut rows: Vec<(usize, usize)> = Vec::new();
            for &p in of_host {
                let (mut first, mut last) = (None, 0);
                operator.way(p, |row| {
                    _ = first.get_or_insert(row);
                    last = row;
                });
                let own = if end == 0 { first.unwrap_or(last) } else { last };
                operator.way(p, |row| rows.push((row, own)));
            }
            rows.sort_unstable();
            rows.dedup();
            for (row, own) in rows {
                most[row] += if target.weight[own] > 0.0 { target.bytes[own] } else { f64::INFINITY };
            }
        }
    }
    let [by_sender, by_receiver] = most;
    let of_row = |(r, (a, b)): (usize, (f64, f64))| a.min(b).min(target.bytes[r]);
    by_sender.into_iter().zip(by_receiver).enumerate().map(of_row).collect()
}

/// Pairs that cross no row of which nothing is left.
pub(crate) fn possible(operator: &Operator, target: &Target, settings: &CounterSettings) -> Vec<bool> {
    let rows = target.bytes.iter().zip(&target.weight);
    let bytes = rows.map(|(&bytes, &weight)| if weight > 0.0 { bytes } else { f64::NAN }).collect();
    Counted { bytes, deviation: target.deviation.clone() }.possible(operator, settings)
}
