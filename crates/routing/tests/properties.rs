//! Every engine on every small shape: pairs arrive, paths are minimal, bytes are conserved, threads do not
//! matter; and the cases that can be worked by hand.

use std::sync::Arc;

use netloom_model::{
    Csr, Fabric, HostId, Lft, LinkId, PairPaths, PathChoice, Routes, SwitchId, Table, Traffic, rng,
};
use netloom_routing::{
    Engine, EngineOptions, PathSet, RoutingError, items, lane_loads, link_users, loads, route, walk,
};
use netloom_topology::{Damage, Structure, damage, detect, generate};

const SHAPES: [&str; 5] = [
    "two-level:leaves=5,hosts=3,spines=3",
    "two-level:leaves=4,hosts=4,spines=2,cables=2",
    "xgft:m=3x3x3,w=1x3x3",
    "xgft:m=4x3x2,w=1x2x3",
    "fattree:pods=3,leaves=3,hosts=4,spines=4,groups=2,cores=3",
];

fn fabrics() -> Vec<Fabric> {
    let mut all = Vec::new();
    for spec in SHAPES {
        let whole = generate(spec).unwrap();
        for seed in 0..3 {
            let broken = Damage { random_links: 2, ..Damage::default() };
            all.push(damage(&whole, &broken, seed).unwrap().fabric);
        }
        all.push(whole);
    }
    all
}

/// All but dla, which routes dragonflies only.
fn of_trees() -> impl Iterator<Item = Engine> {
    Engine::ALL.into_iter().filter(|engine| !matches!(engine, Engine::Dla | Engine::Dor))
}

fn make(engine: Engine, fabric: &Fabric, structure: &Structure, lmc: u8) -> Routes {
    route(engine, fabric, structure, &EngineOptions { seed: 7, lmc }).unwrap()
}

fn traffic(hosts: usize, entry: impl Fn(u64, u64) -> f64) -> Csr {
    let n = hosts as u64;
    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for source in 0..n {
        for destination in 0..n {
            i.push(source);
            j.push(destination);
            b.push(entry(source, destination));
        }
    }
    Traffic::from_triples(hosts as u32, &i, &j, &b, None).unwrap().total().into_owned()
}

/// A path for every pair that has nothing to do with its numbers' order.
fn mixed_paths(fabric: &Fabric, lmc: u8) -> PairPaths {
    let path = |s: HostId, d: HostId| (s.0 * 5 + d.0 * 3 + s.0 * d.0) % (1 << lmc);
    let pairs = |s| fabric.hosts().filter(move |&d| d != s).map(move |d| (s, d, path(s, d)));
    let entries: Vec<_> = fabric.hosts().flat_map(pairs).collect();
    PairPaths::new(fabric.host_count(), lmc, &entries).unwrap()
}

#[test]
fn every_engine_joins_every_joinable_pair_by_a_minimal_path() {
    for fabric in fabrics() {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        for engine in of_trees() {
            // A port a source cannot always avoid a dead cable; ftree detours as OpenSM's does.
            if engine == Engine::Smodk && fabric.alive_count() < fabric.link_count() {
                continue;
            }
            let routes = make(engine, &fabric, &structure, 0);
            for a in fabric.hosts() {
                for b in fabric.hosts().filter(|&b| b != a) {
                    let alive = fabric.alive(fabric.host_link(a)) && fabric.alive(fabric.host_link(b));
                    let Some(hops) = paths.hops(fabric.leaf(a), fabric.leaf(b)).filter(|_| alive) else {
                        continue;
                    };
                    let path = walk(&fabric, &routes, a, b).unwrap();
                    if !matches!(engine, Engine::Ftree | Engine::Minhop) {
                        assert_eq!(path.len(), usize::from(hops) + 2, "{engine}");
                    }
                    assert!(path.len() <= usize::from(hops) + 2 || engine == Engine::Ftree, "{engine}");
                }
            }
        }
    }
}

