//! Levels, pods and core groups of whole, broken and strange fabrics.

use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchId, SwitchSpec};
use netloom_testkit::cases::{RATE, dragonfly, ft2_32, ft3_32, ft3_32_broken, star, wired};
use netloom_topology::{Damage, Direction, NO_GROUP, NO_LEVEL, NO_POD, Structure, damage, detect, generate};

/// `fabric` with more: switches, and cables as `(switch, new host or switch)`; ports are the first free ones.
fn extended(fabric: &Fabric, switches: &[&str], cables: &[(&str, &str)]) -> Fabric {
    let mut b = FabricBuilder::new();
    let mut nodes: Vec<(String, u16)> = Vec::new();
    for s in fabric.switches() {
        b.switch(SwitchSpec::new(fabric.switch_name(s), fabric.switch_guid(s), 200));
        nodes.push((fabric.switch_name(s).into(), fabric.radix(s)));
    }
    for (i, &name) in switches.iter().enumerate() {
        b.switch(SwitchSpec::new(name, 0x77_0000 + i as u64, 200));
        nodes.push((name.into(), 0));
    }
    for h in fabric.hosts() {
        b.host(HostSpec::new(fabric.host_name(h), fabric.host_guid(h)));
    }
    for l in fabric.links().filter(|&l| l < fabric.reverse(l)) {
        let link = fabric.link(l);
        let end = |node: netloom_model::NodeId, port| match fabric.node(node) {
            netloom_model::Node::Host(h) => End::Host(h.index()),
            netloom_model::Node::Switch(s) => End::Switch(s.index(), port),
        };
        b.cable(end(link.from, link.from_port), end(link.to, link.to_port), RATE);
    }
    let mut guid = 0x88_0000;
    for &(a, z) in cables {
        let mut end = |name: &str| {
            nodes.iter().position(|n| n.0 == name).map(|i| {
                nodes[i].1 += 1;
                End::Switch(i, nodes[i].1)
            })
        };
        let a = end(a).expect("the first end is a switch");
        let z = end(z).unwrap_or_else(|| {
            guid += 16;
            End::Host(b.host(HostSpec::new(z, guid)))
        });
        b.cable(a, z, RATE);
    }
    b.build().unwrap()
}

fn level(f: &Fabric, s: &Structure, name: &str) -> u8 {
    s.level[id(f, name).index()]
}

fn id(f: &Fabric, name: &str) -> SwitchId {
    f.switches().find(|&s| f.switch_name(s) == name).unwrap()
}

/// Levels as the generators' names say.
fn named_levels(f: &Fabric, s: &Structure) -> bool {
    f.switches().all(|x| {
        let name = f.switch_name(x);
        let want = ["leaf", "spine", "core"].iter().position(|kind| name.contains(kind));
        want.is_none_or(|want| usize::from(s.level[x.index()]) == want)
    })
}

#[test]
fn quartz1_is_a_regular_tree_of_three_levels() {
    let f = generate("quartz1").unwrap();
    let s = detect(&f);
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (3, 4, 2, true));
    assert!(s.findings.is_empty(), "{:?}", s.findings);
    let t = s.tree().unwrap();
    assert_eq!((t.pods, t.leaves_per_pod, t.hosts_per_leaf, t.spines_per_pod), (4, 24, 32, 16));
    assert_eq!((t.groups, t.spines_per_group, t.cores_per_group), (2, 8, 24));
    assert_eq!((t.leaf_cables, t.core_cables), (1, 1));
    for x in f.switches() {
        let name = f.switch_name(x);
        let number = || name[1..2].parse::<u32>().unwrap();
        let (pod, group) = (s.pod[x.index()], s.core_group[x.index()]);
        match s.level[x.index()] {
            0 => assert_eq!((pod, group), (number(), NO_GROUP), "{name}"),
            1 => assert_eq!((pod, group), (number(), name[7..].parse::<u32>().unwrap() / 8), "{name}"),
            _ => assert_eq!((pod, group), (NO_POD, number()), "{name}"),
        }
    }
}

