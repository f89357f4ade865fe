//! Nobody beats a bound that is printed beside it: on fabrics of ten kinds, whoever made the tables.
//!
//! Every routing of a case is judged as the command judges it (`Bounds`, `Standing`). What holds for a class must hold for
//! every routing of the case that is of it, however made.

use netloom_bounds::{Bounds, Standing, fabric_outside};
use netloom_model::rng::{Stream, below, stream};
use netloom_model::{BoundClass, Control, Csr, Fabric, HostId, LinkId, PairPaths, Routes, SwitchId};
use netloom_optimize::{AfarOptions, Change, OptimizeOptions, afar, coloured, optimize_lmc};
use netloom_routing::{Engine, EngineOptions, loads, route};
use netloom_testkit::{SHAPES, random_matrix, shape, trials};

use crate::shared::Case;

/// Path searches of an optimisation.
const WORK: u64 = 500;
/// Random routings of a fabric.
const RANDOM: u64 = 20;

/// How next hops towards a leaf are drawn.
#[derive(Clone, Copy)]
enum Draw {
    /// Any tree that spans the fabric: detours.
    Spanning,
    /// A link that is nearer, whatever its direction.
    Shortest,
    /// An admissible link.
    UpDown,
}

/// The next link of every switch towards `leaf`; none where there is none.
fn towards(case: &Case, leaf: SwitchId, draw: Draw, random: &mut Stream) -> Vec<Option<LinkId>> {
    let fabric = &case.fabric;
    let mut next = vec![None; fabric.switch_count()];
    if matches!(draw, Draw::UpDown) {
        for s in fabric.switches() {
            let links = case.paths.links(s, leaf);
            next[s.index()] = (!links.is_empty()).then(|| links[below(random, links.len() as u64) as usize]);
        }
        return next;
    }
    let mut hops = vec![usize::MAX; fabric.switch_count()];
    hops[leaf.index()] = 0;
    let into = |s: SwitchId| {
        let out = fabric.switch_links(s).filter(|&l| fabric.between_switches(l) && fabric.alive(l));
        out.map(|l| fabric.reverse(l)).collect::<Vec<LinkId>>()
    };
    let mut open = into(leaf);
    while !open.is_empty() {
        // The oldest comes first where ways are to be short.
        let at = if matches!(draw, Draw::Shortest) { 0 } else { below(random, open.len() as u64) as usize };
        let link = open.remove(at);
        let (s, t) = (fabric.link_from_switch(link).unwrap(), fabric.link_to_switch(link).unwrap());
        if hops[s.index()] == usize::MAX {
            hops[s.index()] = hops[t.index()] + 1;
            next[s.index()] = Some(link);
            open.extend(into(s));
        } else if matches!(draw, Draw::Shortest)
            && hops[s.index()] == hops[t.index()] + 1
            && below(random, 2) == 0
        {
            next[s.index()] = Some(link);
        }
    }
    next
}

/// Random tables with `2^lmc` addresses a host, one of them drawn for every pair.
fn random_routes(case: &Case, seed: u64, number: u64) -> Routes {
    let mut random = stream(seed, 0x6000 + number);
    let fabric = &case.fabric;
    let draw = [Draw::Spanning, Draw::Shortest, Draw::UpDown][(number % 3) as usize];
    let lmc = u8::from(number % 5 == 4);
    let space = fabric.dests(lmc);
    let mut lft = netloom_model::Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    for host in fabric.hosts() {
        for path in 0..1u32 << lmc {
            let dest = space.host(host, path);
            for (s, link) in towards(case, fabric.leaf(host), draw, &mut random).into_iter().enumerate() {
                lft.set(SwitchId::from_index(s), dest, link.map(|l| fabric.link_port(l)));
            }
            let last = fabric.link_port(fabric.reverse(fabric.host_link(host)));
            lft.set(fabric.leaf(host), dest, Some(last));
        }
    }
    let routes = Routes::by_dest(fabric, lmc, lft);
    if lmc == 0 { routes } else { split(fabric, routes, &mut random) }
}

