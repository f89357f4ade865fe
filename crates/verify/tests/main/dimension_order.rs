//! Dimension order on HyperX, mesh and torus: minimal, free of deadlocks, refused where it cannot be.

use netloom_model::{Fabric, LaneMap, SwitchId};
use netloom_routing::{Engine, EngineOptions, dor, route};
use netloom_topology::{detect, generate};
use netloom_verify::{check, check_on, lane_loops};

/// Fabrics with the lanes that they need.
const SHAPES: [(&str, u8); 13] = [
    ("hyperx:shape=3x3,hosts=2", 1),
    ("hyperx:shape=16x6,hosts=1", 1),
    ("hyperx:shape=4x3x2,hosts=1,cables=2x1x3", 1),
    ("fullmesh:switches=7,hosts=3", 1),
    ("mesh:shape=4x5,hosts=1", 1),
    ("mesh:shape=3x2x4,hosts=1,cables=2", 1),
    ("torus:shape=3,hosts=1", 1),
    // A square of two by two.
    ("torus:shape=4,hosts=2", 1),
    ("torus:shape=5,hosts=1", 2),
    ("torus:shape=6x5,hosts=1", 2),
    ("torus:shape=4x3x7,hosts=1,cables=1x1x2", 2),
    ("torus:shape=6x6x6,hosts=1", 2),
    ("torus:shape=8x2,hosts=3,cables=3x2", 2),
];

/// Hops between switches over working cables, by a search of its own.
fn hops_to(fabric: &Fabric, target: SwitchId) -> Vec<usize> {
    let mut hops = vec![usize::MAX; fabric.switch_count()];
    hops[target.index()] = 0;
    let mut open = std::collections::VecDeque::from([target]);
    while let Some(s) = open.pop_front() {
        for l in fabric.switch_links(s).filter(|&l| fabric.alive(l)) {
            if let Some(t) = fabric.link_to_switch(l).filter(|t| hops[t.index()] == usize::MAX) {
                hops[t.index()] = hops[s.index()] + 1;
                open.push_back(t);
            }
        }
    }
    hops
}

#[test]
fn tables_are_minimal_and_free_on_the_lanes_that_they_say() {
    for (spec, lanes) in SHAPES {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        for lmc in [0, 1] {
            let options = EngineOptions { lmc, ..EngineOptions::default() };
            let routes = dor(&fabric, &structure, &options).unwrap();
            let report = check(&fabric, &structure, &routes);
            assert!(report.ok() && report.findings.is_empty(), "{spec}: {report:?}");
            assert_eq!((report.lanes, report.credit_loops, report.holes()), (lanes, 0, 0), "{spec}");
            let space = routes.dests(&fabric);
            for to in fabric.hosts() {
                let hops = hops_to(&fabric, fabric.leaf(to));
                for (s, path) in fabric.switches().flat_map(|s| (0..1 << lmc).map(move |path| (s, path))) {
                    let dest = space.host(to, path);
                    let link = fabric.link_at(s, routes.port(s, to, dest)).unwrap();
                    match fabric.link_to_switch(link) {
                        Some(next) => assert_eq!(hops[next.index()] + 1, hops[s.index()], "{spec}"),
                        None => assert_eq!((fabric.leaf(to), fabric.link_to(link).0), (s, to.0), "{spec}"),
                    }
                }
            }
        }
    }
}

/// On one lane rings wait for themselves; the levels are the same for both directions of a pair.
#[test]
fn datelines_are_what_frees_a_torus() {
    for (spec, _) in SHAPES.into_iter().filter(|&(_, lanes)| lanes == 2) {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let routes = dor(&fabric, &structure, &EngineOptions::default()).unwrap();
        let map = routes.lanes.as_deref().unwrap();
        let one = check_on(&fabric, &structure, &routes, Some(&LaneMap::uniform(&fabric, 1)));
        assert!(one.credit_loops > 0 && !one.cycle.is_empty(), "{spec}");
        for (a, b) in fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))) {
            assert_eq!(map.level(a, b), map.level(b, a), "{spec}");
        }
        // Any level for any pair: those that cross the dateline do so on both lanes.
        let any = LaneMap::new(&fabric, |via, out, level| {
            via.map_or_else(|| map.first_lane(0, level), |via| map.lane(via.0, out.0, level))
        });
        assert!(lane_loops(&fabric, &routes, &any).credit_loops > 0, "{spec}");
    }
}

/// Ring of 5, one host a switch: pairs at most two apart. 4 to 0, 4 to 1 and 3 to 0 cross, and back.
#[test]
fn levels_of_a_ring_of_five_are_those_by_hand() {
    let fabric = generate("torus:shape=5,hosts=1").unwrap();
    let routes = dor(&fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let map = routes.lanes.as_deref().unwrap();
    let crossing: Vec<(u32, u32)> = fabric
        .hosts()
        .flat_map(|a| fabric.hosts().map(move |b| (a, b)))
        .filter(|&(a, b)| a < b && map.level(a, b) == Some(1))
        .map(|(a, b)| (a.0, b.0))
        .collect();
    assert_eq!(crossing, [(0, 3), (0, 4), (1, 4)]);
}

#[test]
fn what_it_cannot_route_is_refused_in_one_line() {
    let refused = |fabric: &Fabric| {
        route(Engine::Dor, fabric, &detect(fabric), &EngineOptions::default()).unwrap_err().to_string()
    };
    let not = "not a HyperX, torus or mesh that dor can route: ";
    for (spec, shape) in [("quartz1", "tree"), ("dragonfly:p=2,a=4,h=2", "dragonfly")] {
        assert_eq!(refused(&generate(spec).unwrap()), format!("{not}its shape is {shape}; use updn"));
    }
    let five = generate("torus:shape=5x5x5x5x5,hosts=1").unwrap();
    assert_eq!(refused(&five), format!("{not}5 rings need 2^5 service levels, and there are 16; use updn"));
    for spec in ["hyperx:shape=5x4,hosts=1", "torus:shape=5x6,hosts=1", "mesh:shape=5x6,hosts=1"] {
        let whole = generate(spec).unwrap();
        let ends = |l| [whole.node_name(whole.link(l).from), whole.node_name(whole.link(l).to)];
        let told = refused(&whole.with_dead(whole.links().find(|&l| ends(l) == ["s1-1", "s1-2"])));
        assert_eq!(told, format!("{not}no working cable joins \"s1-1\" and \"s1-2\"; use updn"), "{spec}");
    }
}

/// Of two cables side by side one is left: routes go by it. Dead cables of hosts are nobody's fault.
#[test]
fn damage_that_leaves_neighbours_joined_is_no_matter() {
    for spec in ["hyperx:shape=5x4,hosts=2,cables=2", "torus:shape=5x6,hosts=2,cables=2"] {
        let whole = generate(spec).unwrap();
        let link = whole.links().find(|&l| whole.between_switches(l)).unwrap();
        let broken = whole.with_dead([link, whole.host_link(netloom_model::HostId(3))]);
        let structure = detect(&broken);
        let routes = dor(&broken, &structure, &EngineOptions::default()).unwrap();
        let report = check(&broken, &structure, &routes);
        assert_eq!((report.holes(), report.credit_loops, report.non_minimal_pairs), (0, 0, 0), "{report:?}");
    }
}
