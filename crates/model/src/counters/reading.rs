//! What ports had counted at one moment, since they were last set back.
//!
//! A port is named by its outgoing link. What it sends belongs to that link, what it receives to the reverse one, so that columns are
//! as those of an [`Interval`](crate::Interval): one value a directed link, `Xmit…` from its near end, `Rcv…` from its far end. Two
//! readings make an interval (crate `counters`).
//!
//! Invariants: a column has a value and a [`Quality`] for every link; what no port has told is [`Quality::MISSING`].

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::port_error::PortError;
use crate::counters::{Column, Quality, Quantity};
use crate::fabric::Fabric;
use crate::ids::LinkId;

/// Absolute counters of a fabric's ports.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reading {
    time_ns: Option<u64>,
    links: usize,
    cabling_hash: u64,
    columns: Vec<Column>,
    errors: BTreeMap<(PortError, LinkId), u64>,
    /// Counters of errors that are known to have 64 bits.
    wide: BTreeSet<(PortError, LinkId)>,
    /// What counters of errors said that is no count.
    impossible: BTreeMap<(PortError, LinkId), u64>,
}

impl Reading {
    /// Of no port yet; `time_ns` since an epoch of the source's own.
    pub fn new(fabric: &Fabric, time_ns: Option<u64>) -> Self {
        let (links, cabling_hash) = (fabric.link_count(), fabric.cabling_hash());
        let (errors, wide, impossible) = (BTreeMap::new(), BTreeSet::new(), BTreeMap::new());
        Self { time_ns, links, cabling_hash, columns: Vec::new(), errors, wide, impossible }
    }

    /// What the port at the near end of `port` says.
    pub fn set(
        &mut self,
        fabric: &Fabric,
        port: LinkId,
        (quantity, lane): (Quantity, Option<u8>),
        value: u64,
        quality: Quality,
    ) {
        let link = if quantity.is_at_far_end() { fabric.reverse(port) } else { port };
        let known = self.columns.iter().position(|c| c.quantity == quantity && c.lane == lane);
        let at = known.unwrap_or_else(|| {
            let quality = vec![Quality::MISSING; self.links];
            self.columns.push(Column { quantity, lane, values: vec![0; self.links], quality });
            self.columns.len() - 1
        });
        self.columns[at].values[link.index()] = value;
        self.columns[at].quality[link.index()] = quality;
    }

    /// How often something went wrong at a port; of a counter that is told in two widths, the larger value counts.
    pub fn set_error(&mut self, port: LinkId, error: PortError, value: u64) {
        let known = self.errors.entry((error, port)).or_insert(value);
        *known = value.max(*known);
    }

    /// That a port's counter of an error has 64 bits.
    pub fn set_wide_error(&mut self, port: LinkId, error: PortError) {
        self.wide.insert((error, port));
    }

    /// That a port's counter of an error shows what is no count.
    pub fn set_impossible_error(&mut self, port: LinkId, error: PortError, value: u64) {
        self.impossible.insert((error, port), value);
    }

    /// Ports whose counter of an error shows what is no count, and what that is.
    pub fn impossible_errors(&self, error: PortError) -> Vec<(LinkId, u64)> {
        Self::of_kind(&self.impossible, error)
    }

    /// Ports whose counter of an error stands at its largest value: there may have been more, and new ones are not seen.
    ///
    /// Most tools do not say which width they show. The largest value of a counter of 4 or 8 bits is a number like any other of a
    /// wide one, so that it means nothing where another port counts beyond it.
    pub fn full_errors(&self, error: PortError) -> Vec<LinkId> {
        let (counts, largest) = (self.errors(error), (1 << error.bits()) - 1);
        if error.bits() <= 8 && counts.iter().any(|&(_, value)| value > largest) {
            return Vec::new();
        }
        let full = |&(port, value): &(LinkId, u64)| value == largest && !self.wide.contains(&(error, port));
        counts.into_iter().filter(full).map(|(port, _)| port).collect()
    }

    fn of_kind(counts: &BTreeMap<(PortError, LinkId), u64>, error: PortError) -> Vec<(LinkId, u64)> {
        let of_kind = (error, LinkId(0))..=(error, LinkId(u32::MAX));
        counts.range(of_kind).map(|(&(_, port), &value)| (port, value)).collect()
    }

