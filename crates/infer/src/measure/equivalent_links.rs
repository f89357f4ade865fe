//! Links that share traffic evenly, taken together.
//!
//! Where switches choose packet by packet, links that should carry the same never quite do: which port was the least loaded is chance.
//! But what they carry *together* is no chance where every pair crosses them once or not at all (all links up from a leaf, all links out
//! of a pod): then their mean is as exact as counters are. So rows with equal columns become one, with their mean; how far they are
//! apart tells how random the split is, and that is the noise of links of which it matters: those that have no like, or of which some
//! were not counted.
//!
//! Where cables are missing, an even split of every destination's bytes leaves a switch's links unlike: a spine that has lost a leaf gets nothing of
//! what goes there. A switch that chooses the least loaded port evens that out, as far as other traffic lets it. How far the links may be off then
//! ([`imbalance`]) is noise of every row that has not all of its kind.
//!
//! Rows are alike if random traffic leaves the same in them, twice (as `sim` finds them for flows).

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::rng::{stream, unit};
use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_routing::PathSet;

use crate::operator::Operator;
use crate::residual::Counted;
use crate::settings::CounterSettings;

/// Sums that are this close (relative) are the same.
const SAME: f64 = 1e-9;

/// What was made of a routing's rows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EquivalentLinks {
    /// Rows that some pair crosses, between switches.
    pub rows: usize,
    /// Groups of them.
    pub groups: usize,
    /// How far rows of a group are apart: standard deviation over their mean, weighted by bytes.
    pub apart: f64,
}

/// Rows with equal columns.
struct Group {
    rows: Vec<u32>,
    /// Rows that are known.
    known: usize,
    /// Of those.
    mean: f64,
    /// Of a row, by those known.
    variance: f64,
    /// Of the counters' noise, of the mean.
    noise: f64,
}

/// `[row]`: how far a row may be off because switches choose the least loaded port, of a routing that splits traffic: [`split_imbalance`] times what its
/// kind carries; 0 where no cable is missing. What a row's kind carries is what links out of its switch and links into the next carry in the mean,
/// whichever is less: a port that was avoided has counted little itself.
pub fn imbalance(
    operator: &Operator,
    routing: usize,
    fabric: &Fabric,
    paths: &PathSet,
    counted: &Counted,
) -> Vec<f64> {
    let mut off = vec![0.0; operator.rows()];
    let part = split_imbalance(fabric, paths);
    if part == 0.0 {
        return off;
    }
    let ends = operator.ends();
    let crossed = operator.forward(&vec![1.0; operator.pairs()]);
    let rows = operator.rows_of(routing).filter(|&row| crossed[row] > 0.0 && !ends[row]);
    let known = |row: usize| Some(counted.bytes[row]).filter(|bytes| bytes.is_finite());
    let both = |row: usize| {
        let link = operator.place(row).1;
        Some((fabric.link_from_switch(link)?, fabric.link_to_switch(link)?))
    };
    let between: Vec<_> = rows.filter_map(|row| Some((row, both(row)?))).collect();
    let (mut out, mut into) = (BTreeMap::<_, (f64, f64)>::new(), BTreeMap::<_, (f64, f64)>::new());
    for &(row, (from, to)) in &between {
        for sum in [out.entry(from).or_default(), into.entry(to).or_default()] {
            *sum = known(row).map_or(*sum, |bytes| (sum.0 + bytes, sum.1 + 1.0));
        }
    }
    let mean = |(sum, count): (f64, f64)| if count > 0.0 { sum / count } else { 0.0 };
    for (row, (from, to)) in between {
        let usual = mean(out[&from]).min(mean(into[&to]));
        off[row] = part * usual.max(known(row).unwrap_or(0.0));
    }
    off
}

/// How far links that a switch chooses among may be from their mean: where `few` of `all` lead to a destination, what goes there alone, split
/// evenly, leaves them `sqrt(all / few - 1)` of the mean apart, root mean square; where others go there too, the switch evens that out. The most
/// of all switches, and no more than 1; 0 where no cable is missing.
fn split_imbalance(fabric: &Fabric, paths: &PathSet) -> f64 {
    // By switch: links that are chosen among together, and the smallest choice of them.
    let mut choices = BTreeMap::<SwitchId, Vec<(BTreeSet<LinkId>, usize)>>::new();
    for group in 0..paths.group_count() as u32 {
        let links = paths.group_links(group);
        let Some(switch) = links.first().and_then(|&link| fabric.link_from_switch(link)) else { continue };
        let (mut together, mut least): (BTreeSet<LinkId>, usize) =
            (links.iter().copied().collect(), links.len());
        let of_switch = choices.entry(switch).or_default();
        of_switch.retain(|(others, few)| {
            let apart = others.is_disjoint(&together);
            if !apart {
                together.extend(others);
                least = least.min(*few);
            }
            apart
        });
        of_switch.push((together, least));
    }
    let part = |(links, few): &(BTreeSet<LinkId>, usize)| (links.len() as f64 / *few as f64 - 1.0).sqrt();
    choices.values().flatten().map(part).fold(0.0, f64::max).min(1.0)
}

