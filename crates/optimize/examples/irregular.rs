//! The optimiser at 65,536 hosts and on fabrics that are not regular, in CPU seconds of its own process:
//! `cargo run --release -p netloom-optimize --example irregular [FILTER]`.
//!
//! Families: `scale` (65,536 hosts), `damage` (quartz1 with cables cut or switches down, three kinds of traffic),
//! `shapes` (two and four levels, parallel cables, uneven pods, mixed speeds). `SEEDS`, `LIMIT` (CPU seconds of the
//! search) and `HISTORY` steer it. The seconds are those of all threads together, so that a busy machine counts little.

mod common;

use common::{bounds, cpu_seconds, scattered, setting, stencil27, within};
use netloom_formats::{read_jobs, read_mtx};
use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Control, Csr, Fabric, LinkId, Source, Traffic};
use netloom_optimize::{OptimizeOptions, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Damage, damage, detect, generate};
use netloom_traffic::{ResolvedJob, pattern, place};

const HOSTS_65536: &str = "fattree:pods=64,leaves=32,hosts=32,spines=32,groups=32,cores=32";

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| filter.is_empty() || filter.iter().all(|f| name.contains(f.as_str()));
    println!(
        "{:46} {:>7} {:>9} {:>9} {:>6} {:>8}  CPU s: {:>6} {:>6} {:>6} {:>6} {:>7}",
        "case",
        "items/k",
        "AR gap %",
        "gap %",
        "proved",
        "work/k",
        "paths",
        "routes",
        "bounds",
        "search",
        "peak MB"
    );
    scale(&wanted);
    damaged(&wanted);
    shapes(&wanted);
}

fn scale(wanted: &impl Fn(&str) -> bool) {
    let names = ["scale: permutation", "scale: stencil27 fragmented", "scale: stencil27 random"];
    if !names.iter().any(|n| wanted(n)) {
        return;
    }
    let fabric = generate(HOSTS_65536).expect("a known generator");
    if wanted(names[0]) {
        run(names[0], &fabric, &pattern("permutation:seed=1", Some(65_536)).unwrap().total(), 10.0);
    }
    if wanted(names[1]) {
        run(names[1], &fabric, &fragmented(&fabric, 40), 15.0);
    }
    if wanted(names[2]) {
        let traffic = stencil27(40, 40, 40);
        let mut hosts: Vec<u32> = (0..65_536).collect();
        shuffle(&mut stream(1, 78), &mut hosts);
        run(names[2], &fabric, &on(&fabric, &traffic, &hosts), 60.0);
    }
}

fn damaged(wanted: &impl Fn(&str) -> bool) {
    let quartz = generate("quartz1").expect("a known generator");
    let cables = quartz.links().filter(|&l| quartz.between_switches(l)).count() / 2;
    let percent = |p: usize| Damage { random_links: (cables * p).div_ceil(100), ..Damage::default() };
    let of_level = |level: u8, seed: u64| {
        let structure = detect(&quartz);
        let all: Vec<_> = structure.switches_at(level).collect();
        let name = quartz.switch_name(all[below(&mut stream(seed, 5), all.len() as u64) as usize]);
        Damage { switches: vec![name.to_string()], ..Damage::default() }
    };
    for seed in 1..=setting("SEEDS").unwrap_or(5) {
        let kinds = [
            ("1 %", percent(1)),
            ("5 %", percent(5)),
            ("spine", of_level(1, seed)),
            ("core", of_level(2, seed)),
        ];
        for (kind, what) in kinds {
            for traffic in ["shuffle", "lulesh6", "mix"] {
                let name = format!("damage: {kind} down, seed {seed}: {traffic}");
                if !wanted(&name) {
                    continue;
                }
                let fabric = damage(&quartz, &what, seed).expect("damage fits").fabric;
                let matrix = match traffic {
                    "shuffle" => pattern(&format!("bisection-shuffle:seed={seed}"), Some(3072))
                        .unwrap()
                        .total()
                        .into_owned(),
                    jobs => placed(&fabric, &format!("{jobs}.toml")),
                };
                run(&name, &fabric, &matrix, 10.0);
            }
        }
    }
}

