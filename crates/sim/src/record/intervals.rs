//! Counters of all links by interval of simulated time.
//!
//! Invariants: rows are in order of interval, link and lane (the whole link last), and none is all 0; over all intervals they sum to the run's
//! [`LinkCounters`](crate::LinkCounters), waiting to whole ticks.

use netloom_model::{Column, Counters, Fabric, Interval, LinkId, Quantity};
use serde::{Deserialize, Serialize};

/// A tick of waiting: a nanosecond.
pub(crate) const PS_PER_TICK: u64 = 1000;

/// What a lane of a link (or all its lanes) carried in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalRow {
    /// The interval, counted from 0.
    pub interval: u32,
    /// The link.
    pub link: LinkId,
    /// The lane; `None`: the whole link.
    pub lane: Option<u8>,
    /// Bytes that the sending end put on the wire, headers included.
    pub xmit_bytes: u64,
    /// Bytes of packets that came to the far end: with cut-through their heads, else their tails.
    pub rcv_bytes: u64,
    /// Packets sent.
    pub xmit_packets: u64,
    /// Packets that came.
    pub rcv_packets: u64,
    /// Time in which the link sent nothing and this lane (any of its lanes) could not for lack of room at the far end, ps: whole
    /// ticks, what is left over counts in the next interval.
    pub wait_ps: u64,
}

impl IntervalRow {
    /// A row of nothing.
    pub(crate) fn new(interval: u32, link: LinkId, lane: Option<u8>) -> Self {
        Self {
            interval,
            link,
            lane,
            xmit_bytes: 0,
            rcv_bytes: 0,
            xmit_packets: 0,
            rcv_packets: 0,
            wait_ps: 0,
        }
    }

    /// A quantity.
    pub fn get(&self, quantity: Quantity) -> u64 {
        match quantity {
            Quantity::XmitBytes => self.xmit_bytes,
            Quantity::RcvBytes => self.rcv_bytes,
            Quantity::XmitPackets => self.xmit_packets,
            Quantity::RcvPackets => self.rcv_packets,
            Quantity::WaitTicks => self.wait_ps / PS_PER_TICK,
        }
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.xmit_bytes += other.xmit_bytes;
        self.rcv_bytes += other.rcv_bytes;
        self.xmit_packets += other.xmit_packets;
        self.rcv_packets += other.rcv_packets;
        self.wait_ps += other.wait_ps;
    }

    /// `self - before`.
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            xmit_bytes: self.xmit_bytes - before.xmit_bytes,
            rcv_bytes: self.rcv_bytes - before.rcv_bytes,
            xmit_packets: self.xmit_packets - before.xmit_packets,
            rcv_packets: self.rcv_packets - before.rcv_packets,
            wait_ps: self.wait_ps - before.wait_ps,
            ..*self
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        Quantity::ALL.iter().all(|&quantity| self.get(quantity) == 0)
    }
}

/// Counters by interval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intervals {
    /// Length of an interval, ps; the last may be shorter.
    pub every_ps: u64,
    /// End of the last one, ps.
    pub end_ps: u64,
    /// Lanes a link. With one lane its rows are the link's; with several, rows of the whole link are there as well.
    pub lanes: usize,
    /// What was carried.
    pub rows: Vec<IntervalRow>,
}

impl Intervals {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.end_ps.div_ceil(self.every_ps)
    }

    /// Start and end of an interval, ps.
    pub fn span_ps(&self, interval: u32) -> (u64, u64) {
        let start = u64::from(interval) * self.every_ps;
        (start, (start + self.every_ps).min(self.end_ps))
    }

    /// As real fabrics give them; a tick is a nanosecond, a time that is no whole number of ns is rounded up.
    pub fn counters(&self, fabric: &Fabric) -> Counters {
        let mut counters = Counters::new(fabric, Some(PS_PER_TICK));
        let mut rows = self.rows.as_slice();
        for interval in 0..self.count() as u32 {
            let (start_ps, end_ps) = self.span_ps(interval);
            let here;
            (here, rows) = rows.split_at(rows.partition_point(|row| row.interval <= interval));
            let lanes = if self.lanes == 1 { 0 } else { self.lanes as u8 };
            let columns = std::iter::once(None).chain((0..lanes).map(Some)).flat_map(|lane| {
                Quantity::ALL.map(|quantity| {
                    let mut values = vec![0; fabric.link_count()];
                    for row in here.iter().filter(|row| row.lane == lane || self.lanes == 1) {
                        values[row.link.index()] = row.get(quantity);
                    }
                    Column::good(quantity, lane, values)
                })
            });
            let (start_ns, end_ns) = (start_ps.div_ceil(1000), end_ps.div_ceil(1000));
            let interval = Interval { start_ns, end_ns, routes: 0, columns: columns.collect() };
            counters.push(interval).expect("intervals are in order, columns are as long as the fabric");
        }
        counters
    }

    /// Adds what another part of the network carried.
    pub(crate) fn merge(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.rows.sort_by_key(|row| (row.interval, row.link, row.lane.map_or(u8::MAX, |lane| lane)));
        self.rows.dedup_by(|row, kept| {
            let same = (row.interval, row.link, row.lane) == (kept.interval, kept.link, kept.lane);
            if same {
                kept.add(row);
            }
            same
        });
    }
}
