//! Dragonflies: what the generator makes, and groups from cables alone.

use netloom_model::rng::{shuffle, stream};
use netloom_model::{End, Fabric, FabricBuilder, HostSpec, LinkId, Node, NodeId, SwitchSpec};
use netloom_testkit::trials;
use netloom_topology::{Arrangement, Damage, Groups, Shape, SpecError, damage, detect, unfit_groups};

/// What a spec makes, as cables: the groups that it states are left out.
fn generate(spec: &str) -> Result<Fabric, SpecError> {
    netloom_topology::generate(spec).map(|fabric| fabric.without_groups())
}

fn groups(fabric: &Fabric) -> Option<Groups> {
    detect(fabric).shape.groups().cloned()
}

/// Whether the groups are those that the names tell: `g00r0`.
fn named_groups(fabric: &Fabric, found: &Groups) -> bool {
    let named = |s| fabric.switch_name(s)[1..].split_once('r').unwrap().0.parse::<u32>().unwrap();
    fabric.switches().all(|s| found.group(s) == named(s))
}

/// The same nodes without a share of the cables between switches: not dead, absent. Ports of hosts and switches are drawn anew.
fn without(fabric: &Fabric, percent: usize, seed: u64) -> Fabric {
    let mut random = stream(seed, 1);
    let mut cables: Vec<LinkId> = fabric.links().filter(|&l| l < fabric.reverse(l)).collect();
    shuffle(&mut random, &mut cables);
    let between = |l: &LinkId| fabric.between_switches(*l);
    let cut = cables.iter().filter(|l| between(l)).count() * percent / 100;
    let cut: Vec<LinkId> = cables.iter().copied().filter(between).take(cut).collect();
    let mut b = FabricBuilder::new();
    for s in fabric.switches() {
        b.switch(SwitchSpec::new(fabric.switch_name(s), fabric.switch_guid(s), fabric.radix(s)));
    }
    for h in fabric.hosts() {
        b.host(HostSpec::new(fabric.host_name(h), fabric.host_guid(h)));
    }
    let mut port = vec![0; fabric.switch_count()];
    let mut end = |node: NodeId| match fabric.node(node) {
        Node::Host(h) => End::Host(h.index()),
        Node::Switch(s) => {
            port[s.index()] += 1;
            End::Switch(s.index(), port[s.index()])
        }
    };
    for &l in cables.iter().filter(|l| !cut.contains(l)) {
        let (a, z) = (end(fabric.link_from(l)), end(fabric.link_to(l)));
        b.cable(a, z, fabric.bandwidth_bytes_per_s(l));
    }
    b.build().unwrap()
}

fn cables(fabric: &Fabric, found: &Groups) -> (usize, usize) {
    let between = fabric.links().filter(|&l| l < fabric.reverse(l) && fabric.between_switches(l));
    let of = |l| (fabric.link_from_switch(l).unwrap(), fabric.link_to_switch(l).unwrap());
    let (local, global): (Vec<_>, Vec<_>) =
        between.map(of).partition(|&(a, b)| found.group(a) == found.group(b));
    (local.len(), global.len())
}

#[test]
fn the_balanced_one_of_eight_has_33_groups() {
    let fabric = generate("dragonfly:p=4,a=8,h=4").unwrap();
    let structure = detect(&fabric);
    let found = structure.shape.groups().unwrap();
    assert_eq!((found.count, fabric.switch_count(), fabric.host_count()), (33, 264, 1056));
    assert_eq!(cables(&fabric, found), (924, 528));
    assert_eq!((found.switches_a_group, found.global_cables), (8, (1, 1)));
    assert!(found.of_hosts(&fabric).iter().enumerate().all(|(host, &group)| group as usize == host / 32));
    assert_eq!((structure.findings, structure.regular), (vec![], false));
}

