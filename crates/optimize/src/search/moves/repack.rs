//! Repacking: all items of one side of a switch at once, into its links, below an aim.
//!
//! Where a leaf is so full that only few packings of its items stay below the aim, moving a handful of items
//! rarely meets one of them. Here everything on the links beside a hot one is lifted; what every item would
//! overload elsewhere is looked up once for every link (as if it came alone), and the items
//! are packed anew by simulated annealing on what all that exceeds the aim in all. Exchanges of up to two items
//! for up to two others are steps of a few nanoseconds then, hundreds of thousands a repacking. What
//! the new paths overload together elsewhere is the next link of the chain (see `ejection`).

use netloom_model::rng::Stream;
use rand_core::Rng;

use crate::search::moves::siblings::Siblings;
use crate::search::state::State;
use crate::search::state::slots::NONE;

/// Items times links that are repacked at most: each pair is a path search.
const MOST_PAIRS: usize = 6000;
/// Steps of annealing an item.
const STEPS: u64 = 1500;
/// First and last temperature, relative to the aim: 0.13 % lets whole small items pass, 0.03 % hardly rounding.
const FIRST_TEMPERATURE: f64 = 1.3e-3;
const LAST_TEMPERATURE: f64 = 3e-4;
/// Steps that cost as much as a path search.
const STEPS_PER_SEARCH: u64 = 25;

/// Items to be packed into links, and where they are.
#[derive(Debug, Default)]
pub(crate) struct Packing {
    /// What each item adds to a link's load.
    size: Vec<f64>,
    /// Load of each link up to the aim.
    room: Vec<f64>,
    /// `cost[item * links + link]`: what the item exceeds elsewhere.
    cost: Vec<f64>,
    /// Link of each item.
    at: Vec<u32>,
    /// Items of each link.
    on: Vec<Vec<u32>>,
    /// Load of each link.
    load: Vec<f64>,
}

impl Packing {
    fn links(&self) -> usize {
        self.room.len()
    }

    /// Puts every item where `at` says.
    fn recompute(&mut self) {
        self.on.iter_mut().for_each(Vec::clear);
        self.on.resize(self.room.len(), Vec::new());
        self.load.clear();
        self.load.resize(self.room.len(), 0.0);
        for (item, &link) in self.at.iter().enumerate() {
            self.on[link as usize].push(item as u32);
            self.load[link as usize] += self.size[item];
        }
    }

    /// What links and items exceed in all.
    fn excess(&self) -> f64 {
        let own = self.load.iter().zip(&self.room).map(|(l, r)| (l - r).max(0.0)).sum::<f64>();
        own + self.at.iter().enumerate().map(|(i, &l)| self.cost[i * self.links() + l as usize]).sum::<f64>()
    }

    /// Anneals from the present packing, and keeps the last; stops as soon as nothing exceeds. Temperatures are in
    /// units of load.
    fn anneal(&mut self, steps: u64, warm: f64, cold: f64, seed: u64) -> u64 {
        let m = self.links();
        self.recompute();
        let mut excess = self.excess();
        let enough = 1e-9 * warm;
        let mut uniform = Uniform(seed);
        let cooling = (cold / warm).powf(256.0 / steps as f64);
        let mut temperature = warm;
        let (mut out, mut back) = ([NONE; 2], [NONE; 2]);
        for step in 0..steps {
            if excess <= enough {
                return step;
            }
            if step % 256 == 255 {
                temperature *= cooling;
                // Rounding must not build up.
                self.recompute();
                excess = self.excess();
            }
            let a = uniform.below(m);
            let b = (a + 1 + uniform.below(m - 1)) % m;
            let (leave, come) = (1 + uniform.below(2), uniform.below(3));
            if self.on[a].len() < leave || self.on[b].len() < come {
                continue;
            }
            uniform.some(&self.on[a], leave, &mut out);
            uniform.some(&self.on[b], come, &mut back);
            let (mut bytes, mut rise) = (0.0, 0.0);
            for &i in out.iter().filter(|&&i| i != NONE) {
                let cost = &self.cost[i as usize * m..][..m];
                bytes += self.size[i as usize];
                rise += cost[b] - cost[a];
            }
            for &i in back.iter().filter(|&&i| i != NONE) {
                let cost = &self.cost[i as usize * m..][..m];
                bytes -= self.size[i as usize];
                rise += cost[a] - cost[b];
            }
            let over = |link: usize, change: f64| (self.load[link] + change - self.room[link]).max(0.0);
            rise += over(a, -bytes) + over(b, bytes) - over(a, 0.0) - over(b, 0.0);
            if rise > 0.0 && uniform.unit() >= (-rise / temperature).exp() {
                continue;
            }
            for (items, from, to) in [(&out, a, b), (&back, b, a)] {
                for &i in items.iter().filter(|&&i| i != NONE) {
                    let place = self.on[from].iter().position(|&x| x == i).expect("it is there");
                    self.on[from].swap_remove(place);
                    self.on[to].push(i);
                    self.at[i as usize] = to as u32;
                }
            }
            self.load[a] -= bytes;
            self.load[b] += bytes;
            excess += rise;
        }
        steps
    }
}

