//! The hose model: worst loads against all matrices there are, results against all routings there are.

use netloom_model::rng::{below, stream};
use netloom_model::{Control, Csr, Fabric, Hose, LinkId, Routes, Table};
use netloom_optimize::{HoseProof, OptimizeError, OptimizeOptions, OptimizedHose, hose_loads, optimize_hose};
use netloom_routing::{Engine, loads};
use netloom_testkit::any_fabric;
use netloom_verify::{check, verify_certificate};

use crate::shared::Case;

fn solve(case: &Case, hose: &Hose, background: &Routes, work: u64) -> OptimizedHose {
    let options = OptimizeOptions { work: Some(work), ..OptimizeOptions::default() };
    solve_with(case, hose, background, &options).unwrap()
}

fn solve_with(
    case: &Case,
    hose: &Hose,
    background: &Routes,
    options: &OptimizeOptions,
) -> Result<OptimizedHose, OptimizeError> {
    let Case { fabric, structure, paths } = case;
    optimize_hose(fabric, structure, paths, hose, background, options, &Control::new())
}

/// Sums between 0 and `most`, whole numbers.
fn sums(hosts: usize, most: u64, seed: u64) -> Hose {
    let random = &mut stream(seed, 1);
    let mut draw = || (0..hosts).map(|_| below(random, most + 1) as f64).collect();
    Hose { sent: draw(), received: draw(), hosts_hash: None }
}

/// The most that any matrix of whole numbers within the sums puts on each link. With whole sums the extreme matrices
/// are whole (they are corners of a transportation problem), so these are all that count.
fn worst_by_enumeration(fabric: &Fabric, routes: &Routes, hose: &Hose) -> Vec<f64> {
    let n = fabric.host_count();
    let ways: Vec<Vec<LinkId>> = (0..n * n)
        .map(|p| {
            let one = netloom_testkit::matrix(n, &[((p / n) as u64, (p % n) as u64, 1.0)]);
            let load = loads(fabric, routes, &one).unwrap().load;
            fabric.links().filter(|l| load[l.index()] > 0.0).collect()
        })
        .collect();
    let mut worst = vec![0.0; fabric.link_count()];
    fn go(p: usize, n: usize, hose: &mut Hose, ways: &[Vec<LinkId>], load: &mut [f64], worst: &mut [f64]) {
        if p == n * n {
            worst.iter_mut().zip(load).for_each(|(w, l)| *w = w.max(*l));
            return;
        }
        let (i, j) = (p / n, p % n);
        let most = if i == j { 0.0 } else { hose.sent[i].min(hose.received[j]) };
        for amount in 0..=most as u64 {
            let b = amount as f64;
            hose.sent[i] -= b;
            hose.received[j] -= b;
            ways[p].iter().for_each(|l| load[l.index()] += b);
            go(p + 1, n, hose, ways, load, worst);
            ways[p].iter().for_each(|l| load[l.index()] -= b);
            hose.sent[i] += b;
            hose.received[j] += b;
        }
    }
    go(0, n, &mut hose.clone(), &ways, &mut vec![0.0; fabric.link_count()], &mut worst);
    (0..worst.len()).map(|l| worst[l] / fabric.relative_capacity(LinkId(l as u32))).collect()
}

#[test]
fn worst_loads_are_those_of_all_matrices() {
    for spec in
        ["two-level:leaves=3,hosts=2,spines=2", "xgft:m=2x2x1,w=1x2x2", "two-level:leaves=2,hosts=3,spines=2"]
    {
        let case = Case::generated(spec);
        for seed in 0..6 {
            let hose = sums(case.fabric.host_count(), if case.fabric.host_count() > 5 { 1 } else { 3 }, seed);
            let routes = case.routes_with(Engine::Random, seed, 0);
            let exact = worst_by_enumeration(&case.fabric, &routes, &hose);
            assert_eq!(
                hose_loads(&case.fabric, &routes, &hose, &Control::new()).unwrap().load,
                exact,
                "{spec} seed {seed}"
            );
        }
    }
}