#[test]
fn admissible_links_are_those_of_their_definition() {
    // The definition switch by switch: rounds of hops from the leaf, and, where these leave somebody out, ways down only
    // as the least fixed point, one relaxation after the other.
    let mut shorter_up = 0;
    let dead_end = damage(
        &generate(SHAPES[2]).unwrap(),
        &Damage { random_links: 14, random_switches: 1, ..Damage::default() },
        3,
    );
    // Odd shapes by other orders than theirs, as with stated roots, and trees with mended ranks.
    let mixed = (0..160).filter(|seed| seed % 10 >= 4).map(netloom_testkit::shape).flat_map(|f| {
        let roots = f.switch_count() as u32;
        (0..roots).step_by(3).map(move |s| f.with_roots([SwitchId(s)])).collect::<Vec<_>>()
    });
    let mixed = mixed.chain((0..100).map(|seed| netloom_testkit::damaged_sample(seed).fabric));
    for fabric in fabrics().into_iter().chain([dead_end.unwrap().fabric]).chain(mixed) {
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let all = paths.leaves().iter().flat_map(|&d| fabric.switches().map(move |s| (s, d)));
        let longest = all.filter_map(|(s, d)| paths.hops(s, d)).max();
        assert_eq!(Some(paths.longest()), longest);
        assert_eq!(PathSet::minimal(&fabric, &structure), paths);
        let level = |s: SwitchId| structure.rank[s.index()];
        let hops_of = |s: SwitchId, up: bool| {
            let joins = |&l: &LinkId| {
                let to = fabric.link_to_switch(l).filter(|&t| level(t) != u16::MAX && level(s) != u16::MAX);
                fabric.alive(l)
                    && to.is_some_and(|t| if up { level(t) > level(s) } else { level(t) < level(s) })
            };
            fabric.switch_links(s).filter(joins).collect::<Vec<_>>()
        };
        let end = |l: &LinkId| fabric.link_to_switch(*l).unwrap();
        for &leaf in paths.leaves() {
            let far = 1_000u32;
            let mut down = vec![far; fabric.switch_count()];
            down[leaf.index()] = 0;
            let mut both = vec![far; fabric.switch_count()];
            for _ in 0..2 * structure.ranks() {
                for s in fabric.switches().filter(|&s| s != leaf) {
                    let next = hops_of(s, false).iter().map(|l| down[end(l).index()] + 1).min();
                    down[s.index()] = next.unwrap_or(far).min(far);
                }
                for s in fabric.switches() {
                    let up = hops_of(s, true).iter().map(|l| both[end(l).index()] + 1).min().unwrap_or(far);
                    both[s.index()] = if down[s.index()] < far { down[s.index()] } else { up.min(far) };
                }
            }
            let mut near = vec![far; fabric.switch_count()];
            near[leaf.index()] = 0;
            let mut goes_down = vec![false; fabric.switch_count()];
            goes_down[leaf.index()] = true;
            for round in 1..=2 * u32::from(structure.ranks()) {
                for s in fabric.switches().filter(|&s| near[s.index()] == far).collect::<Vec<_>>() {
                    let last = |l: &LinkId| near[end(l).index()] == round - 1;
                    if hops_of(s, false).iter().any(|l| last(l) && goes_down[end(l).index()]) {
                        (near[s.index()], goes_down[s.index()]) = (round, true);
                    } else if hops_of(s, true).iter().any(last) {
                        near[s.index()] = round;
                    }
                }
            }
            if fabric.switches().any(|s| near[s.index()] == far && both[s.index()] < far) {
                near = both;
                goes_down = down.iter().map(|&d| d < far).collect();
            }
            for s in fabric.switches() {
                let (is_down, hops) = (goes_down[s.index()], near[s.index()]);
                shorter_up += u32::from(!is_down && down[s.index()] < far);
                assert_eq!(paths.hops(s, leaf).map(u32::from), (hops < far).then_some(hops));
                let mut wanted = hops_of(s, !is_down);
                wanted.retain(|l| {
                    let to = end(l).index();
                    hops < far && s != leaf && near[to] + 1 == hops && (goes_down[to] || !is_down)
                });
                assert_eq!(paths.links(s, leaf), wanted, "{} to {}", s.0, leaf.0);
            }
        }
    }
    assert!(shorter_up > 0, "no way up is shorter than a way down");
}

#[test]
fn loads_are_conserved_bytes_times_hops() {
    let fabric = generate(SHAPES[4]).unwrap();
    let structure = detect(&fabric);
    let bytes = traffic(fabric.host_count(), |i, j| ((i * 7 + j * 3) % 5) as f64);
    for engine in of_trees() {
        let per_pair = PathChoice::PerPair(Arc::new(mixed_paths(&fabric, 2)));
        for (lmc, path) in
            [(0, PathChoice::Base), (2, PathChoice::Base), (2, PathChoice::SourceMod), (2, per_pair)]
        {
            let routes = Routes { path, ..make(engine, &fabric, &structure, lmc) };
            let found = loads(&fabric, &routes, &bytes).unwrap();
            let mut wanted = vec![0.0; fabric.link_count()];
            for (i, j, b) in bytes.iter() {
                for link in walk(&fabric, &routes, HostId(i), HostId(j)).unwrap() {
                    wanted[link.index()] += b / fabric.relative_capacity(link);
                }
            }
            for (l, wanted) in wanted.iter().enumerate() {
                assert!((found.load[l] - wanted).abs() <= 1e-9 * wanted.max(1.0), "{engine} link {l}");
            }
        }
    }
}

