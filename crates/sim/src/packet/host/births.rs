//! From when to when a packet's latency counts.
//!
//! A message's packets are created at its host's adapter at the speed of its link, as long as fewer than a buffer towards a host
//! holds have not left; a packet's latency runs from there until it is received. So it has queueing in the adapter in it, and not the
//! time that the rest of its message takes to leave. Source: the chunk latency of Taffet's dissertation, sec. 5.2, as its
//! simulator counts it.
//!
//! The engine creates packets as they leave; when they would have been created follows from the times of those before.

use netloom_model::HostId;
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::record::Latencies;
use crate::repeats::Visit;

/// Packets carry the time of their creation in units of `2^UNIT` ps, in 40 bits: as far as time goes.
const UNIT: u32 = 8;

/// Latencies of packets, and what they are derived from.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Births {
    /// Packets that a host has created and not sent.
    ready: usize,
    /// For every host and lane: the last creation, which of the times to come is the oldest, the last `ready` times of leaving.
    rows: Vec<u64>,
    /// By job.
    latencies: Vec<Latencies>,
    /// Of jobs whose load is measured, by job: from when to when, and the bytes received then, headers included. Empty if there is none.
    windows: Vec<(u64, u64, u64)>,
    /// The same bytes by the host that sent them.
    from: Vec<u64>,
    /// What units leave out, where a run is looked through for repeats.
    #[serde(skip)]
    rest: Option<Box<Rests>>,
}

/// What units of `2^UNIT` ps leave out of the times of packets: latencies in units depend on it, and it differs from iteration to iteration.
#[derive(Debug, Default)]
struct Rests {
    /// Of the packet that left last, and of all, by number.
    last: u8,
    of: Vec<u8>,
    /// Job, latency in ps and rest of the packets received since the last look, if somebody asked for them.
    received: Option<Vec<(u32, u64, u8)>>,
}

impl Births {
    /// For so many lanes of hosts, and jobs of which some are measured from some time to another, ps.
    pub fn new(config: &Config, hosts: usize, host_lanes: usize, measured: &[Option<(u64, u64)>]) -> Self {
        let ready = (config.host_output_buffer_bytes / config.wire_bytes()).max(1) as usize;
        let latencies = vec![Latencies::default(); measured.len()];
        let window = |window: &Option<(u64, u64)>| window.map_or((0, 0, 0), |(from, to)| (from, to, 0));
        let windows = match measured.iter().any(Option::is_some) {
            true => measured.iter().map(window).collect(),
            false => Vec::new(),
        };
        let from = vec![0; if windows.is_empty() { 0 } else { hosts }];
        Self { ready, rows: vec![0; host_lanes * (ready + 2)], latencies, windows, from, rest: None }
    }

    /// When the packet that leaves lane `at` now was created, for [`Births::received`]; its message was there from `posted_ps` on.
    #[inline]
    pub fn leaves(&mut self, at: usize, posted_ps: u64, wire_ps: u64, now: u64) -> u64 {
        let row = &mut self.rows[at * (self.ready + 2)..][..self.ready + 2];
        let oldest = row[1] as usize;
        let born = posted_ps.max(row[0] + wire_ps).max(row[2 + oldest]).min(now);
        row[0] = born;
        row[2 + oldest] = now;
        row[1] = if oldest + 1 == self.ready { 0 } else { oldest as u64 + 1 };
        if let Some(rest) = &mut self.rest {
            rest.last = born as u8;
        }
        born >> UNIT
    }

    /// Packets that one found in its adapter, of which [`Births::leaves`] has just told when it was created; itself has just left.
    #[inline]
    pub fn found(&self, at: usize, born: u64) -> u32 {
        let row = &self.rows[at * (self.ready + 2)..][..self.ready + 2];
        let (oldest, left) = (row[1] as usize, &row[2..]);
        let after = |at: usize| left[at] >> UNIT > born;
        // Mostly all of them have left later, or hardly any.
        let mut count = 0;
        if after(oldest) {
            count = left.len();
        } else {
            let mut at = oldest;
            loop {
                at = if at == 0 { left.len() } else { at } - 1;
                if !after(at) {
                    break;
                }
                count += 1;
            }
        }
        // Itself left after it was created, too, unless it did so at once.
        count.saturating_sub(1) as u32
    }

    /// A packet of a job's message is there.
    #[inline]
    pub fn received(&mut self, job: usize, index: u32, from: HostId, born: u64, wire: u16, now: u64) {
        if let Some(rest) = &mut self.rest {
            rest.is_received(job, index, born, now);
        }
        self.latencies[job].record(((now >> UNIT) - born) << UNIT);
        if let Some((from_ps, to_ps, bytes)) = self.windows.get_mut(job)
            && (*from_ps..*to_ps).contains(&now)
        {
            *bytes += u64::from(wire);
            self.from[from.index()] += u64::from(wire);
        }
    }

    /// The packet that left last has a number.
    #[inline]
    pub fn is_numbered(&mut self, index: u32) {
        if let Some(rest) = &mut self.rest {
            rest.is_numbered(index);
        }
    }

