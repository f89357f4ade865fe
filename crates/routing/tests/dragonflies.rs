//! Minimal routes of dragonflies.

use std::collections::{HashMap, HashSet};

use netloom_model::{Fabric, Lft, LinkId, NO_PORT, Routes, SwitchId};
use netloom_routing::{EngineOptions, PathSet, Steering, dla, loads};
use netloom_testkit::{CutDragonfly, cut_aries, cut_dragonfly, matrix};
use netloom_topology::{Arrangement, detect, generate};

#[test]
fn minimal_ways_have_one_global_cable_at_most() {
    for arrangement in Arrangement::ALL {
        let fabric = generate(&format!("dragonfly:p=1,a=4,h=2,arrangement={arrangement}")).unwrap();
        let structure = detect(&fabric);
        let groups = structure.shape.groups().unwrap();
        let paths = PathSet::by_groups(&fabric, groups);
        for (s, t) in fabric.switches().flat_map(|s| fabric.switches().map(move |t| (s, t))) {
            let (mut at, mut global, mut hops) = (s, 0, 0);
            while at != t {
                let links = paths.links(at, t);
                // One cable joins two groups, so there is one way.
                assert_eq!(links.len(), 1);
                let next = fabric.link_to_switch(links[0]).unwrap();
                global += u32::from(groups.group(at) != groups.group(next));
                (at, hops) = (next, hops + 1);
            }
            assert_eq!(global, u32::from(groups.group(s) != groups.group(t)));
            assert_eq!(paths.hops(s, t), Some(hops));
            assert!(hops <= 3 && paths.longest() == 3);
        }
    }
}

/// What following all tables shows, by the test's own code.
struct Followed {
    /// Pairs of hosts that working cables join, and of these those that the tables do not.
    joined: usize,
    lost: usize,
    /// Whether some lane of a link waits for itself in the end.
    circle: bool,
    lanes: u8,
}

fn follow(fabric: &Fabric, routes: &Routes) -> Followed {
    let lanes = routes.lanes.as_deref().unwrap();
    let lft = routes.lft().unwrap();
    let part = parts(fabric);
    let mut found = Followed { joined: 0, lost: 0, circle: false, lanes: 0 };
    let mut waits: HashMap<(LinkId, u8), HashSet<(LinkId, u8)>> = HashMap::new();
    for (from, to) in fabric.hosts().flat_map(|a| fabric.hosts().map(move |b| (a, b))).filter(|(a, b)| a != b)
    {
        if part[fabric.leaf(from).index()] != part[fabric.leaf(to).index()] {
            continue;
        }
        found.joined += 1;
        let dest = fabric.dests(0).host(to, 0);
        let mut holds = (fabric.host_link(from), lanes.first_lane(from.0, 0));
        let mut arrived = false;
        for _ in 0..=fabric.switch_count() {
            let at = fabric.link_to_switch(holds.0).unwrap();
            let port = lft.port(at, dest);
            let Some(out) = fabric.link_at(at, port).filter(|&l| port != NO_PORT && fabric.alive(l)) else {
                break;
            };
            let wants = (out, lanes.lane(holds.0.0, out.0, 0));
            found.lanes = found.lanes.max(wants.1 + 1);
            waits.entry(holds).or_default().insert(wants);
            if fabric.link_to_switch(out).is_none() {
                arrived = out == fabric.reverse(fabric.host_link(to));
                break;
            }
            holds = wants;
        }
        found.lost += usize::from(!arrived);
    }
    found.circle = circle(&waits);
    found
}

/// Depth first: 1 is on the way, 2 is done.
fn circle(waits: &HashMap<(LinkId, u8), HashSet<(LinkId, u8)>>) -> bool {
    let mut state: HashMap<(LinkId, u8), u8> = HashMap::new();
    for &start in waits.keys() {
        if state.contains_key(&start) {
            continue;
        }
        let after =
            |v: &(LinkId, u8)| -> Vec<(LinkId, u8)> { waits.get(v).into_iter().flatten().copied().collect() };
        state.insert(start, 1);
        let mut stack = vec![(start, after(&start))];
        while let Some((at, rest)) = stack.last_mut() {
            match rest.pop() {
                None => {
                    state.insert(*at, 2);
                    stack.pop();
                }
                Some(next) => match state.get(&next) {
                    Some(1) => return true,
                    Some(_) => {}
                    None => {
                        state.insert(next, 1);
                        stack.push((next, after(&next)));
                    }
                },
            }
        }
    }
    false
}

