//! A record of calls as a program: sends and receives that have their other half, computation between calls, and
//! collectives.
//!
//! Collectives of all ranks stay what they are, on duplicates of the world too where all ranks have them in one order.
//! Those of other communicators become their messages among the members
//! ([`collective`](mod@crate::collective)), by the algorithms that are asked for. A nonblocking collective stands where it is waited
//! for. Computation is one operation a nanosecond; what is shorter than a microsecond is the calls' own time.
//!
//! Invariant: the program can be replayed: every receive has a send, every member calls a collective.

mod record;

pub use record::{of_schedule, of_workload};

use std::collections::{HashMap, HashSet, VecDeque};

use netloom_model::events::base_of;
use netloom_model::{
    Action, CollectiveKind as Kind, Event, Events, Named, RankEvents, Together, Trace, Workload,
};

use crate::collective::{Algorithms, Collective, Step};

/// Shorter computations are left out, ns.
const LEAST_NS: i64 = 1000;
/// Steps that collectives of communicators may come to.
const MOST_STEPS: u64 = 100_000_000;
/// What nothing waits for stands at the end.
const AT_END: u32 = u32::MAX;

/// What a function does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Does {
    Sends { both: bool },
    Receives,
    Completes,
    Together(Kind, Form),
    Other,
}

/// How the bytes of a collective are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// Every member's bytes are what the collective has.
    Same,
    /// A member's bytes are for all members together.
    Shared,
    /// Every member has its own.
    Each,
    /// Every member has its own for every other.
    Rows,
    /// The root's, or the first's, are for everybody.
    Row,
}

fn does(name: &str) -> Does {
    match &*base_of(name) {
        "Send" | "Bsend" | "Ssend" | "Rsend" | "Psend" => Does::Sends { both: false },
        "Sendrecv" | "Sendrecv_replace" => Does::Sends { both: true },
        "Recv" | "Mrecv" => Does::Receives,
        "Wait" | "Waitall" | "Waitany" | "Waitsome" | "Test" | "Testall" | "Testany" | "Testsome" => {
            Does::Completes
        }
        "Barrier" => Does::Together(Kind::Barrier, Form::Same),
        "Bcast" => Does::Together(Kind::Broadcast, Form::Same),
        "Reduce" => Does::Together(Kind::Reduce, Form::Same),
        "Allreduce" => Does::Together(Kind::Allreduce, Form::Same),
        "Scan" => Does::Together(Kind::Scan, Form::Same),
        "Exscan" => Does::Together(Kind::Exscan, Form::Same),
        "Gather" => Does::Together(Kind::Gather, Form::Same),
        "Allgather" => Does::Together(Kind::Allgather, Form::Same),
        "Gatherv" => Does::Together(Kind::Gather, Form::Each),
        "Allgatherv" => Does::Together(Kind::Allgather, Form::Each),
        "Alltoall" => Does::Together(Kind::Alltoall, Form::Shared),
        "Alltoallv" | "Alltoallw" => Does::Together(Kind::Alltoall, Form::Rows),
        "Scatter" => Does::Together(Kind::Scatter, Form::Shared),
        "Scatterv" => Does::Together(Kind::Scatter, Form::Row),
        "Reduce_scatter" => Does::Together(Kind::ReduceScatter, Form::Row),
        "Reduce_scatter_block" => Does::Together(Kind::ReduceScatter, Form::Shared),
        _ => Does::Other,
    }
}