/// The same counters with one row for each group of rows that are alike under routings that split traffic; the others are unknown. Rows that have
/// not all of their kind are off by `imbalance`, `[row]`, too.
pub fn merge_equivalent_links(
    operator: &Operator,
    counted: &Counted,
    imbalance: &[f64],
    settings: &CounterSettings,
) -> (Counted, EquivalentLinks) {
    let mut joined = counted.clone();
    let mut found = EquivalentLinks::default();
    if !operator.splits() {
        return (joined, found);
    }
    let probe = |seed: u64| {
        let mut draw = stream(seed, 0);
        operator.forward(&(0..operator.pairs()).map(|_| unit(&mut draw)).collect::<Vec<f64>>())
    };
    let sums = [probe(1), probe(2)];
    let mut groups = Vec::new();
    for routing in (0..operator.routings()).filter(|&k| operator.is_split(k)) {
        let crossed: Vec<u32> =
            operator.rows_of(routing).filter(|&row| sums[0][row] > 0.0).map(|row| row as u32).collect();
        groups.extend(equal(crossed, &sums).into_iter().map(|rows| Group::new(rows, counted)));
    }
    let ends = operator.ends();
    // Chance is that of packets: its variance grows with bytes.
    let several = || groups.iter().filter(|group| group.known > 1 && group.mean > 0.0);
    let count = several().map(|group| group.known as f64 - 1.0).sum::<f64>().max(1.0);
    let chance = several().map(|g| (g.known as f64 - 1.0) * g.beyond_noise() / g.mean).sum::<f64>() / count;
    let (mut square, mut weight) = (0.0, 0.0);
    for group in &groups {
        if group.rows.len() > 1 || !ends[group.rows[0] as usize] {
            found.rows += group.rows.len();
            found.groups += 1;
        }
        if group.known > 1 {
            square += group.known as f64 * group.beyond_noise();
            weight += group.known as f64 * group.mean * group.mean;
        }
        for &row in &group.rows[1..] {
            joined.bytes[row as usize] = f64::NAN;
        }
        let first = group.rows[0] as usize;
        joined.bytes[first] = group.mean;
        let (all, known) = (group.rows.len() as f64, group.known.max(1) as f64);
        let of_row = if group.known >= settings.scatter_links {
            group.beyond_noise()
        } else {
            chance * group.mean.max(0.0)
        };
        // Those left out of a whole are as far off as those that are not.
        let chance = if ends[first] {
            0.0
        } else if whole(operator, &group.rows) {
            of_row * (1.0 / known - 1.0 / all)
        } else {
            // All of them are off alike: a mean is no better.
            of_row / known + group.rows.iter().map(|&row| imbalance[row as usize].powi(2)).sum::<f64>() / all
        };
        joined.deviation[first] = if group.known > 0 { (group.noise + chance).sqrt() } else { 0.0 };
    }
    found.apart = if weight > 0.0 { (square / weight).sqrt() } else { 0.0 };
    (joined, found)
}

/// Rows in groups of equal sums.
fn equal(mut rows: Vec<u32>, sums: &[Vec<f64>; 2]) -> Vec<Vec<u32>> {
    let near = |which: usize| {
        move |&a: &u32, &b: &u32| {
            let (a, b) = (sums[which][a as usize], sums[which][b as usize]);
            (a - b).abs() <= SAME * a.abs().max(b.abs())
        }
    };
    let by =
        |which: usize| move |a: &u32, b: &u32| sums[which][*a as usize].total_cmp(&sums[which][*b as usize]);
    let mut groups = Vec::new();
    rows.sort_by(by(0));
    for same in rows.chunk_by_mut(near(0)) {
        same.sort_by(by(1));
        for same in same.chunk_by(near(1)) {
            let mut same = same.to_vec();
            same.sort_unstable();
            groups.push(same);
        }
    }
    groups.sort();
    groups
}

/// Whether every pair crosses these rows, together, once or not at all.
fn whole(operator: &Operator, rows: &[u32]) -> bool {
    let mut u = vec![0.0; operator.rows()];
    rows.iter().for_each(|&row| u[row as usize] = 1.0);
    operator.adjoint(&u).iter().all(|&sum| sum.abs() < SAME || (sum - 1.0).abs() < SAME)
}

impl Group {
    fn new(rows: Vec<u32>, counted: &Counted) -> Self {
        let bytes = || rows.iter().map(|&row| counted.bytes[row as usize]).filter(|b| b.is_finite());
        let known = bytes().count();
        let mean = if known > 0 { bytes().sum::<f64>() / known as f64 } else { f64::NAN };
        let variance =
            bytes().map(|b| (b - mean).powi(2)).sum::<f64>() / known.saturating_sub(1).max(1) as f64;
        let noise = rows.iter().filter(|&&row| counted.bytes[row as usize].is_finite());
        let noise = noise.map(|&row| counted.deviation[row as usize].powi(2)).sum::<f64>();
        Self { known, mean, variance, noise: noise / (known.max(1) as f64).powi(2), rows }
    }

    /// The variance of a row that counters' noise does not make.
    fn beyond_noise(&self) -> f64 {
        (self.variance - self.noise * self.known as f64).max(0.0)
    }
}