#[test]
fn two_levels_are_one_pod_without_core_groups() {
    let s = detect(&ft2_32());
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (2, 1, 0, true));
    assert!(s.pod.iter().all(|&p| p == 0) && s.core_group.iter().all(|&g| g == NO_GROUP));
}

#[test]
fn links_up_and_down_are_told_apart() {
    let f = ft3_32();
    let s = detect(&f);
    for l in f.links() {
        let (from, to) = (f.node_name(f.link_from(l)), f.node_name(f.link_to(l)));
        let rank =
            |name: &str| ["host", "leaf", "spine", "core"].iter().position(|k| name.contains(k)).unwrap();
        let want = if rank(from) < rank(to) { Direction::Up } else { Direction::Down };
        assert_eq!(s.direction(&f, l), want, "{from} -> {to}");
    }
}

#[test]
fn one_switch_is_one_level_and_no_tree() {
    let s = detect(&star(4));
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (1, 1, 0, false));
    assert!(s.findings.is_empty());
    assert_eq!(s.irregular.as_deref(), Some("levels: expected 2 or 3, found 1"));
}

#[test]
fn a_missing_cable_breaks_regularity_and_nothing_else() {
    let s = detect(&ft3_32_broken());
    assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (3, 2, 2, false));
    assert_eq!(texts(&s), ["dead cables between switches: 1"]);
    assert_eq!(s.irregular.unwrap(), "\"p0leaf0\" is joined to 1 switches above it, expected 2");
}

#[test]
fn a_tenth_of_quartz1s_cables_may_die_without_changing_levels_pods_or_groups() {
    let f = generate("quartz1").unwrap();
    let whole = detect(&f);
    for seed in 0..5 {
        let what = Damage { random_links: 307, ..Damage::default() };
        let s = detect(&damage(&f, &what, seed).unwrap().fabric);
        assert_eq!((&s.level, &s.pod, &s.core_group), (&whole.level, &whole.pod, &whole.core_group));
        assert!(!s.regular);
    }
    let s = detect(&damage(&f, &Damage { random_switches: 20, ..Damage::default() }, 3).unwrap().fabric);
    assert_eq!((s.levels, s.pods, s.core_groups), (3, 4, 2));
    assert_eq!(s.switches_at(NO_LEVEL).count(), 20);
    assert!(
        f.switches().all(|x| s.level[x.index()] == NO_LEVEL || s.level[x.index()] == whole.level[x.index()])
    );
}

#[test]
fn a_management_node_on_a_spine_or_core_turns_nothing_upside_down() {
    // As many hosts on the core as on a leaf, and on the first core of all (it sorts first).
    for place in ["p0spine0", "p1spine1", "g0core0", "g1core1"] {
        for count in [1, 4] {
            let hosts: Vec<String> = (0..count).map(|i| format!("io{i}")).collect();
            let cables: Vec<(&str, &str)> = hosts.iter().map(|h| (place, h.as_str())).collect();
            let f = extended(&ft3_32(), &[], &cables);
            let s = detect(&f);
            assert!(named_levels(&f, &s), "{place}: {:?}", s.level);
            assert_eq!((s.levels, s.pods, s.core_groups, s.regular), (3, 2, 2, false));
            assert_eq!(texts(&s), [format!("hosts above the leaf level: {count} (on {place})")]);
        }
    }
    // One host a leaf and one on a spine: the counts say nothing, the cables do.
    let small = generate("two-level:leaves=4,hosts=1,spines=2").unwrap();
    let f = extended(&small, &[], &[("spine00", "sm")]);
    assert!(named_levels(&f, &detect(&f)));
    // Every spine has one.
    let f = extended(&small, &[], &[("spine00", "sm"), ("spine01", "sm2")]);
    assert!(named_levels(&f, &detect(&f)));
    // The same in four levels, at every height.
    let tall = generate("xgft:m=2x2x2x2,w=1x2x2x2").unwrap();
    for place in ["l1s0", "l2s0", "l3s0"] {
        let f = extended(&tall, &[], &[(place, "sm")]);
        let s = detect(&f);
        assert_eq!(s.level, detect(&tall).level, "{place}");
        assert_eq!(s.pods, 2);
    }
}

