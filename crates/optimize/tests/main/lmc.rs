//! Several addresses a host: against exhaustive search, against tables with one address, and against the judge.

use netloom_model::{Certificate, Control, Csr, Fabric, HostId, LinkId, Reason, SwitchId, rng};
use netloom_optimize::{OptimizeOptions, Optimized, optimize_lmc};
use netloom_routing::{Engine, PathSet};
use netloom_testkit::{any_fabric, matrix, random_matrix};
use netloom_verify::{check, verify_certificate};

use crate::shared::Case;

fn solve(case: &Case, traffic: &Csr, lmc: Option<u8>, work: u64) -> Optimized {
    let background = case.routes_with(Engine::Updn, 1, lmc.unwrap_or(0));
    let options = OptimizeOptions { work: Some(work), ..OptimizeOptions::default() };
    let control = Control::new();
    let Some(lmc) = lmc else {
        return case.optimize_with(traffic, &background, &options, &control).unwrap();
    };
    let Case { fabric, structure, paths } = case;
    optimize_lmc(fabric, structure, paths, traffic, lmc, &background, &options, &control).unwrap()
}

/// Loads, bound and deadlock freedom by the crate that shares no code with the search.
fn judge(case: &Case, traffic: &Csr, found: &Optimized) {
    let Case { fabric, structure, .. } = case;
    let verdict = verify_certificate(fabric, structure, Some(&found.routes), traffic, &found.bound);
    assert!(verdict.ok, "{:?}", verdict.reasons);
    assert_eq!(verdict.optimal, found.proven_optimal);
    let max = verdict.max_load.unwrap();
    assert!((max - found.loads.max()).abs() <= 1e-9 * max);
    let report = check(fabric, structure, &found.routes);
    // (Some switches' own addresses may be out of reach on such fabrics, as in the background.)
    assert_eq!((report.non_minimal_pairs, report.up_down_violations, report.credit_loops), (0, 0, 0));
    assert_eq!(report.invalid_entries, 0);
}

/// Four hosts of a leaf send 1 each to one host over two spines: 4 on one link whole, 2 on each with two addresses.
#[test]
fn what_a_leaf_sends_to_a_host_parts() {
    let case = Case::generated("two-level:leaves=2,hosts=4,spines=2");
    let traffic = matrix(8, &[(0, 4, 1.0), (1, 4, 1.0), (2, 4, 1.0), (3, 4, 1.0)]);
    assert_eq!(solve(&case, &traffic, None, 1000).switch_max_load, 4.0);
    let two = solve(&case, &traffic, Some(1), 1000);
    assert_eq!((two.switch_max_load, two.switch_bound), (2.0, 2.0));
    assert_eq!(two.routes.pair_paths(&case.fabric).len(), 2);
    judge(&case, &traffic, &two);
}

/// A pair takes one way: a single partner is not helped by any number of addresses.
#[test]
fn a_pair_stays_whole() {
    let case = Case::generated("two-level:leaves=2,hosts=2,spines=2");
    let traffic = matrix(4, &[(0, 2, 3.0)]);
    assert_eq!(solve(&case, &traffic, Some(3), 1000).switch_max_load, 3.0);
}

/// Three pairs of 4 over two links: 6 on each if they could split, 8 on one as they are, however many addresses.
#[test]
fn whole_pairs_have_a_bound_of_their_own() {
    let case = Case::generated("two-level:leaves=2,hosts=3,spines=2");
    let traffic = matrix(6, &[(0, 3, 4.0), (1, 4, 4.0), (2, 5, 4.0)]);
    let found = solve(&case, &traffic, Some(2), 1000);
    assert_eq!((found.bound.claim, found.bound.pairs, found.proven_optimal), (8.0, true, true));
    judge(&case, &traffic, &found);
    // Two senders to one host are two pairs: 2 and 2, where one address bears 4.
    let traffic = matrix(6, &[(0, 3, 2.0), (1, 3, 2.0), (2, 3, 2.0), (2, 4, 2.0)]);
    let one = solve(&case, &traffic, Some(0), 1000);
    let two = solve(&case, &traffic, Some(1), 1000);
    assert_eq!((one.switch_max_load, two.switch_max_load), (6.0, 4.0));
    judge(&case, &traffic, &two);
}

/// Stage by stage: `m + 1` shares of work begin with what `m` shares found.
#[test]
fn an_address_more_on_a_share_more_is_never_worse() {
    for seed in 0..20 {
        let case = Case::new(any_fabric(seed));
        let traffic = random_matrix(&case.fabric, seed);
        let max = |lmc: u8| solve(&case, &traffic, Some(lmc), 2_000 * (u64::from(lmc) + 1)).switch_max_load;
        let maxima = [max(0), max(1), max(2)];
        assert!(maxima.windows(2).all(|m| m[1] <= m[0] * (1.0 + 1e-9)), "seed {seed}: {maxima:?}");
    }
}

