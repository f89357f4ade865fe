//! Certificates: why no admissible routing can have a smaller maximum link load.
//!
//! A bound is issued with the argument it rests on, in terms that somebody who shares no code with the
//! issuer can check from the fabric and the traffic alone.
//!
//! *Admissible* routes are minimal up*/down* paths (see `routing::paths`); the whole-item arguments also
//! use that tables are by destination: everything that the hosts of one leaf send to one host takes one way.
//! Loads are bytes divided by the link's relative capacity.
//!
//! Where some destinations are *frozen* (their entries stay as in given routes), the bound is on the routes
//! that agree with the given ones there: what is sent to them is a fixed load on the links of its path, and
//! only the rest may choose.

use crate::ids::{HostId, LinkId, SwitchId};

/// All that the hosts of `leaf` send to `destination`: takes one way under destination-based routing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Item {
    /// The sending leaf.
    pub leaf: SwitchId,
    /// The receiving host.
    pub destination: HostId,
}

/// The argument behind a bound.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// Linear-programming duality. With link weights `w >= 0`, the maximum load of *any* (also fractional)
    /// admissible routing is at least `sum over pairs of bytes * (length of the shortest admissible
    /// path under w) / sum over links of w * relative capacity`. A cut is the case of equal weights on
    /// the links across it.
    Dual {
        /// Links with positive weight.
        weights: Vec<(LinkId, f64)>,
    },
    /// Whole items through few links. The `items`, all of one leaf (as sender, or as the destinations'
    /// leaf), must each cross exactly one of `links` whole; with `links * together + 1` or more items, some link gets
    /// `together + 1` of them: at least the sum of the `together + 1` smallest, over the largest
    /// relative capacity of the links.
    Pigeonhole {
        /// The leaf's links in one direction.
        links: Vec<LinkId>,
        /// Items of the leaf, `links.len() * together + 1` of them.
        items: Vec<Item>,
        /// How many items every link could hold if they spread evenly.
        together: u32,
    },
    /// Bin packing by a dual-feasible function: with every link as fast as the fastest of them and a capacity just
    /// below the claim, items above `capacity - threshold` count as a whole link, items below `threshold` as nothing, the rest by
    /// size; they count to more than there are links (Martello and Toth's L2).
    DualFeasible {
        /// The leaf's links in one direction.
        links: Vec<LinkId>,
        /// The threshold as a load: bytes over the largest relative capacity of the links; at most half the
        /// claim.
        threshold: f64,
    },
    /// Every item of the leaf is a multiple of `grid` bytes, so what a link carries is a subset sum: the claim
    /// is the smallest subset sum that is at least the mean over the links, over their largest relative capacity.
    SubsetSum {
        /// The leaf's links in one direction.
        links: Vec<LinkId>,
        /// Bytes of which every item is a multiple.
        grid: f64,
    },
}

/// A lower bound on the maximum link load, with its proof.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// The claimed lower bound, in bytes at the reference bandwidth.
    pub claim: f64,
    /// Where it binds, for people: `leaf12 up`.
    pub place: String,
    /// Why it holds.
    pub reason: Reason,
    /// Destinations whose entries are as in the routes that are judged, in rising order; none: the bound is on all
    /// routes.
    pub frozen: Vec<HostId>,
}

impl Certificate {
    /// A bound on all routes.
    pub fn new(claim: f64, place: String, reason: Reason) -> Self {
        Self { claim, place, reason, frozen: Vec::new() }
    }
}

impl Reason {
    /// The kind as files and tables spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::Dual { .. } => "dual",
            Reason::Pigeonhole { .. } => "pigeonhole",
            Reason::DualFeasible { .. } => "dual-feasible",
            Reason::SubsetSum { .. } => "subset-sum",
        }
    }
}
