//! Service levels, virtual lanes and their arbitration, delays of single cables and switches. Links run at 12.5 GB/s: 80 ps a byte.

use std::sync::Arc;

use netloom_model::rng::{below, stream};
use netloom_model::{Control, Fabric, HostId, LaneMap, LinkId, SERVICE_LEVELS};
use netloom_routing::{Engine, EngineOptions, PathSet, route};
use netloom_sim::choice::{Adaptive, ByTable};
use netloom_sim::{
    Choice, Config, Here, Injection, Job, Measure, Model, Network, Nobody, Op, Outputs, Pairs, Profile,
    Scheme, Setup, SimError, simulate,
};
use netloom_testkit::cases::{ring, star};
use netloom_topology::{detect, generate};

use crate::common::{AtOnce, clockwise, run};

fn tables(fabric: &Fabric) -> netloom_model::Routes {
    route(Engine::Updn, fabric, &detect(fabric), &EngineOptions::default()).unwrap()
}

/// A clockwise ring is a cycle of credits. Messages that cross the line before switch 0 have service level 1, which goes over to lane 1 there
/// (a date line; Dally and Seitz 1987): on lane 0 nobody goes on over the line, and lane 1 ends half-way round.
#[test]
fn a_date_line_breaks_the_credit_loop() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    // Those with service levels 0 and 1 by turns.
    let messages = [(0, 3), (3, 0), (1, 4), (4, 1), (2, 5), (5, 2)].map(|(from, to)| (from, to, 100 * 4096));
    let run = |date_line: bool| {
        let map = LaneMap::new(&fabric, |via, out, level| {
            let behind = fabric.link_from_switch(out).is_some_and(|at| at.0 < 3);
            u8::from(date_line && via.is_some() && level == 1 && behind)
        });
        let config = Config { lanes: 2, lane_map: Some(Arc::new(map)), ..Config::infiniband() };
        let mut program = AtOnce::new(&messages);
        program.lanes = 2;
        let mut network =
            Network::new(&fabric, &config, ByTable::new(&fabric, &lft), program, Nobody).unwrap();
        network.run().map(|()| network.program().done_ps.iter().flatten().count())
    };
    assert!(matches!(run(false), Err(SimError::Deadlock { .. })));
    assert_eq!(run(true), Ok(6));
}

/// Tables, and lanes of its own: packets go over to lane 1 where they leave the switch behind the date line.
#[derive(Clone)]
struct DateLine(ByTable);

impl Choice for DateLine {
    const LOOKS: bool = false;
    const LANES: bool = true;

    fn lanes(&self) -> u8 {
        2
    }

    fn output(&mut self, here: Here, outputs: &mut Outputs) -> Option<LinkId> {
        self.0.output(here, outputs)
    }

    fn lane(&self, here: Here, _out: LinkId) -> Option<u8> {
        Some(if here.switch.0 == 0 { 1 } else { here.lane })
    }

    fn first_lane(&self, _from: HostId, _level: u8) -> Option<u8> {
        Some(0)
    }
}

/// The same date line, as part of the routing scheme's choice: no tables of lanes and no service levels are needed.
#[test]
fn a_scheme_that_chooses_lanes_breaks_the_credit_loop() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    let messages: Vec<_> = (0..6).map(|h| (h, (h + 3) % 6, 100 * 4096)).collect();
    let network = |lanes, messages: &[(u32, u32, u64)]| {
        let config = Config { lanes, ..Config::infiniband() };
        let choice = DateLine(ByTable::new(&fabric, &lft));
        Network::new(&fabric, &config, choice, AtOnce::new(messages), Nobody)
    };
    let mut dated = network(2, &messages).unwrap();
    dated.run().unwrap();
    assert_eq!(dated.program().done_ps.iter().flatten().count(), 6);
    // From host 5 over switches 5, 0 and 1 to host 1: lane 0 up to switch 0, lane 1 behind it.
    let mut one = network(2, &[(5, 1, 4096)]).unwrap();
    one.run().unwrap();
    let counters = one.counters();
    let lanes: Vec<_> = fabric
        .links()
        .flat_map(|link| (0..2).map(move |lane| (link, lane)))
        .filter(|&(link, lane)| counters.sent[link.index() * 2 + lane].packets > 0)
        .map(|(link, lane)| (fabric.link_from_switch(link).map(|s| s.0), lane))
        .collect();
    assert_eq!(lanes.len(), 4, "{lanes:?}");
    for (from, lane) in lanes {
        assert_eq!(lane, usize::from(matches!(from, Some(0 | 1))), "{from:?}");
    }
    let error = network(1, &messages).err().expect("one lane is too few");
    assert!(error.to_string().starts_with("lanes: expected at least 2"), "{error}");
}

