//! Credit loops of routing schemes of dragonflies: every move that a packet may make, by (link, lane).
//!
//! A scheme has no tables; its packets choose as they go. So all their choices are followed, whatever queues say: every minimal way,
//! every detour, every second decision. A packet that holds a buffer of one lane of one link and wants one of another makes the first wait for
//! the second. Packets of a scheme can't wait for each other for ever if no cycle of waits is left (W. J. Dally, C. L. Seitz, IEEE
//! Trans. Computers C-36(5), 1987).
//!
//! What is given is the outputs of minimal ways, as tables are; slots, third groups and decisions are defined here, apart from the code that
//! runs them. A detour goes to a *third* switch and from there on, both ways minimal with one cable between groups each, in a group that is neither
//! the source's nor the destination's:
//!
//! * through a group: towards where a cable of the source's group leads to, and on from where the way comes into the third group; through a
//!   switch: any of a group;
//! * *again*: a packet on its minimal way, in its first group and behind its first switch, may yet begin a detour.
//!
//! Slots of a way (J. Kim et al., ISCA 2008, sec. 4.1, where each has a lane): L is cables within a group, G one between groups, numbered
//! along the way. Packets are followed towards a third switch, then, with where they came in there, towards every destination.

use std::collections::{BTreeMap, BTreeSet};

use netloom_model::{Fabric, LaneMap, LinkId, SwitchId};

use crate::lanes::{LaneReport, Waits, any_levels};

/// What packets of a scheme may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// Where their detours lead; `None`: they make none.
    pub through: Option<Through>,
    /// Whether packets to another group make a detour wherever there is one.
    pub always: bool,
    /// Whether a packet on its minimal way may begin a detour behind its first switch.
    pub again: bool,
}

/// Where a detour leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Through {
    /// A third group: to where a cable leads, and on from where they come in.
    Group,
    /// Any switch of a third group.
    Switch,
}

impl Moves {
    /// The schemes whose moves are known, by name.
    pub const ALL: [(&'static str, Self); 6] = [
        ("minimal", Self { through: None, always: false, again: false }),
        ("valiant", Self { through: Some(Through::Group), always: true, again: false }),
        ("valiant:router", Self { through: Some(Through::Switch), always: true, again: false }),
        ("ugal", Self { through: Some(Through::Group), always: false, again: false }),
        ("ugal:global", Self { through: Some(Through::Group), always: false, again: false }),
        ("par", Self { through: Some(Through::Group), always: false, again: true }),
    ];

    /// Slots of a way, in order, where minimal ways cross at most so many cables between groups.
    fn slots(self, crossings: u8) -> Vec<Slot> {
        let usual = crossings < 2;
        // Cables between groups of the longest way, and behind how many of them there are two slots within one group.
        let (crossings, twice) = match self.through {
            None => (crossings, None),
            Some(Through::Switch) if usual => (2, Some(1)),
            Some(Through::Switch) => (3, None),
            Some(Through::Group) => (crossings.max(2), self.again.then_some(0)),
        };
        let (mut slots, mut locals) = (Vec::new(), 0);
        for crossed in 0..=crossings {
            for _ in 0..=u8::from(twice == Some(crossed)) {
                slots.push(Slot::Local(locals));
                locals += 1;
            }
            if crossed < crossings {
                slots.push(Slot::Global(crossed));
            }
        }
        slots
    }
}

/// A slot of a way, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Cables within a group.
    Local(u8),
    /// A cable between groups.
    Global(u8),
}

impl std::fmt::Display for Slot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Local(number) => write!(f, "L{number}"),
            Self::Global(number) => write!(f, "G{number}"),
        }
    }
}

/// How a packet's lanes are told.
#[derive(Clone, Copy, Debug)]
pub enum LanesBy<'a> {
    /// One a slot. With fewer lanes than slots the two slots within one group share one, with fewer still the last ones do.
    Slot(u8),
    /// By SL-to-VL tables, at any service level.
    Tables(&'a LaneMap),
}

