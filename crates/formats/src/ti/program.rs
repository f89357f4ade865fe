//! Time-independent traces line by line: every action, with its arguments, in the meaning that SimGrid's replay gives it.
//!
//! - `waitall` waits for all requests of the rank, whatever its number. A `wait` (or `test`) names its request by source,
//!   destination and tag, the oldest first; one that is complete already is passed over, so that the `wait` lines which follow
//!   a `waitall` and list what it completed add nothing. `finalize` waits for what is still open.
//! - `sendRecv` waits for its own receive. As messages of one name are received in order, older receives of that name are then
//!   complete too, and the `wait` lines for these add nothing.
//! - Collectives are of all ranks, in the same order everywhere; the flops behind a reduction are computed after it.
//! - Without a datatype a count is of bytes if `init` stood alone, else of doubles.
//!
//! Polling programs leave less: every `test` is recorded, those that failed too, and `testany`, `testsome`, `testall` don't say
//! what they completed. Here the last `test` of a request is the one that succeeded. For the others: what a rank sends with a tag
//! depends on what it received with that tag, as in a sweep; the receives of this tag that were open at a poll are complete
//! before such a send. (Without this rule nothing would hold such a program's messages back.)
//!
//! Receives from any source are refused: no trace of this format that we know has them.
//!
//! Source: SimGrid 3.32, smpi_replay; what its tracing records of polls, smpi_pmpi_request.

use std::collections::{HashMap, HashSet};

use netloom_model::{Action, CollectiveKind, Together, Trace, Untold, Workload};

use super::call::{Call, call, handed_over, part};
use super::words::Words;
use super::{AFTER_THE_END, Life, ROOTED, SYNCHRONISING, of_before_tags, rank_number, verb_of};
use crate::FormatError;
use crate::text::text;

/// What a trace is read for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// To replay it: everything counts.
    Replay,
    /// To show and check it: as to replay it, but ranks may disagree about collectives.
    Calls,
    /// To add up what is sent: receives and waits need only be numbers, and collectives on which ranks disagree are told.
    Traffic,
}

/// Reads a time-independent trace as a program, with what says that it has communicators which it does not name ([`Trace::signs`]).
///
/// # Errors
/// [`FormatError`] names the line: no rank, an unknown verb (with the nearest known one), an argument that is missing, no
/// number or too many, an unknown datatype, a partner that is no rank, a collective that is not the one other ranks take part
/// in, a request that never began, a second `init`, a call after `finalize`; or the rank that has no line, other collectives than
/// rank 0 or, after its `init`, no `finalize`.
pub fn read_ti_workload(bytes: &[u8], label: &str) -> Result<Trace, FormatError> {
    read(bytes, label, Purpose::Replay)
}

/// Reads what every rank of a time-independent trace called. Ranks that disagree about a collective have one of their own each, behind
/// those that they agree about: it shows and checks such a run, and cannot be replayed.
///
/// # Errors
/// As [`read_ti_workload`], but for collectives on which ranks disagree.
pub fn read_ti_calls(bytes: &[u8], label: &str) -> Result<Trace, FormatError> {
    read(bytes, label, Purpose::Calls)
}

/// Reads what a time-independent trace sends: its messages, and the collectives of all ranks. Collectives on which ranks do not agree
/// are in [`Trace::untold`].
///
/// # Errors
/// [`FormatError`] names the line: no rank, an unknown verb (with the nearest known one), an argument that is missing or no number, an
/// unknown datatype, a destination that is no rank; or the rank that has no line or, after its `init`, no `finalize`.
pub fn read_ti(bytes: &[u8], label: &str) -> Result<Trace, FormatError> {
    read(bytes, label, Purpose::Traffic)
}

