//! A change of tables while packets run: what any mix of old and new entries can do.
//!
//! Switches take new entries in an order that nobody knows, so on the way from one table to the other every switch has, for
//! every destination, either its old or its new entry. Take both entries of every switch as edges of one graph, destination
//! by destination. A loop in any mix is a cycle of that graph; and a simple cycle leaves each of its switches by one edge, so
//! some mix has it. The same with holes: a way through the graph to an entry that leads nowhere is a way in some mix. So the
//! graph of the union decides, exactly, and in time linear in the tables.
//!
//! What is lost already under the old tables is not held against a change: routes of a broken fabric can be mended.
//! Credit loops are those of the union of all channel dependencies: while packets of both tables are under way, a
//! buffer can wait for any of them. One lane is assumed, the worst case: more lanes only take dependencies apart
//! ([`mixed_lane_loops`](crate::mixed_lane_loops) looks at those of several).

use netloom_model::{Dest, DestId, Fabric, Lft, NO_PORT, SwitchId};
use netloom_topology::Structure;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::channels::Channels;
use crate::lanes::LaneReport;
use crate::report::{Finding, FindingKind};
use crate::walker::{Step, Target, step};
use crate::wiring::Wiring;

/// Destinations handled together: rows are long, so some columns of each are taken at once.
const BATCH: usize = 32;
/// Examples kept of each kind of finding.
const EXAMPLES: usize = 3;

/// The packet has arrived.
const ARRIVED: u32 = u32::MAX;
/// The entry leads nowhere.
const HOLE: u32 = u32::MAX - 1;

/// What mixes of two tables can do.
#[derive(Clone, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct MixReport {
    /// Entries that differ.
    pub changed_entries: u64,
    /// Destinations with an entry that differs.
    pub changed_destinations: u64,
    /// Destinations for which some mix has a loop.
    pub loops: u64,
    /// Destinations for which some mix loses packets that the old tables deliver.
    pub holes: u64,
    /// Destinations that the old tables do not reach from everywhere.
    pub lost_before: u64,
    /// Groups of links that can wait for each other in a circle, though neither table has such; 0 where one has.
    pub credit_loops: u64,
    /// The first few of each kind, in order of destinations; one whole credit loop.
    pub findings: Vec<Finding>,
}

impl MixReport {
    /// Whether every mix is safe.
    pub fn ok(&self) -> bool {
        self.loops == 0 && self.holes == 0 && self.credit_loops == 0
    }

    /// Puts what was found of all mixes on several lanes in place of what holds on one.
    pub fn on_lanes(&mut self, fabric: &Fabric, found: &LaneReport) {
        self.credit_loops = found.credit_loops;
        self.findings.retain(|one| one.kind != FindingKind::CreditLoop);
        if found.credit_loops > 0 {
            let told =
                found.cycle.iter().map(|&(l, lane)| format!("{} lane {lane}", fabric.describe_link(l)));
            let text = format!(
                "on {} lanes, mixes of old and new entries can wait for each other in a circle: {}",
                found.lanes,
                told.collect::<Vec<_>>().join("; ")
            );
            self.findings.push(Finding { kind: FindingKind::CreditLoop, text, management: false });
        }
    }
}

/// Says what any mix of `old` and `new` can do: tables by destination of one fabric, with `2^lmc` addresses a host.
///
/// # Panics
/// If the tables are of another size than the fabric.
pub fn mix(fabric: &Fabric, structure: &Structure, lmc: u8, old: &Lft, new: &Lft) -> MixReport {
    let change = Change::new(fabric, structure, lmc, old, new);
    let parts: Vec<MixReport> = change.map(|column, scratch| {
        let mut report = MixReport { changed_entries: column.changed.len() as u64, ..MixReport::default() };
        if column.changed.is_empty() {
            return report;
        }
        report.changed_destinations = 1;
        scratch.judge_old(column);
        report.lost_before = u64::from(scratch.lost);
        let fault = scratch.judge(column.old.len(), |s| [column.old[s as usize], column.new[s as usize]]);
        if let Some(fault) = fault {
            match fault {
                Fault::Loop(_) => report.loops = 1,
                Fault::Hole(_) => report.holes = 1,
            }
            report.findings.push(change.finding(column, &fault));
        }
        report
    });
    let mut total = MixReport::default();
    for part in parts {
        total.changed_entries += part.changed_entries;
        total.changed_destinations += part.changed_destinations;
        total.loops += part.loops;
        total.holes += part.holes;
        total.lost_before += part.lost_before;
        for finding in part.findings {
            if total.findings.iter().filter(|f| f.kind == finding.kind).count() < EXAMPLES {
                total.findings.push(finding);
            }
        }
    }
    if total.changed_entries > 0
        && let Some((count, text)) = change.credit_loops_of_all(|_, _| When::Both)
    {
        total.credit_loops = count;
        total.findings.push(Finding { kind: FindingKind::CreditLoop, text, management: false });
    }
    total
}

