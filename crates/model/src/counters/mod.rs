//! What the ports of a fabric counted, by interval.
//!
//! A value belongs to a directed link: `Xmit…` and waiting were counted by the port that sends on it, `Rcv…` by the port at its far
//! end. Both stay as they were read, whether they agree or not. Every value has a [`Quality`]; what is not [`Quality::GOOD`] is not to
//! be trusted as a number.
//!
//! Invariants: intervals are in order of their start, and none ends before it starts; a column has one value a link and is there
//! once an interval; values are in octets, packets and ticks (real counters of data are in units of four octets: readers convert).
//!
//! Source: InfiniBand Architecture Specification, vol. 1, sec. 16.1.3 (PortCounters, PortCountersExtended) and 16.1.4 (PortXmitWait and
//! the counters by virtual lane).

pub mod port_error;
pub mod reading;

pub use port_error::PortError;
pub use reading::Reading;

use serde::{Deserialize, Serialize};

use crate::fabric::Fabric;
use crate::ids::LinkId;

/// What was counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Quantity {
    /// Octets sent.
    XmitBytes,
    /// Octets received at the far end.
    RcvBytes,
    /// Packets sent.
    XmitPackets,
    /// Packets received at the far end.
    RcvPackets,
    /// Ticks in which there was something to send, and nothing was sent for lack of room at the far end.
    WaitTicks,
}

impl Quantity {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::XmitBytes, Self::RcvBytes, Self::XmitPackets, Self::RcvPackets, Self::WaitTicks];

    /// Whether it is counted where the link ends, not where it begins.
    #[inline]
    pub fn is_at_far_end(self) -> bool {
        matches!(self, Self::RcvBytes | Self::RcvPackets)
    }

    /// As files spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::XmitBytes => "xmit_bytes",
            Self::RcvBytes => "rcv_bytes",
            Self::XmitPackets => "xmit_packets",
            Self::RcvPackets => "rcv_packets",
            Self::WaitTicks => "wait_ticks",
        }
    }
}

/// What is wrong with a value: any of the flags, or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quality(u8);

impl Quality {
    /// As counted.
    pub const GOOD: Self = Self(0);
    /// The counter stood at its largest value: at least this much.
    pub const SATURATED: Self = Self(1);
    /// The counter was set back between the readings: this much since then.
    pub const RESET: Self = Self(2);
    /// Not read; the value is 0.
    pub const MISSING: Self = Self(4);
    /// Derived (from other units, a sample or another quantity), not counted.
    pub const SCALED: Self = Self(8);
    /// The two ends of the link say different numbers, and this may be the wrong one.
    pub const CONFLICT: Self = Self(16);
    /// The port has no such counter (a switch that does not count by lane); the value is 0.
    pub const UNSUPPORTED: Self = Self(32);

    /// All flags with their names, as files spell them.
    pub const FLAGS: [(Self, &str); 6] = [
        (Self::SATURATED, "saturated"),
        (Self::RESET, "reset"),
        (Self::MISSING, "missing"),
        (Self::SCALED, "scaled"),
        (Self::CONFLICT, "conflict"),
        (Self::UNSUPPORTED, "unsupported"),
    ];

    /// Both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The flags as one number: 1 saturated, 2 reset, 4 missing, 8 scaled, 16 conflict, 32 unsupported.
    pub fn bits(self) -> u8 {
        self.0
    }

    /// Whether there is a number at all, however good.
    #[inline]
    pub fn is_read(self) -> bool {
        self.0 & (Self::MISSING.0 | Self::UNSUPPORTED.0) == 0
    }

    /// The names of the flags that are set.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        Self::FLAGS.into_iter().filter(move |&(flag, _)| self.has(flag)).map(|(_, name)| name)
    }
}

/// One quantity of all links, on one virtual lane or on all of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// What.
    pub quantity: Quantity,
    /// The lane; `None`: the whole link.
    pub lane: Option<u8>,
    /// `[link]`
    pub values: Vec<u64>,
    /// `[link]`; empty if all are good.
    pub quality: Vec<Quality>,
}

