//! Several matrices over one routing: what phases ask for at different times must not be added up.

use netloom_model::{Control, Csr, Fabric, Traffic};
use netloom_optimize::{Combine, Layer, OptimizeError, OptimizeOptions, optimize, optimize_layers};
use netloom_routing::{Engine, EngineOptions, PathSet, loads, route};
use netloom_topology::{detect, generate};

fn csr(hosts: u32, pairs: &[(u64, u64, f64)]) -> Csr {
    let (i, (j, b)): (Vec<u64>, (Vec<u64>, Vec<f64>)) = pairs.iter().map(|&(i, j, b)| (i, (j, b))).unzip();
    Traffic::from_triples(hosts, &i, &j, &b, None).unwrap().total().into_owned()
}

fn solve(fabric: &Fabric, matrices: &[Csr], combine: Combine) -> netloom_optimize::OptimizedLayers {
    let structure = detect(fabric);
    let paths = PathSet::admissible(fabric, &structure);
    let today = route(Engine::Minhop, fabric, &structure, &EngineOptions::default()).unwrap();
    let layers: Vec<Layer> =
        matrices.iter().map(|matrix| Layer { name: "phase".into(), matrix, weight: 1.0 }).collect();
    let options = OptimizeOptions { work: Some(100_000), ..OptimizeOptions::default() };
    optimize_layers(fabric, &structure, &paths, &layers, combine, &today, &options, &Control::new()).unwrap()
}

/// Two leaves of four hosts, two spines. Phase 1: hosts 0, 1 send 1 each; phase 2: hosts 2, 3 send 3 each. In
/// every phase the two flows must take different spines: 1 + 3 = 4. Added up (1, 1, 3, 3) the flows of one
/// phase could share a spine only at a cost too, but {1, 3} and {1, 3} is as good as any: the sum cannot tell
/// 0-and-2 from 0-and-3, the phases don't care; what they rule out is {1, 1} beside {3, 3}.
#[test]
fn every_phase_meets_its_own_bound() {
    let fabric = generate("two-level:leaves=2,hosts=4,spines=2").unwrap();
    let phases = [csr(8, &[(0, 4, 1.0), (1, 5, 1.0)]), csr(8, &[(2, 6, 3.0), (3, 7, 3.0)])];
    let result = solve(&fabric, &phases, Combine::Sum);
    let maxima: Vec<f64> = result.layers.iter().map(|l| l.loads.max()).collect();
    assert_eq!(maxima, [1.0, 3.0]);
    assert_eq!((result.objective, result.objective_bound), (4.0, 4.0));
    assert!(result.proven_optimal);
}

/// One destination that hears from one leaf in both phases has one way in both; the rest follows.
#[test]
fn items_shared_by_phases_take_one_way() {
    let fabric = generate("two-level:leaves=2,hosts=4,spines=2").unwrap();
    // Host 4 is sent to in both phases; beside it host 5 in the first, host 6 in the second.
    let phases = [csr(8, &[(0, 4, 2.0), (1, 5, 2.0)]), csr(8, &[(0, 4, 2.0), (1, 6, 2.0)])];
    for combine in [Combine::Sum, Combine::Worst, Combine::WorstGap, Combine::MeanGap] {
        let result = solve(&fabric, &phases, combine);
        assert!(result.layers.iter().all(|l| l.loads.max() == 2.0), "{combine:?}");
        for (layer, matrix) in result.layers.iter().zip(&phases) {
            assert_eq!(layer.loads.load, loads(&fabric, &result.routes, matrix).unwrap().load);
        }
    }
}

/// The cyclic stencil (Taffet, dissertation, sec. 5.3) on quartz1: six phases, each at its own bound, from routes
/// that are bad for all of them.
#[test]
fn the_cyclic_stencil_has_every_phase_at_its_bound() {
    let fabric = generate("quartz1").unwrap();
    let phases: Vec<Csr> = ["+x", "-x", "+y", "-y", "+z", "-z"]
        .iter()
        .map(|axis| {
            let spec = format!("stencil:16x16x12,periodic,axis={axis}");
            netloom_traffic::pattern(&spec, Some(3072)).unwrap().total().into_owned()
        })
        .collect();
    let result = solve(&fabric, &phases, Combine::Sum);
    // x stays on the leaf (2 MB a host link: 1 unit), y sends 16 flows over 16 uplinks, z 32 over 16.
    let bounds: Vec<f64> = result.layers.iter().map(|l| l.bound.claim).collect();
    assert_eq!(bounds, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
    assert!(result.objective <= 8.0 * 1.01, "{}", result.objective);
}

#[test]
fn one_layer_is_plain_optimisation() {
    let fabric = generate("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let today = route(Engine::Minhop, &fabric, &structure, &EngineOptions::default()).unwrap();
    let traffic =
        netloom_traffic::pattern("bisection-shuffle:seed=3", Some(32)).unwrap().total().into_owned();
    let options = OptimizeOptions { work: Some(100_000), ..OptimizeOptions::default() };
    let plain = optimize(&fabric, &structure, &paths, &traffic, &today, &options, &Control::new()).unwrap();
    let layered = solve(&fabric, std::slice::from_ref(&traffic), Combine::Worst);
    assert_eq!(plain.loads.max(), layered.objective);
    assert!(layered.proven_optimal);
}

#[test]
fn no_layer_and_layers_of_another_size_are_refused() {
    let fabric = generate("two-level:leaves=2,hosts=4,spines=2").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let today = route(Engine::Minhop, &fabric, &structure, &EngineOptions::default()).unwrap();
    let run = |layers: &[Layer]| {
        let options = OptimizeOptions::default();
        let (combine, control) = (Combine::Sum, Control::new());
        optimize_layers(&fabric, &structure, &paths, layers, combine, &today, &options, &control).unwrap_err()
    };
    assert_eq!(run(&[]), OptimizeError::NoLayers);
    let small = csr(4, &[(0, 1, 1.0)]);
    let layer = Layer { name: String::new(), matrix: &small, weight: 1.0 };
    assert_eq!(run(&[layer]), OptimizeError::Size { endpoints: 4, hosts: 8 });
}
