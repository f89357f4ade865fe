//! The lightest admissible path of an item that agrees with the entries in force.
//!
//! Admissible links always lead one hop nearer, so the links from a leaf to another form a layered graph
//! and the lightest path takes one pass over its layers; a switch that already has an entry for the
//! destination offers only that one. Three-level trees have a faster scan of the same answer.

use crate::penalty::penalty;
use crate::state::State;
use crate::view::NONE;

impl State<'_> {
    /// Finds the lightest path of an unplaced item, given the entries of [`fix`](State::fix), into
    /// `scratch.found`; false if there is none (all forbidden).
    pub fn search(&mut self, item: usize) -> bool {
        self.work += 1;
        // Forbidden slots weigh infinitely during the search.
        let mut saved = std::mem::take(&mut self.scratch.forbidden);
        let weights: Vec<f64> = saved.iter().map(|&s| self.weight[s as usize]).collect();
        for &slot in &saved {
            self.weight[slot as usize] = f64::INFINITY;
        }
        let found = match &self.view.layout {
            Some(_) if self.view.uniform.is_some() => self.search_layout(item),
            _ => self.search_graph(item),
        };
        for (&slot, &weight) in saved.iter().zip(&weights).rev() {
            self.weight[slot as usize] = weight;
        }
        std::mem::swap(&mut self.scratch.forbidden, &mut saved);
        found
    }

    /// Finds and takes the lightest path; false leaves the item unplaced.
    pub fn insert(&mut self, item: usize) -> bool {
        if !self.search(item) {
            return false;
        }
        let found = std::mem::take(&mut self.scratch.found);
        self.add(item, &found);
        self.scratch.found = found;
        true
    }

    /// The search on any fabric.
    pub(crate) fn search_graph(&mut self, item: usize) -> bool {
        let view = self.view;
        let (start, target) = (self.items.leaf[item], self.items.target_of(item));
        let bytes = self.items.bytes[item];
        let sc = &mut self.scratch;
        if sc.epoch == u32::MAX {
            sc.stamp.fill(0);
            sc.epoch = 0;
        }
        sc.epoch += 1;
        let epoch = sc.epoch;
        sc.layer.clear();
        sc.layer.push(start);
        sc.stamp[start as usize] = epoch;
        sc.dist[start as usize] = 0.0;
        let mut arrived = false;
        for _ in 0..view.stride {
            sc.next.clear();
            for k in 0..sc.layer.len() {
                let switch = sc.layer[k];
                let base = sc.dist[switch as usize];
                let mut relax = |slot: u32| {
                    let i = slot as usize;
                    let weight = self.weight[i];
                    let cost = match view.uniform {
                        Some(_) => weight,
                        // Speeds differ: what the item would really add.
                        None if weight == f64::INFINITY => weight,
                        None => {
                            let load = self.load[i] + bytes * view.inv_cap[i];
                            (penalty(self.alpha * (load / self.scale - 1.0)) - weight).max(0.0)
                        }
                    };
                    let (to, dist) = (view.to[i] as usize, base + cost);
                    if dist == f64::INFINITY {
                        return;
                    }
                    if sc.stamp[to] != epoch {
                        sc.stamp[to] = epoch;
                        sc.dist[to] = dist;
                        sc.via[to] = slot;
                        sc.next.push(to as u32);
                    } else if dist < sc.dist[to] {
                        sc.dist[to] = dist;
                        sc.via[to] = slot;
                    }
                };
                match self.fixed.at(switch) {
                    NONE => {
                        for &link in view.links(switch, target) {
                            relax(view.slot_of[link.index()]);
                        }
                    }
                    slot => relax(slot),
                }
            }
            if sc.stamp[target as usize] == epoch {
                arrived = true;
                break;
            }
            if sc.next.is_empty() {
                break;
            }
            std::mem::swap(&mut sc.layer, &mut sc.next);
        }
        sc.found.clear();
        if !arrived {
            return false;
        }
        let mut at = target;
        while at != start {
            let slot = sc.via[at as usize];
            sc.found.push(slot);
            at = view.from[slot as usize];
        }
        sc.found.reverse();
        true
    }

    /// The search on a three-level tree of equal speeds.
    fn search_layout(&mut self, item: usize) -> bool {
        let view = self.view;
        let layout = view.layout.as_ref().expect("only called with a layout");
        let (start, target) = (self.items.leaf[item], self.items.target_of(item));
        let (a, b) =
            (layout.leaf_place[start as usize] as usize, layout.leaf_place[target as usize] as usize);
        let (p, q) = (layout.pod[start as usize] as usize, layout.pod[target as usize] as usize);
        let sc = &mut self.scratch;
        sc.found.clear();
        let spines = layout.spines;
        let up = &self.weight[layout.leaf_up(a, 0)..][..spines];
        let last = &self.weight[layout.leaf_down(b, 0)..][..spines];
        if p == q {
            let (mut best, mut at) = (f64::INFINITY, NONE);
            for i in 0..spines {
                let cost = up[i] + last[i];
                if cost < best {
                    (best, at) = (cost, i as u32);
                }
            }
            if at != NONE {
                let i = at as usize;
                sc.found.extend([layout.leaf_up(a, i) as u32, layout.leaf_down(b, i) as u32]);
                return true;
            }
            // Damage, or everything forbidden: the way over the cores is admissible only if no unbroken
            // way of two links exists; let the general search decide.
            if !layout.full {
                return self.search_graph(item);
            }
            return false;
        }
        let cores = layout.cores;
        // down[g][c]: from core c of group g to the target.
        for g in 0..layout.groups {
            let down = &mut sc.down[g * cores..][..cores];
            down.fill(f64::INFINITY);
            let tails = last.iter().enumerate().skip(g * layout.group_spines).take(layout.group_spines);
            for (j, &tail) in tails {
                let row = &self.weight[layout.core_down(q * spines + j, 0)..][..cores];
                for (d, &w) in down.iter_mut().zip(row) {
                    let cost = w + tail;
                    *d = if cost < *d { cost } else { *d };
                }
            }
            for (d, &core) in down.iter_mut().zip(&layout.core_at[g * cores..][..cores]) {
                if core == NONE {
                    continue;
                }
                let slot = self.fixed.at(core);
                if slot != NONE {
                    let j = (slot as usize - layout.core_down(q * spines, 0)) / cores;
                    *d = self.weight[slot as usize] + last[j];
                }
            }
        }
        let (mut best, mut spine) = (f64::INFINITY, NONE);
        for (i, &base) in up.iter().enumerate() {
            // Weights are not negative: a way up that is dear by itself needs no scan.
            if base >= best {
                continue;
            }
            let place = p * spines + i;
            if layout.spine_at[place] == NONE {
                continue;
            }
            let down = &sc.down[i / layout.group_spines * cores..][..cores];
            let first = layout.core_up(place, 0);
            let slot = self.fixed.at(layout.spine_at[place]);
            let rest = if slot != NONE {
                self.weight[slot as usize] + down[slot as usize - first]
            } else {
                least_sum(&self.weight[first..][..cores], down)
            };
            if base + rest < best {
                (best, spine) = (base + rest, i as u32);
            }
        }
        if spine == NONE {
            return false;
        }
        let i = spine as usize;
        let (g, place) = (i / layout.group_spines, p * spines + i);
        let first = layout.core_up(place, 0);
        let slot = self.fixed.at(layout.spine_at[place]);
        let core = if slot != NONE {
            slot as usize - first
        } else {
            first_least(self.weight[first..][..cores].iter().zip(&sc.down[g * cores..]).map(|(a, b)| a + b))
        };
        let slot = self.fixed.at(layout.core_at[g * cores + core]);
        let j = if slot != NONE {
            (slot as usize - layout.core_down(q * spines, 0)) / cores
        } else {
            let from = g * layout.group_spines;
            let range = from..from + layout.group_spines;
            from + first_least(range.map(|j| self.weight[layout.core_down(q * spines + j, core)] + last[j]))
        };
        sc.found.extend([
            layout.leaf_up(a, i) as u32,
            layout.core_up(place, core) as u32,
            layout.core_down(q * spines + j, core) as u32,
            layout.leaf_down(b, j) as u32,
        ]);
        true
    }
}

/// `min(a[i] + b[i])`, four lanes at a time.
#[inline]
fn least_sum(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [f64::INFINITY; 4];
    let (a4, b4) = (a.chunks_exact(4), b.chunks_exact(4));
    let mut least = f64::INFINITY;
    for (&x, &y) in a4.remainder().iter().zip(b4.remainder()) {
        least = least.min(x + y);
    }
    for (x, y) in a4.zip(b4) {
        for k in 0..4 {
            let sum = x[k] + y[k];
            lanes[k] = if sum < lanes[k] { sum } else { lanes[k] };
        }
    }
    lanes.into_iter().fold(least, f64::min)
}

fn first_least(values: impl Iterator<Item = f64>) -> usize {
    let (mut best, mut at) = (f64::INFINITY, 0);
    for (k, value) in values.enumerate() {
        if value < best {
            (best, at) = (value, k);
        }
    }
    at
}