/// A number for every switch, equal where working cables join two.
fn parts(fabric: &Fabric) -> Vec<usize> {
    let mut part: Vec<usize> = (0..fabric.switch_count()).collect();
    loop {
        let mut changed = false;
        for l in fabric.links().filter(|&l| fabric.alive(l)) {
            if let (Some(a), Some(b)) = (fabric.link_from_switch(l), fabric.link_to_switch(l))
                && part[a.index()] < part[b.index()]
            {
                (part[b.index()], changed) = (part[a.index()], true);
            }
        }
        if !changed {
            return part;
        }
    }
}

/// Seeds to look at: some of those that are free, or with `NETLOOM_TRIALS` the held-out ones.
fn seeds(usual: u64, held_out: std::ops::Range<u64>) -> Vec<u64> {
    match std::env::var("NETLOOM_TRIALS") {
        Ok(_) => held_out.collect(),
        Err(_) => (0..usual).collect(),
    }
}

fn cliques() -> Vec<(u64, CutDragonfly)> {
    seeds(25, 990_000..990_300).into_iter().map(|seed| (seed, cut_dragonfly(seed))).collect()
}

fn grids() -> Vec<(u64, CutDragonfly)> {
    seeds(20, 991_000..991_150).into_iter().map(|seed| (seed, cut_aries(seed))).collect()
}

/// Damaged dragonflies have tables on at most four lanes, which lose no pair and wait in no circle.
fn tables_are_sound(cases: Vec<(u64, CutDragonfly)>) {
    let mut lanes = [0; 5];
    for (seed, cut) in cases {
        let fabric = cut.fabric.with_groups(cut.groups.clone());
        let name = format!("{seed}: {} {} %", cut.spec, cut.cut_percent);
        let routes = dla(&fabric, &detect(&fabric), &EngineOptions::default());
        let routes = routes.unwrap_or_else(|error| panic!("{name}: {error}"));
        let found = follow(&fabric, &routes);
        assert_eq!((found.lost, found.circle), (0, false), "{name}");
        assert!(found.lanes <= 4 && found.lanes == routes.lanes.as_ref().unwrap().lanes(), "{name}");
        lanes[usize::from(found.lanes)] += 1;
    }
    println!("by lanes {lanes:?}");
}

/// Whatever lanes turns take, the tables that `dla` chooses first wait in a circle here: 6 and 16 destinations take other ways.
#[test]
fn where_lanes_run_out_destinations_take_other_ways() {
    tables_are_sound([125, 305].map(|seed| (seed, cut_aries(seed))).into());
}

#[test]
fn hostile_damaged_dragonflies_lose_no_pair_and_wait_in_no_circle() {
    tables_are_sound(cliques());
}

#[test]
fn hostile_damaged_grids_lose_no_pair_and_wait_in_no_circle() {
    tables_are_sound(grids());
}