fn read(bytes: &[u8], label: &str, purpose: Purpose) -> Result<Trace, FormatError> {
    let text = text(bytes, label)?;
    let lines = || (1..).zip(text.lines()).filter_map(|(n, line)| Some((n, split_rank(line)?)));
    let mut ranks = 0;
    for (number, (rank, _)) in lines() {
        let rank = rank_number(rank).map_err(|message| FormatError::at(label, number, message))?;
        ranks = ranks.max(rank + 1);
    }
    if ranks == 0 {
        return Err(FormatError::whole(label, "expected actions such as \"0 isend 1 0 1024 6\", found none"));
    }
    let mut seen = vec![false; ranks as usize];
    for (_, (rank, _)) in lines() {
        seen[rank_number(rank).unwrap_or(0) as usize] = true;
    }
    if let Some(rank) = seen.iter().position(|seen| !seen) {
        let message = format!("expected actions of every rank below {ranks}, found none of rank {rank}");
        return Err(FormatError::whole(label, message));
    }
    let (mut reader, mut places) = (Reader::new(ranks, purpose), Vec::new());
    for (number, (rank, rest)) in lines() {
        let rank = rank_number(rank).unwrap_or(0);
        reader.line = number as u32;
        reader.line(rank, rest).map_err(|message| FormatError::at(label, number, message))?;
        places.resize(reader.list.len(), number as u32);
    }
    reader.finish(&places, label)
}

/// The first word of a line that is neither blank nor a comment, and the rest.
fn split_rank(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_ascii();
    if line.is_empty() || line.starts_with('#') {
        return None;
    }
    Some(line.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((line, "")))
}

/// A send to (else receive from) a rank with a tag.
type Key = (u32, u32, bool);

/// What a rank started and has not waited for.
struct Requests {
    life: Life,
    /// Collectives met.
    collectives: u32,
    open: HashMap<Key, u32>,
    count: u32,
    /// Names that any request had.
    begun: HashSet<Key>,
    /// Where the last `test` of a request lies among the actions.
    tested: HashMap<Key, usize>,
    /// Receives by tag, with their numbers; some may be complete.
    incoming: HashMap<u32, Vec<(u32, u64)>>,
    /// Receives started; how many of them before the last poll.
    receives: u64,
    polled: u64,
}

struct Reader {
    ranks: u32,
    /// Bytes of an item without a datatype.
    item: u64,
    list: Vec<(u32, Action)>,
    together: Vec<Together>,
    /// Collectives as a rank has them that disagrees; their numbers are counted from the highest down.
    apart: Vec<Together>,
    shares: Vec<u64>,
    requests: Vec<Requests>,
    purpose: Purpose,
    /// The line that is read.
    line: u32,
    /// What every call of a collective hands over.
    calls: Vec<Handed>,
    /// All ranks agree about collectives below this one, and where they first don't.
    agreed: u32,
    disagreement: Option<(u32, String)>,
    /// The first call whose bytes are not those of other ranks: line, collective, rank, its bytes, theirs.
    unequal: Option<(u32, u32, u32, u64, u64)>,
    /// Where communicators are split.
    split: Option<u32>,
}

/// What a rank hands over to a collective.
#[derive(Clone, Copy)]
struct Handed {
    number: u32,
    kind: CollectiveKind,
    bytes: u64,
}

impl Reader {
    fn new(ranks: u32, purpose: Purpose) -> Self {
        let one = || Requests {
            life: Life::Seen,
            collectives: 0,
            open: HashMap::new(),
            count: 0,
            begun: HashSet::new(),
            tested: HashMap::new(),
            incoming: HashMap::new(),
            receives: 0,
            polled: 0,
        };
        Self {
            ranks,
            item: 8,
            list: Vec::new(),
            together: Vec::new(),
            apart: Vec::new(),
            shares: Vec::new(),
            requests: (0..ranks).map(|_| one()).collect(),
            purpose,
            line: 0,
            calls: Vec::new(),
            agreed: u32::MAX,
            disagreement: None,
            unequal: None,
            split: None,
        }
    }

