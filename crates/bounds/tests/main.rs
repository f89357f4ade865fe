//! Every bound against exhaustive search over all destination-based admissible routes of small fabrics.

use netloom_bounds::{
    BoundError, ar_bound, ar_interval, links_at_max, lower_bound, lower_bound_with_frozen, tighten,
    tighten_pairs,
};
use netloom_model::{Control, Csr, Fabric, HostId, Lft, Routes, SwitchId, Traffic, rng};
use netloom_routing::{Engine, EngineOptions, PathSet, route, walk};
use netloom_testkit::{any_fabric, broken_fabric, perfect_fabric};
use netloom_topology::{Structure, detect, generate};

/// The most routings to enumerate for one case.
const MOST: f64 = 3e5;

/// Bytes per link for one way of routing everything to one host.
type Way = Vec<f64>;

/// The least maximum load of destination-based admissible routes; `None` if there are too many, or a pair has no path.
fn optimum(fabric: &Fabric, paths: &PathSet, traffic: &Csr) -> Option<f64> {
    optimum_with(fabric, paths, traffic, vec![0.0; fabric.link_count()], &[])
}

/// The same where what is sent to frozen hosts is the bytes in `fixed`.
fn optimum_with(
    fabric: &Fabric,
    paths: &PathSet,
    traffic: &Csr,
    mut fixed: Way,
    frozen: &[bool],
) -> Option<f64> {
    let ways = all_ways(fabric, paths, traffic, &mut fixed, frozen)?;
    let mut best = f64::INFINITY;
    combine(fabric, &ways, &mut fixed, &mut best);
    Some(best)
}

/// Per destination that is not frozen, the loads of all ways to route what is sent to it; what crosses links of hosts
/// comes to `fixed`. `None` if there are too many, or a pair has no path.
fn all_ways(
    fabric: &Fabric,
    paths: &PathSet,
    traffic: &Csr,
    fixed: &mut Way,
    frozen: &[bool],
) -> Option<Vec<Vec<Way>>> {
    let mut ways: Vec<Vec<Way>> = Vec::new();
    for d in fabric.hosts().filter(|d| frozen.get(d.index()) != Some(&true)) {
        let senders: Vec<(HostId, f64)> =
            traffic.iter().filter(|&(i, j, _)| j == d.0 && i != j).map(|(i, _, b)| (HostId(i), b)).collect();
        for &(h, bytes) in &senders {
            paths.hops(fabric.leaf(h), fabric.leaf(d))?;
            fixed[fabric.host_link(h).index()] += bytes;
            fixed[fabric.reverse(fabric.host_link(d)).index()] += bytes;
        }
        let mut open: Vec<(SwitchId, f64)> = Vec::new();
        for &(h, bytes) in &senders {
            open.push((fabric.leaf(h), bytes));
        }
        let mut found = Vec::new();
        let mut table = vec![None; fabric.switch_count()];
        choose(fabric, paths, fabric.leaf(d), &open, &mut table, &mut found)?;
        ways.push(found);
    }
    if ways.iter().map(|w| w.len() as f64).product::<f64>() > MOST {
        return None;
    }
    Some(ways)
}

/// The fewest links between switches with a load of `level` in routes with no load above it.
fn fewest(fabric: &Fabric, ways: &[Vec<Way>], load: &mut Way, level: f64, best: &mut u64) {
    let hot = fabric.links().map(|l| (l, load[l.index()] / fabric.relative_capacity(l)));
    let mut count = 0;
    for (l, load) in hot {
        if load > level * (1.0 + 1e-9) {
            return;
        }
        count += u64::from(load >= level * (1.0 - 1e-9) && fabric.between_switches(l));
    }
    let Some((first, rest)) = ways.split_first().filter(|_| count < *best) else {
        *best = count.min(*best);
        return;
    };
    for way in first {
        load.iter_mut().zip(way).for_each(|(a, b)| *a += b);
        fewest(fabric, rest, load, level, best);
        load.iter_mut().zip(way).for_each(|(a, b)| *a -= b);
    }
}

