//! Tables of shortest ways, on lanes: the search where some of them are not up*/down*.
//!
//! Up*/down* ways need no lanes, and crowd round the switches on top. On a torus, a HyperX, a dragonfly or any other graph
//! the shortest ways are many, of all directions, and are free of deadlocks once they are put on lanes. So the same
//! search goes over all shortest ways, from the tables of `layers`; what it finds is put on lanes as `layers` does it, pair
//! of leaves by pair of leaves. Where that takes more lanes than there may be, destinations go back to the ways that `layers`
//! has for them, those that are sent least first, until the lanes do; and on grids the search begins again, with `dor`'s tables.
//!
//! Invariant: what leaves has the lanes that it needs, and no more than were allowed. Whether that is so is for the judge
//! ([`pass`](crate::pass)), who shares no code with it. The bound is of shortest ways, on whatever lanes.

use netloom_model::{Control, Csr, DestId, Fabric, HostId, Lft, Routes, StopReason, Table};
use netloom_optimize::{OptimizeOptions, Optimized, Outcome, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, on_lanes, route};
use netloom_topology::Structure;

/// Lanes at most, where nobody says.
pub const LANES: usize = 8;

/// Shares of the destinations, in eighths, that keep what was found for them: the most first.
const SHARES: [usize; 5] = [8, 7, 6, 4, 2];

/// Whose tables the search begins with: where what came of those of the first needs too many lanes or is not proved the least, the
/// next. Ways in order of dimensions turn little, and leave lanes for what is found.
const BEGUN: [Engine; 2] = [Engine::Layers, Engine::Dor];

/// What the search found.
#[derive(Clone, Debug)]
pub struct OnLanes {
    /// The routes, with their lanes, and bounds of shortest ways.
    pub found: Optimized,
    /// Destinations that went back to the ways of `layers`, as there were too few lanes.
    pub put_back: usize,
    /// Whose tables it began with.
    pub begun: Engine,
}

/// What the searches came to.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The best that so many lanes can carry.
    pub best: Option<OnLanes>,
    /// The largest load of the best that was found, whatever lanes it needs.
    pub least: f64,
}

/// Routes of shortest ways for `traffic` on at most so many lanes; none where no engine has some to begin with, or traffic has no way.
///
/// `paths` are the shortest ways; `settings` must not ask to keep to today's routes.
pub fn search_on_lanes(
    fabric: &Fabric,
    structure: &Structure,
    paths: &PathSet,
    traffic: &Csr,
    settings: &OptimizeOptions,
    most: usize,
    control: &Control,
) -> Kept {
    let mut kept = Kept { best: None, least: f64::INFINITY };
    for engine in BEGUN {
        let best = kept.best.as_ref();
        let interrupted = kept.least.is_finite() && control.stopped() == Some(StopReason::Interrupted);
        if interrupted
            || best.is_some_and(|best| best.found.outcome.proven_optimal || control.stopped().is_some())
        {
            break;
        }
        let options = &EngineOptions { seed: settings.seed, lmc: 0 };
        let Ok(begin) = route(engine, fabric, structure, options) else { continue };
        let Ok(found) = optimize(fabric, structure, paths, traffic, &begin, settings, control) else {
            continue;
        };
        kept.least = kept.least.min(found.loads.max());
        let found = kept_on_lanes(fabric, structure, traffic, (&begin, engine), found, (most, control));
        let max = |one: &OnLanes| one.found.loads.max();
        if found.as_ref().is_some_and(|found| best.is_none_or(|best| max(found) < max(best))) {
            kept.best = found;
        }
    }
    kept
}

/// As much of what was `found` as so many lanes can carry.
fn kept_on_lanes(
    fabric: &Fabric,
    structure: &Structure,
    traffic: &Csr,
    (begin, begun): (&Routes, Engine),
    found: Optimized,
    (most, control): (usize, &Control),
) -> Option<OnLanes> {
    let (tables, best) = (begin.lft()?, found.outcome.routes.lft()?);
    let order = by_bytes(fabric, traffic);
    let (routes, kept) = SHARES.iter().find_map(|share| {
        let kept = order.len() * share / 8;
        let lft = with_found(fabric, tables, best, &order[..kept]);
        Some((
            on_lanes(
                fabric,
                structure,
                Routes { table: Table::ByDest(lft), ..begin.clone() },
                most,
                control,
            )?,
            kept,
        ))
    })?;
    let put_back = order.len() - kept;
    let loads = loads(fabric, &routes, traffic).ok()?;
    let proven_optimal = found.outcome.proven_optimal && put_back == 0;
    let outcome = Outcome { routes, proven_optimal, ..found.outcome };
    let switch_max_load = loads.max_between_switches(fabric);
    Some(OnLanes { found: Optimized { outcome, loads, switch_max_load, ..found }, put_back, begun })
}