#[test]
fn groups_are_found_whatever_the_arrangement() {
    let shapes = [
        "p=2,a=4,h=2",
        "p=4,a=8,h=4",
        "p=2,a=8,h=4,g=17,links=2",
        "p=1,a=16,h=4,g=9,links=8",
        "p=2,a=4,h=2,g=5",
    ];
    for (shape, arrangement) in shapes.iter().flat_map(|&s| Arrangement::ALL.map(|a| (s, a))) {
        let spec = format!("dragonfly:{shape},arrangement={arrangement}");
        let fabric = generate(&spec).unwrap();
        let found = groups(&fabric).unwrap_or_else(|| panic!("{spec}"));
        assert!(named_groups(&fabric, &found), "{spec}: {found:?}");
        assert_eq!((found.arrangement, found.deviations), (Some(arrangement), vec![]), "{spec}");
    }
}

/// All global cables of a group on one switch; switches cabled to their like of all other groups, so that any two are two cables apart.
#[test]
fn groups_are_found_where_cables_are_laid_oddly() {
    for spec in [
        "dragonfly:p=2,a=8,h=8,g=9",
        "dragonfly:p=16,a=32,h=16,g=5,links=128",
        "dragonfly:p=8,a=16,h=8,g=3,links=64",
    ] {
        let fabric = generate(spec).unwrap();
        let found = groups(&fabric).unwrap_or_else(|| panic!("{spec}"));
        assert!(named_groups(&fabric, &found) && found.deviations.is_empty(), "{spec}: {found:?}");
    }
}

#[test]
fn stated_groups_are_taken_as_they_are() {
    let fabric = generate("dragonfly:p=1,a=2,h=1,g=2").unwrap();
    assert_eq!(groups(&fabric), None);
    let stated = fabric.with_groups(vec![7, 7, 3, 3]);
    let found = groups(&stated).unwrap();
    assert_eq!((found.of, found.count, found.switches_a_group), (vec![0, 0, 1, 1], 2, 2));
    // Damage keeps them.
    let cut = damage(&stated, &Damage { random_links: 1, ..Damage::default() }, 1).unwrap().fabric;
    assert_eq!(groups(&cut).unwrap().count, 2);
}

/// Six cables to other groups a switch and three within its own: those of first switches look more like a group, but are none.
#[test]
fn whole_groups_of_four_are_found_among_many_cables() {
    let fabric = generate("dragonfly:p=1,a=4,h=6,g=8,links=3,arrangement=absolute").unwrap();
    let found = groups(&shuffled(&fabric, 1)).unwrap();
    assert_eq!((found.count, found.switches_a_group, found.global_cables), (8, 4, (3, 3)));
    assert_eq!(found.deviations, Vec::<String>::new());
    assert!(named_groups(&fabric, &groups(&fabric).unwrap()));
}

/// Every switch has the first, second, ... of each other group as neighbours: a grid, of which both lines are cliques.
#[test]
fn where_groups_and_what_joins_them_could_change_places_cables_side_by_side_tell_or_it_is_a_hyperx() {
    let fabric = generate("dragonfly:p=2,a=2,h=4,g=3,links=4,arrangement=circulant").unwrap();
    let found = groups(&fabric).unwrap();
    assert!(named_groups(&fabric, &found) && found.count == 3 && found.deviations.is_empty(), "{found:?}");
    let fabric = generate("dragonfly:p=1,a=5,h=2,g=3,links=5,arrangement=absolute").unwrap();
    assert_eq!(detect(&fabric).shape.name(), "hyperx");
    let stated = fabric.with_groups(fabric.switches().map(|s| s.0 / 5).collect::<Vec<_>>());
    assert_eq!(groups(&stated).unwrap().count, 3);
    let made = netloom_topology::generate("dragonfly:p=1,a=5,h=2,g=3,links=5").unwrap();
    assert_eq!(groups(&made), groups(&stated), "a spec says which are the groups");
}

#[test]
fn groups_of_two_by_two_lack_nothing() {
    let made = generate("aries:groups=4,links=2,slots=2,chassis=2,hosts=1").unwrap();
    let fabric = made.with_groups(made.switches().map(|s| s.0 / 4).collect::<Vec<_>>());
    assert_eq!(groups(&fabric).unwrap().deviations, Vec::<String>::new());
    let local = |&l: &LinkId| {
        let ends = fabric.link_from_switch(l).zip(fabric.link_to_switch(l));
        ends.is_some_and(|(a, b)| a.0 / 4 == b.0 / 4)
    };
    let cut = fabric.with_dead(fabric.links().find(local));
    assert_eq!(
        groups(&cut).unwrap().deviations,
        ["pairs of switches of one group that no working cable joins: 1"]
    );
}

