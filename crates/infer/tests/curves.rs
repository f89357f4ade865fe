//! Ranks along space-filling curves through grids of any sides.

use netloom_infer::operator::Pair;
use netloom_infer::{
    Counted, Estimate, Grid, LaneScheme, Operator, Order, Participants, Settings, Verdict, errors, estimate,
    traffic,
};
use netloom_model::{Control, Fabric, HostId, Routes};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_topology::{detect, generate};

fn quartz1() -> (Fabric, Routes) {
    let fabric = generate("quartz1").unwrap();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    (fabric, routes)
}

/// BoxLib's CNS: a 27-point stencil on a torus, faces, edges and corners by 100, 10 and 1, on consecutive hosts from number 10, one lane. The
/// answer, and its errors of pairs and of leaf sums.
fn torus((fabric, routes): &(Fabric, Routes), grid: Grid) -> (Estimate, [f64; 2]) {
    let places = grid.places();
    let hosts = (10..10 + grid.ranks()).map(HostId).collect();
    let jobs = [Participants::one_a_host("cns", hosts)];
    let operator = Operator::new(fabric, routes, &LaneScheme::One, &jobs).unwrap();
    let apart = |a: u32, b: u32, side: u32| a.abs_diff(b).min(side - a.abs_diff(b));
    let bytes = |pair: Pair| {
        let (from, to) = (places[pair.source as usize], places[pair.destination as usize]);
        let steps = [0, 1, 2].map(|i| apart(from[i], to[i], grid.sides[i]));
        let near = steps.iter().all(|&step| step <= 1);
        if near { [0.0, 1e8, 1e7, 1e6][steps.iter().sum::<u32>() as usize] } else { 0.0 }
    };
    let truth: Vec<f64> = operator.iter().map(bytes).collect();
    let counted = Counted::exactly(operator.forward(&truth));
    let found = estimate(&operator, &jobs, &counted, &[], &Settings::default(), &Control::new());
    let over_hosts = |bytes: &[f64]| traffic(fabric, &operator, &jobs, bytes);
    let off = errors(fabric, &over_hosts(&found.bytes), &over_hosts(&truth)).unwrap();
    (found, [off.pairs, off.leaf_sums])
}

fn is_found(field: &(Fabric, Routes), sides: [u32; 3], order: Order) {
    let grid = Grid { sides, order };
    let (found, [pairs, sums]) = torus(field, grid);
    assert!(pairs < 1e-3 && sums < 1e-3, "{grid}: pairs {pairs}, sums {sums}");
    assert_eq!(found.trust.verdict, Verdict::Identified, "{grid}: {}", found.trust.leaf_error);
}

#[test]
fn ranks_along_a_curve_through_any_sides_are_found() {
    let field = quartz1();
    is_found(&field, [6, 4, 9], Order::Morton);
    is_found(&field, [6, 5, 4], Order::Hilbert);
}

/// Asked of inference: 512, 216, 1,000 and 6 x 4 x 9 ranks in Morton order.
#[test]
fn hostile_curves_through_large_grids() {
    if std::env::var_os("NETLOOM_TRIALS").is_none() {
        return;
    }
    let field = quartz1();
    for sides in [[8, 8, 8], [6, 6, 6], [10, 10, 10], [6, 4, 9]] {
        is_found(&field, sides, Order::Morton);
    }
}
