//! A run on several threads, with the same results as on one.
//!
//! Each thread has a partition of the switches with a [`Network`] of its own. Time goes on in windows: from the first event of all to come,
//! as long as the lookahead. In a window nobody hears of the others; at its end each hands over its mail, says when it goes on, and waits for the
//! others. Slots for mail and times are used in turns, so one barrier a window is enough: who writes to a slot again has passed
//! one since everybody read it.
//!
//! Invariant: what decides results (the order of events at a switch or a host, and what is known there) does not depend on the division; see `engine`, `mail`
//! and `Desk::announce`.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex, PoisonError};

use netloom_model::{Control, Fabric, StopReason};

use super::choice::Choice;
use super::engine::Keeping;
use super::engine::{deadlock, stalled};
use super::network::Network;
use super::parallel::Mail;
use super::parallel::Partition;
use super::parallel::{Barrier, Guard};
use super::repeating::Repeating;
use super::watch::link_counters;
use crate::SimError;
use crate::calendar::NEVER;
use crate::config::Config;
use crate::observe::Observer;
use crate::program::Split;
use crate::record::{AdapterCounters, Intervals, Latencies, Managed, Measure, PairRow, Queues};
use crate::record::{LinkCounters, check_rows};
use crate::repeats::Skipped;
use crate::stalled::Looks;
use crate::state_codec::{StateReader, joined};

/// Events between two looks at the [`Control`] where there are no windows.
const EVENTS_A_LOOK: u64 = 1 << 10;

/// How a run is carried out; none of it changes what comes out, but `until_ps` and a stop by `control` may end it early.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Threads to use at most. Fewer are used where they would meet too often to gain from it.
    pub threads: usize,
    /// Partitions; `None`: one a thread, as far as it pays.
    pub partitions: Option<usize>,
    /// The run ends before what happens then, ps.
    pub until_ps: Option<u64>,
    /// What is recorded besides.
    pub measure: Option<&'a Measure>,
    /// Latencies of packets are recorded for so many jobs of the program.
    pub packet_jobs: usize,
    /// Where its state goes, and whence it comes; a run that somebody watches has none.
    pub keep: Option<&'a Keeping<'a>>,
    /// Iterations that repeat are not simulated again, with this error allowed; then there is one partition.
    pub skip_repeats: Option<f64>,
    /// Ends the run from outside; is told the simulated time, ps, of `until_ps` (0: open).
    pub control: &'a Control,
}

impl Terms<'_> {
    /// Whether the state is to be kept now: it is time to, or the run is ended.
    fn state_due(&self, told: Option<StopReason>) -> bool {
        self.keep.is_some_and(|keep| told.is_some() || (keep.due)())
    }

    /// Hands out the state, from that of every partition.
    fn keep_state(&self, parts: impl ExactSizeIterator<Item = Vec<u8>>) {
        if let Some(keep) = self.keep {
            (keep.keep)(&joined(parts));
        }
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing happens any more.
    Silent,
    /// Jobs that start over go on, and none that they start over for can.
    Stalled,
    /// The program stopped it ([`Desk::stop`](super::Desk::stop)).
    Stopped,
    /// `until_ps` is reached.
    Until,
    /// From outside; the only end that another run may not share.
    Told(StopReason),
    /// Nothing can happen any more: [`SimError::Deadlock`].
    Deadlock(SimError),
}

/// A run's results, of all partitions together.
#[derive(Clone, Debug)]
pub struct Finished<P, O> {
    /// Why it ended.
    pub end: End,
    /// When the last thing happened, or `until_ps`, ps; where it was told to end, as far as it came.
    pub end_ps: u64,
    /// The hosts' program.
    pub program: P,
    /// The observers, one a partition; who listens is alone.
    pub observers: Vec<O>,
    /// What every link has carried.
    pub counters: LinkCounters,
    /// Latencies of packets by job, as far as asked for.
    pub packet_latencies: Vec<Latencies>,
    /// Bytes received of each job while its load was measured, headers included; empty if none was.
    pub accepted: Vec<u64>,
    /// The same by the host that sent them.
    pub accepted_from: Vec<u64>,
    /// Counters by interval, if asked for.
    pub intervals: Option<Intervals>,
    /// Queues over time, if asked for.
    pub queues: Option<Queues>,
    /// What hosts sent each other, if asked for.
    pub pairs: Option<Vec<PairRow>>,
    /// What a congestion control has done, if there was one.
    pub managed: Option<Managed>,
    /// What adapters have counted, by host; `None` where packets are not answered.
    pub adapters: Option<Vec<AdapterCounters>>,
    /// Packets received by hosts, responses included.
    pub packets: u64,
    /// Those of them that are responses.
    pub responses: u64,
    /// Those of them that made a detour.
    pub detours: u64,
    /// Links that packets were sent over, host links included.
    pub packet_hops: u64,
    /// Those of them that the run had behind it where it began, if it went on from a state.
    pub earlier_hops: u64,
    /// Arrivals of packets, timers and the like, but no outputs' tries, of which partitions need more or fewer.
    pub events: u64,
    /// Partitions.
    pub partitions: usize,
    /// What was not simulated, as it repeats what was, if asked for.
    pub skipped: Option<Skipped>,
}

