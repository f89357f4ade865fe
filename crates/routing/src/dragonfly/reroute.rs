//! Other ways where lanes ran out: destinations whose tables would wait in a circle are routed anew, so that nothing does.
//!
//! A switch tells lanes by ports, so the lane of a turn is the same for all destinations. The waits of one destination after
//! another are added to a graph that stays free of circles ([`Waits`]). Destinations whose waits fit keep their tables. Each
//! of the others is searched for, from its switch outwards, by the fewest cables between groups, then by hops, then by the load
//! so far: a switch is joined by the first link whose waits fit. A turn that nobody has taken yet takes any lane that
//! makes them fit, that of the rule first.
//!
//! Where the search leaves a switch out, all begins again, and this destination is the first. After so many such trials the waits of a spanning tree
//! are in the graph before all others. They are free of circles whatever the lanes, so a destination to which no ways are
//! found takes the tree's. So every fabric has tables.
//!
//! Relief: small groups that lack cables may have few ways with the fewest cables between groups. Where those load a link much more than short ways
//! would, destinations that use the link with the most load are searched for again, by loads, as long as that lowers it.
//!
//! Source: the graph that stays free of circles, and the spanning tree as an escape: J. Domke, T. Hoefler, S. Matsuoka,
//! "Routing on the dependency graph: a new approach to deadlock-free high-performance routing", HPDC 2016 (Nue). There a destination
//! has one lane; here turns have lanes.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use netloom_model::{DestId, Fabric, HostId, LaneMap, Lft, LinkId, Routes, SwitchId};
use netloom_topology::Groups;

use super::lanes::{MOST_LANES, Turns, by_rule};
use crate::by_groups::Order;
use crate::greedy::hosts_by_port;
use crate::waits::Waits;

/// How often all begins again before there is a tree.
const TRIALS: usize = 8;

/// Most switches of a group that is small, and of one in which ways are relieved only where a share of the cables is missing, in hundredths.
const SMALL_GROUP: u32 = 4;
const MIDDLING_GROUP: u32 = 8;
const LACKS: usize = 1;

/// How much more load than that of short ways is much.
const MUCH_MORE: f64 = 1.2;

/// Searches again, a destination.
const MOVES: usize = 4;

/// What a search looks at.
#[derive(Clone, Copy, PartialEq)]
enum By {
    /// Cables between groups, then hops, then loads.
    Groups,
    /// Hops, then loads, and no waits.
    Hops,
    /// Loads, beside the largest of all.
    Load(f64),
}

/// The next link of every switch towards a destination.
type Next = Vec<Option<LinkId>>;

/// The same routes with other ways for some destinations, and lanes for all; `turns`: those of the routes, with lanes that
/// leave few circles.
pub(super) fn route(fabric: &Fabric, order: &Order, routes: Routes, turns: &Turns) -> Routes {
    let lft = routes.lft().expect("dla's tables are by destination");
    let mut first = Vec::new();
    let (lft, reroute) = loop {
        let mut reroute = Reroute::new(fabric, order, turns);
        let tree = (first.len() == TRIALS).then(|| reroute.take_tree());
        match reroute.run(lft, routes.lmc, &first, tree.as_deref()) {
            Ok(lft) => break (lft, reroute),
            Err(left_out) => first.push(left_out),
        }
    };
    reroute.into_routes(lft, routes.lmc)
}

/// The same routes with other ways for destinations that use the most loaded links; `None` where that does not lower the largest load by much.
pub(super) fn relieve(fabric: &Fabric, order: &Order, routes: &Routes) -> Option<Routes> {
    let most = if lacks_many(fabric, order.groups) { MIDDLING_GROUP } else { SMALL_GROUP };
    if order.groups.switches_a_group > most {
        return None;
    }
    let turns = Turns::of(fabric, order, routes)?;
    let mut reroute = Reroute::new(fabric, order, &turns);
    let lft = routes.lft().expect("dla's tables are by destination");
    let mut lft = reroute.run(lft, routes.lmc, &[], None).ok()?;
    let before = reroute.most();
    if before <= MUCH_MORE * reroute.most_of_short_ways(routes.lmc) {
        return None;
    }
    reroute.even_out(&mut lft, routes.lmc);
    (MUCH_MORE * reroute.most() <= before).then(|| reroute.into_routes(lft, routes.lmc))
}

