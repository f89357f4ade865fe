//! Modes of Aries: detours within groups and between them, by job and by size of message; static or adaptive ways on trees.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::{Engine, EngineOptions, PathSet, Steering, route};
use netloom_sim::{
    AllToAll, Config, Job, Measure, Mode, Model, Modes, Outcome, PerPacket, Profile, Scheme, Setup,
    SteerOptions, Steered, Stream, simulate,
};
use netloom_topology::{detect, generate};

fn dragonfly() -> (Fabric, Steering) {
    let fabric = generate("dragonfly:p=2,a=4,h=2").unwrap();
    let steering = Steering::new(&fabric, &detect(&fabric)).unwrap();
    (fabric, steering)
}

fn options(mode: Mode, bias_bytes: u32) -> SteerOptions {
    SteerOptions { mode, bias_bytes, ..SteerOptions::new(Steered::Aries) }
}

fn run((fabric, steering): &(Fabric, Steering), options: SteerOptions, jobs: Vec<Job>) -> Outcome {
    let profile = Profile { config: Config { lanes: 5, ..Config::infiniband() }, ..Profile::infiniband() };
    let setup = Setup {
        fabric,
        scheme: Scheme::Steered(options, steering),
        model: Model::Packet,
        profile,
        jobs,
        seed: 4,
        threads: 1,
        measure: Measure::default(),
        keep: None,
        skip_repeats: None,
        until_ps: None,
    };
    let outcome = simulate(setup, &Control::new()).unwrap();
    assert!(outcome.stuck.is_empty() && outcome.deadlock.is_none());
    outcome
}

/// Every host sends to the host at the same place of the next switch of its group, or of the next group.
fn shifted(hosts: u32, by: u32, within: u32, bytes: u64) -> Job {
    let to = |host: u32| host / within * within + (host % within + by) % within;
    Job::new(
        "shift",
        (0..hosts).map(HostId).collect(),
        Stream::of(&(0..hosts).map(to).collect::<Vec<_>>(), 2, bytes),
    )
}

/// Two hosts share the cable to the next switch of four; a third of what a switch sends goes by each of the others otherwise.
#[test]
fn a_group_has_detours_of_its_own_and_a_bias_holds_them_back() {
    let net = &dragonfly();
    let shift = || vec![shifted(72, 2, 8, 200_000)];
    let unbiased = run(net, options(Mode::Unbiased, 0), shift());
    let biased = run(net, options(Mode::HighBias, 1 << 30), shift());
    let minimal = run(net, SteerOptions { lanes: 5, ..SteerOptions::new(Steered::Minimal) }, shift());
    assert!(
        unbiased.detours.unwrap() > unbiased.packets / 4,
        "{:?} of {}",
        unbiased.detours,
        unbiased.packets
    );
    assert_eq!(biased.detours, Some(0));
    assert!(unbiased.end_ps < biased.end_ps * 3 / 4, "{} and {}", unbiased.end_ps, biased.end_ps);
    assert_eq!(biased.counters, minimal.counters);
    // No packet leaves its group: it crosses a link more than it must, on a lane of its own.
    let lanes = unbiased.counters.lanes;
    let carried = |lane: usize| {
        let of_lane = unbiased.counters.sent.iter().skip(lane).step_by(lanes);
        of_lane.map(|sent| sent.packets).sum::<u64>()
    };
    let detours = unbiased.detours.unwrap();
    assert_eq!([1, 3, 4].map(carried), [0; 3]);
    assert_eq!(carried(2), 2 * detours, "the second cable and the host's");
    assert_eq!(unbiased.packet_hops, 3 * unbiased.packets + detours);
}

#[test]
fn the_higher_the_bias_the_fewer_detours_between_groups() {
    let net = &dragonfly();
    let detours =
        |mode, bias| run(net, options(mode, bias), vec![shifted(72, 8, 72, 100_000)]).detours.unwrap();
    let found = [(Mode::Unbiased, 1 << 20), (Mode::HighBias, 8_192), (Mode::HighBias, 1 << 30)]
        .map(|(mode, bias)| detours(mode, bias));
    assert!(found.is_sorted_by(|a, b| a > b) && found[2] == 0, "{found:?}");
    assert_eq!(detours(Mode::HighBias, 0), found[0]);
}

