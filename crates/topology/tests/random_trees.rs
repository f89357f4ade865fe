//! Properties that hold for every random tree.

use proptest::prelude::*;

use netloom_model::{Fabric, SwitchId};
use netloom_testkit::cases;
use netloom_testkit::{Recipe, any_fabric, broken_fabric, damaged_sample, sample, trials};
use netloom_topology::{Direction, NO_GROUP, NO_LEVEL, NO_POD, NO_RANK, Structure, detect};

/// Brute force: pairs of switches with hosts, in one connected part, without an up*/down* route.
fn pairs_without_route(f: &Fabric, s: &Structure) -> u64 {
    let n = f.switch_count();
    // State 2 * switch + (1 if the packet has turned down).
    let walk = |from: usize, free: bool| {
        let mut seen = vec![false; 2 * n];
        let mut todo = vec![2 * from];
        seen[2 * from] = true;
        while let Some(state) = todo.pop() {
            for l in f.switch_links(SwitchId::from_index(state / 2)).filter(|&l| f.alive(l)) {
                let Some(t) = f.link_to_switch(l) else { continue };
                let down = match s.direction(f, l) {
                    _ if free => 0,
                    Direction::Up if state % 2 == 0 => 0,
                    Direction::Down => 1,
                    _ => continue,
                };
                let next = 2 * t.index() + down;
                if !seen[next] {
                    seen[next] = true;
                    todo.push(next);
                }
            }
        }
        (0..n).map(|t| seen[2 * t] || seen[2 * t + 1]).collect::<Vec<bool>>()
    };
    let hosted: Vec<usize> = (0..n)
        .filter(|&s| f.hosts_on(SwitchId::from_index(s)).iter().any(|&h| f.alive(f.host_link(h))))
        .collect();
    let mut lost = 0;
    for &a in &hosted {
        let (connected, routed) = (walk(a, true), walk(a, false));
        lost += hosted.iter().filter(|&&b| b > a && connected[b] && !routed[b]).count() as u64;
    }
    lost
}

fn check_shape(f: &Fabric, s: &Structure) {
    assert_eq!(s.regular, s.tree().is_some());
    assert_eq!(s.regular, s.irregular.is_none());
    for l in f.links() {
        let (there, back) = (s.direction(f, l), s.direction(f, f.reverse(l)));
        let expected = match there {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
            Direction::Peer => Direction::Peer,
        };
        assert_eq!(back, expected);
    }
    for (i, &level) in s.level.iter().enumerate() {
        assert!(level == NO_LEVEL || level < s.levels);
        assert!(s.pod[i] == NO_POD || s.pod[i] < s.pods);
        assert!(s.core_group[i] == NO_GROUP || s.core_group[i] < s.core_groups);
    }
    for pod in 0..s.pods {
        assert!(s.pod.contains(&pod));
    }
    for group in 0..s.core_groups {
        assert!(s.core_group.contains(&group));
    }
    assert_eq!(s.pairs_without_route, pairs_without_route(f, s));
    assert_eq!(s.pairs_without_route, 0, "from any switch ranks can be counted down");
    assert!(s.level.iter().zip(&s.rank).all(|(&l, &r)| (l == NO_LEVEL) == (r == NO_RANK)));
    for l in f.links().filter(|&l| f.alive(l) && f.between_switches(l)) {
        let level = |end: Option<SwitchId>| s.level[end.unwrap().index()];
        let cut_off = level(f.link_from_switch(l)) == NO_LEVEL;
        assert!(cut_off || s.direction(f, l) != Direction::Peer, "every cable has an upper end");
    }
    let mut by_levels = s.clone();
    by_levels.rank = s.level.iter().map(|&l| if l == NO_LEVEL { NO_RANK } else { l.into() }).collect();
    let lost = pairs_without_route(f, &by_levels);
    assert_eq!(s.levels_lose_pairs, lost > 0);
    if s.peer_links.is_empty() {
        // Ranks also differ where levels carry less than another order.
        assert!(lost == 0 || !s.by_levels(), "levels lose pairs and stay");
    }
}