#[test]
fn more_addresses_are_never_worse() {
    let mut better = 0;
    for seed in 0..30 {
        let case = Case::new(any_fabric(seed));
        let traffic = random_matrix(&case.fabric, seed);
        // The first stage of all: one address, on a share of the work.
        let one = solve(&case, &traffic, Some(0), 2_000);
        for lmc in 0..3 {
            let more = solve(&case, &traffic, Some(lmc), 2_000 * (u64::from(lmc) + 1));
            assert_eq!(more.routes.lmc, lmc);
            assert!(more.switch_max_load <= one.switch_max_load * (1.0 + 1e-9), "seed {seed} LMC {lmc}");
            better += usize::from(more.switch_max_load < one.switch_max_load * (1.0 - 1e-9));
            judge(&case, &traffic, &more);
        }
    }
    assert!(better > 5, "LMC helps somewhere, not only {better} times");
}

#[test]
fn the_same_input_gives_the_same_routes() {
    let case = Case::new(any_fabric(3));
    let traffic = random_matrix(&case.fabric, 3);
    let [a, b] = [0, 1].map(|_| solve(&case, &traffic, Some(1), 3_000).outcome.routes);
    assert!(a == b);
}

/// All admissible ways from a leaf to another.
fn ways(fabric: &Fabric, paths: &PathSet, from: SwitchId, to: SwitchId) -> Vec<Vec<LinkId>> {
    if from == to {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for &link in paths.links(from, to) {
        let next = fabric.link_to_switch(link).unwrap();
        for mut rest in ways(fabric, paths, next, to) {
            rest.insert(0, link);
            all.push(rest);
        }
    }
    all
}

/// A pair by its two hosts, its bytes and the ways it may take.
type Choice = (HostId, HostId, f64, Vec<Vec<LinkId>>);

/// The least maximum over all assignments of a way and one of two addresses to every pair: pairs to one
/// address may leave no switch by two links.
fn exhaustive(
    fabric: &Fabric,
    pairs: &[Choice],
    load: &mut [f64],
    taken: &mut Vec<(usize, u32)>,
    best: &mut f64,
) {
    let k = taken.len();
    if k == pairs.len() {
        *best = best.min(load.iter().copied().fold(0.0, f64::max));
        return;
    }
    let (_, to, bytes, ways) = &pairs[k];
    for (w, way) in ways.iter().enumerate() {
        way.iter().for_each(|l| load[l.index()] += bytes / fabric.relative_capacity(*l));
        let low = way.iter().all(|l| load[l.index()] < *best);
        for address in 0..if low { 2 } else { 0 } {
            let agrees = taken.iter().zip(pairs).all(|(&(v, a), other)| {
                let parts = |l: &LinkId| {
                    let from = fabric.link_from_switch(*l);
                    other.3[v].iter().any(|m| fabric.link_from_switch(*m) == from && m != l)
                };
                other.1 != *to || a != address || !way.iter().any(parts)
            });
            if agrees {
                taken.push((w, address));
                exhaustive(fabric, pairs, load, taken, best);
                taken.pop();
            }
        }
        way.iter().for_each(|l| load[l.index()] -= bytes / fabric.relative_capacity(*l));
    }
}

#[test]
fn tiny_cases_reach_the_optimum_of_two_addresses() {
    let mut met = 0;
    for spec in ["two-level:leaves=3,hosts=3,spines=3", "xgft:m=2x2x2,w=1x2x2"] {
        let case = Case::generated(spec);
        let Case { fabric, structure, paths } = &case;
        let hosts = fabric.host_count() as u64;
        for seed in 0..12 {
            let mut random = rng::stream(seed, 7);
            // Few destinations, so that bundles have several pairs.
            let mut draw = |n| rng::below(&mut random, n);
            let entries: Vec<_> =
                (0..7).map(|_| (draw(hosts), hosts - 1 - draw(2), (1 + draw(5)) as f64)).collect();
            let traffic = matrix(hosts as usize, &entries);
            let pairs: Vec<Choice> = traffic
                .iter()
                .map(|(i, j, b)| (HostId(i), HostId(j), b))
                .filter(|&(i, j, _)| fabric.leaf(i) != fabric.leaf(j))
                .map(|(i, j, b)| (i, j, b, ways(fabric, paths, fabric.leaf(i), fabric.leaf(j))))
                .collect();
            let mut optimum = f64::INFINITY;
            exhaustive(fabric, &pairs, &mut vec![0.0; fabric.link_count()], &mut Vec::new(), &mut optimum);
            let solved = solve(&case, &traffic, Some(1), 40_000);
            judge(&case, &traffic, &solved);
            let found = solved.switch_max_load;
            // (Links of hosts may carry more than those between switches.)
            let hosts = solved.loads.load.iter().copied().fold(0.0, f64::max);
            assert!(solved.bound.claim <= optimum.max(hosts) * (1.0 + 1e-9), "{spec} seed {seed}");
            let pairs = netloom_bounds::tighten_pairs(
                fabric,
                structure,
                paths,
                &traffic,
                Certificate::new(0.0, String::new(), Reason::Dual { weights: Vec::new() }),
            );
            assert!(pairs.claim <= optimum * (1.0 + 1e-9), "{spec} seed {seed}: {pairs:?}");
            met += usize::from(pairs.claim >= optimum * (1.0 - 1e-9));
            assert!(
                found >= optimum * (1.0 - 1e-9),
                "{spec} seed {seed}: {found} below the optimum {optimum}"
            );
            assert!(
                found <= optimum * (1.0 + 1e-9),
                "{spec} seed {seed}: {found} above the optimum {optimum}"
            );
        }
    }
    assert!(met > 5, "the bound on whole pairs is the optimum in {met} of 24 cases");
}
