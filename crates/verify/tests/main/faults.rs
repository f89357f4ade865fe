//! One fault at a time in sound tables, and the counts that follow by hand.

use netloom_model::{
    Dest, DestId, End, Fabric, FabricBuilder, HostId, HostSpec, Lft, PathChoice, Routes, SwitchId,
    SwitchSpec, Table,
};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::ring;
use netloom_topology::{Structure, detect, generate};
use netloom_verify::{FindingKind, check};

use crate::tables::sound;

fn fabric(spec: &str) -> (Fabric, Structure) {
    let fabric = generate(spec).unwrap();
    let structure = detect(&fabric);
    (fabric, structure)
}

/// Four leaves of three hosts, two spines.
fn small() -> (Fabric, Structure, Routes) {
    let (f, s) = fabric("two-level:leaves=4,hosts=3,spines=2");
    let r = sound(&f, &s, 0);
    (f, s, r)
}

fn change(routes: &Routes, switch: SwitchId, dest: DestId, port: Option<u16>) -> Routes {
    let mut changed = routes.clone();
    let Table::ByDest(lft) = &mut changed.table else { panic!("by destination") };
    lft.set(switch, dest, port);
    changed
}

#[test]
fn sound_tables_are_sound_on_any_tree() {
    for spec in ["two-level:leaves=4,hosts=3,spines=2,cables=2", "quartz1", "xgft:m=3x3x3,w=1x2x2"] {
        let (f, s) = fabric(spec);
        for lmc in [0, 1] {
            let report = check(&f, &s, &sound(&f, &s, lmc));
            assert!(report.ok(), "{spec} {report:?}");
            let hosts = f.host_count() as u64;
            assert_eq!(report.pairs, (hosts * (hosts - 1)) << lmc);
        }
    }
}

#[test]
fn a_missing_entry_at_a_leaf_cuts_its_hosts_off() {
    let (f, s, r) = small();
    let leaf = f.leaf(HostId(0));
    let report = check(&f, &s, &change(&r, leaf, DestId(11), None));
    assert_eq!((report.missing_entries, report.unreachable_pairs), (1, 3));
    // The same for a switch's own address: three hosts here cannot reach it.
    let other = f.leaf(HostId(11));
    let report = check(&f, &s, &change(&r, leaf, f.dests(0).switch(other), None));
    assert_eq!((report.missing_entries, report.unreachable_pairs), (1, 3));
    assert!(report.findings.iter().any(|x| x.kind == FindingKind::MissingEntry));
}

#[test]
fn every_sort_of_invalid_entry_counts() {
    let (f, s, r) = small();
    let leaf = f.leaf(HostId(0));
    let other_host = f.link_port(f.reverse(f.host_link(HostId(1))));
    let unused = (1..=f.radix(leaf)).find(|&p| f.link_at(leaf, p).is_none());
    for port in [Some(0), Some(other_host), Some(200), unused].into_iter().flatten() {
        let report = check(&f, &s, &change(&r, leaf, DestId(11), Some(port)));
        assert_eq!((report.invalid_entries, report.unreachable_pairs), (1, 3), "port {port}");
        assert_eq!((report.missing_entries, report.credit_loops), (0, 0));
    }
    // A leaf that sends its own address away.
    let report = check(&f, &s, &change(&r, leaf, f.dests(0).switch(leaf), Some(1)));
    assert_eq!((report.invalid_entries, report.unreachable_pairs), (1, 12));
    // A cable that died after the tables were made: 12 - 3 destinations in turn over two spines and back.
    let up = f.switch_links(leaf).find(|&l| f.link_to_switch(l).is_some()).unwrap();
    let broken = f.with_dead([up]);
    let report = check(&broken, &detect(&broken), &r);
    assert!(report.invalid_entries > 0 && report.unreachable_pairs > 0);
    assert!(report.findings.iter().any(|x| x.text.contains("whose cable is dead")), "{report:?}");
}

#[test]
fn a_forwarding_loop_is_unreachable_and_a_credit_loop() {
    let (f, s, r) = small();
    // The spine sends what is for host 11 back to leaf 0, which sends it to that spine.
    let leaf = f.leaf(HostId(0));
    let port = r.lft().unwrap().port(leaf, DestId(11));
    let link = f.link_at(leaf, port).unwrap();
    let spine = f.link_to_switch(link).unwrap();
    let back = f.link_port(f.reverse(link));
    let report = check(&f, &s, &change(&r, spine, DestId(11), Some(back)));
    // All 9 hosts of the three other leaves use this spine (they pick by destination).
    assert_eq!(report.unreachable_pairs, 9);
    assert_eq!(report.credit_loops, 1);
    let cycle = report.findings.iter().find(|x| x.kind == FindingKind::CreditLoop).unwrap();
    assert!(cycle.text.starts_with("on one lane, 2 links"), "{}", cycle.text);
    assert!(report.findings.iter().any(|x| x.kind == FindingKind::Loop));
}