struct Reroute<'a> {
    fabric: &'a Fabric,
    order: &'a Order<'a>,
    turns: &'a Turns,
    /// By turn: its lane, and whether that stays, as somebody takes the turn.
    lane: Vec<u8>,
    fixed: Vec<bool>,
    waits: Waits,
    /// By link: one over its relative capacity; its load.
    weight: Vec<f64>,
    load: Vec<f64>,
    /// By switch: hosts that send.
    senders: Vec<usize>,
    /// By switch: working links from other switches.
    into: Vec<Vec<LinkId>>,
}

impl<'a> Reroute<'a> {
    fn new(fabric: &'a Fabric, order: &'a Order<'a>, turns: &'a Turns) -> Self {
        let mut into = vec![Vec::new(); fabric.switch_count()];
        for link in fabric.links().filter(|&l| fabric.between_switches(l) && fabric.alive(l)) {
            into[fabric.link_to_switch(link).expect("it joins switches").index()].push(link);
        }
        Self {
            fabric,
            order,
            turns,
            lane: turns.lane.clone(),
            fixed: vec![false; turns.lane.len()],
            waits: Waits::new(fabric.link_count() * usize::from(MOST_LANES)),
            weight: fabric.links().map(|link| 1.0 / fabric.relative_capacity(link)).collect(),
            load: vec![0.0; fabric.link_count()],
            senders: fabric.switches().map(|s| hosts_by_port(fabric, s).len()).collect(),
            into,
        }
    }

    /// Tables with the lanes of their turns, without holes among the numbers; hosts are on lane 0.
    fn into_routes(self, lft: Lft, lmc: u8) -> Routes {
        let turns = self.fixed.iter().zip(&self.lane);
        let mut lanes: Vec<u8> =
            turns.filter(|(fixed, _)| **fixed).map(|(_, &lane)| lane).chain([0]).collect();
        lanes.sort_unstable();
        lanes.dedup();
        let lane = |turn: usize| match self.fixed[turn] {
            true => lanes.partition_point(|&lane| lane < self.lane[turn]) as u8,
            false => 0,
        };
        let turn = |via, out| self.turns.turn(self.fabric, via, out);
        let lanes = LaneMap::new(self.fabric, |via, out, _| via.map_or(0, |via| lane(turn(via, out))));
        Routes::by_dest(self.fabric, lmc, lft).with_lanes(lanes)
    }

    /// The largest load.
    fn most(&self) -> f64 {
        self.load.iter().copied().fold(0.0, f64::max)
    }

