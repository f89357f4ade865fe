//! The optimiser against its targets: `cargo run --release -p netloom-optimize --example targets [FILTER]`.
//!
//! Prints a line a case: gap over the adaptive-routing bound, gap over the best lower bound, whether
//! proved, links at the maximum, work, CPU seconds (a shared machine's clock says little). Environment: `ENGINE` names the
//! background, `LIMIT` the CPU seconds, `WORK` the budget, `THREADS` the threads, `SEED` the seed; `DEPTH` the levels below the
//! maximum; with `AFAR`, `CHECK`, `HISTORY` or `LEVELS` set it also runs AFAR, compares loads, prints every improvement, the hottest levels.

mod common;

use std::time::Instant;

use common::{bounds, cpu_seconds, read, scattered, setting, stencil27, wanted, within};
use netloom_model::rng::{shuffle, stream};
use netloom_model::{
    AdapterChoice, Allocation, Control, Csr, Fabric, HostId, JobSpec, Mapping, Source, Traffic,
};
use netloom_optimize::{AfarOptions, OptimizeOptions, afar, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Damage, damage, detect, generate};
use netloom_traffic::ResolvedJob;

/// Applications with more than 100 ranks, and as many copies as fit quartz1.
const APPLICATIONS: [(&str, u32); 6] = [
    ("amg-125", 24),
    ("hpcg-216", 14),
    ("lulesh-512", 6),
    ("miniamr-512", 6),
    ("nekbone-256", 12),
    ("snap-168", 18),
];

fn main() {
    let wanted = wanted();
    println!(
        "{:38} {:>8} {:>9} {:>10} {:>6} {:>6} {:>9} {:>7} {:>7} {:>7}",
        "case", "items/k", "AR gap %", "gap %", "proved", "at max", "work/k", "bound s", "CPU s", "AFAR %"
    );
    let quartz = generate("quartz1").expect("a known generator");
    for spec in [
        "stencil:16x16x12",
        "bisection",
        "bisection-shuffle:seed=1",
        "bisection-shuffle:seed=2",
        "all-to-all",
        "bisection-shuffle:seed=1,noise=0.05",
        "bisection-shuffle:seed=2,noise=0.05",
        "bisection-shuffle:seed=3,noise=0.05",
        "bisection-shuffle:seed=4,noise=0.05",
        "bisection-shuffle:seed=5,noise=0.05",
    ] {
        if wanted(spec) {
            let traffic = netloom_traffic::pattern(spec, Some(3072)).expect("a known pattern");
            run(spec, &quartz, &traffic.total());
        }
    }
    for (name, copies) in APPLICATIONS {
        for (kind, cross_copies) in [("trace", false), ("trace*", true)] {
            let case = format!("{name} x{copies} {kind}");
            if wanted(&case) {
                run(&case, &quartz, &fragmented(&quartz, name, copies, cross_copies));
            }
        }
    }
    if wanted("bully") {
        run("bully", &quartz, &bully(&quartz));
    }
    let place = |fabric: &Fabric, jobs: &[(Traffic, usize)]| {
        scattered(jobs, fabric.host_count()).total().into_owned()
    };
    let jobs: [(&str, Vec<(Traffic, usize)>); 8] = [
        ("stretches: lulesh-512 x6", vec![(read("lulesh-512"), 6)]),
        ("stretches: nekbone-256 x12", vec![(read("nekbone-256"), 12)]),
        ("stretches: miniamr-512 x5", vec![(read("miniamr-512"), 5)]),
        ("stretches: amg-125 x20", vec![(read("amg-125"), 20)]),
        ("stretches: snap-168 x18", vec![(read("snap-168"), 18)]),
        ("stretches: stencil27 1024 x3", vec![(stencil27(16, 8, 8), 3)]),
        ("stretches: stencil27 1728", vec![(stencil27(12, 12, 12), 1)]),
        (
            "stretches: mix lulesh, hpcg, nekbone",
            vec![(read("lulesh-512"), 2), (read("hpcg-216"), 4), (read("nekbone-256"), 4)],
        ),
    ];
    for (name, jobs) in &jobs {
        if wanted(name) {
            run(name, &quartz, &place(&quartz, jobs));
        }
    }
    let mix = &jobs[7].1;
    if wanted("damaged") {
        let what = Damage { random_links: 40, random_switches: 2, ..Damage::default() };
        let damaged = damage(&quartz, &what, 1).expect("damage fits").fabric;
        run("damaged: lulesh", &damaged, &place(&quartz, &jobs[0].1));
        run("damaged: mix", &damaged, &place(&quartz, mix));
        run(
            "damaged: shuffle",
            &damaged,
            &netloom_traffic::pattern("bisection-shuffle:seed=1", Some(3072)).unwrap().total(),
        );
    }
    for (name, spec) in [
        ("cab", "cab"),
        ("two-level", "two-level:leaves=32,hosts=24,spines=12"),
        ("two-level, cables", "two-level:leaves=32,hosts=24,spines=6,cables=2"),
    ] {
        if wanted(name) {
            let fabric = generate(spec).expect("a known generator");
            run(
                &format!("{name}: stencil27 512 fragmented"),
                &fabric,
                &place(&fabric, &[(stencil27(8, 8, 8), 1)]),
            );
            run(&format!("{name}: lulesh-64 x8"), &fabric, &place(&fabric, &[(read("lulesh-64"), 8)]));
        }
    }
    for (hosts, spec) in [
        (12_288, "fattree:pods=16,leaves=24,hosts=32,spines=16,groups=2,cores=24"),
        (65_536, "fattree:pods=64,leaves=32,hosts=32,spines=32,groups=32,cores=32"),
    ] {
        let name = format!("{hosts} hosts");
        if wanted(&name) {
            let fabric = generate(spec).expect("a known generator");
            let permutation = netloom_traffic::pattern("permutation:seed=1", Some(hosts)).expect("a pattern");
            run(&format!("{name}: permutation"), &fabric, &permutation.total());
            let side = if hosts == 12_288 { stencil27(32, 16, 16) } else { stencil27(40, 40, 40) };
            run(&format!("{name}: stencil27 fragmented"), &fabric, &place(&fabric, &[(side, 1)]));
        }
    }
}