    fn line(&mut self, rank: u32, rest: &str) -> Result<(), String> {
        let mut words = Words { words: rest.split_ascii_whitespace(), ranks: self.ranks, item: self.item };
        let verb = verb_of(words.words.next())?;
        of_before_tags(verb, words.words.clone())?;
        let life = self.requests[rank as usize].life;
        if life == Life::Ended && !AFTER_THE_END.contains(&verb) {
            return Err(format!("expected no calls of rank {rank} after its finalize, found {verb}"));
        }
        if life == Life::Begun && verb == "init" {
            return Err(format!("expected one init of rank {rank}, found a second one"));
        }
        if self.purpose == Purpose::Traffic && self.passes_over(rank, verb, &mut words)? {
            return Ok(());
        }
        match verb {
            "init" => {
                self.requests[rank as usize].life = Life::Begun;
                self.item = if words.words.next().is_some() { 8 } else { 1 };
                return Ok(());
            }
            "finalize" => {
                self.wait_all(rank);
                self.requests[rank as usize].life = Life::Ended;
            }
            "compute" => self.compute(rank, words.flops("the flops")?),
            "sleep" => {
                let ps = (words.flops("seconds")? * 1e12) as u64;
                self.list.push((rank, Action::Sleep { ps }));
            }
            "send" | "isend" => {
                let (to, tag) = (words.rank("a destination rank")?, words.tag()?);
                let count = words.count("a count")?;
                let bytes = words.sized(count)?;
                if verb == "send" {
                    self.send(rank, to, bytes, tag);
                } else {
                    self.isend(rank, to, bytes, tag);
                }
            }
            "recv" | "irecv" => {
                let (from, tag) = (words.rank("a source rank")?, words.tag()?);
                // The receiver may not know the size (-1).
                words.integer("a count")?;
                words.datatype()?;
                // A replay counts what is complete by name: beside older ones a receive is a request, waited for as theirs are.
                let older = self.requests[rank as usize].open.contains_key(&(from, tag, false));
                let counted = verb == "recv" && older && self.purpose == Purpose::Replay;
                let action = if verb == "recv" && !counted {
                    Action::Recv { from, tag }
                } else {
                    self.irecv(rank, from, tag)
                };
                self.list.push((rank, action));
                if counted {
                    self.wait_for_youngest(rank, from, tag);
                }
            }
            "sendrecv" => {
                let (count, to) = (words.count("a count to send")?, words.rank("a destination rank")?);
                words.integer("a count to receive")?;
                let from = words.rank("a source rank")?;
                let bytes = words.sized(count)?;
                words.datatype()?;
                let receive = self.irecv(rank, from, 0);
                self.list.push((rank, receive));
                self.send(rank, to, bytes, 0);
                self.wait_for_youngest(rank, from, 0);
            }
            "wait" | "test" => {
                let (from, to) = (words.integer("a source rank")?, words.integer("a destination rank")?);
                let tag = words.tag()?;
                self.wait_or_test(rank, from, to, tag, verb == "test")?;
            }
            "waitall" => {
                words.integer("a number of requests")?;
                self.wait_all(rank);
            }
            "waitany" | "waitsome" => {
                words.rest_are_numbers()?;
                if self.requests[rank as usize].count > 0 {
                    self.list.push((rank, Action::WaitAny));
                }
            }
            "testany" | "testsome" | "testall" => {
                words.rest_are_numbers()?;
                let requests = &mut self.requests[rank as usize];
                requests.polled = requests.receives;
            }
            "location" => return Ok(()),
            "comm_split" => {
                self.split.get_or_insert(self.line);
                words.rest_are_numbers()?;
            }
            "probe" | "iprobe" | "comm_size" | "comm_dup" => words.rest_are_numbers()?,
            _ => self.collective(rank, verb, &mut words)?,
        }
        words.end()
    }

