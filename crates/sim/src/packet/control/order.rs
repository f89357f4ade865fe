//! The order of packets: which were overtaken, and what a receiver stores until those before have come.

use std::collections::BTreeMap;

use netloom_model::HostId;
use serde::{Deserialize, Serialize};

use crate::record::Reordering;

/// Numbers of packets, by flow: source, destination and service level.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Order {
    /// By source: packets sent, by destination and level.
    sent: Vec<BTreeMap<(u32, u8), u32>>,
    /// By packet: its number in its flow.
    numbers: Vec<u32>,
    /// By destination: what has come, by source and level.
    flows: Vec<BTreeMap<(u32, u8), Received>>,
    /// By destination: bytes stored.
    stored: Vec<u64>,
    totals: Reordering,
}

/// What has come of a flow.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Received {
    /// All before this number have come.
    next: u32,
    /// The number behind the highest that has come.
    highest: u32,
    /// Bytes of those that came too early.
    early: BTreeMap<u32, u16>,
}

impl Order {
    /// For so many hosts.
    pub fn new(hosts: usize) -> Self {
        Self {
            sent: vec![BTreeMap::new(); hosts],
            flows: std::iter::repeat_with(BTreeMap::new).take(hosts).collect(),
            stored: vec![0; hosts],
            ..Self::default()
        }
    }

    /// Hosts that it knows.
    pub fn hosts(&self) -> usize {
        self.sent.len()
    }

    /// A packet leaves its host.
    pub fn sends(&mut self, packet: u32, from: HostId, to: HostId, level: u8) {
        let sent = self.sent[from.index()].entry((to.0, level)).or_default();
        let packet = packet as usize;
        if packet >= self.numbers.len() {
            self.numbers.resize(packet + 1, 0);
        }
        self.numbers[packet] = *sent;
        *sent += 1;
    }

    /// A packet of `wire` bytes comes to its destination.
    pub fn receives(&mut self, packet: u32, from: HostId, to: HostId, level: u8, wire: u16) {
        let number = self.numbers[packet as usize];
        let flow = self.flows[to.index()].entry((from.0, level)).or_default();
        let stored = &mut self.stored[to.index()];
        self.totals.packets += 1;
        self.totals.out_of_order += u64::from(number < flow.highest);
        flow.highest = flow.highest.max(number + 1);
        if number != flow.next {
            flow.early.insert(number, wire);
            *stored += u64::from(wire);
            self.totals.most_bytes = self.totals.most_bytes.max(*stored);
            return;
        }
        flow.next += 1;
        while let Some(bytes) = flow.early.remove(&flow.next) {
            flow.next += 1;
            *stored -= u64::from(bytes);
        }
    }

    /// What was seen.
    pub fn totals(&self) -> Reordering {
        self.totals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_that_are_overtaken_are_counted_and_those_that_overtake_are_stored() {
        let mut order = Order::new(2);
        let (from, to) = (HostId(0), HostId(1));
        for packet in 0..5 {
            order.sends(packet, from, to, 0);
        }
        // Another level is a flow of its own.
        order.sends(9, from, to, 1);
        for packet in [0, 2, 3, 9, 1, 4] {
            order.receives(packet, from, to, u8::from(packet == 9), 100);
        }
        assert_eq!(order.totals(), Reordering { packets: 6, out_of_order: 1, most_bytes: 200 });
        assert_eq!(order.stored, [0, 0]);
    }
}
