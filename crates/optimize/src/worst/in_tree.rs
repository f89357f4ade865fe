//! The ways of all leaves that send to one destination, which make a tree: tables by destination know nothing else.
//!
//! Most leaves are *stubs*: no table leads over them to hosts elsewhere, so nothing but their own traffic leaves them.
//! They are kept in a list beside the tree. One tree is grown after the other in the same memory; neighbouring
//! destinations one after the other find the same stretches of the tables in the cache.

use netloom_model::{DestId, Fabric, HostId, Lft, LinkId, NO_PORT, SwitchId};
use rayon::prelude::*;

/// Not reached by this tree.
const UNSEEN: u32 = u32::MAX;
/// On the way that is just followed: to meet it again is a loop.
const ON_THE_WAY: u32 = u32::MAX - 1;
/// Behind a port: no switch.
const NOWHERE: SwitchId = SwitchId(u32::MAX);

/// Where every port leads, in a form that fits a cache.
pub(super) struct Steps<'a> {
    fabric: &'a Fabric,
    lft: &'a Lft,
    /// By switch: where its ports begin in `to`.
    first: Vec<u32>,
    to: Vec<SwitchId>,
    stub: Vec<bool>,
}

impl<'a> Steps<'a> {
    /// Stubs are looked for as far as hosts in `receivers` go.
    pub fn new(fabric: &'a Fabric, lft: &'a Lft, receivers: &[(HostId, DestId)]) -> Self {
        let (mut first, mut to) = (Vec::with_capacity(fabric.switch_count()), Vec::new());
        for s in fabric.switches() {
            first.push(to.len() as u32);
            let ports = 0..=fabric.radix(s);
            let link = |port| fabric.link_at(s, port).filter(|&l| fabric.alive(l));
            to.extend(ports.map(|p| link(p).and_then(|l| fabric.link_to_switch(l)).unwrap_or(NOWHERE)));
        }
        let mut steps = Self { fabric, lft, first, to, stub: vec![false; fabric.switch_count()] };
        let passed: Vec<Vec<SwitchId>> =
            (0..fabric.switch_count()).into_par_iter().map(|s| steps.passed(s, receivers)).collect();
        steps.stub = fabric.switches().map(|s| !fabric.hosts_on(s).is_empty()).collect();
        passed.into_iter().flatten().for_each(|s| steps.stub[s.index()] = false);
        steps
    }

    /// Switches with hosts to which a switch's table leads on the way to hosts elsewhere.
    fn passed(&self, switch: usize, receivers: &[(HostId, DestId)]) -> Vec<SwitchId> {
        let (fabric, switch) = (self.fabric, SwitchId::from_index(switch));
        let row = self.lft.row(switch);
        let from = self.first[switch.index()] as usize;
        let ports = &self.to[from..=from + usize::from(fabric.radix(switch))];
        if ports.iter().all(|&to| to == NOWHERE || fabric.hosts_on(to).is_empty()) {
            return Vec::new();
        }
        let mut passed = vec![false; ports.len()];
        for &(host, address) in receivers {
            if let Some(&to) = ports.get(usize::from(row.port(address))) {
                passed[usize::from(row.port(address))] |= to != NOWHERE && to != fabric.leaf(host);
            }
        }
        ports.iter().zip(passed).filter(|(_, passed)| *passed).map(|(&to, _)| to).collect()
    }

    /// Whether only a switch's own traffic leaves it.
    pub fn is_stub(&self, switch: SwitchId) -> bool {
        self.stub[switch.index()]
    }

    /// Where the way goes on from a switch, and by which port.
    #[inline]
    fn next(&self, at: SwitchId, address: DestId) -> Option<(u16, SwitchId)> {
        let port = self.lft.port(at, address);
        if port == NO_PORT || port > self.fabric.radix(at) {
            return None;
        }
        let to = self.to[self.first[at.index()] as usize + usize::from(port)];
        (to != NOWHERE).then_some((port, to))
    }

    fn link(&self, at: SwitchId, port: u16) -> LinkId {
        self.fabric.link_at(at, port).expect("a port that leads somewhere")
    }
}

/// The first steps of all leaves towards a few destinations. Rows of tables are long: one destination after the other would
/// look at a place in every row, and these places share few lines of the cache. A stretch of each row is read at once.
pub(super) struct FirstSteps {
    leaves: usize,
    /// From one destination's steps to the next one's in `to`: at distances of a power of two they would share few lines of
    /// the cache.
    stride: usize,
    /// By destination, then leaf: where the way leads.
    to: Vec<SwitchId>,
}

