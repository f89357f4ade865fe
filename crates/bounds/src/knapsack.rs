//! The worthiest set of items that fits a room: a bounded knapsack, exact.
//!
//! Sets are grown one item at a time, the worthiest by size first; of two sets the larger that is worth no more is
//! dropped, and so is every set that cannot become worth more than what is asked for, even if the rest of its room were
//! filled with the worthiest kind left. All arithmetic is in whole numbers. Source: Pisinger and Toth, *Knapsack
//! Problems* (1998), lists of undominated states.

/// Items of one size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Kind {
    /// In steps of a grid, not 0.
    pub size: u64,
    pub count: u64,
}

/// The work that was allowed is spent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spent;

/// States that may still be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowance(pub u64);

impl Allowance {
    pub fn take(&mut self, work: u64) -> Result<(), Spent> {
        self.0 = self.0.checked_sub(work).ok_or(Spent)?;
        Ok(())
    }
}

/// A set: its size, its worth, the item added last and what it was added to.
#[derive(Clone, Copy)]
struct Set {
    size: u64,
    worth: u64,
    node: u32,
}

const EMPTY: u32 = u32::MAX;

/// The worthiest set that fits `room`, if it is worth more than `least`: its worth, and how many of every kind it takes.
///
/// `worth`: of one item of each kind.
pub(crate) fn worthiest(
    kinds: &[Kind],
    worth: &[u64],
    room: u64,
    least: u64,
    allowance: &mut Allowance,
) -> Result<Option<(u64, Vec<u32>)>, Spent> {
    let mut order: Vec<usize> = (0..kinds.len()).filter(|&k| worth[k] > 0 && kinds[k].size <= room).collect();
    let ratio = |a: usize, b: usize| u128::from(worth[a]) * u128::from(kinds[b].size);
    order.sort_by(|&a, &b| ratio(b, a).cmp(&ratio(a, b)).then(kinds[b].size.cmp(&kinds[a].size)));
    let copies = |k: usize| kinds[k].count.min(room / kinds[k].size);
    // All that is left to add from a position of the order on.
    let mut left: u64 = order.iter().map(|&k| copies(k) * worth[k]).sum();
    let mut nodes: Vec<(u32, u32)> = Vec::new();
    let mut sets = vec![Set { size: 0, worth: 0, node: EMPTY }];
    let mut best: Option<Set> = None;
    let mut least = least;
    let mut grown: Vec<Set> = Vec::new();
    for &k in &order {
        let (size, gain) = (kinds[k].size, worth[k]);
        for _ in 0..copies(k) {
            allowance.take(sets.len() as u64 + 1)?;
            // From here on no kind is worth more by size.
            let hopeless = |s: &Set| {
                let filled = u128::from(room - s.size) * u128::from(gain) / u128::from(size);
                u128::from(s.worth) + filled.min(u128::from(left)) <= u128::from(least)
            };
            sets.retain(|s| !hopeless(s));
            left -= gain;
            grown.clear();
            let (mut i, mut j, mut most) = (0, 0, None);
            let fits = sets.partition_point(|s| s.size + size <= room);
            while i < sets.len() || j < fits {
                // The smaller first, at equal sizes the worthier.
                let old = i < sets.len()
                    && (j >= fits
                        || (sets[i].size, std::cmp::Reverse(sets[i].worth))
                            <= (sets[j].size + size, std::cmp::Reverse(sets[j].worth + gain)));
                let set = if old {
                    i += 1;
                    sets[i - 1]
                } else {
                    j += 1;
                    Set { size: sets[j - 1].size + size, worth: sets[j - 1].worth + gain, ..sets[j - 1] }
                };
                if most.is_some_and(|m| set.worth <= m) {
                    continue;
                }
                most = Some(set.worth);
                if old {
                    grown.push(set);
                    continue;
                }
                nodes.push((set.node, k as u32));
                let set = Set { node: nodes.len() as u32 - 1, ..set };
                grown.push(set);
                if set.worth > least {
                    (least, best) = (set.worth, Some(set));
                }
            }
            std::mem::swap(&mut sets, &mut grown);
        }
    }
    Ok(best.map(|set| {
        let mut taken = vec![0; kinds.len()];
        let mut node = set.node;
        while node != EMPTY {
            let (before, k) = nodes[node as usize];
            taken[k as usize] += 1;
            node = before;
        }
        (set.worth, taken)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_model::rng;

    #[test]
    fn the_worthiest_set_is_found_and_named() {
        // Room 10: two 4s (worth 5 each) and a 2 (worth 1): 11; one 7 (worth 9) and a 2: 10.
        let kinds = [Kind { size: 7, count: 1 }, Kind { size: 4, count: 3 }, Kind { size: 2, count: 5 }];
        let worth = [9, 5, 1];
        let all = &mut Allowance(1000);
        assert_eq!(worthiest(&kinds, &worth, 10, 0, all), Ok(Some((11, vec![0, 2, 1]))));
        assert_eq!(worthiest(&kinds, &worth, 10, 11, all), Ok(None));
        assert_eq!(worthiest(&kinds, &worth, 10, 0, &mut Allowance(3)), Err(Spent));
    }

    #[test]
    fn it_agrees_with_a_table() {
        let mut stream = rng::stream(3, 0);
        for _ in 0..500 {
            let mut draw = |most| 1 + rng::below(&mut stream, most);
            let kinds: Vec<Kind> = (0..draw(6)).map(|_| Kind { size: draw(12), count: draw(3) }).collect();
            let worth: Vec<u64> = kinds.iter().map(|_| draw(15) - 1).collect();
            let room = draw(40) as usize;
            let mut table = vec![0; room + 1];
            for (k, w) in kinds.iter().zip(&worth) {
                for _ in 0..k.count {
                    for r in (k.size as usize..=room).rev() {
                        table[r] = table[r].max(table[r - k.size as usize] + w);
                    }
                }
            }
            let found = worthiest(&kinds, &worth, room as u64, 0, &mut Allowance(u64::MAX)).unwrap();
            assert_eq!(found.as_ref().map_or(0, |f| f.0), table[room]);
            if let Some((total, taken)) = found {
                let sum = |of: &dyn Fn(usize) -> u64| {
                    (0..kinds.len()).map(|k| u64::from(taken[k]) * of(k)).sum::<u64>()
                };
                assert!(sum(&|k| kinds[k].size) <= room as u64 && sum(&|k| worth[k]) == total);
                assert!(taken.iter().zip(&kinds).all(|(&t, k)| u64::from(t) <= k.count));
            }
        }
    }
}