/// Runs a program on a network.
///
/// # Errors
/// [`SimError`] for hardware that can't work, a state that is not of such a run, a packet without a way, and time beyond its range: the
/// first that happens in simulated time.
pub fn run_network<C: Choice + Clone, P: Split, O: Observer>(
    fabric: &Fabric,
    config: &Config,
    choice: C,
    program: P,
    observer: impl Fn(usize) -> O,
    terms: &Terms,
) -> Result<Finished<P, O>, SimError> {
    let one = |partition: &Arc<Partition>, here: usize| {
        let (choice, program, observer) = (choice.clone(), program.clone(), observer(here));
        let part =
            Network::part(fabric, config, choice, program, observer, Arc::clone(partition), here as u8);
        part.map(|mut part| {
            if terms.packet_jobs > 0 {
                part.record_packets(terms.packet_jobs);
            }
            if let Some(measure) = terms.measure {
                part.record(measure);
            }
            part
        })
    };
    let mut partition = Arc::new(Partition::new(fabric, 1));
    let mut parts = vec![one(&partition, 0)?];
    let lookahead_ps = parts[0].lookahead_ps;
    let terms = &Terms { keep: terms.keep.filter(|_| !O::LISTENS), ..*terms };
    let mut state = terms.keep.and_then(|keep| keep.from).map(StateReader::new);
    let wanted = match (&mut state, terms.partitions) {
        (Some(state), _) => state.partitions()?,
        (None, _) if config.is_whole() || terms.skip_repeats.is_some() => 1,
        (None, Some(partitions)) => partitions,
        (None, None) => Partition::worthwhile(fabric, config, lookahead_ps, terms.threads),
    };
    if wanted > 1 && C::LOCAL && !O::LISTENS && lookahead_ps > 0 && !config.is_whole() {
        parts.clear();
        partition = Arc::new(Partition::new(fabric, wanted));
        for here in 0..partition.count {
            parts.push(one(&partition, here)?);
        }
    }
    if state.is_some() && parts.len() != wanted {
        return Err(SimError::State);
    }
    let mut repeating = match (&mut parts[..], terms.skip_repeats) {
        (_, None) => None,
        (_, Some(_)) if terms.keep.is_some() => Some(Err(Skipped::nothing("the state is kept"))),
        ([whole], Some(error)) => Some(Repeating::new(whole, error)),
        _ => Some(Err(Skipped::nothing("the network is in partitions"))),
    };
    for part in &mut parts {
        match &mut state {
            Some(state) => part.load(state)?,
            None => part.start(),
        }
    }
    state.map_or(Ok(()), StateReader::end)?;
    let earlier_hops = parts.iter().map(Network::packets_sent).sum();
    let mut end = match &mut parts[..] {
        [whole] => alone(whole, terms, repeating.as_mut().and_then(|it| it.as_mut().ok()))?,
        parts => together(parts, terms)?,
    };
    if let ([whole], Some(Ok(it))) = (&mut parts[..], &mut repeating) {
        it.is_over(matches!(end, End::Told(_)));
        if it.has_failed() {
            let (before, terms) = (repeating, Terms { skip_repeats: Some(0.0), ..*terms });
            let mut done = run_network(fabric, config, choice, program, observer, &terms)?;
            let exact = done.skipped.as_ref().is_some_and(|skipped| skipped.iterations > 0);
            if let (false, Some(Ok(before))) = (exact, before) {
                done.skipped = Some(before.without_leaps());
            }
            return Ok(done);
        }
        it.ends(whole);
    }
    if end == End::Silent
        && let Some(error) = deadlock(&parts)
    {
        end = End::Deadlock(error);
    }
    let mut done = merged(fabric, &partition, parts, end, earlier_hops, terms);
    done.skipped = repeating.map(|repeating| repeating.map_or_else(|nothing| nothing, Repeating::skipped));
    let queues = done.queues.as_ref().map_or(0, |queues| queues.by_level.len() + queues.queues.len());
    check_rows(done.intervals.as_ref().map_or(0, |intervals| intervals.rows.len()) + queues)?;
    Ok(done)
}

