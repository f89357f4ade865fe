//! Tables with several addresses a host, and which of them every pair uses, from files.

use netloom_compose::{ComposeError, Routing, check_sound, tables};
use netloom_formats::{Found, write_lfts, write_pair_paths};
use netloom_model::{Control, HostId, PairPaths, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_sim::{Model, Profile, simulate};

use crate::common::Net;

/// Two leaves with two hosts each, two spines; a host's address 0 lies behind the first spine, its address 1 behind the second.
fn two_ways(net: &Net) -> Routes {
    let options = EngineOptions { seed: 0, lmc: 1 };
    let mut routes = route(Engine::Updn, &net.fabric, &net.structure, &options).unwrap();
    let space = routes.dests(&net.fabric);
    let netloom_model::Table::ByDest(lft) = &mut routes.table else { panic!("tables by destination") };
    for source in [HostId(0), HostId(2)] {
        let leaf = net.fabric.leaf(source);
        let ups = net.fabric.switch_links(leaf).filter(|&link| net.fabric.between_switches(link));
        for (path, up) in (0..).zip(ups) {
            for host in net.fabric.hosts().filter(|&host| net.fabric.leaf(host) != leaf) {
                lft.set(leaf, space.host(host, path), Some(net.fabric.link_port(up)));
            }
        }
    }
    routes
}

/// Routes as a scenario names them, from files that are `lfts` and `csv`.
fn read(net: &Net, word: &str, lfts: &str, csv: &[u8]) -> Result<Routes, ComposeError> {
    let mut files = |role: &'static str, path: &str| match (role, path) {
        ("routes", "mine.lfts") => Ok(Found::File(lfts.as_bytes().to_vec())),
        ("paths", "pairs.csv") => Ok(Found::File(csv.to_vec())),
        _ => Err(std::io::ErrorKind::NotFound.into()),
    };
    tables(&Routing::parse(word).unwrap(), &net.fabric, &net.structure, 0, &mut files)
}

/// A shift from leaf to leaf: on base addresses both hosts of a leaf share a link, with a pair on its second address each has its own.
#[test]
fn paths_by_pair_part_flows_that_collide() {
    let net = Net::new("two-level:leaves=2,hosts=2,spines=2");
    let lfts = write_lfts(&net.fabric, &two_ways(&net)).unwrap();
    let others = [(HostId(1), HostId(3), 1), (HostId(3), HostId(1), 1)];
    let csv = write_pair_paths(&net.fabric, &PairPaths::new(4, 1, &others).unwrap());
    let job = "[[job]]\nprogram = { kind = \"stream\", pattern = \"shift:2\", bytes = \"64KiB\" }\n";
    let scene = net.scene(job).unwrap();
    let end_ps = |word: &str, model| {
        let routes = read(&net, word, &lfts, &csv).unwrap();
        check_sound(&net.fabric, &net.structure, &routes, false).unwrap();
        let scheme = Routing::parse(word).unwrap().scheme(Some(&routes), || &net.paths, None);
        let outcome = simulate(scene.setup(&net.fabric, scheme, model, 1), &Control::new()).unwrap();
        outcome.jobs[0].times.end_ps().expect("it ends")
    };
    let Profile { config, software } = Profile::codes();
    // 65536 bytes at 80 ps, behind them the last packet through three switches; where two share a link, twice the bytes.
    let packet_ps = u64::from(config.packet_bytes) * 80;
    let tail_ps = software.post_ps + 3 * (packet_ps + config.switch_delay_ps);
    assert_eq!(end_ps("mine.lfts", Model::Packet), tail_ps + 2 * 65_536 * 80);
    assert_eq!(end_ps("mine.lfts+pairs.csv", Model::Packet), tail_ps + 65_536 * 80);
    assert_eq!(end_ps("mine.lfts+pairs.csv", Model::Fluid), tail_ps + 65_536 * 80);
    let shared = end_ps("mine.lfts", Model::Fluid) as f64 / (2 * 65_536 * 80) as f64;
    assert!((1.0..1.3).contains(&shared), "{shared}");
}

#[test]
fn files_of_paths_are_judged_with_the_tables() {
    let net = Net::new("two-level:leaves=2,hosts=2,spines=2");
    let lfts = write_lfts(&net.fabric, &two_ways(&net)).unwrap();
    let refused = |word: &str, csv: &str| read(&net, word, &lfts, csv.as_bytes()).unwrap_err().to_string();
    let error = refused("mine.lfts+pairs.csv", "source,destination,path\n0,2,2\n");
    assert!(error.starts_with("pairs.csv:2:"), "{error}");
    assert!(refused("mine.lfts+pairs.csv", "").starts_with("pairs.csv: expected a header"));
    assert!(refused("mine.lfts+none.csv", "").starts_with("none.csv: "));
    // A plus that no file of paths follows belongs to the tables' name.
    assert_eq!(Routing::parse("a+b.lfts").unwrap().files(), [("routes", "a+b.lfts")]);
    let both = Routing::parse("a+b.lfts+c.csv.gz").unwrap();
    assert_eq!(both.files(), [("routes", "a+b.lfts"), ("paths", "c.csv.gz")]);
}