/// In a tree with full bisection every shift is free of contention under d-mod-k (Zahavi 2010), and by
/// symmetry under s-mod-k.
#[test]
fn shifts_have_no_contention_under_mod_k() {
    for spec in ["xgft:m=4x4x4,w=1x4x4", "two-level:leaves=6,hosts=4,spines=4"] {
        let fabric = generate(spec).unwrap();
        let structure = detect(&fabric);
        let n = fabric.host_count() as u64;
        for engine in [Engine::Dmodk, Engine::Smodk] {
            let routes = make(engine, &fabric, &structure, 0);
            for shift in 1..n {
                let shifted = traffic(n as usize, |i, j| f64::from(u8::from((i + shift) % n == j)));
                assert_eq!(loads(&fabric, &routes, &shifted).unwrap().max(), 1.0, "{engine} shift {shift}");
            }
        }
    }
}

/// One leaf sends to the other over 4 spines; d-mod-k puts host d on spine d mod 4, so hosts 4..8 of the
/// second leaf use spines 0..4, and traffic to hosts 4 and 8 would meet on spine 0.
#[test]
fn d_mod_k_takes_up_link_destination_mod_k() {
    let fabric = generate("two-level:leaves=3,hosts=4,spines=4").unwrap();
    let routes = make(Engine::Dmodk, &fabric, &detect(&fabric), 0);
    let spine = |d| fabric.link_to_switch(walk(&fabric, &routes, HostId(0), HostId(d)).unwrap()[1]).unwrap();
    assert_eq!(spine(4), spine(8));
    let mut all: Vec<SwitchId> = (4..8).map(spine).collect();
    all.dedup();
    assert_eq!(all.len(), 4);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let fabric = generate("fattree:pods=4,leaves=12,hosts=8,spines=8,groups=2,cores=6").unwrap();
    let structure = detect(&fabric);
    let n = fabric.host_count();
    let mut stream = rng::stream(1, 1);
    let values: Vec<f64> = (0..n * n).map(|_| rng::unit(&mut stream)).collect();
    let bytes = traffic(n, |i, j| values[i as usize * n + j as usize]);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let routes: Vec<Routes> = of_trees().map(|e| make(e, &fabric, &structure, 1)).collect();
            let sums: Vec<Vec<u64>> = routes
                .iter()
                .map(|r| loads(&fabric, r, &bytes).unwrap().load.iter().map(|l| l.to_bits()).collect())
                .collect();
            (PathSet::admissible(&fabric, &structure), items(&fabric, &bytes), routes, sums)
        })
    };
    assert_eq!(run(1), run(4));
}

#[test]
fn items_are_sums_over_the_hosts_of_a_leaf() {
    let fabric = generate(SHAPES[0]).unwrap();
    let sparse = traffic(fabric.host_count(), |i, j| f64::from(u8::from(j == (i + 4) % 15)) * (i + 1) as f64);
    let dense = traffic(fabric.host_count(), |i, j| (i + 16 * j + 1) as f64);
    for bytes in [sparse, dense] {
        let mut wanted = std::collections::BTreeMap::new();
        for (i, j, b) in bytes.iter() {
            let (from, to) = (fabric.leaf(HostId(i)), fabric.leaf(HostId(j)));
            if from != to {
                *wanted.entry((from, HostId(j))).or_insert(0.0) += b;
            }
        }
        let found: Vec<_> = items(&fabric, &bytes).iter().map(|(s, d, b)| ((s, d), b)).collect();
        assert_eq!(found, wanted.into_iter().collect::<Vec<_>>());
    }
}

fn edited(edit: impl Fn(&Fabric, &mut Lft)) -> (Fabric, Routes) {
    let fabric = generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
    let mut routes = make(Engine::Dmodk, &fabric, &detect(&fabric), 0);
    let Table::ByDest(lft) = &mut routes.table else { panic!("d-mod-k makes an LFT") };
    edit(&fabric, lft);
    (fabric, routes)
}

