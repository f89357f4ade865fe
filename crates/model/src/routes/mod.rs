//! A routing of a fabric: which output port every switch uses, and which of a host's addresses a
//! sender picks; where they need lanes, on which its packets travel.

pub mod lanes;
pub mod levels;
pub mod lft;
pub mod pair_paths;

use std::sync::Arc;

use crate::fabric::Fabric;
use crate::ids::{DestId, DestSpace, HostId, SwitchId};
use crate::routes::lanes::LaneMap;
use crate::routes::lft::{Lft, NO_PORT};
use crate::routes::pair_paths::{PairPaths, PairPathsError};

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathChoice {
    /// Always the base address.
    Base,
    /// Address `source mod 2^lmc`.
    SourceMod,
    /// A table by pair. For as many hosts as the tables, with their LMC ([`Routes::with_paths`] checks).
    PerPair(Arc<PairPaths>),
}

impl PathChoice {
    /// The path from `source` to `destination` where hosts have `2^lmc` addresses: below `2^lmc`.
    #[inline]
    pub fn path(&self, lmc: u8, source: HostId, destination: HostId) -> u32 {
        match self {
            Self::Base => 0,
            Self::SourceMod => source.0 & ((1 << lmc) - 1),
            Self::PerPair(paths) => paths.get(source, destination),
        }
    }
}

/// Why a table of ports is none of a fabric.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PortsError {
    /// Another number of switches or destinations.
    #[error(
        "a table of {rows} x {columns} ports: expected {switches} switches x {hosts} addresses of hosts, or x {all} with the switches'"
    )]
    Shape {
        /// Rows given.
        rows: usize,
        /// Columns given.
        columns: usize,
        /// The fabric's switches.
        switches: usize,
        /// Addresses of its hosts.
        hosts: usize,
        /// All destinations.
        all: usize,
    },
    /// A port that leads nowhere.
    #[error("[{row}][{column}]: port {port} of {switch} has no cable (its ports are 1 to {radix})")]
    Port {
        /// The switch's number.
        row: usize,
        /// The destination's number.
        column: usize,
        /// The port given.
        port: u16,
        /// The switch.
        switch: String,
        /// Its number of ports.
        radix: u16,
    },
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
    /// The lanes of their packets, of the same fabric; `None`: all are on one.
    pub lanes: Option<Arc<LaneMap>>,
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
            lanes: None,
        }
    }

    /// The same tables with lanes, which are of the same fabric.
    pub fn with_lanes(self, lanes: LaneMap) -> Self {
        Self { lanes: Some(Arc::new(lanes)), ..self }
    }

    /// Destination-based routes from ports, row by row: `[switch][destination]`, [`NO_PORT`] where there is no entry.
    ///
    /// `columns` is the number of hosts' addresses, or of all destinations (hosts' addresses, then switches).
    ///
    /// # Errors
    /// [`PortsError`] if the numbers do not fit the fabric, or a port is none that a cable is in (0, the switch itself, is one).
    pub fn from_ports(fabric: &Fabric, lmc: u8, columns: usize, ports: &[u16]) -> Result<Self, PortsError> {
        let all = fabric.dests(lmc).count();
        let (switches, hosts) = (fabric.switch_count(), all - fabric.switch_count());
        if ports.len() != switches * columns || (columns != hosts && columns != all) {
            let rows = ports.len().checked_div(columns).unwrap_or(0);
            return Err(PortsError::Shape { rows, columns, switches, hosts, all });
        }
        let radix = fabric.switches().map(|s| fabric.radix(s)).max().unwrap_or(0);
        let mut lft = Lft::empty(switches, all, radix);
        for (s, row) in fabric.switches().zip(ports.chunks(columns.max(1))) {
            for (column, &port) in row.iter().enumerate().filter(|(_, port)| **port != NO_PORT) {
                if port > 0 && (port > fabric.radix(s) || fabric.link_at(s, port).is_none()) {
                    let (switch, radix) = (fabric.switch_name(s).to_owned(), fabric.radix(s));
                    return Err(PortsError::Port { row: s.index(), column, port, switch, radix });
                }
                lft.set(s, DestId::from_index(column), Some(port));
            }
        }
        Ok(Self::by_dest(fabric, lmc, lft))
    }

    /// The same tables with a path by pair.
    ///
    /// # Errors
    /// [`PairPathsError::Mismatch`] unless `paths` are for as many hosts as `fabric` has and for these tables' LMC.
    pub fn with_paths(self, fabric: &Fabric, paths: PairPaths) -> Result<Self, PairPathsError> {
        if (paths.hosts(), paths.lmc()) != (fabric.host_count(), self.lmc) {
            return Err(PairPathsError::Mismatch {
                hosts: paths.hosts(),
                lmc: paths.lmc(),
                table_hosts: fabric.host_count(),
                table_lmc: self.lmc,
            });
        }
        Ok(Self { path: PathChoice::PerPair(Arc::new(paths)), ..self })
    }

    /// Whether the choice of path is for the hosts of `fabric` and for these tables' LMC.
    pub fn paths_fit(&self, fabric: &Fabric) -> bool {
        match &self.path {
            PathChoice::PerPair(paths) => (paths.hosts(), paths.lmc()) == (fabric.host_count(), self.lmc),
            PathChoice::Base | PathChoice::SourceMod => true,
        }
    }

    /// The choice of path as a table by pair, whatever its form.
    pub fn pair_paths(&self, fabric: &Fabric) -> Arc<PairPaths> {
        match &self.path {
            PathChoice::PerPair(paths) => Arc::clone(paths),
            PathChoice::Base => Arc::new(PairPaths::base(fabric.host_count(), self.lmc)),
            PathChoice::SourceMod => {
                let mask = (1u32 << self.lmc) - 1;
                let pair = |s: HostId| {
                    fabric
                        .hosts()
                        .filter(move |&d| d != s && s.0 & mask != 0)
                        .map(move |d| (s, d, s.0 & mask))
                };
                let entries: Vec<_> = fabric.hosts().flat_map(pair).collect();
                let paths = PairPaths::new(fabric.host_count(), self.lmc, &entries);
                Arc::new(paths.expect("source modulo 2^lmc is below 2^lmc"))
            }
        }
    }

    /// Whether all senders use one address of a destination, so that what a leaf sends to a host takes one way.
    pub fn one_address(&self) -> bool {
        match &self.path {
            PathChoice::Base => true,
            PathChoice::SourceMod => self.lmc == 0,
            PathChoice::PerPair(paths) => paths.is_empty(),
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
        space.host(destination, self.path.path(self.lmc, source, destination))
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