/// `routes` with all entries for the destinations that they do not reach from everywhere taken from `spare`, and how many
/// destinations these are: tables by destination of one fabric, with `2^lmc` addresses a host.
///
/// # Panics
/// If the tables are of another size than the fabric.
pub fn patched(fabric: &Fabric, structure: &Structure, lmc: u8, routes: &Lft, spare: &Lft) -> (Lft, u64) {
    let change = Change::new(fabric, structure, lmc, routes, spare);
    let columns = change.map(|column, scratch| {
        scratch.judge_old(column);
        let ports = || column.changed.iter().map(|&s| (s, column.new_ports[s as usize])).collect::<Vec<_>>();
        scratch.lost.then(ports)
    });
    let (mut lft, mut count) = (routes.clone(), 0);
    for (d, ports) in columns.into_iter().enumerate() {
        let Some(ports) = ports else { continue };
        count += 1;
        for (s, port) in ports {
            lft.set(SwitchId(s), DestId::from_index(d), (port != NO_PORT).then_some(port));
        }
    }
    (lft, count)
}

/// Which entry a switch can have for a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum When {
    /// Still the old one.
    Old,
    /// Either.
    Both,
    /// Already the new one.
    New,
}

/// Two tables of a fabric.
pub(crate) struct Change<'a> {
    pub fabric: &'a Fabric,
    pub old: &'a Lft,
    pub new: &'a Lft,
    lmc: u8,
    wiring: Wiring,
    /// Switches with a host whose cable works.
    senders: Vec<u32>,
}

/// The entries of all switches for one destination.
pub(crate) struct Column {
    pub dest: DestId,
    target: Target,
    pub old_ports: Vec<u16>,
    pub new_ports: Vec<u16>,
    /// The next switch by the old entry, `ARRIVED` or `HOLE`.
    pub old: Vec<u32>,
    /// The same by the new one.
    pub new: Vec<u32>,
    /// The switches whose entries differ.
    pub changed: Vec<u32>,
}

/// What a mix does wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// Around these switches.
    Loop(Vec<u32>),
    /// Ends at this switch.
    Hole(u32),
}

impl<'a> Change<'a> {
    pub fn new(fabric: &'a Fabric, structure: &Structure, lmc: u8, old: &'a Lft, new: &'a Lft) -> Self {
        let count = fabric.dests(lmc).count();
        for lft in [old, new] {
            assert_eq!((lft.switches(), lft.dests()), (fabric.switch_count(), count), "tables of the fabric");
        }
        let sends = |s: &SwitchId| fabric.hosts_on(*s).iter().any(|&h| fabric.alive(fabric.host_link(h)));
        let senders = fabric.switches().filter(sends).map(|s| s.0).collect();
        Self { fabric, old, new, lmc, wiring: Wiring::new(fabric, structure), senders }
    }

    /// Calls `f` for every destination, and returns what it returned, in order.
    pub fn map<T: Send>(&self, f: impl Fn(&Column, &mut Scratch) -> T + Sync) -> Vec<T> {
        let count = self.old.dests();
        let batches: Vec<Vec<T>> = (0..count.div_ceil(BATCH))
            .into_par_iter()
            .map(|batch| {
                let dests = batch * BATCH..((batch + 1) * BATCH).min(count);
                let mut scratch = Scratch::new(self.fabric.switch_count());
                self.columns(dests).iter().map(|column| f(column, &mut scratch)).collect()
            })
            .collect();
        batches.into_iter().flatten().collect()
    }

