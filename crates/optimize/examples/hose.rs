//! Only sums by host are known: `cargo run --release -p netloom-optimize --example hose [FILTER]`.
//!
//! Prints a line a case: the exact worst load between switches over all matrices with these sums, of ftree, d-mod-k and
//! random routes and of the optimiser's, with the proven lower bound on any routes. `WORK` is its budget.

mod common;

use common::{cpu_seconds, dealt, setting, wanted};
use netloom_model::rng::{below, stream};
use netloom_model::{Control, Fabric, Hose};
use netloom_optimize::{OptimizeOptions, hose_loads, optimize_hose};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_topology::{Damage, damage, detect, generate};

fn main() {
    let wanted = wanted();
    println!(
        "{:34} {:>9} {:>9} {:>9} {:>9} {:>9} {:>8} {:>7} {:>6} {:>7}  bound at",
        "case", "ftree", "d-mod-k", "random", "ours", "bound", "over %", "rounds", "plans", "CPU s"
    );
    let quartz = generate("quartz1").expect("a known generator");
    let what = Damage { random_links: 150, ..Damage::default() };
    let cut = damage(&quartz, &what, 1).expect("links to cut").fabric;
    let part = generate("fattree:pods=4,leaves=8,hosts=16,spines=8,groups=8,cores=4").expect("a tree");
    let less =
        damage(&part, &Damage { random_links: 24, ..Damage::default() }, 1).expect("links to cut").fabric;
    let flat = generate("two-level:leaves=12,hosts=12,spines=8").expect("a tree");
    let cases: [(&str, &Fabric, Hose); 9] = [
        ("flat 144: 1 each", &flat, even(144, &every(144, 1))),
        ("flat 144: every third", &flat, even(144, &every(144, 3))),
        ("part 512: 1 each", &part, even(512, &every(512, 1))),
        ("part 512: a job of 128", &part, even(512, &some(512, 128))),
        ("part 512: uneven, a job of 128", &part, uneven(512, &some(512, 128))),
        ("part 512, cut: a job of 128", &less, even(512, &some(512, 128))),
        ("quartz1: 1 each", &quartz, even(3072, &every(3072, 1))),
        ("quartz1: a job of 512", &quartz, even(3072, &some(3072, 512))),
        ("quartz1, cut: a job of 512", &cut, even(3072, &some(3072, 512))),
    ];
    for (name, fabric, hose) in cases {
        if wanted(name) {
            run(name, fabric, &hose);
        }
    }
}

fn run(name: &str, fabric: &Fabric, hose: &Hose) {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let routes = |engine| route(engine, fabric, &structure, &EngineOptions { seed: 1, lmc: 0 }).ok();
    let worst = |engine| {
        let loads = routes(engine).and_then(|r| hose_loads(fabric, &r, hose, &Control::new()).ok());
        loads.map_or("–".into(), |l| format!("{:.3}", l.max_between_switches(fabric)))
    };
    let options =
        OptimizeOptions { seed: 1, threads: 1, work: setting("WORK"), ..OptimizeOptions::default() };
    let background = routes(Engine::Dmodk).filter(|r| hose_loads(fabric, r, hose, &Control::new()).is_ok());
    let background = background.or_else(|| routes(Engine::Updn)).expect("updn routes any tree");
    let before = cpu_seconds();
    let found = optimize_hose(fabric, &structure, &paths, hose, &background, &options, &Control::new());
    let found = found.expect("joined hosts");
    let seconds = cpu_seconds() - before;
    println!(
        "{name:34} {:>9} {:>9} {:>9} {:>9.3} {:>9.3} {:>8.2} {:>7} {:>6} {seconds:>7.1}  {}",
        worst(Engine::Ftree),
        worst(Engine::Dmodk),
        worst(Engine::Random),
        found.switch_max_load,
        found.lower_bound,
        (found.worst.max() / found.lower_bound - 1.0) * 100.0,
        found.rounds,
        found.scenarios.len(),
        found.bound_at
    );
    if std::env::var("HISTORY").is_ok() {
        for i in &found.history {
            println!("    {:>9} {:>9.4} on {}", i.work, i.max_load, i.links_at_max);
        }
    }
}

fn every(hosts: usize, step: usize) -> Vec<usize> {
    (0..hosts).step_by(step).collect()
}

/// So many hosts in random stretches of 1 to 24.
fn some(hosts: usize, count: usize) -> Vec<usize> {
    dealt(hosts).take(count).collect()
}

/// Everybody sends and receives 1.
fn even(hosts: usize, chosen: &[usize]) -> Hose {
    let mut sums = vec![0.0; hosts];
    chosen.iter().for_each(|&h| sums[h] = 1.0);
    Hose { sent: sums.clone(), received: sums, hosts_hash: None }
}

/// Between 1 and 8.
fn uneven(hosts: usize, chosen: &[usize]) -> Hose {
    let mut random = stream(2, 77);
    let mut sums = || {
        let mut sums = vec![0.0; hosts];
        chosen.iter().for_each(|&h| sums[h] = 1.0 + below(&mut random, 8) as f64);
        sums
    };
    Hose { sent: sums(), received: sums(), hosts_hash: None }
}