/// All tables towards `leaf` that packets from `open` meet, as loads.
fn choose(
    fabric: &Fabric,
    paths: &PathSet,
    leaf: SwitchId,
    open: &[(SwitchId, f64)],
    table: &mut Vec<Option<netloom_model::LinkId>>,
    found: &mut Vec<Way>,
) -> Option<()> {
    let mut load = vec![0.0; fabric.link_count()];
    for &(start, bytes) in open {
        let mut at = start;
        while at != leaf {
            let Some(link) = table[at.index()] else {
                for &l in paths.links(at, leaf) {
                    table[at.index()] = Some(l);
                    choose(fabric, paths, leaf, open, table, found)?;
                }
                table[at.index()] = None;
                return Some(());
            };
            load[link.index()] += bytes;
            at = fabric.link_to_switch(link).unwrap();
        }
    }
    found.push(load);
    (found.len() < 2000).then_some(())
}

fn combine(fabric: &Fabric, ways: &[Vec<Way>], load: &mut Way, best: &mut f64) {
    let most = fabric.links().map(|l| load[l.index()] / fabric.relative_capacity(l)).fold(0.0, f64::max);
    if most >= *best {
        return;
    }
    let Some((first, rest)) = ways.split_first() else {
        *best = most;
        return;
    };
    for way in first {
        load.iter_mut().zip(way).for_each(|(a, b)| *a += b);
        combine(fabric, rest, load, best);
        load.iter_mut().zip(way).for_each(|(a, b)| *a -= b);
    }
}

fn few_pairs(fabric: &Fabric, seed: u64) -> Csr {
    let mut stream = rng::stream(seed, 5);
    let n = fabric.host_count() as u64;
    let count = 2 + rng::below(&mut stream, 7) as usize;
    let mut draw = |most| (0..count).map(|_| rng::below(&mut stream, most)).collect::<Vec<u64>>();
    let (from, to, bytes) = (draw(n), draw(n.min(5)), draw(6));
    let bytes: Vec<f64> = bytes.into_iter().map(|b| (b + 1) as f64).collect();
    Traffic::from_triples(n as u32, &from, &to, &bytes, None).unwrap().total().into_owned()
}

/// A small fabric, of four kinds in turn, and a few pairs on it.
fn small(seed: u64) -> (Fabric, Structure, PathSet, Csr) {
    let fabric = match seed % 4 {
        0 => any_fabric(seed),
        1 => broken_fabric(seed),
        2 => perfect_fabric(seed),
        _ => generate("two-level:leaves=3,hosts=3,spines=2").unwrap(),
    };
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let traffic = few_pairs(&fabric, seed);
    (fabric, structure, paths, traffic)
}

#[test]
fn no_bound_exceeds_the_best_destination_based_routes() {
    let (mut cases, mut tight, mut above_ar) = (0, 0, 0);
    for seed in 0..400 {
        let (f, s, paths, t) = small(seed);
        let Some(best) = optimum(&f, &paths, &t) else { continue };
        let Ok(ar) = ar_bound(&f, &s, &paths, &t, &Control::new(), Some(500)) else { continue };
        let bound = lower_bound(&f, &s, &paths, &t, &Control::new());
        assert!(ar.lower <= ar.upper && ar.certificate.claim == ar.lower);
        assert!(bound.claim >= ar.lower * (1.0 - 1e-3), "seed {seed}");
        assert!(bound.claim <= best * (1.0 + 1e-9), "seed {seed}: {bound:?} > {best}");
        assert_eq!(tighten(&f, &s, &paths, &t, bound.clone()), bound, "seed {seed}");
        cases += 1;
        tight += u32::from(bound.claim >= best * (1.0 - 1e-9));
        above_ar += u32::from(bound.claim > ar.upper * (1.0 + 1e-9));
    }
    assert!(cases > 150 && tight * 10 > cases * 8, "{tight} of {cases} bounds are tight");
    assert!(above_ar >= 3, "whole items matter in {above_ar} cases");
}