/// A record as a program; collectives of communicators by these algorithms, or left out.
///
/// # Errors
/// Collectives of communicators that come to more messages than fit in memory.
pub fn program(events: &Events, algorithms: Option<&Algorithms>) -> Result<Trace, String> {
    let lowering = Lowering::new(events);
    let mut named = Named { lacks: events.lacks.clone(), ..Named::default() };
    let mut lack = |what: &str, calls: u64| {
        if calls > 0 {
            named.lacks.push((what.to_owned(), calls));
        }
    };
    lack("sends without a receive", lowering.alone[0]);
    lack("receives without a send", lowering.alone[1]);
    lack("receives without a source", lowering.alone[2]);
    lack("collectives that not all members called", lowering.calls.iter().map(|calls| calls.lost).sum());
    lack("collectives whose counts are not known", lowering.unknown.len() as u64);
    let (together, shares, rows) = lowering.together();
    let (mut list, mut steps) = (Vec::new(), 0);
    for rank in 0..events.ranks.len() as u32 {
        let mut walk =
            Walk { of: &lowering, rank, rows: &rows[rank as usize], list: &mut list, named: &mut named };
        walk.rank(algorithms, &mut steps)?;
    }
    let lines = vec![0; list.len()];
    let workload = Workload::from_actions(events.ranks.len() as u32, &list, &lines, together, shares);
    Ok(Trace { named: Some(named), ..Trace::of(workload) })
}

/// The calls of collectives on one communicator.
#[derive(Default)]
struct Calls {
    /// Events by member, in order.
    of_member: Vec<Vec<u32>>,
    /// How many all members agree about, and how many more some of them called.
    agreed: usize,
    lost: u64,
}

/// A collective in its place: behind which event of a rank, on which communicator, the how manieth there.
type Placed = (u32, u32, u32);

/// What one collective is.
struct Call {
    kind: Kind,
    root: u32,
    bytes: u64,
    /// Shares by member, as each knows them; one row stands for all.
    rows: Vec<Vec<u64>>,
}

struct Lowering<'a> {
    events: &'a Events,
    does: Vec<Does>,
    /// By rank and event: the number of communicator and tag of what has its other half.
    tags: Vec<Vec<Option<u32>>>,
    /// Sends, receives without their other half; receives that were never told whose.
    alone: [u64; 3],
    /// The first number that no message has.
    free_tag: u32,
    /// By rank: its place in each of its communicators.
    places: Vec<HashMap<u32, u32>>,
    calls: Vec<Calls>,
    /// Collectives of which a source tells only what all counts come to.
    unknown: HashSet<(u32, u32)>,
    placed: Vec<Vec<Placed>>,
    /// The collectives of all ranks, in order: communicator and number.
    whole: HashMap<(u32, u32), u32>,
}

impl<'a> Lowering<'a> {
    fn new(events: &'a Events) -> Self {
        let does: Vec<Does> = events.functions.iter().map(|name| does(name)).collect();
        let mut places = vec![HashMap::new(); events.ranks.len()];
        for (number, members) in (0..).zip(&events.communicators) {
            for (place, &rank) in (0..).zip(members) {
                places[rank as usize].insert(number, place);
            }
        }
        let mut found = Self {
            events,
            does,
            tags: Vec::new(),
            alone: [0; 3],
            free_tag: 0,
            places,
            calls: Vec::new(),
            unknown: HashSet::new(),
            placed: Vec::new(),
            whole: HashMap::new(),
        };
        found.match_messages();
        found.collect_calls();
        found.order();
        found
    }

    fn does(&self, event: &Event) -> Does {
        self.does[usize::from(event.function)]
    }

