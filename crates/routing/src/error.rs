//! What can go wrong when routes are made or walked.

use netloom_model::{Fabric, HostId, Routes, SwitchId};

/// Why a packet does not arrive, or why an engine makes no routes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RoutingError {
    /// A packet does not arrive.
    #[error("no route from \"{source_host}\" to \"{destination}\": {reason}")]
    NoRoute {
        /// Name of the sending host.
        source_host: String,
        /// Name of the receiving host.
        destination: String,
        /// Where and why the packet stops.
        reason: String,
    },
    /// Routes or traffic of another fabric.
    #[error("{0}")]
    Mismatch(String),
    /// An LMC that InfiniBand does not know.
    #[error("expected an LMC of 0 to 7, found {0}")]
    Lmc(u8),
    /// The ftree engine on something else.
    #[error("not a fat tree: {0}; use updn")]
    NotFatTree(String),
    /// Routing by way on something else than a tree with few ways.
    #[error("no routes by way: {0}")]
    NoWays(String),
    /// The dla engine on something else.
    #[error("not a dragonfly that dla can route: {0}; use updn")]
    NotDragonfly(String),
    /// The dla engine on a fabric of which no groups are known.
    #[error("not a dragonfly that dla can route: its shape is graph; use updn, or state its groups")]
    NoGroups,
    /// The dor engine on something else, or on a damaged one.
    #[error("not a HyperX, torus or mesh that dor can route: {0}; use updn")]
    NotLattice(String),
    /// Ways that need more lanes than ports have.
    #[error("shortest ways need more than the {most} lanes that ports can have; use updn")]
    Lanes {
        /// How many there can be.
        most: usize,
    },
    /// Packets can't be steered.
    #[error("{0}")]
    Steering(String),
}

impl RoutingError {
    /// A pair without a route.
    pub(crate) fn no_route(fabric: &Fabric, source: HostId, destination: HostId, reason: String) -> Self {
        Self::NoRoute {
            source_host: fabric.host_name(source).to_owned(),
            destination: fabric.host_name(destination).to_owned(),
            reason,
        }
    }
}

/// Why a walk stopped before its destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    HostLinkDead,
    Missing(SwitchId),
    Nowhere(SwitchId, u16),
    Dead(SwitchId, u16),
    WrongHost(SwitchId, u16, HostId),
    Loop(SwitchId),
}

impl Stop {
    pub(crate) fn describe(self, fabric: &Fabric) -> String {
        let name = |s| fabric.switch_name(s);
        match self {
            Stop::HostLinkDead => "the cable of the sending host is dead".into(),
            Stop::Missing(s) => format!("\"{}\" has no entry for it", name(s)),
            Stop::Nowhere(s, port) => format!("nothing is cabled at port {port} of \"{}\"", name(s)),
            Stop::Dead(s, port) => format!("the cable at port {port} of \"{}\" is dead", name(s)),
            Stop::WrongHost(s, port, host) => {
                format!("port {port} of \"{}\" leads to host \"{}\"", name(s), fabric.host_name(host))
            }
            Stop::Loop(s) => format!("the packet loops through \"{}\"", name(s)),
        }
    }
}

/// Refuses routes that are not for a fabric of this size.
pub(crate) fn check_fits(fabric: &Fabric, routes: &Routes) -> Result<(), RoutingError> {
    use netloom_model::Table;
    if !routes.paths_fit(fabric) {
        return Err(RoutingError::Mismatch(
            "the path of every pair is for other hosts or another LMC than the routes".into(),
        ));
    }
    let wanted = (fabric.switch_count(), fabric.dests(routes.lmc).count());
    let shapes = match &routes.table {
        Table::ByDest(lft) => vec![((lft.switches(), lft.dests()), wanted)],
        Table::UpBySource { up, down } => vec![
            ((up.switches(), up.dests()), (wanted.0, fabric.host_count())),
            ((down.switches(), down.dests()), wanted),
        ],
    };
    for (found, wanted) in shapes {
        if found != wanted {
            return Err(RoutingError::Mismatch(format!(
                "the routes have {} switches and {} destinations, the fabric {} and {}: they belong to another fabric",
                found.0, found.1, wanted.0, wanted.1
            )));
        }
    }
    Ok(())
}
