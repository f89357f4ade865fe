//! Generated fabrics against closed forms, real files and bad specs.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Read as _;

use netloom_model::{Fabric, HostId, SwitchId};
use netloom_topology::{FatTree, GENERATORS, SpecError, TwoLevel, Xgft, detect, generate, is_generator};

/// `name guid [port] peer[port]…`: every switch of a fabric as an ibsim file says it.
fn switches(fabric: &Fabric) -> BTreeMap<String, String> {
    fabric
        .switches()
        .map(|s| {
            let mut text = format!("{:x} {}", fabric.switch_guid(s), fabric.radix(s));
            for l in fabric.switch_links(s) {
                let link = fabric.link(l);
                write!(text, " [{}]{}[{}]", link.from_port, fabric.node_name(link.to), link.to_port).unwrap();
            }
            (fabric.switch_name(s).to_owned(), text)
        })
        .collect()
}

/// The same, and host GUIDs, from the text of an ibsim file.
fn ibsim(text: &str) -> (BTreeMap<String, String>, BTreeMap<String, u64>) {
    let (mut switches, mut hosts) = (BTreeMap::new(), BTreeMap::new());
    let (mut guid, mut current) = (String::new(), None);
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("switchguid=0x").or(line.strip_prefix("caguid=0x")) {
            guid = value.to_owned();
        } else if let Some(rest) = line.strip_prefix("Switch\t") {
            let mut words = rest.split(['\t', ' ', '"']).filter(|w| !w.is_empty());
            let (radix, name) = (words.next().unwrap(), words.next().unwrap());
            switches.insert(name.to_owned(), format!("{guid} {radix}"));
            current = Some(name.to_owned());
        } else if line.starts_with("Ca\t") {
            let name = line.split('"').nth(1).unwrap();
            hosts.insert(name.to_owned(), u64::from_str_radix(&guid, 16).unwrap());
            current = None;
        } else if let (Some(name), true) = (&current, line.starts_with('[')) {
            let entry = line.replace(['"', '\t'], "");
            let entry = entry.split_whitespace().next().unwrap();
            write!(switches.get_mut(name).unwrap(), " {entry}").unwrap();
        }
    }
    (switches, hosts)
}

