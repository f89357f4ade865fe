//! Shortest admissible paths to one leaf under link weights.
//!
//! Admissible: minimal up*/down*, by destination. Layer by layer from the leaf, a switch goes down to one that goes down,
//! or else up to any. Where that cuts a switch off, whoever has a way down goes down, and all others go up to those that
//! are nearest.
//!
//! A graph of *shortest* ways has no up and down: layer by layer from the leaf, a switch goes to any neighbour that is nearer. In
//! one of *any* ways it goes to any neighbour, and the least sum of weights is Dijkstra's.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use netloom_model::{Fabric, LinkId, SwitchId, Ways};
use netloom_topology::Structure;

/// Working links between levels, and the order of the levels.
pub(crate) struct Graph {
    /// Per switch `(link up, switch above)`.
    pub up: Vec<Vec<(LinkId, SwitchId)>>,
    from_top: Vec<SwitchId>,
    /// Per switch `(link up to it, switch below)`, where some link skips a rank.
    skipping: Option<Vec<Vec<(LinkId, SwitchId)>>>,
    /// Per switch `(link, neighbour)`, where ways have no up and down.
    around: Option<Vec<Vec<(LinkId, SwitchId)>>>,
    /// Whether ways may be longer than the shortest.
    any: bool,
}

/// Towards one leaf.
pub(crate) struct Towards {
    /// Links between switches, `u32::MAX` if no path.
    pub hops: Vec<u32>,
    /// Least sum of weights over admissible paths; infinite if no path.
    pub weight: Vec<f64>,
    /// Whether packets go down from here.
    pub below: Vec<bool>,
}

/// Which way packets for one leaf take from every switch.
pub(crate) struct Turns {
    /// Switches with a way, after those that it leads through.
    pub settled: Vec<SwitchId>,
    /// Links to the leaf, `u32::MAX` if no way.
    pub hops: Vec<u32>,
    /// Whether packets go down from here.
    pub below: Vec<bool>,
}

impl Graph {
    pub fn new(fabric: &Fabric, structure: &Structure) -> Self {
        let level = |s: SwitchId| structure.rank[s.index()];
        let mut up = vec![Vec::new(); fabric.switch_count()];
        for l in fabric.links().filter(|&l| fabric.alive(l)) {
            if let (Some(s), Some(t)) = (fabric.link_from_switch(l), fabric.link_to_switch(l))
                && level(s) < level(t)
                && level(t) != u16::MAX
            {
                up[s.index()].push((l, t));
            }
        }
        let mut from_top: Vec<SwitchId> = fabric.switches().filter(|&s| level(s) != u16::MAX).collect();
        from_top.sort_by_key(|&s| std::cmp::Reverse(level(s)));
        let skips = from_top.iter().any(|&s| up[s.index()].iter().any(|&(_, t)| level(t) - level(s) > 1));
        let skipping = skips.then(|| {
            let mut under = vec![Vec::new(); up.len()];
            for &s in &from_top {
                up[s.index()].iter().for_each(|&(l, t)| under[t.index()].push((l, s)));
            }
            under
        });
        Self { up, from_top, skipping, around: None, any: false }
    }

    /// The graph of some ways.
    pub fn of(fabric: &Fabric, structure: &Structure, ways: Ways) -> Self {
        match ways {
            Ways::UpDown => Self::new(fabric, structure),
            Ways::Shortest => Self::shortest(fabric),
            Ways::Any => Self { any: true, ..Self::shortest(fabric) },
        }
    }

    fn shortest(fabric: &Fabric) -> Self {
        let near = |s: SwitchId| {
            let working = fabric.switch_links(s).filter(|&l| fabric.alive(l));
            working.filter_map(|l| Some((l, fabric.link_to_switch(l)?))).collect()
        };
        let around = Some(fabric.switches().map(near).collect());
        let up = vec![Vec::new(); fabric.switch_count()];
        Self { up, from_top: Vec::new(), skipping: None, around, any: false }
    }

    /// The ways that it is of.
    pub fn ways(&self) -> Ways {
        match self.around {
            Some(_) if self.any => Ways::Any,
            Some(_) => Ways::Shortest,
            None => Ways::UpDown,
        }
    }

