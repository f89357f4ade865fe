//! Freedom from deadlock by (link, lane).

use netloom_model::{
    End, Fabric, FabricBuilder, HostSpec, LaneMap, Levels, Lft, Routes, SwitchId, SwitchSpec,
};
use netloom_routing::{Engine, EngineOptions, dla, layers, loads, route};
use netloom_testkit::cases::wired;
use netloom_testkit::shapes::shape;
use netloom_testkit::traffic::matrix;
use netloom_testkit::trials;
use netloom_topology::{Damage, damage, detect, generate};
use netloom_verify::{FindingKind, check, check_on, lane_loops, mixed_lane_loops};

const SHAPES: [&str; 4] = [
    "dragonfly:p=2,a=4,h=2",
    "dragonfly:p=2,a=4,h=2,arrangement=relative",
    "dragonfly:p=1,a=8,h=2,g=9,links=2,arrangement=circulant",
    "dragonfly:p=4,a=8,h=4",
];

#[test]
fn two_lanes_free_minimal_routes_of_a_dragonfly_and_one_does_not() {
    for spec in SHAPES {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let routes = dla(&fabric, &structure, &EngineOptions::default()).unwrap();
        let free = lane_loops(&fabric, &routes, routes.lanes.as_ref().unwrap());
        assert_eq!((free.lanes, free.credit_loops, free.cycle), (2, 0, vec![]), "{spec}");
        let one = lane_loops(&fabric, &routes, &LaneMap::uniform(&fabric, 1));
        assert!(one.lanes == 1 && one.credit_loops > 0, "{spec}");
        // Each link of the cycle leads to where the next one begins, the last to the first.
        let next = one.cycle.iter().cycle().skip(1);
        for (&(a, _), &(b, _)) in one.cycle.iter().zip(next) {
            assert_eq!(fabric.link_to(a), fabric.link_from(b), "{spec}");
        }
        // The check takes the routes' own lanes, and finds nothing at all; by links alone it says the same of one lane.
        let report = check(&fabric, &structure, &routes);
        assert!(report.ok() && report.findings.is_empty(), "{spec}: {report:?}");
        assert_eq!((report.lanes, report.non_minimal_pairs), (2, 0), "{spec}");
        let report = check_on(&fabric, &structure, &routes, None);
        assert_eq!((report.unreachable_pairs, report.credit_loops), (0, one.credit_loops), "{spec}");
        assert!(!report.cycle.is_empty() && report.lanes == 1, "{spec}");
    }
}

#[test]
fn what_does_not_deadlock_on_one_lane_does_not_on_more() {
    for spec in ["quartz1", "dragonfly:p=2,a=4,h=2"] {
        let fabric = generate(spec).unwrap();
        let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        assert_eq!(lane_loops(&fabric, &routes, &LaneMap::uniform(&fabric, 1)).credit_loops, 0, "{spec}");
        assert_eq!(lane_loops(&fabric, &routes, &LaneMap::uniform(&fabric, 4)).credit_loops, 0, "{spec}");
    }
}