#[test]
fn packets_that_do_not_arrive_are_named() {
    let bytes = |f: &Fabric| traffic(f.host_count(), |i, j| f64::from(u8::from((i, j) == (1, 3))));
    let leaf = |f: &Fabric| f.leaf(HostId(1));
    let to = netloom_model::DestId(3);
    let cases: [(&str, (Fabric, Routes)); 4] = [
        ("has no entry", edited(|f, lft| lft.set(leaf(f), to, None))),
        ("nothing is cabled", edited(|f, lft| lft.set(leaf(f), to, Some(0)))),
        (
            "leads to host",
            edited(|f, lft| lft.set(leaf(f), to, Some(f.link_port(f.reverse(f.host_link(HostId(0))))))),
        ),
        (
            "loops",
            edited(|f, lft| {
                // Every spine sends it back to the first leaf.
                for s in f.switches().filter(|&s| f.hosts_on(s).is_empty()) {
                    let back = f.switch_links(s).find(|&l| f.link_to_switch(l) == Some(leaf(f))).unwrap();
                    lft.set(s, to, Some(f.link_port(back)));
                }
            }),
        ),
    ];
    for (word, (fabric, routes)) in cases {
        let one = loads(&fabric, &routes, &bytes(&fabric)).unwrap_err();
        let text = one.to_string();
        assert!(text.contains(word), "{text}");
        assert!(
            text.contains(fabric.host_name(HostId(1))) && text.contains(fabric.host_name(HostId(3))),
            "{text}"
        );
        assert_eq!(walk(&fabric, &routes, HostId(1), HostId(3)), Err(one));
    }
}

#[test]
fn a_dead_cable_on_the_way_is_named() {
    let fabric = generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
    let routes = make(Engine::Dmodk, &fabric, &detect(&fabric), 0);
    let path = walk(&fabric, &routes, HostId(0), HostId(2)).unwrap();
    let text = |link: LinkId| {
        walk(&fabric.with_dead([link]), &routes, HostId(0), HostId(2)).unwrap_err().to_string()
    };
    assert!(text(path[0]).contains("the cable of the sending host is dead"));
    assert!(text(path[1]).contains("is dead"));
}

#[test]
fn ftree_refuses_what_is_no_tree() {
    // A ring of leaves has cables between switches of one level.
    let mut b = netloom_model::FabricBuilder::new();
    use netloom_model::{End, HostSpec, SwitchSpec};
    let s: Vec<usize> = (0..3).map(|i| b.switch(SwitchSpec::new(format!("s{i}"), i, 4))).collect();
    for i in 0..3 {
        let h = b.host(HostSpec::new(format!("h{i}"), 100 + i as u64));
        b.cable(End::Host(h), End::Switch(s[i], 1), 1e9);
        b.cable(End::Switch(s[i], 2), End::Switch(s[(i + 1) % 3], 3), 1e9);
    }
    let fabric = b.build().unwrap();
    let error = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap_err();
    assert!(matches!(error, RoutingError::NotFatTree(_)));
    assert!(error.to_string().ends_with("use updn"));
    assert_eq!(
        route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions { lmc: 8, seed: 0 }),
        Err(RoutingError::Lmc(8))
    );
}

/// leaf00 has only spine00 left, leaf01 only spine01: by levels no way joins them, and ftree's tables would have no entries for them.
#[test]
fn where_ftree_would_lose_pairs_minhop_is_loaded() {
    let whole = generate("two-level:leaves=4,hosts=2,spines=2").unwrap();
    let links = vec![("leaf00".to_owned(), 4), ("leaf01".to_owned(), 3)];
    let fabric = damage(&whole, &Damage { links, ..Damage::default() }, 0).unwrap().fabric;
    let structure = detect(&fabric);
    assert_eq!(Engine::Ftree.loaded(&detect(&whole)), Engine::Ftree);
    assert_eq!(Engine::Ftree.loaded(&structure), Engine::Minhop);
    assert_eq!(Engine::Updn.loaded(&structure), Engine::Updn);
    let routes = make(Engine::Ftree, &fabric, &structure, 0);
    assert_eq!(routes, make(Engine::Minhop, &fabric, &structure, 0));
    for a in fabric.hosts() {
        for b in fabric.hosts().filter(|&b| b != a) {
            walk(&fabric, &routes, a, b).unwrap();
        }
    }
}