/// Everything that must hold of a result.
fn assert_sound(case: &Case, hose: &Hose, found: &OptimizedHose) {
    let Case { fabric, structure, .. } = case;
    assert_eq!(found.worst, hose_loads(fabric, &found.routes, hose, &Control::new()).unwrap());
    assert!(found.switch_max_load <= found.background_worst * (1.0 + 1e-9));
    assert!(found.worst.max() >= found.lower_bound * (1.0 - 1e-9), "the bound is above the result");
    let within = |m: &Csr| {
        let of = Hose::of(m, None);
        let fits = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| *a <= b * (1.0 + 1e-9) + 1e-12);
        fits(&of.sent, &hose.sent) && fits(&of.received, &hose.received)
    };
    assert!(within(&found.worst_matrix) && found.scenarios.iter().all(within));
    // The worst matrix is as bad as is claimed, by the arithmetic of plain loads.
    let shown = loads(fabric, &found.routes, &found.worst_matrix).unwrap().max_between_switches(fabric);
    assert!(
        (shown - found.switch_max_load).abs() <= 1e-9 * (1.0 + shown),
        "{shown} {}",
        found.switch_max_load
    );
    if let HoseProof::Scenario(k, certificate) = &found.proof {
        let verdict =
            verify_certificate(fabric, structure, Some(&found.routes), &found.scenarios[*k], certificate);
        assert!(verdict.ok, "{:?}", verdict.reasons);
        assert_eq!(certificate.claim, found.lower_bound);
    }
    let report = check(fabric, structure, &found.routes);
    assert_eq!((report.non_minimal_pairs, report.up_down_violations, report.credit_loops), (0, 0, 0));
}

/// Twelve items, two ways each: all 4096 routings, each with its exact worst.
#[test]
fn results_and_bounds_are_either_side_of_the_optimum() {
    let case = Case::generated("two-level:leaves=3,hosts=2,spines=2");
    let Case { fabric, paths, .. } = &case;
    let start = case.routes(Engine::Dmodk);
    let items: Vec<_> = (paths.leaves().iter())
        .flat_map(|&leaf| {
            fabric.hosts().filter(move |&h| h.index() / 2 != leaf.index()).map(move |h| (leaf, h))
        })
        .filter(|&(leaf, h)| fabric.leaf(h) != leaf)
        .collect();
    assert_eq!(items.len(), 12);
    let (mut met, mut proven) = (0, 0);
    for seed in 0..8 {
        let hose = sums(6, 5, 100 + seed);
        let mut optimum = f64::INFINITY;
        let mut routes = start.clone();
        for choice in 0..1u32 << items.len() {
            let Table::ByDest(lft) = &mut routes.table else { panic!("by destination") };
            for (k, &(leaf, host)) in items.iter().enumerate() {
                let link = paths.links(leaf, fabric.leaf(host))[(choice >> k & 1) as usize];
                lft.set(leaf, fabric.dests(0).host(host, 0), Some(fabric.link_port(link)));
            }
            optimum = optimum.min(hose_loads(fabric, &routes, &hose, &Control::new()).unwrap().max());
        }
        let found = solve(&case, &hose, &start, 50_000);
        assert_sound(&case, &hose, &found);
        assert!(found.lower_bound <= optimum * (1.0 + 1e-9), "seed {seed}");
        assert!(found.worst.max() >= optimum * (1.0 - 1e-9), "seed {seed}");
        met += usize::from(found.worst.max() <= optimum * (1.0 + 1e-9));
        proven += usize::from(found.proven_optimal);
    }
    assert!(met >= 7, "the optimum is met in {met} of 8 cases");
    assert!(proven >= 4, "proved in {proven} of 8 cases");
}

/// Eight destinations elsewhere over two links: four on one of them, whatever the routes, and four hosts to send to
/// them. Three hosts that send could load a link with three only.
#[test]
fn a_leaf_cannot_keep_its_destinations_apart() {
    let case = Case::generated("two-level:leaves=3,hosts=4,spines=2");
    let background = case.routes(Engine::Dmodk);
    let mut hose = Hose { sent: vec![1.0; 12], received: vec![1.0; 12], hosts_hash: None };
    let found = solve(&case, &hose, &background, 1000);
    assert_eq!((found.worst.max(), found.lower_bound, found.proven_optimal), (4.0, 4.0, true));
    assert_eq!(found.bound_at, "leaf00 up");
    hose.sent[..4].fill(0.75);
    hose.sent[4..].fill(0.0);
    let found = solve(&case, &hose, &background, 1000);
    assert_eq!((found.worst.max(), found.lower_bound), (3.0, 3.0));
}