fn shapes(wanted: &impl Fn(&str) -> bool) {
    for (name, spec) in [
        ("cab", "cab"),
        ("two-level", "two-level:leaves=32,hosts=24,spines=12"),
        ("two-level, cables", "two-level:leaves=32,hosts=24,spines=6,cables=2"),
        (
            "three-level, cables",
            "fattree:pods=8,leaves=16,hosts=16,spines=8,groups=2,cores=8,leaf-cables=2,core-cables=2",
        ),
        ("four-level", "xgft:m=16x8x4x4,w=1x8x4x4"),
        ("uneven pods", ""),
        ("mixed speeds", ""),
    ] {
        for traffic in ["shuffle", "stencil27", "sparse"] {
            let name = format!("shapes: {name}: {traffic}");
            if !wanted(&name) {
                continue;
            }
            let fabric = match spec {
                "" if name.contains("uneven") => uneven(),
                "" => mixed(),
                spec => generate(spec).expect("a known generator"),
            };
            let hosts = fabric.host_count() as u32;
            let matrix = match traffic {
                "shuffle" => {
                    let mut to: Vec<u32> = (0..hosts).collect();
                    shuffle(&mut stream(1, 79), &mut to);
                    let (i, j): (Vec<u64>, Vec<u64>) =
                        (0u64..).zip(to).map(|(i, j)| (i, u64::from(j))).unzip();
                    let bytes = vec![4096.0; i.len()];
                    Traffic::from_triples(hosts, &i, &j, &bytes, None).unwrap().total().into_owned()
                }
                "stencil27" => {
                    let side = (1..).take_while(|k| k * k * k <= i64::from(hosts)).last().unwrap();
                    fragmented(&fabric, side)
                }
                _ => {
                    let mut random = stream(1, 80);
                    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
                    for from in 0..u64::from(hosts) {
                        for _ in 0..10 {
                            i.push(from);
                            j.push(below(&mut random, u64::from(hosts)));
                            b.push(1.0 + below(&mut random, 1000) as f64);
                        }
                    }
                    Traffic::from_triples(hosts, &i, &j, &b, None).unwrap().total().into_owned()
                }
            };
            run(&name, &fabric, &matrix, 10.0);
        }
    }
}

/// quartz1 without a third of one pod's spines, a quarter of another's leaves, and a few cores.
fn uneven() -> Fabric {
    let quartz = generate("quartz1").expect("a known generator");
    let s = detect(&quartz);
    let pod = |level: u8, p: u32| s.switches_at(level).filter(|x| s.pod[x.index()] == p).collect::<Vec<_>>();
    let gone: Vec<_> = pod(1, 0).into_iter().take(5).chain(s.switches_at(2).step_by(9)).collect();
    let dead = quartz.links().filter(|&l| {
        let ends = [quartz.link_from_switch(l), quartz.link_to_switch(l)];
        quartz.between_switches(l) && ends.iter().flatten().any(|e| gone.contains(e))
    });
    quartz.with_dead(dead.collect::<Vec<LinkId>>())
}

/// A three-level tree whose links to cores are of three speeds, pod by pod.
fn mixed() -> Fabric {
    use netloom_model::{End, FabricBuilder, HostSpec, SwitchSpec};
    let (pods, leaves, hosts, spines, cores) = (6, 12, 24, 12, 12);
    let mut b = FabricBuilder::new();
    let mut id = 1u64;
    let mut guid = || {
        id += 16;
        id
    };
    let core: Vec<_> =
        (0..cores).map(|c| b.switch(SwitchSpec::new(format!("core{c}"), guid(), 200))).collect();
    let mut at = vec![1u16; cores];
    for p in 0..pods {
        let spine: Vec<_> =
            (0..spines).map(|s| b.switch(SwitchSpec::new(format!("spine{p}.{s}"), guid(), 200))).collect();
        for (s, &spine) in spine.iter().enumerate() {
            for (c, &core) in core.iter().enumerate() {
                let speed = [25e9, 12.5e9, 50e9][(p + s) % 3];
                b.cable(End::Switch(spine, 100 + c as u16), End::Switch(core, at[c]), speed);
                at[c] += 1;
            }
        }
        for l in 0..leaves {
            let leaf = b.switch(SwitchSpec::new(format!("leaf{p}.{l}"), guid(), 100));
            for (s, &spine) in spine.iter().enumerate() {
                let speed = [25e9, 12.5e9, 50e9][(p + s) % 3];
                b.cable(End::Switch(leaf, 50 + s as u16), End::Switch(spine, 1 + l as u16), speed);
            }
            for h in 0..hosts {
                let host = b.host(HostSpec::new(format!("host{p}.{l}.{h}"), guid()));
                b.cable(End::Switch(leaf, 1 + h as u16), End::Host(host), 100e9);
            }
        }
    }
    b.build().expect("a fabric")
}