    fn columns(&self, dests: std::ops::Range<usize>) -> Vec<Column> {
        let switches = self.fabric.switch_count();
        let space = self.fabric.dests(self.lmc);
        let mut columns: Vec<Column> = dests
            .map(|d| Column {
                dest: DestId::from_index(d),
                target: match space.resolve(DestId::from_index(d)) {
                    Dest::Host(h, _) => Target::Host(h.0),
                    Dest::Switch(s) => Target::Switch(s.0),
                },
                old_ports: vec![NO_PORT; switches],
                new_ports: vec![NO_PORT; switches],
                old: vec![HOLE; switches],
                new: vec![HOLE; switches],
                changed: Vec::new(),
            })
            .collect();
        for s in 0..switches {
            let (old, new) = (self.old.row(SwitchId::from_index(s)), self.new.row(SwitchId::from_index(s)));
            for column in &mut columns {
                column.old_ports[s] = old.port(column.dest);
                column.new_ports[s] = new.port(column.dest);
            }
        }
        for column in &mut columns {
            for s in 0..switches as u32 {
                let (old, new) = (column.old_ports[s as usize], column.new_ports[s as usize]);
                column.old[s as usize] = self.next(s, old, column.target);
                column.new[s as usize] = column.old[s as usize];
                if old != new {
                    column.new[s as usize] = self.next(s, new, column.target);
                    column.changed.push(s);
                }
            }
        }
        columns
    }

    fn next(&self, switch: u32, port: u16, target: Target) -> u32 {
        match step(&self.wiring, switch, port, target) {
            Step::Arrive => ARRIVED,
            Step::To(next, _) => next,
            Step::Missing | Step::Invalid => HOLE,
        }
    }

    /// The name of a destination.
    pub fn name(&self, dest: DestId) -> String {
        match self.fabric.dests(self.lmc).resolve(dest) {
            Dest::Host(h, _) if self.lmc == 0 => self.fabric.host_name(h).to_owned(),
            Dest::Host(h, path) => format!("{} (address {path})", self.fabric.host_name(h)),
            Dest::Switch(s) => format!("switch {}", self.fabric.switch_name(s)),
        }
    }

    /// A fault in words.
    pub fn finding(&self, column: &Column, fault: &Fault) -> Finding {
        let name = |s: &u32| self.fabric.switch_name(SwitchId(*s));
        let to = self.name(column.dest);
        let management = matches!(column.target, Target::Switch(_));
        match fault {
            Fault::Loop(circle) => {
                let names: Vec<&str> = circle.iter().chain(circle.first()).map(name).collect();
                let text =
                    format!("towards {to}, a mix of old and new entries loops: {}", names.join(" -> "));
                Finding { kind: FindingKind::Loop, text, management }
            }
            Fault::Hole(s) => {
                let text = format!("towards {to}, a mix of old and new entries ends at {}", name(s));
                Finding { kind: FindingKind::Unreachable, text, management }
            }
        }
    }

    /// Credit loops while destinations have such entries as `when` says, unless one of the tables has loops itself:
    /// how many groups of links, and one loop in words.
    pub fn credit_loops_of_all(&self, when: impl Fn(&Column, u32) -> When + Sync) -> Option<(u64, String)> {
        let found = self.credit_loops(when)?;
        let own = [When::Old, When::New].into_iter().any(|table| self.credit_loops(|_, _| table).is_some());
        (!own).then_some(found)
    }

    /// The same, whatever the tables have themselves.
    pub fn credit_loops(&self, when: impl Fn(&Column, u32) -> When + Sync) -> Option<(u64, String)> {
        let channels = Channels::new(self.fabric);
        self.map(|column, scratch| self.depend(column, scratch, &channels, &when));
        let (count, circle) = channels.cycles(self.fabric);
        let links: Vec<String> = circle.iter().map(|&l| self.fabric.describe_link(l)).collect();
        let text = format!("{} links can wait for each other: {}", links.len(), links.join("; "));
        (count > 0).then_some((count, text))
    }