/// The lane that is full all round is in the report; others are not.
#[test]
fn a_deadlock_is_a_cycle_of_links_and_lanes() {
    let fabric = ring(6);
    let lft = clockwise(&fabric, 6);
    let messages: Vec<_> = (0..6).map(|h| (h, (h + 3) % 6, 100 * 4096)).collect();
    let config = Config { lanes: 3, ..Config::infiniband() };
    let mut program = AtOnce::new(&messages);
    program.lanes = 3;
    let mut network = Network::new(&fabric, &config, ByTable::new(&fabric, &lft), program, Nobody).unwrap();
    // Two messages a lane have no link in common, so no lane is full all round.
    network.run().unwrap();
    assert_eq!(network.program().done_ps.iter().flatten().count(), 6);
    // All on lane 2 do.
    let map = LaneMap::new(&fabric, |_, _, _| 2);
    let config = Config { lane_map: Some(Arc::new(map)), ..config };
    let Err(SimError::Deadlock { cycle, .. }) = run(&fabric, &config, &lft, &messages) else {
        panic!("the ring must lock up")
    };
    assert_eq!(cycle.len(), 6);
    assert!(cycle.iter().all(|&(_, lane)| lane == 2), "{cycle:?}");
}

/// Hosts 1 and 2 send to host 0 on a lane each. With weights of 3:1 the first gets three quarters of host 0's link: when its
/// 300 packets are through, 100 of the other's are.
#[test]
fn weights_of_three_to_one_give_three_times_the_throughput() {
    let fabric = star(3);
    let routes = tables(&fabric);
    let done = |lane_weights: Vec<u8>| {
        let config = Config { lanes: 2, lane_weights, ..Config::infiniband() };
        let mut program = AtOnce::new(&[(1, 0, 300 * 4096), (2, 0, 300 * 4096)]);
        program.lanes = 2;
        let choice = ByTable::new(&fabric, routes.lft().unwrap());
        let mut network = Network::new(&fabric, &config, choice, program, Nobody).unwrap();
        network.run().unwrap();
        let packet = f64::from(config.wire_bytes()) * 80.0;
        network.program().done_ps.iter().map(|t| t.unwrap() as f64 / packet).collect::<Vec<_>>()
    };
    // A packet is 65 units of 64 bytes: 195 of them are three packets.
    let weighted = done(vec![195, 65]);
    assert!((weighted[0] - 400.0).abs() < 10.0, "{weighted:?}");
    let even = done(vec![130, 130]);
    assert!((even[0] - even[1]).abs() < 5.0 && (even[0] - 600.0).abs() < 5.0, "{even:?}");
    assert!((weighted[1] - 600.0).abs() < 5.0, "no time is lost: {weighted:?}");
}