/// A job's mode takes the place of the routing's; by size it does so for the messages that are below.
#[test]
fn jobs_and_sizes_have_their_own_modes() {
    let net = &dragonfly();
    let run = |mode, modes: Modes, bytes| {
        let script = AllToAll { ranks: 40, bytes, iterations: 1, compute_ps: 0 };
        let job = Job { modes, ..Job::new("all", (0..40).map(HostId).collect(), script) };
        let outcome = run(net, options(mode, 8_192), vec![job]);
        (outcome.end_ps, outcome.detours, outcome.counters)
    };
    let bytes = 9_000;
    let (unbiased, biased) =
        (run(Mode::Unbiased, Modes::default(), bytes), run(Mode::HighBias, Modes::default(), bytes));
    assert!(unbiased.1 > biased.1);
    assert_eq!(run(Mode::Unbiased, Modes::all(Mode::HighBias), bytes), biased);
    assert_eq!(run(Mode::HighBias, Modes::all(Mode::Unbiased), bytes), unbiased);
    let below = |size, others| Modes::new(vec![(size, Mode::HighBias)], others);
    assert_eq!(run(Mode::Unbiased, below(bytes + 1, None), bytes), biased);
    assert_eq!(run(Mode::Unbiased, below(bytes, None), bytes), unbiased);
    assert_eq!(run(Mode::HighBias, below(bytes, Some(Mode::Unbiased)), bytes), unbiased);
}

/// Every group sends to the next one.
fn jammed(mode: Mode, bias_bytes: u32) -> Outcome {
    run(&dragonfly(), options(mode, bias_bytes), vec![shifted(72, 8, 72, 100_000)])
}

/// By hand: the neighbour pattern has detours without a bias, fewer with a low one; mode 1 has a bias at its first switch that is a third of the
/// high one, and chooses again behind it.
#[test]
fn modes_1_and_2_are_between_0_and_3() {
    let detours = |mode| jammed(mode, 16_384).detours.unwrap();
    let [none, growing, low, high] =
        [Mode::Unbiased, Mode::Increasing, Mode::LowBias, Mode::HighBias].map(detours);
    assert!(none > low && low > high, "{none} {low} {high}");
    assert!(none >= growing && growing > high, "{none} {growing} {high}");
}

/// With a bias that is never reached, no detour; without one, mode 1 takes detours that mode 0 does not, behind its first switch.
#[test]
fn mode_1_chooses_again_on_the_way() {
    let minimal = jammed(Mode::HighBias, 1 << 30);
    let growing = jammed(Mode::Increasing, 1 << 30);
    assert_eq!((growing.detours, &growing.counters), (Some(0), &minimal.counters));
    let (once, again) = (jammed(Mode::Unbiased, 0), jammed(Mode::Increasing, 0));
    assert!(again.detours.unwrap() > once.detours.unwrap(), "{:?} {:?}", again.detours, once.detours);
}

/// Deterministic modes look at no queue: minimal ones have no detours and minimal hops, NMIN_HASH has nothing else.
#[test]
fn blind_modes_have_no_detours_or_nothing_else() {
    let net = &dragonfly();
    let of = |mode| run(net, options(mode, 4_096), vec![shifted(72, 9, 72, 50_000)]);
    for mode in [Mode::MinHash, Mode::InOrder] {
        assert_eq!(of(mode).detours, Some(0));
    }
    let away = of(Mode::NminHash);
    assert!(away.detours.unwrap() > away.packets * 9 / 10, "{:?} of {}", away.detours, away.packets);
}