#[test]
fn any_fabric_gets_sound_routes_and_better_ones_somewhere() {
    let mut better = 0;
    for seed in 0..12 {
        let case = Case::new(any_fabric(seed));
        let hose = sums(case.fabric.host_count(), 3, seed);
        let background = case.routes(Engine::Updn);
        let found = solve(&case, &hose, &background, 5_000);
        assert_sound(&case, &hose, &found);
        better += usize::from(found.switch_max_load < found.background_worst * (1.0 - 1e-9));
    }
    assert!(better > 1, "{better}");
}

#[test]
fn the_same_input_gives_the_same_routes() {
    let case = Case::new(any_fabric(4));
    let hose = sums(case.fabric.host_count(), 3, 4);
    let background = case.routes(Engine::Updn);
    let [a, b] = [0, 1].map(|_| solve(&case, &hose, &background, 5_000));
    assert!(a.routes == b.routes && a.scenarios == b.scenarios);
}

#[test]
fn sums_of_other_hosts_and_nothing_at_all() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let background = case.routes(Engine::Dmodk);
    let found = solve(&case, &sums(4, 0, 0), &background, 100);
    assert_eq!((found.worst.max(), found.proven_optimal, found.rounds), (0.0, true, 0));
    let short = hose_loads(&case.fabric, &background, &sums(3, 1, 0), &Control::new()).unwrap_err();
    assert!(matches!(short, OptimizeError::Size { endpoints: 3, hosts: 4 }));
    let by_source = case.routes(Engine::Smodk);
    if matches!(by_source.table, Table::UpBySource { .. }) {
        let refused = hose_loads(&case.fabric, &by_source, &sums(4, 1, 0), &Control::new());
        assert_eq!(refused.unwrap_err(), OptimizeError::NotByDestination);
    }
}

/// Sums of 1e-99 leave 1e-115 when they are dealt out, less than traffic may be: this panicked.
#[test]
fn tiny_sums_are_dealt_out_too() {
    let case = Case::generated("two-level:leaves=3,hosts=3,spines=2");
    let background = case.routes(Engine::Dmodk);
    for seed in 0..20 {
        let mut hose = sums(9, 5, seed);
        hose.sent.iter_mut().chain(&mut hose.received).for_each(|s| *s *= 1.3e-99);
        assert_sound(&case, &hose, &solve(&case, &hose, &background, 1000));
    }
}

/// Host 0 may send and hear without limit, the others a byte each: what the others can do among themselves and to
/// host 0 was lost beside it.
#[test]
fn a_sum_without_limit_hides_no_others() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=1");
    let routes = case.routes(Engine::Dmodk);
    let sums = vec![1e20, 1.0, 1.0, 1.0];
    let hose = Hose { sent: sums.clone(), received: sums, hosts_hash: None };
    let worst = hose_loads(&case.fabric, &routes, &hose, &Control::new()).unwrap();
    let up = case.fabric.host_link(netloom_model::HostId(0));
    assert_eq!((worst.load[up.index()], worst.load[case.fabric.reverse(up).index()]), (3.0, 3.0));
}

/// Minhop's ways need not be up*/down*; without work, they came back as they were.
#[test]
fn a_background_that_is_not_admissible_is_made_so() {
    let mut repaired = 0;
    for seed in 0..300 {
        let case = Case::new(any_fabric(seed));
        let Case { fabric, paths, .. } = &case;
        let background = case.routes(Engine::Minhop);
        let lft = background.lft().unwrap();
        let admissible = |routes: &Routes| {
            fabric.switches().all(|s| {
                fabric.hosts().filter(|&h| fabric.leaf(h) != s).all(|h| {
                    let port = routes.lft().unwrap().get(s, fabric.dests(0).host(h, 0));
                    let link = port.and_then(|p| fabric.link_at(s, p));
                    link.is_none_or(|l| paths.links(s, fabric.leaf(h)).contains(&l))
                })
            })
        };
        if admissible(&background) {
            continue;
        }
        let hose = sums(fabric.host_count(), 3, seed);
        let change = netloom_optimize::Change { from: &background, penalty: 0.0, most: None, frozen: &[] };
        let options = OptimizeOptions { work: Some(0), change: Some(change), ..OptimizeOptions::default() };
        let Ok(found) = solve_with(&case, &hose, &background, &options) else { continue };
        assert!(admissible(&found.routes), "seed {seed}");
        assert_eq!(found.changed_entries, Some(lft.changed_entries(found.routes.lft().unwrap())));
        repaired += 1;
    }
    assert!(repaired >= 3, "{repaired} were not admissible");
}