    /// Whether a link from `s` to `t` is the beginning of an admissible way from there on.
    pub fn leads(
        &self,
        fabric: &Fabric,
        link: LinkId,
        (s, t): (SwitchId, SwitchId),
        hops: &[u32],
        below: &[bool],
    ) -> bool {
        if hops[t.index()].checked_add(1) != Some(hops[s.index()]) {
            return false;
        }
        let climbs = |s: SwitchId, link, t| self.up[s.index()].contains(&(link, t));
        match below[s.index()] {
            _ if self.around.is_some() => true,
            true => below[t.index()] && climbs(t, fabric.reverse(link), s),
            false => climbs(s, link, t),
        }
    }

    /// Switches by their distance to a leaf, over any links.
    fn rings(&self, around: &[Vec<(LinkId, SwitchId)>], leaf: SwitchId) -> Turns {
        let n = around.len();
        let mut hops = vec![u32::MAX; n];
        hops[leaf.index()] = 0;
        let (mut settled, mut ring) = (vec![leaf], vec![leaf]);
        for far in 1.. {
            let mut next: Vec<SwitchId> = Vec::new();
            for &(_, t) in ring.iter().flat_map(|s| &around[s.index()]) {
                if hops[t.index()] == u32::MAX {
                    hops[t.index()] = far;
                    next.push(t);
                }
            }
            if next.is_empty() {
                break;
            }
            settled.extend(&next);
            ring = next;
        }
        Turns { settled, hops, below: vec![false; n] }
    }

    /// The turns towards a leaf where some link skips a rank, or no link has one; `None` where none does, as then down is
    /// always shorter.
    pub fn turns(&self, leaf: SwitchId) -> Option<Turns> {
        if let Some(around) = &self.around {
            return Some(self.rings(around, leaf));
        }
        let under = self.skipping.as_ref()?;
        let nothing = || Turns {
            settled: vec![leaf],
            hops: vec![u32::MAX; self.up.len()],
            below: vec![false; self.up.len()],
        };
        let (mut found, mut layer, mut hops) = (nothing(), vec![leaf], 0);
        (found.hops[leaf.index()], found.below[leaf.index()]) = (0, true);
        while !layer.is_empty() {
            hops += 1;
            let mut next = Vec::new();
            for down in [true, false] {
                for &s in &layer {
                    let near = match down {
                        true if found.below[s.index()] => &self.up[s.index()],
                        true => continue,
                        false => &under[s.index()],
                    };
                    for &(_, t) in near {
                        if found.hops[t.index()] == u32::MAX {
                            (found.hops[t.index()], found.below[t.index()]) = (hops, down);
                            next.push(t);
                        }
                    }
                }
            }
            found.settled.extend(&next);
            layer = next;
        }
        // All that the leaf is below, and is below these, has some way.
        let mut plain = nothing();
        (plain.hops[leaf.index()], plain.below[leaf.index()]) = (0, true);
        let mut at = 0;
        while let Some(&s) = plain.settled.get(at) {
            at += 1;
            for &(_, t) in &self.up[s.index()] {
                if !plain.below[t.index()] {
                    (plain.hops[t.index()], plain.below[t.index()]) = (plain.hops[s.index()] + 1, true);
                    plain.settled.push(t);
                }
            }
        }
        for &s in self.from_top.iter().filter(|s| !plain.below[s.index()]) {
            if let Some(near) = self.up[s.index()].iter().map(|(_, t)| plain.hops[t.index()]).min()
                && near != u32::MAX
            {
                plain.hops[s.index()] = near + 1;
                plain.settled.push(s);
            }
        }
        Some(if found.settled.len() == plain.settled.len() { found } else { plain })
    }

    /// Whether a link climbs.
    #[cfg(test)]
    pub fn is_up(&self, link: LinkId) -> bool {
        self.up.iter().flatten().any(|&(l, _)| l == link)
    }