#[test]
fn stated_groups_that_cannot_be_are_told() {
    let fabric = generate("dragonfly:p=2,a=4,h=2").unwrap();
    let told = |of: &dyn Fn(u32) -> u32| {
        unfit_groups(&fabric, &fabric.switches().map(|s| of(s.0)).collect::<Vec<_>>())
    };
    assert_eq!(told(&|s| s / 4), None);
    assert_eq!(told(&|_| 3).unwrap(), "expected at least two groups, found 1");
    // Each switch has five cables: 90 of 36 * 35 / 2 pairs.
    assert_eq!(
        told(&|s| s).unwrap(),
        "expected groups that are joined to each other, found 36 groups of which cables join 90 of 630 pairs"
    );
    // One switch of each group: no cable joins first switches to each other but a few.
    let mixed = told(&|s| s % 9).unwrap();
    assert!(mixed.starts_with("expected groups whose switches are joined by cables within"), "{mixed}");
    // One of nine groups falls apart: the others are right.
    let of: Vec<u32> = fabric.switches().map(|s| if s.0 == 35 { 0 } else { s.0 / 4 }).collect();
    assert_eq!(unfit_groups(&fabric, &of), None);
    let told = groups(&fabric.with_groups(of)).unwrap().deviations;
    let apart = "groups whose cables do not join all of their switches: 1, such as group 0";
    assert!(told.iter().any(|text| text == apart), "{told:?}");
}

/// The same with switches in another order and under other names, and cables in other ports; GUIDs stay.
fn shuffled(fabric: &Fabric, seed: u64) -> Fabric {
    let mut random = stream(seed, 2);
    let mut b = FabricBuilder::new();
    let mut order: Vec<_> = fabric.switches().collect();
    shuffle(&mut random, &mut order);
    let mut at = vec![0; order.len()];
    for (i, &s) in order.iter().enumerate() {
        at[s.index()] = b.switch(SwitchSpec::new(format!("s{i:05}"), fabric.switch_guid(s), fabric.radix(s)));
    }
    for h in fabric.hosts() {
        b.host(HostSpec::new(fabric.host_name(h), fabric.host_guid(h)));
    }
    let mut cables: Vec<LinkId> = fabric.links().filter(|&l| l < fabric.reverse(l)).collect();
    shuffle(&mut random, &mut cables);
    let mut port = vec![0; order.len()];
    let mut end = |node: NodeId| match fabric.node(node) {
        Node::Host(h) => End::Host(h.index()),
        Node::Switch(s) => {
            port[s.index()] += 1;
            End::Switch(at[s.index()], port[s.index()])
        }
    };
    for l in cables {
        let (a, z) = (end(fabric.link_from(l)), end(fabric.link_to(l)));
        b.cable(a, z, fabric.bandwidth_bytes_per_s(l));
    }
    b.build().unwrap()
}

