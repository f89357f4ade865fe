//! Small fabrics against exhaustive search over all tables, and larger ones whose optimum is known.

use netloom_model::{Csr, Fabric, HostId};
use netloom_routing::Engine;
use netloom_testkit::{any_fabric, matrix, perfect_fabric};
use netloom_topology::{Damage, damage, generate};
use netloom_verify::check;

use crate::shared::{Case, all_ways};

/// The least maximum load over all tables, by trying all; `None` if there are too many.
fn exhaustive(case: &Case, traffic: &Csr) -> Option<f64> {
    let fabric = &case.fabric;
    let all = all_ways(case, traffic, 3000, 2e5)?;
    let mut base = vec![0.0; fabric.link_count()];
    for (i, j, b) in traffic.iter().filter(|&(i, j, _)| i != j) {
        base[fabric.host_link(HostId(i)).index()] += b;
        base[fabric.reverse(fabric.host_link(HostId(j))).index()] += b;
    }
    let mut best = f64::INFINITY;
    combine(fabric, &all, base, &mut best);
    Some(best)
}

fn combine(fabric: &Fabric, rest: &[Vec<Vec<f64>>], base: Vec<f64>, best: &mut f64) {
    let max = fabric.links().map(|l| base[l.index()] / fabric.relative_capacity(l)).fold(0.0, f64::max);
    if max >= *best {
        return;
    }
    let Some((first, rest)) = rest.split_first() else {
        *best = max;
        return;
    };
    for way in first {
        combine(fabric, rest, base.iter().zip(way).map(|(a, b)| a + b).collect(), best);
    }
}

#[test]
fn small_fabrics_reach_the_exhaustive_optimum() {
    let (mut compared, mut equal) = (0, 0);
    for seed in 0..400 {
        let fabric = if seed % 2 == 0 { perfect_fabric(seed) } else { any_fabric(seed) };
        let traffic = sparse(&fabric, seed);
        let case = Case::new(fabric);
        let Some(optimum) = exhaustive(&case, &traffic) else { continue };
        let background = case.routes(Engine::Random);
        let result = case.optimize(&traffic, &background, 20_000);
        case.assert_sound(&traffic, &background, &result);
        let max = result.loads.load.iter().copied().fold(0.0, f64::max);
        assert!(max >= optimum * (1.0 - 1e-9), "seed {seed}: {max} is below the optimum {optimum}");
        // A proof is never wrong.
        assert!(
            !result.proven_optimal || max <= optimum * (1.0 + 1e-9),
            "seed {seed}: proved {max} over {optimum}"
        );
        compared += 1;
        equal += u32::from(max <= optimum * (1.0 + 1e-9));
    }
    assert!(compared > 100, "only {compared} cases were small enough");
    assert!(equal * 100 >= compared * 98, "{equal} of {compared} reach the optimum");
}

/// A handful of flows, so that all tables can be tried.
fn sparse(fabric: &Fabric, seed: u64) -> Csr {
    use netloom_model::rng::{below, stream};
    let n = fabric.host_count() as u64;
    let mut random = stream(seed, 5);
    let entries: Vec<_> = (0..2 + below(&mut random, 5))
        .map(|_| (below(&mut random, n), below(&mut random, n), 1.0 + below(&mut random, 6) as f64))
        .collect();
    matrix(n as usize, &entries)
}

#[test]
fn synthetic_patterns_on_quartz1_are_optimal() {
    // Table 3.2: AR gap 0 for all of these; the optimiser proves it.
    let case = Case::generated("quartz1");
    let background = case.routes(Engine::Dmodk);
    for spec in ["stencil:16x16x12", "bisection", "bisection-shuffle:seed=1"] {
        let traffic = netloom_traffic::pattern(spec, Some(3072)).unwrap();
        let result = case.optimize(&traffic.total(), &background, 300_000);
        assert!(result.proven_optimal, "{spec}: {} over {}", result.switch_max_load, result.bound.claim);
        let ar = result.ar.as_ref().unwrap();
        assert!((result.loads.max() / ar.lower - 1.0).abs() < 1e-9);
    }
    let traffic = netloom_traffic::pattern("bisection-shuffle:seed=1", Some(3072)).unwrap();
    let result = case.optimize(&traffic.total(), &background, 300_000);
    let report = check(&case.fabric, &case.structure, &result.routes);
    assert!(report.ok(), "{:?}", report.findings);
}

#[test]
fn all_to_all_needs_one_tree_a_destination() {
    // 4 pods of 4 leaves of 4 hosts, 4 spines a pod, 2 groups of 4 cores: each of a leaf's 4 uplinks carries a quarter
    // of what its 4 hosts send to the 60 others: 60.
    let case = Case::generated("fattree:pods=4,leaves=4,hosts=4,spines=4,groups=2,cores=4");
    let n = case.fabric.host_count() as u64;
    let entries: Vec<_> = (0..n * n).map(|e| (e / n, e % n, 1.0)).filter(|e| e.0 != e.1).collect();
    let result = case.optimize(&matrix(64, &entries), &case.routes(Engine::Random), 50_000);
    assert!(result.proven_optimal);
    assert_eq!(result.switch_max_load, 60.0);
}

#[test]
fn odd_shapes_come_near_their_bound() {
    // What is not a plain three-level tree: no engine's routes are better, and every pair of hosts has its way.
    let shapes = [
        "two-level:leaves=6,hosts=6,spines=3",
        "two-level:leaves=6,hosts=6,spines=2,cables=3",
        "fattree:pods=3,leaves=3,hosts=6,spines=2,groups=1,cores=2,leaf-cables=2,core-cables=2",
        "xgft:m=4x2x2x2,w=1x2x2x2",
    ];
    for (spec, seed) in shapes.iter().flat_map(|s| (0..4).map(move |seed| (s, seed))) {
        let whole = generate(spec).unwrap();
        // Every other one has lost two cables.
        let what = Damage { random_links: 2 * (seed as usize % 2), ..Damage::default() };
        let case = Case::new(damage(&whole, &what, seed).unwrap().fabric);
        if case.structure.pairs_without_route > 0 {
            continue;
        }
        let n = case.fabric.host_count() as u64;
        let entries: Vec<_> = (0..n)
            .flat_map(|i| (1..6).map(move |k| (i, (i + k * (k + 3 + seed)) % n, (1 + (i + k) % 4) as f64)))
            .filter(|e| e.0 != e.1)
            .collect();
        let traffic = matrix(n as usize, &entries);
        let background = case.routes(Engine::Random);
        let result = case.optimize(&traffic, &background, 20_000);
        case.assert_sound(&traffic, &background, &result);
        for engine in [Engine::Dmodk, Engine::Updn] {
            let other = case.switch_max(&case.routes(engine), &traffic);
            assert!(
                result.switch_max_load <= other * (1.0 + 1e-9),
                "{spec}, seed {seed}: {engine} is better"
            );
        }
        // Items of up to four bytes on links of some tens: rounding costs a few of them.
        let gap = result.switch_max_load / result.switch_bound - 1.0;
        assert!(gap <= 0.1, "{spec}, seed {seed}: {gap} above the bound");
    }
}
