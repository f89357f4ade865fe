//! What is solved to the end before counters are refused.

use netloom_infer::operator::Pair;
use netloom_infer::tomography::{gravity, nearest};
use netloom_infer::{Counted, LaneScheme, Operator, Participants, Target};
use netloom_model::Control;
use netloom_model::rng::{normal, stream, unit};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::cases::ft2_32;
use netloom_topology::{detect, generate};

fn operator(spec: Option<&str>) -> Operator {
    let fabric = spec.map_or_else(ft2_32, |spec| generate(spec).unwrap());
    let routes = route(Engine::Updn, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let jobs = [Participants::one_a_host("all", fabric.hosts().collect())];
    Operator::new(&fabric, &routes, &LaneScheme::One, &jobs).unwrap()
}

/// One pair in five, by amounts over five orders of magnitude.
fn amounts(operator: &Operator, seed: u64) -> Vec<f64> {
    let of = |pair: Pair| {
        let mut draw = stream(seed, u64::from(pair.source) << 32 | u64::from(pair.destination));
        if unit(&mut draw) < 0.2 { (1e6 * (2.0 * normal(&mut draw)).exp()).round() } else { 0.0 }
    };
    operator.iter().map(of).collect()
}

/// The largest part of a row that is left.
fn left(operator: &Operator, target: &Target, x: &[f64]) -> f64 {
    let rows = operator.forward(x).into_iter().zip(&target.bytes);
    rows.filter(|(_, bytes)| **bytes > 0.0)
        .map(|(row, bytes)| (row - bytes).abs() / bytes)
        .fold(0.0, f64::max)
}

/// Solved as a matrix on the small tree, by conjugate gradients on the large one.
#[test]
fn what_traffic_leaves_is_explained_whatever_the_guess() {
    for spec in [None, Some("two-level:leaves=40,hosts=8,spines=8")] {
        let operator = operator(spec);
        let bytes = operator.forward(&amounts(&operator, 1));
        let counted = Counted::exactly(bytes);
        let (small, rows) = operator.restrict(&counted.possible(&operator, &Default::default())).compact();
        let target = Target::relative(&counted.of(&rows), &Default::default(), |_| true);
        let mut x = gravity(&small, &target, 30, &Control::new());
        assert!(left(&small, &target, &x) > 0.1);
        nearest(&small, &target, &mut x, &Default::default(), &Control::new());
        assert!(left(&small, &target, &x) < 1e-4, "{}", left(&small, &target, &x));
        assert!(x.iter().all(|&x| x >= 0.0));
    }
}

/// A link that carried twice what it can have: what is left proves that no traffic explains the counters. With prices
/// of what is left over bytes, no pair costs anything, and the counters cost something.
#[test]
fn what_nothing_explains_is_left_and_proved() {
    let operator = operator(None);
    let mut bytes = operator.forward(&amounts(&operator, 2));
    let ends = operator.ends();
    let row = (0..bytes.len()).find(|&row| !ends[row] && bytes[row] > 1e6).unwrap();
    bytes[row] *= 2.0;
    let target = Target::relative(&Counted::exactly(bytes), &Default::default(), |_| true);
    let mut x = gravity(&operator, &target, 30, &Control::new());
    nearest(&operator, &target, &mut x, &Default::default(), &Control::new());
    let rows = operator.forward(&x);
    let price =
        |r: usize| if target.bytes[r] > 0.0 { (target.bytes[r] - rows[r]) / target.bytes[r] } else { 0.0 };
    let prices: Vec<f64> = (0..rows.len()).map(price).collect();
    let worst = prices.iter().copied().fold(0.0, |worst: f64, price| worst.max(price.abs()));
    let keep = Counted::exactly(target.bytes.clone()).possible(&operator, &Default::default());
    let costs = operator.adjoint(&prices).into_iter().zip(keep).filter(|(_, keep)| *keep);
    assert!(costs.map(|(cost, _)| cost).fold(f64::MIN, f64::max) < 1e-3 * worst);
    assert!(prices.iter().zip(&target.bytes).map(|(price, bytes)| price * bytes).sum::<f64>() > 0.0);
    assert!(worst > 0.01, "{worst}");
}