impl FirstSteps {
    /// Destinations that can be looked up together.
    pub const MOST: usize = 32;

    pub fn new(leaves: usize) -> Self {
        let stride = leaves.next_multiple_of(512) + 24;
        Self { leaves, stride, to: vec![NOWHERE; Self::MOST * stride] }
    }

    /// Looks up some destinations, at most [`Self::MOST`].
    pub fn look_up(&mut self, steps: &Steps, leaves: &[SwitchId], some: &[(HostId, DestId)]) {
        for (i, &leaf) in leaves.iter().enumerate() {
            let row = steps.lft.row(leaf);
            let from = steps.first[leaf.index()] as usize;
            let ports = &steps.to[from..=from + usize::from(steps.fabric.radix(leaf))];
            for (k, &(_, address)) in some.iter().enumerate() {
                let to = ports.get(usize::from(row.port(address)));
                self.to[k * self.stride + i] = to.copied().unwrap_or(NOWHERE);
            }
        }
    }

    /// The steps of all leaves to the `k`-th of the destinations.
    pub fn to(&self, k: usize) -> &[SwitchId] {
        &self.to[k * self.stride..][..self.leaves]
    }
}

/// A tree, and the memory of the next.
pub(super) struct InTree<'a> {
    steps: &'a Steps<'a>,
    address: DestId,
    /// By switch: links to the root, or [`UNSEEN`].
    hops: Vec<u32>,
    /// By switch that was reached: the port by which it goes on, and where that leads.
    next: Vec<(u16, SwitchId)>,
    /// Switches by their hops; the root is the only one of the first.
    levels: Vec<Vec<SwitchId>>,
    way: Vec<SwitchId>,
    stubs: Vec<(SwitchId, SwitchId)>,
}

impl<'a> InTree<'a> {
    pub fn new(steps: &'a Steps<'a>) -> Self {
        let switches = steps.first.len();
        Self {
            steps,
            address: DestId(0),
            hops: vec![UNSEEN; switches],
            next: vec![(0, NOWHERE); switches],
            levels: Vec::new(),
            way: Vec::new(),
            stubs: Vec::new(),
        }
    }

    /// The tree of the ways from `leaves` to a destination behind the switch `root`.
    ///
    /// # Errors
    /// The first leaf whose way loops or ends before.
    pub fn grow(&mut self, root: SwitchId, address: DestId, leaves: &[SwitchId]) -> Result<(), SwitchId> {
        let steps = self.steps;
        self.grow_by(root, address, leaves, |i| steps.next(leaves[i], address).map_or(NOWHERE, |next| next.1))
    }

    /// The same, where `first` says where the ways of `leaves` lead at first, by position: [`NOWHERE`] if they end there. It
    /// is asked of stubs only.
    pub fn grow_by(
        &mut self,
        root: SwitchId,
        address: DestId,
        leaves: &[SwitchId],
        first: impl Fn(usize) -> SwitchId,
    ) -> Result<(), SwitchId> {
        for s in self.levels.iter_mut().flat_map(|level| level.drain(..)) {
            self.hops[s.index()] = UNSEEN;
        }
        self.stubs.clear();
        self.address = address;
        self.put(root, 0);
        for (i, &leaf) in leaves.iter().enumerate().filter(|(_, leaf)| **leaf != root) {
            let mut at = leaf;
            if self.steps.is_stub(leaf) {
                at = first(i);
                if at == NOWHERE {
                    return Err(leaf);
                }
                self.stubs.push((leaf, at));
            }
            if self.hops[at.index()] == UNSEEN && !self.reach(at) {
                return Err(leaf);
            }
        }
        Ok(())
    }

    /// Adds a switch with all on its way; `false` if that loops or ends before the root.
    fn reach(&mut self, mut at: SwitchId) -> bool {
        while self.hops[at.index()] == UNSEEN {
            let Some(next) = self.steps.next(at, self.address) else { break };
            self.hops[at.index()] = ON_THE_WAY;
            self.next[at.index()] = next;
            self.way.push(at);
            at = next.1;
        }
        let mut hops = self.hops[at.index()];
        if hops >= ON_THE_WAY {
            self.way.drain(..).for_each(|s| self.hops[s.index()] = UNSEEN);
            return false;
        }
        while let Some(s) = self.way.pop() {
            hops += 1;
            self.put(s, hops);
        }
        true
    }

