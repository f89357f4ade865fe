//! The kit covers what it promises: without this, properties could hold for want of counterexamples.

use netloom_testkit::{Recipe, any_fabric, broken_fabric, perfect_fabric, random_traffic, sample};
use netloom_topology::detect;

const SEEDS: u64 = 300;

#[test]
fn random_fabrics_show_everything_that_may_happen() {
    let mut levels = [0; 5];
    let (mut dead, mut parallel, mut slow, mut uneven) = (0, 0, 0, 0);
    for seed in 0..SEEDS {
        let sample = sample(seed, &Recipe::ANY);
        let f = &sample.fabric;
        levels[usize::from(sample.levels)] += 1;
        dead += usize::from(f.alive_count() < f.link_count());
        slow += usize::from(f.links().any(|l| f.relative_capacity(l) < 1.0));
        parallel += usize::from(f.switches().any(|s| {
            let mut to: Vec<_> = f.switch_links(s).map(|l| f.link_to(l)).collect();
            to.sort_unstable();
            to.windows(2).any(|w| w[0] == w[1])
        }));
        let hosts: Vec<_> = f.switches().map(|s| f.hosts_on(s).len()).filter(|&n| n > 0).collect();
        uneven += usize::from(hosts.iter().any(|&n| n != hosts[0]));
        assert!((2..=400).contains(&f.host_count()), "seed {seed}: {} hosts", f.host_count());
    }
    assert!(levels[2..].iter().all(|&n| n > 50), "{levels:?}");
    assert!([dead, parallel, slow, uneven].iter().all(|&n| n > 100), "{:?}", [dead, parallel, slow, uneven]);
}

#[test]
fn any_fabric_joins_all_hosts_and_a_broken_one_need_not() {
    let mut parts = 0;
    for seed in 0..SEEDS {
        let f = any_fabric(seed);
        let s = detect(&f);
        assert_eq!((s.pairs_without_route, s.parts), (0, 1), "{:?}", s.findings);
        parts += usize::from(detect(&broken_fabric(seed)).parts > 1);
    }
    assert!(parts > 50, "{parts}");
}

#[test]
fn perfect_fabrics_are_regular() {
    assert!((0..SEEDS).all(|seed| detect(&perfect_fabric(seed)).regular));
}

#[test]
fn traffic_fits_its_fabric_and_sometimes_stays_at_home() {
    let (mut none, mut home) = (0, 0);
    for seed in 0..SEEDS {
        let f = perfect_fabric(seed % 7);
        let t = random_traffic(&f, seed);
        t.check_fits(&f).unwrap();
        let total = t.total();
        none += usize::from(total.entry_count() == 0);
        home += usize::from(total.iter().any(|(i, j, _)| i == j));
        assert!(total.bytes().iter().all(|b| b.fract() == 0.0));
    }
    assert!(none > 3 && home > 30, "{none} {home}");
}