/// Random numbers in few instructions (splitmix64): a step of annealing takes half a dozen.
struct Uniform(u64);

impl Uniform {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (((self.next() >> 32) * n as u64) >> 32) as usize
    }

    fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// `count` different ones of `from`, the rest [`NONE`].
    fn some(&mut self, from: &[u32], count: usize, into: &mut [u32; 2]) {
        *into = [NONE; 2];
        if count == 0 {
            return;
        }
        let first = self.below(from.len());
        into[0] = from[first];
        if count == 2 {
            into[1] = from[(first + 1 + self.below(from.len() - 1)) % from.len()];
        }
    }
}

/// Repacks the links beside `hot`, so that nothing exceeds `aim` (relative to the goal) if that is found. False if there
/// is nothing to repack, or some item found no way (then the state must be taken back). The state must be
/// logging and tracking.
pub(crate) fn repack(
    state: &mut State,
    siblings: &Siblings,
    hot: u32,
    aim: f64,
    random: &mut Stream,
) -> bool {
    let list = siblings.of(hot);
    let mut items: Vec<u32> = list.iter().flat_map(|&s| state.items_on(s).iter().copied()).collect();
    if !worth(state, siblings, hot) {
        return false;
    }
    let m = list.len();
    items.sort_unstable();
    let first = |item: u32| {
        let path = &state.path[item as usize * state.view.stride..][..state.view.stride];
        list.iter().position(|s| path.contains(s)).expect("the item is on one of them") as u32
    };
    let aim = aim * state.objective.goal[0];
    let mut packing = Packing { at: items.iter().map(|&i| first(i)).collect(), ..Packing::default() };
    for &item in &items {
        state.remove(item as usize);
    }
    packing.room = list.iter().map(|&s| aim - state.load[s as usize]).collect();
    packing.cost = Vec::with_capacity(items.len() * m);
    for &item in &items {
        let bytes = state.items.bytes[item as usize];
        packing.size.push(bytes * state.view.inv_cap[hot as usize]);
        state.fix(state.items.group[item as usize] as usize);
        for &slot in list {
            force(state, list, slot);
            let cost = if state.search(item as usize) {
                let elsewhere = state.scratch.found.iter().filter(|&&s| s != slot);
                let over = |s: &u32| {
                    let (load, more) = (state.load[*s as usize], bytes * state.view.inv_cap[*s as usize]);
                    (load + more - aim).max(0.0) - (load - aim).max(0.0)
                };
                elsewhere.map(over).sum()
            } else {
                aim
            };
            packing.cost.push(cost);
        }
    }
    let steps = STEPS * items.len() as u64;
    let used = packing.anneal(steps, FIRST_TEMPERATURE * aim, LAST_TEMPERATURE * aim, random.next_u64());
    state.work += used / STEPS_PER_SEARCH;
    // Large items first: they have the fewest other ways.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by(|&x, &y| packing.size[y].total_cmp(&packing.size[x]).then(x.cmp(&y)));
    let placed = order.into_iter().all(|k| {
        let item = items[k] as usize;
        state.fix(state.items.group[item] as usize);
        force(state, list, list[packing.at[k] as usize]);
        state.insert(item) || {
            state.scratch.forbidden.clear();
            state.insert(item)
        }
    });
    state.scratch.forbidden.clear();
    placed
}

