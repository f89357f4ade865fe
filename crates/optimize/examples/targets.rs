//! The optimiser against its targets: `cargo run --release -p netloom-optimize --example targets [FILTER]`.
//!
//! Prints a line a case: gap over the adaptive-routing bound, gap over the best lower bound, whether
//! proved, work, seconds. `ENGINE` names the background, `LIMIT` the seconds, `WORK` the budget; with `AFAR`, `CHECK`
//! or `HISTORY` set it also runs AFAR, compares loads, prints every improvement. Application matrices are read from `$NETLOOM_TRAFFIC`, else from `examples/data`.

use std::time::Instant;

use netloom_bounds::{ar_bound, tighten};
use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Control, Csr, Fabric, HostId, StopReason, Traffic};
use netloom_optimize::{AfarOptions, OptimizeOptions, afar, optimize};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{Damage, damage, detect, generate};

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |name: &str| filter.is_empty() || filter.iter().any(|f| name.contains(f.as_str()));
    println!(
        "{:38} {:>8} {:>9} {:>9} {:>6} {:>9} {:>7} {:>7} {:>7}",
        "case", "items/k", "AR gap %", "gap %", "proved", "work/k", "bound s", "s", "AFAR %"
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
    ] {
        if wanted(spec) {
            let traffic = netloom_traffic::pattern(spec, Some(3072)).expect("a known pattern");
            run(spec, &quartz, &traffic.total());
        }
    }
    let app = |name: &str| read(name);
    let jobs: [(&str, Vec<(Traffic, usize)>); 8] = [
        ("lulesh-512 x6 fragmented", vec![(app("lulesh-512"), 6)]),
        ("nekbone-256 x12 fragmented", vec![(app("nekbone-256"), 12)]),
        ("miniamr-512 x5 fragmented", vec![(app("miniamr-512"), 5)]),
        ("amg-125 x20 fragmented", vec![(app("amg-125"), 20)]),
        ("snap-168 x18 fragmented", vec![(app("snap-168"), 18)]),
        ("stencil27 1024 x3 fragmented", vec![(stencil27(16, 8, 8), 3)]),
        ("stencil27 1728 fragmented", vec![(stencil27(12, 12, 12), 1)]),
        (
            "mix lulesh, hpcg, nekbone",
            vec![(app("lulesh-512"), 2), (app("hpcg-216"), 4), (app("nekbone-256"), 4)],
        ),
    ];
    for (name, jobs) in &jobs {
        if wanted(name) {
            run(name, &quartz, &place(&quartz, jobs, 1));
        }
    }
    let mix = &jobs[7].1;
    if wanted("damaged") {
        let what = Damage { random_links: 40, random_switches: 2, ..Damage::default() };
        let damaged = damage(&quartz, &what, 1).expect("damage fits").fabric;
        run("damaged: lulesh", &damaged, &place(&quartz, &jobs[0].1, 1));
        run("damaged: mix", &damaged, &place(&quartz, mix, 1));
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
                &place(&fabric, &[(stencil27(8, 8, 8), 1)], 1),
            );
            run(&format!("{name}: lulesh-64 x8"), &fabric, &place(&fabric, &[(app("lulesh-64"), 8)], 1));
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
            run(&format!("{name}: stencil27 fragmented"), &fabric, &place(&fabric, &[(side, 1)], 1));
        }
    }
}