    /// Messages from one rank to another on one communicator with one tag are received in the order of sending.
    fn match_messages(&mut self) {
        let mut numbers: HashMap<(u32, i32), u32> = HashMap::new();
        let mut counts: HashMap<(u32, u32, u32), [u64; 2]> = HashMap::new();
        // Sender, receiver, tag, and whether it is sent or received; `None`: no message.
        type Key = Option<(u32, u32, u32, usize)>;
        let mut keys: Vec<Vec<Key>> = Vec::new();
        for (rank, own) in (0..).zip(&self.events.ranks) {
            let key = |event: &Event| {
                let side = match self.does(event) {
                    Does::Sends { .. } => 0,
                    Does::Receives => 1,
                    _ => return None,
                };
                if event.cancelled {
                    return None;
                }
                if event.peer < 0 || event.tag < 0 {
                    self.alone[2] += u64::from(side == 1 && event.peer != netloom_model::events::NO_PEER);
                    return None;
                }
                let next = numbers.len() as u32;
                let tag = *numbers.entry((event.communicator, event.tag)).or_insert(next);
                let peer = event.peer as u32;
                let (from, to) = if side == 0 { (rank, peer) } else { (peer, rank) };
                counts.entry((from, to, tag)).or_default()[side] += 1;
                Some((from, to, tag, side))
            };
            keys.push(own.events.iter().map(key).collect());
        }
        for [sends, receives] in counts.values_mut() {
            self.alone[0] += sends.saturating_sub(*receives);
            self.alone[1] += receives.saturating_sub(*sends);
            let both = *sends.min(receives);
            (*sends, *receives) = (both, both);
        }
        let mut keep = |key: Option<(u32, u32, u32, usize)>| {
            let (from, to, tag, side) = key?;
            let left = &mut counts.get_mut(&(from, to, tag))?[side];
            *left = left.checked_sub(1)?;
            Some(tag)
        };
        self.tags = keys.into_iter().map(|own| own.into_iter().map(&mut keep).collect()).collect();
        self.free_tag = numbers.len() as u32;
    }

    fn collect_calls(&mut self) {
        let members = &self.events.communicators;
        self.calls = members
            .iter()
            .map(|members| Calls { of_member: vec![Vec::new(); members.len()], ..Calls::default() })
            .collect();
        for (rank, own) in self.events.ranks.iter().enumerate() {
            for (at, event) in (0..).zip(&own.events) {
                let place = self.places[rank].get(&event.communicator);
                if let (Does::Together(..), Some(&place)) = (self.does[usize::from(event.function)], place) {
                    self.calls[event.communicator as usize].of_member[place as usize].push(at);
                }
            }
        }
        for (number, calls) in self.calls.iter_mut().enumerate() {
            let counts = || calls.of_member.iter().map(Vec::len);
            let (least, most) = (counts().min().unwrap_or(0), counts().max().unwrap_or(0));
            let kind = |member: usize, k: usize| {
                let rank = members[number][member] as usize;
                let event = &self.events.ranks[rank].events[calls.of_member[member][k] as usize];
                self.does[usize::from(event.function)]
            };
            let differ = |k: &usize| (1..calls.of_member.len()).any(|member| kind(member, *k) != kind(0, *k));
            calls.agreed = (0..least).find(differ).unwrap_or(least);
            calls.lost = (most - calls.agreed) as u64;
        }
        let all =
            (0..).zip(&self.calls).flat_map(|(of, calls)| (0..calls.agreed as u32).map(move |k| (of, k)));
        let unknown: HashSet<(u32, u32)> = all.filter(|&(of, k)| !self.knows(of, k)).collect();
        self.unknown = unknown;
    }

    /// Whether counts by member come to what a call has in all, where they matter.
    fn knows(&self, communicator: u32, k: u32) -> bool {
        let members = &self.events.communicators[communicator as usize];
        let calls = &self.calls[communicator as usize];
        let own = |member: usize| &self.events.ranks[members[member] as usize];
        let known = |member: usize| {
            let (own, at) = (own(member), calls.of_member[member][k as usize]);
            let from = own.counts.partition_point(|count| count.0 < at);
            let counts = own.counts[from..].iter().take_while(|count| count.0 == at);
            counts.map(|count| count.2).sum::<u64>() == own.events[at as usize].bytes
        };
        let first = &own(0).events[calls.of_member[0][k as usize] as usize];
        match self.does(first) {
            Does::Together(_, Form::Rows) => (0..members.len()).all(known),
            Does::Together(Kind::Scatter, Form::Row) => {
                known(members.iter().position(|&rank| i64::from(rank) == i64::from(first.peer)).unwrap_or(0))
            }
            Does::Together(_, Form::Row) => known(0),
            _ => true,
        }
    }

