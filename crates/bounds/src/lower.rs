//! The best lower bound for destination-based routes.
//!
//! What every routing obeys ([`ar_bound`](crate::ar_bound)), and then what only whole items must obey: at every place of
//! `places`, the items that cannot avoid its links are packed whole into them (`packing`), each link with its own
//! capacity and with what frozen destinations put on it.
//! Source: Taffet, dissertation, sec. 6.1.1 (cutting planes at leaves and spines).

use netloom_model::{Certificate, Control, Csr, Fabric, LinkId, Reason, Routes, Ways};
use netloom_routing::PathSet;
use netloom_topology::Structure;
use rayon::prelude::*;

use crate::ar::ar_of;
use crate::bins::Bins;
use crate::cuts;
use crate::demand::Demand;
use crate::interval::BoundError;
use crate::knapsack::Allowance;
use crate::packing::{self, Proof, SLACK};
use crate::patterns::{self, Weights};
use crate::places::{Place, Places};
use crate::sums::common_grid;

/// Places whose dear arguments run at once; fixed, so that the result does not depend on threads.
const BATCH: usize = 16;
/// States that patterns may look at in one place, and in all.
const ONE_PATTERNS: u64 = 20_000_000;
const ALL_PATTERNS: u64 = 200_000_000;
/// Part by which steps of a grid may be missed, for rounding.
const STEP: f64 = 1e-10;
/// Steps by which a dual of whole items is raised, at most.
const MOST_ROUNDS: usize = 10_000;

/// The best of all bounds on the maximum load of destination-based admissible routes.
///
/// Pairs without a path are left out (routing them is an error elsewhere). Deterministic.
pub fn lower_bound(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    control: &Control,
) -> Certificate {
    let demand = Demand::new(fabric, traffic);
    match ar_of(fabric, structure, paths, &demand, control, None) {
        Ok(ar) => pack(fabric, structure, paths, &demand, ar.certificate),
        Err(_) => pack(fabric, structure, paths, &demand, cuts::nothing().of(paths.ways())),
    }
}

/// The better of `start` (such as the certificate of [`ar_bound`](crate::ar_bound)) and the whole-item bounds at every place.
///
/// For callers that have the AR bound already; [`lower_bound`] computes it first.
pub fn tighten(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    start: Certificate,
) -> Certificate {
    let demand = Demand::new(fabric, traffic);
    let start = match paths.ways() {
        // On trees the links of leaves and pods say as much.
        Ways::UpDown | Ways::Any => start,
        Ways::Shortest => whole(fabric, paths, &demand, start),
    };
    pack(fabric, structure, paths, &demand, start)
}

/// A dual whose links carry whole items, where that is better: see [`Reason::WholeDual`].
fn whole(fabric: &Fabric, paths: &PathSet, demand: &Demand, start: Certificate) -> Certificate {
    let Reason::Dual { weights } = &start.reason else { return start };
    let reached = demand.leaves.iter().zip(&demand.items).flat_map(|(&leaf, items)| {
        items.iter().filter(move |item| paths.hops(leaf, fabric.leaf(item.destination)).is_some())
    });
    let sizes: Vec<f64> = reached.map(|item| item.bytes).collect();
    let between = weights.iter().all(|&(l, _)| fabric.between_switches(l));
    let Some(grid) = common_grid(&sizes).filter(|_| between && start.frozen.is_empty() && !start.pairs)
    else {
        return start;
    };
    let capacity = |l: LinkId| fabric.relative_capacity(l);
    let mass: f64 = weights.iter().map(|&(l, w)| w * capacity(l)).sum();
    let demanded = start.claim * mass;
    let steps = |z: f64, l: LinkId| (z * capacity(l) / grid * (1.0 + STEP)).floor();
    let mut claim = start.claim;
    for _ in 0..MOST_ROUNDS {
        let held: f64 = weights.iter().map(|&(l, w)| w * grid * steps(claim, l)).sum();
        if held >= demanded * (1.0 - STEP) {
            break;
        }
        let next = weights.iter().map(|&(l, _)| (steps(claim, l) + 1.0) * grid / capacity(l));
        claim = next.fold(f64::INFINITY, f64::min);
    }
    if claim <= start.claim * SLACK {
        return start;
    }
    let reason = Reason::WholeDual { weights: weights.clone(), grid };
    Certificate { claim, reason, ..start }
}

/// The better of `start`, which must hold for any routes, and the bounds of [`tighten`] with what *one* host sends to
/// another as items: they hold for several addresses a host too, however senders choose among them.
pub fn tighten_pairs(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    start: Certificate,
) -> Certificate {
    let (before, pairs) = (start.claim, start.pairs);
    let best = pack(fabric, structure, paths, &Demand::of_pairs(fabric, traffic), start);
    Certificate { pairs: pairs || best.claim > before, ..best }
}