fn alone<C: Choice, P: Split, O: Observer>(
    network: &mut Network<C, P, O>,
    terms: &Terms,
    mut repeating: Option<&mut Repeating>,
) -> Result<End, SimError> {
    let until_ps = terms.until_ps.unwrap_or(NEVER);
    let mut looks = looks_at(std::slice::from_ref(network));
    loop {
        let told = terms.control.stopped();
        if terms.state_due(told) {
            terms.keep_state(std::iter::once(network.saved()));
        }
        if let Some(reason) = told {
            return Ok(End::Told(reason));
        }
        let more = network.run_events(until_ps.min(looks.next_ps()), EVENTS_A_LOOK)?;
        terms.control.report(network.now_ps(), terms.until_ps.unwrap_or(0));
        if network.stopped {
            return Ok(End::Stopped);
        }
        if std::mem::take(&mut network.paused) {
            if let Some(repeating) = &mut repeating {
                repeating.begins(network, until_ps);
                if repeating.has_failed() {
                    return Ok(End::Silent);
                }
            }
            continue;
        }
        if more {
            continue;
        }
        if network.is_silent() {
            return Ok(End::Silent);
        }
        if network.next_ps() >= until_ps {
            return Ok(End::Until);
        }
        if let Some(locked) = stalled(&[&*network], looks.next_ps()) {
            return Ok(locked.map_or(End::Stalled, End::Deadlock));
        }
        looks.skip(network.next_ps());
    }
}

/// When a network is to be looked at from where it is.
fn looks_at<C: Choice, P: Split, O: Observer>(parts: &[Network<C, P, O>]) -> Looks {
    let mut looks = Looks::new(parts.iter().any(|part| !part.awaited().is_empty()));
    looks.skip(parts.iter().map(Network::now_ps).max().unwrap_or(0));
    looks
}

/// What threads tell each other at the end of a window.
struct Slots<T> {
    /// `[from][to]`.
    mail: Vec<Vec<Mutex<Mail<T>>>>,
    /// When each goes on.
    next_ps: Vec<AtomicU64>,
    /// Something went wrong in this window.
    failed: AtomicBool,
    /// The run is to end here.
    told: Mutex<Option<StopReason>>,
    /// The state is to be kept here; that of every partition.
    keep: AtomicBool,
    states: Vec<Mutex<Vec<u8>>>,
}

impl<T> Slots<T> {
    fn new(parts: usize) -> Self {
        let row = |_| (0..parts).map(|_| Mutex::default()).collect();
        Self {
            mail: (0..parts).map(row).collect(),
            next_ps: (0..parts).map(|_| AtomicU64::new(NEVER)).collect(),
            failed: AtomicBool::new(false),
            told: Mutex::new(None),
            keep: AtomicBool::new(false),
            states: (0..parts).map(|_| Mutex::default()).collect(),
        }
    }
}

impl<T: Copy + std::fmt::Debug + Send> Slots<T> {
    /// What a partition leaves at a window's end.
    fn hand_in<C: Choice, P: Split<Token = T>, O: Observer>(&self, part: &mut Network<C, P, O>) {
        let here = usize::from(part.here);
        self.next_ps[here].store(part.next_ps(), Relaxed);
        for (to, slot) in self.mail[here].iter().enumerate() {
            part.hand_over(to, &mut lock(slot));
        }
    }

    /// What the others have left for it.
    fn hand_out<C: Choice, P: Split<Token = T>, O: Observer>(&self, part: &mut Network<C, P, O>) {
        for (from, row) in self.mail.iter().enumerate() {
            part.deliver(from, &mut lock(&row[usize::from(part.here)]));
        }
    }
}

/// The content of a lock; a thread that panicked ends the run by its panic.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The first failure in simulated time: when, where, what.
type Failure = Mutex<Option<(u64, u32, SimError)>>;

