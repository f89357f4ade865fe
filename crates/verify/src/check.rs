//! Checking all routes of a fabric.
//!
//! Tables by destination are followed once per address and switch, not once per pair: every host of a leaf shares
//! the leaf's fate. So all pairs of 3072 hosts take milliseconds. Routes that choose the way up by the source are
//! followed pair by pair.
//!
//! Which link can wait for which is asked only if a packet goes up or sideways after it went down, or in a circle: else ranks first
//! rise and then fall along every way, and no links wait for each other in a cycle.
//!
//! Invariant: the report does not depend on the number of threads.

use std::collections::BTreeMap;

use netloom_model::{DestId, Fabric, HostId, LaneMap, Lft, LinkId, Routes, SwitchId, Table};
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::channels::Channels;
use crate::joined::severed_pairs;
use crate::lanes::lane_loops;
use crate::plain::plain;
use crate::report::{CheckReport, Finding, FindingKind};
use crate::walker::{Address, LOST, Step, Target, Walker, end, step};
use crate::wiring::{Batch, Behind, Way, Wiring};

/// Destination switches handled together, and on large fabrics: so many searches share a pass over the links.
const BATCH: usize = 16;
const LARGE_BATCH: usize = 64;
/// Fabrics of so many switches are large.
const LARGE: usize = 1024;
/// Addresses handled together: their steps at all switches of a large fabric fit a core's cache.
const TOGETHER: usize = 16;
/// Entries of a table that lie in one line of memory, if they take a byte each; a multiple of [`TOGETHER`], a bit each of a word.
const A_LINE: usize = 64;
/// Examples kept of each kind of finding.
const EXAMPLES: usize = 3;

/// Checks that every host reaches every address, how, and that nothing can deadlock.
///
/// Paths are compared with the shortest over *any* working links, in a dragonfly with the shortest of the fewest global cables; up and
/// down are `structure`'s. A shortest path is right whether it is up*/down* or not (where switches of one level are cabled to each other,
/// none may be): credit loops are found for themselves, by (link, lane) if the routes have lanes. Time grows with switches times addresses (by
/// source: with pairs of hosts).
pub fn check(fabric: &Fabric, structure: &Structure, routes: &Routes) -> CheckReport {
    check_on(fabric, structure, routes, routes.lanes.as_deref())
}

/// The same with other lanes than the routes' own, or none.
pub fn check_on(
    fabric: &Fabric,
    structure: &Structure,
    routes: &Routes,
    lanes: Option<&LaneMap>,
) -> CheckReport {
    let space = routes.dests(fabric);
    let hosts = fabric.host_count() as u64;
    let pairs = (hosts * (hosts - 1)) << routes.lmc;
    let fits = |lft: &Lft, dests: usize| lft.switches() == fabric.switch_count() && lft.dests() == dests;
    let right_size = match &routes.table {
        Table::ByDest(lft) => fits(lft, space.count()),
        Table::UpBySource { up, down } => {
            down.switches() == fabric.switch_count()
                && down.dests() >= fabric.host_count() << routes.lmc
                && up.switches() == fabric.switch_count()
                && up.dests() >= fabric.host_count()
        }
    };
    if !right_size {
        let text = "the tables have another number of switches or addresses than the fabric".into();
        let findings = vec![Finding { kind: FindingKind::Unreachable, text, management: false }];
        let severed_pairs = severed_pairs(fabric) << routes.lmc;
        return CheckReport {
            pairs,
            unreachable_pairs: pairs,
            severed_pairs,
            findings,
            ..CheckReport::default()
        };
    }
    let context = Context {
        fabric,
        routes,
        ways: match structure.shape.groups() {
            Some(_) => "working cable",
            None => "up*/down* way",
        },
        wiring: Wiring::new(fabric, structure),
        channels: Channels::new(fabric),
        live: fabric
            .switches()
            .map(|s| fabric.hosts_on(s).iter().filter(|&&h| fabric.alive(fabric.host_link(h))).count() as u64)
            .collect(),
        leaves: fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()).map(|s| s.0).collect(),
    };
    let targets: Vec<u32> = match &routes.table {
        Table::ByDest(_) => (0..fabric.switch_count() as u32).collect(),
        Table::UpBySource { .. } => context.leaves.clone(),
    };
    let batch = if fabric.switch_count() < LARGE { BATCH } else { LARGE_BATCH };
    let parts: Vec<Part> = targets
        .par_chunks(batch)
        .map(|dests| match &routes.table {
            Table::ByDest(lft) => context.by_dest(lft, dests),
            Table::UpBySource { up, down } => context.by_source(up, down, dests),
        })
        .collect();
    let mut total = Part::default();
    total.report.pairs = pairs;
    total.report.severed_pairs = severed_pairs(fabric) << routes.lmc;
    parts.into_iter().for_each(|part| total.absorb(part));
    if let (Table::ByDest(lft), true) = (&routes.table, total.turns) {
        targets.par_chunks(batch).for_each(|dests| context.waits(lft, dests));
    }
    total.deadlock(&context, lanes);
    let mut report = total.report;
    report.findings = total
        .examples
        .into_iter()
        .flat_map(|((kind, management), texts)| {
            texts.into_iter().map(move |text| Finding { kind, text, management })
        })
        .collect();
    report
}