/// By hand, on `dragonfly:p=2,a=4,h=2,g=3,links=4`: four cables join two groups, one at each of their switches. From switch 0 to the one of group 1 that
/// its own cable does not lead to there are two ways of two cables between switches: its own cable and a local one, or a local one and the cable that leads
/// there. MIN_HASH takes both with one message already, as it draws by packet, with its share of about a half; IN_ORDER takes one with all messages.
#[test]
fn min_hash_spreads_packets_over_minimal_ways_and_in_order_keeps_one() {
    let fabric = generate("dragonfly:p=2,a=4,h=2,g=3,links=4").unwrap();
    // Groups that are joined place by place are a HyperX, too.
    let fabric = fabric.with_groups((0..12).map(|s| s / 4).collect::<Vec<u32>>());
    let net = &(Steering::new(&fabric, &detect(&fabric)).map(|steering| (fabric, steering)).unwrap());
    let outputs = |mode, to: u32, messages| {
        let script = Stream::of(&[1, 0], messages, 400_000);
        let outcome = run(net, options(mode, 0), vec![Job::new("pair", vec![HostId(0), HostId(to)], script)]);
        let (fabric, lanes) = (&net.0, outcome.counters.lanes);
        let sent = |link: netloom_model::LinkId| {
            let at = link.index() * lanes;
            outcome.counters.sent[at..at + lanes].iter().map(|sent| sent.packets).sum::<u64>()
        };
        let first = fabric.leaf(HostId(0));
        let to_host = |&link: &netloom_model::LinkId| {
            fabric.hosts().any(|host| fabric.reverse(fabric.host_link(host)) == link)
        };
        let onward = fabric.switch_links(first).filter(|link| !to_host(link));
        let used = onward.map(sent).filter(|&packets| packets > 0);
        used.collect::<Vec<_>>()
    };
    let mut spread = 0;
    for to in 8..24 {
        let (hashed, ordered) = (outputs(Mode::MinHash, to, 1), outputs(Mode::InOrder, to, 5));
        assert_eq!(ordered.len(), 1, "{to}: {ordered:?}");
        if let [one, other] = hashed[..] {
            assert!(one > 30 && other > 30, "{to}: {hashed:?} of 98");
            spread += 1;
        }
    }
    assert!(spread >= 8, "{spread} of 16 hosts of other groups have two ways");
}

/// A pattern in which every two modes send over other links, where minimal ways are several: each does something of its own.
#[test]
fn every_mode_is_told_from_every_other() {
    let fabric = generate("dragonfly:p=2,a=4,h=2,g=3,links=4").unwrap();
    // Groups that are joined place by place are a HyperX, too.
    let fabric = fabric.with_groups((0..12).map(|s| s / 4).collect::<Vec<u32>>());
    let net = &(Steering::new(&fabric, &detect(&fabric)).map(|steering| (fabric, steering)).unwrap());
    let found =
        Mode::ALL.map(|mode| run(net, options(mode, 16_384), vec![shifted(24, 9, 24, 100_000)]).counters);
    for (one, other) in (0..Mode::ALL.len()).flat_map(|one| (0..one).map(move |other| (one, other))) {
        assert!(found[one] != found[other], "{:?} and {:?}", Mode::ALL[one], Mode::ALL[other]);
    }
}

/// What had which mode is counted, and nothing where nobody spoke of modes.
#[test]
fn messages_are_counted_by_mode() {
    let net = &dragonfly();
    let run = |modes: Modes| {
        let script = AllToAll { ranks: 8, bytes: 5_000, iterations: 1, compute_ps: 0 };
        let job = Job { modes, ..Job::new("all", (0..8).map(|h| HostId(9 * h)).collect(), script) };
        let outcome = run(net, options(Mode::LowBias, 8_192), vec![job]);
        outcome.jobs[0].modes.iter().map(|it| (it.mode, it.messages, it.bytes)).collect::<Vec<_>>()
    };
    assert_eq!(run(Modes::default()), [(Mode::LowBias, 56, 280_000)]);
    assert_eq!(run(Modes::new(vec![(6_000, Mode::HighBias)], None)), [(Mode::HighBias, 56, 280_000)]);
}