fn read(path: &str) -> String {
    let bytes =
        std::fs::read(format!("{}/../../tests/data/opensm/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut text = String::new();
    if path.ends_with(".gz") {
        flate2::read::GzDecoder::new(&bytes[..]).read_to_string(&mut text).unwrap();
    } else {
        text = String::from_utf8(bytes).unwrap();
    }
    text
}

/// 500 hosts on switches of 40 ports: 25 leaves of 20 hosts and 20 cables up, 13 spines.
#[test]
fn cables_that_are_no_multiple_of_the_spines_are_dealt_in_turn() {
    let f = generate("two-level:leaves=25,hosts=20,spines=13,up=20").unwrap();
    assert_eq!((f.host_count(), f.switch_count(), f.link_count()), (500, 38, 2 * 1000));
    let ports: Vec<u16> = f.switches().map(|s| f.radix(s)).collect();
    assert!(ports.iter().all(|&ports| ports == 40 || ports == 39), "{ports:?}");
    let mut bundles = BTreeMap::new();
    for link in f.links().filter(|&link| f.between_switches(link)).map(|link| f.link(link)) {
        *bundles.entry((f.node_name(link.from).to_owned(), f.node_name(link.to).to_owned())).or_insert(0) +=
            1;
    }
    assert_eq!(bundles.len(), 2 * 25 * 13, "every leaf has a cable to every spine");
    assert!(bundles.values().all(|&cables| cables == 1 || cables == 2));
}

#[test]
fn generated_fabrics_equal_the_real_files_to_the_last_port() {
    for (spec, path) in [
        ("two-level:leaves=8,hosts=4,spines=4", "ft2_32/ft2_32.net"),
        ("fattree:pods=2,leaves=4,hosts=4,spines=2,groups=2,cores=2", "ft3_32/ft3_32.net"),
        ("quartz1", "quartz1/quartz1.net.gz"),
    ] {
        let fabric = generate(spec).unwrap();
        let (real, hosts) = ibsim(&read(path));
        assert_eq!(switches(&fabric), real, "{spec}");
        let mine: BTreeMap<String, u64> =
            fabric.hosts().map(|h| (fabric.host_name(h).to_owned(), fabric.host_guid(h))).collect();
        assert_eq!(mine, hosts, "{spec}");
        assert_eq!(fabric.reference_bandwidth_bytes_per_s(), 12.5e9);
    }
}

#[test]
fn quartz1_is_the_fattree_that_the_design_names() {
    let named = generate("quartz1").unwrap();
    let spelt = generate("fattree:pods=4,leaves=24,hosts=32,spines=16,groups=2,cores=24").unwrap();
    assert_eq!((named.host_count(), named.switch_count(), named.link_count()), (3072, 208, 12288));
    assert_eq!(named.cabling_hash(), spelt.cabling_hash());
}

#[test]
fn cab_uses_every_port_of_its_radix_36_switches() {
    let cab = generate("cab").unwrap();
    assert_eq!((cab.host_count(), cab.switch_count()), (1296, 72 + 72 + 36));
    assert!(cab.switches().all(|s| cab.radix(s) == 36 && cab.switch_links(s).len() == 36));
    assert_eq!(cab.reference_bandwidth_bytes_per_s(), 4e9);
    let structure = detect(&cab);
    assert_eq!((structure.levels, structure.pods, structure.core_groups), (3, 4, 2));
    assert!(structure.regular, "{:?}", structure.irregular);
    assert_eq!(structure.switches_at(0).count(), 72);
}

#[test]
fn xgft_has_the_closed_form_counts() {
    for (m, w) in [
        (vec![5], vec![1]),
        (vec![3, 4], vec![1, 2]),
        (vec![2, 3, 4], vec![1, 2, 3]),
        (vec![18, 18, 36], vec![1, 9, 18]),
        (vec![2, 2, 3, 2], vec![1, 2, 2, 3]),
    ] {
        let join = |v: &[usize]| v.iter().map(|n| n.to_string()).collect::<Vec<_>>().join("x");
        let spec = format!("xgft:m={},w={}", join(&m), join(&w));
        let fabric = generate(&spec).unwrap();
        let structure = detect(&fabric);
        assert_eq!(fabric.host_count(), m.iter().product::<usize>(), "{spec}");
        assert_eq!(usize::from(structure.levels), m.len(), "{spec}");
        assert_eq!(structure.findings, [], "{spec}");
        for level in 0..m.len() {
            let count = m[level + 1..].iter().chain(&w[..=level]).product::<usize>();
            assert_eq!(structure.switches_at(level as u8).count(), count, "{spec} level {level}");
            let prefix = format!("l{level}s");
            assert!(structure.switches_at(level as u8).all(|s| fabric.switch_name(s).starts_with(&prefix)));
        }
        // Every switch below the top has w parents, every one m children.
        for s in fabric.switches() {
            let level = usize::from(structure.level[s.index()]);
            assert_eq!(fabric.switch_links(s).len(), m[level] + w.get(level + 1).copied().unwrap_or(0));
        }
    }
}

#[test]
fn parallel_cables_sit_side_by_side() {
    let f = generate("two-level:leaves=3,hosts=2,spines=2,cables=2").unwrap();
    let to = |s: u32, port| {
        let link = f.link(f.link_at(SwitchId(s), port).unwrap());
        (f.node_name(link.to).to_owned(), link.to_port)
    };
    // leaf01: hosts on 1 and 2, spine00 on 3 and 4, spine01 on 5 and 6; it is the second leaf of each.
    assert_eq!(f.switch_name(SwitchId(1)), "leaf01");
    assert_eq!(to(1, 1), ("host0002".into(), 1));
    assert_eq!(to(1, 4), ("spine00".into(), 4));
    assert_eq!(to(1, 5), ("spine01".into(), 3));
    let f = generate("fattree:pods=2,leaves=2,hosts=1,spines=2,groups=1,cores=2,core-cables=2").unwrap();
    let tree = detect(&f).tree().cloned().unwrap();
    assert_eq!((tree.leaf_cables, tree.core_cables, tree.groups), (1, 2, 1));
    let link = f.link(tree.spine_up(3, 1, 1));
    assert_eq!((f.node_name(link.from), f.node_name(link.to)), ("p1spine1", "g0core1"));
    assert_eq!((link.from_port, link.to_port), (6, 8));
}

#[test]
fn host_ids_follow_their_numbers() {
    let f = generate("two-level:leaves=300,hosts=40,spines=2").unwrap();
    for h in f.hosts() {
        assert_eq!(f.host_name(h), format!("host{:05}", h.0));
        assert_eq!(f.leaf(h), SwitchId(h.0 / 40));
    }
    assert_eq!(f.hosts_on(SwitchId(299)).last(), Some(&HostId(11_999)));
}

#[test]
fn more_ports_than_infiniband_has_are_allowed() {
    let f = generate("two-level:leaves=2,hosts=40000,spines=1").unwrap();
    assert_eq!(f.host_count(), 80_000);
    assert_eq!(f.max_radix(), 40_001);
}

#[test]
fn bad_specs_say_what_was_expected() {
    let says = |spec: &str, part: &str| {
        let message = generate(spec).unwrap_err().to_string();
        assert!(message.contains(part), "{spec}: {message}");
    };
    says("quarz1", "did you mean \"quartz1\"");
    says("fattree:pod=4", "unknown key \"pod\" (did you mean \"pods\"?)");
    says("fattree:pods=4", "\"leaves\" is missing, as in fattree:pods=4,leaves=24");
    says("two-level:leaves=8,hosts=four,spines=4", "hosts: expected a whole number from 1");
    says("two-level:leaves=8,hosts=0,spines=4", "found \"0\"");
    says("two-level:leaves=8,hosts=-4,spines=4", "found \"-4\"");
    says("two-level:leaves=8,leaves=8,hosts=4,spines=4", "every key once");
    says(
        "two-level:leaves=8,hosts=4,spines=4,up=3",
        "up: expected at least a cable to each of 4 spines, found \"3\"",
    );
    says(
        "two-level:leaves=8,hosts=4,spines=4,up=8,cables=2",
        "up: expected either cables or up, found \"8\"",
    );
    says("two-level:leaves", "expected key=value");
    says("fattree:pods=4,leaves=24,hosts=32,spines=16,groups=3,cores=24", "a divisor of spines=16");
    says("two-level:leaves=8,hosts=4,spines=4,speed=EDDR", "one of SDR, DDR");
    says("two-level:leaves=8,hosts=4,spines=4,speed=10", "or a data rate in Gb/s such as 10G, found \"10\"");
    says("cab:speed=-10G", "found \"-10G\"");
    says("xgft:m=2x2,w=1", "2 numbers");
    says("xgft:m=2x2,w=2x2", "1 first");
    says("xgft:m=,w=", "a whole number");
    says("two-level:leaves=100000,hosts=1000,spines=1", "100000000 hosts: expected at most 500000");
    says("two-level:leaves=3,hosts=66000,spines=1", "66001 ports of a switch: expected at most 65534");
    says("xgft:m=1999999x1999999x1999999x1999999x1999999x1999999,w=1x1x1x1x1x1", "hosts: expected at most");
    says("quartz1:hosts=3", "unknown key \"hosts\"");
    assert!(matches!(generate(""), Err(SpecError::UnknownGenerator { .. })));
    assert!(is_generator("fattree:nonsense") && is_generator("cab") && !is_generator("./cab"));
    assert!(!is_generator("net.txt"));
}

#[test]
fn every_generator_makes_the_shape_of_its_name() {
    for generator in &GENERATORS {
        let fabric = generate(generator.example).unwrap();
        assert!(generator.example.starts_with(generator.name), "{}", generator.name);
        let shape = match generator.name {
            "dragonfly" | "aries" | "edison" | "theta" => "dragonfly",
            name @ ("megafly" | "hyperx" | "torus" | "mesh" | "fullmesh") => name,
            _ => "tree",
        };
        assert_eq!(detect(&fabric).shape.name(), shape, "{}", generator.name);
    }
}

#[test]
fn typed_generators_make_what_their_specs_make() {
    let same = |spec: &str, typed: Result<netloom_model::Fabric, SpecError>| {
        let (a, b) = (generate(spec).unwrap(), typed.unwrap());
        assert_eq!(a.cabling_hash(), b.cabling_hash(), "{spec}");
        assert!(a.links().all(|l| a.link(l) == b.link(l)), "{spec}");
    };
    let two = TwoLevel { leaves: 3, hosts: 2, spines: 2, up: 2, bandwidth_bytes_per_s: 1.25e9 };
    same("two-level:leaves=3,hosts=2,spines=2,speed=10G", two.build());
    let xgft = Xgft { m: vec![2, 3], w: vec![1, 2], bandwidth_bytes_per_s: 12.5e9 };
    same("xgft:m=2x3,w=1x2", xgft.build());
    let fat = FatTree {
        pods: 2,
        leaves: 2,
        hosts: 1,
        spines: 4,
        groups: 2,
        cores: 1,
        leaf_cables: 1,
        core_cables: 2,
        bandwidth_bytes_per_s: 25e9,
    };
    same("fattree:pods=2,leaves=2,hosts=1,spines=4,groups=2,cores=1,core-cables=2,speed=HDR", fat.build());

    let refused = |typed: Result<netloom_model::Fabric, SpecError>, part: &str| {
        let message = typed.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    };
    refused(
        TwoLevel { spines: 0, ..two.clone() }.build(),
        "two-level: spines: expected a whole number from 1",
    );
    refused(TwoLevel { hosts: u64::MAX, ..two.clone() }.build(), "two-level: hosts: expected a whole number");
    refused(TwoLevel { bandwidth_bytes_per_s: f64::NAN, ..two }.build(), "NaN");
    refused(FatTree { groups: 3, ..fat }.build(), "fattree: groups: expected a divisor of spines=4");
    refused(Xgft { m: vec![], w: vec![], ..xgft.clone() }.build(), "xgft: m: expected 1 to 16 numbers");
    refused(Xgft { w: vec![2, 2], ..xgft }.build(), "1 first (a host has one cable), found \"2x2\"");
}