/// What was found about a scheme.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MovesReport {
    /// Lanes and loops.
    pub lanes: LaneReport,
    /// Slots of its ways, in order.
    pub slots: Vec<Slot>,
    /// The lane of every slot, unless tables tell it.
    pub lane_of: Vec<u8>,
    /// Pairs of (link, lane) of which the first may wait for the second.
    pub waits: u64,
}

/// Looks for credit loops among all moves that packets of a scheme may make.
///
/// `group` is of every switch; `links` are the outputs of minimal ways from one switch towards another. Time grows with the square of the
/// switches times links a switch.
pub fn move_loops(
    fabric: &Fabric,
    group: &[u32],
    links: &dyn Fn(SwitchId, SwitchId) -> Vec<LinkId>,
    moves: Moves,
    lanes: LanesBy,
) -> MovesReport {
    let mut follower = Follower::new(fabric, group, links, moves, lanes);
    match lanes {
        LanesBy::Slot(_) => follower.follow(0),
        LanesBy::Tables(map) => any_levels(fabric, map).into_iter().for_each(|level| follower.follow(level)),
    }
    let (credit_loops, cycle) = follower.waits.cycles(fabric);
    let lane_of = if matches!(lanes, LanesBy::Slot(_)) { follower.lane_of.clone() } else { Vec::new() };
    MovesReport {
        lanes: LaneReport { lanes: follower.highest + 1, credit_loops, cycle, ..LaneReport::default() },
        slots: follower.slots,
        lane_of,
        waits: follower.waits.count(),
    }
}

/// Outputs of minimal ways by verify's own definition, in any order of a group's cables: of those with the fewest cables between groups
/// the shortest.
pub struct AnyOrder<'a> {
    fabric: &'a Fabric,
    group: &'a [u32],
    /// By destination and switch: cables between groups, and all cables.
    far: Vec<Vec<(u32, u32)>>,
}

impl<'a> AnyOrder<'a> {
    /// Of a fabric with its groups.
    pub fn new(fabric: &'a Fabric, group: &'a [u32]) -> Self {
        let mut it = Self { fabric, group, far: Vec::new() };
        it.far = fabric.switches().map(|to| it.towards(to)).collect();
        it
    }

    fn next(&self, s: SwitchId) -> impl Iterator<Item = (LinkId, SwitchId, u32)> {
        let working = self.fabric.switch_links(s).filter(|&l| self.fabric.alive(l));
        working.filter_map(move |l| {
            let t = self.fabric.link_to_switch(l)?;
            Some((l, t, u32::from(self.group[s.index()] != self.group[t.index()])))
        })
    }

    fn towards(&self, to: SwitchId) -> Vec<(u32, u32)> {
        let mut far = vec![(u32::MAX, u32::MAX); self.fabric.switch_count()];
        far[to.index()] = (0, 0);
        let mut open = BTreeSet::from([(0, 0, to)]);
        while let Some((globals, all, t)) = open.pop_first() {
            for (_, s, global) in self.next(t) {
                let new = (globals + global, all + 1);
                if new < far[s.index()] {
                    open.remove(&(far[s.index()].0, far[s.index()].1, s));
                    far[s.index()] = new;
                    open.insert((new.0, new.1, s));
                }
            }
        }
        far
    }

    /// The outputs from one switch towards another.
    pub fn links(&self, from: SwitchId, to: SwitchId) -> Vec<LinkId> {
        let far = &self.far[to.index()];
        let (globals, all) = far[from.index()];
        if from == to || globals == u32::MAX {
            return Vec::new();
        }
        let nearer =
            |t: SwitchId, global: u32| far[t.index()] == (globals.wrapping_sub(global), all.wrapping_sub(1));
        self.next(from).filter(|&(_, t, global)| nearer(t, global)).map(|(link, ..)| link).collect()
    }
}

