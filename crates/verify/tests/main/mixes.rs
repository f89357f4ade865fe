//! Mixes of old and new tables, and stages, against all mixes one by one.

use netloom_model::rng::{Stream, below, stream};
use netloom_model::{Dest, DestId, Fabric, Lft, NO_PORT, SwitchId};
use netloom_routing::{Engine, EngineOptions, route};
use netloom_testkit::{any_fabric, cases};
use netloom_topology::{Structure, detect};
use netloom_verify::{FindingKind, check, mix, patched, stages};

/// Random tables that deliver everything: for every destination a random tree towards it.
fn random_tables(fabric: &Fabric, random: &mut Stream) -> Lft {
    let space = fabric.dests(0);
    let mut lft = Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    for d in 0..space.count() {
        let dest = DestId::from_index(d);
        let root = match space.resolve(dest) {
            Dest::Host(h, _) => {
                let last = fabric.reverse(fabric.host_link(h));
                lft.set(fabric.leaf(h), dest, Some(fabric.link_port(last)));
                fabric.leaf(h)
            }
            Dest::Switch(s) => {
                lft.set(s, dest, Some(0));
                s
            }
        };
        let mut inside = vec![root];
        loop {
            let ways: Vec<(SwitchId, u16)> = inside
                .iter()
                .flat_map(|&t| fabric.switch_links(t))
                .filter(|&l| fabric.alive(l))
                .filter_map(|l| Some((fabric.link_to_switch(l)?, fabric.link_port(fabric.reverse(l)))))
                .filter(|(s, _)| !inside.contains(s))
                .collect();
            if ways.is_empty() {
                break;
            }
            let (s, port) = ways[below(random, ways.len() as u64) as usize];
            lft.set(s, dest, Some(port));
            inside.push(s);
        }
    }
    lft
}

/// How many packets from the switches a mix loses that the old tables deliver, and whether it has a loop, for one
/// destination.
fn fate(fabric: &Fabric, dest: DestId, port: &dyn Fn(SwitchId) -> u16) -> Vec<Option<bool>> {
    let target = fabric.dests(0).resolve(dest);
    fabric
        .switches()
        .map(|start| {
            let mut at = start;
            for _ in 0..=fabric.switch_count() {
                match (port(at), target) {
                    (NO_PORT, _) => return Some(false),
                    (0, Dest::Switch(s)) => return Some(s == at),
                    (p, _) => {
                        let Some(link) = fabric.link_at(at, p).filter(|&l| fabric.alive(l)) else {
                            return Some(false);
                        };
                        match (fabric.link_to_switch(link), target) {
                            (Some(next), _) => at = next,
                            (None, Dest::Host(h, _)) => {
                                return Some(fabric.link_to(link) == fabric.host_node(h));
                            }
                            (None, _) => return Some(false),
                        }
                    }
                }
            }
            None
        })
        .collect()
}

/// Whether every mix of two tables, for one destination, delivers what `before` delivers and loops nowhere new.
fn every_mix_is_safe(fabric: &Fabric, before: &Lft, from: &Lft, to: &Lft, dest: DestId) -> bool {
    let first = fate(fabric, dest, &|s| before.port(s, dest));
    let changed: Vec<SwitchId> =
        fabric.switches().filter(|&s| from.port(s, dest) != to.port(s, dest)).collect();
    (0..1u32 << changed.len()).all(|bits| {
        let now = fate(fabric, dest, &|s| match changed.iter().position(|&c| c == s) {
            Some(i) if bits >> i & 1 == 1 => to.port(s, dest),
            _ => from.port(s, dest),
        });
        let loops_before = first.contains(&None);
        first.iter().zip(&now).all(|(was, is)| match was {
            Some(true) => *is == Some(true),
            _ => is.is_some() || loops_before,
        })
    })
}

/// The fewest rounds for one destination, by trying all.
fn fewest_rounds(fabric: &Fabric, old: &Lft, new: &Lft, dest: DestId) -> usize {
    let changed: Vec<SwitchId> =
        fabric.switches().filter(|&s| old.port(s, dest) != new.port(s, dest)).collect();
    if changed.is_empty() {
        return 0;
    }
    let after = |rounds: &[usize], r: usize| {
        let mut lft = old.clone();
        for (&s, _) in changed.iter().zip(rounds).filter(|(_, round)| **round <= r) {
            lft.set(s, dest, Some(new.port(s, dest)).filter(|&p| p != NO_PORT));
        }
        lft
    };
    (1..=changed.len())
        .find(|&most| {
            (0..most.pow(changed.len() as u32)).any(|code| {
                let rounds: Vec<usize> =
                    (0..changed.len()).map(|i| code / most.pow(i as u32) % most + 1).collect();
                (1..=most)
                    .all(|r| every_mix_is_safe(fabric, old, &after(&rounds, r - 1), &after(&rounds, r), dest))
            })
        })
        .expect("one entry at a time, nearest first, is always safe")
}