/// A ping-pong of two hosts with adapters that count: `aware` begins without a bias and ends with one, as nothing stalls; small messages have one
/// from the start. Whoever looks at adapters needs some that count.
#[test]
fn aware_senders_choose_by_what_their_adapters_count() {
    let net = &dragonfly();
    let run = |word: &str, bytes, window_packets| {
        let options = SteerOptions::parse(word).unwrap().unwrap();
        let options = SteerOptions { response_lanes: 3, ..options };
        let config = Config { lanes: 8, window_packets, ..Config::aries() };
        let script = netloom_sim::PingPong { partner: vec![1, 0], bytes, iterations: 40 };
        let setup = Setup {
            fabric: &net.0,
            scheme: Scheme::Steered(options, &net.1),
            model: Model::Packet,
            profile: Profile { config, ..Profile::aries() },
            jobs: vec![Job::new("pair", vec![HostId(0), HostId(70)], script)],
            seed: 4,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            skip_repeats: None,
            until_ps: None,
        };
        let outcome = simulate(setup, &Control::new())?;
        assert!(outcome.jobs[0].times.end_ps().is_some());
        Ok::<_, netloom_sim::SimError>(
            outcome.jobs[0].modes.iter().map(|it| (it.mode, it.messages)).collect::<Vec<_>>(),
        )
    };
    let small = run("aware", 8, Some(1024)).unwrap();
    assert_eq!(small, [(Mode::HighBias, 80)]);
    let large = run("aware", 8_192, Some(1024)).unwrap();
    assert_eq!(large, [(Mode::Unbiased, 2), (Mode::HighBias, 78)], "the first of each rank");
    let steady = run("aware:steady", 8_192, Some(1024)).unwrap();
    assert_eq!(steady.iter().map(|&(_, messages)| messages).sum::<u64>(), 80);
    assert_eq!(run("adaptive:default", 8_192, None).unwrap(), [(Mode::Unbiased, 80)]);
    let error = run("aware", 8, None).unwrap_err().to_string();
    assert!(error.contains("adapters that count"), "{error}");
}

/// By mode on a tree of 16 hosts: in order all messages take the tables' ways, else the least loaded ones; and either by size, beside each other.
#[test]
fn on_a_tree_messages_are_static_or_adaptive_as_they_ask() {
    let fabric = generate("two-level:leaves=4,hosts=4,spines=2").unwrap();
    let structure = detect(&fabric);
    let routes = route(Engine::Ftree, &fabric, &structure, &EngineOptions::default()).unwrap();
    let paths = PathSet::admissible(&fabric, &structure);
    let run = |scheme, modes: Modes| {
        let hosts: Vec<_> = (0..16).map(HostId).collect();
        let small = Job::new("small", hosts[..8].to_vec(), Stream::of(&[3, 4, 5, 6, 7, 0, 1, 2], 20, 4_000));
        let large = Job::new("large", hosts[8..].to_vec(), Stream::of(&[3, 4, 5, 6, 7, 0, 1, 2], 20, 12_000));
        let jobs = [small, large].map(|job| Job { modes: modes.clone(), ..job });
        let setup = Setup {
            fabric: &fabric,
            scheme,
            model: Model::Packet,
            profile: Profile::infiniband(),
            jobs: jobs.into(),
            seed: 4,
            threads: 1,
            measure: Measure::default(),
            keep: None,
            skip_repeats: None,
            until_ps: None,
        };
        simulate(setup, &Control::new())
    };
    let ran = |scheme, modes| {
        let outcome = run(scheme, modes).unwrap();
        let ends = [0, 1].map(|job| outcome.jobs[job].times.end_ps().unwrap());
        (ends, outcome.counters)
    };
    let by_mode = Scheme::ByMode(&routes, &paths);
    let tables = ran(Scheme::Tables(&routes), Modes::default());
    let adaptive = ran(Scheme::PerPacket(PerPacket::Adaptive, &paths), Modes::default());
    assert_ne!(tables.1, adaptive.1);
    assert_eq!(ran(by_mode, Modes::all(Mode::InOrder)), tables);
    assert_eq!(ran(by_mode, Modes::all(Mode::Unbiased)), adaptive);
    assert_eq!(ran(by_mode, Modes::default()), adaptive);
    // The two jobs share no link, so each takes what it takes where all are like it.
    let mixed = ran(by_mode, Modes::new(vec![(5_000, Mode::InOrder)], Some(Mode::Unbiased)));
    assert_eq!(mixed.0, [tables.0[0], adaptive.0[1]]);
    assert!(tables.0[0] != adaptive.0[0] && tables.0[1] != adaptive.0[1], "{:?} {:?}", tables.0, adaptive.0);
    let outcome = run(by_mode, Modes::new(vec![(5_000, Mode::InOrder)], None)).unwrap();
    let modes = outcome.jobs.iter().map(|job| (job.modes[0].mode, job.modes[0].messages, job.modes.len()));
    assert_eq!(modes.collect::<Vec<_>>(), [(Mode::InOrder, 160, 1), (Mode::Unbiased, 160, 1)]);
}
