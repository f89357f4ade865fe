//! What several addresses a host buy: `cargo run --release -p netloom-optimize --example lmc [FILTER]`.
//!
//! A line a case and LMC: the largest load between switches over the adaptive-routing bound, of tables with one
//! address (LMC 0) on one, two and three shares of work, of LMC 1 on two and of LMC 2 on three; the proven bounds for
//! one address and for any number of them; the pairs that leave the base address. `WORK` is a share.

mod common;

use common::{bounds, cpu_seconds, read, scattered, setting, wanted};
use netloom_bounds::tighten_pairs;
use netloom_model::{Control, Csr, Fabric, Traffic};
use netloom_optimize::{OptimizeOptions, optimize_lmc};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_topology::{Damage, damage, detect, generate};

fn main() {
    let wanted = wanted();
    let quartz = generate("quartz1").expect("a known generator");
    let what = Damage { random_links: 40, random_switches: 2, ..Damage::default() };
    let damaged = damage(&quartz, &what, 1).expect("links to cut").fabric;
    let taper = generate("two-level:leaves=32,hosts=24,spines=12").expect("a known generator");
    let pattern =
        |spec| netloom_traffic::pattern(spec, Some(3072)).expect("a known pattern").total().into_owned();
    println!(
        "{:31} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "AR gap %",
        "bound 0",
        "any LMC",
        "LMC 0",
        "0, 2x",
        "0, 3x",
        "LMC 1",
        "LMC 2",
        "off 1",
        "off 2",
        "CPU s"
    );
    let scattered = |name: &str, number| scattered(&[(read(name), number)], 3072).total().into_owned();
    let in_line = |name: &str, number: usize| in_order(&read(name), number, 3072);
    let rows: [(&str, &Fabric, Csr); 13] = [
        ("snap-168 x18", &quartz, scattered("snap-168", 18)),
        ("hpcg-216 x14", &quartz, scattered("hpcg-216", 14)),
        ("shuffle, 5 % noise", &quartz, pattern("bisection-shuffle:seed=1,noise=0.05")),
        ("shuffle, damaged", &damaged, pattern("bisection-shuffle:seed=1")),
        ("snap-168 x18, damaged", &damaged, scattered("snap-168", 18)),
        ("lulesh-512 x6, damaged", &damaged, scattered("lulesh-512", 6)),
        ("in order: lulesh-512, damaged", &damaged, in_line("lulesh-512", 6)),
        ("in order: hpcg-216, damaged", &damaged, in_line("hpcg-216", 14)),
        ("in order: nekbone-256, damaged", &damaged, in_line("nekbone-256", 12)),
        ("all-to-all of 40, damaged", &damaged, in_order(&everybody(40), 76, 3072)),
        ("all-to-all of 56, damaged", &damaged, in_order(&everybody(56), 54, 3072)),
        ("all-to-all of 32, two levels", &taper, in_order(&everybody(32), 24, 768)),
        ("all-to-all of 40, two levels", &taper, in_order(&everybody(40), 19, 768)),
    ];
    for (name, fabric, traffic) in rows {
        if wanted(name) {
            run(name, fabric, &traffic);
        }
    }
}

fn run(name: &str, fabric: &Fabric, traffic: &Csr) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let control = Control::new();
    let (ar, alone) = bounds(fabric, &structure, &paths, traffic);
    let share: u64 = setting("WORK").unwrap_or(1_000_000);
    let gap = |load: f64| (load / ar.certificate.claim - 1.0) * 100.0;
    let pairs = tighten_pairs(fabric, &structure, &paths, traffic, ar.certificate.clone());
    print!("{name:31} {:>9.4} {:>9.4}", gap(alone.claim), gap(pairs.claim));
    let before = cpu_seconds();
    let mut off = Vec::new();
    for (lmc, shares) in [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)] {
        let engine = EngineOptions { seed: 1, lmc: 0 };
        let background = route(Engine::Updn, fabric, &structure, &engine).expect("updn routes any tree");
        let options = OptimizeOptions {
            work: Some(share * shares),
            bound: Some(ar.certificate.clone()),
            threads: 1,
            ..OptimizeOptions::default()
        };
        let found = optimize_lmc(fabric, &structure, &paths, traffic, lmc, &background, &options, &control);
        let found = found.expect("joined hosts");
        print!(" {:>9.4}", gap(found.loads.max()));
        if lmc > 0 {
            off.push(found.routes.pair_paths(fabric).len());
        }
    }
    println!(" {:>9} {:>9} {:>7.1}", off[0], off[1], cpu_seconds() - before);
}

/// Copies of an application one after another in the order of hosts, one rank a host.
fn in_order(app: &Traffic, copies: usize, hosts: usize) -> Csr {
    let matrix = app.total();
    let (mut from, mut to, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    for copy in 0..copies as u64 {
        let first = copy * matrix.size() as u64;
        for (i, j, b) in matrix.iter() {
            from.push(first + u64::from(i));
            to.push(first + u64::from(j));
            bytes.push(b);
        }
    }
    Traffic::from_triples(hosts as u32, &from, &to, &bytes, None).expect("hosts").total().into_owned()
}

/// Every rank sends 1 to every other, as a transposition does.
fn everybody(ranks: u64) -> Traffic {
    let (from, to): (Vec<u64>, Vec<u64>) =
        (0..ranks).flat_map(|i| (0..ranks).filter(move |&j| j != i).map(move |j| (i, j))).unzip();
    Traffic::from_triples(ranks as u32, &from, &to, &vec![1.0; from.len()], None).expect("ranks")
}
