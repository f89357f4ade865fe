//! The state of a run, so that another run can go on from there: what is kept of a network, and in which form.
//!
//! Kept is what happens: packets, messages, room, events to come, counters and samples, how far programs are, random streams. What a run
//! is given is not: whoever takes a state up gives the same fabric, hardware, scheme and program again, and vouches for that.
//!
//! Invariants: a state is taken between events, with several partitions between windows, when no mail is under way; a run that goes on
//! from one shows all that it would have shown without.
//!
//! Form: the form's number, the number of partitions, then each of them, in [postcard](https://postcard.jamesmunns.com/wire-format.html)'s format.

use serde::{Deserialize, Serialize};

use super::calendar::Event;
use super::choice::Choice;
use super::network::Network;
use super::observe::Observer;
use super::ports::Ports;
use super::program::Split;
use crate::SimError;

/// Rises whenever what is kept, or its order, changes: states of another form are refused.
const FORM: u32 = 4;

/// How the state of a run is kept, and where it begins.
#[derive(Clone, Copy)]
pub struct Keeping<'a> {
    /// What an earlier run with the same setup has kept; this one goes on from there, in as many partitions. Whether it is whole is for
    /// the caller to know; what cannot be such a state is refused.
    pub from: Option<&'a [u8]>,
    /// Whether the state is to be kept now; asked often.
    pub due: &'a (dyn Fn() -> bool + Sync),
    /// Takes the state: when it is due, and when the run is ended from outside.
    pub keep: &'a (dyn Fn(&[u8]) + Sync),
}

impl std::fmt::Debug for Keeping<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keeping").field("from", &self.from.map(<[u8]>::len)).finish_non_exhaustive()
    }
}

/// Takes what is to be kept.
#[derive(Debug, Default)]
pub struct StateWriter(Vec<u8>);

impl StateWriter {
    /// Adds a value.
    ///
    /// # Panics
    /// If it does not know its own length.
    pub fn put<T: Serialize + ?Sized>(&mut self, value: &T) {
        let before = std::mem::take(&mut self.0);
        self.0 = postcard::to_extend(value, before).expect("memory takes any value");
    }
}

/// Gives back what was kept, in the same order.
#[derive(Debug)]
pub struct StateReader<'a>(&'a [u8]);

impl<'a> StateReader<'a> {
    pub(super) fn new(state: &'a [u8]) -> Self {
        Self(state)
    }

    /// The number of partitions, with which a state begins.
    ///
    /// # Errors
    /// [`SimError::State`] if it is of another form.
    pub(super) fn partitions(&mut self) -> Result<usize, SimError> {
        let (form, partitions): (u32, usize) = self.take()?;
        if form == FORM { Ok(partitions) } else { Err(SimError::State) }
    }

    /// The next value.
    ///
    /// # Errors
    /// [`SimError::State`] if it can't be one.
    pub fn take<T: Deserialize<'a>>(&mut self) -> Result<T, SimError> {
        let (value, rest) = postcard::take_from_bytes(self.0).map_err(|_| SimError::State)?;
        self.0 = rest;
        Ok(value)
    }

    /// The next value, which takes the place of one that is as long.
    ///
    /// # Errors
    /// [`SimError::State`] if it is not.
    pub fn replace<T: Deserialize<'a>>(&mut self, old: &mut [T]) -> Result<(), SimError> {
        let new: Vec<T> = self.take()?;
        if new.len() != old.len() {
            return Err(SimError::State);
        }
        old.iter_mut().zip(new).for_each(|(old, new)| *old = new);
        Ok(())
    }

    /// Refuses what is left over.
    pub(super) fn end(self) -> Result<(), SimError> {
        if self.0.is_empty() { Ok(()) } else { Err(SimError::State) }
    }
}

/// The state of a run from those of its partitions.
pub(super) fn joined(parts: impl ExactSizeIterator<Item = Vec<u8>>) -> Vec<u8> {
    let mut state = StateWriter::default();
    state.put(&(FORM, parts.len()));
    parts.for_each(|part| state.0.extend(part));
    state.0
}

impl<C: Choice, P: Split, O: Observer> Network<'_, C, P, O> {
    /// This network's state. Every field is named: what is new must be kept, or be known not to need it.
    pub(super) fn saved(&mut self) -> Vec<u8> {
        let Self {
            // Given.
            fabric: _,
            config: _,
            space: _,
            here: _,
            partition: _,
            lookahead_ps: _,
            restless: _,
            ahead_ps: _,
            // Nothing between events and windows, or at the run's end only.
            observer: _,
            mail,
            behind,
            alert: _,
            desk: _,
            stopped: _,
            failed: _,
            failed_at: _,
            pairs: _, // a run that counts them keeps no state
            // Kept.
            choice,
            program,
            ports,
            packets,
            origins,
            outgoing,
            rests,
            incoming,
            numbers,
            heads,
            calendar,
            delayed,
            now,
            births,
            recorder,
            received,
            events,
            last,
        } = self;
        debug_assert!(behind.is_empty() && mail.iter().all(|mail| mail.packets.is_empty()));
        let mut to = StateWriter::default();
        to.put(&(now, received, events, last));
        to.put(&(ports, packets, origins, outgoing, rests, incoming, numbers));
        to.put(&(heads, delayed, births, recorder));
        to.put(&calendar.iter().collect::<Vec<Event>>());
        to.put(choice.streams());
        program.save(&mut to);
        to.0
    }

    /// Takes up a state, before the start and instead of it.
    pub(super) fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        (self.now, self.received, self.events, self.last) = from.take()?;
        let shape = |ports: &Ports| {
            (ports.lanes, ports.features, ports.port.len(), ports.lane.len(), ports.end.len())
        };
        let built = shape(&self.ports);
        (self.ports, self.packets, self.origins) = from.take()?;
        (self.outgoing, self.rests, self.incoming, self.numbers) = from.take()?;
        if shape(&self.ports) != built || self.numbers.len() != self.partition.count {
            return Err(SimError::State);
        }
        (self.heads, self.delayed, self.births, self.recorder) = from.take()?;
        if self.delayed.len() != self.fabric.host_count() {
            return Err(SimError::State);
        }
        for event in from.take::<Vec<Event>>()? {
            self.calendar.push(event);
        }
        from.replace(self.choice.streams())?;
        self.program.load(from)
    }
}
