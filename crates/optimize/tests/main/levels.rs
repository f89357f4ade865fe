//! Below the maximum: levels of load against exhaustive search, and what a stated depth promises.

use std::cmp::Ordering;

use netloom_model::{Control, Csr, Fabric, HostId, Routes, Source, rng};
use netloom_optimize::{Combine, OptimizeOptions, Optimized, OptimizedLayers, optimize_layers};
use netloom_routing::{Engine, loads};
use netloom_testkit::{any_fabric, matrix, perfect_fabric};
use netloom_traffic::ResolvedJob;

use crate::shared::{Case, all_ways, layers};

type Levels = Vec<(f64, usize)>;

fn optimize(case: &Case, traffic: &Csr, depth: usize, work: u64) -> Optimized {
    let options =
        OptimizeOptions { seed: 1, work: Some(work), depth, tail: true, ..OptimizeOptions::default() };
    case.optimize_with(traffic, &case.routes(Engine::Random), &options, &Control::new()).unwrap()
}

fn optimize_phases(case: &Case, phases: &[Csr], combine: Combine, work: u64) -> OptimizedLayers {
    let Case { fabric, structure, paths } = case;
    let (background, control) = (case.routes(Engine::Random), Control::new());
    let options = OptimizeOptions { work: Some(work), tail: true, ..OptimizeOptions::default() };
    optimize_layers(fabric, structure, paths, &layers(phases), combine, &background, &options, &control)
        .unwrap()
}

/// Of tables, by the routing crate's arithmetic.
fn levels(case: &Case, routes: &Routes, traffic: &Csr, count: usize) -> Levels {
    levels_of(&case.fabric, &loads(&case.fabric, routes, traffic).unwrap().load, count)
}

fn levels_of(fabric: &Fabric, load: &[f64], count: usize) -> Levels {
    let between = fabric.links().filter(|&l| fabric.between_switches(l));
    let mut falling: Vec<f64> = between.map(|l| load[l.index()]).filter(|&l| l > 0.0).collect();
    falling.sort_by(|a, b| b.total_cmp(a));
    let runs = falling.chunk_by(|a, b| *b >= *a * (1.0 - 1e-9));
    runs.take(count).map(|run| (run[0], run.len())).collect()
}

fn compare(a: &Levels, b: &Levels) -> Ordering {
    for k in 0..a.len().max(b.len()) {
        let ((x, m), (y, n)) = (a.get(k).unwrap_or(&(0.0, 0)), b.get(k).unwrap_or(&(0.0, 0)));
        let loads = if (x - y).abs() <= 1e-9 * x.max(*y) { Ordering::Equal } else { x.total_cmp(y) };
        if loads.then(m.cmp(n)) != Ordering::Equal {
            return loads.then(m.cmp(n));
        }
    }
    Ordering::Equal
}

/// The least levels over all tables, by trying all; `None` if there are too many.
fn exhaustive(case: &Case, traffic: &Csr, count: usize) -> Option<Levels> {
    let fabric = &case.fabric;
    let mut all = all_ways(case, traffic, 1000, 3e4)?;
    for way in all.iter_mut().flatten() {
        fabric.links().for_each(|l| way[l.index()] /= fabric.relative_capacity(l));
    }
    let mut best: Option<Levels> = None;
    combine(fabric, &all, vec![0.0; fabric.link_count()], count, &mut best);
    best
}

fn combine(fabric: &Fabric, rest: &[Vec<Vec<f64>>], load: Vec<f64>, count: usize, best: &mut Option<Levels>) {
    if let Some(best) = best {
        let max = load.iter().copied().fold(0.0, f64::max);
        if best.first().is_some_and(|b| max > b.0 * (1.0 + 1e-9)) {
            return;
        }
    }
    let Some((first, rest)) = rest.split_first() else {
        let levels = levels_of(fabric, &load, count);
        if best.as_ref().is_none_or(|b| compare(&levels, b) == Ordering::Less) {
            *best = Some(levels);
        }
        return;
    };
    for way in first {
        combine(fabric, rest, load.iter().zip(way).map(|(a, b)| a + b).collect(), count, best);
    }
}

/// A dozen flows of few sizes, so that levels hold several links and all tables can be tried.
fn flows(fabric: &Fabric, seed: u64) -> Csr {
    let n = fabric.host_count() as u64;
    let mut random = rng::stream(seed, 6);
    let count = 3 + rng::below(&mut random, 10);
    let mut host = || rng::below(&mut random, n);
    let ends: Vec<(u64, u64)> = (0..count).map(|_| (host(), host())).collect();
    let mut entries = Vec::new();
    for (i, j) in ends.into_iter().filter(|(i, j)| i != j) {
        entries.push((i, j, 1.0 + rng::below(&mut random, 3) as f64));
    }
    matrix(n as usize, &entries)
}

#[test]
fn small_fabrics_reach_the_least_levels_of_all_tables() {
    let (mut compared, mut equal, mut deeper) = (0, 0, 0);
    for seed in 0..400 {
        let case = Case::new(if seed % 2 == 0 { perfect_fabric(seed) } else { any_fabric(seed) });
        let traffic = flows(&case.fabric, seed);
        let Some(least) = exhaustive(&case, &traffic, 4) else { continue };
        if least.len() < 2 {
            continue;
        }
        let ours = levels(&case, &optimize(&case, &traffic, 3, 20_000).routes, &traffic, 4);
        assert_ne!(compare(&ours, &least), Ordering::Less, "seed {seed}: {ours:?} is below {least:?}");
        compared += 1;
        equal += u32::from(compare(&ours, &least) == Ordering::Equal);
        let plain = levels(&case, &optimize(&case, &traffic, 0, 20_000).routes, &traffic, 4);
        deeper += u32::from(compare(&plain, &least) != Ordering::Equal);
    }
    assert!(compared >= 100, "only {compared} cases were small enough");
    assert!(equal * 100 >= compared * 98, "{equal} of {compared} have the least levels");
    assert!(deeper > 20, "the search for the maximum alone leaves others: {deeper} of {compared}");
}

