//! Responses: every packet is answered with one, and an adapter has no more packets under way than its window.
//!
//! What adapters count is here: flits, stalls, packets and their latencies, by host and by message. All hosts are in one partition.
//!
//! Invariants: a packet of data is answered once; a message's flight ends with its last response.

use netloom_model::HostId;
use serde::{Deserialize, Serialize};

use crate::calendar::NEVER;
use crate::config::FLIT_BYTES;
use crate::packet::pool::{Linked, NONE, Pool};
use crate::record::{AdapterCounters, Transmission};

/// Which message a packet or a response is of, and when the packet left.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Ticket {
    flight: u32,
    sent_ps: u64,
}

/// A message that has left in part and is not answered as a whole.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Flight<T> {
    next: u32,
    token: T,
    /// Packets without a response.
    open: u32,
    /// All of it has left.
    whole: bool,
    /// When its first packet was ready to leave, and when its last byte came.
    ready_ps: u64,
    came_ps: u64,
    counters: AdapterCounters,
}

impl<T> Linked for Flight<T> {
    fn next(&self) -> u32 {
        self.next
    }
    fn set_next(&mut self, next: u32) {
        self.next = next;
    }
}

/// An adapter.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Adapter {
    /// Packets without a response.
    open: u32,
    /// Since when a packet is ready and has no room; [`NEVER`]: none is.
    stalled_since_ps: u64,
    counters: AdapterCounters,
}

/// All adapters, and what of their messages is under way.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Responses<T> {
    window: u32,
    adapters: Vec<Adapter>,
    flights: Pool<Flight<T>>,
    /// By the slot of a message in its adapter, and by packet.
    of_message: Vec<Ticket>,
    of_packet: Vec<Ticket>,
    /// Responses received.
    received: u64,
}

const NO_TICKET: Ticket = Ticket { flight: NONE, sent_ps: 0 };

fn put(tickets: &mut Vec<Ticket>, at: u32, ticket: Ticket) {
    if at as usize >= tickets.len() {
        tickets.resize(at as usize + 1, NO_TICKET);
    }
    tickets[at as usize] = ticket;
}

impl<T: Copy> Responses<T> {
    /// Of adapters with a window, by the time of a flit on their links, ps.
    pub fn new(window: u32, cycles_ps: impl Iterator<Item = u64>) -> Self {
        let adapter = |cycle_ps| Adapter {
            open: 0,
            stalled_since_ps: NEVER,
            counters: AdapterCounters { cycle_ps, ..AdapterCounters::default() },
        };
        Self {
            window,
            adapters: cycles_ps.map(adapter).collect(),
            flights: Pool::new(),
            of_message: Vec::new(),
            of_packet: Vec::new(),
            received: 0,
        }
    }

    /// How many adapters there are.
    pub fn adapters(&self) -> usize {
        self.adapters.len()
    }

    /// Responses received.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// What adapters have counted, by host.
    pub fn counters(&self) -> impl Iterator<Item = AdapterCounters> {
        self.adapters.iter().map(|adapter| adapter.counters)
    }

    /// Whether a host may send no more packets.
    #[inline]
    pub fn is_full(&self, host: u32) -> bool {
        self.adapters[host as usize].open >= self.window
    }

    /// A host's adapter has a message, in a slot.
    pub fn begins(&mut self, host: u32, slot: u32, token: T) {
        let counters = AdapterCounters {
            cycle_ps: self.adapters[host as usize].counters.cycle_ps,
            ..Default::default()
        };
        let flight =
            Flight { next: NONE, token, open: 0, whole: false, ready_ps: NEVER, came_ps: 0, counters };
        let flight = self.flights.take(flight);
        put(&mut self.of_message, slot, Ticket { flight, sent_ps: 0 });
    }

    /// A host has a packet ready that has no room.
    pub fn stalls(&mut self, host: u32, since_ps: u64) {
        let since = &mut self.adapters[host as usize].stalled_since_ps;
        *since = (*since).min(since_ps);
    }

