//! The engine for any graph: lanes that can be counted by hand, and what no shape excuses from.

use netloom_model::{Control, Fabric, HostId, Routes, SwitchId};
use netloom_routing::{Engine, EngineOptions, RoutingError, layers, loads, on_lanes, route, walk};
use netloom_testkit::cases::{ring, wired};
use netloom_testkit::shapes::shape;
use netloom_topology::{detect, generate};

fn made(fabric: &Fabric) -> Routes {
    layers(fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

fn lanes(routes: &Routes) -> u8 {
    routes.lanes.as_ref().map_or(1, |lanes| lanes.lanes())
}

/// In a circle of five all ways of two hops are the only shortest ones: five turns one way close a circle on one lane. In one of four
/// there are four such ways, of which not all need turn the same way.
#[test]
fn circles_need_the_lanes_that_they_need() {
    assert_eq!(lanes(&made(&ring(3))), 1);
    assert_eq!(lanes(&made(&ring(4))), 1);
    for n in [5, 6, 7] {
        let fabric = ring(n);
        let routes = made(&fabric);
        assert_eq!(lanes(&routes), 2, "{n} switches");
        assert!(on_lanes(&fabric, &detect(&fabric), routes.clone(), 1, &Control::new()).is_none());
        // Both directions of a pair have one level.
        let map = routes.lanes.as_ref().unwrap();
        for (a, b) in fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))) {
            assert_eq!(map.level(a, b), map.level(b, a));
        }
    }
}

#[test]
fn trees_and_full_meshes_need_one_lane_and_use_all_cables() {
    for spec in ["two-level:leaves=4,hosts=4,spines=4", "xgft:m=3x3x3,w=1x3x3", "cab"] {
        let fabric = generate(spec).unwrap();
        assert_eq!(lanes(&made(&fabric)), 1, "{spec}");
    }
    let cables: Vec<_> = (0..6).flat_map(|a| (a + 1..6).map(move |b| (a, b, 1))).collect();
    assert_eq!(
        lanes(&made(&wired(&[("a", 2), ("b", 2), ("c", 2), ("d", 2), ("e", 2), ("f", 2)], &cables))),
        1
    );
    // Four hosts a leaf over four spines: all-to-all puts at least 12 on a cable, and 4 more with every destination too many.
    let fabric = generate("two-level:leaves=4,hosts=4,spines=4").unwrap();
    let n = fabric.host_count() as u64;
    let all = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| i != j);
    let (i, j): (Vec<u64>, Vec<u64>) = all.unzip();
    let bytes = vec![1.0; i.len()];
    let traffic = netloom_model::Traffic::from_triples(n as u32, &i, &j, &bytes, None).unwrap();
    let found = loads(&fabric, &made(&fabric), &traffic.total()).unwrap();
    let most = found.max_between_switches(&fabric);
    assert!((12.0..=20.0).contains(&most), "{most}");
}

/// Beside minhop's: every pair's way is as short as can be, whatever lanes were tried for; pairs without one have none.
#[test]
fn ways_are_shortest_on_shapes_of_all_kinds_hostile() {
    for seed in 0..netloom_testkit::trials(10) {
        let fabric = shape(seed);
        let routes = match layers(&fabric, &detect(&fabric), &EngineOptions::default()) {
            Ok(routes) => routes,
            Err(RoutingError::Lanes { .. }) => panic!("seed {seed}: too many lanes"),
            Err(other) => panic!("seed {seed}: {other}"),
        };
        let minhop = route(Engine::Minhop, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        for (a, b) in pairs(&fabric) {
            let length = |routes: &Routes| walk(&fabric, routes, a, b).ok().map(|way| way.len());
            assert_eq!(length(&routes), length(&minhop), "seed {seed}: {a:?} {b:?}");
        }
    }
}

#[test]
fn tables_and_lanes_do_not_depend_on_threads() {
    let fabric = shape(8);
    let in_pool = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| made(&fabric))
    };
    assert_eq!(in_pool(1), in_pool(4));
}

#[test]
fn several_addresses_have_ways_of_their_own_and_one_level_a_pair() {
    let fabric = ring(6);
    let options = EngineOptions { lmc: 1, ..EngineOptions::default() };
    let routes = layers(&fabric, &detect(&fabric), &options).unwrap();
    // Opposite switches: one address each way round. So each of these three pairs turns everywhere but at its own ends, and any two
    // of them close the circle.
    assert_eq!(lanes(&routes), 3);
    let space = routes.dests(&fabric);
    let first = |path| routes.port(SwitchId(0), HostId(0), space.host(HostId(3), path));
    assert_ne!(first(0), first(1));
    let refused = layers(&fabric, &detect(&fabric), &EngineOptions { lmc: 8, ..options });
    assert_eq!(refused, Err(RoutingError::Lmc(8)));
}

fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> + '_ {
    fabric.hosts().flat_map(|a| fabric.hosts().filter(move |&b| b != a).map(move |b| (a, b)))
}
