//! Shortest admissible paths to one leaf under link weights.
//!
//! Admissible: minimal up*/down*. A switch above the leaf goes down, one hop nearer; any other goes up, to those
//! that are nearest.

use std::collections::VecDeque;

use netloom_model::{Fabric, LinkId, SwitchId};
use netloom_topology::Structure;

/// Working links between levels, and the order of the levels.
pub(crate) struct Graph {
    /// Per switch `(link up, switch above)`.
    pub up: Vec<Vec<(LinkId, SwitchId)>>,
    from_top: Vec<SwitchId>,
}

/// Towards one leaf.
pub(crate) struct Towards {
    /// Links between switches, `u32::MAX` if no path.
    pub hops: Vec<u32>,
    /// Least sum of weights over admissible paths; infinite if no path.
    pub weight: Vec<f64>,
    /// Whether only down links lead to the leaf.
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
        Self { up, from_top }
    }

    /// Whether a link climbs.
    #[cfg(test)]
    pub fn is_up(&self, link: LinkId) -> bool {
        self.up.iter().flatten().any(|&(l, _)| l == link)
    }

    /// `weight` is indexed by link.
    pub fn towards(&self, fabric: &Fabric, leaf: SwitchId, weight: &[f64]) -> Towards {
        let n = self.up.len();
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
