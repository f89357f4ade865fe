//! HyperX, torus, mesh, full mesh and megafly: counts by closed forms, and shapes found from cables alone.

use netloom_model::rng::{shuffle, stream};
use netloom_model::{End, Fabric, FabricBuilder, HostSpec, SwitchSpec};
use netloom_topology::{Damage, Lattice, Line, Shape, damage, detect, generate};

/// The name of a fabric's shape, and its sizes.
fn told(fabric: &Fabric) -> (&'static str, Vec<u32>) {
    let shape = detect(fabric).shape;
    let sizes = shape.coordinates().map(|c| c.dimensions.iter().map(|d| d.size).collect());
    (shape.name(), sizes.unwrap_or_default())
}

/// Cables between switches.
fn cables(fabric: &Fabric) -> usize {
    fabric.links().filter(|&l| fabric.between_switches(l)).count() / 2
}

/// The names of two switches whose cable is at these ports.
fn joined(fabric: &Fabric, name: &str, port: u16) -> (String, u16) {
    let switch = fabric.switches().find(|&s| fabric.switch_name(s) == name).unwrap();
    let link = fabric.link(fabric.link_at(switch, port).unwrap());
    (fabric.node_name(link.to).to_owned(), link.to_port)
}

/// The same cables between other names, GUIDs and ports, in another order; `left_out` of them are missing.
fn shuffled(fabric: &Fabric, seed: u64, left_out: usize) -> Fabric {
    let mut random = stream(seed, 0);
    let mut order: Vec<usize> = (0..fabric.switch_count()).collect();
    shuffle(&mut random, &mut order);
    let mut ends: Vec<(usize, usize)> = fabric
        .links()
        .filter_map(|l| fabric.link_from_switch(l).zip(fabric.link_to_switch(l)))
        .filter(|(s, t)| s < t)
        .map(|(s, t)| (order[s.index()], order[t.index()]))
        .collect();
    shuffle(&mut random, &mut ends);
    let mut b = FabricBuilder::new();
    for s in 0..order.len() {
        b.switch(SwitchSpec::new(format!("x{s:04}"), s as u64 + 1, 250));
    }
    let mut port = vec![0; order.len()];
    let mut next = |s: usize| {
        port[s] += 1;
        End::Switch(s, port[s])
    };
    for h in fabric.hosts() {
        let host = b.host(HostSpec::new(format!("h{:04}", h.0), 0x10000 + 16 * u64::from(h.0)));
        let end = next(order[fabric.leaf(h).index()]);
        b.cable(end, End::Host(host), 1e9);
    }
    for &(s, t) in &ends[left_out..] {
        let (near, far) = (next(s), next(t));
        b.cable(near, far, 1e9);
    }
    b.build().unwrap()
}

#[test]
fn counts_are_those_of_the_closed_forms() {
    // Switches, hosts, cables between switches, ports: 96 x 4 hosts; 6 rows of 16 * 15 / 2 and 16 columns of 6 * 5 / 2.
    for (spec, switches, hosts, between, radix) in [
        ("hyperx:shape=16x6,hosts=4", 96, 384, 6 * 120 + 16 * 15, 4 + 15 + 5),
        ("hyperx:shape=16x6,hosts=4,cables=1x3", 96, 384, 6 * 120 + 3 * 16 * 15, 4 + 15 + 3 * 5),
        ("hyperx:shape=3x3,hosts=1", 9, 9, 18, 5),
        ("torus:shape=6x6x6,hosts=2", 216, 432, 3 * 216, 2 + 6),
        ("torus:shape=5x3,hosts=1,cables=2", 15, 15, 2 * 2 * 15, 1 + 8),
        // A ring of two has one cable: 2 x 2 is a ring of four.
        ("torus:shape=2x2,hosts=1", 4, 4, 4, 3),
        ("torus:shape=2x2,hosts=1,cables=2", 4, 4, 8, 5),
        ("torus:shape=3,hosts=1", 3, 3, 3, 3),
        ("torus:shape=4,hosts=1", 4, 4, 4, 3),
        ("mesh:shape=4x3,hosts=1", 12, 12, 3 * 3 + 4 * 2, 5),
        ("mesh:shape=2x2x2,hosts=1", 8, 8, 12, 4),
        ("fullmesh:switches=12,hosts=8", 12, 96, 66, 8 + 11),
        ("fullmesh:switches=3,hosts=1,cables=4", 3, 3, 12, 1 + 8),
    ] {
        let fabric = generate(spec).unwrap();
        let found = (fabric.switch_count(), fabric.host_count(), cables(&fabric), fabric.max_radix());
        assert_eq!(found, (switches, hosts, between, radix), "{spec}");
    }
    for (spec, g, l, s, p, k, h) in [
        ("megafly:groups=9,leaves=4,spines=4,hosts=4", 9, 4, 4, 4, 1, 2),
        ("megafly:groups=3,leaves=2,spines=3,hosts=5,links=6,arrangement=relative", 3, 2, 3, 5, 6, 4),
        ("megafly:groups=5,leaves=3,spines=2,hosts=1,h=4,links=2,arrangement=circulant", 5, 3, 2, 1, 2, 4),
    ] {
        let fabric = generate(spec).unwrap();
        assert_eq!((fabric.switch_count(), fabric.host_count()), (g * (l + s), g * l * p), "{spec}");
        assert_eq!(cables(&fabric), g * l * s + g * (g - 1) / 2 * k, "{spec}");
        assert_eq!(usize::from(fabric.max_radix()), (p + s).max(l + h), "{spec}");
    }
}