fn run(name: &str, fabric: &Fabric, traffic: &Csr) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let engine = setting("ENGINE").unwrap_or(Engine::Dmodk);
    let background = route(engine, fabric, &structure, &EngineOptions { seed: 1, lmc: 0 }).expect("routes");
    let control = Control::new();
    let clock = Instant::now();
    let (ar, bound) = bounds(fabric, &structure, &paths, traffic);
    let bound_s = clock.elapsed().as_secs_f64();
    let cpu = cpu_seconds();
    let options = OptimizeOptions {
        seed: setting("SEED").unwrap_or(1),
        threads: setting("THREADS").unwrap_or(1),
        work: setting("WORK"),
        bound: Some(bound),
        depth: setting("DEPTH").unwrap_or(3),
        ..OptimizeOptions::default()
    };
    let result = within(setting("LIMIT").unwrap_or(10.0), &control, || {
        optimize(fabric, &structure, &paths, traffic, &background, &options, &control).expect("optimised")
    });
    let seconds = cpu_seconds() - cpu;
    if std::env::var("CHECK").is_ok() {
        let again = loads(fabric, &result.routes, traffic).expect("delivered");
        let worst = again
            .load
            .iter()
            .zip(&result.loads.load)
            .map(|(a, b)| (a - b).abs() / (1.0 + a))
            .fold(0.0, f64::max);
        assert!(worst < 1e-9, "loads differ by {worst}");
    }
    let max = result.loads.load.iter().copied().fold(0.0, f64::max);
    let afar_gap = if std::env::var("AFAR").is_ok() {
        let clock = Instant::now();
        let afar = afar(fabric, &paths, &background, traffic, &AfarOptions::default(), &Control::new());
        let afar = afar.expect("repaired");
        format!(
            "{:.2} ({} in {:.2}s)",
            100.0 * (afar.max_load / ar.lower - 1.0),
            afar.iterations,
            clock.elapsed().as_secs_f64()
        )
    } else {
        String::new()
    };
    println!(
        "{name:38} {:>8.1} {:>9.4} {:>10.5} {:>6} {:>6} {:>9.1} {bound_s:>7.3} {seconds:>7.2} {afar_gap}",
        traffic.entry_count() as f64 / 1e3,
        100.0 * (max / ar.lower - 1.0),
        100.0 * (max / result.bound.claim - 1.0),
        result.proven_optimal,
        result.history.last().map_or(0, |step| step.links_at_max),
        result.work as f64 / 1e3,
    );
    if std::env::var("LEVELS").is_ok() {
        let between = fabric.links().filter(|&l| fabric.between_switches(l));
        let mut falling: Vec<f64> = between.map(|l| result.loads.load[l.index()]).collect();
        falling.sort_by(|a, b| b.total_cmp(a));
        let levels = falling.chunk_by(|a, b| *b >= *a * (1.0 - 1e-9)).take(6);
        let spelt: Vec<String> =
            levels.map(|l| format!("{} x {:.4} %", l.len(), 100.0 * l[0] / result.switch_bound)).collect();
        println!("    links at load over the bound: {}", spelt.join(", "));
    }
    if std::env::var("HISTORY").is_ok() {
        for step in &result.history {
            println!(
                "    work {:>9} gap {:>9.4} % links {}",
                step.work,
                100.0 * (step.max_load / result.switch_bound - 1.0),
                step.links_at_max
            );
        }
    }
}

