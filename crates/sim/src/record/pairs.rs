//! What hosts sent each other: the truth that counters are the shadow of.
//!
//! A packet counts, with its headers, in the interval in which it is received. Every receiver is in one partition, so parts have no rows in
//! common.

use std::collections::HashMap;

/// What a host sent to another in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PairRow {
    /// The interval, counted from 0.
    pub interval: u32,
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Bytes, headers included.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

/// Counts every packet.
#[derive(Debug)]
pub(crate) struct PairCounter {
    every_ps: u64,
    interval: u32,
    /// Of this interval: bytes and packets by sender and receiver.
    here: HashMap<(u32, u32), (u64, u64)>,
    rows: Vec<PairRow>,
}

impl PairCounter {
    /// In intervals of so many ps; `None`: the run is one.
    pub fn new(every_ps: Option<u64>) -> Self {
        Self { every_ps: every_ps.unwrap_or(u64::MAX), interval: 0, here: HashMap::new(), rows: Vec::new() }
    }

    /// A packet is there.
    pub fn received(&mut self, from: u32, to: u32, wire: u16, now: u64) {
        let interval = (now / self.every_ps) as u32;
        if interval != self.interval {
            self.flush();
            self.interval = interval;
        }
        let (bytes, packets) = self.here.entry((from, to)).or_default();
        *bytes += u64::from(wire);
        *packets += 1;
    }

    /// What there was, in order of interval, sender and receiver.
    pub fn finish(mut self) -> Vec<PairRow> {
        self.flush();
        self.rows.sort_unstable();
        self.rows
    }

    fn flush(&mut self) {
        let interval = self.interval;
        let row = |((from, to), (bytes, packets))| PairRow { interval, from, to, bytes, packets };
        self.rows.extend(self.here.drain().map(row));
    }
}
