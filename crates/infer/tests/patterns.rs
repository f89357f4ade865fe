//! What whole applications do on one lane: found where counters say so, doubted where they don't.

use netloom_infer::operator::Pair;
use netloom_infer::{
    Counted, Estimate, LaneScheme, Operator, Participants, Settings, Verdict, errors, estimate, traffic,
};
use netloom_model::rng::{normal, stream};
use netloom_model::{Control, HostId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::{detect, generate};

/// 128 hosts, eight a leaf: rows of eight are leaves.
const SMALL: &str = "two-level:leaves=16,hosts=8,spines=8";

/// One lane, a rank a host, in order from host number `first`; `bytes` from rank to rank. The answer, and the error of its leaf sums.
fn infer(
    fabric: &str,
    first: u32,
    ranks: u32,
    noise: f64,
    bytes: impl Fn(u32, u32) -> f64,
) -> (Estimate, f64) {
    let fabric = generate(fabric).unwrap();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let hosts = (first..first + ranks).map(HostId).collect();
    let jobs = [Participants::one_a_host("a", hosts)];
    let operator = Operator::new(&fabric, &routes, &LaneScheme::One, &jobs).unwrap();
    let truth: Vec<f64> = operator.iter().map(|pair: Pair| bytes(pair.source, pair.destination)).collect();
    let mut counted = Counted::exactly(operator.forward(&truth));
    let mut draw = stream(7, 0);
    for (bytes, deviation) in counted.bytes.iter_mut().zip(&mut counted.deviation) {
        *deviation = noise * *bytes;
        *bytes = (*bytes + *deviation * normal(&mut draw)).max(0.0);
    }
    let found = estimate(&operator, &jobs, &counted, &[], &Settings::default(), &Control::new());
    let over_hosts = |bytes: &[f64]| traffic(&fabric, &operator, &jobs, bytes);
    let off = errors(&fabric, &over_hosts(&found.bytes), &over_hosts(&truth)).unwrap();
    (found, off.leaf_sums)
}

/// Everybody to everybody else in rows of `x` ranks, and in the columns between them.
fn rows_and_columns(x: u32, in_rows: f64, in_columns: f64) -> impl Fn(u32, u32) -> f64 {
    move |from, to| match (from / x == to / x, from % x == to % x) {
        (true, _) => in_rows,
        (_, true) => in_columns,
        _ => 0.0,
    }
}

/// Rows, columns and pillars of a grid (pencils of a Fourier transform in three dimensions).
fn pencils(x: u32, y: u32) -> impl Fn(u32, u32) -> f64 {
    move |from, to| {
        let same = |of: &dyn Fn(u32) -> u32| of(from) == of(to);
        let same = [same(&|r| r % x), same(&|r| r / x % y), same(&|r| r / (x * y))];
        match same {
            [false, true, true] => 1e6,
            [true, false, true] => 7e5,
            [true, true, false] => 4e5,
            _ => 0.0,
        }
    }
}

/// Fourier transforms in rows and columns were 34 to 54 % off and called identified.
#[test]
fn fourier_transforms_are_found() {
    for (x, y, columns, noise) in [(12, 14, 1e6, 0.0), (12, 14, 3e5, 0.005), (8, 16, 1e6, 0.005)] {
        let (found, sums) = infer("quartz1", 10, x * y, noise, rows_and_columns(x, 1e6, columns));
        assert_eq!(found.jobs[0].grid.unwrap().sides, [x, y, 1]);
        assert!(sums < 1e-6 + noise, "{x} x {y}: {sums}");
        assert_eq!(found.trust.verdict, Verdict::Identified);
    }
    let (found, sums) = infer("quartz1", 10, 128, 0.0, pencils(4, 4));
    assert!(sums < 1e-6, "{sums}");
    assert_eq!(found.trust.verdict, Verdict::Identified);
}

/// With neighbours' bytes beside them, too.
#[test]
fn neighbours_beside_fourier_transforms_are_found() {
    let (x, y) = (12, 14);
    let transform = rows_and_columns(x, 1e6, 1e6);
    let bytes = |from: u32, to: u32| {
        let far = (from % x).abs_diff(to % x) + (from / x).abs_diff(to / x);
        transform(from, to) + if far == 1 { 5e6 } else { 0.0 }
    };
    let (found, sums) = infer("quartz1", 10, x * y, 0.0, bytes);
    assert!(sums < 1e-6, "{sums}");
    assert_eq!(found.trust.verdict, Verdict::Identified);
}

/// Where leaves are rows, all hosts and all links between switches look alike: what explains them is one of many patterns. The answer may
/// be right, but never is it known to be.
#[test]
fn what_many_patterns_explain_is_not_claimed() {
    let torus = |from: u32, to: u32| {
        let around = |a: u32, b: u32, side: u32| a.abs_diff(b).min(side - a.abs_diff(b));
        let far = around(from % 8, to % 8, 8) + around(from / 8, to / 8, 16);
        if far == 1 { 1e6 } else { 0.0 }
    };
    let cube = |from: u32, to: u32| if (from ^ to).is_power_of_two() { 1e6 } else { 0.0 };
    let same = |same: bool| if same { 1e6 } else { 0.0 };
    type Bytes<'a> = &'a dyn Fn(u32, u32) -> f64;
    let patterns: [(&str, Bytes); 8] = [
        ("rows and columns", &rows_and_columns(8, 1e6, 1e6)),
        ("the same, transposed", &rows_and_columns(16, 1e6, 1e6)),
        ("the same, unequal", &rows_and_columns(8, 1e6, 4e5)),
        ("columns", &rows_and_columns(8, 0.0, 1e6)),
        ("pencils", &pencils(4, 4)),
        ("torus", &torus),
        ("hypercube", &cube),
        ("mirrored", &|from, to| same(from + to == 127)),
    ];
    for (name, bytes) in patterns {
        for noise in [0.0, 0.005] {
            let (found, sums) = infer(SMALL, 0, 128, noise, bytes);
            assert_ne!(found.trust.verdict, Verdict::Identified, "{name}");
            let told = found.trust.leaf_error;
            assert!(told > 0.5 * sums, "{name}, noise {noise}: {sums} is told as {told}");
        }
    }
}

/// The grid of BoxLib's 64 ranks is one of several where leaves divide it: the wrong one was called identified, 23 % off.
#[test]
fn other_grids_are_doubts() {
    let path = format!("{}/../../examples/data/boxlibmg-64.mtx.gz", env!("CARGO_MANIFEST_DIR"));
    let matrix = netloom_formats::read_mtx(&std::fs::read(path).unwrap(), "boxlibmg-64").unwrap();
    let mut dense = vec![0.0; 64 * 64];
    matrix.total().iter().for_each(|(from, to, bytes)| dense[from as usize * 64 + to as usize] += bytes);
    let (found, sums) = infer("quartz1", 400, 64, 0.0, |from, to| dense[from as usize * 64 + to as usize]);
    assert!(sums > 0.1, "known after all: {sums}");
    assert_eq!(found.trust.verdict, Verdict::Partly);
    assert!(found.trust.leaf_error > 0.5 * sums, "{sums} is told as {}", found.trust.leaf_error);
}