    /// Where each rank's collectives stand, and which of them are of all ranks.
    fn order(&mut self) {
        self.placed = (0..self.events.ranks.len()).map(|rank| self.places_of(rank)).collect();
        let all = &self.events.communicators[0];
        let is_all: Vec<bool> = self.events.communicators.iter().map(|members| members == all).collect();
        let order = |rank: usize| {
            let kept = self.placed[rank].iter().filter(|placed| is_all[placed.1 as usize]);
            kept.map(|&(_, communicator, k)| (communicator, k))
        };
        let first: Vec<(u32, u32)> = if all.is_empty() { Vec::new() } else { order(0).collect() };
        let agreed = (1..all.len()).all(|rank| order(rank).eq(first.iter().copied()));
        let whole = first.into_iter().filter(|&(communicator, _)| agreed || communicator == 0);
        self.whole = whole.zip(0..).collect();
    }

    fn places_of(&self, rank: usize) -> Vec<Placed> {
        let own: &RankEvents = &self.events.ranks[rank];
        let (mut placed, mut next, mut waiting) =
            (Vec::new(), HashMap::<u32, u32>::new(), Vec::<(u32, u32, u32)>::new());
        let mut completes = own.completes.iter().peekable();
        for (at, event) in (0..).zip(&own.events) {
            while let Some(&&(_, begun)) = completes.peek().filter(|(which, _)| *which == at) {
                completes.next();
                let communicator = own.events[begun as usize].communicator;
                if matches!(self.does(&own.events[begun as usize]), Does::Together(..)) {
                    // Those of its communicator that began before it stand before it.
                    let mut before: Vec<_> = Vec::new();
                    waiting.retain(|&(began, of, k)| {
                        let comes = of == communicator && began <= begun;
                        if comes {
                            before.push((at, of, k));
                        }
                        !comes
                    });
                    placed.extend(before);
                }
            }
            let Does::Together(..) = self.does(event) else { continue };
            let communicator = event.communicator;
            if !self.places[rank].contains_key(&communicator) {
                continue;
            }
            let k = next.entry(communicator).or_default();
            waiting.push((at, communicator, *k));
            *k += 1;
            if !event.request {
                waiting.retain(|&(_, of, k)| {
                    if of == communicator {
                        placed.push((at, of, k));
                    }
                    of != communicator
                });
            }
        }
        placed.extend(waiting.into_iter().map(|(_, of, k)| (AT_END, of, k)));
        placed.retain(|&(_, of, k)| {
            (k as usize) < self.calls[of as usize].agreed && !self.unknown.contains(&(of, k))
        });
        placed
    }

    /// What a collective is, from what its members say of it.
    fn call(&self, communicator: u32, k: u32) -> Call {
        let members = &self.events.communicators[communicator as usize];
        let calls = &self.calls[communicator as usize];
        let n = members.len() as u64;
        let event = |member: usize| {
            let own = &self.events.ranks[members[member] as usize];
            (own, calls.of_member[member][k as usize])
        };
        let first = event(0);
        let first = &first.0.events[first.1 as usize];
        let Does::Together(kind, form) = self.does(first) else { unreachable!("calls are collectives") };
        let root = members.iter().position(|&rank| i64::from(rank) == i64::from(first.peer)).unwrap_or(0);
        let sizes = (0..members.len()).map(|member| {
            let (own, at) = event(member);
            own.events[at as usize].bytes
        });
        let row = |member: usize| {
            let (own, at) = event(member);
            let from = own.counts.partition_point(|count| count.0 < at);
            let mut row = vec![0; members.len()];
            for &(_, to, bytes) in own.counts[from..].iter().take_while(|count| count.0 == at) {
                if let Some(entry) = row.get_mut(to as usize) {
                    *entry += bytes;
                }
            }
            row
        };
        let even = |row: Vec<u64>| {
            let is_even = row.iter().all(|&share| share == row[0]);
            if is_even { (row[0], Vec::new()) } else { (0, vec![row]) }
        };
        let (bytes, rows) = match form {
            Form::Same if kind == Kind::Barrier => (1, Vec::new()),
            Form::Same => (sizes.max().unwrap_or(0), Vec::new()),
            Form::Shared => (sizes.max().unwrap_or(0) / n, Vec::new()),
            Form::Each => even(sizes.collect()),
            Form::Row => even(row(if kind == Kind::Scatter { root } else { 0 })),
            Form::Rows => (0, (0..members.len()).map(row).collect()),
        };
        Call { kind, root: root as u32, bytes, rows }
    }