/// Counts and examples of some destinations.
#[derive(Default)]
struct Part {
    report: CheckReport,
    /// Whether links may wait for each other in a cycle.
    turns: bool,
    /// By kind, and whether they are about switches' own addresses.
    examples: BTreeMap<(FindingKind, bool), Vec<String>>,
}

impl Part {
    fn note(&mut self, kind: FindingKind, management: bool, text: impl FnOnce() -> String) {
        let texts = self.examples.entry((kind, management)).or_default();
        if texts.len() < EXAMPLES {
            texts.push(text());
        }
    }

    /// Cycles of waits: among links, and if there are any and lanes too, among the lanes of links.
    fn deadlock(&mut self, context: &Context, lanes: Option<&LaneMap>) {
        let fabric = context.fabric;
        let (count, cycle) = if self.turns { context.channels.cycles(fabric) } else { (0, Vec::new()) };
        let report = &mut self.report;
        (report.lanes, report.credit_loops) = (1, count);
        if count == 0 {
            return; // What is free on one lane is free on any.
        }
        let text = if let Some(lanes) = lanes {
            let found = lane_loops(fabric, context.routes, lanes);
            (report.lanes, report.credit_loops, report.switch_credit_loops) =
                (found.lanes, found.credit_loops, found.switch_credit_loops);
            report.cycle = found.cycle;
            let told = |cycle: &[(LinkId, u8)]| -> Vec<String> {
                cycle.iter().map(|&(l, lane)| format!("{} lane {lane}", fabric.describe_link(l))).collect()
            };
            let lanes = told(&report.cycle);
            let of = match report.lanes {
                1 => "with all packets on one lane".to_owned(),
                many => format!("on {many} lanes"),
            };
            if !found.switch_cycle.is_empty() {
                let lanes = told(&found.switch_cycle);
                self.note(FindingKind::SwitchCreditLoop, true, || {
                    format!(
                        "pairs of hosts are kept apart by their levels; with packets to switches' own LIDs too (those that read \
                         counters, on level 0), {} lanes of links can wait for each other: {}",
                        lanes.len(),
                        lanes.join("; ")
                    )
                });
            }
            format!("{of}, {} lanes of links wait for each other: {}", lanes.len(), lanes.join("; "))
        } else {
            report.cycle = cycle.iter().map(|&l| (l, 0)).collect();
            let links: Vec<String> = cycle.iter().map(|&l| fabric.describe_link(l)).collect();
            format!(
                "on one lane, {} links wait for each other (several lanes can break such loops): {}",
                links.len(),
                links.join("; ")
            )
        };
        if self.report.credit_loops > 0 {
            self.note(FindingKind::CreditLoop, false, || text);
        }
    }

