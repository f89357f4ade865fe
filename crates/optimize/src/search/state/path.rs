//! The lightest admissible path of an item that agrees with the entries in force.
//!
//! Admissible links always lead one hop nearer, so the links from a leaf to another form a layered graph
//! and the lightest path takes one pass over its layers; a switch that already has an entry for the
//! destination offers only that one. Three-level trees have a faster scan of the same answer.

use crate::search::state::State;
use crate::search::state::slots::NONE;

impl State<'_> {
    /// Finds the lightest path of an unplaced item, given the entries of [`fix`](State::fix), into
    /// `scratch.found`; false if there is none (all forbidden).
    pub fn search(&mut self, item: usize) -> bool {
        self.work += 1;
        // Forbidden slots weigh infinitely during the search, in every layer.
        let mut saved = std::mem::take(&mut self.scratch.forbidden);
        let (slots, layers) = (self.view.slots(), self.objective.len());
        let places = || saved.iter().flat_map(|&s| (0..layers).map(move |k| k * slots + s as usize));
        let weights: Vec<f64> = places().map(|at| self.weight[at]).collect();
        for at in places() {
            self.weight[at] = f64::INFINITY;
        }
        // The layout's scan knows no costs of changed entries.
        let found = match &self.view.layout {
            Some(_) if self.view.uniform.is_some() && self.today.is_none() => self.search_layout(item),
            _ => self.search_graph(item),
        };
        // Backwards, should a slot be named twice.
        let restored: Vec<usize> = places().collect();
        for (&at, &weight) in restored.iter().zip(&weights).rev() {
            self.weight[at] = weight;
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
        let group = self.items.group[item] as usize;
        let amounts = self.items.amounts.as_ref().map(|a| a.of(item));
        let alone = [(0, self.items.bytes[item])];
        let amounts = amounts.unwrap_or(&alone);
        // A path's order by present weights is that by rising penalty, if there is one factor for all links.
        let plain = match amounts {
            [(layer, _)] if self.view.uniform.is_some() && self.today.is_none() => {
                Some(*layer as usize * view.slots())
            }
            _ => None,
        };
        // Taken out for the loop, which reads the rest of the state.
        let mut sc = std::mem::take(&mut self.scratch);
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
                let mut relax = |slot: u32, change: f64| {
                    let i = slot as usize;
                    let cost = match plain {
                        Some(offset) => self.weight[offset + i],
                        None => self.added(i, amounts) + change,
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
                        let today = self.today.as_ref();
                        let (same, cost) =
                            today.map_or((NONE, 0.0), |t| (t.slot(view, self.items, switch, group), t.cost));
                        for &link in view.links(switch, target) {
                            let slot = view.slot_of[link.index()];
                            relax(slot, if slot == same { 0.0 } else { cost });
                        }
                    }
                    // Another item has paid for this entry.
                    slot => relax(slot, 0.0),
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
        let mut at = target;
        while arrived && at != start {
            let slot = sc.via[at as usize];
            sc.found.push(slot);
            at = view.from[slot as usize];
        }
        sc.found.reverse();
        self.scratch = sc;
        arrived
    }

    /// By how much an item's bytes would raise the penalties of a slot.
    fn added(&self, slot: usize, amounts: &[(u32, f64)]) -> f64 {
        let slots = self.view.slots();
        let each = amounts.iter().map(|&(layer, bytes)| {
            let at = layer as usize * slots + slot;
            let weight = self.weight[at];
            if weight == f64::INFINITY {
                return weight;
            }
            let load = self.load[at] + bytes * self.view.inv_cap[slot];
            (self.penalty(layer as usize, load) - weight).max(0.0)
        });
        each.sum()
    }

    /// The search on a three-level tree of equal speeds.
    fn search_layout(&mut self, item: usize) -> bool {
        match &self.items.amounts {
            Some(amounts) if amounts.of(item).len() > 1 => {
                let mut mix = std::mem::take(&mut self.scratch.mix);
                self.mix(amounts.of(item), item, &mut mix);
                let found = self.scan(item, Some(&mix));
                self.scratch.mix = mix;
                found
            }
            _ => self.scan(item, None),
        }
    }

    /// The weights that an item of several layers sees, where a scan for it looks.
    fn mix(&self, amounts: &[(u32, f64)], item: usize, mix: &mut Vec<f64>) {
        let view = self.view;
        let layout = view.layout.as_ref().expect("only called with a layout");
        let slots = view.slots();
        mix.resize(slots, 0.0);
        let (start, target) = (self.items.leaf[item] as usize, self.items.target_of(item) as usize);
        let (spines, width) = (layout.spines, layout.spines * layout.cores);
        let row = |start: usize, width: usize| start..start + width;
        let mut rows = vec![
            row(layout.leaf_up(layout.leaf_place[start] as usize, 0), spines),
            row(layout.leaf_down(layout.leaf_place[target] as usize, 0), spines),
        ];
        if layout.pod[start] != layout.pod[target] {
            rows.push(row(layout.core_up(layout.pod[start] as usize * spines, 0), width));
            rows.push(row(layout.core_down(layout.pod[target] as usize * spines, 0), width));
        }
        let inv_cap = view.uniform.expect("scans are for equal speeds");
        for (first, &(layer, bytes)) in amounts.iter().enumerate() {
            // Adding bytes multiplies a layer's penalties by one factor; beyond any penalty it need not grow.
            let steps = self.alpha * bytes * inv_cap / self.objective.goal[layer as usize];
            let rise = steps.min(150.0).exp_m1();
            for row in &rows {
                let weights = &self.weight[layer as usize * slots..][row.clone()];
                for (m, &w) in mix[row.clone()].iter_mut().zip(weights) {
                    *m = if first == 0 { rise * w } else { *m + rise * w };
                }
            }
        }
    }

    /// One scan over the layout's rows; `mix` are the weights to go by, else those of the item's layer.
    fn scan(&mut self, item: usize, mix: Option<&[f64]>) -> bool {
        let view = self.view;
        let layout = view.layout.as_ref().expect("only called with a layout");
        let (start, target) = (self.items.leaf[item], self.items.target_of(item));
        let (a, b) =
            (layout.leaf_place[start as usize] as usize, layout.leaf_place[target as usize] as usize);
        let (p, q) = (layout.pod[start as usize] as usize, layout.pod[target as usize] as usize);
        let spines = layout.spines;
        let weight = mix.unwrap_or(&self.weight[self.items.layer_of(item) * view.slots()..][..view.slots()]);
        let sc = &mut self.scratch;
        sc.found.clear();
        let up = &weight[layout.leaf_up(a, 0)..][..spines];
        let last = &weight[layout.leaf_down(b, 0)..][..spines];
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
                let row = &weight[layout.core_down(q * spines + j, 0)..][..cores];
                for (d, &w) in down.iter_mut().zip(row) {
                    let cost = w + tail;
                    *d = if cost < *d { cost } else { *d };
                }
            }
        }
        // Cores with an entry have one way down. Entries come from the group's placed items: where these
        // are few, that is quicker than to ask every core.
        let group = self.items.of(self.items.group[item] as usize);
        let stride = view.stride;
        let base = layout.core_down(q * spines, 0);
        if group.len() < layout.core_at.len() {
            for path in self.path[group.start * stride..group.end * stride].chunks(stride) {
                let slot = path[2] as usize;
                if path[2] != NONE && self.fixed.at(view.from[slot]) == path[2] {
                    let (j, core) = ((slot - base) / cores, (slot - base) % cores);
                    sc.down[j / layout.group_spines * cores + core] = weight[slot] + last[j];
                }
            }
        } else {
            for (d, &core) in sc.down.iter_mut().zip(&layout.core_at) {
                let slot = if core == NONE { NONE } else { self.fixed.at(core) };
                if slot != NONE {
                    *d = weight[slot as usize] + last[(slot as usize - base) / cores];
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
                weight[slot as usize] + down[slot as usize - first]
            } else {
                least_sum(&weight[first..][..cores], down)
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
            first_least(weight[first..][..cores].iter().zip(&sc.down[g * cores..]).map(|(a, b)| a + b))
        };
        let slot = self.fixed.at(layout.core_at[g * cores + core]);
        let j = if slot != NONE {
            (slot as usize - layout.core_down(q * spines, 0)) / cores
        } else {
            let from = g * layout.group_spines;
            let range = from..from + layout.group_spines;
            from + first_least(range.map(|j| weight[layout.core_down(q * spines + j, core)] + last[j]))
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