#[test]
fn a_leaf_with_few_hosts_is_a_leaf() {
    let f = extended(&ft3_32(), &["login"], &[("login", "l0"), ("login", "p0spine0"), ("login", "p0spine1")]);
    let s = detect(&f);
    assert_eq!(level(&f, &s, "login"), 0);
    assert_eq!((s.levels, s.pods), (3, 2));
    assert!(s.findings.is_empty(), "{:?}", s.findings);
}

#[test]
fn a_leaf_without_hosts_is_a_leaf() {
    let f = extended(&ft2_32(), &["spare"], &[("spare", "spine00"), ("spare", "spine01")]);
    let s = detect(&f);
    assert_eq!((level(&f, &s, "spare"), s.levels), (0, 2));
    assert_eq!(texts(&s), ["switches of the leaf level without hosts: 1 (spare)"]);
    // In three levels it cuts across the core groups, which no core does.
    let f = extended(&ft3_32(), &["spare"], &[("spare", "p0spine0"), ("spare", "p0spine1")]);
    let s = detect(&f);
    assert_eq!((level(&f, &s, "spare"), s.levels, s.pods, s.core_groups), (0, 3, 2, 2));
}

#[test]
fn a_core_that_still_has_one_pod_is_a_core() {
    let f = ft3_32();
    let what = Damage { links: vec![("g0core0".into(), 2)], ..Damage::default() };
    let s = detect(&damage(&f, &what, 0).unwrap().fabric);
    assert!(named_levels(&f, &s));
    assert_eq!((s.pods, s.core_groups), (2, 2));
}

#[test]
fn a_spine_whose_cables_down_are_dead_stays_a_spine() {
    let f = ft3_32();
    let what = Damage { links: (1..=4).map(|p| ("p0spine0".into(), p)).collect(), ..Damage::default() };
    let s = detect(&damage(&f, &what, 0).unwrap().fabric);
    assert!(named_levels(&f, &s), "{:?}", s.level);
    assert_eq!((s.levels, s.pods, s.core_groups), (3, 2, 2));
    assert_eq!(s.pairs_without_route, 0);
}

#[test]
fn storage_that_hangs_on_the_cores_is_above_the_leaves() {
    let cables = [("io", "s0"), ("io", "s1"), ("io", "g0core0"), ("io", "g0core1"), ("io", "g1core0")];
    let f = extended(&ft3_32(), &["io"], &cables);
    let s = detect(&f);
    assert!(named_levels(&f, &s));
    assert_eq!((level(&f, &s, "io"), s.levels, s.core_groups, s.pairs_without_route), (1, 3, 1, 0));
    // It is a pod of its own, and joins the core groups that it reaches.
    assert_eq!(s.pods, 3);
}

#[test]
fn parts_are_levelled_each_for_itself() {
    let f = ft3_32();
    // Pod 1 loses its way up: all four cables from its spines to the cores.
    let links =
        ["p1spine0", "p1spine1"].iter().flat_map(|&n| [(n.to_owned(), 5), (n.to_owned(), 6)]).collect();
    let s = detect(&damage(&f, &Damage { links, ..Damage::default() }, 0).unwrap().fabric);
    assert_eq!(s.findings[0].text, "the fabric is in 2 parts: 16 of 32 hosts are outside the largest");
    assert_eq!(s.pairs_without_route, 0);
    assert_eq!(level(&f, &s, "p1leaf0"), 0);
    assert_eq!(level(&f, &s, "p1spine0"), 1);
    // A leaf without any cable up still serves its own hosts; a switch without hosts has no level.
    let links = (5..=6).map(|p| ("p0leaf0".to_owned(), p)).collect();
    let what = Damage { links, switches: vec!["g0core0".into()], ..Damage::default() };
    let s = detect(&damage(&f, &what, 0).unwrap().fabric);
    assert_eq!((level(&f, &s, "p0leaf0"), level(&f, &s, "g0core0")), (0, NO_LEVEL));
    assert_eq!(s.findings[1].text, "switches from which no host can be reached: 1 (g0core0)");
    assert_eq!(s.pod[id(&f, "g0core0").index()], NO_POD);
}

