//! Certificates: why no admissible routing can have a smaller maximum link load.
//!
//! A bound is issued with the argument it rests on, in terms that somebody who shares no code with the
//! issuer can check from the fabric and the traffic alone.
//!
//! *Admissible* routes are those of the certificate's [`Ways`]: minimal up*/down* paths (see `routing::paths`), the
//! shortest of the switches' graph, or any; the whole-item arguments also
//! use that tables are by destination: everything that the hosts of one leaf send to one host takes one way. They hold for
//! any set of links; what counts are the items whose every admissible path crosses one of these.
//! Loads are bytes divided by the link's relative capacity.
//!
//! With several addresses a host only what *one* host sends to another takes one way: a bound on *pairs* takes these for
//! items. It holds for any tables and any choice of addresses, hence for one address too.
//!
//! Where some destinations are *frozen* (their entries stay as in given routes), the bound is on the routes
//! that agree with the given ones there: what is sent to them is a fixed load on the links of its path, and
//! only the rest may choose.

use crate::bound_class::{BoundClass, Ways};
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
    /// The same of whole items. Every item is a multiple of `grid` bytes, so a link of relative capacity `c` whose load is `z`
    /// carries at most `grid * floor(z c / grid)`. Just below the claim these bytes, times the weights, are less than bytes
    /// times lengths of the shortest paths.
    WholeDual {
        /// Links between switches with positive weight.
        weights: Vec<(LinkId, f64)>,
        /// Bytes of which every item between leaves is a multiple.
        grid: f64,
    },
    /// Whole items through few links. Each of `items` must cross one of `links` whole. A link that holds `k` of them
    /// carries at least the `k` smallest (and what frozen destinations put there), over its relative capacity: `n` items take the
    /// `n` cheapest places, and the claim is the cost of the last.
    Pigeonhole {
        /// Links that none of the items can avoid.
        links: Vec<LinkId>,
        /// The items, in any order; in a bound on pairs one that is named `k` times stands for its `k` largest pairs.
        items: Vec<Item>,
    },
    /// Bin packing by a dual-feasible function. Just below the claim `z` a link of relative capacity `c` that carries `f`
    /// bytes already has room for `z c - f` bytes. With `R` the largest room: items and rooms above `R - threshold`
    /// count as `R`, what is below the threshold as nothing, the rest by size; the items that cannot avoid `links` count to more than
    /// the rooms (Martello and Toth's L2).
    DualFeasible {
        /// The links.
        links: Vec<LinkId>,
        /// The threshold as a load: bytes over the largest relative capacity of the links; at most half the
        /// largest room.
        threshold: f64,
    },
    /// Every item that cannot avoid `links` is a multiple of `grid` bytes. Just below the claim a link holds at most the
    /// largest subset sum of the items that fits its room, and falls short of it by the difference of two subset sums; no
    /// choice of these differences makes the links carry all items exactly.
    SubsetSum {
        /// The links.
        links: Vec<LinkId>,
        /// Bytes of which every item is a multiple.
        grid: f64,
    },
    /// Bin packing by weights. Each item weighs by its size; just below the claim, all items that cannot avoid `links` weigh
    /// more than the greatest weights that fit the room of each link, added up. Sizes and rooms are rounded down to
    /// whole steps of `grid`, which only lets more fit.
    Patterns {
        /// The links.
        links: Vec<LinkId>,
        /// Bytes of a step.
        grid: f64,
        /// `(bytes, weight)`, bytes rising: an item weighs as the last entry that it reaches, below the first nothing.
        by_size: Vec<(f64, u64)>,
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
    /// Items are what one host sends to another, not what a leaf's hosts send to it.
    pub pairs: bool,
    /// Which ways the argument speaks of.
    pub ways: Ways,
}

impl Certificate {
    /// A bound on all routes of up*/down* ways.
    pub fn new(claim: f64, place: String, reason: Reason) -> Self {
        Self { claim, place, reason, frozen: Vec::new(), pairs: false, ways: Ways::UpDown }
    }

    /// The same of other ways.
    #[must_use]
    pub fn of(self, ways: Ways) -> Self {
        Self { ways, ..self }
    }

    /// The routes that the argument speaks of. The number may hold for more.
    pub fn class(&self) -> BoundClass {
        match (&self.reason, self.pairs, self.ways) {
            _ if !self.frozen.is_empty() => BoundClass::KeptTables,
            (Reason::Dual { .. }, _, Ways::UpDown) => BoundClass::UpDownSplits,
            (_, true, Ways::UpDown) => BoundClass::UpDownPairs,
            (_, false, Ways::UpDown) => BoundClass::UpDownTables,
            (Reason::Dual { .. }, _, Ways::Shortest) => BoundClass::ShortestSplits,
            (_, true, Ways::Shortest) => BoundClass::ShortestPairs,
            (_, false, Ways::Shortest) => BoundClass::ShortestTables,
            // Only duals are judged there.
            (_, _, Ways::Any) => BoundClass::AnyRoutes,
        }
    }
}

impl Reason {
    /// The kind as files and tables spell it.
    pub fn kind(&self) -> &'static str {
        match self {
            Reason::Dual { .. } => "dual",
            Reason::WholeDual { .. } => "whole-dual",
            Reason::Pigeonhole { .. } => "pigeonhole",
            Reason::DualFeasible { .. } => "dual-feasible",
            Reason::SubsetSum { .. } => "subset-sum",
            Reason::Patterns { .. } => "patterns",
        }
    }
}

/// A lower bound on the number of links between switches that are loaded most, with its proof.
///
/// Routes by destination with no load above `maximum` have at least `count` links with a load of at least `level`. The
/// links of different sides are different links, so what each side must have adds up.
#[derive(Clone, Debug, PartialEq)]
pub struct LinksAtMax {
    /// No link is loaded more, in bytes at the reference bandwidth.
    pub maximum: f64,
    /// What a link must carry to count, at most `maximum`.
    pub level: f64,
    /// The claim: links that carry it, at least.
    pub count: u64,
    /// Why.
    pub sides: Vec<Side>,
    /// As in [`Certificate::frozen`].
    pub frozen: Vec<HostId>,
}

/// Links, and weights of the items that cannot avoid them (see [`Reason::Patterns`]).
///
/// Below `level` a link holds no more than the greatest weight that fits; at `maximum` some can hold more. As many links as
/// it takes until all items may be held are loaded with `level` or more.
#[derive(Clone, Debug, PartialEq)]
pub struct Side {
    /// For people: `leaf12 up`.
    pub place: String,
    /// The links.
    pub links: Vec<LinkId>,
    /// Bytes of a step.
    pub grid: f64,
    /// `(bytes, weight)`, bytes rising.
    pub by_size: Vec<(f64, u64)>,
}