#[test]
fn groups_do_not_hang_on_names_orders_or_ports() {
    let in_all = ["p=2,a=4,h=2", "p=2,a=4,h=2,g=5", "p=2,a=8,h=4,g=17,links=2", "p=1,a=16,h=4,g=9,links=8"];
    let in_all =
        in_all.into_iter().chain(["p=3,a=6,h=3,g=10,links=2", "p=4,a=8,h=4,g=9,links=4", "p=4,a=8,h=4"]);
    let specs =
        in_all.flat_map(|shape| Arrangement::ALL.map(|a| format!("dragonfly:{shape},arrangement={a}")));
    let others = [
        "dragonfly:p=2,a=8,h=8,g=9",
        "dragonfly:p=16,a=32,h=16,g=5,links=128",
        "dragonfly:p=8,a=16,h=8,g=3,links=64",
        "dragonfly:p=2,a=12,h=6,g=7,links=8",
        "dragonfly:p=1,a=6,h=2,g=4,links=3",
        "aries:groups=4,links=12,slots=8,chassis=4,hosts=1",
        "aries:groups=3,links=6,slots=6,chassis=3,hosts=1",
    ];
    let mut odd = Vec::new();
    for spec in specs.chain(others.map(str::to_owned)) {
        let whole = generate(&spec).unwrap();
        let size = whole.switch_count() / named(&spec, &whole);
        // The large ones only where somebody asks.
        for seed in 0..trials(u64::from(whole.switch_count() <= 72)) {
            let fabric = shuffled(&whole, seed);
            let of_guid: std::collections::HashMap<u64, usize> =
                whole.switches().map(|s| (whole.switch_guid(s), s.index() / size)).collect();
            let right = groups(&fabric).is_some_and(|found| {
                let mut told = std::collections::HashMap::new();
                let same = fabric.switches().all(|s| {
                    let group = of_guid[&fabric.switch_guid(s)];
                    *told.entry(group).or_insert(found.group(s)) == found.group(s)
                });
                same && found.count as usize * size == fabric.switch_count()
            });
            if !right {
                odd.push(format!("{spec}, seed {seed}: {}", detect(&fabric).shape));
            }
        }
    }
    assert!(odd.is_empty(), "{odd:#?}");
}

/// Groups of a generator's fabric, by its names.
fn named(spec: &str, fabric: &Fabric) -> usize {
    let last = fabric.switch_name(fabric.switches().last().unwrap());
    let digits: String = last[1..].chars().take_while(char::is_ascii_digit).collect();
    digits.parse::<usize>().unwrap_or_else(|_| panic!("{spec}: {last}")) + 1
}

#[test]
fn groups_of_eight_are_found_with_cables_absent() {
    for shape in ["p=4,a=8,h=4", "p=2,a=8,h=4,g=17,links=2", "p=1,a=16,h=4,g=9,links=8"] {
        for (arrangement, seed) in Arrangement::ALL.iter().flat_map(|a| (1..=5).map(move |seed| (a, seed))) {
            let spec = format!("dragonfly:{shape},arrangement={arrangement}");
            let fabric = without(&generate(&spec).unwrap(), 5, seed);
            let found = groups(&fabric).unwrap_or_else(|| panic!("{spec}, seed {seed}"));
            assert!(named_groups(&fabric, &found), "{spec}, seed {seed}");
            assert!(!found.deviations.is_empty(), "{spec}, seed {seed}");
        }
    }
}

#[test]
fn dead_cables_do_not_move_a_switch() {
    let whole = generate("dragonfly:p=2,a=4,h=2").unwrap();
    let how = Damage { random_links: 20, random_switches: 1, ..Damage::default() };
    let broken = damage(&whole, &how, 7).unwrap().fabric;
    let (whole, found) = (groups(&whole).unwrap(), groups(&broken).unwrap());
    assert_eq!((&found.of, found.count), (&whole.of, 9));
    assert_eq!(found.global_cables.0, 0);
    assert!(
        found.deviations.iter().any(|text| text.starts_with("pairs of groups that no working cable joins")),
        "{found:?}"
    );
}