    /// Keeps what units leave out; before the start.
    pub fn keep_rests(&mut self) {
        self.rest = Some(Box::default());
    }

    /// Writes down what is received from now on, or stops to and forgets it.
    pub fn write_down(&mut self, wanted: bool) {
        if let Some(rest) = &mut self.rest {
            rest.received = wanted.then(Vec::new);
        }
    }

    /// Whether all that was received since then is written down.
    pub fn is_written_down(&self) -> bool {
        self.rest
            .as_ref()
            .is_some_and(|rest| rest.received.as_ref().is_some_and(|it| it.len() < MOST_RECEIVED))
    }

    /// When a packet was created, ps, of which `born` is known.
    pub fn born_ps(&self, index: u32, born: u64) -> u64 {
        born << UNIT | self.rest.as_ref().map_or(0, |rest| u64::from(rest.of[index as usize]))
    }

    /// A packet was created at another time: what it has to carry.
    pub fn set_born(&mut self, index: u32, born_ps: u64) -> u64 {
        if let Some(rest) = &mut self.rest {
            rest.of[index as usize] = born_ps as u8;
        }
        born_ps >> UNIT
    }

    /// The packets that were written down come `times` times more, each time so much later.
    pub fn repeat(&mut self, times: u64, every_ps: u64) {
        let Some(received) = self.rest.as_mut().and_then(|rest| rest.received.take()) else { return };
        let mut shifts = [0u64; 1 << UNIT];
        (1..=times).for_each(|time| shifts[time.wrapping_mul(every_ps) as usize % (1 << UNIT)] += 1);
        for (shift, &count) in (0..).zip(&shifts).filter(|(_, count)| **count > 0) {
            for &(job, latency_ps, rest) in &received {
                let rest = (u64::from(rest) + shift) % (1 << UNIT);
                self.latencies[job as usize].record_many((rest + latency_ps) >> UNIT << UNIT, count);
            }
        }
    }

    /// What a lane of a host remembers, where no message that will leave was there before `since_ps`. Its own times count only if they are later.
    pub fn visit(&mut self, visit: &mut Visit, at: usize, since_ps: u64, longest_ps: u64) {
        let row = &mut self.rows[at * (self.ready + 2)..][..self.ready + 2];
        let oldest = row[1] as usize;
        visit.after(&mut row[0], since_ps.saturating_sub(longest_ps));
        for k in 0..self.ready {
            visit.after(&mut row[2 + (oldest + k) % self.ready], since_ps);
        }
    }

    /// By job, to add what was not simulated.
    pub fn latencies_mut(&mut self) -> &mut [Latencies] {
        &mut self.latencies
    }

    /// By job.
    pub fn latencies(&self) -> &[Latencies] {
        &self.latencies
    }

    /// Bytes received, headers included, of each job while it was measured; empty if none was.
    pub fn accepted(&self) -> impl Iterator<Item = u64> {
        self.windows.iter().map(|&(.., bytes)| bytes)
    }

    /// The same by the host that sent them.
    pub fn accepted_from(&self) -> &[u64] {
        &self.from
    }
}

/// Most packets that are written down: a longer stretch is simulated.
const MOST_RECEIVED: usize = 1 << 23;

impl Rests {
    fn is_numbered(&mut self, index: u32) {
        let at = index as usize;
        if at >= self.of.len() {
            self.of.resize(at + 1, 0);
        }
        self.of[at] = self.last;
    }

    fn is_received(&mut self, job: usize, index: u32, born: u64, now: u64) {
        let rest = self.of[index as usize];
        if let Some(received) = &mut self.received
            && received.len() < MOST_RECEIVED
        {
            received.push((job as u32, now - (born << UNIT | u64::from(rest)), rest));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets of 4096 bytes take 100 units; two of them fit the adapter's queue.
    fn births() -> Births {
        let config = Config { host_output_buffer_bytes: 2 * 4096, ..Config::codes() };
        Births::new(&config, 1, 1, &[Some((0, 1_000 << UNIT))])
    }

    const WIRE: u64 = 100 << UNIT;

    #[test]
    fn packets_are_created_at_the_links_speed_while_few_have_not_left() {
        let mut births = births();
        let mut born = |now: u64| births.leaves(0, 0, WIRE, now << UNIT);
        // The first ones leave as they are created; the fifth is held up: it was ready when the third left.
        assert_eq!([born(0), born(100), born(200), born(300)], [0, 100, 200, 300]);
        assert_eq!(born(1_000), 400);
        assert_eq!([born(1_100), born(1_200)], [500, 1_000]);
    }

    #[test]
    fn a_later_message_counts_from_its_posting() {
        let mut births = births();
        births.leaves(0, 0, WIRE, 0);
        let born = births.leaves(0, 700 << UNIT, WIRE, 900 << UNIT);
        births.received(0, 0, HostId(0), born, 4096, 1_000 << UNIT);
        births.received(0, 0, HostId(0), born, 100, 999 << UNIT);
        assert_eq!(births.accepted().collect::<Vec<_>>(), [100], "the window is over at its end");
        assert_eq!(births.latencies()[0].summary().max_ps, 300 << UNIT);
    }
}
