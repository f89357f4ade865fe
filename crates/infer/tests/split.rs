//! Ways that split: the operator, against splitting every pair's bytes switch by switch; links that are alike.

use netloom_infer::operator::Pair;
use netloom_infer::{Counted, LaneScheme, Operator, Participants, Routing, merge_equivalent_links};
use netloom_model::rng::{normal, stream, unit};
use netloom_model::{Fabric, HostId, SwitchId};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_testkit::cases::ft2_32;
use netloom_testkit::random::any_fabric;
use netloom_topology::detect;

fn amounts(n: usize, seed: u64) -> Vec<f64> {
    let mut random = stream(seed, 5);
    (0..n).map(|_| unit(&mut random)).collect()
}

fn everybody(fabric: &Fabric) -> Vec<Participants> {
    vec![Participants::one_a_host("all", fabric.hosts().collect())]
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(1.0)
}

/// What a switch hands on, link by link, in proportion to weights.
fn hand_on(
    fabric: &Fabric,
    paths: &PathSet,
    weight: &[f64],
    (from, leaf): (SwitchId, SwitchId),
    bytes: f64,
    rows: &mut [f64],
) {
    if from == leaf {
        return;
    }
    let links = paths.links(from, leaf);
    let all: f64 = links.iter().map(|l| weight[l.index()]).sum();
    for &link in links {
        let part = bytes * weight[link.index()] / all;
        rows[link.index()] += part;
        let next = fabric.link_to_switch(link).expect("between switches");
        hand_on(fabric, paths, weight, (next, leaf), part, rows);
    }
}

/// Rows of the operator are what splitting every pair's bytes at every switch gives, evenly or by weights, on fabrics with and without
/// holes; its adjoint is its transpose; also of what is left when pairs and rows are left out.
#[test]
fn a_split_is_what_switches_hand_on() {
    let mut tried = 0;
    for seed in 0..16 {
        let fabric = any_fabric(seed);
        let paths = PathSet::admissible(&fabric, &detect(&fabric));
        let jobs = everybody(&fabric);
        let drawn: Vec<f64> = amounts(fabric.link_count(), seed).iter().map(|w| 0.1 + w).collect();
        for weight in [None, Some(&drawn[..])] {
            let Ok(operator) = Operator::under(&fabric, &[Routing::Adaptive(&paths, weight)], &jobs) else {
                continue;
            };
            tried += 1;
            let x = amounts(operator.pairs(), seed);
            let mut expected = vec![0.0; fabric.link_count()];
            let even = vec![1.0; fabric.link_count()];
            for (pair, bytes) in operator.iter().zip(&x) {
                let (from, to) = (HostId(pair.source), HostId(pair.destination));
                expected[fabric.host_link(from).index()] += bytes;
                expected[fabric.reverse(fabric.host_link(to)).index()] += bytes;
                let ends = (fabric.leaf(from), fabric.leaf(to));
                hand_on(&fabric, &paths, weight.unwrap_or(&even), ends, *bytes, &mut expected);
            }
            let rows = operator.forward(&x);
            assert!(rows.iter().zip(&expected).all(|(a, b)| near(*a, *b)), "seed {seed}");
            // A pair's own parts are its column.
            let mut one = vec![0.0; operator.pairs()];
            one[operator.pairs() / 2] = 1.0;
            let mut column = vec![0.0; operator.rows()];
            operator.parts(operator.pairs() / 2, |row, part| column[row] += part);
            assert!(operator.forward(&one).iter().zip(&column).all(|(a, b)| near(*a, *b)));
            let keep: Vec<bool> = x.iter().map(|&a| a < 0.3).collect();
            let small = operator.restrict(&keep);
            let (compact, kept) = small.clone().compact();
            for one in [&operator, &small, &compact] {
                let (x, u) = (amounts(one.pairs(), seed), amounts(one.rows(), seed + 9));
                let there: f64 = one.forward(&x).iter().zip(&u).map(|(a, b)| a * b).sum();
                let back: f64 = one.adjoint(&u).iter().zip(&x).map(|(a, b)| a * b).sum();
                assert!(near(there, back), "{there} {back}");
                let sums = one.adjoint(&u);
                one.each(0, &u, |pair, sum| assert_eq!(sum, sums[one.find(pair).unwrap()]));
            }
            let less: Vec<f64> = x.iter().zip(&keep).map(|(&x, &keep)| if keep { x } else { 0.0 }).collect();
            let left: Vec<f64> = x.iter().zip(&keep).filter(|(_, keep)| **keep).map(|(&x, _)| x).collect();
            let (whole, rows) = (operator.forward(&less), compact.forward(&left));
            assert!(rows.iter().all(|&bytes| bytes > 0.0), "rows that nobody crosses are left");
            assert!(kept.iter().zip(rows).all(|(&row, bytes)| near(whole[row as usize], bytes)));
        }
    }
    assert!(tried > 12, "{tried}");
}