    /// The largest load of shortest ways, whatever they cross: each destination's chosen by hops, then by the load so far.
    fn most_of_short_ways(&self, lmc: u8) -> f64 {
        let fabric = self.fabric;
        let mut alone = Self::new(fabric, self.order, self.turns);
        for host in fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))) {
            for _ in 0..1 << lmc {
                let nowhere = vec![None; fabric.switch_count()];
                let next = alone.search(fabric.leaf(host), &nowhere, By::Hops);
                alone.add_loads(&next.expect("nothing is asked of it"), 1.0);
            }
        }
        alone.most()
    }

    /// Searches again for destinations that use the link with the most load, until none is found that lowers it.
    fn even_out(&mut self, lft: &mut Lft, lmc: u8) {
        let fabric = self.fabric;
        let space = fabric.dests(lmc);
        let hosts = fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h)));
        let dests: Vec<(HostId, DestId)> =
            hosts.flat_map(|host| (0..1 << lmc).map(move |path| (host, space.host(host, path)))).collect();
        for _ in 0..MOVES * dests.len() {
            let most = self.most();
            let hottest =
                LinkId(self.load.iter().position(|&load| load == most).expect("there are links") as u32);
            let from = fabric.link_from_switch(hottest).expect("loads are between switches");
            let moved = dests.iter().any(|&(host, dest)| {
                let before = self.read(lft, host, dest);
                if before[from.index()] != Some(hottest) {
                    return false;
                }
                let leaf = fabric.leaf(host);
                let (mark, load) = (self.waits.mark(), self.load.clone());
                self.add_loads(&before, -1.0);
                let (lane, fixed) = (self.lane.clone(), self.fixed.clone());
                if let Some(next) = self.search(leaf, &before, By::Load(most)) {
                    self.add_loads(&next, 1.0);
                    let mut links = next.iter().flatten();
                    if self.load[hottest.index()] < most && links.all(|link| self.load[link.index()] < most) {
                        self.write(lft, leaf, dest, &next);
                        return true;
                    }
                }
                self.waits.back_to(mark);
                (self.load, self.lane, self.fixed) = (load, lane, fixed);
                false
            });
            if !moved {
                break;
            }
        }
    }

    /// Tables for all destinations, from those that there are, `first` searched for before all others. An error: a destination to which a switch
    /// was left without a way, where there is no tree.
    fn run(
        &mut self,
        lft: &Lft,
        lmc: u8,
        first: &[(HostId, DestId)],
        tree: Option<&[LinkId]>,
    ) -> Result<Lft, (HostId, DestId)> {
        let fabric = self.fabric;
        let space = fabric.dests(lmc);
        let mut lft = lft.clone();
        for &(host, dest) in first {
            self.turn_to_others(&mut lft, host, dest, tree)?;
        }
        let mut left = Vec::new();
        for host in fabric.hosts().filter(|&h| fabric.alive(fabric.host_link(h))) {
            for dest in (0..1 << lmc).map(|path| space.host(host, path)) {
                if first.contains(&(host, dest)) {
                    continue;
                }
                let next = self.read(&lft, host, dest);
                match self.keeps(fabric.leaf(host), &next) {
                    true => self.add_loads(&next, 1.0),
                    false => left.push((host, dest)),
                }
            }
        }
        for (host, dest) in left {
            self.turn_to_others(&mut lft, host, dest, tree)?;
        }
        Ok(lft)
    }

    /// Gives a destination other ways.
    fn turn_to_others(
        &mut self,
        lft: &mut Lft,
        host: HostId,
        dest: DestId,
        tree: Option<&[LinkId]>,
    ) -> Result<(), (HostId, DestId)> {
        let fabric = self.fabric;
        let leaf = fabric.leaf(host);
        let before = self.read(lft, host, dest);
        let found = self.search(leaf, &before, By::Groups).or_else(|| Some(self.by_tree(tree?, leaf)));
        let next = found.ok_or((host, dest))?;
        self.add_loads(&next, 1.0);
        self.write(lft, leaf, dest, &next);
        Ok(())
    }

    fn write(&self, lft: &mut Lft, leaf: SwitchId, dest: DestId, next: &Next) {
        for s in self.fabric.switches().filter(|&s| s != leaf) {
            lft.set(s, dest, next[s.index()].map(|link| self.fabric.link_port(link)));
        }
    }

    fn read(&self, lft: &Lft, host: HostId, dest: DestId) -> Next {
        let leaf = self.fabric.leaf(host);
        let link = |s: SwitchId| self.fabric.link_at(s, lft.get(s, dest)?).filter(|_| s != leaf);
        self.fabric.switches().map(link).collect()
    }

    /// Adds the waits of ways to a switch, if they close no circle.
    fn keeps(&mut self, leaf: SwitchId, next: &Next) -> bool {
        let mark = self.waits.mark();
        let mut pairs = Vec::new();
        self.turns.follow(self.fabric, leaf, next, |a, b| pairs.push([a, b]));
        for pair in &pairs {
            let [a, b] = pair.map(|turn| vertex(turn.out, self.lane[turn.number as usize]));
            if !self.waits.add(a, b) {
                self.waits.back_to(mark);
                return false;
            }
        }
        pairs.iter().flatten().for_each(|turn| self.fixed[turn.number as usize] = true);
        true
    }

    /// Ways to a switch whose waits close no circle; `None`: some switch has none. `before`: those that it had.
    fn search(&mut self, leaf: SwitchId, before: &Next, by: By) -> Option<Next> {
        let fabric = self.fabric;
        let mark = self.waits.mark();
        let mut fixed = Vec::new();
        let mut next: Next = vec![None; fabric.switch_count()];
        // By switch on its way: cables between groups, hops, and load.
        let mut so_far = vec![None; fabric.switch_count()];
        so_far[leaf.index()] = Some((0u32, 0u32, 0.0));
        let mut open = BinaryHeap::new();
        let mut settled = leaf;
        loop {
            let (crossed, hops, load) = so_far[settled.index()].expect("it is settled");
            for &link in &self.into[settled.index()] {
                let from = fabric.link_from_switch(link).expect("it joins switches");
                if so_far[from.index()].is_none() {
                    let groups = self.order.groups;
                    let crossed = crossed + u32::from(groups.group(from) != groups.group(settled));
                    // Loads are sums of counts over relative capacities: hundredths are enough.
                    let load = load + self.cost(link, by);
                    let other = before[from.index()] != Some(link);
                    let first = match by {
                        By::Groups => (crossed, hops + 1),
                        By::Hops => (0, hops + 1),
                        By::Load(_) => (0, 0),
                    };
                    open.push(Reverse((first, (100.0 * load) as u64, other, link.0)));
                }
            }
            let joined = std::iter::from_fn(|| open.pop()).find(|&Reverse((.., link))| {
                let link = LinkId(link);
                let from = fabric.link_from_switch(link).expect("it joins switches");
                so_far[from.index()].is_none()
                    && (by == By::Hops || self.joins(link, leaf, &next, &mut fixed))
            });
            let Some(Reverse((.., link))) = joined else { break };
            let link = LinkId(link);
            let (from, to) = (
                fabric.link_from_switch(link).expect("joins"),
                fabric.link_to_switch(link).expect("switches"),
            );
            let (crossed, hops, load) = so_far[to.index()].expect("it is settled");
            let groups = self.order.groups;
            let crossed = crossed + u32::from(groups.group(from) != groups.group(to));
            so_far[from.index()] = Some((crossed, hops + 1, load + self.cost(link, by)));
            next[from.index()] = Some(link);
            settled = from;
        }
        if next.iter().zip(before).any(|(next, before)| next.is_none() && before.is_some()) {
            self.waits.back_to(mark);
            fixed.into_iter().for_each(|turn: usize| self.fixed[turn] = false);
            return None;
        }
        Some(next)
    }

    /// What a link adds to a way.
    fn cost(&self, link: LinkId, by: By) -> f64 {
        match by {
            By::Groups | By::Hops => self.load[link.index()],
            // A link with the most load counts as much as eight others.
            By::Load(most) => {
                self.weight[link.index()] * (1.0 + 8.0 * (self.load[link.index()] / most).powi(3))
            }
        }
    }

    /// Whether a switch can go on by a link, with what then waits; turns that take a lane for good are added to `fixed`.
    fn joins(&mut self, link: LinkId, leaf: SwitchId, next: &Next, fixed: &mut Vec<usize>) -> bool {
        let fabric = self.fabric;
        let (from, at) =
            (fabric.link_from_switch(link).expect("joins"), fabric.link_to_switch(link).expect("switches"));
        if at == leaf {
            // What leads to a host waits for nothing.
            return true;
        }
        let out = next[at.index()].expect("it is settled");
        let turn = self.turns.turn(fabric, link, out);
        let beyond = fabric.link_to_switch(out).expect("ways join switches");
        let then = (beyond != leaf).then(|| next[beyond.index()].expect("it is settled"));
        let usual = match self.fixed[turn] || self.turns.is_known(turn) {
            true => self.lane[turn],
            false => by_rule(fabric, self.order, link, out),
        };
        let others = (0..MOST_LANES).filter(|&lane| lane != usual && !self.fixed[turn]);
        let lanes: Vec<u8> = std::iter::once(usual).chain(others).collect();
        for lane in lanes {
            let mark = self.waits.mark();
            let here = vertex(out, lane);
            // Hosts send on lane 0.
            let begins = self.senders[from.index()] == 0 || self.waits.add(vertex(link, 0), here);
            let goes_on = begins
                && then.is_none_or(|then| {
                    let lane = self.lane[self.turns.turn(fabric, out, then)];
                    self.waits.add(here, vertex(then, lane))
                });
            if goes_on {
                self.lane[turn] = lane;
                if !std::mem::replace(&mut self.fixed[turn], true) {
                    fixed.push(turn);
                }
                return true;
            }
            self.waits.back_to(mark);
        }
        false
    }

    /// Both links of the cables of a spanning tree, whose waits are in the graph from now on.
    fn take_tree(&mut self) -> Vec<LinkId> {
        let fabric = self.fabric;
        let mut seen = vec![false; fabric.switch_count()];
        let mut tree = Vec::new();
        let mut roots: Vec<SwitchId> = fabric.switches().collect();
        roots.sort_by_key(|s| (Reverse(self.into[s.index()].len()), *s));
        for root in roots {
            if seen[root.index()] {
                continue;
            }
            let mut queue = VecDeque::from([root]);
            while let Some(s) = queue.pop_front() {
                seen[s.index()] = true;
                for &link in &self.into[s.index()] {
                    let from = fabric.link_from_switch(link).expect("it joins switches");
                    if !std::mem::replace(&mut seen[from.index()], true) {
                        tree.extend([link, fabric.reverse(link)]);
                        queue.push_back(from);
                    }
                }
            }
        }
        for leaf in fabric.switches() {
            let next = self.by_tree(&tree, leaf);
            assert!(self.keeps(leaf, &next), "waits along a tree make no circle");
        }
        tree
    }

    /// The ways along a tree.
    fn by_tree(&self, tree: &[LinkId], leaf: SwitchId) -> Next {
        let fabric = self.fabric;
        let mut into = vec![Vec::new(); fabric.switch_count()];
        for &link in tree {
            into[fabric.link_to_switch(link).expect("it joins switches").index()].push(link);
        }
        let mut next: Next = vec![None; fabric.switch_count()];
        let mut queue = VecDeque::from([leaf]);
        while let Some(s) = queue.pop_front() {
            for &link in &into[s.index()] {
                let from = fabric.link_from_switch(link).expect("it joins switches");
                if from != leaf && next[from.index()].is_none() {
                    next[from.index()] = Some(link);
                    queue.push_back(from);
                }
            }
        }
        next
    }

    /// What hosts send along these ways, so many times.
    fn add_loads(&mut self, next: &Next, times: f64) {
        for s in self.fabric.switches() {
            let mut at = s;
            while let Some(link) = next[at.index()] {
                self.load[link.index()] += times * self.senders[s.index()] as f64 * self.weight[link.index()];
                at = self.fabric.link_to_switch(link).expect("ways join switches");
            }
        }
    }
}