/// Flows of 4, 2, 1 and 1 over three links: 4 has one of its own. The others make 4 on one of the two left, 3 and 1, or
/// 2 on both; once up and once down.
#[test]
fn what_the_maximum_leaves_open_is_spread() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=3");
    let traffic = matrix(8, &[(0, 4, 4.0), (1, 5, 2.0), (2, 6, 1.0), (3, 7, 1.0)]);
    let found = optimize(&case, &traffic, 1, 1_000);
    assert_eq!(levels(&case, &found.routes, &traffic, 9), [(4.0, 2), (2.0, 4)]);
}

/// A barrier with a bully (Taffet, dissertation, sec. 5.4.1): on four sides of leaves 17 bully flows of 100 and at most
/// 105 units of the barrier share 16 links. One link must carry 200 (and then none of the barrier), the 15 others share
/// the units: 103 = 15 x 6 + 13 make 107 on 13 of them. Where 16 flows leave, 103 = 16 x 6 + 7 make 107 on seven.
#[test]
fn the_bully_has_four_links_at_its_maximum_and_fewer_below() {
    let case = Case::generated("quartz1");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/jobs/bully.toml");
    let file = netloom_formats::read_jobs(&std::fs::read(path).unwrap(), path).unwrap();
    let resolve = |spec: netloom_model::JobSpec| {
        let Source::Pattern(pattern) = &spec.source else { panic!("a pattern") };
        ResolvedJob { traffic: netloom_traffic::pattern(pattern, None).unwrap(), spec, rank_hosts: None }
    };
    let jobs: Vec<_> = file.jobs.into_iter().map(resolve).collect();
    let placed = netloom_traffic::place(&case.fabric, &jobs, file.seed).unwrap();
    let traffic = placed.traffic.total();
    let [plain, deep] = [0, 3].map(|depth| {
        let found = optimize(&case, &traffic, depth, 1_000_000);
        assert!(found.proven_optimal);
        levels(&case, &found.routes, &traffic, 4)
    });
    // Flows of the bully, and units of the barrier, by leaf and direction.
    let leaf = |host: u32| case.fabric.leaf(HostId(host));
    let mut sides = std::collections::BTreeMap::new();
    for (i, j, bytes) in traffic.iter().filter(|&(i, j, _)| leaf(i) != leaf(j)) {
        for side in [(leaf(i), "up"), (leaf(j), "down")] {
            let (flows, units) = sides.entry(side).or_insert((0, 0));
            if bytes >= 100.0 { *flows += 1 } else { *units += bytes as usize }
        }
    }
    let at_107 = |&(flows, units): &(usize, usize)| {
        let links = match flows {
            17 => 15,
            16 => 16,
            _ => return 0,
        };
        assert!(units <= 7 * links, "{units} units make more than 107");
        units.saturating_sub(6 * links)
    };
    assert_eq!(sides.values().filter(|side| side.0 == 17).count(), 4);
    let most: usize = sides.values().map(at_107).sum();
    assert_eq!((plain[0], deep[0]), ((200.0, 4), (200.0, 4)));
    assert_eq!(deep[1], (107.0, most));
    assert!(plain[1].0 > 107.0, "the maximum alone leaves {plain:?}");
    let again = levels(&case, &optimize(&case, &traffic, 3, 1_000_000).routes, &traffic, 4);
    assert_eq!(deep, again);
}

/// Two phases over three links, in each a flow of 4 among smaller ones: levels count the links of both phases.
#[test]
fn levels_of_phases_raise_no_phase() {
    let case = Case::generated("two-level:leaves=2,hosts=8,spines=3");
    let phases = [
        matrix(16, &[(0, 8, 4.0), (1, 9, 2.0), (2, 10, 1.0), (3, 11, 1.0)]),
        matrix(16, &[(4, 12, 4.0), (5, 13, 2.0), (6, 14, 1.0), (7, 15, 1.0)]),
    ];
    for combine in [Combine::Sum, Combine::Worst, Combine::WorstGap, Combine::MeanGap] {
        let found = optimize_phases(&case, &phases, combine, 2_000);
        for (layer, matrix) in found.layers.iter().zip(&phases) {
            assert!(layer.proven_optimal);
            assert_eq!(levels(&case, &found.routes, matrix, 9), [(4.0, 2), (2.0, 4)], "{combine:?}");
        }
    }
}

/// A link that is hot in one phase and warm in another is on two levels. (The warm one once had no link that counted
/// for it, and the search never ended.)
#[test]
fn a_link_on_the_levels_of_two_phases_ends_the_search() {
    let case = Case::generated("fattree:pods=2,leaves=4,hosts=4,spines=4,groups=2,cores=4");
    let phases: Vec<Csr> = ["permutation:seed=1", "bisection", "all-to-all", "shift:d=5"]
        .iter()
        .filter_map(|spec| netloom_traffic::pattern(spec, Some(32)).ok())
        .map(|traffic| traffic.total().into_owned())
        .collect();
    assert!(phases.len() >= 3);
    for work in [1_000, 200_000] {
        let found = optimize_phases(&case, &phases, Combine::Sum, work);
        assert!(found.work <= work + 1_000);
    }
}