fn run(name: &str, fabric: &Fabric, traffic: &Csr) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let engine = std::env::var("ENGINE").ok().and_then(|e| e.parse().ok()).unwrap_or(Engine::Dmodk);
    let background = route(engine, fabric, &structure, &EngineOptions { seed: 1, lmc: 0 }).expect("routes");
    let control = Control::new();
    let clock = Instant::now();
    let ar = ar_bound(fabric, &structure, &paths, traffic, &control, None).expect("a bound");
    let bound = tighten(fabric, &structure, &paths, traffic, ar.certificate.clone());
    let bound_s = clock.elapsed().as_secs_f64();
    let clock = Instant::now();
    let limit: f64 = std::env::var("LIMIT").ok().and_then(|l| l.parse().ok()).unwrap_or(10.0);
    let result = std::thread::scope(|scope| {
        let search = scope.spawn(|| {
            let work = std::env::var("WORK").ok().and_then(|w| w.parse().ok());
            let options =
                OptimizeOptions { seed: 1, work, bound: Some(bound.clone()), ..OptimizeOptions::default() };
            optimize(fabric, &structure, &paths, traffic, &background, &options, &control)
        });
        while !search.is_finished() && clock.elapsed().as_secs_f64() < limit {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        control.stop(StopReason::TimeLimit);
        search.join().expect("no panic").expect("optimised")
    });
    let seconds = clock.elapsed().as_secs_f64();
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
        "{name:38} {:>8.1} {:>9.4} {:>9.4} {:>6} {:>9.1} {bound_s:>7.3} {seconds:>7.3} {afar_gap}",
        traffic.entry_count() as f64 / 1e3,
        100.0 * (max / ar.lower - 1.0),
        100.0 * (max / result.bound.claim - 1.0),
        result.proven_optimal,
        result.work as f64 / 1e3,
    );
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

fn read(name: &str) -> Traffic {
    let folder = std::env::var("NETLOOM_TRAFFIC")
        .unwrap_or_else(|_| concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data").into());
    let path = format!("{folder}/{name}.mtx.gz");
    let bytes = std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"));
    netloom_formats::read_mtx(&bytes, &path).expect("a matrix")
}

/// Random stretches of hosts are taken by others; ranks fill the rest in order.
fn place(fabric: &Fabric, jobs: &[(Traffic, usize)], seed: u64) -> Csr {
    let hosts = fabric.host_count();
    let ranks: usize = jobs.iter().map(|(t, copies)| t.endpoints() as usize * copies).sum();
    assert!(ranks <= hosts, "{ranks} ranks on {hosts} hosts");
    let mut random = stream(seed, 77);
    // Deal hosts in stretches of 1 to 24 in random order to the jobs in turn.
    let mut stretches: Vec<Vec<u32>> = Vec::new();
    let mut at = 0;
    while at < hosts {
        let n = (1 + below(&mut random, 24) as usize).min(hosts - at);
        stretches.push((at as u32..(at + n) as u32).collect());
        at += n;
    }
    shuffle(&mut random, &mut stretches);
    let mut pool = stretches.into_iter().flatten();
    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
    for (traffic, copies) in jobs {
        for _ in 0..*copies {
            let mut at: Vec<HostId> = pool.by_ref().take(traffic.endpoints() as usize).map(HostId).collect();
            at.sort_unstable();
            for (x, y, bytes) in traffic.total().iter() {
                i.push(u64::from(at[x as usize].0));
                j.push(u64::from(at[y as usize].0));
                b.push(bytes);
            }
        }
    }
    Traffic::from_triples(hosts as u32, &i, &j, &b, None).expect("valid").total().into_owned()
}

/// Faces 1000, edges 32, corners 1 times their number of neighbours' share, with 1 % of irregularity.
fn stencil27(x: i64, y: i64, z: i64) -> Traffic {
    let (mut i, mut j, mut b) = (Vec::new(), Vec::new(), Vec::new());
    let id = |a: i64, c: i64, d: i64| ((a * y + c) * z + d) as u64;
    for (a, c, d) in (0..x).flat_map(|a| (0..y).flat_map(move |c| (0..z).map(move |d| (a, c, d)))) {
        for k in 0..27 {
            let (da, dc, dd) = (k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
            let (e, f, g) = (a + da, c + dc, d + dd);
            if k != 13 && (0..x).contains(&e) && (0..y).contains(&f) && (0..z).contains(&g) {
                i.push(id(a, c, d));
                j.push(id(e, f, g));
                b.push([0.0, 9216.0, 768.0, 64.0][(da.abs() + dc.abs() + dd.abs()) as usize]);
            }
        }
    }
    Traffic::from_triples((x * y * z) as u32, &i, &j, &b, None).expect("valid")
}