#[test]
fn dla_routes_dragonflies_by_at_most_one_global_cable_and_refuses_others() {
    for fabric in fabrics() {
        let error = route(Engine::Dla, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap_err();
        assert!(matches!(error, RoutingError::NotDragonfly(_) | RoutingError::NoGroups));
    }
    let fabric = generate("dragonfly:p=1,a=4,h=2").unwrap();
    let structure = detect(&fabric);
    let routes = make(Engine::Dla, &fabric, &structure, 1);
    assert_eq!(routes.lanes.as_ref().map(|lanes| lanes.lanes()), Some(2));
    let group = |s| structure.shape.groups().unwrap().group(s);
    let bytes = traffic(fabric.host_count(), |i, j| f64::from(u8::from(i != j)));
    for (i, j, _) in bytes.iter() {
        let path = walk(&fabric, &routes, HostId(i), HostId(j)).unwrap();
        let ends = |l: &LinkId| fabric.link_from_switch(*l).zip(fabric.link_to_switch(*l));
        let global = path.iter().filter_map(ends).filter(|&(a, b)| group(a) != group(b)).count();
        assert_eq!(global, usize::from(group(fabric.leaf(HostId(i))) != group(fabric.leaf(HostId(j)))));
        assert!(path.len() <= 5);
    }
    // What a lane carries adds up to what links do: nothing but the last hop inside a group is on lane 1.
    let by_lane = lane_loads(&fabric, &routes, &bytes).unwrap();
    let most = loads(&fabric, &routes, &bytes).unwrap().max();
    assert!(by_lane.len() == 2 && by_lane[1] > 0.0 && by_lane[0] == most, "{by_lane:?} of {most}");
}

#[test]
fn engines_go_by_opensms_names_and_ours() {
    for engine in Engine::ALL {
        assert_eq!(engine.name().parse(), Ok(engine));
    }
    assert_eq!("dmodk".parse(), Ok(Engine::Dmodk));
    assert_eq!("S_MOD_K".parse(), Ok(Engine::Smodk));
    let error = "ftre".parse::<Engine>().unwrap_err();
    assert_eq!(error.nearest, Some("ftree"));
    assert!(error.to_string().contains("did you mean ftree?"));
}

/// Two hosts of one leaf send to one host of the other: with two addresses on two spines, each on its own.
#[test]
fn a_pair_takes_the_way_of_its_own_address() {
    let fabric = generate("two-level:leaves=2,hosts=2,spines=2").unwrap();
    let routes = make(Engine::Dmodk, &fabric, &detect(&fabric), 1);
    let bytes = traffic(4, |i, j| f64::from(u8::from(i < 2 && j == 2)));
    let between = |routes: &Routes| loads(&fabric, routes, &bytes).unwrap().max_between_switches(&fabric);
    assert_eq!(between(&routes), 2.0);
    let paths = PairPaths::new(4, 1, &[(HostId(1), HostId(2), 1)]).unwrap();
    let apart = routes.clone().with_paths(&fabric, paths).unwrap();
    assert_eq!(between(&apart), 1.0);
    let spine = |h| fabric.link_to_switch(walk(&fabric, &apart, HostId(h), HostId(2)).unwrap()[1]).unwrap();
    assert_ne!(spine(0), spine(1));
    // Paths of another fabric are refused, not read out of bounds.
    assert!(routes.clone().with_paths(&fabric, PairPaths::base(3, 1)).is_err());
    let wrong = Routes { path: PathChoice::PerPair(Arc::new(PairPaths::base(3, 1))), ..routes };
    assert!(matches!(loads(&fabric, &wrong, &bytes), Err(RoutingError::Mismatch(_))));
}

/// What the users of a link send is its load; nobody else crosses it.
#[test]
fn bytes_of_users_are_loads() {
    let fabric = generate("fattree:pods=2,leaves=2,hosts=2,spines=2,groups=2,cores=2").unwrap();
    let routes = make(Engine::Random, &fabric, &detect(&fabric), 0);
    let n = fabric.host_count();
    let traffic = traffic(n, |a, b| (a * 3 + b % 5) as f64);
    let load = loads(&fabric, &routes, &traffic).unwrap().load;
    let links: Vec<_> = (0..fabric.link_count()).rev().map(LinkId::from_index).collect();
    let control = netloom_model::Control::new();
    let users = link_users(&fabric, &routes, &traffic, &links, &control).unwrap();
    let mut bytes = vec![0.0; fabric.link_count()];
    for user in &users {
        let link = links[user.place as usize];
        assert!(walk(&fabric, &routes, user.source, user.destination).unwrap().contains(&link));
        bytes[link.index()] += user.bytes / fabric.relative_capacity(link);
    }
    assert_eq!(bytes, load);
    assert!(users.iter().all(|user| user.bytes > 0.0 && user.source != user.destination));
}