fn together<C: Choice, P: Split, O: Observer>(
    parts: &mut [Network<C, P, O>],
    terms: &Terms,
) -> Result<End, SimError> {
    let slots = [Slots::new(parts.len()), Slots::new(parts.len())];
    let (failure, looked) = (Failure::default(), Mutex::new(None));
    let each = parts.len().div_ceil(terms.threads.max(1));
    let barrier = Barrier::new(parts.len().div_ceil(each));
    let looks = looks_at(parts);
    let some: Vec<_> = parts.chunks_mut(each).map(Mutex::new).collect();
    let ends: Vec<_> = some.iter().map(|_| Mutex::new(None)).collect();
    on_threads(some.len(), |thread| {
        let meeting = Meeting { barrier: &barrier, slots: &slots, failure: &failure, looked: &looked };
        *lock(&ends[thread]) = windows((&some, thread), terms, looks, &meeting);
    });
    let ends: Vec<End> = ends.iter().filter_map(|end| lock(end).clone()).collect();
    if let Some((.., error)) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
        return Err(error);
    }
    debug_assert!(ends.windows(2).all(|two| two[0] == two[1]), "all threads end alike");
    Ok(ends[0].clone())
}

/// The partitions of a thread, which others look at between windows.
type Share<'s, 'f, C, P, O> = Mutex<&'s mut [Network<'f, C, P, O>]>;

/// Where threads meet.
struct Meeting<'a, T> {
    barrier: &'a Barrier,
    slots: &'a [Slots<T>; 2],
    failure: &'a Failure,
    /// How the run ends, if a look has shown that it must.
    looked: &'a Mutex<Option<End>>,
}

/// Calls `work` with 0, 1, … on as many threads at once: of the caller's pool if it has them, so that whoever made the pool knows its
/// threads' cost; else of our own.
fn on_threads(count: usize, work: impl Fn(usize) + Sync) {
    if rayon::current_thread_index().is_some() && rayon::current_num_threads() >= count {
        rayon::broadcast(|context| {
            if context.index() < count {
                work(context.index());
            }
        });
        return;
    }
    std::thread::scope(|scope| {
        let work = &work;
        let threads: Vec<_> = (0..count).map(|thread| scope.spawn(move || work(thread))).collect();
        for thread in threads {
            if let Err(panic) = thread.join() {
                std::panic::resume_unwind(panic);
            }
        }
    });
}

/// One thread's partitions. `None` if something went wrong.
fn windows<C: Choice, P: Split, O: Observer>(
    (all, thread): (&[Share<'_, '_, C, P, O>], usize),
    terms: &Terms,
    mut looks: Looks,
    meeting: &Meeting<P::Token>,
) -> Option<End> {
    let &Meeting { barrier, slots, failure, looked } = meeting;
    let _guard = Guard(barrier);
    let until_ps = terms.until_ps.unwrap_or(NEVER);
    let mut failed = false;
    let mut mine = lock(&all[thread]);
    for turn in (0..2).cycle() {
        let slots = &slots[turn];
        if failed {
            slots.failed.store(true, Relaxed);
        }
        for part in mine.iter_mut() {
            slots.hand_in(part);
            if part.here == 0 {
                terms.control.report(part.now_ps(), terms.until_ps.unwrap_or(0));
                let told = terms.control.stopped();
                slots.keep.store(terms.state_due(told), Relaxed);
                *lock(&slots.told) = told;
            }
        }
        if !barrier.wait() || slots.failed.load(Relaxed) {
            return None;
        }
        for part in mine.iter_mut() {
            slots.hand_out(part);
        }
        if mine[0].stopped {
            return Some(End::Stopped);
        }
        if slots.keep.load(Relaxed) && !keep_state(&mut mine, terms, barrier, &slots.states) {
            return None;
        }
        if let Some(reason) = *lock(&slots.told) {
            return Some(End::Told(reason));
        }
        let next_ps = slots.next_ps.iter().map(|next| next.load(Relaxed)).min().unwrap_or(NEVER);
        if next_ps == NEVER {
            return Some(End::Silent);
        }
        if next_ps >= until_ps {
            return Some(End::Until);
        }
        if next_ps >= looks.next_ps() {
            // One looks at the parts of all, between two meetings.
            drop(mine);
            if !barrier.wait() {
                return None;
            }
            if thread == 0 {
                let parts: Vec<_> = all.iter().map(lock).collect();
                let parts: Vec<_> = parts.iter().flat_map(|some| some.iter()).collect();
                *lock(looked) =
                    stalled(&parts, looks.next_ps()).map(|locked| locked.map_or(End::Stalled, End::Deadlock));
            }
            if !barrier.wait() {
                return None;
            }
            if let Some(end) = &*lock(looked) {
                return Some(end.clone());
            }
            mine = lock(&all[thread]);
            looks.skip(next_ps);
        }
        for part in mine.iter_mut() {
            let end_ps = next_ps.saturating_add(part.lookahead_ps).min(until_ps).min(looks.next_ps());
            if let Err(error) = part.run_before(end_ps) {
                failed = true;
                let mut first = lock(failure);
                let (time_ps, key) = part.failed_at;
                if first.as_ref().is_none_or(|&(t, k, _)| (time_ps, key) < (t, k)) {
                    *first = Some((time_ps, key, error));
                }
            }
        }
    }
    None
}

