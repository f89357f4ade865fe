//! ftree, minhop and updn against tables that OpenSM 3.3.23 made on simulated fabrics.

use std::fs;

use netloom_formats::{read_fabric, read_lfts};
use netloom_model::{Fabric, Lft, NO_PORT, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::detect;

/// A file under `tests/data`.
fn data(name: &str) -> Vec<u8> {
    let path = format!("{}/../../tests/data/{name}", env!("CARGO_MANIFEST_DIR"));
    fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn load(fabric: &str, tables: &str) -> (Fabric, Routes) {
    let fabric = read_fabric(&data(fabric), fabric, None).unwrap().fabric;
    let file = read_lfts(&data(tables), tables, &fabric).unwrap();
    assert!(file.faults.is_empty(), "{:?}", &file.faults[..1]);
    (fabric, file.routes)
}

/// Entries that differ, described.
fn differences(fabric: &Fabric, ours: &Lft, theirs: &Lft) -> Vec<String> {
    let mut list = Vec::new();
    assert_eq!((ours.switches(), ours.dests()), (theirs.switches(), theirs.dests()));
    let space = fabric.dests(0);
    for s in fabric.switches() {
        for d in (0..ours.dests()).map(netloom_model::DestId::from_index) {
            let (a, b) = (ours.port(s, d), theirs.port(s, d));
            if a != b {
                let show = |p| if p == NO_PORT { "none".into() } else { format!("{p}") };
                let target = if ours.dests() == space.count() {
                    format!("{:?}", space.resolve(d))
                } else {
                    format!("{d:?}")
                };
                list.push(format!(
                    "{} -> {target}: ours {}, OpenSM's {}",
                    fabric.switch_name(s),
                    show(a),
                    show(b)
                ));
            }
        }
    }
    list
}

fn assert_equal(engine: Engine, fabric: &str, tables: &str) {
    let (fabric, theirs) = load(fabric, tables);
    let options = EngineOptions { lmc: theirs.lmc, ..Default::default() };
    let ours = route(engine, &fabric, &detect(&fabric), &options).unwrap();
    let different = differences(&fabric, ours.lft().unwrap(), theirs.lft().unwrap());
    assert!(
        different.is_empty(),
        "{} entries differ, first:\n{}",
        different.len(),
        different[..different.len().min(20)].join("\n")
    );
}

#[test]
fn ftree_makes_opensms_tables_on_two_levels() {
    assert_equal(Engine::Ftree, "opensm/ft2_32/ibnetdiscover.txt", "opensm/ft2_32/opensm-lfts.dump");
}

#[test]
fn ftree_makes_opensms_tables_on_three_levels() {
    assert_equal(Engine::Ftree, "opensm/ft3_32/ibnetdiscover.txt", "opensm/ft3_32/opensm-lfts.dump");
}

#[test]
fn ftree_makes_opensms_tables_on_quartz1() {
    assert_equal(
        Engine::Ftree,
        "opensm/quartz1/ibnetdiscover.txt.gz",
        "opensm/quartz1/dump_fts-n_ftree.txt.gz",
    );
}

#[test]
fn updn_makes_opensms_tables_with_two_addresses_a_host() {
    assert_equal(Engine::Updn, "opensm/ft2_32/ibnetdiscover.txt", "opensm/ft2_32_lmc1/opensm-lfts_updn.dump");
}

fn engines(name: &str, fabric: &str, engine: Engine) {
    assert_equal(engine, fabric, &format!("opensm-engines/{name}.lfts.gz"));
}

#[test]
fn minhop_makes_opensms_tables() {
    engines("ft2_32-minhop", "opensm/ft2_32/ibnetdiscover.txt", Engine::Minhop);
    engines("ft3_32-minhop", "opensm/ft3_32/ibnetdiscover.txt", Engine::Minhop);
    engines("uneven2-minhop", "opensm-engines/uneven2.ibnetdiscover.gz", Engine::Minhop);
    engines("quartz36-minhop", "opensm-engines/quartz36.ibnetdiscover.gz", Engine::Minhop);
}

#[test]
fn updn_makes_opensms_tables() {
    engines("ft2_32-updn", "opensm/ft2_32/ibnetdiscover.txt", Engine::Updn);
    engines("ft3_32-updn", "opensm/ft3_32/ibnetdiscover.txt", Engine::Updn);
    engines("uneven2-updn", "opensm-engines/uneven2.ibnetdiscover.gz", Engine::Updn);
    engines("quartz36-updn", "opensm-engines/quartz36.ibnetdiscover.gz", Engine::Updn);
}

#[test]
fn ftree_makes_opensms_tables_with_parallel_cables_and_missing_hosts() {
    engines("uneven2-ftree", "opensm-engines/uneven2.ibnetdiscover.gz", Engine::Ftree);
    engines("quartz36-ftree", "opensm-engines/quartz36.ibnetdiscover.gz", Engine::Ftree);
}

#[test]
fn several_addresses_are_spread_as_opensm_spreads_them() {
    engines("quartz36-minhop-lmc1", "opensm-engines/quartz36.ibnetdiscover.gz", Engine::Minhop);
    engines("quartz36-updn-lmc2", "opensm-engines/quartz36.ibnetdiscover.gz", Engine::Updn);
    engines("uneven2-minhop-lmc1", "opensm-engines/uneven2.ibnetdiscover.gz", Engine::Minhop);
}

#[test]
fn minhop_on_a_damaged_fabric_is_opensms() {
    engines("broken36-minhop", "opensm-engines/broken36.ibnetdiscover.gz", Engine::Minhop);
}

#[test]
fn updn_on_a_damaged_fabric_is_opensms() {
    engines("broken36-updn", "opensm-engines/broken36.ibnetdiscover.gz", Engine::Updn);
}

#[test]
fn ftree_on_a_damaged_fabric_is_opensms() {
    engines("broken36-ftree", "opensm-engines/broken36.ibnetdiscover.gz", Engine::Ftree);
}
