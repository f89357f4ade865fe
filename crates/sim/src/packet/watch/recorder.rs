//! Takes samples of a network's counters and queues, between events, without touching them.
//!
//! Invariants: a sample at `t` is of what happened before `t`; samples depend on the state alone, so a run with them is the same
//! run. A partition records what its own ends of links do; parts are added up.

use netloom_model::{Fabric, LinkId};
use serde::{Deserialize, Serialize};

use crate::calendar::NEVER;
use crate::packet::hardware::Any;
use crate::packet::pool::{Packet, Pool};
use crate::packet::switch::Ports;
use crate::record::{
    IntervalRow, Intervals, LevelRow, MOST_ROWS, Measure, NO_QUEUE, PS_PER_TICK, QueueRow, Queues,
    queue_levels,
};

/// What is recorded of a (part of a) network.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Recorder {
    counters: Option<CounterSamples>,
    queues: Option<QueueSamples>,
}

#[derive(Debug, Serialize, Deserialize)]
struct CounterSamples {
    next_ps: u64,
    done: Intervals,
    /// What had been carried at the last sample: `[link * stride + lane]`, with several lanes the whole link last.
    before: Vec<IntervalRow>,
    /// Bytes and packets received so far, `[link * lanes + lane]`.
    received: Vec<(u64, u64)>,
    /// Nothing had changed at the last sample, and no link lacked room.
    quiet: bool,
}

#[derive(Debug, Serialize, Deserialize)]
struct QueueSamples {
    next_ps: u64,
    done: Queues,
    level_of: Vec<u8>,
    /// Of the sample being taken, by level: sum and longest.
    sums: Vec<(u64, u32)>,
    quiet: bool,
}

impl Recorder {
    /// For what is asked for; `None` if that is nothing.
    pub fn new(fabric: &Fabric, lanes: usize, measure: &Measure) -> Option<Box<Self>> {
        let counters = measure.counters_every_ps.map(|every_ps| CounterSamples {
            next_ps: every_ps,
            done: Intervals { every_ps, end_ps: 0, lanes, rows: Vec::new() },
            before: fabric.links().flat_map(|link| slots(link, lanes)).collect(),
            received: vec![(0, 0); fabric.link_count() * lanes],
            quiet: false,
        });
        let queues = measure.queues_every_ps.map(|every_ps| {
            let (level_of, levels) = queue_levels(fabric);
            let sums = vec![(0, 0); levels.len()];
            let (by_level, queues) = (Vec::new(), Vec::new());
            let done = Queues { every_ps, longest: measure.longest_queues, levels, by_level, queues };
            QueueSamples { next_ps: every_ps, done, level_of, sums, quiet: false }
        });
        (counters.is_some() || queues.is_some()).then(|| Box::new(Self { counters, queues }))
    }

    /// When the next sample is due, ps.
    pub fn next_ps(&self) -> u64 {
        let counters = self.counters.as_ref().map_or(NEVER, |c| c.next_ps);
        self.queues.as_ref().map_or(NEVER, |q| q.next_ps).min(counters)
    }

    /// How many rows were written down.
    pub fn rows(&self) -> usize {
        let counters = self.counters.as_ref().map_or(0, |c| c.done.rows.len());
        let queues = self.queues.as_ref().map_or(0, |q| q.done.by_level.len() + q.done.queues.len());
        counters + queues
    }

    /// When counters were sampled last, ps.
    pub fn sampled_ps(&self) -> u64 {
        self.counters.as_ref().map_or(0, |c| c.next_ps - c.done.every_ps)
    }

    /// A packet has come to the far end of a link.
    #[inline]
    pub fn received(&mut self, link: u32, lane: u8, lanes: usize, wire: u16) {
        if let Some(counters) = &mut self.counters {
            let (bytes, packets) = &mut counters.received[link as usize * lanes + usize::from(lane)];
            *bytes += u64::from(wire);
            *packets += 1;
        }
    }

    /// Takes the samples that are due at [`Recorder::next_ps`]; the last event was at `last_ps`.
    pub fn sample(&mut self, ports: &Ports, packets: &Pool<Packet>, last_ps: u64) {
        let at = self.next_ps();
        if let Some(counters) = self.counters.as_mut().filter(|c| c.next_ps == at) {
            counters.sample(ports, last_ps);
        }
        if let Some(queues) = self.queues.as_mut().filter(|q| q.next_ps == at) {
            queues.sample(ports, packets, last_ps);
        }
    }

    /// Leaves out the samples up to `next_ps`, when something happens again, of what is silent since `last_ps`: they would hold nothing.
    pub fn skip(&mut self, next_ps: u64, last_ps: u64) {
        if let Some(counters) = &mut self.counters {
            skip(&mut counters.next_ps, counters.done.every_ps, counters.quiet, next_ps, last_ps);
        }
        if let Some(queues) = &mut self.queues {
            skip(&mut queues.next_ps, queues.done.every_ps, queues.quiet, next_ps, last_ps);
        }
    }

