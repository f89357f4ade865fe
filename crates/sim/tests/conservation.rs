//! What is posted is received, over the links that the tables say.

use netloom_model::rng::{below, stream};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_sim::choice::Adaptive;
use netloom_sim::{Config, Forwarding, Network, Nobody};
use netloom_testkit::{any_fabric, matrix};
use netloom_topology::detect;

use crate::common::{AtOnce, run};

pub fn messages(hosts: u64, seed: u64) -> Vec<(u32, u32, u64)> {
    let mut random = stream(seed, 1);
    let mut draw = |n| below(&mut random, n);
    (0..3 * hosts)
        .map(|_| (draw(hosts) as u32, draw(hosts) as u32, 1 + draw(30_000)))
        .filter(|(from, to, _)| from != to)
        .collect()
}

pub fn configs() -> [Config; 4] {
    [
        Config::codes(),
        Config::infiniband(),
        Config {
            lanes: 2,
            input_buffer_bytes: Some(4126),
            output_buffer_bytes: 4126,
            ..Config::infiniband()
        },
        Config { head_of_line: false, forwarding: Forwarding::StoreAndForward, ..Config::infiniband() },
    ]
}

/// Counters equal the link loads that crate `routing` derives from tables and traffic, with each packet's headers.
#[test]
fn links_carry_what_the_tables_say() {
    for seed in 0..12 {
        let fabric = any_fabric(seed);
        let hosts = fabric.host_count();
        let structure = detect(&fabric);
        let routes = route(Engine::Updn, &fabric, &structure, &EngineOptions::default()).unwrap();
        let messages = messages(hosts as u64, seed);
        for config in configs() {
            let network = run(&fabric, &config, routes.lft().unwrap(), &messages).unwrap();
            assert!(network.program().done_ps.iter().all(Option::is_some));
            let wire = |bytes: u64| {
                bytes + bytes.div_ceil(u64::from(config.packet_bytes)) * u64::from(config.header_bytes)
            };
            let entries: Vec<_> =
                messages.iter().map(|&(i, j, b)| (i.into(), j.into(), wire(b) as f64)).collect();
            let expected = loads(&fabric, &routes, &matrix(hosts, &entries)).unwrap();
            let counters = network.counters();
            for link in fabric.links() {
                let lanes = &counters.sent[link.index() * counters.lanes..][..counters.lanes];
                let bytes: u64 = lanes.iter().map(|lane| lane.bytes).sum();
                let load = expected.load[link.index()] * fabric.relative_capacity(link);
                assert_eq!(bytes as f64, load.round(), "seed {seed}, {}", fabric.describe_link(link));
            }
        }
    }
}

/// Adaptive routing delivers everything as well, and equal seeds give equal runs.
#[test]
fn adaptive_routing_delivers_everything_reproducibly() {
    for seed in 0..12 {
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let paths = PathSet::admissible(&fabric, &structure);
        let messages = messages(fabric.host_count() as u64, seed);
        for config in configs() {
            let run = || {
                let choice = Adaptive::new(&fabric, &paths, seed);
                let mut network =
                    Network::new(&fabric, &config, choice, AtOnce::new(&messages), Nobody).unwrap();
                network.run().unwrap();
                (network.program().done_ps.clone(), network.counters().clone())
            };
            let (first, second) = (run(), run());
            assert!(first.0.iter().all(Option::is_some));
            assert_eq!(first, second);
        }
    }
}