fn small(random: &mut Stream) -> Fabric {
    match below(random, 4) {
        0 => cases::ring(3 + below(random, 3) as usize),
        1 => cases::two_spines(),
        2 => cases::dragonfly(2, 2),
        _ => cases::wired(
            &[("a", 1), ("b", 1), ("c", 1), ("d", 0), ("e", 1)],
            &[(0, 1, 1), (1, 2, 2), (2, 3, 1), (3, 0, 1), (3, 4, 1), (4, 1, 1)],
        ),
    }
}

#[test]
fn the_union_tells_exactly_which_destinations_have_an_unsafe_mix() {
    let mut unsafe_ones = 0;
    for seed in 0..300 {
        let mut random = stream(seed, 0);
        let fabric = small(&mut random);
        let structure = detect(&fabric);
        let mut old = random_tables(&fabric, &mut random);
        let new = random_tables(&fabric, &mut random);
        if seed % 3 == 0 {
            // What is broken already may stay so on the way, but nothing else may break.
            let space = fabric.dests(0).count() as u64;
            for _ in 0..3 {
                let s = SwitchId(below(&mut random, fabric.switch_count() as u64) as u32);
                old.set(s, DestId(below(&mut random, space) as u32), None);
            }
        }
        let report = mix(&fabric, &structure, 0, &old, &new);
        let wrong = (0..fabric.dests(0).count())
            .filter(|&d| !every_mix_is_safe(&fabric, &old, &old, &new, DestId::from_index(d)))
            .count() as u64;
        assert_eq!(report.loops + report.holes, wrong, "seed {seed}: {report:?}");
        assert_eq!(report.changed_entries, old.changed_entries(&new), "seed {seed}");
        unsafe_ones += wrong;
    }
    assert!(unsafe_ones > 300, "the cases are hard enough: {unsafe_ones}");
}

#[test]
fn stages_are_safe_and_the_fewest() {
    let (mut staged, mut proven) = (0, 0);
    for seed in 0..120 {
        let mut random = stream(seed, 1);
        let fabric = small(&mut random);
        let structure = detect(&fabric);
        let old = random_tables(&fabric, &mut random);
        let new = random_tables(&fabric, &mut random);
        // Rings deadlock under most tables: only loops and holes are at stake here.
        let Ok(plan) = stages(&fabric, &structure, 0, &old, &new, 99) else { continue };
        let mut from = &old;
        for to in &plan.tables {
            for d in 0..fabric.dests(0).count() {
                assert!(every_mix_is_safe(&fabric, &old, from, to, DestId::from_index(d)), "seed {seed}");
            }
            from = to;
        }
        assert_eq!(from, &new, "seed {seed}");
        let least = (0..fabric.dests(0).count())
            .map(|d| fewest_rounds(&fabric, &old, &new, DestId::from_index(d)))
            .max()
            .unwrap();
        if plan.fewest {
            assert_eq!(plan.tables.len(), least, "seed {seed}");
        } else {
            assert!(plan.tables.len() >= least, "seed {seed}");
        }
        staged += usize::from(least > 1);
        proven += usize::from(least > 1 && plan.fewest);
        if least > 1 {
            let refused = stages(&fabric, &structure, 0, &old, &new, least - 1).unwrap_err();
            assert!(refused.needed.is_some_and(|n| n >= least), "seed {seed}: {refused:?}");
            assert!(refused.text.contains("towards "), "seed {seed}: {refused:?}");
        }
    }
    assert!(staged > 20 && proven > 10, "the cases are hard enough: {staged}, {proven}");
}

