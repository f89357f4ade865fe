//! Modes of Aries: detours within groups and between them, by job and by size of message.

use netloom_model::{Control, Fabric, HostId};
use netloom_routing::Steering;
use netloom_sim::{
    AllToAll, Config, Job, Measure, Mode, Model, Modes, Outcome, Profile, Scheme, Setup, SteerOptions,
    Steered, Stream, simulate,
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
fn hashed_modes_draw_by_message_and_in_order_by_pair() {
    let net = &dragonfly();
    let of = |mode| run(net, options(mode, 4_096), vec![shifted(72, 9, 72, 50_000)]);
    for mode in [Mode::MinHash, Mode::InOrder] {
        assert_eq!(of(mode).detours, Some(0));
    }
    let away = of(Mode::NminHash);
    assert!(away.detours.unwrap() > away.packets * 9 / 10, "{:?} of {}", away.detours, away.packets);
    // Two messages a pair: of each, all packets go one way, so the links between switches that one pair uses are few.
    let used = |mode| {
        let script = Stream::of(&[1, 0], 2, 200_000);
        let outcome = run(net, options(mode, 0), vec![Job::new("pair", vec![HostId(0), HostId(70)], script)]);
        outcome.counters.sent.iter().filter(|sent| sent.packets > 0).count()
    };
    assert!(used(Mode::InOrder) <= 10);
    assert!(used(Mode::NminHash) > used(Mode::InOrder));
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