/// Two hops within a group, three links at a visit at most: row, then column, or column, then row.
#[test]
fn whole_grids_are_routed_by_shortest_ways_on_two_lanes() {
    for spec in [
        "aries:groups=4,links=4,slots=4,chassis=3,hosts=2",
        "aries:groups=3,links=2,slots=5,chassis=2,hosts=1",
    ] {
        let made = generate(spec).unwrap();
        let size = made.switch_count() as u32
            / made.switches().filter(|&s| made.switch_name(s).contains("c0s0")).count() as u32;
        let fabric = made.with_groups(made.switches().map(|s| s.0 / size).collect::<Vec<_>>());
        let structure = detect(&fabric);
        let groups = structure.shape.groups().unwrap();
        assert!(groups.grid.is_some() && groups.deviations.is_empty(), "{spec}: {groups:?}");
        let routes = dla(&fabric, &structure, &EngineOptions::default()).unwrap();
        let found = follow(&fabric, &routes);
        assert_eq!((found.lost, found.circle, found.lanes), (0, false, 2), "{spec}");
        // Of ways with one cable between groups none is shorter, by plain search over (switch, crossed or not).
        for paths in [PathSet::by_groups(&fabric, groups), PathSet::by_groups_for_tables(&fabric, groups)] {
            for from in fabric.switches() {
                let mut hops = vec![[u8::MAX; 2]; fabric.switch_count()];
                hops[from.index()][0] = 0;
                let mut queue = std::collections::VecDeque::from([(from, 0)]);
                while let Some((at, crossed)) = queue.pop_front() {
                    for l in fabric.switch_links(at) {
                        let Some(to) = fabric.link_to_switch(l) else { continue };
                        let then = crossed + usize::from(groups.group(at) != groups.group(to));
                        if then < 2 && hops[to.index()][then] == u8::MAX {
                            hops[to.index()][then] = hops[at.index()][crossed] + 1;
                            queue.push_back((to, then));
                        }
                    }
                }
                for to in fabric.switches() {
                    let crossed = usize::from(groups.group(from) != groups.group(to));
                    assert_eq!(paths.hops(from, to), Some(hops[to.index()][crossed]), "{spec}");
                }
            }
        }
    }
}

/// The two legs of a detour that begins within a group behind a packet's first switch.
fn legs(
    fabric: &Fabric,
    steering: &Steering,
    (holds, from): ((LinkId, u8), SwitchId),
    aims: [SwitchId; 2],
    waits: &mut HashMap<(LinkId, u8), HashSet<(LinkId, u8)>>,
) {
    let mut open = vec![(holds, from, 0)];
    while let Some((holds, at, leg)) = open.pop() {
        let leg = leg + usize::from(leg == 0 && at == aims[0]);
        for &out in steering.paths.links(at, aims[leg]) {
            let wants = (out, 2 * (1 + leg as u8));
            waits.entry(holds).or_default().insert(wants);
            open.push((wants, fabric.link_to_switch(out).unwrap(), leg));
        }
    }
}

/// All moves that packets of the schemes may make, minimal and by every third group: cables between groups crossed so far say the lane.
fn moves(fabric: &Fabric, steering: &Steering) -> HashMap<(LinkId, u8), HashSet<(LinkId, u8)>> {
    let mut waits: HashMap<(LinkId, u8), HashSet<(LinkId, u8)>> = HashMap::new();
    let mut seen = HashSet::new();
    for from in fabric.switches() {
        for to in fabric.switches().filter(|&to| to != from) {
            // What a packet holds, where it is, cables between groups behind it, where it goes and then.
            let mut open = vec![(None, from, 0u8, to, to)];
            for &cable in steering.cables_of(steering.group(from)) {
                let third =
                    steering.third(from, cable, to).filter(|_| steering.group(from) != steering.group(to));
                open.extend(third.map(|third| (None, from, 0, third, to)));
            }
            // Of modes: by a third switch of the group, where the lanes of the second crossing begin.
            if steering.group(from) == steering.group(to) {
                let members = steering.members(steering.group(from)).iter().copied();
                let stays = |a, b| steering.crossings(a, b) == 0;
                let third = members.filter(|&s| s != from && s != to && stays(from, s) && stays(s, to));
                open.extend(third.map(|third| (None, from, 0, third, to)));
            }
            while let Some((holds, at, crossed, aim, then)) = open.pop() {
                if !seen.insert((holds, at, crossed, aim, then)) {
                    continue;
                }
                // In the third group, wherever that is, it turns to its destination.
                let crossed = crossed + u8::from(crossed == 0 && at == aim && at != then);
                let aim = if crossed > 0 { then } else { aim };
                let mut goes = |out: LinkId, crossed: u8, aim: SwitchId| {
                    let global = steering.is_global(out);
                    let wants = (out, 2 * crossed + u8::from(global));
                    if let Some(holds) = holds {
                        waits.entry(holds).or_default().insert(wants);
                    }
                    let next = fabric.link_to_switch(out).unwrap();
                    open.push((Some(wants), next, crossed + u8::from(global), aim, then));
                };
                steering.paths.links(at, aim).iter().for_each(|&out| goes(out, crossed, aim));
                // Mode 1 chooses again on minimal ways: by a cable of the switch to a third group, ...
                let Some((via, _)) = holds.filter(|_| aim == then && at != then) else { continue };
                let within = steering.group(at) == steering.group(then);
                if !within && crossed == 0 {
                    let cables = steering.cables_at(fabric, at).iter();
                    cables
                        .filter(|&&out| steering.third(at, out, then).is_some())
                        .for_each(|&out| goes(out, 0, then));
                }
                // ... or by a third switch of the group, on the lanes of the next crossing, and of the one after from there.
                let comes = steering.is_global(via);
                if within && crossed == u8::from(comes) {
                    let stays = |a, b| steering.crossings(a, b) == 0;
                    let members = steering.members(steering.group(at)).iter().copied();
                    for third in members.filter(|&s| s != at && s != then && stays(at, s) && stays(s, then)) {
                        legs(fabric, steering, (holds.unwrap(), at), [third, then], &mut waits);
                    }
                }
            }
        }
    }
    waits
}