fn run(name: &str, fabric: &Fabric, traffic: &Csr, limit: f64) {
    let mut last = cpu_seconds();
    // Since the last call.
    let mut lap = || {
        let now = cpu_seconds();
        now - std::mem::replace(&mut last, now)
    };
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let paths_s = lap();
    let background = [Engine::Ftree, Engine::Updn]
        .into_iter()
        .find_map(|e| {
            let routes = route(e, fabric, &structure, &EngineOptions::default()).ok()?;
            loads(fabric, &routes, traffic).is_ok().then_some(routes)
        })
        .expect("routes");
    let routes_s = lap();
    let control = Control::new();
    let (ar, bound) = bounds(fabric, &structure, &paths, traffic);
    let bound_s = lap();
    let options = OptimizeOptions { seed: 1, bound: Some(bound), ..OptimizeOptions::default() };
    let result = within(setting("LIMIT").unwrap_or(limit), &control, || {
        optimize(fabric, &structure, &paths, traffic, &background, &options, &control).expect("optimised")
    });
    let seconds = lap();
    println!(
        "{name:46} {:>7.1} {:>9.4} {:>9.4} {:>6} {:>8.1}  {:>12.2} {:>6.2} {:>6.2} {:>6.2} {:>7.0}",
        traffic.entry_count() as f64 / 1e3,
        100.0 * (result.loads.max() / ar.lower - 1.0),
        100.0 * (result.switch_max_load / result.switch_bound - 1.0),
        result.proven_optimal,
        result.work as f64 / 1e3,
        paths_s,
        routes_s,
        bound_s,
        seconds,
        peak_mb()
    );
    if std::env::var("HISTORY").is_ok() {
        for step in &result.history {
            let gap = 100.0 * (step.max_load / result.switch_bound - 1.0);
            println!("    work {:>9} gap {gap:>9.4} % links {}", step.work, step.links_at_max);
        }
    }
}

fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with("VmHWM")).expect("a peak");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).expect("kilobytes") / 1024.0
}

/// The traffic of a jobs file of the examples on the fabric.
fn placed(fabric: &Fabric, name: &str) -> Csr {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs");
    let read =
        |path: &str| std::fs::read(format!("{folder}/{path}")).unwrap_or_else(|e| panic!("{path}: {e}"));
    let file = read_jobs(&read(name), name).expect("the example is a jobs file");
    let resolve = |spec: netloom_model::JobSpec| {
        let Source::Matrix(path) = &spec.source else { unreachable!("all its jobs name a matrix") };
        let traffic = read_mtx(&read(path), path).expect("the example is a matrix");
        ResolvedJob { spec, traffic, rank_hosts: None }
    };
    let resolved: Vec<ResolvedJob> = file.jobs.into_iter().map(resolve).collect();
    place(fabric, &resolved, file.seed).expect("the jobs fit").traffic.total().into_owned()
}

/// A cube of ranks with 26 neighbours on hosts that others leave.
fn fragmented(fabric: &Fabric, side: i64) -> Csr {
    scattered(&[(stencil27(side, side, side), 1)], fabric.host_count()).total().into_owned()
}

/// Rank `r` on host `at[r]`.
fn on(fabric: &Fabric, traffic: &Traffic, at: &[u32]) -> Csr {
    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for (x, y, bytes) in traffic.total().iter() {
        i.push(u64::from(at[x as usize]));
        j.push(u64::from(at[y as usize]));
        b.push(bytes);
    }
    Traffic::from_triples(fabric.host_count() as u32, &i, &j, &b, None).expect("valid").total().into_owned()
}