impl Column {
    /// A column without doubts.
    pub fn good(quantity: Quantity, lane: Option<u8>, values: Vec<u64>) -> Self {
        Self { quantity, lane, values, quality: Vec::new() }
    }

    /// What is wrong with a link's value.
    pub fn quality(&self, link: LinkId) -> Quality {
        self.quality.get(link.index()).copied().unwrap_or_default()
    }
}

/// What was counted from one reading to the next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval {
    /// First reading, ns since an epoch of the source's own.
    pub start_ns: u64,
    /// Second reading, ns; the same as the first where the source tells no times.
    pub end_ns: u64,
    /// Which of the source's routings was in force, counted from 0.
    pub routes: u32,
    /// What there is.
    pub columns: Vec<Column>,
}

impl Interval {
    /// A quantity on a lane (`None`: on the whole link), if it was counted.
    pub fn column(&self, quantity: Quantity, lane: Option<u8>) -> Option<&Column> {
        self.columns.iter().find(|c| c.quantity == quantity && c.lane == lane)
    }

    /// The share of the interval that each link was sending, `[link]`; `None` where bytes are not known well.
    pub fn utilisation(&self, fabric: &Fabric) -> Vec<Option<f64>> {
        let span_ns = (self.end_ns - self.start_ns) as f64;
        let column = self.column(Quantity::XmitBytes, None);
        let share = |link: LinkId| {
            let column = column.filter(|c| c.quality(link) == Quality::GOOD)?;
            let could = fabric.bandwidth_bytes_per_s(link) * span_ns / 1e9;
            (could > 0.0).then(|| column.values[link.index()] as f64 / could)
        };
        fabric.links().map(share).collect()
    }
}

/// Counters of all directed links of a fabric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counters {
    /// Directed links.
    links: usize,
    /// [`Fabric::cabling_hash`] of the fabric that was read.
    cabling_hash: u64,
    /// A tick, ps; `None`: the devices don't say.
    tick_ps: Option<u64>,
    intervals: Vec<Interval>,
}

/// Why an interval can't join.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountersError {
    /// A column is not as long as the fabric has links.
    #[error("{column} has {found} values: expected one for each of {links} directed links")]
    Links {
        /// The column.
        column: &'static str,
        /// Its values.
        found: usize,
        /// The fabric's links.
        links: usize,
    },
    /// A quantity is there twice.
    #[error("{column} is there twice in one interval")]
    Twice {
        /// The column.
        column: &'static str,
    },
    /// Times run backwards.
    #[error(
        "an interval from {start_ns} to {end_ns} ns after one from {last_ns}: expected times that don't fall"
    )]
    Order {
        /// Its start.
        start_ns: u64,
        /// Its end.
        end_ns: u64,
        /// The start of the one before.
        last_ns: u64,
    },
}

impl Counters {
    /// Nothing yet.
    pub fn new(fabric: &Fabric, tick_ps: Option<u64>) -> Self {
        let (links, cabling_hash) = (fabric.link_count(), fabric.cabling_hash());
        Self { links, cabling_hash, tick_ps, intervals: Vec::new() }
    }

    /// Adds an interval.
    ///
    /// # Errors
    /// [`CountersError`] if it breaks an invariant.
    pub fn push(&mut self, interval: Interval) -> Result<(), CountersError> {
        let Interval { start_ns, end_ns, ref columns, .. } = interval;
        let last_ns = self.intervals.last().map_or(0, |last| last.start_ns);
        if end_ns < start_ns || start_ns < last_ns {
            return Err(CountersError::Order { start_ns, end_ns, last_ns });
        }
        for (at, column) in columns.iter().enumerate() {
            let name = column.quantity.name();
            let doubts = column.quality.len();
            for found in [column.values.len(), if doubts == 0 { self.links } else { doubts }] {
                if found != self.links {
                    return Err(CountersError::Links { column: name, found, links: self.links });
                }
            }
            let same = |c: &Column| c.quantity == column.quantity && c.lane == column.lane;
            if columns[..at].iter().any(same) {
                return Err(CountersError::Twice { column: name });
            }
        }
        self.intervals.push(interval);
        Ok(())
    }