#[test]
fn a_detour_is_longer_than_minimal_and_turns_up_again() {
    let (f, s, r) = small();
    // The spine sends what is for host 11 to leaf 1, which sends it to the other spine.
    let lft = r.lft().unwrap();
    let (leaf0, leaf1) = (f.leaf(HostId(0)), f.leaf(HostId(3)));
    let spine = f.link_to_switch(f.link_at(leaf0, lft.port(leaf0, DestId(11))).unwrap()).unwrap();
    let to = |from: SwitchId, to: SwitchId| {
        f.link_port(f.switch_links(from).find(|&l| f.link_to_switch(l) == Some(to)).unwrap())
    };
    let other = f.switches().find(|&x| f.hosts_on(x).is_empty() && x != spine).unwrap();
    let detour = change(&r, spine, DestId(11), Some(to(spine, leaf1)));
    let detour = change(&detour, leaf1, DestId(11), Some(to(leaf1, other)));
    let report = check(&f, &s, &detour);
    // The six hosts of leaves 0 and 2 take the detour; leaf 1 itself does not.
    assert_eq!((report.non_minimal_pairs, report.up_down_violations), (6, 6));
    assert_eq!((report.unreachable_pairs, report.invalid_entries), (0, 0));
}

/// Three switches, each cabled to the others, one host each, every pair over its own cable: ways of one hop that go sideways.
#[test]
fn a_shortest_way_over_a_cable_between_equals_is_no_violation() {
    let mut b = FabricBuilder::new();
    let s: Vec<usize> = (0..3).map(|i| b.switch(SwitchSpec::new(format!("s{i}"), 0x10 + i, 3))).collect();
    for i in 0..3 {
        let h = b.host(HostSpec::new(format!("h{i}"), 0x100 + 4 * i as u64));
        b.cable(End::Switch(s[i], 3), End::Host(h), 1e9);
        b.cable(End::Switch(s[i], 1), End::Switch(s[(i + 1) % 3], 2), 1e9);
    }
    let f = b.build().unwrap();
    let space = f.dests(0);
    let mut direct = Lft::empty(3, space.count(), 3);
    let mut round = direct.clone();
    for s in f.switches() {
        for d in space.iter() {
            let (home, arrives) = match space.resolve(d) {
                netloom_model::Dest::Host(h, _) => (f.leaf(h), 3),
                netloom_model::Dest::Switch(t) => (t, 0),
            };
            // Port 1 leads to the next, port 2 to the one before.
            let ports = match (home.0 + 3 - s.0) % 3 {
                0 => [arrives; 2],
                1 => [1, 1],
                _ => [2, 1],
            };
            direct.set(s, d, Some(ports[0]));
            round.set(s, d, Some(ports[1]));
        }
    }
    let report = check(&f, &detect(&f), &Routes::by_dest(&f, 0, direct));
    assert!(report.ok(), "{report:?}");
    assert_eq!((report.up_down_violations, report.credit_loops), (0, 0));
    // Every cable has an upper end, so all six are up*/down* ways.
    assert_eq!(report.shortest_turns, 0);
    // All the way round is a loop of credits, and every second way is too long. Nothing in a graph is up or down, so no way
    // violates it: that they are too long is told.
    let report = check(&f, &detect(&f), &Routes::by_dest(&f, 0, round));
    assert!(!report.ok());
    assert_eq!((report.credit_loops, report.non_minimal_pairs, report.up_down_violations), (1, 3, 0));
    assert!(report.findings.iter().any(|f| matches!(f.kind, FindingKind::NonMinimal | FindingKind::Detour)));
}

/// In a ring of five some way of two hops goes down and up again, whatever is on top: shortest, so no fault by itself.
#[test]
fn a_shortest_way_that_turns_up_again_is_counted() {
    let f = ring(5);
    let structure = detect(&f);
    let routes = route(Engine::Minhop, &f, &structure, &EngineOptions::default()).unwrap();
    let report = check(&f, &structure, &routes);
    assert!(report.shortest_turns > 0);
    assert_eq!(report.up_down_violations, 0);
}