/// The same tables, an address drawn for every pair.
fn split(fabric: &Fabric, routes: Routes, random: &mut Stream) -> Routes {
    let lmc = routes.lmc;
    let pairs = fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))).filter(|(a, b)| a != b);
    let entries: Vec<(HostId, HostId, u32)> =
        pairs.map(|(a, b)| (a, b, below(random, 1 << lmc) as u32)).collect();
    let paths = PairPaths::new(fabric.host_count(), lmc, &entries).unwrap();
    routes.with_paths(fabric, paths).unwrap()
}

/// A routing, and the bounds that whoever made it had of his own.
struct Made {
    name: String,
    routes: Routes,
    own: Option<Bounds>,
}

/// All that makes routes, on one fabric for one traffic.
fn all_routings(case: &Case, traffic: &Csr, seed: u64) -> Vec<Made> {
    let Case { fabric, structure, paths } = case;
    let control = Control::new();
    let mut made: Vec<Made> = Vec::new();
    let mut add =
        |name: &str, routes: Routes, own: Option<Bounds>| made.push(Made { name: name.into(), routes, own });
    for engine in Engine::ALL {
        for lmc in [0, 1] {
            let Ok(routes) = route(engine, fabric, structure, &EngineOptions { seed, lmc }) else { continue };
            if lmc == 1 && routes.lft().is_some() {
                let paths = split(fabric, routes.clone(), &mut stream(seed, 0x5000));
                add(&format!("{engine}, split by pair"), paths, None);
            }
            add(&format!("{engine}, LMC {lmc}"), routes, None);
        }
    }
    for number in 0..RANDOM {
        add(&format!("random {number}"), random_routes(case, seed, number), None);
    }
    let updn = case.routes(Engine::Updn);
    let minhop = case.routes(Engine::Minhop);
    for start in [&updn, &minhop] {
        if let Ok(found) = afar(fabric, paths, start, traffic, &AfarOptions::default(), &control) {
            add("afar", found.routes, None);
        }
    }
    if let Ok(routes) = coloured(fabric, structure, paths, traffic, &updn, seed) {
        add("coloured", routes, None);
    }
    let options = OptimizeOptions { seed, work: Some(WORK), ..OptimizeOptions::default() };
    let frozen: Vec<bool> = fabric.hosts().map(|h| (seed + u64::from(h.0)).is_multiple_of(3)).collect();
    let kept = Change { from: &minhop, penalty: 0.0, most: None, frozen: &frozen };
    let kept = OptimizeOptions { change: Some(kept), ..options.clone() };
    for (name, options) in [("optimize", &options), ("optimize, some kept", &kept)] {
        if let Ok(best) = case.optimize_with(traffic, &minhop, options, &control) {
            let own = Bounds::with(fabric, structure, traffic, best.ar.unwrap(), best.bound);
            add(name, best.outcome.routes, Some(own));
        }
    }
    for lmc in [0, 1] {
        let found = optimize_lmc(fabric, structure, paths, traffic, lmc, &updn, &options, &control);
        if let Ok(best) = found {
            let own = Bounds::with(fabric, structure, traffic, best.ar.unwrap(), best.bound);
            add(&format!("optimize, LMC {lmc}"), best.outcome.routes, Some(own));
        }
    }
    made
}

/// What a routing does, and of which classes it is.
struct Judged {
    name: String,
    max: f64,
    within: bool,
    one_table: bool,
}

impl Judged {
    fn of(&self, class: BoundClass) -> bool {
        match class {
            BoundClass::AnyRoutes => true,
            BoundClass::UpDownSplits | BoundClass::UpDownPairs => self.within,
            BoundClass::UpDownTables => self.within && self.one_table,
            // Of these only who printed the bound is known to be.
            BoundClass::KeptTables => false,
            BoundClass::ShortestSplits | BoundClass::ShortestPairs | BoundClass::ShortestTables => false,
        }
    }
}

