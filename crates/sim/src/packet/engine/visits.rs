//! All that changes in a network, visited; see [`Visit`].
//!
//! Invariant: every field is named: what is new must be visited, or a run that uses it must not be skipped; see [`Network::unfit`].

use crate::calendar::{Calendar, Event};
use crate::observe::Observer;
use crate::packet::choice::Choice;
use crate::packet::host::Births;
use crate::packet::network::Network;
use crate::packet::pool::List;
use crate::program::Split;
use crate::repeats::Visit;

impl<C: Choice, P: Split, O: Observer> Network<'_, C, P, O> {
    /// Why nothing can be skipped in such a run, if so; draws may be others where it may be only `near`.
    pub(in crate::packet) fn unfit(&self, near: bool) -> Option<&'static str> {
        if O::LISTENS {
            Some("packets are watched")
        } else if C::DRAWS && !near || C::LOOKS || !C::LOCAL || C::STEERS || C::SNOOPS {
            Some("the routing can choose packet by packet")
        } else if self.ports.features.control {
            Some("there is a congestion control")
        } else if self.ports.features.responds {
            Some("packets are answered")
        } else if self.recorder.is_some() || self.pairs.is_some() {
            Some("something is recorded over time")
        } else {
            None
        }
    }

    /// Visits all that changes.
    pub(in crate::packet) fn visit(&mut self, visit: &mut Visit) {
        let Self {
            // Given.
            fabric,
            config,
            space: _,
            here: _,
            partition: _,
            lookahead_ps: _,
            restless: _,
            moves: _,
            ahead_ps: _,
            // Nothing between events, in one partition.
            mail: _,
            behind,
            alert: _,
            desk: _,
            stopped: _,
            paused: _,
            failed: _,
            failed_at: _,
            // Of runs that are not skipped: see `unfit`.
            observer: _,
            choice: _,
            heads: _,
            end_points: _,
            responses: _,
            recorder: _,
            pairs: _,
            // Visited.
            program,
            ports,
            packets,
            origins,
            hosts,
            calendar,
            now,
            received,
            detours,
            events,
            last,
        } = self;
        debug_assert!(behind.is_empty());
        let alone = program.is_alone();
        visit.are_fixed(alone);
        visit.count(received);
        visit.count(detours);
        visit.total(events);
        visit.time(last);
        program.visit(visit);
        visit.are_fixed(alone && !C::DRAWS);
        ports.visit(visit, packets, |visit, list| hosts.visit_list(visit, list));
        if visit.only_sums() {
            visit.are_fixed(alone);
            for latencies in hosts.births_mut().into_iter().flat_map(Births::latencies_mut) {
                visit.latencies(latencies);
            }
            return;
        }
        let lanes = ports.lanes;
        for host in 0..fabric.host_count() {
            let queues: Vec<List> =
                ports.lane[host * lanes..][..lanes].iter().map(|lane| lane.queue).collect();
            let longest_ps = ports.kind(host as u32).time_ps(config.wire_bytes() as u16);
            hosts.visit(visit, host, (&queues, longest_ps), program);
        }
        let (links, hosts_end) = {
            let links = fabric.link_count() as u32;
            (links, links + fabric.host_count() as u32)
        };
        let mut events: Vec<Event> = calendar.iter().collect();
        events.sort_unstable();
        visit.same(&events.len());
        for Event { time_ps, key, data } in &mut events {
            let is_timer = *key & 1 == 1 && (links..hosts_end).contains(&(*key >> 1));
            if is_timer && program.is_beginning(*data, *now) {
                visit.same(&(*key, *data));
                continue;
            }
            visit.time(time_ps);
            visit.same(key);
            match (*key >> 1, *key & 1 == 1) {
                (link, true) if link < links => visit.packet(*data),
                (host, false) if (links..hosts_end).contains(&host) => visit.message(*data),
                _ => visit.same(data),
            }
        }
        let mut done = 0;
        while let Some(&index) = visit.packets.met.get(done) {
            done += 1;
            let (packet, origin) = (packets.at(index), &mut origins[index as usize]);
            visit.same(&(packet.address, packet.via, packet.wire, packet.level(), packet.lane(), packet.way));
            visit.same(&(origin.through(), origin.mark));
            visit.record(origin.message);
            if let Some(births) = hosts.births_mut() {
                let mut born_ps = births.born_ps(index, origin.born());
                visit.time(&mut born_ps);
                origin.set_born(births.set_born(index, born_ps));
            }
        }
        hosts.visit_met(visit, program);
        if !visit.looks() {
            *now += visit.by_ps();
            let mut moved = Calendar::like(calendar);
            events.into_iter().for_each(|event| moved.push(event));
            *calendar = moved;
        }
    }
}
