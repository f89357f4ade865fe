//! A routing of a fabric: which output port every switch uses, and which of a host's addresses a
//! sender picks.
//!
//! Service levels and virtual lanes will join here when something uses them.

use crate::fabric::Fabric;
use crate::ids::{DestId, DestSpace, HostId, SwitchId};
use crate::lft::{Lft, NO_PORT};

/// The tables of a routing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Table {
    /// One output port per switch and destination: what InfiniBand switches hold.
    ByDest(Lft),
    /// The way up is chosen by the *source* (s-mod-k, paper 002), the way down by the destination. No LFT
    /// can say this; simulators can use it.
    UpBySource {
        /// `[switch][source host]`: the port while the packet still climbs. Indexed with `DestId = HostId`.
        up: Lft,
        /// `[switch][destination]`: set exactly where the destination lies below the switch.
        down: Lft,
    },
}

/// Which of the `2^lmc` addresses of the destination a sender uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathChoice {
    /// Always the base address.
    Base,
    /// Address `source mod 2^lmc`.
    SourceMod,
}

/// Which way every packet takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Routes {
    /// LID mask control of the tables.
    pub lmc: u8,
    /// The tables.
    pub table: Table,
    /// How a sender picks among a host's addresses.
    pub path: PathChoice,
    /// [`Fabric::cabling_hash`] of the fabric they were made for, where known.
    pub cabling_hash: Option<u64>,
}

impl Routes {
    /// Destination-based routes for `fabric`.
    pub fn by_dest(fabric: &Fabric, lmc: u8, lft: Lft) -> Self {
        debug_assert_eq!(lft.dests(), fabric.dests(lmc).count());
        Self {
            lmc,
            table: Table::ByDest(lft),
            path: PathChoice::Base,
            cabling_hash: Some(fabric.cabling_hash()),
        }
    }

    /// The forwarding table, if these routes are destination-based.
    pub fn lft(&self) -> Option<&Lft> {
        match &self.table {
            Table::ByDest(lft) => Some(lft),
            Table::UpBySource { .. } => None,
        }
    }

    /// The destination numbering of the tables on `fabric`.
    pub fn dests(&self, fabric: &Fabric) -> DestSpace {
        fabric.dests(self.lmc)
    }

    /// The address that `source` uses to reach `destination`.
    #[inline]
    pub fn address(&self, space: DestSpace, source: HostId, destination: HostId) -> DestId {
        let path = match self.path {
            PathChoice::Base => 0,
            PathChoice::SourceMod => source.0 & ((1 << self.lmc) - 1),
        };
        space.host(destination, path)
    }

    /// The output port of `switch` for a packet of `source` to `dest`, or [`NO_PORT`].
    #[inline]
    pub fn port(&self, switch: SwitchId, source: HostId, dest: DestId) -> u16 {
        match &self.table {
            Table::ByDest(lft) => lft.port(switch, dest),
            Table::UpBySource { up, down } => match down.port(switch, dest) {
                NO_PORT => up.port(switch, DestId(source.0)),
                port => port,
            },
        }
    }
}