#[test]
fn trees_and_other_graphs_are_no_dragonflies() {
    for spec in ["quartz1", "cab", "two-level:leaves=8,hosts=4,spines=4", "xgft:m=4x4x4,w=1x2x3"] {
        assert_eq!(detect(&generate(spec).unwrap()).shape, Shape::Tree, "{spec}");
    }
    // Random graphs of 64 switches with 4, 8 and 16 cables each, a clique, a ring of cliques.
    let graph = |n: usize, ends: Vec<(usize, usize)>| {
        let mut b = FabricBuilder::new();
        let mut port = vec![1; n];
        for s in 0..n {
            b.switch(SwitchSpec::new(format!("s{s:02}"), s as u64 + 1, 200));
            let host = b.host(HostSpec::new(format!("h{s:02}"), 0x1000 + 16 * s as u64));
            b.cable(End::Switch(s, 1), End::Host(host), 1e9);
        }
        for (a, z) in ends {
            (port[a], port[z]) = (port[a] + 1, port[z] + 1);
            b.cable(End::Switch(a, port[a]), End::Switch(z, port[z]), 1e9);
        }
        b.build().unwrap()
    };
    let all = |from: usize, to: usize| (from..to).flat_map(move |a| (a + 1..to).map(move |b| (a, b)));
    for (degree, seed) in [4, 8, 16].into_iter().flat_map(|d| (1..=5).map(move |seed| (d, seed))) {
        let mut pairs: Vec<(usize, usize)> = all(0, 64).collect();
        shuffle(&mut stream(seed, degree as u64), &mut pairs);
        let ring = (0..64).map(|s| (s, (s + 1) % 64));
        let fabric = graph(64, ring.chain(pairs.into_iter().take(32 * degree)).collect());
        assert_eq!(detect(&fabric).shape, Shape::Graph, "degree {degree}, seed {seed}");
    }
    assert_eq!(detect(&graph(12, all(0, 12).collect())).shape.name(), "fullmesh");
    let cliques = (0..8).flat_map(|c| all(6 * c, 6 * c + 6).chain([(6 * c, (6 * c + 7) % 48)]));
    assert_eq!(detect(&graph(48, cliques.collect())).shape, Shape::Graph);
}

#[test]
fn bad_specs_say_what_was_expected() {
    let says = |spec: &str, part: &str| {
        let message = generate(spec).unwrap_err().to_string();
        assert!(message.contains(part), "{spec}: {message}");
    };
    says("dragonfly:p=4,a=8", "\"h\" is missing, as in dragonfly:p=4,a=8,h=4");
    says("dragonfly:p=4,a=8,h=4,g=34", "g, links: expected at most 32 global cables a group, as a=8");
    says("dragonfly:p=4,a=8,h=4,g=33,links=2", "found \"32 x 2 = 64\"");
    says("dragonfly:p=4,a=8,h=4,g=1", "g: expected at least 2 groups, found \"1\"");
    says("dragonfly:p=4,a=1,h=1,links=2", "g: expected at least 2 groups");
    says("dragonfly:p=4,a=8,h=4,arrangement=palm", "one of absolute, relative, circulant, found \"palm\"");
    says("aries:groups=1,links=4", "aries: groups: expected at least 2 groups, found \"1\"");
    says("aries:groups=0,links=4", "aries: groups: expected at least 2 groups, found \"0\"");
    says(
        "aries:groups=3,links=5",
        "aries: links: expected an even number, as cables come in twos, found \"5\"",
    );
    says(
        "aries:groups=5,links=300",
        "aries: groups, links: expected at most 960 cables from a group to others, as 96 routers have 10 tiles for \
         them, found \"4 x 300 = 1200\"",
    );
    says("aries:groups=2,links=2,slots=0", "aries: slots: expected a whole number");
    says("edison:speed=EDR", "edison: unknown key \"speed\": expected none");
    says("dragonfly:p=4,a=8,h=4,global-speed=fast", "global-speed: expected one of SDR");
    says("dragonfly:p=0,a=8,h=4", "p: expected a whole number from 1");
    says("dragonfly:p=4,a=2000000,h=2000000", "g: expected a whole number from 1 to 2000000");
    says("dragonfly:p=1000000,a=8,h=4", "264000000 hosts: expected at most 500000");
    says("dragonfly:p=4,a=99999999999999999999,h=4", "a: expected a whole number from 1");
}

#[test]
fn kinds_of_cables_have_speeds_of_their_own() {
    let fabric = generate("dragonfly:p=2,a=4,h=2,speed=100G,local-speed=42G,global-speed=37.6G").unwrap();
    let found = groups(&fabric).unwrap();
    for l in fabric.links() {
        let gigabits = match (fabric.link_from_switch(l), fabric.link_to_switch(l)) {
            (Some(a), Some(b)) if found.group(a) == found.group(b) => 42.0,
            (Some(_), Some(_)) => 37.6,
            _ => 100.0,
        };
        assert_eq!(fabric.bandwidth_bytes_per_s(l), gigabits * 1e9 / 8.0);
    }
}