    /// How often something went wrong at a port, if it told.
    pub fn error(&self, error: PortError, port: LinkId) -> Option<u64> {
        self.errors.get(&(error, port)).copied()
    }

    /// The same of all ports that told it, by port.
    pub fn errors(&self, error: PortError) -> Vec<(LinkId, u64)> {
        Self::of_kind(&self.errors, error)
    }

    /// Says of every port that was read, but not by lane while others were, that it does not count so.
    pub fn mark_without_lanes(&mut self) {
        for at in 0..self.columns.len() {
            let Column { quantity, lane: Some(_), .. } = self.columns[at] else { continue };
            let whole = |c: &&Column| c.lane.is_none() && c.quantity == quantity;
            let Some(read) = self.columns.iter().find(whole).map(|c| c.quality.clone()) else { continue };
            for (quality, whole) in self.columns[at].quality.iter_mut().zip(read) {
                if *quality == Quality::MISSING && whole.is_read() {
                    *quality = Quality::UNSUPPORTED;
                }
            }
        }
    }

    /// When; `None`: unknown.
    pub fn time_ns(&self) -> Option<u64> {
        self.time_ns
    }

    /// What there is.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// A quantity on a lane (`None`: on the whole link), if any port told it.
    pub fn column(&self, quantity: Quantity, lane: Option<u8>) -> Option<&Column> {
        self.columns.iter().find(|c| c.quantity == quantity && c.lane == lane)
    }

    /// Whether its columns and errors are of links of `fabric`, and of ports: what was read back from memory may be none.
    pub fn is_sound(&self, fabric: &Fabric) -> bool {
        let links = fabric.link_count();
        let whole = |c: &Column| c.values.len() == links && c.quality.len() == links;
        let mut ports = self.errors.keys().chain(&self.wide).chain(self.impossible.keys());
        self.fits(fabric) && self.columns.iter().all(whole) && ports.all(|(_, port)| port.index() < links)
    }

    /// Whether it is of this fabric.
    pub fn fits(&self, fabric: &Fabric) -> bool {
        (self.links, self.cabling_hash) == (fabric.link_count(), fabric.cabling_hash())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, FabricBuilder, HostSpec, SwitchSpec};

    /// Hosts a and b on a switch: links 0 and 1 leave the hosts, 2 and 3 the switch.
    fn fabric() -> Fabric {
        let mut builder = FabricBuilder::new();
        let switch = builder.switch(SwitchSpec::new("s", 1, 2));
        for (port, name) in [(1, "a"), (2, "b")] {
            let host = builder.host(HostSpec::new(name, 1 + u64::from(port)));
            builder.cable(End::Host(host), End::Switch(switch, port), 1e9);
        }
        builder.build().unwrap()
    }

    #[test]
    fn what_a_port_receives_belongs_to_the_link_that_comes_in() {
        let fabric = fabric();
        let mut reading = Reading::new(&fabric, Some(7));
        let to_a = LinkId(2);
        reading.set(&fabric, to_a, (Quantity::XmitBytes, None), 10, Quality::GOOD);
        reading.set(&fabric, to_a, (Quantity::RcvBytes, None), 20, Quality::GOOD);
        let sent = reading.column(Quantity::XmitBytes, None).unwrap();
        assert_eq!((sent.values[2], sent.quality(to_a)), (10, Quality::GOOD));
        assert_eq!(sent.quality(LinkId(0)), Quality::MISSING);
        assert_eq!(reading.column(Quantity::RcvBytes, None).unwrap().values, [20, 0, 0, 0]);
        assert!(reading.fits(&fabric) && reading.time_ns() == Some(7));
    }

    #[test]
    fn a_port_that_was_read_but_not_by_lane_does_not_count_by_lane() {
        let fabric = fabric();
        let mut reading = Reading::new(&fabric, None);
        for port in [2, 3] {
            reading.set(&fabric, LinkId(port), (Quantity::RcvBytes, None), 1, Quality::GOOD);
        }
        reading.set(&fabric, LinkId(2), (Quantity::RcvBytes, Some(0)), 1, Quality::GOOD);
        reading.mark_without_lanes();
        let lane = reading.column(Quantity::RcvBytes, Some(0)).unwrap();
        let found: Vec<_> = fabric.links().map(|l| lane.quality(l)).collect();
        let (good, missing) = (Quality::GOOD, Quality::MISSING);
        assert_eq!(found, [good, Quality::UNSUPPORTED, missing, missing]);
    }
}
