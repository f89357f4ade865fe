//! Times of the experiments of the dissertation's chapter 5 with the `codes` profile.

use netloom_model::{Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::{
    Adaptive, ByTable, Config, Job, Network, Nobody, Player, RowsAndColumns, Script, Software, Stencil,
    Stream,
};
use netloom_topology::{detect, generate};

fn run(name: &str, fabric: &Fabric, paths: &PathSet, script: impl Fn() -> Box<dyn Script>, ranks: u32) {
    let config = Config::codes();
    let hosts: Vec<HostId> = (0..ranks).map(HostId).collect();
    let structure = detect(fabric);
    for engine in ["ftree", "adaptive", "random"] {
        let job = Job { name: name.into(), hosts: hosts.clone(), script: script(), until: None, start_ps: 0 };
        let player = Player::new(vec![job], Software::codes());
        let report = |player: &Player, hops: u64| {
            let l = player.latency(0).summary();
            println!(
                "{name:18} {engine:9} {:8.3} ms  message latency mean {:.2} max {:.2} us  {hops} hops {:?}",
                player.times(0).end_ps().unwrap_or(0) as f64 / 1e9,
                l.mean_ps / 1e6,
                l.max_ps as f64 / 1e6,
                player.stuck(3)
            );
        };
        if engine == "adaptive" {
            let mut net =
                Network::new(fabric, &config, Adaptive::new(fabric, paths, 1), player, Nobody).unwrap();
            net.run().unwrap();
            report(net.program(), net.packet_hops());
        } else {
            let kind = if engine == "ftree" { Engine::Ftree } else { Engine::Random };
            let routes =
                route(kind, fabric, &structure, &EngineOptions { seed: 1, ..EngineOptions::default() })
                    .unwrap();
            let mut net =
                Network::new(fabric, &config, ByTable::new(fabric, routes.lft().unwrap()), player, Nobody)
                    .unwrap();
            net.run().unwrap();
            report(net.program(), net.packet_hops());
        }
    }
}

fn main() {
    let fabric = generate("quartz1").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let hosts = fabric.host_count() as u32;
    let which: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| which.is_empty() || which.iter().any(|w| w == name);
    for (name, spec) in [("shift", "bisection"), ("shuffle", "bisection-shuffle:seed=1")] {
        if wanted(name) {
            let matrix = netloom_traffic::pattern(spec, Some(hosts)).unwrap().total().into_owned();
            let to: Vec<u32> = (0..hosts as usize).map(|h| matrix.row(h).0[0]).collect();
            run(name, &fabric, &paths, || Box::new(Stream::of(&to, 5, 2 << 20)), hosts);
        }
    }
    let shape = [16, 16, 12];
    if wanted("large") {
        run(
            "large",
            &fabric,
            &paths,
            || Box::new(Stencil { shape, bytes: 2 << 20, messages: 1, iterations: 1 }),
            hosts,
        );
    }
    if wanted("small") {
        run(
            "small",
            &fabric,
            &paths,
            || Box::new(Stencil { shape, bytes: 2 << 10, messages: 1024, iterations: 1 }),
            hosts,
        );
    }
    if wanted("barrier") {
        run(
            "barrier",
            &fabric,
            &paths,
            || Box::new(RowsAndColumns { columns: 32, rows: 64, iterations: 100, bytes: 8 }),
            2048,
        );
    }
}