/// Keeps the state of all partitions; `false` if one will never come.
fn keep_state<C: Choice, P: Split, O: Observer>(
    parts: &mut [Network<C, P, O>],
    terms: &Terms,
    barrier: &Barrier,
    states: &[Mutex<Vec<u8>>],
) -> bool {
    for part in &mut *parts {
        *lock(&states[usize::from(part.here)]) = part.saved();
    }
    if !barrier.wait() {
        return false;
    }
    if parts[0].here == 0 {
        terms.keep_state(states.iter().map(|state| std::mem::take(&mut *lock(state))));
    }
    true
}

fn merged<C: Choice, P: Split, O: Observer>(
    fabric: &Fabric,
    partition: &Partition,
    parts: Vec<Network<C, P, O>>,
    end: End,
    earlier_hops: u64,
    terms: &Terms,
) -> Finished<P, O> {
    let last_ps = parts.iter().map(|part| part.last).max().unwrap_or(0);
    // A run that is told to end may have been sampled after the last thing that happened in it.
    let sampled_ps = || parts.iter().filter_map(|part| part.recorder.as_ref()).map(|r| r.sampled_ps()).max();
    let end_ps = match end {
        End::Until => terms.until_ps.unwrap_or(last_ps),
        End::Told(_) => sampled_ps().map_or(last_ps, |ps| ps.max(last_ps)),
        _ => last_ps,
    };
    let mut counters = link_counters(&parts[0].ports, end_ps);
    for part in &parts[1..] {
        counters.merge(&link_counters(&part.ports, end_ps));
    }
    for part in &parts {
        let left_by = if end == End::Until { end_ps - 1 } else { part.now };
        counters.take_off(part.not_left(left_by));
    }
    let managed = parts[0].managed(end_ps);
    let (adapters, responses) = (parts[0].adapters(), parts[0].responses_received());
    let packets = parts.iter().map(Network::packets_received).sum();
    let detours = parts.iter().map(Network::detours).sum();
    let packet_hops = counters.packets();
    let events = parts.iter().map(Network::events).sum();
    let mut packet_latencies = parts[0].packet_latencies().to_vec();
    for part in &parts[1..] {
        for (latencies, theirs) in packet_latencies.iter_mut().zip(part.packet_latencies()) {
            latencies.merge(theirs);
        }
    }
    let mut accepted = parts[0].accepted();
    for part in &parts[1..] {
        accepted.iter_mut().zip(part.accepted()).for_each(|(bytes, theirs)| *bytes += theirs);
    }
    let mut accepted_from = parts[0].accepted_from().to_vec();
    for part in &parts[1..] {
        accepted_from.iter_mut().zip(part.accepted_from()).for_each(|(bytes, theirs)| *bytes += theirs);
    }
    let (mut intervals, mut queues): (Option<Intervals>, Option<Queues>) = (None, None);
    let mut observers = Vec::new();
    let mut pairs: Option<Vec<PairRow>> = None;
    let mut whole: Option<P> = None;
    for (p, part) in parts.into_iter().enumerate() {
        if let Some(recorder) = part.recorder {
            let (theirs, their_queues) = recorder.finish(&part.ports, &part.packets, end_ps, part.now);
            match (&mut intervals, theirs) {
                (Some(whole), Some(theirs)) => whole.merge(theirs),
                (whole, theirs) => *whole = theirs,
            }
            match (&mut queues, their_queues) {
                (Some(whole), Some(theirs)) => whole.merge(theirs),
                (whole, theirs) => *whole = theirs,
            }
        }
        if let Some(counted) = part.pairs {
            pairs.get_or_insert_default().extend(counted.finish());
        }
        observers.push(part.observer);
        match &mut whole {
            None => whole = Some(part.program),
            Some(whole) => {
                let was_there = |host| usize::from(partition.of_host(fabric, host)) == p;
                whole.absorb(part.program, &was_there);
            }
        }
    }
    pairs.iter_mut().for_each(|pairs| pairs.sort_unstable());
    let program = whole.expect("there is a partition");
    let partitions = partition.count;
    Finished {
        end,
        end_ps,
        program,
        observers,
        counters,
        packet_latencies,
        accepted,
        accepted_from,
        intervals,
        queues,
        pairs,
        managed,
        adapters,
        packets,
        responses,
        detours,
        packet_hops,
        earlier_hops,
        events,
        partitions,
        skipped: None,
    }
}