    /// The intervals, in order.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    /// How long a tick of [`Quantity::WaitTicks`] is, ps; `None`: unknown.
    pub fn tick_ps(&self) -> Option<u64> {
        self.tick_ps
    }

    /// The cabling that they belong to.
    pub fn cabling_hash(&self) -> u64 {
        self.cabling_hash
    }

    /// Whether they belong to this fabric.
    pub fn fits(&self, fabric: &Fabric) -> bool {
        (self.links, self.cabling_hash) == (fabric.link_count(), fabric.cabling_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, FabricBuilder, HostSpec, SwitchSpec};

    /// Two hosts on a switch: four directed links of 1 GB/s.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new();
        let switch = builder.switch(SwitchSpec::new("s", 1, 2));
        for (port, name) in [(1, "a"), (2, "b")] {
            let host = builder.host(HostSpec::new(name, 1 + u64::from(port)));
            builder.cable(End::Host(host), End::Switch(switch, port), 1e9);
        }
        builder.build().unwrap()
    }

    fn interval(start_ns: u64, end_ns: u64, bytes: [u64; 4]) -> Interval {
        let columns = vec![Column::good(Quantity::XmitBytes, None, bytes.to_vec())];
        Interval { start_ns, end_ns, routes: 0, columns }
    }

    #[test]
    fn intervals_join_in_order_and_know_their_fabric() {
        let fabric = fabric();
        let mut counters = Counters::new(&fabric, None);
        counters.push(interval(10, 20, [1, 2, 3, 4])).unwrap();
        let backwards = counters.push(interval(5, 20, [0; 4])).unwrap_err();
        assert_eq!(backwards, CountersError::Order { start_ns: 5, end_ns: 20, last_ns: 10 });
        assert!(counters.push(interval(30, 29, [0; 4])).is_err());
        assert!(counters.fits(&fabric));
        assert_eq!(counters.intervals().len(), 1);
    }

    #[test]
    fn a_column_has_one_value_a_link_and_is_there_once() {
        let mut counters = Counters::new(&fabric(), Some(1));
        let mut short = interval(0, 1, [0; 4]);
        short.columns[0].values.pop();
        let links = CountersError::Links { column: "xmit_bytes", found: 3, links: 4 };
        assert_eq!(counters.push(short), Err(links));
        let mut twice = interval(0, 1, [0; 4]);
        twice.columns.push(twice.columns[0].clone());
        assert_eq!(counters.push(twice), Err(CountersError::Twice { column: "xmit_bytes" }));
        // The same quantity on a lane of its own is another column.
        let mut lanes = interval(0, 1, [0; 4]);
        lanes.columns.push(Column { lane: Some(0), ..lanes.columns[0].clone() });
        counters.push(lanes).unwrap();
    }

    #[test]
    fn utilisation_is_bytes_over_what_the_link_could_carry() {
        let fabric = fabric();
        // 1000 ns at 1 GB/s are 1000 bytes.
        let mut interval = interval(0, 1000, [1000, 500, 0, 250]);
        interval.columns[0].quality =
            vec![Quality::GOOD, Quality::GOOD, Quality::MISSING, Quality::SATURATED.with(Quality::SCALED)];
        assert_eq!(interval.utilisation(&fabric), [Some(1.0), Some(0.5), None, None]);
    }

    #[test]
    fn flags_of_quality_join() {
        let both = Quality::RESET.with(Quality::SCALED);
        assert!(both.has(Quality::RESET) && both.has(Quality::SCALED) && !both.has(Quality::MISSING));
        assert_eq!(both.bits(), 10);
        assert_eq!(both.names().collect::<Vec<_>>(), ["reset", "scaled"]);
        assert!(both.is_read() && !Quality::UNSUPPORTED.is_read() && Quality::GOOD.is_read());
    }
}
