//! A Cray XC's own wiring.

use std::collections::BTreeMap;

use netloom_formats::{FabricKind, read_fabric, write_cables};
use netloom_model::rng::{shuffle, stream};
use netloom_model::{Fabric, LinkId};
use netloom_testkit::trials;
use netloom_topology::{Shape, detect, generate};

use super::file;

/// How many cables between switches have a speed.
fn cables(fabric: &Fabric, bytes_per_s: f64) -> usize {
    let of = |&l: &LinkId| {
        fabric.between_switches(l) && l < fabric.reverse(l) && fabric.bandwidth_bytes_per_s(l) == bytes_per_s
    };
    fabric.links().filter(of).count()
}

/// The numbers in a switch's name, which say where it is: `c0-1c2s3a0` or `g00c0s00`.
fn numbers(name: &str) -> Vec<u32> {
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse().ok()).collect()
}

/// Cables between (group, chassis, slot) and the same, and how many: where chassis of a group are numbered through both cabinets.
fn wiring(fabric: &Fabric) -> BTreeMap<[(u32, u32, u32); 2], usize> {
    let place = |s: netloom_model::SwitchId| match numbers(fabric.switch_name(s))[..] {
        [group, chassis, slot] => (group, chassis, slot),
        [_, _, chassis, slot, 0] => {
            // Two cabinets are a group: of these the second has chassis 3 to 5.
            let groups = fabric.groups().expect("the dump states them");
            let first = |t: &netloom_model::SwitchId| groups[t.index()] == groups[s.index()];
            let least = fabric.switches().filter(first).map(|t| numbers(fabric.switch_name(t))[0]).min();
            let second = Some(numbers(fabric.switch_name(s))[0]) != least;
            (groups[s.index()], chassis + 3 * u32::from(second), slot)
        }
        _ => panic!("{}", fabric.switch_name(s)),
    };
    let places: Vec<_> = fabric.switches().map(place).collect();
    let mut found = BTreeMap::new();
    for l in fabric.links() {
        if let (Some(a), Some(b)) = (fabric.link_from_switch(l), fabric.link_to_switch(l)) {
            *found.entry([places[a.index()], places[b.index()]]).or_default() += 1;
        }
    }
    found
}

#[test]
fn the_dump_of_a_machine_is_what_its_generator_makes() {
    let dump = file("aries/theta.interconnect.gz");
    assert_eq!((dump.kind, dump.findings.len()), (FabricKind::Aries, 0));
    for (spec, groups, counts) in [
        ("theta", 9, [864, 3_456, 6_480 + 6_480, 1_728]),
        ("edison", 15, [1_440, 5_760, 10_800 + 10_800, 2_520]),
    ] {
        let made = generate(spec).unwrap();
        for fabric in if spec == "theta" { vec![&made, &dump.fabric] } else { vec![&made] } {
            let found =
                [fabric.switch_count(), fabric.host_count(), cables(fabric, 5.25e9), cables(fabric, 4.7e9)];
            assert_eq!(found, counts, "{spec}");
            let structure = detect(fabric);
            let found = structure.shape.groups().unwrap();
            assert_eq!((found.count, found.switches_a_group), (groups, 96), "{spec}");
            assert_eq!(found.grid.as_ref().map(|grid| grid.size), Some((6, 16)), "{spec}");
            assert_eq!(found.deviations, [""; 0]);
        }
    }
    assert!(wiring(&dump.fabric) == wiring(&generate("theta").unwrap()));
}

/// Cables that are not in the file leave no trace, and the table that they are left out of states no groups.
#[test]
fn groups_are_found_from_cables_where_five_percent_are_absent() {
    let whole = file("aries/theta.interconnect.gz").fabric;
    for seed in 0..trials(1) {
        let mut cables: Vec<LinkId> =
            whole.links().filter(|&l| l < whole.reverse(l) && whole.between_switches(l)).collect();
        shuffle(&mut stream(seed, 0x617269), &mut cables);
        cables.truncate(cables.len() / 20);
        let table = write_cables(&whole.with_dead(cables)).unwrap();
        let cut = read_fabric(table.as_bytes(), "cut", None).unwrap().fabric;
        assert!(cut.groups().is_none() && cut.switch_count() == whole.switch_count());
        let structure = detect(&cut);
        let Shape::Dragonfly(groups) = &structure.shape else { panic!("{}", structure.shape) };
        // Switches have their names still, in the same order.
        let expected = whole.groups().unwrap();
        assert_eq!((groups.count, groups.switches_a_group), (9, 96));
        assert_eq!(groups.grid.as_ref().map(|grid| grid.size), Some((6, 16)));
        let mut told = BTreeMap::new();
        for s in whole.switches() {
            assert_eq!(whole.switch_name(s), cut.switch_name(s));
            assert_eq!(
                *told.entry(expected[s.index()]).or_insert(groups.of[s.index()]),
                groups.of[s.index()]
            );
        }
    }
}