#[test]
fn levels_of_pairs_keep_packets_apart() {
    // Random lanes mix what dla keeps apart; random levels over straight tables keep every packet on one lane.
    let fabric = generate(SHAPES[0]).unwrap();
    let routes = dla(&fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let random = lane_loops(&fabric, &routes, &LaneMap::random(&fabric, 4, 4, 1));
    assert!(random.credit_loops > 0 && random.lanes == 4);
    let straight = LaneMap::uniform(&fabric, 2).with_levels(Levels::pairs(2, 1));
    let found = lane_loops(&fabric, &routes, &straight);
    assert!(found.credit_loops > 0);
    assert!(found.cycle.iter().all(|&(_, lane)| lane == found.cycle[0].1), "{found:?}");
}

/// Switches without hosts are reached too, by packets on level 0, without a circle: on one lane where pairs of hosts need no more.
#[test]
fn what_goes_to_switches_own_lids_closes_no_circle() {
    let ring = |hosts: &[usize]| {
        let names: Vec<String> = (0..hosts.len()).map(|i| format!("s{i}")).collect();
        let switches: Vec<(&str, usize)> =
            names.iter().map(String::as_str).zip(hosts.iter().copied()).collect();
        let cables: Vec<_> = (0..hosts.len()).map(|i| (i, (i + 1) % hosts.len(), 1)).collect();
        wired(&switches, &cables)
    };
    let specs = [
        "megafly:groups=5,leaves=2,spines=2,hosts=2",
        "megafly:groups=9,leaves=4,spines=4,hosts=4",
        "dragonfly:p=2,a=4,h=2",
        "torus:shape=6x5,hosts=1",
        "hyperx:shape=4x4,hosts=1",
    ];
    let made = specs.map(|spec| generate(spec).unwrap()).into_iter();
    for fabric in made.chain([ring(&[1; 7]), ring(&[1, 0, 1, 0, 1, 0, 1])]) {
        let structure = detect(&fabric);
        let routes = layers(&fabric, &structure, &EngineOptions::default()).unwrap();
        let report = check(&fabric, &structure, &routes);
        assert!(report.ok() && report.findings.is_empty(), "{report:?}");
        assert_eq!((report.holes(), report.switch_credit_loops), (0, 0));
        // On the lanes of level 0 nothing waits for itself, whether hosts or switches are meant: by all that lane 0 carries.
        let used = routes.lanes.as_deref().map_or(1, LaneMap::lanes);
        assert_eq!(report.lanes, used);
    }
}

/// The judge follows every pair with its level; the engine never asked it. One lane fewer than the engine found is none too many.
#[test]
fn layers_of_any_shape_are_free_hostile() {
    for seed in 0..trials(10) {
        let fabric = shape(seed);
        let structure = detect(&fabric);
        let routes = layers(&fabric, &structure, &EngineOptions::default()).unwrap();
        let report = check(&fabric, &structure, &routes);
        assert_eq!((report.credit_loops, report.holes()), (0, 0), "seed {seed}: {report:?}");
        let Some(map) = routes.lanes.as_deref() else { continue };
        let found = lane_loops(&fabric, &routes, map);
        assert_eq!((found.lanes, found.credit_loops), (map.lanes(), 0), "seed {seed}");
        let without = map.clone().without_levels();
        assert!(lane_loops(&fabric, &routes, &without).credit_loops > 0, "seed {seed}: levels matter");
    }
}

#[test]
fn loads_of_the_neighbour_pattern_and_of_all_to_all_are_the_formulas() {
    let fabric = generate("dragonfly:p=4,a=8,h=4").unwrap();
    let structure = detect(&fabric);
    let groups = structure.shape.groups().unwrap();
    let routes = dla(&fabric, &structure, &EngineOptions::default()).unwrap();
    let most = |to: &dyn Fn(u64, u64) -> f64| {
        let entries: Vec<(u64, u64, f64)> = (0..1056u64)
            .flat_map(|i| (0..1056).map(move |j| (i, j)))
            .filter(|(i, j)| i != j)
            .map(|(i, j)| (i, j, to(i, j)))
            .filter(|entry| entry.2 > 0.0)
            .collect();
        let found = loads(&fabric, &routes, &matrix(1056, &entries)).unwrap();
        let (mut host, mut local, mut global) = (0f64, 0f64, 0f64);
        for link in fabric.links() {
            let of = match (fabric.link_from_switch(link), fabric.link_to_switch(link)) {
                (Some(a), Some(b)) if groups.group(a) == groups.group(b) => &mut local,
                (Some(_), Some(_)) => &mut global,
                _ => &mut host,
            };
            *of = of.max(found.load[link.index()]);
        }
        (host, local, global)
    };
    // a p hosts share one cable between two groups.
    assert_eq!(most(&|i, j| if j / 32 == (i / 32 + 1) % 33 { 1.0 / 32.0 } else { 0.0 }).2, 32.0);
    let (host, local, global) = most(&|_, _| 1.0);
    assert!(
        (local / host - 0.986).abs() < 5e-4 && (global / host - 0.971).abs() < 5e-4,
        "{local} {global} {host}"
    );
}

#[test]
fn dla_refuses_what_it_cannot_route() {
    let refused = |fabric: &netloom_model::Fabric, lmc| {
        let options = EngineOptions { lmc, ..EngineOptions::default() };
        dla(fabric, &detect(fabric), &options).unwrap_err().to_string()
    };
    let tree = generate("cab").unwrap();
    assert!(refused(&tree, 0).contains("its shape is tree; use updn"));
    assert!(refused(&generate(SHAPES[0]).unwrap(), 8).contains("LMC"));
}

/// `(switch, port)` of cables: a local one, a global one, both; then what is lost of 2 x 2 x 8 x 8 pairs or more with tables of the
/// whole fabric.
#[test]
fn two_lanes_do_where_a_cable_is_missing() {
    for (arrangement, cut) in ["absolute", "relative", "circulant"].iter().flat_map(|a| {
        [vec![("g00r0", 3)], vec![("g00r0", 6)], vec![("g00r0", 3), ("g00r0", 6), ("g04r2", 5)]]
            .map(|cut| (a, cut))
    }) {
        let whole = generate(&format!("dragonfly:p=2,a=4,h=2,arrangement={arrangement}")).unwrap();
        let links = cut.iter().map(|&(switch, port)| (switch.to_owned(), port)).collect();
        let fabric = damage(&whole, &Damage { links, ..Damage::default() }, 0).unwrap().fabric;
        let structure = detect(&fabric);
        let routes = dla(&fabric, &structure, &EngineOptions::default()).unwrap();
        let report = check(&fabric, &structure, &routes);
        assert!(report.ok() && report.findings.is_empty(), "{arrangement} {cut:?}: {report:?}");
        assert_eq!((report.lanes, report.unreachable_pairs, report.non_minimal_pairs), (2, 0, 0), "{cut:?}");
        let before = dla(&whole, &detect(&whole), &EngineOptions::default()).unwrap();
        assert!(check(&fabric, &structure, &before).unreachable_pairs > 0);
    }
}

/// Three switches, a host each, all joined: tables of single cables, but for what `round` says: (at, to) goes by the third switch.
fn triangle(round: &[(u32, u32)]) -> (Fabric, Routes) {
    let mut b = FabricBuilder::new();
    for s in 0..3u16 {
        b.switch(SwitchSpec::new(format!("s{s}"), u64::from(s) + 1, 4));
        let host = b.host(HostSpec::new(format!("h{s}"), 100 + 16 * u64::from(s)));
        // Port 4 is the host's; a switch's port to another has that one's number, counted from 1.
        b.cable(End::Switch(s.into(), 4), End::Host(host), 1e9);
    }
    for (a, z) in [(0u16, 1u16), (0, 2), (1, 2)] {
        b.cable(End::Switch(a.into(), z + 1), End::Switch(z.into(), a + 1), 1e9);
    }
    let fabric = b.build().unwrap();
    let space = fabric.dests(0);
    let mut lft = Lft::empty(3, space.count(), 4);
    for (at, host) in (0..3).flat_map(|at| fabric.hosts().map(move |host| (at, host))) {
        let to = fabric.leaf(host).0;
        let by = if round.contains(&(at, to)) { 3 - at - to } else { to };
        let port = if at == to { 4 } else { by as u16 + 1 };
        lft.set(SwitchId(at), space.host(host, 0), Some(port));
    }
    (fabric.clone(), Routes::by_dest(&fabric, 0, lft))
}

/// Old: from 0 to 2 by 1, so 0-1 waits for 1-2. New: from 1 to 0 by 2 and from 2 to 1 by 0, so 1-2 waits for 2-0, and that for 0-1.
#[test]
fn mixes_of_tables_can_wait_in_a_circle_that_a_second_lane_opens() {
    let (fabric, old) = triangle(&[(0, 2)]);
    let (_, new) = triangle(&[(1, 0), (2, 1)]);
    let one = LaneMap::uniform(&fabric, 1);
    assert_eq!(lane_loops(&fabric, &old, &one).credit_loops, 0);
    assert_eq!(lane_loops(&fabric, &new, &one).credit_loops, 0);
    let found = mixed_lane_loops(&fabric, &old, &new, &one);
    assert_eq!((found.credit_loops, found.cycle.len()), (1, 3));
    // What came from another switch is on lane 1, so that lane 0 waits for lane 1 and that for nothing.
    let second =
        LaneMap::new(&fabric, |via, _, _| u8::from(via.is_some_and(|via| fabric.between_switches(via))));
    assert_eq!(mixed_lane_loops(&fabric, &old, &new, &second).credit_loops, 0);
}

/// Hosts reach each other straight, switches' own LIDs the other way round: from 0 to 1 by 2, so 0-2 waits for 2-1; from 2 to 0 by 1,
/// so 2-1 waits for 1-0; from 1 to 2 by 0, so 1-0 waits for 0-2.
#[test]
fn entries_towards_switches_own_lids_can_wait_in_a_circle_too() {
    let (fabric, routes) = triangle(&[]);
    let space = fabric.dests(0);
    let mut lft = routes.lft().unwrap().clone();
    for (at, to) in (0..3).flat_map(|at| (0..3).map(move |to| (at, to))) {
        let by = if to == (at + 1) % 3 { 3 - at - to } else { to };
        let port = if at == to { 0 } else { by as u16 + 1 };
        lft.set(SwitchId(at), space.switch(SwitchId(to)), Some(port));
    }
    let round = Routes::by_dest(&fabric, 0, lft);
    let structure = detect(&fabric);
    let one = LaneMap::uniform(&fabric, 1);
    assert_eq!(check_on(&fabric, &structure, &routes, Some(&one)).credit_loops, 0);
    assert_eq!(check_on(&fabric, &structure, &round, None).credit_loops, 1);
    let found = check_on(&fabric, &structure, &round, Some(&one));
    assert_eq!((found.credit_loops, found.cycle.len(), found.ok()), (1, 3, false));
    // The other way round of the triangle leads from 0 to 2, from there to 1, and back to 0.
    let at = |(link, lane): (_, u8)| (fabric.link_from_switch(link).unwrap().0, lane);
    let mut order: Vec<_> = found.cycle.iter().map(|&one| at(one)).collect();
    order.sort_by_key(|&(switch, _)| (3 - switch) % 3);
    assert_eq!(order, [(0, 0), (2, 0), (1, 0)]);
    // A level a lane: the same on both, as a message may have either.
    assert_eq!(lane_loops(&fabric, &round, &LaneMap::uniform(&fabric, 2)).credit_loops, 2);
    // What came from another switch is on lane 1, so nothing waits for what waits for it.
    let second =
        LaneMap::new(&fabric, |via, _, _| u8::from(via.is_some_and(|via| fabric.between_switches(via))));
    assert_eq!(lane_loops(&fabric, &round, &second).credit_loops, 0);
    // On the way from one set of tables to the other, either entry may be taken.
    assert_eq!(mixed_lane_loops(&fabric, &routes, &round, &one).credit_loops, 1);
    assert_eq!(mixed_lane_loops(&fabric, &routes, &round, &second).credit_loops, 0);
    // Levels are of pairs of hosts: these are free, and what goes to switches is told apart, as a note.
    let levels = LaneMap::uniform(&fabric, 2).with_levels(Levels::pairs(2, 1));
    let found = lane_loops(&fabric, &round, &levels);
    assert_eq!((found.credit_loops, found.switch_credit_loops, found.switch_cycle.len()), (0, 1, 3));
    let report = check_on(&fabric, &structure, &round, Some(&levels));
    let told: Vec<_> = report.findings.iter().map(|one| (one.kind, one.management)).collect();
    assert_eq!((report.ok(), told), (true, vec![(FindingKind::SwitchCreditLoop, true)]));
}