/// All moves of packets with detours wait in no circle.
fn moves_are_sound(cases: Vec<(u64, CutDragonfly)>, most_switches: usize) {
    let (mut passed, mut lanes, mut seen) = (0, [0; 16], 0);
    for (seed, cut) in cases {
        // All moves of all pairs are many.
        if cut.fabric.switch_count() > most_switches {
            continue;
        }
        seen += 1;
        let fabric = cut.fabric.with_groups(cut.groups.clone());
        match Steering::new(&fabric, &detect(&fabric)) {
            Ok(steering) => {
                let waits = moves(&fabric, &steering);
                assert!(!circle(&waits), "{seed}: {} {}", cut.spec, cut.cut_percent);
                let part = parts(&fabric);
                for (a, b) in fabric.switches().flat_map(|a| fabric.switches().map(move |b| (a, b))) {
                    let joined = part[a.index()] == part[b.index()];
                    assert_eq!(
                        steering.crossings(a, b) != u8::MAX,
                        joined,
                        "{seed}: {} {}",
                        cut.spec,
                        cut.cut_percent
                    );
                }
                passed += 1;
                lanes[2 * usize::from(steering.most_crossings()) + 1] += 1;
            }
            Err(error) => println!("{seed}: {} {} %: {error}", cut.spec, cut.cut_percent),
        }
    }
    println!("{passed} of {seen}, minimal ways by lanes {lanes:?}");
    assert!(100 * passed >= 97 * seen, "{passed} of {seen}");
}

#[test]
fn hostile_moves_with_detours_on_damaged_dragonflies_wait_in_no_circle() {
    moves_are_sound(cliques(), 32);
}

#[test]
fn hostile_moves_with_detours_on_damaged_grids_wait_in_no_circle() {
    moves_are_sound(grids(), 48);
}

/// The largest load on a link between switches where every host sends a byte to each host that `to` says.
fn most(fabric: &Fabric, routes: &Routes, to: impl Fn(u64, u64) -> bool) -> f64 {
    let n = fabric.host_count() as u64;
    let pairs = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let entries: Vec<_> = pairs.filter(|&(i, j)| i != j && to(i, j)).map(|(i, j)| (i, j, 1.0)).collect();
    let found = loads(fabric, routes, &matrix(fabric.host_count(), &entries)).unwrap();
    fabric.links().filter(|&l| fabric.between_switches(l)).map(|l| found.load[l.index()]).fold(0.0, f64::max)
}