#[test]
fn no_bound_with_frozen_destinations_exceeds_the_best_routes_that_keep_their_entries() {
    let (mut cases, mut tight, mut above_free) = (0, 0, 0);
    for seed in 0..300 {
        let f = match seed % 3 {
            0 => any_fabric(seed),
            1 => perfect_fabric(seed),
            _ => generate("two-level:leaves=3,hosts=3,spines=2").unwrap(),
        };
        let s = detect(&f);
        let paths = PathSet::admissible(&f, &s);
        let t = few_pairs(&f, seed);
        let routes = route(Engine::Updn, &f, &s, &EngineOptions { seed, lmc: 0 }).unwrap();
        let frozen: Vec<bool> = f.hosts().map(|h| (u64::from(h.0) + seed / 3).is_multiple_of(3)).collect();
        let mut fixed = vec![0.0; f.link_count()];
        for (i, j, bytes) in t.iter().filter(|&(i, j, _)| frozen[j as usize] && i != j) {
            for l in walk(&f, &routes, HostId(i), HostId(j)).unwrap() {
                fixed[l.index()] += bytes;
            }
        }
        let Some(best) = optimum_with(&f, &paths, &t, fixed, &frozen) else { continue };
        let bound = lower_bound_with_frozen(&f, &s, &paths, &t, &routes, &frozen, &Control::new(), None);
        let bound = bound.unwrap();
        let names: Vec<HostId> = f.hosts().filter(|h| frozen[h.index()]).collect();
        assert_eq!(bound.frozen, names);
        assert!(bound.claim <= best * (1.0 + 1e-9), "seed {seed}: {bound:?} > {best}");
        cases += 1;
        tight += u32::from(bound.claim >= best * (1.0 - 1e-9));
        above_free += u32::from(bound.claim > lower_bound(&f, &s, &paths, &t, &Control::new()).claim);
    }
    assert!(cases > 150 && tight * 10 > cases * 8, "{tight} of {cases} bounds are tight");
    assert!(above_free >= 10, "frozen entries cost something in {above_free} cases");
}

#[test]
fn routes_that_do_not_deliver_frozen_traffic_fix_nothing() {
    let f = generate("two-level:leaves=2,hosts=2,spines=1").unwrap();
    let s = detect(&f);
    let paths = PathSet::admissible(&f, &s);
    let t = Traffic::from_triples(4, &[0], &[2], &[1.0], None).unwrap().total().into_owned();
    let none = Routes::by_dest(&f, 0, Lft::empty(f.switch_count(), f.dests(0).count(), f.max_radix()));
    let bound =
        |frozen: &[bool]| lower_bound_with_frozen(&f, &s, &paths, &t, &none, frozen, &Control::new(), None);
    let error = bound(&[false, false, true, false]).unwrap_err();
    assert!(matches!(&error, BoundError::Frozen(why) if why.contains("no entry")), "{error}");
    assert_eq!(bound(&[]).unwrap(), lower_bound(&f, &s, &paths, &t, &Control::new()));
}

#[test]
fn fractional_splits_never_do_worse_than_tables() {
    for seed in 0..100 {
        let f = broken_fabric(seed);
        let s = detect(&f);
        let paths = PathSet::admissible(&f, &s);
        let t = few_pairs(&f, seed);
        let (Some(best), Ok(ar)) =
            (optimum(&f, &paths, &t), ar_interval(&f, &s, &paths, &t, &Control::new(), None))
        else {
            continue;
        };
        assert!(ar.lower <= best * (1.0 + 1e-9), "seed {seed}: {ar:?} {best}");
        assert!(ar.upper <= ar.lower * 1.001, "seed {seed}: {} {} {}", ar.lower, ar.upper, ar.work);
    }
}

#[test]
fn no_traffic_has_the_bound_zero() {
    let f = generate("two-level:leaves=2,hosts=2,spines=1").unwrap();
    let s = detect(&f);
    let paths = PathSet::admissible(&f, &s);
    let empty = Csr::empty(4);
    let ar = ar_bound(&f, &s, &paths, &empty, &Control::new(), None).unwrap();
    assert!(ar.exact && ar.upper == 0.0);
    assert_eq!(lower_bound(&f, &s, &paths, &empty, &Control::new()).claim, 0.0);
    assert!(ar_interval(&f, &s, &paths, &empty, &Control::new(), None).unwrap().exact);
}

