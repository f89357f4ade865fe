//! Several matrices over one routing: what phases ask for at different times must not be added up.

use netloom_model::{Control, Csr};
use netloom_optimize::{Combine, Layer, OptimizeError, OptimizeOptions, OptimizedLayers, optimize_layers};
use netloom_routing::{Engine, loads};
use netloom_testkit::matrix;

use crate::shared::{Case, layers};

fn run(case: &Case, layers: &[Layer], combine: Combine) -> Result<OptimizedLayers, OptimizeError> {
    let Case { fabric, structure, paths } = case;
    let (today, control) = (case.routes(Engine::Minhop), Control::new());
    let options = OptimizeOptions { work: Some(100_000), ..OptimizeOptions::default() };
    optimize_layers(fabric, structure, paths, layers, combine, &today, &options, &control)
}

fn solve(case: &Case, matrices: &[Csr], combine: Combine) -> OptimizedLayers {
    run(case, &layers(matrices), combine).unwrap()
}

/// Two leaves of four hosts, two spines. Phase 1: hosts 0, 1 send 1 each; phase 2: hosts 2, 3 send 3 each. In
/// every phase the two flows must take different spines: 1 + 3 = 4. Added up (1, 1, 3, 3) the flows of one
/// phase could share a spine only at a cost too, but {1, 3} and {1, 3} is as good as any: the sum cannot tell
/// 0-and-2 from 0-and-3, the phases don't care; what they rule out is {1, 1} beside {3, 3}.
#[test]
fn every_phase_meets_its_own_bound() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    let phases = [matrix(8, &[(0, 4, 1.0), (1, 5, 1.0)]), matrix(8, &[(2, 6, 3.0), (3, 7, 3.0)])];
    let result = solve(&case, &phases, Combine::Sum);
    let maxima: Vec<f64> = result.layers.iter().map(|l| l.loads.max()).collect();
    assert_eq!(maxima, [1.0, 3.0]);
    assert_eq!((result.objective, result.objective_bound), (4.0, 4.0));
    assert!(result.proven_optimal);
}

/// One destination that hears from one leaf in both phases has one way in both; the rest follows.
#[test]
fn items_shared_by_phases_take_one_way() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    // Host 4 is sent to in both phases; beside it host 5 in the first, host 6 in the second.
    let phases = [matrix(8, &[(0, 4, 2.0), (1, 5, 2.0)]), matrix(8, &[(0, 4, 2.0), (1, 6, 2.0)])];
    for combine in [Combine::Sum, Combine::Worst, Combine::WorstGap, Combine::MeanGap] {
        let result = solve(&case, &phases, combine);
        assert!(result.layers.iter().all(|l| l.loads.max() == 2.0), "{combine:?}");
        for (layer, matrix) in result.layers.iter().zip(&phases) {
            assert_eq!(layer.loads.load, loads(&case.fabric, &result.routes, matrix).unwrap().load);
        }
    }
}

/// The cyclic stencil (Taffet, dissertation, sec. 5.3) on quartz1: six phases, each at its own bound, from routes
/// that are bad for all of them.
#[test]
fn the_cyclic_stencil_has_every_phase_at_its_bound() {
    let case = Case::generated("quartz1");
    let phases: Vec<Csr> = ["+x", "-x", "+y", "-y", "+z", "-z"]
        .iter()
        .map(|axis| {
            let spec = format!("stencil:16x16x12,periodic,axis={axis}");
            netloom_traffic::pattern(&spec, Some(3072)).unwrap().total().into_owned()
        })
        .collect();
    let result = solve(&case, &phases, Combine::Sum);
    // x stays on the leaf (2 MB a host link: 1 unit), y sends 16 flows over 16 uplinks, z 32 over 16.
    let bounds: Vec<f64> = result.layers.iter().map(|l| l.bound.claim).collect();
    assert_eq!(bounds, [1.0, 1.0, 1.0, 1.0, 2.0, 2.0]);
    assert!(result.objective <= 8.0 * 1.01, "{}", result.objective);
}

#[test]
fn one_layer_is_plain_optimisation() {
    let case = Case::generated("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4");
    let traffic =
        netloom_traffic::pattern("bisection-shuffle:seed=3", Some(32)).unwrap().total().into_owned();
    let options = OptimizeOptions { work: Some(100_000), ..OptimizeOptions::default() };
    let plain =
        case.optimize_with(&traffic, &case.routes(Engine::Minhop), &options, &Control::new()).unwrap();
    let layered = solve(&case, std::slice::from_ref(&traffic), Combine::Worst);
    assert_eq!(plain.loads.max(), layered.objective);
    assert!(layered.proven_optimal);
}

#[test]
fn no_layer_and_layers_of_another_size_are_refused() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    let refused = |layers: &[Layer]| run(&case, layers, Combine::Sum).unwrap_err();
    assert_eq!(refused(&[]), OptimizeError::NoLayers);
    let small = matrix(4, &[(0, 1, 1.0)]);
    let layer = Layer { name: String::new(), matrix: &small, weight: 1.0 };
    assert_eq!(refused(&[layer]), OptimizeError::Size { endpoints: 4, hosts: 8 });
}