/// The best bound on routes that agree with `routes` on the destinations with a true in `frozen` (one a host; empty
/// or all false: as [`lower_bound`]).
///
/// What is sent to them lies on the links of its path, the rest chooses freely. `work`: the most iterations of the
/// linear program (`None`: [`DEFAULT_WORK`](crate::DEFAULT_WORK)). The certificate names the frozen destinations: it is
/// judged together with routes.
///
/// # Errors
/// [`BoundError`] if `routes` do not deliver what is sent to frozen destinations, or another pair has no path.
#[expect(clippy::too_many_arguments, reason = "fabric, traffic and routes are all it needs")]
pub fn lower_bound_with_frozen(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    routes: &Routes,
    frozen: &[bool],
    control: &Control,
    work: Option<u64>,
) -> Result<Certificate, BoundError> {
    let demand = Demand::with_frozen(fabric, traffic, routes, frozen)?;
    let ar = ar_of(fabric, structure, paths, &demand, control, work)?;
    let start = ar.certificate;
    let best = pack(fabric, structure, paths, &demand, start);
    Ok(Certificate { frozen: demand.frozen, ..best })
}

/// The best whole-item bound above `start`.
fn pack(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    demand: &Demand,
    start: Certificate,
) -> Certificate {
    let places = Places::new(fabric, structure, paths, demand);
    // What cheap arguments show, everywhere; and what a packing reaches, which limits all others.
    let look = |place: Place| -> Option<PlaceBound> {
        let bins = places.bins(&place);
        if bins.at_most(place.total, place.largest) <= start.claim * SLACK {
            return None;
        }
        let sizes: Vec<f64> = places.items(&place).into_iter().map(|(bytes, _)| bytes).collect();
        let (found, packed) = packing::quick(&sizes, &bins, start.claim);
        Some(PlaceBound { place, bins, found, packed })
    };
    let looks: Vec<PlaceBound> = places.all().into_par_iter().filter_map(look).collect();
    let mut best: Option<(&PlaceBound, f64, Proof)> = None;
    let mut floor = start.claim;
    for look in &looks {
        if let Some((claim, proof)) = &look.found
            && *claim > floor
        {
            best = Some((look, *claim, proof.clone()));
            floor = *claim;
        }
    }
    // The dear arguments where they may help, the worst packings first; the floor rises from batch to batch.
    let sizes = |look: &PlaceBound| -> Vec<f64> {
        places.items(&look.place).into_iter().map(|(bytes, _)| bytes).collect()
    };
    let mut spent = 0;
    for by_patterns in [false, true] {
        let mut open: Vec<&PlaceBound> = looks.iter().filter(|l| l.packed > floor * SLACK).collect();
        open.sort_by(|a, b| b.packed.total_cmp(&a.packed));
        for batch in open.chunks(BATCH) {
            if spent > ALL_PATTERNS {
                break;
            }
            let slow = |look: &&PlaceBound| -> (Option<(f64, Proof)>, u64) {
                let mut allowance = Allowance(ONE_PATTERNS);
                if look.packed <= floor * SLACK {
                    return (None, 0);
                }
                if !by_patterns {
                    return (packing::slow(&sizes(look), &look.bins, floor, look.packed), 0);
                }
                let found =
                    patterns::bound(&sizes(look), &look.bins, floor * SLACK, look.packed, &mut allowance);
                (found.map(|(claim, weights)| (claim, Proof::Patterns(weights))), ONE_PATTERNS - allowance.0)
            };
            let found: Vec<(Option<(f64, Proof)>, u64)> = batch.par_iter().map(slow).collect();
            for (&look, (found, work)) in batch.iter().zip(found) {
                spent += work;
                if let Some((claim, proof)) = found
                    && claim > floor
                {
                    best = Some((look, claim, proof));
                    floor = claim;
                }
            }
        }
    }
    let Some((PlaceBound { place, .. }, claim, proof)) = best else { return start };
    debug_assert!(
        claim.is_finite() && claim > start.claim,
        "a certificate is issued for a better bound only"
    );
    let links = place.links.clone();
    let fastest = links.iter().map(|&l| fabric.relative_capacity(l)).fold(0.0, f64::max);
    let reason = match proof {
        Proof::Pigeonhole { count } => {
            let items = places.items(place).into_iter().take(count).map(|(_, item)| item).collect();
            Reason::Pigeonhole { links, items }
        }
        Proof::DualFeasible { threshold } => Reason::DualFeasible { links, threshold: threshold / fastest },
        Proof::SubsetSum { grid } => Reason::SubsetSum { links, grid },
        Proof::Patterns(Weights { grid, by_size }) => Reason::Patterns { links, grid, by_size },
    };
    Certificate::new(claim, place.name.clone(), reason).of(paths.ways())
}

/// A place, and what is known of it.
struct PlaceBound {
    place: Place,
    bins: Bins,
    found: Option<(f64, Proof)>,
    /// The fullest link of some packing.
    packed: f64,
}
