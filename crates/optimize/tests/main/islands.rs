//! Several cores: equal tables for any number of threads; and what a time limit leaves time for.

use std::sync::{Arc, Weak};

use netloom_model::rng::{below, stream};
use netloom_model::{Control, Csr, Fabric, Routes, StopReason, Table};
use netloom_optimize::{OptimizeOptions, Optimized};
use netloom_routing::Engine;
use netloom_testkit::{any_fabric, matrix};
use netloom_topology::generate;
use netloom_traffic::pattern;

use crate::shared::Case;

fn optimized(case: &Case, traffic: &Csr, options: &OptimizeOptions, control: &Control) -> Optimized {
    case.optimize_with(traffic, &case.routes(Engine::Random), options, control).unwrap()
}

/// Every host sends to six others, sizes of all kinds: hard to pack, so that all work is spent.
fn uneven(fabric: &Fabric) -> Csr {
    let (hosts, mut random) = (fabric.host_count() as u64, stream(5, 0));
    let mut draw = |most| below(&mut random, most);
    let entries: Vec<(u64, u64, f64)> =
        (0..6 * hosts).map(|k| (k / 6, draw(hosts), 1.0 + draw(1 << 40) as f64)).collect();
    matrix(hosts as usize, &entries)
}

fn table(routes: &Routes) -> &netloom_model::Lft {
    match &routes.table {
        Table::ByDest(lft) => lft,
        Table::UpBySource { .. } => panic!("the optimiser's tables are by destination"),
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let tree = generate("fattree:pods=4,leaves=4,hosts=6,spines=4,groups=2,cores=3").unwrap();
    let mut spent = 0;
    for fabric in [tree, any_fabric(4), any_fabric(11)] {
        let traffic = uneven(&fabric);
        let case = Case::new(fabric);
        for islands in [1, 3] {
            let run = |threads| {
                let options = OptimizeOptions {
                    threads,
                    islands,
                    work: Some(20_000),
                    depth: 0,
                    ..OptimizeOptions::default()
                };
                optimized(&case, &traffic, &options, &Control::new())
            };
            let one = run(1);
            spent += u32::from(one.work >= 20_000);
            for threads in [2, 4] {
                let more = run(threads);
                assert_eq!(table(&one.routes), table(&more.routes), "{islands} islands on {threads} threads");
                assert_eq!((one.work, &one.history), (more.work, &more.history));
            }
        }
    }
    assert!(spent >= 2, "{spent}: searches that end at once show nothing");
}

#[test]
fn islands_share_the_work_and_never_lose_the_best() {
    let case = Case::generated("fattree:pods=4,leaves=4,hosts=6,spines=4,groups=2,cores=3");
    let traffic = uneven(&case.fabric);
    let run = |work| {
        let options = OptimizeOptions {
            islands: 4,
            work: Some(work),
            depth: 0,
            tail: true,
            ..OptimizeOptions::default()
        };
        optimized(&case, &traffic, &options, &Control::new())
    };
    let (short, long) = (run(10_000), run(100_000));
    // A search under way when its share is spent is finished.
    assert!(short.work <= 20_000 && long.work <= 110_000, "{} {}", short.work, long.work);
    assert!(long.switch_max_load <= short.switch_max_load);
    for steps in [&short.history, &long.history] {
        assert!(steps.windows(2).all(|pair| pair[1].max_load <= pair[0].max_load * (1.0 + 1e-9)));
    }
}

/// Stops the search as soon as its first routing, today's, is known.
fn stopped_at_once(reason: StopReason) -> Arc<Control> {
    Arc::new_cyclic(|own: &Weak<Control>| {
        let own = own.clone();
        Control::observed(move |_| own.upgrade().into_iter().for_each(|control| control.stop(reason)))
    })
}

#[test]
fn a_time_limit_that_bounds_and_tables_ate_still_leaves_time_for_one_colouring() {
    let case = Case::generated("fattree:pods=4,leaves=4,hosts=4,spines=4,groups=4,cores=4");
    let traffic = pattern("permutation:seed=1", Some(64)).unwrap();
    let run = |control: &Control| optimized(&case, &traffic.total(), &OptimizeOptions::default(), control);
    // A permutation takes no link twice on a tree as wide as its hosts; random routes do.
    let late = run(&stopped_at_once(StopReason::TimeLimit));
    assert!(late.history[0].max_load > late.bound.claim && late.switch_max_load <= late.bound.claim);
    assert!((late.proven_optimal, late.reproducible()) == (true, false));
    // Whoever presses Ctrl-C wants no more.
    assert_eq!(run(&stopped_at_once(StopReason::Interrupted)).history.len(), 1);
    // Nor does a limit of nothing.
    let before = Control::new();
    before.stop(StopReason::TimeLimit);
    assert_eq!(run(&before).history.len(), 1);
}