#[test]
fn names_are_coordinates_and_ports_follow_dimensions() {
    let f = generate("hyperx:shape=3x12,hosts=2,cables=1x2").unwrap();
    // s1-04: hosts on 1 and 2, rows 0 and 2 on 3 and 4, then two cables to each of columns 0, 1, 2, 3, 5, …
    assert_eq!(joined(&f, "s1-04", 3), ("s0-04".into(), 3));
    assert_eq!(joined(&f, "s1-04", 4), ("s2-04".into(), 4));
    assert_eq!(joined(&f, "s1-04", 5), ("s1-00".into(), 11));
    assert_eq!(joined(&f, "s1-04", 14), ("s1-05".into(), 14));
    let f = generate("torus:shape=5x2,hosts=1").unwrap();
    // Before and after in dimension 1, then the only one in dimension 2.
    assert_eq!(joined(&f, "s0-1", 2), ("s4-1".into(), 3));
    assert_eq!(joined(&f, "s0-1", 3), ("s1-1".into(), 2));
    assert_eq!(joined(&f, "s0-1", 4), ("s0-0".into(), 4));
    let f = generate("mesh:shape=3,hosts=1").unwrap();
    assert!(f.link_at(netloom_model::SwitchId(0), 2).is_none(), "nothing is before the first one");
    assert_eq!(joined(&f, "s0", 3), ("s1".into(), 2));
    let f = generate("megafly:groups=3,leaves=2,spines=2,hosts=1").unwrap();
    assert_eq!(joined(&f, "g00l1", 3), ("g00s1".into(), 2));
    // Absolute: port 1 of group 0 leads to group 2, on its second spine.
    assert_eq!(joined(&f, "g00s1", 3), ("g02s0".into(), 3));
}

#[test]
fn cables_have_the_speeds_of_their_dimensions() {
    let f = generate("mesh:shape=2x2,hosts=1,speed=10G,speeds=HDR/XDR").unwrap();
    let speed = |port| f.bandwidth_bytes_per_s(f.link_at(netloom_model::SwitchId(0), port).unwrap());
    assert_eq!([1, 2, 3].map(speed), [1.25e9, 25e9, 100e9]);
}