#[test]
fn a_cable_between_leaves_leads_up_to_the_lower_guid() {
    let f = extended(&ft2_32(), &[], &[("leaf00", "leaf01")]);
    let s = detect(&f);
    assert!(named_levels(&f, &s));
    assert_eq!(s.peer_links.len(), 2);
    let (low, high) = (id(&f, "leaf00"), id(&f, "leaf01"));
    assert!(f.switch_guid(low) < f.switch_guid(high));
    assert_eq!(f.link_from_switch(s.peer_links[0]), Some(low));
    assert_eq!(s.direction(&f, s.peer_links[0]), Direction::Down);
    // Leaf 0 is between the other leaves and the spines now.
    assert_eq!((s.rank[low.index()], s.rank[high.index()], s.ranks()), (1, 0, 3));
    let text = &s.findings[0].text;
    assert!(text.starts_with("cables between switches of equal level: 1, such"), "{text}");
    assert!(!s.levels_lose_pairs && !s.by_levels());
    assert!(!s.regular);
}

#[test]
fn leaves_that_share_no_spine_are_joined_by_another_leaf() {
    // a-x-b-y-c with hosts on all three leaves, and a third spine z between a and b.
    let f = wired(
        &[("a", 2), ("b", 2), ("c", 2), ("d", 2), ("x", 0), ("y", 0), ("z", 0)],
        &[(0, 4, 1), (1, 4, 1), (1, 5, 1), (2, 5, 1), (0, 6, 1), (1, 6, 1), (3, 4, 1), (3, 5, 1)],
    );
    let s = detect(&f);
    // a and c have no spine in common; b and d join x and y from below, where routes by levels do not turn up again:
    // so b is on top. With b above x alone, below y and z, hosts meet too, but c would have no way to switch z.
    assert_eq!((s.levels, s.ranks(), s.pairs_without_route), (2, 3, 0), "{:?}", s.rank);
    assert_eq!((s.by_levels(), level(&f, &s, "b")), (false, 0));
    assert_eq!(s.rank[id(&f, "b").index()], 2);
    assert!(
        s.findings[0]
            .text
            .starts_with("pairs of switches with hosts that no up*/down* route by levels joins: 1; up")
    );
}

#[test]
fn what_is_no_tree_gets_levels_from_a_root_and_a_finding() {
    // Rings of seven to nine with a chord.
    let names: Vec<String> = (0..9).map(|i| format!("s{i}")).collect();
    let chorded = |n: usize| {
        let switches: Vec<(&str, usize)> = names[..n].iter().map(|name| (name.as_str(), 1)).collect();
        let ring = (0..n).map(|i| (i, (i + 1) % n, 1)).chain([(0, 3, 1)]);
        wired(&switches, &ring.collect::<Vec<_>>())
    };
    let graphs = [chorded(7), chorded(8), chorded(9)].map(|f| (f, false));
    for (f, groups) in graphs.into_iter().chain([dragonfly(3, 3), dragonfly(5, 4)].map(|f| (f, true))) {
        let s = detect(&f);
        assert_eq!(s.shape.groups().is_some(), groups);
        // The levels of a dragonfly are nothing that anybody should look at.
        let text = s.findings.first().map_or("", |finding| &finding.text);
        assert_eq!(text.starts_with("not an up*/down* tree: levels of its"), !groups, "{:?}", s.findings);
        assert!(!s.regular);
        assert_eq!(s.pairs_without_route, 0);
        assert!(s.level.iter().all(|&l| l != NO_LEVEL));
        let root = s.switches_at(s.levels - 1).count();
        assert_eq!(root, 1);
    }
}

#[test]
fn the_largest_fabrics_are_regular_too() {
    let spec = "fattree:pods=32,leaves=64,hosts=32,spines=32,groups=32,cores=32";
    let f = generate(spec).unwrap();
    assert_eq!(f.host_count(), 65_536);
    let s = detect(&f);
    assert!(s.regular && s.findings.is_empty());
    let what = Damage { random_links: 500, ..Damage::default() };
    let broken = detect(&damage(&f, &what, 1).unwrap().fabric);
    assert_eq!(broken.level, s.level);
    assert_eq!((broken.pods, broken.core_groups, broken.pairs_without_route), (32, 32, 0));
}

