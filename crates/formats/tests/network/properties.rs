//! No input makes a reader panic, and what is written is read back.

use std::sync::OnceLock;

use netloom_formats::{decompress, read_fabric, read_lfts, write_ibnetdiscover, write_ibsim_net, write_lfts};
use netloom_model::{DestId, Fabric, Lft, NO_PORT, Routes};
use proptest::prelude::*;

use super::{data, fabric};

fn corpus() -> &'static [Vec<u8>] {
    static CORPUS: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    CORPUS.get_or_init(|| {
        [
            "opensm/ft2_32/ibnetdiscover.txt",
            "opensm/ft2_32/ibnetdiscover-p.txt",
            "opensm/ft2_32/ft2_32.net",
            "quirks/rails_and_names.txt",
            "quirks/split_ports.txt",
            "quirks/ports_form.txt",
            "quirks/minimal.net",
        ]
        .map(data)
        .to_vec()
    })
}

fn small() -> &'static (Fabric, Vec<u8>) {
    static SMALL: OnceLock<(Fabric, Vec<u8>)> = OnceLock::new();
    SMALL.get_or_init(|| (fabric("opensm/ft2_32/ibnetdiscover.txt"), data("opensm/ft2_32/opensm-lfts.dump")))
}

/// Bytes overwritten, a piece cut out, a piece repeated.
fn mutate(mut bytes: Vec<u8>, edits: &[(usize, u8)], cut: (usize, usize)) -> Vec<u8> {
    for &(at, byte) in edits {
        let at = at % bytes.len();
        bytes[at] = byte;
    }
    let (from, len) = (cut.0 % bytes.len(), cut.1 % 200);
    let to = (from + len).min(bytes.len());
    if len % 2 == 0 {
        bytes.drain(from..to);
    } else {
        let piece = bytes[from..to].to_vec();
        bytes.splice(from..from, piece);
    }
    bytes
}

fn interesting() -> impl Strategy<Value = u8> {
    prop_oneof![any::<u8>(), prop::sample::select(b"[]()\"'#-0x \n\t9SCR".to_vec())]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = decompress(&bytes, "x");
        let _ = read_fabric(&bytes, "x", Some((&bytes, "map")));
        let _ = read_lfts(&bytes, "x", &small().0);
    }

    #[test]
    fn mutated_dumps_never_panic(
        which in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<usize>(), interesting()), 0..4),
        cut in (any::<usize>(), any::<usize>()),
    ) {
        let bytes = mutate(which.get(corpus()).clone(), &edits, cut);
        if let Ok(file) = read_fabric(&bytes, "x", None) {
            // What was read can be written and read again.
            if let Ok(text) = write_ibnetdiscover(&file.fabric) {
                let again = read_fabric(text.as_bytes(), "y", None);
                prop_assert!(again.is_ok(), "{:?}", again.err());
            }
        }
    }

    #[test]
    fn mutated_tables_never_panic(
        edits in prop::collection::vec((any::<usize>(), interesting()), 0..4),
        cut in (any::<usize>(), any::<usize>()),
    ) {
        let (fabric, lfts) = small();
        let bytes = mutate(lfts.clone(), &edits, cut);
        if let Ok(file) = read_lfts(&bytes, "x", fabric) {
            prop_assert!(write_lfts(fabric, &file.routes).is_ok());
        }
    }

    #[test]
    fn any_tables_read_back_equal(
        leaves in 1usize..5, hosts in 1usize..4, spines in 1usize..4, lmc in 0u8..3, seed in any::<u64>(),
    ) {
        let spec = format!("two-level:leaves={leaves},hosts={hosts},spines={spines}");
        let fabric = netloom_topology::generate(&spec).unwrap();
        let space = fabric.dests(lmc);
        let mut stream = netloom_model::rng::stream(seed, 0);
        let rows = fabric.switches().map(|s| {
            (0..space.count()).map(|d| {
                let own = space.switch(s) == DestId::from_index(d);
                let links: Vec<_> = fabric.switch_links(s).collect();
                match netloom_model::rng::below(&mut stream, 10) {
                    // With LMC, an address that no table has would hide how many there are.
                    0 if lmc == 0 => NO_PORT,
                    _ if own => 0,
                    n => fabric.link_port(links[n as usize % links.len()]),
                }
            }).collect()
        }).collect();
        let routes = Routes::by_dest(&fabric, lmc, Lft::from_rows(rows, space.count(), fabric.max_radix()));
        let back = read_lfts(write_lfts(&fabric, &routes).unwrap().as_bytes(), "r", &fabric).unwrap();
        prop_assert_eq!(&back.faults, &[]);
        prop_assert_eq!(back.routes, routes);
    }

    #[test]
    fn any_damaged_fabric_is_saved_and_read(
        leaves in 2usize..5, hosts in 1usize..4, spines in 2usize..4, cables in prop::collection::vec(any::<u32>(), 0..3),
    ) {
        let spec = format!("two-level:leaves={leaves},hosts={hosts},spines={spines}");
        let whole = netloom_topology::generate(&spec).unwrap();
        let links = whole.link_count() as u32;
        let fabric = whole.with_dead(cables.iter().map(|c| netloom_model::LinkId(c % links)));
        let alive: Vec<String> =
            fabric.links().filter(|&l| fabric.alive(l)).map(|l| fabric.describe_link(l)).collect();
        for text in [write_ibnetdiscover(&fabric).unwrap(), write_ibsim_net(&fabric).unwrap()] {
            // Two dead cables may cut the fabric in two: then, and only then, it is refused.
            match read_fabric(text.as_bytes(), "x", None) {
                Ok(file) => {
                    let back = file.fabric;
                    let names: Vec<String> = back.links().map(|l| back.describe_link(l)).collect();
                    prop_assert_eq!(&names, &alive);
                }
                Err(e) => prop_assert!(e.message.contains("connected fabric") || e.message.contains("none cabled"), "{}", e),
            }
        }
    }
}