    fn put(&mut self, switch: SwitchId, hops: u32) {
        self.hops[switch.index()] = hops;
        while self.levels.len() <= hops as usize {
            self.levels.push(Vec::new());
        }
        self.levels[hops as usize].push(switch);
    }

    /// Stubs, each with where it leads, in the order of the leaves.
    pub fn stubs(&self) -> &[(SwitchId, SwitchId)] {
        &self.stubs
    }

    /// The other switches of the tree, without the root, farthest first: each with its link on, and where that leads.
    pub fn inwards(&self) -> impl Iterator<Item = (SwitchId, LinkId, SwitchId)> {
        self.levels.iter().skip(1).rev().flatten().map(|&s| {
            let (port, to) = self.next[s.index()];
            (s, self.steps.link(s, port), to)
        })
    }

    /// The switch behind which all hosts of the tree's destination are.
    pub fn root(&self) -> SwitchId {
        self.levels[0][0]
    }

    /// The links from a leaf that the tree was grown from to the root.
    pub fn way(&self, from: SwitchId) -> impl Iterator<Item = LinkId> {
        let mut at = from;
        std::iter::from_fn(move || {
            if at == self.root() {
                return None;
            }
            let of_stub = || self.steps.next(at, self.address).expect("a stub of this tree leads somewhere");
            let (port, to) = if self.steps.is_stub(at) { of_stub() } else { self.next[at.index()] };
            let link = self.steps.link(at, port);
            at = to;
            Some(link)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use netloom_routing::{Engine, EngineOptions, route};
    use netloom_topology::{detect, generate};

    #[test]
    fn a_tree_has_every_way_and_the_next_one_nothing_of_it() {
        let fabric = generate("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=2,cores=1").unwrap();
        let routes =
            route(Engine::Random, &fabric, &detect(&fabric), &EngineOptions { seed: 3, lmc: 0 }).unwrap();
        let (lft, space) = (routes.lft().unwrap(), routes.dests(&fabric));
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        let receivers: Vec<(HostId, DestId)> = fabric.hosts().map(|h| (h, space.host(h, 0))).collect();
        let steps = Steps::new(&fabric, lft, &receivers);
        assert!(leaves.iter().all(|&leaf| steps.is_stub(leaf)));
        let mut tree = InTree::new(&steps);
        for host in fabric.hosts() {
            let root = fabric.leaf(host);
            tree.grow(root, space.host(host, 0), &leaves).unwrap();
            assert_eq!(tree.way(root).count(), 0);
            for &leaf in &leaves {
                let mut at = leaf;
                for link in tree.way(leaf) {
                    assert_eq!(fabric.link_at(at, lft.port(at, space.host(host, 0))), Some(link));
                    at = fabric.link_to_switch(link).unwrap();
                }
                assert_eq!(at, root);
            }
            let seen: Vec<SwitchId> = tree.inwards().map(|(s, ..)| s).collect();
            assert!(tree.inwards().all(|(s, _, to)| to == root
                || seen.iter().position(|&x| x == to) > seen.iter().position(|&x| x == s)));
        }
    }

    #[test]
    fn a_loop_and_a_hole_are_told_by_their_leaf() {
        let fabric = generate("two-level:leaves=3,hosts=1,spines=1").unwrap();
        let routes =
            route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions { seed: 1, lmc: 0 }).unwrap();
        let space = routes.dests(&fabric);
        let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
        let spine = fabric.switches().find(|&s| fabric.hosts_on(s).is_empty()).unwrap();
        let host = fabric.hosts().next().unwrap();
        let (root, address) = (fabric.leaf(host), space.host(host, 0));
        let others: Vec<SwitchId> = leaves.iter().copied().filter(|&l| l != root).collect();
        for port in [
            None,
            Some(
                fabric.link_port(
                    fabric
                        .links()
                        .find(|&l| {
                            fabric.link_from_switch(l) == Some(spine)
                                && fabric.link_to_switch(l) == Some(others[0])
                        })
                        .unwrap(),
                ),
            ),
        ] {
            let mut lft = routes.lft().unwrap().clone();
            lft.set(spine, address, port);
            let receivers: Vec<(HostId, DestId)> = fabric.hosts().map(|h| (h, space.host(h, 0))).collect();
            let steps = Steps::new(&fabric, &lft, &receivers);
            let mut tree = InTree::new(&steps);
            assert_eq!(tree.grow(root, address, &leaves), Err(others[0]));
            // What was left behind does not spoil the next.
            let next = fabric.hosts_on(others[1])[0];
            assert_eq!(tree.grow(others[1], space.host(next, 0), &leaves), Ok(()));
        }
    }
}
