//! How many links must carry the maximum, recomputed.

use netloom_model::{Control, Csr, Fabric, LinkId, LinksAtMax, Routes};
use netloom_topology::Structure;

use crate::certificate::{Case, TOLERANCE, frozen};
use crate::distance::Graph;
use crate::loads::bytes_on;
use crate::patterns::Scale;

/// The number of links that the argument shows to be loaded with `level` or more, recomputed from `traffic`.
///
/// Given routes, whether they keep to it is seen too: with no load above the maximum, they have that many links. Routes are
/// also asked for what is sent to frozen destinations.
///
/// # Errors
/// Why the claim is not proved, or the routes contradict it; or that `control` asked to stop.
pub fn verify_links_at_max(
    fabric: &Fabric,
    structure: &Structure,
    routes: Option<&Routes>,
    traffic: &Csr,
    claim: &LinksAtMax,
    control: &Control,
) -> Result<u64, String> {
    if traffic.size() != fabric.host_count() {
        let (n, hosts) = (traffic.size(), fabric.host_count());
        return Err(format!("the traffic has {n} endpoints, the fabric {hosts} hosts"));
    }
    let (level, maximum) = (claim.level, claim.maximum);
    if claim.count == 0 && claim.sides.is_empty() {
        return Ok(0);
    }
    if !(level.is_normal() && level > 0.0 && maximum.is_finite() && level <= maximum) {
        return Err(format!("the level {level:?} is not between 0 and the maximum {maximum:?}"));
    }
    let (frozen, base) = frozen(fabric, routes, traffic, &claim.frozen)?;
    let case = Case {
        fabric,
        traffic,
        graph: Graph::new(fabric, structure),
        claim: level,
        frozen,
        base,
        pairs: false,
    };
    let mut count = 0;
    let sets: Vec<&[LinkId]> = claim.sides.iter().map(|side| side.links.as_slice()).collect();
    let places = case.places(&sets, control)?;
    for (side, place) in claim.sides.iter().zip(places) {
        if control.stopped().is_some() {
            return Err("stopped before the judge was done".into());
        }
        // A link that carries as much already has no room.
        let at = place.room(maximum * (1.0 + TOLERANCE)).map(|room| room.max(0.0));
        let below = place.room(level * (1.0 - TOLERANCE)).map(|room| room.max(0.0));
        let (at, below): (Vec<f64>, Vec<f64>) = (at.collect(), below.collect());
        let scale =
            Scale::new(&place, side.grid, &side.by_size, &at).map_err(|e| format!("{}: {e}", side.place))?;
        let mut gains: Vec<u64> = below.iter().zip(at).map(|(&b, a)| scale.held(a) - scale.held(b)).collect();
        let fit = u64::try_from(scale.fit(below)).unwrap_or(u64::MAX);
        let mut missing = scale.all.saturating_sub(fit);
        gains.sort_unstable();
        while missing > 0
            && let Some(gain) = gains.pop()
        {
            (missing, count) = (missing.saturating_sub(gain), count + 1);
        }
    }
    if count < claim.count {
        return Err(format!("the argument gives {count} links, less than the claim {}", claim.count));
    }
    if let Some(routes) = routes {
        let bytes = bytes_on(fabric, routes, traffic, |_| true)?;
        let loads = fabric.links().filter(|&l| fabric.between_switches(l));
        let loads: Vec<f64> = loads.map(|l| bytes[l.index()] / fabric.relative_capacity(l)).collect();
        let hot = loads.iter().filter(|&&l| l >= level * (1.0 - TOLERANCE)).count() as u64;
        if loads.iter().all(|&l| l <= maximum * (1.0 + TOLERANCE)) && hot < claim.count {
            return Err(format!(
                "the routes have {hot} links at {level}, below the claim {}: one of them is wrong, or the routes are not \
                 minimal up*/down* routes by destination",
                claim.count
            ));
        }
    }
    Ok(count)
}
