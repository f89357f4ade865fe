//! What every link carried, by lane.

use netloom_model::{Column, Counters, Fabric, Interval, LinkId, Quantity};

use super::intervals::PS_PER_TICK;

/// Counters of all directed links, by what sends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkCounters {
    /// Lanes a link.
    pub lanes: usize,
    /// `[link * lanes + lane]`
    pub sent: Vec<Sent>,
    /// Time in which a link sent nothing because all its lanes with something to send lacked room, ps; `[link]`.
    pub wait_ps: Vec<u64>,
}

/// What a lane of a link has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sent {
    /// Bytes, headers included.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
    /// Time in which the link sent nothing and this lane could not for lack of room at the far end, ps.
    pub wait_ps: u64,
}

impl LinkCounters {
    /// Takes off packets that have not left yet: link, lane and bytes of each.
    pub(crate) fn take_off(&mut self, packets: impl Iterator<Item = (u32, u8, u16)>) {
        for (link, lane, bytes) in packets {
            let sent = &mut self.sent[link as usize * self.lanes + usize::from(lane)];
            sent.bytes -= u64::from(bytes);
            sent.packets -= 1;
        }
    }

    /// Adds the counters of another part of the network.
    ///
    /// # Panics
    /// If the parts are not of one network.
    pub fn merge(&mut self, other: &LinkCounters) {
        assert_eq!((self.lanes, self.sent.len()), (other.lanes, other.sent.len()));
        for (to, from) in self.sent.iter_mut().zip(&other.sent) {
            to.bytes += from.bytes;
            to.packets += from.packets;
            to.wait_ps += from.wait_ps;
        }
        self.wait_ps.iter_mut().zip(&other.wait_ps).for_each(|(to, from)| *to += from);
    }

    /// Bytes that a link has sent, all lanes together.
    pub fn bytes(&self, link: LinkId) -> u64 {
        self.sent[link.index() * self.lanes..][..self.lanes].iter().map(|lane| lane.bytes).sum()
    }

    /// As real fabrics give them: one interval from 0 to `end_ps`, whole links, what was sent taken as received; a tick is a nanosecond.
    pub fn counters(&self, fabric: &Fabric, end_ps: u64) -> Counters {
        let lanes = |link: usize| &self.sent[link * self.lanes..][..self.lanes];
        let sum = |get: fn(&Sent) -> u64| -> Vec<u64> {
            (0..fabric.link_count()).map(|link| lanes(link).iter().map(get).sum()).collect()
        };
        let (bytes, packets) = (sum(|sent| sent.bytes), sum(|sent| sent.packets));
        let waits = self.wait_ps.iter().map(|ps| ps / PS_PER_TICK).collect();
        let columns = [
            (Quantity::XmitBytes, bytes.clone()),
            (Quantity::RcvBytes, bytes),
            (Quantity::XmitPackets, packets.clone()),
            (Quantity::RcvPackets, packets),
            (Quantity::WaitTicks, waits),
        ];
        let columns = columns.map(|(quantity, values)| Column::good(quantity, None, values)).into();
        let mut counters = Counters::new(fabric, Some(PS_PER_TICK));
        let interval = Interval { start_ns: 0, end_ns: end_ps.div_ceil(1000), routes: 0, columns };
        counters.push(interval).expect("there is one interval, and columns are as long as the fabric");
        counters
    }

    /// Packets that all links have sent: one for each link that a packet has left over.
    pub fn packets(&self) -> u64 {
        self.sent.iter().map(|lane| lane.packets).sum()
    }

    /// The share of `span_ps` that each link was sending, `[link]`; 0 for no time.
    pub fn utilisation(&self, fabric: &Fabric, span_ps: u64) -> Vec<f64> {
        let share = |link| {
            let could = fabric.bandwidth_bytes_per_s(link) * span_ps as f64 * 1e-12;
            if span_ps == 0 { 0.0 } else { self.bytes(link) as f64 / could }
        };
        fabric.links().map(share).collect()
    }
}
