//! Paths by pair: the judge's loads, `routing`'s and a walk of every pair agree on any fabric.

use netloom_model::{Certificate, HostId, PairPaths, Reason, rng};
use netloom_routing::{loads, walk};
use netloom_testkit::{any_fabric, random_matrix};
use netloom_topology::detect;
use netloom_verify::verify_certificate;

use crate::tables::sound;

#[test]
fn the_judge_sends_each_pair_to_its_own_address() {
    let mut moved = 0;
    for seed in 0..40 {
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let traffic = random_matrix(&fabric, seed);
        let lmc = 1 + (seed % 3) as u8;
        let base = sound(&fabric, &structure, lmc);
        let mut random = rng::stream(seed, 5);
        let entries: Vec<_> = traffic
            .iter()
            .filter(|(i, j, _)| i != j)
            .map(|(i, j, _)| (HostId(i), HostId(j), rng::below(&mut random, 1 << lmc) as u32))
            .collect();
        let paths = PairPaths::new(fabric.host_count(), lmc, &entries).unwrap();
        let routes = base.clone().with_paths(&fabric, paths).unwrap();

        let mut by_walks = vec![0.0; fabric.link_count()];
        for (i, j, bytes) in traffic.iter() {
            for link in walk(&fabric, &routes, HostId(i), HostId(j)).unwrap() {
                by_walks[link.index()] += bytes / fabric.relative_capacity(link);
            }
        }
        let by_routing = loads(&fabric, &routes, &traffic).unwrap();
        for (l, wanted) in by_walks.iter().enumerate() {
            assert!((by_routing.load[l] - wanted).abs() <= 1e-9 * wanted.max(1.0), "seed {seed} link {l}");
        }
        let nothing = Certificate::new(0.0, "any".into(), Reason::Dual { weights: Vec::new() });
        let verdict = verify_certificate(&fabric, &structure, Some(&routes), &traffic, &nothing);
        let judged = verdict.max_load.expect("the routes deliver");
        assert!((judged - by_routing.max()).abs() <= 1e-9 * judged, "seed {seed}");
        moved += usize::from(loads(&fabric, &base, &traffic).unwrap() != by_routing);
    }
    assert!(moved > 20, "paths matter on most fabrics, not only on {moved}");
}

#[test]
fn paths_of_another_fabric_are_refused() {
    let fabric = any_fabric(1);
    let structure = detect(&fabric);
    let paths = PairPaths::base(fabric.host_count() + 1, 1);
    let mut routes = sound(&fabric, &structure, 1);
    routes.path = netloom_model::PathChoice::PerPair(std::sync::Arc::new(paths));
    let nothing = Certificate::new(0.0, "any".into(), Reason::Dual { weights: Vec::new() });
    let traffic = random_matrix(&fabric, 1);
    let verdict = verify_certificate(&fabric, &structure, Some(&routes), &traffic, &nothing);
    assert!(!verdict.ok && verdict.reasons[0].contains("the path of every pair"), "{verdict:?}");
}
