//! Whole items into few links by patterns: which weights on the items show best that they do not fit.
//!
//! Give every size a weight; let `V(r)` be the greatest weight of items that fit a room of `r` bytes. If all items
//! weigh more than `V(r)` summed over the links, they do not fit: a dual-feasible function made to measure. The
//! best weights are the prices of the linear program that fits fractions of *patterns* (sets of items that one link can
//! hold) into the links so that as little as possible is left over. It starts with no pattern; the
//! knapsack that is worth more than its link's price is the next one.
//! Sources: Gilmore and Gomory (1961); Farley (1990) for the bound before the program is solved to its end.
//!
//! Sizes are rounded down to a grid (their own, if it is not too fine), and so are rooms: what fits still fits.

use crate::bins::Bins;
use crate::knapsack::{Allowance, Kind, Spent, worthiest};
use crate::sums::common_grid;

/// Weights of items by size.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Weights {
    /// Bytes of a step: sizes and rooms are rounded down to whole steps.
    pub grid: f64,
    /// An item weighs as the last of these sizes (bytes, rising) that it reaches; below the first nothing.
    pub by_size: Vec<(f64, u64)>,
}

/// Steps of the largest room on the sizes' own grid.
const FINE_GRID: f64 = 4e6;
/// Steps of the largest room where the sizes have no useful grid.
const COARSE_GRID: f64 = 131_072.0;
/// Different sizes at most.
const MOST_KINDS: usize = 200;
/// What a weight of 1 is in whole numbers.
const UNIT: f64 = 16_777_216.0;
/// What no comparison of prices may hang on.
const ROUNDING: f64 = 1e-9;
/// Rounding of whole steps.
const STEP_ROUNDING: f64 = 1.0 + 1e-12;
/// Relative width at which the search for the largest refused load ends.
const BISECTION_WIDTH: f64 = 1e-7;

/// The largest load above `floor` that patterns refuse, with the weights; `None` if they do not refuse `floor`, or not within
/// `allowance`. `packed`: a load that some packing reaches.
pub(crate) fn bound(
    sizes: &[f64],
    bins: &Bins,
    floor: f64,
    packed: f64,
    allowance: &mut Allowance,
) -> Option<(f64, Weights)> {
    let largest = bins.rooms(packed).fold(0.0, f64::max);
    let Kinds { grid, kinds, least } = Kinds::new(sizes, largest)?;
    if kinds.len() > MOST_KINDS || kinds[0].size > steps(largest, grid) {
        return None;
    }
    let mut search = Search { kinds: &kinds, bins, grid, patterns: Vec::new(), allowance };
    let mut weights = search.refuse(floor).ok()??;
    let (mut low, mut high) = (search.largest_refused(&weights, floor, packed).unwrap_or(floor), packed);
    while high - low > low * BISECTION_WIDTH {
        let middle = 0.5 * (low + high);
        match search.refuse(middle) {
            Ok(Some(better)) => {
                low = search.largest_refused(&better, middle, high).unwrap_or(middle);
                weights = better;
            }
            Ok(None) => high = middle,
            Err(Spent) => break,
        }
    }
    Some((low, by_size(grid, &least, weights)))
}

/// Weights that show that the items do not fit below a load of `z`, if patterns do, by kind.
pub(crate) fn refusing(kinds: &Kinds, bins: &Bins, z: f64, allowance: &mut Allowance) -> Option<Vec<u64>> {
    if kinds.kinds.len() > MOST_KINDS {
        return None;
    }
    let mut search = Search { kinds: &kinds.kinds, bins, grid: kinds.grid, patterns: Vec::new(), allowance };
    search.refuse(z).ok()?
}

/// Weights by kind as weights by size.
pub(crate) fn by_size(grid: f64, least: &[f64], weights: Vec<u64>) -> Weights {
    let mut by_size: Vec<(f64, u64)> = least.iter().copied().zip(weights).rev().collect();
    by_size.dedup_by_key(|&mut (_, weight)| weight);
    Weights { grid, by_size }
}

/// Items by size in steps of a grid, largest first.
pub(crate) struct Kinds {
    /// Bytes of a step.
    pub grid: f64,
    pub kinds: Vec<Kind>,
    /// Bytes of the smallest item of every kind.
    pub least: Vec<f64>,
}

