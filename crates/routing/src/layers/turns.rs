//! The turns that packets make, for every two leaves: pairs that turn alike are one.
//!
//! A turn is a link into a switch and a link out of it, both between switches: where a packet waits for the second with
//! the buffer of the first. Turns that lie on no circle of the whole graph are left out, as they close none on any lane.

use std::collections::HashMap;

use netloom_model::{DestId, Fabric, HostId, LinkId, NO_PORT, Routes, SwitchId};

use crate::circles::on_circles;

/// Pairs of leaves by the turns between them, both directions together.
pub(super) struct Pairs {
    /// A turn's links.
    turns: Vec<(u32, u32)>,
    /// By set: which turns, rising.
    sets: Vec<Vec<u32>>,
    /// By set: the pairs of leaves, the lower first.
    leaves_of: Vec<Vec<(u16, u16)>>,
    /// Turns of what leaves send to switches' own addresses, rising.
    to_switches: Vec<u32>,
    /// Turns of what switches answer hosts, rising.
    answers: Vec<u32>,
    /// By switch: its number among the leaves.
    number: Vec<u16>,
    leaves: usize,
}

impl Pairs {
    /// How many leaves there are.
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// The turns: link in, link out.
    pub fn turns(&self) -> &[(u32, u32)] {
        &self.turns
    }

    /// The sets of turns.
    pub fn sets(&self) -> &[Vec<u32>] {
        &self.sets
    }

    /// The turns of what leaves send to switches' own addresses.
    pub fn to_switches(&self) -> &[u32] {
        &self.to_switches
    }

    /// The turns of what switches answer hosts.
    pub fn answers(&self) -> &[u32] {
        &self.answers
    }

    /// The pairs of leaves whose packets make a set of turns.
    pub fn leaves_of(&self, set: usize) -> &[(u16, u16)] {
        &self.leaves_of[set]
    }

    /// Every host's leaf, by its number among the leaves.
    pub fn leaf_of_hosts(&self, fabric: &Fabric) -> Vec<u16> {
        fabric.hosts().map(|host| self.number[fabric.leaf(host).index()]).collect()
    }
}

/// The turns of all pairs of leaves that may be on a circle.
pub(super) fn of_pairs(fabric: &Fabric, routes: &Routes) -> Pairs {
    let leaves: Vec<SwitchId> = fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).collect();
    let mut number = vec![0u16; fabric.switch_count()];
    for (at, leaf) in leaves.iter().enumerate() {
        number[leaf.index()] = at as u16;
    }
    let walk = Walk::new(fabric, routes);
    let on = walk.circles(&leaves);
    let mut pairs = Pairs {
        turns: Vec::new(),
        sets: Vec::new(),
        leaves_of: Vec::new(),
        to_switches: Vec::new(),
        answers: Vec::new(),
        number,
        leaves: leaves.len(),
    };
    if on.iter().all(|on| !on) {
        return pairs;
    }
    let mut known: HashMap<Vec<u32>, usize> = HashMap::new();
    let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
    let mut set = Vec::new();
    let mut turns = Vec::new();
    let mut number = |before: u32, link: u32| {
        let next = numbers.len() as u32;
        let turn = *numbers.entry((before, link)).or_insert(next);
        if turn == next {
            turns.push((before, link));
        }
        turn
    };
    for &leaf in &leaves {
        for target in fabric.switches().filter(|&target| target != leaf) {
            walk.to_switch(leaf, target, |before, link| {
                if on[before as usize] && on[link as usize] {
                    pairs.to_switches.push(number(before, link));
                }
            });
        }
    }
    for switch in fabric.switches() {
        walk.answers(switch, |before, link| {
            if on[before as usize] && on[link as usize] {
                pairs.answers.push(number(before, link));
            }
        });
    }
    for turns in [&mut pairs.to_switches, &mut pairs.answers] {
        turns.sort_unstable();
        turns.dedup();
    }
    for (i, &a) in leaves.iter().enumerate() {
        for (j, &b) in leaves.iter().enumerate().skip(i + 1) {
            set.clear();
            for (from, to) in [(a, b), (b, a)] {
                walk.visit(from, to, |before, link| {
                    if on[before as usize] && on[link as usize] {
                        set.push(number(before, link));
                    }
                });
            }
            if set.is_empty() {
                continue;
            }
            set.sort_unstable();
            set.dedup();
            let at = match known.get(&set) {
                Some(&at) => at,
                None => {
                    known.insert(set.clone(), pairs.sets.len());
                    pairs.sets.push(set.clone());
                    pairs.leaves_of.push(Vec::new());
                    pairs.sets.len() - 1
                }
            };
            pairs.leaves_of[at].push((i as u16, j as u16));
        }
    }
    pairs.turns = turns;
    pairs
}