    /// As traffic only sends and collectives count: whether this is another action, or a send, which is then kept.
    fn passes_over(&mut self, rank: u32, verb: &str, words: &mut Words) -> Result<bool, String> {
        match verb {
            "init" | "finalize" | "comm_split" => return Ok(false),
            "location" => {}
            "send" | "isend" => {
                let to = words.rank("a destination rank")?;
                words.number("a tag")?;
                let count = words.count("a count")?;
                let bytes = words.sized(count)?;
                self.list.push((rank, Action::Send { to, bytes, tag: 0 }));
            }
            "sendrecv" => {
                let (count, to) = (words.count("a count to send")?, words.rank("a destination rank")?);
                // The count and the source of a receive may be negative.
                words.number("a count to receive")?;
                words.number("a source rank")?;
                let bytes = words.sized(count)?;
                self.list.push((rank, Action::Send { to, bytes, tag: 0 }));
            }
            _ if SYNCHRONISING.contains(&verb) || ROOTED.contains(&verb) => return Ok(false),
            _ => words.rest_are_numbers()?,
        }
        Ok(true)
    }

    fn compute(&mut self, rank: u32, flops: f64) {
        if self.purpose != Purpose::Traffic && flops > 0.0 {
            self.list.push((rank, Action::Compute { flops }));
        }
    }

    fn irecv(&mut self, rank: u32, from: u32, tag: u32) -> Action {
        let requests = &mut self.requests[rank as usize];
        *requests.open.entry((from, tag, false)).or_default() += 1;
        requests.begun.insert((from, tag, false));
        requests.count += 1;
        requests.incoming.entry(tag).or_default().push((from, requests.receives));
        requests.receives += 1;
        Action::Irecv { from, tag }
    }

    fn isend(&mut self, rank: u32, to: u32, bytes: u64, tag: u32) {
        self.received(rank, tag);
        self.list.push((rank, Action::Isend { to, bytes, tag }));
        let requests = &mut self.requests[rank as usize];
        *requests.open.entry((to, tag, true)).or_default() += 1;
        requests.begun.insert((to, tag, true));
        requests.count += 1;
    }

    fn send(&mut self, rank: u32, to: u32, bytes: u64, tag: u32) {
        self.received(rank, tag);
        self.list.push((rank, Action::Send { to, bytes, tag }));
    }

    /// Before a send: what polls may have completed of its tag is complete.
    fn received(&mut self, rank: u32, tag: u32) {
        let requests = &mut self.requests[rank as usize];
        if requests.polled == 0 {
            return;
        }
        let Some(incoming) = requests.incoming.get_mut(&tag) else { return };
        let polled = requests.polled;
        let later = incoming.partition_point(|&(_, number)| number < polled);
        let before: Vec<_> = incoming.drain(..later).collect();
        for (from, _) in before {
            self.wait(rank, (from, tag, false), false);
        }
    }

    fn wait_or_test(&mut self, rank: u32, from: i64, to: i64, tag: u32, tests: bool) -> Result<(), String> {
        let me = i64::from(rank);
        let mut began = false;
        for (peer, mine, sends) in [(from, to == me, false), (to, from == me, true)] {
            if let (true, Ok(peer)) = (mine, u32::try_from(peer)) {
                let key = (peer, tag, sends);
                if self.wait(rank, key, tests) {
                    return Ok(());
                }
                began |= self.requests[rank as usize].begun.contains(&key);
            }
        }
        if began {
            return Ok(());
        }
        Err(format!(
            "expected a request that rank {rank} began before, found none from {from} to {to} with that tag"
        ))
    }

    /// Waits for the last receive of this name that began, and so for all older ones.
    fn wait_for_youngest(&mut self, rank: u32, from: u32, tag: u32) {
        while self.requests[rank as usize].open.contains_key(&(from, tag, false)) {
            self.wait(rank, (from, tag, false), false);
        }
    }