impl Kinds {
    /// `sizes`: largest first; `room`: the largest. None if all items round down to nothing.
    pub fn new(sizes: &[f64], room: f64) -> Option<Self> {
        let grid = match common_grid(sizes) {
            Some(grid) if room / grid <= FINE_GRID => grid,
            _ => room / COARSE_GRID,
        };
        if !grid.is_normal() {
            return None;
        }
        // Sizes fall, so equal steps are neighbours; a kind starts at its smallest size.
        let (mut kinds, mut least): (Vec<Kind>, Vec<f64>) = (Vec::new(), Vec::new());
        for &bytes in sizes {
            let size = steps(bytes, grid);
            match kinds.last_mut() {
                Some(kind) if kind.size == size => {
                    kind.count += 1;
                    *least.last_mut()? = bytes;
                }
                _ => {
                    kinds.push(Kind { size, count: 1 });
                    least.push(bytes);
                }
            }
        }
        if kinds.last()?.size == 0 {
            kinds.pop();
            least.pop();
        }
        (!kinds.is_empty()).then_some(Self { grid, kinds, least })
    }
}

/// Whole steps of a grid.
pub(crate) fn steps(bytes: f64, grid: f64) -> u64 {
    (bytes / grid * STEP_ROUNDING) as u64
}

struct Search<'a> {
    kinds: &'a [Kind],
    bins: &'a Bins,
    grid: f64,
    /// Patterns met so far, as numbers of every kind, with their sizes.
    patterns: Vec<(u64, Vec<u32>)>,
    allowance: &'a mut Allowance,
}

/// A column of the program.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    /// Items of a kind that are left over, at the price of their size.
    Left(usize),
    /// More of a kind than there is.
    Over(usize),
    /// Links of a room that hold nothing.
    Idle(usize),
    /// Links of a room that hold a pattern.
    Filled(usize, usize),
}