/// Each of the k cables of two groups carries its share of (a p) squared bytes: 18 x 18 / 2 = 162, 32 x 32 / 4 = 256.
#[test]
fn several_cables_of_two_groups_share_the_load() {
    for (spec, groups, all, neighbour) in [
        ("dragonfly:p=3,a=6,h=3,g=10,links=2", 10, 174.0, 162.0),
        ("dragonfly:p=4,a=8,h=4,g=9,links=4", 9, 276.0, 260.0),
    ] {
        let fabric = generate(spec).unwrap();
        let routes = dla(&fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let a_group = fabric.host_count() as u64 / groups;
        let found = (
            most(&fabric, &routes, |_, _| true),
            most(&fabric, &routes, |i, j| j / a_group == (i / a_group + 1) % groups),
        );
        assert!(found.0 <= all && found.1 <= neighbour, "{spec}: {found:?}");
    }
}

/// Tables of shortest ways whatever they cross, lanes ignored: a destination after another, each switch the link with the least load on the way.
fn short_ways(fabric: &Fabric) -> Routes {
    let space = fabric.dests(0);
    let mut lft = Lft::empty(fabric.switch_count(), space.count(), fabric.max_radix());
    let mut load = vec![0; fabric.link_count()];
    for host in fabric.hosts() {
        let leaf = fabric.leaf(host);
        lft.set(leaf, space.host(host, 0), Some(fabric.link_port(fabric.reverse(fabric.host_link(host)))));
        let mut hops = vec![usize::MAX; fabric.switch_count()];
        let mut next: Vec<Option<(LinkId, u64)>> = vec![None; fabric.switch_count()];
        hops[leaf.index()] = 0;
        let mut order = vec![leaf];
        let mut at = 0;
        while let Some(&s) = order.get(at) {
            at += 1;
            for link in fabric.switch_links(s).filter(|&l| fabric.alive(l)).map(|l| fabric.reverse(l)) {
                let Some(from) = fabric.link_from_switch(link) else { continue };
                if hops[from.index()] == usize::MAX {
                    hops[from.index()] = hops[s.index()] + 1;
                    order.push(from);
                }
                let sum = next[s.index()].map_or(0, |(_, sum)| sum) + load[link.index()];
                let nearer = hops[from.index()] == hops[s.index()] + 1;
                if nearer && next[from.index()].is_none_or(|(_, least)| sum < least) {
                    next[from.index()] = Some((link, sum));
                }
            }
        }
        for &s in &order[1..] {
            lft.set(s, space.host(host, 0), next[s.index()].map(|(link, _)| fabric.link_port(link)));
            let mut at = s;
            while let Some((link, _)) = next[at.index()] {
                load[link.index()] += fabric.hosts_on(s).len() as u64;
                at = fabric.link_to_switch(link).unwrap();
            }
        }
    }
    Routes::by_dest(fabric, 0, lft)
}

/// Where small groups lack cables, ways with the fewest cables between groups had up to twice the load of short ones.
#[test]
fn small_groups_that_lack_cables_carry_little_more_than_by_short_ways() {
    let small = |cut: &CutDragonfly| {
        (1..=5).contains(&cut.cut_percent) && ["a=2,", "a=3,", "a=4,"].iter().any(|a| cut.spec.contains(a))
    };
    let cases = (0..1000).map(|seed| (seed, cut_dragonfly(seed)));
    for (seed, cut) in cases.filter(|(_, cut)| small(cut)).take(20) {
        let fabric = cut.fabric.with_groups(cut.groups.clone());
        let routes = dla(&fabric, &detect(&fabric), &EngineOptions::default()).unwrap();
        let found = follow(&fabric, &routes);
        assert!(found.lost == 0 && !found.circle && found.lanes <= 4, "{seed}: {}", cut.spec);
        let (ours, short) =
            (most(&fabric, &routes, |_, _| true), most(&fabric, &short_ways(&fabric), |_, _| true));
        assert!(ours <= 1.5 * short, "{seed}: {} {} %: {ours} for {short}", cut.spec, cut.cut_percent);
    }
}