/// Follows what leaves send each other.
struct Walk<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    /// By switch: hosts that receive.
    hosts: Vec<Vec<HostId>>,
}

impl<'a> Walk<'a> {
    fn new(fabric: &'a Fabric, routes: &'a Routes) -> Self {
        let hosts = |s: SwitchId| {
            let alive = |h: &&HostId| fabric.alive(fabric.host_link(**h));
            fabric.hosts_on(s).iter().filter(alive).copied().collect()
        };
        Self { fabric, routes, hosts: fabric.switches().map(hosts).collect() }
    }

    /// By link: whether it is on a circle of waits, or waits for one that is.
    fn circles(&self, leaves: &[SwitchId]) -> Vec<bool> {
        let mut after: Vec<Vec<u32>> = vec![Vec::new(); self.fabric.link_count()];
        let mut note = |before: u32, link: u32| {
            let after = &mut after[before as usize];
            if !after.contains(&link) {
                after.push(link);
            }
        };
        for &a in leaves {
            leaves.iter().filter(|&&b| b != a).for_each(|&b| self.visit(a, b, &mut note));
            self.fabric.switches().filter(|&s| s != a).for_each(|s| self.to_switch(a, s, &mut note));
        }
        self.fabric.switches().for_each(|s| self.answers(s, &mut note));
        let waits: Vec<(u32, u32)> = (0..)
            .zip(&after)
            .flat_map(|(before, after)| after.iter().map(move |&link| (before, link)))
            .collect();
        on_circles(after.len(), &waits)
    }

    /// Every turn between links of switches, of the packets from one leaf to all addresses of another's hosts.
    fn visit(&self, from: SwitchId, to: SwitchId, mut turn: impl FnMut(u32, u32)) {
        let space = self.routes.dests(self.fabric);
        let sender = self.hosts[from.index()].first().copied();
        let Some(sender) = sender else { return };
        for &host in &self.hosts[to.index()] {
            for path in 0..1 << self.routes.lmc {
                self.follow((sender, from), space.host(host, path), &mut turn);
            }
        }
    }

    /// The same of the packets from a leaf to a switch's own address.
    fn to_switch(&self, from: SwitchId, to: SwitchId, mut turn: impl FnMut(u32, u32)) {
        let Some(&sender) = self.hosts[from.index()].first() else { return };
        self.follow((sender, from), self.routes.dests(self.fabric).switch(to), &mut turn);
    }

    /// The same of the packets from a switch itself to all hosts.
    fn answers(&self, from: SwitchId, mut turn: impl FnMut(u32, u32)) {
        let space = self.routes.dests(self.fabric);
        for &host in self.hosts.iter().flatten() {
            for path in 0..1 << self.routes.lmc {
                // Tables by destination do not look at the source.
                self.follow((host, from), space.host(host, path), &mut turn);
            }
        }
    }

    /// Every turn of a packet between links of switches.
    fn follow(&self, (sender, leaf): (HostId, SwitchId), dest: DestId, turn: &mut impl FnMut(u32, u32)) {
        let (mut at, mut before) = (leaf, None::<LinkId>);
        // No way is longer than there are switches; one that goes round is another check's to find.
        for _ in 0..self.fabric.switch_count() {
            let port = self.routes.port(at, sender, dest);
            let link = (port != NO_PORT).then(|| self.fabric.link_at(at, port)).flatten();
            let Some(link) = link.filter(|&link| self.fabric.alive(link)) else { break };
            let Some(next) = self.fabric.link_to_switch(link) else { break };
            if let Some(before) = before {
                turn(before.0, link.0);
            }
            (at, before) = (next, Some(link));
        }
    }
}