/// What a packet does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Leg {
    /// Goes to its destination minimally.
    Direct,
    /// Goes to a third switch.
    Seeks,
    /// Has been there.
    Onward,
}

/// A packet that has come over a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Held {
    via: LinkId,
    lane: u8,
    leg: Leg,
    /// Cables between groups behind it.
    crossed: u8,
    /// The group that it comes from, where it matters.
    source: u32,
}

/// Follows packets, and notes what waits for what.
struct Follower<'a> {
    fabric: &'a Fabric,
    group: &'a [u32],
    links: &'a dyn Fn(SwitchId, SwitchId) -> Vec<LinkId>,
    moves: Moves,
    lanes: LanesBy<'a>,
    slots: Vec<Slot>,
    lane_of: Vec<u8>,
    /// Minimal ways cross at most one cable between groups.
    usual: bool,
    /// By destination and switch: cables between groups of the minimal way; 255: there is none.
    crosses: Vec<Vec<u8>>,
    /// Switches with hosts.
    leaves: Vec<SwitchId>,
    /// By switch: groups of destinations that are one cable between groups away.
    onward: Vec<BTreeSet<u32>>,
    /// By group: switches that its cables lead to.
    far_ends: BTreeMap<u32, BTreeSet<SwitchId>>,
    waits: Waits,
    highest: u8,
}

impl<'a> Follower<'a> {
    fn new(
        fabric: &'a Fabric,
        group: &'a [u32],
        links: &'a dyn Fn(SwitchId, SwitchId) -> Vec<LinkId>,
        moves: Moves,
        lanes: LanesBy<'a>,
    ) -> Self {
        let alive = |h: &netloom_model::HostId| fabric.alive(fabric.host_link(*h));
        let leaves: BTreeSet<SwitchId> = fabric.hosts().filter(alive).map(|h| fabric.leaf(h)).collect();
        let crosses: Vec<Vec<u8>> = fabric.switches().map(|to| crossings(fabric, group, links, to)).collect();
        let most = crosses.iter().flatten().copied().filter(|&n| n != u8::MAX).max().unwrap_or(1).max(1);
        let slots = moves.slots(most);
        let width = match lanes {
            LanesBy::Slot(lanes) => lanes.max(1),
            LanesBy::Tables(map) => map.lanes().max(1),
        };
        let mut lane_of: Vec<u8> = (0..slots.len() as u8).collect();
        if usize::from(width) < slots.len() {
            // Two slots within one group share a lane first.
            let local = |slot: Slot| matches!(slot, Slot::Local(_));
            let twice = (1..slots.len()).find(|&i| local(slots[i]) && local(slots[i - 1]));
            let shared = |i: usize| u8::from(twice.is_some_and(|twice| i >= twice));
            lane_of = (0..slots.len()).map(|i| (i as u8 - shared(i)).min(width - 1)).collect();
        }
        let mut far_ends: BTreeMap<u32, BTreeSet<SwitchId>> = BTreeMap::new();
        for link in fabric.links().filter(|&l| fabric.alive(l)) {
            if let Some((s, t)) = fabric.link_from_switch(link).zip(fabric.link_to_switch(link))
                && group[s.index()] != group[t.index()]
            {
                far_ends.entry(group[s.index()]).or_default().insert(t);
            }
        }
        let onward = |x: SwitchId| {
            let one = leaves.iter().filter(|d| crosses[d.index()][x.index()] == 1);
            one.map(|d| group[d.index()]).filter(|&g| g != group[x.index()]).collect()
        };
        let onward = fabric.switches().map(onward).collect();
        Self {
            waits: Waits::new(fabric, u32::from(width)),
            leaves: leaves.into_iter().collect(),
            usual: most == 1,
            highest: 0,
            fabric,
            group,
            links,
            moves,
            lanes,
            slots,
            lane_of,
            crosses,
            onward,
            far_ends,
        }
    }