    /// Waits for the oldest request of this name; `false` if there is none, or none any more.
    fn wait(&mut self, rank: u32, key: Key, tests: bool) -> bool {
        let requests = &mut self.requests[rank as usize];
        let (peer, tag, sends) = key;
        if let Some(open) = requests.open.get_mut(&key) {
            *open -= 1;
            if *open == 0 {
                requests.open.remove(&key);
            }
            requests.count -= 1;
        } else if let Some(at) = requests.tested.remove(&key) {
            // That test had failed.
            self.list[at].0 = u32::MAX;
        } else {
            return false;
        }
        if tests {
            requests.tested.insert(key, self.list.len());
        }
        self.list.push((rank, Action::Wait { peer, tag, sends }));
        true
    }

    fn wait_all(&mut self, rank: u32) {
        let requests = &mut self.requests[rank as usize];
        if requests.count > 0 {
            self.list.push((rank, Action::WaitAll));
        }
        requests.open.clear();
        requests.tested.clear();
        requests.incoming.clear();
        requests.count = 0;
    }

    fn collective(&mut self, rank: u32, verb: &str, words: &mut Words) -> Result<(), String> {
        let Call { kind, root, bytes, flops, row } = match call(verb, words, rank) {
            Ok(call) => call,
            Err(refusal) => return self.of_part(rank, verb, words, refusal),
        };
        let number = self.requests[rank as usize].collectives;
        let here = Together { kind, root, bytes, uneven: row.is_some() };
        let mut own = number;
        let handed = row.as_ref().map_or(bytes, |row| handed_over(kind, row, rank));
        match self.together.get_mut(number as usize) {
            None => self.together.push(here),
            Some(there) if (there.kind, there.root, there.uneven) == (kind, root, here.uneven) => {
                if bytes != there.bytes && bytes > 0 && there.bytes > 0 && self.unequal.is_none() {
                    self.unequal = Some((self.line, number, rank, bytes, there.bytes));
                }
                // Some ranks may say nothing of their share (in place).
                there.bytes = there.bytes.max(bytes);
            }
            Some(there) => {
                let say = |t: &Together| format!("{}{} of root {}", uneven(t), t.kind.name(), t.root);
                let message = format!(
                    "expected {} as collective {} of rank {rank}, as on other ranks, found {}",
                    say(there),
                    number + 1,
                    say(&here)
                );
                match self.purpose {
                    Purpose::Replay => {
                        return Err(format!("{message}: communicators of some ranks only can't be replayed"));
                    }
                    Purpose::Calls => {
                        own = u32::MAX - self.apart.len() as u32;
                        self.apart.push(here);
                    }
                    Purpose::Traffic => self.disagree(number, message),
                }
            }
        }
        self.requests[rank as usize].collectives += 1;
        self.calls.push(Handed { number, kind, bytes: self.whole(kind, row.is_some(), handed) });
        let shares = row.map(|row| {
            let (n, before) = (self.ranks as usize, self.shares.len());
            // Equal rows follow each other where all ranks list the same.
            if before >= n && self.shares[before - n..] == row {
                return (before / n - 1) as u32;
            }
            self.shares.extend(row);
            (before / n) as u32
        });
        self.list.push((rank, Action::Together { number: own, shares }));
        self.compute(rank, flops);
        Ok(())
    }

    /// A collective whose arguments are not those of one of all ranks: of a part of them, if these are numbers.
    fn of_part(&mut self, rank: u32, verb: &str, words: &mut Words, refusal: String) -> Result<(), String> {
        let Some((kind, bytes)) = part(verb, words).filter(|_| self.purpose == Purpose::Traffic) else {
            return Err(refusal);
        };
        words.rest_are_numbers()?;
        let number = self.requests[rank as usize].collectives;
        self.requests[rank as usize].collectives += 1;
        self.calls.push(Handed { number, kind, bytes });
        self.disagree(number, format!("collective {} of rank {rank}, {verb}: {refusal}", number + 1));
        Ok(())
    }