#[test]
fn a_ring_of_switches_has_one_credit_loop() {
    // Four switches in a ring, one host each, all routes clockwise: the classic deadlock.
    let mut b = FabricBuilder::new();
    let s: Vec<usize> = (0..4).map(|i| b.switch(SwitchSpec::new(format!("s{i}"), 0x10 + i, 3))).collect();
    for i in 0..4 {
        let h = b.host(HostSpec::new(format!("h{i}"), 0x100 + 4 * i as u64));
        b.cable(End::Switch(s[i], 3), End::Host(h), 1e9);
        b.cable(End::Switch(s[i], 1), End::Switch(s[(i + 1) % 4], 2), 1e9);
    }
    let f = b.build().unwrap();
    let space = f.dests(0);
    let mut lft = Lft::empty(4, space.count(), 3);
    for s in f.switches() {
        for d in space.iter() {
            let port = match space.resolve(d) {
                Dest::Host(h, _) if f.leaf(h) == s => 3,
                Dest::Switch(t) if t == s => 0,
                _ => 1,
            };
            lft.set(s, d, Some(port));
        }
    }
    let report = check(&f, &detect(&f), &Routes::by_dest(&f, 0, lft));
    assert_eq!((report.unreachable_pairs, report.credit_loops), (0, 1));
    // From each host, the one three hops on is one hop the other way.
    assert_eq!(report.non_minimal_pairs, 4);
    let cycle = report.findings.iter().find(|x| x.kind == FindingKind::CreditLoop).unwrap();
    assert!(
        cycle.text.starts_with("on one lane, 4 links wait for each other (several lanes"),
        "{}",
        cycle.text
    );
    assert!(cycle.text.contains("): s0[1] -> s1[2]; "), "{}", cycle.text);
}

#[test]
fn hosts_behind_a_dead_cable_are_unreachable_both_ways() {
    let (f, _, _) = small();
    let f = f.with_dead([f.host_link(HostId(5))]);
    let s = detect(&f);
    let report = check(&f, &s, &sound(&f, &s, 0));
    // 11 hosts to it, it to 11 hosts and to 6 switches.
    assert_eq!(report.unreachable_pairs, 11 + 11 + 6);
    assert_eq!(report.missing_entries, 0);
}

#[test]
fn tables_of_another_fabric_are_refused_whole() {
    let (_, _, r) = small();
    let (f, s) = fabric("two-level:leaves=4,hosts=4,spines=2");
    let report = check(&f, &s, &r);
    assert_eq!(report.unreachable_pairs, 16 * 15);
    assert!(!report.ok());
}

#[test]
fn routes_by_source_are_followed_pair_by_pair() {
    let (f, s, r) = small();
    let (hosts, switches) = (f.host_count(), f.switch_count());
    let lft = r.lft().unwrap();
    let mut up = Lft::empty(switches, hosts, f.max_radix());
    let mut down = Lft::empty(switches, f.dests(0).count(), f.max_radix());
    for x in f.switches() {
        for h in f.hosts() {
            if f.hosts_on(x).is_empty() || f.leaf(h) == x {
                down.set(x, DestId(h.0), lft.get(x, DestId(h.0)));
            }
            if f.leaf(h) == x {
                // Hosts take the spines in turn.
                let ups: Vec<_> = f.switch_links(x).filter(|&l| f.link_to_switch(l).is_some()).collect();
                up.set(x, DestId(h.0), Some(f.link_port(ups[h.index() % 2])));
            }
        }
    }
    let routes = |up: &Lft, down: &Lft| Routes {
        lmc: 0,
        table: Table::UpBySource { up: up.clone(), down: down.clone() },
        path: PathChoice::Base,
        cabling_hash: None,
        lanes: None,
    };
    let report = check(&f, &s, &routes(&up, &down));
    assert!(report.ok() && report.pairs == 132, "{report:?}");
    let mut bad = up.clone();
    bad.set(f.leaf(HostId(0)), DestId(0), None);
    assert_eq!(check(&f, &s, &routes(&bad, &down)).unreachable_pairs, 9);
}

#[test]
fn the_report_does_not_depend_on_threads() {
    let (f, s) = fabric("fattree:pods=3,leaves=4,hosts=4,spines=4,groups=2,cores=2");
    let f = f.with_dead(f.switch_links(SwitchId(1)).take(1));
    let r = change(&sound(&f, &s, 1), SwitchId(2), DestId(7), None);
    let on = |n: usize| {
        rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap().install(|| check(&f, &s, &r))
    };
    assert_eq!(on(1), on(4));
}