#[test]
fn bounds_do_not_depend_on_threads() {
    let f = broken_fabric(3);
    let s = detect(&f);
    let paths = PathSet::admissible(&f, &s);
    let t = netloom_testkit::random_matrix(&f, 1);
    let on = |n: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
        pool.install(|| {
            let ar = ar_interval(&f, &s, &paths, &t, &Control::new(), Some(100));
            (ar, lower_bound(&f, &s, &paths, &t, &Control::new()))
        })
    };
    assert_eq!(on(1), on(3));
}

#[test]
fn no_more_links_are_claimed_to_carry_the_maximum_than_some_best_routes_have_there() {
    let (mut cases, mut some, mut tight) = (0, 0, 0);
    for seed in 0..300 {
        let (f, s, paths, t) = small(seed);
        let mut fixed = vec![0.0; f.link_count()];
        let Some(ways) = all_ways(&f, &paths, &t, &mut fixed, &[]) else { continue };
        let mut best = f64::INFINITY;
        combine(&f, &ways, &mut fixed, &mut best);
        // The optimum, and something above it.
        for maximum in [best, best * 1.25] {
            let claim = links_at_max(&f, &s, &paths, &t, None, maximum, &Control::new()).unwrap();
            let mut count = u64::MAX;
            fewest(&f, &ways, &mut fixed, maximum, &mut count);
            assert!(claim.count <= count, "seed {seed}: {claim:?}, but {count} at {maximum} will do");
            if maximum == best {
                cases += 1;
                some += u32::from(count > 0);
                tight += u32::from(count > 0 && claim.count == count);
            }
        }
    }
    assert!(cases > 150 && some > 30 && tight * 10 > some * 6, "{tight} of {some} of {cases} are tight");
}

#[test]
fn every_argument_is_the_best_somewhere_and_none_exceeds_exhaustive_search() {
    let mut kinds = std::collections::BTreeMap::new();
    let (mut cases, mut tight) = (0, 0);
    for seed in 0..240 {
        // Nine flows from one leaf over three links: 3^9 ways.
        let f = generate("two-level:leaves=2,hosts=9,spines=3").unwrap();
        let s = detect(&f);
        let paths = PathSet::admissible(&f, &s);
        let mut stream = rng::stream(seed, 11);
        let most = [4, 12, 40][seed as usize % 3];
        let bytes: Vec<f64> = (0..9).map(|_| (1 + rng::below(&mut stream, most)) as f64).collect();
        let (from, to): (Vec<u64>, Vec<u64>) = (0..9).map(|h| (h, 9 + h)).unzip();
        let t = Traffic::from_triples(18, &from, &to, &bytes, None).unwrap().total().into_owned();
        let best = optimum(&f, &paths, &t).unwrap();
        let bound = lower_bound(&f, &s, &paths, &t, &Control::new());
        assert!(bound.claim <= best * (1.0 + 1e-9), "seed {seed}: {bound:?} > {best}");
        cases += 1;
        tight += u32::from(bound.claim >= best * (1.0 - 1e-9));
        *kinds.entry(bound.reason.kind()).or_insert(0) += 1;
    }
    assert_eq!(kinds.len(), 5, "{kinds:?}");
    assert!(tight * 100 > cases * 95, "{tight} of {cases} are tight");
}

#[test]
fn a_bound_on_pairs_stays_one_when_it_is_tightened_again() {
    // Three pairs of 4 on two links: 8. Looked at once more there is nothing above it, but it is on pairs still.
    let f = generate("two-level:leaves=2,hosts=3,spines=2").unwrap();
    let s = detect(&f);
    let paths = PathSet::admissible(&f, &s);
    let t = Traffic::from_triples(6, &[0, 1, 2], &[3, 4, 5], &[4.0; 3], None).unwrap().total().into_owned();
    let ar = ar_bound(&f, &s, &paths, &t, &Control::new(), None).unwrap();
    let pairs = tighten_pairs(&f, &s, &paths, &t, ar.certificate);
    assert_eq!((pairs.claim, pairs.pairs), (8.0, true));
    assert_eq!(tighten_pairs(&f, &s, &paths, &t, pairs.clone()), pairs);
}