#[test]
fn hostile_no_printed_bound_is_beaten() {
    let cases = trials(60);
    let (mut judged, mut gaps, mut withheld, mut fabrics, mut skipped) = (0u64, 0u64, 0u64, [0u64; 10], 0u64);
    for seed in 0..cases {
        let case = Case::new(shape(seed));
        let Case { fabric, structure, paths } = &case;
        let traffic = random_matrix(fabric, seed);
        let control = Control::new();
        let about = format!("seed {seed}, {}", SHAPES[(seed % 10) as usize]);
        let shape = fabric_outside(fabric, structure, paths);
        let made = all_routings(&case, &traffic, seed);
        let mut seen: Vec<Judged> = Vec::new();
        // A bound that is printed, who has it beside his load, and what it is a bound of.
        let mut printed: Vec<(f64, BoundClass, String)> = Vec::new();
        let compared = made.iter().rev().find_map(|m| m.own.clone());
        for Made { name, routes, own } in made {
            let Ok(load) = loads(fabric, &routes, &traffic) else { continue };
            let max = load.max();
            let standing = Standing::new(fabric, paths, shape.as_ref(), &routes, &traffic);
            let bounds = Bounds::new(fabric, structure, paths, &routes, &traffic, &control, Some(20));
            // As `loads` prints them, as `optimize` does of its own, and as `--compare` does of others.
            let compared = compared.as_ref().map(|bounds| bounds.for_routes(&routes, &[]));
            for bounds in [bounds.ok(), own, compared].into_iter().flatten() {
                let lower = (bounds.lower.claim, bounds.class());
                let ar = (bounds.ar.lower, bounds.ar_class());
                let any = (bounds.any.claim, BoundClass::AnyRoutes);
                for (bound, class) in [lower, ar, any] {
                    match standing.gap_percent(max, bound, class) {
                        Some(gap) => {
                            assert!(gap >= -1e-9, "{about}, {name}: {max} is below {bound} of {class:?}");
                            gaps += 1;
                        }
                        None => withheld += 1,
                    }
                    printed.push((bound, class, name.clone()));
                }
                if standing.optimal(max, &bounds) {
                    printed.push((max, bounds.class(), format!("{name}, proven optimal")));
                }
            }
            let one_table = routes.lft().is_some() && routes.one_address();
            seen.push(Judged { name, max, within: standing.within, one_table });
        }
        for (bound, class, beside) in &printed {
            let beaten = seen.iter().find(|r| r.of(*class) && r.max < bound * (1.0 - 1e-9));
            assert!(
                beaten.is_none(),
                "{about}: {bound} of {class:?} beside {beside} is beaten by {}: {}",
                beaten.map_or("", |r| r.name.as_str()),
                beaten.map_or(0.0, |r| r.max)
            );
        }
        judged += seen.len() as u64;
        skipped += u64::from(printed.is_empty());
        fabrics[(seed % 10) as usize] += u64::from(shape.is_some());
    }
    println!(
        "{cases} fabrics, {skipped} without a bound; {judged} routings, {gaps} gaps, {withheld} withheld; outside by kind: {fabrics:?}"
    );
    assert!(judged > 30 * (cases - skipped) / 2 && gaps > judged, "{judged} routings, {gaps} gaps");
}

#[test]
fn a_dragonfly_has_no_gap_that_other_tables_beat() {
    // Nine groups of four routers, two hosts each: direct ways between groups are shorter than those over a root.
    let case = Case::new(netloom_topology::generate("dragonfly:p=2,a=4,h=2").unwrap());
    let Case { fabric, structure, paths } = &case;
    let n = fabric.host_count() as u64;
    let entries: Vec<(u64, u64, f64)> =
        (0..n * n).filter(|e| e / n != e % n).map(|e| (e / n, e % n, 1.0)).collect();
    let traffic = netloom_testkit::matrix(n as usize, &entries);
    let shape = fabric_outside(fabric, structure, paths).expect("a dragonfly is no tree");
    assert_eq!(shape.kind(), "fabric");
    let routes = case.routes(Engine::Minhop);
    let max = loads(fabric, &routes, &traffic).unwrap().max();
    let standing = Standing::new(fabric, paths, Some(&shape), &routes, &traffic);
    let bounds = Bounds::new(fabric, structure, paths, &routes, &traffic, &Control::new(), None).unwrap();
    // Today's numbers would be a gap below 0.
    assert!(max < bounds.lower.claim);
    assert_eq!(standing.gap_percent(max, bounds.lower.claim, bounds.class()), None);
    assert!(!standing.optimal(max, &bounds));
    // Every host sends, and receives, n - 1 bytes: that much is true of any routes.
    assert!(bounds.any.claim >= (n - 1) as f64 && bounds.any.claim <= max);
}