/// Two routers with a green cable between them, and a host each.
fn small() -> Vec<String> {
    let line = |slot: u32, at: u32| {
        let rest = match at {
            0 => format!("green -> c0-0c0s{0}a0l00(3:0:{0})", 1 - slot),
            40 | 41 => "ptile -> processor".to_owned(),
            _ => "blue -> unused".to_owned(),
        };
        format!("c0-0c0s{slot}a0l{}{}(3:0:{slot}) {rest}", at / 8, at % 8)
    };
    (0..2).flat_map(|slot| (0..48).map(move |at| line(slot, at))).collect()
}

#[test]
fn tiles_are_ports_and_groups_are_stated() {
    let file = read_fabric((small().join("\n") + "\n").as_bytes(), "x", None).unwrap();
    let fabric = file.fabric;
    assert_eq!((fabric.switch_count(), fabric.host_count(), fabric.link_count()), (2, 2, 6));
    assert_eq!(fabric.groups(), Some(&[3, 3][..]));
    let host = fabric.hosts().next().unwrap();
    assert_eq!((fabric.host_name(host), fabric.switch_name(fabric.leaf(host))), ("c0-0c0s0n0", "c0-0c0s0a0"));
    let link = fabric.link(fabric.host_link(host));
    assert_eq!((link.to_port, fabric.bandwidth_bytes_per_s(fabric.host_link(host))), (41, 12.8e9));
}

#[test]
fn wiring_that_is_wrong_is_refused_with_its_line() {
    let told = |change: &dyn Fn(&mut Vec<String>)| {
        let mut lines = small();
        change(&mut lines);
        read_fabric(lines.join("\n").as_bytes(), "x", None).unwrap_err().to_string()
    };
    let other =
        |tile: &'static str| move |lines: &mut Vec<String>| lines[0] = lines[0].replace("l00(3:0:1)", tile);
    for (message, expected) in [
        (
            told(&|lines| lines[0] = lines[0].replace("green", "red")),
            "x:1: expected green, black, blue or ptile, found \"red\"",
        ),
        (
            told(&|lines| lines[48] = lines[48].replace("green", "black")),
            "x:1: expected the two ends of a green cable to agree: line 49",
        ),
        (
            told(&|lines| lines[48] = "c0-0c0s1a0l00(3:0:1) green -> unused".into()),
            "x:1: expected the two ends",
        ),
        (told(&other("l01(3:0:1)")), "x:1: expected the two ends"),
        (
            told(&other("l00(3:0:2)")),
            "x:1: expected \"c0-0c0s1a0\" at (3:0:1), where line 49 has it, found (3:0:2)",
        ),
        (told(&other("l08(3:0:1)")), "x:1: expected -> and a tile such as"),
        (
            told(&|lines| lines[1] = lines[2].clone()),
            "x:3: expected every tile once, found this one on line 2 too",
        ),
        (
            told(&|lines| lines[7] = lines[7].replace("(3:0:0)", "(3:0:5)")),
            "x:8: expected one place (group:chassis:slot) for every router",
        ),
        (told(&|lines| lines[60] = "c0-0c0s1a0l14(3:0:0) blue -> unused".into()), "x:61: expected one place"),
        (
            told(&|lines| lines[41] = "c0-0c0s0a0l51(3:0:0) ptile -> unused".into()),
            "x:41: expected two processor tiles a host, found 1 of c0-0c0s0a0",
        ),
        (told(&|lines| lines[5].truncate(9)), "x:6: expected a tile such as c0-0c0s0a0l00(0:0:0)"),
        (told(&|lines| lines[95].truncate(24)), "x:96: truncated dump: expected"),
        (
            told(&|lines| lines.truncate(90)),
            "x:49: truncated dump: expected 48 tiles of \"c0-0c0s1a0\", found 42",
        ),
        (told(&|lines| lines.truncate(48)), "x:1: truncated dump: expected the tiles of \"c0-0c0s1a0\""),
    ] {
        assert!(message.starts_with(expected), "{message}\n{expected}");
    }
}