    /// The collectives of all ranks, their shares, and each rank's row of these by collective.
    fn together(&self) -> (Vec<Together>, Vec<u64>, Vec<Vec<Option<u32>>>) {
        let mut order: Vec<(u32, u32, u32)> =
            self.whole.iter().map(|(&(of, k), &number)| (number, of, k)).collect();
        order.sort_unstable();
        let (mut together, mut shares, mut rows) =
            (Vec::new(), Vec::new(), vec![Vec::new(); self.events.ranks.len()]);
        for (_, communicator, k) in order {
            let call = self.call(communicator, k);
            together.push(Together {
                kind: call.kind,
                root: call.root,
                bytes: call.bytes,
                uneven: !call.rows.is_empty(),
            });
            let first = (shares.len() / self.events.ranks.len().max(1)) as u32;
            for (rank, own) in (0..).zip(&mut rows) {
                let several = call.rows.len() > 1;
                own.push((!call.rows.is_empty()).then_some(if several { first + rank } else { first }));
            }
            shares.extend(call.rows.into_iter().flatten());
        }
        (together, shares, rows)
    }
}

/// Requests to a rank with a tag; sends, else receives.
type Name = (u32, u32, bool);

struct Walk<'a> {
    of: &'a Lowering<'a>,
    rank: u32,
    /// Its row of shares, by collective of all ranks.
    rows: &'a [Option<u32>],
    list: &'a mut Vec<(u32, Action)>,
    named: &'a mut Named,
}