    /// Collectives from this number on are not of all ranks.
    fn disagree(&mut self, number: u32, message: String) {
        if number < self.agreed {
            self.agreed = number;
            self.disagreement = Some((self.line, message));
        }
    }

    /// Bytes that a rank has for all where `bytes` are for each.
    fn whole(&self, kind: CollectiveKind, uneven: bool, bytes: u64) -> u64 {
        let each = kind == CollectiveKind::Alltoall && !uneven;
        if each { bytes.saturating_mul(u64::from(self.ranks - 1)) } else { bytes }
    }

    /// That every rank came to its end, and passed as many collectives as the others.
    fn check(&mut self, label: &str) -> Result<(), FormatError> {
        let first = self.requests[0].collectives;
        for rank in 0..self.requests.len() {
            let Requests { life, collectives: found, .. } = self.requests[rank];
            if life == Life::Begun {
                let message = format!("rank {rank} has an init and no finalize: is the trace cut short?");
                return Err(FormatError::whole(label, message));
            }
            if found != first {
                let message = format!(
                    "expected {first} collectives of every rank, as of rank 0, found {found} of rank {rank}"
                );
                match self.purpose {
                    Purpose::Replay => return Err(FormatError::whole(label, message)),
                    Purpose::Calls => {}
                    Purpose::Traffic => {
                        self.line = 0;
                        self.disagree(first.min(found), message);
                    }
                }
            }
        }
        Ok(())
    }

    fn finish(mut self, lines: &[u32], label: &str) -> Result<Trace, FormatError> {
        self.check(label)?;
        if self.purpose == Purpose::Calls {
            let shared = self.together.len() as u32;
            for (_, action) in &mut self.list {
                if let Action::Together { number, .. } = action
                    && *number >= shared
                {
                    *number = shared + (u32::MAX - *number);
                }
            }
            self.together.append(&mut self.apart);
            let workload = Workload::from_actions(self.ranks, &self.list, lines, self.together, self.shares);
            return Ok(Trace::of(workload));
        }
        let agreed = self.agreed.min(self.requests[0].collectives);
        let mut untold: Vec<Untold> = Vec::new();
        for kind in CollectiveKind::ALL {
            let calls = || self.calls.iter().filter(|call| call.kind == kind && call.number >= agreed);
            let bytes = calls().fold(0u64, |sum, call| sum.saturating_add(call.bytes));
            if calls().next().is_some() {
                untold.push(Untold { kind, calls: calls().count() as u64, bytes });
            }
        }
        if !untold.is_empty() {
            for action in &mut self.list {
                if matches!(action.1, Action::Together { number, .. } if number >= agreed) {
                    action.0 = u32::MAX;
                }
            }
        }
        let place = |line: u32| if line == 0 { label.to_owned() } else { format!("{label}:{line}") };
        let mut signs = Vec::new();
        signs.extend(self.disagreement.take().map(|(line, message)| format!("{}: {message}", place(line))));
        signs.extend(self.split.map(|line| format!("{}: the program splits communicators", place(line))));
        signs.extend(self.unequal.filter(|&(_, number, ..)| number < agreed).map(
            |(line, number, rank, here, there)| {
                let kind = self.together[number as usize].kind.name();
                format!(
                    "{}: bytes of collective {}, {kind}, do not add up: rank {rank} has {here} B, others {there} B",
                    place(line),
                    number + 1
                )
            },
        ));
        self.together.truncate(agreed as usize);
        let workload = Workload::from_actions(self.ranks, &self.list, lines, self.together, self.shares);
        Ok(Trace { workload, untold, signs, named: None })
    }
}

fn uneven(together: &Together) -> &'static str {
    if together.uneven { "uneven " } else { "" }
}

#[cfg(test)]
mod tests;