    /// Adds what packets of hosts to one destination make links wait for.
    fn depend(
        &self,
        column: &Column,
        scratch: &mut Scratch,
        channels: &Channels,
        when: &impl Fn(&Column, u32) -> When,
    ) {
        let entries = |s: u32| {
            let i = s as usize;
            let (old, new) = ((column.old_ports[i], column.old[i]), (column.new_ports[i], column.new[i]));
            match if old == new { When::Old } else { when(column, s) } {
                When::Old => [old, old],
                When::New => [new, new],
                When::Both => [old, new],
            }
        };
        scratch.state.fill(NEW);
        for &sender in &self.senders {
            scratch.stack.clear();
            scratch.stack.push((sender, 0));
            while let Some((s, _)) = scratch.stack.pop() {
                if std::mem::replace(&mut scratch.state[s as usize], DONE) == DONE {
                    continue;
                }
                for (port, next) in entries(s) {
                    if next >= HOLE {
                        continue;
                    }
                    let link = self.wiring.link(s, port);
                    for (then, after) in entries(next) {
                        if after < HOLE {
                            channels.add(link, then);
                        }
                    }
                    if scratch.state[next as usize] != DONE {
                        scratch.stack.push((next, 0));
                    }
                }
            }
        }
    }
}

const NEW: u8 = 0;
const OPEN: u8 = 1;
const DONE: u8 = 2;

/// Memory for one destination after the other.
pub(crate) struct Scratch {
    state: Vec<u8>,
    stack: Vec<(u32, u8)>,
    /// Whether the old tables deliver packets from a switch.
    pub sound: Vec<bool>,
    /// Whether some switch's packets are lost under the old tables.
    pub lost: bool,
    /// Whether they loop under the old tables.
    pub loops_before: bool,
}

impl Scratch {
    pub fn new(switches: usize) -> Self {
        Self {
            state: vec![NEW; switches],
            stack: Vec::new(),
            sound: vec![false; switches],
            lost: false,
            loops_before: false,
        }
    }

    /// Finds what the old tables do.
    pub fn judge_old(&mut self, column: &Column) {
        let n = column.old.len();
        self.sound.fill(false);
        (self.lost, self.loops_before) = (false, false);
        self.state.fill(NEW);
        for root in 0..n as u32 {
            self.stack.clear();
            let mut at = root;
            let good = loop {
                if at == ARRIVED {
                    break true;
                }
                if at == HOLE {
                    break false;
                }
                match self.state[at as usize] {
                    DONE => break self.sound[at as usize],
                    OPEN => {
                        self.loops_before = true;
                        break false;
                    }
                    _ => {}
                }
                self.state[at as usize] = OPEN;
                self.stack.push((at, 0));
                at = column.old[at as usize];
            };
            self.lost |= !good;
            for &(s, _) in &self.stack {
                (self.state[s as usize], self.sound[s as usize]) = (DONE, good);
            }
        }
    }

    /// The first fault of the graph with these edges, after [`judge_old`](Self::judge_old).
    ///
    /// Holes count where packets come to them that the old tables deliver; so do loops, and any other loop unless the
    /// old tables have one too.
    pub fn judge(&mut self, switches: usize, edges: impl Fn(u32) -> [u32; 2]) -> Option<Fault> {
        self.state.fill(NEW);
        for (sound, mind_all) in [(true, true), (false, false)] {
            for root in 0..switches as u32 {
                if self.sound[root as usize] != sound || self.state[root as usize] != NEW {
                    continue;
                }
                if let Some(fault) = self.search(root, mind_all, &edges) {
                    return Some(fault);
                }
            }
        }
        None
    }

    /// Depth first from one switch.
    fn search(&mut self, root: u32, mind_all: bool, edges: &impl Fn(u32) -> [u32; 2]) -> Option<Fault> {
        self.stack.clear();
        self.stack.push((root, 0));
        self.state[root as usize] = OPEN;
        while let Some(&mut (s, ref mut edge)) = self.stack.last_mut() {
            if *edge == 2 {
                self.state[s as usize] = DONE;
                self.stack.pop();
                continue;
            }
            let next = edges(s)[usize::from(*edge)];
            *edge += 1;
            if next == ARRIVED {
                continue;
            }
            if next == HOLE {
                if mind_all {
                    return Some(Fault::Hole(s));
                }
                continue;
            }
            match self.state[next as usize] {
                NEW => {
                    self.state[next as usize] = OPEN;
                    self.stack.push((next, 0));
                }
                OPEN if mind_all || !self.loops_before => {
                    let first = self.stack.iter().position(|&(s, _)| s == next).unwrap_or(0);
                    return Some(Fault::Loop(self.stack[first..].iter().map(|&(s, _)| s).collect()));
                }
                _ => {}
            }
        }
        None
    }
}
