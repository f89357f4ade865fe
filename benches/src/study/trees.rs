//! In-trees under prices: the one move that the variants of sec. 3.3.4 share, on public crates only.
//!
//! A destination's routes are a tree over admissible links. Lifting a destination takes its bytes off the links; placing it
//! puts its items back, largest first, each by the way that is cheapest under some price of load.

use std::cmp::Reverse;

use netloom_model::{Csr, HostId, LinkId, SwitchId};
use netloom_routing::items;

use super::ground::Ground;

/// What bytes on a link cost.
#[derive(Clone, Copy)]
pub enum Price<'a> {
    /// The rise of the sum of squares.
    Square,
    /// The rise of `exp(alpha (load / goal - 1))`: sharpness, goal.
    Soft(f64, f64),
    /// A price a link, whatever it carries.
    Fixed(&'a [f64]),
}

impl Price<'_> {
    /// What `bytes` more on a link with such a load cost.
    pub fn rise(self, link: LinkId, load: f64, bytes: f64) -> f64 {
        match self {
            Price::Square => bytes * (2.0 * load + bytes),
            Price::Soft(alpha, goal) => {
                let at = |load: f64| (alpha * (load / goal - 1.0)).min(300.0).exp();
                at(load + bytes) - at(load)
            }
            Price::Fixed(prices) => prices[link.index()] * bytes,
        }
    }
}

/// The routing so far.
pub struct Trees<'g> {
    ground: &'g Ground,
    /// Destinations with their leaf and items (leaf, bytes), largest first.
    pub dests: Vec<(SwitchId, Vec<(SwitchId, f64)>)>,
    /// Load by link.
    pub load: Vec<f64>,
    /// By destination and switch: the link taken.
    next: Vec<Option<LinkId>>,
    /// Cheapest way on from a switch: epoch, cost, link.
    memo: Vec<(u32, f64, Option<LinkId>)>,
    epoch: u32,
}