    fn group(&self, s: SwitchId) -> u32 {
        self.group[s.index()]
    }

    /// Whether a detour from a switch can lead to another, for some destination.
    fn leads(&self, from: SwitchId, third: SwitchId) -> bool {
        let in_reach = match self.moves.through {
            None => false,
            Some(Through::Switch) => true,
            Some(Through::Group) => {
                self.far_ends.get(&self.group(from)).is_some_and(|ends| ends.contains(&third))
            }
        };
        in_reach
            && self.group(from) != self.group(third)
            && self.crosses[third.index()][from.index()] == 1
            && self.onward[third.index()].iter().any(|&g| g != self.group(from))
    }

    /// Whether a packet that came from a group may go on from a third switch to a destination.
    fn goes_on(&self, source: u32, third: SwitchId, to: SwitchId) -> bool {
        let (mine, there) = (self.group(third), self.group(to));
        there != source && there != mine && self.crosses[to.index()][third.index()] == 1
    }

    /// The slot of a link that a packet takes.
    fn slot(&self, held: &Held, out: LinkId) -> Slot {
        let (c, past_first) = (held.crossed, self.fabric.link_from_switch(held.via).is_some());
        let by_switch = self.moves.through == Some(Through::Switch);
        match (held.leg, self.is_global(out)) {
            // Where minimal ways cross two cables, what is behind the third switch is on the next slots of both kinds.
            (Leg::Onward, true) if by_switch && !self.usual => Slot::Global(c + 1),
            (_, true) => Slot::Global(c),
            (Leg::Onward, false) if by_switch => Slot::Local(c + 1),
            (Leg::Seeks, false) if self.moves.again && c == 0 => Slot::Local(u8::from(past_first)),
            (_, false) if self.moves.again && c > 0 => Slot::Local(c + 1),
            (_, false) => Slot::Local(c),
        }
    }

    fn is_global(&self, link: LinkId) -> bool {
        let ends = self.fabric.link_from_switch(link).zip(self.fabric.link_to_switch(link));
        ends.is_some_and(|(s, t)| self.group(s) != self.group(t))
    }

    /// A packet goes on by a link; what it then is.
    fn go(&mut self, held: Held, out: LinkId, level: u8) -> Held {
        let lane = match self.lanes {
            LanesBy::Tables(map) => map.lane(held.via.0, out.0, level),
            LanesBy::Slot(_) => {
                let slot = self.slot(&held, out);
                // Where much is missing a way can cross more cables than slots tell: it stays on the last one.
                let place = self.slots.iter().position(|&other| other == slot);
                self.lane_of[place.unwrap_or(self.slots.len() - 1)]
            }
        };
        self.highest = self.highest.max(lane);
        let holder = self.waits.vertex(held.via, held.lane);
        self.waits.add(self.fabric, holder, out, lane);
        Held { via: out, lane, crossed: held.crossed + u8::from(self.is_global(out)), ..held }
    }