/// Switches know the inputs that wait by bits; where there are tables of lanes, by lists. Tables that put every level on the lane of its
/// number change nothing, so both admit the same packets at the same times: static and adaptive, on one lane and two.
#[test]
fn inputs_by_bits_and_by_lists_admit_the_same_packets() {
    let fabric = generate("two-level:leaves=4,hosts=6,spines=3").unwrap();
    let structure = detect(&fabric);
    let paths = PathSet::admissible(&fabric, &structure);
    let routes = tables(&fabric);
    for (seed, lanes) in (0..20).flat_map(|seed| [(seed, 1), (seed, 2)]) {
        let mut random = stream(seed, 7);
        let mut host = || below(&mut random, 24) as u32;
        let pairs: Vec<(u32, u32)> = (0..60).map(|_| (host(), host())).filter(|(a, b)| a != b).collect();
        let sizes = [900, 4_096, 9_000, 40_000];
        let messages: Vec<_> = pairs
            .iter()
            .zip(sizes.into_iter().cycle())
            .map(|(&(from, to), bytes)| (from, to, bytes))
            .collect();
        let with = |lane_map: Option<Arc<LaneMap>>, adaptive: bool| {
            let config = Config { lanes, lane_map, ..Config::infiniband() };
            let mut program = AtOnce::new(&messages);
            program.lanes = lanes;
            if adaptive {
                let choice = Adaptive::new(&fabric, &paths, seed);
                let mut network = Network::new(&fabric, &config, choice, program, Nobody).unwrap();
                network.run().unwrap();
                return (network.program().done_ps.clone(), network.counters());
            }
            let choice = ByTable::new(&fabric, routes.lft().unwrap());
            let mut network = Network::new(&fabric, &config, choice, program, Nobody).unwrap();
            network.run().unwrap();
            (network.program().done_ps.clone(), network.counters())
        };
        let map = Some(Arc::new(LaneMap::uniform(&fabric, lanes)));
        for adaptive in [false, true] {
            assert_eq!(
                with(None, adaptive),
                with(map.clone(), adaptive),
                "seed {seed}, {lanes} lanes, {adaptive}"
            );
        }
    }
}

#[test]
fn weights_must_be_one_a_lane() {
    for lane_weights in [vec![1], vec![1, 0], vec![1, 2, 3]] {
        let error = Config { lanes: 2, lane_weights, ..Config::infiniband() }.check().unwrap_err();
        assert!(error.to_string().starts_with("lane_weights: expected 2 numbers"), "{error}");
    }
}

/// Small messages cross the switch while two bullies fill the receiver's link: on a lane of their own they wait for a packet a
/// link at most, on the bullies' lane behind all that the buffers hold.
#[test]
fn a_lane_of_its_own_protects_a_job_from_a_bully() {
    let fabric = star(3);
    let routes = tables(&fabric);
    let ping = |service_level| {
        let each = |to, from| -> Vec<Op> {
            (0..20)
                .flat_map(|_| [Op::Send { to, bytes: 8, tag: 0 }, Op::Recv { from, tag: 0 }])
                .chain([Op::WaitAll])
                .collect()
        };
        let hosts = |list: [u32; 2]| list.into_iter().map(HostId).collect::<Vec<_>>();
        let mut victim = Job::new("victim", hosts([0, 1]), vec![each(1, 1), each(0, 0)]);
        victim.service_level = service_level;
        let bully = |from, to| {
            let pairs = Pairs { partner: vec![1, 0], rounds: 100, messages: 4, bytes: 1 << 20 };
            let mut job = Job::new("bully", hosts([from, to]), pairs);
            job.until = Some(0);
            job
        };
        let profile = Profile {
            config: Config { lanes: 2, injection: Injection::RoundRobin, ..Config::infiniband() },
            ..Profile::infiniband()
        };
        let setup = Setup {
            fabric: &fabric,
            scheme: Scheme::Tables(&routes),
            model: Model::Packet,
            profile,
            jobs: vec![victim, bully(2, 1), bully(0, 1)],
            seed: 1,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            skip_repeats: None,
            until_ps: Some(50_000_000_000),
        };
        simulate(setup, &Control::new()).unwrap().jobs[0].message_latency
    };
    let (shared, own) = (ping(0), ping(1));
    // Software 0.4 us, a switch and two cables 0.15 us; at most a packet on each of two links.
    assert!(own.max_ps < 550_000 + 3 * 4122 * 80, "{own:?}");
    // Up to 64 KiB of input buffer before it, at half the speed of the link.
    assert!(shared.mean_ps > 5.0 * own.mean_ps, "{shared:?} {own:?}");
}