impl<'g> Trees<'g> {
    /// Nothing placed.
    pub fn new(ground: &'g Ground, matrix: &Csr) -> Self {
        let fabric = &ground.fabric;
        let mut by_host: Vec<Vec<(SwitchId, f64)>> = vec![Vec::new(); fabric.host_count()];
        for (leaf, host, bytes) in items(fabric, matrix).iter() {
            if fabric.leaf(host) != leaf {
                by_host[host.index()].push((leaf, bytes));
            }
        }
        let mut dests: Vec<_> = (0..).zip(by_host).filter(|(_, items)| !items.is_empty()).collect();
        dests.iter_mut().for_each(|(_, items)| items.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))));
        let dests: Vec<_> = dests.into_iter().map(|(h, items)| (fabric.leaf(HostId(h)), items)).collect();
        Self {
            ground,
            load: vec![0.0; fabric.link_count()],
            next: vec![None; dests.len() * fabric.switch_count()],
            memo: vec![(0, 0.0, None); fabric.switch_count()],
            epoch: 0,
            dests,
        }
    }

    /// The largest load.
    pub fn max(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// Destinations whose tree holds the hottest link.
    pub fn on_hottest(&self) -> Vec<usize> {
        let links = self.ground.fabric.links();
        let hottest = links.max_by(|a, b| self.load[a.index()].total_cmp(&self.load[b.index()]));
        let Some(from) = hottest.and_then(|l| self.ground.fabric.link_from_switch(l)) else {
            return Vec::new();
        };
        let switches = self.ground.fabric.switch_count();
        (0..self.dests.len()).filter(|d| self.next[d * switches + from.index()] == hottest).collect()
    }

    /// Takes a destination off.
    pub fn lift(&mut self, dest: usize) {
        let column = self.column(dest);
        self.pour(dest, -1.0);
        for (switch, _) in column {
            self.set(dest, switch, None);
        }
    }

    /// The tree of a destination.
    pub fn column(&self, dest: usize) -> Vec<(SwitchId, LinkId)> {
        let mut tree = Vec::new();
        for &(leaf, _) in &self.dests[dest].1 {
            let mut at = leaf;
            while let Some(link) = self.get(dest, at) {
                tree.push((at, link));
                at = self.to(link);
            }
        }
        tree.sort_unstable();
        tree.dedup();
        tree
    }

    /// Puts a lifted destination on a tree of before.
    pub fn plant(&mut self, dest: usize, column: &[(SwitchId, LinkId)]) {
        column.iter().for_each(|&(switch, link)| self.set(dest, switch, Some(link)));
        self.pour(dest, 1.0);
    }

    /// Puts a lifted destination on the tree that is cheapest, item by item.
    pub fn place(&mut self, dest: usize, price: Price) {
        for k in 0..self.dests[dest].1.len() {
            let (leaf, bytes) = self.dests[dest].1[k];
            self.epoch += 1;
            self.cheapest(dest, leaf, bytes, price);
            self.lay(dest, leaf, bytes);
        }
    }

    /// The same, all leaves of a pod by one spine: their tables are alike.
    pub fn place_alike(&mut self, dest: usize, price: Price) {
        let ground = self.ground;
        let mut pods: Vec<(u32, Vec<(SwitchId, f64)>)> = Vec::new();
        for &(leaf, bytes) in &self.dests[dest].1 {
            let pod = ground.structure.pod[leaf.index()];
            match pods.iter_mut().find(|p| p.0 == pod) {
                Some(p) => p.1.push((leaf, bytes)),
                None => pods.push((pod, vec![(leaf, bytes)])),
            }
        }
        pods.sort_by_key(|p| Reverse(p.1.len()));
        let target = self.dests[dest].0;
        for (_, items) in pods {
            let total: f64 = items.iter().map(|i| i.1).sum();
            let to = |leaf: SwitchId, spine: SwitchId| {
                let links = ground.paths.links(leaf, target).iter().copied();
                links.into_iter().find(|&l| ground.fabric.link_to_switch(l) == Some(spine))
            };
            let mut best: Option<(f64, SwitchId)> = None;
            for &first in ground.paths.links(items[0].0, target) {
                let spine = self.to(first);
                self.epoch += 1;
                let mut cost = self.cheapest(dest, spine, total, price);
                for &(leaf, bytes) in &items {
                    let link = to(leaf, spine).expect("the leaves of a pod have the same spines");
                    cost += price.rise(link, self.load[link.index()], bytes);
                }
                if best.is_none_or(|b| cost < b.0) {
                    best = Some((cost, spine));
                }
            }
            let spine = best.expect("a leaf has spines").1;
            self.epoch += 1;
            self.cheapest(dest, spine, total, price);
            for &(leaf, bytes) in &items {
                self.set(dest, leaf, to(leaf, spine));
                self.lay(dest, leaf, bytes);
            }
        }
    }

    /// The cost of the cheapest way on, which the memo then holds.
    fn cheapest(&mut self, dest: usize, switch: SwitchId, bytes: f64, price: Price) -> f64 {
        let target = self.dests[dest].0;
        if switch == target {
            return 0.0;
        }
        let (epoch, cost, _) = self.memo[switch.index()];
        if epoch == self.epoch {
            return cost;
        }
        let ground = self.ground;
        let fixed = self.get(dest, switch);
        let links = fixed.as_ref().map_or(ground.paths.links(switch, target), std::slice::from_ref);
        let mut best = (f64::INFINITY, None);
        for &link in links {
            let rise = price.rise(link, self.load[link.index()], bytes);
            if rise < best.0 {
                let cost = rise + self.cheapest(dest, self.to(link), bytes, price);
                if cost < best.0 {
                    best = (cost, Some(link));
                }
            }
        }
        self.memo[switch.index()] = (self.epoch, best.0, best.1);
        best.0
    }

    /// Follows entries, and the memo where there are none yet.
    fn lay(&mut self, dest: usize, leaf: SwitchId, bytes: f64) {
        let mut at = leaf;
        while at != self.dests[dest].0 {
            let link = self.get(dest, at).or(self.memo[at.index()].2).expect("every leaf has a way");
            self.set(dest, at, Some(link));
            self.load[link.index()] += bytes;
            at = self.to(link);
        }
    }

    fn pour(&mut self, dest: usize, sign: f64) {
        for k in 0..self.dests[dest].1.len() {
            let (mut at, bytes) = self.dests[dest].1[k];
            while let Some(link) = self.get(dest, at) {
                self.load[link.index()] += sign * bytes;
                at = self.to(link);
            }
        }
    }

    fn to(&self, link: LinkId) -> SwitchId {
        self.ground.fabric.link_to_switch(link).expect("trees are of links between switches")
    }

    fn get(&self, dest: usize, switch: SwitchId) -> Option<LinkId> {
        self.next[dest * self.ground.fabric.switch_count() + switch.index()]
    }

    fn set(&mut self, dest: usize, switch: SwitchId, link: Option<LinkId>) {
        self.next[dest * self.ground.fabric.switch_count() + switch.index()] = link;
    }
}
