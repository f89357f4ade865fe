//! The state of a run, so that another run can go on from there: what is kept of a network, and in which form.
//!
//! Kept is what happens: packets, messages, room, events to come, counters and samples, how far programs are. What a run
//! is given is not: whoever takes a state up gives the same fabric, hardware, scheme and program again, and vouches for that.
//!
//! Invariants: a state is taken between events, with several partitions between windows, when no mail is under way; a run that goes on
//! from one shows all that it would have shown without.

use crate::SimError;
use crate::calendar::Event;
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::network::Network;
use crate::packet::switch::Ports;
use crate::program::Split;
use crate::state_codec::{StateReader, StateWriter};

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

impl<C: Choice, P: Split, O: Observer> Network<'_, C, P, O> {
    /// This network's state. Every field is named: what is new must be kept, or be known not to need it.
    pub(in crate::packet) fn saved(&mut self) -> Vec<u8> {
        let Self {
            // Given.
            fabric: _,
            config: _,
            space: _,
            here: _,
            partition: _,
            lookahead_ps: _,
            restless: _,
            moves: _,
            ahead_ps: _,
            // Nothing between events and windows, or at the run's end only.
            observer: _,
            mail,
            behind,
            alert: _,
            desk: _,
            stopped: _,
            paused: _,
            failed: _,
            failed_at: _,
            pairs: _, // a run that counts them keeps no state
            // Kept.
            choice,
            program,
            ports,
            packets,
            origins,
            hosts,
            heads,
            calendar,
            now,
            end_points,
            responses,
            recorder,
            received,
            detours,
            events,
            last,
        } = self;
        debug_assert!(behind.is_empty() && mail.iter().all(|mail| mail.packets.is_empty()));
        let mut to = StateWriter::default();
        to.put(&(now, received, detours, events, last));
        to.put(&(ports, packets, origins, hosts));
        to.put(&(heads, recorder, responses));
        to.put(&calendar.iter().collect::<Vec<Event>>());
        if let Some(end_points) = end_points {
            end_points.save(&mut to);
        }
        choice.save(&mut to);
        program.save(&mut to);
        to.bytes()
    }

    /// Takes up a state, before the start and instead of it.
    pub(in crate::packet) fn load(&mut self, from: &mut StateReader) -> Result<(), SimError> {
        (self.now, self.received, self.detours, self.events, self.last) = from.take()?;
        let shape = |ports: &Ports| {
            (
                ports.lanes,
                ports.features,
                ports.port.len(),
                ports.lane.len(),
                ports.inputs.shape(),
                ports.queues.outputs(),
                ports.waiting_bytes.len(),
            )
        };
        let built = shape(&self.ports);
        (self.ports, self.packets, self.origins) = from.take()?;
        self.hosts = from.take()?;
        if shape(&self.ports) != built || !self.hosts.are_of(self.fabric.host_count(), self.partition.count) {
            return Err(SimError::State);
        }
        let adapters = |network: &Self| network.responses.as_ref().map(|responses| responses.adapters());
        let had = adapters(self);
        (self.heads, self.recorder, self.responses) = from.take()?;
        if adapters(self) != had {
            return Err(SimError::State);
        }
        for event in from.take::<Vec<Event>>()? {
            self.calendar.push(event);
        }
        if let Some(end_points) = &mut self.end_points {
            end_points.load(from)?;
        }
        self.choice.load(from)?;
        self.program.load(from)
    }
}