#[test]
fn tables_and_splits_stack() {
    let fabric = ft2_32();
    let structure = detect(&fabric);
    let (paths, jobs) = (PathSet::admissible(&fabric, &structure), everybody(&fabric));
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
    let both = [Routing::Adaptive(&paths, None), Routing::Tables(&routes, &LaneScheme::One)];
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let stack = Operator::under(&fabric, &both, &jobs).unwrap();
            let rows = stack.forward(&amounts(stack.pairs(), 4));
            (stack.adjoint(&rows), rows)
        })
    };
    assert_eq!(run(1), run(3));
    let stack = Operator::under(&fabric, &both, &jobs).unwrap();
    assert!(stack.is_split(0) && !stack.is_split(1));
    let rows = run(1).1;
    for (k, one) in both.iter().enumerate() {
        let one = Operator::under(&fabric, &[*one], &jobs).unwrap();
        let alone = one.forward(&amounts(one.pairs(), 4));
        assert!(rows[stack.rows_of(k)].iter().zip(alone).all(|(a, b)| near(*a, b)));
    }
}

/// 8 leaves with 4 links up: 8 groups up and 8 down, of 4 links each, and 64 hosts' links by themselves. What is off at random by link, but
/// not in a group's sum, is gone from the mean; one link of a group that was not counted leaves a third of it: `s^2 (1/3 - 1/4)`.
#[test]
fn links_that_share_traffic_are_as_exact_as_their_sum() {
    let fabric = ft2_32();
    let (paths, jobs) = (PathSet::admissible(&fabric, &detect(&fabric)), everybody(&fabric));
    let operator = Operator::under(&fabric, &[Routing::Adaptive(&paths, None)], &jobs).unwrap();
    let mut x = amounts(operator.pairs(), 3);
    // Host 0 sends nothing to the others of its leaf.
    for destination in 1..4 {
        x[operator.find(Pair { job: 0, source: 0, destination }).unwrap()] = 0.0;
    }
    let exact = operator.forward(&x);
    let mut bytes = exact.clone();
    let mut draw = stream(8, 0);
    for leaf in fabric.switches().filter(|&s| !fabric.hosts_on(s).is_empty()) {
        let up: Vec<usize> = fabric
            .links()
            .filter(|&l| fabric.between_switches(l) && fabric.link_from_switch(l) == Some(leaf))
            .map(|l| l.index())
            .collect();
        let off: Vec<f64> = up.iter().map(|&l| 0.05 * exact[l] * normal(&mut draw)).collect();
        let mean = off.iter().sum::<f64>() / off.len() as f64;
        up.iter().zip(off).for_each(|(&l, off)| bytes[l] += off - mean);
    }
    let even = vec![0.0; operator.rows()];
    let (joined, alike) =
        merge_equivalent_links(&operator, &Counted::exactly(bytes.clone()), &even, &Default::default());
    assert_eq!((alike.rows, alike.groups), (64, 16));
    assert!((0.02..0.06).contains(&alike.apart), "{}", alike.apart);
    let known: Vec<usize> = (0..operator.rows()).filter(|&r| joined.bytes[r].is_finite()).collect();
    assert_eq!(known.len(), 64 + 16);
    for row in known {
        assert!(near(joined.bytes[row], exact[row]), "{row}");
        assert!(joined.deviation[row] < 1e-9 * exact[row], "{row}");
    }
    let first = fabric.links().find(|&l| fabric.between_switches(l)).unwrap().index();
    bytes[first] = f64::NAN;
    let (joined, _) = merge_equivalent_links(&operator, &Counted::exactly(bytes), &even, &Default::default());
    let (mean, deviation) = (joined.bytes[first], joined.deviation[first]);
    assert!(deviation > 0.002 * mean && deviation < 0.05 * mean, "{mean} {deviation}");
    assert!((mean - exact[first]).abs() < 4.0 * deviation);
}

/// Damage makes splits uneven: what is not a whole cut keeps the noise of the split.
#[test]
fn tables_are_left_as_they_are() {
    let fabric = ft2_32();
    let routes = route(Engine::Ftree, &fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
    let operator = Operator::new(&fabric, &routes, &LaneScheme::One, &everybody(&fabric)).unwrap();
    let counted = Counted::exactly(operator.forward(&amounts(operator.pairs(), 1)));
    let (same, alike) =
        merge_equivalent_links(&operator, &counted, &vec![0.0; operator.rows()], &Default::default());
    assert_eq!((same, alike.groups), (counted, 0));
}