/// No pair is lost that any ranking joins: none, then, that cables join.
#[test]
fn hostile_ranks_lose_no_pair() {
    let (mut mended, mut kept_way) = (0, 0);
    let cases = trials(400);
    for seed in 0..cases {
        let f = damaged_sample(seed).fabric;
        let s = detect(&f);
        check_shape(&f, &s);
        mended += u64::from(!s.by_levels());
        // A mended ranking is still one of a tree: most switches keep their place.
        let moved = s.level.iter().zip(&s.rank).filter(|&(&l, &r)| u16::from(l) != r).count();
        kept_way += u64::from(!s.by_levels() && 2 * moved <= s.level.len());
    }
    println!("{mended} of {cases} need other ranks; {kept_way} of these keep half of the switches in place");
    assert!(mended * 40 > cases, "only {mended} of {cases} put it to the test");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn perfect_trees_are_found_regular_whatever_their_names_and_ports(seed: u64) {
        let sample = sample(seed, &Recipe::PERFECT);
        let (f, s) = (&sample.fabric, detect(&sample.fabric));
        check_shape(f, &s);
        prop_assert_eq!(&s.level, &sample.level);
        prop_assert!(s.findings.is_empty(), "{:?}", s.findings);
        let t = s.tree().expect("a perfect tree is regular");
        prop_assert_eq!(t.pods * t.leaves_per_pod * t.hosts_per_leaf, f.host_count());
        prop_assert_eq!(
            t.leaves().len() + t.spines().len() + t.cores().len(), f.switch_count()
        );
        // The tables name every cable up exactly once, each between the switches that they say.
        let mut seen = vec![false; f.link_count()];
        for (leaf, &from) in t.leaves().iter().enumerate() {
            prop_assert_eq!(t.index(from), leaf);
            for spine in 0..t.spines_per_pod {
                let to = t.spines()[leaf / t.leaves_per_pod * t.spines_per_pod + spine];
                for cable in 0..t.leaf_cables {
                    let link = t.leaf_up(leaf, spine, cable);
                    prop_assert_eq!(f.link_from_switch(link), Some(from));
                    prop_assert_eq!(f.link_to_switch(link), Some(to));
                    prop_assert!(!std::mem::replace(&mut seen[link.index()], true));
                }
            }
        }
        for (spine, &from) in t.spines().iter().enumerate() {
            let group = t.group_of_spine(spine);
            for core in 0..t.cores_per_group {
                for cable in 0..t.core_cables {
                    let link = t.spine_up(spine, core, cable);
                    prop_assert_eq!(f.link_from_switch(link), Some(from));
                    prop_assert_eq!(f.link_to_switch(link), Some(t.cores()[group * t.cores_per_group + core]));
                    prop_assert!(!std::mem::replace(&mut seen[link.index()], true));
                }
            }
        }
        let ups = f.links().filter(|&l| f.between_switches(l) && s.direction(f, l) == Direction::Up);
        prop_assert_eq!(ups.count(), seen.iter().filter(|&&x| x).count());
    }

    #[test]
    fn whole_trees_of_any_shape_get_the_levels_they_were_built_with(seed: u64) {
        let recipe = Recipe { missing: false, ..Recipe::ANY };
        let sample = sample(seed, &recipe);
        let s = detect(&sample.fabric);
        check_shape(&sample.fabric, &s);
        prop_assert_eq!(&s.level, &sample.level);
        prop_assert_eq!(s.levels, sample.levels);
        prop_assert_eq!(s.pairs_without_route, 0);
    }

    #[test]
    fn trees_with_missing_cables_keep_their_levels(seed: u64) {
        let sample = sample(seed, &Recipe::ANY);
        let s = detect(&sample.fabric);
        check_shape(&sample.fabric, &s);
        prop_assert_eq!(&s.level, &sample.level);
        prop_assert_eq!(s.pairs_without_route, 0);
    }

    #[test]
    fn broken_trees_get_a_consistent_shape(seed: u64) {
        let f = broken_fabric(seed);
        check_shape(&f, &detect(&f));
    }

    #[test]
    fn any_graph_at_all_gets_a_consistent_shape(
        hosts in proptest::collection::vec(0usize..3, 1..10),
        cables in proptest::collection::vec((0usize..10, 0usize..10, 1usize..3), 0..20),
    ) {
        let names: Vec<String> = (0..hosts.len()).map(|i| format!("s{i}")).collect();
        let mut switches: Vec<(&str, usize)> =
            names.iter().map(String::as_str).zip(hosts.iter().copied()).collect();
        switches[0].1 += 1;
        let n = switches.len();
        let cables: Vec<_> =
            cables.into_iter().map(|(a, b, k)| (a % n, b % n, k)).filter(|c| c.0 != c.1).collect();
        let f = cases::wired(&switches, &cables);
        check_shape(&f, &detect(&f));
    }

    #[test]
    fn a_seed_gives_one_fabric(seed: u64) {
        let (a, b) = (any_fabric(seed), any_fabric(seed));
        prop_assert_eq!(a.cabling_hash(), b.cabling_hash());
        prop_assert!(a.links().all(|l| a.alive(l) == b.alive(l)));
    }
}