    /// The run ends.
    pub fn finish(
        mut self,
        ports: &Ports,
        packets: &Pool<Packet>,
        end_ps: u64,
        last_ps: u64,
    ) -> (Option<Intervals>, Option<Queues>) {
        while self.next_ps() <= end_ps && self.rows() <= MOST_ROWS {
            self.sample(ports, packets, last_ps);
            self.skip(end_ps, last_ps);
        }
        let intervals = self.counters.map(|mut counters| {
            counters.done.end_ps = end_ps;
            counters.take(ports, end_ps);
            counters.done
        });
        (intervals, self.queues.map(|queues| queues.done))
    }
}

/// Goes to the first sample after `until_ps`, if the last one was quiet and nothing has happened since.
fn skip(sample_ps: &mut u64, every_ps: u64, quiet: bool, until_ps: u64, last_ps: u64) {
    if quiet && last_ps < *sample_ps - every_ps && *sample_ps <= until_ps {
        *sample_ps += ((until_ps - *sample_ps) / every_ps + 1) * every_ps;
    }
}

/// Rows of a link, all 0.
fn slots(link: LinkId, lanes: usize) -> impl Iterator<Item = IntervalRow> {
    let whole = (lanes > 1).then(|| IntervalRow::new(0, link, None));
    (0..lanes).map(move |lane| IntervalRow::new(0, link, Some(lane as u8))).chain(whole)
}

impl CounterSamples {
    fn sample(&mut self, ports: &Ports, last_ps: u64) {
        let start_ps = self.next_ps - self.done.every_ps;
        // In a silent network nothing changes until something happens.
        if !self.quiet || last_ps >= start_ps {
            self.quiet = !self.take(ports, self.next_ps);
        }
        self.next_ps += self.done.every_ps;
    }

    /// Writes down what has changed by `now`; whether anything has, or will though nothing happens: a link that lacks room waits as soon as it
    /// has sent what it sends.
    fn take(&mut self, ports: &Ports, now: u64) -> bool {
        let interval = ((self.next_ps - self.done.every_ps) / self.done.every_ps) as u32;
        let (lanes, rows) = (ports.lanes, self.done.rows.len());
        let stride = if lanes == 1 { 1 } else { lanes + 1 };
        let mut waits = false;
        let mut carried = ports.carried();
        for (link, before) in self.before.chunks_mut(stride).enumerate() {
            let free_at = ports.free_at::<Any>(link as u32);
            waits |= ports.waits.is_on(link);
            let mut whole = IntervalRow::new(interval, LinkId(link as u32), None);
            for (lane, before) in before[..lanes].iter_mut().enumerate() {
                let at = link * lanes + lane;
                let (rcv_bytes, rcv_packets) = self.received[at];
                let carried = carried.next().expect("every lane has carried something or nothing");
                let row = IntervalRow {
                    interval,
                    xmit_bytes: carried.bytes,
                    rcv_bytes,
                    xmit_packets: carried.packets,
                    rcv_packets,
                    wait_ps: whole_ns(ports.waits.lane_ps(link, lane, free_at, now)),
                    ..*before
                };
                whole.add(&row);
                push(&mut self.done.rows, before, row);
            }
            if let Some(before) = before.get_mut(lanes) {
                whole.wait_ps = whole_ns(ports.waits.link_ps(link, free_at, now));
                push(&mut self.done.rows, before, whole);
            }
        }
        waits || self.done.rows.len() > rows
    }
}

/// The whole nanoseconds of a time, ps.
fn whole_ns(ps: u64) -> u64 {
    ps - ps % PS_PER_TICK
}

fn push(rows: &mut Vec<IntervalRow>, before: &mut IntervalRow, row: IntervalRow) {
    let change = row.since(before);
    *before = row;
    if !change.is_zero() {
        rows.push(change);
    }
}

impl QueueSamples {
    fn sample(&mut self, ports: &Ports, packets: &Pool<Packet>, last_ps: u64) {
        let (every_ps, at) = (self.done.every_ps, self.next_ps);
        self.next_ps += every_ps;
        // In a silent network nothing changes until something happens.
        if self.quiet && last_ps < at - every_ps {
            return;
        }
        let sample = (at / every_ps - 1) as u32;
        let first = self.done.queues.len();
        self.sums.fill((0, 0));
        for (link, &level) in self.level_of.iter().enumerate().filter(|&(_, &level)| level != NO_QUEUE) {
            let bytes = ports.backlog(link as u32, at, packets);
            if bytes > 0 {
                let (sum, longest) = &mut self.sums[usize::from(level)];
                (*sum, *longest) = (*sum + u64::from(bytes), (*longest).max(bytes));
                self.done.queues.push(QueueRow { sample, link: LinkId(link as u32), bytes });
            }
        }
        self.quiet = self.done.queues.len() == first;
        self.done.keep_longest(first);
        for (level, &(sum_bytes, max_bytes)) in self.sums.iter().enumerate().filter(|(_, sum)| sum.0 > 0) {
            self.done.by_level.push(LevelRow { sample, level: level as u8, sum_bytes, max_bytes });
        }
    }
}