/// Whether a hundredth of the cables is missing: within groups, where these are cliques or grids, and between groups that have fewer than most.
fn lacks_many(fabric: &Fabric, groups: &Groups) -> bool {
    let mut joined = BTreeSet::new();
    let mut between = BTreeMap::new();
    for link in fabric.links().filter(|&l| fabric.between_switches(l) && fabric.alive(l)) {
        let (s, t) =
            (fabric.link_from_switch(link).expect("joins"), fabric.link_to_switch(link).expect("switches"));
        let (a, b) = (groups.group(s), groups.group(t));
        if a == b && s < t {
            joined.insert((s, t));
        } else if a < b {
            *between.entry((a, b)).or_insert(0usize) += 1;
        }
    }
    let in_line = |s: SwitchId, t: SwitchId| match &groups.grid {
        Some(grid) => {
            grid.row[s.index()] == grid.row[t.index()] || grid.column[s.index()] == grid.column[t.index()]
        }
        None => true,
    };
    let pairs = fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t)));
    let inside = pairs.filter(|&(s, t)| s < t && groups.group(s) == groups.group(t) && in_line(s, t));
    let (inside, apart) =
        inside.fold((0, 0), |(all, apart), pair| (all + 1, apart + usize::from(!joined.contains(&pair))));
    let mut times = BTreeMap::new();
    between.values().for_each(|&cables| *times.entry(cables).or_insert(0usize) += 1);
    let usual =
        times.into_iter().max_by_key(|&(cables, often)| (often, cables)).map_or(0, |(cables, _)| cables);
    let count = groups.count as usize;
    let outside = usual * (count * (count - 1) / 2);
    let there: usize = between.values().map(|&cables| cables.min(usual)).sum();
    100 * (apart + outside - there) >= LACKS * (inside + outside)
}

/// The number of a lane of a link.
fn vertex(link: LinkId, lane: u8) -> u32 {
    link.0 * u32::from(MOST_LANES) + u32::from(lane)
}