#[test]
fn up_down_routes_of_one_tree_mix_freely() {
    for seed in 0..40 {
        let fabric = any_fabric(seed);
        let structure: Structure = detect(&fabric);
        let made = |engine, seed| {
            route(engine, &fabric, &structure, &EngineOptions { seed, lmc: 0 })
                .unwrap()
                .lft()
                .unwrap()
                .clone()
        };
        let (old, new) = (made(Engine::Updn, 0), made(Engine::Random, seed));
        let report = mix(&fabric, &structure, 0, &old, &new);
        assert!(report.ok(), "seed {seed}: {report:?}");
        let plan = stages(&fabric, &structure, 0, &old, &new, 1).unwrap();
        assert!(plan.fewest && plan.tables.len() <= 1, "seed {seed}");
    }
}

#[test]
fn destinations_that_are_lost_get_the_entries_of_other_tables_and_no_others_do() {
    for seed in 0..40 {
        let mut random = stream(seed, 3);
        let fabric = any_fabric(seed);
        let structure = detect(&fabric);
        let good = random_tables(&fabric, &mut random);
        let spare = random_tables(&fabric, &mut random);
        let mut broken = good.clone();
        let dest = DestId(below(&mut random, good.dests() as u64) as u32);
        let at = SwitchId(below(&mut random, fabric.switch_count() as u64) as u32);
        broken.set(at, dest, None);
        let (mended, count) = patched(&fabric, &structure, 0, &broken, &spare);
        assert_eq!(count, 1, "seed {seed}");
        let routes = netloom_model::Routes::by_dest(&fabric, 0, mended.clone());
        assert_eq!(check(&fabric, &structure, &routes).unreachable_pairs, 0, "seed {seed}");
        for d in (0..good.dests()).map(DestId::from_index) {
            let from = if d == dest { &spare } else { &good };
            assert!(fabric.switches().all(|s| mended.port(s, d) == from.port(s, d)), "seed {seed}");
        }
    }
}

#[test]
fn a_loop_is_told_with_its_destination_and_its_switches() {
    // Old: a sends straight to c, b by a. New: b straight, a by b. In between: a to b to a.
    let fabric = cases::wired(&[("a", 1), ("b", 1), ("c", 1)], &[(0, 1, 1), (1, 2, 1), (0, 2, 1)]);
    let structure = detect(&fabric);
    let to_c = DestId(2);
    let base = random_tables(&fabric, &mut stream(0, 0));
    let with = |a: u16, b: u16| {
        let mut lft = base.clone();
        lft.set(SwitchId(0), to_c, Some(a));
        lft.set(SwitchId(1), to_c, Some(b));
        lft
    };
    // Port 1 is the host; a: 2 to b, 3 to c; b: 2 to a, 3 to c.
    let (old, new) = (with(3, 2), with(2, 3));
    let report = mix(&fabric, &structure, 0, &old, &new);
    assert_eq!((report.loops, report.holes, report.changed_entries), (1, 0, 2));
    let text = &report.findings.iter().find(|f| f.kind == FindingKind::Loop).unwrap().text;
    assert_eq!(text, "towards host0002, a mix of old and new entries loops: a -> b -> a");
    // b first, then a.
    let plan = stages(&fabric, &structure, 0, &old, &new, 2).unwrap();
    assert_eq!((plan.tables.len(), plan.fewest), (2, true));
    assert_eq!(plan.tables[0], with(3, 3));
}

#[test]
fn links_that_could_wait_in_a_circle_on_the_way_are_found() {
    // Ring of four: clockwise for two destinations, then for the two others; each alone leaves one turn out.
    let mut found = 0;
    for seed in 0..200 {
        let mut random = stream(seed, 2);
        let fabric = cases::ring(4);
        let structure = detect(&fabric);
        let (old, new) = (random_tables(&fabric, &mut random), random_tables(&fabric, &mut random));
        let report = mix(&fabric, &structure, 0, &old, &new);
        if report.credit_loops == 0 {
            continue;
        }
        found += 1;
        let clean = |lft: &Lft| mix(&fabric, &structure, 0, lft, lft).ok();
        assert!(clean(&old) && clean(&new), "seed {seed}: told only where neither table has one");
        match stages(&fabric, &structure, 0, &old, &new, 99) {
            Ok(plan) => {
                let mut from = &old;
                for to in &plan.tables {
                    assert_eq!(mix(&fabric, &structure, 0, from, to).credit_loops, 0, "seed {seed}");
                    from = to;
                }
                assert_eq!(from, &new);
            }
            Err(refused) => assert!(refused.text.contains("wait for each other"), "seed {seed}: {refused:?}"),
        }
    }
    assert!(found > 5, "{found}");
}