#[test]
fn a_doubled_cable_is_named() {
    let f = extended(&ft3_32(), &[], &[("p0leaf1", "p0spine0")]);
    let s = detect(&f);
    assert_eq!(s.irregular.unwrap(), "between \"p0leaf1\" and \"p0spine0\": expected 1 cables, found 2");
    assert_eq!((s.levels, s.pods, s.core_groups), (3, 2, 2));
}

#[test]
fn a_rack_that_is_switched_off_is_a_leaf_without_hosts() {
    for (spec, leaf, hosts) in [
        ("two-level:leaves=8,hosts=4,spines=4", "leaf03", 4),
        ("fattree:pods=3,leaves=4,hosts=2,spines=3,groups=1,cores=3", "p1leaf2", 2),
        ("quartz1", "p2leaf23", 32),
        ("xgft:m=2x2x2x2,w=1x2x2x2", "l0s3", 2),
    ] {
        let f = generate(spec).unwrap();
        let links = (1..=hosts).map(|port| (leaf.to_owned(), port)).collect();
        let s = detect(&damage(&f, &Damage { links, ..Damage::default() }, 0).unwrap().fabric);
        assert_eq!(s.level, detect(&f).level, "{spec}");
        assert_eq!((s.pods, s.core_groups), (detect(&f).pods, detect(&f).core_groups));
        let text = format!("switches of the leaf level without hosts: 1 ({leaf})");
        assert_eq!(s.findings.last().map(|f| &f.text), Some(&text));
    }
}

#[test]
fn a_chain_longer_than_any_subnet_does_no_harm() {
    let names: Vec<String> = (0..1001).map(|i| format!("s{i}")).collect();
    let switches: Vec<(&str, usize)> = names.iter().map(|n| (n.as_str(), 1)).collect();
    // The last one hangs aside.
    let cables = (0..999).map(|i| (i, i + 1, 1)).chain([(500, 1000, 1)]);
    let s = detect(&wired(&switches, &cables.collect::<Vec<_>>()));
    assert_eq!(s.levels, 255);
    assert_eq!(s.findings[1].text, "there are more than 255 levels: those above are taken as one");
}

fn texts(structure: &Structure) -> Vec<&str> {
    structure.findings.iter().map(|f| f.text.as_str()).collect()
}

#[test]
fn management_hosts_on_spines_and_cores_leave_the_levels_as_they_are() {
    let three_levels = "fattree:pods=4,leaves=2,hosts=4,spines=4,groups=2,cores=2";
    for (spec, on) in [
        ("two-level:leaves=4,hosts=4,spines=4", &["spine00", "spine01"][..]),
        ("two-level:leaves=4,hosts=4,spines=4", &["spine00", "spine01", "spine03"]),
        ("two-level:leaves=4,hosts=4,spines=4", &["spine00", "spine01", "spine02", "spine03"]),
        ("two-level:leaves=16,hosts=8,spines=8", &["spine00", "spine05"]),
        ("two-level:leaves=3,hosts=8,spines=8", &["spine00", "spine04", "spine05", "spine07"]),
        (three_levels, &["g0core0", "g0core1"]),
        (three_levels, &["g0core0", "g1core1"]),
        (three_levels, &["g0core0", "g1core0", "g1core1"]),
        (three_levels, &["p0spine0", "p0spine2", "p1spine3"]),
    ] {
        let plain = generate(spec).unwrap();
        let names: Vec<String> = on.iter().map(|s| format!("mgmt-{s}")).collect();
        let cables: Vec<(&str, &str)> = on.iter().copied().zip(names.iter().map(String::as_str)).collect();
        let f = extended(&plain, &[], &cables);
        let s = detect(&f);
        assert!(named_levels(&f, &s), "{spec} {on:?} {:?}", s.level);
        assert_eq!((s.pods, s.core_groups), (detect(&plain).pods, detect(&plain).core_groups));
        assert_eq!((s.pairs_without_route, s.levels_lose_pairs), (0, true));
        assert!(s.peer_links.is_empty());
    }
}
