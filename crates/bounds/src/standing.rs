//! The bounds of a traffic, and what they say of given routes.
//!
//! A bound is held against routes that its class has, on fabrics on which that class does not mislead; against others
//! there is no gap. A number that holds for any routes whatsoever (`scope`) is held against all.
//!
//! Invariant: a gap is never negative, but for rounding.

use netloom_model::{BoundClass, Certificate, Control, Csr, Fabric, HostId, Routes, Ways};
use netloom_routing::PathSet;
use netloom_topology::Structure;

use crate::ar::ar_bound;
use crate::interval::{ArBound, BoundError};
use crate::lower::tighten;
use crate::scope::{AnyBound, Outside, any_bound, ways_outside};

/// How near a load is the bound.
const MET: f64 = 1e-9;

/// What is known of the least maximum load of a traffic.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// Fractional splits over shortest up*/down* ways, or over shortest ways: [`Bounds::ways`].
    pub ar: ArBound,
    /// The best for the routes it was made for.
    pub lower: Certificate,
    /// Any routes whatsoever.
    pub any: AnyBound,
}

impl Bounds {
    /// The bounds of `traffic`; those of one entry a destination only where `routes` are that.
    ///
    /// `work` as in [`ar_bound`].
    ///
    /// # Errors
    /// [`BoundError`] if the traffic cannot be routed at all.
    pub fn new(
        fabric: &Fabric,
        structure: &Structure,
        paths: &PathSet,
        routes: &Routes,
        traffic: &Csr,
        control: &Control,
        work: Option<u64>,
    ) -> Result<Self, BoundError> {
        let ar = ar_bound(fabric, structure, paths, traffic, control, work)?;
        let lower = match one_way(routes) {
            true => tighten(fabric, structure, paths, traffic, ar.certificate.clone()),
            false => ar.certificate.clone(),
        };
        debug_assert!(lower.claim >= ar.lower, "tables are splits, too: their bound is no lower");
        Ok(Self::with(fabric, structure, traffic, ar, lower))
    }

    /// The first two with that of any routes: on regular trees the AR bound is one.
    pub fn with(
        fabric: &Fabric,
        structure: &Structure,
        traffic: &Csr,
        ar: ArBound,
        lower: Certificate,
    ) -> Self {
        let any = match structure.tree() {
            Some(_) => AnyBound { claim: ar.lower, place: ar.certificate.place.clone() },
            None => any_bound(fabric, structure, traffic),
        };
        debug_assert!(ar.lower <= ar.upper && ar.certificate.claim == ar.lower, "an interval, and its proof");
        Self { ar, lower, any }
    }

    /// These for other routes of the same traffic, which keep the entries towards the hosts with a true in `frozen`.
    pub fn for_routes(&self, routes: &Routes, frozen: &[bool]) -> Self {
        let kept = |h: &HostId| frozen.get(h.index()) == Some(&true);
        let holds = match self.lower.class() {
            BoundClass::AnyRoutes | BoundClass::UpDownSplits | BoundClass::UpDownPairs => true,
            BoundClass::ShortestSplits | BoundClass::ShortestPairs => true,
            BoundClass::UpDownTables | BoundClass::ShortestTables => one_way(routes),
            BoundClass::KeptTables => one_way(routes) && self.lower.frozen.iter().all(kept),
        };
        let lower = if holds { &self.lower } else { &self.ar.certificate };
        Self { ar: self.ar.clone(), lower: lower.clone(), any: self.any.clone() }
    }

    /// What the AR bound is a bound of, at its widest.
    pub fn ar_class(&self) -> BoundClass {
        self.any.widest(self.ar.lower, self.ar.certificate.class())
    }

    /// The ways that they are bounds of.
    pub fn ways(&self) -> Ways {
        self.ar.certificate.ways
    }

    /// What the lower bound is a bound of, at its widest.
    pub fn class(&self) -> BoundClass {
        self.any.widest(self.lower.claim, self.lower.class())
    }
}

/// Whether everything from a leaf to a host takes one way.
fn one_way(routes: &Routes) -> bool {
    routes.lft().is_some() && routes.one_address()
}

/// Where routes stand: whether bounds of some ways are held against them.
#[derive(Clone, Debug)]
pub struct Standing {
    /// Why not, if they are not.
    pub outside: Option<Outside>,
    /// The routes take these ways, on whatever fabric.
    pub within: bool,
}

impl Standing {
    /// Of routes with traffic beside bounds of the ways in `paths`, on a fabric of which
    /// [`fabric_outside`](crate::fabric_outside) said `shape`; of shortest ways that says nothing.
    ///
    /// # Panics
    /// As [`ways_outside`].
    pub fn new(
        fabric: &Fabric,
        paths: &PathSet,
        shape: Option<&Outside>,
        routes: &Routes,
        traffic: &Csr,
    ) -> Self {
        let ways = ways_outside(fabric, paths, routes, traffic);
        Self { within: ways.is_none(), outside: ways.or_else(|| shape.cloned()) }
    }

    /// Whether a bound of this class is held against these routes.
    pub fn applies(&self, class: BoundClass) -> bool {
        class == BoundClass::AnyRoutes || self.outside.is_none()
    }

    /// How far a largest load of `max` is above `bound`, in percent; `None` if that says nothing.
    pub fn gap_percent(&self, max: f64, bound: f64, class: BoundClass) -> Option<f64> {
        self.applies(class).then(|| gap_percent(max, bound))
    }

    /// Whether no routes of the bound's class have a smaller largest load than these, which are of it.
    pub fn optimal(&self, max: f64, bounds: &Bounds) -> bool {
        let claim = bounds.lower.claim;
        (self.within || bounds.class() == BoundClass::AnyRoutes) && (max - claim).abs() <= claim * MET
    }
}

/// How far `value` is above `bound`, in percent: 0 if both are 0, or `value` is below by no more than rounding.
pub fn gap_percent(value: f64, bound: f64) -> f64 {
    let below = value <= bound && value >= bound * (1.0 - MET);
    if below { 0.0 } else { (value - bound) / bound * 100.0 }
}