    /// `weight` is indexed by link.
    pub fn towards(&self, fabric: &Fabric, leaf: SwitchId, weight: &[f64]) -> Towards {
        let n = self.up.len();
        if let Some(around) = &self.around {
            let Turns { settled, hops, below } = self.rings(around, leaf);
            if self.any {
                return Towards { hops, weight: lightest(fabric, around, leaf, weight), below };
            }
            let mut sum = vec![f64::INFINITY; n];
            sum[leaf.index()] = 0.0;
            for s in &settled[1..] {
                let nearer = around[s.index()].iter().filter(|(_, t)| hops[t.index()] < hops[s.index()]);
                let through = nearer.map(|&(l, t)| weight[l.index()] + sum[t.index()]);
                sum[s.index()] = through.fold(f64::INFINITY, f64::min);
            }
            return Towards { hops, weight: sum, below };
        }
        if let Some(Turns { settled, hops, below }) = self.turns(leaf) {
            let under = self.skipping.as_ref().expect("there are turns");
            let mut sum = vec![f64::INFINITY; n];
            sum[leaf.index()] = 0.0;
            for s in &settled[1..] {
                let links = if below[s.index()] { &under[s.index()] } else { &self.up[s.index()] };
                let nearer = |t: SwitchId| {
                    hops[t.index()] + 1 == hops[s.index()] && (below[t.index()] || !below[s.index()])
                };
                let through = links.iter().filter(|&&(_, t)| hops[t.index()] != u32::MAX && nearer(t)).map(
                    |&(l, t)| {
                        let link = if below[s.index()] { fabric.reverse(l) } else { l };
                        weight[link.index()] + sum[t.index()]
                    },
                );
                sum[s.index()] = through.fold(f64::INFINITY, f64::min);
            }
            return Towards { hops, weight: sum, below };
        }
        let mut hops = vec![u32::MAX; n];
        let mut sum = vec![f64::INFINITY; n];
        (hops[leaf.index()], sum[leaf.index()]) = (0, 0.0);
        let mut below = vec![false; n];
        below[leaf.index()] = true;
        // Breadth first against the down links; a switch is final when it is taken out.
        let mut queue = VecDeque::from([leaf]);
        while let Some(t) = queue.pop_front() {
            for &(up, s) in &self.up[t.index()] {
                let through = weight[fabric.reverse(up).index()] + sum[t.index()];
                if !below[s.index()] {
                    below[s.index()] = true;
                    hops[s.index()] = hops[t.index()] + 1;
                    queue.push_back(s);
                }
                if hops[s.index()] == hops[t.index()] + 1 {
                    sum[s.index()] = sum[s.index()].min(through);
                }
            }
        }
        for &s in self.from_top.iter().filter(|s| !below[s.index()]) {
            let above = &self.up[s.index()];
            let Some(near) = above.iter().map(|(_, t)| hops[t.index()]).min().filter(|&h| h != u32::MAX)
            else {
                continue;
            };
            let through = above.iter().filter(|(_, t)| hops[t.index()] == near);
            let least =
                through.map(|(l, t)| weight[l.index()] + sum[t.index()]).fold(f64::INFINITY, f64::min);
            (hops[s.index()], sum[s.index()]) = (near + 1, least);
        }
        Towards { hops, weight: sum, below }
    }
}
/// A switch and the sum of weights from it, for a heap.
#[derive(PartialEq)]
struct Reached(f64, SwitchId);

impl Eq for Reached {}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The least sums of weights from every switch to a leaf, over any working links (E. W. Dijkstra, 1959).
fn lightest(fabric: &Fabric, around: &[Vec<(LinkId, SwitchId)>], leaf: SwitchId, weight: &[f64]) -> Vec<f64> {
    let mut sum = vec![f64::INFINITY; around.len()];
    sum[leaf.index()] = 0.0;
    let mut heap = BinaryHeap::from([Reverse(Reached(0.0, leaf))]);
    while let Some(Reverse(Reached(far, t))) = heap.pop() {
        if far > sum[t.index()] {
            continue;
        }
        for &(out, s) in &around[t.index()] {
            let through = far + weight[fabric.reverse(out).index()];
            if through < sum[s.index()] {
                sum[s.index()] = through;
                heap.push(Reverse(Reached(through, s)));
            }
        }
    }
    sum
}
