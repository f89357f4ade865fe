//! Routes that meet the bound stay as they are, a tail is improved where somebody asks for it, and the result says which it was.

use netloom_model::{Control, Csr};
use netloom_optimize::{Because, Combine, OptimizeOptions, Optimized, optimize_layers};
use netloom_routing::Engine;
use netloom_testkit::matrix;

use crate::shared::{Case, layers};

fn found(case: &Case, traffic: &Csr, engine: Engine, tail: bool) -> Optimized {
    let options = OptimizeOptions { tail, work: Some(20_000), ..OptimizeOptions::default() };
    case.optimize_with(traffic, &case.routes(engine), &options, &Control::new()).unwrap()
}

#[test]
fn what_meets_the_bound_stays_unless_its_tail_is_asked_for() {
    let case = Case::generated("two-level:leaves=3,hosts=4,spines=4");
    // A host's own link carries 40 in any case; random tables may put 30 of two other hosts on one link.
    let hosts = case.fabric.host_count();
    let traffic = matrix(hosts, &[(0, 8, 40.0), (4, 9, 15.0), (5, 10, 15.0), (6, 11, 15.0), (7, 8, 0.5)]);
    let start = case.routes(Engine::Random);
    let met = found(&case, &traffic, Engine::Random, false);
    assert!(met.proven_optimal);
    assert_eq!((met.changed_because, met.work), (Because::Nothing, 0));
    assert_eq!(met.routes, start);
    let tail = found(&case, &traffic, Engine::Random, true);
    assert!(tail.switch_max_load <= met.switch_max_load);
    let moved = tail.routes != start;
    assert_eq!(tail.changed_because, if moved { Because::Tail } else { Because::Nothing });
}

#[test]
fn what_is_above_the_bound_changes_because_of_it() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=4");
    let hosts = case.fabric.host_count();
    let traffic = matrix(hosts, &[(0, 4, 10.0), (1, 5, 10.0), (2, 6, 10.0), (3, 7, 10.0)]);
    let best = found(&case, &traffic, Engine::Random, false);
    let before = case.switch_max(&case.routes(Engine::Random), &traffic);
    assert!(before > best.switch_max_load, "three of four seeds share a link, this one too");
    assert_eq!(best.changed_because, Because::Bound);
    // Once more from there: nothing is left to do.
    let options = OptimizeOptions::default();
    let again = case.optimize_with(&traffic, &best.routes, &options, &Control::new()).unwrap();
    assert_eq!((again.changed_because, again.work, &again.routes), (Because::Nothing, 0, &best.routes));
}

#[test]
fn phases_that_meet_their_bounds_stay() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=4");
    let hosts = case.fabric.host_count();
    let phases = [matrix(hosts, &[(0, 4, 10.0)]), matrix(hosts, &[(1, 5, 10.0), (1, 6, 1.0)])];
    let (start, options, control) = (case.routes(Engine::Random), OptimizeOptions::default(), Control::new());
    let Case { fabric, structure, paths } = &case;
    let best =
        optimize_layers(fabric, structure, paths, &layers(&phases), Combine::Sum, &start, &options, &control);
    let best = best.unwrap();
    assert!(best.proven_optimal);
    assert_eq!((best.changed_because, best.work, &best.routes), (Because::Nothing, 0, &start));
}