#[test]
fn a_service_level_without_a_lane_is_refused() {
    let fabric = star(2);
    let routes = tables(&fabric);
    let mut job = Job::new("it", vec![HostId(0), HostId(1)], vec![vec![], vec![]]);
    job.service_level = 1;
    let setup = Setup {
        fabric: &fabric,
        scheme: Scheme::Tables(&routes),
        model: Model::Packet,
        profile: Profile::infiniband(),
        jobs: vec![job],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let error = simulate(setup, &Control::new()).unwrap_err();
    assert!(error.to_string().starts_with("service_level: expected 0 to 0"), "{error}");
}

/// A long cable and a slow switch add their delay to what crosses them, and to nothing else.
#[test]
fn single_cables_and_switches_have_delays_of_their_own() {
    let fabric = star(3);
    let routes = tables(&fabric);
    let end = |config: &Config, to| {
        run(&fabric, config, routes.lft().unwrap(), &[(0, to, 4096)]).unwrap().program().end_ps()
    };
    let plain = Config::infiniband();
    let mut cables = vec![plain.cable_delay_ps; fabric.link_count()];
    cables[fabric.reverse(LinkId(1)).index()] += 500_000;
    let long = Config { cable_delays_ps: Some(cables.into()), ..plain.clone() };
    assert_eq!(end(&long, 1), end(&plain, 1) + 500_000);
    assert_eq!(end(&long, 2), end(&plain, 2));
    let slow = Config { switch_delays_ps: Some([plain.switch_delay_ps + 7].into()), ..plain.clone() };
    assert_eq!(end(&slow, 2), end(&plain, 2) + 7);
    let wrong = Config { switch_delays_ps: Some([1, 2].into()), ..plain };
    let Err(error) = run(&fabric, &wrong, routes.lft().unwrap(), &[(0, 1, 1)]) else {
        panic!("there is one switch")
    };
    assert!(error.to_string().contains("switch_delays_ps"), "{error}");
}

/// 16 hosts have 240 pairs; 4 levels of 60 each, standard deviation 6.7. The lanes of a port out depend on the port in.
#[test]
fn random_levels_and_lanes_are_spread() {
    let fabric = star(16);
    let map = LaneMap::random(&fabric, 4, 2, 9);
    let mut count = [0; 4];
    let pairs = || fabric.hosts().flat_map(|s| fabric.hosts().map(move |d| (s, d))).filter(|(s, d)| s != d);
    for (from, to) in pairs() {
        count[usize::from(map.level(from, to).unwrap())] += 1;
    }
    assert!(count.iter().all(|n| (33..=87).contains(n)), "{count:?}");
    assert!(pairs().any(|(s, d)| map.level(s, d) != map.level(d, s)));
    let out = fabric.reverse(fabric.host_link(HostId(0)));
    let second = (1..16).filter(|&via| map.lane(via, out.0, 3) == 1).count();
    assert!((1..15).contains(&second), "{second} of 15 inputs on the second lane");
    assert_eq!(map, LaneMap::random(&fabric, 4, 2, 9));
    assert_ne!(map, LaneMap::random(&fabric, 4, 2, 10));
    assert_eq!((map.lanes(), LaneMap::new(&fabric, |_, _, _| 0).level(HostId(0), HostId(1))), (2, None));
}

#[test]
fn every_entry_is_the_functions() {
    let fabric = ring(4);
    let lane = |via: Option<LinkId>, out: LinkId, level: u8| {
        (via.map_or(7, |link| link.0 % 5) + out.0 % 3 + u32::from(level) % 2) as u8
    };
    let map = LaneMap::new(&fabric, lane);
    for via in fabric.links() {
        let Some(switch) = fabric.link_to_switch(via) else { continue };
        for out in fabric.switch_links(switch) {
            for level in 0..SERVICE_LEVELS {
                assert_eq!(map.lane(via.0, out.0, level), lane(Some(via), out, level));
            }
        }
    }
    for host in fabric.hosts() {
        assert_eq!(map.first_lane(host.0, 3), lane(None, fabric.host_link(host), 3));
    }
    assert_eq!(map.lanes(), 11);
}