/// What repacking the links beside `hot` costs, in path searches.
pub(crate) fn price(state: &State, siblings: &Siblings, hot: u32) -> u64 {
    let list = siblings.of(hot);
    let items: u64 = list.iter().map(|&s| state.items_on(s).len() as u64).sum();
    items * (list.len() as u64 + 1) + STEPS * items / STEPS_PER_SEARCH
}

/// Whether there is something to repack that is not too much.
fn worth(state: &State, siblings: &Siblings, hot: u32) -> bool {
    let list = siblings.of(hot);
    let items: usize = list.iter().map(|&s| state.items_on(s).len()).sum();
    let alike = |s: &u32| state.view.inv_cap[*s as usize] == state.view.inv_cap[hot as usize];
    // An item's bytes in several layers fit no one room; and all items moved are too many changed entries.
    !state.is_counted()
        && list.len() > 1
        && state.items.amounts.is_none()
        && items > 1
        && items * list.len() <= MOST_PAIRS
        && list.iter().all(alike)
}

fn force(state: &mut State, list: &[u32], slot: u32) {
    state.scratch.forbidden.clear();
    state.scratch.forbidden.extend(list.iter().filter(|&&s| s != slot));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packed(size: &[f64], room: &[f64], cost: Vec<f64>) -> Packing {
        let mut packing = Packing {
            at: vec![0; size.len()],
            size: size.to_vec(),
            room: room.to_vec(),
            cost,
            ..Packing::default()
        };
        let aim = room[0];
        packing.anneal(200_000, FIRST_TEMPERATURE.max(0.05) * aim, LAST_TEMPERATURE * aim, 1);
        packing.recompute();
        packing
    }

    #[test]
    fn what_fits_exactly_is_found() {
        // 7, 7, 7, 7, 5, 5 on 3 links: {7, 7}, {7, 5}, {7, 5}.
        let size = [7.0, 7.0, 7.0, 7.0, 5.0, 5.0];
        let mut loads = packed(&size, &[14.0; 3], vec![0.0; 18]).load;
        loads.sort_by(f64::total_cmp);
        assert_eq!(loads, [12.0, 12.0, 14.0]);
    }

    #[test]
    fn items_keep_off_links_that_cost_them_elsewhere() {
        // 4, 3, 2, 1 on 2 links of 5: {4, 1}, {3, 2}. The 4 must not be on the first link, the 2 not on the second.
        let mut cost = vec![0.0; 8];
        cost[0] = 9.0;
        cost[5] = 9.0;
        let packing = packed(&[4.0, 3.0, 2.0, 1.0], &[5.0; 2], cost);
        assert_eq!(packing.at, [1, 0, 0, 1]);
        assert_eq!(packing.excess(), 0.0);
    }

    #[test]
    fn a_full_leaf_of_hpcg_packs_as_well_as_a_constraint_solver_does() {
        // 170 items of 14 copies of HPCG on 16 links, mean 3,131,194: 3,133,144 is what a constraint solver found.
        let classes = [
            (880_192.0, 3),
            (848_480.0, 3),
            (541_712.0, 4),
            (513_240.0, 6),
            (510_000.0, 18),
            (478_288.0, 10),
            (475_048.0, 14),
            (471_808.0, 15),
            (443_336.0, 2),
            (440_096.0, 19),
            (69_904.0, 6),
            (66_664.0, 4),
            (38_192.0, 22),
            (34_952.0, 28),
            (31_712.0, 6),
            (3240.0, 10),
        ];
        let size: Vec<f64> = classes.iter().flat_map(|&(s, n)| std::iter::repeat_n(s, n)).collect();
        let aim = 3_133_144.0;
        let mut packing = Packing {
            at: (0..size.len() as u32).map(|i| i % 16).collect(),
            cost: vec![0.0; 16 * size.len()],
            room: vec![aim; 16],
            size,
            ..Packing::default()
        };
        packing.anneal(STEPS * 170, FIRST_TEMPERATURE * aim, LAST_TEMPERATURE * aim, 1);
        packing.recompute();
        assert_eq!(packing.excess(), 0.0);
    }
}
