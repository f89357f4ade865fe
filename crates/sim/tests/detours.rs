//! Detours on dragonflies: latency by hand, lanes, saturation, deadlock, refusals. Links run at 12.5 GB/s.

use std::collections::BTreeSet;

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::Steering;
use netloom_sim::choice::{Steer, sees};
use netloom_sim::{
    Config, Job, Measure, Model, Network, Nobody, OpenLoop, Outcome, Profile, Scheme, Setup, SimError,
    SteerOptions, Steered, Uniform, simulate,
};
use netloom_topology::{detect, generate};

use crate::common::AtOnce;

fn made(spec: &str) -> (Fabric, Steering) {
    let fabric = generate(spec).unwrap();
    let steering = Steering::new(&fabric, &detect(&fabric)).unwrap();
    (fabric, steering)
}

fn small() -> (Fabric, Steering) {
    made("dragonfly:p=2,a=4,h=2")
}

/// Every host offers `load` of its link to the next group, or to everybody.
fn setup<'a>(
    (fabric, steering): &'a (Fabric, Steering),
    options: SteerOptions,
    lanes: u8,
    neighbour: bool,
    load: f64,
    packets: u64,
) -> Setup<'a> {
    let profile = Profile { config: Config { lanes, ..Config::codes() }, ..Profile::codes() };
    let wire_bytes = u64::from(profile.config.wire_bytes());
    let hosts: Vec<u32> = fabric.hosts().map(|host| host.0).collect();
    let every_ps = wire_bytes as f64 * 80.0 / load;
    let length_ps = packets * wire_bytes * 80;
    let window = OpenLoop {
        from_ps: length_ps / 2,
        to_ps: length_ps + length_ps / 2,
        wire_bytes,
        capacity_bytes_per_s: 12.5e9 * hosts.len() as f64,
    };
    let bytes = u64::from(profile.config.packet_bytes);
    let mut script = Uniform::new(hosts.clone(), vec![every_ps; hosts.len()], bytes, window, 3);
    if neighbour {
        let of = detect(fabric).shape.groups().unwrap().of_hosts(fabric);
        let groups = of.iter().max().unwrap() + 1;
        let next = |host: &u32| {
            let theirs = (of[*host as usize] + 1) % groups;
            (0..).zip(&of).filter(|&(_, &group)| group == theirs).map(|(to, _)| to).collect()
        };
        script = script.with_receivers(hosts.iter().map(next).collect());
    }
    Setup {
        fabric,
        scheme: Scheme::Steered(options, steering),
        model: Model::Packet,
        profile,
        jobs: vec![Job::new("load", hosts.into_iter().map(HostId).collect(), script)],
        seed: 1,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    }
}

fn offer(net: &(Fabric, Steering), scheme: Steered, neighbour: bool, load: f64, packets: u64) -> Outcome {
    let setup = setup(net, SteerOptions::new(scheme), 5, neighbour, load, packets);
    let outcome = simulate(setup, &Control::default()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.deadlock.is_none());
    outcome
}

/// What was accepted of the mean host and of the least-served one.
fn accepted(outcome: &Outcome) -> (f64, f64) {
    let job = &outcome.jobs[0];
    (job.offered.as_ref().unwrap().accepted, job.least_accepted.unwrap())
}

/// A lone packet over `n` links between switches, by hand. `codes`: 4096 bytes at 80 ps on `n + 2` links, 90 ns in `n + 1` switches.
/// `infiniband`: 4122 bytes once, 100 ns in every switch, 25 ns on every cable. Minimal ways have 0 to 3 such links,
/// those by a third group 2 to 5: 1 to 4 and 3 to 6 switches.
#[test]
fn a_lone_packet_takes_the_time_worked_out_by_hand() {
    let (fabric, steering) = &small();
    for scheme in [Steered::Minimal, Steered::Valiant] {
        for config in [Config::codes(), Config::infiniband()] {
            let config = &Config { lanes: 5, ..config };
            let (mut within, mut between) = (BTreeSet::new(), BTreeSet::new());
            for (to, seed) in (1..72).flat_map(|to| (0..4).map(move |seed| (to, seed))) {
                let choice =
                    Steer::<{ sees::NOTHING }>::new(fabric, steering, SteerOptions::new(scheme), seed);
                let program = AtOnce::new(&[(0, to, 4096)]);
                let mut network = Network::new(fabric, config, choice, program, Nobody).unwrap();
                network.run().unwrap();
                let switches = network.packet_hops() - 1;
                let expected = match config.input_buffer_bytes {
                    None => (switches + 1) * 4096 * 80 + switches * 90_000,
                    Some(_) => 4122 * 80 + switches * 100_000 + (switches + 1) * 25_000,
                };
                assert_eq!(network.program().end_ps(), expected, "{scheme:?} to {to}, {switches} switches");
                assert_eq!(network.detours() == 1, scheme == Steered::Valiant && to >= 8);
                (if to < 8 { &mut within } else { &mut between }).insert(switches);
            }
            assert_eq!(within, BTreeSet::from([1, 2]));
            let ways = if scheme == Steered::Minimal { 2..=4 } else { 3..=6 };
            assert_eq!(between, ways.collect());
        }
    }
}

/// UGAL on an idle network is minimal.
#[test]
fn ugal_takes_no_detour_where_nothing_waits() {
    let outcome = offer(&small(), Steered::Ugal, false, 0.01, 50);
    assert_eq!(outcome.detours, Some(0));
}