#[test]
fn bad_specs_say_what_was_expected() {
    for (spec, part) in [
        (
            "hyperx:shape=16x1,hosts=4",
            "shape: expected at least 2 switches in every dimension, found \"16x1\"",
        ),
        ("torus:shape=4x0,hosts=1", "shape: expected a whole number from 1"),
        ("torus:shape=4x4,hosts=0", "hosts: expected a whole number from 1"),
        ("torus:shape=,hosts=1", "shape: expected a whole number"),
        ("torus:hosts=1", "\"shape\" is missing, as in torus:shape=6x6x6,hosts=1"),
        (
            "mesh:shape=2x2x2,hosts=1,cables=1x2",
            "cables: expected one number, or 3, one a dimension, found \"1x2\"",
        ),
        ("mesh:shape=2x2,hosts=1,speeds=EDR", "speeds: expected 2 speeds, one a dimension, found \"1\""),
        ("mesh:shape=2x2,hosts=1,speeds=EDR/fast", "speeds: expected one of SDR"),
        ("hyperx:shape=2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2,hosts=1", "1 to 16 dimensions"),
        (
            "hyperx:shape=1999999x1999999x1999999x1999999x1999999x1999999x1999999,hosts=1999999",
            "hosts: expected at most",
        ),
        ("hyperx:shape=300x300,hosts=1", "cables: expected at most 2000000"),
        ("fullmesh:switches=2,hosts=1,cables=65534", "65535 ports of a switch: expected at most 65534"),
        ("fullmesh:switches=1,hosts=1", "switches: expected at least 2 switches, found \"1\""),
        ("fullmesh:shape=4,hosts=1", "unknown key \"shape\""),
        ("megafly:groups=1,leaves=1,spines=1,hosts=1", "groups: expected at least 2 groups"),
        (
            "megafly:groups=9,leaves=4,spines=2,hosts=4,h=3",
            "at most 6 global cables a group, as spines=2 have h=3 ports for them, found \"8 x 1 = 8\"",
        ),
        (
            "megafly:groups=9,leaves=4,spines=4,hosts=4,arrangement=odd",
            "one of absolute, relative, circulant",
        ),
        ("megafly:groups=1999999,leaves=1999999,spines=1999999,hosts=1999999", "hosts: expected at most"),
    ] {
        let message = generate(spec).unwrap_err().to_string();
        assert!(message.contains(part), "{spec}: {message}");
    }
    let lattice = Lattice {
        line: Line::Ring,
        shape: vec![],
        hosts: 1,
        cables: vec![],
        host_bytes_per_s: 1e9,
        bytes_per_s: vec![],
    };
    assert!(lattice.build().unwrap_err().to_string().contains("1 to 16 dimensions"));
}

/// A ring of three is a clique, a ring of four a square.
#[test]
fn shapes_are_found_whatever_names_and_ports_say() {
    for (spec, name, mut sizes) in [
        ("hyperx:shape=16x6,hosts=1", "hyperx", vec![16, 6]),
        ("hyperx:shape=3x3,hosts=1", "hyperx", vec![3, 3]),
        ("hyperx:shape=2x3x4,hosts=1,cables=2", "hyperx", vec![2, 3, 4]),
        ("torus:shape=6x6x6,hosts=1", "torus", vec![6, 6, 6]),
        ("torus:shape=5x7,hosts=2,cables=1x3", "torus", vec![5, 7]),
        ("torus:shape=5x3x2,hosts=1", "torus", vec![5, 3, 2]),
        ("torus:shape=4x5,hosts=1", "torus", vec![2, 2, 5]),
        ("torus:shape=4x4,hosts=1", "hyperx", vec![2, 2, 2, 2]),
        ("torus:shape=9,hosts=1", "torus", vec![9]),
        ("mesh:shape=4x3,hosts=1", "mesh", vec![4, 3]),
        ("mesh:shape=2x5,hosts=1", "mesh", vec![2, 5]),
        ("mesh:shape=3x3,hosts=1", "mesh", vec![3, 3]),
        ("fullmesh:switches=9,hosts=2", "fullmesh", vec![9]),
    ] {
        let whole = generate(spec).unwrap();
        let (found, mut dimensions) = told(&whole);
        if name != "torus" || !spec.contains('4') {
            assert_eq!((found, &dimensions), (name, &sizes), "{spec}");
        }
        for seed in 0..3 {
            let other = told(&shuffled(&whole, seed, 0));
            assert_eq!(other.0, name, "{spec}, seed {seed}");
            dimensions = other.1;
            dimensions.sort_unstable();
            sizes.sort_unstable();
            assert_eq!(dimensions, sizes, "{spec}, seed {seed}");
        }
    }
    for spec in
        ["megafly:groups=9,leaves=4,spines=4,hosts=4", "megafly:groups=2,leaves=2,spines=1,hosts=1,links=3"]
    {
        let whole = generate(spec).unwrap();
        for fabric in [&whole, &shuffled(&whole, 1, 0)] {
            let Shape::Megafly(groups) = detect(fabric).shape else { panic!("{spec}: {:?}", told(fabric)) };
            assert!(groups.deviations.is_empty(), "{spec}: {:?}", groups.deviations);
        }
        let Shape::Megafly(groups) = detect(&whole).shape else { unreachable!() };
        assert_eq!(groups.arrangement.map(|a| a.name()), Some("absolute"), "{spec}");
    }
}

