//! The fluid model against packets: the experiments of the dissertation's chapter 5 on quartz1, profile `codes`.
//!
//! `cargo run --release -p netloom-sim --example fluid [alone] [shift shuffle large small barrier bully]`; `alone`: without packets.

use netloom_model::rng::{shuffle, stream};
use netloom_model::{Control, Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::{
    Job, Measure, Model, Outcome, Pairs, PerPacket, Profile, RowsAndColumns, Scheme, Script, Setup, Stencil,
    Stream, simulate,
};
use netloom_topology::{detect, generate};

fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let f: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    f[11].parse::<f64>().unwrap() / 100.0
}

fn compare(name: &str, fabric: &Fabric, paths: &PathSet, jobs: &dyn Fn() -> Vec<Job>) {
    let alone = std::env::args().any(|arg| arg == "alone");
    let structure = detect(fabric);
    for engine in ["ftree", "adaptive", "random"] {
        let kind = if engine == "random" { Engine::Random } else { Engine::Ftree };
        let options = EngineOptions { seed: 1, ..EngineOptions::default() };
        let routes = route(kind, fabric, &structure, &options).unwrap();
        let run = |model| -> (Outcome, f64) {
            let scheme = if engine == "adaptive" {
                Scheme::PerPacket(PerPacket::Adaptive, paths)
            } else {
                Scheme::Tables(&routes)
            };
            let (profile, jobs, measure) = (Profile::codes(), jobs(), Measure::default());
            let (seed, threads, until_ps) = (1, 1, None);
            let before = cpu_s();
            let setup = Setup {
                fabric,
                scheme,
                model,
                profile,
                jobs,
                seed,
                threads,
                measure,
                keep: None,
                skip_repeats: None,
                until_ps,
            };
            let outcome = simulate(setup, &Control::new()).unwrap();
            (outcome, cpu_s() - before)
        };
        let ms = |outcome: &Outcome| outcome.jobs[0].times.end_ps().unwrap_or(0) as f64 / 1e9;
        let mean = |outcome: &Outcome| outcome.jobs[0].message_latency.mean_ps / 1e6;
        let (fluid, fast) = run(Model::Fluid);
        println!(
            "{name:8} {engine:9} fluid   {:8.3} ms, message latency {:9.2} us, {fast:6.2} CPU s, {} events",
            ms(&fluid),
            mean(&fluid),
            fluid.events
        );
        if alone {
            continue;
        }
        let (packets, slow) = run(Model::Packet);
        let error = |f: &dyn Fn(&Outcome) -> f64| (f(&fluid) / f(&packets) - 1.0) * 100.0;
        println!(
            "{:18} packets {:8.3} ms, message latency {:9.2} us, {slow:6.2} CPU s: errors {:+.1} % and {:+.1} %",
            "",
            ms(&packets),
            mean(&packets),
            error(&ms),
            error(&mean),
        );
    }
}

fn job(name: &str, hosts: Vec<HostId>, script: impl Script + 'static, until: Option<usize>) -> Job {
    let mut job = Job::new(name, hosts, script);
    job.until = until;
    job
}

fn main() {
    let fabric = generate("quartz1").unwrap();
    let paths = PathSet::admissible(&fabric, &detect(&fabric));
    let count = fabric.host_count() as u32;
    let which: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "alone").collect();
    let wanted = |name: &str| which.is_empty() || which.iter().any(|w| w == name);
    let all = || (0..count).map(HostId).collect::<Vec<_>>();
    for (name, spec) in [("shift", "bisection"), ("shuffle", "bisection-shuffle:seed=1")] {
        if wanted(name) {
            let matrix = netloom_traffic::pattern(spec, Some(count)).unwrap().total().into_owned();
            let to: Vec<u32> = (0..count as usize).map(|h| matrix.row(h).0[0]).collect();
            compare(name, &fabric, &paths, &|| vec![job(name, all(), Stream::of(&to, 5, 2 << 20), None)]);
        }
    }
    let shape = [16, 16, 12];
    for (name, bytes, messages) in [("large", 2 << 20, 1), ("small", 2 << 10, 1024)] {
        if wanted(name) {
            let stencil = || Stencil { shape, bytes, messages, iterations: 1 };
            compare(name, &fabric, &paths, &|| vec![job(name, all(), stencil(), None)]);
        }
    }
    // A random half of the fabric for the barrier, a third for the bully.
    let mut hosts = all();
    shuffle(&mut stream(1, 1), &mut hosts);
    let barrier = |iterations| {
        let script = RowsAndColumns { columns: 32, rows: 64, iterations, bytes: 8 };
        job("barrier", hosts[..2048].to_vec(), script, None)
    };
    if wanted("barrier") {
        compare("barrier", &fabric, &paths, &|| vec![barrier(100)]);
    }
    if wanted("bully") {
        let partner = (0..1000).map(|rank| rank ^ 1).collect();
        let pairs = Pairs { partner, rounds: 16, messages: 100, bytes: 200 * 1024 };
        let bully = || job("bully", hosts[2048..3048].to_vec(), pairs.clone(), Some(0));
        compare("bully", &fabric, &paths, &|| vec![barrier(10), bully()]);
    }
}