/// Copies of an application on a fragmented machine, ranks in order.
fn fragmented(fabric: &Fabric, name: &str, copies: u32, cross_copies: bool) -> Csr {
    let spec = JobSpec {
        name: name.into(),
        source: Source::Matrix(String::new()),
        allocation: Allocation::Fragmented,
        mapping: Mapping::Block,
        adapters: AdapterChoice::default(),
        ranks_per_host: Some(1),
        copies,
        cross_copies,
        grid: Vec::new(),
    };
    let job = ResolvedJob { spec, traffic: read(name), rank_hosts: None };
    netloom_traffic::place(fabric, &[job], 1).expect("it fits").traffic.total().into_owned()
}

/// The stylised bully (Taffet, dissertation, sec. 5.4.1): 500 random pairs of bully hosts send 100 units each
/// way, 2048 barrier hosts one unit to their partners; two leaves hold exactly 17 bully hosts, none of
/// which talks inside its leaf, the others at most 16.
fn bully(fabric: &Fabric) -> Csr {
    let mut all: Vec<HostId> = fabric.hosts().collect();
    let mut random = stream(1, 78);
    shuffle(&mut random, &mut all);
    let leaves = [fabric.leaf(all[0]), fabric.leaf(*all.last().expect("hosts"))];
    let mut taken = vec![0; fabric.switch_count()];
    // 17 on two leaves, at most 16 on any other.
    all.sort_by_key(|&h| !leaves.contains(&fabric.leaf(h)));
    let (mut hosts, mut rest): (Vec<HostId>, Vec<HostId>) = (Vec::new(), Vec::new());
    for host in all {
        let leaf = fabric.leaf(host);
        let most = if leaves.contains(&leaf) { 17 } else { 16 };
        let bully = hosts.len() < 1000 && taken[leaf.index()] < most;
        taken[leaf.index()] += usize::from(bully);
        if bully { &mut hosts } else { &mut rest }.push(host);
    }
    loop {
        shuffle(&mut random, &mut hosts);
        let inside = |leaf| hosts.chunks(2).any(|p| p.iter().all(|&h| fabric.leaf(h) == leaf));
        if !inside(leaves[0]) && !inside(leaves[1]) {
            break;
        }
    }
    shuffle(&mut random, &mut rest);
    let mut triples: Vec<(HostId, HostId, f64)> = Vec::new();
    for (pairs, bytes) in [(&hosts[..], 100.0), (&rest[..2048], 1.0)] {
        triples.extend(pairs.chunks(2).flat_map(|p| [(p[0], p[1], bytes), (p[1], p[0], bytes)]));
    }
    let column = |f: fn(&(HostId, HostId, f64)) -> u64| triples.iter().map(f).collect::<Vec<_>>();
    let bytes: Vec<f64> = triples.iter().map(|t| t.2).collect();
    let (i, j) = (column(|t| t.0.0.into()), column(|t| t.1.0.into()));
    let hosts = fabric.host_count() as u32;
    Traffic::from_triples(hosts, &i, &j, &bytes, None).expect("valid").total().into_owned()
}