    /// A packet of the message in a slot leaves.
    pub fn sends(&mut self, host: u32, slot: u32, index: u32, wire: u16, is_last: bool, now: u64) {
        let flight = self.of_message[slot as usize].flight;
        put(&mut self.of_packet, index, Ticket { flight, sent_ps: now });
        let adapter = &mut self.adapters[host as usize];
        let since_ps = std::mem::replace(&mut adapter.stalled_since_ps, NEVER);
        let stalled_ps = now.saturating_sub(since_ps);
        adapter.open += 1;
        let flits = u64::from(wire.div_ceil(FLIT_BYTES));
        let flight = self.flights.at(flight);
        for counters in [&mut adapter.counters, &mut flight.counters] {
            counters.flits += flits;
            counters.stalled_ps += stalled_ps;
        }
        flight.ready_ps = flight.ready_ps.min(now - stalled_ps);
        flight.open += 1;
        flight.whole = is_last;
    }

    /// The response in a slot leaves.
    pub fn sends_response(&mut self, slot: u32, index: u32) {
        let ticket = self.of_message[slot as usize];
        put(&mut self.of_packet, index, ticket);
    }

    /// A packet has come, as the last of its message or not: what its response carries.
    pub fn comes(&mut self, index: u32, is_last: bool, now: u64) -> Ticket {
        let ticket = self.of_packet[index as usize];
        if is_last {
            self.flights.at(ticket.flight).came_ps = now;
        }
        ticket
    }

    /// A response is ready in a slot.
    pub fn answers(&mut self, slot: u32, ticket: Ticket) {
        put(&mut self.of_message, slot, ticket);
    }

    /// A response has come to a host; the message that it was the last of.
    pub fn is_answered(&mut self, host: HostId, index: u32, now: u64) -> Option<(T, Transmission)> {
        self.received += 1;
        let Ticket { flight: number, sent_ps } = self.of_packet[index as usize];
        let adapter = &mut self.adapters[host.index()];
        adapter.open -= 1;
        let flight = self.flights.at(number);
        for counters in [&mut adapter.counters, &mut flight.counters] {
            counters.packets += 1;
            counters.latency_ps += now - sent_ps;
        }
        flight.open -= 1;
        if flight.open > 0 || !flight.whole {
            return None;
        }
        let Flight { token, came_ps, ready_ps, counters, .. } = *flight;
        self.flights.free(number);
        let (network_ps, answered_ps) = (came_ps - ready_ps, now - ready_ps);
        Some((token, Transmission { counters, network_ps, answered_ps }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flits_stalls_and_latencies_are_counted_by_host_and_message() {
        let mut responses = Responses::new(2, [1_280, 1_280].into_iter());
        responses.begins(1, 4, "a");
        responses.stalls(1, 100);
        responses.stalls(1, 300); // it goes on
        responses.sends(1, 4, 7, 80, false, 1_000);
        responses.sends(1, 4, 8, 20, true, 2_000);
        assert!(responses.is_full(1) && !responses.is_full(0));
        for (index, now) in [(7, 5_000), (8, 6_000)] {
            let ticket = responses.comes(index, index == 8, now);
            responses.answers(9, ticket);
            responses.sends_response(9, index);
        }
        assert_eq!(responses.is_answered(HostId(1), 7, 9_000), None);
        let (token, transmission) = responses.is_answered(HostId(1), 8, 9_500).unwrap();
        let counters =
            AdapterCounters { flits: 7, stalled_ps: 900, packets: 2, latency_ps: 15_500, cycle_ps: 1_280 };
        assert_eq!(
            (token, transmission),
            ("a", Transmission { counters, network_ps: 5_900, answered_ps: 9_400 })
        );
        assert_eq!(responses.counters().nth(1), Some(counters));
        assert!(!responses.is_full(1));
    }
}
