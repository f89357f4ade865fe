//! Any input gives sound routes, repeatably and whenever stopped; what does not fit is refused.

use netloom_model::{Control, Csr, Routes, StopReason, Table};
use netloom_optimize::{OptimizeError, OptimizeOptions, Stop};
use netloom_routing::{Engine, loads};
use netloom_testkit::{any_fabric, broken_fabric, matrix, random_matrix};
use netloom_topology::{Damage, damage, generate};
use netloom_verify::check;

use crate::shared::Case;

#[test]
fn any_fabric_and_traffic_gives_sound_routes() {
    for seed in 0..150 {
        let fabric = if seed % 3 == 0 { broken_fabric(seed) } else { any_fabric(seed) };
        let traffic = random_matrix(&fabric, seed);
        let case = Case::new(fabric);
        let background = case.routes(if seed % 2 == 0 { Engine::Dmodk } else { Engine::Updn });
        let options = OptimizeOptions { seed, work: Some(3_000), ..OptimizeOptions::default() };
        match case.optimize_with(&traffic, &background, &options, &Control::new()) {
            Ok(result) => case.assert_sound(&traffic, &background, &result),
            Err(OptimizeError::Unreachable { .. } | OptimizeError::Bound(_)) => {
                // Then no up*/down* tables deliver it.
                let updn = case.routes(Engine::Dmodk);
                assert!(loads(&case.fabric, &updn, &traffic).is_err(), "seed {seed}");
            }
            Err(e) => panic!("seed {seed}: {e}"),
        }
    }
}

#[test]
fn a_minhop_background_is_made_admissible() {
    // Shortest paths of minhop need not be up*/down*; whatever they are, the result is.
    for seed in 0..40 {
        let case = Case::new(any_fabric(seed));
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let traffic = random_matrix(&case.fabric, seed);
        let result = case.optimize(&traffic, &case.routes(Engine::Minhop), 2_000);
        case.assert_admissible(&result.routes);
        let report = check(&case.fabric, &case.structure, &result.routes);
        assert_eq!((report.unreachable_pairs, report.credit_loops, report.up_down_violations), (0, 0, 0));
    }
}

#[test]
fn damaged_trees_are_optimised_too() {
    let whole = generate("fattree:pods=4,leaves=4,hosts=4,spines=4,groups=2,cores=4").unwrap();
    for seed in 0..6 {
        let what = Damage { random_links: 10, random_switches: 1, ..Damage::default() };
        let case = Case::new(damage(&whole, &what, seed).unwrap().fabric);
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let traffic = random_matrix(&case.fabric, seed);
        let background = case.routes(Engine::Random);
        if loads(&case.fabric, &background, &traffic).is_ok() {
            let result = case.optimize(&traffic, &background, 20_000);
            case.assert_sound(&traffic, &background, &result);
        }
    }
}

#[test]
fn results_do_not_depend_on_threads_and_repeat() {
    let case = Case::generated("fattree:pods=3,leaves=4,hosts=4,spines=4,groups=2,cores=3");
    let traffic = random_matrix(&case.fabric, 11);
    let background = case.routes(Engine::Random);
    let run = |threads| {
        let options = OptimizeOptions { seed: 5, threads, work: Some(20_000), ..OptimizeOptions::default() };
        case.optimize_with(&traffic, &background, &options, &Control::new()).unwrap()
    };
    let (one, four) = (run(1), run(4));
    assert_eq!(one.routes, four.routes);
    assert_eq!((one.work, &one.history), (four.work, &four.history));
    assert!(one.reproducible());
}

#[test]
fn a_stop_returns_a_valid_routing_and_its_reason() {
    let case = Case::generated("fattree:pods=3,leaves=4,hosts=4,spines=4,groups=2,cores=3");
    let traffic = random_matrix(&case.fabric, 11);
    let background = case.routes(Engine::Random);
    let control = Control::new();
    control.stop(StopReason::Interrupted);
    let result = case.optimize_with(&traffic, &background, &OptimizeOptions::default(), &control).unwrap();
    assert_eq!((result.stop, result.reproducible()), (Some(Stop::Interrupted), false));
    case.assert_sound(&traffic, &background, &result);
}

#[test]
fn what_is_reported_is_what_the_tables_do_to_the_last_bit() {
    // Tenths do not add up exactly, so the search's sums, in another order, differ in their last bits.
    let case = Case::generated("two-level:leaves=4,hosts=4,spines=2");
    let tenths = |i: u64, j: u64| (i, j, 0.1 * (1 + (7 * i + 3 * j) % 10) as f64);
    let entries: Vec<_> =
        (0..16).flat_map(|i| (0..16).filter(move |&j| j != i).map(move |j| tenths(i, j))).collect();
    let traffic = matrix(16, &entries);
    let background = case.routes(Engine::Random);
    let result = case.optimize(&traffic, &background, 2_000);
    case.assert_sound(&traffic, &background, &result);
    assert_eq!(result.switch_max_load, case.switch_max(&result.routes, &traffic));
}

#[test]
fn no_traffic_is_fine() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let background = case.routes(Engine::Dmodk);
    let result = case.optimize(&Csr::empty(4), &background, 100);
    assert_eq!((result.switch_max_load, result.proven_optimal), (0.0, true));
    assert_eq!(result.routes.lft(), background.lft());
}

#[test]
fn what_does_not_fit_is_refused() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let background = case.routes(Engine::Dmodk);
    let options = OptimizeOptions::default();
    let refused = |traffic: &Csr, routes: &Routes| {
        case.optimize_with(traffic, routes, &options, &Control::new()).unwrap_err()
    };
    assert!(matches!(refused(&Csr::empty(5), &background), OptimizeError::Size { endpoints: 5, hosts: 4 }));
    let by_source = case.routes(Engine::Smodk);
    if matches!(by_source.table, Table::UpBySource { .. }) {
        assert_eq!(refused(&Csr::empty(4), &by_source), OptimizeError::NotByDestination);
    }
    let other = Case::generated("two-level:leaves=2,hosts=2,spines=3").routes(Engine::Dmodk);
    assert!(matches!(refused(&Csr::empty(4), &other), OptimizeError::Shape { .. }));
}