    fn absorb(&mut self, other: Part) {
        let (a, b) = (&mut self.report, other.report);
        a.unreachable_pairs += b.unreachable_pairs;
        a.unreachable_management += b.unreachable_management;
        a.no_way_to_switch += b.no_way_to_switch;
        a.detours += b.detours;
        a.non_minimal_pairs += b.non_minimal_pairs;
        a.missing_entries += b.missing_entries;
        a.invalid_entries += b.invalid_entries;
        a.up_down_violations += b.up_down_violations;
        a.shortest_turns += b.shortest_turns;
        self.turns |= other.turns;
        for ((kind, management), texts) in other.examples {
            texts.into_iter().for_each(|text| self.note(kind, management, || text));
        }
    }
}

struct Context<'a> {
    fabric: &'a Fabric,
    routes: &'a Routes,
    /// What leads to an address here, in words.
    ways: &'static str,
    wiring: Wiring,
    channels: Channels,
    /// Hosts with a working cable, per switch.
    live: Vec<u64>,
    /// Switches with hosts.
    leaves: Vec<u32>,
}

impl Context<'_> {
    fn host(&self, h: u32) -> &str {
        self.fabric.host_name(HostId(h))
    }

    fn switch(&self, s: u32) -> &str {
        self.fabric.switch_name(SwitchId(s))
    }

    fn name(&self, address: &Address) -> String {
        match address.target {
            Target::Host(h) if self.routes.lmc == 0 => self.host(h).to_owned(),
            Target::Host(h) => {
                format!("{} (address {})", self.host(h), address.dest.0 & ((1 << self.routes.lmc) - 1))
            }
            Target::Switch(s) => format!("switch {}", self.switch(s)),
        }
    }

    fn addresses(&self, dests: &[u32], switches_too: bool) -> Vec<Address> {
        let space = self.routes.dests(self.fabric);
        let mut addresses = Vec::new();
        for (at, &s) in dests.iter().enumerate() {
            for &h in self.fabric.hosts_on(SwitchId(s)) {
                for path in 0..1 << self.routes.lmc {
                    addresses.push(Address { target: Target::Host(h.0), dest: space.host(h, path), at });
                }
            }
            if switches_too {
                addresses.push(Address { target: Target::Switch(s), dest: space.switch(SwitchId(s)), at });
            }
        }
        addresses
    }

    /// Switches that packets are sent from.
    fn sources(&self) -> impl Iterator<Item = u32> {
        self.leaves.iter().copied().filter(|&s| self.live[s as usize] > 0)
    }

    fn by_dest(&self, lft: &Lft, dests: &[u32]) -> Part {
        let switches = self.fabric.switch_count();
        let mut batch = self.wiring.batch(dests);
        let mut part = Part::default();
        let mut addresses = self.addresses(dests, true);
        // Nearly all are as they should be, which takes less time to see than to describe what is wrong.
        if self.wiring.tree && self.live.iter().sum::<u64>() == self.fabric.host_count() as u64 {
            let mut is_plain = plain(&self.wiring, (&batch, dests), lft, &addresses).into_iter();
            addresses.retain(|_| !is_plain.next().expect("one an address"));
        }
        if addresses.is_empty() {
            return part;
        }
        let mut walker = Walker::new(switches);
        let mut near = usize::MAX;
        // Columns at distances of a power of two would share a few lines of the cache.
        let stride = switches.next_multiple_of(512) + 24;
        let mut ports = vec![0u16; switches * A_LINE];
        let mut steps = vec![Step::Missing; TOGETHER * stride];
        for some in addresses.chunks(A_LINE) {
            gather(lft, some, &mut ports);
            for (part_of, addresses) in some.chunks(TOGETHER).enumerate() {
                let port = |i: usize, s: usize| ports[s * A_LINE + part_of * TOGETHER + i];
                let mut odd = 0u32;
                for s in 0..switches {
                    for (i, address) in addresses.iter().enumerate() {
                        let step = step(&self.wiring, s as u32, port(i, s), address.target);
                        odd |= u32::from(matches!(step, Step::Missing | Step::Invalid)) << i;
                        steps[i * stride + s] = step;
                    }
                }
                for (i, address) in addresses.iter().enumerate() {
                    let steps = &steps[i * stride..i * stride + switches];
                    if odd >> i & 1 == 1 {
                        self.entries(address, &batch, (steps, &|s| port(i, s)), &mut part);
                    }
                    if near != address.at {
                        near = address.at;
                        walker.order_by(|s| batch.hops[s as usize * dests.len() + near]);
                    }
                    walker.resolve(steps);
                    self.judge(address, dests, &mut batch, (&walker, steps), &mut part);
                    let fates = self.sources().map(|s| walker.fate[s as usize]);
                    part.turns = part.turns || fates.into_iter().any(|fate| fate.turns || fate.loops);
                }
            }
        }
        part
    }

    /// Notes which links packets to the addresses of some switches can make wait for which.
    fn waits(&self, lft: &Lft, dests: &[u32]) {
        let switches = self.fabric.switch_count();
        let mut ports = vec![0u16; switches * A_LINE];
        let mut passed = vec![0u64; switches];
        for some in self.addresses(dests, true).chunks(A_LINE) {
            gather(lft, some, &mut ports);
            passed.fill(0);
            for source in self.sources() {
                for (i, address) in some.iter().enumerate() {
                    let (mut at, mut came) = (source, None);
                    loop {
                        let port = ports[at as usize * A_LINE + i];
                        if let Some(link) = came {
                            self.channels.add(link, port);
                        }
                        if passed[at as usize] >> i & 1 == 1 {
                            break;
                        }
                        passed[at as usize] |= 1 << i;
                        let Step::To(next, _) = step(&self.wiring, at, port, address.target) else { break };
                        came = Some(self.wiring.link(at, port));
                        at = next;
                    }
                }
            }
        }
    }

    /// Counts the bad among an address's entries: a step and a port by switch.
    fn entries(
        &self,
        address: &Address,
        batch: &Batch,
        (steps, port): (&[Step], &dyn Fn(usize) -> u16),
        part: &mut Part,
    ) {
        let connected = match address.target {
            Target::Host(h) => self.fabric.alive(self.fabric.host_link(HostId(h))),
            Target::Switch(_) => true,
        };
        let management = matches!(address.target, Target::Switch(_));
        for (s, &step) in (0..).zip(steps) {
            if !self.wiring.on[s as usize] {
                continue;
            }
            if step == Step::Missing && connected && batch.up_down[s as usize] >> address.at & 1 == 1 {
                part.report.missing_entries += 1;
                part.note(FindingKind::MissingEntry, management, || {
                    format!("{} has no entry for {}", self.switch(s), self.name(address))
                });
            } else if step == Step::Invalid {
                part.report.invalid_entries += 1;
                part.note(FindingKind::InvalidEntry, management, || {
                    self.invalid(s, port(s as usize), address)
                });
            }
        }
    }

    fn invalid(&self, s: u32, port: u16, address: &Address) -> String {
        let switch = SwitchId(s);
        let what = if port == 0 {
            "which means the switch itself".to_owned()
        } else if port > self.fabric.radix(switch) {
            format!("but has ports 1 to {}", self.fabric.radix(switch))
        } else {
            match (self.fabric.link_at(switch, port), self.wiring.behind(s, port)) {
                (None, _) => "where nothing is cabled".to_owned(),
                (Some(_), Behind::Nothing) => "whose cable is dead".to_owned(),
                (Some(_), Behind::Host(h)) => format!("where {} is", self.host(h)),
                (Some(_), Behind::Switch(..)) => "expected port 0".to_owned(),
            }
        };
        format!("{} sends {} to port {port}, {what}", self.switch(s), self.name(address))
    }

    /// Counts pairs by leaf.
    fn judge(
        &self,
        address: &Address,
        dests: &[u32],
        batch: &mut Batch,
        (walker, steps): (&Walker, &[Step]),
        part: &mut Part,
    ) {
        let hosts = self.fabric.host_count() as u64;
        let (here, own) = match address.target {
            Target::Host(h) => {
                (dests[address.at], u64::from(self.fabric.alive(self.fabric.host_link(HostId(h)))))
            }
            Target::Switch(s) => (s, 0),
        };
        let is_host = matches!(address.target, Target::Host(_));
        let (mut delivered, mut lost_with_a_way) = (0, 0);
        for &leaf in &self.leaves {
            let senders = self.live[leaf as usize] - if leaf == here { own } else { 0 };
            if senders == 0 {
                continue;
            }
            let fate = walker.fate[leaf as usize];
            let sender = || {
                let mut on = self.fabric.hosts_on(SwitchId(leaf)).iter();
                let other = |h: &&HostId| {
                    Target::Host(h.0) != address.target && self.fabric.alive(self.fabric.host_link(**h))
                };
                on.find(other).map_or("?", |h| self.fabric.host_name(*h))
            };
            if fate.hops == LOST {
                let way = batch.up_down[leaf as usize] >> address.at & 1 == 1;
                lost_with_a_way += if way { senders } else { 0 };
                if fate.loops {
                    part.note(FindingKind::Loop, !is_host, || {
                        format!("{} to {} runs in a circle", sender(), self.name(address))
                    });
                } else if !is_host && !way {
                    part.note(FindingKind::NoWayToSwitch, true, || {
                        format!("from {} no {} leads to {}", sender(), self.ways, self.name(address))
                    });
                } else {
                    part.note(FindingKind::Unreachable, !is_host, || {
                        let end = self.switch(end(steps, leaf));
                        format!("{} cannot reach {}: ends at {end}", sender(), self.name(address))
                    });
                }
                continue;
            }
            delivered += senders;
            if !is_host {
                continue;
            }
            let least = u16::from(batch.least(leaf, address.at));
            if fate.hops > least {
                part.report.non_minimal_pairs += senders;
                let shortest = fate.hops <= batch.up_down_hops(&self.wiring, dests, address.at, leaf);
                part.report.detours += if shortest { senders } else { 0 };
                let kind = if shortest { FindingKind::Detour } else { FindingKind::NonMinimal };
                part.note(kind, false, || {
                    let (to, hops) = (self.name(address), fate.hops);
                    let but = if shortest { ", but not up*/down*" } else { "" };
                    format!("{} to {to} takes {hops} hops between switches, {least} do{but}", sender())
                });
            }
            // A shortest way may go over any cable: whether such ways can deadlock, the channels say.
            if fate.turns && (fate.hops <= least || !self.wiring.tree) {
                part.report.shortest_turns += senders;
            } else if fate.turns {
                part.report.up_down_violations += senders;
                part.note(FindingKind::UpDown, false, || {
                    format!("{} to {} goes up again after it went down", sender(), self.name(address))
                });
            }
        }
        let wanted = hosts - u64::from(is_host);
        part.report.unreachable_pairs += wanted - delivered;
        if !is_host {
            part.report.unreachable_management += wanted - delivered;
            part.report.no_way_to_switch += wanted - delivered - lost_with_a_way;
            return;
        }
        // Hosts whose own cable is dead.
        if delivered < wanted && !part.examples.contains_key(&(FindingKind::Unreachable, false)) {
            let cut = self.fabric.hosts().find(|&h| !self.fabric.alive(self.fabric.host_link(h)));
            if let Some(h) = cut {
                part.note(FindingKind::Unreachable, false, || {
                    format!("the cable of {} is dead", self.fabric.host_name(h))
                });
            }
        }
    }

    /// Pair by pair, for routes whose way up depends on the source.
    fn by_source(&self, up: &Lft, down: &Lft, dests: &[u32]) -> Part {
        let switches = self.fabric.switch_count();
        let mut batch = self.wiring.batch(dests);
        let mut part = Part { turns: true, ..Part::default() };
        for address in self.addresses(dests, false) {
            let Target::Host(to) = address.target else { continue };
            let mut live_entry = vec![false; switches];
            for s in (0..switches as u32).filter(|&s| self.wiring.on[s as usize]) {
                let port = down.port(SwitchId(s), address.dest);
                let step = step(&self.wiring, s, port, address.target);
                live_entry[s as usize] = step != Step::Missing;
                if step == Step::Invalid {
                    part.report.invalid_entries += 1;
                    part.note(FindingKind::InvalidEntry, false, || self.invalid(s, port, &address));
                }
            }
            for from in self.fabric.hosts().filter(|h| h.0 != to) {
                let fate = self.walk(up, down, &live_entry, from, &address);
                let text =
                    |what: &str| format!("{} to {} {what}", self.fabric.host_name(from), self.name(&address));
                let Some((hops, turns)) = fate else {
                    part.report.unreachable_pairs += 1;
                    part.note(FindingKind::Unreachable, false, || text("does not arrive"));
                    continue;
                };
                let leaf = self.fabric.leaf(from);
                if hops > batch.least(leaf.0, address.at) {
                    if turns && self.wiring.tree {
                        part.report.up_down_violations += 1;
                        part.note(FindingKind::UpDown, false, || text("goes up again after it went down"));
                    }
                    part.report.non_minimal_pairs += 1;
                    let least = batch.up_down_hops(&self.wiring, dests, address.at, leaf.0);
                    if u16::from(hops) <= least {
                        part.report.detours += 1;
                        part.note(FindingKind::Detour, false, || {
                            text("is longer than the shortest not up*/down*")
                        });
                    } else {
                        part.note(FindingKind::NonMinimal, false, || text("is longer than the shortest"));
                    }
                } else if turns {
                    part.report.shortest_turns += 1;
                }
            }
        }
        // Entries of the way up, once: with the batch that starts at the first leaf.
        if dests.first() == self.leaves.first() {
            for s in self.fabric.switches().filter(|s| self.wiring.on[s.index()]) {
                for h in self.fabric.hosts() {
                    let port = up.port(s, DestId(h.0));
                    let good = port == netloom_model::NO_PORT
                        || matches!(self.wiring.behind(s.0, port), Behind::Switch(..)) && port != 0;
                    if !good {
                        part.report.invalid_entries += 1;
                        part.note(FindingKind::InvalidEntry, false, || {
                            let (s, h) = (self.switch(s.0), self.fabric.host_name(h));
                            format!("{s} sends what comes from {h} to port {port}, where no switch is")
                        });
                    }
                }
            }
        }
        part
    }

    /// Hops between switches and whether the path turns up again; `None` if it does not arrive.
    fn walk(
        &self,
        up: &Lft,
        down: &Lft,
        below: &[bool],
        from: HostId,
        address: &Address,
    ) -> Option<(u8, bool)> {
        if !self.fabric.alive(self.fabric.host_link(from)) {
            return None;
        }
        let mut at = self.fabric.leaf(from).0;
        let (mut came, mut went_down, mut turns) = (None, false, false);
        for hops in 0..u8::MAX {
            let table = if below[at as usize] {
                down.port(SwitchId(at), address.dest)
            } else {
                up.port(SwitchId(at), DestId(from.0))
            };
            match step(&self.wiring, at, table, address.target) {
                Step::Arrive => return Some((hops, turns)),
                Step::To(next, way) => {
                    turns |= way == Way::Peer || (way == Way::Up && went_down);
                    went_down |= way == Way::Down;
                    let link = self.wiring.link(at, table);
                    if let Some(before) = came.replace(link) {
                        self.channels.add(before, table);
                    }
                    at = next;
                }
                _ => return None,
            }
        }
        None
    }
}

/// The ports towards up to [`A_LINE`] addresses, `[switch * A_LINE + address]`: rows are long and far apart, and from each comes what one
/// line of memory holds.
fn gather(lft: &Lft, addresses: &[Address], ports: &mut [u16]) {
    for (s, ports) in ports.chunks_exact_mut(A_LINE).enumerate() {
        let row = lft.row(SwitchId::from_index(s));
        ports.iter_mut().zip(addresses).for_each(|(port, address)| *port = row.port(address.dest));
    }
}