/// Coordinates are places: neighbours differ in one, by one step of a ring.
#[test]
fn coordinates_are_those_of_the_names() {
    let fabric = generate("torus:shape=6x5,hosts=1").unwrap();
    let shape = detect(&fabric).shape;
    let found = shape.coordinates().unwrap();
    for s in fabric.switches() {
        let named: Vec<u32> = fabric.switch_name(s)[1..].split('-').map(|n| n.parse().unwrap()).collect();
        assert_eq!(found.of(s), named, "{}", fabric.switch_name(s));
        assert_eq!(fabric.switch_name(found.moved(s, 1, 3)), format!("s{}-3", named[0]));
    }
    assert_eq!(found.dimensions[0].line, Line::Ring);
}

#[test]
fn damaged_ones_are_told_with_what_they_lack() {
    for spec in [
        "hyperx:shape=8x5,hosts=1",
        "torus:shape=6x7,hosts=1",
        "mesh:shape=5x4x3,hosts=1",
        "fullmesh:switches=9,hosts=1",
    ] {
        let whole = generate(spec).unwrap();
        let broken = damage(&whole, &Damage { random_links: 3, ..Damage::default() }, 2).unwrap().fabric;
        let shape = detect(&broken).shape;
        assert_eq!(shape.name(), detect(&whole).shape.name(), "{spec}");
        let deviations = shape.deviations();
        assert!(
            deviations[0].starts_with("neighbours that no working cable joins: 3, such as \"s"),
            "{deviations:?}"
        );
    }
    // Cables that a dump does not have, one of a hundred.
    for (spec, missing) in [
        ("hyperx:shape=16x6,hosts=1", 9),
        ("torus:shape=6x6x6,hosts=1", 6),
        ("mesh:shape=7x8x6,hosts=1", 3),
        ("torus:shape=5x6,hosts=1", 1),
    ] {
        let whole = generate(spec).unwrap();
        let broken = shuffled(&whole, 5, missing);
        let shape = detect(&broken).shape;
        assert_eq!(shape.name(), detect(&whole).shape.name(), "{spec}");
        assert!(
            shape.deviations()[0].contains(&format!("joins: {missing}, such as")),
            "{:?}",
            shape.deviations()
        );
    }
}

/// What looks nearly like one is none: a twisted torus, a stray cable, half of the cables.
#[test]
fn other_graphs_have_no_coordinates() {
    let whole = generate("torus:shape=6x5,hosts=1").unwrap();
    assert_eq!(told(&shuffled(&whole, 3, 25)).1, Vec::<u32>::new());
    let ring = |n: usize, more: &[(usize, usize)]| {
        let mut b = FabricBuilder::new();
        let mut port = vec![1; n];
        for s in 0..n {
            b.switch(SwitchSpec::new(format!("s{s:02}"), s as u64 + 1, 20));
            let host = b.host(HostSpec::new(format!("h{s:02}"), 0x1000 + 16 * s as u64));
            b.cable(End::Switch(s, 1), End::Host(host), 1e9);
        }
        let cables: Vec<(usize, usize)> =
            (0..n).map(|s| (s, (s + 1) % n)).chain(more.iter().copied()).collect();
        for (a, z) in cables {
            (port[a], port[z]) = (port[a] + 1, port[z] + 1);
            b.cable(End::Switch(a, port[a]), End::Switch(z, port[z]), 1e9);
        }
        b.build().unwrap()
    };
    assert_eq!(told(&ring(9, &[])).0, "torus");
    assert_eq!(told(&ring(9, &[(0, 4)])).0, "graph");
    // Petersen's graph: ten switches, three cables each, no square.
    let petersen = [(5, 7), (7, 9), (9, 6), (6, 8), (8, 5)];
    let inner: Vec<(usize, usize)> = petersen.into_iter().chain((0..5).map(|s| (s, s + 5))).collect();
    let mut b = ring(5, &[]);
    assert_eq!(told(&b).0, "torus");
    b = ring(10, &inner);
    assert_eq!(told(&b).0, "graph");
}
