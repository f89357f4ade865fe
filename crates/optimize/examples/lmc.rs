//! What several addresses a host buy: `cargo run --release -p netloom-optimize --example lmc [FILTER]`.
//!
//! Prints a line a case: gap over the adaptive-routing bound with LMC 0, 1 and 2, and the pairs that leave the base
//! address. `WORK` is the budget of each search. Application matrices are read from `examples/data`.

use netloom_bounds::ar_bound;
use netloom_model::rng::{below, shuffle, stream};
use netloom_model::{Control, Csr, Fabric, Traffic};
use netloom_optimize::{OptimizeOptions, optimize_lmc};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_topology::{Damage, damage, detect, generate};

fn main() {
    let filter: Vec<String> = std::env::args().skip(1).collect();
    let quartz = generate("quartz1").expect("a known generator");
    let what = Damage { random_links: 40, random_switches: 2, ..Damage::default() };
    let damaged = damage(&quartz, &what, 1).expect("links to cut").fabric;
    let noisy = netloom_traffic::pattern("bisection-shuffle:seed=1,noise=0.05", Some(3072));
    let noisy = noisy.expect("a known pattern").total().into_owned();
    let lulesh = copies(&read("lulesh-512"), 6, 3072);
    println!("{:28} {:>3} {:>9} {:>9} {:>8}", "case", "LMC", "AR gap %", "off base", "work/k");
    for (name, fabric, traffic) in [
        ("snap-168 x18", &quartz, copies(&read("snap-168"), 18, 3072)),
        ("shuffle with noise", &quartz, noisy),
        ("lulesh-512 x6", &quartz, lulesh.clone()),
        ("lulesh-512 x6, damaged", &damaged, lulesh),
    ] {
        if filter.is_empty() || filter.iter().any(|f| name.contains(f.as_str())) {
            run(name, fabric, &traffic);
        }
    }
}

fn run(name: &str, fabric: &Fabric, traffic: &Csr) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let control = Control::new();
    let ar = ar_bound(fabric, &structure, &paths, traffic, &control, None).expect("joined hosts");
    let work = std::env::var("WORK").ok().and_then(|w| w.parse().ok()).unwrap_or(2_000_000);
    for lmc in 0..3 {
        let engine = EngineOptions { seed: 1, lmc };
        let background = route(Engine::Updn, fabric, &structure, &engine).expect("updn routes any tree");
        let options = OptimizeOptions {
            work: Some(work),
            bound: Some(ar.certificate.clone()),
            ..OptimizeOptions::default()
        };
        let found = optimize_lmc(fabric, &structure, &paths, traffic, lmc, &background, &options, &control);
        let found = found.expect("joined hosts");
        let gap = (found.loads.max() / ar.certificate.claim - 1.0) * 100.0;
        let off = found.routes.pair_paths(fabric).len();
        println!("{name:28} {lmc:>3} {gap:>9.4} {off:>9} {:>8}", found.work / 1000);
    }
}

fn read(name: &str) -> Traffic {
    let file = format!("{}/../../examples/data/{name}.mtx.gz", env!("CARGO_MANIFEST_DIR"));
    let bytes = std::fs::read(&file).expect("an application matrix of the examples");
    netloom_formats::read_mtx(&bytes, name).expect("a good matrix")
}

/// Copies of an application, one rank a host: stretches of 1 to 24 hosts are dealt in random order, as in the
/// example `targets`.
fn copies(app: &Traffic, copies: usize, hosts: usize) -> Csr {
    let (matrix, mut random) = (app.total(), stream(1, 77));
    let (mut stretches, mut first) = (Vec::new(), 0);
    while first < hosts as u64 {
        let end = (first + 1 + below(&mut random, 24)).min(hosts as u64);
        stretches.push(first..end);
        first = end;
    }
    shuffle(&mut random, &mut stretches);
    let mut pool = stretches.into_iter().flatten();
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..copies {
        let mut at: Vec<u64> = pool.by_ref().take(matrix.size()).collect();
        at.sort_unstable();
        for (i, j, b) in matrix.iter() {
            from.push(at[i as usize]);
            to.push(at[j as usize]);
            bytes.push(b);
        }
    }
    Traffic::from_triples(hosts as u32, &from, &to, &bytes, None).expect("hosts").total().into_owned()
}