impl Walk<'_> {
    fn push(&mut self, action: Action) {
        self.list.push((self.rank, action));
    }

    /// Waits for what began at an event. As a wait takes the oldest request of its name, older ones are waited for before it:
    /// messages of one name are matched in order. Their own waits, later, are left out.
    fn wait(&mut self, open: &mut HashMap<Name, VecDeque<u32>>, name: Name, begun: u32) {
        let Some(open) = open.get_mut(&name) else { return };
        let (peer, tag, sends) = name;
        let until = open.iter().position(|&one| one == begun).map_or(0, |place| place + 1);
        for _ in open.drain(..until) {
            self.list.push((self.rank, Action::Wait { peer, tag, sends }));
        }
    }

    fn rank(&mut self, algorithms: Option<&Algorithms>, steps: &mut u64) -> Result<(), String> {
        let of = self.of;
        let own = &of.events.ranks[self.rank as usize];
        let tags = &of.tags[self.rank as usize];
        let mut placed = of.placed[self.rank as usize].iter().peekable();
        let mut completes = own.completes.iter().peekable();
        let (mut last, mut owed) = (-1, None);
        let mut open: HashMap<Name, VecDeque<u32>> = HashMap::new();
        for (at, event) in (0..).zip(&own.events) {
            let began = if event.start_ns >= 0 { event.start_ns } else { event.end_ns };
            if last >= 0 && began - last >= LEAST_NS {
                self.push(Action::Compute { flops: (began - last) as f64 });
            }
            last = last.max(event.end_ns);
            let (peer, bytes) = (event.peer.max(0) as u32, event.bytes);
            match (of.does(event), tags[at as usize]) {
                (Does::Sends { both }, Some(tag)) => {
                    let blocks = !event.request && !both;
                    let send = if blocks {
                        Action::Send { to: peer, bytes, tag }
                    } else {
                        Action::Isend { to: peer, bytes, tag }
                    };
                    self.push(send);
                    if !blocks {
                        open.entry((peer, tag, true)).or_default().push_back(at);
                    }
                    if both && !event.request {
                        owed = Some(((peer, tag, true), at));
                        let next = own.events.get(at as usize + 1);
                        let other = next.filter(|next| {
                            of.does(next) == Does::Receives && next.start_ns == event.start_ns
                        });
                        if other.is_none() {
                            owed.take().into_iter().for_each(|(name, at)| self.wait(&mut open, name, at));
                        }
                    }
                }
                (Does::Receives, tag) => {
                    if let Some(tag) = tag {
                        let name = (peer, tag, false);
                        let older = open.get(&name).is_some_and(|open| !open.is_empty());
                        // Beside older ones of its name a receive is a request too: a wait is by name.
                        if event.request || older {
                            open.entry(name).or_default().push_back(at);
                            self.push(Action::Irecv { from: peer, tag });
                        } else {
                            self.push(Action::Recv { from: peer, tag });
                        }
                        if !event.request && older {
                            self.wait(&mut open, name, at);
                        }
                    }
                    owed.take().into_iter().for_each(|(name, at)| self.wait(&mut open, name, at));
                }
                _ => {}
            }
            while let Some(&&(_, begun)) = completes.peek().filter(|(which, _)| *which == at) {
                completes.next();
                let other = &own.events[begun as usize];
                let sends = matches!(of.does(other), Does::Sends { .. });
                if let Some(tag) = tags[begun as usize] {
                    self.wait(&mut open, (other.peer.max(0) as u32, tag, sends), begun);
                }
            }
            while let Some(&&(_, communicator, k)) = placed.peek().filter(|placed| placed.0 == at) {
                placed.next();
                self.together(communicator, k, algorithms, steps)?;
            }
        }
        for &(_, communicator, k) in placed {
            self.together(communicator, k, algorithms, steps)?;
        }
        if !own.events.is_empty() {
            self.push(Action::WaitAll);
        }
        Ok(())
    }

    fn together(
        &mut self,
        communicator: u32,
        k: u32,
        algorithms: Option<&Algorithms>,
        steps: &mut u64,
    ) -> Result<(), String> {
        if let Some(&number) = self.of.whole.get(&(communicator, k)) {
            self.push(Action::Together { number, shares: self.rows[number as usize] });
            return Ok(());
        }
        let members = &self.of.events.communicators[communicator as usize];
        let call = self.of.call(communicator, k);
        let me = self.of.places[self.rank as usize][&communicator];
        let tag = self.of.free_tag + communicator;
        let collective = Collective {
            algorithm: algorithms.and_then(|algorithms| algorithms.get(call.kind)),
            root: call.root,
            ..Collective::all(call.kind, call.bytes, members.len() as u32)
        };
        let row =
            call.rows.get(if call.rows.len() > 1 { me as usize } else { 0 }).map_or(&[][..], Vec::as_slice);
        let mut open = Vec::new();
        self.named.collectives += u64::from(me == 0);
        for step in (0..).map_while(|step| collective.step(me, step, row)) {
            *steps += 1;
            if *steps > MOST_STEPS {
                return Err(format!(
                    "collectives of communicators come to more than {MOST_STEPS} messages: expected fewer"
                ));
            }
            match step {
                Step::To(to, bytes) => {
                    if algorithms.is_none() {
                        self.named.left_out += bytes;
                        continue;
                    }
                    self.named.bytes += bytes;
                    let to = members[to as usize];
                    self.push(Action::Isend { to, bytes, tag });
                    open.push(Action::Wait { peer: to, tag, sends: true });
                }
                Step::From(from) if algorithms.is_some() => {
                    let from = members[from as usize];
                    self.push(Action::Irecv { from, tag });
                    open.push(Action::Wait { peer: from, tag, sends: false });
                }
                Step::From(_) => {}
                Step::Wait => open.drain(..).for_each(|wait| self.list.push((self.rank, wait))),
            }
        }
        open.into_iter().for_each(|wait| self.list.push((self.rank, wait)));
        Ok(())
    }
}

#[cfg(test)]
mod tests;