/// 8 hosts of a group share the one cable to the next: 1/8 of a link each. By third groups, 7 of 9 groups' cables in and out carry
/// half of what they could: `(g - 2) / (2 a p) = 7/16`.
#[test]
fn the_neighbour_pattern_saturates_where_the_sums_say() {
    let net = &small();
    let (mean, _) = accepted(&offer(net, Steered::Minimal, true, 0.3, 600));
    assert!((mean / 0.125 - 1.0).abs() < 0.01, "minimal {mean}");
    let (valiant, least) = accepted(&offer(net, Steered::Valiant, true, 0.6, 600));
    assert!((valiant / 0.4375 - 1.0).abs() < 0.05, "valiant {valiant}");
    assert!(least > 0.5 * valiant && least < valiant, "{least} of {valiant}");
    let outcome = offer(net, Steered::Ugal, true, 0.7, 400);
    let ugal = accepted(&outcome).0;
    // No split of minimal ways and detours carries more than 9/16.
    assert!((2.5 * mean..0.5625).contains(&ugal), "ugal {ugal}");
    let detours = outcome.detours.unwrap() as f64 / outcome.packets as f64;
    assert!((0.5..1.0).contains(&detours), "{detours}");
}

#[test]
fn uniform_load_below_saturation_is_accepted() {
    let net = &small();
    for (scheme, load) in [(Steered::Minimal, 0.6), (Steered::Valiant, 0.4), (Steered::Ugal, 0.6)] {
        let outcome = offer(net, scheme, false, load, 400);
        let found = outcome.jobs[0].offered.as_ref().unwrap();
        assert!((found.accepted / found.offered - 1.0).abs() < 0.015, "{scheme:?}: {found:?}");
        let detours = outcome.detours.unwrap() as f64 / outcome.packets as f64;
        // 64 of 71 others are in other groups.
        let expected = if scheme == Steered::Valiant { 64.0 / 71.0 } else { 0.0 };
        assert!((detours - expected).abs() < if scheme == Steered::Ugal { 0.3 } else { 0.01 }, "{detours}");
    }
}

/// With a lane less than slots, or one for all, the neighbour pattern locks up; the cycle's links follow one another.
#[test]
fn fewer_lanes_than_slots_are_refused_or_lock_up() {
    let net = &small();
    let slots = [
        (Steered::Minimal, 3),
        (Steered::Valiant, 5),
        (Steered::Ugal, 5),
        (Steered::UgalGlobal, 5),
        (Steered::ValiantRouter, 6),
        (Steered::Par, 6),
    ];
    for (scheme, slots) in slots {
        let few = setup(net, SteerOptions::new(scheme), slots - 1, true, 0.5, 10);
        let error = simulate(few, &Control::new()).unwrap_err().to_string();
        assert!(error.starts_with(&format!("lanes: expected at least {slots}")), "{error}");
        let enough = setup(net, SteerOptions::new(scheme), slots, true, 0.5, 10);
        assert!(simulate(enough, &Control::new()).unwrap().deadlock.is_none());
    }
    let options = SteerOptions { lanes: 1, ..SteerOptions::new(Steered::Valiant) };
    let mut one = setup(net, options, 1, false, 1.0, 200);
    one.profile = Profile::infiniband();
    let outcome = simulate(one, &Control::new()).unwrap();
    let cycle = outcome.deadlock.expect("it locks up").cycle;
    assert!(cycle.len() > 1, "{cycle:?}");
    for (at, &(link, lane)) in cycle.iter().enumerate() {
        let next = cycle[(at + 1) % cycle.len()].0;
        assert_eq!(net.0.link_to_switch(link), net.0.link_from_switch(next));
        assert_eq!(lane, 0);
    }
}

#[test]
fn what_can_not_be_steered_is_refused_by_name() {
    let fabric = generate("two-level:leaves=4,hosts=4,spines=4").unwrap();
    let error = Steering::new(&fabric, &detect(&fabric)).unwrap_err().to_string();
    assert_eq!(error, "expected a dragonfly, found a tree");
    let net = &small();
    let mut flows = setup(net, SteerOptions::new(Steered::Ugal), 5, true, 0.5, 10);
    flows.model = Model::Fluid;
    let error = simulate(flows, &Control::new()).unwrap_err();
    assert_eq!(error.to_string(), "model: expected packet, as flows take no detours (ugal)");
    assert!(matches!(error, SimError::Config { what: "model", .. }));
}

/// Watched runs have machine code of their own, partitions their own queues of events.
#[test]
fn a_run_shows_the_same_watched_or_not_on_any_number_of_threads() {
    let net = &small();
    for scheme in Steered::ALL {
        let run = |trace_ps, threads| {
            let mut setup = setup(net, SteerOptions::new(scheme), 6, true, 0.5, 30);
            setup.measure.trace_ps = trace_ps;
            setup.threads = threads;
            let found = simulate(setup, &Control::new()).unwrap();
            (found.jobs, found.packet_hops, found.detours, found.packet_latency, found.counters)
        };
        let bare = run(None, 1);
        assert!(run(Some((0, u64::MAX)), 1) == bare, "{scheme:?}, watched");
        for threads in [2, 4] {
            assert!(run(None, threads) == bare, "{scheme:?}, {threads} threads");
        }
    }
}
