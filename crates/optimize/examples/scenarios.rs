//! Traffic that is an estimate: `cargo run --release -p netloom-optimize --example scenarios [FILTER]`.
//!
//! The truth is the estimate with every entry off by a log-normal factor. Optimised for the estimate alone, and for the
//! estimate with 5 samples at once (no scenario far from its own bound, or the mean); judged on 10 samples that neither has
//! seen, by the gap of the maximum to that sample's proven bound. `WORK` is the budget of each search.

mod common;

use common::{bounds, cpu_seconds, read, scattered, setting, wanted};
use netloom_model::{Control, Csr, Fabric, Routes, Traffic};
use netloom_optimize::{Combine, Layer, OptimizeOptions, optimize, optimize_layers};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{detect, generate};
use netloom_traffic::{Estimate, perturb};

const SEEN: u64 = 5;
const UNSEEN: u64 = 10;

fn main() {
    let wanted = wanted();
    let quartz = generate("quartz1").expect("a known generator");
    println!(
        "{:26} {:>6}  {:>15} {:>15} {:>15} {:>15} {:>7}",
        "mean / worst gap, %", "error", "ftree", "estimate", "6, worst gap", "6, mean gap", "CPU s"
    );
    for (name, copies) in [("lulesh-512", 6), ("snap-168", 18), ("hpcg-216", 14), ("miniamr-512", 6)] {
        for error in [0.05, 0.2, 1.0] {
            if wanted(name) {
                let estimate = scattered(&[(read(name), copies)], 3072);
                run(&format!("{name} x{copies}"), &quartz, &estimate, error);
            }
        }
    }
}

fn run(name: &str, fabric: &Fabric, estimate: &Traffic, error: f64) {
    let before = cpu_seconds();
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let draw = |seed| perturb(estimate, Estimate::Relative(error), seed).expect("a small error");
    let matrix = |t: &Traffic| t.total().into_owned();
    let unseen: Vec<(Csr, f64)> = (0..UNSEEN)
        .map(|k| {
            let sample = matrix(&draw(1000 + k));
            let bound = bounds(fabric, &structure, &paths, &sample).1.claim;
            (sample, bound)
        })
        .collect();
    let gaps = |routes: &Routes| -> String {
        let gap = |(m, b): &(Csr, f64)| (loads(fabric, routes, m).expect("delivers").max() / b - 1.0) * 100.0;
        let all: Vec<f64> = unseen.iter().map(gap).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        format!("{mean:.2} / {:.2}", all.iter().copied().fold(0.0, f64::max))
    };
    let engine = EngineOptions { seed: 1, lmc: 0 };
    let ftree = route(Engine::Ftree, fabric, &structure, &engine).expect("a tree");
    let work = setting("WORK").unwrap_or(500_000);
    let options = OptimizeOptions { work: Some(work), threads: 1, ..OptimizeOptions::default() };
    let control = Control::new();
    let one = matrix(estimate);
    let alone = optimize(fabric, &structure, &paths, &one, &ftree, &options, &control).expect("joined hosts");
    let mut seen: Vec<Csr> = vec![one];
    seen.extend((1..=SEEN).map(|k| matrix(&draw(k))));
    let layers: Vec<Layer> =
        seen.iter().map(|matrix| Layer { name: String::new(), matrix, weight: 1.0 }).collect();
    let robust = |combine| {
        let found = optimize_layers(fabric, &structure, &paths, &layers, combine, &ftree, &options, &control);
        gaps(&found.expect("joined hosts").routes)
    };
    let (worst, mean) = (robust(Combine::WorstGap), robust(Combine::MeanGap));
    println!(
        "{name:26} {:>5.0}%  {:>15} {:>15} {worst:>15} {mean:>15} {:>7.1}",
        error * 100.0,
        gaps(&ftree),
        gaps(&alone.routes),
        cpu_seconds() - before
    );
}