    /// Follows packets by minimal ways to a switch; those that are there.
    fn to(&mut self, to: SwitchId, start: Vec<Held>, level: u8, mut passes: impl FnMut(&Held)) -> Vec<Held> {
        let mut seen: BTreeSet<Held> = start.iter().copied().collect();
        let mut open: Vec<Held> = start;
        let mut there = Vec::new();
        while let Some(held) = open.pop() {
            let at = self.fabric.link_to_switch(held.via).expect("packets are at switches");
            passes(&held);
            // A detour through a group goes on from where it comes in.
            let comes_in =
                held.leg == Leg::Seeks && held.crossed > 0 && self.moves.through == Some(Through::Group);
            if at == to || comes_in {
                there.push(held);
                continue;
            }
            for out in (self.links)(at, to) {
                let next = self.go(held, out, level);
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        there
    }

    /// Packets that leave their hosts at a switch.
    fn sent(&self, from: SwitchId, leg: Leg, level: u8) -> Vec<Held> {
        let first = |host: netloom_model::HostId| match self.lanes {
            LanesBy::Slot(_) => 0,
            LanesBy::Tables(map) => map.first_lane(host.0, level),
        };
        let hosts = self.fabric.hosts().filter(|&h| self.fabric.leaf(h) == from);
        let held = |host| Held {
            via: self.fabric.host_link(host),
            lane: first(host),
            leg,
            crossed: 0,
            source: self.group(from),
        };
        hosts.filter(|&h| self.fabric.alive(self.fabric.host_link(h))).map(held).collect()
    }

    /// All moves at a service level.
    fn follow(&mut self, level: u8) {
        let leaves = self.leaves.clone();
        let sent = |this: &Self, leg| -> BTreeMap<SwitchId, Vec<Held>> {
            leaves.iter().map(|&s| (s, this.sent(s, leg, level))).collect()
        };
        let (direct, detours) = (sent(self, Leg::Direct), sent(self, Leg::Seeks));
        // Groups of destinations of packets on minimal ways that have come over a link in their first group.
        let mut undecided: BTreeMap<(LinkId, u8), BTreeSet<u32>> = BTreeMap::new();
        for &to in &leaves {
            let mut start = Vec::new();
            for &from in leaves.iter().filter(|&&from| from != to) {
                let always = self.moves.always && self.group(from) != self.group(to);
                let thirds = || self.fabric.switches().filter(|&x| self.leads(from, x));
                if !(always && thirds().any(|x| self.goes_on(self.group(from), x, to))) {
                    start.extend(direct[&from].iter().copied());
                }
            }
            let (fabric, there) = (self.fabric, self.group(to));
            self.to(to, start, level, |held| {
                if held.crossed == 0 && fabric.link_from_switch(held.via).is_some() && held.source != there {
                    undecided.entry((held.via, held.lane)).or_default().insert(there);
                }
            });
        }
        let mut arrived: Vec<(SwitchId, Held)> = Vec::new();
        for third in self.fabric.switches() {
            let leads = leaves.iter().filter(|&&s| self.leads(s, third));
            let mut start: Vec<Held> = leads.flat_map(|s| detours[s].iter().copied()).collect();
            if self.moves.again {
                for (&(via, lane), groups) in &undecided {
                    let at = self.fabric.link_to_switch(via).expect("links between switches");
                    let mine = self.group(at);
                    if self.leads(at, third) && groups.iter().any(|g| self.onward[third.index()].contains(g))
                    {
                        start.push(Held { via, lane, leg: Leg::Seeks, crossed: 0, source: mine });
                    }
                }
            }
            let there = self.to(third, start, level, |_| ());
            arrived.extend(there.into_iter().map(|held| (third, Held { leg: Leg::Onward, ..held })));
        }
        for &to in &leaves {
            let goes = |(third, held): &&(SwitchId, Held)| self.goes_on(held.source, *third, to);
            // What follows is the same whatever group they came from.
            let start: BTreeSet<Held> =
                arrived.iter().filter(goes).map(|(_, held)| Held { source: 0, ..*held }).collect();
            self.to(to, start.into_iter().collect(), level, |_| ());
        }
    }
}

/// Cables between groups of the minimal way from every switch to one.
fn crossings(
    fabric: &Fabric,
    group: &[u32],
    links: &dyn Fn(SwitchId, SwitchId) -> Vec<LinkId>,
    to: SwitchId,
) -> Vec<u8> {
    let mut crosses = vec![u8::MAX; fabric.switch_count()];
    for from in fabric.switches() {
        let (mut at, mut crossed) = (from, 0u8);
        while at != to {
            let Some(&link) = links(at, to).first() else {
                crossed = u8::MAX;
                break;
            };
            let next = fabric.link_to_switch(link).expect("ways join switches");
            crossed += u8::from(group[at.index()] != group[next.index()]);
            at = next;
        }
        crosses[from.index()] = crossed;
    }
    crosses
}