impl Search<'_> {
    /// Rooms below a load of `z` in steps, with the number of their links; largest first.
    fn rooms(&self, z: f64) -> Vec<(u64, u64)> {
        let mut rooms: Vec<u64> = self.bins.rooms(z).map(|room| steps(room, self.grid)).collect();
        rooms.sort_unstable_by(|a, b| b.cmp(a));
        rooms.chunk_by(|a, b| a == b).map(|same| (same[0], same.len() as u64)).collect()
    }

    fn weigh(&self, weights: &[u64]) -> u64 {
        self.kinds.iter().zip(weights).map(|(k, w)| k.count * w).sum()
    }

    /// Whether `weights` show that the items do not fit below `z`.
    fn shown(&mut self, weights: &[u64], z: f64) -> Result<bool, Spent> {
        let total = self.weigh(weights);
        let rooms = self.rooms(z);
        if let [(room, links)] = rooms[..] {
            let enough = total.div_ceil(links);
            return Ok(worthiest(self.kinds, weights, room, enough - 1, self.allowance)?.is_none());
        }
        let mut held = 0;
        for (room, links) in rooms {
            held += links * worthiest(self.kinds, weights, room, 0, self.allowance)?.map_or(0, |w| w.0);
        }
        Ok(held < total)
    }

    /// The largest load from `low` (which they refuse) to `high` such that `weights` refuse everything below.
    fn largest_refused(&mut self, weights: &[u64], low: f64, high: f64) -> Result<f64, Spent> {
        if self.bins.alike() {
            // Rooms are whole steps.
            let step = self.grid / self.bins.capacity[0];
            let (mut low, mut high) = (steps(low, step), steps(high, step) + 1);
            while high - low > 1 {
                let middle = low + (high - low) / 2;
                if self.shown(weights, middle as f64 * step)? { low = middle } else { high = middle }
            }
            return Ok(high as f64 * step);
        }
        let (mut low, mut high) = (low, high);
        while high - low > low * 1e-13 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if self.shown(weights, middle)? { low = middle } else { high = middle }
        }
        Ok(low)
    }

    /// Weights that show that the items do not fit below `z`; none if (fractions of) patterns hold them all.
    ///
    /// The primal simplex method with an explicit inverse: a row a kind (how many are held or left over), a row a
    /// size of room (how many links).
    fn refuse(&mut self, z: f64) -> Result<Option<Vec<u64>>, Spent> {
        let rooms = self.rooms(z);
        let (kinds, rows) = (self.kinds.len(), self.kinds.len() + rooms.len());
        let largest = rooms[0].0.max(1) as f64;
        let price = |k: usize| self.kinds[k].size as f64 / largest;
        let prices: Vec<f64> = (0..kinds).map(price).collect();
        let mut basis: Vec<Column> =
            (0..kinds).map(Column::Left).chain((0..rooms.len()).map(Column::Idle)).collect();
        let mut value: Vec<f64> = self.kinds.iter().map(|k| k.count as f64).collect();
        value.extend(rooms.iter().map(|r| r.1 as f64));
        let all: f64 = value[..kinds].iter().zip(&prices).map(|(v, p)| v * p).sum();
        let mut inverse = vec![0.0; rows * rows];
        (0..rows).for_each(|i| inverse[i * rows + i] = 1.0);
        for _ in 0..300 + 30 * rows {
            self.allowance.take((rows * rows / 8) as u64)?;
            let mut dual = vec![0.0; rows];
            let mut left = 0.0;
            for (i, column) in basis.iter().enumerate() {
                if let Column::Left(k) = column {
                    left += value[i] * prices[*k];
                    for (d, x) in dual.iter_mut().zip(&inverse[i * rows..][..rows]) {
                        *d += prices[*k] * x;
                    }
                }
            }
            if left <= ROUNDING * all {
                return Ok(None);
            }
            // By how much a column would lower what is left over.
            let simple = (0..kinds)
                .flat_map(|k| [(dual[k] - prices[k], Column::Left(k)), (-dual[k], Column::Over(k))]);
            let simple = simple.chain((0..rooms.len()).map(|c| (dual[kinds + c], Column::Idle(c))));
            let mut enter = simple.max_by(|a, b| a.0.total_cmp(&b.0)).filter(|c| c.0 > ROUNDING).map(|c| c.1);
            if enter.is_none() {
                let worth: Vec<u64> = dual[..kinds].iter().map(|d| (d.max(0.0) * UNIT) as u64).collect();
                let least: Vec<u64> =
                    (0..rooms.len()).map(|c| ((-dual[kinds + c]).max(0.0) * UNIT) as u64 + 64).collect();
                enter = self.known(&worth, &rooms, &least);
                if enter.is_none() {
                    let mut held = 0;
                    let mut gain = 0;
                    for (c, &(room, links)) in rooms.iter().enumerate() {
                        let found = worthiest(self.kinds, &worth, room, least[c], self.allowance)?;
                        held += links * found.as_ref().map_or(least[c], |f| f.0);
                        if let Some((total, taken)) = found {
                            let size =
                                taken.iter().zip(self.kinds).map(|(&t, k)| u64::from(t) * k.size).sum();
                            self.patterns.push((size, taken));
                            if total - least[c] > gain {
                                gain = total - least[c];
                                enter = Some(Column::Filled(c, self.patterns.len() - 1));
                            }
                        }
                    }
                    if held < self.weigh(&worth) {
                        return Ok(Some(worth));
                    }
                }
            }
            let Some(enter) = enter else { return Ok(None) };
            // The column in terms of the basis.
            let mut step = vec![0.0; rows];
            let mut add = |row: usize, factor: f64| {
                for (i, s) in step.iter_mut().enumerate() {
                    *s += factor * inverse[i * rows + row];
                }
            };
            match enter {
                Column::Left(k) => add(k, 1.0),
                Column::Over(k) => add(k, -1.0),
                Column::Idle(c) => add(kinds + c, 1.0),
                Column::Filled(c, p) => {
                    add(kinds + c, 1.0);
                    let taken = self.patterns[p].1.iter().enumerate().filter(|(_, t)| **t > 0);
                    taken.for_each(|(k, &t)| add(k, f64::from(t)));
                }
            }
            let ratios = (0..rows).filter(|&i| step[i] > ROUNDING).map(|i| (value[i].max(0.0) / step[i], i));
            let Some((length, at)) =
                ratios.min_by(|a, b| a.0.total_cmp(&b.0).then(step[b.1].total_cmp(&step[a.1])))
            else {
                return Ok(None);
            };
            for (i, v) in value.iter_mut().enumerate() {
                *v = if i == at { length } else { (*v - length * step[i]).max(0.0) };
            }
            let pivot: Vec<f64> = inverse[at * rows..][..rows].iter().map(|x| x / step[at]).collect();
            for (i, row) in inverse.chunks_mut(rows).enumerate() {
                if i == at {
                    row.copy_from_slice(&pivot);
                } else if step[i] != 0.0 {
                    row.iter_mut().zip(&pivot).for_each(|(x, p)| *x -= step[i] * p);
                }
            }
            basis[at] = enter;
        }
        Ok(None)
    }

    /// The best pattern met before, if one is worth more than its link's price.
    fn known(&self, worth: &[u64], rooms: &[(u64, u64)], least: &[u64]) -> Option<Column> {
        let mut best: Option<(u64, Column)> = None;
        for (p, (size, taken)) in self.patterns.iter().enumerate() {
            let total: u64 = taken.iter().zip(worth).map(|(&t, w)| u64::from(t) * w).sum();
            for (c, &(room, _)) in rooms.iter().enumerate() {
                if *size <= room && total > least[c] && best.is_none_or(|b| total - least[c] > b.0) {
                    best = Some((total - least[c], Column::Filled(c, p)));
                }
            }
        }
        best.map(|b| b.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packing::{quick, slow};
    use netloom_model::rng;

    fn found(sizes: &[f64], bins: &Bins, floor: f64, packed: f64) -> Option<(f64, Weights)> {
        bound(sizes, bins, floor, packed, &mut Allowance(10_000_000))
    }

    /// The optimum by exhaustive search.
    fn optimum(sizes: &[f64], loads: &mut [f64], bins: &Bins, best: &mut f64) {
        let Some((&first, rest)) = sizes.split_first() else {
            let load = loads.iter().zip(&bins.capacity).map(|(b, c)| b / c);
            *best = load.fold(0.0, f64::max).min(*best);
            return;
        };
        for i in 0..loads.len() {
            if (loads[i] + first) / bins.capacity[i] < *best {
                loads[i] += first;
                optimum(rest, loads, bins, best);
                loads[i] -= first;
            }
        }
    }

    #[test]
    fn weights_show_what_neither_thresholds_nor_sums_see() {
        // 10, 10, 10, 7, 7, 7, 6, 5, 3 on 3 links: mean 21.67, but 22 won't do. Let a 10 weigh 3, a 7 or a 6 2, a 5 or a
        // 3 1: 9 + 6 + 2 + 2 = 19 in all. Below 23 a link holds 6 at most: {10, 10}, {10, 7, 5}, {7, 7, 7},
        // {7, 7, 5, 3}. 3 * 6 < 19.
        let sizes = [10.0, 10.0, 10.0, 7.0, 7.0, 7.0, 6.0, 5.0, 3.0];
        let (claim, weights) = found(&sizes, &Bins::even(3), 65.0 / 3.0, 27.0).unwrap();
        assert_eq!(claim, 23.0);
        let unit = weights.by_size[0].1;
        let in_units: Vec<(f64, u64)> = weights.by_size.iter().map(|&(s, w)| (s, w / unit)).collect();
        assert_eq!(in_units, [(3.0, 1), (6.0, 2), (10.0, 3)]);
        // Without that much work nothing is claimed.
        assert_eq!(bound(&sizes, &Bins::even(3), 65.0 / 3.0, 27.0, &mut Allowance(20)), None);
        // 9, 9, 9, 9, 4, 4 on 3 links: {9, 9}, {9, 9}, {4, 4} at 18 is what sums show already.
        assert_eq!(found(&[9.0, 9.0, 9.0, 9.0, 4.0, 4.0], &Bins::even(3), 18.0, 18.0), None);
    }

    #[test]
    fn no_bound_exceeds_the_optimum_and_some_exceed_all_others() {
        let mut stream = rng::stream(9, 0);
        let (mut better, mut tight) = (0, 0);
        for case in 0..1500 {
            let m = 2 + rng::below(&mut stream, 3) as usize;
            let n = 4 + rng::below(&mut stream, 6) as usize;
            // Fractions are on no useful grid.
            let scale = [1.0, 1.0, 0.1][case % 3];
            let mut draw = |most| (1 + rng::below(&mut stream, most)) as f64;
            let mut sizes: Vec<f64> = (0..n).map(|_| draw(12) * scale).collect();
            sizes.sort_by(|a, b| b.total_cmp(a));
            let mut bins = Bins::even(m);
            if case % 2 == 0 {
                bins.capacity = (0..m).map(|_| 1.0 / draw(3)).collect();
                bins.base = (0..m).map(|_| (draw(20) - 8.0).max(0.0) * scale).collect();
            }
            let filled = sizes.iter().chain(&bins.base).sum::<f64>() / bins.capacity.iter().sum::<f64>();
            let fixed = bins.base.iter().zip(&bins.capacity).map(|(f, c)| f / c);
            let mean = fixed.fold(filled, f64::max);
            let mut best = f64::INFINITY;
            optimum(&sizes, &mut bins.base.clone(), &bins, &mut best);
            let (quick, packed) = quick(&sizes, &bins, mean);
            let other = quick.map_or(mean, |q| q.0);
            let other = slow(&sizes, &bins, other, packed).map_or(other, |q| q.0);
            if let Some((claim, _)) = found(&sizes, &bins, mean, packed) {
                assert!(claim <= best * (1.0 + 1e-9), "{claim} > {best}: {sizes:?} {bins:?}");
                better += u32::from(claim > other * (1.0 + 1e-9));
                tight += u32::from(claim > other * (1.0 + 1e-9) && claim >= best * (1.0 - 1e-4));
            }
        }
        assert!(better > 20 && tight * 10 > better * 7, "{tight} of {better}");
    }
}