/// The hosts, those first that are sent most.
fn by_bytes(fabric: &Fabric, traffic: &Csr) -> Vec<HostId> {
    let mut bytes = vec![0.0; fabric.host_count()];
    traffic.iter().filter(|(i, j, _)| i != j).for_each(|(_, j, b)| bytes[j as usize] += b);
    let mut order: Vec<HostId> = fabric.hosts().collect();
    order.sort_by(|a, b| bytes[b.index()].total_cmp(&bytes[a.index()]).then(a.cmp(b)));
    order
}

/// The tables that were begun with, and towards some hosts those that were found. Packets for a switch go as those for its
/// first host, so that they make no turns of their own.
fn with_found(fabric: &Fabric, begun: &Lft, found: &Lft, hosts: &[HostId]) -> Lft {
    let (mut lft, space) = (begun.clone(), fabric.dests(0));
    let mut copy = |from: &Lft, dest: DestId, to: DestId, but: Option<_>| {
        for s in fabric.switches().filter(|&s| Some(s) != but) {
            lft.set(s, to, from.get(s, dest));
        }
    };
    let mut taken = vec![false; fabric.host_count()];
    for &host in hosts {
        taken[host.index()] = true;
        copy(found, space.host(host, 0), space.host(host, 0), None);
    }
    for target in fabric.switches() {
        let first = fabric
            .hosts_on(target)
            .iter()
            .min_by_key(|&&h| fabric.link_port(fabric.reverse(fabric.host_link(h))));
        if let Some(&host) = first.filter(|host| taken[host.index()]) {
            copy(found, space.host(host, 0), space.switch(target), Some(target));
        }
    }
    lft
}

#[cfg(test)]
mod tests {
    use netloom_model::{BoundClass, Traffic};
    use netloom_topology::{detect, generate};
    use netloom_traffic::pattern;
    use netloom_verify::{check, verify_certificate};

    use super::*;

    fn searched(spec: &str, traffic: &str, most: usize) -> (Fabric, Structure, Csr, OnLanes) {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let traffic: Traffic = pattern(traffic, Some(fabric.host_count() as u32)).unwrap();
        let total = traffic.total().into_owned();
        let options = OptimizeOptions { work: Some(20_000), ..OptimizeOptions::default() };
        let paths = PathSet::shortest(&fabric);
        let control = Control::new();
        let found = search_on_lanes(&fabric, &structure, &paths, &total, &options, most, &control);
        let found = found.best.unwrap();
        (fabric, structure, total, found)
    }

    #[test]
    fn what_is_found_is_shortest_free_of_deadlocks_and_its_bound_is_proved() {
        for spec in [
            "dragonfly:p=2,a=4,h=2",
            "torus:shape=5x5,hosts=2",
            "hyperx:shape=4x3,hosts=3",
            "megafly:groups=5,leaves=2,spines=2,hosts=2",
        ] {
            let (fabric, structure, total, on_lanes) = searched(spec, "permutation:seed=3", LANES);
            let found = &on_lanes.found;
            let report = check(&fabric, &structure, &found.outcome.routes);
            assert_eq!((report.credit_loops, report.holes()), (0, 0), "{spec}");
            let lanes = found.outcome.routes.lanes.as_ref().map_or(1, |lanes| usize::from(lanes.lanes()));
            assert!(lanes <= LANES, "{spec}: {lanes} lanes");
            let judged =
                verify_certificate(&fabric, &structure, Some(&found.outcome.routes), &total, &found.bound);
            assert!(judged.ok, "{spec}: {:?}", judged.reasons);
            assert_eq!(judged.max_load, Some(found.loads.max()));
            let class = found.bound.class();
            assert!([BoundClass::ShortestSplits, BoundClass::ShortestTables].contains(&class), "{class:?}");
        }
    }

    #[test]
    fn with_too_few_lanes_destinations_go_back_to_where_they_were() {
        // A ring of five with all-to-all needs two lanes whatever tables there are, so one cannot do.
        let fabric = generate("torus:shape=5,hosts=1").unwrap();
        let structure = detect(&fabric);
        let total = pattern("all-to-all", Some(5)).unwrap().total().into_owned();
        let (options, paths) = (OptimizeOptions::default(), PathSet::shortest(&fabric));
        let most =
            |most| search_on_lanes(&fabric, &structure, &paths, &total, &options, most, &Control::new()).best;
        assert!(most(1).is_none());
        assert_eq!(most(2).unwrap().put_back, 0);
    }
}
